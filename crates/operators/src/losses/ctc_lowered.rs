//! Operators of OpenVINO that spell labels by the classes of steps: `CTCGreedyDecoder`,
//! `CTCGreedyDecoderSeqLen` and `CTCLoss`.

use gradus_core::element::Bool;
use gradus_core::{DType, Result, Tensor};

use crate::dialects::boxes::expect_rank;
use crate::dialects::indices::{index, positions, size};
use crate::lowering::terms::{Term, cast, f, ints, of, pick, shaped, whole, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// A value with more axes, of one element each.
fn with_axes(l: &mut Lowering<'_>, x: LoweredValue, axes: &[i64]) -> Result<LoweredValue> {
    let axes = l.list(axes)?;
    l.apply("Unsqueeze", &[x, axes], &[])
}

/// Columns of a matrix.
fn columns(l: &mut Lowering<'_>, x: LoweredValue, from: i64, to: LoweredValue) -> Result<LoweredValue> {
    let (from, second) = (l.list(&[from])?, l.list(&[1])?);
    l.apply("Slice", &[x, from, to, second], &[])
}

/// The elements of rows, moved by `by` columns to the right, after `first`.
fn behind(l: &mut Lowering<'_>, x: LoweredValue, by: i64, first: Term, dtype: DType) -> Result<LoweredValue> {
    let (pads, first) = (l.list(&[0, by, 0, -by])?, first.write(l, dtype)?);
    l.apply("Pad", &[x, pads, first], &[])
}

/// The elements of each row for which a condition holds, in front, and how many they are; others
/// are a number.
fn compacted(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    stays: LoweredValue,
    other: LoweredValue,
) -> Result<[LoweredValue; 2]> {
    let width = size(l, x, 1)?;
    let ones = l.cast(stays, DType::I64)?;
    let axis = l.constant(Tensor::scalar(1i64))?;
    let before = l.apply("CumSum", &[ones, axis], &[int("exclusive", 1)])?;
    // Elements that are removed get indices after the width, each its own.
    let places = positions(l, width)?;
    let places = pick(stays, before, places + width).write(l, DType::I64)?;
    let dims = (f("Shape", x) * ints(&[1, 2])).put(l)?;
    let room = l.apply("Expand", &[other, dims], &[])?;
    let filled = l.apply("ScatterElements", &[room, places, x], &[int("axis", 1)])?;
    let filled = columns(l, filled, 0, width)?;
    Ok([filled, with("ReduceSum", [ones.into(), ints(&[1])], [int("keepdims", 0)]).put(l)?])
}

/// The classes of scores `[sequence, step, class]`, without blanks and, if they merge, without
/// repetitions, and their number; `runs` says which steps belong to the sequence.
fn decoded(
    l: &mut Lowering<'_>,
    scores: LoweredValue,
    runs: LoweredValue,
    blank: LoweredValue,
    merges: bool,
) -> Result<[LoweredValue; 2]> {
    let best = l.apply("ArgMax", &[scores], &[int("axis", 2), int("keepdims", 0)])?;
    let mut stays = of("And", runs, f("Not", of("Equal", best, blank)));
    if merges {
        let before = behind(l, best, 1, Term::from(-1.0), DType::I64)?;
        stays = of("And", stays, f("Not", of("Equal", best, before)));
    }
    let stays = stays.write(l, DType::I64)?;
    let none = l.list(&[-1])?;
    compacted(l, best, stays, none)
}

/// The last class, or that of an input.
fn blank(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    if l.has(input) {
        let given = index(l, input)?;
        return l.reshape(given, &[1]);
    }
    let logits = l.input(0)?;
    let classes = size(l, logits, 2)?;
    (classes - 1.0).write(l, DType::I64)
}

/// The steps of `[sequence, step]` before lengths, by an axis of a value.
fn before_lengths(
    l: &mut Lowering<'_>,
    of_value: LoweredValue,
    axis: usize,
    lengths: usize,
) -> Result<LoweredValue> {
    let lengths = index(l, lengths)?;
    let lengths = with_axes(l, lengths, &[1])?;
    let steps = size(l, of_value, axis)?;
    let steps = positions(l, steps)?;
    of("Less", steps, lengths).write(l, DType::I64)
}

/// `CTCGreedyDecoderSeqLen`: the blank is the last class, unless an input says so.
pub fn greedy_by_length(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 3)?;
    let merges = l.attributes.flag("merge_repeated", true)?;
    let mut types = [DType::I32; 2];
    for (dtype, name) in types.iter_mut().zip(["classes_index_type", "sequence_length_type"]) {
        *dtype = l.attributes.index_dtype(name)?.unwrap_or(*dtype);
    }
    let scores = l.input(0)?;
    let (runs, blank) = (before_lengths(l, scores, 1, 1)?, blank(l, 2)?);
    let [classes, counts] = decoded(l, scores, runs, blank, merges)?;
    Ok(vec![l.cast(classes, types[0])?, l.cast(counts, types[1])?])
}

/// `CTCGreedyDecoder`: the last class is the blank, and a zero of the mask ends a sequence.
pub fn greedy_by_mask(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 3)?;
    let merges = l.attributes.flag("ctc_merge_repeated", true)?;
    let (scores, mask, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let (scores, mask) = (l.transposed(scores, &[1, 0, 2])?, l.transposed(mask, &[1, 0])?);
    let mask_type = l.dtype_of(1)?;
    let ended = of("Equal", mask, 0.0).write(l, mask_type)?;
    let runs = of("Equal", of("CumSum", cast(ended, DType::I64), whole(1)), 0.0).write(l, DType::I64)?;
    let blank = blank(l, 2)?;
    let [classes, _] = decoded(l, scores, runs, blank, merges)?;
    let classes = l.cast(classes, dtype)?;
    Ok(vec![with_axes(l, classes, &[2, 3])?])
}

/// The logarithm of the sum of numbers, of which the logarithms are given.
fn log_sum(l: &mut Lowering<'_>, of_terms: &[LoweredValue]) -> Result<LoweredValue> {
    let most = l.apply("Max", of_terms, &[])?;
    let most = pick(of("Equal", most, f64::NEG_INFINITY), 0.0, most).write(l, DType::F64)?;
    let sum = of_terms.iter().map(|&x| f("Exp", x - most)).reduce(|all, x| all + x);
    (f("Log", sum.unwrap_or_else(|| Term::from(0.0))) + most).write(l, DType::F64)
}

/// The labels that the steps of a sequence are to spell, and their number.
fn spelled(l: &mut Lowering<'_>, blank: LoweredValue) -> Result<[LoweredValue; 2]> {
    let (unique, collapses) =
        (l.attributes.flag("unique", false)?, l.attributes.flag("preprocess_collapse_repeated", false)?);
    let labels = index(l, 2)?;
    let mut stays = Term::from(before_lengths(l, labels, 1, 3)?);
    if unique {
        let (own, other) = (with_axes(l, labels, &[2])?, with_axes(l, labels, &[1])?);
        let count = size(l, labels, 1)?;
        let places = positions(l, count)?;
        let column = with_axes(l, places, &[1])?;
        let again = of("And", of("Equal", own, other), of("Less", places, column)).write(l, DType::I64)?;
        let again = l.cast(again, DType::I64)?;
        let times = with("ReduceSum", [again.into(), ints(&[2])], [int("keepdims", 0)]).put(l)?;
        stays = of("And", stays, of("Equal", times, 0.0));
    } else if collapses {
        let before = behind(l, labels, 1, Term::from(-1.0), DType::I64)?;
        stays = of("And", stays, f("Not", of("Equal", labels, before)));
    }
    let stays = stays.write(l, DType::I64)?;
    compacted(l, labels, stays, blank)
}

/// `CTCLoss`: minus the logarithm of the probability of all ways to spell labels. States are the
/// labels and the blanks before and after each; a loop over the steps has the logarithms of their
/// probabilities.
pub fn ctc_loss(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 3)?;
    let (dtype, merges) = (l.dtype_of(0)?, l.attributes.flag("ctc_merge_repeated", true)?);
    let blank = blank(l, 4)?;
    let [target, count] = spelled(l, blank)?;
    let count = with_axes(l, count, &[1])?;
    let logs = with("LogSoftmax", [cast(l.input(0)?, DType::F64)], [int("axis", 2)]).put(l)?;
    // Each label with the blank before it, and one after them all; or one before them all.
    let classes = if merges {
        let labels = with_axes(l, target, &[2])?;
        let blanks = of("Expand", blank, f("Shape", labels)).put(l)?;
        let pairs = l.apply("Concat", &[blanks, labels], &[int("axis", 2)])?;
        let (pads, scalar) = (l.list(&[0, 0, 0, 1])?, l.reshape(blank, &[])?);
        with("Pad", [shaped(pairs, &[0, -1]), pads.into(), scalar.into()], []).put(l)?
    } else {
        let scalar = l.reshape(blank, &[])?;
        with("Pad", [target.into(), ints(&[0, 1, 0, 0]), scalar.into()], []).put(l)?
    };
    let per_step = with_axes(l, classes, &[1])?;
    let (sequences, steps) = (size(l, logs, 0)?, size(l, logs, 1)?);
    let states = size(l, classes, 1)?;
    let all = l.apply("Concat", &[sequences, steps, states], &[int("axis", 0)])?;
    let logs = with("GatherElements", [logs.into(), of("Expand", per_step, all)], [int("axis", 2)]).put(l)?;
    let runs = before_lengths(l, logs, 1, 1)?;
    // Before the first step, the first state is certain.
    let places = positions(l, states)?;
    let start = pick(of("Equal", places, 0.0).write(l, DType::I64)?, 0.0, f64::NEG_INFINITY);
    let start = start.write(l, DType::F64)?;
    let start =
        of("Expand", start, with("Concat", [sequences.into(), states.into()], [int("axis", 0)])).put(l)?;
    // A label may follow the label before, without a blank, if it is another.
    let skips = if merges {
        let before = behind(l, classes, 2, Term::from(-1.0), DType::I64)?;
        let odd = l.list(&[2])?;
        let odd = of("Equal", of("Mod", places, odd), 1.0);
        Some(of("And", odd, f("Not", of("Equal", classes, before))).write(l, DType::I64)?)
    } else {
        None
    };
    let never = f64::NEG_INFINITY;
    let most = l.reshape(steps, &[])?;
    let state = l.repeated(most, &[start], |l, number, state| {
        let own = state[0];
        let step = l.apply("Gather", &[logs, number], &[int("axis", 1)])?;
        let before = behind(l, own, 1, Term::from(never), DType::F64)?;
        let next = if let Some(skips) = skips {
            let skipped = behind(l, own, 2, Term::from(never), DType::F64)?;
            let skipped = pick(skips, skipped, never).write(l, DType::F64)?;
            log_sum(l, &[own, before, skipped])? + step
        } else {
            // The blank is the first of the classes.
            let one = l.list(&[1])?;
            let of_blank = columns(l, step, 0, one)?;
            let stays = (own + of_blank).write(l, DType::F64)?;
            let comes = (before + step).write(l, DType::F64)?;
            Term::from(log_sum(l, &[stays, comes])?)
        };
        let on = l.apply("Gather", &[runs, number], &[int("axis", 1)])?;
        let on = with_axes(l, on, &[1])?;
        let next = pick(on, next, own).write(l, DType::F64)?;
        let again = l.constant(Tensor::scalar(Bool::from(true)))?;
        Ok((again, vec![next]))
    })?[0];
    let ends = if merges { (count * l.list(&[2])?).write(l, DType::I64)? } else { count };
    let mut last = l.apply("GatherElements", &[state, ends], &[int("axis", 1)])?;
    if merges {
        let before = of("Max", ends - 1.0, 0.0).write(l, DType::I64)?;
        let label = l.apply("GatherElements", &[state, before], &[int("axis", 1)])?;
        let label = pick(of("Equal", ends, 0.0).write(l, DType::I64)?, never, label).write(l, DType::F64)?;
        last = log_sum(l, &[last, label])?;
    }
    let loss = f("Neg", last).write(l, DType::F64)?;
    let loss = l.reshape(loss, &[-1])?;
    Ok(vec![l.cast(loss, dtype)?])
}
