//! Suppression of boxes of many classes at once: `MulticlassNms` and `MatrixNms` of OpenVINO, whose
//! results are rows of class, score and box.

use gradus_core::{DType, Result, Tensor};

use crate::dialects::boxes::{
    Choice, Decay, Found, detections, expect_floats, expect_rank, kept, matrix, multiclass, only_top, spans,
    suppressed,
};
use crate::dialects::cannot;
use crate::dialects::indices::{counts_of, index, owners, positions, size, sorted};
use crate::lowering::terms::{f, ints, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, along, int};
use crate::{errors, words};

/// The choice that attributes say.
fn choice(l: &Lowering<'_>, inclusive: bool) -> Result<Choice> {
    let overlap = l.float("iou_threshold")?.unwrap_or(0.0);
    Choice::of(l, l.attributes.int_or("background_class", -1)?, overlap, inclusive)
}

/// Boxes in the order that attributes say; `by_class` if they are in that of classes already.
fn arranged(l: &mut Lowering<'_>, mut found: Found, by_class: bool) -> Result<Found> {
    let across = l.attributes.flag("sort_result_across_batch", false)?;
    // Files have another name for the attribute, and for one of its values, than the text.
    let given = words::SORT_RESULT.of(&l.attributes)?;
    let by_label = match words::SORT_BOXES.of_or(&l.attributes, given)? {
        "none" => return Ok(found),
        by => by != "score",
    };
    // The last order counts most: each keeps that of equal elements.
    if !by_label || !by_class {
        let order = sorted(l, found.score, true)?[1];
        found = found.picked(l, order)?;
    }
    if !across || by_label {
        let image = l.reshape(found.image, &[-1])?;
        let order = sorted(l, image, false)?[1];
        found = found.picked(l, order)?;
    }
    if by_label {
        let label = l.reshape(found.label, &[-1])?;
        let order = sorted(l, label, false)?[1];
        found = found.picked(l, order)?;
        if !across {
            let image = l.reshape(found.image, &[-1])?;
            let order = sorted(l, image, false)?[1];
            found = found.picked(l, order)?;
        }
    }
    Ok(found)
}

/// Boxes and scores of images.
fn candidates(l: &Lowering<'_>) -> Result<[LoweredValue; 2]> {
    expect_floats(l, &[(0, 3), (1, 3)])?;
    Ok([l.input(0)?, l.input(1)?])
}

/// Returns true if suppression lowers a threshold of overlaps, by the attribute `nms_eta`.
pub(super) fn is_adaptive(l: &Lowering<'_>, threshold: f64) -> Result<bool> {
    let eta = l.float("nms_eta")?.unwrap_or(1.0);
    if !(0.0..=1.0).contains(&eta) {
        return Err(errors::value("attribute \"nms_eta\"", eta, "0 to 1"));
    }
    Ok(eta < 1.0 && threshold > 0.5)
}

/// `MulticlassNms` of OpenVINO: suppression by class, then the best boxes of each image.
pub fn multiclass_nms(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let choice = choice(l, true)?;
    if is_adaptive(l, choice.overlap)? {
        return Err(cannot("MulticlassNms with an adaptive threshold"));
    }
    if l.has(2) {
        return of_one_list(l, &choice);
    }
    let [boxes, scores] = candidates(l)?;
    let found = multiclass(l, boxes, scores, &choice)?;
    let found = arranged(l, found, true)?;
    let to = l.attributes.index_dtype("output_type")?.unwrap_or(DType::I64);
    detections(l, boxes, &found, to)
}

/// `MulticlassNms` of boxes of several images in one list, `[class, box, 4]`, with scores
/// `[class, box]`: the third input says how many are of each image. Each class of each image is an
/// image of one class here, in which only its own boxes take part.
fn of_one_list(l: &mut Lowering<'_>, choice: &Choice) -> Result<Vec<LoweredValue>> {
    expect_floats(l, &[(0, 3), (1, 2)])?;
    expect_rank(l, 2, 1)?;
    let (boxes, scores, counts) = (l.input(0)?, l.input(1)?, index(l, 2)?);
    let (images, classes) = (size(l, counts, 0)?, size(l, scores, 0)?);
    let (owners, every) = (owners(l, counts)?, positions(l, images)?);
    let every = l.reshape(every, &[-1, 1, 1])?;
    let mut takes_part = of("And", of("Equal", owners, every), of("GreaterOrEqual", scores, choice.least));
    if choice.background >= 0 {
        let labels = positions(l, classes)?;
        let labels = l.reshape(labels, &[-1, 1])?;
        let background = l.constant(Tensor::scalar(choice.background))?;
        takes_part = of("And", takes_part, f("Not", of("Equal", labels, background)));
    }
    let mut candidates = pick(takes_part, scores, f64::NEG_INFINITY).write(l, DType::F32)?;
    if choice.top >= 0 {
        candidates = only_top(l, candidates, 2, choice.top)?;
    }
    // The boxes again for each image.
    let four = spans(l, boxes, choice.more)?;
    let all = with("Concat", [images.into(), f("Shape", boxes)], [along(0)]).put(l)?;
    let (one, each) = (l.list(&[-1])?, size(l, scores, 1)?);
    let dims = with("Concat", [one.into(), each.into(), ints(&[4])], [along(0)]).put(l)?;
    let repeated = of("Reshape", of("Expand", four, all), dims).put(l)?;
    let dims = with("Concat", [one.into(), ints(&[1]), each.into()], [along(0)]).put(l)?;
    let candidates = l.apply("Reshape", &[candidates, dims], &[])?;
    let found = suppressed(l, repeated, candidates, choice.overlap)?;
    let image = (found.image / classes).write(l, DType::I64)?;
    let label = (found.image - image * classes).write(l, DType::I64)?;
    let mut found = Found { image, label, ..found };
    if choice.keep >= 0 {
        found = kept(l, found, images, choice.keep)?;
    }
    let found = arranged(l, found, true)?;
    let to = l.attributes.index_dtype("output_type")?.unwrap_or(DType::I64);
    let at = l.apply("Concat", &[found.label, found.place], &[int("axis", 1)])?;
    let (label, score) = (l.cast(found.label, DType::F32)?, l.reshape(found.score, &[-1, 1])?);
    let rows =
        with("Concat", [label.into(), score.into(), of("GatherND", boxes, at)], [int("axis", 1)]).put(l)?;
    let places = (found.place * classes + found.label).write(l, DType::I64)?;
    let image = l.reshape(found.image, &[-1])?;
    let counts = counts_of(l, image, images)?;
    Ok(vec![rows, l.cast(places, to)?, l.cast(counts, to)?])
}

/// `MatrixNms` of OpenVINO: scores decay with the overlap of better boxes.
pub fn matrix_nms(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.has(2) {
        return Err(cannot("boxes of several images in one list"));
    }
    let ([boxes, scores], choice) = (candidates(l)?, choice(l, false)?);
    let sigma = l.float("gaussian_sigma")?.unwrap_or(2.0);
    let gaussian = words::DECAY.of(&l.attributes)? == "gaussian";
    let decay = Decay { sigma: gaussian.then_some(sigma), least: l.float("post_threshold")?.unwrap_or(0.0) };
    let found = matrix(l, boxes, scores, &choice, &decay)?;
    let found = arranged(l, found, false)?;
    let to = l.attributes.index_dtype("output_type")?.unwrap_or(DType::I64);
    detections(l, boxes, &found, to)
}
