//! Inputs of evaluated nodes, whose shapes are checked.

use gradus_core::{Error, Kind, Result};

use crate::op::EvalContext;
use crate::{errors, indices};

/// The elements of an input that must have this shape.
pub(super) fn shaped(cx: &EvalContext<'_>, input: usize, dims: &[usize]) -> Result<Vec<f64>> {
    let own = cx.tensor(input)?.shape().dims();
    if own != dims {
        return Err(errors::shape(cx.label(input), format_args!("{own:?}"), format_args!("{dims:?}")));
    }
    cx.floats(input)
}

/// The numbers of an optional input, whose dimensions must be these.
pub(super) fn maybe_shaped(cx: &EvalContext<'_>, input: usize, dims: &[usize]) -> Result<Option<Vec<f64>>> {
    cx.has(input).then(|| shaped(cx, input, dims)).transpose()
}

/// An error: evaluation does not support this.
pub(super) fn unsupported(what: &str) -> Error {
    Error::new(Kind::Unsupported, format!("cannot evaluate {what}"))
}

/// Adds an input to numbers of the first input's shape.
pub(super) fn add(cx: &EvalContext<'_>, numbers: &mut [f64], input: usize) -> Result<()> {
    if !cx.has(input) {
        return Ok(());
    }
    let (dims, own) = (cx.tensor(0)?.shape(), cx.tensor(input)?.shape());
    let added = cx.floats(input)?;
    for (x, place) in numbers.iter_mut().zip(indices::broadcast(own.dims(), dims.dims())) {
        *x += added[place];
    }
    Ok(())
}
