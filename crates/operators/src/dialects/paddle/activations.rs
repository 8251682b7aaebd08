//! Activations: functions of each element, and `softmax`, `prelu` and `maxout`.

use gradus_core::convert::{Rules, i64_of};
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor, convert};

use crate::dialects::cannot;
use crate::dialects::paddle::attributes::{constant_like, float, text};
use crate::dialects::paddle::images::divided;
use crate::dialects::paddle::math::unary;
use crate::dialects::paddle::windows::has_channels_last;
use crate::lowering::terms::{f, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, axis, int};

/// `softmax` and `log_softmax` along an axis.
pub fn softmax(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let (x, axis) = (l.input(0)?, l.attributes.int("axis")?.unwrap_or(-1));
    Ok(vec![l.apply(operator, &[x], &[int("axis", axis)])?])
}

/// `log2`, `log10`, `log1p` and `expm1`, which ONNX does not have: in float64, rounded at the end.
pub fn wide(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let x = l.cast(x, DType::F64)?;
    let one = l.constant(Tensor::scalar(1f64))?;
    let y = if l.node_is("log2") || l.node_is("log10") {
        let base = l.constant(Tensor::scalar(if l.node_is("log2") { 2f64 } else { 10f64 }))?;
        let logs = [l.apply("Log", &[x], &[])?, l.apply("Log", &[base], &[])?];
        l.apply("Div", &logs, &[])?
    } else {
        // Errors of `near`, which is near 1 for small elements, cancel out: W. Kahan.
        let log = l.node_is("log1p");
        let near = if log { l.apply("Add", &[x, one], &[])? } else { l.apply("Exp", &[x], &[])? };
        let (apart, logs) = (l.apply("Sub", &[near, one], &[])?, l.apply("Log", &[near], &[])?);
        let terms = if log { [logs, apart] } else { [apart, logs] };
        let ratio = l.apply("Div", &[x, terms[1]], &[])?;
        // Beyond these limits there is nothing to correct, or the ratio is not a number.
        let limit = l.constant(Tensor::scalar(0.5f64))?;
        let small = of("Less", f("Abs", x), limit).put(l)?;
        let inner = pick(of("Equal", near, one), x, terms[0] * ratio).put(l)?;
        l.apply("Where", &[small, inner, terms[0]], &[])?
    };
    Ok(vec![l.cast(y, if dtype.is_float() { dtype } else { DType::F32 })?])
}

/// `softplus`: `log(1 + exp(beta * x)) / beta`, and `x` above the threshold.
pub fn softplus(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (beta, most) = (l.float("beta")?.unwrap_or(1.0), l.float("threshold")?.unwrap_or(20.0));
    let (x, beta, most) = (l.input(0)?, constant_like(l, beta)?, constant_like(l, most)?);
    let scaled = l.apply("Mul", &[x, beta], &[])?;
    let soft = (f("Softplus", scaled) / beta).put(l)?;
    Ok(vec![pick(of("Greater", scaled, most), x, soft).put(l)?])
}

/// `mish`: `x * tanh(softplus(x))`, and `x * tanh(x)` above the threshold.
pub fn mish(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let most = l.float("lambda")?.unwrap_or(20.0);
    // From there on, both round to the same.
    if most >= 20.0 {
        return unary(l, "Mish");
    }
    let (x, most) = (l.input(0)?, constant_like(l, most)?);
    let soft = pick(of("Greater", x, most), x, f("Softplus", x)).put(l)?;
    Ok(vec![(x * f("Tanh", soft)).put(l)?])
}

/// `tanh_shrink`: `x - tanh(x)`.
pub fn tanh_shrink(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    Ok(vec![(x - f("Tanh", x)).put(l)?])
}

/// `stanh`: `scale_b * tanh(scale_a * x)`.
pub fn stanh(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (inner, outer) = (l.float("scale_a")?.unwrap_or(0.67), l.float("scale_b")?.unwrap_or(1.7159));
    let (inner, outer) = (constant_like(l, inner)?, constant_like(l, outer)?);
    let x = f("Tanh", l.input(0)? * inner).put(l)?;
    Ok(vec![l.apply("Mul", &[x, outer], &[])?])
}

/// `softshrink` and `hardshrink`: zero up to a size; soft ones also take it off from the others.
pub fn shrink(l: &mut Lowering<'_>, soft: bool) -> Result<Vec<LoweredValue>> {
    let (x, most) = (l.input(0)?, l.float("threshold")?.unwrap_or(0.5));
    let attributes = [float("lambd", most), float("bias", if soft { most } else { 0.0 })];
    Ok(vec![l.apply("Shrink", &[x], &attributes)?])
}

/// `thresholded_relu`: `x` above the threshold, another value elsewhere.
pub fn thresholded_relu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (least, other) = (l.float("threshold")?.unwrap_or(1.0), l.float("value")?.unwrap_or(0.0));
    let (x, least, other) = (l.input(0)?, constant_like(l, least)?, constant_like(l, other)?);
    Ok(vec![pick(of("Greater", x, least), x, other).put(l)?])
}

/// `swiglu`: of two inputs, or of the halves of one.
pub fn swiglu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let halves = if l.has(1) {
        vec![x, l.input(1)?]
    } else {
        l.apply_many("Split", &[x], &[int("axis", -1), int("num_outputs", 2)], 2)?
    };
    let gate = l.apply("Swish", &halves[..1], &[])?;
    Ok(vec![l.apply("Mul", &[gate, halves[1]], &[])?])
}

/// `rrelu`, where nothing trains: the slope is the mean of the bounds. The noise is for training.
pub fn rrelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.attributes.flag("is_test", false)? {
        return Err(cannot("rrelu in training"));
    }
    let (low, high) = (l.float("lower")?.unwrap_or(0.125), l.float("upper")?.unwrap_or(1.0 / 3.0));
    let x = l.input(0)?;
    let y = l.apply("LeakyRelu", &[x], &[float("alpha", f64::midpoint(low, high))])?;
    Ok(vec![y, x])
}

/// `hardswish`: `x * clip(x + offset, 0, threshold) / scale`.
pub fn hardswish(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let number = |name, default| Ok::<_, gradus_core::Error>(l.float(name)?.unwrap_or(default));
    let (most, scale, offset) = (number("threshold", 6.0)?, number("scale", 6.0)?, number("offset", 3.0)?);
    if (most, scale, offset) == (6.0, 6.0, 3.0) {
        return unary(l, "HardSwish");
    }
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let inner = of("Min", of("Max", x + offset, 0.0), most);
    Ok(vec![(x * inner / scale).write(l, dtype)?])
}

/// `gelu`, exact or by the hyperbolic tangent.
pub fn gelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let form = if l.attributes.flag("approximate", false)? { "tanh" } else { "none" };
    Ok(vec![with("Gelu", [l.input(0)?.into()], [("approximate", Content::Bytes(form.into()))]).put(l)?])
}

/// A function with attributes that are floats: the name in Paddle, that in ONNX, and the default.
pub fn activation(
    l: &mut Lowering<'_>,
    operator: &str,
    floats: &[(&str, &'static str, f64)],
) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let mut attributes = Vec::new();
    for &(own, name, default) in floats {
        attributes.push(float(name, l.float(own)?.unwrap_or(default)));
    }
    Ok(vec![l.apply(operator, &[x], &attributes)?])
}

/// `relu6`, `clip` and `hardtanh`: between two numbers.
pub fn clip(l: &mut Lowering<'_>, default: Option<(f64, f64)>) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let mut inputs = vec![x];
    for (input, name) in [(1, "min"), (2, "max")] {
        let bound = match default {
            Some((low, high)) => Some(if input == 1 { low } else { high }),
            None => l.float(name)?.or(l.float(&format!("t_{name}"))?),
        };
        inputs.push(if let Some(bound) = bound {
            l.constant(convert::cast(&Tensor::scalar(bound), dtype, Rules::IEEE)?)?
        } else {
            let given = l.input(input)?;
            let given = l.reshape(given, &[])?;
            l.cast(given, dtype)?
        });
    }
    Ok(vec![l.apply("Clip", &inputs, &[])?])
}

/// `pow`: elements raised to an attribute or to the second input.
pub fn pow(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let dtype = l.dtype_of(0)?;
    let y = match l.float("y")? {
        Some(y) => l.constant(convert::cast(&Tensor::scalar(y), dtype, Rules::IEEE)?)?,
        None => l.input(1)?,
    };
    Ok(vec![of("Pow", l.input(0)?, y).put(l)?])
}

/// `rsqrt`, `square` and their like: the operators one after the other.
pub fn chain(l: &mut Lowering<'_>, operators: &[&str]) -> Result<Vec<LoweredValue>> {
    let mut value = l.input(0)?;
    for operator in operators {
        value = l.apply(operator, &[value], &[])?;
    }
    Ok(vec![value])
}

/// `square`: `x * x`.
pub fn square(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    Ok(vec![l.apply("Mul", &[x, x], &[])?])
}

/// `maxout`: the maximum of each group of channels.
pub fn maxout(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, groups) = (l.input(0)?, l.attributes.int_or("groups", 1)?);
    let axis = axis(l.attributes.int_or("axis", 1)?, l.rank_of(0)?)?;
    let apart = divided(l, x, axis, &[-1, groups])?;
    let inner = l.list(&[i64_of(axis) + 1])?;
    Ok(vec![l.apply("ReduceMax", &[apart, inner], &[int("keepdims", 0)])?])
}

/// `prelu`: a slope for all, for each channel, or for each element.
pub fn prelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, mut slopes, rank) = (l.input(0)?, l.input(1)?, l.rank_of(0)?);
    let last = has_channels_last(l)?;
    match text(l, "mode", "all")? {
        "all" => slopes = l.reshape(slopes, &[])?,
        "channel" if last || rank < 2 => slopes = l.reshape(slopes, &[-1])?,
        "channel" => slopes = l.reshape(slopes, &[&[-1][..], &vec![1; rank - 2]].concat())?,
        _ => {}
    }
    Ok(vec![l.apply("PRelu", &[x, slopes], &[])?])
}
