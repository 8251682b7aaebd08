//! Operators that take parts of tensors, or put parts into them.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `Gather` | `Gather` | the axis is an input; `batch_dims`; since version 8, an index out of range gives zeros |
//! | `GatherND` | `GatherND` | version 5 makes one axis of those of the batch |
//! | `StridedSlice` | `Slice` | masks: bounds to ignore, axes that are new, go, or stand for all that are left |

use gradus_core::convert::{Rules, from_start, i64_of, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{Class, Number, Result as Computed, Shape, Tensor, Value, convert};

use crate::attributes::Attributes;
use crate::dialects::openvino::{called, input};
use crate::dim::{Bounds, Dim};
use crate::elementwise::infer::same;
use crate::elementwise::unary::neg;
use crate::fact::{Elements, Fact, TensorFact};
use crate::indexing::infer::{
    chosen, cut, gather_nd, gathered, like_first, require_along_axis, require_in_range, scattered,
    with_elements,
};
use crate::indexing::rows;
use crate::indices::Along;
use crate::infer::{InferContext, InferError, InferResult};
use crate::normalize::Older;
use crate::op::{BuildContext, EvalContext, Op};
use crate::output::allowed;
use crate::words;
use crate::{Eval, errors, indexing, indices, lowering, op, output};

/// Shape of `GatherTree`: that of the steps, `[step, batch, beam]`.
pub fn gather_tree(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 3)?;
    cx.same_shape(1, &dims)?;
    cx.same_shape(2, &dims[1..2])?;
    Ok(vec![Fact::shaped(dims)])
}

/// The integers of an input, or as many dimensions that the data decide.
pub fn integers_or(cx: &mut InferContext<'_, '_>, input: usize, why: &str) -> Result<Vec<Dim>, InferError> {
    if let Some(all) = cx.integers(input) {
        return Ok(all.to_vec());
    }
    let count = cx.needed_len(input)?;
    Ok(cx.any_dims(why, count))
}

/// Shape of OpenVINO's `Gather`: the data's with the axis replaced, within batches.
pub fn gather(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (rank, indices) = (cx.dims(0)?.len(), cx.dims(1)?.len());
    let batch = cx.attributes.int_or("batch_dims", 0)?;
    let batch = from_start(batch, i64_of(indices));
    let batch = usize_of_i64(batch).ok_or_else(|| errors::batch(batch, rank, indices))?;
    let Some(axis) = cx.integer(2).and_then(Dim::known) else {
        let rank = (rank + indices).saturating_sub(1 + batch);
        let dims = cx.any_dims("the axis is not known before the run", rank);
        return like_first(cx, dims);
    };
    let axis = indices::axis(axis, rank)?;
    let mut facts = gathered(cx, axis, batch)?;
    if cx.attributes.form().is(Older::CheckedIndices) {
        require_where_any(cx, &facts, axis)?;
    } else if let [Fact::Tensor(fact)] = &mut facts[..]
        && !all_within(cx, axis)?
    {
        fact.elements = Elements::Unknown;
    }
    Ok(facts)
}

/// Requires that the indices are within an axis if the result has elements: others are not looked
/// at.
fn require_where_any(cx: &mut InferContext<'_, '_>, result: &[Fact], axis: usize) -> Result<(), InferError> {
    let dims = result.first().and_then(Fact::as_tensor).and_then(|fact| fact.dims.clone());
    if dims.is_some_and(|dims| dims.iter().all(|&dim| cx.symbols().at_least(dim, 1))) {
        require_in_range(cx, &cx.dims(0)?[axis..=axis])?;
    }
    Ok(())
}

/// Returns true if all indices are known to be within the axis.
fn all_within(cx: &mut InferContext<'_, '_>, axis: usize) -> Result<bool, InferError> {
    let size = cx.dims(0)?[axis];
    let Some(indices) = cx.known_integers(1) else { return Ok(false) };
    let wanted = |index: i64| if index < 0 { index.checked_neg() } else { index.checked_add(1) };
    let within = |index| wanted(index).is_some_and(|wanted| cx.symbols().at_least(size, wanted));
    Ok(indices.into_iter().all(within))
}

/// Shape of OpenVINO's `GatherND`, whose first version merges the axes of the batch.
pub fn gather_nd_merged(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mut facts = gather_nd(cx)?;
    let batch = usize_of_i64(cx.attributes.int_or("batch_dims", 0)?).unwrap_or(0);
    if cx.attributes.form().is(Older::MergedBatch)
        && batch > 1
        && let [Fact::Tensor(TensorFact { dims: Some(dims), .. })] = &mut facts[..]
        && dims.len() >= batch
    {
        let whole = cx.product(&dims[..batch]);
        *dims = std::iter::once(whole).chain(dims[batch..].iter().copied()).collect();
    }
    Ok(facts)
}

/// The effect of one entry of the bounds of a strided slice.
enum Stride {
    /// Slices the axis: from, to, step, if they are known.
    Cut(usize, Option<(Dim, Dim, i64)>),
    /// A new axis of one element.
    New,
    /// Takes one element of the axis, which is removed.
    Shrink(usize, Option<Dim>),
    /// Leaves the axis as it is.
    Keep(usize),
}

/// The masks of a strided slice.
pub struct Masks([Vec<i64>; 5]);

impl Masks {
    const NAMES: [&str; 5] = ["begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"];
    pub const BEGIN: usize = 0;
    pub const END: usize = 1;
    pub const NEW: usize = 2;
    pub const SHRINK: usize = 3;
    pub const ELLIPSIS: usize = 4;

    /// The masks of a `StridedSlice`, as attributes give them.
    pub fn read(attributes: &Attributes<'_>) -> Computed<Masks> {
        let lists = Masks::NAMES.iter().map(|name| Ok(attributes.list(name)?.unwrap_or_default()));
        let lists = lists.collect::<Computed<Vec<_>>>()?;
        Ok(Masks(lists.try_into().expect("there is a list for each name")))
    }

    /// Returns true if a mask has the bit of an index.
    pub fn set(&self, mask: usize, at: usize) -> bool {
        self.0[mask].get(at).is_some_and(|&bit| bit != 0)
    }

    /// Plans the axes of a tensor under that many bounds, some of which may be unknown.
    fn plan(
        &self,
        rank: usize,
        count: usize,
        begins: Option<&[Dim]>,
        ends: Option<&[Dim]>,
        steps: Option<&[i64]>,
    ) -> Computed<Vec<Stride>> {
        let consumes = |&at: &usize| !self.set(Masks::NEW, at) && !self.set(Masks::ELLIPSIS, at);
        let consumed = (0..count).filter(consumes).count();
        let hidden = rank
            .checked_sub(consumed)
            .ok_or_else(|| errors::count("slice bounds", consumed, format_args!("at most {rank}")))?;
        let mut plan = Vec::new();
        let mut axis = 0;
        for at in 0..count {
            // All axes that are left are for the first ellipsis.
            if self.set(Masks::ELLIPSIS, at) {
                let end = (axis + hidden).min(rank);
                plan.extend((axis..end).map(Stride::Keep));
                axis = end;
                continue;
            }
            if self.set(Masks::NEW, at) {
                plan.push(Stride::New);
                continue;
            }
            if axis >= rank {
                let ellipses = (0..count).filter(|&at| self.set(Masks::ELLIPSIS, at)).count();
                return Err(errors::count("ellipses", ellipses, "at most 1"));
            }
            let step = steps.and_then(|steps| steps.get(at).copied());
            let bound = |list: Option<&[Dim]>| list.and_then(|list| list.get(at).copied());
            let back = step.is_some_and(|step| step < 0);
            let (first, last) = if back { (i64::MAX, i64::MIN) } else { (0, i64::MAX) };
            let begin = if self.set(Masks::BEGIN, at) { Some(Dim::Known(first)) } else { bound(begins) };
            let end = if self.set(Masks::END, at) { Some(Dim::Known(last)) } else { bound(ends) };
            plan.push(match (begin, end, step) {
                _ if self.set(Masks::SHRINK, at) && self.set(Masks::BEGIN, at) => {
                    Stride::Shrink(axis, Some(Dim::ZERO))
                }
                (begin, _, _) if self.set(Masks::SHRINK, at) => Stride::Shrink(axis, begin),
                (Some(begin), Some(end), Some(step)) => Stride::Cut(axis, Some((begin, end, step))),
                _ => Stride::Cut(axis, None),
            });
            axis += 1;
        }
        plan.extend((axis..rank).map(Stride::Keep));
        Ok(plan)
    }
}

/// Along each axis, the indices that a plan takes of a tensor, if all bounds are known.
fn taken(plan: &[Stride], dims: &[usize]) -> Option<Computed<Vec<Along>>> {
    let mut indices = indices::all(dims);
    for stride in plan {
        let found = match *stride {
            Stride::Cut(axis, bounds) => {
                let (begin, end, step) = bounds?;
                indices::sliced(dims[axis], begin.known()?, end.known()?, step).map(|list| (axis, list))
            }
            Stride::Shrink(axis, at) => {
                indices::index(at?.known()?, dims[axis]).map(|at| (axis, Along::range(at..at + 1)))
            }
            Stride::New | Stride::Keep(_) => continue,
        };
        match found {
            Ok((axis, list)) => indices[axis] = list,
            Err(error) => return Some(Err(error)),
        }
    }
    Some(Ok(indices))
}

/// Shape of OpenVINO's `StridedSlice`: sliced, new and remaining axes.
pub fn strided_slice(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    (1..4).filter(|&input| cx.has(input)).try_for_each(|input| cx.dims_of_known_rank(input, 1))?;
    let masks = Masks::read(&cx.attributes)?;
    let (begins, ends) = (cx.integers(1), cx.integers(2));
    let count = match (&begins, &ends) {
        (Some(list), _) | (_, Some(list)) => list.len(),
        _ => cx.needed_len(1)?,
    };
    let steps = if cx.has(3) { cx.known_integers(3) } else { Some(vec![1; count]) };
    let plan = masks.plan(dims.len(), count, begins.as_deref(), ends.as_deref(), steps.as_deref())?;
    let mut all = Vec::new();
    for stride in &plan {
        all.extend(match *stride {
            Stride::New => Some(Dim::ONE),
            Stride::Keep(axis) => Some(dims[axis]),
            Stride::Shrink(..) => None,
            Stride::Cut(axis, bounds) => {
                let found = match bounds {
                    Some((begin, end, step)) if step != 0 && step != i64::MIN => {
                        cut(cx, dims[axis], begin, end, step)
                    }
                    _ => None,
                };
                let most = cx.symbols().bounds(dims[axis]).upper();
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
        let indices = taken(&plan, dims)?.ok()?;
        Some(indices::chosen(dims, &indices))
    });
    with_elements(cx, all, elements)
}

/// A row of the table for each bag: each entry along the first axis of the input `bags`.
pub fn embedding(cx: &mut InferContext<'_, '_>, bags: usize) -> InferResult {
    let (table, bags) = (cx.dims(0)?, cx.dims(bags)?);
    let (Some(&count), Some(row)) = (bags.first(), table.get(1..)) else {
        return Err(errors::rank("the table or the bags", 0, "at least 1").into());
    };
    let all: Vec<_> = std::iter::once(count).chain(row.iter().copied()).collect();
    like_first(cx, all)
}

/// Shape of OpenVINO's segment reductions: the number of segments, and the row of the table.
pub fn segments(cx: &mut InferContext<'_, '_>) -> InferResult {
    let table = cx.dims(0)?;
    let input = if &*cx.node.operator.name == "SegmentMax" { 2 } else { 3 };
    let count = cx.integer_or(input, "number of segments");
    let row = table.get(1..).ok_or_else(|| errors::rank("the table", 0, "at least 1"))?;
    let all: Vec<_> = std::iter::once(count).chain(row.iter().copied()).collect();
    like_first(cx, all)
}

/// `Gather` of OpenVINO: slices at indices of an axis, within batches.
pub fn run_gather(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let (data, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let (dims, index_dims) = (data.shape().dims(), indices.shape().dims());
    let axis = indices::axis(cx.integer(2)?, dims.len())?;
    let batch = attributes.int("batch_dims")?.unwrap_or(0);
    let batch = from_start(batch, i64_of(index_dims.len()));
    let batch = usize_of_i64(batch)
        .filter(|&batch| batch <= axis && batch <= index_dims.len())
        .ok_or_else(|| errors::batch(batch, axis, index_dims.len()))?;
    errors::same_batch(&index_dims[..batch], &dims[..batch])?;
    let numbers = cx.integers(1)?;
    let result = [&dims[..axis], &index_dims[batch..], &dims[axis + 1..]].concat();
    let shape = allowed(cx, data.dtype(), &result)?;
    let behind = axis + index_dims.len() - batch;
    let each = indexing::eval::positions(&result).map(|position| {
        let chosen = [&position[..batch], &position[axis..behind]].concat();
        let index = match indices::index(numbers[indexing::eval::flat_index(&chosen, index_dims)], dims[axis])
        {
            Ok(index) => index,
            Err(_) if !attributes.form().is(Older::CheckedIndices) => return Ok((1, 0)),
            Err(error) => return Err(error),
        };
        let place = [&position[..axis], &[index], &position[behind..]].concat();
        Ok((0, indexing::eval::flat_index(&place, dims)))
    });
    let each = each.collect::<Computed<Vec<_>>>()?;
    let zero = Tensor::zeros(data.dtype(), Shape::SCALAR)?;
    Ok(vec![Tensor::woven(&[data, &zero], shape, each, &cx.limits())?.into()])
}

/// `GatherND` of OpenVINO, whose first version merges the axes of the batch.
pub fn run_gather_nd(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let found = indexing::eval::gather_nd(attributes, cx)?;
    let batch = attributes.int("batch_dims")?.and_then(usize_of_i64).unwrap_or(0);
    let [Value::Tensor(tensor)] = &found[..] else { return Ok(found) };
    if !attributes.form().is(Older::MergedBatch) || batch < 2 {
        return Ok(found);
    }
    let (merged, rest) = tensor.shape().dims().split_at(batch);
    let dims = [&[merged.iter().product()], rest].concat();
    Ok(vec![tensor.reshaped(Shape::new(dims)?)?.into()])
}

/// `StridedSlice` of OpenVINO: elements from begins to ends with strides, by masks.
pub fn run_strided_slice(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    for input in (1..4).filter(|&input| cx.has(input)) {
        let rank = cx.tensor(input)?.shape().rank();
        errors::expect_rank(format_args!("input {input}"), rank, 1)?;
    }
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let masks = Masks::read(attributes)?;
    let known = |list: Vec<i64>| list.into_iter().map(Dim::Known).collect::<Vec<_>>();
    let (begins, ends) = (known(cx.integers(1)?), known(cx.integers(2)?));
    let steps = if cx.has(3) { cx.integers(3)? } else { vec![1; begins.len()] };
    let plan = masks.plan(dims.len(), begins.len(), Some(&begins), Some(&ends), Some(&steps))?;
    let missing = || errors::count("ends or steps", ends.len().min(steps.len()), begins.len());
    let indices = taken(&plan, dims).ok_or_else(missing)??;
    let result: Vec<_> = plan
        .iter()
        .filter_map(|stride| match *stride {
            Stride::Cut(axis, _) | Stride::Keep(axis) => Some(indices[axis].len()),
            Stride::New => Some(1),
            Stride::Shrink(..) => None,
        })
        .collect();
    Ok(vec![output::chosen(cx, data, &indices)?.reshaped(Shape::new(result)?)?.into()])
}

/// Slices of an axis are replaced where the indices say.
pub fn run_scatter_update(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let (data, indices, updates) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    let dims = data.shape().dims();
    let axis = indices::axis(cx.integer(3)?, dims.len())?;
    let wanted = [&dims[..axis], indices.shape().dims(), &dims[axis + 1..]].concat();
    if updates.shape().dims() != wanted {
        let (got, wanted) = (updates.shape(), Shape::new(wanted)?);
        return Err(errors::shape("shape of the updates", got, wanted));
    }
    let numbers = cx.integers(1)?;
    let behind = axis + indices.shape().rank();
    allowed(cx, data.dtype(), dims)?;
    let mut all: Vec<_> = (0..data.len()).map(|place| (0, place)).collect();
    for (update, position) in indexing::eval::positions(&wanted).enumerate() {
        let at = indexing::eval::flat_index(&position[axis..behind], indices.shape().dims());
        let index = indices::index(numbers[at], dims[axis])?;
        let place = [&position[..axis], &[index], &position[behind..]].concat();
        all[indexing::eval::flat_index(&place, dims)] = (1, update);
    }
    Ok(vec![Tensor::woven(&[data, updates], data.shape().clone(), all, &cx.limits())?.into()])
}

/// Data some of whose slices along an axis are replaced.
pub fn scatter_update(cx: &mut InferContext<'_, '_>) -> InferResult {
    let facts = same(cx)?;
    require_along_input(cx, 2)?;
    Ok(facts)
}

/// Requires that the indices are within the axis that the last input names, if the updates, which
/// are that input, have elements.
fn require_along_input(cx: &mut InferContext<'_, '_>, updates: usize) -> Result<(), InferError> {
    let (Some(dims), Some(axis)) = (cx.known_dims(0), cx.integer(3).and_then(Dim::known)) else {
        return Ok(());
    };
    let axis = indices::axis(axis, dims.len())?;
    let updates = [cx.fact(updates).clone()];
    require_where_any(cx, &updates, axis)
}

/// Shape of OpenVINO's `ScatterElementsUpdate`: that of the data.
pub fn scatter_elements_update(cx: &mut InferContext<'_, '_>) -> InferResult {
    require_along_input(cx, 1)?;
    same(cx)
}

/// Shape of OpenVINO's `ScatterNDUpdate`: that of the data.
pub fn scatter_nd_update(cx: &mut InferContext<'_, '_>) -> InferResult {
    let replaces = words::SCATTER_ND.of(&cx.attributes)? == "none";
    scattered(cx, replaces)
}

/// The names that other standards give to reductions, and what is scattered without what was there.
fn reduction(attributes: &Attributes) -> Computed<Content> {
    let name = match attributes.text("reduction")?.unwrap_or("none") {
        "none" => "none",
        "sum" => "add",
        "prod" => "mul",
        "min" => "min",
        "max" => "max",
        other => {
            return Err(errors::text("reduction", other, "none, sum, prod, min or max"));
        }
    };
    Ok(Content::Bytes(name.into()))
}

/// Builds the operator that scatters updates: at once, or by the graph that is written for means
/// and for reductions without the initial values.
pub fn scatter_elements(cx: &BuildContext<'_>) -> Computed<Box<dyn Op>> {
    if rows::scatters_in_steps(&cx.attributes)? {
        return lowering::build(cx);
    }
    op::build(cx, Eval::Function(run_scatter_elements))
}

fn run_scatter_elements(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let how = reduction(attributes)?;
    let given = vec![("axis", Content::Int(cx.integer(3)?)), ("reduction", how)];
    let inputs = [0, 1, 2].map(|index| input(cx, index));
    called(cx, indexing::eval::scatter_elements, given, &inputs)
}

/// `ScatterNDUpdate` of OpenVINO, which may subtract.
pub fn run_scatter_nd(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let subtracts = attributes.text("reduction")? == Some("sub");
    let how = if subtracts { Content::Bytes("add".into()) } else { reduction(attributes)? };
    let mut inputs = [0, 1, 2].map(|index| input(cx, index));
    if subtracts {
        cx.reserve(convert::product(cx.tensor(2)?.len(), 2 * size_of::<Number>()))?;
        inputs[2] = Some(negated(cx.tensor(2)?)?.into());
    }
    called(cx, indexing::eval::scatter_nd, vec![("reduction", how)], &inputs)
}

/// The negative of each element, without the carry beyond the type.
fn negated(tensor: &Tensor) -> Computed<Tensor> {
    let dtype = tensor.dtype();
    let (count, half) = (1i128 << dtype.bits().min(64), 1i128 << dtype.bits().clamp(1, 64).saturating_sub(1));
    let negative = |number: Number| match number {
        Number::Int(x) if dtype.class() == Class::Signed && x == -half => number,
        Number::Int(x) if dtype.class() != Class::Signed => Number::Int((count - x) % count),
        other => neg(other),
    };
    let numbers: Vec<_> = tensor.numbers()?.map(negative).collect();
    Tensor::from_numbers(dtype, tensor.shape().clone(), numbers, Rules::IEEE)
}

/// Shape of OpenVINO's `GatherElements`: that of the indices.
pub fn gather_elements(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(1)?;
    require_along_axis(cx)?;
    like_first(cx, dims)
}
