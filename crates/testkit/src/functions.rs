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
