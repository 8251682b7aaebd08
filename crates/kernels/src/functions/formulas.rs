//! The functions, each as one formula for all kinds of reals.

use std::iter;

use super::real::Real;
#[cfg(feature = "vectors")]
use crate::functions::power_of_two;

/// How values of a function follow the element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Course {
    /// They rise with it, or fall with it, whatever the parameters are.
    Monotone,
    /// They rise with it, if no parameter is below zero.
    Rising,
    /// They are convex or concave in it, whatever the parameters are.
    Convex,
    /// They change at most this many times as much.
    Slope(f64),
    /// No bound is known.
    Open,
}

macro_rules! functions {
    ($($(#[doc = $doc:literal])* $name:ident($bound:literal, $course:expr, $rational:expr) |$x:ident, $p:pat_param| $value:expr;)*) => {
        /// A function of one element `x` with up to two parameters, `a` and `b`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Function {
            $($(#[doc = $doc])* $name,)*
        }

        impl Function {
            /// All functions.
            pub const ALL: &[Function] = &[$(Function::$name),*];

            /// A bound of the relative error of a vector; 0 where the value in doubles is rounded
            /// as the exact one is: it is exact, or one sum or root of numbers of 24 bits.
            #[cfg(feature = "vectors")]
            pub(crate) fn bound(self) -> f64 {
                let power = match self {
                    $(Function::$name => $bound,)*
                };
                if power == 0 { 0.0 } else { power_of_two(power) }
            }

            /// How values follow the element.
            pub const fn course(self) -> Course {
                use Course::{Convex, Monotone, Open, Rising, Slope};
                match self {
                    $(Function::$name => $course,)*
                }
            }

            /// The only element, if there is one, whose value is rational and found by every
            /// program, and the value.
            pub const fn rational(self) -> Option<[f64; 2]> {
                match self {
                    $(Function::$name => $rational,)*
                }
            }

            /// The value at a real.
            pub(super) fn at<R: Real>(self, x: &R, parameters: &[R; 2]) -> R {
                let mut value = x.clone();
                self.each(parameters, iter::once(&mut value), |x| (**x).clone(), |y, value| *value = y);
                value
            }

            /// Reads the real of each item, and stores its value.
            #[allow(clippy::clone_on_copy, reason = "other kinds of reals are no copies")]
            #[inline(always)]
            pub(crate) fn each<R: Real, T>(
                self,
                parameters: &[R; 2],
                items: impl Iterator<Item = T>,
                read: impl Fn(&T) -> R,
                store: impl Fn(R, T),
            ) {
                match self {
                    $(Function::$name => {
                        for item in items {
                            let ($x, $p) = (&read(&item), parameters);
                            store($value, item);
                        }
                    })*
                }
            }
        }
    };
}

functions! {
    /// The arc cosine.
    Acos(-50, Monotone, Some([1.0, 0.0])) |x, _| x.acos();
    /// The inverse of the hyperbolic cosine.
    Acosh(-48, Monotone, Some([1.0, 0.0])) |x, _| {
        let less = x.clone() - x.like(1.0);
        (less.clone() + less.sqrt() * (less + x.like(2.0)).sqrt()).ln_1p()
    };
    /// `a x + b`.
    Affine(-50, Monotone, None) |x, [a, b]| a.clone() * x.clone() + b.clone();
    /// The arc sine.
    Asin(-50, Monotone, Some([0.0, 0.0])) |x, _| x.asin();
    /// The inverse of the hyperbolic sine.
    Asinh(-48, Monotone, Some([0.0, 0.0])) |x, _| {
        let square = x.clone() * x.clone();
        let one = x.like(1.0);
        let power = x.abs() + square.clone() / (one.clone() + (one + square).sqrt());
        signed(x, power.ln_1p())
    };
    /// The arc tangent.
    Atan(-50, Monotone, Some([0.0, 0.0])) |x, _| x.atan();
    /// The inverse of the hyperbolic tangent.
    Atanh(-48, Monotone, Some([0.0, 0.0])) |x, _| {
        let twice = x.abs() + x.abs();
        signed(x, (twice / (x.like(1.0) - x.abs())).ln_1p() / x.like(2.0))
    };
    /// `a (e^(x/a) - 1)` below zero, and `x` elsewhere.
    Celu(-47, Monotone, None) |x, [a, _]| x.if_negative(a.clone() * (x.clone() / a.clone()).exp_m1(), x.clone());
    /// The cosine.
    Cos(-50, Slope(1.0), Some([0.0, 1.0])) |x, _| x.cos();
    /// The hyperbolic cosine.
    Cosh(-48, Convex, Some([0.0, 1.0])) |x, _| {
        let power = x.abs().exp();
        (power.clone() + x.like(1.0) / power) / x.like(2.0)
    };
    /// `a (e^x - 1)` below zero, and `x` elsewhere.
    Elu(-48, Rising, None) |x, [a, _]| x.if_negative(a.clone() * x.exp_m1(), x.clone());
    /// The error function.
    Erf(-43, Monotone, Some([0.0, 0.0])) |x, _| x.erf();
    /// `e^x`.
    Exp(-49, Monotone, Some([0.0, 1.0])) |x, _| x.exp();
    /// `x` times the standard normal distribution at `x`.
    Gelu(-42, Slope(1.14), None) |x, _| x.clone() * x.normal();
    /// The approximation of [`Function::Gelu`] by `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`.
    GeluTanh(-42, Slope(1.14), None) |x, _| {
        let cube = x.clone() * x.clone() * x.clone();
        let inner = x.clone() + x.like(44715.0) * cube / x.like(1e6);
        x.clone() * sigmoid(&(x.root_8_pi() * inner))
    };
    /// `a x + b`, from 0 to 1.
    HardSigmoid(-50, Monotone, None) |x, [a, b]| clamped(&(a.clone() * x.clone() + b.clone()), 1.0);
    /// `x` times `x + 3`, from 0 to 6, over 6.
    HardSwish(-50, Slope(1.5), None) |x, _| x.clone() * clamped(&(x.clone() + x.like(3.0)), 6.0) / x.like(6.0);
    /// `a x` below zero, and `x` elsewhere.
    LeakyRelu(0, Convex, None) |x, [a, _]| x.if_negative(a.clone() * x.clone(), x.clone());
    /// The natural logarithm.
    Log(-49, Monotone, Some([1.0, 0.0])) |x, _| x.ln();
    /// `x tanh(ln(1 + e^x))`.
    Mish(-46, Slope(1.09), None) |x, _| {
        let power = x.within(f64::NEG_INFINITY, 300.0).exp();
        let grown = power.clone() * (power + x.like(2.0));
        x.clone() * grown.clone() / (grown + x.like(2.0))
    };
    /// `x`, and zero below it.
    Relu(0, Monotone, None) |x, _| x.if_negative(x.like(0.0), x.clone());
    /// `a tanh(b x)`.
    ScaledTanh(-46, Monotone, None) |x, [a, b]| a.clone() * tanh(&(b.clone() * x.clone()));
    /// `b` times [`Function::Elu`].
    Selu(-48, Rising, None) |x, [a, b]| b.clone() * x.if_negative(a.clone() * x.exp_m1(), x.clone());
    /// `x + b` below `-a`, `x - b` above `a`, and zero between.
    Shrink(0, Open, None) |x, [a, b]| {
        let above = (a.clone() - x.clone()).if_negative(x.clone() - b.clone(), x.like(0.0));
        (x.clone() + a.clone()).if_negative(x.clone() + b.clone(), above)
    };
    /// `1 / (1 + e^-x)`.
    Sigmoid(-48, Monotone, None) |x, _| sigmoid(x);
    /// The sine.
    Sin(-50, Slope(1.0), Some([0.0, 0.0])) |x, _| x.sin();
    /// The hyperbolic sine.
    Sinh(-48, Monotone, Some([0.0, 0.0])) |x, _| {
        let less_one = x.abs().exp_m1();
        let inverse = x.like(1.0) / (less_one.clone() + x.like(1.0));
        signed(x, less_one * (x.like(1.0) + inverse) / x.like(2.0))
    };
    /// `ln(1 + e^x)`.
    Softplus(-47, Monotone, None) |x, _| x.if_negative(x.like(0.0), x.clone()) + (-x.abs()).exp().ln_1p();
    /// `x / (1 + |x|)`.
    Softsign(-50, Monotone, None) |x, _| x.clone() / (x.like(1.0) + x.abs());
    /// The square root.
    Sqrt(0, Monotone, None) |x, _| x.sqrt();
    /// `x` times [`Function::Sigmoid`] of `a x`.
    Swish(-46, Slope(1.1), None) |x, [a, _]| x.clone() * sigmoid(&(a.clone() * x.clone()));
    /// The tangent.
    Tan(-50, Open, Some([0.0, 0.0])) |x, _| x.tan();
    /// The hyperbolic tangent.
    Tanh(-48, Monotone, Some([0.0, 0.0])) |x, _| tanh(x);
    /// `x` above `a`, and zero elsewhere.
    ThresholdedRelu(0, Rising, None) |x, [a, _]| (a.clone() - x.clone()).if_negative(x.clone(), x.like(0.0));
}

/// A magnitude with the sign of a real.
#[inline(always)]
fn signed<R: Real>(x: &R, magnitude: R) -> R {
    x.if_negative(-magnitude.clone(), magnitude)
}

/// A real, from zero to a bound.
#[inline(always)]
fn clamped<R: Real>(x: &R, most: f64) -> R {
    let most = x.like(most);
    x.if_negative(x.like(0.0), (most.clone() - x.clone()).if_negative(most, x.clone()))
}

/// `1 / (1 + e^-x)`, by the power that is at most 1.
#[inline(always)]
fn sigmoid<R: Real>(x: &R) -> R {
    let power = (-x.abs()).exp();
    let above = x.like(1.0);
    let numerator = x.if_negative(power.clone(), above.clone());
    numerator / (above + power)
}

/// `(e^2x - 1) / (e^2x + 1)`.
#[inline(always)]
fn tanh<R: Real>(x: &R) -> R {
    let less_one = (x.clone() + x.clone()).within(-700.0, 700.0).exp_m1();
    less_one.clone() / (less_one + x.like(2.0))
}
