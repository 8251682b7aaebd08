//! The nodes and values of a graph that others depend on.

use std::collections::HashSet;

use super::{Graph, Origin, ValueId};

/// The nodes and values that some values need, if others are given.
#[derive(Clone, Debug)]
pub struct Needed {
    /// By node: true if it is needed.
    pub nodes: Vec<bool>,
    /// By value: true if it is needed.
    pub values: Vec<bool>,
}

impl Needed {
    /// The nodes and values that wanted values need where others are given.
    pub fn new(graph: &Graph, wanted: &[ValueId], given: &HashSet<ValueId>) -> Needed {
        let mut needed =
            Needed { nodes: vec![false; graph.nodes().len()], values: vec![false; graph.values().len()] };
        let mut open = wanted.to_vec();
        while let Some(id) = open.pop() {
            let is_new = !std::mem::replace(&mut needed.values[id.index()], true);
            if !is_new || given.contains(&id) {
                continue;
            }
            if let Origin::Node(node, _) = graph.value(id).origin
                && !std::mem::replace(&mut needed.nodes[node], true)
            {
                open.extend(graph.nodes()[node].needs());
            }
        }
        needed
    }
}
