//! `gradus compare`: what every program gives for one call, beside the exact result.

use gradus::compare::{Found, compare as compared};
use gradus::profiles::{self, Outcome, Profile};
use gradus::seq::Plan;
use gradus::{DType, Number, Result};
use serde::Serialize;
use serde_json::value::RawValue;

use super::sequence::{range_call, space_call};
use crate::args::{self, Call};
use crate::diagnostics::Failure;
use crate::{json, output};

pub(crate) fn compare(args: &args::CompareArgs) -> Result<(), Failure> {
    let (results, dtype) = match &args.call {
        Call::Range { arguments, types } => {
            let call = range_call(arguments, types)?;
            let profiled = call.profiled()?;
            (results(&call.plan(), |profile| profiles::range(profile, &profiled)), call.dtype)
        }
        Call::Linspace { arguments, types } => {
            let call = space_call(arguments, None, types)?;
            let profiled = call.profiled()?;
            (results(&call.linspace(), |profile| profiles::linspace(profile, &profiled)), call.dtype)
        }
        Call::Logspace { arguments, base, types } => {
            let call = space_call(arguments, Some(&base.base), types)?;
            let profiled = call.profiled_powers()?;
            (results(&call.logspace(), |profile| profiles::logspace(profile, &profiled)), call.dtype)
        }
    };
    if args.json {
        let results = json::object(results.iter().map(|(profile, result)| (profile.name(), result)))?;
        return output::print_json(&CompareJson { r#type: dtype.name(), results });
    }
    output::print_line(&table(&results))
}

/// The results of all programs.
#[derive(Serialize)]
struct CompareJson {
    r#type: &'static str,
    results: Box<RawValue>,
}

/// The result of one program.
#[derive(Serialize)]
#[serde(untagged)]
enum Outlook {
    Sequence(Box<SequenceJson>),
    Error { error: String },
}

#[derive(Serialize)]
struct SequenceJson {
    program: &'static str,
    r#type: &'static str,
    length: u64,
    first: Vec<Box<RawValue>>,
    last: Option<Box<RawValue>>,
    /// True if all compared elements equal the exact result.
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<DifferenceJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// The first element that differs.
#[derive(Serialize)]
struct DifferenceJson {
    index: u64,
    value: Box<RawValue>,
    exact: Box<RawValue>,
}

fn results<P: Plan>(exact: &Result<P>, predict: impl Fn(Profile) -> Outcome) -> Vec<(Profile, Outlook)> {
    let rows = compared(exact, predict).into_iter();
    let exact = exact.as_ref().ok().map(Plan::dtype);
    rows.map(|(profile, found)| {
        let outlook = match found {
            Ok(found) => Outlook::Sequence(Box::new(sequence(profile, found, exact))),
            Err(error) => Outlook::Error { error },
        };
        (profile, outlook)
    })
    .collect()
}

fn sequence(profile: Profile, found: Found, exact: Option<DType>) -> SequenceJson {
    let dtype = found.dtype;
    let shown = |number| element(number, dtype);
    SequenceJson {
        program: profile.program(),
        r#type: dtype.name(),
        length: found.len,
        first: found.first.into_iter().map(shown).collect(),
        last: found.last.map(shown),
        exact: found.exact,
        difference: found.difference.map(|difference| DifferenceJson {
            index: difference.index,
            value: shown(difference.value),
            exact: element(difference.exact, exact.unwrap_or(dtype)),
        }),
        why: found.why,
    }
}

/// An element as JSON has it.
fn element(number: Number, dtype: DType) -> Box<RawValue> {
    RawValue::from_string(json::number(number, dtype)).expect("elements are written as JSON")
}

fn table(results: &[(Profile, Outlook)]) -> String {
    let mut table = output::table(&["profile", "length", "first", "last", "first difference", "why"]);
    for (profile, outlook) in results {
        match outlook {
            Outlook::Error { error } => {
                table.add_row([profile.name(), "fails", "", "", "", error]);
            }
            Outlook::Sequence(found) => {
                let verdict = match (&found.difference, profile) {
                    (Some(difference), _) => {
                        format!("{}: {} for {}", difference.index, difference.value, difference.exact)
                    }
                    (None, Profile::Exact) => String::new(),
                    (None, _) if found.exact => "none".to_owned(),
                    (None, _) => String::new(),
                };
                table.add_row([
                    profile.name(),
                    &found.length.to_string(),
                    &found.first.iter().map(|element| element.get()).collect::<Vec<_>>().join(", "),
                    found.last.as_ref().map_or("", |element| element.get()),
                    &verdict,
                    found.why.as_deref().unwrap_or_default(),
                ]);
            }
        }
    }
    output::render(&table)
}
