//! Operators that take parts of tensors, or put parts into them.

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::lowered::graph_of;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_onnx::{int, word};
use crate::conversion::writer::{NONE, NewValue};
use crate::dialects::openvino::rows;
use crate::normalize::Older;
use crate::operators::errors;
use crate::operators::indexing::openvino::Masks;
use crate::operators::indices::axis as axis_of;

/// Indices in a type that ONNX takes.
pub(crate) fn indices(cx: &mut ConvertContext<'_, '_>, input: usize) -> Result<NewValue> {
    if cx.dtype(input)? == DType::I32 { cx.input(input) } else { cx.whole(input) }
}

/// Notes what ONNX does not do, unless all indices are known to be those of elements along the
/// axis.
fn out_of_range(cx: &mut ConvertContext<'_, '_>, axis: usize) -> Result<()> {
    const WHY: &str = "an index out of range gives zeros in OpenVINO, and is an error in ONNX";
    match (cx.known_integers(1)?, cx.known_size(0, axis)) {
        (Some(chosen), Some(size)) if chosen.iter().all(|index| (-size..size).contains(index)) => {}
        (Some(_), Some(_)) => return Err(cannot(WHY)),
        _ => cx.edges(WHY),
    }
    Ok(())
}

/// ONNX has batches only where what is chosen follows them: other axes are moved there and back.
pub(crate) fn gather(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let axis = cx.named_axis(2, 0)?;
    let batch = cx.attributes.int("batch_dims")?.unwrap_or(0);
    let mut x = cx.input(0)?;
    if !cx.attributes.form().is(Older::CheckedIndices) {
        out_of_range(cx, axis)?;
    }
    if batch == 0 {
        let chosen = indices(cx, 1)?;
        return Ok(vec![cx.put("Gather", &[x, chosen], &[int("axis", i64_of(axis))])?]);
    }
    let (rank, own) = (cx.rank(0)?, cx.rank(1)?);
    let batch = if batch < 0 { batch + i64_of(own) } else { batch };
    let given = batch;
    let batch = usize_of_i64(batch).filter(|&batch| batch <= axis && batch <= own && axis < rank);
    let batch = batch.ok_or_else(|| errors::batch(given, axis, own))?;
    let turned = |order: Vec<usize>| ("perm", Content::Ints(order.into_iter().map(i64_of).collect()));
    if axis > batch {
        let order = (0..batch).chain([axis]).chain(batch..axis).chain(axis + 1..rank).collect();
        x = cx.put("Transpose", &[x], &[turned(order)])?;
    }
    let (chosen, last) = (cx.whole(1)?, cx.list(&[i64_of(own)]));
    let chosen = cx.put("Unsqueeze", &[chosen, last], &[])?;
    let found = cx.put("GatherND", &[x, chosen], &[int("batch_dims", i64_of(batch))])?;
    if axis == batch {
        return Ok(vec![found]);
    }
    // Behind the batch stand the axes of the indices, then those that were before the axis.
    let (new, moved, all) = (own - batch, axis - batch, rank + own - batch - 1);
    let order = (0..batch)
        .chain(batch + new..batch + new + moved)
        .chain(batch..batch + new)
        .chain(batch + new + moved..all)
        .collect();
    Ok(vec![cx.put("Transpose", &[found], &[turned(order)])?])
}

/// Converts `GatherND`; in its older form, the axes of the batch become one.
pub(crate) fn gather_nd(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, indices) = (cx.input(0)?, cx.whole(1)?);
    let batch = cx.attributes.int("batch_dims")?.unwrap_or(0);
    let found = cx.put("GatherND", &[x, indices], &[int("batch_dims", batch)])?;
    if batch < 2 || !cx.attributes.form().is(Older::MergedBatch) {
        return Ok(vec![found]);
    }
    let dims = cx.sizes(found)?;
    let (first, rest) = (cx.part_of(dims, 0, batch)?, cx.part_of(dims, batch, i64::MAX)?);
    let together = cx.put("ReduceProd", &[first], &[int("keepdims", 1)])?;
    let dims = cx.put("Concat", &[together, rest], &[int("axis", 0)])?;
    Ok(vec![cx.with_shape(found, dims)?])
}

/// How updates of one place are put together, in the words of ONNX.
fn reduction(cx: &mut ConvertContext<'_, '_>) -> Result<Option<(&'static str, Content)>> {
    let how = match cx.attributes.text("reduction")?.unwrap_or("none") {
        "none" => {
            cx.edges("the specifications do not define which of several updates of one element is kept");
            return Ok(None);
        }
        "sum" => "add",
        "prod" => "mul",
        "max" => "max",
        "min" => "min",
        other => return Err(cannot(format!("ONNX has no reduction \"{other}\""))),
    };
    if matches!(how, "add" | "mul") {
        cx.rounding_of_floats(caveats::ORDER);
    } else {
        cx.edges_of_floats(caveats::NAN);
    }
    Ok(Some(word("reduction", how)))
}

/// A bound of a strided slice.
#[derive(Clone, Copy)]
enum Bound {
    Known(i64),
    /// It stands in the list of bounds there.
    At(usize),
}

/// The bounds of a strided slice with its masks applied.
#[derive(Default)]
struct SlicePlan {
    /// Axes that are sliced: from, to, step.
    cuts: Vec<(usize, Bound, Bound, i64)>,
    /// Axes that go, and the index that is taken.
    shrunk: Vec<(usize, Bound)>,
    /// New axes, by their place in the result.
    new: Vec<i64>,
}

fn plan(cx: &ConvertContext<'_, '_>, count: usize) -> Result<SlicePlan> {
    let masks = Masks::read(&cx.attributes)?;
    let set = |mask: usize, at: usize| masks.set(mask, at);
    let steps = if cx.has(3) { cx.integers(3)? } else { vec![1; count] };
    let consumed = (0..count).filter(|&at| !set(Masks::NEW, at) && !set(Masks::ELLIPSIS, at)).count();
    let (mut plan, mut axis, mut place) = (SlicePlan::default(), 0, 0);
    for at in 0..count {
        if set(Masks::ELLIPSIS, at) {
            let hidden = cx.rank(0)?.checked_sub(consumed);
            let hidden = hidden
                .ok_or_else(|| errors::count("slice bounds", consumed, "at most the rank of the input"))?;
            (axis, place) = (axis + hidden, place + hidden);
        } else if set(Masks::NEW, at) {
            plan.new.push(i64_of(place));
            place += 1;
        } else if set(Masks::SHRINK, at) {
            plan.shrunk.push((axis, if set(Masks::BEGIN, at) { Bound::Known(0) } else { Bound::At(at) }));
            axis += 1;
        } else {
            let step = steps.get(at).copied().ok_or_else(|| errors::count("steps", steps.len(), count))?;
            let (first, last) = if step < 0 { (i64::MAX, i64::MIN) } else { (0, i64::MAX) };
            let begin = if set(Masks::BEGIN, at) { Bound::Known(first) } else { Bound::At(at) };
            let end = if set(Masks::END, at) { Bound::Known(last) } else { Bound::At(at) };
            plan.cuts.push((axis, begin, end, step));
            (axis, place) = (axis + 1, place + 1);
        }
    }
    Ok(plan)
}

/// Bounds of which some stand in a list that is an input.
fn bounds(cx: &mut ConvertContext<'_, '_>, input: usize, list: &[Bound]) -> Result<NewValue> {
    let known = cx.known_integers(input)?;
    let of = |bound: &Bound| match (*bound, &known) {
        (Bound::Known(value), _) => Some(value),
        (Bound::At(at), Some(known)) => known.get(at).copied(),
        (Bound::At(_), None) => None,
    };
    if let Some(all) = list.iter().map(of).collect::<Option<Vec<_>>>() {
        return Ok(cx.list(&all));
    }
    let given = cx.whole_list(input)?;
    let mut parts = Vec::new();
    for bound in list {
        parts.push(match *bound {
            Bound::Known(value) => cx.list(&[value]),
            Bound::At(at) => cx.part_of(given, i64_of(at), i64_of(at) + 1)?,
        });
    }
    cx.put("Concat", &parts, &[int("axis", 0)])
}

pub(crate) fn strided_slice(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let count = (1..cx.count()).find_map(|input| cx.len(input));
    let count = count.ok_or_else(|| not_known("number of slice bounds"))?;
    let plan = plan(cx, count)?;
    let mut x = cx.input(0)?;
    if !plan.cuts.is_empty() {
        let axes: Vec<_> = plan.cuts.iter().map(|cut| i64_of(cut.0)).collect();
        let steps: Vec<_> = plan.cuts.iter().map(|cut| cut.3).collect();
        let starts = bounds(cx, 1, &plan.cuts.iter().map(|cut| cut.1).collect::<Vec<_>>())?;
        let ends = bounds(cx, 2, &plan.cuts.iter().map(|cut| cut.2).collect::<Vec<_>>())?;
        let (axes, steps) = (cx.list(&axes), cx.list(&steps));
        x = cx.put("Slice", &[x, starts, ends, axes, steps], &[])?;
    }
    for &(axis, at) in plan.shrunk.iter().rev() {
        let index = bounds(cx, 1, &[at])?;
        let none = cx.list(&[]);
        let index = cx.with_shape(index, none)?;
        x = cx.put("Gather", &[x, index], &[int("axis", i64_of(axis))])?;
    }
    if !plan.new.is_empty() {
        let axes = cx.list(&plan.new);
        x = cx.put("Unsqueeze", &[x, axes], &[])?;
    }
    if plan.cuts.is_empty() && plan.shrunk.is_empty() && plan.new.is_empty() {
        x = cx.put("Identity", &[x], &[])?;
    }
    Ok(vec![x])
}

/// One length may be -1: what is left.
pub(crate) fn variadic_split(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, outputs) = (cx.input(0)?, cx.outputs());
    let axis = cx.named_axis(1, 0)?;
    let known = cx.known_integers(2)?;
    let open = known.as_ref().is_none_or(|sizes| sizes.contains(&-1));
    let mut sizes = cx.whole_list(2)?;
    if open {
        sizes = if let (Some(sizes), Some(whole)) = (known, cx.known_size(0, axis)) {
            let others: i64 = sizes.iter().filter(|&&size| size != -1).sum();
            let filled = |&size: &i64| if size == -1 { whole - others } else { size };
            cx.list(&sizes.iter().map(filled).collect::<Vec<_>>())
        } else {
            let (open, zero, place) = (cx.scalar(-1), cx.scalar(0), cx.list(&[0]));
            let is_open = cx.put("Equal", &[sizes, open], &[])?;
            let others = cx.put("Where", &[is_open, zero, sizes], &[])?;
            let others = cx.put("ReduceSum", &[others, place], &[int("keepdims", 1)])?;
            let whole = cx.size_of(x, axis)?;
            let rest = cx.put("Sub", &[whole, others], &[])?;
            cx.put("Where", &[is_open, rest, sizes], &[])?
        };
    }
    cx.put_many("Split", &[x, sizes], &[int("axis", i64_of(axis))], outputs)
}

/// Slices of an axis are replaced: ONNX wants an index for each element.
pub(crate) fn scatter_update(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges("the specifications do not define which of several updates of one element is kept");
    let (x, chosen, mut updates) = (cx.input(0)?, cx.whole_list(1)?, cx.input(2)?);
    let (rank, own) = (cx.rank(0)?, cx.rank(1)?);
    let axis = axis_of(cx.integer(3)?, rank)?;
    if own != 1 {
        let (dims, count) = (cx.sizes(x)?, cx.sizes(chosen)?);
        let (before, behind) =
            (cx.part_of(dims, 0, i64_of(axis))?, cx.part_of(dims, i64_of(axis) + 1, i64::MAX)?);
        let dims = cx.put("Concat", &[before, count, behind], &[int("axis", 0)])?;
        updates = cx.with_shape(updates, dims)?;
    }
    let others: Vec<_> = (0..i64_of(rank)).filter(|&other| other != i64_of(axis)).collect();
    let others = cx.list(&others);
    let chosen = if rank > 1 { cx.put("Unsqueeze", &[chosen, others], &[])? } else { chosen };
    let dims = cx.sizes(updates)?;
    let chosen = cx.put("Expand", &[chosen, dims], &[])?;
    Ok(vec![cx.put("ScatterElements", &[x, chosen, updates], &[int("axis", i64_of(axis))])?])
}

pub(crate) fn reverse(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let named = cx.integers(1)?;
    let axes: Vec<i64> = if cx.attributes.text("mode")? == Some("mask") {
        let set = named.iter().enumerate().filter(|(_, bit)| **bit != 0);
        set.map(|(axis, _)| i64_of(axis)).collect()
    } else {
        named
    };
    if axes.is_empty() {
        return Ok(vec![cx.put("Identity", &[x], &[])?]);
    }
    if axes.iter().any(|&axis| axis < 0) && cx.rank_if_known(0).is_none() {
        return Err(not_known("rank of input 0"));
    }
    let all = |value: i64| vec![value; axes.len()];
    let (from, to, steps) = (cx.list(&all(i64::MAX)), cx.list(&all(i64::MIN)), cx.list(&all(-1)));
    let axes = cx.axes_in_set("Slice", axes, cx.rank_if_known(0))?;
    let axes = cx.list(&axes);
    Ok(vec![cx.put("Slice", &[x, from, to, axes, steps], &[])?])
}

pub(crate) fn gather_elements(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, indices) = (cx.input(0)?, cx.input(1)?);
    let axis = cx.attributes.int("axis")?.unwrap_or(0);
    Ok(vec![cx.put("GatherElements", &[x, indices], &[int("axis", axis)])?])
}

pub(crate) fn slice(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    let [starts, ends, steps] = [1, 2, 4].map(|input| cx.whole_list(input));
    let axes = match cx.known_integers(3)? {
        Some(axes) => {
            let axes = cx.axes_in_set("Slice", axes, cx.rank_if_known(0))?;
            cx.list(&axes)
        }
        None if cx.has(3) => cx.whole_list(3)?,
        None => NONE,
    };
    Ok(vec![cx.put("Slice", &[x, starts?, ends?, axes, steps?], &[])?])
}

pub(crate) fn split(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (x, outputs) = (cx.input(0)?, cx.outputs());
    let axis = int("axis", cx.axis_in_set("Split", cx.integer(1)?, cx.rank_if_known(0))?);
    let count = cx.attributes.int("num_splits")?.unwrap_or(i64_of(outputs));
    if count != i64_of(outputs) {
        return Err(errors::value(
            "attribute \"num_splits\"",
            count,
            format_args!("the number of outputs, {outputs}"),
        ));
    }
    let takes_count = cx.target.signature("Split").is_some_and(|split| split.has_attribute("num_outputs"));
    let named = takes_count.then(|| int("num_outputs", count));
    let attributes: Vec<_> = [axis].into_iter().chain(named).collect();
    cx.put_many("Split", &[x], &attributes, outputs)
}

pub(crate) fn scatter_elements_update(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if rows::scatters_in_steps(&cx.attributes)? {
        return graph_of(cx);
    }
    let how = reduction(cx)?;
    let (x, indices, updates) = (cx.input(0)?, cx.whole(1)?, cx.input(2)?);
    let attributes: Vec<_> = [int("axis", cx.integer(3)?)].into_iter().chain(how).collect();
    Ok(vec![cx.put("ScatterElements", &[x, indices, updates], &attributes)?])
}

pub(crate) fn scatter_nd_update(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let subtracts = cx.attributes.text("reduction")? == Some("sub");
    let how = if subtracts {
        cx.rounding_of_floats(caveats::ORDER);
        Some(word("reduction", "add"))
    } else {
        reduction(cx)?
    };
    let (x, indices, mut updates) = (cx.input(0)?, cx.whole(1)?, cx.input(2)?);
    if subtracts {
        // The negative of an unsigned integer is what its addition subtracts, too.
        updates = if cx.is_float(2) {
            cx.put("Neg", &[updates], &[])?
        } else {
            let zero = cx.number(0.0, cx.dtype(2)?)?;
            cx.put("Sub", &[zero, updates], &[])?
        };
    }
    Ok(vec![cx.put("ScatterND", &[x, indices, updates], how.as_slice())?])
}

/// Elements are moved along axes, the last ones to the front.
pub(crate) fn roll(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (mut x, rank) = (cx.input(0)?, cx.rank(0)?);
    let (shifts, axes) = (cx.integers(1)?, cx.integers(2)?);
    if shifts.len() != 1 && shifts.len() != axes.len() {
        return Err(errors::count("shifts", shifts.len(), axes.len()));
    }
    let (zero, one) = (cx.scalar(0), cx.scalar(1));
    for (index, &axis) in axes.iter().enumerate() {
        let axis = i64_of(axis_of(axis, rank)?);
        let shift = shifts.get(index).copied().unwrap_or(shifts[0]);
        let (sizes, at, shift) = (cx.sizes(x)?, cx.scalar(axis), cx.scalar(shift));
        let size = cx.put("Gather", &[sizes, at], &[int("axis", 0)])?;
        let places = cx.put("Range", &[zero, size, one], &[])?;
        let places = cx.put("Sub", &[places, shift], &[])?;
        let places = cx.put("Mod", &[places, size], &[])?;
        x = cx.put("Gather", &[x, places], &[int("axis", axis)])?;
    }
    if axes.is_empty() {
        x = cx.put("Identity", &[x], &[])?;
    }
    Ok(vec![x])
}

/// Rows of the table that is the first input, times the weights that an input may have for each, of
/// so many axes.
pub(crate) fn weighted(
    cx: &mut ConvertContext<'_, '_>,
    rows: NewValue,
    input: usize,
    axes: i64,
) -> Result<NewValue> {
    if !cx.has(input) {
        return Ok(rows);
    }
    let (mut weights, behind) = (cx.input(input)?, i64_of(cx.rank(0)?) - 1);
    if behind > 0 {
        let behind = cx.list(&(axes..axes + behind).collect::<Vec<_>>());
        weights = cx.put("Unsqueeze", &[weights, behind], &[])?;
    }
    cx.put("Mul", &[rows, weights], &[])
}

/// Sums or means of rows of a table, as many for each bag.
pub(crate) fn embedding_bag(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let mean = match cx.attributes.text("reduction")?.unwrap_or("sum") {
        "sum" => false,
        "mean" => true,
        other => return Err(errors::text("reduction", other, "sum or mean")),
    };
    let (table, chosen, axis) = (cx.input(0)?, indices(cx, 1)?, cx.list(&[1]));
    let rows = cx.put("Gather", &[table, chosen], &[int("axis", 0)])?;
    let rows = weighted(cx, rows, 2, 2)?;
    let operator = if mean { "ReduceMean" } else { "ReduceSum" };
    Ok(vec![cx.put(operator, &[rows, axis], &[int("keepdims", 0)])?])
}

/// Blocks that become samples of the batch, or samples that become blocks: the axes are cut into
/// blocks, which change places.
pub(crate) fn batches(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let to_batch = &*cx.node.operator.name == "SpaceToBatch";
    let (mut x, rank) = (cx.input(0)?, cx.rank(0)?);
    let block = cx.whole_list(1)?;
    let mut rest = vec![1; rank.saturating_sub(1)];
    let samples = if let Some(sizes) = cx.known_integers(1)? {
        let count = sizes.iter().try_fold(1_i64, |count, &size| count.checked_mul(size));
        let wanted = "a number of 64 bits";
        rest.insert(0, count.ok_or_else(|| errors::value("product of the block", "more", wanted))?);
        cx.list(&rest)
    } else {
        let all = cx.put("ReduceProd", &[block], &[int("keepdims", 1)])?;
        let rest = cx.list(&rest);
        cx.put("Concat", &[all, rest], &[int("axis", 0)])?
    };
    let (own, other): (Vec<_>, Vec<_>) =
        ((0..rank).map(i64_of).collect(), (rank..2 * rank).map(i64_of).collect());
    if to_batch {
        let pads = cx.pads(2, 3)?;
        let zero = cx.dtype(0).and_then(|dtype| cx.number(0.0, dtype))?;
        x = cx.put("Pad", &[x, pads, zero], &[])?;
        let sizes = cx.sizes(x)?;
        let sizes = cx.put("Div", &[sizes, block], &[])?;
        let pairs: Vec<_> = own.iter().zip(&other).flat_map(|(&size, &block)| [size, block]).collect();
        let (all, pairs) = (cx.put("Concat", &[sizes, block], &[int("axis", 0)])?, cx.list(&pairs));
        let cut = cx.put("Gather", &[all, pairs], &[int("axis", 0)])?;
        x = cx.with_shape(x, cut)?;
        let order: Vec<_> =
            own.iter().map(|axis| 2 * axis + 1).chain(own.iter().map(|axis| 2 * axis)).collect();
        x = cx.put("Transpose", &[x], &[("perm", Content::Ints(order.into()))])?;
        let shape = cx.put("Mul", &[sizes, samples], &[])?;
        return Ok(vec![cx.with_shape(x, shape)?]);
    }
    let sizes = cx.sizes(x)?;
    let sizes = cx.put("Div", &[sizes, samples], &[])?;
    let cut = cx.put("Concat", &[block, sizes], &[int("axis", 0)])?;
    x = cx.with_shape(x, cut)?;
    let order: Vec<_> = other.iter().zip(&own).flat_map(|(&size, &block)| [size, block]).collect();
    x = cx.put("Transpose", &[x], &[("perm", Content::Ints(order.into()))])?;
    let shape = cx.put("Mul", &[sizes, block], &[])?;
    x = cx.with_shape(x, shape)?;
    let (from, less) = (cx.whole_list(2)?, cx.whole_list(3)?);
    let to = cx.put("Sub", &[shape, less], &[])?;
    Ok(vec![cx.put("Slice", &[x, from, to], &[])?])
}
