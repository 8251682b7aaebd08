//! Normalizations, and what is added before them.

#[cfg(feature = "run")]
pub mod eval;
pub mod infer;
pub mod lowered;
