//! Operators of `ai.onnx.ml`: features of samples, one sample a row.
//!
//! Attributes are read once, for inference and evaluation alike, so that both refuse the same
//! nodes. Scores are computed in float64 and rounded once.

pub(crate) mod encode;
pub(crate) mod features;
pub(crate) mod infer;
pub(crate) mod linear;
pub(crate) mod lowered;
pub(crate) mod maps;
mod samples;
pub(crate) mod scores;
pub(crate) mod svm;
pub(crate) mod svm_lowered;
mod tree_numbers;
pub(crate) mod trees;
pub(crate) mod trees_lowered;
