//! Rules of attention and of what surrounds it: rotary embeddings, and caches of keys and values.

use crate::attributes::required;
use crate::dim::{Bounds, Condition, Dim, Relation};
use crate::fact::Fact;
use crate::indexing::infer::require_up_to;
use crate::infer::{InferContext, InferError, InferResult};
use crate::words;
use crate::{errors, indices};

/// The number of heads that an attribute gives.
fn heads(cx: &InferContext<'_, '_>, name: &str) -> Result<Dim, InferError> {
    Ok(Dim::Known(errors::at_least_1(name, required(name, cx.attributes.int(name)?)?)?))
}

/// Shapes of `Attention`: the output, the present keys and values, and the products of query and
/// key.
pub fn attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (q, k, v) = (cx.dims(0)?, cx.dims(1)?, cx.dims(2)?);
    let (batch, q_heads, kv_heads, q_len, k_len, k_size, v_size, flat) = match (&*q, &*k, &*v) {
        ([b, qh, ql, qs], [kb, kh, kl, ks], [vb, vh, vl, vs]) => {
            for (a, b) in [(*b, *kb), (*b, *vb), (*kh, *vh), (*kl, *vl), (*qs, *ks)] {
                cx.equal(a, b, "size of query, key or value")?;
            }
            (*b, *qh, *kh, *ql, *kl, *ks, *vs, false)
        }
        ([b, ql, qw], [kb, kl, kw], [vb, vl, vw]) => {
            let (qh, kh) = (heads(cx, "q_num_heads")?, heads(cx, "kv_num_heads")?);
            let [qs, ks, vs] =
                [(*qw, qh), (*kw, kh), (*vw, kh)].map(|(width, heads)| cx.multiple(width, heads, "width"));
            let (ks, vs) = (ks?, vs?);
            for (a, b) in [(*b, *kb), (*b, *vb), (*kl, *vl), (qs?, ks)] {
                cx.equal(a, b, "size of query, key or value")?;
            }
            (*b, qh, kh, *ql, *kl, ks, vs, true)
        }
        _ => {
            let got = format!("{}, {} and {}", q.len(), k.len(), v.len());
            return Err(errors::shape("ranks of query, key and value", got, "all 3 or all 4").into());
        }
    };
    cx.multiple(q_heads, kv_heads, "number of heads of queries")?;
    let past = match (cx.has(4), cx.known_dims(4).as_deref()) {
        (false, _) => Some(Dim::ZERO),
        (true, None) => None,
        (true, Some(&[_, _, len, _])) => Some(len),
        (true, Some(other)) => return Err(errors::rank("input 4", other.len(), 4).into()),
    };
    if cx.has(4) != cx.has(5) {
        return Err(errors::missing("input 4 or 5, of which both or none is given,").into());
    }
    if let Some(past) = past.filter(|_| cx.has(4)) {
        cx.same_shape(4, &[batch, kv_heads, past, k_size])?;
        cx.same_shape(5, &[batch, kv_heads, past, v_size])?;
    }
    let total = match past {
        Some(past) => cx.add(past, k_len),
        None => cx.unknown("the length of the past is not known", Bounds::SIZE),
    };
    if let Some([.., last]) = cx.known_dims(3).as_deref() {
        // Keys beyond the mask are not attended to.
        match (*last, total) {
            (Dim::Known(last), Dim::Known(total)) if last > total => {
                return Err(errors::shape("size of the mask", last, format_args!("at most {total}")).into());
            }
            (last, total) => cx.require(last, Relation::AtMost, total),
        }
        cx.broadcasts_to(3, &[batch, q_heads, q_len, *last])?;
    }
    cx.same_shape(6, &[batch])?;
    let dtype = cx.dtype(0);
    let y = if flat {
        let width = cx.multiply(q_heads, v_size);
        Fact::tensor(dtype, [batch, q_len, width])
    } else {
        Fact::tensor(dtype, [batch, q_heads, q_len, v_size])
    };
    Ok(vec![
        y,
        Fact::tensor(cx.dtype(1), [batch, kv_heads, total, k_size]),
        Fact::tensor(cx.dtype(2), [batch, kv_heads, total, v_size]),
        Fact::tensor(dtype, [batch, q_heads, q_len, total]),
    ])
}

/// Shapes of `LinearAttention`: the output and the present state.
pub fn linear_attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (q, v) = (cx.dims_of_rank(0, 3)?, cx.dims_of_rank(2, 3)?);
    let (q_heads, kv_heads) = (heads(cx, "q_num_heads")?, heads(cx, "kv_num_heads")?);
    cx.multiple(q_heads, kv_heads, "number of heads of queries")?;
    let size = cx.multiple(q[2], q_heads, "width")?;
    let v_size = cx.multiple(v[2], kv_heads, "width")?;
    let width = cx.multiply(kv_heads, size);
    cx.same_shape(1, &[q[0], q[1], width])?;
    cx.same_shape(2, &[q[0], q[1], v[2]])?;
    cx.same_shape(3, &[q[0], kv_heads, size, v_size])?;
    let rule = words::UPDATE_RULE.of(&cx.attributes)?;
    for (input, needed, wide) in [(4, rule.contains("gated"), width), (5, rule.contains("delta"), Dim::ONE)] {
        if needed && !cx.has(input) {
            return Err(errors::missing(cx.input_label(input)).into());
        }
        let last = cx.known_dims(input).and_then(|dims| dims.last().copied());
        let last = last.unwrap_or(kv_heads);
        if last.known().is_none() && last != wide && last != kv_heads {
            // One of two sizes.
            let is_other = Condition::new(last, Relation::NotEqual, wide);
            cx.guarded(&[is_other], |cx| cx.require(last, Relation::Equal, kv_heads));
        }
        let last = if last.known().is_none() || last == wide { last } else { kv_heads };
        cx.same_shape(input, &[q[0], q[1], last])?;
    }
    let width = cx.multiply(q_heads, v_size);
    let state = if cx.has(3) { cx.dtype(3) } else { cx.dtype(0) };
    Ok(vec![
        Fact::tensor(cx.dtype(0), [q[0], q[1], width]),
        Fact::tensor(state, [q[0], kv_heads, size, v_size]),
    ])
}

/// Shape of `RotaryEmbedding`: the input's; the caches fit the turned part of each head.
pub fn rotary(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let (batch, steps, size) = match *dims {
        [batch, _, steps, size] => (batch, steps, size),
        [batch, steps, width] => {
            let heads = heads(cx, "num_heads")?;
            (batch, steps, cx.multiple(width, heads, "width")?)
        }
        _ => return Err(errors::rank(cx.input_label(0), dims.len(), "3 or 4").into()),
    };
    let turned = match cx.attributes.int("rotary_embedding_dim")? {
        None | Some(0) => size,
        Some(turned) => {
            if let Dim::Known(size) = size
                && !(0..=size).contains(&turned)
            {
                let wanted = format_args!("0 to {size}");
                return Err(errors::value("attribute \"rotary_embedding_dim\"", turned, wanted).into());
            }
            cx.require(size, Relation::AtLeast, Dim::Known(turned));
            Dim::Known(turned)
        }
    };
    let half = cx.multiple(turned, Dim::Known(2), "number of elements that are rotated")?;
    for input in [1, 2] {
        let rows = cx.known_dims(1).and_then(|dims| dims.first().copied());
        match rows.filter(|_| cx.has(3)) {
            Some(rows) => cx.same_shape(input, &[rows, half])?,
            None if cx.has(3) => {}
            None => cx.same_shape(input, &[batch, steps, half])?,
        }
    }
    cx.same_shape(3, &[batch, steps])?;
    if let Some(&[rows, ..]) = cx.known_dims(1).as_deref().filter(|_| cx.has(3)) {
        let last = cx.subtract(rows, Dim::ONE);
        require_up_to(cx, (3, "position"), last, None)?;
    }
    Ok(vec![Fact::shaped(dims)])
}

/// Shape of `TensorScatter`: the first input's, whose batch and axis fit the update.
pub fn tensor_scatter(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", -2)?, dims.len())?;
    if axis == 0 {
        return Err(errors::value("attribute \"axis\"", 0, "another axis than that of the batch").into());
    }
    let mut update = dims.to_vec();
    if let Some(size) = cx.known_dims(1).and_then(|own| own.get(axis).copied()) {
        update[axis] = size;
    }
    cx.same_shape(1, &update)?;
    cx.same_shape(2, &dims[..1])?;
    if words::CACHE.of(&cx.attributes)? == "linear" {
        let first = cx.known_integers(2).unwrap_or_default().into_iter().max().unwrap_or(0);
        let end = cx.add(update[axis], Dim::Known(first));
        if let (Dim::Known(size), Dim::Known(end), Dim::Known(1..)) = (dims[axis], end, dims[0])
            && size < end
        {
            return Err(errors::value("end of the update", end, format_args!("at most {size}")).into());
        }
        cx.require_if_any(&dims[..1], dims[axis], end);
        if cx.known_integers(2).is_none() {
            let last = cx.subtract(dims[axis], update[axis]);
            require_up_to(cx, (2, "first index"), last, None)?;
        }
    } else {
        let least = cx.min(update[axis], Dim::ONE);
        cx.require_if_any(&dims[..1], dims[axis], least);
    }
    Ok(vec![Fact::shaped(dims)])
}
