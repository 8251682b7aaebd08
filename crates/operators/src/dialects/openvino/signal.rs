//! `ISTFT` of OpenVINO: a signal from the spectra of its frames, which overlap.

use gradus_core::convert::{i64_of, nearest_f64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Tensor};

use crate::dialects::boxes::expect_rank;
use crate::dialects::indices::{positions, size};
use crate::errors;
use crate::lowering::terms::{cast, f, ints, of, pick, shaped, with};
use crate::lowering::{LoweredValue, Lowering, along, int};

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

pub fn inverse_stft(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 1, 1)?;
    let (rank, dtype) = (l.rank_of(0)?, l.dtype_of(0)?);
    if !(3..=4).contains(&rank) {
        return Err(errors::rank("input 0", rank, "3 or 4"));
    }
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
