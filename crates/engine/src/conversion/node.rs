//! A node while it is converted: what is known of it, and what is written in its place.

use std::sync::Arc;

use gradus_core::convert::{self, Rules, i64_of, usize_of_i64};
use gradus_core::graph::{Constant, Content, Graph, Node, Origin, ValueId};
use gradus_core::{DType, Result, Tensor};
use smallvec::SmallVec;

use super::caveats;
use super::report::{Exactness, Note, cannot, not_known};
use super::scope::{ConversionState, SourceGraph};
use super::writer::{GraphWriter, NONE, NewValue};
use crate::attributes::{self, Attributes};
use crate::fact::{Fact, TensorFact};
use crate::lowering::LONGEST;
use crate::normalize::{Form, former_inputs};
use crate::operators::indices::integers_of;
use crate::operators::{errors, reshape};

/// Integers that a node may be given.
pub enum GivenIntegers {
    No,
    Known(Vec<i64>),
    /// They are not known before a run.
    Computed,
}

impl GivenIntegers {
    /// Facts about them.
    pub fn known(self) -> Option<Vec<i64>> {
        if let GivenIntegers::Known(all) = self { Some(all) } else { None }
    }
}

/// A node that is converted.
pub struct ConvertContext<'c, 'm> {
    pub conversion: &'c mut ConversionState<'m>,
    pub scope: &'c mut SourceGraph<'m>,
    pub target: &'c mut GraphWriter,
    pub node: &'m Node,
    pub index: usize,
    pub attributes: Attributes<'m>,
    /// Facts about the inputs of an operator that a lowered node is written by.
    pub operands: Option<Vec<Fact>>,
    /// The operator that is written as the operator set has it, within the graph for a newer form.
    pub plain: &'static str,
    /// True if operators are written of which is noted already what is not kept.
    pub is_noted: bool,
    /// Inputs that the node has as attributes, and facts about them.
    former: SmallVec<[(usize, Tensor, Fact); 1]>,
}

/// Facts about the node.
impl<'c, 'm> ConvertContext<'c, 'm> {
    /// The context of a node in its newest form.
    ///
    /// # Errors
    /// [`Kind::Type`](gradus_core::Kind::Type) if an attribute is of another type.
    pub fn new(
        conversion: &'c mut ConversionState<'m>,
        scope: &'c mut SourceGraph<'m>,
        target: &'c mut GraphWriter,
        node: &'m Node,
        index: usize,
    ) -> Result<ConvertContext<'c, 'm>> {
        let attributes = Attributes::new(&node.attributes, Form::of_node(conversion.source.standard, node));
        let first = node.inputs.first().copied().flatten().and_then(|id| scope.fact(id).dtype());
        let mut former = SmallVec::new();
        for (input, tensor) in former_inputs(&attributes)? {
            // Floats are of the type of the first input.
            let tensor = match first {
                Some(dtype) if tensor.dtype().is_float() => convert::cast(&tensor, dtype, Rules::IEEE)?,
                _ => tensor,
            };
            former.push((input, tensor.clone(), Fact::Tensor(TensorFact::of(tensor))));
        }
        Ok(ConvertContext {
            conversion,
            scope,
            target,
            node,
            index,
            attributes,
            operands: None,
            plain: "",
            is_noted: false,
            former,
        })
    }

    fn former(&self, input: usize) -> Option<&(usize, Tensor, Fact)> {
        self.former.iter().find(|(index, ..)| *index == input)
    }

    /// Returns true if an input is given.
    pub fn has(&self, input: usize) -> bool {
        self.id(input).is_ok() || self.former(input).is_some()
    }

    /// The number of inputs, missing ones included.
    pub fn count(&self) -> usize {
        self.node.inputs.len()
    }

    /// The number of outputs, missing ones included.
    pub fn outputs(&self) -> usize {
        self.node.outputs.len()
    }

    /// Returns true if something needs an output.
    pub fn wants(&self, output: usize) -> bool {
        self.node.outputs.get(output).copied().flatten().is_some_and(|id| self.scope.is_needed(id))
    }

    fn id(&self, input: usize) -> Result<ValueId> {
        let missing = || errors::missing(format_args!("input {input}"));
        let index = self.attributes.form().index_of(input);
        index.and_then(|index| self.node.inputs.get(index).copied().flatten()).ok_or_else(missing)
    }

    /// An input.
    pub fn input(&mut self, input: usize) -> Result<NewValue> {
        if let Some((_, tensor, _)) = self.former(input) {
            let tensor = tensor.clone();
            return Ok(self.constant(tensor));
        }
        let id = self.id(input)?;
        self.scope.value(self.target, self.conversion, id)
    }

    /// An input that may be missing.
    pub fn maybe(&mut self, input: usize) -> Result<NewValue> {
        if self.has(input) { self.input(input) } else { Ok(NONE) }
    }

    /// All inputs.
    pub fn inputs(&mut self) -> Result<Vec<NewValue>> {
        (0..self.count()).map(|input| self.input(input)).collect()
    }

    /// Facts about an input.
    pub fn fact(&self, input: usize) -> &Fact {
        match self.id(input) {
            Ok(id) => self.scope.fact(id),
            Err(_) => self.former(input).map_or(&Fact::Unknown, |(.., fact)| fact),
        }
    }

    /// The element type of an input.
    pub fn dtype(&self, input: usize) -> Result<DType> {
        self.fact(input).dtype().ok_or_else(|| not_known(&format!("element type of input {input}")))
    }

    /// Returns true if an input may hold floats.
    pub fn is_float(&self, input: usize) -> bool {
        self.fact(input).dtype().is_none_or(|dtype| dtype.is_float() || dtype.is_complex())
    }

    /// The dimensions of an input, as far as they are known.
    pub fn dims(&self, input: usize) -> Option<Vec<Option<i64>>> {
        let dims = self.fact(input).as_tensor()?.dims.as_ref()?;
        Some(dims.iter().map(|dim| dim.known()).collect())
    }

    /// Returns true if the operator of the node has an attribute in the operator set that is
    /// written.
    pub fn set_has(&self, attribute: &str) -> bool {
        let signature = self.target.signature(&self.node.operator.name);
        signature.is_some_and(|signature| signature.has_attribute(attribute))
    }

    /// The number of axes of an input, if it is known.
    pub fn rank_if_known(&self, input: usize) -> Option<usize> {
        self.fact(input).as_tensor()?.rank()
    }

    /// The number of axes of an input.
    pub fn rank(&self, input: usize) -> Result<usize> {
        self.rank_if_known(input).ok_or_else(|| not_known(&format!("rank of input {input}")))
    }

    /// The number of elements of a list, as lists of axes have them: a declared one beyond reason
    /// is not believed.
    pub fn len(&self, input: usize) -> Option<usize> {
        match self.dims(input)?[..] {
            [Some(len)] => usize_of_i64(len).filter(|&len| len <= LONGEST),
            _ => None,
        }
    }

    /// Returns true if an input may have no elements.
    pub fn may_be_empty(&self, input: usize) -> bool {
        self.dims(input).is_none_or(|dims| dims.iter().any(|dim| dim.is_none_or(|dim| dim == 0)))
    }

    /// The elements of an input, if they are known before a run.
    pub fn known(&self, input: usize) -> Result<Option<Tensor>> {
        self.held(input).map(|held| held.tensor()).transpose()
    }

    /// The elements of an input, which may have to be read, if they are known before a run.
    pub fn held(&self, input: usize) -> Option<Constant> {
        let Ok(id) = self.id(input) else {
            return self.former(input).map(|(_, tensor, _)| tensor.clone().into());
        };
        let constant = self.scope.constant(id).cloned();
        constant.or_else(|| self.scope.fact(id).as_tensor()?.tensor().map(Constant::from))
    }

    /// Returns true if an input is a constant of the source.
    pub fn is_constant(&self, input: usize) -> bool {
        self.id(input).is_ok_and(|id| self.scope.constant(id).is_some())
    }

    /// The integers that an input holds, if they are known before a run.
    pub fn known_integers(&self, input: usize) -> Result<Option<Vec<i64>>> {
        self.known(input)?.map_or(Ok(None), |tensor| integers_of(&tensor))
    }

    /// The integers that an input holds: they must be known, as the other standard has no input for
    /// them.
    pub fn integers(&self, input: usize) -> Result<Vec<i64>> {
        self.known_integers(input)?.ok_or_else(|| not_known(&format!("value of input {input}")))
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
        match (self.rank(input), usize_of_i64(axis)) {
            (Ok(rank), _) => crate::operators::indices::axis(axis, rank),
            (Err(_), Some(axis)) => Ok(axis),
            (Err(error), None) => Err(error),
        }
    }

    /// The integers that an input holds, as far as they are known before a run.
    pub fn given_integers(&self, input: usize) -> Result<GivenIntegers> {
        if !self.has(input) {
            return Ok(GivenIntegers::No);
        }
        Ok(self.known_integers(input)?.map_or(GivenIntegers::Computed, GivenIntegers::Known))
    }

    /// The graph of that name among the attributes, and its number among the node's graphs.
    pub fn graph(&self, name: &str) -> Result<(Arc<Graph>, &'m Graph, usize)> {
        match self.node.attribute(name) {
            Some(Content::Graph(graph)) => {
                let number = self.node.graph_number(graph).unwrap_or(0);
                Ok((graph.clone(), graph, number))
            }
            _ => Err(attributes::missing(name)),
        }
    }
}

/// Writing.
impl ConvertContext<'_, '_> {
    /// Applies an operator that has one output.
    pub fn put(
        &mut self,
        operator: &str,
        inputs: &[NewValue],
        attributes: &[(&str, Content)],
    ) -> Result<NewValue> {
        Ok(self.put_many(operator, inputs, attributes, 1)?[0])
    }

    /// Applies an operator to the first input.
    pub fn unary(&mut self, operator: &str) -> Result<Vec<NewValue>> {
        let x = self.input(0)?;
        Ok(vec![self.put(operator, &[x], &[])?])
    }

    /// Refuses an input of integers, for which OpenVINO leaves rounding open.
    pub fn expect_floats(&self, input: usize) -> Result<()> {
        match self.dtype(input) {
            Ok(dtype) if !dtype.is_float() => {
                Err(cannot(format!("OpenVINO does not say how results for {dtype} are rounded")))
            }
            _ => Ok(()),
        }
    }

    /// Writes an operator that is not algebraic, of one input: its result is rounded, and integers
    /// are refused.
    pub fn function(&mut self, operator: &str) -> Result<Vec<NewValue>> {
        self.rounding(caveats::FUNCTION);
        self.expect_floats(0)?;
        self.unary(operator)
    }

    /// Applies an operator, or others that compute the same.
    pub fn put_many(
        &mut self,
        operator: &str,
        inputs: &[NewValue],
        attributes: &[(&str, Content)],
        outputs: usize,
    ) -> Result<Vec<NewValue>> {
        if let Some(constant) = self.reshaped_constant(operator, inputs, attributes)? {
            return Ok(vec![constant]);
        }
        match self.in_older_set(operator, inputs, attributes, outputs) {
            Some(written) => written,
            None => self.target.put(operator, inputs, attributes, outputs),
        }
    }

    /// A constant in the shape that an operator would give it. It shares the bytes of the other, so
    /// that runtimes read it as it stands: few of them reshape integers of 4 bits.
    fn reshaped_constant(
        &mut self,
        operator: &str,
        inputs: &[NewValue],
        attributes: &[(&str, Content)],
    ) -> Result<Option<NewValue>> {
        let &[data, by] = inputs else { return Ok(None) };
        // Nodes of the model itself stay.
        if !matches!(operator, "Reshape" | "Unsqueeze")
            || self.node.operator.name.eq_ignore_ascii_case(operator)
        {
            return Ok(None);
        }
        let Some(by) = self.target.known(by)? else { return Ok(None) };
        let Some(data) = self.target.known(data)? else { return Ok(None) };
        let by = by.to_i64()?;
        let keeps_zero = |(name, content): &(&str, Content)| match (*name, content) {
            ("allowzero", Content::Int(keeps)) => *keeps != 0,
            ("special_zero", Content::Text(copies)) => &**copies == "false",
            _ => false,
        };
        let reshaped = match operator {
            "Reshape" => reshape::reshaped(&data, &by, attributes.iter().any(keeps_zero)),
            _ => reshape::unsqueezed(&data, &by),
        };
        Ok(reshaped.ok().map(|tensor| self.constant(tensor)))
    }

    /// A constant.
    pub fn constant(&mut self, tensor: Tensor) -> NewValue {
        self.target.tensor(tensor)
    }

    /// A list of int64.
    pub fn list(&mut self, values: &[i64]) -> NewValue {
        self.target.tensor(Tensor::vector(values))
    }

    /// An int64.
    pub fn scalar(&mut self, value: i64) -> NewValue {
        self.target.tensor(Tensor::scalar(value))
    }

    /// A number of some element type.
    pub fn number(&mut self, value: f64, dtype: DType) -> Result<NewValue> {
        if dtype == DType::String {
            return Err(cannot("no number is a string"));
        }
        let tensor = convert::cast(&Tensor::scalar(value), dtype, Rules::SATURATING)?;
        Ok(self.constant(tensor))
    }

    /// The axes of that many, as a list.
    pub fn all_axes(&mut self, rank: usize) -> NewValue {
        self.list(&(0..i64_of(rank)).collect::<Vec<_>>())
    }

    /// Notes in the report how exactly the node is kept, and why.
    pub fn note(&mut self, exactness: Exactness, why: &str) {
        let place = self.scope.place_of(self.node, self.index);
        let operator = self.conversion.operator_of(self.node);
        let node = self.scope.main_node(self.index);
        self.conversion.report.note(Note { node, place, operator, exactness, why: why.to_owned() });
    }

    /// Notes that results may be rounded differently.
    pub fn rounding(&mut self, why: &str) {
        self.note(Exactness::Rounding, why);
    }

    /// Notes that some inputs give something else.
    pub fn edges(&mut self, why: &str) {
        self.note(Exactness::EdgeCases, why);
    }

    /// Notes what a function of floats leaves open.
    pub fn rounding_of_floats(&mut self, why: &str) {
        if self.is_float(0) {
            self.rounding(why);
        }
    }

    /// Notes what floats that are no numbers do.
    pub fn edges_of_floats(&mut self, why: &str) {
        if self.is_float(0) {
            self.edges(why);
        }
    }

    /// Returns true if a value of the source is computed by a node, and not given.
    pub fn is_computed(&self, id: ValueId) -> bool {
        matches!(self.scope.graph.value(id).origin, Origin::Node(..))
    }
}
