//! Operators that sort, choose, write and rearrange elements.
//!
//! | operators | Paddle |
//! |---|---|
//! | `roll` | without axes, of the elements in one row |
//! | `pad` | two numbers for each axis; `pad3d`: for the spatial axes, the last one first |
//! | `scatter` | without `overwrite`, rows that are named become the sums of their updates |
//! | `set_value_` | writes into a slice |
//! | `pixel_unshuffle` | the channels of a block follow each other, which `SpaceToDepth` puts apart |

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use super::create;
use super::layout::{inputs, list};
use super::math::number;
use super::network::{cannot, channels_first, channels_last, text};
use crate::lowering::{LoweredValue, Lowering, along, axis, int};
use crate::operators::errors;

/// A number that an attribute or an input says, of the type of the first input.
fn scalar(l: &mut Lowering<'_>, name: &str, input: usize) -> Result<LoweredValue> {
    if !l.has(input) {
        let value = l.float(name)?.unwrap_or(0.0);
        return number(l, value);
    }
    let (given, dtype) = (l.input(input)?, l.dtype_of(0)?);
    let given = l.reshape(given, &[])?;
    if l.dtype_of(input)? == dtype { Ok(given) } else { l.cast(given, dtype) }
}

/// Sizes of a value from one axis on, up to another one.
fn sizes(l: &mut Lowering<'_>, value: LoweredValue, from: usize, to: usize) -> Result<LoweredValue> {
    l.apply("Shape", &[value], &[int("start", i64_of(from)), int("end", i64_of(to))])
}

/// A value in dimensions that are put together of lists.
fn shaped(l: &mut Lowering<'_>, value: LoweredValue, dims: &[LoweredValue]) -> Result<LoweredValue> {
    let dims = l.apply("Concat", dims, &[along(0)])?;
    l.apply("Reshape", &[value, dims], &[])
}

fn transposed(l: &mut Lowering<'_>, value: LoweredValue, order: &[i64]) -> Result<LoweredValue> {
    l.apply("Transpose", &[value], &[("perm", Content::Ints(order.to_vec()))])
}

pub(crate) fn argsort(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let axis = axis(l.attributes.int_or("axis", -1)?, rank)?;
    let size = sizes(l, x, axis, axis + 1)?;
    let largest = l.attributes.flag("descending", false)?;
    l.apply_many("TopK", &[x, size], &[along(axis), int("largest", largest.into()), int("sorted", 1)], 2)
}

pub(crate) fn one_hot(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, depth) = (l.input(0)?, list(l, "num_classes", 1)?);
    let values = l.constant(Tensor::vector(&[0f32, 1.0]))?;
    Ok(vec![l.apply("OneHot", &[x, depth, values], &[int("axis", -1)])?])
}

pub(crate) fn roll(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, shifts) = (l.input(0)?, list(l, "shifts", 1)?);
    let mut axes = l.attributes.ints("axis")?.unwrap_or(&[]).to_vec();
    let flat = axes.is_empty();
    let mut value = x;
    if flat {
        value = l.reshape(x, &[-1])?;
        axes.push(0);
    }
    let rank = if flat { 1 } else { l.rank_of(0)? };
    let (first, last, least) = (l.list(&[0])?, l.list(&[i64::MAX])?, l.list(&[1])?);
    for (index, &along_axis) in axes.iter().enumerate() {
        let at = axis(along_axis, rank)?;
        let (index, axes) = (l.list(&[i64_of(index)])?, l.list(&[i64_of(at)])?);
        let (shift, size) = (l.apply("Gather", &[shifts, index], &[along(0)])?, sizes(l, value, at, at + 1)?);
        let some = l.apply("Max", &[size, least], &[])?;
        let by = l.apply("Mod", &[shift, some], &[])?;
        let start = l.apply("Sub", &[size, by], &[])?;
        let behind = l.apply("Slice", &[value, start, last, axes], &[])?;
        let before = l.apply("Slice", &[value, first, start, axes], &[])?;
        value = l.apply("Concat", &[behind, before], &[along(at)])?;
    }
    if flat {
        let dims = l.shape(x)?;
        value = l.apply("Reshape", &[value, dims], &[])?;
    }
    Ok(vec![value])
}

/// `meshgrid`: each input along an axis of its own.
pub(crate) fn meshgrid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mut rows = Vec::new();
    for row in inputs(l)? {
        rows.push(l.reshape(row, &[-1])?);
    }
    let dims = rows.iter().map(|&row| l.shape(row)).collect::<Result<Vec<_>>>()?;
    let dims = l.apply("Concat", &dims, &[along(0)])?;
    let count = rows.len();
    let row = |(index, row)| {
        let mut own = vec![1; count];
        own[index] = -1;
        let row = l.reshape(row, &own)?;
        l.apply("Expand", &[row, dims], &[])
    };
    rows.into_iter().enumerate().map(row).collect()
}

pub(crate) fn pad(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let each = l.attributes.ints("paddings")?.unwrap_or(&[]);
    let pads: Vec<_> = each.iter().step_by(2).chain(each.iter().skip(1).step_by(2)).copied().collect();
    let (pads, value) = (l.list(&pads)?, scalar(l, "pad_value", 1)?);
    Ok(vec![l.apply("Pad", &[x, pads, value], &[])?])
}

pub(crate) fn pad3d(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, pads) = (l.input(0)?, list(l, "paddings", 1)?);
    let order = l.list(&[4, 2, 0, 5, 3, 1])?;
    let pads = l.apply("Gather", &[pads, order], &[along(0)])?;
    let axes: &[i64] = if text(l, "data_format", "NCDHW")? == "NDHWC" { &[1, 2, 3] } else { &[2, 3, 4] };
    let mode = match text(l, "mode", "constant")? {
        "replicate" => "edge",
        "circular" => "wrap",
        other => other,
    };
    let (mode, axes) = (("mode", Content::Bytes(mode.to_owned().into())), l.list(axes)?);
    let value = scalar(l, "pad_value", usize::MAX)?;
    Ok(vec![l.apply("Pad", &[x, pads, value, axes], &[mode])?])
}

/// The mode in which updates of elements are added, multiplied, …
fn reduction(name: &str) -> (&'static str, Content) {
    ("reduction", Content::Bytes(name.to_owned().into()))
}

pub(crate) fn scatter(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, index, updates) = (l.input(0)?, l.input(1)?, l.input(2)?);
    let index = l.cast(index, DType::I64)?;
    let rows = l.reshape(index, &[-1, 1])?;
    if l.attributes.flag("overwrite", true)? {
        return Ok(vec![l.apply("ScatterND", &[x, rows, updates], &[])?]);
    }
    let (zero, dims) = (number(l, 0.0)?, l.shape(updates)?);
    let none = l.apply("Expand", &[zero, dims], &[])?;
    let cleared = l.apply("ScatterND", &[x, rows, none], &[])?;
    Ok(vec![l.apply("ScatterND", &[cleared, rows, updates], &[reduction("add")])?])
}

pub(crate) fn scatter_nd_add(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, index, updates) = (l.input(0)?, l.input(1)?, l.input(2)?);
    let index = l.cast(index, DType::I64)?;
    Ok(vec![l.apply("ScatterND", &[x, index, updates], &[reduction("add")])?])
}

pub(crate) fn put_along_axis(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, index, values) = (l.input(0)?, l.input(1)?, l.input(2)?);
    if !l.attributes.flag("include_self", true)? {
        return Err(cannot("put_along_axis without the elements that are there"));
    }
    let mode = match text(l, "reduce", "assign")? {
        "assign" => "none",
        "add" => "add",
        "mul" | "multiply" => "mul",
        "amin" => "min",
        "amax" => "max",
        other => return Err(errors::value("attribute \"reduce\"", other, "assign, add, mul, amin or amax")),
    };
    let attributes = [int("axis", l.attributes.int_or("axis", 0)?), reduction(mode)];
    Ok(vec![l.apply("ScatterElements", &[x, index, values], &attributes)?])
}

pub(crate) fn masked_select(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut x, mut mask) = (l.input(0)?, l.input(1)?);
    let (dims, by) = (l.dims_of(0)?, l.dims_of(1)?);
    if dims != by || dims.contains(&None) {
        let (dims, by) = (l.shape(x)?, l.shape(mask)?);
        (x, mask) = (l.apply("Expand", &[x, by], &[])?, l.apply("Expand", &[mask, dims], &[])?);
    }
    let mask = l.reshape(mask, &[-1])?;
    Ok(vec![l.apply("Compress", &[x, mask], &[])?])
}

pub(crate) fn masked_fill(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, mask, value) = (l.input(0)?, l.input(1)?, l.input(2)?);
    Ok(vec![l.apply("Where", &[mask, value, x], &[])?])
}

/// `index_sample`: of each row, the elements that its indices name.
pub(crate) fn index_sample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, index) = (l.input(0)?, l.input(1)?);
    Ok(vec![l.apply("GatherElements", &[x, index], &[along(1)])?])
}

pub(crate) fn repeat_interleave(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let at = axis(l.attributes.int_or("axis", 0)?, rank)?;
    let mut dims = vec![1; rank + 1];
    dims[at + 1] = l.attributes.int_or("repeats", 1)?;
    let (behind, times, repeats) =
        (l.list(&[i64_of(at) + 1])?, l.list(&dims)?, l.list(&dims[at + 1..at + 2])?);
    let apart = l.apply("Unsqueeze", &[x, behind], &[])?;
    let all = l.apply("Expand", &[apart, times], &[])?;
    let (before, own, rest) = (sizes(l, x, 0, at)?, sizes(l, x, at, at + 1)?, sizes(l, x, at + 1, rank)?);
    let long = l.apply("Mul", &[own, repeats], &[])?;
    Ok(vec![shaped(l, all, &[before, long, rest])?])
}

pub(crate) fn pixel_shuffle(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let attributes =
        [int("blocksize", l.attributes.int_or("upscale_factor", 1)?), ("mode", Content::Bytes("CRD".into()))];
    let y = l.apply("DepthToSpace", &[x], &attributes)?;
    Ok(vec![channels_last(l, y, last)?])
}

/// Channels as rows and columns, exchanged; the other axes stay.
fn exchanged(
    l: &mut Lowering<'_>,
    value: LoweredValue,
    rows: LoweredValue,
    columns: LoweredValue,
) -> Result<LoweredValue> {
    let (batch, rest, dims) = (l.list(&[0])?, l.list(&[-1])?, l.shape(value)?);
    let apart = shaped(l, value, &[batch, rows, columns, rest])?;
    let turned = transposed(l, apart, &[0, 2, 1, 3])?;
    l.apply("Reshape", &[turned, dims], &[])
}

pub(crate) fn pixel_unshuffle(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let block = l.attributes.int_or("downscale_factor", 1)?;
    let y = l.apply("SpaceToDepth", &[x], &[int("blocksize", block)])?;
    let (places, channels) = (l.list(&[block.saturating_mul(block)])?, sizes(l, x, 1, 2)?);
    let y = exchanged(l, y, places, channels)?;
    Ok(vec![channels_last(l, y, last)?])
}

pub(crate) fn channel_shuffle(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let groups = errors::at_least_1("groups", l.attributes.int_or("groups", 1)?)?;
    let (groups, channels) = (l.list(&[groups])?, sizes(l, x, 1, 2)?);
    let each = l.apply("Div", &[channels, groups], &[])?;
    let y = exchanged(l, x, groups, each)?;
    Ok(vec![channels_last(l, y, last)?])
}

pub(crate) fn eye(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (rows, mut columns) = (list(l, "num_rows", 0)?, list(l, "num_columns", 1)?);
    if l.attributes.int("num_columns")? == Some(-1) {
        columns = rows;
    }
    let dims = l.apply("Concat", &[rows, columns], &[along(0)])?;
    let zeros = l.apply("ConstantOfShape", &[dims], &[])?;
    let ones = l.apply("EyeLike", &[zeros], &[])?;
    let to = l.dtype("dtype")?.unwrap_or(DType::F32);
    Ok(vec![if to == DType::F32 { ones } else { l.cast(ones, to)? }])
}

pub(crate) fn grid_sample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, grid) = (l.input(0)?, l.input(1)?);
    let mode = match text(l, "mode", "bilinear")? {
        "bilinear" => "linear",
        other => other,
    };
    let name = |name: &'static str, value: &str| (name, Content::Bytes(value.to_owned().into()));
    let attributes = [
        name("mode", mode),
        name("padding_mode", text(l, "padding_mode", "zeros")?),
        int("align_corners", l.attributes.flag("align_corners", true)?.into()),
    ];
    Ok(vec![l.apply("GridSample", &[x, grid], &attributes)?])
}

pub(crate) fn affine_grid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (theta, size) = (l.input(0)?, list(l, "output_shape", 1)?);
    let corners = int("align_corners", l.attributes.flag("align_corners", true)?.into());
    Ok(vec![l.apply("AffineGrid", &[theta, size], &[corners])?])
}

/// `set_value_`: elements that a slice names are those of a value, broadcast.
pub(crate) fn set_value(l: &mut Lowering<'_>, given: bool) -> Result<Vec<LoweredValue>> {
    if l.attributes.ints("none_axes")?.is_some_and(|axes| !axes.is_empty()) {
        return Err(cannot("set_value with new axes"));
    }
    let (x, first) = (l.input(0)?, if given { 2 } else { 1 });
    let [starts, ends, steps] =
        [list(l, "starts", first)?, list(l, "ends", first + 1)?, list(l, "steps", first + 2)?];
    let value = if given {
        l.input(1)?
    } else {
        let to = l.dtype_of(0)?;
        create::values(l, to)?
    };
    // Each element has the number of its place; those of the slice are written.
    let (dims, flat) = (l.shape(x)?, l.reshape(x, &[-1])?);
    let (zero, one) = (l.constant(Tensor::scalar(0i64))?, l.constant(Tensor::scalar(1i64))?);
    let count = l.apply("Size", &[x], &[])?;
    let places = l.apply("Range", &[zero, count, one], &[])?;
    let places = l.apply("Reshape", &[places, dims], &[])?;
    let axes = l.attributes.ints("axes")?.unwrap_or(&[]).to_vec();
    let axes = l.list(&axes)?;
    let mut places = l.apply("Slice", &[places, starts, ends, axes, steps], &[])?;
    let gone = l.attributes.ints("decrease_axes")?.unwrap_or(&[]).to_vec();
    if !gone.is_empty() {
        let gone = l.list(&gone)?;
        places = l.apply("Squeeze", &[places, gone], &[])?;
    }
    let to = l.shape(places)?;
    let value = l.apply("Expand", &[value, to], &[])?;
    let (value, places) = (l.reshape(value, &[-1])?, l.reshape(places, &[-1])?);
    let written = l.apply("ScatterElements", &[flat, places, value], &[along(0)])?;
    Ok(vec![l.apply("Reshape", &[written, dims], &[])?])
}
