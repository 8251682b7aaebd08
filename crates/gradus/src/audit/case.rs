//! A pair of runs, in files that anyone can run.

use std::io::Write as _;
use std::path::Path;

use gradus_core::{Error, Kind, Result};
use gradus_formats::numpy;

use super::pairs::{Pair, Side};
use super::run::Runner;
use super::shrink::Smallest;
use super::subject::Subject;
use crate::check::NamedValues;
use crate::files::{self, NewFiles};
use crate::model::Model;

/// Two runs that should have the same bits, and have not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DifferingPair {
    /// The first run in words.
    pub first: String,
    /// The second run in words.
    pub second: String,
    /// Rows of the batch before some were dropped, and after.
    pub rows: (usize, usize),
    /// Elements of the inputs of the first run, and those of them that are not zero.
    pub elements: (usize, usize),
    pair: Pair,
    outputs: [NamedValues; 2],
    model: Model,
}

impl DifferingPair {
    /// The smallest pair, with the outputs of both runs.
    pub(super) fn new(
        subject: &Subject<'_>,
        runner: &Runner<'_>,
        smallest: Smallest,
    ) -> Result<DifferingPair> {
        let Smallest { pair, rows, elements } = smallest;
        Ok(DifferingPair {
            first: pair.first.what.clone(),
            second: pair.second.what.clone(),
            rows,
            elements,
            outputs: [runner.outputs(&pair.first)?, runner.outputs(&pair.second)?],
            pair,
            model: subject.model.clone(),
        })
    }

    /// Saves the pair in a folder: the model under its own name; `first.npz` and `second.npz`, the
    /// inputs of both runs by name; `first_outputs.npz` and `second_outputs.npz`, their outputs; the
    /// inputs of runs before in the same session as `first_before_0.npz`, …; and `pair.txt`, both
    /// runs in words.
    ///
    /// # Errors
    /// [`Kind::Io`] if a file cannot be written; [`Kind::Unsupported`] if inputs or outputs are no
    /// tensors, or models like this one are not written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let io = |error: std::io::Error| files::cannot_write(folder, error);
        std::fs::create_dir_all(folder).map_err(io)?;
        let name = self.model.file()?.file_name();
        let name = name.ok_or_else(|| Error::new(Kind::Unsupported, "the file of the model has no name"))?;
        self.model.save(folder.join(name))?;
        let mut files = NewFiles::default();
        let mut write = |name: String, values: &NamedValues| {
            let arrays = values.iter().map(|(name, value)| Ok((name.as_str(), value.tensor()?)));
            let (arrays, path) = (arrays.collect::<Result<Vec<_>>>()?, folder.join(name));
            self.model.check_other_output(&path)?;
            files.create(&path, |file| numpy::write_npz(arrays, file))
        };
        let sides: [(&str, &Side, &NamedValues); 2] =
            [("first", &self.pair.first, &self.outputs[0]), ("second", &self.pair.second, &self.outputs[1])];
        let mut text = String::new();
        for (name, side, outputs) in sides {
            write(format!("{name}.npz"), &side.inputs)?;
            write(format!("{name}_outputs.npz"), outputs)?;
            for (index, before) in side.before.iter().enumerate() {
                write(format!("{name}_before_{index}.npz"), before)?;
            }
            text += &[name, ": ", &side.what, " (", &side.settings.to_string(), ")\n"].concat();
        }
        let path = folder.join("pair.txt");
        self.model.check_other_output(&path)?;
        files.create(&path, |file| file.write_all(text.as_bytes()).map_err(io))?;
        files.commit()
    }
}
