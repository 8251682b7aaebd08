//! Tokens: their search, and hashes.

pub mod eval;
pub mod infer;
