//! `GroupQueryAttention` as a graph of ONNX operators: heads of queries that share keys and values,
//! which a cache keeps.

use gradus_core::graph::Content;
use gradus_core::{DType, Error, Kind, Result, Tensor};

use crate::attention::lowered::{scores_of, shared, turn};
use crate::attributes::{Attributes, required};
use crate::graphs::{like, number, widened};
use crate::lowering::terms::{cast, ints, of, pick, shaped, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, int, not_known};
use crate::{errors, words};

/// Checks that the cache is not quantized, that queries see no later keys, and that neither are
/// normalized.
pub(super) fn expect_known(attributes: &Attributes<'_>, has: impl Fn(usize) -> bool) -> Result<()> {
    attributes.only_int("causal", 1)?;
    let codes = [words::K_QUANTIZED.of(attributes)?, words::V_QUANTIZED.of(attributes)?];
    let what = match () {
        () if codes != ["NONE"; 2] || has(12) || has(13) => "a quantized cache",
        () if has(14) || has(15) => "normalized queries or keys",
        () if has(16) => "queries of several lengths",
        () => return Ok(()),
    };
    Err(Error::new(Kind::Unsupported, format!("cannot run GroupQueryAttention with {what}")))
}

/// Returns true if each head has a score of 0 that no key has; the default is -1.
pub(super) fn is_smooth(attributes: &Attributes<'_>) -> Result<bool> {
    Ok(attributes.int_or("smooth_softmax", -1)? == 1)
}

/// Returns the number of keys that a query sees, if the cache only holds the last ones.
pub fn cached_window(attributes: &Attributes<'_>) -> Result<Option<i64>> {
    if !attributes.flag("sliding_window_cache", false)? {
        return Ok(None);
    }
    let window = attributes.int_or("local_window_size", -1)?;
    errors::at_least_1("local_window_size", window).map(Some)
}

/// The positions of the queries: how many keys there are before them in each sample, their indices,
/// and the number of keys.
struct QueryPositions {
    before: LoweredValue,
    /// By sample and query.
    queries: LoweredValue,
    total: LoweredValue,
    /// The number of keys after the run, in each sample.
    ends: LoweredValue,
}

/// A cache of the last keys: row `i` holds position `skipped + i`.
struct WindowCache {
    /// The number of its rows, as a list.
    capacity: LoweredValue,
    /// By sample, before the run.
    skipped: LoweredValue,
    /// By sample, after the run: the number of rows that hold keys, and the position of the first.
    held: LoweredValue,
    first: LoweredValue,
}

impl WindowCache {
    /// With `t` keys and `c` rows of which a query needs `w`, the rows hold the last `t - g * n`
    /// keys, where `g` is `c - w + 1` and `n` is the smallest number for which these fit.
    fn new(l: &mut Lowering<'_>, window: i64, at: &QueryPositions) -> Result<WindowCache> {
        let cache = l.input(3)?;
        let capacity = l.apply("Shape", &[cache], &[int("start", 2), int("end", 3)])?;
        let (zero, one) = (l.list(&[0])?, l.list(&[1])?);
        let evicted = (capacity - ints(&[window - 1])).put(l)?;
        let skipped = |l: &mut Lowering<'_>, keys: LoweredValue| {
            let more = of("Max", keys - capacity, zero).put(l)?;
            let more = (more + evicted - one).put(l)?;
            let times = l.apply("Div", &[more, evicted], &[])?;
            l.apply("Mul", &[times, evicted], &[])
        };
        let (before, first) = (skipped(l, at.before)?, skipped(l, at.ends)?);
        let held = l.apply("Sub", &[at.ends, first], &[])?;
        Ok(WindowCache { capacity, skipped: before, held, first })
    }

    /// Returns the rows of the cache after the run, of keys or values by sample, head, position and
    /// element.
    fn kept(&self, l: &mut Lowering<'_>, all: LoweredValue, total: LoweredValue) -> Result<LoweredValue> {
        let by_position = [("perm", Content::Ints([0, 2, 1, 3].into()))];
        let all = l.apply("Transpose", &[all], &by_position)?;
        let capacity = l.reshape(self.capacity, &[])?;
        let rows = l.up_to(capacity)?;
        let places = of("Min", rows + self.first, total - whole(1)).put(l)?;
        let places = of("Unsqueeze", places, ints(&[-1])).put(l)?;
        let chosen = l.apply("GatherND", &[all, places], &[int("batch_dims", 1)])?;
        let is_held = of("Unsqueeze", of("Less", rows, self.held), ints(&[-1, -2])).put(l)?;
        let nothing = number(l, 0.0)?;
        let chosen = l.apply("Where", &[is_held, chosen, nothing], &[])?;
        l.apply("Transpose", &[chosen], &by_position)
    }
}

/// Keys or values by sample, position, head and element: new ones replace those of the cache at
/// their positions.
fn cached(
    l: &mut Lowering<'_>,
    past: usize,
    new: LoweredValue,
    at: &QueryPositions,
    window: Option<&WindowCache>,
) -> Result<LoweredValue> {
    let by_position = [("perm", Content::Ints([0, 2, 1, 3].into()))];
    let (none, zero, axis) = (l.list(&[0])?, number(l, 0.0)?, l.list(&[1])?);
    let steps = l.apply("Transpose", &[new], &by_position)?;
    let total = l.reshape(at.total, &[1])?;
    // The cache, with zeros up to the number of keys.
    let cache = if window.is_some() {
        let cache = widened(l, past)?;
        l.apply("Transpose", &[cache], &by_position)?
    } else if l.has(past) {
        let cache = widened(l, past)?;
        let cache = l.apply("Transpose", &[cache], &by_position)?;
        let more = (total - with("Shape", [cache.into()], [int("start", 1), int("end", 2)])).put(l)?;
        let pads = l.apply("Concat", &[none, more], &[along(0)])?;
        l.apply("Pad", &[cache, pads, zero, axis], &[])?
    } else {
        let batch = l.apply("Shape", &[steps], &[int("start", 0), int("end", 1)])?;
        let rest = l.apply("Shape", &[steps], &[int("start", 2)])?;
        of("Expand", zero, with("Concat", [batch.into(), total.into(), rest.into()], [along(0)])).put(l)?
    };
    let all = l.apply("Concat", &[cache, steps], &[along(1)])?;
    let (keys, length) = (l.up_to(at.total)?, l.length(steps, 1)?);
    let step = l.apply("Sub", &[keys, at.before], &[])?;
    let zero = l.constant(Tensor::scalar(0i64))?;
    let is_new = of("And", of("GreaterOrEqual", step, zero), of("Less", step, length)).put(l)?;
    let (mut rows, mut old) = (at.total, keys);
    if let Some(window) = window {
        rows = l.reshape(window.capacity, &[])?;
        let last = (rows - whole(1)).put(l)?;
        old = l.apply("Sub", &[keys, window.skipped], &[])?;
        old = l.apply("Max", &[old, zero], &[])?;
        old = l.apply("Min", &[old, last], &[])?;
    }
    let places = pick(is_new, step + rows, old).put(l)?;
    let places = of("Unsqueeze", places, ints(&[-1])).put(l)?;
    let chosen = l.apply("GatherND", &[all, places], &[int("batch_dims", 1)])?;
    l.apply("Transpose", &[chosen], &by_position)
}

/// Queries, keys and values by sample, head, position and element.
fn projections(l: &mut Lowering<'_>, queries: i64, keys: i64) -> Result<[LoweredValue; 3]> {
    let by_head = |l: &mut Lowering<'_>, value: LoweredValue, count: i64| {
        let value = l.reshape(value, &[0, 0, count, -1])?;
        l.transposed(value, &[0, 2, 1, 3])
    };
    let first = widened(l, 0)?;
    if l.has(1) {
        let (k, v) = (widened(l, 1)?, widened(l, 2)?);
        return Ok([by_head(l, first, queries)?, by_head(l, k, keys)?, by_head(l, v, keys)?]);
    }
    let all = by_head(l, first, queries.saturating_add(keys.saturating_mul(2)))?;
    let counts = l.list(&[queries, keys, keys])?;
    let parts = l.apply_many("Split", &[all, counts], &[along(1)], 3)?;
    Ok([parts[0], parts[1], parts[2]])
}

fn positions(l: &mut Lowering<'_>, all_cached: bool) -> Result<QueryPositions> {
    let (x, total) = (l.input(0)?, l.input(6)?);
    let total = l.cast(total, DType::I64)?;
    let mut total = l.reshape(total, &[])?;
    if all_cached && l.has(3) {
        let past = l.input(3)?;
        let past = l.length(past, 2)?;
        total = l.apply("Max", &[past, total], &[])?;
    }
    let length = l.length(x, 1)?;
    let ends = (shaped(cast(l.input(5)?, DType::I64), &[-1, 1]) + whole(1)).put(l)?;
    let before = of("Max", ends - length, whole(0)).put(l)?;
    let steps = l.up_to(length)?;
    let queries = l.apply("Add", &[before, steps], &[])?;
    Ok(QueryPositions { before, queries, total, ends })
}

/// The share of each key. A sink is a score without a key, by head.
fn shares(l: &mut Lowering<'_>, scores: LoweredValue, heads: i64) -> Result<LoweredValue> {
    let axis = int("axis", -1);
    let sinks = if l.has(11) {
        let sinks = widened(l, 11)?;
        l.reshape(sinks, &[1, heads, 1, 1])?
    } else if is_smooth(&l.attributes)? {
        number(l, 0.0)?
    } else {
        return l.apply("Softmax", &[scores], &[axis]);
    };
    let (rows, one) = (l.apply("Shape", &[scores], &[int("end", -1)])?, l.list(&[1])?);
    let sinks = of("Expand", sinks, with("Concat", [rows.into(), one.into()], [along(0)])).put(l)?;
    let all = l.apply("Concat", &[scores, sinks], std::slice::from_ref(&axis))?;
    let all = l.apply("Softmax", &[all], &[axis])?;
    let (first, last) = (l.list(&[0])?, l.list(&[-1])?);
    l.apply("Slice", &[all, first, last, last], &[])
}

/// `GroupQueryAttention`: attention of heads that share keys and values, with a cache.
pub fn group_query(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_known(&l.attributes, |input| l.has(input))?;
    let count =
        |l: &Lowering<'_>, name: &str| errors::at_least_1(name, required(name, l.attributes.int(name)?)?);
    let (queries, keys) = (count(l, "num_heads")?, count(l, "kv_num_heads")?);
    if queries % keys != 0 {
        return Err(errors::value("attribute \"num_heads\"", queries, format_args!("a multiple of {keys}")));
    }
    let [mut q, mut k, v] = projections(l, queries, keys)?;
    let window = cached_window(&l.attributes)?;
    let at = positions(l, window.is_none())?;
    let window = window.map(|window| WindowCache::new(l, window, &at)).transpose()?;
    if l.attributes.flag("do_rotary", false)? {
        let half = l.dims_of(7)?.get(1).copied().flatten().and_then(|half| i64::try_from(half).ok());
        let half = half.ok_or_else(|| not_known("size of axis 1 of input 7".to_owned()))?;
        let (mut turns, axis) = ([q; 2], l.list(&[1])?);
        for (turn, input) in turns.iter_mut().zip([7, 8]) {
            let rows = widened(l, input)?;
            *turn =
                of("Unsqueeze", with("Gather", [rows.into(), at.queries.into()], [along(0)]), axis).put(l)?;
        }
        let pairs = l.attributes.flag("rotary_interleaved", false)?;
        q = turn(l, q, turns, (half.saturating_mul(2), pairs))?;
        k = turn(l, k, turns, (half.saturating_mul(2), pairs))?;
    }
    let mut present = [cached(l, 3, k, &at, window.as_ref())?, cached(l, 4, v, &at, window.as_ref())?];
    let [mut k, mut v] = present;
    if let Some(window) = window {
        for all in &mut present {
            *all = window.kept(l, *all, at.total)?;
        }
    }
    if queries != keys {
        k = shared(l, k, queries / keys, queries)?;
        v = shared(l, v, queries / keys, queries)?;
    }
    let scale = l.attributes.float("scale")?.filter(|&scale| scale != 0.0);
    let [_, mut scores] = scores_of(l, [q, k], scale)?;
    if l.has(10) {
        let added = widened(l, 10)?;
        scores = l.apply("Add", &[scores, added], &[])?;
    }
    // By sample, head, query and key.
    let (heads, never) = (l.list(&[1])?, number(l, f64::NEG_INFINITY)?);
    let own = of("Unsqueeze", of("Unsqueeze", at.queries, ints(&[-1])), heads).put(l)?;
    let all = l.up_to(at.total)?;
    let mut hidden = l.apply("Greater", &[all, own], &[])?;
    if let Some(window) = l.attributes.int("local_window_size")?.filter(|&window| window >= 0) {
        let window = l.constant(Tensor::scalar(window))?;
        let outside = of("LessOrEqual", all + window, own).put(l)?;
        hidden = l.apply("Or", &[hidden, outside], &[])?;
    }
    scores = l.apply("Where", &[hidden, never, scores], &[])?;
    let shares = shares(l, scores, queries)?;
    let value = with("Transpose", [of("MatMul", shares, v)], [("perm", Content::Ints([0, 2, 1, 3].into()))])
        .put(l)?;
    let value = l.reshape(value, &[0, 0, -1])?;
    let cache = if l.has(3) { 3 } else { 0 };
    Ok(vec![like(l, value, 0)?, like(l, present[0], cache)?, like(l, present[1], cache)?])
}
