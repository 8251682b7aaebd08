//! The fast references against the slow ones.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_testkit::{
    Arithmetic, Binary, FloatFormat, Real, WIDE_BITS, WideFloat, is_power, nearest_f32, nearest_f64, power,
    real,
};
use proptest::prelude::*;

const HALF: FloatFormat = FloatFormat { exponent_bits: 5, mantissa_bits: 10, bias: 15, finite_codes: 0x7c00 };
const BRAIN: FloatFormat =
    FloatFormat { exponent_bits: 8, mantissa_bits: 7, bias: 127, finite_codes: 0x7f80 };

fn check(x: &Real) {
    let wide = WideFloat::of(x);
    let code = |format| wide.nearest(format).code;
    assert_eq!(code(Binary::F64), nearest_f64(x).to_bits(), "{x}");
    assert_eq!(code(Binary::F32), u64::from(nearest_f32(x).to_bits()), "{x}");
    for (format, plain, infinity) in [(Binary::F16, HALF, 0x7c00), (Binary::BF16, BRAIN, 0x7f80)] {
        assert_eq!(code(format), u64::from(plain.nearest(x).unwrap_or(infinity)), "{x}");
    }
}

/// Reals near all that a format has: its numbers, the middles between them, and both sides of
/// those.
fn near(x: f64) -> [Real; 5] {
    let x = real(x.abs());
    let little = Real::ONE / Real::from(3u8).pow(400);
    [
        x.clone(),
        &x * (Real::ONE + &little),
        &x * (Real::ONE - &little),
        &x / Real::from(3u8),
        &x / Real::from(7u8),
    ]
}

#[test]
fn edges_are_rounded_as_by_comparing() {
    for format in [Binary::F16, Binary::BF16, Binary::F32, Binary::F64] {
        let infinity = format.infinity();
        let normal = 1 << format.mantissa_bits;
        for code in [0, 1, 2, normal - 1, normal, normal + 1, infinity - 2, infinity - 1] {
            let middle = format.middle(code);
            let little = Real::ONE / Real::from(3u8).pow(400);
            check(&middle);
            check(&(&middle * (Real::ONE + &little)));
            check(&(&middle * (Real::ONE - &little)));
            let nearest = WideFloat::of(&middle).nearest(format);
            assert_eq!((nearest.below, nearest.tie_bits), (code, WIDE_BITS));
            assert_eq!(nearest.code, code + (code & 1));
        }
    }
    check(&Real::ZERO);
    check(&(Real::ONE / Real::from(2u8).pow(5000)));
    check(&Real::from(2u8).pow(5000));
}

#[test]
fn powers_are_known_from_what_is_near_them() {
    let r = |n: i64, d: u64| Real::from_parts(n.into(), d.into());
    assert!(is_power(&r(27, 8), &r(9, 4), &r(3, 2)));
    assert!(is_power(&r(8, 27), &r(9, 4), &r(-3, 2)));
    assert!(is_power(&r(1, 1), &r(9, 4), &r(0, 1)));
    assert!(is_power(&r(2, 1), &Real::from(2u8).pow(1000), &r(1, 1000)));
    assert!(is_power(&r(1, 1), &r(1, 1), &r(1, 3)));
    assert!(!is_power(&r(27, 8), &r(9, 4), &r(3, 1)));
    assert!(!is_power(&r(3, 1), &r(9, 4), &r(1, 1 << 60)));
    assert!(!is_power(&r(2, 1), &r(1, 1), &r(1, 3)));
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::from),
        -70000.0..70000.0,
        -1e-4..1e-4,
    ]
}

proptest! {
    #[test]
    fn rounding_is_that_by_comparing(x in float()) {
        near(x).iter().for_each(check);
    }

    #[test]
    fn lines_are_those_of_rationals(start in float(), stop in float(), divisor in 1u64..1 << 60, from in 0u64..1 << 40) {
        let mut line = Arithmetic::linspace(start, stop, divisor, from);
        let mut range = Arithmetic::range(start, stop, from);
        for i in from..from + 4 {
            let index = Real::from(i);
            let linspace = real(start) + (real(stop) - real(start)) * &index / Real::from(divisor);
            let exact = [linspace, real(start) + real(stop) * index];
            for (exact, (negative, number)) in exact.into_iter().zip([line.number(), range.number()]) {
                prop_assert_eq!(negative, exact < Real::ZERO);
                let magnitude = if negative { -exact } else { exact };
                prop_assert_eq!(number.nearest(Binary::F64).code, nearest_f64(&magnitude).to_bits());
                prop_assert_eq!(number.nearest(Binary::F32).code, u64::from(nearest_f32(&magnitude).to_bits()));
            }
            line.advance();
            range.advance();
        }
    }

    #[test]
    fn products_are_powers(base in 1e-300f64..1e300, steps in 1u32..100) {
        let exponent = Real::ONE / Real::from(97u8);
        let ratio = WideFloat::of(&power(&real(base), &exponent));
        let product = (1..steps).fold(ratio, |product, _| product.times(&ratio));
        let wanted = power(&real(base), &(exponent * Real::from(steps)));
        prop_assert_eq!(product.nearest(Binary::F64).code, nearest_f64(&wanted).to_bits());
    }
}
