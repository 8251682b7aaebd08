//! Labels and categories in place of one another, as graphs of ONNX's operators.

use std::collections::HashSet;

use gradus_core::element::Bool;
use gradus_core::{DType, Result, Tensor};

use crate::graphs::unsupported;
use crate::lowering::terms::{cast, ints, of, pick};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::ml::lowered::rounded;

/// Writes `OneHotEncoder` for categories that are integers.
pub fn one_hot(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let categories = l.attributes.ints("cats_int64s")?.unwrap_or(&[]).to_vec();
    if categories.is_empty() || l.dtype_of(0)? == DType::String {
        return Err(unsupported("OneHotEncoder of text"));
    }
    // The last of equal categories counts.
    let mut later = HashSet::new();
    let mut counts: Vec<_> = categories.iter().rev().map(|&of| Bool::from(later.insert(of))).collect();
    counts.reverse();
    let last = l.list(&[-1])?;
    let column = of("Unsqueeze", cast(l.input(0)?, DType::I64), last).put(l)?;
    let mut same = of("Equal", column, ints(&categories)).put(l)?;
    if later.len() < counts.len() {
        let counts = l.constant(Tensor::vector(&counts))?;
        same = l.apply("And", &[same, counts], &[])?;
    }
    rounded(l, same)
}

/// The value of each integer that is a key, and a default for others.
pub fn encode(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let keys = l.attributes.ints("keys_int64s")?.unwrap_or(&[]).to_vec();
    let values = match (l.attributes.ints("values_int64s")?, l.attributes.floats("values_floats")?) {
        (Some(values), _) if !values.is_empty() => Tensor::vector(values),
        (_, Some(values)) if !values.is_empty() => Tensor::vector(values),
        _ => return Err(unsupported("LabelEncoder of other values than integers and floats")),
    };
    if keys.is_empty() || keys.len() != values.len() || l.dtype_of(0)? != DType::I64 {
        return Err(unsupported("LabelEncoder of other keys than integers"));
    }
    let default = if values.dtype() == DType::I64 {
        Tensor::scalar(l.attributes.int_or("default_int64", -1)?)
    } else {
        Tensor::scalar(l.attributes.float("default_float")?.unwrap_or(-0.0))
    };
    let (last, keys) = (l.list(&[-1])?, l.list(&keys)?);
    let same = of("Equal", of("Unsqueeze", l.input(0)?, last), keys).put(l)?;
    let same = l.cast(same, DType::I32)?;
    // The first one of equal keys counts.
    let place = l.apply("ArgMax", &[same], &[int("axis", -1), int("keepdims", 0)])?;
    let found = l.apply("ReduceMax", &[same, last], &[int("keepdims", 0)])?;
    let (values, default) = (l.constant(values)?, l.constant(default)?);
    Ok(vec![pick(cast(found, DType::Bool), of("Gather", values, place), default).put(l)?])
}
