//! Rules of quantization as ONNX Runtime has it.

use gradus_core::DType;

use crate::dim::Dim;
use crate::fact::Fact;
use crate::indices;
use crate::infer::{InferContext, InferResult};

/// Shape of `GatherBlockQuantized`: dequantized elements, with the indexed axis replaced by the
/// indices.
pub fn gather_quantized(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, indices) = (cx.dims(0)?, cx.dims(1)?);
    let axis = indices::axis(cx.attributes.int_or("gather_axis", 0)?, dims.len())?;
    let mut data = dims.to_vec();
    // Two numbers of 4 bits lie in a byte.
    if cx.dtype(0) == Some(DType::U8)
        && cx.attributes.int_or("bits", 4)? == 4
        && let Some(last) = data.last_mut()
    {
        *last = cx.multiply(*last, Dim::Known(2));
    }
    let all: Vec<_> = data[..axis].iter().chain(indices.iter()).chain(&data[axis + 1..]).copied().collect();
    Ok(vec![Fact::tensor(cx.dtype(2), all)])
}

/// Shape and type of ONNX Runtime's `QuantizeLinear`: the input's shape, the zero point's type.
pub fn quantize_linear(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = if cx.has(2) { cx.dtype(2) } else { Some(DType::U8) };
    Ok(vec![Fact::tensor(dtype, cx.dims(0)?)])
}

/// Shape and type of ONNX Runtime's `DequantizeLinear`: the input's shape, the scale's type.
pub fn dequantize_linear(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::tensor(cx.dtype(1), cx.dims(0)?)])
}

/// Shapes of ONNX Runtime's `DynamicQuantizeLinear`: codes, a scale and a zero point.
pub fn dynamic_quantize_linear(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::typed(DType::U8, cx.dims(0)?), Fact::typed(DType::F32, []), Fact::typed(DType::U8, [])])
}
