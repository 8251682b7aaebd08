//! Attention over heads that one input, three, or a cache holds.

#[cfg(feature = "run")]
pub mod eval;
#[cfg(feature = "run")]
pub mod group_query_eval;
pub mod group_query_lowered;
pub mod infer;
pub mod lowered;
