//! Sequences and optional values.

pub mod eval;
pub mod infer;
pub mod to_openvino;
