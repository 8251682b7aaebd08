//! Machine arithmetic: operations rounded to their type, wrapping integers, truncating casts.
//!
//! Floats of every type are carried as `f64`. For types narrower than `f64`, an operation on two
//! numbers done in `f64` and then rounded to the type is the operation of the type: 53 bits are at
//! least twice 24 and two more.

use gradus_core::convert::{self, Rules, nearest_f32, nearest_f64};
use gradus_core::float::F32;
use gradus_core::{DType, Number};

/// The number as an element of a type: rounded, or cut toward zero and to the low bits.
pub(crate) fn typed(dtype: DType, number: Number) -> Number {
    convert::number(dtype, convert::code(dtype, number, Rules::IEEE))
}

/// A float rounded to a float type.
pub(crate) fn rounded(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::F64 => x,
        DType::F32 => f64::from(nearest_f32(Number::Float(x))),
        _ => nearest_f64(typed(dtype, Number::Float(x))),
    }
}

/// A number rounded once to a float type.
pub(crate) fn float(dtype: DType, number: Number) -> f64 {
    match number {
        Number::Float(x) => rounded(dtype, x),
        _ => nearest_f64(typed(dtype, number)),
    }
}

/// An index rounded to a float type.
pub(crate) fn index(dtype: DType, i: u64) -> f64 {
    float(dtype, Number::Int(i128::from(i)))
}

/// `a * b + c`, rounded once to `float32` or `float64`.
pub(crate) fn fused(dtype: DType, a: f64, b: f64, c: f64) -> f64 {
    if dtype == DType::F64 {
        return a.mul_add(b, c);
    }
    let narrow = |x| nearest_f32(Number::Float(x));
    f64::from(narrow(a).mul_add(narrow(b), narrow(c)))
}

/// An integer cut to the low bits of an integer type.
pub(crate) fn wrapped(dtype: DType, x: i128) -> i128 {
    int(typed(dtype, Number::Int(x)))
}

/// An integer, or a float cut toward zero. What integers cannot hold becomes 0.
pub(crate) fn int(number: Number) -> i128 {
    match number {
        Number::Int(x) => x,
        Number::Float(x) | Number::Complex(x, _) => convert::truncated(x).unwrap_or(0),
    }
}

/// The C cast of a float to an integer type on x86-64, also where the language leaves it undefined:
/// the conversion is to 32 or 64 bits with a sign, of which all but one are zero if the number does
/// not fit, and the low bits are taken from there.
pub(crate) fn c_cast(dtype: DType, x: f64) -> Number {
    let wide = matches!(dtype, DType::I64 | DType::U32 | DType::U64);
    let least = if wide { i128::from(i64::MIN) } else { i128::from(i32::MIN) };
    let cut = |x: f64| convert::truncated(x).filter(|x| (least..-least).contains(x)).unwrap_or(least);
    let above = 9_223_372_036_854_775_808.0;
    let whole = if dtype == DType::U64 && x >= above { cut(x - above) - least } else { cut(x) };
    typed(dtype, Number::Int(whole))
}

/// A number cast as C does it: floats to integers as [`c_cast`], everything else as [`typed`].
pub(crate) fn c_typed(dtype: DType, number: Number) -> Number {
    match number {
        Number::Float(x) if dtype.is_integer() => c_cast(dtype, x),
        _ => typed(dtype, number),
    }
}

/// A float as a count, if it is one that 63 bits hold.
pub(crate) fn count(x: f64) -> Option<u64> {
    convert::truncated(x).and_then(|n| i64::try_from(n).ok()).and_then(|n| u64::try_from(n).ok())
}

/// Zero in place of a subnormal number, as processors have it that are told to flush.
pub(crate) fn flushed(dtype: DType, x: f64) -> f64 {
    let least_normal = if dtype == DType::F64 {
        f64::MIN_POSITIVE
    } else {
        2f64.powi(F32.least_exponent() + F32.precision().cast_signed() - 1)
    };
    if x.abs() < least_normal { 0.0_f64.copysign(x) } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_that_do_not_fit_are_those_of_x86() {
        let cases = [
            (DType::I32, 2_147_483_647.9, 2_147_483_647),
            (DType::I32, 2_147_483_648.0, -2_147_483_648),
            (DType::I32, -1.9, -1),
            (DType::I32, f64::NAN, -2_147_483_648),
            (DType::I8, 300.0, 44),
            (DType::I8, 3e9, 0),
            (DType::U8, -1.0, 255),
            (DType::U32, -1.0, 4_294_967_295),
            (DType::U32, 1e30, 0),
            (DType::I64, f64::INFINITY, i128::from(i64::MIN)),
            (DType::U64, 1e19, 10_000_000_000_000_000_000),
            (DType::U64, f64::INFINITY, 0),
        ];
        for (dtype, x, want) in cases {
            assert_eq!(c_cast(dtype, x), Number::Int(want), "{x} to {dtype}");
        }
    }

    #[test]
    fn subnormal_numbers_are_flushed_and_no_others() {
        assert_eq!(flushed(DType::F32, f64::from(f32::MIN_POSITIVE)), f64::from(f32::MIN_POSITIVE));
        assert_eq!(flushed(DType::F32, -1e-39).to_bits(), (-0.0f64).to_bits());
        assert_eq!(flushed(DType::F64, 1e-39), 1e-39);
        assert_eq!(flushed(DType::F64, 1e-310), 0.0);
    }
}
