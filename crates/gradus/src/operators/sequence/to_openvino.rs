//! Sequences in the operators of OpenVINO, which has none: a sequence is a list of values, or a
//! tensor whose slices along the first axis are its items.

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::ValueId;
use gradus_core::{Result, Tensor};

use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::scope::Items;
use crate::conversion::to_openvino::say;
use crate::conversion::writer::NewValue;
use crate::fact::{Fact, TensorFact};
use crate::operators::{errors, indices};

/// Most parts into which a tensor is split.
const MOST: i64 = 1024;

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
fn given(cx: &mut ConvertContext<'_, '_>, items: Items) -> Vec<NewValue> {
    if let Some(id) = cx.node.outputs.first().copied().flatten() {
        cx.scope.set_items(id, items);
    }
    Vec::new()
}

/// The number of axes of the items.
fn rank_of_items(cx: &ConvertContext<'_, '_>) -> Result<usize> {
    let rank = match cx.fact(0) {
        Fact::Sequence(sequence) => sequence.each.as_tensor().and_then(TensorFact::rank),
        _ => None,
    };
    rank.ok_or_else(|| not_known("rank of the items of the sequence"))
}

/// The index of an item that an input names, up to `most`; the default without that input.
fn position(cx: &ConvertContext<'_, '_>, input: usize, count: usize, default: usize) -> Result<usize> {
    if !cx.has(input) {
        return Ok(default);
    }
    let given = cx.integer(input)?;
    let from_first = if given < 0 { given.saturating_add(i64_of(count)) } else { given };
    usize_of_i64(from_first)
        .filter(|&at| at <= default)
        .ok_or_else(|| errors::out_of_range("index", given, count))
}

pub(crate) fn empty(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    Ok(given(cx, Items::Each(Vec::new())))
}

pub(crate) fn construct(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let items = cx.inputs()?;
    Ok(given(cx, Items::Each(items)))
}

pub(crate) fn insert(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let Items::Each(mut items) = items(cx)? else {
        return Err(not_known("number of items of the sequence"));
    };
    let item = cx.input(1)?;
    let at = position(cx, 2, items.len(), items.len())?;
    items.insert(at, item);
    Ok(given(cx, Items::Each(items)))
}

pub(crate) fn erase(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let Items::Each(mut items) = items(cx)? else {
        return Err(not_known("number of items of the sequence"));
    };
    let Some(last) = items.len().checked_sub(1) else {
        return Err(errors::out_of_range("index", -1, 0));
    };
    let at = position(cx, 1, items.len(), last)?;
    items.remove(at);
    Ok(given(cx, Items::Each(items)))
}

pub(crate) fn at(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    match items(cx)? {
        Items::Each(items) => {
            let last = items.len().checked_sub(1).ok_or_else(|| errors::out_of_range("index", 0, 0))?;
            let at = position(cx, 1, items.len(), last)?;
            Ok(vec![items[at]])
        }
        Items::Stacked(all) => {
            let (at, axis) = (cx.scalar_input(1)?, cx.scalar(0));
            Ok(vec![cx.put("Gather", &[all, at, axis], &[say("batch_dims", 0)])?])
        }
    }
}

pub(crate) fn length(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    match items(cx)? {
        // A constant of its own, as it gets the name of the node's output.
        Items::Each(items) => Ok(vec![cx.target.constant(None, Tensor::scalar(i64_of(items.len())).into())]),
        Items::Stacked(all) => {
            let shape = cx.shape_of(all)?;
            let first = cx.sliced(shape, 0, 1)?;
            Ok(vec![cx.reshaped(first, &[])?])
        }
    }
}

/// Parts of sizes that are known, or all slices along an axis.
pub(crate) fn split(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, rank) = (cx.input(0)?, cx.rank(0)?);
    let axis = cx.axis(cx.attributes.int_or("axis", 0)?, 0)?;
    let size = cx.dims(0).and_then(|dims| dims[axis]);
    if !cx.has(1) {
        let mut order: Vec<_> = (0..i64_of(rank)).collect();
        order[..=axis].rotate_right(1);
        let mut all = x;
        if axis > 0 {
            let order = cx.list(&order);
            all = cx.put("Transpose", &[x, order], &[])?;
        }
        if cx.attributes.flag("keepdims", true)? {
            let axis = cx.list(&[i64_of(axis) + 1]);
            all = cx.put("Unsqueeze", &[all, axis], &[])?;
        }
        return Ok(given(cx, Items::Stacked(all)));
    }
    let at = cx.scalar(i64_of(axis));
    let (sizes, count) = match (cx.known_integers(1)?, cx.rank(1)?) {
        (Some(each), 0) => {
            let (each, size) = (each[0], size.ok_or_else(|| not_known("size of the axis that is split"))?);
            if each < 1 {
                return Err(errors::value("size of a part", each, "at least 1"));
            }
            let count = size / each + i64::from(size % each != 0);
            if count > MOST {
                let what = "cannot convert: number of parts";
                let wanted = format_args!("at most {MOST}");
                return Err(gradus_core::Error::mismatch(
                    gradus_core::Kind::Unsupported,
                    what,
                    count,
                    wanted,
                ));
            }
            let sizes: Vec<_> = (0..count).map(|part| each.min(size - part * each)).collect();
            (cx.list(&sizes), sizes.len())
        }
        (None, 0) => return Err(not_known("value of input 1")),
        _ => {
            let count = cx.len(1).ok_or_else(|| not_known("number of elements of input 1"))?;
            (cx.input(1)?, count)
        }
    };
    if count == 0 {
        return Ok(given(cx, Items::Each(Vec::new())));
    }
    let parts = cx.put_many("VariadicSplit", &[x, at, sizes], &[], count)?;
    Ok(given(cx, Items::Each(parts)))
}

pub(crate) fn concat(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
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
        Items::Stacked(all) => {
            let rank = rank_of_items(cx)?;
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
