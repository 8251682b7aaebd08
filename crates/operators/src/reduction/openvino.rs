//! Operators that make one element of many along axes.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `Reduce…` | `Reduce…` | an axis may be named twice; no axes are none |
//! | `TopK` | `TopK` | indices are int32 unless `index_element_type` says otherwise |
//! | `NonZero`, `Unique` | the same | the type of indices is an attribute |

use gradus_core::convert::{Rules as Casting, cast, i64_of};
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Value};

use crate::attributes::{Attributes, required};
use crate::dialects::openvino::{called, called_as, input, integers};
use crate::dim::Dim;
use crate::fact::Fact;
use crate::infer::{InferContext, InferError, InferResult};
use crate::op::EvalContext;
use crate::output::allowed;
use crate::reduction::infer;
use crate::reduction::infer::uniques;
use crate::words;
use crate::{indices, reduction};

/// Shapes of OpenVINO's `Unique`, in the types that attributes name.
pub fn unique(cx: &mut InferContext<'_, '_>) -> InferResult {
    let axis = match (cx.has(1), cx.integer(1).and_then(Dim::known)) {
        (false, _) => None,
        (true, Some(axis)) => Some(axis),
        (true, None) => return Err(InferError::input(1, "names an axis that is not known")),
    };
    let indices = cx.attributes.index_dtype("index_element_type")?.unwrap_or(DType::I64);
    let counts = cx.attributes.index_dtype("count_element_type")?.unwrap_or(DType::I64);
    uniques(cx, axis, indices, counts)
}

/// Reductions of OpenVINO, whose axes may be named twice.
pub fn run_reduce(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let keep = i64::from(attributes.flag("keepdims", true)?);
    let given = vec![("keepdims", Content::Int(keep))];
    let axes = indices::distinct_axes(&cx.integers(1)?, cx.tensor(0)?.shape().rank())?;
    if axes.is_empty() {
        return Ok(input(cx, 0).into_iter().collect());
    }
    let axes = axes.into_iter().map(i64_of).collect::<Vec<_>>();
    let inputs = [input(cx, 0), integers(&axes)];
    called_as(cx, cx.operator, reduction::eval::reduce, given, &inputs)
}

/// A tensor of indices in the type that an attribute names.
fn typed(value: &Value, attributes: &Attributes<'_>, name: &str, default: DType) -> Result<Value> {
    let to = attributes.index_dtype(name)?.unwrap_or(default);
    Ok(cast(value.tensor()?, to, Casting::IEEE)?.into())
}

/// `TopK` of OpenVINO, sorted by value or by index.
pub fn run_top_k(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let axis = required("axis", attributes.int("axis")?)?;
    let largest = i64::from(words::EXTREME.of(attributes)? != "min");
    let inputs = [input(cx, 0), integers(&[cx.integer(1)?])];
    let given = vec![("axis", Content::Int(axis)), ("largest", Content::Int(largest))];
    let found = called(cx, reduction::eval::top_k, given, &inputs)?;
    let [values, indices] = &found[..] else { return Ok(found) };
    let (mut values, mut indices) = (values.tensor()?.clone(), indices.tensor()?.clone());
    if words::SORT.of(attributes)? == "index" {
        let dims = values.shape().dims().to_vec();
        let axis = indices::axis(axis, dims.len())?;
        let numbers: Vec<_> = indices.to_i64()?;
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        for group in reduction::eval::groups(cx, &dims, &[axis])?.iter() {
            let mut sorted = group.to_vec();
            sorted.sort_by_key(|&place| numbers[place]);
            group.iter().zip(sorted).for_each(|(&to, from)| order[to] = from);
        }
        let shape = allowed(cx, values.dtype(), &dims)?;
        (values, indices) = (
            values.picked(shape.clone(), &order, &cx.limits())?,
            indices.picked(shape, &order, &cx.limits())?,
        );
    }
    Ok(vec![values.into(), typed(&indices.into(), attributes, "index_element_type", DType::I32)?])
}

/// `NonZero` of OpenVINO, with indices in the type that an attribute names.
pub fn run_non_zero(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let found = reduction::eval::non_zero(attributes, cx)?;
    found.iter().map(|value| typed(value, attributes, "output_type", DType::I64)).collect()
}

/// `Unique` of OpenVINO, with indices and counts in the types that attributes name.
pub fn run_unique(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let mut given = vec![("sorted", Content::Int(i64::from(attributes.flag("sorted", true)?)))];
    if cx.has(1) {
        given.push(("axis", Content::Int(cx.integer(1)?)));
    }
    let inputs = [input(cx, 0)];
    let found = called(cx, reduction::eval::unique, given, &inputs)?;
    let [values, firsts, inverse, counts] = &found[..] else { return Ok(found) };
    Ok(vec![
        values.clone(),
        typed(firsts, attributes, "index_element_type", DType::I64)?,
        typed(inverse, attributes, "index_element_type", DType::I64)?,
        typed(counts, attributes, "count_element_type", DType::I64)?,
    ])
}

/// Shapes of OpenVINO's `TopK`: the input's with `k` along the axis, for elements and indices.
pub fn top_k(cx: &mut InferContext<'_, '_>) -> InferResult {
    let indices = cx.attributes.index_dtype("index_element_type")?.unwrap_or(DType::I32);
    required("axis", cx.attributes.int("axis")?)?;
    infer::top_k(cx, indices)
}

/// Shape of OpenVINO's `Bucketize`: the first input's.
pub fn bucketize(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::tensor(cx.attributes.index_dtype("output_type")?.or(Some(DType::I64)), cx.dims(0)?)])
}

/// Shape of OpenVINO's `SearchSorted`: the second input's.
pub fn search_sorted(cx: &mut InferContext<'_, '_>) -> InferResult {
    Ok(vec![Fact::tensor(cx.attributes.index_dtype("output_type")?.or(Some(DType::I64)), cx.dims(1)?)])
}
