//! Graphs of indices, for the operators of all dialects.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::lowering::terms::{Term, f, ints, of, pick, whole};
use crate::lowering::{LoweredValue, Lowering, along, int, not_known};

/// The size of an axis, as a list of one.
pub fn size(l: &mut Lowering<'_>, x: LoweredValue, axis: usize) -> Result<LoweredValue> {
    l.apply("Shape", &[x], &[int("start", i64_of(axis)), int("end", i64_of(axis) + 1)])
}

/// The integers from zero up to a number, which is a list of one.
pub fn positions(l: &mut Lowering<'_>, count: LoweredValue) -> Result<LoweredValue> {
    let count = l.reshape(count, &[])?;
    let (zero, one) = (l.constant(Tensor::scalar(0i64))?, l.constant(Tensor::scalar(1i64))?);
    l.apply("Range", &[zero, count, one], &[])
}

/// The rows of a value from one on, up to another.
pub fn rows(l: &mut Lowering<'_>, x: LoweredValue, from: i64, to: i64) -> Result<LoweredValue> {
    let (from, to, first) = (l.list(&[from])?, l.list(&[to])?, l.list(&[0])?);
    l.apply("Slice", &[x, from, to, first], &[])
}

/// The elements of the first input, `[step, batch, beam]`, along the beams that end in the last
/// step: the second input says of each element which beam it continues, in the step before. Where a
/// condition does not hold, beams continue themselves.
pub fn beams(l: &mut Lowering<'_>, follows: Option<Term>) -> Result<LoweredValue> {
    let Some(steps) = l.dims_of(0)?[0] else { return Err(not_known("number of steps".to_owned())) };
    let (x, parents) = (l.input(0)?, index(l, 1)?);
    let width = size(l, x, 2)?;
    let own = positions(l, width)?;
    let own = of("Expand", own, f("Shape", x)).put(l)?;
    // The beam of each step by that of the next.
    let (after, last) = (rows(l, parents, 1, i64::MAX)?, rows(l, own, 0, 1)?);
    let after = not_from_end(l, after, width)?;
    let mut beams = l.apply("Concat", &[after, last], &[along(0)])?;
    if let Some(follows) = follows {
        beams = pick(follows, beams, own).write(l, DType::I64)?;
    }
    // Each round doubles the number of steps that are followed.
    let mut reach = 1usize;
    while reach < steps {
        let by = i64_of(reach);
        let (later, rest) = (rows(l, beams, by, i64::MAX)?, rows(l, own, 0, by)?);
        let later = l.apply("Concat", &[later, rest], &[along(0)])?;
        beams = l.apply("GatherElements", &[beams, later], &[int("axis", 2)])?;
        reach = reach.saturating_mul(2);
    }
    l.apply("GatherElements", &[x, beams], &[int("axis", 2)])
}

/// Indices into `count` elements, with those below zero out of range: standards that do not count
/// from the end refuse them.
pub fn not_from_end(l: &mut Lowering<'_>, index: LoweredValue, count: LoweredValue) -> Result<LoweredValue> {
    pick(of("Less", index, 0i64), count, index).write(l, DType::I64)
}

/// An input of indices as int64.
pub fn index(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    let given = l.input(input)?;
    if l.dtype_of(input)? == DType::I64 { Ok(given) } else { l.cast(given, DType::I64) }
}

/// The positions of a vector, each so often as its element says.
pub fn owners(l: &mut Lowering<'_>, repeats: LoweredValue) -> Result<LoweredValue> {
    // The index of an element is the number of repeats that end before it.
    let ends = of("CumSum", repeats, whole(0)).put(l)?;
    let total = l.apply("ReduceSum", &[repeats], &[])?;
    let places = positions(l, total)?;
    let places = of("Unsqueeze", places, ints(&[1])).put(l)?;
    let ended = l.apply("LessOrEqual", &[ends, places], &[])?;
    let (ended, axes) = (l.cast(ended, DType::I64)?, l.list(&[1])?);
    l.apply("ReduceSum", &[ended, axes], &[int("keepdims", 0)])
}

/// How often each of the images `0..count` occurs.
pub fn counts_of(l: &mut Lowering<'_>, images: LoweredValue, count: LoweredValue) -> Result<LoweredValue> {
    let (none, ones) =
        (of("Expand", whole(0), count).put(l)?, of("Expand", whole(1), f("Shape", images)).put(l)?);
    let adds = ("reduction", Content::Bytes("add".into()));
    l.apply("ScatterElements", &[none, images, ones], &[along(0), adds])
}

/// All elements of a vector in order, and where they were; equal ones as they were.
pub fn sorted(l: &mut Lowering<'_>, values: LoweredValue, largest: bool) -> Result<Vec<LoweredValue>> {
    let all = l.shape(values)?;
    l.apply_many("TopK", &[values, all], &[along(0), int("largest", largest.into()), int("sorted", 1)], 2)
}
