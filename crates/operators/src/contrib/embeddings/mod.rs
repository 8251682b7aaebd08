//! Rows of tables that indices choose.

pub mod eval;
pub mod infer;
pub mod lowered;
