//! Operators that compute each element on its own.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `Divide` | `Div` | integers are rounded down, unless `m_pythondiv` is false |
//! | `Mod`, `FloorMod` | `Mod` with and without `fmod` | |
//! | `Select` | `Where` | |
//! | `Convert`, `ConvertLike` | `Cast`, `CastLike` | |
//!
//! `auto_broadcast` is `numpy` unless it says `none` or `pdpd`: then the result has the first input's shape.

use gradus_core::convert::{self, FromNumber};
use gradus_core::{DType, Error, Kind, Number, Result, Tensor, Value, dispatch};

use super::super::arithmetic::{Binary, Broadcast, Operation};
use super::super::cast::{Cast, rules};
use super::super::elementwise::{binary, broadcast_inputs, cast, rounding, same, select, unary};
use super::super::identity::Identity;
use super::super::rounding::{abs, build, ceil, clip, float, neg, relu, sign, test};
use super::super::{folds, moves};
use super::{called, input};
use crate::fact::Fact;
use crate::infer::{Cx, Outcome, Rules, openvino};
use crate::op::{Attributes, EvalCx, NodeCx, Op, Schema, plain};

pub(in super::super) const SCHEMAS: &[Schema] = &[
    Schema::all_openvino("Abs", |_| build(abs)),
    Schema::all_openvino("Negative", |_| build(neg)),
    Schema::all_openvino("Sign", |_| build(sign)),
    Schema::all_openvino("ReLU", |_| build(relu)),
    Schema::all_openvino("Ceiling", |_| build(ceil)),
    Schema::all_openvino("Floor", |_| build(|x| float(x, f64::floor))),
    Schema::all_openvino("Round", |cx| match cx.text("mode")? {
        Some("half_away_from_zero") => build(|x| float(x, f64::round)),
        _ => build(|x| float(x, f64::round_ties_even)),
    }),
    Schema::all_openvino("LogicalNot", |_| build(|x| Number::Int(i128::from(x.is_zero())))),
    Schema::all_openvino("BitwiseNot", |_| build(not)),
    Schema::all_openvino("Sqrt", |_| floats(|x| float(x, f64::sqrt))),
    Schema::all_openvino("Exp", |_| floats(|x| float(x, f64::exp))),
    Schema::all_openvino("Log", |_| floats(|x| float(x, f64::ln))),
    Schema::all_openvino("Sin", |_| floats(|x| float(x, f64::sin))),
    Schema::all_openvino("Cos", |_| floats(|x| float(x, f64::cos))),
    Schema::all_openvino("Tan", |_| floats(|x| float(x, f64::tan))),
    Schema::all_openvino("Asin", |_| floats(|x| float(x, f64::asin))),
    Schema::all_openvino("Acos", |_| floats(|x| float(x, f64::acos))),
    Schema::all_openvino("Atan", |_| floats(|x| float(x, f64::atan))),
    Schema::all_openvino("Sinh", |_| floats(|x| float(x, f64::sinh))),
    Schema::all_openvino("Cosh", |_| floats(|x| float(x, f64::cosh))),
    Schema::all_openvino("Tanh", |_| floats(|x| float(x, f64::tanh))),
    Schema::all_openvino("Asinh", |_| floats(|x| float(x, f64::asinh))),
    Schema::all_openvino("Acosh", |_| floats(|x| float(x, f64::acosh))),
    Schema::all_openvino("Atanh", |_| floats(|x| float(x, f64::atanh))),
    Schema::all_openvino("Sigmoid", |_| floats(|x| float(x, |x| 1.0 / (1.0 + (-x).exp())))),
    Schema::all_openvino("Clamp", |cx| plain(cx, clamp)),
    Schema::all_openvino("IsFinite", |cx| plain(cx, |_, cx| test(cx, f64::is_finite))),
    Schema::all_openvino("IsNaN", |cx| plain(cx, |_, cx| test(cx, f64::is_nan))),
    Schema::all_openvino("IsInf", |cx| {
        plain(cx, |attributes, cx| {
            let [positive, negative] =
                ["detect_positive", "detect_negative"].map(|name| attributes.flag(name, true));
            test(cx, |x| (positive && x == f64::INFINITY) || (negative && x == f64::NEG_INFINITY))
        })
    }),
    Schema::all_openvino("Identity", Identity::build),
    Schema::all_openvino("Assign", Identity::build),
    Schema::all_openvino("Convert", |cx| {
        let to = cx.dtype("destination_type")?;
        Ok(Box::new(Cast { to, rules: rules(true, None)? }))
    }),
    Schema::all_openvino("ConvertLike", |cx| {
        plain(cx, |_, cx| {
            let to = cx.tensor(1)?.dtype();
            Cast { to, rules: rules(true, None)? }.eval(cx)
        })
    }),
    Schema::all_openvino("Select", |cx| plain(cx, moves::select)),
    Schema::all_openvino("CumSum", |cx| plain(cx, folds::cum_sum)),
    Schema::all_openvino("Add", |cx| both(cx, Operation::Add)),
    Schema::all_openvino("Subtract", |cx| both(cx, Operation::Sub)),
    Schema::all_openvino("Multiply", |cx| both(cx, Operation::Mul)),
    Schema::all_openvino("Divide", |cx| {
        let down = cx.flag("m_pythondiv", true)?;
        both(cx, if down { Operation::FloorDiv } else { Operation::Div })
    }),
    Schema::all_openvino("FloorMod", |cx| both(cx, Operation::Mod)),
    Schema::all_openvino("Mod", |cx| both(cx, Operation::Fmod)),
    Schema::all_openvino("Power", |cx| both(cx, Operation::Pow)),
    Schema::all_openvino("Minimum", |cx| both(cx, Operation::Min)),
    Schema::all_openvino("Maximum", |cx| both(cx, Operation::Max)),
    Schema::all_openvino("SquaredDifference", |cx| both(cx, Operation::SquaredDifference)),
    Schema::all_openvino("Equal", |cx| both(cx, Operation::Equal)),
    Schema::all_openvino("NotEqual", |cx| both(cx, Operation::NotEqual)),
    Schema::all_openvino("Less", |cx| both(cx, Operation::Less)),
    Schema::all_openvino("LessEqual", |cx| both(cx, Operation::LessOrEqual)),
    Schema::all_openvino("Greater", |cx| both(cx, Operation::Greater)),
    Schema::all_openvino("GreaterEqual", |cx| both(cx, Operation::GreaterOrEqual)),
    Schema::all_openvino("LogicalAnd", |cx| both(cx, Operation::And)),
    Schema::all_openvino("LogicalOr", |cx| both(cx, Operation::Or)),
    Schema::all_openvino("LogicalXor", |cx| both(cx, Operation::Xor)),
    Schema::all_openvino("Xor", |cx| both(cx, Operation::Xor)),
    Schema::all_openvino("BitwiseAnd", |cx| both(cx, Operation::And)),
    Schema::all_openvino("BitwiseOr", |cx| both(cx, Operation::Or)),
    Schema::all_openvino("BitwiseXor", |cx| both(cx, Operation::Xor)),
    Schema::all_openvino("BitwiseLeftShift", |cx| both(cx, Operation::Left)),
    Schema::all_openvino("BitwiseRightShift", |cx| both(cx, Operation::Right)),
];

/// A function of floats. Of whole numbers the texts do not say how its results are rounded, so these are not made.
#[derive(Debug)]
struct Floats(Box<dyn Op>);

impl Op for Floats {
    fn eval(&self, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
        let dtype = cx.tensor(0)?.dtype();
        if dtype.is_float() {
            return self.0.eval(cx);
        }
        Err(Error::new(
            Kind::Unsupported,
            format!("{dtype} is not supported: how results are rounded is left open"),
        ))
    }
}

fn floats(map: fn(Number) -> Number) -> Result<Box<dyn Op>> {
    Ok(Box::new(Floats(build(map)?)))
}

fn not(number: Number) -> Number {
    if let Number::Int(x) = number { Number::Int(!x) } else { number }
}

/// An operator of two inputs, brought together as its attribute says.
fn both(cx: &NodeCx<'_>, operation: Operation) -> Result<Box<dyn Op>> {
    let broadcast = match cx.text("auto_broadcast")?.unwrap_or("numpy") {
        "numpy" => Broadcast::Both,
        "none" | "explicit" => Broadcast::None,
        "pdpd" => Broadcast::Onto(cx.int("auto_broadcast_axis")?.filter(|&axis| axis >= 0)),
        other => {
            let message =
                format!("attribute \"auto_broadcast\" is \"{other}\", but numpy, none or pdpd is wanted");
            return Err(Error::new(Kind::Value, message));
        }
    };
    Ok(Box::new(Binary { operation, broadcast }))
}

/// A bound of Clamp in the type of the elements. Of integers, it is the least one above or the greatest one below, as far as the
/// type goes.
pub(crate) fn clamp_bound(bound: f64, up: bool, dtype: DType) -> Result<Tensor> {
    fn whole<T: FromNumber>(bound: f64) -> Tensor {
        Tensor::scalar(T::from_f64(bound))
    }
    let near = if up { bound.ceil() } else { bound.floor() };
    Ok(dispatch!(dtype, [I8, I16, I32, I64, U8, U16, U32, U64] => whole(near),
        _ => convert::cast(&Tensor::scalar(bound), dtype, convert::Rules::SATURATING)?))
}

fn clamp(attributes: &Attributes, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
    let dtype = cx.tensor(0)?.dtype();
    let bound = |name: &str, up: bool| -> Result<Option<Value>> {
        let text = attributes.text(name).unwrap_or_default().trim();
        let bound: f64 = text.parse().map_err(|_| {
            Error::new(Kind::Type, format!("attribute \"{name}\" is \"{text}\", but a number is wanted"))
        })?;
        Ok(Some(clamp_bound(bound, up, dtype)?.into()))
    };
    let inputs = [input(cx, 0), bound("min", true)?, bound("max", false)?];
    called(cx, clip, Vec::new(), &inputs)
}

pub(in super::super) const RULES: &[Rules] = &[
    openvino(
        &[
            "Acos",
            "Acosh",
            "Asin",
            "Asinh",
            "Atan",
            "Atanh",
            "BitwiseNot",
            "Clamp",
            "Cos",
            "Cosh",
            "CumSum",
            "Elu",
            "Erf",
            "ErfInv",
            "Exp",
            "FakeConvert",
            "GRN",
            "GatherTree",
            "Gelu",
            "GroupNormalization",
            "HSigmoid",
            "HSwish",
            "HardSigmoid",
            "LRN",
            "Log",
            "LogSoftmax",
            "MVN",
            "Mish",
            "NormalizeL2",
            "PReLU",
            "Reverse",
            "Inverse",
            "ReverseSequence",
            "SliceScatter",
            "Roll",
            "Round",
            "ScatterElementsUpdate",
            "ScatterUpdate",
            "Selu",
            "ShuffleChannels",
            "Sigmoid",
            "Sin",
            "Sinh",
            "SoftMax",
            "SoftPlus",
            "SoftSign",
            "Sqrt",
            "Swish",
            "Tan",
            "Tanh",
        ],
        same,
    ),
    openvino(&["Abs", "Sign"], unary),
    openvino(&["Negative"], unary).meaning("Neg"),
    openvino(&["ReLU"], unary).meaning("Relu"),
    openvino(&["LogicalNot"], unary).meaning("Not"),
    openvino(&["Floor"], whole_or_rounded),
    openvino(&["Ceiling"], whole_or_rounded).meaning("Ceil"),
    openvino(&["IsFinite", "IsInf", "IsNaN"], |cx| Ok(vec![Fact::typed(DType::Bool, cx.dims(0)?)])),
    openvino(&["Identity", "Assign"], |cx| Ok(vec![cx.read_fact(0)])),
    openvino(&["Convert"], |cx| {
        let to = cx.type_of("destination_type");
        cast(cx, to)
    }),
    openvino(&["ConvertLike"], |cx| {
        let to = cx.dtype(1);
        cast(cx, to)
    }),
    openvino(&["Add"], binary),
    openvino(&["Subtract"], binary).meaning("Sub"),
    openvino(&["Multiply"], binary).meaning("Mul"),
    openvino(&["Divide"], |cx| {
        if !cx.flag("m_pythondiv", true) {
            cx.operator = "Div";
        }
        binary(cx)
    })
    .meaning("FloorDiv"),
    openvino(&["FloorMod"], binary).meaning("Mod"),
    openvino(&["Mod"], binary).meaning("Fmod"),
    openvino(&["Power"], binary).meaning("Pow"),
    openvino(&["Minimum"], binary).meaning("Min"),
    openvino(&["Maximum"], binary).meaning("Max"),
    openvino(&["Equal"], compare),
    openvino(&["NotEqual"], compare),
    openvino(&["Less"], compare),
    openvino(&["LessEqual"], compare).meaning("LessOrEqual"),
    openvino(&["Greater"], compare),
    openvino(&["GreaterEqual"], compare).meaning("GreaterOrEqual"),
    openvino(&["LogicalAnd"], compare).meaning("And"),
    openvino(&["LogicalOr"], compare).meaning("Or"),
    openvino(&["LogicalXor", "Xor"], compare).meaning("Xor"),
    openvino(
        &[
            "BitwiseAnd",
            "BitwiseLeftShift",
            "BitwiseOr",
            "BitwiseRightShift",
            "BitwiseXor",
            "FakeQuantize",
            "SquaredDifference",
        ],
        |cx| Ok(vec![Fact::shaped(broadcast_inputs(cx, 0)?)]),
    ),
    openvino(&["Select"], |cx| {
        if matches!(cx.text("auto_broadcast"), Some("none" | "pdpd")) {
            let (dtype, dims) = (cx.dtype(1), cx.dims(1)?);
            return Ok(vec![Fact::Tensor(crate::fact::TensorFact::new(dtype, Some(dims)))]);
        }
        select(cx)
    }),
];

/// Truth values, whatever is compared.
fn compare(cx: &mut Cx<'_, '_>) -> Outcome {
    let mut facts = binary(cx)?;
    if let [Fact::Tensor(fact)] = &mut facts[..] {
        fact.dtype = Some(DType::Bool);
    }
    Ok(facts)
}

/// Integers stay as they are.
fn whole_or_rounded(cx: &mut Cx<'_, '_>) -> Outcome {
    if cx.dtype(0).is_some_and(DType::is_integer) { Ok(vec![cx.read_fact(0)]) } else { rounding(cx) }
}
