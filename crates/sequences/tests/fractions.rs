//! Sequences of fractions that no float holds, against exact rationals.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_core::{DType, Number};
use gradus_sequences::{ExactNumber, GeomspacePlan, LinspacePlan, LogspacePlan, Plan, RangePlan};
use gradus_testkit::{Real, nearest_f32, nearest_f64};
use proptest::prelude::*;

use Number::{Float, Int};

fn read(text: &str) -> ExactNumber {
    text.parse().unwrap()
}

fn elements(plan: &impl Plan) -> Vec<Number> {
    (0..plan.len()).map(|i| plan.at(i)).collect()
}

/// Fractions of small integers, and of ones that no 64 bits hold.
fn fraction() -> impl Strategy<Value = (i128, u128)> {
    prop_oneof![
        (-999i128..999, 1u128..999),
        (any::<i128>(), 1u128..),
        (-9i128..9, (0u32..38).prop_map(|n| 10u128.pow(n)))
    ]
}

fn number((numerator, denominator): (i128, u128)) -> ExactNumber {
    read(&format!("{numerator}/{denominator}"))
}

fn real((numerator, denominator): (i128, u128)) -> Real {
    Real::from(numerator) / Real::from(denominator)
}

proptest! {
    #[test]
    fn elements_are_the_exact_values_rounded_once(a in fraction(), b in fraction(), num in 1u64..9) {
        for dtype in [DType::F64, DType::F32] {
            let rounded = |x: &Real| Float(if dtype == DType::F64 { nearest_f64(x) } else { nearest_f32(x).into() });
            let step = (real(b) - real(a)) / Real::from(num);
            let wanted: Vec<_> = (0..num).map(|i| rounded(&(real(a) + &step * Real::from(i)))).collect();
            let plan = LinspacePlan::new(number(a), number(b), num, false, dtype).unwrap();
            prop_assert_eq!(elements(&plan), wanted);
            if b.0 != 0 {
                let stop = real(a) + real(b) * Real::from(num);
                let stop = read(&format!("{}/{}", stop.numerator(), stop.denominator()));
                let plan = RangePlan::new(number(a), stop, number(b), dtype).unwrap();
                let wanted: Vec<_> = (0..num).map(|i| rounded(&(real(a) + real(b) * Real::from(i)))).collect();
                prop_assert_eq!(elements(&plan), wanted);
            }
        }
    }
}

#[test]
fn lengths_are_exact() {
    let cases = [
        ("0", "1", "0.1", 10),
        ("1", "1.3", "0.1", 3),
        ("1", "1.3000000000000000000000001", "0.1", 4),
        ("1", "0", "-1/3", 3),
        ("0", "-1", "0.1", 0),
        ("36893488147419103233", "36893488147419103235", "1", 2),
    ];
    for (start, stop, step, len) in cases {
        let plan = RangePlan::new(read(start), read(stop), read(step), DType::F32).unwrap();
        assert_eq!(plan.len(), len, "{start} {stop} {step}");
    }
}

#[test]
fn powers_on_rounding_boundaries_are_found() {
    let power = |base, start, stop, num| {
        LogspacePlan::new(read(base), read(start), read(stop), num, true, DType::I64)
    };
    assert_eq!(elements(&power("0.1", "-3", "0", 4).unwrap()), [1000, 100, 10, 1].map(Int));
    assert_eq!(elements(&power("1/9", "-0.5", "-1.5", 3).unwrap()), [3, 9, 27].map(Int));
    assert_eq!(elements(&power("1000", "1/3", "1", 3).unwrap()), [10, 100, 1000].map(Int));
    // A power of an integer beyond 64 bits: 3^45.
    assert_eq!(elements(&power("2954312706550833698643", "1/45", "2/45", 2).unwrap()), [3, 9].map(Int));
    let geometric = |start, stop, num| GeomspacePlan::new(read(start), read(stop), num, true, DType::F64);
    assert_eq!(elements(&geometric("0.1", "1000", 5).unwrap()), [0.1, 1.0, 10.0, 100.0, 1000.0].map(Float));
    assert_eq!(
        elements(&geometric("-1/3", "-27", 5).unwrap()),
        [-1.0 / 3.0, -1.0, -3.0, -9.0, -27.0].map(Float)
    );
    assert_eq!(elements(&geometric("3/5", "5/3", 3).unwrap()), [0.6, 1.0, 5.0 / 3.0].map(Float));
}
