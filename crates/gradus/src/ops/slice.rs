//! Operators that take parts of tensors, or put tensors together.
//!
//! | operators | shape |
//! |---|---|
//! | `Slice` | along each axis, `ceil((end - start)/step)`, where bounds below 0 count from the end and all are clamped |
//! | `Split`, `Concat` | parts of an axis; the sum along an axis, other extents equal |
//! | `Gather`, `GatherElements`, `GatherND` | the indices' extents in place of those they choose from |
//! | `Scatter`, `ScatterElements`, `ScatterND`, `TensorScatter` | the first input's |
//! | `Transpose`, `Expand`, `Tile`, `Pad`, `CenterCropPad`, `ReverseSequence` | by axis |
//! | `DepthToSpace`, `SpaceToDepth`, `Compress` | by axis |

use std::sync::Arc;

use gradus_core::convert::usize_of_i64;

use super::elementwise::same;
use super::places;
use crate::dim::{Bounds, Dim};
use crate::fact::{Dims, Elements, Fact, TensorFact};
use crate::infer::{Cx, Outcome, Rules, Stop, microsoft, onnx};

pub(super) const RULES: &[Rules] = &[
    onnx(&["Transpose"], transpose),
    onnx(&["Expand"], expand),
    onnx(&["Tile"], tile),
    onnx(&["Concat"], concat),
    onnx(&["Split"], split),
    onnx(&["Slice"], slice),
    onnx(&["Gather"], gather),
    onnx(&["GatherElements"], |cx| {
        let indices = cx.dims(1)?;
        match cx.known_dims(0) {
            Some(data) if data.len() != indices.len() => Err(Stop::shape("data and indices differ in rank")),
            _ => Ok(vec![Fact::shaped(indices)]),
        }
    }),
    onnx(&["GatherND"], gather_nd),
    onnx(&["Scatter", "ScatterElements", "TensorScatter", "ReverseSequence"], same),
    onnx(&["ScatterND"], scatter_nd),
    onnx(&["Pad"], pad),
    onnx(&["CenterCropPad"], center_crop_pad),
    onnx(&["DepthToSpace"], depth_to_space),
    onnx(&["SpaceToDepth"], space_to_depth),
    onnx(&["Compress"], compress),
    microsoft(&["GatherND"], gather_nd),
    microsoft(&["QLinearConcat"], qlinear_concat),
    microsoft(&["Pad"], pad),
    microsoft(&["CropAndResize"], |_| Err(Stop::unknown("the shape is not modelled"))),
];

/// A tensor of the first input's element type.
pub(super) fn like_first(cx: &Cx<'_, '_>, dims: impl Into<Dims>) -> Outcome {
    with_elements(cx, dims, Elements::Unknown)
}

pub(super) fn with_elements(cx: &Cx<'_, '_>, dims: impl Into<Dims>, elements: Elements) -> Outcome {
    Ok(vec![Fact::Tensor(TensorFact { dtype: cx.dtype(0), dims: Some(dims.into()), elements })])
}

/// The elements that lie at these places of the first input.
pub(super) fn chosen(cx: &mut Cx<'_, '_>, places: impl FnOnce(&[usize]) -> Option<Vec<usize>>) -> Elements {
    let choose = |cx: &mut Cx<'_, '_>| {
        // What is long is evaluated, if it is known.
        let shape = cx.tensor(0)?.shape().filter(|shape| shape.len() <= crate::fact::MOST_INTEGERS)?;
        let all = cx.integers(0)?;
        let places = places(shape.dims())?;
        let each = places.into_iter().map(|place| all.get(place).copied());
        Some(Elements::Integers(each.collect::<Option<Dims>>()?))
    };
    choose(cx).unwrap_or_default()
}

fn transpose(cx: &mut Cx<'_, '_>) -> Outcome {
    let perm = cx.ints("perm");
    turned(cx, perm)
}

/// With the axes in that order, or from the last to the first.
pub(super) fn turned(cx: &mut Cx<'_, '_>, perm: Option<&[i64]>) -> Outcome {
    let dims = cx.dims(0)?;
    let perm = match perm {
        Some(perm) if perm.len() == dims.len() => cx.axes(perm, dims.len())?,
        Some(perm) => {
            let (count, rank) = (perm.len(), dims.len());
            return Err(Stop::shape(format!("{count} axes are put in order, but the input has {rank}")));
        }
        None => (0..dims.len()).rev().collect(),
    };
    let turned: Vec<_> = perm.iter().map(|&axis| dims[axis]).collect();
    // A tensor of one axis or none stays as it is.
    let elements = match dims.len() {
        0 | 1 => cx.elements(0),
        _ => chosen(cx, |dims| Some(places::turned(dims, &perm))),
    };
    with_elements(cx, turned, elements)
}

pub(super) fn expand(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let Some(target) = cx.integers(1) else {
        let len = cx.len(1).ok_or(Stop::Unknown(Some(1), "has an unknown number of elements".into()))?;
        let rank = len.max(dims.len());
        let all: Vec<_> = (0..rank)
            .map(|axis| match (axis + dims.len()).checked_sub(rank).map(|axis| dims[axis]) {
                Some(dim) if cx.symbols().at_least(dim, 2) || dim == Dim::ZERO => dim,
                _ => cx.data("the shape is not known before the run", Bounds::EXTENT),
            })
            .collect();
        return like_first(cx, all);
    };
    let all = cx.broadcast(&[dims.clone(), target])?;
    spread(cx, &all)
}

/// The first input's elements, broadcast to these extents.
pub(super) fn spread(cx: &mut Cx<'_, '_>, all: &[Dim]) -> Outcome {
    let dims = cx.dims(0)?;
    let count = crate::fact::known_shape(all).map(|shape| shape.len());
    let elements = match cx.integers(0).as_deref() {
        Some([only]) if count.is_some_and(|count| count <= crate::fact::MOST_INTEGERS) => {
            Elements::Integers(vec![*only; count.unwrap_or(0)].into())
        }
        Some([only]) => Elements::Progression(Arc::new((*only, Dim::ZERO))),
        _ if all[..] == dims[..] => cx.elements(0),
        _ => Elements::Unknown,
    };
    with_elements(cx, all, elements)
}

fn tile(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    // Version 1 repeats one axis.
    if cx.version == 1 {
        let axis = cx.known_integers(2).and_then(|axis| axis.first().copied());
        let (Some(times), Some(axis)) = (cx.integer(1), axis) else {
            let dims = cx.any_dims("the axis is not known before the run", dims.len());
            return like_first(cx, dims);
        };
        let axis = cx.axis(axis, dims.len())?;
        let mut all = dims.to_vec();
        all[axis] = cx.multiply(dims[axis], times);
        return like_first(cx, all);
    }
    let Some(repeats) = cx.integers(1) else {
        let dims = cx.any_dims("the repeats are not known before the run", dims.len());
        return like_first(cx, dims);
    };
    if repeats.len() != dims.len() {
        let (count, rank) = (repeats.len(), dims.len());
        return Err(Stop::shape(format!("there are {count} repeats, but the input has rank {rank}")));
    }
    repeated(cx, &dims, &repeats)
}

/// The first input with these extents, each axis so many times.
pub(super) fn repeated(cx: &mut Cx<'_, '_>, dims: &[Dim], repeats: &[Dim]) -> Outcome {
    let all: Vec<_> = dims.iter().zip(repeats.iter()).map(|(&dim, &times)| cx.multiply(dim, times)).collect();
    let elements = match (cx.integers(0), repeats) {
        (Some(elements), [Dim::Known(times)]) => match usize_of_i64(*times) {
            Some(times) if times.saturating_mul(elements.len()) <= crate::fact::MOST_INTEGERS => {
                Elements::Integers(std::iter::repeat_n(elements.iter().copied(), times).flatten().collect())
            }
            _ => Elements::Unknown,
        },
        _ => Elements::Unknown,
    };
    with_elements(cx, all, elements)
}

pub(super) fn concat(cx: &mut Cx<'_, '_>) -> Outcome {
    let axis = cx.int_or("axis", i64::from(cx.version == 1));
    let inputs: Vec<_> = (0..cx.count()).collect();
    joined(cx, &inputs, axis)
}

fn qlinear_concat(cx: &mut Cx<'_, '_>) -> Outcome {
    let inputs: Vec<_> = (2..cx.count()).step_by(3).collect();
    let axis = cx.int_or("axis", 0);
    let mut facts = joined(cx, &inputs, axis)?;
    if let [Fact::Tensor(fact)] = &mut facts[..] {
        fact.dtype = cx.dtype(2);
    }
    Ok(facts)
}

/// Inputs put one behind the other along an axis.
fn joined(cx: &mut Cx<'_, '_>, inputs: &[usize], axis: i64) -> Outcome {
    let known = inputs.iter().find_map(|&input| cx.known_dims(input));
    let first = inputs.first().copied().unwrap_or(0);
    let Some(known) = known else { return Err(Stop::Unknown(Some(first), "has unknown rank".into())) };
    let rank = known.len();
    let axis = cx.axis(axis, rank)?;
    let mut dims: Vec<Option<Dim>> = vec![None; rank];
    let mut total = Some(Dim::ZERO);
    for &input in inputs {
        let Some(own) = cx.known_dims(input) else {
            total = None;
            continue;
        };
        if own.len() != rank {
            let got = own.len();
            return Err(Stop::shape(format!("input {input} has rank {got}, but another has rank {rank}")));
        }
        for (at, &dim) in own.iter().enumerate() {
            if at == axis {
                total = total.map(|total| cx.add(total, dim));
            } else {
                dims[at] = Some(match dims[at] {
                    Some(before) => cx.equal(before, dim, "an axis beside the one of the concatenation")?,
                    None => dim,
                });
            }
        }
    }
    dims[axis] = Some(match total {
        Some(total) => total,
        None => cx.unknown("an input has unknown rank", Bounds::EXTENT),
    });
    let dims: Vec<_> = dims.into_iter().flatten().collect();
    let elements = joined_elements(cx, inputs, axis).unwrap_or_default();
    with_elements(cx, dims, elements)
}

fn joined_elements(cx: &mut Cx<'_, '_>, inputs: &[usize], axis: usize) -> Option<Elements> {
    let shapes = inputs.iter().map(|&input| cx.tensor(input)?.shape()).collect::<Option<Vec<_>>>()?;
    let count = shapes.iter().try_fold(0usize, |count, shape| count.checked_add(shape.len()))?;
    if count > crate::fact::MOST_INTEGERS {
        return None;
    }
    let lists = inputs.iter().map(|&input| cx.integers(input)).collect::<Option<Vec<_>>>()?;
    let dims: Vec<_> = shapes.iter().map(gradus_core::Shape::dims).collect();
    let each = places::joined(&dims, axis).into_iter().map(|(part, place)| lists[part][place]);
    Some(Elements::Integers(each.collect()))
}

fn split(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let axis = cx.axis(cx.int_or("axis", 0), dims.len())?;
    let whole = dims[axis];
    let count = cx.node.outputs.len();
    let sizes: Vec<Dim> = if let Some(split) = cx.ints("split") {
        split.iter().map(|&size| Dim::Known(size)).collect()
    } else if cx.has(1) {
        match cx.integers(1) {
            Some(sizes) => sizes.to_vec(),
            None => (0..count)
                .map(|_| cx.data("the parts are not known before the run", Bounds::EXTENT))
                .collect(),
        }
    } else {
        let parts = cx.int("num_outputs").and_then(usize_of_i64).unwrap_or(count).max(1);
        even_parts(cx, whole, parts)?
    };
    if sizes.len() < count {
        return Err(Stop::shape(format!("there are {count} outputs, but {} parts", sizes.len())));
    }
    if cx.ints("split").is_some() || cx.has(1) {
        let total = cx.symbols().total(sizes.iter().copied());
        let total = cx.or_fresh(total);
        cx.equal(total, whole, "the parts of an axis together")?;
    }
    parts_of(cx, &dims, axis, &sizes[..count])
}

/// That many equal parts of an axis; the last may be shorter in new versions.
fn even_parts(cx: &mut Cx<'_, '_>, whole: Dim, parts: usize) -> Result<Vec<Dim>, Stop> {
    let count = cx.node.outputs.len();
    let chunk = cx.ceil_divide(whole, Dim::from(parts));
    let even = cx.symbols().divides(Dim::from(parts), whole);
    let chunk = if even { cx.floor_divide(whole, Dim::from(parts)) } else { chunk };
    if !even && cx.version < 18 {
        let equal = cx.multiply(chunk, Dim::from(parts));
        cx.equal(equal, whole, "an axis that is split evenly")?;
    }
    let size = |part: usize| {
        // Short axes leave nothing for the last parts.
        let before = cx.multiply(chunk, Dim::from(part));
        let rest = cx.subtract(whole, before);
        let size = cx.least(chunk, rest);
        cx.greatest(size, Dim::ZERO)
    };
    // What no output takes is not listed: an attribute may name any number.
    let named = parts.min(count);
    Ok(if even { vec![chunk; named] } else { (0..named).map(size).collect() })
}

/// Parts of these sizes, one behind the other along an axis. None may be below zero, though others make up for it.
pub(super) fn parts_of(cx: &mut Cx<'_, '_>, dims: &[Dim], axis: usize, sizes: &[Dim]) -> Outcome {
    if let Some((part, size)) =
        sizes.iter().enumerate().find_map(|(part, size)| Some((part, size.known().filter(|&size| size < 0)?)))
    {
        return Err(Stop::shape(format!("part {part} has {size} elements")));
    }
    let mut start = Some(0);
    let mut facts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let mut part = dims.to_vec();
        part[axis] = size;
        let end =
            start.zip(size.known().and_then(usize_of_i64)).map(|(start, len): (usize, usize)| start + len);
        let range = start.zip(end).filter(|_| dims.len() == 1);
        let elements = match range {
            Some((start, end)) => chosen(cx, |_| Some((start..end).collect())),
            None => Elements::Unknown,
        };
        start = end;
        facts.push(Fact::Tensor(TensorFact { dtype: cx.dtype(0), dims: Some(part.into()), elements }));
    }
    Ok(facts)
}

/// Bounds beyond these mean "to the end": no tensor is that long, and exporters write them so.
const TO_THE_END: i64 = (1 << 31) - 1;

/// A slice along one axis: its extent, and its first element if that is known.
pub(super) struct Cut {
    pub(super) len: Dim,
    start: Option<Dim>,
}

/// A bound counted from the first element, if its sign is known.
fn from_first(cx: &mut Cx<'_, '_>, bound: Dim, len: Dim) -> Option<Dim> {
    if cx.symbols().at_least(bound, 0) {
        return Some(bound);
    }
    let negative = cx.symbols().bounds(bound).greatest().is_some_and(|most| most < 0);
    negative.then(|| cx.add(bound, len))
}

pub(super) fn cut(cx: &mut Cx<'_, '_>, len: Dim, start: Dim, end: Dim, step: i64) -> Option<Cut> {
    // What counts from the end: clamped, so that far bounds do not overflow.
    let far = |cx: &mut Cx<'_, '_>, bound: Dim| match bound {
        Dim::Known(value) if value <= -TO_THE_END => Some(None),
        Dim::Known(value) if value >= TO_THE_END => {
            if len.known().is_none() && value < i64::MAX {
                cx.assume(len, "<=", bound);
            }
            Some(Some(len))
        }
        bound => from_first(cx, bound, len).map(Some),
    };
    let (from, to) = (far(cx, start)?, far(cx, end)?);
    if step > 0 {
        let clamp = |cx: &mut Cx<'_, '_>, bound: Option<Dim>| match bound {
            None => Dim::ZERO,
            Some(bound) => {
                let raised = cx.greatest(bound, Dim::ZERO);
                cx.least(raised, len)
            }
        };
        let (from, to) = (clamp(cx, from), clamp(cx, to));
        let span = cx.subtract(to, from);
        let count = cx.ceil_divide(span, Dim::Known(step));
        return Some(Cut { len: cx.greatest(count, Dim::ZERO), start: Some(from) });
    }
    let last = cx.subtract(len, Dim::ONE);
    // A start before the first element is that, as `places::sliced` says; there is none of no elements.
    let from = match from {
        None => Dim::ZERO,
        Some(bound) => cx.greatest(bound, Dim::ZERO),
    };
    let from = cx.least(from, last);
    let to = match to {
        None => Dim::Known(-1),
        Some(bound) => {
            let raised = cx.greatest(bound, Dim::Known(-1));
            cx.least(raised, last)
        }
    };
    let span = cx.subtract(from, to);
    let count = cx.ceil_divide(span, Dim::Known(step.checked_neg()?));
    Some(Cut { len: cx.greatest(count, Dim::ZERO), start: Some(from) })
}

fn slice(cx: &mut Cx<'_, '_>) -> Outcome {
    sliced(cx, 3, 4)
}

/// Slices by the bounds that attributes or inputs name; which inputs name axes and steps, standards say differently.
pub(super) fn sliced(cx: &mut Cx<'_, '_>, axes_input: usize, steps_input: usize) -> Outcome {
    let dims = cx.dims(0)?;
    let list = |cx: &mut Cx<'_, '_>, name: &str, input: usize| -> Option<Dims> {
        match cx.ints(name) {
            Some(values) => Some(values.iter().map(|&value| Dim::Known(value)).collect()),
            None => cx.integers(input),
        }
    };
    let (starts, ends) = (list(cx, "starts", 1), list(cx, "ends", 2));
    let given = cx.has(axes_input) || cx.ints("axes").is_some();
    let axes = if given { list(cx, "axes", axes_input) } else { None };
    let known = |dims: &Dims| dims.iter().map(|dim| dim.known()).collect::<Option<Vec<_>>>();
    let axes: Option<Vec<usize>> = match (given, axes.as_ref().and_then(known)) {
        (true, Some(axes)) => Some(cx.axes(&axes, dims.len())?),
        (true, None) => None,
        (false, _) => {
            let count =
                starts.as_ref().map(|starts| starts.len()).or_else(|| cx.len(1)).unwrap_or(dims.len());
            Some((0..count.min(dims.len())).collect())
        }
    };
    let Some(axes) = axes else {
        let all: Vec<_> =
            dims.iter().map(|&dim| shorter(cx, dim, "the axes are not known before the run")).collect();
        return like_first(cx, all);
    };
    let steps = if cx.has(steps_input) { cx.known_integers(steps_input) } else { Some(vec![1; axes.len()]) };
    let counts = [starts.as_ref().map(|all| all.len()), ends.as_ref().map(|all| all.len())];
    let mut counts = counts.into_iter().chain([steps.as_ref().map(Vec::len)]).flatten();
    if let Some(count) = counts.find(|&count| count != axes.len()) {
        return Err(Stop::shape(format!("{count} bounds or steps are given for {} axes", axes.len())));
    }
    let mut all = dims.to_vec();
    let mut first = None;
    for (i, &axis) in axes.iter().enumerate() {
        let bound = |all: &Option<Dims>| all.as_ref().and_then(|all| all.get(i).copied());
        let step = steps.as_ref().and_then(|steps| steps.get(i).copied()).filter(|&step| step != i64::MIN);
        if step == Some(0) {
            return Err(Stop::shape("a step is 0"));
        }
        let cut = match (bound(&starts), bound(&ends), step) {
            (Some(start), Some(end), Some(step)) => cut(cx, dims[axis], start, end, step),
            _ => None,
        };
        let determined =
            bound(&starts).into_iter().chain(bound(&ends)).all(|dim| cx.symbols().rank(dim).0 < 2);
        (all[axis], first) = match cut {
            Some(cut) => (cut.len, cut.start),
            None if determined && step.is_some() && starts.is_some() && ends.is_some() => {
                let bounds = Bounds::between(Some(0), cx.symbols().bounds(dims[axis]).greatest());
                (cx.unknown("whether a bound of the slice counts from the end is not known", bounds), None)
            }
            None => (shorter(cx, dims[axis], "the bounds are not known before the run"), None),
        };
    }
    let mut elements = Elements::Unknown;
    if dims.len() == 1
        && let (Some(first), Some(step)) = (first, steps.as_ref().and_then(|steps| steps.first().copied()))
    {
        elements = match cx.elements(0) {
            Elements::Progression(both) => {
                let (base, by) = *both;
                let offset = cx.multiply(by, first);
                let both = (cx.add(base, offset), cx.multiply(by, Dim::Known(step)));
                Elements::Progression(Arc::new(both))
            }
            _ => Elements::Unknown,
        };
    }
    if elements == Elements::Unknown
        && let (Some(starts), Some(ends), Some(steps)) =
            (starts.as_ref().and_then(known), ends.as_ref().and_then(known), steps)
    {
        elements = chosen(cx, |dims| {
            let mut indices = places::all(dims);
            for (i, &axis) in axes.iter().enumerate() {
                indices[axis] =
                    places::sliced(dims[axis], *starts.get(i)?, *ends.get(i)?, *steps.get(i)?).ok()?;
            }
            Some(places::chosen(dims, &indices))
        });
    }
    with_elements(cx, all, elements)
}

/// An extent that is at most another.
fn shorter(cx: &mut Cx<'_, '_>, dim: Dim, why: &str) -> Dim {
    let most = cx.symbols().bounds(dim).greatest();
    cx.data(why, Bounds::between(Some(0), most))
}

fn gather(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let axis = cx.axis(cx.int_or("axis", 0), dims.len())?;
    if let (Some(extent), Some(indices)) = (dims[axis].known().and_then(usize_of_i64), cx.known_integers(1)) {
        indices.iter().try_for_each(|&index| places::index(index, extent).map(|_| ()))?;
    }
    gathered(cx, axis, 0)
}

/// What the indices choose along an axis; the first axes of both are the same, if they are a batch.
pub(super) fn gathered(cx: &mut Cx<'_, '_>, axis: usize, batch: usize) -> Outcome {
    let (dims, indices) = (cx.dims(0)?, cx.dims(1)?);
    if batch > axis || batch > indices.len() {
        return Err(Stop::shape(format!(
            "the batch has {batch} axes, but the indices choose along axis {axis}"
        )));
    }
    let chosen_dims = indices[batch..].iter();
    let all: Vec<_> = dims[..axis].iter().chain(chosen_dims).chain(&dims[axis + 1..]).copied().collect();
    let mut elements = Elements::Unknown;
    if batch == 0
        && let Some(indices) = cx.known_integers(1)
    {
        elements = match cx.elements(0) {
            Elements::Progression(both) if dims.len() == 1 => {
                let (first, step) = *both;
                let each = indices.iter().map(|&index| {
                    let place = if index < 0 {
                        cx.symbols().add(dims[0], Dim::Known(index))?
                    } else {
                        Dim::Known(index)
                    };
                    let far = cx.symbols().multiply(step, place)?;
                    cx.symbols().add(first, far)
                });
                each.collect::<Option<Dims>>().map_or(Elements::Unknown, Elements::Integers)
            }
            _ => chosen(cx, |dims| {
                let extent = dims[axis];
                let mut all = places::all(dims);
                all[axis] =
                    indices.iter().map(|&index| places::index(index, extent).ok()).collect::<Option<_>>()?;
                Some(places::chosen(dims, &all))
            }),
        };
    }
    with_elements(cx, all, elements)
}

pub(super) fn gather_nd(cx: &mut Cx<'_, '_>) -> Outcome {
    let (dims, indices) = (cx.dims(0)?, cx.dims(1)?);
    let batch = usize_of_i64(cx.int_or("batch_dims", 0)).unwrap_or(0);
    let Some((last, before)) = indices.split_last() else {
        return Err(Stop::shape("the indices are a scalar"));
    };
    let Some(depth) = last.known().and_then(usize_of_i64) else {
        return Err(Stop::Unknown(Some(1), "has an unknown last extent, which decides the rank".into()));
    };
    let Some(rest) = dims.get(batch + depth..) else {
        let rank = dims.len();
        return Err(Stop::shape(format!("indices of {depth} axes after {batch} do not fit rank {rank}")));
    };
    let all: Vec<_> = before.iter().chain(rest).copied().collect();
    let mut elements = Elements::Unknown;
    if batch == 0 && depth == 1 && dims.len() == 1 {
        let count = dims[0].known();
        if let Some(places) = cx.known_integers(1) {
            elements = chosen(cx, |_| {
                places
                    .iter()
                    .map(|&place| usize_of_i64(if place < 0 { place + count? } else { place }))
                    .collect()
            });
        }
    }
    with_elements(cx, all, elements)
}

pub(super) fn scatter_nd(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let plain = cx.text("reduction").is_none_or(|reduction| reduction == "none");
    let put = |cx: &mut Cx<'_, '_>| {
        let [Dim::Known(len)] = *dims else { return None };
        let [_, Dim::ONE] = *cx.known_dims(1)? else { return None };
        let (mut all, places, updates) = (cx.integers(0)?.to_vec(), cx.known_integers(1)?, cx.integers(2)?);
        for (&place, &update) in places.iter().zip(updates.iter()) {
            let place = usize_of_i64(if place < 0 { place + len } else { place })?;
            *all.get_mut(place)? = update;
        }
        Some(Elements::Integers(all.into()))
    };
    let elements = if plain { put(cx) } else { None };
    with_elements(cx, dims.clone(), elements.unwrap_or_default())
}

fn pad(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let given = cx.ints("pads").or_else(|| cx.ints("paddings"));
    let pads: Option<Dims> = match given {
        Some(pads) => Some(pads.iter().map(|&pad| Dim::Known(pad)).collect()),
        None => cx.integers(1),
    };
    let axes = if cx.has(3) {
        match cx.known_integers(3) {
            Some(axes) => Some(cx.axes(&axes, dims.len())?),
            None => None,
        }
    } else {
        Some((0..dims.len()).collect())
    };
    let (Some(pads), Some(axes)) = (pads, axes) else {
        let dims = cx.any_dims("the pads are not known before the run", dims.len());
        return like_first(cx, dims);
    };
    if pads.len() != 2 * axes.len() {
        let (count, axes) = (pads.len(), axes.len());
        return Err(Stop::shape(format!("there are {count} pads for {axes} axes")));
    }
    let (begins, ends) = pads.split_at(axes.len());
    padded(cx, &axes, begins, ends)
}

/// The first input with so much more before and behind along these axes.
pub(super) fn padded(cx: &mut Cx<'_, '_>, axes: &[usize], begins: &[Dim], ends: &[Dim]) -> Outcome {
    let mut all = cx.dims(0)?.to_vec();
    for (&axis, (&begin, &end)) in axes.iter().zip(begins.iter().zip(ends)) {
        let both = cx.add(begin, end);
        all[axis] = cx.add(all[axis], both);
    }
    like_first(cx, all)
}

fn center_crop_pad(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0)?;
    let axes = match cx.ints("axes") {
        Some(axes) => cx.axes(axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    let target = cx.integers(1);
    let mut all = dims.to_vec();
    for (i, &axis) in axes.iter().enumerate() {
        all[axis] = match target.as_ref().and_then(|target| target.get(i)) {
            Some(&dim) => dim,
            None => cx.data("the shape is not known before the run", Bounds::EXTENT),
        };
    }
    like_first(cx, all)
}

fn block(cx: &Cx<'_, '_>) -> Result<Dim, Stop> {
    match cx.int("blocksize") {
        Some(size) if size > 0 => Ok(Dim::Known(size)),
        _ => Err(Stop::shape("attribute \"blocksize\" is missing or not above 0")),
    }
}

fn depth_to_space(cx: &mut Cx<'_, '_>) -> Outcome {
    let (dims, block) = (cx.dims_of_rank(0, 4)?, block(cx)?);
    let square = cx.multiply(block, block);
    let all =
        [dims[0], cx.floor_divide(dims[1], square), cx.multiply(dims[2], block), cx.multiply(dims[3], block)];
    like_first(cx, all)
}

fn space_to_depth(cx: &mut Cx<'_, '_>) -> Outcome {
    let (dims, block) = (cx.dims_of_rank(0, 4)?, block(cx)?);
    let square = cx.multiply(block, block);
    let all = [
        dims[0],
        cx.multiply(dims[1], square),
        cx.floor_divide(dims[2], block),
        cx.floor_divide(dims[3], block),
    ];
    like_first(cx, all)
}

fn compress(cx: &mut Cx<'_, '_>) -> Outcome {
    let dims = cx.dims(0);
    let Some(axis) = cx.int("axis") else {
        let most = match dims {
            Ok(dims) => {
                let count = cx.product(&dims.clone());
                cx.symbols().bounds(count).greatest()
            }
            Err(_) => None,
        };
        let count = cx.data("how many elements are chosen", Bounds::between(Some(0), most));
        return like_first(cx, [count]);
    };
    let dims = dims?;
    let axis = cx.axis(axis, dims.len())?;
    let mut all = dims.to_vec();
    all[axis] = shorter(cx, dims[axis], "how many elements are chosen");
    like_first(cx, all)
}
