//! Rows of tables that indices choose.

#[cfg(feature = "run")]
pub mod eval;
pub mod infer;
pub mod lowered;
