//! Windows that move over spatial axes: convolutions and pools.

pub mod axes;
pub mod convolutions;
pub mod deformable;
mod direct;
pub mod infer;
pub mod lowered;
pub mod openvino;
pub mod pools;
pub mod to_onnx;
pub mod to_openvino;
