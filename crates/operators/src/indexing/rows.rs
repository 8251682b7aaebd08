//! Operators of OpenVINO that choose, fill and multiply rows.
//!
//! | operators | results |
//! |---|---|
//! | `GatherTree` | the steps of beams, followed from the last to the first |
//! | `SparseFillEmptyRows` | the elements of a sparse matrix, with one in each row that has none |
//! | `GroupedMatMul` | products of rows and the matrix of their group |
//! | `ScatterElementsUpdate` | means of updates, and reductions without the initial values |

use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::attributes::Attributes;
use crate::dialects::boxes::{expect_rank, expect_sizes};
use crate::dialects::indices::{beams, counts_of, index, not_from_end, positions, rows, size, sorted};
use crate::errors;
use crate::lowering::terms::{Term, cast, of, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, int};
use crate::words;

/// `GatherTree` of OpenVINO: the tokens of beams, traced back from the last step.
pub fn gather_tree(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 3)?;
    let steps = l.dims_of(0)?;
    expect_sizes(l, 1, steps)?;
    expect_sizes(l, 2, &steps[1..2])?;
    expect_rank(l, 3, 0)?;
    let (x, end, lengths) = (l.input(0)?, l.input(3)?, index(l, 2)?);
    let count = size(l, x, 0)?;
    let level = positions(l, count)?;
    let level = l.reshape(level, &[-1, 1, 1])?;
    let lengths = l.reshape(lengths, &[-1, 1])?;
    let chosen = beams(l, Some(of("Less", level + 1i64, lengths)))?;
    let ends = of("Equal", chosen, end).write(l, DType::I64)?;
    let first = l.constant(Tensor::scalar(0i64))?;
    let ended = with("CumSum", [cast(ends, DType::I64), first.into()], [int("exclusive", 1)]).put(l)?;
    let lasts = of("And", of("Less", level, lengths), of("Equal", ended, 0i64));
    let lasts = lasts.write(l, DType::I64)?;
    Ok(vec![l.apply("Where", &[lasts, chosen, end], &[])?])
}

/// `SparseFillEmptyRows` of OpenVINO: the elements of a sparse matrix, with one in each empty row.
pub fn fill_empty_rows(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 1)?;
    let count = l.dims_of(0)?[0];
    expect_sizes(l, 1, &[Some(2)])?;
    expect_sizes(l, 2, &[count, Some(2)])?;
    expect_rank(l, 3, 0)?;
    let (values, to) = (l.input(0)?, l.dtype_of(2)?);
    let (dims, at) = (index(l, 1)?, index(l, 2)?);
    let count = rows(l, dims, 0, 1)?;
    let parts = l.apply_many("Split", &[at], &[int("axis", 1), int("num_outputs", 2)], 2)?;
    let row = l.reshape(parts[0], &[-1])?;
    let of_matrix = not_from_end(l, row, count)?;
    let counts = counts_of(l, of_matrix, count)?;
    let empty = of("Equal", counts, 0i64).write(l, DType::I64)?;
    let places = l.apply("NonZero", &[empty], &[])?;
    let places = l.reshape(places, &[-1])?;
    let number = l.shape(places)?;
    let more = of("Expand", l.input(3)?, number).put(l)?;
    let zeros = of("Expand", whole(0), number).put(l)?;
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

/// Maximum number of groups of rows.
const MAX_GROUPS: usize = 1024;

/// `GroupedMatMul` of OpenVINO: products of rows and the matrix of their group.
pub fn grouped_product(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 1, 3)?;
    let swap = [("perm", Content::Ints([0, 2, 1].into()))];
    let (a, b) = (l.input(0)?, l.input(1)?);
    let b = l.apply("Transpose", &[b], &swap)?;
    if !l.has(2) {
        expect_rank(l, 0, 3)?;
        return Ok(vec![l.apply("MatMul", &[a, b], &[])?]);
    }
    expect_rank(l, 0, 2)?;
    expect_rank(l, 2, 1)?;
    let groups = l.len_of(2)?;
    if groups > MAX_GROUPS {
        let wanted = format_args!("at most {MAX_GROUPS}");
        return Err(errors::count("elements of input 2", groups, wanted));
    }
    let (ends, first) = (index(l, 2)?, l.list(&[0])?);
    // Rows after the last group are zeros.
    let (mut from, mut parts) = (first, Vec::new());
    for group in 0..groups {
        let at = gradus_core::convert::i64_of(group);
        let (to, matrix) = (rows(l, ends, at, at + 1)?, l.constant(Tensor::scalar(at))?);
        let part = l.apply("Slice", &[a, from, to, first], &[])?;
        parts.push(of("MatMul", part, with("Gather", [b.into(), matrix.into()], [along(0)])).put(l)?);
        from = to;
    }
    let width = size(l, b, 2)?;
    let rest = (size(l, a, 0)? - from).write(l, DType::I64)?;
    let dims = l.apply("Concat", &[rest, width], &[along(0)])?;
    let zero = l.constant(Tensor::scalar(0.0f64))?;
    parts.push(of("Expand", cast(zero, l.dtype_of(0)?), dims).put(l)?);
    Ok(vec![l.apply("Concat", &parts, &[along(0)])?])
}

/// Returns true if updates are scattered by several operators of ONNX: their mean replaces
/// elements, or the elements that were there do not count.
pub fn scatters_in_steps(attributes: &Attributes<'_>) -> Result<bool> {
    Ok(match words::SCATTER_ELEMENTS.of(attributes)? {
        "none" => false,
        "mean" => true,
        _ => !attributes.flag("use_init_val", true)?,
    })
}

/// `ScatterElementsUpdate` in steps: elements that are updated become those that a reduction begins
/// with, and then its results; means are sums by counts.
pub fn scatter_elements(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let &[axis] = l.integers_of(3)? else {
        return Err(errors::count("elements of input 3", l.integers_of(3)?.len(), 1));
    };
    let (x, at, updates, dtype) = (l.input(0)?, index(l, 1)?, l.input(2)?, l.dtype_of(0)?);
    let (how, mean, first) = match words::SCATTER_ELEMENTS.of(&l.attributes)? {
        "none" => ("none", false, None),
        "sum" => ("add", false, Some(0.0)),
        "mean" => ("add", true, Some(0.0)),
        "prod" => ("mul", false, Some(1.0)),
        // Any of the updates of an element changes neither.
        "min" => ("min", false, None),
        _ => ("max", false, None),
    };
    let counts_first = l.attributes.flag("use_init_val", true)?;
    let scattered = |l: &mut Lowering<'_>, x, updates, how: &'static str| {
        let how = ("reduction", Content::Bytes(how.into()));
        l.apply("ScatterElements", &[x, at, updates], &[int("axis", axis), how])
    };
    let filled = |l: &mut Lowering<'_>, number: f64, dtype, of| {
        let (number, dims) = (Term::from(number).write(l, dtype)?, l.shape(of)?);
        l.apply("Expand", &[number, dims], &[])
    };
    let mut y = x;
    if !counts_first {
        let first = first.map(|number| filled(l, number, dtype, updates)).transpose()?;
        y = scattered(l, y, first.unwrap_or(updates), "none")?;
    }
    y = scattered(l, y, updates, how)?;
    if mean {
        let none = filled(l, f64::from(counts_first), DType::I64, x)?;
        let ones = filled(l, 1.0, DType::I64, updates)?;
        let mut counts = scattered(l, none, ones, "add")?;
        if !counts_first {
            counts = of("Max", counts, 1i64).write(l, DType::I64)?;
        }
        let counts = if dtype == DType::I64 { counts } else { l.cast(counts, dtype)? };
        y = (y / counts).write(l, dtype)?;
    }
    Ok(vec![y])
}
