//! Powers: positive reals of which the logarithm is known to any precision.

use std::sync::LazyLock;

use dashu_int::IBig;
use dashu_int::ops::{BitTest, Gcd, UnsignedAbs};
use gradus_core::Number;
use gradus_core::convert::{i32_of, i64_of, low_u64, usize_of, usize_of_u32};
use gradus_core::float::Parts;

use crate::elementary::{self, exact_root, scaled};
use crate::exp2;
use crate::fraction::{BigFraction, parts_of};

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

/// A positive element: an odd number times a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Positive {
    odd: u64,
    exponent: i32,
}

impl Positive {
    pub(crate) const ONE: Positive = Positive { odd: 1, exponent: 0 };

    /// The magnitude of a finite number other than zero.
    pub(crate) fn of(number: Number) -> Positive {
        let parts = number.parts();
        let zeros = parts.mantissa.trailing_zeros();
        Positive { odd: low_u64(parts.mantissa >> zeros), exponent: parts.exponent + zeros.cast_signed() }
    }

    /// The logarithm to base 2 in fixed point, off by at most 2 units.
    pub(crate) fn log2(self, bits: usize) -> IBig {
        // The odd number, divided by a power of two, is from 1/2 to 1.
        let length = 64 - self.odd.leading_zeros();
        let whole = IBig::from(i64::from(self.exponent) + i64::from(length)) << bits;
        whole
            + match self.odd {
                1 => IBig::NEG_ONE << bits,
                5 if bits < KEPT => &*OF_FIVE >> (KEPT - bits),
                odd => log2_near_one(&odd.into(), usize_of_u32(length), bits),
            }
    }
}

/// Bits of the logarithm of 5 that are kept: bases of 10 are common.
const KEPT: usize = 320;
static OF_FIVE: LazyLock<IBig> = LazyLock::new(|| log2_near_one(&IBig::from(5), 3, KEPT));

/// `log2(x / 2^shift)`, where the quotient is from 1/2 to 1, off by at most 2 units.
pub(crate) fn log2_near_one(x: &IBig, shift: usize, bits: usize) -> IBig {
    let work = bits + 8;
    ((elementary::ln(x, shift, work) << work) / ln_2(work)) >> 8
}

/// The natural logarithm of 2, off by at most 2 units.
pub(crate) fn ln_2(bits: usize) -> IBig {
    const KEPT: usize = 512;
    static LN_2: LazyLock<IBig> = LazyLock::new(|| elementary::ln_2(KEPT));
    if bits < KEPT { &*LN_2 >> (KEPT - bits) } else { elementary::ln_2(bits) }
}

/// `base ^ exponent`.
pub(crate) struct Power {
    pub(crate) base: Positive,
    pub(crate) exponent: BigFraction,
}

impl Exponential for Power {
    fn log2(&self, bits: usize) -> IBig {
        times_log2(&self.exponent, self.base, bits)
    }

    /// The base is `r^g 2^k`, where `r` is odd and no power itself. If `r` is 1, the real is a
    /// power of two, or irrational. Otherwise its odd part is `r^(g e)`, of few bits only if that
    /// exponent is a natural number; and its power of two is `k e`, which must be an integer,
    /// because nothing cancels between the two.
    fn exact(&self) -> Option<Parts> {
        let exponent = self.exponent.whole_multiple(self.base.exponent.into())?;
        let exponent = i32::try_from(exponent).ok()?;
        let mantissa = if self.base.odd == 1 {
            1
        } else {
            let (root, degree) = (1..=40u8)
                .rev()
                .find_map(|degree| Some((exact_root(self.base.odd, degree.into())?, degree)))
                .expect("a number is its own first root");
            let power = u32::try_from(self.exponent.whole_multiple(degree.into())?).ok()?;
            u128::from(root).checked_pow(power)?
        };
        Some(Parts { negative: false, mantissa, exponent, sticky: false })
    }
}

/// `factor * log2(base)`, off by at most 4 units.
pub(crate) fn times_log2(factor: &BigFraction, base: Positive, bits: usize) -> IBig {
    times(factor, |bits| base.log2(bits), bits)
}

/// `factor * real`, off by at most 4 units, where the real is off by at most 2.
pub(crate) fn times(factor: &BigFraction, real: impl Fn(usize) -> IBig, bits: usize) -> IBig {
    // As many more bits as the factor has before its point, so that it does not magnify the real's
    // error.
    let length = i64_of(factor.numerator.bit_len()) + i64::from(factor.exponent);
    let work = bits + usize_of(length.max(0).unsigned_abs());
    let product = &factor.numerator * real(work);
    let excess = i64_of(work - bits);
    scaled(product, i64::from(factor.exponent) - excess) / factor.denominator
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

    /// With `i/d` in lowest terms, and without the factor that the odd parts have in common, the
    /// odd part is a `d`-th root: rational only if each of the two, which have no factor in common,
    /// is a `d`-th power itself.
    fn exact(&self) -> Option<Parts> {
        let shared = self.index.gcd(self.divisor);
        let (index, divisor) = (self.index / shared, self.divisor / shared);
        let common = self.start.odd.gcd(self.stop.odd);
        let start = exact_root(self.start.odd / common, divisor)?;
        let stop = exact_root(self.stop.odd / common, divisor)?;
        // A root other than 1 has a small degree.
        let power = |root: u64, degree: u64| {
            if root == 1 { Some(1) } else { u128::from(root).checked_pow(u32::try_from(degree).ok()?) }
        };
        let odd = power(start, divisor - index)?.checked_mul(power(stop, index)?)?;
        let difference = i64::from(self.stop.exponent) - i64::from(self.start.exponent);
        let (divisor, index) = (i64::try_from(divisor).ok()?, i64::try_from(index).ok()?);
        let exponent = (difference % divisor == 0).then_some(difference / divisor * index)?;
        Some(Parts {
            negative: false,
            mantissa: odd.checked_mul(common.into())?,
            exponent: i32::try_from(i64::from(self.start.exponent) + exponent).ok()?,
            sticky: false,
        })
    }
}
