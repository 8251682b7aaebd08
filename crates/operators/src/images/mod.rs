//! Images of other sizes, elements of images between their elements, colors, and YOLO's layers.

pub mod colors;
pub mod infer;
pub mod lowered;
pub mod openvino;
pub mod resize;
pub mod sampling;
pub mod to_onnx;
pub mod to_openvino;
pub mod yolo;
