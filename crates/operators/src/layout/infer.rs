//! Rules of operators that move, repeat, join and split elements.
//!
//! | operators | shape |
//! |---|---|
//! | `Split`, `Concat` | parts of an axis; the sum along an axis, other dimensions equal |
//! | `Transpose`, `Expand`, `Tile`, `Pad`, `CenterCropPad`, `ReverseSequence` | by axis |
//! | `DepthToSpace`, `SpaceToDepth` | by axis |

use std::sync::Arc;

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::{Error, Kind, Shape};

use crate::attributes::required;
use crate::dim::{Bounds, Condition, Dim, Relation};
use crate::fact::{Dims, Elements, Extremes, Fact, TensorFact};
use crate::indexing::infer::{chosen, like_first, require_up_to, with_elements};
use crate::indices::Along;
use crate::infer::{InferContext, InferError, InferResult};
use crate::layout::eval::{check_pads, parts_of_split};
use crate::normalize::Older;
use crate::{errors, indices};

/// Shape of `Transpose`: the input's axes in another order.
pub fn transpose(cx: &mut InferContext<'_, '_>) -> InferResult {
    let perm = cx.attributes.ints("perm")?;
    turned(cx, perm)
}

/// With the axes in that order, or from the last to the first.
pub fn turned(cx: &mut InferContext<'_, '_>, perm: Option<&[i64]>) -> InferResult {
    let dims = cx.dims(0)?;
    let perm = match perm {
        Some(perm) if perm.len() == dims.len() => indices::axes(perm, dims.len())?,
        Some(perm) => {
            return Err(errors::count("axes in the permutation", perm.len(), dims.len()).into());
        }
        None => (0..dims.len()).rev().collect(),
    };
    let turned: Vec<_> = perm.iter().map(|&axis| dims[axis]).collect();
    // A tensor of one axis or none stays as it is.
    let elements = match dims.len() {
        0 | 1 => cx.elements(0),
        _ => match chosen(cx, |dims| Some(indices::turned(dims, &perm))) {
            Elements::Extremes(_) => cx.moved(0, true),
            elements => elements,
        },
    };
    with_elements(cx, turned, elements)
}

/// Shape of `Expand`: the input's, broadcast with the elements of the second.
pub fn expand(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let Some(target) = cx.integers(1) else {
        let len = cx.needed_len(1)?;
        let rank = len.max(dims.len());
        let all: Vec<_> = (0..rank)
            .map(|axis| match (axis + dims.len()).checked_sub(rank).map(|axis| dims[axis]) {
                Some(dim) if cx.symbols().at_least(dim, 2) || dim == Dim::ZERO => dim,
                _ => cx.data("the shape is not known before the run", Bounds::SIZE),
            })
            .collect();
        return like_first(cx, all);
    };
    let all = cx.broadcast(&[dims.clone(), target])?;
    spread(cx, &all)
}

/// The first input's elements, broadcast to these dimensions.
pub fn spread(cx: &mut InferContext<'_, '_>, all: &[Dim]) -> InferResult {
    let dims = cx.dims(0)?;
    let count = crate::fact::known_shape(all).map(|shape| shape.len());
    let elements = match cx.integers(0).as_deref() {
        Some([only]) if count.is_some_and(|count| count <= crate::fact::MAX_INTEGERS) => {
            Elements::Integers(vec![*only; count.unwrap_or(0)].into())
        }
        Some([only]) => Elements::Progression(Arc::new((*only, Dim::ZERO))),
        _ if all[..] == dims[..] => cx.elements(0),
        _ => cx.moved(0, true),
    };
    with_elements(cx, all, elements)
}

/// Shape of `Tile`: each size times its number of repeats.
pub fn tile(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    // Version 1 repeats one axis.
    if cx.attributes.form().is(Older::OneAxis) {
        cx.one_element(1)?;
        cx.one_element(2)?;
        let axis = cx.known_integers(2).and_then(|axis| axis.first().copied());
        let (Some(times), Some(axis)) = (cx.integer(1), axis) else {
            let dims = cx.any_dims("the axis is not known before the run", dims.len());
            return like_first(cx, dims);
        };
        let axis = indices::axis(axis, dims.len())?;
        let mut all = dims.to_vec();
        all[axis] = cx.multiply(dims[axis], times);
        return like_first(cx, all);
    }
    let Some(repeats) = cx.integers(1) else {
        cx.elements_of(1, i64_of(dims.len()))?;
        cx.require_of_values("repeats are at least 0".to_owned());
        let dims = cx.any_dims("the repeats are not known before the run", dims.len());
        return like_first(cx, dims);
    };
    errors::expect_count("repeats", repeats.len(), dims.len())?;
    for times in cx.told_integers(1) {
        cx.require(times, Relation::AtLeast, Dim::ZERO);
    }
    repeated(cx, &dims, &repeats)
}

/// The first input with these dimensions, each axis repeated as often as `repeats` says.
pub fn repeated(cx: &mut InferContext<'_, '_>, dims: &[Dim], repeats: &[Dim]) -> InferResult {
    if let Some(times) = repeats.iter().filter_map(|times| times.known()).find(|&times| times < 0) {
        return Err(Error::mismatch(Kind::Value, "a number of repeats", times, "at least 0").into());
    }
    let all: Vec<_> = dims.iter().zip(repeats.iter()).map(|(&dim, &times)| cx.multiply(dim, times)).collect();
    let elements = match (cx.integers(0), repeats) {
        (Some(elements), [Dim::Known(times)]) => {
            // A list without elements may be repeated any number of times.
            match usize_of_i64(*times).map(|times| times.saturating_mul(elements.len())) {
                Some(count) if count <= crate::fact::MAX_INTEGERS => {
                    Elements::Integers(elements.iter().copied().cycle().take(count).collect())
                }
                _ => cx.moved(0, true),
            }
        }
        _ => cx.moved(0, true),
    };
    with_elements(cx, all, elements)
}

/// Shape of `Concat`: the inputs', with the sum of their sizes along the axis.
pub fn concat(cx: &mut InferContext<'_, '_>) -> InferResult {
    let axis = required("axis", cx.attributes.int("axis")?)?;
    let inputs: Vec<_> = (0..cx.count()).collect();
    joined(cx, &inputs, axis)
}

/// Shape of `QLinearConcat`: the tensors', with the sum of their sizes along the axis.
pub fn qlinear_concat(cx: &mut InferContext<'_, '_>) -> InferResult {
    let inputs: Vec<_> = (2..cx.count()).step_by(3).collect();
    let axis = cx.attributes.int_or("axis", 0)?;
    let mut facts = joined(cx, &inputs, axis)?;
    if let [Fact::Tensor(fact)] = &mut facts[..] {
        // Codes are scaled again, so that elements do not stay what they are.
        *fact = TensorFact { dtype: cx.dtype(2), elements: Elements::Unknown, ..fact.clone() };
    }
    Ok(facts)
}

/// Inputs put one after the other along an axis.
fn joined(cx: &mut InferContext<'_, '_>, inputs: &[usize], axis: i64) -> InferResult {
    let known = inputs.iter().find_map(|&input| cx.known_dims(input));
    let first = inputs.first().copied().unwrap_or(0);
    let known = known.ok_or(InferError::input(first, "has unknown rank"))?;
    let rank = known.len();
    let axis = indices::axis(axis, rank)?;
    let mut dims: Vec<Option<Dim>> = vec![None; rank];
    let mut total = Some(Dim::ZERO);
    for &input in inputs {
        let Some(own) = cx.known_dims(input) else {
            total = None;
            continue;
        };
        errors::expect_rank("a tensor to concatenate", own.len(), rank)?;
        for (at, &dim) in own.iter().enumerate() {
            if at == axis {
                total = total.map(|total| cx.add(total, dim));
            } else {
                dims[at] = Some(match dims[at] {
                    Some(before) => cx.equal(before, dim, errors::beside(at))?,
                    None => dim,
                });
            }
        }
    }
    dims[axis] = Some(match total {
        Some(total) => total,
        None => cx.unknown("an input has unknown rank", Bounds::SIZE),
    });
    let dims: Vec<_> = dims.into_iter().flatten().collect();
    let elements = joined_elements(cx, inputs, axis).or_else(|| joined_extremes(cx, inputs, axis));
    let elements = elements.unwrap_or_default();
    with_elements(cx, dims, elements)
}

fn joined_elements(cx: &mut InferContext<'_, '_>, inputs: &[usize], axis: usize) -> Option<Elements> {
    let shapes = inputs.iter().map(|&input| cx.tensor(input)?.shape()).collect::<Option<Vec<_>>>()?;
    let count = shapes.iter().try_fold(0usize, |count, shape| count.checked_add(shape.len()))?;
    if count > crate::fact::MAX_INTEGERS {
        return None;
    }
    let lists = inputs.iter().map(|&input| cx.integers(input)).collect::<Option<Vec<_>>>()?;
    let dims: Vec<_> = shapes.iter().map(Shape::dims).collect();
    let each = indices::joined(&dims, axis).into_iter().map(|(part, place)| lists[part][place]);
    Some(Elements::Integers(each.collect()))
}

/// The smallest and the largest element of all inputs, if those of each are known; of inputs joined
/// along a short last axis, by index.
fn joined_extremes(cx: &mut InferContext<'_, '_>, inputs: &[usize], axis: usize) -> Option<Elements> {
    /// Indices of the last axis that are told apart.
    const MAX_COLUMNS: usize = 8;
    let mut columns = Vec::new();
    for &input in inputs {
        let dims = cx.known_dims(input)?;
        let count = dims.last().filter(|_| axis + 1 == dims.len()).and_then(|size| size.known());
        let Some(count) = count.and_then(usize_of_i64).filter(|count| count + columns.len() <= MAX_COLUMNS)
        else {
            columns.clear();
            break;
        };
        columns.extend(cx.columns(input, count)?);
    }
    if !columns.is_empty() {
        return Some(Elements::Extremes(columns.into()));
    }
    let mut all: Option<Extremes> = None;
    for &input in inputs {
        let mut own = cx.extremes(input)?;
        let dims = cx.known_dims(input)?;
        // An input without elements has none at the ends.
        if !dims.iter().all(|&dim| cx.symbols().at_least(dim, 1)) {
            own = own.of_some();
        }
        all = Some(match all {
            Some(all) => all.joined(own, cx.symbols())?,
            None => own,
        });
    }
    Some(all?.elements())
}

/// Shapes of `Split`: the input's, with the size of each part along the axis.
pub fn split(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", 0)?, dims.len())?;
    let whole = dims[axis];
    let count = cx.node.outputs.len();
    let parts = parts_of_split(&cx.attributes, cx.has(1), count)?;
    let sizes: Vec<Dim> = if cx.has(1) {
        cx.integer_input(1)?;
        match cx.integers(1) {
            Some(sizes) => sizes.to_vec(),
            None => (0..count)
                .map(|_| cx.data("the split sizes are not known before the run", Bounds::SIZE))
                .collect(),
        }
    } else {
        even_parts(cx, whole, parts.unwrap_or(count).max(1), parts.is_none())?
    };
    if let Some(size) = sizes.iter().filter_map(|size| size.known()).find(|&size| size < 0) {
        return Err(Error::mismatch(Kind::Shape, "a size of a part", size, "at least 0").into());
    }
    let known = sizes.iter().map(|size| size.known());
    if known.flatten().try_fold(0i64, i64::checked_add).is_none() {
        return Err(errors::shape(errors::SPLIT_SIZES, "2^63 or more", "the size of the axis").into());
    }
    if sizes.len() < count {
        return Err(errors::count("split sizes", sizes.len(), format_args!("at least {count}")).into());
    }
    if cx.has(1) {
        let total = cx.symbols().total(sizes.iter().copied());
        let total = cx.or_fresh(total);
        cx.equal(total, whole, errors::SPLIT_SIZES)?;
    }
    parts_of(cx, &dims, axis, &sizes[..count])
}

/// An axis in `count` equal parts; the last may be shorter unless the axis must divide.
fn even_parts(
    cx: &mut InferContext<'_, '_>,
    whole: Dim,
    parts: usize,
    must_divide: bool,
) -> Result<Vec<Dim>, InferError> {
    let count = cx.node.outputs.len();
    let chunk = cx.ceil_divide(whole, Dim::from(parts));
    let even = cx.symbols().divides(Dim::from(parts), whole);
    let chunk = if even { cx.floor_divide(whole, Dim::from(parts)) } else { chunk };
    if !even && must_divide {
        let equal = cx.multiply(chunk, Dim::from(parts));
        cx.equal(equal, whole, errors::SPLIT_SIZES)?;
    }
    // Values that no output takes are not listed: an attribute may name any number.
    let named = parts.min(count);
    if even || must_divide {
        return Ok(vec![chunk; named]);
    }
    let mut sizes = Vec::with_capacity(named);
    for part in 0..named {
        if cx.is_over() {
            return Err(InferError::unknown("the limits end inference"));
        }
        // Short axes leave nothing for the last parts.
        let before = cx.multiply(chunk, Dim::from(part));
        let rest = cx.subtract(whole, before);
        let size = cx.min(chunk, rest);
        sizes.push(cx.max(size, Dim::ZERO));
    }
    Ok(sizes)
}

/// Parts of these sizes, one after the other along an axis. None may be below zero, though others
/// make up for it.
pub fn parts_of(cx: &mut InferContext<'_, '_>, dims: &[Dim], axis: usize, sizes: &[Dim]) -> InferResult {
    if let Some((part, size)) =
        sizes.iter().enumerate().find_map(|(part, size)| Some((part, size.known().filter(|&size| size < 0)?)))
    {
        return Err(errors::shape(format_args!("split size {part}"), size, "at least 0").into());
    }
    let mut start = Some(0);
    let mut facts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let mut part = dims.to_vec();
        part[axis] = size;
        let len = size.known().and_then(usize_of_i64);
        let end = start.zip(len).and_then(|(start, len): (usize, usize)| start.checked_add(len));
        // Longer tensors have no elements that are known one by one.
        let end = end.filter(|&end| end <= crate::fact::MAX_INTEGERS);
        let elements = match start.zip(end) {
            Some((start, end)) => chosen(cx, |dims| {
                let mut along = indices::all(dims);
                along[axis] = Along::range(start..end);
                (end <= dims[axis]).then(|| indices::chosen(dims, &along))
            }),
            None => Elements::Unknown,
        };
        start = end;
        facts.push(Fact::Tensor(TensorFact { dtype: cx.dtype(0), dims: Some(part.into()), elements }));
    }
    Ok(facts)
}

/// Shape of `Pad`: each size plus its pads.
pub fn pad(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    cx.one_element(2)?;
    let pads = cx.integers(1);
    let axes = if cx.has(3) {
        let known = cx.known_integers(3);
        if known.is_none() {
            cx.require_axes(3, dims.len());
        }
        known.map(|axes| indices::axes(&axes, dims.len())).transpose()?
    } else {
        Some((0..dims.len()).collect())
    };
    let named = axes.as_ref().map(Vec::len).or_else(|| cx.len(3));
    let count = pads.as_ref().map(|pads| pads.len()).or_else(|| cx.len(1));
    if let (Some(pads), Some(axes)) = (count, named)
        && pads != 2 * axes
    {
        return Err(errors::count("pads", pads, 2 * axes).into());
    }
    let (Some(pads), Some(axes)) = (pads, axes) else {
        let count = |cx: &mut InferContext<'_, '_>, input| cx.known_dims(input).map(|dims| cx.product(&dims));
        if let (Some(pads), Some(axes)) = (count(cx, 1), named.map(Dim::from).or_else(|| count(cx, 3))) {
            let wanted = cx.multiply(axes, Dim::Known(2));
            cx.require(pads, Relation::Equal, wanted);
        }
        cx.require_of_values("sizes after padding are at least 0".to_owned());
        let dims = cx.any_dims("the pads are not known before the run", dims.len());
        return like_first(cx, dims);
    };
    let (begins, ends) = pads.split_at(axes.len());
    let mode = cx.attributes.text("mode")?.unwrap_or("constant").to_owned();
    padded(cx, &axes, [begins, ends], (&mode, false), 2)
}

/// Requires that pads are not longer than the mode allows for the size of their axis; of a tensor
/// without elements, only that an axis of size 0 does not grow, unless all are limited.
fn limit_pads(
    cx: &mut InferContext<'_, '_>,
    (axis, dims): (usize, &[Dim]),
    pads: [Dim; 2],
    (mode, limits_all): (&str, bool),
) -> Result<(), InferError> {
    if mode == "constant" {
        return Ok(());
    }
    let (size, both) = (dims[axis], cx.add(pads[0], pads[1]));
    let grows = both.known().is_some_and(|both| both > 0);
    if let (Dim::Known(size), [Some(begin), Some(end)]) = (size, pads.map(Dim::known))
        && (limits_all
            || if size == 0 { grows } else { dims.iter().all(|&dim| cx.symbols().at_least(dim, 1)) })
    {
        return Ok(check_pads(mode, axis, size, [begin, end])?);
    }
    let mut guards = Vec::new();
    if !limits_all {
        let least = cx.min(both, Dim::ONE);
        cx.require(size, Relation::AtLeast, least);
        if dims.contains(&Dim::ZERO) {
            return Ok(());
        }
        for (at, &dim) in dims.iter().enumerate() {
            if (at != axis || !grows) && !cx.symbols().at_least(dim, 1) {
                guards.push(Condition::new(dim, Relation::AtLeast, Dim::ONE));
            }
        }
    }
    let pad = cx.max(pads[0], pads[1]);
    cx.guarded(&guards, |cx| match mode {
        "reflect" | "symmetric" => {
            let less = if mode == "reflect" { cx.subtract(size, Dim::ONE) } else { size };
            let longest = cx.max(less, Dim::ZERO);
            if let (Some(pad), Some(longest)) = (pad.known(), longest.known())
                && pad > longest
            {
                // Only a tensor without elements is padded so.
                let count = cx.product(dims);
                return cx.require(count, Relation::AtMost, Dim::ZERO);
            }
            cx.require(pad, Relation::AtMost, longest);
        }
        _ => {
            let least = cx.min(pad, Dim::ONE);
            cx.require(size, Relation::AtLeast, least);
        }
    });
    Ok(())
}

/// The first input, padded before and after along these axes: in the constant mode with copies of
/// the element of the input `fill`, zeros without it. With the mode is told whether it limits pads
/// of tensors without elements too.
pub fn padded(
    cx: &mut InferContext<'_, '_>,
    axes: &[usize],
    [begins, ends]: [&[Dim]; 2],
    (mode, limits_all): (&str, bool),
    fill: usize,
) -> InferResult {
    let dims = cx.dims(0)?;
    let mut all = dims.to_vec();
    let fill = (mode == "constant").then_some(fill);
    for (&axis, (&begin, &end)) in axes.iter().zip(begins.iter().zip(ends)) {
        limit_pads(cx, (axis, &dims), [begin, end], (mode, limits_all))?;
        if let [Some(size), Some(before), Some(after)] = [all[axis], begin, end].map(Dim::known) {
            let len: i128 = [size, before, after].map(i128::from).iter().sum();
            let Ok(len @ 0..) = i64::try_from(len) else {
                let what = format!("axis {axis} with its pads");
                return Err(Error::mismatch(Kind::Shape, what, len, "0 to 2^63 - 1").into());
            };
            all[axis] = Dim::Known(len);
            continue;
        }
        let both = cx.add(begin, end);
        all[axis] = cx.add(all[axis], both);
    }
    let elements = fill.and_then(|fill| padded_integers(cx, axes, begins, &all, fill));
    with_elements(cx, all, elements.unwrap_or_default())
}

/// The elements of the first input with those of another one around it, if all are known.
fn padded_integers(
    cx: &mut InferContext<'_, '_>,
    axes: &[usize],
    begins: &[Dim],
    all: &[Dim],
    fill: usize,
) -> Option<Elements> {
    let few = |shape: &Shape| shape.len() <= crate::fact::MAX_INTEGERS;
    let from = cx.tensor(0)?.shape().filter(few)?;
    let to = crate::fact::known_shape(all).filter(few)?;
    let fill = match cx.has(fill) {
        true if cx.dtype(fill) == cx.dtype(0) => cx.integer(fill)?,
        true => return None,
        false => Dim::ZERO,
    };
    let elements = cx.integers(0)?;
    let mut before = vec![0; from.rank()];
    for (&axis, begin) in axes.iter().zip(begins) {
        if std::mem::replace(&mut before[axis], begin.known()?) != 0 {
            return None;
        }
    }
    // An axis may have any size next to one without elements.
    if to.is_empty() {
        return Some(Elements::Integers(Vec::new().into()));
    }
    // Places of elements of the input, none of what is around it.
    let mut places = vec![Some(0)];
    for ((&size, &before), &padded) in from.dims().iter().zip(&before).zip(to.dims()) {
        let own = |at: usize| usize_of_i64(i64_of(at).saturating_sub(before)).filter(|&own| own < size);
        let line: Vec<_> = (0..padded).map(own).collect();
        let next = |place: &Option<usize>| {
            let place = *place;
            line.iter().map(move |own| Some(place? * size + (*own)?)).collect::<Vec<_>>()
        };
        places = places.iter().flat_map(next).collect();
    }
    let each = places.into_iter().map(|place| place.map_or(Some(fill), |place| elements.get(place).copied()));
    Some(Elements::Integers(each.collect::<Option<Dims>>()?))
}

/// Shape of `CenterCropPad`: the input's, with the given sizes of the named axes.
pub fn center_crop_pad(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axes = match cx.attributes.ints("axes")? {
        Some(axes) => indices::axes(axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    cx.dims_of_known_rank(1, 1)?;
    cx.elements_of(1, i64_of(axes.len()))?;
    let target = cx.integers(1);
    let mut all = dims.to_vec();
    for (i, &axis) in axes.iter().enumerate() {
        all[axis] = match target.as_ref().and_then(|target| target.get(i)) {
            Some(&dim) => dim,
            None => cx.data("the shape is not known before the run", Bounds::SIZE),
        };
    }
    like_first(cx, all)
}

fn block(cx: &InferContext<'_, '_>) -> Result<Dim, InferError> {
    let size = required("blocksize", cx.attributes.int("blocksize")?)?;
    Ok(Dim::Known(errors::at_least_1("blocksize", size)?))
}

/// Shape of `ReverseSequence`: the input's.
pub fn reverse_sequence(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let [batch, time] = [("batch_axis", 1), ("time_axis", 0)].map(|(name, default)| {
        Ok::<_, InferError>(indices::axis(cx.attributes.int_or(name, default)?, dims.len())?)
    });
    let (batch, time) = (batch?, time?);
    if batch == time {
        return Err(errors::value("attribute \"time_axis\"", time, "another axis than \"batch_axis\"").into());
    }
    cx.same_shape(1, &[dims[batch]])?;
    require_up_to(cx, (1, "sequence length"), dims[time], None)?;
    like_first(cx, dims)
}

/// Shape of `DepthToSpace`: depth divided by the square of the block, height and width times the
/// block.
pub fn depth_to_space(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, block, label) = (cx.dims_of_rank(0, 4)?, block(cx)?, cx.input_label(0));
    let square = cx.multiply(block, block);
    let depth = cx.multiple(dims[1], square, format_args!("size of axis 1 of {label}"))?;
    let all = [dims[0], depth, cx.multiply(dims[2], block), cx.multiply(dims[3], block)];
    like_first(cx, all)
}

/// Shape of `SpaceToDepth`: depth times the square of the block, height and width divided by the
/// block.
pub fn space_to_depth(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, block, label) = (cx.dims_of_rank(0, 4)?, block(cx)?, cx.input_label(0));
    let square = cx.multiply(block, block);
    let [height, width] =
        [2, 3].map(|axis| cx.multiple(dims[axis], block, format_args!("size of axis {axis} of {label}")));
    let (height, width) = (height?, width?);
    let all = [dims[0], cx.multiply(dims[1], square), height, width];
    like_first(cx, all)
}
