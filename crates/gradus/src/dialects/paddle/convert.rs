//! Paddle's operators in those of ONNX that are not lowered: sequences, `if` and `while`.

use gradus_core::convert::product;
use gradus_core::graph::{Builder, Graph, Node, Standard, ValueId};
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Result, Shape, Tensor};

use crate::conversion::caveats;
use crate::conversion::nested::nested;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::types::numbered;
use crate::conversion::writer::NewValue;
use crate::program::{Compiler, RunOptions, RunState};

pub(crate) fn branch(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let condition = cx.truth(0)?;
    let yes = nested(cx, "then_branch", &[])?;
    let no = nested(cx, "else_branch", &[])?;
    let outputs = cx.outputs();
    cx.put_many("If", &[condition], &[("then_branch", yes), ("else_branch", no)], outputs)
}

pub(crate) fn repeat(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let mut inputs = vec![cx.maybe(0)?, cx.truth(1)?];
    let (_, inner, number) = cx.graph("body")?;
    let facts = cx.scope.inner(cx.conversion, inner, cx.node, cx.index, number);
    for input in 2..cx.count() {
        let mut value = cx.input(input)?;
        let carried = inner.outputs().get(input - 1).map(|&id| facts.fact(id).dtype());
        if let (Ok(before), Some(Some(within))) = (cx.dtype(input), carried)
            && before != within
        {
            if inner.inputs().get(input).is_some_and(|&id| reads(inner, id)) {
                let why = format!("a loop reads a variable that is {before} before it and {within} in it");
                return Err(cannot(format!("cannot convert: {why}")));
            }
            cx.edges(caveats::OTHER_TYPE);
            value = cx.put("Cast", &[value], &[numbered("to", within)?])?;
        }
        inputs.push(value);
    }
    let body = nested(cx, "body", &[("run", DType::I64), ("goes_on", DType::Bool)])?;
    let outputs = cx.outputs();
    cx.put_many("Loop", &inputs, &[("body", body)], outputs)
}

/// Returns true if a node of the graph, or of one within it, reads the value.
fn reads(graph: &Graph, id: ValueId) -> bool {
    graph.nodes().iter().any(|node| {
        let captured =
            || node.graphs().any(|inner| inner.captures().iter().any(|capture| capture.outer == id));
        node.inputs.iter().flatten().any(|&input| input == id) || captured()
    })
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
    let alone = builder.finish()?;
    let options = RunOptions::default();
    let program = Compiler::plain(Standard::Paddle, options).inner(&alone)?;
    let outputs = program.run(Vec::new(), &[], &mut RunState::new(&options))?;
    outputs[0].tensor().cloned().map(Some)
}

/// A sequence. Known elements become a constant, each rounded once, where Paddle rounds in every
/// step; otherwise they are computed in float64, and rounded in every step.
pub(crate) fn space(cx: &mut ConvertContext<'_, '_>, base: Option<usize>) -> Result<Vec<NewValue>> {
    let dtype = match cx.attributes.dtype("dtype")? {
        Some(dtype) => dtype,
        None => cx.dtype(0)?,
    };
    if let Some(tensor) = computed(cx, dtype)? {
        cx.rounding(caveats::FUNCTION);
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
