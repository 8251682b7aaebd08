//! Losses of classifications and of sequences, and decoders of scores of classes over time.

pub mod ctc;
pub mod ctc_lowered;
pub mod eval;
pub mod infer;
pub mod lowered;
