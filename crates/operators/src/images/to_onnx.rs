//! Images in the operators of ONNX: `Interpolate` of OpenVINO as `Resize`, and `GridSample`.
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

use gradus_core::convert::{float_of, i64_of, nearest_f64, product, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Tensor, convert};

use crate::attributes::required;
use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::images::openvino::SCALED_UP;
use crate::images::resize::Resizing;
use crate::images::to_openvino::weight_tables;
use crate::indices::axes as axes_of;
use crate::lowering::terms::{Term, cast, f, gathered, ints, of, summed, with};
use crate::lowering::{LoweredValue, Lowering, along, flag, word};
use crate::normalize::Older;
use crate::words;

/// Writes `Interpolate` as `Resize`.
pub fn interpolate(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let refused = |what: &str| Err(cannot(format!("ONNX has no equivalent of Interpolate with {what}")));
    let both = l.attributes.form().is(Older::SizesAndScales);
    required("mode", l.attributes.get("mode"))?;
    let own = words::INTERPOLATE_MODE.of(&l.attributes)?;
    let (mode, pillow) = match own {
        "nearest" => ("nearest", false),
        "linear_onnx" | "linear" => ("linear", false),
        "cubic" => ("cubic", false),
        "bilinear_pillow" => ("linear", true),
        "bicubic_pillow" => ("cubic", true),
        mode => return refused(&format!("mode={mode}")),
    };
    // OpenVINO reads the flag in this mode alone.
    let antialias = own == "linear" && l.attributes.flag("antialias", false)?;
    if mode != "nearest" {
        l.rounding(caveats::ORDER);
    }
    let rank = l.rank_of(0)?;
    let axes_at = if both { 3 } else { 2 };
    let axes = if l.has(axes_at) { axes_of(&l.integers(axes_at)?, rank)? } else { (0..rank).collect() };
    let x = padded(l, rank)?;
    let by_scales = words::SHAPE_BY.of(&l.attributes)? == "scales";
    let scales_at = if both { 2 } else { 1 };
    let given = words::INTERPOLATE_NEAREST.of(&l.attributes)?;
    let nearest = if mode == "nearest" { given } else { "round_prefer_floor" };
    let simple = nearest == "simple";
    // OpenVINO smooths if an axis shrinks, through narrower windows where others grow, and rounds
    // differently there.
    let growth = growths(l, &axes, if by_scales { Err(scales_at) } else { Ok(1) })?;
    if growth.is_none() && (antialias || simple) {
        let what = if antialias { "antialias=true" } else { "nearest_mode=simple" };
        return refused(&format!("{what}, unless sizes or scales tell which axes grow"));
    }
    let growth = growth.unwrap_or_default();
    let smooth = antialias && growth.contains(&Ordering::Less);
    if smooth && rank < 5 {
        l.edges("OpenVINO's CPU plugin smooths images of rank 5 only");
    }
    let coordinates = words::INTERPOLATE_COORDINATES.of(&l.attributes)?;
    let coordinates = if pillow { "half_pixel" } else { coordinates };
    let mut attributes = vec![word("mode", mode), word("coordinate_transformation_mode", coordinates)];
    if smooth || pillow {
        attributes.extend([flag("antialias", true), flag("exclude_outside", true)]);
    }
    // Pillow's coefficient is one number; the attribute changes nothing.
    let coefficient = if pillow { Some(-0.5) } else { l.attributes.float("cube_coeff")? };
    if let Some(coefficient) = coefficient.filter(|_| mode == "cubic") {
        attributes.push(("cubic_coeff_a", Content::Float(coefficient)));
    }
    let dtype = l.dtype_of(0)?;
    let rounds = mode != "nearest" && !dtype.is_float();
    let mut x = if rounds { l.cast(x, DType::F32)? } else { x };
    if smooth && growth.contains(&Ordering::Greater) {
        x = narrowed(l, x, &axes, scales_at)?;
        let whole = |x| cast(rounded(x, dtype, mode), dtype);
        return Ok(vec![if rounds { whole(x).write(l, DType::F32)? } else { x }]);
    }
    let sizes = if by_scales {
        own_scales(l, &axes, scales_at, coordinates != "align_corners")?
    } else {
        l.whole_list(1)?
    };
    // Pillow scales by sizes alone.
    let (sizes, by_scales) =
        if by_scales && pillow { (scaled(l, x, sizes, &axes)?, false) } else { (sizes, by_scales) };
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
            let places: Vec<_> = pass.iter().copied().map(i64_of).collect();
            gathered(sizes, ints(&places), 0).write(l, DType::I64)?
        };
        let inputs = if by_scales {
            [x, LoweredValue::NONE, sizes, LoweredValue::NONE]
        } else {
            [x, LoweredValue::NONE, LoweredValue::NONE, sizes]
        };
        let mut attributes = attributes.clone();
        attributes.push(word("nearest_mode", nearest));
        attributes.push(("axes", Content::Ints(pass.iter().map(|&at| i64_of(axes[at])).collect())));
        x = l.apply("Resize", &inputs, &attributes)?;
        if rounds {
            x = rounded(x, dtype, mode).write(l, DType::F32)?;
        }
    }
    Ok(vec![if rounds { l.cast(x, dtype)? } else { x }])
}

/// Numbers of float32 rounded to those that an integer type has.
fn rounded(x: LoweredValue, dtype: DType, mode: &str) -> Term {
    let x = f("Round", x);
    match dtype {
        DType::U8 if mode == "cubic" => with("Clip", [x, 0.0.into(), 255.0.into()], []),
        DType::I8 if mode == "cubic" => with("Clip", [x, (-128.0).into(), 127.0.into()], []),
        _ => x,
    }
}

/// Smoothed sums along axes of which some grow: windows are narrower there than those of ONNX, so
/// their weights are constants.
fn narrowed(l: &mut Lowering<'_>, x: LoweredValue, axes: &[usize], scales_at: usize) -> Result<LoweredValue> {
    let unknown = || cannot("ONNX has no equivalent of Interpolate with antialias=true where an axis grows");
    let own = padded_sizes(l)?.ok_or_else(unknown)?;
    let result = l.result_dims(0).ok_or_else(unknown)?;
    let by_scales = words::SHAPE_BY.of(&l.attributes)? == "scales";
    let scales = if by_scales { l.known(scales_at)? } else { None };
    let scales: Option<Vec<_>> =
        scales.map(|scales| Ok(scales.numbers()?.map(nearest_f64).collect())).transpose()?;
    let (mut dims, mut wanted, mut factors) = (Vec::new(), Vec::new(), Vec::new());
    for (axis, (own, after)) in own.into_iter().zip(result.iter()).enumerate() {
        let place = axes.iter().position(|&named| named == axis);
        let sizes = place.map(|_| Some([own.and_then(usize_of_i64)?, usize_of_i64((*after)?)?]));
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
    let limits = l.limits();
    let all = resizing.axes(&l.attributes, |size, wanted| {
        limits.allow_bytes(0, product(wanted, 256) + product(size, 128))
    })?;
    let dtype = if l.is_float(0) { l.dtype_of(0)? } else { DType::F32 };
    let wide = if dtype.bits() < 32 { DType::F32 } else { dtype };
    let (mut x, rank) = (l.in_type(x, dtype, wide)?, dims.len());
    for (at, axis) in all.into_iter().enumerate().filter(|(_, axis)| !axis.stays) {
        let (indices, weights) = weight_tables(&axis.weights, rank - at - 1, wide)?;
        let taken = with("Gather", [x.into(), Term::Tensor(indices)], [along(at)]);
        x = summed(taken * Term::Tensor(weights), &[i64_of(at) + 1]).write(l, wide)?;
    }
    if wide == dtype { Ok(x) } else { l.cast(x, dtype) }
}

/// The sizes of axes times scales, cut to integers.
fn scaled(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    scales: LoweredValue,
    axes: &[usize],
) -> Result<LoweredValue> {
    let axes: Vec<_> = axes.iter().copied().map(i64_of).collect();
    let own = cast(of("Gather", f("Shape", x), ints(&axes)), DType::F32);
    cast(f("Floor", own * scales + SCALED_UP), DType::I64).write(l, DType::F32)
}

/// An image with zeros around it, as attributes say.
fn padded(l: &mut Lowering<'_>, rank: usize) -> Result<LoweredValue> {
    let mut pads = Vec::new();
    for name in ["pads_begin", "pads_end"] {
        let mut given = l.attributes.list(name)?.unwrap_or_default();
        given.resize(rank, 0);
        pads.extend(given);
    }
    let x = l.input(0)?;
    if pads.iter().all(|&pad| pad == 0) {
        return Ok(x);
    }
    let pads = l.list(&pads)?;
    l.apply("Pad", &[x, pads], &[])
}

/// The sizes of the image with its pads, as far as they are known; nothing if its rank is not.
fn padded_sizes(l: &Lowering<'_>) -> Result<Option<Vec<Option<i64>>>> {
    let Some(dims) = l.dims(0) else { return Ok(None) };
    let pads = |name| Ok::<_, gradus_core::Error>(l.attributes.list(name)?.unwrap_or_default());
    let (begins, ends) = (pads("pads_begin")?, pads("pads_end")?);
    let own = |(axis, dim): (usize, Option<i64>)| {
        let pad = begins.get(axis).unwrap_or(&0).checked_add(*ends.get(axis).unwrap_or(&0))?;
        dim?.checked_add(pad)
    };
    Ok(Some(dims.into_iter().enumerate().map(own).collect()))
}

/// Returns true if a scale leaves a size as it is; nothing where that depends on the size, which is
/// not known.
pub fn keeps_size(scale: f64, size: Option<i64>) -> Option<bool> {
    match size {
        _ if scale == 1.0 => Some(false),
        Some(size) => {
            let size = nearest_f64(Number::Int(size.into()));
            Some((size * scale).floor() == size)
        }
        None if scale > 1.0 && scale < 2.0 => None,
        None => Some(false),
    }
}

/// The scales of axes: 1 where a scale leaves a size as it is, as OpenVINO leaves the axis as it is
/// there, whose `coordinates` depend on the scale.
fn own_scales(
    l: &mut Lowering<'_>,
    axes: &[usize],
    scales_at: usize,
    coordinates: bool,
) -> Result<LoweredValue> {
    let given = l.input(scales_at)?;
    let given = l.cast(given, DType::F32)?;
    if !coordinates {
        return Ok(given);
    }
    let Some(known) = l.known(scales_at)? else {
        l.edges(caveats::UNSCALED);
        return Ok(given);
    };
    let own = padded_sizes(l)?.unwrap_or_default();
    let scales: Vec<f64> = known.numbers()?.map(nearest_f64).collect();
    let kept =
        scales.iter().zip(axes).map(|(&scale, &axis)| keeps_size(scale, own.get(axis).copied().flatten()));
    let kept: Vec<_> = kept.collect();
    if kept.contains(&None) {
        l.edges(caveats::UNSCALED);
    }
    if !kept.contains(&Some(true)) {
        return Ok(given);
    }
    let scales = scales.iter().zip(&kept).map(|(&scale, &kept)| if kept == Some(true) { 1.0 } else { scale });
    let scales = Tensor::vector(&scales.collect::<Vec<_>>());
    Term::Tensor(convert::cast(&scales, DType::F32, convert::Rules::IEEE)?).write(l, DType::F32)
}

/// How the scale of each of these axes compares to 1, by sizes or scales that an input has; nothing
/// if they are not known.
fn growths(
    l: &Lowering<'_>,
    axes: &[usize],
    by: std::result::Result<usize, usize>,
) -> Result<Option<Vec<Ordering>>> {
    let all: Option<Vec<_>> = match by {
        Ok(sizes) => l.known_integers(sizes)?.zip(padded_sizes(l)?).and_then(|(sizes, own)| {
            axes.iter()
                .zip(sizes)
                .map(|(&axis, size)| Some(size.cmp(&own.get(axis).copied().flatten()?)))
                .collect()
        }),
        Err(scales) => match l.known(scales)? {
            Some(scales) => Some(scales.numbers()?.map(|scale| nearest_f64(scale).total_cmp(&1.0)).collect()),
            None => None,
        },
    };
    Ok(all.filter(|all| all.len() == axes.len()))
}

/// Elements of images at the positions of a grid.
pub fn grid_sample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let mode = match words::RUNTIME_GRID_MODE.of(&l.attributes)? {
        "bilinear" => "linear",
        "bicubic" => "cubic",
        _ => {
            l.edges("the OpenVINO specification does not define which neighbor is nearest halfway");
            "nearest"
        }
    };
    let padding = words::GRID_PADDING.of(&l.attributes)?;
    if mode == "cubic" && padding == "border" {
        l.edges(caveats::BORDER);
    }
    let aligned = l.attributes.flag("align_corners", false)?;
    let (x, grid) = (l.input(0)?, l.input(1)?);
    let attributes = [flag("align_corners", aligned), word("mode", mode), word("padding_mode", padding)];
    Ok(vec![l.apply("GridSample", &[x, grid], &attributes)?])
}
