//! Convolutions and pools.
//!
//! | operators | Paddle |
//! |---|---|
//! | `conv2d`, `depthwise_conv2d`, `conv2d_transpose`, `pool2d` | pads of each axis, or of each side, or by `padding_algorithm`; `NHWC` is transposed |
//! | `lp_pool2d` | without `ceil_mode` |
//! | `pool2d` | windows of `adaptive` pools follow from the size of the input |

use gradus_core::convert::{i64_of, nearest_f64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result};

use crate::dialects::adaptive;
use crate::dialects::cannot;
use crate::dialects::paddle::attributes::{LoweredAttributes, constant_like, ints, text};
use crate::dialects::paddle::layout::list;
use crate::errors;
use crate::lowering::terms::{f, of, with};
use crate::lowering::{LoweredValue, Lowering, along, int, not_known};
use crate::words;

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

/// Returns true if the channels are the last axis.
pub(super) fn has_channels_last(l: &Lowering<'_>) -> Result<bool> {
    Ok(words::CHANNELS.of(&l.attributes)?.ends_with('C'))
}

/// The first axis of the data that windows move along.
fn first_axis(l: &Lowering<'_>) -> Result<usize> {
    Ok(if has_channels_last(l)? { 1 } else { 2 })
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

/// The data with the channels before the other axes, and true if they were after them.
pub(super) fn channels_first(l: &mut Lowering<'_>, value: LoweredValue) -> Result<(LoweredValue, bool)> {
    let rank = l.rank_of(0)?;
    if !has_channels_last(l)? || rank < 3 {
        return Ok((value, false));
    }
    let perm: Vec<_> = [0, rank - 1].into_iter().chain(1..rank - 1).map(i64_of).collect();
    Ok((l.transposed(value, &perm)?, true))
}

/// Moves the channels of a value last, if they were.
pub(super) fn channels_last(l: &mut Lowering<'_>, value: LoweredValue, last: bool) -> Result<LoweredValue> {
    if !last {
        return Ok(value);
    }
    let perm: Vec<_> = [0].into_iter().chain(2..l.rank_of(0)?).chain([1]).map(i64_of).collect();
    l.transposed(value, &perm)
}

/// Strides, dilations, groups and pads of a convolution.
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

/// `conv2d`, `conv3d` and `depthwise_conv2d`: convolutions.
pub fn conv(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, filter) = (l.input(0)?, l.input(1)?);
    let (x, last) = channels_first(l, x)?;
    let y = l.apply("Conv", &[x, filter], &windows(l)?)?;
    Ok(vec![channels_last(l, y, last)?])
}

/// `conv2d_transpose` and similar: transposed convolutions.
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
            // ONNX drops a last window that begins after the data; Paddle has nothing to put there.
            if ceil && end.saturating_add(stride) > size {
                let len = known_size(l, 0, first_axis(l)? + i)?.saturating_add(*start);
                let steps = (len + end - size).max(0).saturating_add(stride - 1) / stride.max(1);
                if steps.saturating_mul(stride) >= len {
                    return Err(cannot("a pool whose last window begins after the data"));
                }
            }
            // Paddle counts as many elements after the data as before them.
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

/// `pool2d` and `pool3d`: maxima or averages of windows, adaptive or global.
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
