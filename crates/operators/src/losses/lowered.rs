//! Losses of classifications as graphs of simpler operators.

use gradus_core::{DType, Result, Tensor};

use crate::graphs::{compute_type, like, number, widened};
use crate::lowering::terms::{f, of, with};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::words;

/// The float64 nearest to an integer.
pub fn nearest(value: i64) -> f64 {
    gradus_core::convert::nearest_f64(gradus_core::Number::Int(value.into()))
}

/// Losses of labels: the scores at them, weighed, and 0 for the label that is ignored.
pub fn loss(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut scores, mut labels, second) = (widened(l, 0)?, l.input(1)?, l.list(&[1])?);
    if l.node_is("SoftmaxCrossEntropyLoss") {
        scores = l.apply("LogSoftmax", &[scores], &[int("axis", 1)])?;
    }
    let zero = number(l, 0.0)?;
    let ignored = match l.attributes.int("ignore_index")? {
        Some(index) => {
            labels = l.cast(labels, DType::I64)?;
            let (index, none) = (l.constant(Tensor::scalar(index))?, l.constant(Tensor::scalar(0i64))?);
            let ignored = l.apply("Equal", &[labels, index], &[])?;
            labels = l.apply("Where", &[ignored, none, labels], &[])?;
            Some(ignored)
        }
        None => None,
    };
    let picked =
        with("GatherElements", [scores.into(), of("Unsqueeze", labels, second)], [int("axis", 1)]).put(l)?;
    let mut losses = f("Neg", of("Squeeze", picked, second)).put(l)?;
    let mut weights = None;
    if l.has(2) {
        let all = l.input(2)?;
        let dtype = compute_type(l)?;
        let all = l.cast(all, dtype)?;
        let each = l.apply("Gather", &[all, labels], &[])?;
        losses = l.apply("Mul", &[losses, each], &[])?;
        weights = Some(each);
    }
    if let Some(ignored) = ignored {
        let each = match weights {
            Some(each) => each,
            None => number(l, 1.0)?,
        };
        losses = l.apply("Where", &[ignored, zero, losses], &[])?;
        weights = Some(l.apply("Where", &[ignored, zero, each], &[])?);
    }
    let all = int("keepdims", 0);
    let loss = match (words::LOSS.of(&l.attributes)?, weights) {
        ("none", _) => losses,
        ("sum", _) => l.apply("ReduceSum", &[losses], &[all])?,
        (_, None) => l.apply("ReduceMean", &[losses], &[all])?,
        (_, Some(weights)) => {
            let sum = l.apply("ReduceSum", &[losses], std::slice::from_ref(&all))?;
            (sum / with("ReduceSum", [weights.into()], [all])).put(l)?
        }
    };
    Ok(vec![like(l, loss, 0)?, like(l, scores, 0)?])
}
