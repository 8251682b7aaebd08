//! Products of matrices.

pub(crate) mod eigen;
pub(crate) mod elimination;
pub(crate) mod eval;
pub(crate) mod infer;
pub(crate) mod openvino;
pub(crate) mod orthogonal;
pub(crate) mod to_onnx;
pub(crate) mod to_openvino;
