//! Lists of tensors, and values that may be missing.
//!
//! The items of a list are known one by one where they were put together in the graph; otherwise
//! what all of them have in common is.

use std::sync::Arc;

use gradus_core::convert::{counted, i64_of};
use gradus_core::{DType, Error, Kind};

use crate::dim::{Bounds, Dim, Relation};
use crate::errors;
use crate::fact::{Fact, OptionalFact, SequenceFact, TensorFact};
use crate::indices;
use crate::infer::{InferContext, InferError, InferResult};

/// The facts about all items.
fn common(cx: &mut InferContext<'_, '_>, items: &[Fact], dtype: Option<DType>) -> Fact {
    let Some((first, rest)) = items.split_first() else { return Fact::tensor_type(dtype) };
    let first = first.clone().without_elements();
    rest.iter().fold(first, |all, item| {
        // A symbol stands for one number, and items may differ: only their rank is left where they
        // do.
        let item = item.clone().without_elements();
        if all == item { all } else { differing(cx, &all, &item) }
    })
}

/// The facts that hold for both of two items.
fn differing(cx: &mut InferContext<'_, '_>, a: &Fact, b: &Fact) -> Fact {
    cx.join(a, b, "the items of a list differ")
}

/// One of a list's items: where these may differ, so may two that are taken out.
fn any_item(cx: &mut InferContext<'_, '_>, each: &Fact) -> Fact {
    let Fact::Tensor(TensorFact { dtype, dims: Some(dims), .. }) = each else { return each.clone() };
    let own = |&dim: &Dim| match cx.symbols().rank(dim).0 {
        0 | 1 => dim,
        _ => cx.data("item of a sequence of different items", Bounds::SIZE),
    };
    Fact::tensor(*dtype, dims.iter().map(own).collect::<Vec<_>>())
}

/// A list of these items.
fn sequence(cx: &mut InferContext<'_, '_>, items: Vec<Fact>, dtype: Option<DType>) -> Fact {
    let each = common(cx, &items, dtype);
    Fact::Sequence(Arc::new(SequenceFact { each, len: Dim::from(items.len()), items: Some(items) }))
}

/// The first input, which is a list.
fn list(cx: &InferContext<'_, '_>) -> Result<Arc<SequenceFact>, InferError> {
    match cx.fact(0) {
        Fact::Sequence(sequence) => Ok(sequence.clone()),
        _ => Err(InferError::input(0, "is an unknown sequence")),
    }
}

/// The items of a list, to make another of them.
fn items(cx: &mut InferContext<'_, '_>, list: &SequenceFact) -> Option<Vec<Fact>> {
    let items = list.items.as_ref()?;
    cx.allow_items(items.len()).then(|| items.clone())
}

/// An index of an item, counted from the first, if all is known.
fn place(cx: &mut InferContext<'_, '_>, input: usize, count: usize) -> Option<usize> {
    counted(cx.integer(input)?.known()?, count)
}

/// Fact of `SequenceInsert`: the sequence with one item more.
pub fn insert(cx: &mut InferContext<'_, '_>) -> InferResult {
    let list = list(cx)?;
    let item = cx.read_fact(1);
    let dtype = item.dtype();
    if let Some(mut items) = items(cx, &list) {
        let at = if cx.has(2) { place(cx, 2, items.len()) } else { Some(items.len()) };
        if let Some(at) = at.filter(|&at| at <= items.len()) {
            items.insert(at, item);
            return Ok(vec![sequence(cx, items, dtype)]);
        }
    }
    let item = item.without_elements();
    let each = if list.len == Dim::ZERO { item } else { differing(cx, &list.each, &item) };
    let len = cx.add(list.len, Dim::ONE);
    Ok(vec![Fact::Sequence(Arc::new(SequenceFact { each, len, items: None }))])
}

/// Fact of `SequenceErase`: the sequence with one item less.
pub fn erase(cx: &mut InferContext<'_, '_>) -> InferResult {
    let list = list(cx)?;
    if let Some(mut items) = items(cx, &list) {
        let at = if cx.has(1) { place(cx, 1, items.len()) } else { items.len().checked_sub(1) };
        if let Some(at) = at.filter(|&at| at < items.len()) {
            items.remove(at);
            let dtype = list.each.dtype();
            return Ok(vec![sequence(cx, items, dtype)]);
        }
    }
    let len = cx.subtract(list.len, Dim::ONE);
    Ok(vec![Fact::Sequence(Arc::new(SequenceFact { each: list.each.clone(), len, items: None }))])
}

/// Fact of `SequenceAt`: the item at a known position, or what all items share.
pub fn at(cx: &mut InferContext<'_, '_>) -> InferResult {
    let list = list(cx)?;
    if let Some(items) = &list.items
        && let Some(at) = place(cx, 1, items.len())
    {
        let item = items.get(at).cloned();
        return item
            .map(|item| vec![item])
            .ok_or_else(|| errors::out_of_range("index", i64_of(at), items.len()).into());
    }
    Ok(vec![any_item(cx, &list.each)])
}

/// Fact of `SplitToSequence`: a sequence of slices along the axis.
pub fn split_to_sequence(cx: &mut InferContext<'_, '_>) -> InferResult {
    /// Maximum number of items that are known one by one.
    const MAX_KNOWN: i64 = 256;
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", 0)?, dims.len())?;
    let dtype = cx.dtype(0);
    let part = |size: Option<Dim>| {
        let mut part = dims.to_vec();
        match size {
            Some(size) => part[axis] = size,
            None => {
                part.remove(axis);
            }
        }
        Fact::tensor(dtype, part)
    };
    if !cx.has(1) {
        let size = cx.attributes.flag("keepdims", true)?.then_some(Dim::ONE);
        let items = dims[axis]
            .known()
            .filter(|&len| len <= MAX_KNOWN)
            .map(|len| (0..len).map(|_| part(size)).collect::<Vec<_>>());
        return Ok(vec![Fact::Sequence(Arc::new(SequenceFact { each: part(size), len: dims[axis], items }))]);
    }
    let scalar = cx.known_dims(1).is_some_and(|dims| dims.is_empty());
    match (cx.integers(1), scalar) {
        (Some(sizes), false) => {
            if let Some(size) = sizes.iter().filter_map(|size| size.known()).find(|&size| size < 0) {
                return Err(Error::mismatch(Kind::Shape, "a size of a part", size, "at least 0").into());
            }
            let total = cx.symbols().total(sizes.iter().copied());
            match total {
                Some(total) => cx.not_apart(total, dims[axis], errors::SPLIT_SIZES)?,
                None if sizes.iter().all(|size| size.known().is_some()) => {
                    return Err(
                        errors::shape(errors::SPLIT_SIZES, "2^63 or more", "the size of the axis").into()
                    );
                }
                None => {}
            }
            let items: Vec<_> = sizes.iter().map(|&size| part(Some(size))).collect();
            Ok(vec![sequence(cx, items, dtype)])
        }
        (Some(size), true) => {
            let size = size[0];
            if let Dim::Known(size @ ..=0) = size {
                return Err(errors::value("split size", size, "at least 1").into());
            }
            let len = cx.ceil_divide(dims[axis], size);
            if cx.symbols().divides(size, dims[axis]) {
                let each = part(Some(size));
                let items = len
                    .known()
                    .filter(|&len| len <= MAX_KNOWN)
                    .map(|len| (0..len).map(|_| each.clone()).collect());
                return Ok(vec![Fact::Sequence(Arc::new(SequenceFact { each, len, items }))]);
            }
            if let (Some(len), Dim::Known(whole), Dim::Known(size)) =
                (len.known().filter(|&len| len <= MAX_KNOWN), dims[axis], size)
            {
                let items = (0..len).map(|i| part(Some(Dim::Known(size.min(whole - i * size))))).collect();
                return Ok(vec![sequence(cx, items, dtype)]);
            }
            let last = cx.data("the last piece may be smaller", Bounds::SIZE);
            Ok(vec![Fact::Sequence(Arc::new(SequenceFact { each: part(Some(last)), len, items: None }))])
        }
        (None, _) => {
            let [size, len] =
                ["the split sizes are not known before the run"; 2].map(|why| cx.data(why, Bounds::SIZE));
            Ok(vec![Fact::Sequence(Arc::new(SequenceFact { each: part(Some(size)), len, items: None }))])
        }
    }
}

/// Shape of `ConcatFromSequence`: the items', concatenated along an axis or stacked.
pub fn concat_from_sequence(cx: &mut InferContext<'_, '_>) -> InferResult {
    let list = list(cx)?;
    // The items tell the rank.
    if list.len == Dim::ZERO {
        return Err(errors::count("items of the sequence", 0, "at least 1").into());
    }
    if cx.symbols().rank(list.len).0 <= 1 {
        cx.require(list.len, Relation::AtLeast, Dim::ONE);
    }
    let new = cx.attributes.flag("new_axis", false)?;
    let Fact::Tensor(TensorFact { dims: Some(each), dtype, .. }) = &list.each else {
        return Err(InferError::input(0, "has items of unknown rank"));
    };
    let rank = each.len() + usize::from(new);
    let axis = indices::axis(cx.attributes.int_or("axis", 0)?, rank)?;
    let mut all = each.to_vec();
    beside_axis(cx, &list, (!new).then_some(axis), &mut all)?;
    if new {
        all.insert(axis, list.len);
        return Ok(vec![Fact::tensor(*dtype, all)]);
    }
    let uniform = list.items.as_ref().is_none_or(|items| {
        items.iter().all(|item| item.as_tensor().and_then(|item| item.dims.as_deref()) == Some(&**each))
    });
    all[axis] = match &list.items {
        Some(items) => {
            let parts = items.iter().map(|item| item.as_tensor()?.dims.as_ref()?.get(axis).copied());
            match parts.collect::<Option<Vec<_>>>() {
                Some(parts) => {
                    let total = cx.symbols().total(parts);
                    cx.or_fresh(total)
                }
                None => cx.unknown("an item has unknown rank", Bounds::SIZE),
            }
        }
        None if uniform && each[axis].known().is_some() => cx.multiply(list.len, each[axis]),
        None => cx.data("total size of the items", Bounds::SIZE),
    };
    Ok(vec![Fact::tensor(*dtype, all)])
}

/// Requires that the sizes of all items are equal along each axis but one, and writes them to the
/// dimensions that all have in common.
fn beside_axis(
    cx: &mut InferContext<'_, '_>,
    list: &SequenceFact,
    but: Option<usize>,
    all: &mut [Dim],
) -> Result<(), InferError> {
    let items: Option<Vec<_>> = list.items.as_ref().and_then(|items| {
        items
            .iter()
            .map(|item| item.as_tensor()?.dims.clone().filter(|dims| dims.len() == all.len()))
            .collect()
    });
    for (axis, common) in all.iter_mut().enumerate().filter(|(axis, _)| Some(*axis) != but) {
        match &items {
            Some(items) => {
                let Some((first, rest)) = items.split_first() else { continue };
                *common = first[axis];
                for dims in rest {
                    *common = cx.equal(*common, dims[axis], errors::beside(axis))?;
                }
            }
            // A symbol of the data stands for another number in each item.
            None if cx.symbols().rank(*common).0 > 1 => {
                cx.require_of_values(format!("items of the list have one size along axis {axis}"));
            }
            None => {}
        }
    }
    Ok(())
}

/// Fact of `Optional`: the input's, or a type without a value.
pub fn optional(cx: &mut InferContext<'_, '_>) -> InferResult {
    let value = if cx.has(0) {
        cx.read_fact(0)
    } else {
        match cx.attributes.get("type") {
            Some(gradus_core::graph::Content::Type(of)) => Fact::tensor_type(of.dtype()),
            _ => Fact::Unknown,
        }
    };
    Ok(vec![Fact::Optional(Arc::new(OptionalFact { value, present: Some(cx.has(0)) }))])
}

/// Fact of `SequenceEmpty`: a sequence of no items.
pub fn sequence_empty(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.attributes.dtype("dtype")?.unwrap_or(DType::F32);
    Ok(vec![sequence(cx, Vec::new(), Some(dtype))])
}

/// Fact of `SequenceConstruct`: a sequence of the inputs.
pub fn sequence_construct(cx: &mut InferContext<'_, '_>) -> InferResult {
    let items = (0..cx.count()).map(|input| cx.read_fact(input)).collect();
    let dtype = cx.dtype(0);
    Ok(vec![sequence(cx, items, dtype)])
}

/// Fact of `SequenceLength`: the number of items, as its element.
pub fn sequence_length(cx: &mut InferContext<'_, '_>) -> InferResult {
    let len = list(cx)?.len;
    Ok(vec![cx.integers_fact(DType::I64, [], [len])])
}

/// Fact of `OptionalGetElement`: that of the value.
pub fn optional_get_element(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![match cx.read_fact(0) {
        Fact::Optional(optional) => optional.value.clone(),
        other => other,
    }])
}

/// Fact of `OptionalHasElement`: the truth value, where it is known.
pub fn optional_has_element(cx: &mut InferContext<'_, '_>) -> InferResult {
    let present = match cx.fact(0) {
        _ if !cx.has(0) => Some(false),
        Fact::Optional(optional) => optional.present,
        Fact::Unknown => None,
        _ => Some(true),
    };
    Ok(vec![match present {
        Some(present) => cx.integers_fact(DType::Bool, [], [Dim::Known(present.into())]),
        None => Fact::typed(DType::Bool, []),
    }])
}
