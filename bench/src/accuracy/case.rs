//! Sequences to be checked, over the whole range of exponents.

use gradus_core::convert::{self, Rules, nearest_f64, u64_of};
use gradus_core::float::Format;
use gradus_core::{DType, Number};

/// The functions.
pub const FUNCTIONS: [&str; 4] = ["range", "linspace", "logspace", "geomspace"];

/// The arguments of a function.
#[derive(Clone, Copy, Debug)]
pub enum Arguments {
    Range { start: f64, limit: f64, step: f64 },
    Linspace { start: f64, stop: f64 },
    Logspace { base: f64, start: f64, stop: f64 },
    Geomspace { start: f64, stop: f64 },
}

/// A part of a sequence of floats.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub dtype: DType,
    pub arguments: Arguments,
    /// The number of samples; of a range, it follows from the arguments.
    pub num: u64,
    pub endpoint: bool,
    /// The index of the first element that is checked.
    pub lo: u64,
    /// Number of elements that are checked; of a range, at most.
    pub len: usize,
}

impl Case {
    /// A case of a function: its arguments are numbers of the type, or doubles of moderate size.
    pub fn random(function: &str, dtype: DType, len: usize, rng: &mut fastrand::Rng) -> Case {
        let lo = if rng.bool() { 0 } else { natural(rng, 40) };
        let num = lo + u64_of(len) + natural(rng, 40);
        let arguments = match function {
            "range" => range(dtype, num, rng),
            "linspace" => Arguments::Linspace {
                start: sign(rng) * positive(dtype, rng),
                stop: sign(rng) * positive(dtype, rng),
            },
            "logspace" => {
                let base = base(dtype, rng);
                let [start, stop] = logarithms(dtype, rng).map(|log2| log2 / log2_of(base));
                Arguments::Logspace { base, start, stop }
            }
            _ => {
                let sign = sign(rng);
                Arguments::Geomspace { start: sign * positive(dtype, rng), stop: sign * positive(dtype, rng) }
            }
        };
        Case { dtype, arguments, num, endpoint: rng.bool(), lo, len }
    }

    /// Number of steps between the ends.
    pub fn divisor(&self) -> u64 {
        (self.num - u64::from(self.endpoint)).max(1)
    }
}

/// A natural number of at most `bits` bits; each number of bits is as likely.
fn natural(rng: &mut fastrand::Rng, bits: u32) -> u64 {
    let bits = rng.u32(0..bits);
    rng.u64(1 << bits..2 << bits)
}

fn sign(rng: &mut fastrand::Rng) -> f64 {
    if rng.bool() { 1.0 } else { -1.0 }
}

/// A number from `low` to `high`, any as likely.
fn between(low: f64, high: f64, rng: &mut fastrand::Rng) -> f64 {
    low + (high - low) * rng.f64()
}

/// A small integer, a double of moderate size, or a number of the type, of whatever exponent.
fn positive(dtype: DType, rng: &mut fastrand::Rng) -> f64 {
    match rng.u8(0..8) {
        0 => f64::from(rng.u16(1..1000)),
        1 | 2 => between(-10.0, 10.0, rng).exp2(),
        _ => {
            let infinity = convert::code(dtype, Number::Float(f64::INFINITY), Rules::IEEE);
            nearest_f64(convert::number(dtype, rng.u64(1..infinity)))
        }
    }
}

fn base(dtype: DType, rng: &mut fastrand::Rng) -> f64 {
    match rng.u8(0..6) {
        0 => 10.0,
        1 => std::f64::consts::E,
        2 => f64::from(rng.u16(2..1000)),
        3 => 1.0 + sign(rng) * between(-51.0, -1.0, rng).exp2(),
        // Not 1, whose logarithm has no quotients.
        _ => std::iter::repeat_with(|| positive(dtype, rng))
            .find(|&base| base != 1.0)
            .expect("there are others"),
    }
}

fn log2_of(base: f64) -> f64 {
    (base - 1.0).ln_1p() / std::f64::consts::LN_2
}

/// Binary logarithms of the smallest number of a type, and of the end of its numbers.
fn exponents(dtype: DType) -> [f64; 2] {
    let format = Format::of(dtype).expect("a float");
    let [least, precision] = [f64::from(format.least_exponent()), f64::from(format.precision())];
    // The exponents of normal numbers are from 1 - bias to the bias.
    [least, 3.0 - least - precision]
}

/// The binary logarithms of the ends of a sequence: the whole range of a type and a little more, or
/// a short part of it.
fn logarithms(dtype: DType, rng: &mut fastrand::Rng) -> [f64; 2] {
    let [low, high] = exponents(dtype);
    let (low, high) = (low - 2.0, high + 1.0);
    let first = between(low, high, rng);
    let second = if rng.bool() {
        between(low, high, rng)
    } else {
        first + sign(rng) * between(-20.0, 4.0, rng).exp2()
    };
    [first, second]
}

/// A range of about as many elements: most of those that are counted, and their start, are of the
/// type.
fn range(dtype: DType, len: u64, rng: &mut fastrand::Rng) -> Arguments {
    let len = nearest_f64(Number::Int(len.into()));
    let [low, high] = exponents(dtype);
    let high = high - len.log2();
    loop {
        let step = match rng.u8(0..4) {
            0 => positive(dtype, rng),
            _ => between(low.min(high - 8.0), high, rng).exp2(),
        };
        let start = match rng.u8(0..4) {
            0 => 0.0,
            1 => positive(dtype, rng),
            _ => step * between(-20.0, 40.0, rng).exp2(),
        };
        let (start, step) = (sign(rng) * start, sign(rng) * step);
        let limit = start + step * len;
        // Steps that keep neighbours distinct, so that the number of elements is as asked for.
        if limit.is_finite() && (start / step).abs() < 2f64.powi(42) {
            return Arguments::Range { start, limit, step };
        }
    }
}
