//! Images and windows in forms that ONNX does not have.

#[cfg(feature = "run")]
pub mod eval;
pub mod infer;
pub mod lowered;
