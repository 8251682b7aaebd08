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
use crate::normalization::infer::trains;
use crate::normalize::Older;
use crate::windows::to_openvino::by_channel;

/// Divided by a power of the squares of the channels around.
pub fn local_response(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let size = cx.attributes.int_or("size", 1)?;
    if size % 2 == 0 {
        return Err(cannot("the OpenVINO specification does not define the channels of an LRN of even size"));
    }
    let alpha = cx.attributes.float("alpha")?.unwrap_or(0.0001);
    let beta = cx.attributes.float("beta")?.unwrap_or(0.75);
    let bias = cx.attributes.float("bias")?.unwrap_or(1.0);
    // OpenVINO's CPU plugin drops the fraction of a bias, so that one is taken out of the power.
    let factor = if bias > 0.0 && bias.is_finite() && bias.fract() != 0.0 { bias } else { 1.0 };
    let attributes =
        [say("alpha", alpha / factor), say("beta", beta), say("bias", bias / factor), say("size", size)];
    let (x, axes) = (cx.input(0)?, cx.list(&[1]));
    let y = cx.put("LRN", &[x, axes], &attributes)?;
    if factor == 1.0 {
        return Ok(vec![y]);
    }
    let scale = cx.number(libm::pow(factor.into(), -f64::from(beta)), cx.dtype(0)?)?;
    Ok(vec![cx.put("Multiply", &[y, scale], &[numpy()])?])
}

/// Brought to a mean of 0 and a variance of 1 over axes that an attribute names.
pub fn mean_variance(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let axes = cx.attributes.ints("axes")?.unwrap_or(&[0, 2, 3]).to_vec();
    if axes.is_empty() {
        return Err(cannot("OpenVINO has no equivalent of MeanVarianceNormalization without axes"));
    }
    let (x, axes) = (cx.input(0)?, cx.list(&axes));
    let attributes = [say("eps", 1e-9), say("eps_mode", "OUTSIDE_SQRT"), say("normalize_variance", true)];
    Ok(vec![cx.put("MVN", &[x, axes], &attributes)?])
}

/// Writes `Softmax` or `LogSoftmax`; older versions as that of a matrix.
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

/// Brought to a mean of 0 and a variance of 1 for each channel.
pub fn instance_normalization(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let axes: Vec<_> = (2..cx.rank(0)?).map(i64_of).collect();
    if axes.is_empty() {
        return Err(cannot("OpenVINO has no equivalent of InstanceNormalization without spatial axes"));
    }
    let epsilon = cx.attributes.float("epsilon")?.unwrap_or(1e-5);
    let (x, axes) = (cx.input(0)?, cx.list(&axes));
    let attributes = [say("eps", epsilon), say("eps_mode", "INSIDE_SQRT"), say("normalize_variance", true)];
    let value = cx.put("MVN", &[x, axes], &attributes)?;
    let (scale, shift) = (by_channel(cx, 1)?, by_channel(cx, 2)?);
    let scaled = cx.put("Multiply", &[value, scale], &[numpy()])?;
    Ok(vec![cx.put("Add", &[scaled, shift], &[numpy()])?])
}

/// Writes `BatchNormalization` as `BatchNormInference`, or by statistics of the batch.
pub fn batch_normalization(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if trains(&cx.attributes, cx.node.outputs.len())? {
        return trained(cx);
    }
    if (1..cx.outputs()).any(|output| cx.wants(output)) {
        return Err(cannot("OpenVINO has no equivalent of the statistics of BatchNormalization"));
    }
    if !cx.attributes.flag("spatial", true)? {
        return Err(cannot("OpenVINO has no equivalent of BatchNormalization with spatial=0"));
    }
    cx.rounding(caveats::FUNCTION);
    let epsilon = cx.attributes.float("epsilon")?.unwrap_or(1e-5);
    if epsilon < 0.0 {
        return Err(cannot("OpenVINO has no equivalent of BatchNormalization with an epsilon below 0"));
    }
    let inputs = cx.inputs()?;
    Ok(vec![cx.put("BatchNormInference", &inputs, &[say("epsilon", epsilon)])?])
}

/// Normalization in training: by the statistics of the batch, which move those that are given.
fn trained(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let form = cx.attributes.form();
    if form.is(Older::Training) || form.is(Older::TrainingByOutputs) {
        return Err(cannot("OpenVINO has no equivalent of BatchNormalization in training before set 14"));
    }
    cx.rounding(caveats::ORDER);
    let (rank, dtype) = (i64_of(cx.rank(0)?), cx.dtype(0)?);
    if [3, 4].iter().any(|&input| cx.dtype(input).is_ok_and(|own| own != dtype)) {
        return Err(cannot("OpenVINO has no equivalent of statistics in another type than the input's"));
    }
    let axes: Vec<_> = (0..rank).filter(|&axis| axis != 1).collect();
    let (x, axes) = (cx.input(0)?, cx.list(&axes));
    let epsilon = cx.attributes.float("epsilon")?.unwrap_or(1e-5);
    let attributes = [say("eps", epsilon), say("eps_mode", "INSIDE_SQRT"), say("normalize_variance", true)];
    let value = cx.put("MVN", &[x, axes], &attributes)?;
    let (scale, shift) = (by_channel(cx, 1)?, by_channel(cx, 2)?);
    let scaled = cx.put("Multiply", &[value, scale], &[numpy()])?;
    let mut all = vec![cx.put("Add", &[scaled, shift], &[numpy()])?];
    let keep = [say("keep_dims", true)];
    let mean = cx.put("ReduceMean", &[x, axes], &keep)?;
    let apart = cx.put("Subtract", &[x, mean], &[numpy()])?;
    let squares = cx.put("Multiply", &[apart, apart], &[numpy()])?;
    let variance = cx.put("ReduceMean", &[squares, axes], &keep)?;
    let momentum = f64::from(cx.attributes.float("momentum")?.unwrap_or(0.9));
    let (kept, new) = (cx.number(momentum, dtype)?, cx.number(1.0 - momentum, dtype)?);
    for (input, own) in [(3, mean), (4, variance)] {
        let given = cx.input(input)?;
        let own = cx.reshaped(own, &[-1])?;
        let given = cx.put("Multiply", &[given, kept], &[numpy()])?;
        let own = cx.put("Multiply", &[own, new], &[numpy()])?;
        all.push(cx.put("Add", &[given, own], &[numpy()])?);
    }
    Ok(all)
}
