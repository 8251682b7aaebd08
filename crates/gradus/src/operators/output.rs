//! Outputs of evaluated operators: sizes are checked before elements are written.

use gradus_core::convert::{self};
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Result, Shape, Tensor, Value};

use crate::op::EvalContext;
use crate::operators::indices::{self, Along};

/// A shape whose elements, and a place for each, may be made.
pub(crate) fn allowed(cx: &EvalContext<'_>, dtype: DType, dims: &[usize]) -> Result<Shape> {
    let shape = Shape::new(dims)?;
    let places = convert::product(shape.len(), 3 * size_of::<usize>());
    // Dimensions, strides, and the indices that are chosen along each axis.
    let axes = convert::product(dims.len(), 16 * size_of::<usize>());
    cx.reserve(byte_len(dtype, &shape) + places + axes)?;
    Ok(shape)
}

pub(crate) fn one(tensor: Tensor) -> Result<Vec<Value>> {
    Ok(vec![tensor.into()])
}

/// The first input's elements at places along each axis.
pub(crate) fn chosen(cx: &EvalContext<'_>, data: &Tensor, indices: &[Along]) -> Result<Tensor> {
    let dims: Vec<_> = indices.iter().map(Along::len).collect();
    let shape = allowed(cx, data.dtype(), &dims)?;
    data.picked(shape, &indices::chosen(data.shape().dims(), indices), &cx.limits())
}
