//! Labels and categories in place of one another.

pub mod eval;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
