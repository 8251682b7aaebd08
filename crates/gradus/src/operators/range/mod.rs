//! Ranges and spaces.

pub(crate) mod eval;
pub(crate) mod infer;
pub(crate) mod spaces;
