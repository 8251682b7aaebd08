//! Normalization in the operators of OpenVINO.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result};

use crate::attributes;
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::writer::NewValue;
use crate::indices::axis as axis_of;
use crate::layout::to_openvino::flattened;
use crate::normalize::Older;

pub fn softmax(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let x = cx.input(0)?;
    if let Some(axis) = softmax_axis(cx)? {
        return Ok(vec![cx.put(operator, &[x], &[say("axis", axis)])?]);
    }
    let (flat, sizes) = (flattened(cx, x, cx.attributes.int_or("axis", -1)?)?, cx.shape_of(x)?);
    let y = cx.put(operator, &[flat], &[say("axis", 1)])?;
    Ok(vec![cx.put("Reshape", &[y, sizes], &[say("special_zero", false)])?])
}

/// All axes from one on, brought to a mean of 0 and a variance of 1.
pub fn layer_normalization(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let rank = cx.rank(0)?;
    let first = cx.axis(cx.attributes.int("axis")?.unwrap_or(-1), 0)?;
    let epsilon = cx.attributes.float("epsilon")?.unwrap_or(1e-5);
    let (x, axes) = (cx.input(0)?, cx.list(&(first..rank).map(i64_of).collect::<Vec<_>>()));
    let attributes = [say("eps", epsilon), say("eps_mode", "INSIDE_SQRT"), say("normalize_variance", true)];
    let mut value = cx.put("MVN", &[x, axes], &attributes)?;
    for (input, operator) in [(1, "Multiply"), (2, "Add")] {
        if cx.has(input) {
            let by = cx.input(input)?;
            value = cx.put(operator, &[value, by], &[numpy()])?;
        }
    }
    let mut all = vec![value];
    if cx.wants(1) || cx.wants(2) {
        all.extend(statistics(cx, x, axes, epsilon)?);
    }
    Ok(all)
}

/// The mean along axes, and the inverse of the deviation, in float32.
fn statistics(
    cx: &mut ConvertContext<'_, '_>,
    x: NewValue,
    axes: NewValue,
    epsilon: f32,
) -> Result<[NewValue; 2]> {
    if cx.dtype(0)? == DType::F64 || cx.attributes.int_or("stash_type", 1)? != 1 {
        return Err(cannot(
            "OpenVINO has no equivalent of the outputs Mean and InvStdDev in other types than float32",
        ));
    }
    let x = cx.converted(x, DType::F32)?;
    let keep = [say("keep_dims", true)];
    let (one, epsilon) = (cx.number(1.0, DType::F32)?, cx.number(epsilon.into(), DType::F32)?);
    let mean = cx.put("ReduceMean", &[x, axes], &keep)?;
    let apart = cx.put("Subtract", &[x, mean], &[numpy()])?;
    let squares = cx.put("Multiply", &[apart, apart], &[numpy()])?;
    let variance = cx.put("ReduceMean", &[squares, axes], &keep)?;
    let sum = cx.put("Add", &[variance, epsilon], &[numpy()])?;
    let root = cx.put("Sqrt", &[sum], &[])?;
    let inverse = cx.put("Divide", &[one, root], &[numpy(), say("m_pythondiv", false)])?;
    Ok([mean, inverse])
}

/// Groups of channels, each brought to a mean of 0 and a variance of 1.
pub fn group_normalization(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let groups = cx.attributes.int("num_groups")?.ok_or_else(|| attributes::missing("num_groups"))?;
    let epsilon = cx.attributes.float("epsilon")?.unwrap_or(1e-5);
    let mut inputs = cx.inputs()?;
    if cx.attributes.form().is(Older::ScaledByGroup) {
        // Before version 21, scales and shifts are of groups.
        let channels = cx.known_size(0, 1).ok_or_else(|| not_known("number of channels"))?;
        let each = channels.checked_div(groups).unwrap_or(0);
        let dims = cx.list(&[groups, each]);
        for value in &mut inputs[1..] {
            let column = cx.reshaped(*value, &[-1, 1])?;
            let all = cx.put("Broadcast", &[column, dims], &[say("mode", "numpy")])?;
            *value = cx.reshaped(all, &[-1])?;
        }
    }
    let attributes = [say("num_groups", groups), say("epsilon", epsilon)];
    Ok(vec![cx.put("GroupNormalization", &inputs, &attributes)?])
}

/// Divided by the root of the mean of squares.
pub fn rms_normalization(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let (rank, from, to) = (cx.rank(0)?, cx.dtype(0)?, cx.dtype(1)?);
    let first = cx.axis(cx.attributes.int("axis")?.unwrap_or(-1), 0)?;
    // Computed in the wider type.
    let dtype = if to.bits() > from.bits() { to } else { from };
    let epsilon = cx.number(cx.attributes.float("epsilon")?.unwrap_or(1e-5).into(), dtype)?;
    let (mut x, axes) = (cx.input(0)?, cx.list(&(first..rank).map(i64_of).collect::<Vec<_>>()));
    if from != dtype {
        x = cx.converted(x, dtype)?;
    }
    let squares = cx.put("Multiply", &[x, x], &[numpy()])?;
    let mean = cx.put("ReduceMean", &[squares, axes], &[say("keep_dims", true)])?;
    let sum = cx.put("Add", &[mean, epsilon], &[numpy()])?;
    let root = cx.put("Sqrt", &[sum], &[])?;
    let mut value = cx.put("Divide", &[x, root], &[numpy(), say("m_pythondiv", false)])?;
    if to != dtype {
        value = cx.converted(value, to)?;
    }
    let scale = cx.input(1)?;
    Ok(vec![cx.put("Multiply", &[value, scale], &[numpy()])?])
}

/// The one axis along which a `Softmax` or its like goes: before operator set 13, all axes from one
/// on are one, and those of one element do not count. `None` if several axes may have more.
pub fn softmax_axis(cx: &ConvertContext<'_, '_>) -> Result<Option<i64>> {
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
