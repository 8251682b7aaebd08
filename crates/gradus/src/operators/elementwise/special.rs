//! Special functions that a kernel has no formula of: in float64, within some units in the last
//! place, and rounded once.

use std::f64::consts::PI;

use gradus_core::{Result, Value};

use crate::op::EvalContext;

/// Applies a function to the elements of the first input.
pub(crate) fn mapped(cx: &EvalContext<'_>, function: fn(f64) -> f64) -> Result<Vec<Value>> {
    let mut numbers = cx.floats(0)?;
    for x in &mut numbers {
        *x = function(*x);
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// The number whose error function is `x`: an estimate, and Halley's method.
pub(crate) fn erf_inv(x: f64) -> f64 {
    if x.is_nan() || x.abs() > 1.0 {
        return f64::NAN;
    }
    if x.abs() == 1.0 {
        return x * f64::INFINITY;
    }
    let size = x.abs();
    // Winitzki's estimate, within some thousandths.
    let (logarithm, a) = (libm::log1p(-size * size), 0.147);
    let half = 2.0 / (PI * a) + logarithm / 2.0;
    let mut y = (libm::sqrt(half * half - logarithm / a) - half).max(0.0).sqrt();
    for _ in 0..3 {
        let rest = if size < 0.5 { libm::erf(y) - size } else { (1.0 - size) - libm::erfc(y) };
        let step = rest / (libm::exp(-y * y) * 2.0 / PI.sqrt());
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

/// The logarithm of the size of the gamma function.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The derivative of the logarithm of the gamma function: by reflection below zero, by recurrence
/// up to 10, and by its asymptotic series from there.
pub(crate) fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return -f64::INFINITY.copysign(x);
    }
    if x < 0.0 {
        let rest = x - x.floor();
        return if rest == 0.0 { f64::NAN } else { digamma(1.0 - x) - PI / libm::tan(PI * rest) };
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    // Bernoulli numbers B(2k) / 2k.
    let terms =
        [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];
    let square = 1.0 / (x * x);
    let series = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * square);
    sum + libm::log(x) - 0.5 / x - series
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
    }
}
