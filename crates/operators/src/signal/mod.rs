//! Signals: windows, Fourier transforms, the mel scale.

pub mod eval;
pub mod infer;
pub mod lowered;
pub mod openvino;
pub mod to_onnx;
pub mod to_openvino;
