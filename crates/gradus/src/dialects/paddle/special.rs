//! Graphs of special functions that ONNX does not have, in float64: by reflection below one half,
//! by recurrence below a bound, and by asymptotic series from there.

use std::f64::consts::PI;

use gradus_core::{DType, Result};

use crate::dialects::terms::{Term, f, of, pick};
use crate::lowering::{LoweredValue, Lowering};
use crate::operators::errors;

/// Arguments from this have their asymptotic series.
const FAR: u8 = 10;

/// The argument above one half, and one from which the series holds: both are written once, as many
/// terms read them.
struct Argument {
    x: LoweredValue,
    above: LoweredValue,
    far: LoweredValue,
    /// The fraction of the argument times pi.
    angle: LoweredValue,
}

impl Argument {
    fn new(l: &mut Lowering<'_>) -> Result<Argument> {
        let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
        if !dtype.is_float() || dtype.bits() < 16 {
            return Err(errors::dtype(dtype, "float16, bfloat16, float32 or float64"));
        }
        let x = l.cast(x, DType::F64)?;
        let above = pick(of("Less", x, 0.5), Term::from(1.0) - x, x).write(l, DType::F64)?;
        let far = pick(of("Less", above, f64::from(FAR)), above + f64::from(FAR), above);
        let far = far.write(l, DType::F64)?;
        let angle = ((x - f("Floor", x)) * PI).write(l, DType::F64)?;
        Ok(Argument { x, above, far, angle })
    }

    /// A sum or product over the arguments that the recurrence goes through, where it does.
    fn passed(&self, from: f64, with: impl Fn(Term, Term) -> Term) -> Term {
        let step = |all, step| with(all, self.above + f64::from(step));
        pick(of("Less", self.above, f64::from(FAR)), (0..FAR).fold(Term::from(from), step), from)
    }

    /// Powers of the inverse square of the far argument, with these factors, the first for none.
    fn series(&self, l: &mut Lowering<'_>, factors: &[f64]) -> Result<Term> {
        let square = (Term::from(1.0) / (self.far * self.far)).write(l, DType::F64)?;
        Ok(factors.iter().rev().fold(Term::from(0.0), |sum, &factor| sum * square + factor))
    }

    /// The value by one term below one half and another above, in the type of the input.
    fn result(&self, l: &mut Lowering<'_>, below: Term, above: Term) -> Result<Vec<LoweredValue>> {
        let value = pick(of("Less", self.x, 0.5), below, above).write(l, DType::F64)?;
        let dtype = l.dtype_of(0)?;
        Ok(vec![l.cast(value, dtype)?])
    }
}

/// The logarithm of the size of the gamma function.
pub(crate) fn ln_gamma(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let at = Argument::new(l)?;
    let factors = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let series = at.series(l, &factors)? / at.far;
    let stirling = (at.far - 0.5) * f("Log", at.far) - at.far + 0.5 * (2.0 * PI).ln() + series;
    let above = stirling - f("Log", at.passed(1.0, |product, x| product * x));
    let above = above.write(l, DType::F64)?;
    let below = Term::from(PI.ln()) - f("Log", f("Abs", f("Sin", at.angle))) - above;
    let endless = |term: Term| pick(f("IsInf", at.x), f64::INFINITY, term);
    at.result(l, endless(below), endless(above.into()))
}

/// The derivative of the logarithm of the gamma function.
pub(crate) fn digamma(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let at = Argument::new(l)?;
    // Bernoulli numbers B(2k) / 2k.
    let factors =
        [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];
    let series = at.series(l, &factors)? / (at.far * at.far);
    let far = f("Log", at.far) - Term::from(0.5) / at.far - series;
    let above = far - at.passed(0.0, |sum, x| sum + Term::from(1.0) / x);
    let above = above.write(l, DType::F64)?;
    let below = above - Term::from(PI) * f("Cos", at.angle) / f("Sin", at.angle);
    let pole = of("And", of("Less", at.x, 0.0), of("Equal", at.angle, 0.0));
    at.result(l, pick(pole, f64::NAN, below), above.into())
}
