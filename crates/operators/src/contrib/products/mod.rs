//! Products and convolutions with more in one node, and inverses.

pub mod eval;
pub mod infer;
pub mod lowered;
