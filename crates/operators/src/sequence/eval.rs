//! Running operators of lists and of values that may be missing.

use gradus_core::convert::{self, counted, i64_of, usize_of_i64};
use gradus_core::element::Bool;
use gradus_core::{Error, Kind, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::indices::{self, Along};
use crate::layout::eval::joined;
use crate::op::EvalContext;
use crate::output::allowed;

/// The first input, which is a list.
fn list<'a>(cx: &EvalContext<'a>) -> Result<&'a [Value]> {
    match cx.value(0)? {
        Value::Sequence(values) => Ok(values),
        other => Err(cx.wrong(0, &Error::is_not(Kind::Type, other, "a sequence"))),
    }
}

/// `SequenceConstruct`: a sequence of the inputs.
pub fn construct(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let values = (0..cx.inputs.len()).map(|input| cx.value(input).cloned());
    Ok(vec![Value::Sequence(values.collect::<Result<_>>()?)])
}

/// `SequenceInsert`: the sequence with an item at a position, or at the end.
pub fn insert(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let before = list(cx)?;
    cx.reserve(convert::product(before.len() + 1, size_of::<Value>()))?;
    // Lists are counted by their items: room that is left over would count as nothing.
    let mut values = Vec::with_capacity(before.len() + 1);
    values.extend_from_slice(before);
    let count = i64_of(values.len());
    let given = if cx.has(2) { cx.integer(2)? } else { count };
    let index = counted(given, values.len()).filter(|&index| index <= values.len());
    let index =
        index.ok_or_else(|| errors::value("position", given, format_args!("{} to {count}", -count)))?;
    values.insert(index, cx.value(1)?.clone());
    Ok(vec![Value::Sequence(values)])
}

/// `SequenceErase`: the sequence without an item, or without the last.
pub fn erase(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let before = list(cx)?;
    cx.reserve(convert::product(before.len(), size_of::<Value>()))?;
    let mut values = before.to_vec();
    let place = indices::index(if cx.has(1) { cx.integer(1)? } else { -1 }, values.len())?;
    values.remove(place);
    Ok(vec![Value::Sequence(values)])
}

/// `SequenceAt`: an item of a sequence.
pub fn at(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let values = list(cx)?;
    Ok(vec![values[indices::index(cx.integer(1)?, values.len())?].clone()])
}

/// `SplitToSequence`: slices along an axis, as a sequence.
pub fn split(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    /// Bytes of a part besides its elements: it is a tensor with a shape and memory of its own.
    const PART: usize = size_of::<Value>() + 256;
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axis = indices::axis(attributes.int("axis")?.unwrap_or(0), dims.len())?;
    let whole = dims[axis];
    let single = !cx.has(1);
    cx.reserve(convert::product(whole, size_of::<usize>()))?;
    let sizes = match single {
        true => vec![1; whole],
        false if cx.tensor(1)?.shape().rank() == 0 => {
            let size = cx.integer(1)?;
            let positive = usize_of_i64(size).filter(|&size| size > 0);
            let size = positive.ok_or_else(|| errors::value("split size", size, "at least 1"))?;
            (0..whole.div_ceil(size)).map(|i| size.min(whole - i * size)).collect()
        }
        false => Shape::from_i64(&cx.integers(1)?)?.dims().to_vec(),
    };
    let sum = sizes.iter().fold(0usize, |sum, &size| sum.saturating_add(size));
    errors::expect_shape(errors::SPLIT_SIZES, sum, whole)?;
    cx.reserve(convert::product(sizes.len(), PART))?;
    let mut start = 0;
    let mut parts = Vec::with_capacity(sizes.len());
    for size in sizes {
        let mut indices = indices::all(dims);
        indices[axis] = Along::range(start..start + size);
        start += size;
        let mut kept: Vec<_> = indices.iter().map(Along::len).collect();
        let shape = allowed(cx, data.dtype(), &kept)?;
        let chosen = indices::chosen(dims, &indices);
        let part = data.picked(shape, &chosen, &cx.limits())?;
        if single && !attributes.flag("keepdims", true)? {
            kept.remove(axis);
        }
        parts.push(part.reshaped(Shape::new(kept)?)?.into());
    }
    Ok(vec![Value::Sequence(parts)])
}

/// `ConcatFromSequence`: the items, concatenated or stacked.
pub fn concat(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let tensors = list(cx)?.iter().map(Value::tensor).collect::<Result<Vec<_>>>()?;
    let axis = attributes.int("axis")?.unwrap_or(0);
    if !attributes.flag("new_axis", false)? {
        return Ok(vec![joined(cx, &tensors, axis)?.into()]);
    }
    let rank = tensors.first().map_or(0, |tensor| tensor.shape().rank()) + 1;
    let axis = indices::axis(axis, rank)?;
    let with_axis = |tensor: &&Tensor| {
        let mut dims = tensor.shape().dims().to_vec();
        if axis > dims.len() {
            return Err(errors::rank("a tensor to concatenate", dims.len(), rank - 1));
        }
        dims.insert(axis, 1);
        tensor.reshaped(Shape::new(dims)?)
    };
    let tensors = tensors.iter().map(with_axis).collect::<Result<Vec<_>>>()?;
    let parts: Vec<_> = tensors.iter().collect();
    Ok(vec![joined(cx, &parts, i64_of(axis))?.into()])
}

/// `Optional`: a value, or none.
pub fn optional(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let value = if cx.has(0) { Some(Box::new(cx.value(0)?.clone())) } else { None };
    Ok(vec![Value::Optional(value)])
}

/// `OptionalHasElement`: true if there is a value.
pub fn has_element(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let present = cx.has(0) && !matches!(cx.value(0)?, Value::Optional(None));
    Ok(vec![Tensor::scalar(Bool::from(present)).into()])
}

/// `OptionalGetElement`: the value; an error if there is none.
pub fn get_element(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    match cx.value(0)? {
        Value::Optional(Some(value)) => Ok(vec![(**value).clone()]),
        Value::Optional(None) => Err(errors::value("optional", "empty", "a value")),
        other => Ok(vec![other.clone()]),
    }
}

/// `SequenceEmpty`: a sequence without items.
pub fn sequence_empty(attributes: &Attributes<'_>, _: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    attributes.dtype("dtype")?;
    Ok(vec![Value::Sequence(Vec::new())])
}

/// `SequenceLength`: the number of items.
pub fn sequence_length(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    Ok(vec![Tensor::scalar(i64_of(list(cx)?.len())).into()])
}
