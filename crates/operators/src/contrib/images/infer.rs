//! The rule of `CropAndResize`.

use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};

/// A part of each box, of the size that an input holds.
pub fn crop_and_resize(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (image, boxes) = (cx.dims_of_rank(0, 4)?, cx.dims_of_rank(1, 2)?);
    cx.equal(boxes[1], Dim::Known(4), "number of coordinates of a box")?;
    cx.same_shape(2, &[boxes[0]])?;
    cx.same_shape(3, &[Dim::Known(2)])?;
    let sizes = cx.integers(3);
    let mut size = |at: usize| match sizes.as_ref().and_then(|sizes| sizes.get(at).copied()) {
        Some(size) => size,
        None => cx.data("the size of the crops is not known before the run", Bounds::SIZE),
    };
    let (rows, columns) = (size(0), size(1));
    Ok(vec![Fact::tensor(cx.dtype(0), [boxes[0], image[1], rows, columns])])
}
