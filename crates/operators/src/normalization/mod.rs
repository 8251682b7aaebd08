//! Normalizations with statistics, and Softmax and its like.

pub mod eval;
pub mod infer;
pub mod lowered;
pub mod openvino;
pub mod softmax;
pub mod to_onnx;
pub mod to_openvino;
