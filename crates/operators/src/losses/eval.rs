//! Evaluation of losses of classifications.

use gradus_core::convert::{product, usize_of_i64};
use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::op::EvalContext;
use crate::words;

/// `NegativeLogLikelihoodLoss`, and `SoftmaxCrossEntropyLoss`, which takes logarithms of
/// probabilities first.
pub fn loss(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    let (classes, inner) = (dims[1], dims[2..].iter().product::<usize>());
    let mut scores = cx.floats(0)?;
    let softmax = cx.operator == "SoftmaxCrossEntropyLoss";
    cx.run.touch(product(scores.len(), 2))?;
    if softmax {
        let positions = scores.len() / classes.max(1);
        for position in 0..positions {
            let at = |class: usize| (position / inner * classes + class) * inner + position % inner;
            let most = (0..classes).map(|class| scores[at(class)]).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = (0..classes).map(|class| libm::exp(scores[at(class)] - most)).sum();
            for class in 0..classes {
                scores[at(class)] -= most + libm::log(sum);
            }
        }
    }
    let weights = cx.maybe_floats(2)?;
    let ignored = attributes.int("ignore_index")?;
    let mut losses = Vec::new();
    let mut total = 0.0;
    for (position, label) in cx.integers(1)?.into_iter().enumerate() {
        if ignored == Some(label) {
            losses.push(0.0);
            continue;
        }
        let class = usize_of_i64(label).filter(|&class| class < classes);
        let class = class.ok_or_else(|| errors::out_of_range("label", label, classes))?;
        let weight = weights.as_ref().map_or(1.0, |weights| weights[class]);
        total += weight;
        let at = (position / inner * classes + class) * inner + position % inner;
        losses.push(-scores[at] * weight);
    }
    let sum = || losses.iter().sum::<f64>();
    let loss = match words::LOSS.of(attributes)? {
        "none" => losses,
        "sum" => vec![sum()],
        _ => vec![sum() / total],
    };
    let mut outputs = vec![cx.rounded(0, &loss)?];
    if softmax && cx.outputs > 1 {
        outputs.push(cx.rounded(1, &scores)?);
    }
    Ok(outputs)
}
