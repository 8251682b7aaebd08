//! Operators of detection that choose boxes.
//!
//! | operators | Paddle |
//! |---|---|
//! | `multiclass_nms3` | for each class, boxes that overlap no better one; of an image, at most `keep_top_k` |
//! | `matrix_nms` | scores decay with the overlap with better boxes |
//! | `nms` | boxes in the order of their scores |
//! | `generate_proposals` | boxes of anchors and their deltas, clipped to the image |
//! | `distribute_fpn_proposals` | boxes by the level of the pyramid that fits their area |

use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::dialects::boxes::{
    Choice, Decay, at_most, columns, detections, joined, limits, matrix, multiclass, only_float32,
};
use crate::dialects::cannot;
use crate::dialects::indices::{counts_of, index, owners, positions, size};
use crate::errors;
use crate::lowering::terms::{Term, f, ints, of, pick, shaped, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, int};

/// Boxes and scores of the images, of which each box has one for all classes.
fn candidates(l: &Lowering<'_>) -> Result<[LoweredValue; 2]> {
    only_float32(l, 1)?;
    if l.has(2) || l.rank_of(1)? != 3 {
        return Err(cannot("boxes of several images in one list"));
    }
    match l.dims_of(0)? {
        [_, _, Some(4)] => Ok([l.input(0)?, l.input(1)?]),
        _ => Err(cannot("boxes of other than 4 numbers")),
    }
}

/// The choice that attributes say.
fn choice(l: &Lowering<'_>, overlap: f64) -> Result<Choice> {
    Choice::of(l, l.attributes.int_or("background_label", 0)?, overlap, false)
}

/// `multiclass_nms3`: suppression by class, then the best boxes of each image.
pub fn multiclass_nms(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [boxes, scores] = candidates(l)?;
    let overlap = l.float("nms_threshold")?.unwrap_or(0.3);
    if l.float("nms_eta")?.unwrap_or(1.0) < 1.0 && overlap > 0.5 {
        return Err(cannot("multiclass_nms with an adaptive threshold"));
    }
    let choice = choice(l, overlap)?;
    let found = multiclass(l, boxes, scores, &choice)?;
    detections(l, boxes, &found, DType::I32)
}

/// `matrix_nms`: scores decay with the overlap of better boxes.
pub fn matrix_nms(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [boxes, scores] = candidates(l)?;
    let choice = choice(l, 0.0)?;
    let sigma = l.float("gaussian_sigma")?.unwrap_or(2.0);
    let decay = Decay {
        sigma: l.attributes.flag("use_gaussian", false)?.then_some(sigma),
        least: l.float("post_threshold")?.unwrap_or(0.0),
    };
    let found = matrix(l, boxes, scores, &choice, &decay)?;
    detections(l, boxes, &found, DType::I32)
}

/// `nms`: boxes come in the order of their scores.
pub fn nms(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    only_float32(l, 0)?;
    let boxes = l.input(0)?;
    let count = size(l, boxes, 0)?;
    let place = positions(l, count)?;
    let [most, overlap] = limits(l, count, l.float("threshold")?.unwrap_or(1.0))?;
    let score = (count - place).write(l, DType::I64)?;
    let score = l.cast(score, DType::F32)?;
    let score = l.reshape(score, &[1, 1, -1])?;
    let boxes = of("Unsqueeze", boxes, ints(&[0])).put(l)?;
    let found = l.apply("NonMaxSuppression", &[boxes, score, most, overlap], &[])?;
    Ok(vec![with("Gather", [found.into(), whole(2)], [int("axis", 1)]).put(l)?])
}

/// Logarithm of the largest factor by which a delta may stretch an anchor, `1000 / 16`.
const MAX_STRETCH: f64 = 4.135_166_556_742_356;

/// `generate_proposals`: the best boxes of anchors with deltas, after suppression.
pub fn generate_proposals(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    (0..5).try_for_each(|input| only_float32(l, input))?;
    let more = if l.attributes.flag("pixel_offset", true)? { 1.0 } else { 0.0 };
    let overlap = l.float("nms_thresh")?.unwrap_or(0.5);
    if overlap <= 0.0 || (l.float("eta")?.unwrap_or(1.0) < 1.0 && overlap > 0.5) {
        return Err(cannot("generate_proposals with an adaptive threshold, or none"));
    }
    // Scores and deltas of each image, one row for each anchor of each cell.
    let behind = [("perm", Content::Ints([0, 2, 3, 1].into()))];
    let [mut score, mut delta] = [l.input(0)?, l.input(1)?];
    score = l.apply("Transpose", &[score], &behind)?;
    score = l.reshape(score, &[0, -1])?;
    delta = l.apply("Transpose", &[delta], &behind)?;
    delta = l.reshape(delta, &[0, -1, 4])?;
    let all = size(l, score, 1)?;
    let most = l.attributes.int_or("pre_nms_top_n", 6000)?;
    let count = if most <= 0 { all } else { at_most(l, most, all)? };
    let sort = [int("axis", 1), int("largest", 1), int("sorted", 1)];
    let top = l.apply_many("TopK", &[score, count], &sort, 2)?;
    let last = l.list(&[-1])?;
    let delta =
        with("GatherND", [delta.into(), of("Unsqueeze", top[1], last)], [int("batch_dims", 1)]).put(l)?;
    let d = columns(l, delta)?;
    let mut of_anchors = Vec::new();
    for input in [3, 4] {
        let rows = with("Gather", [shaped(l.input(input)?, &[-1, 4]), top[1].into()], [along(0)]).put(l)?;
        of_anchors.push(columns(l, rows)?);
    }
    let (a, v) = (of_anchors[0], of_anchors[1]);
    let sizes = l.input(2)?;
    let sizes = l.apply_many("Split", &[sizes], &[int("axis", 1), int("num_outputs", 2)], 2)?;
    let least = l.float("min_size")?.unwrap_or(0.1).max(1.0);
    let (mut corners, mut fits) = (Vec::new(), Vec::new());
    for i in 0..2 {
        let image = l.reshape(sizes[1 - i], &[-1, 1, 1])?;
        let side = (a[2 + i] - a[i] + more).write(l, DType::F32)?;
        let center = v[i] * d[i] * side + a[i] + side / 2.0;
        let center = center.write(l, DType::F32)?;
        let reach = f("Exp", of("Min", v[2 + i] * d[2 + i], MAX_STRETCH)) * side / 2.0;
        let reach = reach.write(l, DType::F32)?;
        let clipped = |corner: Term| of("Max", of("Min", corner, image - more), 0.0);
        let low = clipped(center - reach).write(l, DType::F32)?;
        let high = clipped(center + reach - more).write(l, DType::F32)?;
        let side = (high - low + more).write(l, DType::F32)?;
        let mut fit = of("GreaterOrEqual", side, least);
        if more > 0.0 {
            fit = of("And", fit, of("LessOrEqual", low + side / 2.0, image));
        }
        fits.push(fit.write(l, DType::F32)?);
        corners.push([low, high]);
    }
    let boxes = joined(l, [corners[0][0], corners[1][0], corners[0][1], corners[1][1]].map(Term::from))?;
    let fits = l.apply("And", &fits, &[])?;
    // An image without any box has one of zeros, with a score of zero.
    let (one, lowest) = (l.list(&[1])?, f64::from(f32::MIN));
    let score = pick(of("Squeeze", fits, last), top[0], f64::NEG_INFINITY).write(l, DType::F32)?;
    let spare = pick(of("Greater", of("ReduceMax", score, one), lowest), f64::NEG_INFINITY, 0.0)
        .write(l, DType::F32)?;
    let score = l.apply("Concat", &[score, spare], &[int("axis", 1)])?;
    let (zero, images) = (l.constant(Tensor::vector(&[0.0f32]))?, size(l, boxes, 0)?);
    let dims = with("Concat", [images.into(), ints(&[1, 4])], [along(0)]).put(l)?;
    let boxes = with("Concat", [boxes.into(), of("Expand", zero, dims)], [int("axis", 1)]).put(l)?;
    let spans = if more > 0.0 {
        let more = l.constant(Tensor::vector(&[0.0f32, 0.0, 1.0, 1.0]))?;
        l.apply("Add", &[boxes, more], &[])?
    } else {
        boxes
    };
    let scores = l.apply("Unsqueeze", &[score, one], &[])?;
    let most = l.attributes.int_or("post_nms_top_n", 1000)?;
    let most = if most <= 0 { all } else { l.list(&[most])? };
    let [most, overlap] = limits(l, most, l.float("nms_thresh")?.unwrap_or(0.5))?;
    let lowest = l.constant(Tensor::vector(&[f32::MIN]))?;
    let found = l.apply("NonMaxSuppression", &[spans, scores, most, overlap, lowest], &[])?;
    let score = l.apply("GatherND", &[scores, found], &[])?;
    let parts = l.apply_many("Split", &[found], &[int("axis", 1), int("num_outputs", 3)], 3)?;
    let rows =
        of("GatherND", boxes, with("Concat", [parts[0].into(), parts[2].into()], [int("axis", 1)])).put(l)?;
    let image = l.reshape(parts[0], &[-1])?;
    let counts = counts_of(l, image, images)?;
    Ok(vec![rows, l.reshape(score, &[-1, 1])?, l.cast(counts, DType::I32)?])
}

/// Maximum number of levels of a pyramid.
const MAX_LEVELS: i64 = 64;

/// `distribute_fpn_proposals`: boxes by the level of the feature pyramid that fits their size.
pub fn distribute_fpn_proposals(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    only_float32(l, 0)?;
    let boxes = l.input(0)?;
    let [low, high, middle] =
        ["min_level", "max_level", "refer_level"].map(|name| l.attributes.int_or(name, 0));
    let (low, high, middle) = (low?, high?, middle?);
    if !(low..low.saturating_add(MAX_LEVELS)).contains(&high) {
        let wanted = format_args!("from {low}, at most {MAX_LEVELS} levels");
        return Err(errors::value("attribute \"max_level\"", high, wanted));
    }
    let more = if l.attributes.flag("pixel_offset", true)? { 1.0 } else { 0.0 };
    let unit = l.attributes.int_or("refer_scale", 1)?;
    let p = columns(l, boxes)?;
    let [wide, high_side] = [0, 1].map(|i| p[2 + i] - p[i]);
    let (wide, high_side) = (wide.write(l, DType::F32)?, high_side.write(l, DType::F32)?);
    let none = of("Or", of("Less", wide, 0.0), of("Less", high_side, 0.0));
    let area = pick(none, 0.0, (wide + more) * (high_side + more));
    let ratio = f("Sqrt", area) / unit + 1e-6;
    let level = f("Log", ratio) / std::f64::consts::LN_2;
    let level = f("Floor", level + middle).write(l, DType::F32)?;
    let level = l.cast(level, DType::I64)?;
    let level = l.reshape(level, &[-1])?;
    let [least, most] = [low, high].map(|level| l.constant(Tensor::scalar(level)));
    let level = of("Min", of("Max", level, least?), most?).write(l, DType::I64)?;
    let images = if l.has(1) {
        let counts = index(l, 1)?;
        Some((owners(l, counts)?, l.shape(counts)?))
    } else {
        None
    };
    let (mut rows, mut counts, mut order) = (Vec::new(), Vec::new(), Vec::new());
    for each in low..=high {
        let each = l.constant(Tensor::scalar(each))?;
        let places = f("NonZero", of("Equal", level, each)).put(l)?;
        let places = l.reshape(places, &[-1])?;
        rows.push(l.apply("Gather", &[boxes, places], &[along(0)])?);
        if let Some((owner, count)) = images {
            let owner = l.apply("Gather", &[owner, places], &[along(0)])?;
            let count = counts_of(l, owner, count)?;
            counts.push(l.cast(count, DType::I32)?);
        }
        order.push(places);
    }
    let order = l.apply("Concat", &order, &[along(0)])?;
    // The new place of each box.
    let all = l.shape(order)?;
    let place = positions(l, all)?;
    let back = l.apply("ScatterElements", &[place, order, place], &[along(0)])?;
    let back = l.cast(back, DType::I32)?;
    rows.extend(counts);
    rows.push(l.reshape(back, &[-1, 1])?);
    Ok(rows)
}
