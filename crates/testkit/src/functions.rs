//! Elementary functions of reals, in another library's arithmetic.

use astro_float::BigFloat;

use crate::Real;
use crate::power::{float, power, real, with};

/// The value of an ONNX function of one real at `x`, relatively off by less than
/// 2^-[`crate::POWER_BITS`]; nothing where it is not defined or not finite.
///
/// # Panics
/// If `name` is not one of the functions.
pub fn function(name: &str, x: &Real) -> Option<Real> {
    if x.is_zero() && ["Sin", "Tan", "Asin", "Atan", "Sinh", "Tanh", "Asinh", "Atanh", "Sqrt"].contains(&name)
    {
        return Some(Real::ZERO);
    }
    let x = float(x);
    let value = with(|bits, rounding, consts| {
        let one = BigFloat::from_u8(1, bits);
        match name {
            "Acos" => x.acos(bits, rounding, consts),
            "Acosh" => x.acosh(bits, rounding, consts),
            "Asin" => x.asin(bits, rounding, consts),
            "Asinh" => x.asinh(bits, rounding, consts),
            "Atan" => x.atan(bits, rounding, consts),
            "Atanh" => x.atanh(bits, rounding, consts),
            "Cos" => x.cos(bits, rounding, consts),
            "Cosh" => x.cosh(bits, rounding, consts),
            "Exp" => x.exp(bits, rounding, consts),
            "Log" => x.ln(bits, rounding, consts),
            "Sin" => x.sin(bits, rounding, consts),
            "Sinh" => x.sinh(bits, rounding, consts),
            "Sqrt" => x.sqrt(bits, rounding),
            "Tan" => x.tan(bits, rounding, consts),
            "Tanh" => x.tanh(bits, rounding, consts),
            "Sigmoid" => {
                let power = x.neg().exp(bits, rounding, consts);
                one.div(&power.add(&one, bits, rounding), bits, rounding)
            }
            "Softplus" => {
                // Below -200 the power has not one bit in common with 1; the sum needs those of
                // both.
                let wide = 4 * bits;
                let power = x.exp(wide, rounding, consts);
                power.add(&one, wide, rounding).ln(bits, rounding, consts)
            }
            _ => panic!("{name} is not a function of one real"),
        }
    });
    (!value.is_nan() && !value.is_inf()).then(|| real(&value))
}

/// `base ^ exponent` of reals, also of a negative base and an integer exponent; nothing where it is
/// not defined or not finite.
pub fn real_power(base: &Real, exponent: &Real) -> Option<Real> {
    if exponent.is_zero() || *base == Real::ONE {
        return Some(Real::ONE);
    }
    if base.is_zero() {
        return (*exponent > Real::ZERO).then_some(Real::ZERO);
    }
    if *base > Real::ZERO {
        return Some(power(base, exponent));
    }
    let odd = || {
        let half = exponent / Real::from(2u8);
        *half.denominator() != dashu_int::UBig::ONE
    };
    (*exponent.denominator() == dashu_int::UBig::ONE).then(|| {
        let magnitude = power(&-base.clone(), exponent);
        if odd() { -magnitude } else { magnitude }
    })
}

/// The value of an activation at `x`, by its formula with 1,536 bits: enough for what cancels in
/// arguments from 2^-150 to 30; nothing where it is not finite.
///
/// # Panics
/// If `name` is not one of the activations.
pub fn activation(name: &str, x: &Real, parameters: [&Real; 2]) -> Option<Real> {
    let zero = BigFloat::from_u8(0, 64);
    let [x, a, b] =
        [x, parameters[0], parameters[1]].map(|x| if x.is_zero() { zero.clone() } else { float(x) });
    let value = with(|_, rounding, consts| {
        let bits = 1536;
        let number = |x: i32| BigFloat::from_i32(x, bits);
        let one = number(1);
        let add = |x: &BigFloat, y: &BigFloat| x.add(y, bits, rounding);
        let sub = |x: &BigFloat, y: &BigFloat| x.sub(y, bits, rounding);
        let mul = |x: &BigFloat, y: &BigFloat| x.mul(y, bits, rounding);
        let div = |x: &BigFloat, y: &BigFloat| x.div(y, bits, rounding);
        let clamp = |x: BigFloat, most: i32| {
            if x.is_negative() {
                number(0)
            } else if sub(&number(most), &x).is_negative() {
                number(most)
            } else {
                x
            }
        };
        let pi = consts.pi(bits, rounding);
        let mut exp = |x: &BigFloat| if x.is_zero() { one.clone() } else { x.exp(bits, rounding, consts) };
        let mut less_one = |x: &BigFloat| sub(&exp(x), &one);
        // x - x^3/3 + x^5/10 - ..., times 2/sqrt(pi).
        let erf = |x: &BigFloat| {
            let square = mul(x, x);
            let (mut sum, mut power) = (x.clone(), x.clone());
            for n in 1.. {
                power = div(&mul(&power, &square), &number(-n));
                let term = div(&power, &number(2 * n + 1));
                sum = add(&sum, &term);
                if term.is_zero() || term.exponent().is_none_or(|exponent| exponent < -1500) {
                    break;
                }
            }
            div(&mul(&sum, &number(2)), &pi.sqrt(bits, rounding))
        };
        let mut sigmoid = |x: &BigFloat| div(&one, &add(&one, &add(&less_one(&x.neg()), &one)));
        match name {
            "Affine" => add(&mul(&a, &x), &b),
            "Celu" if x.is_negative() => mul(&a, &less_one(&div(&x, &a))),
            "Elu" if x.is_negative() => mul(&a, &less_one(&x)),
            "Erf" => erf(&x),
            "Gelu" => {
                let half = erf(&div(&x, &number(2).sqrt(bits, rounding)));
                div(&mul(&x, &add(&one, &half)), &number(2))
            }
            "GeluTanh" => {
                let cube = mul(&mul(&x, &x), &x);
                let inner = add(&x, &div(&mul(&cube, &number(44715)), &number(1_000_000)));
                mul(&x, &sigmoid(&mul(&inner, &div(&number(8), &pi).sqrt(bits, rounding))))
            }
            "HardSigmoid" => clamp(add(&mul(&a, &x), &b), 1),
            "HardSwish" => div(&mul(&x, &clamp(add(&x, &number(3)), 6)), &number(6)),
            "LeakyRelu" if x.is_negative() => mul(&a, &x),
            "Relu" if x.is_negative() => number(0),
            "Celu" | "Elu" | "LeakyRelu" | "Relu" => x.clone(),
            "Mish" => {
                let grown = add(&less_one(&x), &number(2));
                let square = mul(&grown, &grown);
                mul(&x, &div(&sub(&square, &one), &add(&square, &one)))
            }
            "ScaledTanh" => {
                let power = less_one(&mul(&number(2), &mul(&b, &x)));
                mul(&a, &div(&power, &add(&power, &number(2))))
            }
            "Selu" if x.is_negative() => mul(&b, &mul(&a, &less_one(&x))),
            "Selu" => mul(&b, &x),
            "Shrink" if add(&x, &a).is_negative() => add(&x, &b),
            "Shrink" if sub(&a, &x).is_negative() => sub(&x, &b),
            "Softsign" => div(&x, &add(&one, &x.abs())),
            "Swish" => mul(&x, &sigmoid(&mul(&a, &x))),
            "ThresholdedRelu" if sub(&a, &x).is_negative() => x.clone(),
            "Shrink" | "ThresholdedRelu" => number(0),
            _ => panic!("{name} is not an activation"),
        }
    });
    if value.is_zero() {
        return Some(Real::ZERO);
    }
    (!value.is_nan() && !value.is_inf()).then(|| real(&value))
}
