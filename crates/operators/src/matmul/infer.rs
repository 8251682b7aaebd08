//! Products of matrices, and sums of products along named axes.
//!
//! | operators | shape |
//! |---|---|
//! | `MatMul` and its kin | NumPy's: the last two axes multiply, those before broadcast, one axis alone is a vector |
//! | `Gemm` and its kin | two axes each, perhaps transposed |
//! | `Einsum` | by the equation |
//! | `Det` | the last two axes go |

use std::collections::HashMap;

use gradus_core::DType;
use gradus_core::graph::Standard;

use crate::attributes::required;
use crate::dim::Dim;
use crate::equation::Equation;
use crate::errors;
use crate::fact::{Dims, Fact};
use crate::infer::{InferContext, InferError, InferResult};
use crate::quantization::infer::as_many;

/// A tensor of the first input's element type.
fn like(cx: &InferContext<'_, '_>, dims: impl Into<Dims>) -> InferResult {
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}

/// The dimensions of NumPy's product of two inputs.
fn multiplied(cx: &mut InferContext<'_, '_>, a: usize, b: usize) -> Result<Vec<Dim>, InferError> {
    let (a, b) = (cx.dims(a)?, cx.dims(b)?);
    product(cx, &a, &b)
}

/// Dimensions of a product of matrices; the others broadcast.
pub fn product(cx: &mut InferContext<'_, '_>, a: &[Dim], b: &[Dim]) -> Result<Vec<Dim>, InferError> {
    let (Some((&inner_a, rows)), false) = (a.split_last(), b.is_empty()) else {
        return Err(errors::rank("an input of MatMul", 0, "at least 1").into());
    };
    let (inner_b, columns, before_b) = match b {
        [only] => (*only, None, &[][..]),
        [before @ .., inner, columns] => (*inner, Some(*columns), before),
        [] => return Err(errors::rank("an input of MatMul", 0, "at least 1").into()),
    };
    cx.equal(inner_a, inner_b, errors::INNER_SIZE)?;
    let (row, before_a) = match rows.split_last() {
        Some((row, before)) => (Some(*row), before),
        None => (None, &[][..]),
    };
    let mut dims = cx.broadcast(&[before_a.into(), before_b.into()])?;
    dims.extend(row);
    dims.extend(columns);
    Ok(dims)
}

fn gemm_dims(cx: &mut InferContext<'_, '_>, a: usize, b: usize) -> Result<[Dim; 2], InferError> {
    // For two factors, one is enough for an axis of the result.
    let (a, b) = (cx.dims_of_rank(a, 2)?, cx.dims_of_rank(b, 2)?);
    let turned = |dims: &[Dim], by: bool| if by { [dims[1], dims[0]] } else { [dims[0], dims[1]] };
    let [rows, inner_a] = turned(&a, cx.attributes.flag("transA", false)?);
    let [inner_b, columns] = turned(&b, cx.attributes.flag("transB", false)?);
    cx.equal(inner_a, inner_b, errors::INNER_SIZE)?;
    Ok([rows, columns])
}

/// Shape of `FusedMatMul` and `TransposeMatMul`: that of the product of transposed factors.
pub fn fused(cx: &mut InferContext<'_, '_>) -> InferResult {
    let swapped = |cx: &mut InferContext<'_, '_>,
                   input: usize,
                   last: &str,
                   batch: &str|
     -> Result<Vec<Dim>, InferError> {
        let mut dims = cx.dims(input)?.to_vec();
        let rank = dims.len();
        // The batch axis goes after the others but the last: [b, m, k] is read as [m, b, k].
        if cx.attributes.flag(batch, false)? && rank > 2 {
            dims[..rank - 1].rotate_left(1);
        }
        if cx.attributes.flag(last, false)? && rank > 1 {
            dims.swap(rank - 1, rank - 2);
        }
        Ok(dims)
    };
    let a = swapped(cx, 0, "transA", "transBatchA")?;
    let b = swapped(cx, 1, "transB", "transBatchB")?;
    let dims = product(cx, &a, &b)?;
    like(cx, dims)
}

/// Checks that an input has `wanted` elements, if its sizes are known.
fn counted(cx: &mut InferContext<'_, '_>, input: usize, what: &str, wanted: i128) -> Result<(), InferError> {
    let Some(dims) = cx.known_dims(input) else { return Ok(()) };
    let product = |all: i128, dim: &Dim| Some(all.saturating_mul(dim.known()?.into()));
    match dims.iter().try_fold(1, product) {
        Some(own) if own != wanted => Err(errors::count(what, own, wanted).into()),
        Some(_) => Ok(()),
        None => i64::try_from(wanted).map_or(Ok(()), |wanted| cx.elements_of(input, wanted)),
    }
}

/// `MatMulBnb4`: blocks go over the whole factor.
pub fn packed_in_blocks(cx: &mut InferContext<'_, '_>) -> InferResult {
    if let (Some(n), Some(k)) = (cx.attributes.int("N")?, cx.attributes.int("K")?) {
        let count = i128::from(n) * i128::from(k);
        counted(cx, 1, "packed codes", (count + 1).div_euclid(2))?;
        if let Some(block @ 1..) = cx.attributes.int("block_size")?.map(i128::from) {
            counted(cx, 2, "scales", (count + block - 1).div_euclid(block))?;
        }
    }
    packed(cx)
}

/// Shape of `MatMulNBits`: the first input's, with the columns as last axis.
pub fn packed(cx: &mut InferContext<'_, '_>) -> InferResult {
    let bits = cx.attributes.int_or("bits", 4)?;
    if cx.operator == "MatMulNBits" {
        cx.attributes.only_int("weight_prepacked", 0)?;
        if ![2, 4, 8].contains(&bits) {
            return Err(errors::value("attribute \"bits\"", bits, "2, 4 or 8").into());
        }
    }
    if let ("MatMulNBits", Some(n), Some(k @ 1..), Some(block @ 1..), 2 | 4 | 8) = (
        cx.operator,
        cx.attributes.int("N")?,
        cx.attributes.int("K")?,
        cx.attributes.int("block_size")?,
        bits,
    ) {
        let each = [n, (k - 1) / block + 1, (block - 1) / (8 / bits) + 1];
        let codes = each.into_iter().map(i128::from).fold(1, i128::saturating_mul);
        counted(cx, 1, "packed codes", codes)?;
        counted(cx, 2, "scales", i128::from(each[0]) * i128::from(each[1]))?;
    }
    let dims = cx.dims(0)?;
    let (mut k, n) = (cx.attributes.int("K")?, cx.attributes.int("N")?);
    let (Some((&inner, rows)), Some(mut n)) = (dims.split_last(), n) else {
        return Err(InferError::unknown("attribute \"N\" is missing"));
    };
    // Only MatMulBnb4 has a factor that is not transposed.
    if let Some(rows) = k
        && !cx.attributes.flag("transB", true)?
    {
        (k, n) = (Some(n), rows);
    }
    if let Some(k) = k {
        cx.equal(inner, Dim::Known(k), errors::INNER_SIZE)?;
    }
    let all: Vec<_> = rows.iter().copied().chain([Dim::Known(n)]).collect();
    like(cx, all)
}

/// Shape of `Einsum`: the size of each axis that the equation's output names.
pub fn einsum(cx: &mut InferContext<'_, '_>) -> InferResult {
    let all = (0..cx.count()).map(|input| cx.dims(input)).collect::<Result<Vec<_>, _>>()?;
    let ranks: Vec<_> = all.iter().map(|dims| dims.len()).collect();
    let mut equation = Equation::new(required("equation", cx.attributes.text("equation")?)?, &ranks)?;
    if cx.row.is_some_and(|row| row.standard == Standard::Onnx) {
        equation = equation.of_equal_ellipses()?;
    }
    let mut sizes: HashMap<char, Dim> = HashMap::new();
    for (names, dims) in equation.terms.iter().zip(&all) {
        for (&name, &dim) in names.iter().zip(&**dims) {
            let both = match sizes.get(&name) {
                // An axis of 1 goes with any.
                Some(&before) => cx.broadcast(&[Dims::from([before]), Dims::from([dim])])?[0],
                None => dim,
            };
            sizes.insert(name, both);
        }
    }
    Ok(vec![Fact::shaped(equation.result.iter().map(|name| sizes[name]).collect::<Vec<_>>())])
}

/// Shape of `MatMul`: that of the product, whose other axes broadcast.
pub fn mat_mul(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = multiplied(cx, 0, 1)?;
    Ok(vec![Fact::shaped(dims)])
}

/// Shape of `MatMulInteger`: that of the product; zero points are one, or one for each row or
/// column.
pub fn mat_mul_integer(cx: &mut InferContext<'_, '_>) -> InferResult {
    zero_points(cx, 0, 2)?;
    zero_points(cx, 1, 3)?;
    mat_mul(cx)
}

/// Checks the zero points of a factor: one for all, or one for each row of the first or column of
/// the second.
fn zero_points(cx: &mut InferContext<'_, '_>, input: usize, zero: usize) -> Result<(), InferError> {
    let dims = cx.dims(input)?;
    if let (0, Some([_]), [.., rows, _]) = (input, cx.known_dims(zero).as_deref(), &*dims) {
        return cx.one_element_or(zero, Ok(vec![*rows]));
    }
    cx.broadcasts_to(zero, &dims)
}

/// Shape of `QLinearMatMul`: that of the product, in the type of the last zero point.
pub fn q_linear_mat_mul(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (a, b) = (cx.dims(0)?, cx.dims(3)?);
    let rows = if a.len() > 1 { a[a.len() - 2] } else { Dim::ONE };
    let columns = if b.len() > 1 { b[b.len() - 1] } else { Dim::ONE };
    for (input, size) in [(1, rows), (2, rows), (4, columns), (5, columns)] {
        cx.one_element_or(input, Ok(vec![size]))?;
    }
    [6, 7].into_iter().try_for_each(|input| cx.one_element(input))?;
    [[2, 1], [5, 4]].into_iter().try_for_each(|pair| as_many(cx, pair))?;
    let dims = multiplied(cx, 0, 3)?;
    Ok(vec![Fact::tensor(cx.dtype(7), dims)])
}

/// Shape of `Gemm`: rows by columns, to which the third input broadcasts.
pub fn gemm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = gemm_dims(cx, 0, 1)?;
    cx.broadcasts_to(2, &dims)?;
    Ok(vec![Fact::shaped(dims)])
}

/// Shape of `Det`: the input's without its last two axes, which are equal.
pub fn det(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let rest = dims.len().checked_sub(2);
    let rest = rest.ok_or_else(|| errors::rank(cx.input_label(0), dims.len(), "at least 2"))?;
    cx.equal(dims[rest], dims[rest + 1], "size of a square matrix")?;
    Ok(vec![Fact::shaped(&dims[..rest])])
}

/// Shape of `FusedGemm`: rows by columns, to which the third input broadcasts.
pub fn fused_gemm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = gemm_dims(cx, 0, 1)?;
    cx.broadcasts_to(2, &dims)?;
    like(cx, dims)
}

/// Shape of `GemmFloat8`: rows by columns, in the type that an attribute names.
pub fn gemm_float8(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = gemm_dims(cx, 0, 1)?;
    let to = cx.attributes.dtype("dtype")?.unwrap_or(DType::F32);
    Ok(vec![Fact::typed(to, dims)])
}

/// Shape of `MatMulInteger16`: that of the product, of 32-bit integers.
pub fn mat_mul_integer16(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = multiplied(cx, 0, 1)?;
    Ok(vec![Fact::typed(DType::I32, dims)])
}

/// Shape of `MatMulIntegerToFloat`: that of the product, in the type of the scales.
pub fn mat_mul_integer_to_float(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = multiplied(cx, 0, 1)?;
    Ok(vec![Fact::tensor(cx.dtype(2), dims)])
}

/// Shape of `DynamicQuantizeMatMul`: that of the product, in the type of the first input.
pub fn dynamic_quantize_mat_mul(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = multiplied(cx, 0, 1)?;
    like(cx, dims)
}

/// Shape of `QGemm`: rows by columns, in the type of the last zero point or float32.
pub fn q_gemm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = gemm_dims(cx, 0, 3)?;
    let dtype = if cx.has(8) { cx.dtype(8) } else { Some(DType::F32) };
    Ok(vec![Fact::tensor(dtype, dims)])
}

/// The output has the type and shape of the first input, whose matrices are square.
pub fn square(cx: &mut InferContext<'_, '_>) -> InferResult {
    // Flags of Paddle's operators, which have no signature that says their types.
    for name in ["upper", "transpose", "unitriangular"] {
        cx.attributes.flag(name, false)?;
    }
    let dims = cx.dims(0)?;
    let &[.., rows, columns] = &dims[..] else {
        return Err(errors::rank("input 0", dims.len(), "at least 2").into());
    };
    cx.equal(rows, columns, "number of columns of a square matrix")?;
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}
