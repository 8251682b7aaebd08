//! Graphs of special functions that ONNX does not have, in float64. Series and factors are those of
//! their evaluation (`elementwise/special.rs`).
//!
//! | function | graph |
//! |---|---|
//! | `lgamma`, `digamma` | reflection, polynomials about positive zeros, recurrence, a series |
//! | `polygamma` | a zeta function: terms up to a bound, and the formula of Euler and Maclaurin |
//! | `erfinv` | three polynomials |
//! | `i0`, `i1` | a power series, and an asymptotic one |
//! | `gammaincc` | a loop of a series and a continued fraction; Temme's expansion of large orders |

use std::f64::consts::PI;

use gradus_core::element::Bool;
use gradus_core::{DType, Error, Result, Tensor};

use crate::elementwise::polynomials::{self, ROOT_OF_DIGAMMA};
use crate::elementwise::special::{
    self, BESSEL_SCALE, BESSEL_SERIES_MOST, Bessel, DIGAMMA_SERIES, ERF_INV_LOW_MOST, ERF_INV_MIDDLE_MOST,
    LEAST_PART, MAX_PARTS, Polynomial, STIRLING, STIRLING_SERIES, UNIFORM, UNIFORM_FIRST, UNIFORM_NEAR,
    UNIFORM_SECOND, ZETA_SERIES, ZETA_TERMS,
};
use crate::errors;
use crate::lowering::terms::{Term, f, of, pick};
use crate::lowering::{LoweredValue, Lowering, int};

/// Arguments from this have their asymptotic series.
const FAR: u8 = 10;

/// An input, in float64.
fn argument(l: &mut Lowering<'_>, index: usize) -> Result<LoweredValue> {
    let (x, dtype) = (l.input(index)?, l.dtype_of(index)?);
    if !dtype.is_float() || dtype.bits() < 16 {
        return Err(errors::dtype(dtype, "float16, bfloat16, float32 or float64"));
    }
    l.cast(x, DType::F64)
}

/// The value of a term in float64, to be read by several.
fn value(l: &mut Lowering<'_>, term: impl Into<Term>) -> Result<LoweredValue> {
    term.into().write(l, DType::F64)
}

/// A value in the type of the first input: the output.
fn result(l: &mut Lowering<'_>, term: impl Into<Term>) -> Result<Vec<LoweredValue>> {
    let (value, dtype) = (value(l, term)?, l.dtype_of(0)?);
    Ok(vec![l.cast(value, dtype)?])
}

/// The sum of powers of a value with these factors, from power 0 on.
fn powers(x: LoweredValue, factors: &[f64]) -> Term {
    match factors.split_last() {
        None => Term::from(0.0),
        Some((&last, others)) => others.iter().rev().fold(Term::from(last), |sum, &factor| sum * x + factor),
    }
}

/// The value of a polynomial.
fn polynomial(l: &mut Lowering<'_>, of: &Polynomial, x: LoweredValue) -> Result<Term> {
    let x = value(l, (x - of.center) / of.half)?;
    Ok(powers(x, of.factors))
}

/// The argument of a gamma function above one half, and one from which the series holds.
struct BesselArgument {
    x: LoweredValue,
    above: LoweredValue,
    far: LoweredValue,
    /// The fraction of the argument times pi.
    angle: LoweredValue,
}

impl BesselArgument {
    fn new(l: &mut Lowering<'_>, x: LoweredValue) -> Result<BesselArgument> {
        let above = value(l, pick(of("Less", x, 0.5), Term::from(1.0) - x, x))?;
        let far = pick(of("Less", above, f64::from(FAR)), above + f64::from(FAR), above);
        let far = value(l, far)?;
        let angle = value(l, (x - f("Floor", x)) * PI)?;
        Ok(BesselArgument { x, above, far, angle })
    }

    /// A sum or product over the arguments that the recurrence goes through, where it does.
    fn passed(&self, from: f64, with: impl Fn(Term, Term) -> Term) -> Term {
        let step = |all, step| with(all, self.above + f64::from(step));
        pick(of("Less", self.above, f64::from(FAR)), (0..FAR).fold(Term::from(from), step), from)
    }

    /// Powers of the inverse square of the far argument, with these factors, the first for none.
    fn series(&self, l: &mut Lowering<'_>, factors: &[f64]) -> Result<Term> {
        let square = value(l, Term::from(1.0) / (self.far * self.far))?;
        Ok(powers(square, factors))
    }

    /// The value by one term below one half and another above.
    fn either(&self, l: &mut Lowering<'_>, below: Term, above: Term) -> Result<LoweredValue> {
        value(l, pick(of("Less", self.x, 0.5), below, above))
    }
}

/// The logarithm of the size of the gamma function of a value.
fn ln_gamma_of(l: &mut Lowering<'_>, x: LoweredValue) -> Result<LoweredValue> {
    let at = BesselArgument::new(l, x)?;
    let series = at.series(l, &STIRLING_SERIES)? / at.far;
    let stirling = (at.far - 0.5) * f("Log", at.far) - at.far + 0.5 * (2.0 * PI).ln() + series;
    let above = stirling - f("Log", at.passed(1.0, |product, x| product * x));
    // Near the zeros 1 and 2, by the distance from them.
    let first = value(l, of("Less", at.above, 1.5))?;
    let distance = value(l, pick(first, at.above - 1.0, at.above - 2.0))?;
    let from_second = polynomial(l, &polynomials::LN_GAMMA, distance)? * distance;
    let near = from_second - pick(first, f("Log", at.above), 0.0);
    let above = value(l, pick(of("Less", at.above, 2.5), near, above))?;
    let below = Term::from(PI.ln()) - f("Log", f("Abs", f("Sin", at.angle))) - above;
    let endless = |term: Term| pick(f("IsInf", at.x), f64::INFINITY, term);
    at.either(l, endless(below), endless(above.into()))
}

/// The logarithm of the size of the gamma function.
pub fn ln_gamma(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = argument(l, 0)?;
    let value = ln_gamma_of(l, x)?;
    result(l, value)
}

/// The derivative of the logarithm of the gamma function.
pub fn digamma(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = argument(l, 0)?;
    let at = BesselArgument::new(l, x)?;
    let series = at.series(l, &DIGAMMA_SERIES)? / (at.far * at.far);
    let far = f("Log", at.far) - Term::from(0.5) / at.far - series;
    let above = far - at.passed(0.0, |sum, x| sum + Term::from(1.0) / x);
    // Near the zero, by the distance from it.
    let [root, rest] = ROOT_OF_DIGAMMA;
    let near = polynomial(l, &polynomials::DIGAMMA, at.above)? * (at.above - root - rest);
    let is_near = of("And", of("GreaterOrEqual", at.above, 1.0), of("LessOrEqual", at.above, 2.0));
    let above = value(l, pick(is_near, near, above))?;
    let below = above - Term::from(PI) * f("Cos", at.angle) / f("Sin", at.angle);
    let pole = of("And", of("Less", at.x, 0.0), of("Equal", at.angle, 0.0));
    let value = at.either(l, pick(pole, f64::NAN, below), above.into())?;
    result(l, value)
}

/// The number whose error function is the argument.
pub fn erf_inv(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = argument(l, 0)?;
    let logarithm = value(l, f("Neg", f("Log", (Term::from(1.0) - x) * (x + 1.0))))?;
    let root = value(l, f("Sqrt", logarithm))?;
    let high = polynomial(l, &polynomials::ERF_INV_HIGH, root)?;
    let middle = polynomial(l, &polynomials::ERF_INV_MIDDLE, root)?;
    let low = polynomial(l, &polynomials::ERF_INV_LOW, logarithm)?;
    let upper = pick(of("LessOrEqual", root, ERF_INV_MIDDLE_MOST), middle, high);
    let factor = pick(of("LessOrEqual", logarithm, ERF_INV_LOW_MOST), low, upper);
    result(l, pick(of("Equal", f("Abs", x), 1.0), f64::INFINITY, factor) * x)
}

/// The modified Bessel function of the first kind, of order 0 or 1, times `exp(-|x|)` if it is
/// scaled.
pub fn bessel(l: &mut Lowering<'_>, order: usize, scaled: bool) -> Result<Vec<LoweredValue>> {
    let x = argument(l, 0)?;
    let (factors, odd) = (&Bessel::ORDERS[order], order > 0);
    let size = value(l, f("Abs", x))?;
    let square = value(l, x * x / BESSEL_SCALE)?;
    let mut near = powers(square, &factors.power);
    if odd {
        near = near * x / 2.0;
    }
    let inverse = value(l, Term::from(1.0) / size)?;
    let mut far = powers(inverse, &factors.asymptotic) / f("Sqrt", size * (2.0 * PI));
    if odd {
        far = far * f("Sign", x);
    }
    if scaled {
        near = near * f("Exp", f("Neg", size));
    } else {
        // Half of the exponent at a time, as the whole may be out of range.
        let half = value(l, f("Exp", size / 2.0))?;
        far = far * half * half;
        let endless = if odd { x } else { size };
        far = pick(f("IsInf", size), endless, far);
    }
    result(l, pick(of("LessOrEqual", size, BESSEL_SERIES_MOST), near, far))
}

/// The sum of `(q + k)^-power` for `k` from 0 on, of positive numbers.
fn zeta(l: &mut Lowering<'_>, power: f64, q: LoweredValue) -> Result<LoweredValue> {
    let most = (power + ZETA_TERMS).ceil();
    let raised = |x: Term| of("Pow", x, -power);
    let short = value(l, of("Less", q, most))?;
    let at = value(l, pick(short, q + most, q))?;
    let (mut terms, mut step) = (raised(q.into()), 1.0);
    while step < most {
        terms = terms + raised(q + step);
        step += 1.0;
    }
    let last = value(l, raised(at.into()))?;
    let mut sum = pick(short, terms, 0.0) + last * at / (power - 1.0) + last / 2.0;
    let (mut rising, mut next) = (value(l, last * power / at)?, power);
    for term in ZETA_SERIES {
        sum = sum + rising * term;
        rising = value(l, rising * ((next + 1.0) * (next + 2.0)) / (at * at))?;
        next += 2.0;
    }
    value(l, sum)
}

/// A derivative of the digamma function: at negative numbers, of the terms of two sums above zero.
pub fn polygamma(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let n = special::order(&l.attributes)?;
    if n == 0 {
        return digamma(l);
    }
    let x = argument(l, 0)?;
    let power = f64::from(n) + 1.0;
    let negative = value(l, of("LessOrEqual", x, 0.0))?;
    let first = value(l, pick(negative, x - f("Floor", x), x))?;
    // Some positive number, which nothing uses, where it is not below zero.
    let to_next = value(l, pick(negative, f("Ceil", x) - x, 1.0))?;
    let behind = value(l, pick(negative, Term::from(1.0) - x, 1.0))?;
    let [first_sum, to_next, behind] =
        [zeta(l, power, first)?, zeta(l, power, to_next)?, zeta(l, power, behind)?];
    let below = to_next - behind;
    let below = if n % 2 == 1 { first_sum + below } else { first_sum - below };
    let pole = of("And", negative, of("Equal", first, 0.0));
    let sum = pick(pole, f64::INFINITY, pick(negative, below, first_sum));
    result(l, sum * special::factor_of_order(n))
}

/// The logarithm of `1 + x`, of which no digit is lost near zero.
fn log_of_next(l: &mut Lowering<'_>, x: LoweredValue) -> Result<Term> {
    let next = value(l, x + 1.0)?;
    let step = value(l, next - 1.0)?;
    let inside = of("And", f("Not", of("Equal", step, 0.0)), f("Not", f("IsInf", next)));
    let scaled = f("Log", next) * x / pick(inside, step, 1.0);
    Ok(pick(of("Equal", step, 0.0), x, pick(f("IsInf", next), next, scaled)))
}

/// The complement of the error function.
fn erfc(l: &mut Lowering<'_>, x: LoweredValue) -> Result<Term> {
    let size = value(l, f("Abs", x))?;
    let ratio = value(l, (size - 3.0) / (size + 3.0))?;
    let scaled = polynomial(l, &polynomials::ERFC, ratio)? / (size * 2.0 + 1.0);
    let above = value(l, f("Exp", f("Neg", size * size)) * scaled)?;
    let above = pick(of("Less", size, 27.0), above, 0.0);
    let above = value(l, above)?;
    Ok(pick(of("Less", x, 0.0), Term::from(2.0) - above, above))
}

/// The power `x^a exp(-x)` as a part of the gamma function of `a`.
fn power_share(l: &mut Lowering<'_>, a: LoweredValue, x: LoweredValue, ratio: LoweredValue) -> Result<Term> {
    let logarithm = ln_gamma_of(l, a)?;
    let small = f("Exp", of("Mul", a, f("Log", x)) - x - logarithm);
    let square = value(l, Term::from(1.0) / (a * a))?;
    let series = powers(square, &STIRLING_SERIES) / a;
    let exponent = (log_of_next(l, ratio)? - ratio) * a;
    let large = f("Sqrt", a / (2.0 * PI)) * f("Exp", exponent - series);
    Ok(pick(of("Less", a, STIRLING), small, large))
}

/// The share above a bound of orders that are not large: a loop of the series and the fraction,
/// until both are as near as float64 gets.
fn loop_share(
    l: &mut Lowering<'_>,
    a: LoweredValue,
    x: LoweredValue,
    ratio: LoweredValue,
) -> Result<LoweredValue> {
    let below = value(l, of("Less", x, a + 1.0))?;
    let large = value(l, of("Greater", a, UNIFORM))?;
    let factor = power_share(l, a, x, ratio)?;
    let factor = value(l, factor)?;
    let term = value(l, Term::from(1.0) / a)?;
    let under = value(l, Term::from(1.0) / (x + 1.0 - a))?;
    let over = value(l, x * 0.0 + 1.0 / LEAST_PART)?;
    let most = l.constant(Tensor::scalar(i64::from(MAX_PARTS)))?;
    let state = l.repeated(most, &[term, term, under, over, under], |l, number, state| {
        let &[term, sum, under, over, fraction] = state else { return Err(errors::missing("state")) };
        let number = l.cast(number, DType::F64)?;
        let k = value(l, number + 1.0)?;
        let term = value(l, term * x / (a + k))?;
        let sum = value(l, sum + term)?;
        let numerator = value(l, (a - k) * k)?;
        let constant = value(l, x + 1.0 - a + k * 2.0)?;
        let least = |x: LoweredValue| pick(of("Less", f("Abs", x), LEAST_PART), LEAST_PART, x);
        let under = value(l, numerator * under + constant)?;
        let under = value(l, Term::from(1.0) / least(under))?;
        let over = value(l, numerator / over + constant)?;
        let over = value(l, least(over))?;
        let step = value(l, over * under)?;
        let fraction = value(l, fraction * step)?;
        let series_goes_on = of("Greater", term, sum * (f64::EPSILON / 4.0));
        let fraction_goes_on = of("GreaterOrEqual", f("Abs", step - 1.0), f64::EPSILON);
        let goes_on =
            pick(large, 0.0, pick(below, pick(series_goes_on, 1.0, 0.0), pick(fraction_goes_on, 1.0, 0.0)));
        let goes_on = value(l, goes_on)?;
        let all = l.apply("ReduceSum", &[goes_on], &[int("keepdims", 0)])?;
        let again = value(l, of("Greater", all, 0.0))?;
        Ok((again, vec![term, sum, under, over, fraction]))
    })?;
    let most = |share: Term| of("Min", share, 1.0);
    let series = Term::from(1.0) - most(state[1] * factor);
    value(l, pick(below, series, most(state[4] * factor)))
}

/// The share above a bound of large orders.
fn uniform_share(l: &mut Lowering<'_>, a: LoweredValue, ratio: LoweredValue) -> Result<Term> {
    let half_square = ratio - log_of_next(l, ratio)?;
    let half_square = value(l, half_square)?;
    let sign = value(l, f("Sign", ratio))?;
    let eta = value(l, f("Sqrt", half_square * 2.0) * sign)?;
    let inverse = value(l, Term::from(1.0) / ratio)?;
    let of_eta = value(l, Term::from(1.0) / eta)?;
    let near = value(l, of("Less", f("Abs", eta), UNIFORM_NEAR))?;
    let first = pick(near, powers(eta, &UNIFORM_FIRST), inverse - of_eta);
    let cubes = of_eta * of_eta * of_eta - inverse * inverse * inverse;
    let second = cubes - inverse * inverse - inverse / 12.0;
    let second = pick(near, powers(eta, &UNIFORM_SECOND), second);
    let root = value(l, f("Sqrt", half_square * a) * sign)?;
    let rest = f("Exp", f("Neg", half_square * a)) / f("Sqrt", a * (2.0 * PI)) * (first + second / a);
    Ok(erfc(l, root)? * 0.5 + rest)
}

/// The share of the gamma function's integral that lies above a bound.
pub fn gamma_above(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, x) = (argument(l, 0)?, argument(l, 1)?);
    let both = l.constant(Tensor::scalar(Bool::from(true)))?;
    let wide = |l: &mut Lowering<'_>, one: LoweredValue, other| {
        let shaped = value(l, pick(both, one, other))?;
        Ok::<_, Error>(shaped)
    };
    let (a, x) = (wide(l, a, x)?, wide(l, x, a)?);
    let ratio = value(l, (x - a) / a)?;
    let share = loop_share(l, a, x, ratio)?;
    let uniform = uniform_share(l, a, ratio)?;
    let share = pick(of("Greater", a, UNIFORM), uniform, share);
    // The ends of both, of which neither is a number within.
    let (none, endless) = (value(l, of("Equal", a, 0.0))?, value(l, f("IsInf", a))?);
    let (at_zero, far) = (value(l, of("Equal", x, 0.0))?, value(l, f("IsInf", x))?);
    let outside = of("Or", of("Less", a, 0.0), of("Less", x, 0.0));
    let undefined = of("Or", of("And", none, at_zero), of("And", endless, far));
    let undefined = of("Or", of("Or", outside, undefined), of("Or", f("IsNaN", a), f("IsNaN", x)));
    let share = pick(of("Or", none, far), 0.0, share);
    let share = pick(of("Or", at_zero, endless), 1.0, share);
    result(l, pick(undefined, f64::NAN, share))
}
