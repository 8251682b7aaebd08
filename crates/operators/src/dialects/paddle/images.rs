//! Images of other sizes, their pads, samples of them, and channels that become pixels.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::dialects::cannot;
use crate::dialects::paddle::attributes::{constant_like, floats, ints, text};
use crate::dialects::paddle::layout::list;
use crate::dialects::paddle::windows::{channels_first, channels_last, has_channels_last};
use crate::errors;
use crate::lowering::terms::{cast, of, with};
use crate::lowering::{LoweredValue, Lowering, along, int, not_known};
use crate::words;

/// `nearest_interp`, `bilinear_interp` and their like. After the data come the sizes as one tensor,
/// as a tensor for each axis, and the scales.
pub fn resize(l: &mut Lowering<'_>, kind: &'static str) -> Result<Vec<LoweredValue>> {
    let axes = l.rank_of(0)?.checked_sub(2).filter(|axes| (1..=3).contains(axes));
    let axes = axes.ok_or_else(|| cannot("a resized tensor of another rank than 3 to 5"))?;
    let kind = match words::INTERPOLATION.of_or(&l.attributes, kind)? {
        "bilinear" | "trilinear" => "linear",
        "bicubic" => "cubic",
        kind => kind,
    };
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let (corners, mode) = (l.attributes.flag("align_corners", true)?, l.attributes.int_or("align_mode", 1)?);
    let coordinates = match (corners, kind, mode) {
        (true, ..) => "align_corners",
        (false, "cubic", _) => "half_pixel",
        // One element is the first.
        (false, "linear", 0) => "pytorch_half_pixel",
        (false, ..) => "asymmetric",
    };
    let name = |name: &'static str, value: &str| (name, Content::Bytes(value.to_owned().into()));
    let attributes = [
        name("coordinate_transformation_mode", coordinates),
        name("mode", kind),
        name("nearest_mode", if corners { "round_prefer_ceil" } else { "floor" }),
    ];
    let each = l.has(2) && l.count() >= 2 + axes;
    let scale = floats(l, "scale")?;
    let scales = match (&scale[..], l.has(1) || each, l.has(3)) {
        (_, true, _) => None,
        (_, _, true) => Some(l.input(3)?),
        ([], ..) => None,
        (scale, ..) => Some(l.constant(Tensor::vector(scale))?),
    };
    let y = if let Some(scales) = scales {
        let (count, outer) = (l.list(&[i64_of(axes)])?, l.constant(Tensor::vector(&[1.0f32, 1.0]))?);
        let scales = of("Expand", cast(scales, DType::F32), count).put(l)?;
        if corners {
            // By scales, the `onnx` package's reference aligns corners with the size before it is
            // cut.
            let sizes = (cast(with("Shape", [x.into()], [int("start", 2)]), DType::F32) * scales).put(l)?;
            let sizes = l.cast(sizes, DType::I64)?;
            return resized(l, x, sizes, &attributes, last);
        }
        let scales = l.apply("Concat", &[outer, scales], &[along(0)])?;
        l.apply("Resize", &[x, LoweredValue::NONE, scales], &attributes)?
    } else {
        let names = &["out_d", "out_h", "out_w"][3 - axes..];
        let sizes = names.iter().map(|name| l.attributes.int_or(name, -1)).collect::<Result<Vec<_>>>()?;
        let sizes = if l.has(1) {
            let given = l.input(1)?;
            l.cast(given, DType::I64)?
        } else if each {
            let mut parts = Vec::new();
            for input in 2..2 + axes {
                let part = l.input(input)?;
                let part = l.reshape(part, &[1])?;
                parts.push(l.cast(part, DType::I64)?);
            }
            l.apply("Concat", &parts, &[along(0)])?
        } else if sizes.iter().all(|&size| size > 0) {
            l.list(&sizes)?
        } else {
            return Err(not_known("size of the result".to_owned()));
        };
        return resized(l, x, sizes, &attributes, last);
    };
    Ok(vec![channels_last(l, y, last)?])
}

/// The data resized to sizes of its inner axes.
fn resized(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    sizes: LoweredValue,
    attributes: &[(&str, Content)],
    last: bool,
) -> Result<Vec<LoweredValue>> {
    let sizes =
        with("Concat", [with("Shape", [x.into()], [int("end", 2)]), sizes.into()], [along(0)]).put(l)?;
    let y = l.apply("Resize", &[x, LoweredValue::NONE, LoweredValue::NONE, sizes], attributes)?;
    Ok(vec![channels_last(l, y, last)?])
}

/// `pad`: begin and end of each axis. `pad2d` and `pad3d`: of the inner axes, from the last on.
pub fn pad(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let value = if let Some(value) = l.float("pad_value")? {
        constant_like(l, if l.is_imaginary() { 0.0 } else { value })?
    } else if l.is_imaginary() {
        constant_like(l, 0.0)?
    } else {
        let (given, dtype) = (l.input(1)?, l.dtype_of(0)?);
        let given = l.reshape(given, &[])?;
        l.cast(given, dtype)?
    };
    let pads = if l.node_is("pad") {
        let given = ints(l, "paddings")?;
        errors::expect_count("elements of attribute \"paddings\"", given.len(), 2 * rank)?;
        let of = |from| given.iter().skip(from).copied().step_by(2);
        l.list(&of(0).chain(of(1)).collect::<Vec<_>>())?
    } else {
        let plane = l.node_is("pad2d");
        let inner = if plane { 2 } else { 3 };
        errors::expect_rank("the input", rank, inner + 2)?;
        let given = list(l, "paddings", 1)?;
        // `pad2d` counts from the first axis, `pad3d` from the last.
        let order: [&[i64]; 2] = if plane { [&[0, 2], &[1, 3]] } else { [&[4, 2, 0], &[5, 3, 1]] };
        let last = has_channels_last(l)?;
        let outer: [&[i64]; 2] = if last { [&[0], &[0]] } else { [&[0, 0], &[]] };
        let outer = [l.list(outer[0])?, l.list(outer[1])?];
        let mut parts = Vec::new();
        for side in order {
            let which = l.list(side)?;
            let side = l.apply("Gather", &[given, which], &[])?;
            parts.extend([outer[0], side, outer[1]]);
        }
        l.apply("Concat", &parts, &[along(0)])?
    };
    let mode = match words::PADDING.of(&l.attributes)? {
        "constant" => "constant",
        "reflect" => "reflect",
        "replicate" | "edge" => "edge",
        _ => "wrap",
    };
    Ok(vec![l.apply("Pad", &[x, pads, value], &[("mode", Content::Bytes(mode.to_owned().into()))])?])
}

/// `grid_sample` and `affine_grid`.
pub fn grid_sample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [l.input(0)?, l.input(1)?];
    let mode = if text(l, "mode", "bilinear")? == "nearest" { "nearest" } else { "linear" };
    let attributes = [
        ("mode", Content::Bytes(mode.to_owned().into())),
        ("padding_mode", Content::Bytes(text(l, "padding_mode", "zeros")?.to_owned().into())),
        int("align_corners", l.attributes.flag("align_corners", true)?.into()),
    ];
    Ok(vec![l.apply("GridSample", &inputs, &attributes)?])
}

/// `affine_grid`: coordinates of the samples of transformed images.
pub fn affine_grid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [l.input(0)?, list(l, "output_shape", 1)?];
    let corners = int("align_corners", l.attributes.flag("align_corners", true)?.into());
    Ok(vec![l.apply("AffineGrid", &inputs, &[corners])?])
}

/// The elements of a value with one axis as several, of which one may be -1.
pub(super) fn divided(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    axis: usize,
    into: &[i64],
) -> Result<LoweredValue> {
    let (before, after) = (int("end", i64_of(axis)), int("start", i64_of(axis) + 1));
    let parts = [l.apply("Shape", &[x], &[before])?, l.list(into)?, l.apply("Shape", &[x], &[after])?];
    let dims = l.apply("Concat", &parts, &[along(0)])?;
    l.apply("Reshape", &[x, dims], &[])
}

/// Channels of `groups` groups, in the order of the first of each group, the second, ….
fn shuffled(l: &mut Lowering<'_>, x: LoweredValue, groups: i64) -> Result<LoweredValue> {
    let apart = divided(l, x, 1, &[groups, -1])?;
    let swapped = l.transposed(apart, &[0, 2, 1, 3, 4])?;
    let (batch, inner) =
        (l.apply("Shape", &[x], &[int("end", 1)])?, l.apply("Shape", &[x], &[int("start", 2)])?);
    let channels = l.list(&[-1])?;
    let dims = l.apply("Concat", &[batch, channels, inner], &[along(0)])?;
    l.apply("Reshape", &[swapped, dims], &[])
}

/// `pixel_shuffle`, `pixel_unshuffle` and `channel_shuffle`.
pub fn shuffle(l: &mut Lowering<'_>, factor: &str) -> Result<Vec<LoweredValue>> {
    let (x, by, rank) = (l.input(0)?, l.attributes.int_or(factor, 1)?, l.rank_of(0)?);
    errors::expect_rank("the input", rank, 4)?;
    if !(1..=1 << 16).contains(&by) {
        return Err(errors::value(format_args!("attribute \"{factor}\""), by, "from 1 to 65536"));
    }
    let (x, last) = channels_first(l, x)?;
    let y = match factor {
        "upscale_factor" => {
            l.apply("DepthToSpace", &[x], &[int("blocksize", by), ("mode", Content::Bytes("CRD".into()))])?
        }
        "downscale_factor" => {
            let blocks = l.apply("SpaceToDepth", &[x], &[int("blocksize", by)])?;
            shuffled(l, blocks, by * by)?
        }
        _ => shuffled(l, x, by)?,
    };
    Ok(vec![channels_last(l, y, last)?])
}
