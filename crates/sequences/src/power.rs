//! Powers: positive reals of which the logarithm is known to any precision.

use std::cell::RefCell;

use dashu_int::ops::{BitTest, DivRem, Gcd, UnsignedAbs};
use dashu_int::{IBig, UBig};
use gradus_core::convert::{i32_of, i64_of, usize_of, usize_of_u32};
use gradus_core::float::Parts;

use crate::elementary::{self, exact_root, ln_2, scaled};
use crate::exact::ExactNumber;
use crate::exp2;
use crate::fraction::{BigFraction, parts_of};
use crate::line::Wide;
use crate::words::Words;

/// A positive real `2^x`.
pub(crate) trait Exponential {
    /// `x` in fixed point, off by at most 4 units.
    fn log2(&self, bits: usize) -> IBig;

    /// The real itself, if it has at most 128 bits.
    fn exact(&self) -> Option<Parts>;
}

/// Powers of two beyond which every type has only infinity, or zero.
pub(crate) const FAR: i32 = 1 << 14;

/// Reads a real: what `read` makes of every real that is near enough to it, exactly.
///
/// An interval that holds the real is narrowed until its ends read the same; `read` is monotone, so
/// that is what the real reads. If the real is where `read` changes, no interval is narrow enough;
/// but then it is a number of few bits, which is found exactly. (All other powers are irrational,
/// or fractions that do not end, and lie off such places.)
pub(crate) fn decide<T: PartialEq>(real: &impl Exponential, negative: bool, read: impl Fn(Parts) -> T) -> T {
    let mut bits = FIRST_BITS;
    loop {
        let [low, high] = ends(&real.log2(bits), bits, negative);
        let low = read(low);
        if low == read(high) {
            return low;
        }
        if bits == FIRST_BITS
            && let Some(parts) = real.exact()
        {
            return read(Parts { negative, ..parts });
        }
        bits *= 2;
    }
}

/// Bits of the first try, for which there is a fast way.
const FIRST_BITS: usize = 128;

/// Units by which the power in [`ends`] may be off: the fraction of `x` times ln 2 is off by at
/// most `4 ln 2 + 2` and a rest that is cut off, less than 6; its exponential, of at most 2, by
/// `2 * 6 + 1`.
const RADIUS: u8 = 13;

/// An interval that holds `2^x`, or `-2^x`, where `x` may be off by 4 units.
fn ends(x: &IBig, bits: usize, negative: bool) -> [Parts; 2] {
    let whole = x >> bits;
    let Some(power) = i32::try_from(&whole).ok().filter(|power| power.abs() < FAR) else {
        let exponent = if whole < IBig::ZERO { -2 * FAR } else { 2 * FAR };
        return [Parts { negative, mantissa: 1, exponent, sticky: false }; 2];
    };
    let fraction = x - (whole << bits);
    if bits == FIRST_BITS {
        // 127 bits, off by the error of `exp2` and by 4 for the logarithm.
        let mantissa = exp2::exp2(u128::try_from(fraction).expect("a fraction has no sign")) / 2;
        let end = |mantissa| Parts { negative, mantissa, exponent: power - 126, sticky: false };
        return [end(mantissa - (1 << 7)), end(mantissa + (1 << 7))];
    }
    let mantissa = exp2(&fraction, bits).unsigned_abs();
    let exponent = power - i32_of(bits);
    [&mantissa - RADIUS, mantissa + RADIUS].map(|end| parts_of(negative, &end, exponent))
}

/// `2^x` for `x` from 0 to 1, off by at most 5 units.
pub(crate) fn exp2(x: &IBig, bits: usize) -> IBig {
    elementary::exp(&((x * ln_2(bits)) >> bits), bits)
}

/// A positive number: a quotient of odd numbers without a common factor, times a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Positive {
    odd: UBig,
    divisor: UBig,
    exponent: i32,
}

impl Positive {
    /// The magnitude of a finite number other than zero.
    pub(crate) fn of(number: &ExactNumber) -> Positive {
        let BigFraction { numerator, exponent, denominator } = number.fraction();
        let odd = numerator.unsigned_abs();
        let zeros = odd.trailing_zeros().unwrap_or(0);
        Positive { odd: odd >> zeros, divisor: denominator, exponent: exponent + i32_of(zeros) }
    }

    /// Returns true for 1.
    pub(crate) fn is_one(&self) -> bool {
        self.odd.is_one() && self.divisor.is_one() && self.exponent == 0
    }

    /// The logarithm to base 2 in fixed point, off by at most 2 units.
    pub(crate) fn log2(&self, bits: usize) -> IBig {
        let whole = IBig::from(self.exponent) << bits;
        if self.divisor.is_one() {
            return whole + log2_of_odd(&self.odd, bits);
        }
        whole + ((log2_of_odd(&self.odd, bits + 3) - log2_of_odd(&self.divisor, bits + 3)) >> 3usize)
    }

    /// The logarithm as whether it is below zero, and the magnitude in units of 2^-[`KEPT_BITS`],
    /// off by at most 2; of short odd numbers times powers of two.
    fn short_log2(&self) -> Option<(bool, Words)> {
        let odd = u64::try_from(&self.odd).ok().filter(|_| self.divisor.is_one())?;
        let whole = Words::shifted::<KEPT_BITS>(self.exponent.unsigned_abs().into());
        Some(match odd {
            1 => (self.exponent < 0, whole),
            _ if self.exponent < 0 => Logarithm::with(odd, |log2| log2.words.minus(whole)),
            _ => (false, Logarithm::with(odd, |log2| log2.words.plus(whole))),
        })
    }
}

/// The logarithm of an odd number to base 2 in fixed point, off by at most 2 units.
fn log2_of_odd(odd: &UBig, bits: usize) -> IBig {
    match u64::try_from(odd) {
        Ok(1) => IBig::ZERO,
        Ok(small) if bits < KEPT_BITS => {
            Logarithm::with(small, |logarithm| &logarithm.number >> (KEPT_BITS - bits))
        }
        _ => {
            // The number, divided by a power of two, is from 1/2 to 1.
            let length = odd.bit_len();
            (IBig::from(length) << bits) + log2_near_one(&IBig::from(odd.clone()), length, bits)
        }
    }
}

/// Bits of logarithms that are kept, and how many of them a thread keeps.
const KEPT_BITS: usize = 320;
const KEPT: usize = 16;

thread_local! {
    /// Odd numbers and their logarithms, the oldest first: a sequence asks several times for the
    /// logarithms of its base or its ends, and the next one often has the same.
    static LOGARITHMS: RefCell<Vec<(u64, Logarithm)>> = const { RefCell::new(Vec::new()) };
}

/// The logarithm of an odd number to base 2, in units of 2^-[`KEPT_BITS`]: off by at most 2.
struct Logarithm {
    number: IBig,
    words: Words,
}

impl Logarithm {
    /// Calls a function with the logarithm of an odd number.
    fn with<R>(odd: u64, work: impl FnOnce(&Logarithm) -> R) -> R {
        LOGARITHMS.with_borrow_mut(|kept| {
            if let Some((_, logarithm)) = kept.iter().find(|(number, _)| *number == odd) {
                return work(logarithm);
            }
            let length = usize_of_u32(u64::BITS - odd.leading_zeros());
            let number =
                (IBig::from(length) << KEPT_BITS) + log2_near_one(&IBig::from(odd), length, KEPT_BITS);
            let logarithm = Logarithm { words: Words::new(&(&number).unsigned_abs()), number };
            let result = work(&logarithm);
            if kept.len() == KEPT {
                kept.remove(0);
            }
            kept.push((odd, logarithm));
            result
        })
    }
}

/// `log2(x / 2^shift)`, where the quotient is from 1/2 to 1, off by at most 2 units.
pub(crate) fn log2_near_one(x: &IBig, shift: usize, bits: usize) -> IBig {
    let work = bits + 8;
    ((elementary::ln(x, shift, work) << work) / ln_2(work)) >> 8
}

/// `base ^ exponent`.
pub(crate) struct Power {
    pub(crate) base: Positive,
    pub(crate) exponent: BigFraction,
}

impl Exponential for Power {
    fn log2(&self, bits: usize) -> IBig {
        times_log2(&self.exponent, &self.base, bits)
    }

    /// The base is `r^g 2^k` or `r^-g 2^k`, where `r` is odd and no power itself. If `r` is 1, the
    /// real is a power of two, or irrational. Otherwise its odd part is `r^(g e)` or `r^(-g e)`, of
    /// few bits only if that exponent is a natural number; and its power of two is `k e`, which
    /// must be an integer, because nothing cancels between the two. A base with odd parts above and
    /// below is never a number of few bits.
    fn exact(&self) -> Option<Parts> {
        let exponent = self.exponent.whole_multiple(self.base.exponent.into())?;
        let exponent = i32::try_from(exponent).ok()?;
        let (odd, sign) = match (self.base.odd.is_one(), self.base.divisor.is_one()) {
            (_, true) => (&self.base.odd, 1),
            (true, false) => (&self.base.divisor, -1),
            (false, false) => return None,
        };
        let mantissa = if odd.is_one() {
            1
        } else {
            // An odd number other than 1 is at least 3.
            let (root, degree) = (1..=i64_of(odd.bit_len()))
                .rev()
                .find_map(|degree| Some((exact_root(odd, degree.unsigned_abs())?, degree)))
                .expect("a number is its own first root");
            let power = u32::try_from(self.exponent.whole_multiple(sign * degree)?).ok()?;
            u128::try_from(root).ok()?.checked_pow(power)?
        };
        Some(Parts { negative: false, mantissa, exponent, sticky: false })
    }
}

/// `factor * log2(base)`, off by at most 4 units.
pub(crate) fn times_log2(factor: &BigFraction, base: &Positive, bits: usize) -> IBig {
    times(factor, |bits| base.log2(bits), bits)
}

/// `factor * log2(base)` in units of 2^-`bits`, below 2^190 of them and off by less than 2, where
/// both are short: as [`times_log2`], without memory of its own.
pub(crate) fn short_times_log2(factor: &BigFraction, base: &Positive, bits: usize) -> Option<Wide> {
    let (below, log2) = base.short_log2()?;
    let numerator = i128::try_from(&factor.numerator).ok()?;
    let denominator = u64::try_from(&factor.denominator).ok()?;
    // The error of the logarithm is still far below a unit.
    let by = u32::try_from(i32_of(KEPT_BITS - bits) - factor.exponent).ok().filter(|by| *by < 512)?;
    let magnitude = log2.times(numerator.unsigned_abs())?.shifted_right(by).over(denominator);
    magnitude.wide(below != (numerator < 0))
}

/// `factor * real`, off by at most 4 units, where the real is off by at most 2.
pub(crate) fn times(factor: &BigFraction, real: impl Fn(usize) -> IBig, bits: usize) -> IBig {
    // As many more bits as the factor has before its point, so that it does not magnify the real's
    // error.
    let length = i64_of(factor.numerator.bit_len()) + i64::from(factor.exponent);
    let work = bits + usize_of(length.max(0).unsigned_abs());
    let product = &factor.numerator * real(work);
    let excess = i64_of(work - bits);
    scaled(product, i64::from(factor.exponent) - excess) / IBig::from(factor.denominator.clone())
}

/// `start ^ (1 - i/d) * stop ^ (i/d)`.
pub(crate) struct Geometric {
    pub(crate) start: Positive,
    pub(crate) stop: Positive,
    pub(crate) index: u64,
    pub(crate) divisor: u64,
}

impl Geometric {
    /// The difference of the logarithms of neighbours, off by at most 4 units.
    pub(crate) fn step(&self, bits: usize) -> IBig {
        (self.stop.log2(bits) - self.start.log2(bits)) / self.divisor
    }
}

impl Exponential for Geometric {
    fn log2(&self, bits: usize) -> IBig {
        let (start, stop) = (self.start.log2(bits), self.stop.log2(bits));
        (start * (self.divisor - self.index) + stop * self.index) / self.divisor
    }

    /// With `i/d` in lowest terms, the odd part is that of the start times a power `i` of a `d`-th
    /// root, of the ratio of the odd parts: rational only if the ratio's numerator and denominator,
    /// in lowest terms, are `d`-th powers themselves.
    fn exact(&self) -> Option<Parts> {
        let shared = self.index.gcd(self.divisor);
        let (index, divisor) = (self.index / shared, self.divisor / shared);
        let (start, stop) = (&self.start, &self.stop);
        let (above, below) = (&stop.odd * &start.divisor, &stop.divisor * &start.odd);
        let common = (&above).gcd(&below);
        // A root other than 1 has a small degree.
        let power = |ratio: UBig| {
            let root = exact_root(&ratio, divisor)?;
            Some(if root.is_one() { root } else { root.pow(usize_of(index)) })
        };
        let above = &start.odd * power(above / &common)?;
        let below = &start.divisor * power(below / common)?;
        let (odd, rest) = above.div_rem(below);
        if !rest.is_zero() {
            return None;
        }
        let difference = i64::from(self.stop.exponent) - i64::from(self.start.exponent);
        let (divisor, index) = (i64::try_from(divisor).ok()?, i64::try_from(index).ok()?);
        let exponent = (difference % divisor == 0).then_some(difference / divisor * index)?;
        Some(Parts {
            negative: false,
            mantissa: u128::try_from(odd).ok()?,
            exponent: i32::try_from(i64::from(self.start.exponent) + exponent).ok()?,
            sticky: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use gradus_core::Number;

    use super::*;

    #[test]
    fn short_products_are_as_near_as_they_say() {
        const BITS: usize = 176;
        let float = |x| ExactNumber::Number(Number::Float(x));
        let numbers = [2.0, 10.0, 0.1, 1.5, 3e-300, 1.0 + f64::EPSILON, 1e300].map(float);
        let mut short = 0;
        for base in &numbers {
            let base = Positive::of(base);
            for (start, stop) in [(0.0, 9.0), (-0.3, 9.7), (1.0, 1e-9), (-1e-300, 3.0), (-1e4, 1e9)] {
                for (weight, divisor) in
                    [(1, 1), (7, 49), (1_000_003, 5_000_001), (1, i64::MAX.unsigned_abs())]
                {
                    let terms = [(&float(start), -weight), (&float(stop), weight)];
                    let factor = BigFraction::new(terms, divisor);
                    let Some(made) = short_times_log2(&factor, &base, BITS) else { continue };
                    let exact = times_log2(&factor, &base, BITS + 64);
                    let made = ((IBig::from(made.high) << 64usize) + made.low) << 64usize;
                    let off = (made - exact).unsigned_abs();
                    assert!(off < UBig::from(2u8) << 64usize, "{start}, {stop}, {weight} / {divisor}: {off}");
                    short += 1;
                }
            }
        }
        assert!(short > 90, "only {short} are compared");
    }
}
