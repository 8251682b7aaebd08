//! Every fill has the bits that the plan gives: at every level, in every part, past the caches and through them.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_core::convert::{u64_of, usize_of};
use gradus_core::seq::{GeomspacePlan, LinspacePlan, LogspacePlan, RangePlan};
use gradus_core::{DType, Number, dispatch};
use gradus_kernels::{Fill, Level, Options, Stores, Write, Writer};
use proptest::prelude::*;

use Number::{Complex, Float, Int};

/// Compares fills with the plan: all elements of short plans, and parts of long ones.
fn check(plan: &impl Fill) {
    dispatch!(plan.dtype(),
        [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => check_as(plan),
        other => panic!("{other} has no Rust type"));
}

fn check_as<T: Write>(plan: &impl Fill) {
    const PART: u64 = 700;
    let starts = [0, 1, 255, plan.len() / 2, plan.len().saturating_sub(PART)];
    for lo in starts.into_iter().filter(|&lo| lo <= plan.len()) {
        let len = usize_of((plan.len() - lo).min(PART));
        let wanted: Vec<T> = (lo..).take(len).map(|i| T::from_number(plan.at(i))).collect();
        for level in Level::available() {
            for stores in [Stores::Cached, Stores::Streaming] {
                let options = Options { level: Some(level), threads: 1, stores };
                let mut out = vec![T::default(); len];
                Writer::new(plan, options).write(lo, &mut out);
                same(&wanted, &out, &format!("{level:?}, {stores:?}, from {lo}"));
            }
        }
        let middle = len / 3;
        let mut out = vec![T::default(); len];
        let (one, two) = out.split_at_mut(middle);
        Writer::new(&plan.slice(lo..lo + u64_of(middle)), Options::default()).write(0, one);
        Writer::new(plan, Options::default()).write(lo + u64_of(middle), two);
        same(&wanted, &out, &format!("in two parts from {lo}"));
    }
}

fn same<T: Write>(wanted: &[T], out: &[T], how: &str) {
    for (i, (wanted, out)) in wanted.iter().zip(out).enumerate() {
        // Not by value: NaN and the sign of zero count too.
        assert!(
            bytemuck::bytes_of(wanted) == bytemuck::bytes_of(out),
            "element {i} is {out:?}, not {wanted:?}: {how}"
        );
    }
}

fn range(start: Number, limit: Number, step: Number, dtype: DType) {
    check(&RangePlan::new(start, limit, step, dtype).unwrap());
}

fn linspace(start: Number, stop: Number, num: u64, dtype: DType) {
    check(&LinspacePlan::new(start, stop, num, true, dtype).unwrap());
}

fn logspace(base: Number, start: Number, stop: Number, num: u64, dtype: DType) {
    check(&LogspacePlan::new(base, start, stop, num, true, dtype).unwrap());
}

fn geomspace(start: Number, stop: Number, num: u64, dtype: DType) {
    check(&GeomspacePlan::new(start, stop, num, true, dtype).unwrap());
}

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];
const INTEGERS: [DType; 8] =
    [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

#[test]
fn ranges() {
    for dtype in INTEGERS {
        range(Int(-5), Int(3000), Int(3), dtype);
        range(Int(3000), Int(-5), Int(-7), dtype);
        range(Float(-200.5), Float(900.0), Float(0.75), dtype);
        range(Float(0.0), Float(30.0), Float(0.1), dtype);
        range(Int(0), Int(i128::from(u64::MAX)), Int(4), dtype);
    }
    for dtype in FLOATS {
        range(Float(-0.0), Float(100.0), Float(0.1), dtype);
        range(Float(100.0), Float(-100.0), Float(-0.3), dtype);
        range(Int(0), Int(1 << 40), Int(1), dtype);
        range(Int((1 << 60) + 1), Int((1 << 60) + 5000), Int(3), dtype);
        range(Float(0.0), Float(1e-310), Float(1e-313), dtype);
        range(Float(0.0), Float(1e-42), Float(1e-45), dtype);
        range(Float(-1.7e308), Float(1.7e308), Float(1e305), dtype);
    }
    range(Int(-2), Int(3), Int(1), DType::Bool);
}

#[test]
fn linspaces() {
    for dtype in FLOATS {
        for num in [1, 2, 3, 4, 5, 50, 256, 257, 1000, 1_000_003, 1 << 40] {
            linspace(Int(0), Int(1), num, dtype);
            linspace(Float(-1.0), Float(1.0), num, dtype);
            linspace(Float(-0.0), Float(0.0), num, dtype);
            linspace(Float(3.7), Float(-0.0), num, dtype);
            linspace(Int(1 << 53), Int((1 << 55) + 3), num, dtype);
            linspace(Float(f64::MIN), Float(f64::MAX), num, dtype);
            linspace(Float(5e-324), Float(1e-320), num, dtype);
            linspace(Float(0.1), Float(0.1), num, dtype);
            linspace(Float(f64::INFINITY), Float(f64::INFINITY), num, dtype);
        }
    }
    for dtype in INTEGERS {
        for num in [1, 2, 3, 4, 5, 50, 256, 257, 1000, 1_000_003] {
            linspace(Int(0), Int(127), num, dtype);
            linspace(Float(0.1), Float(99.9), num, dtype);
            linspace(Float(100.0), Float(-0.99), num, dtype);
            linspace(Float(1e-300), Float(2e-300), num, dtype);
        }
    }
    linspace(Int(i64::MIN.into()), Int(i64::MAX.into()), 1000, DType::I64);
    linspace(Int(0), Int(u64::MAX.into()), 1000, DType::U64);
    linspace(Complex(0.0, 1.0), Complex(1.0, -1.0), 300, DType::C64);
}

#[test]
fn logspaces() {
    for dtype in FLOATS {
        for num in [1, 2, 3, 4, 5, 50, 256, 257, 1000, 1_000_003, 1 << 40] {
            logspace(Int(10), Int(0), Int(3), num, dtype);
            logspace(Int(10), Int(-340), Int(320), num, dtype);
            logspace(Int(2), Int(5000), Int(-5000), num, dtype);
            logspace(Int(2), Int(-80), Int(80), num, dtype);
            logspace(Float(1.0 + f64::EPSILON), Int(0), Int(1000), num, dtype);
            logspace(Float(1e-320), Int(-1), Int(1), num, dtype);
            logspace(Int(1), Int(0), Int(9), num, dtype);
            logspace(Int(3), Int(1), Int(1), num, dtype);
            logspace(Int(0), Int(-1), Int(1), num.min(100), dtype);
            logspace(Int(-2), Int(-3), Int(3), num.min(100), dtype);
            logspace(Int(10), Float(1e300), Float(-1e300), num, dtype);
        }
    }
    for dtype in INTEGERS {
        let bits = i128::from(u8::try_from(dtype.bits()).unwrap());
        for num in [1, 2, 4, 50, 63, 257, 1000] {
            logspace(Int(2), Int(-3), Int(bits - 2), num, dtype);
            logspace(Int(10), Int(0), Float(2.1), num, dtype);
        }
    }
    logspace(Int(2), Int(0), Float(63.999_999), 1000, DType::U64);
    logspace(Complex(1.0, 1.0), Int(0), Int(5), 20, DType::C128);
}

#[test]
fn geomspaces() {
    for dtype in FLOATS {
        for num in [1, 2, 3, 4, 5, 50, 256, 257, 1000, 1_000_003] {
            geomspace(Int(1), Int(1000), num, dtype);
            geomspace(Int(-1), Int(-1000), num, dtype);
            geomspace(Float(5e-324), Float(f64::MAX), num, dtype);
            geomspace(Float(2.5), Float(2.5), num, dtype);
        }
    }
    for dtype in INTEGERS {
        for num in [2, 50, 1000] {
            geomspace(Int(1), Int(100), num, dtype);
        }
    }
    geomspace(Int(-1), Int(-100), 1000, DType::I8);
    geomspace(Int(-1), Int(-(1 << 62)), 63, DType::I64);
    geomspace(Complex(1.0, 0.0), Complex(-1.0, 0.0), 20, DType::C128);
}

#[test]
fn threads_change_nothing() {
    let plan = LogspacePlan::new(Int(10), Int(0), Int(10), 300_001, true, DType::F64).unwrap();
    let fill = |threads| {
        let mut out = vec![0f64; 300_001];
        gradus_kernels::fill_with(&plan, &mut out, Options { threads, ..Options::default() });
        out
    };
    let one = fill(1);
    assert_eq!(one, fill(0));
    assert_eq!(one, fill(3));
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        -1e3..1e3,
        (-1000i32..1000).prop_map(f64::from),
    ]
}

fn dtype() -> impl Strategy<Value = DType> {
    prop::sample::select(FLOATS.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_linspace(start in float(), stop in float(), num in 2u64..5000, dtype in dtype()) {
        linspace(Float(start), Float(stop), num, dtype);
    }

    #[test]
    fn any_range(start in -1e3..1e3, step in 1e-3..10.0, len in 1f64..3000.0, dtype in dtype()) {
        range(Float(start), Float(start + step * len), Float(step), dtype);
    }

    #[test]
    fn any_logspace(
        base in 0.01..100.0, start in -400.0..400.0, stop in -400.0..400.0, num in 2u64..5000, dtype in dtype(),
    ) {
        logspace(Float(base), Float(start), Float(stop), num, dtype);
    }

    #[test]
    fn any_geomspace(start in float(), stop in float(), num in 2u64..5000, dtype in dtype()) {
        if start != 0.0 && stop != 0.0 {
            geomspace(Float(start.abs()), Float(stop.abs()), num, dtype);
        }
    }

    #[test]
    fn any_integers(start in -128f64..127.9, stop in -128f64..127.9, num in 2u64..2000) {
        linspace(Float(start), Float(stop), num, DType::I8);
        linspace(Float(start * 1e9), Float(stop * 1e9), num, DType::I64);
        geomspace(Float(1.0 + start.abs()), Float(1.0 + stop.abs() * 1e15), num, DType::I64);
    }
}
