//! Graphs of boxes and their scores, for the operators of all dialects that detect.

use std::slice::from_ref;

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::dialects::indices::{counts_of, positions, size, sorted};
use crate::errors;
use crate::lowering::terms::{Term, f, ints, of, pick, shaped, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, int};

/// The four numbers of each box, the last axis kept.
pub fn columns(l: &mut Lowering<'_>, boxes: LoweredValue) -> Result<[LoweredValue; 4]> {
    let parts = l.apply_many("Split", &[boxes], &[int("axis", -1), int("num_outputs", 4)], 4)?;
    Ok([parts[0], parts[1], parts[2], parts[3]])
}

/// Numbers of boxes side by side, in float32.
pub fn joined(l: &mut Lowering<'_>, columns: [Term; 4]) -> Result<LoweredValue> {
    let columns = columns.into_iter().map(|column| column.write(l, DType::F32));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    l.apply("Concat", &columns, &[int("axis", -1)])
}

/// Refuses floats of other types than those that operators of detection have in ONNX.
pub fn only_float32(l: &Lowering<'_>, input: usize) -> Result<()> {
    match l.dtype_of(input)? {
        DType::F32 => Ok(()),
        other => Err(errors::dtype(other, "float32")),
    }
}

/// Checks that an input has `rank` axes.
pub fn expect_rank(l: &Lowering<'_>, input: usize, rank: usize) -> Result<()> {
    errors::expect_rank(format_args!("input {input}"), l.rank_of(input)?, rank)
}

/// Checks that inputs are floats that operators of detection have in ONNX, with the number of axes
/// of each.
pub fn expect_floats(l: &Lowering<'_>, inputs: &[(usize, usize)]) -> Result<()> {
    inputs.iter().try_for_each(|&(input, rank)| {
        only_float32(l, input)?;
        expect_rank(l, input, rank)
    })
}

/// Checks the rank of an input, and each size that is given and known.
pub fn expect_sizes(l: &Lowering<'_>, input: usize, sizes: &[Option<usize>]) -> Result<()> {
    expect_rank(l, input, sizes.len())?;
    for (axis, (got, wanted)) in l.dims_of(input)?.iter().zip(sizes).enumerate() {
        if let (&Some(got), &Some(wanted)) = (got, wanted)
            && got != wanted
        {
            return Err(errors::value(format_args!("size of axis {axis} of input {input}"), got, wanted));
        }
    }
    Ok(())
}

/// Overlap of each box, along the last axis but one, with each other, along the last: their common
/// area in that of both.
pub fn overlaps(l: &mut Lowering<'_>, boxes: LoweredValue, more: f64) -> Result<LoweredValue> {
    let own = columns(l, boxes)?;
    let rank = 4;
    let perm: Vec<_> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    let swap = [("perm", Content::Ints(perm.into()))];
    let mut other = own;
    for column in &mut other {
        *column = l.apply("Transpose", &[*column], &swap)?;
    }
    let mut sides = Vec::new();
    let mut apart = Vec::new();
    for i in 0..2 {
        let low = of("Max", own[i], other[i]);
        let side = (of("Min", own[2 + i], other[2 + i]) - low).write(l, DType::F32)?;
        apart.push(of("Less", side, 0.0));
        sides.push(side + more);
    }
    let [wide, high] = <[_; 2]>::try_from(sides).expect("two axes");
    let [beside, below] = <[_; 2]>::try_from(apart).expect("two axes");
    let common = pick(of("Or", beside, below), 0.0, wide * high).write(l, DType::F32)?;
    let area = |of: [LoweredValue; 4]| (of[2] - of[0] + more) * (of[3] - of[1] + more);
    (common / (area(own) + area(other) - common)).write(l, DType::F32)
}

/// Places of at most `most` scores of each image, the best ones, in ascending order.
pub fn best(
    l: &mut Lowering<'_>,
    scores: LoweredValue,
    images: LoweredValue,
    count: LoweredValue,
    most: i64,
) -> Result<LoweredValue> {
    let by_score = sorted(l, scores, true)?[1];
    let owner = l.apply("Gather", &[images, by_score], &[along(0)])?;
    let by_image = sorted(l, owner, false)?;
    let order = l.apply("Gather", &[by_score, by_image[1]], &[along(0)])?;
    let counts = counts_of(l, images, count)?;
    let starts = with("CumSum", [counts.into(), whole(0)], [int("exclusive", 1)]).put(l)?;
    let all = l.shape(order)?;
    let ranks = positions(l, all)?;
    let most = l.constant(Tensor::scalar(most))?;
    let good = of("Less", ranks - with("Gather", [starts.into(), by_image[0].into()], [along(0)]), most)
        .write(l, DType::I64)?;
    let kept = l.apply("Compress", &[order, good], &[along(0)])?;
    Ok(sorted(l, kept, false)?[0])
}

/// How boxes are chosen among those that overlap.
#[derive(Debug)]
pub struct Choice {
    /// The class that is left out; a negative number is none.
    pub background: i64,
    /// The score that boxes must exceed; or reach, if it is `inclusive`.
    pub least: f64,
    pub inclusive: bool,
    /// The overlap with a better box that a box must not exceed.
    pub overlap: f64,
    /// Maximum number of boxes of each class that are looked at, and of each image that are kept; a
    /// negative number is no bound.
    pub top: i64,
    pub keep: i64,
    /// By how much sides are longer than the distance of corners.
    pub more: f64,
}

impl Choice {
    /// The choice that attributes say, apart from the class that is left out and the overlap.
    pub fn of(l: &Lowering<'_>, background: i64, overlap: f64, inclusive: bool) -> Result<Choice> {
        Ok(Choice {
            background,
            least: l.float("score_threshold")?.unwrap_or(0.0),
            inclusive,
            overlap,
            top: l.attributes.int_or("nms_top_k", -1)?,
            keep: l.attributes.int_or("keep_top_k", -1)?,
            more: if l.attributes.flag("normalized", true)? { 0.0 } else { 1.0 },
        })
    }
}

/// How scores decay with the overlap with better boxes.
#[derive(Debug)]
pub struct Decay {
    /// Standard deviation of the Gaussian decay; `None` for linear decay.
    pub sigma: Option<f64>,
    /// The decayed score that boxes must exceed.
    pub least: f64,
}

/// Boxes that are chosen: columns of one number for each, and the list of their scores.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub image: LoweredValue,
    pub label: LoweredValue,
    pub place: LoweredValue,
    pub score: LoweredValue,
}

impl Found {
    /// The boxes at some indices, in their order.
    pub fn picked(self, l: &mut Lowering<'_>, at: LoweredValue) -> Result<Found> {
        let mut pick = |value| l.apply("Gather", &[value, at], &[along(0)]);
        Ok(Found {
            image: pick(self.image)?,
            label: pick(self.label)?,
            place: pick(self.place)?,
            score: pick(self.score)?,
        })
    }
}

/// The lesser of a number, if it is not negative, and a size.
pub fn at_most(l: &mut Lowering<'_>, most: i64, all: LoweredValue) -> Result<LoweredValue> {
    if most < 0 {
        return Ok(all);
    }
    let most = l.list(&[most])?;
    l.apply("Min", &[most, all], &[])
}

/// The attributes of a `TopK` of the largest elements along an axis.
pub fn greatest(axis: i64) -> [(&'static str, Content); 3] {
    [int("axis", axis), int("largest", 1), int("sorted", 1)]
}

/// Boxes whose sides are the distances of their corners.
pub fn spans(l: &mut Lowering<'_>, boxes: LoweredValue, more: f64) -> Result<LoweredValue> {
    if more == 0.0 {
        return Ok(boxes);
    }
    (boxes + listed(l, &[0.0, 0.0, more, more])?).write(l, DType::F32)
}

/// A list of float32.
pub fn listed(l: &mut Lowering<'_>, numbers: &[f64]) -> Result<LoweredValue> {
    let numbers = l.constant(Tensor::vector(numbers))?;
    l.cast(numbers, DType::F32)
}

/// The scores of all classes; those that do not take part are negative infinity.
fn candidates(l: &mut Lowering<'_>, scores: LoweredValue, choice: &Choice) -> Result<LoweredValue> {
    let passes = if choice.inclusive { "GreaterOrEqual" } else { "Greater" };
    let mut passes = of(passes, scores, choice.least);
    if choice.background >= 0 {
        let count = size(l, scores, 1)?;
        let labels = positions(l, count)?;
        let labels = l.reshape(labels, &[-1, 1])?;
        let background = l.constant(Tensor::scalar(choice.background))?;
        passes = of("And", passes, f("Not", of("Equal", labels, background)));
    }
    pick(passes, scores, f64::NEG_INFINITY).write(l, DType::F32)
}

/// The scores of `[image, class, box]`, of which only the largest along an axis are not negative
/// infinity.
pub fn only_top(l: &mut Lowering<'_>, scores: LoweredValue, axis: usize, most: i64) -> Result<LoweredValue> {
    let (all, along) = (size(l, scores, axis)?, i64_of(axis));
    let count = at_most(l, most, all)?;
    let top = l.apply_many("TopK", &[scores, count], &greatest(along), 2)?;
    let none = listed(l, &[f64::NEG_INFINITY])?;
    let none = of("Expand", none, f("Shape", scores)).put(l)?;
    l.apply("ScatterElements", &[none, top[1], top[0]], &[int("axis", along)])
}

/// The maximum number of boxes and the threshold of overlaps for ONNX, whose thresholds are from 0
/// to 1. No overlap exceeds 1, and all exceed a negative number: the best box leaves out the others.
pub fn limits(l: &mut Lowering<'_>, most: LoweredValue, overlap: f64) -> Result<[LoweredValue; 2]> {
    let most = if overlap < 0.0 { of("Min", most, 1i64).write(l, DType::I64)? } else { most };
    Ok([most, listed(l, &[overlap.clamp(0.0, 1.0)])?])
}

/// The boxes of each image and class that overlap no better one, in this order and that of their
/// scores, which are those of `[image, class, box]`; negative infinity takes no part.
pub fn suppressed(
    l: &mut Lowering<'_>,
    spans: LoweredValue,
    scores: LoweredValue,
    overlap: f64,
) -> Result<Found> {
    let all = size(l, scores, 2)?;
    let [all, overlap] = limits(l, all, overlap)?;
    let least = l.constant(Tensor::vector(&[f32::MIN]))?;
    let found = l.apply("NonMaxSuppression", &[spans, scores, all, overlap, least], &[])?;
    let score = l.apply("GatherND", &[scores, found], &[])?;
    let parts = l.apply_many("Split", &[found], &[int("axis", 1), int("num_outputs", 3)], 3)?;
    Ok(Found { image: parts[0], label: parts[1], place: parts[2], score })
}

/// The boxes of the best scores of each image, at most `most`; `images` is a list of one number.
pub fn kept(l: &mut Lowering<'_>, found: Found, images: LoweredValue, most: i64) -> Result<Found> {
    let owners = l.reshape(found.image, &[-1])?;
    let kept = best(l, found.score, owners, images, most)?;
    found.picked(l, kept)
}

/// For each class, the boxes that overlap no better one.
pub fn multiclass(
    l: &mut Lowering<'_>,
    boxes: LoweredValue,
    scores: LoweredValue,
    choice: &Choice,
) -> Result<Found> {
    let mut candidates = candidates(l, scores, choice)?;
    if choice.top >= 0 {
        candidates = only_top(l, candidates, 2, choice.top)?;
    }
    let spans = spans(l, boxes, choice.more)?;
    let found = suppressed(l, spans, candidates, choice.overlap)?;
    if choice.keep < 0 {
        return Ok(found);
    }
    let images = size(l, boxes, 0)?;
    kept(l, found, images, choice.keep)
}

/// For each class, boxes whose scores decay with the overlap with better ones; of each image in the
/// order of the decayed scores.
pub fn matrix(
    l: &mut Lowering<'_>,
    boxes: LoweredValue,
    scores: LoweredValue,
    choice: &Choice,
    by: &Decay,
) -> Result<Found> {
    let never = f64::NEG_INFINITY;
    let candidates = candidates(l, scores, choice)?;
    let all = size(l, scores, 2)?;
    let count = at_most(l, choice.top, all)?;
    let top = l.apply_many("TopK", &[candidates, count], &greatest(2), 2)?;
    let third = l.list(&[3])?;
    let at = of("Unsqueeze", top[1], ints(&[-1])).put(l)?;
    let tops = l.apply("GatherND", &[boxes, at], &[int("batch_dims", 1)])?;
    let overlap = overlaps(l, tops, choice.more)?;
    // Only better boxes count.
    let place = positions(l, count)?;
    let better = of("Less", place, shaped(place, &[-1, 1])).put(l)?;
    let overlap = pick(better, overlap, 0.0).write(l, DType::F32)?;
    let greatest_of = l.apply("ReduceMax", &[overlap, third], &[])?;
    let swap = [("perm", Content::Ints([0, 1, 3, 2].into()))];
    let greatest_of = l.apply("Transpose", &[greatest_of], &swap)?;
    let decay = if let Some(sigma) = by.sigma {
        f("Exp", (greatest_of * greatest_of - overlap * overlap) * sigma)
    } else {
        let whole = of("GreaterOrEqual", greatest_of, 1.0);
        pick(whole, 1.0, (Term::from(1.0) - overlap) / (Term::from(1.0) - greatest_of))
    };
    let decay = of("Min", pick(better, decay, 1.0), 1.0).write(l, DType::F32)?;
    let score = (top[0] * with("ReduceMin", [decay.into(), third.into()], [int("keepdims", 0)]))
        .write(l, DType::F32)?;
    let good = of("And", of("Greater", top[0], never), of("Greater", score, by.least));
    let score = pick(good, score, never).write(l, DType::F32)?;
    let score = l.reshape(score, &[0, -1])?;
    let all = size(l, score, 1)?;
    let keep = at_most(l, choice.keep, all)?;
    let kept = l.apply_many("TopK", &[score, keep], &greatest(1), 2)?;
    let there = of("Greater", kept[0], never).write(l, DType::F32)?;
    let rows = with("Transpose", [f("NonZero", there)], [("perm", Content::Ints([1, 0].into()))]).put(l)?;
    let [score, slot] = [kept[0], kept[1]].map(|of| l.apply("GatherND", &[of, rows], &[]));
    let (score, slot) = (score?, slot?);
    let slot = l.reshape(slot, &[-1, 1])?;
    let label = (slot / count).write(l, DType::I64)?;
    let parts = l.apply_many("Split", &[rows], &[int("axis", 1), int("num_outputs", 2)], 2)?;
    let at = l.apply("Concat", &[parts[0], slot], &[int("axis", 1)])?;
    let place = of("GatherND", shaped(top[1], &[0, -1]), at).put(l)?;
    let place = l.reshape(place, &[-1, 1])?;
    Ok(Found { image: parts[0], label, place, score })
}

/// Rows of label, score and box; the index of each box among those of all images; and the number of
/// rows of each image.
pub fn detections(
    l: &mut Lowering<'_>,
    boxes: LoweredValue,
    found: &Found,
    to: DType,
) -> Result<Vec<LoweredValue>> {
    let Found { image, label, place, score } = *found;
    let (last, all, images) = (int("axis", 1), size(l, boxes, 1)?, size(l, boxes, 0)?);
    let at = l.apply("Concat", &[image, place], from_ref(&last))?;
    let (label, score) = (l.cast(label, DType::F32)?, l.reshape(score, &[-1, 1])?);
    let rows = with("Concat", [label.into(), score.into(), of("GatherND", boxes, at)], [last]).put(l)?;
    let index = (image * all + place).write(l, DType::I64)?;
    let image = l.reshape(image, &[-1])?;
    let counts = counts_of(l, image, images)?;
    Ok(vec![rows, l.cast(index, to)?, l.cast(counts, to)?])
}
