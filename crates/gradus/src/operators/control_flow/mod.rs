//! `If`, `Loop`, `Scan` and `TensorIterator`.

pub(crate) mod eval;
pub(crate) mod infer;
pub(crate) mod loops;
pub(crate) mod openvino;
pub(crate) mod to_onnx;
pub(crate) mod to_openvino;
