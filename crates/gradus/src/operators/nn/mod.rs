//! Convolution, pooling, normalization, attention and quantization.

pub(crate) mod attention;
pub(crate) mod conv_pool;
pub(crate) mod ctc;
pub(crate) mod decomposed;
mod direct;
pub(crate) mod eval;
pub(crate) mod infer;
pub(crate) mod loss;
pub(crate) mod normalization;
pub(crate) mod openvino;
pub(crate) mod pools;
pub(crate) mod quantization;
pub(crate) mod quantization_to_openvino;
pub(crate) mod recurrent;
pub(crate) mod recurrent_to_onnx;
pub(crate) mod recurrent_to_openvino;
pub(crate) mod resize;
pub(crate) mod resize_eval;
pub(crate) mod rotated;
pub(crate) mod sampling;
pub(crate) mod sampling_to_onnx;
pub(crate) mod sampling_to_openvino;
pub(crate) mod to_onnx;
pub(crate) mod to_openvino;
pub(crate) mod windows;
pub(crate) mod windows_to_onnx;
pub(crate) mod windows_to_openvino;
