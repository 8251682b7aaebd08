//! Reshapes and unsqueezed shapes of a tensor's elements.

use gradus_core::convert::usize_of_i64;
use gradus_core::{Result, Shape, Tensor};

use crate::operators::{errors, indices};

/// The elements of `data` in another shape, of which one size may be -1. A size of 0 is the input's
/// there, unless zeros are allowed.
pub fn reshaped(data: &Tensor, target: &[i64], allow_zero: bool) -> Result<Tensor> {
    let mut dims = Vec::with_capacity(target.len());
    let mut open = None;
    for (axis, &dim) in target.iter().enumerate() {
        dims.push(match dim {
            -1 if open.is_none() => {
                open = Some(axis);
                1
            }
            0 if !allow_zero => {
                let dims = data.shape().dims();
                *dims.get(axis).ok_or_else(|| errors::copied(axis, dims.len()))?
            }
            dim => usize_of_i64(dim).ok_or_else(|| errors::element(axis, dim, errors::RESHAPED))?,
        });
    }
    if let Some(axis) = open {
        let (mut all, mut rest) = (data.len(), Shape::new(dims.clone())?.len());
        // ONNX does not say what -1 is next to a size of 0 that is kept; ONNX Runtime skips the
        // zeros of both shapes.
        if rest == 0 && allow_zero && all == 0 {
            let counted =
                |dims: &[usize]| Shape::new(dims.iter().copied().filter(|&dim| dim != 0).collect::<Vec<_>>());
            (all, rest) = (counted(data.shape().dims())?.len(), counted(&dims)?.len());
        }
        if rest == 0 || !all.is_multiple_of(rest) {
            return Err(errors::open_axis(rest, format_args!("a divisor of {all}")));
        }
        dims[axis] = all / rest;
    }
    data.reshaped(Shape::new(dims)?)
}

/// The elements of `data` with more axes of size 1.
pub fn unsqueezed(data: &Tensor, axes: &[i64]) -> Result<Tensor> {
    let rank = data.shape().rank() + axes.len();
    let axes = indices::axes(axes, rank)?;
    let mut rest = data.shape().dims().iter().copied();
    let dims: Vec<_> =
        (0..rank).map(|axis| if axes.contains(&axis) { 1 } else { rest.next().unwrap_or(1) }).collect();
    data.reshaped(Shape::new(dims)?)
}
