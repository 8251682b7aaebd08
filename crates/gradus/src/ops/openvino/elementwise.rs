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

use gradus_core::DType;

use super::super::elementwise::{binary, broadcast_inputs, cast, rounding, same, select, unary};
use crate::fact::Fact;
use crate::infer::{Cx, Outcome, Rules, openvino};

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
            "RMSNorm",
            "RegionYolo",
            "Reverse",
            "ReverseSequence",
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
