//! Convolutions and pools in the operators of OpenVINO.
//!
//! | ONNX | OpenVINO | what differs |
//! |---|---|---|
//! | `Conv` | `Convolution`, `GroupConvolution` | groups are an axis of the weights, the bias is added |
//! | `ConvTranspose` | `ConvolutionBackpropData`, `GroupConvolutionBackpropData` | likewise |
//! | `MaxPool`, `AveragePool` | `MaxPool`, `AvgPool` | `ceil_mode` is `ceil_torch` |
//! | `GlobalMaxPool`, `GlobalAveragePool` | `ReduceMax`, `ReduceMean` | |
//! | `DeformConv` | `DeformableConvolution` | points beyond the image are 0 |
//!
//! Sources: ONNX 1 to 28; OpenVINO 2026.4, opset1 to opset17.

use gradus_core::Result;
use gradus_core::convert::i64_of;
use gradus_core::graph::Content;

use crate::attributes::{NewAttributes, wrong};
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::writer::NewValue;
use crate::dim::{Condition, Dim, Relation};
use crate::errors;
use crate::windows::infer::beyond;

/// Integers, separated by commas.
pub fn list(values: &[i64]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The rank of the first input, which weights have as well.
fn rank(cx: &ConvertContext<'_, '_>) -> Result<usize> {
    cx.rank(0).or_else(|unknown| cx.rank_if_known(1).ok_or(unknown))
}

/// The number of spatial axes, of which OpenVINO has at most three.
fn spatial(cx: &ConvertContext<'_, '_>) -> Result<usize> {
    match rank(cx)? {
        rank @ 3..=5 => Ok(rank - 2),
        rank => Err(cannot(format!("OpenVINO has no windows over a tensor of rank {rank}"))),
    }
}

/// A list with an element for each spatial axis.
fn each(cx: &ConvertContext<'_, '_>, name: &str, default: i64, count: usize) -> Result<Vec<i64>> {
    match cx.attributes.ints(name)? {
        None => Ok(vec![default; count]),
        Some(values) if values.len() == count => Ok(values.to_vec()),
        Some(values) => Err(errors::count(&format!("elements of attribute \"{name}\""), values.len(), count)),
    }
}

/// How windows lie.
fn windows(cx: &ConvertContext<'_, '_>, spatial: usize) -> Result<NewAttributes> {
    let auto = match cx.attributes.text("auto_pad")?.unwrap_or("NOTSET") {
        "" | "NOTSET" => "explicit",
        "VALID" => "valid",
        "SAME_UPPER" => "same_upper",
        "SAME_LOWER" => "same_lower",
        other => {
            return Err(wrong(
                "auto_pad",
                &Content::Text(other.into()),
                "NOTSET, VALID, SAME_UPPER or SAME_LOWER",
            ));
        }
    };
    let pads = each(cx, "pads", 0, 2 * spatial)?;
    let (begin, end) = pads.split_at(spatial);
    Ok(vec![
        say("strides", list(&each(cx, "strides", 1, spatial)?)),
        say("dilations", list(&each(cx, "dilations", 1, spatial)?)),
        say("pads_begin", list(begin)),
        say("pads_end", list(end)),
        say("auto_pad", auto),
    ])
}

/// The weights with an axis of groups before; their sizes along the second axis and on are known.
fn grouped(cx: &mut ConvertContext<'_, '_>, groups: i64) -> Result<NewValue> {
    let dims = cx.dims(1).unwrap_or_default();
    let (weights, unknown) = (cx.input(1)?, || not_known("sizes of the weights"));
    let rest =
        dims.get(1..).unwrap_or_default().iter().copied().collect::<Option<Vec<_>>>().ok_or_else(unknown)?;
    if rest.is_empty() {
        return Err(unknown());
    }
    cx.reshaped(weights, &[&[groups, -1], &rest[..]].concat())
}

/// A tensor with an element for each channel, in the shape that goes with the first input.
pub fn by_channel(cx: &mut ConvertContext<'_, '_>, input: usize) -> Result<NewValue> {
    let (value, rank) = (cx.input(input)?, rank(cx)?);
    cx.reshaped(value, &[&[1, -1], &vec![1; rank.saturating_sub(2)][..]].concat())
}

fn convolved(
    cx: &mut ConvertContext<'_, '_>,
    [alone, by_groups]: [&str; 2],
    shape: Option<NewValue>,
    attributes: &NewAttributes,
    zeros: Option<[Vec<i64>; 2]>,
) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let groups = cx.attributes.int_or("group", 1)?;
    let x = cx.input(0)?;
    let weights = if groups == 1 { cx.input(1)? } else { grouped(cx, groups)? };
    let inputs: Vec<_> = [x, weights].into_iter().chain(shape).collect();
    let mut value = cx.put(if groups == 1 { alone } else { by_groups }, &inputs, attributes)?;
    if let Some([begin, end]) = zeros {
        let none = [0, 0];
        let (begin, end) = (cx.list(&[&none[..], &begin].concat()), cx.list(&[&none[..], &end].concat()));
        value = cx.put("Pad", &[value, begin, end], &[say("pad_mode", "constant")])?;
    }
    if cx.has(2) {
        let bias = by_channel(cx, 2)?;
        value = cx.put("Add", &[value, bias], &[numpy()])?;
    }
    Ok(vec![value])
}

/// Writes `Conv` as `Convolution` or `GroupConvolution`.
pub fn conv(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let attributes = windows(cx, spatial(cx)?)?;
    convolved(cx, ["Convolution", "GroupConvolution"], None, &attributes, None)
}

/// A convolution whose windows take points next to their elements, which OpenVINO has of images.
pub fn deform_conv(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let mut attributes = windows(cx, spatial(cx)?)?;
    attributes.push(say("group", cx.attributes.int_or("group", 1)?));
    attributes.push(say("deformable_group", cx.attributes.int_or("offset_group", 1)?));
    attributes.push(say("bilinear_interpolation_pad", true));
    let mut inputs = vec![cx.input(0)?, cx.input(2)?, cx.input(1)?];
    if cx.has(4) {
        inputs.push(cx.input(4)?);
    }
    let value = cx.put("DeformableConvolution", &inputs, &attributes)?;
    if !cx.has(3) {
        return Ok(vec![value]);
    }
    let bias = by_channel(cx, 3)?;
    Ok(vec![cx.put("Add", &[value, bias], &[numpy()])?])
}

/// Pads that make sizes those of the input times the strides are written as numbers: OpenVINO has
/// them only where the size is an input.
pub fn conv_transpose(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let spatial = spatial(cx)?;
    let mut attributes = windows(cx, spatial)?;
    let mut more = each(cx, "output_padding", 0, spatial)?;
    let names = ["ConvolutionBackpropData", "GroupConvolutionBackpropData"];
    if let Some(shape) = cx.attributes.ints("output_shape")? {
        // The shape may be given with batch and channels.
        let shape = shape[shape.len().saturating_sub(spatial)..].to_vec();
        let upper = cx.attributes.text("auto_pad")? == Some("SAME_UPPER");
        attributes.retain(|(name, _)| !name.contains("pad"));
        let lengths = given_lengths(cx, &shape, &more, upper)?;
        if let Some(all) = lengths.as_ref().filter(|all| all.iter().any(|it| it.zeros != [0; 2])) {
            // OpenVINO has the zeros after the sums alone.
            let at = |part: fn(&GivenLength) -> i64| all.iter().map(part).collect::<Vec<_>>();
            attributes.extend([
                say("pads_begin", list(&at(|it| it.cut[0]))),
                say("pads_end", list(&at(|it| it.cut[1]))),
                say("auto_pad", "explicit"),
            ]);
            let zeros = [at(|it| it.zeros[0]), at(|it| it.zeros[1])];
            return convolved(cx, names, None, &attributes, Some(zeros));
        }
        if lengths.is_none() {
            cx.edges("the output shape may be larger than what the windows reach");
        }
        let none = vec![0; spatial];
        attributes.extend([
            say("pads_begin", list(&none)),
            say("pads_end", list(&none)),
            say("auto_pad", if upper { "same_lower" } else { "same_upper" }),
            say("output_padding", list(&more)),
        ]);
        let shape = cx.list(&shape);
        return convolved(cx, names, Some(shape), &attributes, None);
    }
    let auto = cx.attributes.text("auto_pad")?.filter(|auto| auto.starts_with("SAME"));
    if let Some(auto) = auto {
        let kernel: Option<Vec<_>> = cx.dims(1).unwrap_or_default().into_iter().skip(2).collect();
        let kernel = kernel
            .filter(|kernel| kernel.len() == spatial)
            .ok_or_else(|| not_known("sizes of the weights"))?;
        let (strides, dilations) = (each(cx, "strides", 1, spatial)?, each(cx, "dilations", 1, spatial)?);
        let (mut begin, mut end) = (vec![0; spatial], vec![0; spatial]);
        for axis in 0..spatial {
            let window = (kernel[axis] - 1).saturating_mul(dilations[axis]).saturating_add(1);
            let total = window.saturating_add(more[axis]).saturating_sub(strides[axis]);
            more[axis] = more[axis].saturating_sub(total.min(0));
            let half = total.max(0) / 2;
            (begin[axis], end[axis]) = (half, total.max(0) - half);
        }
        if auto == "SAME_LOWER" {
            std::mem::swap(&mut begin, &mut end);
        }
        attributes.retain(|(name, _)| !name.contains("pad"));
        attributes.extend([
            say("pads_begin", list(&begin)),
            say("pads_end", list(&end)),
            say("auto_pad", "explicit"),
        ]);
    }
    attributes.push(say("output_padding", list(&more)));
    convolved(cx, names, None, &attributes, None)
}

/// An axis of a transposed convolution whose length is given.
struct GivenLength {
    /// Elements of the sums that are left out before and after.
    cut: [i64; 2],
    /// Zeros before and after the sums.
    zeros: [i64; 2],
}

/// The axes of a transposed convolution of a given shape; nothing if sizes are not known.
fn given_lengths(
    cx: &mut ConvertContext<'_, '_>,
    shape: &[i64],
    more: &[i64],
    upper: bool,
) -> Result<Option<Vec<GivenLength>>> {
    let spatial = shape.len();
    let sizes = |cx: &mut ConvertContext<'_, '_>, input| -> Option<Vec<i64>> {
        cx.dims(input)?.into_iter().skip(2).collect()
    };
    let (Some(sizes), Some(kernel)) = (sizes(cx, 0), sizes(cx, 1)) else { return Ok(None) };
    if sizes.len() != spatial || kernel.len() != spatial {
        return Ok(None);
    }
    let (strides, dilations) = (each(cx, "strides", 1, spatial)?, each(cx, "dilations", 1, spatial)?);
    let length = |axis: usize| {
        let window = (kernel[axis] - 1).saturating_mul(dilations[axis]).saturating_add(1);
        let reach = (sizes[axis] - 1).saturating_mul(strides[axis]).saturating_add(window);
        let total = reach.saturating_add(more[axis]).saturating_sub(shape[axis]);
        let half = total.div_euclid(2);
        let begin = if upper { half } else { total - half };
        let end = reach.saturating_sub(shape[axis].saturating_add(begin));
        let parts = |of: fn(i64) -> i64| [of(begin), of(end)];
        GivenLength { cut: parts(|pad| pad.max(0)), zeros: parts(|pad| pad.saturating_neg().max(0)) }
    };
    Ok(Some((0..spatial).map(length).collect()))
}

/// The windows of a pool. One that is larger than the padded data by less than a stride lies on
/// pads after them, as OpenVINO has none that reach further; there is none that is larger still.
fn pool(cx: &mut ConvertContext<'_, '_>) -> Result<NewAttributes> {
    let spatial = spatial(cx)?;
    let mut attributes = windows(cx, spatial)?;
    let auto = cx.attributes.text("auto_pad")?.unwrap_or("NOTSET").to_owned();
    let same = auto.starts_with("SAME");
    let dims = cx.dims(0).unwrap_or_default();
    let sizes: Vec<_> = (2..spatial + 2).map(|axis| dims.get(axis).copied().flatten()).collect();
    let known = beyond(&cx.attributes, &sizes)?;
    let strides = each(cx, "strides", 1, spatial)?;
    let reaches: Vec<_> = known
        .iter()
        .zip(&strides)
        .map(|(&beyond, &stride)| if beyond < stride { beyond.max(0) } else { 0 })
        .collect();
    let is_beyond = known.iter().zip(&strides).any(|(beyond, stride)| *beyond > 0 && beyond >= stride);
    if !same && (is_beyond || is_always_beyond(cx, &strides)?) {
        return Err(cannot(
            "cannot convert: OpenVINO has no pool whose window is larger than the padded data",
        ));
    }
    if !same && reaches.iter().any(|&beyond| beyond > 0) {
        if cx.attributes.flag("count_include_pad", false)? {
            return Err(cannot(
                "OpenVINO has no equivalent of an average over a window larger than the padded data",
            ));
        }
        let pads = if auto == "VALID" { vec![0; 2 * spatial] } else { each(cx, "pads", 0, 2 * spatial)? };
        let (begin, end) = pads.split_at(spatial);
        let end: Vec<_> = end.iter().zip(&reaches).map(|(end, beyond)| end.saturating_add(*beyond)).collect();
        attributes.retain(|(name, _)| !name.contains("pad"));
        attributes.extend([
            say("pads_begin", list(begin)),
            say("pads_end", list(&end)),
            say("auto_pad", "explicit"),
        ]);
    }
    let smallest: Vec<_> = sizes.iter().map(|size| size.or(Some(1))).collect();
    let may_reach = beyond(&cx.attributes, &smallest)?.iter().zip(&known).any(|(open, known)| open > known);
    if !same && may_reach {
        cx.edges(caveats::WINDOW);
    }
    let (kernel, dilations) = (each(cx, "kernel_shape", 1, spatial)?, each(cx, "dilations", 1, spatial)?);
    let reach = |axis: usize| (kernel[axis] - 1).saturating_mul(dilations[axis]);
    let pads = each(cx, "pads", 0, 2 * spatial)?;
    if matches!(&*auto, "" | "NOTSET") && (0..2 * spatial).any(|at| pads[at] > reach(at % spatial)) {
        cx.edges("OpenVINO refuses a window that lies on padding alone, or takes the lowest number for it");
    }
    if same && dilations.iter().any(|&dilation| dilation != 1) {
        return Err(cannot("OpenVINO has no equivalent of a pool whose auto_pad counts dilations"));
    }
    let rounding = if cx.attributes.flag("ceil_mode", false)? { "ceil_torch" } else { "floor" };
    attributes.extend([say("kernel", list(&kernel)), say("rounding_type", rounding)]);
    Ok(attributes)
}

/// Returns true if a window is larger by a stride or more than an axis of data whose size is open.
fn is_always_beyond(cx: &mut ConvertContext<'_, '_>, strides: &[i64]) -> Result<bool> {
    let needed = beyond(&cx.attributes, &vec![Some(0); strides.len()])?;
    let dims = cx.fact(0).as_tensor().and_then(|fact| fact.dims.clone()).unwrap_or_default();
    let open = dims.iter().skip(2).zip(needed.iter().zip(strides)).filter(|(dim, _)| dim.known().is_none());
    Ok(open.into_iter().any(|(&dim, (needed, stride))| {
        let least = Dim::Known(needed.saturating_sub(*stride).saturating_add(1));
        cx.conversion.symbols.never_holds(&Condition::new(dim, Relation::AtLeast, least))
    }))
}

/// Writes `MaxPool`.
pub fn max_pool(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let indices = cx.wants(1);
    if indices && cx.attributes.int_or("storage_order", 0)? != 0 {
        return Err(cannot("OpenVINO has no equivalent of MaxPool's indices with storage_order=1"));
    }
    cx.edges_of_floats(caveats::NAN);
    let is_same = cx.attributes.text("auto_pad")?.is_some_and(|pads| pads.starts_with("SAME"));
    if indices && is_same && cx.dims(0).is_none_or(|dims| dims.iter().skip(2).any(Option::is_none)) {
        cx.edges("OpenVINO does not pad to the same size where indices are returned and sizes are open");
    }
    let mut attributes = pool(cx)?;
    attributes.extend([say("index_element_type", "i64"), say("axis", 0)]);
    let x = cx.input(0)?;
    cx.put_many("MaxPool", &[x], &attributes, 2)
}

/// Writes `AveragePool` as `AvgPool`.
pub fn average_pool(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let includes = cx.attributes.flag("count_include_pad", false)?;
    if includes && cx.attributes.flag("ceil_mode", false)? {
        cx.edges("the OpenVINO specification does not define the divisor of windows beyond the padding");
    }
    let mut attributes = pool(cx)?;
    attributes.push(say("exclude-pad", !includes));
    let x = cx.input(0)?;
    Ok(vec![cx.put("AvgPool", &[x], &attributes)?])
}

/// All spatial axes are reduced.
pub fn global_pool(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    if operator == "ReduceMean" {
        cx.rounding(caveats::ORDER);
    } else {
        cx.edges_of_floats(caveats::NAN);
    }
    let axes: Vec<_> = (2..cx.rank(0)?).map(i64_of).collect();
    let (x, axes) = (cx.input(0)?, cx.list(&axes));
    Ok(vec![cx.put(operator, &[x, axes], &[say("keep_dims", true)])?])
}
