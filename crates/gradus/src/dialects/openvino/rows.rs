//! Operators of OpenVINO that choose, fill and multiply rows.
//!
//! | operators | results |
//! |---|---|
//! | `GatherTree` | the steps of beams, followed from the last to the first |
//! | `SparseFillEmptyRows` | the elements of a sparse matrix, with one in each row that has none |
//! | `GroupedMatMul` | products of rows and the matrix of their group |

use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::dialects::indices::{counts_of, index, positions, size, sorted};
use crate::dialects::openvino::expect_rank;
use crate::dialects::terms::{of, pick};
use crate::lowering::{LoweredValue, Lowering, along, int, not_known};
use crate::operators::errors;

/// The rows of a value from one on, up to another.
fn rows(l: &mut Lowering<'_>, x: LoweredValue, from: i64, to: i64) -> Result<LoweredValue> {
    let (from, to, first) = (l.list(&[from])?, l.list(&[to])?, l.list(&[0])?);
    l.apply("Slice", &[x, from, to, first], &[])
}

pub(crate) fn gather_tree(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    for (input, rank) in [(0, 3), (1, 3), (2, 1), (3, 0)] {
        expect_rank(l, input, rank)?;
    }
    let Some(steps) = l.dims_of(0)?[0] else { return Err(not_known("number of steps".to_owned())) };
    let (x, end) = (l.input(0)?, l.input(3)?);
    let (parents, lengths) = (index(l, 1)?, index(l, 2)?);
    let (count, width, dims) = (size(l, x, 0)?, size(l, x, 2)?, l.shape(x)?);
    let level = positions(l, count)?;
    let level = l.reshape(level, &[-1, 1, 1])?;
    let lengths = l.reshape(lengths, &[-1, 1])?;
    let own = positions(l, width)?;
    let own = l.apply("Expand", &[own, dims], &[])?;
    // The beam of each step by that of the next; behind the last step, beams are their own.
    let (after, last) = (rows(l, parents, 1, i64::MAX)?, rows(l, own, 0, 1)?);
    let next = l.apply("Concat", &[after, last], &[along(0)])?;
    let follows = of("Less", level + 1i64, lengths);
    let mut beams = pick(follows, next, own).write(l, DType::I64)?;
    // Each round doubles the number of steps that are followed.
    let mut reach = 1usize;
    while reach < steps {
        let by = gradus_core::convert::i64_of(reach);
        let (later, rest) = (rows(l, beams, by, i64::MAX)?, rows(l, own, 0, by)?);
        let later = l.apply("Concat", &[later, rest], &[along(0)])?;
        beams = l.apply("GatherElements", &[beams, later], &[int("axis", 2)])?;
        reach = reach.saturating_mul(2);
    }
    let chosen = l.apply("GatherElements", &[x, beams], &[int("axis", 2)])?;
    let ends = of("Equal", chosen, end).write(l, DType::I64)?;
    let (ends, first) = (l.cast(ends, DType::I64)?, l.constant(Tensor::scalar(0i64))?);
    let ended = l.apply("CumSum", &[ends, first], &[int("exclusive", 1)])?;
    let lasts = of("And", of("Less", level, lengths), of("Equal", ended, 0i64));
    let lasts = lasts.write(l, DType::I64)?;
    Ok(vec![l.apply("Where", &[lasts, chosen, end], &[])?])
}

pub(crate) fn fill_empty_rows(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    for (input, rank) in [(0, 1), (1, 1), (2, 2), (3, 0)] {
        expect_rank(l, input, rank)?;
    }
    let (values, default, to) = (l.input(0)?, l.input(3)?, l.dtype_of(2)?);
    let (dims, at) = (index(l, 1)?, index(l, 2)?);
    let count = rows(l, dims, 0, 1)?;
    let parts = l.apply_many("Split", &[at], &[int("axis", 1), int("num_outputs", 2)], 2)?;
    let row = l.reshape(parts[0], &[-1])?;
    let counts = counts_of(l, row, count)?;
    let empty = of("Equal", counts, 0i64).write(l, DType::I64)?;
    let places = l.apply("NonZero", &[empty], &[])?;
    let places = l.reshape(places, &[-1])?;
    let number = l.shape(places)?;
    let (more, zero) = (l.apply("Expand", &[default, number], &[])?, l.constant(Tensor::scalar(0i64))?);
    let zeros = l.apply("Expand", &[zero, number], &[])?;
    let column = l.reshape(parts[1], &[-1])?;
    let mut all = [(row, places), (column, zeros), (values, more)];
    for (own, more) in &mut all {
        *own = l.apply("Concat", &[*own, *more], &[along(0)])?;
    }
    // The last order counts most.
    for key in [1, 0] {
        let order = sorted(l, all[key].0, false)?[1];
        for (own, _) in &mut all {
            *own = l.apply("Gather", &[*own, order], &[along(0)])?;
        }
    }
    let last = l.list(&[-1])?;
    let mut columns = Vec::new();
    for (own, _) in &all[..2] {
        columns.push(l.apply("Unsqueeze", &[*own, last], &[])?);
    }
    let at = l.apply("Concat", &columns, &[int("axis", 1)])?;
    let at = if to == DType::I64 { at } else { l.cast(at, to)? };
    Ok(vec![at, all[2].0, empty])
}

/// Most groups of rows.
const MOST_GROUPS: usize = 1024;

pub(crate) fn grouped_product(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 1, 3)?;
    let swap = [("perm", Content::Ints(vec![0, 2, 1]))];
    let (a, b) = (l.input(0)?, l.input(1)?);
    let b = l.apply("Transpose", &[b], &swap)?;
    if !l.has(2) {
        expect_rank(l, 0, 3)?;
        return Ok(vec![l.apply("MatMul", &[a, b], &[])?]);
    }
    expect_rank(l, 0, 2)?;
    expect_rank(l, 2, 1)?;
    let groups = l.len_of(2)?;
    if groups > MOST_GROUPS {
        let wanted = format_args!("at most {MOST_GROUPS}");
        return Err(errors::count("elements of input 2", groups, wanted));
    }
    let (ends, first) = (index(l, 2)?, l.list(&[0])?);
    // Rows behind the last group are zeros.
    let (mut from, mut parts) = (first, Vec::new());
    for group in 0..groups {
        let at = gradus_core::convert::i64_of(group);
        let (to, matrix) = (rows(l, ends, at, at + 1)?, l.constant(Tensor::scalar(at))?);
        let part = l.apply("Slice", &[a, from, to, first], &[])?;
        let matrix = l.apply("Gather", &[b, matrix], &[along(0)])?;
        parts.push(l.apply("MatMul", &[part, matrix], &[])?);
        from = to;
    }
    let width = size(l, b, 2)?;
    let rest = (size(l, a, 0)? - from).write(l, DType::I64)?;
    let dims = l.apply("Concat", &[rest, width], &[along(0)])?;
    let zero = l.constant(Tensor::scalar(0.0f64))?;
    let zero = l.cast(zero, l.dtype_of(0)?)?;
    parts.push(l.apply("Expand", &[zero, dims], &[])?);
    Ok(vec![l.apply("Concat", &parts, &[along(0)])?])
}
