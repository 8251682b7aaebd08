//! Rounding that is certain, and the rest.

use fearless_simd::Simd;
use fearless_simd::prelude::*;
use gradus_core::convert::{FromNumber, u64_of};

use crate::functions::power_of_two;
use crate::vectors::stream;

/// Elements that are made at a time: as many as the widest vector has of the shortest type, and a
/// few vectors of others.
pub const GROUP: usize = 16;

/// A group that starts where a line of memory does: vectors that cross lines take longer, and those
/// that cross pages many times as long, wherever the stack happens to be.
#[repr(C, align(64))]
struct Lined<T, const G: usize>([T; G]);

/// Numbers of as many elements.
pub type Doubles = [f64; GROUP];

/// Two bounds of the elements of a block, as doubles, as many at a time as a vector has.
pub trait ErrorBounds<S: Simd> {
    /// The bounds of the elements of a group from one on.
    fn at(&self, simd: S, group: usize, from: usize) -> [S::f64s; 2];
}

/// The elements of a block, a group at a time.
pub trait Group<S: Simd, T> {
    /// Writes a group, each element as its lower bound is rounded, and says which of them the upper
    /// bound contradicts, as bits.
    fn write(&self, simd: S, group: usize, out: &mut [T; GROUP]) -> u64;
}

/// Writes elements of which two bounds are known; past the caches if `streams`, where groups are
/// whole lines of memory.
///
/// Rounding is monotone: where both bounds round to the same element, so does everything between
/// them. The others are asked for, `exact(i)`.
#[inline(always)]
pub fn write<S: Simd, T: FromNumber + Default>(
    simd: S,
    streams: bool,
    out: &mut [T],
    groups: &impl Group<S, T>,
    exact: impl Fn(u64) -> T,
) {
    write_groups::<S, T, GROUP>(
        simd,
        streams,
        out,
        #[inline(always)]
        |group, out| groups.write(simd, group, out),
        exact,
    );
}

/// Writes groups with a function, which must do what [`Group::write`] says, for groups of any
/// length, in order.
#[inline(always)]
pub fn write_groups<S: Simd, T: FromNumber + Default, const G: usize>(
    simd: S,
    streams: bool,
    out: &mut [T],
    mut write: impl FnMut(usize, &mut [T; G]) -> u64,
    exact: impl Fn(u64) -> T,
) {
    let (body, tail) = out.as_chunks_mut::<G>();
    let whole = body.len();
    for (group, out) in body.iter_mut().enumerate() {
        let doubts = if streams {
            // Never in memory of its own, where reading it again would wait for older stores.
            let mut made = Lined([T::default(); G]);
            let doubts = write(group, &mut made.0);
            if doubts == 0 {
                stream::copy_group(simd, &made.0, out);
                continue;
            }
            *out = made.0;
            doubts
        } else {
            write(group, out)
        };
        if doubts != 0 {
            settle(doubts, out, |k| exact(u64_of(group * G) + k));
        }
    }
    if !tail.is_empty() {
        let mut made = Lined([T::default(); G]);
        let doubts = write(whole, &mut made.0);
        tail.copy_from_slice(&made.0[..tail.len()]);
        settle(doubts, tail, |k| exact(u64_of(whole * G) + k));
    }
}

#[cold]
#[inline(never)]
fn settle<T>(doubts: u64, out: &mut [T], exact: impl Fn(u64) -> T) {
    for (k, element) in (0u64..).zip(out) {
        if doubts >> k & 1 == 1 {
            *element = exact(k);
        }
    }
}

/// The elements whose bits differ, as bits. `to_bits` of a vector is not always inlined, and a call
/// of it costs many times what the element does.
#[inline(always)]
fn differing_doubles<S: Simd>(low: S::f64s, high: S::f64s) -> u64 {
    let (low, high): (S::u64s, S::u64s) = (low.bitcast(), high.bitcast());
    low.simd_ne(high).to_bitmask()
}

/// As [`differing_doubles`].
#[inline(always)]
pub fn differing_singles<S: Simd>(low: S::f32s, high: S::f32s) -> u64 {
    let (low, high): (S::u32s, S::u32s) = (low.bitcast(), high.bitcast());
    low.simd_ne(high).to_bitmask()
}

impl<S: Simd, B: ErrorBounds<S>> Group<S, f64> for B {
    #[inline(always)]
    fn write(&self, simd: S, group: usize, out: &mut [f64; GROUP]) -> u64 {
        let mut doubts = 0;
        for from in (0..GROUP).step_by(S::f64s::LEN) {
            let [low, high] = self.at(simd, group, from);
            low.store_slice(&mut out[from..from + S::f64s::LEN]);
            doubts |= differing_doubles::<S>(low, high) << from;
        }
        doubts
    }
}

impl<S: Simd, B: ErrorBounds<S>> Group<S, f32> for B {
    #[inline(always)]
    fn write(&self, simd: S, group: usize, out: &mut [f32; GROUP]) -> u64 {
        let mut doubts = 0;
        for from in (0..GROUP).step_by(S::f32s::LEN) {
            let (one, two) = (self.at(simd, group, from), self.at(simd, group, from + S::f64s::LEN));
            let (low, high) = (one[0].narrow(two[0]), one[1].narrow(two[1]));
            low.store_slice(&mut out[from..from + S::f32s::LEN]);
            doubts |= differing_singles::<S>(low, high) << from;
        }
        doubts
    }
}

/// 2^52 and half of it: a double of this size has its integer in its lowest bits, as two's
/// complement.
pub const INTEGERS: f64 = 1.5 * power_of_two(52);

/// Doubles below 2^51, rounded toward zero, in the lowest bits of [`INTEGERS`].
#[inline(always)]
pub fn integers<S: Simd>(x: S::f64s) -> S::u64s {
    (x.trunc() + INTEGERS).bitcast()
}

impl<S: Simd, B: ErrorBounds<S>> Group<S, u32> for B {
    #[inline(always)]
    fn write(&self, simd: S, group: usize, out: &mut [u32; GROUP]) -> u64 {
        let mut doubts = 0;
        for from in (0..GROUP).step_by(S::u32s::LEN) {
            let (one, two) = (self.at(simd, group, from), self.at(simd, group, from + S::f64s::LEN));
            let low = integers::<S>(one[0]).narrow(integers::<S>(two[0]));
            let high = integers::<S>(one[1]).narrow(integers::<S>(two[1]));
            low.store_slice(&mut out[from..from + S::u32s::LEN]);
            doubts |= low.simd_ne(high).to_bitmask() << from;
        }
        doubts
    }
}

/// Writes a group with a conversion for each element.
#[inline(always)]
pub fn one_by_one<S: Simd, T: FromNumber>(
    simd: S,
    bounds: &impl ErrorBounds<S>,
    group: usize,
    out: &mut [T; GROUP],
) -> u64 {
    let mut doubts = 0;
    for from in (0..GROUP).step_by(S::f64s::LEN) {
        let [low, high] = bounds.at(simd, group, from);
        for k in 0..S::f64s::LEN {
            let (low, high) = (T::from_f64(low[k]), T::from_f64(high[k]));
            out[from + k] = low;
            doubts |= u64::from(bytemuck::bytes_of(&low) != bytemuck::bytes_of(&high)) << (from + k);
        }
    }
    doubts
}

/// The low 16 bits of a group, and what fills up the widest vector of them. Groups are put in place
/// as arrays: `copy_from_slice` stays a call.
#[inline(always)]
pub fn low_16<S: Simd>(simd: S, wide: &[u32; GROUP]) -> [[u16; GROUP]; 2] {
    let mut made = [0; 2 * GROUP];
    for from in (0..GROUP).step_by(S::u16s::LEN) {
        let behind = (from + S::u32s::LEN) % GROUP;
        let one = S::u32s::from_slice(simd, &wide[from..from + S::u32s::LEN]);
        let two = S::u32s::from_slice(simd, &wide[behind..behind + S::u32s::LEN]);
        one.narrow(two).store_slice(&mut made[from..from + S::u16s::LEN]);
    }
    bytemuck::cast(made)
}

/// As [`low_16`], the low 8 bits.
#[inline(always)]
fn low_8<S: Simd>(simd: S, wide: &[u32; GROUP]) -> [[u8; GROUP]; 4] {
    let (wide, mut made): ([u16; 2 * GROUP], _) = (bytemuck::cast(low_16(simd, wide)), [0; 4 * GROUP]);
    for from in (0..GROUP).step_by(S::u8s::LEN) {
        let behind = (from + S::u16s::LEN) % (2 * GROUP);
        let one = S::u16s::from_slice(simd, &wide[from..from + S::u16s::LEN]);
        let two = S::u16s::from_slice(simd, &wide[behind..behind + S::u16s::LEN]);
        one.narrow(two).store_slice(&mut made[from..from + S::u8s::LEN]);
    }
    bytemuck::cast(made)
}

macro_rules! short {
    ($($low:ident: $type:ty;)*) => {$(
        impl<S: Simd, B: ErrorBounds<S>> Group<S, $type> for B {
            #[inline(always)]
            fn write(&self, simd: S, group: usize, out: &mut [$type; GROUP]) -> u64 {
                let mut made = [0u32; GROUP];
                let doubts = Group::<S, u32>::write(self, simd, group, &mut made);
                let [low, ..] = $low(simd, &made);
                *out = low;
                doubts
            }
        }
    )*};
}

short! {
    low_8: u8;
    low_16: u16;
}
