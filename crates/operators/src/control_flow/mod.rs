//! `If`, `Loop`, `Scan` and `TensorIterator`.

pub mod branches;
mod counted;
pub mod eval;
pub mod infer;
pub mod loops;
pub mod openvino;
#[cfg(feature = "convert")]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
pub mod variables;
