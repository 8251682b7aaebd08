//! Operators that take parts of tensors, or put parts into them.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `Gather` | `Gather` | the axis is an input; `batch_dims` |
//! | `GatherND` | `GatherND` | version 5 makes one axis of those of the batch |
//! | `Slice` | `Slice` | steps come before axes |
//! | `StridedSlice` | `Slice` | masks: bounds to ignore, axes that are new, go, or stand for all that are left |
//! | `Split`, `VariadicSplit` | `Split` | the axis is an input; one length may be -1 |

use gradus_core::DType;
use gradus_core::convert::{i64_of, usize_of_i64};

use super::super::network::of;
use super::super::places;
use super::super::slice::{
    chosen, cut, gather_nd, gathered, like_first, parts_of, scatter_nd, sliced, with_elements,
};
use super::shapes::rank_of;
use crate::dim::{Bounds, Dim};
use crate::fact::{Dims, Fact, TensorFact};
use crate::infer::{Cx, Outcome, Rules, Stop, openvino};

pub(in super::super) const RULES: &[Rules] = &[
    openvino(&["Gather"], gather),
    openvino(&["GatherElements"], |cx| {
        let dims = cx.dims(1)?;
        like_first(cx, dims)
    }),
    openvino(&["GatherND"], gather_nd_merged),
    openvino(&["Slice"], |cx| sliced(cx, 4, 3)),
    openvino(&["StridedSlice"], strided_slice),
    openvino(&["Split"], split),
    openvino(&["VariadicSplit"], variadic_split),
    openvino(&["ScatterNDUpdate"], scatter_nd),
    openvino(&["OneHot"], one_hot),
    openvino(&["DepthToSpace", "SpaceToDepth"], blocks),
    openvino(&["Eye"], eye),
    openvino(&["RandomUniform"], |cx| {
        let dtype = cx.type_of("output_type");
        let dims = match cx.integers(0) {
            Some(dims) => dims,
            None => {
                let rank = rank_of(cx, 0)?;
                cx.any_dims("the shape is not known before the run", rank).into()
            }
        };
        Ok(vec![of(dtype, dims)])
    }),
];

fn gather(cx: &mut Cx<'_, '_>) -> Outcome {
    let (rank, indices) = (cx.dims(0)?.len(), cx.dims(1)?.len());
    let batch = cx.int_or("batch_dims", 0);
    let batch = if batch < 0 { batch.saturating_add(i64_of(indices)) } else { batch };
    let batch = usize_of_i64(batch).ok_or_else(|| Stop::shape("the batch has fewer than 0 axes"))?;
    let Some(axis) = cx.integer(2).and_then(Dim::known) else {
        let rank = (rank + indices).saturating_sub(1 + batch);
        let dims = cx.any_dims("the axis is not known before the run", rank);
        return like_first(cx, dims);
    };
    let axis = cx.axis(axis, rank)?;
    gathered(cx, axis, batch)
}

fn gather_nd_merged(cx: &mut Cx<'_, '_>) -> Outcome {
    let mut facts = gather_nd(cx)?;
    let batch = usize_of_i64(cx.int_or("batch_dims", 0)).unwrap_or(0);
    if cx.node.version == Some(5)
        && batch > 1
        && let [Fact::Tensor(TensorFact { dims: Some(dims), .. })] = &mut facts[..]
        && dims.len() >= batch
    {
        let whole = cx.product(&dims[..batch].to_vec());
        *dims = std::iter::once(whole).chain(dims[batch..].iter().copied()).collect();
    }
    Ok(facts)
}

/// What a strided slice does at one place of its bounds.
enum Stride {
    /// Slices the axis: from, to, step.
    Cut(usize, [Dim; 3]),
    /// A new axis of one element.
    New,
    /// Takes one element of the axis, which goes.
    Shrink(usize, Dim),
    /// Leaves the axis as it is.
    Keep(usize),
}

fn strided_slice(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let masks = ["begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"];
    let masks = masks.map(|name| cx.list(name).unwrap_or_default());
    let set = |mask: &[i64], at: usize| mask.get(at).is_some_and(|&bit| bit != 0);
    let [begin_mask, end_mask, new_mask, shrink_mask, ellipsis_mask] = &masks;
    let (begins, ends) = (cx.integers(1), cx.integers(2));
    let count = match (&begins, &ends) {
        (Some(list), _) | (_, Some(list)) => list.len(),
        _ => rank_of(cx, 1)?,
    };
    let steps = if cx.has(3) { cx.known_integers(3) } else { Some(vec![1; count]) };
    let consumed = (0..count).filter(|&at| !set(new_mask, at) && !set(ellipsis_mask, at)).count();
    let hidden = dims.len().checked_sub(consumed).ok_or_else(|| {
        Stop::shape(format!("there are bounds for {consumed} axes, but the input has rank {}", dims.len()))
    })?;
    let mut plan = Vec::new();
    let mut axis = 0;
    for at in 0..count {
        if set(ellipsis_mask, at) {
            plan.extend((axis..axis + hidden).map(Stride::Keep));
            axis += hidden;
            continue;
        }
        if set(new_mask, at) {
            plan.push(Stride::New);
            continue;
        }
        let step = steps.as_ref().and_then(|steps| steps.get(at).copied());
        let bound = |list: &Option<Dims>| list.as_ref().and_then(|list| list.get(at).copied());
        let (first, last) =
            if step.is_some_and(|step| step < 0) { (i64::MAX, i64::MIN) } else { (0, i64::MAX) };
        let begin = if set(begin_mask, at) { Some(Dim::Known(first)) } else { bound(&begins) };
        let end = if set(end_mask, at) { Some(Dim::Known(last)) } else { bound(&ends) };
        // Steps that are not known, and bounds, make an extent that the data decide; so does a step of 0, here.
        let unknown = Dim::ZERO;
        plan.push(match (begin, end, step) {
            (begin, _, _) if set(shrink_mask, at) => {
                Stride::Shrink(axis, begin.unwrap_or(Dim::Known(i64::MIN)))
            }
            (Some(begin), Some(end), Some(step)) => Stride::Cut(axis, [begin, end, Dim::Known(step)]),
            _ => Stride::Cut(axis, [unknown; 3]),
        });
        axis += 1;
    }
    plan.extend((axis..dims.len()).map(Stride::Keep));
    let mut all = Vec::new();
    for stride in &plan {
        all.extend(match *stride {
            Stride::New => Some(Dim::ONE),
            Stride::Keep(axis) => Some(dims[axis]),
            Stride::Shrink(..) => None,
            Stride::Cut(axis, [begin, end, step]) => {
                let step = step.known().filter(|&step| step != 0 && step != i64::MIN);
                let found = step.and_then(|step| cut(cx, dims[axis], begin, end, step));
                let most = cx.symbols().bounds(dims[axis]).greatest();
                Some(match found {
                    Some(cut) => cut.len,
                    None => {
                        cx.data("the bounds are not known before the run", Bounds::between(Some(0), most))
                    }
                })
            }
        });
    }
    let elements = chosen(cx, |dims| {
        let mut indices = places::all(dims);
        for stride in &plan {
            match *stride {
                Stride::Cut(axis, bounds) => {
                    let [begin, end, step] = bounds.map(Dim::known);
                    indices[axis] = places::sliced(dims[axis], begin?, end?, step?).ok()?;
                }
                Stride::Shrink(axis, at) => {
                    indices[axis] = vec![places::index(at.known()?, dims[axis]).ok()?]
                }
                Stride::New | Stride::Keep(_) => {}
            }
        }
        Some(places::chosen(dims, &indices))
    });
    with_elements(cx, all, elements)
}

/// The axis that the second input names, or as many unknown shapes as there are outputs.
fn named_axis(cx: &mut Cx<'_, '_>) -> Result<Result<usize, Vec<Fact>>, Stop> {
    let rank = cx.dims(0)?.len();
    if let Some(axis) = cx.integer(1).and_then(Dim::known) {
        return Ok(Ok(cx.axis(axis, rank)?));
    }
    let dtype = cx.dtype(0);
    let facts = (0..cx.node.outputs.len())
        .map(|_| of(dtype, cx.any_dims("the axis is not known before the run", rank)))
        .collect();
    Ok(Err(facts))
}

fn split(cx: &mut Cx<'_, '_>) -> Outcome {
    let axis = match named_axis(cx)? {
        Ok(axis) => axis,
        Err(facts) => return Ok(facts),
    };
    let dims = cx.dims(0)?;
    let count = cx.node.outputs.len();
    let parts = cx.int("num_splits").filter(|&parts| parts > 0).unwrap_or(i64_of(count));
    let size = cx.floor_divide(dims[axis], Dim::Known(parts));
    let whole = cx.multiply(size, Dim::Known(parts));
    cx.equal(whole, dims[axis], "an axis that is split evenly")?;
    Ok(parts_of(cx, &dims, axis, &vec![size; count]))
}

fn variadic_split(cx: &mut Cx<'_, '_>) -> Outcome {
    let axis = match named_axis(cx)? {
        Ok(axis) => axis,
        Err(facts) => return Ok(facts),
    };
    let dims = cx.dims(0)?;
    let count = cx.node.outputs.len();
    let Some(lengths) = cx.integers(2) else {
        let sizes: Vec<_> =
            (0..count).map(|_| cx.data("the parts are not known before the run", Bounds::EXTENT)).collect();
        return Ok(parts_of(cx, &dims, axis, &sizes));
    };
    if lengths.len() != count {
        return Err(Stop::shape(format!("there are {count} outputs, but {} lengths", lengths.len())));
    }
    let mut sizes = lengths.to_vec();
    let open = sizes.iter().position(|&size| size == Dim::Known(-1));
    let others = sizes.iter().enumerate().filter(|(i, _)| Some(*i) != open).map(|(_, size)| *size);
    let total = cx.symbols().total(others.collect::<Vec<_>>());
    let total = cx.or_fresh(total);
    match open {
        Some(open) => sizes[open] = cx.subtract(dims[axis], total),
        None => {
            cx.equal(total, dims[axis], "the parts of an axis together")?;
        }
    }
    Ok(parts_of(cx, &dims, axis, &sizes))
}

fn one_hot(cx: &mut Cx<'_, '_>) -> Outcome {
    let mut all = cx.dims(0)?.to_vec();
    let axis = cx.axis(cx.int_or("axis", -1), all.len() + 1)?;
    let depth = match cx.integer(1) {
        Some(depth) => depth,
        None => cx.data("the depth is not known before the run", Bounds::EXTENT),
    };
    all.insert(axis, depth);
    Ok(vec![of(cx.dtype(2), all)])
}

/// Channels to blocks of the spatial axes, or back.
fn blocks(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let ([batch, channels, spatial @ ..], block @ 1..) = (&*dims, cx.int_or("block_size", 1)) else {
        return Err(Stop::shape("batch, channels and a block size above 0 are wanted"));
    };
    let block = Dim::Known(block);
    let size = cx.product(&vec![block; spatial.len()]);
    let spread = cx.operator == "DepthToSpace";
    let mut all = vec![*batch];
    all.push(if spread { cx.floor_divide(*channels, size) } else { cx.multiply(*channels, size) });
    for &extent in spatial {
        all.push(if spread { cx.multiply(extent, block) } else { cx.floor_divide(extent, block) });
    }
    like_first(cx, all)
}

fn eye(cx: &mut Cx<'_, '_>) -> Outcome {
    let dtype = cx.type_of("output_type").or(Some(DType::I32));
    let mut all = match cx.has(3) {
        true => match cx.integers(3) {
            Some(batch) => batch.to_vec(),
            None => {
                let rank = rank_of(cx, 3)?;
                cx.any_dims("the batch is not known before the run", rank)
            }
        },
        false => Vec::new(),
    };
    for input in [0, 1] {
        all.push(match cx.integer(input) {
            Some(extent) => extent,
            None => cx.data("the extents are not known before the run", Bounds::EXTENT),
        });
    }
    Ok(vec![of(dtype, all)])
}
