//! Sequences: planned first, then written.
//!
//! Everything that can fail happens while a plan is made. A plan knows its length and the exact value of every
//! element; writing it, whole or in part, cannot fail and gives the same bits wherever it is done.
//!
//! | plan | element `i` |
//! |---|---|
//! | [`RangePlan`] | `start + i * step` |
//! | [`LinspacePlan`] | `start + i * (stop - start) / d` |
//! | [`LogspacePlan`] | `base ^ (start + i * (stop - start) / d)` |
//! | [`GeomspacePlan`] | `start * (stop / start) ^ (i / d)` |
//!
//! `d` is the number of samples, less one if the last of them is the stop. Every element is the exact value, rounded
//! once: to nearest even in floats, toward zero in integers.

mod complex;
mod elementary;
mod exp2;
mod fraction;
mod geomspace;
mod line;
mod linspace;
mod logspace;
mod paddle;
mod points;
mod power;
mod power_line;
mod range;
mod space;
mod window;

use std::ops::Range;

use gradus_core::{DType, Number};

pub use geomspace::GeomspacePlan;
pub use line::{Line, Wide};
pub use linspace::LinspacePlan;
pub use logspace::LogspacePlan;
pub use points::End;
pub use power_line::PowerLine;
pub use range::{Argument, RangeError, RangePlan};
pub use space::{SpaceError, samples};

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
