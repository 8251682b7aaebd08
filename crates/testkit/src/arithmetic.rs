//! Arithmetic sequences, exactly, one number after another.

use dashu_base::{BitTest, Sign};
use dashu_int::{IBig, UBig};

use crate::wide::{WideFloat, limbs};
use crate::{Real, real};

/// The reals `(first + i * step) / divisor`, where `first` and `step` are sums of floats.
#[derive(Clone, Debug)]
pub struct Arithmetic {
    /// In two's complement, the least significant limb first.
    value: Vec<u64>,
    step: Vec<u64>,
    /// The power of two of the lowest bit.
    exponent: i64,
    divisor: u64,
}

impl Arithmetic {
    /// Linspace from index `from` on: `start + i * (stop - start) / divisor`.
    pub fn linspace(start: f64, stop: f64, divisor: u64, from: u64) -> Arithmetic {
        let (start, stop) = (real(start), real(stop));
        let step = stop - &start;
        Arithmetic::new(&(start * Real::from(divisor) + &step * Real::from(from)), &step, divisor)
    }

    /// Range from index `from` on: `start + i * step`.
    pub fn range(start: f64, step: f64, from: u64) -> Arithmetic {
        let step = real(step);
        Arithmetic::new(&(real(start) + &step * Real::from(from)), &step, 1)
    }

    fn new(first: &Real, step: &Real, divisor: u64) -> Arithmetic {
        // Denominators are powers of two; the larger one is a multiple of both.
        let unit = first.denominator().max(step.denominator()).clone();
        let scaled = |x: &Real| -> IBig { x.numerator() * (&unit / x.denominator()) };
        let (first, step) = (scaled(first), scaled(step));
        // 64 bits more for the index, and one for the sign.
        let width = first.bit_len().max(step.bit_len()) / 64 + 3;
        let two_s_complement = |x: &IBig| {
            let (sign, magnitude) = x.clone().into_parts();
            let bits =
                if sign == Sign::Negative { (UBig::ONE << (64 * width)) - magnitude } else { magnitude };
            let mut limbs = limbs(&bits.to_le_bytes());
            limbs.resize(width, 0);
            limbs
        };
        let exponent = 1 - i64::try_from(unit.bit_len()).expect("floats are of moderate size");
        Arithmetic { value: two_s_complement(&first), step: two_s_complement(&step), exponent, divisor }
    }

    /// Goes on to the next number.
    pub fn advance(&mut self) {
        let mut carry = false;
        for (limb, &step) in self.value.iter_mut().zip(&self.step) {
            (*limb, carry) = limb.carrying_add(step, carry);
        }
    }

    /// The sign (true for negative) and the magnitude.
    pub fn number(&self) -> (bool, WideFloat) {
        let negative = self.value.last().is_some_and(|limb| limb >> 63 == 1);
        if !negative {
            return (false, WideFloat::quotient(&self.value, self.exponent, self.divisor));
        }
        let mut carry = true;
        let magnitude: Vec<u64> = self
            .value
            .iter()
            .map(|&limb| {
                let (limb, carried) = (!limb).carrying_add(0, carry);
                carry = carried;
                limb
            })
            .collect();
        (true, WideFloat::quotient(&magnitude, self.exponent, self.divisor))
    }
}
