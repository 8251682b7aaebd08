//! Functions of ONNX whose bodies take the place of their calls, so that all rules see their nodes.

use std::collections::{HashMap, HashSet};

use gradus_core::Result;
use gradus_core::graph::edit::{Change, Stage};
use gradus_core::graph::{self, Content, Function, Graph, Node, OperatorId, Standard};

use crate::model::Model;

/// Most nodes to which inlining may let a model grow before it is folded, by those it has.
const MOST_GROWTH: usize = 4;

/// Most calls of functions within one another.
const MOST_DEPTH: usize = 64;

/// The models that may be folded in place of a model with functions, by what is inlined: functions
/// that are called once, if that adds no node; or all functions, if that adds few.
pub(super) fn candidates(model: &Model) -> Result<Vec<(Model, Vec<Stage>)>> {
    let source = model.source();
    if source.standard != Standard::Onnx || source.functions.is_empty() {
        return Ok(vec![(model.clone(), Vec::new())]);
    }
    let calls = Calls::of(source);
    let before = nodes(source);
    let all = calls.closed(|_, _| true);
    let small = calls.closed(|count, nodes| count <= 1 || nodes <= 1);
    let grown = |inlined: &HashSet<&OperatorId>| calls.nodes_without(inlined);
    let mut sets = vec![if grown(&small) <= before { small } else { HashSet::new() }];
    if !sets.contains(&all) && grown(&all) <= before.saturating_mul(MOST_GROWTH) {
        sets.push(all);
    }
    sets.into_iter().map(|set| inlined(model, set)).collect()
}

fn inlined(model: &Model, functions: HashSet<&OperatorId>) -> Result<(Model, Vec<Stage>)> {
    if functions.is_empty() {
        return Ok((model.clone(), Vec::new()));
    }
    let functions: HashSet<_> = functions.into_iter().cloned().collect();
    let without = model.without_functions(&functions)?;
    let stage = Stage { change: Change::Inlined(functions), model: without.shared_source() };
    Ok((without, vec![stage]))
}

/// The nodes of a model, in all graphs and functions.
fn nodes(model: &graph::Model) -> usize {
    let mut count = 0;
    let graphs = model.functions.iter().map(|function| &function.body).chain([&model.graph]);
    graphs.for_each(|graph| each_node(graph, &mut |_| count += 1));
    count
}

/// Visits the nodes of a graph, and of those within.
fn each_node<'m>(graph: &'m Graph, visit: &mut impl FnMut(&'m Node)) {
    for node in graph.nodes() {
        visit(node);
        node.graphs().for_each(|inner| each_node(inner, visit));
    }
}

/// A function that may be inlined, or not.
struct Called<'m> {
    /// Nodes that call it, in all graphs and functions.
    count: usize,
    /// Nodes of its body.
    nodes: usize,
    /// Functions whose bodies call it.
    callers: HashSet<&'m OperatorId>,
    /// Its body can stand in place of every call.
    fits: bool,
}

struct Calls<'m> {
    model: &'m graph::Model,
    called: HashMap<&'m OperatorId, Called<'m>>,
}

impl<'m> Calls<'m> {
    fn of(model: &'m graph::Model) -> Calls<'m> {
        let mut called = HashMap::new();
        for function in &model.functions {
            let mut nodes = 0;
            each_node(&function.body, &mut |_| nodes += 1);
            let fits = !called.contains_key(&function.id) && can_be_inlined(model, function);
            called.insert(&function.id, Called { count: 0, nodes, callers: HashSet::new(), fits });
        }
        let bodies = model.functions.iter().map(|function| (&function.body, Some(&function.id)));
        for (graph, caller) in bodies.chain([(&model.graph, None)]) {
            each_node(graph, &mut |node| {
                if let Some(function) = called.get_mut(&node.operator) {
                    function.count += 1;
                    function.callers.extend(caller);
                    // A graph that is handed to a function reads values around the call.
                    function.fits &= node.graphs().next().is_none();
                }
            });
        }
        Calls { model, called }
    }

    /// Functions that may be inlined and of which this holds, by calls and nodes; none of them is
    /// called by a function that stays.
    fn closed(&self, wanted: impl Fn(usize, usize) -> bool) -> HashSet<&'m OperatorId> {
        let fits = |function: &Called<'_>| function.fits && wanted(function.count, function.nodes);
        let mut set: HashSet<_> =
            self.called.iter().filter(|(_, function)| fits(function)).map(|(id, _)| *id).collect();
        loop {
            let before = set.len();
            let inside: HashSet<_> =
                set.iter().copied().filter(|id| self.called[*id].callers.is_subset(&set)).collect();
            set = inside;
            if set.len() == before {
                return set;
            }
        }
    }

    /// The nodes of the model where these functions are inlined; the largest number if they call
    /// each other in a circle, or too deeply.
    fn nodes_without(&self, inlined: &HashSet<&'m OperatorId>) -> usize {
        let mut sizes = HashMap::new();
        let kept = self.model.functions.iter().filter(|function| !inlined.contains(&function.id));
        let graphs = kept.map(|function| &function.body).chain([&self.model.graph]);
        graphs.map(|graph| self.grown(graph, inlined, &mut sizes, 0)).fold(0, usize::saturating_add)
    }

    /// The nodes of a graph where calls are inlined. A function whose size is not known yet is
    /// around it.
    fn grown(
        &self,
        graph: &'m Graph,
        inlined: &HashSet<&'m OperatorId>,
        sizes: &mut HashMap<&'m OperatorId, usize>,
        depth: usize,
    ) -> usize {
        if depth > MOST_DEPTH {
            return usize::MAX;
        }
        let mut all = Vec::new();
        each_node(graph, &mut |node| all.push(&node.operator));
        let mut count: usize = 0;
        for id in all {
            let of = inlined.get(id).copied();
            let size = match of.and_then(|id| sizes.get(id)) {
                Some(size) => *size,
                None => match of.and_then(|id| self.model.functions.iter().find(|body| body.id == *id)) {
                    Some(function) => {
                        sizes.insert(&function.id, usize::MAX);
                        let size = self.grown(&function.body, inlined, sizes, depth + 1);
                        sizes.insert(&function.id, size);
                        size
                    }
                    None => 1,
                },
            };
            count = count.saturating_add(size);
        }
        count
    }
}

/// Returns true if the nodes of a function mean the same in the graphs of the model, and define its
/// outputs.
fn can_be_inlined(model: &graph::Model, function: &Function) -> bool {
    let mut same = true;
    let version = |domain: &str| model.opsets.iter().find(|(other, _)| **other == *domain).map(|(_, v)| *v);
    each_node(&function.body, &mut |node| {
        same &= node.version.is_some() && node.version == version(&node.operator.domain);
    });
    let outputs = function.body.outputs();
    let distinct = outputs.iter().collect::<HashSet<_>>().len() == outputs.len();
    let defined = outputs.iter().all(|id| function.body.value(*id).origin.is_node());
    let is_graph = |content: &Content| matches!(content, Content::Graph(_) | Content::Graphs(_));
    let defaults = function.attributes.iter().filter_map(|(_, default)| default.as_ref());
    same && distinct && defined && !defaults.into_iter().any(|default| is_graph(&default.content))
}
