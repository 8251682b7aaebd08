//! Operators that ONNX Runtime adds to ONNX.

pub mod activations;
pub mod attention;
pub mod embeddings;
pub mod images;
pub mod inputs;
pub mod normalization;
pub mod packed;
pub mod products;
pub mod quantized;
pub mod renamed;
pub mod signal;
pub mod signatures;
pub mod tokens;
pub mod values;
