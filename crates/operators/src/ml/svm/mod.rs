//! Support vector machines.

pub mod eval;
pub mod lowered;
