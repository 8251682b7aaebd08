//! Nodes that folding reads and writes, in each standard.
//!
//! | role | ONNX | OpenVINO |
//! |---|---|---|
//! | the dimensions of a tensor | `Shape` | `ShapeOf` |
//! | the same tensor | `Identity` | `Identity` |
//! | to a shape, which is the second input | `Reshape` | `Reshape`: 0 is the input's dimension with `special_zero` |
//! | the same elements, with other axes | `Flatten`, `Squeeze`, `Unsqueeze` | `Squeeze`, `Unsqueeze` |
//! | repeated to a shape, which is the second input | `Expand` | `Broadcast`: 1 keeps a dimension with `bidirectional` |
//! | a part of a tensor | `Slice`: starts, ends, axes, steps | `Slice`: start, stop, step, axes; `StridedSlice`: no axes, but masks |
//! | one of two graphs | `If`: branches capture values | `If`: branches are passed values |
//!
//! Nodes that folding makes: ask for a shape, take elements, join lists, copy a value, be a
//! constant. In OpenVINO there are no copies, as outputs of the model keep the layers they come
//! from, and constants are no nodes.

use std::sync::Arc;

use gradus_core::DType;
use gradus_core::graph::edit::Made;
use gradus_core::graph::{Attribute, Content, Node, Standard};

use crate::attributes::{Attributes, NewAttributes};
use crate::normalize::Form;
pub(super) use crate::operators::Role;

use crate::operators;

/// The role of a node's operator.
pub(super) fn role(standard: Standard, node: &Node) -> Role {
    operators::row_of(standard, node).map_or(Role::Other, |row| row.role)
}

/// The bounds of a slice among the inputs of the newest form.
pub(super) struct SliceBounds {
    pub(super) starts: usize,
    pub(super) ends: usize,
    pub(super) steps: usize,
    /// The input of the axes; `None` if they are always the first ones.
    pub(super) axes: Option<usize>,
}

/// The inputs that are bounds of a slice, if they are inputs, and each is of an axis.
pub(super) fn bounds(standard: Standard, node: &Node) -> Option<SliceBounds> {
    let (starts, ends) = (1, 2);
    match (standard, &*node.operator.name) {
        (Standard::Onnx, _) | (_, "Slice") => Some(SliceBounds { starts, ends, axes: Some(3), steps: 4 }),
        _ => {
            let moves = |name: &str| {
                let mask = attributes(standard, node).list(name);
                mask.map_or(true, |mask| mask.is_some_and(|mask| mask.iter().any(|&bit| bit != 0)))
            };
            let plain = !moves("ellipsis_mask") && !moves("new_axis_mask");
            plain.then_some(SliceBounds { starts, ends, steps: 3, axes: None })
        }
    }
}

/// Returns true if a zero in the shape that a Reshape wants is a zero, and not the dimension of the
/// input.
pub(super) fn zero_is_zero(standard: Standard, node: &Node) -> bool {
    let flag = |name: &str| attributes(standard, node).flag(name, false).unwrap_or(false);
    if standard == Standard::OpenVino { !flag("special_zero") } else { flag("allowzero") }
}

/// Returns true if a one in the shape that an Expand wants keeps the dimension of the input.
pub(super) fn one_keeps(standard: Standard, node: &Node) -> bool {
    let mode = || attributes(standard, node).text("mode").ok().flatten();
    standard != Standard::OpenVino || mode() == Some("bidirectional")
}

fn attributes(standard: Standard, node: &Node) -> Attributes<'_> {
    Attributes::new(&node.attributes, Form::of_node(standard, node))
}

/// Element types that a node can give dimensions in.
pub(super) fn sizes_are(standard: Standard, dtype: DType) -> bool {
    dtype == DType::I64 || (dtype == DType::I32 && standard == Standard::OpenVino)
}

fn node(
    operator: &'static str,
    version: i64,
    inputs: Vec<Arc<str>>,
    output: Arc<str>,
    attributes: NewAttributes,
) -> Made {
    let attributes = Attribute::list(attributes);
    Made { name: output.clone(), operator, version, inputs, outputs: vec![output], attributes }
}

fn text(text: &str) -> Content {
    Content::Text(text.into())
}

/// A node that gives the dimensions of a tensor.
pub(super) fn shape_of(standard: Standard, input: Arc<str>, dtype: DType, output: Arc<str>) -> Made {
    match standard {
        Standard::OpenVino => {
            node("ShapeOf", 3, vec![input], output, vec![("output_type", text(dtype.short_name()))])
        }
        _ => node("Shape", 1, vec![input], output, Vec::new()),
    }
}

/// A node of ONNX that gives a tensor its axes in another order.
pub(super) fn transpose(input: Arc<str>, perm: &[i64], output: Arc<str>) -> Made {
    node("Transpose", 1, vec![input], output, vec![("perm", Content::Ints(perm.to_vec().into()))])
}

/// A node that takes elements of a list; `first` gives the name of the constant 0, the axis, where
/// one is needed.
pub(super) fn take(
    standard: Standard,
    list: Arc<str>,
    places: Arc<str>,
    output: Arc<str>,
    first: impl FnOnce() -> Arc<str>,
) -> Made {
    match standard {
        Standard::OpenVino => {
            node("Gather", 8, vec![list, places, first()], output, vec![("batch_dims", text("0"))])
        }
        _ => node("Gather", 1, vec![list, places], output, Vec::new()),
    }
}

/// A node that puts lists one after the other.
pub(super) fn join(standard: Standard, lists: Vec<Arc<str>>, output: Arc<str>) -> Made {
    let axis = if standard == Standard::OpenVino { text("0") } else { Content::Int(0) };
    node("Concat", 1, lists, output, vec![("axis", axis)])
}

/// A node that gives a value another name.
pub(super) fn copy(of: Arc<str>, name: Arc<str>) -> Made {
    node("Identity", 1, vec![of], name, Vec::new())
}

/// A node that is a constant.
pub(super) fn constant(name: Arc<str>, tensor: &gradus_core::Tensor) -> Made {
    node("Constant", 1, Vec::new(), name, vec![("value", Content::Tensor(tensor.clone().into()))])
}
