//! Images and windows in forms that ONNX does not have.

pub mod eval;
pub mod infer;
pub mod lowered;
