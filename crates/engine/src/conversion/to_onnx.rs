//! Operators of ONNX that a node with graphs, or a node in another operator set, is written by.

use gradus_core::convert::i64_of;
use gradus_core::element::Bool;
use gradus_core::{DType, Result, Tensor};

use crate::conversion::node::ConvertContext;
use crate::conversion::types::numbered;
use crate::conversion::writer::NewValue;
use crate::lowering::int;

impl ConvertContext<'_, '_> {
    /// A value in another element type.
    pub fn cast(&mut self, value: NewValue, to: DType) -> Result<NewValue> {
        self.put("Cast", &[value], &[numbered("to", to)?])
    }

    /// The dimensions of a value.
    pub fn sizes(&mut self, value: NewValue) -> Result<NewValue> {
        self.put("Shape", &[value], &[])
    }

    /// The elements of a value in another shape, in which a dimension of 0 is a size of 0.
    pub fn with_shape(&mut self, value: NewValue, dims: NewValue) -> Result<NewValue> {
        let nonzero = match self.target.known(dims)? {
            Some(known) => !known.to_i64()?.contains(&0),
            None => false,
        };
        let zero = (!nonzero).then(|| int("allowzero", 1));
        self.put("Reshape", &[value, dims], zero.as_slice())
    }

    /// An input of one truth value as a scalar.
    pub fn truth(&mut self, input: usize) -> Result<NewValue> {
        if let Some([truth]) = self.known_integers(input)?.as_deref() {
            return Ok(self.constant(Tensor::scalar(Bool::from(*truth != 0))));
        }
        let value = self.input(input)?;
        if self.rank_if_known(input) == Some(0) {
            return Ok(value);
        }
        let none = self.list(&[]);
        self.with_shape(value, none)
    }

    /// An input of integers as int64: ONNX takes no other type for shapes, axes and places.
    pub fn whole(&mut self, input: usize) -> Result<NewValue> {
        let id = self.node.inputs.get(input).copied().flatten();
        if let Some(tensor) = self.known(input)?
            && id.is_some_and(|id| !self.is_computed(id))
            && tensor.dtype() != DType::I64
        {
            let list = gradus_core::convert::cast(&tensor, DType::I64, gradus_core::convert::Rules::IEEE)?;
            return Ok(self.constant(list));
        }
        let value = self.input(input)?;
        if self.dtype(input)? == DType::I64 { Ok(value) } else { self.cast(value, DType::I64) }
    }

    /// An input of integers as an int64 scalar.
    pub fn whole_scalar(&mut self, input: usize) -> Result<NewValue> {
        let value = self.whole(input)?;
        if self.rank_if_known(input) == Some(0) {
            return Ok(value);
        }
        let none = self.list(&[]);
        self.with_shape(value, none)
    }

    /// The elements of a list from one place to before another.
    pub fn part_of(&mut self, list: NewValue, from: i64, to: i64) -> Result<NewValue> {
        let (from, to, axis) = (self.list(&[from]), self.list(&[to]), self.list(&[0]));
        self.put("Slice", &[list, from, to, axis], &[])
    }

    /// The dimension of an axis as a list of one.
    pub fn size_of(&mut self, value: NewValue, axis: usize) -> Result<NewValue> {
        let all = self.sizes(value)?;
        let axis = i64_of(axis);
        self.part_of(all, axis, axis + 1)
    }

    /// The known dimension of an axis of an input.
    pub fn known_size(&self, input: usize, axis: usize) -> Option<i64> {
        self.dims(input)?.get(axis).copied().flatten()
    }
}
