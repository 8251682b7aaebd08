//! OpenVINO's operators that create tensors: `OneHot`, `Eye`, and random numbers.

use gradus_core::convert::{FromNumber, Rules, i64_of, usize_of_i64};
use gradus_core::{Number, Result as Computed, Shape, Tensor, Value, convert};

use crate::attributes::{Attributes, required};
use crate::fact::Fact;
use crate::indexing::openvino::integers_or;
use crate::infer::{InferContext, InferResult};
use crate::op::EvalContext;
use crate::output::allowed;
use crate::words;
use crate::{errors, indexing, indices};

/// Shape of OpenVINO's `Multinomial`: rows by the number of samples.
pub fn multinomial(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let samples = cx.integer_or(1, "number of drawn samples");
    let all: Vec<_> = dims[..dims.len().saturating_sub(1)].iter().copied().chain([samples]).collect();
    Ok(vec![Fact::tensor(cx.attributes.dtype("convert_type")?.or(cx.attributes.dtype("output_type")?), all)])
}

/// Shape of OpenVINO's `OneHot`: the indices' with the depth as a new axis.
pub fn one_hot(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mut all = cx.dims(0)?.to_vec();
    let axis = indices::axis(required("axis", cx.attributes.int("axis")?)?, all.len() + 1)?;
    [2, 3].into_iter().try_for_each(|input| cx.one_element(input))?;
    let depth = cx.integer_or(1, "the depth is not known before the run");
    all.insert(axis, depth);
    Ok(vec![Fact::tensor(cx.dtype(2), all)])
}

/// Shape of OpenVINO's `Eye`: the batch, rows and columns.
pub fn eye(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = Some(required("output_type", cx.attributes.dtype("output_type")?)?);
    let mut all =
        if cx.has(3) { integers_or(cx, 3, "the batch is not known before the run")? } else { Vec::new() };
    for input in [0, 1] {
        all.push(cx.integer_or(input, "the sizes are not known before the run"));
    }
    Ok(vec![Fact::tensor(dtype, all)])
}

/// `OneHot` of OpenVINO, whose values for on and off are inputs of their own.
pub fn run_one_hot(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let (indices, on, off) = (cx.tensor(0)?, cx.only(2)?, cx.only(3)?);
    let depth = cx.integer(1)?;
    let depth = usize_of_i64(depth).ok_or_else(|| errors::value("depth", depth, "at least 0"))?;
    let mut dims = indices.shape().dims().to_vec();
    let axis = indices::axis(required("axis", attributes.int("axis")?)?, dims.len() + 1)?;
    dims.insert(axis, depth);
    let shape = allowed(cx, on.dtype(), &dims)?;
    cx.reserve(convert::product(indices.len(), size_of::<i64>()))?;
    let numbers: Vec<_> = indices.numbers()?.map(i64::from_number).collect();
    let normalized = words::NEGATIVES.of(attributes)? == "normalize";
    let each = indexing::eval::positions(&dims).map(|mut position| {
        let at = position.remove(axis);
        let index = numbers[indexing::eval::flat_index(&position, indices.shape().dims())];
        let index = if normalized && index < 0 { index.saturating_add(i64_of(depth)) } else { index };
        (usize::from(index == i64_of(at)), 0)
    });
    Ok(vec![Tensor::woven(&[off, on], shape, each, &cx.limits())?.into()])
}

/// `Eye` of OpenVINO: ones on a diagonal of matrices, batch by batch.
pub fn run_eye(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
    let dtype = required("output_type", attributes.dtype("output_type")?)?;
    let batch = if cx.has(3) { cx.integers(3)? } else { Vec::new() };
    let (rows, columns, offset) = (cx.integer(0)?, cx.integer(1)?, cx.integer(2)?);
    let dims = Shape::from_i64(&[batch, vec![rows, columns]].concat())?;
    let shape = allowed(cx, dtype, dims.dims())?;
    let ones = indexing::eval::positions(dims.dims()).map(|position| {
        let (row, column) = (i64_of(position[position.len() - 2]), i64_of(position[position.len() - 1]));
        Number::Int(i128::from(column.saturating_sub(row) == offset))
    });
    Ok(vec![Tensor::from_numbers(dtype, shape, ones, Rules::IEEE)?.into()])
}

/// Shape of OpenVINO's `RandomUniform`: the elements of the first input.
pub fn random_uniform(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.attributes.dtype("output_type")?;
    let dims = integers_or(cx, 0, "the shape is not known before the run")?;
    Ok(vec![Fact::tensor(dtype, dims)])
}
