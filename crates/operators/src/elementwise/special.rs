//! Special functions that a kernel has no formula of: in float64, within some units in the last
//! place, and rounded once.

use std::cmp::Ordering;
use std::f64::consts::PI;

use gradus_core::{DType, Error, Number, Result, Value, convert};

use crate::attributes::Attributes;
use crate::elementwise::polynomials::{self, ROOT_OF_DIGAMMA};
use crate::errors;
use crate::indices;
use crate::op::EvalContext;

/// Applies a function to the elements of the first input.
pub fn mapped(cx: &EvalContext<'_>, function: impl Fn(f64) -> f64) -> Result<Vec<Value>> {
    let mut numbers = cx.floats(0)?;
    for x in &mut numbers {
        *x = function(*x);
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// A polynomial of the distance of an argument from a center, in units of `half`.
pub struct Polynomial {
    pub center: f64,
    pub half: f64,
    /// Coefficients of powers from 0 on.
    pub factors: &'static [f64],
}

impl Polynomial {
    fn at(&self, x: f64) -> f64 {
        let x = (x - self.center) / self.half;
        self.factors.iter().rev().fold(0.0, |sum, factor| sum * x + factor)
    }
}

/// Arguments of [`polynomials::ERF_INV_LOW`] up to this.
pub const ERF_INV_LOW_MOST: f64 = 6.25;
/// Arguments of [`polynomials::ERF_INV_MIDDLE`] up to this.
pub const ERF_INV_MIDDLE_MOST: f64 = 4.0;

/// The number whose error function is `x`.
pub fn erf_inv(x: f64) -> f64 {
    if x.is_nan() || x.abs() > 1.0 {
        return f64::NAN;
    }
    if x.abs() == 1.0 {
        return x * f64::INFINITY;
    }
    let logarithm = -libm::log((1.0 - x) * (1.0 + x));
    let root = logarithm.sqrt();
    x * match root {
        _ if logarithm <= ERF_INV_LOW_MOST => polynomials::ERF_INV_LOW.at(logarithm),
        _ if root <= ERF_INV_MIDDLE_MOST => polynomials::ERF_INV_MIDDLE.at(root),
        _ => polynomials::ERF_INV_HIGH.at(root),
    }
}

/// The logarithm of the size of the gamma function.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Bernoulli numbers `B(2k) / 2k`: factors of the asymptotic series of the digamma function.
pub const DIGAMMA_SERIES: [f64; 7] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];

/// The derivative of the logarithm of the gamma function: by reflection below zero, by recurrence
/// up to 10, and by its asymptotic series from there; about its root by the distance from it.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return -f64::INFINITY.copysign(x);
    }
    if x < 0.0 {
        let rest = x - x.floor();
        return if rest == 0.0 { f64::NAN } else { digamma(1.0 - x) - PI / libm::tan(PI * rest) };
    }
    if (1.0..=2.0).contains(&x) {
        let [root, rest] = ROOT_OF_DIGAMMA;
        return ((x - root) - rest) * polynomials::DIGAMMA.at(x);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = DIGAMMA_SERIES.iter().rev().fold(0.0, |sum, term| (sum + term) * square);
    sum + libm::log(x) - 0.5 / x - series
}

/// Arguments up to this have a Bessel function by its power series.
pub const BESSEL_SERIES_MOST: f64 = 30.0;

/// The unit of squares of arguments: with it, all factors are numbers of float32 too, as programs
/// that compute in float32, or compare constants in it, take graphs of them.
pub const BESSEL_SCALE: f64 = 256.0;

/// Factors of the series of the modified Bessel functions of the first kind of one order.
pub struct Bessel {
    /// Factors of powers of the square of the argument by [`BESSEL_SCALE`], all of one sign; beyond
    /// them, a term is less than half a unit in the last place of the sum.
    pub power: [f64; 50],
    /// Factors of powers of the reciprocal of the argument.
    pub asymptotic: [f64; 25],
}

impl Bessel {
    /// The factors of order 0 and 1.
    pub const ORDERS: [Bessel; 2] = [Bessel::new(0.0), Bessel::new(1.0)];

    const fn new(order: f64) -> Bessel {
        let (mut power, mut asymptotic) = ([1.0; 50], [1.0; 25]);
        let (mut at, mut k) = (1, 1.0);
        while at < power.len() {
            power[at] = power[at - 1] * (BESSEL_SCALE / 4.0) / (k * (k + order));
            if at < asymptotic.len() {
                let odd = 2.0 * k - 1.0;
                asymptotic[at] = asymptotic[at - 1] * (odd * odd - 4.0 * order * order) / (8.0 * k);
            }
            at += 1;
            k += 1.0;
        }
        Bessel { power, asymptotic }
    }
}

/// The modified Bessel function of the first kind, of order 0 or 1, times `exp(-|x|)` if it is
/// scaled: by its power series, or by its asymptotic series.
pub fn bessel(x: f64, order: u8, scaled: bool) -> f64 {
    let (size, factors, odd) = (x.abs(), &Bessel::ORDERS[usize::from(order)], order > 0);
    if size.is_infinite() {
        let value = if scaled { 0.0 } else { f64::INFINITY };
        return if odd { value.copysign(x) } else { value };
    }
    let sum = |factors: &[f64], x: f64| factors.iter().rev().fold(0.0, |sum, factor| sum * x + factor);
    let value = if size <= BESSEL_SERIES_MOST {
        let sum = sum(&factors.power, x * x / BESSEL_SCALE);
        let sum = if odd { sum * size / 2.0 } else { sum };
        if scaled { sum * libm::exp(-size) } else { sum }
    } else {
        let sum = sum(&factors.asymptotic, 1.0 / size) / (2.0 * PI * size).sqrt();
        // Half of the exponent at a time, as the whole may be out of range.
        let half = libm::exp(size / 2.0);
        if scaled { sum } else { sum * half * half }
    };
    if odd { value.copysign(x) } else { value }
}

/// Terms of a zeta function are added up to one that is as much above the power.
pub const ZETA_TERMS: f64 = 12.0;

/// Bernoulli numbers `B(2k) / (2k)!`: factors of the formula of Euler and Maclaurin.
pub const ZETA_SERIES: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
];

/// The sum of `(q + k)^-s` for `k` from 0 on: terms up to a large one, and the formula of Euler and
/// Maclaurin for the rest. Below zero, terms are those of two sums above it.
fn zeta(s: i32, q: f64) -> f64 {
    let power = f64::from(s);
    if q <= 0.0 {
        let first = q - q.floor();
        if first == 0.0 {
            return f64::INFINITY;
        }
        if q > -1.0 {
            return q.powi(-s) + zeta(s, q + 1.0);
        }
        let below = zeta(s, 1.0 - first) - zeta(s, 1.0 - q);
        return zeta(s, first) + if s % 2 == 0 { below } else { -below };
    }
    let (mut at, mut sum) = (q, 0.0);
    while at < power + ZETA_TERMS {
        sum += at.powi(-s);
        at += 1.0;
    }
    let last = at.powi(-s);
    sum += last * at / (power - 1.0) + last / 2.0;
    let (mut rising, mut next) = (last * power / at, power);
    for term in ZETA_SERIES {
        sum += term * rising;
        rising *= (next + 1.0) * (next + 2.0) / (at * at);
        next += 2.0;
    }
    sum
}

/// Maximum number of derivatives of the digamma function: factorials are no numbers of float64
/// beyond.
const MAX_ORDER: i64 = 170;

/// `polygamma`: a derivative of the digamma function.
pub fn polygamma(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    match order(attributes)? {
        0 => mapped(cx, digamma),
        n => {
            let factor = factor_of_order(n);
            mapped(cx, |x| factor * zeta(n + 1, x))
        }
    }
}

/// The derivative that `polygamma` asks for.
pub fn order(attributes: &Attributes<'_>) -> Result<i32> {
    let order = attributes.int_or("n", 0)?;
    let n = i32::try_from(order).ok().filter(|_| (0..=MAX_ORDER).contains(&order));
    n.ok_or_else(|| errors::value("attribute \"n\"", order, format_args!("0 to {MAX_ORDER}")))
}

/// The factor by which a derivative of the digamma function is a zeta function.
pub fn factor_of_order(n: i32) -> f64 {
    let factorial: f64 = (1..=n).map(f64::from).product();
    if n % 2 == 0 { -factorial } else { factorial }
}

/// Applies a function to the pairs of elements of both inputs, which broadcast.
fn of_pairs(cx: &EvalContext<'_>, function: impl Fn(f64, f64) -> f64) -> Result<Vec<Value>> {
    let (_, shape) = cx.output(0)?;
    let operands = [cx.floats(0)?, cx.floats(1)?];
    let place =
        |input: usize| Ok::<_, Error>(indices::broadcast(cx.tensor(input)?.shape().dims(), shape.dims()));
    let pairs = place(0)?.into_iter().zip(place(1)?);
    let numbers: Vec<f64> = pairs.map(|(x, y)| function(operands[0][x], operands[1][y])).collect();
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// `nextafter`: the number of the type next to one, in the direction of another.
pub fn next_after(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dtype, _) = cx.output(0)?;
    let single = |x: f64| convert::nearest_f32(Number::Float(x));
    of_pairs(cx, |x, y| match (dtype, x.partial_cmp(&y)) {
        (_, None) => f64::NAN,
        (_, Some(Ordering::Equal)) => y,
        (DType::F32, Some(Ordering::Less)) => single(x).next_up().into(),
        (DType::F32, Some(Ordering::Greater)) => single(x).next_down().into(),
        (_, Some(Ordering::Less)) => x.next_up(),
        (_, Some(Ordering::Greater)) => x.next_down(),
    })
}

/// `gammaincc`: the share of the gamma function's integral that lies above a bound.
pub fn gamma_above(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    of_pairs(cx, |a, x| gamma_shares(a, x)[1])
}

/// Orders from this have shares of the gamma function by their uniform expansion.
pub const UNIFORM: f64 = 1e5;

/// The shares of the integral of `t^(a - 1) exp(-t)` below and above a bound: by a power series
/// below the order, a continued fraction above it, and Temme's expansion of large orders.
pub fn gamma_shares(a: f64, x: f64) -> [f64; 2] {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 || (a == 0.0 && x == 0.0) {
        return [f64::NAN; 2];
    }
    if x == 0.0 || (a.is_infinite() && x.is_finite()) {
        return [0.0, 1.0];
    }
    if a == 0.0 || (x.is_infinite() && a.is_finite()) {
        return [1.0, 0.0];
    }
    if a.is_infinite() {
        return [f64::NAN; 2];
    }
    if a > UNIFORM {
        return uniform_shares(a, x);
    }
    let factor = power_share(a, x);
    if x < a + 1.0 {
        let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
        while term > sum * f64::EPSILON / 4.0 {
            k += 1.0;
            term *= x / k;
            sum += term;
        }
        let below = (sum * factor).min(1.0);
        return [below, 1.0 - below];
    }
    // The continued fraction from its front, by Lentz's method.
    let mut constant = x + 1.0 - a;
    let (mut over, mut under) = (1.0 / LEAST_PART, 1.0 / constant);
    let mut fraction = under;
    for k in (1..=MAX_PARTS).map(f64::from) {
        let numerator = -k * (k - a);
        constant += 2.0;
        let least = |x: f64| if x.abs() < LEAST_PART { LEAST_PART } else { x };
        under = 1.0 / least(numerator * under + constant);
        over = least(constant + numerator / over);
        fraction *= over * under;
        if (over * under - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    let above = (fraction * factor).min(1.0);
    [1.0 - above, above]
}

/// The power `x^a exp(-x)` as a part of the gamma function of `a`: of large orders by Stirling's
/// series, as the logarithms of both are larger than their difference.
fn power_share(a: f64, x: f64) -> f64 {
    if a < STIRLING {
        return libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    }
    let ratio = (x - a) / a;
    let square = 1.0 / (a * a);
    let series = STIRLING_SERIES.iter().rev().fold(0.0, |sum, factor| sum * square + factor) / a;
    (a / (2.0 * PI)).sqrt() * libm::exp(a * (libm::log1p(ratio) - ratio) - series)
}

/// Orders from this have shares of the gamma function by Stirling's series.
pub const STIRLING: f64 = 20.0;

/// Bernoulli numbers `B(2k) / (2k (2k - 1))`: factors of Stirling's series.
pub const STIRLING_SERIES: [f64; 7] =
    [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];

/// Least part of the continued fraction, in place of zero.
pub const LEAST_PART: f64 = 1e-30;

/// Maximum number of parts of the continued fraction: more than the largest order and its
/// neighbours need.
pub const MAX_PARTS: i32 = 10_000;

/// Factors of the terms of Temme's expansion about the order.
pub const UNIFORM_FIRST: [f64; 7] =
    [-1.0 / 3.0, 1.0 / 12.0, -2.0 / 135.0, 1.0 / 864.0, 1.0 / 2835.0, -139.0 / 777_600.0, 1.0 / 25515.0];
pub const UNIFORM_SECOND: [f64; 3] = [-1.0 / 540.0, -1.0 / 288.0, 1.0 / 378.0];
/// Distances from the order below this have these terms by their factors.
pub const UNIFORM_NEAR: f64 = 0.1;

fn uniform_shares(a: f64, x: f64) -> [f64; 2] {
    let ratio = (x - a) / a;
    let half_square = ratio - libm::log1p(ratio);
    let eta = (2.0 * half_square).sqrt().copysign(ratio);
    let polynomial = |terms: &[f64]| terms.iter().rev().fold(0.0, |sum, term| sum * eta + term);
    let (first, second) = if eta.abs() < UNIFORM_NEAR {
        (polynomial(&UNIFORM_FIRST), polynomial(&UNIFORM_SECOND))
    } else {
        let cubes = 1.0 / (eta * eta * eta) - 1.0 / (ratio * ratio * ratio);
        (1.0 / ratio - 1.0 / eta, cubes - 1.0 / (ratio * ratio) - 1.0 / (12.0 * ratio))
    };
    let root = (a * half_square).sqrt().copysign(ratio);
    let rest = libm::exp(-a * half_square) / (2.0 * PI * a).sqrt() * (first + second / a);
    [0.5 * libm::erfc(-root) - rest, 0.5 * libm::erfc(root) + rest]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_the_error_function_inverts_it() {
        for step in -999..1000 {
            let x = f64::from(step) / 1000.0;
            let back = libm::erf(erf_inv(x));
            assert!((back - x).abs() <= 4.0 * f64::EPSILON * x.abs().max(0.01), "{x}: {back}");
        }
        for q in [1e-3, 1e-9, 1e-15] {
            let x = 1.0 - q;
            assert!((libm::erfc(erf_inv(x)) / (1.0 - x) - 1.0).abs() < 1e-12, "{q}");
        }
        assert_eq!((erf_inv(0.0), erf_inv(1.0)), (0.0, f64::INFINITY));
        assert!(erf_inv(1.5).is_nan() && erf_inv(f64::NAN).is_nan());
    }

    /// Values from its definition: at 1, less Euler's constant; differences are reciprocals.
    #[test]
    fn digamma_has_its_known_values() {
        let euler = 0.577_215_664_901_532_9;
        for (x, value) in [(1.0, -euler), (2.0, 1.0 - euler), (0.5, -euler - 2.0 * std::f64::consts::LN_2)] {
            assert!((digamma(x) - value).abs() < 1e-15, "{x}");
        }
        for x in [-3.25, -0.5, 0.25, 7.5, 100.0] {
            assert!((digamma(x + 1.0) - digamma(x) - 1.0 / x).abs() < 1e-13, "{x}");
        }
        assert!(digamma(-2.0).is_nan());
        // About the root, the slope leaves nothing to cancel: its value is that of trigamma there.
        let [root, rest] = ROOT_OF_DIGAMMA;
        for steps in [-3.0, 0.0, 2.0] {
            let distance = steps * f64::EPSILON - rest;
            let slope = digamma(root + steps * f64::EPSILON) / distance;
            assert!((slope - 0.967_672_245_447_621_2).abs() < 1e-14, "{steps}: {slope}");
        }
    }

    /// Against the integral of `exp(x (cos t - 1)) cos(n t)` over a circle, of which evenly spaced
    /// points give every digit.
    #[test]
    fn bessel_functions_are_their_integrals() {
        const POINTS: u16 = 720;
        for x in [0.0, 1e-3, 0.5, 3.75, 12.0, 29.9, 30.1, 75.0, 400.0] {
            for order in [0, 1] {
                let angle = |point: u16| f64::from(point) * 2.0 * PI / f64::from(POINTS);
                let part = |t: f64| libm::exp(x * (libm::cos(t) - 1.0)) * libm::cos(f64::from(order) * t);
                let want = (0..POINTS).map(|point| part(angle(point))).sum::<f64>() / f64::from(POINTS);
                let got = bessel(x, order, true);
                // The sum of the points is off by some of its last places.
                assert!((got - want).abs() <= 1e-14 * want.abs() + 1e-15, "{order} {x}: {got}, not {want}");
                let whole = bessel(x, order, false);
                assert!((whole * libm::exp(-x) - want).abs() <= 1e-13 * want + 1e-15, "{order} {x}: {whole}");
                let sign = if order == 1 { -1.0 } else { 1.0 };
                assert_eq!(bessel(-x, order, true), sign * got);
            }
        }
        assert_eq!(
            (bessel(f64::INFINITY, 0, false), bessel(-f64::INFINITY, 1, false)),
            (f64::INFINITY, -f64::INFINITY)
        );
        assert_eq!((bessel(800.0, 0, false), bessel(f64::INFINITY, 0, true)), (f64::INFINITY, 0.0));
        assert!(bessel(713.5, 0, false).is_finite() && bessel(f64::NAN, 0, false).is_nan());
    }

    /// Known sums, and those whose difference is one term; also below zero.
    #[test]
    fn zeta_has_its_known_values() {
        for (s, q, value) in
            [(2, 1.0, PI * PI / 6.0), (3, 1.0, 1.202_056_903_159_594_3), (2, 0.5, PI * PI / 2.0)]
        {
            assert!((zeta(s, q) - value).abs() < 1e-15 * 8.0, "{s} {q}");
        }
        for s in [2, 3, 6, 40] {
            for q in [-7.25, -0.5, -1e-9, 0.25, 3.5, 60.0] {
                let (own, next, term) = (zeta(s, q), zeta(s, q + 1.0), f64::powi(q, -s));
                if term.is_infinite() {
                    assert_eq!(own, term, "{s} {q}");
                    continue;
                }
                let size = own.abs().max(term.abs());
                assert!((own - next - term).abs() <= 1e-13 * size, "{s} {q}: {own} {next}");
            }
        }
        assert_eq!(zeta(2, -3.0), f64::INFINITY);
    }

    /// Shares of a whole order are sums of the terms of a Poisson distribution, those of one half
    /// the error function. Both sides of each border agree.
    #[test]
    fn shares_of_the_gamma_function_are_sums() {
        for order in [1u8, 2, 3, 7, 20, 150] {
            for x in [0.001, 0.3, 1.0, 4.5, 19.5, 21.0, 140.0, 400.0] {
                let (mut term, mut above) = (libm::exp(-x), 0.0);
                for k in 1..=order {
                    above += term;
                    term *= x / f64::from(k);
                }
                let [_, got] = gamma_shares(order.into(), x);
                assert!((got - above).abs() <= 4e-13 * above + 1e-15, "{order} {x}: {got}, not {above}");
            }
        }
        for x in [1e-6, 0.2, 1.4, 1.6, 9.0, 30.0] {
            let [below, above] = gamma_shares(0.5, x);
            assert!((above / libm::erfc(x.sqrt()) - 1.0).abs() < 1e-13, "{x}");
            assert!((below / libm::erf(x.sqrt()) - 1.0).abs() < 1e-13, "{x}");
        }
        // Temme's expansion goes on where the series and the fraction end: shares of neighbouring
        // orders differ by one term.
        for x in [0.97, 0.999, 0.999_99, 1.0, 1.000_01, 1.001, 1.03] {
            let (a, x) = (UNIFORM, x * UNIFORM);
            let [below, above] = gamma_shares(a, x);
            let [next_below, next_above] = uniform_shares(a + 1.0, x);
            let term = power_share(a, x) / a;
            assert!((below - next_below - term).abs() < 1e-13, "{x}: {below} {next_below} {term}");
            assert!((next_above - above - term).abs() < 1e-13, "{x}: {above} {next_above} {term}");
        }
        assert_eq!(gamma_shares(2.0, f64::INFINITY), [1.0, 0.0]);
        assert_eq!(gamma_shares(1e300, 1e299), [0.0, 1.0]);
        assert!(gamma_shares(-1.0, 2.0)[0].is_nan() && gamma_shares(1.0, f64::NAN)[1].is_nan());
    }
}
