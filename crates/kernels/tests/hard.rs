//! Elements that are hard to round: in the middle between two numbers, and as near to it as could
//! be constructed.

#![cfg(feature = "vectors")]
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod rounded;

use gradus_core::Number;
use gradus_core::convert::nearest_f64;
use gradus_kernels::{Fill, Level, Options, Write, Writer};
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan, RangePlan};
use gradus_testkit::{Binary, Real, element, logarithm, power, real};
use half::{bf16, f16};
use rounded::Rounded;

use Number::{Float, Int};

/// Compares elements from an index on with reals, at every level.
fn check<T: Write + Rounded>(plan: &(impl Fill + std::fmt::Debug), lo: u64, wanted: &[Real]) {
    let wanted: Vec<T> = wanted.iter().map(T::rounded).collect();
    for level in Level::available() {
        let mut out = vec![T::default(); wanted.len()];
        let mut options = Options::default();
        options.level = Some(level);
        Writer::new(plan, options).write(lo, &mut out);
        assert!(
            bytemuck::cast_slice::<T, u8>(&out) == bytemuck::cast_slice::<T, u8>(&wanted),
            "{level:?}, from {lo}: {out:?}, not {wanted:?}: {plan:?}"
        );
    }
}

fn logspace<T: Write>(base: Number, start: Number, stop: Number, num: u64) -> LogspacePlan {
    LogspacePlan::new(base, start, stop, num, true, T::DTYPE).unwrap()
}

fn linspace<T: Write>(start: Number, stop: Number, num: u64) -> LinspacePlan {
    LinspacePlan::new(start, stop, num, true, T::DTYPE).unwrap()
}

fn geomspace<T: Write>(start: Number, stop: Number, num: u64) -> GeomspacePlan {
    GeomspacePlan::new(start, stop, num, true, T::DTYPE).unwrap()
}

fn exact(x: Number) -> Real {
    match x {
        Int(x) => Real::from(x),
        Float(x) | Number::Complex(x, _) => real(x),
    }
}

/// A power; exactly, if the exponent is an integer.
fn any_power(base: &Real, exponent: &Real) -> Real {
    match isize::try_from(exponent.numerator().clone()) {
        Ok(n) if exponent.is_int() => base.pow(n),
        _ => power(base, exponent),
    }
}

/// The first elements of a logspace.
fn powers(base: Number, stop: Number, num: u64, count: u64) -> Vec<Real> {
    let step = exact(stop) / Real::from(num - 1);
    (0..count).map(|i| any_power(&exact(base), &(&step * Real::from(i)))).collect()
}

/// Powers that have one bit more than a number: odd integers, so each lies in the middle between
/// two.
fn middles_among_powers<T: Write + Rounded>() {
    let mut middles = 0;
    for n in 2..=12u32 {
        let top = 2f64.powi(i32::try_from(T::FORMAT.mantissa_bits).unwrap() + 2);
        let root = |x: f64| x.powf(1.0 / f64::from(n));
        // The odd integers whose power `n` is between half of the top and the top; some of them, if
        // they are many.
        let (low, high) = (root(top / 2.0).ceil(), root(top));
        for part in 0..20 {
            let k = (low + (high - low) * f64::from(part) / 20.0).trunc();
            let Some(k) = gradus_core::convert::truncated(k).map(|k| k | 1) else { continue };
            let power = k.pow(n);
            let bits = 128 - power.leading_zeros();
            if k < 3 || bits != T::FORMAT.mantissa_bits + 2 {
                continue;
            }
            middles += 1;
            let num = u64::from(n) + 3;
            let wanted: Vec<Real> =
                (0..num).map(|i| Real::from(k).pow(isize::try_from(i).unwrap())).collect();
            let last = Int((num - 1).into());
            check::<T>(&logspace::<T>(Int(k), Int(0), last, num), 0, &wanted);
            check::<T>(&logspace::<T>(Int(k * k), Int(0), Float(f64::from(n + 2) / 2.0), num), 0, &wanted);
            let many = logspace::<T>(Int(k), Int(0), last, 1024 * (num - 1) + 1);
            for (i, wanted) in (0..num).zip(&wanted) {
                check::<T>(&many, 1024 * i, std::slice::from_ref(wanted));
            }
            let num = u64::from(n) + 1;
            let wanted = &wanted[..usize::try_from(num).unwrap()];
            check::<T>(&geomspace::<T>(Int(1), Int(power), num), 0, wanted);
            let negative: Vec<Real> = wanted.iter().map(|x| -x.clone()).collect();
            check::<T>(&geomspace::<T>(Int(-1), Int(-power), num), 0, &negative);
        }
    }
    assert!(middles > 10, "only {middles} powers are in the middle");
}

#[test]
fn powers_in_the_middle() {
    middles_among_powers::<f64>();
    middles_among_powers::<f32>();
    middles_among_powers::<f16>();
    middles_among_powers::<bf16>();
}

/// Roots of `1 + k ulp`: half an ulp times `k`, less (k ulp)^2 / 8.
fn roots_near_one<T: Write + Rounded>() {
    let ulp = 2f64.powi(-i32::try_from(T::FORMAT.mantissa_bits).unwrap());
    for k in [1, 2, 3, 5, 7, 9, 15, 31, 33, 63] {
        for sign in [1.0, -1.0] {
            let base = Float(1.0 + sign * f64::from(k) * ulp);
            for parts in [2, 3, 4, 6, 8] {
                let (stop, num) = (Int(4), 4 * parts + 1);
                check::<T>(&logspace::<T>(base, Int(0), stop, num), 0, &powers(base, stop, num, num));
            }
        }
    }
}

#[test]
fn roots_of_numbers_near_one() {
    roots_near_one::<f64>();
    roots_near_one::<f32>();
    roots_near_one::<f16>();
    roots_near_one::<bf16>();
}

/// Exponents so small that the power is half an ulp from 1, and a little more or less.
fn exponents_near_zero<T: Write + Rounded>() {
    let half_ulp = 2f64.powi(-i32::try_from(T::FORMAT.mantissa_bits).unwrap() - 1);
    for base in [2.0, std::f64::consts::E, 10.0, 0.5, 0.1, 1e300, 1e-300, 3.0] {
        for target in [half_ulp, 3.0 * half_ulp, -half_ulp / 2.0, -1.5 * half_ulp] {
            let near = target.ln_1p() / base.ln();
            for nudge in -2..=2 {
                let exponent = near * (1.0 + f64::from(nudge) * f64::EPSILON);
                let (base, stop, num) = (Float(base), Float(4.0 * exponent), 5);
                check::<T>(&logspace::<T>(base, Int(0), stop, num), 0, &powers(base, stop, num, num));
            }
        }
    }
}

#[test]
fn powers_near_one() {
    exponents_near_zero::<f64>();
    exponents_near_zero::<f32>();
    exponents_near_zero::<f16>();
    exponents_near_zero::<bf16>();
}

/// The last convergent of a positive real whose denominator is below 2^61: numerator and
/// denominator.
fn convergent(x: &Real) -> [i128; 2] {
    let ([mut p, mut q], [mut before_p, mut before_q]) = ([1i128, 0i128], [0i128, 1i128]);
    let mut rest = x.clone();
    loop {
        let whole = rest.trunc();
        let Some([next_p, next_q]) = i128::try_from(whole.clone()).ok().and_then(|a| {
            let next = |x: i128, before: i128| a.checked_mul(x)?.checked_add(before);
            Some([next(p, before_p)?, next(q, before_q)?])
        }) else {
            return [p, q];
        };
        if next_q >= 1 << 61 {
            return [p, q];
        }
        ([before_p, before_q], [p, q]) = ([p, q], [next_p, next_q]);
        let fraction = rest - Real::from(whole);
        if fraction == Real::ZERO {
            return [p, q];
        }
        rest = Real::ONE / fraction;
    }
}

/// Some middles: codes spread over a range of exponents, by a multiplicative generator.
fn middles(format: Binary, lowest: i32, highest: i32, count: u64) -> impl Iterator<Item = Real> {
    let bias = (1 << (format.exponent_bits - 1)) - 1;
    let code = move |exponent: i32| u64::try_from(exponent + bias).unwrap() << format.mantissa_bits;
    let (low, high) = (code(lowest), code(highest));
    (1..=count).map(move |i| {
        let random =
            i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        format.middle(low + random % (high - low))
    })
}

/// How near a real is to a middle, relatively, in bits.
fn assert_near(x: &Real, middle: &Real, bits: usize) {
    let apart = x / middle - Real::ONE;
    let apart = if apart < Real::ZERO { -apart } else { apart };
    assert!(apart * Real::from(2u8).pow(isize::try_from(bits).unwrap()) < Real::ONE, "the case is not hard");
}

fn ln(x: &Real) -> Real {
    let [ln, _] = logarithm(x, &Real::ZERO);
    ln
}

/// Exponents that are the best fractions for the logarithm of a middle.
fn powers_by_convergents<T: Write + Rounded>(count: u64) {
    for base in [2.0, 3.0, 10.0, std::f64::consts::E, 1e10] {
        for middle in middles(T::FORMAT, 1, 14, count) {
            let [p, q] = convergent(&(ln(&middle) / ln(&real(base))));
            let (base, stop, num) = (Float(base), Int(p), u64::try_from(q).unwrap() + 1);
            let wanted = powers(base, stop, num, 3);
            assert_near(&wanted[1], &middle, 110);
            check::<T>(&logspace::<T>(base, Int(0), stop, num), 0, &wanted);
        }
    }
}

/// Places in the geometric sequence from 1 to 2 that are the best fractions for the logarithm of a
/// middle.
fn roots_by_convergents<T: Write + Rounded>(count: u64) {
    let two = Real::from(2u8);
    for middle in middles(T::FORMAT, 0, 1, count) {
        let [p, q] = convergent(&(ln(&middle) / ln(&two)));
        let [p, q] = [p, q].map(|x| u64::try_from(x).unwrap());
        let root = |i: u64| power(&two, &(Real::from(i) / Real::from(q)));
        let wanted = [root(p - 1), root(p), root(p + 1)];
        assert_near(&wanted[1], &middle, 110);
        check::<T>(&geomspace::<T>(Int(1), Int(2), q + 1), p - 1, &wanted);
        let scaled = wanted.map(|x| x * Real::from(1u64 << 10));
        check::<T>(&geomspace::<T>(Int(1 << 10), Int(1 << 11), q + 1), p - 1, &scaled);
    }
}

#[test]
fn powers_beside_the_middle() {
    powers_by_convergents::<f64>(40);
    powers_by_convergents::<f32>(20);
    powers_by_convergents::<f16>(10);
    powers_by_convergents::<bf16>(10);
    roots_by_convergents::<f64>(60);
    roots_by_convergents::<f32>(30);
    roots_by_convergents::<f16>(10);
    roots_by_convergents::<bf16>(10);
}

fn line(start: Number, stop: Number, num: u64) -> Vec<Real> {
    let step = (exact(stop) - exact(start)) / Real::from(num - 1);
    (0..num.min(20)).map(|i| element(&exact(start), &step, i)).collect()
}

/// Lines through the middles, and past them: odd integers of one bit more than numbers have.
fn lines_near_middles<T: Write + Rounded>() {
    let highest = 1i128 << (T::FORMAT.mantissa_bits + 1);
    for odd in [highest + 1, highest + 3, highest * 3 / 2 + 1, 2 * highest - 1, 2 * highest - 3] {
        let num = 5;
        for start in
            [Int(0), Float(2f64.powi(-1000)), Float(-2f64.powi(-1000)), Float(5e-324), Float(-5e-324)]
        {
            for stop in [Int(4 * odd), Int(-4 * odd)] {
                check::<T>(&linspace::<T>(start, stop, num), 0, &line(start, stop, num));
                check::<T>(&linspace::<T>(stop, start, num), 0, &line(stop, start, num));
            }
        }
        for divisor in [3i128, 5, 1001, (1 << 31) - 1, (1 << 60) + 1] {
            for beside in [-1, 0, 1] {
                let (stop, num) = (Int(odd * divisor + beside), u64::try_from(divisor).unwrap() + 1);
                check::<T>(&linspace::<T>(Int(0), stop, num), 0, &line(Int(0), stop, num));
            }
        }
        for step in [1.0, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0, 2.0, 3.0, 0.5, -1.0] {
            let (start, count) = (Int(odd - 1), 18);
            let limit = Float(nearest_f64(start) + 40.0 * step);
            let plan = RangePlan::new(start, limit, Float(step), T::DTYPE).unwrap();
            let wanted: Vec<Real> = (0..count).map(|i| element(&exact(start), &real(step), i)).collect();
            check::<T>(&plan, 0, &wanted);
        }
    }
}

#[test]
fn lines_beside_the_middle() {
    lines_near_middles::<f64>();
    lines_near_middles::<f32>();
    lines_near_middles::<f16>();
    lines_near_middles::<bf16>();
}
