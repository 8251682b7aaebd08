//! Sequences and optional values.

pub(crate) mod eval;
pub(crate) mod infer;
pub(crate) mod to_openvino;
