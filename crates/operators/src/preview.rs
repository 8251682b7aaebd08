//! Inference of the operators of ONNX's preview domains: `FlexAttention`, and those of training.

use gradus_core::graph::Content;

use super::errors;
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};

/// Queries of a batch, of heads and of rows, and the last axis of values.
pub fn flex_attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (queries, values) = (cx.dims_of_rank(0, 4)?, cx.dims_of_rank(2, 4)?);
    let dims = [queries[0], queries[1], queries[2], values[3]];
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}

/// Types and shapes of tensors after an update, in the groups `given`, each like the input of its
/// group: inputs have `groups` groups of one tensor for each that is updated, gradients the second.
pub fn updated(cx: &InferContext<'_, '_>, groups: usize, given: &[usize]) -> InferResult {
    let tensors = cx.count().saturating_sub(2);
    if tensors == 0 || !tensors.is_multiple_of(groups) {
        let wanted = format_args!("2 and a multiple of {groups}");
        return Err(errors::count("inputs", cx.count(), wanted).into());
    }
    let each = tensors / groups;
    let inputs = given.iter().flat_map(|group| (0..each).map(move |at| 2 + group * each + at));
    Ok(inputs.map(|input| cx.fact(input).clone().without_elements()).collect())
}

/// Types and shapes of gradients: those of the inputs that `xs` names, which come first.
pub fn gradient(cx: &mut InferContext<'_, '_>) -> InferResult {
    let count = match cx.node.attribute("xs") {
        Some(Content::Strings(names)) => names.len(),
        _ => 0,
    };
    Ok((0..count).map(|input| cx.fact(input).clone().without_elements()).collect())
}
