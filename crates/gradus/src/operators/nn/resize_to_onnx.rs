//! `Interpolate` of OpenVINO as `Resize` of ONNX.
//!
//! | mode | becomes |
//! |---|---|
//! | `nearest` | a `Resize`; with `simple`, one of the axes that grow, rounded down, and one of the others, rounded up |
//! | `linear_onnx`, `cubic` | a `Resize`; `antialias` has no effect |
//! | `linear` | a `Resize`; with `antialias` and an axis that shrinks, one that smooths, or sums by constant weights if another grows |
//! | `bilinear_pillow`, `bicubic_pillow` | a `Resize` that smooths; of integers, one for each axis |
//!
//! Sources: OpenVINO 2026.4, Interpolate-4 and -11.

use std::cmp::Ordering;

use gradus_core::convert::{i64_of, nearest_f64, product, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::attributes::required;
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_onnx::{flag, int, word};
use crate::conversion::writer::{NONE, NewValue};
use crate::normalize::Older;
use crate::operators::indices::axes as axes_of;
use crate::operators::nn::openvino::SCALED_UP;
use crate::operators::nn::resize_eval::Resizing;
use crate::operators::nn::windows::float_of;
use crate::operators::nn::windows_to_onnx::resize_all_axes;
use crate::operators::nn::windows_to_openvino::summed;

pub(crate) fn interpolate(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let refused = |what: &str| Err(cannot(format!("ONNX has no equivalent of Interpolate with {what}")));
    let both = cx.attributes.form().is(Older::SizesAndScales);
    let own = required("mode", cx.attributes.text("mode")?)?;
    let (mode, pillow) = match own {
        "nearest" => ("nearest", false),
        "linear_onnx" | "linear" => ("linear", false),
        "cubic" => ("cubic", false),
        "bilinear_pillow" => ("linear", true),
        "bicubic_pillow" => ("cubic", true),
        mode => return refused(&format!("mode={mode}")),
    };
    // OpenVINO reads the flag in this mode alone.
    let antialias = own == "linear" && cx.attributes.flag("antialias", false)?;
    if mode != "nearest" {
        cx.rounding(caveats::ORDER);
    }
    let rank = cx.rank(0)?;
    let axes_at = if both { 3 } else { 2 };
    let axes = if cx.has(axes_at) { axes_of(&cx.integers(axes_at)?, rank)? } else { (0..rank).collect() };
    let x = padded(cx, rank)?;
    let by_scales = cx.attributes.text("shape_calculation_mode")? == Some("scales");
    let scales_at = if both { 2 } else { 1 };
    let nearest = cx.attributes.text("nearest_mode")?.filter(|_| mode == "nearest");
    let (nearest, simple) = (nearest.unwrap_or("round_prefer_floor"), nearest == Some("simple"));
    // OpenVINO smooths if an axis shrinks, through narrower windows where others grow, and rounds
    // otherwise there.
    let growth = growths(cx, &axes, if by_scales { Err(scales_at) } else { Ok(1) })?;
    if growth.is_none() && (antialias || simple) {
        let what = if antialias { "antialias=true" } else { "nearest_mode=simple" };
        return refused(&format!("{what}, unless sizes or scales tell which axes grow"));
    }
    let growth = growth.unwrap_or_default();
    let smooth = antialias && growth.contains(&Ordering::Less);
    if smooth && rank < 5 {
        cx.edges("OpenVINO's CPU plugin smooths images of rank 5 only");
    }
    let coordinates = cx.attributes.text("coordinate_transformation_mode")?.filter(|_| !pillow);
    let mut attributes =
        vec![word("mode", mode), word("coordinate_transformation_mode", coordinates.unwrap_or("half_pixel"))];
    if smooth || pillow {
        attributes.extend([flag("antialias", true), flag("exclude_outside", true)]);
    }
    // Pillow's coefficient is one number; the attribute changes nothing.
    let coefficient = if pillow { Some(-0.5) } else { cx.attributes.float("cube_coeff")? };
    if let Some(coefficient) = coefficient.filter(|_| mode == "cubic") {
        attributes.push(("cubic_coeff_a", Content::Float(coefficient)));
    }
    let dtype = cx.dtype(0)?;
    let rounds = mode != "nearest" && !dtype.is_float();
    let mut x = if rounds { cx.cast(x, DType::F32)? } else { x };
    if smooth && growth.contains(&Ordering::Greater) {
        x = narrowed(cx, x, &axes, scales_at)?;
        let x = if rounds { rounded(cx, x, dtype, mode)? } else { x };
        return Ok(vec![if rounds { cx.cast(x, dtype)? } else { x }]);
    }
    let sizes = if by_scales {
        let scales = cx.input(scales_at)?;
        cx.cast(scales, DType::F32)?
    } else {
        cx.whole_list(1)?
    };
    // Pillow scales by sizes alone.
    let (sizes, by_scales) =
        if by_scales && pillow { (scaled(cx, x, sizes, &axes)?, false) } else { (sizes, by_scales) };
    // Pillow rounds integers after each axis, the last one first.
    let passes: Vec<(Vec<usize>, &str)> = if rounds && pillow {
        (0..axes.len()).rev().map(|at| (vec![at], nearest)).collect()
    } else if simple {
        let (shrunk, others): (Vec<_>, Vec<_>) = (0..axes.len()).partition(|&at| growth[at].is_lt());
        [(others, "floor"), (shrunk, "ceil")].into_iter().filter(|(pass, _)| !pass.is_empty()).collect()
    } else {
        vec![((0..axes.len()).collect(), nearest)]
    };
    for (pass, nearest) in passes {
        let sizes = if pass.len() == axes.len() {
            sizes
        } else {
            let places = cx.list(&pass.iter().copied().map(i64_of).collect::<Vec<_>>());
            cx.put("Gather", &[sizes, places], &[int("axis", 0)])?
        };
        let mut inputs = if by_scales { [x, NONE, sizes, NONE] } else { [x, NONE, NONE, sizes] };
        let mut attributes = attributes.clone();
        attributes.push(word("nearest_mode", nearest));
        attributes.push(("axes", Content::Ints(pass.iter().map(|&at| i64_of(axes[at])).collect())));
        resize_all_axes(cx, &mut inputs, &mut attributes)?;
        x = cx.put("Resize", &inputs, &attributes)?;
        if rounds {
            x = rounded(cx, x, dtype, mode)?;
        }
    }
    Ok(vec![if rounds { cx.cast(x, dtype)? } else { x }])
}

/// Numbers of float32 rounded to those that an integer type has.
fn rounded(cx: &mut ConvertContext<'_, '_>, x: NewValue, dtype: DType, mode: &str) -> Result<NewValue> {
    let x = cx.put("Round", &[x], &[])?;
    let bounds = match dtype {
        DType::U8 if mode == "cubic" => [0.0, 255.0],
        DType::I8 if mode == "cubic" => [-128.0, 127.0],
        _ => return Ok(x),
    };
    let [least, most] = bounds.map(|bound| cx.number(bound, DType::F32));
    cx.put("Clip", &[x, least?, most?], &[])
}

/// Smoothed sums along axes of which some grow: windows are narrower there than those of ONNX, so
/// their weights are constants.
fn narrowed(
    cx: &mut ConvertContext<'_, '_>,
    x: NewValue,
    axes: &[usize],
    scales_at: usize,
) -> Result<NewValue> {
    let unknown = || cannot("ONNX has no equivalent of Interpolate with antialias=true where an axis grows");
    let own = padded_sizes(cx)?.ok_or_else(unknown)?;
    let output = cx.node.outputs.first().copied().flatten().ok_or_else(unknown)?;
    let result = cx.scope.fact(output).as_tensor().and_then(|fact| fact.dims.clone()).ok_or_else(unknown)?;
    let by_scales = cx.attributes.text("shape_calculation_mode")? == Some("scales");
    let scales = if by_scales { cx.known(scales_at)? } else { None };
    let scales: Option<Vec<_>> =
        scales.map(|scales| Ok(scales.numbers()?.map(nearest_f64).collect())).transpose()?;
    let (mut dims, mut wanted, mut factors) = (Vec::new(), Vec::new(), Vec::new());
    for (axis, (own, after)) in own.into_iter().zip(result.iter()).enumerate() {
        let place = axes.iter().position(|&named| named == axis);
        let sizes = place.map(|_| Some([own.and_then(usize_of_i64)?, usize_of_i64(after.known()?)?]));
        // Other axes count as one element.
        let [before, after] = sizes.unwrap_or(Some([1, 1])).ok_or_else(unknown)?;
        dims.push(before);
        wanted.push(after);
        factors.push(place.and_then(|place| scales.as_ref()?.get(place).copied()).unwrap_or(1.0));
    }
    let resizing = Resizing {
        operator: "Interpolate",
        dims: &dims,
        wanted: &wanted,
        sizes: scales.is_none().then(|| wanted.iter().map(|&size| float_of(size)).collect()),
        scales: scales.map(|_| factors),
        region: None,
    };
    let limits = cx.conversion.limits;
    let all = resizing.axes(&cx.attributes, |size, wanted| {
        limits.allow_bytes(0, product(wanted, 256) + product(size, 128))
    })?;
    let dtype = if cx.is_float(0) { cx.dtype(0)? } else { DType::F32 };
    let wide = if dtype.bits() < 32 { DType::F32 } else { dtype };
    let mut x = if wide == dtype { x } else { cx.cast(x, wide)? };
    for (at, axis) in all.into_iter().enumerate().filter(|(_, axis)| !axis.stays) {
        x = summed(cx, x, at, &axis.weights, Some(wide))?;
    }
    if wide == dtype { Ok(x) } else { cx.cast(x, dtype) }
}

/// The sizes of axes times scales, cut to integers.
fn scaled(
    cx: &mut ConvertContext<'_, '_>,
    x: NewValue,
    scales: NewValue,
    axes: &[usize],
) -> Result<NewValue> {
    let sizes = cx.sizes(x)?;
    let axes = cx.list(&axes.iter().copied().map(i64_of).collect::<Vec<_>>());
    let own = cx.put("Gather", &[sizes, axes], &[])?;
    let own = cx.cast(own, DType::F32)?;
    let scaled = cx.put("Mul", &[own, scales], &[])?;
    let epsilon = cx.number(SCALED_UP, DType::F32)?;
    let scaled = cx.put("Add", &[scaled, epsilon], &[])?;
    let scaled = cx.put("Floor", &[scaled], &[])?;
    cx.cast(scaled, DType::I64)
}

/// An image with zeros around it, as attributes say.
fn padded(cx: &mut ConvertContext<'_, '_>, rank: usize) -> Result<NewValue> {
    let mut pads = Vec::new();
    for name in ["pads_begin", "pads_end"] {
        let mut given = cx.attributes.list(name)?.unwrap_or_default();
        given.resize(rank, 0);
        pads.extend(given);
    }
    let x = cx.input(0)?;
    if pads.iter().all(|&pad| pad == 0) {
        return Ok(x);
    }
    let pads = cx.list(&pads);
    cx.put("Pad", &[x, pads], &[])
}

/// The sizes of the image with its pads, as far as they are known; nothing if its rank is not.
fn padded_sizes(cx: &ConvertContext<'_, '_>) -> Result<Option<Vec<Option<i64>>>> {
    let Some(dims) = cx.dims(0) else { return Ok(None) };
    let pads = |name| Ok::<_, gradus_core::Error>(cx.attributes.list(name)?.unwrap_or_default());
    let (begins, ends) = (pads("pads_begin")?, pads("pads_end")?);
    let own = |(axis, dim): (usize, Option<i64>)| {
        let pad = begins.get(axis).unwrap_or(&0).checked_add(*ends.get(axis).unwrap_or(&0))?;
        dim?.checked_add(pad)
    };
    Ok(Some(dims.into_iter().enumerate().map(own).collect()))
}

/// How the scale of each of these axes compares to 1, by sizes or scales that an input has; nothing
/// if they are not known.
fn growths(
    cx: &ConvertContext<'_, '_>,
    axes: &[usize],
    by: std::result::Result<usize, usize>,
) -> Result<Option<Vec<Ordering>>> {
    let all: Option<Vec<_>> = match by {
        Ok(sizes) => cx.known_integers(sizes)?.zip(padded_sizes(cx)?).and_then(|(sizes, own)| {
            axes.iter()
                .zip(sizes)
                .map(|(&axis, size)| Some(size.cmp(&own.get(axis).copied().flatten()?)))
                .collect()
        }),
        Err(scales) => match cx.known(scales)? {
            Some(scales) => Some(scales.numbers()?.map(|scale| nearest_f64(scale).total_cmp(&1.0)).collect()),
            None => None,
        },
    };
    Ok(all.filter(|all| all.len() == axes.len()))
}
