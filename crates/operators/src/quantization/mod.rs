//! Quantization: integers and narrow floats that stand for `scale * (x - zero point)`.

pub mod eval;
pub mod infer;
pub mod lowered;
pub mod to_onnx;
pub mod to_openvino;
