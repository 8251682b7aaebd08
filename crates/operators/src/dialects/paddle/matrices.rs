//! Operators of matrices, and those that write or read diagonals.
//!
//! | operators | Paddle |
//! |---|---|
//! | `det`, `slogdet`, `matrix_power` | of the last two axes; `slogdet` gives sign and logarithm as one tensor |
//! | `kron`, `cross`, `dist`, `bilinear` | products and distances of two tensors |
//! | `diag`, `diag_embed`, `diagonal`, `fill_diagonal_tensor`, `trace` | the diagonal `offset` above the main one |

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::dialects::cannot;
use crate::dialects::indices::{positions, size};
use crate::dialects::paddle::attributes::constant_like;
use crate::errors;
use crate::lowering::terms::{Term, cast, f, ints, of, pick, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, axis, int};

/// `slogdet`: the sign of the determinant and the logarithm of its absolute value.
pub fn slogdet(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (dtype, first) = (l.dtype_of(0)?, l.list(&[0])?);
    let det = f("Det", l.input(0)?).put(l)?;
    let parts = [f("Sign", det), f("Log", f("Abs", det))];
    let mut both = Vec::new();
    for part in parts {
        let part = part.write(l, dtype)?;
        both.push(l.apply("Unsqueeze", &[part, first], &[])?);
    }
    Ok(vec![l.apply("Concat", &both, &[along(0)])?])
}

/// Maximum number of products that a power of a matrix takes.
const MAX_POWER: i64 = 64;

/// `matrix_power`: the product of a matrix with itself, `n` times.
pub fn matrix_power(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, power) = (l.input(0)?, l.attributes.int_or("n", 1)?);
    if !(1..=MAX_POWER).contains(&power) {
        return Err(cannot("a power of a matrix below 1, or above 64"));
    }
    let mut product = x;
    for _ in 1..power {
        product = l.apply("MatMul", &[product, x], &[])?;
    }
    Ok(vec![product])
}

/// `kron`: the Kronecker product.
pub fn kron(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let ranks = [l.rank_of(0)?, l.rank_of(1)?];
    let rank = ranks[0].max(ranks[1]);
    let (mut parts, mut sizes) = (Vec::new(), Vec::new());
    for (input, &own) in ranks.iter().enumerate() {
        let x =
            of("Unsqueeze", l.input(input)?, ints(&(0..i64_of(rank - own)).collect::<Vec<_>>())).put(l)?;
        sizes.push(l.shape(x)?);
        // Axes of the first come before those of the second.
        let axes: Vec<_> = (0..i64_of(rank)).map(|axis| 2 * axis + i64_of(1 - input)).collect();
        parts.push(of("Unsqueeze", x, ints(&axes)).put(l)?);
    }
    let product = l.apply("Mul", &parts, &[])?;
    let dims = l.apply("Mul", &sizes, &[])?;
    Ok(vec![l.apply("Reshape", &[product, dims], &[])?])
}

/// `cross`: along an axis of 3 elements, the first such axis if none is named.
pub fn cross(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, y, rank, dtype) = (l.input(0)?, l.input(1)?, l.rank_of(0)?, l.dtype_of(0)?);
    let axis = match l.attributes.int_or("axis", 9)? {
        9 => l
            .dims_of(0)?
            .iter()
            .position(|&len| len == Some(3))
            .ok_or_else(|| cannot("cross without an axis"))?,
        named => axis(named, rank)?,
    };
    let turns = [l.list(&[1, 2, 0])?, l.list(&[2, 0, 1])?];
    let turned = |l: &mut Lowering<'_>, x, turn: usize| l.apply("Gather", &[x, turns[turn]], &[along(axis)]);
    let ahead = turned(l, x, 0)? * turned(l, y, 1)?;
    let back = turned(l, x, 1)? * turned(l, y, 0)?;
    Ok(vec![(ahead - back).write(l, dtype)?])
}

/// `dist`: the norm of the difference.
pub fn dist(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (dtype, p) = (l.dtype_of(0)?, l.float("p")?.unwrap_or(2.0));
    let apart = f("Abs", l.input(0)? - l.input(1)?).write(l, dtype)?;
    let operator = match p {
        0.0 => {
            let some = l.cast(apart, DType::Bool)?;
            return Ok(vec![with("ReduceSum", [cast(some, dtype)], [int("keepdims", 0)]).put(l)?]);
        }
        1.0 => "ReduceSum",
        2.0 => "ReduceL2",
        f64::INFINITY => "ReduceMax",
        f64::NEG_INFINITY => "ReduceMin",
        _ => {
            let powers = of("Pow", apart, p).write(l, dtype)?;
            let sum = l.apply("ReduceSum", &[powers], &[int("keepdims", 0)])?;
            return Ok(vec![of("Pow", sum, p.recip()).write(l, dtype)?]);
        }
    };
    Ok(vec![l.apply(operator, &[apart], &[int("keepdims", 0)])?])
}

/// `bilinear`: `x[i] * weight[o, i, j] * y[j]`, and a bias.
pub fn bilinear(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let operands = [l.input(0)?, l.input(2)?, l.input(1)?];
    let equation = ("equation", Content::Bytes("bi,oij,bj->bo".into()));
    let y = l.apply("Einsum", &operands, &[equation])?;
    Ok(vec![if l.has(3) { l.apply("Add", &[y, l.input(3)?], &[])? } else { y }])
}

/// `renorm`: slices along an axis, shortened to a norm.
pub fn renorm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank, dtype) = (l.input(0)?, l.rank_of(0)?, l.dtype_of(0)?);
    let axis = axis(l.attributes.int_or("axis", 0)?, rank)?;
    let (p, most) = (l.float("p")?.unwrap_or(2.0), l.float("max_norm")?.unwrap_or(1.0));
    let others: Vec<_> = (0..rank).filter(|&other| other != axis).map(i64_of).collect();
    let powers = of("Pow", f("Abs", x), p).write(l, dtype)?;
    let norm = of("Pow", of("ReduceSum", powers, ints(&others)), p.recip()).write(l, dtype)?;
    let long = of("Greater", norm, most);
    let factor = pick(long, Term::from(most) / (norm + 1e-7), 1.0);
    Ok(vec![of("Mul", x, factor).write(l, dtype)?])
}

/// An axis that an attribute names.
fn named(l: &Lowering<'_>, name: &str, default: i64, rank: usize) -> Result<usize> {
    axis(l.attributes.int_or(name, default)?, rank)
}

/// Matrices whose diagonal is the last axis of a value, which all else surrounds.
fn embedded(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    rank: usize,
    offset: i64,
    around: LoweredValue,
    dtype: DType,
) -> Result<LoweredValue> {
    let reach =
        offset.checked_abs().ok_or_else(|| errors::value("attribute \"offset\"", offset, "an int32"))?;
    let mut pads = vec![0; 2 * rank];
    pads[2 * rank - 1] = reach;
    let long = with("Pad", [x.into(), ints(&pads), around.into()], []).put(l)?;
    // An element is in the row of its index, or in the column if the diagonal is below.
    let spread = of("Unsqueeze", long, ints(&[if offset >= 0 { -1 } else { -2 }])).put(l)?;
    let count = size(l, long, rank - 1)?;
    let columns = positions(l, count)?;
    let rows = l.reshape(columns, &[-1, 1])?;
    let offset = l.constant(Tensor::scalar(offset))?;
    let on = of("Equal", columns - rows, offset);
    pick(on, spread, around).write(l, dtype)
}

/// `diag_embed`: the last axis on a diagonal of matrices of zeros.
pub fn diag_embed(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank, dtype) = (l.input(0)?, l.rank_of(0)?, l.dtype_of(0)?);
    let (first, second) = (named(l, "dim1", -2, rank + 1)?, named(l, "dim2", -1, rank + 1)?);
    if first == second || rank == 0 {
        return Err(errors::value("attribute \"dim2\"", second, "another axis than attribute \"dim1\""));
    }
    let (zero, offset) = (constant_like(l, 0.0)?, l.attributes.int_or("offset", 0)?);
    let y = embedded(l, x, rank, offset, zero, dtype)?;
    // Rows and columns, which are last, go to their axes.
    let mut others = 0..i64_of(rank - 1);
    let perm = (0..=rank).map(|axis| match axis {
        _ if axis == first => i64_of(rank - 1),
        _ if axis == second => i64_of(rank),
        _ => others.next().unwrap_or_default(),
    });
    let perm: Vec<_> = perm.collect();
    Ok(vec![l.transposed(y, &perm)?])
}

/// The diagonal of the last two axes, as the last.
fn taken(l: &mut Lowering<'_>, x: LoweredValue, rank: usize, offset: i64) -> Result<LoweredValue> {
    let (rows, columns) = (size(l, x, rank - 2)?, size(l, x, rank - 1)?);
    let [right, down] = [offset.max(0), offset.min(0).saturating_neg()].map(|by| l.list(&[by]));
    let (right, down) = (right?, down?);
    let count = of("Min", rows - down, columns - right);
    let count = of("Max", count, 0.0).write(l, DType::I64)?;
    let step = (columns + 1.0).write(l, DType::I64)?;
    let places = positions(l, count)?;
    let places = (places * step + down * columns + right).write(l, DType::I64)?;
    let all = (rows * columns).write(l, DType::I64)?;
    let dims =
        with("Concat", [with("Shape", [x.into()], [int("end", -2)]), all.into()], [along(0)]).put(l)?;
    let flat = l.apply("Reshape", &[x, dims], &[int("allowzero", 1)])?;
    l.apply("Gather", &[flat, places], &[int("axis", -1)])
}

/// `diagonal`: the elements on a diagonal of two axes.
pub fn diagonal(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let rank = l.rank_of(0)?;
    let (first, second) = (named(l, "axis1", 0, rank)?, named(l, "axis2", 1, rank)?);
    if first == second {
        return Err(errors::value("attribute \"axis2\"", second, "another axis than attribute \"axis1\""));
    }
    let others = (0..rank).filter(|&axis| axis != first && axis != second);
    let perm = others.chain([first, second]).map(i64_of).collect();
    let x = with("Transpose", [l.input(0)?.into()], [("perm", Content::Ints(perm))]).put(l)?;
    let offset = l.attributes.int_or("offset", 0)?;
    Ok(vec![taken(l, x, rank, offset)?])
}

/// `trace`: the sum of a diagonal.
pub fn trace(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [diagonal] = *diagonal(l)? else { return Ok(vec![]) };
    Ok(vec![with("ReduceSum", [diagonal.into(), ints(&[-1])], [int("keepdims", 0)]).put(l)?])
}

/// `diag`: a matrix of a vector, or the diagonal of a matrix.
pub fn diag(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank, offset) = (l.input(0)?, l.rank_of(0)?, l.attributes.int_or("offset", 0)?);
    if rank == 2 {
        return Ok(vec![taken(l, x, rank, offset)?]);
    }
    if rank != 1 {
        return Err(errors::rank("the input", rank, "1 or 2"));
    }
    let (around, dtype) = (l.float("padding_value")?.unwrap_or(0.0), l.dtype_of(0)?);
    let around = constant_like(l, around)?;
    Ok(vec![embedded(l, x, rank, offset, around, dtype)?])
}

/// `fill_diagonal_tensor`: other elements on a diagonal.
pub fn fill_diagonal(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, mut y, rank, dtype) = (l.input(0)?, l.input(1)?, l.rank_of(0)?, l.dtype_of(0)?);
    if rank == 2 {
        // The elements for a matrix may be one row.
        y = l.reshape(y, &[-1])?;
    }
    let (first, second) = (named(l, "dim1", 0, rank)?, named(l, "dim2", 1, rank)?);
    if first == second {
        return Err(errors::value("attribute \"dim2\"", second, "another axis than attribute \"dim1\""));
    }
    let offset = l.attributes.int_or("offset", 0)?;
    let (rows, columns) = (size(l, x, first)?, size(l, x, second)?);
    let (rows, columns) = (positions(l, rows)?, positions(l, columns)?);
    // Elements of the diagonal are counted from its beginning.
    let start = l.constant(Tensor::scalar(offset.min(0).saturating_neg()))?;
    let place = (rows - start).write(l, DType::I64)?;
    let count = size(l, y, rank - 2)?;
    let one = l.list(&[1])?;
    let place = of("Max", of("Min", place, count - one), whole(0)).write(l, DType::I64)?;
    // An axis of rows, and one of columns, are the same as in the input.
    let spread = l.apply("Gather", &[y, place], &[int("axis", i64_of(rank) - 2)])?;
    let spread = of("Unsqueeze", spread, ints(&[-1])).put(l)?;
    let mut others = 0..i64_of(rank - 2);
    let perm = (0..rank).map(|axis| match axis {
        _ if axis == first => i64_of(rank - 2),
        _ if axis == second => i64_of(rank - 1),
        _ => others.next().unwrap_or_default(),
    });
    let perm: Vec<_> = perm.collect();
    let spread = l.transposed(spread, &perm)?;
    let line = |l: &mut Lowering<'_>, places, axis: usize| {
        let mut dims = vec![1; rank];
        dims[axis] = -1;
        l.reshape(places, &dims)
    };
    let (rows, columns) = (line(l, rows, first)?, line(l, columns, second)?);
    let offset = l.constant(Tensor::scalar(offset))?;
    let on = of("Equal", columns - rows, offset);
    Ok(vec![pick(on, spread, x).write(l, dtype)?])
}

/// `mul` of old programs: the product of two tensors as matrices, whose rows are the first axes, by
/// number.
pub fn mul(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut matrices, mut dims) = (Vec::new(), Vec::new());
    for (input, name) in ["x_num_col_dims", "y_num_col_dims"].into_iter().enumerate() {
        let (x, rows) = (l.input(input)?, l.attributes.int_or(name, 1)?);
        matrices.push(l.apply("Flatten", &[x], &[int("axis", rows)])?);
        let kept = if input == 0 { int("end", rows) } else { int("start", rows) };
        dims.push(l.apply("Shape", &[x], &[kept])?);
    }
    let product = l.apply("MatMul", &matrices, &[])?;
    let dims = l.apply("Concat", &dims, &[along(0)])?;
    Ok(vec![l.apply("Reshape", &[product, dims], &[int("allowzero", 1)])?])
}

/// `norm` of old programs: divided by the norm along an axis, which is the second result.
pub fn norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let axis = named(l, "axis", -1, l.rank_of(0)?)?;
    let least = l.float("epsilon")?.unwrap_or(1e-10);
    let norm = f("Sqrt", of("ReduceSumSquare", x, ints(&[i64_of(axis)])) + least).write(l, dtype)?;
    Ok(vec![l.apply("Div", &[x, norm], &[])?, norm])
}
