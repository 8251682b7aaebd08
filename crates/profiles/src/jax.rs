//! JAX 0.10.2 on the CPU, with 64-bit types enabled.
//!
//! # `jax.numpy.arange` of three Python numbers
//!
//! | | rule |
//! |---|---|
//! | types out | all but bool |
//! | length | `ceil((stop - start) / step)` as Python computes it |
//! | elements | `start + i * step` in the type, two roundings, subnormal numbers flushed to zero; float16, bfloat16 and narrower in float32 |
//! | casts | floats to integers saturate; integers to integers keep the low bits |
//! | refused | a step of zero; a length that is not finite or beyond 63 bits |
//!
//! # `jax.numpy.linspace`, `jax.numpy.logspace` and `jax.numpy.geomspace` of Python numbers
//!
//! | | rule |
//! |---|---|
//! | points | `start * (1 - t) + stop * t`, `t = i / intervals`, in the type, but integers of up to 32 bits in float32 and of 64 in float64; the last is `stop` |
//! | linspace, integers | rounded down, saturating |
//! | logspace | `pow(base, point)` in the same type; integers cut toward zero, saturating, NaN to 0 |
//! | geomspace | the logspace, in the type of its points, of the base-10 logarithms of the ends times the sign of the start, times that sign |
//! | refused | a negative number of elements |
//!
//! Sources, in `jax/_src/numpy`: `lax_numpy.py`, `array_creation.py`.

use std::f64::consts::LOG10_E;

use gradus_core::convert::{nearest_f64, truncated};
use gradus_core::{Class, DType, Number};

use crate::call::{LinspaceCall, LogspaceCall, RangeCall};
use crate::formula::{CastFunction, Formula, WrappingRange, nearest};
use crate::machine::{count, float, flushed, index, int, rounded, typed, wrapped};
use crate::numpy::quotient;
use crate::predicted::{Failure, Outcome, Predicted};
use crate::space::{FormulaPoints, FormulaPowers, LineFormula, NUM};
use crate::tolerance::Tolerance;

/// Predicts `jax.numpy.arange`.
pub(crate) fn range(call: &RangeCall) -> Outcome {
    let dtype = call.dtype;
    if dtype == DType::Bool {
        return Err(Failure::unsupported("iota does not accept dtype bool"));
    }
    if call.step.is_zero() {
        return Err(Failure::refused("division by zero"));
    }
    let quotient = quotient(call);
    if !quotient.is_finite() {
        return Err(Failure::refused("cannot convert float NaN or infinity to integer"));
    }
    let len = if quotient > 0.0 { count(quotient.ceil()) } else { Some(0) };
    let len = len.ok_or_else(|| Failure::refused("the number of elements exceeds 63 bits"))?;
    let length_rule = "counts in float64";
    if dtype.is_integer() {
        let [start, step] = [call.start, call.step].map(|number| saturated(dtype, number));
        let rules = [length_rule, "casts start and step to the output type first, floats saturating"];
        return Ok(Predicted::new(dtype, len, WrappingRange { width: dtype, dtype, start, step }, rules));
    }
    let (format, element_rule) = match dtype {
        DType::F64 => (DType::F64, "rounds i * step and the sum"),
        DType::F32 => (DType::F32, "rounds i * step and the sum, each to float32"),
        _ => (DType::F32, "computes in float32 and rounds again"),
    };
    let [start, step] = [call.start, call.step].map(|number| flushed(format, float(format, number)));
    Ok(Predicted::new(dtype, len, Iota { format, dtype, start, step }, [length_rule, element_rule]))
}

/// A Python number as an integer element.
fn saturated(dtype: DType, number: Number) -> i128 {
    let Number::Float(x) = number else {
        return wrapped(dtype, int(number));
    };
    let bits = dtype.bits();
    let (least, most) = if dtype.class() == Class::Signed {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    let beyond = if x.is_nan() {
        0
    } else if x > 0.0 {
        most
    } else {
        least
    };
    truncated(x).map_or(beyond, |whole| whole.clamp(least, most))
}

/// `start + i * step` in `format`, without subnormal numbers.
#[derive(Debug)]
struct Iota {
    format: DType,
    dtype: DType,
    start: f64,
    step: f64,
}

impl Formula for Iota {
    fn at(&self, i: u64) -> Number {
        let flush = |x| flushed(self.format, rounded(self.format, x));
        let value = flush(self.start + flush(index(self.format, i) * self.step));
        typed(self.dtype, Number::Float(value))
    }
}

/// How far a point may be from the one that is predicted, in units of the larger end times the
/// precision u = 2^-p.
///
/// With each operation rounded, t is wrong by ut at most, 1 - t by ut + u(1 - t), the products and
/// the sum by another u each: in all by u(3 + t). With a reciprocal in place of the division, t is
/// wrong by 2ut, which makes u(3 + 3t); fusing only takes roundings away. So two such points are 10
/// u apart at most, with t below 1.
const APART: u64 = 10;

/// By how many units in the last place the powers of XLA differ from others.
const POWER: u64 = 2;

/// Largest distance of a base-10 logarithm from the one that is predicted, in units of itself times
/// the precision: a unit in the last place of the natural logarithm (2u), its product with a
/// constant (u), and as much for the prediction.
const LOGARITHM: u64 = 6;

/// The float type in which lines are computed.
fn inexact(dtype: DType) -> DType {
    match dtype {
        DType::I64 | DType::U64 => DType::F64,
        _ if dtype.is_float() => dtype,
        _ => DType::F32,
    }
}

/// `start * (1 - t) + stop * t`, each operation rounded to the type. XLA compiles it anew for every
/// length, may multiply by a reciprocal in place of the division, and fuses a product with the sum,
/// now the one, now the other.
#[derive(Debug)]
struct Blend {
    format: DType,
    start: f64,
    stop: f64,
    intervals: f64,
    last: Option<u64>,
    len: u64,
}

impl Blend {
    fn of(call: &LinspaceCall, len: u64) -> Blend {
        let format = inexact(call.dtype);
        let [start, stop] = [call.start, call.stop].map(|number| float(format, number));
        let last = (call.endpoint && len > 1).then(|| len - 1);
        Blend { format, start, stop, intervals: index(format, call.intervals()), last, len }
    }

    fn larger_end(&self) -> f64 {
        self.start.abs().max(self.stop.abs())
    }

    /// By how many units in the last place powers differ whose exponents differ by as many units of
    /// the larger end times the precision.
    fn of_powers(&self, base: f64, apart: u64) -> Tolerance {
        // Exponents that differ by d make powers differ by d times the logarithm of the base, of
        // themselves; and a unit in the last place of a number is at least u times the number.
        let ulps = index(DType::F64, apart) * self.larger_end() * base.abs().ln().abs();
        let ulps = count(ulps.ceil()).unwrap_or(0).saturating_add(POWER);
        Tolerance::Ulps { ulps, of: self.format }
    }
}

impl LineFormula for Blend {
    fn point(&self, i: u64) -> f64 {
        if self.len == 1 {
            return self.start;
        }
        if Some(i) == self.last {
            return self.stop;
        }
        let round = |x| flushed(self.format, rounded(self.format, x));
        let t = round(index(self.format, i) / self.intervals);
        let [a, b] = [round(self.start * round(1.0 - t)), round(self.stop * t)];
        round(a + b)
    }
}

/// Predicts `jax.numpy.linspace`.
pub(crate) fn linspace(call: &LinspaceCall) -> Outcome {
    let (len, dtype) = (call.len()?, call.dtype);
    let line = Blend::of(call, len);
    let (cast, rule): (CastFunction, _) = if dtype.is_integer() {
        (
            |dtype, x| Number::Int(saturated(dtype, Number::Float(x.floor()))),
            "blends the ends and rounds down",
        )
    } else {
        (nearest, "blends the ends, each operation rounded")
    };
    let tolerance = Tolerance::UlpsAt { ulps: APART, of: line.format, at: line.larger_end() };
    Ok(Predicted::new(dtype, len, FormulaPoints { line, dtype, cast }, [NUM, rule]).within(tolerance))
}

/// The cast of a power to the type of the elements.
fn cast(dtype: DType) -> CastFunction {
    if dtype.is_integer() {
        |dtype, x| Number::Int(saturated(dtype, Number::Float(x)))
    } else {
        |dtype, x| typed(dtype, Number::Float(flushed(dtype, x)))
    }
}

/// Predicts `jax.numpy.logspace`.
pub(crate) fn logspace(call: &LogspaceCall) -> Outcome {
    let (len, dtype) = (call.exponents.len()?, call.exponents.dtype);
    let line = Blend::of(&call.exponents, len);
    let format = line.format;
    let base = rounded(format, nearest_f64(call.base));
    let rules = [NUM, "rounds the exponents to the type before taking powers"];
    let tolerance = line.of_powers(base, APART);
    let formula = FormulaPowers { line, base, format, dtype, cast: cast(dtype) };
    Ok(Predicted::new(dtype, len, formula, rules).within(tolerance))
}

/// Elements of a geomspace: powers with the sign of the start, cast.
#[derive(Debug)]
struct JaxGeomspace {
    powers: FormulaPowers<Blend>,
    sign: f64,
    dtype: DType,
}

impl Formula for JaxGeomspace {
    fn at(&self, i: u64) -> Number {
        cast(self.dtype)(self.dtype, self.sign * nearest_f64(self.powers.at(i)))
    }
}

/// Predicts `jax.numpy.geomspace`.
pub(crate) fn geomspace(call: &LinspaceCall) -> Outcome {
    let (len, dtype) = (call.len()?, call.dtype);
    let format = inexact(dtype);
    let round = |x| flushed(format, rounded(format, x));
    let [start, stop] = [call.start, call.stop].map(|number| flushed(format, float(format, number)));
    // The quotient of zero and its sign, zero, is NaN.
    let sign = if start == 0.0 { f64::NAN } else { start.signum() };
    let exponent = |end: f64| Number::Float(round(round((end / sign).ln()) * round(LOG10_E)));
    let exponents = LinspaceCall { start: exponent(start), stop: exponent(stop), dtype: format, ..*call };
    let line = Blend::of(&exponents, len);
    let tolerance = line.of_powers(10.0, APART + LOGARITHM);
    let powers = FormulaPowers { line, base: 10.0, format, dtype: format, cast: cast(format) };
    let rules = [NUM, "rounds logarithms to the type before taking powers"];
    Ok(Predicted::new(dtype, len, JaxGeomspace { powers, sign, dtype }, rules).within(tolerance))
}
