//! Inference of the operators of ONNX's preview domains: `FlexAttention`, and those of training.

use gradus_core::DType;
use gradus_core::graph::Content;

use super::errors;
use crate::fact::{Fact, TensorFact};
use crate::infer::{InferContext, InferResult};
use crate::schema::{Arity, AttributeRule, Param, Signature, Sort, Types, attribute, param};

const FLOATS: Types = Types::tensors(&[DType::F16, DType::BF16, DType::F32, DType::F64]);
const WIDE: Types = Types::tensors(&[DType::F32, DType::F64]);
const COUNTS: Types = Types::tensors(&[DType::I64]);
const NUMBERS: Types = Types::tensors(&[
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::F32,
    DType::F64,
]);
const MANY: Arity = Arity::Many { alike: false, least: 1 };

const fn heads(name: &'static str) -> Param {
    param(name, "T1", FLOATS, Arity::One)
}

const fn float(name: &'static str, required: bool) -> AttributeRule {
    attribute(name, Sort::Float, required)
}

const fn training(
    name: &'static str,
    inputs: &'static [Param],
    outputs: &'static [Param],
    attributes: &'static [AttributeRule],
) -> Signature {
    Signature {
        domain: "ai.onnx.preview.training",
        name,
        since: 1,
        deprecated: false,
        inputs,
        outputs,
        attributes,
    }
}

const UPDATED: &[Param] = &[
    param("R", "T1", WIDE, Arity::One),
    param("T", "T2", COUNTS, Arity::One),
    param("inputs", "", WIDE, MANY),
];
const NEW: &[Param] = &[param("outputs", "", WIDE, MANY)];

pub(crate) const FLEX_ATTENTION: &[Signature] = &[Signature {
    domain: "ai.onnx.preview",
    name: "FlexAttention",
    since: 1,
    deprecated: false,
    inputs: &[heads("Q"), heads("K"), heads("V")],
    outputs: &[heads("Y")],
    attributes: &[
        attribute("prob_mod", Sort::Graph, false),
        float("scale", false),
        attribute("score_mod", Sort::Graph, false),
        attribute("softmax_precision", Sort::Int, false),
    ],
}];
pub(crate) const ADAGRAD: &[Signature] = &[training(
    "Adagrad",
    UPDATED,
    NEW,
    &[float("decay_factor", false), float("epsilon", false), float("norm_coefficient", false)],
)];
pub(crate) const ADAM: &[Signature] = &[training(
    "Adam",
    UPDATED,
    NEW,
    &[
        float("alpha", false),
        float("beta", false),
        float("epsilon", false),
        float("norm_coefficient", false),
        float("norm_coefficient_post", false),
    ],
)];
pub(crate) const GRADIENT: &[Signature] = &[training(
    "Gradient",
    &[param("Inputs", "", NUMBERS, MANY)],
    &[param("Outputs", "", FLOATS, MANY)],
    &[
        attribute("xs", Sort::Strings, true),
        attribute("y", Sort::String, true),
        attribute("zs", Sort::Strings, false),
    ],
)];
pub(crate) const MOMENTUM: &[Signature] = &[training(
    "Momentum",
    UPDATED,
    NEW,
    &[
        float("alpha", true),
        float("beta", true),
        attribute("mode", Sort::String, true),
        float("norm_coefficient", true),
    ],
)];

/// Queries of a batch, of heads and of rows, and the last axis of values.
pub(crate) fn flex_attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (queries, values) = (cx.dims_of_rank(0, 4)?, cx.dims_of_rank(2, 4)?);
    let dims = [queries[0], queries[1], queries[2], values[3]];
    Ok(vec![Fact::Tensor(TensorFact::new(cx.dtype(0), Some(dims.into())))])
}

/// As tensors, of `groups` for each that is updated; those of these groups are given anew.
fn updated(cx: &InferContext<'_, '_>, groups: usize, given: &[usize]) -> InferResult {
    let tensors = cx.count().saturating_sub(2);
    if tensors == 0 || !tensors.is_multiple_of(groups) {
        let wanted = format_args!("2 and a multiple of {groups}");
        return Err(errors::count("inputs", cx.count(), wanted).into());
    }
    let each = tensors / groups;
    let inputs = given.iter().flat_map(|group| (0..each).map(move |at| 2 + group * each + at));
    Ok(inputs.map(|input| cx.fact(input).clone().without_elements()).collect())
}

/// New tensors and sums of squares, of tensors, gradients and sums.
pub(crate) fn adagrad(cx: &mut InferContext<'_, '_>) -> InferResult {
    updated(cx, 3, &[0, 2])
}

/// New tensors and both averages, of tensors, gradients and averages.
pub(crate) fn adam(cx: &mut InferContext<'_, '_>) -> InferResult {
    updated(cx, 4, &[0, 2, 3])
}

/// New tensors and momenta, of tensors, gradients and momenta.
pub(crate) fn momentum(cx: &mut InferContext<'_, '_>) -> InferResult {
    updated(cx, 3, &[0, 2])
}

/// As the inputs that `xs` names, which come first.
pub(crate) fn gradient(cx: &mut InferContext<'_, '_>) -> InferResult {
    let count = match cx.node.attribute("xs") {
        Some(Content::Strings(names)) => names.len(),
        _ => 0,
    };
    Ok((0..count).map(|input| cx.fact(input).clone().without_elements()).collect())
}
