//! Floating-point formats against the definition: every code, midpoints and their neighbours,
//! random numbers.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_core::convert::{self, Rules};
use gradus_core::float::{Format, Overflow};
use gradus_core::{Class, DType, Number, Shape, Tensor};
use gradus_testkit::{self as testkit, Real, real};
use proptest::prelude::*;

/// The formats of at most 16 bits: exponent bits, mantissa bits, bias, finite magnitudes.
const SMALL: [(DType, u32, u32, i32, u32); 9] = [
    (DType::F16, 5, 10, 15, 0x7c00),
    (DType::BF16, 8, 7, 127, 0x7f80),
    (DType::F8E5M2, 5, 2, 15, 0x7c),
    (DType::F8E4M3FN, 4, 3, 7, 0x7f),
    (DType::F8E5M2FNUZ, 5, 2, 16, 0x80),
    (DType::F8E4M3FNUZ, 4, 3, 8, 0x80),
    (DType::F6E3M2, 3, 2, 3, 0x20),
    (DType::F6E2M3, 2, 3, 1, 0x20),
    (DType::F4E2M1, 2, 1, 1, 0x08),
];

fn references() -> impl Iterator<Item = (DType, testkit::FloatFormat)> {
    SMALL.into_iter().map(|(dtype, exponent_bits, mantissa_bits, bias, finite_codes)| {
        (dtype, testkit::FloatFormat { exponent_bits, mantissa_bits, bias, finite_codes })
    })
}

fn has_negative_zero(dtype: DType) -> bool {
    !matches!(dtype, DType::F8E5M2FNUZ | DType::F8E4M3FNUZ)
}

#[test]
fn every_code_has_the_value_of_its_definition() {
    for (dtype, reference) in references() {
        let format = Format::of(dtype).unwrap();
        for code in 0..reference.finite_codes {
            let value = reference.magnitude(code);
            let sign = 1 << (dtype.bits() - 1);
            assert_eq!(format.decode(u64::from(code)).to_bits(), value.to_bits(), "{dtype} {code:#x}");
            if code != 0 || has_negative_zero(dtype) {
                assert_eq!(
                    format.decode(u64::from(code) | sign).to_bits(),
                    (-value).to_bits(),
                    "{dtype} -{code:#x}"
                );
            }
        }
        for code in reference.finite_codes..1 << (dtype.bits() - 1) {
            assert!(!format.decode(u64::from(code)).is_finite(), "{dtype} {code:#x}");
        }
    }
}

#[test]
fn every_code_comes_back_from_its_value() {
    for &dtype in DType::ALL {
        if !(dtype.is_float() || dtype.is_integer()) || dtype.bits() > 16 {
            continue;
        }
        for code in 0..1u64 << dtype.bits() {
            let number = convert::number(dtype, code);
            let back = convert::code(dtype, number, Rules::IEEE);
            let is_nan = matches!(number, Number::Float(x) if x.is_nan());
            if is_nan {
                assert!(
                    matches!(convert::number(dtype, back), Number::Float(x) if x.is_nan()),
                    "{dtype} {code:#x}"
                );
            } else {
                assert_eq!(back, code, "{dtype} {number:?}");
            }
        }
    }
}

/// Checks a real that is a double against the reference.
fn check(dtype: DType, reference: &testkit::FloatFormat, x: f64) {
    let format = Format::of(dtype).unwrap();
    let got = format.encode(x, Overflow::Special);
    let sign = 1 << (dtype.bits() - 1);
    let Some(code) = reference.nearest(&real(x)) else {
        assert_eq!(got, format.overflow(x < 0.0, Overflow::Special), "{dtype} {x:e} overflows");
        let saturated = format.decode(format.encode(x, Overflow::Saturate));
        assert_eq!(
            saturated.abs(),
            reference.magnitude(reference.finite_codes - 1),
            "{dtype} {x:e} saturates"
        );
        return;
    };
    let want = match u64::from(code) {
        zero if zero & (sign - 1) == 0 => {
            if x.is_sign_negative() && has_negative_zero(dtype) {
                sign
            } else {
                0
            }
        }
        code => code,
    };
    assert_eq!(got, want, "{dtype} {x:e}");
}

#[test]
fn midpoints_and_their_neighbours_are_rounded_to_even() {
    for (dtype, reference) in references() {
        for code in 0..reference.finite_codes {
            let (low, high) = (reference.magnitude(code), reference.magnitude(code + 1));
            let middle = f64::midpoint(low, high);
            for x in [middle, middle.next_up(), middle.next_down(), low, low.next_up()] {
                check(dtype, &reference, x);
                check(dtype, &reference, -x);
            }
        }
    }
}

fn any_finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite())
}

proptest! {
    #[test]
    fn random_numbers_are_rounded_to_the_nearest(x in any_finite(), near in -20.0..20.0f64) {
        for (dtype, reference) in references() {
            check(dtype, &reference, x);
            check(dtype, &reference, near);
            check(dtype, &reference, near.exp2());
        }
    }

    #[test]
    fn integers_are_rounded_once(x in any::<i64>(), y in any::<u64>(), shift in 0..64u32) {
        for exact in [i128::from(x >> shift), i128::from(y >> shift)] {
            let number = Number::Int(exact);
            let reference = Real::from(exact);
            prop_assert_eq!(convert::nearest_f64(number), testkit::nearest_f64(&reference));
            prop_assert_eq!(convert::nearest_f32(number), testkit::nearest_f32(&reference));
            for (dtype, format) in references() {
                let want = format.nearest(&reference).map(u64::from);
                let want = want.unwrap_or_else(|| Format::of(dtype).unwrap().overflow(exact < 0, Overflow::Special));
                prop_assert_eq!(convert::code(dtype, number, Rules::IEEE), want, "{} {}", dtype, exact);
            }
        }
    }

    #[test]
    fn floats_become_integers_toward_zero_and_modulo(x in any_finite(), near in -1e20..1e20f64, small in -300.0..300.0f64) {
        for x in [x, near, small] {
            let whole = real(x).trunc();
            let low = |bits: u32| {
                let modulus = dashu_int::IBig::ONE << usize::try_from(bits).unwrap();
                let rest = dashu_int::ops::RemEuclid::rem_euclid(&whole, &modulus);
                u64::try_from(rest).unwrap()
            };
            for dtype in [DType::I4, DType::I8, DType::U16, DType::I32, DType::U64] {
                let bits = u32::try_from(dtype.bits()).unwrap();
                prop_assert_eq!(convert::code(dtype, Number::Float(x), Rules::IEEE), low(bits), "{} {}", dtype, x);
            }
        }
    }

    #[test]
    fn decimals_are_rounded_once(digits in "[0-9]{1,30}", point in 0..30usize, exponent in -320..310i32, negative in any::<bool>()) {
        let point = point.min(digits.len());
        let text = format!("{}{}.{}e{exponent}", if negative { "-" } else { "" }, &digits[..point], &digits[point..]);
        let power = i64::from(exponent) - i64::try_from(digits.len() - point).unwrap();
        let ten = |n: i64| Real::from(dashu_int::IBig::from(10).pow(usize::try_from(n).unwrap()));
        let whole = Real::from(digits.parse::<dashu_int::IBig>().unwrap());
        let magnitude = if power >= 0 { whole * ten(power) } else { whole / ten(-power) };
        let exact = if negative { -magnitude } else { magnitude };
        for (dtype, reference) in references() {
            let got = convert::code(dtype, gradus_core::text::parse_for(&text, dtype).unwrap(), Rules::IEEE);
            let sign = u64::from(negative) << (dtype.bits() - 1);
            let want = match reference.nearest(&exact).map(u64::from) {
                None => Format::of(dtype).unwrap().overflow(negative, Overflow::Special),
                // A decimal keeps the sign of its zero, which the reference does not know.
                Some(code) if code & !sign == 0 => if has_negative_zero(dtype) { sign } else { 0 },
                Some(code) => code,
            };
            prop_assert_eq!(got, want, "{} {}", dtype, text);
        }
        let shortest = gradus_core::text::shortest(Number::Float(testkit::nearest_f64(&exact)), DType::F64);
        prop_assert_eq!(gradus_core::text::parse_f64(&shortest).unwrap(), testkit::nearest_f64(&exact));
    }
}

/// All numbers of a type of at most 16 bits.
fn numbers_of(dtype: DType) -> Vec<Number> {
    let codes = 0..1u64 << dtype.bits();
    match dtype.class() {
        Class::Float => {
            let format = Format::of(dtype).unwrap();
            codes.map(|code| Number::Float(format.decode(code))).collect()
        }
        Class::Unsigned => codes.map(|code| Number::Int(code.into())).collect(),
        _ => codes.map(|code| Number::Int(i128::from(code) - (1 << (dtype.bits() - 1)))).collect(),
    }
}

#[test]
fn types_hold_the_numbers_that_come_back_from_them() {
    let short = |dtype: &DType| dtype.is_real() && dtype.bits() <= 16;
    let plain = |dtype: &DType| dtype.is_integer() || Format::of(*dtype).is_some();
    let short: Vec<_> = DType::ALL.iter().copied().filter(short).filter(plain).collect();
    let bits = |number: &Number| match *number {
        Number::Float(x) if x.is_nan() => (f64::NAN.to_bits(), true),
        Number::Float(x) => (x.to_bits(), false),
        Number::Int(x) => (convert::nearest_f64(Number::Int(x)).to_bits(), false),
        Number::Complex(..) => unreachable!("no short type is complex"),
    };
    let mut held = 0;
    for &other in &short {
        let all = numbers_of(other);
        for &dtype in &short {
            let shape = Shape::vector(all.len());
            let stored = Tensor::from_numbers(dtype, shape, all.iter().copied(), Rules::IEEE).unwrap();
            let back: Vec<_> = stored.numbers().unwrap().collect();
            let is_same = all.iter().map(bits).eq(back.iter().map(bits));
            held += usize::from(dtype.holds(other));
            assert!(is_same || !dtype.holds(other), "{dtype} does not hold {other}");
            // Formats without infinities are not looked at.
            let looked = Format::of(dtype).is_none_or(Format::has_infinity);
            assert!(dtype.holds(other) || !is_same || !looked, "{dtype} holds {other}");
        }
    }
    assert!(held > 50, "{held}");
    let wide = [DType::F32, DType::F64, DType::I32, DType::I64, DType::U64];
    let of_i32 = wide.map(|dtype| dtype.holds(DType::I32));
    assert_eq!(of_i32, [false, true, true, true, false]);
}
