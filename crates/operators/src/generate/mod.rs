//! Operators that create tensors: constants, random numbers, windows, transforms.

pub mod constant;
pub mod eval;
pub mod infer;
pub mod random;
pub mod signal;
pub mod text;
pub mod to_onnx;
pub mod to_openvino;
pub mod transforms;
