//! Evaluation of operators that put elements elsewhere by a rule: blocks and depth, parts of a
//! sequence in reverse, the center of an axis.

use gradus_core::convert::usize_of_i64;
use gradus_core::{Result, Shape, Tensor, Value};

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::indexing::eval::{flat_index, positions};
use crate::indices;
use crate::op::EvalContext;
use crate::output::allowed;
use crate::strided::Strided;
use crate::words;

/// The first input's elements under these dimensions, with the axes in another order.
fn turned(cx: &EvalContext<'_>, dims: &[usize], perm: &[usize]) -> Result<Vec<Value>> {
    let (dtype, shape) = cx.output(0)?;
    allowed(cx, dtype, shape.dims())?;
    let strided = Strided::permuted(&Shape::new(dims)?, perm);
    Ok(vec![strided.moved(cx.tensor(0)?, shape, &cx.limits())?.into()])
}

fn block(attributes: &Attributes<'_>) -> Result<usize> {
    Ok(usize_of_i64(required("blocksize", attributes.int("blocksize")?)?).unwrap_or(1))
}

/// `DepthToSpace`: blocks of pixels from channels.
pub fn depth_to_space(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (block, (_, shape)) = (block(attributes)?, cx.output(0)?);
    let (out, dims) = (shape.dims()[1], cx.tensor(0)?.shape().dims());
    match words::BLOCK_ORDER.of(attributes)? {
        "CRD" => turned(cx, &[dims[0], out, block, block, dims[2], dims[3]], &[0, 1, 4, 2, 5, 3]),
        _ => turned(cx, &[dims[0], block, block, out, dims[2], dims[3]], &[0, 3, 4, 1, 5, 2]),
    }
}

/// `SpaceToDepth`: channels from blocks of pixels.
pub fn space_to_depth(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (block, (_, shape)) = (block(attributes)?, cx.output(0)?);
    let (dims, out) = (cx.tensor(0)?.shape().dims(), shape.dims());
    let perm = match words::BLOCK_ORDER.of(attributes)? {
        "CRD" => [0, 1, 3, 5, 2, 4],
        _ => [0, 3, 5, 1, 2, 4],
    };
    turned(cx, &[dims[0], dims[1], out[2], block, out[3], block], &perm)
}

/// `ReverseSequence`: the first elements of each sequence in reverse order, by its length.
pub fn reverse_sequence(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, lengths) = (cx.tensor(0)?, cx.integers(1)?);
    let dims = data.shape().dims();
    let batch = indices::axis(attributes.int("batch_axis")?.unwrap_or(1), dims.len())?;
    let time = indices::axis(attributes.int("time_axis")?.unwrap_or(0), dims.len())?;
    let shape = allowed(cx, data.dtype(), dims)?;
    for &length in &lengths {
        let within = usize_of_i64(length).filter(|&length| length <= dims[time]);
        within
            .ok_or_else(|| errors::value("sequence length", length, format_args!("0 to {}", dims[time])))?;
    }
    let places = positions(dims).map(|mut position| {
        let length = usize_of_i64(lengths[position[batch]]).unwrap_or(0);
        if position[time] < length {
            position[time] = length - 1 - position[time];
        }
        flat_index(&position, dims)
    });
    Ok(vec![data.picked(shape, &places.collect::<Vec<_>>(), &cx.limits())?.into()])
}

/// `CenterCropPad`: the center of each axis, padded with zeros.
pub fn center_crop_pad(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, (dtype, shape)) = (cx.tensor(0)?, cx.output(0)?);
    allowed(cx, dtype, shape.dims())?;
    let dims = data.shape().dims();
    let zero = Tensor::zeros(dtype, Shape::SCALAR)?;
    let places = positions(shape.dims()).map(|position| {
        let source = |axis: usize| {
            let (own, wanted) = (dims[axis], shape.dims()[axis]);
            let from = if wanted < own {
                Some(position[axis] + (own - wanted) / 2)
            } else {
                position[axis].checked_sub((wanted - own) / 2)
            };
            from.filter(|&from| from < own)
        };
        let source = (0..dims.len()).map(source).collect::<Option<Vec<_>>>();
        source.map_or((1, 0), |source| (0, flat_index(&source, dims)))
    });
    Ok(vec![Tensor::woven(&[data, &zero], shape.clone(), places, &cx.limits())?.into()])
}
