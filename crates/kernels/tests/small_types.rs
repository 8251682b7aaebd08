//! Floats of at most 16 bits, over all their numbers: each result is the nearest number of the list
//! of them.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus_core::{DType, Limits, Number};
use gradus_kernels::Fill;
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan};
use gradus_testkit::{FloatFormat, Real, power, real};

use Number::Float;

/// A type, its definition, and whether it has a zero with a sign.
struct Small {
    dtype: DType,
    format: FloatFormat,
    signed_zero: bool,
}

const fn small(
    dtype: DType,
    [exponent_bits, mantissa_bits, finite_codes]: [u32; 3],
    bias: i32,
    signed_zero: bool,
) -> Small {
    Small { dtype, format: FloatFormat { exponent_bits, mantissa_bits, bias, finite_codes }, signed_zero }
}

const LONG: [Small; 2] =
    [small(DType::F16, [5, 10, 0x7c00], 15, true), small(DType::BF16, [8, 7, 0x7f80], 127, true)];

const SHORT: [Small; 7] = [
    small(DType::F8E5M2, [5, 2, 0x7c], 15, true),
    small(DType::F8E4M3FN, [4, 3, 0x7f], 7, true),
    small(DType::F8E5M2FNUZ, [5, 2, 0x80], 16, false),
    small(DType::F8E4M3FNUZ, [4, 3, 0x80], 8, false),
    small(DType::F6E3M2, [3, 2, 0x20], 3, true),
    small(DType::F6E2M3, [2, 3, 0x20], 1, true),
    small(DType::F4E2M1, [2, 1, 0x08], 1, true),
];

impl Small {
    /// The number of a code.
    fn number(&self, code: u32) -> f64 {
        let sign = 1 << (self.format.exponent_bits + self.format.mantissa_bits);
        let magnitude = self.format.magnitude(code & (sign - 1));
        if code & sign == 0 || (magnitude == 0.0 && !self.signed_zero) { magnitude } else { -magnitude }
    }

    /// Compares all elements of a plan, none of which may be beyond the largest number, with reals;
    /// the codes.
    fn check(&self, plan: &impl Fill, exact: impl Fn(u64) -> Real) -> Vec<u32> {
        let tensor = gradus_kernels::tensor(plan, &Limits::DEFAULT, 0).unwrap();
        (0..plan.len())
            .map(|i| {
                let code = self.format.nearest(&exact(i)).expect("no overflow");
                let element = tensor.number(usize::try_from(i).unwrap()).unwrap();
                assert_eq!(
                    element,
                    Float(self.number(code)),
                    "{}, element {i} of {}",
                    self.dtype,
                    plan.len()
                );
                code
            })
            .collect()
    }

    fn linspace(&self, start: f64, stop: f64, num: u64) {
        let plan = LinspacePlan::new(Float(start), Float(stop), num, true, self.dtype).unwrap();
        let step = (real(stop) - real(start)) / Real::from(num - 1);
        self.check(&plan, |i| real(start) + &step * Real::from(i));
    }

    fn geomspace(&self, start: f64, stop: f64, num: u64) {
        let plan = GeomspacePlan::new(Float(start), Float(stop), num, true, self.dtype).unwrap();
        let ratio = real(stop) / real(start);
        let exponent = |i: u64| Real::from(i) / Real::from(num - 1);
        self.check(&plan, |i| match i {
            0 => real(start),
            _ if i == num - 1 => real(stop),
            _ => real(start) * power(&ratio, &exponent(i)),
        });
    }

    /// The powers of a base from below the smallest number to the largest.
    fn logspace(&self, base: f64, num: u64) {
        let largest = self.format.magnitude(self.format.finite_codes - 1);
        let [start, stop] = [self.format.magnitude(1) / 3.0, largest].map(|x| x.ln() / base.ln() * 0.999_999);
        let plan = LogspacePlan::new(Float(base), Float(start), Float(stop), num, true, self.dtype).unwrap();
        let step = (real(stop) - real(start)) / Real::from(num - 1);
        let mut codes = self.check(&plan, |i| power(&real(base), &(real(start) + &step * Real::from(i))));
        codes.sort_unstable();
        codes.dedup();
        let all = usize::try_from(self.format.finite_codes).unwrap();
        assert!(self.dtype.bits() == 16 || codes.len() == all, "{}: only {} codes", self.dtype, codes.len());
    }
}

/// Every number, the middles between neighbours, and what is between those.
#[test]
fn lines_through_all_numbers() {
    for small in LONG {
        let binade = 1 << small.format.mantissa_bits;
        for first in (0..small.format.finite_codes).step_by(usize::try_from(binade).unwrap()) {
            let last = (first + binade).min(small.format.finite_codes - 1);
            let [low, high] = [first, last].map(|code| small.format.magnitude(code));
            let num = u64::from(4 * (last - first) + 1);
            small.linspace(low, high, num);
            small.linspace(-high, -low.max(small.format.magnitude(1)), num);
        }
    }
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_lines_between_any_two_numbers() {
    for small in SHORT {
        // All codes with a sign; a zero has none here.
        let sign = 1 << (small.format.exponent_bits + small.format.mantissa_bits);
        let numbers: Vec<f64> = (0..small.format.finite_codes)
            .chain(sign + 1..sign + small.format.finite_codes)
            .map(|code| small.number(code))
            .collect();
        for &start in &numbers {
            for &stop in &numbers {
                small.linspace(start, stop, 5);
            }
        }
    }
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_powers_through_all_numbers() {
    for base in [2.0, 3.0, 10.0, 0.5, std::f64::consts::E, 1.0625, 1e30] {
        for small in SHORT {
            small.logspace(base, 500);
        }
        for small in LONG {
            small.logspace(base, 1000);
        }
    }
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_geometric_sequences_between_numbers() {
    for small in SHORT {
        let step = if small.dtype.bits() == 8 { 5 } else { 1 };
        let numbers = || (1..small.format.finite_codes).step_by(step).map(|code| small.number(code));
        for start in numbers() {
            for stop in numbers() {
                small.geomspace(start, stop, 4);
                small.geomspace(-start, -stop, 4);
            }
        }
    }
}
