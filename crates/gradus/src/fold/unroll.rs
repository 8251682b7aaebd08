//! Loop and Scan of a known number of iterations, written as the nodes of their bodies, as often.

use std::collections::HashSet;
use std::sync::Arc;

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::edit::{Edit, Inlined, Kept, Made, Renames, Step};
use gradus_core::graph::{Attribute, Content, Graph, Node, OPSET_OF_MADE, Origin, Standard, ValueId};
use gradus_core::{Result, Tensor};

use super::rules::beside_data;
use super::{ValueNames, dialect};
use crate::constants::is_constant_node;
use crate::model::Model;
use crate::normalize::{Form, Older, has_default_inputs};
use crate::operators::lead;
use crate::operators::{self, Chance};
use gradus_engine::infer::InferOptions;

/// Maximum number of iterations of a loop that is unrolled.
const MAX_RUNS: usize = 256;

/// Maximum number of nodes that a loop becomes.
const MAX_NODES: usize = 20_000;

/// Returns true if a node of a graph runs a body again and again.
pub(super) fn has_loops(graph: &Graph) -> bool {
    graph.nodes().iter().any(|node| operator(node).is_some())
}

/// The edit that unrolls a loop of the main graph, after `skipped` others that can be unrolled.
pub(super) fn candidate(model: &Model, skipped: usize) -> Result<Option<Edit>> {
    let graph = model.graph();
    let is_loop = |index: &&usize| operator(&graph.nodes()[**index]).is_some();
    let loops: Vec<_> = graph.order().iter().filter(is_loop).copied().collect();
    let mut given = InferOptions::default().cautiously();
    given.ignore_declared = true;
    let inference = model.infer(&given)?;
    let edit = |index: usize| {
        let node = &graph.nodes()[index];
        let Some(Content::Graph(body)) = node.attribute("body") else { return None };
        let runs = inference.runs(&[(index, node.graph_number(body)?)])?;
        let runs = usize_of_i64(runs.count.known()?).filter(|runs| (1..=MAX_RUNS).contains(runs))?;
        let unrolled = Unrolled::new(model, node, body, runs)?;
        Some(unrolled.edit(index))
    };
    loops.into_iter().filter_map(edit).nth(skipped).transpose()
}

/// The name of an operator that runs a body again and again.
fn operator(node: &Node) -> Option<&str> {
    let name = &*node.operator.name;
    (node.operator.domain.is_empty() && matches!(name, "Loop" | "Scan")).then_some(name)
}

/// Returns true if every node of a graph computes the same from the same inputs wherever it is.
fn is_repeatable(model: &Model, graph: &Graph) -> bool {
    graph.nodes().iter().all(|node| {
        let row = operators::row_of(Standard::Onnx, node);
        let same = row.is_some_and(|row| row.chance == Chance::No && !row.stateful);
        let own = crate::operator::find(model.operators(), node).is_none();
        same && own && node.graphs().all(|inner| is_repeatable(model, inner))
    })
}

/// The nodes of a graph, and of those within.
fn size(graph: &Graph) -> usize {
    graph.nodes().iter().map(|node| 1 + node.graphs().map(|inner| size(inner)).sum::<usize>()).sum()
}

/// An axis of a scanned input or output, and true if iterations go backwards along it.
type Scanned = (i64, bool);

/// A loop while it is unrolled.
struct Unrolled<'m> {
    model: &'m Model,
    node: &'m Node,
    body: &'m Graph,
    runs: usize,
    /// Values of the body that are the number of the iteration and the condition.
    lead: &'m [ValueId],
    /// Values that are carried: what the first iteration reads.
    first: Vec<ValueId>,
    /// The carried values within the body.
    carried: &'m [ValueId],
    /// Inputs that each iteration reads a part of, with the value of the body.
    scanned: Vec<(ValueId, ValueId, Scanned)>,
    /// The outputs of the body that are carried.
    next: &'m [ValueId],
    /// The outputs of the body that are concatenated.
    stacked: Vec<(ValueId, Scanned)>,
    names: ValueNames,
    nodes: Vec<Step>,
    constants: Vec<(Arc<str>, Tensor)>,
}

impl<'m> Unrolled<'m> {
    fn new(model: &'m Model, node: &'m Node, body: &'m Graph, runs: usize) -> Option<Unrolled<'m>> {
        let is_loop = operator(node)? == "Loop";
        let outside: Vec<_> = node.inputs.iter().skip(if is_loop { 2 } else { 0 }).copied().collect();
        let outside = outside.into_iter().collect::<Option<Vec<_>>>()?;
        let scans = match node.attribute("num_scan_inputs") {
            Some(Content::Int(count)) if !is_loop => usize_of_i64(*count)?,
            _ => 0,
        };
        let has_batch = Form::of_node(Standard::Onnx, node).is(Older::Batch);
        let fits = size(body).checked_mul(runs)? <= MAX_NODES && !has_batch;
        let (lead, inside) = body.inputs().split_at_checked(if is_loop { 2 } else { 0 })?;
        let (_, results) = body.outputs().split_at_checked(usize::from(is_loop))?;
        let (first, given) = outside.split_at_checked(outside.len().checked_sub(scans)?)?;
        let (carried, parts) = inside.split_at_checked(first.len())?;
        let (next, stacked) = results.split_at_checked(first.len())?;
        let plain = body.inputs().iter().all(|id| body.value(*id).origin == Origin::Input);
        if !fits || !plain || parts.len() != given.len() || !is_repeatable(model, body) {
            return None;
        }
        let number = |name: &str, at: usize| match node.attribute(name) {
            Some(Content::Ints(all)) => all.get(at).copied().unwrap_or(0),
            _ => 0,
        };
        let of = |side: &str, at| {
            let [axes, directions] = ["axes", "directions"].map(|what| format!("scan_{side}_{what}"));
            (number(&axes, at), number(&directions, at) == 1)
        };
        let scanned = given.iter().zip(parts).enumerate();
        let scanned = scanned.map(|(at, (outer, inner))| (*outer, *inner, of("input", at))).collect();
        let stacked = stacked.iter().enumerate().map(|(at, id)| (*id, of("output", at))).collect();
        let first = first.to_vec();
        Some(Unrolled {
            model,
            node,
            body,
            runs,
            lead,
            first,
            carried,
            scanned,
            next,
            stacked,
            names: ValueNames::default(),
            nodes: Vec::new(),
            constants: Vec::new(),
        })
    }

    /// The edit of the main graph in which the iterations take the place of the node.
    fn edit(mut self, index: usize) -> Result<Edit> {
        let graph = self.model.graph();
        let number = graph.nodes()[index].graph_number(self.body).unwrap_or(0);
        let mut carried: Vec<_> = self.first.iter().map(|id| graph.value(*id).name.clone()).collect();
        let mut rows = Vec::new();
        let mut shared = Renames::new();
        for run in 0..self.runs {
            let names = self.iteration(run, &carried, &mut shared);
            let name = |id: &ValueId| {
                let name = &self.body.value(*id).name;
                names.get(name).unwrap_or(name).clone()
            };
            carried = self.next.iter().map(name).collect();
            rows.push(self.stacked.iter().map(|(id, _)| name(id)).collect::<Vec<_>>());
            let edit = self.kept(run);
            self.nodes.push(Step::Inlined(Box::new(Inlined { node: index, graph: number, edit, names })));
        }
        let outputs = self.node.outputs.clone();
        for (slot, id) in outputs.iter().enumerate() {
            let Some(output) = id.map(|id| graph.value(id).name.clone()) else { continue };
            if let Some(last) = carried.get(slot) {
                self.nodes.push(Step::Made(Box::new(dialect::copy(last.clone(), output))));
            } else {
                let at = slot - carried.len();
                let column = rows.iter().filter_map(|row| row.get(at).cloned()).collect();
                self.stack(at, column, output)?;
            }
        }
        let mut edit = Edit { constants: self.constants, ..Edit::default() };
        let mut unrolled = Some(self.nodes);
        for &at in graph.order() {
            match unrolled.take_if(|_| at == index) {
                Some(nodes) => edit.nodes.extend(nodes),
                None => edit.nodes.push(Step::Kept(Kept { node: at, ..Kept::default() })),
            }
        }
        Ok(edit)
    }

    /// The nodes and constants of the body that an iteration repeats: constants are written once.
    fn kept(&self, run: usize) -> Edit {
        let (graph, again) = (self.body, run > 0);
        let repeated = |index: &usize| !again || !is_constant_node(&graph.nodes()[*index]);
        let mut edit = Edit::keeping(graph.order().iter().copied().filter(repeated));
        // Declared sizes may be those of one iteration.
        let defined = graph.ids().filter(|id| graph.value(*id).origin.is_node());
        edit.gone = defined.map(|id| graph.value(id).name.clone()).collect();
        if again {
            edit.dropped = graph.constants().iter().map(|(id, _)| graph.value(*id).name.clone()).collect();
        }
        edit
    }

    /// The names of the body's values in an iteration, and the nodes that its inputs need.
    fn iteration(&mut self, run: usize, carried: &[Arc<str>], shared: &mut Renames) -> Renames {
        let (model, body) = (self.model, self.body);
        let read: HashSet<ValueId> =
            body.nodes().iter().flat_map(Node::needs).chain(body.outputs().iter().copied()).collect();
        let mut names: Renames = self
            .carried
            .iter()
            .zip(carried)
            .map(|(id, name)| (body.value(*id).name.clone(), name.clone()))
            .collect();
        let lead = self.lead.iter().zip(lead(body, i64_of(run)));
        for (id, value) in lead.filter(|(id, _)| read.contains(id)) {
            let name = &body.value(*id).name;
            let constant = self.constant(name, value);
            names.insert(name.clone(), constant);
        }
        for (outer, inner, (axis, backwards)) in self.scanned.clone() {
            let name = &body.value(inner).name;
            let at = if backwards { self.runs - 1 - run } else { run };
            let at = self.constant(name, Tensor::scalar(i64_of(at)));
            let part = self.names.fresh(model.graph(), name);
            let inputs = vec![model.graph().value(outer).name.clone(), at];
            self.made("Gather", inputs, part.clone(), Attribute::list([("axis", Content::Int(axis))]));
            names.insert(name.clone(), part);
        }
        for id in body.ids() {
            let info = body.value(id);
            let once = match info.origin {
                Origin::Node(index, _) => is_constant_node(&body.nodes()[index]),
                Origin::Constant => true,
                _ => continue,
            };
            let name = match shared.get(&info.name).filter(|_| once) {
                Some(name) => name.clone(),
                None => self.names.fresh(model.graph(), &info.name),
            };
            if once {
                shared.insert(info.name.clone(), name.clone());
            }
            names.insert(info.name.clone(), name);
        }
        names
    }

    /// Concatenates what the iterations return.
    fn stack(&mut self, at: usize, mut column: Vec<Arc<str>>, output: Arc<str>) -> Result<()> {
        let Some(&(_, (axis, backwards))) = self.stacked.get(at) else { return Ok(()) };
        if backwards {
            column.reverse();
        }
        let opset = self.node.version.unwrap_or(OPSET_OF_MADE);
        let (axes, attributes) = beside_data(opset, "Unsqueeze", Tensor::vector(&[axis]), Vec::new())?;
        let axes = axes.map(|axes| self.constant(&output, axes));
        let mut parts = Vec::new();
        for row in column {
            let part = self.names.fresh(self.model.graph(), &output);
            let inputs = std::iter::once(row).chain(axes.clone()).collect();
            self.made("Unsqueeze", inputs, part.clone(), attributes.clone());
            parts.push(part);
        }
        self.made("Concat", parts, output, Attribute::list([("axis", Content::Int(axis))]));
        Ok(())
    }

    /// The name of a new constant.
    fn constant(&mut self, like: &str, tensor: Tensor) -> Arc<str> {
        let name = self.names.fresh(self.model.graph(), like);
        if has_default_inputs(self.model.source()) {
            self.constants.push((name.clone(), tensor));
        } else {
            self.nodes.push(Step::Made(Box::new(dialect::constant(name.clone(), &tensor))));
        }
        name
    }

    fn made(
        &mut self,
        operator: &'static str,
        inputs: Vec<Arc<str>>,
        output: Arc<str>,
        attributes: Vec<Attribute>,
    ) {
        let name = output.clone();
        let made = Made { name, operator, version: 1, inputs, outputs: vec![output], attributes };
        self.nodes.push(Step::Made(Box::new(made)));
    }
}
