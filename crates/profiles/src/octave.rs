//! GNU Octave 7.3.0, whose rules MATLAB's users know: `start:step:stop`, `linspace` and `logspace`
//! of numbers of the type, in `double` and `single`; ranges in the integer types too.
//!
//! | | rule |
//! |---|---|
//! | range, length | `floor((stop - start + step) / step)`, with a tolerance of 3 eps, then one more or one less if that ends within 3 eps of `stop`; of integers, exact |
//! | range, elements | `start + i * step`, rounded twice; the last is `stop` where it is beyond, and a whole number where `start` and `step` are; of integers, exact |
//! | linspace | `start + i * step` in the first half, `stop - i * step` in the second, the mean of the ends in the middle of an odd number; one element is `stop` |
//! | logspace | `pow(10, point)`; a stop of π is taken as its logarithm |
//! | empty | a step of zero or of the wrong sign; a negative number of elements |
//! | refused | infinitely many elements; there is no `endpoint` and no `base` |
//!
//! Seen by calling the program; `cargo xtask conformance --peers octave` repeats that.

use std::f64::consts::PI;

use gradus_core::convert::nearest_f64;
use gradus_core::{DType, Number};

use crate::call::{LinspaceCall, LogspaceCall, RangeCall};
use crate::formula::{Formula, WrappingRange, nearest};
use crate::machine::{count, float, index, rounded};
use crate::predicted::{Failure, Outcome, Predicted};
use crate::space::{FormulaPoints, FormulaPowers, LineFormula, NUM, POWERS_DIFFER};

/// Predicts `start:step:stop`.
pub(crate) fn range(call: &RangeCall) -> Outcome {
    let dtype = call.dtype;
    if call.input != dtype {
        return Err(Failure::unsupported("a range has the type of its arguments"));
    }
    if let Some(ints) = call.ints().filter(|_| dtype.is_integer()) {
        return Ok(range_of_ints(dtype, ints));
    }
    let format = float_format(dtype, "a range")?;
    let [start, stop, step] = call.floats();
    let len = length(format, [start, stop, step])?;
    let last = last(format, [start, stop, step], len);
    let colon = Colon { format, start, step, len, last };
    let rules =
        ["counts with stop and a tolerance of 3 eps", "rounds i * step and the sum, and ends at stop"];
    Ok(Predicted::new(dtype, len, colon, rules))
}

fn range_of_ints(dtype: DType, [start, stop, step]: [i128; 3]) -> Predicted {
    let span = if step < 0 { start - stop } else { stop - start };
    let len = if step == 0 || span < 0 { 0 } else { span.unsigned_abs() / step.unsigned_abs() + 1 };
    let formula = WrappingRange { width: dtype, dtype, start, step };
    let rules = ["counts with stop", "exact"];
    Predicted::new(dtype, u64::try_from(len).unwrap_or(u64::MAX), formula, rules)
}

/// The type in which the program computes: only these two have floats.
fn float_format(dtype: DType, function: &str) -> Result<DType, Failure> {
    match dtype {
        DType::F64 | DType::F32 => Ok(dtype),
        _ => {
            Err(Failure::unsupported(format!("{function} of {dtype} does not exist: only double and single")))
        }
    }
}

/// Three times the distance from 1 to the next number.
fn tolerance(format: DType) -> f64 {
    3.0 * if format == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) }
}

fn length(format: DType, [start, stop, step]: [f64; 3]) -> Result<u64, Failure> {
    let r = |x| rounded(format, x);
    if start.is_nan() || stop.is_nan() || step.is_nan() {
        return Ok(1);
    }
    if step == 0.0 || (step > 0.0 && start > stop) || (step < 0.0 && start < stop) {
        return Ok(0);
    }
    if step.is_infinite() {
        return Ok(1);
    }
    if start.is_infinite() || stop.is_infinite() {
        return Err(Failure::refused("range with infinite number of elements cannot be stored"));
    }
    let tolerance = tolerance(format);
    let count_of = |n: f64| count(n).filter(|&n| n < i64::MAX.unsigned_abs() - 1);
    let quotient = r(r(r(stop - start) + step) / step);
    let whole = tolerant_floor(format, quotient, tolerance).max(0.0);
    let Some(len) = count_of(whole) else { return Err(Failure::refused("invalid range")) };
    let ends_at_stop = |n: u64, less: u64| {
        let steps = index(format, n) - nearest_f64(Number::Int(less.into()));
        let end = r(start + r(r(steps) * step));
        r((end - stop).abs()) < r(end.abs().max(stop.abs()) * tolerance)
    };
    Ok(match len {
        _ if ends_at_stop(len, 1) => len,
        _ if ends_at_stop(len, 2) => len.saturating_sub(1),
        _ if ends_at_stop(len, 0) => len + 1,
        _ => len,
    })
}

/// The largest whole number that is not above `x` by more than a relative tolerance (the floor
/// `FL5` of Hagerty).
fn tolerant_floor(format: DType, x: f64, tolerance: f64) -> f64 {
    let r = |x| rounded(format, x);
    let scale = if x < 0.0 { r(1.0 - tolerance) } else { 1.0 };
    let most = r(scale / r(2.0 - tolerance));
    let above = r(1.0 + x.floor());
    let slack = r(r(tolerance / scale) * above.abs()).min(most).max(tolerance);
    let floor = r(x + slack).floor();
    if x <= 0.0 || r(floor - x) < most { floor } else { floor - 1.0 }
}

fn last(format: DType, [start, stop, step]: [f64; 3], len: u64) -> f64 {
    if start.is_nan() || stop.is_nan() || step.is_nan() {
        return f64::NAN;
    }
    if len <= 1 {
        return start;
    }
    let r = |x| rounded(format, x);
    let end = r(start + r(index(format, len - 1) * step));
    let is_beyond = (step > 0.0 && end >= stop) || (step < 0.0 && end <= stop);
    let end = if is_beyond { stop } else { end };
    if start.fract() == 0.0 && step.fract() == 0.0 { end.round() } else { end }
}

/// Elements of a range; the last is known.
#[derive(Debug)]
struct Colon {
    format: DType,
    start: f64,
    step: f64,
    len: u64,
    last: f64,
}

impl Formula for Colon {
    fn at(&self, i: u64) -> Number {
        let r = |x| rounded(self.format, x);
        Number::Float(match i {
            _ if i + 1 == self.len => self.last,
            0 => self.start,
            _ => r(self.start + r(index(self.format, i) * self.step)),
        })
    }
}

/// Points that are computed from the nearer end.
#[derive(Debug)]
struct OctaveLine {
    format: DType,
    start: f64,
    stop: f64,
    len: u64,
}

impl OctaveLine {
    fn of(call: &LinspaceCall) -> Result<OctaveLine, Failure> {
        let format = float_format(call.dtype, "linspace")?;
        let len = LinspaceCall { num: call.num.max(0), ..*call }.len_with_endpoint()?;
        let [start, stop] = [call.start, call.stop].map(|end| float(format, end));
        Ok(OctaveLine { format, start, stop, len })
    }
}

impl LineFormula for OctaveLine {
    fn point(&self, i: u64) -> f64 {
        let r = |x| rounded(self.format, x);
        let back = self.len - 1 - i;
        match i {
            _ if back == 0 => self.stop,
            0 => self.start,
            _ if i == back && self.start == -self.stop => 0.0,
            _ if i == back => r(r(self.start + self.stop) / 2.0),
            _ => {
                let step = r(r(self.stop - self.start) / index(self.format, self.len - 1));
                let [ahead, behind] = [i, back].map(|steps| r(index(self.format, steps) * step));
                if i < back { r(self.start + ahead) } else { r(self.stop - behind) }
            }
        }
    }
}

/// Predicts `linspace`.
pub(crate) fn linspace(call: &LinspaceCall) -> Outcome {
    let line = OctaveLine::of(call)?;
    let rule = "rounds the step, computes from the nearer end, and takes the mean of the ends in the middle";
    let (len, dtype) = (line.len, call.dtype);
    Ok(Predicted::new(dtype, len, FormulaPoints { line, dtype, cast: nearest }, [NUM, rule]))
}

/// Predicts `logspace`.
pub(crate) fn logspace(call: &LogspaceCall) -> Outcome {
    if nearest_f64(call.base) != 10.0 {
        return Err(Failure::unsupported("there is no argument base: it is 10"));
    }
    let dtype = call.exponents.dtype;
    let pi = float(float_format(dtype, "logspace")?, Number::Float(PI));
    let mut line = OctaveLine::of(&call.exponents)?;
    if line.stop == pi {
        line.stop = rounded(dtype, PI.log10());
    }
    let (len, format) = (line.len, line.format);
    let formula = FormulaPowers { line, base: 10.0, format, dtype, cast: nearest };
    let rules = [NUM, "rounds the exponents before taking powers"];
    Ok(Predicted::new(dtype, len, formula, rules).within(POWERS_DIFFER))
}

#[cfg(test)]
mod tests {
    use gradus_sequences::Plan;

    use super::*;

    fn elements(outcome: Outcome) -> Result<Vec<f64>, String> {
        Ok(outcome.map_err(|failure| failure.to_string())?.elements().map(nearest_f64).collect())
    }

    fn colon(numbers: [f64; 3], dtype: DType) -> Outcome {
        range(&RangeCall::new(numbers.map(Number::Float), dtype, dtype).unwrap())
    }

    #[test]
    fn ranges_are_those_that_were_seen() {
        let inf = f64::INFINITY;
        for (numbers, want) in [
            ([0.0, 0.3, 0.1], vec![0.0, 0.1, 0.2, 0.3]),
            ([0.0, 2.9999999999999996, 1.0], vec![0.0, 1.0, 2.0, 3.0]),
            ([0.0, 5.0, 0.0], vec![]),
            ([0.0, 5.0, inf], vec![0.0]),
            ([inf, 5.0, 1.0], vec![]),
        ] {
            assert_eq!(elements(colon(numbers, DType::F64)), Ok(want), "{numbers:?}");
        }
        assert!(colon([0.0, inf, 1.0], DType::F64).is_err());
        assert!(colon([0.0, 1e10, 1e-30], DType::F64).is_err());
        assert!(nearest_f64(colon([0.0, f64::NAN, 1.0], DType::F64).unwrap().at(0)).is_nan());
        assert_eq!(elements(colon([100.0, 127.0, 20.0], DType::I8)), Ok(vec![100.0, 120.0]));
    }

    #[test]
    fn lines_are_those_that_were_seen() {
        let call = |start, stop, num| LinspaceCall {
            start: Number::Float(start),
            stop: Number::Float(stop),
            num,
            endpoint: true,
            dtype: DType::F64,
        };
        let large = 1e308;
        let want = vec![-large, f64::INFINITY, 0.0, f64::NEG_INFINITY, large];
        assert_eq!(elements(linspace(&call(-large, large, 5))), Ok(want));
        assert_eq!(elements(linspace(&call(1.0, 5.0, 1))), Ok(vec![5.0]));
        assert_eq!(elements(linspace(&call(1.0, 5.0, -3))), Ok(vec![]));
        let powers = |num| LogspaceCall { exponents: call(0.0, PI, num), base: Number::Int(10) };
        let predicted = logspace(&powers(2)).unwrap();
        assert!(predicted.agrees(1, Number::Float(3.1415926535897927)), "{predicted:?}");
        assert!(logspace(&LogspaceCall { base: Number::Int(2), ..powers(2) }).is_err());
    }
}
