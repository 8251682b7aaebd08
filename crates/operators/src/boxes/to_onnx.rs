//! Boxes in the operators of ONNX: features of regions, and suppression.

use gradus_core::convert::{Rules, nearest_f32, nearest_f64, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Shape, Tensor};

use crate::attributes::required;
use crate::boxes::features::scale;
use crate::boxes::lowered::of_upright;
use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::dialects::boxes::{expect_sizes, limits};
use crate::errors;
use crate::lowering::terms::{
    Term, cast, f, gathered, ints, joined, of, pick, shaped, size, unsqueezed, with,
};
use crate::lowering::{LoweredValue, Lowering, flag, int, word};
use crate::words;

/// Maximum number of bins along an axis of a region.
const MAX_BINS: i64 = 1 << 10;

/// The largest elements of bins of regions.
pub fn roi_pooling(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let bilinear = words::REGION_METHOD.of(&l.attributes)? != "max";
    expect_sizes(l, 1, &[None, Some(5)])?;
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
        ("pooled_shape", Content::Ints(bins.to_vec().into())),
        ("spatial_scale", Content::Float(nearest_f32(Number::Float(scale(l)?)))),
    ];
    let inputs = l.given()?;
    Ok(vec![l.apply("MaxRoiPool", &inputs, &attributes)?])
}

/// Regions of images whose sides are shares of the image, as one element for each bin: between
/// those around evenly spaced positions, from side to side.
fn sampled_regions(l: &mut Lowering<'_>, bins: [i64; 2]) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    l.edges("rounding decides whether positions at the border lie within the image");
    let (x, regions, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let column = |at: i64| gathered(regions, ints(&[at]), 1);
    let images = gathered(x, shaped(cast(column(0), DType::I64), &[-1]), 0);
    let (mut grid, mut inside) = (Vec::new(), Vec::new());
    // Coordinates of a grid begin with the last axis.
    for (axis, sides) in [(1, [1, 3]), (0, [2, 4])] {
        let count = bins[axis];
        if !(1..=MAX_BINS).contains(&count) {
            return Err(errors::value("number of bins", count, format_args!("from 1 to {MAX_BINS}")));
        }
        let share = |bin: i64| {
            let [bin, last] = [bin, (count - 1).max(1)].map(|n| nearest_f64(Number::Int(n.into())));
            Number::Float(if count == 1 { 0.5 } else { bin / last })
        };
        let shape = Shape::vector(usize_of_i64(count).unwrap_or(1));
        let shares = Tensor::from_numbers(dtype, shape, (0..count).map(share), Rules::IEEE)?;
        let low = column(sides[0]).write(l, dtype)?;
        let along = (low + (column(sides[1]) - low) * Term::Tensor(shares)).write(l, dtype)?;
        // All positions lie within an axis of one element.
        let last = (cast(size(x, axis + 2), dtype) - 1.0).write(l, dtype)?;
        let at = (along * last).write(l, dtype)?;
        let within = f("Not", of("Or", of("Less", at, 0.0), of("Greater", at, last)));
        let mut dims = [-1, 1, 1, 1];
        dims[axis + 1] = count;
        let place = shaped(along * 2.0 - 1.0, &dims);
        grid.push(of("Expand", place, ints(&[1, bins[0], bins[1], 1])));
        inside.push(shaped(within, &[-1, 1, dims[1], dims[2]]));
    }
    let attributes = [flag("align_corners", true), word("mode", "linear"), word("padding_mode", "border")];
    let y = with("GridSample", [images, joined(grid, 3)], attributes);
    let inside = inside.into_iter().reduce(|all, one| of("And", all, one));
    let y = inside.map_or(y.clone(), |inside| pick(inside, y, 0.0));
    Ok(vec![y.write(l, dtype)?])
}

/// Regions of images, each pooled to one size.
pub fn roi_align(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    if words::REGION_MODE.of(&l.attributes)? != "avg" {
        return Err(cannot("the specifications define the samples of ROIAlign with mode=max differently"));
    }
    let (positions, shift) = match words::REGION_ALIGNED.of(&l.attributes)? {
        "asymmetric" => ("output_half_pixel", 0.0),
        "half_pixel_for_nn" => ("half_pixel", 0.0),
        // Corners are centers of pixels of the image that the boxes were found in.
        _ => ("half_pixel", 0.5),
    };
    let size = |name: &str| required(name, l.attributes.int(name)?);
    let scale = nearest_f32(Number::Float(scale(l)?));
    let attributes = [
        int("output_height", size("pooled_h")?),
        int("output_width", size("pooled_w")?),
        int("sampling_ratio", size("sampling_ratio")?),
        ("spatial_scale", Content::Float(scale)),
        word("coordinate_transformation_mode", positions),
    ];
    let (regions, dtype) = (l.input(1)?, l.dtype_of(1)?);
    let regions = if shift == 0.0 { regions } else { (regions + shift).write(l, dtype)? };
    let inputs = [l.input(0)?, regions, l.whole(2)?];
    Ok(vec![l.apply("RoiAlign", &inputs, &attributes)?])
}

/// Boxes of each class that overlap no better one.
pub fn non_max_suppression(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.edges(
        "the specifications do not define the order of boxes of equal scores, and of boxes that overlap by the \
         threshold",
    );
    if l.has(5) && l.known(5)?.is_none_or(|sigma| sigma.only_number().ok() != Some(Number::Float(0.0))) {
        l.note_by_operators();
        return of_upright(l);
    }
    let center = words::BOX_ENCODING.of(&l.attributes)? == "center";
    let one = l.list(&[1])?;
    let float32 = |l: &mut Lowering<'_>, input| -> Result<LoweredValue> {
        let (value, dtype) = (l.input(input)?, l.dtype_of(input)?);
        l.in_type(value, dtype, DType::F32)
    };
    let mut inputs = vec![float32(l, 0)?, float32(l, 1)?];
    let most = if l.has(2) { l.whole_list(2)? } else { l.list(&[0])? };
    inputs.push(most);
    for input in [3, 4] {
        let value = if l.has(input) { float32(l, input)? } else { l.number(0.0, DType::F32)? };
        inputs.push(l.with_shape(value, one)?);
    }
    if l.has(3)
        && let Some(overlap) = l.known(3)?.map(|overlap| overlap.only_number()).transpose()?.map(nearest_f64)
        && !(0.0..=1.0).contains(&overlap)
    {
        [inputs[2], inputs[3]] = limits(l, inputs[2], overlap)?;
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
    outputs.push(l.in_type(found, DType::I64, to)?);
    if l.wants(1) || l.wants(2) {
        let score = match scores {
            Some(score) => score,
            None => l.apply("GatherND", &[inputs[1], found], &[])?,
        };
        let owners = with("Slice", [found.into(), ints(&[0]), ints(&[2]), ints(&[1])], []);
        let columns = [cast(owners, DType::F32), unsqueezed(score, &[1])];
        outputs.push(joined(columns, 1).write(l, DType::F32)?);
        outputs.push(l.in_type(counted, DType::I64, to)?);
    }
    Ok(outputs)
}
