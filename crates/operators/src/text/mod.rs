//! Texts: words that are normalized, n-grams that are counted, patterns that match.

pub mod grams;
pub mod infer;
#[cfg(feature = "run")]
pub mod patterns;
#[cfg(feature = "run")]
pub mod strings;
