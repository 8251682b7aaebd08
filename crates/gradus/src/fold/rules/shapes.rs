//! Rules for nodes that give the same elements another shape, and for slices of slices.

use gradus_core::Tensor;
use gradus_core::convert::from_start;
use gradus_core::graph::{Content, Standard};

use super::super::dialect::Role;
use super::super::simplify_shapes::reshape_target;
use super::super::write::list;
use super::exact::{is_approximated, order};
use super::node_view::NodeView;
use super::{Change, Replacement, Source, looked};
use crate::dim::{Dim, Symbols};
use crate::fact::{Dims, known_shape};

rules! { RULES:
    Exact "reshapes" |of| looked::is_view(of) || looked::transposes(of) => reshapes,
        "Reshape, Flatten, Squeeze, Unsqueeze, Transpose of axes of size 1 of one another, with one unknown size -> Reshape";
    Exact "unit-axes" looked::is_view => unit_axes,
        "Reshape, Squeeze, Unsqueeze of one another that add or remove axes of size 1 -> Unsqueeze, Squeeze";
    Exact "undone-axes" |of| of.is_one(&["Squeeze", "Unsqueeze"]) => undone_axes,
        "Squeeze, Unsqueeze of one another, of the same axes -> x";
    Exact "views-of-functions" looked::is_view => views_of_functions,
        "Reshape, Squeeze, Unsqueeze of Cos, Exp, Log, Sin, … of a constant -> the function of the constant in that shape (ONNX)";
    Exact "slices" |of| of.is("Slice") => slices,
        "Slice(Slice(x)) by constants; of one axis, in steps of 1 -> Slice(x)";
    Exact "joins" |of| of.is("Concat") => joins, "Concat(Concat(a, b), c) along one axis -> Concat(a, b, c)";
    Exact "empty-joins" |of| of.is("Concat") => empty_joins,
        "inputs of Concat without elements along its axis -> none";
    Exact "split-join" |of| of.is("Concat") => split_join,
        "Concat of all outputs of Split in order -> its input";
}

/// Constant starts, ends, axes and steps of a Slice.
pub(in crate::fold) fn bounds(view: &NodeView<'_, '_>) -> Option<[Vec<i64>; 4]> {
    if view.operator() != "Slice" {
        return None;
    }
    let rank = i64::try_from(view.dims(0)?.len()).ok()?;
    let given = |input: usize| view.constant(input)?.to_i64().ok();
    let (starts, ends) = (given(1)?, given(2)?);
    let axes = match view.input(3) {
        Source::Missing => (0..rank).take(starts.len()).collect(),
        _ => given(3)?.into_iter().map(|axis| axis.rem_euclid(rank.max(1))).collect(),
    };
    let steps = match view.input(4) {
        Source::Missing => vec![1; starts.len()],
        _ => given(4)?,
    };
    Some([starts, ends, axes, steps])
}

/// Applies also where nothing else is known of the shape.
fn undone_axes(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let first = view.producer(0)?;
    let inverse = if view.operator() == "Squeeze" { "Unsqueeze" } else { "Squeeze" };
    if first.operator() != inverse {
        return None;
    }
    let axes = |view: &NodeView<'_, '_>| view.constant(1)?.to_i64().ok();
    let same = axes(&first).is_some_and(|before| !before.is_empty() && axes(view) == Some(before));
    if same { first.becomes(0) } else { None }
}

/// Maximum number of elements of a constant that gets another shape.
const MAX_ELEMENTS: usize = 1 << 16;

/// Elements stay where they are, so that they are rounded alike.
fn views_of_functions(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let first = view.only_producer(0)?;
    let operator = first.plain_function(is_approximated)?;
    let shape = known_shape(view.output_dims()?).filter(|shape| shape.len() <= MAX_ELEMENTS)?;
    let constant = first.weight(0)?.reshaped(shape).ok()?;
    let inputs = vec![Source::Tensor(constant)];
    Some(Change::Node(Replacement::new(operator, inputs, Vec::new())))
}

fn slices(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let ([mut starts, mut ends, mut axes, mut steps], first) = (bounds(view)?, view.producer(0)?);
    let before = bounds(&first)?;
    for (i, &axis) in before[2].iter().enumerate() {
        let (start, end, step) = (before[0][i], before[1][i], before[3][i]);
        let Some(at) = axes.iter().position(|&other| other == axis) else {
            starts.push(start);
            ends.push(end);
            axes.push(axis);
            steps.push(step);
            continue;
        };
        // Bounds from the end would need the size.
        if [start, end, starts[at], ends[at]].iter().any(|&bound| bound < 0) || (step, steps[at]) != (1, 1) {
            return None;
        }
        ends[at] = end.min(start.saturating_add(ends[at]));
        starts[at] = start.saturating_add(starts[at]);
    }
    let lists = [starts, ends, axes, steps].map(|list| Source::Tensor(Tensor::vector(&list)));
    let inputs = std::iter::once(first.input(0)).chain(lists).collect();
    Some(Change::Node(Replacement::new("Slice", inputs, Vec::new())))
}

/// The axes of size 1 that the second list of dimensions has in addition to the first.
fn added(from: &Dims, to: &Dims) -> Option<Vec<i64>> {
    let mut left = from.iter().peekable();
    let mut axes = Vec::new();
    for (axis, dim) in (0..).zip(to.iter()) {
        if left.next_if_eq(&dim).is_none() {
            axes.push(axis);
            dim.known().filter(|&size| size == 1)?;
        }
    }
    (left.next().is_none() && !axes.is_empty()).then_some(axes)
}

fn unit_axes(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let first = view.producer(0).filter(is_view)?;
    let (from, to) = (first.dims(0)?, view.output_dims()?);
    let (operator, axes) = match (added(from, to), added(to, from)) {
        _ if view.standard() != Standard::Onnx => return None,
        (Some(axes), _) => ("Unsqueeze", axes),
        (None, Some(axes)) => ("Squeeze", axes),
        (None, None) => return None,
    };
    let inputs = vec![first.input(0), Source::Tensor(Tensor::vector(&axes))];
    Some(Change::Node(Replacement::new(operator, inputs, Vec::new())))
}

/// Maximum number of inputs of a Concat that another is joined with.
const MAX_JOINED: usize = 256;

/// The axis of a Concat or Split of ONNX, from 0 on.
fn axis(view: &NodeView<'_, '_>, of: &Dims) -> Option<i64> {
    let rank = i64::try_from(of.len()).ok()?;
    let default = if view.operator() == "Split" { Some(0) } else { None };
    let axis = view.attributes().int("axis").ok()?.or(default)?;
    Some(from_start(axis, rank))
}

fn joins(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let dims = view.output_dims()?;
    let axis_of_all = axis(view, dims)?;
    let inner = |input| {
        let node = view.only_producer(input).filter(|node| node.operator() == "Concat")?;
        (axis(&node, dims) == Some(axis_of_all)).then_some(node)
    };
    let count = view.input_count();
    let mut inputs = Vec::new();
    for input in 0..count {
        match inner(input) {
            Some(node) => inputs.extend((0..node.input_count()).map(|input| node.input(input))),
            None => inputs.push(view.input(input)),
        }
    }
    let attributes = vec![("axis", Content::Int(axis_of_all))];
    (count < inputs.len() && inputs.len() <= MAX_JOINED)
        .then_some(Change::Node(Replacement::new("Concat", inputs, attributes)))
}

fn empty_joins(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let dims = view.output_dims()?;
    let axis_of_all = axis(view, dims)?;
    let at = usize::try_from(axis_of_all).ok()?;
    let is_empty = |source: &Source| match source {
        Source::Value(id) => view.dims_of(*id).and_then(|dims| dims.get(at)) == Some(&Dim::ZERO),
        Source::Tensor(tensor) => tensor.shape().dims().get(at) == Some(&0),
        Source::Transposed(..) | Source::Missing => false,
    };
    let count = view.input_count();
    let mut inputs: Vec<_> = (0..count).map(|input| view.input(input)).filter(|one| !is_empty(one)).collect();
    if inputs.is_empty() {
        inputs.push(view.input(0));
    }
    let attributes = vec![("axis", Content::Int(axis_of_all))];
    let fewer = inputs.len() < count;
    fewer.then_some(Change::Node(Replacement::new("Concat", inputs, attributes)))
}

fn split_join(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let (split, _) = view.node_of(view.value(0)?)?;
    let dims = split.dims(0).filter(|_| split.operator() == "Split")?;
    let in_order = (0..view.input_count()).all(|input| {
        view.value(input).is_some() && view.value(input) == split.node.outputs.get(input).copied().flatten()
    });
    let whole = in_order && view.input_count() == split.node.outputs.len();
    let same = axis(view, dims).is_some() && axis(view, dims) == axis(&split, dims);
    if whole && same { split.becomes(0) } else { None }
}

/// Returns true if a node gives the elements of its first input another shape.
pub(in crate::fold) fn is_view(view: &NodeView<'_, '_>) -> bool {
    matches!(view.role(), Role::Reshape | Role::View)
        || matches!(view.operator(), "Reshape" | "Squeeze" | "Unsqueeze")
}

/// Returns true if a Transpose of ONNX exchanges no axes but those of size 1.
fn is_unit_transpose(view: &NodeView<'_, '_>) -> bool {
    let long = |axis: &i64| {
        let size = view.dims(0).zip(usize::try_from(*axis).ok()).and_then(|(dims, axis)| dims.get(axis));
        size != Some(&Dim::ONE)
    };
    let order = order(view).filter(|_| view.standard() == Standard::Onnx);
    order.is_some_and(|order| order.iter().filter(|axis| long(axis)).is_sorted())
}

fn reshapes(view: &NodeView<'_, '_>, symbols: &mut Symbols) -> Option<Change> {
    let keeps_order = |view: &NodeView<'_, '_>| is_view(view) || is_unit_transpose(view);
    let first = view.producer(0).filter(|first| keeps_order(view) && keeps_order(first))?;
    if view.standard() == Standard::OpenVino {
        // The shape has no zeros, which would mean dimensions of another input.
        let target = reshape_target(symbols, first.dims(0)?, view.output_dims()?, true)
            .filter(|target| view.role() == Role::Reshape && !target.contains(&0))?;
        let target = list(view.dtype_of(view.value(1)?)?, &target)?;
        return Some(Change::Inputs(vec![(0, first.input(0)), (1, Source::Tensor(target))]));
    }
    let target = reshape_target(symbols, first.dims(0)?, view.output_dims()?, false)?;
    let inputs = vec![first.input(0), Source::Tensor(Tensor::vector(&target))];
    Some(Change::Node(Replacement::new("Reshape", inputs, Vec::new())))
}
