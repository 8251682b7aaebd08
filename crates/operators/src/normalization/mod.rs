//! Normalizations with statistics, and Softmax and its like.

#[cfg(feature = "run")]
pub mod eval;
pub mod infer;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
pub mod openvino;
#[cfg(feature = "run")]
pub mod softmax;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
