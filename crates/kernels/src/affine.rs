//! Affine sequences of floats: two bounds of each element, from a block's first number and the
//! distance to it.
//!
//! Element `j` of a block is `a + j d`, where `a` and `d` are pairs of doubles, relatively off by
//! at most 2^-105. The sum is split without error: `s + t = a.high + p` and `p + q = j d.high`, so
//! the element is
//!
//! ```text
//! s + (t + q + a.low + j d.low)
//! ```
//!
//! where what is in parentheses is rounded a few times. With `m = |a| + K |d|`, the largest
//! magnitude in question, each of `t`, `q`, `a.low` and `j d.low` is at most 2^-52 m, so what is
//! rounded there is off by less than 2^-101.9 m together, and the pairs by 2^-104 m: 2^-101 m is a
//! bound. A line is off itself by as many units as it has numbers. No bound is needed where the
//! numbers are so short that nothing is ever rounded but the last sum.
//!
//! Where `a` is at least twice as large as every `j d`, `s` is within a factor of 2 of it and
//! `a.high - s` is exact (Sterbenz): then `t + q` is one fused multiplication.
//!
//! For elements of fewer bits the double `a.high + j d.high`, rounded once, is enough: off by 2^-53
//! m for each of this rounding, `a.low` and `j d.low`, so 2^-51 m is a bound.
//!
//! Singles are made by singles in the same way, where `a` is four times as large as every `j d`:
//! vectors hold twice as many, and nothing is converted. The pairs are off by 2^-48 m together;
//! `t + q`, `j d.low` and `a.low` are at most 2^-24 m times 1.5, 1 and 1, so what is rounded there
//! is off by less than 2^-45 m, and 2^-44 m is a bound of all.
//!
//! Of 16 bits, the single `a + j d`, rounded once, is enough for most: off by 2^-24 m for `a` and `d`
//! together, for this rounding, and for that of the bound; 2^-22 m is a strict one.

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd};
use gradus_core::convert::{self, FromNumber, Rules, nearest_f64};
use gradus_core::{DType, Number};
use gradus_sequences::Line;

use crate::certain::{self, Doubles, ErrorBounds, GROUP, Group};
use crate::double_double::{DoubleDouble, power_of_two};
use crate::halves::{self, Half, SingleBounds};
use crate::writer::Exact;

/// Numbers in a block.
pub const BLOCK: usize = 1024;

/// A prepared affine sequence of floats.
#[derive(Clone, Debug)]
pub struct Affine {
    /// The line in fixed point.
    pub line: Line,
    /// The difference of neighbours.
    pub step: DoubleDouble,
    /// The largest distance of a number from the first of its block.
    pub spread: f64,
    /// Error bound of sums, relative to the largest number of a block; 0 if only the last sum is
    /// rounded.
    pub relative: f64,
    /// Absolute error bound of the line.
    pub slack: f64,
    /// True if all numbers are singles.
    exact_singles: bool,
}

/// Largest magnitudes of lines on which nothing overflows, and no error is too small to be a
/// double.
const MAGNITUDES: std::ops::Range<f64> = power_of_two(-800)..power_of_two(1000);

/// Magnitudes of singles on which nothing overflows, and no error is too small to be a single.
const SINGLE_MAGNITUDES: std::ops::Range<f64> = power_of_two(-60)..power_of_two(126);

impl Affine {
    /// The line of a plan of that many elements of a type, if its numbers are neither too large nor
    /// too small.
    pub fn new(line: Line, len: u64, dtype: DType) -> Option<Affine> {
        let ends = [line.first, line.first.plus(line.step, len - 1)];
        let largest =
            ends.map(|end| DoubleDouble::of_wide(end, line.unit).high.abs()).into_iter().fold(0.0, f64::max);
        if !MAGNITUDES.contains(&largest) {
            return None;
        }
        let step = DoubleDouble::of_wide(line.step, line.unit);
        let (rounded, exact_bits) = if dtype == DType::F64 { (-101, 100) } else { (-51, 52) };
        // Numbers are multiples of this, and no sum of fewer bits is rounded.
        let zeros = line.first.trailing_zeros().min(line.step.trailing_zeros());
        let least = 2f64.powi(line.unit + zeros.cast_signed());
        let exact = |bits| line.exact && largest < least * power_of_two(bits);
        let count = nearest_f64(Number::Int(len.into()));
        Some(Affine {
            line,
            step,
            spread: PLACES[BLOCK / GROUP - 1][GROUP - 1] * step.high.abs(),
            relative: if exact(exact_bits) { 0.0 } else { power_of_two(rounded) },
            slack: if line.exact { 0.0 } else { (count + 1.0) * 2f64.powi(line.unit) },
            // One bit less than they have, for the step.
            exact_singles: exact(23) && SINGLE_MAGNITUDES.contains(&largest),
        })
    }

    /// Elements from index `lo` on; `exact` makes one that is in doubt.
    #[inline(always)]
    pub fn write_doubles<S: Simd>(
        &self,
        simd: S,
        streams: bool,
        lo: u64,
        out: &mut [f64],
        exact: Exact<'_, f64>,
    ) {
        for (lo, block) in blocks(lo, out) {
            let (start, error) = self.start(lo);
            let sums = Sums { start, step: self.step, error };
            let exact = |i| exact(lo + i);
            if start.high.abs() >= 2.0 * self.spread {
                certain::write(simd, streams, block, &FarSums(sums), exact);
            } else {
                certain::write(simd, streams, block, &sums, exact);
            }
        }
    }

    /// Singles from index `lo` on; `exact` makes one that is in doubt.
    #[inline(always)]
    pub fn write_singles<S: Simd>(
        &self,
        simd: S,
        streams: bool,
        lo: u64,
        out: &mut [f32],
        exact: Exact<'_, f32>,
    ) {
        for (lo, block) in blocks(lo, out) {
            match self.singles(lo).filter(|_| is_fused(simd)) {
                Some(sums) => certain::write_groups(
                    simd,
                    streams,
                    block,
                    #[inline(always)]
                    |group, out| sums.write(simd, group, out),
                    |i| exact(lo + i),
                ),
                None => self.write_rounded(simd, streams, lo, block, exact),
            }
        }
    }

    /// Elements of fewer bits from index `lo` on; `exact` makes one that is in doubt.
    #[inline(always)]
    pub fn write_rounded<S: Simd, T: FromNumber + Default>(
        &self,
        simd: S,
        streams: bool,
        lo: u64,
        out: &mut [T],
        exact: Exact<'_, T>,
    ) where
        RoundedSums: Group<S, T>,
        ExactSums: Group<S, T>,
    {
        for (lo, block) in blocks(lo, out) {
            let (start, error) = self.start(lo);
            let sums = ExactSums { start: start.high, step: self.step.high };
            let exact = |i| exact(lo + i);
            if error == 0.0 {
                certain::write(simd, streams, block, &sums, exact);
            } else {
                certain::write(simd, streams, block, &RoundedSums { sums, error }, exact);
            }
        }
    }

    /// Floats of 16 bits from index `lo` on; `exact` makes one that is in doubt.
    #[inline(always)]
    pub fn write_halves<S: Simd, T: Half>(
        &self,
        simd: S,
        streams: bool,
        lo: u64,
        out: &mut [T],
        exact: Exact<'_, T>,
    ) where
        RoundedSums: Group<S, T>,
    {
        for (lo, block) in blocks(lo, out) {
            let (start, error) = self.start(lo);
            let sums = ExactSums { start: start.high, step: self.step.high };
            let doubles = RoundedSums { sums, error };
            let exact = |i| exact(lo + i);
            let singles = self.single_sums(simd, start);
            if self.exact_singles {
                halves::write(simd, streams, block, singles.map(ExactSingles), &doubles, exact);
            } else {
                halves::write(simd, streams, block, singles, &doubles, exact);
            }
        }
    }

    /// The sums of a block as singles, unless they are too large or too small for them.
    #[inline(always)]
    fn single_sums<S: Simd>(&self, simd: S, start: DoubleDouble) -> Option<SingleSums> {
        let magnitude = start.high.abs() + self.spread;
        let error = (power_of_two(-22) * magnitude + self.slack) * (1.0 + power_of_two(-23));
        let [start, step, error] = [start.high, self.step.high, error].map(f32::from_f64);
        (is_fused(simd) && SINGLE_MAGNITUDES.contains(&magnitude)).then_some(SingleSums {
            start,
            step,
            error,
        })
    }

    /// The code of an element of few bits, if the bounds of the number round to the same; a zero may
    /// have a sign.
    pub fn settled(&self, i: u64, dtype: DType) -> Option<u64> {
        let number = self.first(i).high;
        let error = power_of_two(-51) * number.abs() + self.slack;
        let [low, high] = [number - error, number + error]
            .map(|bound| convert::code(dtype, Number::Float(bound), Rules::IEEE));
        (low == high && number != 0.0).then_some(low)
    }

    /// The sums of a block, if singles can be their own bounds.
    fn singles(&self, lo: u64) -> Option<FarSingles> {
        if self.relative == 0.0 {
            return None;
        }
        let start = self.first(lo);
        let first = start.high.abs();
        let fits = SINGLE_MAGNITUDES.contains(&first) && first >= 4.0 * self.spread;
        let error = power_of_two(-44) * (first + self.spread) + self.slack;
        // Rounded, the error may be less by 2^-24 of it.
        let error = f32::from_f64(error * (1.0 + power_of_two(-23)));
        fits.then(|| FarSingles { start: singles(start), step: singles(self.step), error })
    }

    /// The first number of a block.
    fn first(&self, lo: u64) -> DoubleDouble {
        DoubleDouble::of_wide(self.line.first.plus(self.line.step, lo), self.line.unit)
    }

    /// The first number of a block, and how far the block's sums may be off.
    fn start(&self, lo: u64) -> (DoubleDouble, f64) {
        let start = self.first(lo);
        (start, self.relative * (start.high.abs() + self.spread) + self.slack)
    }
}

/// True if the level has fused multiplications: without them, singles cost more than conversions.
#[inline(always)]
fn is_fused<S: Simd>(simd: S) -> bool {
    !matches!(simd.level(), Level::Fallback(_))
}

/// Slices of a slice that starts at index `lo`, and where they start: what an element is does not
/// depend on its block.
#[inline(always)]
fn blocks<T>(lo: u64, out: &mut [T]) -> impl Iterator<Item = (u64, &mut [T])> {
    (lo..).step_by(BLOCK).zip(out.chunks_mut(BLOCK))
}

macro_rules! places {
    () => {{
        let mut places = [[0.0; GROUP]; BLOCK / GROUP];
        let (mut i, mut place) = (0, 0.0);
        while i < BLOCK {
            places[i / GROUP][i % GROUP] = place;
            place += 1.0;
            i += 1;
        }
        places
    }};
}

/// Places in a block.
static PLACES: [Doubles; BLOCK / GROUP] = places!();

/// The same, as singles.
static SINGLE_PLACES: [[f32; GROUP]; BLOCK / GROUP] = places!();

#[inline(always)]
fn places<S: Simd>(simd: S, group: usize, from: usize) -> S::f64s {
    S::f64s::from_slice(simd, &PLACES[group][from..from + S::f64s::LEN])
}

struct Sums {
    start: DoubleDouble,
    step: DoubleDouble,
    error: f64,
}

impl<S: Simd> ErrorBounds<S> for Sums {
    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f64s; 2] {
        let (start, start_low) =
            (S::f64s::splat(simd, self.start.high), S::f64s::splat(simd, self.start.low));
        let (step, step_low) = (S::f64s::splat(simd, self.step.high), S::f64s::splat(simd, self.step.low));
        let place = places(simd, group, from);
        let product = place * step;
        let product_rest = place.mul_sub_precise(step, product);
        let sum = start + product;
        let back = sum - start;
        let sum_rest = (start - (sum - back)) + (product - back);
        let rest = sum_rest + (product_rest + place.mul_add_precise(step_low, start_low));
        [sum + (rest - self.error), sum + (rest + self.error)]
    }
}

/// Sums of which the first term is at least twice as large as the second.
struct FarSums(Sums);

impl<S: Simd> ErrorBounds<S> for FarSums {
    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f64s; 2] {
        let Sums { start, step, error } = self.0;
        let splat = |x| S::f64s::splat(simd, x);
        let corrections = [splat(start.low - error), splat(start.low + error)];
        far_sums(
            places(simd, group, from),
            splat(start.high),
            [splat(step.high), splat(step.low)],
            corrections,
        )
    }
}

/// Bounds of sums whose first term is so large that what the sum drops is one fused multiplication;
/// `corrections` are the low part of the first term, less and more the error.
#[inline(always)]
fn far_sums<S: Simd, V: SimdFloat<S>>(
    place: V,
    first: V,
    [step, step_low]: [V; 2],
    corrections: [V; 2],
) -> [V; 2] {
    let sum = place.mul_add_precise(step, first);
    let rest = place.mul_add_precise(step_low, place.mul_add_precise(step, first - sum));
    // One by one: functions of arrays are no functions of a level, and may stay calls.
    let [less, more] = corrections;
    [sum + (rest + less), sum + (rest + more)]
}

/// Sums of singles, each a pair, of which the first term is at least four times as large as the
/// second.
struct FarSingles {
    start: [f32; 2],
    step: [f32; 2],
    error: f32,
}

/// The pair of singles that a pair of doubles is, relatively off by at most 2^-48.
fn singles(pair: DoubleDouble) -> [f32; 2] {
    let high = f32::from_f64(pair.high);
    [high, f32::from_f64(pair.high - f64::from(high) + pair.low)]
}

impl FarSingles {
    /// Writes a group, as [`Group::write`] does.
    #[inline(always)]
    fn write<S: Simd>(&self, simd: S, group: usize, out: &mut [f32; GROUP]) -> u64 {
        let splat = |x| S::f32s::splat(simd, x);
        let (first, step) = (splat(self.start[0]), [splat(self.step[0]), splat(self.step[1])]);
        let corrections = [splat(self.start[1] - self.error), splat(self.start[1] + self.error)];
        let mut doubts = 0;
        for from in (0..GROUP).step_by(S::f32s::LEN) {
            let place = S::f32s::from_slice(simd, &SINGLE_PLACES[group][from..from + S::f32s::LEN]);
            let [low, high] = far_sums(place, first, step, corrections);
            low.store_slice(&mut out[from..from + S::f32s::LEN]);
            doubts |= certain::differing_singles::<S>(low, high) << from;
        }
        doubts
    }
}

/// Sums of singles, and how far they may be off.
struct SingleSums {
    start: f32,
    step: f32,
    error: f32,
}

impl SingleSums {
    #[inline(always)]
    fn sums<S: Simd>(&self, simd: S, group: usize, from: usize) -> S::f32s {
        let place = S::f32s::from_slice(simd, &SINGLE_PLACES[group][from..from + S::f32s::LEN]);
        place.mul_add_precise(S::f32s::splat(simd, self.step), S::f32s::splat(simd, self.start))
    }
}

impl<S: Simd> SingleBounds<S> for SingleSums {
    const EXACT: bool = false;

    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f32s; 2] {
        let sum = self.sums(simd, group, from);
        [sum - self.error, sum + self.error]
    }
}

/// Sums of singles that are not rounded.
struct ExactSingles(SingleSums);

impl<S: Simd> SingleBounds<S> for ExactSingles {
    const EXACT: bool = true;

    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f32s; 2] {
        [self.0.sums(simd, group, from); 2]
    }
}

pub struct ExactSums {
    start: f64,
    step: f64,
}

impl ExactSums {
    #[inline(always)]
    fn sums<S: Simd>(&self, simd: S, group: usize, from: usize) -> S::f64s {
        let (start, step) = (S::f64s::splat(simd, self.start), S::f64s::splat(simd, self.step));
        places(simd, group, from).mul_add_precise(step, start)
    }
}

impl<S: Simd> ErrorBounds<S> for ExactSums {
    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f64s; 2] {
        [self.sums(simd, group, from); 2]
    }
}

pub struct RoundedSums {
    sums: ExactSums,
    error: f64,
}

impl<S: Simd> ErrorBounds<S> for RoundedSums {
    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f64s; 2] {
        let sum = self.sums.sums(simd, group, from);
        [sum - self.error, sum + self.error]
    }
}
