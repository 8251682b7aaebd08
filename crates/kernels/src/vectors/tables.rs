//! Tables whose products are the elements of a geometric sequence.
//!
//! Element `i = s + b K + j` is `S R[b] P[j]`: a wide power for every `B K` elements, and two
//! tables of `B` and `K` entries. The entries of a table are powers of one wide power, and products
//! of those and of powers of another, 32 times as far apart. All are pairs of doubles. In units of
//! 2^-106, and with products off by 5 of them in addition to the errors of their factors:
//!
//! | what | relatively off by less than |
//! |---|---|
//! | wide power (2^-110) as a pair (2^-105) | 2.1 |
//! | its `n`th power, of squares and products with itself: `7.1 n - 5` | 216 |
//! | entry: a product of at most three, of which one is below the fourth power (17) | 459 |
//! | `S`, or its product with two such powers | 445 |
//! | `S R[b]` | 909 |
//! | its product with `P[j]`: `p + u` with `p = h h'`, `u = h l' + (l h' + (h h' - p))`; `l l'` is left out (1), `u` is at most 2^-51.4 and rounded twice (2 each) | 1373 |
//!
//! The bounds are made with 2^-95, 2048 units. Elements of fewer bits are a product of
//! doubles: off by half a unit in the last place for `S R[b]`, `P[j]`, its bound and the product,
//! 2^-51 together; the bounds are made with 2^-50.

use std::ops::Range;

use gradus_core::convert::{nearest_f64, usize_of};
use gradus_core::{DType, Number};
use gradus_sequences::PowerLine;

use crate::functions::power_of_two;
use crate::vectors::double_double::DoubleDouble;
use crate::vectors::levels::widest;

/// A geometric sequence as products of tables.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The logarithms of the elements.
    pub line: PowerLine,
    /// Elements in a block, a power of two: the entries of the table of positions.
    pub block: u64,
    /// The powers for positions in a block.
    pub positions: Vec<DoubleDouble>,
    /// Blocks before the next wide power, a power of two: the entries of the table of blocks.
    pub count: u64,
    /// The powers for blocks.
    pub blocks: Vec<DoubleDouble>,
}

/// Exponents of blocks that no product leaves the normal doubles from.
const INSIDE: std::ops::RangeInclusive<i32> = -960..=1020;

/// Exponents from which on every type has infinity, and up to which zero.
const BEYOND: [i32; 2] = [1025, -1100];

/// How elements of a line are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// By products of the tables.
    Inside,
    /// One by one: a product may leave the normal doubles.
    Edge,
    /// All as the first, infinite or zero in every type.
    Beyond,
}

/// The entries of a table, a power of two up to `longest`: no more than there are elements to a
/// side of a square, nor than span 64 powers of two.
pub fn fit(wanted: u64, longest: u64, slope: f64) -> u64 {
    let mut count = longest;
    while count > 1 && (count / 2 >= wanted || nearest_f64(Number::Int(count.into())) * slope > 64.0) {
        count /= 2;
    }
    count
}

impl Tables {
    /// The tables of a line, with at most `longest` positions and blocks, both powers of two.
    pub fn new(line: PowerLine, longest: [u64; 2]) -> Tables {
        let slope = line.slope().abs();
        // Twice the root: short blocks cost more than entries.
        let block = fit(2 * line.len.isqrt(), longest[0], slope);
        let across = slope * nearest_f64(Number::Int(block.into()));
        let count = fit(line.len.div_ceil(block), longest[1], across);
        Tables { line, block, positions: table(&line, 1, block), count, blocks: table(&line, block, count) }
    }

    /// The wide power at an index of the line, as a mantissa from 1 to 2 and an exponent; the sign
    /// is the line's.
    pub fn wide(&self, first: u64) -> (DoubleDouble, i32) {
        DoubleDouble::of_mantissa(self.line.at(first))
    }

    /// The wide powers for a range of indices of the line, one for as many elements as the tables
    /// have products, as mantissas from 1 to 2^64 and exponents.
    pub fn wides(&self, indices: Range<u64>) -> Vec<(DoubleDouble, i32)> {
        let apart = self.block * self.count;
        let count = (indices.end - indices.start).div_ceil(apart);
        let ratios = |apart: u64, count: u64| {
            let (ratio, exponent) = match count {
                // The ratio may be beyond all numbers.
                0..=1 => (DoubleDouble::ONE, 0),
                _ => DoubleDouble::of_mantissa(self.line.ratio(apart)),
            };
            let powers = powers(ratio, usize_of(count.min(CHAIN)));
            powers.into_iter().zip(0..).map(move |(power, n)| (power, n * exponent))
        };
        let fine: Vec<_> = ratios(apart, count).collect();
        let coarse: Vec<_> = ratios(apart * CHAIN, count.div_ceil(CHAIN)).collect();
        let firsts = indices.step_by(usize_of(apart * CHAIN * CHAIN)).map(|first| self.wide(first));
        let all = firsts.flat_map(|first| {
            let products = coarse.iter().flat_map(|coarse| fine.iter().map(move |fine| [coarse, fine]));
            products.map(move |ratios| {
                ratios.iter().fold(first, |(mantissa, unit), (ratio, exponent)| {
                    (mantissa.times(*ratio), unit + exponent)
                })
            })
        });
        all.take(usize_of(count)).collect()
    }

    /// Returns true if the exponents of that many elements, from an index of the line on, stay
    /// within the normal doubles.
    pub fn is_inside(&self, first: u64, count: u64) -> bool {
        self.exponents(first, count).iter().all(|exponent| INSIDE.contains(exponent))
    }

    /// Returns true if that many elements, from an index of the line on, are all infinite or all
    /// zero in every type.
    pub fn is_beyond(&self, first: u64, count: u64) -> bool {
        let [low, high] = self.exponents(first, count);
        low >= BEYOND[0] || high <= BEYOND[1]
    }

    /// The smallest and the largest exponent of that many elements from an index of the line on.
    fn exponents(&self, first: u64, count: u64) -> [i32; 2] {
        let last = (first + count).min(self.line.len) - 1;
        let [one, other] = [first, last].map(|i| self.line.logarithm(i));
        [one.min(other), one.max(other)]
    }
}

/// The line in ranges of indices, in order, by how elements are made there.
pub fn spans(line: &PowerLine) -> Vec<(Range<u64>, Span)> {
    // Logarithms only rise, or only fall, and so do the numbers of these marks that they have
    // reached.
    let marks = [BEYOND[1] + 1, *INSIDE.start(), *INSIDE.end() + 1, BEYOND[0]];
    let reached = |i: u64| {
        let logarithm = line.logarithm(i);
        marks.iter().filter(|&&mark| logarithm >= mark).count()
    };
    let mut spans = Vec::new();
    let mut start = 0;
    while start < line.len {
        let here = reached(start);
        // Nearly all lines end as they begin.
        let is_whole = reached(line.len - 1) == here;
        let (mut inner, mut outer) = (if is_whole { line.len - 1 } else { start }, line.len);
        while outer - inner > 1 {
            let middle = inner + (outer - inner) / 2;
            if reached(middle) == here { inner = middle } else { outer = middle }
        }
        spans.push((start..outer, [Span::Beyond, Span::Edge, Span::Inside, Span::Edge, Span::Beyond][here]));
        start = outer;
    }
    spans
}

/// Bounds of what is relatively off: of pairs, and of doubles.
const LONG: f64 = power_of_two(-95);
const SHORT: f64 = power_of_two(-50);

/// The low part of a power for a position less the bound of elements of a type, and with it; of
/// types of fewer bits, the bounds of the power itself.
pub fn bounds(power: DoubleDouble, dtype: DType) -> [f64; 2] {
    if has_long_mantissa(dtype) {
        [power.low - LONG * power.high, power.low + LONG * power.high]
    } else {
        [power.high * (1.0 - SHORT), power.high * (1.0 + SHORT)]
    }
}

/// Returns true if doubles are too short to decide elements of the type.
pub fn has_long_mantissa(dtype: DType) -> bool {
    matches!(dtype, DType::F64 | DType::I64 | DType::U64)
}

/// Powers of a wide power, at most.
const CHAIN: u64 = 32;

/// The powers from 0 to `count - 1`, a power of two, of the ratio of elements `apart` indices
/// apart.
fn table(line: &PowerLine, apart: u64, count: u64) -> Vec<DoubleDouble> {
    if count == 1 {
        // The ratio may be beyond the doubles.
        return powers(DoubleDouble::ONE, 1);
    }
    let (mantissa, exponent) = DoubleDouble::of_mantissa(line.ratio(apart));
    let fine = powers(mantissa.scaled(exponent), usize_of(count.min(CHAIN)));
    if count <= CHAIN {
        return fine;
    }
    let coarse = table(line, apart * CHAIN, count / CHAIN);
    let mut all = Vec::with_capacity(usize_of(count));
    widest(
        #[inline(always)]
        || {
            for coarse in coarse {
                all.extend(fine.iter().map(|fine| coarse.times(*fine)));
            }
        },
    );
    all
}

/// The powers of a number from 0 on.
fn powers(x: DoubleDouble, count: usize) -> Vec<DoubleDouble> {
    let mut powers = vec![DoubleDouble::ONE; count];
    widest(
        #[inline(always)]
        || {
            for n in 1..count {
                let even = powers[n / 2].times(powers[n / 2]);
                powers[n] = if n == 1 {
                    x
                } else if n % 2 == 0 {
                    even
                } else {
                    even.times(x)
                };
            }
        },
    );
    powers
}

#[cfg(test)]
mod tests {
    use gradus_core::convert::u64_of;
    use gradus_sequences::LogspacePlan;

    use super::*;

    #[test]
    fn entries_are_as_near_as_they_say() {
        let [start, stop] = [-0.3, 9.7].map(Number::Float);
        let plan = LogspacePlan::new(Number::Int(3), start, stop, 1 << 20, true, DType::F64);
        let line = plan.expect("a plan").line().expect("a line");
        for (longest, apart) in [([512, 4096], 512), ([2, 8], 2)] {
            let tables = Tables::new(line, longest);
            for (table, apart) in [(&tables.positions, 1), (&tables.blocks, apart)] {
                for (n, entry) in table.iter().enumerate() {
                    let (exact, exponent) = DoubleDouble::of_mantissa(line.ratio(u64_of(n) * apart));
                    let exact = exact.scaled(exponent);
                    let off = (entry.high - exact.high) + (entry.low - exact.low);
                    assert!(off.abs() <= power_of_two(-97) * exact.high, "entry {n} is off by {off}");
                }
            }
        }
    }

    #[test]
    fn products_of_wide_powers_are_as_near_as_they_say() {
        let [start, stop] = [-300, 290].map(Number::Int);
        let plan = LogspacePlan::new(Number::Int(10), start, stop, 1 << 20, true, DType::F64);
        let tables = Tables::new(plan.expect("a plan").line().expect("a line"), [2, 8]);
        for indices in [5..6, 5..40, 5..1 << 20] {
            let apart = tables.block * tables.count;
            let wides = tables.wides(indices.clone());
            assert_eq!(u64_of(wides.len()), (indices.end - indices.start).div_ceil(apart));
            for (first, (mantissa, exponent)) in indices.step_by(usize_of(apart)).zip(wides) {
                let (exact, unit) = tables.wide(first);
                let made = mantissa.scaled(exponent - unit);
                let off = (made.high - exact.high) + (made.low - exact.low);
                assert!(off.abs() <= 445.0 * power_of_two(-106) * exact.high, "{first} is off by {off}");
            }
        }
    }
}
