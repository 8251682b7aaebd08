//! Values: what flows along the edges of a graph.

use std::fmt;

use crate::dtype::DType;
use crate::error::{Error, Kind, Result};
use crate::tensor::Tensor;

/// A value of a running graph.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A tensor.
    Tensor(Tensor),
    /// A list of values of one type.
    Sequence(Vec<Value>),
    /// A value that may be missing.
    Optional(Option<Box<Value>>),
}

impl Value {
    /// The tensor.
    ///
    /// # Errors
    /// [`Kind::Type`] if the value is something else.
    pub fn tensor(&self) -> Result<&Tensor> {
        match self {
            Value::Tensor(tensor) => Ok(tensor),
            other => Err(Error::is_not(Kind::Type, other, "a tensor")),
        }
    }

    /// Bytes that the value occupies.
    pub fn byte_len(&self) -> u64 {
        match self {
            Value::Tensor(tensor) => crate::convert::u64_of(tensor.byte_len()),
            // An item of a list takes room even if it has no elements.
            Value::Sequence(values) => {
                values.iter().map(Value::byte_len).sum::<u64>()
                    + crate::convert::u64_of(size_of_val(&values[..]))
            }
            Value::Optional(value) => value.as_ref().map_or(0, |value| value.byte_len()),
        }
    }

    /// The element type of the tensors within, if there is a tensor.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Value::Tensor(tensor) => Some(tensor.dtype()),
            Value::Sequence(values) => values.first().and_then(Value::dtype),
            Value::Optional(value) => value.as_ref().and_then(|value| value.dtype()),
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Value::Tensor(tensor)
    }
}

impl From<&Tensor> for Value {
    fn from(tensor: &Tensor) -> Self {
        Value::Tensor(tensor.clone())
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

/// Writes the type of the value, without its elements: `float32[2, 3]`, `a sequence of 2`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Tensor(tensor) => write!(f, "{}{}", tensor.dtype(), tensor.shape()),
            Value::Sequence(values) => write!(f, "a sequence of {}", values.len()),
            Value::Optional(None) => f.write_str("an empty optional"),
            Value::Optional(Some(value)) => write!(f, "an optional {value}"),
        }
    }
}
