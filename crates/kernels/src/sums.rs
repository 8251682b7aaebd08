//! Sums of products that are not added in float64 one after the other: in pairs of doubles, without
//! any error, or in float32.
//!
//! A pair has the sum, and the sum of the errors of its products and additions, each of which is a
//! double (Ogita, Rump, Oishi 2005, "Accurate Sum and Dot Product", algorithm 5.3).
//!
//! A sum without error is kept as a number of fixed point, of digits of 32 bits, that holds the
//! product of any two finite floats (Kulisch 2013, "Computer Arithmetic and Validity", 8.1). Digits
//! are signed and wide, so that carries wait until many products have been added.

use gradus_core::convert::{FromNumber, i64_of};

use crate::with_accumulator;

/// How floats are added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sums {
    /// In float64, in the order of the elements; results of float64 in pairs of doubles.
    #[default]
    Float64,
    /// Without error: the sum is rounded once.
    Exact,
    /// In float32, each product fused with its addition, in the order of the elements: blocks of
    /// [`SINGLE_BLOCK`] terms from zero, and then the sums of the blocks. Numbers that float32 lacks
    /// are added in float64.
    Float32,
}

gradus_core::names!(Sums { Float64 = "float64", Exact = "exact", Float32 = "float32" });

/// Number of terms that [`Sums::Float32`] adds up from zero.
pub const SINGLE_BLOCK: usize = 256;

/// The type of sums that vectors add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumType {
    /// In float64, one term after the other.
    Double,
    /// In float32, as [`Sums::Float32`] says.
    Single,
}

impl Sums {
    /// The same, or [`Sums::Float64`] in place of [`Sums::Float32`].
    #[must_use]
    pub fn in_doubles(self) -> Sums {
        if self == Sums::Float32 { Sums::Float64 } else { self }
    }

    /// The type in which products are added by vectors; nothing if a sum takes more than a number of
    /// it. `exact` is true if all factors are numbers of float32.
    pub fn term(self, to: Destination, exact: bool) -> Option<SumType> {
        match (self, to) {
            (Sums::Exact, _) | (Sums::Float64, Destination::Double) => None,
            (Sums::Float32, Destination::Narrow) if exact => Some(SumType::Single),
            _ => Some(SumType::Double),
        }
    }

    /// The sum of products. Of no products it is zero.
    ///
    /// ```
    /// use gradus_kernels::{Destination, Sums};
    /// let terms = || [1e30, 1.0, -1e30].into_iter().map(|x| (x, 1.0));
    /// assert_eq!(Sums::Float64.of(terms(), Destination::Narrow), 0.0);
    /// assert_eq!(Sums::Float64.of(terms(), Destination::Double), 1.0);
    /// assert_eq!(Sums::Exact.of(terms(), Destination::Narrow), 1.0);
    /// ```
    pub fn of(self, terms: impl Iterator<Item = (f64, f64)>, to: Destination) -> f64 {
        let mut terms = terms.peekable();
        if terms.peek().is_none() {
            return 0.0;
        }
        with_accumulator!(self, to, A => {
            let mut sum = A::default();
            terms.for_each(|(a, b)| sum.add(a, b));
            sum.total(to)
        })
    }

    /// The sums of the terms of rows of as many numbers, each as [`Sums::of`] adds them. They are
    /// added at a time, as an addition waits for the one before it.
    ///
    /// # Panics
    /// If a row is shorter than the first one.
    ///
    /// ```
    /// use gradus_kernels::{Destination, Sums};
    /// let rows: [&[f64]; 2] = [&[1.0, 2.0], &[3.0, 4.0]];
    /// let squares = Sums::Float64.of_rows(rows, |x| (x, x), Destination::Narrow);
    /// assert_eq!(squares, [5.0, 25.0]);
    /// ```
    #[allow(clippy::needless_range_loop, reason = "the rows go side by side")]
    pub fn of_rows<const R: usize>(
        self,
        rows: [&[f64]; R],
        term: impl Fn(f64) -> (f64, f64),
        to: Destination,
    ) -> [f64; R] {
        let count = rows.first().map_or(0, |row| row.len());
        if count == 0 {
            return [0.0; R];
        }
        let rows = rows.map(|row| &row[..count]);
        with_accumulator!(self, to, A => {
            let mut sums: [A; R] = std::array::from_fn(|_| A::default());
            crate::widest(
                #[inline(always)]
                || {
                    for k in 0..count {
                        for row in 0..R {
                            let (a, b) = term(rows[row][k]);
                            sums[row].add(a, b);
                        }
                    }
                },
            );
            sums.map(|sum| sum.total(to))
        })
    }
}

/// The number that a sum becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A result of float64, or a number that it is computed from.
    Double,
    /// A result of at most 32 bits.
    Narrow,
    /// A double that a result of at most 32 bits is computed from.
    Intermediate,
}

/// Evaluates an expression with the type of [`Accumulator`] for [`Sums`] and a [`Destination`].
#[macro_export]
macro_rules! with_accumulator {
    ($sums:expr, $to:expr, $A:ident => $work:expr) => {{
        use $crate::{Destination, Sums, sums};
        match ($sums, $to) {
            (Sums::Exact, _) => {
                type $A = sums::Exact;
                $work
            }
            (Sums::Float32, Destination::Narrow) => {
                type $A = sums::Single;
                $work
            }
            (Sums::Float64, Destination::Double) => {
                type $A = sums::Twofold;
                $work
            }
            _ => {
                type $A = sums::Plain;
                $work
            }
        }
    }};
}

/// A sum of products that goes on.
pub trait Accumulator: Clone + Default + Send + Sync {
    /// Adds a product.
    fn add(&mut self, a: f64, b: f64);

    /// The sum so far.
    fn total(&self, to: Destination) -> f64;
}

/// A sum in float64.
#[derive(Clone, Copy, Debug)]
pub struct Plain(f64);

impl Default for Plain {
    fn default() -> Plain {
        // The number that leaves each summand as it is.
        Plain(-0.0)
    }
}

impl Accumulator for Plain {
    #[inline(always)]
    fn add(&mut self, a: f64, b: f64) {
        self.0 += a * b;
    }

    #[inline(always)]
    fn total(&self, _: Destination) -> f64 {
        self.0
    }
}

/// A sum in float32: of the blocks before, and of this one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Single {
    before: f32,
    block: f32,
    terms: usize,
}

impl Accumulator for Single {
    #[inline(always)]
    fn add(&mut self, a: f64, b: f64) {
        self.block = f32::from_f64(a).mul_add(f32::from_f64(b), self.block);
        self.terms += 1;
        if self.terms == SINGLE_BLOCK {
            *self = Single { before: self.before + self.block, ..Single::default() };
        }
    }

    #[inline(always)]
    fn total(&self, _: Destination) -> f64 {
        f64::from(self.before + self.block)
    }
}

/// A sum in float64, and what rounding took from it.
#[derive(Clone, Copy, Debug)]
pub struct Twofold {
    pub(crate) sum: f64,
    pub(crate) rest: f64,
}

impl Default for Twofold {
    fn default() -> Twofold {
        Twofold { sum: Plain::default().0, rest: 0.0 }
    }
}

impl Accumulator for Twofold {
    #[inline(always)]
    fn add(&mut self, a: f64, b: f64) {
        let product = a * b;
        let lost = a.mul_add(b, -product);
        let sum = self.sum + product;
        let added = sum - self.sum;
        self.rest += ((self.sum - (sum - added)) + (product - added)) + lost;
        self.sum = sum;
    }

    #[inline(always)]
    fn total(&self, _: Destination) -> f64 {
        // Errors of sums that are not finite are NaN.
        if self.rest == 0.0 || !self.rest.is_finite() { self.sum } else { self.sum + self.rest }
    }
}

/// Digits of a sum. The exponents of products are from -2148 to 1942, and 2^64 products of 2^2048
/// need 64 bits more.
const DIGITS: usize = 137;
/// The exponent of the last digit; there are always three below the last bit of a product.
const LAST: i64 = -32 * 71;
/// Products that are added before digits are carried.
const DELAY: u32 = 1 << 29;

/// A sum without error.
#[derive(Clone, Debug)]
pub struct Exact {
    digits: [i64; DIGITS],
    waiting: u32,
    /// The sum of products that are not finite.
    special: f64,
}

impl Default for Exact {
    fn default() -> Exact {
        Exact { digits: [0; DIGITS], waiting: 0, special: 0.0 }
    }
}

/// A finite float: an integer of 53 bits, times a power of two.
fn parts(x: f64) -> (u64, i64) {
    let bits = x.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7FF, bits & ((1 << 52) - 1));
    let of = |exponent: u64| i64::try_from(exponent).unwrap_or(0) - 1075;
    if exponent == 0 { (fraction, of(1)) } else { (fraction | 1 << 52, of(exponent)) }
}

impl Exact {
    /// Adds an integer that is shifted up to a digit and a bit of it.
    fn add_at(&mut self, digit: usize, integer: u64, shift: i64, negative: bool) {
        let shifted = u128::from(integer) << shift;
        let words = shifted.to_le_bytes();
        for (digit, word) in self.digits[digit..].iter_mut().zip(words.as_chunks::<4>().0) {
            let word = i64::from(u32::from_le_bytes(*word));
            *digit += if negative { -word } else { word };
        }
    }

    /// The sum with every digit but the first from 0 to 2^32 - 1.
    fn carried(&self) -> [i64; DIGITS] {
        let (mut digits, mut carry) = (self.digits, 0);
        for digit in &mut digits[..DIGITS - 1] {
            let sum = *digit + carry;
            (*digit, carry) = (sum & 0xFFFF_FFFF, sum >> 32);
        }
        digits[DIGITS - 1] += carry;
        digits
    }
}

impl Accumulator for Exact {
    fn add(&mut self, a: f64, b: f64) {
        if !(a.is_finite() && b.is_finite()) {
            self.special += a * b;
            return;
        }
        let ((a_integer, a_exponent), (b_integer, b_exponent)) = (parts(a), parts(b));
        let integer = u128::from(a_integer) * u128::from(b_integer);
        let place = a_exponent + b_exponent - LAST;
        let (digit, shift) = (usize::try_from(place / 32).unwrap_or(0), place % 32);
        let negative = a.is_sign_negative() != b.is_sign_negative();
        let half = |at: u32| u64_of_low(integer >> at);
        self.add_at(digit, half(0), shift, negative);
        self.add_at(digit + 2, half(64), shift, negative);
        self.waiting += 1;
        if self.waiting == DELAY {
            (self.digits, self.waiting) = (self.carried(), 0);
        }
    }

    /// To the nearest float64, or, for a narrow result, to the float64 with an odd last bit where
    /// it is none: then it is rounded to the narrower type as the sum itself.
    fn total(&self, to: Destination) -> f64 {
        if self.special != 0.0 || self.special.is_nan() {
            return if self.special.is_nan() { f64::NAN } else { self.special };
        }
        let mut digits = self.carried();
        let negative = digits[DIGITS - 1] < 0;
        if negative {
            digits = Exact { digits: digits.map(|digit| -digit), ..Exact::default() }.carried();
        }
        let Some(first) = digits.iter().rposition(|&digit| digit != 0) else { return 0.0 };
        let low = first - 3;
        let word = |sum: u128, &digit: &i64| sum << 32 | u128::from(digit.cast_unsigned());
        let sticky = digits[..low].iter().any(|&digit| digit != 0);
        let integer = digits[low..=first].iter().rev().fold(0, word) | u128::from(sticky);
        let magnitude = rounded(integer, LAST + 32 * i64_of(low), to == Destination::Narrow);
        if negative { -magnitude } else { magnitude }
    }
}

fn u64_of_low(integer: u128) -> u64 {
    u64::try_from(integer & u128::from(u64::MAX)).unwrap_or(0)
}

/// An integer of at least 97 bits times a power of two, to the nearest float64, ties to even, or to
/// an odd last bit.
fn rounded(integer: u128, exponent: i64, odd: bool) -> f64 {
    let bits = i64::from(128 - integer.leading_zeros());
    let last = (exponent + bits - 53).max(-1074);
    let dropped = last - exponent;
    let (kept, rest, half) = match u32::try_from(dropped) {
        Ok(dropped @ ..128) => (integer >> dropped, integer & ((1 << dropped) - 1), 1 << (dropped - 1)),
        Ok(128) => (0, integer, 1 << 127),
        _ => (0, 1, 2),
    };
    let up = if odd { rest != 0 && kept % 2 == 0 } else { rest > half || (rest == half && kept % 2 == 1) };
    let kept = u64_of_low(kept) + u64::from(up);
    // The first bit of a normal float adds 1 to the exponent.
    let field = u64::try_from(last + 1074).unwrap_or(0);
    if field + (kept >> 52) >= 2047 { f64::INFINITY } else { f64::from_bits((field << 52) + kept) }
}
