//! Operators that give elements another shape or order.

pub mod eval;
pub mod identity;
pub mod infer;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
pub mod openvino;
pub mod rearrange;
pub mod reshaped;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
