//! Places of weights: in the model, in a file next to it, or left out; equal weights are kept once.

use std::collections::{HashMap, HashSet};

use gradus_core::graph::{Constant, Origin};
use gradus_formats::onnx::{Place, Placed, place_weights};

use super::apply::{counted, quoted};
use super::{Arc, Editor, Error, GraphEdit, Kind, Model, Renames, Result, ValueId};

/// The place to which weights are moved.
#[derive(Clone, Debug, Default)]
pub(super) enum Weights {
    /// The place where they are.
    #[default]
    Same,
    /// In the model.
    Embedded,
    /// In a file of this name next to the model.
    Beside(String),
    /// Nowhere.
    Stripped,
}

/// Bytes from which weights are put into a file next to the model, or are stripped.
const LEAST: u64 = 1024;

impl Editor {
    /// Sets where weights are to lie.
    pub(super) fn place(&mut self, to: Weights) -> Result<()> {
        self.must_be_onnx("move weights")?;
        if let Weights::Beside(name) = &to {
            let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
            if !is_plain {
                let wanted = "the name of a file next to the model, which begins with no dot";
                let what = "cannot move weights: the file";
                return Err(Error::mismatch(Kind::Usage, what, quoted(name), wanted));
            }
        }
        self.weights = to;
        Ok(())
    }

    /// Takes the elements that were stripped from another model.
    pub(super) fn restore(&mut self, from: &Model) -> Result<()> {
        self.must_be_onnx("restore weights")?;
        self.given = Some(from.clone());
        Ok(())
    }

    /// Returns true if weights are to be moved or restored.
    pub(super) fn moves_weights(&self) -> bool {
        self.given.is_some() || !matches!(self.weights, Weights::Same)
    }

    /// The model in `bytes` with its weights where they are to lie.
    pub(super) fn placed(&mut self, bytes: &bytes::Bytes) -> Result<Placed> {
        let place = match &self.weights {
            Weights::Same => Place::Same,
            Weights::Embedded => Place::Model,
            Weights::Beside(name) => Place::File(name, LEAST),
            Weights::Stripped => Place::Nowhere(LEAST),
        };
        let by_name: HashMap<_, _> = match &self.given {
            Some(model) => {
                let graph = model.graph();
                graph.constants().iter().map(|(id, constant)| (&*graph.value(*id).name, constant)).collect()
            }
            None => HashMap::new(),
        };
        let given = |name: &str| by_name.get(name).map(|constant| constant.tensor()).transpose();
        let (_, files) = self.original.file_of()?;
        let placed = place_weights(bytes, files, self.original.limits(), place, &given)?;
        let (count, len) = placed.moved;
        let weights = counted(count, "weight");
        if placed.restored > 0 || self.given.is_some() {
            self.notes.push(format!("restored {}", counted(placed.restored, "weight")));
        }
        match &self.weights {
            Weights::Same => {}
            Weights::Embedded => self.notes.push(format!("embedded {weights} of {len} bytes")),
            Weights::Beside(name) => {
                self.notes.push(format!("moved {weights} of {len} bytes into {}", quoted(name)));
            }
            Weights::Stripped => self.notes.push(format!("stripped {weights} of {len} bytes")),
        }
        Ok(placed)
    }

    /// Lets nodes that read equal constants read one of them, and drops the others.
    pub(super) fn share(&mut self) -> Result<()> {
        self.must_be_onnx("share weights")?;
        let mentioned = self.original.mentioned()?;
        let graph = self.graph();
        let is_free = |id: ValueId| {
            let info = graph.value(id);
            info.origin == Origin::Constant
                && !graph.outputs().contains(&id)
                && !mentioned.contains(&*info.name)
        };
        let mut alike: HashMap<_, Vec<(ValueId, &Constant)>> = HashMap::new();
        for (id, constant) in graph.constants().iter().filter(|(id, _)| is_free(*id)) {
            let key = (constant.dtype(), constant.shape().dims().to_vec());
            alike.entry(key).or_default().push((*id, constant));
        }
        let (mut names, mut dropped, mut saved) = (Renames::new(), HashSet::new(), 0);
        for group in alike.values().filter(|group| group.len() > 1) {
            let mut first = HashMap::new();
            for (id, constant) in group {
                self.original.limits().check()?;
                let tensor = constant.tensor()?;
                let Some(raw) = tensor.bytes() else { continue };
                let name = graph.value(*id).name.clone();
                match first.get(raw) {
                    None => _ = first.insert(raw.clone(), name),
                    Some(same) => {
                        saved += raw.len();
                        names.insert(name.clone(), Arc::clone(same));
                        dropped.insert(name);
                    }
                }
            }
        }
        let count = dropped.len();
        let edit = GraphEdit { dropped, ..self.keeping() };
        let source = self.now.source().apply_renamed(&edit, &names)?;
        self.now = self.now.with_source(source);
        let weights = counted(count, "weight");
        self.note(format_args!("shared {weights}, which takes {saved} bytes less"));
        Ok(())
    }
}
