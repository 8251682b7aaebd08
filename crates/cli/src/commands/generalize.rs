//! `gradus generalize`: one model for the sizes of several exports of a network.

use std::io::Write;

use gradus::Model;
use gradus::dynamic::Dynamic;
use serde::Serialize;

use super::edit::{destination, dynamic};
use crate::args;
use crate::diagnostics::Failure;
use crate::object::object;
use crate::output::{self, escaped};

/// Runs `gradus generalize`.
pub(crate) fn generalize(args: &args::GeneralizeArgs) -> Result<(), Failure> {
    let models = args.models.iter().map(|path| args.limits.open(path)).collect::<Result<Vec<_>, _>>()?;
    let [first, others @ ..] = &models[..] else { return Ok(()) };
    let others: Vec<&Model> = others.iter().collect();
    let to = destination(&args.output, &args.models[0], first.source().standard)?;
    for model in &models {
        model.check_output(&to)?;
    }
    let made = first.generalize(&others, &dynamic(&args.dynamic, &args.sizes)?)?;
    let bytes = first.save_edited(&made.model, &to)?;
    let from: Vec<_> = args.models.iter().map(|path| path.display().to_string()).collect();
    if output::is_json() {
        let output = to.display().to_string();
        return output::print_json(&json(from, output, bytes, &made));
    }
    let mut text = Vec::new();
    writeln!(text, "{} -> {}", escaped(&from.join(" ")), output::path(&to))?;
    for note in made.notes() {
        writeln!(text, "{}", escaped(&note))?;
    }
    for condition in &made.conditions {
        writeln!(text, "runs if {}", escaped(condition))?;
    }
    output::print(&text)
}

fn json(models: Vec<String>, output: String, bytes: u64, made: &Dynamic) -> impl Serialize {
    let change =
        made.changes.iter().map(|change| object!(FormulaJson { node, input, before, after, ..change }));
    object!(GeneralizedJson {
        models: models,
        output: output,
        bytes: bytes,
        changes: change.collect::<Vec<_>>(),
        conditions,
        checks,
        ..made
    })
}
