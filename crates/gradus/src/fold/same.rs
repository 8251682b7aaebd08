//! Values that are the same as others: by their elements, by what computes them, or because nothing changes them.

use std::collections::HashMap;

use gradus_core::DType;
use gradus_core::graph::{Content, Node, Origin, ValueId};

use super::Folder;
use super::scope::Scope;
use super::write::dims_of;
use crate::dim::Dim;
use crate::fact::{Dims, Elements, Fact, TensorFact};

/// What was seen of a graph's values so far.
#[derive(Default)]
pub(super) struct Seen {
    /// Tensors of whole numbers that are not all known, by type, extents and elements; of a progression, its first element and step.
    whole: HashMap<(DType, Dims, Dims, bool), ValueId>,
    /// The same elements in the same order: by the first value that had them, and extents.
    views: HashMap<(ValueId, Dims), ValueId>,
    /// By value: the first that had its elements in its order, if that is another.
    roots: HashMap<ValueId, ValueId>,
}

/// Notes a value, so that later ones are found to be the same.
pub(super) fn note(scope: &mut Scope<'_>, id: ValueId) {
    if let Some(key) = whole(&scope.facts[id.index()]) {
        scope.seen.whole.entry(key).or_insert(id);
    }
    let Origin::Node(index, _) = scope.graph.value(id).origin else { return };
    let node = &scope.graph.nodes()[index];
    if let (Some(root), Some(dims)) = (root(scope, node), dims_of(&scope.facts[id.index()])) {
        let dims = dims.clone();
        scope.seen.views.entry((root, dims)).or_insert(id);
        scope.seen.roots.insert(id, root);
    }
}

/// The value that an output of a node is the same as, which is defined before it.
pub(super) fn find(scope: &Scope<'_>, folder: &mut Folder<'_>, node: &Node, id: ValueId) -> Option<ValueId> {
    let fact = &scope.facts[id.index()];
    // An output keeps its node, unless a copy costs less.
    let output = scope.output[id.index()];
    let found = (!output).then(|| unchanged(scope, node, id).or_else(|| view(scope, node, fact))).flatten();
    let number = || whole(fact).and_then(|key| scope.seen.whole.get(&key).copied());
    let found = found.or_else(|| number().filter(|_| !output || &*node.operator.name != "Identity"))?;
    // An inner graph that has a value of the same name would read that.
    let name = &scope.graph.value(scope.resolved(found)).name;
    let hidden = scope.captured.contains(&id) && folder.is_shared(name);
    (!hidden).then_some(found)
}

/// What tells whole numbers that are not all known from others.
fn whole(fact: &Fact) -> Option<(DType, Dims, Dims, bool)> {
    let TensorFact { dtype: Some(dtype), dims: Some(dims), elements } = fact.as_tensor()? else {
        return None;
    };
    match elements {
        Elements::Integers(all) if all.iter().any(|dim| dim.known().is_none()) => {
            Some((*dtype, dims.clone(), all.clone(), false))
        }
        Elements::Progression(both) => {
            let both: Dims = [both.0, both.1].into();
            Some((*dtype, dims.clone(), both, true))
        }
        _ => None,
    }
}

/// The value whose elements, in their order, a node only gives another shape.
fn root(scope: &Scope<'_>, node: &Node) -> Option<ValueId> {
    let view = matches!(&*node.operator.name, "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze");
    let input = scope.resolved(node.inputs.first().copied().flatten()?);
    let own = view && node.operator.domain.is_empty();
    own.then(|| scope.seen.roots.get(&input).copied().unwrap_or(input))
}

fn view(scope: &Scope<'_>, node: &Node, fact: &Fact) -> Option<ValueId> {
    let (root, dims) = (root(scope, node)?, dims_of(fact)?);
    if dims_of(&scope.facts[root.index()]) == Some(dims) {
        return Some(root);
    }
    scope.seen.views.get(&(root, dims.clone())).copied()
}

/// The input that an output is, if the node changes nothing.
fn unchanged(scope: &Scope<'_>, node: &Node, id: ValueId) -> Option<ValueId> {
    if !node.operator.domain.is_empty() {
        return None;
    }
    let input = node.inputs.first().copied().flatten()?;
    let (from, to) = (scope.facts[input.index()].as_tensor(), scope.facts[id.index()].as_tensor());
    let (from, to) = match &*node.operator.name {
        "Identity" => return Some(input),
        _ => (from?, to?),
    };
    if from.dtype.is_none() || from.dtype != to.dtype {
        return None;
    }
    let alike = from.dims.is_some() && from.dims == to.dims;
    let known = |input: usize, wanted: i64| {
        let Some(fact) = scope.fact(node, input).and_then(Fact::as_tensor) else { return true };
        matches!(&fact.elements, Elements::Integers(all) if all.iter().all(|dim| *dim == Dim::Known(wanted)))
    };
    let nothing = match &*node.operator.name {
        "Cast" | "CastLike" => true,
        "Slice" if node.inputs.len() > 1 => alike && known(4, 1),
        "Expand" | "Slice" | "Tile" => alike,
        "Concat" | "Sum" => node.inputs.len() == 1,
        "Split" => node.outputs.len() == 1 && alike,
        "Pad" => node.inputs.len() > 1 && alike && known(1, 0),
        "Transpose" => match node.attribute("perm") {
            Some(Content::Ints(perm)) => perm.iter().zip(0..).all(|(&axis, i)| axis == i),
            _ => from.rank().is_some_and(|rank| rank < 2),
        },
        _ => false,
    };
    nothing.then_some(input)
}
