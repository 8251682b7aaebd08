//! OpenVINO's spelling of operators that mean what ONNX's mean: names of attributes, their
//! defaults, and the order of inputs.

use gradus_core::graph::{Content, Standard};

use crate::normalize::{Change, FormRow};

const REDUCTIONS: &[&str] = &[
    "ReduceL1",
    "ReduceL2",
    "ReduceLogicalAnd",
    "ReduceLogicalOr",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
];

/// The rows, which hold for all versions.
pub fn rows() -> [FormRow; 7] {
    let row = |operators, change| FormRow::always(Standard::OpenVino, operators, change);
    [
        row(&["Convert"], Change::Name("to", "destination_type")),
        row(REDUCTIONS, Change::Name("keepdims", "keep_dims")),
        row(REDUCTIONS, Change::Default("keepdims", Content::Int(0))),
        row(REDUCTIONS, Change::Default("noop_with_empty_axes", Content::Int(1))),
        row(&["LogSoftmax", "SoftMax"], Change::Default("axis", Content::Int(1))),
        row(&["Slice"], Change::Index(3, Some(4))),
        row(&["Slice"], Change::Index(4, Some(3))),
    ]
}
