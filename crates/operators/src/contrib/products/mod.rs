//! Products and convolutions with more in one node, and inverses.

#[cfg(feature = "run")]
pub mod eval;
pub mod infer;
pub mod lowered;
