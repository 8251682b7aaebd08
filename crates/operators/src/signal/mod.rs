//! Signals: windows, Fourier transforms, the mel scale.

pub mod eval;
mod fourier;
pub mod infer;
pub mod lowered;
pub mod openvino;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
