//! Where extents are asked for: of the inputs, once each, in place of the values that nodes made of them.

use std::collections::HashMap;

use gradus_core::DType;
use gradus_core::convert::i64_of;
use gradus_core::graph::{Node, Origin, ValueId};

use super::Folder;
use super::scope::{Read, Scope};
use super::write::dims_of;
use crate::dim::Dim;
use crate::fact::{Dims, Elements};

/// Some extents of an input.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Extents {
    pub(super) input: ValueId,
    /// Their axes.
    pub(super) axes: Vec<i64>,
    /// Whether it is one extent that is not in a list.
    pub(super) scalar: bool,
}

impl Extents {
    /// Whether these are all extents of the input in order.
    pub(super) fn is_whole(&self, rank: usize) -> bool {
        !self.scalar && self.axes.len() == rank && self.axes.iter().zip(0..).all(|(&axis, i)| axis == i)
    }
}

/// Lets values be extents of inputs, if fewer nodes ask for shapes then. To be called when what is needed is known.
pub(super) fn choose<'m>(scope: &mut Scope<'m>, folder: &mut Folder<'m>) {
    let before = asking(scope).count();
    if before < 2 {
        return;
    }
    let all = candidates(scope);
    if all.is_empty() {
        return;
    }
    let mut old = scope.reads.clone();
    for (id, extents) in all {
        scope.reads[id.index()] = Read::Extents(extents);
    }
    let found = scope.forget_needs();
    scope.need_outputs(folder);
    if asking(scope).count() + inputs(scope).len() >= before {
        std::mem::swap(&mut scope.reads, &mut old);
        scope.restore_needs(found);
    }
}

/// Nodes that stay and ask for a shape.
fn asking<'s>(scope: &'s Scope<'_>) -> impl Iterator<Item = &'s Node> {
    let stays = |(index, node): (usize, &'s Node)| (scope.stays[index] && asks(node)).then_some(node);
    scope.graph.nodes().iter().enumerate().filter_map(stays)
}

fn asks(node: &Node) -> bool {
    &*node.operator.name == "Shape" && node.operator.domain.is_empty()
}

/// The inputs whose extents are read, in order.
pub(super) fn inputs(scope: &Scope<'_>) -> Vec<ValueId> {
    let read = |id: &ValueId| {
        let of = |other: ValueId| {
            let read = &scope.reads[other.index()];
            scope.needed[other.index()] && matches!(read, Read::Extents(extents) if extents.input == *id)
        };
        scope.graph.ids().any(of)
    };
    let any = scope.reads.iter().any(|read| matches!(read, Read::Extents(_)));
    if any { scope.graph.inputs().iter().copied().filter(read).collect() } else { Vec::new() }
}

/// Needed values that are extents of one input each, and those extents.
fn candidates(scope: &Scope<'_>) -> Vec<(ValueId, Extents)> {
    let graph = scope.graph;
    let source = |id: &ValueId| {
        let fixed = graph.constant(*id).is_none();
        dims_of(&scope.facts[id.index()]).filter(|_| fixed).map(|dims| (*id, dims.clone()))
    };
    let inputs: Vec<(ValueId, Dims)> = graph.inputs().iter().filter_map(source).collect();
    let mut asked = Vec::new();
    for (index, node) in graph.nodes().iter().enumerate().filter(|(index, _)| scope.stays[*index]) {
        let [Some(id)] = *node.outputs else { continue };
        debug_assert!(scope.stays[index]);
        let plain =
            scope.reads[id.index()] == Read::Own && !scope.fixed[id.index()] && !scope.output[id.index()];
        if plain
            && (asks(node) || is_part(scope, node))
            && let Some(all) = extents(scope, id)
        {
            asked.push((id, all));
        }
    }
    // Of several inputs, the one that has most of what is asked for.
    let has = |dims: &Dims, all: &[Dim]| all.iter().all(|dim| dims.contains(dim));
    let mut ranked: Vec<_> = inputs
        .iter()
        .map(|(input, dims)| (asked.iter().filter(|(_, all)| has(dims, all)).count(), *input, dims))
        .collect();
    ranked.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
    let found = |(id, all): (ValueId, Dims)| {
        let (_, input, dims) = ranked.iter().find(|(_, _, dims)| has(dims, &all))?;
        let place = |dim: &Dim| dims.iter().position(|other| other == dim).map(i64_of);
        let axes = if all == **dims {
            (0..i64_of(all.len())).collect()
        } else {
            all.iter().map(place).collect::<Option<Vec<_>>>()?
        };
        let scalar = scope.facts[id.index()].as_tensor()?.rank() == Some(0);
        Some((id, Extents { input: *input, axes, scalar }))
    };
    asked.into_iter().filter_map(found).collect()
}

/// Whether a node takes something out of a shape that was asked for.
fn is_part(scope: &Scope<'_>, node: &Node) -> bool {
    if !matches!(&*node.operator.name, "Gather" | "Slice" | "Squeeze") || !node.operator.domain.is_empty() {
        return false;
    }
    let mut input = node.inputs.first().copied().flatten();
    for _ in 0..4 {
        let Some(id) = input.map(|id| scope.resolved(id)) else { return false };
        let Origin::Node(index, _) = scope.graph.value(id).origin else { return false };
        let node = &scope.graph.nodes()[index];
        if asks(node) {
            return true;
        }
        input = node.inputs.first().copied().flatten();
    }
    false
}

/// The elements of a list of extents, or of one, that are not all known.
fn extents(scope: &Scope<'_>, id: ValueId) -> Option<Dims> {
    let fact = scope.facts[id.index()].as_tensor()?;
    let Elements::Integers(all) = &fact.elements else { return None };
    let open = all.iter().any(|dim| dim.known().is_none());
    let fits = fact.dtype == Some(DType::I64) && fact.rank()? <= 1;
    (open && fits).then(|| all.clone())
}

/// The extents that needed values are, by value.
pub(super) fn needed<'s>(scope: &'s Scope<'_>) -> HashMap<ValueId, &'s Extents> {
    let read = |id: ValueId| match &scope.reads[id.index()] {
        Read::Extents(extents) if scope.needed[id.index()] => Some((id, extents)),
        _ => None,
    };
    scope.graph.ids().filter_map(read).collect()
}
