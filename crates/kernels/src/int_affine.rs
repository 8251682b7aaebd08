//! Affine sequences of integers: numbers rounded toward zero, in fixed point.
//!
//! Number `w` of a line is too small by less than a bound `b`, and exact numbers that are not
//! integers keep a distance of `2b` from integers. So above zero `w + b`, rounded down, is the
//! exact number rounded down; and below zero `w + 1 - b`, rounded down, is the exact number rounded
//! up. Of an exact line the bounds are 0, and any one unit.

use fearless_simd::Simd;
use gradus_core::convert::{low_u64, u64_of};
use gradus_sequences::{Line, Wide};

use crate::lanes::{self, Lanes, RUN, Run};
use crate::range::IntegerElement;

/// A prepared affine sequence of integers.
#[derive(Clone, Copy, Debug)]
pub struct IntAffine {
    /// The line in fixed point.
    pub line: Line,
    /// The biases of numbers from zero up, and of negative numbers.
    pub biases: [Wide; 2],
    /// Bits of the upper part that are behind the point.
    pub fraction: u32,
    /// By how many units numbers may be too small.
    units: u64,
}

impl IntAffine {
    /// The line of a plan of that many elements, if it is exact enough and its numbers are within
    /// 64 bits.
    pub fn new(line: Line, len: u64) -> Option<IntAffine> {
        // The largest number is below 2^(unit + 187), so this is 60 at least. One has to fit the
        // upper part.
        let fraction =
            (-line.unit).checked_sub(64).filter(|fraction| (60..=124).contains(fraction))?.unsigned_abs();
        let bound = len + 1;
        let distance = line.unit + 2 + bound.ilog2().cast_signed();
        let (above, below) = if line.exact { (0, 1) } else { (bound, bound) };
        (line.exact || distance <= line.spacing).then(|| IntAffine {
            line,
            biases: [
                Wide { high: 0, low: above },
                Wide { high: 1 << fraction, low: 0 }.plus(Wide { high: -1, low: below.wrapping_neg() }, 1),
            ],
            fraction,
            units: above,
        })
    }

    /// A number, rounded toward zero.
    #[inline(always)]
    fn rounded(&self, number: Wide) -> u64 {
        let whole = number.plus(self.biases[usize::from(number.high < 0)], 1).high >> self.fraction;
        low_u64(whole.cast_unsigned())
    }

    fn number(&self, index: u64) -> Wide {
        self.line.first.plus(self.line.step, index)
    }

    /// Elements from index `lo` on; past the caches if `streams`.
    #[inline(always)]
    pub fn write<S: Simd, T: IntegerElement + Lanes<S>>(
        &self,
        simd: S,
        streams: bool,
        lo: u64,
        out: &mut [T],
    ) {
        for (lo, slice) in (lo..).step_by(RUN).zip(out.chunks_mut(RUN)) {
            let before = self.before_sign_changes(lo, slice.len());
            let (before, after) = slice.split_at_mut(before);
            let behind = lo + u64_of(before.len());
            self.write_run(simd, streams, lo, before);
            self.write_run(simd, streams, behind, after);
        }
    }

    /// How many of so many numbers have the sign of the first.
    fn before_sign_changes(&self, lo: u64, count: usize) -> usize {
        let negative = |i: usize| self.number(lo + u64_of(i)).high < 0;
        let sign = negative(0);
        if negative(count - 1) == sign { count } else { lanes::before(count, |i| negative(i) != sign) }
    }

    /// Elements from index `lo` on that have the same sign.
    #[inline(always)]
    fn write_run<S: Simd, T: IntegerElement + Lanes<S>>(
        &self,
        simd: S,
        streams: bool,
        lo: u64,
        out: &mut [T],
    ) {
        if out.is_empty() {
            return;
        }
        let first = self.number(lo);
        let exact = |i| T::low(self.rounded(self.number(lo + i)));
        match Run::of_integers(&self.line, first, out.len(), self.fraction, self.units) {
            Some(run) => T::write(simd, streams, &run, out, exact),
            None => (0..).zip(out).for_each(|(i, element)| *element = exact(i)),
        }
    }
}
