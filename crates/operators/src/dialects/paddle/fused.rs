//! Operators that PaddlePaddle fuses of others.
//!
//! | operators | result |
//! |---|---|
//! | `fused_bias_residual_layernorm`, `fused_rms_norm_quant` | the normalized sum of the input, a bias and a residual; and the sum |
//! | `fused_softmax_mask` | the softmax of the sum with a mask |

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result};

use crate::dialects::cannot;
use crate::dialects::paddle::attributes::{constant_like, float};
use crate::lowering::terms::{Term, f, of, with};
use crate::lowering::{LoweredValue, Lowering, axis, int};

/// The sum that is normalized, and the axes along which it is.
fn summed(l: &mut Lowering<'_>, share: f64) -> Result<(LoweredValue, LoweredValue, usize)> {
    if l.float("quant_scale")?.unwrap_or(-1.0) > 0.0 {
        return Err(cannot("a normalization whose result is quantized"));
    }
    let (mut sum, dtype, rank) = (Term::from(l.input(0)?), l.dtype_of(0)?, l.rank_of(0)?);
    if l.has(1) {
        sum = sum + l.input(1)?;
    }
    if l.has(2) {
        sum = sum + l.input(2)? * share;
    }
    let sum = sum.write(l, dtype)?;
    let first = axis(l.attributes.int_or("begin_norm_axis", 1)?, rank)?;
    let axes = l.list(&(first..rank).map(i64_of).collect::<Vec<_>>())?;
    Ok((sum, axes, first))
}

/// An input of one axis in the shape of the normalized axes.
fn shaped(l: &mut Lowering<'_>, input: usize, x: LoweredValue, first: usize) -> Result<LoweredValue> {
    let (given, dims) = (l.input(input)?, l.apply("Shape", &[x], &[int("start", i64_of(first))])?);
    l.apply("Reshape", &[given, dims], &[])
}

/// `fused_bias_residual_layernorm`: the normalized sum of the input, a bias and a residual; and the
/// sum.
pub fn layer_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let share = l.float("residual_alpha")?.unwrap_or(1.0);
    let (sum, axes, first) = summed(l, share)?;
    if !l.has(3) {
        return Err(cannot("fused_bias_residual_layernorm without a normalization"));
    }
    let mut inputs = vec![sum, shaped(l, 3, sum, first)?];
    if l.has(4) {
        inputs.push(shaped(l, 4, sum, first)?);
    }
    let epsilon = l.float("epsilon")?.unwrap_or(1e-5);
    let attributes = [int("axis", i64_of(first)), float("epsilon", epsilon)];
    let y = l.apply("LayerNormalization", &inputs, &attributes)?;
    let mut outputs = vec![y, sum];
    if l.outputs() > 2 {
        let dtype = l.dtype_of(0)?;
        let mean = l.apply("ReduceMean", &[sum, axes], &[])?;
        let apart = (sum - mean).write(l, dtype)?;
        let variance = of("ReduceMean", apart * apart, axes).put(l)?;
        outputs.extend([l.reshape(mean, &[-1])?, l.reshape(variance, &[-1])?]);
    }
    Ok(outputs)
}

/// `fused_rms_norm_quant`: the sum, divided by its root mean square and scaled; and the sum.
pub fn rms_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (sum, axes, first) = summed(l, 1.0)?;
    let dtype = l.dtype_of(0)?;
    let epsilon = l.float("epsilon")?.unwrap_or(1e-6);
    let mean = of("ReduceMean", sum * sum, axes).put(l)?;
    let inverse = f("Reciprocal", f("Sqrt", mean + epsilon)).write(l, dtype)?;
    let mut y = sum * inverse;
    if l.has(3) {
        y = y * shaped(l, 3, sum, first)?;
    }
    if l.has(4) {
        y = y + shaped(l, 4, sum, first)?;
    }
    let y = y.write(l, dtype)?;
    let inverse = l.apply("Squeeze", &[inverse, axes], &[])?;
    let inverse = if dtype == DType::F32 { inverse } else { l.cast(inverse, DType::F32)? };
    // Without a residual, Paddle gives no sum.
    let sum = if l.has(2) { sum } else { constant_like(l, 0.0)? };
    Ok(vec![y, sum, inverse])
}

/// `fused_softmax_mask`: the softmax of the sum with a mask.
pub fn softmax_mask(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    Ok(vec![with("Softmax", [of("Add", l.input(0)?, l.input(1)?)], [int("axis", -1)]).put(l)?])
}
