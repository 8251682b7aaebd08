//! Rules of operators that ONNX has under another name or in another form.

use gradus_core::DType;

use crate::dim::Dim;
use crate::fact::Fact;
use crate::indices;
use crate::infer::{InferContext, InferResult};

/// Shape of `ExpandDims`: the input's with an axis of size 1.
pub fn expand_dims(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let Some(axis) = cx.integer(1).and_then(Dim::known) else {
        let dims = cx.any_dims("the axis is not known before the run", dims.len() + 1);
        return Ok(vec![Fact::tensor(cx.dtype(0), dims)]);
    };
    let axis = indices::axis(axis, dims.len() + 1)?;
    let mut all = dims.to_vec();
    all.insert(axis, Dim::ONE);
    Ok(vec![Fact::tensor(cx.dtype(0), all)])
}

/// Shape of `IsAllFinite`: one truth value.
pub fn is_all_finite(_: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::typed(DType::Bool, [])])
}
