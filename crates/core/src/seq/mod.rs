//! Sequences: planned first, then written.
//!
//! Everything that can fail happens while a plan is made. A plan knows its length and the exact value of every
//! element; writing it, whole or in part, cannot fail and gives the same bits wherever it is done.

mod range;

pub use range::{Argument, RangeError, RangePlan};
