//! Pairs of equal nodes of two graphs.

use std::collections::HashMap;
use std::hash::Hash;

use gradus_core::graph::{Graph, Node, ValueId};
use gradus_core::sort::SharedSort;

/// The nodes of two graphs: those that are paired, and those of each that are not, by index.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) both: Vec<[usize; 2]>,
    pub(super) alone: [Vec<usize>; 2],
}

impl Pairs {
    /// Pairs nodes by the most telling of what they have in common.
    ///
    /// A value is defined once, so what a node defines tells most, if the operator is the same too;
    /// a name tells less, because exporters repeat them; an operator that replaces another keeps
    /// what it defines. A node that defines nothing is known by what it reads.
    pub(super) fn of(graphs: [&Graph; 2]) -> Pairs {
        let alone = graphs.map(|graph| (0..graph.nodes().len()).collect());
        let mut pairs = Pairs { both: Vec::new(), alone };
        pairs.by(graphs, |graph, node| defined(graph, node).map(|name| (&node.operator, name)));
        pairs.by(graphs, |_, node| named(node).map(|name| (&node.operator, name)));
        pairs.by(graphs, defined);
        pairs.by(graphs, |_, node| named(node));
        pairs.by(graphs, |graph, node| {
            defined(graph, node).is_none().then(|| {
                let inputs = node.inputs.iter().map(|&id| name(graph, id));
                (&node.operator, inputs.collect::<Vec<_>>())
            })
        });
        pairs.both.shared_sort();
        pairs
    }

    /// Pairs those that are left by a key, in their order where several have the same.
    fn by<'g, K: Eq + Hash>(
        &mut self,
        [before, after]: [&'g Graph; 2],
        key: impl Fn(&'g Graph, &'g Node) -> Option<K>,
    ) {
        if self.alone.iter().any(Vec::is_empty) {
            return;
        }
        let mut keyed: HashMap<K, Vec<usize>> = HashMap::new();
        for &index in self.alone[1].iter().rev() {
            if let Some(key) = key(after, &after.nodes()[index]) {
                keyed.entry(key).or_default().push(index);
            }
        }
        let mut taken = vec![false; after.nodes().len()];
        let both = &mut self.both;
        self.alone[0].retain(|&index| {
            let candidates = key(before, &before.nodes()[index]).and_then(|key| keyed.get_mut(&key));
            let Some(other) = candidates.and_then(Vec::pop) else { return true };
            taken[other] = true;
            both.push([index, other]);
            false
        });
        self.alone[1].retain(|&index| !taken[index]);
    }
}

fn defined<'g>(graph: &'g Graph, node: &Node) -> Option<&'g str> {
    node.outputs.iter().flatten().next().map(|&id| &*graph.value(id).name)
}

fn named(node: &Node) -> Option<&str> {
    (!node.name.is_empty()).then_some(&*node.name)
}

/// The name of a value; nothing for a missing one.
pub(super) fn name(graph: &Graph, id: Option<ValueId>) -> &str {
    id.map_or("", |id| &*graph.value(id).name)
}

#[cfg(test)]
mod tests {
    use gradus_core::graph::{Builder, Origin};

    use super::*;

    fn graph(nodes: &[(&str, &str, &[&str])]) -> Graph {
        let mut builder = Builder::new("g");
        builder.define("x", Origin::Input).unwrap();
        for (name, operator, outputs) in nodes {
            builder.apply(name, operator, 1, &["x"], outputs, vec![]).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn what_a_node_defines_tells_more_than_its_name() {
        let before =
            graph(&[("a", "Relu", &["y"]), ("b", "Shape", &["s"]), ("", "Print", &[]), ("c", "Abs", &["z"])]);
        let after = graph(&[
            ("", "Print", &[]),
            ("b", "Relu", &["y"]),
            ("a", "Shape", &["s2"]),
            ("d", "Identity", &["s"]),
            ("e", "Neg", &["w"]),
        ]);
        let pairs = Pairs::of([&before, &after]);
        assert_eq!(pairs.both, [[0, 1], [1, 3], [2, 0]]);
        assert_eq!(pairs.alone, [vec![3], vec![2, 4]]);
    }

    #[test]
    fn nodes_that_look_alike_are_paired_in_their_order() {
        let twice = graph(&[("a", "Print", &[]), ("a", "Print", &[])]);
        assert_eq!(Pairs::of([&twice, &twice]).both, [[0, 0], [1, 1]]);
    }
}
