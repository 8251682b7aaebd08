//! Fourier transforms, and the parts of complex numbers.
//!
//! | operators | Paddle |
//! |---|---|
//! | `fft_c2c`, `fft_r2c`, `fft_c2r` | along the axes of `axes`; of reals, the last one has half of the frequencies |
//! | `real`, `imag`, `as_real` | the parts of complex numbers; as a last axis of two |
//! | `complex`, `as_complex`, `conj` | complex numbers from their parts, and mirrored |

use gradus_core::convert::{Rules, nearest_f64, product};
use gradus_core::{DType, Number, Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::dim::Dim;
use crate::fact::{Fact, TensorFact};
use crate::infer::{InferContext, InferResult};
use crate::op::EvalContext;
use crate::operators::elementwise::infer::broadcast_inputs;
use crate::operators::generate::signal::{touch, transformed};
use crate::operators::nn::windows::float_of;
use crate::operators::{errors, indices};

/// A complex number by its parts.
type Pair = (f64, f64);

/// The type of complex numbers whose parts have a type, or the other way round.
fn other(dtype: DType) -> Result<DType> {
    Ok(match dtype {
        DType::F32 => DType::C64,
        DType::F64 => DType::C128,
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        dtype => return Err(errors::dtype(dtype, "float32, float64, complex64 or complex128")),
    })
}

fn fact(cx: &InferContext<'_, '_>, changes: bool, dims: Vec<Dim>) -> InferResult {
    let dtype = cx.dtype(0);
    let dtype = if changes { dtype.map(other).transpose()? } else { dtype };
    Ok(vec![Fact::Tensor(TensorFact::new(dtype, Some(dims.into())))])
}

/// As the input, whose numbers become their parts or the other way round.
pub(crate) fn changed(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?.to_vec();
    fact(cx, true, dims)
}

/// As both inputs together, the parts of complex numbers.
pub(crate) fn joined(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = broadcast_inputs(cx, 0)?;
    fact(cx, true, dims)
}

/// As the input, with an axis of both parts behind.
pub(crate) fn with_parts(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mut dims = cx.dims(0)?.to_vec();
    dims.push(Dim::Known(2));
    fact(cx, true, dims)
}

/// As the input, whose last axis has both parts.
pub(crate) fn without_parts(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mut dims = cx.dims(0)?.to_vec();
    let last = dims.pop().ok_or_else(|| errors::rank("input 0", 0, "at least 1"))?;
    cx.equal(last, Dim::Known(2), "number of parts of a complex number")?;
    fact(cx, true, dims)
}

/// The axes of a transform, of which the last comes first.
fn axes(attributes: &Attributes<'_>, rank: usize) -> Result<Vec<usize>> {
    let mut axes = indices::axes(attributes.ints("axes")?.unwrap_or(&[-1]), rank)?;
    axes.reverse();
    Ok(axes)
}

pub(crate) fn fourier_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let mut dims = cx.dims(0)?.to_vec();
    let last = axes(&cx.attributes, dims.len())?.first().copied();
    let halved = cx.operator == "fft_r2c" && cx.attributes.flag("onesided", true)?;
    if let Some(last) = last.filter(|_| halved) {
        let half = cx.floor_divide(dims[last], Dim::Known(2));
        dims[last] = cx.add(half, Dim::ONE);
    }
    if let Some(last) = last.filter(|_| cx.operator == "fft_c2r") {
        dims[last] = match cx.attributes.int_or("last_dim_size", 0)? {
            given if given > 0 => Dim::Known(given),
            _ => {
                let less = cx.subtract(dims[last], Dim::ONE);
                cx.multiply(less, Dim::Known(2))
            }
        };
    }
    fact(cx, cx.operator != "fft_c2c", dims)
}

/// The numbers of an input as complex ones.
fn pairs(cx: &EvalContext<'_>, input: usize) -> Result<Vec<Pair>> {
    let tensor = cx.tensor(input)?;
    cx.reserve(product(tensor.len(), size_of::<Pair>()))?;
    let pair = |number| match number {
        Number::Complex(a, b) => (a, b),
        number => (nearest_f64(number), 0.0),
    };
    Ok(tensor.numbers()?.map(pair).collect())
}

/// The output, of complex numbers or of the first parts.
fn rounded(cx: &EvalContext<'_>, pairs: &[Pair]) -> Result<Vec<Value>> {
    let (dtype, shape) = cx.output(0)?;
    let number = |&(a, b): &Pair| if dtype.is_complex() { Number::Complex(a, b) } else { Number::Float(a) };
    Ok(vec![Tensor::from_numbers(dtype, shape, pairs.iter().map(number), Rules::IEEE)?.into()])
}

/// The real parts, the imaginary ones, or mirrored numbers.
pub(crate) fn parts(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let part: fn(Pair) -> Pair = match cx.operator {
        "real" => |pair| pair,
        "imag" => |(_, b)| (b, 0.0),
        _ => |(a, b)| (a, -b),
    };
    let pairs: Vec<_> = pairs(cx, 0)?.into_iter().map(part).collect();
    rounded(cx, &pairs)
}

pub(crate) fn as_real(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let parts: Vec<_> = pairs(cx, 0)?.into_iter().flat_map(|(a, b)| [(a, 0.0), (b, 0.0)]).collect();
    rounded(cx, &parts)
}

pub(crate) fn as_complex(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let pairs: Vec<_> = pairs(cx, 0)?.chunks(2).map(|parts| (parts[0].0, parts[1].0)).collect();
    rounded(cx, &pairs)
}

pub(crate) fn complex(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (_, shape) = cx.output(0)?;
    let (real, imaginary) = (pairs(cx, 0)?, pairs(cx, 1)?);
    let place = |input: usize| {
        Ok::<_, gradus_core::Error>(indices::broadcast(cx.tensor(input)?.shape().dims(), shape.dims()))
    };
    let both = place(0)?.into_iter().zip(place(1)?);
    let pairs: Vec<_> = both.map(|(a, b)| (real[a].0, imaginary[b].0)).collect();
    rounded(cx, &pairs)
}

/// Numbers along an axis, transformed: of a mirrored signal, half of it is given.
fn along(
    cx: &mut EvalContext<'_>,
    pairs: &[Pair],
    dims: &mut [usize],
    (axis, wanted, mirrored): (usize, usize, bool),
    sign: f64,
) -> Result<Vec<Pair>> {
    let len = if mirrored { wanted } else { dims[axis] };
    let inner: usize = dims[axis + 1..].iter().product();
    let outer: usize = dims[..axis].iter().product();
    touch(cx, outer.saturating_mul(inner), len)?;
    cx.reserve(product(outer.saturating_mul(inner), wanted.saturating_mul(size_of::<Pair>())))?;
    let mut y = vec![(0.0, 0.0); outer * inner * wanted];
    for row in 0..outer * inner {
        cx.limits().check()?;
        let at = |index: usize, size: usize| (row / inner * size + index) * inner + row % inner;
        let mut x: Vec<_> = (0..len.min(dims[axis])).map(|index| pairs[at(index, dims[axis])]).collect();
        if mirrored {
            x.truncate(len / 2 + 1);
            let known = x.len();
            x.resize(len, (0.0, 0.0));
            for index in (len / 2 + 1..len).filter(|index| len - index < known) {
                let (a, b) = x[len - index];
                x[index] = (a, -b);
            }
        }
        for (index, pair) in transformed(&x, sign).into_iter().enumerate().take(wanted) {
            y[at(index, wanted)] = pair;
        }
    }
    dims[axis] = wanted;
    Ok(y)
}

pub(crate) fn fourier(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let mut dims = cx.tensor(0)?.shape().dims().to_vec();
    let (_, shape) = cx.output(0)?;
    let mut axes = axes(attributes, dims.len())?;
    let (mirrored, forward) = (cx.operator == "fft_c2r", attributes.flag("forward", true)?);
    let last = axes.first().copied();
    if mirrored {
        // The axis of half of the frequencies comes first of a transform of reals, and last back.
        axes.reverse();
    }
    let whole = if mirrored { shape.dims() } else { &dims };
    let count: f64 = axes.iter().map(|&axis| float_of(whole[axis])).product();
    let factor = match (attributes.text("normalization")?.unwrap_or("backward"), forward) {
        ("ortho", _) => 1.0 / count.sqrt(),
        ("forward", true) | ("backward" | "", false) => 1.0 / count,
        ("forward" | "backward" | "", _) => 1.0,
        (other, _) => return Err(errors::text("normalization", other, "backward, ortho or forward")),
    };
    let mut pairs = pairs(cx, 0)?;
    if !shape.is_empty() {
        for axis in axes {
            let wanted = shape.dims()[axis];
            let how = (axis, wanted, mirrored && Some(axis) == last);
            pairs = along(cx, &pairs, &mut dims, how, if forward { -1.0 } else { 1.0 })?;
        }
    }
    for (a, b) in &mut pairs {
        (*a, *b) = (*a * factor, *b * factor);
    }
    rounded(cx, if shape.is_empty() { &[] } else { &pairs })
}
