//! Functions of ONNX: bodies that take the place of their calls, so that all rules see their nodes,
//! and bodies that stay and are folded by themselves.

use std::collections::{HashMap, HashSet};

use gradus_core::Result;
use gradus_core::graph::edit::Edit;
use gradus_core::graph::{
    self, Attribute, Builder, Content, Function, Graph, Node, OperatorId, Origin, Slots, Standard, ValueId,
};
use gradus_core::sort::SharedSort;

use super::{Changes, FoldOptions, FoldReport};
use crate::conversion::inline;
use crate::model::Model;

/// Maximum number of nodes to which inlining may let a model grow before it is folded, by those it
/// has.
const MAX_GROWTH: usize = 4;

/// Maximum number of calls of functions within one another.
const MAX_DEPTH: usize = 64;

/// The models that may be folded in place of a model with functions, by what is inlined: functions
/// that are called once, if that adds no node; or all functions, if that adds few.
pub(super) fn candidates(model: &Model) -> Vec<Model> {
    let source = model.source();
    if source.standard != Standard::Onnx || source.functions.is_empty() {
        return vec![model.clone()];
    }
    let calls = Calls::of(source);
    let before = nodes(source);
    let all = calls.closed(|_, _| true);
    let small = calls.closed(|count, nodes| count <= 1 || nodes <= 1);
    let grown = |inlined: &HashSet<&OperatorId>| calls.nodes_without(inlined);
    let mut sets = vec![if grown(&small) <= before { small } else { HashSet::new() }];
    if !sets.contains(&all) && grown(&all) <= before.saturating_mul(MAX_GROWTH) {
        sets.push(all);
    }
    // A call that no run takes stays for inference to report.
    sets.iter().filter_map(|set| inlined(model, set).ok()).collect()
}

fn inlined(model: &Model, functions: &HashSet<&OperatorId>) -> Result<Model> {
    if functions.is_empty() {
        return Ok(model.clone());
    }
    let without = inline::expanded(model.source(), model.limits(), |id| functions.contains(id))?;
    Ok(model.with_source(without))
}

/// The model in which the bodies of functions are edited.
pub(super) fn with_bodies(model: &Model, bodies: &[FoldedBody]) -> Result<Model> {
    let mut source = model.source().clone();
    for FoldedBody { function, edit, .. } in bodies {
        let body = &mut source.functions[*function].body;
        let own = body.nodes().iter().find(|node| node.operator.domain.is_empty());
        *body = body.apply(edit, own.and_then(|node| node.version))?;
    }
    Ok(model.with_source(source))
}

/// The body of a function that folds into something else.
pub(super) struct FoldedBody {
    /// The number of the function.
    pub(super) function: usize,
    pub(super) edit: Edit,
    pub(super) report: FoldReport,
}

/// The bodies of those of these functions, by number, that fold into something else: by what holds
/// for every call.
pub(super) fn folded(model: &Model, options: &FoldOptions, open: &HashSet<usize>) -> Result<Vec<FoldedBody>> {
    let options = FoldOptions { declare: false, ..options.clone() };
    let functions: HashSet<_> = model.source().functions.iter().map(|function| &function.id).collect();
    let mut bodies = Vec::new();
    let all = model.source().functions.iter().enumerate();
    for (number, function) in all.filter(|(number, _)| open.contains(number)) {
        let Some(alone) = alone(function, &functions)? else { continue };
        let folded = model.with_source(alone).fold_graph(&options, model.source(), &HashSet::new());
        let Ok(Changes { edit, report }) = folded else { continue };
        let holds = report.problems.is_empty() && report.assumptions.is_empty();
        // A function without nodes is none to some runtimes.
        if report.changed && holds && !edit.nodes.is_empty() {
            bodies.push(FoldedBody { function: number, edit, report });
        }
    }
    Ok(bodies)
}

/// A model whose main graph is the body of a function; nothing if it does not use ONNX's own
/// operators, of which folding makes others.
fn alone(function: &Function, functions: &HashSet<&OperatorId>) -> Result<Option<graph::Model>> {
    // Each call gives some attributes; and the bodies of other functions are not there.
    let is_open = |node: &Node| {
        let is_parameter = |attribute: &Attribute| matches!(attribute.content, Content::Parameter(_));
        node.attributes.iter().any(is_parameter) || functions.contains(&node.operator)
    };
    let (mut opsets, mut has_open, mut has_graphs) = (Vec::new(), false, false);
    each_node(&function.body, &mut |node| {
        opsets.extend(node.version.map(|version| (node.operator.domain.clone(), version)));
        has_open |= is_open(node);
        has_graphs |= node.graphs().next().is_some();
    });
    opsets.shared_sort();
    opsets.dedup();
    let imports_own = opsets.iter().any(|(domain, _)| domain.is_empty());
    if !imports_own || (has_open && has_graphs) {
        return Ok(None);
    }
    let mut alone = graph::Model::new(Standard::Onnx);
    // A version in which constants are nodes, as they are in functions.
    alone.format_version = 3;
    alone.opsets = opsets;
    alone.graph = if has_open { closed(&function.body, is_open)? } else { function.body.clone() };
    Ok(Some(alone))
}

/// The graph, in which the operators of those nodes are unknown.
fn closed(graph: &Graph, is_open: impl Fn(&Node) -> bool) -> Result<Graph> {
    let name = |id: ValueId| &*graph.value(id).name;
    let mut builder = Builder::new(graph.name());
    for &id in graph.inputs() {
        builder.define(name(id), Origin::Input)?;
    }
    for node in graph.nodes() {
        let mut copy = node.clone();
        if is_open(node) {
            copy.operator.domain = "known to the call".into();
        }
        copy.inputs = node.inputs.iter().map(|id| id.map(|id| builder.reference(name(id)))).collect();
        copy.outputs = Slots::new();
        let outputs: Vec<_> = node.outputs.iter().map(|id| id.map_or("", name)).collect();
        builder.push(copy, &outputs)?;
    }
    for &id in graph.outputs() {
        builder.output(name(id));
    }
    builder.finish()
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
    /// True if its body can take the place of every call.
    fits: bool,
}

struct Calls<'m> {
    model: &'m graph::Model,
    /// The first function of each name.
    bodies: HashMap<&'m OperatorId, &'m Function>,
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
        let bodies = model.functions.iter().rev().map(|function| (&function.id, function)).collect();
        Calls { model, bodies, called }
    }

    /// Functions that may be inlined and of which this holds, by calls and nodes; none of them is
    /// called by a function that is kept.
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
        if depth > MAX_DEPTH {
            return usize::MAX;
        }
        let mut all = Vec::new();
        each_node(graph, &mut |node| all.push(&node.operator));
        let mut count: usize = 0;
        for id in all {
            let of = inlined.get(id).copied();
            let size = match of.and_then(|id| sizes.get(id)) {
                Some(size) => *size,
                None => match of.and_then(|id| self.bodies.get(id)) {
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
