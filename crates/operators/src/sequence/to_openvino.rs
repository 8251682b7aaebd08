//! Sequences in the operators of OpenVINO, which has none.
//!
//! | items | become |
//! |---|---|
//! | listed in the graph | a value each |
//! | of one shape, their number not known | slices of a tensor along a new first axis |
//! | parts of unknown number, or read at any index | slices of their input, by starts and ends |
//! | of unequal shapes, appended by a loop and then joined | their concatenation |

use gradus_core::convert::{counted, i64_of, usize_of_i64};
use gradus_core::graph::{DeclaredDim, Type, ValueId};
use gradus_core::{DType, Error, Result, Shape, Tensor};

use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::scope::Items;
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::types::{declared, named};
use crate::conversion::writer::{GraphWriter, NewValue};
use crate::dim::Dim;
use crate::fact::{Fact, TensorFact};
use crate::{errors, indices};

/// Maximum number of parts of a tensor that become a value each.
const MAX_PARTS: i64 = 1024;

/// The caveat for sequences whose items are slices of a tensor.
pub const ONE_SHAPE: &str = "the items of a sequence must have one shape";

/// The id of an input.
fn id(cx: &ConvertContext<'_, '_>, input: usize) -> Result<ValueId> {
    let id = cx.node.inputs.get(input).copied().flatten();
    id.ok_or_else(|| errors::missing(format_args!("input {input}")))
}

/// The items of the first input.
fn items(cx: &ConvertContext<'_, '_>) -> Result<Items> {
    let known = cx.scope.items(id(cx, 0)?).cloned();
    known.ok_or_else(|| cannot("OpenVINO has no sequences, and the items of this one are not known"))
}

/// Says what the sequence of the first output consists of.
///
/// # Errors
/// [`gradus_core::Kind::Limit`] if all sequences have more items than the limits allow.
fn given(cx: &mut ConvertContext<'_, '_>, items: Items) -> Result<Vec<NewValue>> {
    cx.conversion.count_items(&items)?;
    if let Some(id) = cx.node.outputs.first().copied().flatten() {
        cx.scope.set_items(id, items);
    }
    Ok(Vec::new())
}

/// The dimensions that all items of a sequence have; `None` for one that is not known.
pub fn dims_of_items(fact: &Fact) -> Result<Vec<Option<i64>>> {
    let dims = match fact {
        Fact::Sequence(sequence) => sequence.each.as_tensor().and_then(|each| each.dims.clone()),
        _ => None,
    };
    let dims = dims.ok_or_else(|| not_known("rank of the items of the sequence"))?;
    Ok(dims.iter().map(|dim| dim.known()).collect())
}

/// The element type and sizes of an item.
fn typed(fact: &Fact) -> Result<(DType, Option<Vec<DeclaredDim>>)> {
    match declared(fact) {
        Some(Type::Tensor(Some(dtype), sizes)) => Ok((dtype, sizes)),
        _ => Err(unknown_type()),
    }
}

fn unknown_type() -> Error {
    not_known("element type or rank of the items of the sequence")
}

/// The type of a tensor whose slices along its first axis are the items of a sequence.
pub fn type_of_stacked(fact: &Fact) -> Result<Type> {
    let Fact::Sequence(sequence) = fact else { return Err(unknown_type()) };
    let (dtype, sizes) = typed(&sequence.each)?;
    let mut sizes = sizes.ok_or_else(unknown_type)?;
    sizes.insert(0, DeclaredDim::Unknown);
    Ok(Type::Tensor(Some(dtype), Some(sizes)))
}

/// The types of the values that a sequence consists of.
pub fn types(fact: &Fact, items: &Items) -> Result<Vec<Type>> {
    let Fact::Sequence(sequence) = fact else { return Err(unknown_type()) };
    let axis = match *items {
        Items::Each(ref values) => {
            let known = sequence.items.as_ref().filter(|known| known.len() == values.len());
            let of = |item: usize| typed(known.map_or(&sequence.each, |known| &known[item]));
            return (0..values.len())
                .map(|item| of(item).map(|(dtype, sizes)| Type::Tensor(Some(dtype), sizes)))
                .collect();
        }
        Items::Stacked(_) => return type_of_stacked(fact).map(|stacked| vec![stacked]),
        Items::Parts { axis, .. } | Items::Joined { axis, .. } => axis,
    };
    let (dtype, sizes) = typed(&sequence.each)?;
    let mut sizes = sizes.ok_or_else(unknown_type)?;
    sizes[axis] = DeclaredDim::Unknown;
    let mut types = vec![Type::Tensor(Some(dtype), Some(sizes))];
    types.resize(items.values().len(), Type::Tensor(Some(DType::I64), Some(vec![DeclaredDim::Unknown])));
    Ok(types)
}

/// Notes that the items of a sequence must have one shape, unless it is known that they do.
///
/// # Errors
/// [`gradus_core::Kind::Unsupported`] if their shapes differ.
pub fn expect_one_shape(cx: &mut ConvertContext<'_, '_>, fact: &Fact) -> Result<()> {
    let items = match fact {
        Fact::Sequence(sequence) => sequence.items.as_deref().unwrap_or_default(),
        _ => &[],
    };
    let (mut equal, mut differ) = (!items.is_empty(), false);
    for pair in items.windows(2) {
        let [a, b] = [&pair[0], &pair[1]].map(|item| item.as_tensor().and_then(|item| item.dims.as_deref()));
        equal &= a.is_some() && a == b;
        if let (Some(a), Some(b)) = (a, b) {
            let unlike = |(a, b): (&Dim, &Dim)| a.known().zip(b.known()).is_some_and(|(a, b)| a != b);
            differ |= a.len() != b.len() || a.iter().zip(b).any(unlike);
        }
    }
    if differ {
        return Err(cannot(
            "OpenVINO has no equivalent of a sequence of items of unequal shapes that is read at an index that is not \
             known before a run, or changed by a loop or branch",
        ));
    }
    if !equal && !dims_of_items(fact).is_ok_and(|dims| dims.iter().all(Option::is_some)) {
        cx.edges(ONE_SHAPE);
    }
    Ok(())
}

/// No items: a tensor of no elements, whose dimensions that are not known are 0. With an axis, the
/// concatenation along it.
fn none(target: &mut GraphWriter, fact: &Fact, axis: Option<usize>) -> Result<NewValue> {
    let mut dims: Vec<_> =
        dims_of_items(fact)?.iter().map(|dim| dim.and_then(usize_of_i64).unwrap_or(0)).collect();
    match axis {
        Some(axis) => dims[axis] = 0,
        None => dims.insert(0, 0),
    }
    let dtype = match fact {
        Fact::Sequence(sequence) => sequence.each.dtype(),
        _ => None,
    };
    let dtype = dtype.ok_or_else(|| not_known("element type of the items of the sequence"))?;
    Ok(target.tensor(Tensor::zeros(dtype, Shape::new(dims)?)?))
}

/// The tensor whose slices along its first axis are the items.
pub fn stacked(target: &mut GraphWriter, items: &Items, fact: &Fact) -> Result<NewValue> {
    let mut all = match items {
        Items::Stacked(all) => return Ok(*all),
        Items::Each(items) if items.is_empty() => return none(target, fact, None),
        Items::Each(items) => items.clone(),
        Items::Parts { .. } | Items::Joined { .. } => {
            return Err(cannot(
                "OpenVINO has no equivalent of a sequence of parts that a loop or branch changes",
            ));
        }
    };
    let first = target.tensor(Tensor::vector(&[0i64]));
    for item in &mut all {
        *item = target.put("Unsqueeze", &[*item, first], &[], 1)?[0];
    }
    if let [only] = all[..] { Ok(only) } else { Ok(target.put("Concat", &all, &[say("axis", 0)], 1)?[0]) }
}

/// The items put together along an axis that they have.
pub fn joined(target: &mut GraphWriter, items: &Items, fact: &Fact, axis: usize) -> Result<NewValue> {
    match items {
        Items::Each(items) => match items[..] {
            [] => none(target, fact, Some(axis)),
            [only] => Ok(only),
            _ => Ok(target.put("Concat", items, &[say("axis", axis)], 1)?[0]),
        },
        Items::Parts { values: [whole, ..], axis: own } | Items::Joined { whole, axis: own }
            if *own == axis =>
        {
            Ok(*whole)
        }
        _ => Err(cannot(format!(
            "OpenVINO has no equivalent of the concatenation of these items along axis {axis}"
        ))),
    }
}

/// Elements along the first axis, from one place to before another.
fn rows(cx: &mut ConvertContext<'_, '_>, all: NewValue, from: NewValue, to: NewValue) -> Result<NewValue> {
    let (one, axis) = (cx.list(&[1]), cx.list(&[0]));
    cx.put("Slice", &[all, from, to, one, axis], &[])
}

/// An index that an input names, as a list of one int64; negative ones count from the end.
fn listed_index(cx: &mut ConvertContext<'_, '_>, input: usize) -> Result<NewValue> {
    let at = cx.input(input)?;
    let at = cx.reshaped(at, &[1])?;
    cx.converted(at, DType::I64)
}

/// The error of an index that no item has; a branch that never runs may have one.
fn no_item(index: i64, count: usize) -> Error {
    cannot(format!("cannot convert: index of an item is {index}, expected one of {count} items"))
}

/// The index of an item that an input names, up to `most`; the default without that input.
fn position(cx: &ConvertContext<'_, '_>, input: usize, count: usize, default: usize) -> Result<usize> {
    if !cx.has(input) {
        return Ok(default);
    }
    let given = cx.integer(input)?;
    counted(given, count).filter(|&at| at <= default).ok_or_else(|| no_item(given, count))
}

/// Returns the items unchanged.
pub fn same(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let items = items(cx)?;
    given(cx, items)
}

/// `Optional`: what it holds.
pub fn optional(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.has(0) {
        return held(cx);
    }
    Err(cannot("OpenVINO has no equivalent of an optional that holds nothing"))
}

/// The tensor or the sequence that the first input holds, or is.
pub fn held(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if let Some(items) = cx.scope.items(id(cx, 0)?).cloned() {
        return given(cx, items);
    }
    let (x, dtype) = (cx.input(0)?, cx.dtype(0)?);
    Ok(vec![cx.target.copy(x, Some(dtype))?])
}

/// Writes `SequenceEmpty` as no items.
pub fn empty(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    given(cx, Items::Each(Vec::new()))
}

/// Writes `SequenceConstruct` as items, each a tensor.
pub fn construct(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let items = cx.inputs()?;
    given(cx, Items::Each(items))
}

/// Returns true if an index is known, or not given.
fn is_known(cx: &ConvertContext<'_, '_>, input: usize) -> Result<bool> {
    Ok(!cx.has(input) || cx.known_integers(input)?.is_some())
}

/// Writes `SequenceInsert` as a list with one item more, or as a concatenation.
pub fn insert(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (items, fact, item) = (items(cx)?, cx.fact(0).clone(), cx.input(1)?);
    if let Items::Each(items) = items {
        if !is_known(cx, 2)? {
            expect_one_shape(cx, &fact)?;
            let all = stacked(cx.target, &Items::Each(items), &fact)?;
            return insert_slice(cx, all, &fact, item);
        }
        let at = position(cx, 2, items.len(), items.len())?;
        let items = [&items[..at], &[item], &items[at..]].concat();
        return given(cx, Items::Each(items));
    }
    let Items::Joined { whole, axis } = items else {
        let all = stacked(cx.target, &items, &fact)?;
        return insert_slice(cx, all, &fact, item);
    };
    let (mut whole, at) = (whole, i64_of(axis));
    let mut dims = dims_of_items(&fact)?;
    dims.remove(axis);
    if dims.contains(&None) {
        let shape = cx.shape_of(item)?;
        let (before, after) = (cx.sliced(shape, 0, at)?, cx.sliced(shape, at + 1, i64::MAX)?);
        whole = like_item(cx, whole, at, &[before], &[after])?;
    }
    let whole = cx.put("Concat", &[whole, item], &[say("axis", axis)])?;
    given(cx, Items::Joined { whole, axis })
}

/// The items so far, before the first of which unknown dimensions are 0, with those of an item.
///
/// The shape is that of the items where there are any. A shape whose first dimension is always
/// their count would let OpenVINO conclude that the others are equal too, which needs elements.
fn like_item(
    cx: &mut ConvertContext<'_, '_>,
    all: NewValue,
    axis: i64,
    before: &[NewValue],
    after: &[NewValue],
) -> Result<NewValue> {
    let (own, zero) = (cx.shape_of(all)?, cx.list(&[0]));
    let count = cx.sliced(own, axis, axis + 1)?;
    let dims = cx.put("Concat", &[before, &[zero], after].concat(), &[say("axis", 0)])?;
    let none = cx.put("Equal", &[count, zero], &[numpy()])?;
    let dims = cx.put("Select", &[none, dims, own], &[numpy()])?;
    cx.put("Reshape", &[all, dims], &[say("special_zero", false)])
}

/// Inserts an item among the slices of a tensor.
fn insert_slice(
    cx: &mut ConvertContext<'_, '_>,
    all: NewValue,
    fact: &Fact,
    item: NewValue,
) -> Result<Vec<NewValue>> {
    let each = if let Fact::Sequence(sequence) = fact { sequence.each.as_tensor() } else { None };
    let dims = |fact: Option<&TensorFact>| fact.and_then(|fact| fact.dims.clone());
    if dims(each).is_none() || dims(each) != dims(cx.fact(1).as_tensor()) {
        cx.edges(ONE_SHAPE);
    }
    let (mut all, first) = (all, cx.list(&[0]));
    if dims_of_items(fact)?.contains(&None) {
        let shape = cx.shape_of(item)?;
        all = like_item(cx, all, 0, &[], &[shape])?;
    }
    let item = cx.put("Unsqueeze", &[item, first], &[])?;
    let parts = if cx.has(2) {
        let (at, last) = (listed_index(cx, 2)?, cx.list(&[i64::MAX]));
        vec![rows(cx, all, first, at)?, item, rows(cx, all, at, last)?]
    } else {
        vec![all, item]
    };
    let all = cx.put("Concat", &parts, &[say("axis", 0)])?;
    given(cx, Items::Stacked(all))
}

/// Writes `SequenceErase` as a list with one item less, or as slices.
pub fn erase(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (items, fact) = (items(cx)?, cx.fact(0).clone());
    if let Items::Each(items) = &items
        && is_known(cx, 1)?
    {
        let last = items.len().checked_sub(1).ok_or_else(|| no_item(-1, 0))?;
        let (at, mut items) = (position(cx, 1, items.len(), last)?, items.clone());
        items.remove(at);
        return given(cx, Items::Each(items));
    }
    if matches!(items, Items::Each(_)) {
        expect_one_shape(cx, &fact)?;
    }
    let (all, first) = (stacked(cx.target, &items, &fact)?, cx.list(&[0]));
    if !cx.has(1) {
        let last = cx.list(&[-1]);
        let all = rows(cx, all, first, last)?;
        return given(cx, Items::Stacked(all));
    }
    let (at, shape) = (listed_index(cx, 1)?, cx.shape_of(all)?);
    let count = cx.sliced(shape, 0, 1)?;
    let negative = cx.put("Less", &[at, first], &[numpy()])?;
    let negative = cx.converted(negative, DType::I64)?;
    let from_end = cx.put("Multiply", &[negative, count], &[numpy()])?;
    let at = cx.put("Add", &[at, from_end], &[numpy()])?;
    let (one, last) = (cx.list(&[1]), cx.list(&[i64::MAX]));
    let next = cx.put("Add", &[at, one], &[numpy()])?;
    let parts = [rows(cx, all, first, at)?, rows(cx, all, next, last)?];
    let all = cx.put("Concat", &parts, &[say("axis", 0)])?;
    given(cx, Items::Stacked(all))
}

/// Writes `SequenceAt` as an item, `Gather` or `Slice`.
pub fn at(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (items, fact) = (items(cx)?, cx.fact(0).clone());
    let all = match items {
        Items::Each(items) if is_known(cx, 1)? => {
            let last = items.len().checked_sub(1).ok_or_else(|| no_item(0, 0))?;
            return Ok(vec![items[position(cx, 1, items.len(), last)?]]);
        }
        Items::Each(_) => {
            expect_one_shape(cx, &fact)?;
            stacked(cx.target, &items, &fact)?
        }
        Items::Parts { values: [whole, starts, ends], axis } => {
            let (at, zero) = (listed_index(cx, 1)?, cx.scalar(0));
            let from = cx.put("Gather", &[starts, at, zero], &[say("batch_dims", 0)])?;
            let to = cx.put("Gather", &[ends, at, zero], &[say("batch_dims", 0)])?;
            let (one, axis) = (cx.list(&[1]), cx.list(&[i64_of(axis)]));
            return Ok(vec![cx.put("Slice", &[whole, from, to, one, axis], &[])?]);
        }
        Items::Stacked(_) | Items::Joined { .. } => stacked(cx.target, &items, &fact)?,
    };
    let (at, axis) = (cx.scalar_input(1)?, cx.scalar(0));
    Ok(vec![cx.put("Gather", &[all, at, axis], &[say("batch_dims", 0)])?])
}

/// Writes `SequenceLength` as a constant, or as a size.
pub fn length(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let all = match items(cx)? {
        // A constant of its own, as it gets the name of the node's output.
        Items::Each(items) => {
            return Ok(vec![cx.target.constant(None, Tensor::scalar(i64_of(items.len())).into())]);
        }
        Items::Stacked(all) | Items::Parts { values: [_, all, _], .. } => all,
        Items::Joined { .. } => return Err(not_known("number of items of the sequence")),
    };
    let shape = cx.shape_of(all)?;
    let first = cx.sliced(shape, 0, 1)?;
    Ok(vec![cx.reshaped(first, &[])?])
}

/// Parts of sizes that are known, or all slices along an axis.
pub fn split(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, rank) = (cx.input(0)?, cx.rank(0)?);
    let axis = cx.axis(cx.attributes.int_or("axis", 0)?, 0)?;
    let size = cx.dims(0).and_then(|dims| dims[axis]);
    let any = cx.node.outputs.first().copied().flatten().is_some_and(|id| cx.scope.reads_any_item(id));
    let known = if cx.has(1) { cx.known_integers(1)? } else { None };
    let scalar = cx.has(1) && cx.rank(1)? == 0;
    let ones = known.as_ref().is_some_and(|known| known.iter().all(|&each| each == 1));
    if let (true, Some(&[each])) = (scalar, known.as_deref())
        && each < 1
    {
        return Err(errors::value("size of a part", each, "at least 1"));
    }
    let sizes = match known {
        Some(known) if scalar => size.and_then(|size| {
            let each = known[0];
            let count = size / each + i64::from(size % each != 0);
            (count <= MAX_PARTS)
                .then(|| (0..count).map(|part| each.min(size - part * each)).collect::<Vec<_>>())
        }),
        known => known,
    };
    if !cx.has(1) || (ones && (any || sizes.is_none())) {
        let mut order: Vec<_> = (0..i64_of(rank)).collect();
        order[..=axis].rotate_right(1);
        let mut all = x;
        if axis > 0 {
            let order = cx.list(&order);
            all = cx.put("Transpose", &[x, order], &[])?;
        }
        if cx.has(1) || cx.attributes.flag("keepdims", true)? {
            let axis = cx.list(&[i64_of(axis) + 1]);
            all = cx.put("Unsqueeze", &[all, axis], &[])?;
        }
        return given(cx, Items::Stacked(all));
    }
    let count = match &sizes {
        Some(sizes) => Some(sizes.len()),
        None if scalar => None,
        None => cx.len(1),
    };
    let Some(count) = count.filter(|_| !any) else {
        let [starts, ends] = if scalar { equal_parts(cx, x, axis)? } else { listed_parts(cx)? };
        return given(cx, Items::Parts { values: [x, starts, ends], axis });
    };
    if count == 0 {
        return given(cx, Items::Each(Vec::new()));
    }
    let sizes = match sizes {
        Some(sizes) if scalar => cx.list(&sizes),
        _ => cx.input(1)?,
    };
    let at = cx.scalar(i64_of(axis));
    let parts = cx.put_many("VariadicSplit", &[x, at, sizes], &[], count)?;
    given(cx, Items::Each(parts))
}

/// Starts and ends of the parts along an axis if the second input is the size of all but the last.
fn equal_parts(cx: &mut ConvertContext<'_, '_>, x: NewValue, axis: usize) -> Result<[NewValue; 2]> {
    let (each, shape) = (cx.scalar_input(1)?, cx.shape_of(x)?);
    let each = cx.converted(each, DType::I64)?;
    let size = cx.sliced(shape, i64_of(axis), i64_of(axis) + 1)?;
    let (stop, zero) = (cx.reshaped(size, &[])?, cx.scalar(0));
    let starts = cx.put("Range", &[zero, stop, each], &[named("output_type", DType::I64)?])?;
    let ends = cx.put("Add", &[starts, each], &[numpy()])?;
    Ok([starts, cx.put("Minimum", &[ends, stop], &[numpy()])?])
}

/// Starts and ends of the parts whose sizes the second input lists.
fn listed_parts(cx: &mut ConvertContext<'_, '_>) -> Result<[NewValue; 2]> {
    let (sizes, axis) = (cx.input(1)?, cx.scalar(0));
    let sizes = cx.converted(sizes, DType::I64)?;
    let ends = cx.put("CumSum", &[sizes, axis], &[say("exclusive", false), say("reverse", false)])?;
    Ok([cx.put("Subtract", &[ends, sizes], &[numpy()])?, ends])
}

/// Writes `ConcatFromSequence` as `Concat` of the items, or by their stack.
pub fn concat(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (axis, new) = (cx.attributes.int_or("axis", 0)?, cx.attributes.flag("new_axis", false)?);
    match items(cx)? {
        Items::Each(mut items) => {
            if items.is_empty() {
                return Err(cannot("OpenVINO has no equivalent of the concatenation of no items"));
            }
            if new {
                let axis = cx.list(&[axis]);
                for item in &mut items {
                    *item = cx.put("Unsqueeze", &[*item, axis], &[])?;
                }
            }
            if let [only] = items[..] {
                return Ok(vec![only]);
            }
            Ok(vec![cx.put("Concat", &items, &[say("axis", axis)])?])
        }
        parts @ (Items::Parts { .. } | Items::Joined { .. }) => {
            if new {
                return Err(cannot("OpenVINO has no equivalent of items of unequal shapes along a new axis"));
            }
            let fact = cx.fact(0).clone();
            let axis = indices::axis(axis, dims_of_items(&fact)?.len())?;
            Ok(vec![joined(cx.target, &parts, &fact, axis)?])
        }
        Items::Stacked(all) => {
            let rank = dims_of_items(cx.fact(0))?.len();
            let axis = indices::axis(axis, if new { rank + 1 } else { rank })?;
            // The axis of the items goes to the axis along which they are put together, or before
            // it.
            let mut value = all;
            if axis > 0 {
                let mut order: Vec<_> = (0..=i64_of(rank)).collect();
                order[..=axis].rotate_left(1);
                let order = cx.list(&order);
                value = cx.put("Transpose", &[all, order], &[])?;
            }
            if new {
                return Ok(vec![value]);
            }
            let (shape, place, axis) = (cx.shape_of(value)?, cx.list(&[0]), i64_of(axis));
            let both = cx.sliced(shape, axis, axis + 2)?;
            let both = cx.put("ReduceProd", &[both, place], &[say("keep_dims", true)])?;
            let (before, after) = (cx.sliced(shape, 0, axis)?, cx.sliced(shape, axis + 2, i64::MAX)?);
            let dims = cx.put("Concat", &[before, both, after], &[say("axis", 0)])?;
            Ok(vec![cx.put("Reshape", &[value, dims], &[say("special_zero", false)])?])
        }
    }
}
