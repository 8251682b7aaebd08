//! Shape and Size.

pub mod eval;
pub mod infer;
