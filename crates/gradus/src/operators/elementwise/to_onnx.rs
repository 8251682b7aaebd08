//! Operators that compute each element on its own.

use gradus_core::convert::nearest_f32;
use gradus_core::graph::{Content, Standard};
use gradus_core::{DType, Result};

use crate::attributes::missing;
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_onnx::{flag, int, word};
use crate::conversion::types::{expect, largest_float8, numbered};
use crate::conversion::writer::NewValue;
use crate::operators::elementwise::openvino::clamp_bound;
use crate::operators::errors;

/// Integers are as they are.
pub(crate) fn of_floats(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let whole = cx.dtype(0)?.is_integer();
    cx.unary(if whole { "Identity" } else { operator })
}

pub(crate) fn binary(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let (a, b) = (cx.input(0)?, cx.aligned(0, 1)?);
    Ok(vec![cx.put(operator, &[a, b], &[])?])
}

pub(crate) fn bitwise(
    cx: &mut ConvertContext<'_, '_>,
    operator: &str,
    of_truth: &str,
) -> Result<Vec<NewValue>> {
    let truth = cx.dtype(0)? == DType::Bool;
    binary(cx, if truth { of_truth } else { operator })
}

/// Signed integers are shifted as unsigned ones of the same bits: `BitShift` takes others only
/// since version 28. To the right, the bits of those below zero are inverted before and after.
pub(crate) fn shift(cx: &mut ConvertContext<'_, '_>, direction: &str) -> Result<Vec<NewValue>> {
    cx.edges("the specifications do not define shifts by the width of the type or more");
    let (a, b, dtype) = (cx.input(0)?, cx.aligned(0, 1)?, cx.dtype(0)?);
    let unsigned = match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        _ => return Ok(vec![cx.put("BitShift", &[a, b], &[word("direction", direction)])?]),
    };
    let zero = number(cx, 0.0)?;
    let is_negative = cx.put("Less", &[a, zero], &[])?;
    let inverted = direction == "RIGHT";
    // ONNX Runtime chooses among signed integers, but not among unsigned ones of 16 or 64 bits.
    let bits = if inverted { inverted_where(cx, is_negative, (a, dtype))? } else { a };
    let (bits, count) = (cx.cast(bits, unsigned)?, cx.cast(b, unsigned)?);
    let shifted = cx.put("BitShift", &[bits, count], &[word("direction", direction)])?;
    let shifted = cx.cast(shifted, dtype)?;
    Ok(vec![if inverted { inverted_where(cx, is_negative, (shifted, dtype))? } else { shifted }])
}

fn inverted_where(
    cx: &mut ConvertContext<'_, '_>,
    condition: NewValue,
    (x, dtype): (NewValue, DType),
) -> Result<NewValue> {
    let inverted = cx.put_of_type("BitwiseNot", x, dtype)?;
    cx.put("Where", &[condition, inverted, x], &[])
}

/// A number of the type of the first input.
fn number(cx: &mut ConvertContext<'_, '_>, value: f64) -> Result<NewValue> {
    let dtype = cx.dtype(0)?;
    cx.number(value, dtype)
}

/// Integers are rounded down unless the attribute says otherwise. ONNX cuts them toward zero: one
/// less where something is left over that has another sign than the divisor.
pub(crate) fn divide(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (a, b) = (cx.input(0)?, cx.aligned(0, 1)?);
    let quotient = cx.put("Div", &[a, b], &[])?;
    let dtype = cx.dtype(0)?;
    let signed = matches!(dtype.class(), gradus_core::Class::Signed);
    if !signed || !cx.attributes.flag("m_pythondiv", true)? {
        return Ok(vec![quotient]);
    }
    let rest = left_over(cx, a, b, quotient)?;
    let less = differs(cx, rest, b)?;
    let less = cx.cast(less, dtype)?;
    Ok(vec![cx.put("Sub", &[quotient, less], &[])?])
}

/// The remainder of a quotient of integers that is truncated: ONNX has remainders with the sign of
/// the dividend only of floats.
fn left_over(
    cx: &mut ConvertContext<'_, '_>,
    a: NewValue,
    b: NewValue,
    quotient: NewValue,
) -> Result<NewValue> {
    let covered = cx.put("Mul", &[quotient, b], &[])?;
    cx.put("Sub", &[a, covered], &[])
}

/// Returns true if a remainder is not zero and has another sign than the divisor.
fn differs(cx: &mut ConvertContext<'_, '_>, rest: NewValue, by: NewValue) -> Result<NewValue> {
    let zero = number(cx, 0.0)?;
    let (below, by_below) = (cx.put("Less", &[rest, zero], &[])?, cx.put("Less", &[by, zero], &[])?);
    let none = cx.put("Equal", &[rest, zero], &[])?;
    let some = cx.put("Not", &[none], &[])?;
    let other = cx.put("Xor", &[below, by_below], &[])?;
    cx.put("And", &[some, other], &[])
}

pub(crate) fn floor_mod(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (a, b) = (cx.input(0)?, cx.aligned(0, 1)?);
    if !cx.is_float(0) {
        return Ok(vec![cx.put("Mod", &[a, b], &[int("fmod", 0)])?]);
    }
    cx.rounding("the OpenVINO specification does not define whether the remainder of floats is exact");
    Ok(vec![floor_mod_of_floats(cx, a, b)?])
}

/// The remainder of floats with the sign of the divisor: ONNX has only that with the sign of the
/// dividend.
pub(crate) fn floor_mod_of_floats(
    cx: &mut ConvertContext<'_, '_>,
    a: NewValue,
    b: NewValue,
) -> Result<NewValue> {
    let rest = cx.put("Mod", &[a, b], &[int("fmod", 1)])?;
    let less = differs(cx, rest, b)?;
    let more = cx.put("Add", &[rest, b], &[])?;
    cx.put("Where", &[less, more, rest], &[])
}

/// ONNX rounds to the even one of two that are equally near. Away from zero, every step is exact.
pub(crate) fn round(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    if cx.attributes.text("mode")? != Some("half_away_from_zero") {
        return Ok(vec![cx.put("Round", &[x], &[])?]);
    }
    let (zero, half, one) = (number(cx, 0.0)?, number(cx, 0.5)?, number(cx, 1.0)?);
    let size = cx.put("Abs", &[x], &[])?;
    let floor = cx.put("Floor", &[size], &[])?;
    let rest = cx.put("Sub", &[size, floor], &[])?;
    let (up, above) = (cx.put("GreaterOrEqual", &[rest, half], &[])?, cx.put("Add", &[floor, one], &[])?);
    let near = cx.put("Where", &[up, above, floor], &[])?;
    let (minus, below) = (cx.put("Neg", &[near], &[])?, cx.put("Less", &[x, zero], &[])?);
    // Zeros of either sign, and NaN, are as they are.
    let above = cx.put("Greater", &[x, zero], &[])?;
    let rounded = cx.put("Where", &[above, near, x], &[])?;
    Ok(vec![cx.put("Where", &[below, minus, rounded], &[])?])
}

/// Bounds are attributes.
pub(crate) fn clamp(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    let (x, dtype) = (cx.input(0)?, cx.dtype(0)?);
    let mut inputs = vec![x];
    for (name, up) in [("min", true), ("max", false)] {
        let text = cx.attributes.text(name)?.unwrap_or_default();
        let bound: f64 = text.trim().parse().map_err(|_| errors::text(name, text, "a number"))?;
        let bound = clamp_bound(bound, up, dtype)?;
        inputs.push(cx.constant(bound));
    }
    Ok(vec![cx.put("Clip", &inputs, &[])?])
}

fn converted(cx: &mut ConvertContext<'_, '_>, to: DType) -> Result<Vec<NewValue>> {
    let from = cx.dtype(0)?;
    // The cast widens a constant of a type that ONNX lacks.
    let x = match cx.known(0)?.filter(|_| expect(Standard::Onnx, from).is_err()) {
        Some(tensor) => cx.constant(tensor),
        None => cx.input(0)?,
    };
    expect(Standard::Onnx, to)?;
    if from.is_float() && to.is_integer() {
        cx.edges(caveats::CAST);
    }
    cx.must_cast_to(to)?;
    if largest_float8(to).is_some() {
        cx.rounding(caveats::FLOAT8);
        return Ok(vec![cx.put("Cast", &[x], &[numbered("to", to)?, flag("saturate", false)])?]);
    }
    if to.is_float() && to.bits() <= 8 {
        cx.edges("the OpenVINO specification does not define conversions of numbers out of range");
    }
    Ok(vec![cx.cast(x, to)?])
}

/// With broadcasting as `PaddlePaddle` does it, the result has the shape of the first of the two.
pub(crate) fn select(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.attributes.text("auto_broadcast")? == Some("pdpd") {
        return Err(cannot("ONNX has no equivalent of Select with auto_broadcast=pdpd"));
    }
    let (condition, a, b) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    if cx.dtype(1)? != DType::Bool {
        return Ok(vec![cx.put("Where", &[condition, a, b], &[])?]);
    }
    // ONNX Runtime has no Where of truth values.
    let otherwise = cx.put("Not", &[condition], &[])?;
    let (a, b) = (cx.put("And", &[condition, a], &[])?, cx.put("And", &[otherwise, b], &[])?);
    Ok(vec![cx.put("Or", &[a, b], &[])?])
}

pub(crate) fn mod_row(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (a, b) = (cx.input(0)?, cx.aligned(0, 1)?);
    if !cx.is_float(0) {
        let quotient = cx.put("Div", &[a, b], &[])?;
        return Ok(vec![left_over(cx, a, b, quotient)?]);
    }
    cx.rounding("the OpenVINO specification does not define whether the remainder of floats is exact");
    Ok(vec![cx.put("Mod", &[a, b], &[int("fmod", 1)])?])
}

pub(crate) fn power(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.is_float(0) {
        cx.rounding(caveats::FUNCTION);
    } else {
        cx.edges(caveats::POWER);
    }
    binary(cx, "Pow")
}

pub(crate) fn minimum(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    binary(cx, "Min")
}

pub(crate) fn maximum(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    binary(cx, "Max")
}

pub(crate) fn squared_difference(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(
        "the OpenVINO specification does not define whether the difference is rounded before it is squared",
    );
    let less = binary(cx, "Sub")?[0];
    Ok(vec![cx.put("Mul", &[less, less], &[])?])
}

pub(crate) fn not_equal(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let equal = binary(cx, "Equal")?[0];
    Ok(vec![cx.put("Not", &[equal], &[])?])
}

pub(crate) fn bitwise_not(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let of_truth = cx.dtype(0)? == DType::Bool;
    cx.unary(if of_truth { "Not" } else { "BitwiseNot" })
}

pub(crate) fn sign(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    cx.unary("Sign")
}

pub(crate) fn re_lu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    cx.unary("Relu")
}

pub(crate) fn is_inf(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let positive = flag("detect_positive", cx.attributes.flag("detect_positive", true)?);
    let negative = flag("detect_negative", cx.attributes.flag("detect_negative", true)?);
    Ok(vec![cx.put("IsInf", &[x], &[positive, negative])?])
}

pub(crate) fn is_finite(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let (nan, infinite) = (cx.put("IsNaN", &[x], &[])?, cx.put("IsInf", &[x], &[])?);
    let either = cx.put("Or", &[nan, infinite], &[])?;
    Ok(vec![cx.put("Not", &[either], &[])?])
}

pub(crate) fn identity(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    Ok(vec![cx.target.copy(x, None)?])
}

pub(crate) fn convert(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let to = cx.attributes.dtype("to")?;
    converted(cx, to.ok_or_else(|| missing("destination_type"))?)
}

pub(crate) fn convert_like(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let to = cx.dtype(1)?;
    converted(cx, to)
}

/// Numbers that are scaled and shifted have the precision of 8 bits.
pub(crate) fn fake_convert(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding("the OpenVINO specification does not define the rounding of the scaled numbers");
    let narrow = cx.attributes.dtype("destination_type")?.unwrap_or(DType::F8E4M3FN);
    cx.must_cast_to(narrow)?;
    let (x, scale, dtype) = (cx.input(0)?, cx.input(1)?, cx.dtype(0)?);
    let shift = if cx.has(2) { Some(cx.input(2)?) } else { None };
    let mut value = cx.put("Mul", &[x, scale], &[])?;
    if let Some(shift) = shift {
        value = cx.put("Sub", &[value, shift], &[])?;
    }
    let narrowed = cx.cast(value, narrow)?;
    value = cx.cast(narrowed, dtype)?;
    if let Some(shift) = shift {
        value = cx.put("Add", &[value, shift], &[])?;
    }
    Ok(vec![cx.put("Div", &[value, scale], &[])?])
}

pub(crate) fn gelu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let tanh =
        cx.attributes.text("approximation_mode")?.is_some_and(|mode| mode.eq_ignore_ascii_case("tanh"));
    let x = cx.input(0)?;
    Ok(vec![cx.put("Gelu", &[x], &[word("approximate", if tanh { "tanh" } else { "none" })])?])
}

/// `x * sigmoid(beta * x)`.
pub(crate) fn swish(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let x = cx.input(0)?;
    let scaled = if cx.has(1) {
        let beta = cx.input(1)?;
        cx.put("Mul", &[x, beta], &[])?
    } else {
        x
    };
    let part = cx.put("Sigmoid", &[scaled], &[])?;
    Ok(vec![cx.put("Mul", &[x, part], &[])?])
}

/// `min(max(x + 3, 0), 6) / 6`.
pub(crate) fn h_sigmoid(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let x = cx.input(0)?;
    let dtype = cx.dtype(0)?;
    Ok(vec![part_of_six(cx, x, dtype)?])
}

/// `min(max(x + 3, 0), 6) / 6`, as attributes of `HardSigmoid` are float32 and no 6th.
pub(crate) fn part_of_six(cx: &mut ConvertContext<'_, '_>, x: NewValue, dtype: DType) -> Result<NewValue> {
    let [zero, three, six] = [0.0, 3.0, 6.0].map(|number| cx.number(number, dtype));
    let (three, six) = (three?, six?);
    let sum = cx.put("Add", &[x, three], &[])?;
    let clipped = cx.put("Clip", &[sum, zero?, six], &[])?;
    cx.put("Div", &[clipped, six], &[])
}

/// A function with numbers that are attributes in ONNX.
fn with_numbers(
    cx: &mut ConvertContext<'_, '_>,
    operator: &str,
    names: [&'static str; 2],
) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let mut attributes = Vec::new();
    for (input, name) in (1..).zip(names) {
        let number = cx.known(input)?.ok_or_else(|| not_known(name))?.only_number()?;
        attributes.push((name, Content::Float(nearest_f32(number))));
    }
    let x = cx.input(0)?;
    Ok(vec![cx.put(operator, &[x], &attributes)?])
}

pub(crate) fn hard_sigmoid(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    with_numbers(cx, "HardSigmoid", ["alpha", "beta"])
}

pub(crate) fn selu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    with_numbers(cx, "Selu", ["alpha", "gamma"])
}

/// A list of slopes goes along axis 1.
pub(crate) fn p_relu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, mut slope) = (cx.input(0)?, cx.input(1)?);
    if cx.len(1) == Some(1) {
        let none = cx.list(&[]);
        slope = cx.with_shape(slope, none)?;
    } else if cx.rank(1)? == 1 {
        let mut dims = vec![1; cx.rank(0)?.saturating_sub(1).max(1)];
        dims[0] = -1;
        let dims = cx.list(&dims);
        slope = cx.with_shape(slope, dims)?;
    }
    Ok(vec![cx.put("PRelu", &[x, slope], &[])?])
}

pub(crate) fn elu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let alpha = cx.attributes.float("alpha")?.unwrap_or(1.0);
    let x = cx.input(0)?;
    Ok(vec![cx.put("Elu", &[x], &[("alpha", Content::Float(alpha))])?])
}
