//! Vectors of doubles: functions with a relative error of few units of 2^-53.
//!
//! Arguments are finite and have at most 24 bits of precision, as float32 has. Multiplications and
//! additions are fused where the level can: the bounds hold with and without.

use std::ops::{Add, Div, Mul, Neg, Sub};

use fearless_simd::Simd;
use fearless_simd::prelude::*;

use crate::functions::pairs::INTEGERS;
use crate::functions::real::{ROOT_8_PI, Real};

/// A vector of doubles.
#[derive(Clone, Copy)]
pub struct Lanes<S: Simd>(pub S::f64s);

macro_rules! operators {
    ($($trait:ident $method:ident)*) => {$(
        impl<S: Simd> $trait for Lanes<S> {
            type Output = Lanes<S>;

            #[inline(always)]
            fn $method(self, other: Lanes<S>) -> Lanes<S> {
                Lanes($trait::$method(self.0, other.0))
            }
        }
    )*};
}

operators! { Add add Sub sub Mul mul Div div }

impl<S: Simd> Neg for Lanes<S> {
    type Output = Lanes<S>;

    #[inline(always)]
    fn neg(self) -> Lanes<S> {
        Lanes(-self.0)
    }
}

/// The natural logarithm of 2 in 40 bits, of which small multiples are exact, and the rest.
const LN_2: [f64; 2] = [0.6931471805592082, 7.371002565167799e-13];

/// `1/n!`: of `e^r - 1` for `r` up to 0.347, what is left out is `r^14/14!`, less than 2^-56 of it.
const EXP: [f64; 13] = {
    let mut terms = [1.0; 13];
    let (mut n, mut factor) = (1, 2.0);
    while n < terms.len() {
        terms[n] = terms[n - 1] / factor;
        factor += 1.0;
        n += 1;
    }
    terms
};

/// `2/(2n+1)`: of `2 atanh(s)` for `s` up to 0.1716, less than 2^-57 is left out.
const ATANH: [f64; 11] = {
    let mut terms = [2.0; 11];
    let (mut n, mut factor) = (1, 3.0);
    while n < terms.len() {
        terms[n] = 2.0 / factor;
        factor += 2.0;
        n += 1;
    }
    terms
};

/// `(-1)^n 2/sqrt(pi) / (n! (2n+1))`: of the error function up to 1/2, less than 2^-58 is left out.
const ERF: [f64; 13] = {
    let mut terms = [std::f64::consts::FRAC_2_SQRT_PI; 13];
    let (mut n, mut factorial, mut count) = (1, 1.0, 1.0);
    while n < terms.len() {
        factorial *= -count;
        terms[n] = terms[0] / (factorial * (2.0 * count + 1.0));
        count += 1.0;
        n += 1;
    }
    terms
};

/// Chebyshev's series of `(1 + 2x) e^(x^2) erfc(x)` for all `x` from zero on, as a polynomial in
/// `(x - 3.75) / (x + 3.75)`: relatively off by less than 2^-52.
#[rustfmt::skip]
const ERFC: [f64; 24] = [
    1.2375126308378275, -0.14024059858554697, 0.0035854154854790257, 0.0822767384901452,
    -0.10880393014244462, 0.09230432116037747, -0.05869339857664931, 0.028362277418956455,
    -0.009746579683265467, 0.001755625852894903, 0.0002937143780460009, -0.0002901540805390073,
    5.164652973847801e-05, 2.2384239149653617e-05, -1.1438048026713814e-05, -9.735598863404116e-07,
    1.7419821501167106e-06, -5.7218243434817605e-08, -2.4857125575800233e-07, 2.3263518549387883e-08,
    3.197926373502417e-08, -3.744214342131039e-09, -2.6231067795820477e-09, 3.1114413356712806e-10,
];

impl<S: Simd> Lanes<S> {
    #[inline(always)]
    fn splat(self, x: f64) -> S::f64s {
        S::f64s::splat(self.0.token(), x)
    }

    /// A polynomial, by Horner's rule.
    #[inline(always)]
    fn polynomial<const N: usize>(self, terms: &[f64; N]) -> S::f64s {
        let mut sum = self.splat(terms[N - 1]);
        for &term in terms[..N - 1].iter().rev() {
            sum = sum.mul_add(self.0, self.splat(term));
        }
        sum
    }

    /// `e^r - 1` and `2^n`, where `n ln 2 + r` is this number, between -708 and 709.
    #[inline(always)]
    fn reduced(self) -> [S::f64s; 2] {
        let n = (self.0 * std::f64::consts::LOG2_E).round_ties_even();
        // The first product is exact; so is the difference, by Sterbenz's lemma, unless `n` is 0.
        let r = Lanes::<S>(self.0 - n * LN_2[0] - n * LN_2[1]);
        let power: S::u64s = (n + INTEGERS).bitcast();
        [r.polynomial(&EXP) * r.0, (power << 52).bitcast()]
    }

    /// The complementary error function of numbers from zero on. An argument and a square that are
    /// rounded change the power by at most `3 x^2` times 2^-53: less than 2^-44 of it where float32
    /// holds the result, since `x` is less than 10.3 there.
    #[inline(always)]
    fn erfc(self) -> S::f64s {
        let x = self.0;
        let near = Lanes::<S>((x - 3.75) / (x + 3.75)).polynomial(&ERFC);
        near * Lanes::<S>(-(x * x)).exp().0 / (x + x + 1.0)
    }

    /// A function one by one.
    #[inline(always)]
    fn each(self, function: impl Fn(f64) -> f64) -> Lanes<S> {
        let mut out = self.0;
        for lane in 0..S::f64s::LEN {
            out[lane] = function(out[lane]);
        }
        Lanes(out)
    }
}

impl<S: Simd> Real for Lanes<S> {
    #[inline(always)]
    fn like(&self, x: f64) -> Lanes<S> {
        Lanes(self.splat(x))
    }

    #[inline(always)]
    fn abs(&self) -> Lanes<S> {
        Lanes(self.0.abs())
    }

    #[inline(always)]
    fn if_negative(&self, then: Lanes<S>, other: Lanes<S>) -> Lanes<S> {
        Lanes(self.0.simd_lt(self.splat(0.0)).select(then.0, other.0))
    }

    #[inline(always)]
    fn within(&self, low: f64, high: f64) -> Lanes<S> {
        Lanes(self.0.max(self.splat(low)).min(self.splat(high)))
    }

    #[inline(always)]
    fn sqrt(&self) -> Lanes<S> {
        Lanes(self.0.sqrt())
    }

    #[inline(always)]
    fn exp(&self) -> Lanes<S> {
        let [less_one, power] = self.within(-708.0, 709.0).reduced();
        Lanes(less_one.mul_add(power, power))
    }

    #[inline(always)]
    fn exp_m1(&self) -> Lanes<S> {
        let [less_one, power] = self.within(-708.0, 709.0).reduced();
        Lanes(less_one.mul_add(power, power - 1.0))
    }

    /// `n ln 2 + 2 atanh((m - 1) / (m + 1))`, where `m` is from `sqrt(1/2)` to `sqrt(2)`; NaN where
    /// there is no finite logarithm.
    #[inline(always)]
    fn ln(&self) -> Lanes<S> {
        let token = self.0.token();
        let bits: S::u64s = self.0.bitcast();
        // Added to the bits, what `sqrt(1/2)` has above a half rounds the exponent.
        let from = S::u64s::splat(token, std::f64::consts::FRAC_1_SQRT_2.to_bits());
        let exponent = (bits - from) >> 52;
        let mantissa: S::f64s = (bits - (exponent << 52)).bitcast();
        // The difference is negative below `sqrt(1/2)`, and a 12-bit number then.
        let signed = ((exponent + 2048) & 4095) | S::u64s::splat(token, 4503599627370496f64.to_bits());
        let n: S::f64s = signed.bitcast();
        let n = n - (4503599627370496.0 + 2048.0);
        let s = Lanes::<S>((mantissa - 1.0) / (mantissa + 1.0));
        let series = Lanes::<S>(s.0 * s.0).polynomial(&ATANH) * s.0;
        let sum = n * LN_2[0] + (series + n * LN_2[1]);
        let positive = self.0.simd_gt(self.splat(0.0)) & self.0.simd_lt(self.splat(f64::INFINITY));
        Lanes(positive.select(sum, self.splat(f64::NAN)))
    }

    /// The logarithm of the rounded sum, and what the rounding lacks over it.
    #[inline(always)]
    fn ln_1p(&self) -> Lanes<S> {
        let sum = self.0 + 1.0;
        let lacking = (self.0 - (sum - 1.0)) / sum;
        Lanes(Lanes::<S>(sum).ln().0 + lacking)
    }

    #[inline(always)]
    fn sin(&self) -> Lanes<S> {
        self.each(libm::sin)
    }

    #[inline(always)]
    fn cos(&self) -> Lanes<S> {
        self.each(libm::cos)
    }

    #[inline(always)]
    fn tan(&self) -> Lanes<S> {
        self.each(libm::tan)
    }

    #[inline(always)]
    fn asin(&self) -> Lanes<S> {
        self.each(libm::asin)
    }

    #[inline(always)]
    fn acos(&self) -> Lanes<S> {
        self.each(libm::acos)
    }

    #[inline(always)]
    fn atan(&self) -> Lanes<S> {
        self.each(libm::atan)
    }

    #[inline(always)]
    fn erf(&self) -> Lanes<S> {
        let magnitude = Lanes::<S>(self.0.abs());
        let near = Lanes::<S>(self.0 * self.0).polynomial(&ERF) * self.0;
        let far = (self.splat(1.0) - magnitude.within(0.0, 26.0).erfc()).copysign(self.0);
        Lanes(magnitude.0.simd_lt(self.splat(0.5)).select(near, far))
    }

    #[inline(always)]
    fn normal(&self) -> Lanes<S> {
        let magnitude = self.within(-37.0, 37.0).abs().0 * std::f64::consts::FRAC_1_SQRT_2;
        let half = Lanes::<S>(magnitude).erfc() * 0.5;
        self.if_negative(Lanes(half), Lanes(self.splat(1.0) - half))
    }

    #[inline(always)]
    fn root_8_pi(&self) -> Lanes<S> {
        Lanes(self.splat(ROOT_8_PI[0]))
    }
}
