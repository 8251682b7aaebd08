//! Recurrent networks: sequences, and cells, which are sequences of one step.

pub mod eval;
pub mod infer;
pub mod openvino;
pub mod to_onnx;
pub mod to_openvino;
