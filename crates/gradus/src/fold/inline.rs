//! If whose condition is known: the branch takes its place.

use gradus_core::graph::edit::{Inlined, Renames, Step};
use gradus_core::graph::{Content, Graph, Node, Origin, ValueId};

use super::Folder;
use super::scope::{Read, Scope};
use super::write::{Writing, edit};
use crate::dim::Dim;
use crate::fact::{Elements, Fact};

/// The number of the branch that always runs, among the graphs of the node.
pub(super) fn branch(scope: &Scope<'_>, node: &Node) -> Option<usize> {
    if &*node.operator.name != "If" || !node.operator.domain.is_empty() {
        return None;
    }
    let condition = node.inputs.first().copied().flatten()?;
    let Fact::Tensor(fact) = &scope.facts[condition.index()] else { return None };
    let Elements::Integers(all) = &fact.elements else { return None };
    let [Dim::Known(value)] = **all else { return None };
    let name = if value == 0 { "else_branch" } else { "then_branch" };
    let Some(Content::Graph(graph)) = node.attribute(name) else { return None };
    node.graph_number(graph).filter(|_| scope.exact[condition.index()])
}

fn graph_of(node: &Node, number: usize) -> Option<&Graph> {
    node.graphs().nth(number).map(AsRef::as_ref)
}

/// The value around that an output of the branch is, if it is one.
fn around(inner: &Graph, slot: usize) -> Option<ValueId> {
    let mut id = *inner.outputs().get(slot)?;
    // A copy of a value around is that value.
    while let Origin::Node(index, _) = inner.value(id).origin {
        let node = inner.nodes().get(index).filter(|node| &*node.operator.name == "Identity")?;
        id = node.inputs.first().copied().flatten().filter(|_| node.operator.domain.is_empty())?;
    }
    inner.captures().iter().find(|capture| capture.inner == id).map(|capture| capture.outer)
}

/// Finds outputs of the node that are values around it, or other outputs.
pub(super) fn study(scope: &mut Scope<'_>, node: &Node) {
    let Some(inner) = branch(scope, node).and_then(|number| graph_of(node, number)) else { return };
    for (slot, id) in node.outputs.iter().enumerate() {
        let Some(id) = *id else { continue };
        if scope.output[id.index()] || scope.fixed[id.index()] || scope.reads[id.index()] != Read::Own {
            continue;
        }
        let twin = first(node, inner, slot).and_then(|first| node.outputs[first]);
        if let Some(other) = around(inner, slot).or(twin) {
            scope.reads[id.index()] = scope.read_of(other);
        }
    }
}

/// The earlier output that is the same value of the branch, if there is one.
fn first(node: &Node, inner: &Graph, slot: usize) -> Option<usize> {
    let id = inner.outputs().get(slot)?;
    let earlier = |&other: &usize| inner.outputs().get(other) == Some(id) && node.outputs[other].is_some();
    (0..slot).find(earlier)
}

/// Marks what the branch needs for those outputs that are needed.
pub(super) fn need<'m>(
    scope: &mut Scope<'m>,
    folder: &mut Folder<'m>,
    node: &'m Node,
    index: usize,
    number: usize,
) {
    let Some(inner) = graph_of(node, number) else { return };
    let mut child = scope.child(folder, inner, (index, number));
    for (slot, id) in node.outputs.iter().enumerate() {
        let Some(id) = *id else { continue };
        let needed = scope.needed[id.index()] && scope.reads[id.index()] == Read::Own;
        match (around(inner, slot), inner.outputs().get(slot)) {
            (Some(value), _) if needed => scope.need(value),
            (None, Some(&output)) if needed => child.need(output),
            _ => {}
        }
    }
    child.need_rest(folder);
    scope.need_captures(&child);
    scope.children.insert((index, number), child);
}

/// Adds the nodes of the branch.
pub(super) fn write(writing: &mut Writing<'_, '_>, folder: &mut Folder<'_>, index: usize, number: usize) {
    let scope = writing.scope;
    let node = &scope.graph.nodes()[index];
    let Some(child) = scope.children.get(&(index, number)) else { return };
    let captured = writing.captured(folder, child);
    let (edit, _) = edit(folder, child, &captured);
    let mut names = Renames::new();
    let mut copies = Vec::new();
    for (slot, id) in node.outputs.iter().enumerate() {
        let Some(id) = id.filter(|id| scope.needed[id.index()] && scope.reads[id.index()] == Read::Own)
        else {
            continue;
        };
        let Some(&output) = child.graph.outputs().get(slot) else { continue };
        let (inner, outer) = (&child.graph.value(output).name, &scope.graph.value(id).name);
        match (around(child.graph, slot), names.get(inner)) {
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
}
