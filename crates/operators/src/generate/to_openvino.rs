//! Conversion of Fourier transforms and of random numbers of ONNX to OpenVINO.

use std::f64::consts::PI;

use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::types::named;
use crate::conversion::writer::{NONE, NewValue};

/// An input of one integer as a list, if it is given.
fn length(cx: &mut ConvertContext<'_, '_>, input: usize) -> Result<NewValue> {
    if !cx.has(input) {
        return Ok(NONE);
    }
    let value = cx.input(input)?;
    cx.reshaped(value, &[1])
}

/// Transforms of numbers whose parts are the last axis, which OpenVINO lacks where they are real.
pub fn dft(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let rank = cx.rank(0)?;
    let axis = if cx.has(2) { cx.integer(2)? } else { -2 };
    let axis = cx.axis(axis, 0)?;
    let (one_sided, inverse) =
        (cx.attributes.flag("onesided", false)?, cx.attributes.flag("inverse", false)?);
    let parts = cx.known_size(0, rank - 1).ok_or_else(|| not_known("number of parts of elements"))?;
    let (mut x, len, axes, last) =
        (cx.input(0)?, length(cx, 1)?, cx.list(&[i64::try_from(axis).unwrap_or(0)]), cx.list(&[-1]));
    if one_sided && !inverse {
        if parts != 1 {
            return Err(cannot("OpenVINO has no equivalent of DFT with onesided=1 of complex numbers"));
        }
        let x = cx.put("Squeeze", &[x, last], &[])?;
        return Ok(vec![cx.put("RDFT", &[x, axes, len], &[])?]);
    }
    if parts == 1 {
        let dtype = cx.dtype(0)?;
        let (zero, sizes) = (cx.number(0.0, dtype)?, cx.shape_of(x)?);
        let imaginary = cx.put("Broadcast", &[zero, sizes], &[say("mode", "numpy")])?;
        x = cx.put("Concat", &[x, imaginary], &[say("axis", rank - 1)])?;
    }
    if one_sided {
        let y = cx.put("IRDFT", &[x, axes, len], &[])?;
        return Ok(vec![cx.put("Unsqueeze", &[y, last], &[])?]);
    }
    Ok(vec![cx.put(if inverse { "IDFT" } else { "DFT" }, &[x, axes, len], &[])?])
}

/// Transforms of windows of real signals.
pub fn stft(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let mut signal = cx.input(0)?;
    if !cx.attributes.flag("onesided", true)? {
        return Err(cannot("OpenVINO has no equivalent of STFT with onesided=0"));
    }
    if cx.rank(0)? == 3 {
        if cx.known_size(0, 2) != Some(1) {
            return Err(cannot("OpenVINO has no equivalent of STFT of complex numbers"));
        }
        let last = cx.list(&[-1]);
        signal = cx.put("Squeeze", &[signal, last], &[])?;
    }
    let step = cx.scalar_input(1)?;
    let dtype = cx.dtype(0)?;
    let (window, len) = match (cx.has(2), cx.has(3)) {
        (true, true) => (cx.input(2)?, cx.scalar_input(3)?),
        (true, false) => {
            let window = cx.input(2)?;
            let len = cx.shape_of(window)?;
            (window, cx.reshaped(len, &[])?)
        }
        (false, given) => {
            let len = if given {
                cx.scalar_input(3)?
            } else {
                let sizes = cx.shape_of(signal)?;
                let len = cx.sliced(sizes, 1, 2)?;
                cx.reshaped(len, &[])?
            };
            let (one, list) = (cx.number(1.0, dtype)?, cx.reshaped(len, &[1])?);
            (cx.put("Broadcast", &[one, list], &[say("mode", "numpy")])?, len)
        }
    };
    if dtype == DType::F64 {
        return Err(cannot("OpenVINO has no equivalent of STFT of float64"));
    }
    Ok(vec![cx.put("STFT", &[signal, window, len, step], &[say("transpose_frames", false)])?])
}

/// Seeds: without one, each run draws other numbers.
fn seeds(cx: &ConvertContext<'_, '_>) -> Result<[(&'static str, gradus_core::graph::Content); 2]> {
    let seed = cx.attributes.float("seed")?.map_or(0, f32::to_bits);
    Ok([say("global_seed", 0), say("op_seed", seed)])
}

/// Numbers from 0 to below 1, in float32: as many as the first input has, or the attribute says.
fn drawn(cx: &mut ConvertContext<'_, '_>) -> Result<NewValue> {
    cx.edges(caveats::DRAWN);
    let sizes = match cx.attributes.ints("shape")? {
        Some(shape) => cx.list(shape),
        None if cx.has(0) => {
            let like = cx.input(0)?;
            cx.shape_of(like)?
        }
        None => cx.list(&[]),
    };
    let (low, high) = (cx.number(0.0, DType::F32)?, cx.number(1.0, DType::F32)?);
    let [global, own] = seeds(cx)?;
    let attributes = [named("output_type", DType::F32)?, global, own];
    cx.put("RandomUniform", &[sizes, low, high], &attributes)
}

/// The type of the result: that of the attribute, of the input, or float32.
fn result_type(cx: &ConvertContext<'_, '_>) -> Result<DType> {
    match cx.attributes.dtype("dtype")? {
        Some(dtype) => Ok(dtype),
        None if cx.has(0) => cx.dtype(0),
        None => Ok(DType::F32),
    }
}

/// `value * factor + term`, in the type of the result.
fn scaled(
    cx: &mut ConvertContext<'_, '_>,
    value: NewValue,
    [factor, term]: [f32; 2],
) -> Result<Vec<NewValue>> {
    let (factor, term) = (cx.number(factor.into(), DType::F32)?, cx.number(term.into(), DType::F32)?);
    let value = cx.put("Multiply", &[value, factor], &[numpy()])?;
    let value = cx.put("Add", &[value, term], &[numpy()])?;
    let dtype = result_type(cx)?;
    Ok(vec![cx.converted(value, dtype)?])
}

fn parameter(cx: &ConvertContext<'_, '_>, name: &str, default: f32) -> Result<f32> {
    Ok(cx.attributes.float(name)?.unwrap_or(default))
}

/// `RandomUniform`, `RandomUniformLike`.
pub fn uniform(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (low, high) = (parameter(cx, "low", 0.0)?, parameter(cx, "high", 1.0)?);
    let value = drawn(cx)?;
    scaled(cx, value, [high - low, low])
}

/// `RandomNormal`, `RandomNormalLike`: a radius and an angle of two random numbers.
pub fn normal(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (mean, scale) = (parameter(cx, "mean", 0.0)?, parameter(cx, "scale", 1.0)?);
    let [one, minus_two, turn] =
        [cx.number(1.0, DType::F32)?, cx.number(-2.0, DType::F32)?, cx.number(2.0 * PI, DType::F32)?];
    let below_one = drawn(cx)?;
    let above_zero = cx.put("Subtract", &[one, below_one], &[numpy()])?;
    let log = cx.put("Log", &[above_zero], &[])?;
    let square = cx.put("Multiply", &[log, minus_two], &[numpy()])?;
    let radius = cx.put("Sqrt", &[square], &[])?;
    let part = drawn(cx)?;
    let angle = cx.put("Multiply", &[part, turn], &[numpy()])?;
    let cosine = cx.put("Cos", &[angle], &[])?;
    let value = cx.put("Multiply", &[radius, cosine], &[numpy()])?;
    scaled(cx, value, [scale, mean])
}

/// Ones with the probability that the input says.
pub fn bernoulli(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let probability = cx.input(0)?;
    let probability = cx.converted(probability, DType::F32)?;
    let value = drawn(cx)?;
    let one = cx.put("Less", &[value, probability], &[numpy()])?;
    let dtype = result_type(cx)?;
    Ok(vec![cx.converted(one, dtype)?])
}

/// Classes, by the logarithms of their probabilities.
pub fn multinomial(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges(caveats::DRAWN);
    let (logits, count) = (cx.input(0)?, cx.list(&[cx.attributes.int_or("sample_size", 1)?]));
    let dtype = cx.attributes.dtype("dtype")?.unwrap_or(DType::I32);
    let [global, own] = seeds(cx)?;
    let attributes =
        [named("convert_type", dtype)?, say("with_replacement", true), say("log_probs", true), global, own];
    Ok(vec![cx.put("Multinomial", &[logits, count], &attributes)?])
}
