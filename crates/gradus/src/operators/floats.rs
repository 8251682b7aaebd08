//! Numbers that operators compute with: float64 for floats, 64-bit integers that wrap for integers.
//!
//! Float64 holds every float of at most 32 bits exactly, and the product of two of them. Operators
//! add in a fixed order and round once, at the end, so that results do not depend on the processor
//! or on the number of threads.

use std::fmt::Debug;
use std::num::Wrapping;
use std::ops::{AddAssign, Mul};

use gradus_core::convert::{self, Rules, product};
use gradus_core::{DType, Number, Result, Shape, Tensor, Value};

use crate::op::EvalContext;

/// Numbers that are added and multiplied.
pub(crate) trait Ring: Copy + Debug + Default + Send + Sync + AddAssign + Mul<Output = Self> {
    /// Reads the elements of a tensor.
    fn read(tensor: &Tensor) -> Result<Vec<Self>>;

    /// Makes a tensor: floats are rounded once, integers wrap.
    fn tensor(dtype: DType, shape: Shape, numbers: &[Self]) -> Result<Tensor>;
}

impl Ring for f64 {
    fn read(tensor: &Tensor) -> Result<Vec<f64>> {
        if tensor.dtype() == DType::F32 {
            return Ok(tensor.elements::<f32>()?.iter().map(|&x| f64::from(x)).collect());
        }
        Ok(tensor.numbers()?.map(convert::nearest_f64).collect())
    }

    fn tensor(dtype: DType, shape: Shape, numbers: &[f64]) -> Result<Tensor> {
        Tensor::from_numbers(dtype, shape, numbers.iter().map(|&x| Number::Float(x)), Rules::IEEE)
    }
}

impl Ring for Wrapping<i64> {
    fn read(tensor: &Tensor) -> Result<Vec<Wrapping<i64>>> {
        let wrapped = |number| Wrapping(convert::wrapped(number).cast_signed());
        Ok(tensor.numbers()?.map(wrapped).collect())
    }

    fn tensor(dtype: DType, shape: Shape, numbers: &[Wrapping<i64>]) -> Result<Tensor> {
        let number = |x: &Wrapping<i64>| Number::Int(x.0.into());
        Tensor::from_numbers(dtype, shape, numbers.iter().map(number), Rules::IEEE)
    }
}

impl EvalContext<'_> {
    /// The elements of an input in float64.
    ///
    /// # Errors
    /// As [`EvalContext::tensor`]; [`gradus_core::Kind::Limit`] if so many may not be made.
    pub(crate) fn floats(&self, input: usize) -> Result<Vec<f64>> {
        let tensor = self.tensor(input)?;
        self.reserve(product(tensor.len(), size_of::<f64>()))?;
        f64::read(tensor)
    }

    /// The exact elements of an input.
    ///
    /// # Errors
    /// As [`EvalContext::floats`].
    pub(crate) fn numbers(&self, input: usize) -> Result<Vec<Number>> {
        let tensor = self.tensor(input)?;
        self.reserve(product(tensor.len(), size_of::<Number>()))?;
        self.limits().collect(tensor.numbers()?)
    }

    /// The elements of an input in float64, if it is given.
    ///
    /// # Errors
    /// As [`EvalContext::floats`].
    pub(crate) fn maybe_floats(&self, input: usize) -> Result<Option<Vec<f64>>> {
        self.has(input).then(|| self.floats(input)).transpose()
    }

    /// An output that has the type and shape that the rule infers.
    ///
    /// # Errors
    /// As [`EvalContext::output`].
    pub(crate) fn rounded(&self, output: usize, numbers: &[f64]) -> Result<Value> {
        let (dtype, shape) = self.output(output)?;
        Ok(f64::tensor(dtype, shape, numbers)?.into())
    }
}

/// Adds to each element of `c` the products of a row of `a` and a column of `b`, one after the
/// other in the order of the row. `b` and `c` have so many columns.
pub(crate) fn multiply_add<T: Ring>(a: &[T], b: &[T], c: &mut [T], inner: usize, columns: usize) {
    /// Columns of `b` that stay in the cache, and rows of `c` that use each of its elements.
    const COLUMNS: usize = 256;
    const ROWS: usize = 4;
    if inner == 0 || columns == 0 {
        return;
    }
    for first in (0..columns).step_by(COLUMNS) {
        let last = columns.min(first + COLUMNS);
        for (a, c) in a.chunks(ROWS * inner).zip(c.chunks_mut(ROWS * columns)) {
            if let [r0, r1, r2, r3] = &mut c.chunks_mut(columns).collect::<Vec<_>>()[..] {
                let (r0, r1, r2, r3) =
                    (&mut r0[first..last], &mut r1[first..last], &mut r2[first..last], &mut r3[first..last]);
                for k in 0..inner {
                    let x = [a[k], a[inner + k], a[2 * inner + k], a[3 * inner + k]];
                    let b = &b[k * columns + first..k * columns + last];
                    let rows = r0.iter_mut().zip(r1.iter_mut()).zip(r2.iter_mut()).zip(r3.iter_mut());
                    for ((((c0, c1), c2), c3), &y) in rows.zip(b) {
                        *c0 += x[0] * y;
                        *c1 += x[1] * y;
                        *c2 += x[2] * y;
                        *c3 += x[3] * y;
                    }
                }
                continue;
            }
            for (a, c) in a.chunks(inner).zip(c.chunks_mut(columns)) {
                for (k, &x) in a.iter().enumerate() {
                    let b = &b[k * columns + first..k * columns + last];
                    c[first..last].iter_mut().zip(b).for_each(|(c, &y)| *c += x * y);
                }
            }
        }
    }
}
