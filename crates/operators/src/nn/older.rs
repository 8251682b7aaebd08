//! Normalization and quantization, in operator sets that lack them.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result, Tensor};

use crate::conversion::caveats;
use crate::conversion::node::LONGEST;
use crate::errors;
use crate::indices::axes as axes_of;
use crate::lowering::terms::{Term, cast, f, ints, of, whole, with};
use crate::lowering::{LoweredValue, Lowering, axis as axis_of, int, wide};

/// Scales or zero points along the axis of a node, for a value of this rank.
fn along(l: &Lowering<'_>, value: LoweredValue, rank: usize) -> Result<Term> {
    let axis = axis_of(l.attributes.int_or("axis", 1)?, rank.max(2))?;
    // A scalar keeps its element, as it has no other.
    let dims: Vec<_> = (0..rank).map(|own| if own == axis { -1 } else { 1 }).collect();
    Ok(of("Reshape", value, ints(&dims)))
}

/// Codes of a type, or in blocks, that the operator set lacks: less their zero point, times their
/// scale.
pub fn dequantize_linear(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    const NAME: &str = "DequantizeLinear";
    let block = l.attributes.int_or("block_size", 0)?;
    let (Ok(own), Ok(to)) = (l.dtype_of(0), l.dtype_of(1)) else { return l.itself() };
    let simple = block == 0 && l.admits(NAME, own);
    if simple || l.attributes.int_or("output_dtype", 0)? != 0 || l.signature(NAME).is_none() {
        return l.itself();
    }
    if !own.is_integer() || own.bits() > 16 || (to != DType::F32 && own.bits() > 8) {
        return l.itself();
    }
    let (dtype, codes) = (wide(to), l.input(0)?);
    let scale = l.input(1)?;
    let scale = l.in_type(scale, to, dtype)?;
    let zero = if l.has(2) { Some(cast(l.input(2)?, dtype).write(l, dtype)?) } else { None };
    let codes = l.cast(codes, dtype)?;
    if block < 0 {
        return Err(errors::value("attribute \"block_size\"", block, "at least 0"));
    }
    let axis = l.attributes.int_or("axis", 1)?;
    let places =
        if block > 0 { Some(places_of_blocks(l, codes, axis, block)?.write(l, dtype)?) } else { None };
    let spread = |value: LoweredValue| match places {
        Some(places) => Ok(with("Gather", [value.into(), places.into()], [int("axis", axis)])),
        None => along(l, value, l.rank_of(0)?),
    };
    let scale = spread(scale)?;
    let value = match zero {
        Some(zero) => (codes - spread(zero)?) * scale,
        None => codes * scale,
    };
    let value = value.write(l, dtype)?;
    Ok(vec![l.in_type(value, dtype, to)?])
}

/// The number of the block of each index of an axis, whose size may be known.
fn places_of_blocks(l: &Lowering<'_>, codes: LoweredValue, axis: i64, block: i64) -> Result<Term> {
    let dims = l.dims_of(0).ok();
    let size = dims.map(|dims| Ok::<_, gradus_core::Error>(dims[axis_of(axis, dims.len())?])).transpose()?;
    if let Some(size) = size.flatten().filter(|&size| size <= LONGEST) {
        return Ok(ints(&(0..i64_of(size)).map(|index| index / block).collect::<Vec<_>>()));
    }
    let size = of("Gather", f("Shape", codes), whole(axis));
    Ok(with("Range", [whole(0), size, whole(1)], []) / whole(block))
}

/// Codes of 16 bits, in sets that have those of 8 bits: quotients, rounded, moved by the zero point
/// and limited.
pub fn quantize_linear(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (to, low, high) = match l.dtype_of(2) {
        Ok(to @ DType::I16) if l.has(2) => (to, f64::from(i16::MIN), f64::from(i16::MAX)),
        Ok(to @ DType::U16) if l.has(2) => (to, 0.0, f64::from(u16::MAX)),
        _ => return l.itself(),
    };
    if l.dtype_of(0)? != DType::F32 || l.attributes.int_or("block_size", 0)? != 0 {
        return l.itself();
    }
    let (x, scale, zero, rank) = (l.input(0)?, l.input(1)?, l.input(2)?, l.rank_of(0)?);
    let (scale, zero) = (along(l, scale, rank)?, along(l, zero, rank)?);
    let moved = f("Round", x / scale) + cast(zero, DType::F32);
    let limited = with("Clip", [moved, low.into(), high.into()], []);
    Ok(vec![cast(limited, to).write(l, DType::F32)?])
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
fn widened(l: &mut Lowering<'_>) -> Result<(LoweredValue, DType)> {
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

pub fn layer_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (own, axes) = (l.dtype_of(0)?, last_axes(l)?);
    let (x, dtype) = widened(l)?;
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

pub fn rms_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (to, axes) = (l.dtype_of(1)?, last_axes(l)?);
    let (x, dtype) = widened(l)?;
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
    let (x, dtype) = widened(l)?;
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

pub fn group_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (own, rank, groups) = (l.dtype_of(0)?, l.rank_of(0)?, l.attributes.int_or("num_groups", 1)?);
    let x = l.input(0)?;
    let sizes = l.shape(x)?;
    let (x, dtype) = widened(l)?;
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

/// Products with a term that is added: -0, which changes no number, where there is none.
pub fn gemm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.has(2) {
        return l.itself();
    }
    let zero = l.number(-0.0, l.dtype_of(0)?)?;
    let mut attributes = l.own_attributes();
    attributes.retain(|(name, _)| *name != "beta");
    let inputs = [l.input(0)?, l.input(1)?, zero];
    Ok(vec![l.apply("Gemm", &inputs, &attributes)?])
}

/// The sizes of all axes of a `Resize` that names some: the others keep their sizes.
pub fn resize(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let Some(axes) = l.attributes.list("axes")? else { return l.itself() };
    // The only coordinates that move elements at a scale of 1, and those of `roi`, which has axes
    // too.
    let moves = match l.attributes.text("coordinate_transformation_mode")? {
        Some("tf_crop_and_resize") => true,
        Some("tf_half_pixel_for_nn") => l.attributes.text("nearest_mode")? != Some("floor"),
        _ => false,
    };
    if moves {
        return l.itself();
    }
    let rank = l.rank_of(0)?;
    let axes = axes_of(&axes, rank)?;
    let mut attributes = l.own_attributes();
    attributes.retain(|(name, _)| *name != "axes");
    let x = l.input(0)?;
    let mut inputs: Vec<_> = (0..l.count()).map(|input| l.maybe(input)).collect();
    if !axes.iter().copied().eq(0..rank) {
        let given = |axis: usize| axes.iter().position(|&own| own == axis);
        let from = |axis: usize| i64_of(given(axis).map_or(axis, |place| rank + place));
        let from = (0..rank).map(from).collect::<Vec<_>>();
        for (input, value) in inputs.iter_mut().enumerate().skip(2) {
            if *value == LoweredValue::NONE {
                continue;
            }
            let ones = Term::Tensor(Tensor::vector(&vec![1_f32; rank]));
            let kept = if input == 2 { ones } else { f("Shape", x) };
            let all = with("Concat", [kept, (*value).into()], [int("axis", 0)]);
            *value = with("Gather", [all, ints(&from)], [int("axis", 0)]).write(l, DType::I64)?;
        }
    }
    Ok(vec![l.apply("Resize", &inputs, &attributes)?])
}
