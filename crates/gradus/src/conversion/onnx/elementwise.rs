//! Operators that compute each element on its own.

use gradus_core::convert::usize_of;
use gradus_core::float::Format;
use gradus_core::{DType, Result};

use super::super::node::{Cx, cannot};
use super::super::open;
use super::super::rows::rows;
use super::super::target::V;
use super::super::types::{exactly, expect, same};
use super::{numpy, say};
use crate::ops::missing_bound;
use gradus_core::graph::Standard;

rows! {
    "Add" "Add" "" |cx| binary(cx, "Add");
    "Sub" "Subtract" "" |cx| binary(cx, "Subtract");
    "Mul" "Multiply" "" |cx| binary(cx, "Multiply");
    "Div" "Divide" "" |cx| {
        let (a, b) = (cx.input(0)?, cx.input(1)?);
        Ok(vec![cx.put("Divide", &[a, b], &[numpy(), say("m_pythondiv", false)])?])
    };
    "Mod" "FloorMod, Mod" "floats: rounding" modulo;
    "Pow" "Power, Convert" "floats: rounding, and exponents beyond 2^53; integers: negative exponents" power;
    "Min" "Minimum" "floats: NaN" |cx| { cx.edges_of_floats(open::NAN); chain(cx, "Minimum") };
    "Max" "Maximum" "floats: NaN" |cx| { cx.edges_of_floats(open::NAN); chain(cx, "Maximum") };
    "Sum" "Add" "floats, three or more: rounding" |cx| {
        if cx.count() > 2 {
            cx.rounding_of_floats(open::ORDER);
        }
        chain(cx, "Add")
    };
    "Equal" "Equal" "" |cx| binary(cx, "Equal");
    "Less" "Less" "" |cx| binary(cx, "Less");
    "LessOrEqual" "LessEqual" "" |cx| binary(cx, "LessEqual");
    "Greater" "Greater" "" |cx| binary(cx, "Greater");
    "GreaterOrEqual" "GreaterEqual" "" |cx| binary(cx, "GreaterEqual");
    "And" "LogicalAnd" "" |cx| binary(cx, "LogicalAnd");
    "Or" "LogicalOr" "" |cx| binary(cx, "LogicalOr");
    "Xor" "LogicalXor" "" |cx| binary(cx, "LogicalXor");
    "Not" "LogicalNot" "" |cx| cx.unary("LogicalNot");
    "BitwiseAnd" "BitwiseAnd" "" |cx| binary(cx, "BitwiseAnd");
    "BitwiseOr" "BitwiseOr" "" |cx| binary(cx, "BitwiseOr");
    "BitwiseXor" "BitwiseXor" "" |cx| binary(cx, "BitwiseXor");
    "BitwiseNot" "BitwiseNot" "" |cx| cx.unary("BitwiseNot");
    "BitShift" "BitwiseLeftShift, BitwiseRightShift" "counts of the width or more" |cx| {
        cx.edges("counts of as many bits as the type has, or more, are left open");
        let left = cx.attributes.text("direction") == Some("LEFT");
        binary(cx, if left { "BitwiseLeftShift" } else { "BitwiseRightShift" })
    };
    "Neg" "Negative" "" |cx| cx.unary("Negative");
    "Abs" "Abs" "" |cx| cx.unary("Abs");
    "Sign" "Sign" "floats: NaN" |cx| { cx.edges_of_floats(open::NAN); cx.unary("Sign") };
    "Floor" "Floor" "" |cx| cx.unary("Floor");
    "Ceil" "Ceiling" "" |cx| cx.unary("Ceiling");
    "Round" "Round" "" |cx| {
        let x = cx.input(0)?;
        Ok(vec![cx.put("Round", &[x], &[say("mode", "half_to_even")])?])
    };
    "Sqrt" "Sqrt" "" |cx| cx.unary("Sqrt");
    "Reciprocal" "Divide" "" |cx| {
        let x = cx.input(0)?;
        let dtype = cx.dtype(0)?;
        let one = cx.number(1.0, dtype)?;
        Ok(vec![cx.put("Divide", &[one, x], &[numpy(), say("m_pythondiv", false)])?])
    };
    "Relu" "ReLU" "floats: NaN" |cx| { cx.edges_of_floats(open::NAN); cx.unary("ReLU") };
    "Clip" "Maximum, Minimum" "floats: NaN" clip;
    "Exp" "Exp" "rounding" |cx| cx.function("Exp");
    "Log" "Log" "rounding" |cx| cx.function("Log");
    "Sin" "Sin" "rounding" |cx| cx.function("Sin");
    "Cos" "Cos" "rounding" |cx| cx.function("Cos");
    "Tan" "Tan" "rounding" |cx| cx.function("Tan");
    "Asin" "Asin" "rounding" |cx| cx.function("Asin");
    "Acos" "Acos" "rounding" |cx| cx.function("Acos");
    "Atan" "Atan" "rounding" |cx| cx.function("Atan");
    "Sinh" "Sinh" "rounding" |cx| cx.function("Sinh");
    "Cosh" "Cosh" "rounding" |cx| cx.function("Cosh");
    "Tanh" "Tanh" "rounding" |cx| cx.function("Tanh");
    "Asinh" "Asinh" "rounding" |cx| cx.function("Asinh");
    "Acosh" "Acosh" "rounding" |cx| cx.function("Acosh");
    "Atanh" "Atanh" "rounding" |cx| cx.function("Atanh");
    "Erf" "Erf" "rounding" |cx| cx.function("Erf");
    "Sigmoid" "Sigmoid" "rounding" |cx| cx.function("Sigmoid");
    "Softplus" "SoftPlus" "rounding" |cx| cx.function("SoftPlus");
    "Softsign" "SoftSign" "rounding" |cx| cx.function("SoftSign");
    "IsNaN" "IsNaN" "" |cx| cx.unary("IsNaN");
    "IsInf" "IsInf" "" |cx| {
        let x = cx.input(0)?;
        let [positive, negative] =
            ["detect_positive", "detect_negative"].map(|name| say(name, cx.attributes.flag(name, true)));
        Ok(vec![cx.put("IsInf", &[x], &[positive, negative])?])
    };
    "Cast" "Convert" "from floats to integers: numbers that do not fit" |cx| {
        let to = cx.attributes.dtype("to").ok_or_else(|| cannot("attribute \"to\" is no element type"))?;
        cast(cx, to)
    };
    "CastLike" "Convert" "from floats to integers: numbers that do not fit" |cx| { let to = cx.dtype(1)?; cast(cx, to) };
    "Identity" "Convert to the same type" "" |cx| {
        let x = cx.input(0)?;
        let dtype = cx.dtype(0)?;
        Ok(vec![same(cx.target, x, Some(dtype))?])
    };
    "Where" "Select" "" |cx| {
        let (condition, a, b) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
        Ok(vec![cx.put("Select", &[condition, a, b], &[numpy()])?])
    };
}

fn binary(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    Ok(vec![cx.put(operator, &[a, b], &[numpy()])?])
}

/// One operation over all operands, from the first on.
fn chain(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    let operands = cx.inputs()?;
    let (&first, rest) = operands.split_first().ok_or_else(|| cannot("there are no operands"))?;
    let mut result = first;
    for &operand in rest {
        result = cx.put(operator, &[result, operand], &[numpy()])?;
    }
    Ok(vec![result])
}

fn modulo(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    cx.rounding_of_floats("OpenVINO does not say that the remainder of floats is exact");
    let truncates = cx.attributes.flag("fmod", false);
    binary(cx, if truncates { "Mod" } else { "FloorMod" })
}

/// Whether a type of floats holds all numbers of another type.
fn holds(floats: DType, other: DType) -> bool {
    Format::of(floats).is_some_and(|own| match Format::of(other) {
        Some(other) => other.precision() <= own.precision() && other.least_exponent() >= own.least_exponent(),
        None => other.is_integer() && other.bits() <= usize_of(own.precision().into()),
    })
}

/// An exponent is cast to the base's type, if that holds it; otherwise, both become float64.
fn power(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    let (mut a, mut b) = (cx.input(0)?, cx.input(1)?);
    let (base, exponent) = (cx.dtype(0)?, cx.dtype(1)?);
    if !base.is_float() {
        if exponent != base {
            return Err(cannot("OpenVINO has no power of integers with exponents of another type"));
        }
        cx.edges(open::POWER);
        return Ok(vec![cx.put("Power", &[a, b], &[numpy()])?]);
    }
    cx.rounding(open::FUNCTION);
    let known = match cx.known(1)? {
        Some(known) => exactly(&known, base)?,
        None => None,
    };
    if exponent == base || known.is_some() || holds(base, exponent) {
        if exponent != base {
            b = match known {
                Some(known) => cx.constant(known),
                None => cx.converted(b, base)?,
            };
        }
        return Ok(vec![cx.put("Power", &[a, b], &[numpy()])?]);
    }
    if matches!(exponent, DType::I64 | DType::U64) {
        cx.edges("exponents beyond 2^53 are rounded to a float64");
    }
    for (value, dtype) in [(&mut a, base), (&mut b, exponent)] {
        if dtype != DType::F64 {
            *value = cx.converted(*value, DType::F64)?;
        }
    }
    let power = cx.put("Power", &[a, b], &[numpy()])?;
    Ok(vec![if base == DType::F64 { power } else { cx.converted(power, base)? }])
}

/// Bounds are inputs, or floats of older versions. Those that are missing are the ends of the type, which integers keep to anyway.
fn clip(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    cx.edges_of_floats(open::NAN);
    let mut value = cx.input(0)?;
    for (input, name, operator) in [(1, "min", "Maximum"), (2, "max", "Minimum")] {
        let bound = match cx.attributes.float(name) {
            Some(bound) => {
                let dtype = cx.dtype(0)?;
                cx.number(bound.into(), dtype)?
            }
            None if cx.has(input) => cx.scalar_input(input)?,
            None => {
                let dtype = cx.dtype(0)?;
                let Some(most) = missing_bound(dtype, cx.node.version.unwrap_or(i64::MAX)) else { continue };
                cx.number(if input == 1 { -most } else { most }, dtype)?
            }
        };
        value = cx.put(operator, &[value, bound], &[numpy()])?;
    }
    Ok(vec![value])
}

fn cast(cx: &mut Cx<'_, '_>, to: DType) -> Result<Vec<V>> {
    let (x, from) = (cx.input(0)?, cx.dtype(0)?);
    if from == DType::String || to == DType::String {
        return Err(cannot("OpenVINO does not convert text"));
    }
    expect(Standard::OpenVino, to)?;
    if to == DType::Bool && from != DType::Bool {
        let zero = cx.number(0.0, from)?;
        return Ok(vec![cx.put("NotEqual", &[x, zero], &[numpy()])?]);
    }
    if from.is_float() && to.is_integer() {
        cx.edges(open::CAST);
    }
    if to.is_float() && to.bits() <= 8 {
        cx.edges("OpenVINO does not say what numbers beyond the largest become");
    }
    if !(from.is_real() || from == DType::Bool) || !(to.is_real() || to == DType::Bool) {
        return Err(cannot(format!("OpenVINO does not convert {from} to {to}")));
    }
    Ok(vec![cx.converted(x, to)?])
}
