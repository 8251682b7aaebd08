//! Operators that make one element of many.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result, Tensor};

use super::super::node::{Cx, Given, cannot, not_known};
use super::super::open;
use super::super::rows::rows;
use super::super::target::V;
use super::super::types::exactly;
use super::{numpy, say};

rows! {
    "ReduceSum" "ReduceSum" "floats: rounding" |cx| { cx.rounding_of_floats(open::ORDER); reduce(cx, "ReduceSum") };
    "ReduceProd" "ReduceProd" "floats: rounding" |cx| { cx.rounding_of_floats(open::ORDER); reduce(cx, "ReduceProd") };
    "ReduceMean" "ReduceMean" "rounding" |cx| {
        if cx.is_float(0) { cx.rounding(open::ORDER) } else { cx.rounding(open::MEAN) }
        reduce(cx, "ReduceMean")
    };
    "ReduceMax" "ReduceMax, ReduceLogicalOr" "floats: NaN; no elements" |cx| greatest(cx, "ReduceMax", "ReduceLogicalOr");
    "ReduceMin" "ReduceMin, ReduceLogicalAnd" "floats: NaN; no elements" |cx| greatest(cx, "ReduceMin", "ReduceLogicalAnd");
    "ReduceL1" "ReduceL1, Abs" "floats: rounding" |cx| { cx.rounding_of_floats(open::ORDER); reduce(cx, "ReduceL1") };
    "ReduceL2" "ReduceL2, Abs" "rounding" |cx| { cx.rounding(open::ORDER); reduce(cx, "ReduceL2") };
    "ReduceSumSquare" "Multiply, ReduceSum" "floats: rounding" |cx| {
        cx.rounding_of_floats(open::ORDER);
        let x = cx.input(0)?;
        let squares = cx.put("Multiply", &[x, x], &[numpy()])?;
        Ok(vec![reduced(cx, squares, "ReduceSum")?])
    };
    "ReduceLogSum" "ReduceSum, Log" "rounding" |cx| {
        cx.rounding(open::FUNCTION);
        let x = cx.input(0)?;
        let sum = reduced(cx, x, "ReduceSum")?;
        Ok(vec![cx.put("Log", &[sum], &[])?])
    };
    "ArgMax" "TopK, Squeeze" "floats: NaN; no elements" |cx| arg(cx, "max");
    "ArgMin" "TopK, Squeeze" "floats: NaN; no elements" |cx| arg(cx, "min");
    "TopK" "TopK" "floats: NaN; the order if `sorted` is 0; no elements" top_k;
    "CumSum" "CumSum" "floats: rounding" |cx| {
        cx.rounding_of_floats(open::ORDER);
        let (x, axis) = (cx.input(0)?, cx.scalar_input(1)?);
        let [exclusive, reverse] = ["exclusive", "reverse"].map(|name| say(name, cx.attributes.flag(name, false)));
        Ok(vec![cx.put("CumSum", &[x, axis], &[exclusive, reverse])?])
    };
    "MatMul" "MatMul" "floats: rounding" |cx| {
        cx.rounding_of_floats(open::ORDER);
        let (a, b) = (cx.input(0)?, cx.input(1)?);
        Ok(vec![cx.put("MatMul", &[a, b], &[say("transpose_a", false), say("transpose_b", false)])?])
    };
    "Gemm" "MatMul, Multiply, Add" "floats: rounding" gemm;
    "Softmax" "SoftMax" "rounding" |cx| softmax(cx, "SoftMax");
    "LogSoftmax" "LogSoftmax" "rounding" |cx| softmax(cx, "LogSoftmax");
    "LayerNormalization" "MVN, Multiply, Add" "rounding" layer_normalization;
    "Einsum" "Einsum" "floats: rounding" |cx| {
        cx.rounding_of_floats(open::ORDER);
        let operands = cx.inputs()?;
        // OpenVINO takes no blanks.
        let equation = cx.attributes.text("equation").unwrap_or_default().replace(' ', "");
        Ok(vec![cx.put("Einsum", &operands, &[say("equation", equation)])?])
    };
}

fn greatest(cx: &mut Cx<'_, '_>, of_numbers: &str, of_truth: &str) -> Result<Vec<V>> {
    cx.edges_of_floats(open::NAN);
    if cx.may_be_empty(0) {
        cx.edges(open::EMPTY);
    }
    let operator = if cx.dtype(0)? == DType::Bool { of_truth } else { of_numbers };
    reduce(cx, operator)
}

fn reduce(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    let x = cx.input(0)?;
    Ok(vec![reduced(cx, x, operator)?])
}

/// Reduces a value along the axes that the node names. No axes are all of them, unless the node says that they are none.
fn reduced(cx: &mut Cx<'_, '_>, value: V, operator: &str) -> Result<V> {
    let keep = cx.attributes.flag("keepdims", true);
    let keep_dims = [say("keep_dims", keep)];
    let known = cx.given_integers("axes", 1)?;
    let axes = match known {
        Given::Known(axes) if !axes.is_empty() => cx.list(&axes),
        Given::Computed if cx.len(1).is_some_and(|len| len > 0) => cx.input(1)?,
        Given::Computed => return Err(not_known("whether there are axes")),
        _ if cx.attributes.flag("noop_with_empty_axes", false) => {
            // The length of one element is its size; in OpenVINO, it would be the element.
            let length = matches!(operator, "ReduceL1" | "ReduceL2");
            return if length { cx.put("Abs", &[value], &[]) } else { Ok(value) };
        }
        _ => match cx.rank_if_known(0) {
            Some(rank @ 1..) => cx.all_axes(rank),
            // A list of all elements is reduced to a scalar, also where they are one that is a scalar already.
            Some(0) => return flat(cx, value, operator),
            None if !keep => return flat(cx, value, operator),
            None => return Err(not_known("the number of axes of input 0")),
        },
    };
    cx.put(operator, &[value, axes], &keep_dims)
}

fn flat(cx: &mut Cx<'_, '_>, value: V, operator: &str) -> Result<V> {
    let (list, axis) = (cx.reshaped(value, &[-1])?, cx.list(&[0]));
    cx.put(operator, &[list, axis], &[say("keep_dims", false)])
}

/// The first of the places along an axis where the greatest or the least stands.
fn arg(cx: &mut Cx<'_, '_>, mode: &str) -> Result<Vec<V>> {
    if cx.attributes.flag("select_last_index", false) {
        return Err(cannot("OpenVINO does not find the last of several places"));
    }
    cx.edges_of_floats(open::NAN);
    let axis = cx.attributes.int("axis").unwrap_or(0);
    if cx.may_be_empty(0) {
        cx.edges("along an axis without elements, OpenVINO finds none");
    }
    let (x, one) = (cx.input(0)?, cx.scalar(1));
    let found = cx.put_many("TopK", &[x, one], &ranked(axis, mode, "value"), 2)?;
    if cx.attributes.flag("keepdims", true) {
        return Ok(vec![found[1]]);
    }
    let axis = cx.list(&[axis]);
    Ok(vec![cx.put("Squeeze", &[found[1], axis], &[])?])
}

fn ranked(axis: i64, mode: &str, sort: &str) -> [(&'static str, gradus_core::graph::Content); 5] {
    [
        say("axis", axis),
        say("mode", mode),
        say("sort", sort),
        say("stable", sort == "value"),
        say("index_element_type", "i64"),
    ]
}

fn top_k(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    cx.edges_of_floats(open::NAN);
    let sorted = cx.attributes.flag("sorted", true);
    if !sorted {
        cx.edges(open::UNSORTED);
    }
    let x = cx.input(0)?;
    let named = cx.attributes.int("k");
    let known = named.or(cx.known_integers(1)?.and_then(|known| known.first().copied()));
    if known.is_none_or(|k| k < 1) {
        cx.edges("OpenVINO wants at least one element");
    }
    let k = match named {
        Some(k) => cx.scalar(k),
        None => cx.scalar_input(1)?,
    };
    let mode = if cx.attributes.flag("largest", true) { "max" } else { "min" };
    let axis = cx.attributes.int("axis").unwrap_or(-1);
    cx.put_many("TopK", &[x, k], &ranked(axis, mode, if sorted { "value" } else { "none" }), 2)
}

fn gemm(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    cx.rounding_of_floats(open::ORDER);
    let dtype = cx.dtype(0)?;
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    let [first, second] = [("transpose_a", "transA"), ("transpose_b", "transB")]
        .map(|(theirs, ours)| say(theirs, cx.attributes.flag(ours, false)));
    let mut value = cx.put("MatMul", &[a, b], &[first, second])?;
    let alpha = cx.attributes.float("alpha").unwrap_or(1.0);
    let beta = cx.attributes.float("beta").unwrap_or(1.0);
    for factor in [alpha, beta] {
        if dtype.is_integer() && exactly(&Tensor::scalar(factor), dtype)?.is_none() {
            return Err(cannot("integers are multiplied by numbers that their type does not hold"));
        }
    }
    if alpha != 1.0 {
        let alpha = cx.number(alpha.into(), dtype)?;
        value = cx.put("Multiply", &[value, alpha], &[numpy()])?;
    }
    if cx.has(2) {
        let mut bias = cx.input(2)?;
        if beta != 1.0 {
            let beta = cx.number(beta.into(), dtype)?;
            bias = cx.put("Multiply", &[bias, beta], &[numpy()])?;
        }
        value = cx.put("Add", &[value, bias], &[numpy()])?;
    }
    Ok(vec![value])
}

/// Before version 13, all axes from one on are one.
fn softmax(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    cx.rounding(open::FUNCTION);
    let old = cx.node.version.is_some_and(|version| version < 13);
    let axis = cx.attributes.int("axis").unwrap_or(if old { 1 } else { -1 });
    if old && axis != -1 && cx.axis(axis, 0)? + 1 != cx.rank(0)? {
        return Err(cannot(
            "before version 13, all axes from one on are one, which OpenVINO has only for the last",
        ));
    }
    let x = cx.input(0)?;
    Ok(vec![cx.put(operator, &[x], &[say("axis", axis)])?])
}

/// All axes from one on, brought to a mean of 0 and a variance of 1.
fn layer_normalization(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    if cx.node.outputs.iter().skip(1).any(Option::is_some) {
        return Err(cannot("OpenVINO does not give the mean and the deviation"));
    }
    cx.rounding(open::ORDER);
    let rank = cx.rank(0)?;
    let first = cx.axis(cx.attributes.int("axis").unwrap_or(-1), 0)?;
    let epsilon = cx.attributes.float("epsilon").unwrap_or(1e-5);
    let (x, axes) = (cx.input(0)?, cx.list(&(first..rank).map(i64_of).collect::<Vec<_>>()));
    let attributes = [say("eps", epsilon), say("eps_mode", "INSIDE_SQRT"), say("normalize_variance", true)];
    let mut value = cx.put("MVN", &[x, axes], &attributes)?;
    for (input, operator) in [(1, "Multiply"), (2, "Add")] {
        if cx.has(input) {
            let by = cx.input(input)?;
            value = cx.put(operator, &[value, by], &[numpy()])?;
        }
    }
    Ok(vec![value])
}
