//! Ranges: the sizes from which on programs return other elements.

use gradus_core::convert::{nearest_f32, nearest_f64, truncated};
use gradus_core::{DType, Number};
use gradus_profiles::{Profile, RangeCall, range};
use gradus_sequences::{Plan, RangePlan};

use super::When;
use super::conditions::NodeFacts;
use crate::compare::compare;
use crate::dim::{Condition, Dim, Relation};
use crate::operators::exact_length;

/// Maximum number of elements that are compared one by one; of a longer sequence it is not decided.
const COMPARED: u64 = 1 << 20;

/// When the limit of a range is on the other side of its start than the sign of the step says.
pub(super) fn of_wrong_sign(node: &mut NodeFacts<'_>) -> Option<When> {
    if !node.is(0, &[DType::I32, DType::I64, DType::F32]) {
        return None;
    }
    let scalar = |node: &mut NodeFacts<'_>, index| {
        let fact = node.input(index)?.clone();
        node.integers(&fact).and_then(|dims| dims.first().copied())
    };
    if let (Some(start), Some(limit), Some(step)) = (node.constant(0), node.constant(1), node.constant(2)) {
        let [start, limit, step] =
            [start, limit, step].map(|it| it.first().map_or(f64::NAN, |&x| nearest_f64(x)));
        return ((limit - start) * step < 0.0).then_some(When::Always);
    }
    let (Some(start), Some(limit)) = (scalar(node, 0), scalar(node, 1)) else { return Some(When::Data) };
    let Some(step) = node.constant(2).and_then(|step| step.first().copied()) else { return Some(When::Data) };
    let step = nearest_f64(step);
    node.any(&[limit], |symbols, limit| {
        let relation = if step > 0.0 { Relation::AtMost } else { Relation::AtLeast };
        let (apart, bound) = match symbols.subtract(limit, start) {
            Some(apart) => (apart, Dim::Known(if step > 0.0 { -1 } else { 1 })),
            None => (limit, start),
        };
        [Condition::new(apart, relation, bound)]
    })
}

/// When an element or the length of a range of float32 depends on the program.
pub(super) fn of_float32(node: &mut NodeFacts<'_>) -> Option<When> {
    if !node.is(0, &[DType::F32]) {
        return None;
    }
    let first = |node: &NodeFacts<'_>, index| node.constant(index)?.first().copied().map(nearest_f64);
    let (Some(start), Some(step)) = (first(node, 0), first(node, 2)) else { return Some(When::Data) };
    if let Some(limit) = first(node, 1) {
        if (limit - start) * step < 0.0 {
            return None;
        }
        return differs(start, limit, step).then_some(When::Always);
    }
    // Spans and quotients of a limit that is an integer are as exact as the elements.
    let limit = node.input(1)?.clone();
    let is_integer = node.integers(&limit).is_some();
    let len = node.output().and_then(|fact| fact.dims.as_ref()?.first().copied());
    let (Some(exact), Some(len), true) = (exact_length(start, step), len, is_integer) else {
        return Some(When::Data);
    };
    node.any(&[len], |_, len| [Condition::new(len, Relation::AtLeast, Dim::Known(exact + 1))])
}

/// When an element or the length of a range of float64 depends on the program.
pub(super) fn of_float64(node: &mut NodeFacts<'_>) -> Option<When> {
    if !node.is(0, &[DType::F64]) {
        return None;
    }
    let first = |index| node.constant(index)?.first().copied().map(nearest_f64);
    let (Some(start), Some(step)) = (first(0), first(2)) else { return Some(When::Data) };
    let len = first(1).and_then(|limit| truncated((limit - start) / step));
    let exact = exact_length(start, step).zip(len).is_some_and(|(exact, len)| len <= i128::from(exact));
    (!exact).then_some(When::Data)
}

/// Returns true if the programs return different sequences, or if that is not decided.
fn differs(start: f64, limit: f64, step: f64) -> bool {
    let numbers = [start, limit, step].map(Number::Float);
    let predicted = |profile, dtype| range(profile, &RangeCall::new(numbers, dtype, dtype).ok()?).ok();
    let all = (
        predicted(Profile::Onnxruntime, DType::F32),
        predicted(Profile::OpenvinoCpu, DType::F32),
        predicted(Profile::Numpy, DType::F64),
    );
    let (Some(summed), Some(other), Some(once)) = all else { return true };
    if summed.len() != other.len() || summed.len() != once.len() || summed.len() > COMPARED {
        return true;
    }
    let once = once.elements().map(|x| Number::Float(f64::from(nearest_f32(x))));
    summed.elements().zip(other.elements()).zip(once).any(|((a, b), c)| a != b || a != c)
}

/// The programs that do not return the exact sequence of a `Range` whose arguments are known, and
/// why.
pub(super) fn sequences(node: &NodeFacts<'_>) -> Vec<(&'static str, String)> {
    let first = |index| node.constant(index)?.first().copied();
    let known = || {
        let numbers = [first(0)?, first(1)?, first(2)?];
        let dtype = node.input(0)?.dtype?;
        Some((RangeCall::new(numbers, dtype, dtype).ok()?, numbers, dtype))
    };
    let Some((call, [start, stop, step], dtype)) = known().filter(|_| &*node.node.operator.name == "Range")
    else {
        return Vec::new();
    };
    let exact =
        RangePlan::new(start, stop, step, dtype).map_err(|error| error.describe(["start", "limit", "delta"]));
    let found = compare(&exact, |profile| range(profile, &call)).into_iter();
    let differs = found.filter_map(|(profile, found)| match found {
        Ok(found) if found.exact => None,
        Ok(found) => Some((profile.name(), found.why.unwrap_or_default())),
        Err(error) => Some((profile.name(), format!("fails: {error}"))),
    });
    differs.collect()
}
