//! Elimination of Gauss and Jordan as a loop of ONNX operators: inverses of matrices, and solutions
//! of systems.

use gradus_core::element::Bool;
use gradus_core::{DType, Result, Tensor};

use crate::conversion::caveats;
use crate::dialects::indices::positions;
use crate::lowering::terms::{cast, f, ints, of, pick, shaped, with};
use crate::lowering::{Lower, LoweredValue, Lowering, along, int, not_known};
use crate::matmul::elimination::are_vectors;

/// The operators that elimination is written by.
pub const WRITTEN: &str = "Loop, ArgMax, GatherND, Div, Mul, Sub, Where";

/// Writes a graph whose operators round sums in another order than Gradus evaluates the node.
pub fn rounded(l: &mut Lowering<'_>, lower: Lower) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    l.note_by_operators();
    lower(l)
}

/// The element type that elimination computes in.
fn wide(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// Systems `[batch, row, column]` of matrices of `rows` rows, next to right sides, after each
/// column of the matrices became one of the identity: the right sides are the solutions.
fn eliminated(
    l: &mut Lowering<'_>,
    systems: LoweredValue,
    count: LoweredValue,
    dtype: DType,
) -> Result<LoweredValue> {
    let (most, numbers) = (l.reshape(count, &[])?, positions(l, count)?);
    let column = l.reshape(numbers, &[-1, 1])?;
    let state = l.repeated(most, &[systems], |l, at, state| {
        let systems = state[0];
        // The largest element of a column, from the diagonal down, is the pivot.
        let at = l.reshape(at, &[1])?;
        let values = of("Squeeze", with("Gather", [systems.into(), at.into()], [int("axis", 2)]), ints(&[2]))
            .put(l)?;
        let below = of("GreaterOrEqual", numbers, at);
        let values = pick(below, f("Abs", values), -1.0).write(l, dtype)?;
        let pivot = l.apply("ArgMax", &[values], &[int("axis", 1)])?;
        let order = pick(of("Equal", numbers, at), pivot, pick(of("Equal", numbers, pivot), at, numbers));
        let order = order.write(l, DType::I64)?;
        let order = of("Unsqueeze", order, ints(&[-1])).put(l)?;
        let rows = l.apply("GatherND", &[systems, order], &[int("batch_dims", 1)])?;
        let row = l.apply("Gather", &[rows, at], &[along(1)])?;
        let row = (row / with("Gather", [row.into(), at.into()], [int("axis", 2)])).write(l, dtype)?;
        let here = of("Equal", column, at);
        let rows = pick(here, row, rows - with("Gather", [rows.into(), at.into()], [int("axis", 2)]) * row)
            .write(l, dtype)?;
        let goes_on = l.constant(Tensor::scalar(Bool::from(true)))?;
        Ok((goes_on, vec![rows]))
    })?;
    Ok(state[0])
}

/// The right sides of systems, after the elimination of matrices of `rows` rows.
fn solutions(
    l: &mut Lowering<'_>,
    parts: [LoweredValue; 2],
    count: LoweredValue,
    dtype: DType,
) -> Result<LoweredValue> {
    let systems = l.apply("Concat", &parts, &[int("axis", 2)])?;
    let systems = eliminated(l, systems, count, dtype)?;
    let (ends, axes) = (l.list(&[i64::MAX])?, l.list(&[2])?);
    l.apply("Slice", &[systems, count, ends, axes], &[])
}

/// The matrices of a value along one axis, the sizes of that value as a list, and the numbers of
/// matrices and rows as lists of one.
fn listed(l: &mut Lowering<'_>, x: LoweredValue) -> Result<[LoweredValue; 4]> {
    let batch = f("ReduceProd", with("Shape", [x.into()], [int("end", -2)])).put(l)?;
    let sizes = l.apply("Shape", &[x], &[int("start", -2)])?;
    let dims = with("Concat", [shaped(batch, &[1]), sizes.into()], [along(0)]).put(l)?;
    let rows = l.apply("Shape", &[x], &[int("start", -2), int("end", -1)])?;
    let shape = l.shape(x)?;
    Ok([l.apply("Reshape", &[x, dims], &[int("allowzero", 1)])?, shape, dims, rows])
}

/// The inverses of the matrices of the first input; with `adjoint`, transposed.
pub fn inverse(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, own) = (l.input(0)?, l.dtype_of(0)?);
    let dtype = wide(own);
    let x = if own == dtype { x } else { l.cast(x, dtype)? };
    let [matrices, shape, dims, rows] = listed(l, x)?;
    let numbers = positions(l, rows)?;
    let identity = of("Equal", shaped(numbers, &[-1, 1]), numbers).put(l)?;
    let identity = of("Expand", cast(identity, dtype), dims).put(l)?;
    let mut y = solutions(l, [matrices, identity], rows, dtype)?;
    if l.attributes.flag("adjoint", false)? {
        y = l.transposed(y, &[0, 2, 1])?;
    }
    let y = l.apply("Reshape", &[y, shape], &[int("allowzero", 1)])?;
    Ok(vec![if own == dtype { y } else { l.cast(y, own)? }])
}

/// Solutions of systems: the first input has the matrices, the second the right sides, which are
/// vectors or matrices.
pub fn solution(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, mut b, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let (matrices, right) = (l.dims_of(0)?, l.dims_of(1)?);
    let vectors = are_vectors(matrices, right);
    if vectors && right.len() > 1 && right.contains(&None) {
        return Err(not_known("size of an axis of input 1".to_owned()));
    }
    let ranks = [matrices.len(), right.len() + usize::from(vectors)];
    let last = l.list(&[-1])?;
    if vectors {
        b = l.apply("Unsqueeze", &[b, last], &[])?;
    }
    let mut both = [a, b];
    if ranks != [2, 2] {
        let ones = l.list(&[1, 1])?;
        for (own, other) in [(0, b), (1, a)] {
            let batch = l.apply("Shape", &[other], &[int("end", -2)])?;
            both[own] =
                of("Expand", both[own], with("Concat", [batch.into(), ones.into()], [along(0)])).put(l)?;
        }
    }
    let [a, _, _, rows] = listed(l, both[0])?;
    let [b, shape, ..] = listed(l, both[1])?;
    let x = solutions(l, [a, b], rows, dtype)?;
    let x = l.apply("Reshape", &[x, shape], &[int("allowzero", 1)])?;
    Ok(vec![if vectors { l.apply("Squeeze", &[x, last], &[])? } else { x }])
}
