//! Operators that compute each element on its own.

pub(crate) mod activations;
pub(crate) mod binary;
pub(crate) mod cast;
pub(crate) mod infer;
pub(crate) mod mixed;
pub(crate) mod older;
pub(crate) mod openvino;
pub(crate) mod polynomials;
pub(crate) mod select;
pub(crate) mod special;
pub(crate) mod symbolic;
pub(crate) mod text;
pub(crate) mod to_onnx;
pub(crate) mod to_openvino;
pub(crate) mod unary;
