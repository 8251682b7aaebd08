//! Matrices that are quantized in blocks of few bits, in the operators of ONNX.

use gradus_core::convert::{Rules, cast, i64_of, product, usize_of_i64};
use gradus_core::{DType, Result, Shape, Tensor};

use crate::attributes::required;
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::not_known;
use crate::conversion::to_onnx::int;
use crate::conversion::writer::NewValue;
use crate::operators::contrib::eval::Bnb4;
use crate::operators::errors;

/// `MatMulNBits`: codes of 8 bits stay as they are, others take 4 bits.
pub(crate) fn mat_mul_n_bits(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.attributes.only_int("weight_prepacked", 0)?;
    let number = |name: &str| errors::at_least_1(name, required(name, cx.attributes.int(name)?)?);
    let (inner, columns, block) = (number("K")?, number("N")?, number("block_size")?);
    let bits = cx.attributes.int_or("bits", 4)?;
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
    cx.rounding(caveats::ORDER);
    let blocks = inner.div_euclid(block) + i64::from(inner % block != 0);
    let padded = blocks * block;
    let packed = cx.known(1)?.ok_or_else(|| not_known("value of input 1"))?;
    let shape = Shape::from_i64(&[columns, padded])?;
    let codes = if bits == 2 {
        let bytes = packed.codes()?;
        if product(bytes.len(), 4) != product(shape.len(), 1) {
            return Err(errors::count("bytes of codes", bytes.len(), shape.len() / 4));
        }
        let codes: Vec<_> = (0..shape.len()).map(|at| code(&bytes, bits, at)).collect();
        Tensor::from_codes(dtype, shape, &codes)?
    } else {
        let bytes = packed.bytes().cloned().ok_or_else(|| not_known("bytes of input 1"))?;
        Tensor::from_bytes(dtype, shape, bytes)?
    };
    let grid = Shape::from_i64(&[columns, blocks])?;
    let scales = grid_input(cx, 2, &grid)?;
    let floats = cx.has(3) && cx.fact(3).dtype().is_none_or(DType::is_float);
    let zeros = if floats {
        grid_input(cx, 3, &grid)?
    } else if cx.has(3) {
        let zeros = cx.known(3)?.ok_or_else(|| not_known("value of input 3"))?;
        let zeros = zero_points(&zeros, dtype, grid, bits)?;
        cx.constant(zeros)
    } else {
        let zeros = Tensor::from_codes(dtype, grid.clone(), &vec![1 << (bits - 1); grid.len()])?;
        cx.constant(zeros)
    };
    let codes = cx.constant(codes);
    let mut value = if floats || cx.has(4) {
        let weights = weights_of_groups(cx, [codes, scales, zeros], floats, [inner, blocks, block])?;
        product_of_columns(cx, weights)?
    } else {
        product_of_blocks(cx, [codes, scales, zeros], [inner, padded], block)?
    };
    if cx.has(5) {
        let bias = cx.input(5)?;
        value = cx.put("Add", &[value, bias], &[])?;
    }
    Ok(vec![value])
}

/// An input with a number for each block of each column.
fn grid_input(cx: &mut ConvertContext<'_, '_>, input: usize, grid: &Shape) -> Result<NewValue> {
    if let Some(known) = cx.known(input)? {
        return Ok(cx.constant(known.reshaped(grid.clone())?));
    }
    let dims: Vec<_> = grid.dims().iter().map(|&size| i64_of(size)).collect();
    let (value, dims) = (cx.input(input)?, cx.list(&dims));
    cx.with_shape(value, dims)
}

/// The codes as floats.
fn floats_of(cx: &mut ConvertContext<'_, '_>, codes: NewValue) -> Result<NewValue> {
    let one = cx.number(1.0, cx.dtype(0)?)?;
    cx.put("DequantizeLinear", &[codes, one], &[])
}

/// Weights by column and row, whose zero points are floats, or whose rows name the block that
/// their scale and zero point are those of.
fn weights_of_groups(
    cx: &mut ConvertContext<'_, '_>,
    [codes, mut scales, mut zeros]: [NewValue; 3],
    floats: bool,
    [inner, blocks, block]: [i64; 3],
) -> Result<NewValue> {
    let mut weights = floats_of(cx, codes)?;
    if !floats {
        zeros = floats_of(cx, zeros)?;
    }
    if cx.has(4) {
        weights = first_rows(cx, weights, [inner, blocks * block])?;
        let mut groups = cx.input(4)?;
        if cx.len(4) != usize_of_i64(inner) {
            let (zero, end) = (cx.list(&[0]), cx.list(&[inner]));
            groups = cx.put("Slice", &[groups, zero, end], &[])?;
        }
        scales = cx.put("Gather", &[scales, groups], &[int("axis", 1)])?;
        zeros = cx.put("Gather", &[zeros, groups], &[int("axis", 1)])?;
        weights = cx.put("Sub", &[weights, zeros], &[])?;
        return cx.put("Mul", &[weights, scales], &[]);
    }
    let (in_blocks, last) = (cx.list(&[-1, blocks, block]), cx.list(&[2]));
    weights = cx.put("Reshape", &[weights, in_blocks], &[])?;
    zeros = cx.put("Unsqueeze", &[zeros, last], &[])?;
    scales = cx.put("Unsqueeze", &[scales, last], &[])?;
    weights = cx.put("Sub", &[weights, zeros], &[])?;
    weights = cx.put("Mul", &[weights, scales], &[])?;
    let in_columns = cx.list(&[-1, blocks * block]);
    weights = cx.put("Reshape", &[weights, in_columns], &[])?;
    first_rows(cx, weights, [inner, blocks * block])
}

/// `MatMulBnb4`: the codes stay in 4 bits, and are indices of the table of their numbers.
pub(crate) fn mat_mul_bnb4(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let Bnb4 { inner, columns, block, table, down, count } = Bnb4::new(&cx.attributes)?;
    cx.rounding(caveats::ORDER);
    let packed = cx.known(1)?.ok_or_else(|| not_known("value of input 1"))?;
    let packed = packed.codes()?;
    if packed.len() != count.div_ceil(2) {
        return Err(errors::count("packed codes", packed.len(), count.div_ceil(2)));
    }
    let blocks = count.div_ceil(block);
    let shape = Shape::new([blocks, block])?;
    let mut codes: Vec<_> = packed.iter().flat_map(|pair| [pair >> 4, pair & 15]).collect();
    codes.resize(shape.len(), 0);
    let codes = cx.constant(Tensor::from_codes(DType::U4, shape, &codes)?);
    let codes = floats_of(cx, codes)?;
    let indices = cx.cast(codes, DType::I32)?;
    let table = Tensor::from_vec(Shape::new([table.len()])?, table.to_vec())?;
    let table = cx.constant(cast(&table, cx.dtype(0)?, Rules::IEEE)?);
    let scales = grid_input(cx, 2, &Shape::new([blocks, 1])?)?;
    let weights = cx.put("Gather", &[table, indices], &[])?;
    let mut weights = cx.put("Mul", &[weights, scales], &[])?;
    let flat = cx.list(&[-1]);
    weights = cx.put("Reshape", &[weights, flat], &[])?;
    if blocks * block != count {
        let (zero, end) = (cx.list(&[0]), cx.list(&[i64_of(count)]));
        weights = cx.put("Slice", &[weights, zero, end], &[])?;
    }
    let dims = if down { [columns, inner] } else { [inner, columns] };
    let dims = cx.list(&dims.map(i64_of));
    weights = cx.put("Reshape", &[weights, dims], &[])?;
    if down {
        return Ok(vec![product_of_columns(cx, weights)?]);
    }
    let x = cx.input(0)?;
    Ok(vec![cx.put("MatMul", &[x, weights], &[])?])
}

/// The product of the first input with columns of codes, of which so many rows are followed by rows
/// that fill a block.
pub(super) fn product_of_blocks(
    cx: &mut ConvertContext<'_, '_>,
    quantized: [NewValue; 3],
    [inner, padded]: [i64; 2],
    block: i64,
) -> Result<NewValue> {
    let attributes = [int("axis", 1), int("block_size", block)];
    let weights = cx.put("DequantizeLinear", &quantized, &attributes)?;
    let weights = first_rows(cx, weights, [inner, padded])?;
    product_of_columns(cx, weights)
}

/// Weights by column and row, without the rows that fill a block.
fn first_rows(
    cx: &mut ConvertContext<'_, '_>,
    weights: NewValue,
    [inner, padded]: [i64; 2],
) -> Result<NewValue> {
    if padded == inner {
        return Ok(weights);
    }
    let (zero, end, axis) = (cx.list(&[0]), cx.list(&[inner]), cx.list(&[1]));
    cx.put("Slice", &[weights, zero, end, axis], &[])
}

/// The product of the first input with weights by column and row.
fn product_of_columns(cx: &mut ConvertContext<'_, '_>, weights: NewValue) -> Result<NewValue> {
    let weights = cx.put("Transpose", &[weights], &[])?;
    let x = cx.input(0)?;
    cx.put("MatMul", &[x, weights], &[])
}

/// A code of so many bits; the first of a byte is in its lowest bits.
fn code(bytes: &[u8], bits: usize, at: usize) -> u8 {
    let per_byte = 8 / bits;
    (bytes[at / per_byte] >> (at % per_byte * bits)) & (u8::MAX >> (8 - bits))
}

/// Zero points of all blocks; those of each column begin at a byte.
fn zero_points(packed: &Tensor, dtype: DType, grid: Shape, bits: usize) -> Result<Tensor> {
    let bytes = packed.codes()?;
    let (columns, blocks) = (grid.dims()[0], grid.dims()[1]);
    let row = blocks.div_ceil(8 / bits);
    if bytes.len() != columns * row {
        return Err(errors::count("bytes of zero points", bytes.len(), columns * row));
    }
    let codes = (0..grid.len()).map(|at| code(&bytes[at / blocks * row..], bits, at % blocks));
    Tensor::from_codes(dtype, grid, &codes.collect::<Vec<_>>())
}
