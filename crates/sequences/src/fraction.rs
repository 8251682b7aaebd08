//! Exact fractions of element values, and their rounding to an element type.

use std::cmp::Ordering;

use dashu_int::ops::{BitTest, DivEuclid, DivRem, UnsignedAbs};
use dashu_int::{IBig, UBig};
use gradus_core::convert::{self, Rules, i32_of, low_u64, small_usize};
use gradus_core::float::Parts;
use gradus_core::{DType, Number};

use crate::exact::ExactNumber;

/// An exact fraction: `numerator * 2^exponent / denominator`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BigFraction {
    pub(crate) numerator: IBig,
    pub(crate) exponent: i32,
    pub(crate) denominator: UBig,
}

impl BigFraction {
    /// `(a * times_a + b * times_b) / denominator`, of finite numbers.
    pub(crate) fn new(
        [(a, times_a), (b, times_b)]: [(&ExactNumber, i64); 2],
        denominator: u64,
    ) -> BigFraction {
        let (ExactNumber::Number(a), ExactNumber::Number(b)) = (a, b) else {
            let (a, b) = (a.fraction(), b.fraction());
            let exponent = a.exponent.min(b.exponent);
            let term = |fraction: &BigFraction, times: i64, other: &BigFraction| {
                ((&fraction.numerator * times) << small_usize(fraction.exponent - exponent))
                    * IBig::from(other.denominator.clone())
            };
            let numerator = term(&a, times_a, &b) + term(&b, times_b, &a);
            return BigFraction {
                numerator,
                exponent,
                denominator: a.denominator * b.denominator * denominator,
            };
        };
        let (a, b) = (a.parts(), b.parts());
        let exponent = match (a.mantissa, b.mantissa) {
            (_, 0) => a.exponent,
            (0, _) => b.exponent,
            _ => a.exponent.min(b.exponent),
        };
        let term = |number: Parts, times: i64| {
            if number.mantissa == 0 {
                return IBig::ZERO;
            }
            let product = (IBig::from(number.mantissa) * times) << small_usize(number.exponent - exponent);
            if number.negative { -product } else { product }
        };
        // Most are short, and need no memory.
        let short = |number: Parts, times: i64| {
            let product = i128::try_from(number.mantissa).ok()?.checked_mul(times.into())?;
            let by = if product == 0 { 0 } else { u32::try_from(number.exponent - exponent).ok()? };
            let fits = by < product.unsigned_abs().leading_zeros().saturating_sub(1);
            fits.then(|| if number.negative { -(product << by) } else { product << by })
        };
        let sum = short(a, times_a).zip(short(b, times_b)).and_then(|(a, b)| a.checked_add(b));
        let numerator = sum.map_or_else(|| term(a, times_a) + term(b, times_b), IBig::from);
        BigFraction { numerator, exponent, denominator: UBig::from(denominator) }
    }

    /// The smallest integer that is not below the quotient of two fractions.
    pub(crate) fn ceil_of_quotient(&self, divisor: &BigFraction) -> IBig {
        let dividend = &self.numerator * IBig::from(divisor.denominator.clone());
        let other = &divisor.numerator * IBig::from(self.denominator.clone());
        let by = small_usize((self.exponent - divisor.exponent).abs());
        let (dividend, other) =
            if self.exponent < divisor.exponent { (dividend, other << by) } else { (dividend << by, other) };
        // The Euclidean quotient by a positive number is the floor.
        let (dividend, other) = if other < IBig::ZERO { (dividend, -other) } else { (-dividend, other) };
        -dividend.div_euclid(other)
    }

    /// -1, 0 or 1.
    pub(crate) fn sign(&self) -> i8 {
        match self.numerator.cmp(&IBig::ZERO) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    /// `times` times the fraction, if that is an integer.
    pub(crate) fn whole_multiple(&self, times: i64) -> Option<IBig> {
        let product = &self.numerator * times;
        let by = small_usize(self.exponent.abs());
        let (dividend, divisor) = if self.exponent < 0 {
            (product, IBig::from(self.denominator.clone()) << by)
        } else {
            (product << by, IBig::from(self.denominator.clone()))
        };
        let (quotient, rest) = dividend.div_rem(divisor);
        rest.is_zero().then_some(quotient)
    }

    /// The fraction as sign, mantissa and exponent: the leading 128 bits, or 65 at least of a
    /// quotient that does not end, and a note of whether there is more.
    pub(crate) fn parts(&self) -> Parts {
        let magnitude = (&self.numerator).unsigned_abs();
        let negative = self.sign() < 0;
        if self.denominator.is_one() {
            return parts_of(negative, &magnitude, self.exponent);
        }
        let Ok(denominator) = u64::try_from(&self.denominator) else {
            let shift = 100 + i32_of(self.denominator.bit_len()) - i32_of(magnitude.bit_len());
            let (numerator, cut) = shifted(&magnitude, shift);
            let (quotient, rest) = numerator.div_rem(&self.denominator);
            return Parts {
                negative,
                mantissa: u128::try_from(quotient).expect("the quotient has at most 101 bits"),
                exponent: self.exponent - shift,
                sticky: cut || !rest.is_zero(),
            };
        };
        // Leading 128 bits of the numerator; the denominator has at most 64, so the quotient has at
        // least 65.
        let shift = 128 - i32_of(magnitude.bit_len());
        let (numerator, cut) = leading(&magnitude, shift);
        let denominator = u128::from(denominator);
        Parts {
            negative,
            mantissa: numerator / denominator,
            exponent: self.exponent - shift,
            sticky: cut || numerator % denominator != 0,
        }
    }

    /// The code of the fraction in an element type: rounded once; for integers rounded toward zero
    /// and reduced modulo `2^bits`; for `bool`, 1 unless the fraction is zero.
    ///
    /// # Panics
    /// If the type is text or complex.
    pub(crate) fn code(&self, dtype: DType) -> u64 {
        if dtype.is_integer() {
            convert::code(dtype, Number::Int(self.truncated().into()), Rules::IEEE)
        } else {
            convert::code_of_parts(dtype, self.parts(), Rules::IEEE)
        }
    }

    /// The fraction rounded toward zero, modulo 2^64.
    fn truncated(&self) -> u64 {
        let magnitude = (&self.numerator).unsigned_abs();
        let by = small_usize(self.exponent.abs());
        // Beyond the lowest bits, only the bits matter that a division by the denominator can bring
        // down.
        let whole = if self.exponent < 0 {
            (magnitude / &self.denominator) >> by
        } else {
            (magnitude << by) / &self.denominator
        };
        let low = low_u64(u128::try_from(whole.clone().split_bits(64).0).unwrap_or_default());
        if self.sign() < 0 { low.wrapping_neg() } else { low }
    }
}

/// `magnitude * 2^shift` rounded down, of which no more than 128 bits are left, and whether bits
/// were cut off.
fn leading(magnitude: &UBig, shift: i32) -> (u128, bool) {
    let (kept, cut) = shifted(magnitude, shift);
    (u128::try_from(kept).expect("128 bits are left"), cut)
}

/// `magnitude * 2^shift` rounded down, and whether bits were cut off.
fn shifted(magnitude: &UBig, shift: i32) -> (UBig, bool) {
    let by = small_usize(shift.abs());
    if shift < 0 {
        (magnitude >> by, magnitude.trailing_zeros().is_some_and(|zeros| zeros < by))
    } else {
        (magnitude << by, false)
    }
}

/// A magnitude times a power of two as sign, mantissa and exponent, with 128 leading bits.
pub(crate) fn parts_of(negative: bool, magnitude: &UBig, exponent: i32) -> Parts {
    let shift = (128 - i32_of(magnitude.bit_len())).min(0);
    let (mantissa, sticky) = leading(magnitude, shift);
    Parts { negative, mantissa, exponent: exponent - shift, sticky }
}
