//! Shape and Size.

pub(crate) mod eval;
pub(crate) mod infer;
