//! Reals as numbers of several kinds, so that each formula is written once.

use std::ops::{Add, Div, Mul, Neg, Sub};

use gradus_sequences::Interval;

/// A real in some arithmetic: a double, a vector of doubles, a pair of doubles, an interval.
pub trait Real:
    Clone + Neg<Output = Self> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// A double, in the same arithmetic.
    fn like(&self, x: f64) -> Self;
    /// The magnitude.
    fn abs(&self) -> Self;
    /// The first real where this one is below zero, and elsewhere the second.
    fn if_negative(&self, then: Self, other: Self) -> Self;
    /// The real, or the nearest between two bounds: arguments beyond them round to the same.
    fn within(&self, low: f64, high: f64) -> Self;
    /// The square root.
    fn sqrt(&self) -> Self;
    /// `e^x`.
    fn exp(&self) -> Self;
    /// `e^x - 1`.
    fn exp_m1(&self) -> Self;
    /// The natural logarithm.
    fn ln(&self) -> Self;
    /// The natural logarithm of `1 + x`.
    fn ln_1p(&self) -> Self;
    /// The sine.
    fn sin(&self) -> Self;
    /// The cosine.
    fn cos(&self) -> Self;
    /// The tangent.
    fn tan(&self) -> Self;
    /// The arc sine.
    fn asin(&self) -> Self;
    /// The arc cosine.
    fn acos(&self) -> Self;
    /// The arc tangent.
    fn atan(&self) -> Self;
    /// The error function.
    fn erf(&self) -> Self;
    /// The standard normal distribution: `erfc(-x / sqrt(2)) / 2`.
    fn normal(&self) -> Self;
    /// The square root of `8 / pi`.
    fn root_8_pi(&self) -> Self;
}

/// The square root of `8 / pi` as a double, and what it lacks.
pub const ROOT_8_PI: [f64; 2] = [1.5957691216057308, -9.96930880911092e-17];

impl Real for f64 {
    fn like(&self, x: f64) -> f64 {
        x
    }

    fn abs(&self) -> f64 {
        f64::abs(*self)
    }

    fn if_negative(&self, then: f64, other: f64) -> f64 {
        if *self < 0.0 { then } else { other }
    }

    fn within(&self, low: f64, high: f64) -> f64 {
        self.clamp(low, high)
    }

    fn sqrt(&self) -> f64 {
        f64::sqrt(*self)
    }

    fn exp(&self) -> f64 {
        libm::exp(*self)
    }

    fn exp_m1(&self) -> f64 {
        libm::expm1(*self)
    }

    fn ln(&self) -> f64 {
        libm::log(*self)
    }

    fn ln_1p(&self) -> f64 {
        libm::log1p(*self)
    }

    fn sin(&self) -> f64 {
        libm::sin(*self)
    }

    fn cos(&self) -> f64 {
        libm::cos(*self)
    }

    fn tan(&self) -> f64 {
        libm::tan(*self)
    }

    fn asin(&self) -> f64 {
        libm::asin(*self)
    }

    fn acos(&self) -> f64 {
        libm::acos(*self)
    }

    fn atan(&self) -> f64 {
        libm::atan(*self)
    }

    fn erf(&self) -> f64 {
        libm::erf(*self)
    }

    fn normal(&self) -> f64 {
        0.5 * libm::erfc(-*self * std::f64::consts::FRAC_1_SQRT_2)
    }

    fn root_8_pi(&self) -> f64 {
        ROOT_8_PI[0]
    }
}

/// The reference: narrowed until the result is told.
impl Real for Interval {
    fn like(&self, x: f64) -> Interval {
        Interval::like(self, x)
    }

    fn abs(&self) -> Interval {
        self.if_negative(-self.clone(), self.clone())
    }

    fn if_negative(&self, then: Interval, other: Interval) -> Interval {
        if self.is_negative() { then } else { other }
    }

    fn within(&self, _low: f64, _high: f64) -> Interval {
        self.clone()
    }

    fn sqrt(&self) -> Interval {
        Interval::sqrt(self)
    }

    fn exp(&self) -> Interval {
        Interval::exp(self)
    }

    fn exp_m1(&self) -> Interval {
        Interval::exp(self) - self.like(1.0)
    }

    fn ln(&self) -> Interval {
        Interval::ln(self)
    }

    fn ln_1p(&self) -> Interval {
        Interval::ln(&(self.clone() + self.like(1.0)))
    }

    fn sin(&self) -> Interval {
        let [_, sin] = self.cos_sin();
        sin
    }

    fn cos(&self) -> Interval {
        let [cos, _] = self.cos_sin();
        cos
    }

    fn tan(&self) -> Interval {
        let [cos, sin] = self.cos_sin();
        sin / cos
    }

    fn asin(&self) -> Interval {
        Interval::asin(self)
    }

    fn acos(&self) -> Interval {
        self.pi() / self.like(2.0) - Interval::asin(self)
    }

    fn atan(&self) -> Interval {
        Interval::atan(self)
    }

    fn erf(&self) -> Interval {
        Interval::erf(self)
    }

    fn normal(&self) -> Interval {
        let erf = Interval::erf(&(self.clone() * self.like(0.5).sqrt()));
        (self.like(1.0) + erf) / self.like(2.0)
    }

    fn root_8_pi(&self) -> Interval {
        (self.like(8.0) / self.pi()).sqrt()
    }
}
