//! OpenVINO 2026.4.1: Range-4 as the core evaluates it, and as the CPU plugin runs it.
//!
//! | | `openvino` (constant folding, the template plugin) | `openvino-cpu`, `openvino-cpu-avx2` (inputs at run time, one thread) |
//! |---|---|---|
//! | types | any numbers in, any out but the floats of 8 bits and less | any |
//! | before | arguments to float64; cut toward zero if integers come out | integers of 16, 32, 64 bits to int32, by their low bits; float64 to float32 |
//! | length | `ceil(abs(stop - start) / abs(step))` in float64, modulo 2^32 | in int32, wrapping, or in float32; the sign of the step is not looked at |
//! | elements, integers | added up, wrapping | int32: added up. Otherwise added up in float32, clamped to int32, rounded to the nearest integer |
//! | elements, floats | `start + i * step` in the type, two roundings; float16 and bfloat16 in float32 | added up in float32; to bfloat16 by cutting without AVX-512 |
//! | refused | NaN, infinities, a step of zero | nothing: an integer step of zero kills the process |
//!
//! The CPU plugin without AVX-512 was observed with AVX2 and with SSE4.1, which give the same bits.
//! The bfloat16 conversion of `AVX512_BF16` takes subnormal numbers as zero, as was observed on an
//! AMD EPYC of family 25; processors without it keep them. The prediction allows for both.
//!
//! Sources: `range_shape_inference.hpp` and `reference/range.hpp` of the core;
//! `intel_cpu/src/nodes/range.cpp`.

use gradus_core::{DType, DTypeSet, Number, convert};

use crate::call::RangeCall;
use crate::formula::{CastFunction, ScaledLine, Summed, WrappingRange, nearest};
use crate::machine::{c_cast, count, float, int, rounded, typed, wrapped};
use crate::predicted::{Failure, Outcome, Predicted};
use crate::tolerance::Tolerance;

const FLOATS: DTypeSet = DTypeSet::of(&[DType::F16, DType::BF16, DType::F32, DType::F64]);

fn check_output(dtype: DType) -> Result<(), Failure> {
    if dtype == DType::Bool {
        return Err(Failure::unsupported("Range has no output type bool"));
    }
    Ok(())
}

/// Predicts `Range` as the core evaluates constants.
pub(crate) fn evaluate(call: &RangeCall) -> Outcome {
    let dtype = call.dtype;
    check_output(dtype)?;
    let arguments = call.floats();
    for (name, x) in ["start", "stop", "step"].into_iter().zip(arguments) {
        if !x.is_finite() {
            return Err(Failure::refused(format!("{name} cannot be nan or infinite")));
        }
    }
    if arguments[2] == 0.0 {
        return Err(Failure::refused("step cannot be zero, nan, or infinite"));
    }
    let [start, stop, step] = if dtype.is_integer() { arguments.map(f64::trunc) } else { arguments };
    let none = (step > 0.0 && start >= stop) || (step < 0.0 && start <= stop);
    let span = if none { 0.0 } else { stop - start };
    let quotient = (span.abs() / step.abs()).ceil();
    let len = u64::try_from(int(c_cast(DType::U32, quotient))).unwrap_or(0);
    let length_rule = "counts in float64, modulo 2^32";
    if dtype.is_integer() {
        let [start, step] = [start, step].map(|x| int(c_cast(dtype, x)));
        let rules = [length_rule, "casts start and step to the output type first"];
        return Ok(Predicted::new(dtype, len, WrappingRange { width: dtype, dtype, start, step }, rules));
    }
    if !FLOATS.contains(dtype) {
        return Err(Failure::unsupported(format!("evaluate() has no output type {dtype}")));
    }
    let (format, element_rule) = match dtype {
        DType::F64 => (DType::F64, "rounds i * step and the sum, each to float64"),
        DType::F32 => (DType::F32, "rounds start, step, i * step and the sum, each to float32"),
        DType::F16 => (DType::F32, "computes in float32 and rounds again"),
        _ => (DType::F32, "computes in float32 and cuts to bfloat16 where the last bit is even"),
    };
    let cast = if dtype == DType::BF16 { cut_to_bf16 } else { nearest };
    let [start, step] = [start, step].map(|x| rounded(format, x));
    let formula = ScaledLine { format, start, step, dtype, cast };
    Ok(Predicted::new(dtype, len, formula, [length_rule, element_rule]))
}

/// The conversion of OpenVINO's `bfloat16`: half a unit is added only if the last bit that is kept
/// is odd.
fn cut_to_bf16(dtype: DType, x: f64) -> Number {
    let bits = convert::code(DType::F32, Number::Float(x), convert::Rules::IEEE);
    convert::number(dtype, (bits + ((bits & 0x1_0000) >> 1)) >> 16)
}

/// The type as which the CPU plugin runs a type.
fn on_cpu(dtype: DType) -> DType {
    match dtype {
        DType::I64 | DType::U64 | DType::I32 | DType::U32 | DType::I16 | DType::U16 => DType::I32,
        DType::F64 => DType::F32,
        other => other,
    }
}

/// The widest vectors of the processor on which the CPU plugin runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vectors {
    Avx512,
    Avx2,
}

/// Predicts `Range` as the CPU plugin runs it.
pub(crate) fn cpu(call: &RangeCall, vectors: Vectors) -> Outcome {
    check_output(call.dtype)?;
    match call.ints() {
        Some(arguments) if on_cpu(call.input) == DType::I32 && on_cpu(call.dtype) == DType::I32 => {
            cpu_in_int32(call.dtype, arguments)
        }
        _ => cpu_in_float32(call, vectors),
    }
}

fn cpu_in_int32(dtype: DType, arguments: [i128; 3]) -> Outcome {
    let wrap = |x| wrapped(DType::I32, x);
    let abs = |x: i128| wrap(x.abs());
    let [start, stop, step] = arguments.map(wrap);
    if step == 0 {
        return Err(Failure::crash("divides by zero in int32: the process dies of SIGFPE"));
    }
    let count = wrap(wrap(abs(wrap(stop - start)) + abs(step)) - 1) / abs(step);
    let len = u64::try_from(count).unwrap_or(0);
    let formula = WrappingRange { width: DType::I32, dtype, start, step };
    let rules = ["counts in int32, wrapping, whatever the sign of the step", "computes in int32"];
    Ok(Predicted::new(dtype, len, formula, rules))
}

/// All numbers of bfloat16 below the normal ones, which begin at 1.2e-38.
const SUBNORMALS: Tolerance = Tolerance::UlpsAt { ulps: 128, of: DType::BF16, at: 1e-38 };

fn cpu_in_float32(call: &RangeCall, vectors: Vectors) -> Outcome {
    let largest = f64::from(f32::MAX);
    // Infinities of float64 become the largest float32; those of float32 stay.
    let narrow = |number| match number {
        Number::Float(x) if call.input == DType::F64 => rounded(DType::F32, x.clamp(-largest, largest)),
        _ => float(DType::F32, typed(on_cpu(call.input), number)),
    };
    let [start, stop, step] = call.arguments().map(narrow);
    let span = rounded(DType::F32, stop - start).abs();
    let quotient = rounded(DType::F32, span / step.abs()).ceil();
    // A length beyond 32 bits was seen to give an empty output.
    let len = count(quotient).filter(|&len| u32::try_from(len).is_ok()).unwrap_or(0);
    let start = rounded(DType::F32, start + rounded(DType::F32, 0.0 * step));
    let (cast, element_rule): (CastFunction, _) = match call.dtype {
        dtype if dtype.is_integer() => {
            (to_nearest_int, "adds up in float32 and rounds to the nearest integer, not toward zero")
        }
        DType::F64 | DType::F32 => (nearest, "adds up in float32"),
        DType::BF16 if vectors == Vectors::Avx2 => {
            (cut_to_bf16, "adds up in float32 and cuts to bfloat16 where the last bit is even")
        }
        _ => (nearest, "adds up in float32 and rounds each sum"),
    };
    let formula = Summed { format: DType::F32, start, step, dtype: call.dtype, cast };
    let length_rule = "counts in float32, whatever the sign of the step";
    let predicted = Predicted::new(call.dtype, len, formula, [length_rule, element_rule]);
    let may_flush = call.dtype == DType::BF16 && vectors != Vectors::Avx2;
    Ok(if may_flush { predicted.within(SUBNORMALS) } else { predicted })
}

/// Types of 8 bits saturate. The others are the low bits of an int32, which saturates at the
/// float32 numbers that fit.
fn to_nearest_int(dtype: DType, x: f64) -> Number {
    let (minimum, maximum) = match dtype {
        DType::I8 => (-128.0, 127.0),
        DType::U8 => (0.0, 255.0),
        _ => (-2147483648.0, 2147483520.0),
    };
    typed(dtype, c_cast(DType::I32, x.round_ties_even().clamp(minimum, maximum)))
}
