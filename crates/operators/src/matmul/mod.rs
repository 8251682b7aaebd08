//! Products of matrices.

pub mod eigen;
pub mod elimination;
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub mod eval;
pub mod infer;
#[cfg(feature = "convert")]
pub mod lowered;
pub mod openvino;
pub mod orthogonal;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
