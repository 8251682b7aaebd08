//! Operators that make one element of many along axes.
//!
//! | operators | shape |
//! |---|---|
//! | `Reduce…` | the named axes become 1, or go without `keepdims`; all axes if none is named |
//! | `ArgMax`, `ArgMin` | one axis |
//! | `TopK` | an axis becomes `k` |
//! | `Unique`, `NonZero` | the data decide |

use std::sync::Arc;

use gradus_core::DType;
use gradus_core::graph::Standard;

use crate::dim::{Bounds, Dim, Relation};
use crate::errors;
use crate::fact::{Elements, Fact, TensorFact};
use crate::indices;
use crate::infer::{InferContext, InferError, InferResult};
use crate::layout::reshaped::named_axes;

/// Along the axes that the second input names; if none is named, along all or none
/// of them.
pub fn reduce(cx: &mut InferContext<'_, '_>) -> InferResult {
    let keep = cx.attributes.flag("keepdims", true)?;
    let empty_is_none = cx.attributes.flag("noop_with_empty_axes", false)?;
    let openvino = cx.row.is_some_and(|row| row.standard == Standard::OpenVino);
    let dims = cx.dims(0)?;
    let axes = match named_axes(cx, dims.len()) {
        Ok(axes) => axes,
        Err(InferError::Unknown(..)) if keep => {
            let dims = cx.any_dims("the axes are not known before the run", dims.len());
            return Ok(vec![Fact::shaped(dims)]);
        }
        Err(error) => return Err(error),
    };
    let axes = match axes {
        Some(axes) if !axes.is_empty() && openvino => indices::distinct_axes(&axes, dims.len())?,
        Some(axes) if !axes.is_empty() => indices::axes(&axes, dims.len())?,
        _ if empty_is_none => return Ok(vec![Fact::shaped(dims)]),
        _ => (0..dims.len()).collect(),
    };
    let left = kept(&dims, &axes, keep);
    let elements = if left.iter().all(|&dim| dim == Dim::ONE) { folded(cx) } else { None };
    Ok(vec![Fact::Tensor(TensorFact {
        dtype: cx.dtype(0),
        dims: Some(left.into()),
        elements: elements.map_or(Elements::Unknown, |dim| Elements::Integers(Arc::new([dim]))),
    })])
}

/// The dimensions with some axes reduced.
fn kept(dims: &[Dim], axes: &[usize], keep: bool) -> Vec<Dim> {
    let one = |(axis, &dim): (usize, &Dim)| match (axes.contains(&axis), keep) {
        (true, true) => Some(Dim::ONE),
        (true, false) => None,
        (false, _) => Some(dim),
    };
    dims.iter().enumerate().filter_map(one).collect()
}

/// The one element that all elements of integers make.
fn folded(cx: &mut InferContext<'_, '_>) -> Option<Dim> {
    let dtype = cx.dtype(0).filter(|dtype| dtype.is_integer())?;
    let name = cx.operator;
    let result = if let Elements::Progression(both) = cx.elements(0) {
        let (first, step) = *both;
        let dims = cx.dims(0).ok()?;
        let count = cx.product(&dims);
        // No elements have neither a maximum nor a minimum.
        let symbols = cx.symbols();
        let rest = symbols.subtract(count, Dim::ONE)?;
        let far = symbols.multiply(step, rest)?;
        let last = symbols.add(first, far)?;
        let rises = symbols.at_least(step, 0);
        match name {
            "ReduceMax" if rises => last,
            "ReduceMin" if rises => first,
            "ReduceSum" => symbols.series(first, step, count)?,
            _ => return None,
        }
    } else if let Elements::Extremes(_) = cx.elements(0) {
        let all = cx.extremes(0)?;
        match name {
            "ReduceMax" if all.attained[1] => all.max,
            "ReduceMin" if all.attained[0] => all.min,
            _ => return None,
        }
    } else {
        let all = cx.integers(0)?;
        let symbols = cx.symbols();
        match name {
            "ReduceProd" => symbols.product(all.iter().copied())?,
            "ReduceSum" => symbols.total(all.iter().copied())?,
            "ReduceMax" => all.iter().copied().map(Some).reduce(|a, b| symbols.max(a?, b?))??,
            "ReduceMin" => all.iter().copied().map(Some).reduce(|a, b| symbols.min(a?, b?))??,
            _ => return None,
        }
    };
    cx.fits(result, dtype).then_some(result)
}

/// Shape of `ArgMax` and `ArgMin`: the input's with the axis reduced.
pub fn arg(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", 0)?, dims.len())?;
    let left = kept(&dims, &[axis], cx.attributes.flag("keepdims", true)?);
    if let Some(results) = cx.symbols().product(left.iter().copied()) {
        if dims[axis] == Dim::ZERO && results.known().is_some_and(|count| count > 0) {
            return Err(errors::count("elements to reduce", 0, "at least 1").into());
        }
        // Nothing is reduced where there are no results.
        if let Some(least) = cx.symbols().min(results, Dim::ONE) {
            cx.require(dims[axis], Relation::AtLeast, least);
        }
    }
    Ok(vec![Fact::typed(DType::I64, left)])
}

/// The largest or smallest elements along an axis, and their indices of that type.
pub fn top_k(cx: &mut InferContext<'_, '_>, indices: DType) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", -1)?, dims.len())?;
    cx.one_element(1)?;
    let k = if let Some(k) = cx.integer(1) {
        k
    } else {
        let most = cx.symbols().bounds(dims[axis]).upper();
        cx.require_elements(1, Dim::ZERO, dims[axis]);
        cx.data("k is not known before the run", Bounds::between(Some(0), most))
    };
    if let Some(fewer) = cx.symbols().subtract(k, dims[axis])
        && cx.symbols().at_least(fewer, 1)
    {
        let (k, len) = (cx.symbols().print(k).to_string(), cx.symbols().print(dims[axis]).to_string());
        return Err(errors::value("k", k, format_args!("0 to {len}")).into());
    }
    cx.require(k, Relation::AtMost, dims[axis]);
    let mut all = dims.to_vec();
    all[axis] = k;
    Ok(vec![Fact::shaped(all.clone()), Fact::typed(indices, all)])
}

/// Shapes of `Unique`: distinct elements or slices, their first and inverse indices, and counts.
pub fn unique(cx: &mut InferContext<'_, '_>) -> InferResult {
    let axis = cx.attributes.int("axis")?;
    uniques(cx, axis, DType::I64, DType::I64)
}

/// The distinct slices along an axis, or the distinct elements; the types are those of indices and
/// counts.
pub fn uniques(
    cx: &mut InferContext<'_, '_>,
    axis: Option<i64>,
    indices: DType,
    counts: DType,
) -> InferResult {
    let dims = cx.dims(0)?;
    let (most, count, first) = match axis {
        None => {
            let all = cx.product(&dims.clone());
            let count = cx.at_most("number of unique elements", all);
            (all, count, vec![count])
        }
        Some(axis) => {
            let axis = indices::axis(axis, dims.len())?;
            let count = cx.at_most("number of unique slices", dims[axis]);
            let mut all = dims.to_vec();
            all[axis] = count;
            (dims[axis], count, all)
        }
    };
    let index = |dtype, dim| Fact::typed(dtype, [dim]);
    Ok(vec![Fact::shaped(first), index(indices, count), index(indices, most), index(counts, count)])
}

/// Shape of `NonZero`: the rank by the number of elements that are not zero.
pub fn non_zero(cx: &mut InferContext<'_, '_>) -> InferResult {
    let indices = cx.attributes.index_dtype("output_type")?.unwrap_or(DType::I64);
    let Some(dims) = cx.known_dims(0) else {
        let (rank, count) =
            (cx.data("the rank", Bounds::SIZE), cx.data("number of nonzero elements", Bounds::SIZE));
        return Ok(vec![Fact::typed(indices, [rank, count])]);
    };
    let all = cx.product(&dims.clone());
    let count = match cx.elements(0) {
        // All elements are the same.
        Elements::Progression(both) if both.1 == Dim::ZERO && both.0.known().is_some() => {
            if both.0 == Dim::ZERO { Dim::ZERO } else { all }
        }
        _ => match cx.integers(0) {
            Some(elements) if elements.iter().all(|dim| dim.known().is_some()) => {
                Dim::from(elements.iter().filter(|&&dim| dim != Dim::ZERO).count())
            }
            _ => cx.at_most("number of nonzero elements", all),
        },
    };
    let mut fact = TensorFact::new(Some(indices), Some(Arc::new([Dim::from(dims.len()), count])));
    // All indices of one axis.
    if dims.len() == 1 && count == all {
        fact.elements = Elements::Progression(Arc::new((Dim::ZERO, Dim::ONE)));
    }
    Ok(vec![Fact::Tensor(fact)])
}
