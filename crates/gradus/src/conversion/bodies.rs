//! Operators of ONNX in those of operator sets that lack them.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

use gradus_core::convert::i64_of;
use gradus_core::graph::{Content, Standard};
use gradus_core::{DType, Result};

use super::caveats;
use super::node::ConvertContext;
use super::report::not_known;
use super::to_onnx::int;
use super::types::numbered;
use super::writer::{GraphWriter, NONE, NewValue};
use crate::dim::Dim;
use crate::fact::Elements;
use crate::operators::elementwise::to_onnx::part_of_six;
use crate::operators::indices::axis as axis_of;

/// An operator that is written: the first input of the node has the rank of its first one.
struct New<'a> {
    /// The element type of the first input, if it is known.
    dtype: Option<DType>,
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

    fn dtype(&self) -> Result<DType> {
        self.dtype.ok_or_else(|| not_known("element type of input 0"))
    }

    fn input(&self, index: usize) -> Option<NewValue> {
        self.inputs.get(index).copied().filter(|&input| input != NONE)
    }
}

/// The body of an operator: what writes it, and what its results leave open, if anything.
struct Body {
    operator: &'static str,
    /// The first operator set that has the operator as it is now.
    since: i64,
    caveat: &'static str,
    write: fn(&mut ConvertContext<'_, '_>, &New<'_>) -> Result<Vec<NewValue>>,
}

const BODIES: [Body; 12] = [
    Body { operator: "CastLike", since: 15, caveat: "", write: cast_like },
    Body { operator: "Gelu", since: 20, caveat: caveats::FUNCTION, write: gelu },
    Body { operator: "GroupNormalization", since: 21, caveat: caveats::ORDER, write: group_normalization },
    Body { operator: "HardSwish", since: 14, caveat: caveats::FUNCTION, write: hard_swish },
    Body { operator: "LayerNormalization", since: 17, caveat: caveats::ORDER, write: layer_normalization },
    Body { operator: "Mish", since: 18, caveat: caveats::FUNCTION, write: mish },
    Body { operator: "Pad", since: 18, caveat: "", write: pad },
    Body { operator: "RMSNormalization", since: 23, caveat: caveats::ORDER, write: rms_normalization },
    Body { operator: "Reshape", since: 14, caveat: "", write: reshape },
    Body { operator: "Shape", since: 15, caveat: "", write: shape },
    Body { operator: "Swish", since: 24, caveat: caveats::FUNCTION, write: swish },
    Body { operator: "Trilu", since: 14, caveat: "", write: trilu },
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
    if !body.caveat.is_empty() {
        cx.rounding(body.caveat);
    }
    let dtype = cx.lowered_dtype.or_else(|| cx.dtype(0).ok());
    Some((body.write)(cx, &New { dtype, inputs, attributes, outputs }))
}

/// A Cast to the type of the other input, which must be known.
fn cast_like(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let to = cx.dtype(1)?;
    let attributes = [&[numbered("to", to)?], new.attributes].concat();
    Ok(vec![cx.put("Cast", &new.inputs[..1], &attributes)?])
}

/// Pads of all axes, of a node that pads the axes that it names.
fn pad(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let mut inputs = new.inputs.to_vec();
    if let Some(axes) = new.input(3) {
        let (rank, axes) = (cx.rank(0)?, cx.target.known(axes)?.ok_or_else(|| not_known("axes of Pad"))?);
        let axes = axes.to_i64()?;
        // The pad behind those of the node is 0.
        let mut places = vec![i64_of(2 * axes.len()); 2 * rank];
        for (place, &axis) in axes.iter().enumerate() {
            let axis = axis_of(axis, rank)?;
            places[axis] = i64_of(place);
            places[rank + axis] = i64_of(axes.len() + place);
        }
        let (zero, places) = (cx.list(&[0]), cx.list(&places));
        let pads = cx.put("Concat", &[inputs[1], zero], &[int("axis", 0)])?;
        inputs[1] = cx.put("Gather", &[pads, places], &[int("axis", 0)])?;
        inputs.truncate(3);
    }
    cx.target.put("Pad", &inputs, new.attributes, 1)
}

/// Returns true if no dimension that a Reshape is given is 0, or that of the same axis of the input
/// is 0 then, too.
fn copies_no_dims(cx: &ConvertContext<'_, '_>) -> bool {
    let is_reshape = &*cx.node.operator.name == "Reshape";
    let (Some(x), Some(shape)) = (cx.fact(0).as_tensor(), cx.fact(1).as_tensor()) else { return false };
    let symbols = &cx.conversion.symbols;
    let dims = x.dims.as_deref().unwrap_or_default();
    let full = !dims.is_empty() && dims.iter().all(|&dim| symbols.at_least(dim, 1));
    let copied = |(axis, &size): (usize, &Dim)| {
        symbols.at_least(size, 1) || size.known() == Some(-1) || dims.get(axis) == Some(&size)
    };
    let none = matches!(&shape.elements, Elements::Integers(sizes) if sizes.iter().enumerate().all(copied));
    is_reshape && (full || none)
}

/// The same elements in another shape, of which a dimension of 0 is none of the input's: one that
/// may be 0 is made one of the input first, which then has no elements.
fn reshape(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (mut x, shape) = (new.inputs[0], new.inputs[1]);
    let known = cx.target.known(shape)?;
    let has_zero = known.map(|known| known.to_i64()).transpose()?.is_none_or(|dims| dims.contains(&0));
    if new.int("allowzero", 0) != 0 && has_zero && !copies_no_dims(cx) {
        let row = cx.list(&[-1]);
        x = cx.target.put("Reshape", &[x, row], &[], 1)?[0];
        // Shape inference of `onnx` takes casts to bool and back for the number itself.
        let sign = cx.put("Sign", &[shape], &[])?;
        let most_one = cx.put("Abs", &[sign], &[])?;
        x = cx.put("Expand", &[x, most_one], &[])?;
    }
    cx.target.put("Reshape", &[x, shape], &[], 1)
}

/// The sizes of some axes.
fn shape(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let all = cx.target.put("Shape", new.inputs, &[], 1)?;
    if new.attributes.is_empty() {
        return Ok(all);
    }
    Ok(vec![cx.part_of(all[0], new.int("start", 0), new.int("end", i64::MAX))?])
}

/// The elements on one side of a diagonal, chosen by the distance of their column and row.
fn trilu(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (x, dtype) = (new.inputs[0], new.dtype()?);
    let (zero, one, behind, first) = (cx.scalar(0), cx.scalar(1), cx.list(&[-1]), cx.list(&[0]));
    let sizes = cx.put("Shape", &[x], &[])?;
    let mut lines = [x; 2];
    for (line, axis) in lines.iter_mut().zip([-2, -1]) {
        let axis = cx.scalar(axis);
        let size = cx.put("Gather", &[sizes, axis], &[])?;
        *line = cx.put("Range", &[zero, size, one], &[])?;
    }
    let row = cx.put("Unsqueeze", &[lines[0], behind], &[])?;
    let column = cx.put("Unsqueeze", &[lines[1], first], &[])?;
    let distance = cx.put("Sub", &[column, row], &[])?;
    let diagonal = new.input(1).unwrap_or(zero);
    let beyond = if new.int("upper", 1) != 0 { "Less" } else { "Greater" };
    let beyond = cx.put(beyond, &[distance, diagonal], &[])?;
    let nothing = cx.number(0.0, dtype)?;
    Ok(vec![cx.put("Where", &[beyond, nothing, x], &[])?])
}

fn gelu(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (x, dtype) = (new.inputs[0], new.dtype()?);
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
        let dtype = new.dtype()?;
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
    let (own, axes) = (new.dtype()?, last_axes(cx, new)?);
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
    let (own, to, axes) = (new.dtype()?, cx.dtype(1)?, last_axes(cx, new)?);
    let dtype = wide(own);
    let x = cast(cx, new.inputs[0], own, dtype)?;
    let [y, _] = scaled(cx, x, axes, (new.float("epsilon", 1e-5), dtype))?;
    let y = cast(cx, y, dtype, to)?;
    Ok(vec![cx.put("Mul", &[y, new.inputs[1]], &[])?])
}

fn group_normalization(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (own, rank, axes) = (new.dtype()?, cx.rank(0)?, cx.list(&[2]));
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
