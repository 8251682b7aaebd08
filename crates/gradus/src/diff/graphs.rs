//! Differences between two graphs and their subgraphs.

use std::collections::{BTreeMap, HashMap, HashSet};

use gradus_core::graph::{Content, Graph, Node, Type, ValueId};
use gradus_core::{Limits, Result};

use super::pairs::{Pairs, name};
use super::{Change, GraphDiff, content, joined};
use crate::constants::is_constant;

/// A comparison of graphs: how those that differ do, the outermost first.
#[derive(Debug)]
pub(super) struct GraphsDiff {
    /// True if the versions of operators count.
    pub(super) versions: bool,
    pub(super) limits: Limits,
    pub(super) found: Vec<GraphDiff>,
}

impl GraphsDiff {
    /// Compares two graphs and those in them.
    pub(super) fn compare(mut self, graphs: [&Graph; 2], path: &str) -> Result<Vec<GraphDiff>> {
        self.graph(graphs, path)?;
        self.found.retain(|graph| {
            let parts = [&graph.inputs, &graph.outputs, &graph.nodes, &graph.constants, &graph.types];
            parts.into_iter().any(|changes| !changes.is_empty())
        });
        Ok(self.found)
    }

    fn graph(&mut self, graphs: [&Graph; 2], path: &str) -> Result<()> {
        let place = self.found.len();
        self.found.push(GraphDiff {
            path: path.to_owned(),
            inputs: interface(graphs, Graph::inputs),
            outputs: interface(graphs, Graph::outputs),
            nodes: Vec::new(),
            constants: constants(graphs, &self.limits)?,
            types: types(graphs),
        });
        let pairs = Pairs::of(graphs);
        let label = |side: usize, index: usize| graphs[side].nodes()[index].label(index);
        let told = |side: usize, index: usize| said(graphs[side], &graphs[side].nodes()[index]);
        let mut nodes = Vec::new();
        nodes.extend(pairs.alone[0].iter().map(|&i| Change::new(label(0, i), Some(told(0, i)), None)));
        nodes.extend(pairs.alone[1].iter().map(|&i| Change::new(label(1, i), None, Some(told(1, i)))));
        for [before, after] in pairs.both {
            self.limits.check()?;
            let pair = [&graphs[0].nodes()[before], &graphs[1].nodes()[after]];
            let parts = self.node(graphs, pair)?;
            if !parts.is_empty() {
                let change = Change::new(label(1, after), Some(told(0, before)), Some(told(1, after)));
                nodes.push(Change { parts, ..change });
            }
            let slash = if path.is_empty() { "" } else { "/" };
            self.inner(pair, &format!("{path}{slash}{}", label(1, after)))?;
        }
        self.found[place].nodes = nodes;
        Ok(())
    }

    /// The differences between two nodes.
    fn node(&self, graphs: [&Graph; 2], [before, after]: [&Node; 2]) -> Result<Vec<Change>> {
        let mut parts = Vec::new();
        let mut part = |name: String, [before, after]: [String; 2]| {
            if before != after {
                let side = |text: String| (!text.is_empty()).then_some(text);
                parts.push(Change::new(name, side(before), side(after)));
            }
        };
        part("name".into(), [before, after].map(|node| node.name.to_string()));
        part("operator".into(), [before, after].map(|node| node.operator.to_string()));
        if self.versions {
            let version = |node: &Node| node.version.map_or_else(String::new, |version| version.to_string());
            part("operator version".into(), [before, after].map(version));
        }
        let slots =
            |node: &Node, inputs: bool| if inputs { node.inputs.clone() } else { node.outputs.clone() };
        for (what, inputs) in [("input", true), ("output", false)] {
            let slots = [before, after].map(|node| slots(node, inputs));
            for index in 0..slots[0].len().max(slots[1].len()) {
                let value =
                    |side: usize| name(graphs[side], slots[side].get(index).copied().flatten()).to_owned();
                part(format!("{what} {index}"), [value(0), value(1)]);
            }
        }
        parts.extend(content::attributes(&before.attributes, &after.attributes)?);
        Ok(parts)
    }

    /// Compares the graphs in two nodes.
    fn inner(&mut self, [before, after]: [&Node; 2], label: &str) -> Result<()> {
        // Nodes may have many attributes.
        let others: HashMap<_, _> =
            after.attributes.iter().rev().map(|attribute| (&attribute.name, &attribute.content)).collect();
        for attribute in &before.attributes {
            match (&attribute.content, others.get(&attribute.name)) {
                (Content::Graph(a), Some(Content::Graph(b))) => {
                    self.graph([a, b], &format!("{label}.{}", attribute.name))?;
                }
                (Content::Graphs(a), Some(Content::Graphs(b))) if a.len() == b.len() => {
                    for (index, (a, b)) in a.iter().zip(b).enumerate() {
                        self.graph([a, b], &format!("{label}.{}[{index}]", attribute.name))?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// How large a graph is, in words.
pub(super) fn sizes(graph: &Graph) -> String {
    let constants = graph.ids().filter(|&id| is_constant(graph, id)).count();
    let nodes = graph.nodes().len();
    format!("a graph, nodes: {nodes}, constants: {constants}")
}

/// A node as a call: `Add(x, y) -> z`.
fn said(graph: &Graph, node: &Node) -> String {
    let names =
        |ids: &[Option<ValueId>]| ids.iter().map(|&id| name(graph, id)).collect::<Vec<_>>().join(", ");
    format!("{}({}) -> {}", node.operator, names(&node.inputs), names(&node.outputs))
}

/// The type of a value: declared, or that of the constant that it is.
fn declared(graph: &Graph, id: ValueId) -> Option<Type> {
    let constant = || graph.constant(id).map(|constant| Type::tensor(constant.dtype(), constant.shape()));
    graph.value(id).declared.clone().or_else(constant)
}

/// Inputs, or outputs, that are in one graph only, of another type, or in another order.
fn interface(graphs: [&Graph; 2], side: impl Fn(&Graph) -> &[ValueId]) -> Vec<Change> {
    let said = |graph: &Graph, id| declared(graph, id).map_or_else(|| "?".to_owned(), |of| of.to_string());
    let named = graphs.map(|graph| {
        let ids = side(graph).iter();
        ids.map(|&id| (&*graph.value(id).name, said(graph, id))).collect::<BTreeMap<_, _>>()
    });
    let orders: [Vec<_>; 2] = [0, 1].map(|i| {
        let names = side(graphs[i]).iter().map(|&id| &*graphs[i].value(id).name);
        names.filter(|name| named[1 - i].contains_key(name)).collect()
    });
    let differing = joined(named).into_iter().filter(|(_, [before, after])| before != after);
    let mut changes: Vec<_> =
        differing.map(|(name, [before, after])| Change::new(name, before, after)).collect();
    if orders[0] != orders[1] {
        let [before, after] = orders.map(|names| Some(names.join(", ")));
        changes.push(Change::new("order", before, after));
    }
    changes
}

/// Constants that are in one graph only, or differ.
fn constants(graphs: [&Graph; 2], limits: &Limits) -> Result<Vec<Change>> {
    let named = graphs.map(|graph| {
        let constants = graph.constants().iter();
        constants.map(|(id, constant)| (&*graph.value(*id).name, constant)).collect::<BTreeMap<_, _>>()
    });
    let mut changes = Vec::new();
    for (name, [before, after]) in joined(named) {
        limits.check()?;
        if let (Some(before), Some(after)) = (before, after) {
            changes.extend(content::constants(name, before, after)?);
        } else {
            let said = |side: Option<_>| side.map(content::described).transpose();
            changes.push(Change::new(name, said(before)?, said(after)?));
        }
    }
    Ok(changes)
}

/// Declared types of values that both graphs have, but not as inputs or outputs.
fn types([before, after]: [&Graph; 2]) -> Vec<Change> {
    let interface: HashSet<_> = [before.inputs(), before.outputs()].concat().into_iter().collect();
    let named: HashMap<_, _> = after.ids().map(|id| (&*after.value(id).name, id)).collect();
    let mut changes = Vec::new();
    for id in before.ids().filter(|id| !interface.contains(id)) {
        let name = &*before.value(id).name;
        let Some(&other) = named.get(name) else { continue };
        let both_constant = before.constant(id).is_some() && after.constant(other).is_some();
        let types = [declared(before, id), declared(after, other)];
        if types[0] != types[1] && !both_constant {
            let [before, after] = types.map(|of| of.map(|of| of.to_string()));
            changes.push(Change::new(name, before, after));
        }
    }
    changes
}
