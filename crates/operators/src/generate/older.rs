//! Tensors that are created, in operator sets that lack a type or an attribute.

use gradus_core::graph::Content;
use gradus_core::{DType, Result, Shape, Tensor};

use crate::conversion::node::ConvertContext;
use crate::conversion::writer::NewValue;
use crate::generate::constant::held;

/// Ones on a diagonal in a type that the program of the model has, cast to that of the node, if it
/// lacks that one.
pub fn eye_in_other_type(cx: &mut ConvertContext<'_, '_>) -> Result<Option<Vec<NewValue>>> {
    let (Some(runtime), from) = (cx.conversion.runtime, cx.dtype(0)?) else { return Ok(None) };
    let to = cx.attributes.dtype("dtype")?.unwrap_or(from);
    let takes = |from, to| runtime.takes(cx.target, "EyeLike", &[("T1", from), ("T2", to)]);
    let other = [DType::F32, DType::F64, DType::I64].into_iter().find(|&own| takes(own, own));
    let Some(own) = other.filter(|_| !takes(from, to)) else { return Ok(None) };
    let x = cx.input(0)?;
    let (sizes, k) = (cx.sizes(x)?, cx.attributes.int_or("k", 0)?);
    let zero = Content::Tensor(Tensor::zeros(own, Shape::vector(1))?.into());
    let zeros = cx.put("ConstantOfShape", &[sizes], &[("value", zero)])?;
    let eye = cx.put("EyeLike", &[zeros], &[("k", Content::Int(k))])?;
    Ok(Some(vec![if own == to { eye } else { cx.cast(eye, to)? }]))
}

/// A constant as a tensor, in operator sets that lack its attribute; as one of the graph in those
/// whose node does not take its type.
pub fn constant_as_tensor(cx: &mut ConvertContext<'_, '_>) -> Result<Option<Vec<NewValue>>> {
    let dtype = cx.node.outputs.first().copied().flatten().and_then(|id| cx.scope.fact(id).dtype());
    let output = cx.target.signature("Constant").and_then(|signature| signature.outputs.first());
    if let (Some(dtype), Some(output)) = (dtype, output)
        && !output.types.tensor.contains(dtype)
    {
        let tensor = held(&cx.attributes)?;
        return Ok(Some(vec![cx.constant(tensor)]));
    }
    if cx.attributes.all().next().is_none_or(|(given, _)| cx.set_has(given)) {
        return Ok(None);
    }
    let value = Content::Tensor(held(&cx.attributes)?.into());
    cx.put_many("Constant", &[], &[("value", value)], 1).map(Some)
}
