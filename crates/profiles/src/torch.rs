//! PyTorch 2.15.0 on the CPU, with the AVX2 kernels and one thread.
//!
//! # `torch.arange` of Python numbers
//!
//! | | rule |
//! |---|---|
//! | types | float16, bfloat16, float32, float64, uint8, int8, int16, int32, int64 |
//! | length | `ceil((stop - start) / step)` in float64; for int64, if all arguments are integers, in int64, wrapping |
//! | elements, integers | `start + i * step`, of arguments cut toward zero first |
//! | elements, floats | in groups of two vectors: the first of a vector as `start + i * step`, rounded to the type, the others from there; what is left over directly. In float64 with fused operations; float16 and bfloat16 in float32 |
//! | refused | a step or bounds that are not finite, a step of zero or of the wrong sign, a length beyond 63 bits |
//!
//! # `torch.linspace` and `torch.logspace` of Python numbers
//!
//! | | rule |
//! |---|---|
//! | types | those of `arange` |
//! | before | the ends are cast to the type; it is an error if they are out of its range |
//! | linspace | first half `start + step * i`, second half `stop - step * (num - 1 - i)`, fused, in the type; integers in float64 and cut toward zero; float16 (not fused) and bfloat16 in float32 |
//! | logspace | the exponents likewise, in float64, not fused, `stop - start` in the type; `pow` in float64; cut toward zero |
//! | one element | `start`, and `pow(base, start)` of the number that was given |
//! | refused | a negative number of elements; there is no `endpoint` |
//!
//! Sources, in `aten/src/ATen`: `native/RangeUtils.h`, `native/RangeFactories.cpp`,
//! `native/cpu/RangeFactoriesKernel.cpp`, `cpu/vec/vec256`.

use gradus_core::convert::{self, nearest_f64};
use gradus_core::{DType, DTypeSet, Number, text};

use crate::call::{LinspaceCall, LogspaceCall, RangeCall};
use crate::formula::{CastFunction, Formula, WrappingRange, nearest};
use crate::machine::{c_cast, count, float, fused, index, int, rounded, typed, wrapped};
use crate::predicted::{Failure, Outcome, Predicted};
use crate::space::{FormulaPoints, FormulaPowers, Halves, NUM, POWERS_DIFFER, power_line};

const TYPES: DTypeSet = DTypeSet::of(&[
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
]);

/// Predicts `torch.arange`.
pub(crate) fn range(call: &RangeCall) -> Outcome {
    let dtype = call.dtype;
    check_type("arange_cpu", dtype)?;
    let [start, stop, step] = call.floats();
    if !step.is_finite() {
        let step = text::shortest(Number::Float(step), DType::F64);
        return Err(Failure::refused(format!("step must be finite but got {step}")));
    }
    if step == 0.0 {
        return Err(Failure::refused("step must be nonzero"));
    }
    if !start.is_finite() || !stop.is_finite() {
        let [start, stop] = [start, stop].map(|x| text::shortest(Number::Float(x), DType::F64));
        return Err(Failure::refused(format!("unsupported range: {start} -> {stop}")));
    }
    if (step > 0.0 && stop < start) || (step < 0.0 && stop > start) {
        return Err(Failure::refused("upper bound and lower bound inconsistent with step sign"));
    }
    let (len, length_rule) = match call.ints() {
        Some(arguments) if dtype == DType::I64 => (length_in_int64(arguments), "counts in int64, wrapping"),
        _ => (count(((stop - start) / step).ceil()), "counts in float64"),
    };
    let len = len.ok_or_else(|| Failure::refused("invalid size, possible overflow?"))?;
    if dtype.is_integer() {
        let [start, step] = [int(scalar(DType::I64, call.start)?), int(scalar(DType::I64, call.step)?)];
        let rules = [length_rule, "cuts start and step toward zero first"];
        return Ok(Predicted::new(dtype, len, WrappingRange { width: dtype, dtype, start, step }, rules));
    }
    let (wide, vector, element_rule) = match dtype {
        DType::F64 => (DType::F64, 4, "goes on from every fourth element, rounded"),
        DType::F32 => (DType::F64, 8, "goes on from every eighth element, rounded to float32"),
        _ => (DType::F32, 16, "computes in float32, and goes on from every sixteenth element, rounded"),
    };
    let [start, step] = [call.start, call.step].map(|number| float(wide, number));
    let lanes = TorchLanes { dtype, wide, start, step, vector, len };
    Ok(Predicted::new(dtype, len, lanes, [length_rule, element_rule]))
}

/// `(stop - start + step - sign of step) / step` in int64; nothing if that is negative.
fn length_in_int64([start, stop, step]: [i128; 3]) -> Option<u64> {
    let wrap = |x| wrapped(DType::I64, x);
    let span = wrap(wrap(wrap(stop - start) + step) - step.signum());
    u64::try_from(wrap(span / step)).ok()
}

/// The elements of a vector continue from its first, which has been rounded to the type.
#[derive(Debug)]
struct TorchLanes {
    dtype: DType,
    wide: DType,
    start: f64,
    step: f64,
    vector: u64,
    len: u64,
}

impl TorchLanes {
    fn direct(&self, i: u64) -> f64 {
        fused(self.wide, index(self.wide, i), self.step, self.start)
    }
}

impl Formula for TorchLanes {
    fn at(&self, i: u64) -> Number {
        let group = 2 * self.vector;
        if i >= self.len / group * group {
            return typed(self.dtype, Number::Float(self.direct(i)));
        }
        let lane = i % self.vector;
        let first = rounded(self.dtype, self.direct(i - lane));
        let lane = index(self.wide, lane);
        let value = if self.dtype == DType::BF16 {
            rounded(self.wide, first + rounded(self.wide, lane * self.step))
        } else {
            fused(self.wide, lane, self.step, first)
        };
        typed(self.dtype, Number::Float(value))
    }
}

/// An argument as `Scalar::to` converts it: cut toward zero, but never out of range, nor below it
/// before it is cut; floats of 16 bits by way of float32. A negative integer becomes unsigned by
/// its low bits, if its magnitude would fit.
fn scalar(dtype: DType, number: Number) -> Result<Number, Failure> {
    let is_short = matches!(dtype, DType::F16 | DType::BF16);
    let element = typed(dtype, if is_short { typed(DType::F32, number) } else { number });
    let holds = |x: i128| typed(dtype, Number::Int(x)) == Number::Int(x);
    let fits = match (element, number) {
        (Number::Int(a), Number::Int(b)) => a == b || (dtype == DType::U8 && (-255..0).contains(&b)),
        (Number::Int(a), Number::Float(x)) => {
            let is_within = || x >= nearest_f64(element) || holds(a - 1);
            convert::truncated(x) == Some(a) && (x >= 0.0 || dtype != DType::U8) && is_within()
        }
        _ => !number.is_finite() || nearest_f64(number).abs() <= largest(dtype),
    };
    let overflows =
        || Failure::refused(format!("value cannot be converted to type {dtype} without overflow"));
    fits.then_some(element).ok_or_else(overflows)
}

/// The largest finite element of a float type.
fn largest(dtype: DType) -> f64 {
    let infinity = convert::code(dtype, Number::Float(f64::INFINITY), convert::Rules::IEEE);
    nearest_f64(convert::number(dtype, infinity - 1))
}

/// The ends as they are converted: none for no elements, and the start for one.
fn ends(call: &LinspaceCall, len: u64) -> Result<[Number; 2], Failure> {
    let dtype = call.dtype;
    match len {
        0 => Ok([Number::Int(0); 2].map(|zero| typed(dtype, zero))),
        1 => Ok([scalar(dtype, call.start)?; 2]),
        _ => Ok([scalar(dtype, call.start)?, scalar(dtype, call.stop)?]),
    }
}

fn check_type(function: &str, dtype: DType) -> Result<(), Failure> {
    if TYPES.contains(dtype) {
        return Ok(());
    }
    Err(Failure::unsupported(format!("\"{function}\" not implemented for {dtype}; it is for {TYPES}")))
}

/// Predicts `torch.linspace`.
pub(crate) fn linspace(call: &LinspaceCall) -> Outcome {
    let (len, dtype) = (call.len_with_endpoint()?, call.dtype);
    check_type("linspace_cpu", dtype)?;
    let [start, stop] = ends(call, len)?.map(nearest_f64);
    let (format, rule) = match dtype {
        _ if dtype.is_integer() => (DType::F64, "computes in float64, from either end, and cuts toward zero"),
        DType::F64 => (DType::F64, "rounds the step, and computes from either end"),
        DType::F32 => (DType::F32, "rounds the step to float32, and computes from either end"),
        _ => (DType::F32, "computes in float32, from either end, and rounds again"),
    };
    let span = rounded(format, stop - start);
    let step = if len == 1 { 0.0 } else { rounded(format, span / index(format, call.intervals())) };
    // Seen so: the compiler fuses the operations on floats that bfloat16 is made of, but not those
    // for float16.
    let fused = dtype != DType::F16;
    let line = Halves { format, start, stop, step, len, fused };
    let cast = if dtype.is_integer() { c_cast } else { nearest };
    Ok(Predicted::new(dtype, len, FormulaPoints { line, dtype, cast }, [NUM, rule]))
}

/// Predicts `torch.logspace`.
pub(crate) fn logspace(call: &LogspaceCall) -> Outcome {
    let exponents = &call.exponents;
    let (len, dtype) = (exponents.len_with_endpoint()?, exponents.dtype);
    check_type("logspace_cpu", dtype)?;
    let base = nearest_f64(call.base);
    let cast: CastFunction = if dtype.is_integer() { c_cast } else { from_float64 };
    let rule = "rounds the exponents to float64 before taking powers";
    if len == 1 {
        let start = nearest_f64(exponents.start);
        if !matches!(dtype, DType::F16 | DType::BF16) {
            scalar(dtype, Number::Float(base.powf(start)))?;
        }
        let line = Halves { format: DType::F64, start, stop: start, step: 0.0, len, fused: false };
        let formula = FormulaPowers { line, base, format: DType::F64, dtype, cast };
        return Ok(Predicted::new(dtype, len, formula, [NUM, rule]).within(POWERS_DIFFER));
    }
    let line = power_line(dtype, ends(exponents, len)?, len);
    let rule = if dtype.is_integer() { "cuts the exponents toward zero first" } else { rule };
    let formula = FormulaPowers { line, base, format: DType::F64, dtype, cast };
    Ok(Predicted::new(dtype, len, formula, [NUM, rule]).within(POWERS_DIFFER))
}

/// A conversion of float64, through float32 to the floats that are narrower than that.
fn from_float64(dtype: DType, x: f64) -> Number {
    typed(dtype, Number::Float(if dtype == DType::F64 { x } else { rounded(DType::F32, x) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_16_bits_are_rounded_twice() {
        let near_a_middle = Number::Float(45.421_873_546_978_76);
        assert_eq!(scalar(DType::F16, near_a_middle).unwrap(), Number::Float(45.4375));
        assert_eq!(typed(DType::F16, near_a_middle), Number::Float(45.40625));
    }

    #[test]
    fn numbers_beyond_a_type_are_refused_though_they_round_to_it() {
        let cases = [
            (DType::I8, -128.0, true),
            (DType::I8, -128.28, false),
            (DType::I8, 126.9, true),
            (DType::I8, 127.5, true),
            (DType::U8, 255.5, true),
            (DType::U8, 256.0, false),
            (DType::U8, -0.5, false),
            (DType::I64, -0.9, true),
            (DType::F16, 65_504.0, true),
            (DType::F16, 65_519.0, false),
            (DType::F16, -65_519.0, false),
            (DType::F16, f64::INFINITY, true),
            (DType::F32, f64::from(f32::MAX), true),
            (DType::F32, f64::from(f32::MAX).next_up(), false),
            (DType::F64, f64::MAX, true),
        ];
        for (dtype, x, want) in cases {
            assert_eq!(scalar(dtype, Number::Float(x)).is_ok(), want, "{x} to {dtype}");
        }
    }
}
