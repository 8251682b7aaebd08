//! Rules of OpenVINO's operators on boxes: features of regions, and suppression.

use gradus_core::DType;

use crate::boxes;
use crate::dim::Dim;
use crate::fact::Fact;
use crate::infer::{InferContext, InferError, InferResult};

/// Shapes of OpenVINO's `NonMaxSuppression`: indices and scores of selected boxes, and their
/// number.
pub fn non_max_suppression(cx: &mut InferContext<'_, '_>) -> InferResult {
    boxes::infer::scored_boxes(cx)?;
    (2..6).try_for_each(|input| cx.one_element(input))?;
    let count = boxes::infer::selected_boxes(cx);
    selected_boxes(cx, count)
}

/// Rows of `count` selected boxes, their scores, and their number.
pub fn selected_boxes(cx: &InferContext<'_, '_>, count: Dim) -> InferResult {
    let indices = cx.attributes.index_dtype("output_type")?.or(Some(DType::I64));
    let chosen = [count, Dim::Known(3)];
    Ok(vec![
        Fact::tensor(indices, chosen),
        Fact::typed(DType::F32, chosen),
        Fact::tensor(indices, [Dim::ONE]),
    ])
}

/// Boxes, channels and the dimensions that attributes name.
pub fn roi(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, boxes) = (cx.dims_of_rank(0, 4)?, cx.dims_of_rank(1, 2)?);
    let own =
        [cx.attributes.int("pooled_h")?, cx.attributes.int("pooled_w")?].map(|size| size.map(Dim::Known));
    let listed = cx.attributes.list("output_roi")?.or(cx.attributes.list("output_size")?).unwrap_or_default();
    let sizes = match (own, &listed[..]) {
        ([Some(height), Some(width)], _) => [height, width],
        (_, &[height, width]) => [Dim::Known(height), Dim::Known(width)],
        _ => return Err(InferError::unknown("the output size is missing from the attributes")),
    };
    Ok(vec![Fact::shaped([boxes[0], dims[1], sizes[0], sizes[1]])])
}

/// Rows of selected boxes and their scores.
pub fn rotated(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (boxes, scores) = (cx.dims_of_rank(0, 3)?, cx.dims_of_rank(1, 3)?);
    cx.equal(boxes[0], scores[0], "number of images")?;
    cx.equal(boxes[1], scores[2], "number of boxes")?;
    cx.equal(boxes[2], Dim::Known(5), "numbers of a box")?;
    for input in 2..5 {
        cx.one_element(input)?;
    }
    let each = match cx.integer(2) {
        Some(most) => {
            let most = cx.max(most, Dim::ZERO);
            cx.min(most, boxes[1])
        }
        None => boxes[1],
    };
    let all = cx.product(&[scores[0], scores[1], each]);
    let count = cx.at_most("number of selected boxes", all);
    selected_boxes(cx, count)
}
