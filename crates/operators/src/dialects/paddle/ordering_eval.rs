//! Evaluation of operators that follow from the order of elements: each line along an axis takes
//! time in proportion to its length, or to that of sorting it. The graphs of `ordering.rs` compare
//! every element with every other.

use gradus_core::convert::{i64_of, product};
use gradus_core::{Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::op::EvalContext;
use crate::{errors, indices};

/// A key with the order of numbers: whether it is NaN, which comes last, and an integer, the same
/// for both zeros.
type SortKey = (bool, i64);

fn key(x: f64) -> SortKey {
    let bits = i64::from_ne_bytes((x + 0.0).to_ne_bytes());
    match bits {
        _ if x.is_nan() => (true, 0),
        ..0 => (false, !bits ^ i64::MIN),
        _ => (false, bits),
    }
}

/// The keys of the elements of an input.
fn keys(cx: &EvalContext<'_>, input: usize) -> Result<Vec<SortKey>> {
    if !cx.tensor(input)?.dtype().is_float() {
        return Ok(cx.integers(input)?.into_iter().map(|x| (false, x)).collect());
    }
    Ok(cx.floats(input)?.into_iter().map(key).collect())
}

/// The lines of a tensor along an axis.
struct AxisLines {
    count: usize,
    len: usize,
    stride: usize,
}

impl AxisLines {
    /// The lines of the first input along the axis that an attribute names, or of the flat tensor
    /// if `flatten` is set.
    fn of(attributes: &Attributes<'_>, cx: &EvalContext<'_>) -> Result<AxisLines> {
        let (dims, len) = (cx.tensor(0)?.shape().dims(), cx.tensor(0)?.len());
        if dims.is_empty() || attributes.flag("flatten", false)? {
            return Ok(AxisLines { count: 1, len, stride: 1 });
        }
        let axis = indices::axis(attributes.int_or("axis", -1)?, dims.len())?;
        let stride: usize = dims[axis + 1..].iter().product();
        // Lines without elements may be too many to go through.
        Ok(AxisLines { count: len.checked_div(dims[axis]).unwrap_or(0), len: dims[axis], stride })
    }

    /// The places of the elements of a line.
    fn places(&self, line: usize) -> impl Iterator<Item = usize> + use<> {
        let (stride, len) = (self.stride, self.len);
        let first = line / stride.max(1) * stride * len + line % stride.max(1);
        (0..len).map(move |at| first + at * stride)
    }
}

/// The elements of the first input at places, and where along their lines they are.
fn picked(cx: &EvalContext<'_>, places: &[usize], along: Vec<i64>) -> Result<Vec<Value>> {
    let (shape, (to, of_places)) = (cx.output(0)?.1, cx.output(1)?);
    let values = cx.tensor(0)?.picked(shape, places, &cx.limits())?;
    let along = Tensor::from_vec(of_places, along)?;
    Ok(vec![values.into(), gradus_core::convert::cast(&along, to, gradus_core::convert::Rules::IEEE)?.into()])
}

/// `cummax` and `cummin`: of each element and those before it, the last of the extreme ones. A NaN
/// is more extreme than any number.
pub fn extreme(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (keys, lines, least) = (keys(cx, 0)?, AxisLines::of(attributes, cx)?, cx.operator == "cummin");
    cx.reserve(product(keys.len(), 2 * size_of::<usize>()))?;
    let (mut places, mut along) = (vec![0; keys.len()], vec![0; keys.len()]);
    for line in 0..lines.count {
        cx.limits().check()?;
        let mut best: Option<(usize, usize)> = None;
        for (at, place) in lines.places(line).enumerate() {
            let replaces = |(_, best): (usize, usize)| match (keys[place], keys[best]) {
                ((true, _), _) => true,
                (_, (true, _)) => false,
                (own, best) => {
                    if least {
                        own <= best
                    } else {
                        own >= best
                    }
                }
            };
            let chosen = best.filter(|&best| !replaces(best)).unwrap_or((at, place));
            (along[place], places[place]) = (i64_of(chosen.0), chosen.1);
            best = Some(chosen);
        }
    }
    picked(cx, &places, along)
}

/// `mode`: the smallest of the most frequent elements, and its last place.
pub fn mode(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (keys, lines) = (keys(cx, 0)?, AxisLines::of(attributes, cx)?);
    if lines.len == 0 && !cx.output(0)?.1.is_empty() {
        return Err(errors::value("the size of the axis", 0, "at least 1"));
    }
    let (mut places, mut along) = (Vec::with_capacity(lines.count), Vec::with_capacity(lines.count));
    for line in 0..lines.count {
        cx.limits().check()?;
        let mut order: Vec<_> =
            lines.places(line).enumerate().map(|(at, place)| (keys[place], at, place)).collect();
        order.sort_unstable();
        let mut best = (0, order[0]);
        // A NaN is equal to none.
        for run in order.chunk_by(|a, b| a.0 == b.0 && !a.0.0) {
            if let Some(&last) = run.last().filter(|_| run.len() > best.0) {
                best = (run.len(), last);
            }
        }
        along.push(i64_of(best.1.1));
        places.push(best.1.2);
    }
    picked(cx, &places, along)
}

/// `searchsorted`: how many elements of a sorted sequence lie before each value, and with `right`,
/// how many are equal to it besides. A NaN lies after all.
pub fn search(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let right = attributes.flag("right", false)?;
    let (sequences, all) = (cx.tensor(0)?, cx.tensor(1)?);
    if sequences.dtype().is_float() != all.dtype().is_float() {
        return Err(errors::dtype(sequences.dtype(), "that of the values"));
    }
    let (dims, of_values) = (sequences.shape().dims(), all.shape().dims());
    let (len, width) = (dims.last().copied().unwrap_or(1), of_values.last().copied().unwrap_or(1));
    let rows = |dims: &[usize]| dims[..dims.len().saturating_sub(1)].to_vec();
    if dims.len() != 1 && rows(dims) != rows(of_values) {
        let wanted = format_args!("{:?}, as of the values", rows(of_values));
        return Err(errors::shape(
            "sizes before the last of the sequences",
            format_args!("{:?}", rows(dims)),
            wanted,
        ));
    }
    let (mut sequence, values) = (keys(cx, 0)?, keys(cx, 1)?);
    // The graph counts elements of any order, which Paddle leaves open.
    for row in sequence.chunks_mut(len.max(1)).filter(|row| !row.is_sorted()) {
        cx.limits().check()?;
        row.sort_unstable();
    }
    let (to, shape) = cx.output(0)?;
    let mut counts = Vec::with_capacity(values.len());
    for (row, values) in values.chunks(width.max(1)).enumerate() {
        cx.limits().check()?;
        let own = if dims.len() == 1 { &sequence[..] } else { &sequence[row * len..][..len] };
        for &value in values {
            let before = own.partition_point(|&x| x < value || value.0 || (right && x == value));
            counts.push(i64_of(before));
        }
    }
    let counts = Tensor::from_vec(shape, counts)?;
    Ok(vec![gradus_core::convert::cast(&counts, to, gradus_core::convert::Rules::IEEE)?.into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_as_numbers_are() {
        let infinity = f64::INFINITY;
        let numbers =
            [-infinity, -2.5, -1.0, -f64::MIN_POSITIVE, -5e-324, 0.0, 5e-324, 1.0, infinity, f64::NAN];
        assert!(numbers.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert_eq!(key(-0.0), key(0.0));
    }
}
