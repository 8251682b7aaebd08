//! `gradus compare`: what every program gives for one call, beside the exact result.

use gradus::seq::Plan;
use gradus::seq::profile::{self, Outcome, Predicted, Profile};
use gradus::{Number, Result};
use serde::Serialize;
use serde_json::value::RawValue;

use super::sequence::{range_call, space_call};
use crate::args::{self, Call};
use crate::diagnostics::Failure;
use crate::{json, output};

/// Elements that are compared one by one; after them, the last.
const COMPARED: u64 = 100_000;

pub(crate) fn compare(args: &args::Compare) -> Result<(), Failure> {
    let (results, dtype) = match &args.call {
        Call::Range { arguments, types } => {
            let call = range_call(arguments, types)?;
            let profiled = call.profiled()?;
            (results(&call.plan(), |profile| profile::range(profile, &profiled)), call.dtype)
        }
        Call::Linspace { arguments, types } => {
            let call = space_call(arguments, None, types)?;
            let profiled = call.profiled()?;
            (results(&call.linspace(), |profile| profile::linspace(profile, &profiled)), call.dtype)
        }
        Call::Logspace { arguments, base, types } => {
            let call = space_call(arguments, Some(&base.base), types)?;
            let profiled = call.profiled_powers()?;
            (results(&call.logspace(), |profile| profile::logspace(profile, &profiled)), call.dtype)
        }
    };
    if args.json {
        let results = json::object(results.iter().map(|(profile, result)| (profile.name(), result)))?;
        return output::print_json(&Report { r#type: dtype.name(), results });
    }
    output::print_line(&table(&results))
}

/// What all programs give.
#[derive(Serialize)]
struct Report {
    r#type: &'static str,
    results: Box<RawValue>,
}

/// What a program gives.
#[derive(Serialize)]
#[serde(untagged)]
enum Outlook {
    Sequence(Box<Sequence>),
    Error { error: String },
}

#[derive(Serialize)]
struct Sequence {
    program: &'static str,
    r#type: &'static str,
    length: u64,
    first: Vec<Box<RawValue>>,
    last: Option<Box<RawValue>>,
    /// Whether all that was compared is as the exact result.
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// The first element that differs.
#[derive(Serialize)]
struct Difference {
    index: u64,
    value: Box<RawValue>,
    exact: Box<RawValue>,
}

fn results<P: Plan>(exact: &Result<P>, predict: impl Fn(Profile) -> Outcome) -> Vec<(Profile, Outlook)> {
    Profile::ALL
        .iter()
        .map(|&profile| {
            let outlook = match (profile, exact) {
                (Profile::Exact, Ok(plan)) => Outlook::Sequence(Box::new(sequence(profile, plan))),
                (Profile::Exact, Err(error)) => Outlook::Error { error: error.message().to_owned() },
                _ => match predict(profile) {
                    Ok(predicted) => {
                        Outlook::Sequence(Box::new(compared(profile, &predicted, exact.as_ref().ok())))
                    }
                    Err(failure) => Outlook::Error { error: failure.message().to_owned() },
                },
            };
            (profile, outlook)
        })
        .collect()
}

fn sequence(profile: Profile, plan: &impl Plan) -> Sequence {
    let shown = |i| element(plan, i);
    Sequence {
        program: profile.program(),
        r#type: plan.dtype().name(),
        length: plan.len(),
        first: (0..plan.len().min(2)).map(shown).collect(),
        last: plan.len().checked_sub(1).map(shown),
        exact: true,
        difference: None,
        why: None,
    }
}

fn compared(profile: Profile, predicted: &Predicted, exact: Option<&impl Plan>) -> Sequence {
    let found = sequence(profile, predicted);
    let Some(exact) = exact else {
        return Sequence { exact: false, why: Some("there is no exact result".to_owned()), ..found };
    };
    let common = predicted.len().min(exact.len());
    let mut compared = predicted.elements().zip(0..common.min(COMPARED));
    let differs = |(element, i): (Number, u64)| (!agrees(predicted, element, i, exact.at(i))).then_some(i);
    let last = common.checked_sub(1).filter(|&i| i >= COMPARED);
    let first = compared.find_map(differs).or_else(|| last.and_then(|i| differs((predicted.at(i), i))));
    let difference = first.map(|index| Difference {
        index,
        value: element(predicted, index),
        exact: element(exact, index),
    });
    let same_length = predicted.len() == exact.len();
    let same_type = predicted.dtype() == exact.dtype();
    let mut why = Vec::new();
    if !same_type {
        why.push(format!("gives {}", predicted.dtype()));
    }
    if !same_length {
        why.push(predicted.length_rule().to_owned());
    }
    if difference.is_some() {
        why.push(predicted.element_rule().to_owned());
    }
    Sequence {
        exact: same_length && same_type && difference.is_none(),
        difference,
        why: (!why.is_empty()).then(|| why.join("; ")),
        ..found
    }
}

/// An element as JSON has it.
fn element(plan: &impl Plan, i: u64) -> Box<RawValue> {
    RawValue::from_string(json::number(plan.at(i), plan.dtype())).expect("elements are written as JSON")
}

/// Whether an element is the exact one, of whatever type both are; or may be, where a program is not known bit by bit.
fn agrees(predicted: &Predicted, element: Number, i: u64, exact: Number) -> bool {
    element == exact || predicted.agrees(i, exact)
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
