//! Windows as sums of cosines, and Fourier transforms as products with matrices, in operator sets
//! and standards that lack them; and `ISTFT` of OpenVINO.

use std::f64::consts::PI;

use gradus_core::convert::{Rules, float_of, i64_of, nearest_f64, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Shape, Tensor};

use crate::conversion::report::cannot;
use crate::dialects::boxes::{expect_rank, expect_sizes};
use crate::dialects::indices::{positions, size};
use crate::lowering::terms::{cast, f, ints, of, pick, shaped, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, int, wide};
use crate::signal::eval::Cosines;
use crate::{errors, indices};

/// `HannWindow` and its like: sums of cosines, in float64.
pub fn window(l: &mut Lowering<'_>, factors: Cosines) -> Result<Vec<LoweredValue>> {
    let dtype = l.attributes.dtype("output_datatype")?.unwrap_or(DType::F32);
    let size = l.input(0)?;
    let size = l.cast(size, DType::I64)?;
    let steps = l.up_to(size)?;
    let mut period = l.cast(size, DType::F64)?;
    let constant = |l: &mut Lowering<'_>, value: f64| l.constant(Tensor::scalar(value));
    if !l.attributes.flag("periodic", true)? {
        let one = constant(l, 1.0)?;
        period = l.apply("Sub", &[period, one], &[])?;
    }
    let turn = constant(l, 2.0 * PI)?;
    let angle = (cast(steps, DType::F64) * turn / period).put(l)?;
    let wave = |l: &mut Lowering<'_>, angle: LoweredValue, factor: f64| {
        let cosine = l.apply("Cos", &[angle], &[])?;
        let factor = l.constant(Tensor::scalar(factor))?;
        l.apply("Mul", &[cosine, factor], &[])
    };
    let mut sum = wave(l, angle, factors[1])?;
    if factors[2] != 0.0 {
        let twice = l.apply("Add", &[angle, angle], &[])?;
        let second = wave(l, twice, factors[2])?;
        sum = l.apply("Add", &[sum, second], &[])?;
    }
    let first = constant(l, factors[0])?;
    let sum = l.apply("Add", &[sum, first], &[])?;
    Ok(vec![l.cast(sum, dtype)?])
}

/// The largest number of elements of a matrix.
const MAX_ELEMENTS: usize = 1 << 24;

/// A transform of one axis.
struct AxisTransform {
    /// The number of elements that are given, and of those that are transformed.
    given: usize,
    len: usize,
    /// 1 for real elements, and 2 for complex ones.
    parts: usize,
    inverse: bool,
    one_sided: bool,
}

impl AxisTransform {
    /// The number of elements and of their parts in the result.
    fn result(&self) -> [usize; 2] {
        match (self.one_sided, self.inverse) {
            (true, false) => [self.len / 2 + 1, 2],
            (true, true) => [self.len, 1],
            (false, _) => [self.len, 2],
        }
    }

    /// The sizes of the matrix by which the parts of given elements are multiplied.
    fn sizes(&self) -> Result<[usize; 2]> {
        let [bins, parts] = self.result();
        let sizes = [self.given.saturating_mul(self.parts), bins.saturating_mul(parts)];
        if self.len > 0 && sizes[0].checked_mul(sizes[1]).is_some_and(|count| count <= MAX_ELEMENTS) {
            return Ok(sizes);
        }
        let [rows, columns] = sizes;
        let (most, sizes) = (format_args!("at most {MAX_ELEMENTS}"), format_args!("{rows} x {columns}"));
        Err(cannot(format!("cannot convert: elements of a matrix are {sizes}, expected {most}")))
    }

    /// The matrix of these sizes.
    fn matrix(&self, dtype: DType) -> Result<Tensor> {
        let ([rows, columns], [_, parts], len) = (self.sizes()?, self.result(), self.len);
        let (sign, factor) = if self.inverse { (1.0, 1.0 / float_of(len)) } else { (-1.0, 1.0) };
        let element = |index: usize| {
            let (row, column) = (index / columns, index % columns);
            let (at, of_given) = (row / self.parts, row % self.parts);
            let (bin, of_result) = (column / parts, column % parts);
            // The other half of a result that is real mirrors the given one.
            let mirrors = self.one_sided && self.inverse;
            let last = if mirrors { len / 2 + 1 } else { len };
            if at >= last {
                return 0.0;
            }
            let twice = mirrors && at > 0 && 2 * at != len;
            let angle = sign * 2.0 * PI * float_of(at * bin % len) / float_of(len);
            let turned = match (of_given, of_result) {
                (0, 0) | (1, 1) => libm::cos(angle),
                (0, _) => libm::sin(angle),
                _ => -libm::sin(angle),
            };
            turned * factor * if twice { 2.0 } else { 1.0 }
        };
        let numbers = (0..rows * columns).map(element).map(Number::Float).collect::<Vec<_>>();
        Tensor::from_numbers(dtype, Shape::new([rows, columns])?, numbers, Rules::IEEE)
    }
}

/// The first integer that an input holds, if it is given and known.
fn first(l: &Lowering<'_>, input: usize) -> Result<Option<i64>> {
    Ok(l.known_integers(input)?.and_then(|all| all.first().copied()))
}

/// The product of the last two axes with a matrix, which gives axes of these sizes.
fn product(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    rank: usize,
    (transform, dtype): (&AxisTransform, DType),
) -> Result<LoweredValue> {
    let matrix = l.constant(transform.matrix(dtype)?)?;
    let kept = vec![0; rank - 2];
    let [given, parts] = [transform.given, transform.parts].map(i64_of);
    let flat = of("Reshape", x, ints(&[&kept[..], &[given * parts]].concat())).put(l)?;
    let y = l.apply("MatMul", &[flat, matrix], &[])?;
    let dims = l.list(&[kept, transform.result().map(i64_of).to_vec()].concat())?;
    l.apply("Reshape", &[y, dims], &[])
}

/// `DFT` in operator sets that lack it.
pub fn dft(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (one_sided, inverse) = (l.attributes.flag("onesided", false)?, l.attributes.flag("inverse", false)?);
    let (own, rank) = (l.dtype_of(0)?, l.rank_of(0)?);
    let parts = rank.checked_sub(1).and_then(|last| l.known_size(0, last)).and_then(usize_of_i64);
    let parts = parts.ok_or_else(|| l.unknown("number of parts of elements"))?;
    let axis = match l.attributes.int("axis")? {
        Some(axis) => axis,
        None if !l.has(2) => -2,
        None => first(l, 2)?.ok_or_else(|| l.unknown("axis of DFT"))?,
    };
    let axis = indices::axis(axis, rank)?;
    if axis + 1 >= rank {
        return Err(cannot("cannot convert: DFT of the axis of the parts"));
    }
    let given = l.known_size(0, axis).and_then(usize_of_i64);
    let given = given.ok_or_else(|| l.unknown("size of the axis of DFT"))?;
    let len = match l.has(1) {
        true => first(l, 1)?.and_then(usize_of_i64).ok_or_else(|| l.unknown("length of DFT"))?,
        false if one_sided && inverse => given.saturating_sub(1).saturating_mul(2),
        false => given,
    };
    let transform = AxisTransform { given, len, parts, inverse, one_sided };
    let (mut x, dtype) = (l.input(0)?, wide(own));
    x = l.in_type(x, own, dtype)?;
    // The axis is the last but that of the parts.
    let mut order: Vec<_> = (0..i64_of(rank)).collect();
    let moves = axis + 2 < rank;
    if moves {
        order[axis..rank - 1].rotate_left(1);
        x = l.transposed(x, &order)?;
    }
    let mut y = product(l, x, rank, (&transform, dtype))?;
    if moves {
        order = (0..i64_of(rank)).collect();
        order[axis..rank - 1].rotate_right(1);
        y = l.transposed(y, &order)?;
    }
    Ok(vec![l.in_type(y, dtype, own)?])
}

/// `STFT` in operator sets that lack it: the frames are gathered, and all transformed at once.
pub fn stft(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (own, rank) = (l.dtype_of(0)?, l.rank_of(0)?);
    let parts = if rank == 2 { Some(1) } else { l.known_size(0, 2).and_then(usize_of_i64) };
    let parts = parts.ok_or_else(|| l.unknown("number of parts of elements"))?;
    let of_window = if l.has(2) { l.known_size(2, 0).and_then(usize_of_i64) } else { None };
    let len = first(l, 3)?.and_then(usize_of_i64).or(of_window);
    let len = len.ok_or_else(|| l.unknown("length of the frames of STFT"))?;
    let one_sided = l.attributes.flag("onesided", true)?;
    let transform = AxisTransform { given: len, len, parts, inverse: false, one_sided };
    // Places are listed before the matrix is made.
    transform.sizes()?;
    let (mut x, dtype) = (l.input(0)?, wide(own));
    x = l.in_type(x, own, dtype)?;
    // A frame begins at each step that leaves room for it.
    let end = with("Gather", [f("Shape", x), whole(1)], [along(0)]) - whole(i64_of(len) - 1);
    let step = cast(of("Reshape", l.input(1)?, ints(&[])), DType::I64);
    let starts = of("Reshape", with("Range", [whole(0), end, step], []), ints(&[-1, 1]));
    let places = starts + ints(&(0..i64_of(len)).collect::<Vec<_>>());
    let mut frames = with("Gather", [x.into(), places], [along(1)]);
    if l.has(2) {
        let window = l.input(2)?;
        let window = l.in_type(window, own, dtype)?;
        frames = frames * if rank == 2 { window.into() } else { of("Reshape", window, ints(&[-1, 1])) };
    }
    if rank == 2 {
        frames = of("Reshape", frames, ints(&[0, 0, 0, 1]));
    }
    let frames = frames.write(l, dtype)?;
    let y = product(l, frames, 4, (&transform, dtype))?;
    Ok(vec![l.in_type(y, dtype, own)?])
}

/// An integer that an input holds, and its least value.
fn held(l: &Lowering<'_>, input: usize, least: i64) -> Result<i64> {
    let all = l.integers_of(input)?;
    match *all {
        [held] if held >= least => Ok(held),
        [held] => Err(errors::value(format_args!("input {input}"), held, format_args!("at least {least}"))),
        _ => Err(errors::count(&format!("elements of input {input}"), all.len(), 1)),
    }
}

/// The sums of frames that begin a step after each other, of rows of all frames.
fn overlapped(
    l: &mut Lowering<'_>,
    frames: LoweredValue,
    places: LoweredValue,
    len: LoweredValue,
    dtype: DType,
) -> Result<LoweredValue> {
    let flat = l.reshape(frames, &[0, -1])?;
    let places = of("Expand", places, f("Shape", flat)).put(l)?;
    let count = size(l, flat, 0)?;
    let zero = l.constant(Tensor::scalar(0.0))?;
    let zeros =
        of("Expand", cast(zero, dtype), with("Concat", [count.into(), len.into()], [along(0)])).put(l)?;
    let adds = ("reduction", Content::Bytes("add".into()));
    l.apply("ScatterElements", &[zeros, places, flat], &[along(1), adds])
}

/// `ISTFT` of OpenVINO: a signal from the Fourier transforms of its frames.
pub fn inverse_stft(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 1, 1)?;
    let (rank, dtype) = (l.rank_of(0)?, l.dtype_of(0)?);
    if !(3..=4).contains(&rank) {
        return Err(errors::rank("input 0", rank, "3 or 4"));
    }
    let sizes = [vec![None; rank - 1], vec![Some(2)]].concat();
    expect_sizes(l, 0, &sizes)?;
    let (len, step) = (held(l, 2, 1)?, held(l, 3, 1)?);
    let (center, normalized) = (l.attributes.flag("center", false)?, l.attributes.flag("normalized", false)?);
    let bins = len / 2 + 1;
    if let Some(given) = l.dims_of(0)?[rank - 3].map(i64_of)
        && given != bins
    {
        return Err(errors::value(format_args!("dimension {} of input 0", rank - 3), given, bins));
    }
    if let Some(window) = l.dims_of(1)?[0].map(i64_of)
        && window > len
    {
        return Err(errors::value("size of input 1", window, format_args!("at most {len}")));
    }
    // [signal, frame, frequency, 2]
    let (x, window) = (l.input(0)?, l.input(1)?);
    let x = if rank == 3 { of("Unsqueeze", x, ints(&[0])).put(l)? } else { x };
    let half = l.transposed(x, &[0, 2, 1, 3])?;
    // The other half of a spectrum is that of a real signal.
    let (from, to, axes, back) = (l.list(&[len - bins])?, l.list(&[0])?, l.list(&[2])?, l.list(&[-1])?);
    let other = l.apply("Slice", &[half, from, to, axes, back], &[])?;
    let signs = l.constant(Tensor::vector(&[1.0, -1.0]))?;
    let other = (other * cast(signs, dtype)).write(l, dtype)?;
    let full = l.apply("Concat", &[half, other], &[int("axis", 2)])?;
    let (none, axis) = (LoweredValue::NONE, l.constant(Tensor::scalar(2i64))?);
    let frames = l.apply("DFT", &[full, none, axis], &[int("inverse", 1)])?;
    let real = l.constant(Tensor::scalar(0i64))?;
    // The window lies in the middle of a frame.
    let given = size(l, window, 0)?;
    let missing = (l.list(&[len])? - given).write(l, DType::I64)?;
    let before = (missing / 2i64).write(l, DType::I64)?;
    let after = (missing - before).write(l, DType::I64)?;
    let window = of("Pad", window, with("Concat", [before.into(), after.into()], [along(0)])).put(l)?;
    let scale = if normalized { nearest_f64(Number::Int(len.into())).sqrt() } else { 1.0 };
    let frames =
        (with("Gather", [frames.into(), real.into()], [int("axis", 3)]) * window * scale).write(l, dtype)?;
    let (count, size_of) = (size(l, half, 1)?, l.list(&[len])?);
    let (starts, within) = (positions(l, count)?, positions(l, size_of)?);
    let places = (shaped(starts, &[-1, 1]) * step + within).write(l, DType::I64)?;
    let dims = l.shape(places)?;
    let places = l.reshape(places, &[1, -1])?;
    let all = ((count - 1i64) * step + len).write(l, DType::I64)?;
    let sums = overlapped(l, frames, places, all, dtype)?;
    let squares = (window * window).write(l, dtype)?;
    let squares = l.apply("Expand", &[squares, dims], &[])?;
    let squares = l.reshape(squares, &[1, -1])?;
    let weights = overlapped(l, squares, places, all, dtype)?;
    let some = of("Greater", weights, 0.0);
    let mut signal = pick(some.clone(), sums / pick(some, weights, 1.0), 0.0).write(l, dtype)?;
    let margin = if center { len / 2 } else { 0 };
    let from = l.list(&[margin])?;
    if l.has(4) {
        let wanted = held(l, 4, 0)?;
        let (to, before) = (l.list(&[margin.saturating_add(wanted)])?, l.list(&[0, 0, 0])?);
        signal = l.between(signal, [from, to], 1)?;
        let own = size(l, signal, 1)?;
        let missing = (l.list(&[wanted])? - own).write(l, DType::I64)?;
        signal = of("Pad", signal, with("Concat", [before.into(), missing.into()], [along(0)])).put(l)?;
    } else {
        let to = (all - margin).write(l, DType::I64)?;
        signal = l.between(signal, [from, to], 1)?;
    }
    Ok(vec![if rank == 3 { l.reshape(signal, &[-1])? } else { signal }])
}
