//! Functions of elements of at most 32 bits, by vectors of doubles with a bound of their error.

use fearless_simd::{Simd, prelude::*};
use gradus_core::convert::{FromNumber, usize_of};
use half::{bf16, f16};

use super::certain::{self, ErrorBounds};
use super::levels::{Token, at_level};
use super::real_lanes::Lanes;
use crate::functions::{CHUNK, Call};

/// Values at doubles, as bounds.
pub(crate) struct Values<'a> {
    x: &'a [f64; CHUNK],
    y: &'a [f64; CHUNK],
    /// One less than the bound of the relative error, and one more.
    factors: [f64; 2],
}

impl<S: Simd> ErrorBounds<S> for Values<'_> {
    #[inline(always)]
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f64s; 2] {
        let from = group * certain::GROUP + from;
        let vector = |x: &[f64; CHUNK]| S::f64s::from_slice(simd, &x[from..from + S::f64s::LEN]);
        let (x, y) = (vector(self.x), vector(self.y));
        let splat = |x| S::f64s::splat(simd, x);
        // Infinities and NaN are in doubt.
        let told = x.abs().simd_lt(splat(f64::INFINITY)) & y.simd_eq(y);
        [told.select(y * self.factors[0], splat(0.0)), told.select(y * self.factors[1], splat(1.0))]
    }
}

/// Element types of at most 32 bits.
pub(crate) trait Short: Copy + Default + FromNumber + Into<f64> {
    /// Writes elements of which bounds are known, as [`certain::write`].
    fn write<S: Simd>(simd: S, out: &mut [Self], bounds: &Values<'_>, exact: impl Fn(u64) -> Self);
}

macro_rules! short {
    ($($type:ty)*) => {$(
        impl Short for $type {
            #[inline(always)]
            fn write<S: Simd>(simd: S, out: &mut [$type], bounds: &Values<'_>, exact: impl Fn(u64) -> $type) {
                certain::write(simd, false, out, bounds, exact);
            }
        }
    )*};
}

short! { f16 bf16 f32 }

/// Writes the values of a function whose parameters are finite.
#[allow(clippy::needless_range_loop, reason = "loops over indices are compiled for the level")]
pub(crate) fn write<T: Short>(call: &Call, token: Token, x: &[T], out: &mut [T]) {
    let bound = call.function.bound();
    let factors = [1.0 - bound, 1.0 + bound];
    let (mut doubles, mut values) = ([1.0; CHUNK], [1.0; CHUNK]);
    for (x, out) in x.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
        let count = x.len();
        at_level!(token, _ => for i in 0..count {
            doubles[i] = x[i].into();
        });
        at_level!(token, simd => over(simd, call, &doubles, &mut values));
        if call.keeps_zero() {
            at_level!(token, _ => for i in 0..CHUNK {
                let (x, y) = (doubles[i], values[i]);
                values[i] = if y == 0.0 && x == 0.0 { x } else { y };
            });
        }
        let bounds = Values { x: &doubles, y: &values, factors };
        let exact = |i| call.exact::<T>(doubles[usize_of(i)]);
        at_level!(token, simd => T::write(simd, out, &bounds, exact));
    }
}

/// The values of a function at doubles that have the precision of shorter types.
#[inline(always)]
fn over<S: Simd>(simd: S, call: &Call, x: &[f64; CHUNK], y: &mut [f64; CHUNK]) {
    let parameters = call.parameters.map(|x| Lanes::<S>(S::f64s::splat(simd, x)));
    let chunks = x.chunks_exact(S::f64s::LEN).zip(y.chunks_exact_mut(S::f64s::LEN));
    call.function.each(
        &parameters,
        chunks,
        #[inline(always)]
        |(x, _)| Lanes::<S>(S::f64s::from_slice(simd, x)),
        #[inline(always)]
        |value, (_, y)| value.0.store_slice(y),
    );
}
