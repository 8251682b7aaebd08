//! Operators that make one element of many.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_onnx::{flag, int, word};
use crate::conversion::writer::NewValue;
use crate::operators::indices::axis as axis_of;

/// The axes of a reduction: no axes are none.
pub(crate) enum Axes {
    None,
    Some(NewValue),
    /// There may be none.
    Computed(NewValue),
}

pub(crate) fn axes(cx: &mut ConvertContext<'_, '_>) -> Result<Axes> {
    let Some(named) = cx.known_integers(1)? else {
        let list = cx.whole_list(1)?;
        if cx.len(1).is_none_or(|len| len > 1) {
            cx.edges("OpenVINO reduces an axis that is named twice once, which is an error in ONNX");
        }
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

fn reduce(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let keep = flag("keepdims", cx.attributes.flag("keepdims", true)?);
    let lengths = matches!(operator, "ReduceL1" | "ReduceL2");
    Ok(vec![match axes(cx)? {
        Axes::Some(axes) => cx.put(operator, &[x, axes], &[keep])?,
        Axes::None | Axes::Computed(_) if lengths => {
            return Err(cannot(
                "the specifications define reductions with an empty list of axes differently",
            ));
        }
        Axes::None => cx.put("Identity", &[x], &[])?,
        Axes::Computed(axes) => cx.put(operator, &[x, axes], &[keep, flag("noop_with_empty_axes", true)])?,
    }])
}

pub(crate) fn min_max(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    if cx.may_be_empty(0) {
        cx.edges(caveats::EMPTY);
    }
    reduce(cx, operator)
}

/// The minimum of truth values is their conjunction. Older operator sets take them as numbers only.
pub(crate) fn of_truth(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    if cx.may_be_empty(0) {
        cx.edges(caveats::EMPTY);
    }
    if cx.target.admits(operator, DType::Bool) {
        return reduce(cx, operator);
    }
    let Axes::Some(axes) = axes(cx)? else { return Err(not_known("list of the reduced axes")) };
    let keep = flag("keepdims", cx.attributes.flag("keepdims", true)?);
    let x = cx.input(0)?;
    let numbers = cx.cast(x, DType::I32)?;
    let found = cx.put(operator, &[numbers, axes], &[keep])?;
    Ok(vec![cx.cast(found, DType::Bool)?])
}

pub(crate) fn top_k(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    let by = cx.attributes.text("sort")?.unwrap_or("value");
    let (sorted, by_index) = match by {
        "value" | "index" => (true, by == "index"),
        "none" => {
            cx.edges(caveats::UNSORTED);
            (false, false)
        }
        other => return Err(cannot(format!("ONNX has no equivalent of sort=\"{other}\""))),
    };
    if sorted && !cx.attributes.flag("stable", false)? {
        cx.edges("the specifications do not define the order of equal elements");
    }
    let (x, k) = (cx.input(0)?, cx.whole_list(1)?);
    let axis = cx.attributes.int("axis")?.unwrap_or(-1);
    let largest = cx.attributes.text("mode")? != Some("min");
    let attributes = [int("axis", axis), flag("largest", largest), flag("sorted", sorted)];
    let mut found = cx.put_many("TopK", &[x, k], &attributes, 2)?;
    if by_index {
        let ascending = [int("axis", axis), flag("largest", false), flag("sorted", true)];
        let by_index = cx.put_many("TopK", &[found[1], k], &ascending, 2)?;
        found = vec![cx.put("GatherElements", &[found[0], by_index[1]], &[int("axis", axis)])?, by_index[0]];
    }
    let to = cx.attributes.dtype("index_element_type")?.unwrap_or(DType::I32);
    if to != DType::I64 {
        found[1] = cx.cast(found[1], to)?;
    }
    Ok(found)
}

pub(crate) fn reduce_sum(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    reduce(cx, "ReduceSum")
}

pub(crate) fn reduce_prod(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    reduce(cx, "ReduceProd")
}

pub(crate) fn reduce_mean(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.is_float(0) {
        cx.rounding(caveats::ORDER);
    } else {
        cx.rounding(caveats::MEAN);
    }
    reduce(cx, "ReduceMean")
}

pub(crate) fn reduce_l1(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    reduce(cx, "ReduceL1")
}

pub(crate) fn reduce_l2(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    reduce(cx, "ReduceL2")
}

pub(crate) fn cum_sum(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let (x, axis) = (cx.input(0)?, cx.whole_scalar(1)?);
    let exclusive = flag("exclusive", cx.attributes.flag("exclusive", false)?);
    let reverse = flag("reverse", cx.attributes.flag("reverse", false)?);
    Ok(vec![cx.put("CumSum", &[x, axis], &[exclusive, reverse])?])
}

pub(crate) fn einsum(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let operands = cx.inputs()?;
    let equation = cx.attributes.text("equation")?.unwrap_or_default().to_owned();
    Ok(vec![cx.put("Einsum", &operands, &[word("equation", &equation)])?])
}

/// How many bounds come before each value.
fn bounds_before(
    cx: &mut ConvertContext<'_, '_>,
    [bounds, values]: [usize; 2],
    including: bool,
) -> Result<Vec<NewValue>> {
    let types = [cx.dtype(bounds)?, cx.dtype(values)?];
    if types.iter().any(|dtype| dtype.is_float()) {
        cx.edges(caveats::NAN);
    }
    let (mut all, mut values) = (cx.input(bounds)?, cx.input(values)?);
    if types[0] != types[1] {
        if types.iter().any(|dtype| dtype.is_integer() && dtype.bits() == 64) {
            cx.edges("integers that float64 does not represent");
        }
        (all, values) = (cx.cast(all, DType::F64)?, cx.cast(values, DType::F64)?);
    }
    let (row, last) = (cx.list(&[-2]), cx.list(&[-1]));
    if cx.rank(bounds)? > 1 {
        all = cx.put("Unsqueeze", &[all, row], &[])?;
    }
    let values = cx.put("Unsqueeze", &[values, last], &[])?;
    let before = cx.put(if including { "LessOrEqual" } else { "Less" }, &[all, values], &[])?;
    let before = cx.cast(before, DType::I64)?;
    let count = cx.put("ReduceSum", &[before, last], &[flag("keepdims", false)])?;
    Ok(vec![match cx.attributes.index_dtype("output_type")? {
        Some(DType::I32) => cx.cast(count, DType::I32)?,
        _ => count,
    }])
}

pub(crate) fn bucketize(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let right = cx.attributes.flag("with_right_bound", true)?;
    bounds_before(cx, [1, 0], !right)
}

pub(crate) fn search_sorted(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let right = cx.attributes.flag("right_mode", false)?;
    bounds_before(cx, [0, 1], right)
}

/// Elements or slices that differ, their indices and how often they occur.
pub(crate) fn unique(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.is_float(0) {
        cx.edges(caveats::NAN);
    }
    let x = cx.input(0)?;
    let mut attributes = vec![flag("sorted", cx.attributes.flag("sorted", true)?)];
    if cx.has(1) {
        attributes.push(int("axis", cx.integer(1)?));
    }
    let mut outputs = cx.put_many("Unique", &[x], &attributes, 4)?;
    let short = |cx: &ConvertContext<'_, '_>, name: &str| -> Result<bool> {
        Ok(cx.attributes.index_dtype(name)? == Some(DType::I32))
    };
    let (indices, counts) = (short(cx, "index_element_type")?, short(cx, "count_element_type")?);
    for (output, short) in outputs[1..].iter_mut().zip([indices, indices, counts]) {
        if short {
            *output = cx.cast(*output, DType::I32)?;
        }
    }
    Ok(outputs)
}
