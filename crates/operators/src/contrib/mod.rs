//! Operators that other programs add to ONNX, and those for classical machine learning.

pub mod codes;
pub mod composed;
pub mod eval;
pub mod group_query;
pub mod group_query_eval;
pub mod microsoft;
pub mod packed_to_onnx;
pub mod quantized;
pub mod quantized_lstm;
pub mod signatures;
pub mod transformers;
