//! Inputs of a node in the form that an operator of ONNX takes, and what is not kept bit for bit.

use std::borrow::Cow;

use gradus_core::convert::{self, Rules, i64_of, usize_of_i64};
use gradus_core::graph::{Constant, Standard};
use gradus_core::{DType, Error, Kind, Limits, Result, Tensor};

use super::{KnownDims, LoweredValue, Lowering, along, axis as axis_of};
use crate::conversion::Exactness;
use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::dim::Dim;
use crate::normalize::Form;
use crate::operators::errors;
use crate::operators::indices::integers_of;
use crate::schema::{Signature, in_set, onnx_versions};

/// Maximum number of elements of a list that decides axes, or that is written since a size is
/// known.
pub const LONGEST: usize = 1 << 20;

/// The operator set that the graph is written for. Operators are written in their newest form, and
/// brought into that of the set later.
impl Lowering<'_> {
    /// The signature of an operator.
    pub fn signature(&self, operator: &str) -> Option<&'static Signature> {
        in_set(onnx_versions("", operator), self.goal.opset)
    }

    /// The form of an operator.
    pub fn form(&self, operator: &str) -> Form {
        Form::of(Standard::Onnx, operator, self.goal.opset)
    }

    /// Returns true if the operator set has the newest version of an operator.
    pub fn is_newest(&self, operator: &str) -> bool {
        let newest = onnx_versions("", operator).last().map(|newest| newest.since);
        self.signature(operator).map(|own| own.since) == newest
    }

    /// The limits of the run or the conversion.
    pub fn limits(&self) -> Limits {
        self.goal.limits
    }

    /// Returns true if the first input of an operator may be of a type.
    pub fn admits(&self, operator: &str, dtype: DType) -> bool {
        let first = self.signature(operator).and_then(|signature| signature.inputs.first());
        first.is_some_and(|input| input.types.tensor.contains(dtype))
    }

    /// Refuses an element type that the operator set cannot cast to.
    pub fn must_cast_to(&self, to: DType) -> Result<()> {
        if self.admits("Cast", to) {
            return Ok(());
        }
        Err(cannot(format!("the operator set has no Cast to {to}")))
    }

    /// An axis as the operator takes it in the operator set.
    pub fn axis_in_set(&self, operator: &str, axis: i64, rank: Option<usize>) -> Result<i64> {
        match rank {
            Some(rank) if axis < 0 && self.form(operator).counts_axes_from_first() => {
                axis_of(axis, rank).map(i64_of)
            }
            _ => Ok(axis),
        }
    }

    /// Axes as the operator takes them in the operator set.
    pub fn axes_in_set(&self, operator: &str, axes: Vec<i64>, rank: Option<usize>) -> Result<Vec<i64>> {
        axes.into_iter().map(|axis| self.axis_in_set(operator, axis, rank)).collect()
    }
}

/// The inputs.
impl Lowering<'_> {
    /// Returns the error of a fact that is not known before a run.
    pub fn unknown(&self, what: &str) -> Error {
        let what = format_args!("{}{what}", self.goal.task);
        Error::mismatch(Kind::Unsupported, what, "unknown", "known before the run")
    }

    /// Returns true if something reads an output.
    pub fn wants(&self, output: usize) -> bool {
        self.goal.outputs.get(output).is_some_and(Option::is_some)
    }

    /// The dimensions of an output, if its rank is known.
    pub fn result_dims(&self, output: usize) -> Option<KnownDims> {
        self.goal.outputs.get(output)?.clone()?.dims
    }

    /// All inputs.
    pub fn given(&self) -> Result<Vec<LoweredValue>> {
        (0..self.count()).map(|input| self.input(input)).collect()
    }

    /// Applies an operator to the first input.
    pub fn unary(&mut self, operator: &str) -> Result<Vec<LoweredValue>> {
        let x = self.input(0)?;
        Ok(vec![self.apply(operator, &[x], &[])?])
    }

    /// Applies a function of floats, which is not algebraic, to the first input.
    pub fn function(&mut self, operator: &str) -> Result<Vec<LoweredValue>> {
        self.rounding(caveats::FUNCTION);
        match self.dtype_of(0) {
            Ok(dtype) if !dtype.is_float() => {
                Err(cannot(format!("OpenVINO does not say how results for {dtype} are rounded")))
            }
            _ => self.unary(operator),
        }
    }

    /// Returns true if an input may hold floats.
    pub fn is_float(&self, input: usize) -> bool {
        self.dtype_of(input).map_or(true, |dtype| dtype.is_float() || dtype.is_complex())
    }

    /// The dimensions of an input, if its rank is known.
    pub fn dims(&self, input: usize) -> Option<KnownDims> {
        Some(self.dims_of(input).ok()?.iter().map(|len| len.map(i64_of)).collect())
    }

    /// The dimensions of an input as expressions; none if its rank is not known.
    pub fn sizes_of(&self, input: usize) -> &[Dim] {
        self.facts(input).map_or(&[], |known| &known.sizes)
    }

    /// The number of axes of an input, if it is known.
    pub fn rank_if_known(&self, input: usize) -> Option<usize> {
        self.rank_of(input).ok()
    }

    /// The number of elements of a list, as lists of axes have them: a declared one beyond reason
    /// is not believed.
    pub fn len(&self, input: usize) -> Option<usize> {
        self.len_of(input).ok().filter(|&len| len <= LONGEST)
    }

    /// The known dimension of an axis of an input.
    pub fn known_size(&self, input: usize, axis: usize) -> Option<i64> {
        self.dims(input)?.get(axis).copied().flatten()
    }

    /// Returns true if an input may have no elements.
    pub fn may_be_empty(&self, input: usize) -> bool {
        self.dims_of(input).map_or(true, |dims| dims.iter().any(|dim| dim.is_none_or(|dim| dim == 0)))
    }

    /// Returns true if an input is a constant of the model.
    pub fn is_constant(&self, input: usize) -> bool {
        self.facts(input).is_some_and(|known| known.is_constant)
    }

    /// The elements of an input, if they are known before a run.
    pub fn known(&self, input: usize) -> Result<Option<Tensor>> {
        self.facts(input).and_then(|known| known.held.as_ref()).map(Constant::tensor).transpose()
    }

    /// The integers that an input holds, if they are known before a run.
    pub fn known_integers(&self, input: usize) -> Result<Option<Vec<i64>>> {
        self.known(input)?.map_or(Ok(None), |tensor| integers_of(&tensor))
    }

    /// The integers that an input holds, which must be known.
    pub fn integers(&self, input: usize) -> Result<Vec<i64>> {
        self.known_integers(input)?.ok_or_else(|| self.unknown(&format!("value of input {input}")))
    }

    /// The one integer that an input holds.
    pub fn integer(&self, input: usize) -> Result<i64> {
        match self.integers(input)?[..] {
            [only] => Ok(only),
            ref all => Err(errors::count(&format!("elements of input {input}"), all.len(), 1)),
        }
    }

    /// An axis of an input, counted from the first.
    pub fn axis(&self, axis: i64, input: usize) -> Result<usize> {
        match (self.rank_of(input), usize_of_i64(axis)) {
            (Ok(rank), _) => axis_of(axis, rank),
            (Err(_), Some(axis)) => Ok(axis),
            (Err(error), None) => Err(error),
        }
    }

    /// The axis that an input names, counted from the first.
    pub fn named_axis(&self, input: usize, of: usize) -> Result<usize> {
        self.axis(self.integer(input)?, of)
    }

    /// An input of integers as int64: ONNX takes no other type for shapes, axes and places.
    pub fn whole(&mut self, input: usize) -> Result<LoweredValue> {
        let own = self.dtype_of(input);
        if self.is_constant(input)
            && own.as_ref().is_ok_and(|&dtype| dtype != DType::I64)
            && let Some(tensor) = self.known(input)?
        {
            return self.constant(convert::cast(&tensor, DType::I64, Rules::IEEE)?);
        }
        let value = self.input(input)?;
        if own? == DType::I64 { Ok(value) } else { self.cast(value, DType::I64) }
    }

    /// An input of integers as a list of int64, be it a list or a scalar.
    pub fn whole_list(&mut self, input: usize) -> Result<LoweredValue> {
        if let Some(values) = self.known_integers(input)? {
            return self.list(&values);
        }
        let value = self.whole(input)?;
        if self.rank_if_known(input) == Some(1) {
            return Ok(value);
        }
        let list = self.list(&[-1])?;
        self.with_shape(value, list)
    }

    /// An input of one integer as a scalar of int64.
    pub fn whole_scalar(&mut self, input: usize) -> Result<LoweredValue> {
        let value = self.whole(input)?;
        if self.rank_if_known(input) == Some(0) {
            return Ok(value);
        }
        let none = self.list(&[])?;
        self.with_shape(value, none)
    }

    /// Two inputs of integers, one after the other: pads before all axes, and after them.
    pub fn pads(&mut self, before: usize, after: usize) -> Result<LoweredValue> {
        if let (Some(before), Some(after)) = (self.known_integers(before)?, self.known_integers(after)?) {
            return self.list(&[before, after].concat());
        }
        let both = [self.whole_list(before)?, self.whole_list(after)?];
        self.apply("Concat", &both, &[along(0)])
    }

    /// The second operand with the axes that the attribute says that it has among those of the
    /// first.
    pub fn aligned(&mut self, a: usize, b: usize) -> Result<LoweredValue> {
        let value = self.input(b)?;
        if self.attributes.text("auto_broadcast")? != Some("pdpd") {
            return Ok(value);
        }
        let (rank, own) = (self.rank_of(a)?, self.rank_of(b)?);
        let start = self.attributes.int("auto_broadcast_axis")?.filter(|&axis| axis >= 0);
        let start = start.and_then(usize_of_i64).unwrap_or(rank.saturating_sub(own));
        let after = rank.saturating_sub(start + own);
        if after == 0 {
            return Ok(value);
        }
        let axes = self.list(&(own..own + after).map(i64_of).collect::<Vec<_>>())?;
        self.apply("Unsqueeze", &[value, axes], &[])
    }
}

/// Results that are not kept bit for bit.
impl Lowering<'_> {
    /// Notes that results may be rounded differently.
    pub fn rounding(&mut self, why: impl Into<Cow<'static, str>>) {
        self.notes.push((Exactness::Rounding, why.into()));
    }

    /// Notes that some inputs give another result.
    pub fn edges(&mut self, why: impl Into<Cow<'static, str>>) {
        self.notes.push((Exactness::EdgeCases, why.into()));
    }

    /// Lets the operators of the graph tell what is not kept, besides what is noted.
    pub fn note_by_operators(&mut self) {
        self.noted_by_operators = true;
    }

    /// Notes that results of floats may be rounded differently.
    pub fn rounding_of_floats(&mut self, why: &'static str) {
        if self.is_float(0) {
            self.rounding(why);
        }
    }

    /// Notes that some floats give another result.
    pub fn edges_of_floats(&mut self, why: &'static str) {
        if self.is_float(0) {
            self.edges(why);
        }
    }
}
