//! Dask 2026.8.0: `dask.array.arange` and `dask.array.linspace` of Python numbers, in one chunk.
//!
//! | | rule |
//! |---|---|
//! | range | `numpy.arange(start, start + n * step, step)`, of which `n` elements are kept |
//! | linspace | `numpy.linspace(start, start + n * step, num)`, which need not end at stop |
//! | refused | a step of zero; a length that is not finite; a negative number of elements |
//!
//! A range has as its `n` the ceiling of Python's `(stop - start) / step`, and loses one element
//! beyond that; a linspace its intervals, with `step` their length in float64.
//!
//! Settings decide into which chunks more elements are cut, and each starts anew, so that they are
//! not predicted; nor is a range whose step is lost when it is added to its start, to which the
//! start is added later.
//!
//! Source: `dask/array/creation.py`.

use gradus_core::convert::{nearest_f64, u64_of};
use gradus_core::{DType, Number};
use gradus_sequences::Plan as _;

use crate::call::{LinspaceCall, RangeCall};
use crate::machine::{count, index};
use crate::numpy::{self, quotient};
use crate::predicted::{Failure, Outcome};

/// Bytes of a chunk, by default.
const CHUNK: u64 = 128 << 20;

/// The part of a step that may be lost when it is added to the start, as `numpy.isclose` has it.
const LOST: f64 = 1e-5;

fn check_is_one_chunk(len: u64, dtype: DType) -> Result<(), Failure> {
    let bytes = u128::from(len) * u128::from(u64_of(dtype.bits() / 8));
    if bytes <= CHUNK.into() {
        return Ok(());
    }
    Err(Failure::undetermined(format!("{len} elements of {dtype} are more than a chunk")))
}

/// Predicts `dask.array.arange`.
pub(crate) fn range(call: &RangeCall) -> Outcome {
    if call.step.is_zero() {
        return Err(Failure::refused("division by zero"));
    }
    let quotient = quotient(call).ceil();
    if !call.start.is_zero() && loses_step(call) {
        return Err(Failure::undetermined("the step is lost next to the start"));
    }
    if quotient.is_nan() || quotient == f64::INFINITY {
        return Err(Failure::refused("cannot convert float NaN or infinity to integer"));
    }
    let len = count(quotient.max(0.0)).unwrap_or(u64::MAX);
    check_is_one_chunk(len, call.dtype)?;
    let [start, stop] = if let Some([start, _, step]) = call.ints() {
        [start, start + i128::from(len) * step].map(Number::Int)
    } else {
        let [start, _, step] = call.floats();
        [start + 0.0 * step, start + index(DType::F64, len) * step].map(Number::Float)
    };
    let made = numpy::range(&call.with_ends(start, stop))?;
    let whole = made.len();
    Ok(if whole > len { made.slice(0..whole - 1) } else { made })
}

/// Returns true if the step is another one where the start was added to it and subtracted again.
fn loses_step(call: &RangeCall) -> bool {
    let [start, _, step] = call.floats();
    // Integers are exact in Python, but not all of them are integers of NumPy.
    let is_exact = call.ints().is_some_and(|[start, _, step]| i64::try_from(start + step).is_ok());
    let lost = ((start + step - start) - step).abs();
    !is_exact && (lost.is_nan() || lost > LOST * step.abs() || call.ints().is_some())
}

/// Predicts `dask.array.linspace`.
pub(crate) fn linspace(call: &LinspaceCall) -> Outcome {
    let len = call.len()?;
    check_is_one_chunk(len, call.dtype)?;
    let difference = match (call.start, call.stop) {
        (Number::Int(start), Number::Int(stop)) => nearest_f64(Number::Int(stop - start)),
        (start, stop) => nearest_f64(stop) - nearest_f64(start),
    };
    let intervals = index(DType::F64, len) - f64::from(u8::from(call.endpoint));
    let step = difference / if intervals == 0.0 { 1.0 } else { intervals };
    let stop = Number::Float(nearest_f64(call.start) + intervals * step);
    numpy::linspace(&LinspaceCall { stop, ..*call })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureKind;

    #[test]
    fn the_last_of_a_linspace_is_not_always_stop() {
        let call = |start, stop, num| {
            let [start, stop] = [start, stop].map(Number::Float);
            let call = LinspaceCall { start, stop, num, endpoint: true, dtype: DType::F64 };
            linspace(&call).expect("it is predicted")
        };
        assert_eq!(call(0.0, 1000.0, 39).at(38), Number::Float(999.999_999_999_999_9));
        assert_eq!(call(-3.0, 0.3, 43).at(42), Number::Float(0.299_999_999_999_999_8));
        assert_eq!(call(0.0, 1.0, 5).at(4), Number::Float(1.0));
    }

    #[test]
    fn ranges_of_several_chunks_and_of_lost_steps_are_not_known() {
        let kind = |numbers: [f64; 3]| {
            let call = RangeCall::of_numbers(numbers.map(Number::Float), DType::F64).expect("a call");
            range(&call).err().map(|failure| failure.kind())
        };
        assert_eq!(kind([0.0, 16_777_216.0, 1.0]), None);
        assert_eq!(kind([0.0, 16_777_217.0, 1.0]), Some(FailureKind::Undetermined));
        assert_eq!(kind([1e16, 1e16 + 8.0, 1.0]), Some(FailureKind::Undetermined));
        assert_eq!(kind([0.0, f64::INFINITY, 1.0]), Some(FailureKind::Refused));
        assert_eq!(kind([0.0, f64::NEG_INFINITY, 1.0]), None);
    }
}
