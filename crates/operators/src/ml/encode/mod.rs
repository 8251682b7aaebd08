//! Labels and categories in place of one another.

pub mod eval;
pub mod lowered;
