//! Normalization as graphs of simpler operators, in operator sets and standards that lack an
//! operator.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result, Tensor};

use crate::conversion::caveats;
use crate::errors;
use crate::graphs::{like, number, widened};
use crate::lowering::terms::{Term, cast, f, ints, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, axis as axis_of, int, wide};
use crate::normalize::Older;

/// 1 at the first maximum along an axis, 0 elsewhere.
pub fn hardmax(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut x, axis, rank) = (l.input(0)?, l.attributes.int_or("axis", -1)?, l.rank_of(0)?);
    let mut axis = i64_of(crate::lowering::axis(axis, rank)?);
    let sizes = l.apply("Shape", &[x], &[])?;
    let flattens = l.attributes.form().is(Older::Flattened) && axis + 1 != i64_of(rank);
    if flattens {
        (x, axis) = (l.apply("Flatten", &[x], &[int("axis", axis)])?, 1);
    }
    let first = l.apply("ArgMax", &[x], &[int("axis", axis), int("keepdims", 0)])?;
    let depth = l.apply("Shape", &[x], &[int("start", axis), int("end", axis + 1)])?;
    let dtype = l.dtype_of(0)?;
    let values =
        gradus_core::convert::cast(&Tensor::vector(&[0i64, 1]), dtype, gradus_core::convert::Rules::IEEE)?;
    let values = l.constant(values)?;
    let y = l.apply("OneHot", &[first, depth, values], &[int("axis", axis)])?;
    Ok(vec![if flattens { l.apply("Reshape", &[y, sizes], &[int("allowzero", 1)])? } else { y }])
}

/// Divided by the norm along an axis, unless that is 0.
pub fn lp_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let operator = match l.attributes.int_or("p", 2)? {
        1 => "ReduceL1",
        2 => "ReduceL2",
        other => return Err(errors::value("attribute \"p\"", other, "1 or 2")),
    };
    let (axis, x, zero) = (l.attributes.int_or("axis", -1)?, widened(l, 0)?, number(l, 0.0)?);
    let axes = l.list(&[axis])?;
    let norm = l.apply(operator, &[x, axes], &[])?;
    let value = pick(of("Equal", norm, zero), x, x / norm).put(l)?;
    Ok(vec![like(l, value, 0)?])
}

/// Elements divided by the root of the mean of their squares; this is their second value.
fn scaled(l: &mut Lowering<'_>, x: LoweredValue, axes: &[i64], dtype: DType) -> Result<(Term, LoweredValue)> {
    let epsilon = f64::from(l.attributes.float("epsilon")?.unwrap_or(1e-5));
    let mean = of("ReduceMean", x * x, ints(axes));
    let inverse = f("Reciprocal", f("Sqrt", mean + epsilon)).write(l, dtype)?;
    Ok((x * inverse, inverse))
}

/// Elements less their mean along axes, and the mean.
fn centered(l: &mut Lowering<'_>, x: LoweredValue, axes: &[i64], dtype: DType) -> Result<[LoweredValue; 2]> {
    let mean = of("ReduceMean", x, ints(axes)).write(l, dtype)?;
    Ok([(x - mean).write(l, dtype)?, mean])
}

/// The first input in the type that statistics are computed in, and that type.
fn first_widened(l: &mut Lowering<'_>) -> Result<(LoweredValue, DType)> {
    let (x, own) = (l.input(0)?, l.dtype_of(0)?);
    Ok((l.in_type(x, own, wide(own))?, wide(own)))
}

/// The axes from the one that the attribute names.
fn last_axes(l: &Lowering<'_>) -> Result<Vec<i64>> {
    let rank = l.rank_of(0)?;
    Ok((axis_of(l.attributes.int_or("axis", -1)?, rank)?..rank).map(i64_of).collect())
}

/// An input in another type, to be multiplied or added.
fn operand(l: &mut Lowering<'_>, input: usize, own: DType, to: DType) -> Result<LoweredValue> {
    let given = l.input(input)?;
    l.in_type(given, own, to)
}

/// `LayerNormalization`: the axes from one on, normalized, with scale and bias; and the statistics.
pub fn layer_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (own, axes) = (l.dtype_of(0)?, last_axes(l)?);
    let (x, dtype) = first_widened(l)?;
    let [apart, mean] = centered(l, x, &axes, dtype)?;
    let (y, inverse) = scaled(l, apart, &axes, dtype)?;
    let mut y = y * operand(l, 1, own, dtype)?;
    if l.has(2) {
        y = y + operand(l, 2, own, dtype)?;
    }
    let y = y.write(l, dtype)?;
    let mut all = vec![l.in_type(y, dtype, own)?];
    for statistic in [mean, inverse].into_iter().take(l.outputs().saturating_sub(1)) {
        all.push(l.in_type(statistic, dtype, DType::F32)?);
    }
    Ok(all)
}

/// `RMSNormalization`: elements divided by their root mean square, times a scale.
pub fn rms_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (to, axes) = (l.dtype_of(1)?, last_axes(l)?);
    let (x, dtype) = first_widened(l)?;
    let scale = operand(l, 1, to, dtype)?;
    let y = (scaled(l, x, &axes, dtype)?.0 * scale).write(l, dtype)?;
    Ok(vec![l.in_type(y, dtype, to)?])
}

/// In training, normalized by the statistics of the batch, which move those that are given.
pub fn batch_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.attributes.flag("training_mode", false)? {
        return l.itself();
    }
    l.rounding(caveats::ORDER);
    let (own, rank) = (l.dtype_of(0)?, l.rank_of(0)?);
    let (x, dtype) = first_widened(l)?;
    let axes: Vec<_> = (0..rank).filter(|&axis| axis != 1).map(i64_of).collect();
    let by_channel: Vec<_> = (0..rank.max(2)).map(|axis| if axis == 1 { -1 } else { 1 }).collect();
    let [apart, mean] = centered(l, x, &axes, dtype)?;
    let variance = of("ReduceMean", apart * apart, ints(&axes)).write(l, dtype)?;
    let y = scaled(l, apart, &axes, dtype)?.0;
    let given = |l: &mut Lowering<'_>, input| {
        let given = cast(l.input(input)?, dtype);
        Ok::<_, gradus_core::Error>(of("Reshape", given, ints(&by_channel)))
    };
    let y = (y * given(l, 1)? + given(l, 2)?).write(l, dtype)?;
    let mut all = vec![l.in_type(y, dtype, own)?];
    let momentum = f64::from(l.attributes.float("momentum")?.unwrap_or(0.9));
    for (input, statistic) in [(3, mean), (4, variance)].into_iter().take(l.outputs().saturating_sub(1)) {
        let to = l.dtype_of(input)?;
        let given = operand(l, input, to, dtype)?;
        let row = of("Reshape", statistic, ints(&[-1]));
        let next = (given * momentum + row * (1.0 - momentum)).write(l, dtype)?;
        all.push(l.in_type(next, dtype, to)?);
    }
    Ok(all)
}

/// `GroupNormalization`: groups of channels, normalized, with scale and bias.
pub fn group_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (own, rank, groups) = (l.dtype_of(0)?, l.rank_of(0)?, l.attributes.int_or("num_groups", 1)?);
    let x = l.input(0)?;
    let sizes = l.shape(x)?;
    let (x, dtype) = first_widened(l)?;
    let x = l.reshape(x, &[0, groups, -1])?;
    let [apart, _] = centered(l, x, &[2], dtype)?;
    let y = of("Reshape", scaled(l, apart, &[2], dtype)?.0, sizes);
    let by_channel = [&[-1], &vec![1; rank.saturating_sub(2)][..]].concat();
    let (scale, bias) = (operand(l, 1, own, dtype)?, operand(l, 2, own, dtype)?);
    let along = |value: LoweredValue| of("Reshape", value, ints(&by_channel));
    let y = (y * along(scale) + along(bias)).write(l, dtype)?;
    Ok(vec![l.in_type(y, dtype, own)?])
}

/// `Softmax` and its like along one axis in an operator set that takes all axes from one on
/// together: another axis becomes the last one.
pub fn softmax(l: &mut Lowering<'_>, operator: &'static str) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let axis = axis_of(l.attributes.int_or("axis", -1)?, rank)?;
    let last = rank.saturating_sub(1);
    if axis == last {
        return Ok(vec![l.apply(operator, &[x], &[int("axis", i64_of(last))])?]);
    }
    let mut order: Vec<_> = (0..i64_of(rank)).collect();
    order.swap(axis, last);
    let turned = l.transposed(x, &order)?;
    let y = with(operator, [turned.into()], [int("axis", i64_of(last))]).write(l, DType::F32)?;
    Ok(vec![l.transposed(y, &order)?])
}
