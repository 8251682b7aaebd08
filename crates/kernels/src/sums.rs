//! Sums of products that are not added in float64: without any error, or in float32.
//!
//! A sum without error is kept as a number of fixed point, of digits of 32 bits, that holds the
//! product of any two finite floats (Kulisch 2013, "Computer Arithmetic and Validity", 8.1). Digits
//! are signed and wide, so that carries wait until many products have been added.

use gradus_core::convert::{FromNumber, i64_of};

use crate::options::Options;
use crate::product::{Product, Sizes};
use crate::threads::share;

/// How floats are added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sums {
    /// In float64, in the order of the elements.
    #[default]
    Float64,
    /// Without error: the sum is rounded once.
    Exact,
    /// In float32, in the order of the elements, each product rounded before: as simple programs
    /// add. Numbers that float32 lacks are added in float64.
    Float32,
}

impl Sums {
    /// All of them.
    pub const ALL: [Sums; 3] = [Sums::Float64, Sums::Exact, Sums::Float32];

    /// Its name: `float64`, `exact` or `float32`.
    pub fn name(self) -> &'static str {
        match self {
            Sums::Float64 => "float64",
            Sums::Exact => "exact",
            Sums::Float32 => "float32",
        }
    }

    /// The sum of products, rounded to float64 for a result that is `narrow`, of at most 32 bits, or
    /// of float64. Of no products it is zero.
    ///
    /// ```
    /// use gradus_kernels::Sums;
    /// let terms = || [1e30, 1.0, -1e30].into_iter().map(|x| (x, 1.0));
    /// assert_eq!(Sums::Float64.of(terms(), false), 0.0);
    /// assert_eq!(Sums::Exact.of(terms(), false), 1.0);
    /// ```
    pub fn of(self, terms: impl Iterator<Item = (f64, f64)>, narrow: bool) -> f64 {
        fn add<A: Accumulator>(mut sum: A, terms: impl Iterator<Item = (f64, f64)>, narrow: bool) -> f64 {
            terms.for_each(|(a, b)| sum.add(a, b));
            sum.total(narrow)
        }
        match self {
            Sums::Float64 => terms.map(|(a, b)| a * b).reduce(|sum, x| sum + x).unwrap_or(0.0),
            Sums::Exact => add(Exact::default(), terms, narrow),
            Sums::Float32 if narrow => add(Single::default(), terms, narrow),
            Sums::Float32 => Sums::Float64.of(terms, narrow),
        }
    }
}

/// A sum of products that goes on.
trait Accumulator: Clone + Default {
    fn add(&mut self, a: f64, b: f64);

    /// The sum so far. A `narrow` one goes to a float of at most 32 bits.
    fn total(&self, narrow: bool) -> f64;
}

#[derive(Clone, Copy, Default)]
struct Single(f32);

impl Accumulator for Single {
    fn add(&mut self, a: f64, b: f64) {
        self.0 += f32::from_f64(a) * f32::from_f64(b);
    }

    fn total(&self, _: bool) -> f64 {
        f64::from(self.0)
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
#[derive(Clone)]
struct Exact {
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

    /// To the nearest float64, or, if it is `narrow`, to the float64 with an odd last bit where it is
    /// none: then it is rounded to a narrower type as the sum itself.
    fn total(&self, narrow: bool) -> f64 {
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
        let magnitude = rounded(integer, LAST + 32 * i64_of(low), narrow);
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

/// Columns that are added at a time, and the part of the summed axis that is read at a time.
const COLUMNS: usize = 64;
const INNER: usize = 512;

/// Multiplies pairs of matrices as [`multiply`](crate::product::multiply) does, adding in float32 or
/// without error. `narrow` is true if sums become floats of at most 32 bits.
///
/// # Errors
/// Those of `check`.
///
/// # Panics
/// As `multiply`.
pub fn multiply_with<T: Send, E: Send>(
    sums: Sums,
    narrow: bool,
    products: &[Product<'_>],
    sizes: Sizes,
    out: &mut [T],
    check: impl Fn() -> Result<(), E> + Sync,
    store: impl Fn(usize, usize, usize, &[f64], &mut [T]) + Sync,
) -> Result<(), E> {
    if out.is_empty() {
        return Ok(());
    }
    let row = |(): &mut (), (at, out): (usize, &mut [T])| {
        let (matrix, row) = (at / sizes.rows, at % sizes.rows);
        for (block, out) in out.chunks_mut(COLUMNS).enumerate() {
            let column = block * COLUMNS;
            let (of, place) = (&products[matrix], [row, column]);
            let totals = match sums {
                Sums::Exact => of.added::<Exact, E>(place, sizes.inner, out.len(), narrow, &check)?,
                _ => of.added::<Single, E>(place, sizes.inner, out.len(), narrow, &check)?,
            };
            store(matrix, row, column, &totals, out);
        }
        Ok(())
    };
    share(out.chunks_mut(sizes.columns).enumerate(), Options::default(), || (), row)
}

impl Product<'_> {
    /// The sums of some columns of a row.
    fn added<A: Accumulator, E>(
        &self,
        [row, column]: [usize; 2],
        inner: usize,
        columns: usize,
        narrow: bool,
        check: impl Fn() -> Result<(), E>,
    ) -> Result<Vec<f64>, E> {
        let mut sums = vec![A::default(); columns];
        let mut a = vec![0.0; inner.min(INNER)];
        let mut b = [0.0; COLUMNS];
        for first in (0..inner).step_by(INNER) {
            check()?;
            let a = &mut a[..INNER.min(inner - first)];
            self.a.read(row, first, a);
            for (k, &x) in a.iter().enumerate() {
                let b = &mut b[..columns];
                self.b.read(first + k, column, b);
                sums.iter_mut().zip(&*b).for_each(|(sum, &y)| sum.add(x, y));
            }
        }
        Ok(sums.iter().map(|sum| sum.total(narrow)).collect())
    }
}
