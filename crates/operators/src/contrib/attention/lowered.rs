//! Attention as ONNX Runtime has it, as graphs of ONNX's operators, in float64.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result, Tensor};

use crate::contrib::inputs::unsupported;
use crate::contrib::values::{like_first, maybe_wide, number, plus, wide, wide_input};
use crate::errors;
use crate::lowering::terms::{f, ints, of, pick, shaped, with};
use crate::lowering::{LoweredValue, Lowering, along, int};

/// `GatedRelativePositionBias`: a bias of scores, times a gate that follows from the queries.
pub fn gated_relative_position_bias(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.has(6) {
        return Err(unsupported("GatedRelativePositionBias with token_offset"));
    }
    let heads = errors::at_least_1("num_heads", l.attributes.int_or("num_heads", 0)?)?;
    let queries = wide_input(l, 0)?;
    let queries = plus(l, queries, 1)?;
    let queries = l.reshape(queries, &[0, 0, heads, -1])?;
    let queries = l.transposed(queries, &[0, 2, 1, 3])?;
    let weights = wide_input(l, 3)?;
    let gates = l.apply("MatMul", &[queries, weights], &[])?;
    let gates = plus(l, gates, 4)?;
    let gates = l.reshape(gates, &[0, 0, 0, 2, -1])?;
    let gates = with("ReduceSum", [gates.into(), ints(&[-1])], [int("keepdims", 0)]).put(l)?;
    let gates = l.apply("Sigmoid", &[gates], &[])?;
    let gates = l.apply_many("Split", &[gates], &[int("axis", -1), int("num_outputs", 2)], 2)?;
    let (factor, one, two) = (wide_input(l, 5)?, number(l, 1.0)?, number(l, 2.0)?);
    let value = (gates[1] * factor - one).put(l)?;
    let value = (gates[0] * value + two).put(l)?;
    let positions = wide_input(l, 2)?;
    let value = l.apply("Mul", &[value, positions], &[])?;
    like_first(l, value)
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
pub struct Projection {
    pub input: LoweredValue,
    pub weights: LoweredValue,
    pub bias: LoweredValue,
    pub past: LoweredValue,
    pub added: LoweredValue,
    /// The index of the mask.
    pub mask: usize,
}

/// `Attention` of ONNX Runtime: the results and the present keys and values, in float64.
pub fn projected_attention(l: &mut Lowering<'_>, given: &Projection) -> Result<[LoweredValue; 2]> {
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

/// ONNX Runtime's `Attention` of an input that one matrix projects to queries, keys and values.
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
