//! Floats of 16 bits: rounded as the bits of singles, or of doubles where those leave a doubt.
//!
//! Vectors hold twice as many singles as doubles. Their bounds are strictly below and above the
//! exact elements, so where both are rounded alike, ties away from zero, so are the elements: a
//! tie is between its bounds, which are rounded apart.

use fearless_simd::Simd;
use fearless_simd::prelude::*;
use gradus_core::convert::FromNumber;
use half::{bf16, f16};

use crate::vectors::certain::{self, ErrorBounds, GROUP, Group, low_16, one_by_one};

/// Two bounds of the elements of a block, as singles, as many at a time as a vector has.
pub trait SingleBounds<S: Simd> {
    /// The bounds of the elements of a group from one on.
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f32s; 2];
}

/// Bits of a float of 16 bits after the point, and the bias of its exponent.
#[derive(Clone, Copy)]
pub struct Layout {
    mantissa: u32,
    bias: u32,
}

/// Floats of 16 bits.
pub trait Half: FromNumber + Default {
    /// The layout of the bits.
    const LAYOUT: Layout;
}

impl Half for f16 {
    const LAYOUT: Layout = Layout { mantissa: 10, bias: 15 };
}

impl Half for bf16 {
    const LAYOUT: Layout = Layout { mantissa: 7, bias: 127 };
}

/// Writes elements of which there are bounds as singles, if there are any, and as doubles; the
/// others are asked for, `exact(i)`.
#[inline(always)]
pub fn write<S: Simd, T: Half>(
    simd: S,
    streams: bool,
    out: &mut [T],
    singles: Option<impl SingleBounds<S>>,
    doubles: &impl Group<S, T>,
    exact: impl Fn(u64) -> T,
) {
    match singles {
        Some(singles) => certain::write_groups(
            simd,
            streams,
            out,
            #[inline(always)]
            |group, out| {
                let certain = T::LAYOUT.write_singles(simd, &singles, group, bytemuck::cast_mut(out));
                if certain { 0 } else { doubles.write(simd, group, out) }
            },
            exact,
        ),
        None => certain::write(simd, streams, out, doubles, exact),
    }
}

impl Layout {
    /// Writes the codes of a group; false if an element is in doubt, or not among the normal
    /// numbers of the type.
    #[inline(always)]
    fn write_singles<S: Simd, B: SingleBounds<S>>(
        self,
        simd: S,
        bounds: &B,
        group: usize,
        out: &mut [u16; GROUP],
    ) -> bool {
        let splat = |x| S::u32s::splat(simd, x);
        let dropped = 23 - self.mantissa;
        let rounded = |x: S::f32s| -> S::u32s {
            let bits: S::u32s = x.bitcast();
            (bits + splat(1 << (dropped - 1))) >> dropped
        };
        let mut certain = true;
        let mut codes = [0; GROUP];
        for from in (0..GROUP).step_by(S::f32s::LEN) {
            let [low, high] = bounds.at(simd, group, from);
            let (low, high) = (rounded(low), rounded(high));
            let kept = low & splat(u32::MAX >> (dropped + 1));
            // Numbers below the smallest one wrap around.
            let normal = (kept - splat((127 - self.bias + 1) << self.mantissa))
                .simd_lt(splat((2 * self.bias) << self.mantissa));
            certain &= (normal & low.simd_eq(high)).all_true();
            let sign = low >> (16 - dropped) & splat(1 << 15);
            let code = (kept - splat((127 - self.bias) << self.mantissa)) | sign;
            code.store_slice(&mut codes[from..from + S::f32s::LEN]);
        }
        [*out, _] = low_16(simd, &codes);
        certain
    }

    /// The magnitude of a double, rounded to this many bits, in the low bits, and its sign after
    /// them.
    #[inline(always)]
    fn rounded<S: Simd>(self, simd: S, x: S::f64s) -> S::u64s {
        let dropped = 52 - self.mantissa;
        let bits: S::u64s = x.bitcast();
        let magnitude = bits & S::u64s::splat(simd, u64::MAX >> 1);
        // Half a unit up, and ties to the even neighbour.
        let half = S::u64s::splat(simd, (1 << (dropped - 1)) - 1);
        let odd = magnitude >> dropped & S::u64s::splat(simd, 1);
        (magnitude + half + odd) >> dropped | (bits >> 32 & S::u64s::splat(simd, 1 << 31))
    }

    /// Writes the codes of a group and says which of them the upper bound contradicts; `None` if an
    /// element is not among the normal numbers of the type.
    #[inline(always)]
    fn write<S: Simd>(
        self,
        simd: S,
        bounds: &impl ErrorBounds<S>,
        group: usize,
        out: &mut [u16; GROUP],
    ) -> Option<u64> {
        let (mut doubts, mut normal) = (0, true);
        let splat = |x| S::u32s::splat(simd, x);
        let smallest = splat((1023 - self.bias + 1) << self.mantissa);
        let infinity = splat((1023 + self.bias + 1) << self.mantissa);
        let rebias = splat((1023 - self.bias) << self.mantissa);
        let magnitude = splat(u32::MAX >> 1);
        let mut codes = [0; GROUP];
        for from in (0..GROUP).step_by(S::u32s::LEN) {
            let (one, two) = (bounds.at(simd, group, from), bounds.at(simd, group, from + S::f64s::LEN));
            let low = self.rounded(simd, one[0]).narrow(self.rounded(simd, two[0]));
            let high = self.rounded(simd, one[1]).narrow(self.rounded(simd, two[1]));
            doubts |= low.simd_ne(high).to_bitmask() << from;
            let kept = low & magnitude;
            normal &= (kept.simd_ge(smallest) & kept.simd_lt(infinity)).all_true();
            let code = (kept - rebias) | (low >> 16 & splat(1 << 15));
            code.store_slice(&mut codes[from..from + S::u32s::LEN]);
        }
        [*out, _] = low_16(simd, &codes);
        normal.then_some(doubts)
    }
}

macro_rules! halves {
    ($($type:ty)*) => {$(
        impl<S: Simd, B: ErrorBounds<S>> Group<S, $type> for B {
            #[inline(always)]
            fn write(&self, simd: S, group: usize, out: &mut [$type; GROUP]) -> u64 {
                match <$type>::LAYOUT.write(simd, self, group, bytemuck::cast_mut(out)) {
                    Some(doubts) => doubts,
                    None => one_by_one(simd, self, group, out),
                }
            }
        }
    )*};
}

halves! { f16 bf16 }
