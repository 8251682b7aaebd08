//! Operators that create tensors: constants, random numbers, and what is made of indices.

pub mod constant;
pub mod eval;
pub mod infer;
pub mod lowered;
#[cfg(feature = "convert")]
pub mod older;
pub mod openvino;
#[cfg(feature = "run")]
pub mod random;
#[cfg(feature = "convert")]
pub mod to_openvino;
