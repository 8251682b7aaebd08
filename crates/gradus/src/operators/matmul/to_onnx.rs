//! Products of matrices in the operators of ONNX.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::writer::NewValue;

pub(crate) fn mat_mul(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let mut operands = cx.inputs()?;
    for (input, name) in ["transpose_a", "transpose_b"].into_iter().enumerate() {
        if !cx.attributes.flag(name, false)? {
            continue;
        }
        let rank = cx.rank(input)?;
        if rank > 1 {
            let mut order: Vec<_> = (0..i64_of(rank)).collect();
            order.swap(rank - 1, rank - 2);
            operands[input] = cx.put("Transpose", &[operands[input]], &[("perm", Content::Ints(order))])?;
        }
    }
    let Ok(dtype) = cx.dtype(0) else { return Ok(vec![cx.put("MatMul", &operands, &[])?]) };
    if dtype.is_float() || cx.target.admits("MatMul", dtype) {
        return Ok(vec![cx.put("MatMul", &operands, &[])?]);
    }
    // Products of 8 bits, as TensorFlow has them: sums wrap around where they are cast.
    cx.must_cast_to(dtype)?;
    for operand in &mut operands {
        *operand = cx.cast(*operand, DType::I32)?;
    }
    let sums = cx.put("MatMul", &operands, &[])?;
    Ok(vec![cx.cast(sums, dtype)?])
}
