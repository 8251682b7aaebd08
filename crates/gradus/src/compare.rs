//! Results of programs for one call, next to the exact result.

use gradus_core::convert::usize_of;
use gradus_core::{DType, Number, Result};
use gradus_profiles::{FailureKind, Outcome, Predicted, Profile, distance};
use gradus_sequences::Plan;

/// Elements that are compared one by one; after them, the last.
const COMPARED: u64 = 100_000;

/// Maximum number of parts of the compared elements of which the largest difference is kept.
pub const PARTS: u64 = 60;

/// Describes what a program gives.
#[derive(Clone, Debug)]
pub struct Found {
    /// The type of the elements.
    pub dtype: DType,
    /// Number of elements.
    pub len: u64,
    /// The first two, or as many as there are.
    pub first: Vec<Number>,
    /// The last.
    pub last: Option<Number>,
    /// How far the program's elements may be from these, in words; nothing if they are bit for bit
    /// the program's.
    pub tolerance: Option<String>,
    /// True if length, type and all compared elements are predicted to be those of the exact
    /// result.
    pub exact: bool,
    /// Number of elements that were compared: the first 100,000, and the last.
    pub compared: u64,
    /// Number of compared elements that differ.
    pub differing: u64,
    /// The first element that differs.
    pub difference: Option<Difference>,
    /// The element that differs most, by elements of the type between the two; of NaN, the first.
    pub largest: Option<Difference>,
    /// The largest difference in each of up to [`PARTS`] equal parts of the compared elements, in
    /// units in the last place; the largest number stands for no distance.
    pub parts: Vec<u64>,
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
    /// Distance in units in the last place: one more than the number of elements of the type
    /// between the two. `None` if one of them is NaN, or the types differ.
    pub ulps: Option<u64>,
}

/// Each program's result for a call, the exact result first, or the reason why it returns none.
/// Programs without the function are left out.
///
/// ```
/// use gradus::compare::compare;
/// use gradus::profiles::{Profile, RangeCall, range};
/// use gradus::seq::RangePlan;
/// use gradus::{DType, Number};
/// let numbers = [0.0, 1.0, 0.1].map(Number::Float);
/// let exact = RangePlan::new(numbers[0], numbers[1], numbers[2], DType::F32)
///     .map_err(|error| error.describe(["start", "stop", "step"]));
/// let call = RangeCall::new(numbers, DType::F32, DType::F32)?;
/// let rows = compare(&exact, |profile| range(profile, &call));
/// let (_, numpy) = rows.iter().find(|(profile, _)| *profile == Profile::Numpy).unwrap();
/// assert_eq!(numpy.as_ref().unwrap().len, 10);
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
            _ => match predict(profile) {
                Ok(predicted) => Ok(compared(&predicted, exact.as_ref().ok())),
                Err(failure) if failure.kind() == FailureKind::Absent => return None,
                Err(failure) => Err(failure.message().to_owned()),
            },
        };
        Some((profile, found))
    };
    Profile::ALL.iter().filter_map(each).collect()
}

fn found(plan: &impl Plan) -> Found {
    Found {
        dtype: plan.dtype(),
        len: plan.len(),
        first: (0..plan.len().min(2)).map(|i| plan.at(i)).collect(),
        last: plan.len().checked_sub(1).map(|i| plan.at(i)),
        tolerance: None,
        exact: true,
        compared: 0,
        differing: 0,
        difference: None,
        largest: None,
        parts: Vec::new(),
        why: None,
    }
}

fn compared(predicted: &Predicted, exact: Option<&impl Plan>) -> Found {
    let found = Found { tolerance: predicted.tolerance().describe(predicted.dtype()), ..found(predicted) };
    let Some(exact) = exact else {
        return Found { exact: false, why: Some("there is no exact result".to_owned()), ..found };
    };
    let common = predicted.len().min(exact.len());
    let last = common.checked_sub(1).filter(|&i| i >= COMPARED).map(|i| (i, predicted.at(i)));
    let elements = (0..common.min(COMPARED)).zip(predicted.elements()).chain(last);
    let (same_length, same_type) = (predicted.len() == exact.len(), predicted.dtype() == exact.dtype());
    let mut found = Found { compared: common.min(COMPARED) + u64::from(last.is_some()), ..found };
    let mut tolerated = true;
    let shown = common.min(COMPARED);
    let parts = shown.min(PARTS);
    found.parts = vec![0; usize_of(parts)];
    for (index, value) in elements {
        let of_exact = exact.at(index);
        if value == of_exact || (is_nan(value) && is_nan(of_exact)) {
            continue;
        }
        let ulps = same_type.then(|| distance(exact.dtype(), value, of_exact)).flatten();
        let difference = Difference { index, value, exact: of_exact, ulps };
        found.differing += 1;
        found.difference.get_or_insert(difference);
        // No distance is the largest.
        let size = |difference: &Difference| difference.ulps.unwrap_or(u64::MAX);
        if index < shown {
            let part = &mut found.parts[usize_of(index * parts / shown)];
            *part = size(&difference).max(*part);
        }
        if found.largest.as_ref().is_none_or(|largest| size(largest) < size(&difference)) {
            found.largest = Some(difference);
        }
        tolerated = tolerated && predicted.agrees(index, of_exact);
    }
    let mut why = Vec::new();
    if !same_type {
        why.push(format!("gives {}", predicted.dtype()));
    }
    if !same_length {
        why.push(predicted.length_rule().to_owned());
    }
    if found.differing > 0 {
        why.push(predicted.element_rule().to_owned());
        if tolerated {
            why.push("the exact elements are within the tolerance of the prediction".to_owned());
        }
    }
    found.exact = same_length && same_type && found.differing == 0;
    found.why = (!why.is_empty()).then(|| why.join("; "));
    found
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
        assert_eq!((found.exact, found.compared, found.differing), (false, 4, 2));
        assert_eq!(found.largest.unwrap().ulps, Some(1));
        assert!(
            found.why.unwrap().ends_with("the exact elements are within the tolerance of the prediction")
        );
    }
}
