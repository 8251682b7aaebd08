//! Reference elements of a case, by arithmetic that shares nothing with the plans.

use gradus_core::convert::nearest_f64;
use gradus_core::{DType, Number};
use gradus_testkit::{Arithmetic, Binary, Nearest, Real, WideFloat, is_power, power, real};

use super::case::{Arguments, Case};

/// Reals that are nearer to the middle between two numbers than 2^-`CERTAIN` units in the last
/// place may be off by more than that: of 320 bits, a million products use up 21, and 53 stand
/// before the last place.
const CERTAIN: u32 = 200;

/// The elements of a case, one after another.
pub enum Reference {
    /// Exactly.
    Line(Arithmetic),
    /// By products.
    Powers(Box<Powers>),
}

/// The reals `scale * base ^ exponent`.
pub struct Powers {
    negative: bool,
    value: WideFloat,
    ratio: WideFloat,
    scale: Real,
    base: Real,
    exponent: Real,
    step: Real,
    /// Index of the element among those that are checked.
    index: u64,
}

/// An element.
pub struct Element {
    pub negative: bool,
    pub nearest: Nearest,
    /// True if it lies in the middle between two numbers, and if not, whether it is known on which
    /// side.
    pub tie: Tie,
}

/// Knowledge about a real that seems to be the midpoint of two numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    No,
    Exactly,
    Unknown,
}

impl Reference {
    pub fn new(case: &Case) -> Reference {
        let (lo, divisor) = (case.lo, case.divisor());
        let powers = |negative, scale: Real, base: Real, exponent: Real, step: Real| {
            let value = WideFloat::of(&(&scale * power(&base, &exponent)));
            let ratio = WideFloat::of(&power(&base, &step));
            Reference::Powers(Box::new(Powers {
                negative,
                value,
                ratio,
                scale,
                base,
                exponent,
                step,
                index: 0,
            }))
        };
        match case.arguments {
            Arguments::Range { start, step, .. } => Reference::Line(Arithmetic::range(start, step, lo)),
            Arguments::Linspace { start, stop } => {
                Reference::Line(Arithmetic::linspace(start, stop, divisor, lo))
            }
            Arguments::Logspace { base, start, stop } => {
                let step = (real(stop) - real(start)) / Real::from(divisor);
                let exponent = real(start) + &step * Real::from(lo);
                powers(false, Real::ONE, real(base), exponent, step)
            }
            Arguments::Geomspace { start, stop } => {
                let step = Real::ONE / Real::from(divisor);
                let exponent = &step * Real::from(lo);
                powers(start < 0.0, real(start.abs()), real(stop) / real(start), exponent, step)
            }
        }
    }

    /// The next element, and on to the one after it.
    pub fn next(&mut self, format: Binary) -> Element {
        match self {
            Reference::Line(line) => {
                let (negative, magnitude) = line.number();
                line.advance();
                let nearest = magnitude.nearest(format);
                let tie = if nearest.tie_bits == gradus_testkit::WIDE_BITS { Tie::Exactly } else { Tie::No };
                Element { negative, nearest, tie }
            }
            Reference::Powers(powers) => {
                let mut nearest = powers.value.nearest(format);
                let tie = powers.tie(&nearest, format);
                if tie == Tie::Exactly {
                    nearest.code = nearest.below + (nearest.below & 1);
                }
                powers.value = powers.value.times(&powers.ratio);
                powers.index += 1;
                Element { negative: powers.negative, nearest, tie }
            }
        }
    }
}

impl Powers {
    fn tie(&self, nearest: &Nearest, format: Binary) -> Tie {
        if nearest.tie_bits < CERTAIN {
            return Tie::No;
        }
        let exponent = &self.exponent + &self.step * Real::from(self.index);
        let middle = format.middle(nearest.below) / &self.scale;
        if is_power(&middle, &self.base, &exponent) { Tie::Exactly } else { Tie::Unknown }
    }
}

/// The format of a type.
pub fn format(dtype: DType) -> Binary {
    match dtype {
        DType::F16 => Binary::F16,
        DType::BF16 => Binary::BF16,
        DType::F32 => Binary::F32,
        DType::F64 => Binary::F64,
        other => panic!("{other} is not checked"),
    }
}

/// A count as a number that can be divided.
pub fn float(count: u64) -> f64 {
    nearest_f64(Number::Int(count.into()))
}
