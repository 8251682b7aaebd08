//! Cost of a model: parameters, operations, bytes moved and memory, as expressions of the symbols
//! of its inputs.
//!
//! The rule of an operator is a column of the operator table (`operators/work`). A node that runs
//! graphs costs what their nodes do (`graphs.rs`). Nodes without a rule are
//! [listed](Amounts::uncounted), and not guessed.

mod counts;
mod fit;
mod graphs;
mod plan;

use std::collections::BTreeMap;

use gradus_core::Result;
use gradus_core::graph::{Graph, ValueId};

pub use counts::Counts;
pub use fit::Fit;
pub use plan::{Block, MemoryPlan};

use crate::constants::is_constant_node;
use crate::dim::{Dim, Symbols};
use crate::model::Model;
use gradus_engine::infer::{InferOptions, Inference, Peak, Reuse};
use graphs::NodeCosts;

/// The cost of one node.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeCost {
    /// Its index in the graph.
    pub node: usize,
    /// Elements of the constants that it, or a node of a graph that it runs, reads and no node
    /// before it does.
    pub parameters: u128,
    /// The work that it does; nothing for what is not counted.
    pub counts: Counts,
    /// Why MACs or operations are not counted, if they are not.
    pub uncounted: Option<&'static str>,
}

/// A sum of costs of nodes. A sum that exceeds what an expression may be is nothing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Amounts {
    /// The number of nodes.
    pub nodes: usize,
    /// Elements of constants.
    pub parameters: u128,
    /// The sums over the nodes for which they are counted.
    pub counts: Counts,
    /// Nodes whose operations are not counted.
    pub uncounted: usize,
    /// Nodes of which bytes read or written are not known.
    pub unsized_nodes: usize,
}

/// A sum of costs that is being made. Many nodes have few different costs, so each is counted.
#[derive(Default)]
struct Tally {
    nodes: usize,
    parameters: u128,
    counts: [BTreeMap<Dim, i64>; Counts::LEN],
    uncounted: usize,
    unsized_nodes: usize,
}

impl Tally {
    fn add(&mut self, node: &NodeCost) {
        self.nodes += 1;
        self.parameters = self.parameters.saturating_add(node.parameters);
        let counts = node.counts;
        self.uncounted += usize::from(counts.macs.is_none());
        self.unsized_nodes += usize::from(counts.bytes_read.is_none() || counts.bytes_written.is_none());
        for (equal, dim) in self.counts.iter_mut().zip(counts.into_array()) {
            if let Some(dim) = dim {
                *equal.entry(dim).or_default() += 1;
            }
        }
    }

    fn sum(&self, symbols: &mut Symbols) -> Amounts {
        let sums = self.counts.each_ref().map(|equal| {
            equal.iter().try_fold(Dim::ZERO, |sum, (&dim, &count)| {
                let all = symbols.multiply(dim, Dim::Known(count))?;
                symbols.add(sum, all)
            })
        });
        Amounts {
            nodes: self.nodes,
            parameters: self.parameters,
            counts: sums.into(),
            uncounted: self.uncounted,
            unsized_nodes: self.unsized_nodes,
        }
    }
}

/// Memory that a run needs, where nodes run in order and a value is freed after its last use.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Memory {
    /// Bytes of all constants.
    pub constants: u128,
    /// Bytes of the inputs that have no default; nothing if a size is not known.
    pub inputs: Option<Dim>,
    /// The most bytes of values of nodes at one time.
    pub peak: Option<Peak>,
    /// The peak where outputs take the memory of inputs, by [`Reuse::InPlace`].
    pub in_place: Option<Peak>,
    /// Bytes of values within graphs that nodes run, beyond those of the nodes' outputs, by the place
    /// of the node in the order of the run.
    pub within: Vec<(usize, Dim)>,
    /// The values of nodes that occupy memory at the node of the peak.
    pub live: Vec<ValueId>,
}

/// The steps of a run between which a value of a node occupies memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lifetime {
    /// The place of its node in the order of the run.
    pub made: usize,
    /// The place of the last node that needs it; the last node of all for outputs.
    pub last: usize,
}

/// The cost of a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cost {
    /// The nodes of the main graph, in the order of a run.
    pub nodes: Vec<NodeCost>,
    /// The sum over all nodes.
    pub total: Amounts,
    /// The memory of a run.
    pub memory: Memory,
    inference: Inference,
}

impl Cost {
    /// The inference that the expressions come from.
    pub fn inference(&self) -> &Inference {
        &self.inference
    }

    /// Bytes that a value occupies; nothing if its size is not known.
    pub fn bytes(&mut self, id: ValueId) -> Option<Dim> {
        self.inference.bytes(id)
    }

    /// The sums by operator.
    pub fn by_operator(&mut self, graph: &Graph) -> BTreeMap<String, Amounts> {
        self.grouped(|node| graph.nodes()[node].operator.to_string())
    }

    /// The sums by the first `depth` parts of the names of nodes, which `/` separates; the last part
    /// of a name is the node's own.
    pub fn by_prefix(&mut self, graph: &Graph, depth: usize) -> BTreeMap<String, Amounts> {
        self.grouped(|node| graph.nodes()[node].group(depth))
    }

    /// The lifetimes of values of nodes, by the number of the value; none for those of `Constant`.
    pub fn lifetimes(&self, graph: &Graph) -> Vec<Option<Lifetime>> {
        lifetimes(graph)
    }

    fn grouped(&mut self, key: impl Fn(usize) -> String) -> BTreeMap<String, Amounts> {
        let mut groups: BTreeMap<_, Tally> = BTreeMap::new();
        for node in &self.nodes {
            groups.entry(key(node.node)).or_default().add(node);
        }
        let symbols = self.inference.symbols_mut();
        groups.into_iter().map(|(key, tally)| (key, tally.sum(symbols))).collect()
    }
}

impl Model {
    /// The cost of each node and of the model, as expressions of the symbols of its inputs.
    ///
    /// # Errors
    /// As [`Source::infer`](crate::Source::infer).
    ///
    /// ```
    /// use gradus::infer::InferOptions;
    /// let model = gradus::Model::open("../../examples/positions.onnx")?;
    /// let cost = model.cost(&InferOptions::default())?;
    /// let operations = cost.total.counts.operations.unwrap();
    /// assert_eq!(cost.inference().symbols().print(operations).to_string(), "4*seq + 1");
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn cost(&self, options: &InferOptions) -> Result<Cost> {
        let mut inference = self.infer(options)?;
        let nodes = NodeCosts::new(self, &mut inference).of_model()?;
        let mut total = Tally::default();
        for node in &nodes {
            total.add(node);
        }
        let total = total.sum(inference.symbols_mut());
        let in_place = inference.peak(self, Reuse::InPlace);
        let memory = Memory { in_place, ..memory(self, &mut inference) };
        Ok(Cost { nodes, total, memory, inference })
    }
}

fn total_bytes(inference: &mut Inference, ids: impl IntoIterator<Item = ValueId>) -> Option<Dim> {
    ids.into_iter().try_fold(Dim::ZERO, |sum, id| {
        let bytes = inference.bytes(id)?;
        inference.symbols_mut().add(sum, bytes)
    })
}

/// The memory of a run, without its peak in place.
pub(crate) fn memory(model: &Model, inference: &mut Inference) -> Memory {
    let (graph, peak) = (model.graph(), inference.peak(model, Reuse::None));
    let constants = model.constants().into_iter().map(|constant| constant.byte_len());
    let open = graph.inputs().iter().copied().filter(|&id| graph.constant(id).is_none());
    Memory {
        constants: constants.fold(0, u128::saturating_add),
        inputs: total_bytes(inference, open),
        in_place: None,
        within: inference.within(model),
        live: peak.map(|peak| live(graph, peak.node)).unwrap_or_default(),
        peak,
    }
}

/// The values of nodes that are made before a node ends and that are not freed before it.
fn live(graph: &Graph, node: usize) -> Vec<ValueId> {
    let lifetimes = lifetimes(graph);
    let end = graph.order().iter().position(|&index| index == node).unwrap_or(0);
    let made = graph.order().iter().take(end + 1);
    let outputs = made.flat_map(|&index| graph.nodes()[index].outputs.iter().copied().flatten());
    outputs.filter(|id| lifetimes[id.index()].is_some_and(|life| life.last >= end)).collect()
}

fn lifetimes(graph: &Graph) -> Vec<Option<Lifetime>> {
    let mut lifetimes = vec![None; graph.values().len()];
    for (place, &index) in graph.order().iter().enumerate() {
        let node = &graph.nodes()[index];
        for id in node.needs() {
            if let Some(life) = &mut lifetimes[id.index()] {
                *life = Lifetime { last: place, ..*life };
            }
        }
        for id in node.outputs.iter().copied().flatten().filter(|_| !is_constant_node(node)) {
            lifetimes[id.index()] = Some(Lifetime { made: place, last: place });
        }
    }
    let end = graph.order().len().saturating_sub(1);
    for id in graph.outputs() {
        if let Some(life) = &mut lifetimes[id.index()] {
            life.last = end;
        }
    }
    lifetimes
}
