//! Values: what flows along the edges of a graph.

use std::collections::HashSet;
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
    /// Numbers under keys.
    Map(Map),
}

/// Numbers or texts under keys (ONNX): both are tensors of one axis, and no key is there twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    keys: Tensor,
    values: Tensor,
}

impl Map {
    /// The map of keys and their values.
    ///
    /// # Errors
    /// [`Kind::Type`] if keys are neither int64 nor text; [`Kind::Shape`] unless both have one axis
    /// of one size; [`Kind::Value`] for a key that is there twice.
    pub fn new(keys: Tensor, values: Tensor) -> Result<Map> {
        if !matches!(keys.dtype(), DType::I64 | DType::String) {
            return Err(Error::mismatch(
                Kind::Type,
                "type of the keys of a map",
                keys.dtype(),
                "int64 or string",
            ));
        }
        if keys.shape().dims().len() != 1 {
            return Err(Error::mismatch(Kind::Shape, "shape of the keys of a map", keys.shape(), "one axis"));
        }
        let count = match keys.texts() {
            Ok(texts) => texts.iter().collect::<HashSet<_>>().len(),
            Err(_) => keys.to_i64()?.into_iter().collect::<HashSet<_>>().len(),
        };
        if count != keys.len() {
            return Err(Error::mismatch(Kind::Value, "number of different keys of a map", count, keys.len()));
        }
        Map { values: keys.clone(), keys }.with_values(values)
    }

    /// The map of the same keys and other values.
    ///
    /// # Errors
    /// [`Kind::Shape`] unless there are as many.
    pub fn with_values(&self, values: Tensor) -> Result<Map> {
        if values.shape() != self.keys.shape() {
            return Err(Error::mismatch(
                Kind::Shape,
                "shape of the values of a map",
                values.shape(),
                self.keys.shape(),
            ));
        }
        Ok(Map { keys: self.keys.clone(), values })
    }

    /// The keys.
    pub fn keys(&self) -> &Tensor {
        &self.keys
    }

    /// The value of each key.
    pub fn values(&self) -> &Tensor {
        &self.values
    }
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
            Value::Map(map) => crate::convert::u64_of(map.keys.byte_len() + map.values.byte_len()),
        }
    }

    /// The element type of the tensors within, if there is a tensor.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Value::Tensor(tensor) => Some(tensor.dtype()),
            Value::Sequence(values) => values.first().and_then(Value::dtype),
            Value::Optional(value) => value.as_ref().and_then(|value| value.dtype()),
            Value::Map(map) => Some(map.values.dtype()),
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
            Value::Map(map) => {
                write!(f, "a map of {} from {} to {}", map.keys.len(), map.keys.dtype(), map.values.dtype())
            }
        }
    }
}
