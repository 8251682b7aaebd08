//! Paddle's operators in those of ONNX: the graphs that they are run by, and sequences, which are
//! run in a way of their own.

use std::collections::{HashMap, HashSet};

use gradus_core::convert::product;
use gradus_core::graph::{self, Builder, Content, Node, Standard};
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Result, Shape, Tensor};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::opset::nested;
use crate::conversion::report::not_known;
use crate::conversion::types::numbered;
use crate::conversion::writer::{NONE, NewValue};
use crate::dialects::paddle::lowered;
use crate::fact::Fact;
use crate::model::Model;
use crate::operators::elementwise::to_onnx::floor_mod_of_floats;
use crate::operators::errors;

fn facts(cx: &ConvertContext<'_, '_>) -> Vec<Option<Fact>> {
    (0..cx.count()).map(|input| cx.has(input).then(|| cx.fact(input).clone())).collect()
}

/// Copies the graph that the node stands for.
pub(crate) fn graph_of(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let graph = lowered::graph(cx.node, &facts(cx))?;
    let mut values = HashMap::new();
    for (input, &id) in graph.inputs().iter().enumerate() {
        if cx.has(input) {
            values.insert(id, cx.input(input)?);
        }
    }
    let mut floats: HashSet<_> = graph
        .inputs()
        .iter()
        .enumerate()
        .filter(|(input, _)| cx.is_float(*input))
        .map(|(_, &id)| id)
        .collect();
    for (id, constant) in graph.constants() {
        let value = cx.constant(constant.tensor()?);
        values.insert(*id, value);
        if constant.dtype().is_float() {
            floats.insert(*id);
        }
    }
    for &index in graph.order() {
        let node = &graph.nodes()[index];
        let inputs: Vec<_> =
            node.inputs.iter().map(|id| id.and_then(|id| values.get(&id).copied()).unwrap_or(NONE)).collect();
        let attributes: Vec<_> =
            node.attributes.iter().map(|attribute| (&*attribute.name, attribute.content.clone())).collect();
        let name = &*node.operator.name;
        let of_floats = node.inputs.first().copied().flatten().is_some_and(|id| floats.contains(&id));
        note(cx, name, node, of_floats);
        if gives_floats(node, of_floats) {
            floats.extend(node.outputs.iter().flatten());
        }
        let fmod = matches!(node.attribute("fmod"), Some(Content::Int(1)));
        let outputs = if name == "Mod" && of_floats && !fmod {
            vec![floor_mod_of_floats(cx, inputs[0], inputs[1])?]
        } else if name == "Range" {
            let dtype = lowered::dtype(cx.node, &facts(cx));
            let dtype = dtype.ok_or_else(|| not_known("element type of a graph input"))?;
            let mut scalars = [inputs[0], inputs[1], inputs[2]];
            let none = cx.list(&[]);
            for scalar in &mut scalars {
                *scalar = cx.put("Reshape", &[*scalar, none], &[])?;
            }
            vec![cx.ranged(scalars, dtype, dtype)?]
        } else {
            cx.put_many(name, &inputs, &attributes, node.outputs.len())?
        };
        for (id, value) in node.outputs.iter().zip(outputs) {
            if let Some(id) = id {
                values.insert(*id, value);
            }
        }
    }
    let found = |id| values.get(id).copied().ok_or_else(|| errors::missing("value of an output"));
    graph.outputs().iter().map(found).collect()
}

/// The element type that a Cast gives.
fn cast_to(node: &Node) -> Option<DType> {
    match node.attribute("to") {
        Some(Content::Int(to)) => gradus_formats::onnx::dtype_of(*to),
        _ => None,
    }
}

/// Returns true if a node of ONNX gives floats, if its first input is one or not.
fn gives_floats(node: &Node, of_floats: bool) -> bool {
    match &*node.operator.name {
        "Shape" | "Size" | "NonZero" | "Equal" | "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual" => {
            false
        }
        "Cast" => cast_to(node).is_none_or(DType::is_float),
        // Their outputs have the type of a later input or of an attribute.
        "Where" | "ConstantOfShape" => true,
        _ => of_floats,
    }
}

/// Notes what an operator of ONNX leaves open, for floats.
fn note(cx: &mut ConvertContext<'_, '_>, operator: &str, node: &Node, of_floats: bool) {
    if &*cx.node.operator.name == "squeeze" && cx.dims(0).is_none_or(|dims| dims.contains(&None)) {
        cx.edges("axes of unknown size are assumed to have size 1");
    }
    if !of_floats {
        if operator == "Pow" {
            cx.edges(caveats::POWER);
        }
        return;
    }
    match operator {
        "Cos" | "Erf" | "Exp" | "Log" | "Pow" | "Sigmoid" | "Sin" | "Softmax" | "Tanh" => {
            cx.rounding(caveats::FUNCTION);
        }
        "MatMul" | "ReduceMean" | "ReduceProd" | "ReduceSum" => cx.rounding(caveats::ORDER),
        "Mod" => cx.rounding("the specifications do not define whether the remainder of floats is exact"),
        "Max" | "Min" | "ReduceMax" | "ReduceMin" | "Relu" | "Sign" => cx.edges(caveats::NAN),
        "Cast" if cast_to(node).is_some_and(DType::is_integer) => cx.edges(caveats::CAST),
        _ => {}
    }
}

pub(crate) fn branch(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let condition = cx.truth(0)?;
    let yes = nested(cx, "then_branch", &[])?;
    let no = nested(cx, "else_branch", &[])?;
    let outputs = cx.outputs();
    cx.put_many("If", &[condition], &[("then_branch", yes), ("else_branch", no)], outputs)
}

pub(crate) fn repeat(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let mut inputs = vec![cx.maybe(0)?, cx.truth(1)?];
    for input in 2..cx.count() {
        inputs.push(cx.input(input)?);
    }
    let body = nested(cx, "body", &[("run", DType::I64), ("goes_on", DType::Bool)])?;
    let outputs = cx.outputs();
    cx.put_many("Loop", &inputs, &[("body", body)], outputs)
}

/// Most bytes of a sequence that becomes a constant.
const MOST_BYTES: u128 = 1 << 24;

/// Describes what the node computes, if all that it needs is known, and it is not too long.
fn computed(cx: &ConvertContext<'_, '_>, dtype: DType) -> Result<Option<Tensor>> {
    let mut builder = Builder::new("");
    let mut names = Vec::new();
    for input in 0..cx.count() {
        let Some(tensor) = cx.known(input)? else { return Ok(None) };
        if input == 2 {
            let count = tensor.to_i64()?.first().copied().and_then(gradus_core::convert::usize_of_i64);
            let long = |count: usize| {
                Shape::new([count]).map_or(product(count, 16), |shape| byte_len(dtype, &shape)) > MOST_BYTES
            };
            if count.is_some_and(long) {
                return Ok(None);
            }
        }
        names.push(format!("{input}"));
        builder.constant(&names[input], tensor.into())?;
    }
    let inputs = names.iter().map(|name| Some(builder.reference(name))).collect();
    builder.push(Node { inputs, outputs: <_>::default(), ..cx.node.clone() }, &["output"])?;
    builder.output("output");
    let mut alone = graph::Model::new(Standard::Paddle);
    alone.graph = builder.finish()?;
    let outputs = Model::from_source(alone).run::<&str, Tensor>([])?;
    outputs["output"].tensor().cloned().map(Some)
}

/// A sequence. What is known becomes the constant that it is, bit for bit; otherwise it is computed
/// in float64, and rounded at every step.
pub(crate) fn space(cx: &mut ConvertContext<'_, '_>, base: Option<usize>) -> Result<Vec<NewValue>> {
    let dtype = match cx.attributes.dtype("dtype")? {
        Some(dtype) => dtype,
        None => cx.dtype(0)?,
    };
    if let Some(tensor) = computed(cx, dtype)? {
        return Ok(vec![cx.target.constant(None, tensor.into())]);
    }
    cx.rounding(
        "ONNX has no equivalent operator: elements are computed in float64, with a rounding in each step",
    );
    let (start, stop) = (double(cx, 0, dtype)?, double(cx, 1, dtype)?);
    let count = whole(cx, 2)?;
    let (zero, one, float_one) = (cx.scalar(0), cx.scalar(1), cx.constant(Tensor::scalar(1f64)));
    let places = cx.put("Range", &[zero, count, one], &[])?;
    let last = cx.put("Sub", &[count, one], &[])?;
    let to_double = [numbered("to", DType::F64)?];
    let (each, parts) = (cx.put("Cast", &[places], &to_double)?, cx.put("Cast", &[last], &to_double)?);
    let parts = cx.put("Max", &[parts, float_one], &[])?;
    let span = cx.put("Sub", &[stop, start], &[])?;
    let step = cx.put("Div", &[span, parts], &[])?;
    let offset = cx.put("Mul", &[each, step], &[])?;
    let inner = cx.put("Add", &[start, offset], &[])?;
    // The last of several is the end itself.
    let (is_last, behind) =
        (cx.put("Equal", &[places, last], &[])?, cx.put("Greater", &[places, zero], &[])?);
    let is_end = cx.put("And", &[is_last, behind], &[])?;
    let mut elements = cx.put("Where", &[is_end, stop, inner], &[])?;
    if let Some(base) = base {
        let base = double(cx, base, dtype)?;
        elements = cx.put("Pow", &[base, elements], &[])?;
    }
    Ok(vec![cx.put("Cast", &[elements], &[numbered("to", dtype)?])?])
}

/// An input of one element as a scalar of float64, cast to the type of the elements before.
fn double(cx: &mut ConvertContext<'_, '_>, input: usize, dtype: DType) -> Result<NewValue> {
    let (mut value, none, own) = (cx.input(input)?, cx.list(&[]), cx.dtype(input)?);
    value = cx.put("Reshape", &[value, none], &[])?;
    if own != dtype {
        if own.is_float() && dtype.is_integer() {
            cx.edges(caveats::CAST);
        }
        value = cx.put("Cast", &[value], &[numbered("to", dtype)?])?;
    }
    cx.put("Cast", &[value], &[numbered("to", DType::F64)?])
}

fn whole(cx: &mut ConvertContext<'_, '_>, input: usize) -> Result<NewValue> {
    let (value, none) = (cx.input(input)?, cx.list(&[]));
    let value = cx.put("Reshape", &[value, none], &[])?;
    if cx.dtype(input)? == DType::I64 {
        Ok(value)
    } else {
        cx.put("Cast", &[value], &[numbered("to", DType::I64)?])
    }
}
