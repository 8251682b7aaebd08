//! Facts about the inputs of a node.

use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::ValueId;
use gradus_core::{DType, Error, Kind, Tensor};

use super::{InferContext, InferError, InputLabel};
use crate::dim::{Bounds, Dim, Relation};
use crate::fact::{Dims, Elements, Fact, Fraction, TensorFact, fraction_of, known_shape};
use crate::infer::pass::MAX_ITEMS;
use crate::operators::errors;
use crate::schema::Signature;

impl InferContext<'_, '_> {
    /// Returns true if a list made of another may have `count` items that are known one by one.
    pub fn allow_items(&mut self, count: usize) -> bool {
        let items = &mut self.pass.shared.items;
        *items = items.saturating_add(count);
        *items <= MAX_ITEMS
    }

    /// Number of inputs, missing ones included.
    pub fn count(&self) -> usize {
        self.node.inputs.len()
    }

    /// An input as messages name it: `input 1 "scale"`.
    pub fn input_label(&self, input: usize) -> InputLabel {
        let newest = self.row.and_then(|row| row.signatures().last());
        let param = newest.and_then(|newest| Signature::param(newest.inputs, input));
        InputLabel { input, name: param.map(|param| param.name) }
    }

    /// The value that is an input in the newest form of the operator.
    pub(in crate::infer) fn id(&self, input: usize) -> Option<ValueId> {
        self.node.inputs.get(self.attributes.form().index_of(input)?).copied().flatten()
    }

    fn former(&self, input: usize) -> Option<&Fact> {
        self.former.iter().find(|(index, _)| *index == input).map(|(_, fact)| fact)
    }

    /// Returns true if an input is given.
    pub fn has(&self, input: usize) -> bool {
        self.id(input).is_some() || self.former(input).is_some()
    }

    /// Facts about an input; nothing of one that is missing.
    pub fn fact(&self, input: usize) -> &Fact {
        match self.id(input) {
            Some(id) => &self.frame.facts[id.index()],
            None => self.former(input).unwrap_or(&Fact::Unknown),
        }
    }

    /// Returns true if elements of an input depend on what inputs of the model hold.
    pub fn depends_on_data(&self, input: usize) -> bool {
        self.id(input).is_some_and(|id| self.frame.depends[id.index()])
    }

    /// Facts about an input, with the elements of a small constant.
    pub fn read_fact(&mut self, input: usize) -> Fact {
        self.read(input);
        self.fact(input).clone()
    }

    /// Reads the elements of an input that is a small constant.
    pub(in crate::infer) fn read(&mut self, input: usize) {
        if let Some(id) = self.id(input) {
            self.pass.read(self.frame, id);
        }
    }

    /// Facts about an input that is a tensor.
    pub fn tensor(&self, input: usize) -> Option<&TensorFact> {
        self.fact(input).as_tensor()
    }

    /// The element type of an input.
    pub fn dtype(&self, input: usize) -> Option<DType> {
        self.fact(input).dtype()
    }

    /// The dimensions of an input, if their number is known.
    pub fn known_dims(&self, input: usize) -> Option<Dims> {
        self.tensor(input)?.dims.clone()
    }

    /// The dimensions of an input that the rule cannot do without.
    pub fn dims(&self, input: usize) -> Result<Dims, InferError> {
        if !self.has(input) {
            return Err(errors::missing(self.input_label(input)).into());
        }
        self.known_dims(input).ok_or(InferError::input(input, "has unknown rank"))
    }

    /// Checks that an input is given and may hold integers.
    pub fn integer_input(&self, input: usize) -> Result<(), InferError> {
        if !self.has(input) {
            return Err(errors::missing(self.input_label(input)).into());
        }
        match self.dtype(input) {
            Some(dtype) if !dtype.is_integer() => {
                Err(Error::mismatch(Kind::Type, self.input_label(input), dtype, "an integer type").into())
            }
            _ => Ok(()),
        }
    }

    /// The dimensions of an input that must have that many.
    pub fn dims_of_rank(&self, input: usize, rank: usize) -> Result<Dims, InferError> {
        let dims = self.dims(input)?;
        if dims.len() == rank {
            return Ok(dims);
        }
        Err(errors::rank(self.input_label(input), dims.len(), rank).into())
    }

    /// The dimensions of an input whose rank other inputs tell: unknown ones, if it tells none.
    pub fn dims_or_unknown(&mut self, input: usize, rank: usize) -> Result<Dims, InferError> {
        match self.dims(input) {
            Err(InferError::Unknown(..)) => {
                Ok((0..rank).map(|_| self.unknown("an input of unknown rank", Bounds::SIZE)).collect())
            }
            dims => dims,
        }
    }

    /// Checks the rank of an input, if it is known.
    pub fn dims_of_known_rank(&self, input: usize, rank: usize) -> Result<(), InferError> {
        if self.known_dims(input).is_some() {
            self.dims_of_rank(input, rank)?;
        }
        Ok(())
    }

    /// Checks that an input has these dimensions, as far as they are known.
    pub fn same_shape(&mut self, input: usize, dims: &[Dim]) -> Result<(), InferError> {
        self.dims_of_known_rank(input, dims.len())?;
        let own = self.known_dims(input).unwrap_or_else(|| dims.into());
        let label = self.input_label(input);
        for (axis, (&own, &dim)) in own.iter().zip(dims).enumerate() {
            self.not_apart(own, dim, format_args!("size of axis {axis} of {label}"))?;
        }
        Ok(())
    }

    /// Checks that an input broadcasts to these dimensions, as far as its own are known.
    pub fn broadcasts_to(&mut self, input: usize, dims: &[Dim]) -> Result<(), InferError> {
        let Some(own) = self.known_dims(input) else { return Ok(()) };
        if own.len() > dims.len() {
            let wanted = format_args!("at most {}", dims.len());
            return Err(errors::rank(self.input_label(input), own.len(), wanted).into());
        }
        let label = self.input_label(input);
        for ((axis, &own), &dim) in own.iter().enumerate().rev().zip(dims.iter().rev()) {
            self.one_or_equal(own, dim, format_args!("size of axis {axis} of {label}"))?;
        }
        Ok(())
    }

    /// Checks that an input has one element, or these dimensions where some are right.
    pub fn one_element_or(
        &mut self,
        input: usize,
        dims: Result<Vec<Dim>, InferError>,
    ) -> Result<(), InferError> {
        let Some(own) = self.known_dims(input) else { return Ok(()) };
        let may_be_one = own.iter().all(|&dim| self.may_be_one(dim));
        match dims {
            Ok(dims) if may_be_one && own.len() == dims.len() => {
                self.broadcasts_to(input, &dims)?;
                let symbols = self.symbols();
                let counts = (symbols.product(own.iter().copied()), symbols.product(dims.iter().copied()));
                let (Some(count), Some(all)) = counts else { return Ok(()) };
                let may_be_empty = own.len() > 1 && !dims.iter().all(|&dim| self.symbols().at_least(dim, 1));
                let label = self.input_label(input);
                self.one_or_equal(count, all, format_args!("number of elements of {label}"))?;
                if !may_be_empty {
                    return Ok(());
                }
                // Numbers of elements that are 0 say nothing of the sizes, but how far these are
                // from 1 does.
                let (Some(own), Some(dims)) = (self.apart_from_one(&own), self.apart_from_one(&dims)) else {
                    return Ok(());
                };
                let label = self.input_label(input);
                self.one_or_equal(own, dims, format_args!("distance of the sizes of {label} from 1"))
            }
            _ if may_be_one => self.one_element(input),
            dims => self.same_shape(input, &dims?),
        }
    }

    /// One and the distances of some sizes from 1.
    fn apart_from_one(&mut self, dims: &[Dim]) -> Option<Dim> {
        let symbols = self.symbols();
        dims.iter().try_fold(Dim::ONE, |sum, &dim| {
            let (more, less) = (symbols.subtract(dim, Dim::ONE)?, symbols.subtract(Dim::ONE, dim)?);
            let distance = symbols.max(more, less)?;
            symbols.add(sum, distance)
        })
    }

    /// Checks that an input has one element, as far as its dimensions are known.
    pub fn one_element(&mut self, input: usize) -> Result<(), InferError> {
        self.elements_of(input, 1)
    }

    /// Checks that an input has `wanted` elements, as far as its dimensions are known.
    pub fn elements_of(&mut self, input: usize, wanted: i64) -> Result<(), InferError> {
        let Some(dims) = self.known_dims(input) else { return Ok(()) };
        match self.product(&dims) {
            Dim::Known(count) if count != wanted => {
                let what = format_args!("number of elements of {}", self.input_label(input));
                Err(Error::mismatch(Kind::Shape, what, count, wanted).into())
            }
            count => {
                self.require(count, Relation::Equal, Dim::Known(wanted));
                Ok(())
            }
        }
    }

    /// The number of elements of an input that decides a rank, if it is known and no tensor has
    /// more axes.
    pub fn len(&self, input: usize) -> Option<usize> {
        const MAX_AXES: usize = 256;
        known_shape(&self.known_dims(input)?).map(|shape| shape.len()).filter(|&len| len <= MAX_AXES)
    }

    /// The number of elements of an input that decides a rank.
    pub fn needed_len(&self, input: usize) -> Result<usize, InferError> {
        self.len(input).ok_or(InferError::input(input, "has an unknown number of elements"))
    }

    /// The elements of an input, as far as they are known.
    pub fn elements(&mut self, input: usize) -> Elements {
        self.read(input);
        self.tensor(input).map_or(Elements::Unknown, |fact| fact.elements.clone())
    }

    /// The tensor that an input is, if all of it is known.
    pub fn constant(&mut self, input: usize) -> Option<Tensor> {
        self.read(input);
        self.tensor(input)?.tensor()
    }

    /// The elements of an input of integers, one by one.
    pub fn integers(&mut self, input: usize) -> Option<Dims> {
        self.read(input);
        let fact = self.tensor(input)?;
        match &fact.elements {
            Elements::Integers(all) => Some(all.clone()),
            Elements::Known(tensor) if tensor.dtype().is_integer() => {
                Some(tensor.to_i64().ok()?.into_iter().map(Dim::Known).collect())
            }
            Elements::Progression(both)
                if fact.dtype.is_some_and(|dtype| dtype.is_integer() || dtype == DType::Bool) =>
            {
                let count = fact.shape().filter(|shape| shape.len() <= crate::fact::MAX_INTEGERS)?.len();
                let (first, step) = **both;
                let element = |i: usize| {
                    let far = self.pass.shared.symbols.multiply(step, Dim::Known(i64_of(i)))?;
                    self.pass.shared.symbols.add(first, far)
                };
                (0..count).map(element).collect()
            }
            _ => None,
        }
    }

    /// The only element of an input of integers.
    pub fn integer(&mut self, input: usize) -> Option<Dim> {
        match &*self.integers(input)? {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// The only element of an input of integers, or a size that the data decide, for a reason.
    pub fn integer_or(&mut self, input: usize, what: &str) -> Dim {
        self.integer(input).unwrap_or_else(|| self.data(what, Bounds::SIZE))
    }

    /// The elements of an input of integers, if all are known.
    pub fn known_integers(&mut self, input: usize) -> Option<Vec<i64>> {
        self.integers(input)?.iter().map(|dim| dim.known()).collect()
    }

    /// The elements of an input of floats, as fractions.
    pub fn fractions(&mut self, input: usize) -> Option<Arc<[Fraction]>> {
        match self.elements(input) {
            Elements::Fractions(all) => Some(all),
            Elements::Known(tensor) if tensor.len() <= 64 => {
                tensor.numbers().ok()?.map(fraction_of).collect()
            }
            _ => None,
        }
    }
}
