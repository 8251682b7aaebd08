//! Evaluation of slices, gathers and scatters.

use gradus_core::convert::{self, FromNumber, usize_of_i64};
use gradus_core::{DType, Error, Kind, Number, Result, Shape, Tensor, Value, dispatch};

use crate::attributes::Attributes;
use crate::errors;
use crate::indices::{self, Along};
use crate::op::EvalContext;
use crate::output::{allowed, chosen, one};
use crate::words;

/// `Slice`: elements from starts to ends along axes, with steps.
pub fn slice(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let (starts, ends) = (cx.integers(1)?, cx.integers(2)?);
    let axes = match cx.maybe_integers(3)? {
        Some(axes) => indices::axes(&axes, dims.len())?,
        None => (0..starts.len()).collect(),
    };
    let steps = cx.maybe_integers(4)?.unwrap_or_else(|| vec![1; axes.len()]);
    let mut counts = [starts.len(), ends.len(), steps.len()].into_iter();
    if let Some(count) = counts.find(|&count| count != axes.len()) {
        return Err(errors::count("starts, ends or steps", count, axes.len()));
    }
    if axes.len() > dims.len() {
        return Err(errors::count("axes", axes.len(), format_args!("at most {}", dims.len())));
    }
    let mut indices = indices::all(dims);
    for (i, &axis) in axes.iter().enumerate() {
        indices[axis] = indices::sliced(dims[axis], starts[i], ends[i], steps[i])?;
    }
    one(chosen(cx, data, &indices)?)
}

/// `Gather`: slices at indices of an axis.
pub fn gather(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let dims = data.shape().dims();
    let axis = indices::axis(attributes.int("axis")?.unwrap_or(0), dims.len())?;
    let chosen_indices = cx.integers(1)?.into_iter().map(|index| indices::index(index, dims[axis]));
    let mut all = indices::all(dims);
    all[axis] = Along::List(chosen_indices.collect::<Result<_>>()?);
    let result = [&dims[..axis], indices.shape().dims(), &dims[axis + 1..]].concat();
    one(chosen(cx, data, &all)?.reshaped(Shape::new(result)?)?)
}

/// For each element of the indices, in order, its index along each axis.
pub fn positions(dims: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let dims = dims.to_vec();
    let count = dims.iter().product();
    (0..count).map(move |place: usize| {
        let mut left = place;
        let mut index = vec![0; dims.len()];
        for axis in (0..dims.len()).rev() {
            index[axis] = left % dims[axis];
            left /= dims[axis];
        }
        index
    })
}

/// The flat index of an element, row by row.
pub fn flat_index(index: &[usize], dims: &[usize]) -> usize {
    index.iter().zip(dims).fold(0, |place, (index, size)| place * size + index)
}

/// Flat index along the axis to which each index points.
fn pointed(cx: &EvalContext<'_>, data: &Tensor, indices: &Tensor, axis: i64) -> Result<Vec<usize>> {
    let dims = data.shape().dims();
    let axis = indices::axis(axis, dims.len())?;
    errors::expect_rank("the indices", indices.shape().rank(), dims.len())?;
    let each = positions(indices.shape().dims()).zip(cx.integers(1)?).map(|(mut position, index)| {
        position[axis] = indices::index(index, dims[axis])?;
        if position.iter().zip(dims).any(|(index, size)| index >= size) {
            let wanted = format!("at most {} outside axis {axis}", data.shape());
            return Err(errors::shape("shape of the indices", indices.shape(), wanted));
        }
        Ok(flat_index(&position, dims))
    });
    each.collect()
}

/// `GatherElements`: the elements at indices along an axis.
pub fn gather_elements(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let shape = allowed(cx, data.dtype(), indices.shape().dims())?;
    one(data.picked(
        shape,
        &pointed(cx, data, indices, attributes.int("axis")?.unwrap_or(0))?,
        &cx.limits(),
    )?)
}

/// Starts of the blocks that tuples of indices name, their length, and the dimensions of all of
/// them.
fn blocks(
    cx: &EvalContext<'_>,
    data: &Tensor,
    indices: &Tensor,
    batch: usize,
) -> Result<(Vec<usize>, usize, Vec<usize>)> {
    let (dims, index_dims) = (data.shape().dims(), indices.shape().dims());
    let (&depth, before) =
        index_dims.split_last().ok_or_else(|| errors::rank("the indices", 0, "at least 1"))?;
    let rest = dims.get(batch.saturating_add(depth)..).filter(|_| before.len() >= batch);
    let rest = rest.ok_or_else(|| errors::tuples(batch, depth, dims.len()))?;
    errors::same_batch(&before[..batch], &dims[..batch])?;
    let size: usize = rest.iter().product();
    let numbers = cx.integers(1)?;
    let count = allowed(cx, DType::I64, before)?.len();
    let per_batch: usize = before[batch..].iter().product();
    let mut starts = Vec::with_capacity(count);
    for tuple in 0..count {
        let mut place = tuple.checked_div(per_batch).unwrap_or(0);
        for (axis, &number) in numbers[tuple * depth..(tuple + 1) * depth].iter().enumerate() {
            let size = dims[batch + axis];
            place = place * size + indices::index(number, size)?;
        }
        starts.push(place * size);
    }
    Ok((starts, size, [before, rest].concat()))
}

/// `GatherND`: slices at tuples of indices, within batches.
pub fn gather_nd(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let batch = attributes.int("batch_dims")?.and_then(usize_of_i64).unwrap_or(0);
    let (starts, size, dims) = blocks(cx, data, indices, batch)?;
    let shape = allowed(cx, data.dtype(), &dims)?;
    let places: Vec<_> = starts.into_iter().flat_map(|start| start..start + size).collect();
    one(data.picked(shape, &places, &cx.limits())?)
}

/// How the updates that are scattered are combined with the data, if they do not replace
/// it.
pub(super) fn reduction(attributes: &Attributes<'_>) -> Result<Option<&'static str>> {
    Ok(Some(words::SCATTER.of(attributes)?).filter(|how| *how != "none"))
}

/// The data with updates written to places, or combined with what is there.
pub fn scattered(attributes: &Attributes<'_>, cx: &EvalContext<'_>, places: &[usize]) -> Result<Vec<Value>> {
    fn combine<T: FromNumber>(
        data: &Tensor,
        updates: &Tensor,
        places: &[usize],
        how: &str,
    ) -> Result<Tensor> {
        let mut all = data.elements::<T>()?.into_owned();
        for (&place, &update) in places.iter().zip(updates.elements::<T>()?.iter()) {
            let both = match (all[place].number(), update.number()) {
                (Number::Int(a), Number::Int(b)) => Number::Int(match how {
                    "add" => a + b,
                    // The lowest bits are what any integer type keeps.
                    "mul" => a.wrapping_mul(b),
                    "min" => a.min(b),
                    _ => a.max(b),
                }),
                (a, b) => {
                    let (a, b) = (convert::nearest_f64(a), convert::nearest_f64(b));
                    Number::Float(match how {
                        "add" => a + b,
                        "mul" => a * b,
                        "min" => a.min(b),
                        _ => a.max(b),
                    })
                }
            };
            all[place] = T::from_number(both);
        }
        Tensor::from_vec(data.shape().clone(), all)
    }
    let (data, updates) = (cx.tensor(0)?, cx.tensor(2)?);
    errors::expect_count("updates", updates.len(), places.len())?;
    allowed(cx, data.dtype(), data.shape().dims())?;
    match reduction(attributes)? {
        None => {
            let mut all: Vec<_> = (0..data.len()).map(|place| (0, place)).collect();
            for (i, &place) in places.iter().enumerate() {
                all[place] = (1, i);
            }
            one(Tensor::woven(&[data, updates], data.shape().clone(), all, &cx.limits())?)
        }
        Some(how) => {
            let result = dispatch!(data.dtype(), [I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64] => combine(data, updates, places, how),
                dtype => Err(Error::mismatch(Kind::Unsupported, "element type", dtype, "a real numeric type")));
            one(result?)
        }
    }
}

/// Checks that the updates have the shape that the indices say.
fn updates_of_shape(cx: &EvalContext<'_>, dims: &[usize]) -> Result<()> {
    let (own, wanted) = (cx.tensor(2)?.shape(), Shape::new(dims)?);
    if *own == wanted { Ok(()) } else { Err(Error::mismatch(Kind::Shape, cx.label(2), own, wanted)) }
}

/// `ScatterElements`: the data with updates at indices along an axis, assigned or reduced.
pub fn scatter_elements(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let indices = cx.tensor(1)?;
    let places = pointed(cx, cx.tensor(0)?, indices, attributes.int("axis")?.unwrap_or(0))?;
    updates_of_shape(cx, indices.shape().dims())?;
    scattered(attributes, cx, &places)
}

/// `ScatterND`: the data with updates at tuples of indices, assigned or reduced.
pub fn scatter_nd(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (starts, size, dims) = blocks(cx, cx.tensor(0)?, cx.tensor(1)?, 0)?;
    updates_of_shape(cx, &dims)?;
    cx.reserve(convert::product(starts.len() * size, 2 * size_of::<usize>()))?;
    let places: Vec<_> = starts.into_iter().flat_map(|start| start..start + size).collect();
    scattered(attributes, cx, &places)
}

/// `Compress`: the elements or slices whose condition is true.
pub fn compress(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    if dims.is_empty() {
        return Err(errors::rank("input 0", 0, "at least 1"));
    }
    let truth: Vec<_> = cx.tensor(1)?.numbers()?.map(|number| !number.is_zero()).collect();
    let kept = |size: usize| -> Vec<usize> { (0..size.min(truth.len())).filter(|&i| truth[i]).collect() };
    match attributes.int("axis")? {
        None => {
            let places = kept(data.len());
            one(data.picked(Shape::vector(places.len()), &places, &cx.limits())?)
        }
        Some(axis) => {
            let axis = indices::axis(axis, dims.len())?;
            let mut indices = indices::all(dims);
            indices[axis] = Along::List(kept(dims[axis]));
            one(chosen(cx, data, &indices)?)
        }
    }
}
