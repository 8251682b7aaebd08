//! Counts of the readers of values, while nodes are replaced: a node that nothing reads reads
//! nothing.

use gradus_core::graph::{Origin, ValueId};
use smallvec::SmallVec;

use super::rules::NodeView;
use super::scope::{FoldState, Read};

/// The values that a node reads.
pub(super) type Reads = SmallVec<[ValueId; 4]>;

impl FoldState<'_> {
    /// Counts what the file reads, without the nodes that no output needs.
    pub(super) fn count_reads(&mut self) {
        let graph = self.graph;
        graph.outputs().iter().for_each(|id| self.reads[id.index()] += 1);
        for &index in graph.order().iter().rev() {
            if !self.is_idle(index) {
                graph.nodes()[index].needs().for_each(|id| self.reads[id.index()] += 1);
            }
        }
    }

    /// Returns true if one input of one node reads a value, and nothing else.
    pub(super) fn is_read_once(&self, id: ValueId) -> bool {
        let value = &self.values[id.index()];
        self.reads[id.index()] == 1 && !value.output && !value.fixed && !self.captured.contains(&id)
    }

    /// Returns true if nothing reads what a node computes.
    fn is_idle(&self, index: usize) -> bool {
        let idle = |id: &ValueId| {
            let value = &self.values[id.index()];
            value.read != Read::Own || (self.reads[id.index()] == 0 && !value.fixed)
        };
        !self.nodes[index].opaque && self.graph.nodes()[index].outputs.iter().flatten().all(idle)
    }

    /// The values that a node reads now, if anything reads the node.
    pub(super) fn live_reads(&self, index: usize) -> Reads {
        if self.is_idle(index) { Reads::new() } else { self.node_reads(index) }
    }

    fn node_reads(&self, index: usize) -> Reads {
        let view = NodeView::new(self, index);
        let captures = self.graph.nodes()[index].graphs().flat_map(|graph| graph.captures());
        view.reads().map(|(_, id)| id).chain(captures.map(|capture| self.resolved(capture.outer))).collect()
    }

    /// Counts anew what a node reads that was studied, and the readers of its outputs.
    pub(super) fn recount(&mut self, index: usize, before: Reads) {
        for id in self.graph.nodes()[index].outputs.iter().copied().flatten() {
            if let Read::Other(other) = self.values[id.index()].read {
                for _ in 0..std::mem::take(&mut self.reads[id.index()]) {
                    self.count([other].into_iter().collect(), true);
                }
            }
        }
        let after = self.live_reads(index);
        if before != after {
            self.count(after, true);
            self.count(before, false);
        }
    }

    /// Adds readers of values, or removes them; a node that is read again reads again.
    fn count(&mut self, mut open: Reads, add: bool) {
        while let Some(id) = open.pop() {
            let node = match self.graph.value(id).origin {
                Origin::Node(index, _) => Some((index, self.is_idle(index))),
                _ => None,
            };
            let reads = &mut self.reads[id.index()];
            *reads = if add { *reads + 1 } else { reads.saturating_sub(1) };
            if *reads == 1 && !add {
                self.changed.insert(id);
            }
            if let Some((index, idle)) = node.filter(|(index, idle)| self.is_idle(*index) != *idle) {
                debug_assert_eq!(idle, add, "a node becomes idle only as readers are removed");
                open.extend(self.node_reads(index));
            }
        }
    }
}
