//! Variables of OpenVINO: `ReadValue`.

use gradus_core::convert::i64_of;
use gradus_core::graph::{DeclaredDim, Type};
use gradus_core::{Error, Kind, Tensor, Value};

use crate::attributes::Attributes;
use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};
use crate::op::EvalContext;
use crate::output::{allowed, one};

/// A variable holds what was assigned to it, and in the first run its first value.
pub fn read_value(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.attributes.dtype("variable_type")?.or(cx.dtype(0));
    let Some(text) = cx.attributes.text("variable_shape")? else {
        let rank = cx.dims(0)?.len();
        return Ok(vec![Fact::tensor(dtype, cx.any_dims("value of a variable", rank))]);
    };
    let sizes = gradus_formats::openvino::shape(text);
    let Some(Type::Tensor(_, Some(sizes))) = sizes else { return Ok(vec![Fact::tensor_type(dtype)]) };
    let each = sizes.iter().map(|size| match size {
        DeclaredDim::Known(len) => Dim::from(*len),
        DeclaredDim::Between(least, most) => {
            cx.data("value of a variable", Bounds::between(Some(i64_of(*least)), most.map(i64_of)))
        }
        DeclaredDim::Symbol(_) | DeclaredDim::Unknown => cx.data("value of a variable", Bounds::SIZE),
    });
    let dims: Vec<_> = each.collect();
    Ok(vec![Fact::tensor(dtype, dims)])
}

/// The value in the first run: that of the input, or else zeros, of which open axes have none.
pub fn read_value_eval(
    attributes: &Attributes<'_>,
    cx: &mut EvalContext<'_>,
) -> gradus_core::Result<Vec<Value>> {
    if cx.has(0) {
        return Ok(vec![cx.value(0)?.clone()]);
    }
    let declared = attributes.text("variable_shape")?.and_then(gradus_formats::openvino::shape);
    let (Some(dtype), Some(Type::Tensor(_, Some(sizes)))) = (attributes.dtype("variable_type")?, declared)
    else {
        let what = "cannot run ReadValue: its variable_shape";
        return Err(Error::mismatch(Kind::Unsupported, what, "missing or of any rank", "a list of sizes"));
    };
    let size = |size: &DeclaredDim| if let DeclaredDim::Known(len) = size { *len } else { 0 };
    let shape = allowed(cx, dtype, &sizes.iter().map(size).collect::<Vec<_>>())?;
    one(Tensor::zeros(dtype, shape)?)
}
