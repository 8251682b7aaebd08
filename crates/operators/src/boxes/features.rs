//! Operators of OpenVINO that take features from boxes.
//!
//! | operators | results |
//! |---|---|
//! | `PSROIPooling` | means of the bins of boxes, each bin in channels of its own; or samples between elements |
//! | `ExperimentalDetectronROIFeatureExtractor` | samples of boxes, from the map for their size |

use gradus_core::convert::{i64_of, nearest_f32, nearest_f64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Tensor};

use crate::attributes::required;
use crate::boxes::samples::psroi_bilinear;
use crate::dialects::boxes::{columns, expect_rank, expect_sizes, only_float32};
use crate::dialects::indices::{positions, size, sorted};
use crate::errors;
use crate::lowering::terms::{Term, f, ints, of, pick};
use crate::lowering::{LoweredValue, Lowering, along, int};
use crate::words;

/// Maximum number of bins along an axis.
const MAX_BINS: i64 = 256;

/// Number of bins that an attribute names.
pub fn bins(l: &Lowering<'_>, name: &str) -> Result<i64> {
    let bins = l.attributes.int_or(name, 1)?;
    if (1..=MAX_BINS).contains(&bins) {
        return Ok(bins);
    }
    Err(errors::value(format_args!("attribute \"{name}\""), bins, format_args!("from 1 to {MAX_BINS}")))
}

/// A size of a value as a float.
pub fn float_size(l: &mut Lowering<'_>, x: LoweredValue, axis: usize) -> Result<LoweredValue> {
    let size = size(l, x, axis)?;
    let size = l.reshape(size, &[])?;
    l.cast(size, DType::F32)
}

/// The integers from zero up to a number, as float32 of some dimensions.
pub fn counted(l: &mut Lowering<'_>, count: LoweredValue, dims: &[i64]) -> Result<LoweredValue> {
    let all = positions(l, count)?;
    let all = l.cast(all, DType::F32)?;
    l.reshape(all, dims)
}

/// The integer next to a number; of two, that farther from zero.
pub fn rounded(x: LoweredValue) -> Term {
    of("Mul", f("Sign", x), f("Floor", f("Abs", x) + 0.5))
}

/// `PSROIPooling` of OpenVINO: position-sensitive averages or samples of regions.
pub fn psroi_pooling(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    for input in 0..2 {
        only_float32(l, input)?;
    }
    expect_rank(l, 0, 4)?;
    expect_sizes(l, 1, &[None, Some(5)])?;
    if words::REGION_POOL.of(&l.attributes)? == "average" { averages(l) } else { psroi_bilinear(l) }
}

/// The attribute `spatial_scale` of the operators that pool regions.
pub(super) fn scale(l: &Lowering<'_>) -> Result<f64> {
    let scale = required("spatial_scale", l.float("spatial_scale")?)?;
    if scale > 0.0 && scale.is_finite() {
        return Ok(scale);
    }
    Err(errors::value("attribute \"spatial_scale\"", scale, "a finite number above 0"))
}

/// `PSROIPooling` with mode `average`.
fn averages(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (boxes, groups) = (l.input(1)?, bins(l, "group_size")?);
    let channels =
        errors::at_least_1("output_dim", required("output_dim", l.attributes.int("output_dim")?)?)?;
    let scale = scale(l)?;
    let parts = l.apply_many("Split", &[boxes], &[int("axis", 1), int("num_outputs", 5)], 5)?;
    let image = l.cast(parts[0], DType::I64)?;
    let bins = BoxBins { counts: [groups, groups], channels, scale, least: f64::NEG_INFINITY };
    Ok(vec![bins.means(l, image, &parts[1..])?])
}

/// Boxes as bins, each of which has channels of its own.
pub struct BoxBins {
    /// The numbers of bins, one below another and side by side.
    pub counts: [i64; 2],
    pub channels: i64,
    pub scale: f64,
    /// Sides are at least so long.
    pub least: f64,
}

impl BoxBins {
    /// The means of the elements of the first input within bins: products of the data and of which
    /// elements are in each bin.
    pub fn means(
        &self,
        l: &mut Lowering<'_>,
        image: LoweredValue,
        sides: &[LoweredValue],
    ) -> Result<LoweredValue> {
        let (x, &BoxBins { counts, channels, scale, least }) = (l.input(0)?, self);
        let mut inside = Vec::new();
        for (at, low, high) in [(0, sides[1], sides[3]), (1, sides[0], sides[2])] {
            let (axis, groups) = (at + 2, counts[at]);
            // [box, bin, element]
            let len = float_size(l, x, axis)?;
            let start = (rounded(low) * scale).write(l, DType::F32)?;
            let mut width = (rounded(high) + 1.0) * scale - start;
            if least.is_finite() {
                width = of("Max", width, least);
            }
            let width = (width / groups).write(l, DType::F32)?;
            let group = l.list(&[groups])?;
            let bin = counted(l, group, &[1, -1])?;
            let from = of("Min", of("Max", f("Floor", start + bin * width), 0.0), len);
            let to = of("Min", of("Max", f("Ceil", start + (bin + 1.0) * width), 0.0), len);
            let (from, to, last) = (from.write(l, DType::F32)?, to.write(l, DType::F32)?, l.list(&[-1])?);
            let [from, to] = [from, to].map(|end| l.apply("Unsqueeze", &[end, last], &[]));
            let count = size(l, x, axis)?;
            let element = counted(l, count, &[1, 1, -1])?;
            let within = of("And", of("GreaterOrEqual", element, from?), of("Less", element, to?));
            inside.push(pick(within, 1.0, 0.0).write(l, DType::F32)?);
        }
        // [row bin and column bin, box, row and column]
        let [rows, columns] = [inside[0], inside[1]];
        let rows = of("Unsqueeze", rows, ints(&[2, 4])).put(l)?;
        let columns = of("Unsqueeze", columns, ints(&[1, 3])).put(l)?;
        let both = (rows * columns).write(l, DType::F32)?;
        let both = l.transposed(both, &[1, 2, 0, 3, 4])?;
        let (count, area) = (size(l, sides[0], 0)?, of("Mul", size(l, x, 2)?, size(l, x, 3)?));
        let (area, bins) = (area.write(l, DType::I64)?, l.list(&[counts[0] * counts[1]])?);
        let dims = l.apply("Concat", &[bins, count, area], &[along(0)])?;
        let both = l.apply("Reshape", &[both, dims], &[int("allowzero", 1)])?;
        // [image, bin, element, channel]
        let (images, each) = (size(l, x, 0)?, l.list(&[channels])?);
        let dims = l.apply("Concat", &[images, each, bins, area], &[along(0)])?;
        let data = l.apply("Reshape", &[x, dims], &[int("allowzero", 1)])?;
        let data = l.transposed(data, &[0, 2, 3, 1])?;
        let sums = l.apply("MatMul", &[both, data], &[])?;
        let elements = of("ReduceSum", both, ints(&[-1])).put(l)?;
        let means = pick(of("Greater", elements, 0.0), sums / of("Max", elements, 1.0), 0.0);
        let means = means.write(l, DType::F32)?;
        // The means of the image of each box, as [box, image, channel, bin].
        let means = l.transposed(means, &[2, 0, 3, 1])?;
        let means = l.apply("GatherND", &[means, image], &[int("batch_dims", 1)])?;
        let sides = l.constant(Tensor::vector(&[channels, counts[0], counts[1]]))?;
        let dims = l.apply("Concat", &[count, sides], &[along(0)])?;
        l.apply("Reshape", &[means, dims], &[int("allowzero", 1)])
    }
}

/// Maximum number of maps of features.
const MAX_LEVELS: usize = 64;

/// `ExperimentalDetectronROIFeatureExtractor`: samples of each box from the map that its size asks
/// for; and the boxes.
pub fn pyramid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let scales = required("pyramid_scales", l.attributes.list("pyramid_scales")?)?;
    let levels = l.count().saturating_sub(1);
    if levels == 0 || levels > MAX_LEVELS {
        return Err(errors::count("inputs", l.count(), format_args!("from 2 to {}", MAX_LEVELS + 1)));
    }
    if scales.len() < levels {
        let wanted = format_args!("at least {levels}");
        return Err(errors::count("elements of attribute \"pyramid_scales\"", scales.len(), wanted));
    }
    for input in 0..=levels {
        only_float32(l, input)?;
        expect_rank(l, input, if input == 0 { 2 } else { 4 })?;
    }
    let side = errors::at_least_1("output_size", required("output_size", l.attributes.int("output_size")?)?)?;
    let ratio = l.attributes.int_or("sampling_ratio", 0)?.max(0);
    let aligned = l.attributes.flag("aligned", false)?;
    let boxes = l.input(0)?;
    let c = columns(l, boxes)?;
    let area = of("Mul", c[2] - c[0], c[3] - c[1]).write(l, DType::F32)?;
    // A box of 224 pixels is of the third map, one of twice the size of the next.
    let level = f("Floor", f("Log", f("Sqrt", area) / 224.0 + 1e-6) / 2.0f64.ln()) + 2.0;
    let last = nearest_f64(Number::Int(i128::from(i64_of(levels) - 1)));
    let level = of("Min", of("Max", level, 0.0), last);
    let level = pick(of("Greater", area, 0.0), level, 0.0).write(l, DType::F32)?;
    let level = l.reshape(level, &[-1])?;
    let (mut parts, mut places) = (Vec::new(), Vec::new());
    for (at, &scale) in scales.iter().take(levels).enumerate() {
        let scale = nearest_f64(Number::Int(errors::at_least_1("pyramid_scales", scale)?.into()));
        let own = of("Equal", level, nearest_f64(Number::Int(i128::from(i64_of(at)))));
        let own = own.write(l, DType::F32)?;
        let place = l.apply("NonZero", &[own], &[])?;
        let place = l.reshape(place, &[-1])?;
        let own = l.apply("Gather", &[boxes, place], &[along(0)])?;
        let (image, data) = ((place * 0i64).write(l, DType::I64)?, l.input(1 + at)?);
        let mode = if aligned { "half_pixel" } else { "output_half_pixel" };
        let attributes = [
            int("output_height", side),
            int("output_width", side),
            int("sampling_ratio", ratio),
            ("spatial_scale", Content::Float(nearest_f32(Number::Float(1.0 / scale)))),
            ("coordinate_transformation_mode", Content::Bytes(mode.into())),
        ];
        parts.push(l.apply("RoiAlign", &[data, own, image], &attributes)?);
        places.push(place);
    }
    let (parts, places) = (l.apply("Concat", &parts, &[along(0)])?, l.apply("Concat", &places, &[along(0)])?);
    let order = sorted(l, places, false)?[1];
    Ok(vec![l.apply("Gather", &[parts, order], &[along(0)])?, l.apply("Identity", &[boxes], &[])?])
}
