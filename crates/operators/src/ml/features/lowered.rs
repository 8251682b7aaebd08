//! Features that are scaled, compared, replaced and chosen, as graphs of ONNX's operators.

use gradus_core::{DType, Result, Shape, Tensor};

use crate::lowering::terms::{of, pick, shaped, with};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::ml::features::eval::Imputed;
use crate::ml::lowered::{rounded, wide};

/// A number for each feature; one for all is a scalar, so that scalars stay scalars.
fn for_features(l: &mut Lowering<'_>, numbers: Tensor) -> Result<LoweredValue> {
    l.constant(if numbers.shape().len() == 1 { numbers.reshaped(Shape::new([])?)? } else { numbers })
}

/// The elements at indices along the last axis; of a single axis, as a row.
pub fn extract(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let chosen = with("Gather", [x.into(), shaped(l.input(1)?, &[-1])], [int("axis", -1)]).put(l)?;
    Ok(vec![if l.rank_of(0)? == 1 { l.reshape(chosen, &[1, -1])? } else { chosen }])
}

/// `Scaler`: `(x - offset) * scale` of each feature.
pub fn scaler(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let numbers = |list: &[f32]| Tensor::vector(&list.iter().copied().map(f64::from).collect::<Vec<_>>());
    let offset = numbers(l.attributes.floats("offset")?.unwrap_or(&[0.0]));
    let scale = numbers(l.attributes.floats("scale")?.unwrap_or(&[1.0]));
    let (x, offset, scale) = (wide(l)?, for_features(l, offset)?, for_features(l, scale)?);
    let scaled = ((x - offset) * scale).put(l)?;
    rounded(l, scaled)
}

/// `Binarizer`: 1 above the threshold, otherwise 0.
pub fn binarizer(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (dtype, threshold) = (l.dtype_of(0)?, l.attributes.float("threshold")?.unwrap_or(0.0));
    // Float32 holds the threshold, and float64 all numbers that it is compared with.
    let x = if dtype == DType::F32 { l.input(0)? } else { wide(l)? };
    let threshold = if dtype == DType::F32 {
        l.constant(Tensor::scalar(threshold))?
    } else {
        l.constant(Tensor::scalar(f64::from(threshold)))?
    };
    let above = l.apply("Greater", &[x, threshold], &[])?;
    Ok(vec![l.cast(above, dtype)?])
}

/// `Imputer`: replaces a value by one of each feature.
pub fn imputer(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let imputed = Imputed::of(&l.attributes, dtype.is_integer())?;
    let (values, replaced) = imputed.tensors(dtype)?;
    let Some(replaced) = replaced else { return Ok(vec![l.apply("Identity", &[x], &[])?]) };
    let missing = if imputed.replaces_nan() {
        l.apply("IsNaN", &[x], &[])?
    } else {
        let replaced = l.constant(replaced)?;
        l.apply("Equal", &[x, replaced], &[])?
    };
    let values = for_features(l, values)?;
    Ok(vec![l.apply("Where", &[missing, values, x], &[])?])
}

/// Rows divided by their norm, but for rows of zeros.
pub fn normalizer(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let norm = l.attributes.text("norm")?.unwrap_or("MAX").to_owned();
    let (x, last) = (wide(l)?, l.list(&[-1])?);
    let norm = if norm == "L2" {
        l.apply("ReduceL2", &[x, last], &[])?
    } else {
        let sizes = l.apply("Abs", &[x], &[])?;
        l.apply(if norm == "L1" { "ReduceSum" } else { "ReduceMax" }, &[sizes, last], &[])?
    };
    let (zero, one) = (l.constant(Tensor::scalar(0f64))?, l.constant(Tensor::scalar(1f64))?);
    let norm = pick(of("Equal", norm, zero), one, norm).put(l)?;
    let value = l.apply("Div", &[x, norm], &[])?;
    rounded(l, value)
}
