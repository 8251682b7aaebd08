//! Constants, and operators that most graphs use.

use gradus_core::convert::{self, Rules, i64_of};
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};
use gradus_formats::onnx::number_of;

use crate::lowering::terms::range;

use super::{LoweredValue, Lowering, key};
use crate::conversion::caveats;
use crate::operators::{errors, indices};

impl<'a> Lowering<'a> {
    /// A constant.
    pub fn constant(&mut self, tensor: Tensor) -> Result<LoweredValue> {
        let value = self.next();
        self.constants.insert(value, tensor.clone());
        self.builder.constant(&key(value), tensor.into())?;
        Ok(value)
    }

    /// A list of int64.
    pub fn list(&mut self, values: &[i64]) -> Result<LoweredValue> {
        self.constant(Tensor::vector(values))
    }

    /// A value in another element type.
    pub fn cast(&mut self, value: LoweredValue, to: DType) -> Result<LoweredValue> {
        let number = number_of(to).ok_or_else(|| errors::dtype(to, "a type of ONNX"))?;
        self.apply("Cast", &[value], &[("to", Content::Int(number))])
    }

    /// The elements of a value in another shape.
    pub fn reshape(&mut self, value: LoweredValue, dims: &[i64]) -> Result<LoweredValue> {
        let dims = self.list(dims)?;
        self.apply("Reshape", &[value, dims], &[])
    }

    /// The dimensions of a value.
    pub fn shape(&mut self, value: LoweredValue) -> Result<LoweredValue> {
        self.apply("Shape", &[value], &[])
    }

    /// A value in another element type, if it is not of that already.
    pub fn in_type(&mut self, value: LoweredValue, from: DType, to: DType) -> Result<LoweredValue> {
        if from == to { Ok(value) } else { self.cast(value, to) }
    }

    /// The attributes of the node.
    pub fn own_attributes(&self) -> Vec<(&'a str, Content)> {
        self.attributes.all().map(|(name, content)| (name, content.clone())).collect()
    }

    /// The operator of the node itself.
    pub fn itself(&mut self) -> Result<Vec<LoweredValue>> {
        let inputs: Vec<_> = (0..self.count()).map(|input| self.maybe(input)).collect();
        let name = &*self.node.operator.name;
        self.apply_many(name, &inputs, &self.own_attributes(), self.outputs())
    }

    /// An int64.
    pub fn scalar(&mut self, value: i64) -> Result<LoweredValue> {
        self.constant(Tensor::scalar(value))
    }

    /// A number of some element type, the nearest that it has.
    pub fn number(&mut self, value: f64, dtype: DType) -> Result<LoweredValue> {
        self.constant(convert::cast(&Tensor::scalar(value), dtype, Rules::SATURATING)?)
    }

    /// The elements of a value that is a constant, or an input whose elements are known.
    pub fn elements_of(&self, value: LoweredValue) -> Result<Option<Tensor>> {
        if let Some(constant) = self.constants.get(&value) {
            return Ok(Some(constant.clone()));
        }
        if value.0 < self.inputs.len() { self.known(value.0) } else { Ok(None) }
    }

    /// The elements of a value in another shape, in which a dimension of 0 is a size of 0.
    pub fn with_shape(&mut self, value: LoweredValue, dims: LoweredValue) -> Result<LoweredValue> {
        let nonzero = match self.elements_of(dims)? {
            Some(known) => !known.to_i64()?.contains(&0),
            None => false,
        };
        let zero = (!nonzero).then(|| int("allowzero", 1));
        self.apply("Reshape", &[value, dims], zero.as_slice())
    }

    /// The elements of a list from one index to before another.
    pub fn part_of(&mut self, list: LoweredValue, from: i64, to: i64) -> Result<LoweredValue> {
        let (from, to, axis) = (self.list(&[from])?, self.list(&[to])?, self.list(&[0])?);
        self.apply("Slice", &[list, from, to, axis], &[])
    }

    /// The dimension of an axis as a list of one.
    pub fn size_of(&mut self, value: LoweredValue, axis: usize) -> Result<LoweredValue> {
        let all = self.shape(value)?;
        self.part_of(all, i64_of(axis), i64_of(axis) + 1)
    }

    /// The axes of a value in another order.
    pub fn transposed(&mut self, value: LoweredValue, order: &[i64]) -> Result<LoweredValue> {
        self.apply("Transpose", &[value], &[("perm", Content::Ints(order.to_vec().into()))])
    }

    /// The elements along an axis from an index to before another, which are lists of one.
    pub fn between(
        &mut self,
        value: LoweredValue,
        [from, to]: [LoweredValue; 2],
        axis: i64,
    ) -> Result<LoweredValue> {
        let axes = self.list(&[axis])?;
        self.apply("Slice", &[value, from, to, axes], &[])
    }

    /// The dimension of an axis as a scalar.
    pub fn length(&mut self, value: LoweredValue, axis: i64) -> Result<LoweredValue> {
        let (all, axis) = (self.shape(value)?, self.scalar(axis)?);
        self.apply("Gather", &[all, axis], &[])
    }

    /// The index of each element of an axis.
    pub fn positions(&mut self, value: LoweredValue, axis: i64) -> Result<LoweredValue> {
        let len = self.length(value, axis)?;
        self.up_to(len)
    }

    /// The integers from 0 up to a scalar.
    pub fn up_to(&mut self, end: LoweredValue) -> Result<LoweredValue> {
        range(end).put(self)
    }
}

/// An axis counted from the first.
pub fn axis(axis: i64, rank: usize) -> Result<usize> {
    indices::axis(axis, rank)
}

/// An attribute of ONNX.
pub fn int(name: &'static str, value: i64) -> (&'static str, Content) {
    (name, Content::Int(value))
}

/// The attribute that names an axis.
pub fn along(axis: usize) -> (&'static str, Content) {
    int("axis", i64_of(axis))
}

/// The type that functions and statistics are computed in: float32 for shorter floats.
pub fn wide(dtype: DType) -> DType {
    if dtype.bits() < 32 { DType::F32 } else { dtype }
}

/// An attribute of ONNX: yes or no.
pub fn flag(name: &'static str, value: bool) -> (&'static str, Content) {
    int(name, i64::from(value))
}

/// An attribute of ONNX: a word.
pub fn word(name: &'static str, value: &str) -> (&'static str, Content) {
    (name, Content::Bytes(value.to_owned().into()))
}

/// The number of float64 among ONNX's element types.
const DOUBLE: i64 = 11;

impl Lowering<'_> {
    /// A range of scalars of one type, its elements cast to another. Of the types that ONNX has no
    /// ranges of, integers are counted in int64, and short floats in float32.
    pub fn ranged(&mut self, scalars: [LoweredValue; 3], from: DType, to: DType) -> Result<LoweredValue> {
        if !to.is_integer() {
            self.rounding(caveats::RANGE);
        }
        let between = match from {
            DType::I16 | DType::I32 | DType::I64 | DType::F32 | DType::F64 => from,
            DType::F16 | DType::BF16 if self.admits("Range", from) => from,
            _ if from.is_integer() => DType::I64,
            _ => DType::F32,
        };
        let mut all = scalars;
        if between != from {
            for scalar in &mut all {
                *scalar = self.cast(*scalar, between)?;
            }
        }
        // A running sum that is as exact as can be.
        let stash = matches!(between, DType::F16 | DType::BF16).then_some(int("stash_type", DOUBLE));
        let elements = self.apply("Range", &all, stash.as_slice())?;
        if between == to { Ok(elements) } else { self.cast(elements, to) }
    }
}
