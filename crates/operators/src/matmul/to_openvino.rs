//! Products of matrices in the operators of OpenVINO.

use gradus_core::graph::Standard;
use gradus_core::{Result, Tensor};

use crate::conversion::caveats;
use crate::conversion::lowered::graph_of;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::types::exactly;
use crate::conversion::writer::NewValue;

/// ONNX Runtime's `Inverse`; ONNX has a loop.
pub fn inverse(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.conversion.to != Standard::OpenVino {
        cx.rounding(caveats::ORDER);
        return graph_of(cx);
    }
    cx.rounding(caveats::ORDER);
    let matrices = cx.input(0)?;
    Ok(vec![cx.put("Inverse", &[matrices], &[say("adjoint", false)])?])
}

/// Writes `Gemm` as `MatMul`, `Multiply` and `Add`.
pub fn gemm(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let dtype = cx.dtype(0)?;
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    let first = say("transpose_a", cx.attributes.flag("transA", false)?);
    let across = cx.attributes.flag("transB", false)?;
    let (b, second) = (cx.weights(b, dtype, across)?, say("transpose_b", across));
    let mut value = cx.put("MatMul", &[a, b], &[first, second])?;
    let alpha = cx.attributes.float("alpha")?.unwrap_or(1.0);
    let beta = cx.attributes.float("beta")?.unwrap_or(1.0);
    for factor in [alpha, beta] {
        if dtype.is_integer() && exactly(&Tensor::scalar(factor), dtype)?.is_none() {
            return Err(cannot(
                "OpenVINO has no equivalent of integer Gemm with a factor that the element type cannot represent",
            ));
        }
    }
    if alpha != 1.0 {
        let alpha = cx.number(alpha.into(), dtype)?;
        value = cx.put("Multiply", &[value, alpha], &[numpy()])?;
    }
    if cx.has(2) {
        let mut bias = cx.input(2)?;
        if beta != 1.0 {
            let beta = cx.number(beta.into(), dtype)?;
            bias = cx.put("Multiply", &[bias, beta], &[numpy()])?;
        }
        value = cx.put("Add", &[value, bias], &[numpy()])?;
    }
    Ok(vec![value])
}
