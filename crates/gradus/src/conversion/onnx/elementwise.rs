//! Operators that compute each element on its own.

use gradus_core::{DType, Result};

use super::super::node::{Cx, cannot};
use super::super::rows::rows;
use super::super::target::V;
use super::super::types::{expect, same};
use super::{numpy, say};
use gradus_core::graph::Standard;

/// What neither standard says of functions that are not algebraic.
pub(in crate::conversion) const OPEN_FUNCTION: &str = "neither standard says how the function is rounded";
/// What happens to what an integer type cannot hold.
pub(in crate::conversion) const OPEN_CAST: &str =
    "numbers that the integer type cannot hold, and NaN, become what the program makes of them";
/// What becomes of NaN.
pub(in crate::conversion) const OPEN_NAN: &str =
    "where there is NaN, or zeros of either sign are compared, the texts leave the result open";

rows! {
    "Add" "Add" "" |cx| binary(cx, "Add");
    "Sub" "Subtract" "" |cx| binary(cx, "Subtract");
    "Mul" "Multiply" "" |cx| binary(cx, "Multiply");
    "Div" "Divide" "" |cx| {
        let (a, b) = (cx.input(0)?, cx.input(1)?);
        Ok(vec![cx.put("Divide", &[a, b], &[numpy(), say("m_pythondiv", false)])?])
    };
    "Mod" "FloorMod, Mod" "floats: rounding" modulo;
    "Pow" "Power" "floats: rounding; integers: negative exponents" power;
    "Min" "Minimum" "floats: NaN" |cx| { cx.edges_of_floats(OPEN_NAN); chain(cx, "Minimum") };
    "Max" "Maximum" "floats: NaN" |cx| { cx.edges_of_floats(OPEN_NAN); chain(cx, "Maximum") };
    "Sum" "Add" "" |cx| chain(cx, "Add");
    "Equal" "Equal" "" |cx| binary(cx, "Equal");
    "Less" "Less" "" |cx| binary(cx, "Less");
    "LessOrEqual" "LessEqual" "" |cx| binary(cx, "LessEqual");
    "Greater" "Greater" "" |cx| binary(cx, "Greater");
    "GreaterOrEqual" "GreaterEqual" "" |cx| binary(cx, "GreaterEqual");
    "And" "LogicalAnd" "" |cx| binary(cx, "LogicalAnd");
    "Or" "LogicalOr" "" |cx| binary(cx, "LogicalOr");
    "Xor" "LogicalXor" "" |cx| binary(cx, "LogicalXor");
    "Not" "LogicalNot" "" |cx| unary(cx, "LogicalNot");
    "BitwiseAnd" "BitwiseAnd" "" |cx| binary(cx, "BitwiseAnd");
    "BitwiseOr" "BitwiseOr" "" |cx| binary(cx, "BitwiseOr");
    "BitwiseXor" "BitwiseXor" "" |cx| binary(cx, "BitwiseXor");
    "BitwiseNot" "BitwiseNot" "" |cx| unary(cx, "BitwiseNot");
    "BitShift" "BitwiseLeftShift, BitwiseRightShift" "counts of the width or more" |cx| {
        cx.edges("counts of as many bits as the type has, or more, are left open");
        let left = cx.attributes.text("direction") == Some("LEFT");
        binary(cx, if left { "BitwiseLeftShift" } else { "BitwiseRightShift" })
    };
    "Neg" "Negative" "" |cx| unary(cx, "Negative");
    "Abs" "Abs" "" |cx| unary(cx, "Abs");
    "Sign" "Sign" "floats: NaN" |cx| { cx.edges_of_floats(OPEN_NAN); unary(cx, "Sign") };
    "Floor" "Floor" "" |cx| unary(cx, "Floor");
    "Ceil" "Ceiling" "" |cx| unary(cx, "Ceiling");
    "Round" "Round" "" |cx| {
        let x = cx.input(0)?;
        Ok(vec![cx.put("Round", &[x], &[say("mode", "half_to_even")])?])
    };
    "Sqrt" "Sqrt" "" |cx| unary(cx, "Sqrt");
    "Reciprocal" "Divide" "" |cx| {
        let x = cx.input(0)?;
        let dtype = cx.dtype(0)?;
        let one = cx.number(1.0, dtype)?;
        Ok(vec![cx.put("Divide", &[one, x], &[numpy(), say("m_pythondiv", false)])?])
    };
    "Relu" "ReLU" "floats: NaN" |cx| { cx.edges_of_floats(OPEN_NAN); unary(cx, "ReLU") };
    "Clip" "Maximum, Minimum" "floats: NaN" clip;
    "Exp" "Exp" "rounding" |cx| function(cx, "Exp");
    "Log" "Log" "rounding" |cx| function(cx, "Log");
    "Sin" "Sin" "rounding" |cx| function(cx, "Sin");
    "Cos" "Cos" "rounding" |cx| function(cx, "Cos");
    "Tan" "Tan" "rounding" |cx| function(cx, "Tan");
    "Asin" "Asin" "rounding" |cx| function(cx, "Asin");
    "Acos" "Acos" "rounding" |cx| function(cx, "Acos");
    "Atan" "Atan" "rounding" |cx| function(cx, "Atan");
    "Sinh" "Sinh" "rounding" |cx| function(cx, "Sinh");
    "Cosh" "Cosh" "rounding" |cx| function(cx, "Cosh");
    "Tanh" "Tanh" "rounding" |cx| function(cx, "Tanh");
    "Asinh" "Asinh" "rounding" |cx| function(cx, "Asinh");
    "Acosh" "Acosh" "rounding" |cx| function(cx, "Acosh");
    "Atanh" "Atanh" "rounding" |cx| function(cx, "Atanh");
    "Erf" "Erf" "rounding" |cx| function(cx, "Erf");
    "Sigmoid" "Sigmoid" "rounding" |cx| function(cx, "Sigmoid");
    "Softplus" "SoftPlus" "rounding" |cx| function(cx, "SoftPlus");
    "Softsign" "SoftSign" "rounding" |cx| function(cx, "SoftSign");
    "IsNaN" "IsNaN" "" |cx| unary(cx, "IsNaN");
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

fn unary(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    let x = cx.input(0)?;
    Ok(vec![cx.put(operator, &[x], &[])?])
}

fn function(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    cx.rounding(OPEN_FUNCTION);
    unary(cx, operator)
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

fn power(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    let (a, mut b) = (cx.input(0)?, cx.input(1)?);
    let base = cx.dtype(0)?;
    if cx.dtype(1)? != base {
        if !base.is_float() {
            return Err(cannot("OpenVINO has no power of integers with exponents of another type"));
        }
        b = cx.converted(b, base)?;
    }
    if base.is_float() {
        cx.rounding(OPEN_FUNCTION);
    } else {
        cx.edges("negative exponents of integers, and powers that the type cannot hold, are left open");
    }
    Ok(vec![cx.put("Power", &[a, b], &[numpy()])?])
}

/// Bounds are inputs, or floats of older versions.
fn clip(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    cx.edges_of_floats(OPEN_NAN);
    let mut value = cx.input(0)?;
    for (input, name, operator) in [(1, "min", "Maximum"), (2, "max", "Minimum")] {
        let bound = match cx.attributes.float(name) {
            Some(bound) => {
                let dtype = cx.dtype(0)?;
                cx.number(bound.into(), dtype)?
            }
            None if cx.has(input) => cx.scalar_input(input)?,
            None => continue,
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
        cx.edges(OPEN_CAST);
    }
    if to.is_float() && to.bits() <= 8 {
        cx.edges("OpenVINO does not say what numbers beyond the largest become");
    }
    if !(from.is_real() || from == DType::Bool) || !(to.is_real() || to == DType::Bool) {
        return Err(cannot(format!("OpenVINO does not convert {from} to {to}")));
    }
    Ok(vec![cx.converted(x, to)?])
}
