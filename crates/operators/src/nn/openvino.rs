//! Products of matrices, convolutions, pooling, attention, recurrent networks, images, variables.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `MatMul` | `MatMul` | either factor may be transposed |
//! | `Convolution`, `GroupConvolution` | `Conv` | groups are an axis of the weights |
//! | `ConvolutionBackpropData`, `GroupConvolutionBackpropData` | `ConvTranspose` | the shape may be an input |
//! | `MaxPool`, `AvgPool` | `MaxPool`, `AveragePool` | `ceil` counts a last window that starts behind the end, `ceil_torch` does not |
//! | `Interpolate` | `Resize` | sizes or scales of named axes |

use gradus_core::convert::{i64_of, nearest_f64};
use gradus_core::graph::{DeclaredDim, Type};
use gradus_core::{DType, Error, Kind, Tensor, Value};

use crate::attributes::{Attributes, required};
use crate::dim::{Bounds, Dim, Relation};
use crate::errors;
use crate::fact::Fact;
use crate::indices;
use crate::infer::{InferContext, InferError, InferResult};
use crate::nn::conv_pool::{Rounding, Windows, image, parts_of_image, positive};
use crate::normalize::Older;
use crate::op::EvalContext;
use crate::output::{allowed, one};

/// How windows lie, from the attributes.
fn windows(cx: &InferContext<'_, '_>, kernel: &[Dim]) -> Result<Windows, InferError> {
    let spatial = kernel.len();
    let list = |name: &str, default: i64| -> Result<_, InferError> {
        match cx.attributes.list(name)? {
            Some(list) if list.len() == spatial => Ok(list),
            None => Ok(vec![default; spatial]),
            Some(list) if list.is_empty() => Ok(vec![default; spatial]),
            Some(list) => {
                Err(errors::count(&format!("elements of attribute \"{name}\""), list.len(), spatial).into())
            }
        }
    };
    let auto = cx.attributes.text("auto_pad")?.unwrap_or("explicit");
    let explicit = matches!(auto, "explicit" | "notset");
    let pads =
        if explicit { [list("pads_begin", 0)?, list("pads_end", 0)?].concat() } else { vec![0; 2 * spatial] };
    let (strides, dilations) = (list("strides", 1)?, list("dilations", 1)?);
    positive(&strides, &dilations)?;
    Ok(Windows { kernel: kernel.to_vec(), strides, dilations, pads, same: auto.starts_with("same") })
}

/// Requires that a window is no larger than the padded data.
fn fits(cx: &mut InferContext<'_, '_>, windows: &Windows, axis: usize, size: Dim) -> Result<(), InferError> {
    if windows.same {
        return Ok(());
    }
    let room = windows.room(cx, axis, size);
    if room.known().is_some_and(|room| room < 0) {
        let window = windows.window(cx, axis);
        let padded = cx.add(size, Dim::Known(windows.padding(axis)));
        let [window, padded] = [window, padded].map(|dim| cx.symbols().print(dim).to_string());
        let wanted = format_args!("at most {padded}, the padded data");
        return Err(errors::value(format_args!("window of axis {}", axis + 2), window, wanted).into());
    }
    cx.require(room, Relation::AtLeast, Dim::ZERO);
    Ok(())
}

/// The weights' groups times channels of the result, channels of the input, and spatial dimensions.
fn weights(
    cx: &mut InferContext<'_, '_>,
    input: usize,
    groups: usize,
) -> Result<(Dim, [Dim; 2], Vec<Dim>), InferError> {
    let dims = cx.dims(input)?;
    match &dims[groups.min(dims.len())..] {
        [first, second, kernel @ ..] => {
            let group = if groups == 1 { dims[0] } else { Dim::ONE };
            Ok((group, [*first, *second], kernel.to_vec()))
        }
        _ => Err(errors::rank("the weights", dims.len(), format_args!("at least {}", groups + 2)).into()),
    }
}

fn convolution(cx: &mut InferContext<'_, '_>, input: usize, groups: usize) -> InferResult {
    let (group, [out, inner], kernel) = weights(cx, input, groups)?;
    let dims = cx.dims_or_unknown(0, kernel.len() + 2)?;
    let (batch, channels, spatial) = parts_of_image(&dims, cx.input_label(0))?;
    if kernel.len() != spatial.len() {
        return Err(errors::count("spatial axes of the kernel", kernel.len(), spatial.len()).into());
    }
    // An attribute of a deformable convolution has the groups of the weights.
    let inner = cx.multiply(group, inner);
    let inner = cx.multiply(Dim::Known(cx.attributes.int_or("group", 1)?), inner);
    cx.equal(channels, inner, "number of input channels")?;
    let windows = windows(cx, &kernel)?;
    let mut all = vec![batch, cx.multiply(group, out)];
    for (axis, &size) in spatial.iter().enumerate() {
        fits(cx, &windows, axis, size)?;
        all.push(windows.count(cx, axis, size, Rounding::Down));
    }
    Ok(vec![Fact::shaped(all)])
}

fn transposed(cx: &mut InferContext<'_, '_>, groups: usize) -> InferResult {
    let (group, [inner, out], kernel) = weights(cx, 1, groups)?;
    let dims = cx.dims_or_unknown(0, kernel.len() + 2)?;
    let (batch, channels, spatial) = parts_of_image(&dims, cx.input_label(0))?;
    if kernel.len() != spatial.len() {
        return Err(errors::count("spatial axes of the kernel", kernel.len(), spatial.len()).into());
    }
    let inner = cx.multiply(group, inner);
    cx.equal(channels, inner, "number of input channels")?;
    let windows = windows(cx, &kernel)?;
    let more = cx.attributes.list("output_padding")?.unwrap_or_default();
    let mut all = vec![batch, cx.multiply(group, out)];
    let given = if cx.has(2) { Some(cx.integers(2)) } else { None };
    for (axis, &input) in spatial.iter().enumerate() {
        let size = match &given {
            Some(Some(shape)) => shape.get(axis).copied(),
            Some(None) => Some(cx.data("the shape is not known before the run", Bounds::SIZE)),
            None => None,
        };
        if let Some(size) = size {
            all.push(size);
            continue;
        }
        let less = cx.subtract(input, Dim::ONE);
        let steps = cx.multiply(less, Dim::Known(windows.strides[axis]));
        let window = windows.window(cx, axis);
        let reach = cx.add(steps, window);
        let more = more.get(axis).copied().unwrap_or(0).saturating_sub(windows.padding(axis));
        all.push(cx.add(reach, Dim::Known(more)));
    }
    Ok(vec![Fact::shaped(all)])
}

pub fn pool(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (batch, channels, spatial) = image(cx, 0)?;
    let kernel: Vec<_> =
        cx.attributes.list("kernel")?.unwrap_or_default().into_iter().map(Dim::Known).collect();
    if kernel.len() != spatial.len() {
        return Err(errors::count("spatial axes of the kernel", kernel.len(), spatial.len()).into());
    }
    let windows = windows(cx, &kernel)?;
    let rounding = cx.attributes.text("rounding_type")?.unwrap_or("floor");
    let mut all = vec![batch, channels];
    for (axis, &size) in spatial.iter().enumerate() {
        fits(cx, &windows, axis, size)?;
        let all_windows = match rounding {
            "ceil" => {
                let room = windows.room(cx, axis, size);
                let steps = cx.ceil_divide(room, Dim::Known(windows.strides[axis]));
                let all = cx.add(steps, Dim::ONE);
                // Pads that make the dimensions the same are at least 0: short windows are not
                // padded.
                let least = if windows.same { windows.count(cx, axis, size, Rounding::Down) } else { all };
                cx.max(all, least)
            }
            "ceil_torch" => windows.count(cx, axis, size, Rounding::Up),
            _ => windows.count(cx, axis, size, Rounding::Down),
        };
        all.push(all_windows);
    }
    let indices = cx.attributes.index_dtype("index_element_type")?.unwrap_or(DType::I64);
    Ok(vec![Fact::shaped(all.clone()), Fact::typed(indices, all)])
}

/// Windows of an image, whose elements are channels.
pub fn image_patches(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (batch, channels, spatial) = image(cx, 0)?;
    let list = |name: &str| -> Result<_, InferError> {
        let list = required(name, cx.attributes.list(name)?)?;
        if list.len() == spatial.len() {
            return Ok(list);
        }
        Err(errors::count(&format!("elements of attribute \"{name}\""), list.len(), spatial.len()).into())
    };
    let (sizes, strides, dilations) = (list("sizes")?, list("strides")?, list("rates")?);
    positive(&strides, &dilations)?;
    positive(&sizes, &dilations)?;
    let same = cx.attributes.text("auto_pad")?.is_some_and(|auto| auto.starts_with("same"));
    let kernel: Vec<_> = sizes.into_iter().map(Dim::Known).collect();
    let windows = Windows { kernel, strides, dilations, pads: vec![0; 2 * spatial.len()], same };
    let size = cx.product(&windows.kernel);
    let mut all = vec![batch, cx.multiply(channels, size)];
    for (axis, &size) in spatial.iter().enumerate() {
        fits(cx, &windows, axis, size)?;
        all.push(windows.count(cx, axis, size, Rounding::Down));
    }
    Ok(vec![Fact::shaped(all)])
}

pub fn adaptive_pool(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (batch, channels, spatial) = image(cx, 0)?;
    let sizes = match cx.integers(1) {
        Some(sizes) => sizes.to_vec(),
        None => cx.any_dims("the shape is not known before the run", spatial.len()),
    };
    let all = [vec![batch, channels], sizes].concat();
    let indices = cx.attributes.index_dtype("index_element_type")?.unwrap_or(DType::I64);
    Ok(vec![Fact::shaped(all.clone()), Fact::typed(indices, all)])
}

/// The first version takes statistics before the data: they have one axis.
pub fn batch_norm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let first = cx.dims(0)?;
    let data = if first.len() == 1 { 2 } else { 0 };
    Ok(vec![Fact::tensor(cx.dtype(data), cx.dims(data)?)])
}

pub fn attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (q, k, v) = (cx.dims(0)?, cx.dims(1)?, cx.dims(2)?);
    let ([q_batch @ .., len, _], [k_batch @ .., _, _], [v_batch @ .., _, size]) = (&*q, &*k, &*v) else {
        let rank = q.len().min(k.len()).min(v.len());
        return Err(errors::rank("query, key or value", rank, "at least 2").into());
    };
    let mut all = cx.broadcast(&[q_batch.into(), k_batch.into(), v_batch.into()])?;
    all.extend([*len, *size]);
    Ok(vec![Fact::shaped(all)])
}

fn hidden(cx: &InferContext<'_, '_>) -> Result<Dim, InferError> {
    Ok(Dim::Known(required("hidden_size", cx.attributes.int("hidden_size")?)?))
}

pub fn sequence(cx: &mut InferContext<'_, '_>) -> InferResult {
    cx.dims_of_known_rank(0, 3)?;
    let (dims, hidden) = (cx.dims_or_unknown(0, 3)?, hidden(cx)?);
    let directions =
        Dim::Known(if cx.attributes.text("direction")? == Some("bidirectional") { 2 } else { 1 });
    let state = Fact::shaped([dims[0], directions, hidden]);
    Ok(vec![Fact::shaped([dims[0], directions, dims[1], hidden]), state.clone(), state])
}

/// Boxes, channels and the dimensions that attributes name.
pub fn roi(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, boxes) = (cx.dims_of_rank(0, 4)?, cx.dims_of_rank(1, 2)?);
    let own =
        [cx.attributes.int("pooled_h")?, cx.attributes.int("pooled_w")?].map(|size| size.map(Dim::Known));
    let listed = cx.attributes.list("output_roi")?.or(cx.attributes.list("output_size")?).unwrap_or_default();
    let sizes = match (own, &listed[..]) {
        ([Some(height), Some(width)], _) => [height, width],
        (_, &[height, width]) => [Dim::Known(height), Dim::Known(width)],
        _ => return Err(InferError::unknown("the output size is missing from the attributes")),
    };
    Ok(vec![Fact::shaped([boxes[0], dims[1], sizes[0], sizes[1]])])
}

/// A variable holds what was assigned to it, and in the first run its first value.
pub fn read_value(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.attributes.dtype("variable_type")?.or(cx.dtype(0));
    let Some(text) = cx.attributes.text("variable_shape")? else {
        let rank = cx.dims(0)?.len();
        return Ok(vec![Fact::tensor(dtype, cx.any_dims("value of a variable", rank))]);
    };
    let sizes = gradus_formats::openvino::shape(text);
    let Some(Type::Tensor(_, Some(sizes))) = sizes else { return Ok(vec![Fact::tensor_type(dtype)]) };
    let each = sizes.iter().map(|size| match size {
        DeclaredDim::Known(len) => Dim::from(*len),
        DeclaredDim::Between(least, most) => {
            cx.data("value of a variable", Bounds::between(Some(i64_of(*least)), most.map(i64_of)))
        }
        DeclaredDim::Symbol(_) | DeclaredDim::Unknown => cx.data("value of a variable", Bounds::SIZE),
    });
    let dims: Vec<_> = each.collect();
    Ok(vec![Fact::tensor(dtype, dims)])
}

/// The axes of an image that are resized, and its dimensions with their pads.
fn interpolated_axes(
    cx: &mut InferContext<'_, '_>,
    input: usize,
    rank: usize,
) -> Result<Option<Vec<usize>>, InferError> {
    let named = match cx.attributes.list("axes")? {
        Some(axes) => Some(axes),
        None if cx.has(input) => match cx.known_integers(input) {
            Some(axes) => Some(axes),
            None => return Ok(None),
        },
        None => None,
    };
    match named {
        Some(axes) => Ok(Some(indices::axes(&axes, rank)?)),
        None => Ok(Some((0..rank).collect())),
    }
}

pub fn interpolate(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let rank = dims.len();
    let by_scales = cx.attributes.text("shape_calculation_mode")? == Some("scales");
    let both = cx.attributes.form().is(Older::SizesAndScales);
    let Some(axes) = interpolated_axes(cx, if both { 3 } else { 2 }, rank)? else {
        let dims = cx.any_dims("the axes are not known before the run", rank);
        return Ok(vec![Fact::shaped(dims)]);
    };
    let begins = cx.attributes.list("pads_begin")?.unwrap_or_default();
    let ends = cx.attributes.list("pads_end")?.unwrap_or_default();
    let mut all = dims.to_vec();
    for (axis, dim) in all.iter_mut().enumerate() {
        let at = |pads: &[i64]| pads.get(axis).copied().unwrap_or(0);
        *dim = cx.add(*dim, Dim::Known(at(&begins).saturating_add(at(&ends))));
    }
    if by_scales {
        let scales = cx.constant(if both { 2 } else { 1 });
        let scales = scales
            .and_then(|scales| scales.numbers().ok().map(|all| all.map(nearest_f64).collect::<Vec<_>>()));
        for (i, &axis) in axes.iter().enumerate() {
            let scale = scales.as_ref().and_then(|scales| scales.get(i).copied());
            all[axis] = scaled(cx, all[axis], scale);
        }
        return Ok(vec![Fact::shaped(all)]);
    }
    let sizes = cx.integers(1);
    for (i, &axis) in axes.iter().enumerate() {
        all[axis] = match sizes.as_ref().and_then(|sizes| sizes.get(i).copied()) {
            Some(size) => size,
            None => cx.data("the sizes are not known before the run", Bounds::SIZE),
        };
    }
    Ok(vec![Fact::shaped(all)])
}

/// Implementations of `Interpolate` add this to the product of a size and a scale before they cut.
pub const SCALED_UP: f64 = 1e-6;

/// `floor(size*scale)`, where the product is rounded, and so is only known of whole scales and
/// known dimensions.
fn scaled(cx: &mut InferContext<'_, '_>, size: Dim, scale: Option<f64>) -> Dim {
    let whole = scale.and_then(gradus_core::convert::truncated).and_then(|whole| i64::try_from(whole).ok());
    match (size, scale, whole) {
        (_, Some(scale), Some(whole)) if nearest_f64(gradus_core::Number::Int(whole.into())) == scale => {
            cx.multiply(size, Dim::Known(whole))
        }
        (Dim::Known(size), Some(scale), _) => {
            let size = nearest_f64(gradus_core::Number::Int(size.into()));
            let cut = gradus_core::convert::truncated((size * scale + SCALED_UP).floor());
            cut.and_then(|cut| i64::try_from(cut).ok())
                .map_or_else(|| cx.unknown("a scale is too large", Bounds::SIZE), Dim::Known)
        }
        (_, Some(scale), _) if scale > 0.0 && scale.recip().fract() == 0.0 => {
            let by = gradus_core::convert::truncated(scale.recip())
                .and_then(|by| i64::try_from(by).ok())
                .unwrap_or(1);
            cx.floor_divide(size, Dim::Known(by))
        }
        (_, Some(_), _) => cx.unknown("a product with a scale is rounded", Bounds::SIZE),
        (_, None, _) => cx.data("the scales are not known before the run", Bounds::SIZE),
    }
}

/// The value in the first run: that of the input, or else zeros, of which open axes have none.
pub fn read_value_eval(
    attributes: &Attributes<'_>,
    cx: &mut EvalContext<'_>,
) -> gradus_core::Result<Vec<Value>> {
    if cx.has(0) {
        return Ok(vec![cx.value(0)?.clone()]);
    }
    let declared = attributes.text("variable_shape")?.and_then(gradus_formats::openvino::shape);
    let (Some(dtype), Some(Type::Tensor(_, Some(sizes)))) = (attributes.dtype("variable_type")?, declared)
    else {
        let what = "cannot run ReadValue: its variable_shape";
        return Err(Error::mismatch(Kind::Unsupported, what, "missing or of any rank", "a list of sizes"));
    };
    let size = |size: &DeclaredDim| if let DeclaredDim::Known(len) = size { *len } else { 0 };
    let shape = allowed(cx, dtype, &sizes.iter().map(size).collect::<Vec<_>>())?;
    one(Tensor::zeros(dtype, shape)?)
}

pub fn convolution_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    convolution(cx, 1, 0)
}

/// `DeformableConvolution`: offsets stand before the weights.
pub fn deformable(cx: &mut InferContext<'_, '_>) -> InferResult {
    convolution(cx, 2, 0)
}

pub fn group_convolution(cx: &mut InferContext<'_, '_>) -> InferResult {
    convolution(cx, 1, 1)
}

pub fn convolution_backprop_data(cx: &mut InferContext<'_, '_>) -> InferResult {
    transposed(cx, 0)
}

pub fn group_convolution_backprop_data(cx: &mut InferContext<'_, '_>) -> InferResult {
    transposed(cx, 1)
}

pub fn lstm_cell(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (batch, hidden) = (cx.dims_of_rank(0, 2)?[0], hidden(cx)?);
    let state = Fact::tensor(cx.dtype(0), [batch, hidden]);
    Ok(vec![state.clone(), state])
}
