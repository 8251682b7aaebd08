//! Operators that compute each element on its own.

pub mod activations;
pub mod binary;
pub mod cast;
pub mod extremes;
pub mod infer;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
pub mod mixed;
pub mod openvino;
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub mod polynomials;
pub mod select;
#[cfg(any(feature = "run", feature = "convert", feature = "paddle"))]
pub mod special;
pub mod symbolic;
pub mod text;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod to_onnx;
#[cfg(feature = "convert")]
pub mod to_openvino;
pub mod types;
pub mod unary;
