//! `DetectionOutput` of OpenVINO: rows of image, class, score and box, of boxes decoded from
//! priors.

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::{DType, Result, Tensor};

use crate::attributes::required;
use crate::boxes::proposals::{float, positions_of, sliced};
use crate::dialects::boxes::{
    Found, columns, expect_rank, joined, kept, listed, only_float32, only_top, suppressed,
};
use crate::dialects::cannot;
use crate::dialects::indices::size;
use crate::errors;
use crate::lowering::terms::{Term, f, ints, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, along, int, not_known};
use crate::words;

/// Boxes decoded from priors, as columns; `variances` are none if the deltas have them.
fn decoded(
    l: &mut Lowering<'_>,
    prior: [LoweredValue; 4],
    deltas: LoweredValue,
    variances: Option<[LoweredValue; 4]>,
) -> Result<[LoweredValue; 4]> {
    let mut d = columns(l, deltas)?;
    if let Some(variances) = variances {
        for (delta, variance) in d.iter_mut().zip(variances) {
            *delta = (variance * *delta).write(l, DType::F32)?;
        }
    }
    let mut corners = Vec::new();
    if words::CODE_TYPE.of(&l.attributes)? == "caffe.PriorBoxParameter.CORNER" {
        for (corner, delta) in prior.into_iter().zip(d) {
            corners.push((corner + delta).write(l, DType::F32)?);
        }
    } else {
        let mut ends = Vec::new();
        for i in 0..2 {
            let side = (prior[2 + i] - prior[i]).write(l, DType::F32)?;
            let center = d[i] * side + (prior[i] + prior[2 + i]) / 2.0;
            let center = center.write(l, DType::F32)?;
            let half = (f("Exp", d[2 + i]) * side / 2.0).write(l, DType::F32)?;
            ends.push(((center - half).write(l, DType::F32)?, (center + half).write(l, DType::F32)?));
        }
        corners.extend([ends[0].0, ends[1].0, ends[0].1, ends[1].1]);
    }
    if l.attributes.flag("clip_before_nms", false)? {
        clip(l, &mut corners)?;
    }
    Ok([corners[0], corners[1], corners[2], corners[3]])
}

/// Keeps numbers between 0 and 1.
fn clip(l: &mut Lowering<'_>, corners: &mut [LoweredValue]) -> Result<()> {
    for corner in corners {
        *corner = of("Max", of("Min", *corner, 1.0), 0.0).write(l, DType::F32)?;
    }
    Ok(())
}

/// Rows in an output of a fixed number of rows, the last of them followed by -1.
fn terminated(
    l: &mut Lowering<'_>,
    rows: LoweredValue,
    count: LoweredValue,
    width: i64,
) -> Result<LoweredValue> {
    let mut end = vec![0.0; usize_of_i64(width).unwrap_or_default()];
    end[0] = -1.0;
    let end = listed(l, &end)?;
    let end = of("Reshape", end, ints(&[1, width])).put(l)?;
    let dims = with("Concat", [count.into(), ints(&[width])], [along(0)]).put(l)?;
    let rows = with("Concat", [rows.into(), end.into(), f("ConstantOfShape", dims)], [along(0)]).put(l)?;
    let (zero, first) = (l.list(&[0])?, l.list(&[0])?);
    l.apply("Slice", &[rows, zero, count, first], &[])
}

/// The number of classes, which the shapes tell where no attribute does.
fn classes_of(l: &Lowering<'_>, width: i64) -> Result<i64> {
    let known = |input: usize, axis: usize| {
        let size = l.dims_of(input)?[axis].map(i64_of);
        size.ok_or_else(|| not_known(format!("dimension {axis} of input {input}")))
    };
    Ok(match l.attributes.int("num_classes")? {
        Some(classes) => errors::at_least_1("num_classes", classes)?,
        None => match known(2, 2)? / width {
            0 => {
                return Err(errors::value(
                    "dimension 2 of input 2",
                    known(2, 2)?,
                    format_args!("at least {width}"),
                ));
            }
            priors => known(1, 1)? / priors,
        },
    })
}

/// Scores as [image, class, prior]; with two stages, zero where the first finds no object.
fn class_scores(l: &mut Lowering<'_>, classes: i64, refines: bool) -> Result<LoweredValue> {
    let scores = l.input(1)?;
    let scores = l.reshape(scores, &[0, -1, classes])?;
    let mut scores = l.transposed(scores, &[0, 2, 1])?;
    if refines {
        let other = l.input(3)?;
        let other = l.reshape(other, &[0, 1, -1, 2])?;
        let other = sliced(l, other, 3, [1, 2])?;
        let other = l.reshape(other, &[0, 1, -1])?;
        let none = of("Less", other, l.float("objectness_score")?.unwrap_or(0.0));
        scores = pick(none, 0.0, scores).write(l, DType::F32)?;
    }
    Ok(scores)
}

/// Priors and their variances, if those are not encoded in the deltas, as columns of
/// [image, 1, prior, 1].
fn priors(
    l: &mut Lowering<'_>,
    normalized: bool,
    width: i64,
) -> Result<([LoweredValue; 4], Option<[LoweredValue; 4]>)> {
    let priors = l.input(2)?;
    let first = sliced(l, priors, 1, [0, 1])?;
    let mut first = l.reshape(first, &[0, 1, -1, width])?;
    if !normalized {
        first = sliced(l, first, 3, [1, 5])?;
    }
    let mut prior = columns(l, first)?;
    if !normalized {
        let sides = ["input_width", "input_height"].map(|name| l.attributes.int_or(name, 1));
        let [wide, high] = sides;
        let sides = [wide?, high?];
        for (i, corner) in prior.iter_mut().enumerate() {
            *corner = (*corner / sides[i % 2]).write(l, DType::F32)?;
        }
    }
    let variances = if l.attributes.flag("variance_encoded_in_target", false)? {
        None
    } else {
        let mut second = sliced(l, priors, 1, [1, 2])?;
        if !normalized {
            // Four numbers of each prior, without gaps.
            let all = size(l, priors, 2)?;
            let (zero, to) = (l.list(&[0])?, (all * 4i64 / 5i64).write(l, DType::I64)?);
            second = with("Slice", [second.into(), zero.into(), to.into(), ints(&[2])], []).put(l)?;
        }
        let second = l.reshape(second, &[0, 1, -1, 4])?;
        Some(columns(l, second)?)
    };
    Ok((prior, variances))
}

/// The scores of priors that take part in the suppression of their class, and minus infinity in
/// place of the others.
fn taking_part(
    l: &mut Lowering<'_>,
    scores: LoweredValue,
    classes: i64,
    one_label: bool,
    top: i64,
) -> Result<LoweredValue> {
    let least = l.float("confidence_threshold")?.unwrap_or(0.0);
    let background = l.attributes.int_or("background_label_id", 0)?;
    let labels = positions_of(l, classes)?;
    let labels = l.reshape(labels, &[-1, 1])?;
    let mut takes_part = of(if one_label { "GreaterOrEqual" } else { "Greater" }, scores, least);
    let hidden = l.constant(Tensor::scalar(background))?;
    takes_part = of("And", takes_part, f("Not", of("Equal", labels, hidden)));
    if one_label {
        // Each prior has its best class alone, and class 0 is none.
        let none = l.constant(Tensor::scalar(0i64))?;
        takes_part = of("And", takes_part, of("Greater", labels, none));
    }
    let mut candidates = pick(takes_part, scores, f64::NEG_INFINITY).write(l, DType::F32)?;
    if one_label {
        let best = l.apply("ArgMax", &[candidates], &[int("axis", 1)])?;
        candidates = pick(of("Equal", labels, best), candidates, f64::NEG_INFINITY).write(l, DType::F32)?;
        if top >= 0 {
            let best = of("ReduceMax", candidates, ints(&[1])).put(l)?;
            let best = only_top(l, best, 2, top)?;
            let last = f64::NEG_INFINITY;
            candidates = pick(of("Greater", best, last), candidates, last).write(l, DType::F32)?;
        }
    } else if top >= 0 {
        candidates = only_top(l, candidates, 2, top)?;
    }
    Ok(candidates)
}

/// `DetectionOutput` of OpenVINO: rows of image, class, score and box.
pub fn detection_output(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    for (input, rank) in [(0, 2), (1, 2), (2, 3), (3, 2), (4, 2)] {
        if l.has(input) {
            only_float32(l, input)?;
            expect_rank(l, input, rank)?;
        }
    }
    let (normalized, shares) =
        (l.attributes.flag("normalized", false)?, l.attributes.flag("share_location", true)?);
    let refines = l.has(3) && l.has(4);
    if refines && !normalized {
        return Err(cannot("DetectionOutput with two stages and boxes of pixels"));
    }
    let width = if normalized { 4 } else { 5 };
    let classes = classes_of(l, width)?;
    let places = if shares { 1 } else { classes };
    let images = l.input(0)?;
    let images = size(l, images, 0)?;
    let scores = class_scores(l, classes, refines)?;
    let (mut prior, variances) = priors(l, normalized, width)?;
    // Deltas as [image, class, prior, 4].
    for input in [4, 0] {
        if input == 4 && !refines {
            continue;
        }
        let deltas = l.input(input)?;
        let deltas = l.reshape(deltas, &[0, -1, places, 4])?;
        let deltas = l.transposed(deltas, &[0, 2, 1, 3])?;
        prior = decoded(l, prior, deltas, variances)?;
    }
    let one_label = l.attributes.flag("decrease_label_id", false)?;
    if one_label && l.attributes.int_or("background_label_id", 0)? != 0 {
        return Err(cannot(
            "DetectionOutput with decrease_label_id, where class 0 is none, and another background",
        ));
    }
    let top = l.attributes.int_or("top_k", -1)?;
    let candidates = taking_part(l, scores, classes, one_label, top)?;
    // Boxes with negative sides overlap none, so their sides count as zero.
    let ends = [0, 1].map(|i| of("Max", prior[i], prior[2 + i]));
    let [right, bottom] = ends;
    let spans = joined(l, [prior[0].into(), prior[1].into(), right, bottom])?;
    let mut corners = prior;
    if l.attributes.flag("clip_after_nms", false)? {
        clip(l, &mut corners)?;
    }
    let boxes = joined(l, corners.map(Term::from))?;
    // A class with boxes of its own is an image of its own.
    let count = size(l, boxes, 2)?;
    let groups = (images * places).write(l, DType::I64)?;
    let dims = with("Concat", [groups.into(), count.into(), ints(&[4])], [along(0)]).put(l)?;
    let [spans, boxes] = [spans, boxes].map(|of| l.apply("Reshape", &[of, dims], &[int("allowzero", 1)]));
    let (spans, boxes) = (spans?, boxes?);
    let dims = with("Concat", [groups.into(), ints(&[classes / places]), count.into()], [along(0)]).put(l)?;
    let candidates = l.apply("Reshape", &[candidates, dims], &[int("allowzero", 1)])?;
    let mut found = suppressed(l, spans, candidates, float(l, "nms_threshold")?)?;
    if !shares {
        let image = (found.image / classes).write(l, DType::I64)?;
        let label = (found.image - image * classes).write(l, DType::I64)?;
        found = Found { image, label, ..found };
    }
    let keep = required("keep_top_k", l.attributes.list("keep_top_k")?)?;
    let keep = *keep.first().ok_or_else(|| errors::count("elements of attribute \"keep_top_k\"", 0, 1))?;
    if keep >= 0 {
        found = kept(l, found, images, keep)?;
    }
    let group = if shares { found.image.into() } else { found.image * classes + found.label };
    let group = group.write(l, DType::I64)?;
    let boxes =
        of("GatherND", boxes, with("Concat", [group.into(), found.place.into()], [int("axis", 1)])).put(l)?;
    let label = if one_label { found.label - 1i64 } else { found.label.into() };
    let label = label.write(l, DType::I64)?;
    let (image, label) = (l.cast(found.image, DType::F32)?, l.cast(label, DType::F32)?);
    let score = l.reshape(found.score, &[-1, 1])?;
    let rows = l.apply("Concat", &[image, label, score, boxes], &[int("axis", 1)])?;
    let all = match (keep, top) {
        (1.., _) => images * keep,
        (_, 1..) => images * top.saturating_mul(classes),
        _ => images * classes * count,
    };
    let all = all.write(l, DType::I64)?;
    let rows = terminated(l, rows, all, 7)?;
    let seven = l.list(&[7])?;
    let dims = with("Concat", [ints(&[1, 1]), all.into(), seven.into()], [along(0)]).put(l)?;
    Ok(vec![l.apply("Reshape", &[rows, dims], &[int("allowzero", 1)])?])
}
