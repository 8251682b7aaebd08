//! Support vector machines.

pub mod eval;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
