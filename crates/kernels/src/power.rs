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

use gradus_core::convert::{self, FromNumber, Rules, nearest_f64, u64_of, usize_of};
use gradus_core::float::Parts;
use gradus_core::seq::{Plan, PowerLine};
use gradus_core::{DType, Number};

use crate::certain::{self, Target};
use crate::pair::{Pair, power_of_two};
use crate::range::Integer;

/// A geometric sequence, prepared.
#[derive(Clone, Debug)]
pub struct Powers {
    line: PowerLine,
    /// Elements in a block: the entries of the table of positions.
    block: u64,
    positions: Positions,
    blocks: Vec<Pair>,
}

/// Powers for each position in a block: the high part; and the low part less its bound, and with it. Of elements of
/// fewer bits, only the two bounds.
#[derive(Clone, Debug, Default)]
struct Positions {
    high: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// The most entries of the table of positions, and of that of blocks.
const LONGEST: [u64; 2] = [256, 64];

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
        let blocks = fit(line.len.div_ceil(block), LONGEST[1], across);
        let pairs = table(&line, 1, block);
        let positions = if has_long_mantissa(dtype) {
            let bound = power_of_two(-100);
            Positions {
                high: pairs.iter().map(|pair| pair.high).collect(),
                lower: pairs.iter().map(|pair| pair.low - bound * pair.high).collect(),
                upper: pairs.iter().map(|pair| pair.low + bound * pair.high).collect(),
            }
        } else {
            let bound = power_of_two(-50);
            Positions {
                high: Vec::new(),
                lower: pairs.iter().map(|pair| pair.high * (1.0 - bound)).collect(),
                upper: pairs.iter().map(|pair| pair.high * (1.0 + bound)).collect(),
            }
        };
        Powers { line, block, positions, blocks: table(&line, block, blocks) }
    }

    /// Doubles from index `lo` on.
    #[inline(always)]
    pub fn write_doubles(&self, plan: &impl Plan, lo: u64, out: &mut [f64]) {
        let sign = self.sign();
        self.write(plan, lo, out, |start, at, out: &mut [f64], exact| {
            let start = Pair { high: start.high * sign, low: start.low * sign };
            let bounds = self.positions.pairs(at).map(|(high, lows)| {
                let (product, rest) = start.product(high);
                lows.map(|low| product + start.high.mul_add(low, rest))
            });
            certain::write(out, bounds, exact);
        });
    }

    /// Integers of 64 bits from index `lo` on.
    #[inline(always)]
    pub fn write_integers<T: Target + Integer>(&self, plan: &impl Plan, lo: u64, out: &mut [T]) {
        self.write(plan, lo, out, |start, at, out: &mut [T], exact| {
            let bounds = self.positions.pairs(at).map(|(high, lows)| {
                let (product, rest) = start.product(high);
                let whole = product.trunc();
                let [lower, upper] = lows.map(|low| (product - whole) + start.high.mul_add(low, rest));
                [lower - LAST_SUM, upper + LAST_SUM].map(|behind| {
                    let behind = i64::from_f64(behind.floor()).cast_unsigned();
                    let magnitude = u64::from_f64(whole).wrapping_add(behind);
                    T::low(if self.line.negative { magnitude.wrapping_neg() } else { magnitude })
                })
            });
            certain::write(out, bounds, exact);
        });
    }

    /// Elements of fewer bits from index `lo` on.
    #[inline(always)]
    pub fn write_rounded<T: Target>(&self, plan: &impl Plan, lo: u64, out: &mut [T]) {
        let sign = self.sign();
        self.write(plan, lo, out, |start, at, out: &mut [T], exact| {
            let start = start.high * sign;
            let bounds =
                self.positions.bounds(at).map(|powers| powers.map(|power| T::from_f64(start * power)));
            certain::write(out, bounds, exact);
        });
    }

    fn sign(&self) -> f64 {
        if self.line.negative { -1.0 } else { 1.0 }
    }

    /// Writes block by block: `product` the parts of blocks from where in the table of positions they start.
    #[inline(always)]
    fn write<T: Target>(
        &self,
        plan: &impl Plan,
        lo: u64,
        out: &mut [T],
        product: impl Fn(Pair, usize, &mut [T], &dyn Fn(u64) -> T),
    ) {
        let exact = |i: u64| T::from_number(plan.at(i));
        let (mut lo, mut rest) = (lo, out);
        let mut wide = Wide::default();
        while !rest.is_empty() {
            let part = self.part(lo);
            let (now, after) = rest.split_at_mut(rest.len().min(usize_of(part.end - lo)));
            match part.kind {
                Kind::Same => now.fill(exact(lo)),
                Kind::Edge => {
                    for (i, element) in (lo..).zip(&mut *now) {
                        *element = self.settled(i - self.line.before).unwrap_or_else(|| exact(i));
                    }
                }
                Kind::Inside { block } => {
                    let start = wide.times(self, block);
                    let at = lo - self.line.before - block * self.block;
                    product(start, usize_of(at), now, &|i| exact(lo + i));
                }
            }
            lo += u64_of(now.len());
            rest = after;
        }
    }

    /// What is to be done from an index on, and up to which.
    fn part(&self, lo: u64) -> Part {
        let line = &self.line;
        if lo < line.before {
            return Part { end: line.before, kind: Kind::Same };
        }
        if lo - line.before >= line.len {
            return Part { end: u64::MAX, kind: Kind::Same };
        }
        let block = (lo - line.before) / self.block;
        let first = block * self.block;
        let end = (first + self.block).min(line.len);
        let ends = [line.logarithm(first), line.logarithm(end - 1)];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let kind = if INSIDE.contains(&low) && INSIDE.contains(&high) {
            Kind::Inside { block }
        } else if low >= BEYOND[0] || high <= BEYOND[1] {
            Kind::Same
        } else {
            Kind::Edge
        };
        Part { end: line.before + end, kind }
    }

    /// An element on the line, if the bounds of the wide power round to the same.
    fn settled<T: Target>(&self, i: u64) -> Option<T> {
        let power = self.line.at(i);
        // Of 127 bits, 2^-110 of the power is less than 2^18 units.
        let [low, high] = [power.mantissa / 2 - (1 << 18), power.mantissa / 2 + (1 << 18)].map(|mantissa| {
            let bound = Parts { mantissa, exponent: power.exponent + 1, ..power };
            convert::code_of_parts(T::DTYPE, bound, Rules::IEEE)
        });
        (low == high).then(|| T::from_number(convert::number(T::DTYPE, low)))
    }
}

/// What the last sum of an integer's parts, which are below 2^12 then, is off by: 2^-41.
const LAST_SUM: f64 = power_of_two(-30);

struct Part {
    /// The index after the last.
    end: u64,
    kind: Kind,
}

enum Kind {
    /// All elements are the first.
    Same,
    /// Exponents may leave the normal doubles.
    Edge,
    /// Products of tables.
    Inside {
        /// Which block.
        block: u64,
    },
}

/// The wide power that was used last.
#[derive(Default)]
struct Wide {
    /// Which one, and its mantissa and exponent.
    last: Option<(u64, Pair, i32)>,
}

impl Wide {
    /// The first power of a block.
    fn times(&mut self, powers: &Powers, block: u64) -> Pair {
        let count = u64_of(powers.blocks.len());
        let wide = block / count;
        let (mantissa, exponent) = match self.last {
            Some((last, mantissa, exponent)) if last == wide => (mantissa, exponent),
            _ => {
                let power = powers.line.at(wide * count * powers.block);
                let (mantissa, exponent) = Pair::of_mantissa(power);
                self.last = Some((wide, mantissa, exponent));
                (mantissa, exponent)
            }
        };
        mantissa.times(powers.blocks[usize_of(block % count)]).scaled(exponent)
    }
}

impl Positions {
    #[inline(always)]
    fn bounds(&self, at: usize) -> impl Iterator<Item = [f64; 2]> + Clone {
        let (lower, upper) = (&self.lower[at..], &self.upper[at..]);
        lower.iter().zip(upper).map(|(&lower, &upper)| [lower, upper])
    }

    #[inline(always)]
    fn pairs(&self, at: usize) -> impl Iterator<Item = (f64, [f64; 2])> + Clone {
        self.high[at..].iter().copied().zip(self.bounds(at))
    }
}

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
