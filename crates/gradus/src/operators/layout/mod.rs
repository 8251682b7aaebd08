//! Operators that give elements another shape or order.

pub(crate) mod eval;
pub(crate) mod identity;
pub(crate) mod infer;
pub(crate) mod older;
pub(crate) mod openvino;
pub(crate) mod rearrange;
pub(crate) mod to_onnx;
pub(crate) mod to_openvino;
