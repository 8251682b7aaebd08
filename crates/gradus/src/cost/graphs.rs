//! Costs of nodes, and of the graphs that they run.
//!
//! | a node that runs | costs |
//! |---|---|
//! | a graph a number of times | that many times what the nodes of the graph do |
//! | one of its graphs | for each column, the most that one of them does |
//! | a function of the model | what the nodes of the body do |
//! | operators of ONNX in place of one | MACs and operations of these |
//!
//! A graph whose sizes change from one iteration to the next counts for each iteration as for the
//! largest, if that is known, and is not counted if not.

use std::rc::Rc;

use gradus_core::Result;
use gradus_core::graph::{Graph, Node, Standard, ValueId};
use gradus_core::sort::SharedSort;

use super::{Counts, NodeCost};
use crate::attributes::{Attributes, Parameters};
use crate::constants::{ConstantReaders, is_constant_node};
use crate::dim::{Dim, Symbols};
use crate::fact::Fact;
use crate::lowering::{self, Known};
use crate::model::Model;
use crate::normalize::Form;
use crate::operators::work::{Operations, Shapes, UNSIZED, Work};
use crate::operators::{Row, row_of};
use gradus_engine::infer::{
    Inference, SubgraphFacts, bytes_of, function_of_node, graphs_of_node, row_of_node,
};

/// The reason of an operator without a rule.
const NO_RULE: &str = "the operator has no rule";

/// The costs of the nodes of a model.
pub(super) struct NodeCosts<'a> {
    model: &'a Model,
    inference: &'a mut Inference,
    bodies: SubgraphFacts,
}

/// A graph while its nodes are counted.
struct CountedGraph<'a> {
    graph: &'a Graph,
    facts: &'a [Fact],
    place: Vec<(usize, usize)>,
    parameters: Parameters<'a>,
}

impl<'a> NodeCosts<'a> {
    /// Costs of the nodes of a model, by the facts that were inferred.
    pub(super) fn new(model: &'a Model, inference: &'a mut Inference) -> NodeCosts<'a> {
        let bodies = SubgraphFacts::new(inference.subgraphs().to_vec());
        NodeCosts { model, inference, bodies }
    }

    /// The nodes of the main graph, in the order of a run.
    pub(super) fn of_model(mut self) -> Result<Vec<NodeCost>> {
        let facts = self.inference.facts().to_vec();
        let (graph, parameters) = (self.model.graph(), Rc::default());
        let mut nodes =
            self.of_graph(&CountedGraph { graph, facts: &facts, place: Vec::new(), parameters })?;
        let mut readers = ConstantReaders::new(self.model);
        for cost in &mut nodes {
            cost.parameters = readers.parameters(graph, &graph.nodes()[cost.node]);
        }
        Ok(nodes)
    }

    fn of_graph(&mut self, of: &CountedGraph<'_>) -> Result<Vec<NodeCost>> {
        of.graph.order().iter().map(|&index| self.of_node(of, index)).collect()
    }

    fn of_node(&mut self, of: &CountedGraph<'_>, index: usize) -> Result<NodeCost> {
        self.model.limits().check()?;
        let node = &of.graph.nodes()[index];
        let row = row_of_node(self.model, node);
        let mut inputs: Vec<_> = node.needs().collect();
        inputs.shared_sort();
        inputs.dedup();
        let mut why = None;
        let counts = match row.and_then(Row::work) {
            _ if function_of_node(self.model, node).is_some() => self.within(of, node, index, &mut why)?,
            Some(Work::Graphs) => self.within(of, node, index, &mut why)?,
            work => {
                let counted = match (work, row) {
                    (Some(work), _) => {
                        let standard = self.model.source().standard;
                        let symbols = self.inference.symbols_mut();
                        let (facts, given) = (of.facts, &of.parameters);
                        let mut shapes = Shapes { standard, node, facts, parameters: given, symbols };
                        shapes.operations(work).ok_or_else(|| shapes.why_uncounted(work))
                    }
                    (None, Some(row)) if row.is_lowered() => self.lowered(of.facts, node, row),
                    _ => Err(NO_RULE),
                };
                why = counted.err();
                let (macs, elementary) = match counted {
                    Ok(Operations { macs, elementary }) => (Some(macs), elementary.map(Some)),
                    Err(_) => (None, [None; 4]),
                };
                let [operations, arithmetic, comparisons, transcendentals] = elementary;
                let symbols = self.inference.symbols_mut();
                let made = node.outputs.iter().copied().flatten().filter(|_| !is_constant_node(node));
                let read = if row.is_some_and(|row| row.shape_only) { Vec::new() } else { inputs };
                Counts {
                    macs,
                    operations,
                    arithmetic,
                    comparisons,
                    transcendentals,
                    bytes_read: total_bytes(symbols, of.facts, read),
                    bytes_written: total_bytes(symbols, of.facts, made),
                }
            }
        };
        let uncounted = counts.macs.zip(counts.operations).is_none().then(|| why.unwrap_or(UNSIZED));
        Ok(NodeCost { node: index, parameters: 0, counts, uncounted })
    }

    /// The work of the operators of ONNX that stand for a node, or why one of them is not counted.
    fn lowered(
        &mut self,
        facts: &[Fact],
        node: &Node,
        row: &Row,
    ) -> std::result::Result<Operations, &'static str> {
        let fact = |id: &Option<ValueId>| id.map_or(Fact::Unknown, |id| facts[id.index()].clone());
        let inputs: Vec<_> = node.inputs.iter().map(fact).collect();
        let given = node.inputs.iter().zip(&inputs);
        let known: Vec<_> = given.map(|(id, fact)| id.map(|_| Known::of_fact(fact))).collect();
        let graph = lowering::graph(node, &known, row).map_err(|_| UNSIZED)?;
        let facts = self.inference.lowered(&graph, inputs);
        let parameters = Parameters::default();
        let mut sum = Operations { macs: Dim::ZERO, elementary: [Dim::ZERO; 4] };
        for &index in graph.order() {
            let node = &graph.nodes()[index];
            let row = row_of(Standard::Onnx, node).ok_or(NO_RULE)?;
            let Operations { macs, elementary } = match row.work() {
                None if row.is_lowered() => self.lowered(&facts, node, row)?,
                None | Some(Work::Graphs) => return Err(NO_RULE),
                Some(work) => {
                    let symbols = self.inference.symbols_mut();
                    let (facts, given) = (&*facts, &parameters);
                    let mut shapes =
                        Shapes { standard: Standard::Onnx, node, facts, parameters: given, symbols };
                    shapes.operations(work).ok_or_else(|| shapes.why_uncounted(work))?
                }
            };
            let symbols = self.inference.symbols_mut();
            sum.macs = symbols.add(sum.macs, macs).ok_or(UNSIZED)?;
            for (sum, more) in sum.elementary.iter_mut().zip(elementary) {
                *sum = symbols.add(*sum, more).ok_or(UNSIZED)?;
            }
        }
        Ok(sum)
    }

    /// The costs of the graphs that a node runs.
    fn within(
        &mut self,
        of: &CountedGraph<'_>,
        node: &Node,
        index: usize,
        why: &mut Option<&'static str>,
    ) -> Result<Counts> {
        let standard = self.model.source().standard;
        let function = function_of_node(self.model, node);
        let attributes = Attributes::new(&node.attributes, Form::of_node(standard, node));
        let attributes = attributes.with_parameters(of.parameters.clone());
        let handed = function.map_or_else(|| of.parameters.clone(), |called| attributes.handed_to(called));
        let mut most = [Some(Dim::ZERO); Counts::LEN];
        for (number, graph) in graphs_of_node(self.model, node).enumerate() {
            let place: Vec<_> = of.place.iter().copied().chain([(index, number)]).collect();
            let facts = self.bodies.get(&place).map(<[Fact]>::to_vec);
            let Some(facts) = facts else {
                *why = Some("its graphs were not inferred");
                return Ok(Counts::default());
            };
            let runs = self.inference.runs(&place);
            let inner = CountedGraph { graph, facts: &facts, place, parameters: handed.clone() };
            let nodes = self.of_graph(&inner)?;
            *why = why.or_else(|| nodes.iter().find_map(|node| node.uncounted));
            let symbols = self.inference.symbols_mut();
            let mut column = |column: usize| {
                let mut costs = nodes.iter().map(|node| node.counts.into_array()[column]);
                let sum = costs.try_fold(Dim::ZERO, |sum, cost| symbols.add(sum, cost?));
                let Some(runs) = runs.filter(|runs| runs.count != Dim::ONE) else { return sum };
                if runs.count == Dim::ZERO {
                    return Some(Dim::ZERO);
                }
                let mut each = sum?;
                if symbols.is_newer(each, runs.mark) {
                    let most = symbols.at_most(each).filter(|&most| !symbols.is_newer(most, runs.mark));
                    let Some(most) = most else {
                        why.get_or_insert("sizes change from one iteration to the next");
                        return None;
                    };
                    each = most;
                }
                symbols.multiply(each, runs.count)
            };
            let sums: [_; Counts::LEN] = std::array::from_fn(&mut column);
            for (most, sum) in most.iter_mut().zip(sums) {
                *most = most.zip(sum).and_then(|(most, sum)| symbols.max(most, sum));
            }
        }
        Ok(most.into())
    }
}

fn total_bytes(symbols: &mut Symbols, facts: &[Fact], ids: impl IntoIterator<Item = ValueId>) -> Option<Dim> {
    ids.into_iter().try_fold(Dim::ZERO, |sum, id| {
        let bytes = bytes_of(symbols, &facts[id.index()])?;
        symbols.add(sum, bytes)
    })
}
