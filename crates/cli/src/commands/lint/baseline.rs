//! Findings that are known, kept in a file.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use gradus::files::{NewFiles, cannot_write, map};
use gradus::lint::Lint;
use gradus::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

use super::{FleetModel, Linted};

/// A finding, by what stays when other nodes move it in the file.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownFinding {
    model: String,
    code: String,
    place: String,
    message: String,
}

/// The known findings.
pub(super) struct Baseline {
    known: HashSet<KnownFinding>,
}

impl Baseline {
    /// The findings of a file; none without a file.
    ///
    /// # Errors
    /// [`Kind::Io`] if it cannot be read; [`Kind::Syntax`] if it is no baseline.
    pub(super) fn read(path: Option<&Path>) -> Result<Baseline> {
        let Some(path) = path else { return Ok(Baseline { known: HashSet::new() }) };
        let known = serde_json::from_slice(&map(path)?).map_err(|error| {
            let message = format!("cannot read the baseline: {error}");
            Error::new(Kind::Syntax, message).in_file(path.display()).with_source(error)
        })?;
        Ok(Baseline { known })
    }

    /// The findings of a model that are not known.
    pub(super) fn without_known(&self, model: &FleetModel, mut lint: Lint) -> Linted {
        let all = lint.findings.len();
        if !self.known.is_empty() {
            let known = findings(model, &lint);
            let mut is_new = known.iter().map(|finding| !self.known.contains(finding));
            lint.findings.retain(|_| is_new.next().unwrap_or(true));
        }
        let known = all - lint.findings.len();
        Linted { model: model.clone(), lint, known, fixed: None }
    }
}

fn findings(model: &FleetModel, lint: &Lint) -> Vec<KnownFinding> {
    let findings = lint.findings.iter().map(|finding| KnownFinding {
        model: model.name.display().to_string(),
        code: finding.rule.code.to_owned(),
        place: finding.place.clone(),
        message: finding.message.clone(),
    });
    findings.collect()
}

/// Writes the findings of all models, a line each.
pub(super) fn write(path: &Path, all: &[Linted]) -> Result<()> {
    let known: Vec<_> = all.iter().flat_map(|linted| findings(&linted.model, &linted.lint)).collect();
    let mut files = NewFiles::default();
    files.create(path, |out| {
        let mut text = String::from("[");
        for (index, finding) in known.iter().enumerate() {
            text += if index > 0 { ",\n" } else { "\n" };
            text += &crate::output::json(finding)?;
        }
        text += "\n]\n";
        out.write_all(text.as_bytes()).map_err(|error| cannot_write(path, error))
    })?;
    files.commit()
}
