//! Operators that give the same elements another shape, or repeat them.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `Reshape` | `Reshape` | 0 is the input's dimension only with `special_zero` |
//! | `Squeeze` | `Squeeze` | no axes are all of one element; named axes of other dimensions stay |
//! | `Unsqueeze` | `Unsqueeze` | axes that are named twice are added once |
//! | `Transpose` | `Transpose` | the order is an input; an empty one turns all axes |
//! | `Broadcast` | `Expand` | `numpy`: the target is the shape; `explicit`: and says which axes the input's are; `bidirectional` is `Expand` |
//! | `Tile` | `Tile` | fewer repeats or fewer axes are filled up with 1 in front |
//! | `Pad` | `Pad` | pads before and behind are two inputs; below 0 they cut |

use std::collections::BTreeSet;

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{Result, Shape, Value};

use crate::attributes::Attributes;
use crate::dialects::openvino::{called, input, integers};
use crate::dim::{Bounds, Dim};
use crate::errors;
use crate::indexing::infer::like_first;
use crate::infer::{InferContext, InferError, InferResult};
use crate::layout::infer::{
    expand, named_axes, padded, repeated, reshape_to, spread, squeezed, turned, unsqueezed,
};
use crate::op::EvalContext;
use crate::output::allowed;
use crate::{indices, layout};

pub fn reshape(cx: &mut InferContext<'_, '_>) -> InferResult {
    let Some(target) = cx.integers(1) else {
        let rank = cx.needed_len(1)?;
        let dims = cx.any_dims("the shape is not known before the run", rank);
        return like_first(cx, dims);
    };
    let allow_zero = !cx.attributes.flag("special_zero", false)?;
    reshape_to(cx, &target, allow_zero)
}

/// Named axes of other than one element stay. One whose dimension is not known is taken to have
/// one, as OpenVINO does, unless the node says that it may stay.
pub fn squeeze(cx: &mut InferContext<'_, '_>) -> InferResult {
    let axes = named_axes(cx).map(|axes| axes.filter(|axes| !axes.is_empty()));
    let (dims, skips) = (cx.dims(0)?, cx.attributes.flag("allow_axis_skip", false)?);
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
                return Err(InferError::unknown("a size that may be 1 decides the rank"));
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

pub fn unsqueeze(cx: &mut InferContext<'_, '_>) -> InferResult {
    let rank = cx.dims(0)?.len();
    match named_axes(cx) {
        Ok(axes) => {
            let axes = added_axes(&axes.unwrap_or_default(), rank)?;
            unsqueezed(cx, Ok(axes))
        }
        // Two axes may be one.
        Err(stop) if cx.len(1).is_none_or(|count| count > 1) => Err(stop),
        Err(stop) => unsqueezed(cx, Err(stop)),
    }
}

pub fn transpose(cx: &mut InferContext<'_, '_>) -> InferResult {
    let Some(order) = cx.known_integers(1) else {
        let rank = cx.dims(0)?.len();
        let dims = cx.any_dims("the order of the axes is not known before the run", rank);
        return like_first(cx, dims);
    };
    turned(cx, Some(&order[..]).filter(|order| !order.is_empty()))
}

pub fn broadcast(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mode = cx.attributes.text("mode")?;
    if mode == Some("bidirectional") {
        return expand(cx);
    }
    let by_last_axes = !matches!(mode, Some("explicit" | "pdpd"));
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
    let fill = cx.attributes.text("pad_mode")?.is_none_or(|mode| mode == "constant").then_some(3);
    padded(cx, &(0..rank).collect::<Vec<_>>(), &begins, &ends, fill)
}

pub fn run_reshape(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let allow_zero = i64::from(!attributes.flag("special_zero", false)?);
    let inputs = [input(cx, 0), integers(&cx.integers(1)?)];
    called(cx, layout::eval::reshape, vec![("allowzero", Content::Int(allow_zero))], &inputs)
}

pub fn run_squeeze(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let axes = if cx.has(1) { cx.integers(1)? } else { Vec::new() };
    let named = !axes.is_empty();
    let shape = cx.tensor(0)?.shape();
    let axes = indices::distinct_axes(&axes, shape.rank())?;
    let axes: Vec<_> = axes.into_iter().filter(|&axis| shape[axis] == 1).map(i64_of).collect();
    let inputs = [input(cx, 0), integers(&axes).filter(|_| named)];
    called(cx, layout::eval::squeeze, Vec::new(), &inputs)
}

pub fn run_unsqueeze(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let axes = added_axes(&cx.integers(1)?, data.shape().rank())?;
    Ok(vec![crate::reshape::unsqueezed(data, &axes)?.into()])
}

pub fn run_transpose(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let order = cx.integers(1)?;
    let attributes = if order.is_empty() { Vec::new() } else { vec![("perm", Content::Ints(order.into()))] };
    let inputs = [input(cx, 0)];
    called(cx, layout::eval::transpose, attributes, &inputs)
}

pub fn run_broadcast(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let target = Shape::from_i64(&cx.integers(1)?)?;
    let dims = data.shape().dims();
    let seen = match attributes.text("mode")?.unwrap_or("numpy") {
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

pub fn run_tile(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, repeats) = (cx.tensor(0)?, cx.integers(1)?);
    let rank = data.shape().rank().max(repeats.len());
    let dims = [vec![1; rank - data.shape().rank()], data.shape().dims().to_vec()].concat();
    let repeats = [vec![1; rank - repeats.len()], repeats].concat();
    let inputs = [Some(data.reshaped(Shape::new(dims)?)?.into()), integers(&repeats)];
    called(cx, layout::eval::tile, Vec::new(), &inputs)
}

pub fn run_pad(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (begins, ends) = (cx.integers(1)?, cx.integers(2)?);
    let rank = cx.tensor(0)?.shape().rank();
    if [begins.len(), ends.len()] != [rank; 2] {
        return Err(errors::pads(begins.len(), ends.len(), rank));
    }
    let mode = attributes.text("pad_mode")?.unwrap_or("constant").to_owned();
    let inputs = [input(cx, 0), integers(&[begins, ends].concat()), input(cx, 3)];
    called(cx, layout::eval::pad, vec![("mode", Content::Bytes(mode.into()))], &inputs)
}
