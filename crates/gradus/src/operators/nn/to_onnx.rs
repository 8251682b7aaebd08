//! Normalization in the operators of ONNX.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::attributes;
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_onnx::{flag, int};
use crate::conversion::writer::NewValue;
use crate::normalize::Older;
use crate::operators::indices::axis as axis_of;

pub(crate) fn softmax(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    if cx.target.form(operator).is(Older::Flattened) {
        return softmax_of_last(cx, operator);
    }
    let (x, axis) = (cx.input(0)?, cx.attributes.int_or("axis", -1)?);
    Ok(vec![cx.put(operator, &[x], &[int("axis", axis)])?])
}

/// `Softmax` and its like along one axis in an operator set that takes all axes from one on
/// together: another axis becomes the last one.
pub(crate) fn softmax_of_last(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let (x, rank) = (cx.input(0)?, cx.rank(0)?);
    let axis = axis_of(cx.attributes.int_or("axis", -1)?, rank)?;
    let last = rank.saturating_sub(1);
    let along = [int("axis", i64_of(last))];
    if axis == last {
        return Ok(vec![cx.put(operator, &[x], &along)?]);
    }
    let mut order: Vec<_> = (0..i64_of(rank)).collect();
    order.swap(axis, last);
    let order = [("perm", Content::Ints(order.into()))];
    let turned = cx.put("Transpose", &[x], &order)?;
    let y = cx.put(operator, &[turned], &along)?;
    Ok(vec![cx.put("Transpose", &[y], &order)?])
}

/// The one axis along which a `Softmax` or its like goes: before operator set 13, all axes from one
/// on are one, and those of one element do not count. `None` if several axes may have more.
pub(crate) fn softmax_axis(cx: &ConvertContext<'_, '_>) -> Result<Option<i64>> {
    let axis = cx.attributes.int_or("axis", -1)?;
    if !cx.attributes.form().is(Older::Flattened) || axis == -1 {
        return Ok(Some(axis));
    }
    let Some(rank) = cx.rank_if_known(0) else { return Ok(None) };
    let first = axis_of(axis, rank)?;
    let mut long = (first..rank).filter(|&axis| cx.known_size(0, axis) != Some(1));
    let only = long.next().unwrap_or(first);
    Ok(long.next().is_none().then_some(i64_of(only)))
}

/// `Softmax` and its like of an operator set that takes all axes from one on together, in one that
/// takes one axis.
pub(crate) fn softmax_of_flattened(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    if let Some(axis) = softmax_axis(cx)? {
        return Ok(vec![cx.put(operator, &[x], &[int("axis", axis)])?]);
    }
    let sizes = match cx.dims(0).and_then(|dims| dims.into_iter().collect::<Option<Vec<_>>>()) {
        Some(known) => cx.list(&known),
        None => cx.sizes(x)?,
    };
    let flat = cx.put("Flatten", &[x], &[int("axis", cx.attributes.int_or("axis", -1)?)])?;
    let y = cx.put(operator, &[flat], &[int("axis", -1)])?;
    Ok(vec![cx.with_shape(y, sizes)?])
}

/// Brought to a mean of 0 and, if it is wanted, a variance of 1.
pub(crate) fn mean_variance(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if !cx.has(1) {
        return Err(cannot("the specification of MVN-1 does not define the axes"));
    }
    cx.rounding(caveats::ORDER);
    let (mut x, axes, dtype) = (cx.input(0)?, cx.whole_list(1)?, cx.dtype(0)?);
    // In float16, the epsilon of a group of equal elements may be zero.
    let wide = if dtype.bits() < 32 { DType::F32 } else { dtype };
    if wide != dtype {
        x = cx.cast(x, wide)?;
    }
    let keep = [flag("keepdims", true)];
    let mean = cx.put("ReduceMean", &[x, axes], &keep)?;
    let apart = cx.put("Sub", &[x, mean], &[])?;
    let mut value = apart;
    if cx.attributes.flag("normalize_variance", true)? {
        let squares = cx.put("Mul", &[apart, apart], &[])?;
        let variance = cx.put("ReduceMean", &[squares, axes], &keep)?;
        let epsilon = cx.attributes.float("eps")?.unwrap_or(0.0);
        let epsilon = cx.number(epsilon.into(), wide)?;
        let mode = cx.attributes.text("eps_mode")?;
        let by = if mode.is_some_and(|mode| mode.eq_ignore_ascii_case("inside_sqrt")) {
            let sum = cx.put("Add", &[variance, epsilon], &[])?;
            cx.put("Sqrt", &[sum], &[])?
        } else {
            let root = cx.put("Sqrt", &[variance], &[])?;
            cx.put("Add", &[root, epsilon], &[])?
        };
        value = cx.put("Div", &[apart, by], &[])?;
    }
    Ok(vec![if wide == dtype { value } else { cx.cast(value, dtype)? }])
}

/// Groups of channels, each brought to a mean of 0 and a variance of 1.
pub(crate) fn group_normalization(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let groups = cx.attributes.int("num_groups")?.ok_or_else(|| attributes::missing("num_groups"))?;
    let epsilon = cx.attributes.float("epsilon")?.ok_or_else(|| attributes::missing("epsilon"))?;
    let inputs = cx.inputs()?;
    let attributes = [int("num_groups", groups), ("epsilon", Content::Float(epsilon))];
    Ok(vec![cx.put("GroupNormalization", &inputs, &attributes)?])
}

/// The first version takes the data third: statistics have one axis.
pub(crate) fn batch_normalization(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let order = if cx.rank(0)? == 1 { [2, 0, 1, 3, 4] } else { [0, 1, 2, 3, 4] };
    let epsilon = cx.attributes.float("epsilon")?.ok_or_else(|| attributes::missing("epsilon"))?;
    let inputs = order.into_iter().map(|input| cx.input(input)).collect::<Result<Vec<_>>>()?;
    Ok(vec![cx.put("BatchNormalization", &inputs, &[("epsilon", Content::Float(epsilon))])?])
}

/// Divided by the root of the sum of squares.
fn by_length(
    cx: &mut ConvertContext<'_, '_>,
    axes: NewValue,
    bound: f32,
    operator: &str,
) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let (x, dtype) = (cx.input(0)?, cx.dtype(0)?);
    let bound = cx.number(bound.into(), dtype)?;
    let squares = cx.put("Mul", &[x, x], &[])?;
    let sum = cx.put("ReduceSum", &[squares, axes], &[flag("keepdims", true)])?;
    let sum = cx.put(operator, &[sum, bound], &[])?;
    let root = cx.put("Sqrt", &[sum], &[])?;
    Ok(vec![cx.put("Div", &[x, root], &[])?])
}

pub(crate) fn normalize_l2(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.integers(1)?.is_empty() {
        return Err(cannot("ONNX has no equivalent of NormalizeL2 without axes"));
    }
    let epsilon = cx.attributes.float("eps")?.ok_or_else(|| attributes::missing("eps"))?;
    let larger = cx.attributes.text("eps_mode")? == Some("max");
    let axes = cx.whole_list(1)?;
    by_length(cx, axes, epsilon, if larger { "Max" } else { "Add" })
}

/// Divided by the root of the sum of the squares of all channels.
pub(crate) fn global_response(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let bias = cx.attributes.float("bias")?.ok_or_else(|| attributes::missing("bias"))?;
    let axes = cx.list(&[1]);
    by_length(cx, axes, bias, "Add")
}

/// Divided by a power of the squares of the channels around.
pub(crate) fn local_response(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let rank = cx.rank(0)?;
    let axes = cx.integers(1)?;
    let size = attributes::required("size", cx.attributes.int("size")?)?;
    if rank < 2 || axes.len() != 1 || axis_of(axes[0], rank)? != 1 || size % 2 == 0 {
        return Err(cannot("ONNX has an equivalent of LRN over an odd number of channels only"));
    }
    let mut attributes = vec![int("size", size)];
    for name in ["alpha", "beta", "bias"] {
        let value = attributes::required(name, cx.attributes.float(name)?)?;
        attributes.push((name, Content::Float(value)));
    }
    let x = cx.input(0)?;
    Ok(vec![cx.put("LRN", &[x], &attributes)?])
}
