//! Operators that compute each element on its own.

use gradus_core::graph::Standard;
use gradus_core::{DType, Result};

use crate::attributes::missing;
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::types::{exactly, expect, largest_float8};
use crate::conversion::writer::{NONE, NewValue};
use crate::fact::{Fact, range_of};
use crate::normalize::Older;
use crate::operation::missing_bound;
use crate::{errors, sequence};

/// Writes a function of two elements that broadcast.
pub fn binary(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    Ok(vec![cx.put(operator, &[a, b], &[numpy()])?])
}

/// One operation over all operands, from the first on.
fn chain(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let operands = cx.inputs()?;
    let (&first, rest) = operands.split_first().ok_or_else(|| errors::count("inputs", 0, "at least 1"))?;
    let mut result = first;
    for &operand in rest {
        result = cx.put(operator, &[result, operand], &[numpy()])?;
    }
    Ok(vec![result])
}

/// Writes `Mod` as `FloorMod`, or as `Mod` of truncated quotients.
pub fn modulo(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(
        "the OpenVINO specification does not define whether the remainder of floats is exact",
    );
    let truncates = cx.attributes.flag("fmod", false)?;
    binary(cx, if truncates { "Mod" } else { "FloorMod" })
}

/// An exponent is cast to the base's type, if that holds it; otherwise, both become float64.
pub fn power(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (mut a, mut b) = (cx.input(0)?, cx.input(1)?);
    let (base, exponent) = (cx.dtype(0)?, cx.dtype(1)?);
    if !base.is_float() {
        if exponent != base {
            return Err(cannot(
                "OpenVINO has no equivalent of Pow with integers and an exponent of another type",
            ));
        }
        cx.edges(caveats::POWER);
        return Ok(vec![cx.put("Power", &[a, b], &[numpy()])?]);
    }
    cx.rounding(caveats::FUNCTION);
    let known = match cx.known(1)? {
        Some(known) => exactly(&known, base)?,
        None => None,
    };
    if exponent == base || known.is_some() || base.holds(exponent) {
        if exponent != base {
            b = match known {
                Some(known) => cx.constant(known),
                None => cx.converted(b, base)?,
            };
        }
        return Ok(vec![cx.put("Power", &[a, b], &[numpy()])?]);
    }
    if matches!(exponent, DType::I64 | DType::U64) {
        cx.edges("exponents above 2^53 are rounded to float64");
    }
    for (value, dtype) in [(&mut a, base), (&mut b, exponent)] {
        if dtype != DType::F64 {
            *value = cx.converted(*value, DType::F64)?;
        }
    }
    let power = cx.put("Power", &[a, b], &[numpy()])?;
    Ok(vec![if base == DType::F64 { power } else { cx.converted(power, base)? }])
}

/// Bounds that are missing are the ends of the type, which integers keep to anyway.
pub fn clip(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    let mut value = cx.input(0)?;
    for (input, operator) in [(1, "Maximum"), (2, "Minimum")] {
        let bound = if cx.has(input) {
            cx.scalar_input(input)?
        } else {
            let dtype = cx.dtype(0)?;
            let Some(most) = missing_bound(dtype) else { continue };
            cx.number(if input == 1 { -most } else { most }, dtype)?
        };
        value = cx.put(operator, &[value, bound], &[numpy()])?;
    }
    Ok(vec![value])
}

/// Returns true if an integer type has all elements of another.
fn fits(from: DType, to: DType) -> bool {
    range_of(from).zip(range_of(to)).is_some_and(|(from, to)| to.0 <= from.0 && from.1 <= to.1)
}

fn cast(cx: &mut ConvertContext<'_, '_>, to: DType) -> Result<Vec<NewValue>> {
    let (x, from) = (cx.input(0)?, cx.dtype(0)?);
    if from == DType::String || to == DType::String {
        return Err(cannot("OpenVINO has no equivalent of Cast for strings"));
    }
    expect(Standard::OpenVino, to)?;
    if to == DType::Bool && from != DType::Bool {
        // Types of few bits are compared as numbers of float32, which has them all.
        let few = from.is_real() && (from.bits() < 8 || (from.is_float() && from.bits() == 8));
        let (x, from) = if few { (cx.converted(x, DType::F32)?, DType::F32) } else { (x, from) };
        let zero = cx.number(0.0, from)?;
        return Ok(vec![cx.put("NotEqual", &[x, zero], &[numpy()])?]);
    }
    if from.is_float() && to.is_integer() {
        cx.edges(caveats::CAST);
    }
    if [DType::I4, DType::U4, DType::U16].contains(&to) && !from.is_float() && !fits(from, to) {
        cx.edges("the processor plug-in of OpenVINO keeps integers that the type cannot hold");
    }
    let largest = largest_float8(to);
    if to == DType::F8E8M0 {
        cx.rounding(caveats::SCALE);
    } else if to.is_float() && to.bits() <= 8 && largest.is_none() {
        cx.edges("the OpenVINO specification does not define conversions of numbers out of range");
    }
    if !(from.is_real() || from == DType::Bool) || !(to.is_real() || to == DType::Bool) {
        return Err(cannot(format!("OpenVINO has no conversion from {from} to {to}")));
    }
    let Some(largest) = largest.filter(|_| from != DType::Bool) else {
        return Ok(vec![cx.converted(x, to)?]);
    };
    cx.rounding(caveats::FLOAT8);
    let mut x = if from.is_float() && from.bits() <= 8 { cx.converted(x, DType::F32)? } else { x };
    // Integers of 8 bits and fewer are in range.
    let fits = from.is_integer() && from.bits() <= 8;
    if !fits && cx.attributes.flag("saturate", true)? {
        cx.edges_of_floats(caveats::NAN);
        x = cx.put("Clamp", &[x], &[say("min", -largest), say("max", largest)])?;
    }
    Ok(vec![cx.converted(x, to)?])
}

/// Writes `Div` as `Divide`, with quotients of integers rounded toward zero.
pub fn div(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    Ok(vec![cx.put("Divide", &[a, b], &[numpy(), say("m_pythondiv", false)])?])
}

/// Writes `Min` as a chain of `Minimum`.
pub fn min(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    chain(cx, "Minimum")
}

/// Writes `Max` as a chain of `Maximum`.
pub fn max(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    chain(cx, "Maximum")
}

/// Writes `Sum` as a chain of `Add`.
pub fn sum(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.count() > 2 {
        cx.rounding_of_floats(caveats::ORDER);
    }
    chain(cx, "Add")
}

/// Writes `BitShift` as `BitwiseLeftShift` or `BitwiseRightShift`.
pub fn bit_shift(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges("the specifications do not define shifts by the width of the type or more");
    let left = cx.attributes.text("direction")? == Some("LEFT");
    binary(cx, if left { "BitwiseLeftShift" } else { "BitwiseRightShift" })
}

/// Writes `Sign`.
pub fn sign(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    cx.unary("Sign")
}

/// Writes `Round`, with ties to even.
pub fn round(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    Ok(vec![cx.put("Round", &[x], &[say("mode", "half_to_even")])?])
}

/// Writes `Reciprocal` as `Divide`.
pub fn reciprocal(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let dtype = cx.dtype(0)?;
    let one = cx.number(1.0, dtype)?;
    Ok(vec![cx.put("Divide", &[one, x], &[numpy(), say("m_pythondiv", false)])?])
}

/// Writes `Relu` as `ReLU`.
pub fn relu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    cx.unary("ReLU")
}

/// Writes `IsInf` with the signs that it detects.
pub fn is_inf(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let positive = say("detect_positive", cx.attributes.flag("detect_positive", true)?);
    let negative = say("detect_negative", cx.attributes.flag("detect_negative", true)?);
    Ok(vec![cx.put("IsInf", &[x], &[positive, negative])?])
}

/// Writes `Cast` to the type that an attribute names.
pub fn cast_row(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let to = cx.attributes.dtype("to")?.ok_or_else(|| missing("to"))?;
    cast(cx, to)
}

/// Writes `CastLike` as a cast to the type of the second input.
pub fn cast_like(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let to = cx.dtype(1)?;
    cast(cx, to)
}

/// Writes `Identity` as a copy of a tensor or of a sequence.
pub fn identity(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if matches!(cx.fact(0), Fact::Sequence(_)) {
        return sequence::to_openvino::same(cx);
    }
    let x = cx.input(0)?;
    let dtype = cx.dtype(0)?;
    Ok(vec![cx.target.copy(x, Some(dtype))?])
}

/// Writes `Where` as `Select`.
pub fn where_row(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (condition, a, b) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    Ok(vec![cx.put("Select", &[condition, a, b], &[numpy()])?])
}

/// Writes `Gelu` with its approximation.
pub fn gelu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let tanh = cx.attributes.text("approximate")? == Some("tanh");
    let x = cx.input(0)?;
    Ok(vec![cx.put("Gelu", &[x], &[say("approximation_mode", if tanh { "TANH" } else { "ERF" })])?])
}

/// Numbers of the type of the first input, from attributes.
fn parameters<const N: usize>(
    cx: &mut ConvertContext<'_, '_>,
    attributes: [(&str, f32); N],
) -> Result<[NewValue; N]> {
    let dtype = cx.dtype(0)?;
    let mut values = [NONE; N];
    for (value, (name, default)) in values.iter_mut().zip(attributes) {
        let number = cx.attributes.float(name)?.unwrap_or(default);
        *value = cx.number(number.into(), dtype)?;
    }
    Ok(values)
}

/// Writes `LeakyRelu` as `PReLU` with one slope.
pub fn leaky_relu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.dtype(0)?.bits() < 32 {
        cx.rounding("the slope is of the type of the input");
    }
    let [slope] = parameters(cx, [("alpha", 0.01)])?;
    let (x, slope) = (cx.input(0)?, cx.reshaped(slope, &[1])?);
    Ok(vec![cx.put("PReLU", &[x, slope], &[])?])
}

/// Writes `Elu` with its slope.
pub fn elu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let alpha = say("alpha", cx.attributes.float("alpha")?.unwrap_or(1.0));
    let x = cx.input(0)?;
    Ok(vec![cx.put("Elu", &[x], &[alpha])?])
}

/// Returns true if an attribute is zero, for which OpenVINO's CPU plugin takes its default.
fn is_zero(cx: &ConvertContext<'_, '_>, names: &[&str]) -> Result<bool> {
    let mut found = false;
    for name in names {
        found |= cx.attributes.float(name)? == Some(0.0);
    }
    Ok(found)
}

/// Writes `Selu` with its parameters as inputs.
pub fn selu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    if is_zero(cx, &["alpha", "gamma"])? {
        let [gamma] = parameters(cx, [("gamma", 1.050_701)])?;
        let alpha = say("alpha", cx.attributes.float("alpha")?.unwrap_or(1.673_263_2));
        let x = cx.input(0)?;
        let value = cx.put("Elu", &[x], &[alpha])?;
        return Ok(vec![cx.put("Multiply", &[value, gamma], &[numpy()])?]);
    }
    let [alpha, gamma] = parameters(cx, [("alpha", 1.673_263_2), ("gamma", 1.050_701)])?;
    let x = cx.input(0)?;
    Ok(vec![cx.put("Selu", &[x, alpha, gamma], &[])?])
}

/// Writes `HardSigmoid` with its parameters as inputs.
pub fn hard_sigmoid(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let [alpha, beta] = parameters(cx, [("alpha", 0.2), ("beta", 0.5)])?;
    let x = cx.input(0)?;
    if is_zero(cx, &["alpha", "beta"])? {
        let value = cx.put("Multiply", &[x, alpha], &[numpy()])?;
        let value = cx.put("Add", &[value, beta], &[numpy()])?;
        return Ok(vec![cx.put("Clamp", &[value], &[say("min", 0.0), say("max", 1.0)])?]);
    }
    Ok(vec![cx.put("HardSigmoid", &[x, alpha, beta], &[])?])
}

/// Writes `Swish` with its factor as an input.
pub fn swish(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let [beta] = parameters(cx, [("alpha", 1.0)])?;
    let x = cx.input(0)?;
    Ok(vec![cx.put("Swish", &[x, beta], &[])?])
}

/// Slopes for each channel, or for each element; OpenVINO aligns a list with axis 1.
pub fn p_relu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.attributes.form().is(Older::ByChannel) {
        return Err(cannot("OpenVINO has no equivalent of PRelu before version 7"));
    }
    let (x, slope, rank, dtype) = (cx.input(0)?, cx.input(1)?, cx.rank(0)?, cx.dtype(0)?);
    let slopes: Option<Vec<_>> = cx.dims(1).and_then(|dims| dims.into_iter().collect());
    if let Some(slopes) = slopes.filter(|_| dtype.is_float()) {
        let own = slopes.len();
        // The axis of the channels, counted from the last.
        let channels = (rank >= 2).then(|| rank - 1);
        let others = |at: usize| Some(own - at) != channels;
        if (0..own).all(|at| slopes[at] == 1)
            || (own <= rank && (0..own).all(|at| slopes[at] == 1 || !others(at)))
        {
            let slope = cx.reshaped(slope, &[-1])?;
            return Ok(vec![cx.put("PReLU", &[x, slope], &[])?]);
        }
    }
    let zero = cx.number(0.0, dtype)?;
    let below = cx.put("Less", &[x, zero], &[numpy()])?;
    let scaled = cx.put("Multiply", &[x, slope], &[numpy()])?;
    Ok(vec![cx.put("Select", &[below, scaled, x], &[numpy()])?])
}
