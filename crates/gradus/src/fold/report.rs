//! Counts of what was removed, and the reason why each remaining node was kept.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use foldhash::HashMap;
use gradus_core::graph::edit::{Edit, Step};
use gradus_core::graph::{self, Graph, Node, OperatorId, ValueId};

use super::GraphFolder;
use super::dialect::Role;
use super::rules::{NodeView, Source};
use super::scope::{FoldState, Read};
use crate::fact::{Elements, Fact};
use gradus_engine::infer::{ModelCondition, Problem};

/// The report of folding.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FoldReport {
    /// Nodes by operator, in all graphs and functions: before and after.
    pub operators: BTreeMap<String, (usize, usize)>,
    /// Constants that were added.
    pub constants: usize,
    /// Bytes of these.
    pub constant_bytes: u64,
    /// Constants of the file that were removed because nothing reads them.
    pub dropped: usize,
    /// Conditions that were known: the branch replaces the `If`.
    pub inlined: usize,
    /// True if the graph has not the nodes that it had.
    pub(super) changed: bool,
    /// True if rules made nodes or gave values other shapes, so that rules may apply once more.
    pub(super) unsettled: bool,
    /// Types of values that were added or that say more than before.
    pub declared: usize,
    /// Nodes of the main graph, in words, that read a weight which was computed and is a constant
    /// now: runtimes may pack it, and choose another kernel.
    pub weights: Vec<String>,
    /// Nodes of the main graph that compute shapes and stayed, or whose graphs were left as they are.
    pub kept: Vec<KeptNode>,
    /// Conditions under which the folded model is the same.
    pub assumptions: Vec<ModelCondition>,
    /// Errors that inference found in the model.
    pub problems: Vec<Problem>,
}

impl FoldReport {
    /// The number of nodes before and after.
    pub fn nodes(&self) -> (usize, usize) {
        self.operators.values().fold((0, 0), |(a, b), (before, after)| (a + before, b + after))
    }
}

/// A node that stayed: one that computes shapes, or whose graph was left as it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeptNode {
    /// The node in words.
    pub node: String,
    /// Its operator.
    pub operator: String,
    /// Why it stayed.
    pub reason: String,
}

/// Counts the operators before and after, and lists the weights and the shape nodes that were kept.
pub(super) fn complete(
    folder: &mut GraphFolder<'_>,
    scope: &FoldState<'_>,
    edit: &Edit,
    original: &graph::Model,
) {
    let mut counts = HashMap::default();
    let mut before = |operator| counts.entry(operator).or_insert((0, 0)).0 += 1;
    all(&original.graph, &mut before);
    original.functions.iter().for_each(|function| all(&function.body, &mut before));
    let mut after = |operator| counts.entry(operator).or_insert((0, 0)).1 += 1;
    left(scope.graph, edit, &mut after);
    folder.model.source().functions.iter().for_each(|function| all(&function.body, &mut after));
    for (operator, (before, after)) in counts {
        let count = folder.report.operators.entry(operator.to_string()).or_default();
        *count = (count.0 + before, count.1 + after);
    }
    folder.report.dropped = edit.dropped.len();
    folder.report.declared = edit.types.len();
    folder.report.weights = weights(scope);
    folder.report.kept = kept(folder, scope);
}

/// The nodes that read a weight which folding computed.
fn weights(scope: &FoldState<'_>) -> Vec<String> {
    let is_computed = |view: &NodeView<'_, '_>, input: usize| {
        let tensor = match view.input(input) {
            Source::Tensor(tensor) => tensor,
            Source::Value(id) => match &scope.values[id.index()].read {
                Read::Constant(tensor) => tensor.clone(),
                _ => return false,
            },
            Source::Transposed(..) | Source::Missing => return false,
        };
        tensor.dtype().is_float() && tensor.shape().rank() > 0
    };
    let found = |&&index: &&usize| {
        let view = NodeView::new(scope, index);
        let inputs = view.row().map_or(&[][..], |row| row.weights);
        scope.nodes[index].stays && inputs.iter().any(|&input| is_computed(&view, input))
    };
    let nodes = scope.graph.order().iter().filter(found);
    nodes
        .map(|&index| {
            format!("{} ({})", scope.graph.nodes()[index].label(index), scope.graph.nodes()[index].operator)
        })
        .collect()
}

/// An operator of a node that was read, or of one that was made.
#[derive(PartialEq, Eq, Hash)]
enum Counted<'a> {
    Read(&'a OperatorId),
    Made(&'a str),
}

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Counted::Read(operator) => operator.fmt(f),
            Counted::Made(name) => name.fmt(f),
        }
    }
}

/// Counts all nodes of a graph.
fn all<'a>(graph: &'a Graph, count: &mut impl FnMut(Counted<'a>)) {
    for node in graph.nodes() {
        count(Counted::Read(&node.operator));
        node.graphs().for_each(|graph| all(graph, count));
    }
}

/// Counts the nodes of an edited graph.
fn left<'a>(graph: &'a Graph, edit: &'a Edit, count: &mut impl FnMut(Counted<'a>)) {
    for step in &edit.nodes {
        match step {
            Step::Made(made) => count(Counted::Made(made.operator)),
            Step::Kept(kept) => {
                let node = &graph.nodes()[kept.node];
                count(Counted::Read(&node.operator));
                for (number, inner) in node.graphs().enumerate() {
                    match kept.graphs.iter().find(|(other, _)| *other == number) {
                        Some((_, edit)) => left(inner, edit, count),
                        None => all(inner, count),
                    }
                }
            }
            Step::Inlined(inlined) => {
                if let Some(inner) = graph.nodes()[inlined.node].graphs().nth(inlined.graph) {
                    left(inner, &inlined.edit, count);
                }
            }
        }
    }
}

/// Maximum number of nodes that are named as the reason of another.
const MAX_NAMED: usize = 3;

/// The nodes that ask for shapes and stayed, with those that need what they say.
fn kept(folder: &GraphFolder<'_>, scope: &FoldState<'_>) -> Vec<KeptNode> {
    let graph = scope.graph;
    let mut readers: HashMap<ValueId, Vec<usize>> = HashMap::default();
    for (index, node) in graph.nodes().iter().enumerate().filter(|(index, _)| scope.nodes[*index].stays) {
        for (input, id) in node.inputs.iter().enumerate() {
            if let Some(id) = id.filter(|_| scope.own_input(index, input).is_none()) {
                readers.entry(scope.resolved(id)).or_default().push(index);
            }
        }
        let captured = node.graphs().flat_map(|graph| graph.captures());
        captured.for_each(|capture| readers.entry(scope.resolved(capture.outer)).or_default().push(index));
    }
    let asks = |index: usize| matches!(scope.nodes[index].role, Role::Shape | Role::Size);
    let mut kept = Vec::new();
    for &index in graph.order() {
        let node = &graph.nodes()[index];
        let fails = folder.failing.contains(&index);
        if !scope.nodes[index].stays || !(fails || asks(index)) {
            continue;
        }
        let reason = if fails {
            "a graph within it fails whenever it runs, and is left as it is".to_owned()
        } else {
            reason(folder, scope, &readers, index)
        };
        kept.push(KeptNode { node: node.label(index), operator: node.operator.to_string(), reason });
    }
    kept
}

/// Returns true if a node only computes integers that shapes are made of.
fn computes_shapes(scope: &FoldState<'_>, node: &Node) -> bool {
    let symbolic = |id: &ValueId| {
        let fact = scope.values[id.index()].fact.as_tensor();
        fact.is_some_and(|fact| matches!(fact.elements, Elements::Integers(_) | Elements::Fractions(_)))
    };
    node.outputs.iter().flatten().all(symbolic)
}

fn reason(
    folder: &GraphFolder<'_>,
    scope: &FoldState<'_>,
    readers: &HashMap<ValueId, Vec<usize>>,
    index: usize,
) -> String {
    let graph = scope.graph;
    let node = &graph.nodes()[index];
    let says = node
        .outputs
        .first()
        .copied()
        .flatten()
        .and_then(|id| elements(folder, &scope.values[id.index()].fact));
    let says = says.unwrap_or_else(|| "it".to_owned());
    let (mut open, mut seen, mut users, mut more) = (vec![index], HashSet::from([index]), Vec::new(), 0);
    let mut output = None;
    while let Some(index) = open.pop() {
        for id in graph.nodes()[index].outputs.iter().flatten() {
            if scope.values[id.index()].output {
                output.get_or_insert_with(|| graph.value(*id).name.clone());
            }
            for &reader in readers.get(id).into_iter().flatten() {
                if !seen.insert(reader) {
                    continue;
                }
                let node = &graph.nodes()[reader];
                if computes_shapes(scope, node) && !scope.nodes[reader].opaque {
                    open.push(reader);
                } else if users.len() < MAX_NAMED {
                    users.push(user(folder, scope, node, reader));
                } else {
                    more += 1;
                }
            }
        }
    }
    if let Some(output) = output {
        users.insert(0, format!("output \"{output}\""));
    }
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{says} is not known before the run, and is needed by {}{more}", users.join(", "))
}

/// A node that needs a shape, and what it makes of it.
fn user(folder: &GraphFolder<'_>, scope: &FoldState<'_>, node: &Node, index: usize) -> String {
    let label = format!("{} ({})", node.label(index), node.operator);
    if scope.nodes[index].opaque {
        return format!("{label}, which is left as it is");
    }
    let wanted = match scope.nodes[index].role {
        Role::Reshape | Role::Expand => scope.fact(node, 1).and_then(|fact| elements(folder, fact)),
        _ => None,
    };
    wanted.map_or(label.clone(), |wanted| format!("{label} to {wanted}"))
}

/// The elements of a shape in words.
fn elements(folder: &GraphFolder<'_>, fact: &Fact) -> Option<String> {
    let Elements::Integers(all) = &fact.as_tensor()?.elements else { return None };
    let all: Vec<_> = all.iter().map(|dim| folder.symbols.print(*dim).to_string()).collect();
    Some(format!("[{}]", all.join(", ")))
}
