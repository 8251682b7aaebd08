//! `GroupQueryAttention` as a graph of ONNX operators: heads of queries that share keys and values,
//! which a cache keeps.

use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::attributes::{Attributes, required};
use crate::lowering::{LoweredValue, Lowering, along, int, not_known};
use crate::operators::errors;
use crate::operators::nn::decomposed::{counted, like, number, scores_of, shared, size_of, turn, widened};

/// Checks attributes of which only the default is known: caches are whole and not quantized, and
/// queries see no later keys.
pub(super) fn expect_known(attributes: &Attributes<'_>) -> Result<()> {
    attributes.only_int("causal", 1)?;
    attributes.only_int("sliding_window_cache", 0)?;
    attributes.only_text("k_quant_type", "NONE")?;
    attributes.only_text("v_quant_type", "NONE")
}

/// Returns true if each head has a score of 0 that no key has; the default is -1.
pub(super) fn is_smooth(attributes: &Attributes<'_>) -> Result<bool> {
    Ok(attributes.int_or("smooth_softmax", -1)? == 1)
}

/// The positions of the queries: how many keys there are before them in each sample, their indices,
/// and the number of keys.
struct Positions {
    before: LoweredValue,
    /// By sample and query.
    queries: LoweredValue,
    total: LoweredValue,
}

/// Keys or values by sample, position, head and element: where new ones stand, they replace those
/// of the cache.
fn cached(l: &mut Lowering<'_>, past: usize, new: LoweredValue, of: &Positions) -> Result<LoweredValue> {
    let by_position = [("perm", Content::Ints(vec![0, 2, 1, 3]))];
    let (none, zero, axis) = (l.list(&[0])?, number(l, 0.0)?, l.list(&[1])?);
    let steps = l.apply("Transpose", &[new], &by_position)?;
    let total = l.reshape(of.total, &[1])?;
    // The cache, with zeros up to the number of keys.
    let cache = if l.has(past) {
        let cache = widened(l, past)?;
        let cache = l.apply("Transpose", &[cache], &by_position)?;
        let own = l.apply("Shape", &[cache], &[int("start", 1), int("end", 2)])?;
        let more = l.apply("Sub", &[total, own], &[])?;
        let pads = l.apply("Concat", &[none, more], &[along(0)])?;
        l.apply("Pad", &[cache, pads, zero, axis], &[])?
    } else {
        let batch = l.apply("Shape", &[steps], &[int("start", 0), int("end", 1)])?;
        let rest = l.apply("Shape", &[steps], &[int("start", 2)])?;
        let dims = l.apply("Concat", &[batch, total, rest], &[along(0)])?;
        l.apply("Expand", &[zero, dims], &[])?
    };
    let all = l.apply("Concat", &[cache, steps], &[along(1)])?;
    let (keys, length) = (counted(l, of.total)?, size_of(l, steps, 1)?);
    let step = l.apply("Sub", &[keys, of.before], &[])?;
    let zero = l.constant(Tensor::scalar(0i64))?;
    let (reached, left) =
        (l.apply("GreaterOrEqual", &[step, zero], &[])?, l.apply("Less", &[step, length], &[])?);
    let is_new = l.apply("And", &[reached, left], &[])?;
    let behind = l.apply("Add", &[step, of.total], &[])?;
    let places = l.apply("Where", &[is_new, behind, keys], &[])?;
    let last = l.list(&[-1])?;
    let places = l.apply("Unsqueeze", &[places, last], &[])?;
    let chosen = l.apply("GatherND", &[all, places], &[int("batch_dims", 1)])?;
    l.apply("Transpose", &[chosen], &by_position)
}

/// Queries, keys and values by sample, head, position and element.
fn projections(l: &mut Lowering<'_>, queries: i64, keys: i64) -> Result<[LoweredValue; 3]> {
    let by_head = |l: &mut Lowering<'_>, value: LoweredValue, count: i64| {
        let value = l.reshape(value, &[0, 0, count, -1])?;
        l.apply("Transpose", &[value], &[("perm", Content::Ints(vec![0, 2, 1, 3]))])
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

fn positions(l: &mut Lowering<'_>) -> Result<Positions> {
    let (x, lengths, total) = (l.input(0)?, l.input(5)?, l.input(6)?);
    let (lengths, total) = (l.cast(lengths, DType::I64)?, l.cast(total, DType::I64)?);
    let mut total = l.reshape(total, &[])?;
    if l.has(3) {
        let past = l.input(3)?;
        let past = size_of(l, past, 2)?;
        total = l.apply("Max", &[past, total], &[])?;
    }
    let (length, zero, one) =
        (size_of(l, x, 1)?, l.constant(Tensor::scalar(0i64))?, l.constant(Tensor::scalar(1i64))?);
    let lengths = l.reshape(lengths, &[-1, 1])?;
    let ends = l.apply("Add", &[lengths, one], &[])?;
    let before = l.apply("Sub", &[ends, length], &[])?;
    let before = l.apply("Max", &[before, zero], &[])?;
    let steps = counted(l, length)?;
    let queries = l.apply("Add", &[before, steps], &[])?;
    Ok(Positions { before, queries, total })
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
    let dims = l.apply("Concat", &[rows, one], &[along(0)])?;
    let sinks = l.apply("Expand", &[sinks, dims], &[])?;
    let all = l.apply("Concat", &[scores, sinks], std::slice::from_ref(&axis))?;
    let all = l.apply("Softmax", &[all], &[axis])?;
    let (first, last) = (l.list(&[0])?, l.list(&[-1])?);
    l.apply("Slice", &[all, first, last, last], &[])
}

pub(crate) fn group_query(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_known(&l.attributes)?;
    let count =
        |l: &Lowering<'_>, name: &str| errors::at_least_1(name, required(name, l.attributes.int(name)?)?);
    let (queries, keys) = (count(l, "num_heads")?, count(l, "kv_num_heads")?);
    if queries % keys != 0 {
        return Err(errors::value("attribute \"num_heads\"", queries, format_args!("a multiple of {keys}")));
    }
    let [mut q, mut k, v] = projections(l, queries, keys)?;
    let of = positions(l)?;
    if l.attributes.flag("do_rotary", false)? {
        let half = l.dims_of(7)?.get(1).copied().flatten().and_then(|half| i64::try_from(half).ok());
        let half = half.ok_or_else(|| not_known("size of axis 1 of input 7".to_owned()))?;
        let (mut turns, axis) = ([q; 2], l.list(&[1])?);
        for (turn, input) in turns.iter_mut().zip([7, 8]) {
            let rows = widened(l, input)?;
            let rows = l.apply("Gather", &[rows, of.queries], &[along(0)])?;
            *turn = l.apply("Unsqueeze", &[rows, axis], &[])?;
        }
        let pairs = l.attributes.flag("rotary_interleaved", false)?;
        q = turn(l, q, turns, (half.saturating_mul(2), pairs))?;
        k = turn(l, k, turns, (half.saturating_mul(2), pairs))?;
    }
    let present = [cached(l, 3, k, &of)?, cached(l, 4, v, &of)?];
    let [mut k, mut v] = present;
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
    let (axes, heads, never) = (l.list(&[-1])?, l.list(&[1])?, number(l, f64::NEG_INFINITY)?);
    let own = l.apply("Unsqueeze", &[of.queries, axes], &[])?;
    let own = l.apply("Unsqueeze", &[own, heads], &[])?;
    let all = counted(l, of.total)?;
    let mut hidden = l.apply("Greater", &[all, own], &[])?;
    if let Some(window) = l.attributes.int("local_window_size")?.filter(|&window| window >= 0) {
        let window = l.constant(Tensor::scalar(window))?;
        let seen_to = l.apply("Add", &[all, window], &[])?;
        let outside = l.apply("LessOrEqual", &[seen_to, own], &[])?;
        hidden = l.apply("Or", &[hidden, outside], &[])?;
    }
    scores = l.apply("Where", &[hidden, never, scores], &[])?;
    let shares = shares(l, scores, queries)?;
    let value = l.apply("MatMul", &[shares, v], &[])?;
    let value = l.apply("Transpose", &[value], &[("perm", Content::Ints(vec![0, 2, 1, 3]))])?;
    let value = l.reshape(value, &[0, 0, -1])?;
    let cache = if l.has(3) { 3 } else { 0 };
    Ok(vec![like(l, value, 0)?, like(l, present[0], cache)?, like(l, present[1], cache)?])
}
