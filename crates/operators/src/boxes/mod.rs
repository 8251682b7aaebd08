//! Boxes: features of regions of images, and suppression of boxes that overlap better ones.

pub mod infer;
pub mod openvino;
pub mod regions;
pub mod rotated;
pub mod suppression;
pub mod to_onnx;
pub mod to_openvino;
