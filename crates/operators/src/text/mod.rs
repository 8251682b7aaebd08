//! Texts: words that are normalized, n-grams that are counted, patterns that match.

pub mod grams;
pub mod infer;
pub mod patterns;
pub mod strings;
