//! Normalizations, and what is added before them.

pub mod eval;
pub mod infer;
pub mod lowered;
