//! What programs give for one call, beside the exact result.

use gradus_core::{DType, Number, Result};
use gradus_profiles::{Outcome, Predicted, Profile};
use gradus_sequences::Plan;

/// Elements that are compared one by one; after them, the last.
const COMPARED: u64 = 100_000;

/// What a program gives.
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
    /// Whether all that was compared is as the exact result.
    pub exact: bool,
    /// The first element that differs.
    pub difference: Option<Difference>,
    /// Why it differs, in a few words.
    pub why: Option<String>,
}

/// An element that differs.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// Its index.
    pub index: u64,
    /// What the program gives.
    pub value: Number,
    /// The exact one.
    pub exact: Number,
}

/// What every program gives for a call, the exact result first; or why it gives none.
///
/// ```
/// use gradus::compare::compare;
/// use gradus::seq::{RangePlan, profile::{Profile, RangeCall, range}};
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
    let mut elements = predicted.elements().zip(0..common.min(COMPARED));
    let differs = |(element, i): (Number, u64)| {
        // The exact element, of whatever type both are; or one that the program may give, where not every bit is known.
        let agrees = element == exact.at(i) || predicted.agrees(i, exact.at(i));
        (!agrees).then_some(i)
    };
    let last = common.checked_sub(1).filter(|&i| i >= COMPARED);
    let first = elements.find_map(differs).or_else(|| last.and_then(|i| differs((predicted.at(i), i))));
    let difference =
        first.map(|index| Difference { index, value: predicted.at(index), exact: exact.at(index) });
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
    Found {
        exact: same_length && same_type && difference.is_none(),
        difference,
        why: (!why.is_empty()).then(|| why.join("; ")),
        ..found
    }
}
