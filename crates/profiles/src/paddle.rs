//! Paddle 3.3.1 on the CPU, dygraph.
//!
//! # `paddle.arange`
//!
//! | | rule |
//! |---|---|
//! | types out | float32, float64, int32, int64 |
//! | before | the arguments are cast to the output type, as C casts |
//! | length | integers `(abs(end - start) + abs(step) - 1) / abs(step)` in the type, wrapping; floats `ceil(abs((end - start) / step))` in the type; none if the step has the wrong sign |
//! | elements | added up in the type |
//! | refused | a step of zero, bounds that are not finite, a length below 0 or beyond 63 bits |
//!
//! # `paddle.linspace` and `paddle.logspace`
//!
//! | | rule |
//! |---|---|
//! | types out | those of `arange` |
//! | before | ends and base are cast to the type, as C casts |
//! | linspace | first half `start + step * i`, second half `stop - step * (num - 1 - i)`, each operation rounded to the type; integers in float64 and cut toward zero |
//! | logspace | the exponents likewise, in float64, `stop - start` in the type; `pow` in float64; cut toward zero |
//! | refused | a negative number of elements, and of logspace none; there is no `endpoint` |
//!
//! Sources, in `paddle/phi/kernels`: `funcs/range_function.h`, `cpu/arange_kernel.cc`,
//! `cpu/linspace_kernel.cc`, `cpu/logspace_kernel.cc`.

use gradus_core::convert::nearest_f64;
use gradus_core::{DType, DTypeSet};

use crate::call::{LinspaceCall, LogspaceCall, RangeCall};
use crate::formula::{Summed, WrappingRange, nearest};
use crate::machine::{c_cast, c_typed, count, index, int, rounded, wrapped};
use crate::predicted::{Failure, Outcome, Predicted};
use crate::space::{FormulaPoints, FormulaPowers, Halves, NUM, POWERS_DIFFER, power_line};

const TYPES: DTypeSet = DTypeSet::of(&[DType::F32, DType::F64, DType::I32, DType::I64]);

fn check_type(dtype: DType) -> Result<(), Failure> {
    if TYPES.contains(dtype) {
        return Ok(());
    }
    Err(Failure::unsupported(format!("there is no kernel for {dtype} on the CPU; there is for {TYPES}")))
}

/// Predicts `paddle.arange`.
pub(crate) fn range(call: &RangeCall) -> Outcome {
    let dtype = call.dtype;
    check_type(dtype)?;
    for (name, number) in [("start", call.start), ("end", call.stop)] {
        if !number.is_finite() {
            return Err(Failure::refused(format!("The value of {name} must be finite")));
        }
    }
    let [start, stop, step] = call.arguments().map(|number| c_typed(dtype, number));
    if step.is_zero() {
        return Err(Failure::refused("The step of range op should not be 0"));
    }
    let beyond = || Failure::refused("the number of elements overflows, so no memory is allocated");
    if dtype.is_integer() {
        let [start, stop, step] = [start, stop, step].map(int);
        let len = length_of_ints(dtype, [start, stop, step]).ok_or_else(beyond)?;
        let rules = ["counts in the output type, wrapping", "casts to the output type first"];
        return Ok(Predicted::new(dtype, len, WrappingRange { width: dtype, dtype, start, step }, rules));
    }
    let [start, stop, step] = [start, stop, step].map(nearest_f64);
    let wrong_sign = (step > 0.0 && start >= stop) || (step < 0.0 && start <= stop);
    let quotient = rounded(dtype, rounded(dtype, stop - start) / step).abs().ceil();
    let len = if wrong_sign { 0 } else { count(quotient).ok_or_else(beyond)? };
    let rules = if dtype == DType::F64 {
        ["counts in float64", "adds up in float64"]
    } else {
        ["counts in float32", "adds up in float32"]
    };
    Ok(Predicted::new(dtype, len, Summed { format: dtype, start, step, dtype, cast: nearest }, rules))
}

fn length_of_ints(dtype: DType, [start, stop, step]: [i128; 3]) -> Option<u64> {
    if (step > 0 && start >= stop) || (step < 0 && start <= stop) {
        return Some(0);
    }
    let wrap = |x| wrapped(dtype, x);
    let abs = |x: i128| wrap(x.abs());
    let rounded_up = wrap(wrap(abs(wrap(stop - start)) + abs(step)) - 1);
    u64::try_from(wrap(rounded_up / abs(step))).ok()
}

/// Predicts `paddle.linspace`.
pub(crate) fn linspace(call: &LinspaceCall) -> Outcome {
    let (len, dtype) = (call.len_with_endpoint()?, call.dtype);
    check_type(dtype)?;
    let [start, stop] = [call.start, call.stop].map(|number| nearest_f64(c_typed(dtype, number)));
    let stop = if len == 1 { start } else { stop };
    let (format, rule) = match dtype {
        DType::F64 => (DType::F64, "rounds the step, its multiples and the sums, from either end"),
        DType::F32 => (DType::F32, "rounds the step, its multiples and the sums to float32, from either end"),
        _ => (DType::F64, "computes in float64, from either end, and cuts toward zero"),
    };
    let span = rounded(format, stop - start);
    let step = if len == 1 { 0.0 } else { rounded(format, span / index(format, call.intervals())) };
    let line = Halves { format, start, stop, step, len, fused: false };
    let cast = if dtype.is_integer() { c_cast } else { nearest };
    Ok(Predicted::new(dtype, len, FormulaPoints { line, dtype, cast }, [NUM, rule]))
}

/// Predicts `paddle.logspace`.
pub(crate) fn logspace(call: &LogspaceCall) -> Outcome {
    let exponents = &call.exponents;
    let (len, dtype) = (exponents.len_with_endpoint()?, exponents.dtype);
    check_type(dtype)?;
    if len == 0 {
        return Err(Failure::refused("The num of logspace op should be larger than 0"));
    }
    let [start, stop, base] =
        [exponents.start, exponents.stop, call.base].map(|number| c_typed(dtype, number));
    let line = power_line(dtype, [start, if len == 1 { start } else { stop }], len);
    let cast = if dtype.is_integer() { c_cast } else { nearest };
    let formula = FormulaPowers { line, base: nearest_f64(base), format: DType::F64, dtype, cast };
    let rule = if dtype.is_integer() {
        "cuts base and exponents toward zero first"
    } else {
        "rounds base and ends to the type, and the exponents to float64, before taking powers"
    };
    Ok(Predicted::new(dtype, len, formula, [NUM, rule]).within(POWERS_DIFFER))
}
