//! A graph while it is folded: first every node is looked at in order, then what is needed is found
//! from the end.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use gradus_core::Tensor;
use gradus_core::graph::{Graph, Node, Origin, Standard, ValueId};

use super::dialect::{Role, role};
use super::reproducible::{is_exact, is_settled, is_whole, widens};
use super::shape_source::Extents;
use super::{GraphFolder, cse, inline, simplify_shapes};
use crate::fact::{Fact, TensorFact};
use crate::operator;

/// Where a value comes from in the folded graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Read {
    /// It stays as it is.
    Own,
    /// It is another, which is defined before it.
    Other(ValueId),
    /// It is a constant.
    Constant(Tensor),
    /// It is some dimensions of an input.
    Extents(Extents),
}

/// A graph while it is folded.
pub(super) struct FoldState<'m> {
    pub(super) standard: Standard,
    pub(super) graph: &'m Graph,
    pub(super) facts: Vec<Fact>,
    /// The nodes around it, as in [`crate::infer::Body`].
    pub(super) place: Vec<(usize, usize)>,
    /// By value.
    pub(super) reads: Vec<Read>,
    /// By value: whether it is the same bits in every implementation.
    pub(super) exact: Vec<bool>,
    /// By value: whether it must keep its name and come from where it does.
    pub(super) fixed: Vec<bool>,
    /// By value: whether it is an output of the graph.
    pub(super) output: Vec<bool>,
    /// By value: whether something reads it.
    pub(super) needed: Vec<bool>,
    /// By node: whether it is left as it is, with all that it reads, as nobody knows what it does.
    pub(super) opaque: Vec<bool>,
    /// By node: whether it stays.
    pub(super) stays: Vec<bool>,
    /// Constants that nodes read in place of what they read, by node and input.
    pub(super) targets: BTreeMap<(usize, usize), Tensor>,
    /// By node and number: its graphs.
    pub(super) children: BTreeMap<(usize, usize), FoldState<'m>>,
    /// Values that subgraphs read.
    pub(super) captured: HashSet<ValueId>,
    pub(super) seen: cse::Seen,
}

impl<'m> FoldState<'m> {
    pub(super) fn new(
        folder: &mut GraphFolder<'m>,
        graph: &'m Graph,
        facts: Vec<Fact>,
        place: Vec<(usize, usize)>,
    ) -> FoldState<'m> {
        let count = graph.values().len();
        let mut scope = FoldState {
            standard: folder.model.source().standard,
            graph,
            facts,
            reads: vec![Read::Own; count],
            exact: vec![true; count],
            fixed: vec![false; count],
            output: vec![false; count],
            needed: vec![false; count],
            opaque: graph.nodes().iter().map(|node| folder.is_opaque(node)).collect(),
            stays: vec![false; graph.nodes().len()],
            targets: BTreeMap::new(),
            children: BTreeMap::new(),
            captured: HashSet::new(),
            seen: cse::Seen::default(),
            place,
        };
        graph.outputs().iter().for_each(|id| scope.output[id.index()] = true);
        let main = scope.place.is_empty();
        if main && !folder.mentioned.is_empty() {
            let mentioned = |id: &ValueId| folder.mentioned.contains(&*graph.value(*id).name);
            graph.ids().filter(mentioned).for_each(|id| scope.fixed[id.index()] = true);
        }
        for (index, node) in graph.nodes().iter().enumerate() {
            if scope.opaque[index] {
                node.needs().for_each(|id| scope.fixed[id.index()] = true);
            }
        }
        let inner = graph.nodes().iter().flat_map(Node::graphs);
        scope.captured =
            inner.flat_map(|inner| inner.captures().iter().map(|capture| capture.outer)).collect();
        let given = |id: &ValueId| !graph.value(*id).origin.is_node();
        for id in graph.ids().filter(given) {
            cse::note(&mut scope, id);
        }
        scope
    }

    /// Facts about an input of a node.
    pub(super) fn fact(&self, node: &Node, input: usize) -> Option<&Fact> {
        node.inputs.get(input).copied().flatten().map(|id| &self.facts[id.index()])
    }

    /// The value that is read in place of a value.
    pub(super) fn resolved(&self, id: ValueId) -> ValueId {
        // A replacement was resolved when it was found.
        if let Read::Other(other) = self.reads[id.index()] { other } else { id }
    }

    /// How a value is read that is the same as another.
    pub(super) fn read_of(&self, other: ValueId) -> Read {
        match &self.reads[other.index()] {
            Read::Own => Read::Other(other),
            read => read.clone(),
        }
    }

    /// Looks at every node in order.
    pub(super) fn study(&mut self, folder: &mut GraphFolder<'m>) {
        let graph = self.graph;
        for &index in graph.order() {
            let node = &graph.nodes()[index];
            if self.opaque[index] {
                node.outputs.iter().flatten().for_each(|id| self.exact[id.index()] = false);
                continue;
            }
            self.constants(folder, node);
            inline::study(self, node);
            simplify_shapes::study(self, folder, node, index);
            for id in node.outputs.iter().copied().flatten() {
                let free = self.reads[id.index()] == Read::Own && !self.fixed[id.index()];
                if free && let Some(other) = cse::find(self, folder, node, id) {
                    self.reads[id.index()] = self.read_of(other);
                } else {
                    cse::note(self, id);
                }
            }
        }
    }

    /// Finds which outputs of a node are constants.
    fn constants(&mut self, folder: &GraphFolder<'_>, node: &Node) {
        let whole = |id: ValueId| self.facts[id.index()].dtype().is_some_and(is_whole);
        let all_whole = node.inputs.iter().chain(&node.outputs).flatten().all(|id| whole(*id));
        let role = role(self.standard, node);
        let alone = matches!(role, Role::Shape | Role::Size);
        let inputs = alone || node.needs().all(|id| self.exact[id.index()]);
        let dtype = |id: Option<ValueId>| id.and_then(|id| self.facts[id.index()].dtype());
        let (from, to) = (node.inputs.first().copied(), node.outputs.first().copied());
        let widens = widens(self.standard, role, dtype(from.flatten()), dtype(to.flatten()));
        let exact = match operator::find(folder.model.operators(), node) {
            Some(_) => all_whole,
            None => is_exact(self.standard, node, all_whole) && !widens,
        };
        let exact = exact && inputs;
        let single = node.outputs.iter().flatten().count() == 1;
        for id in node.outputs.iter().copied().flatten() {
            self.exact[id.index()] = exact;
            // An output that must keep its name cannot be replaced if its node has others.
            let movable = single || !(self.fixed[id.index()] || self.output[id.index()]);
            if !exact || !movable || role == Role::Constant {
                continue;
            }
            let Fact::Tensor(fact) = &self.facts[id.index()] else { continue };
            let Some(tensor) = fact.tensor_within(folder.given.most_bytes) else { continue };
            let first = self.fact(node, 0).and_then(Fact::as_tensor).and_then(TensorFact::tensor);
            if is_settled(self.standard, node, &[first.as_ref()], &tensor) {
                self.reads[id.index()] = Read::Constant(tensor);
            }
        }
    }

    /// Marks what the outputs of the graph need.
    pub(super) fn need_outputs(&mut self, folder: &mut GraphFolder<'m>) {
        for &id in self.graph.outputs() {
            self.need(id);
        }
        self.need_rest(folder);
    }

    /// Forgets what is needed, and gives it back.
    pub(super) fn forget_needs(&mut self) -> Needs<'m> {
        let needed = std::mem::replace(&mut self.needed, vec![false; self.graph.values().len()]);
        let stays = std::mem::replace(&mut self.stays, vec![false; self.graph.nodes().len()]);
        Needs { needed, stays, children: std::mem::take(&mut self.children) }
    }

    /// Takes back what was needed before.
    pub(super) fn restore_needs(&mut self, needs: Needs<'m>) {
        (self.needed, self.stays, self.children) = (needs.needed, needs.stays, needs.children);
    }

    /// Marks a value as read.
    pub(super) fn need(&mut self, id: ValueId) {
        self.needed[id.index()] = true;
        let other = self.resolved(id);
        self.needed[other.index()] = true;
        if let Read::Extents(extents) = &self.reads[other.index()] {
            self.needed[extents.input.index()] = true;
        }
    }

    /// Marks what is needed by what is needed.
    pub(super) fn need_rest(&mut self, folder: &mut GraphFolder<'m>) {
        let graph = self.graph;
        for id in graph.ids().filter(|id| self.fixed[id.index()]).collect::<Vec<_>>() {
            self.need(id);
        }
        for &index in graph.order().iter().rev() {
            let node = &graph.nodes()[index];
            let own = |id: &ValueId| self.needed[id.index()] && self.reads[id.index()] == Read::Own;
            if !self.opaque[index] && !node.outputs.iter().flatten().any(own) {
                continue;
            }
            self.stays[index] = true;
            if let Some(branch) = inline::branch(self, node) {
                inline::need(self, folder, node, index, &branch);
                continue;
            }
            for (input, id) in node.inputs.iter().enumerate() {
                if let Some(id) = id
                    && !self.targets.contains_key(&(index, input))
                {
                    self.need(*id);
                }
            }
            if self.opaque[index] {
                node.needs().for_each(|id| self.need(id));
                continue;
            }
            for (number, inner) in node.graphs().enumerate() {
                let mut child = self.child(folder, inner, (index, number));
                child.need_outputs(folder);
                self.need_captures(&child);
                self.children.insert((index, number), child);
            }
        }
    }

    /// The scope of a subgraph, studied.
    pub(super) fn child(
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
            child.exact[capture.inner.index()] = self.exact[capture.outer.index()];
        }
        for id in inner.inputs() {
            child.exact[id.index()] = child.facts[id.index()].dtype().is_some_and(is_whole);
        }
        let node = &self.graph.nodes()[at.0];
        for (id, outer) in inline::passed(self.standard, node, inner) {
            child.exact[id.index()] |= self.exact[outer.index()];
        }
        child.study(folder);
        child
    }

    pub(super) fn need_captures(&mut self, child: &FoldState<'_>) {
        for capture in child.graph.captures() {
            if child.needed[capture.inner.index()] {
                self.need(capture.outer);
            }
        }
    }

    /// Constants that were read before, and are not any more.
    pub(super) fn dropped(&self) -> HashSet<Arc<str>> {
        let mut read = vec![false; self.graph.values().len()];
        self.graph.nodes().iter().flat_map(Node::needs).for_each(|id| read[id.index()] = true);
        let idle = |id: ValueId| {
            let plain = self.graph.value(id).origin == Origin::Constant;
            plain && read[id.index()] && !self.needed[id.index()] && !self.output[id.index()]
        };
        let idle = self.graph.constants().iter().map(|(id, _)| *id).filter(|&id| idle(id));
        idle.map(|id| self.graph.value(id).name.clone()).collect()
    }
}

/// The values and nodes of a graph that are needed.
pub(super) struct Needs<'m> {
    needed: Vec<bool>,
    stays: Vec<bool>,
    children: BTreeMap<(usize, usize), FoldState<'m>>,
}
