//! Runs: elements whose codes lie on a straight line, in fixed point, many at a time.
//!
//! The codes of integers are integers, and those of floats with the same sign and exponent are
//! equally spaced: both are a line of numbers that are rounded down. Additions of integers make
//! them, and nothing is converted.
//!
//! A run knows its numbers a little too large, by less than a bound. So the integer part of a
//! number is certain unless the fraction is below the bound; then the element is asked for.

use bytemuck::Pod;
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use gradus_core::convert::{FromNumber, low_u64, u64_of};
use gradus_sequences::{Line, Wide};
use half::{bf16, f16};

use crate::vectors::certain;
use crate::vectors::range::IntegerElement;
use crate::vectors::stream;

/// Elements in a run, at most.
pub const RUN: usize = 4096;

/// Elements that are made at a time.
const LANES: usize = 64;

/// Half of one, in units of 2^-64.
const HALF: i128 = 1 << 63;

/// One, in units of 2^-64.
const ONE: i128 = 1 << 64;

/// The largest bound of numbers, in units of 2^-64: a small part of what rounding may change.
const LARGEST_BOUND: u64 = 1 << 40;

/// Consecutive elements of a line.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The number of element 0 in units of 2^-64, too large by less than twice the bound.
    pub start: i128,
    /// The difference of neighbours, rounded down.
    pub step: i128,
    /// Half of what numbers are too large by; 0 if they are exact.
    bound: u64,
    /// The power of two of the least distance of a number from an integer, in units of 2^-64; 0 if
    /// none is known.
    spacing: u32,
    /// True if the codes are those of floats, of which ties go to the even one.
    ties: bool,
    /// The bits of codes that are flipped: all, where negative integers are rounded up.
    pub flipped: u64,
}

impl Run {
    /// Integers, rounded toward zero, from a number of a line on that have the same sign. The upper
    /// part of a number has `fraction` bits after the point, and may be too small by `slack` units.
    pub fn of_integers(line: &Line, first: Wide, count: u64, fraction: u32, slack: u64) -> Option<Run> {
        let run = Run::new(line, first, count, fraction, slack)?;
        let spacing = u32::try_from(line.spacing + 64).unwrap_or_default();
        // Rounded up, a negative number is the complement of its magnitude less one, rounded down.
        Some(if first.high < 0 {
            Run { start: run.start.wrapping_sub(ONE), spacing, flipped: u64::MAX, ..run }
        } else {
            Run { spacing, ..run }
        })
    }

    /// Floats with that exponent, rounded to the nearest, from a number of a line on that have the
    /// same sign; `code` is that of the power of two with that exponent, less its significand.
    pub fn of_floats(line: &Line, first: Wide, count: u64, shift: u32, slack: u64, code: u64) -> Option<Run> {
        let run = Run::new(line, first, count, shift, slack)?;
        let start = run.start.wrapping_add(i128::from(code) << 64).wrapping_add(HALF);
        Some(Run { start, ties: true, ..run })
    }

    /// The magnitudes of numbers, of which `shift` bits are below 2^-64.
    ///
    /// A number is too small by less than the slack, by a unit for the start, and by a unit for each
    /// step; a magnitude is too small or too large by as much. Below its exponent, the codes of a
    /// float are twice as dense, so the slack counts twice.
    #[inline]
    fn new(line: &Line, first: Wide, count: u64, shift: u32, slack: u64) -> Option<Run> {
        let negative = first.high < 0;
        let magnitude = |x| {
            let units = in_units(x, shift);
            if negative { units.wrapping_neg() } else { units }
        };
        let (start, step) = (magnitude(first), magnitude(line.step));
        let exact = line.exact && first.trailing_zeros() >= shift && line.step.trailing_zeros() >= shift;
        let slack = slack.checked_shr(shift).unwrap_or_default();
        let bound = if exact { 0 } else { slack.saturating_mul(2).saturating_add(count + 4) };
        (bound <= LARGEST_BOUND).then(|| Run {
            start: start.wrapping_add(bound.into()),
            step,
            bound,
            spacing: 0,
            ties: false,
            flipped: 0,
        })
    }

    #[inline(always)]
    fn number(&self, i: u64) -> i128 {
        self.start.wrapping_add(self.step.wrapping_mul(i.into()))
    }

    /// The fraction that a certain integer needs, where numbers are too large by `more`; 0 if all
    /// are certain.
    #[inline(always)]
    pub fn doubtful(&self, more: u64) -> u64 {
        let width = 2 * self.bound + more;
        // Numbers that are no integers stay away from them.
        if width == 0 || width.ilog2() < self.spacing { 0 } else { width }
    }

    /// The code of an element, if it is certain.
    #[inline]
    fn code(&self, i: u64) -> Option<u64> {
        let number = self.number(i);
        let (code, behind) = (whole(number), low_u64(number.cast_unsigned()));
        if self.bound == 0 {
            return Some(if self.ties && behind == 0 { code & !1 } else { code ^ self.flipped });
        }
        (behind >= self.doubtful(0)).then_some(code ^ self.flipped)
    }

    /// The numbers in units of `2^-bits`, too large by up to `units` units more.
    #[inline(always)]
    fn coarse(&self, bits: u32, units: u64) -> Coarse {
        let drop = 64 - bits;
        let exact = self.bound == 0 && (self.start | self.step).trailing_zeros() >= drop;
        let more = if exact { 0 } else { units << drop };
        let doubtful = self.doubtful(2 * more);
        Coarse {
            start: self.start.wrapping_add(more.into()),
            doubtful: if doubtful == 0 { 0 } else { (doubtful >> drop) + 1 },
            evens: exact && self.ties,
        }
    }

    /// Writes elements of which many have the same code, code by code.
    #[inline(always)]
    fn write_stairs<T: Pod>(
        &self,
        streams: bool,
        out: &mut [T],
        of_code: impl Fn(u64) -> T,
        exact: impl Fn(u64) -> T,
    ) {
        let (mut rest, mut lo) = (out, 0);
        let step = low_u64(self.step.unsigned_abs());
        while !rest.is_empty() {
            let number = self.number(lo);
            let (code, behind) = (whole(number) ^ self.flipped, low_u64(number.cast_unsigned()));
            let rising = self.step >= 0;
            let room = if rising { u64::MAX - behind } else { behind };
            let count = room.checked_div(step).map_or(u64::MAX, |steps| steps.saturating_add(1));
            let count = usize::try_from(count).unwrap_or(usize::MAX).min(rest.len());
            let (part, after) = rest.split_at_mut(count);
            // Elements in doubt lie where the code begins, or ends.
            let place = |k| if rising { k } else { count - 1 - k };
            let mut doubts = 0;
            while doubts < count {
                let i = lo + u64_of(place(doubts));
                match self.code(i) {
                    Some(same) if same == code => break,
                    certain => part[place(doubts)] = certain.map_or_else(|| exact(i), &of_code),
                }
                doubts += 1;
            }
            let same = if rising { &mut part[doubts..] } else { &mut part[..count - doubts] };
            stream::fill(streams, same, of_code(code));
            (rest, lo) = (after, lo + u64_of(count));
        }
    }
}

/// How the numbers of a run are cut for lanes of fewer bits.
struct Coarse {
    start: i128,
    /// Codes are in doubt where fewer units are after the point.
    doubtful: u64,
    /// True if numbers are exact, and those without a fraction are ties.
    evens: bool,
}

/// The bits before the point.
fn whole(number: i128) -> u64 {
    low_u64((number >> 64).cast_unsigned())
}

/// A number without its lowest bits, rounded down; what does not fit wraps around.
#[inline(always)]
pub fn in_units(x: Wide, drop: u32) -> i128 {
    match drop.checked_sub(64) {
        Some(more) => x.high >> more.min(127),
        None if drop == 0 => x.high << 64 | i128::from(x.low),
        None => x.high << (64 - drop) | i128::from(x.low >> drop),
    }
}

/// Number of elements, of the first `count`, before the first for which `is_other` holds; it holds
/// for the last.
pub fn before(count: u64, is_other: impl Fn(u64) -> bool) -> u64 {
    let (mut same, mut other) = (0, count - 1);
    while other - same > 1 {
        let middle = u64::midpoint(same, other);
        if is_other(middle) { other = middle } else { same = middle }
    }
    other
}

/// Elements that are made in lanes.
pub trait LaneElement<S: Simd>: FromNumber + Default {
    /// Writes the elements of a run; past the caches if `streams`, where groups are whole lines of
    /// memory. `exact` makes one that is in doubt.
    fn write(simd: S, streams: bool, run: &Run, out: &mut [Self], exact: impl Fn(u64) -> Self);
}

/// Steps so short that a code is that of many elements.
const SHORT_STEP: u128 = 1 << 57;

/// How lanes become codes.
type Mode = u8;

/// Integers: as the run says, all bits are flipped or none.
const INTEGERS: Mode = 0;

/// Floats.
const FLOATS: Mode = 1;

/// Floats whose ties go to the even code.
const EVENS: Mode = 2;

/// How a group of codes of a width is made.
trait LaneGroups<S: Simd, C>: Sized {
    /// Bits after the point.
    const BITS: u32;

    /// By how many units of the lowest of them numbers may be too small.
    const UNITS: u64;

    fn new(simd: S, run: &Run, coarse: &Coarse) -> Self;

    /// Writes the next codes, and says which of them are in doubt, as bits.
    fn write<const MODE: Mode>(&mut self, simd: S, out: &mut [C; LANES]) -> u64;
}

macro_rules! lanes {
    ($($type:ty: $codes:ty, $lanes:ty, $mode:ident $([$evens:ident])?, |$code:ident| $of_code:expr;)*) => {$(
        impl<S: Simd> LaneElement<S> for $type {
            #[inline(always)]
            fn write(simd: S, streams: bool, run: &Run, out: &mut [$type], exact: impl Fn(u64) -> $type) {
                let of_code = |$code: u64| -> $type { $of_code };
                if run.step.unsigned_abs() < SHORT_STEP {
                    return run.write_stairs(streams, out, of_code, exact);
                }
                let coarse = run.coarse(
                    <$lanes as LaneGroups<S, $codes>>::BITS,
                    <$lanes as LaneGroups<S, $codes>>::UNITS,
                );
                let exact = |i| run.code(i).map_or_else(|| exact(i), of_code);
                let mut lanes = <$lanes as LaneGroups<S, $codes>>::new(simd, run, &coarse);
                $(
                    if coarse.evens {
                        return certain::write_groups::<S, $type, LANES>(
                            simd,
                            streams,
                            out,
                            #[inline(always)]
                            |_, out| lanes.write::<$evens>(simd, bytemuck::cast_mut(out)),
                            exact,
                        );
                    }
                )?
                certain::write_groups::<S, $type, LANES>(
                    simd,
                    streams,
                    out,
                    #[inline(always)]
                    |_, out| lanes.write::<$mode>(simd, bytemuck::cast_mut(out)),
                    exact,
                );
            }
        }
    )*};
}

lanes! {
    u64: u64, Lanes64<S>, INTEGERS, |code| code;
    f64: u64, Lanes64<S>, FLOATS [EVENS], |code| f64::from_bits(code);
    u32: u32, Lanes32, INTEGERS, |code| u32::low(code);
    f32: u32, Lanes32, FLOATS [EVENS], |code| f32::from_bits(u32::low(code));
    f16: u16, Lanes16, FLOATS [EVENS], |code| f16::from_bits(u16::low(code));
    bf16: u16, Lanes16, FLOATS [EVENS], |code| bf16::from_bits(u16::low(code));
    u16: u16, Narrow16, INTEGERS, |code| u16::low(code);
    u8: u8, Narrow8, INTEGERS, |code| u8::low(code);
}

/// Codes of 64 bits, and as many after the point: the distance of lanes is added to each.
struct Lanes64<S: Simd> {
    before: S::u64s,
    behind: S::u64s,
    /// The distance, and the distance with a carry.
    strides: [S::u64s; 2],
    stride_behind: S::u64s,
    doubtful: S::u64s,
    flipped: S::u64s,
}

impl<S: Simd> LaneGroups<S, u64> for Lanes64<S> {
    const BITS: u32 = 64;
    const UNITS: u64 = 0;

    #[inline(always)]
    fn new(simd: S, run: &Run, coarse: &Coarse) -> Lanes64<S> {
        let (mut before, mut behind) = ([0; LANES], [0; LANES]);
        let mut number = coarse.start;
        for (before, behind) in before.iter_mut().zip(&mut behind).take(S::u64s::LEN) {
            (*before, *behind) = (whole(number), low_u64(number.cast_unsigned()));
            number = number.wrapping_add(run.step);
        }
        let stride = number.wrapping_sub(coarse.start);
        let splat = |x| S::u64s::splat(simd, x);
        Lanes64 {
            before: S::u64s::from_slice(simd, &before[..S::u64s::LEN]),
            behind: S::u64s::from_slice(simd, &behind[..S::u64s::LEN]),
            strides: [splat(whole(stride)), splat(whole(stride).wrapping_add(1))],
            stride_behind: splat(low_u64(stride.cast_unsigned())),
            doubtful: splat(coarse.doubtful),
            flipped: splat(run.flipped),
        }
    }

    #[inline(always)]
    fn write<const MODE: Mode>(&mut self, simd: S, out: &mut [u64; LANES]) -> u64 {
        let mut least = self.behind;
        for from in (0..LANES).step_by(S::u64s::LEN) {
            let code = match MODE {
                INTEGERS => self.before ^ self.flipped,
                EVENS => {
                    let even = self.before & S::u64s::splat(simd, !1);
                    self.behind.simd_eq(0).select(even, self.before)
                }
                _ => self.before,
            };
            code.store_slice(&mut out[from..from + S::u64s::LEN]);
            if MODE != EVENS {
                least = least.min(self.behind);
            }
            self.behind += self.stride_behind;
            let carry = self.behind.simd_lt(self.stride_behind);
            self.before += carry.select(self.strides[1], self.strides[0]);
        }
        all_if(MODE != EVENS && least.simd_lt(self.doubtful).any_true())
    }
}

/// All of a group, if some of it are in doubt: so few that none needs to be told from the others.
#[inline(always)]
fn all_if(doubtful: bool) -> u64 {
    if doubtful { u64::MAX } else { 0 }
}

/// Places in a group.
const PLACES: [u64; LANES] = {
    let mut places = [0; LANES];
    let mut i = 0;
    while i < LANES {
        places[i] = u64_of(i);
        i += 1;
    }
    places
};

/// Codes of 32 bits, and as many after the point: the distances in a group are added to its first.
struct Lanes32 {
    first: i128,
    stride: i128,
    distances: [u64; LANES],
    doubtful: u32,
    flipped: u32,
}

impl<S: Simd> LaneGroups<S, u32> for Lanes32 {
    const BITS: u32 = 32;
    /// A distance is too small by a unit for each step, and the first by one.
    const UNITS: u64 = 64;

    #[inline(always)]
    fn new(simd: S, run: &Run, coarse: &Coarse) -> Lanes32 {
        let step = S::u64s::splat(simd, low_u64((run.step >> 32).cast_unsigned()));
        let mut distances = [0; LANES];
        for from in (0..LANES).step_by(S::u64s::LEN) {
            let places = S::u64s::from_slice(simd, &PLACES[from..from + S::u64s::LEN]);
            (places * step).store_slice(&mut distances[from..from + S::u64s::LEN]);
        }
        Lanes32 {
            first: coarse.start,
            stride: run.step.wrapping_mul(u64_of(LANES).into()),
            distances,
            doubtful: u32::low(coarse.doubtful),
            flipped: u32::low(run.flipped),
        }
    }

    #[inline(always)]
    fn write<const MODE: Mode>(&mut self, simd: S, out: &mut [u32; LANES]) -> u64 {
        let first = S::u64s::splat(simd, low_u64((self.first >> 32).cast_unsigned()));
        let splat = |x| S::u32s::splat(simd, x);
        let mut least = splat(u32::MAX);
        for from in (0..LANES).step_by(S::u32s::LEN) {
            let numbers = |from: usize| -> S::u32s {
                (first + S::u64s::from_slice(simd, &self.distances[from..from + S::u64s::LEN])).bitcast()
            };
            let (one, two) = (numbers(from), numbers(from + S::u64s::LEN));
            let (mut code, behind) = (one.unzip_high(two), one.unzip_low(two));
            match MODE {
                INTEGERS => code ^= splat(self.flipped),
                EVENS => code = behind.simd_eq(splat(0)).select(code & splat(!1), code),
                _ => {}
            }
            code.store_slice(&mut out[from..from + S::u32s::LEN]);
            if MODE != EVENS {
                least = least.min(behind);
            }
        }
        self.first = self.first.wrapping_add(self.stride);
        all_if(MODE != EVENS && least.simd_lt(splat(self.doubtful)).any_true())
    }
}

/// Wider lanes, of whose codes the low bits are kept.
macro_rules! narrow {
    ($($name:ident($wide:ident), $low:ty, $lows:ident, $wider:ty, $wides:ident;)*) => {$(
        struct $name($wide);

        impl<S: Simd> LaneGroups<S, $low> for $name {
            const BITS: u32 = <$wide as LaneGroups<S, $wider>>::BITS;
            const UNITS: u64 = <$wide as LaneGroups<S, $wider>>::UNITS;

            #[inline(always)]
            fn new(simd: S, run: &Run, coarse: &Coarse) -> $name {
                $name($wide::new(simd, run, coarse))
            }

            #[inline(always)]
            fn write<const MODE: Mode>(&mut self, simd: S, out: &mut [$low; LANES]) -> u64 {
                let mut wide = [0; LANES];
                let doubts = LaneGroups::<S, $wider>::write::<MODE>(&mut self.0, simd, &mut wide);
                for from in (0..LANES).step_by(S::$lows::LEN) {
                    let half = |from: usize| S::$wides::from_slice(simd, &wide[from..from + S::$wides::LEN]);
                    let narrow = half(from).narrow(half(from + S::$wides::LEN));
                    narrow.store_slice(&mut out[from..from + S::$lows::LEN]);
                }
                doubts
            }
        }
    )*};
}

narrow! {
    Narrow16(Lanes32), u16, u16s, u32, u32s;
    Narrow8(Narrow16), u8, u8s, u16, u16s;
}

/// Codes of 16 bits, and as many after the point, as [`Lanes32`].
struct Lanes16 {
    first: i128,
    stride: i128,
    distances: [u32; LANES],
    doubtful: u16,
}

impl<S: Simd> LaneGroups<S, u16> for Lanes16 {
    const BITS: u32 = 16;
    /// Distances are made with 48 bits after the point, and are too small by two units at most; the
    /// first is by one.
    const UNITS: u64 = 3;

    #[inline(always)]
    fn new(simd: S, run: &Run, coarse: &Coarse) -> Lanes16 {
        let step = S::u64s::splat(simd, low_u64((run.step >> 16).cast_unsigned()));
        let mut distances = [0; LANES];
        for from in (0..LANES).step_by(S::u32s::LEN) {
            let made = |from: usize| -> S::u32s {
                (S::u64s::from_slice(simd, &PLACES[from..from + S::u64s::LEN]) * step).bitcast()
            };
            let high = made(from).unzip_high(made(from + S::u64s::LEN));
            high.store_slice(&mut distances[from..from + S::u32s::LEN]);
        }
        Lanes16 {
            first: coarse.start,
            stride: run.step.wrapping_mul(u64_of(LANES).into()),
            distances,
            doubtful: u16::low(coarse.doubtful),
        }
    }

    #[inline(always)]
    fn write<const MODE: Mode>(&mut self, simd: S, out: &mut [u16; LANES]) -> u64 {
        let first = S::u32s::splat(simd, u32::low(low_u64((self.first >> 48).cast_unsigned())));
        let splat = |x| S::u16s::splat(simd, x);
        let mut doubts = 0;
        for from in (0..LANES).step_by(S::u16s::LEN) {
            let numbers = |from: usize| -> S::u16s {
                (first + S::u32s::from_slice(simd, &self.distances[from..from + S::u32s::LEN])).bitcast()
            };
            let (one, two) = (numbers(from), numbers(from + S::u32s::LEN));
            let (mut code, behind) = (one.unzip_high(two), one.unzip_low(two));
            if MODE == EVENS {
                code = behind.simd_eq(splat(0)).select(code & splat(!1), code);
            } else {
                doubts |= behind.simd_lt(splat(self.doubtful)).to_bitmask() << from;
            }
            code.store_slice(&mut out[from..from + S::u16s::LEN]);
        }
        self.first = self.first.wrapping_add(self.stride);
        doubts
    }
}
