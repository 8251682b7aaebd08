//! Conditions about sizes, decided.

use std::collections::BTreeMap;

use gradus::dim::{Answer, Claim, Ranges};
use pyo3::prelude::*;

use crate::dim::claims;
use crate::error::{OrRaise, engine};
use crate::given::GivenLimits;

/// The answer to a condition, and numbers for which it fails.
pub(crate) type Decided = (&'static str, Option<BTreeMap<String, i64>>);

/// Decides a condition.
#[pyfunction]
pub(crate) fn _decide(
    py: Python<'_>,
    condition: &str,
    assume: Vec<String>,
    ranges: Ranges,
    timeout: Option<f64>,
) -> PyResult<Decided> {
    decided(py, condition, &assume, &ranges, timeout)
}

/// The answer to a condition.
pub(crate) fn decided(
    py: Python<'_>,
    condition: &str,
    assume: &[String],
    ranges: &Ranges,
    timeout: Option<f64>,
) -> PyResult<Decided> {
    let claim = Claim::parse(condition).or_raise()?;
    let given = claims(assume)?;
    let limits = GivenLimits::of_time(timeout)?;
    Ok(match engine(py, || Ok(claim.decide(&given, ranges, Some(&limits)))).or_raise()? {
        Answer::True => ("true", None),
        Answer::Unknown => ("unknown", None),
        Answer::Contradiction => ("contradiction", None),
        Answer::False(found) => {
            ("false", Some(found.into_iter().map(|(name, value)| (name.to_string(), value)).collect()))
        }
    })
}
