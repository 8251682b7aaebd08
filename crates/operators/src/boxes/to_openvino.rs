//! Boxes in the operators of OpenVINO: features of regions, and suppression.

use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_openvino::say;
use crate::conversion::writer::NewValue;

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
        say("spatial_scale", scale(cx)?),
        say("method", "max"),
    ];
    let inputs = cx.inputs()?;
    Ok(vec![cx.put("ROIPooling", &inputs, &attributes)?])
}

/// The scale of regions, which OpenVINO takes above 0 alone.
fn scale(cx: &ConvertContext<'_, '_>) -> Result<f32> {
    let scale = cx.attributes.float("spatial_scale")?.unwrap_or(1.0);
    if scale > 0.0 && scale.is_finite() {
        return Ok(scale);
    }
    Err(cannot(format!("OpenVINO has no equivalent of regions with spatial_scale={scale}")))
}

/// Regions of images, each pooled to one size.
pub fn roi_align(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let mode = cx.attributes.text("mode")?.unwrap_or("avg").to_owned();
    if mode != "avg" {
        return Err(cannot("the specifications define the samples of RoiAlign with mode=max differently"));
    }
    let aligned = match cx.attributes.text("coordinate_transformation_mode")?.unwrap_or("half_pixel") {
        "half_pixel" => {
            if cx.attributes.int_or("sampling_ratio", 0)? == 0 {
                cx.edges("OpenVINO's CPU plugin returns NaN for a region without area");
            }
            "half_pixel_for_nn"
        }
        "output_half_pixel" => "asymmetric",
        other => {
            return Err(cannot(format!(
                "OpenVINO has no equivalent of RoiAlign with coordinate_transformation_mode={other}"
            )));
        }
    };
    let scale = scale(cx)?;
    let attributes = [
        say("pooled_h", cx.attributes.int_or("output_height", 1)?),
        say("pooled_w", cx.attributes.int_or("output_width", 1)?),
        say("sampling_ratio", cx.attributes.int_or("sampling_ratio", 0)?),
        say("spatial_scale", scale),
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
