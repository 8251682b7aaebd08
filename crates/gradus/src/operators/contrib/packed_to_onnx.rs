//! Matrices that are quantized in blocks of few bits, in the operators of ONNX.

use gradus_core::convert::usize_of_i64;
use gradus_core::{DType, Result, Shape, Tensor};

use crate::attributes::required;
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_onnx::int;
use crate::conversion::writer::NewValue;
use crate::operators::errors;

/// `MatMulNBits`: the codes stay in 4 or 8 bits.
pub(crate) fn mat_mul_n_bits(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.attributes.only_int("weight_prepacked", 0)?;
    let number = |name: &str| errors::at_least_1(name, required(name, cx.attributes.int(name)?)?);
    let (inner, columns, block) = (number("K")?, number("N")?, number("block_size")?);
    let (dtype, per_byte) = match cx.attributes.int_or("bits", 4)? {
        4 => (DType::U4, 2),
        8 => (DType::U8, 1),
        bits => return Err(cannot(format!("ONNX has no equivalent of MatMulNBits with bits={bits}"))),
    };
    if cx.has(4) {
        return Err(cannot("ONNX has no equivalent of MatMulNBits with g_idx"));
    }
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
    let bytes = packed.bytes().cloned().ok_or_else(|| not_known("bytes of input 1"))?;
    let codes = Tensor::from_bytes(dtype, Shape::from_i64(&[columns, padded])?, bytes)?;
    let grid = Shape::from_i64(&[columns, blocks])?;
    let zeros = if cx.has(3) {
        let zeros = cx.known(3)?.ok_or_else(|| not_known("value of input 3"))?;
        if zeros.dtype() != DType::U8 {
            return Err(cannot("ONNX has no equivalent of MatMulNBits with zero points of floats"));
        }
        zero_points(&zeros, grid, per_byte)?
    } else {
        let middle = if dtype == DType::U4 { 8 } else { 128 };
        Tensor::from_codes(dtype, grid.clone(), &vec![middle; grid.len()])?
    };
    let (codes, zeros) = (cx.constant(codes), cx.constant(zeros));
    let scales = if let Some(scales) = cx.known(2)? {
        cx.constant(scales.reshaped(Shape::from_i64(&[columns, blocks])?)?)
    } else {
        let (scales, dims) = (cx.input(2)?, cx.list(&[columns, blocks]));
        cx.with_shape(scales, dims)?
    };
    let mut value = product_of_blocks(cx, [codes, scales, zeros], [inner, padded], block)?;
    if cx.has(5) {
        let bias = cx.input(5)?;
        value = cx.put("Add", &[value, bias], &[])?;
    }
    Ok(vec![value])
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
    let mut weights = cx.put("DequantizeLinear", &quantized, &attributes)?;
    if padded != inner {
        let (zero, end, axis) = (cx.list(&[0]), cx.list(&[inner]), cx.list(&[1]));
        weights = cx.put("Slice", &[weights, zero, end, axis], &[])?;
    }
    let weights = cx.put("Transpose", &[weights], &[])?;
    let x = cx.input(0)?;
    cx.put("MatMul", &[x, weights], &[])
}

/// Zero points of all blocks; those of each column begin at a byte.
fn zero_points(packed: &Tensor, grid: Shape, per_byte: i64) -> Result<Tensor> {
    let bytes = packed.codes()?;
    let (columns, blocks) = (grid.dims()[0], grid.dims()[1]);
    let per_byte = usize_of_i64(per_byte).unwrap_or(1);
    let row = blocks.div_ceil(per_byte);
    if bytes.len() != columns * row {
        return Err(errors::count("bytes of zero points", bytes.len(), columns * row));
    }
    if per_byte == 1 {
        return Tensor::from_codes(DType::U8, grid, &bytes);
    }
    let code = |at: usize| (bytes[at / blocks * row + at % blocks / 2] >> (at % blocks % 2 * 4)) & 15;
    let codes: Vec<_> = (0..columns * blocks).map(code).collect();
    Tensor::from_codes(DType::U4, grid, &codes)
}
