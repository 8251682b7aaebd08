//! Affine sequences in fixed point, the input of fills.

use dashu_int::IBig;
use dashu_int::ops::{BitTest, UnsignedAbs};
use gradus_core::convert::{i32_of, low_u64, shifted_right, usize_of_u32};
use gradus_core::float::Parts;

use crate::elementary::scaled;
use crate::fraction::BigFraction;
use crate::words::divide;

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

    /// The number with the other sign.
    pub(crate) fn opposite(self) -> Wide {
        Wide { high: !self.high, low: !self.low }.plus(Wide { high: 0, low: 1 }, 1)
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
    /// The first of `len` numbers, and the last, rounded down.
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
        // The power of two that a numerator is a multiple of: that of a double has many zeros.
        let grid =
            |x: &BigFraction| x.numerator.trailing_zeros().map_or(0, |zeros| x.exponent + i32_of(zeros));
        let spacing = grid(first).min(grid(step)).min(0) - length;
        let ((first, whole), (step, whole_step)) = (in_units(first, unit), in_units(step, unit));
        Line { first, step, unit, exact: whole && whole_step, spacing }
    }
}

/// A fraction in units of `2^unit`, rounded down, and whether it was whole; the result must fit.
fn in_units(fraction: &BigFraction, unit: i32) -> (Wide, bool) {
    use dashu_int::ops::DivRemEuclid;
    let by = i64::from(fraction.exponent) - i64::from(unit);
    let terms =
        (i128::try_from(&fraction.numerator), u64::try_from(&fraction.denominator), u32::try_from(by));
    if let (Ok(numerator), Ok(denominator), Ok(by)) = terms
        && let Some(short) = quotient(numerator, by, denominator)
    {
        return short;
    }
    let numerator = scaled(fraction.numerator.clone(), by);
    let exact = by >= 0 || scaled(numerator.clone(), -by) == fraction.numerator;
    let (quotient, rest) = numerator.div_rem_euclid(IBig::from(fraction.denominator.clone()));
    (Wide::new(&quotient), exact && rest.is_zero())
}

/// `numerator * 2^by / denominator`, rounded down, and whether it was whole; without memory of its
/// own, if the dividend has at most 256 bits and the quotient 191.
fn quotient(numerator: i128, by: u32, denominator: u64) -> Option<(Wide, bool)> {
    let magnitude = numerator.unsigned_abs();
    if magnitude.leading_zeros() < by.saturating_sub(128) || by >= 256 {
        return None;
    }
    let (from, within) = (usize_of_u32(by / 64), by % 64);
    let shifted = magnitude << within;
    let mut words = [0; 6];
    words[from] = low_u64(shifted);
    words[from + 1] = low_u64(shifted >> 64);
    words[from + 2] = low_u64(shifted_right(magnitude, 128 - within));
    let rest = divide(&mut words[..4], denominator);
    let [low, middle, high, 0, ..] = words else { return None };
    let high = i128::try_from(u128::from(high) << 64 | u128::from(middle)).ok()?;
    let whole = rest == 0;
    // Below zero, the complement of the magnitude less one, if it is whole, rounds down.
    let wide = match (numerator < 0, whole) {
        (false, _) => Wide { high, low },
        (true, false) => Wide { high: !high, low: !low },
        (true, true) => Wide { high, low }.opposite(),
    };
    Some((wide, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_quotients_are_those_of_big_integers() {
        use dashu_int::ops::DivRemEuclid;
        let numbers = [0, 1, -1, 3, -7, i128::from(i64::MAX), i128::from(i64::MIN), i128::MAX, i128::MIN + 1];
        let mut compared = 0;
        for numerator in numbers {
            for by in [0, 1, 63, 64, 65, 100, 127, 128, 129, 150, 187, 200, 255, 256] {
                for denominator in [1, 2, 3, 49, u64::MAX - 58, u64::MAX] {
                    let Some((wide, whole)) = quotient(numerator, by, denominator) else { continue };
                    let dividend = IBig::from(numerator) << usize_of_u32(by);
                    let (quotient, rest) = dividend.div_rem_euclid(IBig::from(denominator));
                    assert_eq!(
                        (wide, whole),
                        (Wide::new(&quotient), rest.is_zero()),
                        "{numerator} 2^{by} / {denominator}"
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 400, "only {compared} are compared");
    }
}
