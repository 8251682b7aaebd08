//! Scores of classes over time: their loss, and their decoding, the best class of each step without
//! blanks.
//!
//! | operator | results |
//! |---|---|
//! | `CTCLoss` | the negative logarithm of the probability of the labels |
//! | `CTCGreedyDecoder` | classes as floats, `[batch, steps, 1, 1]`; a mask ends a sequence |
//! | `CTCGreedyDecoderSeqLen` | classes, `[batch, steps]`, and how many of them each sequence has |

use gradus_core::convert::{Rules, cast, i64_of, product, usize_of_i64};
use gradus_core::{DType, Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::op::EvalContext;

/// Scores of classes, by step and sequence.
struct SequenceScores {
    numbers: Vec<f64>,
    classes: usize,
}

impl SequenceScores {
    /// The first of the best classes.
    fn best(&self, row: usize) -> usize {
        let scores = &self.numbers[row * self.classes..][..self.classes];
        let better = |best: usize, class: usize| if scores[class] > scores[best] { class } else { best };
        (0..self.classes).fold(0, better)
    }

    /// The classes of a sequence, without blanks and, if they merge, without repetitions.
    fn decoded(&self, rows: impl Iterator<Item = usize>, blank: Option<usize>, merges: bool) -> Vec<i64> {
        let (mut classes, mut before) = (Vec::new(), None);
        for row in rows {
            let class = self.best(row);
            if Some(class) != blank && !(merges && before == Some(class)) {
                classes.push(i64_of(class));
            }
            before = Some(class);
        }
        classes
    }
}

/// Puts the classes of sequences into rows of `steps` steps, followed by -1.
fn filled(sequences: &[Vec<i64>], steps: usize) -> Vec<i64> {
    let row = |classes: &Vec<i64>| {
        let mut row = classes.clone();
        row.resize(steps, -1);
        row
    };
    sequences.iter().flat_map(row).collect()
}

fn made((dtype, shape): (DType, gradus_core::Shape), numbers: Vec<i64>) -> Result<Value> {
    Ok(cast(&Tensor::from_vec(shape, numbers)?, dtype, Rules::IEEE)?.into())
}

/// The scores, and the sizes of all axes but that of the classes, of which there is one at least.
/// Allows a list of classes for each sequence, and the results.
fn scores(cx: &mut EvalContext<'_>) -> Result<(SequenceScores, usize, usize)> {
    let &[first, second, classes] = cx.tensor(0)?.shape().dims() else {
        return Err(errors::rank(cx.label(0), cx.tensor(0)?.shape().rank(), 3));
    };
    if classes == 0 {
        return Err(errors::value("number of classes", 0, "at least 1"));
    }
    cx.reserve(
        product(first.max(second), size_of::<Vec<i64>>()) + product(first * second, 2 * size_of::<i64>()),
    )?;
    Ok((SequenceScores { numbers: cx.floats(0)?, classes }, first, second))
}

/// `CTCGreedyDecoder`: the last class is the blank.
pub fn decode_masked(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (scores, steps, batch) = scores(cx)?;
    let merges = attributes.flag("ctc_merge_repeated", true)?;
    let mask = cx.floats(1)?;
    let of = |sequence: usize| {
        let rows = (0..steps).map(|step| step * batch + sequence).take_while(|&row| mask[row] != 0.0);
        scores.decoded(rows, Some(scores.classes - 1), merges)
    };
    let sequences: Vec<_> = (0..batch).map(of).collect();
    Ok(vec![made(cx.output(0)?, filled(&sequences, steps))?])
}

/// `CTCGreedyDecoderSeqLen`: the blank is the last class, unless an input says so.
pub fn decode(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (scores, batch, steps) = scores(cx)?;
    let merges = attributes.flag("merge_repeated", true)?;
    let blank = match cx.maybe_integers(2)?.as_deref() {
        Some(&[blank, ..]) => usize_of_i64(blank),
        _ => Some(scores.classes - 1),
    };
    let mut sequences = Vec::with_capacity(batch);
    for (sequence, length) in cx.integers(1)?.into_iter().enumerate() {
        let Some(length) = usize_of_i64(length).filter(|&length| length <= steps) else {
            return Err(errors::value("length of a sequence", length, format_args!("from 0 to {steps}")));
        };
        let rows = (0..length).map(|step| sequence * steps + step);
        sequences.push(scores.decoded(rows, blank, merges));
    }
    let counts = sequences.iter().map(|classes| i64_of(classes.len())).collect();
    let classes = made(cx.output(0)?, filled(&sequences, steps))?;
    Ok(vec![classes, made(cx.output(1)?, counts)?])
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
    // The states before the first label, at and after each; without merging, after each alone.
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
        _ => i64_of(classes) - 1,
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
