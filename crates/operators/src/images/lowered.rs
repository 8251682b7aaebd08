//! Images as graphs of simpler operators, where a standard or an operator set lacks the operator.
//!
//! `Upsample` and a `Resize` that names its axes are a `Resize`, and `AffineGrid` is a product of
//! matrices. `GridSample` is a sum of gathered elements, each with the product of its weights along
//! the axes; the weights are those of `sampling.rs`.

use gradus_core::convert::i64_of;
use gradus_core::graph::{Content, Standard};
use gradus_core::{DType, Result, Tensor};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::older::New;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::say;
use crate::conversion::writer::NewValue;
use crate::errors;
use crate::graphs::{compute_type, like, number, widened};
use crate::images::infer::sizes_of_grid;
use crate::images::sampling::{Interpolation, Outside, manner};
use crate::images::to_openvino::by_weights;
use crate::indices::axes as axes_of;
use crate::lowering::terms::{Term, cast, f, ints, of, shaped, with};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::normalize::Older;

/// `Upsample`: a `Resize` that divides coordinates by the scale, and rounds them down.
pub fn upsample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let scales = match l.attributes.floats("scales")? {
        Some(scales) => l.constant(Tensor::vector(scales))?,
        None => l.input(1)?,
    };
    let mode = l.attributes.text("mode")?.unwrap_or("nearest");
    let word = |name: &'static str, word: &str| (name, Content::Bytes(word.to_owned().into()));
    let attributes = [
        word("mode", mode),
        word("coordinate_transformation_mode", "asymmetric"),
        word("nearest_mode", "floor"),
    ];
    let x = l.input(0)?;
    Ok(vec![l.apply("Resize", &[x, LoweredValue::NONE, scales], &attributes)?])
}

/// Points of an image or a volume, between -1 and 1, turned by the matrices of the batch.
pub fn affine_grid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let len = l.len_of(1)?;
    sizes_of_grid(len)?;
    let axes = len - 2;
    let (theta, size, corners) = (widened(l, 0)?, l.input(1)?, l.attributes.flag("align_corners", false)?);
    let (one, two, dtype) = (number(l, 1.0)?, number(l, 2.0)?, compute_type(l)?);
    let (from, most, first) = (l.list(&[2])?, l.list(&[i64::MAX])?, l.list(&[0])?);
    let sizes = l.apply("Slice", &[size, from, most, first], &[])?;
    // The coordinates of a point begin with the last axis, and end with 1.
    let unit = l.list(&[1])?;
    let shape = l.apply("Concat", &[sizes, unit], &[int("axis", 0)])?;
    let mut point = Vec::new();
    for axis in (0..axes).rev() {
        let index = l.constant(Tensor::scalar(i64_of(axis)))?;
        let count = l.apply("Gather", &[sizes, index], &[])?;
        let (steps, count) = (l.up_to(count)?, l.cast(count, dtype)?);
        let twice = (cast(steps, dtype) * two).put(l)?;
        let place = if corners {
            let last = of("Max", count - one, one).put(l)?;
            l.apply("Div", &[twice, last], &[])?
        } else {
            ((twice + one) / count).put(l)?
        };
        let mut along = vec![1; axes + 1];
        along[axis] = -1;
        point.push(of("Expand", shaped(place - one, &along), shape).put(l)?);
    }
    point.push(l.apply("Expand", &[one, shape], &[])?);
    let points = l.apply("Concat", &point, &[int("axis", -1)])?;
    let matrix = l.transposed(theta, &[0, 2, 1])?;
    let grid = of("MatMul", shaped(points, &[-1, i64_of(axes) + 1]), matrix).put(l)?;
    let batch = l.apply("Slice", &[size, first, unit, first], &[])?;
    let last = l.list(&[i64_of(axes)])?;
    let shape = l.apply("Concat", &[batch, sizes, last], &[int("axis", 0)])?;
    let grid = l.apply("Reshape", &[grid, shape], &[int("allowzero", 1)])?;
    Ok(vec![like(l, grid, 0)?])
}

/// The sizes of all axes of a `Resize` that names some: the others keep their sizes.
pub fn resize(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let Some(axes) = l.attributes.list("axes")? else { return l.itself() };
    // The only coordinates that move elements at a scale of 1, and those of `roi`, which has axes
    // too.
    let moves = match l.attributes.text("coordinate_transformation_mode")? {
        Some("tf_crop_and_resize") => true,
        Some("tf_half_pixel_for_nn") => l.attributes.text("nearest_mode")? != Some("floor"),
        _ => false,
    };
    if moves {
        return l.itself();
    }
    let rank = l.rank_of(0)?;
    let axes = axes_of(&axes, rank)?;
    let mut attributes = l.own_attributes();
    attributes.retain(|(name, _)| *name != "axes");
    let x = l.input(0)?;
    let mut inputs: Vec<_> = (0..l.count()).map(|input| l.maybe(input)).collect();
    if !axes.iter().copied().eq(0..rank) {
        let given = |axis: usize| axes.iter().position(|&own| own == axis);
        let from = |axis: usize| i64_of(given(axis).map_or(axis, |place| rank + place));
        let from = (0..rank).map(from).collect::<Vec<_>>();
        for (input, value) in inputs.iter_mut().enumerate().skip(2) {
            if *value == LoweredValue::NONE {
                continue;
            }
            let ones = Term::Tensor(Tensor::vector(&vec![1_f32; rank]));
            let kept = if input == 2 { ones } else { f("Shape", x) };
            let all = with("Concat", [kept, (*value).into()], [int("axis", 0)]);
            *value = with("Gather", [all, ints(&from)], [int("axis", 0)]).write(l, DType::I64)?;
        }
    }
    Ok(vec![l.apply("Resize", &inputs, &attributes)?])
}

/// The elements of an axis around each position.
pub struct Taps {
    /// Indices and weights of the elements.
    elements: Vec<(NewValue, Option<NewValue>)>,
    /// The number of elements of the axis.
    size: NewValue,
}

/// The type that weights are computed in.
pub fn computed_in(own: DType) -> Result<DType> {
    if !own.is_float() {
        return Err(cannot(format!("cannot convert: no sums are sampled of elements of {own}")));
    }
    Ok(if own == DType::F64 { DType::F64 } else { DType::F32 })
}

/// Notes that samples depend on rounding and on indices that are not finite.
pub fn note(cx: &mut ConvertContext<'_, '_>) {
    cx.rounding(caveats::STEPS);
    cx.edges("indices of positions that are infinite or NaN depend on the runtime, and rounding decides at borders");
}

/// The manner in which a `GridSample` samples.
pub struct Grid<'a> {
    pub mode: &'a str,
    pub padding: &'a str,
    pub corners: bool,
}

/// The `GridSample` of an image or volume of this rank and type.
pub fn at_grid(
    cx: &mut ConvertContext<'_, '_>,
    [x, grid]: [NewValue; 2],
    (rank, own): (usize, DType),
    Grid { mode, padding, corners }: Grid<'_>,
) -> Result<NewValue> {
    let (how, outside) = manner(mode, padding, corners)?;
    let spatial = rank.checked_sub(2).filter(|&axes| axes > 0);
    let spatial = spatial.ok_or_else(|| errors::rank("input 0", rank, "at least 3"))?;
    let dtype = computed_in(own)?;
    note(cx);
    let (x, grid) = (cx.of_type(x, dtype)?, cx.of_type(grid, dtype)?);
    let (sizes, points) = (cx.dimensions(x)?, cx.dimensions(grid)?);
    let axes = i64::try_from(spatial).unwrap_or(i64::MAX);
    let (rows_of, points_of) = (cx.list(&[0, 0, -1]), cx.list(&[0, -1, axes]));
    let (rows, grid) = (cx.in_shape(x, rows_of)?, cx.in_shape(grid, points_of)?);
    let (half, one) = (cx.number(0.5, dtype)?, cx.number(1.0, dtype)?);
    let mut all = Vec::new();
    for axis in 0..axes {
        // Coordinates are given from the last axis on, and are -1 and 1 at the ends.
        let place = cx.scalar(axes - 1 - axis);
        let given = cx.gathered(grid, place, 2)?;
        let size = cx.elements_of(sizes, axis + 2, axis + 3)?;
        let extent = cx.of_type(size, dtype)?;
        let moved = cx.elements("Add", &[given, one])?;
        let at = if corners {
            let halved = cx.elements("Mul", &[moved, half])?;
            let last = cx.elements("Sub", &[extent, one])?;
            cx.elements("Mul", &[halved, last])?
        } else {
            let scaled = cx.elements("Mul", &[moved, extent])?;
            let less = cx.elements("Sub", &[scaled, one])?;
            cx.elements("Mul", &[less, half])?
        };
        all.push(taps_around(cx, at, (size, extent), dtype, (how, outside))?);
    }
    let value = sums(cx, rows, sizes, all, (dtype, outside == Outside::Zeros))?;
    let (first, rest) = (cx.elements_of(sizes, 0, 2)?, cx.elements_of(points, 1, axes + 1)?);
    let dims = cx.joined(&[first, rest])?;
    let value = cx.in_shape(value, dims)?;
    cx.of_type(value, own)
}

/// The elements of an axis around positions, which are indices between elements.
pub fn taps_around(
    cx: &mut ConvertContext<'_, '_>,
    at: NewValue,
    (size, extent): (NewValue, NewValue),
    dtype: DType,
    (how, outside): (Interpolation, Outside),
) -> Result<Taps> {
    let (zero, one) = (cx.number(0.0, dtype)?, cx.number(1.0, dtype)?);
    let last = cx.elements("Sub", &[extent, one])?;
    let at = if how == Interpolation::Nearest { cx.elements("Round", &[at])? } else { at };
    let at = match outside {
        Outside::Zeros => at,
        Outside::Border { edges: false } => within(cx, at, zero, last)?,
        Outside::Border { edges: true } => {
            // Positions up to half an element outside are kept.
            let (half, low) = (cx.number(0.5, dtype)?, cx.number(-0.5, dtype)?);
            let high = cx.elements("Add", &[last, half])?;
            let [below, above] = [cx.elements("Less", &[at, low])?, cx.elements("Greater", &[at, high])?];
            let beyond = cx.elements("Or", &[below, above])?;
            let moved = within(cx, at, zero, last)?;
            cx.elements("Where", &[beyond, moved, at])?
        }
        Outside::Reflection { edges } => reflected(cx, at, (extent, last), dtype, edges)?,
    };
    let floor = cx.elements("Floor", &[at])?;
    let mut near = vec![(0.0, None)];
    if how != Interpolation::Nearest {
        let far = cx.elements("Sub", &[at, floor])?;
        let close = cx.elements("Sub", &[one, far])?;
        near = vec![(0.0, Some(close)), (1.0, Some(far))];
        if how == Interpolation::Cubic {
            let (before, behind) = (cx.elements("Add", &[far, one])?, cx.elements("Add", &[close, one])?);
            near = vec![
                (-1.0, Some(polynomial(cx, before, OUTER, dtype)?)),
                (0.0, Some(polynomial(cx, far, INNER, dtype)?)),
                (1.0, Some(polynomial(cx, close, INNER, dtype)?)),
                (2.0, Some(polynomial(cx, behind, OUTER, dtype)?)),
            ];
        }
    }
    let mut elements = Vec::new();
    for (apart, mut weight) in near {
        let apart = cx.number(apart, dtype)?;
        let index = cx.elements("Add", &[floor, apart])?;
        let mirrored = match outside {
            Outside::Reflection { edges } => reflected(cx, index, (extent, last), dtype, edges)?,
            _ => index,
        };
        let mut inside = within(cx, mirrored, zero, last)?;
        if outside == Outside::Zeros {
            let is_inside = cx.elements("Equal", &[inside, index])?;
            weight = Some(cx.elements("Where", &[is_inside, weight.unwrap_or(one), zero])?);
        }
        if cx.target.standard == Standard::Onnx {
            // ONNX Runtime refuses the index of a NaN.
            let is_number = cx.elements("Equal", &[inside, inside])?;
            inside = cx.elements("Where", &[is_number, inside, zero])?;
        }
        elements.push((cx.of_type(inside, DType::I64)?, weight));
    }
    Ok(Taps { elements, size })
}

/// Coefficients of the cubic polynomials, from that of the third power on: up to one element from
/// the position, and beyond.
const INNER: [f64; 4] = [1.25, -2.25, 0.0, 1.0];

const OUTER: [f64; 4] = [-0.75, 3.75, -6.0, 3.0];

fn polynomial(
    cx: &mut ConvertContext<'_, '_>,
    x: NewValue,
    [first, rest @ ..]: [f64; 4],
    dtype: DType,
) -> Result<NewValue> {
    let mut value = cx.number(first, dtype)?;
    for coefficient in rest {
        value = cx.elements("Mul", &[value, x])?;
        if coefficient != 0.0 {
            let coefficient = cx.number(coefficient, dtype)?;
            value = cx.elements("Add", &[value, coefficient])?;
        }
    }
    Ok(value)
}

/// Numbers that are at least the one and at most the other.
fn within(cx: &mut ConvertContext<'_, '_>, x: NewValue, low: NewValue, high: NewValue) -> Result<NewValue> {
    let x = cx.elements("Max", &[x, low])?;
    cx.elements("Min", &[x, high])
}

/// A wave between the ends of an axis, which lie at its first and last element, or at their outer
/// edges.
fn reflected(
    cx: &mut ConvertContext<'_, '_>,
    at: NewValue,
    (extent, last): (NewValue, NewValue),
    dtype: DType,
    edges: bool,
) -> Result<NewValue> {
    let (low, range) = if edges {
        (cx.number(-0.5, dtype)?, extent)
    } else {
        let one = cx.number(1.0, dtype)?;
        (cx.number(0.0, dtype)?, cx.elements("Max", &[last, one])?)
    };
    let apart = cx.elements("Sub", &[at, low])?;
    let apart = cx.elements("Abs", &[apart])?;
    let period = cx.elements("Add", &[range, range])?;
    let rest = cx.elements("Mod", &[apart, period])?;
    let back = cx.elements("Sub", &[range, rest])?;
    let back = cx.elements("Abs", &[back])?;
    let wave = cx.elements("Sub", &[range, back])?;
    cx.elements("Add", &[wave, low])
}

/// Sums of the elements of rows, which are the last axis of a value of three.
pub fn sums(
    cx: &mut ConvertContext<'_, '_>,
    rows: NewValue,
    sizes: NewValue,
    axes: Vec<Taps>,
    (dtype, zeros): (DType, bool),
) -> Result<NewValue> {
    let mut all = vec![(None, None)];
    for Taps { elements, size } in axes {
        let mut longer = Vec::new();
        for (place, weight) in all {
            for &(index, own) in &elements {
                let place = match place {
                    Some(place) => {
                        let first = cx.elements("Mul", &[place, size])?;
                        cx.elements("Add", &[first, index])?
                    }
                    None => index,
                };
                let weight = match (weight, own) {
                    (Some(weight), Some(own)) => Some(cx.elements("Mul", &[weight, own])?),
                    (weight, own) => weight.or(own),
                };
                longer.push((Some(place), weight));
            }
        }
        all = longer;
    }
    let (zero, channels) = (cx.number(0.0, dtype)?, cx.list(&[1]));
    let mut sum = None;
    for (place, weight) in all {
        let place = place.ok_or_else(|| not_known("axes of an image"))?;
        let mut value = if cx.target.standard == Standard::Onnx {
            let each = cx.part_of(sizes, 1, 2)?;
            let each = cx.joined(&[channels, each, channels])?;
            let place = cx.put("Unsqueeze", &[place, channels], &[])?;
            let place = cx.put("Expand", &[place, each], &[])?;
            cx.put("GatherElements", &[rows, place], &[int("axis", 2)])?
        } else {
            let axis = cx.scalar(2);
            cx.put("Gather", &[rows, place, axis], &[say("batch_dims", 1)])?
        };
        if let Some(weight) = weight {
            let weight = cx.put("Unsqueeze", &[weight, channels], &[])?;
            // No element outside counts, not even an infinite one.
            if zeros {
                let none = cx.elements("Equal", &[weight, zero])?;
                value = cx.elements("Where", &[none, zero, value])?;
            }
            value = cx.elements("Mul", &[value, weight])?;
        }
        sum = Some(match sum {
            Some(sum) => cx.elements("Add", &[sum, value])?,
            None => value,
        });
    }
    sum.ok_or_else(|| not_known("elements around a position"))
}

/// `GridSample` in operator sets before 16, and before 20 but of images.
pub fn grid_sample(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let rank = cx.rank(0)?;
    if cx.target.signature("GridSample").is_some() && rank == 4 {
        return cx.target.put("GridSample", new.inputs, new.attributes, 1);
    }
    let (&[x, grid], own) = (new.two()?, cx.operand_dtype()?);
    let how = Grid {
        mode: new.text("mode").unwrap_or("linear"),
        padding: new.text("padding_mode").unwrap_or("zeros"),
        corners: new.int("align_corners", 0) != 0,
    };
    Ok(vec![at_grid(cx, [x, grid], (rank, own), how)?])
}

/// A manner in which Resize samples, and the operator set does not.
fn lack_of_resize(cx: &ConvertContext<'_, '_>) -> Result<Option<&'static str>> {
    if cx.target.form("Resize").is(Older::Upsampled) && !cx.attributes.form().is(Older::Upsampled) {
        let text = |name, default| Ok(cx.attributes.text(name)?.unwrap_or(default));
        let coordinates = text("coordinate_transformation_mode", "half_pixel")?;
        let rounds_down = match text("mode", "nearest")? {
            "nearest" => text("nearest_mode", "round_prefer_floor")? == "floor",
            mode => mode == "linear",
        };
        let by_scales = cx.has(2) && cx.len(2) != Some(0) && !cx.has(3);
        if coordinates != "asymmetric" || !rounds_down || !by_scales {
            return Ok(Some("attributes of operator set 11"));
        }
    }
    if cx.attributes.flag("antialias", false)? && !cx.set_has("antialias") {
        return Ok(Some("antialias"));
    }
    let policy = "keep_aspect_ratio_policy";
    if cx.attributes.text(policy)?.is_some_and(|policy| policy != "stretch") && !cx.set_has(policy) {
        return Ok(Some(policy));
    }
    let (attribute, symmetric) = ("coordinate_transformation_mode", "half_pixel_symmetric");
    let is_symmetric = cx.attributes.text(attribute)? == Some(symmetric);
    let lacks = cx.target.form("Resize").lacks_value(attribute, symmetric);
    Ok((is_symmetric && lacks).then_some(symmetric))
}

/// `Resize` in a manner that the operator set lacks: sums by weights that are constants.
pub fn resize_by_weights(cx: &mut ConvertContext<'_, '_>) -> Result<Option<Vec<NewValue>>> {
    lack_of_resize(cx)?.map(|lack| by_weights(cx, lack)).transpose()
}
