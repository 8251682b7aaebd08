//! The smallest and the largest element of integer tensors that operations make of others.

use std::sync::Arc;

use gradus_core::DType;

use crate::dim::Dim;
use crate::elementwise::symbolic::{combined, compare};
use crate::fact::{Elements, Extremes, range_of};
use crate::infer::InferContext;
use crate::operation::Operation;

/// Elements of that range, if the type holds them. Sizes do not reach 2^31.
pub(super) fn extremes_of_type(
    cx: &mut InferContext<'_, '_>,
    extremes: Extremes,
    dtype: DType,
) -> Option<Elements> {
    let (low, high) = range_of(dtype)?;
    let wide = dtype.bits() >= 32;
    let (min, max) = (cx.symbols().bounds(extremes.min), cx.symbols().bounds(extremes.max));
    let is_above = wide && low < 0 && extremes.min.known().is_none();
    let is_below = wide && extremes.max.known().is_none();
    let is_held = (is_above || min.lower().is_some_and(|min| min >= low))
        && (is_below || max.upper().is_some_and(|max| max <= high));
    is_held.then(|| extremes.elements())
}

/// The range of the elements that an operation makes of two inputs, or one truth value that all of
/// its comparisons give.
pub(super) fn extremes(
    cx: &mut InferContext<'_, '_>,
    operation: Operation,
    dtype: DType,
) -> Option<Elements> {
    if cx.count() != 2 {
        return None;
    }
    let (a, b) = (cx.extremes(0)?, cx.extremes(1)?);
    if operation.gives_truth() {
        let ends = [(a.min, b.max), (a.max, b.min)].map(|(a, b)| compare(cx, operation, a, b));
        let is_ordered = !matches!(operation, Operation::Equal | Operation::NotEqual);
        let truth = ends[0].filter(|_| ends[0] == ends[1] && is_ordered)?;
        return Some(Elements::Progression(Arc::new((Dim::Known(truth), Dim::ZERO))));
    }
    let symbols = cx.symbols();
    let is_natural = symbols.at_least(a.min, 0) && symbols.at_least(b.min, 0);
    let mut attained = a.both_attained(b);
    let (first, second) = match operation {
        Operation::Add | Operation::Min | Operation::Max => ((a.min, b.min), (a.max, b.max)),
        Operation::Mul if is_natural => ((a.min, b.min), (a.max, b.max)),
        Operation::Sub => {
            attained = [a.attained[0] && b.attained[1], a.attained[1] && b.attained[0]];
            ((a.min, b.max), (a.max, b.min))
        }
        Operation::Mul => {
            let (by, of) = if b.min == b.max { (b.min, a) } else { (a.min, b) };
            let is_single = a.min == a.max || b.min == b.max;
            let bounds = symbols.bounds(by);
            if is_single && bounds.lower().is_some_and(|min| min >= 0) {
                ((of.min, by), (of.max, by))
            } else if is_single && bounds.upper().is_some_and(|max| max <= 0) {
                attained.reverse();
                ((of.max, by), (of.min, by))
            } else {
                return None;
            }
        }
        Operation::Div | Operation::FloorDiv if b.min == b.max && symbols.at_least(b.min, 1) => {
            ((a.min, b.min), (a.max, b.max))
        }
        Operation::Mod if b.min == b.max && symbols.at_least(b.min, 1) => {
            let max = symbols.subtract(b.min, Dim::ONE)?;
            let is_kept = symbols.at_least(a.min, 0) && {
                let rest = symbols.subtract(max, a.max)?;
                symbols.at_least(rest, 0)
            };
            let range = if is_kept { a } else { Extremes { min: Dim::ZERO, max, attained: [false; 2] } };
            return extremes_of_type(cx, range, dtype);
        }
        _ => return None,
    };
    let min = combined(cx, operation, first.0, first.1)?;
    let max = combined(cx, operation, second.0, second.1)?;
    let range = Extremes { min, max, attained };
    let meet = a.min == a.max || b.min == b.max || have_own_axes(cx);
    extremes_of_type(cx, if meet { range } else { range.of_some() }, dtype)
}

/// Returns true if each element of one input meets each of the other: one of them has size 1 along
/// each axis.
fn have_own_axes(cx: &InferContext<'_, '_>) -> bool {
    let (Some(a), Some(b)) = (cx.known_dims(0), cx.known_dims(1)) else { return false };
    a.iter().rev().zip(b.iter().rev()).all(|(a, b)| *a == Dim::ONE || *b == Dim::ONE)
}
