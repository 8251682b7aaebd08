//! Shapes and bounds that nodes want, as constants where only the data's own dimensions are open.
//!
//! Operators have ONNX's names; `dialect.rs` has those of other standards.
//!
//! | operator | input | element | means |
//! |---|---|---|---|
//! | Reshape | shape | 0 | the data's dimension at that axis |
//! | Reshape | shape | -1 | what is left |
//! | Expand | shape | 1 | the data's dimension at that axis |
//! | Slice | ends | the largest number | the end of the axis |
//! | Slice | starts, ends | below zero | counted from the end of the axis |

use gradus_core::convert::{counted, i64_of};
use gradus_core::graph::Node;
use gradus_core::{DType, Tensor};

use super::GraphFolder;
use super::dialect::{self, Role, SliceBounds, one_keeps, zero_is_zero};
use super::rules::{NodeView, Source};
use super::scope::FoldState;
use super::write::{dims_of, list};
use crate::dim::{Dim, Symbols};
use crate::fact::{Dims, Elements, Fact};
use crate::normalize::Form;

/// Finds constants that a node can read in place of what it reads.
pub(super) fn study(scope: &mut FoldState<'_>, folder: &mut GraphFolder<'_>, index: usize) {
    let node = &scope.graph.nodes()[index];
    match scope.nodes[index].role {
        Role::Reshape => {
            let target = reshape(scope, folder, node);
            put(scope, index, 1, target);
        }
        Role::Expand if one_keeps(scope.standard, node) => {
            let target = expand(scope, node);
            put(scope, index, 1, target);
        }
        Role::Slice => {
            let Some(places) = dialect::bounds(scope.standard, node) else { return };
            let form = Form::of_node(scope.standard, node);
            let place = |input: usize| form.index_of(input).unwrap_or(input);
            let places = SliceBounds {
                starts: place(places.starts),
                ends: place(places.ends),
                steps: place(places.steps),
                axes: places.axes.map(place),
            };
            for input in [places.starts, places.ends] {
                let target = bounds(scope, folder, node, &places, input);
                put(scope, index, input, target);
            }
        }
        _ => {}
    }
}

fn put(scope: &mut FoldState<'_>, node: usize, input: usize, target: Option<Tensor>) {
    if let Some(target) = target {
        scope.set_own_input(node, input, Source::Tensor(target));
    }
}

/// The elements of an input of integers that are not all known.
fn open(scope: &FoldState<'_>, node: &Node, input: usize) -> Option<(DType, Dims)> {
    let fact = scope.fact(node, input)?.as_tensor()?;
    match &fact.elements {
        Elements::Integers(all) if all.iter().any(|dim| dim.known().is_none()) => {
            Some((fact.dtype?, all.clone()))
        }
        _ => None,
    }
}

fn reshape(scope: &FoldState<'_>, folder: &mut GraphFolder<'_>, node: &Node) -> Option<Tensor> {
    let (dtype, _) = open(scope, node, 1)?;
    let data = dims_of(scope.fact(node, 0)?)?;
    let result = dims_of(&scope.values[node.outputs.first().copied().flatten()?.index()].fact)?;
    let target = reshape_target(&mut folder.symbols, data, result, zero_is_zero(scope.standard, node))?;
    list(dtype, &target)
}

/// The shape that a Reshape of `data` to `result` can be given as a constant.
pub(super) fn reshape_target(
    symbols: &mut Symbols,
    data: &Dims,
    result: &Dims,
    zero_is_zero: bool,
) -> Option<Vec<i64>> {
    let mut target = Vec::with_capacity(result.len());
    let mut left = false;
    for (axis, &dim) in result.iter().enumerate() {
        let element = match dim {
            Dim::Known(0) if !zero_is_zero => return None,
            Dim::Known(value) => value,
            _ if !zero_is_zero && data.get(axis) == Some(&dim) => 0,
            _ if left => return None,
            Dim::Symbolic(_) => {
                left = true;
                -1
            }
        };
        target.push(element);
    }
    // The quotient is unknown where another dimension is zero.
    let full = |(axis, &element): (usize, &i64)| match element {
        0 if zero_is_zero => false,
        0 => symbols.at_least(result[axis], 1),
        _ => true,
    };
    if left && !target.iter().enumerate().all(full) {
        return None;
    }
    Some(target)
}

/// Gives the output of a Reshape that was changed the dimension that -1 stands for, if that says
/// more than its own: another fold would find it.
pub(super) fn settle(scope: &mut FoldState<'_>, folder: &mut GraphFolder<'_>, index: usize) {
    let view = NodeView::new(scope, index);
    let is_changed = scope.replacement(index).is_some() || scope.own_input(index, 1).is_some();
    if !is_changed || view.operator() != "Reshape" {
        return;
    }
    let target = view.constant(1).and_then(|target| target.to_i64().ok());
    let open = target.and_then(|target| target.iter().position(|&element| element == -1));
    let (Some(axis), Some(data), Some(id)) = (open, view.dims(0).cloned(), view.output()) else { return };
    let Some(dims) = view.dims_of(id).cloned() else { return };
    let rest = [&dims[..axis], &dims[axis + 1..]].concat();
    let symbols = &mut folder.symbols;
    let Some((above, below)) = product(symbols, &data).zip(product(symbols, &rest)) else { return };
    let Some(quotient) = symbols.floor_divide(above, below) else { return };
    let is_exact = symbols.multiply(quotient, below) == Some(above);
    if is_exact
        && symbols.rank(quotient) < symbols.rank(dims[axis])
        && let Fact::Tensor(fact) = &mut scope.values[id.index()].fact
    {
        fact.dims = Some([&dims[..axis], &[quotient], &dims[axis + 1..]].concat().into());
    }
}

fn product(symbols: &mut Symbols, dims: &[Dim]) -> Option<Dim> {
    dims.iter().try_fold(Dim::ONE, |all, &dim| symbols.multiply(all, dim))
}

fn expand(scope: &FoldState<'_>, node: &Node) -> Option<Tensor> {
    let (dtype, wanted) = open(scope, node, 1)?;
    let data = dims_of(scope.fact(node, 0)?)?;
    let behind = wanted.len().checked_sub(data.len());
    let element = |(axis, &dim): (usize, &Dim)| match dim {
        Dim::Known(value) => Some(value),
        Dim::Symbolic(_) => (data.get(axis.checked_sub(behind?)?) == Some(&dim)).then_some(1),
    };
    list(dtype, &wanted.iter().enumerate().map(element).collect::<Option<Vec<_>>>()?)
}

fn bounds(
    scope: &FoldState<'_>,
    folder: &mut GraphFolder<'_>,
    node: &Node,
    places: &SliceBounds,
    input: usize,
) -> Option<Tensor> {
    let (dtype, wanted) = open(scope, node, input)?;
    let data = dims_of(scope.fact(node, 0)?)?.clone();
    let known = |input: usize| -> Option<Vec<i64>> {
        match scope.fact(node, input).and_then(Fact::as_tensor) {
            None if node.inputs.get(input).copied().flatten().is_some() => None,
            None => Some(Vec::new()),
            Some(fact) => match &fact.elements {
                Elements::Integers(all) => all.iter().map(|dim| dim.known()).collect(),
                _ => None,
            },
        }
    };
    let axes = places.axes.map_or(Some(Vec::new()), known)?;
    let steps = known(places.steps)?;
    let mut target = Vec::with_capacity(wanted.len());
    for (i, &dim) in wanted.iter().enumerate() {
        let axis = axes.get(i).copied().unwrap_or(i64_of(i));
        let size = *data.get(counted(axis, data.len())?)?;
        let forwards = steps.get(i).is_none_or(|&step| step > 0);
        target.push(bound(folder, dim, size, forwards && input == places.ends, dtype)?);
    }
    list(dtype, &target)
}

/// A bound of a slice, without the dimension of its axis.
fn bound(folder: &mut GraphFolder<'_>, dim: Dim, size: Dim, is_end: bool, dtype: DType) -> Option<i64> {
    if let Dim::Known(value) = dim {
        return Some(value);
    }
    if dim == size && is_end {
        return crate::fact::range_of(dtype).map(|(_, most)| most);
    }
    // Counted from the end, it is the same only where it is not clamped.
    let back = folder.symbols.subtract(dim, size)?.known()?;
    (back < 0 && folder.symbols.at_least(dim, 0)).then_some(back)
}
