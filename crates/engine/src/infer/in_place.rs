//! Values that take the room of an earlier one.

use foldhash::{HashMap, HashMapExt};
use gradus_core::DType;
use gradus_core::graph::{Content, Graph, Node, ValueId};

use super::rules::row_of_node;
use crate::constants::is_constant;
use crate::dim::Dim;
use crate::fact::Fact;
use crate::operators::Role;
use crate::source::Source;

/// The outputs that take the room of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// No output does.
    None,
    /// Outputs that have the bytes of the input, as those of Reshape and Identity.
    Views,
    /// Views, and outputs of elementwise operators that have the shape and the bytes for each
    /// element of an input that no later node needs.
    InPlace,
}

/// The rooms of the values of a graph's nodes.
pub struct Rooms {
    /// By the number of a value: the value whose room it takes, or itself.
    named: Vec<ValueId>,
    /// By the number of the value that a room is named by: the last step that needs the room.
    last: Vec<usize>,
}

impl Rooms {
    /// Gives each value its room, one node after another in the order of a run.
    pub fn new(model: &Source, graph: &Graph, facts: &[Fact], reuse: Reuse) -> Rooms {
        let mut last = vec![0; graph.values().len()];
        for (step, &index) in graph.order().iter().enumerate() {
            let node = &graph.nodes()[index];
            let needed = node.needs().chain(node.outputs.iter().copied().flatten());
            needed.for_each(|id| last[id.index()] = step);
        }
        graph.outputs().iter().for_each(|id| last[id.index()] = usize::MAX);
        let mut found = Rooms { named: graph.ids().collect(), last };
        for (step, &index) in graph.order().iter().enumerate() {
            let node = &graph.nodes()[index];
            let taken = found.taken(model, graph, node, facts, reuse, step);
            if let Some((&Some(output), room)) = node.outputs.first().zip(taken) {
                let until = found.last[output.index()];
                found.named[output.index()] = room;
                found.last[room.index()] = found.last[room.index()].max(until);
            }
        }
        found
    }

    /// The value whose room a value takes, or itself.
    pub fn of(&self, id: ValueId) -> ValueId {
        self.named[id.index()]
    }

    /// True if no later node needs the room of a value.
    pub fn ends(&self, id: ValueId, step: usize) -> bool {
        self.last[self.of(id).index()] <= step
    }

    /// The room that the first output of a node takes.
    fn taken(
        &self,
        model: &Source,
        graph: &Graph,
        node: &Node,
        facts: &[Fact],
        reuse: Reuse,
        step: usize,
    ) -> Option<ValueId> {
        if reuse == Reuse::None {
            return None;
        }
        let row = row_of_node(model, node)?;
        let is_made = |id: &ValueId| graph.value(*id).origin.is_node() && !is_constant(graph, *id);
        if matches!(row.role, Role::Copy | Role::Reshape | Role::View) {
            return node.inputs.first().copied().flatten().filter(is_made).map(|id| self.of(id));
        }
        // A batch normalization in training needs all elements for each.
        let trains = matches!(node.attribute("training_mode"), Some(Content::Int(1)));
        if reuse != Reuse::InPlace || !row.is_elementwise() || trains || node.outputs.len() > 1 {
            return None;
        }
        let output = layout(&facts[node.outputs.first().copied().flatten()?.index()])?;
        let inputs = || node.inputs.iter().copied().flatten();
        // The inputs by their room, and whether it has several.
        let mut rooms = HashMap::new();
        for id in inputs() {
            rooms.entry(self.of(id)).and_modify(|(of, shared)| *shared |= *of != id).or_insert((id, false));
        }
        let fits = |id: &ValueId| {
            // Another shape of the same bytes is read at other places than are written.
            let alone = rooms.get(&self.of(*id)).is_some_and(|(_, shared)| !shared);
            is_made(id) && alone && self.ends(*id, step) && layout(&facts[id.index()]) == Some(output)
        };
        inputs().find(fits).map(|id| self.of(id))
    }
}

/// Sizes, and bits of each element.
fn layout(fact: &Fact) -> Option<(&[Dim], usize)> {
    let fact = fact.as_tensor()?;
    Some((fact.dims.as_deref()?, fact.dtype.map(DType::bits).filter(|&bits| bits > 0)?))
}
