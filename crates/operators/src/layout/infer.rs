//! Operators that give the same elements another shape.
//!
//! | operators | shape |
//! |---|---|
//! | `Reshape` | the second input; 0 is the input's dimension there, unless `allowzero`; -1 is what is left |
//! | `Flatten` | two axes: those before `axis`, and the others |
//! | `Squeeze`, `Unsqueeze` | axes of one element less, or more |
//! | `Identity`, `Dropout` | the input's |

use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::convert::usize_of_i64;
use gradus_core::{Error, Kind, Shape};

use crate::attributes::required;
use crate::dim::{Bounds, Dim, Relation, Symbols};
use crate::errors;
use crate::fact::{Dims, Elements, Fact, TensorFact};
use crate::indexing::infer::{chosen, like_first, with_elements};
use crate::indices::{self, Along};
use crate::infer::{InferContext, InferError, InferResult};
use crate::normalize::Older;

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
        _ => chosen(cx, |dims| Some(indices::turned(dims, &perm))),
    };
    with_elements(cx, turned, elements)
}

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
        _ => Elements::Unknown,
    };
    with_elements(cx, all, elements)
}

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
        let dims = cx.any_dims("the repeats are not known before the run", dims.len());
        return like_first(cx, dims);
    };
    if repeats.len() != dims.len() {
        return Err(errors::count("repeats", repeats.len(), dims.len()).into());
    }
    repeated(cx, &dims, &repeats)
}

/// The first input with these dimensions, each axis so many times.
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
                _ => Elements::Unknown,
            }
        }
        _ => Elements::Unknown,
    };
    with_elements(cx, all, elements)
}

pub fn concat(cx: &mut InferContext<'_, '_>) -> InferResult {
    let axis = required("axis", cx.attributes.int("axis")?)?;
    let inputs: Vec<_> = (0..cx.count()).collect();
    joined(cx, &inputs, axis)
}

pub fn qlinear_concat(cx: &mut InferContext<'_, '_>) -> InferResult {
    let inputs: Vec<_> = (2..cx.count()).step_by(3).collect();
    let axis = cx.attributes.int_or("axis", 0)?;
    let mut facts = joined(cx, &inputs, axis)?;
    if let [Fact::Tensor(fact)] = &mut facts[..] {
        fact.dtype = cx.dtype(2);
    }
    Ok(facts)
}

/// Inputs put one behind the other along an axis.
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
        if own.len() != rank {
            return Err(errors::rank("a tensor to concatenate", own.len(), rank).into());
        }
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
    let elements = joined_elements(cx, inputs, axis).unwrap_or_default();
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

pub fn split(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", 0)?, dims.len())?;
    let whole = dims[axis];
    let count = cx.node.outputs.len();
    let sizes: Vec<Dim> = if cx.has(1) {
        cx.integer_input(1)?;
        match cx.integers(1) {
            Some(sizes) => sizes.to_vec(),
            None => (0..count)
                .map(|_| cx.data("the split sizes are not known before the run", Bounds::SIZE))
                .collect(),
        }
    } else {
        let parts = cx.attributes.int("num_outputs")?;
        even_parts(cx, whole, parts.and_then(usize_of_i64).unwrap_or(count).max(1), parts.is_none())?
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

/// That many equal parts of an axis; the last may be shorter unless the axis must divide.
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

/// Parts of these sizes, one behind the other along an axis. None may be below zero, though others
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

pub fn pad(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    cx.one_element(2)?;
    let pads = cx.integers(1);
    let axes = if cx.has(3) {
        match cx.known_integers(3) {
            Some(axes) => Some(indices::axes(&axes, dims.len())?),
            None => None,
        }
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
        let dims = cx.any_dims("the pads are not known before the run", dims.len());
        return like_first(cx, dims);
    };
    let (begins, ends) = pads.split_at(axes.len());
    let mode = cx.attributes.text("mode")?;
    padded(cx, &axes, begins, ends, mode.is_none_or(|mode| mode == "constant").then_some(2))
}

/// The first input with so much more before and behind along these axes: copies of the element of
/// another input, zeros without it, if `fill` names that input.
pub fn padded(
    cx: &mut InferContext<'_, '_>,
    axes: &[usize],
    begins: &[Dim],
    ends: &[Dim],
    fill: Option<usize>,
) -> InferResult {
    let mut all = cx.dims(0)?.to_vec();
    for (&axis, (&begin, &end)) in axes.iter().zip(begins.iter().zip(ends)) {
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
    // An axis may have any size beside one without elements.
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
    for length in cx.known_integers(1).unwrap_or_default() {
        if length < 0 || dims[time].known().is_some_and(|size| size < length) {
            let most = cx.symbols().print(dims[time]).to_string();
            return Err(errors::value("sequence length", length, format_args!("0 to {most}")).into());
        }
        cx.require(dims[time], Relation::AtLeast, Dim::Known(length));
    }
    like_first(cx, dims)
}

pub fn depth_to_space(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, block, label) = (cx.dims_of_rank(0, 4)?, block(cx)?, cx.input_label(0));
    let square = cx.multiply(block, block);
    let depth = cx.multiple(dims[1], square, format_args!("size of axis 1 of {label}"))?;
    let all = [dims[0], depth, cx.multiply(dims[2], block), cx.multiply(dims[3], block)];
    like_first(cx, all)
}

pub fn space_to_depth(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, block, label) = (cx.dims_of_rank(0, 4)?, block(cx)?, cx.input_label(0));
    let square = cx.multiply(block, block);
    let [height, width] =
        [2, 3].map(|axis| cx.multiple(dims[axis], block, format_args!("size of axis {axis} of {label}")));
    let (height, width) = (height?, width?);
    let all = [dims[0], cx.multiply(dims[1], square), height, width];
    like_first(cx, all)
}

/// The first input's elements under other dimensions.
pub fn reshaped(cx: &mut InferContext<'_, '_>, dims: impl Into<Dims>) -> InferResult {
    let elements = cx.elements(0);
    // A tensor holds its shape itself; integers do not, and fractions neither.
    let dims = dims.into();
    let elements = match elements {
        Elements::Known(tensor) => {
            let shape = crate::fact::known_shape(&dims);
            let tensor = shape.and_then(|shape| tensor.reshaped(shape).ok());
            tensor.map_or(Elements::Unknown, |tensor| Elements::Known(tensor.into()))
        }
        other => other,
    };
    Ok(vec![Fact::Tensor(TensorFact { dtype: cx.dtype(0), dims: Some(dims), elements })])
}

/// The quotient of a number of elements by some dimensions.
pub fn quotient(cx: &mut InferContext<'_, '_>, all: &[Dim], taken: &[Dim]) -> Result<Dim, InferError> {
    let mut left = all.to_vec();
    let mut below = Vec::new();
    for dim in taken {
        // Nothing is changed by what stands on both sides, unless it is zero; and then -1 has no
        // meaning.
        match left.iter().position(|other| other == dim) {
            Some(at) if *dim != Dim::ZERO => {
                left.remove(at);
            }
            _ => below.push(*dim),
        }
    }
    let (above, below) = (cx.product(&left), cx.product(&below));
    if below == Dim::ZERO {
        return Err(errors::open_axis(0, "at least 1").into());
    }
    // The product of the others divides, and is not zero.
    for &dim in taken {
        cx.require(dim, Relation::AtLeast, Dim::ONE);
    }
    let quotient = cx.floor_divide(above, below);
    let whole = cx.multiply(below, quotient);
    cx.require(above, Relation::Equal, whole);
    Ok(quotient)
}

pub fn reshape(cx: &mut InferContext<'_, '_>) -> InferResult {
    let given = cx.known_dims(0);
    cx.integer_input(1)?;
    let Some(target) = cx.integers(1) else {
        let rank = cx.needed_len(1)?;
        let dims = match (&given, rank) {
            (Some(given), 1) => vec![cx.product(&given.clone())],
            _ => cx.any_dims("the shape is not known before the run", rank),
        };
        return reshaped(cx, dims);
    };
    let allow_zero = cx.attributes.flag("allowzero", false)?;
    reshape_to(cx, &target, allow_zero)
}

/// Returns true if a symbolic element of the shape may be taken for at least 1. 0 stands for the
/// dimension of the input there. Inference is cautious where runs may have that: unless such runs
/// fail, or the input's dimension is 0 as well.
fn may_not_be_zero(
    cx: &mut InferContext<'_, '_>,
    given: Option<&[Dim]>,
    target: &[Dim],
    axis: usize,
) -> bool {
    if !cx.is_cautious() {
        return true;
    }
    let Some(given) = given else { return false };
    let (symbols, dim) = (cx.symbols(), target[axis]);
    // Beyond the rank of the input, 0 is refused.
    let Some(&copied) = given.get(axis) else { return true };
    let times = if symbols.divides(copied, dim) { symbols.floor_divide(dim, copied) } else { None };
    let is_multiple = times.and_then(Dim::known).is_some_and(|times| times != 0);
    if is_multiple || symbols.divides(dim, copied) {
        return true;
    }
    // No number of elements is that of the input, which is 0, unless another size is 0 too.
    let names = |symbols: &Symbols, dim: Dim| -> Vec<Arc<str>> {
        symbols.symbols_of(dim).into_iter().map(|symbol| symbol.name.clone()).collect()
    };
    let own = names(symbols, dim);
    let is_other = |(at, &other): (usize, &Dim)| match other {
        _ if at == axis => true,
        Dim::Known(0) => given.get(at).is_some_and(|&size| {
            size != Dim::ZERO && !names(symbols, size).iter().any(|name| own.contains(name))
        }),
        Dim::Known(size) => size > 0,
        Dim::Symbolic(_) => !names(symbols, other).iter().any(|name| own.contains(name)),
    };
    let elements = |(at, &size): (usize, &Dim)| match size {
        Dim::ZERO => given[at],
        size => size,
    };
    target.iter().enumerate().all(is_other) && {
        let sizes: Vec<_> = target.iter().enumerate().map(elements).collect();
        symbols.product(sizes).is_some_and(|all| symbols.product(given.iter().copied()) == Some(all))
    }
}

/// The first input in the shape of which these are the dimensions, but for 0 and -1.
pub fn reshape_to(cx: &mut InferContext<'_, '_>, target: &[Dim], allow_zero: bool) -> InferResult {
    let given = cx.known_dims(0);
    let mut dims: Vec<Option<Dim>> = Vec::with_capacity(target.len());
    for (axis, &dim) in target.iter().enumerate() {
        let same = given.as_ref().and_then(|given| given.get(axis)).copied();
        let resolved = match dim {
            Dim::Known(0) if !allow_zero => match (same, &given) {
                (Some(same), _) => Some(same),
                (None, Some(given)) => return Err(errors::copied(axis, given.len()).into()),
                (None, None) => {
                    Some(cx.unknown("the dimension is the input's, which is not known", Bounds::SIZE))
                }
            },
            Dim::Known(-1) if !target[..axis].contains(&dim) => None,
            Dim::Known(value) if value < 0 => {
                return Err(errors::element(axis, value, errors::RESHAPED).into());
            }
            Dim::Known(_) => Some(dim),
            // 0 would mean the input's dimension, which is the same.
            _ if same == Some(dim) && cx.symbols().at_least(dim, 0) => Some(dim),
            _ if cx.symbols().at_least(dim, 1) => Some(dim),
            _ if allow_zero && cx.symbols().at_least(dim, 0) => {
                // A run takes 0 too; but few do, and formulas are longer for it.
                if cx.symbols().rank(dim).0 == 1 {
                    cx.may_assume(dim, Relation::AtLeast, Dim::ONE);
                }
                Some(dim)
            }
            _ if cx.symbols().rank(dim).0 == 1 && may_not_be_zero(cx, given.as_deref(), target, axis) => {
                // 0 beside a dimension of 0 means that.
                let least = same.map_or(Dim::ONE, |same| cx.min(same, Dim::ONE));
                cx.assume(dim, Relation::AtLeast, least);
                Some(dim)
            }
            // The data may say -1, or 0 for another dimension.
            Dim::Symbolic(_) => None,
        };
        dims.push(resolved);
    }
    let open = dims.iter().filter(|dim| dim.is_none()).count();
    let rest: Vec<_> = dims.iter().flatten().copied().collect();
    // The others may be 0, unless -1 is written.
    let is_quotient = !cx.is_cautious()
        || target.contains(&Dim::Known(-1))
        || rest.iter().all(|&dim| cx.symbols().at_least(dim, 1));
    let left = match (&given, open) {
        (Some(given), 1) if is_quotient => Some(quotient(cx, given, &rest)?),
        _ => None,
    };
    if let Some(given) = &given {
        let all: Vec<_> = rest.iter().copied().chain(left).collect();
        if all.len() == target.len() {
            let (before, after) = (cx.product(given), cx.product(&all));
            match left {
                // The quotient is required to be whole.
                Some(_) => cx.may_be_equal(before, after, "number of elements")?,
                None => cx.not_apart(before, after, "number of elements")?,
            }
        }
    }
    let filled = dims.into_iter().map(|dim| match (dim, left) {
        (Some(dim), _) | (None, Some(dim)) => dim,
        (None, None) if given.is_none() => cx.unknown("the number of elements is not known", Bounds::SIZE),
        (None, None) => cx.data("the shape is not known before the run", Bounds::SIZE),
    });
    let filled: Vec<_> = filled.collect();
    reshaped(cx, filled)
}

pub fn flatten(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = cx.attributes.int_or("axis", 1)?;
    let axis = if axis == crate::shape::infer::rank_of(&dims) {
        dims.len()
    } else {
        indices::axis(axis, dims.len())?
    };
    let (before, after) = (cx.product(&dims[..axis]), cx.product(&dims[axis..]));
    reshaped(cx, [before, after])
}

/// The axes that the second input names, or why they are not known. Nothing if it is not given.
pub fn named_axes(cx: &mut InferContext<'_, '_>) -> Result<Option<Vec<i64>>, InferError> {
    if !cx.has(1) {
        return Ok(None);
    }
    match cx.known_integers(1) {
        Some(axes) => Ok(Some(axes)),
        None => Err(InferError::input(1, "names axes that are not known")),
    }
}

pub fn squeeze(cx: &mut InferContext<'_, '_>) -> InferResult {
    let axes = named_axes(cx);
    squeezed(cx, axes)
}

/// Without these axes, or all of one element if none are given.
pub fn squeezed(cx: &mut InferContext<'_, '_>, axes: Result<Option<Vec<i64>>, InferError>) -> InferResult {
    let dims = cx.dims(0)?;
    let axes = match axes {
        Ok(Some(axes)) => indices::axes(&axes, dims.len())?,
        Ok(None) => {
            let mut axes = Vec::new();
            for (axis, &dim) in dims.iter().enumerate() {
                match dim {
                    Dim::ONE => axes.push(axis),
                    dim if cx.symbols().at_least(dim, 2) || dim == Dim::ZERO => {}
                    _ => {
                        return Err(InferError::unknown("a size that may be 1 decides the rank"));
                    }
                }
            }
            axes
        }
        Err(stop) => {
            let count = cx.len(1).filter(|&count| count <= dims.len()).ok_or(stop)?;
            let rank = dims.len() - count;
            let dims = cx.any_dims("the axes are not known before the run", rank);
            return reshaped(cx, dims);
        }
    };
    for &axis in &axes {
        cx.equal(dims[axis], Dim::ONE, errors::squeezed(axis))?;
    }
    let left: Vec<_> =
        dims.iter().enumerate().filter(|(axis, _)| !axes.contains(axis)).map(|(_, dim)| *dim).collect();
    reshaped(cx, left)
}

pub fn unsqueeze(cx: &mut InferContext<'_, '_>) -> InferResult {
    let axes = named_axes(cx).map(Option::unwrap_or_default);
    unsqueezed(cx, axes)
}

/// With these axes, or as many as the second input names.
pub fn unsqueezed(cx: &mut InferContext<'_, '_>, axes: Result<Vec<i64>, InferError>) -> InferResult {
    let dims = cx.dims(0)?;
    let axes = match axes {
        Ok(axes) => axes,
        Err(stop) => {
            let count = cx.len(1).ok_or(stop)?;
            let dims = cx.any_dims("the axes are not known before the run", dims.len() + count);
            return reshaped(cx, dims);
        }
    };
    let rank = dims.len() + axes.len();
    let axes = indices::axes(&axes, rank)?;
    let mut rest = dims.iter().copied();
    let all: Vec<_> = (0..rank)
        .map(|axis| if axes.contains(&axis) { Dim::ONE } else { rest.next().unwrap_or(Dim::ONE) })
        .collect();
    reshaped(cx, all)
}

pub fn identity(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![cx.read_fact(0)])
}
