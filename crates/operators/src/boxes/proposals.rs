//! Operators of OpenVINO that propose boxes.
//!
//! | operators | results |
//! |---|---|
//! | `Proposal` | rows of image and box, as many for each image |
//! | `ExperimentalDetectronDetectionOutput` | boxes, classes and scores of one image |
//! | `GenerateProposals`, `ExperimentalDetectronGenerateProposalsSingleImage` | boxes of anchors and their deltas, clipped to the image |
//! | `ExperimentalDetectronTopKROIs` | the boxes of the best probabilities |

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::{DType, Result, Shape, Tensor};

use crate::attributes::required;
use crate::boxes::multiclass::is_adaptive;
use crate::dialects::boxes::{
    Found, at_most, columns, expect_floats, expect_rank, expect_sizes, greatest, joined, kept, listed,
    only_float32, only_top, spans, suppressed,
};
use crate::dialects::cannot;
use crate::dialects::indices::{counts_of, positions, size, sorted};
use crate::dialects::openvino::positive;
use crate::errors;
use crate::lowering::terms::{Term, cast, f, ints, of, pick, shaped, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, int, not_known};

/// A float attribute that must be given.
pub(super) fn float(l: &Lowering<'_>, name: &'static str) -> Result<f64> {
    required(name, l.float(name)?)
}

/// The part of the rows of `[image, row, number]` between two rows.
pub(super) fn sliced(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    axis: i64,
    [from, to]: [i64; 2],
) -> Result<LoweredValue> {
    let (from, to, axes) = (l.list(&[from])?, l.list(&[to])?, l.list(&[axis])?);
    l.apply("Slice", &[x, from, to, axes], &[])
}

/// The integers from zero up to a known number.
pub(super) fn positions_of(l: &mut Lowering<'_>, count: i64) -> Result<LoweredValue> {
    let count = l.list(&[count])?;
    positions(l, count)
}

/// Maximum number of anchors of a cell.
const MAX_ANCHORS: usize = 4096;

/// The boxes around a cell, one for each ratio and scale.
fn anchors(l: &Lowering<'_>, exact: bool) -> Result<Vec<f32>> {
    let base = required("base_size", l.attributes.int("base_size")?)?;
    let base = gradus_core::convert::nearest_f32(gradus_core::Number::Int(base.into()));
    let [ratios, scales] = ["ratio", "scale"].map(|name| required(name, l.attributes.numbers(name)?));
    let (ratios, scales) = (ratios?, scales?);
    let count = ratios.len().saturating_mul(scales.len());
    if !(1..=MAX_ANCHORS).contains(&count) {
        let wanted = format_args!("from 1 to {MAX_ANCHORS}");
        return Err(errors::value("number of ratios times scales", count, wanted));
    }
    let narrow = |number: f64| gradus_core::convert::nearest_f32(gradus_core::Number::Float(number));
    let offset = if exact { 0.0 } else { 1.0 };
    let middle = if exact { 0.0 } else { 0.5 * (base - offset) };
    let mut anchors = Vec::with_capacity(4 * count);
    for ratio in ratios {
        let ratio = narrow(ratio);
        let mut width = (base * base / ratio).sqrt();
        let mut height = width * ratio;
        if !exact {
            width = width.round();
            height = (width * ratio).round();
        }
        for &scale in &scales {
            let scale = narrow(scale);
            let (x, y) = (0.5 * (width * scale - offset), 0.5 * (height * scale - offset));
            anchors.extend([middle - x, middle - y, middle + x, middle + y]);
        }
    }
    Ok(anchors)
}

/// The columns and rows of all cells, each for all of its anchors, and the number of rows, columns
/// and anchors.
fn cells(
    l: &mut Lowering<'_>,
    [rows, wide]: [LoweredValue; 2],
    count: i64,
    exact: bool,
) -> Result<([LoweredValue; 2], LoweredValue)> {
    let stride = positive(l, "feat_stride")?;
    let sides = with("Concat", [rows.into(), wide.into(), ints(&[count])], [along(0)]).put(l)?;
    let mut places = [wide, rows];
    for (size, dims) in places.iter_mut().zip([&[-1, 1][..], &[-1, 1, 1]]) {
        let place = positions(l, *size)?;
        let place = (cast(place, DType::F32) * stride).write(l, DType::F32)?;
        let place = of("Expand", shaped(place, dims), sides).put(l)?;
        *size = l.reshape(place, &[1, -1, 1])?;
    }
    if exact {
        // Rows are counted along the width there.
        places.swap(0, 1);
    }
    Ok((places, sides))
}

/// Corners of the boxes that are kept, as the attributes clip and scale them.
fn within_image(
    l: &mut Lowering<'_>,
    boxes: LoweredValue,
    [width, height]: [LoweredValue; 2],
) -> Result<[LoweredValue; 4]> {
    let mut corners = columns(l, boxes)?;
    for (i, corner) in corners.iter_mut().enumerate() {
        let image = if i % 2 == 0 { width } else { height };
        let mut end = Term::from(*corner);
        if l.attributes.flag("clip_after_nms", false)? {
            end = of("Max", of("Min", end, image), 0.0);
        }
        if l.attributes.flag("normalize", false)? {
            end = end / image;
        }
        *corner = end.write(l, DType::F32)?;
    }
    Ok(corners)
}

/// Boxes and their scores in `after` rows of each image; -1 ends those that are fewer.
fn rows_of_images(
    l: &mut Lowering<'_>,
    found: &Found,
    boxes: LoweredValue,
    images: LoweredValue,
    after: i64,
) -> Result<Vec<LoweredValue>> {
    let owner = l.reshape(found.image, &[-1])?;
    let counts = counts_of(l, owner, images)?;
    let starts = with("CumSum", [counts.into(), whole(0)], [int("exclusive", 1)]).put(l)?;
    let number = l.shape(owner)?;
    let rank = positions(l, number)?;
    let row = (owner * after + (rank - with("Gather", [starts.into(), owner.into()], [along(0)])))
        .write(l, DType::I64)?;
    let row = l.reshape(row, &[-1, 1])?;
    let short = of("Less", counts, after).write(l, DType::I64)?;
    let short = l.apply("NonZero", &[short], &[])?;
    let short = l.reshape(short, &[-1])?;
    let end =
        (short * after + with("Gather", [counts.into(), short.into()], [along(0)])).write(l, DType::I64)?;
    let ends = listed(l, &[-1.0, 0.0, 0.0, 0.0, 0.0])?;
    let (five, all) = (l.list(&[5])?, (images * after).write(l, DType::I64)?);
    let dims = with("Concat", [f("Shape", short), five.into()], [along(0)]).put(l)?;
    let ends = l.apply("Expand", &[ends, dims], &[])?;
    let zeros = f("ConstantOfShape", with("Concat", [all.into(), five.into()], [along(0)])).put(l)?;
    let rows = l.apply("ScatterND", &[zeros, row, boxes], &[])?;
    let rows = with("ScatterND", [rows.into(), shaped(end, &[-1, 1]), ends.into()], []).put(l)?;
    let scores = with("ScatterND", [f("ConstantOfShape", all), row.into(), found.score.into()], []).put(l)?;
    Ok(vec![rows, scores])
}

/// `Proposal` of OpenVINO: the best boxes of anchors with deltas, after suppression.
pub fn proposal(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_floats(l, &[(0, 4), (1, 4), (2, 1)])?;
    // The object detection API of TensorFlow has boxes whose sides are the distances of corners.
    let exact = l.attributes.text("framework")? == Some("tensorflow");
    let (more, anchors) = (if exact { 0.0 } else { 1.0 }, anchors(l, exact)?);
    let count = i64_of(anchors.len() / 4);
    if let Some(own) = l.dims_of(0)?[1].map(i64_of)
        && own != 2 * count
    {
        return Err(errors::value("size of axis 1 of input 0", own, format_args!("{}", 2 * count)));
    }
    let scores = l.input(0)?;
    let (images, rows, wide) = (size(l, scores, 0)?, size(l, scores, 2)?, size(l, scores, 3)?);
    let scores = sliced(l, scores, 1, [count, 2 * count])?;
    let scores = l.transposed(scores, &[0, 2, 3, 1])?;
    let scores = l.reshape(scores, &[0, -1, 1])?;
    let inner = l.list(&[count, 4])?;
    let dims = l.apply("Concat", &[images, inner, rows, wide], &[along(0)])?;
    let deltas = with("Reshape", [l.input(1)?.into(), dims.into()], [int("allowzero", 1)]).put(l)?;
    let deltas = l.transposed(deltas, &[0, 3, 4, 1, 2])?;
    let deltas = l.reshape(deltas, &[0, -1, 4])?;
    let anchors = l.constant(Tensor::vector(&anchors).reshaped(Shape::new([anchors.len() / 4, 4])?)?)?;
    let (places, sides) = cells(l, [rows, wide], count, exact)?;
    let own = columns(l, anchors)?;
    let info = l.input(2)?;
    let number = |l: &mut Lowering<'_>, at: i64| {
        let part = sliced(l, info, 0, [at, at + 1])?;
        l.reshape(part, &[])
    };
    let (height, width, by_height) = (number(l, 0)?, number(l, 1)?, number(l, 2)?);
    let by_width = match l.dims_of(2)?[0] {
        Some(4) => number(l, 3)?,
        Some(3) => by_height,
        Some(other) => return Err(errors::count("elements of input 2", other, "3 or 4")),
        None => return Err(not_known("number of elements of input 2".to_owned())),
    };
    let least = l.float("min_size")?.unwrap_or(0.0);
    let [near, far] =
        ["box_coordinate_scale", "box_size_scale"].map(|name| Ok(l.float(name)?.unwrap_or(1.0)));
    let (near, far): (f64, f64) = (near?, far?);
    let clips = l.attributes.flag("clip_before_nms", true)?;
    let d = columns(l, deltas)?;
    let (mut corners, mut fits) = (Vec::new(), Vec::new());
    for (i, (image, by)) in [(width, by_width), (height, by_height)].into_iter().enumerate() {
        let mut ends = Vec::new();
        for end in [own[i], own[2 + i]] {
            let end = of("Expand", shaped(end, &[-1]), sides).put(l)?;
            let end = l.reshape(end, &[1, -1, 1])?;
            let end = places[i] + end;
            let end = if exact { of("Max", of("Min", end, image), 0.0) } else { end };
            ends.push(end.write(l, DType::F32)?);
        }
        let side = (ends[1] - ends[0] + more).write(l, DType::F32)?;
        let center = d[i] / near * side + ends[0] + side * 0.5;
        let center = center.write(l, DType::F32)?;
        let half = (f("Exp", d[2 + i] / far) * side * 0.5).write(l, DType::F32)?;
        let (mut low, mut high) = (center - half, center + half);
        if clips {
            let last = (image - more).write(l, DType::F32)?;
            [low, high] = [low, high].map(|end| of("Max", of("Min", end, last), 0.0));
        }
        let (low, high) = (low.write(l, DType::F32)?, high.write(l, DType::F32)?);
        fits.push(of("LessOrEqual", by * least, high - low + more));
        corners.push([low, high]);
    }
    let boxes = joined(l, [corners[0][0], corners[1][0], corners[0][1], corners[1][1]].map(Term::from))?;
    let [wide_enough, high_enough] = <[_; 2]>::try_from(fits).expect("two axes");
    // Small boxes are kept, with a score of zero.
    let scores = pick(of("And", wide_enough, high_enough), scores, scores * 0.0).write(l, DType::F32)?;
    let scores = l.reshape(scores, &[0, -1])?;
    let (before, after) = (positive(l, "pre_nms_topn")?, positive(l, "post_nms_topn")?);
    let all = size(l, scores, 1)?;
    let count = at_most(l, before, all)?;
    let top = l.apply_many("TopK", &[scores, count], &greatest(1), 2)?;
    let at = of("Unsqueeze", top[1], ints(&[-1])).put(l)?;
    let boxes = l.apply("GatherND", &[boxes, at], &[int("batch_dims", 1)])?;
    let scores = of("Unsqueeze", top[0], ints(&[1])).put(l)?;
    let spans = spans(l, boxes, more)?;
    let found = suppressed(l, spans, scores, float(l, "nms_thresh")?)?;
    let found = kept(l, found, images, after)?;
    let at = l.apply("Concat", &[found.image, found.place], &[int("axis", 1)])?;
    let boxes = l.apply("GatherND", &[boxes, at], &[])?;
    let corners = within_image(l, boxes, [width, height])?;
    let image = l.cast(found.image, DType::F32)?;
    let parts: Vec<_> = [image].into_iter().chain(corners).collect();
    let boxes = l.apply("Concat", &parts, &[int("axis", 1)])?;
    rows_of_images(l, &found, boxes, images, after)
}

/// Anchors, and the deltas and scores of each, of images.
struct Anchors {
    /// Scores, deltas and boxes, each `[image, anchor, …]`; deltas and boxes have four numbers for
    /// each anchor.
    scores: LoweredValue,
    deltas: LoweredValue,
    boxes: LoweredValue,
    /// Height and width of the images, as columns of `[image, 1, 1]`.
    sides: [LoweredValue; 2],
    more: f64,
    /// True if small boxes are left out before the best ones are taken.
    filters_first: bool,
}

/// Logarithm of the largest factor by which a delta may stretch an anchor, `1000 / 16`.
const MAX_STRETCH: f64 = 4.135_166_556_742_356;

/// The best boxes of anchors and their deltas, and all boxes of which they are.
fn proposed(l: &mut Lowering<'_>, of_image: &Anchors) -> Result<(Found, LoweredValue)> {
    let Anchors { scores, deltas, boxes: anchors, sides, more, filters_first } = *of_image;
    let (least, overlap) = (float(l, "min_size")?, float(l, "nms_threshold")?);
    let (before, after) = (positive(l, "pre_nms_count")?, positive(l, "post_nms_count")?);
    let (a, d) = (columns(l, anchors)?, columns(l, deltas)?);
    let (mut corners, mut fits) = (Vec::new(), Vec::new());
    for i in 0..2 {
        let last = (sides[1 - i] - more).write(l, DType::F32)?;
        let side = (a[2 + i] - a[i] + more).write(l, DType::F32)?;
        let center = (d[i] * side + a[i] + side * 0.5).write(l, DType::F32)?;
        let half = f("Exp", of("Min", d[2 + i], MAX_STRETCH)) * side * 0.5;
        let half = half.write(l, DType::F32)?;
        let clipped = |end: Term| of("Max", of("Min", end, last), 0.0);
        let low = clipped(center - half).write(l, DType::F32)?;
        let high = clipped(center + half - more).write(l, DType::F32)?;
        fits.push(of("GreaterOrEqual", high - low + more, least));
        corners.push([low, high]);
    }
    let boxes = joined(l, [corners[0][0], corners[1][0], corners[0][1], corners[1][1]].map(Term::from))?;
    let [wide, high] = <[_; 2]>::try_from(fits).expect("two axes");
    let fits = of("And", wide, high).write(l, DType::F32)?;
    let fits = of("Squeeze", fits, ints(&[-1])).put(l)?;
    let (one, never) = (l.list(&[1])?, f64::NEG_INFINITY);
    let mut candidates = if filters_first { pick(fits, scores, never).write(l, DType::F32)? } else { scores };
    candidates = l.apply("Unsqueeze", &[candidates, one], &[])?;
    candidates = only_top(l, candidates, 2, before)?;
    if !filters_first {
        candidates = pick(of("Unsqueeze", fits, one), candidates, never).write(l, DType::F32)?;
    }
    let spans = spans(l, boxes, more)?;
    let found = suppressed(l, spans, candidates, overlap)?;
    let images = size(l, boxes, 0)?;
    Ok((kept(l, found, images, after)?, boxes))
}

/// Boxes of all images, their scores, and how many each image has.
pub fn generate_proposals(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_floats(l, &[(0, 2), (1, 4), (2, 4), (3, 4)])?;
    if is_adaptive(l, float(l, "nms_threshold")?)? {
        return Err(cannot("GenerateProposals with an adaptive threshold"));
    }
    let images = l.dims_of(0)?[0];
    for input in 2..4 {
        expect_sizes(l, input, &[images, None, None, None])?;
    }
    let [info, anchors, deltas, scores] = [l.input(0)?, l.input(1)?, l.input(2)?, l.input(3)?];
    let (scores, images) = (l.transposed(scores, &[0, 2, 3, 1])?, size(l, info, 0)?);
    let scores = l.reshape(scores, &[0, -1])?;
    let deltas = l.transposed(deltas, &[0, 2, 3, 1])?;
    let deltas = l.reshape(deltas, &[0, -1, 4])?;
    let anchors = l.reshape(anchors, &[1, -1, 4])?;
    let mut sides = [info; 2];
    for (side, at) in sides.iter_mut().zip(0..) {
        let part = sliced(l, info, 1, [at, at + 1])?;
        *side = l.reshape(part, &[-1, 1, 1])?;
    }
    let more = if l.attributes.flag("normalized", true)? { 0.0 } else { 1.0 };
    let of_image = Anchors { scores, deltas, boxes: anchors, sides, more, filters_first: false };
    let (found, boxes) = proposed(l, &of_image)?;
    let at = l.apply("Concat", &[found.image, found.place], &[int("axis", 1)])?;
    let rows = l.apply("GatherND", &[boxes, at], &[])?;
    let owner = l.reshape(found.image, &[-1])?;
    let counts = counts_of(l, owner, images)?;
    let to = l.attributes.index_dtype("roi_num_type")?.unwrap_or(DType::I64);
    Ok(vec![rows, found.score, l.cast(counts, to)?])
}

/// The best boxes of an image and their scores, padded with zeros.
pub fn proposals_of_image(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_floats(l, &[(0, 1), (1, 2), (2, 3), (3, 3)])?;
    expect_sizes(l, 0, &[Some(3)])?;
    let [info, anchors, deltas, scores] = [l.input(0)?, l.input(1)?, l.input(2)?, l.input(3)?];
    let scores = l.transposed(scores, &[1, 2, 0])?;
    let scores = l.reshape(scores, &[1, -1])?;
    let deltas = l.transposed(deltas, &[1, 2, 0])?;
    let deltas = l.reshape(deltas, &[1, -1, 4])?;
    let anchors = l.reshape(anchors, &[1, -1, 4])?;
    let mut sides = [info; 2];
    for (side, at) in sides.iter_mut().zip(0..) {
        let part = sliced(l, info, 0, [at, at + 1])?;
        *side = l.reshape(part, &[1, 1, 1])?;
    }
    let of_image = Anchors { scores, deltas, boxes: anchors, sides, more: 1.0, filters_first: true };
    let (found, boxes) = proposed(l, &of_image)?;
    let at = l.apply("Concat", &[found.image, found.place], &[int("axis", 1)])?;
    let rows = l.apply("GatherND", &[boxes, at], &[])?;
    let after = positive(l, "post_nms_count")?;
    let (count, zero) = (l.list(&[after])?, l.list(&[0])?);
    let dims = with("Concat", [count.into(), ints(&[4])], [along(0)]).put(l)?;
    let mut outputs = Vec::new();
    for (value, dims) in [(rows, dims), (found.score, count)] {
        let all = with("Concat", [value.into(), f("ConstantOfShape", dims)], [along(0)]).put(l)?;
        let first = l.apply("Slice", &[all, zero, count, zero], &[])?;
        outputs.push(l.apply("Reshape", &[first, dims], &[int("allowzero", 1)])?);
    }
    Ok(outputs)
}

/// The boxes of the best scores, in their order; all boxes if there are fewer.
pub fn top_boxes(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_sizes(l, 0, &[None, Some(4)])?;
    let count = l.dims_of(0)?[0];
    expect_sizes(l, 1, &[count])?;
    let most = required("max_rois", l.attributes.int("max_rois")?)?;
    if most < 0 {
        return Err(errors::value("attribute \"max_rois\"", most, "at least 0"));
    }
    let scores = l.input(1)?;
    let all = l.shape(scores)?;
    let count = at_most(l, most, all)?;
    let best = l.apply_many("TopK", &[scores, count], &greatest(0), 2)?;
    Ok(vec![with("Gather", [l.input(0)?.into(), best[1].into()], [along(0)]).put(l)?])
}

/// The best boxes of an image, their classes and their scores, padded with zeros.
pub fn detectron_output(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    errors::expect_count("inputs", l.count(), 4)?;
    for input in 0..4 {
        only_float32(l, input)?;
        expect_rank(l, input, 2)?;
    }
    let (classes, most) = (positive(l, "num_classes")?, positive(l, "max_detections_per_image")?);
    let boxes = l.dims_of(0)?[0];
    let all = usize_of_i64(classes);
    let sizes =
        [[boxes, Some(4)], [boxes, all.and_then(|all| all.checked_mul(4))], [boxes, all], [Some(1), Some(3)]];
    for (input, sizes) in sizes.iter().enumerate() {
        expect_sizes(l, input, sizes)?;
    }
    let weights = required("deltas_weights", l.attributes.numbers("deltas_weights")?)?;
    let &[near_x, near_y, far_x, far_y] = &weights[..] else {
        return Err(errors::count("elements of attribute \"deltas_weights\"", weights.len(), 4));
    };
    let stretch = float(l, "max_delta_log_wh")?;
    let [rois, deltas, scores] = [l.input(0)?, l.input(1)?, l.input(2)?];
    // Deltas as columns of [class, box, 1].
    let deltas = l.reshape(deltas, &[0, classes, 4])?;
    let deltas = l.transposed(deltas, &[1, 0, 2])?;
    let (r, d) = (columns(l, rois)?, columns(l, deltas)?);
    let (mut corners, mut fits) = (Vec::new(), Vec::new());
    for (i, (near, far)) in [(near_x, far_x), (near_y, far_y)].into_iter().enumerate() {
        let side = (r[2 + i] - r[i] + 1.0).write(l, DType::F32)?;
        let center = (d[i] / near * side + r[i] + side * 0.5).write(l, DType::F32)?;
        let half = f("Exp", of("Min", d[2 + i] / far, stretch)) * side * 0.5;
        let half = half.write(l, DType::F32)?;
        // OpenVINO clips boxes at zero, and not at the size of the image.
        let clipped = |end: Term| of("Max", end, 0.0);
        corners.push([clipped(center - half), clipped(center + half - 1.0)]);
        fits.push(of("Greater", r[2 + i], r[i]));
    }
    let [[left, right], [top, bottom]] = <[_; 2]>::try_from(corners).expect("two axes");
    let boxes = joined(l, [left, top, right, bottom])?;
    let [wide, high] = <[_; 2]>::try_from(fits).expect("two axes");
    let fits = of("And", wide, high).write(l, DType::F32)?;
    let takes_part = of("And", of("Greater", scores, float(l, "score_threshold")?), fits);
    // The first class is the background. Boxes of a class are an image of their own.
    let labels = positions_of(l, classes)?;
    let takes_part = of("And", takes_part, of("Greater", labels, l.constant(Tensor::scalar(0i64))?));
    let candidates = pick(takes_part, scores, f64::NEG_INFINITY).write(l, DType::F32)?;
    let candidates = l.transposed(candidates, &[1, 0])?;
    let candidates = of("Unsqueeze", candidates, ints(&[1])).put(l)?;
    let spans = spans(l, boxes, 1.0)?;
    let found = suppressed(l, spans, candidates, float(l, "nms_threshold")?)?;
    let images = l.list(&[classes])?;
    let mut found = kept(l, found, images, positive(l, "post_nms_count")?)?;
    // The best ones are taken, and in their order, only where there are too many.
    let (total, most) = (l.shape(found.score)?, l.list(&[most])?);
    let (own, best) = (positions(l, total)?, sorted(l, found.score, true)?[1]);
    let order = pick(of("Greater", total, most), best, own).write(l, DType::I64)?;
    let first = l.list(&[0])?;
    let order = l.apply("Slice", &[order, first, most, first], &[])?;
    found = found.picked(l, order)?;
    let at = l.apply("Concat", &[found.image, found.place], &[int("axis", 1)])?;
    let rows = l.apply("GatherND", &[boxes, at], &[])?;
    let label = l.reshape(found.image, &[-1])?;
    let label = l.cast(label, DType::I32)?;
    let mut outputs = Vec::new();
    for (value, rank) in [(rows, 2), (label, 1), (found.score, 1)] {
        let all = size(l, value, 0)?;
        let missing = (most - all).write(l, DType::I64)?;
        let none = l.list(if rank == 2 { &[0, 0] } else { &[0] })?;
        let parts = if rank == 2 { vec![none, missing, first] } else { vec![none, missing] };
        let pads = l.apply("Concat", &parts, &[along(0)])?;
        outputs.push(l.apply("Pad", &[value, pads], &[])?);
    }
    Ok(outputs)
}
