//! Views and Transposes around operators of elements: `Reshape(f(Reshape(x)))` that returns to the
//! shape of `x`, and `Transpose(f(Transpose(x)))` that returns to its order of axes.
//!
//! Operators of elements compute the same in every shape of as many elements, and in every order of
//! axes. So those between views from one shape and back to it read the values before the views, and
//! their readers read them. The operators between form a region, which may begin and end with
//! several views, or with several Transposes of one order.
//!
//! Programs may round a function differently at the end of a vector. Views leave each element at
//! its place in memory, so only Transposes around such functions may change the last bits.

use foldhash::{HashMap, HashSet};
use gradus_core::convert::{counted, i64_of};
use gradus_core::graph::{Content, Standard, ValueId};
use gradus_core::sort::SharedSort;

use gradus_core::{Shape, Tensor};

use super::GraphFolder;
use super::rules::{
    NodeView, Pass, Reduction, Replacement, Source, bounds, is_approximated, is_rounded_alike, is_view, order,
};
use super::scope::{FoldState, Read};
use crate::dim::Dim;
use crate::fact::{Dims, Fact};
use crate::operators::{self, Row};

/// Maximum number of operators between views.
const MAX_NODES: usize = 64;

/// The nodes that read each value, and the numbers of the inputs.
type Readers = HashMap<ValueId, Vec<(usize, usize)>>;

/// Nodes at the begin or the end of a region.
enum Turn {
    /// Views: the shape changes, and the order of the elements does not.
    View,
    /// Transposes by this order.
    Order(Vec<i64>),
}

impl Turn {
    fn of(node: &NodeView<'_, '_>) -> Option<Turn> {
        if is_view(node) { Some(Turn::View) } else { order(node).map(Turn::Order) }
    }

    /// The pass that removes such nodes.
    fn pass(&self) -> Pass {
        match self {
            Turn::View => Pass::ReshapesAround,
            Turn::Order(_) => Pass::TransposesAroundRegions,
        }
    }

    /// The pass that removes them around functions that programs round differently.
    fn pass_of_functions(&self) -> Pass {
        match self {
            Turn::View => Pass::ReshapesAroundFunctions,
            Turn::Order(_) => Pass::TransposesAroundFunctionRegions,
        }
    }

    /// Returns true if a node does the same to a value of its shape.
    fn is(&self, node: &NodeView<'_, '_>) -> bool {
        match self {
            Turn::View => is_view(node),
            Turn::Order(axes) => order(node).as_ref() == Some(axes),
        }
    }

    /// The nodes that undo it.
    fn back(&self) -> Option<Turn> {
        let Turn::Order(axes) = self else { return Some(Turn::View) };
        let at = |axis: i64| axes.iter().zip(0..).find(|(other, _)| **other == axis).map(|(_, at)| at);
        (0..).take(axes.len()).map(at).collect::<Option<_>>().map(Turn::Order)
    }

    /// An operand that meets the same elements in the shape around as a constant does within.
    fn constant(&self, tensor: &Tensor) -> Option<Tensor> {
        let Turn::Order(axes) = self else { return None };
        let dims = tensor.shape().dims();
        let missing = axes.len().checked_sub(dims.len())?;
        // The elements keep their order.
        if dims.iter().filter(|&&size| size != 1).count() > 1 {
            return None;
        }
        let mut around = vec![1; axes.len()];
        for (axis, &size) in axes.iter().skip(missing).zip(dims) {
            *around.get_mut(usize::try_from(*axis).ok()?)? = size;
        }
        tensor.reshaped(Shape::new(around).ok()?).ok()
    }

    /// Dimensions within as they are around.
    fn dims(&self, within: &Dims, around: &Dims) -> Option<Dims> {
        match (self, self.back()?) {
            (Turn::Order(_), Turn::Order(back)) => {
                back.iter().map(|&axis| within.get(usize::try_from(axis).ok()?).copied()).collect()
            }
            _ => Some(around.clone()),
        }
    }

    /// The node that computes around Transposes as this one does within, if it reads axes by
    /// number.
    fn moved(&self, view: &NodeView<'_, '_>, functions: bool) -> Option<Replacement> {
        let Turn::Order(axes) = self else { return None };
        let ranks = view.dims(0)?.len() == axes.len() && view.output_dims()?.len() == axes.len();
        let axis = |axis: i64| axes.get(counted(axis, axes.len())?).copied();
        let all = |list: &[i64]| list.iter().map(|&one| axis(one)).collect::<Option<Vec<_>>>();
        let vector = |list: &[i64]| Source::Tensor(Tensor::vector(list));
        let inputs = || (0..view.input_count()).map(|input| view.input(input));
        if !ranks || view.node.outputs.contains(&None) {
            return None;
        }
        match view.operator() {
            "Concat" => {
                let attributes = vec![("axis", Content::Int(axis(view.int("axis", i64_of(axes.len()))?)?))];
                Some(Replacement::new("Concat", inputs().collect(), attributes))
            }
            "Pad" if matches!(view.input(3), Source::Missing) => {
                let pads = view.constant(1)?.to_i64().ok().filter(|pads| pads.len() == 2 * axes.len())?;
                let mut moved = pads.clone();
                for (at, to) in axes.iter().enumerate() {
                    let to = usize::try_from(*to).ok()?;
                    *moved.get_mut(to)? = pads[at];
                    moved[axes.len() + to] = pads[axes.len() + at];
                }
                let mode = view.attribute("mode").map(|mode| ("mode", mode.clone()));
                let inputs = [view.input(0), vector(&moved), view.input(2)].into();
                Some(Replacement::new("Pad", inputs, mode.into_iter().collect()))
            }
            "Slice" => {
                let [starts, ends, axes, steps] = bounds(view)?;
                let lists = [starts, ends, all(&axes)?, steps].map(|list| vector(&list));
                let inputs = std::iter::once(view.input(0)).chain(lists).collect();
                Some(Replacement::new("Slice", inputs, Vec::new()))
            }
            _ if of_axis(view).is_some() => {
                let (row, default) = of_axis(view)?;
                // Sums of Softmax are rounded.
                let applies = view.has_newest_meaning() && (functions || !is_approximated(row.rounding));
                // The order of what is not sorted may be any. Blocks of an axis have all others.
                if !applies || view.int("block_size", 0)? != 0 || view.int("sorted", 1)? == 0 {
                    return None;
                }
                let names = row.signatures().last()?.attributes.iter().map(|rule| rule.name);
                let given = |name| view.attribute(name).map(|content| (name, content.clone()));
                let attributes =
                    names.filter(|name| !["axis", "block_size"].contains(name)).filter_map(given);
                let axis = ("axis", Content::Int(axis(view.int("axis", default)?)?));
                let attributes = attributes.chain([axis]).collect();
                Some(Replacement::new(row.name, inputs().collect(), attributes))
            }
            _ => {
                let mut reduction = Reduction::of(view).filter(|reduction| functions && reduction.keeps)?;
                reduction.axes = all(&reduction.axes)?;
                reduction.axes.shared_sort();
                (!reduction.axes.is_empty()).then(|| reduction.node(view.input(0)))
            }
        }
    }
}

/// Returns true if an input of a node is data, and no list of axes or bounds, no scale, and no
/// bound that must be a scalar.
fn is_data(view: &NodeView<'_, '_>, input: usize) -> bool {
    let operator = view.operator();
    let lists = matches!(operator, "Clip" | "Pad" | "Slice") || operator.starts_with("Reduce");
    let lists = lists || of_axis(view).is_some();
    input == 0 || !lists || (operator == "Pad" && input == 2)
}

/// The operator of a node that works along one axis, or element by element with numbers of that
/// axis, and the default of the axis.
fn of_axis(view: &NodeView<'_, '_>) -> Option<(&'static Row, i64)> {
    let row = operators::row(Standard::Onnx, "", view.operator())?;
    Some((row, row.axis?))
}

/// Operators of elements between views.
struct ViewRegion {
    /// The inputs that read a view of the shape around, and what they read in its place.
    entries: Vec<(usize, usize, Source)>,
    /// The views that return to the shape around, and their inputs.
    exits: Vec<(ValueId, ValueId)>,
    /// The nodes that read axes by number, as they are to be.
    moved: Vec<(usize, Replacement)>,
    /// The values that get other shapes, and these.
    values: Vec<(ValueId, Dims)>,
    /// The end of the new names of these values.
    ending: &'static str,
}

/// Removes views and Transposes around operators of elements of the main graph. To be called when
/// it is known what is needed. Returns true if values have other shapes.
pub(super) fn choose(scope: &mut FoldState<'_>, folder: &mut GraphFolder<'_>) -> bool {
    if scope.standard != Standard::Onnx {
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
    // Values that were read as an end of a region are read as what stands for it.
    for id in scope.graph.ids() {
        let other = scope.resolved(id);
        if other != id {
            scope.values[id.index()].read = Read::Other(other);
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

/// The region after a view. Other readers of the view do not matter: the view is kept for them.
fn region(
    scope: &FoldState<'_>,
    readers: &Readers,
    held: &HashSet<ValueId>,
    index: usize,
) -> Option<ViewRegion> {
    let first = NodeView::new(scope, index);
    let start = first.output()?;
    let turn = Turn::of(&first).filter(|turn| scope.rules.has(turn.pass()))?;
    let (back, around, within) = (turn.back()?, first.dims(0)?, first.output_dims()?);
    let is_view = matches!(turn, Turn::View);
    // Integers are left to the rules about shapes.
    if is_view && (around == within || !first.dtype_of(start)?.is_float()) {
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
        // Some outputs of a node may have no reader.
        for &(reader, input) in readers.get(&id).map_or(&[][..], Vec::as_slice) {
            let view = NodeView::new(scope, reader);
            // A region before this one may have given it another input.
            if view.value(input) != Some(id) {
                continue;
            }
            let (output, dims) = (view.output()?, view.output_dims());
            let is_within = match turn {
                Turn::View => dims == Some(within),
                Turn::Order(_) => dims.is_some_and(|dims| dims.len() == within.len()),
            };
            let functions = scope.rules.has(turn.pass_of_functions());
            let of_elements = || is_of_elements(&view, functions);
            if back.is(&view) && input == 0 && (!is_view || dims == Some(around)) && !is_start {
                exits.push((output, id));
            } else if is_within
                && is_data(&view, input)
                && (of_elements() || turn.moved(&view, functions).is_some())
            {
                if !seen.contains(&output) {
                    nodes.push(reader);
                }
                values.extend(view.node.outputs.iter().flatten().filter(|&&id| seen.insert(id)));
            } else if !is_start {
                return None;
            }
        }
        if nodes.len() > MAX_NODES {
            return None;
        }
    }
    let is_output = |id: &ValueId| scope.values[id.index()].output || scope.renamed.contains_key(id);
    let outputs = exits.iter().filter(|(id, _)| is_output(id)).count();
    if exits.is_empty() || outputs > 1 {
        return None;
    }
    let is_changed = |id: ValueId| id != start && seen.contains(&id);
    let (mut entries, mut moved) = (Vec::new(), Vec::new());
    for node in nodes {
        let view = NodeView::new(scope, node);
        let replacement = turn.moved(&view, true);
        for input in (0..view.input_count()).filter(|&input| is_data(&view, input)) {
            let operand = match view.input(input) {
                Source::Value(id) if is_changed(id) => continue,
                Source::Value(id) => view.dims_of(id)?.clone(),
                Source::Tensor(tensor) => tensor.shape().dims().iter().map(|&size| Dim::from(size)).collect(),
                Source::Missing => continue,
                Source::Transposed(..) => return None,
            };
            // Scalars too: one operand at least must have the shape around.
            let turns = |producer: &NodeView<'_, '_>| {
                let same = producer.dims(0) == Some(around) && producer.output_dims() == Some(within);
                turn.is(producer) && (same || !is_view)
            };
            let source = match view.producer(input).filter(turns) {
                // An end of the region is one of its entries too, where the order undoes itself:
                // the value before it changes its own order.
                Some(producer) if producer.value(0).is_some_and(is_changed) => return None,
                Some(producer) => Source::Value(producer.value(0)?),
                // Scalars are no operands of what reads axes by number, but for the value of Pad.
                None if (replacement.is_none() || input > 0) && fits(&operand, around, within, is_view) => {
                    continue;
                }
                None if replacement.is_some() => return None,
                None => Source::Tensor(turn.constant(&view.constant(input)?)?),
            };
            entries.push((node, input, source));
        }
        moved.extend(replacement.map(|replacement| (node, replacement)));
    }
    let dims = |&id: &ValueId| {
        Some((id, turn.dims(scope.values[id.index()].fact.as_tensor()?.dims.as_ref()?, around)?))
    };
    let values = values.iter().skip(1).map(dims).collect::<Option<_>>()?;
    let ending = if is_view { "reshaped" } else { "transposed" };
    Some(ViewRegion { entries, exits, moved, values, ending })
}

/// Returns true if a node computes each element of its output from those at its place. `functions`
/// says that it may be one that programs round differently.
fn is_of_elements(view: &NodeView<'_, '_>, functions: bool) -> bool {
    let row = operators::row(Standard::Onnx, "", view.operator()).filter(|row| row.is_of_elements());
    let applies =
        row.is_some_and(|row| is_rounded_alike(row.rounding) || (is_approximated(row.rounding) && functions));
    applies && view.node.outputs.len() == 1 && view.has_newest_meaning()
}

/// Returns true if an operand meets the same elements in both shapes: all its axes but the last
/// have one element, and the last is one or, if the order of the elements stays, that of both
/// shapes.
fn fits(operand: &Dims, around: &Dims, within: &Dims, in_order: bool) -> bool {
    let Some((last, others)) = operand.split_last() else { return true };
    let is_last = |shape: &Dims| {
        shape.len() >= operand.len() && (*last == Dim::ONE || (in_order && shape.last() == Some(last)))
    };
    others.iter().all(|&size| size == Dim::ONE) && is_last(around) && is_last(within)
}

fn apply(scope: &mut FoldState<'_>, folder: &mut GraphFolder<'_>, readers: &mut Readers, region: ViewRegion) {
    let ViewRegion { entries, exits, moved, values, ending } = region;
    for (node, replacement) in moved {
        scope.set_replacement(node, replacement);
    }
    for (node, input, source) in entries {
        if let Source::Value(before) = source {
            readers.entry(before).or_default().push((node, input));
        }
        scope.set_input(node, input, source);
    }
    for (id, inner) in exits {
        scope.replace(folder, id, inner);
        let moved = readers.remove(&id).unwrap_or_default();
        let of_inner = readers.entry(inner).or_default();
        of_inner.retain(|&(node, _)| scope.graph.nodes()[node].outputs.first() != Some(&Some(id)));
        of_inner.extend(moved);
    }
    for (id, dims) in values {
        let value = &mut scope.values[id.index()];
        if let Fact::Tensor(fact) = &mut value.fact {
            fact.dims = Some(dims);
        }
        if !scope.reshaped.contains_key(&id) {
            let name = folder.fresh(&format!("{}_{ending}", scope.graph.value(id).name));
            scope.reshaped.insert(id, name);
        }
    }
}
