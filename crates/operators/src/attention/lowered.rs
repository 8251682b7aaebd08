//! Attention and rotary embeddings as graphs of simpler operators.

use gradus_core::{DType, Result};

use crate::attributes::required;
use crate::errors;
use crate::graphs::{compute_type, like, number, unsupported, widened};
use crate::lowering::terms::{cast, f, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// Turns pairs of the first elements of each head, or of all if that number is 0: neighbours, or
/// halves of them. The cosines and sines go with the heads.
pub fn turn(
    l: &mut Lowering<'_>,
    head: LoweredValue,
    [cos, sin]: [LoweredValue; 2],
    (turned, pairs): (i64, bool),
) -> Result<LoweredValue> {
    let (mut x, last) = (head, l.list(&[-1])?);
    let mut rest = None;
    if turned > 0 {
        let (zero, most, end) = (l.list(&[0])?, l.list(&[i64::MAX])?, l.list(&[turned])?);
        rest = Some(l.apply("Slice", &[x, end, most, last], &[])?);
        x = l.apply("Slice", &[x, zero, end, last], &[])?;
    }
    let before = l.shape(x)?;
    if pairs {
        x = l.reshape(x, &[0, 0, 0, -1, 2])?;
    }
    let halves = l.apply_many("Split", &[x], &[int("axis", -1), int("num_outputs", 2)], 2)?;
    let (mut a, mut b) = (halves[0], halves[1]);
    if pairs {
        (a, b) = (l.apply("Squeeze", &[a, last], &[])?, l.apply("Squeeze", &[b, last], &[])?);
    }
    let mut first = (a * cos - (b * sin)).put(l)?;
    let mut second = (a * sin + (b * cos)).put(l)?;
    if pairs {
        first = l.apply("Unsqueeze", &[first, last], &[])?;
        second = l.apply("Unsqueeze", &[second, last], &[])?;
    }
    let mut value = l.apply("Concat", &[first, second], &[int("axis", -1)])?;
    if pairs {
        value = l.apply("Reshape", &[value, before], &[int("allowzero", 1)])?;
    }
    if let Some(rest) = rest {
        value = l.apply("Concat", &[value, rest], &[int("axis", -1)])?;
    }
    Ok(value)
}

/// Turns pairs of elements of each head by the angle of its position.
pub fn rotary(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (rank, input) = (l.rank_of(0)?, l.input(0)?);
    let shape = l.shape(input)?;
    let mut x = widened(l, 0)?;
    if rank == 3 {
        let heads = required("num_heads", l.attributes.int("num_heads")?)?;
        x = l.reshape(x, &[0, 0, errors::at_least_1("num_heads", heads)?, -1])?;
    }
    // Rows are by sample and step: heads stand between them, or after them.
    let axis = l.list(&[if rank == 3 { 2 } else { 1 }])?;
    let mut turns = [x; 2];
    for (turn, input) in turns.iter_mut().zip([1, 2]) {
        *turn = widened(l, input)?;
        if l.has(3) {
            *turn = with("Gather", [(*turn).into(), l.input(3)?.into()], [int("axis", 0)]).put(l)?;
        }
        *turn = l.apply("Unsqueeze", &[*turn, axis], &[])?;
    }
    let turned = l.attributes.int_or("rotary_embedding_dim", 0)?;
    let pairs = l.attributes.flag("interleaved", false)?;
    let mut value = turn(l, x, turns, (turned, pairs))?;
    if rank == 3 {
        value = l.apply("Reshape", &[value, shape], &[int("allowzero", 1)])?;
    }
    Ok(vec![like(l, value, 0)?])
}

/// The heads of queries, keys or values: by sample, head, position and element.
fn heads(l: &mut Lowering<'_>, input: usize, name: &str) -> Result<(LoweredValue, Option<i64>)> {
    let (value, rank) = (widened(l, input)?, l.rank_of(input)?);
    if rank == 4 {
        return Ok((value, l.dims_of(input)?[1].and_then(|count| i64::try_from(count).ok())));
    }
    let count = errors::at_least_1(name, required(name, l.attributes.int(name)?)?)?;
    let value = l.reshape(value, &[0, 0, count, -1])?;
    let value = l.transposed(value, &[0, 2, 1, 3])?;
    Ok((value, Some(count)))
}

/// Each head, as often as queries share it.
pub fn shared(l: &mut Lowering<'_>, value: LoweredValue, times: i64, queries: i64) -> Result<LoweredValue> {
    let (dims, count) = (l.list(&[1, 1, times, 1, 1])?, l.list(&[queries])?);
    repeated(l, value, dims, count)
}

/// Each head as often as the dimensions after it say; the result has `count` heads.
fn repeated(
    l: &mut Lowering<'_>,
    value: LoweredValue,
    dims: LoweredValue,
    count: LoweredValue,
) -> Result<LoweredValue> {
    let axis = l.list(&[2])?;
    let batch = l.apply("Shape", &[value], &[int("start", 0), int("end", 1)])?;
    let rest = l.apply("Shape", &[value], &[int("start", 2)])?;
    let shape = l.apply("Concat", &[batch, count, rest], &[int("axis", 0)])?;
    let value = of("Expand", of("Unsqueeze", value, axis), dims).put(l)?;
    l.apply("Reshape", &[value, shape], &[int("allowzero", 1)])
}

/// The numbers that the mask adds to scores: minus infinity for keys beyond the mask.
fn mask(l: &mut Lowering<'_>, scores: LoweredValue) -> Result<LoweredValue> {
    let (zero, never) = (number(l, 0.0)?, number(l, f64::NEG_INFINITY)?);
    let value =
        if l.dtype_of(3)? == DType::Bool { pick(l.input(3)?, zero, never).put(l)? } else { widened(l, 3)? };
    let last_of = |l: &Lowering<'_>, input: usize, axis: usize| {
        l.dims_of(input).ok().and_then(|dims| dims.get(axis).copied().flatten())
    };
    let own = l.rank_of(3)?.checked_sub(1).and_then(|axis| last_of(l, 3, axis));
    let keys = last_of(l, 1, l.rank_of(1)?.saturating_sub(2)).filter(|_| !l.has(4));
    if own.is_some() && own == keys {
        return Ok(value);
    }
    let total = l.apply("Shape", &[scores], &[int("start", 3)])?;
    let more = (total - with("Shape", [value.into()], [int("start", -1)])).put(l)?;
    let none = l.list(&vec![0; (2 * l.rank_of(3)?).saturating_sub(1)])?;
    let pads = l.apply("Concat", &[none, more], &[int("axis", 0)])?;
    l.apply("Pad", &[value, pads, never], &[])
}

/// Scaled products of queries and keys, and the same below the bound that an attribute gives.
pub fn scores_of(
    l: &mut Lowering<'_>,
    [queries, keys]: [LoweredValue; 2],
    scale: Option<f32>,
) -> Result<[LoweredValue; 2]> {
    let across = l.transposed(keys, &[0, 1, 3, 2])?;
    let scale = if let Some(scale) = scale {
        number(l, scale.into())?
    } else {
        let (size, one, dtype) = (l.length(queries, 3)?, number(l, 1.0)?, compute_type(l)?);
        let root = f("Sqrt", cast(size, dtype)).put(l)?;
        l.apply("Div", &[one, root], &[])?
    };
    let raw = (of("MatMul", queries, across) * scale).put(l)?;
    let cap = l.attributes.float("softcap")?.unwrap_or(0.0);
    if cap <= 0.0 {
        return Ok([raw, raw]);
    }
    let cap = number(l, cap.into())?;
    let part = f("Tanh", raw / cap).put(l)?;
    Ok([raw, l.apply("Mul", &[part, cap], &[])?])
}

/// Scaled products of queries and keys, which weigh values.
pub fn attention(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    for name in ["left_window_size", "right_window_size"] {
        if l.attributes.int_or(name, -1)? >= 0 {
            return Err(unsupported(&format!("Attention with {name}")));
        }
    }
    if l.has(6) {
        return Err(unsupported("Attention with nonpad_kv_seqlen"));
    }
    let flat = l.rank_of(0)? == 3;
    let (queries, count) = heads(l, 0, "q_num_heads")?;
    let (mut keys, shared_by) = heads(l, 1, "kv_num_heads")?;
    let (mut values, _) = heads(l, 2, "kv_num_heads")?;
    if l.has(4) && l.has(5) {
        let past = [widened(l, 4)?, widened(l, 5)?];
        keys = l.apply("Concat", &[past[0], keys], &[int("axis", 2)])?;
        values = l.apply("Concat", &[past[1], values], &[int("axis", 2)])?;
    }
    let present = [keys, values];
    if let (Some(count), Some(own)) = (count, shared_by) {
        if own == 0 || count % own != 0 {
            return Err(errors::value(
                "number of heads of queries",
                count,
                format_args!("a multiple of {own}"),
            ));
        }
        if own != count {
            keys = shared(l, keys, count / own, count)?;
            values = shared(l, values, count / own, count)?;
        }
    } else {
        let [count, own] = [l.length(queries, 1)?, l.length(keys, 1)?];
        let times = l.apply("Div", &[count, own], &[])?;
        let [count, times] = [l.reshape(count, &[1])?, l.reshape(times, &[1])?];
        let one = l.list(&[1])?;
        let dims = l.apply("Concat", &[one, one, times, one, one], &[int("axis", 0)])?;
        keys = repeated(l, keys, dims, count)?;
        values = repeated(l, values, dims, count)?;
    }
    let scale = l.attributes.float("scale")?;
    let [raw, mut scores] = scores_of(l, [queries, keys], scale)?;
    let mut stages = vec![raw, scores];
    if l.has(3) {
        let added = mask(l, scores)?;
        scores = l.apply("Add", &[scores, added], &[])?;
    }
    let never = number(l, f64::NEG_INFINITY)?;
    if l.attributes.flag("is_causal", false)? {
        let (length, total) = (l.length(queries, 2)?, l.length(keys, 2)?);
        let (mut rows, columns, last) = (l.up_to(length)?, l.up_to(total)?, l.list(&[-1])?);
        if l.has(4) {
            let past = l.input(4)?;
            let past = l.length(past, 2)?;
            rows = l.apply("Add", &[rows, past], &[])?;
        }
        let later = of("Greater", columns, of("Unsqueeze", rows, last)).put(l)?;
        scores = l.apply("Where", &[later, never, scores], &[])?;
    }
    stages.push(scores);
    let mut shares = l.apply("Softmax", &[scores], &[int("axis", -1)])?;
    if l.has(3) {
        // The shares are 0 where no key is attended to.
        let (last, zero) = (l.list(&[-1])?, number(l, 0.0)?);
        let none = of("ReduceMin", cast(of("Equal", scores, never), DType::F32), last).put(l)?;
        shares = pick(cast(none, DType::Bool), zero, shares).put(l)?;
    }
    stages.push(shares);
    let mut value = l.apply("MatMul", &[shares, values], &[])?;
    if flat {
        value = l.transposed(value, &[0, 2, 1, 3])?;
        value = l.reshape(value, &[0, 0, -1])?;
    }
    let mut all = vec![like(l, value, 0)?];
    for (input, value) in [1, 2].into_iter().zip(present).take(l.outputs().saturating_sub(1)) {
        all.push(like(l, value, input)?);
    }
    if l.outputs() > 3 {
        let mode = l.attributes.int_or("qk_matmul_output_mode", 0)?;
        let stage = usize::try_from(mode).ok().and_then(|mode| stages.get(mode).copied());
        let stage =
            stage.ok_or_else(|| errors::value("attribute \"qk_matmul_output_mode\"", mode, "0 to 3"))?;
        all.push(like(l, stage, 0)?);
    }
    Ok(all)
}
