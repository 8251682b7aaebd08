//! Quantization: integers and narrow floats that stand for `scale * (x - zero point)`.

#[cfg(feature = "run")]
pub mod eval;
pub mod infer;
#[cfg(feature = "convert")]
pub mod lowered;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
