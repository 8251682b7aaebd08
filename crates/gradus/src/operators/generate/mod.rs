//! Operators that create tensors: constants, random numbers, windows, transforms.

pub(crate) mod constant;
pub(crate) mod eval;
pub(crate) mod infer;
pub(crate) mod random;
pub(crate) mod signal;
pub(crate) mod text;
pub(crate) mod to_onnx;
pub(crate) mod to_openvino;
pub(crate) mod transforms;
