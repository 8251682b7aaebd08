//! A graph of the source while it is converted, and what all its graphs share.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use gradus_core::convert::{product, usize_of_i64};
use gradus_core::graph::{self, Constant, Graph, Node, Origin, Standard, ValueId};
use gradus_core::{Error, Kind, Limits, Result, Shape, Tensor};

use super::report::{ConversionReport, Obstacle, cannot};
use super::runtime::Runtime;
use super::types;
use super::writer::{GraphWriter, NamePool, NewValue};
use crate::complex;
use crate::dim::Symbols;
use crate::fact::{Fact, TensorFact};
use crate::infer::{Problem, SubgraphFacts};
use crate::schema::in_set;

/// Bytes that a value takes while it is converted, as `tests/memory.rs` measures: nodes on both
/// sides, facts, and the written model, which is read again.
pub const BYTES_OF_VALUE: usize = 3072;

/// State that all graphs of a model share while it is converted.
pub struct ConversionState<'m> {
    pub source: &'m graph::Model,
    pub to: Standard,
    /// True if operators of ONNX that are lowered are not kept, as another standard lacks them.
    pub lowers: bool,
    /// True if inputs of ONNX keep their defaults, and so are no constants.
    pub keeps_defaults: bool,
    /// The program that a model of ONNX is written for.
    pub runtime: Option<Runtime>,
    pub limits: Limits,
    pub symbols: Symbols,
    /// Facts of subgraphs, by where they are.
    pub bodies: SubgraphFacts,
    /// Errors in the model that inference found.
    pub problems: &'m [Problem],
    pub names: NamePool,
    /// Names of the main graph's inputs and outputs.
    pub kept: HashMap<ValueId, Arc<str>>,
    pub report: ConversionReport,
    /// Domains that are written besides the standard's own, with their versions.
    pub foreign: BTreeMap<Arc<str>, i64>,
    /// Nodes that have no equivalent.
    pub obstacles: Vec<Obstacle>,
    /// Bytes of what has been written: a node may become many, and list many items.
    pub written: u64,
    /// By node of the main graph that is written: the node of the source that it stands for.
    pub origins: Vec<usize>,
    /// Converts a graph: operators that have graphs are handed the driver.
    pub convert: ConvertGraph,
}

/// Converts all nodes of a graph that something needs.
type ConvertGraph =
    for<'m> fn(&mut SourceGraph<'m>, &mut ConversionState<'m>, &mut GraphWriter) -> Result<()>;

impl ConversionState<'_> {
    /// Counts values that were written against the bytes that are allowed.
    ///
    /// # Errors
    /// [`Kind::Limit`].
    pub fn count_written(&mut self, values: usize) -> Result<()> {
        self.count_bytes(product(values, BYTES_OF_VALUE))
    }

    /// Counts items that a sequence consists of.
    ///
    /// # Errors
    /// [`Kind::Limit`].
    pub fn count_items(&mut self, items: &Items) -> Result<()> {
        /// Bytes of an item: reports convert to several standards at the same time.
        const BYTES_OF_ITEM: usize = 4 * size_of::<NewValue>();
        self.count_bytes(product(items.values().len(), BYTES_OF_ITEM))
    }

    fn count_bytes(&mut self, bytes: u128) -> Result<()> {
        self.limits.allow_bytes(self.written, bytes)?;
        self.written = self.written.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Refuses a node that no run accepts.
    ///
    /// # Errors
    /// As the problem of the node, if it has one.
    pub fn check_valid(&self, place: &[(usize, usize)], index: usize) -> Result<()> {
        let of_node = |problem: &&Problem| {
            problem.node.as_ref().is_some_and(|(of, node)| **of == *place && *node == index)
        };
        match self.problems.iter().find(of_node) {
            Some(problem) => Err(Error::new(problem.kind, problem.message.clone())),
            None => Ok(()),
        }
    }

    /// The operator of a node as its standard names it: `onnx Range-11`.
    pub fn operator_of(&self, node: &Node) -> String {
        operator_in(self.source.standard, node)
    }
}

/// The operator of a node as a standard names it: `onnx Range-11`.
pub fn operator_in(standard: Standard, node: &Node) -> String {
    let name = &node.operator;
    let versions = match standard {
        Standard::Onnx => crate::schema::onnx_versions(&name.domain, &name.name),
        Standard::OpenVino => crate::schema::openvino_versions(&name.name),
        Standard::Paddle => &[],
    };
    match node.version.and_then(|version| in_set(versions, version)) {
        Some(signature) => format!("{standard} {name}-{}", signature.since),
        None => format!("{standard} {name}"),
    }
}

/// The items of a sequence, where a standard has no sequences.
#[derive(Clone, Debug)]
pub enum Items {
    /// A value for each.
    Each(Vec<NewValue>),
    /// The slices of a tensor along its first axis.
    Stacked(NewValue),
    /// The slices of a tensor along an axis that the items have; two lists of int64 are their
    /// starts and ends.
    Parts { values: [NewValue; 3], axis: usize },
    /// Items that only their concatenation along an axis is known of.
    Joined { whole: NewValue, axis: usize },
}

impl Items {
    /// The values that the items consist of.
    pub fn values(&self) -> &[NewValue] {
        match self {
            Items::Each(values) => values,
            Items::Stacked(value) | Items::Joined { whole: value, .. } => std::slice::from_ref(value),
            Items::Parts { values, .. } => values,
        }
    }

    /// Items that consist of other values in the same way.
    pub fn with(&self, mut values: impl FnMut(usize) -> NewValue) -> Items {
        match *self {
            Items::Each(ref all) => Items::Each((0..all.len()).map(values).collect()),
            Items::Stacked(_) => Items::Stacked(values(0)),
            Items::Parts { axis, .. } => Items::Parts { values: std::array::from_fn(values), axis },
            Items::Joined { axis, .. } => Items::Joined { whole: values(0), axis },
        }
    }

    /// Returns true if both consist of values in the same way.
    pub fn is_like(&self, other: &Items) -> bool {
        match (self, other) {
            (Items::Each(a), Items::Each(b)) => a.len() == b.len(),
            (Items::Stacked(_), Items::Stacked(_)) => true,
            (Items::Parts { axis: a, .. }, Items::Parts { axis: b, .. })
            | (Items::Joined { axis: a, .. }, Items::Joined { axis: b, .. }) => a == b,
            _ => false,
        }
    }
}

/// The nodes that compute the needed values, in order; values that these nodes need are added.
fn needed_nodes(graph: &Graph, needed: &mut HashSet<ValueId>) -> Vec<usize> {
    let mut order = Vec::new();
    for &index in graph.order().iter().rev() {
        let node = &graph.nodes()[index];
        if node.outputs.iter().flatten().any(|id| needed.contains(id)) {
            needed.extend(node.needs());
            order.push(index);
        }
    }
    order.reverse();
    order
}

/// The nodes that compute the needed values, in order.
pub fn needed_by(graph: &Graph, mut needed: HashSet<ValueId>) -> Vec<usize> {
    needed_nodes(graph, &mut needed)
}

/// A graph of the source.
pub struct SourceGraph<'m> {
    pub graph: &'m Graph,
    pub facts: Vec<Fact>,
    /// The nodes around it, as in [`crate::infer::Subgraph`].
    pub place: Vec<(usize, usize)>,
    /// The words for these nodes.
    path: String,
    /// By value: what it became.
    values: Vec<Option<NewValue>>,
    /// Sequences that no value became.
    items: HashMap<ValueId, Items>,
    /// Constants, those of the graphs around among them.
    constants: HashMap<ValueId, Constant>,
    /// Values that outputs of the graph are computed from.
    needed: HashSet<ValueId>,
}

impl<'m> SourceGraph<'m> {
    /// The main graph.
    pub fn main(graph: &'m Graph, facts: Vec<Fact>) -> SourceGraph<'m> {
        SourceGraph::new(graph, facts, Vec::new(), String::new())
    }

    fn new(graph: &'m Graph, facts: Vec<Fact>, place: Vec<(usize, usize)>, path: String) -> SourceGraph<'m> {
        let held = |(id, constant): &(ValueId, Constant)| {
            (graph.value(*id).origin == Origin::Constant).then(|| (*id, constant.clone()))
        };
        let constants = graph.constants().iter().filter_map(held).collect();
        let (values, needed) = (vec![None; graph.values().len()], graph.outputs().iter().copied().collect());
        SourceGraph { graph, facts, place, path, values, items: HashMap::default(), constants, needed }
    }

    /// A graph of a node, with the constants that it captures.
    pub fn inner(
        &self,
        conversion: &ConversionState<'_>,
        graph: &'m Graph,
        node: &Node,
        index: usize,
        number: usize,
    ) -> SourceGraph<'m> {
        let mut place = self.place.clone();
        place.push((index, number));
        let facts = conversion.bodies.facts(graph, &place);
        let path = self.place_of(node, index);
        let mut scope = SourceGraph::new(graph, facts, place, path);
        for capture in graph.captures() {
            if let Some(constant) = self.constants.get(&capture.outer) {
                scope.constants.insert(capture.inner, constant.clone());
            }
        }
        scope
    }

    /// Converts all nodes that something needs.
    pub fn convert(&mut self, conversion: &mut ConversionState<'m>, target: &mut GraphWriter) -> Result<()> {
        (conversion.convert)(self, conversion, target)
    }

    /// Describes the nodes that something needs, in order.
    pub fn needed_nodes(&mut self) -> Vec<usize> {
        needed_nodes(self.graph, &mut self.needed)
    }

    /// Returns true if outputs of the graph are computed from a value.
    pub fn is_needed(&self, id: ValueId) -> bool {
        self.needed.contains(&id)
    }

    /// The fact about a value of the graph.
    pub fn fact(&self, id: ValueId) -> &Fact {
        &self.facts[id.index()]
    }

    /// The constant that a value is, if it is one.
    pub fn constant(&self, id: ValueId) -> Option<&Constant> {
        self.constants.get(&id)
    }

    /// The node of the main graph that is, or is around, a node of this graph.
    pub fn main_node(&self, index: usize) -> usize {
        self.place.first().map_or(index, |&(outer, _)| outer)
    }

    /// The words for a node of the graph, after those around it.
    pub fn place_of(&self, node: &Node, index: usize) -> String {
        let slash = if self.path.is_empty() { "" } else { ": " };
        format!("{}{slash}{}", self.path, node.label(index))
    }

    /// The error of a node of the graph, in the nodes around it.
    pub fn enclosed(&self, error: Error) -> Error {
        if self.path.is_empty() { error } else { error.in_node(&self.path) }
    }

    /// Lets the nodes that read a node's outputs be converted, though it is not: nothing is
    /// written.
    pub fn stand_in(&mut self, conversion: &mut ConversionState<'_>, target: &mut GraphWriter, node: &Node) {
        for id in node.outputs.iter().copied().flatten() {
            let name = self.name_for(conversion, id);
            self.set(id, target.stand_in(name));
        }
    }

    /// Makes a constant of an input that has a default, or that is never given.
    pub fn fix(&mut self, id: ValueId, constant: Constant) {
        self.constants.insert(id, constant);
    }

    /// Makes constants of the outputs of a node, if all are known before a run.
    pub fn fix_known(&mut self, node: &Node) -> bool {
        let known = |&id: &ValueId| Some((id, self.fact(id).as_tensor()?.tensor()?.into()));
        let known: Option<Vec<(ValueId, Constant)>> = node.outputs.iter().flatten().map(known).collect();
        let all = known.is_some();
        self.constants.extend(known.unwrap_or_default());
        all
    }

    /// Makes constants of the outputs of a node, if all are tensors of known sizes without elements:
    /// OpenVINO refuses some operators that give nothing, as a pool without a window.
    pub fn fix_empty(&mut self, node: &Node) -> bool {
        let empty = |&id: &ValueId| {
            let fact = self.fact(id).as_tensor()?;
            let dims = fact.dims.as_ref()?.iter().map(|dim| usize_of_i64(dim.known()?));
            let shape = Shape::new(dims.collect::<Option<Vec<_>>>()?).ok().filter(Shape::is_empty)?;
            Some((id, Tensor::zeros(fact.dtype?, shape).ok()?.into()))
        };
        let all: Option<Vec<(ValueId, Constant)>> = node.outputs.iter().flatten().map(empty).collect();
        let fixed = all.is_some();
        self.constants.extend(all.unwrap_or_default());
        fixed
    }

    /// Says what a value became.
    pub fn set(&mut self, id: ValueId, value: NewValue) {
        self.values[id.index()] = Some(value);
    }

    /// Says which items a sequence has.
    pub fn set_items(&mut self, id: ValueId, items: Items) {
        self.items.insert(id, items);
    }

    /// Returns true if a sequence is read by an inner graph, or at an index that is not known
    /// before a run.
    pub fn reads_any_item(&self, id: ValueId) -> bool {
        let is_known = |id: ValueId| {
            self.constant(id).is_some() || self.fact(id).as_tensor().and_then(TensorFact::tensor).is_some()
        };
        self.graph.nodes().iter().any(|node| {
            let reads = node.inputs.contains(&Some(id));
            if !reads {
                return node.needs().any(|needed| needed == id);
            }
            let index = node.inputs.get(1).copied().flatten();
            &*node.operator.name == "SequenceAt" && index.is_some_and(|index| !is_known(index))
        })
    }

    /// The items of a sequence that no value became.
    pub fn items(&self, id: ValueId) -> Option<&Items> {
        self.items.get(&id)
    }

    /// The value in the target; a constant is written when it is first read.
    pub fn value(
        &mut self,
        target: &mut GraphWriter,
        conversion: &mut ConversionState<'_>,
        id: ValueId,
    ) -> Result<NewValue> {
        if let Some(value) = self.values[id.index()] {
            return Ok(value);
        }
        let name = &self.graph.value(id).name;
        if self.items.contains_key(&id) {
            return Err(cannot(format!(
                "cannot convert: {} has no equivalent of sequence \"{name}\"",
                conversion.to
            )));
        }
        let Some(constant) = self.constants.get(&id) else {
            let message = format!("value \"{name}\" is read before it is computed");
            return Err(Error::new(Kind::Graph, message));
        };
        let mut constant = constant.clone();
        if conversion.source.standard == Standard::Paddle && constant.dtype().is_complex() {
            constant = complex::split(&constant.tensor()?.into())?.tensor()?.clone().into();
        }
        types::expect(conversion.to, constant.dtype())
            .map_err(|error| error.map_message(|message| format!("constant \"{name}\": {message}")))?;
        let name = self.name_for(conversion, id);
        let value = target.constant(Some(name), constant);
        self.set(id, value);
        Ok(value)
    }

    /// The name of what a value becomes. Those of the model's inputs and outputs are kept for them.
    pub fn name_for(&self, conversion: &mut ConversionState<'_>, id: ValueId) -> Arc<str> {
        match conversion.kept.get(&id).filter(|_| self.place.is_empty()) {
            Some(name) => name.clone(),
            None => conversion.names.fresh(&self.graph.value(id).name),
        }
    }
}
