//! Complex powers: their modulus as a power of two, their angle in turns, and each part rounded
//! once.
//!
//! A part that is exactly zero, or exactly between two floats, is told apart from a near one only
//! where the power lies on an axis. Elsewhere the bits end at [`LAST`], and what is nearer than
//! that counts as exact.

use std::cell::RefCell;

use dashu_int::IBig;
use dashu_int::ops::{BitTest, DivRem, UnsignedAbs};
use gradus_core::convert::{self, Rules, i32_of, i64_of, nearest_f64};
use gradus_core::float::Parts;
use gradus_core::{DType, Number};

use crate::elementary::{self, ln_2, scaled};
use crate::exact::ExactNumber;
use crate::fraction::{BigFraction, parts_of};
use crate::points::Points;
use crate::power::{Exponential, FAR, Geometric, Positive, Power, decide, exp2, log2_near_one, times};
use crate::spiral_line::SpiralLine;

/// Largest precision tried: twice the exponent of the smallest double part relative to the modulus.
const LAST: usize = 4096;

/// Units by which a part may be off: a modulus below 2, off by at most 64 units, times a cosine,
/// off by at most 128.
const RADIUS: u16 = 1024;

/// Returns true if a power with a complex base or exponent is real: a real base that is not
/// negative, and a real exponent.
pub(crate) fn is_real(base: Number, im: &Points, index: u64) -> bool {
    base.im().is_zero()
        && (base.re().is_zero() || !nearest_f64(base.re()).is_sign_negative())
        && im.infinite().is_none()
        && im.at(index).sign() == 0
}

/// `base ^ (re + i im)`, the principal value, with parts of type `dtype`.
pub(crate) fn power(dtype: DType, base: Number, re: &BigFraction, im: &BigFraction) -> Number {
    let whole = |x: f64| Number::Complex(x, 0.0);
    if re.sign() == 0 && im.sign() == 0 {
        return whole(1.0);
    }
    if !base.is_finite() || (base.is_zero() && re.sign() <= 0) {
        return Number::Complex(f64::NAN, f64::NAN);
    }
    if base.is_zero() {
        return whole(0.0);
    }
    let base = Polar::of(base);
    if let Some((modulus, axis)) = &base.on_axis {
        // With a modulus of 1 the imaginary exponent does not turn; without an imaginary exponent
        // it is not there.
        let turned = im.sign() == 0 || modulus.is_one();
        if turned && let Some(quarters) = re.whole_multiple((*axis).into()) {
            let real = AxisPower {
                power: Power { base: modulus.clone(), exponent: re.clone() },
                imaginary: (im.sign() != 0).then_some((&base, im)),
            };
            return on_axis(dtype, &real, &quarters);
        }
    }
    polar(dtype, |bits| base.power(re, im, bits))
}

/// The powers of a base with these exponents, `len` of them from index `first` on; nothing if the
/// base is zero or not finite.
pub(crate) fn line(base: Number, [re, im]: [&Points; 2], first: u64, len: u64) -> Option<SpiralLine> {
    if base.is_zero() || !base.is_finite() {
        return None;
    }
    let base = Polar::of(base);
    let (start, step) = ([re.at(first), im.at(first)], [re.step(), im.step()]);
    let is_real = matches!(base.on_axis, Some((_, 0))) && start[1].sign() == 0 && step[1].sign() == 0;
    let power = |[re, im]: [BigFraction; 2]| {
        let base = &base;
        move |bits| base.power(&re, &im, bits)
    };
    Some(SpiralLine::new(power(start), power(step), len, is_real.then_some(1)))
}

/// The modulus of a power on an axis.
struct AxisPower<'a> {
    power: Power,
    imaginary: Option<(&'a Polar, &'a BigFraction)>,
}

impl Exponential for AxisPower<'_> {
    fn log2(&self, bits: usize) -> IBig {
        match self.imaginary {
            Some((base, im)) => base.power(&self.power.exponent, im, bits + 4)[0].clone() >> 4,
            None => self.power.log2(bits),
        }
    }

    /// With an imaginary exponent the modulus is a power of e to a multiple of pi, which is 1 or
    /// transcendental.
    fn exact(&self) -> Option<Parts> {
        match self.imaginary {
            Some((base, _)) if base.on_axis.as_ref().is_none_or(|(_, axis)| *axis != 0) => None,
            _ => self.power.exact(),
        }
    }
}

/// A complex number other than zero, as what its logarithm is made of.
struct Polar {
    re: IBig,
    im: IBig,
    /// The power of two of the lowest bit of both parts.
    exponent: i32,
    /// On an axis, the modulus, and by how many quarters of a turn the axis is away from the
    /// positive real one.
    on_axis: Option<(Positive, i8)>,
    /// Logarithm and angle, with the most bits that were asked for.
    kept: [KeptNumber; 2],
}

/// A number in fixed point, with a number of bits.
#[derive(Default)]
struct KeptNumber(RefCell<Option<(usize, IBig)>>);

impl KeptNumber {
    /// The number with `bits` bits; `make` makes it, off by at most 2 units.
    fn get(&self, bits: usize, make: impl FnOnce(usize) -> IBig) -> IBig {
        let mut kept = self.0.borrow_mut();
        match &*kept {
            Some((more, number)) if *more >= bits => number >> (more - bits),
            _ => kept.insert((bits, make(bits))).1.clone(),
        }
    }
}

impl Polar {
    fn of(number: Number) -> Polar {
        let part = |part: Number| ExactNumber::from(part).fraction();
        let (re, im) = (part(number.re()), part(number.im()));
        let exponent = match (re.sign(), im.sign()) {
            (_, 0) => re.exponent,
            (0, _) => im.exponent,
            _ => re.exponent.min(im.exponent),
        };
        let on_axis = match (re.sign(), im.sign()) {
            (1.., 0) => Some((number.re(), 0)),
            (0, 1..) => Some((number.im(), 1)),
            (_, 0) => Some((number.re(), 2)),
            (0, _) => Some((number.im(), -1)),
            _ => None,
        };
        Polar {
            re: scaled(re.numerator, i64::from(re.exponent - exponent)),
            im: scaled(im.numerator, i64::from(im.exponent - exponent)),
            exponent,
            on_axis: on_axis.map(|(part, axis)| (Positive::of(&part.into()), axis)),
            kept: Default::default(),
        }
    }

    /// The quotient of two, times the square of the modulus of the divisor: its angle is that of
    /// the quotient.
    fn turn(from: &Polar, to: &Polar) -> Polar {
        let re = &to.re * &from.re + &to.im * &from.im;
        let im = &to.im * &from.re - &to.re * &from.im;
        Polar { re, im, exponent: 0, on_axis: None, kept: Default::default() }
    }

    /// The logarithm of the modulus to base 2, off by at most 2 units.
    fn log2(&self, bits: usize) -> IBig {
        self.kept[0].get(bits, |bits| self.make_log2(bits))
    }

    fn make_log2(&self, bits: usize) -> IBig {
        if let Some((modulus, _)) = &self.on_axis {
            return modulus.log2(bits);
        }
        let square = &self.re * &self.re + &self.im * &self.im;
        // Divided by a power of two, the square is between 1/2 and 1.
        let length = square.bit_len();
        let whole = IBig::from(i64_of(length) + 2 * i64::from(self.exponent)) << bits;
        (whole + log2_near_one(&square, length, bits)) >> 1
    }

    /// The angle in turns, from -1/2 to 1/2, off by at most 2 units.
    fn turns(&self, bits: usize) -> IBig {
        self.kept[1].get(bits, |bits| self.make_turns(bits))
    }

    fn make_turns(&self, bits: usize) -> IBig {
        if let Some((_, axis)) = &self.on_axis {
            return IBig::from(*axis) << bits >> 2;
        }
        let work = bits + 8;
        let length = i64_of(self.re.bit_len().max(self.im.bit_len()));
        let part = |part: &IBig| scaled(part.clone(), i64_of(work) - length);
        ((elementary::angle(&part(&self.re), &part(&self.im), work) << work) / (elementary::pi(work) << 1))
            >> 8
    }

    /// The logarithm of the modulus of a power to base 2, and its angle in turns, each off by at
    /// most 10 units.
    fn power(&self, re: &BigFraction, im: &BigFraction, bits: usize) -> [IBig; 2] {
        // Logarithms of moduli are below 2^11, so 16 more bits keep their products as exact as they
        // are.
        let turns_in_log2 = |bits: usize| {
            let work = bits + 16;
            (((self.turns(work) * elementary::pi(work)) << 1) / ln_2(work)) >> 16usize
        };
        let log2_in_turns = |bits: usize| {
            let work = bits + 16;
            ((self.log2(work) * ln_2(work)) / (elementary::pi(work) << 1)) >> 16usize
        };
        [
            times(re, |bits| self.log2(bits), bits) - times(im, turns_in_log2, bits),
            times(re, |bits| self.turns(bits), bits) + times(im, log2_in_turns, bits),
        ]
    }
}

/// The number with that modulus which lies that many quarters of a turn from the positive real
/// axis.
fn on_axis(dtype: DType, modulus: &impl Exponential, quarters: &IBig) -> Number {
    let quarter = u8::try_from(quarters & IBig::from(3u8)).expect("two bits are left");
    let part = |negative: bool| {
        let code = decide(modulus, negative, |parts| convert::code_of_parts(dtype, parts, Rules::IEEE));
        convert::number(dtype, code)
    };
    let zero = Number::Float(0.0);
    match quarter {
        0 => part(false).with_imaginary(zero),
        1 => zero.with_imaginary(part(false)),
        2 => part(true).with_imaginary(zero),
        _ => zero.with_imaginary(part(true)),
    }
}

/// The number whose modulus has this logarithm to base 2 and whose angle is this number of turns,
/// each part rounded once.
fn polar(dtype: DType, logarithm: impl Fn(usize) -> [IBig; 2]) -> Number {
    let mut bits = 128;
    loop {
        let [log2, turns] = logarithm(bits);
        let parts = ends(&log2, &turns, bits).map(|[low, high]| {
            let [low_code, high_code] =
                [low, high].map(|end| convert::code_of_parts(dtype, end, Rules::IEEE));
            if low_code == high_code {
                Some(convert::number(dtype, low_code))
            } else if bits < LAST {
                None
            } else if low.negative == high.negative {
                Some(convert::number(dtype, high_code))
            } else {
                Some(Number::Float(0.0))
            }
        });
        if let [Some(re), Some(im)] = parts {
            return re.with_imaginary(im);
        }
        bits *= 2;
    }
}

/// Real and imaginary part of `2^log2 · e^(2πi·turns)` in units of `2^-bits` of a power of two,
/// each off by less than [`RADIUS`] units; and the exponent of that power, `floor(log2)`.
pub(crate) fn placed(log2: &IBig, turns: &IBig, bits: usize) -> ([IBig; 2], i32) {
    let whole = log2 >> bits;
    // Powers beyond `FAR` stay infinite or zero when they are clamped.
    let power = i32::try_from(&whole).unwrap_or(if whole < IBig::ZERO { -FAR } else { FAR }).clamp(-FAR, FAR);
    let modulus = exp2(&(log2 - (whole << bits)), bits);
    // The nearest quarter of a turn, and the rest as an angle of at most pi / 4.
    let quarter: IBig = ((turns << 3) + (IBig::ONE << bits)) >> (bits + 1);
    let rest = turns - (quarter.clone() << bits >> 2);
    let (cos, sin) = elementary::cos_sin(&((rest * elementary::pi(bits)) >> (bits - 1)), bits);
    let (re, im) = match u8::try_from(quarter & IBig::from(3u8)).expect("two bits are left") {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    };
    ([re, im].map(|part| (&modulus * part) >> bits), power)
}

/// Intervals that hold the parts.
fn ends(log2: &IBig, turns: &IBig, bits: usize) -> [[Parts; 2]; 2] {
    let (parts, power) = placed(log2, turns, bits);
    parts.map(|part| {
        [&part - RADIUS, part + RADIUS]
            .map(|end| parts_of(end < IBig::ZERO, &end.unsigned_abs(), power - i32_of(bits)))
    })
}

/// Between complex ends: `start * (stop / start) ^ (i / d)`.
///
/// Ends that are opposite have two ways between them of the same length: counterclockwise is taken
/// if the start is right of the imaginary axis, else clockwise. So does NumPy from starts on the
/// axes and diagonals; from others, its rounding errors decide.
pub(crate) struct SpiralPlan {
    start: Number,
    stop: Number,
    divisor: u64,
}

impl SpiralPlan {
    /// The way from start to stop in `divisor` steps.
    pub(crate) fn new(start: Number, stop: Number, divisor: u64) -> SpiralPlan {
        SpiralPlan { start, stop, divisor }
    }

    /// The ends, and what the stop is turned by; nothing if it is on the ray of the start.
    fn turn(&self) -> (Polar, Polar, Option<Polar>) {
        let (from, to) = (Polar::of(self.start), Polar::of(self.stop));
        let mut turn = Polar::turn(&from, &to);
        if turn.im.is_zero() {
            if turn.re > IBig::ZERO {
                return (from, to, None);
            }
            let right = nearest_f64(self.start.re()) > 0.0;
            turn.on_axis = Some((Positive::of(&ExactNumber::ONE), if right { 2 } else { -2 }));
        }
        (from, to, Some(turn))
    }

    /// The line of `len` elements from index `first` on.
    pub(crate) fn line(&self, first: u64, len: u64) -> SpiralLine {
        let (from, to, turn) = self.turn();
        let straight = || [self.start.re(), self.start.im()].iter().position(|part| part.is_zero());
        let zero = if turn.is_none() { straight() } else { None };
        let start = |bits| self.logarithm(&from, &to, turn.as_ref(), first, bits);
        let step = |bits: usize| {
            let turns = turn.as_ref().map_or(IBig::ZERO, |turn| turn.turns(bits));
            [to.log2(bits) - from.log2(bits), turns].map(|span| span / self.divisor)
        };
        SpiralLine::new(start, step, len, zero)
    }

    /// The logarithm of the modulus of element `index` to base 2, and its angle in turns, each off
    /// by at most 4 units.
    fn logarithm(
        &self,
        from: &Polar,
        to: &Polar,
        turn: Option<&Polar>,
        index: u64,
        bits: usize,
    ) -> [IBig; 2] {
        let work = bits + 66;
        let log2 = from.log2(work) * (self.divisor - index) + to.log2(work) * index;
        let turns = turn.map_or(IBig::ZERO, |turn| turn.turns(work));
        let angle = from.turns(work) * self.divisor + turns * index;
        [log2, angle].map(|sum| (sum / self.divisor) >> 66usize)
    }

    /// Element `index`, with parts of type `dtype`.
    pub(crate) fn at(&self, index: u64, dtype: DType) -> Number {
        let (from, to, Some(turn)) = self.turn() else { return self.straight(index, dtype) };
        if let (Some((start, first)), Some((stop, last))) = (&from.on_axis, &to.on_axis) {
            let between =
                turn.on_axis.as_ref().map_or_else(|| turned(*first, *last), |(_, between)| *between);
            let quarters = IBig::from(*first) * self.divisor + IBig::from(between) * index;
            let (quarters, rest) = quarters.div_rem(IBig::from(self.divisor));
            if rest.is_zero() {
                let modulus =
                    Geometric { start: start.clone(), stop: stop.clone(), index, divisor: self.divisor };
                return on_axis(dtype, &modulus, &quarters);
            }
        }
        if index == 0 || index == self.divisor {
            let end = if index == 0 { self.start } else { self.stop };
            let part = |part| convert::number(dtype, convert::code(dtype, part, Rules::IEEE));
            return part(end.re()).with_imaginary(part(end.im()));
        }
        polar(dtype, |bits| self.logarithm(&from, &to, Some(&turn), index, bits))
    }

    /// On a ray from the origin, each part is a real geometric sequence.
    fn straight(&self, index: u64, dtype: DType) -> Number {
        let part = |of: fn(Number) -> Number| {
            let (start, stop) = (of(self.start), of(self.stop));
            if start.is_zero() {
                return Number::Float(0.0);
            }
            let real = Geometric {
                start: Positive::of(&start.into()),
                stop: Positive::of(&stop.into()),
                index,
                divisor: self.divisor,
            };
            let negative = start.parts().negative;
            let code = decide(&real, negative, |parts| convert::code_of_parts(dtype, parts, Rules::IEEE));
            convert::number(dtype, code)
        };
        part(Number::re).with_imaginary(part(Number::im))
    }
}

/// The quarter that leads from one axis to a neighbour.
fn turned(first: i8, last: i8) -> i8 {
    if (last - first).rem_euclid(4) == 1 { 1 } else { -1 }
}
