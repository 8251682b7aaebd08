//! Operators whose results follow from the order of elements, or count them.
//!
//! | operators | Paddle |
//! |---|---|
//! | `median`, `nanmedian` | the mean of the two middle elements, or the lower one, and where they are |
//! | `kthvalue`, `mode` | the element of a rank, and the one that is there most often, the least of them |
//! | `cummax`, `cummin`, `logcumsumexp` | of each element and those before it; the last of equal ones |
//! | `viterbi_decode` | the best path through each sequence, and its score |
//! | `gather_tree` | of beams that end in the last step |
//! | `searchsorted`, `histogram`, `bincount` | how many elements lie below each value, or in each bin |

use std::slice::from_ref;

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::dialects::boxes::expect_rank;
use crate::dialects::cannot;
use crate::dialects::indices::{beams, index, positions, size};
use crate::dialects::paddle::attributes::{constant_like, ints};
use crate::dialects::paddle::layout::list;
use crate::errors;
use crate::lowering::terms::{Term, cast, f, of, pick, shaped, with};
use crate::lowering::{LoweredValue, Lowering, along, axis, int, not_known, terms};
use crate::words;

/// All elements along an axis in ascending order, and where they were.
fn ascending(l: &mut Lowering<'_>, x: LoweredValue, axis: usize) -> Result<Vec<LoweredValue>> {
    let all = size(l, x, axis)?;
    l.apply_many("TopK", &[x, all], &[along(axis), int("largest", 0), int("sorted", 1)], 2)
}

/// `median`, for which a NaN is one of the result, and `nanmedian`, which skips it.
pub fn median(l: &mut Lowering<'_>, skips: bool) -> Result<Vec<LoweredValue>> {
    let (mut x, rank, dtype) = (l.input(0)?, l.rank_of(0)?, l.dtype_of(0)?);
    if !dtype.is_float() {
        return Err(errors::dtype(dtype, "a type of floats"));
    }
    let (axes, keep) = (ints(l, "axis")?, l.attributes.flag("keepdim", false)?);
    let lower = words::MIDDLE.of(&l.attributes)? == "min";
    let axis = match axes[..] {
        [] => {
            x = l.reshape(x, &[-1])?;
            0
        }
        [one] => axis(one, rank)?,
        [_, _, ..] => return Err(cannot("a median along several axes")),
    };
    let along_axis = along(axis);
    let axes_list = l.list(&[i64_of(axis)])?;
    let odd = l.apply("IsNaN", &[x], &[])?;
    let numbers = pick(odd, f64::INFINITY, x).write(l, dtype)?;
    let order = ascending(l, numbers, axis)?;
    let valid = pick(odd, 0.0, 1.0).write(l, DType::I64)?;
    let counted = if skips { valid } else { pick(odd, 1.0, 1.0).write(l, DType::I64)? };
    let count = l.apply("ReduceSum", &[counted, axes_list], &[])?;
    let (low, high) = (of("Max", (count - 1.0) / 2.0, 0.0), count / 2.0);
    let low = low.write(l, DType::I64)?;
    let high = if lower { low } else { high.write(l, DType::I64)? };
    let at = |l: &mut Lowering<'_>, values, place| {
        l.apply("GatherElements", &[values, place], from_ref(&along_axis))
    };
    let (a, b) = (at(l, order[0], low)?, at(l, order[0], high)?);
    let mut middle = if lower { a } else { ((a + b) / 2.0).write(l, dtype)? };
    // Without numbers, or with a NaN, there is no middle.
    let none = if skips {
        of("Equal", count, 0.0).write(l, DType::I64)?
    } else {
        of("Equal", of("ReduceMin", valid, axes_list), 0.0).write(l, DType::I64)?
    };
    middle = pick(none, f64::NAN, middle).write(l, dtype)?;
    let mut places = vec![at(l, order[1], low)?];
    if !lower {
        places.push(at(l, order[1], high)?);
    }
    if !skips {
        // A NaN is where the first one is.
        let first = with("ArgMax", [cast(odd, DType::I32)], [along(axis)]).put(l)?;
        for place in &mut places {
            *place = pick(none, first, *place).write(l, DType::I64)?;
        }
    }
    let last = l.list(&[-1])?;
    for place in &mut places {
        if !keep {
            *place = l.apply("Squeeze", &[*place, axes_list], &[])?;
        } else if axes.is_empty() {
            *place = l.reshape(*place, &vec![1; rank])?;
        }
        if !lower {
            *place = l.apply("Unsqueeze", &[*place, last], &[])?;
        }
    }
    let places = if lower { places[0] } else { l.apply("Concat", &places, &[int("axis", -1)])? };
    middle = match (keep, axes.is_empty()) {
        (false, _) => l.apply("Squeeze", &[middle, axes_list], &[])?,
        (true, true) => l.reshape(middle, &vec![1; rank])?,
        (true, false) => middle,
    };
    Ok(vec![middle, places])
}

/// Two results along an axis, which is removed unless an attribute keeps it.
fn kept(l: &mut Lowering<'_>, mut both: Vec<LoweredValue>, axis: usize) -> Result<Vec<LoweredValue>> {
    if !l.attributes.flag("keepdim", false)? {
        let axes = l.list(&[i64_of(axis)])?;
        for value in &mut both {
            *value = l.apply("Squeeze", &[*value, axes], &[])?;
        }
    }
    Ok(both)
}

/// `gather_tree`: the tokens of beams, traced back from the last step.
pub fn gather_tree(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 3)?;
    expect_rank(l, 1, 3)?;
    Ok(vec![beams(l, None)?])
}

/// Maximum number of steps of sequences of which the best path is found.
const MAX_STEPS: usize = 1 << 9;

/// `viterbi_decode`: the best path through each sequence, and its score.
pub fn viterbi(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, moves, lengths, dtype) = (l.input(0)?, l.input(1)?, index(l, 2)?, l.dtype_of(0)?);
    expect_rank(l, 0, 3)?;
    let steps = l.dims_of(0)?[1].ok_or_else(|| not_known("number of steps".to_owned()))?;
    if !(1..=MAX_STEPS).contains(&steps) {
        return Err(cannot("viterbi_decode of no step, or of more than 512"));
    }
    let tagged = l.attributes.flag("include_bos_eos_tag", true)?;
    let column = l.reshape(lengths, &[-1, 1])?;
    let (axes, row) = (l.list(&[1])?, l.list(&[2])?);
    let mut ends = None;
    if tagged {
        // The last tag begins sequences, and the one before it ends them.
        let [begin, end] =
            [l.list(&[-1])?, l.list(&[-2])?].map(|at| l.apply("Gather", &[moves, at], &[along(0)]));
        ends = Some((begin?, end?));
    }
    let after = |l: &mut Lowering<'_>, operator, step: usize| {
        let step = l.constant(Tensor::scalar(i64_of(step)))?;
        l.apply(operator, &[column, step], &[])
    };
    let (mut scores, mut from): (Option<LoweredValue>, Vec<LoweredValue>) = (None, Vec::new());
    for step in 0..steps {
        let at = l.constant(Tensor::scalar(i64_of(step)))?;
        let own = l.apply("Gather", &[x, at], &[along(1)])?;
        let mut next = match scores {
            None => match ends {
                Some((begin, _)) => l.apply("Add", &[own, begin], &[])?,
                None => own,
            },
            Some(before) => {
                let all = (of("Unsqueeze", before, row) + moves).put(l)?;
                let best = l.apply("ReduceMax", &[all, axes], &[int("keepdims", 0)])?;
                from.push(l.apply("ArgMax", &[all], &[along(1), int("keepdims", 0)])?);
                let goes = after(l, "Greater", step)?;
                let next = l.apply("Add", &[best, own], &[])?;
                l.apply("Where", &[goes, next, before], &[])?
            }
        };
        if let Some((_, end)) = ends {
            let is_last = after(l, "Equal", step + 1)?;
            next = pick(is_last, next + end, next).write(l, dtype)?;
        }
        scores = Some(next);
    }
    let scores = scores.unwrap_or(x);
    let best = l.apply("ReduceMax", &[scores, axes], &[int("keepdims", 0)])?;
    let mut tag = l.apply("ArgMax", &[scores], &[along(1)])?;
    let none = l.list(&[0])?;
    let mut path = Vec::new();
    for step in (0..steps).rev() {
        // Sequences that end before are followed from their last step on.
        let within = after(l, "Greater", step)?;
        path.insert(0, l.apply("Where", &[within, tag, none], &[])?);
        if let Some(from) = step.checked_sub(1).and_then(|before| from.get(before)) {
            tag =
                pick(within, with("GatherElements", [(*from).into(), tag.into()], [along(1)]), tag).put(l)?;
        }
    }
    let path = l.apply("Concat", &path, &[along(1)])?;
    let longest = l.apply("ReduceMax", &[lengths], &[int("keepdims", 0)])?;
    Ok(vec![best, with("Slice", [path.into(), none.into(), shaped(longest, &[1]), axes.into()], []).put(l)?])
}

/// `kthvalue`: the `k`-th smallest element along an axis, and its index.
pub fn kthvalue(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, k) = (l.input(0)?, l.attributes.int_or("k", 1)?);
    let axis = axis(l.attributes.int_or("axis", -1)?, l.rank_of(0)?)?;
    let (count, first) = (l.list(&[k])?, l.list(&[errors::at_least_1("k", k)? - 1])?);
    let least = l.apply_many("TopK", &[x, count], &[along(axis), int("largest", 0), int("sorted", 1)], 2)?;
    let both = least.into_iter().map(|value| l.apply("Gather", &[value, first], &[along(axis)]));
    let both = both.collect::<Result<Vec<_>>>()?;
    kept(l, both, axis)
}

/// A tensor as pairs of elements along an axis: those of the result in it, the others in the next.
struct ElementPairs {
    axis: usize,
    own: LoweredValue,
    other: LoweredValue,
    /// Places of either, of the rank of the pairs.
    place: LoweredValue,
    other_place: LoweredValue,
}

impl ElementPairs {
    fn new(l: &mut Lowering<'_>, x: LoweredValue, axis: usize, rank: usize) -> Result<ElementPairs> {
        let [after, before] = [l.list(&[i64_of(axis) + 1])?, l.list(&[i64_of(axis)])?];
        let (own, other) =
            (l.apply("Unsqueeze", &[x, after], &[])?, l.apply("Unsqueeze", &[x, before], &[])?);
        let count = size(l, x, axis)?;
        let places = positions(l, count)?;
        let mut dims = vec![1; rank + 1];
        dims[axis] = -1;
        let place = l.reshape(places, &dims)?;
        dims.swap(axis, axis + 1);
        let other_place = l.reshape(places, &dims)?;
        Ok(ElementPairs { axis, own, other, place, other_place })
    }

    /// A reduction of the others.
    fn reduce(&self, l: &mut Lowering<'_>, operator: &str, value: LoweredValue) -> Result<LoweredValue> {
        let next = l.list(&[i64_of(self.axis) + 1])?;
        l.apply(operator, &[value, next], &[int("keepdims", 0)])
    }

    /// True where the other element comes no later.
    fn until(&self, l: &mut Lowering<'_>) -> Result<LoweredValue> {
        l.apply("LessOrEqual", &[self.other_place, self.place], &[])
    }
}

/// The axis of a cumulative operator, and the tensor, flat if an attribute says so.
fn cumulated(l: &mut Lowering<'_>) -> Result<(LoweredValue, usize, usize)> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    if l.attributes.flag("flatten", false)? || rank == 0 {
        return Ok((l.reshape(x, &[-1])?, 0, 1));
    }
    Ok((x, axis(l.attributes.int_or("axis", -1)?, rank)?, rank))
}

/// `cummax` and `cummin`.
pub fn extreme(l: &mut Lowering<'_>, value: &str, place: &str) -> Result<Vec<LoweredValue>> {
    let (x, axis, rank) = cumulated(l)?;
    let dtype = l.dtype_of(0)?;
    let pairs = ElementPairs::new(l, x, axis, rank)?;
    let until = pairs.until(l)?;
    // Elements after it stand for the element itself, which is the last one if it is found.
    let seen = pick(until, pairs.other, pairs.own).write(l, dtype)?;
    let found = pairs.reduce(l, value, seen)?;
    let attributes = [along(axis + 1), int("keepdims", 0), int("select_last_index", 1)];
    let at = l.apply(place, &[seen], &attributes)?;
    let first = l.list(&[i64_of(axis) + 1])?;
    let mut at = of("Min", at, of("Squeeze", pairs.place, first)).put(l)?;
    if let Some(to) = l.dtype("dtype")?.filter(|&to| to != DType::I64) {
        at = l.cast(at, to)?;
    }
    Ok(vec![found, at])
}

/// `logcumsumexp`: the logarithm of the cumulative sum of exponentials.
pub fn logcumsumexp(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.attributes.flag("exclusive", false)? || l.attributes.flag("reverse", false)? {
        return Err(cannot("logcumsumexp that is exclusive or reversed"));
    }
    let (x, axis, rank) = cumulated(l)?;
    let dtype = l.dtype_of(0)?;
    let pairs = ElementPairs::new(l, x, axis, rank)?;
    let until = pairs.until(l)?;
    let seen = pick(until, pairs.other, f64::NEG_INFINITY).write(l, dtype)?;
    Ok(vec![pairs.reduce(l, "ReduceLogSumExp", seen)?])
}

/// `mode`: the most frequent element along an axis, and its last index.
pub fn mode(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let axis = axis(l.attributes.int_or("axis", -1)?, rank)?;
    let order = ascending(l, x, axis)?;
    let pairs = ElementPairs::new(l, order[0], axis, rank)?;
    let same = l.apply("Equal", &[pairs.own, pairs.other], &[])?;
    let same = l.cast(same, DType::I64)?;
    let counts = pairs.reduce(l, "ReduceSum", same)?;
    // The smallest of the most frequent elements, and the last of its places.
    let first = l.apply("ArgMax", &[counts], &[along(axis)])?;
    let at = (first + with("GatherElements", [counts.into(), first.into()], [along(axis)]) - 1.0)
        .write(l, DType::I64)?;
    let both = order.into_iter().map(|value| l.apply("GatherElements", &[value, at], &[along(axis)]));
    let both = both.collect::<Result<Vec<_>>>()?;
    kept(l, both, axis)
}

/// `searchsorted`: the positions at which values keep a sorted sequence sorted.
pub fn searchsorted(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let sequence = l.input(0)?;
    let last = l.list(&[-1])?;
    let before_last = l.list(&[-2])?;
    // A sequence of one axis serves all values.
    let sequence =
        if l.rank_of(0)? == 1 { sequence } else { l.apply("Unsqueeze", &[sequence, before_last], &[])? };
    let values = of("Unsqueeze", l.input(1)?, last).put(l)?;
    // A NaN lies after all.
    let behind = if l.attributes.flag("right", false)? { "Greater" } else { "GreaterOrEqual" };
    let before = f("Not", of(behind, sequence, values)).write(l, DType::I64)?;
    let to = if l.attributes.flag("out_int32", false)? { DType::I32 } else { DType::I64 };
    Ok(vec![with("ReduceSum", [cast(before, to), last.into()], [int("keepdims", 0)]).put(l)?])
}

/// A vector of `count` elements, each the sum of the weights at its index (`bincount`).
fn tallied(
    l: &mut Lowering<'_>,
    count: LoweredValue,
    places: LoweredValue,
    weights: LoweredValue,
    dtype: DType,
) -> Result<LoweredValue> {
    let zero = Term::from(0.0).write(l, dtype)?;
    let none = l.apply("Expand", &[zero, count], &[])?;
    let weights = of("Expand", weights, f("Shape", places)).put(l)?;
    let adds = ("reduction", Content::Bytes("add".into()));
    l.apply("ScatterElements", &[none, places, weights], &[along(0), adds])
}

/// `bincount`: the number, or the sum of weights, of each integer.
pub fn bincount(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let places = index(l, 0)?;
    let least = if l.has(2) {
        let given = index(l, 2)?;
        l.reshape(given, &[1])?
    } else {
        let least = l.attributes.int_or("minlength", 0)?;
        l.list(&[least])?
    };
    // After the greatest index; without indices, the minimum is wanted.
    let zero = l.list(&[-1])?;
    let greatest = f("ReduceMax", with("Concat", [places.into(), zero.into()], [along(0)])).put(l)?;
    let count = of("Max", greatest + 1.0, least).write(l, DType::I64)?;
    let (weights, dtype) = match l.maybe(1) {
        given if given != LoweredValue::NONE => (given, l.dtype_of(1)?),
        _ => (l.constant(Tensor::scalar(1i64))?, DType::I64),
    };
    Ok(vec![tallied(l, count, places, weights, dtype)?])
}

/// `histogram`: the number of elements in bins of equal width.
pub fn histogram(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype, bins) = (l.input(0)?, l.dtype_of(0)?, l.attributes.int_or("bins", 100)?);
    let bins = errors::at_least_1("bins", bins)?;
    let (mut low, mut high) =
        (Term::from(l.float("min")?.unwrap_or(0.0)), Term::from(l.float("max")?.unwrap_or(0.0)));
    let x = l.reshape(x, &[-1])?;
    if l.float("min")? == l.float("max")? {
        low = l.apply("ReduceMin", &[x], &[int("keepdims", 0)])?.into();
        high = l.apply("ReduceMax", &[x], &[int("keepdims", 0)])?.into();
    }
    let (low, high) = (low.write(l, dtype)?, high.write(l, dtype)?);
    // Bins around a single number reach one to either side.
    let none = of("Equal", low, high).write(l, dtype)?;
    let (low, high) =
        (pick(none, low - 1.0, low).write(l, dtype)?, pick(none, high + 1.0, high).write(l, dtype)?);
    let inside = of("And", of("GreaterOrEqual", x, low), of("LessOrEqual", x, high)).write(l, dtype)?;
    let x = l.apply("Compress", &[x, inside], &[along(0)])?;
    let to = if dtype.is_float() { dtype } else { DType::F64 };
    let [x, low, high] = [x, low, high].map(|value| l.cast(value, to));
    let (x, low, high) = (x?, low?, high?);
    let place = ((x - low) * bins / (high - low)).write(l, to)?;
    let place = of("Min", cast(place, DType::I64), bins - 1).write(l, DType::I64)?;
    let wanted = l.list(&[bins])?;
    let dense = l.attributes.flag("density", false)?;
    let (weights, sum) = if l.has(1) {
        let weights = l.input(1)?;
        let weights = l.reshape(weights, &[-1])?;
        (l.apply("Compress", &[weights, inside], &[along(0)])?, l.dtype_of(1)?)
    } else if dense {
        (constant_like(l, 1.0)?, dtype)
    } else {
        (l.constant(Tensor::scalar(1i64))?, DType::I64)
    };
    let counts = tallied(l, wanted, place, weights, sum)?;
    if !dense {
        return Ok(vec![counts]);
    }
    let whole = l.apply("ReduceSum", &[counts], &[int("keepdims", 0)])?;
    Ok(vec![(counts / whole / ((high - low) / bins)).write(l, sum)?])
}

/// `unique_consecutive`, of the flat tensor.
pub fn unique_consecutive(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !ints(l, "axis")?.is_empty() {
        return Err(cannot("unique_consecutive along an axis"));
    }
    let x = l.input(0)?;
    let x = l.reshape(x, &[-1])?;
    let [first, one, far, back] = [0, 1, i64::MAX, -1].map(|at| l.list(&[at]));
    let (first, one, far, back) = (first?, one?, far?, back?);
    let (own, before) =
        (l.apply("Slice", &[x, one, far, first], &[])?, l.apply("Slice", &[x, first, back, first], &[])?);
    let other = f("Not", of("Equal", own, before)).write(l, DType::Bool)?;
    // The first element is new, if there is one.
    let count = size(l, x, 0)?;
    let new = with("Concat", [cast(one, DType::Bool), other.into()], [along(0)]).put(l)?;
    let new = l.apply("Slice", &[new, first, count, first], &[])?;
    let mut outputs = vec![l.apply("Compress", &[x, new], &[along(0)])?];
    let to = l.dtype("dtype")?.unwrap_or(DType::I64);
    let whole = l.cast(new, DType::I64)?;
    let order = of("CumSum", whole, terms::whole(0)).put(l)?;
    let inverse = (Term::from(order) - 1.0).write(l, DType::I64)?;
    outputs.push(l.cast(inverse, to)?);
    let found = l.apply("ReduceSum", &[whole], &[])?;
    let unit = l.constant(Tensor::scalar(1i64))?;
    let counts = tallied(l, found, inverse, unit, DType::I64)?;
    outputs.push(l.cast(counts, to)?);
    Ok(outputs)
}

/// `argmax` and `argmin`: the index of the extreme element along an axis.
pub fn arg(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let mut x = l.input(0)?;
    let flat = l.attributes.flag("flatten", false)?;
    if flat {
        x = l.reshape(x, &[-1])?;
    }
    let axis =
        if flat { 0 } else { l.attributes.int("axis")?.ok_or_else(|| not_known("axis".to_owned()))? };
    let keep = l.attributes.flag("keepdims", false)?;
    let mut y = l.apply(operator, &[x], &[int("axis", axis), int("keepdims", (keep && !flat).into())])?;
    if keep && flat {
        y = l.reshape(y, &vec![1; l.rank_of(0)?])?;
    }
    match l.dtype("dtype")? {
        Some(to) if to != DType::I64 => Ok(vec![l.cast(y, to)?]),
        _ => Ok(vec![y]),
    }
}

/// `topk`: the `k` largest or smallest elements along an axis, and their indices.
pub fn topk(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, k) = (l.input(0)?, list(l, "k", 1)?);
    let attributes = [
        int("axis", l.attributes.int_or("axis", -1)?),
        int("largest", l.attributes.flag("largest", true)?.into()),
        int("sorted", 1),
    ];
    l.apply_many("TopK", &[x, k], &attributes, 2)
}
