//! Fills against the reference.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use gradus_core::convert::{u64_of, usize_of};
use gradus_core::{DType, Number};
use gradus_kernels::{Fill, Options, Write, Writer};
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan, RangePlan};
use half::{bf16, f16};

use super::case::{Arguments, Case};
use super::reference::{self, Reference, Tie};

use Number::Float;

/// Misrounded elements that are told, of those that are counted.
const TOLD: usize = 10;

/// Result of a check.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub elements: u64,
    /// Elements that are neither zero nor infinite.
    pub ordinary: u64,
    pub misrounded: u64,
    /// Elements in the middle between two numbers.
    pub ties: u64,
    /// Elements so near the middle that the reference cannot tell.
    pub unknown: u64,
    /// The largest distance from the exact value, in units in the last place.
    pub error: f64,
    /// The smallest distance from the middle between two numbers, not in it, as bits of a unit in
    /// the last place.
    pub tie_bits: u32,
    pub told: Vec<String>,
    /// Time of the fills; the rest is the reference's.
    pub filling: Duration,
}

impl Tally {
    pub fn and(mut self, other: Tally) -> Tally {
        self.told.extend(other.told);
        self.told.truncate(TOLD);
        Tally {
            elements: self.elements + other.elements,
            ordinary: self.ordinary + other.ordinary,
            misrounded: self.misrounded + other.misrounded,
            ties: self.ties + other.ties,
            unknown: self.unknown + other.unknown,
            error: self.error.max(other.error),
            tie_bits: self.tie_bits.max(other.tie_bits),
            told: self.told,
            filling: self.filling + other.filling,
        }
    }

    pub fn is_clean(&self) -> bool {
        self.misrounded == 0 && self.unknown == 0
    }
}

/// Checks the elements of a case.
pub fn check(case: &Case) -> Tally {
    match case.dtype {
        DType::F16 => check_as::<f16>(case),
        DType::BF16 => check_as::<bf16>(case),
        DType::F32 => check_as::<f32>(case),
        _ => check_as::<f64>(case),
    }
}

fn check_as<T: Write>(case: &Case) -> Tally {
    let Case { dtype, num, endpoint, .. } = *case;
    let valid = "the arguments of a case are valid";
    match case.arguments {
        Arguments::Range { start, limit, step } => {
            let plan = RangePlan::new(Float(start), Float(limit), Float(step), dtype).expect(valid);
            compare::<T>(case, &plan)
        }
        Arguments::Linspace { start, stop } => {
            let plan = LinspacePlan::new(Float(start), Float(stop), num, endpoint, dtype).expect(valid);
            compare::<T>(case, &plan)
        }
        Arguments::Logspace { base, start, stop } => {
            let plan = LogspacePlan::new(Float(base), Float(start), Float(stop), num, endpoint, dtype);
            compare::<T>(case, &plan.expect(valid))
        }
        Arguments::Geomspace { start, stop } => {
            let plan = GeomspacePlan::new(Float(start), Float(stop), num, endpoint, dtype).expect(valid);
            compare::<T>(case, &plan)
        }
    }
}

fn compare<T: Write>(case: &Case, plan: &impl Fill) -> Tally {
    let len = usize_of(plan.len().saturating_sub(case.lo).min(u64_of(case.len)));
    let mut out = vec![T::default(); len];
    let start = Instant::now();
    Writer::new(plan, Options::default()).write(case.lo, &mut out);
    Tally { filling: start.elapsed(), ..judge(case, &out) }
}

/// Compares what was written for a case with the reference.
fn judge<T: Write + Debug>(case: &Case, out: &[T]) -> Tally {
    let mut tally = Tally { elements: u64_of(out.len()), ..Tally::default() };
    let mut reference = Reference::new(case);
    let format = reference::format(case.dtype);
    let sign_bit = 1 << (format.exponent_bits + format.mantissa_bits);
    for (i, element) in out.iter().enumerate() {
        let wanted = reference.next(format);
        let sign = if wanted.negative { sign_bit } else { 0 };
        let code =
            bytemuck::bytes_of(element).iter().rev().fold(0, |code, &byte| code << 8 | u64::from(byte));
        let mut error = wanted.nearest.error;
        tally.ordinary += u64::from(wanted.nearest.code != 0 && wanted.nearest.code != format.infinity());
        match wanted.tie {
            Tie::No => tally.tie_bits = tally.tie_bits.max(wanted.nearest.tie_bits),
            Tie::Exactly => tally.ties += 1,
            Tie::Unknown => tally.unknown += 1,
        }
        if code != sign | wanted.nearest.code {
            let away = reference::float((code & !sign_bit).abs_diff(wanted.nearest.code));
            error += away;
            tally.misrounded += 1;
            if tally.told.len() < TOLD {
                let index = case.lo + u64_of(i);
                let wanted = sign | wanted.nearest.code;
                tally.told.push(format!(
                    "{case:?}: element {index} is {element:?} (code {code:#x}), not {wanted:#x}"
                ));
            }
        }
        tally.error = tally.error.max(error);
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_off_by_one_unit_is_found() {
        for arguments in [
            Arguments::Range { start: 0.1, limit: 10.0, step: 0.1 },
            Arguments::Linspace { start: -3.7, stop: 11.3 },
            Arguments::Logspace { base: 10.0, start: 0.0, stop: 3.0 },
            Arguments::Geomspace { start: -1.0, stop: -1000.0 },
        ] {
            let case = Case { dtype: DType::F64, arguments, num: 100, endpoint: true, lo: 3, len: 50 };
            let tally = check(&case);
            assert!(tally.is_clean() && tally.elements == 50 && tally.error <= 0.5, "{:?}", tally.told);
            let mut reference = Reference::new(&case);
            let format = reference::format(DType::F64);
            let mut out: Vec<f64> = (0..50)
                .map(|_| {
                    let element = reference.next(format);
                    let magnitude = f64::from_bits(element.nearest.code);
                    if element.negative { -magnitude } else { magnitude }
                })
                .collect();
            assert!(judge(&case, &out).is_clean());
            out[7] = out[7].next_up();
            out[9] = -out[9];
            let tally = judge(&case, &out);
            assert_eq!((tally.misrounded, tally.told.len()), (2, 2));
            assert!(tally.error > 0.5);
        }
    }
}
