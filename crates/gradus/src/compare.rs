//! Results of programs for one call, beside the exact result.

use gradus_core::{DType, Number, Result};
use gradus_profiles::{Outcome, Predicted, Profile};
use gradus_sequences::Plan;

/// Elements that are compared one by one; after them, the last.
const COMPARED: u64 = 100_000;

/// Describes what a program gives.
#[derive(Clone, Debug)]
pub struct Found {
    /// The type of the elements.
    pub dtype: DType,
    /// How many there are.
    pub len: u64,
    /// The first two, or as many as there are.
    pub first: Vec<Number>,
    /// The last.
    pub last: Option<Number>,
    /// True if length, type and all compared elements are predicted to be those of the exact
    /// result.
    pub exact: bool,
    /// The first element that differs; preferably one that differs by more than the tolerance of
    /// the prediction.
    pub difference: Option<Difference>,
    /// Why it differs, in a few words.
    pub why: Option<String>,
}

/// An element that differs.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// Its index.
    pub index: u64,
    /// Describes what the program gives.
    pub value: Number,
    /// The exact one.
    pub exact: Number,
}

/// Each program's result for a call, the exact result first, or the reason why it returns none.
///
/// ```
/// use gradus::compare::compare;
/// use gradus::profiles::{Profile, RangeCall, range};
/// use gradus::seq::RangePlan;
/// use gradus::{DType, Number};
/// let numbers = [0.0, 1.0, 0.1].map(Number::Float);
/// let exact = RangePlan::new(numbers[0], numbers[1], numbers[2], DType::F32).map_err(|e| e.describe(["a", "b", "c"]));
/// let call = RangeCall::new(numbers, DType::F32, DType::F32)?;
/// let rows = compare(&exact, |profile| range(profile, &call));
/// let numpy = rows.iter().find(|(profile, _)| *profile == Profile::Numpy).unwrap().1.as_ref().unwrap();
/// assert_eq!(numpy.len, 10);
/// # Ok::<(), gradus::Error>(())
/// ```
pub fn compare<P: Plan>(
    exact: &Result<P>,
    predict: impl Fn(Profile) -> Outcome,
) -> Vec<(Profile, std::result::Result<Found, String>)> {
    let each = |&profile: &Profile| {
        let found = match (profile, exact) {
            (Profile::Exact, Ok(plan)) => Ok(found(plan)),
            (Profile::Exact, Err(error)) => Err(error.message().to_owned()),
            _ => predict(profile)
                .map(|predicted| compared(&predicted, exact.as_ref().ok()))
                .map_err(|failure| failure.message().to_owned()),
        };
        (profile, found)
    };
    Profile::ALL.iter().map(each).collect()
}

fn found(plan: &impl Plan) -> Found {
    Found {
        dtype: plan.dtype(),
        len: plan.len(),
        first: (0..plan.len().min(2)).map(|i| plan.at(i)).collect(),
        last: plan.len().checked_sub(1).map(|i| plan.at(i)),
        exact: true,
        difference: None,
        why: None,
    }
}

fn compared(predicted: &Predicted, exact: Option<&impl Plan>) -> Found {
    let found = found(predicted);
    let Some(exact) = exact else {
        return Found { exact: false, why: Some("there is no exact result".to_owned()), ..found };
    };
    let common = predicted.len().min(exact.len());
    let last = common.checked_sub(1).filter(|&i| i >= COMPARED).map(|i| (i, predicted.at(i)));
    let difference =
        first_difference(predicted, exact, (0..common.min(COMPARED)).zip(predicted.elements()).chain(last));
    let same_length = predicted.len() == exact.len();
    let same_type = predicted.dtype() == exact.dtype();
    let mut why = Vec::new();
    if !same_type {
        why.push(format!("gives {}", predicted.dtype()));
    }
    if !same_length {
        why.push(predicted.length_rule().to_owned());
    }
    if let Some(difference) = difference {
        why.push(predicted.element_rule().to_owned());
        if predicted.agrees(difference.index, difference.exact) {
            why.push("the exact element is within the tolerance of the prediction".to_owned());
        }
    }
    Found {
        exact: same_length && same_type && difference.is_none(),
        difference,
        why: (!why.is_empty()).then(|| why.join("; ")),
        ..found
    }
}

/// The first element that the program cannot return exactly; if there is none, the first that is
/// predicted otherwise than exactly, within the tolerance of the prediction.
fn first_difference(
    predicted: &Predicted,
    exact: &impl Plan,
    elements: impl Iterator<Item = (u64, Number)>,
) -> Option<Difference> {
    let mut tolerated = None;
    for (index, value) in elements {
        let difference = Difference { index, value, exact: exact.at(index) };
        if value == difference.exact || (is_nan(value) && is_nan(difference.exact)) {
            continue;
        }
        if !predicted.agrees(index, difference.exact) {
            return Some(difference);
        }
        tolerated.get_or_insert(difference);
    }
    tolerated
}

fn is_nan(number: Number) -> bool {
    matches!(number, Number::Float(x) if x.is_nan())
}

#[cfg(test)]
mod tests {
    use gradus_profiles::{LinspaceCall, LogspaceCall, logspace};
    use gradus_sequences::LogspacePlan;

    use super::*;

    #[test]
    fn a_difference_within_the_tolerance_is_not_exact() {
        let (base, start, stop, dtype) = (Number::Int(1000), Number::Int(0), Number::Int(1), DType::I64);
        let exact = LogspacePlan::new(base, start, stop, 4, true, dtype)
            .map_err(|error| error.describe(["start", "stop", "base", "num"]));
        let call =
            LogspaceCall { exponents: LinspaceCall { start, stop, num: 4, endpoint: true, dtype }, base };
        let rows = compare(&exact, |profile| logspace(profile, &call));
        let (_, found) = rows.into_iter().find(|(profile, _)| *profile == Profile::Numpy).unwrap();
        let found = found.unwrap();
        let difference = found.difference.expect("NumPy returns 9 for 10");
        assert_eq!(
            (difference.index, difference.value, difference.exact),
            (1, Number::Int(9), Number::Int(10))
        );
        assert!(!found.exact);
        assert!(found.why.unwrap().ends_with("the exact element is within the tolerance of the prediction"));
    }
}
