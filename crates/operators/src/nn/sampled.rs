//! Elements of images and volumes between positions, where a standard or an operator set lacks the
//! operator: sums of gathered elements, each with the product of its weights along the axes. The
//! weights are those of `sampling.rs`.

use gradus_core::graph::{Content, Standard};
use gradus_core::{DType, Result};

use super::sampling::{Interpolation, Outside, manner};
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::older::New;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::say;
use crate::conversion::writer::NewValue;
use crate::errors;
use crate::lowering::int;

/// The elements of an axis around each position.
struct Taps {
    /// Indices and weights of the elements.
    elements: Vec<(NewValue, Option<NewValue>)>,
    /// The number of elements of the axis.
    size: NewValue,
}

/// The type that weights are computed in.
fn computed_in(own: DType) -> Result<DType> {
    if !own.is_float() {
        return Err(cannot(format!("cannot convert: no sums are sampled of elements of {own}")));
    }
    Ok(if own == DType::F64 { DType::F64 } else { DType::F32 })
}

fn note(cx: &mut ConvertContext<'_, '_>) {
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
        all.push(taps(cx, at, (size, extent), dtype, (how, outside))?);
    }
    let value = sums(cx, rows, sizes, all, (dtype, outside == Outside::Zeros))?;
    let (first, rest) = (cx.elements_of(sizes, 0, 2)?, cx.elements_of(points, 1, axes + 1)?);
    let dims = cx.joined(&[first, rest])?;
    let value = cx.in_shape(value, dims)?;
    cx.of_type(value, own)
}

/// The elements of an axis around positions, which are indices between elements.
fn taps(
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
            // Positions up to half an element outside stay.
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
fn sums(
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

/// Most elements of a window, and windows whose places are listed.
const MOST: i64 = 1 << 16;

/// `DeformConv` of images in operator sets that lack it: the elements at the positions of each
/// window become channels, of which a convolution by kernels of one element is the sum.
pub fn deform_conv(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let of_node = match &*cx.node.operator.name {
        "DeformConv" => [1, 2],
        _ => [2, 1],
    };
    let [weights, windows] = of_node.map(|input| cx.dims(input));
    let weights = weights.and_then(|dims| dims.into_iter().collect::<Option<Vec<_>>>());
    let Some(&[filters, inner, height, width]) = weights.as_deref() else {
        return Err(not_known("sizes of the weights of DeformConv of an image"));
    };
    let taps_count = height.saturating_mul(width);
    if !(0..=MOST).contains(&taps_count) {
        let most = format_args!("at most {MOST}");
        return Err(cannot(format!(
            "cannot convert: elements of a window are {taps_count}, expected {most}"
        )));
    }
    note(cx);
    cx.rounding(caveats::ORDER);
    let list = |name: &str, default: [i64; 2]| match new.get(name) {
        Some(Content::Ints(given)) if given.len() >= 2 => [given[0], given[1]],
        _ => default,
    };
    let (strides, dilations, pads) =
        (list("strides", [1, 1]), list("dilations", [1, 1]), list("pads", [0, 0]));
    let (groups, parts) = (new.int("group", 1).max(1), new.int("offset_group", 1).max(1));
    let (own, channels) = (cx.operand_dtype()?, inner.saturating_mul(groups));
    let dtype = computed_in(own)?;
    let Some(&[x, weights, offsets]) = new.inputs.first_chunk::<3>() else {
        return Err(errors::missing("offsets of DeformConv"));
    };
    let (x, offsets) = (cx.of_type(x, dtype)?, cx.of_type(offsets, dtype)?);
    let (sizes, of_offsets) = (cx.sizes(x)?, cx.sizes(offsets)?);
    let [rows, columns] = [2, 3].map(|axis| cx.part_of(of_offsets, axis, axis + 1));
    let (rows, columns) = (rows?, columns?);
    let count = cx.put("Mul", &[rows, columns], &[])?;
    let lead = cx.list(&[-1, taps_count, 2]);
    let dims = cx.joined(&[lead, count])?;
    let offsets = cx.put("Reshape", &[offsets, dims], &[])?;
    // Each part of the channels has positions of its own, and counts as an image.
    let area = [2, 3].map(|axis| cx.part_of(sizes, axis, axis + 1));
    let [tall, wide] = area;
    let (tall, wide) = (tall?, wide?);
    let area = cx.put("Mul", &[tall, wide], &[])?;
    let lead = cx.list(&[-1, channels / parts]);
    let dims = cx.joined(&[lead, area])?;
    let images = cx.put("Reshape", &[x, dims], &[])?;
    let of_images = cx.sizes(images)?;
    let known =
        windows.and_then(|dims| Some([dims.get(2).copied().flatten()?, dims.get(3).copied().flatten()?]));
    let known = known.filter(|[rows, columns]| (0..=MOST).contains(&rows.saturating_mul(*columns)));
    let indices = if let Some([rows, columns]) = known {
        [
            cx.list(&(0..rows * columns).map(|at| at / columns).collect::<Vec<_>>()),
            cx.list(&(0..rows * columns).map(|at| at % columns).collect::<Vec<_>>()),
        ]
    } else {
        let (zero, one, none) = (cx.scalar(0), cx.scalar(1), cx.list(&[]));
        let end = cx.put("Reshape", &[count, none], &[])?;
        let all = cx.put("Range", &[zero, end, one], &[])?;
        [cx.put("Div", &[all, columns], &[])?, cx.put("Mod", &[all, columns], &[])?]
    };
    let (mut axes, pairs) = (Vec::new(), cx.list(&[0, -1]));
    for (axis, size) in [tall, wide].into_iter().enumerate() {
        let at = cx.scalar(i64::try_from(axis).unwrap_or(0));
        let given = cx.put("Gather", &[offsets, at], &[int("axis", 2)])?;
        let step = cx.scalar(strides[axis]);
        let first = cx.put("Mul", &[indices[axis], step], &[])?;
        let tap = |tap: i64| if axis == 0 { tap / width } else { tap % width };
        let begins: Vec<_> = (0..taps_count)
            .map(|at| tap(at).saturating_mul(dilations[axis]).saturating_sub(pads[axis]))
            .collect();
        let (begins, column) = (cx.list(&begins), cx.list(&[-1, 1]));
        let begins = cx.put("Reshape", &[begins, column], &[])?;
        let base = cx.put("Add", &[first, begins], &[])?;
        let base = cx.cast(base, dtype)?;
        let at = cx.put("Add", &[given, base], &[])?;
        let at = cx.put("Reshape", &[at, pairs], &[])?;
        let extent = cx.cast(size, dtype)?;
        axes.push(taps(cx, at, (size, extent), dtype, (Interpolation::Linear, Outside::Zeros))?);
    }
    let mut value = sums(cx, images, of_images, axes, (dtype, true))?;
    if let Some(mask) = new.input(4) {
        let mask = cx.cast(mask, dtype)?;
        let every = cx.list(&[taps_count]);
        let every = cx.put("Mul", &[count, every], &[])?;
        let lead = cx.list(&[-1, 1]);
        let dims = cx.joined(&[lead, every])?;
        let mask = cx.put("Reshape", &[mask, dims], &[])?;
        value = cx.put("Mul", &[value, mask], &[])?;
    }
    let (samples, all) = (cx.part_of(sizes, 0, 1)?, cx.list(&[channels.saturating_mul(taps_count)]));
    let dims = cx.joined(&[samples, all, rows, columns])?;
    let value = cx.put("Reshape", &[value, dims], &[])?;
    let value = cx.cast(value, own)?;
    let kernels = cx.list(&[filters, inner.saturating_mul(taps_count), 1, 1]);
    let kernels = cx.put("Reshape", &[weights, kernels], &[])?;
    let mut inputs = vec![value, kernels];
    inputs.extend(new.input(3));
    Ok(vec![cx.put("Conv", &inputs, &[int("group", groups)])?])
}
