//! Tokens: their search, and hashes.

#[cfg(feature = "run")]
pub mod eval;
pub mod infer;
