//! Tensors of a model, and those that they became in its quantized form.

use std::collections::{BTreeSet, HashMap, HashSet};

use gradus_core::graph::{Graph, Node, Origin, Standard, ValueId};
use gradus_core::{DType, Result};

use super::TensorKind;
use crate::check::paired::{input_pairs, output_pairs};
use crate::model::Model;
use crate::operators::{Role, row_of};

/// A tensor of both models.
#[derive(Debug)]
pub(super) struct Pair {
    /// Its names in the first model, and in the second.
    pub(super) names: [String; 2],
    pub(super) kind: TensorKind,
    /// The slot of its codes in the second model, or of its numbers where it has no codes.
    pub(super) slot: usize,
    /// The type of the codes of a weight.
    pub(super) codes: Option<DType>,
}

/// The tensors that correspond.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    pub(super) pairs: Vec<Pair>,
}

impl Pairing {
    /// The tensors of a model that correspond to those of its quantized form.
    pub(super) fn of(first: &Model, second: &Model) -> Result<Pairing> {
        let both = Both { own: Side::of(first), other: Side::of(second) };
        let twins = both.twins()?;
        let mut pairing = Pairing::default();
        both.activations(&twins.values, &mut pairing.pairs);
        both.weights(&twins, &mut pairing.pairs);
        for pair in output_pairs(first.graph(), second.graph())? {
            for (own, other) in pair.first.names().zip(pair.second.names()) {
                let names = [own.to_owned(), other.to_owned()];
                pairing.pairs.push(Pair { names, kind: TensorKind::Output, slot: usize::MAX, codes: None });
            }
        }
        Ok(pairing)
    }

    /// The names of the first model, or of the second, each once.
    pub(super) fn names(&self, side: usize) -> Vec<&str> {
        let names: BTreeSet<_> = self.pairs.iter().map(|pair| &*pair.names[side]).collect();
        names.into_iter().collect()
    }
}

/// A model, and what is known of its graph.
struct Side<'a> {
    standard: Standard,
    graph: &'a Graph,
    /// Values that depend on inputs.
    open: HashSet<ValueId>,
}

impl<'a> Side<'a> {
    fn of(model: &'a Model) -> Side<'a> {
        let graph = model.graph();
        let is_given = |id: &ValueId| matches!(graph.value(*id).origin, Origin::Input);
        let mut open: HashSet<_> = graph.inputs().iter().copied().filter(is_given).collect();
        for &index in graph.order() {
            let node = &graph.nodes()[index];
            if node.needs().any(|id| open.contains(&id)) {
                open.extend(node.outputs.iter().flatten());
            }
        }
        Side { standard: model.source().standard, graph, open }
    }

    fn nodes(&self) -> impl Iterator<Item = &'a Node> {
        self.graph.order().iter().map(|&index| &self.graph.nodes()[index])
    }

    fn name(&self, id: ValueId) -> &'a str {
        &self.graph.value(id).name
    }

    fn role(&self, node: &Node) -> Role {
        row_of(self.standard, node).map_or(Role::Other, |row| row.role)
    }

    /// The node that computes a value.
    fn node_of(&self, id: ValueId) -> Option<&'a Node> {
        match self.graph.value(id).origin {
            Origin::Node(index, _) => Some(&self.graph.nodes()[index]),
            _ => None,
        }
    }

    /// The name by which nodes of all standards know the operator of a node.
    fn operator<'n>(&self, node: &'n Node) -> &'n str {
        row_of(self.standard, node).map_or(&node.operator.name, |row| row.known_as())
    }
}

struct Both<'a> {
    own: Side<'a>,
    other: Side<'a>,
}

/// Values and nodes that correspond.
#[derive(Default)]
struct Twins<'a> {
    values: HashMap<ValueId, ValueId>,
    /// Nodes of the first model, by the first result of those of the second.
    nodes: HashMap<ValueId, &'a Node>,
}

impl<'a> Both<'a> {
    /// The values and nodes of the first model that those of the second stand for.
    fn twins(&self) -> Result<Twins<'a>> {
        let names: HashMap<_, _> = self.own.graph.ids().map(|id| (self.own.name(id), id)).collect();
        let mut twins = Twins::default();
        for (name, pair) in input_pairs(self.own.graph, self.other.graph)? {
            let other = self.other.graph.inputs().iter().find(|&&id| self.other.name(id) == pair.name());
            twins.values.extend(other.copied().zip(names.get(&*name).copied()));
        }
        let mut readers: HashMap<ValueId, Vec<&Node>> = HashMap::new();
        for node in self.own.nodes() {
            node.inputs.iter().flatten().for_each(|id| readers.entry(*id).or_default().push(node));
        }
        for node in self.other.nodes() {
            let is_same = matches!(self.other.role(node), Role::Quantize | Role::Dequantize | Role::Copy);
            let source = node.inputs.first().copied().flatten().and_then(|id| twins.values.get(&id).copied());
            let source = source.filter(|_| is_same);
            let twin = if is_same { None } else { self.twin(node, &twins.values, &readers) };
            for (place, id) in node.outputs.iter().enumerate().filter_map(|(place, id)| Some((place, (*id)?)))
            {
                let named = names.get(self.other.name(id)).copied().filter(|id| self.own.open.contains(id));
                let of_twin = || twin.and_then(|twin| twin.outputs.get(place).copied().flatten());
                let found = named.or_else(|| source.filter(|_| place == 0)).or_else(of_twin);
                twins.values.extend(found.map(|found| (id, found)));
                let named = named.and_then(|id| self.own.node_of(id));
                twins.nodes.extend(twin.or(named).map(|twin| (id, twin)));
            }
        }
        Ok(twins)
    }

    /// The only node of the first model that computes the same of the values that correspond.
    fn twin(
        &self,
        node: &Node,
        known: &HashMap<ValueId, ValueId>,
        readers: &HashMap<ValueId, Vec<&'a Node>>,
    ) -> Option<&'a Node> {
        let first = node.inputs.iter().flatten().find_map(|id| known.get(id))?;
        let is_same = |own: &ValueId, other: &ValueId| match known.get(other) {
            Some(known) => known == own,
            None => !self.own.open.contains(own) && !self.other.open.contains(other),
        };
        let operator = self.other.operator(node);
        let is_alike = |own: &&&'a Node| {
            let mut inputs = own.inputs.iter().zip(&node.inputs);
            own.inputs.len() == node.inputs.len()
                && self.own.operator(own) == operator
                && inputs.all(|pair| match pair {
                    (Some(own), Some(other)) => is_same(own, other),
                    (None, None) => true,
                    _ => false,
                })
        };
        let mut alike = readers.get(first)?.iter().filter(is_alike);
        let found = alike.next()?;
        alike.all(|other| std::ptr::eq(*other, *found)).then_some(*found)
    }

    /// Pairs what is quantized and depends on inputs.
    fn activations(&self, known: &HashMap<ValueId, ValueId>, pairs: &mut Vec<Pair>) {
        let mut paired = HashSet::new();
        let order = |node: &&Node| self.other.role(node) == Role::Quantize;
        let (quantize, others): (Vec<_>, Vec<_>) = self.other.nodes().partition(order);
        for node in others.into_iter().chain(quantize) {
            let (input, result) =
                (node.inputs.first().copied().flatten(), node.outputs.first().copied().flatten());
            let (Some(input), Some(result)) = (input, result) else { continue };
            let (slot, after) = match self.other.role(node) {
                // The codes of one that chooses its scale are read as they are.
                Role::Quantize if node.outputs.len() > 1 => (result, input),
                Role::Quantize => (result, result),
                Role::Dequantize => (input, result),
                _ => continue,
            };
            let own = known.get(&result).filter(|id| self.own.open.contains(id));
            if let Some(&own) = own.filter(|_| self.other.open.contains(&result) && paired.insert(slot)) {
                let names = [self.own.name(own), self.other.name(after)].map(str::to_owned);
                pairs.push(Pair { names, kind: TensorKind::Activation, slot: slot.index(), codes: None });
            }
        }
    }

    /// Pairs the constants of nodes that both models have.
    fn weights(&self, twins: &Twins<'a>, pairs: &mut Vec<Pair>) {
        let mut seen = HashSet::new();
        for node in self.other.nodes() {
            let twin = node.outputs.iter().flatten().find_map(|id| twins.nodes.get(id));
            let operator = self.other.operator(node);
            let Some(twin) = twin.filter(|twin| self.own.operator(twin) == operator) else { continue };
            for (own, other) in twin.inputs.iter().zip(&node.inputs) {
                let (Some(own), Some(other)) = (*own, *other) else { continue };
                if self.own.open.contains(&own)
                    || self.other.open.contains(&other)
                    || !seen.insert((own, other))
                {
                    continue;
                }
                let names = [self.own.name(own), self.other.name(other)].map(str::to_owned);
                let codes = self.codes(other);
                pairs.push(Pair { names, kind: TensorKind::Weight, slot: other.index(), codes });
            }
        }
    }

    /// The type of the codes of a constant that is dequantized.
    fn codes(&self, id: ValueId) -> Option<DType> {
        let node = self.other.node_of(id).filter(|node| self.other.role(node) == Role::Dequantize)?;
        Some(self.other.graph.constant((*node.inputs.first()?)?)?.dtype())
    }
}
