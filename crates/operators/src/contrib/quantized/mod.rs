//! Operators on quantized tensors.

pub mod infer;
pub mod lowered;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lstm;
