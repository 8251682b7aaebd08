//! Products of matrices.

#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub mod eigen;
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub mod elimination;
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub mod ellipses;
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub mod eval;
pub mod infer;
#[cfg(feature = "convert")]
pub mod lowered;
pub mod openvino;
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub mod orthogonal;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
