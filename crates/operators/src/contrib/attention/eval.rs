//! Evaluation of attention as ONNX Runtime has it, computed in float64 and rounded once.

use gradus_core::convert::{float_of, i64_of, usize_of_i64};
use gradus_core::{Result, Value};

use crate::attention::eval::{Heads, Mask, Scores, continued, exchanged};
use crate::attention::rotary::rotated;
use crate::attributes::{Attributes, required};
use crate::contrib::inputs::{maybe_shaped, shaped, unsupported};
use crate::floats::Sizes;
use crate::matmul::eval::products;
use crate::op::EvalContext;
use crate::{errors, indices};

/// `RotaryEmbedding`, whose positions are one offset, or one for each element.
pub fn rotary(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    if !matches!(dims.len(), 3 | 4) {
        return Err(errors::rank("input 0", dims.len(), "3 or 4"));
    }
    let [rows, half] = cx.dims(2)?;
    shaped(cx, 3, &[rows, half])?;
    if let &[_, _, width] = dims
        && width < 2 * half
        && attributes.int("num_heads")?.is_none_or(|heads| heads < 1)
    {
        return Err(errors::value("width of input 0", width, format_args!("at least {}", 2 * half)));
    }
    let (positions, steps) = (cx.integers(1)?, if dims.len() == 4 { dims[2] } else { dims[1] });
    if positions.len() != 1 && positions.len() != dims[0] * steps {
        return Err(errors::count("positions", positions.len(), dims[0] * steps));
    }
    rotated(attributes, cx, dims, [2, 3], |sample, step, steps| {
        let position = match positions[..] {
            [first] => first.saturating_add(i64_of(step)),
            _ => positions[sample * steps + step],
        };
        indices::index(position, rows)
    })
}

/// The number of heads that an attribute gives, of a width.
pub(super) fn heads(attributes: &Attributes<'_>, name: &str) -> Result<usize> {
    let given = required(name, attributes.int(name)?)?;
    Ok(usize_of_i64(errors::at_least_1(name, given)?).unwrap_or(1))
}

/// The size of a head.
pub(super) fn size_of(width: usize, heads: usize) -> Result<usize> {
    if width.is_multiple_of(heads) {
        return Ok(width / heads);
    }
    Err(errors::shape("width of queries, keys or values", width, format_args!("a multiple of {heads}")))
}

/// The term that an input adds to the score of a key: by sample and query, a number that is added
/// where the mask is 0.
fn padding(
    cx: &EvalContext<'_>,
    input: usize,
    of: &Heads,
    filter: f64,
) -> Result<impl Fn(usize, usize, usize) -> f64 + Sync + use<>> {
    let mask = cx.maybe_integers(input)?;
    let dims: Vec<_> = if mask.is_some() { cx.tensor(input)?.shape().dims().to_vec() } else { Vec::new() };
    let Heads { batch, length, total, .. } = *of;
    let fits = match dims[..] {
        [] => mask.is_none(),
        [lengths] => lengths == batch,
        [samples, keys] => samples == batch && keys == total,
        [samples, queries, keys] => samples == batch && queries == length && keys == total,
        _ => false,
    };
    if !fits {
        let wanted = format_args!("[{batch}], [{batch}, {total}] or [{batch}, {length}, {total}]");
        return Err(errors::shape(cx.label(input), format_args!("{dims:?}"), wanted));
    }
    Ok(move |sample: usize, query: usize, key: usize| {
        let attended = match (&mask, &dims[..]) {
            (Some(mask), [_]) => i64_of(key) < mask[sample],
            (Some(mask), [_, _]) => mask[sample * total + key] != 0,
            (Some(mask), [_, _, _]) => mask[(sample * length + query) * total + key] != 0,
            _ => true,
        };
        if attended { 0.0 } else { filter }
    })
}

/// Checks that a bias of scores broadcasts.
pub(super) fn score_bias(cx: &EvalContext<'_>, input: usize, of: &Heads) -> Result<Option<Mask>> {
    if cx.has(input) {
        let (own, wanted) = (
            cx.tensor(input)?.shape(),
            gradus_core::Shape::new([of.batch, of.queries, of.length, of.total])?,
        );
        if own.broadcast(&wanted)? != wanted || own.dims().last() != Some(&of.total) {
            return Err(errors::shape(cx.label(input), own, format_args!("one that broadcasts to {wanted}")));
        }
    }
    Mask::read(cx, input)
}

/// The results of attention, by position.
pub(super) fn attended(
    cx: &mut EvalContext<'_>,
    attributes: &Attributes<'_>,
    of: &Heads,
    numbers: [&[f64]; 3],
    sinks: Option<Vec<f64>>,
    bias: impl Fn(usize, usize, usize, usize) -> f64 + Sync,
) -> Result<Vec<f64>> {
    let scale = attributes.float("scale")?.filter(|&scale| scale != 0.0);
    let scale = scale.map_or_else(|| float_of(of.size).sqrt().recip(), f64::from);
    let cap = attributes.float("softcap")?.unwrap_or(0.0).into();
    let (sums, _) = of.attend(cx, numbers, &Scores { scale, cap, bias, stage: None, sinks })?;
    Ok(exchanged(&sums, of.batch, [of.queries, of.length], of.value_size))
}

/// Attention under the padding mask of an input, the bias of input 5, and `unidirectional`: a query
/// sees the keys of the past, which come first, and none after its own.
fn masked(
    cx: &mut EvalContext<'_>,
    attributes: &Attributes<'_>,
    of: &Heads,
    parts: [&[f64]; 3],
    mask: usize,
    past: usize,
) -> Result<Vec<f64>> {
    let filter = attributes.float("mask_filter_value")?.unwrap_or(-10000.0).into();
    let (padding, added) = (padding(cx, mask, of, filter)?, score_bias(cx, 5, of)?);
    let causal = attributes.flag("unidirectional", false)?;
    attended(cx, attributes, of, parts, None, |sample, head, query, key| {
        if causal && key > query + past {
            return f64::NEG_INFINITY;
        }
        padding(sample, query, key) + added.as_ref().map_or(0.0, |mask| mask.at([sample, head, query, key]))
    })
}

/// `Attention` of ONNX Runtime: projections, and heads that attend to all positions.
pub fn attention(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let [batch, length, width] = cx.dims(0)?;
    let columns = cx.tensor(1)?.shape().dims().last().copied().unwrap_or(0);
    let queries = heads(attributes, "num_heads")?;
    let widths: Vec<_> = match attributes.ints("qkv_hidden_sizes")? {
        Some(sizes) => sizes.iter().map(|&size| usize_of_i64(size).unwrap_or(0)).collect(),
        None => vec![columns / 3; 3],
    };
    let &[q_width, k_width, v_width] = &widths[..] else {
        return Err(errors::count("elements of attribute \"qkv_hidden_sizes\"", widths.len(), 3));
    };
    if q_width != k_width || q_width.saturating_add(k_width).saturating_add(v_width) != columns {
        return Err(errors::shape("columns of the weights", columns, format_args!("{widths:?} together")));
    }
    if attributes.flag("do_rotary", false)? || attributes.flag("past_present_share_buffer", false)? {
        return Err(unsupported("Attention with do_rotary or past_present_share_buffer"));
    }
    let (size, value_size) = (size_of(q_width, queries)?, size_of(v_width, queries)?);
    let (input, weights) = (cx.floats(0)?, shaped(cx, 1, &[width, columns])?);
    let limits = cx.limits();
    let (sizes, adding) = (Sizes { rows: batch * length, inner: width, columns }, cx.adding(&limits)?);
    let mut all = products(cx, &input, &weights, sizes, &[(0, 0)], adding)?;
    if let Some(bias) = maybe_shaped(cx, 2, &[columns])? {
        for (at, x) in all.iter_mut().enumerate() {
            *x += bias[at % columns];
        }
    }
    let part = |first: usize, width: usize, size: usize| {
        let rows: Vec<_> =
            all.chunks(columns.max(1)).flat_map(|row| row[first..first + width].iter().copied()).collect();
        exchanged(&rows, batch, [length, queries], size)
    };
    let q = part(0, q_width, size);
    let (mut k, mut v) = (part(q_width, k_width, size), part(q_width + k_width, v_width, value_size));
    let mut before = 0;
    if cx.has(4) {
        let dims = cx.tensor(4)?.shape().dims();
        before = dims.get(3).copied().unwrap_or(0);
        let past = shaped(cx, 4, &[2, batch, queries, before, size])?;
        let (keys, values) = past.split_at(past.len() / 2);
        (k, v) = (continued(keys, &k, batch * queries), continued(values, &v, batch * queries));
    }
    let of = Heads { batch, queries, keys: queries, length, total: before + length, size, value_size };
    let y = masked(cx, attributes, &of, [&q, &k, &v], 3, before)?;
    let mut outputs = vec![cx.rounded(0, &y)?];
    if cx.outputs > 1 {
        outputs.push(cx.rounded(1, &[k, v].concat())?);
    }
    Ok(outputs)
}

/// `MultiHeadAttention` of projected queries, keys and values.
pub fn multi_head(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let queries = heads(attributes, "num_heads")?;
    let &[batch, length, width] = cx.tensor(0)?.shape().dims() else {
        return Err(unsupported("MultiHeadAttention of packed queries, keys and values"));
    };
    let size = size_of(width, queries)?;
    if !cx.has(1) || !cx.has(2) {
        return Err(unsupported("MultiHeadAttention of packed keys and values"));
    }
    let (mut q, kd, vd) = (cx.floats(0)?, cx.tensor(1)?.shape().dims(), cx.tensor(2)?.shape().dims());
    let (new, v_width) = match (kd, vd) {
        (&[_, new, _], &[_, _, v_width]) => (new, v_width),
        (&[_, _, new, _], &[_, _, _, value_size]) => (new, value_size.saturating_mul(queries)),
        _ => return Err(unsupported("MultiHeadAttention of packed keys and values")),
    };
    let value_size = size_of(v_width, queries)?;
    let bias = maybe_shaped(cx, 3, &[2 * width + v_width])?;
    let biased = |numbers: &mut [f64], first: usize, width: usize| {
        if let Some(bias) = &bias {
            for (at, x) in numbers.iter_mut().enumerate() {
                *x += bias[first + at % width];
            }
        }
    };
    biased(&mut q, 0, width);
    let q = exchanged(&q, batch, [length, queries], size);
    let (mut k, mut v);
    if kd.len() == 3 {
        (k, v) = (shaped(cx, 1, &[batch, new, width])?, shaped(cx, 2, &[batch, new, v_width])?);
        biased(&mut k, width, width);
        biased(&mut v, 2 * width, v_width);
        k = exchanged(&k, batch, [new, queries], size);
        v = exchanged(&v, batch, [new, queries], value_size);
    } else {
        k = shaped(cx, 1, &[batch, queries, new, size])?;
        v = shaped(cx, 2, &[batch, queries, new, value_size])?;
    }
    let mut before = 0;
    if cx.has(6) {
        before = cx.tensor(6)?.shape().dims().get(2).copied().unwrap_or(0);
        k = continued(&shaped(cx, 6, &[batch, queries, before, size])?, &k, batch * queries);
        v = continued(&shaped(cx, 7, &[batch, queries, before, value_size])?, &v, batch * queries);
    }
    let of = Heads { batch, queries, keys: queries, length, total: before + new, size, value_size };
    let y = masked(cx, attributes, &of, [&q, &k, &v], 4, before)?;
    let all = [y, k, v];
    all.iter().enumerate().take(cx.outputs).map(|(output, numbers)| cx.rounded(output, numbers)).collect()
}
