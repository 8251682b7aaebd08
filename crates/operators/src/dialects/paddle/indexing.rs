//! Operators that sort, find, or write elements by index.
//!
//! | operators | Paddle |
//! |---|---|
//! | `roll` | elements pushed beyond the end come back at the start; without axes, of the flat tensor |
//! | `scatter` | with `overwrite=False`, rows of the index are zeros before updates are added |
//! | `set_value` | writes a slice; axes in `decrease_axes` are not axes of the value |
//! | `segment_pool` | as many segments as the last number says |
//! | `repeat_interleave` | repeats of each element, as a number or as a tensor |
//! | `masked_select`, `index_put`, `meshgrid` | inputs are broadcast against each other |

use gradus_core::convert::{Rules, i64_of};
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor, convert};

use crate::dialects::cannot;
use crate::dialects::indices::{counts_of, index, owners, positions, size};
use crate::dialects::paddle::attributes::{constant_like, ints};
use crate::dialects::paddle::create::values;
use crate::dialects::paddle::layout::{inputs, list};
use crate::dialects::paddle::math::floor_of_quotient;
use crate::errors;
use crate::lowering::terms::{cast, f, of, pick, shaped, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, axis, int};
use crate::words;

fn unsqueezed(l: &mut Lowering<'_>, value: LoweredValue, axis: i64) -> Result<LoweredValue> {
    let axis = l.list(&[axis])?;
    l.apply("Unsqueeze", &[value, axis], &[])
}

fn reshaped(l: &mut Lowering<'_>, value: LoweredValue, dims: LoweredValue) -> Result<LoweredValue> {
    l.apply("Reshape", &[value, dims], &[int("allowzero", 1)])
}

fn scattered(
    l: &mut Lowering<'_>,
    inputs: [LoweredValue; 3],
    reduction: &'static str,
) -> Result<LoweredValue> {
    l.apply("ScatterND", &inputs, &[("reduction", Content::Bytes(reduction.to_owned().into()))])
}

/// `argsort`: the sorted elements along an axis, and their indices.
pub fn argsort(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    if rank == 0 {
        let first = l.constant(Tensor::scalar(0i64))?;
        return Ok(vec![l.apply("Identity", &[x], &[])?, first]);
    }
    let axis = axis(l.attributes.int_or("axis", -1)?, rank)?;
    let all = size(l, x, axis)?;
    let largest = int("largest", l.attributes.flag("descending", false)?.into());
    l.apply_many("TopK", &[x, all], &[along(axis), largest, int("sorted", 1)], 2)
}

/// `unique`: distinct elements or slices, sorted, with indices and counts.
pub fn unique(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.attributes.flag("is_sorted", true)? {
        return Err(cannot("unique without sorting"));
    }
    let x = l.input(0)?;
    let attributes = match ints(l, "axis")?[..] {
        [] => vec![],
        [one] => vec![along(axis(one, l.rank_of(0)?)?)],
        [_, _, ..] => return Err(cannot("unique along several axes")),
    };
    let mut outputs = l.apply_many("Unique", &[x], &attributes, 4)?;
    if let Some(to) = l.dtype("dtype")?.filter(|&to| to != DType::I64) {
        for output in &mut outputs[1..] {
            *output = l.cast(*output, to)?;
        }
    }
    // Paddle declares outputs that no attribute asks for as scalars.
    for (output, name) in outputs[1..].iter_mut().zip(["return_index", "return_inverse", "return_counts"]) {
        if !l.attributes.flag(name, false)? {
            *output = l.constant(Tensor::scalar(0i64))?;
        }
    }
    Ok(outputs)
}

/// `one_hot`: 1 at each index along a new last axis.
pub fn one_hot(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, depth) = (index(l, 0)?, list(l, "num_classes", 1)?);
    let dtype = l.dtype("dtype")?.unwrap_or(DType::F32);
    let values = l.constant(Tensor::vector(&[0i64, 1]))?;
    Ok(vec![with("OneHot", [x.into(), depth.into(), cast(values, dtype)], []).put(l)?])
}

/// `eye`: ones on the diagonal of a matrix.
pub fn eye(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (rows, mut columns) = (list(l, "num_rows", 0)?, list(l, "num_columns", 1)?);
    if l.attributes.int("num_columns")? == Some(-1) {
        columns = rows;
    }
    let zeros = f("ConstantOfShape", with("Concat", [rows.into(), columns.into()], [along(0)])).put(l)?;
    let ones = l.apply("EyeLike", &[zeros], &[])?;
    let dtype = l.dtype("dtype")?.unwrap_or(DType::F32);
    Ok(vec![l.cast(ones, dtype)?])
}

/// `roll`: elements shifted along axes; those shifted beyond the end come first.
pub fn roll(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut x, rank) = (l.input(0)?, l.rank_of(0)?);
    let whole = l.shape(x)?;
    let count = match l.attributes.ints("shifts")? {
        Some(shifts) => shifts.len(),
        None => l.len_of(1)?,
    };
    let (shifts, mut axes) = (list(l, "shifts", 1)?, ints(l, "axis")?);
    let flat = axes.is_empty();
    if flat {
        x = l.reshape(x, &[-1])?;
        axes = vec![0];
    }
    if axes.len() != count {
        return Err(errors::count("shifts", count, format_args!("{}, one for each axis", axes.len())));
    }
    for (i, &each) in axes.iter().enumerate() {
        let axis = axis(each, if flat { 1 } else { rank })?;
        let (count, which) = (size(l, x, axis)?, l.list(&[i64_of(i)])?);
        let places = positions(l, count)?;
        let from = (places - of("Gather", shifts, which)).put(l)?;
        let one = l.list(&[1])?;
        let from = of("Mod", from, of("Max", count, one)).put(l)?;
        x = l.apply("Gather", &[x, from], &[along(axis)])?;
    }
    Ok(vec![if flat { reshaped(l, x, whole)? } else { x }])
}

/// `meshgrid`: each vector, broadcast to the grid of all.
pub fn meshgrid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mut tensors = inputs(l)?;
    let mut sizes = Vec::new();
    let mut dims = vec![1; tensors.len()];
    for (i, tensor) in tensors.iter_mut().enumerate() {
        let flat = l.reshape(*tensor, &[-1])?;
        sizes.push(l.shape(flat)?);
        dims[i] = -1;
        *tensor = l.reshape(flat, &dims)?;
        dims[i] = 1;
    }
    let target = l.apply("Concat", &sizes, &[along(0)])?;
    tensors.into_iter().map(|tensor| l.apply("Expand", &[tensor, target], &[])).collect()
}

/// Two values, each expanded to the shape that both broadcast to.
fn broadcast(l: &mut Lowering<'_>, a: LoweredValue, b: LoweredValue) -> Result<[LoweredValue; 2]> {
    Ok([of("Expand", a, f("Shape", b)).put(l)?, of("Expand", b, f("Shape", a)).put(l)?])
}

/// `broadcast_tensors`: the inputs, broadcast to their common shape.
pub fn broadcast_tensors(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mut tensors = inputs(l)?;
    let mut first = tensors[0];
    for &tensor in &tensors[1..] {
        [first, _] = broadcast(l, first, tensor)?;
    }
    let target = l.shape(first)?;
    for tensor in &mut tensors {
        *tensor = l.apply("Expand", &[*tensor, target], &[])?;
    }
    Ok(tensors)
}

/// `masked_select`: the elements where the mask is true, as a vector.
pub fn masked_select(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [mut x, mut mask] = [l.input(0)?, l.input(1)?];
    let dims = l.dims_of(0)?;
    if dims != l.dims_of(1)? || dims.contains(&None) {
        [x, mask] = broadcast(l, x, mask)?;
    }
    Ok(vec![of("Compress", x, shaped(mask, &[-1])).put(l)?])
}

/// `masked_fill`: a value where the mask is true, the input elsewhere.
pub fn masked_fill(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (value, dtype) = (l.input(2)?, l.dtype_of(0)?);
    let value = if l.dtype_of(2)? == dtype { value } else { l.cast(value, dtype)? };
    Ok(vec![pick(l.input(1)?, value, l.input(0)?).put(l)?])
}

/// `index_sample`: the elements of each row at the indices of that row.
pub fn index_sample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [l.input(0)?, index(l, 1)?];
    Ok(vec![l.apply("GatherElements", &inputs, &[along(1)])?])
}

/// `index_add`: updates added to the slices at indices of an axis.
pub fn index_add(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [x, index, updates] = [l.input(0)?, index(l, 1)?, l.input(2)?];
    let rank = l.rank_of(0)?;
    let axis = axis(l.attributes.int_or("axis", 0)?, rank)?;
    // The axis first, as it must be to be scattered along; its exchange undoes itself.
    let mut perm: Vec<_> = (0..i64_of(rank)).collect();
    perm.swap(0, axis);
    let swapped = |l: &mut Lowering<'_>, value| {
        l.apply("Transpose", &[value], &[("perm", Content::Ints(perm.clone().into()))])
    };
    let inputs = [swapped(l, x)?, unsqueezed(l, index, -1)?, swapped(l, updates)?];
    let sum = scattered(l, inputs, "add")?;
    Ok(vec![swapped(l, sum)?])
}

/// `index_put`: values written, or added, at tuples of indices or where masks are true.
pub fn index_put(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let last = l.count().saturating_sub(1).max(2);
    let (x, mut value) = (l.input(0)?, l.input(last)?);
    let mut indices = Vec::new();
    for input in 1..last {
        if l.dtype_of(input)? != DType::Bool {
            indices.push(index(l, input)?);
            continue;
        }
        // A mask stands for the indices of what is true, one for each of its axes.
        let (mask, rank) = (l.input(input)?, l.rank_of(input)?);
        let places = l.apply("NonZero", &[mask], &[])?;
        for axis in 0..rank {
            let axis = l.constant(Tensor::scalar(i64_of(axis)))?;
            indices.push(l.apply("Gather", &[places, axis], &[along(0)])?);
        }
    }
    let Some(&(mut first)) = indices.first() else { return Err(cannot("index_put with a mask of rank 0")) };
    for &other in &indices[1..] {
        [first, _] = broadcast(l, first, other)?;
    }
    let target = l.shape(first)?;
    for index in &mut indices {
        let whole = l.apply("Expand", &[*index, target], &[])?;
        *index = unsqueezed(l, whole, -1)?;
    }
    let rows = l.apply("Shape", &[x], &[int("start", i64_of(indices.len()))])?;
    value = of("Expand", value, with("Concat", [target.into(), rows.into()], [along(0)])).put(l)?;
    let places = l.apply("Concat", &indices, &[int("axis", -1)])?;
    let add = l.attributes.flag("accumulate", false)?;
    Ok(vec![scattered(l, [x, places, value], if add { "add" } else { "none" })?])
}

/// `put_along_axis`: values at indices along an axis, assigned or reduced.
pub fn put_along_axis(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [x, index, values] = [l.input(0)?, index(l, 1)?, l.input(2)?];
    let axis = axis(l.attributes.int_or("axis", 0)?, l.rank_of(0)?)?;
    let put = |l: &mut Lowering<'_>, x, values, reduction: &'static str| {
        let attributes = [along(axis), ("reduction", Content::Bytes(reduction.into()))];
        l.apply("ScatterElements", &[x, index, values], &attributes)
    };
    let each = |l: &mut Lowering<'_>, value| {
        let (value, dims) = (constant_like(l, value)?, l.shape(index)?);
        l.apply("Expand", &[value, dims], &[])
    };
    let (mode, own) = (words::PUT.of(&l.attributes)?, l.attributes.flag("include_self", true)?);
    // Elements that do not take part become ones that change nothing: of a maximum, one of the
    // values.
    let (reduction, idle) = match mode {
        "assign" => return Ok(vec![put(l, x, values, "none")?]),
        "add" | "mean" => ("add", Some(0.0)),
        "mul" | "multiply" => ("mul", Some(1.0)),
        "amax" => ("max", None),
        _ => ("min", None),
    };
    let start = match idle {
        _ if own => x,
        None => put(l, x, values, "none")?,
        Some(idle) => {
            let idle = each(l, idle)?;
            put(l, x, idle, "none")?
        }
    };
    let result = put(l, start, values, reduction)?;
    if mode != "mean" {
        return Ok(vec![result]);
    }
    let (one, ones) = (constant_like(l, 1.0)?, each(l, 1.0)?);
    let mut counts = of("Expand", one, f("Shape", x)).put(l)?;
    if !own {
        let zeros = each(l, 0.0)?;
        counts = put(l, counts, zeros, "none")?;
    }
    let operands = [result, put(l, counts, ones, "add")?];
    Ok(vec![if l.dtype_of(0)?.is_float() {
        l.apply("Div", &operands, &[])?
    } else {
        floor_of_quotient(l, operands)?
    }])
}

/// `scatter`: rows at indices, overwritten or summed.
pub fn scatter(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [x, mut index, mut updates] = [l.input(0)?, index(l, 1)?, l.input(2)?];
    index = l.reshape(index, &[-1, 1])?;
    if l.rank_of(1)? == 0 {
        updates = unsqueezed(l, updates, 0)?;
    }
    if l.attributes.flag("overwrite", true)? {
        return Ok(vec![scattered(l, [x, index, updates], "none")?]);
    }
    let zero = constant_like(l, 0.0)?;
    let nothing = of("Expand", zero, f("Shape", updates)).put(l)?;
    let cleared = scattered(l, [x, index, nothing], "none")?;
    Ok(vec![scattered(l, [cleared, index, updates], "add")?])
}

/// `scatter_nd_add`: updates added at tuples of indices.
pub fn scatter_nd_add(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [l.input(0)?, index(l, 1)?, l.input(2)?];
    Ok(vec![scattered(l, inputs, "add")?])
}

/// `repeat_interleave`: each slice along an axis, repeated.
pub fn repeat_interleave(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let axis = axis(l.attributes.int_or("axis", 0)?, l.rank_of(0)?)?;
    let count = size(l, x, axis)?;
    let from = if l.has(1) {
        let repeats = index(l, 1)?;
        let repeats = l.apply("Expand", &[repeats, count], &[])?;
        owners(l, repeats)?
    } else {
        let repeats = l.attributes.int_or("repeats", 1)?;
        if repeats < 0 {
            return Err(errors::value("attribute \"repeats\"", repeats, "at least 0"));
        }
        let repeats = l.list(&[repeats])?;
        let total = l.apply("Mul", &[count, repeats], &[])?;
        let places = positions(l, total)?;
        l.apply("Div", &[places, repeats], &[])?
    };
    Ok(vec![l.apply("Gather", &[x, from], &[along(axis)])?])
}

/// `set_value`: `inputs` are those of starts, ends and steps, and that of the value, if it is one.
pub fn set_value(
    l: &mut Lowering<'_>,
    [starts, ends, steps]: [usize; 3],
    value: usize,
) -> Result<Vec<LoweredValue>> {
    let (x, dtype, axes) = (l.input(0)?, l.dtype_of(0)?, ints(l, "axes")?);
    let (starts, ends) = (list(l, "starts", starts)?, list(l, "ends", ends)?);
    let (axes, steps) = (l.list(&axes)?, list(l, "steps", steps)?);
    // The slice of the flat indices says where the value goes.
    let (whole, count) = (l.shape(x)?, l.apply("Size", &[x], &[])?);
    let places = positions(l, count)?;
    let places = reshaped(l, places, whole)?;
    let mut places = l.apply("Slice", &[places, starts, ends, axes, steps], &[])?;
    let decreases = ints(l, "decrease_axes")?;
    if !decreases.is_empty() {
        let decreased = l.list(&decreases)?;
        places = l.apply("Squeeze", &[places, decreased], &[])?;
    }
    let added = ints(l, "none_axes")?;
    if !added.is_empty() {
        // A new axis comes before an axis of the tensor, of which some are removed.
        let gone = |axis: i64| i64_of(decreases.iter().filter(|&&other| other < axis).count());
        let added: Vec<_> = (0..).zip(added).map(|(i, axis)| i + axis - gone(axis)).collect();
        let added = l.list(&added)?;
        places = l.apply("Unsqueeze", &[places, added], &[])?;
    }
    let value = if l.has(value) {
        let given = l.input(value)?;
        if l.dtype_of(value)? == dtype { given } else { l.cast(given, dtype)? }
    } else {
        values(l, dtype)?
    };
    let value = of("Expand", value, f("Shape", places)).put(l)?;
    let [flat, places, value] = [l.reshape(x, &[-1])?, l.reshape(places, &[-1])?, l.reshape(value, &[-1])?];
    let flat = l.apply("ScatterElements", &[flat, places, value], &[])?;
    Ok(vec![reshaped(l, flat, whole)?])
}

/// `multiplex`: of each row, that of the tensor of its index.
pub fn multiplex(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let last = l.count().saturating_sub(1);
    let which = index(l, last)?;
    let which = l.reshape(which, &[-1, 1])?;
    let rows = (0..last).map(|input| unsqueezed_input(l, input)).collect::<Result<Vec<_>>>()?;
    let rows = l.apply("Concat", &rows, &[along(0)])?;
    let count = size(l, which, 0)?;
    let own = positions(l, count)?;
    let places = with("Concat", [which.into(), shaped(own, &[-1, 1])], [along(1)]).put(l)?;
    Ok(vec![l.apply("GatherND", &[rows, places], &[])?])
}

fn unsqueezed_input(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    let x = l.input(input)?;
    unsqueezed(l, x, 0)
}

/// `segment_pool`: reductions of the rows of each segment, whose numbers ascend; zeros for segments
/// without rows.
pub fn segment_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype, rank, ids) = (l.input(0)?, l.dtype_of(0)?, l.rank_of(0)?, index(l, 1)?);
    let (reduction, least) = match words::SEGMENTS.of(&l.attributes)? {
        "SUM" | "MEAN" => ("add", 0.0),
        "MAX" => ("max", f64::NEG_INFINITY),
        _ => ("min", f64::INFINITY),
    };
    if !dtype.is_float() {
        return Err(errors::dtype(dtype, "a type of floats"));
    }
    if rank == 0 {
        return Err(errors::rank("x", rank, "at least 1"));
    }
    let last = l.list(&[-1])?;
    let count = (with("Gather", [ids.into(), last.into()], [along(0)]) + 1i64).write(l, DType::I64)?;
    let counts = counts_of(l, ids, count)?;
    let dims =
        with("Concat", [count.into(), with("Shape", [x.into()], [int("start", 1)])], [along(0)]).put(l)?;
    let start = constant_like(l, least)?;
    let start = l.apply("Expand", &[start, dims], &[])?;
    let places = unsqueezed(l, ids, -1)?;
    let mut y = scattered(l, [start, places, x], reduction)?;
    let counts = l.cast(counts, dtype)?;
    let counts = l.reshape(counts, &[&[-1][..], &vec![1; rank - 1]].concat())?;
    if words::SEGMENTS.of(&l.attributes)? == "MEAN" {
        y = (y / of("Max", counts, 1.0)).write(l, dtype)?;
        return Ok(vec![y, l.reshape(counts, &[-1, 1])?]);
    }
    if reduction != "add" {
        y = pick(of("Equal", counts, 0.0), 0.0, y).write(l, dtype)?;
    }
    Ok(vec![y, constant_like(l, 0.0)?])
}

/// `tril_indices` and `triu_indices`: where the elements of a triangle are, in two rows.
pub fn triangle_places(l: &mut Lowering<'_>, sides: [&str; 2], upper: bool) -> Result<Vec<LoweredValue>> {
    let [rows, columns] = sides.map(|name| l.attributes.int_or(name, 0));
    let dims = l.list(&[rows?, columns?])?;
    let ones = of("Expand", whole(1), dims).put(l)?;
    let offset = l.attributes.int_or("offset", 0)?;
    let offset = l.constant(Tensor::scalar(offset))?;
    let places =
        f("NonZero", with("Trilu", [ones.into(), offset.into()], [int("upper", upper.into())])).put(l)?;
    let to = l.dtype("dtype")?.unwrap_or(DType::I64);
    Ok(vec![if to == DType::I64 { places } else { l.cast(places, to)? }])
}

/// `sequence_mask`: true up to each length.
pub fn sequence_mask(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (lengths, named) = (index(l, 0)?, l.attributes.int("maxlen")?);
    let most = if l.has(1) {
        let given = index(l, 1)?;
        l.reshape(given, &[1])?
    } else {
        l.list(&[named.unwrap_or(-1)])?
    };
    // The maximum length, if none is wanted.
    let count = pick(of("Less", most, 0.0), with("ReduceMax", [lengths.into()], [int("keepdims", 0)]), most)
        .write(l, DType::I64)?;
    let (places, lengths) = (positions(l, count)?, unsqueezed(l, lengths, -1)?);
    let mask = l.apply("Less", &[places, lengths], &[])?;
    let to = l.dtype("out_dtype")?.unwrap_or(DType::I64);
    Ok(vec![l.cast(mask, to)?])
}

/// `shard_index`: indices within a shard, and another number for those of other shards.
pub fn shard_index(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let [all, shards, own, other] =
        ["index_num", "nshards", "shard_id", "ignore_value"].map(|name| l.attributes.int_or(name, 0));
    let (all, shards) = (all?, errors::at_least_1("nshards", shards?)?);
    let each = all / shards + i64::from(all % shards != 0);
    let [each, own, other] = [each, own?, other?].map(|number| l.constant(Tensor::scalar(number)));
    let [each, own, other] = [l.cast(each?, dtype)?, l.cast(own?, dtype)?, l.cast(other?, dtype)?];
    let here = of("Equal", x / each, own);
    let place = x - (x / each) * each;
    Ok(vec![pick(here, place, other).write(l, dtype)?])
}

/// `embedding`; the indices of `lookup_table` have a last axis of one element.
pub fn embedding(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut index, weight) = (l.input(0)?, l.input(1)?);
    if l.node_is("lookup_table") {
        let last = l.list(&[-1])?;
        index = l.apply("Squeeze", &[index, last], &[])?;
    }
    let rows = l.apply("Gather", &[weight, index], &[along(0)])?;
    let padding = l.attributes.int_or("padding_idx", -1)?;
    if padding == -1 {
        return Ok(vec![rows]);
    }
    let padding = l.constant(Tensor::scalar(padding))?;
    let is_padding = of("Equal", cast(index, DType::I64), padding).put(l)?;
    let last = l.list(&[-1])?;
    let zero = l.constant(convert::cast(&Tensor::scalar(0f64), l.dtype_of(1)?, Rules::IEEE)?)?;
    Ok(vec![pick(of("Unsqueeze", is_padding, last), zero, rows).put(l)?])
}

/// `flip`: elements in reverse order along axes.
pub fn flip(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let axes = ints(l, "axis")?.into_iter().map(|each| axis(each, rank).map(i64_of));
    let axes = axes.collect::<Result<Vec<_>>>()?;
    let [starts, ends, steps] = [-1, i64::MIN, -1].map(|value| vec![value; axes.len()]);
    let inputs = [x, l.list(&starts)?, l.list(&ends)?, l.list(&axes)?, l.list(&steps)?];
    Ok(vec![l.apply("Slice", &inputs, &[])?])
}

/// `take_along_axis`: the elements at indices along an axis.
pub fn take_along_axis(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, index) = (l.input(0)?, l.input(1)?);
    Ok(vec![l.apply("GatherElements", &[x, index], &[int("axis", l.attributes.int_or("axis", 0)?)])?])
}

/// `nonzero`: an index a row, where ONNX has one a column.
pub fn nonzero(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    Ok(vec![with("Transpose", [f("NonZero", l.input(0)?)], [("perm", Content::Ints([1, 0].into()))]).put(l)?])
}
