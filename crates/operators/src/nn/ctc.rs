//! Decoding of scores of classes over time: the best class of each step, without blanks.
//!
//! | operator | results |
//! |---|---|
//! | `CTCGreedyDecoder` | classes as floats, `[batch, steps, 1, 1]`; a mask ends a sequence |
//! | `CTCGreedyDecoderSeqLen` | classes, `[batch, steps]`, and how many of them each sequence has |

use gradus_core::convert::{Rules, cast, i64_of, product, usize_of_i64};
use gradus_core::{DType, Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::dim::Dim;
use crate::errors;
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};
use crate::op::EvalContext;

/// The sizes of `CTCGreedyDecoder`.
pub fn by_mask(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 3)?;
    let mask = cx.dims_of_rank(1, 2)?;
    let steps = cx.equal(dims[0], mask[0], "number of steps")?;
    let batch = cx.equal(dims[1], mask[1], "number of sequences")?;
    Ok(vec![Fact::tensor(cx.dtype(0), [batch, steps, Dim::ONE, Dim::ONE])])
}

/// The sizes of `CTCGreedyDecoderSeqLen`.
pub fn by_length(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 3)?;
    let lengths = cx.dims_of_rank(1, 1)?;
    let batch = cx.equal(dims[0], lengths[0], "number of sequences")?;
    let mut types = [DType::I32; 2];
    for (dtype, name) in types.iter_mut().zip(["classes_index_type", "sequence_length_type"]) {
        *dtype = cx.attributes.index_dtype(name)?.unwrap_or(*dtype);
    }
    Ok(vec![Fact::typed(types[0], [batch, dims[1]]), Fact::typed(types[1], [batch])])
}

/// Scores of classes, by step and sequence.
struct Scores {
    numbers: Vec<f64>,
    classes: usize,
}

impl Scores {
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

/// Puts the classes of sequences into rows of so many steps, followed by -1.
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
fn scores(cx: &mut EvalContext<'_>) -> Result<(Scores, usize, usize)> {
    let &[first, second, classes] = cx.tensor(0)?.shape().dims() else {
        return Err(errors::rank(cx.label(0), cx.tensor(0)?.shape().rank(), 3));
    };
    if classes == 0 {
        return Err(errors::value("number of classes", 0, "at least 1"));
    }
    cx.reserve(
        product(first.max(second), size_of::<Vec<i64>>()) + product(first * second, 2 * size_of::<i64>()),
    )?;
    Ok((Scores { numbers: cx.floats(0)?, classes }, first, second))
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
