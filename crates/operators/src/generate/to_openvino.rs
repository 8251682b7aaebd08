//! Random numbers in the operators of OpenVINO.

use std::f64::consts::PI;

use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::types::named;
use crate::conversion::writer::NewValue;

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

/// A Dropout where nothing trains: all elements, and a mask of ones.
pub fn dropout(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let trains = cx.attributes.form().is(crate::normalize::Older::Training)
        && !cx.attributes.flag("is_test", false)?;
    if trains || (cx.has(2) && cx.known_integers(2)?.as_deref() != Some(&[0])) {
        return Err(cannot("OpenVINO has no equivalent of Dropout in training"));
    }
    let (x, dtype) = (cx.input(0)?, cx.dtype(0)?);
    let mut outputs = vec![cx.target.copy(x, Some(dtype))?];
    if cx.wants(1) {
        let id = cx.node.outputs[1].expect("only outputs that the node has are wanted");
        let dtype = cx.scope.fact(id).dtype().unwrap_or(DType::Bool);
        let (shape, one) = (cx.shape_of(x)?, cx.number(1.0, dtype)?);
        outputs.push(cx.put("Broadcast", &[one, shape], &[say("mode", "numpy")])?);
    }
    Ok(outputs)
}
