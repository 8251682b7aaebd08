//! Operators that compute each element on its own.

use gradus_core::graph::Standard;
use gradus_core::{DType, Result};

use super::super::node::{Cx, cannot};
use super::super::open;
use super::super::rows::rows;
use super::super::target::V;
use super::super::types::{expect, same};
use super::{flag, int, word};
use crate::ops::clamp_bound;

rows! {
    "Add" "Add" "" |cx| binary(cx, "Add");
    "Subtract" "Sub" "" |cx| binary(cx, "Sub");
    "Multiply" "Mul" "" |cx| binary(cx, "Mul");
    "Divide" "Div; of integers with the floor: and Mul, Sub, Less, Xor" "" divide;
    "FloorMod" "Mod; of floats: and Less, Xor, Add, Where" "floats: rounding" floor_mod;
    "Mod" "Mod; of integers: Div, Mul, Sub" "floats: rounding" |cx| {
        let (a, b) = (cx.input(0)?, cx.aligned(0, 1)?);
        if !cx.is_float(0) {
            let quotient = cx.put("Div", &[a, b], &[])?;
            return Ok(vec![left_over(cx, a, b, quotient)?]);
        }
        cx.rounding("OpenVINO does not say that the remainder of floats is exact");
        Ok(vec![cx.put("Mod", &[a, b], &[int("fmod", 1)])?])
    };
    "Power" "Pow" "floats: rounding; integers: negative exponents" |cx| {
        if cx.is_float(0) {
            cx.rounding(open::FUNCTION);
        } else {
            cx.edges(open::POWER);
        }
        binary(cx, "Pow")
    };
    "Minimum" "Min" "floats: NaN" |cx| { cx.edges_of_floats(open::NAN); binary(cx, "Min") };
    "Maximum" "Max" "floats: NaN" |cx| { cx.edges_of_floats(open::NAN); binary(cx, "Max") };
    "SquaredDifference" "Sub, Mul" "floats: rounding" |cx| {
        cx.rounding_of_floats("OpenVINO does not say whether the difference is rounded before it is squared");
        let less = binary(cx, "Sub")?[0];
        Ok(vec![cx.put("Mul", &[less, less], &[])?])
    };
    "Equal" "Equal" "" |cx| binary(cx, "Equal");
    "NotEqual" "Equal, Not" "" |cx| {
        let equal = binary(cx, "Equal")?[0];
        Ok(vec![cx.put("Not", &[equal], &[])?])
    };
    "Less" "Less" "" |cx| binary(cx, "Less");
    "LessEqual" "LessOrEqual" "" |cx| binary(cx, "LessOrEqual");
    "Greater" "Greater" "" |cx| binary(cx, "Greater");
    "GreaterEqual" "GreaterOrEqual" "" |cx| binary(cx, "GreaterOrEqual");
    "LogicalAnd" "And" "" |cx| binary(cx, "And");
    "LogicalOr" "Or" "" |cx| binary(cx, "Or");
    "LogicalXor" "Xor" "" |cx| binary(cx, "Xor");
    "Xor" "Xor" "" |cx| binary(cx, "Xor");
    "LogicalNot" "Not" "" |cx| cx.unary("Not");
    "BitwiseAnd" "BitwiseAnd, And" "" |cx| bitwise(cx, "BitwiseAnd", "And");
    "BitwiseOr" "BitwiseOr, Or" "" |cx| bitwise(cx, "BitwiseOr", "Or");
    "BitwiseXor" "BitwiseXor, Xor" "" |cx| bitwise(cx, "BitwiseXor", "Xor");
    "BitwiseNot" "BitwiseNot, Not" "" |cx| { let of_truth = cx.dtype(0)? == DType::Bool; cx.unary(if of_truth { "Not" } else { "BitwiseNot" }) };
    "BitwiseLeftShift" "BitShift" "counts of the width or more" |cx| shift(cx, "LEFT");
    "BitwiseRightShift" "BitShift" "counts of the width or more" |cx| shift(cx, "RIGHT");
    "Negative" "Neg" "" |cx| cx.unary("Neg");
    "Abs" "Abs" "" |cx| cx.unary("Abs");
    "Sign" "Sign" "floats: NaN" |cx| { cx.edges_of_floats(open::NAN); cx.unary("Sign") };
    "Floor" "Floor" "" |cx| of_floats(cx, "Floor");
    "Ceiling" "Ceil" "" |cx| of_floats(cx, "Ceil");
    "Round" "Round; away from zero: Abs, Floor, Where" "" round;
    "Sqrt" "Sqrt" "" |cx| cx.unary("Sqrt");
    "ReLU" "Relu" "floats: NaN" |cx| { cx.edges_of_floats(open::NAN); cx.unary("Relu") };
    "Clamp" "Clip" "floats: NaN" clamp;
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
    "SoftPlus" "Softplus" "rounding" |cx| cx.function("Softplus");
    "SoftSign" "Softsign" "rounding" |cx| cx.function("Softsign");
    "IsNaN" "IsNaN" "" |cx| cx.unary("IsNaN");
    "IsInf" "IsInf" "" |cx| {
        let x = cx.input(0)?;
        let [positive, negative] =
            ["detect_positive", "detect_negative"].map(|name| flag(name, cx.attributes.flag(name, true)));
        Ok(vec![cx.put("IsInf", &[x], &[positive, negative])?])
    };
    "IsFinite" "IsNaN, IsInf, Or, Not" "" |cx| {
        let x = cx.input(0)?;
        let (nan, infinite) = (cx.put("IsNaN", &[x], &[])?, cx.put("IsInf", &[x], &[])?);
        let either = cx.put("Or", &[nan, infinite], &[])?;
        Ok(vec![cx.put("Not", &[either], &[])?])
    };
    "Identity" "Identity" "" |cx| { let x = cx.input(0)?; Ok(vec![same(cx.target, x, None)?]) };
    "Convert" "Cast" "from floats to integers: numbers that do not fit" |cx| {
        let to = cx.attributes.dtype("destination_type");
        converted(cx, to.ok_or_else(|| cannot("attribute \"destination_type\" is no element type"))?)
    };
    "ConvertLike" "Cast" "from floats to integers: numbers that do not fit" |cx| { let to = cx.dtype(1)?; converted(cx, to) };
    "Select" "Where" "" select;
}

/// Integers are as they are.
fn of_floats(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    let whole = cx.dtype(0)?.is_integer();
    cx.unary(if whole { "Identity" } else { operator })
}

fn binary(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    let (a, b) = (cx.input(0)?, cx.aligned(0, 1)?);
    Ok(vec![cx.put(operator, &[a, b], &[])?])
}

fn bitwise(cx: &mut Cx<'_, '_>, operator: &str, of_truth: &str) -> Result<Vec<V>> {
    let truth = cx.dtype(0)? == DType::Bool;
    binary(cx, if truth { of_truth } else { operator })
}

/// ONNX shifts only integers from zero; bits of others are not moved otherwise to the left.
fn shift(cx: &mut Cx<'_, '_>, direction: &str) -> Result<Vec<V>> {
    cx.edges("counts of as many bits as the type has, or more, are left open");
    let (a, b) = (cx.input(0)?, cx.aligned(0, 1)?);
    Ok(vec![cx.put("BitShift", &[a, b], &[word("direction", direction)])?])
}

/// A number of the type of the first input.
fn number(cx: &mut Cx<'_, '_>, value: f64) -> Result<V> {
    let dtype = cx.dtype(0)?;
    cx.number(value, dtype)
}

/// Integers are rounded down unless the attribute says otherwise. ONNX cuts them toward zero: one less where something is
/// left over that has another sign than the divisor.
fn divide(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    let (a, b) = (cx.input(0)?, cx.aligned(0, 1)?);
    let quotient = cx.put("Div", &[a, b], &[])?;
    let dtype = cx.dtype(0)?;
    let signed = matches!(dtype.class(), gradus_core::Class::Signed);
    if !signed || !cx.attributes.flag("m_pythondiv", true) {
        return Ok(vec![quotient]);
    }
    let rest = left_over(cx, a, b, quotient)?;
    let less = differs(cx, rest, b)?;
    let less = cx.cast(less, dtype)?;
    Ok(vec![cx.put("Sub", &[quotient, less], &[])?])
}

/// What a quotient of integers, cut toward zero, leaves: ONNX has remainders with the sign of the dividend only of floats.
fn left_over(cx: &mut Cx<'_, '_>, a: V, b: V, quotient: V) -> Result<V> {
    let covered = cx.put("Mul", &[quotient, b], &[])?;
    cx.put("Sub", &[a, covered], &[])
}

/// Whether a remainder is not zero and has another sign than the divisor.
fn differs(cx: &mut Cx<'_, '_>, rest: V, by: V) -> Result<V> {
    let zero = number(cx, 0.0)?;
    let (below, by_below) = (cx.put("Less", &[rest, zero], &[])?, cx.put("Less", &[by, zero], &[])?);
    let none = cx.put("Equal", &[rest, zero], &[])?;
    let some = cx.put("Not", &[none], &[])?;
    let other = cx.put("Xor", &[below, by_below], &[])?;
    cx.put("And", &[some, other], &[])
}

fn floor_mod(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    let (a, b) = (cx.input(0)?, cx.aligned(0, 1)?);
    if !cx.is_float(0) {
        return Ok(vec![cx.put("Mod", &[a, b], &[int("fmod", 0)])?]);
    }
    cx.rounding("OpenVINO does not say that the remainder of floats is exact");
    Ok(vec![floor_mod_of_floats(cx, a, b)?])
}

/// The remainder of floats with the sign of the divisor: ONNX has only that with the sign of the dividend.
pub(in crate::conversion) fn floor_mod_of_floats(cx: &mut Cx<'_, '_>, a: V, b: V) -> Result<V> {
    let rest = cx.put("Mod", &[a, b], &[int("fmod", 1)])?;
    let less = differs(cx, rest, b)?;
    let more = cx.put("Add", &[rest, b], &[])?;
    cx.put("Where", &[less, more, rest], &[])
}

/// ONNX rounds to the even one of two that are equally near. Away from zero, every step is exact.
fn round(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    let x = cx.input(0)?;
    if cx.attributes.text("mode") != Some("half_away_from_zero") {
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
fn clamp(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    cx.edges_of_floats(open::NAN);
    let (x, dtype) = (cx.input(0)?, cx.dtype(0)?);
    let mut inputs = vec![x];
    for (name, up) in [("min", true), ("max", false)] {
        let text = cx.attributes.text(name).unwrap_or_default();
        let bound: f64 = text
            .trim()
            .parse()
            .map_err(|_| cannot(format!("attribute \"{name}\" is \"{text}\", not a number")))?;
        let bound = clamp_bound(bound, up, dtype)?;
        inputs.push(cx.constant(bound));
    }
    Ok(vec![cx.put("Clip", &inputs, &[])?])
}

fn converted(cx: &mut Cx<'_, '_>, to: DType) -> Result<Vec<V>> {
    let (x, from) = (cx.input(0)?, cx.dtype(0)?);
    expect(Standard::Onnx, to)?;
    if from.is_float() && to.is_integer() {
        cx.edges(open::CAST);
    }
    if to.is_float() && to.bits() <= 8 {
        cx.edges("OpenVINO does not say what numbers beyond the largest become");
    }
    Ok(vec![cx.cast(x, to)?])
}

/// With broadcasting as `PaddlePaddle` does it, the result has the shape of the first of the two.
fn select(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    if cx.attributes.text("auto_broadcast") == Some("pdpd") {
        return Err(cannot("ONNX does not broadcast three operands onto the axes of one"));
    }
    let (condition, a, b) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    Ok(vec![cx.put("Where", &[condition, a, b], &[])?])
}
