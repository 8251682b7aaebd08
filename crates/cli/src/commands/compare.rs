//! `gradus compare`: what every program gives for one call, next to the exact result. Models are
//! compared in `portability.rs`.

use gradus::compare::{Difference, Found, compare as compared};
use gradus::convert::usize_of_u32;
use gradus::profiles::{self, Outcome, Profile};
use gradus::seq::Plan;
use gradus::{DType, Error, Kind, Number, Result};
use serde::Serialize;
use serde_json::value::RawValue;

use super::portability;
use super::sequence::{range_call, space_call};
use crate::args::{self, Call};
use crate::diagnostics::Failure;
use crate::object::object;
use crate::{json, output};

/// Runs `gradus compare`: prints the results of every program for a call, or the nodes that differ.
pub(crate) fn compare(args: &args::CompareArgs) -> Result<(), Failure> {
    if args.models.rules {
        return portability::rules();
    }
    let Some(call) = &args.call else { return portability::models(args) };
    if let Some(model) = args.models.models.first() {
        let what = "cannot compare a call: a model is given before it";
        return Err(Error::mismatch(Kind::Usage, what, model.display(), "nothing").into());
    }
    let (types, (head, results), dtype) = match call {
        Call::Range { arguments, types } => {
            let call = range_call(arguments, types)?;
            let profiled = call.profiled()?;
            let head = format!("range {} {} {}", arguments.start, arguments.stop, arguments.step);
            let results = results(&call.plan(), |profile| profiles::range(profile, &profiled));
            (types, (head, results), call.dtype)
        }
        Call::Linspace { arguments, types } => {
            let call = space_call(arguments, None, types)?;
            let profiled = call.profiled()?;
            let results = results(&call.linspace(), |profile| profiles::linspace(profile, &profiled));
            (types, (head("linspace", arguments), results), call.dtype)
        }
        Call::Logspace { arguments, base, types } => {
            let call = space_call(arguments, Some(&base.base), types)?;
            let profiled = call.profiled_powers()?;
            let results = results(&call.logspace(), |profile| profiles::logspace(profile, &profiled));
            (types, (head("logspace", arguments) + " --base " + &base.base, results), call.dtype)
        }
        Call::Geomspace { arguments, types } => {
            let call = space_call(arguments, None, types)?;
            let profiled = call.profiled()?;
            let results = results(&call.geomspace(), |profile| profiles::geomspace(profile, &profiled));
            (types, (head("geomspace", arguments), results), call.dtype)
        }
    };
    let read_as = types.in_dtype.map_or("exact", DType::name);
    if output::is_json() {
        let results = json::object(results.iter().map(|(profile, result)| (profile.name(), result)))?;
        return output::print_json(&object!(CompareJson {
            call: head,
            arguments: read_as,
            r#type: dtype.name(),
            results,
        }));
    }
    let read_as = types.in_dtype.map_or("exact".to_owned(), |dtype| format!("rounded to {dtype}"));
    let head = output::escaped(&head).into_owned();
    let plot = if args.plot { plot(&results) } else { String::new() };
    output::print_line(&format!("{head} --dtype {dtype} (arguments: {read_as})\n\n{}{plot}", table(&results)))
}

/// Heights of a difference: none, then twice as many units in the last place each.
const HEIGHTS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the differences of the programs that differ, a line for each.
fn plot(results: &[(Profile, Outlook)]) -> String {
    let mut lines = vec![
        "\n\nlargest difference from the exact elements over the index".to_owned(),
        "(· none, ▁ 1 ulp, ▂ 2, ▃ 4, ▄ 8, ▅ 16, ▆ 32, ▇ 64, █ 128 or more)".to_owned(),
    ];
    for (profile, outlook) in results {
        if let Outlook::Sequence(found) = outlook
            && found.differing > 0
        {
            let height = |&ulps: &u64| HEIGHTS[usize_of_u32(64 - ulps.leading_zeros()).min(8)];
            let heights: String = found.parts.iter().map(height).collect();
            lines.push(format!("{:<18} {heights}", profile.name()));
        }
    }
    lines.join("\n")
}

/// The call as it was typed.
fn head(function: &str, arguments: &args::SpaceArguments) -> String {
    let args::SpaceArguments { start, stop, num, no_endpoint, .. } = arguments;
    let endpoint = if *no_endpoint { " --no-endpoint" } else { "" };
    format!("{function} {start} {stop} {num}{endpoint}")
}

/// The result of one program.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Outlook {
    Sequence(Box<SequenceJson>),
    Error { error: String },
}

#[derive(Serialize)]
pub(super) struct SequenceJson {
    program: &'static str,
    r#type: &'static str,
    length: u64,
    first: Vec<Box<RawValue>>,
    last: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<String>,
    /// True if all compared elements equal the exact result.
    exact: bool,
    compared: u64,
    differing: u64,
    /// The first element that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<DifferenceJson>,
    /// The element that differs most.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest: Option<DifferenceJson>,
    #[serde(skip)]
    parts: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// An element that differs.
#[derive(Serialize)]
struct DifferenceJson {
    index: u64,
    value: Box<RawValue>,
    exact: Box<RawValue>,
    ulps: Option<u64>,
}

fn results<P: Plan>(exact: &Result<P>, predict: impl Fn(Profile) -> Outcome) -> Vec<(Profile, Outlook)> {
    outlooks(compared(exact, predict))
}

/// The results of programs as they are printed; the exact one is the first.
pub(super) fn outlooks(
    results: Vec<(Profile, std::result::Result<Found, String>)>,
) -> Vec<(Profile, Outlook)> {
    let exact = results.first().and_then(|(_, exact)| Some(exact.as_ref().ok()?.dtype));
    let each = results.into_iter().map(|(profile, found)| {
        let outlook = match found {
            Ok(found) => Outlook::Sequence(Box::new(sequence(profile, found, exact))),
            Err(error) => Outlook::Error { error },
        };
        (profile, outlook)
    });
    each.collect()
}

fn sequence(profile: Profile, found: Found, exact: Option<DType>) -> SequenceJson {
    let dtype = found.dtype;
    let shown = |number| element(number, dtype);
    let difference = |found: Difference| DifferenceJson {
        index: found.index,
        value: shown(found.value),
        exact: element(found.exact, exact.unwrap_or(dtype)),
        ulps: found.ulps,
    };
    SequenceJson {
        program: profile.program(),
        r#type: dtype.name(),
        length: found.len,
        first: found.first.into_iter().map(shown).collect(),
        last: found.last.map(shown),
        tolerance: found.tolerance,
        exact: found.exact,
        compared: found.compared,
        differing: found.differing,
        difference: found.difference.map(difference),
        largest: found.largest.map(difference),
        parts: found.parts,
        why: found.why,
    }
}

/// An element as JSON has it.
fn element(number: Number, dtype: DType) -> Box<RawValue> {
    RawValue::from_string(json::number(number, dtype)).expect("elements are written as JSON")
}

fn table(results: &[(Profile, Outlook)]) -> String {
    /// The column that only stands where a prediction has a tolerance.
    const TOLERANCE: usize = 7;
    let headings =
        ["profile", "length", "first", "last", "differ", "first difference", "largest", "tolerance", "why"];
    let mut rows = vec![headings.map(str::to_owned)];
    rows.extend(results.iter().map(|(profile, outlook)| match outlook {
        Outlook::Error { error } => {
            [profile.name(), "fails", "", "", "", "", "", "", error].map(str::to_owned)
        }
        Outlook::Sequence(found) => row(*profile, found),
    }));
    let is_told = rows[1..].iter().any(|row| !row[TOLERANCE].is_empty());
    let shown = |row: &[String; 9]| {
        let cells = row.iter().enumerate().filter(|&(column, _)| is_told || column != TOLERANCE);
        cells.map(|(_, cell)| cell.clone()).collect::<Vec<_>>()
    };
    let headings = shown(&rows[0]);
    let mut table = output::table(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    table.add_rows(rows[1..].iter().map(shown));
    output::render(&table)
}

/// The row of a program that returns a sequence.
fn row(profile: Profile, found: &SequenceJson) -> [String; 9] {
    let differing = match profile {
        Profile::Exact => String::new(),
        _ if found.compared == 0 && !found.exact => String::new(),
        _ if found.differing == 0 && found.tolerance.is_none() => "none".to_owned(),
        _ if found.differing == 0 => "none predicted".to_owned(),
        _ => format!("{} of {}", found.differing, found.compared),
    };
    let first = found.difference.as_ref();
    let largest = found.largest.as_ref();
    [
        profile.name().to_owned(),
        found.length.to_string(),
        found.first.iter().map(|element| element.get()).collect::<Vec<_>>().join(", "),
        found.last.as_ref().map_or("", |element| element.get()).to_owned(),
        differing,
        first.map_or_else(String::new, |it| format!("{}: {} for {}", it.index, it.value, it.exact)),
        largest.and_then(|it| Some(format!("{}: {} ulp", it.index, it.ulps?))).unwrap_or_default(),
        found.tolerance.clone().unwrap_or_default(),
        found.why.clone().unwrap_or_default(),
    ]
}
