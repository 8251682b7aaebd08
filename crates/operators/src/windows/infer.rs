//! Rules of operators that move a window over spatial axes: convolutions, pools, and their
//! inverses.
//!
//! | padding | dimension, from dimension `d`, window `w = (kernel - 1)*dilation + 1`, stride `s`, pads `p`, `q` |
//! |---|---|
//! | `NOTSET`, `VALID` | `(d + p + q - w)//s + 1`; with `ceil_mode` rounded up, without a window that starts after `d + p` |
//! | the same, of pools | rounded toward zero |
//! | `SAME_UPPER`, `SAME_LOWER` | `ceil(d/s)` |
//! | transposed | `(d - 1)*s + w + output_padding - p - q`; with `SAME_…`, `d*s` |
//!
//! Pools of `onnx` and ONNX Runtime round so: a window that is larger than the padded data by less
//! than `s` lies on what there is.
//!
//! Sources: ONNX Conv, `ConvTranspose`, `MaxPool`, `AveragePool`, `LpPool` of all versions.

use std::fmt::Display;

use gradus_core::convert::i64_of;
use gradus_core::{DType, Error};

use crate::attributes::{Attributes, missing};
use crate::dim::{Bounds, Dim, Relation};
use crate::errors;
use crate::fact::{Dims, Fact};
use crate::indexing::infer::require_up_to;
use crate::infer::{InferContext, InferError, InferResult};
use crate::words;

/// How the number of steps from the first window to the last is rounded.
#[derive(Clone, Copy)]
pub enum Rounding {
    Down,
    /// Down, and up where a window is larger than the padded data.
    TowardZero,
    /// Up, without windows that start after the data.
    Up,
}

impl Rounding {
    /// The rounding of pools of ONNX.
    fn of_pool(cx: &InferContext<'_, '_>) -> Result<Rounding, InferError> {
        Ok(if cx.attributes.flag("ceil_mode", false)? { Rounding::Up } else { Rounding::TowardZero })
    }
}

/// How windows lie on the spatial axes.
pub struct Windows {
    pub kernel: Vec<Dim>,
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    pub pads: Vec<i64>,
    pub same: bool,
}

impl Windows {
    /// From the attributes; the kernel's dimensions are given where the attribute is not.
    fn of(
        cx: &mut InferContext<'_, '_>,
        spatial: usize,
        kernel: Option<&[Dim]>,
    ) -> Result<Windows, InferError> {
        let attributes = cx.attributes.clone();
        let list = |name: &str, count: usize, default: i64| -> Result<Vec<i64>, InferError> {
            match attributes.ints(name)? {
                None => Ok(vec![default; count]),
                Some(values) if values.len() == count => Ok(values.to_vec()),
                Some(values) => {
                    Err(errors::count(&format!("elements of attribute \"{name}\""), values.len(), count)
                        .into())
                }
            }
        };
        let is_convolution = kernel.is_some();
        let kernel = match (cx.attributes.ints("kernel_shape")?, kernel) {
            (Some(shape), None) if shape.len() == spatial => {
                let size = |&size: &i64| errors::at_least_1("kernel_shape", size).map(Dim::Known);
                shape.iter().map(size).collect::<Result<_, _>>()?
            }
            (Some(shape), Some(kernel)) if shape.len() == spatial && kernel.len() == spatial => {
                for (axis, (&size, &dim)) in shape.iter().zip(kernel).enumerate() {
                    let what = format_args!("size {axis} of attribute \"kernel_shape\"");
                    cx.not_apart(Dim::Known(size), dim, what)?;
                }
                kernel.to_vec()
            }
            (None, Some(kernel)) if kernel.len() == spatial => kernel.to_vec(),
            (None, None) => return Err(missing("kernel_shape").into()),
            (shape, kernel) => {
                let got = shape.map_or(kernel.map_or(0, <[Dim]>::len), <[i64]>::len);
                return Err(errors::count("spatial axes of the kernel", got, spatial).into());
            }
        };
        let auto = words::AUTO_PAD.of(&cx.attributes)?;
        let strides = list("strides", spatial, 1)?;
        let dilations = list("dilations", spatial, 1)?;
        positive(&strides, &dilations)?;
        let mut pads = list("pads", 2 * spatial, 0)?;
        if !matches!(auto, "" | "NOTSET") {
            // Pools of runtimes do without pads then, convolutions do not run.
            if let Some(pad) = pads.iter().find(|&&pad| pad != 0 && is_convolution) {
                let wanted = format_args!("0 with \"auto_pad\" {auto}");
                return Err(errors::value("attribute \"pads\"", pad, wanted).into());
            }
            pads.fill(0);
        }
        Ok(Windows { kernel, strides, dilations, pads, same: auto.starts_with("SAME") })
    }

    /// The elements that a window covers along an axis.
    pub fn window(&self, cx: &mut InferContext<'_, '_>, axis: usize) -> Dim {
        let less = cx.subtract(self.kernel[axis], Dim::ONE);
        let spread = cx.multiply(less, Dim::Known(self.dilations[axis]));
        cx.add(spread, Dim::ONE)
    }

    /// The sum of the pads of an axis.
    pub fn padding(&self, axis: usize) -> i64 {
        self.pads[axis].saturating_add(self.pads[axis + self.strides.len()])
    }

    /// How far the first window can move within the padded data along an axis.
    pub fn room(&self, cx: &mut InferContext<'_, '_>, axis: usize, size: Dim) -> Dim {
        let window = self.window(cx, axis);
        let padded = cx.add(size, Dim::Known(self.padding(axis)));
        cx.subtract(padded, window)
    }

    /// Number of windows along an axis.
    pub fn count(&self, cx: &mut InferContext<'_, '_>, axis: usize, size: Dim, rounding: Rounding) -> Dim {
        let stride = Dim::Known(self.strides[axis]);
        if self.same {
            return cx.ceil_divide(size, stride);
        }
        let room = self.room(cx, axis, size);
        let steps = match rounding {
            Rounding::TowardZero if stride == Dim::ONE => room,
            Rounding::Down => cx.floor_divide(room, stride),
            Rounding::TowardZero => {
                // Over data, a window that is larger by less than a stride has a place.
                cx.assume(size, Relation::AtLeast, Dim::ONE);
                let shift = cx.add(room, stride);
                if room.known().is_none() && !cx.symbols().at_least(shift, 1) {
                    cx.may_assume(shift, Relation::AtLeast, Dim::ONE);
                }
                cx.truncated_divide(room, stride)
            }
            Rounding::Up => cx.ceil_divide(room, stride),
        };
        let all = cx.add(steps, Dim::ONE);
        if !matches!(rounding, Rounding::Up) {
            return all;
        }
        let inside = cx.add(size, Dim::Known(self.pads[axis]));
        let starts = cx.ceil_divide(inside, stride);
        cx.min(all, starts)
    }
}

/// How far a pool's window reaches beyond the padded data, along each axis whose size is known.
pub fn beyond(attributes: &Attributes<'_>, sizes: &[Option<i64>]) -> Result<Vec<i64>, Error> {
    let list = |name: &str| Ok::<_, Error>(attributes.ints(name)?.unwrap_or_default().to_vec());
    let [kernel, dilations, pads] = [list("kernel_shape")?, list("dilations")?, list("pads")?];
    let at = |list: &[i64], axis: usize, default| list.get(axis).copied().unwrap_or(default);
    let beyond = |(axis, size): (usize, &Option<i64>)| {
        let window = (at(&kernel, axis, 1) - 1).saturating_mul(at(&dilations, axis, 1)).saturating_add(1);
        let padded =
            (*size)?.saturating_add(at(&pads, axis, 0)).saturating_add(at(&pads, axis + sizes.len(), 0));
        Some(window.saturating_sub(padded))
    };
    Ok(sizes.iter().enumerate().map(|axis| beyond(axis).unwrap_or(0)).collect())
}

/// Checks that windows move forward.
pub fn positive(strides: &[i64], dilations: &[i64]) -> Result<(), InferError> {
    match strides.iter().chain(dilations).find(|&&value| value <= 0) {
        Some(value) => Err(errors::value("stride or dilation", value, "at least 1").into()),
        None => Ok(()),
    }
}

/// Batch, channels and spatial dimensions of an input.
pub fn image(cx: &InferContext<'_, '_>, input: usize) -> Result<(Dim, Dim, Dims), InferError> {
    parts_of_image(&cx.dims(input)?, cx.input_label(input))
}

/// Batch, channels and spatial dimensions of a shape.
pub fn parts_of_image(dims: &[Dim], label: impl Display) -> Result<(Dim, Dim, Dims), InferError> {
    match dims {
        [batch, channels, spatial @ ..] => Ok((*batch, *channels, spatial.into())),
        _ => Err(errors::rank(label, dims.len(), "at least 2").into()),
    }
}

fn conv(cx: &mut InferContext<'_, '_>, x: usize, w: usize, dtype: Option<DType>) -> InferResult {
    // Runtimes have variants with the channels last.
    let last = cx.attributes.flag("channels_last", false)? || cx.node.operator.name.starts_with("Nhwc");
    let weights = cx.dims(w)?;
    let dims = cx.dims_or_unknown(x, weights.len())?;
    if dims.len() < 2 || weights.len() != dims.len() {
        return Err(errors::rank(cx.input_label(w), weights.len(), dims.len().max(2)).into());
    }
    let spatial: Dims = if last { dims[1..dims.len() - 1].into() } else { dims[2..].into() };
    let windows = Windows::of(cx, spatial.len(), Some(&weights[2..]))?;
    if !last {
        let groups = groups(cx, weights[0], (w, 0))?;
        let inner = cx.multiply(weights[1], groups);
        cx.equal(dims[1], inner, format_args!("size of axis 1 of {}", cx.input_label(x)))?;
    }
    let counts: Vec<_> = spatial
        .iter()
        .enumerate()
        .map(|(axis, &size)| windows.count(cx, axis, size, Rounding::Down))
        .collect();
    let mut all = vec![dims[0]];
    if last {
        all.extend(counts);
        all.push(weights[0]);
    } else {
        all.push(weights[0]);
        all.extend(counts);
    }
    Ok(vec![Fact::tensor(dtype, all)])
}

/// The number of groups, of which the size of an axis of an input is a multiple.
fn groups(
    cx: &mut InferContext<'_, '_>,
    size: Dim,
    (input, axis): (usize, usize),
) -> Result<Dim, InferError> {
    let groups = Dim::Known(errors::at_least_1("group", cx.attributes.int_or("group", 1)?)?);
    let label = cx.input_label(input);
    cx.multiple(size, groups, format_args!("size of axis {axis} of {label}"))?;
    Ok(groups)
}

/// Shape of `ConvTranspose`: batch, filters, and sizes by stride, kernel and pads or as given.
pub fn conv_transpose(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (batch, channels, spatial) = image(cx, 0)?;
    let (inner, per_group, kernel) = image(cx, 1)?;
    cx.equal(inner, channels, format_args!("size of axis 0 of {}", cx.input_label(1)))?;
    let groups = groups(cx, channels, (0, 1))?;
    let filters = cx.multiply(per_group, groups);
    cx.same_shape(2, &[filters])?;
    let windows = Windows::of(cx, spatial.len(), Some(&kernel))?;
    let padding = cx.attributes.ints("output_padding")?.unwrap_or(&[]);
    let shape = cx.attributes.ints("output_shape")?;
    if !padding.is_empty() && padding.len() != spatial.len() {
        let what = "elements of attribute \"output_padding\"";
        return Err(errors::count(what, padding.len(), spatial.len()).into());
    }
    for (axis, &more) in padding.iter().enumerate() {
        let limit = windows.strides[axis].max(windows.dilations[axis]);
        if more >= limit {
            let wanted = format_args!("less than {limit}, the larger of stride and dilation");
            return Err(errors::value("attribute \"output_padding\"", more, wanted).into());
        }
    }
    if let Some(count) =
        shape.map(<[i64]>::len).filter(|&count| ![spatial.len(), spatial.len() + 2].contains(&count))
    {
        return Err(errors::count("elements of attribute \"output_shape\"", count, spatial.len()).into());
    }
    let mut all = vec![batch, filters];
    for (axis, &size) in spatial.iter().enumerate() {
        // The shape may be given with or without batch and channels.
        let given = shape.and_then(|shape| shape.get((axis + shape.len()).checked_sub(spatial.len())?));
        if let Some(&size) = given {
            all.push(Dim::Known(size));
            continue;
        }
        let stride = Dim::Known(windows.strides[axis]);
        if windows.same {
            all.push(cx.multiply(size, stride));
            continue;
        }
        let less = cx.subtract(size, Dim::ONE);
        let steps = cx.multiply(less, stride);
        let window = windows.window(cx, axis);
        let reach = cx.add(steps, window);
        let more = padding.get(axis).copied().unwrap_or(0).saturating_sub(windows.padding(axis));
        all.push(cx.add(reach, Dim::Known(more)));
    }
    Ok(vec![Fact::shaped(all)])
}

/// Shapes of `CausalConvWithState`: the input's, and the state of the last elements.
pub fn causal_conv(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 3)?;
    cx.same_shape(2, &[dims[1]])?;
    cx.dims_of_known_rank(1, 3)?;
    let state = match cx.known_dims(1).as_deref() {
        Some(&[.., taps]) => {
            cx.same_shape(1, &[dims[1], Dim::ONE, taps])?;
            let state = cx.subtract(taps, Dim::ONE);
            cx.same_shape(3, &[dims[0], dims[1], state])?;
            state
        }
        _ => cx.unknown("the size of the kernel is not known", Bounds::SIZE),
    };
    Ok(vec![Fact::shaped(dims.clone()), Fact::shaped([dims[0], dims[1], state])])
}

/// Shapes of `MaxPool`, `AveragePool` and `LpPool`: batch, channels and numbers of windows.
pub fn pool(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims: Dims = pooled(cx)?.into();
    let indices = Fact::typed(DType::I64, dims.clone());
    Ok(vec![Fact::shaped(dims), indices])
}

fn pooled(cx: &mut InferContext<'_, '_>) -> Result<Vec<Dim>, InferError> {
    let (batch, channels, spatial) = image(cx, 0)?;
    let windows = Windows::of(cx, spatial.len(), None)?;
    let rounding = Rounding::of_pool(cx)?;
    let mut all = vec![batch, channels];
    for (axis, &size) in spatial.iter().enumerate() {
        let count = windows.count(cx, axis, size, rounding);
        all.push(count);
    }
    Ok(all)
}

/// Shape of ONNX Runtime's pools, whose channels may be last.
pub fn microsoft_pool(cx: &mut InferContext<'_, '_>) -> InferResult {
    if cx.attributes.flag("channels_last", false)? || cx.node.operator.name.starts_with("Nhwc") {
        let dims = cx.dims(0)?;
        let [batch, spatial @ .., channels] = &*dims else {
            return Err(errors::rank(cx.input_label(0), dims.len(), "at least 2").into());
        };
        let windows = Windows::of(cx, spatial.len(), None)?;
        let rounding = Rounding::of_pool(cx)?;
        let mut all = vec![*batch];
        for (axis, &size) in spatial.iter().enumerate() {
            let count = windows.count(cx, axis, size, rounding);
            all.push(count);
        }
        all.push(*channels);
        return Ok(vec![Fact::tensor(cx.dtype(0), all)]);
    }
    let dims = pooled(cx)?;
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}

fn global(cx: &mut InferContext<'_, '_>) -> Result<Vec<Dim>, InferError> {
    let dims = cx.dims(0)?;
    if cx.attributes.flag("channels_last", false)?
        && let [batch, spatial @ .., channels] = &*dims
    {
        return Ok([*batch].into_iter().chain(spatial.iter().map(|_| Dim::ONE)).chain([*channels]).collect());
    }
    let (batch, channels, spatial) = image(cx, 0)?;
    Ok([batch, channels].into_iter().chain(spatial.iter().map(|_| Dim::ONE)).collect())
}

/// Shape of `MaxUnpool`: as given, or what the windows cover.
pub fn max_unpool(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (_, _, spatial) = image(cx, 0)?;
    Windows::of(cx, spatial.len(), None)?;
    let dims = cx.dims(0)?;
    cx.same_shape(1, &dims)?;
    if cx.has(2) {
        cx.elements_of(2, i64_of(dims.len()))?;
        if let Some(shape) = cx.integers(2) {
            return Ok(vec![Fact::shaped(shape)]);
        }
        let rank = cx.dims(0)?.len();
        let dims = cx.any_dims("the shape is not known before the run", rank);
        return Ok(vec![Fact::shaped(dims)]);
    }
    let (batch, channels, spatial) = image(cx, 0)?;
    let windows = Windows::of(cx, spatial.len(), None)?;
    let mut all = vec![batch, channels];
    for (axis, &size) in spatial.iter().enumerate() {
        let less = cx.subtract(size, Dim::ONE);
        let steps = cx.multiply(less, Dim::Known(windows.strides[axis]));
        let reach = cx.add(steps, windows.kernel[axis]);
        all.push(cx.subtract(reach, Dim::Known(windows.padding(axis))));
    }
    let count = cx.product(&all);
    let last = cx.subtract(count, Dim::ONE);
    require_up_to(cx, (1, "index"), last, None)?;
    Ok(vec![Fact::shaped(all)])
}

/// `Col2Im` of OpenVINO, which may have no axis of samples.
pub fn col2im_of_any_rank(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let channels = match dims.len() {
        2 => 0,
        3 => 1,
        rank => return Err(errors::rank(cx.input_label(0), rank, "2 or 3").into()),
    };
    let size = cx.integers(2).map(|kernel| cx.product(&kernel));
    let mut all = dims[..=channels].to_vec();
    all[channels] = match size {
        Some(size) => cx.floor_divide(dims[channels], size),
        None => cx.data("the kernel is not known before the run", Bounds::SIZE),
    };
    match cx.integers(1) {
        Some(image) => all.extend(image.iter().copied()),
        None => all.extend(cx.any_dims("the image's shape is not known before the run", 2)),
    }
    Ok(vec![Fact::shaped(all)])
}

/// Shape of `Col2Im`: batch, channels and the image.
pub fn col2im(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 3)?;
    let (image, block) = (cx.integers(1), cx.integers(2));
    if let (Some(image), Some(block)) = (&image, &block) {
        let windows = Windows::of(cx, image.len(), Some(block))?;
        let counts: Vec<_> = image
            .iter()
            .enumerate()
            .map(|(axis, &size)| windows.count(cx, axis, size, Rounding::Down))
            .collect();
        let count = cx.product(&counts);
        cx.equal(dims[2], count, "number of blocks")?;
        let size = cx.product(block);
        let label = cx.input_label(0);
        cx.multiple(dims[1], size, format_args!("size of axis 1 of {label}"))?;
    } else {
        let lens = [1, 2].map(|input| cx.known_dims(input).and_then(|dims| dims.first().copied()));
        if let [Some(image), Some(block)] = lens {
            cx.require(image, Relation::Equal, block);
        }
        cx.require_of_values("blocks are as many as fit the image".to_owned());
    }
    let channels = match block {
        Some(block) => {
            let size = cx.product(&block);
            cx.floor_divide(dims[1], size)
        }
        None => cx.data("the block is not known before the run", Bounds::SIZE),
    };
    let spatial = if let Some(image) = image {
        image.to_vec()
    } else {
        let rank = cx.needed_len(1)?;
        cx.any_dims("the image's shape is not known before the run", rank)
    };
    Ok(vec![Fact::shaped([vec![dims[0], channels], spatial].concat())])
}

/// Shape of `Conv` and `ConvInteger`: batch, filters and numbers of windows.
pub fn conv_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    if let Some(&[filters, ..]) = cx.known_dims(1).as_deref() {
        match cx.operator {
            "ConvInteger" => {
                cx.one_element(2)?;
                cx.one_element_or(3, Ok(vec![filters]))?;
            }
            "Conv" => cx.same_shape(2, &[filters])?,
            _ => {}
        }
    }
    conv(cx, 0, 1, None)
}

/// Shape of `DeformConv`: that of the convolution, to which offsets and masks fit.
pub fn deform_conv(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (dims, weights) = (cx.dims(0)?, cx.dims(1)?);
    let facts = conv(cx, 0, 1, None)?;
    let Some(all) = facts[0].as_tensor().and_then(|fact| fact.dims.clone()) else { return Ok(facts) };
    let groups = Dim::Known(errors::at_least_1("offset_group", cx.attributes.int_or("offset_group", 1)?)?);
    let label = cx.input_label(0);
    cx.multiple(dims[1], groups, format_args!("size of axis 1 of {label}"))?;
    let taps = cx.product(&weights[2..]);
    let masks = cx.multiply(taps, groups);
    let offsets = cx.multiply(masks, Dim::from(dims.len() - 2));
    cx.same_shape(2, &[&[dims[0], offsets], &all[2..]].concat())?;
    cx.same_shape(3, &[weights[0]])?;
    cx.same_shape(4, &[&[dims[0], masks], &all[2..]].concat())?;
    Ok(facts)
}

/// Shape of `QLinearConv`: that of the convolution, in the type of the last zero point.
pub fn q_linear_conv(cx: &mut InferContext<'_, '_>) -> InferResult {
    [1, 2, 6, 7].into_iter().try_for_each(|input| cx.one_element(input))?;
    if let Some(&[filters, ..]) = cx.known_dims(3).as_deref() {
        [4, 5].into_iter().try_for_each(|input| cx.one_element_or(input, Ok(vec![filters])))?;
        cx.same_shape(8, &[filters])?;
    }
    let dtype = cx.dtype(7);
    conv(cx, 0, 3, dtype)
}

/// Shape of `GlobalAveragePool` and its like: batch, channels, and spatial axes of size 1.
pub fn global_average_pool(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = global(cx)?;
    Ok(vec![Fact::shaped(dims)])
}

/// Shape of `FusedConv`: that of the convolution, which the added input must have.
pub fn fused_conv(cx: &mut InferContext<'_, '_>) -> InferResult {
    if let Some(&[filters, ..]) = cx.known_dims(1).as_deref() {
        cx.same_shape(2, &[filters])?;
    }
    let dtype = cx.dtype(0);
    let facts = conv(cx, 0, 1, dtype)?;
    if let Some(dims) = facts[0].as_tensor().and_then(|fact| fact.dims.clone()) {
        cx.same_shape(3, &dims)?;
    }
    Ok(facts)
}

/// Shape of ONNX Runtime's `QLinearConv`: that of the convolution, with channels first or last.
pub fn q_linear_conv_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.dtype(7);
    conv(cx, 0, 3, dtype)
}

/// Shape of `QLinearGlobalAveragePool`: batch, channels, and spatial axes of size 1.
pub fn q_linear_global_average_pool(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = global(cx)?;
    Ok(vec![Fact::tensor(cx.dtype(0), dims)])
}
