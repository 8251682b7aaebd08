//! Values of graphs: in float64, so that what a node computes in several steps is rounded once, and
//! with their channels second, as ONNX has them.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::lowering::{LoweredValue, Lowering};

/// An input in float64.
pub(super) fn wide_input(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    let value = l.input(input)?;
    wide(l, value)
}

/// An input in float64, or none.
pub(super) fn maybe_wide(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    if l.has(input) { wide_input(l, input) } else { Ok(LoweredValue::NONE) }
}

/// The output, in the type of the first input.
pub(super) fn like_first(l: &mut Lowering<'_>, value: LoweredValue) -> Result<Vec<LoweredValue>> {
    let dtype = l.dtype_of(0)?;
    Ok(vec![l.cast(value, dtype)?])
}

/// A number in float64.
pub(super) fn number(l: &mut Lowering<'_>, value: f64) -> Result<LoweredValue> {
    l.constant(Tensor::scalar(value))
}

/// The sum of an input in float64 and another, if it is given.
pub(super) fn plus(l: &mut Lowering<'_>, value: LoweredValue, input: usize) -> Result<LoweredValue> {
    if !l.has(input) {
        return Ok(value);
    }
    let added = wide_input(l, input)?;
    l.apply("Add", &[value, added], &[])
}

/// A value in float64.
pub(super) fn wide(l: &mut Lowering<'_>, value: LoweredValue) -> Result<LoweredValue> {
    l.cast(value, DType::F64)
}

/// Some attributes of the node, unchanged.
pub(super) fn given(l: &Lowering<'_>, names: &[&'static str]) -> Vec<(&'static str, Content)> {
    names.iter().filter_map(|&name| Some((name, l.attributes.get(name)?.clone()))).collect()
}

/// Computes on numbers with the channels as axis 1, where `channels_last` may say that they come
/// last.
pub(super) fn channels_second(
    l: &mut Lowering<'_>,
    rank: usize,
    last: bool,
    value: LoweredValue,
    compute: impl FnOnce(&mut Lowering<'_>, LoweredValue) -> Result<LoweredValue>,
) -> Result<LoweredValue> {
    if !last || rank < 3 {
        return compute(l, value);
    }
    let (to, back) = (channels_first(rank), channels_back(rank));
    let value = l.transposed(value, &to)?;
    let value = compute(l, value)?;
    l.transposed(value, &back)
}

/// The permutation that moves the last axis to index 1.
fn channels_first(rank: usize) -> Vec<i64> {
    let mut perm: Vec<_> = (0..i64_of(rank)).collect();
    perm[1..].rotate_right(1);
    perm
}

/// The permutation that moves axis 1 to the end.
fn channels_back(rank: usize) -> Vec<i64> {
    let mut perm: Vec<_> = (0..i64_of(rank)).collect();
    perm[1..].rotate_left(1);
    perm
}
