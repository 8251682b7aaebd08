//! Outputs of evaluated operators: sizes are checked before elements are written.

use gradus_core::convert::{self};
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Result, Shape, Tensor, Value};

use crate::indices::{self, Along};
use crate::op::EvalContext;

/// A shape whose elements, and a place for each, may be made.
pub fn allowed(cx: &EvalContext<'_>, dtype: DType, dims: &[usize]) -> Result<Shape> {
    let shape = Shape::new(dims)?;
    let places = convert::product(shape.len(), 3 * size_of::<usize>());
    // Dimensions, strides, and the indices that are chosen along each axis.
    let axes = convert::product(dims.len(), 16 * size_of::<usize>());
    cx.reserve(byte_len(dtype, &shape) + places + axes)?;
    Ok(shape)
}

/// One tensor, as the outputs of an operator.
pub fn one(tensor: Tensor) -> Result<Vec<Value>> {
    Ok(vec![tensor.into()])
}

/// A tensor's elements at places along each axis. Elements that stay side by side are copied
/// together.
pub fn chosen(cx: &EvalContext<'_>, data: &Tensor, indices: &[Along]) -> Result<Tensor> {
    let dims: Vec<_> = indices.iter().map(Along::len).collect();
    let shape = allowed(cx, data.dtype(), &dims)?;
    let own = data.shape().dims();
    let Some((bytes, width)) = whole_bytes(data).filter(|_| !shape.is_empty()) else {
        return data.picked(shape, &indices::chosen(own, indices), &cx.limits());
    };
    let whole = |axis: &usize| matches!(indices[*axis], Along::Steps(0, 1, len) if len == own[*axis]);
    let mut first = own.len() - (0..own.len()).rev().take_while(whole).count();
    let (mut row, mut start): (usize, _) = (own[first..].iter().product(), 0);
    let mut len = row;
    if let Some(axis) = first.checked_sub(1)
        && let Along::Steps(from, 1, count) = indices[axis]
    {
        (first, start, len, row) = (axis, from * row, count * row, own[axis] * row);
    }
    let mut all = Vec::with_capacity(shape.len() * width);
    for place in cx.limits().watched(indices::chosen(&own[..first], &indices[..first]).into_iter()) {
        all.extend_from_slice(&bytes[(place? * row + start) * width..][..len * width]);
    }
    Tensor::from_bytes(data.dtype(), shape, all.into())
}

/// The bytes of elements, and how many each has, unless it has characters or less than one byte.
pub fn whole_bytes(tensor: &Tensor) -> Option<(&[u8], usize)> {
    let bytes = tensor.bytes().filter(|_| !tensor.dtype().is_packed())?;
    Some((bytes, tensor.dtype().bits() / 8))
}
