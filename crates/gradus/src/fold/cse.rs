//! Values that are the same as others: by their elements, by what computes them, or because nothing
//! changes them.

use foldhash::HashMap;
use gradus_core::DType;
use gradus_core::graph::{Content, Origin, Standard, ValueId};

use super::GraphFolder;
use super::dialect::{Role, bounds};
use super::scope::FoldState;
use super::write::dims_of;
use crate::dim::Dim;
use crate::fact::{Dims, Elements, Fact, TensorFact};

/// The values of a graph that were visited so far.
#[derive(Default)]
pub(super) struct Seen {
    /// Tensors of integers that are not all known, by type, dimensions and elements; of a
    /// progression, its first element and step.
    whole: HashMap<(DType, Dims, Dims, bool), ValueId>,
    /// The same elements in the same order: by the first value that had them, and dimensions.
    views: HashMap<(ValueId, Dims), ValueId>,
    /// By value: the first that had its elements in its order, if that is another.
    roots: HashMap<ValueId, ValueId>,
}

/// Notes a value, so that later ones are found to be the same.
pub(super) fn note(scope: &mut FoldState<'_>, id: ValueId) {
    if let Some(key) = whole(&scope.values[id.index()].fact) {
        scope.seen.whole.entry(key).or_insert(id);
    }
    let Origin::Node(index, _) = scope.graph.value(id).origin else { return };
    if let (Some(root), Some(dims)) = (root(scope, index), dims_of(&scope.values[id.index()].fact)) {
        let dims = dims.clone();
        scope.seen.views.entry((root, dims)).or_insert(id);
        scope.seen.roots.insert(id, root);
    }
}

/// The value that an output of a node is the same as, which is defined before it.
pub(super) fn find(
    scope: &FoldState<'_>,
    folder: &mut GraphFolder<'_>,
    index: usize,
    id: ValueId,
) -> Option<ValueId> {
    let fact = &scope.values[id.index()].fact;
    // An output keeps its node, unless a copy costs less; OpenVINO has none.
    let output = scope.values[id.index()].output;
    let found = (!output).then(|| unchanged(scope, index, id).or_else(|| view(scope, index, fact))).flatten();
    let number = || whole(fact).and_then(|key| scope.seen.whole.get(&key).copied());
    let copied = scope.standard != Standard::OpenVino && scope.nodes[index].role != Role::Copy;
    let found = found.or_else(|| number().filter(|_| !output || copied))?;
    // A subgraph that has a value of the same name would read that.
    let name = &scope.graph.value(scope.resolved(found)).name;
    let hidden = scope.captured.contains(&id) && folder.is_shared(name);
    (!hidden).then_some(found)
}

/// CSE key of an integer tensor with symbolic elements.
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
fn root(scope: &FoldState<'_>, index: usize) -> Option<ValueId> {
    let view = matches!(scope.nodes[index].role, Role::Reshape | Role::View);
    let input = scope.resolved(scope.graph.nodes()[index].inputs.first().copied().flatten()?);
    view.then(|| scope.seen.roots.get(&input).copied().unwrap_or(input))
}

fn view(scope: &FoldState<'_>, index: usize, fact: &Fact) -> Option<ValueId> {
    let (root, dims) = (root(scope, index)?, dims_of(fact)?);
    if dims_of(&scope.values[root.index()].fact) == Some(dims) {
        return Some(root);
    }
    scope.seen.views.get(&(root, dims.clone())).copied()
}

/// The input that an output is, if the node changes nothing.
fn unchanged(scope: &FoldState<'_>, index: usize, id: ValueId) -> Option<ValueId> {
    let (node, role) = (&scope.graph.nodes()[index], scope.nodes[index].role);
    let input = node.inputs.first().copied().flatten()?;
    let (from, to) =
        (scope.values[input.index()].fact.as_tensor(), scope.values[id.index()].fact.as_tensor());
    if role == Role::Copy {
        return Some(input);
    }
    let (from, to) = (from?, to?);
    if from.dtype.is_none() || from.dtype != to.dtype {
        return None;
    }
    let alike = from.dims.is_some() && from.dims == to.dims;
    let known = |input: usize, wanted: i64| {
        let Some(fact) = scope.fact(node, input).and_then(Fact::as_tensor) else { return true };
        matches!(&fact.elements, Elements::Integers(all) if all.iter().all(|dim| *dim == Dim::Known(wanted)))
    };
    let in_order = |order: &[i64]| order.iter().zip(0..).all(|(&axis, i)| axis == i);
    let nothing = match role {
        Role::Cast => true,
        Role::Slice if node.inputs.len() > 1 => {
            alike && bounds(scope.standard, node).is_some_and(|bounds| known(bounds.steps, 1))
        }
        Role::Expand | Role::Slice | Role::Tile => alike,
        Role::Join => node.inputs.len() == 1,
        Role::Split => node.outputs.len() == 1 && alike,
        Role::Pad => node.inputs.len() > 1 && alike && known(1, 0),
        Role::Transpose => match (node.attribute("perm"), scope.fact(node, 1)) {
            (Some(Content::Ints(perm)), _) => in_order(perm),
            (None, Some(order)) => {
                let order = order.as_tensor().and_then(TensorFact::tensor)?.to_i64().ok()?;
                in_order(&order) && (!order.is_empty() || from.rank().is_some_and(|rank| rank < 2))
            }
            _ => from.rank().is_some_and(|rank| rank < 2),
        },
        _ => false,
    };
    nothing.then_some(input)
}
