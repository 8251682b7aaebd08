//! Types that sums of products are computed in.

use std::cell::Cell;
use std::ops::{Add, AddAssign, Mul, Range};
use std::thread::LocalKey;

use fearless_simd::prelude::*;
use fearless_simd::{Level as Token, Simd, SimdFloatElement};
use gradus_core::Result;
use gradus_core::convert::FromNumber;

use super::pack::{self, Lines};
use super::{Elements, Numbers, Product, Results, Rows, Scratch, Shifted, Sizes, tiles};
use crate::options::Options;
use crate::sums::{SINGLE_BLOCK, SumType};
use crate::vectors::levels::at_level;

/// A float that sums of products are computed in.
pub trait Term:
    SimdFloatElement + FromNumber + Default + Send + Sync + Add<Output = Self> + AddAssign + Mul<Output = Self>
{
    /// The positive quiet NaN.
    const NAN: Self;
    /// Terms of the summed axis that are packed at a time.
    const INNER: usize;
    /// Vectors side by side in the tile of the widest vectors: so many that panels of
    /// [`Term::INNER`] rows stay in the first cache.
    const VECTORS: usize;
    /// True if each block of [`Term::INNER`] terms is added up from zero; otherwise one sum goes
    /// through all blocks.
    const BLOCKED: bool;

    /// True if multiplications are always fused with additions.
    const FUSED: bool;

    /// Sums of this type.
    const SUMS: SumType;

    /// Returns true if multiplications are fused with additions at a level; `exact` is true if all
    /// products are exact in float64.
    fn fuses(token: Token, exact: bool) -> bool;

    /// A product and a sum, rounded once.
    #[must_use]
    fn fused(self, factor: Self, sum: Self) -> Self;

    /// The number, or the positive quiet NaN.
    #[must_use]
    fn or_nan(self) -> Self;

    /// The number of float32 of these bytes.
    fn single(bytes: [u8; 4]) -> Self;

    /// Writes as many numbers of float32 as a vector has.
    fn singles<S: Simd>(simd: S, from: &[[u8; 4]], to: &mut [Self]);

    /// Writes doubles, rounded to the type.
    fn doubles(from: &[f64], to: &mut [Self]);

    /// Numbers of float32 in this type, which may lie in the memory that is given.
    fn widened<'a>(singles: &'a [f32], memory: &'a mut [Self]) -> &'a [Self];

    /// The numbers in float64, which may lie in the memory that is given.
    fn wide<'a>(numbers: &'a [Self], memory: &'a mut Vec<f64>) -> &'a [f64];

    /// The rows of a matrix in this type.
    fn rows(of: &dyn Elements) -> &dyn Rows<Self>;

    /// Memory that the thread keeps.
    #[doc(hidden)]
    fn scratch() -> &'static LocalKey<Cell<Scratch<Self>>>;

    #[doc(hidden)]
    fn read(numbers: &Numbers<'_>, first: usize, step: usize, out: &mut [Self]);

    #[doc(hidden)]
    fn split(token: Token, line: &[Self], place: [usize; 2], out: &mut [Self]);

    #[doc(hidden)]
    fn split_singles(token: Token, lines: Lines<'_>, out: &mut [Self]);

    #[doc(hidden)]
    fn copy(token: Token, planes: &Shifted<'_>, of: [Range<usize>; 2], out: &mut [Self]);

    #[doc(hidden)]
    fn multiply(products: &[Product<'_>], sizes: Sizes, results: Results<'_>, options: Options)
    -> Result<()>;

    #[doc(hidden)]
    fn add_lines(how: (Token, bool), a: &[Self], elements: &[Self], places: &[usize], sums: &mut [Self]);

    #[doc(hidden)]
    fn add_singles(how: (Token, bool), a: &[Self], elements: &[[u8; 4]], places: &[usize], sums: &mut [Self]);

    #[doc(hidden)]
    fn one_nan(token: Token, sums: &mut [Self]);
}

/// The loops of products for a type, which are compiled in this crate: those that call them may be
/// compiled without optimisation.
macro_rules! loops {
    () => {
        fn read(numbers: &Numbers<'_>, first: usize, step: usize, out: &mut [Self]) {
            super::read(numbers, first, step, out);
        }

        fn split(token: Token, line: &[Self], place: [usize; 2], out: &mut [Self]) {
            pack::split_terms(token, line, place, out);
        }

        fn split_singles(token: Token, lines: Lines<'_>, out: &mut [Self]) {
            pack::split_singles(token, lines, out);
        }

        fn copy(token: Token, planes: &Shifted<'_>, of: [Range<usize>; 2], out: &mut [Self]) {
            planes.copy(token, of, out);
        }

        fn multiply(
            products: &[Product<'_>],
            sizes: Sizes,
            results: Results<'_>,
            options: Options,
        ) -> Result<()> {
            super::multiply_into::<Self>(products, sizes, results, options)
        }

        fn add_lines(how: (Token, bool), a: &[Self], elements: &[Self], places: &[usize], sums: &mut [Self]) {
            tiles::add_lines::<pack::Terms, Self>(how, a, elements, places, sums);
        }

        fn add_singles(
            how: (Token, bool),
            a: &[Self],
            elements: &[[u8; 4]],
            places: &[usize],
            sums: &mut [Self],
        ) {
            tiles::add_lines::<pack::Singles, Self>(how, a, elements, places, sums);
        }

        fn one_nan(token: Token, sums: &mut [Self]) {
            super::nans(token, sums);
        }
    };
}

thread_local! {
    static DOUBLES: Cell<Scratch<f64>> = Cell::default();
    static SINGLES: Cell<Scratch<f32>> = Cell::default();
}

/// Maximum number of lanes of float32.
const SINGLE_LANES: usize = 16;

/// Writes as many numbers in float64.
#[allow(clippy::needless_range_loop, reason = "loops over indices are compiled for the level")]
fn widen(singles: &[f32], out: &mut [f64]) {
    let out = &mut out[..singles.len()];
    at_level!(Options::default().token(), _ => for at in 0..singles.len() {
        out[at] = f64::from(singles[at]);
    });
}

impl Term for f64 {
    const NAN: f64 = f64::NAN;
    const INNER: usize = 192;
    const VECTORS: usize = 3;
    const BLOCKED: bool = false;
    const FUSED: bool = false;
    const SUMS: SumType = SumType::Double;

    // Where that rounds alike, and unless a fused operation is slow for want of an instruction.
    #[inline(always)]
    fn fuses(token: Token, exact: bool) -> bool {
        exact && !matches!(token, Token::Fallback(_))
    }

    #[inline(always)]
    fn fused(self, factor: f64, sum: f64) -> f64 {
        self.mul_add(factor, sum)
    }

    #[inline(always)]
    fn or_nan(self) -> f64 {
        if self.is_nan() { f64::NAN } else { self }
    }

    #[inline(always)]
    fn single(bytes: [u8; 4]) -> f64 {
        f64::from(f32::from_ne_bytes(bytes))
    }

    #[inline(always)]
    fn singles<S: Simd>(simd: S, from: &[[u8; 4]], to: &mut [f64]) {
        let mut singles = [0.0; SINGLE_LANES];
        for at in 0..S::f64s::LEN {
            singles[at] = f32::from_ne_bytes(from[at]);
        }
        let (low, _) = S::f32s::from_slice(simd, &singles[..S::f32s::LEN]).widen();
        low.store_slice(to);
    }

    #[inline(always)]
    fn doubles(from: &[f64], to: &mut [f64]) {
        to.copy_from_slice(from);
    }

    fn widened<'a>(singles: &'a [f32], memory: &'a mut [f64]) -> &'a [f64] {
        let memory = &mut memory[..singles.len()];
        widen(singles, memory);
        memory
    }

    fn wide<'a>(numbers: &'a [f64], _: &'a mut Vec<f64>) -> &'a [f64] {
        numbers
    }

    fn rows(of: &dyn Elements) -> &dyn Rows<f64> {
        of
    }

    fn scratch() -> &'static LocalKey<Cell<Scratch<f64>>> {
        &DOUBLES
    }

    loops!();
}

impl Term for f32 {
    const NAN: f32 = f32::NAN;
    const INNER: usize = SINGLE_BLOCK;
    const VECTORS: usize = 2;
    const BLOCKED: bool = true;
    const FUSED: bool = true;
    const SUMS: SumType = SumType::Single;

    #[inline(always)]
    fn fuses(_: Token, _: bool) -> bool {
        true
    }

    #[inline(always)]
    fn fused(self, factor: f32, sum: f32) -> f32 {
        self.mul_add(factor, sum)
    }

    #[inline(always)]
    fn or_nan(self) -> f32 {
        if self.is_nan() { f32::NAN } else { self }
    }

    #[inline(always)]
    fn single(bytes: [u8; 4]) -> f32 {
        f32::from_ne_bytes(bytes)
    }

    #[inline(always)]
    fn singles<S: Simd>(_: S, from: &[[u8; 4]], to: &mut [f32]) {
        for at in 0..S::f32s::LEN {
            to[at] = f32::from_ne_bytes(from[at]);
        }
    }

    #[inline(always)]
    fn doubles(from: &[f64], to: &mut [f32]) {
        for at in 0..from.len() {
            to[at] = f32::from_f64(from[at]);
        }
    }

    fn widened<'a>(singles: &'a [f32], _: &'a mut [f32]) -> &'a [f32] {
        singles
    }

    fn wide<'a>(numbers: &'a [f32], memory: &'a mut Vec<f64>) -> &'a [f64] {
        memory.resize(memory.len().max(numbers.len()), 0.0);
        f64::widened(numbers, memory)
    }

    fn rows(of: &dyn Elements) -> &dyn Rows<f32> {
        of
    }

    fn scratch() -> &'static LocalKey<Cell<Scratch<f32>>> {
        &SINGLES
    }

    loops!();
}
