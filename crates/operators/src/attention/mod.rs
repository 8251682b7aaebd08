//! Attention, rotary embeddings, and caches of keys and values.

#[cfg(feature = "run")]
pub mod eval;
pub mod infer;
pub mod lowered;
pub mod openvino;
#[cfg(feature = "run")]
pub mod rotary;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
