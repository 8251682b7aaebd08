//! Places: where in row-major order the elements of a result lie in the operand.
//!
//! Operators that only move elements are lists of places, for tensors and for symbolic elements
//! alike.

use std::ops::Range;

use gradus_core::convert::{counted, from_start, i64_of, usize_of_i64};
use gradus_core::{Number, Result, Tensor};

use crate::operators::errors;

/// The indices that are chosen along an axis. A range takes no memory, as an axis of a tensor
/// without elements may have any size.
#[derive(Clone, Debug)]
pub enum Along {
    /// A range: the first index, the step to the next one, and their number.
    Steps(usize, i64, usize),
    /// A list.
    List(Vec<usize>),
}

impl Along {
    /// All indices of a range.
    pub fn range(range: Range<usize>) -> Along {
        Along::Steps(range.start, 1, range.len())
    }

    /// The number of indices.
    pub fn len(&self) -> usize {
        match self {
            Along::Steps(_, _, len) => *len,
            Along::List(list) => list.len(),
        }
    }

    /// Turns the order of a range, or of a list.
    pub fn reverse(&mut self) {
        match self {
            Along::Steps(first, step, len) => {
                let last = i64_of(*first) + *step * (i64_of(*len) - 1).max(0);
                *self = Along::Steps(usize_of_i64(last).unwrap_or(0), -*step, *len);
            }
            Along::List(list) => list.reverse(),
        }
    }

    /// The indices in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).map(|at| match self {
            // Each is within an axis, so that nothing overflows.
            Along::Steps(first, step, _) => {
                first.wrapping_add_signed(isize::try_from(*step).unwrap_or(0).wrapping_mul(at.cast_signed()))
            }
            Along::List(list) => list[at],
        })
    }
}

/// For each element of a result, the place of the element of the operand, where along each axis
/// these indices are chosen.
pub fn chosen(dims: &[usize], indices: &[Along]) -> Vec<usize> {
    if indices.iter().any(|indices| indices.len() == 0) {
        return Vec::new();
    }
    let mut places = vec![0];
    for (size, indices) in dims.iter().zip(indices) {
        let mut next = Vec::with_capacity(places.len() * indices.len());
        for place in places {
            next.extend(indices.iter().map(|index| place * size + index));
        }
        places = next;
    }
    places
}

/// All indices along each axis.
pub fn all(dims: &[usize]) -> Vec<Along> {
    dims.iter().map(|&size| Along::range(0..size)).collect()
}

/// The places of a result whose axes are those of the operand in another order.
pub fn turned(dims: &[usize], perm: &[usize]) -> Vec<usize> {
    if dims.contains(&0) {
        return Vec::new();
    }
    let mut strides = vec![1; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis] * dims[axis];
    }
    let mut places = vec![0];
    for &axis in perm {
        let mut next = Vec::with_capacity(places.len() * dims[axis]);
        for place in places {
            next.extend((0..dims[axis]).map(|index| place + index * strides[axis]));
        }
        places = next;
    }
    places
}

/// The places of a result that an operand is broadcast to.
pub fn broadcast(operand: &[usize], result: &[usize]) -> Vec<usize> {
    let before = result.len() - operand.len();
    let mut dims = vec![1; before];
    dims.extend_from_slice(operand);
    let along = |(&own, &size)| Along::Steps(0, i64::from(own != 1), size);
    let indices: Vec<_> = dims.iter().zip(result).map(along).collect();
    chosen(&dims, &indices)
}

/// For each element of tensors put one after the other along an axis: which tensor it is of, and
/// its place there.
pub fn joined(parts: &[&[usize]], axis: usize) -> Vec<(usize, usize)> {
    let Some(first) = parts.first() else { return Vec::new() };
    let rows: usize = first[..axis].iter().product();
    let widths: Vec<usize> = parts.iter().map(|dims| dims[axis..].iter().product()).collect();
    let row: usize = widths.iter().sum();
    if row == 0 {
        return Vec::new();
    }
    let mut places = Vec::with_capacity(rows * row);
    for row in 0..rows {
        for (part, &width) in widths.iter().enumerate() {
            places.extend((row * width..(row + 1) * width).map(|place| (part, place)));
        }
    }
    places
}

/// The indices of a slice along an axis of that dimension: bounds below 0 count from the end, and
/// all are clamped; a start is always within the axis, so that a slice backwards from before the
/// first element is the first element (where Python's is empty), as the texts of ONNX say and
/// OpenVINO does.
pub fn sliced(size: usize, start: i64, end: i64, step: i64) -> Result<Along> {
    if step == 0 {
        return Err(errors::zero_step());
    }
    let len = i64_of(size);
    if len == 0 {
        return Ok(Along::range(0..0));
    }
    // An end that is clamped to -1 must not make it the last element.
    let (start, end) = if step > 0 {
        (from_start(start, len).clamp(0, len), from_start(end, len).clamp(0, len))
    } else {
        (from_start(start, len).clamp(0, len - 1), from_start(end, len).clamp(-1, len - 1))
    };
    let span = if step > 0 { end - start } else { start - end };
    let count = u64::try_from(span).unwrap_or(0).div_ceil(step.unsigned_abs());
    let first = usize_of_i64(start).unwrap_or(0);
    Ok(Along::Steps(first, step, usize::try_from(count).unwrap_or(0)))
}

/// An axis counted from the first.
pub fn axis(axis: i64, rank: usize) -> Result<usize> {
    counted(axis, rank).filter(|&axis| axis < rank).ok_or_else(|| errors::out_of_range("axis", axis, rank))
}

/// Axes counted from the first, each once.
pub fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>> {
    let found = distinct_axes(list, rank)?;
    if found.len() < list.len() {
        return Err(errors::value("axes", format_args!("{list:?}"), "each axis at most once"));
    }
    Ok(found)
}

/// Axes counted from the first. An axis that is named twice is one.
pub fn distinct_axes(list: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut found = Vec::with_capacity(list.len().min(rank));
    for &each in list {
        let each = axis(each, rank)?;
        if !found.contains(&each) {
            found.push(each);
        }
    }
    Ok(found)
}

/// An index counted from the first, within a dimension.
pub fn index(index: i64, size: usize) -> Result<usize> {
    counted(index, size)
        .filter(|&index| index < size)
        .ok_or_else(|| errors::out_of_range("index", index, size))
}

/// The elements of a tensor of integers; nothing if one is no integer of 64 bits.
///
/// # Errors
/// As reading the elements.
pub fn integers_of(tensor: &Tensor) -> Result<Option<Vec<i64>>> {
    let whole = |number| match number {
        Number::Int(value) => i64::try_from(value).ok(),
        _ => None,
    };
    Ok(tensor.numbers()?.map(whole).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_clamped() {
        let cases: [(usize, i64, i64, i64, &[usize]); 12] = [
            (5, 1, 3, 1, &[1, 2]),
            (5, -2, i64::MAX, 1, &[3, 4]),
            (5, 0, -1, 2, &[0, 2]),
            (5, -1, i64::MIN, -1, &[4, 3, 2, 1, 0]),
            (5, 4, 0, -2, &[4, 2]),
            (5, 3, 1, 1, &[]),
            (0, 0, 5, 1, &[]),
            (5, i64::MAX, -3, -1, &[4, 3]),
            (5, -9, 9, 3, &[0, 3]),
            (5, -9, -20, -1, &[0]),
            (5, -9, 2, -1, &[]),
            (0, -1, -9, -1, &[]),
        ];
        for (size, start, end, step, want) in cases {
            let found: Vec<_> = sliced(size, start, end, step).unwrap().iter().collect();
            assert_eq!(found, want, "[{start}:{end}:{step}] of {size}");
        }
        assert!(sliced(5, 0, 5, 0).is_err());
    }

    #[test]
    fn axes_turn_and_broadcast() {
        assert_eq!(turned(&[2, 3], &[1, 0]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(broadcast(&[2, 1], &[2, 3]), [0, 0, 0, 1, 1, 1]);
        assert_eq!(broadcast(&[], &[2]), [0, 0]);
        assert_eq!(chosen(&[2, 3], &[Along::range(1..2), Along::List(vec![2, 0])]), [5, 3]);
    }
}
