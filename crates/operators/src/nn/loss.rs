//! Losses of classifications, of single elements and of sequences.

use gradus_core::convert::{product, usize_of_i64};
use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};
use crate::op::EvalContext;

/// `NegativeLogLikelihoodLoss`, and `SoftmaxCrossEntropyLoss`, which takes logarithms of
/// probabilities first.
pub fn eval(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
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
    let loss = match attributes.text("reduction")?.unwrap_or("mean") {
        "none" => losses,
        "sum" => vec![sum()],
        "mean" => vec![sum() / total],
        other => return Err(errors::text("reduction", other, "none, sum or mean")),
    };
    let mut outputs = vec![cx.rounded(0, &loss)?];
    if softmax && cx.outputs > 1 {
        outputs.push(cx.rounded(1, &scores)?);
    }
    Ok(outputs)
}

/// One loss for each sequence.
pub fn of_sequences(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (logits, labels) = (cx.dims_of_rank(0, 3)?, cx.dims_of_rank(2, 2)?);
    let mut batch = cx.equal(logits[0], labels[0], "number of sequences")?;
    for input in [1, 3] {
        let lengths = cx.dims_of_rank(input, 1)?;
        batch = cx.equal(batch, lengths[0], "number of sequences")?;
    }
    if cx.has(4) {
        cx.one_element(4)?;
    }
    Ok(vec![Fact::tensor(cx.dtype(0), [batch])])
}

/// The logarithm of the sum of two numbers, of which the logarithms are given.
fn log_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp(low - high)) }
}

/// The labels of a sequence that its steps are to spell.
fn spelled(labels: &[usize], unique: bool, collapses: bool) -> Vec<usize> {
    let mut target: Vec<usize> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for &label in labels {
        let again = if unique { !seen.insert(label) } else { collapses && target.last() == Some(&label) };
        if !again {
            target.push(label);
        }
    }
    target
}

/// The logarithm of the probability that steps spell labels, with blanks between them. `log` gives
/// that of a class at a step. If repetitions merge, equal labels have a blank between them.
fn log_probability(
    steps: usize,
    target: &[usize],
    blank: usize,
    merges: bool,
    log: impl Fn(usize, usize) -> f64,
) -> f64 {
    // The states before the first label, at and behind each; without merging, behind each alone.
    let count = if merges { 2 * target.len() + 1 } else { target.len() + 1 };
    let mut states = vec![f64::NEG_INFINITY; count];
    states[0] = 0.0;
    for step in 0..steps {
        // Backwards, so that the states before are those of the last step.
        for state in (0..count).rev() {
            let before = |by: usize| state.checked_sub(by).map_or(f64::NEG_INFINITY, |at| states[at]);
            states[state] = if !merges {
                let label = state.checked_sub(1).map_or(f64::NEG_INFINITY, |at| log(step, target[at]));
                log_sum(before(0) + log(step, blank), before(1) + label)
            } else if state % 2 == 0 {
                log_sum(before(0), before(1)) + log(step, blank)
            } else {
                let label = target[state / 2];
                let differs = state == 1 || target[state / 2 - 1] != label;
                let skipped = if differs { before(2) } else { f64::NEG_INFINITY };
                log_sum(log_sum(before(0), before(1)), skipped) + log(step, label)
            };
        }
    }
    let last = states[count - 1];
    if merges && count > 1 { log_sum(last, states[count - 2]) } else { last }
}

/// `CTCLoss`: minus the logarithm of the probability of all ways to spell labels.
pub fn ctc(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dims, longest) = (cx.tensor(0)?.shape().dims(), cx.tensor(2)?.shape().dims()[1]);
    let (steps, classes) = (dims[1], dims[2]);
    let mut logits = cx.floats(0)?;
    let [lengths, labels, counts] = [cx.integers(1)?, cx.integers(2)?, cx.integers(3)?];
    let merges = attributes.flag("ctc_merge_repeated", true)?;
    let (unique, collapses) =
        (attributes.flag("unique", false)?, attributes.flag("preprocess_collapse_repeated", false)?);
    cx.run.touch(product(logits.len(), 2))?;
    for row in logits.chunks_mut(classes.max(1)) {
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|logit| libm::exp(logit - most)).sum();
        let scale = most + libm::log(sum);
        for logit in row {
            *logit -= scale;
        }
    }
    let class = |what: &str, given: i64| {
        let class = usize_of_i64(given).filter(|&class| class < classes);
        class.ok_or_else(|| errors::out_of_range(what, given, classes))
    };
    let blank = match cx.maybe_integers(4)?.as_deref() {
        Some(&[blank, ..]) => blank,
        _ => gradus_core::convert::i64_of(classes) - 1,
    };
    let mut losses = Vec::with_capacity(dims[0]);
    for sequence in 0..dims[0] {
        let within = |what: &str, given: i64, most: usize| {
            let length = usize_of_i64(given).filter(|&length| length <= most);
            length.ok_or_else(|| errors::value(what, given, format_args!("from 0 to {most}")))
        };
        let own = within("length of a sequence", lengths[sequence], steps)?;
        let count = within("number of labels", counts[sequence], longest)?;
        let given = labels[sequence * longest..][..count].iter().map(|&label| class("label", label));
        let target = spelled(&given.collect::<Result<Vec<_>>>()?, unique, collapses);
        let blank = class("blank", blank)?;
        cx.reserve(product(count + 1, 8 * size_of::<f64>()))?;
        cx.run.touch(product(own, 4).saturating_mul(product(target.len() + 1, 1)))?;
        let at = |step: usize, class: usize| logits[(sequence * steps + step) * classes + class];
        losses.push(-log_probability(own, &target, blank, merges, at));
    }
    Ok(vec![cx.rounded(0, &losses)?])
}
