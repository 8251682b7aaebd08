//! Unevaluated sums of two doubles.

use gradus_core::convert::{shifted_right, split};
use gradus_core::float::Parts;
use gradus_sequences::Wide;

use crate::functions::power_of_two;

/// `high + low`, where `low` is at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    /// The sum, rounded.
    pub high: f64,
    /// The rest.
    pub low: f64,
}

impl DoubleDouble {
    /// One.
    pub const ONE: DoubleDouble = DoubleDouble { high: 1.0, low: 0.0 };

    /// A number in units of `2^unit`; relatively off by less than 2^-105.
    pub fn of_wide(x: Wide, unit: i32) -> DoubleDouble {
        let (leading, exponent) = x.leading();
        let [high, low] = split(leading);
        DoubleDouble { high, low }.scaled(unit + exponent)
    }

    /// The mantissa of a magnitude of 128 bits, from 1 to 2, rounded by less than 2^-105, and its
    /// exponent.
    pub fn of_mantissa(x: Parts) -> (DoubleDouble, i32) {
        // An integer of 127 bits and a sign leaves room for that many.
        let mantissa = i128::try_from(shifted_right(x.mantissa, 1)).expect("127 bits are left");
        let [high, low] = split(mantissa);
        let pair = DoubleDouble { high, low }.scaled(-126);
        (pair, x.exponent + 127)
    }

    /// The number times a power of two; exact if neither the result nor its low part is too small.
    #[inline]
    #[must_use]
    pub fn scaled(self, exponent: i32) -> DoubleDouble {
        // Halves, because the power alone may be beyond the doubles.
        let half = exponent / 2;
        let [a, b] = [half, exponent - half].map(power_of_two);
        DoubleDouble { high: self.high * a * b, low: self.low * a * b }
    }

    /// The product, relatively off by less than 2^-103.6 (5 times 2^-106): M. Joldes, J.-M. Muller,
    /// V. Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
    /// arithmetic", 2017, algorithm 11.
    #[inline(always)]
    #[must_use]
    pub fn times(self, other: DoubleDouble) -> DoubleDouble {
        let high = self.high * other.high;
        let rest = self.high.mul_add(other.high, -high);
        let low = self.low.mul_add(other.high, self.high.mul_add(other.low, rest));
        let sum = high + low;
        DoubleDouble { high: sum, low: low - (sum - high) }
    }
}
