//! Operators of detection that make boxes, and that take features from boxes.
//!
//! | operators | Paddle |
//! |---|---|
//! | `yolo_box` | boxes and scores of cells; those whose confidence is below the threshold are zeros |
//! | `prior_box` | boxes around the centers of cells, for each size and aspect ratio |
//! | `box_coder` | boxes relative to other boxes, and back |
//! | `roi_align`, `roi_pool`, `psroi_pool` | features within boxes; an input has the number of boxes of each image |

use std::slice::from_ref;

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Shape, Tensor};

use crate::boxes::features::{BoxBins, bins};
use crate::dialects::boxes::{columns, expect_floats, joined, only_float32};
use crate::dialects::cannot;
use crate::dialects::indices::{index, owners, positions, size};
use crate::dialects::paddle::attributes::{constant_like, float, floats, ints, text};
use crate::errors;
use crate::lowering::terms::{Term, cast, f, of, pick, shaped, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// Positions along an axis of a value, as float32, with `behind` axes after them.
fn cells(l: &mut Lowering<'_>, x: LoweredValue, axis: usize, behind: usize) -> Result<LoweredValue> {
    let count = size(l, x, axis)?;
    let all = positions(l, count)?;
    let all = l.cast(all, DType::F32)?;
    l.reshape(all, &[&[-1][..], &vec![1; behind]].concat())
}

/// The size of an axis of a value as a scalar of float32.
fn float_size(l: &mut Lowering<'_>, x: LoweredValue, axis: usize) -> Result<LoweredValue> {
    let count = size(l, x, axis)?;
    let count = l.reshape(count, &[])?;
    l.cast(count, DType::F32)
}

/// `yolo_box`: boxes and scores of the cells of a YOLO layer.
pub fn yolo_box(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    only_float32(l, 0)?;
    let (mut x, images) = (l.input(0)?, l.input(1)?);
    let (anchors, classes) = (ints(l, "anchors")?, l.attributes.int_or("class_num", 1)?);
    let (count, stride) = (anchors.len() / 2, l.attributes.int_or("downsample_ratio", 32)?);
    let least = l.float("conf_thresh")?.unwrap_or(0.01);
    let scale = l.float("scale_x_y")?.unwrap_or(1.0);
    let clips = l.attributes.flag("clip_bbox", true)?;
    let sides = [0, 1].map(|from| anchors.iter().skip(from).copied().step_by(2).collect::<Vec<_>>());
    let (second, third) = (int("axis", 1), int("axis", 2));
    let overlap = if l.attributes.flag("iou_aware", false)? {
        // The expected overlaps of all anchors come first.
        let channels = size(l, x, 1)?;
        let first = l.list(&[i64_of(count)])?;
        let sizes = with("Concat", [first.into(), channels - first], [int("axis", 0)]).put(l)?;
        let parts = l.apply_many("Split", &[x, sizes], from_ref(&second), 2)?;
        x = parts[1];
        let axis = l.list(&[2])?;
        Some(l.apply("Unsqueeze", &[parts[0], axis], &[])?)
    } else {
        None
    };
    // [image, anchor, number, row, column]
    let inner = l.list(&[i64_of(count), classes.saturating_add(5)])?;
    let dims = [size(l, x, 0)?, inner, l.apply("Shape", &[x], &[int("start", 2)])?];
    let dims = l.apply("Concat", &dims, &[int("axis", 0)])?;
    let cells_of = l.apply("Reshape", &[x, dims], &[])?;
    let sizes = l.list(&[1, 1, 1, 1, 1, classes])?;
    let parts = l.apply_many("Split", &[cells_of, sizes], from_ref(&third), 6)?;
    let mut confidence = f("Sigmoid", parts[4]);
    if let Some(overlap) = overlap {
        let share = l.float("iou_aware_factor")?.unwrap_or(0.5);
        confidence = of("Pow", confidence, 1.0 - share) * of("Pow", f("Sigmoid", overlap), share);
    }
    let confidence = confidence.write(l, DType::F32)?;
    let kept = of("GreaterOrEqual", confidence, least).write(l, DType::F32)?;
    // Height and width of each image, as [image, 1, 1, 1, 1].
    let images = l.cast(images, DType::F32)?;
    let images = l.apply_many("Split", &[images], &[second, int("num_outputs", 2)], 2)?;
    let mut sides_of = Vec::new();
    for image in images {
        sides_of.push(l.reshape(image, &[-1, 1, 1, 1, 1])?);
    }
    let mut corners = Vec::new();
    // Columns first.
    for (i, (axis, behind)) in [(3, 0), (2, 1)].into_iter().enumerate() {
        let (place, cells, image) = (cells(l, x, axis, behind)?, float_size(l, x, axis)?, sides_of[1 - i]);
        let anchor = l.constant(Tensor::vector(&sides[i]).reshaped(Shape::new([count, 1, 1, 1])?)?)?;
        let anchor = l.cast(anchor, DType::F32)?;
        let shift = -0.5 * (scale - 1.0);
        let center = (f("Sigmoid", parts[i]) * scale + shift + place) * image / cells;
        let center = center.write(l, DType::F32)?;
        let side = f("Exp", parts[2 + i]) * anchor * image / (cells * stride);
        let half = (side / 2.0).write(l, DType::F32)?;
        let (mut low, mut high) = (center - half, center + half);
        if clips {
            low = of("Max", low, 0.0);
            high = of("Min", high, image - 1.0);
        }
        corners.push((low, high));
    }
    let [(left, right), (top, bottom)] = <[_; 2]>::try_from(corners).expect("two axes");
    let mut corners = Vec::new();
    for corner in [left, top, right, bottom] {
        corners.push(corner.write(l, DType::F32)?);
    }
    let boxes = l.apply("Concat", &corners, &[third])?;
    let scores = (f("Sigmoid", parts[5]) * confidence).write(l, DType::F32)?;
    let mut outputs = Vec::new();
    for (value, last) in [(boxes, 4), (scores, classes)] {
        let value = pick(kept, value, 0.0).write(l, DType::F32)?;
        let value = l.transposed(value, &[0, 1, 3, 4, 2])?;
        outputs.push(l.reshape(value, &[0, -1, last])?);
    }
    Ok(outputs)
}

/// Maximum number of boxes around a center.
const MAX_BOXES: usize = 4096;

/// Half the widths and heights of the boxes around a center.
fn prior_sizes(l: &Lowering<'_>) -> Result<Vec<(f64, f64)>> {
    let of =
        |name| Ok::<_, gradus_core::Error>(floats(l, name)?.into_iter().map(f64::from).collect::<Vec<_>>());
    let (least, most, flip) = (of("min_sizes")?, of("max_sizes")?, l.attributes.flag("flip", false)?);
    let (mut ratios, given) = (vec![1.0], of("aspect_ratios")?);
    let count = least.len().saturating_mul(2 * given.len() + 2);
    if count > MAX_BOXES {
        return Err(errors::value(
            "number of sizes times aspect ratios",
            count,
            format_args!("at most {MAX_BOXES}"),
        ));
    }
    for ratio in given {
        if ratios.iter().all(|other: &f64| (other - ratio).abs() >= 1e-6) {
            ratios.push(ratio);
            if flip {
                ratios.push(1.0 / ratio);
            }
        }
    }
    let mut sizes = Vec::new();
    for (i, &low) in least.iter().enumerate() {
        let square = |side: f64| (side / 2.0, side / 2.0);
        let shaped = |ratio: &f64| (low * ratio.sqrt() / 2.0, low / ratio.sqrt() / 2.0);
        let between = most.get(i).map(|high| square((low * high).sqrt()));
        if l.attributes.flag("min_max_aspect_ratios_order", false)? {
            sizes.push(square(low));
            sizes.extend(between);
            sizes.extend(ratios[1..].iter().map(shaped));
        } else {
            sizes.extend(ratios.iter().map(shaped));
            sizes.extend(between);
        }
    }
    Ok(sizes)
}

/// `prior_box`: boxes of several sizes and ratios around each cell, and their variances.
pub fn prior_box(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, image) = (l.input(0)?, l.input(1)?);
    let (sizes, offset) = (prior_sizes(l)?, l.float("offset")?.unwrap_or(0.5));
    let variances = floats(l, "variances")?;
    let count = i64_of(sizes.len());
    let mut dims = l.apply("Shape", &[x], &[int("start", 2)])?;
    let each = l.list(&[count, 4])?;
    dims = l.apply("Concat", &[dims, each], &[int("axis", 0)])?;
    let mut corners = Vec::new();
    for (axis, name, behind) in [(3, "step_w", 1), (2, "step_h", 2)] {
        let (place, whole) = (cells(l, x, axis, behind)?, float_size(l, image, axis)?);
        let given = l.float(name)?.unwrap_or(0.0);
        let step = if given > 0.0 { given.into() } else { whole / float_size(l, x, axis)? };
        let halves = sizes.iter().map(|&(wide, high)| if axis == 3 { wide } else { high });
        let halves = l.constant(Tensor::vector(&halves.collect::<Vec<f64>>()))?;
        let halves = l.cast(halves, DType::F32)?;
        let center = ((place + offset) * step).write(l, DType::F32)?;
        corners.push([(center - halves) / whole, (center + halves) / whole]);
    }
    let [[left, right], [top, bottom]] = <[_; 2]>::try_from(corners).expect("two axes");
    let (mut parts, first, last) = (Vec::new(), l.list(&[0])?, l.list(&[-1])?);
    let sides = l.apply("Slice", &[dims, first, last], &[])?;
    for corner in [left, top, right, bottom] {
        let corner = corner.write(l, DType::F32)?;
        parts.push(of("Unsqueeze", of("Expand", corner, sides), last).put(l)?);
    }
    let mut boxes = l.apply("Concat", &parts, &[int("axis", -1)])?;
    if l.attributes.flag("clip", false)? {
        boxes = of("Min", of("Max", boxes, 0.0), 1.0).write(l, DType::F32)?;
    }
    let variances = l.constant(Tensor::vector(&variances))?;
    Ok(vec![boxes, l.apply("Expand", &[variances, dims], &[])?])
}

/// `box_coder`: boxes relative to prior boxes, or back.
pub fn box_coder(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    only_float32(l, 0)?;
    let more = if l.attributes.flag("box_normalized", true)? { 0.0 } else { 1.0 };
    let (given, target) = (floats(l, "variance")?, l.input(2)?);
    let encodes = text(l, "code_type", "encode_center_size")? == "encode_center_size";
    // Boxes that others are relative to lie along this axis of the result.
    let axis = i64::from(!encodes && l.attributes.int_or("axis", 0)? != 0);
    let around = l.list(&[axis])?;
    let mut prior = l.input(0)?;
    prior = l.apply("Unsqueeze", &[prior, around], &[])?;
    let prior = columns(l, prior)?;
    let variance = if l.has(1) {
        let mut variance = l.input(1)?;
        if l.rank_of(1)? == 2 {
            variance = l.apply("Unsqueeze", &[variance, around], &[])?;
        }
        columns(l, variance)?.map(Term::from)
    } else if let [a, b, c, d] = given[..] {
        [a, b, c, d].map(|part| f64::from(part).into())
    } else {
        [1.0, 1.0, 1.0, 1.0].map(Term::from)
    };
    let mut own = Vec::new();
    for i in 0..2 {
        let side = (prior[2 + i] - prior[i] + more).write(l, DType::F32)?;
        own.push((side, (prior[i] + side / 2.0).write(l, DType::F32)?));
    }
    let target = if encodes {
        let second = l.list(&[1])?;
        l.apply("Unsqueeze", &[target, second], &[])?
    } else {
        target
    };
    let target = columns(l, target)?;
    let mut parts = Vec::new();
    for (i, (side, center)) in own.into_iter().enumerate() {
        let [place, reach] = [variance[i].clone(), variance[2 + i].clone()];
        if encodes {
            let middle = (target[i] + target[2 + i]) / 2.0;
            let ratio = f("Log", f("Abs", (target[2 + i] - target[i] + more) / side));
            parts.push([(middle - center) / side / place, ratio / reach]);
        } else {
            let middle = (place * target[i] * side + center).write(l, DType::F32)?;
            let half = (f("Exp", reach * target[2 + i]) * side / 2.0).write(l, DType::F32)?;
            parts.push([middle - half, middle + half - more]);
        }
    }
    let [[left, right], [top, bottom]] = <[_; 2]>::try_from(parts).expect("two axes");
    Ok(vec![joined(l, [left, top, right, bottom])?])
}

/// The index of the image of each box, from how many boxes each image has.
fn images_of(l: &mut Lowering<'_>) -> Result<LoweredValue> {
    if !l.has(2) {
        return Err(cannot("boxes of images whose numbers are no input"));
    }
    let counts = index(l, 2)?;
    owners(l, counts)
}

/// `roi_align`: averages of interpolated samples of regions.
pub fn roi_align(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [l.input(0)?, l.input(1)?, images_of(l)?];
    let pixels = if l.attributes.flag("aligned", false)? { "half_pixel" } else { "output_half_pixel" };
    let attributes = [
        int("output_height", l.attributes.int_or("pooled_height", 1)?),
        int("output_width", l.attributes.int_or("pooled_width", 1)?),
        int("sampling_ratio", l.attributes.int_or("sampling_ratio", -1)?.max(0)),
        float("spatial_scale", l.float("spatial_scale")?.unwrap_or(1.0)),
        ("coordinate_transformation_mode", Content::Bytes(pixels.into())),
    ];
    Ok(vec![l.apply("RoiAlign", &inputs, &attributes)?])
}

/// `psroi_pool`: means of the elements within bins of boxes, each from a channel of its own.
pub fn psroi_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_floats(l, &[(0, 4), (1, 2)])?;
    let (boxes, images) = (l.input(1)?, images_of(l)?);
    let sides = l.apply_many("Split", &[boxes], &[int("axis", 1), int("num_outputs", 4)], 4)?;
    let bins = BoxBins {
        counts: [bins(l, "pooled_height")?, bins(l, "pooled_width")?],
        channels: errors::at_least_1("output_channels", l.attributes.int_or("output_channels", 1)?)?,
        scale: l.float("spatial_scale")?.unwrap_or(1.0),
        least: 0.1,
    };
    let image = l.reshape(images, &[-1, 1])?;
    Ok(vec![bins.means(l, image, &sides)?])
}

/// `roi_pool`: the maxima of the parts of regions.
pub fn roi_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, boxes, images, dtype) = (l.input(0)?, l.input(1)?, images_of(l)?, l.dtype_of(1)?);
    let boxes =
        with("Concat", [shaped(cast(images, dtype), &[-1, 1]), boxes.into()], [int("axis", 1)]).put(l)?;
    let sides = ["pooled_height", "pooled_width"].map(|name| l.attributes.int_or(name, 1));
    let [height, width] = sides;
    let attributes = [
        ("pooled_shape", Content::Ints([height?, width?].into())),
        float("spatial_scale", l.float("spatial_scale")?.unwrap_or(1.0)),
    ];
    let y = l.apply("MaxRoiPool", &[x, boxes], &attributes)?;
    // Nobody reads the places of the maxima, which are for training.
    let zero = constant_like(l, 0.0)?;
    Ok(vec![y, of("Expand", cast(zero, DType::I64), f("Shape", y)).put(l)?])
}
