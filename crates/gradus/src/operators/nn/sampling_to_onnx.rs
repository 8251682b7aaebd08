//! Sampling of images and boxes in the operators of ONNX.

use gradus_core::convert::{Rules, nearest_f64, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Shape, Tensor};

use crate::attributes::required;
use crate::conversion::caveats;
use crate::conversion::lowered::graph_of;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_onnx::{flag, int, word};
use crate::conversion::writer::NewValue;
use crate::operators::errors;

/// Most bins along an axis of a region.
const MOST_BINS: i64 = 1 << 10;

/// Elements of images at the positions of a grid.
pub(crate) fn grid_sample(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let mode = match cx.attributes.text("mode")?.unwrap_or("bilinear") {
        "bilinear" => "linear",
        "bicubic" => "cubic",
        "nearest" => {
            cx.edges("the OpenVINO specification does not define which neighbor is nearest halfway");
            "nearest"
        }
        other => return Err(cannot(format!("ONNX has no equivalent of GridSample with mode={other}"))),
    };
    let padding = cx.attributes.text("padding_mode")?.unwrap_or("zeros").to_owned();
    let aligned = cx.attributes.flag("align_corners", false)?;
    let (x, grid) = (cx.input(0)?, cx.input(1)?);
    let attributes = [flag("align_corners", aligned), word("mode", mode), word("padding_mode", &padding)];
    Ok(vec![cx.put("GridSample", &[x, grid], &attributes)?])
}

/// The largest elements of bins of regions.
pub(crate) fn roi_pooling(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let bilinear = cx.attributes.text("method")?.is_some_and(|method| !method.eq_ignore_ascii_case("max"));
    let listed = cx.attributes.list("output_roi")?.or(cx.attributes.list("output_size")?);
    let size = |name: &str, at: usize| -> Result<i64> {
        let listed = listed.as_ref().and_then(|listed| listed.get(at)).copied();
        required(name, cx.attributes.int(name)?.or(listed))
    };
    let bins = [size("pooled_h", 0)?, size("pooled_w", 1)?];
    if bilinear {
        return sampled_regions(cx, bins);
    }
    cx.edges_of_floats(caveats::NAN);
    let attributes = [
        ("pooled_shape", Content::Ints(bins.to_vec().into())),
        ("spatial_scale", Content::Float(required("spatial_scale", cx.attributes.float("spatial_scale")?)?)),
    ];
    let inputs = cx.inputs()?;
    Ok(vec![cx.put("MaxRoiPool", &inputs, &attributes)?])
}

/// Regions of images whose sides are shares of the image, as one element for each bin: between
/// those around evenly spaced positions, from side to side.
fn sampled_regions(cx: &mut ConvertContext<'_, '_>, bins: [i64; 2]) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    cx.edges("rounding decides whether positions at the border lie within the image");
    let dtype = cx.dtype(0)?;
    let (x, regions) = (cx.input(0)?, cx.input(1)?);
    let (zero, one, two) = (cx.number(0.0, dtype)?, cx.number(1.0, dtype)?, cx.number(2.0, dtype)?);
    let column = |cx: &mut ConvertContext<'_, '_>, at: i64| {
        let at = cx.list(&[at]);
        cx.put("Gather", &[regions, at], &[int("axis", 1)])
    };
    let image = column(cx, 0)?;
    let image = cx.cast(image, DType::I64)?;
    let row = cx.list(&[-1]);
    let image = cx.put("Reshape", &[image, row], &[])?;
    let images = cx.put("Gather", &[x, image], &[int("axis", 0)])?;
    let (mut grid, mut inside) = (Vec::new(), None);
    // Coordinates of a grid begin with the last axis.
    for (axis, sides) in [(1, [1, 3]), (0, [2, 4])] {
        let count = bins[axis];
        if !(1..=MOST_BINS).contains(&count) {
            return Err(errors::value("number of bins", count, format_args!("from 1 to {MOST_BINS}")));
        }
        let (low, high) = (column(cx, sides[0])?, column(cx, sides[1])?);
        let share = |bin: i64| {
            let [bin, last] = [bin, (count - 1).max(1)].map(|n| nearest_f64(Number::Int(n.into())));
            Number::Float(if count == 1 { 0.5 } else { bin / last })
        };
        let shares = Tensor::from_numbers(
            dtype,
            Shape::vector(usize_of_i64(count).unwrap_or(1)),
            (0..count).map(share),
            Rules::IEEE,
        )?;
        let shares = cx.constant(shares);
        let apart = cx.put("Sub", &[high, low], &[])?;
        let along = cx.put("Mul", &[apart, shares], &[])?;
        let along = cx.put("Add", &[low, along], &[])?;
        // All positions lie within an axis of one element.
        let size = cx.size_of(x, axis + 2)?;
        let size = cx.cast(size, dtype)?;
        let last = cx.put("Sub", &[size, one], &[])?;
        let at = cx.put("Mul", &[along, last], &[])?;
        let (below, above) = (cx.put("Less", &[at, zero], &[])?, cx.put("Greater", &[at, last], &[])?);
        let outside = cx.put("Or", &[below, above], &[])?;
        let within = cx.put("Not", &[outside], &[])?;
        let doubled = cx.put("Mul", &[along, two], &[])?;
        let place = cx.put("Sub", &[doubled, one], &[])?;
        let mut dims = [-1, 1, 1, 1];
        dims[axis + 1] = count;
        let (of_grid, of_result) = (cx.list(&dims), cx.list(&[-1, 1, dims[1], dims[2]]));
        let place = cx.put("Reshape", &[place, of_grid], &[])?;
        let within = cx.put("Reshape", &[within, of_result], &[])?;
        let each = cx.list(&[1, bins[0], bins[1], 1]);
        grid.push(cx.put("Expand", &[place, each], &[])?);
        inside = Some(match inside {
            Some(other) => cx.put("And", &[other, within], &[])?,
            None => within,
        });
    }
    let grid = cx.put("Concat", &grid, &[int("axis", 3)])?;
    let attributes = [flag("align_corners", true), word("mode", "linear"), word("padding_mode", "border")];
    let y = cx.put("GridSample", &[images, grid], &attributes)?;
    Ok(vec![match inside {
        Some(inside) => cx.put("Where", &[inside, y, zero], &[])?,
        None => y,
    }])
}

/// Regions of images, each pooled to one size.
pub(crate) fn roi_align(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    if cx.attributes.text("mode")?.is_some_and(|mode| !mode.eq_ignore_ascii_case("avg")) {
        return Err(cannot("the specifications define the samples of ROIAlign with mode=max differently"));
    }
    let positions = match cx.attributes.text("aligned_mode")?.unwrap_or("asymmetric") {
        "asymmetric" => "output_half_pixel",
        "half_pixel_for_nn" => "half_pixel",
        other => {
            return Err(cannot(format!("ONNX has no equivalent of ROIAlign with aligned_mode={other}")));
        }
    };
    let size = |name: &str| required(name, cx.attributes.int(name)?);
    let scale = required("spatial_scale", cx.attributes.float("spatial_scale")?)?;
    let attributes = [
        int("output_height", size("pooled_h")?),
        int("output_width", size("pooled_w")?),
        int("sampling_ratio", size("sampling_ratio")?),
        ("spatial_scale", Content::Float(scale)),
        word("coordinate_transformation_mode", positions),
    ];
    let inputs = [cx.input(0)?, cx.input(1)?, cx.whole(2)?];
    Ok(vec![cx.put("RoiAlign", &inputs, &attributes)?])
}

/// Boxes of each class that overlap no better one.
pub(crate) fn non_max_suppression(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges(
        "the specifications do not define the order of boxes of equal scores, and of boxes that overlap by the \
         threshold",
    );
    if cx.has(5) && cx.known(5)?.is_none_or(|sigma| sigma.only_number().ok() != Some(Number::Float(0.0))) {
        return graph_of(cx);
    }
    let center = cx.attributes.text("box_encoding")? == Some("center");
    let one = cx.list(&[1]);
    let mut inputs = vec![cx.input(0)?, cx.input(1)?];
    let most = if cx.has(2) { cx.whole_list(2)? } else { cx.list(&[0]) };
    inputs.push(most);
    for input in [3, 4] {
        let value = if cx.has(input) { cx.input(input)? } else { cx.number(0.0, DType::F32)? };
        inputs.push(cx.with_shape(value, one)?);
    }
    let mut found = cx.put("NonMaxSuppression", &inputs, &[flag("center_point_box", center)])?;
    let sorts = cx.attributes.flag("sort_result_descending", true)?;
    let to = cx.attributes.index_dtype("output_type")?.unwrap_or(DType::I64);
    let mut outputs = Vec::new();
    let counted = cx.size_of(found, 0)?;
    let mut scores = None;
    if sorts || cx.wants(1) {
        let mut score = cx.put("GatherND", &[inputs[1], found], &[])?;
        if sorts {
            // Boxes of all classes and images in the order of their scores.
            let order = cx.put_many("TopK", &[score, counted], &[int("axis", 0)], 2)?;
            score = order[0];
            found = cx.put("Gather", &[found, order[1]], &[int("axis", 0)])?;
        }
        scores = Some(score);
    }
    outputs.push(if to == DType::I64 { found } else { cx.cast(found, to)? });
    if cx.wants(1) || cx.wants(2) {
        let score = match scores {
            Some(score) => score,
            None => cx.put("GatherND", &[inputs[1], found], &[])?,
        };
        let (from, ends, second) = (cx.list(&[0]), cx.list(&[2]), cx.list(&[1]));
        let of = cx.put("Slice", &[found, from, ends, second], &[])?;
        let dtype = if cx.dtype(1)? == DType::F16 { DType::F16 } else { DType::F32 };
        let of = cx.cast(of, dtype)?;
        let score = cx.put("Unsqueeze", &[score, second], &[])?;
        outputs.push(cx.put("Concat", &[of, score], &[int("axis", 1)])?);
        outputs.push(if to == DType::I64 { counted } else { cx.cast(counted, to)? });
    }
    Ok(outputs)
}
