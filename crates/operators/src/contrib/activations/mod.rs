//! Activations, and what is added before them.

pub mod eval;
pub mod lowered;
