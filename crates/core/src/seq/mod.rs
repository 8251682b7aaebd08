//! Sequences: planned first, then written.
//!
//! Everything that can fail happens while a plan is made. A plan knows its length and the exact value of every
//! element; writing it, whole or in part, cannot fail and gives the same bits wherever it is done.

pub mod profile;
mod range;

use std::ops::Range;

pub use range::{Argument, RangeError, RangePlan};

use crate::dtype::DType;
use crate::exact::Number;

/// A sequence that has been checked.
pub trait Plan: Clone + Send + Sync {
    /// The type of the elements.
    fn dtype(&self) -> DType;

    /// The number of elements: at most 2^63 - 1.
    fn len(&self) -> u64;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element `i`: the value that the element type holds.
    ///
    /// # Panics
    /// If `i` is not below the length.
    fn at(&self, i: u64) -> Number;

    /// The elements at that range of indices, as a plan.
    ///
    /// # Panics
    /// If the indices are not in order, or reach beyond the length.
    #[must_use]
    fn slice(&self, indices: Range<u64>) -> Self;
}
