//! Pairs of doubles, for functions of float64: relative errors of at most 2^-57 before the pair is
//! rounded, where the functions are not those of doubles themselves.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::real::{ROOT_8_PI, Real};
use crate::functions::power_of_two;

/// 1.5 times 2^52, and the bias of a double's exponent: added to an exponent, it leaves that with
/// the bias in the lowest bits.
pub const INTEGERS: f64 = 6755399441055744.0 + 1023.0;

/// An unevaluated sum of two doubles, the second far smaller.
#[derive(Clone, Copy)]
pub struct Pair(pub f64, pub f64);

/// The natural logarithm of 2 in 40 bits, of which small multiples are exact, and the rest.
const LN_2: [f64; 3] = [0.6931471805592082, 7.371002565167799e-13, 1.94704509238075e-31];

/// `1/n!` from `n = 3` on: of `e^r - 1` for `r` up to 0.347, what is left out is less than 2^-60.
const EXP: [f64; 12] = {
    let mut terms = [1.0 / 6.0; 12];
    let (mut n, mut factor) = (1, 4.0);
    while n < terms.len() {
        terms[n] = terms[n - 1] / factor;
        factor += 1.0;
        n += 1;
    }
    terms
};

impl Pair {
    /// The exact sum of two doubles.
    fn sum(a: f64, b: f64) -> Pair {
        let sum = a + b;
        let part = sum - a;
        Pair(sum, (a - (sum - part)) + (b - part))
    }

    /// The exact product of two doubles, unless it is too small.
    fn product(a: f64, b: f64) -> Pair {
        let product = a * b;
        Pair(product, a.mul_add(b, -product))
    }

    /// `ln(1 + x)` by a step of Newton's from a double near it.
    fn ln_1p_from(self, near: f64) -> Pair {
        let power = Pair(near, 0.0).exp_m1();
        let rest = (self - power) / (power + Pair(1.0, 0.0));
        Pair::sum(near, rest.0)
    }

    fn map(self, function: impl Fn(f64) -> f64) -> Pair {
        Pair(function(self.0), 0.0)
    }
}

impl Neg for Pair {
    type Output = Pair;

    fn neg(self) -> Pair {
        Pair(-self.0, -self.1)
    }
}

impl Add for Pair {
    type Output = Pair;

    fn add(self, other: Pair) -> Pair {
        let high = Pair::sum(self.0, other.0);
        let low = Pair::sum(self.1, other.1);
        let near = Pair::sum(high.0, high.1 + low.0);
        Pair::sum(near.0, near.1 + low.1)
    }
}

impl Sub for Pair {
    type Output = Pair;

    fn sub(self, other: Pair) -> Pair {
        self + -other
    }
}

impl Mul for Pair {
    type Output = Pair;

    fn mul(self, other: Pair) -> Pair {
        let high = Pair::product(self.0, other.0);
        Pair::sum(high.0, high.1 + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for Pair {
    type Output = Pair;

    fn div(self, other: Pair) -> Pair {
        let quotient = self.0 / other.0;
        let rest = self - other * Pair(quotient, 0.0);
        Pair::sum(quotient, rest.0 / other.0)
    }
}

impl Real for Pair {
    fn like(&self, x: f64) -> Pair {
        Pair(x, 0.0)
    }

    fn abs(&self) -> Pair {
        if self.0 < 0.0 { -*self } else { *self }
    }

    fn if_negative(&self, then: Pair, other: Pair) -> Pair {
        if self.0 < 0.0 { then } else { other }
    }

    fn within(&self, low: f64, high: f64) -> Pair {
        if self.0 >= low && self.0 <= high { *self } else { Pair(self.0.clamp(low, high), 0.0) }
    }

    fn sqrt(&self) -> Pair {
        let root = self.0.sqrt();
        if root == 0.0 {
            return Pair(root, 0.0);
        }
        let rest = *self - Pair::product(root, root);
        Pair::sum(root, rest.0 / (2.0 * root))
    }

    fn exp(&self) -> Pair {
        if self.0 < -700.0 { self.map(libm::exp) } else { self.exp_m1() + Pair(1.0, 0.0) }
    }

    /// `2^n (e^r - 1) + (2^n - 1)` with `n ln 2 + r = x`; the series of `e^r - 1` in pairs up to
    /// its square, and in doubles after it, where an error of 2^-52 is 2^-57 of the whole.
    fn exp_m1(&self) -> Pair {
        if !(-700.0..709.0).contains(&self.0) {
            return self.map(libm::expm1);
        }
        let n = (self.0 * std::f64::consts::LOG2_E).round_ties_even();
        let near = Pair(self.0 - n * LN_2[0], 0.0) - Pair::product(n, LN_2[1]);
        let r = near + Pair(self.1 - n * LN_2[2], 0.0);
        let cube = EXP.iter().rev().fold(0.0, |sum, term| sum * r.0 + term) * r.0 * r.0 * r.0;
        let square = r * r;
        let less_one = r + (Pair(0.5 * square.0, 0.5 * square.1) + Pair(cube, 0.0));
        let power = f64::from_bits((n + INTEGERS).to_bits() << 52);
        Pair(less_one.0 * power, less_one.1 * power) + Pair::sum(power, -1.0)
    }

    fn ln(&self) -> Pair {
        (*self - Pair(1.0, 0.0)).ln_1p_from(libm::log(self.0))
    }

    fn ln_1p(&self) -> Pair {
        self.ln_1p_from(libm::log1p(self.0))
    }

    fn sin(&self) -> Pair {
        self.map(libm::sin)
    }

    fn cos(&self) -> Pair {
        self.map(libm::cos)
    }

    fn tan(&self) -> Pair {
        self.map(libm::tan)
    }

    fn asin(&self) -> Pair {
        self.map(libm::asin)
    }

    fn acos(&self) -> Pair {
        self.map(libm::acos)
    }

    fn atan(&self) -> Pair {
        self.map(libm::atan)
    }

    fn erf(&self) -> Pair {
        self.map(libm::erf)
    }

    /// As the double's, with what `x / sqrt(2)` lacks: the derivative of erfc is
    /// `-2/sqrt(pi) e^(-x^2)`.
    fn normal(&self) -> Pair {
        let x = -*self * Pair(std::f64::consts::FRAC_1_SQRT_2, -4.833646656726457e-17);
        let slope = -std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x.0 * x.0);
        Pair::sum(0.5 * libm::erfc(x.0), 0.5 * slope * x.1)
    }

    fn root_8_pi(&self) -> Pair {
        Pair(ROOT_8_PI[0], ROOT_8_PI[1])
    }
}

/// `e^x / 2` for `x` where `e^x` may be beyond the doubles.
pub fn half_exp(x: f64) -> f64 {
    if x > 712.0 {
        return f64::INFINITY;
    }
    let root = Pair(x / 2.0, 0.0).exp();
    let product = Pair(root.0 / 2.0, root.1 / 2.0) * root;
    let value = product.0 + product.1;
    // Both parts of a product beyond the doubles are NaN.
    if value.is_nan() { f64::INFINITY } else { value }
}

/// `ln(2 x)` for large `x`.
pub fn ln_twice(x: f64) -> f64 {
    const SCALE: i32 = 512;
    let ln_2 = Pair::sum(LN_2[0], LN_2[1]);
    let less = Pair(x * power_of_two(-SCALE), 0.0).ln() + ln_2 * Pair(f64::from(SCALE + 1), 0.0);
    less.0 + less.1
}
