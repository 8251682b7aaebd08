//! Rounding that is certain, and the rest.

use gradus_core::convert::FromNumber;
use half::{bf16, f16};

/// Elements that can be told apart bit by bit.
pub trait Target: FromNumber {
    /// An integer as wide as the element.
    type Bits: Copy + PartialEq;

    /// The bits.
    fn bits(self) -> Self::Bits;
}

macro_rules! targets {
    ($($type:ty: $bits:ty, |$x:ident| $value:expr;)*) => {$(
        impl Target for $type {
            type Bits = $bits;

            #[inline(always)]
            fn bits(self) -> $bits {
                let $x = self;
                $value
            }
        }
    )*};
}

targets! {
    i8: i8, |x| x;
    i16: i16, |x| x;
    i32: i32, |x| x;
    i64: i64, |x| x;
    u8: u8, |x| x;
    u16: u16, |x| x;
    u32: u32, |x| x;
    u64: u64, |x| x;
    f16: u16, |x| x.to_bits();
    bf16: u16, |x| x.to_bits();
    f32: u32, |x| x.to_bits();
    f64: u64, |x| x.to_bits();
}

/// Writes elements of which two bounds are known, both rounded to the element type.
///
/// Rounding is monotone: where both bounds round to the same element, so does everything between them. The others
/// are asked for, `exact(i)`.
#[inline(always)]
pub fn write<T: Target>(
    out: &mut [T],
    bounds: impl Iterator<Item = [T; 2]> + Clone,
    exact: impl Fn(u64) -> T,
) {
    let mut differ = false;
    for (element, [low, high]) in out.iter_mut().zip(bounds.clone()) {
        *element = low;
        differ |= low.bits() != high.bits();
    }
    if differ {
        settle(out, bounds, exact);
    }
}

#[cold]
#[inline(never)]
fn settle<T: Target>(out: &mut [T], bounds: impl Iterator<Item = [T; 2]>, exact: impl Fn(u64) -> T) {
    for ((i, element), [low, high]) in (0..).zip(out.iter_mut()).zip(bounds) {
        if low.bits() != high.bits() {
            *element = exact(i);
        }
    }
}
