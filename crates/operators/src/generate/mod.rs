//! Operators that create tensors: constants, random numbers, windows, transforms.

pub mod constant;
pub mod eval;
pub mod infer;
pub mod openvino;
pub mod random;
pub mod to_openvino;
