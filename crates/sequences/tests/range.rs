//! Ranges against rational arithmetic: recorded cases, random arguments, extremes of every type.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_core::convert::{self, Rules};
use gradus_core::{Class, DType, Number, text};
use gradus_sequences::{Plan, RangeError, RangePlan};
use gradus_testkit::{self as testkit, RangeRule, Real, real};
use proptest::prelude::*;
use serde_json::Value;

fn exact(number: Number) -> Real {
    match number {
        Number::Int(x) => Real::from(x),
        Number::Float(x) => real(x),
        Number::Complex(..) => unreachable!("ranges are real"),
    }
}

/// The element of a type for a real: rounded once, or cut toward zero and to the low bits.
fn element(dtype: DType, x: &Real) -> Number {
    let code = match dtype {
        DType::F64 => testkit::nearest_f64(x).to_bits(),
        DType::F32 => u64::from(testkit::nearest_f32(x).to_bits()),
        _ if dtype.is_integer() => {
            let modulus = dashu_int::IBig::ONE << dtype.bits();
            u64::try_from(dashu_int::ops::RemEuclid::rem_euclid(x.trunc(), modulus)).unwrap()
        }
        _ => {
            let (exponent_bits, mantissa_bits, bias, finite_codes, overflow) = match dtype {
                DType::F16 => (5, 10, 15, 0x7c00, 0x7c00),
                DType::BF16 => (8, 7, 127, 0x7f80, 0x7f80),
                DType::F8E4M3FN => (4, 3, 7, 0x7f, 0x7f),
                DType::F8E5M2 => (5, 2, 15, 0x7c, 0x7c),
                other => unreachable!("{other} has no reference here"),
            };
            let format = testkit::FloatFormat { exponent_bits, mantissa_bits, bias, finite_codes };
            let sign = u32::from(*x < Real::ZERO) << (exponent_bits + mantissa_bits);
            u64::from(format.nearest(x).unwrap_or(overflow | sign))
        }
    };
    convert::number(dtype, code)
}

/// Checks a plan's length, and its elements where they are most likely to be wrong: at both ends
/// and in the middle.
fn check(numbers: [Number; 3], dtype: DType) {
    let [start, limit, step] = numbers;
    let all_int = numbers.iter().all(|number| matches!(number, Number::Int(_)));
    let rule = if all_int { RangeRule::Exact } else { RangeRule::Rounded53 };
    let want = testkit::count(&exact(start), &exact(limit), &exact(step), rule);
    let about = format!("{numbers:?} to {dtype}");
    match RangePlan::new(start, limit, step, dtype) {
        Err(error) => {
            assert_eq!(error, RangeError::TooLong, "{about}");
            assert!(want > i64::MAX.into(), "{about}: {want} elements are not too many");
        }
        Ok(plan) => {
            assert_eq!(dashu_int::IBig::from(plan.len()), want, "{about}");
            let len = plan.len();
            let indices = [0, 1, 2, 3, len / 3, len / 2, len.saturating_sub(2), len.saturating_sub(1)];
            for i in indices.into_iter().filter(|&i| i < len) {
                let want = element(dtype, &testkit::element(&exact(start), &exact(step), i));
                assert_eq!(plan.at(i), want, "{about}: element {i}");
                assert_eq!(plan.slice(i..len).at(0), want, "{about}: a slice from {i}");
                assert_eq!(
                    plan.slice(i / 2..i + 1).slice(i - i / 2..i + 1 - i / 2).at(0),
                    want,
                    "{about}: slices to {i}"
                );
            }
        }
    }
}

fn dtype_of(recorded: &str) -> DType {
    recorded.parse().unwrap()
}

/// Cases in which the length is not the exact one, because difference or quotient is rounded to 53
/// bits.
const ROUNDED_LENGTHS: &[&str] = &["cnt_0_1_third_f64"];

#[test]
fn recorded_cases_have_their_ideal_results() {
    let file: Value = serde_json::from_str(include_str!("../../../conformance/recorded/range.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 139);
    let mut rounded = Vec::new();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let (input, output) =
            (dtype_of(case["in_type"].as_str().unwrap()), dtype_of(case["out_type"].as_str().unwrap()));
        let argument = |name: &str| {
            let recorded = &case[name];
            let text = recorded.as_str().map_or_else(|| recorded.to_string(), str::to_owned);
            let number = text::parse_for(&text, input).unwrap();
            convert::number(input, convert::code(input, number, Rules::IEEE))
        };
        let plan = RangePlan::new(argument("start"), argument("stop"), argument("step"), output);
        let ideal = &case["ideal"];
        if ideal.is_null() {
            let error = plan.expect_err(id);
            assert!(matches!(error, RangeError::ZeroStep | RangeError::NotFinite(..)), "{id}: {error:?}");
            continue;
        }
        let count = ideal["count"].as_str().map_or_else(|| ideal["count"].to_string(), str::to_owned);
        let count: dashu_int::IBig = count.parse().unwrap();
        let Ok(plan) = plan else {
            assert_eq!(plan, Err(RangeError::TooLong), "{id}");
            assert!(count > i64::MAX.into(), "{id}: {count} elements are not too many");
            continue;
        };
        if dashu_int::IBig::from(plan.len()) != count {
            rounded.push(id);
            continue;
        }
        let check = |recorded: &Value, i: u64| {
            let text = recorded.as_str().map_or_else(|| recorded.to_string(), str::to_owned);
            let want =
                text::parse_for(&text, if output.class() == Class::Float { DType::F64 } else { output })
                    .unwrap();
            assert_eq!(plan.at(i), want, "{id}: element {i}");
        };
        for (i, recorded) in (0..).zip(ideal["first"].as_array().into_iter().flatten()) {
            check(recorded, i);
        }
        let last = ideal["last"].as_array().into_iter().flatten();
        for (i, recorded) in (plan.len() - u64::try_from(last.clone().count()).unwrap()..).zip(last) {
            check(recorded, i);
        }
    }
    assert_eq!(rounded, ROUNDED_LENGTHS);
}

#[test]
fn extremes_of_every_type_are_exact() {
    for dtype in
        [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64]
    {
        let (least, greatest) = extremes(dtype);
        for step in [1, 2, 3, 7, greatest / 2, greatest - 1, greatest, -1, -2, least + 1, least] {
            if step == 0 || step < least {
                continue;
            }
            for (start, limit) in [
                (least, greatest),
                (greatest, least),
                (0, greatest),
                (greatest - 3, greatest),
                (least + 3, least),
                (5, 5),
            ] {
                check([start, limit, step].map(Number::Int), dtype);
            }
        }
    }
    let edges = [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        f64::MIN_POSITIVE,
        1.0,
        -1.0,
        1.0 / 3.0,
        9_007_199_254_740_993.0,
        1e300,
        f64::MAX,
        f64::MIN,
    ];
    for dtype in [DType::F64, DType::F32, DType::F16, DType::I64, DType::U8] {
        for start in edges {
            for limit in edges {
                for step in edges.into_iter().filter(|&step| step != 0.0) {
                    check([start, limit, step].map(Number::Float), dtype);
                }
            }
        }
    }
}

fn extremes(dtype: DType) -> (i128, i128) {
    let bits = dtype.bits();
    if dtype.class() == Class::Signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

#[test]
fn zero_steps_nan_and_infinities_are_refused() {
    let plan = |start, limit, step| {
        RangePlan::new(Number::Float(start), Number::Float(limit), Number::Float(step), DType::F32)
    };
    assert_eq!(plan(0.0, 5.0, 0.0).unwrap_err().to_string(), "step is zero, expected a nonzero number");
    assert_eq!(plan(0.0, 0.0, -0.0), Err(RangeError::ZeroStep));
    assert_eq!(plan(f64::NAN, 5.0, 1.0).unwrap_err().to_string(), "start is nan, expected a finite number");
    assert_eq!(
        plan(0.0, f64::INFINITY, 1.0).unwrap_err().to_string(),
        "limit is inf, expected a finite number"
    );
    assert_eq!(
        plan(0.0, 5.0, f64::NEG_INFINITY).unwrap_err().to_string(),
        "step is -inf, expected a finite number"
    );
    let error = RangePlan::new(Number::Int(0), Number::Int(1), Number::Int(1), DType::C64).unwrap_err();
    assert_eq!(error.to_string(), "element type of the range is complex64, expected a real numeric type");
}

fn any_real() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(|x| Number::Int(x.into())),
        any::<u64>().prop_map(|x| Number::Int(x.into())),
        (-1000..1000i64).prop_map(|x| Number::Int(x.into())),
        any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter("finite", |x| x.is_finite())
            .prop_map(Number::Float),
        any::<u32>()
            .prop_map(f32::from_bits)
            .prop_filter("finite", |x| x.is_finite())
            .prop_map(|x| Number::Float(x.into())),
        (-100.0..100.0f64).prop_map(Number::Float),
        (-100..100i32, 1..50i32).prop_map(|(a, b)| Number::Float(f64::from(a) / f64::from(b))),
        (-100..100i16, 1..50i16).prop_map(|(a, b)| Number::Float((f32::from(a) / f32::from(b)).into())),
    ]
}

fn any_output() -> impl Strategy<Value = DType> {
    prop::sample::select(vec![
        DType::F64,
        DType::F32,
        DType::F16,
        DType::BF16,
        DType::F8E4M3FN,
        DType::F8E5M2,
        DType::I64,
        DType::I32,
        DType::I16,
        DType::I8,
        DType::I4,
        DType::U64,
        DType::U32,
        DType::U8,
        DType::U4,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_ranges_are_exact(start in any_real(), limit in any_real(), step in any_real(), dtype in any_output()) {
        prop_assume!(!step.is_zero());
        check([start, limit, step], dtype);
    }

    #[test]
    fn ranges_that_end_on_a_multiple_of_the_step_are_exact(
        start in -100.0..100.0f64, step in -10.0..10.0f64, n in 0..1000i32, ulps in -2..=2i64, dtype in any_output(),
    ) {
        prop_assume!(step != 0.0);
        let limit = f64::from_bits((start + f64::from(n) * step).to_bits().wrapping_add_signed(ulps));
        prop_assume!(limit.is_finite());
        check([start, limit, step].map(Number::Float), dtype);
    }
}
