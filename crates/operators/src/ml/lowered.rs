//! Parts of the graphs of classifiers and regressors: samples as a matrix, and scores that become
//! labels. Sums are computed in float64, and rounded once.

use gradus_core::{DType, Result, Tensor};

use crate::graphs::unsupported;
use crate::lowering::terms::{f, of, pick};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::ml::scores::{Labels, PostTransform};

/// An input in float64.
pub(super) fn wide(l: &mut Lowering<'_>) -> Result<LoweredValue> {
    let x = l.input(0)?;
    if l.dtype_of(0)? == DType::F64 { Ok(x) } else { l.cast(x, DType::F64) }
}

/// A constant of float64 for a list of float32.
pub(super) fn floats(l: &mut Lowering<'_>, list: &[f32]) -> Result<LoweredValue> {
    let numbers: Vec<_> = list.iter().copied().map(f64::from).collect();
    l.constant(Tensor::vector(&numbers))
}

/// A list of float64.
pub(super) fn floats64(l: &mut Lowering<'_>, list: &[f64]) -> Result<LoweredValue> {
    l.constant(Tensor::vector(list))
}

/// One result, rounded to float32.
pub(super) fn rounded(l: &mut Lowering<'_>, value: LoweredValue) -> Result<Vec<LoweredValue>> {
    Ok(vec![l.cast(value, DType::F32)?])
}

/// The samples, a row each; a single axis is one sample.
pub(super) fn matrix_of_samples(l: &mut Lowering<'_>) -> Result<LoweredValue> {
    match (l.input(0)?, l.rank_of(0)?) {
        (x, 2) => Ok(x),
        (x, 1) => l.reshape(x, &[1, -1]),
        (_, rank) => Err(unsupported(&format!("samples of rank {rank}"))),
    }
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
