//! Activations, and what is added before them.

#[cfg(feature = "run")]
pub mod eval;
pub mod lowered;
