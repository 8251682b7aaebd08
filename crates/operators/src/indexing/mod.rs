//! Operators that choose elements: slices, gathers and scatters.

pub mod eval;
pub mod infer;
pub mod lowered;
pub mod openvino;
pub mod rows;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod segments_to_onnx;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
