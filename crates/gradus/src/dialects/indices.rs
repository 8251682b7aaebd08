//! Graphs of indices, for the operators of all dialects.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::lowering::{LoweredValue, Lowering, along, int};

/// The size of an axis, as a list of one.
pub(crate) fn size(l: &mut Lowering<'_>, x: LoweredValue, axis: usize) -> Result<LoweredValue> {
    l.apply("Shape", &[x], &[int("start", i64_of(axis)), int("end", i64_of(axis) + 1)])
}

/// The integers from zero up to a number, which is a list of one.
pub(crate) fn positions(l: &mut Lowering<'_>, count: LoweredValue) -> Result<LoweredValue> {
    let count = l.reshape(count, &[])?;
    let (zero, one) = (l.constant(Tensor::scalar(0i64))?, l.constant(Tensor::scalar(1i64))?);
    l.apply("Range", &[zero, count, one], &[])
}

/// An input of indices as int64.
pub(crate) fn index(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    let given = l.input(input)?;
    if l.dtype_of(input)? == DType::I64 { Ok(given) } else { l.cast(given, DType::I64) }
}

/// The positions of a vector, each so often as its element says.
pub(crate) fn owners(l: &mut Lowering<'_>, repeats: LoweredValue) -> Result<LoweredValue> {
    // An element is the one before which so many repeats end.
    let first = l.constant(Tensor::scalar(0i64))?;
    let ends = l.apply("CumSum", &[repeats, first], &[])?;
    let total = l.apply("ReduceSum", &[repeats], &[])?;
    let places = positions(l, total)?;
    let second = l.list(&[1])?;
    let places = l.apply("Unsqueeze", &[places, second], &[])?;
    let ended = l.apply("LessOrEqual", &[ends, places], &[])?;
    let (ended, axes) = (l.cast(ended, DType::I64)?, l.list(&[1])?);
    l.apply("ReduceSum", &[ended, axes], &[int("keepdims", 0)])
}

/// How often each of the images `0..count` occurs.
pub(crate) fn counts_of(
    l: &mut Lowering<'_>,
    images: LoweredValue,
    count: LoweredValue,
) -> Result<LoweredValue> {
    let (zero, one) = (l.constant(Tensor::scalar(0i64))?, l.constant(Tensor::scalar(1i64))?);
    let dims = l.shape(images)?;
    let (none, ones) = (l.apply("Expand", &[zero, count], &[])?, l.apply("Expand", &[one, dims], &[])?);
    let adds = ("reduction", Content::Bytes("add".into()));
    l.apply("ScatterElements", &[none, images, ones], &[along(0), adds])
}

/// All elements of a vector in order, and where they were; equal ones as they were.
pub(crate) fn sorted(l: &mut Lowering<'_>, values: LoweredValue, largest: bool) -> Result<Vec<LoweredValue>> {
    let all = l.shape(values)?;
    l.apply_many("TopK", &[values, all], &[along(0), int("largest", largest.into()), int("sorted", 1)], 2)
}
