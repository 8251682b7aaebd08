//! Sequences and optional values.

pub mod eval;
pub mod infer;
#[cfg(feature = "convert")]
pub mod to_openvino;
