//! Normalizations, and `dropout`.
//!
//! | operators | Paddle |
//! |---|---|
//! | `batch_norm_`, `dropout` | only inference |
//! | `layer_norm` | scale and bias are flat |

use gradus_core::convert::{Rules, i64_of};
use gradus_core::{DType, Result, Tensor, convert};

use crate::dialects::cannot;
use crate::dialects::paddle::attributes::{constant_like, float, text};
use crate::dialects::paddle::windows::{channels_first, channels_last};
use crate::lowering::terms::{f, of, with};
use crate::lowering::{LoweredValue, Lowering, axis, int};

/// `batch_norm` by the given statistics.
pub fn batch_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let flag = |name: &str| l.attributes.flag(name, false);
    let (test, given, trained) = (flag("is_test")?, flag("use_global_stats")?, flag("trainable_statistics")?);
    if !given && (!test || trained) {
        return Err(cannot("batch_norm by the statistics of the batch"));
    }
    let [x, mean, variance] = [l.input(0)?, l.input(1)?, l.input(2)?];
    let epsilon = l.float("epsilon")?.unwrap_or(1e-5);
    let (x, last) = channels_first(l, x)?;
    let [scale, bias] = affine(l, x, 3)?;
    let y = l.apply("BatchNormalization", &[x, scale, bias, mean, variance], &[float("epsilon", epsilon)])?;
    let y = channels_last(l, y, last)?;
    // The other outputs are for training: the statistics stay, and nothing reads the reserve.
    let reserve = l.cast(mean, DType::U8)?;
    Ok(vec![y, mean, variance, mean, variance, reserve])
}

/// `layer_norm`: the axes from one on, normalized, with scale and bias.
pub fn layer_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let first = axis(l.attributes.int_or("begin_norm_axis", 1)?, rank)?;
    let epsilon = l.float("epsilon")?.unwrap_or(1e-5);
    let dims = l.apply("Shape", &[x], &[int("start", i64_of(first))])?;
    let one = l.constant(convert::cast(&Tensor::scalar(1f64), l.dtype_of(0)?, Rules::IEEE)?)?;
    let mut inputs = vec![x];
    for input in [1, 2] {
        let zero = |l: &mut Lowering<'_>| l.apply("Sub", &[one, one], &[]);
        let flat = match (l.has(input), input) {
            (true, _) => of("Reshape", l.input(input)?, dims).put(l)?,
            (false, 1) => l.apply("Expand", &[one, dims], &[])?,
            (false, _) => zero(l)?,
        };
        inputs.push(if l.has(input) && l.dtype_of(input)? != l.dtype_of(0)? {
            let to = l.dtype_of(0)?;
            l.cast(flat, to)?
        } else {
            flat
        });
    }
    let attributes = [int("axis", i64_of(first)), float("epsilon", epsilon)];
    let mut outputs = l.apply_many("LayerNormalization", &inputs, &attributes, l.outputs().clamp(1, 3))?;
    let axes = l.list(&(first..rank).map(i64_of).collect::<Vec<_>>())?;
    for statistic in outputs.iter_mut().skip(1) {
        *statistic = l.apply("Squeeze", &[*statistic, axes], &[])?;
    }
    Ok(outputs)
}

/// Scale and bias of a normalization, the inputs from `first` on; ones and zeros if they are not
/// given.
fn affine(l: &mut Lowering<'_>, x: LoweredValue, first: usize) -> Result<[LoweredValue; 2]> {
    let mut both = [LoweredValue::NONE; 2];
    for (i, value) in both.iter_mut().enumerate() {
        *value = if l.has(first + i) {
            l.input(first + i)?
        } else {
            let each = constant_like(l, if i == 0 { 1.0 } else { 0.0 })?;
            of("Expand", each, with("Shape", [x.into()], [int("start", 1), int("end", 2)])).put(l)?
        };
    }
    Ok(both)
}

/// Mean and variance of each row.
fn statistics(l: &mut Lowering<'_>, rows: LoweredValue) -> Result<[LoweredValue; 2]> {
    let axis = l.list(&[-1])?;
    let means = l.apply("ReduceMean", &[rows, axis], &[])?;
    let apart = l.apply("Sub", &[rows, means], &[])?;
    let variances = with("ReduceMean", [apart * apart, axis.into()], [int("keepdims", 0)]).put(l)?;
    Ok([l.apply("Squeeze", &[means, axis], &[])?, variances])
}

/// `affine_channel`: each channel times a number, and another added.
pub fn affine_channel(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let dims = [&[-1][..], &vec![1; l.rank_of(0)?.saturating_sub(2)]].concat();
    let [scale, bias] = [l.input(1)?, l.input(2)?].map(|given| l.reshape(given, &dims));
    let y = of("Add", of("Mul", x, scale?), bias?).put(l)?;
    Ok(vec![channels_last(l, y, last)?])
}

/// `group_norm`: groups of channels, normalized, with scale and bias.
pub fn group_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let [scale, bias] = affine(l, x, 1)?;
    let (groups, epsilon) = (l.attributes.int_or("groups", 1)?, l.float("epsilon")?.unwrap_or(1e-5));
    let attributes = [int("num_groups", groups), float("epsilon", epsilon)];
    let y = l.apply("GroupNormalization", &[x, scale, bias], &attributes)?;
    let mut outputs = vec![channels_last(l, y, last)?];
    if l.outputs() > 1 {
        let rows = l.reshape(x, &[0, groups, -1])?;
        outputs.extend(statistics(l, rows)?);
    }
    Ok(outputs)
}

/// `instance_norm`: each channel of each sample, normalized, with scale and bias.
pub fn instance_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let [scale, bias] = affine(l, x, 1)?;
    let epsilon = l.float("epsilon")?.unwrap_or(1e-5);
    let mut outputs =
        vec![l.apply("InstanceNormalization", &[x, scale, bias], &[float("epsilon", epsilon)])?];
    if l.outputs() > 1 {
        // The inverse of the deviation is saved, for training.
        let rows = l.reshape(x, &[0, 0, -1])?;
        let [means, variances] = statistics(l, rows)?;
        let epsilon = constant_like(l, epsilon)?;
        let deviations = f("Sqrt", variances + epsilon).put(l)?;
        let inverse = l.apply("Reciprocal", &[deviations], &[])?;
        outputs.extend([l.reshape(means, &[-1])?, l.reshape(inverse, &[-1])?]);
    }
    Ok(outputs)
}

/// `dropout` outside training: the input, times the share that is kept if the mode says so.
pub fn dropout(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.attributes.flag("is_test", false)? {
        return Err(cannot("dropout in training"));
    }
    let x = l.input(0)?;
    let keeps = text(l, "mode", "downgrade_in_infer")? == "upscale_in_train";
    let y = if keeps {
        l.apply("Identity", &[x], &[])?
    } else {
        let dtype = l.dtype_of(0)?;
        let one = l.constant(convert::cast(&Tensor::scalar(1f64), dtype, Rules::IEEE)?)?;
        let ratio = if l.has(2) {
            let given = l.input(2)?;
            let given = l.reshape(given, &[])?;
            l.cast(given, dtype)?
        } else {
            let ratio = l.float("p")?.unwrap_or(0.5);
            l.constant(convert::cast(&Tensor::scalar(ratio), dtype, Rules::IEEE)?)?
        };
        (x * (one - ratio)).put(l)?
    };
    let mask = l.cast(x, DType::U8)?;
    Ok(vec![y, mask])
}
