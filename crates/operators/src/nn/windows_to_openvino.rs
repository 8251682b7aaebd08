//! Convolutions, pooling, and images in the operators of OpenVINO.
//!
//! | ONNX | OpenVINO | what differs |
//! |---|---|---|
//! | `Conv` | `Convolution`, `GroupConvolution` | groups are an axis of the weights, the bias is added |
//! | `ConvTranspose` | `ConvolutionBackpropData`, `GroupConvolutionBackpropData` | likewise |
//! | `MaxPool`, `AveragePool` | `MaxPool`, `AvgPool` | `ceil_mode` is `ceil_torch` |
//! | `GlobalMaxPool`, `GlobalAveragePool` | `ReduceMax`, `ReduceMean` | |
//! | `DeformConv` | `DeformableConvolution` | points beyond the image are 0 |
//! | `Resize` | `Interpolate` | only axes whose size changes are named, or sums by constant weights |
//!
//! Sources: ONNX 1 to 28; OpenVINO 2026.4, opset1 to opset17.

use gradus_core::convert::{self, Rules, i64_of, usize_of_i64};
use gradus_core::element::Bool;
use gradus_core::graph::{Content, Standard};
use gradus_core::{DType, Result, Shape, Tensor};

use crate::attributes::{NewAttributes, wrong};
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::writer::NewValue;
use crate::dim::Dim;
use crate::errors;
use crate::fact::{Elements, Fact};
use crate::lowering::int;
use crate::nn::conv_pool::beyond;
use crate::nn::normalization::trains;
use crate::nn::resize_eval::{Resizing, Weights};
use crate::nn::resize_to_onnx::keeps_size;
use crate::normalize::Older;

fn list(values: &[i64]) -> String {
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
        "NOTSET" => "explicit",
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
fn by_channel(cx: &mut ConvertContext<'_, '_>, input: usize) -> Result<NewValue> {
    let (value, rank) = (cx.input(input)?, rank(cx)?);
    cx.reshaped(value, &[&[1, -1], &vec![1; rank.saturating_sub(2)][..]].concat())
}

fn convolved(
    cx: &mut ConvertContext<'_, '_>,
    [alone, by_groups]: [&str; 2],
    shape: Option<NewValue>,
    attributes: &NewAttributes,
) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let groups = cx.attributes.int_or("group", 1)?;
    let x = cx.input(0)?;
    let weights = if groups == 1 { cx.input(1)? } else { grouped(cx, groups)? };
    let inputs: Vec<_> = [x, weights].into_iter().chain(shape).collect();
    let mut value = cx.put(if groups == 1 { alone } else { by_groups }, &inputs, attributes)?;
    if cx.has(2) {
        let bias = by_channel(cx, 2)?;
        value = cx.put("Add", &[value, bias], &[numpy()])?;
    }
    Ok(vec![value])
}

pub fn conv(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let attributes = windows(cx, spatial(cx)?)?;
    convolved(cx, ["Convolution", "GroupConvolution"], None, &attributes)
}

/// A convolution whose windows take points beside their elements, which OpenVINO has of images.
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
        cx.edges("the output shape may be larger than what the windows reach");
        attributes.retain(|(name, _)| !name.contains("pad"));
        let none = vec![0; spatial];
        attributes.extend([
            say("pads_begin", list(&none)),
            say("pads_end", list(&none)),
            say("auto_pad", if upper { "same_lower" } else { "same_upper" }),
            say("output_padding", list(&more)),
        ]);
        let shape = cx.list(&shape);
        return convolved(cx, names, Some(shape), &attributes);
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
    convolved(cx, names, None, &attributes)
}

/// The windows of a pool. One that is larger than the padded data by less than a stride lies on
/// pads behind them, as OpenVINO has none that reach further; there is none that is larger still.
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
    if !same && known.iter().zip(&strides).any(|(beyond, stride)| *beyond > 0 && beyond >= stride) {
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
    if same && each(cx, "dilations", 1, spatial)?.iter().any(|&dilation| dilation != 1) {
        return Err(cannot("OpenVINO has no equivalent of a pool whose auto_pad counts dilations"));
    }
    let rounding = if cx.attributes.flag("ceil_mode", false)? { "ceil_torch" } else { "floor" };
    attributes.extend([
        say("kernel", list(&each(cx, "kernel_shape", 1, spatial)?)),
        say("rounding_type", rounding),
    ]);
    Ok(attributes)
}

pub fn max_pool(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let indices = cx.wants(1);
    if indices && cx.attributes.int_or("storage_order", 0)? != 0 {
        return Err(cannot("OpenVINO has no equivalent of MaxPool's indices with storage_order=1"));
    }
    cx.edges_of_floats(caveats::NAN);
    let mut attributes = pool(cx)?;
    attributes.extend([say("index_element_type", "i64"), say("axis", 0)]);
    let x = cx.input(0)?;
    cx.put_many("MaxPool", &[x], &attributes, 2)
}

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

/// Brought to a mean of 0 and a variance of 1 for each channel.
pub fn instance_normalization(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let axes: Vec<_> = (2..cx.rank(0)?).map(i64_of).collect();
    if axes.is_empty() {
        return Err(cannot("OpenVINO has no equivalent of InstanceNormalization without spatial axes"));
    }
    let epsilon = cx.attributes.float("epsilon")?.unwrap_or(1e-5);
    let (x, axes) = (cx.input(0)?, cx.list(&axes));
    let attributes = [say("eps", epsilon), say("eps_mode", "INSIDE_SQRT"), say("normalize_variance", true)];
    let value = cx.put("MVN", &[x, axes], &attributes)?;
    let (scale, shift) = (by_channel(cx, 1)?, by_channel(cx, 2)?);
    let scaled = cx.put("Multiply", &[value, scale], &[numpy()])?;
    Ok(vec![cx.put("Add", &[scaled, shift], &[numpy()])?])
}

pub fn batch_normalization(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if trains(&cx.attributes, cx.node.outputs.len())? {
        return trained(cx);
    }
    if (1..cx.outputs()).any(|output| cx.wants(output)) {
        return Err(cannot("OpenVINO has no equivalent of the statistics of BatchNormalization"));
    }
    if !cx.attributes.flag("spatial", true)? {
        return Err(cannot("OpenVINO has no equivalent of BatchNormalization with spatial=0"));
    }
    cx.rounding(caveats::FUNCTION);
    let epsilon = say("epsilon", cx.attributes.float("epsilon")?.unwrap_or(1e-5));
    let inputs = cx.inputs()?;
    Ok(vec![cx.put("BatchNormInference", &inputs, &[epsilon])?])
}

/// Normalization in training: by the statistics of the batch, which move those that are given.
fn trained(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let form = cx.attributes.form();
    if form.is(Older::Training) || form.is(Older::TrainingByOutputs) {
        return Err(cannot("OpenVINO has no equivalent of BatchNormalization in training before set 14"));
    }
    cx.rounding(caveats::ORDER);
    let (rank, dtype) = (i64_of(cx.rank(0)?), cx.dtype(0)?);
    if [3, 4].iter().any(|&input| cx.dtype(input).is_ok_and(|own| own != dtype)) {
        return Err(cannot("OpenVINO has no equivalent of statistics in another type than the input's"));
    }
    let axes: Vec<_> = (0..rank).filter(|&axis| axis != 1).collect();
    let (x, axes) = (cx.input(0)?, cx.list(&axes));
    let epsilon = cx.attributes.float("epsilon")?.unwrap_or(1e-5);
    let attributes = [say("eps", epsilon), say("eps_mode", "INSIDE_SQRT"), say("normalize_variance", true)];
    let value = cx.put("MVN", &[x, axes], &attributes)?;
    let (scale, shift) = (by_channel(cx, 1)?, by_channel(cx, 2)?);
    let scaled = cx.put("Multiply", &[value, scale], &[numpy()])?;
    let mut all = vec![cx.put("Add", &[scaled, shift], &[numpy()])?];
    let keep = [say("keep_dims", true)];
    let mean = cx.put("ReduceMean", &[x, axes], &keep)?;
    let apart = cx.put("Subtract", &[x, mean], &[numpy()])?;
    let squares = cx.put("Multiply", &[apart, apart], &[numpy()])?;
    let variance = cx.put("ReduceMean", &[squares, axes], &keep)?;
    let momentum = f64::from(cx.attributes.float("momentum")?.unwrap_or(0.9));
    let (kept, new) = (cx.number(momentum, dtype)?, cx.number(1.0 - momentum, dtype)?);
    for (input, own) in [(3, mean), (4, variance)] {
        let given = cx.input(input)?;
        let own = cx.reshaped(own, &[-1])?;
        let given = cx.put("Multiply", &[given, kept], &[numpy()])?;
        let own = cx.put("Multiply", &[own, new], &[numpy()])?;
        all.push(cx.put("Add", &[given, own], &[numpy()])?);
    }
    Ok(all)
}

/// The axes that are resized, and what they become: sizes or scales.
fn resized(cx: &mut ConvertContext<'_, '_>) -> Result<(Vec<i64>, NewValue, &'static str)> {
    let rank = cx.rank(0)?;
    let axes = match cx.attributes.ints("axes")? {
        Some(axes) => axes.iter().map(|&axis| cx.axis(axis, 0)).collect::<Result<Vec<_>>>()?,
        None => (0..rank).collect(),
    };
    let is_empty = |cx: &ConvertContext<'_, '_>| cx.len(2) == Some(0);
    if cx.has(2) && !is_empty(cx) {
        let scales = cx.known(2)?.ok_or_else(|| not_known("scales"))?;
        let scales = convert::cast(&scales, DType::F32, Rules::IEEE)?;
        let scales = scales.elements::<f32>()?.to_vec();
        let (axes, scales): (Vec<_>, Vec<_>) =
            axes.into_iter().map(i64_of).zip(scales).filter(|(_, scale)| *scale != 1.0).unzip();
        return Ok((axes, cx.constant(Tensor::vector(&scales)), "scales"));
    }
    let dims = cx.fact(0).as_tensor().and_then(|fact| fact.dims.clone()).ok_or_else(|| not_known("rank"))?;
    let sizes: Vec<Dim> = match &cx.fact(3).as_tensor().ok_or_else(|| not_known("sizes"))?.elements {
        Elements::Integers(sizes) => sizes.to_vec(),
        _ => match cx.known_integers(3)? {
            Some(sizes) => sizes.into_iter().map(Dim::Known).collect(),
            None => return Err(not_known("sizes")),
        },
    };
    let changed: Vec<_> = (0..axes.len()).filter(|&i| sizes.get(i) != Some(&dims[axes[i]])).collect();
    let all = cx.input(3)?;
    let (places, axis) = (cx.list(&changed.iter().copied().map(i64_of).collect::<Vec<_>>()), cx.scalar(0));
    let sizes = cx.put("Gather", &[all, places, axis], &[say("batch_dims", 0)])?;
    Ok((changed.into_iter().map(|i| i64_of(axes[i])).collect(), sizes, "sizes"))
}

/// Returns true if a scale other than 1 leaves the size of its axis as it is; nothing where sizes that
/// are not known decide it.
fn leaves_sizes(cx: &ConvertContext<'_, '_>) -> Result<Option<bool>> {
    let Some(scales) = cx.known(2)? else { return Ok(None) };
    let dims = cx.dims(0).unwrap_or_default();
    let axes = match cx.attributes.ints("axes")? {
        Some(axes) => axes.iter().map(|&axis| cx.axis(axis, 0)).collect::<Result<Vec<_>>>()?,
        None => (0..dims.len()).collect(),
    };
    let scales: Vec<_> = scales.numbers()?.map(convert::nearest_f64).collect();
    let kept =
        scales.iter().zip(axes).map(|(&scale, axis)| keeps_size(scale, dims.get(axis).copied().flatten()));
    let kept: Vec<_> = kept.collect();
    Ok(if kept.contains(&Some(true)) { Some(true) } else { (!kept.contains(&None)).then_some(false) })
}

/// The sizes of the axes of a Resize before and after it, and the axes that keep a size that is not
/// known: these count as one element.
struct ResizedSizes {
    before: Vec<usize>,
    after: Vec<usize>,
    kept: Vec<usize>,
}

impl ResizedSizes {
    fn of(cx: &ConvertContext<'_, '_>) -> Option<ResizedSizes> {
        let dims = |fact: &Fact| fact.as_tensor()?.dims.clone();
        let before = dims(cx.fact(0))?;
        let after = dims(cx.scope.fact(cx.node.outputs.first().copied().flatten()?))?;
        let mut sizes = ResizedSizes { before: Vec::new(), after: Vec::new(), kept: Vec::new() };
        for (axis, (own, wanted)) in before.iter().zip(after.iter()).enumerate() {
            let size = |dim: &Dim| dim.known().and_then(usize_of_i64);
            let (own, wanted) = match (size(own), size(wanted)) {
                (Some(own), Some(wanted)) => (own, wanted),
                _ if own == wanted => {
                    sizes.kept.push(axis);
                    (1, 1)
                }
                _ => return None,
            };
            sizes.before.push(own);
            sizes.after.push(wanted);
        }
        Some(sizes)
    }
}

/// Elements as weighted sums along one axis after another, whose weights are constants, for a
/// Resize that `Interpolate` does not do.
pub fn by_weights(cx: &mut ConvertContext<'_, '_>, because: &str) -> Result<Vec<NewValue>> {
    let unknown = |what: &str| cannot(format!("cannot convert Resize with {because}: {what} is not known"));
    let open = || unknown("the size of a resized axis");
    let ResizedSizes { before: dims, after: wanted, kept } = ResizedSizes::of(cx).ok_or_else(open)?;
    let stretches = cx.attributes.text("keep_aspect_ratio_policy")?.is_none_or(|policy| policy == "stretch");
    let mut given = [const { None }; 3];
    for (input, given) in [1, 2, 3].into_iter().zip(&mut given) {
        if !cx.has(input) || cx.len(input) == Some(0) {
            continue;
        }
        *given = match cx.known(input)? {
            Some(tensor) => Some(tensor.numbers()?.map(convert::nearest_f64).collect::<Vec<_>>()),
            // The sizes after it tell the scales.
            None if input == 3 && stretches => Some(Vec::new()),
            None => return Err(unknown(&format!("the value of input {input}"))),
        };
    }
    let [region, scales, sizes] = given;
    let named = match cx.attributes.ints("axes")? {
        Some(axes) => axes.iter().map(|&axis| cx.axis(axis, 0)).collect::<Result<_>>()?,
        None => (0..dims.len()).collect::<Vec<_>>(),
    };
    let crops = cx.attributes.text("coordinate_transformation_mode")? == Some("tf_crop_and_resize");
    for place in (0..named.len()).filter(|&place| kept.contains(&named[place])) {
        // Sizes decide the scale of all axes together, or where the region of an axis lies.
        let is_whole = |region: &Vec<f64>| {
            region.get(place) == Some(&0.0) && region.get(place + named.len()) == Some(&1.0)
        };
        if (sizes.is_some() && !stretches) || (crops && !region.as_ref().is_some_and(is_whole)) {
            return Err(open());
        }
    }
    let resizing = Resizing { operator: "Resize", dims: &dims, wanted: &wanted, scales, sizes, region };
    let limits = cx.conversion.limits;
    let axes = resizing.axes(&cx.attributes, |size, wanted| {
        limits.allow_bytes(0, convert::product(wanted, 256) + convert::product(size, 128))
    })?;
    let moves = cx.attributes.text("mode")?.unwrap_or("nearest") == "nearest";
    let own = cx.dtype(0)?;
    let dtype = if !moves && own.is_float() && own.bits() < 32 { DType::F32 } else { own };
    if !moves {
        cx.rounding(caveats::ORDER);
        cx.expect_floats(0)?;
    }
    let mut x = cx.input(0)?;
    if dtype != own {
        x = cx.of_type(x, dtype)?;
    }
    let mut outside = Vec::new();
    for (at, axis) in axes.into_iter().enumerate().filter(|(at, axis)| !axis.stays && !kept.contains(at)) {
        let column = [vec![1; at], vec![axis.weights.len()], vec![1; dims.len() - at - 1]].concat();
        if axis.weights.iter().any(Option::is_none) {
            let beyond: Vec<_> = axis.weights.iter().map(|weights| Bool::from(weights.is_none())).collect();
            outside.push(cx.constant(Tensor::from_vec(Shape::new(column)?, beyond)?));
        }
        x = summed(cx, x, at, &axis.weights, if moves { None } else { Some(dtype) })?;
    }
    if !outside.is_empty() {
        let value = cx.attributes.float("extrapolation_value")?.unwrap_or(0.0);
        let value = cx.number(value.into(), dtype)?;
        for beyond in outside {
            x = cx.elements("Where", &[beyond, value, x])?;
        }
    }
    Ok(vec![if dtype == own { x } else { cx.of_type(x, own)? }])
}

/// Weighted sums of elements along an axis in a type of floats, or single elements.
pub fn summed(
    cx: &mut ConvertContext<'_, '_>,
    x: NewValue,
    at: usize,
    weights: &[Weights],
    dtype: Option<DType>,
) -> Result<NewValue> {
    let axis = i64_of(at);
    let Some(dtype) = dtype else {
        let last = |weights: &Weights| weights.as_ref().and_then(|row| row.last()).map_or(0, |last| last.0);
        let indices: Vec<_> = weights.iter().map(|weights| i64_of(last(weights))).collect();
        let indices = cx.list(&indices);
        return cx.gathered(x, indices, axis);
    };
    let (indices, weights) = weight_tables(weights, cx.rank(0)? - at - 1, dtype)?;
    let (indices, weights) = (cx.constant(indices), cx.constant(weights));
    let taken = cx.gathered(x, indices, axis)?;
    let products = cx.elements("Mul", &[taken, weights])?;
    let axis = cx.list(&[i64_of(at) + 1]);
    let drops =
        if cx.target.standard == Standard::Onnx { int("keepdims", 0) } else { say("keep_dims", false) };
    cx.put("ReduceSum", &[products, axis], &[drops])
}

/// The indices of the elements of weighted sums, a row for each sum, and their weights, which axes
/// of one element follow.
pub fn weight_tables(weights: &[Weights], behind: usize, dtype: DType) -> Result<(Tensor, Tensor)> {
    let most = weights.iter().flatten().map(Vec::len).max().unwrap_or(1).max(1);
    let mut rows = Vec::with_capacity(weights.len());
    for weights in weights {
        let mut row = weights.clone().unwrap_or_default();
        // Rows of one length: the last weight is halved until there are enough.
        let (index, mut weight) = row.pop().unwrap_or((0, 0.0));
        while row.len() + 1 < most {
            weight /= 2.0;
            row.push((index, weight));
        }
        row.push((index, weight));
        rows.push(row);
    }
    let indices: Vec<_> = rows.iter().flatten().map(|&(index, _)| i64_of(index)).collect();
    let indices = Tensor::from_vec(Shape::new(vec![rows.len(), most])?, indices)?;
    let shape = Shape::new([vec![rows.len(), most], vec![1; behind]].concat())?;
    let weights: Vec<_> = rows.iter().flatten().map(|&(_, weight)| weight).collect();
    Ok((indices, convert::cast(&Tensor::from_vec(shape, weights)?, dtype, Rules::IEEE)?))
}

pub fn resize(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.attributes.form().is(Older::Upsampled) {
        return by_weights(cx, "operator set 10");
    }
    for attribute in ["exclude_outside", "antialias"] {
        if cx.attributes.flag(attribute, false)? {
            return by_weights(cx, attribute);
        }
    }
    if cx.attributes.text("keep_aspect_ratio_policy")?.is_some_and(|policy| policy != "stretch") {
        return by_weights(cx, "keep_aspect_ratio_policy");
    }
    let coordinates = cx.attributes.text("coordinate_transformation_mode")?.unwrap_or("half_pixel");
    let known = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "tf_half_pixel_for_nn"];
    if !known.contains(&coordinates) {
        return by_weights(cx, &format!("coordinate_transformation_mode={coordinates}"));
    }
    let mode = cx.attributes.text("mode")?.unwrap_or("nearest");
    let (mut axes, mut target, by) = resized(cx)?;
    if by == "scales" && coordinates != "align_corners" {
        match leaves_sizes(cx)? {
            Some(true) if ResizedSizes::of(cx).is_some() => {
                return by_weights(cx, "a scale that leaves a size as it is");
            }
            Some(false) => {}
            _ => cx.edges(caveats::UNSCALED),
        }
    }
    let (mut x, rank) = (cx.input(0)?, cx.rank(0)?);
    if axes.is_empty() {
        let dtype = cx.dtype(0)?;
        return Ok(vec![cx.target.copy(x, Some(dtype))?]);
    }
    // Images have two axes before those of space: others become such.
    let is_image = |axes: &[i64]| axes.len() <= 3 && axes.iter().all(|&axis| axis >= 2);
    let mut back = None;
    if mode == "linear" && !is_image(&axes) && axes.len() <= 3 && axes.len() + 2 <= rank {
        let order: Vec<_> =
            (0..i64_of(rank)).filter(|axis| !axes.contains(axis)).chain(axes.clone()).collect();
        let list = cx.list(&order);
        x = cx.put("Transpose", &[x, list], &[])?;
        axes = (i64_of(rank - axes.len())..i64_of(rank)).collect();
        let place = |axis| order.iter().position(|&own| own == axis).map_or(axis, i64_of);
        back = Some((0..i64_of(rank)).map(place).collect::<Vec<_>>());
    }
    let mode = match mode {
        "nearest" => "nearest",
        "linear" if is_image(&axes) => "linear_onnx",
        "cubic" if axes.len() == 2 => "cubic",
        // Another axis, which keeps its size, if weights cannot be constants.
        "cubic"
            if axes.len() == 1
                && rank > 1
                && coordinates != "tf_half_pixel_for_nn"
                && ResizedSizes::of(cx).is_none() =>
        {
            let other = i64_of(rank) - if axes[0] == i64_of(rank) - 1 { 2 } else { 1 };
            let own = if by == "scales" {
                cx.constant(Tensor::vector(&[1.0f32]))
            } else {
                let sizes = cx.shape_of(x)?;
                cx.sliced(sizes, other, other + 1)?
            };
            let (first, second) = if other < axes[0] { (own, target) } else { (target, own) };
            target = cx.put("Concat", &[first, second], &[say("axis", 0)])?;
            axes.push(other);
            axes.sort_unstable();
            "cubic"
        }
        mode => return by_weights(cx, &format!("mode={mode} over axes {}", list(&axes))),
    };
    if mode != "nearest" {
        cx.rounding(caveats::ORDER);
    }
    let nearest = cx.attributes.text("nearest_mode")?.unwrap_or("round_prefer_floor");
    let cubic = cx.attributes.float("cubic_coeff_a")?.unwrap_or(-0.75);
    let attributes = [
        say("mode", mode),
        say("shape_calculation_mode", by),
        say("coordinate_transformation_mode", coordinates),
        say("nearest_mode", nearest),
        say("cube_coeff", cubic),
        say("antialias", false),
        say("pads_begin", list(&vec![0; rank])),
        say("pads_end", list(&vec![0; rank])),
    ];
    let axes = cx.list(&axes);
    let resized = cx.put("Interpolate", &[x, target, axes], &attributes)?;
    let Some(back) = back else { return Ok(vec![resized]) };
    let back = cx.list(&back);
    Ok(vec![cx.put("Transpose", &[resized, back], &[])?])
}

/// Elements on one side of a diagonal; zeros elsewhere.
pub fn trilu(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let upper = cx.attributes.flag("upper", true)?;
    let (x, rank, dtype) = (cx.input(0)?, i64_of(cx.rank(0)?), cx.dtype(0)?);
    let shape = cx.shape_of(x)?;
    let (zero, one) = (cx.scalar(0), cx.scalar(1));
    let mut numbered = |axis: i64| -> Result<NewValue> {
        let size = cx.sliced(shape, axis, axis + 1)?;
        let size = cx.reshaped(size, &[])?;
        cx.put("Range", &[zero, size, one], &[say("output_type", "i64")])
    };
    let (rows, columns) = (numbered(rank - 2)?, numbered(rank - 1)?);
    let rows = cx.reshaped(rows, &[-1, 1])?;
    let diagonal = if cx.has(1) { cx.scalar_input(1)? } else { zero };
    // Sums with the diagonal may exceed 64 bits.
    let above = cx.put("Subtract", &[columns, rows], &[numpy()])?;
    let kept = cx.put(if upper { "GreaterEqual" } else { "LessEqual" }, &[above, diagonal], &[numpy()])?;
    let nothing = cx.number(0.0, dtype)?;
    Ok(vec![cx.put("Select", &[kept, x, nothing], &[numpy()])?])
}

/// Blocks of the channels' axis become blocks of the image, or the other way round.
pub fn blocks(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let mode = if cx.attributes.text("mode")? == Some("CRD") { "depth_first" } else { "blocks_first" };
    let size = cx.attributes.int("blocksize")?.and_then(usize_of_i64).unwrap_or(1);
    let x = cx.input(0)?;
    Ok(vec![cx.put(operator, &[x], &[say("block_size", size), say("mode", mode)])?])
}
