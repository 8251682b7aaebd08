//! Evaluation of `GroupQueryAttention`, whose graph is in `group_query_lowered.rs`.

use gradus_core::convert::{i64_of, product, usize_of_i64};
use gradus_core::{Error, Result, Value};

use crate::attention::eval::{Heads, exchanged};
use crate::attention::rotary::Rotation;
use crate::attributes::Attributes;
use crate::contrib::attention::eval::{attended, heads, score_bias, size_of};
use crate::contrib::attention::group_query_lowered::{cached_window, expect_known, is_smooth};
use crate::contrib::inputs::{maybe_shaped, shaped};
use crate::op::EvalContext;
use crate::{errors, indices};

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
    let [rows, half] = cx.dims(7)?;
    let (cos, sin) = (shaped(cx, 7, &[rows, half])?, shaped(cx, 8, &[rows, half])?);
    let interleaved = attributes.flag("rotary_interleaved", false)?;
    let rotation = Rotation { turned: (2 * half).min(size), interleaved };
    for (at, head) in numbers.chunks_mut(size.max(1)).enumerate() {
        let row = indices::index(i64_of(position(at)), rows)? * half;
        rotation.turn(head, &cos[row..][..half], &sin[row..][..half]);
    }
    Ok(())
}

/// A cache of the last keys.
struct KeyWindow {
    /// The number of rows.
    capacity: usize,
    /// The number of keys that are evicted at a time.
    evicted: usize,
}

impl KeyWindow {
    fn new(window: i64, capacity: usize) -> Result<KeyWindow> {
        let evicted = usize_of_i64(window).and_then(|window| (capacity + 1).checked_sub(window));
        let evicted = evicted.filter(|&evicted| evicted > 0);
        let wanted = format_args!("at least {window} as local_window_size");
        Ok(KeyWindow {
            capacity,
            evicted: evicted.ok_or_else(|| errors::value("rows of the cache", capacity, wanted))?,
        })
    }

    /// The position of the key in the first row, of `keys` keys.
    fn first(&self, keys: usize) -> usize {
        keys.saturating_sub(self.capacity).div_ceil(self.evicted) * self.evicted
    }

    /// The rows after the run, of keys or values by sample, head and position.
    fn kept(&self, all: &[f64], lengths: &[i64], of: &Heads) -> Vec<f64> {
        let row = self.capacity * of.size;
        let mut rows = vec![0.0; of.batch * of.keys * row];
        let from = all.chunks((of.total * of.size).max(1));
        for (at, (rows, all)) in rows.chunks_mut(row.max(1)).zip(from).enumerate() {
            let keys = usize_of_i64(lengths[at / of.keys].saturating_add(1)).unwrap_or(0).min(of.total);
            let held = &all[self.first(keys) * of.size..keys * of.size];
            rows[..held.len()].copy_from_slice(held);
        }
        rows
    }
}

/// Writes new keys or values after those of the past, which an input may hold.
fn cached(
    cx: &EvalContext<'_>,
    past: usize,
    new: &[f64],
    before: &[usize],
    of: &Heads,
    window: Option<&KeyWindow>,
) -> Result<Vec<f64>> {
    let mut all = vec![0.0; of.batch * of.keys * of.total * of.size];
    if let Some(window) = window {
        let numbers = shaped(cx, past, &[of.batch, of.keys, window.capacity, of.size])?;
        let rows = numbers.chunks((window.capacity * of.size).max(1));
        for (at, (row, own)) in all.chunks_mut((of.total * of.size).max(1)).zip(rows).enumerate() {
            let before = before[at / of.keys];
            let first = window.first(before);
            row[first * of.size..before * of.size].copy_from_slice(&own[..(before - first) * of.size]);
        }
    } else if cx.has(past) {
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
pub fn group_query(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (queries, keys) = (heads(attributes, "num_heads")?, heads(attributes, "kv_num_heads")?);
    if !queries.is_multiple_of(keys) {
        return Err(errors::value("attribute \"num_heads\"", queries, format_args!("a multiple of {keys}")));
    }
    expect_known(attributes, |input| cx.has(input))?;
    let sinks = match maybe_shaped(cx, 11, &[queries])? {
        None => is_smooth(attributes)?.then(|| vec![0.0; queries]),
        sinks => sinks,
    };
    let [batch, length, width] = cx.dims(0)?;
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
    errors::expect_count("elements of seqlens_k", lengths.len(), batch)?;
    let mut total = cx.output(1)?.1.dims()[2];
    let window = cached_window(attributes)?.map(|window| KeyWindow::new(window, total)).transpose()?;
    if window.is_some() {
        total = cx.integers(6)?.first().copied().and_then(usize_of_i64).unwrap_or(0);
        // All keys and values, as numbers of 8 bytes.
        let heads = batch.saturating_mul(keys).saturating_mul(size);
        cx.reserve(product(heads, total).saturating_mul(16))?;
    }
    let of = Heads { batch, queries, keys, length, total, size, value_size: size };
    let before: Vec<_> = lengths.iter().map(|&last| positions_before(last, &of)).collect::<Result<_>>()?;
    if attributes.flag("do_rotary", false)? {
        for (numbers, heads) in [(&mut q, queries), (&mut k, keys)] {
            turned_heads(cx, attributes, numbers, |at| before[at / length / heads] + at % length, size)?;
        }
    }
    let (mut k, mut v) = (
        cached(cx, 3, &k, &before, &of, window.as_ref())?,
        cached(cx, 4, &v, &before, &of, window.as_ref())?,
    );
    let added = score_bias(cx, 10, &of)?;
    let seen = attributes.int("local_window_size")?.and_then(usize_of_i64);
    let y = attended(cx, attributes, &of, [&q, &k, &v], sinks, |sample, head, query, key| {
        let position = before[sample] + query;
        if key > position || seen.is_some_and(|seen| key.saturating_add(seen) <= position) {
            return f64::NEG_INFINITY;
        }
        added.as_ref().map_or(0.0, |mask| mask.at([sample, head, query, key]))
    })?;
    if let Some(window) = window {
        (k, v) = (window.kept(&k, &lengths, &of), window.kept(&v, &lengths, &of));
    }
    let all = [y, k, v];
    all.iter().enumerate().take(cx.outputs).map(|(output, numbers)| cx.rounded(output, numbers)).collect()
}
