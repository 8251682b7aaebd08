//! Evaluation of `CropAndResize`.

use gradus_core::convert::{float_of, product, truncated, usize_of_i64};
use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::contrib::inputs::shaped;
use crate::errors;
use crate::op::EvalContext;
use crate::words;

/// `CropAndResize`: parts of images, read at corners and evenly between.
pub fn crop_and_resize(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let nearest = words::CROP_MODE.of(attributes)? == "nearest";
    let outside = f64::from(attributes.float("extrapolation_value")?.unwrap_or(0.0));
    let dims = cx.tensor(0)?.shape().dims();
    let (_, shape) = cx.output(0)?;
    let (&[images, channels, height, width], &[count, _, rows, columns]) = (dims, shape.dims()) else {
        return Err(errors::rank("input 0", dims.len(), 4));
    };
    let (numbers, boxes) = (cx.floats(0)?, shaped(cx, 1, &[count, 4])?);
    let batches = cx.integers(2)?;
    errors::expect_count("batch indices", batches.len(), count)?;
    cx.run.touch(product(shape.len(), 4))?;
    // Positions along an axis; nothing of those that lie outside.
    let positions = |first: f64, last: f64, size: usize, count: usize| {
        let most = float_of(size) - 1.0;
        let position = move |at: usize| {
            let place = if count > 1 {
                first * most + float_of(at) * ((last - first) * most / (float_of(count) - 1.0))
            } else {
                0.5 * (first + last) * most
            };
            (0.0..=most).contains(&place).then_some(place)
        };
        (0..count).map(position).collect::<Vec<_>>()
    };
    let mut all = Vec::with_capacity(shape.len());
    for (corners, &batch) in boxes.chunks(4).zip(&batches) {
        let image = usize_of_i64(batch).filter(|&image| image < images).ok_or_else(|| {
            errors::value("batch index", batch, format_args!("0 to {}", images.saturating_sub(1)))
        })?;
        let down = positions(corners[0], corners[2], height, rows);
        let across = positions(corners[1], corners[3], width, columns);
        for channel in 0..channels {
            let own = &numbers[(image * channels + channel) * height * width..][..height * width];
            let read = |y: f64, x: f64| own[index_of(y) * width + index_of(x)];
            for y in &down {
                for x in &across {
                    all.push(match (y, x) {
                        (Some(y), Some(x)) if nearest => read(y.round(), x.round()),
                        (Some(y), Some(x)) => {
                            let (top, left) = (y.floor(), x.floor());
                            let row = |y: f64| {
                                let (a, b) = (read(y, left), read(y, x.ceil()));
                                a + (b - a) * (x - left)
                            };
                            let (a, b) = (row(top), row(y.ceil()));
                            a + (b - a) * (y - top)
                        }
                        _ => outside,
                    });
                }
            }
        }
    }
    Ok(vec![cx.rounded(0, &all)?])
}

/// The index that a number of an axis is.
fn index_of(place: f64) -> usize {
    truncated(place).and_then(|place| usize::try_from(place).ok()).unwrap_or(0)
}
