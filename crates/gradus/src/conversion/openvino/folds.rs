//! Operators that make one element of many.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use super::super::node::{Cx, cannot, not_known};
use super::super::open;
use super::super::rows::rows;
use super::super::target::V;
use super::{flag, int, word};
use crate::ops::axis_of;

rows! {
    "ReduceSum" "ReduceSum" "floats: rounding" |cx| { cx.rounding_of_floats(open::ORDER); reduce(cx, "ReduceSum") };
    "ReduceProd" "ReduceProd" "floats: rounding" |cx| { cx.rounding_of_floats(open::ORDER); reduce(cx, "ReduceProd") };
    "ReduceMean" "ReduceMean" "rounding" |cx| {
        if cx.is_float(0) { cx.rounding(open::ORDER) } else { cx.rounding(open::MEAN) }
        reduce(cx, "ReduceMean")
    };
    "ReduceMax" "ReduceMax" "floats: NaN; no elements" |cx| greatest(cx, "ReduceMax");
    "ReduceMin" "ReduceMin" "floats: NaN; no elements" |cx| greatest(cx, "ReduceMin");
    "ReduceLogicalOr" "ReduceMax, Cast" "no elements" |cx| of_truth(cx, "ReduceMax");
    "ReduceLogicalAnd" "ReduceMin, Cast" "no elements" |cx| of_truth(cx, "ReduceMin");
    "ReduceL1" "ReduceL1" "floats: rounding" |cx| { cx.rounding_of_floats(open::ORDER); reduce(cx, "ReduceL1") };
    "ReduceL2" "ReduceL2" "rounding" |cx| { cx.rounding(open::ORDER); reduce(cx, "ReduceL2") };
    "TopK" "TopK, Cast" "floats: NaN; equal elements unless `stable`" top_k;
    "CumSum" "CumSum" "floats: rounding" |cx| {
        cx.rounding_of_floats(open::ORDER);
        let (x, axis) = (cx.input(0)?, cx.whole_scalar(1)?);
        let [exclusive, reverse] = ["exclusive", "reverse"].map(|name| flag(name, cx.attributes.flag(name, false)));
        Ok(vec![cx.put("CumSum", &[x, axis], &[exclusive, reverse])?])
    };
    "MatMul" "MatMul, Transpose" "floats: rounding" mat_mul;
    "SoftMax" "Softmax" "rounding" |cx| softmax(cx, "Softmax", 1);
    "LogSoftmax" "LogSoftmax" "rounding" |cx| softmax(cx, "LogSoftmax", 1);
    "MVN" "ReduceMean, Sub, Mul, Add, Sqrt, Div" "rounding" mean_variance;
    "Einsum" "Einsum" "floats: rounding" |cx| {
        cx.rounding_of_floats(open::ORDER);
        let operands = cx.inputs()?;
        let equation = cx.attributes.text("equation").unwrap_or_default().to_owned();
        Ok(vec![cx.put("Einsum", &operands, &[word("equation", &equation)])?])
    };
}

/// The axes of a reduction: no axes are none.
enum Axes {
    None,
    Some(V),
    /// There may be none.
    Computed(V),
}

fn axes(cx: &mut Cx<'_, '_>) -> Result<Axes> {
    let Some(named) = cx.known_integers(1)? else {
        let list = cx.whole_list(1)?;
        return Ok(if cx.len(1).is_some_and(|len| len > 0) {
            Axes::Some(list)
        } else {
            Axes::Computed(list)
        });
    };
    // An axis that is named twice is one.
    let mut once = Vec::new();
    for axis in named {
        let axis = match cx.rank_if_known(0) {
            Some(rank) => i64_of(axis_of(axis, rank)?),
            None => axis,
        };
        if !once.contains(&axis) {
            once.push(axis);
        }
    }
    Ok(if once.is_empty() { Axes::None } else { Axes::Some(cx.list(&once)) })
}

fn reduce(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    let x = cx.input(0)?;
    let keep = flag("keepdims", cx.attributes.flag("keep_dims", false));
    let lengths = matches!(operator, "ReduceL1" | "ReduceL2");
    Ok(vec![match axes(cx)? {
        Axes::Some(axes) => cx.put(operator, &[x, axes], &[keep])?,
        Axes::None | Axes::Computed(_) if lengths => {
            return Err(cannot("without axes, the texts differ in what is computed"));
        }
        Axes::None => cx.put("Identity", &[x], &[])?,
        Axes::Computed(axes) => cx.put(operator, &[x, axes], &[keep, flag("noop_with_empty_axes", true)])?,
    }])
}

fn greatest(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    cx.edges_of_floats(open::NAN);
    if cx.may_be_empty(0) {
        cx.edges(open::EMPTY);
    }
    reduce(cx, operator)
}

/// Of truth values, the least is whether all hold. ONNX takes them since operator set 20, before as numbers.
fn of_truth(cx: &mut Cx<'_, '_>, operator: &str) -> Result<Vec<V>> {
    if cx.may_be_empty(0) {
        cx.edges(open::EMPTY);
    }
    if cx.target.opset >= 20 {
        return reduce(cx, operator);
    }
    let Axes::Some(axes) = axes(cx)? else { return Err(not_known("along which axes is reduced")) };
    let keep = flag("keepdims", cx.attributes.flag("keep_dims", false));
    let x = cx.input(0)?;
    let numbers = cx.cast(x, DType::I32)?;
    let found = cx.put(operator, &[numbers, axes], &[keep])?;
    Ok(vec![cx.cast(found, DType::Bool)?])
}

fn top_k(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    cx.edges_of_floats(open::NAN);
    let sorted = match cx.attributes.text("sort").unwrap_or("value") {
        "value" => true,
        "none" => {
            cx.edges(open::UNSORTED);
            false
        }
        other => return Err(cannot(format!("ONNX does not sort by \"{other}\""))),
    };
    if sorted && !cx.attributes.flag("stable", false) {
        cx.edges("the order of equal elements is left open");
    }
    let (x, k) = (cx.input(0)?, cx.whole_list(1)?);
    let axis = cx.attributes.int("axis").unwrap_or(-1);
    let largest = cx.attributes.text("mode") != Some("min");
    let attributes = [int("axis", axis), flag("largest", largest), flag("sorted", sorted)];
    let mut found = cx.put_many("TopK", &[x, k], &attributes, 2)?;
    let to = cx.attributes.dtype("index_element_type").unwrap_or(DType::I32);
    if to != DType::I64 {
        found[1] = cx.cast(found[1], to)?;
    }
    Ok(found)
}

fn mat_mul(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    cx.rounding_of_floats(open::ORDER);
    let mut operands = cx.inputs()?;
    for (input, name) in ["transpose_a", "transpose_b"].into_iter().enumerate() {
        if !cx.attributes.flag(name, false) {
            continue;
        }
        let rank = cx.rank(input)?;
        if rank > 1 {
            let mut order: Vec<_> = (0..i64_of(rank)).collect();
            order.swap(rank - 1, rank - 2);
            operands[input] = cx.put("Transpose", &[operands[input]], &[("perm", Content::Ints(order))])?;
        }
    }
    Ok(vec![cx.put("MatMul", &operands, &[])?])
}

/// Before operator set 13, all axes from one on are one.
fn softmax(cx: &mut Cx<'_, '_>, operator: &str, default: i64) -> Result<Vec<V>> {
    cx.rounding(open::FUNCTION);
    let mut axis = cx.attributes.int("axis").unwrap_or(default);
    if cx.target.opset < 13 {
        let first = axis_of(axis, cx.rank(0)?)?;
        if first + 1 != cx.rank(0)? {
            return Err(cannot("before operator set 13, ONNX has this only for the last axis"));
        }
        axis = i64_of(first);
    }
    let x = cx.input(0)?;
    Ok(vec![cx.put(operator, &[x], &[int("axis", axis)])?])
}

/// Brought to a mean of 0 and, if it is wanted, a variance of 1.
fn mean_variance(cx: &mut Cx<'_, '_>) -> Result<Vec<V>> {
    if !cx.has(1) {
        return Err(cannot("of version 1, only the program knows the axes"));
    }
    cx.rounding(open::ORDER);
    let (x, axes, dtype) = (cx.input(0)?, cx.whole_list(1)?, cx.dtype(0)?);
    let keep = [flag("keepdims", true)];
    let mean = cx.put("ReduceMean", &[x, axes], &keep)?;
    let apart = cx.put("Sub", &[x, mean], &[])?;
    if !cx.attributes.flag("normalize_variance", true) {
        return Ok(vec![apart]);
    }
    let squares = cx.put("Mul", &[apart, apart], &[])?;
    let variance = cx.put("ReduceMean", &[squares, axes], &keep)?;
    let epsilon = cx.attributes.float("eps").unwrap_or(0.0);
    let epsilon = cx.number(epsilon.into(), dtype)?;
    let inside = cx.attributes.text("eps_mode").is_some_and(|mode| mode.eq_ignore_ascii_case("inside_sqrt"));
    let by = if inside {
        let sum = cx.put("Add", &[variance, epsilon], &[])?;
        cx.put("Sqrt", &[sum], &[])?
    } else {
        let root = cx.put("Sqrt", &[variance], &[])?;
        cx.put("Add", &[root, epsilon], &[])?
    };
    Ok(vec![cx.put("Div", &[apart, by], &[])?])
}
