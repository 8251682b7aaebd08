//! `gradus check`: what differs when two models run on the same inputs.

use std::collections::HashMap;

use gradus::check::{Check, CheckOptions, OutputCheck};
use gradus::convert::u64_of;
use gradus::infer::InputFact;
use gradus::{Error, Model};
use serde::Serialize;

use super::{given, run};
use crate::args;
use crate::diagnostics::Failure;
use crate::output;

#[derive(Serialize)]
struct CheckJson<'a> {
    before: String,
    after: String,
    same: bool,
    runs: usize,
    outputs: Vec<OutputJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parting: Option<PartingJson<'a>>,
}

#[derive(Serialize)]
struct OutputJson<'a> {
    name: &'a str,
    elements: u64,
    differing: u64,
    /// Nothing if no number of elements lies between the two.
    ulps: Option<u64>,
    relative: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<ElementJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    types: Option<[&'a str; 2]>,
}

#[derive(Serialize)]
struct ElementJson<'a> {
    index: u64,
    before: &'a str,
    after: &'a str,
}

#[derive(Serialize)]
struct PartingJson<'a> {
    value: &'a str,
    before: &'a str,
    after: &'a str,
}

pub(crate) fn check(args: &args::CheckArgs) -> Result<(), Failure> {
    let check = compare(args).map_err(|failure| match failure {
        Failure::Error(error) => Failure::NotCompared(error),
        other => other,
    })?;
    let same = check.outputs.iter().all(|output| output.types.is_none() && output.ulps <= args.max_ulp)
        && (args.max_ulp > 0 || check.is_same());
    if args.json {
        output::print_json(&json(args, &check, same))?;
    } else {
        output::print_line(&text(&check))?;
    }
    if same { Ok(()) } else { Err(Failure::Different) }
}

fn compare(args: &args::CheckArgs) -> Result<Check, Failure> {
    let (before, after) = (args.limits.open(&args.before)?, args.limits.open(&args.after)?);
    let mut options = CheckOptions::default();
    (options.runs, options.seed) = (args.runs, args.seed);
    options.given.dims = given::dims(&args.dims)?;
    options.given.inputs = given::shapes(&args.input_shapes)?;
    let mut values = HashMap::new();
    for input in &args.inputs {
        run::read_input(&before, input, &args.limits.limits(), &mut values)?;
    }
    let values = values.into_iter().map(|(name, value)| (name, InputFact::Value(value)));
    options.given.inputs.extend(values);
    Ok(before.check(&after, &options).map_err(|error| error.in_file(args.before.display()))?)
}

/// Checks what a model became before it is written.
pub(super) fn checked(before: &Model, after: &Model, options: &CheckOptions) -> Result<String, Error> {
    let check = before.check(after, options)?;
    if check.is_same() { Ok(text(&check)) } else { Err(Error::new(gradus::Kind::Value, text(&check))) }
}

fn text(check: &Check) -> String {
    let counted = |count: u64, what| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let runs = counted(u64_of(check.runs), "run");
    if check.is_same() {
        let elements: u64 = check.outputs.iter().map(|output| output.elements).sum();
        let outputs = counted(u64_of(check.outputs.len()), "output");
        return format!("{outputs}, {}, {runs}: the same bits", counted(elements, "element"));
    }
    let mut table =
        output::table(&["output", "elements", "differ", "largest", "relative", "first difference"]);
    for output in &check.outputs {
        let (largest, relative) = match output.ulps {
            0 => (String::new(), String::new()),
            u64::MAX => ("no distance".to_owned(), String::new()),
            ulps => (format!("{ulps} ulp"), format!("{:.1e}", output.relative)),
        };
        let name = output::escaped(&output.name).into_owned();
        let (elements, differing) = (output.elements.to_string(), output.differing.to_string());
        table.add_row([name, elements, differing, largest, relative, first(output)]);
    }
    let parting = check.parting.as_ref().map_or_else(String::new, |parting| {
        let line = format!("{}: {} and {}", parting.value, parting.before, parting.after);
        format!("\n\nthe models part at {}", output::escaped(&line))
    });
    format!("{}\n\ndifferences in {runs}{parting}", output::render(&table))
}

fn first(output: &OutputCheck) -> String {
    match (&output.types, &output.first) {
        (Some((before, after)), _) => format!("{after} for {before}"),
        (None, Some(it)) => {
            output::escaped(&format!("{}: {} for {}", it.index, it.after, it.before)).into_owned()
        }
        (None, None) => String::new(),
    }
}

fn json<'a>(args: &args::CheckArgs, check: &'a Check, same: bool) -> CheckJson<'a> {
    let output = |output: &'a OutputCheck| OutputJson {
        name: &output.name,
        elements: output.elements,
        differing: output.differing,
        ulps: Some(output.ulps).filter(|&ulps| ulps < u64::MAX),
        relative: output.relative,
        first: output.first.as_ref().map(|it| ElementJson {
            index: it.index,
            before: &it.before,
            after: &it.after,
        }),
        types: output.types.as_ref().map(|(before, after)| [&**before, &**after]),
    };
    CheckJson {
        before: args.before.display().to_string(),
        after: args.after.display().to_string(),
        same,
        runs: check.runs,
        outputs: check.outputs.iter().map(output).collect(),
        parting: check.parting.as_ref().map(|it| PartingJson {
            value: &it.value,
            before: &it.before,
            after: &it.after,
        }),
    }
}
