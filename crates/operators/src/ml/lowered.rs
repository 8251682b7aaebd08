//! Operators of `ai.onnx.ml` as graphs of ONNX's, for programs and standards that lack them. Sums
//! are computed in float64, and rounded once.

use std::collections::HashSet;

use gradus_core::element::Bool;
use gradus_core::{DType, Result, Shape, Tensor};

use super::features::Imputed;
use super::linear::Linear;
use super::scores::{Labels, PostTransform};
use crate::graphs::unsupported;
use crate::lowering::terms::{cast, f, ints, of, pick, shaped, with};
use crate::lowering::{LoweredValue, Lowering, int, not_known};

/// An input in float64.
fn wide(l: &mut Lowering<'_>) -> Result<LoweredValue> {
    let x = l.input(0)?;
    if l.dtype_of(0)? == DType::F64 { Ok(x) } else { l.cast(x, DType::F64) }
}

fn floats(l: &mut Lowering<'_>, list: &[f32]) -> Result<LoweredValue> {
    let numbers: Vec<_> = list.iter().copied().map(f64::from).collect();
    l.constant(Tensor::vector(&numbers))
}

/// A list of float64.
pub(super) fn floats64(l: &mut Lowering<'_>, list: &[f64]) -> Result<LoweredValue> {
    l.constant(Tensor::vector(list))
}

/// A number for each feature; one for all is a scalar, so that scalars stay scalars.
fn for_features(l: &mut Lowering<'_>, numbers: Tensor) -> Result<LoweredValue> {
    l.constant(if numbers.shape().len() == 1 { numbers.reshaped(Shape::new([])?)? } else { numbers })
}

fn rounded(l: &mut Lowering<'_>, value: LoweredValue) -> Result<Vec<LoweredValue>> {
    Ok(vec![l.cast(value, DType::F32)?])
}

/// The elements at indices along the last axis; of a single axis, as a row.
pub fn extract(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let chosen = with("Gather", [x.into(), shaped(l.input(1)?, &[-1])], [int("axis", -1)]).put(l)?;
    Ok(vec![if l.rank_of(0)? == 1 { l.reshape(chosen, &[1, -1])? } else { chosen }])
}

pub fn scaler(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let numbers = |list: &[f32]| Tensor::vector(&list.iter().copied().map(f64::from).collect::<Vec<_>>());
    let offset = numbers(l.attributes.floats("offset")?.unwrap_or(&[0.0]));
    let scale = numbers(l.attributes.floats("scale")?.unwrap_or(&[1.0]));
    let (x, offset, scale) = (wide(l)?, for_features(l, offset)?, for_features(l, scale)?);
    let scaled = ((x - offset) * scale).put(l)?;
    rounded(l, scaled)
}

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

/// Which features are categories: integers that are named.
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

/// The samples, a row each; a single axis is one sample.
pub(super) fn matrix_of_samples(l: &mut Lowering<'_>) -> Result<LoweredValue> {
    match (l.input(0)?, l.rank_of(0)?) {
        (x, 2) => Ok(x),
        (x, 1) => l.reshape(x, &[1, -1]),
        (_, rank) => Err(unsupported(&format!("samples of rank {rank}"))),
    }
}

/// The number of the scores of linear models, and the scores.
fn scores(l: &mut Lowering<'_>, linear: &Linear<'_>) -> Result<(usize, LoweredValue)> {
    let features = l.dims_of(0)?.last().copied().flatten();
    let features = features.ok_or_else(|| not_known("number of features".to_owned()))?;
    let targets = linear.targets_of(features)?;
    let x = matrix_of_samples(l)?;
    let x = if l.dtype_of(0)? == DType::F64 { x } else { l.cast(x, DType::F64)? };
    let weights = linear.coefficients.chunks(features.max(1));
    let column = |feature: usize| weights.clone().map(move |row| f64::from(row[feature]));
    let weights: Vec<_> = (0..features).flat_map(column).collect();
    let weights = l.constant(Tensor::from_vec(Shape::new([features, targets])?, weights)?)?;
    let mut scores = l.apply("MatMul", &[x, weights], &[])?;
    if !linear.intercepts.is_empty() {
        let intercepts = floats(l, linear.intercepts)?;
        scores = l.apply("Add", &[scores, intercepts], &[])?;
    }
    Ok((targets, scores))
}

/// The scores after the transformation, rounded to a type.
pub(super) fn transformed(
    l: &mut Lowering<'_>,
    scores: LoweredValue,
    by: PostTransform,
    to: DType,
) -> Result<LoweredValue> {
    let value = match by {
        PostTransform::None => scores,
        PostTransform::Logistic => l.apply("Sigmoid", &[scores], &[])?,
        PostTransform::Softmax => l.apply("Softmax", &[scores], &[int("axis", -1)])?,
        PostTransform::SoftmaxZero => softmax_zero(l, scores)?,
        PostTransform::Probit => return Err(unsupported("post_transform=PROBIT")),
    };
    if to == DType::F64 { Ok(value) } else { l.cast(value, to) }
}

/// Softmax in which scores of zero stay zero.
fn softmax_zero(l: &mut Lowering<'_>, scores: LoweredValue) -> Result<LoweredValue> {
    let last = l.list(&[-1])?;
    let [nothing, tiny, half] = [0.0, 1e-7, 0.5].map(|number| l.constant(Tensor::scalar(number)));
    let (nothing, tiny, half) = (nothing?, tiny?, half?);
    let largest = l.apply("ReduceMax", &[scores, last], &[])?;
    let power = f("Exp", scores - largest).put(l)?;
    let scale = f("Exp", f("Neg", largest)).put(l)?;
    let zero = of("LessOrEqual", f("Abs", scores), tiny).put(l)?;
    let terms = pick(zero, scores * scale, power).put(l)?;
    let sum = l.apply("ReduceSum", &[terms, last], &[])?;
    let none = l.apply("Equal", &[sum, nothing], &[])?;
    let parts = l.apply("Div", &[terms, sum], &[])?;
    l.apply("Where", &[none, half, parts], &[])
}

/// The class that one score for each sample chooses: 1 above a number, else 0.
pub(super) fn class_of_one(l: &mut Lowering<'_>, score: LoweredValue, above: f64) -> Result<LoweredValue> {
    let (above, row) = (l.constant(Tensor::scalar(above))?, l.list(&[1])?);
    let class = l.apply("Greater", &[score, above], &[])?;
    let class = l.cast(class, DType::I64)?;
    l.apply("Squeeze", &[class, row], &[])
}

/// The labels of classes by number.
pub(super) fn labelled(
    l: &mut Lowering<'_>,
    labels: &Labels<'_>,
    class: LoweredValue,
) -> Result<LoweredValue> {
    match *labels {
        Labels::Texts(_) => Err(unsupported("a classifier with labels of text")),
        Labels::Integers([]) => Ok(class),
        // The label of the second of two classes; the first is 0.
        Labels::Integers(&[only]) => {
            let only = l.constant(Tensor::scalar(only))?;
            l.apply("Mul", &[class, only], &[])
        }
        Labels::Integers(labels) => {
            let labels = l.list(labels)?;
            l.apply("Gather", &[labels, class], &[])
        }
    }
}

pub fn linear_regressor(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let linear = Linear::regressor(&l.attributes)?;
    let (_, scores) = scores(l, &linear)?;
    Ok(vec![transformed(l, scores, linear.transform, DType::F32)?])
}

/// The label of the largest score, and the scores.
pub fn linear_classifier(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let linear = Linear::classifier(&l.attributes)?;
    let labels = Labels::of(&l.attributes, "classlabels_ints")?;
    let (targets, mut scores) = scores(l, &linear)?;
    let class = if targets == 1 {
        class_of_one(l, scores, 0.0)?
    } else {
        l.apply("ArgMax", &[scores], &[int("axis", 1), int("keepdims", 0)])?
    };
    if targets == 1 && labels.len() == 2 {
        scores = with("Concat", [f("Neg", scores), scores.into()], [int("axis", 1)]).put(l)?;
    }
    Ok(vec![labelled(l, &labels, class)?, transformed(l, scores, linear.transform, DType::F32)?])
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
    // The last one of equal keys counts.
    let attributes = [int("axis", -1), int("keepdims", 0), int("select_last_index", 1)];
    let place = l.apply("ArgMax", &[same], &attributes)?;
    let found = l.apply("ReduceMax", &[same, last], &[int("keepdims", 0)])?;
    let (values, default) = (l.constant(values)?, l.constant(default)?);
    Ok(vec![pick(cast(found, DType::Bool), of("Gather", values, place), default).put(l)?])
}
