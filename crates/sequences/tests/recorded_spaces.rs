//! The recorded calls of linspace, logspace and geomspace: their exact results, computed by another
//! program.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_core::{DType, Number};
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan, Plan};
use serde_json::Value;

/// A zero of the base -0.0 has a sign by IEEE 754 pow, which the recording does not give.
const WITHOUT_SIGNS: [&str; 2] = ["L050", "L051"];

fn number(value: &Value) -> Number {
    match value.as_i64() {
        Some(x) => Number::Int(x.into()),
        None => Number::Float(value.as_f64().or_else(|| value.as_str().unwrap().parse().ok()).unwrap()),
    }
}

fn elements(case: &Value, dtype: DType) -> Result<Vec<Number>, String> {
    fn all(plan: &impl Plan) -> Vec<Number> {
        (0..plan.len()).map(|i| plan.at(i)).collect()
    }
    let (start, stop, num) = (number(&case["start"]), number(&case["stop"]), case["num"].as_u64().unwrap());
    let endpoint = case["endpoint"].as_bool().unwrap_or(true);
    let base = case.get("base").map_or(Number::Int(10), number);
    match case["fn"].as_str().unwrap() {
        "linspace" => LinspacePlan::new(start, stop, num, endpoint, dtype).map(|plan| all(&plan)),
        "logspace" => LogspacePlan::new(base, start, stop, num, endpoint, dtype).map(|plan| all(&plan)),
        _ => GeomspacePlan::new(start, stop, num, endpoint, dtype).map(|plan| all(&plan)),
    }
    .map_err(|error| error.to_string())
}

#[test]
fn exact_results_are_as_recorded() {
    let recorded = include_str!("../../../conformance/recorded/logspace.json");
    let recorded: Value = serde_json::from_str(recorded).unwrap();
    let mut compared = 0;
    for case in recorded["cases"].as_array().unwrap() {
        let Some(exact) = case.get("exact").filter(|exact| exact.is_object()) else { continue };
        let id = case["id"].as_str().unwrap();
        let doubles = elements(case, DType::F64).unwrap();
        let wanted = exact["f64"].as_array().unwrap();
        assert_eq!(doubles.len(), wanted.len(), "{id}");
        for (i, (got, want)) in doubles.iter().zip(wanted).enumerate() {
            let (Number::Float(got), Number::Float(want)) = (got, number(want)) else { panic!("{id}") };
            let magnitudes = WITHOUT_SIGNS.contains(&id) && got.abs() == want.abs();
            assert!(
                *got == want || got.is_nan() && want.is_nan() || magnitudes,
                "{id}[{i}]: {got}, not {want}"
            );
        }
        let whole: Option<Vec<i64>> = exact["trunc"].as_array().unwrap().iter().map(Value::as_i64).collect();
        match (elements(case, DType::I64), whole) {
            (Ok(got), Some(want)) => {
                assert_eq!(got, want.iter().map(|&x| Number::Int(x.into())).collect::<Vec<_>>(), "{id}");
            }
            (Err(_), None) => {}
            (got, want) => panic!("{id}: {got:?}, not {want:?}"),
        }
        compared += 1;
    }
    assert!(compared >= 60, "{compared} cases have exact results");
}
