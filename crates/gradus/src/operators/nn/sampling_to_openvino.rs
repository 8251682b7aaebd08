//! Sampling of images and boxes, and normalization over channels, in the operators of OpenVINO.

use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::writer::NewValue;
use crate::operators::errors;

/// Elements of images at the positions of a grid.
pub(crate) fn grid_sample(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    match cx.rank(0)? {
        4 => {}
        5 => return volumes(cx),
        _ => {
            return Err(cannot(
                "OpenVINO has no equivalent of GridSample of other tensors than images and volumes",
            ));
        }
    }
    cx.rounding(caveats::FUNCTION);
    let mode = match cx.attributes.text("mode")?.unwrap_or("linear") {
        "linear" | "bilinear" => "bilinear",
        "cubic" | "bicubic" => "bicubic",
        "nearest" => "nearest",
        other => return Err(cannot(format!("OpenVINO has no equivalent of GridSample with mode={other}"))),
    };
    if mode == "nearest" {
        cx.edges("the OpenVINO specification does not define which neighbor is nearest halfway");
    }
    let padding = cx.attributes.text("padding_mode")?.unwrap_or("zeros").to_owned();
    let aligned = cx.attributes.flag("align_corners", false)?;
    let (x, grid) = (cx.input(0)?, cx.input(1)?);
    let attributes = [say("align_corners", aligned), say("mode", mode), say("padding_mode", padding)];
    Ok(vec![cx.put("GridSample", &[x, grid], &attributes)?])
}

/// An axis of a volume, along which positions lie between two elements.
struct Taps {
    /// Indices and weights of the elements.
    elements: Vec<(NewValue, Option<NewValue>)>,
    size: NewValue,
}

/// Elements of volumes at the positions of a grid: weighted sums of the elements around each.
fn volumes(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let mode = cx.attributes.text("mode")?.unwrap_or("linear").to_owned();
    if !matches!(&*mode, "linear" | "bilinear" | "nearest") {
        return Err(cannot(format!("OpenVINO has no equivalent of GridSample of volumes with mode={mode}")));
    }
    cx.expect_floats(0)?;
    cx.rounding(caveats::STEPS);
    cx.edges("indices of positions that are infinite or NaN depend on the runtime, and rounding decides at borders");
    let (own, dtype) = (cx.dtype(0)?, if cx.dtype(0)? == DType::F64 { DType::F64 } else { DType::F32 });
    let zeros = cx.attributes.text("padding_mode")?.unwrap_or("zeros") == "zeros";
    let (x, grid) = (cx.input(0)?, cx.input(1)?);
    let (x, grid) = (cx.converted(x, dtype)?, cx.converted(grid, dtype)?);
    let (sizes, points) = (cx.shape_of(x)?, cx.shape_of(grid)?);
    let keeping = |cx: &mut ConvertContext<'_, '_>, value, dims: &[i64]| {
        let dims = cx.list(dims);
        cx.put("Reshape", &[value, dims], &[say("special_zero", true)])
    };
    let (rows, grid) = (keeping(cx, x, &[0, 0, -1])?, keeping(cx, grid, &[0, -1, 3])?);
    let mut axes = Vec::new();
    for axis in 0..3 {
        // Coordinates are given from the last axis on.
        let (place, last) = (cx.scalar(2 - axis), cx.scalar(2));
        let given = cx.put("Gather", &[grid, place, last], &[say("batch_dims", 0)])?;
        let size = cx.sliced(sizes, axis + 2, axis + 3)?;
        axes.push(taps(cx, given, size, dtype, &mode)?);
    }
    let mut all = vec![(None, None)];
    for Taps { elements, size } in axes {
        let mut longer = Vec::new();
        for (place, weight) in all {
            for &(index, own) in &elements {
                let place = match place {
                    Some(place) => {
                        let first = cx.put("Multiply", &[place, size], &[numpy()])?;
                        cx.put("Add", &[first, index], &[numpy()])?
                    }
                    None => index,
                };
                let weight = match (weight, own) {
                    (Some(weight), Some(own)) => Some(cx.put("Multiply", &[weight, own], &[numpy()])?),
                    (weight, own) => weight.or(own),
                };
                longer.push((Some(place), weight));
            }
        }
        all = longer;
    }
    let (axis, zero) = (cx.scalar(2), cx.number(0.0, dtype)?);
    let channels = cx.list(&[1]);
    let mut sum = None;
    for (place, weight) in all {
        let inputs = [rows, place.unwrap_or(zero), axis];
        let mut value = cx.put("Gather", &inputs, &[say("batch_dims", 1)])?;
        if let Some(weight) = weight {
            let weight = cx.put("Unsqueeze", &[weight, channels], &[])?;
            // No element outside of the volume counts, not even an infinite one.
            if zeros {
                let none = cx.put("Equal", &[weight, zero], &[numpy()])?;
                value = cx.put("Select", &[none, zero, value], &[numpy()])?;
            }
            value = cx.put("Multiply", &[value, weight], &[numpy()])?;
        }
        sum = Some(match sum {
            Some(sum) => cx.put("Add", &[sum, value], &[numpy()])?,
            None => value,
        });
    }
    let (first, rest) = (cx.sliced(sizes, 0, 2)?, cx.sliced(points, 1, 4)?);
    let shape = cx.put("Concat", &[first, rest], &[say("axis", 0)])?;
    let value = cx.put("Reshape", &[sum.unwrap_or(zero), shape], &[say("special_zero", false)])?;
    Ok(vec![cx.converted(value, own)?])
}

/// The elements of an axis around given coordinates, which are -1 and 1 at its ends.
fn taps(
    cx: &mut ConvertContext<'_, '_>,
    given: NewValue,
    size: NewValue,
    dtype: DType,
    mode: &str,
) -> Result<Taps> {
    let corners = cx.attributes.flag("align_corners", false)?;
    let padding = cx.attributes.text("padding_mode")?.unwrap_or("zeros").to_owned();
    let put = |cx: &mut ConvertContext<'_, '_>, operator: &str, a, b| cx.put(operator, &[a, b], &[numpy()]);
    let (zero, half, one) = (cx.number(0.0, dtype)?, cx.number(0.5, dtype)?, cx.number(1.0, dtype)?);
    let extent = cx.converted(size, dtype)?;
    let last = put(cx, "Subtract", extent, one)?;
    let moved = put(cx, "Add", given, one)?;
    let mut at = if corners {
        let halved = put(cx, "Multiply", moved, half)?;
        put(cx, "Multiply", halved, last)?
    } else {
        let scaled = put(cx, "Multiply", moved, extent)?;
        let less = put(cx, "Subtract", scaled, one)?;
        put(cx, "Multiply", less, half)?
    };
    if mode == "nearest" {
        at = cx.put("Round", &[at], &[say("mode", "half_to_even")])?;
    }
    match &*padding {
        "zeros" => {}
        "border" => at = within(cx, at, zero, last)?,
        "reflection" => {
            // A wave between the ends, which lie half an element outside unless corners do.
            let (low, range) = if corners {
                (zero, put(cx, "Maximum", last, one)?)
            } else {
                (cx.number(-0.5, dtype)?, extent)
            };
            let apart = put(cx, "Subtract", at, low)?;
            let apart = cx.put("Abs", &[apart], &[])?;
            let period = put(cx, "Add", range, range)?;
            let rest = put(cx, "Mod", apart, period)?;
            let back = put(cx, "Subtract", range, rest)?;
            let back = cx.put("Abs", &[back], &[])?;
            let wave = put(cx, "Subtract", range, back)?;
            at = put(cx, "Add", wave, low)?;
            at = within(cx, at, zero, last)?;
        }
        other => return Err(errors::text("padding_mode", other, "zeros, border or reflection")),
    }
    let floor = cx.put("Floor", &[at], &[])?;
    let mut near = vec![(floor, None)];
    if mode != "nearest" {
        let next = put(cx, "Add", floor, one)?;
        let far = put(cx, "Subtract", at, floor)?;
        let close = put(cx, "Subtract", one, far)?;
        near = vec![(floor, Some(close)), (next, Some(far))];
    }
    let mut elements = Vec::new();
    for (index, mut weight) in near {
        let inside = within(cx, index, zero, last)?;
        if padding == "zeros" {
            let is_inside = put(cx, "Equal", inside, index)?;
            let own = weight.unwrap_or(one);
            weight = Some(cx.put("Select", &[is_inside, own, zero], &[numpy()])?);
        }
        elements.push((cx.converted(inside, DType::I64)?, weight));
    }
    Ok(Taps { elements, size })
}

/// Numbers that are at least the one and at most the other.
fn within(cx: &mut ConvertContext<'_, '_>, x: NewValue, low: NewValue, high: NewValue) -> Result<NewValue> {
    let x = cx.put("Maximum", &[x, low], &[numpy()])?;
    cx.put("Minimum", &[x, high], &[numpy()])
}

/// The largest elements of bins of regions.
pub(crate) fn max_roi_pool(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    let &[height, width] = cx.attributes.ints("pooled_shape")?.unwrap_or(&[]) else {
        return Err(cannot("cannot convert MaxRoiPool without a height and a width in \"pooled_shape\""));
    };
    let attributes = [
        say("output_size", format!("{height}, {width}")),
        say("output_roi", format!("{height}, {width}")),
        say("pooled_h", height),
        say("pooled_w", width),
        say("spatial_scale", cx.attributes.float("spatial_scale")?.unwrap_or(1.0)),
        say("method", "max"),
    ];
    let inputs = cx.inputs()?;
    Ok(vec![cx.put("ROIPooling", &inputs, &attributes)?])
}

/// Regions of images, each pooled to one size.
pub(crate) fn roi_align(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let mode = cx.attributes.text("mode")?.unwrap_or("avg").to_owned();
    if mode != "avg" {
        return Err(cannot("the specifications define the samples of RoiAlign with mode=max differently"));
    }
    let aligned = match cx.attributes.text("coordinate_transformation_mode")?.unwrap_or("half_pixel") {
        "half_pixel" => "half_pixel_for_nn",
        "output_half_pixel" => "asymmetric",
        other => {
            return Err(cannot(format!(
                "OpenVINO has no equivalent of RoiAlign with coordinate_transformation_mode={other}"
            )));
        }
    };
    let attributes = [
        say("pooled_h", cx.attributes.int_or("output_height", 1)?),
        say("pooled_w", cx.attributes.int_or("output_width", 1)?),
        say("sampling_ratio", cx.attributes.int_or("sampling_ratio", 0)?),
        say("spatial_scale", cx.attributes.float("spatial_scale")?.unwrap_or(1.0)),
        say("mode", mode),
        say("aligned_mode", aligned),
    ];
    let inputs = cx.inputs()?;
    Ok(vec![cx.put("ROIAlign", &inputs, &attributes)?])
}

/// Boxes of each class that overlap no better one.
pub(crate) fn non_max_suppression(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges(
        "the specifications do not define the order of boxes of equal scores, and of boxes that overlap by the \
         threshold",
    );
    let encoding = if cx.attributes.flag("center_point_box", false)? { "center" } else { "corner" };
    let mut inputs = vec![cx.input(0)?, cx.input(1)?];
    inputs.push(if cx.has(2) { cx.scalar_input(2)? } else { cx.scalar(0) });
    inputs.push(if cx.has(3) { cx.scalar_input(3)? } else { cx.number(0.0, DType::F32)? });
    // Without a threshold, all boxes are candidates.
    inputs.push(if cx.has(4) { cx.scalar_input(4)? } else { cx.number(f64::from(f32::MIN), DType::F32)? });
    let attributes =
        [say("box_encoding", encoding), say("sort_result_descending", false), say("output_type", "i64")];
    let outputs = cx.put_many("NonMaxSuppression", &inputs, &attributes, 3)?;
    Ok(vec![outputs[0]])
}

/// Divided by a power of the squares of the channels around.
pub(crate) fn local_response(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let size = cx.attributes.int_or("size", 1)?;
    if size % 2 == 0 {
        return Err(cannot("the OpenVINO specification does not define the channels of an LRN of even size"));
    }
    let attributes = [
        say("alpha", cx.attributes.float("alpha")?.unwrap_or(0.0001)),
        say("beta", cx.attributes.float("beta")?.unwrap_or(0.75)),
        say("bias", cx.attributes.float("bias")?.unwrap_or(1.0)),
        say("size", size),
    ];
    let (x, axes) = (cx.input(0)?, cx.list(&[1]));
    Ok(vec![cx.put("LRN", &[x, axes], &attributes)?])
}

/// Brought to a mean of 0 and a variance of 1 over axes that an attribute names.
pub(crate) fn mean_variance(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let axes = cx.attributes.ints("axes")?.unwrap_or(&[0, 2, 3]).to_vec();
    if axes.is_empty() {
        return Err(cannot("OpenVINO has no equivalent of MeanVarianceNormalization without axes"));
    }
    let (x, axes) = (cx.input(0)?, cx.list(&axes));
    let attributes = [say("eps", 1e-9), say("eps_mode", "OUTSIDE_SQRT"), say("normalize_variance", true)];
    Ok(vec![cx.put("MVN", &[x, axes], &attributes)?])
}

/// A Dropout where nothing trains: all elements, and a mask of ones.
pub(crate) fn dropout(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let trains = cx.attributes.form().is(crate::normalize::Older::Training)
        && !cx.attributes.flag("is_test", false)?;
    if trains || (cx.has(2) && cx.known_integers(2)?.as_deref() != Some(&[0])) {
        return Err(cannot("OpenVINO has no equivalent of Dropout in training"));
    }
    let (x, dtype) = (cx.input(0)?, cx.dtype(0)?);
    let mut outputs = vec![cx.target.copy(x, Some(dtype))?];
    if cx.wants(1) {
        let id = cx.node.outputs[1].expect("only outputs that the node has are wanted");
        let dtype = cx.scope.fact(id).dtype().unwrap_or(DType::Bool);
        let (shape, one) = (cx.shape_of(x)?, cx.number(1.0, dtype)?);
        outputs.push(cx.put("Broadcast", &[one, shape], &[say("mode", "numpy")])?);
    }
    Ok(outputs)
}
