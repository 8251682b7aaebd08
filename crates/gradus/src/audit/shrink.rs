//! The smallest pair that still differs.

use std::ops::Range;
use std::time::Duration;

use gradus_core::convert::i64_of;
use gradus_core::{DType, Limits, Number, Result, Tensor, Value};

use super::pairs::{Pair, Row};
use super::run::Runner;
use super::subject::{Base, Subject};
use crate::check::NamedValues;
use crate::check::plan::TimeBudget;

/// A pair that differs, and how small it became.
pub(super) struct Smallest {
    pub(super) pair: Pair,
    /// Rows before some were dropped, and after.
    pub(super) rows: (usize, usize),
    /// Elements of the inputs, and those of them that are not zero.
    pub(super) elements: (usize, usize),
}

/// Maximum number of pairs that are tried for fewer elements.
const MAX_TRIES: usize = 60;

/// Maximum time after which no other pair is tried.
const TIME: Duration = Duration::from_secs(10);

/// Drops rows, and then sets elements equal, while a pair of the invariance differs and there is
/// time. `index` is the number of the pair among those of its base.
pub(super) fn smallest(
    subject: &Subject<'_>,
    row: &Row,
    runner: &Runner<'_>,
    (base, pair, index): (&Base, &Pair, usize),
) -> Result<Smallest> {
    let time = TimeBudget::of(TIME);
    let differing = |base: &Base, rows: usize| -> Result<Option<Pair>> {
        let mut pairs = (row.pairs)(subject, base, rows)?;
        if !row.has_other_inputs {
            // Fewer rows have the same pairs.
            pairs = pairs.into_iter().skip(index).take(1).collect();
        }
        for pair in pairs {
            if time.is_over() {
                break;
            }
            if runner.differs(row, &pair)? {
                return Ok(Some(pair));
            }
        }
        Ok(None)
    };
    let (mut smallest, mut found) = (base.clone(), pair.clone());
    if subject.batch.is_ok() {
        for rows in 1..base.rows {
            if let Some(fewer) = differing(base, rows)? {
                found = fewer;
                break;
            }
        }
        let rows = |source: usize| (0..found.rows).map(|row| (source, row)).collect::<Vec<_>>();
        let (inputs, others) = (subject.rows(base, &rows(0))?, subject.rows(base, &rows(1))?);
        smallest = Base { inputs, others, rows: found.rows, ..smallest };
        if let Ok(batch) = &subject.batch {
            smallest.numbers.insert(batch.clone(), i64_of(found.rows));
        }
    }
    let len = smallest.inputs.iter().map(|(_, value)| len(value)).sum();
    let mut tries = 0;
    for change in [Change::OthersEqual, Change::Zero] {
        let mut attempt = |range: Range<usize>| -> Result<bool> {
            let simpler = change.apply(&smallest, range)?;
            let Some(pair) = differing(&simpler, simpler.rows)? else { return Ok(false) };
            (smallest, found) = (simpler, pair);
            Ok(true)
        };
        tries += MAX_TRIES / 2;
        reduce(len, &mut tries, &mut attempt)?;
    }
    let inputs = &found.first.inputs;
    let total = inputs.iter().map(|(_, value)| self::len(value)).sum();
    let kept = inputs.iter().map(|(_, value)| nonzero(value)).sum();
    Ok(Smallest { rows: (base.rows, found.rows), pair: found, elements: (total, kept) })
}

/// Tries a change of all elements, then of halves, of quarters, …, while there are tries.
fn reduce(
    len: usize,
    tries: &mut usize,
    attempt: &mut impl FnMut(Range<usize>) -> Result<bool>,
) -> Result<()> {
    let mut open: Vec<_> = std::iter::once(0..len).collect();
    while !open.is_empty() {
        let mut next = Vec::new();
        for range in open {
            if range.is_empty() {
                continue;
            }
            if *tries == 0 {
                return Ok(());
            }
            *tries -= 1;
            if !attempt(range.clone())? && range.len() > 1 {
                let middle = range.start + range.len() / 2;
                next.extend([range.start..middle, middle..range.end]);
            }
        }
        open = next;
    }
    Ok(())
}

/// A change that makes inputs simpler.
#[derive(Clone, Copy)]
enum Change {
    /// The others become the inputs.
    OthersEqual,
    /// Both become zero.
    Zero,
}

impl Change {
    /// The base with a range of the elements of all inputs changed.
    fn apply(self, base: &Base, range: Range<usize>) -> Result<Base> {
        let mut changed = base.clone();
        match self {
            Change::OthersEqual => changed.others = replaced(&base.others, &base.inputs, &range)?,
            Change::Zero => {
                let zeros = zeros(&base.inputs)?;
                changed.inputs = replaced(&base.inputs, &zeros, &range)?;
                changed.others = replaced(&base.others, &zeros, &range)?;
            }
        }
        Ok(changed)
    }
}

/// Values with a range of their elements, counted over all of them, replaced by those of others.
fn replaced(values: &NamedValues, by: &NamedValues, range: &Range<usize>) -> Result<NamedValues> {
    let mut start = 0;
    let mut all = Vec::with_capacity(values.len());
    for ((name, value), (_, other)) in values.iter().zip(by) {
        let end = start + len(value);
        let own = range.start.clamp(start, end) - start..range.end.clamp(start, end) - start;
        let value = match (value, other) {
            (Value::Tensor(tensor), Value::Tensor(other)) if !own.is_empty() => {
                let places = (0..tensor.len()).map(|place| (usize::from(own.contains(&place)), place));
                Tensor::woven(&[tensor, other], tensor.shape().clone(), places, &Limits::DEFAULT)?.into()
            }
            _ => value.clone(),
        };
        all.push((name.clone(), value));
        start = end;
    }
    Ok(all)
}

/// Zeros of the types and shapes of values; values that are no tensors of numbers stay.
fn zeros(values: &NamedValues) -> Result<NamedValues> {
    let zero = |value: &Value| match value {
        Value::Tensor(tensor) if tensor.dtype() != DType::String => {
            Tensor::zeros(tensor.dtype(), tensor.shape().clone()).map(Value::from)
        }
        value => Ok(value.clone()),
    };
    values.iter().map(|(name, value)| Ok((name.clone(), zero(value)?))).collect()
}

/// The number of elements of a tensor.
fn len(value: &Value) -> usize {
    value.tensor().map_or(0, Tensor::len)
}

/// The number of elements of a tensor that are not zero.
fn nonzero(value: &Value) -> usize {
    let Ok(tensor) = value.tensor() else { return 0 };
    let is_zero = |number: &Number| matches!(number, Number::Float(0.0)) || *number == Number::Int(0.into());
    tensor.numbers().map_or(tensor.len(), |numbers| numbers.filter(|number| !is_zero(number)).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduction_leaves_the_elements_that_matter() {
        let mut kept = [true; 16];
        let mut tries = 60;
        let mut attempt = |range: Range<usize>| {
            let matters = range.contains(&5) || range.contains(&11);
            if !matters {
                kept[range].fill(false);
            }
            Ok(!matters)
        };
        reduce(16, &mut tries, &mut attempt).unwrap();
        let left: Vec<_> = (0..16).filter(|&at| kept[at]).collect();
        assert_eq!(left, [5, 11]);
        let mut few = 3;
        reduce(16, &mut few, &mut |_| Ok(false)).unwrap();
        assert_eq!(few, 0);
    }
}
