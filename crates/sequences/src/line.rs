//! Affine sequences in fixed point, the input of fills.

use dashu_int::IBig;
use dashu_int::ops::{BitTest, UnsignedAbs};
use gradus_core::convert::{i32_of, low_u64};
use gradus_core::float::Parts;

use crate::elementary::scaled;
use crate::fraction::BigFraction;

/// An integer of 192 bits, two's complement, which wraps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide {
    /// The upper 128 bits.
    pub high: i128,
    /// The lower 64 bits.
    pub low: u64,
}

impl Wide {
    /// Converts an integer that fits 192 bits.
    pub(crate) fn new(x: &IBig) -> Wide {
        let high = i128::try_from(x >> 64usize).expect("192 bits hold it");
        let low =
            u128::try_from((x - (IBig::from(high) << 64usize)).unsigned_abs()).expect("64 bits are left");
        Wide { high, low: low_u64(low) }
    }

    /// `self + step * times`.
    #[must_use]
    #[inline]
    pub fn plus(self, step: Wide, times: u64) -> Wide {
        let low = u128::from(step.low) * u128::from(times) + u128::from(self.low);
        // The high part is taken modulo 2^128, where signed and unsigned products are the same.
        let high = step.high.wrapping_mul(i128::from(times)).wrapping_add(self.high);
        Wide { high: high.wrapping_add(i128::from(low_u64(low >> 64))), low: low_u64(low) }
    }

    /// The integer part of `self * 2^-bits`, for `bits` of at least 64; it must fit.
    pub(crate) fn whole(self, bits: usize) -> i32 {
        i32::try_from(self.high >> (bits - 64)).expect("logarithms are short")
    }

    /// The number of trailing zero bits; 192 for zero.
    pub fn trailing_zeros(self) -> u32 {
        if self.low == 0 { 64 + self.high.trailing_zeros() } else { self.low.trailing_zeros() }
    }

    /// The leading 127 bits, rounded down, and the exponent of the lowest of them.
    pub fn leading(self) -> (i128, i32) {
        let spare = |x: i128| if x < 0 { x.leading_ones() } else { x.leading_zeros() } - 1;
        let by = spare(self.high).min(64);
        let below = if by == 0 { 0 } else { self.low >> (64 - by) };
        let kept = self.high << by | i128::from(below);
        // Spare bits are zeros, or more sign bits of a number that is kept whole.
        let more = spare(kept).min(126);
        (kept << more, 64 - by.cast_signed() - more.cast_signed())
    }
}

/// The numbers `(first + i * step) * 2^unit`, where wrapping around does no harm: the numbers at
/// the indices that the line is meant for fit, with four bits to spare.
///
/// Unless the line is exact, `first` is off by less than 1 and so is `step`: number `i` is off by
/// less than `i + 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The number at index 0.
    pub first: Wide,
    /// The difference of neighbours.
    pub step: Wide,
    /// The power of two of the lowest bit.
    pub unit: i32,
    /// True if `first` and `step` are exact.
    pub exact: bool,
    /// Numbers differ by 2^spacing at least from each other and from integers, if they differ.
    pub spacing: i32,
}

impl Line {
    /// The first of so many numbers, and the last, rounded down.
    pub fn bounds(&self, len: u64) -> [Parts; 2] {
        [0, len.saturating_sub(1)].map(|i| {
            let (leading, exponent) = self.first.plus(self.step, i).leading();
            let Parts { negative, mantissa, .. } = Parts::of_int(leading);
            Parts { negative, mantissa, exponent: exponent + self.unit, sticky: false }
        })
    }
}

/// The bits of the largest number: 192, less the sign and four to spare.
const BITS: i32 = 187;

impl Line {
    /// The line from `first` with that step, on which no number is beyond the larger of two bounds.
    pub(crate) fn new(first: &BigFraction, step: &BigFraction, bounds: [Parts; 2]) -> Line {
        let leading = |bound: Parts| if bound.mantissa == 0 { i32::MIN } else { bound.leading() };
        let unit = match leading(bounds[0]).max(leading(bounds[1])) {
            i32::MIN => 0,
            largest => largest + 1 - BITS,
        };
        let length = i32_of(first.denominator.bit_len());
        let spacing = first.exponent.min(step.exponent).min(0) - length;
        let ((first, whole), (step, whole_step)) = (in_units(first, unit), in_units(step, unit));
        Line { first: Wide::new(&first), step: Wide::new(&step), unit, exact: whole && whole_step, spacing }
    }
}

/// A fraction in units of `2^unit`, rounded down, and whether it was whole.
fn in_units(fraction: &BigFraction, unit: i32) -> (IBig, bool) {
    use dashu_int::ops::DivRemEuclid;
    let by = i64::from(fraction.exponent) - i64::from(unit);
    let numerator = scaled(fraction.numerator.clone(), by);
    let exact = by >= 0 || scaled(numerator.clone(), -by) == fraction.numerator;
    let (quotient, rest) = numerator.div_rem_euclid(IBig::from(fraction.denominator.clone()));
    (quotient, exact && rest.is_zero())
}
