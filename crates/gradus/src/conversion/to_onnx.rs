//! OpenVINO's operators in those of ONNX.

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::element::Bool;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::types::numbered;
use crate::conversion::writer::NewValue;
use crate::operators::indices::axis as axis_of;

/// An attribute of ONNX: an integer.
pub(crate) fn int(name: &'static str, value: i64) -> (&'static str, Content) {
    (name, Content::Int(value))
}

/// An attribute of ONNX: yes or no.
pub(crate) fn flag(name: &'static str, value: bool) -> (&'static str, Content) {
    int(name, i64::from(value))
}

/// An attribute of ONNX: a word.
pub(crate) fn word(name: &'static str, value: &str) -> (&'static str, Content) {
    (name, Content::Bytes(value.to_owned().into()))
}

/// Helpers of several operators.
impl ConvertContext<'_, '_> {
    /// A value in another element type.
    pub(crate) fn cast(&mut self, value: NewValue, to: DType) -> Result<NewValue> {
        self.put("Cast", &[value], &[numbered("to", to)?])
    }

    /// The dimensions of a value.
    pub(crate) fn sizes(&mut self, value: NewValue) -> Result<NewValue> {
        self.put("Shape", &[value], &[])
    }

    /// The same elements in another shape; a dimension of 0 is one.
    pub(crate) fn with_shape(&mut self, value: NewValue, dims: NewValue) -> Result<NewValue> {
        let nonzero = match self.target.known(dims)? {
            Some(known) => !known.to_i64()?.contains(&0),
            None => false,
        };
        let zero = (!nonzero).then(|| int("allowzero", 1));
        self.put("Reshape", &[value, dims], zero.as_slice())
    }

    /// An input of one truth value as a scalar.
    pub(crate) fn truth(&mut self, input: usize) -> Result<NewValue> {
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
    pub(crate) fn whole(&mut self, input: usize) -> Result<NewValue> {
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

    /// The same, as a list, whether it is one or a scalar.
    pub(crate) fn whole_list(&mut self, input: usize) -> Result<NewValue> {
        if let Some(values) = self.known_integers(input)? {
            return Ok(self.list(&values));
        }
        let value = self.whole(input)?;
        if self.rank_if_known(input) == Some(1) {
            return Ok(value);
        }
        let list = self.list(&[-1]);
        self.with_shape(value, list)
    }

    /// Refuses an element type that the operator set cannot cast to.
    pub(crate) fn must_cast_to(&self, to: DType) -> Result<()> {
        if self.target.admits("Cast", to) {
            return Ok(());
        }
        Err(cannot(format!("the operator set has no Cast to {to}")))
    }

    /// Two inputs of integers, one behind the other: pads before all axes, and behind them.
    pub(crate) fn pads(&mut self, before: usize, behind: usize) -> Result<NewValue> {
        if let (Some(before), Some(behind)) = (self.known_integers(before)?, self.known_integers(behind)?) {
            return Ok(self.list(&[before, behind].concat()));
        }
        let both = [self.whole_list(before)?, self.whole_list(behind)?];
        self.put("Concat", &both, &[("axis", Content::Int(0))])
    }

    /// The same, as a scalar.
    pub(crate) fn whole_scalar(&mut self, input: usize) -> Result<NewValue> {
        let value = self.whole(input)?;
        if self.rank_if_known(input) == Some(0) {
            return Ok(value);
        }
        let none = self.list(&[]);
        self.with_shape(value, none)
    }

    /// The elements of a list from one place to before another.
    pub(crate) fn part_of(&mut self, list: NewValue, from: i64, to: i64) -> Result<NewValue> {
        let (from, to, axis) = (self.list(&[from]), self.list(&[to]), self.list(&[0]));
        self.put("Slice", &[list, from, to, axis], &[])
    }

    /// The dimension of an axis as a list of one.
    pub(crate) fn size_of(&mut self, value: NewValue, axis: usize) -> Result<NewValue> {
        let all = self.sizes(value)?;
        let axis = i64_of(axis);
        self.part_of(all, axis, axis + 1)
    }

    /// The known dimension of an axis of an input.
    pub(crate) fn known_size(&self, input: usize, axis: usize) -> Option<i64> {
        self.dims(input)?.get(axis).copied().flatten()
    }

    /// The axis that an input names, counted from the first.
    pub(crate) fn named_axis(&self, input: usize, of: usize) -> Result<usize> {
        self.axis(self.integer(input)?, of)
    }

    /// An axis as the operator takes it in the operator set that is written.
    pub(crate) fn axis_in_set(&self, operator: &str, axis: i64, rank: Option<usize>) -> Result<i64> {
        let from_first = || self.target.form(operator).counts_axes_from_first();
        match rank {
            Some(rank) if axis < 0 && from_first() => axis_of(axis, rank).map(i64_of),
            _ => Ok(axis),
        }
    }

    /// The same of several axes.
    pub(crate) fn axes_in_set(
        &self,
        operator: &str,
        axes: Vec<i64>,
        rank: Option<usize>,
    ) -> Result<Vec<i64>> {
        axes.into_iter().map(|axis| self.axis_in_set(operator, axis, rank)).collect()
    }

    /// The second operand with the axes that the attribute says that it has among those of the
    /// first.
    pub(crate) fn aligned(&mut self, a: usize, b: usize) -> Result<NewValue> {
        let value = self.input(b)?;
        if self.attributes.text("auto_broadcast")? != Some("pdpd") {
            return Ok(value);
        }
        let (rank, own) = (self.rank(a)?, self.rank(b)?);
        let start = self.attributes.int("auto_broadcast_axis")?.filter(|&axis| axis >= 0);
        let start = start.and_then(usize_of_i64).unwrap_or(rank.saturating_sub(own));
        let behind = rank.saturating_sub(start + own);
        if behind == 0 {
            return Ok(value);
        }
        let axes = self.list(&(own..own + behind).map(i64_of).collect::<Vec<_>>());
        self.put("Unsqueeze", &[value, axes], &[])
    }
}
