//! `GroupQueryAttention`, evaluated; its graph is in `group_query.rs`.

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::{Error, Result, Value};

use super::eval::{attended, heads, maybe_shaped, score_bias, shaped, size_of};
use super::group_query::{expect_known, is_smooth};
use crate::attributes::Attributes;
use crate::op::EvalContext;
use crate::operators::nn::attention::{Heads, Rotation, exchanged};
use crate::operators::{errors, indices};

/// The number of positions before the new ones of a sample, of which `last` is the last.
fn positions_before(last: i64, of: &Heads) -> Result<usize> {
    let before = usize_of_i64(last.saturating_add(1).saturating_sub(i64_of(of.length))).unwrap_or(0);
    let fits = (before.saturating_add(of.length) <= of.total).then_some(before);
    fits.ok_or_else(|| errors::value("element of seqlens_k", last, format_args!("below {}", of.total)))
}

/// Rotates heads by the rows of inputs 7 and 8 that belong to their positions.
fn turned_heads(
    cx: &EvalContext<'_>,
    attributes: &Attributes<'_>,
    numbers: &mut [f64],
    position: impl Fn(usize) -> usize,
    size: usize,
) -> Result<()> {
    let &[rows, half] = cx.tensor(7)?.shape().dims() else {
        return Err(errors::rank("input 7", cx.tensor(7)?.shape().rank(), 2));
    };
    let (cos, sin) = (shaped(cx, 7, &[rows, half])?, shaped(cx, 8, &[rows, half])?);
    let interleaved = attributes.flag("rotary_interleaved", false)?;
    let rotation = Rotation { turned: (2 * half).min(size), interleaved };
    for (at, head) in numbers.chunks_mut(size.max(1)).enumerate() {
        let row = indices::index(i64_of(position(at)), rows)? * half;
        rotation.turn(head, &cos[row..][..half], &sin[row..][..half]);
    }
    Ok(())
}

/// Writes new keys or values behind those of the past, which an input may hold.
fn cached(cx: &EvalContext<'_>, past: usize, new: &[f64], before: &[usize], of: &Heads) -> Result<Vec<f64>> {
    let mut all = vec![0.0; of.batch * of.keys * of.total * of.size];
    if cx.has(past) {
        let len = cx.tensor(past)?.shape().dims().get(2).copied().unwrap_or(0);
        let numbers = shaped(cx, past, &[of.batch, of.keys, len, of.size])?;
        let rows = all.chunks_mut((of.total * of.size).max(1));
        for (row, own) in rows.zip(numbers.chunks((len * of.size).max(1))) {
            row[..own.len()].copy_from_slice(own);
        }
    }
    for (at, own) in new.chunks((of.length * of.size).max(1)).enumerate() {
        let first = (at * of.total + before[at / of.keys]) * of.size;
        all[first..first + own.len()].copy_from_slice(own);
    }
    Ok(all)
}

/// `GroupQueryAttention`: heads of queries that share keys and values, which a cache keeps.
pub(crate) fn group_query(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (queries, keys) = (heads(attributes, "num_heads")?, heads(attributes, "kv_num_heads")?);
    if !queries.is_multiple_of(keys) {
        return Err(errors::value("attribute \"num_heads\"", queries, format_args!("a multiple of {keys}")));
    }
    expect_known(attributes)?;
    let sinks = match maybe_shaped(cx, 11, &[queries])? {
        None => is_smooth(attributes)?.then(|| vec![0.0; queries]),
        sinks => sinks,
    };
    let &[batch, length, width] = cx.tensor(0)?.shape().dims() else {
        return Err(errors::rank("input 0", cx.tensor(0)?.shape().rank(), 3));
    };
    let packed = !cx.has(1);
    let size = size_of(width, if packed { queries + 2 * keys } else { queries })?;
    let all = cx.floats(0)?;
    let part = |first: usize, heads: usize| {
        let row = |row: &[f64]| row[first * size..(first + heads) * size].to_vec();
        let rows: Vec<_> = all.chunks(width.max(1)).flat_map(row).collect();
        exchanged(&rows, batch, [length, heads], size)
    };
    let other = |input: usize| {
        Ok::<_, Error>(exchanged(
            &shaped(cx, input, &[batch, length, keys * size])?,
            batch,
            [length, keys],
            size,
        ))
    };
    let mut q = part(0, queries);
    let (mut k, v) =
        if packed { (part(queries, keys), part(queries + keys, keys)) } else { (other(1)?, other(2)?) };
    let lengths = cx.integers(5)?;
    if lengths.len() != batch {
        return Err(errors::count("elements of seqlens_k", lengths.len(), batch));
    }
    let total = cx.output(1)?.1.dims()[2];
    let of = Heads { batch, queries, keys, length, total, size, value_size: size };
    let before: Vec<_> = lengths.iter().map(|&last| positions_before(last, &of)).collect::<Result<_>>()?;
    if attributes.flag("do_rotary", false)? {
        for (numbers, heads) in [(&mut q, queries), (&mut k, keys)] {
            turned_heads(cx, attributes, numbers, |at| before[at / length / heads] + at % length, size)?;
        }
    }
    let (k, v) = (cached(cx, 3, &k, &before, &of)?, cached(cx, 4, &v, &before, &of)?);
    let added = score_bias(cx, 10, &of)?;
    let window = attributes.int("local_window_size")?.and_then(usize_of_i64);
    let y = attended(cx, attributes, &of, [&q, &k, &v], sinks, |sample, head, query, key| {
        let position = before[sample] + query;
        if key > position || window.is_some_and(|window| key.saturating_add(window) <= position) {
            return f64::NEG_INFINITY;
        }
        added.as_ref().map_or(0.0, |mask| mask.at([sample, head, query, key]))
    })?;
    let all = [y, k, v];
    all.iter().enumerate().take(cx.outputs).map(|(output, numbers)| cx.rounded(output, numbers)).collect()
}
