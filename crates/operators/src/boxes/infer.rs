//! Rules of operators on boxes: pools and samples of regions, and `NonMaxSuppression`, whose number
//! of boxes the data decide.

use gradus_core::DType;
use gradus_core::convert::{nearest_f64, truncated};

use crate::dim::{Bounds, Dim, Relation};
use crate::errors;
use crate::fact::Fact;
use crate::indexing::infer::require_up_to;
use crate::infer::{InferContext, InferError, InferResult};

/// Shape of `NonMaxSuppression`: a row of three indices for each selected box.
pub fn non_max_suppression(cx: &mut InferContext<'_, '_>) -> InferResult {
    scored_boxes(cx)?;
    (2..5).try_for_each(|input| cx.one_element(input))?;
    if let Some(overlap) = cx.constant(3).and_then(|overlap| overlap.only_number().ok()).map(nearest_f64)
        && !(0.0..=1.0).contains(&overlap)
    {
        return Err(errors::value("threshold of overlaps", overlap, "from 0 to 1").into());
    }
    let count = selected_boxes(cx);
    Ok(vec![Fact::typed(DType::I64, [count, Dim::Known(3)])])
}

/// Checks that there is a box for each score.
pub fn scored_boxes(cx: &mut InferContext<'_, '_>) -> Result<(), InferError> {
    let (boxes, scores) = (cx.known_dims(0), cx.known_dims(1));
    cx.dims_of_known_rank(0, 3)?;
    cx.dims_of_known_rank(1, 3)?;
    if let (Some(boxes), Some(scores)) = (boxes, scores) {
        cx.same_shape(0, &[scores[0], scores[2], Dim::Known(4)])?;
        cx.equal(boxes[1], scores[2], "number of boxes")?;
    }
    Ok(())
}

/// The number of boxes that `NonMaxSuppression` selects: of each class of each batch no more than
/// there are, or than the third input says, without which there are none.
pub fn selected_boxes(cx: &mut InferContext<'_, '_>) -> Dim {
    const WHAT: &str = "number of selected boxes";
    let limit = if cx.has(2) {
        cx.constant(2).and_then(|most| most.to_i64().ok()?.first().copied())
    } else {
        Some(0)
    };
    let Some(&[batch, classes, boxes]) = cx.known_dims(1).as_deref() else {
        return cx.data(WHAT, Bounds::SIZE);
    };
    let each = match limit {
        Some(limit) => cx.symbols().min(boxes, Dim::Known(limit.max(0))).unwrap_or(boxes),
        None => boxes,
    };
    let most = cx.product(&[batch, classes, each]);
    cx.at_most(WHAT, most)
}

/// Shape of `MaxRoiPool`: regions, channels and the pooled shape.
pub fn roi_pool(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, rois) = (cx.dims_of_rank(0, 4)?, cx.dims_of_rank(1, 2)?);
    cx.equal(rois[1], Dim::Known(5), "number of coordinates of a region")?;
    match cx.constant(1) {
        Some(regions) => {
            let samples = regions.numbers()?.step_by(5).map(nearest_f64).filter_map(truncated);
            if let Some(last) = samples.max().and_then(|last| i64::try_from(last).ok()) {
                cx.require(dims[0], Relation::AtLeast, Dim::Known(last.saturating_add(1)));
            }
        }
        None => cx.require_of_values("samples of regions are those of the input".to_owned()),
    }
    let shape = cx.attributes.ints("pooled_shape")?.unwrap_or(&[]);
    errors::expect_count("elements of attribute \"pooled_shape\"", shape.len(), 2)?;
    let all: Vec<_> =
        [rois[0], dims[1]].into_iter().chain(shape.iter().map(|&size| Dim::Known(size))).collect();
    Ok(vec![Fact::shaped(all)])
}

/// Shape of `RoiAlign`: regions, channels, height and width.
pub fn roi_align(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, rois) = (cx.dims_of_rank(0, 4)?, cx.dims_of_rank(1, 2)?);
    cx.equal(rois[1], Dim::Known(4), "number of coordinates of a region")?;
    cx.same_shape(2, &rois[..1])?;
    let last = cx.subtract(dims[0], Dim::ONE);
    require_up_to(cx, (2, "sample"), last, None)?;
    let height = Dim::Known(cx.attributes.int_or("output_height", 1)?);
    let width = Dim::Known(cx.attributes.int_or("output_width", 1)?);
    Ok(vec![Fact::shaped([rois[0], dims[1], height, width])])
}
