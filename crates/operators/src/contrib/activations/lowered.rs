//! Activations and what is added before them, as graphs of ONNX's operators.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::contrib::values::{given, like_first, number, plus, wide, wide_input};
use crate::indices;
use crate::lowering::terms::{cast, f, of, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// Gelu of float64, in float32 if the first input is not wider: few programs have it in float64.
pub(super) fn gelu(l: &mut Lowering<'_>, value: LoweredValue) -> Result<LoweredValue> {
    if l.dtype_of(0)? == DType::F64 {
        return l.apply("Gelu", &[value], &[]);
    }
    let value = f("Gelu", cast(value, DType::F32)).put(l)?;
    wide(l, value)
}

/// `LeakyRelu` of float64.
pub fn leaky_relu(l: &mut Lowering<'_>, value: LoweredValue, alpha: f32) -> Result<LoweredValue> {
    let (zero, alpha) = (number(l, 0.0)?, number(l, alpha.into())?);
    let negative = l.apply("Less", &[value, zero], &[])?;
    let scaled = l.apply("Mul", &[value, alpha], &[])?;
    l.apply("Where", &[negative, scaled, value], &[])
}

/// `BiasAdd`: the sum of input, bias and a skipped input.
pub fn bias_add(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mut sum = wide_input(l, 0)?;
    for input in 1..l.count() {
        sum = plus(l, sum, input)?;
    }
    like_first(l, sum)
}

/// `BiasDropout`: a sum, of which training drops elements, and a residual.
pub fn bias_dropout(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let sum = wide_input(l, 0)?;
    let sum = plus(l, sum, 1)?;
    let (ratio, training) = (l.maybe(3), l.maybe(4));
    let attributes = given(l, &["seed"]);
    let dropped = l.apply_many("Dropout", &[sum, ratio, training], &attributes, 2)?;
    let value = plus(l, dropped[0], 2)?;
    let dtype = l.dtype_of(0)?;
    Ok(vec![l.cast(value, dtype)?, dropped[1]])
}

/// `BiasSoftmax`: softmax of a sum, over all axes from one on.
pub fn bias_softmax(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let axis = indices::axis(l.attributes.int_or("axis", 1)?, l.rank_of(0)?)?;
    let sum = wide(l, x)?;
    let sum = plus(l, sum, 1)?;
    let rows = l.apply("Flatten", &[sum], &[int("axis", i64_of(axis))])?;
    let value = l.apply("Softmax", &[rows], &[int("axis", -1)])?;
    let value = with("Reshape", [value.into(), f("Shape", l.input(0)?)], [int("allowzero", 1)]).put(l)?;
    like_first(l, value)
}

/// `BiasSplitGelu`: of the halves of the last axis of a sum, the first times Gelu of the second.
pub fn bias_split_gelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let sum = wide_input(l, 0)?;
    let sum = plus(l, sum, 1)?;
    let halves = l.apply_many("Split", &[sum], &[int("axis", -1), int("num_outputs", 2)], 2)?;
    let gate = gelu(l, halves[1])?;
    let value = l.apply("Mul", &[halves[0], gate], &[])?;
    like_first(l, value)
}

/// `ScaledSiLU`, which is rounded to the type of the input at each of three steps.
pub fn scaled_silu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (wide_input(l, 0)?, l.dtype_of(0)?);
    let factor = if l.has(1) {
        let given = wide_input(l, 1)?;
        l.reshape(given, &[])?
    } else {
        let alpha = l.attributes.float("alpha")?.unwrap_or(1.0);
        number(l, alpha.into())?
    };
    let scaled = l.apply("Mul", &[x, factor], &[])?;
    let scaled = l.cast(scaled, dtype)?;
    Ok(vec![(scaled * f("Sigmoid", scaled)).put(l)?])
}

/// `GatedAdd`, whose product is rounded to the type of the input. With weights, the gate of each
/// row is computed from them, and each step is rounded.
pub fn gated_add(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, y, mut gate) = (l.input(0)?, l.input(1)?, l.input(2)?);
    if l.has(3) {
        let dtype = l.dtype_of(0)?;
        let (rows, weights) = (wide_input(l, 2)?, wide_input(l, 3)?);
        gate = f("Sigmoid", cast(of("MatMul", rows, weights), dtype)).put(l)?;
    }
    Ok(vec![(x + (y * gate)).put(l)?])
}

/// `Gelu`, `BiasGelu`, `FastGelu`: Gelu of a sum.
pub fn biased_gelu(l: &mut Lowering<'_>, approximate: bool) -> Result<Vec<LoweredValue>> {
    let x = wide_input(l, 0)?;
    let x = plus(l, x, 1)?;
    let value = if approximate {
        l.apply("Gelu", &[x], &[("approximate", Content::Bytes("tanh".into()))])?
    } else {
        gelu(l, x)?
    };
    like_first(l, value)
}

/// `QuickGelu`: `x * sigmoid(alpha * x)`.
pub fn quick_gelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let alpha = l.attributes.float("alpha")?.unwrap_or(1.702);
    let (x, alpha) = (wide_input(l, 0)?, number(l, alpha.into())?);
    let gate = f("Sigmoid", x * alpha).put(l)?;
    let value = l.apply("Mul", &[x, gate], &[])?;
    like_first(l, value)
}
