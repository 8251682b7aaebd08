//! Operators that other programs add to ONNX, and those for classical machine learning.

pub(crate) mod codes;
pub(crate) mod composed;
pub(crate) mod eval;
pub(crate) mod group_query;
pub(crate) mod group_query_eval;
pub(crate) mod microsoft;
pub(crate) mod packed_to_onnx;
pub(crate) mod quantized;
pub(crate) mod quantized_lstm;
pub(crate) mod signatures;
pub(crate) mod transformers;
