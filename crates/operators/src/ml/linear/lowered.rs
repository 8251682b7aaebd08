//! `LinearRegressor` and `LinearClassifier` as graphs of ONNX's operators.

use gradus_core::{DType, Result, Shape, Tensor};

use crate::lowering::terms::{f, with};
use crate::lowering::{LoweredValue, Lowering, int, not_known};
use crate::ml::linear::eval::Linear;
use crate::ml::lowered::{class_of_one, floats, labelled, matrix_of_samples, transformed};
use crate::ml::scores::Labels;

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

/// `LinearRegressor`: linear scores of each sample, transformed.
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
