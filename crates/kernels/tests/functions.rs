//! Functions against arbitrary precision, and against the platform's own functions of float64 where
//! those leave no doubt about the nearest element.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod rounded;

use gradus_core::Limits;
use gradus_core::convert::FromNumber;
use gradus_kernels::{Call, Course, Float, Function, Level, Options, power};
use gradus_testkit::{Real, activation, function, real, real_power};
use half::{bf16, f16};
use rounded::Rounded;

/// Parameters for all functions.
const PARAMETERS: [f64; 2] = [1.25, 0.5];

/// The value by the functions of the platform's float64; relatively off by less than 2^-46, and
/// those of the error function and of Gelu by less than 2^-42.
fn double(function: Function, x: f64) -> f64 {
    let [a, b] = PARAMETERS;
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    match function {
        Function::Acos => x.acos(),
        Function::Acosh => {
            if x < 1.0 {
                f64::NAN
            } else {
                libm::acosh(x)
            }
        }
        Function::Affine => a * x + b,
        Function::Asin => x.asin(),
        Function::Asinh => libm::asinh(x),
        Function::Atan => x.atan(),
        Function::Atanh => libm::atanh(x),
        Function::Celu => {
            if x < 0.0 {
                a * (x / a).exp_m1()
            } else {
                x
            }
        }
        Function::Cos => x.cos(),
        Function::Cosh => x.cosh(),
        Function::Elu => {
            if x < 0.0 {
                a * x.exp_m1()
            } else {
                x
            }
        }
        Function::Erf => libm::erf(x),
        Function::Exp => x.exp(),
        Function::Gelu => x * (0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)),
        Function::GeluTanh => {
            x * sigmoid((8.0 / std::f64::consts::PI).sqrt() * (x + 44715.0 * (x * x * x) / 1e6))
        }
        Function::HardSigmoid => (a * x + b).clamp(0.0, 1.0),
        Function::HardSwish => x * (x + 3.0).clamp(0.0, 6.0) / 6.0,
        Function::LeakyRelu => {
            if x < 0.0 {
                a * x
            } else {
                x
            }
        }
        Function::Log => x.ln(),
        Function::Mish => {
            let power = x.min(300.0).exp();
            let grown = power * (power + 2.0);
            x * (grown / (grown + 2.0))
        }
        Function::Relu => {
            if x <= 0.0 {
                0.0
            } else {
                x
            }
        }
        Function::ScaledTanh => a * (b * x).tanh(),
        Function::Selu => b * if x < 0.0 { a * x.exp_m1() } else { x },
        Function::Shrink => {
            if x < -a {
                x + b
            } else if x > a {
                x - b
            } else {
                0.0
            }
        }
        Function::Sigmoid => sigmoid(x),
        Function::Sin => x.sin(),
        Function::Sinh => x.sinh(),
        Function::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
        Function::Softsign => x / (1.0 + x.abs()),
        Function::Sqrt => x.sqrt(),
        Function::Swish => x * sigmoid(a * x),
        Function::Tan => x.tan(),
        Function::Tanh => x.tanh(),
        Function::ThresholdedRelu => {
            if x > a {
                x
            } else {
                0.0
            }
        }
        other => panic!("{other:?} has no reference"),
    }
}

/// The exact value, where it is defined and finite.
fn exact(called: Function, x: f64) -> Option<Real> {
    let name = format!("{called:?}");
    let x = real(x);
    match called {
        Function::Acos
        | Function::Acosh
        | Function::Asin
        | Function::Asinh
        | Function::Atan
        | Function::Atanh
        | Function::Cos
        | Function::Cosh
        | Function::Exp
        | Function::Log
        | Function::Sigmoid
        | Function::Sin
        | Function::Sinh
        | Function::Softplus
        | Function::Sqrt
        | Function::Tan
        | Function::Tanh => function(&name, &x),
        _ => activation(&name, &x, [&real(PARAMETERS[0]), &real(PARAMETERS[1])]),
    }
}

/// The correctly rounded value.
fn wanted<T: Float + Rounded>(function: Function, x: f64) -> T {
    let y = double(function, x);
    if y.is_nan() {
        return T::from_f64(f64::NAN);
    }
    let wide = matches!(function, Function::Erf | Function::Gelu | Function::GeluTanh);
    let bound = if wide { 2f64.powi(-42) } else { 2f64.powi(-46) };
    let [low, high] = [1.0 - bound, 1.0 + bound].map(|factor| T::from_f64(y * factor));
    if bytes(&[low]) == bytes(&[high]) {
        return low;
    }
    exact(function, x).map_or_else(|| T::from_f64(y), |exact| T::rounded(&exact))
}

fn bytes<T: Float>(x: &[T]) -> &[u8] {
    bytemuck::cast_slice(x)
}

fn call(function: Function) -> Call {
    Call { function, parameters: PARAMETERS }
}

fn map<T: Float>(function: Function, x: &[T], options: Options) -> Vec<T> {
    let mut out = vec![T::default(); x.len()];
    call(function).map(x, &mut out, options, &Limits::DEFAULT).unwrap();
    out
}

#[test]
fn hyperbolic_functions_beyond_doubles_are_infinite() {
    let x = [710.5f64, 711.9, 713.0];
    assert_eq!(map(Function::Cosh, &x, Options::ONE_THREAD), [f64::INFINITY; 3]);
    assert_eq!(map(Function::Sinh, &x.map(|x| -x), Options::ONE_THREAD), [f64::NEG_INFINITY; 3]);
    assert!(map(Function::Cosh, &[710.4f64], Options::ONE_THREAD)[0].is_finite());
}

fn levels() -> Vec<Options> {
    let options = |level| {
        let mut options = Options::ONE_THREAD;
        options.level = Some(level);
        options
    };
    #[cfg(feature = "vectors")]
    let levels = Level::available();
    #[cfg(not(feature = "vectors"))]
    let levels = [Level::Portable];
    levels.into_iter().map(options).collect()
}

/// Checks all functions of these elements.
fn check<T: Float + Rounded + Into<f64>>(x: &[T], levels: &[Options]) {
    for &function in Function::ALL {
        let wanted: Vec<T> = x.iter().map(|&x| wanted(function, x.into())).collect();
        for options in levels {
            let got = map(function, x, *options);
            if bytes(&got) == bytes(&wanted) {
                continue;
            }
            let place = (0..x.len()).find(|&i| bytes(&got[i..=i]) != bytes(&wanted[i..=i])).unwrap();
            let (x, got, wanted) = (x[place], got[place], wanted[place]);
            panic!("{function:?}({x:?}) is {got:?}, expected {wanted:?}: {options:?}");
        }
    }
}

#[test]
fn all_numbers_of_16_bits_are_rounded_correctly_at_every_level() {
    let codes = || 0..=u16::MAX;
    check(&codes().map(f16::from_bits).collect::<Vec<_>>(), &levels());
    check(&codes().map(bf16::from_bits).collect::<Vec<_>>(), &levels());
}

/// Numbers of float32, one of each `step`.
fn singles(step: usize) -> Vec<f32> {
    (0..=u32::MAX).step_by(step).map(f32::from_bits).collect()
}

#[test]
fn numbers_of_float32_are_rounded_correctly_at_every_level() {
    check(&singles(300_007), &levels());
}

#[test]
#[ignore = "long: a million numbers of each function"]
fn long_numbers_of_float32_are_rounded_correctly() {
    check(&singles(4001), &[Options::default()]);
}

/// Arguments of every size, and next to those where functions begin, end or turn.
fn arguments(random: &mut fastrand::Rng, count: usize) -> Vec<f64> {
    let ends: [f64; 5] = [0.5, 1.0, 3.0, 30.0, 709.7];
    let beside = ends.iter().flat_map(|&x| [x, x.next_up(), x.next_down()]).flat_map(|x| [x, -x]);
    let random = (0..count).map(|_| (random.f64() - 0.5) * 2f64.powi(random.i32(-40..8)));
    beside.chain(random).collect()
}

/// Float64: the error in units of the last place of the result.
#[test]
fn functions_of_float64_are_less_than_a_unit_away() {
    let mut random = fastrand::Rng::with_seed(7);
    for &function in Function::ALL {
        let most = if function == Function::Gelu { 2 } else { 1 };
        let x = arguments(&mut random, 24);
        for (&x, y) in x.iter().zip(map(function, &x, Options::default())) {
            // The reference has too few bits where the error function is this near to 1, and pairs
            // have where a power is subnormal.
            let near = if matches!(function, Function::Erf | Function::Gelu) { 12.0 } else { 700.0 };
            if !y.is_finite() || x < -near || (x > near && near < 700.0) {
                continue;
            }
            let Some(exact) = exact(function, x) else { continue };
            let unit = real(y.abs().next_up()) - real(y.abs());
            let off = (real(y) - exact) / unit;
            assert!(
                off < Real::from(most) && off > -Real::from(most),
                "{function:?}({x:e}) is {y:e}: {:.3} units away",
                off.to_f64().value()
            );
        }
    }
}

/// Float64 has no bound that tells its bits; but the operations that it is computed by have one
/// result each, on all platforms.
#[test]
fn bits_of_float64_are_the_same_everywhere() {
    let mut random = fastrand::Rng::with_seed(8);
    let x = arguments(&mut random, 2000);
    let mut digest = 0xcbf2_9ce4_8422_2325u64;
    for &function in Function::ALL {
        for y in map(function, &x, Options::default()) {
            digest = (digest ^ y.to_bits()).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    assert_eq!(digest, 0xaebe_05ce_f1ef_d8c4);
}

#[test]
fn infinite_parameters_give_what_the_formula_does() {
    let call = Call { function: Function::Swish, parameters: [f64::INFINITY, 0.0] };
    let mut out = [0f32; 3];
    call.map(&[0.0, 2.0, -2.0], &mut out, Options::default(), &Limits::DEFAULT).unwrap();
    assert!(out[0].is_nan() && out[1] == 2.0 && out[2] == 0.0, "{out:?}");
}

#[test]
fn threads_change_no_bit() {
    // Enough elements for several threads.
    let x: Vec<f32> = singles(20_011);
    let one = map(Function::Tanh, &x, Options::ONE_THREAD);
    let mut options = Options::default();
    options.threads = 7;
    assert!(bytes(&one) == bytes(&map(Function::Tanh, &x, options)));
}

fn check_powers<T: Float + Rounded>(pairs: impl Iterator<Item = [f64; 2]>) {
    for [base, exponent] in pairs {
        // Exactly, where it may be in the middle between two elements.
        let whole = (0..8u8).find(|&whole| f64::from(whole) == exponent);
        let exact = whole.map(|whole| (0..whole).fold(Real::ONE, |power, _| power * real(base)));
        let Some(exact) = exact.or_else(|| real_power(&real(base), &real(exponent))) else { continue };
        let (got, wanted): (T, T) = (power(base, exponent), T::rounded(&exact));
        assert!(bytes(&[got]) == bytes(&[wanted]), "{base}^{exponent} is {got:?}, expected {wanted:?}");
    }
}

#[test]
fn powers_are_rounded_correctly() {
    let mut random = fastrand::Rng::with_seed(9);
    // Squares that are in the middle between two numbers, cubes and roots of few bits.
    let middle = (0..200).map(|i| [f64::from(4097 + 2 * i), 2.0]);
    let few = (1..60).flat_map(|i| [3.0, 0.5, -1.0, -2.0, 1.5].map(|exponent| [f64::from(i), exponent]));
    let negative = (1..40).flat_map(|i| [2.0, 3.0, -3.0].map(|exponent| [-f64::from(i) / 8.0, exponent]));
    check_powers::<f32>(middle.chain(few.clone()).chain(negative.clone()));
    check_powers::<f16>(few.chain(negative));
    let single = |x: f32| f64::from(x);
    check_powers::<f32>(
        (0..400).map(|_| [single(random.f32() * 9.0 + 0.01), single(random.f32() * 20.0 - 10.0)]),
    );
    let code = |code: u16| f64::from(bf16::from_bits(code));
    check_powers::<bf16>(
        (0..400).map(|_| [code(random.u16(0x3e80..0x4100)), code(random.u16(0x3e80..0x4100))]),
    );
    for _ in 0..200 {
        let [base, exponent] = [random.f64() * 9.0 + 0.01, random.f64() * 200.0 - 100.0];
        let got: f64 = power(base, exponent);
        let off = real(got) - real_power(&real(base), &real(exponent)).unwrap();
        let unit = real(got.next_up()) - real(got);
        assert!(off < unit && -off < unit, "{base}^{exponent} is {got}");
    }
    for [base, exponent, wanted] in [
        [0.0, -1.0, f64::INFINITY],
        [-0.0, -3.0, f64::NEG_INFINITY],
        [1.0, f64::NAN, 1.0],
        [f64::NAN, 0.0, 1.0],
        [-2.0, 0.5, f64::NAN],
        [0.5, f64::INFINITY, 0.0],
    ] {
        let (got, wanted): (f32, f32) = (power(base, exponent), f32::from_f64(wanted));
        assert_eq!(got.to_bits(), wanted.to_bits(), "{base}^{exponent}");
    }
}

/// The course of each function holds for values 1/64 apart, with parameters of all signs.
#[test]
fn values_follow_the_element_as_the_course_says() {
    let parameters = [-1.25, 0.5, 1.25].map(|a| [-0.5, 2.0].map(|b| [a, b]));
    for function in Function::ALL.iter().copied() {
        for parameters in parameters.iter().flatten().copied() {
            let values: Vec<f64> =
                (-512..512).map(|i| Call { function, parameters }.at(f64::from(i) / 64.0)).collect();
            let steps: Vec<f64> =
                values.windows(2).map(|two| two[1] - two[0]).filter(|step| !step.is_nan()).collect();
            let turns: Vec<f64> = steps.windows(2).map(|two| two[1] - two[0]).collect();
            let is_one_signed =
                |all: &[f64]| all.iter().all(|x| *x > -1e-12) || all.iter().all(|x| *x < 1e-12);
            let holds = match function.course() {
                Course::Monotone => is_one_signed(&steps),
                Course::Rising => parameters.iter().any(|x| *x < 0.0) || steps.iter().all(|x| *x > -1e-12),
                Course::Convex => is_one_signed(&turns),
                Course::Slope(most) => steps.iter().all(|step| step.abs() <= most / 64.0),
                Course::Open => true,
            };
            assert!(steps.len() > 100 && holds, "{function:?} {parameters:?}");
        }
        if let Some([at, is]) = function.rational() {
            assert_eq!(Call { function, parameters: PARAMETERS }.at(at), is, "{function:?}");
        }
    }
}
