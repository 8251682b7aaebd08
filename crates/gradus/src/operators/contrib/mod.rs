//! Operators that other programs add to ONNX, and those for classical machine learning.

pub(crate) mod eval;
pub(crate) mod microsoft;
pub(crate) mod ml;
pub(crate) mod signatures;
