//! Evaluation of operators that create tensors.

use gradus_core::convert::{self, FromNumber, i64_of, usize_of_i64};
use gradus_core::{Number, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::generate::infer::hot_elements;
use crate::indices;
use crate::op::EvalContext;
use crate::output::{allowed, one};

/// `ConstantOfShape`: a tensor of a given shape, of one value.
pub fn constant_of_shape(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = Shape::from_i64(&cx.integers(0)?)?;
    let value = match attributes.tensor("value")? {
        Some(value) if value.len() == 1 => value,
        Some(value) => {
            return Err(errors::count("elements of attribute \"value\"", value.len(), 1));
        }
        None => Tensor::scalar(0f32),
    };
    let shape = allowed(cx, value.dtype(), dims.dims())?;
    let places = vec![0; shape.len()];
    one(value.picked(shape, &places, &cx.limits())?)
}

/// `EyeLike`: ones on a diagonal, of the shape of the input.
pub fn eye_like(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let like = cx.tensor(0)?;
    let &[_, columns] = like.shape().dims() else {
        return Err(errors::rank("input 0", like.shape().rank(), 2));
    };
    let dtype = attributes.dtype("dtype")?.unwrap_or(like.dtype());
    let offset = attributes.int("k")?.unwrap_or(0);
    let shape = allowed(cx, dtype, like.shape().dims())?;
    let on_diagonal = |place: usize| {
        let (row, column) = (i64_of(place / columns), i64_of(place % columns));
        Number::Int(i128::from(column.saturating_sub(row) == offset))
    };
    let ones: Vec<_> = (0..shape.len()).map(on_diagonal).collect();
    one(Tensor::from_numbers(dtype, shape, ones, convert::Rules::IEEE)?)
}

/// `OneHot`: the on value at each index along a new axis, the off value elsewhere.
pub fn one_hot(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (indices, values) = (cx.tensor(0)?, cx.tensor(2)?);
    let depth = i64::from_number(cx.tensor(1)?.only_number()?);
    let depth = usize_of_i64(depth).ok_or_else(|| errors::value("depth", depth, "at least 0"))?;
    if values.shape().dims() != [2] {
        return Err(errors::shape("shape of the values (off and on)", values.shape(), "[2]"));
    }
    let rank = indices.shape().rank() + 1;
    let axis = indices::axis(attributes.int("axis")?.unwrap_or(-1), rank)?;
    let mut dims = indices.shape().dims().to_vec();
    dims.insert(axis, depth);
    let shape = allowed(cx, values.dtype(), &dims)?;
    cx.reserve(convert::product(indices.len(), size_of::<i64>()))?;
    let numbers: Vec<_> = indices.numbers()?.map(i64::from_number).collect();
    one(values.picked(shape, &hot_elements(&numbers, &dims, axis), &cx.limits())?)
}
