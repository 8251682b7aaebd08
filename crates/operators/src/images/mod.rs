//! Images of other sizes, elements of images between their elements, colors, and YOLO's layers.

pub mod colors;
pub mod infer;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
pub mod openvino;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod resize;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod sampling;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_openvino;
pub mod yolo;
