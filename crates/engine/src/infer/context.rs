//! The context of a rule: a node, the facts of its inputs, and the symbols.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::{Function, Graph, Node, Ports, ValueId};
use gradus_core::{DType, Error, Kind, Tensor};
use smallvec::SmallVec;

use super::pass::{GraphFacts, GraphRuns, Inner, MAX_ITEMS, MAX_UNROLLED, Pass, Visit};
use super::remarks::Why;
use super::rules::InferResult;
use crate::attributes::{Attributes, required};
use crate::dim::{Bounds, Condition, Dim, Origin, Relation, Symbols};
use crate::fact::{Dims, Elements, Fact, Fraction, TensorFact, fraction_of, known_shape, range_of};
use crate::operator::{Call, Operator};
use crate::operators::{Row, errors};
use crate::schema::Signature;

/// Why a rule says nothing.
#[derive(Debug)]
pub enum InferError {
    /// Something that it needs is not known: which input, and what of it.
    Unknown(Option<usize>, Cow<'static, str>),
    /// The node takes its inputs whatever they are; its outputs are not known, and why.
    OpenOutputs(&'static str),
    /// The node cannot be right.
    Invalid(Error),
}

impl InferError {
    /// An unknown result, and the reason.
    pub fn unknown(why: impl Into<Cow<'static, str>>) -> InferError {
        InferError::Unknown(None, why.into())
    }

    /// A property of an input is not known: `has unknown rank`.
    pub fn input(input: usize, why: &'static str) -> InferError {
        InferError::Unknown(Some(input), why.into())
    }
}

impl From<Error> for InferError {
    fn from(error: Error) -> Self {
        InferError::Invalid(error)
    }
}

/// An input, by its index and its name in the signature.
#[derive(Clone, Copy, Debug)]
pub struct InputLabel {
    input: usize,
    name: Option<&'static str>,
}

impl fmt::Display for InputLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "input {}", self.input)?;
        self.name.map_or(Ok(()), |name| write!(f, " \"{name}\""))
    }
}

/// A node, the facts of its inputs, and what rules work with.
pub struct InferContext<'p, 'm> {
    pub pass: &'p mut Pass<'m>,
    pub frame: &'p mut GraphFacts<'m>,
    pub node: &'m Node,
    pub index: usize,
    /// The row of the operator; nothing of a function of the model.
    pub row: Option<&'static Row>,
    /// The operator's name, or the one that the rule knows it by.
    pub operator: &'m str,
    /// The attributes of the node.
    pub attributes: Attributes<'m>,
    /// Facts about inputs that the node has as attributes.
    pub former: SmallVec<[(usize, Fact); 1]>,
    /// True if what the node computes depends on what inputs hold.
    pub depends: bool,
}

/// Inputs.
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
    pub(super) fn id(&self, input: usize) -> Option<ValueId> {
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

    fn read(&mut self, input: usize) {
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

/// Attributes that must be given.
impl<'m> InferContext<'_, 'm> {
    /// How the values of the node are those of its graph, as the attribute says.
    pub fn ports(&self, name: &str) -> Result<&'m Ports, InferError> {
        Ok(required(name, self.attributes.ports(name)?)?)
    }

    /// A graph.
    pub fn graph(&self, name: &str) -> Result<&'m Graph, InferError> {
        Ok(required(name, self.attributes.graph(name)?)?)
    }
}

/// Symbols and arithmetic. What has no canonical form becomes a fresh symbol.
impl InferContext<'_, '_> {
    /// Returns true if the limits end inference: loops over what a file names ask from time to
    /// time.
    pub fn is_over(&mut self) -> bool {
        self.pass.is_over()
    }

    /// All symbols and expressions.
    pub fn symbols(&mut self) -> &mut Symbols {
        &mut self.pass.shared.symbols
    }

    /// The node in words.
    pub fn label(&self) -> String {
        self.frame.label(self.node, self.index)
    }

    /// A dimension that the data decide.
    pub fn data(&mut self, what: &str, bounds: Bounds) -> Dim {
        let what = format!("{}: {what}", self.label()).into();
        // Values that depend only on shapes could be expressed by them.
        let origin = if self.depends { Origin::Data(what) } else { Origin::Unknown(what) };
        self.pass.shared.symbols.fresh(&self.node.operator.name, origin, bounds)
    }

    /// A size that the data decide, and that is at most another.
    pub fn at_most(&mut self, what: &str, most: Dim) -> Dim {
        let bounds = Bounds::between(Some(0), self.symbols().bounds(most).upper());
        let size = self.data(what, bounds);
        self.symbols().limit(size, most);
        size
    }

    /// A dimension that is not known, for that reason.
    pub fn unknown(&mut self, why: &str, bounds: Bounds) -> Dim {
        let origin = Origin::Unknown(format!("{}: {why}", self.label()).into());
        self.pass.shared.symbols.fresh(&self.node.operator.name, origin, bounds)
    }

    /// `rank` dimensions of which only is known that the data decide them.
    pub fn any_dims(&mut self, what: &str, rank: usize) -> Vec<Dim> {
        (0..rank).map(|_| self.data(what, Bounds::SIZE)).collect()
    }

    /// The result of an operation, or a fresh symbol.
    pub fn or_fresh(&mut self, result: Option<Dim>) -> Dim {
        result.unwrap_or_else(|| self.unknown("an expression grows too large", Bounds::ANY))
    }

    /// The sum; a fresh symbol if it exceeds what an expression may be.
    pub fn add(&mut self, a: Dim, b: Dim) -> Dim {
        let sum = self.pass.shared.symbols.add(a, b);
        self.or_fresh(sum)
    }

    /// The difference; a fresh symbol if it exceeds what an expression may be.
    pub fn subtract(&mut self, a: Dim, b: Dim) -> Dim {
        let difference = self.pass.shared.symbols.subtract(a, b);
        self.or_fresh(difference)
    }

    /// The product; a fresh symbol if it exceeds what an expression may be.
    pub fn multiply(&mut self, a: Dim, b: Dim) -> Dim {
        let product = self.pass.shared.symbols.multiply(a, b);
        self.or_fresh(product)
    }

    /// The quotient, rounded down; a fresh symbol if it exceeds what an expression may be.
    pub fn floor_divide(&mut self, a: Dim, b: Dim) -> Dim {
        let quotient = self.pass.shared.symbols.floor_divide(a, b);
        self.or_fresh(quotient)
    }

    /// The quotient, rounded toward zero; a fresh symbol if it exceeds what an expression may be.
    pub fn truncated_divide(&mut self, a: Dim, b: Dim) -> Dim {
        let quotient = self.pass.shared.symbols.truncated_divide(a, b);
        self.or_fresh(quotient)
    }

    /// The quotient, rounded up; a fresh symbol if it exceeds what an expression may be.
    pub fn ceil_divide(&mut self, a: Dim, b: Dim) -> Dim {
        let quotient = self.pass.shared.symbols.ceil_divide(a, b);
        self.or_fresh(quotient)
    }

    /// The minimum; a fresh symbol if it exceeds what an expression may be.
    pub fn min(&mut self, a: Dim, b: Dim) -> Dim {
        let min = self.pass.shared.symbols.min(a, b);
        self.or_fresh(min)
    }

    /// The maximum; a fresh symbol if it exceeds what an expression may be.
    pub fn max(&mut self, a: Dim, b: Dim) -> Dim {
        let max = self.pass.shared.symbols.max(a, b);
        self.or_fresh(max)
    }

    /// The product of a list; a fresh symbol if it exceeds what an expression may be.
    pub fn product(&mut self, dims: &[Dim]) -> Dim {
        let product = self.pass.shared.symbols.product(dims.iter().copied());
        self.or_fresh(product)
    }

    /// Assumes that two are related so, as every run that succeeds implies it.
    pub fn assume(&mut self, a: Dim, relation: Relation, b: Dim) {
        self.assume_for(a, relation, b, Why::Run);
    }

    /// Takes for granted that two are related so, though a run may do without.
    pub fn take_for_granted(&mut self, a: Dim, relation: Relation, b: Dim) {
        self.assume_for(a, relation, b, Why::Taken);
    }

    fn assume_for(&mut self, a: Dim, relation: Relation, b: Dim, why: Why) {
        let (frame, node, index) = (&*self.frame, self.node, self.index);
        self.pass.assume(Condition::new(a, relation, b), why, || frame.label(node, index));
    }

    /// Notes what the node checks when it runs. No run succeeds of what holds for no sizes, unless
    /// it does not apply to all runs.
    pub fn require(&mut self, a: Dim, relation: Relation, b: Dim) {
        let (frame, node, index) = (&*self.frame, self.node, self.index);
        let condition = Condition::new(a, relation, b);
        if self.pass.is_unconditional() && self.pass.shared.symbols.never_holds(&condition) {
            let error = errors::unmet(&self.pass.shared.symbols, &condition);
            return self.pass.problem(frame, node, index, &error);
        }
        self.pass.require(condition, Why::Run, || frame.label(node, index));
    }

    /// Does work whose conditions apply where others hold.
    pub fn guarded<T>(&mut self, guards: &[Condition], work: impl FnOnce(&mut Self) -> T) -> T {
        let around = self.pass.shared.guards.len();
        self.pass.shared.guards.extend(guards.iter().copied().map(Some));
        let done = work(self);
        self.pass.shared.guards.truncate(around);
        done
    }

    /// Notes what the node checks of values that follow from sizes and are not known.
    pub fn require_of_values(&mut self, text: String) {
        let node = self.label();
        self.pass.note_unchecked(text, node);
    }

    /// The number of conditions that were noted.
    pub fn noted(&self) -> usize {
        self.pass.conditions.len()
    }

    /// Replaces conditions that a body of many iterations noted by what is said of all of them, as
    /// [`Pass::settle`].
    pub fn settle(
        &mut self,
        noted: Range<usize>,
        each_visited: bool,
        guarded: &mut dyn FnMut(&mut Symbols, &Condition) -> Option<Condition>,
        holds: &mut dyn FnMut(&mut Symbols, &Condition) -> Option<Vec<Condition>>,
    ) {
        self.pass.settle(noted, each_visited, guarded, holds);
    }

    /// Notes that a number is at least another in every run of the node.
    pub fn note_at_least(&mut self, dim: Dim, least: i64) {
        self.pass.note_at_least(dim, least);
    }

    /// The dimension that two equal dimensions are, proved or assumed.
    pub fn equal(&mut self, a: Dim, b: Dim, what: impl fmt::Display) -> Result<Dim, InferError> {
        if a == b {
            return Ok(a);
        }
        self.not_apart(a, b, what)?;
        self.assume(a, Relation::Equal, b);
        let rank = |dim: Dim| self.pass.shared.symbols.rank(dim);
        let (kept, other) = if rank(a) <= rank(b) { (a, b) } else { (b, a) };
        self.pass.note_equal(kept, other);
        Ok(kept)
    }

    /// The quotient of a size that must be a multiple of another.
    pub fn multiple(&mut self, size: Dim, of: Dim, what: impl fmt::Display) -> Result<Dim, InferError> {
        let quotient = self.floor_divide(size, of);
        let whole = self.multiply(quotient, of);
        if self.may_be_equal(size, whole, "").is_err() {
            let symbols = self.symbols();
            let wanted = format!("a multiple of {}", symbols.print(of));
            return Err(errors::shape(what, symbols.print(size), wanted).into());
        }
        self.equal(size, whole, what)?;
        Ok(quotient)
    }

    /// Requires that two are equal, and refuses two that never are.
    pub fn not_apart(&mut self, a: Dim, b: Dim, what: impl fmt::Display) -> Result<(), InferError> {
        self.may_be_equal(a, b, what)?;
        self.require(a, Relation::Equal, b);
        Ok(())
    }

    fn may_be_one(&mut self, dim: Dim) -> bool {
        let bounds = self.symbols().bounds(dim);
        bounds.lower().is_none_or(|least| least <= 1) && bounds.upper().is_none_or(|most| most >= 1)
    }

    /// Requires that a size is 1 or another, and refuses one that is neither.
    fn one_or_equal(&mut self, own: Dim, dim: Dim, what: impl fmt::Display) -> Result<(), InferError> {
        if own == Dim::ONE {
            return Ok(());
        }
        if dim == Dim::ONE || own.known().is_some() || !self.may_be_one(own) {
            return self.not_apart(own, dim, what);
        }
        self.require(own, Relation::Broadcast, dim);
        // If the other is 1, both are.
        if let Some(both) = self.symbols().broadcast(own, dim) {
            self.require(both, Relation::Equal, dim);
        }
        Ok(())
    }

    /// Refuses two that are never equal.
    pub fn may_be_equal(&mut self, a: Dim, b: Dim, what: impl fmt::Display) -> Result<(), InferError> {
        let symbols = &mut self.pass.shared.symbols;
        let apart = symbols.subtract(a, b);
        if apart.is_none_or(|apart| !symbols.never_zero(apart)) {
            return Ok(());
        }
        let (a, b) = (symbols.print(a), symbols.print(b));
        Err(errors::shape(what, a, b).into())
    }

    /// The dimensions that several broadcast to.
    pub fn broadcast(&mut self, all: &[Dims]) -> Result<Vec<Dim>, InferError> {
        let rank = all.iter().map(|dims| dims.len()).max().unwrap_or(0);
        let mut result = Vec::with_capacity(rank);
        for axis in 0..rank {
            let mut dim = Dim::ONE;
            for dims in all {
                if let Some(own) = (axis + dims.len()).checked_sub(rank) {
                    dim = self.broadcast_dim(dim, dims[own])?;
                }
            }
            result.push(dim);
        }
        Ok(result)
    }

    fn broadcast_dim(&mut self, a: Dim, b: Dim) -> Result<Dim, InferError> {
        // Dimensions that are equal already need no expression.
        let (a, b) = (self.pass.representative(a), self.pass.representative(b));
        if a == b {
            return Ok(a);
        }
        if let (Dim::Known(x), Dim::Known(y)) = (a, b)
            && x != 1
            && y != 1
        {
            return Err(errors::broadcast(x, y).into());
        }
        let symbols = &mut self.pass.shared.symbols;
        let result = symbols.broadcast(a, b);
        let mut is_assumed = false;
        if a != Dim::ONE && b != Dim::ONE {
            // seq broadcasts with min(seq, 64) only if it is at most 64.
            if let Some(whole) = result.filter(|_| self.pass.is_unconditional()) {
                let other = if whole == a { b } else { a };
                let symbols = &mut self.pass.shared.symbols;
                let symbolic = whole.known().is_none() && symbols.at_least(whole, 2);
                // A cap of 1 broadcasts to every size.
                let cap = symbols.cap_of(other, whole).filter(|_| !symbolic);
                is_assumed = true;
                if let Some(most) = cap.filter(|cap| cap.lower() > Some(1)).and_then(Bounds::upper) {
                    self.assume(whole, Relation::AtMost, Dim::Known(most));
                    self.pass.shared.symbols.bound(whole, Bounds::between(None, Some(most)));
                } else if cap != Some(Bounds::exactly(1)) {
                    is_assumed = whole == a || whole == b;
                    if is_assumed {
                        self.assume(a, Relation::Broadcast, b);
                    }
                }
            }
        }
        if !is_assumed {
            self.require(a, Relation::Broadcast, b);
        }
        Ok(self.or_fresh(result))
    }

    /// Returns true if nothing may be taken for granted but what every run implies.
    pub fn is_cautious(&self) -> bool {
        self.pass.cautious
    }

    /// Assumes what runs need not imply, unless nothing of that sort may be.
    pub fn may_assume(&mut self, a: Dim, relation: Relation, b: Dim) -> bool {
        if !self.pass.cautious {
            self.take_for_granted(a, relation, b);
        }
        !self.pass.cautious
    }

    /// Returns true if an element type holds a number: proved, assumed where that is
    /// open, or not.
    pub fn fits(&mut self, dim: Dim, dtype: DType) -> bool {
        let Some((low, high)) = range_of(dtype) else { return false };
        let bounds = self.pass.shared.symbols.bounds(dim);
        match dim {
            Dim::Known(value) => (low..=high).contains(&value),
            _ if dtype.bits() == 64 && low < 0 => true,
            Dim::Symbolic(_) => {
                let above = bounds.lower().is_some_and(|min| min >= low);
                let below = bounds.upper().is_some_and(|most| most <= high);
                // No axis has 2^31 elements, which is what 32 bits are used for.
                if self.pass.cautious && !(above && below) {
                    return dtype.bits() >= 32 && self.pass.shared.symbols.rank(dim).0 <= 1;
                }
                if !above {
                    self.take_for_granted(dim, Relation::AtLeast, Dim::Known(low));
                }
                if !below {
                    self.take_for_granted(dim, Relation::AtMost, Dim::Known(high));
                }
                true
            }
        }
    }
}

/// Results.
impl<'m> InferContext<'_, 'm> {
    /// A tensor of integers.
    pub fn integers_fact(&mut self, dtype: DType, dims: impl Into<Dims>, elements: impl Into<Dims>) -> Fact {
        let (dims, elements) = (self.pass.list(dims), self.pass.list(elements));
        Fact::Tensor(TensorFact {
            dtype: Some(dtype),
            dims: Some(dims),
            elements: Elements::Integers(elements),
        })
    }

    /// The facts that two facts share. Dimensions that differ become one that the data decide.
    pub fn join(&mut self, a: &Fact, b: &Fact, what: &str) -> Fact {
        if a == b {
            return a.clone();
        }
        match (a, b) {
            (Fact::Tensor(a), Fact::Tensor(b)) => {
                let dtype = a.dtype.filter(|_| a.dtype == b.dtype);
                let dims = a.dims.as_ref().zip(b.dims.as_ref()).filter(|(a, b)| a.len() == b.len());
                let dims = dims.map(|(a, b)| {
                    let both = |(&a, &b): (&Dim, &Dim)| {
                        if a == b {
                            return a;
                        }
                        let bounds =
                            self.pass.shared.symbols.bounds(a).either(self.pass.shared.symbols.bounds(b));
                        self.data(what, bounds)
                    };
                    a.iter().zip(b.iter()).map(both).collect::<Dims>()
                });
                let elements = if a.elements == b.elements { a.elements.clone() } else { Elements::Unknown };
                Fact::Tensor(TensorFact { dtype, dims, elements })
            }
            (Fact::Sequence(a), Fact::Sequence(b)) => {
                // For an empty list there is nothing that its items could contradict.
                let each = match (a.len, b.len) {
                    (Dim::ZERO, len) if len != Dim::ZERO => b.each.clone(),
                    (len, Dim::ZERO) if len != Dim::ZERO => a.each.clone(),
                    _ => self.join(&a.each, &b.each, what),
                };
                let len = if a.len == b.len { a.len } else { self.data(what, Bounds::SIZE) };
                let items = a.items.clone().filter(|items| Some(items) == b.items.as_ref());
                Fact::Sequence(Arc::new(crate::fact::SequenceFact { each, len, items }))
            }
            (Fact::Optional(a), Fact::Optional(b)) => {
                let value = self.join(&a.value, &b.value, what);
                let present = a.present.filter(|_| a.present == b.present);
                Fact::Optional(Arc::new(crate::fact::OptionalFact { value, present }))
            }
            _ => Fact::Unknown,
        }
    }

    /// Infers a subgraph of the node.
    pub fn inner(&mut self, name: &str, inputs: Vec<Fact>, how: Visit) -> Result<Vec<Fact>, InferError> {
        let graph = self.graph(name)?;
        let name = format!("{}.{name}", self.node.label(self.index));
        let place = (self.index, self.node.graph_number(graph).unwrap_or_default());
        let inner = Inner { graph, parameters: None, place, name, depends: self.depends, how };
        self.pass.inner(self.frame, inner, inputs)
    }

    /// Notes how many times a graph of the node runs; nothing if it may run once. Symbols from the
    /// mark on differ from one iteration to the next.
    pub fn note_runs(
        &mut self,
        name: &str,
        count: impl Into<Option<Dim>>,
        mark: u32,
    ) -> Result<(), InferError> {
        let number = self.node.graph_number(self.graph(name)?).unwrap_or_default();
        let place = self.frame.place.iter().copied().chain([(self.index, number)]).collect();
        if self.pass.repeated > 0 {
            return Ok(());
        }
        if let Some(count) = count.into() {
            self.pass.runs.insert(place, GraphRuns { count, mark });
        } else {
            // A loop around the node may have been visited with more known.
            self.pass.runs.remove(&place);
        }
        Ok(())
    }

    /// Takes nodes from the budget of unrolled loops; false if it is spent.
    pub fn spend(&mut self, nodes: usize) -> bool {
        let unrolled = self.pass.shared.unrolled.saturating_add(nodes);
        let allowed = unrolled <= MAX_UNROLLED;
        if allowed {
            self.pass.shared.unrolled = unrolled;
        }
        allowed
    }

    /// Infers a node of a registered operator.
    pub fn registered(&mut self, operator: &Arc<dyn Operator>) -> InferResult {
        let facts: Vec<_> = (0..self.count()).map(|i| self.has(i).then(|| self.read_fact(i))).collect();
        let facts: Vec<_> = facts.iter().map(Option::as_ref).collect();
        let call = Call { attributes: self.attributes.clone(), outputs: self.node.outputs.len() };
        Ok(operator.infer(&call, &facts, &mut self.pass.shared.symbols)?)
    }

    /// Infers a function of the model through its body.
    pub fn call(&mut self, function: &'m Function) -> InferResult {
        let inputs = (0..function.body.inputs().len()).map(|i| self.read_fact(i)).collect();
        let name = format!("{} (function {})", self.node.label(self.index), function.id);
        let inner = Inner {
            graph: &function.body,
            parameters: Some(self.attributes.handed_to(function)),
            place: (self.index, self.node.graphs().count()),
            name,
            depends: self.depends,
            how: Visit::Certain,
        };
        self.pass.inner(self.frame, inner, inputs)
    }
}
