//! Operators that give elements another shape or order.

pub mod eval;
pub mod identity;
pub mod infer;
pub mod lowered;
pub mod openvino;
pub mod rearrange;
pub mod reshaped;
pub mod to_onnx;
pub mod to_openvino;
