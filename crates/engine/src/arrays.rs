//! Sequences between arrays: one for every pair of elements, as NumPy's rule says.
//!
//! Start, stop (and base) are broadcast against each other. The result has their shape with one
//! more axis, along which the sequences run; `axis` says where it is: from 0, or from -1 backward
//! for the last.
//!
//! Source: NumPy `linspace`, `logspace`, `geomspace` ("axis").

use gradus_core::convert::usize_of;
use gradus_core::{DType, Error, Kind, Limits, Number, Result, Shape, Tensor};
use gradus_kernels::{Fill, tensor as filled};
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan, SpaceError};

/// The number of samples, and the rule for their places.
#[derive(Clone, Copy, Debug)]
pub struct Samples {
    /// Number of samples.
    pub num: u64,
    /// True if stop is the last of them.
    pub endpoint: bool,
    /// The axis of the result along which they run.
    pub axis: i64,
    /// Their type.
    pub dtype: DType,
}

/// Linspaces between the elements of two arrays.
///
/// ```
/// use gradus::{DType, Limits, Tensor, arrays::{Samples, linspace}};
/// let (start, stop) = (Tensor::vector(&[0.0, 10.0]), Tensor::scalar(20.0));
/// let samples = Samples { num: 3, endpoint: true, axis: 0, dtype: DType::F64 };
/// let result = linspace(&start, &stop, samples, &Limits::DEFAULT)?;
/// assert_eq!(result.shape().dims(), [3, 2]);
/// assert_eq!(*result.elements::<f64>()?, [0.0, 10.0, 10.0, 15.0, 20.0, 20.0]);
/// # Ok::<(), gradus::Error>(())
/// ```
///
/// # Errors
/// [`Kind::Shape`] if the shapes cannot be broadcast or the axis does not exist, [`Kind::Limit`] if
/// the result is too large; of each sequence, those of [`LinspacePlan::new`].
pub fn linspace(start: &Tensor, stop: &Tensor, samples: Samples, limits: &Limits) -> Result<Tensor> {
    let Samples { num, endpoint, dtype, .. } = samples;
    each([start, stop], samples, limits, |[start, stop]| LinspacePlan::new(start, stop, num, endpoint, dtype))
}

/// Logspaces: powers of the elements of one array, with exponents between those of two others.
///
/// # Errors
/// As [`linspace`], with those of [`LogspacePlan::new`].
pub fn logspace(
    start: &Tensor,
    stop: &Tensor,
    base: &Tensor,
    samples: Samples,
    limits: &Limits,
) -> Result<Tensor> {
    let Samples { num, endpoint, dtype, .. } = samples;
    each([start, stop, base], samples, limits, |[start, stop, base]| {
        LogspacePlan::new(base, start, stop, num, endpoint, dtype)
    })
}

/// Geomspaces between the elements of two arrays.
///
/// # Errors
/// As [`linspace`], with those of [`GeomspacePlan::new`].
pub fn geomspace(start: &Tensor, stop: &Tensor, samples: Samples, limits: &Limits) -> Result<Tensor> {
    let Samples { num, endpoint, dtype, .. } = samples;
    each([start, stop], samples, limits, |[start, stop]| {
        GeomspacePlan::new(start, stop, num, endpoint, dtype)
    })
}

/// One sequence for every place of the broadcast arrays.
fn each<const N: usize, P: Fill>(
    arrays: [&Tensor; N],
    samples: Samples,
    limits: &Limits,
    plan: impl Fn([Number; N]) -> Result<P, SpaceError>,
) -> Result<Tensor> {
    let shape = arrays[1..]
        .iter()
        .try_fold(arrays[0].shape().clone(), |shape, array| shape.broadcast(array.shape()))?;
    let axis = place(samples.axis, shape.rank())?;
    let num = usize_of(samples.num);
    let dims = [&shape.dims()[..axis], &[num], &shape.dims()[axis..]].concat();
    let width = samples.dtype.bits() / 8;
    if width == 0 {
        let wanted = "a type of whole bytes";
        return Err(Error::mismatch(Kind::Unsupported, "element type", samples.dtype, wanted));
    }
    let result = Shape::new(dims)?;
    limits.allow_bytes(0, gradus_core::tensor::byte_len(samples.dtype, &result))?;
    let mut bytes = vec![0; result.len() * width];
    // Before the new axis and after it.
    let inner: usize = shape.dims()[axis..].iter().product();
    for i in 0..shape.len() {
        let mut numbers = [Number::Int(0); N];
        for (number, array) in numbers.iter_mut().zip(arrays) {
            *number = array.number(place_in(array.shape(), &shape, i))?;
        }
        let words = ["start", "stop", "base", "num"];
        let plan = plan(numbers).map_err(|error| error.describe(words))?;
        let sequence = filled(&plan, limits, 0)?;
        let first = i / inner * num * inner + i % inner;
        for (k, element) in sequence.bytes().map_or(&[][..], |bytes| bytes).chunks_exact(width).enumerate() {
            let at = (first + k * inner) * width;
            bytes[at..at + width].copy_from_slice(element);
        }
    }
    Tensor::from_bytes(samples.dtype, result, bytes.into())
}

/// The new axis of a shape of that rank, counted from 0.
fn place(axis: i64, rank: usize) -> Result<usize> {
    let end = gradus_core::convert::i64_of(rank) + 1;
    gradus_core::convert::counted(axis, rank + 1)
        .filter(|&axis| axis <= rank)
        .ok_or_else(|| Error::mismatch(Kind::Shape, "axis", axis, format_args!("{} to {}", -end, end - 1)))
}

/// The place in an array of the element that broadcasting puts at place `i` of a shape.
fn place_in(array: &Shape, shape: &Shape, mut i: usize) -> usize {
    let (mut place, mut stride) = (0, 1);
    let dims = array.dims().iter().rev().map(Some).chain(std::iter::repeat(None));
    for (&dim, own) in shape.dims().iter().rev().zip(dims) {
        if let Some(&own) = own {
            place += (i % dim).min(own - 1) * stride;
            stride *= own;
        }
        i /= dim;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(num: u64, axis: i64) -> Samples {
        Samples { num, endpoint: true, axis, dtype: DType::I64 }
    }

    #[test]
    fn sequences_run_along_the_axis() {
        let start = Tensor::from_vec(Shape::new(vec![2, 1]).unwrap(), vec![0i64, 100]).unwrap();
        let stop = Tensor::vector(&[1i64, 2, 3]);
        let cases: [(i64, &[usize], &[i64]); 3] = [
            (0, &[2, 2, 3], &[0, 0, 0, 100, 100, 100, 1, 2, 3, 1, 2, 3]),
            (1, &[2, 2, 3], &[0, 0, 0, 1, 2, 3, 100, 100, 100, 1, 2, 3]),
            (-1, &[2, 3, 2], &[0, 1, 0, 2, 0, 3, 100, 1, 100, 2, 100, 3]),
        ];
        for (axis, dims, elements) in cases {
            let result = linspace(&start, &stop, samples(2, axis), &Limits::DEFAULT).unwrap();
            assert_eq!(
                (result.shape().dims(), &*result.elements::<i64>().unwrap()),
                (dims, elements),
                "{axis}"
            );
        }
    }

    #[test]
    fn bases_are_broadcast_too() {
        let (start, stop, base) = (Tensor::scalar(0i64), Tensor::scalar(2i64), Tensor::vector(&[2i64, 10]));
        let result = logspace(&start, &stop, &base, samples(3, 0), &Limits::DEFAULT).unwrap();
        assert_eq!(*result.elements::<i64>().unwrap(), [1, 1, 2, 10, 4, 100]);
        let result =
            geomspace(&Tensor::vector(&[1i64, 3]), &Tensor::scalar(27i64), samples(4, 1), &Limits::DEFAULT);
        assert_eq!(*result.unwrap().elements::<i64>().unwrap(), [1, 3, 9, 27, 3, 6, 12, 27]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (two, three) = (Tensor::vector(&[1i64, 2]), Tensor::vector(&[1i64, 2, 3]));
        assert_eq!(linspace(&two, &three, samples(2, 0), &Limits::DEFAULT).unwrap_err().kind(), Kind::Shape);
        let error = linspace(&two, &two, samples(2, 2), &Limits::DEFAULT).unwrap_err();
        assert_eq!(error.message(), "axis is 2, expected -2 to 1");
        let error = linspace(&two, &two, samples(1 << 40, 0), &Limits::DEFAULT).unwrap_err();
        assert_eq!(error.kind(), Kind::Limit);
    }
}
