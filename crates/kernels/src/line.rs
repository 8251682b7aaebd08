//! Straight lines to floats: two bounds of each element, from a block's first number and the distance to it.
//!
//! Element `j` of a block is `a + j d`, where `a` and `d` are pairs of doubles, relatively off by at most 2^-105. The
//! sum is split without error: `p + q = j d.high` and `s + t = a.high + p`, which are exact, so the element is
//!
//! ```text
//! s + (t + q + a.low + j d.low)
//! ```
//!
//! where what is in parentheses is rounded a few times. With `m = |a| + K |d|`, the largest magnitude in question,
//! each of `t`, `q`, `a.low` and `j d.low` is at most 2^-52 m, so the three additions and the product are off by less
//! than 2^-101.9 m together, and the pairs by 2^-104 m: 2^-101 m is a bound. A line is off itself by as many units as
//! it has numbers. No bound is needed where the numbers are so short that nothing is ever rounded but the last sum.
//!
//! For elements of fewer bits the double `a.high + j d.high`, rounded once, is enough: off by 2^-53 m for each of
//! this rounding, `a.low` and `j d.low`, so 2^-51 m is a bound.

use gradus_core::convert::{nearest_f64, usize_of_u32};
use gradus_core::seq::Line;
use gradus_core::{DType, Number};

use crate::certain::{self, Target};
use crate::pair::{Pair, power_of_two};

/// Numbers in a block.
const BLOCK: u32 = 256;

/// A line, prepared.
#[derive(Clone, Debug)]
pub struct Lines {
    line: Line,
    step: Pair,
    /// The largest distance of a number from the first of its block.
    spread: f64,
    /// How far sums are off, relative to the largest number of a block.
    relative: f64,
    /// How far the line is off.
    slack: f64,
}

/// Largest magnitudes of lines on which nothing overflows, and no error is too small to be a double.
const MAGNITUDES: std::ops::Range<f64> = power_of_two(-800)..power_of_two(1000);

/// The first number of a block.
struct Block {
    start: Pair,
    error: f64,
}

impl Lines {
    /// The line of a plan of that many elements of a type, if its numbers are neither too large nor too small.
    pub fn new(line: Line, len: u64, dtype: DType) -> Option<Lines> {
        let ends = [line.first, line.first.plus(line.step, len - 1)];
        let largest =
            ends.map(|end| Pair::of_wide(end, line.unit).high.abs()).into_iter().fold(0.0, f64::max);
        if !MAGNITUDES.contains(&largest) {
            return None;
        }
        let step = Pair::of_wide(line.step, line.unit);
        let (rounded, exact_bits) = if dtype == DType::F64 { (-101, 100) } else { (-51, 52) };
        // Numbers are multiples of this, and no sum of fewer bits is rounded.
        let zeros = line.first.trailing_zeros().min(line.step.trailing_zeros());
        let least = 2f64.powi(line.unit + zeros.cast_signed());
        let exact = line.exact && largest < least * power_of_two(exact_bits);
        let count = nearest_f64(Number::Int(len.into()));
        Some(Lines {
            line,
            step,
            spread: f64::from(BLOCK) * step.high.abs(),
            relative: if exact { 0.0 } else { power_of_two(rounded) },
            slack: if line.exact { 0.0 } else { (count + 1.0) * 2f64.powi(line.unit) },
        })
    }

    /// Doubles from index `lo` on; `exact` makes one that is in doubt.
    #[inline(always)]
    pub fn write_doubles(&self, lo: u64, out: &mut [f64], exact: impl Fn(u64) -> f64) {
        let step = self.step;
        self.write(lo, out, exact, |block, j| {
            let product = j * step.high;
            let product_rest = j.mul_add(step.high, -product);
            let sum = block.start.high + product;
            let back = sum - block.start.high;
            let sum_rest = (block.start.high - (sum - back)) + (product - back);
            let rest = sum_rest + (product_rest + j.mul_add(step.low, block.start.low));
            [sum + (rest - block.error), sum + (rest + block.error)]
        });
    }

    /// Elements of fewer bits from index `lo` on; `exact` makes one that is in doubt.
    #[inline(always)]
    pub fn write_rounded<T: Target>(&self, lo: u64, out: &mut [T], exact: impl Fn(u64) -> T) {
        let step = self.step.high;
        self.write(lo, out, exact, |block, j| {
            let sum = j.mul_add(step, block.start.high);
            [T::from_f64(sum - block.error), T::from_f64(sum + block.error)]
        });
    }

    #[inline(always)]
    fn write<T: Target>(
        &self,
        lo: u64,
        out: &mut [T],
        exact: impl Fn(u64) -> T,
        bounds: impl Fn(&Block, f64) -> [T; 2] + Copy,
    ) {
        // Blocks begin where the slice does: what an element is does not depend on its block.
        for (lo, chunk) in (lo..).step_by(usize_of_u32(BLOCK)).zip(out.chunks_mut(usize_of_u32(BLOCK))) {
            let start = Pair::of_wide(self.line.first.plus(self.line.step, lo), self.line.unit);
            let error = self.relative * (start.high.abs() + self.spread) + self.slack;
            let block = Block { start, error };
            certain::write(chunk, (0..BLOCK).map(|j| bounds(&block, f64::from(j))), |j| exact(lo + j));
        }
    }
}
