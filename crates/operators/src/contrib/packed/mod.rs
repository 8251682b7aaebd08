//! Products with matrices that are quantized in blocks of few bits, and packed.

pub mod eval;
pub mod fp_q4;
pub mod lowered;
