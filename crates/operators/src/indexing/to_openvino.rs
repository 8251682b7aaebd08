//! Operators that take parts of tensors, or put parts into them.

use gradus_core::convert::{Rules, cast, i64_of};
use gradus_core::{Result, Tensor};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::writer::NewValue;

/// Along other axes than the one that is chosen from, OpenVINO wants as many indices as there are
/// elements.
pub fn gather_elements(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (mut x, indices) = (cx.input(0)?, cx.input(1)?);
    let named = cx.attributes.int("axis")?.unwrap_or(0);
    let axis = cx.axis(named, usize::from(cx.rank_if_known(0).is_none()))?;
    let sizes = |input: usize| cx.fact(input).as_tensor()?.dims.clone();
    let (of_data, of_indices) = (sizes(0), sizes(1));
    let rank = match (&of_data, &of_indices) {
        (Some(dims), _) | (_, Some(dims)) => dims.len(),
        _ => return Err(not_known("rank of input 0")),
    };
    let mut others: Vec<_> = (0..rank).filter(|&other| other != axis).collect();
    if let (Some(data), Some(indices)) = (of_data, of_indices) {
        others.retain(|&other| data.get(other) != indices.get(other));
    }
    if !others.is_empty() {
        // OpenVINO's plugins take a Slice before GatherElements to be superfluous.
        let (starts, ends, steps) = (cx.list(&vec![0; rank]), cx.shape_of(indices)?, cx.list(&vec![1; rank]));
        let whole = |axis: usize| if others.contains(&axis) { "0" } else { "1" };
        let mask = (0..rank).map(whole).collect::<Vec<_>>().join(",");
        let masks = [say("begin_mask", &mask), say("end_mask", &mask)];
        x = cx.put("StridedSlice", &[x, starts, ends, steps], &masks)?;
    }
    Ok(vec![cx.put("GatherElements", &[x, indices], &[say("axis", named)])?])
}

/// How updates of one place are put together, in the words of OpenVINO.
fn reduction(cx: &mut ConvertContext<'_, '_>) -> Result<&'static str> {
    let how = match cx.attributes.text("reduction")?.unwrap_or("none") {
        "none" => "none",
        "add" => "sum",
        "mul" => "prod",
        "max" => "max",
        "min" => "min",
        other => return Err(cannot(format!("OpenVINO has no reduction \"{other}\""))),
    };
    match how {
        "none" => {
            cx.edges("the specifications do not define which of several updates of one element is kept");
        }
        "sum" | "prod" => {
            cx.rounding_of_floats(
                "the specifications do not define the order of several updates of one element",
            );
        }
        _ => cx.edges_of_floats(caveats::NAN),
    }
    Ok(how)
}

/// Converts Slice.
pub fn slice(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let (starts, ends) = (cx.input(1)?, cx.input(2)?);
    // All bounds are of one type.
    let ones = |count: usize, dtype| cast(&Tensor::vector(&vec![1i64; count]), dtype, Rules::IEEE);
    let steps = match (cx.has(4), cx.len(1)) {
        (true, _) => cx.input(4)?,
        (false, Some(count)) => {
            let ones = ones(count, cx.dtype(1)?)?;
            cx.constant(ones)
        }
        (false, None) if cx.rank_if_known(1) == Some(0) => return Err(not_known("number of sliced axes")),
        // As many as there are starts.
        (false, None) => {
            let one = ones(1, cx.dtype(1)?)?;
            let (one, count) = (cx.constant(one), cx.shape_of(starts)?);
            cx.put("Broadcast", &[one, count], &[say("mode", "numpy")])?
        }
    };
    let axes = cx.maybe(3)?;
    Ok(vec![cx.put("Slice", &[x, starts, ends, steps, axes], &[])?])
}

/// Sizes are given, or parts are alike; since version 18, the last part may be shorter.
pub fn split(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, outputs) = (cx.input(0)?, cx.outputs());
    let axis = cx.attributes.int("axis")?.unwrap_or(0);
    let at = cx.scalar(axis);
    if cx.has(1) {
        let sizes = cx.input(1)?;
        // OpenVINO reads the number of outputs off the shape of the sizes.
        let sizes = if cx.len(1).is_some() { sizes } else { cx.reshaped(sizes, &[i64_of(outputs)])? };
        return cx.put_many("VariadicSplit", &[x, at, sizes], &[], outputs);
    }
    let count = i64_of(outputs);
    let named = cx.attributes.int("num_outputs")?;
    if named.is_none() {
        return cx.put_many("Split", &[x, at], &[say("num_splits", count)], outputs);
    }
    if named != Some(count) {
        return Err(cannot("num_outputs is not the number of outputs"));
    }
    let axis = cx.axis(axis, 0)?;
    let size = cx.dims(0).and_then(|dims| dims.get(axis).copied().flatten());
    let sizes = match size {
        Some(size) if size % count == 0 => {
            return cx.put_many("Split", &[x, at], &[say("num_splits", count)], outputs);
        }
        Some(size) => {
            let each = (size + count - 1) / count;
            let sizes: Vec<_> = (0..count).map(|part| each.min(size - part * each).max(0)).collect();
            cx.list(&sizes)
        }
        None => {
            // Each is of the quotient rounded up, as far as there is something left.
            let (dims, place, zero) = (cx.shape_of(x)?, cx.list(&[i64_of(axis)]), cx.scalar(0));
            let size = cx.put("Gather", &[dims, place, zero], &[say("batch_dims", 0)])?;
            let (less, parts) = (cx.list(&[count - 1]), cx.list(&[count]));
            let numbers = cx.list(&(0..count).collect::<Vec<_>>());
            let more = cx.put("Add", &[size, less], &[numpy()])?;
            let each = cx.put("Divide", &[more, parts], &[numpy(), say("m_pythondiv", true)])?;
            let before = cx.put("Multiply", &[each, numbers], &[numpy()])?;
            let left = cx.put("Subtract", &[size, before], &[numpy()])?;
            let left = cx.put("Maximum", &[left, zero], &[numpy()])?;
            cx.put("Minimum", &[left, each], &[numpy()])?
        }
    };
    cx.put_many("VariadicSplit", &[x, at, sizes], &[], outputs)
}

/// Writes `Gather` with its axis as an input.
pub fn gather(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, indices) = (cx.input(0)?, cx.input(1)?);
    let axis = cx.attributes.int("axis")?.unwrap_or(0);
    let axis = cx.scalar(axis);
    Ok(vec![cx.put("Gather", &[x, indices, axis], &[say("batch_dims", 0)])?])
}

/// Writes `GatherND` with its batch axes.
pub fn gather_nd(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, indices) = (cx.input(0)?, cx.input(1)?);
    let batch = cx.attributes.int("batch_dims")?.unwrap_or(0);
    Ok(vec![cx.put("GatherND", &[x, indices], &[say("batch_dims", batch)])?])
}

/// Writes `ScatterElements` as `ScatterElementsUpdate`.
pub fn scatter_elements(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let how = reduction(cx)?;
    let inputs = [cx.input(0)?, cx.input(1)?, cx.input(2)?];
    let axis = cx.attributes.int("axis")?.unwrap_or(0);
    let axis = cx.scalar(axis);
    let inputs = [&inputs[..], &[axis]].concat();
    Ok(vec![cx.put("ScatterElementsUpdate", &inputs, &[say("reduction", how), say("use_init_val", true)])?])
}

/// Writes `ScatterND` as `ScatterNDUpdate`.
pub fn scatter_nd(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let how = reduction(cx)?;
    let inputs = cx.inputs()?;
    Ok(vec![cx.put("ScatterNDUpdate", &inputs, &[say("reduction", how)])?])
}

/// Slices along an axis, or elements, for which a condition holds.
pub fn compress(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (mut x, condition) = (cx.input(0)?, cx.input(1)?);
    let axis = cx.attributes.int("axis")?;
    if axis.is_none() {
        x = cx.reshaped(x, &[-1])?;
    }
    let condition = cx.reshaped(condition, &[-1])?;
    let axis = cx.scalar(axis.unwrap_or(0));
    // Elements of the condition beyond the axis are not heeded.
    let (sizes, zero, one) = (cx.shape_of(x)?, cx.list(&[0]), cx.list(&[1]));
    let at = cx.reshaped(axis, &[1])?;
    let size = cx.put("Gather", &[sizes, at, zero], &[say("batch_dims", 0)])?;
    let condition = cx.put("Slice", &[condition, zero, size, one, zero], &[])?;
    let places = cx.put("NonZero", &[condition], &[say("output_type", "i64")])?;
    let places = cx.reshaped(places, &[-1])?;
    Ok(vec![cx.put("Gather", &[x, places, axis], &[say("batch_dims", 0)])?])
}
