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
//! Sources: aten/src/ATen/native/RangeUtils.h, cpu/RangeFactoriesKernel.cpp, cpu/vec/vec256.

use crate::dtype::{DType, DTypeSet};
use crate::exact::Number;
use crate::seq::profile::call::RangeCall;
use crate::seq::profile::formula::{Formula, Wrapping};
use crate::seq::profile::machine::{count, float, fused, index, int, rounded, typed, wrapped};
use crate::seq::profile::predicted::{Failure, Outcome, Predicted};

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

pub(super) fn range(call: &RangeCall) -> Outcome {
    let dtype = call.dtype;
    if !TYPES.contains(dtype) {
        return Err(Failure::unsupported(format!("\"arange_cpu\" not implemented for {dtype}; it is for {TYPES}")));
    }
    let [start, stop, step] = call.floats();
    if !step.is_finite() {
        return Err(Failure::refused("step must be finite"));
    }
    if step == 0.0 {
        return Err(Failure::refused("step must be nonzero"));
    }
    if !start.is_finite() || !stop.is_finite() {
        return Err(Failure::refused("unsupported range: a bound is not finite"));
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
        let [start, step] = [call.start, call.step].map(int);
        let rules = [length_rule, "cuts start and step toward zero first"];
        return Ok(Predicted::new(dtype, len, Wrapping { width: dtype, dtype, start, step }, rules));
    }
    let (wide, element_rule) = match dtype {
        DType::F64 => (DType::F64, "goes on from rounded multiples, in groups of four"),
        DType::F32 => (DType::F64, "goes on from multiples rounded to float32, in groups of eight"),
        _ => (DType::F32, "goes on from rounded multiples, in groups of sixteen, in float32"),
    };
    let lanes = Lanes {
        dtype,
        wide,
        start: float(wide, call.start),
        step: float(wide, call.step),
        vector: if dtype == DType::F64 { 4 } else if dtype == DType::F32 { 8 } else { 16 },
        len,
    };
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
struct Lanes {
    dtype: DType,
    wide: DType,
    start: f64,
    step: f64,
    vector: u64,
    len: u64,
}

impl Lanes {
    fn direct(&self, i: u64) -> f64 {
        fused(self.wide, index(self.wide, i), self.step, self.start)
    }
}

impl Formula for Lanes {
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
