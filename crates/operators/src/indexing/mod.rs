//! Operators that choose elements: slices, gathers and scatters.

pub mod eval;
pub mod infer;
pub mod lowered;
pub mod openvino;
pub mod rows;
pub mod segments_to_onnx;
pub mod to_onnx;
pub mod to_openvino;
