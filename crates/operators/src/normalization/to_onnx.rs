//! Normalization in the operators of ONNX.

use gradus_core::Result;
use gradus_core::graph::Content;

use crate::attributes;
use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::errors;
use crate::indices::axis as axis_of;
use crate::lowering::terms::{Term, f, of, with};
use crate::lowering::{LoweredValue, Lowering, flag, int, wide};
use crate::words;

/// Writes `Softmax` or `LogSoftmax` along its axis.
pub fn softmax(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let (x, axis) = (l.input(0)?, l.attributes.int_or("axis", -1)?);
    Ok(vec![l.apply(operator, &[x], &[int("axis", axis)])?])
}

/// Brought to a mean of 0 and, if it is wanted, a variance of 1.
pub fn mean_variance(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.has(1) {
        return Err(cannot("the specification of MVN-1 does not define the axes"));
    }
    l.rounding(caveats::ORDER);
    let (x, axes, dtype) = (l.input(0)?, l.whole_list(1)?, l.dtype_of(0)?);
    // In float16, the epsilon of a group of equal elements may be zero.
    let wide = wide(dtype);
    let x = l.in_type(x, dtype, wide)?;
    let mean = |x: Term| with("ReduceMean", [x, axes.into()], [flag("keepdims", true)]);
    let apart = (x - mean(x.into())).write(l, wide)?;
    let mut value = apart;
    if l.attributes.flag("normalize_variance", true)? {
        let variance = mean(apart * apart);
        let epsilon = f64::from(l.attributes.float("eps")?.unwrap_or(0.0));
        let inside = words::EPS_ROOT.of(&l.attributes)? == "inside_sqrt";
        let by = if inside { f("Sqrt", variance + epsilon) } else { f("Sqrt", variance) + epsilon };
        value = (apart / by).write(l, wide)?;
    }
    Ok(vec![l.in_type(value, wide, dtype)?])
}

/// Groups of channels, each brought to a mean of 0 and a variance of 1.
pub fn group_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    let groups = l.attributes.int("num_groups")?.ok_or_else(|| attributes::missing("num_groups"))?;
    let epsilon = l.attributes.float("epsilon")?.ok_or_else(|| attributes::missing("epsilon"))?;
    let inputs = l.given()?;
    let attributes = [int("num_groups", groups), ("epsilon", Content::Float(epsilon))];
    Ok(vec![l.apply("GroupNormalization", &inputs, &attributes)?])
}

/// The first version takes the data third: statistics have one axis.
pub fn batch_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let order = if l.rank_of(0)? == 1 { [2, 0, 1, 3, 4] } else { [0, 1, 2, 3, 4] };
    let epsilon = l.attributes.float("epsilon")?.ok_or_else(|| attributes::missing("epsilon"))?;
    if epsilon < 0.0 {
        return Err(errors::value("attribute \"epsilon\"", epsilon, "at least 0"));
    }
    let inputs = order.into_iter().map(|input| l.input(input)).collect::<Result<Vec<_>>>()?;
    Ok(vec![l.apply("BatchNormalization", &inputs, &[("epsilon", Content::Float(epsilon))])?])
}

/// Divided by the root of the sum of squares.
fn by_length(
    l: &mut Lowering<'_>,
    axes: LoweredValue,
    bound: f32,
    operator: &'static str,
) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let sum = with("ReduceSum", [x * x, axes.into()], [flag("keepdims", true)]);
    Ok(vec![(x / f("Sqrt", of(operator, sum, f64::from(bound)))).write(l, dtype)?])
}

/// Writes `NormalizeL2` as a quotient by the root of a sum of squares.
pub fn normalize_l2(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.integers(1)?.is_empty() {
        return Err(cannot("ONNX has no equivalent of NormalizeL2 without axes"));
    }
    let epsilon = l.attributes.float("eps")?.ok_or_else(|| attributes::missing("eps"))?;
    let larger = words::EPS.of(&l.attributes)? == "max";
    let axes = l.whole_list(1)?;
    by_length(l, axes, epsilon, if larger { "Max" } else { "Add" })
}

/// Divided by the root of the sum of the squares of all channels.
pub fn global_response(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let bias = l.attributes.float("bias")?.ok_or_else(|| attributes::missing("bias"))?;
    let axes = l.list(&[1])?;
    by_length(l, axes, bias, "Add")
}

/// Divided by a power of the squares of the channels around.
pub fn local_response(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let rank = l.rank_of(0)?;
    let axes = l.integers(1)?;
    let size = attributes::required("size", l.attributes.int("size")?)?;
    if rank < 2 || axes.len() != 1 || axis_of(axes[0], rank)? != 1 || size % 2 == 0 {
        return Err(cannot("ONNX has an equivalent of LRN over an odd number of channels only"));
    }
    let mut attributes = vec![int("size", size)];
    for name in ["alpha", "beta", "bias"] {
        let value = attributes::required(name, l.attributes.float(name)?)?;
        attributes.push((name, Content::Float(value)));
    }
    let x = l.input(0)?;
    Ok(vec![l.apply("LRN", &[x], &attributes)?])
}
