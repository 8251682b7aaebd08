//! Operators on quantized tensors.

pub mod infer;
pub mod lowered;
pub mod lstm;
