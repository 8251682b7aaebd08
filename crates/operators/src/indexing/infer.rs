//! Rules of operators that choose elements, and put elements in place of others.
//!
//! | operators | shape |
//! |---|---|
//! | `Slice` | along each axis, `ceil((end - start)/step)`, where bounds below 0 count from the end and all are clamped |
//! | `Gather`, `GatherElements`, `GatherND` | the indices' dimensions in place of those they choose from |
//! | `Scatter`, `ScatterElements`, `ScatterND`, `TensorScatter` | the first input's |
//! | `Compress` | by axis |

use std::sync::Arc;

use gradus_core::convert::{from_start, usize_of_i64};

use crate::dim::{Bounds, Condition, Dim, Relation};
use crate::errors;
use crate::fact::{Dims, Elements, Fact, TensorFact};
use crate::indexing::eval::reduction;
use crate::indices::{self, Along};
use crate::infer::{InferContext, InferError, InferResult};

/// A tensor of the first input's element type.
pub fn like_first(cx: &InferContext<'_, '_>, dims: impl Into<Dims>) -> InferResult {
    with_elements(cx, dims, Elements::Unknown)
}

/// One tensor of the first input's type, with these dimensions and elements.
pub fn with_elements(cx: &InferContext<'_, '_>, dims: impl Into<Dims>, elements: Elements) -> InferResult {
    Ok(vec![Fact::Tensor(TensorFact { dtype: cx.dtype(0), dims: Some(dims.into()), elements })])
}

/// The elements that lie at these places of the first input; without them, the range of all its
/// elements.
pub fn chosen(
    cx: &mut InferContext<'_, '_>,
    places: impl FnOnce(&[usize]) -> Option<Vec<usize>>,
) -> Elements {
    let choose = |cx: &mut InferContext<'_, '_>| {
        // Long tensors are evaluated if they are known.
        let shape = cx.tensor(0)?.shape().filter(|shape| shape.len() <= crate::fact::MAX_INTEGERS)?;
        let all = cx.integers(0)?;
        let places = places(shape.dims())?;
        let each = places.into_iter().map(|place| all.get(place).copied());
        Some(Elements::Integers(each.collect::<Option<Dims>>()?))
    };
    choose(cx).unwrap_or_else(|| cx.moved(0, false))
}

/// Bounds beyond these mean "to the end": no tensor is that long, and exporters write them so.
const TO_THE_END: i64 = (1 << 31) - 1;

/// A slice along one axis: its dimension, and its first element if that is known.
pub struct Cut {
    pub len: Dim,
    start: Option<Dim>,
}

/// A bound counted from the first element, if its sign is known.
///
/// A bound that is never positive is taken for negative, which is assumed where it matters: the
/// places of `-len` and of 0 are the same.
fn from_first(cx: &mut InferContext<'_, '_>, bound: Dim, len: Dim, step: i64) -> Option<Dim> {
    // A negative `n - 1` or `n - 2` of an axis of `n` lies before the axis either way; backwards,
    // the place before the first element is not that element.
    let short = cx.subtract(bound, len);
    if cx.symbols().at_least(short, if step > 0 { -2 } else { -1 }) {
        return Some(bound);
    }
    if cx.symbols().at_least(bound, 0) || never_negative(cx, bound, len) {
        return Some(bound);
    }
    let most = cx.symbols().bounds(bound).upper()?;
    let place = cx.add(bound, len);
    if most < 0 || place == Dim::ZERO {
        return Some(place);
    }
    let count = cx.subtract(Dim::ZERO, bound);
    (most == 0 && cx.may_assume(count, Relation::AtLeast, Dim::ONE)).then_some(place)
}

/// Returns true if a bound of an axis cannot be negative where the axis has a size at all, as
/// `n - 1` of an axis of `2*n - 1` elements: with `k*bound - len > -k`, it is above -1.
fn never_negative(cx: &mut InferContext<'_, '_>, bound: Dim, len: Dim) -> bool {
    let never = (1..=4).any(|k| {
        let times = cx.multiply(bound, Dim::Known(k));
        let more = cx.subtract(times, len);
        cx.symbols().at_least(more, 1 - k)
    });
    if never {
        cx.note_at_least(bound, 0);
    }
    never
}

/// The elements that one axis keeps from a start to an end, with a step.
pub fn cut(cx: &mut InferContext<'_, '_>, len: Dim, start: Dim, end: Dim, step: i64) -> Option<Cut> {
    // Bounds that count from the end are clamped, so that far bounds do not overflow.
    let far = |cx: &mut InferContext<'_, '_>, bound: Dim| match bound {
        Dim::Known(value) if value <= -TO_THE_END => Some(None),
        Dim::Known(value) if value >= TO_THE_END => {
            if len.known().is_none() && value < i64::MAX {
                cx.take_for_granted(len, Relation::AtMost, bound);
            }
            Some(Some(len))
        }
        bound => from_first(cx, bound, len, step).map(Some),
    };
    let (from, to) = (far(cx, start)?, far(cx, end)?);
    if step > 0 {
        let clamp = |cx: &mut InferContext<'_, '_>, bound: Option<Dim>| match bound {
            None => Dim::ZERO,
            Some(bound) => {
                let raised = cx.max(bound, Dim::ZERO);
                cx.min(raised, len)
            }
        };
        let (from, to) = (clamp(cx, from), clamp(cx, to));
        let span = cx.subtract(to, from);
        let count = cx.ceil_divide(span, Dim::Known(step));
        return Some(Cut { len: cx.max(count, Dim::ZERO), start: Some(from) });
    }
    let last = cx.subtract(len, Dim::ONE);
    // A start before the first element is that, as `indices::sliced` says; there is none of no
    // elements.
    let from = match from {
        None => Dim::ZERO,
        Some(bound) => cx.max(bound, Dim::ZERO),
    };
    let from = cx.min(from, last);
    let to = match to {
        None => Dim::Known(-1),
        Some(bound) => {
            let raised = cx.max(bound, Dim::Known(-1));
            cx.min(raised, last)
        }
    };
    let span = cx.subtract(from, to);
    let count = cx.ceil_divide(span, Dim::Known(step.checked_neg()?));
    Some(Cut { len: cx.max(count, Dim::ZERO), start: Some(from) })
}

/// Shape of `Slice`: the number of elements that each axis keeps.
pub fn slice(cx: &mut InferContext<'_, '_>) -> InferResult {
    const AXES: usize = 3;
    const STEPS: usize = 4;
    let dims = cx.dims(0)?;
    let (starts, ends) = (cx.integers(1), cx.integers(2));
    let given = [1, 2, AXES, STEPS].into_iter().filter(|&input| cx.has(input));
    let counts: Vec<_> = given.filter_map(|input| cx.known_dims(input)?.first().copied()).collect();
    let known = counts.iter().find_map(|count| count.known().map(Dim::Known));
    if let Some(count) = known.or(counts.first().copied()) {
        for &other in counts.iter().filter(|&&other| other != count) {
            if let (Dim::Known(other), Dim::Known(count)) = (other, count) {
                return Err(errors::count("starts, ends or steps", other, count).into());
            }
            cx.require(other, Relation::Equal, count);
        }
        if !cx.has(AXES) {
            cx.require(count, Relation::AtMost, Dim::from(dims.len()));
        }
    }
    for step in cx.integers(STEPS).iter().flat_map(|steps| steps.iter()) {
        cx.require_not_zero(*step);
    }
    let axes: Option<Vec<usize>> = match (cx.has(AXES), cx.known_integers(AXES)) {
        (true, Some(axes)) => Some(indices::axes(&axes, dims.len())?),
        (true, None) => {
            cx.require_axes(AXES, dims.len());
            None
        }
        (false, _) => {
            let count =
                starts.as_ref().map(|starts| starts.len()).or_else(|| cx.len(1)).unwrap_or(dims.len());
            if count > dims.len() {
                let rank = dims.len();
                return Err(errors::count("starts", count, format_args!("at most {rank}")).into());
            }
            Some((0..count).collect())
        }
    };
    let Some(axes) = axes else {
        let all: Vec<_> =
            dims.iter().map(|&dim| cx.at_most("the axes are not known before the run", dim)).collect();
        return like_first(cx, all);
    };
    let steps = if cx.has(STEPS) { cx.known_integers(STEPS) } else { Some(vec![1; axes.len()]) };
    let mut all = dims.to_vec();
    let mut first = None;
    for (i, &axis) in axes.iter().enumerate() {
        let bound = |all: &Option<Dims>| all.as_ref().and_then(|all| all.get(i).copied());
        let step = steps.as_ref().and_then(|steps| steps.get(i).copied()).filter(|&step| step != i64::MIN);
        if step == Some(0) {
            return Err(errors::zero_step().into());
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
                let bounds = Bounds::between(Some(0), cx.symbols().bounds(dims[axis]).upper());
                (cx.unknown("the sign of a slice bound is not known", bounds), None)
            }
            None => (cx.at_most("the bounds are not known before the run", dims[axis]), None),
        };
    }
    let mut elements = Elements::Unknown;
    let step = steps.as_ref().and_then(|steps| steps.first().copied());
    // Elements along the only axis that has several.
    let along = match axes[..] {
        [only] if dims.iter().enumerate().all(|(axis, &dim)| axis == only || dim == Dim::ONE) => {
            first.zip(step)
        }
        _ => None,
    };
    if let (Some((first, step)), Elements::Progression(both)) = (along, cx.elements(0)) {
        elements = stepped(cx, *both, first, step);
    }
    if elements == Elements::Unknown
        && let (Some(starts), Some(ends), Some(steps)) = (cx.known_integers(1), cx.known_integers(2), steps)
    {
        elements = chosen(cx, |dims| {
            let mut indices = indices::all(dims);
            for (i, &axis) in axes.iter().enumerate() {
                indices[axis] =
                    indices::sliced(dims[axis], *starts.get(i)?, *ends.get(i)?, *steps.get(i)?).ok()?;
            }
            Some(indices::chosen(dims, &indices))
        });
    }
    if elements == Elements::Unknown {
        let even = along.zip(even_steps(&cx.elements(0)));
        elements = match even {
            Some(((first, step), both)) => stepped(cx, both, first, step),
            None => cx.moved(0, false),
        };
    }
    with_elements(cx, all, elements)
}

/// Elements of a progression from an index on, by a step of indices.
fn stepped(cx: &mut InferContext<'_, '_>, (base, by): (Dim, Dim), first: Dim, step: i64) -> Elements {
    let offset = cx.multiply(by, first);
    let both = (cx.add(base, offset), cx.multiply(by, Dim::Known(step)));
    Elements::Progression(Arc::new(both))
}

/// The first of some known integers and the distance between each two, if that is always the same:
/// a table of positions.
fn even_steps(elements: &Elements) -> Option<(Dim, Dim)> {
    let all: Vec<i64> = match elements {
        Elements::Known(tensor) if tensor.dtype().is_integer() => tensor.to_i64().ok()?,
        Elements::Integers(all) => all.iter().map(|dim| dim.known()).collect::<Option<_>>()?,
        _ => return None,
    };
    let [first, second, ..] = all[..] else { return None };
    let step = second.checked_sub(first)?;
    let is_even = all.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
    is_even.then_some((Dim::Known(first), Dim::Known(step)))
}

/// Shape of `Gather`: the data's with the axis replaced by the axes of the indices.
pub fn gather(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", 0)?, dims.len())?;
    require_in_range(cx, &dims[axis..=axis])?;
    gathered(cx, axis, 0)
}

/// Requires that the elements of an input are from 0 to a number, but for an ignored one.
pub fn require_up_to(
    cx: &mut InferContext<'_, '_>,
    (input, what): (usize, &str),
    most: Dim,
    ignored: Option<i64>,
) -> Result<(), InferError> {
    let Some(all) = cx.integers(input) else {
        match ignored {
            None => cx.require_elements(input, Dim::ZERO, most),
            Some(ignored) if cx.is_of_model(input) => {
                let most = cx.symbols().print(most).to_string();
                cx.require_of_values(format!("each {what} is from 0 to {most}, or {ignored}"));
            }
            Some(_) => {}
        }
        return Ok(());
    };
    for &element in all.iter() {
        match element {
            Dim::Known(number) if Some(number) == ignored => continue,
            Dim::Known(number) if number < 0 || most.known().is_some_and(|most| most < number) => {
                let most = cx.symbols().print(most).to_string();
                return Err(errors::value(what, number, format_args!("0 to {most}")).into());
            }
            Dim::Symbolic(_) if ignored.is_some() => continue,
            _ => {}
        }
        cx.require(element, Relation::AtLeast, Dim::ZERO);
        cx.require(most, Relation::AtLeast, element);
    }
    Ok(())
}

/// Requires that the indices, the second input, are within sizes: rows of an index for each of
/// them. An input without elements has none that is out of range.
pub(super) fn require_in_range(cx: &mut InferContext<'_, '_>, sizes: &[Dim]) -> Result<(), InferError> {
    if cx.known_dims(1).is_some_and(|dims| dims.contains(&Dim::ZERO)) {
        return Ok(());
    }
    let indices = match (cx.integers(1), cx.elements(1)) {
        (Some(indices), _) => Some(indices.to_vec()),
        (None, Elements::Known(tensor)) => {
            tensor.to_i64().ok().map(|indices| indices.into_iter().map(Dim::Known).collect())
        }
        (None, _) if require_extremes(cx, sizes) => return Ok(()),
        _ => None,
    };
    let Some(indices) = indices else {
        if !cx.depends_on_data(1) {
            let sizes: Vec<_> = sizes.iter().map(|&size| cx.symbols().print(size).to_string()).collect();
            let plural = if sizes.len() == 1 { "" } else { "s" };
            cx.require_of_values(format!("indices are within size{plural} {}", sizes.join(", ")));
        } else if let [size] = *sizes {
            let (min, max) = (cx.subtract(Dim::ZERO, size), cx.subtract(size, Dim::ONE));
            cx.require_elements(1, min, max);
        } else if cx.is_of_model(1) {
            cx.require_of_values("indices are within the sizes of the axes".to_owned());
        }
        require_elements(cx, sizes);
        return Ok(());
    };
    for (column, &size) in sizes.iter().enumerate() {
        let column: Vec<_> = indices.iter().skip(column).step_by(sizes.len()).copied().collect();
        require_each(cx, size, &column)?;
    }
    Ok(())
}

/// Requires that no size is 0 if there are indices, as far as sizes decide both.
fn require_elements(cx: &mut InferContext<'_, '_>, sizes: &[Dim]) {
    let Some(dims) = cx.known_dims(1) else { return };
    let count = cx.product(&dims);
    let least = cx.min(count, Dim::ONE);
    for &size in sizes {
        let symbols = cx.symbols();
        let is_settled = symbols.rank(size).0.max(symbols.rank(count).0) <= 1;
        if is_settled && !symbols.at_least(size, 1) {
            cx.require(size, Relation::AtLeast, least);
        }
    }
}

/// Requires that the smallest and the largest index are within each size, if there are indices;
/// returns false if they are not known.
fn require_extremes(cx: &mut InferContext<'_, '_>, sizes: &[Dim]) -> bool {
    let Some(dims) = cx.known_dims(1) else { return false };
    let columns = match sizes {
        [_] => cx.extremes(1).map(|all| vec![all]),
        _ => cx.columns(1, sizes.len()),
    };
    let Some(columns) = columns else { return false };
    let mut is_decided = true;
    for (column, &size) in columns.iter().zip(sizes) {
        let above = cx.add(column.max, Dim::ONE);
        let below = cx.subtract(Dim::ZERO, column.min);
        let is_natural = cx.symbols().at_least(column.min, 0);
        let ends = [(column.attained[1], Some(above)), (column.attained[0], (!is_natural).then_some(below))];
        for (is_attained, least) in ends {
            let Some(least) = least else { continue };
            if is_attained {
                cx.require_if_any(&dims, size, least);
            } else {
                let is_met = Condition::new(size, Relation::AtLeast, least);
                is_decided &= cx.symbols().always_holds(&is_met);
            }
        }
    }
    is_decided
}

/// Requires that each of some indices is within a size; those below 0 count from the end.
fn require_each(cx: &mut InferContext<'_, '_>, size: Dim, indices: &[Dim]) -> Result<(), InferError> {
    let known = indices.iter().filter_map(|index| index.known());
    if let Some(size) = size.known().and_then(usize_of_i64) {
        known.clone().try_for_each(|index| indices::index(index, size).map(|_| ()))?;
    }
    let first = known.clone().min().and_then(i64::checked_neg).filter(|&least| least > 0);
    let last = known.max().and_then(|last| last.checked_add(1)).filter(|&least| least > 0);
    if let Some(least) = first.max(last) {
        cx.require(size, Relation::AtLeast, Dim::Known(least));
    }
    for &index in indices.iter().filter(|index| index.known().is_none()) {
        let least = cx.add(index, Dim::ONE);
        cx.require(size, Relation::AtLeast, least);
        if !cx.symbols().at_least(index, 0) {
            let least = cx.subtract(Dim::ZERO, index);
            cx.require(size, Relation::AtLeast, least);
        }
    }
    Ok(())
}

/// The elements that the indices choose along an axis; the first axes of both are the same, if they
/// are a batch.
pub fn gathered(cx: &mut InferContext<'_, '_>, axis: usize, batch: usize) -> InferResult {
    let (dims, indices) = (cx.dims(0)?, cx.dims(1)?);
    if batch > axis || batch > indices.len() {
        return Err(errors::batch(batch, axis, indices.len()).into());
    }
    let chosen_dims = indices[batch..].iter();
    let all: Vec<_> = dims[..axis].iter().chain(chosen_dims).chain(&dims[axis + 1..]).copied().collect();
    let known = if batch == 0 { cx.known_integers(1) } else { None };
    let elements = if let Some(indices) = known {
        match cx.elements(0) {
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
                let size = dims[axis];
                let mut all = indices::all(dims);
                let found = indices.iter().map(|&index| indices::index(index, size).ok());
                all[axis] = Along::List(found.collect::<Option<_>>()?);
                Some(indices::chosen(dims, &all))
            }),
        }
    } else {
        cx.moved(0, false)
    };
    with_elements(cx, all, elements)
}

/// Shape of `GatherND`: the indices' without the last axis, and the axes that tuples leave.
pub fn gather_nd(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, indices) = (cx.dims(0)?, cx.dims(1)?);
    let batch = usize_of_i64(cx.attributes.int_or("batch_dims", 0)?).unwrap_or(0);
    let Some((last, before)) = indices.split_last() else {
        return Err(errors::rank("the indices", 0, "at least 1").into());
    };
    let Some(depth) = last.known().and_then(usize_of_i64) else {
        let rest = Dim::from(dims.len().saturating_sub(batch));
        cx.require(*last, Relation::AtMost, rest);
        return Err(InferError::input(1, "has an unknown last dimension, which decides the rank"));
    };
    let Some(rest) = dims.get(batch.saturating_add(depth)..).filter(|_| batch <= before.len()) else {
        return Err(errors::tuples(batch, depth, dims.len()).into());
    };
    let label = cx.input_label(1);
    for (axis, (&own, &of_data)) in before.iter().zip(&dims[..batch]).enumerate() {
        cx.equal(own, of_data, format_args!("size of axis {axis} of {label}"))?;
    }
    require_in_range(cx, &dims[batch..batch + depth])?;
    let all: Vec<_> = before.iter().chain(rest).copied().collect();
    let is_list = batch == 0 && depth == 1 && dims.len() == 1;
    let places = if is_list { cx.known_integers(1) } else { None };
    let elements = if let Some(places) = places {
        let count = dims[0].known();
        chosen(cx, |_| {
            let place =
                |&place: &i64| usize_of_i64(if place < 0 { from_start(place, count?) } else { place });
            places.iter().map(place).collect()
        })
    } else {
        cx.moved(0, false)
    };
    with_elements(cx, all, elements)
}

/// Elements of the data, some of which are replaced: the updates have the shape of the indices.
pub fn scatter_elements(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    if let Some(indices) = cx.known_dims(1) {
        indices_fit(cx, &indices)?;
        cx.same_shape(2, &indices)?;
        require_along_axis(cx)?;
    }
    reduction(&cx.attributes)?;
    Ok(vec![Fact::shaped(dims)])
}

/// Shape of `ScatterND`: that of the data.
pub fn scatter_nd(cx: &mut InferContext<'_, '_>) -> InferResult {
    let plain = reduction(&cx.attributes)?.is_none();
    scattered(cx, plain)
}

/// Data some of whose places have updates: plain ones, or combined with what was there.
pub(super) fn scattered(cx: &mut InferContext<'_, '_>, plain: bool) -> InferResult {
    let dims = cx.dims(0)?;
    if let Some(indices) = cx.known_dims(1) {
        let (depth, before) =
            indices.split_last().ok_or_else(|| errors::rank(cx.input_label(1), 0, "at least 1"))?;
        // The rank of the updates says how many axes are indexed.
        let open = match (depth.known(), cx.known_dims(2)) {
            (None, Some(updates)) => (before.len() + dims.len()).checked_sub(updates.len()).map(Dim::from),
            _ => None,
        };
        if let Some(of_rank) = open {
            cx.require(*depth, Relation::Equal, of_rank);
        }
        if let Some(depth) = open.unwrap_or(*depth).known().and_then(usize_of_i64) {
            let rest = dims.get(depth..).ok_or_else(|| {
                let what = format_args!("size of the last axis of {}", cx.input_label(1));
                errors::shape(what, depth, format_args!("at most {}", dims.len()))
            })?;
            cx.same_shape(2, &[before, rest].concat())?;
            require_in_range(cx, &dims[..depth])?;
        } else {
            cx.require(*depth, Relation::AtMost, Dim::from(dims.len()));
            cx.require_of_values("indices are within the sizes of the axes".to_owned());
        }
    }
    let put = |cx: &mut InferContext<'_, '_>| {
        let [Dim::Known(len)] = *dims else { return None };
        let [_, Dim::ONE] = *cx.known_dims(1)? else { return None };
        let (mut all, places, updates) = (cx.integers(0)?.to_vec(), cx.known_integers(1)?, cx.integers(2)?);
        for (&place, &update) in places.iter().zip(updates.iter()) {
            let place = usize_of_i64(from_start(place, len))?;
            *all.get_mut(place)? = update;
        }
        Some(Elements::Integers(all.into()))
    };
    let elements = if plain { put(cx) } else { None };
    with_elements(cx, dims.clone(), elements.unwrap_or_default())
}

/// Shape of `Compress`: the number of true conditions, along the axis or of all elements.
pub fn compress(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0);
    if dims.as_ref().is_ok_and(|dims| dims.is_empty()) {
        return Err(errors::rank(cx.input_label(0), 0, "at least 1").into());
    }
    let Some(axis) = cx.attributes.int("axis")? else {
        let what = "number of selected elements";
        let count = match dims {
            Ok(dims) => {
                let most = cx.product(&dims);
                cx.at_most(what, most)
            }
            Err(_) => cx.data(what, Bounds::SIZE),
        };
        return like_first(cx, [count]);
    };
    let dims = dims?;
    let axis = indices::axis(axis, dims.len())?;
    let mut all = dims.to_vec();
    all[axis] = cx.at_most("number of selected elements", dims[axis]);
    like_first(cx, all)
}

/// Checks that indices of single elements have the rank of the data and, along the other axes than
/// the indexed one, no larger sizes.
fn indices_fit(cx: &mut InferContext<'_, '_>, indices: &[Dim]) -> Result<(), InferError> {
    let Some(data) = cx.known_dims(0) else { return Ok(()) };
    errors::expect_rank("the indices", indices.len(), data.len())?;
    let axis = indices::axis(cx.attributes.int_or("axis", 0)?, data.len())?;
    for (at, (data, own)) in data.iter().zip(indices).enumerate().filter(|(at, _)| *at != axis) {
        if let (Some(size), Some(own)) = (data.known(), own.known())
            && own > size
            && !indices.contains(&Dim::ZERO)
        {
            return Err(errors::shape(
                format_args!("size {at} of the indices"),
                own,
                format_args!("at most {size}"),
            )
            .into());
        }
        // Indices of no elements have any sizes.
        let symbols = cx.symbols();
        if let Some(count) = symbols.product(indices.iter().copied())
            && let Some(own) = symbols.min(*own, count)
        {
            cx.require(own, Relation::AtMost, *data);
        }
    }
    Ok(())
}

/// Requires that indices of single elements are within the size of the indexed axis.
pub(super) fn require_along_axis(cx: &mut InferContext<'_, '_>) -> Result<(), InferError> {
    let Some(data) = cx.known_dims(0) else { return Ok(()) };
    let axis = indices::axis(cx.attributes.int_or("axis", 0)?, data.len())?;
    require_in_range(cx, &data[axis..=axis])
}

/// Shape of `GatherElements`: that of the indices.
pub fn gather_elements(cx: &mut InferContext<'_, '_>) -> InferResult {
    let indices = cx.dims(1)?;
    indices_fit(cx, &indices)?;
    require_along_axis(cx)?;
    let elements = cx.moved(0, false);
    with_elements(cx, indices, elements)
}
