//! Operators that compute each element on its own.

use gradus_core::convert::nearest_f32;
use gradus_core::graph::{Content, Standard};
use gradus_core::{Class, DType, Result};

use crate::attributes::missing;
use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::conversion::types::{expect, largest_float8, numbered};
use crate::elementwise::openvino::clamp_bound;
use crate::errors;
use crate::lowering::terms::{Term, cast, f, ints, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, flag, int, word};
use crate::words;

/// The operands, and the type of the first one.
fn operands(l: &mut Lowering<'_>) -> Result<(LoweredValue, LoweredValue, DType)> {
    Ok((l.input(0)?, l.aligned(0, 1)?, l.dtype_of(0)?))
}

/// Integers are as they are.
pub fn of_floats(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let whole = l.dtype_of(0)?.is_integer();
    l.unary(if whole { "Identity" } else { operator })
}

/// Writes a function of two elements, with the second aligned as OpenVINO broadcasts it.
pub fn binary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let (a, b) = (l.input(0)?, l.aligned(0, 1)?);
    Ok(vec![l.apply(operator, &[a, b], &[])?])
}

/// Writes a bitwise function, or the logical one of truth values.
pub fn bitwise(l: &mut Lowering<'_>, operator: &str, of_truth: &str) -> Result<Vec<LoweredValue>> {
    let truth = l.dtype_of(0)? == DType::Bool;
    binary(l, if truth { of_truth } else { operator })
}

/// Signed integers are shifted as unsigned ones of the same bits: `BitShift` takes others only
/// since version 28. To the right, the bits of those below zero are inverted before and after.
pub fn shift(l: &mut Lowering<'_>, direction: &str) -> Result<Vec<LoweredValue>> {
    l.edges("the specifications do not define shifts by the width of the type or more");
    let (a, b, dtype) = operands(l)?;
    let shift = |a: Term, b: Term| with("BitShift", [a, b], [word("direction", direction)]);
    let unsigned = match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        _ => return Ok(vec![shift(a.into(), b.into()).write(l, dtype)?]),
    };
    if direction != "RIGHT" {
        return Ok(vec![cast(shift(cast(a, unsigned), cast(b, unsigned)), dtype).write(l, dtype)?]);
    }
    let is_negative = of("Less", a, 0).write(l, dtype)?;
    // ONNX Runtime chooses among signed integers, but not among unsigned ones of 16 or 64 bits.
    let inverted = |x: LoweredValue| pick(is_negative, f("BitwiseNot", x), x);
    let shifted = cast(shift(cast(inverted(a), unsigned), cast(b, unsigned)), dtype).write(l, dtype)?;
    Ok(vec![inverted(shifted).write(l, dtype)?])
}

/// Integers are rounded down unless the attribute says otherwise. ONNX cuts them toward zero: one
/// less where something is left over that has another sign than the divisor.
pub fn divide(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, b, dtype) = operands(l)?;
    let quotient = (a / b).write(l, dtype)?;
    let signed = matches!(dtype.class(), Class::Signed);
    if !signed || !l.attributes.flag("m_pythondiv", true)? {
        return Ok(vec![quotient]);
    }
    let rest = (a - quotient * b).write(l, dtype)?;
    Ok(vec![(quotient - cast(differs(rest, b), dtype)).write(l, dtype)?])
}

/// The condition that a remainder is not zero and has another sign than the divisor.
fn differs(rest: LoweredValue, by: LoweredValue) -> Term {
    let other = of("Xor", of("Less", rest, 0), of("Less", by, 0));
    of("And", f("Not", of("Equal", rest, 0)), other)
}

const REMAINDER: &str = "the OpenVINO specification does not define whether the remainder of floats is exact";

/// Writes `FloorMod` as `Mod`, or as arithmetic of floats.
pub fn floor_mod(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, b, dtype) = operands(l)?;
    if !l.is_float(0) {
        return Ok(vec![l.apply("Mod", &[a, b], &[int("fmod", 0)])?]);
    }
    l.rounding(REMAINDER);
    Ok(vec![floor_mod_of_floats(l, [a, b], dtype)?])
}

/// The remainder of floats with the sign of the divisor: ONNX has only that with the sign of the
/// dividend.
pub(super) fn floor_mod_of_floats(
    l: &mut Lowering<'_>,
    [a, b]: [LoweredValue; 2],
    dtype: DType,
) -> Result<LoweredValue> {
    let rest = l.apply("Mod", &[a, b], &[int("fmod", 1)])?;
    pick(differs(rest, b), rest + b, rest).write(l, dtype)
}

/// ONNX has remainders with the sign of the dividend only of floats.
pub fn mod_row(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, b, dtype) = operands(l)?;
    if !l.is_float(0) {
        return Ok(vec![(a - a / b * b).write(l, dtype)?]);
    }
    l.rounding(REMAINDER);
    Ok(vec![l.apply("Mod", &[a, b], &[int("fmod", 1)])?])
}

/// ONNX rounds to the even one of two that are equally near. Away from zero, every step is exact.
pub fn round(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.attributes.text("mode")? != Some("half_away_from_zero") {
        return l.unary("Round");
    }
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let size = f("Abs", x).write(l, dtype)?;
    let floor = f("Floor", size).write(l, dtype)?;
    let near = pick(of("GreaterOrEqual", size - floor, 0.5), floor + 1.0, floor).write(l, dtype)?;
    // Zeros of either sign, and NaN, are as they are.
    let rounded = pick(of("Greater", x, 0.0), near, x);
    Ok(vec![pick(of("Less", x, 0.0), f("Neg", near), rounded).write(l, dtype)?])
}

/// Bounds are attributes.
pub fn clamp(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.edges_of_floats(caveats::NAN);
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let mut inputs = vec![x];
    for (name, up) in [("min", true), ("max", false)] {
        let text = l.attributes.text(name)?.unwrap_or_default();
        let bound: f64 = text.trim().parse().map_err(|_| errors::text(name, text, "a number"))?;
        inputs.push(l.constant(clamp_bound(bound, up, dtype)?)?);
    }
    Ok(vec![l.apply("Clip", &inputs, &[])?])
}

fn converted(l: &mut Lowering<'_>, to: DType) -> Result<Vec<LoweredValue>> {
    let from = l.dtype_of(0)?;
    // The cast widens a constant of a type that ONNX lacks.
    let x = match l.known(0)?.filter(|_| expect(Standard::Onnx, from).is_err()) {
        Some(tensor) => l.constant(tensor)?,
        None => l.input(0)?,
    };
    expect(Standard::Onnx, to)?;
    // OpenVINO copies by a conversion to the own type.
    if from == to {
        return Ok(vec![l.apply("Identity", &[x], &[])?]);
    }
    if from.is_float() && to.is_integer() {
        l.edges(caveats::CAST);
    }
    l.must_cast_to(to)?;
    if largest_float8(to).is_some() {
        l.rounding(caveats::FLOAT8);
        return Ok(vec![l.apply("Cast", &[x], &[numbered("to", to)?, flag("saturate", false)])?]);
    }
    if to == DType::F8E8M0 {
        l.rounding(caveats::SCALE);
        return Ok(vec![l.apply("Cast", &[x], &[numbered("to", to)?, word("round_mode", "nearest")])?]);
    }
    if to.is_float() && to.bits() <= 8 {
        l.edges("the OpenVINO specification does not define conversions of numbers out of range");
    }
    Ok(vec![l.cast(x, to)?])
}

/// Writes `Convert` as `Cast`.
pub fn convert(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let to = l.attributes.dtype("to")?;
    converted(l, to.ok_or_else(|| missing("destination_type"))?)
}

/// Writes `ConvertLike` as `Cast` to the type of the second input.
pub fn convert_like(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let to = l.dtype_of(1)?;
    converted(l, to)
}

/// With broadcasting as `PaddlePaddle` does it, the result has the shape of the first of the two.
pub fn select(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.attributes.text("auto_broadcast")? == Some("pdpd") {
        return Err(cannot("ONNX has no equivalent of Select with auto_broadcast=pdpd"));
    }
    let (condition, a, b, dtype) = (l.input(0)?, l.input(1)?, l.input(2)?, l.dtype_of(1)?);
    // ONNX Runtime has no Where of truth values.
    let chosen = match dtype {
        DType::Bool => of("Or", of("And", condition, a), of("And", f("Not", condition), b)),
        _ => pick(condition, a, b),
    };
    Ok(vec![chosen.write(l, dtype)?])
}

/// Writes `Power` as `Pow`.
pub fn power(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.is_float(0) {
        l.rounding(caveats::FUNCTION);
    } else {
        l.edges(caveats::POWER);
    }
    binary(l, "Pow")
}

/// An operator whose result for NaN is open.
pub fn chosen(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    l.edges_of_floats(caveats::NAN);
    if l.count() == 2 { binary(l, operator) } else { l.unary(operator) }
}

/// Writes `SquaredDifference` as `Sub` and `Mul`.
pub fn squared_difference(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding_of_floats(
        "the OpenVINO specification does not define whether the difference is rounded before it is squared",
    );
    let less = binary(l, "Sub")?[0];
    Ok(vec![l.apply("Mul", &[less, less], &[])?])
}

/// Writes `NotEqual` as `Equal` and `Not`.
pub fn not_equal(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let equal = binary(l, "Equal")?[0];
    Ok(vec![l.apply("Not", &[equal], &[])?])
}

/// Writes `BitwiseNot`, or `Not` of truth values.
pub fn bitwise_not(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let of_truth = l.dtype_of(0)? == DType::Bool;
    l.unary(if of_truth { "Not" } else { "BitwiseNot" })
}

/// Writes `IsInf` with the signs that it detects.
pub fn is_inf(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let positive = flag("detect_positive", l.attributes.flag("detect_positive", true)?);
    let negative = flag("detect_negative", l.attributes.flag("detect_negative", true)?);
    Ok(vec![with("IsInf", [l.input(0)?.into()], [positive, negative]).put(l)?])
}

/// Writes `IsFinite` as `IsNaN`, `IsInf`, `Or` and `Not`.
pub fn is_finite(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    Ok(vec![f("Not", of("Or", f("IsNaN", x), f("IsInf", x))).write(l, DType::Bool)?])
}

/// Numbers that are scaled and shifted have the precision of 8 bits.
pub fn fake_convert(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding("the OpenVINO specification does not define the rounding of the scaled numbers");
    let narrow = l.attributes.dtype("destination_type")?.unwrap_or(DType::F8E4M3FN);
    l.must_cast_to(narrow)?;
    let (x, scale, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let narrowed = |value: Term| cast(cast(value, narrow), dtype);
    let value = if l.has(2) {
        let shift = l.input(2)?;
        narrowed(x * scale - shift) + shift
    } else {
        narrowed(x * scale)
    };
    Ok(vec![(value / scale).write(l, dtype)?])
}

/// Writes `Gelu` with its approximation.
pub fn gelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let tanh = words::GELU_MODE.of(&l.attributes)? == "tanh";
    let x = l.input(0)?;
    Ok(vec![l.apply("Gelu", &[x], &[word("approximate", if tanh { "tanh" } else { "none" })])?])
}

/// `x * sigmoid(beta * x)`.
pub fn swish(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let x = l.input(0)?;
    let scaled = if l.has(1) { x * l.input(1)? } else { x.into() };
    Ok(vec![(x * f("Sigmoid", scaled)).write(l, DType::F32)?])
}

/// `min(max(x + 3, 0), 6) / 6`.
pub fn h_sigmoid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    Ok(vec![part_of_six(x).write(l, dtype)?])
}

/// `min(max(x + 3, 0), 6) / 6`, as attributes of `HardSigmoid` are float32 and no 6th.
pub(super) fn part_of_six(x: LoweredValue) -> Term {
    with("Clip", [x + 3.0, 0.0.into(), 6.0.into()], []) / 6.0
}

/// A function with numbers that are attributes in ONNX.
pub fn with_numbers(
    l: &mut Lowering<'_>,
    operator: &str,
    names: [&'static str; 2],
) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let mut attributes = Vec::new();
    for (input, name) in (1..).zip(names) {
        let number = l.known(input)?.ok_or_else(|| l.unknown(name))?.only_number()?;
        attributes.push((name, Content::Float(nearest_f32(number))));
    }
    let x = l.input(0)?;
    Ok(vec![l.apply(operator, &[x], &attributes)?])
}

/// A list of slopes goes along axis 1.
pub fn p_relu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, mut slope) = (l.input(0)?, l.input(1)?);
    if l.len(1) == Some(1) {
        slope = l.reshape(slope, &[])?;
    } else if l.rank_of(1)? == 1 {
        let mut dims = vec![1; l.rank_of(0)?.saturating_sub(1).max(1)];
        dims[0] = -1;
        slope = of("Reshape", slope, ints(&dims)).write(l, DType::F32)?;
    }
    Ok(vec![l.apply("PRelu", &[x, slope], &[])?])
}

/// Writes `Elu` with its slope.
pub fn elu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let alpha = l.attributes.float("alpha")?.unwrap_or(1.0);
    Ok(vec![with("Elu", [l.input(0)?.into()], [("alpha", Content::Float(alpha))]).put(l)?])
}
