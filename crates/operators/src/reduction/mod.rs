//! Reductions, orders and sums along axes.

pub mod eval;
pub mod infer;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
pub mod openvino;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
