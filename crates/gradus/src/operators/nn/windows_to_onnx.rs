//! Convolutions, pooling, images and attention in the operators of ONNX; the table of
//! `windows_to_openvino.rs`, read the other way round.

use gradus_core::convert::{Rules, i64_of, nearest_f64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Shape, Tensor};

use crate::attributes::{NewAttributes, required};
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_onnx::{flag, int, word};
use crate::conversion::types::numbered;
use crate::conversion::writer::{NONE, NewValue};
use crate::operators::errors;
use crate::operators::indices::axes as axes_of;

/// A list with an element for each spatial axis.
fn each(cx: &ConvertContext<'_, '_>, name: &str, default: i64, count: usize) -> Result<Vec<i64>> {
    match cx.attributes.list(name)?.filter(|list| !list.is_empty()) {
        None => Ok(vec![default; count]),
        Some(values) if values.len() == count => Ok(values),
        Some(values) => Err(errors::count(&format!("elements of attribute \"{name}\""), values.len(), count)),
    }
}

/// How windows lie; those of transposed convolutions have no pads that make sizes the same.
fn windows(cx: &ConvertContext<'_, '_>, spatial: usize, transposed: bool) -> Result<NewAttributes> {
    let mut attributes = vec![("strides", Content::Ints(each(cx, "strides", 1, spatial)?.into()))];
    let dilations = each(cx, "dilations", 1, spatial)?;
    if dilations.iter().any(|&dilation| dilation != 1) {
        attributes.push(("dilations", Content::Ints(dilations.into())));
    }
    match cx.attributes.text("auto_pad")?.unwrap_or("explicit") {
        "same_upper" if !transposed => attributes.push(word("auto_pad", "SAME_UPPER")),
        "same_lower" if !transposed => attributes.push(word("auto_pad", "SAME_LOWER")),
        "explicit" | "notset" => {
            let pads = [each(cx, "pads_begin", 0, spatial)?, each(cx, "pads_end", 0, spatial)?].concat();
            attributes.push(("pads", Content::Ints(pads.into())));
        }
        _ => {}
    }
    Ok(attributes)
}

/// The weights without their axis of groups, and the number of groups. The axis has the channels of
/// a group of the input.
fn ungrouped(cx: &mut ConvertContext<'_, '_>, has_groups: bool, channels: usize) -> Result<(NewValue, i64)> {
    let weights = cx.input(1)?;
    if !has_groups {
        return Ok((weights, 1));
    }
    let rank = cx.rank(1)?;
    if rank < 3 {
        return Err(errors::rank("grouped weights", rank, "at least 3"));
    }
    let dims = cx.dims(1).unwrap_or_default();
    let rest = dims.iter().skip(2).copied().collect::<Option<Vec<_>>>();
    let by_channels = || cx.known_size(0, 1)?.checked_div(dims.get(channels).copied().flatten()?);
    match (dims.first().copied().flatten().or_else(by_channels), rest) {
        (Some(groups), Some(rest)) => {
            let dims = cx.list(&[&[-1], &rest[..]].concat());
            Ok((cx.with_shape(weights, dims)?, groups))
        }
        (Some(groups), None) => {
            let (sizes, all) = (cx.sizes(weights)?, cx.list(&[-1]));
            let rest = cx.part_of(sizes, 2, i64::MAX)?;
            let dims = cx.put("Concat", &[all, rest], &[int("axis", 0)])?;
            Ok((cx.with_shape(weights, dims)?, groups))
        }
        (None, _) => Ok((one_group(cx, weights, rank)?, 1)),
    }
}

/// Weights of an open number of groups as those of one group, which are zeros between an output and
/// the channels of other groups.
fn one_group(cx: &mut ConvertContext<'_, '_>, weights: NewValue, rank: usize) -> Result<NewValue> {
    cx.edges("infinite elements and NaN make the sums of other groups NaN");
    let (sizes, zero, one) = (cx.sizes(weights)?, cx.scalar(0), cx.scalar(1));
    let groups = cx.put("Gather", &[sizes, zero], &[int("axis", 0)])?;
    let numbers = cx.put("Range", &[zero, groups, one], &[])?;
    let column = [&[-1, 1], &vec![1; rank - 1][..]].concat();
    let row = [&[1, 1, -1], &vec![1; rank - 2][..]].concat();
    let (column, row) = (cx.list(&column), cx.list(&row));
    let (column, row) =
        (cx.put("Reshape", &[numbers, column], &[])?, cx.put("Reshape", &[numbers, row], &[])?);
    let own = cx.put("Equal", &[column, row], &[])?;
    let (axis, nothing) = (cx.list(&[2]), cx.number(0.0, cx.dtype(1)?)?);
    let apart = cx.put("Unsqueeze", &[weights, axis], &[])?;
    let all = cx.put("Where", &[own, apart, nothing], &[])?;
    // Outputs of all groups, channels of all groups, and the axes of space.
    let groups = cx.part_of(sizes, 0, 1)?;
    let [outputs, channels] = [1, 2].map(|at| {
        let size = cx.part_of(sizes, at, at + 1)?;
        cx.put("Mul", &[groups, size], &[])
    });
    let (outputs, channels) = (outputs?, channels?);
    let space = cx.part_of(sizes, 3, i64::MAX)?;
    let dims = cx.put("Concat", &[outputs, channels, space], &[int("axis", 0)])?;
    cx.with_shape(all, dims)
}

/// The number of spatial axes; weights tell it too.
fn spatial(cx: &ConvertContext<'_, '_>, has_groups: bool) -> Result<usize> {
    let of_weights = || Ok(cx.rank(1)?.saturating_sub(usize::from(has_groups)));
    Ok(cx.rank_if_known(0).map_or_else(of_weights, Ok)?.saturating_sub(2))
}

pub(crate) fn conv(cx: &mut ConvertContext<'_, '_>, has_groups: bool) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let (x, (weights, groups)) = (cx.input(0)?, ungrouped(cx, has_groups, 2)?);
    convolution(cx, &[x, weights], groups, has_groups)
}

/// A convolution of these values, with the windows of the node.
fn convolution(
    cx: &mut ConvertContext<'_, '_>,
    inputs: &[NewValue],
    groups: i64,
    has_groups: bool,
) -> Result<Vec<NewValue>> {
    let spatial = spatial(cx, has_groups)?;
    let mut attributes = windows(cx, spatial, false)?;
    if let Some(pads) = pads_of_dilated(cx, spatial, has_groups)? {
        attributes.retain(|(name, _)| *name != "auto_pad");
        attributes.push(("pads", Content::Ints(pads.into())));
    }
    attributes.push(int("group", groups));
    Ok(vec![cx.put("Conv", inputs, &attributes)?])
}

/// `BinaryConvolution`: elements above zero, and bits of the weights, count as one, all others as
/// minus one. Pads are zeros once their value is taken from all elements; its products are the
/// bias.
pub(crate) fn binary_conv(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    /// Integers up to this one are exact in float32.
    const MOST: f64 = 16_777_216.0;
    cx.attributes.only_text("mode", "xnor-popcount")?;
    let pad = f64::from(cx.attributes.float("pad_value")?.unwrap_or(0.0));
    let (dtype, weights) = (cx.dtype(0)?, cx.known(1)?.ok_or_else(|| not_known("value of input 1"))?);
    let sign = |bit: Number| if nearest_f64(bit) > 0.0 { 1 } else { -1 };
    let signs: Vec<i128> = weights.numbers()?.map(sign).collect();
    let each = weights.shape().dims().iter().skip(1).product::<usize>().max(1);
    let sums = signs.chunks(each).map(|filter| pad * nearest_f64(Number::Int(filter.iter().sum())));
    let bias: Vec<_> = sums.map(Number::Float).collect();
    let largest = (1.0 + pad.abs()) * super::windows::float_of(each);
    if pad.fract() != 0.0 || 2.0 * largest > MOST || !matches!(dtype, DType::F32 | DType::F64) {
        cx.rounding(caveats::ORDER);
    }
    let shape = Shape::new(vec![bias.len()])?;
    let bias = cx.constant(Tensor::from_numbers(dtype, shape, bias, Rules::IEEE)?);
    let signs = signs.into_iter().map(Number::Int).collect::<Vec<_>>();
    let weights = cx.constant(Tensor::from_numbers(dtype, weights.shape().clone(), signs, Rules::IEEE)?);
    let (x, zero) = (cx.input(0)?, cx.number(0.0, dtype)?);
    let (one, less) = (cx.number(1.0 - pad, dtype)?, cx.number(-1.0 - pad, dtype)?);
    let above = cx.put("Greater", &[x, zero], &[])?;
    let x = cx.put("Where", &[above, one, less], &[])?;
    convolution(cx, &[x, weights, bias], 1, false)
}

/// The pads of dilated windows in steps of 1 that keep the size: ONNX Runtime has no `auto_pad` for
/// these.
fn pads_of_dilated(
    cx: &ConvertContext<'_, '_>,
    spatial: usize,
    has_groups: bool,
) -> Result<Option<Vec<i64>>> {
    let lower = match cx.attributes.text("auto_pad")? {
        Some("same_upper") => false,
        Some("same_lower") => true,
        _ => return Ok(None),
    };
    let (strides, dilations) = (each(cx, "strides", 1, spatial)?, each(cx, "dilations", 1, spatial)?);
    let kernel = cx.dims(1).unwrap_or_default().into_iter().skip(2 + usize::from(has_groups));
    let kernel = kernel.collect::<Option<Vec<_>>>().filter(|kernel| kernel.len() == spatial);
    let dilated = dilations.iter().any(|&dilation| dilation != 1);
    let Some(kernel) = kernel.filter(|_| dilated && strides.iter().all(|&stride| stride == 1)) else {
        return Ok(None);
    };
    let total = kernel.iter().zip(&dilations).map(|(size, dilation)| (size - 1).saturating_mul(*dilation));
    let (less, more): (Vec<_>, Vec<_>) = total.map(|total| (total / 2, total - total / 2)).unzip();
    Ok(Some(if lower { [more, less] } else { [less, more] }.concat()))
}

pub(crate) fn conv_transpose(cx: &mut ConvertContext<'_, '_>, has_groups: bool) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let spatial = spatial(cx, has_groups)?;
    let mut attributes = windows(cx, spatial, true)?;
    let mut more = each(cx, "output_padding", 0, spatial)?;
    let (x, (weights, groups)) = (cx.input(0)?, ungrouped(cx, has_groups, 1)?);
    attributes.push(int("group", groups));
    if !cx.has(2) {
        attributes.push(("output_padding", Content::Ints(more.into())));
        return Ok(vec![cx.put("ConvTranspose", &[x, weights], &attributes)?]);
    }
    attributes.retain(|(name, _)| *name != "pads");
    let from = Ends::of(cx, spatial)?;
    let kernel = cx.dims(1).unwrap_or_default().into_iter().skip(2 + usize::from(has_groups));
    let kernel: Option<Vec<_>> = kernel.collect();
    if let Some(kernel) = kernel.as_ref().filter(|kernel| kernel.len() != spatial) {
        return Err(errors::count("spatial axes of the weights", kernel.len(), spatial));
    }
    let (strides, dilations) = (each(cx, "strides", 1, spatial)?, each(cx, "dilations", 1, spatial)?);
    let window = |size: i64, axis: usize| (size - 1).saturating_mul(dilations[axis]).saturating_add(1);
    let sizes: Option<Vec<_>> = cx.dims(0).and_then(|dims| dims.into_iter().skip(2).collect());
    let wanted = cx.known_integers(2)?;
    if let (Some(kernel), Some(sizes), Some(wanted)) = (kernel, sizes, wanted) {
        // All sizes are known: pads cut off, an output padding adds behind.
        let (mut begin, mut end) = (vec![0; spatial], vec![0; spatial]);
        for (axis, (&size, &wanted)) in sizes.iter().zip(&wanted).enumerate() {
            let all = size
                .saturating_sub(1)
                .saturating_mul(strides[axis])
                .saturating_add(window(kernel[axis], axis));
            begin[axis] = from.cut(axis, all.saturating_add(more[axis]).saturating_sub(wanted));
            let behind = all.saturating_sub(begin[axis]).saturating_sub(wanted);
            (end[axis], more[axis]) = (behind.max(0), behind.saturating_neg().max(0));
        }
        let pads = [begin, end].concat();
        attributes
            .extend([("pads", Content::Ints(pads.into())), ("output_padding", Content::Ints(more.into()))]);
        return Ok(vec![cx.put("ConvTranspose", &[x, weights], &attributes)?]);
    }
    attributes.push(("output_padding", Content::Ints(more.into())));
    let whole = cx.put("ConvTranspose", &[x, weights], &attributes)?;
    let (all, wanted, zero) = (cx.sizes(whole)?, cx.whole_list(2)?, cx.list(&[0]));
    let all = cx.part_of(all, 2, i64::MAX)?;
    let begin = match &from {
        Ends::Explicit(begin) => cx.list(begin),
        Ends::Same { upper } => {
            let two = cx.list(&[2]);
            let excess = cx.put("Sub", &[all, wanted], &[])?;
            let excess = cx.put("Max", &[excess, zero], &[])?;
            let half = cx.put("Div", &[excess, two], &[])?;
            if *upper { cx.put("Sub", &[excess, half], &[])? } else { half }
        }
    };
    let end = cx.put("Add", &[begin, wanted], &[])?;
    // Zeros stand behind what the windows reach.
    let lacks = cx.put("Sub", &[end, all], &[])?;
    let lacks = cx.put("Max", &[lacks, zero], &[])?;
    let before = cx.list(&vec![0; spatial + 4]);
    let pads = cx.put("Concat", &[before, lacks], &[int("axis", 0)])?;
    let whole = cx.put("Pad", &[whole, pads], &[])?;
    let axes = cx.list(&(0..spatial).map(|axis| i64_of(axis + 2)).collect::<Vec<_>>());
    Ok(vec![cx.put("Slice", &[whole, begin, end, axes], &[])?])
}

/// The place where outputs of a given size begin in all that a transposed convolution gives.
enum Ends {
    /// Behind the pads of the node, or at the first output.
    Explicit(Vec<i64>),
    /// In the middle; of an odd number, one more is cut from the begin (`same_upper`) or the end.
    Same { upper: bool },
}

impl Ends {
    fn of(cx: &ConvertContext<'_, '_>, spatial: usize) -> Result<Ends> {
        Ok(match cx.attributes.text("auto_pad")?.unwrap_or("explicit") {
            "same_upper" => Ends::Same { upper: true },
            "same_lower" => Ends::Same { upper: false },
            "valid" => Ends::Explicit(vec![0; spatial]),
            _ => Ends::Explicit(each(cx, "pads_begin", 0, spatial)?),
        })
    }

    /// The number of outputs that are cut from the begin of an axis if so many are too many.
    fn cut(&self, axis: usize, excess: i64) -> i64 {
        match self {
            Ends::Explicit(begin) => begin[axis],
            Ends::Same { upper: false } => excess.max(0) / 2,
            Ends::Same { upper: true } => excess.max(0) - excess.max(0) / 2,
        }
    }
}

/// The windows of a pool, and what it reads. OpenVINO counts a last window that starts behind the
/// padded data, if sizes are rounded up, and its maximum is the lowest number: it lies on pads.
fn pool(cx: &mut ConvertContext<'_, '_>) -> Result<(NewAttributes, NewValue)> {
    let spatial = cx.rank(0)?.saturating_sub(2);
    let mut attributes = windows(cx, spatial, false)?;
    let names = |name: &str| attributes.iter().any(|(own, _)| *own == name);
    if names("auto_pad") && names("dilations") {
        return Err(cannot("ONNX has no equivalent of auto_pad that does not count dilations"));
    }
    let kernel = each(cx, "kernel", 1, spatial)?;
    let rounding = cx.attributes.text("rounding_type")?.unwrap_or("floor").to_owned();
    let mut x = cx.input(0)?;
    if rounding == "ceil"
        && let Some(pads) = outer_pads(cx, &kernel)?
    {
        let of = match &*cx.node.operator.name {
            "AvgPool" => Some("mean"),
            _ if cx.wants(1) => Some("index of the maximum"),
            _ if names("auto_pad") => Some("auto_pad"),
            _ => None,
        };
        if let Some(of) = of {
            let why = format!("the last window starts behind the padded data, where no {of} is defined");
            return Err(cannot(why));
        }
        let (dtype, pads) = (cx.dtype(0)?, cx.list(&pads));
        let lowest = match dtype {
            DType::F16 => -65504.0,
            DType::BF16 => -3.389_531_389_251_535_5e38,
            DType::F32 => f32::MIN.into(),
            _ => f64::MIN,
        };
        let lowest = cx.number(lowest, dtype)?;
        x = cx.put("Pad", &[x, pads, lowest], &[])?;
        attributes.retain(|(name, _)| *name != "pads");
    }
    attributes
        .extend([("kernel_shape", Content::Ints(kernel.into())), flag("ceil_mode", rounding != "floor")]);
    Ok((attributes, x))
}

/// The pads of a pool with which its last window starts within the data, if without them one starts
/// behind; notes axes of open size where one may.
fn outer_pads(cx: &mut ConvertContext<'_, '_>, kernel: &[i64]) -> Result<Option<Vec<i64>>> {
    let spatial = kernel.len();
    let (strides, dilations) = (each(cx, "strides", 1, spatial)?, each(cx, "dilations", 1, spatial)?);
    let auto = cx.attributes.text("auto_pad")?.unwrap_or("explicit");
    let (same, explicit) = (auto.starts_with("same"), matches!(auto, "explicit" | "notset"));
    let pads = |name| if explicit { each(cx, name, 0, spatial) } else { Ok(vec![0; spatial]) };
    let (begins, mut ends) = (pads("pads_begin")?, pads("pads_end")?);
    let mut behind = false;
    for (axis, end) in ends.iter_mut().enumerate() {
        let window = (kernel[axis] - 1).saturating_mul(dilations[axis]).saturating_add(1);
        if strides[axis].saturating_add(*end) <= window {
            continue;
        }
        let Some(size) = cx.known_size(0, axis + 2) else {
            cx.edges("ONNX does not count a last window that starts behind the end");
            continue;
        };
        let inside = size.saturating_add(begins[axis]);
        let room = inside.saturating_add(*end).saturating_sub(window);
        let last = room.max(0).checked_add(strides[axis] - 1).map_or(0, |room| room - room % strides[axis]);
        // Pads that make sizes the same end with the last window, if there are any.
        let padded = same && (inside - 1) / strides[axis] * strides[axis] + window > inside;
        if last >= inside && !padded {
            behind = true;
            *end = last.saturating_add(window) - inside;
        }
    }
    let all = [vec![0, 0], begins, vec![0, 0], ends].concat();
    Ok(behind.then_some(all))
}

pub(crate) fn max_pool(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    let indices = cx.wants(1);
    let (attributes, x) = pool(cx)?;
    if !indices {
        return Ok(vec![cx.put("MaxPool", &[x], &attributes)?]);
    }
    let mut both = cx.put_many("MaxPool", &[x], &attributes, 2)?;
    let axis = cx.axis(cx.attributes.int_or("axis", 0)?, 0)?;
    if axis > 0 {
        // ONNX counts all elements, and OpenVINO those of the axes from one on.
        let sizes = cx.sizes(x)?;
        let own = cx.part_of(sizes, i64_of(axis), i64::MAX)?;
        let count = cx.put("ReduceProd", &[own], &[int("keepdims", 0)])?;
        both[1] = cx.put("Mod", &[both[1], count], &[])?;
    }
    if let Some(dtype) = cx.attributes.dtype("index_element_type")?.filter(|&dtype| dtype != DType::I64) {
        both[1] = cx.put("Cast", &[both[1]], &[numbered("to", dtype)?])?;
    }
    Ok(both)
}

pub(crate) fn deformable_convolution(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    if !cx.attributes.flag("bilinear_interpolation_pad", false)? {
        return Err(cannot(
            "ONNX has no equivalent of DeformableConvolution without bilinear_interpolation_pad",
        ));
    }
    let mut attributes = windows(cx, 2, false)?;
    for (name, own) in [("group", "group"), ("deformable_group", "offset_group")] {
        attributes.push(int(own, cx.attributes.int_or(name, 1)?));
    }
    let mask = if cx.has(3) { cx.input(3)? } else { NONE };
    let inputs = [cx.input(0)?, cx.input(2)?, cx.input(1)?, NONE, mask];
    Ok(vec![cx.put("DeformConv", &inputs, &attributes)?])
}

/// Blocks that are added up in an image; without an axis of samples, there is one.
pub(crate) fn col2im(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let (mut x, single, first) = (cx.input(0)?, cx.rank(0)? == 2, cx.list(&[0]));
    if single {
        x = cx.put("Unsqueeze", &[x, first], &[])?;
    }
    let inputs = [x, cx.whole_list(1)?, cx.whole_list(2)?];
    let attributes = windows(cx, 2, false)?;
    let image = cx.put("Col2Im", &inputs, &attributes)?;
    Ok(vec![if single { cx.put("Squeeze", &[image, first], &[])? } else { image }])
}

pub(crate) fn average_pool(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let excludes = cx.attributes.flag("exclude-pad", false)?;
    let (mut attributes, x) = pool(cx)?;
    attributes.push(flag("count_include_pad", !excludes));
    Ok(vec![cx.put("AveragePool", &[x], &attributes)?])
}

/// Most slices that windows of an image become.
const MOST_SLICES: i64 = 1024;

/// Elements to add around an image such that a window starts at each multiple of the strides;
/// nothing if there are none.
fn patch_pads(
    cx: &mut ConvertContext<'_, '_>,
    image: NewValue,
    reach: &[i64; 2],
    strides: &[i64],
    upper: bool,
) -> Result<Option<NewValue>> {
    let mut known = vec![0; 8];
    let mut open = false;
    for axis in 0..2 {
        let (stride, size) = (strides[axis], cx.known_size(0, axis + 2));
        // Windows at each element need as many whatever the size.
        let Some(size) = size.or((stride == 1).then_some(1)) else {
            open = true;
            continue;
        };
        let last = (size - 1).div_euclid(stride).saturating_mul(stride);
        let total = last.saturating_add(reach[axis]).saturating_add(1).saturating_sub(size).max(0);
        let before = if upper { total / 2 } else { total - total / 2 };
        (known[axis + 2], known[axis + 6]) = (before, total - before);
    }
    if !open {
        return Ok(known.iter().any(|&pad| pad != 0).then(|| cx.list(&known)));
    }
    let sizes = cx.sizes(image)?;
    let size = cx.part_of(sizes, 2, 4)?;
    let (one, two, none) = (cx.list(&[1]), cx.list(&[2]), cx.list(&[0, 0]));
    let (stride, reach) = (cx.list(strides), cx.list(reach));
    let last = cx.put("Sub", &[size, one], &[])?;
    // The elements that follow the start of the last window.
    let rest = cx.put("Mod", &[last, stride], &[])?;
    let total = cx.put("Sub", &[reach, rest], &[])?;
    let total = cx.put("Max", &[total, none], &[])?;
    let fewer = cx.put("Div", &[total, two], &[])?;
    let more = cx.put("Sub", &[total, fewer], &[])?;
    let (before, after) = if upper { (fewer, more) } else { (more, fewer) };
    Ok(Some(cx.put("Concat", &[none, before, none, after], &[int("axis", 0)])?))
}

/// Windows of an image, whose elements are channels: a slice for each place in a window.
pub(crate) fn image_patches(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let [sizes, strides, rates] = ["sizes", "strides", "rates"].map(|name| each(cx, name, 1, 2));
    let (sizes, strides, rates) = (sizes?, strides?, rates?);
    for (name, list) in [("sizes", &sizes), ("strides", &strides), ("rates", &rates)] {
        list.iter().try_for_each(|&value| errors::at_least_1(name, value).map(drop))?;
    }
    let auto = cx.attributes.text("auto_pad")?.unwrap_or("valid");
    let (same, upper) = (auto.starts_with("same"), auto == "same_upper");
    let slices = sizes[0].saturating_mul(sizes[1]);
    if slices > MOST_SLICES {
        return Err(cannot(format!(
            "cannot convert ExtractImagePatches: number of elements of a patch is {slices}, expected at most \
             {MOST_SLICES}"
        )));
    }
    // Elements between the first and the last of a window.
    let reach = [0, 1].map(|axis| rates[axis].saturating_mul(sizes[axis] - 1));
    let mut x = cx.input(0)?;
    if same && let Some(pads) = patch_pads(cx, x, &reach, &strides, upper)? {
        let zero = cx.number(0.0, cx.dtype(0)?)?;
        x = cx.put("Pad", &[x, pads, zero], &[])?;
    }
    let (axes, steps) = (cx.list(&[2, 3]), cx.list(&strides));
    let mut all = Vec::new();
    for row in 0..sizes[0] {
        for column in 0..sizes[1] {
            let starts = [row.saturating_mul(rates[0]), column.saturating_mul(rates[1])];
            // As many elements follow the last one of a slice as follow this one in its window.
            let ends = [0, 1].map(|axis| match starts[axis] - reach[axis] {
                0 => i64::MAX,
                end => end,
            });
            let (starts, ends) = (cx.list(&starts), cx.list(&ends));
            all.push(cx.put("Slice", &[x, starts, ends, axes, steps], &[])?);
        }
    }
    Ok(vec![cx.put("Concat", &all, &[int("axis", 1)])?])
}

/// Names all axes of a `Resize` in an operator set where it has no `axes`: the others keep their
/// sizes.
pub(crate) fn resize_all_axes(
    cx: &mut ConvertContext<'_, '_>,
    inputs: &mut [NewValue],
    attributes: &mut Vec<(&str, Content)>,
) -> Result<()> {
    if cx.target.signature("Resize").is_none_or(|resize| resize.has_attribute("axes")) {
        return Ok(());
    }
    let says = |name: &str, text: &str| {
        let is = |content: &Content| matches!(content, Content::Bytes(own) if own == text.as_bytes());
        attributes.iter().any(|(own, content)| *own == name && is(content))
    };
    // The only coordinates that move elements at a scale of 1, and those of `roi`, which has axes
    // too.
    let moves = says("coordinate_transformation_mode", "tf_crop_and_resize")
        || says("coordinate_transformation_mode", "tf_half_pixel_for_nn") && !says("nearest_mode", "floor");
    let Some(at) = attributes.iter().position(|(name, _)| *name == "axes").filter(|_| !moves) else {
        return Ok(());
    };
    let Content::Ints(axes) = attributes.remove(at).1 else { return Ok(()) };
    let rank = cx.rank(0)?;
    let axes = axes_of(&axes, rank)?;
    if axes.iter().copied().eq(0..rank) {
        return Ok(());
    }
    let given = |axis: usize| axes.iter().position(|&own| own == axis);
    let from: Vec<_> =
        (0..rank).map(|axis| given(axis).map_or(axis, |place| rank + place)).map(i64_of).collect();
    let (from, x) = (cx.list(&from), inputs[0]);
    for (input, value) in inputs.iter_mut().enumerate().skip(2).filter(|(_, value)| **value != NONE) {
        let kept = if input == 2 { cx.constant(Tensor::vector(&vec![1_f32; rank])) } else { cx.sizes(x)? };
        let all = cx.put("Concat", &[kept, *value], &[int("axis", 0)])?;
        *value = cx.put("Gather", &[all, from], &[int("axis", 0)])?;
    }
    Ok(())
}

/// `softmax(query * key^T * scale + mask) * value`.
pub(crate) fn attention(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::ORDER);
    let (query, key, value, dtype) = (cx.input(0)?, cx.input(1)?, cx.input(2)?, cx.dtype(0)?);
    let (rank, key_rank) = (cx.rank(0)?, cx.rank(1)?);
    for (input, rank) in [(0, rank), (1, key_rank), (2, cx.rank(2)?)] {
        if rank < 2 {
            return Err(errors::rank(format_args!("input {input}"), rank, "at least 2"));
        }
    }
    let mut order: Vec<_> = (0..i64_of(key_rank)).collect();
    order.swap(key_rank - 1, key_rank - 2);
    let scale = if cx.has(4) {
        cx.input(4)?
    } else {
        let size = cx.size_of(query, rank - 1)?;
        let size = cx.cast(size, dtype)?;
        let root = cx.put("Sqrt", &[size], &[])?;
        cx.put("Reciprocal", &[root], &[])?
    };
    let query = cx.put("Mul", &[query, scale], &[])?;
    let turned = cx.put("Transpose", &[key], &[("perm", Content::Ints(order.into()))])?;
    let mut scores = cx.put("MatMul", &[query, turned], &[])?;
    let least = cx.number(f64::NEG_INFINITY, dtype)?;
    if cx.attributes.flag("causal", false)? {
        // Each row sees the columns up to its own.
        let (rows, columns) = (cx.size_of(query, rank - 2)?, cx.size_of(key, key_rank - 2)?);
        let size = cx.put("Concat", &[rows, columns], &[int("axis", 0)])?;
        let ones = cx.number(1.0, DType::F32)?;
        let all = cx.put("Expand", &[ones, size], &[])?;
        let seen = cx.put("Trilu", &[all], &[int("upper", 0)])?;
        let seen = cx.cast(seen, DType::Bool)?;
        scores = cx.put("Where", &[seen, scores, least], &[])?;
    } else if cx.has(3) {
        let mask = cx.input(3)?;
        scores = if cx.dtype(3)? == DType::Bool {
            cx.put("Where", &[mask, scores, least], &[])?
        } else {
            cx.put("Add", &[scores, mask], &[])?
        };
    }
    let weights = cx.put("Softmax", &[scores], &[int("axis", -1)])?;
    Ok(vec![cx.put("MatMul", &[weights, value], &[])?])
}

/// Numbers between two bounds become one of so many levels between two others.
pub(crate) fn fake_quantize(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let levels = required("levels", cx.attributes.int("levels")?)?;
    let dtype = cx.dtype(0)?;
    let steps = nearest_f64(Number::Int((levels - 1).into()));
    let steps = cx.number(steps, dtype)?;
    let [x, low, high, from, to] = [0, 1, 2, 3, 4].map(|input| cx.input(input));
    let (x, low, high, from, to) = (x?, low?, high?, from?, to?);
    let raised = cx.put("Max", &[x, low], &[])?;
    let within = cx.put("Min", &[raised, high], &[])?;
    let (offset, width) = (cx.put("Sub", &[within, low], &[])?, cx.put("Sub", &[high, low], &[])?);
    let part = cx.put("Div", &[offset, width], &[])?;
    let scaled = cx.put("Mul", &[part, steps], &[])?;
    let level = cx.put("Round", &[scaled], &[])?;
    let part = cx.put("Div", &[level, steps], &[])?;
    let width = cx.put("Sub", &[to, from], &[])?;
    let moved = cx.put("Mul", &[part, width], &[])?;
    Ok(vec![cx.put("Add", &[moved, from], &[])?])
}

/// Blocks of the channels' axis become blocks of the image, or the other way round.
pub(crate) fn blocks(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let (spreads, spatial) = (operator == "DepthToSpace", cx.rank(0)?.saturating_sub(2));
    let block = errors::at_least_1("block_size", cx.attributes.int_or("block_size", 1)?)?;
    let deep = cx.attributes.text("mode")? == Some("depth_first");
    let x = cx.input(0)?;
    if spatial == 2 && (spreads || !deep) {
        let mut attributes = vec![int("blocksize", block)];
        if deep {
            attributes.push(word("mode", "CRD"));
        }
        return Ok(vec![cx.put(operator, &[x], &attributes)?]);
    }
    // Each axis of the image next to one of its blocks, which belong to the channels, before or
    // behind them.
    let (sizes, one) = (cx.sizes(x)?, cx.list(&[block]));
    let blocks = vec![one; spatial];
    let [batch, channels] = [0, 1].map(|axis| cx.part_of(sizes, axis, axis + 1));
    let (batch, mut channels) = (batch?, channels?);
    let axes = (0..i64_of(spatial)).map(|axis| cx.part_of(sizes, axis + 2, axis + 3));
    let mut axes = axes.collect::<Result<Vec<_>>>()?;
    let all = cx.list(&[block.saturating_pow(u32::try_from(spatial).unwrap_or(u32::MAX))]);
    let (apart, order) = if spreads {
        channels = cx.put("Div", &[channels, all], &[])?;
        let own = if deep { [vec![channels], blocks].concat() } else { [blocks, vec![channels]].concat() };
        let first = i64_of(usize::from(deep)) + 1;
        let pairs = (0..i64_of(spatial)).flat_map(|axis| [i64_of(spatial) + 2 + axis, first + axis]);
        let channel = if deep { 1 } else { i64_of(spatial) + 1 };
        ([vec![batch], own, axes.clone()].concat(), [0, channel].into_iter().chain(pairs).collect::<Vec<_>>())
    } else {
        for axis in &mut axes {
            *axis = cx.put("Div", &[*axis, one], &[])?;
        }
        let pairs = axes.iter().flat_map(|&axis| [axis, one]).collect::<Vec<_>>();
        let inner = (0..i64_of(spatial)).map(|axis| 2 * axis + 3);
        let own: Vec<_> =
            if deep { [1].into_iter().chain(inner).collect() } else { inner.chain([1]).collect() };
        let outer = (0..i64_of(spatial)).map(|axis| 2 * axis + 2);
        ([vec![batch, channels], pairs].concat(), [0].into_iter().chain(own).chain(outer).collect())
    };
    let apart = cx.put("Concat", &apart, &[int("axis", 0)])?;
    let apart = cx.with_shape(x, apart)?;
    let turned = cx.put("Transpose", &[apart], &[("perm", Content::Ints(order.into()))])?;
    if spreads {
        for axis in &mut axes {
            *axis = cx.put("Mul", &[*axis, one], &[])?;
        }
    } else {
        channels = cx.put("Mul", &[channels, all], &[])?;
    }
    let together = cx.put("Concat", &[vec![batch, channels], axes].concat(), &[int("axis", 0)])?;
    Ok(vec![cx.with_shape(turned, together)?])
}
