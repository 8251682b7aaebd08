//! `If`, `Loop`, `Scan` and `TensorIterator`.

mod counted;
pub mod eval;
pub mod infer;
pub mod loops;
pub mod openvino;
pub mod to_onnx;
pub mod to_openvino;
pub mod variables;
