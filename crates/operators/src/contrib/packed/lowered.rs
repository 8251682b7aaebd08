//! Matrices that are quantized in blocks of few bits, in the operators of ONNX.

use gradus_core::convert::{Rules, cast, i64_of, product, usize_of_i64};
use gradus_core::{DType, Result, Shape, Tensor};

use crate::attributes::required;
use crate::contrib::packed::eval::Bnb4;
use crate::conversion::caveats;
use crate::errors;
use crate::lowering::terms::{ints, of, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// `MatMulNBits`: codes of 8 bits stay as they are, others take 4 bits.
pub fn mat_mul_n_bits(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.attributes.only_int("weight_prepacked", 0)?;
    let number = |name: &str| errors::at_least_1(name, required(name, l.attributes.int(name)?)?);
    let (inner, columns, block) = (number("K")?, number("N")?, number("block_size")?);
    let bits = l.attributes.int_or("bits", 4)?;
    let bits = usize_of_i64(bits)
        .filter(|bits| [2, 4, 8].contains(bits))
        .ok_or_else(|| errors::value("attribute \"bits\"", bits, "2, 4 or 8"))?;
    let (dtype, per_byte) = (if bits == 8 { DType::U8 } else { DType::U4 }, i64_of(8 / bits));
    if block % per_byte != 0 {
        return Err(errors::value(
            "attribute \"block_size\"",
            block,
            format_args!("a multiple of {per_byte}"),
        ));
    }
    l.rounding(caveats::ORDER);
    let blocks = inner.div_euclid(block) + i64::from(inner % block != 0);
    let padded = blocks * block;
    let packed = l.known(1)?.ok_or_else(|| l.unknown("value of input 1"))?;
    let shape = Shape::from_i64(&[columns, padded])?;
    let codes = if bits == 2 {
        let bytes = packed.codes()?;
        if product(bytes.len(), 4) != product(shape.len(), 1) {
            return Err(errors::count("bytes of codes", bytes.len(), shape.len() / 4));
        }
        let codes: Vec<_> = (0..shape.len()).map(|at| code(&bytes, bits, at)).collect();
        Tensor::from_codes(dtype, shape, &codes)?
    } else {
        let bytes = packed.bytes().cloned().ok_or_else(|| l.unknown("bytes of input 1"))?;
        Tensor::from_bytes(dtype, shape, bytes)?
    };
    let grid = Shape::from_i64(&[columns, blocks])?;
    let scales = grid_input(l, 2, &grid)?;
    let floats = l.has(3) && l.dtype_of(3).map_or(true, DType::is_float);
    let zeros = if floats {
        grid_input(l, 3, &grid)?
    } else if l.has(3) {
        let zeros = l.known(3)?.ok_or_else(|| l.unknown("value of input 3"))?;
        let zeros = zero_points(&zeros, dtype, grid, bits)?;
        l.constant(zeros)?
    } else {
        let zeros = Tensor::from_codes(dtype, grid.clone(), &vec![1 << (bits - 1); grid.len()])?;
        l.constant(zeros)?
    };
    let codes = l.constant(codes)?;
    let mut value = if floats || l.has(4) {
        let weights = weights_of_groups(l, [codes, scales, zeros], floats, [inner, blocks, block])?;
        product_of_columns(l, weights)?
    } else {
        product_of_blocks(l, [codes, scales, zeros], [inner, padded], block)?
    };
    if l.has(5) {
        value = (value + l.input(5)?).put(l)?;
    }
    Ok(vec![value])
}

/// An input with a number for each block of each column.
fn grid_input(l: &mut Lowering<'_>, input: usize, grid: &Shape) -> Result<LoweredValue> {
    if let Some(known) = l.known(input)? {
        return l.constant(known.reshaped(grid.clone())?);
    }
    let dims: Vec<_> = grid.dims().iter().map(|&size| i64_of(size)).collect();
    let (value, dims) = (l.input(input)?, l.list(&dims)?);
    l.with_shape(value, dims)
}

/// The codes as floats.
fn floats_of(l: &mut Lowering<'_>, codes: LoweredValue) -> Result<LoweredValue> {
    let one = l.number(1.0, l.dtype_of(0)?)?;
    l.apply("DequantizeLinear", &[codes, one], &[])
}

/// Weights by column and row, whose zero points are floats, or whose rows name the block that
/// their scale and zero point are those of.
fn weights_of_groups(
    l: &mut Lowering<'_>,
    [codes, mut scales, mut zeros]: [LoweredValue; 3],
    floats: bool,
    [inner, blocks, block]: [i64; 3],
) -> Result<LoweredValue> {
    let mut weights = floats_of(l, codes)?;
    if !floats {
        zeros = floats_of(l, zeros)?;
    }
    if l.has(4) {
        weights = first_rows(l, weights, [inner, blocks * block])?;
        let mut groups = l.input(4)?;
        if l.len(4) != usize_of_i64(inner) {
            let end = l.list(&[inner])?;
            groups = with("Slice", [groups.into(), ints(&[0]), end.into()], []).put(l)?;
        }
        scales = l.apply("Gather", &[scales, groups], &[int("axis", 1)])?;
        zeros = l.apply("Gather", &[zeros, groups], &[int("axis", 1)])?;
        weights = l.apply("Sub", &[weights, zeros], &[])?;
        return l.apply("Mul", &[weights, scales], &[]);
    }
    let last = l.list(&[2])?;
    weights = of("Reshape", weights, ints(&[-1, blocks, block])).put(l)?;
    zeros = l.apply("Unsqueeze", &[zeros, last], &[])?;
    scales = l.apply("Unsqueeze", &[scales, last], &[])?;
    weights = l.apply("Sub", &[weights, zeros], &[])?;
    weights = l.apply("Mul", &[weights, scales], &[])?;
    weights = of("Reshape", weights, ints(&[-1, blocks * block])).put(l)?;
    first_rows(l, weights, [inner, blocks * block])
}

/// `MatMulBnb4`: the codes stay in 4 bits, and are indices of the table of their numbers.
pub fn mat_mul_bnb4(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let Bnb4 { inner, columns, block, table, down, count } = Bnb4::new(&l.attributes)?;
    l.rounding(caveats::ORDER);
    let packed = l.known(1)?.ok_or_else(|| l.unknown("value of input 1"))?;
    let packed = packed.codes()?;
    errors::expect_count("packed codes", packed.len(), count.div_ceil(2))?;
    let blocks = count.div_ceil(block);
    let shape = Shape::new([blocks, block])?;
    let mut codes: Vec<_> = packed.iter().flat_map(|pair| [pair >> 4, pair & 15]).collect();
    codes.resize(shape.len(), 0);
    let codes = l.constant(Tensor::from_codes(DType::U4, shape, &codes)?)?;
    let codes = floats_of(l, codes)?;
    let indices = l.cast(codes, DType::I32)?;
    let table = Tensor::from_vec(Shape::new([table.len()])?, table.to_vec())?;
    let table = l.constant(cast(&table, l.dtype_of(0)?, Rules::IEEE)?)?;
    let scales = grid_input(l, 2, &Shape::new([blocks, 1])?)?;
    let mut weights = (of("Gather", table, indices) * scales).put(l)?;
    weights = of("Reshape", weights, ints(&[-1])).put(l)?;
    if blocks * block != count {
        let end = l.list(&[i64_of(count)])?;
        weights = with("Slice", [weights.into(), ints(&[0]), end.into()], []).put(l)?;
    }
    let dims = if down { [columns, inner] } else { [inner, columns] };
    weights = of("Reshape", weights, ints(&dims.map(i64_of))).put(l)?;
    if down {
        return Ok(vec![product_of_columns(l, weights)?]);
    }
    Ok(vec![of("MatMul", l.input(0)?, weights).put(l)?])
}

/// The product of the first input with columns of codes, of which `inner` rows are followed by rows
/// that fill a block.
pub(super) fn product_of_blocks(
    l: &mut Lowering<'_>,
    quantized: [LoweredValue; 3],
    [inner, padded]: [i64; 2],
    block: i64,
) -> Result<LoweredValue> {
    let attributes = [int("axis", 1), int("block_size", block)];
    let weights = l.apply("DequantizeLinear", &quantized, &attributes)?;
    let weights = first_rows(l, weights, [inner, padded])?;
    product_of_columns(l, weights)
}

/// Weights by column and row, without the rows that fill a block.
fn first_rows(
    l: &mut Lowering<'_>,
    weights: LoweredValue,
    [inner, padded]: [i64; 2],
) -> Result<LoweredValue> {
    if padded == inner {
        return Ok(weights);
    }
    let (zero, end, axis) = (l.list(&[0])?, l.list(&[inner])?, l.list(&[1])?);
    l.apply("Slice", &[weights, zero, end, axis], &[])
}

/// The product of the first input with weights by column and row.
fn product_of_columns(l: &mut Lowering<'_>, weights: LoweredValue) -> Result<LoweredValue> {
    let weights = l.apply("Transpose", &[weights], &[])?;
    let x = l.input(0)?;
    l.apply("MatMul", &[x, weights], &[])
}

/// A code of `bits` bits; the first of a byte is in its lowest bits.
fn code(bytes: &[u8], bits: usize, at: usize) -> u8 {
    let per_byte = 8 / bits;
    (bytes[at / per_byte] >> (at % per_byte * bits)) & (u8::MAX >> (8 - bits))
}

/// Zero points of all blocks; those of each column begin at a byte.
fn zero_points(packed: &Tensor, dtype: DType, grid: Shape, bits: usize) -> Result<Tensor> {
    let bytes = packed.codes()?;
    let (columns, blocks) = (grid.dims()[0], grid.dims()[1]);
    let row = blocks.div_ceil(8 / bits);
    errors::expect_count("bytes of zero points", bytes.len(), columns * row)?;
    let codes = (0..grid.len()).map(|at| code(&bytes[at / blocks * row..], bits, at % blocks));
    Tensor::from_codes(dtype, grid, &codes.collect::<Vec<_>>())
}
