//! Graphs of simpler operators: the type that they compute in, which is that of the input, or
//! float32 if that is shorter.

use gradus_core::{DType, Error, Kind, Result, Tensor};

use crate::errors;
use crate::lowering::{LoweredValue, Lowering};

/// Returns the error of a node that no graph of simpler operators computes.
pub fn unsupported(what: &str) -> Error {
    Error::new(Kind::Unsupported, format!("cannot convert {what} to simpler operators"))
}

/// The type of floats that a node computes in.
pub fn compute_type(l: &Lowering<'_>) -> Result<DType> {
    match l.dtype_of(0)? {
        DType::F64 => Ok(DType::F64),
        dtype if dtype.is_float() => Ok(DType::F32),
        dtype => Err(errors::dtype(dtype, "a type of floats")),
    }
}

/// An input in the type that the node computes in.
pub fn widened(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    let (value, dtype) = (l.input(input)?, compute_type(l)?);
    if l.dtype_of(input)? == dtype { Ok(value) } else { l.cast(value, dtype) }
}

/// A value in the type of an input.
pub fn like(l: &mut Lowering<'_>, value: LoweredValue, input: usize) -> Result<LoweredValue> {
    let dtype = l.dtype_of(input)?;
    if compute_type(l)? == dtype { Ok(value) } else { l.cast(value, dtype) }
}

/// A number of the type that the node computes in.
pub fn number(l: &mut Lowering<'_>, value: f64) -> Result<LoweredValue> {
    let tensor = Tensor::scalar(value);
    let rules = gradus_core::convert::Rules::IEEE;
    let tensor = gradus_core::convert::cast(&tensor, compute_type(l)?, rules)?;
    l.constant(tensor)
}

/// A float attribute, or its default.
pub fn parameter(l: &mut Lowering<'_>, name: &str, default: f32) -> Result<LoweredValue> {
    let value = l.attributes.float(name)?.unwrap_or(default);
    number(l, value.into())
}
