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
//! Sources: paddle/phi/kernels/funcs/range_function.h, cpu/arange_kernel.cc.

use crate::convert::nearest_f64;
use crate::dtype::{DType, DTypeSet};
use crate::seq::profile::call::RangeCall;
use crate::seq::profile::formula::{Summed, Wrapping, nearest};
use crate::seq::profile::machine::{c_typed, count, int, rounded, wrapped};
use crate::seq::profile::predicted::{Failure, Outcome, Predicted};

const TYPES: DTypeSet = DTypeSet::of(&[DType::F32, DType::F64, DType::I32, DType::I64]);

pub(super) fn range(call: &RangeCall) -> Outcome {
    let dtype = call.dtype;
    if !TYPES.contains(dtype) {
        return Err(Failure::unsupported(format!("arange has no kernel for {dtype} on the CPU; it has for {TYPES}")));
    }
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
        return Ok(Predicted::new(dtype, len, Wrapping { width: dtype, dtype, start, step }, rules));
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
