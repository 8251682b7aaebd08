//! Sizes read from the shapes of the inputs, once each, in place of the values that nodes made of
//! them.

use foldhash::HashSet;
use gradus_core::DType;
use gradus_core::convert::i64_of;
use gradus_core::graph::ValueId;
use gradus_core::sort::SharedSort;

use super::GraphFolder;
use super::dialect::{Role, sizes_are};
use super::rules::{NodeView, Pass};
use super::scope::{FoldState, Read};
use super::write::dims_of;
use crate::dim::Dim;
use crate::fact::{Dims, Elements};

/// Some dimensions of an input, and numbers between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InputSizes {
    pub(super) input: ValueId,
    pub(super) dtype: DType,
    pub(super) parts: Vec<InputPart>,
    /// True if it is one dimension that is not in a list.
    pub(super) scalar: bool,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum InputPart {
    /// The dimensions at these axes.
    Axes(Vec<i64>),
    /// Known sizes.
    Known(Vec<i64>),
}

impl InputSizes {
    /// Returns true if these are all dimensions of the input in order.
    pub(super) fn is_whole(&self, rank: usize) -> bool {
        let whole = |axes: &[i64]| axes.len() == rank && axes.iter().zip(0..).all(|(&axis, i)| axis == i);
        !self.scalar && matches!(&self.parts[..], [InputPart::Axes(axes)] if whole(axes))
    }
}

/// Lets values be dimensions of inputs, if fewer nodes ask for shapes then, and no more nodes are
/// needed. To be called when what is needed is known.
pub(super) fn choose<'m>(scope: &mut FoldState<'m>, folder: &mut GraphFolder<'m>) {
    let before = asking(scope);
    if before < 2 || !scope.rules.has(Pass::InputShapes) {
        return;
    }
    let all = candidates(scope);
    if all.is_empty() {
        return;
    }
    let nodes = staying(scope);
    let old: Vec<_> = scope.values.iter().map(|value| value.read.clone()).collect();
    for (id, sizes) in all {
        scope.values[id.index()].read = Read::InputSizes(sizes);
    }
    let found = scope.forget_needs();
    scope.need_outputs(folder);
    if asking(scope) + asked(scope).len() >= before || staying(scope) + made(scope) > nodes {
        scope.values.iter_mut().zip(old).for_each(|(value, read)| value.read = read);
        scope.restore_needs(found);
    }
}

/// Number of nodes that are kept.
fn staying(scope: &FoldState<'_>) -> usize {
    scope.nodes.iter().filter(|node| node.stays).count()
}

/// Number of nodes that take sizes out of the shapes of inputs, and ask for these; lists that are
/// taken already are not taken again.
fn made(scope: &FoldState<'_>) -> usize {
    let needed = needed(scope);
    let (alone, mixed): (Vec<_>, Vec<_>) = needed.iter().partition(|(_, sizes)| sizes.parts.len() == 1);
    let rank =
        |sizes: &InputSizes| dims_of(&scope.values[sizes.input.index()].fact).map_or(0, |dims| dims.len());
    let single = alone.iter().filter(|(_, sizes)| !sizes.is_whole(rank(sizes))).count();
    let parts = |sizes: &'_ InputSizes| {
        let axes = sizes.parts.iter().filter(|part| matches!(part, InputPart::Axes(_)));
        axes.map(|part| (sizes.input, sizes.dtype, part.clone())).collect::<Vec<_>>()
    };
    let taken: HashSet<_> = alone.iter().flat_map(|(_, sizes)| parts(sizes)).collect();
    let new: HashSet<_> = mixed.iter().flat_map(|(_, sizes)| parts(sizes)).collect();
    asked(scope).len() + single + mixed.len() + new.difference(&taken).count()
}

/// Number of nodes that are kept and ask for a shape.
fn asking(scope: &FoldState<'_>) -> usize {
    scope.nodes.iter().filter(|node| node.stays && node.role == Role::Shape).count()
}

/// Needed values that are dimensions of one input each, and those dimensions. In place of nodes
/// that ask for a shape, there may be numbers between the dimensions.
fn candidates(scope: &FoldState<'_>) -> Vec<(ValueId, InputSizes)> {
    let graph = scope.graph;
    let source = |id: &ValueId| {
        let fixed = graph.constant(*id).is_none();
        dims_of(&scope.values[id.index()].fact).filter(|_| fixed).map(|dims| (*id, dims.clone()))
    };
    let inputs: Vec<(ValueId, Dims)> = graph.inputs().iter().filter_map(source).collect();
    let mut wanted = Vec::new();
    for (node, state) in graph.nodes().iter().zip(&scope.nodes).filter(|(_, state)| state.stays) {
        let [Some(id)] = *node.outputs else { continue };
        let value = &scope.values[id.index()];
        let free = !value.fixed && !value.output && !scope.renamed.contains_key(&id);
        if scope.values[id.index()].read == Read::Own
            && free
            && let Some(all) = sizes(scope, id)
        {
            wanted.push((id, all, state.role == Role::Shape));
        }
    }
    // For several inputs, the one that has most of what is wanted.
    let has = |dims: &Dims, all: &[Dim], mixed: bool| {
        all.iter().all(|dim| (mixed && dim.known().is_some()) || dims.contains(dim))
    };
    let mut ranked: Vec<_> = inputs
        .iter()
        .map(|(input, dims)| {
            (wanted.iter().filter(|(_, all, mixed)| has(dims, all, *mixed)).count(), *input, dims)
        })
        .collect();
    ranked.shared_sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
    let found = |(id, all, mixed): (ValueId, Dims, bool)| {
        let (_, input, dims) = ranked.iter().find(|(_, _, dims)| has(dims, &all, mixed))?;
        let fact = scope.values[id.index()].fact.as_tensor()?;
        let scalar = fact.rank() == Some(0);
        Some((id, InputSizes { input: *input, dtype: fact.dtype?, parts: parts(dims, &all), scalar }))
    };
    wanted.into_iter().filter_map(found).collect()
}

/// A list as dimensions, where they are among these, and numbers.
fn parts(dims: &Dims, all: &Dims) -> Vec<InputPart> {
    if dims == all {
        return vec![InputPart::Axes((0..i64_of(all.len())).collect())];
    }
    let open = |dim: &Dim| dim.known().is_none();
    let known = all.iter().any(|dim| !open(dim) && !dims.contains(dim));
    let mut parts: Vec<InputPart> = Vec::new();
    for dim in all.iter() {
        let axis = dims.iter().position(|other| other == dim).map(i64_of).filter(|_| open(dim) || !known);
        match (parts.last_mut(), axis, dim.known()) {
            (Some(InputPart::Axes(axes)), Some(axis), _) => axes.push(axis),
            (Some(InputPart::Known(numbers)), None, Some(number)) => numbers.push(number),
            (_, Some(axis), _) => parts.push(InputPart::Axes(vec![axis])),
            (_, None, number) => parts.push(InputPart::Known(vec![number.unwrap_or_default()])),
        }
    }
    parts
}

/// The elements of a list of dimensions, or of one, that are not all known.
fn sizes(scope: &FoldState<'_>, id: ValueId) -> Option<Dims> {
    let fact = scope.values[id.index()].fact.as_tensor()?;
    let Elements::Integers(all) = &fact.elements else { return None };
    let open = all.iter().any(|dim| dim.known().is_none());
    let fits = sizes_are(scope.standard, fact.dtype?) && fact.rank()? <= 1;
    (open && fits).then(|| all.clone())
}

/// Needed values that are dimensions, in order.
pub(super) fn needed<'s>(scope: &'s FoldState<'_>) -> Vec<(ValueId, &'s InputSizes)> {
    let read = |id: ValueId| match &scope.values[id.index()].read {
        Read::InputSizes(sizes) if scope.values[id.index()].needed => Some((id, sizes)),
        _ => None,
    };
    scope.graph.ids().filter_map(read).collect()
}

/// Lists of several parts that only a Concat reads, once, so that it may read the parts.
pub(super) fn joined(scope: &FoldState<'_>) -> HashSet<ValueId> {
    let is_mixed = |id: &ValueId| match &scope.values[id.index()].read {
        Read::InputSizes(sizes) => sizes.parts.len() > 1 && !scope.captured.contains(id),
        _ => false,
    };
    let (mut seen, mut joined) = (HashSet::default(), HashSet::default());
    for index in (0..scope.nodes.len()).filter(|&index| scope.nodes[index].stays) {
        let view = NodeView::new(scope, index);
        for id in view.reads().map(|(_, id)| id).filter(is_mixed) {
            if seen.insert(id) && view.operator() == "Concat" {
                joined.insert(id);
            } else {
                joined.remove(&id);
            }
        }
    }
    joined
}

/// The inputs that needed values are dimensions of, in order, and the types of these.
pub(super) fn asked(scope: &FoldState<'_>) -> Vec<(ValueId, DType)> {
    let read: HashSet<_> = needed(scope).iter().map(|(_, sizes)| (sizes.input, sizes.dtype)).collect();
    let all = scope.graph.inputs().iter().flat_map(|&input| [DType::I64, DType::I32].map(|of| (input, of)));
    all.filter(|asked| read.contains(asked)).collect()
}
