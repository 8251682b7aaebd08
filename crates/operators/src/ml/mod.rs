//! Operators of `ai.onnx.ml`: features of samples, one sample a row.
//!
//! Attributes are read once, for inference and evaluation alike, so that both refuse the same
//! nodes. Scores are computed in float64 and rounded once.

pub mod encode;
pub mod features;
pub mod infer;
pub mod linear;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
pub mod maps;
mod samples;
pub mod scores;
pub mod svm;
#[cfg(feature = "convert")]
pub mod to_openvino;
pub mod trees;
