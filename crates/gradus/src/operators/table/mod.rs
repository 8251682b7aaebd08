//! The table of operators, a file each standard and domain, sorted by name.

mod contrib;
mod ml;
mod onnx;
mod openvino;
mod paddle;

use super::row::Row;

/// All rows.
pub(super) const TABLE: &[&[Row]] =
    &[onnx::ONNX, ml::ML, contrib::CONTRIB, openvino::OPENVINO, paddle::LOWERED, paddle::PADDLE];
