//! The table of operators, a file for each standard and domain, and for their functions of
//! elements, networks and sequences, sorted by name.

#[macro_use]
mod columns;

mod contrib;
mod elements;
mod ml;
mod networks;
mod onnx;
mod openvino;
mod openvino_elements;
mod openvino_networks;
#[cfg(feature = "paddle")]
mod paddle;
mod preview;
mod sequences;

use super::row::Row;

/// All rows.
pub const TABLE: &[&[Row]] = &[
    onnx::ONNX,
    elements::ELEMENTS,
    networks::NETWORKS,
    sequences::SEQUENCES,
    ml::ML,
    contrib::CONTRIB,
    preview::PREVIEW,
    openvino::OPENVINO,
    openvino_elements::OPENVINO_ELEMENTS,
    openvino_networks::OPENVINO_NETWORKS,
    #[cfg(feature = "paddle")]
    paddle::LOWERED,
    #[cfg(feature = "paddle")]
    paddle::PADDLE,
];
