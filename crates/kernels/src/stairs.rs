//! Straight lines to integers: numbers rounded toward zero, in fixed point.
//!
//! Number `w` of a line is too small by less than a bound `b`, and exact numbers that are not integers keep a distance
//! of `2b` from integers. So above zero `w + b`, rounded down, is the exact number rounded down; and below zero
//! `w + 1 - b`, rounded down, is the exact number rounded up. Of an exact line the bounds are 0, and any one unit.

use gradus_core::convert::low_u64;
use gradus_core::seq::{Line, Wide};

use crate::range::Integer;

/// A line, prepared.
#[derive(Clone, Copy, Debug)]
pub struct Stairs {
    line: Line,
    /// What is added to numbers from zero up, and to those below.
    biases: [Wide; 2],
    /// Bits of the upper part that are behind the point.
    fraction: u32,
}

impl Stairs {
    /// The line of a plan of that many elements, if it is exact enough and its numbers are within 64 bits.
    pub fn new(line: Line, len: u64) -> Option<Stairs> {
        // The largest number is below 2^(unit + 187), so this is 60 at least. One has to fit the upper part.
        let fraction =
            (-line.unit).checked_sub(64).filter(|fraction| (60..=124).contains(fraction))?.unsigned_abs();
        let bound = len + 1;
        let distance = line.unit + 2 + bound.ilog2().cast_signed();
        let (above, below) = if line.exact { (0, 1) } else { (bound, bound) };
        (line.exact || distance <= line.spacing).then(|| Stairs {
            line,
            biases: [
                Wide { high: 0, low: above },
                Wide { high: 1 << fraction, low: 0 }.plus(Wide { high: -1, low: below.wrapping_neg() }, 1),
            ],
            fraction,
        })
    }

    /// Elements from index `lo` on.
    #[inline(always)]
    pub fn write<T: Integer>(&self, lo: u64, out: &mut [T]) {
        let mut number = self.line.first.plus(self.line.step, lo);
        for slot in out {
            let biased = number.plus(self.biases[usize::from(number.high < 0)], 1);
            *slot = T::low(low_u64((biased.high >> self.fraction).cast_unsigned()));
            number = number.plus(self.line.step, 1);
        }
    }
}
