//! Operators that tell shapes, give elements another shape, repeat them, or make tensors.

use std::collections::BTreeSet;

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{Class, DType, Result, Tensor};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_onnx::{int, word};
use crate::conversion::types::numbered;
use crate::conversion::writer::{NONE, NewValue};
use crate::operators::indices::axis as axis_of;
use crate::operators::layout::openvino::added_axes;

/// Notes what a dimension that does not fit becomes, if there may be one.
fn narrow(cx: &mut ConvertContext<'_, '_>) {
    let most = i64::from(i32::MAX);
    let fits = |dims: Vec<Option<i64>>| dims.iter().all(|dim| dim.is_some_and(|dim| dim <= most));
    if !cx.dims(0).is_some_and(fits) {
        cx.edges("sizes out of the range of int32 depend on the runtime");
    }
}

pub(crate) fn shape_of(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let all = cx.sizes(x)?;
    if cx.attributes.dtype("output_type")? == Some(DType::I32) {
        narrow(cx);
        return Ok(vec![cx.cast(all, DType::I32)?]);
    }
    Ok(vec![all])
}

/// ONNX has one type for all; OpenVINO casts what it is given.
pub(crate) fn range(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let types = [cx.dtype(0)?, cx.dtype(1)?, cx.dtype(2)?];
    let to = cx.attributes.dtype("output_type")?.unwrap_or(types[0]);
    let mut scalars = [cx.input(0)?, cx.input(1)?, cx.input(2)?];
    // ONNX Runtime loads no range of int32 whose ends it computes from shapes that it knows.
    for (input, scalar) in scalars.iter_mut().enumerate() {
        if types[input].is_integer()
            && !cx.is_constant(input)
            && let Some(known) = cx.known(input)?
        {
            *scalar = cx.constant(known);
        }
    }
    if types.contains(&DType::U64) {
        cx.edges("numbers of 2^63 and more are out of range for int64, which ONNX uses for sizes");
    }
    if types.iter().all(|&dtype| dtype == to) {
        return Ok(vec![cx.ranged(scalars, to, to)?]);
    }
    let whole = |dtype: &DType| dtype.is_integer();
    let short = |dtype: &DType| matches!(dtype, DType::F16 | DType::BF16 | DType::F32);
    let between = if whole(&to) || types.iter().all(whole) {
        if !types.iter().all(whole) {
            cx.edges(caveats::CAST);
        }
        DType::I64
    } else if types.iter().all(short) && short(&to) {
        // Short floats are as exact in float32, all others in float64.
        DType::F32
    } else {
        DType::F64
    };
    let mut all = scalars;
    for (scalar, dtype) in all.iter_mut().zip(types) {
        if dtype != between {
            *scalar = cx.cast(*scalar, between)?;
        }
    }
    Ok(vec![cx.ranged(all, between, to)?])
}

/// The number of float64 among ONNX's element types.
const DOUBLE: i64 = 11;

impl ConvertContext<'_, '_> {
    /// A range of scalars of one type, its elements cast to another. Of the types that ONNX has no
    /// ranges of, integers are counted in int64, and short floats in float32.
    pub(crate) fn ranged(&mut self, scalars: [NewValue; 3], from: DType, to: DType) -> Result<NewValue> {
        if !to.is_integer() {
            self.rounding(caveats::RANGE);
        }
        let between = match from {
            DType::I16 | DType::I32 | DType::I64 | DType::F32 | DType::F64 => from,
            DType::F16 | DType::BF16 if self.target.admits("Range", from) => from,
            _ if from.is_integer() => DType::I64,
            _ => DType::F32,
        };
        let mut all = scalars;
        if between != from {
            for scalar in &mut all {
                *scalar = self.cast(*scalar, between)?;
            }
        }
        // A running sum that is as exact as can be.
        let stash = matches!(between, DType::F16 | DType::BF16).then_some(int("stash_type", DOUBLE));
        let elements = self.put("Range", &all, stash.as_slice())?;
        if between == to { Ok(elements) } else { self.cast(elements, to) }
    }
}

/// Without axes, or with none, all of one element go. Named axes of other dimensions stay.
pub(crate) fn squeeze(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let known = if cx.has(1) { cx.known_integers(1)? } else { Some(Vec::new()) };
    let axes = match known {
        None if cx.len(1).is_some_and(|len| len > 0) => {
            cx.edges(SKIPPED);
            cx.whole_list(1)?
        }
        None => return Err(not_known("list of the squeezed axes")),
        Some(axes) if axes.is_empty() => NONE,
        Some(axes) => {
            let mut gone = Vec::new();
            for axis in axes {
                let (axis, size) = match cx.rank_if_known(0) {
                    Some(rank) => {
                        let axis = axis_of(axis, rank)?;
                        (i64_of(axis), cx.known_size(0, axis))
                    }
                    None => (axis, None),
                };
                if size.is_none() {
                    if cx.attributes.flag("allow_axis_skip", false)? {
                        return Err(not_known(&format!("size of axis {axis}")));
                    }
                    cx.edges(SKIPPED);
                }
                if size.is_none_or(|size| size == 1) && !gone.contains(&axis) {
                    gone.push(axis);
                }
            }
            if gone.is_empty() {
                return Ok(vec![cx.put("Identity", &[x], &[])?]);
            }
            let gone = cx.axes_in_set("Squeeze", gone, cx.rank_if_known(0))?;
            cx.list(&gone)
        }
    };
    Ok(vec![cx.put("Squeeze", &[x, axes], &[])?])
}

/// The error for features that ONNX lacks.
const SKIPPED: &str = "OpenVINO keeps a named axis whose size is not 1, which is an error in ONNX";

pub(crate) fn broadcast(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (mut x, target) = (cx.input(0)?, cx.whole_list(1)?);
    let (rank, all) = (cx.rank_if_known(0), cx.len(1));
    let new: Vec<i64> = match cx.attributes.text("mode")?.unwrap_or("numpy") {
        "explicit" => {
            if let (Some(own), Some(all)) = (cx.known_integers(2)?, all) {
                (0..i64_of(all)).filter(|axis| !own.contains(axis)).collect()
            } else {
                // Sizes of 1, but those of the axes that the input has.
                let (own, sizes, places) = (cx.sizes(x)?, cx.sizes(target)?, cx.whole_list(2)?);
                let ones = ones_of(cx, sizes)?;
                let dims = cx.put("ScatterElements", &[ones, places, own], &[int("axis", 0)])?;
                x = cx.with_shape(x, dims)?;
                Vec::new()
            }
        }
        "pdpd" => match (cx.attributes.int("axis")?.filter(|&axis| axis >= 0), rank, all) {
            (None, ..) => Vec::new(),
            (Some(start), Some(rank), Some(all)) => {
                (start + i64_of(rank)..i64_of(all)).map(|axis| axis - start).collect()
            }
            (Some(start), ..) => {
                let own = cx.sizes(x)?;
                let (len, all, start) = (cx.sizes(own)?, cx.sizes(target)?, cx.list(&[start]));
                let behind = cx.put("Sub", &[all, start], &[])?;
                let behind = cx.put("Sub", &[behind, len], &[])?;
                let ones = ones_of(cx, behind)?;
                let dims = cx.put("Concat", &[own, ones], &[int("axis", 0)])?;
                x = cx.with_shape(x, dims)?;
                Vec::new()
            }
        },
        _ => Vec::new(),
    };
    if !new.is_empty() {
        let axes = cx.list(&new);
        x = cx.put("Unsqueeze", &[x, axes], &[])?;
    }
    Ok(vec![cx.put("Expand", &[x, target], &[])?])
}

/// A list of ones, whose number is computed.
fn ones_of(cx: &mut ConvertContext<'_, '_>, count: NewValue) -> Result<NewValue> {
    let one = Content::Tensor(Tensor::vector(&[1i64]).into());
    cx.put("ConstantOfShape", &[count], &[("value", one)])
}

/// Missing repeats or axes are 1, in front.
pub(crate) fn tile(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (mut x, mut repeats) = (cx.input(0)?, cx.whole_list(1)?);
    let (Some(rank), Some(count)) = (cx.rank_if_known(0), cx.len(1)) else {
        let (sizes, zero) = (cx.sizes(x)?, cx.list(&[0]));
        let (rank, count) = (cx.sizes(sizes)?, cx.sizes(repeats)?);
        let mut filled = |list, own, other| {
            let missing = cx.put("Sub", &[other, own], &[])?;
            let missing = cx.put("Max", &[missing, zero], &[])?;
            let ones = ones_of(cx, missing)?;
            cx.put("Concat", &[ones, list], &[int("axis", 0)])
        };
        let (dims, repeats) = (filled(sizes, rank, count)?, filled(repeats, count, rank)?);
        x = cx.with_shape(x, dims)?;
        return Ok(vec![cx.put("Tile", &[x, repeats], &[])?]);
    };
    if count < rank {
        let ones = cx.list(&vec![1; rank - count]);
        repeats = cx.put("Concat", &[ones, repeats], &[int("axis", 0)])?;
    }
    if count > rank {
        let axes = cx.all_axes(count - rank);
        x = cx.put("Unsqueeze", &[x, axes], &[])?;
    }
    Ok(vec![cx.put("Tile", &[x, repeats], &[])?])
}

pub(crate) fn pad(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let mode = cx.attributes.text("pad_mode")?.unwrap_or("constant").to_owned();
    if mode == "symmetric" {
        return symmetric(cx);
    }
    if !matches!(&*mode, "constant" | "edge" | "reflect") {
        return Err(cannot(format!("ONNX has no equivalent of pad mode \"{mode}\"")));
    }
    let x = cx.input(0)?;
    let pads = cx.pads(1, 2)?;
    let value = if mode == "constant" { cx.maybe(3)? } else { NONE };
    Ok(vec![cx.put("Pad", &[x, pads, value], &[word("mode", &mode)])?])
}

/// Elements of an axis mirrored at its ends, whose first and last elements occur twice.
fn symmetric(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (rank, mut x) = (cx.rank(0)?, cx.input(0)?);
    let known = [cx.known_integers(1)?, cx.known_integers(2)?];
    let pads = [cx.whole_list(1)?, cx.whole_list(2)?];
    let (one, zero) = (cx.scalar(1), cx.scalar(0));
    for axis in 0..rank {
        if known.iter().all(|pads| pads.as_ref().is_some_and(|pads| pads.get(axis) == Some(&0))) {
            continue;
        }
        let place = cx.scalar(i64_of(axis));
        let sizes = cx.sizes(x)?;
        let mut part = |list| cx.put("Gather", &[list, place], &[int("axis", 0)]);
        let (size, before, behind) = (part(sizes)?, part(pads[0])?, part(pads[1])?);
        let first = cx.put("Sub", &[zero, before], &[])?;
        let end = cx.put("Add", &[size, behind], &[])?;
        let places = cx.put("Range", &[first, end, one], &[])?;
        let twice = cx.put("Add", &[size, size], &[])?;
        let ahead = cx.put("Mod", &[places, twice], &[])?;
        let last = cx.put("Sub", &[twice, one], &[])?;
        let back = cx.put("Sub", &[last, ahead], &[])?;
        let indices = cx.put("Min", &[ahead, back], &[])?;
        x = cx.put("Gather", &[x, indices], &[int("axis", i64_of(axis))])?;
    }
    Ok(vec![x])
}

/// ONNX counts indices below zero from the end, OpenVINO only if it says so: otherwise they are
/// none.
pub(crate) fn one_hot(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (mut indices, depth) = (cx.whole(0)?, cx.whole_scalar(1)?);
    let signed = matches!(cx.dtype(0)?.class(), Class::Signed);
    if signed && cx.attributes.text("negative_indices_mode")? != Some("normalize") {
        let zero = cx.scalar(0);
        let below = cx.put("Less", &[indices, zero], &[])?;
        indices = cx.put("Where", &[below, depth, indices], &[])?;
    }
    let (on, off, one) = (cx.input(2)?, cx.input(3)?, cx.list(&[1]));
    let (on, off) = (cx.with_shape(on, one)?, cx.with_shape(off, one)?);
    let values = cx.put("Concat", &[off, on], &[int("axis", 0)])?;
    let axis = cx.attributes.int("axis")?.unwrap_or(-1);
    Ok(vec![cx.put("OneHot", &[indices, depth, values], &[int("axis", axis)])?])
}

pub(crate) fn reshape(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, shape) = (cx.input(0)?, cx.whole_list(1)?);
    let zero = cx.attributes.flag("special_zero", false)?;
    Ok(vec![cx.put("Reshape", &[x, shape], &[int("allowzero", i64::from(!zero))])?])
}

pub(crate) fn unsqueeze(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let axes = if let Some(axes) = cx.known_integers(1)? {
        let axes = if let Some(rank) = cx.rank_if_known(0) {
            added_axes(&axes, rank)?
        } else {
            let listed = axes.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            cx.axes_in_set("Unsqueeze", listed, None)?
        };
        cx.list(&axes)
    } else {
        if cx.len(1) != Some(1) {
            cx.edges("OpenVINO adds an axis once that is named twice, which is an error in ONNX");
        }
        cx.whole_list(1)?
    };
    Ok(vec![cx.put("Unsqueeze", &[x, axes], &[])?])
}

pub(crate) fn transpose(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, order) = (cx.input(0)?, cx.integers(1)?);
    let perm = (!order.is_empty()).then_some(("perm", Content::Ints(order.into())));
    Ok(vec![cx.put("Transpose", &[x], perm.as_slice())?])
}

pub(crate) fn concat(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let parts = cx.inputs()?;
    let axis = cx.attributes.int("axis")?.unwrap_or(0);
    let axis = cx.axis_in_set("Concat", axis, cx.rank_if_known(0))?;
    Ok(vec![cx.put("Concat", &parts, &[int("axis", axis)])?])
}

pub(crate) fn non_zero(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.rank_if_known(0).is_none_or(|rank| rank == 0) {
        cx.edges("the specifications do not define the indices of a scalar");
    }
    let x = cx.input(0)?;
    let found = cx.put("NonZero", &[x], &[])?;
    if cx.attributes.dtype("output_type")? == Some(DType::I32) {
        narrow(cx);
        return Ok(vec![cx.cast(found, DType::I32)?]);
    }
    Ok(vec![found])
}

/// Groups of an axis, and the elements within them, change places.
pub(crate) fn shuffle_channels(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, rank) = (cx.input(0)?, cx.rank(0)?);
    let axis = axis_of(cx.attributes.int_or("axis", 1)?, rank)?;
    let groups = cx.attributes.int_or("group", 1)?;
    let (shape, at) = (cx.sizes(x)?, i64_of(axis));
    let (before, own, after) =
        (cx.part_of(shape, 0, at)?, cx.part_of(shape, at, at + 1)?, cx.part_of(shape, at + 1, i64::MAX)?);
    let groups = cx.list(&[groups]);
    let each = cx.put("Div", &[own, groups], &[])?;
    let parts = cx.put("Concat", &[before, groups, each, after], &[int("axis", 0)])?;
    let parts = cx.with_shape(x, parts)?;
    let mut order: Vec<_> = (0..=i64_of(rank)).collect();
    order.swap(axis, axis + 1);
    let turned = cx.put("Transpose", &[parts], &[("perm", Content::Ints(order.into()))])?;
    Ok(vec![cx.with_shape(turned, shape)?])
}

/// ONNX takes the first two axes only: others are moved there and back.
pub(crate) fn reverse_sequence(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, lengths, rank) = (cx.input(0)?, cx.whole(1)?, cx.rank(0)?);
    let batch = axis_of(cx.attributes.int_or("batch_axis", 0)?, rank)?;
    let steps = axis_of(cx.attributes.int_or("seq_axis", 1)?, rank)?;
    let axes = |batch: i64| [int("batch_axis", batch), int("time_axis", 1 - batch)];
    if batch < 2 && steps < 2 {
        return Ok(vec![cx.put("ReverseSequence", &[x, lengths], &axes(i64_of(batch)))?]);
    }
    let others = (0..rank).filter(|&axis| axis != batch && axis != steps);
    let order: Vec<_> = [batch, steps].into_iter().chain(others).collect();
    let mut back = vec![0; rank];
    for (to, &from) in order.iter().enumerate() {
        back[from] = i64_of(to);
    }
    let order = Content::Ints(order.into_iter().map(i64_of).collect());
    let x = cx.put("Transpose", &[x], &[("perm", order)])?;
    let value = cx.put("ReverseSequence", &[x, lengths], &axes(0))?;
    Ok(vec![cx.put("Transpose", &[value], &[("perm", Content::Ints(back.into()))])?])
}

/// Ones on a diagonal; zeros elsewhere.
pub(crate) fn eye(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let dtype = cx.attributes.dtype("output_type")?.unwrap_or(DType::I32);
    let (rows, columns, diagonal) = (cx.whole_list(0)?, cx.whole_list(1)?, cx.integer(2)?);
    let shape = cx.put("Concat", &[rows, columns], &[int("axis", 0)])?;
    let zeros = cx.put("ConstantOfShape", &[shape], &[])?;
    let value = cx.put("EyeLike", &[zeros], &[numbered("dtype", dtype)?, int("k", diagonal)])?;
    if !cx.has(3) {
        return Ok(vec![value]);
    }
    let batch = cx.whole_list(3)?;
    let shape = cx.put("Concat", &[batch, shape], &[int("axis", 0)])?;
    Ok(vec![cx.put("Expand", &[value, shape], &[])?])
}
