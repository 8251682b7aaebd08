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
//! For elements of fewer bits the double `a.high + j d.high`, rounded once, is enough: off by 2^-53
//! m for each of this rounding, `a.low` and `j d.low`, so 2^-51 m is a bound.
//!
//! Codes of many elements of the same sign and exponent are a line of integers ([`lanes`]); sums
//! are for what is left: few elements, those near zero, and those that are no normal numbers of the
//! type.

use fearless_simd::Simd;
use fearless_simd::prelude::*;
use gradus_core::convert::{self, Rules, low_u64, nearest_f64, u64_of, usize_of};
use gradus_core::float::Format;
use gradus_core::{DType, Number};
use gradus_sequences::{Line, Wide};

use crate::functions::power_of_two;
use crate::vectors::certain::{self, Doubles, ErrorBounds, GROUP, Group};
use crate::vectors::double_double::DoubleDouble;
use crate::vectors::lanes::{self, LaneElement, RUN, Run};
use crate::vectors::writer::ExactElement;

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
    /// Absolute error bound of the line, in its units.
    units: u64,
}

/// Exponents of the largest numbers of lines on which nothing overflows, and no error is too small
/// to be a double.
const MAGNITUDES: std::ops::Range<i32> = -800..1000;

/// Fewer elements than this are not worth a run, unless they all have the same exponent.
const FEW: usize = 64;

/// The sign and the exponent of a number.
type Binade = (bool, i32);

impl Affine {
    /// The line of a plan of that many elements of a type, if its numbers are neither too large nor
    /// too small.
    pub fn new(line: Line, len: u64, dtype: DType) -> Option<Affine> {
        let ends = [line.first, line.first.plus(line.step, len - 1)];
        let largest = ends.map(|end| binade(end, line.unit).1).into_iter().max()?;
        if !MAGNITUDES.contains(&largest) {
            return None;
        }
        let step = DoubleDouble::of_wide(line.step, line.unit);
        let (rounded, exact_bits) = if dtype == DType::F64 { (-101, 100) } else { (-51, 52) };
        // Numbers are multiples of a power of two, and no sum of fewer bits is rounded.
        let zeros = line.first.trailing_zeros().min(line.step.trailing_zeros());
        let exact = line.exact && largest < line.unit + zeros.cast_signed() + exact_bits;
        let count = nearest_f64(Number::Int(len.into()));
        Some(Affine {
            line,
            step,
            spread: PLACES[BLOCK / GROUP - 1][GROUP - 1] * step.high.abs(),
            relative: if exact { 0.0 } else { power_of_two(rounded) },
            slack: if line.exact { 0.0 } else { (count + 1.0) * power_of_two(line.unit) },
            units: if line.exact { 0 } else { len + 1 },
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
        exact: ExactElement<'_, f64>,
    ) {
        self.write_runs(
            simd,
            streams,
            lo,
            out,
            exact,
            #[inline(always)]
            |lo, out| {
                for (lo, block) in blocks(lo, out) {
                    let (start, error) = self.start(lo);
                    let sums = BlockSums { start, step: self.step, error };
                    certain::write(simd, streams, block, &sums, |i| exact(lo + i));
                }
            },
        );
    }

    /// Elements of fewer bits from index `lo` on; `exact` makes one that is in doubt.
    #[inline(always)]
    pub fn write_rounded<S: Simd, T: LaneElement<S>>(
        &self,
        simd: S,
        streams: bool,
        lo: u64,
        out: &mut [T],
        exact: ExactElement<'_, T>,
    ) where
        RoundedSums: Group<S, T>,
    {
        self.write_runs(
            simd,
            streams,
            lo,
            out,
            exact,
            #[inline(always)]
            |lo, out| {
                for (lo, block) in blocks(lo, out) {
                    let (start, error) = self.start(lo);
                    let sums = RoundedSums { start: start.high, step: self.step.high, error };
                    certain::write(simd, streams, block, &sums, |i| exact(lo + i));
                }
            },
        );
    }

    /// Elements from index `lo` on, run by run; `sums` writes those that are not worth a run.
    ///
    /// Seen from the end of a slice with the larger exponent, magnitudes fall: the elements there
    /// that have its exponent are a run. Slices end where lines of memory do.
    #[inline(always)]
    fn write_runs<S: Simd, T: LaneElement<S>>(
        &self,
        simd: S,
        streams: bool,
        lo: u64,
        out: &mut [T],
        exact: ExactElement<'_, T>,
        sums: impl Fn(u64, &mut [T]),
    ) {
        for (mut lo, mut rest) in (lo..).step_by(RUN).zip(out.chunks_mut(RUN)) {
            while let Some(last) = rest.len().checked_sub(1) {
                let (first, end) = (self.binade(lo), self.binade(lo + u64_of(last)));
                let same = first == end;
                let few = !same && rest.len() <= FEW;
                let (binade, at_end) = if end.1 > first.1 { (end, true) } else { (first, false) };
                let count = if same || few { rest.len() } else { self.reach(lo, rest.len(), binade, at_end) };
                let (start, part) = if at_end {
                    let before = rest.len() - count;
                    (lo + u64_of(before), rest.split_off_mut(before..))
                } else {
                    lo += u64_of(count);
                    (lo - u64_of(count), rest.split_off_mut(..count))
                };
                let part = part.unwrap_or_default();
                let run = if few { None } else { self.run(start, count, binade, T::DTYPE) };
                match run {
                    Some(run) => T::write(simd, streams, &run, part, |i| exact(start + i)),
                    None => sums(start, part),
                }
            }
        }
    }

    /// Number of elements of a slice that are sure to have the binade of its first, or of its last.
    fn reach(&self, lo: u64, len: usize, binade: Binade, at_end: bool) -> usize {
        let index = |i: usize| lo + u64_of(if at_end { len - 1 - i } else { i });
        // The magnitude and the step with 63 bits after the leading one, rounded down and up.
        let shift = u32::try_from(binade.1 - self.line.unit - 63).unwrap_or_default();
        let [magnitude, step] = [self.number(index(0)), self.line.step]
            .map(|x| lanes::in_units(if x.high < 0 { complement(x) } else { x }, shift).cast_unsigned());
        let behind = low_u64(magnitude) & (u64::MAX >> 1);
        let steps = u64::try_from(step).map_or(0, |step| behind / step.saturating_add(2));
        let count = usize_of(steps).saturating_add(1).min(len);
        // Rounding hides one at most.
        if count < len && self.binade(index(count)) == binade { count + 1 } else { count }
    }

    fn binade(&self, i: u64) -> Binade {
        binade(self.number(i), self.line.unit)
    }

    /// The run of `count` elements in one binade, if they are normal numbers of the type.
    fn run(&self, lo: u64, count: usize, (negative, exponent): Binade, dtype: DType) -> Option<Run> {
        let format = Format::of(dtype)?;
        let bits = u32::try_from(dtype.bits()).ok()?;
        let mantissa = format.precision() - 1;
        let above = exponent.checked_sub(format.least_exponent() + mantissa.cast_signed())?;
        let field = u64::try_from(above).ok().filter(|field| field + 2 < 1 << (bits - 1 - mantissa))?;
        let shift = u32::try_from(exponent - mantissa.cast_signed() - 64 - self.line.unit).ok()?;
        let code = u64::from(negative) << (bits - 1) | field << mantissa;
        Run::of_floats(&self.line, self.number(lo), u64_of(count), shift, self.units, code)
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

    fn number(&self, i: u64) -> Wide {
        self.line.first.plus(self.line.step, i)
    }

    /// The first number of a block.
    pub fn first(&self, lo: u64) -> DoubleDouble {
        DoubleDouble::of_wide(self.number(lo), self.line.unit)
    }

    /// The first number of a block, and how far the block's sums may be off.
    fn start(&self, lo: u64) -> (DoubleDouble, f64) {
        let start = self.first(lo);
        (start, self.relative * (start.high.abs() + self.spread) + self.slack)
    }
}

/// The sign of a number and its exponent; that of a negative power of two may be one less.
#[inline]
fn binade(number: Wide, unit: i32) -> Binade {
    let negative = number.high < 0;
    let Wide { high, low } = if negative { complement(number) } else { number };
    let zeros = if high == 0 { 128 + low.leading_zeros() } else { high.leading_zeros() };
    (negative, unit + 191 - zeros.cast_signed())
}

/// The magnitude of a negative number, less one.
fn complement(x: Wide) -> Wide {
    Wide { high: !x.high, low: !x.low }
}

/// Slices of a slice that starts at index `lo`, and where they start: what an element is does not
/// depend on its block.
#[inline(always)]
fn blocks<T>(lo: u64, out: &mut [T]) -> impl Iterator<Item = (u64, &mut [T])> {
    (lo..).step_by(BLOCK).zip(out.chunks_mut(BLOCK))
}

/// Places in a block.
static PLACES: [Doubles; BLOCK / GROUP] = {
    let mut places = [[0.0; GROUP]; BLOCK / GROUP];
    let (mut i, mut place) = (0, 0.0);
    while i < BLOCK {
        places[i / GROUP][i % GROUP] = place;
        place += 1.0;
        i += 1;
    }
    places
};

#[inline(always)]
fn places<S: Simd>(simd: S, group: usize, from: usize) -> S::f64s {
    S::f64s::from_slice(simd, &PLACES[group][from..from + S::f64s::LEN])
}

struct BlockSums {
    start: DoubleDouble,
    step: DoubleDouble,
    error: f64,
}

impl<S: Simd> ErrorBounds<S> for BlockSums {
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

/// Sums for elements of fewer bits, and how far they may be off.
pub struct RoundedSums {
    start: f64,
    step: f64,
    error: f64,
}

impl<S: Simd> ErrorBounds<S> for RoundedSums {
    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f64s; 2] {
        let (start, step) = (S::f64s::splat(simd, self.start), S::f64s::splat(simd, self.step));
        let sum = places(simd, group, from).mul_add_precise(step, start);
        [sum - self.error, sum + self.error]
    }
}
