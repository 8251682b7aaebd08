//! Graphs of pools whose windows follow from the size of the data, for the operators of all
//! dialects.

use gradus_core::Result;
use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::Content;

use crate::errors;
use crate::lowering::terms::{ints, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// Maximum number of elements along an axis of the result of an adaptive pool.
pub const MAX_WINDOWS: i64 = 1 << 10;

/// An adaptive pool, an axis after the other: window `i` of `n` has the elements from
/// `floor(i * size / n)` to `ceil((i + 1) * size / n)`.
///
/// Its second result is the index of each maximum along each axis, if `indices` are asked for.
/// `given` are the beginnings and ends of other windows, by axis.
fn adaptive(
    l: &mut Lowering<'_>,
    mut x: LoweredValue,
    counts: &[i64],
    mean: bool,
    indices: bool,
    given: Option<&[Vec<[i64; 2]>]>,
) -> Result<(LoweredValue, Vec<LoweredValue>)> {
    let mut found: Vec<LoweredValue> = Vec::new();
    for (i, &count) in counts.iter().enumerate().rev() {
        if !(1..=MAX_WINDOWS).contains(&count) {
            let wanted = format_args!("from 1 to {MAX_WINDOWS}");
            return Err(errors::value("size of an adaptive pool", count, wanted));
        }
        let (axis, by) = (i64_of(i) + 2, l.list(&[count])?);
        let (size, axes) =
            (l.apply("Shape", &[x], &[int("start", axis), int("end", axis + 1)])?, l.list(&[axis])?);
        let (mut windows, mut places) = (Vec::new(), Vec::new());
        for window in 0..count {
            let given = given.and_then(|given| given.get(i)?.get(usize_of_i64(window)?));
            let [start, end] = if let Some([start, end]) = given {
                [l.list(&[*start])?, l.list(&[*end])?]
            } else {
                let (start, end) = ((size * ints(&[window])).put(l)?, (size * ints(&[window + 1])).put(l)?);
                let end = (end + ints(&[count - 1])).put(l)?;
                [l.apply("Div", &[start, by], &[])?, l.apply("Div", &[end, by], &[])?]
            };
            let part = l.apply("Slice", &[x, start, end, axes], &[])?;
            windows.push(l.apply(if mean { "ReduceMean" } else { "ReduceMax" }, &[part, axes], &[])?);
            if indices {
                places.push((with("ArgMax", [part.into()], [int("axis", axis)]) + start).put(l)?);
            }
        }
        x = l.apply("Concat", &windows, &[int("axis", axis)])?;
        if indices {
            let places = l.apply("Concat", &places, &[int("axis", axis)])?;
            for index in &mut found {
                *index = l.apply("GatherElements", &[*index, places], &[int("axis", axis)])?;
            }
            found.insert(0, places);
        }
    }
    Ok((x, found))
}

/// The one size of the windows, if the results divide the axes from `first` on evenly.
fn even_windows(l: &Lowering<'_>, first: usize, counts: &[i64]) -> Result<Option<Vec<i64>>> {
    let dims = l.dims_of(0)?;
    let size = |(i, &count): (usize, &i64)| {
        let len = dims.get(first + i).copied().flatten().map(i64_of)?;
        (count > 0 && len > 0 && len % count == 0).then(|| len / count)
    };
    Ok(counts.iter().enumerate().map(size).collect())
}

/// A pool of the first input, which is `x` with its channels before the axes that windows move
/// along; these axes begin at `first` in the input.
pub fn pool(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    first: usize,
    counts: &[i64],
    mean: bool,
) -> Result<LoweredValue> {
    if counts.iter().all(|&count| count == 1) {
        return l.apply(if mean { "GlobalAveragePool" } else { "GlobalMaxPool" }, &[x], &[]);
    }
    match even_windows(l, first, counts)? {
        Some(window) => {
            let attributes = [
                ("kernel_shape", Content::Ints(window.clone().into())),
                ("strides", Content::Ints(window.into())),
            ];
            l.apply(if mean { "AveragePool" } else { "MaxPool" }, &[x], &attributes)
        }
        None => Ok(adaptive(l, x, counts, mean, false, None)?.0),
    }
}

/// Maxima, and the index of each among the elements of its channel. Windows that are given have
/// their beginnings and ends, by axis.
pub fn pool_with_index(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    counts: &[i64],
    given: Option<&[Vec<[i64; 2]>]>,
) -> Result<[LoweredValue; 2]> {
    let (value, places) = adaptive(l, x, counts, false, true, given)?;
    let mut flat = l.list(&[0])?;
    for (axis, place) in (2..).zip(places) {
        let before = (flat * with("Shape", [x.into()], [int("start", axis), int("end", axis + 1)])).put(l)?;
        flat = l.apply("Add", &[before, place], &[])?;
    }
    Ok([value, flat])
}
