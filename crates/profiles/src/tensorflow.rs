//! TensorFlow 2.21.0 on the CPU, eager.
//!
//! # `tf.range` of tensors
//!
//! | | rule |
//! |---|---|
//! | types out | float16, bfloat16, float32, float64, int32, int64 |
//! | before | the arguments are cast to the output type, as C casts; subnormal numbers are zero |
//! | length | integers exactly; floats `ceil(abs((limit - start) / delta))`, each operation in the type |
//! | elements | `start + i * delta` in the type, two roundings |
//! | refused | a delta of zero or of the wrong sign, NaN, a length beyond 63 bits |
//!
//! # `tf.linspace` of tensors
//!
//! | | rule |
//! |---|---|
//! | types out | float16, bfloat16, float32, float64: those of the ends. Of integers it makes other types |
//! | elements | `start`, then `start + i * step`, each operation rounded to the type, at the end `stop` |
//! | refused | a negative number of elements; there is no `endpoint` |
//!
//! There is no `tf.logspace`.
//!
//! Sources, in `tensorflow`: `python/ops/math_ops.py`, `core/kernels/sequence_ops.cc`.

use gradus_core::convert::nearest_f64;
use gradus_core::{DType, DTypeSet, Number};

use crate::call::{LinspaceCall, RangeCall};
use crate::formula::{Formula, WrappingRange, nearest};
use crate::machine::{c_typed, count, float, flushed, index, int, rounded, typed};
use crate::predicted::{Failure, Outcome, Predicted};
use crate::space::{FormulaPoints, LineFormula, NUM};

const TYPES: DTypeSet =
    DTypeSet::of(&[DType::F16, DType::BF16, DType::F32, DType::F64, DType::I32, DType::I64]);

/// Predicts `tf.range`.
pub(crate) fn range(call: &RangeCall) -> Outcome {
    let dtype = call.dtype;
    if !TYPES.contains(dtype) {
        return Err(Failure::unsupported(format!("tf.range has no kernel for {dtype}; it has for {TYPES}")));
    }
    let arguments = call.arguments().map(|number| c_typed(dtype, without_subnormals(call.input, number)));
    if dtype.is_integer() {
        return range_of_ints(dtype, arguments.map(int));
    }
    range_of_floats(dtype, arguments.map(|number| flushed(dtype, nearest_f64(number))))
}

/// A float argument as the cast to another float type reads it: subnormal float32 numbers are zero.
fn without_subnormals(input: DType, number: Number) -> Number {
    match number {
        Number::Float(x) => Number::Float(flushed(input, x)),
        other => other,
    }
}

fn zero_delta() -> Failure {
    Failure::refused("Requires delta != 0")
}

fn wrong_sign(up: bool) -> Failure {
    Failure::refused(if up {
        "Requires start <= limit when delta > 0"
    } else {
        "Requires start >= limit when delta < 0"
    })
}

fn range_of_ints(dtype: DType, [start, stop, step]: [i128; 3]) -> Outcome {
    if step == 0 {
        return Err(zero_delta());
    }
    let span = if step > 0 { stop - start } else { start - stop };
    if span < 0 {
        return Err(wrong_sign(step > 0));
    }
    let count = (span + step.abs() - 1) / step.abs();
    let count = i64::try_from(count).ok().and_then(|n| u64::try_from(n).ok());
    let len = count.ok_or_else(|| Failure::refused("the number of elements exceeds 63 bits"))?;
    let rules = ["counts exactly, after casting to the output type", "casts to the output type first"];
    Ok(Predicted::new(dtype, len, WrappingRange { width: dtype, dtype, start, step }, rules))
}

fn range_of_floats(dtype: DType, [start, stop, step]: [f64; 3]) -> Outcome {
    if step == 0.0 {
        return Err(zero_delta());
    }
    let up = step > 0.0;
    // Written so that NaN is in the wrong order.
    if !(if up { start <= stop } else { start >= stop }) {
        return Err(wrong_sign(up));
    }
    let quotient = rounded(dtype, rounded(dtype, stop - start) / step).abs().ceil();
    let len = count(rounded(dtype, quotient))
        .ok_or_else(|| Failure::refused("Requires ((limit - start) / delta) <= 9223372036854775807"))?;
    let (length_rule, element_rule) = match dtype {
        DType::F64 => ("counts in float64", "rounds i * delta and the sum"),
        DType::F32 => ("counts in float32", "rounds i * delta and the sum, each to float32"),
        DType::F16 => ("counts in float16", "rounds i, i * delta and the sum, each to float16"),
        _ => ("counts in bfloat16", "rounds i, i * delta and the sum, each to bfloat16"),
    };
    Ok(Predicted::new(dtype, len, Flushing { dtype, start, step }, [length_rule, element_rule]))
}

/// `start + i * step` in the type, without subnormal numbers.
#[derive(Debug)]
struct Flushing {
    dtype: DType,
    start: f64,
    step: f64,
}

impl Formula for Flushing {
    fn at(&self, i: u64) -> Number {
        let flush = |x| flushed(self.dtype, rounded(self.dtype, x));
        typed(self.dtype, Number::Float(flush(self.start + flush(index(self.dtype, i) * self.step))))
    }
}

/// The ends as they are, and multiples of the step between them.
#[derive(Debug)]
struct Between {
    dtype: DType,
    start: f64,
    stop: f64,
    step: f64,
    len: u64,
}

impl LineFormula for Between {
    fn point(&self, i: u64) -> f64 {
        let flush = |x| flushed(self.dtype, rounded(self.dtype, x));
        if i == 0 {
            self.start
        } else if i == self.len - 1 {
            self.stop
        } else {
            flush(self.start + flush(self.step * index(self.dtype, i)))
        }
    }
}

/// Predicts `tf.linspace`.
pub(crate) fn linspace(call: &LinspaceCall) -> Outcome {
    let (len, dtype) = (call.len_with_endpoint()?, call.dtype);
    if !dtype.is_float() || !TYPES.contains(dtype) {
        return Err(Failure::unsupported(format!("tf.linspace does not make {dtype}")));
    }
    let flush = |x| flushed(dtype, rounded(dtype, x));
    let [start, stop] = [call.start, call.stop].map(|number| float(dtype, number));
    let step = flush(flush(stop - start) / index(dtype, call.intervals().max(1)));
    let line = Between { dtype, start, stop, step, len };
    let rules = [NUM, "rounds the step, its multiples and the sums to the type"];
    Ok(Predicted::new(dtype, len, FormulaPoints { line, dtype, cast: nearest }, rules))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subnormal_step_of_float32_is_zero_in_float64_too() {
        let call = |input| RangeCall::new([0.0, 1e-37, 1e-39].map(Number::Float), input, DType::F64).unwrap();
        assert_eq!(range(&call(DType::F32)).unwrap_err().message(), "Requires delta != 0");
        assert!(range(&call(DType::F64)).is_ok());
    }
}
