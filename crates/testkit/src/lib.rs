//! For tests only: exact references that share no code of ours with what they check.
//!
//! Reals are rationals of unlimited size; a format is the list of the numbers that it has, each
//! computed from the definition, and the nearest is found by comparing. All of it is slow and plain
//! on purpose, save [`WideFloat`] and
//! [`Arithmetic`], by which as many elements can be checked as are written; they are checked
//! against the others.

#![forbid(unsafe_code)]

mod arithmetic;
mod format;
mod functions;
mod power;
mod range;
mod sums;
mod wide;

pub use arithmetic::Arithmetic;
pub use dashu_ratio::RBig as Real;
pub use format::{FloatFormat, nearest_f32, nearest_f64};
pub use functions::{activation, function, real_power};
pub use power::{POWER_BITS, exponential, is_power, logarithm, power};
pub use range::{RangeRule, count, element};
pub use sums::single_sum;
pub use wide::{Binary, Nearest, WIDE_BITS, WideFloat};

/// The exact value of a finite float.
pub fn real(x: f64) -> Real {
    Real::try_from(x).expect("the float is finite")
}
