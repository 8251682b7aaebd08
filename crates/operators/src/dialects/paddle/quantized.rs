//! Operators of quantized networks.
//!
//! Codes are `x * (max * (1 / scale))`, rounded, from `-max - 1` to `max`; they stand for
//! `code * scale / max`. Each step is rounded to float32. Zero points are read by no program.
//!
//! | operators | scales |
//! |---|---|
//! | `quantize_linear`, `dequantize_linear` | given: one, or those along `quant_axis` |
//! | `fake_quantize_dequantize_moving_average_abs_max` | given |
//! | `fake_quantize_dequantize_abs_max`, `fake_channel_wise_quantize_dequantize_abs_max` | the greatest magnitudes |

use gradus_core::convert::{i64_of, nearest_f64};
use gradus_core::{DType, Number, Result, Tensor};

use crate::dialects::boxes::only_float32;
use crate::dialects::cannot;
use crate::errors;
use crate::lowering::terms::{Term, f, ints, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, axis, int};

/// The largest code.
fn greatest(l: &Lowering<'_>) -> Result<f64> {
    let bits = l.attributes.int_or("bit_length", 8)?;
    if !(1..=16).contains(&bits) {
        return Err(errors::value("attribute \"bit_length\"", bits, "1 to 16"));
    }
    let most = l.attributes.int_or("qmax", (1 << (bits - 1)) - 1)?;
    Ok(nearest_f64(Number::Int(errors::at_least_1("qmax", most)?.into())))
}

/// The codes of the first input, as float32.
fn codes(l: &mut Lowering<'_>, scale: LoweredValue, most: f64) -> Result<LoweredValue> {
    only_float32(l, 0)?;
    let x = l.input(0)?;
    let factor = Term::from(most) * (Term::from(1.0) / scale);
    let rounded = match l.attributes.int_or("round_type", 0)? {
        0 => f("Round", x * factor),
        1 => {
            // Halves away from zero.
            let within = of("Max", of("Min", x, scale), f("Neg", scale));
            let scaled = (within * factor).write(l, DType::F32)?;
            let size = f("Abs", scaled).write(l, DType::F32)?;
            let down = f("Floor", size).write(l, DType::F32)?;
            pick(of("Less", size - down, 0.5), down, f("Ceil", size)) * f("Sign", scaled)
        }
        other => return Err(errors::value("attribute \"round_type\"", other, "0 or 1")),
    };
    of("Max", of("Min", rounded, most), -most - 1.0).write(l, DType::F32)
}

/// A scale, or those along an axis, so that it broadcasts with the first input.
fn scales(l: &mut Lowering<'_>) -> Result<LoweredValue> {
    let (scale, along) = (l.input(1)?, l.attributes.int_or("quant_axis", -1)?);
    only_float32(l, 1)?;
    if !(-1..=1).contains(&along) {
        return Err(errors::value("attribute \"quant_axis\"", along, "-1, 0 or 1"));
    }
    if along == -1 || l.rank_of(1)? == 0 {
        return l.reshape(scale, &[]);
    }
    let rank = l.rank_of(0)?;
    let mut dims = vec![1; rank];
    dims[axis(along, rank)?] = -1;
    l.reshape(scale, &dims)
}

/// `quantize_linear` and `dequantize_linear`, which may only observe.
fn linear(
    l: &mut Lowering<'_>,
    rule: fn(&mut Lowering<'_>, LoweredValue, f64) -> Result<LoweredValue>,
) -> Result<Vec<LoweredValue>> {
    let (x, most) = (l.input(0)?, greatest(l)?);
    let scale = scales(l)?;
    let y = if l.attributes.flag("only_observer", false)? { x } else { rule(l, scale, most)? };
    // Nobody reads the others but in training.
    let (scale, nothing) = (l.input(1)?, l.constant(Tensor::scalar(0f32))?);
    Ok(vec![y, nothing, nothing, scale])
}

/// `quantize_linear`: codes by a scale.
pub fn quantize_linear(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    linear(l, codes)
}

/// `dequantize_linear`: numbers of codes by a scale.
pub fn dequantize_linear(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    linear(l, |l, scale, most| {
        let x = l.input(0)?;
        let x = if l.dtype_of(0)? == DType::F32 { x } else { l.cast(x, DType::F32)? };
        (x * scale / most).write(l, DType::F32)
    })
}

/// Numbers that codes stand for, by a scale that broadcasts.
fn through(l: &mut Lowering<'_>, scale: LoweredValue) -> Result<LoweredValue> {
    let most = greatest(l)?;
    let codes = codes(l, scale, most)?;
    (codes * scale / most).write(l, DType::F32)
}

/// `fake_quantize_dequantize_moving_average_abs_max`: quantized and dequantized by a given scale.
pub fn fake_by_given(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.attributes.flag("is_test", false)? {
        return Err(cannot("quantization that learns its scale"));
    }
    let scale = scales(l)?;
    let mut outputs = vec![l.input(1)?; 4];
    outputs[0] = through(l, scale)?;
    Ok(outputs)
}

/// The scales are the largest magnitudes, of all or of those at each index of an axis.
pub fn fake_by_greatest(l: &mut Lowering<'_>, channels: bool) -> Result<Vec<LoweredValue>> {
    let rank = l.rank_of(0)?;
    let own = if channels { Some(axis(l.attributes.int_or("quant_axis", 0)?, rank)?) } else { None };
    let others: Vec<_> = (0..rank).filter(|&axis| Some(axis) != own).map(i64_of).collect();
    let size = f("Abs", l.input(0)?).put(l)?;
    let scale = with("ReduceMax", [size.into(), ints(&others)], [int("noop_with_empty_axes", 1)]).put(l)?;
    Ok(vec![through(l, scale)?, l.reshape(scale, &[-1])?])
}
