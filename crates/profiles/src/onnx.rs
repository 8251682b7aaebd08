//! ONNX: the body of the function Range-27, and ONNX Runtime's kernel.
//!
//! | | `onnx-body` | `onnxruntime` 1.32.0, CPU |
//! |---|---|---|
//! | types | one for all: float16, bfloat16, float32, float64, int16, int32, int64 | the same |
//! | length | `ceil(f32(limit - start) / f32(delta))`, the difference in the type itself | of integers exact, else `ceil((f64(limit) - f64(start)) / f64(delta))` |
//! | elements | added up in the type; float16 and bfloat16 in float32 | the same |
//! | refused | nothing: a length that is not finite is 0 | a delta of 0, a length that is not finite or beyond 63 bits |
//!
//! The body is that of version 27 with a `stash_type` of float32; in version 11 it is the same for
//! all types but float16 and bfloat16, which that version has not, and int16, for which the body is
//! not valid. ONNX Runtime has no kernel for float16 and bfloat16, and runs the body.
//!
//! Sources: `onnx/defs/generator/defs.cc`; `onnxruntime/core/providers/cpu/generator/range.cc`.

use gradus_core::convert::nearest_f64;
use gradus_core::{DType, DTypeSet, Number};

use crate::call::RangeCall;
use crate::formula::{Summed, WrappingRange, nearest};
use crate::machine::{count, float, rounded, wrapped};
use crate::predicted::{Failure, Outcome, Predicted};

const TYPES: DTypeSet =
    DTypeSet::of(&[DType::F16, DType::BF16, DType::F32, DType::F64, DType::I16, DType::I32, DType::I64]);

const HALVES: DTypeSet = DTypeSet::of(&[DType::F16, DType::BF16]);

fn check_types(call: &RangeCall) -> Result<(), Failure> {
    if call.input != call.dtype {
        return Err(Failure::unsupported(format!(
            "Range has one type for all, not {} in and {} out",
            call.input, call.dtype
        )));
    }
    if !TYPES.contains(call.dtype) {
        return Err(Failure::unsupported(format!("Range has no {}; it has {TYPES}", call.dtype)));
    }
    Ok(())
}

/// Predicts `Range` by the function body of the standard.
pub(crate) fn body(call: &RangeCall) -> Outcome {
    check_types(call)?;
    let narrow = |number| float(DType::F32, number);
    let span = if let Some([start, stop, _]) = call.ints() {
        Number::Int(wrapped(call.dtype, stop - start))
    } else {
        let format = if HALVES.contains(call.dtype) { DType::F32 } else { call.dtype };
        let [start, stop, _] = call.floats();
        Number::Float(rounded(format, stop - start))
    };
    let quotient = rounded(DType::F32, narrow(span) / narrow(call.step));
    // A value that is no valid number of iterations counts as 0.
    let len = count(quotient.ceil()).unwrap_or(0);
    Ok(added_up(call, len, "counts in float32, whatever the type"))
}

/// Predicts ONNX Runtime's kernel of `Range`.
pub(crate) fn runtime(call: &RangeCall) -> Outcome {
    check_types(call)?;
    if HALVES.contains(call.dtype) {
        return body(call);
    }
    if call.step.is_zero() {
        return Err(Failure::refused("delta in Range operator can not be zero"));
    }
    let too_many = || Failure::refused("the computed number of elements exceeds the supported range");
    if let Some([start, stop, step]) = call.ints() {
        let (span, step) = if step < 0 { (start - stop, -step) } else { (stop - start, step) };
        let len = i64::try_from((span.max(0) + step - 1) / step).map_err(|_| too_many())?;
        return Ok(added_up(call, len.unsigned_abs(), "counts exactly"));
    }
    let [start, stop, step] = call.floats();
    let count_of = ((stop - start) / step).ceil();
    if !count_of.is_finite() {
        return Err(Failure::refused("the computed number of elements is not a finite value"));
    }
    let len = if count_of > 0.0 { count(count_of) } else { Some(0) };
    Ok(added_up(call, len.ok_or_else(too_many)?, "counts in float64"))
}

fn added_up(call: &RangeCall, len: u64, length_rule: &'static str) -> Predicted {
    let dtype = call.dtype;
    if let Some([start, _, step]) = call.ints() {
        let formula = WrappingRange { width: dtype, dtype, start, step };
        return Predicted::new(dtype, len, formula, [length_rule, "adds up, wrapping"]);
    }
    let (format, element_rule) = match dtype {
        DType::F64 => (DType::F64, "adds up in float64"),
        DType::F32 => (DType::F32, "adds up in float32"),
        _ => (DType::F32, "adds up in float32 and rounds each sum"),
    };
    let [start, step] = [call.start, call.step].map(nearest_f64);
    let formula = Summed { format, start, step, dtype, cast: nearest };
    Predicted::new(dtype, len, formula, [length_rule, element_rule])
}
