//! Sampling of images and boxes in the operators of ONNX.

use gradus_core::convert::{Rules, nearest_f64, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Shape, Tensor};

use crate::attributes::required;
use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::dialects::openvino::suppression::of_upright;
use crate::lowering::{LoweredValue, Lowering, flag, int, word};
use crate::operators::errors;

/// Most bins along an axis of a region.
const MOST_BINS: i64 = 1 << 10;

/// Elements of images at the positions of a grid.
pub(crate) fn grid_sample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let mode = match l.attributes.text("mode")?.unwrap_or("bilinear") {
        "bilinear" => "linear",
        "bicubic" => "cubic",
        "nearest" => {
            l.edges("the OpenVINO specification does not define which neighbor is nearest halfway");
            "nearest"
        }
        other => return Err(cannot(format!("ONNX has no equivalent of GridSample with mode={other}"))),
    };
    let padding = l.attributes.text("padding_mode")?.unwrap_or("zeros").to_owned();
    let aligned = l.attributes.flag("align_corners", false)?;
    let (x, grid) = (l.input(0)?, l.input(1)?);
    let attributes = [flag("align_corners", aligned), word("mode", mode), word("padding_mode", &padding)];
    Ok(vec![l.apply("GridSample", &[x, grid], &attributes)?])
}

/// The largest elements of bins of regions.
pub(crate) fn roi_pooling(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let bilinear = l.attributes.text("method")?.is_some_and(|method| !method.eq_ignore_ascii_case("max"));
    let listed = l.attributes.list("output_roi")?.or(l.attributes.list("output_size")?);
    let size = |name: &str, at: usize| -> Result<i64> {
        let listed = listed.as_ref().and_then(|listed| listed.get(at)).copied();
        required(name, l.attributes.int(name)?.or(listed))
    };
    let bins = [size("pooled_h", 0)?, size("pooled_w", 1)?];
    if bilinear {
        return sampled_regions(l, bins);
    }
    l.edges_of_floats(caveats::NAN);
    let attributes = [
        ("pooled_shape", Content::Ints(bins.to_vec())),
        ("spatial_scale", Content::Float(required("spatial_scale", l.attributes.float("spatial_scale")?)?)),
    ];
    let inputs = l.given()?;
    Ok(vec![l.apply("MaxRoiPool", &inputs, &attributes)?])
}

/// Regions of images whose sides are shares of the image, as one element for each bin: between
/// those around evenly spaced positions, from side to side.
fn sampled_regions(l: &mut Lowering<'_>, bins: [i64; 2]) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    l.edges("rounding decides whether positions at the border lie within the image");
    let dtype = l.dtype_of(0)?;
    let (x, regions) = (l.input(0)?, l.input(1)?);
    let (zero, one, two) = (l.number(0.0, dtype)?, l.number(1.0, dtype)?, l.number(2.0, dtype)?);
    let column = |l: &mut Lowering<'_>, at: i64| {
        let at = l.list(&[at])?;
        l.apply("Gather", &[regions, at], &[int("axis", 1)])
    };
    let image = column(l, 0)?;
    let image = l.cast(image, DType::I64)?;
    let row = l.list(&[-1])?;
    let image = l.apply("Reshape", &[image, row], &[])?;
    let images = l.apply("Gather", &[x, image], &[int("axis", 0)])?;
    let (mut grid, mut inside) = (Vec::new(), None);
    // Coordinates of a grid begin with the last axis.
    for (axis, sides) in [(1, [1, 3]), (0, [2, 4])] {
        let count = bins[axis];
        if !(1..=MOST_BINS).contains(&count) {
            return Err(errors::value("number of bins", count, format_args!("from 1 to {MOST_BINS}")));
        }
        let (low, high) = (column(l, sides[0])?, column(l, sides[1])?);
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
        let shares = l.constant(shares)?;
        let apart = l.apply("Sub", &[high, low], &[])?;
        let along = l.apply("Mul", &[apart, shares], &[])?;
        let along = l.apply("Add", &[low, along], &[])?;
        // All positions lie within an axis of one element.
        let size = l.size_of(x, axis + 2)?;
        let size = l.cast(size, dtype)?;
        let last = l.apply("Sub", &[size, one], &[])?;
        let at = l.apply("Mul", &[along, last], &[])?;
        let (below, above) = (l.apply("Less", &[at, zero], &[])?, l.apply("Greater", &[at, last], &[])?);
        let outside = l.apply("Or", &[below, above], &[])?;
        let within = l.apply("Not", &[outside], &[])?;
        let doubled = l.apply("Mul", &[along, two], &[])?;
        let place = l.apply("Sub", &[doubled, one], &[])?;
        let mut dims = [-1, 1, 1, 1];
        dims[axis + 1] = count;
        let (of_grid, of_result) = (l.list(&dims)?, l.list(&[-1, 1, dims[1], dims[2]])?);
        let place = l.apply("Reshape", &[place, of_grid], &[])?;
        let within = l.apply("Reshape", &[within, of_result], &[])?;
        let each = l.list(&[1, bins[0], bins[1], 1])?;
        grid.push(l.apply("Expand", &[place, each], &[])?);
        inside = Some(match inside {
            Some(other) => l.apply("And", &[other, within], &[])?,
            None => within,
        });
    }
    let grid = l.apply("Concat", &grid, &[int("axis", 3)])?;
    let attributes = [flag("align_corners", true), word("mode", "linear"), word("padding_mode", "border")];
    let y = l.apply("GridSample", &[images, grid], &attributes)?;
    Ok(vec![match inside {
        Some(inside) => l.apply("Where", &[inside, y, zero], &[])?,
        None => y,
    }])
}

/// Regions of images, each pooled to one size.
pub(crate) fn roi_align(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    if l.attributes.text("mode")?.is_some_and(|mode| !mode.eq_ignore_ascii_case("avg")) {
        return Err(cannot("the specifications define the samples of ROIAlign with mode=max differently"));
    }
    let positions = match l.attributes.text("aligned_mode")?.unwrap_or("asymmetric") {
        "asymmetric" => "output_half_pixel",
        "half_pixel_for_nn" => "half_pixel",
        other => {
            return Err(cannot(format!("ONNX has no equivalent of ROIAlign with aligned_mode={other}")));
        }
    };
    let size = |name: &str| required(name, l.attributes.int(name)?);
    let scale = required("spatial_scale", l.attributes.float("spatial_scale")?)?;
    let attributes = [
        int("output_height", size("pooled_h")?),
        int("output_width", size("pooled_w")?),
        int("sampling_ratio", size("sampling_ratio")?),
        ("spatial_scale", Content::Float(scale)),
        word("coordinate_transformation_mode", positions),
    ];
    let inputs = [l.input(0)?, l.input(1)?, l.whole(2)?];
    Ok(vec![l.apply("RoiAlign", &inputs, &attributes)?])
}

/// Boxes of each class that overlap no better one.
pub(crate) fn non_max_suppression(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.edges(
        "the specifications do not define the order of boxes of equal scores, and of boxes that overlap by the \
         threshold",
    );
    if l.has(5) && l.known(5)?.is_none_or(|sigma| sigma.only_number().ok() != Some(Number::Float(0.0))) {
        l.note_by_operators();
        return of_upright(l);
    }
    let center = l.attributes.text("box_encoding")? == Some("center");
    let one = l.list(&[1])?;
    let mut inputs = vec![l.input(0)?, l.input(1)?];
    let most = if l.has(2) { l.whole_list(2)? } else { l.list(&[0])? };
    inputs.push(most);
    for input in [3, 4] {
        let value = if l.has(input) { l.input(input)? } else { l.number(0.0, DType::F32)? };
        inputs.push(l.with_shape(value, one)?);
    }
    let mut found = l.apply("NonMaxSuppression", &inputs, &[flag("center_point_box", center)])?;
    let sorts = l.attributes.flag("sort_result_descending", true)?;
    let to = l.attributes.index_dtype("output_type")?.unwrap_or(DType::I64);
    let mut outputs = Vec::new();
    let counted = l.size_of(found, 0)?;
    let mut scores = None;
    if sorts || l.wants(1) {
        let mut score = l.apply("GatherND", &[inputs[1], found], &[])?;
        if sorts {
            // Boxes of all classes and images in the order of their scores.
            let order = l.apply_many("TopK", &[score, counted], &[int("axis", 0)], 2)?;
            score = order[0];
            found = l.apply("Gather", &[found, order[1]], &[int("axis", 0)])?;
        }
        scores = Some(score);
    }
    outputs.push(if to == DType::I64 { found } else { l.cast(found, to)? });
    if l.wants(1) || l.wants(2) {
        let score = match scores {
            Some(score) => score,
            None => l.apply("GatherND", &[inputs[1], found], &[])?,
        };
        let (from, ends, second) = (l.list(&[0])?, l.list(&[2])?, l.list(&[1])?);
        let of = l.apply("Slice", &[found, from, ends, second], &[])?;
        let dtype = if l.dtype_of(1)? == DType::F16 { DType::F16 } else { DType::F32 };
        let of = l.cast(of, dtype)?;
        let score = l.apply("Unsqueeze", &[score, second], &[])?;
        outputs.push(l.apply("Concat", &[of, score], &[int("axis", 1)])?);
        outputs.push(if to == DType::I64 { counted } else { l.cast(counted, to)? });
    }
    Ok(outputs)
}
