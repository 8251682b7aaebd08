//! Views around operators of elements: `Reshape(f(Reshape(x)))` that returns to the shape of `x`.
//!
//! Operators of elements compute the same in every shape of as many elements. So those between
//! views from one shape and back to it read the values before the views, and their readers read
//! them. The operators between form a region, which may begin and end with several views.

use foldhash::{HashMap, HashSet};
use gradus_core::graph::{Standard, ValueId};

use super::GraphFolder;
use super::rules::{APPROXIMATED, NodeView, Pass, ROUNDED, Source, is_view};
use super::scope::{FoldState, Read};
use crate::dim::Dim;
use crate::fact::{Dims, Fact};

/// Most operators between views.
const MOST_NODES: usize = 64;

/// The operator set from which operands broadcast by their last axes.
const FIRST_VERSION: i64 = 7;

/// Other operators of elements that IEEE 754 rounds in one way.
const MORE_ROUNDED: [&str; 16] = [
    "Add",
    "And",
    "Cast",
    "Clip",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Min",
    "Mul",
    "Or",
    "Sub",
    "Where",
];

/// Other operators of elements that programs round otherwise.
const MORE_APPROXIMATED: [&str; 9] =
    ["Elu", "Gelu", "HardSigmoid", "LeakyRelu", "Mish", "Pow", "Selu", "Softplus", "Swish"];

/// The nodes that read each value, and the numbers of the inputs.
type Readers = HashMap<ValueId, Vec<(usize, usize)>>;

/// Operators of elements between views.
struct Region {
    /// The inputs that read a view of the shape around, and the value before the view.
    entries: Vec<(usize, usize, ValueId)>,
    /// The views that return to the shape around, and their inputs.
    exits: Vec<(ValueId, ValueId)>,
    /// The values that get the shape around.
    values: Vec<ValueId>,
    around: Dims,
}

/// Removes views around operators of elements of the main graph. To be called when it is known what
/// is needed. Returns true if values have other shapes.
pub(super) fn choose(scope: &mut FoldState<'_>, folder: &mut GraphFolder<'_>) -> bool {
    if !scope.rules.has(Pass::ReshapesAround) || scope.standard != Standard::Onnx {
        return false;
    }
    let mut readers = readers(scope);
    let mut held = held(scope);
    let mut changed = false;
    for &index in scope.graph.order() {
        let found = scope.nodes[index].stays.then(|| region(scope, &readers, &held, index)).flatten();
        let Some(region) = found else { continue };
        if region.exits.iter().all(|&(id, other)| scope.is_replaceable(folder, id, other)) {
            changed = true;
            held.extend(region.exits.iter().map(|(_, inner)| *inner));
            apply(scope, folder, &mut readers, region);
        }
    }
    changed
}

fn readers(scope: &FoldState<'_>) -> Readers {
    let mut readers = Readers::default();
    for &index in scope.graph.order().iter().filter(|&&index| scope.nodes[index].stays) {
        for (input, id) in NodeView::new(scope, index).reads() {
            readers.entry(id).or_default().push((index, input));
        }
    }
    readers
}

/// Values that must keep their shapes: others than nodes of the graph read them.
fn held(scope: &FoldState<'_>) -> HashSet<ValueId> {
    let ends = scope.graph.outputs().iter().chain(&scope.captured);
    let mut held: HashSet<_> = ends.map(|&id| scope.resolved(id)).collect();
    held.extend(scope.graph.ids().filter(|id| scope.values[id.index()].fixed));
    held
}

/// The region behind a view. Other readers of the view do not matter: the view stays for them.
fn region(scope: &FoldState<'_>, readers: &Readers, held: &HashSet<ValueId>, index: usize) -> Option<Region> {
    let first = NodeView::new(scope, index);
    let start = first.output().filter(|_| is_view(&first))?;
    let (around, within) = (first.dims(0)?, first.output_dims()?);
    // Integers are left to the rules about shapes.
    if around == within || !first.dtype_of(start)?.is_float() {
        return None;
    }
    let (mut nodes, mut exits) = (Vec::new(), Vec::new());
    let (mut values, mut seen) = (vec![start], HashSet::from_iter([start]));
    let mut next = 0;
    while let Some(&id) = values.get(next) {
        next += 1;
        let is_start = id == start;
        if !is_start && (held.contains(&id) || scope.values[id.index()].read != Read::Own) {
            return None;
        }
        for &(reader, input) in readers.get(&id)? {
            let view = NodeView::new(scope, reader);
            let (output, dims) = (view.output()?, view.output_dims());
            if is_view(&view) && input == 0 && dims == Some(around) && !is_start {
                exits.push((output, id));
            } else if dims == Some(within) && is_of_elements(scope, &view) {
                if seen.insert(output) {
                    values.push(output);
                    nodes.push(reader);
                }
            } else if !is_start {
                return None;
            }
        }
        if nodes.len() > MOST_NODES {
            return None;
        }
    }
    let outputs = exits.iter().filter(|(id, _)| scope.values[id.index()].output).count();
    if exits.is_empty() || outputs > 1 {
        return None;
    }
    let mut entries = Vec::new();
    for node in nodes {
        let view = NodeView::new(scope, node);
        for input in 0..view.input_count() {
            let operand = match view.input(input) {
                Source::Value(id) if seen.contains(&id) && id != start => continue,
                Source::Value(id) => view.dims_of(id)?.clone(),
                Source::Tensor(tensor) => tensor.shape().dims().iter().map(|&size| Dim::from(size)).collect(),
                Source::Missing => continue,
                Source::Transposed(..) => return None,
            };
            // Scalars too: one operand at least must have the shape around.
            let turns = |producer: &NodeView<'_, '_>| {
                is_view(producer)
                    && producer.dims(0) == Some(around)
                    && producer.output_dims() == Some(within)
            };
            match view.producer(input).filter(turns) {
                Some(producer) => entries.push((node, input, producer.value(0)?)),
                None if fits(&operand, around, within) => {}
                None => return None,
            }
        }
    }
    values.remove(0);
    Some(Region { entries, exits, values, around: around.clone() })
}

/// Returns true if a node computes each element of its output from those at its place.
fn is_of_elements(scope: &FoldState<'_>, view: &NodeView<'_, '_>) -> bool {
    let operator = view.operator();
    let is_rounded = ROUNDED.contains(&operator) || MORE_ROUNDED.contains(&operator);
    let is_approximated = APPROXIMATED.contains(&operator) || MORE_APPROXIMATED.contains(&operator);
    let applies = is_rounded || (is_approximated && scope.rules.has(Pass::ReshapesAroundFunctions));
    applies && view.version() >= FIRST_VERSION && view.node.outputs.len() == 1
}

/// Returns true if an operand meets the same elements in both shapes: all its axes but the last
/// have one element, and the last is one or that of both shapes.
fn fits(operand: &Dims, around: &Dims, within: &Dims) -> bool {
    let Some((last, others)) = operand.split_last() else { return true };
    let is_last =
        |shape: &Dims| shape.len() >= operand.len() && (*last == Dim::ONE || shape.last() == Some(last));
    others.iter().all(|&size| size == Dim::ONE) && is_last(around) && is_last(within)
}

fn apply(scope: &mut FoldState<'_>, folder: &mut GraphFolder<'_>, readers: &mut Readers, region: Region) {
    let Region { entries, exits, values, around } = region;
    for (node, input, before) in entries {
        match scope.replacements.get_mut(&node) {
            Some(replacement) => replacement.inputs[input] = Source::Value(before),
            None => {
                scope.inputs.insert((node, input), Source::Value(before));
            }
        }
        readers.entry(before).or_default().push((node, input));
    }
    for (id, inner) in exits {
        scope.replace(folder, id, inner);
        let moved = readers.remove(&id).unwrap_or_default();
        let of_inner = readers.entry(inner).or_default();
        of_inner.retain(|&(node, _)| scope.graph.nodes()[node].outputs.first() != Some(&Some(id)));
        of_inner.extend(moved);
    }
    for id in values {
        let value = &mut scope.values[id.index()];
        if let Fact::Tensor(fact) = &mut value.fact {
            fact.dims = Some(around.clone());
        }
        scope.reshaped.push(id);
    }
}
