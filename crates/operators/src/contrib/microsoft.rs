//! Operators that ONNX Runtime's optimiser and quantiser put into models: attention,
//! normalisations, quantisation.
//!
//! Sources: the contributed operators of ONNX Runtime 1.31 as its documentation and its results
//! show them.

use gradus_core::DType;

use crate::dim::{Bounds, Dim};
use crate::errors;
use crate::fact::{Dims, Fact};
use crate::indices;
use crate::infer::{InferContext, InferError, InferResult};

/// The first input's dimensions; statistics of all but the last axis; and the sum with the skipped
/// input.
pub fn normalised(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, dtype) = (cx.dims(0)?, cx.dtype(0));
    let skips = cx.node.operator.name.starts_with("Skip");
    if skips {
        let width = dims.last().copied().unwrap_or(Dim::ONE);
        cx.broadcasts_to(1, &dims)?;
        cx.same_shape(2, &[width])?;
        if cx.operator == "SkipLayerNormalization" {
            cx.same_shape(3, &[width])?;
            cx.broadcasts_to(4, &dims)?;
        } else {
            cx.broadcasts_to(3, &dims)?;
        }
    } else {
        [1, 2].into_iter().try_for_each(|input| cx.broadcasts_to(input, &dims))?;
    }
    let mut statistics = dims.to_vec();
    let axis = if skips {
        dims.len().saturating_sub(1)
    } else {
        indices::axis(cx.attributes.int_or("axis", -1)?, dims.len())?
    };
    statistics.iter_mut().skip(axis).for_each(|dim| *dim = Dim::ONE);
    let statistic = || Fact::typed(DType::F32, statistics.clone());
    Ok(vec![Fact::tensor(dtype, dims.clone()), statistic(), statistic(), Fact::tensor(dtype, dims)])
}

pub fn embedded(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (ids, words) = (cx.dims_of_rank(0, 2)?, cx.dims_of_rank(2, 2)?);
    if let Some(mask) = cx.known_dims(7) {
        let (own, all) = (cx.product(&mask), cx.product(&ids));
        cx.not_apart(own, all, "number of elements of the mask")?;
    }
    // The quantised tables have their scales as floats behind them.
    let quantised = cx.node.operator.name.starts_with('Q');
    if !quantised {
        [5, 6].into_iter().try_for_each(|input| cx.same_shape(input, &[words[1]]))?;
        for input in (3..5).filter(|&input| cx.has(input)).collect::<Vec<_>>() {
            let width = cx.dims_of_rank(input, 2)?[1];
            cx.equal(width, words[1], "width of embeddings")?;
        }
    }
    let dtype = if quantised { Some(DType::F32) } else { cx.dtype(2) };
    let all: Dims = [ids[0], ids[1], words[1]].into();
    Ok(vec![Fact::tensor(dtype, all.clone()), Fact::typed(DType::I32, [ids[0]]), Fact::tensor(dtype, all)])
}

fn attention(cx: &mut InferContext<'_, '_>, past: usize, dtype: Option<DType>) -> InferResult {
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
    let present = match (cx.has(past), cx.known_dims(past).as_deref()) {
        (true, Some([two, batch, heads, len, size])) => {
            let total = if cx.attributes.flag("past_present_share_buffer", false)? {
                *len
            } else {
                cx.add(*len, dims[1])
            };
            Fact::tensor(dtype, [*two, *batch, *heads, total, *size])
        }
        (true, _) => Fact::tensor_type(dtype),
        (false, _) => {
            let heads = Dim::Known(cx.attributes.int_or("num_heads", 1)?.max(1));
            let size = cx.floor_divide(third, heads);
            Fact::tensor(dtype, [Dim::Known(2), dims[0], heads, dims[1], size])
        }
    };
    Ok(vec![Fact::tensor(dtype, [dims[0], dims[1], hidden]), present])
}

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
    let total = match (cx.has(6), cx.known_dims(6).as_deref()) {
        (true, Some([_, _, past, _])) => cx.add(*past, kv_len),
        (true, _) => cx.unknown("the length of the past is not known", Bounds::SIZE),
        (false, _) => kv_len,
    };
    Ok(vec![
        Fact::tensor(dtype, [batch, len, hidden]),
        Fact::tensor(dtype, [batch, heads, total, size_k]),
        Fact::tensor(dtype, [batch, heads, total, size_v]),
    ])
}

pub fn group_query(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.dtype(0);
    let query = cx.dims_of_rank(0, 3)?;
    if let Dim::Known(batch) = query[0] {
        cx.elements_of(5, batch)?;
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
    let window = super::group_query::cached_window(&cx.attributes)?;
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

/// As the first input, whose heads are turned by rows of cosines and sines.
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

pub fn gather_quantized(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, indices) = (cx.dims(0)?, cx.dims(1)?);
    let axis = indices::axis(cx.attributes.int_or("gather_axis", 0)?, dims.len())?;
    let mut data = dims.to_vec();
    // Two numbers of 4 bits lie in a byte.
    if cx.dtype(0) == Some(DType::U8)
        && cx.attributes.int_or("bits", 4)? == 4
        && let Some(last) = data.last_mut()
    {
        *last = cx.multiply(*last, Dim::Known(2));
    }
    let all: Vec<_> = data[..axis].iter().chain(indices.iter()).chain(&data[axis + 1..]).copied().collect();
    Ok(vec![Fact::tensor(cx.dtype(2), all)])
}

pub fn skip_group_norm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    Ok(vec![Fact::tensor(cx.dtype(0), dims.clone()), Fact::tensor(cx.dtype(0), dims)])
}

pub fn attention_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.dtype(0);
    attention(cx, 4, dtype)
}

pub fn q_attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.dtype(3);
    attention(cx, 8, dtype)
}

pub fn relative_position_bias(cx: &mut InferContext<'_, '_>) -> InferResult {
    let table = cx.dims_of_rank(0, 2)?;
    let [q, k] = [1, 2].map(|input| match cx.integer(input) {
        Some(len) => len,
        None => cx.data("the length is not known before the run", Bounds::SIZE),
    });
    Ok(vec![Fact::tensor(cx.dtype(0), [Dim::ONE, table[1], q, k])])
}

pub fn quantize_linear(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = if cx.has(2) { cx.dtype(2) } else { Some(DType::U8) };
    Ok(vec![Fact::tensor(dtype, cx.dims(0)?)])
}

pub fn dequantize_linear(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::tensor(cx.dtype(1), cx.dims(0)?)])
}

pub fn dynamic_quantize_linear(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::typed(DType::U8, cx.dims(0)?), Fact::typed(DType::F32, []), Fact::typed(DType::U8, [])])
}

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

pub fn torch_embedding(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (table, indices) = (cx.dims_of_rank(0, 2)?, cx.dims(1)?);
    Ok(vec![Fact::tensor(cx.dtype(0), indices.iter().copied().chain([table[1]]).collect::<Vec<_>>())])
}

pub fn gemm_fast_gelu(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, weights) = (cx.dims(0)?, cx.dims_of_rank(1, 2)?);
    let mut all = dims.to_vec();
    if let Some(last) = all.last_mut() {
        *last = weights[1];
    }
    Ok(vec![Fact::tensor(cx.dtype(0), all)])
}

pub fn c_dist(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (a, b) = (cx.dims_of_rank(0, 2)?, cx.dims_of_rank(1, 2)?);
    Ok(vec![Fact::tensor(cx.dtype(0), [a[0], b[0]])])
}

pub fn n_gram_repeat_block(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (ids, scores) = (cx.dims_of_rank(0, 2)?, cx.dims_of_rank(1, 2)?);
    cx.equal(ids[0], scores[0], "number of rows")?;
    Ok(vec![Fact::tensor(cx.dtype(1), scores)])
}

pub fn is_all_finite(_: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::typed(DType::Bool, [])])
}

pub fn beam_search(cx: &mut InferContext<'_, '_>) -> InferResult {
    let batch = cx.dims(0)?.first().copied().unwrap_or(Dim::ONE);
    let len = match cx.integer(1) {
        Some(len) => len,
        None => cx.data("the length is not known before the run", Bounds::SIZE),
    };
    if &*cx.node.operator.name != "BeamSearch" {
        return Ok(vec![Fact::typed(DType::I32, [batch, len])]);
    }
    let count = match cx.integer(4) {
        Some(count) => count,
        None => cx.data("number of returned sequences", Bounds::SIZE),
    };
    Ok(vec![Fact::typed(DType::I32, [batch, count, len])])
}

/// As the input, whose last two axes hold square matrices.
pub fn inverse(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let [.., rows, columns] = *dims else {
        return Err(errors::rank(cx.input_label(0), dims.len(), "at least 2").into());
    };
    cx.equal(rows, columns, "sizes of a matrix to invert")?;
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}

/// A part of each box, of the size that an input holds.
pub fn crop_and_resize(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (image, boxes) = (cx.dims_of_rank(0, 4)?, cx.dims_of_rank(1, 2)?);
    cx.equal(boxes[1], Dim::Known(4), "number of coordinates of a box")?;
    cx.same_shape(2, &[boxes[0]])?;
    cx.same_shape(3, &[Dim::Known(2)])?;
    let sizes = cx.integers(3);
    let mut size = |at: usize| match sizes.as_ref().and_then(|sizes| sizes.get(at).copied()) {
        Some(size) => size,
        None => cx.data("the size of the crops is not known before the run", Bounds::SIZE),
    };
    let (rows, columns) = (size(0), size(1));
    Ok(vec![Fact::tensor(cx.dtype(0), [boxes[0], image[1], rows, columns])])
}

/// A hash for each element, as an unsigned integer unless the attribute says otherwise.
pub fn murmur_hash3(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = if cx.attributes.flag("positive", true)? { DType::U32 } else { DType::I32 };
    Ok(vec![Fact::typed(dtype, cx.dims(0)?)])
}
