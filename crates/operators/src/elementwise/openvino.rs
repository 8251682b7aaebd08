//! Operators that compute each element on its own.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `Divide` | `Div` | integers are rounded down, unless `m_pythondiv` is false |
//! | `Mod`, `FloorMod` | `Mod` with and without `fmod` | |
//! | `Select` | `Where` | |
//! | `Convert`, `ConvertLike` | `Cast`, `CastLike` | |
//!
//! `auto_broadcast` is `numpy` unless it says `none` or `pdpd`: then the result has the first
//! input's shape.

use gradus_core::convert::{self, FromNumber};
use gradus_core::{DType, Error, Kind, Result, Tensor, Value, dispatch};

use crate::attributes::{Attributes, required};
use crate::conversion::types::largest_float8;
use crate::dialects::openvino::{called, input};
use crate::elementwise::binary::{BinaryOp, Broadcast, operation};
use crate::elementwise::cast::{CastOp, rules};
use crate::elementwise::infer::{binary, rounding};
use crate::elementwise::select::check_types;
use crate::elementwise::unary::{build_as, clip, float, test};
use crate::elementwise::{infer, unary};
use crate::errors;
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};
use crate::op::{BuildContext, EvalContext, Op};
use crate::operation::Operation;
use crate::words;

/// A function of floats: the specification does not say how results for integers are rounded.
#[derive(Debug)]
struct Floats(Box<dyn Op>);

impl Op for Floats {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let dtype = cx.tensor(0)?.dtype();
        if dtype.is_float() {
            return self.0.eval(cx);
        }
        // The specification does not fix how results for integers are rounded.
        Err(Error::mismatch(Kind::Unsupported, "element type", dtype, "a float type"))
    }
}

/// Builds an operator that maps each float by the function of its row.
pub fn floats(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    Ok(Box::new(Floats(unary::build(cx)?)))
}

/// Turns each bit around; of a truth value, the only one.
pub fn bitwise_not(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let map = if data.dtype() == DType::Bool { unary::logical_not } else { unary::bitwise_not };
    build_as(map).eval(cx)
}

/// Builds an operator of two inputs, which are broadcast as its attribute says.
pub fn both(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    both_as(cx, operation(cx))
}

fn both_as(cx: &BuildContext<'_>, operation: Operation) -> Result<Box<dyn Op>> {
    let broadcast = match words::BROADCAST.of(&cx.attributes)? {
        "numpy" => Broadcast::Both,
        "none" | "explicit" => Broadcast::None,
        _ => Broadcast::Onto(cx.attributes.int("auto_broadcast_axis")?.filter(|&axis| axis >= 0)),
    };
    Ok(Box::new(BinaryOp { operation, broadcast }))
}

/// A bound of Clamp in the type of the elements. For integers, it is the smallest one above or the
/// largest one below, as far as the type goes.
pub fn clamp_bound(bound: f64, up: bool, dtype: DType) -> Result<Tensor> {
    fn whole<T: FromNumber>(bound: f64) -> Tensor {
        Tensor::scalar(T::from_f64(bound))
    }
    let near = if up { bound.ceil() } else { bound.floor() };
    Ok(dispatch!(dtype, [I8, I16, I32, I64, U8, U16, U32, U64] => whole(near),
        _ => convert::cast(&Tensor::scalar(bound), dtype, convert::Rules::SATURATING)?))
}

/// The attributes `min` and `max` of Clamp.
fn clamp_bounds(attributes: &Attributes<'_>) -> Result<[f64; 2]> {
    let bound = |name: &str| {
        let text = attributes.text(name)?.unwrap_or_default().trim();
        text.parse::<f64>().map_err(|_| errors::text(name, text, "a number"))
    };
    let [min, max] = [bound("min")?, bound("max")?];
    if min <= max {
        return Ok([min, max]);
    }
    let wanted = format_args!("at most {max}, the attribute \"max\"");
    Err(errors::value("attribute \"min\"", min, wanted))
}

/// Shape and type of `Clamp`: the input's. Its bounds are in order.
pub fn clamp_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    clamp_bounds(&cx.attributes)?;
    infer::same(cx)
}

/// `Clamp` of OpenVINO: `Clip` whose bounds are attributes.
pub fn clamp(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dtype = cx.tensor(0)?.dtype();
    let [min, max] = clamp_bounds(attributes)?;
    let bound = |bound: f64, up: bool| Ok::<_, Error>(Some(clamp_bound(bound, up, dtype)?.into()));
    let inputs = [input(cx, 0), bound(min, true)?, bound(max, false)?];
    called(cx, clip, Vec::new(), &inputs)
}

/// Truth values, whatever is compared.
pub fn compare(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mut facts = binary(cx)?;
    if let [Fact::Tensor(fact)] = &mut facts[..] {
        fact.dtype = Some(DType::Bool);
    }
    Ok(facts)
}

/// Shape of `LogicalAnd`, `LogicalOr` and `LogicalXor`, which take nothing but truth values.
pub fn logical(cx: &mut InferContext<'_, '_>) -> InferResult {
    cx.dtype(0).map_or(Ok(()), check_truth)?;
    compare(cx)
}

/// Builds a logical operator of two inputs.
pub fn logical_build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    Ok(Box::new(LogicalOp(both(cx)?)))
}

#[derive(Debug)]
struct LogicalOp(Box<dyn Op>);

impl Op for LogicalOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        check_truth(cx.tensor(0)?.dtype())?;
        self.0.eval(cx)
    }
}

fn check_truth(dtype: DType) -> Result<()> {
    if dtype == DType::Bool { Ok(()) } else { Err(errors::dtype(dtype, "bool")) }
}

/// Integers stay as they are.
pub fn whole_or_rounded(cx: &mut InferContext<'_, '_>) -> InferResult {
    if cx.dtype(0).is_some_and(DType::is_integer) { Ok(vec![cx.read_fact(0)]) } else { rounding(cx) }
}

/// Builds OpenVINO's `Round`, with ties to even or away from zero.
pub fn round(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    match words::HALF.of(&cx.attributes)? {
        "half_away_from_zero" => Ok(build_as(|x| float(x, f64::round))),
        _ => Ok(build_as(|x| float(x, f64::round_ties_even))),
    }
}

/// `IsFinite` of OpenVINO: true where elements are neither infinite nor NaN.
pub fn is_finite(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    test(cx, f64::is_finite)
}

/// Builds OpenVINO's `Convert` to an element type.
pub fn convert(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    let to = required("to", cx.attributes.dtype("to")?)?;
    Ok(Box::new(CastOp { to, rules: rules(!is_special(to), "nearest") }))
}

/// Returns true if numbers out of range become NaN or infinity, as OpenVINO converts them.
fn is_special(to: DType) -> bool {
    largest_float8(to).is_some()
}

/// `ConvertLike` of OpenVINO: elements in the type of the second input.
pub fn convert_like(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let to = cx.tensor(1)?.dtype();
    CastOp { to, rules: rules(!is_special(to), "nearest") }.eval(cx)
}

/// Builds OpenVINO's `Divide`, with quotients of integers rounded down or toward zero.
pub fn divide(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    let down = cx.attributes.flag("m_pythondiv", true)?;
    both_as(cx, if down { Operation::FloorDiv } else { Operation::Div })
}

/// Shape of OpenVINO's `IsFinite`: the input's, of truth values.
pub fn is_finite_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::typed(DType::Bool, cx.dims(0)?)])
}

/// Shape of OpenVINO's `Divide`: both inputs broadcast, with quotients of the elements.
pub fn divide_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let down = cx.attributes.flag("m_pythondiv", true)?;
    infer::binary_of(cx, if down { Operation::FloorDiv } else { Operation::Div })
}

/// Shape of OpenVINO's `Select`: all inputs broadcast, or that of the second input.
pub fn select(cx: &mut InferContext<'_, '_>) -> InferResult {
    check_types([0, 1, 2].map(|input| cx.dtype(input)))?;
    if words::BROADCAST.of(&cx.attributes)? != "numpy" {
        let (dtype, dims) = (cx.dtype(1), cx.dims(1)?);
        return Ok(vec![Fact::Tensor(crate::fact::TensorFact::new(dtype, Some(dims)))]);
    }
    infer::select(cx)
}
