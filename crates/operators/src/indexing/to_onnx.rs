//! Operators that take parts of tensors, or put parts into them.

use gradus_core::convert::{from_start, i64_of, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::errors;
use crate::indexing::openvino::Masks;
use crate::indexing::rows;
use crate::indices::axis as axis_of;
use crate::lowering::terms::{
    Term, f, gathered, in_shape, ints, joined, of, part, pick, range, shaped, size, turned, unsqueezed,
    whole, with,
};
use crate::lowering::{LoweredValue, Lowering, along, int, word};
use crate::normalize::Older;
use crate::words;

/// Indices in a type that ONNX takes.
pub fn indices(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    if l.dtype_of(input)? == DType::I32 { l.input(input) } else { l.whole(input) }
}

/// Notes what ONNX does not do, unless all indices are known to be those of elements along the
/// axis.
fn out_of_range(l: &mut Lowering<'_>, axis: usize) -> Result<()> {
    const WHY: &str = "an index out of range gives zeros in OpenVINO, and is an error in ONNX";
    match (l.known_integers(1)?, l.known_size(0, axis)) {
        (Some(chosen), Some(size)) if chosen.iter().all(|index| (-size..size).contains(index)) => {}
        (Some(_), Some(_)) => return Err(cannot(WHY)),
        _ => l.edges(WHY),
    }
    Ok(())
}

/// ONNX has batches only where what is chosen follows them: other axes are moved there and back.
pub fn gather(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let axis = l.named_axis(2, 0)?;
    let batch = l.attributes.int("batch_dims")?.unwrap_or(0);
    let mut x = l.input(0)?;
    if !l.attributes.form().is(Older::CheckedIndices) {
        out_of_range(l, axis)?;
    }
    if batch == 0 {
        let chosen = indices(l, 1)?;
        return Ok(vec![l.apply("Gather", &[x, chosen], &[int("axis", i64_of(axis))])?]);
    }
    let (rank, own) = (l.rank_of(0)?, l.rank_of(1)?);
    let batch = from_start(batch, i64_of(own));
    let given = batch;
    let batch = usize_of_i64(batch).filter(|&batch| batch <= axis && batch <= own && axis < rank);
    let batch = batch.ok_or_else(|| errors::batch(given, axis, own))?;
    if axis > batch {
        let order = (0..batch).chain([axis]).chain(batch..axis).chain(axis + 1..rank);
        x = turned(x, order).write(l, DType::I64)?;
    }
    let chosen = unsqueezed(l.whole(1)?, &[i64_of(own)]);
    let found = with("GatherND", [x.into(), chosen], [int("batch_dims", i64_of(batch))]);
    if axis == batch {
        return Ok(vec![found.write(l, DType::I64)?]);
    }
    // The axes of the indices come after the batch, then those that were before the axis.
    let (new, moved, all) = (own - batch, axis - batch, rank + own - batch - 1);
    let order = (0..batch)
        .chain(batch + new..batch + new + moved)
        .chain(batch..batch + new)
        .chain(batch + new + moved..all);
    Ok(vec![turned(found, order).write(l, DType::I64)?])
}

/// Converts `GatherND`; in its older form, the axes of the batch become one.
pub fn gather_nd(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, indices) = (l.input(0)?, l.whole(1)?);
    let batch = l.attributes.int("batch_dims")?.unwrap_or(0);
    let found = l.apply("GatherND", &[x, indices], &[int("batch_dims", batch)])?;
    if batch < 2 || !l.attributes.form().is(Older::MergedBatch) {
        return Ok(vec![found]);
    }
    let dims = l.shape(found)?;
    let together = with("ReduceProd", [part(dims, 0, batch)], [int("keepdims", 1)]);
    let dims = joined([together, part(dims, batch, i64::MAX)], 0);
    Ok(vec![in_shape(found, dims).write(l, DType::I64)?])
}

/// How updates of one place are put together, in the words of ONNX.
fn reduction(l: &mut Lowering<'_>) -> Result<Option<(&'static str, Content)>> {
    let how = match l.attributes.text("reduction")?.unwrap_or("none") {
        "none" => {
            l.edges("the specifications do not define which of several updates of one element is kept");
            return Ok(None);
        }
        "sum" => "add",
        "prod" => "mul",
        "max" => "max",
        "min" => "min",
        other => return Err(cannot(format!("ONNX has no reduction \"{other}\""))),
    };
    if matches!(how, "add" | "mul") {
        l.rounding_of_floats(caveats::ORDER);
    } else {
        l.edges_of_floats(caveats::NAN);
    }
    Ok(Some(word("reduction", how)))
}

/// A bound of a strided slice.
#[derive(Clone, Copy)]
enum Bound {
    Known(i64),
    /// Index in the list of bounds.
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

fn plan(l: &Lowering<'_>, count: usize) -> Result<SlicePlan> {
    let masks = Masks::read(&l.attributes)?;
    let set = |mask: usize, at: usize| masks.set(mask, at);
    let steps = if l.has(3) { l.integers(3)? } else { vec![1; count] };
    let consumed = (0..count).filter(|&at| !set(Masks::NEW, at) && !set(Masks::ELLIPSIS, at)).count();
    let (mut plan, mut axis, mut place) = (SlicePlan::default(), 0, 0);
    for at in 0..count {
        if set(Masks::ELLIPSIS, at) {
            let hidden = l.rank_of(0)?.checked_sub(consumed);
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

/// Bounds of which some are in a list that is an input.
fn bounds(l: &mut Lowering<'_>, input: usize, list: &[Bound]) -> Result<LoweredValue> {
    let known = l.known_integers(input)?;
    let of = |bound: &Bound| match (*bound, &known) {
        (Bound::Known(value), _) => Some(value),
        (Bound::At(at), Some(known)) => known.get(at).copied(),
        (Bound::At(_), None) => None,
    };
    if let Some(all) = list.iter().map(of).collect::<Option<Vec<_>>>() {
        return l.list(&all);
    }
    let given = l.whole_list(input)?;
    let parts = list.iter().map(|bound| match *bound {
        Bound::Known(value) => ints(&[value]),
        Bound::At(at) => part(given, i64_of(at), i64_of(at) + 1),
    });
    joined(parts, 0).write(l, DType::I64)
}

/// Writes `StridedSlice` as `Slice`, `Squeeze` and `Unsqueeze`.
pub fn strided_slice(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let count = (1..l.count()).find_map(|input| l.len(input));
    let count = count.ok_or_else(|| l.unknown("number of slice bounds"))?;
    let plan = plan(l, count)?;
    let mut x = l.input(0)?;
    if !plan.cuts.is_empty() {
        let axes: Vec<_> = plan.cuts.iter().map(|cut| i64_of(cut.0)).collect();
        let steps: Vec<_> = plan.cuts.iter().map(|cut| cut.3).collect();
        let starts = bounds(l, 1, &plan.cuts.iter().map(|cut| cut.1).collect::<Vec<_>>())?;
        let ends = bounds(l, 2, &plan.cuts.iter().map(|cut| cut.2).collect::<Vec<_>>())?;
        let given = [x.into(), starts.into(), ends.into(), ints(&axes), ints(&steps)];
        x = with("Slice", given, []).write(l, DType::I64)?;
    }
    for &(axis, at) in plan.shrunk.iter().rev() {
        let index = bounds(l, 1, &[at])?;
        x = gathered(x, shaped(index, &[]), axis).write(l, DType::I64)?;
    }
    if !plan.new.is_empty() {
        x = unsqueezed(x, &plan.new).write(l, DType::I64)?;
    }
    if plan.cuts.is_empty() && plan.shrunk.is_empty() && plan.new.is_empty() {
        x = l.apply("Identity", &[x], &[])?;
    }
    Ok(vec![x])
}

/// One length may be -1: what is left.
pub fn variadic_split(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, outputs) = (l.input(0)?, l.outputs());
    let axis = l.named_axis(1, 0)?;
    let known = l.known_integers(2)?;
    let open = known.as_ref().is_none_or(|sizes| sizes.contains(&-1));
    let mut sizes = l.whole_list(2)?;
    if open {
        sizes = if let (Some(sizes), Some(whole)) = (known, l.known_size(0, axis)) {
            let others: i64 = sizes.iter().filter(|&&size| size != -1).sum();
            let filled = |&size: &i64| if size == -1 { whole - others } else { size };
            l.list(&sizes.iter().map(filled).collect::<Vec<_>>())?
        } else {
            let is_open = of("Equal", sizes, -1).write(l, DType::I64)?;
            let others = [pick(is_open, 0, sizes), ints(&[0])];
            let rest = size(x, axis) - with("ReduceSum", others, [int("keepdims", 1)]);
            pick(is_open, rest, sizes).write(l, DType::I64)?
        };
    }
    l.apply_many("Split", &[x, sizes], &[int("axis", i64_of(axis))], outputs)
}

/// Slices of an axis are replaced: ONNX wants an index for each element.
pub fn scatter_update(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.edges("the specifications do not define which of several updates of one element is kept");
    let (x, chosen, mut updates) = (l.input(0)?, l.whole_list(1)?, l.input(2)?);
    let (rank, own) = (l.rank_of(0)?, l.rank_of(1)?);
    let axis = axis_of(l.integer(3)?, rank)?;
    if own != 1 {
        let dims = l.shape(x)?;
        let (before, behind) = (part(dims, 0, i64_of(axis)), part(dims, i64_of(axis) + 1, i64::MAX));
        let dims = joined([before, f("Shape", chosen), behind], 0);
        updates = in_shape(updates, dims).write(l, DType::I64)?;
    }
    let others: Vec<_> = (0..i64_of(rank)).filter(|&other| other != i64_of(axis)).collect();
    let chosen = if rank > 1 { unsqueezed(chosen, &others) } else { chosen.into() };
    let chosen = of("Expand", chosen, f("Shape", updates)).write(l, DType::I64)?;
    Ok(vec![l.apply("ScatterElements", &[x, chosen, updates], &[along(axis)])?])
}

/// Writes `Reverse` as `Slice` with negative steps.
pub fn reverse(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let named = l.integers(1)?;
    let axes: Vec<i64> = if words::REVERSE.of(&l.attributes)? == "mask" {
        let set = named.iter().enumerate().filter(|(_, bit)| **bit != 0);
        set.map(|(axis, _)| i64_of(axis)).collect()
    } else {
        named
    };
    if axes.is_empty() {
        return Ok(vec![l.apply("Identity", &[x], &[])?]);
    }
    if axes.iter().any(|&axis| axis < 0) && l.rank_if_known(0).is_none() {
        return Err(l.unknown("rank of input 0"));
    }
    let all = |value: i64| vec![value; axes.len()];
    let (from, to, steps) = (all(i64::MAX), all(i64::MIN), all(-1));
    let axes = l.axes_in_set("Slice", axes, l.rank_if_known(0))?;
    let bounds = [x.into(), ints(&from), ints(&to), ints(&axes), ints(&steps)];
    Ok(vec![with("Slice", bounds, []).write(l, DType::I64)?])
}

/// Writes `GatherElements` along its axis.
pub fn gather_elements(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let axis = l.attributes.int("axis")?.unwrap_or(0);
    Ok(vec![with("GatherElements", [x.into(), l.input(1)?.into()], [int("axis", axis)]).put(l)?])
}

/// Writes `Slice` with its axes and steps.
pub fn slice(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let [starts, ends, steps] = [1, 2, 4].map(|input| l.whole_list(input));
    let axes = match l.known_integers(3)? {
        Some(axes) => {
            let axes = l.axes_in_set("Slice", axes, l.rank_if_known(0))?;
            l.list(&axes)?
        }
        None if l.has(3) => l.whole_list(3)?,
        None => LoweredValue::NONE,
    };
    Ok(vec![l.apply("Slice", &[x, starts?, ends?, axes, steps?], &[])?])
}

/// Writes `Split` into parts of equal size.
pub fn split(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, outputs) = (l.input(0)?, l.outputs());
    let axis = int("axis", l.axis_in_set("Split", l.integer(1)?, l.rank_if_known(0))?);
    let count = l.attributes.int("num_splits")?.unwrap_or(i64_of(outputs));
    if count != i64_of(outputs) {
        return Err(errors::value(
            "attribute \"num_splits\"",
            count,
            format_args!("the number of outputs, {outputs}"),
        ));
    }
    let takes_count = l.signature("Split").is_some_and(|split| split.has_attribute("num_outputs"));
    let named = takes_count.then(|| int("num_outputs", count));
    let attributes: Vec<_> = [axis].into_iter().chain(named).collect();
    l.apply_many("Split", &[x], &attributes, outputs)
}

/// Writes `ScatterElementsUpdate` as `ScatterElements`, or step by step.
pub fn scatter_elements_update(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if rows::scatters_in_steps(&l.attributes)? {
        l.note_by_operators();
        return rows::scatter_elements(l);
    }
    let how = reduction(l)?;
    let (x, indices, updates) = (l.input(0)?, l.whole(1)?, l.input(2)?);
    let attributes: Vec<_> = [int("axis", l.integer(3)?)].into_iter().chain(how).collect();
    Ok(vec![l.apply("ScatterElements", &[x, indices, updates], &attributes)?])
}

/// Writes `ScatterNDUpdate` as `ScatterND`; differences as sums of negatives.
pub fn scatter_nd_update(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let subtracts = l.attributes.text("reduction")? == Some("sub");
    let how = if subtracts {
        l.rounding_of_floats(caveats::ORDER);
        Some(word("reduction", "add"))
    } else {
        reduction(l)?
    };
    let (x, indices, mut updates) = (l.input(0)?, l.whole(1)?, l.input(2)?);
    if subtracts {
        // The negative of an unsigned integer is what its addition subtracts, too.
        let negative = if l.is_float(2) { f("Neg", updates) } else { Term::from(0) - updates };
        updates = negative.write(l, l.dtype_of(2).unwrap_or(DType::F32))?;
    }
    Ok(vec![l.apply("ScatterND", &[x, indices, updates], how.as_slice())?])
}

/// Elements are moved along axes, the last ones to the front.
pub fn roll(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut x, rank) = (l.input(0)?, l.rank_of(0)?);
    let (shifts, axes) = (l.integers(1)?, l.integers(2)?);
    if shifts.len() != 1 && shifts.len() != axes.len() {
        return Err(errors::count("shifts", shifts.len(), axes.len()));
    }
    for (index, &axis) in axes.iter().enumerate() {
        let axis = axis_of(axis, rank)?;
        let shift = shifts.get(index).copied().unwrap_or(shifts[0]);
        let size = gathered(f("Shape", x), whole(i64_of(axis)), 0).write(l, DType::I64)?;
        let places = of("Mod", range(size) - whole(shift), size);
        x = gathered(x, places, axis).write(l, DType::I64)?;
    }
    if axes.is_empty() {
        x = l.apply("Identity", &[x], &[])?;
    }
    Ok(vec![x])
}

/// Rows of the table that is the first input, times the weights that an input may have for each, of
/// `axes` axes.
pub fn weighted(l: &mut Lowering<'_>, rows: Term, input: usize, axes: i64) -> Result<Term> {
    if !l.has(input) {
        return Ok(rows);
    }
    let (weights, behind) = (l.input(input)?, i64_of(l.rank_of(0)?) - 1);
    Ok(rows
        * if behind > 0 {
            unsqueezed(weights, &(axes..axes + behind).collect::<Vec<_>>())
        } else {
            weights.into()
        })
}

/// Sums or means of rows of a table, as many for each bag.
pub fn embedding_bag(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding_of_floats(caveats::ORDER);
    let mean = words::BAG.of(&l.attributes)? == "mean";
    let rows = gathered(l.input(0)?, indices(l, 1)?, 0);
    let rows = [weighted(l, rows, 2, 2)?, ints(&[1])];
    let operator = if mean { "ReduceMean" } else { "ReduceSum" };
    Ok(vec![with(operator, rows, [int("keepdims", 0)]).write(l, DType::F32)?])
}

/// Blocks that become samples of the batch, or samples that become blocks: the axes are cut into
/// blocks, which change places.
pub fn batches(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let to_batch = &*l.node.operator.name == "SpaceToBatch";
    let (x, rank, block) = (l.input(0)?, l.rank_of(0)?, l.whole_list(1)?);
    let mut rest = vec![1; rank.saturating_sub(1)];
    let samples = if let Some(sizes) = l.known_integers(1)? {
        let count = sizes.iter().try_fold(1_i64, |count, &size| count.checked_mul(size));
        let wanted = "a number of 64 bits";
        rest.insert(0, count.ok_or_else(|| errors::value("product of the block", "more", wanted))?);
        ints(&rest)
    } else {
        joined([with("ReduceProd", [block.into()], [int("keepdims", 1)]), ints(&rest)], 0)
    };
    if to_batch {
        let pads = l.pads(2, 3)?;
        let x = with("Pad", [x.into(), pads.into(), 0.into()], []).write(l, l.dtype_of(0)?)?;
        let sizes = (f("Shape", x) / block).write(l, DType::I64)?;
        let pairs: Vec<_> = (0..rank).flat_map(|axis| [axis, rank + axis]).map(i64_of).collect();
        let cut = gathered(joined([sizes, block], 0), ints(&pairs), 0);
        let order = (0..rank).map(|axis| 2 * axis + 1).chain((0..rank).map(|axis| 2 * axis));
        return Ok(vec![in_shape(turned(in_shape(x, cut), order), sizes * samples).write(l, DType::I64)?]);
    }
    let sizes = (f("Shape", x) / samples).write(l, DType::I64)?;
    let cut = joined([block, sizes], 0);
    let order = (0..rank).flat_map(|axis| [rank + axis, axis]);
    let shape = (sizes * block).write(l, DType::I64)?;
    let x = in_shape(turned(in_shape(x, cut), order), shape);
    let (from, less) = (l.whole_list(2)?, l.whole_list(3)?);
    Ok(vec![with("Slice", [x, from.into(), shape - less], []).write(l, DType::I64)?])
}
