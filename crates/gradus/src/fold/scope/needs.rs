//! Values and nodes that the outputs of a graph need, found from its end.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;

use gradus_core::graph::{Graph, Node, Origin, ValueId};

use super::{FoldState, Read};
use crate::fold::reproducible::is_whole;
use crate::fold::rules::NodeView;
use crate::fold::{GraphFolder, inline};

/// The values and nodes of a graph that are needed.
pub(in crate::fold) struct Needs<'m> {
    needed: Vec<bool>,
    stays: Vec<bool>,
    children: BTreeMap<(usize, usize), FoldState<'m>>,
}

impl<'m> FoldState<'m> {
    /// Marks what the outputs of the graph need.
    pub(in crate::fold) fn need_outputs(&mut self, folder: &mut GraphFolder<'m>) {
        for &id in self.graph.outputs() {
            self.need(id);
        }
        self.need_rest(folder);
    }

    /// Forgets what is needed, and gives it back.
    pub(in crate::fold) fn forget_needs(&mut self) -> Needs<'m> {
        let needed = self.values.iter_mut().map(|value| take(&mut value.needed)).collect();
        let stays = self.nodes.iter_mut().map(|node| take(&mut node.stays)).collect();
        Needs { needed, stays, children: take(&mut self.children) }
    }

    /// Takes back what was needed before.
    pub(in crate::fold) fn restore_needs(&mut self, needs: Needs<'m>) {
        self.values.iter_mut().zip(needs.needed).for_each(|(value, needed)| value.needed = needed);
        self.nodes.iter_mut().zip(needs.stays).for_each(|(node, stays)| node.stays = stays);
        self.children = needs.children;
    }

    /// Marks a value as read.
    pub(in crate::fold) fn need(&mut self, id: ValueId) {
        self.values[id.index()].needed = true;
        let other = self.resolved(id);
        self.values[other.index()].needed = true;
        if let Read::InputSizes(sizes) = &self.values[other.index()].read {
            let input = sizes.input.index();
            self.values[input].needed = true;
        }
    }

    /// Marks what is needed by what is needed.
    pub(in crate::fold) fn need_rest(&mut self, folder: &mut GraphFolder<'m>) {
        let graph = self.graph;
        for id in graph.ids().filter(|id| self.values[id.index()].fixed).collect::<Vec<_>>() {
            self.need(id);
        }
        for &index in graph.order().iter().rev() {
            let node = &graph.nodes()[index];
            let own =
                |id: &ValueId| self.values[id.index()].needed && self.values[id.index()].read == Read::Own;
            if !self.nodes[index].opaque && !node.outputs.iter().flatten().any(own) {
                continue;
            }
            self.nodes[index].stays = true;
            if let Some(branch) = inline::branch(self, index) {
                inline::need(self, folder, node, index, &branch);
                continue;
            }
            let view = NodeView::new(self, index);
            let count = if self.in_parts.contains(&index) { 1 } else { usize::MAX };
            for (_, id) in view.reads().take(count).collect::<Vec<_>>() {
                self.need(id);
            }
            if self.nodes[index].opaque {
                node.needs().for_each(|id| self.need(id));
                continue;
            }
            for (number, inner) in node.graphs().enumerate() {
                let mut child = self.child(folder, inner, (index, number));
                child.need_outputs(folder);
                self.need_captures(&child);
                folder.report.unsettled |= self.may_become_exact(folder, index, &child);
                self.children.insert((index, number), child);
            }
        }
    }

    /// Returns true if a node whose results are known may be exact without the nodes of its graph
    /// that nothing needs.
    fn may_become_exact(&self, folder: &GraphFolder<'_>, index: usize, child: &FoldState<'_>) -> bool {
        let is_known = |id: &ValueId| {
            let value = &self.values[id.index()];
            let fact = value.fact.as_tensor().filter(|_| !value.exact && value.read == Read::Own);
            fact.is_some_and(|fact| fact.tensor_within(folder.given.max_bytes).is_some())
        };
        child.nodes.iter().any(|node| !node.stays)
            && self.graph.nodes()[index].outputs.iter().flatten().any(is_known)
    }

    /// The scope of a subgraph, studied.
    pub(in crate::fold) fn child(
        &self,
        folder: &mut GraphFolder<'m>,
        inner: &'m Graph,
        at: (usize, usize),
    ) -> FoldState<'m> {
        let place: Vec<_> = self.place.iter().copied().chain([at]).collect();
        let facts = folder.bodies.facts(inner, &place);
        let mut child = FoldState::new(folder, inner, facts, place);
        // Values that are not exact outside are not exact within. Of the inputs, floats may
        // be anything.
        for capture in inner.captures() {
            child.values[capture.inner.index()].exact = self.values[capture.outer.index()].exact;
        }
        for id in inner.inputs() {
            child.values[id.index()].exact = child.values[id.index()].fact.dtype().is_some_and(is_whole);
        }
        let node = &self.graph.nodes()[at.0];
        for (id, outer) in inline::passed(self.standard, node, inner) {
            child.values[id.index()].exact |= self.values[outer.index()].exact;
        }
        child.study(folder);
        child
    }

    /// Marks the values that a subgraph captures and needs as needed.
    pub(in crate::fold) fn need_captures(&mut self, child: &FoldState<'_>) {
        for capture in child.graph.captures() {
            if child.values[capture.inner.index()].needed {
                self.need(capture.outer);
            }
        }
    }

    /// Constants that the file's graph reads and the folded one does not.
    pub(in crate::fold) fn dropped(&self) -> std::collections::HashSet<Arc<str>> {
        let mut read = vec![false; self.graph.values().len()];
        self.graph.nodes().iter().flat_map(Node::needs).for_each(|id| read[id.index()] = true);
        let idle = |id: ValueId| {
            let plain = self.graph.value(id).origin == Origin::Constant;
            plain && read[id.index()] && !self.values[id.index()].needed && !self.values[id.index()].output
        };
        let idle = self.graph.constants().iter().map(|(id, _)| *id).filter(|&id| idle(id));
        idle.map(|id| self.graph.value(id).name.clone()).collect()
    }
}
