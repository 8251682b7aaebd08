//! Operators that choose elements: slices, gathers and scatters.

pub(crate) mod eval;
pub(crate) mod infer;
pub(crate) mod older;
pub(crate) mod openvino;
pub(crate) mod segments_to_onnx;
pub(crate) mod to_onnx;
pub(crate) mod to_openvino;
