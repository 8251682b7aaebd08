//! Geometric sequences: products of tables.
//!
//! Element `i = s + b K + j` is `S R[b] P[j]`: a wide power for every `B K` elements, and two tables of `B` and `K`
//! entries, which are products of yet shorter tables of wide powers. All are pairs of doubles. In units of 2^-106, and
//! with products off by 5 of them beside what their factors are:
//!
//! | what | relatively off by less than |
//! |---|---|
//! | wide power (2^-110) as a pair (2^-105) | 2.1 |
//! | entry: a product of two | 9.3 |
//! | `S R[b]` | 16.5 |
//! | its product with `P[j]`: `p + u` with `p = h h'`, `u = h l' + (l h' + (h h' - p))`; `l l'` is left out (1), `u` is at most 2^-51.4 and rounded twice (2 each) | 31 |
//!
//! 2^-101 is 32 units; the bounds are made with 2^-100. They are folded into the low parts of `P`, so that each of
//! two sums rounds to an element. Elements of fewer bits are a product of doubles: off by half a unit in the last place
//! for `S R[b]`, `P[j]`, its bound and the product, 2^-51 together; the bounds are made with 2^-50.
//!
//! Where an exponent may leave the doubles' range, elements are wide powers, whose bounds are rounded as integers.

use fearless_simd::Simd;
use fearless_simd::prelude::*;
use gradus_core::convert::{self, FromNumber, Rules, nearest_f64, u64_of, usize_of};
use gradus_core::float;
use gradus_core::seq::PowerLine;
use gradus_core::{DType, Number};

use crate::certain::{self, Bounds, Doubles, GROUP, Group};
use crate::pair::{Pair, power_of_two};
use crate::range::Integer;
use crate::writer::Exact;

/// A geometric sequence, prepared.
#[derive(Clone, Debug)]
pub struct Powers {
    line: PowerLine,
    /// Elements in a block: the entries of the table of positions.
    block: u64,
    /// The table of positions, in groups, the last of them filled up.
    positions: Vec<Positions>,
    /// Blocks before the next wide power: the entries of the table of blocks.
    count: u64,
    blocks: Vec<Pair>,
}

/// Powers for positions in a block: the high parts; and the low parts less their bounds, and with them. Of elements
/// of fewer bits, the bounds of the powers themselves.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Positions {
    high: Doubles,
    lower: Doubles,
    upper: Doubles,
}

/// The most entries of the table of positions, and of that of blocks.
const LONGEST: [u64; 2] = [512, 64];

/// Exponents of blocks that no product leaves the normal doubles from.
const INSIDE: std::ops::RangeInclusive<i32> = -960..=1020;

/// Exponents from which on every type has infinity, and up to which zero.
const BEYOND: [i32; 2] = [1025, -1100];

impl Powers {
    /// A sequence of elements of a type.
    pub fn new(line: PowerLine, dtype: DType) -> Powers {
        let slope = line.slope().abs();
        // No more entries than there are elements to a side of a square, nor than span 64 powers of two.
        let fit = |wanted: u64, longest: u64, slope: f64| {
            let mut count = longest;
            while count > 1 && (count / 2 >= wanted || nearest_f64(Number::Int(count.into())) * slope > 64.0)
            {
                count /= 2;
            }
            count
        };
        let block = fit(line.len.isqrt(), LONGEST[0], slope);
        let across = slope * nearest_f64(Number::Int(block.into()));
        let count = fit(line.len.div_ceil(block), LONGEST[1], across);
        let positions =
            table(&line, 1, block).chunks(GROUP).map(|pairs| Positions::new(pairs, dtype)).collect();
        Powers { line, block, positions, count, blocks: table(&line, block, count) }
    }

    /// Doubles from index `lo` on; `exact` makes one that is in doubt.
    #[inline(always)]
    pub fn write_doubles<S: Simd>(
        &self,
        simd: S,
        streams: bool,
        exact: Exact<'_, f64>,
        lo: u64,
        out: &mut [f64],
    ) {
        let sign = self.sign();
        self.write(simd, streams, exact, lo, out, |start| Products {
            start: Pair { high: start.high * sign, low: start.low * sign },
            positions: &self.positions,
        });
    }

    /// Integers of 64 bits from index `lo` on.
    #[inline(always)]
    pub fn write_integers<S: Simd, T: Integer>(
        &self,
        simd: S,
        streams: bool,
        exact: Exact<'_, T>,
        lo: u64,
        out: &mut [T],
    ) where
        for<'a> IntegerProducts<'a>: Group<S, T>,
    {
        self.write(simd, streams, exact, lo, out, |start| IntegerProducts {
            products: Products { start, positions: &self.positions },
            negative: self.line.negative,
        });
    }

    /// Elements of fewer bits from index `lo` on.
    #[inline(always)]
    pub fn write_rounded<S: Simd, T: FromNumber + Default>(
        &self,
        simd: S,
        streams: bool,
        exact: Exact<'_, T>,
        lo: u64,
        out: &mut [T],
    ) where
        for<'a> RoundedProducts<'a>: Group<S, T>,
    {
        let sign = self.sign();
        self.write(simd, streams, exact, lo, out, |start| RoundedProducts {
            start: start.high * sign,
            positions: &self.positions,
        });
    }

    /// Elements from index `lo` on, block by block, of which `groups` makes the groups from what the positions are
    /// multiplied with.
    #[inline(always)]
    fn write<S: Simd, T: FromNumber + Default, G: Group<S, T>>(
        &self,
        simd: S,
        streams: bool,
        exact: Exact<'_, T>,
        lo: u64,
        out: &mut [T],
        groups: impl Fn(Pair) -> G,
    ) {
        for (lo, part, start) in self.parts(exact, lo, out) {
            certain::write(simd, streams, part, &groups(start), |i| exact(lo + i));
        }
    }

    fn sign(&self) -> f64 {
        if self.line.negative { -1.0 } else { 1.0 }
    }

    fn parts<'a, T>(&'a self, exact: Exact<'a, T>, lo: u64, out: &'a mut [T]) -> Parts<'a, T> {
        Parts { powers: self, exact, lo, rest: out, wide: None }
    }

    /// The wide power at an index of the line, for as many blocks as the table has entries.
    fn wide(&self, first: u64) -> Wide {
        let (mantissa, exponent) = Pair::of_mantissa(self.line.at(first));
        let [low, high] = self.exponents(first, self.count * self.block);
        let inside = INSIDE.contains(&low) && INSIDE.contains(&high);
        Wide { first, mantissa, exponent, inside }
    }

    /// Whether no exponent of a block leaves the normal doubles.
    fn is_inside(&self, block: u64) -> bool {
        self.exponents(block, self.block).iter().all(|exponent| INSIDE.contains(exponent))
    }

    /// The least and the largest exponent of that many elements from an index of the line on.
    fn exponents(&self, first: u64, count: u64) -> [i32; 2] {
        let last = (first + count).min(self.line.len) - 1;
        let [one, other] = [first, last].map(|i| self.line.logarithm(i));
        [one.min(other), one.max(other)]
    }

    /// An element on the line, if the bounds of the wide power round to the same.
    fn settled<T: FromNumber>(&self, i: u64) -> Option<T> {
        let power = self.line.at(i);
        // Of 127 bits, 2^-110 of the power is less than 2^18 units.
        let [low, high] = [power.mantissa / 2 - (1 << 18), power.mantissa / 2 + (1 << 18)].map(|mantissa| {
            let bound = float::Parts { mantissa, exponent: power.exponent + 1, ..power };
            convert::code_of_parts(T::DTYPE, bound, Rules::IEEE)
        });
        (low == high).then(|| T::from_number(convert::number(T::DTYPE, low)))
    }
}

/// A slice, part by part.
struct Parts<'a, T> {
    powers: &'a Powers,
    exact: Exact<'a, T>,
    lo: u64,
    rest: &'a mut [T],
    wide: Option<Wide>,
}

/// The parts that are products of tables: where one starts, the part, and what its positions are multiplied with. The
/// parts between them are written.
///
/// Blocks begin where the slice does: what an element is does not depend on its block.
impl<'a, T: FromNumber> Iterator for Parts<'a, T> {
    type Item = (u64, &'a mut [T], Pair);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (powers, lo) = (self.powers, self.lo);
            if self.rest.is_empty() {
                return None;
            }
            let Some(on_line) = lo.checked_sub(powers.line.before).filter(|&i| i < powers.line.len) else {
                let end = if lo < powers.line.before { powers.line.before } else { u64::MAX };
                self.fill(end);
                continue;
            };
            // Parts end where blocks do, so this is a block's first element.
            let apart = powers.count * powers.block;
            if self.wide.as_ref().is_none_or(|wide| on_line - wide.first >= apart) {
                self.wide = Some(powers.wide(on_line));
            }
            let wide = self.wide.as_ref().expect("it was made");
            let end = lo + powers.block.min(powers.line.len - on_line);
            if wide.inside || powers.is_inside(on_line) {
                let part = self.rest.split_off_mut(..self.rest.len().min(usize_of(end - lo)))?;
                self.lo += u64_of(part.len());
                let block = powers.blocks[usize_of((on_line - wide.first) / powers.block)];
                return Some((lo, part, wide.mantissa.times(block).scaled(wide.exponent)));
            }
            self.settle(on_line, end);
        }
    }
}

impl<T: FromNumber> Parts<'_, T> {
    /// Writes elements up to an index, all as the first.
    #[cold]
    fn fill(&mut self, end: u64) {
        let part =
            self.rest.split_off_mut(..self.rest.len().min(usize_of(end - self.lo))).unwrap_or_default();
        part.fill((self.exact)(self.lo));
        self.lo += u64_of(part.len());
    }

    /// Writes elements up to an index, from the block that starts at an index of the line: one by one, unless it is
    /// far away.
    #[cold]
    fn settle(&mut self, block: u64, end: u64) {
        let [low, high] = self.powers.exponents(block, self.powers.block);
        if low >= BEYOND[0] || high <= BEYOND[1] {
            return self.fill(end);
        }
        let part =
            self.rest.split_off_mut(..self.rest.len().min(usize_of(end - self.lo))).unwrap_or_default();
        for element in part {
            let settled = self.powers.settled(self.lo - self.powers.line.before);
            *element = settled.unwrap_or_else(|| (self.exact)(self.lo));
            self.lo += 1;
        }
    }
}

/// A wide power.
struct Wide {
    /// Its index on the line.
    first: u64,
    mantissa: Pair,
    exponent: i32,
    /// Whether no exponent leaves the normal doubles before the next wide power.
    inside: bool,
}

/// Bounds of what is relatively off: of pairs, and of doubles.
const LONG: f64 = power_of_two(-100);
const SHORT: f64 = power_of_two(-50);

impl Positions {
    fn new(pairs: &[Pair], dtype: DType) -> Positions {
        let of = |value: fn(Pair) -> f64| -> Doubles {
            std::array::from_fn(|i| pairs.get(i).map_or(1.0, |&pair| value(pair)))
        };
        let [lower, upper] = if has_long_mantissa(dtype) {
            [of(|pair| pair.low - LONG * pair.high), of(|pair| pair.low + LONG * pair.high)]
        } else {
            [of(|pair| pair.high * (1.0 - SHORT)), of(|pair| pair.high * (1.0 + SHORT))]
        };
        Positions { high: of(|pair| pair.high), lower, upper }
    }
}

struct Products<'a> {
    start: Pair,
    positions: &'a [Positions],
}

impl Products<'_> {
    /// The products of the high parts, and what they lack of the exact ones with both of the bounds.
    #[inline(always)]
    fn at<S: Simd>(&self, simd: S, group: usize, from: usize) -> (S::f64s, [S::f64s; 2]) {
        let positions = &self.positions[group];
        let entries = |table: &Doubles| S::f64s::from_slice(simd, &table[from..from + S::f64s::LEN]);
        let (start, start_low) =
            (S::f64s::splat(simd, self.start.high), S::f64s::splat(simd, self.start.low));
        let high = entries(&positions.high);
        let product = start * high;
        let rest = start_low.mul_add_precise(high, start.mul_sub_precise(high, product));
        let lower = start.mul_add_precise(entries(&positions.lower), rest);
        let upper = start.mul_add_precise(entries(&positions.upper), rest);
        (product, [lower, upper])
    }
}

impl<S: Simd> Bounds<S> for Products<'_> {
    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f64s; 2] {
        let (product, [lower, upper]) = self.at(simd, group, from);
        [product + lower, product + upper]
    }
}

pub struct RoundedProducts<'a> {
    start: f64,
    positions: &'a [Positions],
}

impl<S: Simd> Bounds<S> for RoundedProducts<'_> {
    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f64s; 2] {
        let positions = &self.positions[group];
        let entries = |table: &Doubles| S::f64s::from_slice(simd, &table[from..from + S::f64s::LEN]);
        [entries(&positions.lower) * self.start, entries(&positions.upper) * self.start]
    }
}

pub struct IntegerProducts<'a> {
    products: Products<'a>,
    negative: bool,
}

/// What the last sum of an integer's parts, which are below 2^12 then, is off by: 2^-41.
const LAST_SUM: f64 = power_of_two(-30);

impl IntegerProducts<'_> {
    #[inline(always)]
    fn at<S: Simd>(&self, simd: S, group: usize, from: usize) -> [S::u64s; 2] {
        let (product, [lower, upper]) = self.products.at(simd, group, from);
        let whole = product.trunc();
        let behind = product - whole;
        let whole: S::u64s = whole.to_int();
        [self.sum(simd, whole, behind + lower - LAST_SUM), self.sum(simd, whole, behind + upper + LAST_SUM)]
    }

    /// An integer and the rest of the magnitude, rounded down, with the sign.
    #[inline(always)]
    fn sum<S: Simd>(&self, simd: S, whole: S::u64s, behind: S::f64s) -> S::u64s {
        let magnitude = whole + certain::integers::<S>(behind.floor()) - certain::INTEGERS.to_bits();
        if self.negative { S::u64s::splat(simd, 0) - magnitude } else { magnitude }
    }
}

macro_rules! integers_64 {
    ($($type:ty)*) => {$(
        impl<S: Simd> Group<S, $type> for IntegerProducts<'_> {
            #[inline(always)]
            fn write(&self, simd: S, group: usize, out: &mut [$type; GROUP]) -> u64 {
                let mut doubts = 0;
                for from in (0..GROUP).step_by(S::u64s::LEN) {
                    let [low, high] = self.at(simd, group, from);
                    low.store_slice(bytemuck::cast_slice_mut(&mut out[from..from + S::u64s::LEN]));
                    doubts |= low.simd_ne(high).to_bitmask() << from;
                }
                doubts
            }
        }
    )*};
}

integers_64! { i64 u64 }

/// Whether doubles are too short to decide elements of a type.
fn has_long_mantissa(dtype: DType) -> bool {
    matches!(dtype, DType::F64 | DType::I64 | DType::U64)
}

/// The powers from 0 to `count - 1` of the ratio of elements so many apart.
fn table(line: &PowerLine, apart: u64, count: u64) -> Vec<Pair> {
    // As few wide powers as a product of two tables needs.
    let short = 1 << (count.ilog2() / 2);
    let wide = |apart: u64| {
        let (mantissa, exponent) = Pair::of_mantissa(line.ratio(apart));
        mantissa.scaled(exponent)
    };
    let fine: Vec<Pair> = (0..short).map(|i| wide(apart * i)).collect();
    let coarse = (0..count / short).map(|i| wide(apart * short * i));
    coarse.flat_map(|coarse| fine.iter().map(move |&fine| coarse.times(fine)).collect::<Vec<_>>()).collect()
}
