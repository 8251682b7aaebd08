//! The context of a rule: a node, the facts of its inputs, and the symbols.

mod inputs;
mod sizes;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use gradus_core::graph::{Function, Graph, Node, Ports};
use gradus_core::{DType, Error};
use smallvec::SmallVec;

use super::pass::{GraphFacts, GraphRuns, Inner, MAX_UNROLLED, Pass, Visit};
use super::rules::InferResult;
use crate::attributes::{Attributes, required};
use crate::dim::{Bounds, Dim};
use crate::fact::{Dims, Elements, Fact, TensorFact};
use crate::operator::{Call, Operator};
use crate::operators::Row;

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
        self.join_by(None, a, b, what)
    }

    /// The facts of the first where a truth value is true, and of the second elsewhere. Dimensions
    /// that differ become one that the data decide, unless the truth value says it.
    pub fn join_by(&mut self, truth: Option<Dim>, a: &Fact, b: &Fact, what: &str) -> Fact {
        if a == b {
            return a.clone();
        }
        match (a, b) {
            (Fact::Tensor(a), Fact::Tensor(b)) => {
                let dtype = a.dtype.filter(|_| a.dtype == b.dtype);
                let dims = a.dims.as_ref().zip(b.dims.as_ref()).filter(|(a, b)| a.len() == b.len());
                let mut chosen = |a: &[Dim], b: &[Dim]| -> Dims {
                    a.iter().zip(b).map(|(&a, &b)| self.chosen(truth, [a, b], what)).collect()
                };
                let dims = dims.map(|(a, b)| chosen(a, b));
                let elements = if a.elements == b.elements { a.elements.clone() } else { Elements::Unknown };
                Fact::Tensor(TensorFact { dtype, dims, elements })
            }
            (Fact::Sequence(a), Fact::Sequence(b)) => {
                // For an empty list there is nothing that its items could contradict.
                let each = match (a.len, b.len) {
                    (Dim::ZERO, len) if len != Dim::ZERO => b.each.clone(),
                    (len, Dim::ZERO) if len != Dim::ZERO => a.each.clone(),
                    _ => self.join_by(truth, &a.each, &b.each, what),
                };
                let len = if a.len == b.len { a.len } else { self.data(what, Bounds::SIZE) };
                let items = a.items.clone().filter(|items| Some(items) == b.items.as_ref());
                Fact::Sequence(Arc::new(crate::fact::SequenceFact { each, len, items }))
            }
            (Fact::Optional(a), Fact::Optional(b)) => {
                let value = self.join_by(truth, &a.value, &b.value, what);
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
