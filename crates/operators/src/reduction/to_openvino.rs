//! Operators that make one element of many.

use gradus_core::{Class, DType, Result};

use crate::conversion::caveats;
use crate::conversion::node::{ConvertContext, GivenIntegers};
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::writer::NewValue;

/// Writes a maximum or minimum, or the logical reduction of truth values.
pub fn min_max(cx: &mut ConvertContext<'_, '_>, of_numbers: &str, of_truth: &str) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    if cx.may_be_empty(0) {
        cx.edges(caveats::EMPTY);
    }
    let operator = if cx.dtype(0)? == DType::Bool { of_truth } else { of_numbers };
    reduce(cx, operator)
}

fn reduce(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    Ok(vec![reduced(cx, x, operator)?])
}

/// Reduces a value along the axes that the node names. No axes are all of them, unless the node
/// says that they are none.
fn reduced(cx: &mut ConvertContext<'_, '_>, value: NewValue, operator: &str) -> Result<NewValue> {
    let keep = cx.attributes.flag("keepdims", true)?;
    let keep_dims = [say("keep_dims", keep)];
    let known = cx.given_integers(1)?;
    let axes = match known {
        GivenIntegers::Known(axes) if !axes.is_empty() => cx.list(&axes),
        GivenIntegers::Computed if cx.len(1).is_some_and(|len| len > 0) => {
            if !keep {
                cx.edges(
                    "OpenVINO's CPU plugin refuses a result whose rank depends on axes that are not constant",
                );
            }
            cx.input(1)?
        }
        GivenIntegers::Computed => return Err(not_known("number of axes in input 1")),
        _ if cx.attributes.flag("noop_with_empty_axes", false)? => {
            // The length of one element is its size; in OpenVINO, it would be the element.
            let length = matches!(operator, "ReduceL1" | "ReduceL2");
            // A square root of a square ends at the limits of the type, an absolute value wraps.
            if operator == "ReduceL2" && cx.dtype(0)?.class() == Class::Signed {
                cx.edges(caveats::LEAST);
            }
            return if length { cx.put("Abs", &[value], &[]) } else { Ok(value) };
        }
        _ => match cx.rank_if_known(0) {
            Some(rank @ 1..) => cx.all_axes(rank),
            // A list of all elements is reduced to a scalar, also where they are one that is a
            // scalar already.
            Some(0) => return flat(cx, value, operator),
            None if !keep => return flat(cx, value, operator),
            None => return Err(not_known("rank of input 0")),
        },
    };
    cx.put(operator, &[value, axes], &keep_dims)
}

fn flat(cx: &mut ConvertContext<'_, '_>, value: NewValue, operator: &str) -> Result<NewValue> {
    let (list, axis) = (cx.reshaped(value, &[-1])?, cx.list(&[0]));
    cx.put(operator, &[list, axis], &[say("keep_dims", false)])
}

/// The first index of the maximum or minimum along an axis.
pub fn arg(cx: &mut ConvertContext<'_, '_>, mode: &str) -> Result<Vec<NewValue>> {
    let last = cx.attributes.flag("select_last_index", false)?;
    cx.edges_of_floats(caveats::NAN);
    let axis = cx.attributes.int("axis")?.unwrap_or(0);
    let size = cx.dims(0).and_then(|dims| {
        let axis = crate::indices::axis(axis, dims.len()).ok()?;
        dims[axis]
    });
    if size == Some(0) {
        return Err(cannot("OpenVINO has no equivalent of ArgMax/ArgMin along an axis of size 0"));
    }
    if cx.may_be_empty(0) {
        cx.edges("OpenVINO returns no indices for an axis of size 0");
    }
    let (mut x, one) = (cx.input(0)?, cx.scalar(1));
    let place = cx.list(&[axis]);
    if last {
        // The last index is the first one of the reversed axis.
        let (from, to, step) = (cx.list(&[i64::MAX]), cx.list(&[i64::MIN]), cx.list(&[-1]));
        x = cx.put("Slice", &[x, from, to, step, place], &[])?;
    }
    let mut found = cx.put_many("TopK", &[x, one], &ranked(axis, mode, "value"), 2)?[1];
    if last {
        let (shape, zero) = (cx.shape_of(x)?, cx.scalar(0));
        let size = cx.put("Gather", &[shape, place, zero], &[say("batch_dims", 0)])?;
        let most = cx.put("Subtract", &[size, one], &[numpy()])?;
        found = cx.put("Subtract", &[most, found], &[numpy()])?;
    }
    if cx.attributes.flag("keepdims", true)? {
        return Ok(vec![found]);
    }
    Ok(vec![cx.put("Squeeze", &[found, place], &[])?])
}

/// Elements or slices that differ, their indices and how often they occur.
pub fn unique(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.is_float(0) {
        cx.edges(caveats::NAN);
    }
    let sorted = cx.attributes.flag("sorted", true)?;
    let mut inputs = vec![cx.input(0)?];
    if let Some(axis) = cx.attributes.int("axis")? {
        inputs.push(cx.scalar(axis));
    }
    let attributes =
        [say("sorted", sorted), say("index_element_type", "i64"), say("count_element_type", "i64")];
    cx.put_many("Unique", &inputs, &attributes, 4)
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

/// Writes `TopK`, sorted by value or unsorted.
pub fn top_k(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    let sorted = cx.attributes.flag("sorted", true)?;
    if !sorted {
        cx.edges(caveats::UNSORTED);
    }
    let x = cx.input(0)?;
    let known = cx.known_integers(1)?.and_then(|known| known.first().copied());
    if known.is_none_or(|k| k < 1) {
        cx.edges("OpenVINO requires k to be at least 1");
    }
    let k = cx.scalar_input(1)?;
    let mode = if cx.attributes.flag("largest", true)? { "max" } else { "min" };
    let axis = cx.attributes.int("axis")?.unwrap_or(-1);
    cx.put_many("TopK", &[x, k], &ranked(axis, mode, if sorted { "value" } else { "none" }), 2)
}

/// Writes `ReduceSum`.
pub fn reduce_sum(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    reduce(cx, "ReduceSum")
}

/// Writes `ReduceProd`.
pub fn reduce_prod(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    reduce(cx, "ReduceProd")
}

/// Writes `ReduceMean`.
pub fn reduce_mean(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.is_float(0) {
        cx.rounding(caveats::ORDER);
    } else {
        cx.rounding(caveats::MEAN);
    }
    reduce(cx, "ReduceMean")
}

/// Writes `ReduceL1`.
pub fn reduce_l1(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    reduce(cx, "ReduceL1")
}

/// Writes `ReduceL2`.
pub fn reduce_l2(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    reduce(cx, "ReduceL2")
}

/// Writes `ReduceSumSquare` as `Multiply` and `ReduceSum`.
pub fn reduce_sum_square(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let x = cx.input(0)?;
    let squares = cx.put("Multiply", &[x, x], &[numpy()])?;
    Ok(vec![reduced(cx, squares, "ReduceSum")?])
}

/// Writes `ReduceLogSum` as `ReduceSum` and `Log`.
pub fn reduce_log_sum(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    cx.expect_floats(0)?;
    let x = cx.input(0)?;
    let sum = reduced(cx, x, "ReduceSum")?;
    Ok(vec![cx.put("Log", &[sum], &[])?])
}

/// Writes `CumSum`.
pub fn cum_sum(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let (x, axis) = (cx.input(0)?, cx.scalar_input(1)?);
    let exclusive = say("exclusive", cx.attributes.flag("exclusive", false)?);
    let reverse = say("reverse", cx.attributes.flag("reverse", false)?);
    Ok(vec![cx.put("CumSum", &[x, axis], &[exclusive, reverse])?])
}

/// Writes `MatMul` without transposition.
pub fn mat_mul(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let (a, b, dtype) = (cx.input(0)?, cx.input(1)?, cx.dtype(1)?);
    let is_shared = cx.target.maker(a).is_some_and(|(operator, _)| operator == "SoftMax");
    if is_shared
        && let Some([_, Some(heads), Some(positions), _]) = cx.dims(0).as_deref()
        && heads == positions
        && *heads > 1
    {
        cx.edges(caveats::HEADS);
    }
    let b = cx.weights(b, dtype, false)?;
    Ok(vec![cx.put("MatMul", &[a, b], &[say("transpose_a", false), say("transpose_b", false)])?])
}

/// Writes `Einsum`, whose equation OpenVINO has without blanks.
pub fn einsum(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let operands = cx.inputs()?;
    // OpenVINO takes no blanks.
    let equation = cx.attributes.text("equation")?.unwrap_or_default().replace(' ', "");
    Ok(vec![cx.put("Einsum", &operands, &[say("equation", equation)])?])
}
