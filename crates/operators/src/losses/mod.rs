//! Losses of classifications and of sequences, and decoders of scores of classes over time.

#[cfg(feature = "run")]
pub mod ctc;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod ctc_lowered;
#[cfg(feature = "run")]
pub mod eval;
pub mod infer;
pub mod lowered;
