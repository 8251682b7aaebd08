//! Windows that move over spatial axes: convolutions and pools.

#[cfg(any(feature = "run", feature = "convert"))]
pub mod axes;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod convolutions;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod deformable;
#[cfg(any(feature = "run", feature = "convert"))]
mod direct;
pub mod infer;
pub mod lowered;
pub mod openvino;
#[cfg(feature = "run")]
pub mod pools;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_openvino;
