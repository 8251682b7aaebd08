//! Operators of networks: convolutions, pools, normalizations, activations.
//!
//! | operators | Paddle |
//! |---|---|
//! | `conv2d`, `depthwise_conv2d`, `conv2d_transpose`, `pool2d` | pads of each axis, or of each side, or by `padding_algorithm`; `NHWC` is transposed |
//! | `pool2d` | of `adaptive` pools, only those to one element |
//! | `batch_norm_`, `dropout` | only inference |
//! | `layer_norm` | scale and bias are flat |
//! | `embedding` | the row of `padding_idx` is zeros |

use gradus_core::convert::{self, Rules, i64_of};
use gradus_core::graph::Content;
use gradus_core::{DType, Error, Kind, Result, Tensor};

use super::math::number;
use crate::lowering::{LoweredValue, Lowering, along, axis, int, not_known};
use crate::operators::errors;

type LoweredAttributes = Vec<(&'static str, Content)>;

pub(super) fn cannot(what: &str) -> Error {
    Error::new(Kind::Unsupported, format!("cannot lower to ONNX operators: {what}"))
}

pub(super) fn text<'a>(l: &Lowering<'a>, name: &str, default: &'static str) -> Result<&'a str> {
    Ok(l.attributes.text(name)?.unwrap_or(default))
}

fn ints(l: &Lowering<'_>, name: &str) -> Result<Vec<i64>> {
    Ok(l.attributes.ints(name)?.unwrap_or(&[]).to_vec())
}

/// A list of floats, which PIR has as tensors of one element.
fn floats(l: &Lowering<'_>, name: &str) -> Result<Vec<f32>> {
    match l.attributes.get(name) {
        Some(Content::Tensors(all)) => {
            all.iter().map(|value| Ok(convert::nearest_f32(value.tensor()?.only_number()?))).collect()
        }
        Some(Content::Ints(none)) if none.is_empty() => Ok(Vec::new()),
        _ => Ok(l.attributes.floats(name)?.unwrap_or(&[]).to_vec()),
    }
}

/// A float attribute of ONNX.
pub(super) fn float(name: &'static str, value: f64) -> (&'static str, Content) {
    (name, Content::Float(convert::nearest_f32(gradus_core::Number::Float(value))))
}

/// Begin and end pads, as ONNX lists them.
fn pads(l: &Lowering<'_>) -> Result<(&'static str, Content)> {
    match text(l, "padding_algorithm", "EXPLICIT")? {
        "SAME" => return Ok(("auto_pad", Content::Bytes("SAME_UPPER".into()))),
        "VALID" => return Ok(("auto_pad", Content::Bytes("VALID".into()))),
        _ => {}
    }
    let given = ints(l, "paddings")?;
    let pads = match given[..] {
        [height, width] => vec![height, width, height, width],
        [top, bottom, left, right] => vec![top, left, bottom, right],
        [depth, height, width] => vec![depth, height, width, depth, height, width],
        [front, back, top, bottom, left, right] => vec![front, top, left, back, bottom, right],
        _ => return Err(errors::count("elements of attribute \"paddings\"", given.len(), "2, 3, 4 or 6")),
    };
    Ok(("pads", Content::Ints(pads)))
}

/// The data with the channels before the other axes, and true if they were behind them.
pub(super) fn channels_first(l: &mut Lowering<'_>, value: LoweredValue) -> Result<(LoweredValue, bool)> {
    let order: &[i64] = match text(l, "data_format", "NCHW")? {
        "NHWC" => &[0, 3, 1, 2],
        "NDHWC" => &[0, 4, 1, 2, 3],
        "NLC" => &[0, 2, 1],
        _ => return Ok((value, false)),
    };
    Ok((l.apply("Transpose", &[value], &[("perm", Content::Ints(order.to_vec()))])?, true))
}

pub(super) fn channels_last(l: &mut Lowering<'_>, value: LoweredValue, last: bool) -> Result<LoweredValue> {
    if !last {
        return Ok(value);
    }
    let order: &[i64] = match text(l, "data_format", "NCHW")? {
        "NHWC" => &[0, 2, 3, 1],
        "NDHWC" => &[0, 2, 3, 4, 1],
        _ => &[0, 2, 1],
    };
    l.apply("Transpose", &[value], &[("perm", Content::Ints(order.to_vec()))])
}

fn windows(l: &Lowering<'_>) -> Result<LoweredAttributes> {
    Ok(vec![
        ("strides", Content::Ints(ints(l, "strides")?)),
        ("dilations", Content::Ints(ints(l, "dilations")?)),
        int("group", l.attributes.int_or("groups", 1)?),
        pads(l)?,
    ])
}

pub(crate) fn conv(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, filter) = (l.input(0)?, l.input(1)?);
    let (x, last) = channels_first(l, x)?;
    let y = l.apply("Conv", &[x, filter], &windows(l)?)?;
    Ok(vec![channels_last(l, y, last)?])
}

pub(crate) fn conv_transpose(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, filter) = (l.input(0)?, l.input(1)?);
    if l.has(2) || !ints(l, "output_size")?.is_empty() {
        return Err(cannot("conv2d_transpose with an output size"));
    }
    let (x, last) = channels_first(l, x)?;
    let mut attributes = windows(l)?;
    let more = ints(l, "output_padding")?;
    if !more.is_empty() {
        attributes.push(("output_padding", Content::Ints(more)));
    }
    let y = l.apply("ConvTranspose", &[x, filter], &attributes)?;
    Ok(vec![channels_last(l, y, last)?])
}

pub(crate) fn pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let size =
        l.attributes.ints("kernel_size")?.ok_or_else(|| not_known("size of the windows".to_owned()))?;
    let size = size.to_vec();
    let adaptive = l.attributes.flag("adaptive", false)?;
    let mean = text(l, "pooling_type", "max")? == "avg";
    let global =
        l.attributes.flag("global_pooling", false)? || (adaptive && size.iter().all(|&size| size == 1));
    let y = if global {
        l.apply(if mean { "GlobalAveragePool" } else { "GlobalMaxPool" }, &[x], &[])?
    } else if adaptive {
        return Err(cannot("an adaptive pool to more than one element"));
    } else {
        let mut attributes = vec![
            ("kernel_shape", Content::Ints(size)),
            ("strides", Content::Ints(ints(l, "strides")?)),
            int("ceil_mode", l.attributes.flag("ceil_mode", false)?.into()),
            pads(l)?,
        ];
        if mean {
            attributes.push(int("count_include_pad", (!l.attributes.flag("exclusive", true)?).into()));
        }
        l.apply(if mean { "AveragePool" } else { "MaxPool" }, &[x], &attributes)?
    };
    Ok(vec![channels_last(l, y, last)?])
}

pub(crate) fn batch_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.attributes.flag("is_test", false)? && !l.attributes.flag("use_global_stats", false)? {
        return Err(cannot("batch_norm in training"));
    }
    let [x, mean, variance, scale, bias] = [l.input(0)?, l.input(1)?, l.input(2)?, l.input(3)?, l.input(4)?];
    let epsilon = l.float("epsilon")?.unwrap_or(1e-5);
    let (x, last) = if l.rank_of(0)? >= 4 { channels_first(l, x)? } else { (x, false) };
    let y = l.apply("BatchNormalization", &[x, scale, bias, mean, variance], &[float("epsilon", epsilon)])?;
    let y = channels_last(l, y, last)?;
    // The other outputs are for training: the statistics stay, and nobody reads the reserve.
    let reserve = l.cast(mean, DType::U8)?;
    Ok(vec![y, mean, variance, mean, variance, reserve])
}

pub(crate) fn layer_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let first = axis(l.attributes.int_or("begin_norm_axis", 1)?, rank)?;
    let epsilon = l.float("epsilon")?.unwrap_or(1e-5);
    let dims = l.apply("Shape", &[x], &[int("start", i64_of(first))])?;
    let one = l.constant(convert::cast(&Tensor::scalar(1f64), l.dtype_of(0)?, Rules::IEEE)?)?;
    let mut inputs = vec![x];
    for input in [1, 2] {
        let zero = |l: &mut Lowering<'_>| l.apply("Sub", &[one, one], &[]);
        let flat = match (l.has(input), input) {
            (true, _) => {
                let given = l.input(input)?;
                l.apply("Reshape", &[given, dims], &[])?
            }
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

pub(crate) fn group_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if !l.has(1) || !l.has(2) {
        return Err(cannot("group_norm without scale and bias"));
    }
    let [x, scale, bias] = [l.input(0)?, l.input(1)?, l.input(2)?];
    let (x, last) = channels_first(l, x)?;
    let (groups, epsilon) = (l.attributes.int_or("groups", 1)?, l.float("epsilon")?.unwrap_or(1e-5));
    let attributes = [int("num_groups", groups), float("epsilon", epsilon)];
    let y = l.apply("GroupNormalization", &[x, scale, bias], &attributes)?;
    let mut outputs = vec![channels_last(l, y, last)?];
    if l.outputs() > 1 {
        let (rows, axis) = (l.reshape(x, &[0, groups, -1])?, l.list(&[2])?);
        let means = l.apply("ReduceMean", &[rows, axis], &[])?;
        let apart = l.apply("Sub", &[rows, means], &[])?;
        let squares = l.apply("Mul", &[apart, apart], &[])?;
        let variances = l.apply("ReduceMean", &[squares, axis], &[int("keepdims", 0)])?;
        outputs.extend([l.apply("Squeeze", &[means, axis], &[])?, variances]);
    }
    Ok(outputs)
}

pub(crate) fn dropout(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
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
        let kept = l.apply("Sub", &[one, ratio], &[])?;
        l.apply("Mul", &[x, kept], &[])?
    };
    let mask = l.cast(x, DType::U8)?;
    Ok(vec![y, mask])
}

pub(crate) fn embedding(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (index, weight) = (l.input(0)?, l.input(1)?);
    let rows = l.apply("Gather", &[weight, index], &[along(0)])?;
    let padding = l.attributes.int_or("padding_idx", -1)?;
    if padding == -1 {
        return Ok(vec![rows]);
    }
    let (index, padding) = (l.cast(index, DType::I64)?, l.constant(Tensor::scalar(padding))?);
    let is_padding = l.apply("Equal", &[index, padding], &[])?;
    let last = l.list(&[-1])?;
    let is_padding = l.apply("Unsqueeze", &[is_padding, last], &[])?;
    let zero = l.constant(convert::cast(&Tensor::scalar(0f64), l.dtype_of(1)?, Rules::IEEE)?)?;
    Ok(vec![l.apply("Where", &[is_padding, zero, rows], &[])?])
}

pub(crate) fn gelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let form = if l.attributes.flag("approximate", false)? { "tanh" } else { "none" };
    Ok(vec![l.apply("Gelu", &[x], &[("approximate", Content::Bytes(form.into()))])?])
}

/// A function with attributes that are floats: the name in Paddle, that in ONNX, and the default.
pub(crate) fn activation(
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
pub(crate) fn clip(
    l: &mut Lowering<'_>,
    names: [&str; 2],
    default: Option<(f64, f64)>,
) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let mut inputs = vec![x];
    for (input, name) in (1..).zip(names) {
        let bound = match default {
            Some((low, high)) => Some(if input == 1 { low } else { high }),
            None => l.float(name)?,
        };
        inputs.push(if let Some(bound) = bound {
            number(l, bound)?
        } else {
            let given = l.input(input)?;
            let given = l.reshape(given, &[])?;
            l.cast(given, dtype)?
        });
    }
    Ok(vec![l.apply("Clip", &inputs, &[])?])
}

pub(crate) fn pow(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (l.input(0)?, l.dtype_of(0)?);
    let y = match l.float("y")? {
        Some(y) => l.constant(convert::cast(&Tensor::scalar(y), dtype, Rules::IEEE)?)?,
        None => l.input(1)?,
    };
    Ok(vec![l.apply("Pow", &[x, y], &[])?])
}

/// `rsqrt`, `square` and their like: the operators one after the other.
pub(crate) fn chain(l: &mut Lowering<'_>, operators: &[&str]) -> Result<Vec<LoweredValue>> {
    let mut value = l.input(0)?;
    for operator in operators {
        value = l.apply(operator, &[value], &[])?;
    }
    Ok(vec![value])
}

pub(crate) fn square(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    Ok(vec![l.apply("Mul", &[x, x], &[])?])
}

pub(crate) fn arg(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let mut x = l.input(0)?;
    let flat = l.attributes.flag("flatten", false)?;
    if flat {
        x = l.reshape(x, &[-1])?;
    }
    let axis =
        if flat { 0 } else { l.attributes.int("axis")?.ok_or_else(|| not_known("axis".to_owned()))? };
    let keep = l.attributes.flag("keepdims", false)? && !flat;
    let y = l.apply(operator, &[x], &[int("axis", axis), int("keepdims", keep.into())])?;
    match l.dtype("dtype")? {
        Some(to) if to != DType::I64 => Ok(vec![l.cast(y, to)?]),
        _ => Ok(vec![y]),
    }
}

/// `tril` and `triu`.
pub(crate) fn triangle(l: &mut Lowering<'_>, upper: bool) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let diagonal = l.attributes.int_or("diagonal", 0)?;
    let diagonal = l.constant(Tensor::scalar(diagonal))?;
    Ok(vec![l.apply("Trilu", &[x, diagonal], &[int("upper", upper.into())])?])
}

pub(crate) fn flip(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let axes = ints(l, "axis")?.into_iter().map(|each| axis(each, rank).map(i64_of));
    let axes = axes.collect::<Result<Vec<_>>>()?;
    let [starts, ends, steps] = [-1, i64::MIN, -1].map(|value| vec![value; axes.len()]);
    let inputs = [x, l.list(&starts)?, l.list(&ends)?, l.list(&axes)?, l.list(&steps)?];
    Ok(vec![l.apply("Slice", &inputs, &[])?])
}

/// `cumsum` and `cumprod`.
pub(crate) fn cumulative(l: &mut Lowering<'_>, operator: &str, name: &str) -> Result<Vec<LoweredValue>> {
    let mut x = l.input(0)?;
    let mut axis = l.attributes.int(name)?.unwrap_or(-1);
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

pub(crate) fn topk(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, k) = (l.input(0)?, l.attributes.int("k")?);
    let k = if let Some(k) = k {
        l.list(&[k])?
    } else {
        let given = l.input(1)?;
        let given = l.reshape(given, &[1])?;
        l.cast(given, DType::I64)?
    };
    let attributes = [
        int("axis", l.attributes.int_or("axis", -1)?),
        int("largest", l.attributes.flag("largest", true)?.into()),
        int("sorted", 1),
    ];
    l.apply_many("TopK", &[x, k], &attributes, 2)
}

pub(crate) fn take_along_axis(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, index) = (l.input(0)?, l.input(1)?);
    Ok(vec![l.apply("GatherElements", &[x, index], &[int("axis", l.attributes.int_or("axis", 0)?)])?])
}

/// `nonzero`: an index a row, where ONNX has one a column.
pub(crate) fn nonzero(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let places = l.apply("NonZero", &[x], &[])?;
    Ok(vec![l.apply("Transpose", &[places], &[("perm", Content::Ints(vec![1, 0]))])?])
}

/// `nearest_interp`, `bilinear_interp` and their like.
pub(crate) fn resize(l: &mut Lowering<'_>, form: &str) -> Result<Vec<LoweredValue>> {
    let rank = l.rank_of(0)?;
    if !(3..=5).contains(&rank) || l.has(2) || l.has(3) {
        return Err(cannot("a resized tensor of another rank than 3, 4 or 5, or by a list of tensors"));
    }
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let (corners, mode) = (l.attributes.flag("align_corners", true)?, l.attributes.int_or("align_mode", 1)?);
    let coordinates = match (corners, form, mode) {
        (true, ..) => "align_corners",
        (false, "linear", 0) | (false, "cubic", _) => "half_pixel",
        (false, ..) => "asymmetric",
    };
    let name = |name: &'static str, value: &str| (name, Content::Bytes(value.to_owned().into()));
    let attributes = [
        name("coordinate_transformation_mode", coordinates),
        name("mode", form),
        name("nearest_mode", if corners { "round_prefer_ceil" } else { "floor" }),
    ];
    let none = l.constant(Tensor::vector::<f32>(&[]))?;
    let scale = floats(l, "scale")?;
    let sizes = ["out_d", "out_h", "out_w"].map(|name| l.attributes.int_or(name, -1));
    let sizes = sizes.into_iter().skip(5 - rank).collect::<Result<Vec<_>>>()?;
    let y = if scale.len() == rank - 2 && !l.has(1) {
        let scales: Vec<_> = [1.0, 1.0].into_iter().chain(scale).collect();
        let scales = l.constant(Tensor::vector(&scales))?;
        l.apply("Resize", &[x, none, scales], &attributes)?
    } else {
        let sizes = if l.has(1) {
            let given = l.input(1)?;
            l.cast(given, DType::I64)?
        } else if sizes.iter().all(|&size| size > 0) {
            l.list(&sizes)?
        } else {
            return Err(not_known("size of the result".to_owned()));
        };
        let outer = l.apply("Shape", &[x], &[int("end", 2)])?;
        let sizes = l.apply("Concat", &[outer, sizes], &[along(0)])?;
        l.apply("Resize", &[x, none, none, sizes], &attributes)?
    };
    Ok(vec![channels_last(l, y, last)?])
}

/// `max_pool2d_with_index`: places count within a channel.
pub(crate) fn pool_with_index(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    if l.attributes.flag("adaptive", false)? || l.attributes.flag("global_pooling", false)? {
        return Err(cannot("an adaptive or global pool with indices"));
    }
    let attributes = [
        ("kernel_shape", Content::Ints(ints(l, "kernel_size")?)),
        ("strides", Content::Ints(ints(l, "strides")?)),
        int("ceil_mode", l.attributes.flag("ceil_mode", false)?.into()),
        pads(l)?,
    ];
    let y = l.apply_many("MaxPool", &[x], &attributes, 2)?;
    let spatial = l.apply("Shape", &[x], &[int("start", 2)])?;
    let count = l.apply("ReduceProd", &[spatial], &[int("keepdims", 0)])?;
    let places = l.apply("Mod", &[y[1], count], &[])?;
    Ok(vec![y[0], l.cast(places, DType::I32)?])
}

/// `instance_norm`: each channel of each sample by itself.
pub(crate) fn instance_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank, epsilon) = (l.input(0)?, l.rank_of(0)?, l.float("epsilon")?.unwrap_or(1e-5));
    let channels = l.apply("Shape", &[x], &[int("start", 1), int("end", 2)])?;
    let mut inputs = vec![x];
    for (input, default) in [(1, 1.0), (2, 0.0)] {
        inputs.push(if l.has(input) {
            l.input(input)?
        } else {
            let value = number(l, default)?;
            l.apply("Expand", &[value, channels], &[])?
        });
    }
    let y = l.apply("InstanceNormalization", &inputs, &[float("epsilon", epsilon)])?;
    if l.outputs() < 2 {
        return Ok(vec![y]);
    }
    // The mean of each channel, and one by its standard deviation.
    let axes = l.list(&(2..rank).map(i64_of).collect::<Vec<_>>())?;
    let mean = l.apply("ReduceMean", &[x, axes], &[])?;
    let apart = l.apply("Sub", &[x, mean], &[])?;
    let squares = l.apply("Mul", &[apart, apart], &[])?;
    let variance = l.apply("ReduceMean", &[squares, axes], &[])?;
    let epsilon = number(l, epsilon)?;
    let variance = l.apply("Add", &[variance, epsilon], &[])?;
    let root = l.apply("Sqrt", &[variance], &[])?;
    let scale = l.apply("Reciprocal", &[root], &[])?;
    Ok(vec![y, l.reshape(mean, &[-1])?, l.reshape(scale, &[-1])?])
}

/// `prelu`: a slope for all, for each channel, or for each element.
pub(crate) fn prelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, mut slope, rank) = (l.input(0)?, l.input(1)?, l.rank_of(0)?);
    if text(l, "mode", "all")? == "channel" && text(l, "data_format", "NCHW")? == "NCHW" {
        let mut dims = vec![1; rank.saturating_sub(1).max(1)];
        dims[0] = -1;
        slope = l.reshape(slope, &dims)?;
    }
    Ok(vec![l.apply("PRelu", &[x, slope], &[])?])
}

pub(crate) fn einsum(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let all = super::layout::inputs(l)?;
    let equation = text(l, "equation", "")?.to_owned();
    let y = l.apply("Einsum", &all, &[("equation", Content::Bytes(equation.into()))])?;
    // The other outputs are caches and shapes of the operands, for training: nobody reads them.
    let caches = all.iter().cycle().take(l.outputs().saturating_sub(1));
    Ok([y].into_iter().chain(caches.copied()).collect())
}
