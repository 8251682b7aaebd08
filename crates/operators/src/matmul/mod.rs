//! Products of matrices.

pub mod eigen;
pub mod elimination;
pub mod eval;
pub mod infer;
pub mod lowered;
pub mod openvino;
pub mod orthogonal;
pub mod to_onnx;
pub mod to_openvino;
