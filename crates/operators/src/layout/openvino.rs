//! Operators that give elements another shape or order, repeat them, or part them.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `Reshape` | `Reshape` | 0 is the input's dimension only with `special_zero` |
//! | `Squeeze` | `Squeeze` | no axes are all of one element; named axes of other dimensions stay |
//! | `Unsqueeze` | `Unsqueeze` | axes that are named twice are added once |
//! | `Transpose` | `Transpose` | the order is an input; an empty one turns all axes |
//! | `Broadcast` | `Expand` | `numpy`: the target is the shape; `explicit`: and says which axes the input's are; `bidirectional` is `Expand` |
//! | `Tile` | `Tile` | fewer repeats or fewer axes are filled up with 1 in front |
//! | `Pad` | `Pad` | pads before and after are two inputs; below 0 they cut |
//! | `Split`, `VariadicSplit` | `Split` | the axis is an input; one length may be -1 |
//! | `BatchToSpace`, `SpaceToBatch` | | blocks of some axes become samples |
//! | `Reverse`, `Roll` | | elements of axes in reverse, or pushed on from the end to the start |

use std::collections::BTreeSet;

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{Result, Result as Computed, Shape, Value, convert};

use crate::attributes::{Attributes, required};
use crate::dialects::openvino::{called, input, integers};
use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::indexing::infer::like_first;
use crate::indices::Along;
use crate::infer::{InferContext, InferError, InferResult};
use crate::layout::infer::{expand, padded, parts_of, repeated, spread, turned};
use crate::layout::reshaped::{ZeroSize, named_axes, reshape_to, squeezed, unsqueezed};
use crate::op::EvalContext;
use crate::output::allowed;
use crate::words;
use crate::{errors, indices, layout, output};

/// The axis that the second input names, or as many unknown shapes as there are outputs.
fn named_axis(cx: &mut InferContext<'_, '_>) -> Result<Result<usize, Vec<Fact>>, InferError> {
    let rank = cx.dims(0)?.len();
    if let Some(axis) = cx.integer(1).and_then(Dim::known) {
        return Ok(Ok(indices::axis(axis, rank)?));
    }
    let dtype = cx.dtype(0);
    let facts = (0..cx.node.outputs.len())
        .map(|_| Fact::tensor(dtype, cx.any_dims("the axis is not known before the run", rank)))
        .collect();
    Ok(Err(facts))
}

/// Shapes of OpenVINO's `Split`: the input's, with equal parts along the axis.
pub fn split(cx: &mut InferContext<'_, '_>) -> InferResult {
    let axis = match named_axis(cx)? {
        Ok(axis) => axis,
        Err(facts) => return Ok(facts),
    };
    let dims = cx.dims(0)?;
    let count = cx.node.outputs.len();
    let parts = cx.attributes.int("num_splits")?.filter(|&parts| parts > 0).unwrap_or(i64_of(count));
    let size = cx.floor_divide(dims[axis], Dim::Known(parts));
    let whole = cx.multiply(size, Dim::Known(parts));
    cx.equal(whole, dims[axis], errors::SPLIT_SIZES)?;
    parts_of(cx, &dims, axis, &vec![size; count])
}

/// Shapes of OpenVINO's `VariadicSplit`: the input's, with the given lengths along the axis.
pub fn variadic_split(cx: &mut InferContext<'_, '_>) -> InferResult {
    let axis = match named_axis(cx)? {
        Ok(axis) => axis,
        Err(facts) => return Ok(facts),
    };
    let dims = cx.dims(0)?;
    let count = cx.node.outputs.len();
    let Some(lengths) = cx.integers(2) else {
        let sizes: Vec<_> = (0..count)
            .map(|_| cx.data("the split sizes are not known before the run", Bounds::SIZE))
            .collect();
        return parts_of(cx, &dims, axis, &sizes);
    };
    errors::expect_count("split sizes", lengths.len(), count)?;
    let mut sizes = lengths.to_vec();
    let open = sizes.iter().position(|&size| size == Dim::Known(-1));
    let others = sizes.iter().enumerate().filter(|(i, _)| Some(*i) != open).map(|(_, size)| *size);
    let total = cx.symbols().total(others.collect::<Vec<_>>());
    let total = cx.or_fresh(total);
    match open {
        Some(open) => sizes[open] = cx.subtract(dims[axis], total),
        None => {
            cx.equal(total, dims[axis], errors::SPLIT_SIZES)?;
        }
    }
    parts_of(cx, &dims, axis, &sizes)
}

/// Channels to blocks of the spatial axes, or back.
pub fn blocks(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let [batch, channels, spatial @ ..] = &*dims else {
        return Err(errors::rank("input 0", dims.len(), "at least 2").into());
    };
    let block = Dim::Known(errors::at_least_1("block_size", cx.attributes.int_or("block_size", 1)?)?);
    let blocks = cx.product(&vec![block; spatial.len()]);
    let spread = cx.operator == "DepthToSpace";
    let mut all = vec![*batch];
    all.push(if spread { cx.floor_divide(*channels, blocks) } else { cx.multiply(*channels, blocks) });
    for &size in spatial {
        all.push(if spread { cx.multiply(size, block) } else { cx.floor_divide(size, block) });
    }
    like_first(cx, all)
}

/// Blocks of the spatial axes to the batch, or back; the dimensions that are added or cut off are
/// inputs.
pub fn batches(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    if dims.is_empty() {
        return Err(errors::rank("input 0", 0, "at least 1").into());
    }
    let inputs = [cx.integers(1), cx.integers(2), cx.integers(3)];
    let [Some(block), Some(begins), Some(ends)] = inputs else {
        let dims = cx.any_dims("the blocks are not known before the run", dims.len());
        return like_first(cx, dims);
    };
    if [block.len(), begins.len(), ends.len()] != [dims.len(); 3] {
        let got = format!("{}, {} and {}", block.len(), begins.len(), ends.len());
        return Err(errors::count("blocks, begins and ends", got, format_args!("{} each", dims.len())).into());
    }
    let size = cx.product(&block);
    let together = cx.operator == "SpaceToBatch";
    let mut all = vec![if together { cx.multiply(dims[0], size) } else { cx.floor_divide(dims[0], size) }];
    for axis in 1..dims.len() {
        let edges = cx.add(begins[axis], ends[axis]);
        all.push(if together {
            let padded = cx.add(dims[axis], edges);
            cx.floor_divide(padded, block[axis])
        } else {
            let spread = cx.multiply(dims[axis], block[axis]);
            cx.subtract(spread, edges)
        });
    }
    like_first(cx, all)
}

/// The parts of an axis of these sizes.
fn run_parts(cx: &mut EvalContext<'_>, sizes: &[i64]) -> Computed<Vec<Value>> {
    let axis = cx.integer(1)?;
    let inputs = [input(cx, 0), integers(sizes)];
    called(cx, layout::eval::split, vec![("axis", Content::Int(axis))], &inputs)
}

/// The dimension of the axis that the second input names.
fn split_size(cx: &EvalContext<'_>) -> Computed<i64> {
    let shape = cx.tensor(0)?.shape();
    Ok(i64_of(shape[indices::axis(cx.integer(1)?, shape.rank())?]))
}

/// `Split` of OpenVINO: slices of equal size along an axis.
pub fn run_split(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let size = split_size(cx)?;
    let parts = required("num_splits", attributes.int("num_splits")?)?;
    let outputs = cx.outputs.max(1);
    let count = usize_of_i64(parts).filter(|&count| (1..=outputs).contains(&count) && size % parts == 0);
    let wanted = format!("a divisor of {size} between 1 and {outputs}");
    let count = count.ok_or_else(|| errors::value("attribute \"num_splits\"", parts, wanted))?;
    run_parts(cx, &vec![size / parts; count])
}

/// `VariadicSplit` of OpenVINO: slices of given lengths along an axis; -1 is the length that is
/// left.
pub fn run_variadic_split(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let mut sizes = cx.integers(2)?;
    if let Some(open) = sizes.iter().position(|&size| size == -1) {
        let others =
            sizes.iter().filter(|&&size| size != -1).fold(0i64, |sum, size| sum.saturating_add(*size));
        sizes[open] = split_size(cx)?.saturating_sub(others);
    }
    run_parts(cx, &sizes)
}

/// `Reverse` of OpenVINO: elements in reverse order along axes, listed or masked.
pub fn run_reverse(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axes: Vec<usize> = match words::REVERSE.of(attributes)? {
        "mask" => {
            let mask = cx.tensor(1)?.numbers()?;
            mask.enumerate().filter(|(_, bit)| !bit.is_zero()).map(|(axis, _)| axis).collect()
        }
        _ => indices::axes(&cx.integers(1)?, dims.len())?,
    };
    let mut indices = indices::all(dims);
    for axis in axes {
        let wanted = format_args!("at most {}", dims.len());
        let list = indices.get_mut(axis);
        list.ok_or_else(|| errors::count("mask elements", axis + 1, wanted))?.reverse();
    }
    Ok(vec![output::chosen(cx, data, &indices)?.into()])
}

/// Shape of the first input, which has the axes.
pub fn roll(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    for axis in cx.known_integers(2).unwrap_or_default() {
        indices::axis(axis, dims.len())?;
    }
    Ok(vec![Fact::shaped(dims)])
}

/// Elements move along axes, and come in again at the other end.
pub fn run_roll(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let (shifts, axes) = (cx.integers(1)?, cx.integers(2)?);
    let axes = axes.iter().map(|&axis| indices::axis(axis, dims.len())).collect::<Computed<Vec<_>>>()?;
    if data.is_empty() {
        return Ok(vec![data.clone().into()]);
    }
    let places = dims.iter().fold(0usize, |sum, &size| sum.saturating_add(size));
    cx.reserve(convert::product(places, 2 * size_of::<usize>()))?;
    // The shifts of an axis that is named again add up.
    let mut by = vec![0; dims.len()];
    for (i, &axis) in axes.iter().enumerate() {
        let shift = if let [only] = shifts[..] { Some(only) } else { shifts.get(i).copied() };
        let shift = shift.ok_or_else(|| errors::count("shifts", shifts.len(), axes.len()))?;
        by[axis] = (by[axis] + usize_of_i64(shift.rem_euclid(i64_of(dims[axis]))).unwrap_or(0)) % dims[axis];
    }
    let along = |(&size, by): (&usize, usize)| match by {
        0 => Along::Steps(0, 1, size),
        _ => Along::List((size - by..size).chain(0..size - by).collect()),
    };
    let indices: Vec<_> = dims.iter().zip(by).map(along).collect();
    Ok(vec![output::chosen(cx, data, &indices)?.into()])
}

/// Shape of OpenVINO's `Reshape`: the elements of the second input.
pub fn reshape(cx: &mut InferContext<'_, '_>) -> InferResult {
    let Some(target) = cx.integers(1) else {
        let rank = cx.needed_len(1)?;
        let dims = cx.any_dims("the shape is not known before the run", rank);
        return like_first(cx, dims);
    };
    let copies = cx.attributes.flag("special_zero", false)?;
    reshape_to(cx, &target, if copies { ZeroSize::Copied } else { ZeroSize::Kept })
}

/// Named axes of other than one element are kept. One whose dimension is not known is taken to have
/// one, as OpenVINO does, unless the node says that it may be kept.
pub fn squeeze(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, skips) = (cx.dims(0)?, cx.attributes.flag("allow_axis_skip", false)?);
    let axes = named_axes(cx, dims.len()).map(|axes| axes.filter(|axes| !axes.is_empty()));
    let axes = match axes {
        Ok(Some(axes)) => axes,
        Err(stop) if skips => return Err(stop),
        other => return squeezed(cx, other),
    };
    let mut removed = Vec::new();
    for axis in indices::distinct_axes(&axes, dims.len())? {
        match dims[axis] {
            dim if cx.symbols().at_least(dim, 2) || dim == Dim::ZERO => {}
            dim if skips && dim != Dim::ONE => {
                return Err(InferError::OpenOutputs("a size that may be 1 decides the rank"));
            }
            _ => removed.push(i64_of(axis)),
        }
    }
    squeezed(cx, Ok(Some(removed)))
}

/// The axes that `Unsqueeze` adds, counted from the first one of the result. Negative ones are
/// counted from the rank with all that are listed, equal numbers once. Of those that are one axis
/// then, one is added, and one beyond the rank that is left is the last.
pub fn added_axes(axes: &[i64], rank: usize) -> Result<Vec<i64>> {
    let listed: BTreeSet<i64> = axes.iter().copied().collect();
    let all = rank + listed.len();
    let axes = indices::distinct_axes(&listed.into_iter().collect::<Vec<_>>(), all)?;
    let sorted: BTreeSet<usize> = axes.into_iter().collect();
    Ok(sorted.into_iter().enumerate().map(|(before, axis)| i64_of(axis.min(rank + before))).collect())
}

/// Shape of OpenVINO's `Unsqueeze`: the input's, with axes of size 1.
pub fn unsqueeze(cx: &mut InferContext<'_, '_>) -> InferResult {
    let rank = cx.dims(0)?.len();
    let all = rank + cx.len(1).unwrap_or(0);
    match named_axes(cx, all) {
        Ok(axes) => {
            let axes = added_axes(&axes.unwrap_or_default(), rank)?;
            unsqueezed(cx, Ok(axes))
        }
        // Two axes may be one.
        Err(stop) if cx.len(1).is_none_or(|count| count > 1) => Err(stop),
        Err(stop) => unsqueezed(cx, Err(stop)),
    }
}

/// Shape of OpenVINO's `Transpose`: the input's axes in the order of the second input.
pub fn transpose(cx: &mut InferContext<'_, '_>) -> InferResult {
    let Some(order) = cx.known_integers(1) else {
        let rank = cx.dims(0)?.len();
        let dims = cx.any_dims("the order of the axes is not known before the run", rank);
        return like_first(cx, dims);
    };
    turned(cx, Some(&order[..]).filter(|order| !order.is_empty()))
}

/// Shape of OpenVINO's `Broadcast`: the target shape, or both broadcast.
pub fn broadcast(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mode = words::BROADCAST_MODE.of(&cx.attributes)?;
    if mode == "bidirectional" {
        return expand(cx);
    }
    let by_last_axes = mode == "numpy";
    let Some(target) = cx.integers(1) else {
        let rank = cx.needed_len(1)?;
        let dims = cx.any_dims("the shape is not known before the run", rank);
        return like_first(cx, dims);
    };
    if by_last_axes {
        cx.broadcasts_to(0, &target)?;
    }
    spread(cx, &target)
}

/// Shape of OpenVINO's `Tile`: sizes times repeats; the shorter list is filled with ones.
pub fn tile(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let Some(repeats) = cx.integers(1) else {
        let rank = cx.needed_len(1)?.max(dims.len());
        let dims = cx.any_dims("the repeats are not known before the run", rank);
        return like_first(cx, dims);
    };
    let rank = dims.len().max(repeats.len());
    let filled = |list: &[Dim]| [vec![Dim::ONE; rank - list.len()], list.to_vec()].concat();
    repeated(cx, &filled(&dims), &filled(&repeats))
}

/// Shape of OpenVINO's `Pad`: each size plus its pads.
pub fn pad(cx: &mut InferContext<'_, '_>) -> InferResult {
    let rank = cx.dims(0)?.len();
    let (begins, ends) = (cx.integers(1), cx.integers(2));
    let (Some(begins), Some(ends)) = (begins, ends) else {
        let dims: Vec<_> =
            (0..rank).map(|_| cx.data("the pads are not known before the run", Bounds::SIZE)).collect();
        return like_first(cx, dims);
    };
    if begins.len() != rank || ends.len() != rank {
        return Err(errors::pads(begins.len(), ends.len(), rank).into());
    }
    let mode = words::PAD_KIND.of(&cx.attributes)?;
    padded(cx, &(0..rank).collect::<Vec<_>>(), [&begins, &ends], (mode, true), 3)
}

/// `Reshape` of OpenVINO, whose flag says what a zero means.
pub fn run_reshape(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let allow_zero = i64::from(!attributes.flag("special_zero", false)?);
    let target = cx.integers(1)?;
    if allow_zero != 0 && target.contains(&0) && target.contains(&-1) {
        return Err(errors::open_axis(0, "at least 1"));
    }
    let inputs = [input(cx, 0), integers(&target)];
    called(cx, layout::eval::reshape, vec![("allowzero", Content::Int(allow_zero))], &inputs)
}

/// `Squeeze` of OpenVINO, which keeps named axes of another size than 1.
pub fn run_squeeze(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let axes = if cx.has(1) { cx.integers(1)? } else { Vec::new() };
    let named = !axes.is_empty();
    let shape = cx.tensor(0)?.shape();
    let axes = indices::distinct_axes(&axes, shape.rank())?;
    let axes: Vec<_> = axes.into_iter().filter(|&axis| shape[axis] == 1).map(i64_of).collect();
    let inputs = [input(cx, 0), integers(&axes).filter(|_| named)];
    called(cx, layout::eval::squeeze, Vec::new(), &inputs)
}

/// `Unsqueeze` of OpenVINO, whose axes may be named twice.
pub fn run_unsqueeze(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let axes = added_axes(&cx.integers(1)?, data.shape().rank())?;
    Ok(vec![crate::reshape::unsqueezed(data, &axes)?.into()])
}

/// `Transpose` of OpenVINO, whose order is an input.
pub fn run_transpose(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let order = cx.integers(1)?;
    let attributes = if order.is_empty() { Vec::new() } else { vec![("perm", Content::Ints(order.into()))] };
    let inputs = [input(cx, 0)];
    called(cx, layout::eval::transpose, attributes, &inputs)
}

/// `Broadcast` of OpenVINO to a shape, in one of its modes.
pub fn run_broadcast(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let target = Shape::from_i64(&cx.integers(1)?)?;
    let dims = data.shape().dims();
    let seen = match words::BROADCAST_MODE.of(attributes)? {
        "bidirectional" => return layout::eval::expand(attributes, cx),
        "explicit" => {
            let axes = indices::axes(&cx.integers(2)?, target.rank())?;
            if axes.len() != dims.len() || !axes.is_sorted() {
                let wanted = format!("{} axes in ascending order", dims.len());
                return Err(errors::shape("axes mapping", format_args!("{axes:?}"), wanted));
            }
            let mut seen = vec![1; target.rank()];
            axes.iter().zip(dims).for_each(|(&axis, &size)| seen[axis] = size);
            seen
        }
        "pdpd" => {
            let last = target.rank().saturating_sub(dims.len());
            let start = attributes.int("axis")?.filter(|&axis| axis >= 0);
            let start = start.and_then(usize_of_i64).unwrap_or(last);
            let mut seen = [vec![1; start], dims.to_vec()].concat();
            seen.resize(target.rank().max(seen.len()), 1);
            seen
        }
        _ => dims.to_vec(),
    };
    let seen = data.reshaped(Shape::new(seen)?)?;
    if seen.shape().broadcast(&target)? != target {
        let wanted = format_args!("a shape that broadcasts to {target}");
        return Err(errors::shape("shape of the data", data.shape(), wanted));
    }
    let shape = allowed(cx, data.dtype(), target.dims())?;
    let places = indices::broadcast(seen.shape().dims(), target.dims());
    Ok(vec![seen.picked(shape, &places, &cx.limits())?.into()])
}

/// `Tile` of OpenVINO, whose repeats may be fewer or more than the axes.
pub fn run_tile(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, repeats) = (cx.tensor(0)?, cx.integers(1)?);
    let rank = data.shape().rank().max(repeats.len());
    let dims = [vec![1; rank - data.shape().rank()], data.shape().dims().to_vec()].concat();
    let repeats = [vec![1; rank - repeats.len()], repeats].concat();
    let inputs = [Some(data.reshaped(Shape::new(dims)?)?.into()), integers(&repeats)];
    called(cx, layout::eval::tile, Vec::new(), &inputs)
}

/// `Pad` of OpenVINO, whose begins and ends are inputs of their own.
pub fn run_pad(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (begins, ends) = (cx.integers(1)?, cx.integers(2)?);
    let dims = cx.tensor(0)?.shape().dims();
    if [begins.len(), ends.len()] != [dims.len(); 2] {
        return Err(errors::pads(begins.len(), ends.len(), dims.len()));
    }
    let mode = words::PAD_KIND.of(attributes)?;
    for (axis, &size) in dims.iter().enumerate() {
        layout::eval::check_pads(mode, axis, i64_of(size), [begins[axis], ends[axis]])?;
    }
    let inputs = [input(cx, 0), integers(&[begins, ends].concat()), input(cx, 3)];
    called(cx, layout::eval::pad, vec![("mode", Content::Bytes(mode.into()))], &inputs)
}
