//! The table of operators, a file for each standard and domain, and for networks, sorted by name.

mod contrib;
mod ml;
mod networks;
mod onnx;
mod openvino;
mod paddle;

use super::row::Row;

/// All rows.
pub(super) const TABLE: &[&[Row]] = &[
    onnx::ONNX,
    networks::NETWORKS,
    ml::ML,
    contrib::CONTRIB,
    openvino::OPENVINO,
    paddle::LOWERED,
    paddle::PADDLE,
];
