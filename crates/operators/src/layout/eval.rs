//! Running operators that only move elements: by lines and blocks of them where they stay side by
//! side, or by a list of [places](crate::indices).
//!
//! | operators | versions |
//! |---|---|
//! | `Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`, `Transpose`, `Expand`, `Tile`, `Concat`, `Split`, `Slice` | all |
//! | `Gather`, `GatherElements`, `GatherND`, `ScatterElements`, `Scatter`, `ScatterND`, `Pad`, `Where`, `Compress` | all |
//! | `ConstantOfShape`, `EyeLike`, `OneHot`, `Trilu`, `Dropout` (without training), `CastLike` | all |

use gradus_core::convert::{self, FromNumber, i64_of, usize_of_i64};
use gradus_core::{Result, Shape, Tensor, Value};

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::indexing::eval::{flat_index, positions};
use crate::indices::{self, Along};
use crate::normalize::Older;
use crate::op::EvalContext;
use crate::output::{allowed, chosen, one, whole_bytes};
use crate::reshape::{reshaped, unsqueezed};
use crate::strided::Strided;

/// `Reshape`: the elements in another shape.
pub fn reshape(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    one(reshaped(cx.tensor(0)?, &cx.integers(1)?, attributes.flag("allowzero", false)?)?)
}

/// `Flatten`: the elements as a matrix, split at an axis.
pub fn flatten(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axis = attributes.int("axis")?.unwrap_or(1);
    let axis = if axis == i64_of(dims.len()) { dims.len() } else { indices::axis(axis, dims.len())? };
    let (before, after) = dims.split_at(axis);
    one(data.reshaped(Shape::new([before.iter().product(), after.iter().product()])?)?)
}

/// `Squeeze`: the elements without the named axes of size 1, or without all of them.
pub fn squeeze(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axes = match cx.maybe_integers(1)? {
        Some(axes) => indices::axes(&axes, dims.len())?,
        None => (0..dims.len()).filter(|&axis| dims[axis] == 1).collect(),
    };
    if let Some(axis) = axes.iter().find(|&&axis| dims[axis] != 1) {
        return Err(errors::shape(errors::squeezed(*axis), dims[*axis], 1));
    }
    let left: Vec<_> = (0..dims.len()).filter(|axis| !axes.contains(axis)).map(|axis| dims[axis]).collect();
    one(data.reshaped(Shape::new(left)?)?)
}

/// `Unsqueeze`: the elements with axes of size 1 inserted.
pub fn unsqueeze(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    one(unsqueezed(cx.tensor(0)?, &cx.maybe_integers(1)?.unwrap_or_default())?)
}

/// `Transpose`: the axes in another order.
pub fn transpose(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let perm = match attributes.ints("perm")? {
        Some(perm) => indices::axes(perm, dims.len())?,
        None => (0..dims.len()).rev().collect(),
    };
    errors::expect_count("axes in the permutation", perm.len(), dims.len())?;
    let turned: Vec<_> = perm.iter().map(|&axis| dims[axis]).collect();
    let shape = allowed(cx, data.dtype(), &turned)?;
    one(Strided::permuted(data.shape(), &perm).moved(data, shape, &cx.limits())?)
}

/// `Expand`: the elements, broadcast with a shape.
pub fn expand(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let target = Shape::from_i64(&cx.integers(1)?)?;
    let shape = data.shape().broadcast(&target)?;
    let shape = allowed(cx, data.dtype(), shape.dims())?;
    one(Strided::broadcast([data.shape()], &shape).moved(data, shape, &cx.limits())?)
}

/// `Tile`: the elements, repeated along each axis.
pub fn tile(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let mut repeats = vec![1; dims.len()];
    if attributes.form().is(Older::OneAxis) {
        let number =
            |cx: &EvalContext<'_>, index: usize| cx.tensor(index)?.only_number().map(i64::from_number);
        repeats[indices::axis(number(cx, 2)?, dims.len())?] = number(cx, 1)?;
    } else {
        repeats = cx.integers(1)?;
    }
    errors::expect_count("repeats", repeats.len(), dims.len())?;
    let repeats = Shape::from_i64(&repeats)?;
    let counts: Vec<_> =
        dims.iter().zip(repeats.dims()).map(|(&dim, &times)| dim.saturating_mul(times)).collect();
    let shape = allowed(cx, data.dtype(), &counts)?;
    if shape.is_empty() {
        return one(Tensor::zeros(data.dtype(), shape)?);
    }
    let tiled = |(&dim, &count): (&usize, &usize)| Along::List((0..count).map(|i| i % dim).collect());
    let indices: Vec<_> = dims.iter().zip(&counts).map(tiled).collect();
    one(chosen(cx, data, &indices)?)
}

/// `Concat`: the inputs, concatenated along an axis.
pub fn concat(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let parts = (0..cx.inputs.len()).map(|input| cx.tensor(input)).collect::<Result<Vec<_>>>()?;
    let axis = required("axis", attributes.int("axis")?)?;
    one(joined(cx, &parts, axis)?)
}

/// Tensors put one after the other along an axis.
pub fn joined(cx: &EvalContext<'_>, parts: &[&Tensor], axis: i64) -> Result<Tensor> {
    let first = parts.first().ok_or_else(|| errors::count("tensors to concatenate", 0, "at least 1"))?;
    let mut dims = first.shape().dims().to_vec();
    let axis = indices::axis(axis, dims.len())?;
    dims[axis] = 0;
    for part in parts {
        let own = part.shape().dims();
        errors::expect_rank("a tensor to concatenate", own.len(), dims.len())?;
        if let Some(at) = (0..dims.len()).find(|&at| at != axis && own[at] != dims[at]) {
            return Err(errors::shape(errors::beside(at), own[at], dims[at]));
        }
        dims[axis] += own[axis];
    }
    let shape = allowed(cx, first.dtype(), &dims)?;
    let bytes: Option<Vec<_>> = parts.iter().map(|&part| whole_bytes(part)).collect();
    if let Some(bytes) = bytes.filter(|_| parts.iter().all(|part| part.dtype() == first.dtype())) {
        let rows: usize = dims[..axis].iter().product();
        let line = |part: &&Tensor| part.shape().dims()[axis..].iter().product::<usize>();
        let lines: Vec<_> = parts.iter().map(line).collect();
        let mut all = Vec::with_capacity(bytes.iter().map(|bytes| bytes.0.len()).sum());
        // A tensor without elements may have any number of rows.
        for row in cx.limits().watched(0..if shape.is_empty() { 0 } else { rows }) {
            let row = row?;
            for ((bytes, width), line) in bytes.iter().zip(&lines) {
                all.extend_from_slice(&bytes[row * line * width..(row + 1) * line * width]);
            }
        }
        return Tensor::from_bytes(first.dtype(), shape, all.into());
    }
    let parts_dims: Vec<_> = parts.iter().map(|part| part.shape().dims()).collect();
    let places = indices::joined(&parts_dims, axis);
    Tensor::woven(parts, shape, places, &cx.limits())
}

/// The number of parts that a `Split` names, which it does in newer versions if it has no sizes.
pub fn parts_of_split(attributes: &Attributes<'_>, sized: bool, outputs: usize) -> Result<Option<usize>> {
    let parts = attributes.int("num_outputs")?;
    let what = "attribute \"num_outputs\"";
    match parts {
        Some(parts) if sized => Err(errors::value(what, parts, "none, as sizes are given")),
        Some(parts) if usize_of_i64(parts).is_none_or(|parts| parts < outputs) => {
            Err(errors::value(what, parts, format_args!("{outputs}, the number of outputs")))
        }
        None if !sized && !attributes.form().is(Older::EqualParts) => {
            Err(errors::missing("attribute \"num_outputs\", or the input of sizes,"))
        }
        parts => Ok(parts.and_then(usize_of_i64)),
    }
}

/// `Split`: slices along an axis, of given sizes or of equal size.
pub fn split(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axis = indices::axis(attributes.int("axis")?.unwrap_or(0), dims.len())?;
    let parts = parts_of_split(attributes, cx.has(1), cx.outputs)?;
    let sizes = if let Some(sizes) = cx.maybe_integers(1)? {
        Shape::from_i64(&sizes)?.dims().to_vec()
    } else {
        let count = parts.unwrap_or(cx.outputs).max(1);
        cx.reserve(convert::product(count, size_of::<usize>()))?;
        let chunk = dims[axis].div_ceil(count);
        if parts.is_none() && !dims[axis].is_multiple_of(count) {
            return Err(errors::shape(errors::SPLIT_SIZES, chunk.saturating_mul(count), dims[axis]));
        }
        (0..count).map(|i| dims[axis].saturating_sub(i.saturating_mul(chunk)).min(chunk)).collect()
    };
    let sum = sizes.iter().fold(0usize, |sum, &size| sum.saturating_add(size));
    errors::expect_shape(errors::SPLIT_SIZES, sum, dims[axis])?;
    let mut start = 0;
    let parts = sizes.into_iter().map(|size| {
        let mut indices = indices::all(dims);
        indices[axis] = Along::range(start..start + size);
        start += size;
        chosen(cx, data, &indices).map(Value::from)
    });
    parts.collect()
}

/// The index that an element of a padded axis comes from; none if it is the constant.
fn source(mode: &str, at: i64, size: usize) -> Option<usize> {
    let size = i64_of(size);
    match mode {
        _ if (0..size).contains(&at) => usize_of_i64(at),
        "edge" if size > 0 => usize_of_i64(at.clamp(0, size - 1)),
        "wrap" if size > 0 => usize_of_i64(at.rem_euclid(size)),
        "symmetric" if size > 0 => {
            let at = at.rem_euclid(2 * size);
            usize_of_i64(at.min(2 * size - 1 - at))
        }
        "reflect" if size > 1 => {
            let period = 2 * (size - 1);
            let at = at.rem_euclid(period);
            usize_of_i64(at.min(period - at))
        }
        _ => None,
    }
}

/// The longest pad of an axis of that size. A reflection has the elements next to the edge once, as
/// all runtimes have it.
fn longest_pad(mode: &str, size: i64) -> i64 {
    match mode {
        "reflect" => (size - 1).max(0),
        "symmetric" => size,
        "edge" | "wrap" if size == 0 => 0,
        _ => i64::MAX,
    }
}

/// Refuses pads of an axis that are longer than the mode allows for its size.
pub fn check_pads(mode: &str, axis: usize, size: i64, pads: [i64; 2]) -> Result<()> {
    let longest = longest_pad(mode, size);
    let long = pads.into_iter().find(|&pad| pad > longest);
    long.map_or(Ok(()), |pad| Err(errors::long_pad(axis, pad, longest, mode)))
}

/// `Pad`: the elements, padded with a value or with others of them. A tensor without elements has
/// none that a pad repeats: only an axis of size 0 that grows is refused then.
pub fn pad(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let pads = cx.integers(1)?;
    let axes = match cx.maybe_integers(3)? {
        Some(axes) => indices::axes(&axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    errors::expect_count("pads", pads.len(), 2 * axes.len())?;
    let mode = attributes.text("mode")?.unwrap_or("constant");
    let (mut sizes, mut before) = (dims.to_vec(), vec![0; dims.len()]);
    for (i, &axis) in axes.iter().enumerate() {
        let sum = [pads[i], i64_of(dims[axis]), pads[i + axes.len()]].map(i128::from).iter().sum::<i128>();
        let what = || format!("size of axis {axis} after padding");
        let len = i64::try_from(sum).ok().and_then(usize_of_i64);
        sizes[axis] = len.ok_or_else(|| errors::shape(what(), sum, "a size of at least 0"))?;
        before[axis] = pads[i];
        if sizes[axis] > 0 && dims[axis] == 0 || !dims.contains(&0) {
            check_pads(mode, axis, i64_of(dims[axis]), [pads[i], pads[i + axes.len()]])?;
        }
    }
    let fill = if cx.has(2) {
        let value = cx.tensor(2)?.reshaped(Shape::SCALAR)?;
        if value.dtype() == data.dtype() {
            value
        } else {
            convert::cast(&value, data.dtype(), convert::Rules::IEEE)?
        }
    } else {
        Tensor::zeros(data.dtype(), Shape::SCALAR)?
    };
    let shape = allowed(cx, data.dtype(), &sizes)?;
    let each = positions(&sizes).map(|position| {
        let source =
            |axis: usize| source(mode, i64_of(position[axis]).saturating_sub(before[axis]), dims[axis]);
        let index = (0..dims.len()).map(source).collect::<Option<Vec<_>>>();
        index.map_or((1, 0), |index| (0, flat_index(&index, dims)))
    });
    one(Tensor::woven(&[data, &fill], shape, each, &cx.limits())?)
}

/// `Trilu`: the upper or lower triangle of matrices, zeros elsewhere.
pub fn trilu(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let &[.., rows, columns] = data.shape().dims() else {
        return Err(errors::rank("input 0", data.shape().rank(), "at least 2"));
    };
    let (offset, upper) = (if cx.has(1) { cx.integer(1)? } else { 0 }, attributes.flag("upper", true)?);
    let zero = Tensor::zeros(data.dtype(), Shape::SCALAR)?;
    let shape = allowed(cx, data.dtype(), data.shape().dims())?;
    let each = (0..data.len()).map(|place| {
        let (row, column) = (i64_of(place / columns % rows), i64_of(place % columns));
        let above = column.saturating_sub(row);
        if (upper && above >= offset) || (!upper && above <= offset) { (0, place) } else { (1, 0) }
    });
    one(Tensor::woven(&[data, &zero], shape, each, &cx.limits())?)
}
