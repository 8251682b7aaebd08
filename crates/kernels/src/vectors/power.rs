//! Geometric sequences: products of tables, whose errors [`tables`](crate::vectors::tables) bounds.
//!
//! The bounds are folded into the low parts of the table of positions, so that each of two sums
//! rounds to an element. Where an exponent may leave the doubles' range, elements are wide powers,
//! whose bounds are rounded as integers.

use fearless_simd::Simd;
use fearless_simd::prelude::*;
use gradus_core::DType;
use gradus_core::convert::{self, FromNumber, u64_of, usize_of};
use gradus_sequences::PowerLine;

use crate::functions::power_of_two;
use crate::vectors::certain::{self, Doubles, ErrorBounds, GROUP, Group};
use crate::vectors::double_double::DoubleDouble;
use crate::vectors::halves::{self, Half, SingleBounds};
use crate::vectors::steps::settled;
use crate::vectors::stream;
use crate::vectors::tables::{Tables, bounds};
use crate::vectors::writer::ExactElement;

/// A geometric sequence, prepared.
#[derive(Clone, Debug)]
pub struct Powers {
    tables: Tables,
    /// The table of positions, in groups, the last of them filled up.
    positions: Vec<Positions>,
    /// The table of positions in float32, for floats of 16 bits.
    singles: Vec<SinglePositions>,
}

/// Bounds of powers for positions, as singles: `S P[j]` is relatively off by 2^-24 for each of `S`,
/// `P[j]` and the product, so 2^-22 makes strict ones.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct SinglePositions {
    lower: [f32; GROUP],
    upper: [f32; GROUP],
}

/// Starts of blocks that are normal singles.
const SINGLES: std::ops::Range<f64> = power_of_two(-126)..power_of_two(127);

/// Powers for positions in a block: the high parts; and the low parts less their bounds, and with
/// them. Of elements of fewer bits, the bounds of the powers themselves.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Positions {
    high: Doubles,
    lower: Doubles,
    upper: Doubles,
}

/// The most entries of the table of positions, and of that of blocks.
const LONGEST: [u64; 2] = [512, 64];

impl Powers {
    /// A sequence of elements of a type.
    pub fn new(line: PowerLine, dtype: DType) -> Powers {
        let tables = Tables::new(line, LONGEST);
        let groups = || tables.positions.chunks(GROUP);
        let positions = groups().map(|pairs| Positions::new(pairs, dtype)).collect();
        let is_half = matches!(dtype, DType::F16 | DType::BF16);
        let singles = groups().filter(|_| is_half).map(SinglePositions::new).collect();
        Powers { tables, positions, singles }
    }

    /// Doubles from index `lo` on; `exact` makes one that is in doubt.
    #[inline(always)]
    pub fn write_doubles<S: Simd>(
        &self,
        simd: S,
        streams: bool,
        exact: ExactElement<'_, f64>,
        lo: u64,
        out: &mut [f64],
    ) {
        let sign = self.sign();
        self.write(simd, streams, exact, lo, out, |start| Products {
            start: DoubleDouble { high: start.high * sign, low: start.low * sign },
            positions: &self.positions,
        });
    }

    /// Integers of 64 bits from index `lo` on.
    #[inline(always)]
    pub fn write_integers<S: Simd>(
        &self,
        simd: S,
        streams: bool,
        exact: ExactElement<'_, u64>,
        lo: u64,
        out: &mut [u64],
    ) {
        self.write(simd, streams, exact, lo, out, |start| IntegerProducts {
            products: Products { start, positions: &self.positions },
            negative: self.tables.line.negative,
        });
    }

    /// Elements of fewer bits from index `lo` on.
    #[inline(always)]
    pub fn write_rounded<S: Simd, T: FromNumber + Default>(
        &self,
        simd: S,
        streams: bool,
        exact: ExactElement<'_, T>,
        lo: u64,
        out: &mut [T],
    ) where
        for<'a> RoundedProducts<'a>: Group<S, T>,
    {
        let sign = self.sign();
        for (lo, part, start) in self.parts(exact, lo, out) {
            let start = start.high * sign;
            if let Some(element) = self.uniform(start, part.len()).filter(|_| size_of::<T>() == 1) {
                stream::fill(streams, part, element);
            } else {
                let products = RoundedProducts { start, positions: &self.positions };
                certain::write(simd, streams, part, &products, |i| exact(lo + i));
            }
        }
    }

    /// Floats of 32 bits from index `lo` on.
    #[inline(always)]
    pub fn write_singles<S: Simd>(
        &self,
        simd: S,
        streams: bool,
        exact: ExactElement<'_, f32>,
        lo: u64,
        out: &mut [f32],
    ) {
        let sign = self.sign();
        for (lo, part, start) in self.parts(exact, lo, out) {
            let products = RoundedProducts { start: start.high * sign, positions: &self.positions };
            let exact = |i| exact(lo + i);
            if products.are_singles(part.len()) {
                certain::write_groups(
                    simd,
                    streams,
                    part,
                    #[inline(always)]
                    |group, out| products.round_once(simd, group, out),
                    exact,
                );
            } else {
                certain::write(simd, streams, part, &products, exact);
            }
        }
    }

    /// Floats of 16 bits from index `lo` on.
    #[inline(always)]
    pub fn write_halves<S: Simd, T: Half>(
        &self,
        simd: S,
        streams: bool,
        exact: ExactElement<'_, T>,
        lo: u64,
        out: &mut [T],
    ) where
        for<'a> RoundedProducts<'a>: Group<S, T>,
    {
        let sign = self.sign();
        for (lo, part, start) in self.parts(exact, lo, out) {
            let start = start.high * sign;
            let singles = SINGLES
                .contains(&start.abs())
                .then(|| SingleProducts { start: f32::from_f64(start), positions: &self.singles });
            let doubles = RoundedProducts { start, positions: &self.positions };
            halves::write(simd, streams, part, singles, &doubles, |i| exact(lo + i));
        }
    }

    /// Elements from index `lo` on, block by block, of which `groups` makes the groups from what
    /// the positions are multiplied with.
    #[inline(always)]
    fn write<S: Simd, T: FromNumber + Default, G: Group<S, T>>(
        &self,
        simd: S,
        streams: bool,
        exact: ExactElement<'_, T>,
        lo: u64,
        out: &mut [T],
        groups: impl Fn(DoubleDouble) -> G,
    ) {
        for (lo, part, start) in self.parts(exact, lo, out) {
            certain::write(simd, streams, part, &groups(start), |i| exact(lo + i));
        }
    }

    fn sign(&self) -> f64 {
        if self.tables.line.negative { -1.0 } else { 1.0 }
    }

    fn parts<'a, T>(&'a self, exact: ExactElement<'a, T>, lo: u64, out: &'a mut [T]) -> PowerParts<'a, T> {
        PowerParts { powers: self, exact, lo, rest: out, wide: None }
    }

    /// The wide power at an index of the line, for as many blocks as the table has entries.
    fn wide(&self, first: u64) -> WidePower {
        let (mantissa, exponent) = self.tables.wide(first);
        let inside = self.tables.is_inside(first, self.tables.count * self.tables.block);
        WidePower { first, mantissa, exponent, inside }
    }

    /// The element that all of a block are, if the bounds of its ends say so.
    #[inline(always)]
    fn uniform<T: FromNumber>(&self, start: f64, len: usize) -> Option<T> {
        let (first, last, k) = (&self.positions[0], &self.positions[(len - 1) / GROUP], (len - 1) % GROUP);
        let [one, rest @ ..] = [first.lower[0], first.upper[0], last.lower[k], last.upper[k]]
            .map(|position| T::from_f64(start * position));
        // Codes of negative numbers are made as those without a sign, which hold none.
        (start > 0.0 && rest.iter().all(|other| *other == one)).then_some(one)
    }
}

/// A slice, part by part.
struct PowerParts<'a, T> {
    powers: &'a Powers,
    exact: ExactElement<'a, T>,
    lo: u64,
    rest: &'a mut [T],
    wide: Option<WidePower>,
}

/// The parts that are products of tables: where one starts, the part, and what its positions are
/// multiplied with. The parts between them are written.
///
/// Blocks begin where the slice does: what an element is does not depend on its block.
impl<'a, T: FromNumber> Iterator for PowerParts<'a, T> {
    type Item = (u64, &'a mut [T], DoubleDouble);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (powers, tables, lo) = (self.powers, &self.powers.tables, self.lo);
            if self.rest.is_empty() {
                return None;
            }
            let line = &tables.line;
            let Some(on_line) = lo.checked_sub(line.before).filter(|&i| i < line.len) else {
                let end = if lo < line.before { line.before } else { u64::MAX };
                self.fill(end);
                continue;
            };
            // Parts end where blocks do, so this is a block's first element.
            let apart = tables.count * tables.block;
            if self.wide.as_ref().is_none_or(|wide| on_line - wide.first >= apart) {
                self.wide = Some(powers.wide(on_line));
            }
            let wide = self.wide.as_ref().expect("it was made");
            let end = lo + tables.block.min(line.len - on_line);
            if wide.inside || tables.is_inside(on_line, tables.block) {
                let part = self.rest.split_off_mut(..self.rest.len().min(usize_of(end - lo)))?;
                self.lo += u64_of(part.len());
                let block = tables.blocks[usize_of((on_line - wide.first) / tables.block)];
                return Some((lo, part, wide.mantissa.times(block).scaled(wide.exponent)));
            }
            self.settle(on_line, end);
        }
    }
}

impl<T: FromNumber> PowerParts<'_, T> {
    /// Writes elements up to an index, all as the first.
    #[cold]
    fn fill(&mut self, end: u64) {
        let part =
            self.rest.split_off_mut(..self.rest.len().min(usize_of(end - self.lo))).unwrap_or_default();
        part.fill((self.exact)(self.lo));
        self.lo += u64_of(part.len());
    }

    /// Writes elements up to an index, from the block that starts at an index of the line: one by
    /// one, unless it is far away.
    #[cold]
    fn settle(&mut self, block: u64, end: u64) {
        if self.powers.tables.is_beyond(block, self.powers.tables.block) {
            return self.fill(end);
        }
        let part =
            self.rest.split_off_mut(..self.rest.len().min(usize_of(end - self.lo))).unwrap_or_default();
        for element in part {
            let settled = settled(&self.powers.tables.line, self.lo, T::DTYPE);
            *element = settled.map_or_else(
                || (self.exact)(self.lo),
                |code| T::from_number(convert::number(T::DTYPE, code)),
            );
            self.lo += 1;
        }
    }
}

/// A wide power.
struct WidePower {
    /// Index on the line.
    first: u64,
    mantissa: DoubleDouble,
    exponent: i32,
    /// True if no exponent leaves the normal doubles before the next wide power.
    inside: bool,
}

impl Positions {
    fn new(pairs: &[DoubleDouble], dtype: DType) -> Positions {
        let of = |value: &dyn Fn(DoubleDouble) -> f64| -> Doubles {
            std::array::from_fn(|i| pairs.get(i).map_or(1.0, |&pair| value(pair)))
        };
        Positions {
            high: of(&|pair| pair.high),
            lower: of(&|pair| bounds(pair, dtype)[0]),
            upper: of(&|pair| bounds(pair, dtype)[1]),
        }
    }
}

impl SinglePositions {
    fn new(pairs: &[DoubleDouble]) -> SinglePositions {
        let of = |factor: f64| {
            std::array::from_fn(|i| pairs.get(i).map_or(1.0, |pair| f32::from_f64(pair.high * factor)))
        };
        SinglePositions { lower: of(1.0 - power_of_two(-22)), upper: of(1.0 + power_of_two(-22)) }
    }
}

struct SingleProducts<'a> {
    start: f32,
    positions: &'a [SinglePositions],
}

impl<S: Simd> SingleBounds<S> for SingleProducts<'_> {
    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f32s; 2] {
        let positions = &self.positions[group];
        let entries = |table: &[f32; GROUP]| S::f32s::from_slice(simd, &table[from..from + S::f32s::LEN]);
        [entries(&positions.lower) * self.start, entries(&positions.upper) * self.start]
    }
}

struct Products<'a> {
    start: DoubleDouble,
    positions: &'a [Positions],
}

impl Products<'_> {
    /// The products of the high parts, and what they lack of the exact ones with both of the
    /// bounds.
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

impl<S: Simd> ErrorBounds<S> for Products<'_> {
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

/// Bits of a double after those of a single.
const BEHIND: u32 = 52 - 23;

/// Bound of the error of products, in units of their last place: 2^-51 of them is at most 4.
const OFF: u32 = 8;

impl RoundedProducts<'_> {
    /// Returns true if the first `len` elements are normal numbers of float32.
    #[inline(always)]
    fn are_singles(&self, len: usize) -> bool {
        let last = self.positions[(len - 1) / GROUP].high[(len - 1) % GROUP];
        [1.0, last].iter().all(|position| SINGLES.contains(&(self.start * position).abs()))
    }

    /// Writes a group of normal singles, each rounded from its product, and says which products are
    /// so near to the middle of two singles that the element may be the other one, as bits.
    #[inline(always)]
    fn round_once<S: Simd>(&self, simd: S, group: usize, out: &mut [f32; GROUP]) -> u64 {
        let splat = |x| S::u32s::splat(simd, x);
        let high = &self.positions[group].high;
        let mut doubts = 0;
        for from in (0..GROUP).step_by(S::f32s::LEN) {
            let product =
                |from: usize| S::f64s::from_slice(simd, &high[from..from + S::f64s::LEN]) * self.start;
            let (one, two) = (product(from), product(from + S::f64s::LEN));
            one.narrow(two).store_slice(&mut out[from..from + S::f32s::LEN]);
            let (one, two): (S::u32s, S::u32s) = (one.bitcast(), two.bitcast());
            let above = (one.unzip_low(two) - splat((1 << (BEHIND - 1)) - OFF)) << (32 - BEHIND);
            doubts |= above.simd_le(splat((2 * OFF) << (32 - BEHIND))).to_bitmask() << from;
        }
        doubts
    }
}

impl<S: Simd> ErrorBounds<S> for RoundedProducts<'_> {
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

/// Error bound of the last sum of an integer's parts, which are below 2^12 there: 2^-41.
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

impl<S: Simd> Group<S, u64> for IntegerProducts<'_> {
    #[inline(always)]
    fn write(&self, simd: S, group: usize, out: &mut [u64; GROUP]) -> u64 {
        let mut doubts = 0;
        for from in (0..GROUP).step_by(S::u64s::LEN) {
            let [low, high] = self.at(simd, group, from);
            low.store_slice(&mut out[from..from + S::u64s::LEN]);
            doubts |= low.simd_ne(high).to_bitmask() << from;
        }
        doubts
    }
}
