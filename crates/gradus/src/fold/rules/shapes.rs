//! Rules for nodes that give the same elements another shape.

use gradus_core::Tensor;
use gradus_core::graph::{Content, Standard};

use super::super::dialect::Role;
use super::super::simplify_shapes::reshape_target;
use super::Level::Exact;
use super::node_view::NodeView;
use super::{Change, Replacement, Rule, Source, local};
use crate::dim::Symbols;

pub(super) const RULES: &[Rule] = &[local(
    "reshapes",
    Exact,
    "Reshape, Flatten, Squeeze, Unsqueeze of one another, with one unknown size -> Reshape",
    reshapes,
)];

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
    let attributes: Vec<(&str, Content)> = Vec::new();
    Some(Change::Node(Replacement { operator: "Reshape", inputs, attributes }))
}
