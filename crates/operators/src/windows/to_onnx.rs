//! Convolutions and pools in the operators of ONNX; the table of `to_openvino.rs`, read the other
//! way round.

use gradus_core::convert::{Rules, i64_of, nearest_f64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Shape, Tensor};

use crate::attributes::NewAttributes;
use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::errors;
use crate::lowering::terms::{
    Term, f, gathered, in_shape, ints, joined, of, part, pick, range, shaped, unsqueezed, whole, with,
};
use crate::lowering::{LoweredValue, Lowering, flag, int, word};
use crate::words;

/// A list with an element for each spatial axis.
fn each(l: &Lowering<'_>, name: &str, default: i64, count: usize) -> Result<Vec<i64>> {
    match l.attributes.list(name)?.filter(|list| !list.is_empty()) {
        None => Ok(vec![default; count]),
        Some(values) if values.len() == count => Ok(values),
        Some(values) => Err(errors::count(&format!("elements of attribute \"{name}\""), values.len(), count)),
    }
}

/// How windows lie; those of transposed convolutions have no pads that make sizes the same.
fn windows(l: &Lowering<'_>, spatial: usize, transposed: bool) -> Result<NewAttributes> {
    let mut attributes = vec![("strides", Content::Ints(each(l, "strides", 1, spatial)?.into()))];
    let dilations = each(l, "dilations", 1, spatial)?;
    if dilations.iter().any(|&dilation| dilation != 1) {
        attributes.push(("dilations", Content::Ints(dilations.into())));
    }
    match words::PADS.of(&l.attributes)? {
        "same_upper" if !transposed => attributes.push(word("auto_pad", "SAME_UPPER")),
        "same_lower" if !transposed => attributes.push(word("auto_pad", "SAME_LOWER")),
        "explicit" | "notset" => {
            let pads = [each(l, "pads_begin", 0, spatial)?, each(l, "pads_end", 0, spatial)?].concat();
            attributes.push(("pads", Content::Ints(pads.into())));
        }
        _ => {}
    }
    Ok(attributes)
}

/// The weights without their axis of groups, and the number of groups. The axis has the channels of
/// a group of the input.
fn ungrouped(l: &mut Lowering<'_>, has_groups: bool, channels: usize) -> Result<(LoweredValue, i64)> {
    let weights = l.input(1)?;
    if !has_groups {
        return Ok((weights, 1));
    }
    let rank = l.rank_of(1)?;
    if rank < 3 {
        return Err(errors::rank("grouped weights", rank, "at least 3"));
    }
    let dims = l.dims(1).unwrap_or_default();
    let rest = dims.iter().skip(2).copied().collect::<Option<Vec<_>>>();
    let by_channels = || l.known_size(0, 1)?.checked_div(dims.get(channels).copied().flatten()?);
    let groups = dims.first().copied().flatten().or_else(by_channels);
    let dims = match (groups, rest) {
        (Some(_), Some(rest)) => ints(&[&[-1], &rest[..]].concat()),
        (Some(_), None) => joined([ints(&[-1]), part(f("Shape", weights), 2, i64::MAX)], 0),
        (None, _) => return Ok((one_group(l, weights, rank)?, 1)),
    };
    let dims = dims.write(l, DType::I64)?;
    Ok((l.with_shape(weights, dims)?, groups.unwrap_or(1)))
}

/// Weights of an open number of groups as those of one group, which are zeros between an output and
/// the channels of other groups.
fn one_group(l: &mut Lowering<'_>, weights: LoweredValue, rank: usize) -> Result<LoweredValue> {
    l.edges("infinite elements and NaN make the sums of other groups NaN");
    let (sizes, dtype) = (l.shape(weights)?, l.dtype_of(1)?);
    let numbers = range(gathered(sizes, whole(0), 0)).write(l, dtype)?;
    let column = shaped(numbers, &[&[-1, 1], &vec![1; rank - 1][..]].concat());
    let row = shaped(numbers, &[&[1, 1, -1], &vec![1; rank - 2][..]].concat());
    let all = pick(of("Equal", column, row), unsqueezed(weights, &[2]), 0.0);
    // Outputs of all groups, channels of all groups, and the axes of space.
    let groups = part(sizes, 0, 1).write(l, dtype)?;
    let [outputs, channels] = [1, 2].map(|at| groups * part(sizes, at, at + 1));
    in_shape(all, joined([outputs, channels, part(sizes, 3, i64::MAX)], 0)).write(l, dtype)
}

/// The number of spatial axes; weights tell it too.
fn spatial(l: &Lowering<'_>, has_groups: bool) -> Result<usize> {
    let of_weights = || Ok(l.rank_of(1)?.saturating_sub(usize::from(has_groups)));
    Ok(l.rank_if_known(0).map_or_else(of_weights, Ok)?.saturating_sub(2))
}

/// Writes `Convolution` or `GroupConvolution` as `Conv`.
pub fn conv(l: &mut Lowering<'_>, has_groups: bool) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    let (x, (weights, groups)) = (l.input(0)?, ungrouped(l, has_groups, 2)?);
    convolution(l, &[x, weights], groups, has_groups)
}

/// A convolution of these values, with the windows of the node.
fn convolution(
    l: &mut Lowering<'_>,
    inputs: &[LoweredValue],
    groups: i64,
    has_groups: bool,
) -> Result<Vec<LoweredValue>> {
    let spatial = spatial(l, has_groups)?;
    let mut attributes = windows(l, spatial, false)?;
    if let Some(pads) = pads_of_dilated(l, spatial, has_groups)? {
        attributes.retain(|(name, _)| *name != "auto_pad");
        attributes.push(("pads", Content::Ints(pads.into())));
    }
    attributes.push(int("group", groups));
    Ok(vec![l.apply("Conv", inputs, &attributes)?])
}

/// `BinaryConvolution`: elements above zero, and bits of the weights, count as one, all others as
/// minus one. Pads are zeros once their value is taken from all elements; its products are the
/// bias.
pub fn binary_conv(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    /// Integers up to this one are exact in float32.
    const MAX_EXACT: f64 = 16_777_216.0;
    let pad = f64::from(l.attributes.float("pad_value")?.unwrap_or(0.0));
    let (dtype, weights) = (l.dtype_of(0)?, l.known(1)?.ok_or_else(|| l.unknown("value of input 1"))?);
    let sign = |bit: Number| if nearest_f64(bit) > 0.0 { 1 } else { -1 };
    let signs: Vec<i128> = weights.numbers()?.map(sign).collect();
    let each = weights.shape().dims().iter().skip(1).product::<usize>().max(1);
    let sums = signs.chunks(each).map(|filter| pad * nearest_f64(Number::Int(filter.iter().sum())));
    let bias: Vec<_> = sums.map(Number::Float).collect();
    let largest = (1.0 + pad.abs()) * gradus_core::convert::float_of(each);
    if pad.fract() != 0.0 || 2.0 * largest > MAX_EXACT || !matches!(dtype, DType::F32 | DType::F64) {
        l.rounding(caveats::ORDER);
    }
    let shape = Shape::new(vec![bias.len()])?;
    let bias = l.constant(Tensor::from_numbers(dtype, shape, bias, Rules::IEEE)?)?;
    let signs = signs.into_iter().map(Number::Int).collect::<Vec<_>>();
    let weights = l.constant(Tensor::from_numbers(dtype, weights.shape().clone(), signs, Rules::IEEE)?)?;
    let x = pick(of("Greater", l.input(0)?, 0.0), 1.0 - pad, -1.0 - pad).write(l, dtype)?;
    convolution(l, &[x, weights, bias], 1, false)
}

/// The pads of dilated windows in steps of 1 that keep the size: ONNX Runtime has no `auto_pad` for
/// these.
fn pads_of_dilated(l: &Lowering<'_>, spatial: usize, has_groups: bool) -> Result<Option<Vec<i64>>> {
    let lower = match l.attributes.text("auto_pad")? {
        Some("same_upper") => false,
        Some("same_lower") => true,
        _ => return Ok(None),
    };
    let (strides, dilations) = (each(l, "strides", 1, spatial)?, each(l, "dilations", 1, spatial)?);
    let kernel = l.dims(1).unwrap_or_default().into_iter().skip(2 + usize::from(has_groups));
    let kernel = kernel.collect::<Option<Vec<_>>>().filter(|kernel| kernel.len() == spatial);
    let dilated = dilations.iter().any(|&dilation| dilation != 1);
    let Some(kernel) = kernel.filter(|_| dilated && strides.iter().all(|&stride| stride == 1)) else {
        return Ok(None);
    };
    let total = kernel.iter().zip(&dilations).map(|(size, dilation)| (size - 1).saturating_mul(*dilation));
    let (less, more): (Vec<_>, Vec<_>) = total.map(|total| (total / 2, total - total / 2)).unzip();
    Ok(Some(if lower { [more, less] } else { [less, more] }.concat()))
}

/// Writes `ConvolutionBackpropData` or `GroupConvolutionBackpropData` as `ConvTranspose`.
pub fn conv_transpose(l: &mut Lowering<'_>, has_groups: bool) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    let spatial = spatial(l, has_groups)?;
    let mut attributes = windows(l, spatial, true)?;
    let mut more = each(l, "output_padding", 0, spatial)?;
    let (x, (weights, groups)) = (l.input(0)?, ungrouped(l, has_groups, 1)?);
    attributes.push(int("group", groups));
    if !l.has(2) {
        return Ok(vec![extended(l, [x, weights], attributes, more)?]);
    }
    attributes.retain(|(name, _)| *name != "pads");
    let from = PadBegins::of(l, spatial)?;
    let kernel = l.dims(1).unwrap_or_default().into_iter().skip(2 + usize::from(has_groups));
    let kernel: Option<Vec<_>> = kernel.collect();
    if let Some(kernel) = kernel.as_ref().filter(|kernel| kernel.len() != spatial) {
        return Err(errors::count("spatial axes of the weights", kernel.len(), spatial));
    }
    let (strides, dilations) = (each(l, "strides", 1, spatial)?, each(l, "dilations", 1, spatial)?);
    let window = |size: i64, axis: usize| (size - 1).saturating_mul(dilations[axis]).saturating_add(1);
    let sizes: Option<Vec<_>> = l.dims(0).and_then(|dims| dims.into_iter().skip(2).collect());
    let wanted = l.known_integers(2)?;
    if let (Some(kernel), Some(sizes), Some(wanted)) = (kernel, sizes, wanted) {
        // All sizes are known: pads cut off, an output padding adds at the end.
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
        attributes.push(("pads", Content::Ints(pads.into())));
        return Ok(vec![extended(l, [x, weights], attributes, more)?]);
    }
    let whole = extended(l, [x, weights], attributes, more)?;
    let (all, wanted) = (part(f("Shape", whole), 2, i64::MAX).write(l, DType::I64)?, l.whole_list(2)?);
    let begin = match &from {
        PadBegins::Explicit(begin) => ints(begin),
        PadBegins::Same { upper } => {
            let excess = of("Max", all - wanted, ints(&[0])).write(l, DType::I64)?;
            let half = excess / ints(&[2]);
            if *upper { excess - half } else { half }
        }
    };
    let begin = begin.write(l, DType::I64)?;
    let end = (begin + wanted).write(l, DType::I64)?;
    // Zeros follow the elements that windows reach.
    let pads = joined([ints(&vec![0; spatial + 4]), of("Max", end - all, ints(&[0]))], 0);
    let axes = (0..spatial).map(|axis| i64_of(axis + 2)).collect::<Vec<_>>();
    let slice = [of("Pad", whole, pads), begin.into(), end.into(), ints(&axes)];
    Ok(vec![with("Slice", slice, []).write(l, DType::I64)?])
}

/// A `ConvTranspose` with an output padding: ONNX Runtime takes one that is less than the stride, so
/// that the rest is less of the pads at the end, and zeros.
fn extended(
    l: &mut Lowering<'_>,
    inputs: [LoweredValue; 2],
    mut attributes: NewAttributes,
    mut more: Vec<i64>,
) -> Result<LoweredValue> {
    let spatial = more.len();
    let strides = each(l, "strides", 1, spatial)?;
    let mut rest = vec![0; spatial];
    for (axis, more) in more.iter_mut().enumerate() {
        rest[axis] = more.saturating_sub(strides[axis] - 1).max(0);
        *more -= rest[axis];
    }
    if let Some((_, Content::Ints(pads))) = attributes.iter_mut().find(|(name, _)| *name == "pads") {
        let mut all = pads.to_vec();
        for (rest, end) in rest.iter_mut().zip(&mut all[spatial..]) {
            let less = (*rest).min(*end);
            (*rest, *end) = (*rest - less, *end - less);
        }
        *pads = all.into();
    }
    attributes.push(("output_padding", Content::Ints(more.into())));
    let y = l.apply("ConvTranspose", &inputs, &attributes)?;
    if rest.iter().all(|&rest| rest == 0) {
        return Ok(y);
    }
    let pads = [&vec![0; spatial + 4][..], &rest].concat();
    of("Pad", y, ints(&pads)).put(l)
}

/// The place where outputs of a given size begin in all that a transposed convolution gives.
enum PadBegins {
    /// After the pads of the node, or at the first output.
    Explicit(Vec<i64>),
    /// In the middle; of an odd number, one more is cut from the begin (`same_upper`) or the end.
    Same { upper: bool },
}

impl PadBegins {
    fn of(l: &Lowering<'_>, spatial: usize) -> Result<PadBegins> {
        Ok(match words::PADS.of(&l.attributes)? {
            "same_upper" => PadBegins::Same { upper: true },
            "same_lower" => PadBegins::Same { upper: false },
            "valid" => PadBegins::Explicit(vec![0; spatial]),
            _ => PadBegins::Explicit(each(l, "pads_begin", 0, spatial)?),
        })
    }

    /// The number of outputs that are cut from the beginning of an axis, of `excess` in all.
    fn cut(&self, axis: usize, excess: i64) -> i64 {
        match self {
            PadBegins::Explicit(begin) => begin[axis],
            PadBegins::Same { upper: false } => excess.max(0) / 2,
            PadBegins::Same { upper: true } => excess.max(0) - excess.max(0) / 2,
        }
    }
}

/// The windows of a pool, and what it reads. OpenVINO counts a last window that starts after the
/// padded data, if sizes are rounded up, and its maximum is the lowest number: it lies on pads.
fn pool(l: &mut Lowering<'_>) -> Result<(NewAttributes, LoweredValue)> {
    let spatial = l.rank_of(0)?.saturating_sub(2);
    let mut attributes = windows(l, spatial, false)?;
    let names = |name: &str| attributes.iter().any(|(own, _)| *own == name);
    if names("auto_pad") && names("dilations") {
        return Err(cannot("ONNX has no equivalent of auto_pad that does not count dilations"));
    }
    let kernel = each(l, "kernel", 1, spatial)?;
    let rounding = words::ROUNDING.of(&l.attributes)?;
    let mut x = l.input(0)?;
    if rounding == "ceil"
        && let Some(pads) = outer_pads(l, &kernel)?
    {
        let of = match &*l.node.operator.name {
            "AvgPool" => Some("mean"),
            _ if l.wants(1) => Some("index of the maximum"),
            _ if names("auto_pad") => Some("auto_pad"),
            _ => None,
        };
        if let Some(of) = of {
            let why = format!("the last window starts after the padded data, where no {of} is defined");
            return Err(cannot(why));
        }
        let dtype = l.dtype_of(0)?;
        let lowest = match dtype {
            DType::F16 => -65504.0,
            DType::BF16 => -3.389_531_389_251_535_5e38,
            DType::F32 => f32::MIN.into(),
            _ => f64::MIN,
        };
        let lowest = l.number(lowest, dtype)?;
        x = with("Pad", [x.into(), ints(&pads), lowest.into()], []).write(l, dtype)?;
        attributes.retain(|(name, _)| *name != "pads");
    }
    attributes
        .extend([("kernel_shape", Content::Ints(kernel.into())), flag("ceil_mode", rounding != "floor")]);
    Ok((attributes, x))
}

/// The pads of a pool with which its last window starts within the data, if without them one starts
/// after it; notes axes of open size where one may.
fn outer_pads(l: &mut Lowering<'_>, kernel: &[i64]) -> Result<Option<Vec<i64>>> {
    let spatial = kernel.len();
    let (strides, dilations) = (each(l, "strides", 1, spatial)?, each(l, "dilations", 1, spatial)?);
    let auto = words::PADS.of(&l.attributes)?;
    let (same, explicit) = (auto.starts_with("same"), matches!(auto, "explicit" | "notset"));
    let pads = |name| if explicit { each(l, name, 0, spatial) } else { Ok(vec![0; spatial]) };
    let (begins, mut ends) = (pads("pads_begin")?, pads("pads_end")?);
    let mut behind = false;
    for (axis, end) in ends.iter_mut().enumerate() {
        let window = (kernel[axis] - 1).saturating_mul(dilations[axis]).saturating_add(1);
        if strides[axis].saturating_add(*end) <= window {
            continue;
        }
        let Some(size) = l.known_size(0, axis + 2) else {
            l.edges("ONNX does not count a last window that starts after the end");
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

/// Writes `MaxPool`, whose indices OpenVINO counts from an axis on.
pub fn max_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.edges_of_floats(caveats::NAN);
    let indices = l.wants(1);
    let (attributes, x) = pool(l)?;
    if !indices {
        return Ok(vec![l.apply("MaxPool", &[x], &attributes)?]);
    }
    let mut both = l.apply_many("MaxPool", &[x], &attributes, 2)?;
    let axis = l.axis(l.attributes.int_or("axis", 0)?, 0)?;
    if axis > 0 {
        // ONNX counts all elements, and OpenVINO those of the axes from one on.
        let own = part(f("Shape", x), i64_of(axis), i64::MAX);
        let count = with("ReduceProd", [own], [int("keepdims", 0)]);
        both[1] = of("Mod", both[1], count).write(l, DType::I64)?;
    }
    if let Some(dtype) = l.attributes.dtype("index_element_type")?.filter(|&dtype| dtype != DType::I64) {
        both[1] = l.cast(both[1], dtype)?;
    }
    Ok(both)
}

/// Writes `DeformableConvolution` as `DeformConv`.
pub fn deformable_convolution(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    if !l.attributes.flag("bilinear_interpolation_pad", false)? {
        return Err(cannot(
            "ONNX has no equivalent of DeformableConvolution without bilinear_interpolation_pad",
        ));
    }
    let mut attributes = windows(l, 2, false)?;
    for (name, own) in [("group", "group"), ("deformable_group", "offset_group")] {
        attributes.push(int(own, l.attributes.int_or(name, 1)?));
    }
    let mask = if l.has(3) { l.input(3)? } else { LoweredValue::NONE };
    let inputs = [l.input(0)?, l.input(2)?, l.input(1)?, LoweredValue::NONE, mask];
    Ok(vec![l.apply("DeformConv", &inputs, &attributes)?])
}

/// Blocks that are added up in an image; without an axis of samples, there is one.
pub fn col2im(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding_of_floats(caveats::ORDER);
    let (mut x, single) = (l.input(0)?, l.rank_of(0)? == 2);
    if single {
        x = unsqueezed(x, &[0]).write(l, DType::I64)?;
    }
    let inputs = [x, l.whole_list(1)?, l.whole_list(2)?];
    let attributes = windows(l, 2, false)?;
    let image = l.apply("Col2Im", &inputs, &attributes)?;
    Ok(vec![if single { of("Squeeze", image, ints(&[0])).write(l, DType::I64)? } else { image }])
}

/// Writes `AvgPool` as `AveragePool`.
pub fn average_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    let excludes = l.attributes.flag("exclude-pad", false)?;
    let (mut attributes, x) = pool(l)?;
    attributes.push(flag("count_include_pad", !excludes));
    Ok(vec![l.apply("AveragePool", &[x], &attributes)?])
}

/// Maximum number of slices that windows of an image become.
const MAX_SLICES: i64 = 1024;

/// Elements to add around an image such that a window starts at each multiple of the strides;
/// nothing if there are none.
fn patch_pads(
    l: &mut Lowering<'_>,
    image: LoweredValue,
    reach: &[i64; 2],
    strides: &[i64],
    upper: bool,
) -> Result<Option<LoweredValue>> {
    let mut known = vec![0; 8];
    let mut open = false;
    for axis in 0..2 {
        let (stride, size) = (strides[axis], l.known_size(0, axis + 2));
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
        return known.iter().any(|&pad| pad != 0).then(|| l.list(&known)).transpose();
    }
    // The elements that follow the start of the last window.
    let rest = of("Mod", part(f("Shape", image), 2, 4) - ints(&[1]), ints(strides));
    let total = of("Max", ints(reach) - rest, ints(&[0, 0])).write(l, DType::I64)?;
    let fewer = (total / ints(&[2])).write(l, DType::I64)?;
    let more = (total - fewer).write(l, DType::I64)?;
    let (before, after) = if upper { (fewer, more) } else { (more, fewer) };
    joined([ints(&[0, 0]), before.into(), ints(&[0, 0]), after.into()], 0).write(l, DType::I64).map(Some)
}

/// Windows of an image, whose elements are channels: a slice for each place in a window.
pub fn image_patches(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [sizes, strides, rates] = ["sizes", "strides", "rates"].map(|name| each(l, name, 1, 2));
    let (sizes, strides, rates) = (sizes?, strides?, rates?);
    for (name, list) in [("sizes", &sizes), ("strides", &strides), ("rates", &rates)] {
        list.iter().try_for_each(|&value| errors::at_least_1(name, value).map(drop))?;
    }
    let auto = words::PADS.of_or(&l.attributes, "valid")?;
    let (same, upper) = (auto.starts_with("same"), auto == "same_upper");
    let slices = sizes[0].saturating_mul(sizes[1]);
    if slices > MAX_SLICES {
        return Err(cannot(format!(
            "cannot convert ExtractImagePatches: number of elements of a patch is {slices}, expected at most \
             {MAX_SLICES}"
        )));
    }
    // Elements between the first and the last of a window.
    let reach = [0, 1].map(|axis| rates[axis].saturating_mul(sizes[axis] - 1));
    let mut x = l.input(0)?;
    if same && let Some(pads) = patch_pads(l, x, &reach, &strides, upper)? {
        x = with("Pad", [x.into(), pads.into(), 0.0.into()], []).write(l, l.dtype_of(0)?)?;
    }
    let mut all = Vec::new();
    for row in 0..sizes[0] {
        for column in 0..sizes[1] {
            let starts = [row.saturating_mul(rates[0]), column.saturating_mul(rates[1])];
            // As many elements follow the last one of a slice as follow this one in its window.
            let ends = [0, 1].map(|axis| match starts[axis] - reach[axis] {
                0 => i64::MAX,
                end => end,
            });
            let bounds = [ints(&starts), ints(&ends), ints(&[2, 3]), ints(&strides)];
            all.push(Term::Apply("Slice", [x.into()].into_iter().chain(bounds).collect(), Vec::new()));
        }
    }
    Ok(vec![joined(all, 1).write(l, DType::I64)?])
}
