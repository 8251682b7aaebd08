//! Intervals that hold a real, in fixed point of any precision.

use std::ops::{Add, Div, Mul, Neg, Sub};

use dashu_int::IBig;
use dashu_int::ops::{BitTest, DivEuclid, RemEuclid, UnsignedAbs};
use gradus_core::Number;
use gradus_core::convert::{i32_of, i64_of, usize_of};
use gradus_core::float::Parts;

use crate::elementary::ln_2;
use crate::elementary::{self, scaled};
use crate::fraction::parts_of;

/// An interval that holds a real; its ends count units of `2^-bits`.
///
/// An operation returns an interval that holds its result for all reals in its arguments. Sums,
/// products and quotients that the units hold are exact, so that an interval of exact reals may be
/// one point.
#[derive(Clone, Debug)]
pub struct Interval {
    low: IBig,
    high: IBig,
    bits: usize,
}

/// Bits of the first try of [`nearest`], and of the last.
const BITS: [usize; 2] = [128, 4096];

/// Reads a real, which is computed with more and more bits until both ends of its interval read
/// the same; `read` is monotone, so that is what the real reads.
///
/// A real on a boundary of `read` is told only where the interval becomes a point. A real that is
/// not told in 4096 bits reads as the lower end.
pub fn nearest<T: PartialEq>(real: impl Fn(usize) -> Interval, read: impl Fn(Parts) -> T) -> T {
    let [mut bits, last] = BITS;
    loop {
        let interval = real(bits);
        let part = |end: &IBig| parts_of(*end < IBig::ZERO, &end.unsigned_abs(), -i32_of(bits));
        let low = read(part(&interval.low));
        if bits >= last || low == read(part(&interval.high)) {
            return low;
        }
        bits *= 2;
    }
}

/// Powers of two beyond which an exponential is taken as the largest: no float is so large.
const LARGEST: i64 = 1 << 14;

impl Interval {
    /// A finite double.
    pub fn new(x: f64, bits: usize) -> Interval {
        let parts = Number::Float(x).parts();
        let mantissa = IBig::from(parts.mantissa);
        let mantissa = if parts.negative { -mantissa } else { mantissa };
        let by = i64_of(bits) + i64::from(parts.exponent);
        let high = -scaled(-&mantissa, by);
        Interval { low: scaled(mantissa, by), high, bits }
    }

    /// A finite double in as many bits as this interval.
    #[must_use]
    pub fn like(&self, x: f64) -> Interval {
        Interval::new(x, self.bits)
    }

    /// An interval that says nothing.
    fn unknown(bits: usize) -> Interval {
        let end = IBig::ONE << (bits + usize_of(LARGEST.unsigned_abs()));
        Interval { low: -&end, high: end, bits }
    }

    /// The interval of a value that is off by less than these units.
    fn around(value: &IBig, units: u8, bits: usize) -> Interval {
        Interval { low: value - units, high: value + units, bits }
    }

    /// Returns true if all reals of the interval are below zero.
    pub fn is_negative(&self) -> bool {
        self.high < IBig::ZERO
    }

    /// An increasing function, by its intervals at the ends.
    fn increasing(&self, at: impl Fn(&IBig, usize) -> Interval) -> Interval {
        let low = at(&self.low, self.bits);
        let high = if self.low == self.high { low.high } else { at(&self.high, self.bits).high };
        Interval { low: low.low, high, bits: self.bits }
    }

    /// The ratio of a circle's circumference to its diameter.
    #[must_use]
    pub fn pi(&self) -> Interval {
        Interval::around(&elementary::pi(self.bits), 2, self.bits)
    }

    /// `e^x`.
    #[must_use]
    pub fn exp(&self) -> Interval {
        self.increasing(exp)
    }

    /// The natural logarithm; of numbers that are not positive, no statement.
    #[must_use]
    pub fn ln(&self) -> Interval {
        if self.low <= IBig::ZERO { Interval::unknown(self.bits) } else { self.increasing(ln) }
    }

    /// The square root; of a number below zero, zero.
    #[must_use]
    pub fn sqrt(&self) -> Interval {
        self.increasing(|x, bits| {
            if *x <= IBig::ZERO {
                return Interval::new(0.0, bits);
            }
            let square = (x << bits).unsigned_abs();
            let root = square.nth_root(2);
            let high = if root.sqr() == square { IBig::from(root.clone()) } else { IBig::from(&root + 1u8) };
            Interval { low: root.into(), high, bits }
        })
    }

    /// Cosine and sine.
    #[must_use]
    pub fn cos_sin(&self) -> [Interval; 2] {
        // As many bits more as the number has before its point, since it is reduced by as many
        // times a quarter turn, each of which is off by at most 1 unit.
        let bits = self.bits;
        let more = self.low.bit_len().saturating_sub(bits) + 32;
        let work = bits + more;
        let x = &self.low << more;
        let quarter = elementary::pi(work) >> 1;
        let turns = (&x + (&quarter >> 1)).div_euclid(&quarter);
        let (cos, sin) = elementary::cos_sin(&(x - &turns * &quarter), work);
        let [cos, sin] = match u8::try_from(turns.rem_euclid(IBig::from(4))) {
            Ok(0) => [cos, sin],
            Ok(1) => [-sin, cos],
            Ok(2) => [-cos, -sin],
            _ => [sin, -cos],
        };
        // Neither changes by more than its argument does.
        let slack = &self.high - &self.low;
        [cos, sin].map(|x| {
            let near = Interval::around(&(x >> more), 2, bits);
            Interval { low: near.low - &slack, high: near.high + &slack, bits }
        })
    }

    /// The arc tangent.
    #[must_use]
    pub fn atan(&self) -> Interval {
        self.increasing(|x, bits| {
            let one = IBig::ONE << bits;
            let angle = if *x <= one && *x >= -&one {
                elementary::angle(&one, x, bits)
            } else {
                let inverse = ((one.clone() << bits) / x).unsigned_abs();
                elementary::angle(&inverse.into(), &if *x < IBig::ZERO { -one } else { one }, bits)
            };
            Interval::around(&angle, 4, bits)
        })
    }

    /// The arc sine of a number from -1 to 1.
    #[must_use]
    pub fn asin(&self) -> Interval {
        self.increasing(|x, bits| {
            let one = IBig::ONE << bits;
            let x = x.clone().clamp(-&one, one.clone());
            let cos = ((one << bits) - &x * &x).unsigned_abs().nth_root(2);
            Interval::around(&elementary::angle(&cos.into(), &x, bits), 4, bits)
        })
    }

    /// The error function.
    #[must_use]
    pub fn erf(&self) -> Interval {
        self.increasing(erf)
    }
}

/// `e^x`: `2^k e^r`, where `r` is less than the logarithm of 2.
///
/// In the working precision, the multiple of the logarithm is off by at most `2 k`, less than 2^16
/// units, and its exponential by less than 2^18; times `2^k`, with `40 + k` bits more, that is less
/// than a unit of the result.
fn exp(x: &IBig, bits: usize) -> Interval {
    if x.is_zero() {
        return Interval::new(1.0, bits);
    }
    let power = (x << bits) / ln_2(bits);
    let power = i64::try_from(power >> bits).unwrap_or(if *x < IBig::ZERO { i64::MIN } else { LARGEST });
    if power < -i64_of(bits) - 2 {
        return Interval { low: IBig::ZERO, high: IBig::ONE, bits };
    }
    if power >= LARGEST {
        return Interval {
            low: IBig::ONE << (bits + usize_of(LARGEST.unsigned_abs())),
            ..Interval::unknown(bits)
        };
    }
    let more = 40 + usize_of(power.max(0).unsigned_abs());
    let work = bits + more;
    let rest = (x << more) - ln_2(work) * power;
    let value = scaled(elementary::exp(&rest, work), power - i64_of(more));
    Interval { low: (&value - 1u8).max(IBig::ZERO), high: value + 2u8, bits }
}

/// The natural logarithm of a positive number: its leading bits are a number from 1/2 to 1.
fn ln(x: &IBig, bits: usize) -> Interval {
    let length = x.bit_len();
    if *x == IBig::ONE << bits {
        return Interval::new(0.0, bits);
    }
    let work = bits + 32;
    let power = i64_of(length) - i64_of(bits);
    let value = elementary::ln(x, length, work) + ln_2(work) * power;
    Interval::around(&(value >> 32usize), 2, bits)
}

/// The error function: `2/sqrt(pi) e^(-x^2)` times the sum of `x (2 x^2)^n / (1 3 5 … (2n + 1))`,
/// whose terms have one sign.
///
/// The sum is less than `e^(x^2)`, and an error of one of its terms grows by less than that. With
/// twice as many bits as that has, and 64 more, all errors together are less than a unit.
fn erf(x: &IBig, bits: usize) -> Interval {
    if *x < IBig::ZERO {
        return -erf(&-x, bits);
    }
    let square = (x * x) >> bits;
    let whole = usize::try_from(&square >> bits).unwrap_or(usize::MAX);
    if whole > bits {
        // The distance to 1 is less than e^(-x^2).
        let one = IBig::ONE << bits;
        return Interval { low: &one - 1u8, high: one, bits };
    }
    let more = 64 + 3 * (whole + 1);
    let work = bits + more;
    let mut term = x << more;
    let twice = (&term * &term) >> (work - 1);
    let mut sum = term.clone();
    for n in 1u64.. {
        term = ((term * &twice) >> work) / (2 * n + 1);
        if term <= IBig::ONE && i64::try_from(n).is_ok_and(|n| IBig::from(n) > &twice >> work) {
            break;
        }
        sum += &term;
    }
    let power = exp(&-(&twice >> 1), work).low;
    let root = (elementary::pi(work) << work).unsigned_abs().nth_root(2);
    let value = ((sum * power) << 1) / IBig::from(root);
    Interval::around(&(value >> more), 2, bits)
}

impl Neg for Interval {
    type Output = Interval;

    fn neg(self) -> Interval {
        Interval { low: -self.high, high: -self.low, bits: self.bits }
    }
}

impl Add for Interval {
    type Output = Interval;

    fn add(self, other: Interval) -> Interval {
        Interval { low: self.low + other.low, high: self.high + other.high, bits: self.bits }
    }
}

impl Sub for Interval {
    type Output = Interval;

    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

/// The interval from the smallest of four numbers to the largest of four.
fn hull(low: [IBig; 4], high: [IBig; 4], bits: usize) -> Interval {
    let low = low.into_iter().min().expect("there are four");
    Interval { low, high: high.into_iter().max().expect("there are four"), bits }
}

impl Mul for Interval {
    type Output = Interval;

    fn mul(self, other: Interval) -> Interval {
        let [a, b] = [&self, &other];
        let products = [&a.low * &b.low, &a.low * &b.high, &a.high * &b.low, &a.high * &b.high];
        let low = products.each_ref().map(|x| x >> self.bits);
        hull(low, products.map(|x| -(-x >> self.bits)), self.bits)
    }
}

impl Div for Interval {
    type Output = Interval;

    fn div(self, other: Interval) -> Interval {
        if other.high < IBig::ZERO {
            return -self / -other;
        }
        if other.low <= IBig::ZERO {
            return Interval::unknown(self.bits);
        }
        let pairs = [
            (&self.low, &other.low),
            (&self.low, &other.high),
            (&self.high, &other.low),
            (&self.high, &other.high),
        ];
        let low = pairs.map(|(a, b)| (a << self.bits).div_euclid(b));
        hull(low, pairs.map(|(a, b)| -(-(a << self.bits)).div_euclid(b)), self.bits)
    }
}
