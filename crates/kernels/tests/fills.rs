//! Every fill has the bits that the plan gives: at every level, in every part, past the caches and
//! through them.

#![cfg(feature = "vectors")]
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_core::convert::{self, FromNumber as _, Rules, u64_of, usize_of};
use gradus_core::{DType, Limits, Number, dispatch};
use gradus_kernels::{Fill, Level, Options, Stores, Write, Writer, fill_codes, tensor};
use gradus_sequences::{ExactNumber, GeomspacePlan, LinspacePlan, LogspacePlan, Plan as _, RangePlan};
use half::{bf16, f16};
use proptest::prelude::*;

mod cases;

use cases::{Case, Check};

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
                let mut options = Options::ONE_THREAD;
                (options.level, options.stores) = (Some(level), stores);
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

/// At every level.
struct Levels;

impl Check for Levels {
    fn check(&self, plan: &impl Fill) {
        check(plan);
    }
}

fn check_all(cases: &[Case]) {
    for case in cases {
        case.with(&Levels);
    }
}

#[test]
fn ranges() {
    check_all(&cases::ranges());
}

#[test]
fn linspaces() {
    check_all(&cases::linspaces());
}

/// Every fifth case of the table.
#[test]
fn logspaces() {
    cases::logspaces().iter().step_by(5).for_each(|case| case.with(&Levels));
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_logspaces() {
    check_all(&cases::logspaces());
}

#[test]
fn geomspaces() {
    check_all(&cases::geomspaces());
}

/// Complex powers: general, on axes, real ones, those with a part that is zero, those that leave
/// the range of their type or of doubles, and those of a slope that needs short tables.
#[test]
fn complex_powers() {
    let (complex, int) = (Number::Complex, Number::Int);
    let powers = [
        (int(10), int(0), complex(1.0, 1.0)),
        (int(10), int(-3), int(3)),
        (complex(0.0, 1.0), int(0), int(399)),
        (complex(-2.0, 0.0), int(0), complex(12.0, 0.0)),
        (Number::Float(1.5), complex(-2.0, -1.0), complex(2.0, 1.0)),
        (complex(0.3, -4.0), complex(-1e3, 2.0), complex(1e3, -2.0)),
        (int(10), complex(-60.0, 30.0), complex(60.0, -30.0)),
        (int(2), complex(0.0, -1e9), complex(1.0, 1e9)),
        (int(0), int(1), complex(2.0, 1.0)),
        (complex(f64::INFINITY, 0.0), int(1), complex(2.0, 1.0)),
        (int(1), complex(1.0, 1.0), complex(2.0, 1.0)),
    ];
    let ends = [
        (complex(1.0, 0.0), complex(-1.0, 0.0)),
        (complex(1.0, 1.0), complex(3.0, 3.0)),
        (complex(0.0, -2.0), complex(0.0, -1e-3)),
        (int(-1), int(-1000)),
        (complex(3e-5, -7.0), complex(-0.1, 1e30)),
        (complex(1e-300, 1.0), complex(1e300, -1.0)),
        (complex(0.0, 1.0), complex(0.0, -1.0)),
    ];
    for dtype in [DType::C64, DType::C128] {
        for num in [11, 12, 400] {
            for (base, start, stop) in powers {
                check(&LogspacePlan::new(base, start, stop, num, true, dtype).unwrap());
            }
            for (start, stop) in ends {
                check(&GeomspacePlan::new(start, stop, num, false, dtype).unwrap());
            }
        }
        let (start, stop) = (complex(-2.0, 0.5), complex(0.25, 9.0));
        check(&LogspacePlan::new(int(7), start, stop, 1 << 20, true, dtype).unwrap());
        check(&GeomspacePlan::new(start, stop, 1_000_003, true, dtype).unwrap());
    }
}

/// Compares all elements, whose runs end at exponents, at signs and after a number of elements.
fn check_whole<T: Write>(plan: &(impl Fill + std::fmt::Debug)) {
    let wanted: Vec<T> = (0..plan.len()).map(|i| T::from_number(plan.at(i))).collect();
    for level in Level::available() {
        for stores in [Stores::Cached, Stores::Streaming] {
            let mut options = Options::ONE_THREAD;
            (options.level, options.stores) = (Some(level), stores);
            let mut out = vec![T::default(); wanted.len()];
            Writer::new(plan, options).write(0, &mut out);
            same(&wanted, &out, &format!("{level:?}, {stores:?}: {plan:?}"));
        }
    }
}

/// Powers of which some are in the middle of two singles, and some are no normal singles.
#[test]
fn whole_powers_of_singles() {
    let odd = (16_777_217..16_777_249).step_by(2).map(|base| (base, -1, 3));
    for (base, start, stop) in odd.chain([(2, -160, 130), (10, -47, 40)]) {
        for num in [101, 2001] {
            for (start, stop) in [(start, stop), (stop, start)] {
                let [base, start, stop] = [base, start, stop].map(Number::Int);
                check_whole::<f32>(&LogspacePlan::new(base, start, stop, num, true, DType::F32).unwrap());
            }
        }
    }
}

/// Checks lines between ends, in both directions, of these numbers of elements.
fn check_lines<T: Write>(ends: &[(f64, f64)], lengths: &[u64]) {
    let float = Number::Float;
    for &(one, other) in ends {
        for &num in lengths {
            for (start, stop) in [(one, other), (other, one)] {
                check_whole::<T>(&LinspacePlan::new(float(start), float(stop), num, true, T::DTYPE).unwrap());
            }
        }
    }
}

#[test]
fn whole_lines_of_floats() {
    fn check<T: Write>() {
        // From zero, through it, with and without bits that are cut off, and from the smallest
        // numbers to beyond the largest of some types.
        let ends = [(0.0, 1000.0), (-3.7, 91.0), (-1.0, -1e-9), (1.5, 1.625), (-7e4, 7e4), (1e-40, 3e-38)];
        check_lines::<T>(&ends, &[4097, 9000, 12_289]);
        // Ties of exact lines, and of others: every third number is an integer.
        check_lines::<T>(&[(-9000.0, 9000.0), (0.0, 6000.0)], &[9001, 18_001]);
        // Many elements with the same code, up and down.
        check_lines::<T>(&[(1.0, 1.0 + 1e-4), (-0.5, -0.499)], &[20_000]);
    }
    check::<f16>();
    check::<bf16>();
    check::<f32>();
    check::<f64>();
}

/// A line of so many elements that the error bound of one exceeds its bits, so that each is written
/// alone.
#[test]
fn single_elements_of_the_longest_line() {
    let (start, num) = (2f64.powi(-70) * 1.1, i64::MAX.unsigned_abs());
    let plan = LinspacePlan::new(Number::Float(start), Number::Float(1.0), num, true, DType::F64).unwrap();
    for lo in [0, 1, 2, num / 2, num - 1] {
        let mut out = [0f64];
        Writer::new(&plan, Options::ONE_THREAD).write(lo, &mut out);
        same(&[f64::from_number(plan.at(lo))], &out, &format!("element {lo}"));
    }
}

#[test]
fn whole_lines_of_integers() {
    fn check<T: Write>(lowest: f64, largest: f64) {
        let ends = [(lowest, largest), (0.0, largest), (0.3, 99.9), (largest / 3.0, largest / 2.0)];
        check_lines::<T>(&ends, &[4097, 9000, 12_289]);
        // Numbers that are integers, on lines that are exact and on others.
        check_lines::<T>(&[(0.0, 100.0), (lowest, lowest + 100.0)], &[101, 301, 12_801, 30_001]);
    }
    check::<i8>(-127.0, 127.0);
    check::<u8>(0.0, 255.0);
    check::<i16>(-32_767.0, 32_767.0);
    check::<u16>(0.0, 65_535.0);
    check::<i32>(-2e9, 2e9);
    check::<u32>(0.0, 4e9);
    check::<i64>(-9e18, 9e18);
    check::<u64>(0.0, 1.8e19);
}

#[test]
fn threads_change_nothing() {
    let plan = LogspacePlan::new(Number::Int(10), Number::Int(0), Number::Int(10), 300_001, true, DType::F64)
        .unwrap();
    let fill = |threads| {
        let mut out = vec![0f64; 300_001];
        let mut options = Options::default();
        options.threads = threads;
        gradus_kernels::fill_with(&plan, &mut out, options);
        out
    };
    let one = fill(1);
    assert_eq!(one, fill(0));
    assert_eq!(one, fill(3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_linspace(case in cases::any_linspace()) {
        case.with(&Levels);
    }

    #[test]
    fn any_range(case in cases::any_range()) {
        case.with(&Levels);
    }

    #[test]
    #[ignore = "long: `cargo xtask test long` runs it"]
    fn long_any_logspace(case in cases::any_logspace()) {
        case.with(&Levels);
    }

    #[test]
    #[ignore = "long: `cargo xtask test long` runs it"]
    fn long_any_geomspace(case in cases::any_geomspace()) {
        case.with(&Levels);
    }

    #[test]
    #[ignore = "long: `cargo xtask test long` runs it"]
    fn long_any_integers(cases in cases::any_integers()) {
        check_all(&cases);
    }
}

#[test]
fn every_real_type_can_be_filled() {
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.is_real()) {
        let plan = RangePlan::new(Number::Int(0), Number::Int(2), Number::Int(1), dtype).unwrap();
        let tensor = tensor(&plan, &Limits::DEFAULT, 0).unwrap();
        assert_eq!((tensor.dtype(), tensor.shape().dims()), (dtype, &[2][..]));
        assert_eq!(tensor.number(1).unwrap(), plan.at(1), "{dtype}");
    }
}

/// Compares the codes of all elements, and those of a part, with the plan.
fn check_codes(plan: &impl Fill) {
    let dtype = plan.dtype();
    let code = |i| u8::try_from(convert::code(dtype, plan.at(i), Rules::IEEE)).unwrap();
    let wanted: Vec<u8> = (0..plan.len()).map(code).collect();
    let mut out = vec![0; wanted.len()];
    fill_codes(plan, 0, &mut out, Options::default());
    let place = wanted.iter().zip(&out).position(|(wanted, out)| wanted != out);
    assert_eq!(place, None, "{dtype}, of {} elements", wanted.len());
    let lo = wanted.len() / 3;
    let mut out = vec![0; wanted.len() / 2];
    fill_codes(plan, u64_of(lo), &mut out, Options::ONE_THREAD);
    assert!(wanted[lo..].starts_with(&out), "{dtype}, from {lo}");
}

#[test]
fn codes_are_those_of_the_plan() {
    let coded =
        |dtype: &&DType| dtype.is_real() && dtype.bits() <= 8 && !matches!(dtype, DType::I8 | DType::U8);
    let float = Number::Float;
    for &dtype in DType::ALL.iter().filter(coded) {
        for num in [1, 2, 3, 5, 50, 3001] {
            check_codes(&LinspacePlan::new(float(0.3), float(1.0), num, true, dtype).unwrap());
            check_codes(&LogspacePlan::new(float(2.0), float(-9.0), float(0.9), num, true, dtype).unwrap());
            check_codes(&GeomspacePlan::new(float(0.01), float(1.9), num, false, dtype).unwrap());
            check_codes(
                &RangePlan::new(Number::Int(5), Number::Int(-i128::from(num)), Number::Int(-1), dtype)
                    .unwrap(),
            );
            check_codes(&RangePlan::new(float(-40.0), float(40.0), float(0.07), dtype).unwrap());
            if dtype.is_float() {
                // Beyond the largest on both sides, through zeros of both signs, and far away.
                check_codes(&LinspacePlan::new(float(-1e6), float(1e6), num, true, dtype).unwrap());
                check_codes(&LinspacePlan::new(float(-0.0), float(-1e-3), num, true, dtype).unwrap());
                check_codes(&LinspacePlan::new(float(2.0), float(-0.0), num, true, dtype).unwrap());
                check_codes(
                    &LogspacePlan::new(float(10.0), float(-9e5), float(9e5), num, true, dtype).unwrap(),
                );
                check_codes(
                    &LogspacePlan::new(float(-2.0), float(-4.0), float(4.0), num.min(9), true, dtype)
                        .unwrap(),
                );
                check_codes(&GeomspacePlan::new(float(-1e-5), float(-1e5), num, true, dtype).unwrap());
            } else if matches!(dtype, DType::I2 | DType::I4) {
                check_codes(&LinspacePlan::new(float(0.9), float(-1.7), num, true, dtype).unwrap());
                check_codes(&GeomspacePlan::new(float(-0.2), float(-1.9), num, true, dtype).unwrap());
            }
        }
    }
}

/// Elements that are in the middle of two codes, or integers, and a start so far away that indices
/// of crossings are rounded.
#[test]
fn codes_at_their_crossings_are_those_of_the_plan() {
    let (int, float) = (Number::Int, Number::Float);
    let both = |one, other, check: &dyn Fn(Number, Number)| {
        check(one, other);
        check(other, one);
    };
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.is_float() && dtype.bits() <= 8) {
        for (one, other) in [(0, 6), (-448, 448), (1, 3), (-32, -1)] {
            both(int(one), int(other), &|start, stop| {
                check_codes(&LinspacePlan::new(start, stop, 7169, true, dtype).unwrap());
            });
        }
        both(float(1.0 + 1e-9), float(1.0 - 1e-9), &|start, stop| {
            check_codes(&LinspacePlan::new(start, stop, 9000, true, dtype).unwrap());
        });
        check_codes(&LogspacePlan::new(int(2), int(-9), int(9), 5401, true, dtype).unwrap());
        check_codes(&LogspacePlan::new(float(1.5), int(-20), int(9), 2901, true, dtype).unwrap());
    }
    check_codes(&RangePlan::new(int(0), int(3), float(0.07), DType::Bool).unwrap());
    for (dtype, sign) in [(DType::I8, -1), (DType::U8, 1)] {
        for (base, start, stop) in [(2, -2, 6), (3, 0, 4), (5, -1, 3)] {
            both(int(start), int(stop), &|start, stop| {
                check_as_codes(&LogspacePlan::new(int(base), start, stop, 9001, true, dtype).unwrap());
            });
        }
        both(int(sign), int(127 * sign), &|start, stop| {
            check_as_codes(&GeomspacePlan::new(start, stop, 5000, true, dtype).unwrap());
        });
    }
}

/// Compares all elements of a type of 8 bits.
fn check_as_codes(plan: &(impl Fill + std::fmt::Debug)) {
    if plan.dtype() == DType::I8 { check_whole::<i8>(plan) } else { check_whole::<u8>(plan) }
}

#[test]
fn a_range_that_is_too_large_is_refused_before_memory_is_taken() {
    let plan = RangePlan::new(Number::Int(0), Number::Int(1 << 62), Number::Int(1), DType::I64).unwrap();
    let message = tensor(&plan, &Limits::DEFAULT, 0).unwrap_err().to_string();
    assert_eq!(
        message,
        "cannot allocate: number of bytes is 36893488147419103232, expected at most 4294967296 (--max-bytes)"
    );
}

#[test]
fn fractions_are_written_as_their_plans_have_them() {
    let read = |text: &str| text.parse::<ExactNumber>().unwrap();
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::U8] {
        check(&RangePlan::new(read("0.1"), read("90.07"), read("1/30"), dtype).unwrap());
        check(&RangePlan::new(read("0"), read("1e-25"), read("1e-28"), dtype).unwrap());
        check(&LinspacePlan::new(read("-0.1"), read("253/3"), 3001, true, dtype).unwrap());
        check(&LogspacePlan::new(read("0.1"), read("1/3"), read("-2.1"), 3001, true, dtype).unwrap());
        check(&GeomspacePlan::new(read("1e-3"), read("100.1"), 3001, true, dtype).unwrap());
    }
}
