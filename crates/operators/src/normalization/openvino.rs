//! The rule of `BatchNormInference` of OpenVINO.

use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};

/// The first version takes statistics before the data: they have one axis.
pub fn batch_norm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let first = cx.dims(0)?;
    let data = if first.len() == 1 { 2 } else { 0 };
    Ok(vec![Fact::tensor(cx.dtype(data), cx.dims(data)?)])
}
