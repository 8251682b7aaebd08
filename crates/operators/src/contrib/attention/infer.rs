//! Rules of attention as ONNX Runtime has it.
//!
//! Sources: the contributed operators of ONNX Runtime 1.31 as its documentation and its results
//! show them.

use crate::contrib::attention::group_query_lowered;
use crate::dim::{Bounds, Dim};
use crate::errors;
use crate::fact::Fact;
use crate::indexing::infer::require_up_to;
use crate::infer::{InferContext, InferError, InferResult};

/// Shapes of ONNX Runtime's `Attention` and `QAttention`: the output, and the present keys and
/// values. They have the type of the input `typed`; `past` is the input of past keys and values.
pub fn attention(cx: &mut InferContext<'_, '_>, past: usize, typed: usize) -> InferResult {
    let dtype = cx.dtype(typed);
    let (dims, weights) = (cx.dims_of_rank(0, 3)?, cx.dims_of_rank(1, 2)?);
    cx.equal(dims[2], weights[0], errors::INNER_SIZE)?;
    let third = cx.floor_divide(weights[1], Dim::Known(3));
    let hidden = match cx.attributes.ints("qkv_hidden_sizes")? {
        Some([_, _, hidden]) => Dim::Known(*hidden),
        Some(other) => {
            let what = "elements of attribute \"qkv_hidden_sizes\"";
            return Err(errors::count(what, other.len(), 3).into());
        }
        _ => cx.multiple(weights[1], Dim::Known(3), "columns of the weights")?,
    };
    cx.same_shape(2, &weights[1..])?;
    let heads = Dim::Known(cx.attributes.int_or("num_heads", 1)?.max(1));
    let size = cx.floor_divide(third, heads);
    let present = match (cx.has(past), cx.known_dims(past).as_deref()) {
        (true, Some(&[_, _, _, len, own])) => {
            // Heads of keys may have another size than those of values.
            let size = if cx.attributes.ints("qkv_hidden_sizes")?.is_some() { own } else { size };
            cx.same_shape(past, &[Dim::Known(2), dims[0], heads, len, size])?;
            let is_shared = cx.attributes.flag("past_present_share_buffer", false)?;
            let total = if is_shared { len } else { cx.add(len, dims[1]) };
            Fact::tensor(dtype, [Dim::Known(2), dims[0], heads, total, size])
        }
        (true, _) => Fact::tensor_type(dtype),
        (false, _) => Fact::tensor(dtype, [Dim::Known(2), dims[0], heads, dims[1], size]),
    };
    Ok(vec![Fact::tensor(dtype, [dims[0], dims[1], hidden]), present])
}

/// Shapes of `MultiHeadAttention`: the output, and the present keys and values.
pub fn multi_head(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.dtype(0);
    let query = cx.dims(0)?;
    let heads = Dim::Known(cx.attributes.int_or("num_heads", 1)?.max(1));
    // All three packed: batch, length, heads, 3, size.
    if let [batch, len, heads, _, size] = *query {
        let hidden = cx.multiply(heads, size);
        let present = Fact::tensor(dtype, [batch, heads, len, size]);
        return Ok(vec![Fact::tensor(dtype, [batch, len, hidden]), present.clone(), present]);
    }
    let [batch, len, width] = *query else {
        return Err(errors::rank("the query", query.len(), "3 or 5").into());
    };
    cx.multiple(width, heads, "width")?;
    for input in 1..3 {
        if let Some(&first) = cx.known_dims(input).as_deref().and_then(<[Dim]>::first) {
            cx.not_apart(first, batch, format_args!("first size of input {input}"))?;
        }
    }
    let (size_k, kv_len, hidden) = match (cx.known_dims(1).as_deref(), cx.known_dims(2).as_deref()) {
        (Some([_, _, kv_len, size]), Some([_, _, _, size_v])) => {
            (*size, *kv_len, cx.multiply(heads, *size_v))
        }
        (Some([_, kv_len, k]), Some([_, _, v])) => (cx.floor_divide(*k, heads), *kv_len, *v),
        (Some([_, kv_len, _, _, size]), _) => (*size, *kv_len, width),
        _ if !cx.has(1) => (cx.floor_divide(width, heads), len, width),
        _ => return Err(InferError::unknown("the shape of key or value is not known")),
    };
    let size_v = cx.multiple(hidden, heads, "width")?;
    if let (Some([_, _, k]), Some([_, v_len, _])) = (cx.known_dims(1).as_deref(), cx.known_dims(2).as_deref())
    {
        cx.equal(*k, width, "width of the key")?;
        cx.equal(*v_len, kv_len, "length of the value")?;
    }
    if cx.known_dims(1).is_some_and(|key| key.len() == 4) {
        let size = cx.floor_divide(width, heads);
        cx.same_shape(1, &[batch, heads, kv_len, size])?;
        cx.same_shape(2, &[batch, heads, kv_len, size_v])?;
    }
    let twice = cx.multiply(width, Dim::Known(2));
    let biases = cx.add(twice, hidden);
    cx.same_shape(3, &[biases])?;
    let total = match (cx.has(6), cx.known_dims(6).as_deref()) {
        (true, Some(&[_, _, past, _])) => {
            cx.same_shape(6, &[batch, heads, past, size_k])?;
            cx.same_shape(7, &[batch, heads, past, size_v])?;
            cx.add(past, kv_len)
        }
        (true, _) => cx.unknown("the length of the past is not known", Bounds::SIZE),
        (false, _) => kv_len,
    };
    Ok(vec![
        Fact::tensor(dtype, [batch, len, hidden]),
        Fact::tensor(dtype, [batch, heads, total, size_k]),
        Fact::tensor(dtype, [batch, heads, total, size_v]),
    ])
}

/// Shapes of `GroupQueryAttention`: the output, and the present keys and values.
pub fn group_query(cx: &mut InferContext<'_, '_>) -> InferResult {
    group_query_lowered::expect_known(&cx.attributes, |input| cx.has(input))?;
    let dtype = cx.dtype(0);
    let query = cx.dims_of_rank(0, 3)?;
    if let Some(lens) = cx.known_dims(5) {
        let count = cx.product(&lens);
        cx.equal(count, query[0], "number of lengths")?;
    }
    let heads = cx.attributes.int_or("num_heads", 1)?.max(1);
    let kv_heads = cx.attributes.int_or("kv_num_heads", 1)?.max(1);
    let packed = if cx.has(1) { 0 } else { kv_heads.saturating_mul(2) };
    let all_heads = Dim::Known(heads.saturating_add(packed));
    let size = cx.multiple(query[2], all_heads, "width")?;
    let hidden = cx.multiply(Dim::Known(heads), size);
    if cx.has(1) {
        let width = cx.multiply(Dim::Known(kv_heads), size);
        for input in [1, 2] {
            cx.same_shape(input, &[query[0], query[1], width])?;
        }
    }
    let past = match (cx.has(3), cx.known_dims(3).as_deref()) {
        (true, Some([_, _, past, _])) => Some(*past),
        (true, _) => None,
        (false, _) => Some(Dim::ZERO),
    };
    if let Some(past) = past.filter(|_| cx.has(3) && cx.dtype(3) == dtype) {
        for input in [3, 4] {
            cx.same_shape(input, &[query[0], Dim::Known(kv_heads), past, size])?;
        }
    }
    if let Some(total) = cx.integer(6) {
        let last = cx.subtract(total, Dim::ONE);
        require_up_to(cx, (5, "element of seqlens_k"), last, None)?;
    }
    let window = group_query_lowered::cached_window(&cx.attributes)?;
    if let Some(window) = window
        && let [_, _, Dim::Known(rows), _] = cx.dims_of_rank(3, 4)?[..]
        && rows < window
    {
        let wanted = format_args!("at least {window} as local_window_size");
        return Err(errors::value("rows of the cache", rows, wanted).into());
    }
    let total = match (past, cx.integer(6)) {
        // A cache of the last keys keeps its size.
        (Some(past), _) if window.is_some() => past,
        (Some(past), Some(total)) => cx.max(past, total),
        _ => cx.data("the total length is not known before the run", Bounds::SIZE),
    };
    let present = Fact::tensor(cx.dtype(3).or(dtype), [query[0], Dim::Known(kv_heads), total, size]);
    Ok(vec![Fact::tensor(dtype, [query[0], query[1], hidden]), present.clone(), present])
}

/// Shape of the first input, whose heads are turned by rows of cosines and sines.
pub fn rotary(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, cos) = (cx.dims(0)?, cx.dims_of_rank(2, 2)?);
    cx.same_shape(3, &cos)?;
    let steps = if dims.len() == 4 { dims[2] } else { dims.get(1).copied().unwrap_or(Dim::ONE) };
    if let Some(own) = cx.known_dims(1).filter(|own| own.iter().any(|&dim| dim != Dim::ONE)) {
        let (given, wanted) =
            (cx.product(&own), cx.product(&[dims.first().copied().unwrap_or(Dim::ONE), steps]));
        cx.not_apart(given, wanted, "number of positions")?;
    }
    match *dims {
        [_, _, _, _] => {}
        [_, _, width] => {
            let twice = cx.multiply(cos[1], Dim::Known(2));
            let heads = match cx.attributes.int("num_heads")? {
                Some(heads @ 1..) => Dim::Known(heads),
                _ => cx.floor_divide(width, twice),
            };
            cx.multiple(width, heads, "width")?;
        }
        _ => return Err(errors::rank(cx.input_label(0), dims.len(), "3 or 4").into()),
    }
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}

/// Shape of `RelativePositionBias`: 1, heads, length of the queries and of the keys.
pub fn relative_position_bias(cx: &mut InferContext<'_, '_>) -> InferResult {
    let table = cx.dims_of_rank(0, 2)?;
    let [q, k] = [1, 2].map(|input| cx.integer_or(input, "the length is not known before the run"));
    Ok(vec![Fact::tensor(cx.dtype(0), [Dim::ONE, table[1], q, k])])
}
