//! Pairs of runs of sequences: with padding and without, in one piece and in chunks.

use std::ops::Range;

use gradus_core::convert::{Rules, i64_of, usize_of_i64};
use gradus_core::graph::ValueId;
use gradus_core::{Error, Number, Result, Shape, Tensor, Value};

use super::pairs::{Pair, Part, Side, first_rows, inapplicable};
use super::subject::{Base, Subject, value};
use crate::check::NamedValues;

/// The input that says which elements of a sequence are padding.
struct MaskInput<'a> {
    input: &'a str,
    /// The dimension that counts the elements.
    sequence: String,
}

impl<'a> MaskInput<'a> {
    fn of(subject: &'a Subject<'_>) -> Result<MaskInput<'a>> {
        let wanted = subject.options.mask.as_deref();
        let is_mask = |(_, name): &(ValueId, &str)| match wanted {
            Some(wanted) => *name == wanted,
            None => is_named_mask(name),
        };
        let Some((id, input)) = subject.inputs().find(is_mask) else {
            return Err(match wanted {
                Some(wanted) => Error::unknown("input", wanted, subject.inputs().map(|(_, name)| name)),
                None => inapplicable("no input has \"mask\" in its name; --mask names one"),
            });
        };
        let last = subject.dims(id).last().and_then(|&dim| subject.symbol(dim));
        let is_batch = |name: &&str| subject.batch.as_deref() != Ok(*name);
        let sequence = last.filter(is_batch).map(str::to_owned).ok_or_else(|| {
            inapplicable(format!("the last size of the mask \"{input}\" is no open dimension of its own"))
        })?;
        Ok(MaskInput { input, sequence })
    }
}

fn is_named_mask(name: &str) -> bool {
    name.to_lowercase().contains("mask")
}

/// Ones at the first elements of each line of a mask, and zeros after them.
fn set_mask(inputs: &mut NamedValues, name: &str, ones: usize) -> Result<()> {
    for (_, value) in inputs.iter_mut().filter(|(input, _)| input == name) {
        let Value::Tensor(tensor) = &*value else { continue };
        let line = tensor.shape().dims().last().copied().unwrap_or(1).max(1);
        let numbers = (0..tensor.len()).map(|place| Number::Int(i64::from(place % line < ones).into()));
        *value = Tensor::from_numbers(tensor.dtype(), tensor.shape().clone(), numbers, Rules::IEEE)?.into();
    }
    Ok(())
}

/// A base of the first rows.
fn of_rows(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Base> {
    let inputs = first_rows(subject, base, rows)?;
    let mut numbers = base.numbers.clone();
    if let Ok(batch) = &subject.batch {
        numbers.insert(batch.clone(), i64_of(rows));
    }
    Ok(Base { others: inputs.clone(), inputs, rows, numbers })
}

/// The size of a dimension.
fn size(base: &Base, name: &str) -> usize {
    base.numbers.get(name).and_then(|&size| usize_of_i64(size)).unwrap_or(0)
}

fn part(name: &str, total: usize, indices: Range<usize>) -> Part {
    Part::Along { name: name.to_owned(), total, indices, or_whole: true }
}

fn picks(indices: Range<usize>) -> Vec<(usize, usize)> {
    indices.map(|index| (0, index)).collect()
}

/// Pairs of a sequence without padding, and with some that the mask leaves out.
pub(super) fn padding(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Vec<Pair>> {
    let MaskInput { input, sequence } = MaskInput::of(subject)?;
    let base = of_rows(subject, base, rows)?;
    let total = size(&base, &sequence);
    let mut lengths = vec![total.saturating_sub(1), total / 2, 1];
    lengths.retain(|&length| 0 < length && length < total);
    lengths.dedup();
    let pair = |&length: &usize| {
        let mut short = subject.along(&base, &sequence, &picks(0..length))?;
        let mut padded = base.inputs.clone();
        set_mask(&mut short, input, length)?;
        set_mask(&mut padded, input, length)?;
        let first = Side::new(format!("{sequence} = {length}"), short);
        let second = Side::new(format!("{sequence} = {length} padded to {total}"), padded);
        let [first, second] = [(first, length), (second, total)]
            .map(|(side, total)| Side { part: part(&sequence, total, 0..length), ..side });
        Ok(Pair { first, second, rows, is_one_run: false })
    };
    lengths.iter().map(pair).collect()
}

/// The past values of a model, and the dimensions of its sequences.
struct Past {
    /// Outputs that become inputs of the next run.
    carried: Vec<(String, String)>,
    /// The dimension that counts elements of a run.
    sequence: String,
    /// The dimension that counts elements of runs before.
    before: String,
}

impl Past {
    fn of(subject: &Subject<'_>) -> Result<Past> {
        let has = |word: &'static str| move |(_, name): &(ValueId, &str)| name.to_lowercase().contains(word);
        let inputs: Vec<_> = subject.inputs().filter(has("past")).filter(|of| !has("mask")(of)).collect();
        let outputs: Vec<_> = subject.outputs().into_iter().filter(has("present")).collect();
        if inputs.is_empty() {
            return Err(inapplicable("no input has \"past\" in its name"));
        }
        if inputs.len() != outputs.len() {
            let (inputs, outputs) = (inputs.len(), outputs.len());
            return Err(inapplicable(format!(
                "{inputs} inputs have \"past\" in their names, and {outputs} outputs \"present\""
            )));
        }
        let grown = subject.dims(inputs[0].0).iter().zip(subject.dims(outputs[0].0)).find(|(a, b)| a != b);
        let symbols = subject.input_symbols();
        let found = grown.and_then(|(&before, &after)| {
            let past = subject.symbol(before)?.to_owned();
            let is_sum = |sequence: &&String| {
                let value = |numbers: (i64, i64)| {
                    let of = |name: &str| match name {
                        name if name == past => Some(numbers.0),
                        name if name == **sequence => Some(numbers.1),
                        _ => None,
                    };
                    subject.inference.symbols().evaluate(after, &of)
                };
                [(3, 5), (2, 7), (11, 1)].into_iter().all(|of| value(of) == Some(of.0 + of.1))
            };
            let sequence = symbols.iter().find(is_sum)?.clone();
            Some((past, sequence))
        });
        let (past, sequence) = found.ok_or_else(|| {
            let (input, output) = (inputs[0].1, outputs[0].1);
            inapplicable(format!(
                "no axis of output \"{output}\" is that of input \"{input}\" and the sequence"
            ))
        })?;
        let name = |(_, name): &(ValueId, &str)| (*name).to_owned();
        let carried = outputs.iter().map(name).zip(inputs.iter().map(name)).collect();
        Ok(Past { carried, sequence, before: past })
    }
}

/// Pairs of a sequence in one piece, and its end after a run of its begin.
pub(super) fn chunks(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Vec<Pair>> {
    let Past { carried, sequence, before: past } = Past::of(subject)?;
    let mut base = of_rows(subject, base, rows)?;
    let (before, total) = (size(&base, &past), size(&base, &sequence));
    let masks: Vec<_> = subject.inputs().map(|(_, name)| name).filter(|name| is_named_mask(name)).collect();
    for mask in &masks {
        set_mask(&mut base.inputs, mask, usize::MAX)?;
    }
    base.others.clone_from(&base.inputs);
    let mut lengths = vec![1, total / 2, total.saturating_sub(1)];
    lengths.retain(|&length| 0 < length && length < total);
    lengths.dedup();
    let pair = |&length: &usize| {
        let mut begin = subject.along(&base, &sequence, &picks(0..length))?;
        for mask in &masks {
            shorten_mask(&mut begin, mask, before + total, before + length)?;
        }
        let end = subject.along(&base, &sequence, &picks(length..total))?;
        let first = Side::new(format!("{sequence} = {total} in one piece"), base.inputs.clone());
        let first = Side { part: part(&sequence, total, length..total), ..first };
        let rest = total - length;
        let second = Side {
            before: vec![begin],
            carried: carried.clone(),
            part: part(&sequence, rest, 0..rest),
            ..Side::new(format!("{sequence} = {rest} after {length}"), end)
        };
        Ok(Pair { first, second, rows, is_one_run: false })
    };
    lengths.iter().map(pair).collect()
}

/// Shortens the last axis of a mask that counts past elements too.
fn shorten_mask(inputs: &mut NamedValues, name: &str, total: usize, length: usize) -> Result<()> {
    let Some(Value::Tensor(tensor)) = value(inputs, name) else { return Ok(()) };
    let Some((&last, outer)) = tensor.shape().dims().split_last() else { return Ok(()) };
    if last != total {
        return Ok(());
    }
    let shape = Shape::new([outer, &[length]].concat())?;
    let ones = std::iter::repeat_n(Number::Int(1.into()), shape.len());
    let shorter = Tensor::from_numbers(tensor.dtype(), shape, ones, Rules::IEEE)?;
    for (_, value) in inputs.iter_mut().filter(|(input, _)| input == name) {
        *value = shorter.clone().into();
    }
    Ok(())
}
