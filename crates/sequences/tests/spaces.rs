//! Linspace, logspace and geomspace against exact rationals and another library's powers.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_core::{DType, Number};
use gradus_sequences::{End, GeomspacePlan, LinspacePlan, LogspacePlan, Plan, SpaceError};
use gradus_testkit::{Real, nearest_f32, nearest_f64, power, real};
use proptest::prelude::*;

use Number::{Complex, Float, Int};

fn exact(x: Number) -> Real {
    match x {
        Int(x) => Real::from(x),
        Float(x) | Complex(x, _) => real(x),
    }
}

fn elements(plan: &impl Plan) -> Vec<Number> {
    (0..plan.len()).map(|i| plan.at(i)).collect()
}

/// The element that a type has for a real.
fn rounded(x: &Real, dtype: DType) -> Number {
    match dtype {
        DType::F64 => Float(nearest_f64(x)),
        DType::F32 => Float(nearest_f32(x).into()),
        _ => Int(i128::try_from(x.trunc()).unwrap()),
    }
}

fn linspace(start: Number, stop: Number, num: u64, dtype: DType) -> Result<LinspacePlan, SpaceError> {
    LinspacePlan::new(start, stop, num, true, dtype)
}

fn logspace(base: Number, ends: [Number; 2], num: u64, dtype: DType) -> Result<LogspacePlan, SpaceError> {
    LogspacePlan::new(base, ends[0], ends[1], num, true, dtype)
}

fn geomspace(start: Number, stop: Number, num: u64, dtype: DType) -> Result<GeomspacePlan, SpaceError> {
    GeomspacePlan::new(start, stop, num, true, dtype)
}

#[test]
fn few_samples_and_equal_ends() {
    for endpoint in [true, false] {
        let plan = |num| LinspacePlan::new(Int(3), Float(7.5), num, endpoint, DType::F64).unwrap();
        assert_eq!(elements(&plan(0)), []);
        assert_eq!(elements(&plan(1)), [Float(3.0)]);
        let last = if endpoint { 7.5 } else { 5.25 };
        assert_eq!(elements(&plan(2)), [Float(3.0), Float(last)]);
    }
    let equal = linspace(Float(0.1), Float(0.1), 3, DType::F64).unwrap();
    assert_eq!(elements(&equal), [Float(0.1); 3]);
    let infinite = linspace(Float(f64::INFINITY), Float(f64::INFINITY), 2, DType::F32).unwrap();
    assert_eq!(elements(&infinite), [Float(f64::INFINITY); 2]);
}

#[test]
fn a_single_sample_does_not_look_at_the_stop() {
    let nan = Float(f64::NAN);
    assert_eq!(elements(&linspace(Int(1), nan, 1, DType::I8).unwrap()), [Int(1)]);
    assert_eq!(elements(&logspace(Int(2), [Int(5), nan], 1, DType::I8).unwrap()), [Int(32)]);
    assert_eq!(elements(&geomspace(Int(9), nan, 1, DType::I8).unwrap()), [Int(9)]);
}

#[test]
fn zeros_are_positive_but_an_end_keeps_its_sign() {
    let plan = linspace(Float(-0.0), Float(0.0), 3, DType::F64).unwrap();
    assert_eq!(elements(&plan), [Float(-0.0), Float(0.0), Float(0.0)]);
    let plan = linspace(Float(-1.0), Float(1.0), 3, DType::F64).unwrap();
    assert_eq!(elements(&plan), [Float(-1.0), Float(0.0), Float(1.0)]);
}

#[test]
fn what_makes_no_sequence_is_refused() {
    use SpaceError::{Beyond, ComplexBase, NotFinite, NotReal, OutputType, Signs, TooLong, Zero};
    let (inf, i) = (f64::INFINITY, Complex(0.0, 1.0));
    let error = |result: Result<LinspacePlan, _>| result.unwrap_err();
    assert_eq!(error(linspace(Float(inf), Int(0), 2, DType::F64)), NotFinite(End::Start, inf));
    assert_eq!(error(linspace(Int(0), Float(inf), 2, DType::F64)), NotFinite(End::Stop, inf));
    assert_eq!(error(linspace(Int(0), i, 2, DType::F64)), NotReal(End::Stop));
    assert_eq!(error(linspace(Int(0), Int(1), 2, DType::String)), OutputType(DType::String));
    assert_eq!(error(linspace(Int(0), Int(1), 1 << 63, DType::F64)), TooLong(1 << 63));
    let beyond = |index, value| Beyond { dtype: DType::U8, index, value };
    assert_eq!(error(linspace(Int(0), Int(256), 3, DType::U8)), beyond(2, 256.0));
    assert_eq!(error(linspace(Int(-1), Int(9), 3, DType::U8)), beyond(0, -1.0));
    assert!(linspace(Float(-0.9), Float(255.9), 3, DType::U8).is_ok());

    let error = |result: Result<LogspacePlan, _>| result.unwrap_err();
    assert_eq!(error(logspace(i, [Int(0), Int(1)], 2, DType::F64)), ComplexBase);
    assert_eq!(error(logspace(Int(2), [Int(0), Int(8)], 9, DType::U8)), beyond(8, 256.0));
    assert_eq!(error(logspace(Int(-2), [Int(0), Int(3)], 4, DType::U8)), beyond(1, -2.0));
    assert!(matches!(
        error(logspace(Int(0), [Int(-1), Int(1)], 3, DType::I8)),
        Beyond { value: f64::INFINITY, .. }
    ));

    let error = |result: Result<GeomspacePlan, _>| result.unwrap_err();
    assert_eq!(error(geomspace(Int(0), Int(1), 2, DType::F64)), Zero(End::Start));
    assert_eq!(error(geomspace(Int(-1), Int(1), 2, DType::F64)), Signs);
}

/// IEEE 754 pow, at every kind of base and exponent.
#[test]
fn special_bases_are_those_of_pow() {
    let bases = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, f64::INFINITY, -f64::INFINITY, f64::NAN];
    let exponents = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, f64::INFINITY, -f64::INFINITY];
    for base in bases {
        for exponent in exponents {
            let [Float(power)] =
                elements(&logspace(Float(base), [Float(exponent); 2], 1, DType::F64).unwrap())[..]
            else {
                panic!("one float")
            };
            let wanted = base.powf(exponent);
            let same = power.to_bits() == wanted.to_bits() || power.is_nan() && wanted.is_nan();
            assert!(same || power == wanted && power != 0.0, "{base} ^ {exponent}: {power}, not {wanted}");
        }
    }
}

#[test]
fn integer_roots_are_exact() {
    let mut tested = 0;
    for k in 2..=30i128 {
        for m in 2..=40u32 {
            let Some(base) = k.checked_pow(m).filter(|&base| base <= i128::from(i64::MAX)) else { break };
            let plan = logspace(Int(base), [Int(0), Int(1)], u64::from(m) + 1, DType::I64).unwrap();
            let geometric = geomspace(Int(1), Int(base), u64::from(m) + 1, DType::I64).unwrap();
            let wanted: Vec<_> = (0..=m).map(|i| Int(k.pow(i))).collect();
            assert_eq!(elements(&plan), wanted, "{k}^{m}");
            assert_eq!(elements(&geometric), wanted, "{k}^{m}");
            tested += if m <= 12 && base < 1 << 53 { wanted.len() } else { 0 };
        }
    }
    assert_eq!(tested, 2411);
}

#[test]
fn complex_powers_on_axes_are_exact() {
    let i = Complex(0.0, 1.0);
    let quarters = logspace(i, [Int(0), Int(4)], 5, DType::C128).unwrap();
    let wanted = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)];
    assert_eq!(elements(&quarters), wanted.map(|(re, im)| Complex(re, im)));
    let powers = logspace(Complex(1.0, 1.0), [Int(0), Int(4)], 5, DType::C64).unwrap();
    let wanted = [(1.0, 0.0), (1.0, 1.0), (0.0, 2.0), (-2.0, 2.0), (-4.0, 0.0)];
    assert_eq!(elements(&powers), wanted.map(|(re, im)| Complex(re, im)));
    let real = logspace(Int(10), [Int(-1), Int(1)], 3, DType::C128).unwrap();
    assert_eq!(elements(&real), [Complex(0.1, 0.0), Complex(1.0, 0.0), Complex(10.0, 0.0)]);
    let negative = logspace(Int(-4), [Float(0.5), Int(1)], 2, DType::C128).unwrap();
    assert_eq!(elements(&negative), [Complex(0.0, 2.0), Complex(-4.0, 0.0)]);
}

#[test]
fn spirals_go_the_way_that_numpy_goes_from_axes_and_diagonals() {
    let middle = |start, stop| elements(&geomspace(start, stop, 3, DType::C128).unwrap())[1];
    for (start, stop, wanted) in [
        ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0)),
        ((-1.0, 0.0), (1.0, 0.0), (0.0, 1.0)),
        ((0.0, 1.0), (0.0, -1.0), (1.0, 0.0)),
        ((0.0, -1.0), (0.0, 1.0), (-1.0, 0.0)),
        ((1.0, 0.0), (0.0, -4.0), (2f64.sqrt(), -2f64.sqrt())),
        ((0.0, -4.0), (1.0, 0.0), (2f64.sqrt(), -2f64.sqrt())),
        ((0.0, -1.0), (-4.0, 0.0), (-2f64.sqrt(), -2f64.sqrt())),
        ((1.0, 1.0), (-1.0, -1.0), (-1.0, 1.0)),
        ((-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)),
        ((1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)),
        ((-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)),
        ((0.0, 1.0), (0.0, 16.0), (0.0, 4.0)),
        ((1.0, 0.0), (0.0, 4.0), (2f64.sqrt(), 2f64.sqrt())),
        ((3.0, 4.0), (12.0, 16.0), (6.0, 8.0)),
    ] {
        let complex = |(re, im)| Complex(re, im);
        assert_eq!(middle(complex(start), complex(stop)), complex(wanted), "{start:?} to {stop:?}");
    }
}

fn finite() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(Float),
        (-1e6..1e6).prop_map(Float),
        (-1000i128..1000).prop_map(Int),
        any::<i64>().prop_map(|x| Int(x.into())),
    ]
}

fn positive() -> impl Strategy<Value = Number> {
    prop_oneof![
        (1e-3..1e3).prop_map(Float),
        (1i128..100).prop_map(Int),
        any::<u64>().prop_map(|bits| Float(f64::from_bits(bits >> 2).max(5e-324))),
        (1.0..1.0 + 1e-9).prop_map(Float),
    ]
}

/// A part of a complex number: often zero or one, so that numbers lie on the axes; or any finite
/// double.
fn part() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => prop::sample::select(vec![0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -10.0]),
        1 => -1e3..1e3,
        1 => any::<f64>().prop_filter("finite", |x| x.is_finite()),
    ]
}

fn complex() -> impl Strategy<Value = Number> {
    (part(), part()).prop_map(|(re, im)| Complex(re, im))
}

proptest! {
    #[test]
    fn complex_calls_do_not_panic(
        ends in [complex(), complex()], base in complex(), num in 0u64..7, endpoint: bool, single: bool,
    ) {
        let dtype = if single { DType::C64 } else { DType::C128 };
        let [start, stop] = ends;
        if let Ok(plan) = GeomspacePlan::new(start, stop, num, endpoint, dtype) {
            prop_assert_eq!(elements(&plan).len(), usize::try_from(num).unwrap());
            prop_assert!(elements(&plan).into_iter().all(|x| matches!(x, Complex(..))));
        }
        if let Ok(plan) = LinspacePlan::new(start, stop, num, endpoint, dtype) {
            prop_assert!(elements(&plan).into_iter().all(|x| matches!(x, Complex(..))));
        }
        if let Ok(plan) = LogspacePlan::new(base, start, stop, num, endpoint, dtype) {
            prop_assert!(elements(&plan).into_iter().all(|x| matches!(x, Complex(..))));
        }
    }

    #[test]
    fn linspace_is_the_exact_value_rounded_once(
        start in finite(), stop in finite(), num in 1u64..1000, i in 0u64..1000, endpoint: bool, single: bool,
    ) {
        let dtype = if single { DType::F32 } else { DType::F64 };
        let i = i % num;
        let plan = LinspacePlan::new(start, stop, num, endpoint, dtype).unwrap();
        let divisor = if endpoint { num - 1 } else { num }.max(1);
        let wanted = exact(start) + (exact(stop) - exact(start)) * Real::from(i) / Real::from(divisor);
        let Float(got) = plan.at(i) else { panic!("a float") };
        let Float(wanted) = rounded(&wanted, dtype) else { panic!("a float") };
        prop_assert_eq!(got, wanted);
        let (low, high) = (i / 2, (i + num).div_ceil(2));
        prop_assert_eq!(plan.slice(low..high).at(i - low), plan.at(i));
    }

    #[test]
    fn integers_are_rounded_toward_zero(start in -100i128..100, stop in -100i128..100, num in 2u64..50, i in 0u64..50) {
        let i = i % num;
        let plan = linspace(Int(start), Int(stop), num, DType::I8).unwrap();
        let wanted = exact(Int(start)) + exact(Int(stop - start)) * Real::from(i) / Real::from(num - 1);
        prop_assert_eq!(plan.at(i), rounded(&wanted, DType::I8));
    }

    #[test]
    fn logspace_is_the_exact_value_rounded_once(
        base in positive(), start in -30.0..30.0, stop in -30.0..30.0, num in 2u64..1000, i in 0u64..1000, single: bool,
    ) {
        let dtype = if single { DType::F32 } else { DType::F64 };
        let i = i % num;
        let (start, stop) = (real(start), real(stop));
        let exponent = &start + (&stop - &start) * Real::from(i) / Real::from(num - 1);
        let ends = [&start, &stop].map(|x| Float(nearest_f64(x)));
        let plan = logspace(base, ends, num, dtype).unwrap();
        prop_assert_eq!(plan.at(i), rounded(&power(&exact(base), &exponent), dtype));
    }

    #[test]
    fn geomspace_is_the_exact_value_rounded_once(
        start in positive(), stop in positive(), num in 3u64..1000, i in 0u64..1000, single: bool,
    ) {
        let dtype = if single { DType::F32 } else { DType::F64 };
        let i = i % num;
        let plan = geomspace(start, stop, num, dtype).unwrap();
        let (start, stop) = (exact(start), exact(stop));
        let ratio = power(&(stop / &start), &(Real::from(i) / Real::from(num - 1)));
        prop_assert_eq!(plan.at(i), rounded(&(start * ratio), dtype));
    }

    #[test]
    fn complex_powers_are_rounded_once(
        base in (-3.0..3.0, -3.0..3.0), exponent in (-5.0..5.0, -5.0..5.0),
    ) {
        let plan = logspace(Complex(base.0, base.1), [Complex(exponent.0, exponent.1); 2], 1, DType::C128).unwrap();
        let [ln, angle] = gradus_testkit::logarithm(&real(base.0), &real(base.1));
        let (a, b) = (real(exponent.0), real(exponent.1));
        let [re, im] = gradus_testkit::exponential(&(&a * &ln - &b * &angle), &(&a * &angle + &b * &ln));
        prop_assert_eq!(plan.at(0), Complex(nearest_f64(&re), nearest_f64(&im)));
    }

    #[test]
    fn spirals_are_rounded_once(
        start in (-3.0..3.0, -3.0..3.0), stop in (-3.0..3.0, -3.0..3.0), num in 2u64..50, i in 0u64..50,
    ) {
        let i = i % num;
        let plan = geomspace(Complex(start.0, start.1), Complex(stop.0, stop.1), num, DType::C128).unwrap();
        let (a, b) = ((real(start.0), real(start.1)), (real(stop.0), real(stop.1)));
        let [from, first] = gradus_testkit::logarithm(&a.0, &a.1);
        let [to, _] = gradus_testkit::logarithm(&b.0, &b.1);
        let [_, turn] = gradus_testkit::logarithm(&(&b.0 * &a.0 + &b.1 * &a.1), &(&b.1 * &a.0 - &b.0 * &a.1));
        let weight = Real::from(i) / Real::from(num - 1);
        let log = &from + (&to - &from) * &weight;
        let [re, im] = gradus_testkit::exponential(&log, &(first + turn * weight));
        prop_assert_eq!(plan.at(i), Complex(nearest_f64(&re), nearest_f64(&im)));
    }
}
