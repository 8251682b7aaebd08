//! JAX 0.10.2 on the CPU, with 64-bit types enabled.
//!
//! # `jax.numpy.arange` of three Python numbers
//!
//! | | rule |
//! |---|---|
//! | types out | all but bool |
//! | length | `ceil((stop - start) / step)` as Python computes it |
//! | elements | `start + i * step` in the type, two roundings, subnormal numbers flushed to zero; float16, bfloat16 and narrower in float32 |
//! | casts | floats to integers saturate; integers to integers keep the low bits |
//! | refused | a step of zero; a length that is not finite or beyond 63 bits |
//!
//! Source: jax/_src/numpy/lax_numpy.py, `_arange`.

use crate::dtype::{Class, DType};
use crate::exact::Number;
use crate::seq::profile::call::RangeCall;
use crate::seq::profile::formula::{Formula, Wrapping};
use crate::seq::profile::machine::{count, flushed, index, rounded, typed};
use crate::seq::profile::numpy::quotient_of_ints;
use crate::seq::profile::predicted::{Failure, Outcome, Predicted};

pub(super) fn range(call: &RangeCall) -> Outcome {
    let dtype = call.dtype;
    if dtype == DType::Bool {
        return Err(Failure::unsupported("iota does not accept dtype bool"));
    }
    if call.step.is_zero() {
        return Err(Failure::refused("division by zero"));
    }
    let quotient = match call.ints() {
        Some([start, stop, step]) => quotient_of_ints(stop - start, step),
        None => {
            let [start, stop, step] = call.floats();
            (stop - start) / step
        }
    };
    if !quotient.is_finite() {
        return Err(Failure::refused("cannot convert float NaN or infinity to integer"));
    }
    let len = if quotient > 0.0 { count(quotient.ceil()) } else { Some(0) };
    let len = len.ok_or_else(|| Failure::refused("the number of elements exceeds 63 bits"))?;
    let length_rule = "counts in float64";
    if dtype.is_integer() {
        let [start, step] = [call.start, call.step].map(|number| saturated(dtype, number));
        let rules = [length_rule, "casts start and step to the output type first, floats saturating"];
        return Ok(Predicted::new(dtype, len, Wrapping { width: dtype, dtype, start, step }, rules));
    }
    let (format, element_rule) = match dtype {
        DType::F64 => (DType::F64, "rounds i * step and the sum"),
        DType::F32 => (DType::F32, "rounds i * step and the sum, each to float32"),
        _ => (DType::F32, "computes in float32 and rounds again"),
    };
    let [start, step] = [call.start, call.step].map(|number| flushed(format, super::machine::float(format, number)));
    Ok(Predicted::new(dtype, len, Iota { format, dtype, start, step }, [length_rule, element_rule]))
}

/// A Python number as an integer element.
fn saturated(dtype: DType, number: Number) -> i128 {
    let x = match number {
        Number::Float(x) => x,
        _ => return super::machine::wrapped(dtype, super::machine::int(number)),
    };
    let bits = dtype.bits();
    let (least, most) = if dtype.class() == Class::Signed {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    let beyond = if x.is_nan() { 0 } else if x > 0.0 { most } else { least };
    crate::convert::truncated(x).map_or(beyond, |whole| whole.clamp(least, most))
}

/// `start + i * step` in `format`, without subnormal numbers.
#[derive(Debug)]
struct Iota {
    format: DType,
    dtype: DType,
    start: f64,
    step: f64,
}

impl Formula for Iota {
    fn at(&self, i: u64) -> Number {
        let flush = |x| flushed(self.format, rounded(self.format, x));
        let value = flush(self.start + flush(index(self.format, i) * self.step));
        typed(self.dtype, Number::Float(value))
    }
}
