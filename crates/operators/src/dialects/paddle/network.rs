//! Operators of networks: convolutions, pools, normalizations, activations.
//!
//! | operators | Paddle |
//! |---|---|
//! | `conv2d`, `depthwise_conv2d`, `conv2d_transpose`, `pool2d` | pads of each axis, or of each side, or by `padding_algorithm`; `NHWC` is transposed |
//! | `lp_pool2d` | without `ceil_mode` |
//! | `pool2d` | windows of `adaptive` pools follow from the size of the input |
//! | `batch_norm_`, `dropout` | only inference |
//! | `layer_norm` | scale and bias are flat |
//! | `embedding` | the row of `padding_idx` is zeros |

use gradus_core::convert::{self, Rules, i64_of, nearest_f64};
use gradus_core::graph::Content;
use gradus_core::{DType, Error, Kind, Number, Result, Tensor};

use crate::dialects::adaptive;
use crate::dialects::paddle::layout::list;
use crate::errors;
use crate::lowering::terms::{cast, f, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, along, axis, int, not_known};

pub(super) type LoweredAttributes = Vec<(&'static str, Content)>;

pub(super) fn cannot(what: &str) -> Error {
    Error::new(Kind::Unsupported, format!("cannot lower to ONNX operators: {what}"))
}

pub(super) fn text<'a>(l: &Lowering<'a>, name: &str, default: &'static str) -> Result<&'a str> {
    Ok(l.attributes.text(name)?.unwrap_or(default))
}

pub(super) fn ints(l: &Lowering<'_>, name: &str) -> Result<Vec<i64>> {
    Ok(l.attributes.ints(name)?.unwrap_or(&[]).to_vec())
}

/// A list of floats, which PIR has as tensors of one element.
pub(super) fn floats(l: &Lowering<'_>, name: &str) -> Result<Vec<f32>> {
    match l.attributes.get(name) {
        Some(Content::Tensors(all)) => {
            all.iter().map(|value| Ok(convert::nearest_f32(value.tensor()?.only_number()?))).collect()
        }
        Some(Content::Ints(none)) if none.is_empty() => Ok(Vec::new()),
        // Older operators have one number, of which 0 is none.
        Some(Content::Float(one)) => Ok(Some(*one).filter(|&one| one > 0.0).into_iter().collect()),
        _ => Ok(l.attributes.floats(name)?.unwrap_or(&[]).to_vec()),
    }
}

/// A float attribute of ONNX.
pub(super) fn float(name: &'static str, value: f64) -> (&'static str, Content) {
    (name, Content::Float(convert::nearest_f32(Number::Float(value))))
}

/// A number of the type of the first input.
pub(super) fn constant_like(l: &mut Lowering<'_>, value: f64) -> Result<LoweredValue> {
    let dtype = l.dtype_of(0)?;
    l.constant(convert::cast(&Tensor::scalar(value), dtype, Rules::IEEE)?)
}

/// Pads of `SAME`, as numbers: with them, `ceil(size / stride)` windows fit in each axis.
fn same_pads(l: &Lowering<'_>, window: &[i64]) -> Result<(&'static str, Content)> {
    let (strides, first) = (ints(l, "strides")?, first_axis(l)?);
    let mut pads = vec![0; 2 * window.len()];
    for (i, (&size, &stride)) in window.iter().zip(&strides).enumerate() {
        let (len, stride) = (known_size(l, 0, first + i)?, errors::at_least_1("strides", stride)?);
        let reach = (len - 1) / stride * stride + size;
        let more = reach.saturating_sub(len).max(0);
        pads[i] = more / 2;
        pads[window.len() + i] = more - more / 2;
    }
    Ok(("pads", Content::Ints(pads.into())))
}

/// The first axis of the data that windows move along.
fn first_axis(l: &Lowering<'_>) -> Result<usize> {
    Ok(if text(l, "data_format", "NCHW")?.ends_with('C') { 1 } else { 2 })
}

/// A dimension of an input that must be known.
fn known_size(l: &Lowering<'_>, input: usize, axis: usize) -> Result<i64> {
    let size = l.dims_of(input)?.get(axis).copied().flatten().map(i64_of);
    size.ok_or_else(|| not_known(format!("dimension {axis} of input {input}")))
}

/// Begin and end pads, as ONNX lists them.
fn pads(l: &Lowering<'_>) -> Result<(&'static str, Content)> {
    match text(l, "padding_algorithm", "EXPLICIT")? {
        "SAME" => return Ok(("auto_pad", Content::Bytes("SAME_UPPER".into()))),
        "VALID" => return Ok(("auto_pad", Content::Bytes("VALID".into()))),
        _ => {}
    }
    let (given, axes) = (ints(l, "paddings")?, l.rank_of(0)?.saturating_sub(2));
    let pads = if given.len() == axes {
        [&given[..], &given[..]].concat()
    } else if given.len() == 2 * axes {
        let of = |from| given.iter().skip(from).copied().step_by(2);
        of(0).chain(of(1)).collect()
    } else {
        let wanted = format_args!("{axes} or {}", 2 * axes);
        return Err(errors::count("elements of attribute \"paddings\"", given.len(), wanted));
    };
    Ok(("pads", Content::Ints(pads.into())))
}

/// The data with the channels before the other axes, and true if they were behind them.
pub(super) fn channels_first(l: &mut Lowering<'_>, value: LoweredValue) -> Result<(LoweredValue, bool)> {
    let rank = l.rank_of(0)?;
    if !text(l, "data_format", "NCHW")?.ends_with('C') || rank < 3 {
        return Ok((value, false));
    }
    let perm: Vec<_> = [0, rank - 1].into_iter().chain(1..rank - 1).map(i64_of).collect();
    Ok((l.transposed(value, &perm)?, true))
}

pub(super) fn channels_last(l: &mut Lowering<'_>, value: LoweredValue, last: bool) -> Result<LoweredValue> {
    if !last {
        return Ok(value);
    }
    let perm: Vec<_> = [0].into_iter().chain(2..l.rank_of(0)?).chain([1]).map(i64_of).collect();
    l.transposed(value, &perm)
}

pub(super) fn windows(l: &Lowering<'_>) -> Result<LoweredAttributes> {
    let mut dilations = ints(l, "dilations")?;
    if text(l, "padding_algorithm", "EXPLICIT")? == "SAME" {
        // Paddle drops them.
        dilations.fill(1);
    }
    Ok(vec![
        ("strides", Content::Ints(ints(l, "strides")?.into())),
        ("dilations", Content::Ints(dilations.into())),
        int("group", l.attributes.int_or("groups", 1)?),
        pads(l)?,
    ])
}

pub fn conv(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, filter) = (l.input(0)?, l.input(1)?);
    let (x, last) = channels_first(l, x)?;
    let y = l.apply("Conv", &[x, filter], &windows(l)?)?;
    Ok(vec![channels_last(l, y, last)?])
}

pub fn conv_transpose(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, filter) = (l.input(0)?, l.input(1)?);
    if l.has(2) {
        return Err(not_known("size of the result".to_owned()));
    }
    let (wanted, mut attributes) = (ints(l, "output_size")?, windows(l)?);
    let more = if wanted.is_empty() { ints(l, "output_padding")? } else { remainders(l, &wanted)? };
    if !more.is_empty() {
        attributes.push(("output_padding", Content::Ints(more.into())));
    }
    if text(l, "padding_algorithm", "EXPLICIT")? == "SAME" {
        // Pads are those of the convolution of the input; ONNX's follow from the output.
        let window = (2..l.rank_of(1)?).map(|axis| known_size(l, 1, axis)).collect::<Result<Vec<_>>>()?;
        attributes.retain(|(name, _)| *name != "auto_pad");
        attributes.push(same_pads(l, &window)?);
    }
    let (x, last) = channels_first(l, x)?;
    let y = l.apply("ConvTranspose", &[x, filter], &attributes)?;
    Ok(vec![channels_last(l, y, last)?])
}

/// Elements by which a transposed convolution of the wanted size is longer than its windows reach.
fn remainders(l: &Lowering<'_>, wanted: &[i64]) -> Result<Vec<i64>> {
    let ("pads", Content::Ints(pads)) = pads(l)? else {
        return Err(cannot("a transposed convolution with a size and a padding algorithm"));
    };
    let (strides, dilations) = (ints(l, "strides")?, ints(l, "dilations")?);
    let first = first_axis(l)?;
    let axes = wanted.len();
    if strides.len() != axes || dilations.len() != axes || pads.len() != 2 * axes {
        return Err(errors::count("elements of attribute \"output_size\"", axes, pads.len() / 2));
    }
    let rest = |i: usize| {
        let steps = known_size(l, 0, first + i)?.saturating_sub(1).saturating_mul(strides[i]);
        let window = known_size(l, 1, 2 + i)?.saturating_sub(1).saturating_mul(dilations[i]);
        let reach = steps.saturating_add(window).saturating_add(1);
        Ok(wanted[i].saturating_sub(reach.saturating_sub(pads[i]).saturating_sub(pads[axes + i])))
    };
    (0..axes).map(rest).collect()
}

/// Attributes of a pool of the size that is asked for.
fn pool_attributes(l: &Lowering<'_>, size: Vec<i64>, mean: bool) -> Result<LoweredAttributes> {
    let (strides, inclusive) = (ints(l, "strides")?, mean && !l.attributes.flag("exclusive", true)?);
    let ceil = l.attributes.flag("ceil_mode", false)?;
    let same = text(l, "padding_algorithm", "EXPLICIT")? == "SAME";
    let pads = if same && (ceil || inclusive) { same_pads(l, &size)? } else { pads(l)? };
    if let Content::Ints(pads) = &pads.1 {
        let (starts, ends) = pads.split_at(pads.len() / 2);
        for (i, ((&size, &stride), (start, end))) in
            size.iter().zip(&strides).zip(starts.iter().zip(ends)).enumerate()
        {
            // ONNX drops a last window that begins behind the data; Paddle has nothing to put there.
            if ceil && end.saturating_add(stride) > size {
                let len = known_size(l, 0, first_axis(l)? + i)?.saturating_add(*start);
                let steps = (len + end - size).max(0).saturating_add(stride - 1) / stride.max(1);
                if steps.saturating_mul(stride) >= len {
                    return Err(cannot("a pool whose last window begins behind the data"));
                }
            }
            // Paddle counts as many elements behind the data as before them.
            if inclusive && (end > start || (ceil && end < start)) {
                return Err(cannot("an average that counts pads which differ at the ends of an axis"));
            }
        }
    }
    let mut attributes = vec![
        ("kernel_shape", Content::Ints(size.into())),
        ("strides", Content::Ints(strides.into())),
        int("ceil_mode", ceil.into()),
        pads,
    ];
    if mean {
        attributes.push(int("count_include_pad", inclusive.into()));
    }
    Ok(attributes)
}

pub fn pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let size =
        l.attributes.ints("kernel_size")?.ok_or_else(|| not_known("size of the windows".to_owned()))?;
    let size = size.to_vec();
    let adapts = l.attributes.flag("adaptive", false)?;
    let mean = text(l, "pooling_type", "max")? == "avg";
    let y = if l.attributes.flag("global_pooling", false)? {
        l.apply(if mean { "GlobalAveragePool" } else { "GlobalMaxPool" }, &[x], &[])?
    } else if adapts {
        adaptive::pool(l, x, first_axis(l)?, &size, mean)?
    } else {
        let attributes = pool_attributes(l, size, mean)?;
        l.apply(if mean { "AveragePool" } else { "MaxPool" }, &[x], &attributes)?
    };
    Ok(vec![channels_last(l, y, last)?])
}

/// `lp_pool2d`: the root of the sum of powers, which are not of magnitudes.
pub fn power_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, size, dtype) = (l.input(0)?, ints(l, "kernel_size")?, l.dtype_of(0)?);
    let (x, last) = channels_first(l, x)?;
    let p = l.float("norm_type")?.unwrap_or(2.0);
    for name in ["global_pooling", "adaptive", "ceil_mode"] {
        if l.attributes.flag(name, false)? {
            return Err(cannot(&format!("lp_pool2d with {name}")));
        }
    }
    let mut area = 1.0;
    for &size in &size {
        area *= nearest_f64(Number::Int(errors::at_least_1("kernel_size", size)?.into()));
    }
    let mut attributes = pool_attributes(l, size, false)?;
    let y = if p == f64::INFINITY {
        l.apply("MaxPool", &[x], &attributes)?
    } else {
        attributes.push(int("count_include_pad", 1));
        let powers = of("Pow", x, p).write(l, dtype)?;
        let means = l.apply("AveragePool", &[powers], &attributes)?;
        of("Pow", means * area, 1.0 / p).write(l, dtype)?
    };
    Ok(vec![channels_last(l, y, last)?])
}

/// `max_pool2d_with_index` and `max_pool3d_with_index`: indices count the elements of a channel,
/// where those of ONNX count all.
pub fn pool_with_index(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, size) = (l.input(0)?, ints(l, "kernel_size")?);
    let adapts = l.attributes.flag("adaptive", false)?;
    let one = adapts && size.iter().all(|&size| size == 1);
    if one || l.attributes.flag("global_pooling", false)? {
        let value = l.apply("GlobalMaxPool", &[x], &[])?;
        let (flat, dims) = (l.reshape(x, &[0, 0, -1])?, l.shape(value)?);
        let index = of("Reshape", with("ArgMax", [flat.into()], [int("axis", 2)]), dims).put(l)?;
        return Ok(vec![value, l.cast(index, DType::I32)?]);
    }
    if adapts {
        let [value, index] = adaptive::pool_with_index(l, x, &size, None)?;
        return Ok(vec![value, l.cast(index, DType::I32)?]);
    }
    let attributes = pool_attributes(l, size, false)?;
    let outputs = l.apply_many("MaxPool", &[x], &attributes, 2)?;
    let area = f("ReduceProd", with("Shape", [x.into()], [int("start", 2)])).put(l)?;
    let index = l.apply("Mod", &[outputs[1], area], &[])?;
    Ok(vec![outputs[0], l.cast(index, DType::I32)?])
}

/// `unpool`, `unpool3d`: each element at its place of an output that is zero elsewhere.
pub fn unpool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, index) = (l.input(0)?, l.input(1)?);
    let size = list(l, "output_size", 2)?;
    let planes = l.apply("Shape", &[x], &[int("end", 2)])?;
    let flat = with("Concat", [planes.into(), f("ReduceProd", size)], [along(0)]).put(l)?;
    let zero = constant_like(l, 0.0)?;
    let index = l.cast(index, DType::I64)?;
    let (index, elements) = (l.reshape(index, &[0, 0, -1])?, l.reshape(x, &[0, 0, -1])?);
    let full = with("ScatterElements", [of("Expand", zero, flat), index.into(), elements.into()], [along(2)])
        .put(l)?;
    Ok(vec![of("Reshape", full, with("Concat", [planes.into(), size.into()], [along(0)])).put(l)?])
}

pub fn batch_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.attributes.flag("is_test", false)? && !l.attributes.flag("use_global_stats", false)? {
        return Err(cannot("batch_norm in training"));
    }
    let [x, mean, variance] = [l.input(0)?, l.input(1)?, l.input(2)?];
    let epsilon = l.float("epsilon")?.unwrap_or(1e-5);
    let (x, last) = channels_first(l, x)?;
    let [scale, bias] = affine(l, x, 3)?;
    let y = l.apply("BatchNormalization", &[x, scale, bias, mean, variance], &[float("epsilon", epsilon)])?;
    let y = channels_last(l, y, last)?;
    // The other outputs are for training: the statistics stay, and nobody reads the reserve.
    let reserve = l.cast(mean, DType::U8)?;
    Ok(vec![y, mean, variance, mean, variance, reserve])
}

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

/// `embedding`; the indices of `lookup_table` have a last axis of one element.
pub fn embedding(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut index, weight) = (l.input(0)?, l.input(1)?);
    if l.node_is("lookup_table") {
        let last = l.list(&[-1])?;
        index = l.apply("Squeeze", &[index, last], &[])?;
    }
    let rows = l.apply("Gather", &[weight, index], &[along(0)])?;
    let padding = l.attributes.int_or("padding_idx", -1)?;
    if padding == -1 {
        return Ok(vec![rows]);
    }
    let padding = l.constant(Tensor::scalar(padding))?;
    let is_padding = of("Equal", cast(index, DType::I64), padding).put(l)?;
    let last = l.list(&[-1])?;
    let zero = l.constant(convert::cast(&Tensor::scalar(0f64), l.dtype_of(1)?, Rules::IEEE)?)?;
    Ok(vec![pick(of("Unsqueeze", is_padding, last), zero, rows).put(l)?])
}

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

pub fn square(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    Ok(vec![l.apply("Mul", &[x, x], &[])?])
}

pub fn arg(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let mut x = l.input(0)?;
    let flat = l.attributes.flag("flatten", false)?;
    if flat {
        x = l.reshape(x, &[-1])?;
    }
    let axis =
        if flat { 0 } else { l.attributes.int("axis")?.ok_or_else(|| not_known("axis".to_owned()))? };
    let keep = l.attributes.flag("keepdims", false)?;
    let mut y = l.apply(operator, &[x], &[int("axis", axis), int("keepdims", (keep && !flat).into())])?;
    if keep && flat {
        y = l.reshape(y, &vec![1; l.rank_of(0)?])?;
    }
    match l.dtype("dtype")? {
        Some(to) if to != DType::I64 => Ok(vec![l.cast(y, to)?]),
        _ => Ok(vec![y]),
    }
}

/// `tril` and `triu`; of old programs `tril_triu`, with the attribute `lower`.
pub fn triangle(l: &mut Lowering<'_>, upper: bool) -> Result<Vec<LoweredValue>> {
    let upper = !l.attributes.flag("lower", !upper)?;
    let diagonal = l.attributes.int_or("diagonal", 0)?;
    let diagonal = l.constant(Tensor::scalar(diagonal))?;
    Ok(vec![with("Trilu", [l.input(0)?.into(), diagonal.into()], [int("upper", upper.into())]).put(l)?])
}

pub fn flip(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let axes = ints(l, "axis")?.into_iter().map(|each| axis(each, rank).map(i64_of));
    let axes = axes.collect::<Result<Vec<_>>>()?;
    let [starts, ends, steps] = [-1, i64::MIN, -1].map(|value| vec![value; axes.len()]);
    let inputs = [x, l.list(&starts)?, l.list(&ends)?, l.list(&axes)?, l.list(&steps)?];
    Ok(vec![l.apply("Slice", &inputs, &[])?])
}

pub fn cumulative(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let mut x = l.input(0)?;
    let mut axis = l.attributes.int("axis")?.or(l.attributes.int("dim")?).unwrap_or(-1);
    if l.attributes.flag("flatten", false)? {
        x = l.reshape(x, &[-1])?;
        axis = 0;
    }
    let axis = l.constant(Tensor::scalar(axis))?;
    let attributes = ["exclusive", "reverse"].map(|name| (name, l.attributes.flag(name, false)));
    let attributes =
        attributes.into_iter().map(|(name, flag)| Ok(int(name, flag?.into()))).collect::<Result<Vec<_>>>()?;
    Ok(vec![l.apply(operator, &[x, axis], &attributes)?])
}

pub fn topk(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, k) = (l.input(0)?, list(l, "k", 1)?);
    let attributes = [
        int("axis", l.attributes.int_or("axis", -1)?),
        int("largest", l.attributes.flag("largest", true)?.into()),
        int("sorted", 1),
    ];
    l.apply_many("TopK", &[x, k], &attributes, 2)
}

pub fn take_along_axis(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, index) = (l.input(0)?, l.input(1)?);
    Ok(vec![l.apply("GatherElements", &[x, index], &[int("axis", l.attributes.int_or("axis", 0)?)])?])
}

/// `nonzero`: an index a row, where ONNX has one a column.
pub fn nonzero(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    Ok(vec![with("Transpose", [f("NonZero", l.input(0)?)], [("perm", Content::Ints([1, 0].into()))]).put(l)?])
}

/// `nearest_interp`, `bilinear_interp` and their like. Behind the data are the sizes as one tensor,
/// as a tensor for each axis, and the scales.
pub fn resize(l: &mut Lowering<'_>, kind: &'static str) -> Result<Vec<LoweredValue>> {
    let axes = l.rank_of(0)?.checked_sub(2).filter(|axes| (1..=3).contains(axes));
    let axes = axes.ok_or_else(|| cannot("a resized tensor of another rank than 3 to 5"))?;
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let (corners, mode) = (l.attributes.flag("align_corners", true)?, l.attributes.int_or("align_mode", 1)?);
    let coordinates = match (corners, kind, mode) {
        (true, ..) => "align_corners",
        (false, "cubic", _) => "half_pixel",
        // One element is the first.
        (false, "linear", 0) => "pytorch_half_pixel",
        (false, ..) => "asymmetric",
    };
    let name = |name: &'static str, value: &str| (name, Content::Bytes(value.to_owned().into()));
    let attributes = [
        name("coordinate_transformation_mode", coordinates),
        name("mode", kind),
        name("nearest_mode", if corners { "round_prefer_ceil" } else { "floor" }),
    ];
    let each = l.has(2) && l.count() >= 2 + axes;
    let scale = floats(l, "scale")?;
    let scales = match (&scale[..], l.has(1) || each, l.has(3)) {
        (_, true, _) => None,
        (_, _, true) => Some(l.input(3)?),
        ([], ..) => None,
        (scale, ..) => Some(l.constant(Tensor::vector(scale))?),
    };
    let y = if let Some(scales) = scales {
        let (count, outer) = (l.list(&[i64_of(axes)])?, l.constant(Tensor::vector(&[1.0f32, 1.0]))?);
        let scales = of("Expand", cast(scales, DType::F32), count).put(l)?;
        if corners {
            // By scales, the `onnx` package's reference aligns corners with the size before it is cut.
            let sizes = (cast(with("Shape", [x.into()], [int("start", 2)]), DType::F32) * scales).put(l)?;
            let sizes = l.cast(sizes, DType::I64)?;
            return resized(l, x, sizes, &attributes, last);
        }
        let scales = l.apply("Concat", &[outer, scales], &[along(0)])?;
        l.apply("Resize", &[x, LoweredValue::NONE, scales], &attributes)?
    } else {
        let names = &["out_d", "out_h", "out_w"][3 - axes..];
        let sizes = names.iter().map(|name| l.attributes.int_or(name, -1)).collect::<Result<Vec<_>>>()?;
        let sizes = if l.has(1) {
            let given = l.input(1)?;
            l.cast(given, DType::I64)?
        } else if each {
            let mut parts = Vec::new();
            for input in 2..2 + axes {
                let part = l.input(input)?;
                let part = l.reshape(part, &[1])?;
                parts.push(l.cast(part, DType::I64)?);
            }
            l.apply("Concat", &parts, &[along(0)])?
        } else if sizes.iter().all(|&size| size > 0) {
            l.list(&sizes)?
        } else {
            return Err(not_known("size of the result".to_owned()));
        };
        return resized(l, x, sizes, &attributes, last);
    };
    Ok(vec![channels_last(l, y, last)?])
}

/// The data resized to sizes of its inner axes.
fn resized(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    sizes: LoweredValue,
    attributes: &[(&str, Content)],
    last: bool,
) -> Result<Vec<LoweredValue>> {
    let sizes =
        with("Concat", [with("Shape", [x.into()], [int("end", 2)]), sizes.into()], [along(0)]).put(l)?;
    let y = l.apply("Resize", &[x, LoweredValue::NONE, LoweredValue::NONE, sizes], attributes)?;
    Ok(vec![channels_last(l, y, last)?])
}

/// `pad`: begin and end of each axis. `pad2d` and `pad3d`: of the inner axes, from the last on.
pub fn pad(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let value = if let Some(value) = l.float("pad_value")? {
        constant_like(l, if l.is_imaginary() { 0.0 } else { value })?
    } else if l.is_imaginary() {
        constant_like(l, 0.0)?
    } else {
        let (given, dtype) = (l.input(1)?, l.dtype_of(0)?);
        let given = l.reshape(given, &[])?;
        l.cast(given, dtype)?
    };
    let pads = if l.node_is("pad") {
        let given = ints(l, "paddings")?;
        if given.len() != 2 * rank {
            return Err(errors::count("elements of attribute \"paddings\"", given.len(), 2 * rank));
        }
        let of = |from| given.iter().skip(from).copied().step_by(2);
        l.list(&of(0).chain(of(1)).collect::<Vec<_>>())?
    } else {
        let plane = l.node_is("pad2d");
        let inner = if plane { 2 } else { 3 };
        if rank != inner + 2 {
            return Err(errors::rank("the input", rank, inner + 2));
        }
        let given = list(l, "paddings", 1)?;
        // `pad2d` counts from the first axis, `pad3d` from the last.
        let order: [&[i64]; 2] = if plane { [&[0, 2], &[1, 3]] } else { [&[4, 2, 0], &[5, 3, 1]] };
        let last = text(l, "data_format", "NCDHW")?.ends_with('C');
        let outer: [&[i64]; 2] = if last { [&[0], &[0]] } else { [&[0, 0], &[]] };
        let outer = [l.list(outer[0])?, l.list(outer[1])?];
        let mut parts = Vec::new();
        for side in order {
            let which = l.list(side)?;
            let side = l.apply("Gather", &[given, which], &[])?;
            parts.extend([outer[0], side, outer[1]]);
        }
        l.apply("Concat", &parts, &[along(0)])?
    };
    let mode = match text(l, "mode", "constant")? {
        "constant" => "constant",
        "reflect" => "reflect",
        "replicate" | "edge" => "edge",
        "circular" => "wrap",
        _ => return Err(cannot("padding in this mode")),
    };
    Ok(vec![l.apply("Pad", &[x, pads, value], &[("mode", Content::Bytes(mode.to_owned().into()))])?])
}

/// `grid_sample` and `affine_grid`.
pub fn grid_sample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [l.input(0)?, l.input(1)?];
    let mode = if text(l, "mode", "bilinear")? == "nearest" { "nearest" } else { "linear" };
    let attributes = [
        ("mode", Content::Bytes(mode.to_owned().into())),
        ("padding_mode", Content::Bytes(text(l, "padding_mode", "zeros")?.to_owned().into())),
        int("align_corners", l.attributes.flag("align_corners", true)?.into()),
    ];
    Ok(vec![l.apply("GridSample", &inputs, &attributes)?])
}

pub fn affine_grid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let inputs = [l.input(0)?, list(l, "output_shape", 1)?];
    let corners = int("align_corners", l.attributes.flag("align_corners", true)?.into());
    Ok(vec![l.apply("AffineGrid", &inputs, &[corners])?])
}

/// The same elements with the axis as several, of which one may be -1.
fn divided(l: &mut Lowering<'_>, x: LoweredValue, axis: usize, into: &[i64]) -> Result<LoweredValue> {
    let (before, after) = (int("end", i64_of(axis)), int("start", i64_of(axis) + 1));
    let parts = [l.apply("Shape", &[x], &[before])?, l.list(into)?, l.apply("Shape", &[x], &[after])?];
    let dims = l.apply("Concat", &parts, &[along(0)])?;
    l.apply("Reshape", &[x, dims], &[])
}

/// Channels that are so many groups, group by group, as the first of each group, the second, ….
fn shuffled(l: &mut Lowering<'_>, x: LoweredValue, groups: i64) -> Result<LoweredValue> {
    let apart = divided(l, x, 1, &[groups, -1])?;
    let swapped = l.transposed(apart, &[0, 2, 1, 3, 4])?;
    let (batch, inner) =
        (l.apply("Shape", &[x], &[int("end", 1)])?, l.apply("Shape", &[x], &[int("start", 2)])?);
    let channels = l.list(&[-1])?;
    let dims = l.apply("Concat", &[batch, channels, inner], &[along(0)])?;
    l.apply("Reshape", &[swapped, dims], &[])
}

/// `pixel_shuffle`, `pixel_unshuffle` and `channel_shuffle`.
pub fn shuffle(l: &mut Lowering<'_>, factor: &str) -> Result<Vec<LoweredValue>> {
    let (x, by, rank) = (l.input(0)?, l.attributes.int_or(factor, 1)?, l.rank_of(0)?);
    if rank != 4 {
        return Err(errors::rank("the input", rank, 4));
    }
    if !(1..=1 << 16).contains(&by) {
        return Err(errors::value(format_args!("attribute \"{factor}\""), by, "from 1 to 65536"));
    }
    let (x, last) = channels_first(l, x)?;
    let y = match factor {
        "upscale_factor" => {
            l.apply("DepthToSpace", &[x], &[int("blocksize", by), ("mode", Content::Bytes("CRD".into()))])?
        }
        "downscale_factor" => {
            let blocks = l.apply("SpaceToDepth", &[x], &[int("blocksize", by)])?;
            shuffled(l, blocks, by * by)?
        }
        _ => shuffled(l, x, by)?,
    };
    Ok(vec![channels_last(l, y, last)?])
}

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
    let last = text(l, "data_format", "NCHW")?.ends_with('C');
    match text(l, "mode", "all")? {
        "all" => slopes = l.reshape(slopes, &[])?,
        "channel" if last || rank < 2 => slopes = l.reshape(slopes, &[-1])?,
        "channel" => slopes = l.reshape(slopes, &[&[-1][..], &vec![1; rank - 2]].concat())?,
        _ => {}
    }
    Ok(vec![l.apply("PRelu", &[x, slopes], &[])?])
}
