//! Recurrent networks: sequences, and cells, which are sequences of one step.

#[cfg(feature = "run")]
pub mod eval;
pub mod infer;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
pub mod openvino;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_openvino;
