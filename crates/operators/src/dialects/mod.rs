//! Dialects: standards whose operators are adapted to the functions that all standards share, and
//! the graphs that they have in common.

pub mod adaptive;
pub mod boxes;
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub mod elimination;
pub mod indices;
pub mod openvino;
#[cfg(feature = "paddle")]
pub mod paddle;
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub mod special;

use gradus_core::{Error, Kind};

/// Returns the error of a node that no graph of ONNX operators computes.
pub fn cannot(what: &str) -> Error {
    Error::new(Kind::Unsupported, format!("cannot lower to ONNX operators: {what}"))
}
