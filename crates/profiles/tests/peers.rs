//! Profiles against programs that run now: random calls, made and answered by
//! `conformance/peers.py`, in the file that `GRADUS_PEERS` names. `cargo xtask conformance --peers`
//! does both.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::BTreeMap;

use gradus_core::convert;
use gradus_core::{DType, Number, text};
use gradus_profiles::{FailureKind, LinspaceCall, LogspaceCall, Outcome, Predicted, Profile, RangeCall};
use gradus_sequences::Plan;
use serde_json::Value;

/// A sequence of more bytes may be too long for the memory that the programs have.
const MEMORY: u64 = 1 << 31;

/// A Python number, as Python prints it.
fn python(recorded: &Value) -> Number {
    let text = recorded.as_str().unwrap();
    text.parse().map_or_else(|_| text::parse_for(text, DType::F64).unwrap(), Number::Int)
}

fn predict(profile: Profile, line: &Value) -> Outcome {
    let dtype: DType = line["dtype"].as_str().unwrap().parse().unwrap();
    let arguments = line["arguments"].as_array().unwrap().iter().map(python);
    if line["function"] == "range" {
        let given: DType = line["given"].as_str().unwrap().parse().unwrap();
        let arguments: Vec<_> = arguments.collect();
        let call = RangeCall::new(arguments.try_into().unwrap(), given, dtype).unwrap();
        return gradus_profiles::range(profile, &call);
    }
    let ends: Vec<_> = arguments.collect();
    let exponents = LinspaceCall {
        start: ends[0],
        stop: ends[1],
        num: line["num"].as_i64().unwrap(),
        endpoint: line["endpoint"].as_bool().unwrap(),
        dtype,
    };
    match line.get("base") {
        Some(base) => gradus_profiles::logspace(profile, &LogspaceCall { exponents, base: python(base) }),
        None if line["function"] == "geomspace" => gradus_profiles::geomspace(profile, &exponents),
        None => gradus_profiles::linspace(profile, &exponents),
    }
}

/// The elements whose bytes were printed: all, or the first and the last.
fn elements(dtype: DType, bytes: &str) -> Vec<Number> {
    let digits = bytes.as_bytes().chunks(dtype.bits() / 4);
    digits
        .map(|digits| {
            let bytes = digits.chunks(2).rev().map(|pair| str::from_utf8(pair).unwrap());
            convert::number(dtype, u64::from_str_radix(&bytes.collect::<String>(), 16).unwrap())
        })
        .collect()
}

fn difference(predicted: &Predicted, line: &Value) -> Option<String> {
    let len = line["len"].as_u64().unwrap();
    if predicted.len() != len {
        return Some(format!("{} elements, not {len}", predicted.len()));
    }
    let got = elements(predicted.dtype(), line["bytes"].as_str().unwrap());
    let shown = u64::try_from(got.len()).unwrap();
    let first = shown.div_ceil(2);
    let indices = (0..first).chain(len - (shown - first)..len);
    indices.zip(got).find_map(|(i, got)| {
        let at = predicted.at(i);
        (!predicted.agrees(i, got)).then(|| format!("element {i} of {len} is {at:?}, not {got:?}"))
    })
}

/// The result of a comparison.
enum Comparison {
    Agree,
    Differ(String),
    /// The profile says that it does not know; or the sequence may be too long for the memory.
    Neither,
}

fn compare(line: &Value) -> Comparison {
    let profile: Profile = line["profile"].as_str().unwrap().parse().unwrap();
    let signal = line.get("signal").is_some();
    let is_error = signal || line.get("error").is_some();
    match predict(profile, line) {
        Ok(predicted) if predicted.len().saturating_mul(8) > MEMORY => Comparison::Neither,
        Ok(predicted) if !is_error => {
            difference(&predicted, line).map_or(Comparison::Agree, Comparison::Differ)
        }
        Err(failure) if failure.kind() == FailureKind::Undetermined => Comparison::Neither,
        Err(failure) if is_error && signal == (failure.kind() == FailureKind::Crash) => Comparison::Agree,
        outcome => Comparison::Differ(format!("predicted is {outcome:?}")),
    }
}

#[test]
#[ignore = "wants GRADUS_PEERS, which `cargo xtask conformance --peers` sets"]
fn programs_return_what_is_predicted() {
    let path = std::env::var("GRADUS_PEERS").expect("GRADUS_PEERS names a file of answers");
    let answers = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut counts: BTreeMap<(String, String), [usize; 3]> = BTreeMap::new();
    let mut all = Vec::new();
    for text in answers.lines() {
        let line: Value = serde_json::from_str(text).unwrap();
        let name = |key: &str| line[key].as_str().unwrap().to_owned();
        let [agree, differ, neither] = counts.entry((name("profile"), name("function"))).or_default();
        match compare(&line) {
            Comparison::Agree => *agree += 1,
            Comparison::Neither => *neither += 1,
            Comparison::Differ(how) => {
                *differ += 1;
                all.push(format!("{}\n    {how}", &text[..text.len().min(400)]));
            }
        }
    }
    for ((profile, function), [agree, differ, neither]) in &counts {
        println!("{profile} {function}: {agree} calls as predicted, {differ} not, {neither} not compared");
        assert!(agree > neither, "{profile} {function}: too few calls are compared");
    }
    assert!(!counts.is_empty(), "{path} has no answers");
    let some = &all[..all.len().min(20)];
    assert!(all.is_empty(), "{} predictions are wrong, among them:\n{}", all.len(), some.join("\n"));
}
