//! `gradus split`: parts of a model, which joined again are the whole.

use std::path::Path;

use gradus::edit::{Edited, Split};
use gradus::infer::InferOptions;
use gradus::prove::ProveOptions;
use gradus::{Error, Kind, Model};
use serde::Serialize;

use super::given;
use crate::args;
use crate::diagnostics::Failure;
use crate::object::{Maybe, object};
use crate::output::{self, escaped};

#[derive(Serialize)]
struct PartJson<'a> {
    output: String,
    bytes: u64,
    edits: &'a [String],
}

/// Runs `gradus split`.
pub(crate) fn split(args: &args::SplitArgs) -> Result<(), Failure> {
    let path = &*args.model;
    let model = args.limits.open(path)?;
    let cuts: Vec<Vec<_>> =
        args.at.iter().map(|at| at.split(',').filter(|name| !name.is_empty()).collect()).collect();
    let split = model.split_at(&cuts).map_err(|error| error.in_file(path.display()))?;
    let is_consistent = model.infer(&InferOptions::default())?.problems().is_empty();
    let verdict = if args.no_prove { None } else { Some(proved(&model, &split)?) };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut parts = Vec::new();
    for (number, part) in (1..).zip(&split.parts) {
        let name = format!("{stem}.{number}.onnx");
        parts.push(written(part, &args.output, &name)?);
    }
    if output::is_json() {
        return output::print_json(&object!(SplitJson {
            model: path.display().to_string(),
            parts,
            verdict: Maybe(verdict)
        }));
    }
    let mut lines = Vec::new();
    for part in &parts {
        lines.push(format!("{} -> {}", output::path(path), output::path(part.output.as_ref())));
        lines.extend(part.edits.iter().map(|note| escaped(note).into_owned()));
    }
    let why = if is_consistent { "" } else { ", as the model contradicts itself and no run of it succeeds" };
    lines.extend(verdict.map(|verdict| format!("joined again, the parts are the model: {verdict}{why}")));
    output::print_line(&lines.join("\n"))
}

/// Proves that the parts are the model.
fn proved(model: &Model, split: &Split) -> Result<&'static str, Failure> {
    let proved = split.joined()?.prove(model, &ProveOptions::default())?;
    let verdict = proved.verdict.name();
    if verdict == "different" {
        let message = "cannot split: the parts, joined again, return something else than the model";
        return Err(Error::new(Kind::Internal, message).into());
    }
    Ok(verdict)
}

fn written<'a>(part: &'a Edited, folder: &Path, name: &str) -> Result<PartJson<'a>, Failure> {
    let to = given::in_folder(folder, name.as_ref())?;
    let bytes = part.save(&to)?;
    Ok(PartJson { output: to.display().to_string(), bytes, edits: part.notes() })
}
