//! Ranges of reals.

use dashu_base::{BitTest, Sign};
use dashu_int::IBig;

use crate::Real;

/// How the length of a range is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeRule {
    /// Exactly.
    Exact,
    /// Difference and quotient each rounded to 53 bits, with any exponent.
    Rounded53,
}

/// The nearest real of 53 bits, with any exponent, ties to even.
fn rounded(x: &Real) -> Real {
    let power = |n: isize| {
        let power = Real::from(IBig::ONE << n.unsigned_abs());
        if n < 0 { Real::ONE / power } else { power }
    };
    let bits = |len: usize| isize::try_from(len).expect("there are few bits");
    let scale = bits(x.numerator().bit_len()) - bits(x.denominator().bit_len());
    // Scaled to about 1, a double has all its 53 bits.
    crate::real(crate::nearest_f64(&(x * power(-scale)))) * power(scale)
}

/// `max(ceil((limit - start) / step), 0)`.
pub fn count(start: &Real, limit: &Real, step: &Real, rule: RangeRule) -> IBig {
    let quotient = match rule {
        RangeRule::Exact => (limit - start) / step,
        RangeRule::Rounded53 => rounded(&(rounded(&(limit - start)) / step)),
    };
    let count = quotient.ceil();
    if count.sign() == Sign::Negative { IBig::ZERO } else { count }
}

/// `start + i * step`.
pub fn element(start: &Real, step: &Real, i: u64) -> Real {
    start + step * Real::from(i)
}
