//! Attention, rotary embeddings, and caches of keys and values.

pub mod eval;
pub mod infer;
pub mod lowered;
pub mod openvino;
pub mod rotary;
pub mod to_onnx;
