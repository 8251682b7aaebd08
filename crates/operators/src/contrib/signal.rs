//! Fourier transforms and products of complex numbers, as graphs of ONNX's operators.

use gradus_core::convert::i64_of;
use gradus_core::{Result, Tensor};

use crate::contrib::values::{like_first, wide_input};
use crate::errors;
use crate::lowering::terms::{ints, of, whole, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// The number of axes of a signal, which are the last.
fn signal_axes(l: &Lowering<'_>, rank: usize) -> Result<usize> {
    for (name, wanted) in [("onesided", 1), ("normalized", 0)] {
        let given = l.attributes.int_or(name, wanted)?;
        errors::expect_value(format_args!("attribute \"{name}\""), given, wanted)?;
    }
    let count = l.attributes.int_or("signal_ndim", 1)?;
    let count = usize::try_from(count).ok().filter(|count| (1..=rank).contains(count));
    count.ok_or_else(|| {
        let given = l.attributes.int_or("signal_ndim", 1).unwrap_or(1);
        errors::value("attribute \"signal_ndim\"", given, format_args!("1 to {rank}"))
    })
}

/// The Fourier transform of an axis of complex numbers.
fn transformed(
    l: &mut Lowering<'_>,
    value: LoweredValue,
    axis: usize,
    attribute: Option<&'static str>,
) -> Result<LoweredValue> {
    let axis = l.constant(Tensor::scalar(i64_of(axis)))?;
    let attributes: Vec<_> = attribute.map(|name| int(name, 1)).into_iter().collect();
    l.apply("DFT", &[value, LoweredValue::NONE, axis], &attributes)
}

/// `Rfft`: the Fourier transform of real numbers, of whose last axis only the first half is kept.
pub fn rfft(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let rank = l.rank_of(0)?;
    let count = signal_axes(l, rank)?;
    let x = wide_input(l, 0)?;
    let x = of("Unsqueeze", x, ints(&[-1])).put(l)?;
    let mut value = transformed(l, x, rank - 1, Some("onesided"))?;
    for axis in rank - count..rank - 1 {
        value = transformed(l, value, axis, None)?;
    }
    like_first(l, value)
}

/// `Irfft`: the real numbers that have a Fourier transform, of whose last axis only the first half
/// is given.
pub fn irfft(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let rank = l.rank_of(0)?.saturating_sub(1);
    let count = signal_axes(l, rank)?;
    let mut value = wide_input(l, 0)?;
    for axis in rank - count..rank - 1 {
        value = transformed(l, value, axis, Some("inverse"))?;
    }
    // The other half, from the end: conjugates of all but the first and the last.
    let axis = rank - 1;
    let (start, end, axes, step) = (l.list(&[-2])?, l.list(&[0])?, l.list(&[i64_of(axis)])?, l.list(&[-1])?);
    let other = l.apply("Slice", &[value, start, end, axes, step], &[])?;
    let conjugate = l.constant(Tensor::vector(&[1f64, -1.0]))?;
    let all = with("Concat", [value.into(), other * conjugate], [int("axis", i64_of(axis))]).put(l)?;
    let all = transformed(l, all, axis, Some("inverse"))?;
    let real = with("Gather", [all.into(), whole(0)], [int("axis", -1)]).put(l)?;
    like_first(l, real)
}

/// `ComplexMul`, `ComplexMulConj`: products of complex numbers, whose parts are the last axis.
pub fn complex_mul(l: &mut Lowering<'_>, conjugates: bool) -> Result<Vec<LoweredValue>> {
    let mut parts = Vec::new();
    for input in 0..2 {
        let value = wide_input(l, input)?;
        parts.push(l.apply_many("Split", &[value], &[int("axis", -1), int("num_outputs", 2)], 2)?);
    }
    let (a, b) = (&parts[0], &parts[1]);
    let products = [(a[0], b[0]), (a[1], b[1]), (a[0], b[1]), (a[1], b[0])];
    let products = products.map(|(a, b)| l.apply("Mul", &[a, b], &[]));
    let [rr, ii, ri, ir] = products;
    let (rr, ii, ri, ir) = (rr?, ii?, ri?, ir?);
    let (real, imaginary) = if conjugates {
        (l.apply("Add", &[rr, ii], &[])?, l.apply("Sub", &[ir, ri], &[])?)
    } else {
        (l.apply("Sub", &[rr, ii], &[])?, l.apply("Add", &[ri, ir], &[])?)
    };
    let value = l.apply("Concat", &[real, imaginary], &[int("axis", -1)])?;
    like_first(l, value)
}
