//! Running operators that only move elements: each makes a list of [places](super::places) and takes what lies there.
//!
//! | operators | versions |
//! |---|---|
//! | `Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`, `Transpose`, `Expand`, `Tile`, `Concat`, `Split`, `Slice` | all |
//! | `Gather`, `GatherElements`, `GatherND`, `ScatterElements`, `Scatter`, `ScatterND`, `Pad`, `Where`, `Compress` | all |
//! | `ConstantOfShape`, `EyeLike`, `OneHot`, `Trilu`, `Dropout` (without training), `CastLike` | all |

use gradus_core::convert::{self, FromNumber, i64_of, usize_of_i64};
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Error, Kind, Number, Result, Shape, Tensor, Value, dispatch};

use super::places;
use crate::op::{Attributes, EvalCx, Schema, plain};

pub(super) const SCHEMAS: &[Schema] = &[
    Schema::all("Reshape", |cx| plain(cx, reshape)),
    Schema::all("Flatten", |cx| plain(cx, flatten)),
    Schema::all("Squeeze", |cx| plain(cx, squeeze)),
    Schema::all("Unsqueeze", |cx| plain(cx, unsqueeze)),
    Schema::all("Transpose", |cx| plain(cx, transpose)),
    Schema::all("Expand", |cx| plain(cx, expand)),
    Schema::all("Tile", |cx| plain(cx, tile)),
    Schema::all("Concat", |cx| plain(cx, concat)),
    Schema::all("Split", |cx| plain(cx, split)),
    Schema::all("Slice", |cx| plain(cx, slice)),
    Schema::all("Gather", |cx| plain(cx, gather)),
    Schema::all("GatherElements", |cx| plain(cx, gather_elements)),
    Schema::all("GatherND", |cx| plain(cx, gather_nd)),
    Schema::all("Scatter", |cx| plain(cx, scatter_elements)),
    Schema::all("ScatterElements", |cx| plain(cx, scatter_elements)),
    Schema::all("ScatterND", |cx| plain(cx, scatter_nd)),
    Schema::all("Pad", |cx| plain(cx, pad)),
    Schema::all("Where", |cx| plain(cx, select)),
    Schema::all("Compress", |cx| plain(cx, compress)),
    Schema::all("ConstantOfShape", |cx| plain(cx, constant_of_shape)),
    Schema::all("EyeLike", |cx| plain(cx, eye_like)),
    Schema::all("OneHot", |cx| plain(cx, one_hot)),
    Schema::all("Trilu", |cx| plain(cx, trilu)),
    Schema::all("Dropout", |cx| plain(cx, dropout)),
    Schema::all("CastLike", |cx| plain(cx, cast_like)),
];

fn wrong(kind: Kind, message: impl Into<String>) -> Error {
    Error::new(kind, message)
}

/// A shape whose elements, and a place for each, may be made.
pub(super) fn allowed(cx: &EvalCx<'_>, dtype: DType, dims: &[usize]) -> Result<Shape> {
    let shape = Shape::new(dims)?;
    let places = convert::product(shape.len(), 3 * size_of::<usize>());
    cx.reserve(byte_len(dtype, &shape) + places)?;
    Ok(shape)
}

fn one(tensor: Tensor) -> Result<Vec<Value>> {
    Ok(vec![tensor.into()])
}

/// The first input's elements at places along each axis.
pub(super) fn chosen(cx: &EvalCx<'_>, data: &Tensor, indices: &[Vec<usize>]) -> Result<Tensor> {
    let dims: Vec<_> = indices.iter().map(Vec::len).collect();
    let shape = allowed(cx, data.dtype(), &dims)?;
    data.picked(shape, &places::chosen(data.shape().dims(), indices))
}

pub(super) fn reshape(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let target = match attributes.ints("shape") {
        Some(shape) => shape.to_vec(),
        None => cx.integers(1)?,
    };
    let mut dims = Vec::with_capacity(target.len());
    let mut open = None;
    for (axis, &dim) in target.iter().enumerate() {
        dims.push(match dim {
            -1 if open.is_none() => {
                open = Some(axis);
                1
            }
            0 if !attributes.flag("allowzero", false) => *data.shape().dims().get(axis).ok_or_else(|| {
                wrong(Kind::Shape, format!("axis {axis} is copied, but the input has none"))
            })?,
            dim => usize_of_i64(dim)
                .ok_or_else(|| wrong(Kind::Shape, format!("element {axis} of the shape is {dim}")))?,
        });
    }
    if let Some(axis) = open {
        let rest = Shape::new(dims.clone())?.len();
        if rest == 0 || data.len() % rest != 0 {
            let (shape, count) = (data.shape(), data.len());
            return Err(wrong(
                Kind::Shape,
                format!("{count} elements of shape {shape} do not divide by {rest}"),
            ));
        }
        dims[axis] = data.len() / rest;
    }
    one(data.reshaped(Shape::new(dims)?)?)
}

fn flatten(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axis = attributes.int("axis").unwrap_or(1);
    let axis = if axis == i64_of(dims.len()) { dims.len() } else { places::axis(axis, dims.len())? };
    let (before, after) = dims.split_at(axis);
    one(data.reshaped(Shape::new([before.iter().product(), after.iter().product()])?)?)
}

/// The axes that the attribute or the second input names, if one is given.
fn named_axes(attributes: &Attributes, cx: &EvalCx<'_>) -> Result<Option<Vec<i64>>> {
    match attributes.ints("axes") {
        Some(axes) => Ok(Some(axes.to_vec())),
        None if cx.has(1) => cx.integers(1).map(Some),
        None => Ok(None),
    }
}

pub(super) fn squeeze(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axes = match named_axes(attributes, cx)? {
        Some(axes) => places::axes(&axes, dims.len())?,
        None => (0..dims.len()).filter(|&axis| dims[axis] == 1).collect(),
    };
    if let Some(axis) = axes.iter().find(|&&axis| dims[axis] != 1) {
        return Err(wrong(Kind::Shape, format!("axis {axis} has {} elements, and cannot go", dims[*axis])));
    }
    let left: Vec<_> = (0..dims.len()).filter(|axis| !axes.contains(axis)).map(|axis| dims[axis]).collect();
    one(data.reshaped(Shape::new(left)?)?)
}

pub(super) fn unsqueeze(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let axes = named_axes(attributes, cx)?.unwrap_or_default();
    let rank = data.shape().rank() + axes.len();
    let axes = places::axes(&axes, rank)?;
    let mut rest = data.shape().dims().iter().copied();
    let dims: Vec<_> =
        (0..rank).map(|axis| if axes.contains(&axis) { 1 } else { rest.next().unwrap_or(1) }).collect();
    one(data.reshaped(Shape::new(dims)?)?)
}

pub(super) fn transpose(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let perm = match attributes.ints("perm") {
        Some(perm) => places::axes(perm, dims.len())?,
        None => (0..dims.len()).rev().collect(),
    };
    if perm.len() != dims.len() {
        return Err(wrong(
            Kind::Shape,
            format!("{} axes are named, but there are {}", perm.len(), dims.len()),
        ));
    }
    let turned: Vec<_> = perm.iter().map(|&axis| dims[axis]).collect();
    let shape = allowed(cx, data.dtype(), &turned)?;
    one(data.picked(shape, &places::turned(dims, &perm))?)
}

pub(super) fn expand(_: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let target = Shape::from_i64(&cx.integers(1)?)?;
    let shape = data.shape().broadcast(&target)?;
    let shape = allowed(cx, data.dtype(), shape.dims())?;
    let places = places::broadcast(data.shape().dims(), shape.dims());
    one(data.picked(shape, &places)?)
}

pub(super) fn tile(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let mut repeats = vec![1; dims.len()];
    if attributes.since == 1 {
        let number = |cx: &EvalCx<'_>, index: usize| cx.tensor(index)?.only_number().map(i64::from_number);
        repeats[places::axis(number(cx, 2)?, dims.len())?] = number(cx, 1)?;
    } else {
        repeats = cx.integers(1)?;
    }
    if repeats.len() != dims.len() {
        return Err(wrong(
            Kind::Shape,
            format!("there are {} repeats for {} axes", repeats.len(), dims.len()),
        ));
    }
    let repeats = Shape::from_i64(&repeats)?;
    let counts: Vec<_> =
        dims.iter().zip(repeats.dims()).map(|(&dim, &times)| dim.saturating_mul(times)).collect();
    allowed(cx, data.dtype(), &counts)?;
    let indices: Vec<Vec<usize>> =
        dims.iter().zip(&counts).map(|(&dim, &count)| (0..count).map(|i| i % dim).collect()).collect();
    one(chosen(cx, data, &indices)?)
}

pub(super) fn concat(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let parts = (0..cx.inputs.len()).map(|input| cx.tensor(input)).collect::<Result<Vec<_>>>()?;
    let axis = attributes.int("axis").unwrap_or(1);
    one(joined(cx, &parts, axis)?)
}

/// Tensors put one behind the other along an axis.
pub(super) fn joined(cx: &EvalCx<'_>, parts: &[&Tensor], axis: i64) -> Result<Tensor> {
    let first = parts.first().ok_or_else(|| wrong(Kind::Shape, "there is nothing to put together"))?;
    let mut dims = first.shape().dims().to_vec();
    let axis = places::axis(axis, dims.len())?;
    dims[axis] = 0;
    for part in parts {
        let own = part.shape().dims();
        let fits = own.len() == dims.len() && (0..dims.len()).all(|at| at == axis || own[at] == dims[at]);
        if !fits {
            let (a, b) = (first.shape(), part.shape());
            return Err(wrong(
                Kind::Shape,
                format!("shapes {a} and {b} do not go together along axis {axis}"),
            ));
        }
        dims[axis] += own[axis];
    }
    let shape = allowed(cx, first.dtype(), &dims)?;
    let parts_dims: Vec<_> = parts.iter().map(|part| part.shape().dims()).collect();
    let places = places::joined(&parts_dims, axis);
    Tensor::woven(parts, shape, &places)
}

pub(super) fn split(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axis = places::axis(attributes.int("axis").unwrap_or(0), dims.len())?;
    let sizes = match attributes.ints("split") {
        Some(split) => Shape::from_i64(split)?.dims().to_vec(),
        None if cx.has(1) => Shape::from_i64(&cx.integers(1)?)?.dims().to_vec(),
        None => {
            let count = attributes.int("num_outputs").and_then(usize_of_i64).unwrap_or(cx.outputs).max(1);
            let chunk = dims[axis].div_ceil(count);
            (0..count).map(|i| dims[axis].saturating_sub(i * chunk).min(chunk)).collect()
        }
    };
    if sizes.iter().sum::<usize>() != dims[axis] {
        let extent = dims[axis];
        return Err(wrong(Kind::Shape, format!("parts of {sizes:?} are not {extent} together")));
    }
    let mut start = 0;
    let parts = sizes.into_iter().map(|size| {
        let mut indices = places::all(dims);
        indices[axis] = (start..start + size).collect();
        start += size;
        chosen(cx, data, &indices).map(Value::from)
    });
    parts.collect()
}

pub(super) fn slice(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let list = |name: &str, input: usize| match attributes.ints(name) {
        Some(values) => Ok(Some(values.to_vec())),
        None if cx.has(input) => cx.integers(input).map(Some),
        None => Ok(None),
    };
    let missing = || wrong(Kind::Graph, "the bounds are missing");
    let (starts, ends) = (list("starts", 1)?.ok_or_else(missing)?, list("ends", 2)?.ok_or_else(missing)?);
    let axes = match list("axes", 3)? {
        Some(axes) => places::axes(&axes, dims.len())?,
        None => (0..starts.len()).collect(),
    };
    let steps = list("steps", 4)?.unwrap_or_else(|| vec![1; axes.len()]);
    if axes.len() > dims.len() || [starts.len(), ends.len(), steps.len()] != [axes.len(); 3] {
        return Err(wrong(Kind::Shape, "starts, ends, axes and steps differ in number"));
    }
    let mut indices = places::all(dims);
    for (i, &axis) in axes.iter().enumerate() {
        indices[axis] = places::sliced(dims[axis], starts[i], ends[i], steps[i])?;
    }
    one(chosen(cx, data, &indices)?)
}

pub(super) fn gather(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let (data, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let dims = data.shape().dims();
    let axis = places::axis(attributes.int("axis").unwrap_or(0), dims.len())?;
    let chosen_indices = cx.integers(1)?.into_iter().map(|index| places::index(index, dims[axis]));
    let mut all = places::all(dims);
    all[axis] = chosen_indices.collect::<Result<_>>()?;
    let result = [&dims[..axis], indices.shape().dims(), &dims[axis + 1..]].concat();
    one(chosen(cx, data, &all)?.reshaped(Shape::new(result)?)?)
}

/// For each element of the indices, in order, its index along each axis.
pub(super) fn positions(dims: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let dims = dims.to_vec();
    let count = dims.iter().product();
    (0..count).map(move |place: usize| {
        let mut left = place;
        let mut index = vec![0; dims.len()];
        for axis in (0..dims.len()).rev() {
            index[axis] = left % dims[axis];
            left /= dims[axis];
        }
        index
    })
}

pub(super) fn place_of(index: &[usize], dims: &[usize]) -> usize {
    index.iter().zip(dims).fold(0, |place, (index, extent)| place * extent + index)
}

/// Where in the data each index points, along an axis.
fn pointed(data: &Tensor, indices: &Tensor, axis: i64) -> Result<Vec<usize>> {
    let dims = data.shape().dims();
    let axis = places::axis(axis, dims.len())?;
    if indices.shape().rank() != dims.len() {
        return Err(wrong(Kind::Shape, "data and indices differ in rank"));
    }
    let each = positions(indices.shape().dims()).zip(indices.to_i64()?).map(|(mut position, index)| {
        position[axis] = places::index(index, dims[axis])?;
        if position.iter().zip(dims).any(|(index, extent)| index >= extent) {
            return Err(wrong(Kind::Shape, "the indices are larger than the data"));
        }
        Ok(place_of(&position, dims))
    });
    each.collect()
}

pub(super) fn gather_elements(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let (data, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let shape = allowed(cx, data.dtype(), indices.shape().dims())?;
    one(data.picked(shape, &pointed(data, indices, attributes.int("axis").unwrap_or(0))?)?)
}

/// Where blocks start that tuples of indices name, how long they are, and the extents of all of them.
fn blocks(data: &Tensor, indices: &Tensor, batch: usize) -> Result<(Vec<usize>, usize, Vec<usize>)> {
    let (dims, index_dims) = (data.shape().dims(), indices.shape().dims());
    let (&depth, before) =
        index_dims.split_last().ok_or_else(|| wrong(Kind::Shape, "the indices are a scalar"))?;
    let rest = dims.get(batch + depth..).filter(|_| before.len() >= batch);
    let rest = rest.ok_or_else(|| wrong(Kind::Shape, "the indices name more axes than the data has"))?;
    let size: usize = rest.iter().product();
    let numbers = indices.to_i64()?;
    let count: usize = before.iter().product();
    let per_batch: usize = before[batch..].iter().product();
    let mut starts = Vec::with_capacity(count);
    for tuple in 0..count {
        let mut place = tuple.checked_div(per_batch).unwrap_or(0);
        for (axis, &number) in numbers[tuple * depth..(tuple + 1) * depth].iter().enumerate() {
            let extent = dims[batch + axis];
            place = place * extent + places::index(number, extent)?;
        }
        starts.push(place * size);
    }
    Ok((starts, size, [before, rest].concat()))
}

pub(super) fn gather_nd(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let (data, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let batch = attributes.int("batch_dims").and_then(usize_of_i64).unwrap_or(0);
    let (starts, size, dims) = blocks(data, indices, batch)?;
    let shape = allowed(cx, data.dtype(), &dims)?;
    let places: Vec<_> = starts.into_iter().flat_map(|start| start..start + size).collect();
    one(data.picked(shape, &places)?)
}

/// The data with updates written to places, or combined with what is there.
pub(super) fn scattered(attributes: &Attributes, cx: &EvalCx<'_>, places: &[usize]) -> Result<Vec<Value>> {
    fn combine<T: FromNumber>(
        data: &Tensor,
        updates: &Tensor,
        places: &[usize],
        how: &str,
    ) -> Result<Tensor> {
        let mut all = data.elements::<T>()?.into_owned();
        for (&place, &update) in places.iter().zip(updates.elements::<T>()?.iter()) {
            let both = match (all[place].number(), update.number()) {
                (Number::Int(a), Number::Int(b)) => Number::Int(match how {
                    "add" => a + b,
                    "mul" => a * b,
                    "min" => a.min(b),
                    _ => a.max(b),
                }),
                (a, b) => {
                    let (a, b) = (convert::nearest_f64(a), convert::nearest_f64(b));
                    Number::Float(match how {
                        "add" => a + b,
                        "mul" => a * b,
                        "min" => a.min(b),
                        _ => a.max(b),
                    })
                }
            };
            all[place] = T::from_number(both);
        }
        Tensor::from_vec(data.shape().clone(), all)
    }
    let (data, updates) = (cx.tensor(0)?, cx.tensor(2)?);
    if updates.len() != places.len() {
        return Err(wrong(
            Kind::Shape,
            format!("there are {} updates for {} places", updates.len(), places.len()),
        ));
    }
    allowed(cx, data.dtype(), data.shape().dims())?;
    match attributes.text("reduction") {
        None | Some("none") => {
            let mut all: Vec<_> = (0..data.len()).map(|place| (0, place)).collect();
            for (i, &place) in places.iter().enumerate() {
                all[place] = (1, i);
            }
            one(Tensor::woven(&[data, updates], data.shape().clone(), &all)?)
        }
        Some(how) => {
            let result = dispatch!(data.dtype(), [I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64] => combine(data, updates, places, how),
                dtype => Err(wrong(Kind::Unsupported, format!("{dtype} is not combined"))));
            one(result?)
        }
    }
}

pub(super) fn scatter_elements(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let places = pointed(cx.tensor(0)?, cx.tensor(1)?, attributes.int("axis").unwrap_or(0))?;
    scattered(attributes, cx, &places)
}

pub(super) fn scatter_nd(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let (starts, size, _) = blocks(cx.tensor(0)?, cx.tensor(1)?, 0)?;
    let places: Vec<_> = starts.into_iter().flat_map(|start| start..start + size).collect();
    scattered(attributes, cx, &places)
}

pub(super) fn pad(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let pads = match attributes.ints("pads").or_else(|| attributes.ints("paddings")) {
        Some(pads) => pads.to_vec(),
        None => cx.integers(1)?,
    };
    let axes =
        if cx.has(3) { places::axes(&cx.integers(3)?, dims.len())? } else { (0..dims.len()).collect() };
    if pads.len() != 2 * axes.len() {
        return Err(wrong(Kind::Shape, format!("there are {} pads for {} axes", pads.len(), axes.len())));
    }
    let mode = attributes.text("mode").unwrap_or("constant");
    // Along each axis, the index that each element of the result comes from; none is the constant.
    let mut sources: Vec<Vec<Option<usize>>> =
        dims.iter().map(|&extent| (0..extent).map(Some).collect()).collect();
    let mut extents = dims.to_vec();
    for (i, &axis) in axes.iter().enumerate() {
        let (before, after, extent) = (pads[i], pads[i + axes.len()], i64_of(dims[axis]));
        let len = before.checked_add(extent).and_then(|len| len.checked_add(after)).and_then(usize_of_i64);
        extents[axis] =
            len.ok_or_else(|| wrong(Kind::Shape, format!("pads leave axis {axis} without an extent")))?;
        allowed(cx, data.dtype(), &extents)?;
        let from = |at: i64| match mode {
            _ if (0..extent).contains(&at) => usize_of_i64(at),
            "edge" if extent > 0 => usize_of_i64(at.clamp(0, extent - 1)),
            "wrap" if extent > 0 => usize_of_i64(at.rem_euclid(extent)),
            "symmetric" if extent > 0 => {
                let at = at.rem_euclid(2 * extent);
                usize_of_i64(at.min(2 * extent - 1 - at))
            }
            "reflect" if extent > 1 => {
                let period = 2 * (extent - 1);
                let at = at.rem_euclid(period);
                usize_of_i64(at.min(period - at))
            }
            _ => None,
        };
        sources[axis] = (0..i64_of(extents[axis])).map(|at| from(at - before)).collect();
    }
    let fill = if cx.has(2) {
        cx.tensor(2)?.reshaped(Shape::SCALAR)?
    } else {
        let value = attributes.float("value").unwrap_or(0.0);
        match data.dtype() {
            DType::String => Tensor::zeros(DType::String, Shape::SCALAR)?,
            dtype => {
                let number = Number::Float(value.into());
                Tensor::from_numbers(dtype, Shape::SCALAR, [number], convert::Rules::IEEE)?
            }
        }
    };
    let shape = allowed(cx, data.dtype(), &extents)?;
    let each = positions(&extents).map(|position| {
        let index = position.iter().zip(&sources).map(|(&at, source)| source[at]).collect::<Option<Vec<_>>>();
        index.map_or((1, 0), |index| (0, place_of(&index, dims)))
    });
    one(Tensor::woven(&[data, &fill], shape, &each.collect::<Vec<_>>())?)
}

pub(super) fn select(_: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let (condition, yes, no) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    let shape = condition.shape().broadcast(yes.shape())?.broadcast(no.shape())?;
    let shape = allowed(cx, yes.dtype(), shape.dims())?;
    let [c, y, n] = [condition, yes, no].map(|tensor| places::broadcast(tensor.shape().dims(), shape.dims()));
    let truth: Vec<_> = condition.numbers()?.map(|number| !number.is_zero()).collect();
    let each: Vec<_> = (0..shape.len()).map(|i| if truth[c[i]] { (0, y[i]) } else { (1, n[i]) }).collect();
    one(Tensor::woven(&[yes, no], shape, &each)?)
}

fn compress(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let truth: Vec<_> = cx.tensor(1)?.numbers()?.map(|number| !number.is_zero()).collect();
    let kept = |extent: usize| -> Vec<usize> { (0..extent.min(truth.len())).filter(|&i| truth[i]).collect() };
    match attributes.int("axis") {
        None => {
            let places = kept(data.len());
            one(data.picked(Shape::vector(places.len()), &places)?)
        }
        Some(axis) => {
            let axis = places::axis(axis, dims.len())?;
            let mut indices = places::all(dims);
            indices[axis] = kept(dims[axis]);
            one(chosen(cx, data, &indices)?)
        }
    }
}

fn constant_of_shape(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let dims = Shape::from_i64(&cx.integers(0)?)?;
    let value = match attributes.tensor("value")? {
        Some(value) if value.len() == 1 => value,
        Some(value) => {
            return Err(wrong(
                Kind::Shape,
                format!("the value has {} elements, but one is wanted", value.len()),
            ));
        }
        None => Tensor::scalar(0f32),
    };
    let shape = allowed(cx, value.dtype(), dims.dims())?;
    let places = vec![0; shape.len()];
    one(value.picked(shape, &places)?)
}

fn eye_like(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let like = cx.tensor(0)?;
    let &[rows, columns] = like.shape().dims() else {
        return Err(wrong(
            Kind::Shape,
            format!("the input has shape {}, but two axes are wanted", like.shape()),
        ));
    };
    let dtype = attributes.dtype("dtype").unwrap_or(like.dtype());
    let offset = attributes.int("k").unwrap_or(0);
    let shape = allowed(cx, dtype, &[rows, columns])?;
    let ones = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let ones = ones
        .map(|(row, column)| Number::Int(i128::from(i64_of(column).saturating_sub(i64_of(row)) == offset)));
    one(Tensor::from_numbers(dtype, shape, ones, convert::Rules::IEEE)?)
}

pub(super) fn one_hot(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let (indices, values) = (cx.tensor(0)?, cx.tensor(2)?);
    let depth = usize_of_i64(i64::from_number(cx.tensor(1)?.only_number()?));
    let depth = depth.ok_or_else(|| wrong(Kind::Value, "the depth is negative"))?;
    if values.len() != 2 {
        return Err(wrong(
            Kind::Shape,
            format!("there are {} values, but two are wanted: off and on", values.len()),
        ));
    }
    let rank = indices.shape().rank() + 1;
    let axis = places::axis(attributes.int("axis").unwrap_or(-1), rank)?;
    let mut dims = indices.shape().dims().to_vec();
    dims.insert(axis, depth);
    let shape = allowed(cx, values.dtype(), &dims)?;
    let numbers: Vec<_> = indices.numbers()?.map(i64::from_number).collect();
    let each = positions(&dims).map(|mut position| {
        let at = position.remove(axis);
        let index = numbers[place_of(&position, indices.shape().dims())];
        let index = if index < 0 { index.saturating_add(i64_of(depth)) } else { index };
        usize::from(index == i64_of(at))
    });
    one(values.picked(shape, &each.collect::<Vec<_>>())?)
}

fn trilu(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let &[.., rows, columns] = data.shape().dims() else {
        return Err(wrong(
            Kind::Shape,
            format!("the input has shape {}, but two axes are wanted", data.shape()),
        ));
    };
    let (offset, upper) = (if cx.has(1) { cx.integer(1)? } else { 0 }, attributes.flag("upper", true));
    let zero = Tensor::zeros(data.dtype(), Shape::SCALAR)?;
    let shape = allowed(cx, data.dtype(), data.shape().dims())?;
    let each = (0..data.len()).map(|place| {
        let (row, column) = (i64_of(place / columns % rows), i64_of(place % columns));
        let above = column.saturating_sub(row);
        if (upper && above >= offset) || (!upper && above <= offset) { (0, place) } else { (1, 0) }
    });
    one(Tensor::woven(&[data, &zero], shape, &each.collect::<Vec<_>>())?)
}

fn dropout(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let training = if attributes.since >= 12 {
        cx.has(2) && !cx.tensor(2)?.only_number()?.is_zero()
    } else {
        attributes.since < 7 && !attributes.flag("is_test", false)
    };
    if training {
        return Err(wrong(Kind::Unsupported, "training drops elements at random, and is not run"));
    }
    let dtype = if attributes.since >= 10 { DType::Bool } else { data.dtype() };
    let shape = allowed(cx, dtype, data.shape().dims())?;
    let ones = vec![Number::Int(1); shape.len()];
    let mask = Tensor::from_numbers(dtype, shape, ones, convert::Rules::IEEE)?;
    Ok(vec![data.clone().into(), mask.into()])
}

fn cast_like(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let (data, like) = (cx.tensor(0)?, cx.tensor(1)?);
    cx.reserve(byte_len(like.dtype(), data.shape()))?;
    let rules = super::cast::rules(attributes.flag("saturate", true), attributes.text("round_mode"))?;
    one(convert::cast(data, like.dtype(), rules)?)
}
