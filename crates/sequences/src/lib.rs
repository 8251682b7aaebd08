#![doc = include_str!("../README.md")]
//!
//! # Plans
//!
//! The constructor of a plan reports every error. A plan knows its length and the exact value of
//! every element; writing all or some elements cannot fail and gives the same bits everywhere.
//!
//! | plan | element `i` |
//! |---|---|
//! | [`RangePlan`] | `start + i * step` |
//! | [`LinspacePlan`] | `start + i * (stop - start) / d` |
//! | [`LogspacePlan`] | `base ^ (start + i * (stop - start) / d)` |
//! | [`GeomspacePlan`] | `start * (stop / start) ^ (i / d)` |
//!
//! `d` is the number of samples, less one if the last of them is the stop. Every element is the
//! exact value, rounded once: to nearest even in floats, toward zero in integers.

#![forbid(unsafe_code)]

mod complex;
mod elementary;
mod exact;
mod exp2;
mod fraction;
mod geomspace;
mod interval;
mod line;
mod linspace;
mod logspace;
mod paddle;
mod points;
mod power;
mod power_line;
mod range;
mod space;
mod spiral_line;
mod window;
mod words;

use std::ops::Range;

use gradus_core::{DType, Number};

pub use exact::{ExactNumber, Fraction};
pub use geomspace::GeomspacePlan;
pub use interval::{Interval, nearest};
pub use line::{Line, Wide};
pub use linspace::LinspacePlan;
pub use logspace::LogspacePlan;
pub use points::End;
pub use power_line::PowerLine;
pub use range::{Argument, RangeError, RangePlan};
pub use space::{SpaceError, samples};
pub use spiral_line::{ComplexParts, SpiralLine};

/// A validated sequence.
pub trait Plan: Clone + Send + Sync {
    /// The type of the elements.
    fn dtype(&self) -> DType;

    /// The number of elements: at most 2^63 - 1.
    fn len(&self) -> u64;

    /// Returns true if there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element `i`: the value that the element type holds.
    ///
    /// # Panics
    /// If `i` is out of range.
    fn at(&self, i: u64) -> Number;

    /// The plan of the elements at these indices.
    ///
    /// # Panics
    /// If the range is reversed or out of range.
    #[must_use]
    fn slice(&self, indices: Range<u64>) -> Self;
}
