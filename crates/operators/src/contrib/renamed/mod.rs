//! Operators that ONNX has under another name or in another form.

pub mod infer;
pub mod lowered;
