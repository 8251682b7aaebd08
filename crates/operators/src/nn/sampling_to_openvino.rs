//! Sampling of images and boxes, and normalization over channels, in the operators of OpenVINO.

use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::writer::NewValue;
use crate::nn::sampled::{Grid, at_grid};

/// Elements of images at the positions of a grid.
pub fn grid_sample(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    match cx.rank(0)? {
        4 => {}
        5 => {
            let (mode, padding) = (cx.attributes.text("mode")?, cx.attributes.text("padding_mode")?);
            let mode = mode.unwrap_or("linear").to_owned();
            if matches!(&*mode, "cubic" | "bicubic") {
                return Err(cannot("ONNX does not define GridSample of volumes with mode=cubic"));
            }
            let padding = padding.unwrap_or("zeros").to_owned();
            let corners = cx.attributes.flag("align_corners", false)?;
            let (both, own) = ([cx.input(0)?, cx.input(1)?], cx.dtype(0)?);
            let how = Grid { mode: &mode, padding: &padding, corners };
            return Ok(vec![at_grid(cx, both, (5, own), how)?]);
        }
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

/// The largest elements of bins of regions.
pub fn max_roi_pool(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
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
pub fn roi_align(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
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
pub fn non_max_suppression(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
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
pub fn local_response(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let size = cx.attributes.int_or("size", 1)?;
    if size % 2 == 0 {
        return Err(cannot("the OpenVINO specification does not define the channels of an LRN of even size"));
    }
    let alpha = cx.attributes.float("alpha")?.unwrap_or(0.0001);
    let beta = cx.attributes.float("beta")?.unwrap_or(0.75);
    let bias = cx.attributes.float("bias")?.unwrap_or(1.0);
    // OpenVINO's CPU plugin drops the fraction of a bias, so that one is taken out of the power.
    let factor = if bias > 0.0 && bias.is_finite() && bias.fract() != 0.0 { bias } else { 1.0 };
    let attributes =
        [say("alpha", alpha / factor), say("beta", beta), say("bias", bias / factor), say("size", size)];
    let (x, axes) = (cx.input(0)?, cx.list(&[1]));
    let y = cx.put("LRN", &[x, axes], &attributes)?;
    if factor == 1.0 {
        return Ok(vec![y]);
    }
    let scale = cx.number(libm::pow(factor.into(), -f64::from(beta)), cx.dtype(0)?)?;
    Ok(vec![cx.put("Multiply", &[y, scale], &[numpy()])?])
}

/// Brought to a mean of 0 and a variance of 1 over axes that an attribute names.
pub fn mean_variance(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
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
pub fn dropout(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
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
