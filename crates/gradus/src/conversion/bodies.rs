//! Operators of ONNX in those of operator sets that lack them.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

use gradus_core::convert::i64_of;
use gradus_core::graph::{Content, Standard};
use gradus_core::{DType, Result};

use super::caveats;
use super::node::ConvertContext;
use super::types::numbered;
use super::writer::{GraphWriter, NONE, NewValue};
use crate::operators::elementwise::to_onnx::part_of_six;

/// An operator that is written: the first input of the node is its first one, too.
struct New<'a> {
    inputs: &'a [NewValue],
    attributes: &'a [(&'a str, Content)],
    outputs: usize,
}

impl New<'_> {
    fn get(&self, name: &str) -> Option<&Content> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, content)| content)
    }

    fn float(&self, name: &str, default: f32) -> f64 {
        if let Some(Content::Float(value)) = self.get(name) { *value } else { default }.into()
    }

    fn int(&self, name: &str, default: i64) -> i64 {
        if let Some(Content::Int(value)) = self.get(name) { *value } else { default }
    }

    fn input(&self, index: usize) -> Option<NewValue> {
        self.inputs.get(index).copied().filter(|&input| input != NONE)
    }
}

/// The body of an operator: what writes it, and what its results leave open.
struct Body {
    operator: &'static str,
    /// The first operator set that has the operator as it is now.
    since: i64,
    caveat: &'static str,
    write: fn(&mut ConvertContext<'_, '_>, &New<'_>) -> Result<Vec<NewValue>>,
}

const BODIES: [Body; 7] = [
    Body { operator: "Gelu", since: 20, caveat: caveats::FUNCTION, write: gelu },
    Body { operator: "GroupNormalization", since: 21, caveat: caveats::ORDER, write: group_normalization },
    Body { operator: "HardSwish", since: 14, caveat: caveats::FUNCTION, write: hard_swish },
    Body { operator: "LayerNormalization", since: 17, caveat: caveats::ORDER, write: layer_normalization },
    Body { operator: "Mish", since: 18, caveat: caveats::FUNCTION, write: mish },
    Body { operator: "RMSNormalization", since: 23, caveat: caveats::ORDER, write: rms_normalization },
    Body { operator: "Swish", since: 24, caveat: caveats::FUNCTION, write: swish },
];

fn body_of(target: &GraphWriter, operator: &str) -> Option<&'static Body> {
    let older = |body: &&Body| target.standard == Standard::Onnx && target.opset < body.since;
    BODIES.iter().find(|body| body.operator == operator).filter(older)
}

/// Returns true if an operator is written by other ones.
pub(super) fn has_body(target: &GraphWriter, operator: &str) -> bool {
    body_of(target, operator).is_some()
}

/// Writes the other operators, if the operator set lacks this one.
pub(super) fn written(
    cx: &mut ConvertContext<'_, '_>,
    operator: &str,
    inputs: &[NewValue],
    attributes: &[(&str, Content)],
    outputs: usize,
) -> Option<Result<Vec<NewValue>>> {
    let body = body_of(cx.target, operator)?;
    cx.rounding(body.caveat);
    Some((body.write)(cx, &New { inputs, attributes, outputs }))
}

fn gelu(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (x, dtype) = (new.inputs[0], cx.dtype(0)?);
    let tanh = matches!(new.get("approximate"), Some(Content::Bytes(form)) if &**form == b"tanh");
    let inner = if tanh {
        let (cubic, factor) = (cx.number(0.044_715, dtype)?, cx.number(FRAC_2_PI.sqrt(), dtype)?);
        let square = cx.put("Mul", &[x, x], &[])?;
        let part = cx.put("Mul", &[square, cubic], &[])?;
        let part = cx.put("Mul", &[part, x], &[])?;
        let sum = cx.put("Add", &[x, part], &[])?;
        let scaled = cx.put("Mul", &[sum, factor], &[])?;
        cx.put("Tanh", &[scaled], &[])?
    } else {
        let factor = cx.number(FRAC_1_SQRT_2, dtype)?;
        let scaled = cx.put("Mul", &[x, factor], &[])?;
        cx.put("Erf", &[scaled], &[])?
    };
    let (one, half) = (cx.number(1.0, dtype)?, cx.number(0.5, dtype)?);
    let weight = cx.put("Add", &[inner, one], &[])?;
    let halved = cx.put("Mul", &[x, half], &[])?;
    Ok(vec![cx.put("Mul", &[halved, weight], &[])?])
}

fn hard_swish(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let weight = part_of_six(cx, new.inputs[0])?;
    Ok(vec![cx.put("Mul", &[new.inputs[0], weight], &[])?])
}

fn mish(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let soft = cx.put("Softplus", &[new.inputs[0]], &[])?;
    let weight = cx.put("Tanh", &[soft], &[])?;
    Ok(vec![cx.put("Mul", &[new.inputs[0], weight], &[])?])
}

fn swish(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (x, alpha) = (new.inputs[0], new.float("alpha", 1.0));
    let mut scaled = x;
    if alpha != 1.0 {
        let dtype = cx.dtype(0)?;
        let alpha = cx.number(alpha, dtype)?;
        scaled = cx.put("Mul", &[x, alpha], &[])?;
    }
    let weight = cx.put("Sigmoid", &[scaled], &[])?;
    Ok(vec![cx.put("Mul", &[x, weight], &[])?])
}

/// The type that statistics are computed in: float32 for shorter floats.
fn wide(dtype: DType) -> DType {
    if dtype.bits() < 32 { DType::F32 } else { dtype }
}

fn cast(cx: &mut ConvertContext<'_, '_>, value: NewValue, from: DType, to: DType) -> Result<NewValue> {
    if from == to { Ok(value) } else { cx.put("Cast", &[value], &[numbered("to", to)?]) }
}

/// Elements divided by the root of the mean of their squares; this is their second value.
fn scaled(
    cx: &mut ConvertContext<'_, '_>,
    x: NewValue,
    axes: NewValue,
    (epsilon, dtype): (f64, DType),
) -> Result<[NewValue; 2]> {
    let epsilon = cx.number(epsilon, dtype)?;
    let squares = cx.put("Mul", &[x, x], &[])?;
    let mean = cx.put("ReduceMean", &[squares, axes], &[])?;
    let sum = cx.put("Add", &[mean, epsilon], &[])?;
    let root = cx.put("Sqrt", &[sum], &[])?;
    let inverse = cx.put("Reciprocal", &[root], &[])?;
    Ok([cx.put("Mul", &[x, inverse], &[])?, inverse])
}

/// The axes from the one that the attribute names.
fn last_axes(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<NewValue> {
    let (first, rank) = (cx.axis(new.int("axis", -1), 0)?, cx.rank(0)?);
    Ok(cx.list(&(first..rank).map(i64_of).collect::<Vec<_>>()))
}

fn layer_normalization(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (own, axes) = (cx.dtype(0)?, last_axes(cx, new)?);
    let dtype = wide(own);
    let x = cast(cx, new.inputs[0], own, dtype)?;
    let mean = cx.put("ReduceMean", &[x, axes], &[])?;
    let centered = cx.put("Sub", &[x, mean], &[])?;
    let [y, inverse] = scaled(cx, centered, axes, (new.float("epsilon", 1e-5), dtype))?;
    let mut y = cast(cx, y, dtype, own)?;
    y = cx.put("Mul", &[y, new.inputs[1]], &[])?;
    if let Some(bias) = new.input(2) {
        y = cx.put("Add", &[y, bias], &[])?;
    }
    let mut all = vec![y];
    for statistic in [mean, inverse].into_iter().take(new.outputs.saturating_sub(1)) {
        all.push(cast(cx, statistic, dtype, DType::F32)?);
    }
    Ok(all)
}

fn rms_normalization(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (own, to, axes) = (cx.dtype(0)?, cx.dtype(1)?, last_axes(cx, new)?);
    let dtype = wide(own);
    let x = cast(cx, new.inputs[0], own, dtype)?;
    let [y, _] = scaled(cx, x, axes, (new.float("epsilon", 1e-5), dtype))?;
    let y = cast(cx, y, dtype, to)?;
    Ok(vec![cx.put("Mul", &[y, new.inputs[1]], &[])?])
}

fn group_normalization(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (own, rank, axes) = (cx.dtype(0)?, cx.rank(0)?, cx.list(&[2]));
    let dtype = wide(own);
    let (sizes, groups) = (cx.put("Shape", &[new.inputs[0]], &[])?, new.int("num_groups", 1));
    let x = cast(cx, new.inputs[0], own, dtype)?;
    let rows = cx.list(&[0, groups, -1]);
    let x = cx.put("Reshape", &[x, rows], &[])?;
    let mean = cx.put("ReduceMean", &[x, axes], &[])?;
    let centered = cx.put("Sub", &[x, mean], &[])?;
    let [y, _] = scaled(cx, centered, axes, (new.float("epsilon", 1e-5), dtype))?;
    let y = cx.put("Reshape", &[y, sizes], &[])?;
    let y = cast(cx, y, dtype, own)?;
    let by_channel = [&[-1], &vec![1; rank.saturating_sub(2)][..]].concat();
    let by_channel = cx.list(&by_channel);
    let scale = cx.put("Reshape", &[new.inputs[1], by_channel], &[])?;
    let bias = cx.put("Reshape", &[new.inputs[2], by_channel], &[])?;
    let y = cx.put("Mul", &[y, scale], &[])?;
    Ok(vec![cx.put("Add", &[y, bias], &[])?])
}
