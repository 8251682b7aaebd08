//! Affine sequences of integers: numbers rounded toward zero, in fixed point.
//!
//! Number `w` of a line is too small by less than a bound `b`, and exact numbers that are not
//! integers keep a distance of `2b` from integers. So above zero `w + b`, rounded down, is the
//! exact number rounded down; and below zero `w + 1 - b`, rounded down, is the exact number rounded
//! up. Of an exact line the bounds are 0, and any one unit.

use fearless_simd::Simd;
use fearless_simd::prelude::*;
use gradus_core::convert::{low_u8, low_u16, low_u64, u64_of};
use gradus_sequences::{Line, Wide};

use crate::range::IntegerElement;

/// A prepared affine sequence of integers.
#[derive(Clone, Copy, Debug)]
pub struct IntAffine {
    /// The line in fixed point.
    pub line: Line,
    /// The biases of numbers from zero up, and of negative numbers.
    pub biases: [Wide; 2],
    /// Bits of the upper part that are behind the point.
    pub fraction: u32,
    /// True if 64 fraction bits suffice within a block.
    short: bool,
}

impl IntAffine {
    /// The line of a plan of that many elements, if it is exact enough and its numbers are within
    /// 64 bits.
    pub fn new(line: Line, len: u64) -> Option<IntAffine> {
        // The largest number is below 2^(unit + 187), so this is 60 at least. One has to fit the
        // upper part.
        let fraction =
            (-line.unit).checked_sub(64).filter(|fraction| (60..=124).contains(fraction))?.unsigned_abs();
        let bound = len + 1;
        let distance = line.unit + 2 + bound.ilog2().cast_signed();
        let (above, below) = if line.exact { (0, 1) } else { (bound, bound) };
        (line.exact || distance <= line.spacing).then(|| IntAffine {
            line,
            biases: [
                Wide { high: 0, low: above },
                Wide { high: 1 << fraction, low: 0 }.plus(Wide { high: -1, low: below.wrapping_neg() }, 1),
            ],
            fraction,
            short: line.spacing >= LEAST_SPACING && (line.exact || distance <= LEAST_SPACING),
        })
    }

    /// Elements from index `lo` on, one by one.
    #[inline(always)]
    fn write_each<S: Simd, T: IntegerElement>(&self, _: S, lo: u64, out: &mut [T]) {
        let mut number = self.number(lo);
        for slot in out {
            *slot = T::low(low_u64(self.rounded(number).cast_unsigned()));
            number = number.plus(self.line.step, 1);
        }
    }

    /// A number, rounded toward zero.
    #[inline(always)]
    fn rounded(&self, number: Wide) -> i128 {
        number.plus(self.biases[usize::from(number.high < 0)], 1).high >> self.fraction
    }

    fn number(&self, index: u64) -> Wide {
        self.line.first.plus(self.line.step, index)
    }

    /// Elements from index `lo` on, as many at a time as a vector has.
    #[inline(always)]
    pub fn write_lanes<S: Simd, T: IntegerElement + Lanes<S>>(&self, simd: S, lo: u64, out: &mut [T]) {
        for (lo, block) in (lo..).step_by(BLOCK).zip(out.chunks_mut(BLOCK)) {
            let [first, last] = [lo, lo + u64_of(block.len()) - 1].map(|i| self.rounded(self.number(i)));
            if first == last {
                block.fill(T::low(low_u64(first.cast_unsigned())));
                continue;
            }
            let run = self.run(lo, u64_of(block.len()));
            let (body, tail) = block.split_at_mut(block.len() / T::WIDTH * T::WIDTH);
            match run {
                Some(run) => T::write(simd, run, body),
                None => self.write_each(simd, lo, body),
            }
            self.write_each(simd, lo + u64_of(body.len()), tail);
        }
    }

    /// A block in fewer bits, if they suffice and its numbers have the same sign.
    fn run(&self, lo: u64, len: u64) -> Option<Run> {
        let [first, last] = [lo, lo + len - 1].map(|i| self.number(i).high < 0);
        (self.short && first == last).then(|| {
            let bias = if first { ONE - BLOCK_BOUND } else { BLOCK_BOUND };
            Run {
                start: self.in_units(self.number(lo)).wrapping_add(bias),
                step: self.in_units(self.line.step),
            }
        })
    }

    /// A number in units of 2^-64, rounded down.
    fn in_units(&self, x: Wide) -> i128 {
        // Bits behind the point come from the upper part, and those that lack to 64 from the lower.
        match self.fraction.checked_sub(64) {
            Some(spare) => x.high >> spare,
            None => x.high << (64 - self.fraction) | i128::from(x.low >> self.fraction),
        }
    }
}

/// Elements in a block of numbers with 64 bits behind the point.
const BLOCK: usize = 1024;

/// By how much such numbers may be too small: a unit of 2^-64 for each addition and for the block's
/// start, and twice as many for the line.
const BLOCK_BOUND: i128 = 1 << 12;

/// One, in units of 2^-64.
const ONE: i128 = 1 << 64;

/// The power of two of twice the bound.
const LEAST_SPACING: i32 = 13 - 64;

/// Numbers in units of 2^-64, of which the bits before the point are elements.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    start: i128,
    step: i128,
}

impl Run {
    /// The numbers from one on, one in a lane.
    #[inline(always)]
    fn lanes<S: Simd>(self, simd: S, first: i128) -> Chain<S> {
        let number =
            |i: usize| self.start.wrapping_add(self.step.wrapping_mul(first + i128::from(u64_of(i))));
        Chain {
            before: S::i64s::from_fn(simd, |i| high(number(i))),
            behind: S::u64s::from_fn(simd, |i| low_u64(number(i).cast_unsigned())),
        }
    }

    /// The distance of so many numbers, the same in each lane.
    #[inline(always)]
    fn stride<S: Simd>(self, simd: S, count: usize) -> Chain<S> {
        let step = self.step.wrapping_mul(i128::from(u64_of(count)));
        Chain {
            before: S::i64s::splat(simd, high(step)),
            behind: S::u64s::splat(simd, low_u64(step.cast_unsigned())),
        }
    }
}

/// The bits before the point.
fn high(x: i128) -> i64 {
    low_u64((x >> 64).cast_unsigned()).cast_signed()
}

/// Numbers, one in a lane.
#[derive(Clone, Copy)]
struct Chain<S: Simd> {
    before: S::i64s,
    behind: S::u64s,
}

impl<S: Simd> Chain<S> {
    #[inline(always)]
    fn plus(self, stride: Chain<S>) -> Chain<S> {
        let behind = self.behind + stride.behind;
        // A lane that is true is -1.
        let carry = behind.simd_lt(stride.behind).to_vector();
        Chain { before: self.before + stride.before - carry, behind }
    }
}

/// Integers that are made in lanes.
pub trait Lanes<S: Simd>: Sized {
    /// How many at a time.
    const WIDTH: usize;

    /// Writes the elements of a run; as many as a multiple of the width.
    fn write(simd: S, run: Run, out: &mut [Self]);
}

macro_rules! lanes {
    ($($vector:ident, $element:ty, |$chains:ident, $simd:ident| $next:expr => $($type:ty)*;)*) => {$($(
        impl<S: Simd> Lanes<S> for $type {
            const WIDTH: usize = S::$vector::LEN;

            #[inline(always)]
            fn write($simd: S, run: Run, out: &mut [$type]) {
                let stride = run.stride($simd, S::$vector::LEN);
                let second = i128::from(u64_of(S::i64s::LEN));
                let mut $chains = [run.lanes($simd, 0), run.lanes($simd, second)];
                for chunk in bytemuck::cast_slice_mut::<$type, $element>(out).chunks_exact_mut(S::$vector::LEN) {
                    $next.store_slice(chunk);
                    $chains = [$chains[0].plus(stride), $chains[1].plus(stride)];
                }
            }
        }
    )*)*};
}

lanes! {
    i64s, i64, |chains, simd| chains[0].before => i64 u64;
    i32s, i32, |chains, simd| chains[0].before.narrow(chains[1].before) => i32 u32;
}

macro_rules! short_lanes {
    ($($type:ty: |$wide:ident| $low:expr;)*) => {$(
        impl<S: Simd> Lanes<S> for $type {
            const WIDTH: usize = S::i32s::LEN;

            #[inline(always)]
            fn write(simd: S, run: Run, out: &mut [$type]) {
                let mut made = [0u32; BLOCK];
                let made = &mut made[..out.len()];
                Lanes::write(simd, run, made);
                for (out, &mut $wide) in out.iter_mut().zip(made) {
                    *out = $low;
                }
            }
        }
    )*};
}

short_lanes! {
    i8: |wide| low_u8(wide.into()).cast_signed();
    i16: |wide| low_u16(wide).cast_signed();
    u8: |wide| low_u8(wide.into());
    u16: |wide| low_u16(wide);
}
