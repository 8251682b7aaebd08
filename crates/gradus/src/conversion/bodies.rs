//! Operators of ONNX in those of operator sets that lack them.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};
use std::sync::Arc;

use gradus_core::convert::{self, Rules, i64_of};
use gradus_core::graph::{Content, Standard, Type};
use gradus_core::{Class, DType, Result, Tensor};
use gradus_formats::onnx::dtype_of;

use super::node::{ConvertContext, LONGEST};
use super::report::not_known;
use super::to_onnx::int;
use super::types::{exactly, numbered};
use super::writer::{GraphWriter, NONE, NewValue};
use super::{caveats, lowered};
use crate::dim::Dim;
use crate::fact::Elements;
use crate::operators::elementwise::to_onnx::part_of_six;
use crate::operators::generate::transforms;
use crate::operators::indices::axis as axis_of;
use crate::operators::matmul::to_onnx::einsum_of_products;
use crate::operators::nn::sampled;
use crate::operators::{self, Rounding, errors};

/// An operator that is written: the first input of the node has the rank of its first one.
pub(crate) struct New<'a> {
    /// The element type of the first input, if it is known.
    dtype: Option<DType>,
    pub(crate) inputs: &'a [NewValue],
    pub(crate) attributes: &'a [(&'a str, Content)],
    outputs: usize,
}

impl New<'_> {
    pub(crate) fn get(&self, name: &str) -> Option<&Content> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, content)| content)
    }

    fn float(&self, name: &str, default: f32) -> f64 {
        if let Some(Content::Float(value)) = self.get(name) { *value } else { default }.into()
    }

    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        if let Some(Content::Int(value)) = self.get(name) { *value } else { default }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        if let Some(Content::Bytes(text)) = self.get(name) { std::str::from_utf8(text).ok() } else { None }
    }

    /// The two inputs.
    pub(crate) fn two(&self) -> Result<&[NewValue; 2]> {
        self.inputs.first_chunk().ok_or_else(|| errors::missing("input 1"))
    }

    pub(crate) fn dtype(&self) -> Result<DType> {
        self.dtype.ok_or_else(|| not_known("element type of input 0"))
    }

    pub(crate) fn input(&self, index: usize) -> Option<NewValue> {
        self.inputs.get(index).copied().filter(|&input| input != NONE)
    }
}

/// The body of an operator, and the function that writes it.
struct Body {
    operator: &'static str,
    /// The first operator set that has the operator as it is now.
    since: i64,
    /// True if other operators are written for each of its nodes, and round floats in several steps.
    is_whole: bool,
    write: fn(&mut ConvertContext<'_, '_>, &New<'_>) -> Result<Vec<NewValue>>,
}

const BODIES: [Body; 34] = [
    Body { operator: "BatchNormalization", since: 14, is_whole: false, write: batch_normalization },
    Body { operator: "BitwiseAnd", since: 18, is_whole: false, write: |cx, new| bitwise(cx, new, "Min") },
    Body { operator: "BitwiseNot", since: 18, is_whole: false, write: bitwise_not },
    Body { operator: "BitwiseOr", since: 18, is_whole: false, write: |cx, new| bitwise(cx, new, "Max") },
    Body { operator: "BitwiseXor", since: 18, is_whole: false, write: |cx, new| bitwise(cx, new, "Sub") },
    Body { operator: "Cast", since: i64::MAX, is_whole: false, write: cast_of_constant },
    Body { operator: "CastLike", since: 15, is_whole: false, write: cast_like },
    Body { operator: "DFT", since: 17, is_whole: true, write: transforms::dft },
    Body { operator: "DeformConv", since: 19, is_whole: false, write: sampled::deform_conv },
    Body { operator: "DequantizeLinear", since: 21, is_whole: false, write: dequantize_linear },
    Body { operator: "Einsum", since: 12, is_whole: true, write: einsum },
    Body { operator: "GatherND", since: 12, is_whole: false, write: gather_nd },
    Body { operator: "Gelu", since: 20, is_whole: true, write: gelu },
    Body { operator: "Gemm", since: 11, is_whole: false, write: gemm },
    Body { operator: "GreaterOrEqual", since: 12, is_whole: false, write: greater_or_equal },
    Body { operator: "GridSample", since: 20, is_whole: false, write: sampled::grid_sample },
    Body { operator: "GroupNormalization", since: 21, is_whole: true, write: group_normalization },
    Body { operator: "HardSwish", since: 14, is_whole: true, write: hard_swish },
    Body { operator: "LayerNormalization", since: 17, is_whole: true, write: layer_normalization },
    Body { operator: "LessOrEqual", since: 12, is_whole: false, write: less_or_equal },
    Body { operator: "Max", since: 12, is_whole: false, write: max },
    Body { operator: "Min", since: 12, is_whole: false, write: min },
    Body { operator: "Mish", since: 18, is_whole: true, write: mish },
    Body { operator: "Pad", since: 18, is_whole: false, write: pad },
    Body { operator: "Pow", since: 12, is_whole: false, write: pow },
    Body { operator: "QuantizeLinear", since: 21, is_whole: false, write: quantize_linear },
    Body { operator: "RMSNormalization", since: 23, is_whole: true, write: rms_normalization },
    Body { operator: "Reshape", since: 14, is_whole: false, write: reshape },
    Body { operator: "STFT", since: 17, is_whole: true, write: transforms::stft },
    Body { operator: "ScatterElements", since: 18, is_whole: false, write: scatter_elements },
    Body { operator: "ScatterND", since: 18, is_whole: false, write: scatter_nd },
    Body { operator: "Shape", since: 15, is_whole: false, write: shape },
    Body { operator: "Swish", since: 24, is_whole: true, write: swish },
    Body { operator: "Trilu", since: 14, is_whole: false, write: trilu },
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
    let rounding = operators::row(Standard::Onnx, "", operator).map(operators::Row::rounding);
    if let Some(rounding) = rounding.filter(|_| body.is_whole) {
        lowered::note_rounding(cx, rounding);
    }
    let dtype = cx.lowered.first().copied().flatten().or_else(|| cx.dtype(0).ok());
    let new = New { dtype, inputs, attributes, outputs };
    let is_function = body.is_whole && rounding == Some(Rounding::Formula);
    let own = dtype.filter(|&dtype| is_function && wide(dtype) != dtype);
    Some(match own {
        Some(own) => in_float32(cx, body, &new, own),
        None => (body.write)(cx, &new),
    })
}

/// A function of shorter floats in float32, so that its result is rounded once.
fn in_float32(
    cx: &mut ConvertContext<'_, '_>,
    body: &Body,
    new: &New<'_>,
    own: DType,
) -> Result<Vec<NewValue>> {
    let x = cast(cx, new.inputs[0], own, DType::F32)?;
    let y = (body.write)(cx, &New { dtype: Some(DType::F32), inputs: &[x], ..*new })?[0];
    Ok(vec![cast(cx, y, DType::F32, own)?])
}

/// Bits of integers, 32 at a time, each as an int64 of its own on a last axis: the smaller one is
/// set in both, the larger one in either, and the size of the difference in one of two.
fn bitwise(cx: &mut ConvertContext<'_, '_>, new: &New<'_>, operator: &str) -> Result<Vec<NewValue>> {
    let dtype = new.dtype()?;
    let width = dtype.bits().min(32);
    let (whole, zero, last) = (cx.scalar(1 << width), cx.scalar(0), cx.list(&[-1]));
    let (powers, two) = (cx.list(&(0..width).map(|bit| 1 << bit).collect::<Vec<_>>()), cx.scalar(2));
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for &input in &new.inputs[..2] {
        let x = cast(cx, input, dtype, DType::I64)?;
        let part = cx.put("Mod", &[x, whole], &[])?;
        low.push(part);
        if dtype.bits() > 32 {
            let rest = cx.put("Sub", &[x, part], &[])?;
            let rest = cx.put("Div", &[rest, whole], &[])?;
            high.push(cx.put("Mod", &[rest, whole], &[])?);
        }
    }
    let mut parts = Vec::new();
    for operands in [low, high].iter().filter(|operands| !operands.is_empty()) {
        let mut bits = Vec::new();
        for &operand in operands {
            let column = cx.put("Unsqueeze", &[operand, last], &[])?;
            let above = cx.put("Div", &[column, powers], &[])?;
            bits.push(cx.put("Mod", &[above, two], &[])?);
        }
        let mut joined = cx.put(operator, &bits, &[])?;
        if operator == "Sub" {
            joined = cx.put("Abs", &[joined], &[])?;
        }
        let values = cx.put("Mul", &[joined, powers], &[])?;
        parts.push(cx.put("ReduceSum", &[values, last], &[int("keepdims", 0)])?);
    }
    // The part with the sign of the type is below zero where that bit is set.
    let top = parts.len() - 1;
    if dtype.class() == Class::Signed || top > 0 {
        let half = cx.scalar(1 << (width - 1));
        let is_positive = cx.put("Less", &[parts[top], half], &[])?;
        let less = cx.put("Where", &[is_positive, zero, whole], &[])?;
        parts[top] = cx.put("Sub", &[parts[top], less], &[])?;
    }
    let mut value = parts[top];
    if top > 0 {
        value = cx.put("Mul", &[value, whole], &[])?;
        value = cx.put("Add", &[value, parts[0]], &[])?;
    }
    Ok(vec![cast(cx, value, DType::I64, dtype)?])
}

/// The bits that are not set: the largest number of the type less the given one, or -1 less it.
fn bitwise_not(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let dtype = new.dtype()?;
    let unsigned = dtype.class() != Class::Signed && dtype.bits() < 64;
    let most = cx.scalar(if unsigned { (1 << dtype.bits()) - 1 } else { -1 });
    let x = cast(cx, new.inputs[0], dtype, DType::I64)?;
    let value = cx.put("Sub", &[most, x], &[])?;
    Ok(vec![cast(cx, value, DType::I64, dtype)?])
}

/// A Cast. A constant whose type the operator set or the runtime does not cast is widened: integers
/// to 8 bits, floats to the type that they are cast to.
fn cast_of_constant(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let known = if cx.target.is_computed(new.inputs[0]) { None } else { cx.target.known(new.inputs[0])? };
    let to = match new.get("to") {
        Some(&Content::Int(number)) => dtype_of(number),
        _ => None,
    };
    if let (Some(tensor), Some(to)) = (known, to) {
        let from = tensor.dtype();
        let types = [("T1", from), ("T2", to)];
        let runs = cx.conversion.runtime.is_none_or(|runtime| runtime.takes(cx.target, "Cast", &types));
        let wider = match from {
            DType::I2 | DType::I4 => DType::I8,
            _ if from.is_packed() && from.is_integer() => DType::U8,
            _ => to,
        };
        if !(runs && cx.target.admits("Cast", from)) {
            let widened = cx.constant(convert::cast(&tensor, wider, Rules::IEEE)?);
            return cx.target.put("Cast", &[widened], new.attributes, 1);
        }
    }
    cx.target.put("Cast", new.inputs, new.attributes, 1)
}

/// Scales or zero points along the axis of a node, for a value of this rank.
fn along(cx: &mut ConvertContext<'_, '_>, new: &New<'_>, value: NewValue, rank: usize) -> Result<NewValue> {
    let axis = axis_of(new.int("axis", 1), rank.max(2))?;
    // A scalar keeps its element, as it has no other.
    let dims: Vec<_> = (0..rank).map(|own| if own == axis { -1 } else { 1 }).collect();
    let dims = cx.list(&dims);
    cx.put("Reshape", &[value, dims], &[])
}

/// The element type of a constant, or of an input, if it is known.
fn type_of(cx: &ConvertContext<'_, '_>, new: &New<'_>, input: usize) -> Result<Option<DType>> {
    if let Some(tensor) = cx.target.known(new.inputs[input])? {
        return Ok(Some(tensor.dtype()));
    }
    // Inputs of other nodes are not those of the operator that they become.
    let own = matches!(&*cx.node.operator.name, "DequantizeLinear" | "QuantizeLinear");
    Ok(if own && cx.lowered.is_empty() {
        cx.dtype(input).ok()
    } else {
        cx.lowered.get(input).copied().flatten()
    })
}

/// Codes of a type, or in blocks, that the operator set lacks: less their zero point, times their
/// scale.
fn dequantize_linear(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    const NAME: &str = "DequantizeLinear";
    let block = new.int("block_size", 0);
    let (Some(own), Some(to)) = (type_of(cx, new, 0)?, type_of(cx, new, 1)?) else {
        return cx.target.put(NAME, new.inputs, new.attributes, 1);
    };
    let simple = block == 0 && cx.target.admits(NAME, own);
    if simple || new.int("output_dtype", 0) != 0 || cx.target.signature(NAME).is_none() {
        return cx.target.put(NAME, new.inputs, new.attributes, 1);
    }
    if !own.is_integer() || own.bits() > 16 || (to != DType::F32 && own.bits() > 8) {
        return cx.target.put(NAME, new.inputs, new.attributes, 1);
    }
    let dims = cx.target.known(new.inputs[0])?.map(|codes| codes.shape().dims().to_vec());
    let dtype = wide(to);
    let scale = cast(cx, new.inputs[1], to, dtype)?;
    let zero = match new.input(2) {
        Some(zero) => Some(cx.put("Cast", &[zero], &[numbered("to", dtype)?])?),
        None => None,
    };
    let mut by = [Some(scale), zero];
    let mut codes = cx.put("Cast", &new.inputs[..1], &[numbered("to", dtype)?])?;
    if block == 0 {
        let rank = dims.map_or_else(|| cx.rank(0), |dims| Ok(dims.len()))?;
        for value in by.iter_mut().flatten() {
            *value = along(cx, new, *value, rank)?;
        }
    } else if block < 1 {
        return Err(errors::value("attribute \"block_size\"", block, "at least 0"));
    } else {
        let axis = new.int("axis", 1);
        let size =
            dims.map(|dims| Ok::<_, gradus_core::Error>(dims[axis_of(axis, dims.len())?])).transpose()?;
        let places = places_of_blocks(cx, codes, (axis, size.map(i64_of)), block)?;
        for value in by.iter_mut().flatten() {
            *value = cx.put("Gather", &[*value, places], &[int("axis", axis)])?;
        }
    }
    if let [_, Some(zero)] = by {
        codes = cx.put("Sub", &[codes, zero], &[])?;
    }
    let value = cx.put("Mul", &[codes, by[0].unwrap_or(NONE)], &[])?;
    Ok(vec![cast(cx, value, dtype, to)?])
}

/// The number of the block of each index of an axis, whose size may be known.
fn places_of_blocks(
    cx: &mut ConvertContext<'_, '_>,
    codes: NewValue,
    (axis, size): (i64, Option<i64>),
    block: i64,
) -> Result<NewValue> {
    if let Some(size) = size.filter(|&size| size <= i64_of(LONGEST)) {
        return Ok(cx.list(&(0..size).map(|index| index / block).collect::<Vec<_>>()));
    }
    let (zero, one, axis, block) = (cx.scalar(0), cx.scalar(1), cx.scalar(axis), cx.scalar(block));
    let sizes = cx.sizes(codes)?;
    let size = cx.put("Gather", &[sizes, axis], &[])?;
    let indices = cx.put("Range", &[zero, size, one], &[])?;
    cx.put("Div", &[indices, block], &[])
}

/// Codes of 16 bits, in sets that have those of 8 bits: quotients, rounded, moved by the zero point
/// and limited.
fn quantize_linear(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    const NAME: &str = "QuantizeLinear";
    let to = match new.input(2) {
        Some(_) => type_of(cx, new, 2)?,
        None => None,
    };
    let (to, low, high) = match to {
        Some(to @ DType::I16) => (to, f64::from(i16::MIN), f64::from(i16::MAX)),
        Some(to @ DType::U16) => (to, 0.0, f64::from(u16::MAX)),
        _ => return cx.target.put(NAME, new.inputs, new.attributes, 1),
    };
    if new.dtype()? != DType::F32 || new.int("block_size", 0) != 0 {
        return cx.target.put(NAME, new.inputs, new.attributes, 1);
    }
    let rank = cx.rank(0)?;
    let scale = along(cx, new, new.inputs[1], rank)?;
    let zero = along(cx, new, new.inputs[2], rank)?;
    let zero = cx.put("Cast", &[zero], &[numbered("to", DType::F32)?])?;
    let quotient = cx.put("Div", &[new.inputs[0], scale], &[])?;
    let whole = cx.put("Round", &[quotient], &[])?;
    let moved = cx.put("Add", &[whole, zero], &[])?;
    let (low, high) = (cx.number(low, DType::F32)?, cx.number(high, DType::F32)?);
    let limited = cx.put("Clip", &[moved, low, high], &[])?;
    Ok(vec![cast(cx, limited, DType::F32, to)?])
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

/// The operator that reduces what is scattered, if the operator set has no attribute for it.
fn reduction(cx: &ConvertContext<'_, '_>, new: &New<'_>) -> Option<&'static str> {
    let Some(Content::Bytes(reduction)) = new.get("reduction") else { return None };
    let (operator, since) = match &**reduction {
        b"add" => ("Add", 16),
        b"mul" => ("Mul", 16),
        b"max" => ("Max", 18),
        b"min" => ("Min", 18),
        _ => return None,
    };
    (cx.target.opset < since).then_some(operator)
}

fn scatter_nd(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let Some(operator) = reduction(cx, new) else {
        return cx.target.put("ScatterND", new.inputs, new.attributes, 1);
    };
    let (&[data, indices, updates], behind) = (required(new)?, cx.list(&[-1]));
    let (sizes, of_data) = (cx.sizes(indices)?, cx.sizes(data)?);
    let depth = cx.part_of(sizes, -1, i64::MAX)?;
    let (all, zero) = (cx.list(&[i64::MAX]), cx.list(&[0]));
    let left = cx.put("Slice", &[of_data, depth, all, zero], &[])?;
    let mut rows = [indices, updates];
    for (row, tail) in rows.iter_mut().zip([depth, left]) {
        let shape = cx.put("Concat", &[behind, tail], &[int("axis", 0)])?;
        *row = cx.put("Reshape", &[*row, shape], &[])?;
    }
    one_by_one(cx, new.dtype()?, [data, rows[0], rows[1]], operator, ("GatherND", "ScatterND", None))
}

fn scatter_elements(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let Some(operator) = reduction(cx, new) else {
        return cx.target.put("ScatterElements", new.inputs, new.attributes, 1);
    };
    let along = ("GatherElements", "ScatterElements", Some(new.int("axis", 0)));
    one_by_one(cx, new.dtype()?, *required::<3>(new)?, operator, along)
}

/// The inputs of an operator that has so many.
fn required<'n, const COUNT: usize>(new: &New<'n>) -> Result<&'n [NewValue; COUNT]> {
    new.inputs.try_into().map_err(|_| not_known("an input"))
}

/// A loop that reduces one slice of the updates after another, as an index may occur twice: along
/// an axis, or along the first one of rows of indices.
fn one_by_one(
    cx: &mut ConvertContext<'_, '_>,
    dtype: DType,
    [data, indices, updates]: [NewValue; 3],
    operator: &str,
    (gather, scatter, axis): (&str, &str, Option<i64>),
) -> Result<Vec<NewValue>> {
    if !(dtype.is_integer() || matches!(operator, "Max" | "Min")) {
        cx.rounding(caveats::ORDER);
    }
    let along = [int("axis", axis.unwrap_or(0))];
    let own = if axis.is_some() { &along[..] } else { &[] };
    let indices = cx.cast(indices, DType::I64)?;
    let (sizes, at) = (cx.sizes(indices)?, cx.scalar(axis.unwrap_or(0)));
    let count = cx.put("Gather", &[sizes, at], &[])?;
    let mut body = GraphWriter::new(cx.target.standard, cx.target.opset);
    let names = &mut cx.conversion.names;
    let scalar = |dtype| Some(Type::Tensor(Some(dtype), Some(Vec::new())));
    let run = body.input(names.fresh("run"), scalar(DType::I64));
    let goes = body.input(names.fresh("goes_on"), scalar(DType::Bool));
    let carried = ["data", "indices", "updates"].map(|name| body.input(names.fresh(name), None));
    let since = body.mark();
    let one = body.tensor(Tensor::vector(&[1i64]));
    let mut put = |operator: &str, inputs: &[NewValue], attributes: &[(&str, Content)]| {
        Ok::<_, gradus_core::Error>(body.put(operator, inputs, attributes, 1)?[0])
    };
    let run = put("Reshape", &[run, one], &[])?;
    let part = put("Gather", &[carried[1], run], &along)?;
    let update = put("Gather", &[carried[2], run], &along)?;
    let before = put(gather, &[carried[0], part], own)?;
    let after = put(operator, &[before, update], &[])?;
    let next = put(scatter, &[carried[0], part, after], own)?;
    let goes = body.copy(goes, Some(DType::Bool))?;
    let kept = [body.copy(carried[1], Some(DType::I64))?, body.copy(carried[2], Some(dtype))?];
    body.name_since(since, "scatter", names);
    for output in [goes, next, kept[0], kept[1]] {
        body.output(output);
    }
    let body = Content::Graph(Arc::new(body.finish("scatter", true)?));
    let inputs = [count, NONE, data, indices, updates];
    Ok(vec![cx.put_many("Loop", &inputs, &[("body", body)], 3)?[0]])
}

/// The sizes of some axes.
fn shape(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let all = cx.target.put("Shape", new.inputs, &[], 1)?;
    let (start, end) = (new.int("start", 0), new.int("end", i64::MAX));
    Ok(if (start, end) == (0, i64::MAX) { all } else { vec![cx.part_of(all[0], start, end)?] })
}

/// A product with a term that is added: -0, which changes no number, where there is none.
fn gemm(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    if new.input(2).is_some() {
        return cx.target.put("Gemm", new.inputs, new.attributes, 1);
    }
    let zero = cx.number(-0.0, new.dtype()?)?;
    let attributes: Vec<_> = new.attributes.iter().filter(|(name, _)| *name != "beta").cloned().collect();
    let [a, b] = *new.two()?;
    cx.target.put("Gemm", &[a, b, zero], &attributes, 1)
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
    if dtype == DType::Bool {
        // ONNX Runtime has no `Where` that chooses among booleans.
        let within = cx.put("Not", &[beyond], &[])?;
        return Ok(vec![cx.put("And", &[x, within], &[])?]);
    }
    let nothing = cx.number(0.0, dtype)?;
    Ok(vec![cx.put("Where", &[beyond, nothing, x], &[])?])
}

fn max(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    extreme(cx, new, ["Max", "Greater"])
}

fn min(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    extreme(cx, new, ["Min", "Less"])
}

/// The largest or smallest elements. Integers are compared and chosen, as older sets take floats
/// alone.
fn extreme(
    cx: &mut ConvertContext<'_, '_>,
    new: &New<'_>,
    [operator, beyond]: [&str; 2],
) -> Result<Vec<NewValue>> {
    if new.dtype.is_none_or(|dtype| cx.target.admits(operator, dtype)) {
        return cx.target.put(operator, new.inputs, new.attributes, new.outputs);
    }
    let (&first, rest) = new.inputs.split_first().ok_or_else(|| not_known("input 0"))?;
    let mut all = if rest.is_empty() { cx.put("Identity", &[first], &[])? } else { first };
    for &value in rest {
        let chosen = cx.put(beyond, &[value, all], &[])?;
        all = cx.put("Where", &[chosen, value, all], &[])?;
    }
    Ok(vec![all])
}

/// Products and sums, if the node itself is an `Einsum`.
fn einsum(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    if &*cx.node.operator.name != "Einsum" {
        return cx.target.put("Einsum", new.inputs, new.attributes, 1);
    }
    let equation = cx.attributes.text("equation")?.unwrap_or_default().to_owned();
    Ok(vec![einsum_of_products(cx, &equation, new.inputs)?])
}

/// The indices with those of the batch before them, which count along its axes.
fn gather_nd(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let batch = new.int("batch_dims", 0);
    if batch == 0 {
        return cx.target.put("GatherND", new.inputs, new.attributes, 1);
    }
    let &[data, indices] = required(new)?;
    let (sizes, one) = (cx.sizes(indices)?, cx.list(&[1]));
    let rows = cx.part_of(sizes, 0, -1)?;
    let column = cx.put("Concat", &[rows, one], &[int("axis", 0)])?;
    let ones = cx.put("Expand", &[one, column], &[])?;
    let mut all = Vec::new();
    for axis in 0..batch {
        let axis = cx.scalar(axis);
        all.push(cx.put("CumSum", &[ones, axis], &[int("exclusive", 1)])?);
    }
    all.push(indices);
    let indices = cx.put("Concat", &all, &[int("axis", -1)])?;
    cx.target.put("GatherND", &[data, indices], &[], 1)
}

/// Largest exponent of an integer that becomes multiplications.
const MOST_FACTORS: i64 = 64;

/// Powers whose exponent has another type, and powers of integers: older sets take two floats of
/// one type alone.
fn pow(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let &[base, exponent] = required(new)?;
    let types = (&*cx.node.operator.name == "Pow").then(|| Some((cx.dtype(0).ok()?, cx.dtype(1).ok()?)));
    let Some((own, other)) = types.flatten() else {
        return cx.target.put("Pow", new.inputs, new.attributes, 1);
    };
    let known = cx.known(1)?;
    if own.is_float() {
        let same = match &known {
            Some(known) if other != own => exactly(known, own)?.map(|known| cx.constant(known)),
            _ if other == own => Some(exponent),
            _ => None,
        };
        if let Some(exponent) = same {
            return cx.target.put("Pow", &[base, exponent], &[], 1);
        }
    } else if let Some(known) = known
        && known.shape().len() == 1
        && cx.rank(0)? >= known.shape().dims().len()
        && let Some(whole) = exactly(&known, DType::I64)?
        && let [factors @ 1..=MOST_FACTORS] = whole.to_i64()?[..]
    {
        return Ok(vec![multiplied(cx, base, factors)?]);
    }
    if own.is_float() {
        cx.rounding(caveats::FUNCTION);
    }
    cx.edges("results that float64 or the type does not hold, and exponents above 2^53");
    let (base, exponent) = (cast(cx, base, own, DType::F64)?, cast(cx, exponent, other, DType::F64)?);
    let power = cx.target.put("Pow", &[base, exponent], &[], 1)?[0];
    Ok(vec![cast(cx, power, DType::F64, own)?])
}

/// The product of so many factors that are one value, by squares.
fn multiplied(cx: &mut ConvertContext<'_, '_>, value: NewValue, factors: i64) -> Result<NewValue> {
    if factors == 1 {
        return cx.put("Identity", &[value], &[]);
    }
    let (mut square, mut left, mut product) = (value, factors, None);
    loop {
        if left % 2 == 1 {
            product = Some(match product {
                Some(product) => cx.put("Mul", &[product, square], &[])?,
                None => square,
            });
        }
        left /= 2;
        match product {
            Some(product) if left == 0 => return Ok(product),
            _ => square = cx.put("Mul", &[square, square], &[])?,
        }
    }
}

fn greater_or_equal(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    ordered(cx, new, ["Greater", "Less"])
}

fn less_or_equal(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    ordered(cx, new, ["Less", "Greater"])
}

/// A comparison that equal numbers pass, by its strict form and the other one. NaN passes neither.
fn ordered(
    cx: &mut ConvertContext<'_, '_>,
    new: &New<'_>,
    [strict, other]: [&str; 2],
) -> Result<Vec<NewValue>> {
    let dtype = new.dtype()?;
    if !dtype.is_float() {
        let reverse = cx.put(other, new.inputs, &[])?;
        return Ok(vec![cx.put("Not", &[reverse], &[])?]);
    }
    if cx.target.admits("Equal", dtype) {
        let (strict, equal) = (cx.put(strict, new.inputs, &[])?, cx.put("Equal", new.inputs, &[])?);
        return Ok(vec![cx.put("Or", &[strict, equal], &[])?]);
    }
    let mut fails = cx.put(other, new.inputs, &[])?;
    for &input in new.inputs {
        let nan = cx.put("IsNaN", &[input], &[])?;
        fails = cx.put("Or", &[fails, nan], &[])?;
    }
    Ok(vec![cx.put("Not", &[fails], &[])?])
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
    let dtype = new.dtype()?;
    let weight = part_of_six(cx, new.inputs[0], dtype)?;
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

/// The type that functions and statistics are computed in: float32 for shorter floats.
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
    let scale = cast(cx, new.inputs[1], own, dtype)?;
    let mut y = cx.put("Mul", &[y, scale], &[])?;
    if let Some(bias) = new.input(2) {
        let bias = cast(cx, bias, own, dtype)?;
        y = cx.put("Add", &[y, bias], &[])?;
    }
    let mut all = vec![cast(cx, y, dtype, own)?];
    for statistic in [mean, inverse].into_iter().take(new.outputs.saturating_sub(1)) {
        all.push(cast(cx, statistic, dtype, DType::F32)?);
    }
    Ok(all)
}

fn rms_normalization(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (own, to, axes) = (new.dtype()?, cx.dtype(1)?, last_axes(cx, new)?);
    let dtype = wide(own);
    let x = cast(cx, new.inputs[0], own, dtype)?;
    let scale = cast(cx, new.inputs[1], to, dtype)?;
    let [y, _] = scaled(cx, x, axes, (new.float("epsilon", 1e-5), dtype))?;
    let y = cx.put("Mul", &[y, scale], &[])?;
    Ok(vec![cast(cx, y, dtype, to)?])
}

/// In training, normalized by the statistics of the batch, which move those that are given.
fn batch_normalization(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    if new.int("training_mode", 0) == 0 {
        return cx.target.put("BatchNormalization", new.inputs, new.attributes, new.outputs);
    }
    cx.rounding(caveats::ORDER);
    let (own, rank) = (new.dtype()?, cx.rank(0)?);
    let dtype = wide(own);
    let axes: Vec<_> = (0..rank).filter(|&axis| axis != 1).map(i64_of).collect();
    let axes = cx.list(&axes);
    let by_channel: Vec<_> = (0..rank.max(2)).map(|axis| if axis == 1 { -1 } else { 1 }).collect();
    let (by_channel, row) = (cx.list(&by_channel), cx.list(&[-1]));
    let x = cast(cx, new.inputs[0], own, dtype)?;
    let mean = cx.put("ReduceMean", &[x, axes], &[])?;
    let centered = cx.put("Sub", &[x, mean], &[])?;
    let squares = cx.put("Mul", &[centered, centered], &[])?;
    let variance = cx.put("ReduceMean", &[squares, axes], &[])?;
    let [mut y, _] = scaled(cx, centered, axes, (new.float("epsilon", 1e-5), dtype))?;
    for (operator, input) in [("Mul", 1), ("Add", 2)] {
        let given = cx.put("Cast", &[new.inputs[input]], &[numbered("to", dtype)?])?;
        let given = cx.put("Reshape", &[given, by_channel], &[])?;
        y = cx.put(operator, &[y, given], &[])?;
    }
    let mut all = vec![cast(cx, y, dtype, own)?];
    let momentum = new.float("momentum", 0.9);
    let (kept, moved) = (cx.number(momentum, dtype)?, cx.number(1.0 - momentum, dtype)?);
    for (input, statistic) in [(3, mean), (4, variance)].into_iter().take(new.outputs.saturating_sub(1)) {
        let to = cx.dtype(input)?;
        let given = cast(cx, new.inputs[input], to, dtype)?;
        let given = cx.put("Mul", &[given, kept], &[])?;
        let statistic = cx.put("Reshape", &[statistic, row], &[])?;
        let statistic = cx.put("Mul", &[statistic, moved], &[])?;
        let next = cx.put("Add", &[given, statistic], &[])?;
        all.push(cast(cx, next, dtype, to)?);
    }
    Ok(all)
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
    let by_channel = [&[-1], &vec![1; rank.saturating_sub(2)][..]].concat();
    let by_channel = cx.list(&by_channel);
    let (scale, bias) = (cast(cx, new.inputs[1], own, dtype)?, cast(cx, new.inputs[2], own, dtype)?);
    let scale = cx.put("Reshape", &[scale, by_channel], &[])?;
    let bias = cx.put("Reshape", &[bias, by_channel], &[])?;
    let y = cx.put("Mul", &[y, scale], &[])?;
    let y = cx.put("Add", &[y, bias], &[])?;
    Ok(vec![cast(cx, y, dtype, own)?])
}
