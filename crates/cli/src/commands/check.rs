//! `gradus check`: what differs when two models run on the same inputs.

use std::collections::HashMap;

use gradus::check::{Check, CheckOptions, OutputCheck};
use gradus::conversion::Converted;
use gradus::convert::u64_of;
use gradus::infer::InputFact;
use gradus::{Error, Kind, Model};
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
    let within = |output: &OutputCheck| {
        let near = output.ulps <= args.max_ulp || output.relative <= args.max_relative;
        output.differing == 0 || (near && (args.max_ulp > 0 || args.max_relative > 0.0))
    };
    let same = check.outputs.iter().all(|output| output.types.is_none() && within(output));
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

/// Largest difference of a conversion that is not exact, as a part of the largest magnitude.
const ROUNDING: f64 = 1e-4;

/// Checks what a model became before it is written: the same bits, or where the conversion says so,
/// other roundings.
pub(super) fn checked(
    before: &Model,
    converted: &Converted,
    options: &CheckOptions,
) -> Result<String, Error> {
    let check = before.check(&converted.model, options)?;
    let rounded = |output: &OutputCheck| output.types.is_none() && output.relative <= ROUNDING;
    if check.is_same() {
        Ok(text(&check))
    } else if !converted.report.is_exact() && check.outputs.iter().all(rounded) {
        let relative = check.outputs.iter().map(|output| output.relative).fold(0.0, f64::max);
        Ok(format!("{}: within {relative:.1e} of the largest magnitude", counts(&check)))
    } else {
        let message = "the converted model differs; nothing is written";
        Err(Error::new(Kind::Value, format!("{message}\n\n{}", text(&check))))
    }
}

/// The outputs, elements and runs that were compared, in words.
fn counts(check: &Check) -> String {
    let counted = |count: u64, what| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let elements = check.outputs.iter().map(|output| output.elements).sum();
    let outputs = counted(u64_of(check.outputs.len()), "output");
    format!("{outputs}, {}, {}", counted(elements, "element"), counted(u64_of(check.runs), "run"))
}

fn text(check: &Check) -> String {
    if check.is_same() {
        return format!("{}: the same bits", counts(check));
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
    format!("{}\n\n{}{parting}", output::render(&table), counts(check))
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
