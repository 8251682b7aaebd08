//! Normalizations and what is added before them, as graphs of ONNX's operators, in float64.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::contrib::values::{channels_second, like_first, number, plus, wide_input};
use crate::errors;
use crate::lowering::terms::{f, ints, of};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::words;

/// Normalizes groups of channels, and applies the function that `activation` names.
fn normalized_groups(l: &mut Lowering<'_>, x: LoweredValue) -> Result<LoweredValue> {
    let groups = l.attributes.int_or("groups", 1)?;
    let epsilon = l.attributes.float("epsilon")?.unwrap_or(1e-5);
    let silu = match l.attributes.int_or("activation", 0)? {
        0 => false,
        1 => true,
        other => return Err(errors::value("attribute \"activation\"", other, "0 or 1")),
    };
    let (rank, last) = (l.rank_of(0)?, l.attributes.flag("channels_last", true)?);
    let (gamma, beta) = (wide_input(l, 1)?, wide_input(l, 2)?);
    channels_second(l, rank, last, x, |l, x| {
        let attributes = [int("num_groups", groups), ("epsilon", Content::Float(epsilon))];
        let value = l.apply("GroupNormalization", &[x, gamma, beta], &attributes)?;
        if !silu {
            return Ok(value);
        }
        let gate = l.apply("Sigmoid", &[value], &[])?;
        l.apply("Mul", &[value, gate], &[])
    })
}

/// `GroupNorm` of ONNX Runtime: groups of channels, normalized, with an optional activation.
pub fn group_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = wide_input(l, 0)?;
    let value = normalized_groups(l, x)?;
    like_first(l, value)
}

/// `SkipGroupNorm`: the sum of input, skipped input and bias, normalized; and the sum.
pub fn skip_group_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mut skip = wide_input(l, 3)?;
    if l.rank_of(3)? == 2 {
        skip = of("Unsqueeze", skip, ints(&[1, 2])).put(l)?;
    }
    let sum = wide_input(l, 0)?;
    let sum = l.apply("Add", &[sum, skip], &[])?;
    let sum = plus(l, sum, 4)?;
    let value = normalized_groups(l, sum)?;
    let dtype = l.dtype_of(0)?;
    Ok(vec![l.cast(value, dtype)?, l.cast(sum, dtype)?])
}

/// Numbers divided by the root of the mean of their squares over the last axis.
fn root_mean_square(l: &mut Lowering<'_>, x: LoweredValue) -> Result<LoweredValue> {
    let epsilon = l.attributes.float("epsilon")?.unwrap_or(1e-5);
    let epsilon = number(l, epsilon.into())?;
    let mean = of("ReduceMean", x * x, ints(&[-1])).put(l)?;
    let root = f("Sqrt", mean + epsilon).put(l)?;
    l.apply("Div", &[x, root], &[])
}

/// `GatedRMSNorm`: normalized groups of the last axis, times a scale and a gate.
pub fn gated_rms_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let silu = words::GATE_ACTIVATION.of(&l.attributes)? != "sigmoid";
    let x = wide_input(l, 0)?;
    let width = i64_of(l.len_of(1)?);
    let rows = l.reshape(x, &[-1, width])?;
    let rows = root_mean_square(l, rows)?;
    let by = wide_input(l, 1)?;
    let value = of("Reshape", rows * by, f("Shape", x)).put(l)?;
    let gate = wide_input(l, 2)?;
    let mut factor = l.apply("Sigmoid", &[gate], &[])?;
    if silu {
        factor = l.apply("Mul", &[gate, factor], &[])?;
    }
    let value = l.apply("Mul", &[value, factor], &[])?;
    like_first(l, value)
}

/// Numbers that are normalized over the last axes, with their mean and the inverse of their
/// deviation.
pub fn normalized(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    axes: &[i64],
    epsilon: f32,
    centered: bool,
) -> Result<[LoweredValue; 3]> {
    let (axes, epsilon, one) = (l.list(axes)?, number(l, epsilon.into())?, number(l, 1.0)?);
    let mean = l.apply("ReduceMean", &[x, axes], &[])?;
    let x = if centered { l.apply("Sub", &[x, mean], &[])? } else { x };
    let variance = of("ReduceMean", x * x, axes).put(l)?;
    let deviation = f("Sqrt", variance + epsilon).put(l)?;
    let inverse = l.apply("Div", &[one, deviation], &[])?;
    Ok([l.apply("Mul", &[x, inverse], &[])?, mean, inverse])
}

/// Normalized numbers times a scale, and shifted.
fn scaled(l: &mut Lowering<'_>, x: LoweredValue, scale: usize, shift: usize) -> Result<LoweredValue> {
    let mut value = x;
    if l.has(scale) {
        let scale = wide_input(l, scale)?;
        value = l.apply("Mul", &[value, scale], &[])?;
    }
    plus(l, value, shift)
}

/// The outputs of a normalization: the first in the type of the input, statistics in float32.
fn normalization(l: &mut Lowering<'_>, all: &[(LoweredValue, bool)]) -> Result<Vec<LoweredValue>> {
    let dtype = l.dtype_of(0)?;
    all.iter().map(|&(value, own)| l.cast(value, if own { dtype } else { DType::F32 })).collect()
}

/// `SkipLayerNormalization`, and its like without a mean.
pub fn skip_layer(l: &mut Lowering<'_>, centered: bool) -> Result<Vec<LoweredValue>> {
    let epsilon = l.attributes.float("epsilon")?.unwrap_or(1e-12);
    let x = wide_input(l, 0)?;
    let sum = plus(l, x, 1)?;
    let sum = plus(l, sum, if centered { 4 } else { 3 })?;
    let [value, mut mean, inverse] = normalized(l, sum, &[-1], epsilon, centered)?;
    if !centered {
        let zero = number(l, 0.0)?;
        mean = of("Expand", zero, f("Shape", mean)).put(l)?;
    }
    // No input has this index: without a mean, there is no shift.
    let value = scaled(l, value, 2, if centered { 3 } else { usize::MAX })?;
    normalization(l, &[(value, true), (mean, false), (inverse, false), (sum, true)])
}

/// `LayerNormalization`, `SimplifiedLayerNormalization`.
pub fn layer(l: &mut Lowering<'_>, centered: bool) -> Result<Vec<LoweredValue>> {
    let epsilon = l.attributes.float("epsilon")?.unwrap_or(1e-5);
    let rank = l.rank_of(0)?;
    let axis = crate::lowering::axis(l.attributes.int_or("axis", -1)?, rank)?;
    let x = wide_input(l, 0)?;
    let axes: Vec<_> = (axis..rank).map(i64_of).collect();
    let [value, mean, inverse] = normalized(l, x, &axes, epsilon, centered)?;
    let value = scaled(l, value, 1, 2)?;
    if centered {
        normalization(l, &[(value, true), (mean, false), (inverse, false)])
    } else {
        normalization(l, &[(value, true), (inverse, false)])
    }
}
