//! If whose condition is known, and Loop of one iteration: the branch or the body takes their place.

use gradus_core::graph::edit::{Inlined, Renames, Step};
use gradus_core::graph::{Content, Graph, Node, Origin, Port, Ports, Standard, ValueId};
use gradus_core::{Result, Tensor};

use super::GraphFolder;
use super::dialect::{Role, role};
use super::rules::{NodeView, Pass, Source};
use super::scope::{FoldState, Read};
use super::write::{FoldWriter, edit};
use crate::dim::Dim;
use crate::fact::{Elements, Fact};
use crate::operators::lead;

/// A graph that always runs in place of its node.
pub(super) struct Branch<'m> {
    /// The number among the graphs of the node.
    number: usize,
    graph: &'m Graph,
    /// How its values are those of the node, where the file says so one by one.
    ports: Option<&'m Ports>,
    /// True if it is the body of a Loop.
    is_body: bool,
}

/// The branch that always runs, if it can stand in place of the node.
pub(super) fn branch<'m>(scope: &FoldState<'m>, index: usize) -> Option<Branch<'m>> {
    if let Some(body) = body(scope, index) {
        return Some(body);
    }
    if scope.nodes[index].role != Role::If || !scope.rules.has(Pass::Branches) {
        return None;
    }
    let node = &scope.graph.nodes()[index];
    let condition = node.inputs.first().copied().flatten()?;
    let Fact::Tensor(fact) = &scope.values[condition.index()].fact else { return None };
    let Elements::Integers(all) = &fact.elements else { return None };
    let [Dim::Known(value)] = **all else { return None };
    let (name, map) = match (scope.standard, value) {
        (Standard::OpenVino, 0) => ("else_body", "else_port_map"),
        (Standard::OpenVino, _) => ("then_body", "then_port_map"),
        (_, 0) => ("else_branch", ""),
        (..) => ("then_branch", ""),
    };
    let Some(Content::Graph(graph)) = node.attribute(name) else { return None };
    let ports = if let Some(Content::Ports(ports)) = node.attribute(map) { Some(&**ports) } else { None };
    let number = node.graph_number(graph).filter(|_| scope.values[condition.index()].exact)?;
    let branch = Branch { number, graph, ports, is_body: false };
    // Without copies, an output of the graph around must come from a layer of its own.
    let apart = |(slot, id): (usize, &Option<ValueId>)| {
        let bound = id.is_some_and(|id| scope.values[id.index()].output || scope.values[id.index()].fixed);
        !bound || (branch.around(scope.standard, node, slot).is_none() && branch.first(node, slot).is_none())
    };
    let whole = scope.standard != Standard::OpenVino
        || (ports.is_some() && node.outputs.iter().enumerate().all(apart));
    whole.then_some(branch)
}

/// The body of a Loop of ONNX that iterates once, and of which no output is concatenated.
fn body<'m>(scope: &FoldState<'m>, index: usize) -> Option<Branch<'m>> {
    let node = &scope.graph.nodes()[index];
    if &*node.operator.name != "Loop" || !scope.rules.has(Pass::Loops) {
        return None;
    }
    let view = NodeView::new(scope, index);
    let starts = matches!(view.input(1), Source::Missing) || view.is_number(1, 1);
    let Some(Content::Graph(graph)) = node.attribute("body") else { return None };
    let carried = node.inputs.len().checked_sub(2)?;
    let once = view.operator() == "Loop" && view.is_number(0, 1) && starts;
    let fits = node.outputs.len() <= carried && graph.inputs().len() == carried + 2;
    let all = node.inputs.iter().skip(2).all(Option::is_some);
    let number = node.graph_number(graph).filter(|_| once && fits && all)?;
    Some(Branch { number, graph, ports: None, is_body: true })
}

/// The values around that are passed to a branch, by its inputs.
pub(super) fn passed(standard: Standard, node: &Node, inner: &Graph) -> Vec<(ValueId, ValueId)> {
    let is_branch = standard == Standard::OpenVino && role(standard, node) == Role::If;
    let map = match node.graph_number(inner).filter(|_| is_branch) {
        Some(0) => "then_port_map",
        Some(_) => "else_port_map",
        None => return Vec::new(),
    };
    let Some(Content::Ports(ports)) = node.attribute(map) else { return Vec::new() };
    let pair = |port: &Port| {
        Some((*inner.inputs().get(port.inner)?, node.inputs.get(port.outer).copied().flatten()?))
    };
    ports.inputs.iter().filter_map(pair).collect()
}

impl Branch<'_> {
    /// The values around that are passed to the graph, by its inputs.
    fn passed(&self, standard: Standard, node: &Node) -> Vec<(ValueId, ValueId)> {
        if !self.is_body {
            return passed(standard, node, self.graph);
        }
        let carried = self.graph.inputs().iter().zip(&node.inputs).skip(2);
        carried.filter_map(|(inner, outer)| Some((*inner, (*outer)?))).collect()
    }

    /// Inputs of the graph that are constants: the number of the iteration and the condition.
    fn constants(&self) -> Vec<(ValueId, Tensor)> {
        let inputs = self.graph.inputs().iter().copied().filter(|_| self.is_body);
        inputs.zip(lead(self.graph, 0)).collect()
    }

    /// The value of the branch that an output of the node is.
    fn output(&self, slot: usize) -> Option<ValueId> {
        let place = match self.ports {
            Some(ports) => ports.outputs.iter().find(|port| port.outer == slot)?.inner,
            None => slot + usize::from(self.is_body),
        };
        self.graph.outputs().get(place).copied()
    }

    /// The value around that an output of the node is, if it is one.
    fn around(&self, standard: Standard, node: &Node, slot: usize) -> Option<ValueId> {
        let inner = self.graph;
        let mut id = self.output(slot)?;
        // A copy of a value around is that value.
        while let Origin::Node(index, _) = inner.value(id).origin {
            let node = inner.nodes().get(index).filter(|node| role(standard, node) == Role::Copy)?;
            id = node.inputs.first().copied().flatten()?;
        }
        let captured = inner.captures().iter().find(|capture| capture.inner == id);
        let passed = || self.passed(standard, node).into_iter().find(|(inner, _)| *inner == id);
        captured.map(|capture| capture.outer).or_else(|| passed().map(|(_, outer)| outer))
    }

    /// The earlier output that is the same value of the branch, if there is one.
    fn first(&self, node: &Node, slot: usize) -> Option<usize> {
        let id = self.output(slot)?;
        (0..slot).find(|&other| self.output(other) == Some(id) && node.outputs[other].is_some())
    }
}

/// Finds outputs of the node that are values around it, or other outputs.
pub(super) fn study(scope: &mut FoldState<'_>, folder: &mut GraphFolder<'_>, index: usize) {
    let Some(branch) = branch(scope, index) else { return };
    let node = &scope.graph.nodes()[index];
    for (slot, id) in node.outputs.iter().enumerate() {
        let Some(id) = *id else { continue };
        let twin = || branch.first(node, slot).and_then(|first| node.outputs[first]);
        if let Some(other) = branch.around(scope.standard, node, slot).or_else(twin) {
            scope.replace(folder, id, other);
        }
    }
}

/// Marks what the branch needs for those outputs that are needed.
pub(super) fn need<'m>(
    scope: &mut FoldState<'m>,
    folder: &mut GraphFolder<'m>,
    node: &'m Node,
    index: usize,
    branch: &Branch<'m>,
) {
    let inner = branch.graph;
    let mut child = scope.child(folder, inner, (index, branch.number));
    for (slot, id) in node.outputs.iter().enumerate() {
        let Some(id) = *id else { continue };
        let needed = scope.values[id.index()].needed && scope.values[id.index()].read == Read::Own;
        match (branch.around(scope.standard, node, slot), branch.output(slot)) {
            (Some(value), _) if needed => scope.need(value),
            (None, Some(output)) if needed => child.need(output),
            _ => {}
        }
    }
    child.need_rest(folder);
    scope.need_captures(&child);
    for (id, outer) in branch.passed(scope.standard, node) {
        if child.values[id.index()].needed {
            scope.need(outer);
        }
    }
    scope.children.insert((index, branch.number), child);
}

/// Adds the nodes of the branch.
///
/// # Errors
/// As [`edit`].
pub(super) fn write(
    writing: &mut FoldWriter<'_, '_>,
    folder: &mut GraphFolder<'_>,
    index: usize,
    branch: &Branch<'_>,
) -> Result<()> {
    let (scope, number) = (writing.scope, branch.number);
    let node = &scope.graph.nodes()[index];
    let Some(child) = scope.children.get(&(index, number)) else { return Ok(()) };
    let captured = writing.captured(folder, child);
    let (edit, _) = edit(folder, child, &captured)?;
    let mut names = Renames::new();
    for (id, outer) in branch.passed(scope.standard, node) {
        if child.values[id.index()].needed {
            names.insert(child.graph.value(id).name.clone(), writing.name(folder, outer));
        }
    }
    for (id, constant) in branch.constants() {
        if child.values[id.index()].needed {
            names.insert(child.graph.value(id).name.clone(), writing.target(folder, &constant));
        }
    }
    let mut copies = Vec::new();
    for (slot, id) in node.outputs.iter().enumerate() {
        let Some(id) =
            id.filter(|id| scope.values[id.index()].needed && scope.values[id.index()].read == Read::Own)
        else {
            continue;
        };
        let Some(output) = branch.output(slot) else { continue };
        let (inner, outer) = (&child.graph.value(output).name, &scope.graph.value(id).name);
        match (branch.around(scope.standard, node, slot), names.get(inner)) {
            (Some(value), _) => copies.push((outer.clone(), writing.name(folder, value))),
            (None, Some(first)) => copies.push((outer.clone(), first.clone())),
            (None, None) => {
                names.insert(inner.clone(), outer.clone());
            }
        }
    }
    for id in child.graph.ids() {
        let info = child.graph.value(id);
        if info.origin != Origin::Capture && !names.contains_key(&info.name) && folder.is_shared(&info.name) {
            let fresh = folder.fresh(&info.name);
            names.insert(info.name.clone(), fresh);
        }
    }
    folder.report.inlined += 1;
    writing.edit.nodes.push(Step::Inlined(Box::new(Inlined { node: index, graph: number, edit, names })));
    for (name, of) in copies {
        writing.copy(name, of);
    }
    Ok(())
}
