//! `gradus dim`: expressions and conditions of sizes.

use std::collections::BTreeMap;

use gradus::dim::{Answer, Bounds, Claim, Expression, Ranges, Symbols};
use gradus::{Error, Kind, Result};
use serde::Serialize;

use super::given;
use crate::args;
use crate::diagnostics::{Failure, Mistake};
use crate::output;

#[derive(Serialize)]
struct DecidedJson<'a> {
    condition: &'a str,
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<BTreeMap<&'a str, i64>>,
}

#[derive(Serialize)]
struct ExpressionJson<'a> {
    expression: String,
    symbols: Vec<&'a str>,
    min: Option<i64>,
    max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
}

/// Runs `gradus dim`: simplifies an expression, or decides a condition.
pub(crate) fn dim(args: &args::Dim) -> Result<(), Failure> {
    if Claim::is_written(&args.text) { condition(args) } else { expression(args) }
}

fn condition(args: &args::Dim) -> Result<(), Failure> {
    let claim = Claim::parse(&args.text).map_err(|error| Mistake::whole(&args.text, error))?;
    let assume = given::assumptions(&args.assume)?;
    let given = assume.conditions.iter().map(|text| Claim::parse(text)).collect::<Result<Vec<_>>>()?;
    let mut ranges: Ranges = assume.ranges;
    let names: Vec<_> = given.iter().chain([&claim]).flat_map(Claim::names).collect();
    if assume.nonempty {
        for name in &names {
            let range = ranges.entry(name.to_string()).or_insert((1, None));
            range.0 = range.0.max(1);
        }
    }
    for (name, value) in given::numbers(&args.at)? {
        if !names.iter().any(|known| **known == *name) {
            return Err(Error::unknown("name", &name, names.iter().map(|name| &**name)).into());
        }
        ranges.insert(name, (value, Some(value)));
    }
    if let Some((name, (least, most))) =
        ranges.iter().find(|(_, (least, most))| most.is_some_and(|most| most < *least))
    {
        let most = most.unwrap_or(*least);
        let message = format!("--range {name}={least}..{most}: it holds no number");
        return Err(Error::new(Kind::Usage, message).into());
    }
    let answer = claim.decide(&given, &ranges, Some(&args.limits.limits()));
    let (name, counterexample) = match &answer {
        Answer::True => ("true", None),
        Answer::False(found) => ("false", Some(found)),
        Answer::Unknown => ("unknown", None),
        Answer::Contradiction => ("contradiction", None),
    };
    if args.json {
        let counterexample =
            counterexample.map(|found| found.iter().map(|(name, value)| (&**name, *value)).collect());
        output::print_json(&DecidedJson { condition: &args.text, answer: name, counterexample })?;
    } else {
        let found: Vec<_> =
            counterexample.into_iter().flatten().map(|(name, value)| format!("{name} = {value}")).collect();
        output::print_line(&match &answer {
            Answer::False(_) if !found.is_empty() => format!("{name}: {}", found.join(", ")),
            Answer::Contradiction => format!("{name}: no numbers meet what is assumed"),
            _ => name.to_owned(),
        })?;
    }
    match answer {
        Answer::True => Ok(()),
        Answer::False(_) | Answer::Contradiction => Err(Failure::Different),
        Answer::Unknown => Err(Failure::Undecided),
    }
}

fn expression(args: &args::Dim) -> Result<(), Failure> {
    let expression = Expression::parse(&args.text).map_err(|error| Mistake::whole(&args.text, error))?;
    let assume = given::assumptions(&args.assume)?;
    let names = expression.names();
    let mut symbols = Symbols::default();
    for (name, (least, most)) in &assume.ranges {
        symbols.bound_inputs(Some(name), Bounds::between(Some(*least), *most));
    }
    if assume.nonempty {
        symbols.bound_inputs(None, Bounds::between(Some(1), None));
    }
    for text in &assume.conditions {
        let condition = symbols.parse_condition(text)?;
        symbols.assume(&condition);
    }
    let dim = symbols.canonical(&expression)?;
    let at = given::numbers(&args.at)?;
    if let Some(name) = at.keys().find(|name| !names.iter().any(|known| **known == **name)) {
        return Err(Error::unknown("name", name, names.iter().map(|name| &**name)).into());
    }
    let value = if at.is_empty() {
        None
    } else {
        if let Some(missing) = names.iter().find(|name| !at.contains_key(&***name)) {
            return Err(Error::mismatch(
                Kind::Usage,
                format_args!("--at {missing}"),
                "missing",
                "NAME=NUMBER",
            )
            .into());
        }
        let value = expression.evaluate(|name| at.get(name).copied());
        let none = || {
            Error::new(
                Kind::Value,
                format!(
                    "\"{}\" has no value there: it divides by zero, exceeds 64 bits or is no integer",
                    args.text
                ),
            )
        };
        Some(value.ok_or_else(none)?)
    };
    let printed = symbols.print(dim).in_dialect(args.dims.into()).to_string();
    if args.json {
        let bounds = symbols.bounds(dim);
        let symbols = symbols.symbols_of(dim).into_iter().map(|symbol| &*symbol.name).collect();
        return output::print_json(&ExpressionJson {
            expression: printed,
            symbols,
            min: bounds.lower(),
            max: bounds.upper(),
            value,
        });
    }
    output::print_line(&value.map_or(printed, |value| value.to_string()))?;
    Ok(())
}
