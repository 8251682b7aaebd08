//! The rule of `Interpolate` of OpenVINO: a `Resize` to sizes, or by scales, of named axes.

use gradus_core::convert::nearest_f64;

use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::indices;
use crate::infer::{InferContext, InferError, InferResult};
use crate::normalize::Older;
use crate::words;

/// The axes of an image that are resized, and its dimensions with their pads.
fn interpolated_axes(
    cx: &mut InferContext<'_, '_>,
    input: usize,
    rank: usize,
) -> Result<Option<Vec<usize>>, InferError> {
    let named = match cx.attributes.list("axes")? {
        Some(axes) => Some(axes),
        None if cx.has(input) => match cx.known_integers(input) {
            Some(axes) => Some(axes),
            None => return Ok(None),
        },
        None => None,
    };
    match named {
        Some(axes) => Ok(Some(indices::axes(&axes, rank)?)),
        None => Ok(Some((0..rank).collect())),
    }
}

/// Shape of OpenVINO's `Interpolate`: sizes, or scaled sizes, of the named axes of the padded
/// input.
pub fn interpolate(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let rank = dims.len();
    let by_scales = words::SHAPE_BY.of(&cx.attributes)? == "scales";
    let both = cx.attributes.form().is(Older::SizesAndScales);
    let Some(axes) = interpolated_axes(cx, if both { 3 } else { 2 }, rank)? else {
        let dims = cx.any_dims("the axes are not known before the run", rank);
        return Ok(vec![Fact::shaped(dims)]);
    };
    let begins = cx.attributes.list("pads_begin")?.unwrap_or_default();
    let ends = cx.attributes.list("pads_end")?.unwrap_or_default();
    let mut all = dims.to_vec();
    for (axis, dim) in all.iter_mut().enumerate() {
        let at = |pads: &[i64]| pads.get(axis).copied().unwrap_or(0);
        *dim = cx.add(*dim, Dim::Known(at(&begins).saturating_add(at(&ends))));
    }
    if by_scales {
        let scales = cx.constant(if both { 2 } else { 1 });
        let scales = scales
            .and_then(|scales| scales.numbers().ok().map(|all| all.map(nearest_f64).collect::<Vec<_>>()));
        for (i, &axis) in axes.iter().enumerate() {
            let scale = scales.as_ref().and_then(|scales| scales.get(i).copied());
            all[axis] = scaled(cx, all[axis], scale);
        }
        return Ok(vec![Fact::shaped(all)]);
    }
    let sizes = cx.integers(1);
    for (i, &axis) in axes.iter().enumerate() {
        all[axis] = match sizes.as_ref().and_then(|sizes| sizes.get(i).copied()) {
            Some(size) => size,
            None => cx.data("the sizes are not known before the run", Bounds::SIZE),
        };
    }
    Ok(vec![Fact::shaped(all)])
}

/// Implementations of `Interpolate` add this to the product of a size and a scale before they cut.
pub const SCALED_UP: f64 = 1e-6;

/// `floor(size*scale)`, where the product is rounded, and so is only known of whole scales and
/// known dimensions.
fn scaled(cx: &mut InferContext<'_, '_>, size: Dim, scale: Option<f64>) -> Dim {
    let whole = scale.and_then(gradus_core::convert::truncated).and_then(|whole| i64::try_from(whole).ok());
    match (size, scale, whole) {
        (_, Some(scale), Some(whole)) if nearest_f64(gradus_core::Number::Int(whole.into())) == scale => {
            cx.multiply(size, Dim::Known(whole))
        }
        (Dim::Known(size), Some(scale), _) => {
            let size = nearest_f64(gradus_core::Number::Int(size.into()));
            let cut = gradus_core::convert::truncated((size * scale + SCALED_UP).floor());
            cut.and_then(|cut| i64::try_from(cut).ok())
                .map_or_else(|| cx.unknown("a scale is too large", Bounds::SIZE), Dim::Known)
        }
        (_, Some(scale), _) if scale > 0.0 && scale.recip().fract() == 0.0 => {
            let by = gradus_core::convert::truncated(scale.recip())
                .and_then(|by| i64::try_from(by).ok())
                .unwrap_or(1);
            cx.floor_divide(size, Dim::Known(by))
        }
        (_, Some(_), _) => cx.unknown("a product with a scale is rounded", Bounds::SIZE),
        (_, None, _) => cx.data("the scales are not known before the run", Bounds::SIZE),
    }
}
