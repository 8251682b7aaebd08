//! `gradus dim`: expressions and conditions of sizes.

use std::collections::BTreeMap;
use std::sync::Arc;

use gradus::dim::{Answer, Claim, Expression, Ranges, Symbols};
use gradus::{Error, Kind, Result};

use super::given;
use crate::args;
use crate::diagnostics::{Failure, Mistake};
use crate::object::{Maybe, object};
use crate::output;

/// Runs `gradus dim`: simplifies an expression, decides a condition, or solves it.
pub(crate) fn dim(args: &args::Dim) -> Result<(), Failure> {
    match &args.solve_for {
        Some(name) => solve(args, name),
        None if Claim::is_written(&args.text) => condition(args),
        None => expression(args),
    }
}

/// The conditions that are assumed, and the ranges of names.
fn given(args: &args::Dim, names: &[Arc<str>]) -> Result<(Vec<Claim>, Ranges)> {
    let assume = given::assumptions(&args.assume)?;
    let given = assume.conditions.iter().map(|text| Claim::parse(text)).collect::<Result<Vec<_>>>()?;
    let mut ranges: Ranges = assume.ranges;
    if assume.nonempty {
        for name in names.iter().cloned().chain(given.iter().flat_map(Claim::names)) {
            let range = ranges.entry(name.to_string()).or_insert((1, None));
            range.0 = range.0.max(1);
        }
    }
    Ok((given, ranges))
}

/// Refuses ranges without a number.
fn must_hold_numbers(ranges: &Ranges) -> Result<()> {
    match ranges.iter().find(|(_, (least, most))| most.is_some_and(|most| most < *least)) {
        Some((name, (least, most))) => {
            let most = most.unwrap_or(*least);
            let message = format!("--range {name}={least}..{most}: it holds no number");
            Err(Error::new(Kind::Usage, message))
        }
        None => Ok(()),
    }
}

fn is_name(names: &[Arc<str>], name: &str) -> Result<()> {
    if names.iter().any(|known| **known == *name) {
        return Ok(());
    }
    Err(Error::unknown("name", name, names.iter().map(|name| &**name)))
}

fn solve(args: &args::Dim, name: &str) -> Result<(), Failure> {
    let claim = Claim::parse(&args.text).map_err(|error| Mistake::whole(&args.text, error))?;
    is_name(&claim.names(), name)?;
    let (given, ranges) = given(args, &claim.names())?;
    must_hold_numbers(&ranges)?;
    let mut symbols = Symbols::assuming(&given, &ranges)?;
    symbols.print_in(args.written.dialect.into());
    let limits = args.limits.limits();
    let solved = claim.solve_for(name, &given, &ranges, &mut symbols, Some(&limits));
    let solved = solved.map_err(|error| Mistake::whole(&args.text, error))?;
    let answer = match &solved {
        None => "unknown",
        Some(solved) if solved.is_empty() => "none",
        Some(_) => "solved",
    };
    let print = |end: Option<_>| end.map(|end| symbols.print(end).to_string());
    let (min, max) = solved.map_or((None, None), |solved| (print(solved.least), print(solved.most)));
    if output::is_json() {
        let json = object!(SolvedJson { condition: &args.text, solved_for: name, answer, min, max });
        output::print_json(&json)?;
    } else {
        output::print_line(&match (answer, min, max) {
            ("unknown", ..) => answer.to_owned(),
            ("none", ..) => "none: no number meets the condition".to_owned(),
            (_, Some(min), Some(max)) if min == max => format!("{name} == {min}"),
            (_, Some(min), Some(max)) => format!("{min} <= {name} <= {max}"),
            (_, Some(min), None) => format!("{name} >= {min}"),
            (_, None, Some(max)) => format!("{name} <= {max}"),
            (_, None, None) => "any number".to_owned(),
        })?;
    }
    match answer {
        "solved" => Ok(()),
        "none" => Err(Failure::Different),
        _ => Err(Failure::Undecided),
    }
}

fn condition(args: &args::Dim) -> Result<(), Failure> {
    let claim = Claim::parse(&args.text).and_then(|claim| claim.check_divisors().map(|()| claim));
    let claim = claim.map_err(|error| Mistake::whole(&args.text, error))?;
    let (given, mut ranges) = given(args, &claim.names())?;
    let names: Vec<_> = given.iter().chain([&claim]).flat_map(Claim::names).collect();
    for (name, value) in given::numbers("--at", &args.at)? {
        is_name(&names, &name)?;
        ranges.insert(name, (value, Some(value)));
    }
    must_hold_numbers(&ranges)?;
    let answer = claim.decide(&given, &ranges, Some(&args.limits.limits()));
    let (name, counterexample) = match &answer {
        Answer::True => ("true", None),
        Answer::False(found) => ("false", Some(found)),
        Answer::Unknown => ("unknown", None),
        Answer::Contradiction => ("contradiction", None),
    };
    if output::is_json() {
        let counterexample = counterexample
            .map(|found| found.iter().map(|(name, value)| (&**name, *value)).collect::<BTreeMap<_, _>>());
        output::print_json(&object!(DecidedJson {
            condition: &args.text,
            answer: name,
            counterexample: Maybe(counterexample)
        }))?;
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
    let names = expression.names();
    let (given, ranges) = given(args, names)?;
    must_hold_numbers(&ranges)?;
    let mut symbols = Symbols::assuming(&given, &ranges)?;
    symbols.print_in(args.written.dialect.into());
    let dim = symbols.canonical(&expression).map_err(|error| Mistake::whole(&args.text, error))?;
    let at = given::numbers("--at", &args.at)?;
    for name in at.keys() {
        is_name(names, name)?;
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
    let printed = symbols.print(dim).to_string();
    if output::is_json() {
        let bounds = expression.bounds(&given, &ranges, Some(&args.limits.limits()));
        let symbols = symbols.symbols_of(dim).into_iter().map(|symbol| &*symbol.name).collect::<Vec<_>>();
        return output::print_json(&object!(ExpressionJson {
            expression: printed,
            symbols,
            min: bounds.lower(),
            max: bounds.upper(),
            value: Maybe(value),
        }));
    }
    output::print_line(&value.map_or(printed, |value| value.to_string()))?;
    Ok(())
}
