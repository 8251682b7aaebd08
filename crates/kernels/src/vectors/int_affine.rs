//! Affine sequences of integers: numbers rounded toward zero, in fixed point.
//!
//! Number `w` of a line is too small by less than a bound `b`, and exact numbers that are not
//! integers keep a distance of `2b` from integers. So above zero `w + b`, rounded down, is the
//! exact number rounded down; and below zero `w + 1 - b`, rounded down, is the exact number rounded
//! up. Of an exact line the bounds are 0, and any one unit.

use std::ops::Range;

use fearless_simd::Simd;
use gradus_core::convert::{low_u64, u64_of, usize_of};
use gradus_sequences::{Line, Wide};

use crate::vectors::lanes::{self, LaneElement, RUN, Run};
use crate::vectors::range::IntegerElement;

/// A prepared affine sequence of integers.
#[derive(Clone, Copy, Debug)]
pub struct IntAffine {
    /// The line in fixed point.
    pub line: Line,
    /// The biases of numbers from zero up, and of negative numbers.
    pub biases: [Wide; 2],
    /// Bits of the upper part that are after the point.
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
    pub fn write<S: Simd, T: IntegerElement + LaneElement<S>>(
        &self,
        simd: S,
        streams: bool,
        lo: u64,
        out: &mut [T],
    ) {
        for (lo, slice) in (lo..).step_by(RUN).zip(out.chunks_mut(RUN)) {
            let [before, after] = self.of_one_sign(lo..lo + u64_of(slice.len()));
            let (first, second) = slice.split_at_mut(usize_of(before.end - before.start));
            self.write_run(simd, streams, before, first);
            self.write_run(simd, streams, after, second);
        }
    }

    /// Indices in order, of numbers that have the same sign each; there may be one such part only.
    pub fn of_one_sign(&self, indices: Range<u64>) -> [Range<u64>; 2] {
        let negative = |index| self.number(index).high < 0;
        let Range { start, end } = indices;
        let sign = negative(start);
        let change = if negative(end - 1) == sign {
            end
        } else {
            start + lanes::before(end - start, |i| negative(start + i) != sign)
        };
        [start..change, change..end]
    }

    /// The elements at indices of numbers that have the same sign.
    pub fn run(&self, indices: Range<u64>) -> Option<Run> {
        let count = indices.end - indices.start;
        Run::of_integers(&self.line, self.number(indices.start), count, self.fraction, self.units)
    }

    /// Elements at indices of numbers that have the same sign.
    #[inline(always)]
    fn write_run<S: Simd, T: IntegerElement + LaneElement<S>>(
        &self,
        simd: S,
        streams: bool,
        indices: Range<u64>,
        out: &mut [T],
    ) {
        if out.is_empty() {
            return;
        }
        let lo = indices.start;
        let exact = |i| T::low(self.rounded(self.number(lo + i)));
        match self.run(indices) {
            Some(run) => T::write(simd, streams, &run, out, exact),
            None => (0..).zip(out).for_each(|(i, element)| *element = exact(i)),
        }
    }
}
