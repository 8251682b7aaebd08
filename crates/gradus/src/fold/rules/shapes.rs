//! Rules for nodes that give the same elements another shape, and for slices of slices.

use gradus_core::Tensor;
use gradus_core::graph::Standard;

use super::super::dialect::Role;
use super::super::simplify_shapes::reshape_target;
use super::Level::Exact;
use super::node_view::NodeView;
use super::{Change, Replacement, Rule, Source, local};
use crate::dim::Symbols;

pub(super) const RULES: &[Rule] = &[
    local(
        "reshapes",
        Exact,
        "Reshape, Flatten, Squeeze, Unsqueeze of one another, with one unknown size -> Reshape",
        reshapes,
    ),
    local("slices", Exact, "Slice(Slice(x)) of other axes by constants -> Slice(x)", slices),
];

/// Constant starts, ends, axes and steps of a Slice.
fn bounds(view: &NodeView<'_, '_>) -> Option<[Vec<i64>; 4]> {
    if view.operator() != "Slice" || view.version() < 10 {
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

fn slices(view: &NodeView<'_, '_>, _: &mut Symbols) -> Option<Change> {
    let (second, first) = (bounds(view)?, view.producer(0)?);
    let before = bounds(&first)?;
    if before[2].iter().any(|axis| second[2].contains(axis)) {
        return None;
    }
    let lists =
        before.iter().zip(&second).map(|(a, b)| Source::Tensor(Tensor::vector(&[&a[..], b].concat())));
    let inputs = std::iter::once(first.input(0)).chain(lists).collect();
    Some(Change::Node(Replacement { operator: "Slice", inputs, attributes: Vec::new() }))
}

fn is_view(view: &NodeView<'_, '_>) -> bool {
    matches!(view.role(), Role::Reshape | Role::View) || view.operator() == "Reshape"
}

fn reshapes(view: &NodeView<'_, '_>, symbols: &mut Symbols) -> Option<Change> {
    let first = view.producer(0).filter(|first| is_view(view) && is_view(first))?;
    // Reshape took an attribute before version 5; OpenVINO's names of layers are kept.
    if view.standard() != Standard::Onnx || view.version() < 5 {
        return None;
    }
    let target = reshape_target(symbols, first.dims(0)?, view.output_dims()?, false)?;
    let inputs = vec![first.input(0), Source::Tensor(Tensor::vector(&target))];
    Some(Change::Node(Replacement { operator: "Reshape", inputs, attributes: Vec::new() }))
}
