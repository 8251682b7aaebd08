//! Rules of OpenVINO's convolutions and pools.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `Convolution`, `GroupConvolution` | `Conv` | groups are an axis of the weights |
//! | `ConvolutionBackpropData`, `GroupConvolutionBackpropData` | `ConvTranspose` | the shape may be an input |
//! | `MaxPool`, `AvgPool` | `MaxPool`, `AveragePool` | `ceil` counts a last window that starts after the end, `ceil_torch` does not |
//! | `ExtractImagePatches` | | windows become channels |

use gradus_core::DType;

use crate::attributes::required;
use crate::dim::{Bounds, Dim, Relation};
use crate::fact::Fact;
use crate::infer::{InferContext, InferError, InferResult};
use crate::windows::infer::{Rounding, Windows, image, parts_of_image, positive};
use crate::{errors, indices, words};

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
    let auto = words::PADS.of(&cx.attributes)?;
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

/// Requires that at most one window starts after the data, as `ceil_torch` drops no more of them.
fn drops_one(cx: &mut InferContext<'_, '_>, windows: &Windows, axis: usize) -> Result<(), InferError> {
    let pads = windows.pads[axis + windows.kernel.len()];
    match windows.window(cx, axis).known() {
        Some(window) if pads > window => {
            let wanted = format_args!("at most {window}, the window, where rounding_type is ceil_torch");
            Err(errors::value(format_args!("pads_end of axis {}", axis + 2), pads, wanted).into())
        }
        _ => Ok(()),
    }
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

/// Shape of OpenVINO's convolutions, whose weights are an input and have axes for groups: batch,
/// filters of all groups and numbers of windows.
pub fn convolution(cx: &mut InferContext<'_, '_>, input: usize, groups: usize) -> InferResult {
    let (group, [out, inner], kernel) = weights(cx, input, groups)?;
    let dims = cx.dims_or_unknown(0, kernel.len() + 2)?;
    let (batch, channels, spatial) = parts_of_image(&dims, cx.input_label(0))?;
    errors::expect_count("spatial axes of the kernel", kernel.len(), spatial.len())?;
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

/// Shape of OpenVINO's transposed convolutions, whose weights have axes for groups: batch, filters
/// of all groups and sizes.
pub fn transposed(cx: &mut InferContext<'_, '_>, groups: usize) -> InferResult {
    let (group, [inner, out], kernel) = weights(cx, 1, groups)?;
    let dims = cx.dims_or_unknown(0, kernel.len() + 2)?;
    let (batch, channels, spatial) = parts_of_image(&dims, cx.input_label(0))?;
    errors::expect_count("spatial axes of the kernel", kernel.len(), spatial.len())?;
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

/// Shapes of OpenVINO's `MaxPool` and `AvgPool`: batch, channels and numbers of windows.
pub fn pool(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (batch, channels, spatial) = image(cx, 0)?;
    let kernel: Vec<_> =
        cx.attributes.list("kernel")?.unwrap_or_default().into_iter().map(Dim::Known).collect();
    errors::expect_count("spatial axes of the kernel", kernel.len(), spatial.len())?;
    // Strides of convolutions are ones where there is no list; pools must have one.
    if cx.attributes.list("strides")?.is_none_or(|strides| strides.is_empty()) {
        return Err(errors::count("elements of attribute \"strides\"", 0, spatial.len()).into());
    }
    indices::axis(cx.attributes.int_or("axis", 0)?, spatial.len() + 2)?;
    let windows = windows(cx, &kernel)?;
    let rounding = words::ROUNDING.of(&cx.attributes)?;
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
            "ceil_torch" => {
                drops_one(cx, &windows, axis)?;
                windows.count(cx, axis, size, Rounding::Up)
            }
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
    let same = words::PADS.of(&cx.attributes)?.starts_with("same");
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

/// Shapes of OpenVINO's adaptive pools: batch, channels and the given sizes.
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
