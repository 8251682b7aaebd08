//! Fused operators and those of transformers, as graphs of ONNX's, in float64.
//!
//! Those that `eval.rs` evaluates are converted by these graphs.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use super::composed::{
    channels_second_of, gelu, leaky_relu, like_first, maybe_wide, number, plus, wide_input,
};
use super::eval::unsupported;
use super::quantized::{channels_second, given, wide};
use crate::errors;
use crate::lowering::terms::{cast, f, ints, of, pick, shaped, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, int};

/// `Gelu`, `BiasGelu`, `FastGelu`: Gelu of a sum.
pub fn biased_gelu(l: &mut Lowering<'_>, approximate: bool) -> Result<Vec<LoweredValue>> {
    let x = wide_input(l, 0)?;
    let x = plus(l, x, 1)?;
    let value = if approximate {
        l.apply("Gelu", &[x], &[("approximate", Content::Bytes("tanh".into()))])?
    } else {
        gelu(l, x)?
    };
    like_first(l, value)
}

pub fn quick_gelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let alpha = l.attributes.float("alpha")?.unwrap_or(1.702);
    let (x, alpha) = (wide_input(l, 0)?, number(l, alpha.into())?);
    let gate = f("Sigmoid", x * alpha).put(l)?;
    let value = l.apply("Mul", &[x, gate], &[])?;
    like_first(l, value)
}

/// A factor of `FusedMatMul`, its axes in the order that attributes say.
fn factor(l: &mut Lowering<'_>, input: usize, last: &str, batch: &str) -> Result<LoweredValue> {
    let (value, rank) = (wide_input(l, input)?, l.rank_of(input)?);
    let mut perm: Vec<_> = (0..i64_of(rank)).collect();
    if l.attributes.flag(batch, false)? && rank > 2 {
        perm[..rank - 1].rotate_left(1);
    }
    if l.attributes.flag(last, false)? && rank > 1 {
        perm.swap(rank - 1, rank - 2);
    }
    if perm.is_sorted() {
        return Ok(value);
    }
    l.transposed(value, &perm)
}

pub fn fused_mat_mul(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, b) = (factor(l, 0, "transA", "transBatchA")?, factor(l, 1, "transB", "transBatchB")?);
    let alpha = l.attributes.float("alpha")?.unwrap_or(1.0);
    let alpha = number(l, alpha.into())?;
    let value = (of("MatMul", a, b) * alpha).put(l)?;
    like_first(l, value)
}

/// Applies the function that `activation` names, with these parameters.
fn activated(
    l: &mut Lowering<'_>,
    value: LoweredValue,
    parameter: impl Fn(&Lowering<'_>, usize, &str) -> Result<Option<f32>>,
) -> Result<LoweredValue> {
    let name = l.attributes.text("activation")?.unwrap_or_default().to_owned();
    let names: &[&'static str] = match name.as_str() {
        "" => return Ok(value),
        "Relu" | "Sigmoid" | "Softplus" | "Softsign" | "Tanh" => &[],
        "LeakyRelu" => {
            let alpha = parameter(l, 0, "alpha")?.unwrap_or(0.01);
            return leaky_relu(l, value, alpha);
        }
        "Elu" | "ThresholdedRelu" => &["alpha"],
        "HardSigmoid" => &["alpha", "beta"],
        "Clip" => {
            let low = parameter(l, 0, "min")?.unwrap_or(f32::MIN);
            let high = parameter(l, 1, "max")?.unwrap_or(f32::MAX);
            let (low, high) = (number(l, low.into())?, number(l, high.into())?);
            return l.apply("Clip", &[value, low, high], &[]);
        }
        other => return Err(unsupported(&format!("activation {other} by ONNX operators"))),
    };
    let mut attributes = Vec::new();
    for (index, &own) in names.iter().enumerate() {
        if let Some(x) = parameter(l, index, own)? {
            attributes.push((own, Content::Float(x)));
        }
    }
    l.apply(&name, &[value], &attributes)
}

pub fn fused_gemm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [wide_input(l, 0)?, wide_input(l, 1)?, maybe_wide(l, 2)?];
    let attributes = given(l, &["alpha", "beta", "transA", "transB"]);
    let value = l.apply("Gemm", &inputs, &attributes)?;
    let value = activated(l, value, |l, _, name| l.attributes.float(&format!("activation_{name}")))?;
    like_first(l, value)
}

/// `FusedConv`, `NhwcConv`, `NhwcFusedConv`: a convolution, a sum with another input, and an
/// activation.
pub fn fused_conv(l: &mut Lowering<'_>, last: bool) -> Result<Vec<LoweredValue>> {
    let (rank, x) = (l.rank_of(0)?, l.input(0)?);
    let (weights, bias, mut added) = (l.input(1)?, l.maybe(2), maybe_wide(l, 3)?);
    if last && l.has(3) {
        added = channels_second_of(l, rank, added)?;
    }
    let attributes = given(l, &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"]);
    let value = channels_second(l, rank, last, x, |l, x| {
        // Few programs have convolutions of float64.
        let value = l.apply("Conv", &[x, weights, bias], &attributes)?;
        let mut value = wide(l, value)?;
        if added != LoweredValue::NONE {
            value = l.apply("Add", &[value, added], &[])?;
        }
        activated(l, value, |l, index, _| {
            let parameters = l.attributes.floats("activation_params")?.unwrap_or_default();
            Ok(parameters.get(index).copied())
        })
    })?;
    like_first(l, value)
}

/// Numbers that are normalized over the last axes, with their mean and the inverse of their
/// deviation.
fn normalized(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    axes: &[i64],
    epsilon: f32,
    centered: bool,
) -> Result<[LoweredValue; 3]> {
    let (axes, epsilon, one) = (l.list(axes)?, number(l, epsilon.into())?, number(l, 1.0)?);
    let mean = l.apply("ReduceMean", &[x, axes], &[])?;
    let x = if centered { l.apply("Sub", &[x, mean], &[])? } else { x };
    let variance = of("ReduceMean", x * x, axes).put(l)?;
    let deviation = f("Sqrt", variance + epsilon).put(l)?;
    let inverse = l.apply("Div", &[one, deviation], &[])?;
    Ok([l.apply("Mul", &[x, inverse], &[])?, mean, inverse])
}

/// Normalized numbers times a scale, and shifted.
fn scaled(l: &mut Lowering<'_>, x: LoweredValue, scale: usize, shift: usize) -> Result<LoweredValue> {
    let mut value = x;
    if l.has(scale) {
        let scale = wide_input(l, scale)?;
        value = l.apply("Mul", &[value, scale], &[])?;
    }
    plus(l, value, shift)
}

/// The outputs of a normalization: the first in the type of the input, statistics in float32.
fn normalization(l: &mut Lowering<'_>, all: &[(LoweredValue, bool)]) -> Result<Vec<LoweredValue>> {
    let dtype = l.dtype_of(0)?;
    all.iter().map(|&(value, own)| l.cast(value, if own { dtype } else { DType::F32 })).collect()
}

/// `SkipLayerNormalization`, and its like without a mean.
pub fn skip_layer(l: &mut Lowering<'_>, centered: bool) -> Result<Vec<LoweredValue>> {
    let epsilon = l.attributes.float("epsilon")?.unwrap_or(1e-12);
    let x = wide_input(l, 0)?;
    let sum = plus(l, x, 1)?;
    let sum = plus(l, sum, if centered { 4 } else { 3 })?;
    let [value, mut mean, inverse] = normalized(l, sum, &[-1], epsilon, centered)?;
    if !centered {
        let zero = number(l, 0.0)?;
        mean = of("Expand", zero, f("Shape", mean)).put(l)?;
    }
    // No input has this index: without a mean, there is no shift.
    let value = scaled(l, value, 2, if centered { 3 } else { usize::MAX })?;
    normalization(l, &[(value, true), (mean, false), (inverse, false), (sum, true)])
}

/// `LayerNormalization`, `SimplifiedLayerNormalization`.
pub fn layer(l: &mut Lowering<'_>, centered: bool) -> Result<Vec<LoweredValue>> {
    let epsilon = l.attributes.float("epsilon")?.unwrap_or(1e-5);
    let rank = l.rank_of(0)?;
    let axis = crate::lowering::axis(l.attributes.int_or("axis", -1)?, rank)?;
    let x = wide_input(l, 0)?;
    let axes: Vec<_> = (axis..rank).map(i64_of).collect();
    let [value, mean, inverse] = normalized(l, x, &axes, epsilon, centered)?;
    let value = scaled(l, value, 1, 2)?;
    if centered {
        normalization(l, &[(value, true), (mean, false), (inverse, false)])
    } else {
        normalization(l, &[(value, true), (inverse, false)])
    }
}

/// The inputs of an attention, in float64.
struct Projected {
    /// Queries, keys and values by sample, head and position.
    heads: [LoweredValue; 3],
    /// The input that masks keys, and its rank.
    mask: Option<(LoweredValue, usize)>,
    /// The input that is added to scores.
    bias: LoweredValue,
    filter: f32,
    causal: bool,
    scale: Option<f32>,
}

/// The heads of a projection: by sample, head and position.
fn split_heads(l: &mut Lowering<'_>, value: LoweredValue, heads: i64) -> Result<LoweredValue> {
    let value = l.reshape(value, &[0, 0, heads, -1])?;
    l.transposed(value, &[0, 2, 1, 3])
}

/// The results of heads, by position.
fn attended(l: &mut Lowering<'_>, given: &Projected) -> Result<LoweredValue> {
    let [queries, keys, values] = given.heads;
    let keys = l.transposed(keys, &[0, 1, 3, 2])?;
    let mut scores = l.apply("MatMul", &[queries, keys], &[])?;
    let scale = if let Some(scale) = given.scale.filter(|&scale| scale != 0.0) {
        number(l, scale.into())?
    } else {
        let size = l.length(queries, 3)?;
        let (size, one) = (wide(l, size)?, number(l, 1.0)?);
        (one / f("Sqrt", size)).put(l)?
    };
    scores = l.apply("Mul", &[scores, scale], &[])?;
    let none = number(l, 0.0)?;
    if let Some((mask, rank)) = given.mask {
        let mask = l.cast(mask, DType::I64)?;
        let masked = if rank == 1 {
            // The number of keys of each sample.
            let keys = l.positions(scores, 3)?;
            of("GreaterOrEqual", keys, shaped(mask, &[-1, 1, 1, 1])).put(l)?
        } else {
            let zero = l.constant(Tensor::scalar(0i64))?;
            of("Equal", of("Unsqueeze", mask, ints(if rank == 2 { &[1, 2] } else { &[1] })), zero).put(l)?
        };
        let filter = number(l, given.filter.into())?;
        scores = (scores + pick(masked, filter, none)).put(l)?;
    }
    if given.bias != LoweredValue::NONE {
        scores = l.apply("Add", &[scores, given.bias], &[])?;
    }
    if given.causal {
        // Queries are the last of the positions.
        let (rows, columns) = (l.positions(scores, 2)?, l.positions(scores, 3)?);
        let (queries, keys) = (l.length(scores, 2)?, l.length(scores, 3)?);
        let rows = (rows + (keys - queries)).put(l)?;
        let later = of("Greater", columns, of("Unsqueeze", rows, ints(&[-1]))).put(l)?;
        let never = number(l, f64::NEG_INFINITY)?;
        scores = l.apply("Where", &[later, never, scores], &[])?;
    }
    let value = of("MatMul", with("Softmax", [scores.into()], [int("axis", -1)]), values).put(l)?;
    let value = l.transposed(value, &[0, 2, 1, 3])?;
    l.reshape(value, &[0, 0, -1])
}

/// A mask and its rank, if it is given.
fn mask_of(l: &mut Lowering<'_>, input: usize) -> Result<Option<(LoweredValue, usize)>> {
    if !l.has(input) {
        return Ok(None);
    }
    let (mask, rank) = (l.input(input)?, l.rank_of(input)?);
    if (1..=3).contains(&rank) {
        return Ok(Some((mask, rank)));
    }
    Err(errors::rank(format_args!("input {input}"), rank, "1 to 3"))
}

/// The inputs of `Attention` and `QAttention`, in float64.
pub(super) struct Projection {
    pub(super) input: LoweredValue,
    pub(super) weights: LoweredValue,
    pub(super) bias: LoweredValue,
    pub(super) past: LoweredValue,
    pub(super) added: LoweredValue,
    /// The index of the mask.
    pub(super) mask: usize,
}

/// `Attention` of ONNX Runtime: the results and the present keys and values, in float64.
pub(super) fn projected_attention(l: &mut Lowering<'_>, given: &Projection) -> Result<[LoweredValue; 2]> {
    for name in ["do_rotary", "past_present_share_buffer"] {
        if l.attributes.flag(name, false)? {
            return Err(unsupported("Attention with do_rotary or past_present_share_buffer"));
        }
    }
    let count = errors::at_least_1("num_heads", l.attributes.int_or("num_heads", 0)?)?;
    let mut all = l.apply("MatMul", &[given.input, given.weights], &[])?;
    if given.bias != LoweredValue::NONE {
        all = l.apply("Add", &[all, given.bias], &[])?;
    }
    let parts = match l.attributes.ints("qkv_hidden_sizes")? {
        Some(sizes) => {
            let sizes = sizes.to_vec();
            let sizes = l.list(&sizes)?;
            l.apply_many("Split", &[all, sizes], &[int("axis", -1)], 3)?
        }
        None => l.apply_many("Split", &[all], &[int("axis", -1), int("num_outputs", 3)], 3)?,
    };
    let queries = split_heads(l, parts[0], count)?;
    let (mut keys, mut values) = (split_heads(l, parts[1], count)?, split_heads(l, parts[2], count)?);
    let first = l.list(&[0])?;
    if given.past != LoweredValue::NONE {
        let past = l.apply_many("Split", &[given.past], &[along(0), int("num_outputs", 2)], 2)?;
        let before =
            [l.apply("Squeeze", &[past[0], first], &[])?, l.apply("Squeeze", &[past[1], first], &[])?];
        keys = l.apply("Concat", &[before[0], keys], &[along(2)])?;
        values = l.apply("Concat", &[before[1], values], &[along(2)])?;
    }
    let given = Projected {
        heads: [queries, keys, values],
        mask: mask_of(l, given.mask)?,
        bias: given.added,
        filter: l.attributes.float("mask_filter_value")?.unwrap_or(-10000.0),
        causal: l.attributes.flag("unidirectional", false)?,
        scale: l.attributes.float("scale")?,
    };
    let value = attended(l, &given)?;
    if l.outputs() < 2 {
        return Ok([value, value]);
    }
    let values = l.apply("Unsqueeze", &[values, first], &[])?;
    Ok([value, with("Concat", [of("Unsqueeze", keys, first), values.into()], [along(0)]).put(l)?])
}

pub fn attention(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let given = Projection {
        input: wide_input(l, 0)?,
        weights: wide_input(l, 1)?,
        bias: maybe_wide(l, 2)?,
        past: maybe_wide(l, 4)?,
        added: maybe_wide(l, 5)?,
        mask: 3,
    };
    let dtype = l.dtype_of(0)?;
    let outputs = projected_attention(l, &given)?;
    outputs.into_iter().map(|output| l.cast(output, dtype)).collect()
}

/// `MultiHeadAttention` of projected queries, keys and values.
pub fn multi_head(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let count = errors::at_least_1("num_heads", l.attributes.int_or("num_heads", 0)?)?;
    if l.rank_of(0)? != 3 || !l.has(1) || !l.has(2) {
        return Err(unsupported("MultiHeadAttention of packed queries, keys and values"));
    }
    let mut biases = Vec::new();
    if l.has(3) {
        let bias = wide_input(l, 3)?;
        let width = l.dims_of(0)?[2].and_then(|width| i64::try_from(width).ok());
        let width = width.ok_or_else(|| crate::lowering::not_known("width of input 0".to_owned()))?;
        let total = i64_of(l.len_of(3)?);
        let sizes = l.list(&[width, width, total.saturating_sub(width.saturating_mul(2))])?;
        biases = l.apply_many("Split", &[bias, sizes], &[int("axis", -1)], 3)?;
    }
    let mut heads = Vec::new();
    for input in 0..3 {
        let mut value = wide_input(l, input)?;
        if l.rank_of(input)? == 3 {
            if let Some(&bias) = biases.get(input) {
                value = l.apply("Add", &[value, bias], &[])?;
            }
            value = split_heads(l, value, count)?;
        }
        if input > 0 && l.has(input + 5) {
            let past = wide_input(l, input + 5)?;
            value = l.apply("Concat", &[past, value], &[along(2)])?;
        }
        heads.push(value);
    }
    let given = Projected {
        heads: [heads[0], heads[1], heads[2]],
        mask: mask_of(l, 4)?,
        bias: maybe_wide(l, 5)?,
        filter: l.attributes.float("mask_filter_value")?.unwrap_or(-10000.0),
        causal: l.attributes.flag("unidirectional", false)?,
        scale: l.attributes.float("scale")?,
    };
    let (value, dtype) = (attended(l, &given)?, l.dtype_of(0)?);
    [value, heads[1], heads[2]].into_iter().map(|output| l.cast(output, dtype)).collect()
}

/// Tables of `EmbedLayerNormalization` and of its like with codes, in float64.
pub(super) struct Tables {
    pub(super) words: LoweredValue,
    pub(super) positions: LoweredValue,
    pub(super) segments: LoweredValue,
    pub(super) gamma: LoweredValue,
    pub(super) beta: LoweredValue,
}

/// The sum of embeddings, normalized; the number of keys that a mask leaves, and the sum.
pub(super) fn embedded(l: &mut Lowering<'_>, given: &Tables) -> Result<[LoweredValue; 3]> {
    let epsilon = l.attributes.float("epsilon")?.unwrap_or(1e-12);
    let ids = l.input(0)?;
    let ids = l.cast(ids, DType::I64)?;
    let mut sum = l.apply("Gather", &[given.words, ids], &[])?;
    let positions = if l.has(8) && l.node_is("EmbedLayerNormalization") {
        let given = l.input(8)?;
        l.cast(given, DType::I64)?
    } else {
        l.positions(ids, 1)?
    };
    let rows = l.apply("Gather", &[given.positions, positions], &[])?;
    sum = l.apply("Add", &[sum, rows], &[])?;
    if l.has(1) && given.segments != LoweredValue::NONE {
        let rows = of("Gather", given.segments, cast(l.input(1)?, DType::I64)).put(l)?;
        sum = l.apply("Add", &[sum, rows], &[])?;
    }
    let [value, _, _] = normalized(l, sum, &[-1], epsilon, true)?;
    let value = (value * given.gamma + given.beta).put(l)?;
    // The number of keys that are attended to.
    let kept = if l.has(7) {
        let one = l.constant(Tensor::scalar(1i64))?;
        let kept = of("Equal", cast(l.input(7)?, DType::I64), one).put(l)?;
        l.cast(kept, DType::I64)?
    } else {
        (ids * whole(0)).put(l)?
    };
    let counts = with("ReduceSum", [kept.into(), ints(&[1])], [int("keepdims", 0)]).put(l)?;
    Ok([value, l.cast(counts, DType::I32)?, sum])
}

pub fn embed(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let given = Tables {
        words: wide_input(l, 2)?,
        positions: wide_input(l, 3)?,
        segments: maybe_wide(l, 4)?,
        gamma: wide_input(l, 5)?,
        beta: wide_input(l, 6)?,
    };
    let dtype = l.dtype_of(2)?;
    let [value, counts, sum] = embedded(l, &given)?;
    Ok(vec![l.cast(value, dtype)?, counts, l.cast(sum, dtype)?])
}
