//! Complex powers: products of tables, of which each part has a bound of its error.
//!
//! Element `i = s + b B + j` is `S R[b] P[j]`: a power as exact as it is asked for every `B K`
//! elements, and two tables of `B` and `K` entries, which are powers of one ratio each. Parts are
//! pairs of doubles. Relatively to the modulus, in units of 2^-106:
//!
//! | what | off by less than |
//! |---|---|
//! | `S` and ratios, each part as a pair (2^-105) | 3 |
//! | a product beside its factors: products of the high parts and their rests are exact, and so is the first sum; six sums of what is below 2^-51 are rounded (4 each), and products of low parts are left out (1 each) | 40 |
//! | entry: its `n`th power, of squares and products with the ratio, `n` below 512 | 22,016 |
//! | `S R[b] P[j]` | 44,115 |
//!
//! The bound is 2^-88, 2^18 units, of the sum of the magnitudes of both parts, which is at least
//! the modulus. Single parts are products of high parts: off by 2^-53 for each factor, and each part
//! by as much for two roundings, 2^-51 together; their bound is 2^-49.

use fearless_simd::Level as Token;
use gradus_core::Number;
use gradus_core::convert::{FromNumber, nearest_f64, split, u64_of, usize_of};
use gradus_sequences::{ComplexParts, SpiralLine};
use num_complex::Complex;

use crate::functions::power_of_two;
use crate::vectors::certain::{self, GROUP};
use crate::vectors::double_double::DoubleDouble;
use crate::vectors::levels::{at_level, widest};
use crate::vectors::tables::fit;
use crate::vectors::writer::ExactElement;

/// A sequence of complex powers, prepared.
#[derive(Clone, Debug)]
pub struct Spiral {
    line: SpiralLine,
    /// The table of positions in a block, in groups, the last of them filled up.
    positions: Vec<SpiralPositions>,
    /// Elements in a block, a power of two.
    block: usize,
    /// The table of blocks.
    blocks: Vec<ComplexNumber>,
}

/// A complex number.
#[derive(Clone, Copy, Debug)]
struct ComplexNumber {
    re: DoubleDouble,
    im: DoubleDouble,
}

/// Powers for positions in a block.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct SpiralPositions {
    re: [f64; GROUP],
    re_low: [f64; GROUP],
    im: [f64; GROUP],
    im_low: [f64; GROUP],
}

/// The most entries of a table.
const LONGEST: u64 = 512;

/// Exponents of moduli whose bounds are normal doubles.
const INSIDE: std::ops::RangeInclusive<i32> = -900..=1000;

/// Bounds of the error of a part, as a fraction of the sum of the magnitudes of both.
const LONG: f64 = power_of_two(-88);
const SHORT: f64 = power_of_two(-49);

/// Types of parts.
pub trait Part: FromNumber + Default {
    /// True if doubles are too short to decide a part.
    const IS_LONG: bool;

    /// The bits that differ.
    fn differing(self, other: Self) -> u64;
}

impl Part for f32 {
    const IS_LONG: bool = false;

    #[inline(always)]
    fn differing(self, other: f32) -> u64 {
        u64::from(self.to_bits() ^ other.to_bits())
    }
}

impl Part for f64 {
    const IS_LONG: bool = true;

    #[inline(always)]
    fn differing(self, other: f64) -> u64 {
        self.to_bits() ^ other.to_bits()
    }
}

impl Spiral {
    /// The points of a line.
    pub fn new(line: SpiralLine) -> Spiral {
        let slope = line.slope().abs();
        let block = fit(2 * line.len.isqrt(), LONGEST, slope);
        let across = slope * nearest_f64(Number::Int(block.into()));
        let count = fit(line.len.div_ceil(block), LONGEST, across);
        let (block, count) = (usize_of(block), usize_of(count));
        let positions = table(&line, 1, block).chunks(GROUP).map(SpiralPositions::new).collect();
        let blocks = table(&line, u64_of(block), count);
        Spiral { line, positions, block, blocks }
    }

    /// Writes elements from index `lo` on; `exact` makes one that is in doubt.
    pub fn write<T: Part>(
        &self,
        exact: ExactElement<'_, Complex<T>>,
        lo: u64,
        out: &mut [Complex<T>],
        token: Token,
    ) where
        Complex<T>: FromNumber + Default,
    {
        let apart = self.block * self.blocks.len();
        for (lo, out) in (lo..).step_by(apart).zip(out.chunks_mut(apart)) {
            let (first, exponent) = ComplexNumber::of(self.line.at(lo));
            let starts = (lo..).step_by(self.block).zip(&self.blocks);
            for ((lo, block), out) in starts.zip(out.chunks_mut(self.block)) {
                if self.is_inside(lo, u64_of(out.len())) {
                    let start = first.times(*block).scaled(exponent);
                    at_level!(token, simd => certain::write_groups(
                        simd,
                        false,
                        out,
                        #[inline(always)]
                        |group, out| self.write_group(start, group, out),
                        |k| exact(lo + k),
                    ));
                } else {
                    (lo..).zip(out).for_each(|(i, element)| *element = exact(i));
                }
            }
        }
    }

    fn is_inside(&self, lo: u64, count: u64) -> bool {
        [lo, lo + count - 1].iter().all(|&i| INSIDE.contains(&self.line.logarithm(i)))
    }

    /// Writes a group, each part as its lower bound is rounded, and says at which elements an upper
    /// bound contradicts, as bits.
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "loops over indices are compiled for the level")]
    fn write_group<T: Part>(&self, start: ComplexNumber, group: usize, out: &mut [Complex<T>; GROUP]) -> u64 {
        let positions = &self.positions[group];
        let mut parts = [[T::default(); GROUP]; 2];
        let mut differing = [[0; GROUP]; 2];
        for k in 0..GROUP {
            let position = positions.at(k);
            let [re, im] = if T::IS_LONG { start.product(position) } else { start.short_product(position) };
            let bound = (re.high.abs() + im.high.abs()) * if T::IS_LONG { LONG } else { SHORT };
            for (part, DoubleDouble { high, low }) in [re, im].into_iter().enumerate() {
                let [lower, upper] = [low - bound, low + bound].map(|low| T::from_f64(high + low));
                parts[part][k] = lower;
                differing[part][k] = lower.differing(upper);
            }
        }
        if let Some(zero) = self.line.zero {
            (parts[zero], differing[zero]) = ([T::default(); GROUP], [0; GROUP]);
        }
        let mut any = 0;
        for k in 0..GROUP {
            out[k] = Complex { re: parts[0][k], im: parts[1][k] };
            any |= differing[0][k] | differing[1][k];
        }
        if any == 0 { 0 } else { doubts(&differing) }
    }
}

/// The elements of which a part differs, as bits.
#[cold]
fn doubts([re, im]: &[[u64; GROUP]; 2]) -> u64 {
    (0..GROUP).filter(|&k| re[k] | im[k] != 0).fold(0, |doubts, k| doubts | 1 << k)
}

impl ComplexNumber {
    const ONE: ComplexNumber =
        ComplexNumber { re: DoubleDouble::ONE, im: DoubleDouble { high: 0.0, low: 0.0 } };

    /// The mantissa, of a modulus from 1 to 2, and the exponent.
    fn of(parts: ComplexParts) -> (ComplexNumber, i32) {
        let part = |part: i128| {
            let [high, low] = split(part);
            DoubleDouble { high, low }.scaled(-125)
        };
        (ComplexNumber { re: part(parts.re), im: part(parts.im) }, parts.exponent)
    }

    fn scaled(self, exponent: i32) -> ComplexNumber {
        ComplexNumber { re: self.re.scaled(exponent), im: self.im.scaled(exponent) }
    }

    /// The product, its parts as sums of two doubles, of which the second may be the larger one
    /// where a part is nearly zero.
    #[inline(always)]
    fn product(self, other: ComplexNumber) -> [DoubleDouble; 2] {
        let minus = DoubleDouble { high: -self.im.high, low: -self.im.low };
        [
            sum_of_products([self.re, other.re], [minus, other.im]),
            sum_of_products([self.re, other.im], [self.im, other.re]),
        ]
    }

    /// The product of the high parts, in doubles.
    #[inline(always)]
    fn short_product(self, other: ComplexNumber) -> [DoubleDouble; 2] {
        let [a, b, c, d] = [self.re, self.im, other.re, other.im].map(|part| part.high);
        [a.mul_add(c, -(b * d)), a.mul_add(d, b * c)].map(|high| DoubleDouble { high, low: 0.0 })
    }

    #[inline(always)]
    fn times(self, other: ComplexNumber) -> ComplexNumber {
        let [re, im] = self.product(other).map(|part| {
            let [high, low] = exact_sum(part.high, part.low);
            DoubleDouble { high, low }
        });
        ComplexNumber { re, im }
    }
}

/// A sum of two doubles, and what its rounding left.
#[inline(always)]
fn exact_sum(a: f64, b: f64) -> [f64; 2] {
    let sum = a + b;
    let other = sum - a;
    [sum, (a - (sum - other)) + (b - other)]
}

/// `a b + c d`.
#[inline(always)]
fn sum_of_products([a, b]: [DoubleDouble; 2], [c, d]: [DoubleDouble; 2]) -> DoubleDouble {
    let [one, two] = [a.high * b.high, c.high * d.high];
    let [one_rest, two_rest] = [a.high.mul_add(b.high, -one), c.high.mul_add(d.high, -two)];
    let [high, rest] = exact_sum(one, two);
    let cross = a.high.mul_add(b.low, a.low.mul_add(b.high, one_rest));
    let other = c.high.mul_add(d.low, c.low.mul_add(d.high, two_rest));
    DoubleDouble { high, low: rest + (cross + other) }
}

impl SpiralPositions {
    fn new(pairs: &[ComplexNumber]) -> SpiralPositions {
        let mut positions = SpiralPositions::default();
        for (k, pair) in pairs.iter().enumerate() {
            (positions.re[k], positions.re_low[k]) = (pair.re.high, pair.re.low);
            (positions.im[k], positions.im_low[k]) = (pair.im.high, pair.im.low);
        }
        positions
    }

    #[inline(always)]
    fn at(&self, k: usize) -> ComplexNumber {
        ComplexNumber {
            re: DoubleDouble { high: self.re[k], low: self.re_low[k] },
            im: DoubleDouble { high: self.im[k], low: self.im_low[k] },
        }
    }
}

/// The powers from 0 to `count - 1` of the ratio of points `apart` elements apart.
fn table(line: &SpiralLine, apart: u64, count: usize) -> Vec<ComplexNumber> {
    let mut powers = vec![ComplexNumber::ONE; count];
    if count > 1 {
        let (ratio, exponent) = ComplexNumber::of(line.ratio(apart));
        powers[1] = ratio.scaled(exponent);
    }
    widest(
        #[inline(always)]
        || {
            for n in 2..count {
                let square = powers[n / 2].times(powers[n / 2]);
                powers[n] = if n % 2 == 0 { square } else { square.times(powers[1]) };
            }
        },
    );
    powers
}

#[cfg(test)]
mod tests {
    use gradus_core::DType;
    use gradus_sequences::{GeomspacePlan, LogspacePlan};

    use super::*;

    /// By how much two numbers differ, relatively to the modulus of the second.
    fn off(made: [DoubleDouble; 2], exact: ComplexNumber) -> f64 {
        let parts = [exact.re, exact.im];
        let differences = made.iter().zip(parts).map(|(a, b)| (a.high - b.high) + (a.low - b.low));
        let length = |x: f64, y: f64| x.hypot(y);
        let [x, y]: [f64; 2] = differences.collect::<Vec<_>>().try_into().expect("two parts");
        length(x, y) / length(exact.re.high, exact.im.high)
    }

    #[test]
    fn products_are_as_near_as_they_say() {
        let complex = Number::Complex;
        let logspace = |base, start, stop, num| {
            let plan = LogspacePlan::new(base, start, stop, num, true, DType::C128).expect("a plan");
            plan.spiral().expect("a line")
        };
        let geomspace =
            GeomspacePlan::new(complex(-3.0, 1e-3), complex(0.1, -70.0), 300_000, true, DType::C128);
        let lines = [
            logspace(Number::Int(10), complex(-3.0, 0.7), complex(4.0, -29.0), 1 << 19),
            logspace(complex(0.3, -4.0), Number::Int(0), complex(0.5, 2.0), 1000),
            logspace(Number::Float(1.5), complex(0.0, -1e6), complex(1e-9, 1e6), 1 << 19),
            geomspace.expect("a plan").spiral().expect("a line"),
        ];
        for line in lines {
            let spiral = Spiral::new(line.clone());
            for i in (0..line.len).step_by(usize_of(line.len / 997).max(1)) {
                let (place, apart) = (usize_of(i), spiral.block * spiral.blocks.len());
                let (first, exponent) = ComplexNumber::of(line.at(u64_of(place - place % apart)));
                let start = first.times(spiral.blocks[place % apart / spiral.block]).scaled(exponent);
                let (group, k) = (place % spiral.block / GROUP, place % GROUP);
                let made = start.product(spiral.positions[group].at(k));
                let short = start.short_product(spiral.positions[group].at(k));
                let (exact, exponent) = ComplexNumber::of(line.at(i));
                let exact = exact.scaled(exponent);
                assert!(off(made, exact) < 44_115.0 * power_of_two(-106), "{i}: {}", off(made, exact));
                assert!(off(short, exact) < power_of_two(-50), "{i}: {}", off(short, exact));
            }
        }
    }
}
