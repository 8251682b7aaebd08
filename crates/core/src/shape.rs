//! Shapes of tensors: the size of each axis, all known.

use std::fmt;

use crate::convert::{i64_of, product, usize_of};
use crate::error::{Error, Kind, Result};

/// The sizes of a tensor's axes, the outermost first. A scalar has none.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Shape(Vec<usize>);

impl Shape {
    /// The shape of a scalar.
    pub const SCALAR: Shape = Shape(Vec::new());

    /// A shape from its sizes.
    ///
    /// # Errors
    /// [`Kind::Shape`] if a size is negative, [`Kind::Limit`] if there are more elements than
    /// can be counted.
    pub fn from_i64(dims: &[i64]) -> Result<Shape> {
        let sizes = dims.iter().enumerate().map(|(axis, &dim)| {
            crate::convert::usize_of_i64(dim).ok_or_else(|| {
                Error::mismatch(Kind::Shape, format_args!("dimension {axis}"), dim, "at least 0")
            })
        });
        Shape::new(sizes.collect::<Result<Vec<_>>>()?)
    }

    /// A shape from its sizes.
    ///
    /// # Errors
    /// [`Kind::Limit`] if there are more elements than can be counted: 2^63 - 1, zero sizes left
    /// out.
    pub fn new(dims: impl Into<Vec<usize>>) -> Result<Shape> {
        let shape = Shape(dims.into());
        let limit = i64::MAX.unsigned_abs();
        let countable = shape.0.iter().filter(|&&dim| dim > 0).try_fold(1, |count: usize, &dim| {
            let next = product(count, dim);
            (next <= u128::from(limit)).then(|| usize_of(crate::convert::low_u64(next)))
        });
        if countable.is_some() {
            return Ok(shape);
        }
        let what = format_args!("number of elements of shape {shape}");
        let (got, wanted) = (format_args!("more than {limit}"), format_args!("at most {limit}"));
        Err(Error::mismatch(Kind::Limit, what, got, wanted))
    }

    /// The shape of a list of that many elements.
    pub fn vector(len: usize) -> Shape {
        Shape(vec![len])
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The sizes.
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// The sizes as signed numbers.
    pub fn to_i64(&self) -> Vec<i64> {
        self.0.iter().map(|&dim| i64_of(dim)).collect()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.iter().product()
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.0.contains(&0)
    }

    /// Elements between neighbours along each axis, in row-major order.
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.rank()];
        for axis in (1..self.rank()).rev() {
            strides[axis - 1] = strides[axis] * self.0[axis].max(1);
        }
        strides
    }

    /// The shape that both broadcast to by the rule of NumPy and ONNX: aligned at the last axis, a
    /// size of 1 stretches.
    ///
    /// # Errors
    /// [`Kind::Shape`] names the axis, counted from the end, that does not fit.
    pub fn broadcast(&self, other: &Shape) -> Result<Shape> {
        let rank = self.rank().max(other.rank());
        let dim = |shape: &Shape, back: usize| shape.rank().checked_sub(back).map_or(1, |axis| shape.0[axis]);
        let mut dims = vec![0; rank];
        for back in 1..=rank {
            dims[rank - back] = match (dim(self, back), dim(other, back)) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                (a, b) => {
                    let what = format_args!("cannot broadcast {other} to {self}: size of axis -{back}");
                    return Err(Error::mismatch(Kind::Shape, what, b, format_args!("1 or {a}")));
                }
            };
        }
        Shape::new(dims)
    }
}

impl std::ops::Index<usize> for Shape {
    type Output = usize;
    fn index(&self, axis: usize) -> &usize {
        &self.0[axis]
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(dims: &[usize]) -> Shape {
        Shape::new(dims).unwrap()
    }

    #[test]
    fn counts_that_do_not_fit_are_refused_before_they_are_used() {
        assert_eq!(Shape::new(vec![1 << 31, 1 << 31]).unwrap().len(), 1 << 62);
        assert_eq!(Shape::new(vec![1 << 32, 1 << 31]).unwrap_err().kind(), Kind::Limit);
        assert_eq!(Shape::new(vec![0, 1 << 62, 4]).unwrap_err().kind(), Kind::Limit);
        assert_eq!(
            Shape::from_i64(&[2, -1]).unwrap_err().message(),
            "dimension 1 is -1, expected at least 0"
        );
    }

    #[test]
    fn broadcasting_is_numpys() {
        let check = |a: &[usize], b: &[usize], want: Option<&[usize]>| {
            assert_eq!(shape(a).broadcast(&shape(b)).ok(), want.map(shape), "{a:?} {b:?}");
            assert_eq!(shape(b).broadcast(&shape(a)).ok(), want.map(shape), "{b:?} {a:?}");
        };
        check(&[], &[2, 3], Some(&[2, 3]));
        check(&[3], &[2, 1], Some(&[2, 3]));
        check(&[0], &[1], Some(&[0]));
        check(&[2, 0, 3], &[1, 1], Some(&[2, 0, 3]));
        check(&[0], &[2], None);
        check(&[3, 2], &[3], None);
    }

    #[test]
    fn strides_are_row_major() {
        assert_eq!(shape(&[2, 3, 4]).strides(), [12, 4, 1]);
        assert_eq!(shape(&[]).strides(), [0usize; 0]);
    }
}
