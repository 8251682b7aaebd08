//! Operators that make tensors, tell of them, or give them another type.
//!
//! | operator | result |
//! |---|---|
//! | `full` | `value`, a float64, cast to `dtype`, in the shape `shape` |
//! | `full_int_array`, `assign_value` | the numbers of an attribute |
//! | `full_like`, `full_with_tensor` | the value of an input, in the shape of another or that another says |
//! | `full_batch_size_like` | the value of an attribute; one of the dimensions is that of the input |
//! | `arange` | a Range of `start`, `end` and `step`, each cast to `dtype` first |
//! | `shape`, `shape64`, `numel` | dimensions as int32 or int64; the number of elements |
//! | `cast`, `assign`, `fetch` | the input |

use gradus_core::convert::{self, Rules};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Shape, Tensor};

use crate::attributes::{missing, required, wrong};
use crate::dialects::indices::size;
use crate::dialects::paddle::attributes::ints;
use crate::dialects::paddle::complex;
use crate::dialects::paddle::layout::list;
use crate::errors;
use crate::lowering::terms::{f, of, shaped};
use crate::lowering::{LoweredValue, Lowering, along, axis};

/// `assign` and other operators that return their input, of real and complex numbers.
pub fn same(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.is_complex(0) {
        return complex::same(l);
    }
    Ok(vec![f("Identity", l.input(0)?).put(l)?])
}

/// The element type that is made: an attribute says it, or else the default says float32.
fn dtype(l: &Lowering<'_>) -> Result<DType> {
    Ok(l.dtype("dtype")?.unwrap_or(DType::F32))
}

/// `full`: a tensor of a given shape, of one value.
pub fn full(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let value = match l.attributes.get("value") {
        Some(Content::Tensor(value)) => value.tensor()?,
        _ => Tensor::scalar(required("value", l.float("value")?)?),
    };
    let value = convert::cast(&value, dtype(l)?, Rules::IEEE)?.reshaped(Shape::vector(1))?;
    let dims = l.attributes.ints("shape")?.unwrap_or(&[]).to_vec();
    let dims = l.list(&dims)?;
    Ok(vec![l.apply("ConstantOfShape", &[dims], &[("value", Content::Tensor(value.into()))])?])
}

/// `full_int_array`: a list of integers, as a tensor.
pub fn full_int_array(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let values = Tensor::vector(l.attributes.ints("value")?.unwrap_or(&[]));
    let dtype = l.dtype("dtype")?.unwrap_or(DType::I64);
    Ok(vec![l.constant(convert::cast(&values, dtype, Rules::IEEE)?)?])
}

/// `full_like`: a tensor of the input's shape, of one value.
pub fn full_like(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let value = if l.has(1) {
        l.input(1)?
    } else {
        let value = l.float("value")?.unwrap_or(0.0);
        l.constant(Tensor::scalar(value))?
    };
    let dtype = match l.dtype("dtype")? {
        Some(dtype) => dtype,
        None => l.dtype_of(0)?,
    };
    let dims = l.shape(x)?;
    filled(l, value, dims, dtype)
}

/// `full_with_tensor`: a tensor whose shape and value are inputs.
pub fn full_with_tensor(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (value, dims, dtype) = (l.input(0)?, l.input(1)?, dtype(l)?);
    let dims = l.cast(dims, DType::I64)?;
    filled(l, value, dims, dtype)
}

/// `full_batch_size_like`: one of the dimensions is that of the input.
pub fn full_batch_size_like(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, mut dims, dtype) = (l.input(0)?, ints(l, "shape")?, dtype(l)?);
    let from = axis(l.attributes.int_or("input_dim_idx", 0)?, l.rank_of(0)?)?;
    let to = axis(l.attributes.int_or("output_dim_idx", 0)?, dims.len())?;
    let behind = dims.split_off(to + 1);
    let parts = [l.list(&dims[..to])?, size(l, x, from)?, l.list(&behind)?];
    let dims = l.apply("Concat", &parts, &[along(0)])?;
    let value = l.float("value")?.unwrap_or(0.0);
    let value = l.constant(Tensor::scalar(value))?;
    filled(l, value, dims, dtype)
}

/// The only element of a value, so often as the dimensions say.
fn filled(
    l: &mut Lowering<'_>,
    value: LoweredValue,
    dims: LoweredValue,
    dtype: DType,
) -> Result<Vec<LoweredValue>> {
    let value = l.cast(value, dtype)?;
    Ok(vec![of("Expand", shaped(value, &[]), dims).put(l)?])
}

/// The numbers of the attribute `values`.
fn numbers(l: &Lowering<'_>) -> Result<Vec<Number>> {
    match l.attributes.get("values") {
        Some(Content::Ints(values)) => Ok(values.iter().map(|&value| Number::Int(value.into())).collect()),
        Some(Content::Floats(values)) => {
            Ok(values.iter().map(|&value| Number::Float(value.into())).collect())
        }
        Some(Content::Tensors(values)) => values.iter().map(|value| value.tensor()?.only_number()).collect(),
        Some(other) => Err(wrong("values", other, "a list of numbers")),
        None => Err(missing("values")),
    }
}

/// A constant of the numbers of the attribute `values`, in the shape that another attribute says.
pub(super) fn values(l: &mut Lowering<'_>, dtype: DType) -> Result<LoweredValue> {
    let numbers = numbers(l)?;
    let dims =
        l.attributes.ints("shape")?.map_or_else(|| Ok(Shape::vector(numbers.len())), Shape::from_i64)?;
    if dims.len() != numbers.len() {
        return Err(errors::count("values", numbers.len(), format_args!("{} for shape {dims}", dims.len())));
    }
    l.constant(Tensor::from_numbers(dtype, dims, numbers, Rules::IEEE)?)
}

/// `assign_value`: a constant tensor, given as attributes.
pub fn assign_value(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let dtype = dtype(l)?;
    Ok(vec![values(l, dtype)?])
}

/// `arange`: a range of a start, an end and a step.
pub fn arange(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let to = match l.dtype("dtype")? {
        Some(dtype) => dtype,
        None => l.dtype_of(0)?,
    };
    let mut scalars = [l.input(0)?, l.input(1)?, l.input(2)?];
    for (index, scalar) in scalars.iter_mut().enumerate() {
        if l.dtype_of(index) != Ok(to) {
            *scalar = l.cast(*scalar, to)?;
        }
        *scalar = l.reshape(*scalar, &[])?;
    }
    Ok(vec![l.ranged(scalars, to, to)?])
}

/// `shape` and `shape64`: the dimensions as integers of a type.
pub fn shape(l: &mut Lowering<'_>, dtype: DType) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let sizes = l.shape(x)?;
    Ok(vec![if dtype == DType::I64 { sizes } else { l.cast(sizes, dtype)? }])
}

/// `cast` to an element type, of real and complex numbers.
pub fn cast(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let to = dtype(l)?;
    if l.is_complex(0) || to.is_complex() {
        return complex::cast(l, to);
    }
    let x = l.input(0)?;
    Ok(vec![l.cast(x, to)?])
}

/// `empty`: any elements will do, so zeros.
pub fn empty(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (dims, dtype) = (list(l, "shape", 0)?, dtype(l)?);
    let zero = convert::cast(&Tensor::vector(&[0i64]), dtype, Rules::IEEE)?;
    Ok(vec![l.apply("ConstantOfShape", &[dims], &[("value", Content::Tensor(zero.into()))])?])
}
