//! A node as rules see it: with the operator, inputs and attributes that it will have, in the form
//! of the newest version of its operator.

use gradus_core::graph::{Content, Node, Origin, Standard, ValueId};
use gradus_core::{DType, Number, Result, Tensor};

use super::super::dialect::Role;
use super::super::scope::{FoldState, Read};
use super::{Change, Replacement, Source};
use crate::attributes::Attributes;
use crate::fact::{Dims, Elements, Fact, TensorFact};
use crate::normalize::{self, Form, FormerInputs, former_inputs};
use crate::operators::{self, Chance, Rounding, Row};
use crate::schema::{in_set, onnx_versions};

/// Maximum number of elements of a constant that a rule compares one by one.
const MAX_ELEMENTS: usize = 1 << 16;

#[derive(Clone)]
pub(in crate::fold) struct NodeView<'s, 'm> {
    scope: &'s FoldState<'m>,
    pub(in crate::fold) index: usize,
    pub(in crate::fold) node: &'m Node,
    replacement: Option<&'s Replacement>,
}

impl<'s, 'm> NodeView<'s, 'm> {
    /// The view of the node `index` of a graph.
    pub(in crate::fold) fn new(scope: &'s FoldState<'m>, index: usize) -> NodeView<'s, 'm> {
        let node = &scope.graph.nodes()[index];
        NodeView { scope, index, node, replacement: scope.replacement(index) }
    }

    /// The standard of the model.
    pub(in crate::fold) fn standard(&self) -> Standard {
        self.scope.standard
    }

    /// The part that the operator of the file plays.
    pub(in crate::fold) fn role(&self) -> Role {
        if self.replacement.is_some() { Role::Other } else { self.scope.nodes[self.index].role }
    }

    /// ONNX's operator; empty for other domains, other standards and unknown operators.
    pub(in crate::fold) fn operator(&self) -> &'s str
    where
        'm: 's,
    {
        let own = self.standard() == Standard::Onnx && self.node.operator.domain.is_empty();
        match self.replacement {
            Some(replacement) => replacement.operator,
            None if own && !self.scope.nodes[self.index].opaque => &self.node.operator.name,
            None => "",
        }
    }

    /// The function that the node computes, in ONNX's words, if both standards have it; otherwise
    /// the operator.
    pub(in crate::fold) fn function(&self) -> &'s str
    where
        'm: 's,
    {
        match self.standard() {
            Standard::OpenVino => self.row().and_then(|row| row.same_as).unwrap_or_default(),
            _ => self.operator(),
        }
    }

    /// The row of the operator, if it is known.
    pub(in crate::fold) fn row(&self) -> Option<&'static Row> {
        match self.replacement {
            Some(replacement) => operators::row(Standard::Onnx, "", replacement.operator),
            None if self.scope.nodes[self.index].opaque => None,
            None => operators::row_of(self.standard(), self.node),
        }
    }

    /// The row of ONNX's operator of the node, or of the function that it computes, if both
    /// standards have it.
    pub(in crate::fold) fn known(&self) -> Option<&'static Row> {
        operators::row(Standard::Onnx, "", self.function())
    }

    /// Returns true if the elements of the first output are some of those of the first input
    /// (ONNX).
    pub(in crate::fold) fn picks_of_first(&self) -> bool {
        operators::row(Standard::Onnx, "", self.operator()).is_some_and(|row| row.picks)
    }

    /// Returns true if it only moves elements of the first input (ONNX).
    pub(in crate::fold) fn moves_first(&self) -> bool {
        self.picks_of_first() && self.row().is_some_and(|row| row.rounding == Rounding::Moved)
    }

    /// ONNX's operator, if it computes a function of each element of one input, without attributes,
    /// whose rounding is of a kind.
    pub(in crate::fold) fn plain_function(&self, is: impl Fn(Rounding) -> bool) -> Option<&'static str> {
        let row = operators::row(Standard::Onnx, "", self.operator())?;
        let bare = match self.replacement {
            Some(replacement) => replacement.attributes.is_empty(),
            None => self.node.attributes.is_empty(),
        };
        (row.is_of_elements() && bare && self.input_count() == 1 && is(row.rounding)).then_some(row.name)
    }

    /// The form of the operator that the node has in the file; the newest, if folding replaced it.
    pub(in crate::fold) fn form(&self) -> Form {
        match self.replacement {
            Some(_) => Form::NEWEST,
            None => Form::of_node(self.standard(), self.node),
        }
    }

    /// The node as it is in the file.
    pub(in crate::fold) fn in_file(&self) -> NodeView<'s, 'm> {
        NodeView { replacement: None, ..self.clone() }
    }

    /// Returns true if the node means what a node of the newest version means that has the same
    /// inputs and attributes: operands are broadcast by their last axes, and an axis is one axis.
    pub(in crate::fold) fn has_newest_meaning(&self) -> bool {
        if self.replacement.is_some() {
            return true;
        }
        let form = self.form();
        let means_other = form.changes().any(|(change, _)| matches!(change, normalize::Change::Meaning(_)));
        let signature = self.row().and_then(|row| operators::signature(row, self.node).ok());
        let broadcasts = form.default_of("broadcast").is_none()
            && signature.is_none_or(|signature| !signature.has_attribute("broadcast"));
        !means_other && broadcasts
    }

    /// Returns true if ONNX has an operator in the operator set of the model.
    pub(in crate::fold) fn set_has(&self, operator: &str) -> bool {
        in_set(onnx_versions("", operator), self.scope.opset).is_some()
    }

    /// The attributes, as those of the newest version.
    pub(in crate::fold) fn attributes(&self) -> Attributes<'s>
    where
        'm: 's,
    {
        let given = self.replacement.map_or(&self.node.attributes, |replacement| &replacement.attributes);
        Attributes::new(given, self.form())
    }

    /// The attributes that are given, without those that are inputs of the newest version.
    pub(in crate::fold) fn newest_attributes(&self) -> Vec<(&'s str, &'s Content)>
    where
        'm: 's,
    {
        self.attributes().newest()
    }

    /// An attribute of the newest version; `None` if it is not given.
    pub(in crate::fold) fn attribute(&self, name: &str) -> Option<&'s Content>
    where
        'm: 's,
    {
        self.attributes().get(name)
    }

    /// An integer, or the default; nothing if the attribute is something else.
    pub(in crate::fold) fn int(&self, name: &str, default: i64) -> Option<i64> {
        self.attributes().int_or(name, default).ok()
    }

    /// A float, or the default; nothing if the attribute is something else.
    pub(in crate::fold) fn float(&self, name: &str, default: f32) -> Option<f32> {
        Some(self.attributes().float(name).ok()?.unwrap_or(default))
    }

    /// Text, or the default; nothing if the attribute is something else.
    pub(in crate::fold) fn text(&self, name: &str, default: &'static str) -> Option<&'s str>
    where
        'm: 's,
    {
        Some(self.attributes().text(name).ok()?.unwrap_or(default))
    }

    /// Integers, if they are given.
    pub(in crate::fold) fn ints(&self, name: &str) -> Result<Option<&'s [i64]>>
    where
        'm: 's,
    {
        self.attributes().ints(name)
    }

    /// Inputs of the newest version that are attributes in the file.
    pub(in crate::fold) fn former_inputs(&self) -> FormerInputs {
        if self.replacement.is_some() || !self.scope.nodes[self.index].moves_inputs {
            return FormerInputs::new();
        }
        former_inputs(&self.attributes()).unwrap_or_default()
    }

    /// The number of inputs in the newest version, with those that the file writes as attributes.
    pub(in crate::fold) fn input_count(&self) -> usize {
        let Some(replacement) = self.replacement else {
            let own = self.node.inputs.len();
            if !self.scope.nodes[self.index].moves_inputs {
                return own;
            }
            let former = self.former_inputs().into_iter().map(|(input, _)| input + 1);
            return former.fold(self.form().count_of(own), usize::max);
        };
        replacement.inputs.len()
    }

    /// The input of the node in the file that is this one of the newest version.
    fn index_in_file(&self, input: usize) -> Option<usize> {
        if self.scope.nodes[self.index].moves_inputs { self.form().index_of(input) } else { Some(input) }
    }

    /// The value that an input reads.
    pub(in crate::fold) fn input(&self, input: usize) -> Source {
        let source = if let Some(replacement) = self.replacement {
            replacement.inputs.get(input).cloned()
        } else {
            let own = |own: usize| self.node.inputs.get(own).copied().flatten().map(Source::Value);
            let given = self
                .index_in_file(input)
                .and_then(|at| self.scope.own_input(self.index, at).cloned().or_else(|| own(at)));
            given.or_else(|| {
                let former = self.former_inputs().into_iter().find(|(at, _)| *at == input);
                former.map(|(_, tensor)| Source::Tensor(tensor))
            })
        };
        match source {
            Some(Source::Value(id)) => Source::Value(self.scope.resolved(id)),
            Some(Source::Transposed(id, perm)) => Source::Transposed(self.scope.resolved(id), perm),
            source => source.unwrap_or(Source::Missing),
        }
    }

    /// The inputs that read a value, or one that folding transposes for them, and the value.
    pub(in crate::fold) fn reads(&self) -> impl Iterator<Item = (usize, ValueId)> {
        (0..self.input_count()).filter_map(|input| match self.input(input) {
            Source::Value(id) | Source::Transposed(id, _) => Some((input, id)),
            Source::Tensor(_) | Source::Missing => None,
        })
    }

    /// The value that an input reads, if it is no constant that folding adds.
    pub(in crate::fold) fn value(&self, input: usize) -> Option<ValueId> {
        match self.input(input) {
            Source::Value(id) => Some(id),
            _ => None,
        }
    }

    /// The value that an input reads in the file, as it is read now.
    pub(in crate::fold) fn written(&self, input: usize) -> Option<ValueId> {
        let id = self.scope.resolved(self.node.inputs.get(input).copied().flatten()?);
        (self.scope.values[id.index()].read == Read::Own).then_some(id)
    }

    /// The first output; `None` if it is not named.
    pub(in crate::fold) fn output(&self) -> Option<ValueId> {
        self.node.outputs.first().copied().flatten()
    }

    fn tensor_fact(&self, id: ValueId) -> Option<&'s TensorFact> {
        self.scope.values[id.index()].fact.as_tensor()
    }

    /// The shape of a value; `None` if its rank is unknown.
    pub(in crate::fold) fn dims_of(&self, id: ValueId) -> Option<&'s Dims> {
        self.tensor_fact(id)?.dims.as_ref()
    }

    /// The element type of a value; `None` if it is unknown.
    pub(in crate::fold) fn dtype_of(&self, id: ValueId) -> Option<DType> {
        self.tensor_fact(id)?.dtype
    }

    /// The known elements of a value; `None` if it is no tensor.
    pub(in crate::fold) fn elements_of(&self, id: ValueId) -> Option<&'s Elements> {
        self.tensor_fact(id).map(|fact| &fact.elements)
    }

    /// The shape of an input's value; `None` if its rank is unknown, or the input is no value.
    pub(in crate::fold) fn dims(&self, input: usize) -> Option<&'s Dims> {
        self.dims_of(self.value(input)?)
    }

    /// The shape of the first output; `None` if its rank is unknown.
    pub(in crate::fold) fn output_dims(&self) -> Option<&'s Dims> {
        self.dims_of(self.output()?)
    }

    /// The constant that an input reads, as it will be wherever the model runs.
    pub(in crate::fold) fn constant(&self, input: usize) -> Option<Tensor> {
        self.constant_of(&self.input(input))
    }

    /// The constant that a node reads by a source.
    pub(in crate::fold) fn constant_of(&self, source: &Source) -> Option<Tensor> {
        let id = match source {
            Source::Tensor(tensor) => return Some(tensor.clone()),
            Source::Missing | Source::Transposed(..) => return None,
            Source::Value(id) => self.scope.resolved(*id),
        };
        let value = &self.scope.values[id.index()];
        if let Read::Constant(tensor) = &value.read {
            return Some(tensor.clone());
        }
        if !value.exact {
            return None;
        }
        let info = self.scope.graph.value(id);
        let stored = || {
            let constant = self.scope.graph.constant(id).filter(|_| info.origin == Origin::Constant)?;
            constant.tensor().ok()
        };
        Fact::as_tensor(&value.fact).and_then(TensorFact::tensor).or_else(stored)
    }

    /// The constant that an input reads, unless it is smaller as what computes it: another constant
    /// made of it would be as large.
    pub(in crate::fold) fn weight(&self, input: usize) -> Option<Tensor> {
        let is_costly = self.value(input).is_some_and(|id| self.scope.values[id.index()].costly);
        if is_costly { None } else { self.constant(input) }
    }

    /// Returns true if an input is a constant of which each element is this number, with its sign.
    pub(in crate::fold) fn is_all(&self, input: usize, wanted: Number) -> bool {
        let Some(tensor) = self.constant(input).filter(|tensor| tensor.shape().len() <= MAX_ELEMENTS) else {
            return false;
        };
        let same = |number: Number| match (number, wanted) {
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        };
        !tensor.shape().is_empty() && tensor.numbers().is_ok_and(|mut numbers| numbers.all(same))
    }

    /// Returns true if an input is a constant of the integer, or of the float that is this integer.
    pub(in crate::fold) fn is_number(&self, input: usize, wanted: i16) -> bool {
        self.is_all(input, Number::Int(wanted.into())) || self.is_all(input, Number::Float(wanted.into()))
    }

    /// The node whose first output an input reads.
    pub(in crate::fold) fn producer(&self, input: usize) -> Option<NodeView<'s, 'm>> {
        self.producer_of(self.value(input)?)
    }

    /// The node whose first output a value is.
    pub(in crate::fold) fn producer_of(&self, id: ValueId) -> Option<NodeView<'s, 'm>> {
        self.node_of(id).filter(|(_, slot)| *slot == 0).map(|(node, _)| node)
    }

    /// The node and the number of the output that a value is.
    pub(in crate::fold) fn node_of(&self, id: ValueId) -> Option<(NodeView<'s, 'm>, usize)> {
        let Origin::Node(index, slot) = self.scope.graph.value(id).origin else { return None };
        (self.scope.values[id.index()].read == Read::Own).then(|| (NodeView::new(self.scope, index), slot))
    }

    /// The node whose first output an input reads, and nothing else.
    pub(in crate::fold) fn only_producer(&self, input: usize) -> Option<NodeView<'s, 'm>> {
        let producer = self.producer(input)?;
        producer.output().is_some_and(|id| self.scope.is_read_once(id)).then_some(producer)
    }

    /// Returns true if results are drawn at random, even if only in training.
    pub(in crate::fold) fn is_random(&self) -> bool {
        operators::row_of(self.standard(), self.node).is_none_or(|row| row.chance != Chance::No)
    }

    /// The first output is the value that an input reads.
    pub(in crate::fold) fn becomes(&self, input: usize) -> Option<Change> {
        Some(Change::Values(vec![(0, self.value(input)?)]))
    }

    /// Returns true if the first output has the type and shape of an input.
    pub(in crate::fold) fn is_like(&self, input: usize) -> bool {
        let (Some(from), Some(to)) = (self.value(input), self.output()) else { return false };
        let (from, to) = (self.tensor_fact(from), self.tensor_fact(to));
        from.zip(to).is_some_and(|(from, to)| {
            from.dtype.is_some() && from.dtype == to.dtype && from.dims.is_some() && from.dims == to.dims
        })
    }

    /// Returns true if the first output has the type of an input.
    pub(in crate::fold) fn has_type_of(&self, input: usize) -> bool {
        let dtype = |id: Option<ValueId>| id.and_then(|id| self.dtype_of(id));
        let from = dtype(self.value(input));
        from.is_some() && from == dtype(self.output())
    }
}
