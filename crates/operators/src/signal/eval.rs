//! Evaluation of operators on signals: windows, Fourier transforms, the mel scale.

use std::f64::consts::PI;

use gradus_core::convert::{float_of, nearest_f64, product, truncated, usize_of_i64};
use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::op::EvalContext;
use crate::signal::fourier::{self, Transform};
use crate::{errors, indices};

/// The number that windows begin with, and the factors of one and two periods of the cosine.
pub type Cosines = [f64; 3];

pub const HANN: Cosines = [0.5, -0.5, 0.0];
pub const HAMMING: Cosines = [25.0 / 46.0, 25.0 / 46.0 - 1.0, 0.0];
pub const BLACKMAN: Cosines = [0.42, -0.5, 0.08];

/// `HannWindow`, `HammingWindow`, `BlackmanWindow`: sums of cosines.
pub fn window(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let size = cx.output(0)?.1.len();
    let period = if attributes.flag("periodic", true)? { size } else { size.saturating_sub(1) };
    let cosines = match cx.operator {
        "HannWindow" => HANN,
        "HammingWindow" => HAMMING,
        _ => BLACKMAN,
    };
    let element = |at: usize| {
        let angle = 2.0 * PI * float_of(at) / float_of(period);
        // In this order the sums of all windows reach 1.
        cosines[1] * libm::cos(angle) + cosines[2] * libm::cos(2.0 * angle) + cosines[0]
    };
    let numbers: Vec<_> = (0..size).map(element).collect();
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// Tables for a number of transforms of a length, whose work and bytes are counted.
pub fn transform(cx: &mut EvalContext<'_>, transforms: usize, len: usize, sign: f64) -> Result<Transform> {
    cx.reserve(fourier::bytes(len))?;
    cx.run.touch(fourier::work(len).saturating_mul(product(transforms, 1)))?;
    Transform::new(len, sign, &cx.limits())
}

/// The numbers of a signal, real or complex by its last axis.
fn complex(numbers: &[f64], parts: usize) -> Vec<(f64, f64)> {
    numbers.chunks(parts.max(1)).map(|x| (x[0], x.get(1).copied().unwrap_or(0.0))).collect()
}

/// `DFT`: the discrete Fourier transform along an axis.
pub fn dft(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    let axis = if cx.has(2) { cx.integer(2)? } else { -2 };
    let axis = indices::axis(axis, dims.len())?;
    let (one_sided, inverse) = (attributes.flag("onesided", false)?, attributes.flag("inverse", false)?);
    let (_, shape) = cx.output(0)?;
    let wanted = shape.dims()[axis];
    let len = match cx.maybe_integers(1)? {
        Some(given) => given.first().and_then(|&len| usize_of_i64(len)).unwrap_or(0),
        None if one_sided && inverse => wanted,
        None => dims[axis],
    };
    let signal = complex(&cx.floats(0)?, dims[dims.len() - 1]);
    if shape.is_empty() {
        return Ok(vec![cx.rounded(0, &[])?]);
    }
    let inner: usize = dims[axis + 1..dims.len() - 1].iter().product();
    let outer: usize = dims[..axis].iter().product();
    let sign = if inverse { 1.0 } else { -1.0 };
    let transform = transform(cx, outer.saturating_mul(inner), len, sign)?;
    let parts = shape.dims()[dims.len() - 1];
    let mut y = vec![0.0; shape.len()];
    for row in 0..outer * inner {
        cx.limits().check()?;
        let at = |index: usize, size: usize| (row / inner * size + index) * inner + row % inner;
        let mut x: Vec<_> = (0..len.min(dims[axis])).map(|index| signal[at(index, dims[axis])]).collect();
        if one_sided && inverse {
            // The other half mirrors the given one.
            let known = x.len();
            x.truncate(len / 2 + 1);
            x.resize(len, (0.0, 0.0));
            for index in (len / 2 + 1..len).filter(|index| len - index < known) {
                let (a, b) = x[len - index];
                x[index] = (a, -b);
            }
        }
        x.resize(len, (0.0, 0.0));
        let frequencies = transform.of(&x, &cx.limits())?;
        let factor = if inverse { float_of(len) } else { 1.0 };
        for (index, &(a, b)) in frequencies.iter().enumerate().take(wanted) {
            let place = at(index, wanted) * parts;
            y[place] = a / factor;
            if parts > 1 {
                y[place + 1] = b / factor;
            }
        }
    }
    Ok(vec![cx.rounded(0, &y)?])
}

/// `STFT`: discrete Fourier transforms of windowed frames of a signal.
pub fn stft(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    let step = cx.integer(1)?;
    let step = usize_of_i64(step).filter(|&step| step > 0);
    let step = step.ok_or_else(|| errors::value("frame_step", 0, "at least 1"))?;
    let (_, shape) = cx.output(0)?;
    let &[batch, frames, bins, _] = shape.dims() else {
        return Err(errors::rank("input 0", dims.len(), "2 or 3"));
    };
    let window = cx.maybe_floats(2)?;
    let len = match (cx.maybe_integers(3)?, &window) {
        (Some(len), _) => len.first().and_then(|&len| usize_of_i64(len)).unwrap_or(0),
        (None, Some(window)) => window.len(),
        (None, None) => dims[1],
    };
    let parts = if dims.len() > 2 { dims[2] } else { 1 };
    let signal = complex(&cx.floats(0)?, parts);
    let transform = transform(cx, batch.saturating_mul(frames), len, -1.0)?;
    let mut y = vec![0.0; shape.len()];
    for (row, target) in y.chunks_mut((2 * bins).max(1)).enumerate() {
        cx.limits().check()?;
        let first = row / frames * dims[1] + row % frames * step;
        let weighted = |(at, &(a, b)): (usize, &(f64, f64))| {
            let weight = window.as_ref().map_or(1.0, |window| window[at]);
            (a * weight, b * weight)
        };
        let frame: Vec<_> = signal[first..first + len].iter().enumerate().map(weighted).collect();
        for (pair, (a, b)) in target.chunks_mut(2).zip(transform.of(&frame, &cx.limits())?) {
            pair.copy_from_slice(&[a, b]);
        }
    }
    Ok(vec![cx.rounded(0, &y)?])
}

/// `MelWeightMatrix`: triangles over the bins of a spectrum.
pub fn mel_weights(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let number = |input: usize| Ok::<_, gradus_core::Error>(nearest_f64(cx.tensor(input)?.only_number()?));
    let (len, rate, low, high) = (number(1)?, number(2)?, number(3)?, number(4)?);
    let (_, shape) = cx.output(0)?;
    let &[spectrum, bins] = shape.dims() else { return Err(errors::rank("output 0", shape.rank(), 2)) };
    let ten = std::f64::consts::LN_10;
    let mel = |hertz: f64| 2595.0 * libm::log1p(hertz / 700.0) / ten;
    let step = (mel(high) - mel(low)) / float_of(bins + 2);
    cx.reserve(product(bins, 16))?;
    let edges = (0..bins + 2).map(|at| {
        let hertz = 700.0 * libm::expm1((float_of(at) * step + mel(low)) / 2595.0 * ten);
        let bin = truncated(((len + 1.0) * hertz / rate).floor()).and_then(|bin| usize::try_from(bin).ok());
        let bin = bin.filter(|&bin| bin < spectrum);
        bin.ok_or_else(|| errors::value("edge of a mel bin in hertz", hertz, "a frequency of the spectrum"))
    });
    let edges = edges.collect::<Result<Vec<_>>>()?;
    let mut y = vec![0.0; shape.len()];
    for (bin, edge) in edges.windows(3).enumerate() {
        let [low, center, high] = [edge[0], edge[1], edge[2]];
        if low == center {
            y[center * bins + bin] = 1.0;
        }
        for at in low..=center.min(spectrum) {
            if low != center {
                y[at * bins + bin] = float_of(at.abs_diff(low)) / float_of(center.abs_diff(low));
            }
        }
        for at in center..high {
            y[at * bins + bin] = float_of(high - at) / float_of(high - center);
        }
    }
    Ok(vec![cx.rounded(0, &y)?])
}
