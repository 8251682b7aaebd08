//! Exact numbers: the value of any element, and sums of products of such values without any rounding.

use crate::convert::{low_u64, small_usize, split_bits};
use crate::float::Parts;

/// The exact value of one element of any numeric type; `bool` counts as 0 or 1.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer. Elements have at most 64 bits, so sums and products of two never overflow.
    Int(i128),
    /// A real float: finite, infinite or NaN.
    Float(f64),
    /// Real part and imaginary part.
    Complex(f64, f64),
}

impl Number {
    /// Whether the number is neither infinite nor NaN.
    pub fn is_finite(self) -> bool {
        match self {
            Number::Int(_) => true,
            Number::Float(x) => x.is_finite(),
            Number::Complex(re, im) => re.is_finite() && im.is_finite(),
        }
    }

    /// Whether the number is zero, of either sign.
    pub fn is_zero(self) -> bool {
        match self {
            Number::Int(x) => x == 0,
            Number::Float(x) => x == 0.0,
            Number::Complex(re, im) => re == 0.0 && im == 0.0,
        }
    }

    /// The finite real number as sign, mantissa and exponent; of a complex number, its real part.
    pub fn parts(self) -> Parts {
        match self {
            Number::Int(x) => Parts::of_int(x),
            Number::Float(x) | Number::Complex(x, _) => Parts::of_float(x),
        }
    }
}

/// Bitwise: NaN equals itself, and 0.0 is not -0.0.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
            (Number::Complex(a, b), Number::Complex(c, d)) => {
                (a.to_bits(), b.to_bits()) == (c.to_bits(), d.to_bits())
            }
            _ => false,
        }
    }
}

/// The words of a [`Sum`]. Its lowest bit weighs 2^-1088, its highest 2^1151.
const WORDS: usize = 35;
/// The power of two of the lowest bit, negated.
const POINT: i32 = 1088;

/// An exact sum: fixed point, two's complement, wide enough for any 2^32 terms `a`, or `k * a`, where `a` is a
/// finite float or a 64-bit integer and `k` an integer of 63 bits.
///
/// A float is a multiple of 2^-1074 below 2^1024, so a term is a multiple of 2^-1074 below 2^1087 and the sum of
/// 2^32 of them stays below 2^1119: no term is ever cut off and no sum overflows.
#[derive(Clone, Debug)]
pub struct Sum {
    words: [u64; WORDS],
}

impl Default for Sum {
    fn default() -> Self {
        Sum { words: [0; WORDS] }
    }
}

impl Sum {
    /// Adds a finite number.
    pub fn add(&mut self, number: Number) {
        self.add_multiple(number, 1);
    }

    /// Takes away a finite number.
    pub fn subtract(&mut self, number: Number) {
        let parts = number.parts();
        self.add_parts(!parts.negative, parts.mantissa, parts.exponent);
    }

    /// Adds `count` times a finite number.
    pub fn add_multiple(&mut self, number: Number, count: u64) {
        let parts = number.parts();
        self.add_parts(parts.negative, parts.mantissa * u128::from(count), parts.exponent);
    }

    fn add_parts(&mut self, negative: bool, mantissa: u128, exponent: i32) {
        let (word, bit) = split_bits(exponent + POINT);
        // The mantissa has at most 64 + 64 bits, so shifted by up to 63 it covers three words.
        let low = mantissa << bit;
        let high = if bit == 0 { 0 } else { mantissa >> (128 - bit) };
        let addend = [low_u64(low), low_u64(low >> 64), low_u64(high)];
        let mut carry = u64::from(negative);
        for (i, slot) in self.words.iter_mut().enumerate().skip(if negative { 0 } else { word }) {
            let digit = i.checked_sub(word).and_then(|k| addend.get(k)).copied().unwrap_or(0);
            let digit = if negative { !digit } else { digit };
            let (sum, over) = slot.overflowing_add(digit);
            let (sum, over_again) = sum.overflowing_add(carry);
            *slot = sum;
            carry = u64::from(over || over_again);
        }
    }

    fn is_negative(&self) -> bool {
        self.words[WORDS - 1] >> 63 == 1
    }

    /// The sum's sign and magnitude, the magnitude as words.
    fn magnitude(&self) -> (bool, [u64; WORDS]) {
        let negative = self.is_negative();
        let mut words = self.words;
        if negative {
            let mut carry = true;
            for word in &mut words {
                let (sum, over) = (!*word).overflowing_add(u64::from(carry));
                *word = sum;
                carry = over;
            }
        }
        (negative, words)
    }

    /// The sum as sign, mantissa and exponent, with 128 leading bits and a note of whether there are more.
    pub fn parts(&self) -> Parts {
        let (negative, words) = self.magnitude();
        let Some(top) = words.iter().rposition(|&word| word != 0) else {
            return Parts::of_int(0);
        };
        // Three words from the top hold at least 129 leading bits; keep the leading 128 of them.
        let word = |back: usize| top.checked_sub(back).map_or(0, |i| words[i]);
        let shift = words[top].leading_zeros();
        let first = u128::from(word(0)) << 64 | u128::from(word(1));
        let mantissa = if shift == 0 { first } else { first << shift | u128::from(word(2) >> (64 - shift)) };
        let cut = word(2) << shift != 0
            || top.checked_sub(2).is_some_and(|end| words[..end].iter().any(|&w| w != 0));
        let exponent = crate::convert::small_i32_of(top * 64) - 64 - shift.cast_signed() - POINT;
        Parts { negative, mantissa, exponent, sticky: cut }
    }

    /// The sum rounded toward zero, modulo 2^64.
    pub fn truncated(&self) -> u64 {
        let (negative, words) = self.magnitude();
        let whole = words[small_usize(POINT) / 64];
        if negative { whole.wrapping_neg() } else { whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::{F64, Overflow};

    fn to_f64(sum: &Sum) -> f64 {
        f64::from_bits(F64.round(sum.parts(), Overflow::Special))
    }

    #[test]
    fn a_single_term_comes_back() {
        for x in [0.0, 1.0, -1.5, 5e-324, -5e-324, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 1e-300, 0.1] {
            let mut sum = Sum::default();
            sum.add(Number::Float(x));
            assert_eq!(to_f64(&sum), x);
            sum.subtract(Number::Float(x));
            assert_eq!(sum.parts(), Parts::of_int(0), "{x}");
        }
    }

    #[test]
    fn far_apart_terms_do_not_lose_each_other() {
        let mut sum = Sum::default();
        sum.add_multiple(Number::Float(f64::MAX), u64::MAX >> 1);
        sum.add(Number::Float(-5e-324));
        sum.add(Number::Int(i128::from(u64::MAX)));
        assert_eq!(to_f64(&sum), f64::INFINITY);
        sum.add_multiple(Number::Float(-f64::MAX), u64::MAX >> 1);
        sum.add(Number::Int(-i128::from(u64::MAX)));
        assert_eq!(to_f64(&sum), -5e-324);
    }

    #[test]
    fn truncation_is_toward_zero_and_modular() {
        let cases = [(1.9, 1), (-1.9, u64::MAX), (-0.5, 0), (1e300, 0), (18_446_744_073_709_551_616.0, 0)];
        for (x, want) in cases {
            let mut sum = Sum::default();
            sum.add(Number::Float(x));
            assert_eq!(sum.truncated(), want, "{x}");
        }
    }

    #[test]
    fn leading_bits_say_when_more_were_cut() {
        let mut sum = Sum::default();
        sum.add(Number::Float(1.0));
        sum.add(Number::Float(2f64.powi(-127)));
        assert!(!sum.parts().sticky);
        sum.add(Number::Float(2f64.powi(-200)));
        let parts = sum.parts();
        assert_eq!((parts.mantissa, parts.exponent, parts.sticky), ((1 << 127) | 1, -127, true));
    }
}
