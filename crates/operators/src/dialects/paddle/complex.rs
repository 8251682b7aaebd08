//! Complex numbers and Fourier transforms.
//!
//! | operators | Paddle |
//! |---|---|
//! | `fft_c2c`, `fft_r2c`, `fft_c2r` | along the axes of `axes`; of reals, the last one has half of the frequencies |
//! | `real`, `imag`, `as_real` | the parts of complex numbers; as a last axis of two |
//! | `complex`, `as_complex`, `conj` | complex numbers from their parts, and mirrored |
//! | `abs`, `angle`, `scale`, `cast` | in float64, rounded once |
//! | `add`, `subtract`, `multiply`, `divide` | the same |
//!
//! Graphs compute with the [pairs](crate::complex) of parts.

use gradus_core::convert::{self, Rules, float_of, i64_of, nearest_f64};
use gradus_core::{DType, Error, Number, Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::complex::{complex_of, part_of};
use crate::dialects::paddle::math::angle_of;
use crate::dim::Dim;
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};
use crate::lowering::terms::{Term, f, ints, of, pick, whole, with};
use crate::lowering::{Lower, LoweredValue, Lowering, along as axis_is, int, not_known};
use crate::op::EvalContext;
use crate::signal::eval::transform;
use crate::words;
use crate::{errors, indices};

/// A complex number by its parts.
type RealPair = (f64, f64);

/// The axes of a transform, of which the last comes first.
fn axes(attributes: &Attributes<'_>, rank: usize) -> Result<Vec<usize>> {
    let mut axes = indices::axes(attributes.ints("axes")?.unwrap_or(&[-1]), rank)?;
    axes.reverse();
    Ok(axes)
}

/// Shape and type of `fft_c2c`, `fft_r2c` and `fft_c2r`.
pub fn fourier_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    cx.attributes.flag("forward", true)?;
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
        if dims[last].known().is_some_and(|size| size < 1) {
            return Err(errors::count("real numbers of a transform", 0, "at least 1").into());
        }
    }
    let dtype = match cx.dtype(0) {
        Some(real) if cx.operator == "fft_r2c" => Some(complex_of(real)?),
        Some(dtype) => {
            let part = part_of(dtype).ok_or_else(|| errors::dtype(dtype, "complex64 or complex128"))?;
            Some(if cx.operator == "fft_c2r" { part } else { dtype })
        }
        None => None,
    };
    Ok(vec![Fact::tensor(dtype, dims)])
}

/// The numbers of an input as complex ones.
fn pairs(cx: &EvalContext<'_>, input: usize) -> Result<Vec<RealPair>> {
    let tensor = cx.tensor(input)?;
    cx.reserve(convert::product(tensor.len(), size_of::<RealPair>()))?;
    let pair = |number| match number {
        Number::Complex(a, b) => (a, b),
        number => (nearest_f64(number), 0.0),
    };
    Ok(tensor.numbers()?.map(pair).collect())
}

/// The output, of complex numbers or of the first parts.
fn rounded(cx: &EvalContext<'_>, pairs: &[RealPair]) -> Result<Vec<Value>> {
    let (dtype, shape) = cx.output(0)?;
    let number =
        |&(a, b): &RealPair| if dtype.is_complex() { Number::Complex(a, b) } else { Number::Float(a) };
    Ok(vec![Tensor::from_numbers(dtype, shape, pairs.iter().map(number), Rules::IEEE)?.into()])
}

/// Numbers along an axis, transformed: of a mirrored signal, half of it is given.
fn along(
    cx: &mut EvalContext<'_>,
    pairs: &[RealPair],
    dims: &mut [usize],
    (axis, wanted, mirrored): (usize, usize, bool),
    sign: f64,
) -> Result<Vec<RealPair>> {
    let len = if mirrored { wanted } else { dims[axis] };
    let inner: usize = dims[axis + 1..].iter().product();
    let outer: usize = dims[..axis].iter().product();
    let transform = transform(cx, outer.saturating_mul(inner), len, sign)?;
    cx.reserve(convert::product(outer.saturating_mul(inner), wanted.saturating_mul(size_of::<RealPair>())))?;
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
        for (index, pair) in transform.of(&x, &cx.limits())?.into_iter().enumerate().take(wanted) {
            y[at(index, wanted)] = pair;
        }
    }
    dims[axis] = wanted;
    Ok(y)
}

/// `fft_c2c`, `fft_r2c` and `fft_c2r`: Fourier transforms over axes, scaled as the attribute says.
pub fn fourier(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
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
    let factor = match (words::FOURIER.of(attributes)?, forward) {
        ("ortho", _) => 1.0 / count.sqrt(),
        ("forward", true) | ("backward" | "", false) => 1.0 / count,
        _ => 1.0,
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

/// Both parts of the complex numbers of an input in float64, each with a last axis of size 1.
fn columns(l: &mut Lowering<'_>, index: usize) -> Result<[LoweredValue; 2]> {
    let pairs = l.pairs(index)?;
    let pairs = l.cast(pairs, DType::F64)?;
    let parts = l.apply_many("Split", &[pairs], &[int("axis", -1), int("num_outputs", 2)], 2)?;
    Ok([parts[0], parts[1]])
}

/// The type of the parts of the complex numbers of an input, or of real ones.
fn part(l: &Lowering<'_>, index: usize) -> Result<DType> {
    let dtype = l.dtype_of(index)?;
    Ok(part_of(dtype).unwrap_or(dtype))
}

/// Complex numbers with the parts in float64, each with a last axis of size 1.
fn number(l: &mut Lowering<'_>, parts: [Term; 2], part: DType) -> Result<Vec<LoweredValue>> {
    let [a, b] = parts;
    let (a, b) = (a.write(l, DType::F64)?, b.write(l, DType::F64)?);
    let pairs = l.apply("Concat", &[a, b], &[int("axis", -1)])?;
    let pairs = l.cast(pairs, part)?;
    Ok(vec![l.joined(pairs, part)?])
}

/// Both parts of the complex numbers of an input.
fn planes(l: &mut Lowering<'_>, index: usize) -> Result<[LoweredValue; 2]> {
    let pairs = l.pairs(index)?;
    let [first, second] = [l.constant(Tensor::scalar(0i64))?, l.constant(Tensor::scalar(1i64))?];
    let mut plane = |which| l.apply("Gather", &[pairs, which], &[int("axis", -1)]);
    Ok([plane(first)?, plane(second)?])
}

/// The complex numbers of both parts, as an output.
fn of_planes(l: &mut Lowering<'_>, planes: [LoweredValue; 2], part: DType) -> Result<LoweredValue> {
    let last = l.list(&[-1])?;
    let columns = planes.map(|plane| l.apply("Unsqueeze", &[plane, last], &[]));
    let [a, b] = columns;
    let pairs = l.apply("Concat", &[a?, b?], &[int("axis", -1)])?;
    l.joined(pairs, part)
}

/// An operator that does the same to both parts of complex numbers: it moves or adds elements.
pub fn by_parts(l: &mut Lowering<'_>, lower: Lower) -> Result<Vec<LoweredValue>> {
    let Some(first) = (0..l.count()).find(|&index| l.is_complex(index)) else { return lower(l) };
    let part = part(l, first)?;
    let (mut real, mut imaginary) = (vec![None; l.count()], vec![None; l.count()]);
    for index in first..l.count() {
        if l.is_complex(index) {
            let [a, b] = planes(l, index)?;
            (real[index], imaginary[index]) = (Some(a), Some(b));
        }
    }
    let real = l.of_parts(real, false, lower)?;
    let imaginary = l.of_parts(imaginary, true, lower)?;
    real.into_iter().zip(imaginary).map(|(a, b)| of_planes(l, [a, b], part)).collect()
}

/// Products of complex matrices, by the products of their parts.
pub fn product(l: &mut Lowering<'_>, lower: Lower) -> Result<Vec<LoweredValue>> {
    if !(l.is_complex(0) && l.is_complex(1)) {
        return lower(l);
    }
    let (own, other, part) = (planes(l, 0)?, planes(l, 1)?, part(l, 0)?);
    let mut of = |first: usize, second: usize| {
        let factors = vec![Some(own[first]), Some(other[second])];
        Ok::<_, Error>(l.of_parts(factors, false, lower)?[0])
    };
    let [real, less, more, imaginary] = [of(0, 0)?, of(1, 1)?, of(0, 1)?, of(1, 0)?];
    let planes = [(real - less).write(l, part)?, (more + imaginary).write(l, part)?];
    Ok(vec![of_planes(l, planes, part)?])
}

/// Powers of e: the size is that of the real part, the angle the imaginary one.
pub fn exp(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let ([a, b], part) = (columns(l, 0)?, part(l, 0)?);
    let size = f("Exp", a);
    number(l, [size.clone() * f("Cos", b), size * f("Sin", b)], part)
}

/// One of both parts.
pub fn part_at(l: &mut Lowering<'_>, which: i64) -> Result<Vec<LoweredValue>> {
    let (pairs, which) = (l.pairs(0)?, l.constant(Tensor::scalar(which))?);
    Ok(vec![l.apply("Gather", &[pairs, which], &[int("axis", -1)])?])
}

/// `as_real`: real and imaginary parts as the last axis.
pub fn as_real(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let pairs = l.pairs(0)?;
    Ok(vec![l.apply("Identity", &[pairs], &[])?])
}

/// `as_complex`: complex numbers of the two elements of the last axis.
pub fn as_complex(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dims) = (l.input(0)?, l.dims_of(0)?);
    match dims.last() {
        None => return Err(errors::rank("input 0", 0, "at least 1")),
        Some(&Some(size)) if size != 2 => {
            return Err(errors::shape("number of parts of a complex number", size, 2));
        }
        _ => {}
    }
    // A last axis of unknown size fails in a run if it has not both parts.
    let dims: Vec<_> = dims.iter().map(|_| 0).take(dims.len() - 1).chain([2]).collect();
    let (pairs, part) = (l.reshape(x, &dims)?, part(l, 0)?);
    Ok(vec![l.joined(pairs, part)?])
}

/// `complex`: numbers of real and imaginary parts, broadcast to each other.
pub fn complex(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut parts, last) = ([l.input(0)?, l.input(1)?], l.list(&[-1])?);
    let shapes = [l.shape(parts[1])?, l.shape(parts[0])?];
    for (value, shape) in parts.iter_mut().zip(shapes) {
        *value = of("Unsqueeze", of("Expand", *value, shape), last).put(l)?;
    }
    let (pairs, part) = (l.apply("Concat", &parts, &[int("axis", -1)])?, part(l, 0)?);
    Ok(vec![l.joined(pairs, part)?])
}

/// Numbers with the imaginary parts of the other sign; real ones as they are.
pub fn conj(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.is_complex(0) {
        return Ok(vec![f("Identity", l.input(0)?).put(l)?]);
    }
    let (pairs, part) = (l.pairs(0)?, part(l, 0)?);
    let pairs = mirrored(l, pairs, part)?;
    Ok(vec![l.joined(pairs, part)?])
}

fn mirrored(l: &mut Lowering<'_>, pairs: LoweredValue, part: DType) -> Result<LoweredValue> {
    let parts = l.apply_many("Split", &[pairs], &[int("axis", -1), int("num_outputs", 2)], 2)?;
    let below = f("Neg", parts[1]).write(l, part)?;
    l.apply("Concat", &[parts[0], below], &[int("axis", -1)])
}

/// Copies numbers, complex ones too.
pub fn same(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (pairs, part) = (l.pairs(0)?, part(l, 0)?);
    let pairs = l.apply("Identity", &[pairs], &[])?;
    Ok(vec![l.joined(pairs, part)?])
}

/// Numbers in another type, of which one is complex: reals get no imaginary part, and complex
/// numbers lose it.
pub fn cast(l: &mut Lowering<'_>, to: DType) -> Result<Vec<LoweredValue>> {
    let last = l.list(&[-1])?;
    if let Some(part) = part_of(to).filter(|_| !l.is_complex(0)) {
        let x = l.input(0)?;
        let x = l.cast(x, DType::F64)?;
        let x = l.apply("Unsqueeze", &[x, last], &[])?;
        return number(l, [x.into(), pick(of("Equal", x, x), 0.0, 0.0)], part);
    }
    let [a, b] = columns(l, 0)?;
    if let Some(part) = part_of(to) {
        return number(l, [a.into(), b.into()], part);
    }
    let a = l.apply("Squeeze", &[a, last], &[])?;
    Ok(vec![l.cast(a, to)?])
}

/// Distances from zero. Numbers of float64 are scaled, as their squares may be out of range.
pub fn abs(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let ([a, b], part, last) = (columns(l, 0)?, part(l, 0)?, l.list(&[-1])?);
    let size = if part == DType::F64 {
        let most = of("Max", f("Abs", a), f("Abs", b));
        let squares = [a, b].map(|part| part / most.clone() * (part / most.clone()));
        let [first, second] = squares;
        let scaled = most.clone() * f("Sqrt", first + second);
        let plain = of("Or", of("Equal", most.clone(), 0.0), f("IsInf", most.clone()));
        pick(plain, most, scaled)
    } else {
        let endless = of("Or", f("IsInf", a), f("IsInf", b));
        pick(endless, f64::INFINITY, f("Sqrt", a * a + b * b))
    };
    let size = size.write(l, DType::F64)?;
    let size = l.apply("Squeeze", &[size, last], &[])?;
    Ok(vec![l.cast(size, part)?])
}

/// The angle of numbers, from minus pi to pi: of real ones, 0, or pi below zero.
pub fn angle(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.is_complex(0) {
        let dtype = l.dtype_of(0)?;
        return Ok(vec![pick(of("Less", l.input(0)?, 0.0), std::f64::consts::PI, 0.0).write(l, dtype)?]);
    }
    let (parts, part) = (planes(l, 0)?, part(l, 0)?);
    Ok(vec![angle_of(l, parts[1], parts[0], part)?])
}

/// Arithmetic of complex numbers. Programs cast the other operand to them where it is real.
pub fn binary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let axis = l.attributes.int_or("axis", -1)?;
    errors::expect_value("attribute \"axis\"", axis, -1)?;
    let (own, other, part) = (columns(l, 0)?, columns(l, 1)?, part(l, 0)?);
    let ([a, b], [real, imaginary]) = (own, other.map(Term::from));
    let parts = match operator {
        "Add" => [a + real, b + imaginary],
        "Sub" => [a - real, b - imaginary],
        "Mul" => [a * real.clone() - b * imaginary.clone(), a * imaginary + b * real],
        "Div" => {
            // Divisors of float64 are scaled, as their squares may be out of range.
            let wide = part == DType::F64;
            let scale = of("Max", f("Abs", real.clone()), f("Abs", imaginary.clone()));
            let scaled = |part: Term| if wide { part / scale.clone() } else { part };
            let [real, imaginary] = [scaled(real), scaled(imaginary)];
            let square = real.clone() * real.clone() + imaginary.clone() * imaginary.clone();
            let sums = [a * real.clone() + b * imaginary.clone(), b * real - a * imaginary];
            sums.map(|sum| scaled(sum / square.clone()))
        }
        other => return Err(errors::text("operator of complex numbers", other, "Add, Sub, Mul or Div")),
    };
    number(l, parts, part)
}

/// `scale`: both parts times a real number, and a bias that is added to the real part.
pub fn scale(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let ([a, b], part) = (columns(l, 0)?, part(l, 0)?);
    let factor = if l.has(1) {
        let given = l.input(1)?;
        let given = l.reshape(given, &[])?;
        Term::from(l.cast(given, DType::F64)?)
    } else {
        Term::from(l.float("scale")?.unwrap_or(1.0))
    };
    let bias = l.float("bias")?.unwrap_or(0.0);
    let real = if l.attributes.flag("bias_after_scale", true)? {
        a * factor.clone() + bias
    } else {
        (a + bias) * factor.clone()
    };
    number(l, [real, b * factor], part)
}

/// The number of points that all axes of a transform have together, in a type.
fn points(l: &mut Lowering<'_>, axes: &[usize], last: Option<i64>, dtype: DType) -> Result<LoweredValue> {
    // The size of the first axis of the list may be another than that of the input.
    let (x, others) = (l.input(0)?, &axes[usize::from(last.is_some())..]);
    let which = l.list(&others.iter().map(|&axis| i64_of(axis)).collect::<Vec<_>>())?;
    let count = with("ReduceProd", [of("Gather", f("Shape", x), which)], [int("keepdims", 0)]).put(l)?;
    let count = l.cast(count, dtype)?;
    (count * nearest_f64(Number::Int(last.unwrap_or(1).into()))).write(l, dtype)
}

/// The spectrum of a signal from half of its frequencies, the others of which mirror them.
fn whole_spectrum(
    l: &mut Lowering<'_>,
    pairs: LoweredValue,
    (axis, given, len): (usize, Option<usize>, i64),
    part: DType,
) -> Result<LoweredValue> {
    let half = len / 2 + 1;
    let given = given.map(i64_of).ok_or_else(|| not_known(format!("size of axis {axis} of input 0")))?;
    let slice = |l: &mut Lowering<'_>, value, [start, end, step]: [i64; 3]| {
        let lists = [l.list(&[start])?, l.list(&[end])?, l.list(&[i64_of(axis)])?, l.list(&[step])?];
        l.apply("Slice", &[value, lists[0], lists[1], lists[2], lists[3]], &[])
    };
    let mut pairs = slice(l, pairs, [0, half, 1])?;
    if given < half {
        let (pads, axes) = (l.list(&[0, half - given])?, l.list(&[i64_of(axis)])?);
        let zero = Term::from(0.0).write(l, part)?;
        pairs = l.apply("Pad", &[pairs, pads, zero, axes], &[])?;
    }
    let mirror = slice(l, pairs, [len - half, 0, -1])?;
    let mirror = mirrored(l, mirror, part)?;
    l.apply("Concat", &[pairs, mirror], &[axis_is(axis)])
}

/// The graph of a transform, for runtimes that have one of a single axis.
pub fn fourier_graph(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (rank, sizes) = (l.rank_of(0)?, l.dims_of(0)?.to_vec());
    let (axes, forward) = (axes(&l.attributes, rank)?, l.attributes.flag("forward", true)?);
    let (part, back) = (part(l, 0)?, l.node_is("fft_c2r"));
    let mut pairs =
        if l.is_complex(0) { l.pairs(0)? } else { of("Unsqueeze", l.input(0)?, ints(&[-1])).put(l)? };
    let last = axes.first().filter(|_| back).map(|&axis| {
        let own = || sizes[axis].map(|size| 2 * (i64_of(size) - 1));
        let given = l.attributes.int_or("last_dim_size", 0)?;
        let len = if given > 0 { Some(given) } else { own() };
        len.ok_or_else(|| not_known(format!("size of axis {axis} of input 0")))
    });
    let last = last.transpose()?;
    let mut order: Vec<_> = axes.iter().copied().enumerate().collect();
    if back {
        order.reverse();
    }
    for (at, axis) in order {
        if let Some(len) = last.filter(|_| at == 0) {
            pairs = whole_spectrum(l, pairs, (axis, sizes[axis], len), part)?;
        }
        let halves = at == 0 && l.node_is("fft_r2c") && l.attributes.flag("onesided", true)?;
        let place = l.constant(Tensor::scalar(i64_of(axis)))?;
        // A real signal has half of its frequencies forward only.
        let mirrors = !forward && at == 0 && l.node_is("fft_r2c");
        let inverse = !forward && !mirrors;
        let how = [int("onesided", i64::from(halves)), int("inverse", i64::from(inverse))];
        pairs = l.apply("DFT", &[pairs, LoweredValue::NONE, place], &how)?;
        if mirrors {
            let size = l.input(0)?;
            let size =
                l.apply("Shape", &[size], &[int("start", i64_of(axis)), int("end", i64_of(axis) + 1)])?;
            let size = l.cast(size, part)?;
            pairs = mirrored(l, pairs, part)?;
            pairs = (pairs / size).write(l, part)?;
        }
    }
    // ONNX divides the inverse by the number of points.
    let count = points(l, &axes, last, part)?;
    let scaled = match (words::FOURIER.of(&l.attributes)?, forward) {
        ("ortho", true) => pairs / f("Sqrt", count),
        ("ortho", false) => pairs * f("Sqrt", count),
        ("forward", true) => pairs / count,
        ("forward", false) => pairs * count,
        _ => pairs.into(),
    };
    let pairs = scaled.write(l, part)?;
    if back {
        return Ok(vec![with("Gather", [pairs.into(), whole(0)], [int("axis", -1)]).put(l)?]);
    }
    Ok(vec![l.joined(pairs, part)?])
}
