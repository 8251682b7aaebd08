//! Operators of OpenVINO that read images between their elements.
//!
//! | operators | results |
//! |---|---|
//! | `ROIAlignRotated` | means of samples in the bins of turned boxes |
//! | `PSROIPooling` with mode `bilinear` | means of one sample of each bin, from channels of its own |
//! | `DeformablePSROIPooling` | means of samples in bins that are moved by offsets |
//!
//! Values have six axes: box, channel, row and column of the result, row and column of the sample.

use gradus_core::convert::{i64_of, nearest_f64};
use gradus_core::{DType, Number, Result};

use crate::attributes::required;
use crate::boxes::features::{self, bins, counted, float_size, rounded};
use crate::dialects::boxes::{expect_rank, expect_sizes, only_float32};
use crate::dialects::indices::{index, positions, size};
use crate::dialects::openvino::positive;
use crate::errors;
use crate::lowering::terms::{Term, f, of, pick, shaped, with};
use crate::lowering::{LoweredValue, Lowering, along, int, not_known};

/// An image of `[image, channel, row, column]`, as a list of elements, and its sizes.
struct Image {
    elements: LoweredValue,
    sizes: [LoweredValue; 4],
    /// Rows and columns, as floats.
    lens: [LoweredValue; 2],
}

impl Image {
    fn of_input(l: &mut Lowering<'_>, input: usize) -> Result<Image> {
        let x = l.input(input)?;
        let sizes = [size(l, x, 0)?, size(l, x, 1)?, size(l, x, 2)?, size(l, x, 3)?];
        let lens = [float_size(l, x, 2)?, float_size(l, x, 3)?];
        Ok(Image { elements: l.reshape(x, &[-1])?, sizes, lens })
    }

    /// The plane of a channel of an image.
    fn plane(&self, image: LoweredValue, channel: LoweredValue) -> Term {
        image * self.sizes[1] + channel
    }

    /// The elements at a row and a column, interpolated linearly between neighbours. Outside of the
    /// image are the elements of its edges.
    fn sampled(&self, l: &mut Lowering<'_>, plane: Term, at: [LoweredValue; 2]) -> Result<LoweredValue> {
        let mut taps = Vec::new();
        for (at, len) in at.into_iter().zip(self.lens) {
            let last = (len - 1.0).write(l, DType::F32)?;
            let at = of("Max", of("Min", at, last), 0.0).write(l, DType::F32)?;
            let low = f("Floor", at).write(l, DType::F32)?;
            let high = of("Min", low + 1.0, last).write(l, DType::F32)?;
            let part = (at - low).write(l, DType::F32)?;
            let rest = (Term::from(1.0) - part).write(l, DType::F32)?;
            taps.push([(l.cast(low, DType::I64)?, rest), (l.cast(high, DType::I64)?, part)]);
        }
        let plane = (plane * self.sizes[2]).write(l, DType::I64)?;
        let mut sum: Option<Term> = None;
        for (row, own) in taps[0] {
            let line = ((plane + row) * self.sizes[3]).write(l, DType::I64)?;
            for (column, other) in taps[1] {
                let place = (line + column).write(l, DType::I64)?;
                let element = l.apply("Gather", &[self.elements, place], &[along(0)])?;
                let weighted = element * (own * other);
                sum = Some(match sum {
                    Some(sum) => sum + weighted,
                    None => weighted,
                });
            }
        }
        sum.expect("four elements").write(l, DType::F32)
    }
}

/// The columns of an input of rows of five numbers, as values of six axes.
fn five(l: &mut Lowering<'_>, input: usize) -> Result<[LoweredValue; 5]> {
    let rows = l.input(input)?;
    let mut parts = l.apply_many("Split", &[rows], &[int("axis", 1), int("num_outputs", 5)], 5)?;
    for part in &mut parts {
        *part = l.reshape(*part, &[-1, 1, 1, 1, 1, 1])?;
    }
    Ok([parts[0], parts[1], parts[2], parts[3], parts[4]])
}

/// The dimensions of a list along one of six axes.
fn lying(axis: usize) -> [i64; 6] {
    let mut dims = [1; 6];
    dims[axis] = -1;
    dims
}

/// The integers below a number, along one of six axes.
fn numbers(l: &mut Lowering<'_>, count: i64, axis: usize) -> Result<[LoweredValue; 2]> {
    let count = l.list(&[count])?;
    let all = positions(l, count)?;
    let all = l.reshape(all, &lying(axis))?;
    Ok([all, l.cast(all, DType::F32)?])
}

/// The sums of the samples of each bin.
fn summed(l: &mut Lowering<'_>, samples: impl Into<Term>) -> Result<LoweredValue> {
    let samples = samples.into().write(l, DType::F32)?;
    let axes = l.list(&[4, 5])?;
    l.apply("ReduceSum", &[samples, axes], &[int("keepdims", 0)])
}

/// A number of samples or channels as a float.
fn float_of(count: i64) -> f64 {
    nearest_f64(Number::Int(count.into()))
}

/// `ROIAlignRotated` of OpenVINO: means of interpolated samples of rotated regions.
pub fn rotated_align(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 4)?;
    expect_sizes(l, 1, &[None, Some(5)])?;
    let regions = l.dims_of(1)?[0];
    expect_sizes(l, 2, &[regions])?;
    only_float32(l, 0)?;
    only_float32(l, 1)?;
    let (scale, ratio) = (features::scale(l)?, l.attributes.int_or("sampling_ratio", 0)?);
    let turn = if l.attributes.flag("clockwise_mode", false)? { -1.0 } else { 1.0 };
    let image = Image::of_input(l, 0)?;
    let (parts, sample) = (five(l, 1)?, index(l, 2)?);
    let sample = l.reshape(sample, &lying(0))?;
    let channel = positions(l, image.sizes[1])?;
    let channel = l.reshape(channel, &lying(1))?;
    let angle = (parts[4] * turn).write(l, DType::F32)?;
    let (sine, cosine) = (f("Sin", angle).write(l, DType::F32)?, f("Cos", angle).write(l, DType::F32)?);
    // The distances of samples from the center, along the sides of the box, rows first.
    let (mut offsets, mut inside, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (i, name) in ["pooled_h", "pooled_w"].into_iter().enumerate() {
        let bins = positive(l, name)?;
        let side = (parts[3 - i] * scale).write(l, DType::F32)?;
        let bin = (side / float_of(bins)).write(l, DType::F32)?;
        let [_, place] = numbers(l, bins, 2 + i)?;
        // A ratio of zero asks for as many samples as the bin has pixels.
        let (count, most) = if ratio > 0 {
            (Term::from(float_of(ratio)).write(l, DType::F32)?, l.list(&[ratio])?)
        } else {
            let count = of("Max", f("Ceil", bin), 0.0).write(l, DType::F32)?;
            let (flat, none) = (l.reshape(count, &[-1])?, Term::from(0.0).write(l, DType::F32)?);
            let all = with("Concat", [flat.into(), shaped(none, &[1])], [along(0)]).put(l)?;
            let most = l.apply("ReduceMax", &[all], &[])?;
            (count, l.cast(most, DType::I64)?)
        };
        let step = counted(l, most, &lying(4 + i))?;
        let at = bin * place - side / 2.0 + (step + 0.5) * (bin / of("Max", count, 1.0));
        offsets.push(at.write(l, DType::F32)?);
        inside.push(of("Less", step, count));
        counts.push(count);
    }
    let [down, across] = [offsets[0], offsets[1]];
    let [rows, columns] = <[_; 2]>::try_from(inside).expect("two axes");
    let mut counted = of("And", rows, columns);
    let centers = [parts[1] * scale - 0.5, parts[0] * scale - 0.5];
    let turned = [down * cosine - across * sine, down * sine + across * cosine];
    let mut at = Vec::new();
    for ((turned, center), len) in turned.into_iter().zip(centers).zip(image.lens) {
        let place = (turned + center).write(l, DType::F32)?;
        counted = of("And", counted, of("GreaterOrEqual", place, -1.0));
        counted = of("And", counted, of("LessOrEqual", place, len));
        at.push(place);
    }
    let plane = image.plane(sample, channel);
    let samples = image.sampled(l, plane, [at[0], at[1]])?;
    let sums = summed(l, pick(counted, samples, 0.0))?;
    let count = of("Max", counts[0] * counts[1], 1.0).write(l, DType::F32)?;
    let count = if ratio > 0 { count } else { l.reshape(count, &[-1, 1, 1, 1])? };
    Ok(vec![(sums / count).write(l, DType::F32)?])
}

/// Checks that each image has `wanted` channels.
fn expect_channels(l: &Lowering<'_>, wanted: i64) -> Result<()> {
    match l.dims_of(0)?[1].map(i64_of) {
        Some(given) if given != wanted => Err(errors::value("dimension 1 of input 0", given, wanted)),
        _ => Ok(()),
    }
}

/// `PSROIPooling` of OpenVINO with bilinear samples.
pub fn psroi_bilinear(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (groups, outputs) = (bins(l, "group_size")?, positive(l, "output_dim")?);
    let (columns, rows) = (bins(l, "spatial_bins_x")?, bins(l, "spatial_bins_y")?);
    let scale = features::scale(l)?;
    expect_channels(l, outputs.saturating_mul(rows * columns))?;
    let (image, parts) = (Image::of_input(l, 0)?, five(l, 1)?);
    let mut at = Vec::new();
    let mut inside: Option<Term> = None;
    let mut channel = numbers(l, outputs, 1)?[0];
    for (i, count) in [rows, columns].into_iter().enumerate() {
        let last = (image.lens[i] - 1.0).write(l, DType::F32)?;
        let [part, bin] = numbers(l, count, 4 + i)?;
        channel = if i == 0 {
            // Channels are ordered by row, column and output.
            (part * (outputs * columns) + channel).write(l, DType::I64)?
        } else {
            (part * outputs + channel).write(l, DType::I64)?
        };
        let low = (parts[2 - i] * scale).write(l, DType::F32)?;
        let width = ((parts[4 - i] * scale - low) / float_of(count)).write(l, DType::F32)?;
        let start = low + bin * width;
        let place = if groups > 1 {
            let [_, group] = numbers(l, groups, 2 + i)?;
            group * (width * last / float_of(groups - 1)) + start * last
        } else {
            (start + width * 0.5) * last
        };
        let place = place.write(l, DType::F32)?;
        let both = of("And", of("GreaterOrEqual", place, 0.0), of("LessOrEqual", place, last));
        inside = Some(match inside {
            Some(other) => of("And", other, both),
            None => both,
        });
        at.push(place);
    }
    let sample = l.cast(parts[0], DType::I64)?;
    let plane = image.plane(sample, channel);
    let samples = image.sampled(l, plane, [at[0], at[1]])?;
    let sums = summed(l, pick(inside.expect("two axes"), samples, 0.0))?;
    Ok(vec![(sums / float_of(rows * columns)).write(l, DType::F32)?])
}

/// `DeformablePSROIPooling` of OpenVINO: means of samples of regions whose bins are moved by
/// offsets.
pub fn deformable_psroi(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    for (input, rank) in [(0, 4), (1, 2), (2, 4)] {
        if l.has(input) || input < 2 {
            only_float32(l, input)?;
            expect_rank(l, input, rank)?;
        }
    }
    expect_sizes(l, 1, &[None, Some(5)])?;
    let (groups, outputs) = (bins(l, "group_size")?, positive(l, "output_dim")?);
    let samples = [bins(l, "spatial_bins_y")?, bins(l, "spatial_bins_x")?];
    let scale = features::scale(l)?;
    expect_channels(l, outputs.saturating_mul(groups * groups))?;
    let (image, parts) = (Image::of_input(l, 0)?, five(l, 1)?);
    let output = numbers(l, outputs, 1)?[0];
    let group = [numbers(l, groups, 2)?, numbers(l, groups, 3)?];
    // Offsets are parts of the sides of a box, of classes of channels and parts of the box.
    let offsets =
        if l.has(2) { Some(offsets(l, output, group.map(|group| group[0]), groups)?) } else { None };
    let (mut at, mut inside) = (Vec::new(), None);
    for (i, count) in samples.into_iter().enumerate() {
        let low = (rounded(parts[2 - i]) * scale - 0.5).write(l, DType::F32)?;
        let high = (rounded(parts[4 - i]) + 1.0) * scale - 0.5;
        let side = of("Max", high - low, 0.1).write(l, DType::F32)?;
        let bin = (side / float_of(groups)).write(l, DType::F32)?;
        let [_, step] = numbers(l, count, 4 + i)?;
        let mut place = group[i][1] * bin + low;
        if let Some(offsets) = offsets {
            place = place + offsets[i] * side;
        }
        let place = (place + step * (bin / float_of(count))).write(l, DType::F32)?;
        let end = (image.lens[i] - 0.5).write(l, DType::F32)?;
        let both = of("And", of("GreaterOrEqual", place, -0.5), of("LessOrEqual", place, end));
        inside = Some(match inside {
            Some(other) => of("And", other, both),
            None => both,
        });
        at.push(place);
    }
    let inside = pick(inside.expect("two axes"), 1.0, 0.0).write(l, DType::F32)?;
    let channel = (output * groups + group[0][0]) * groups + group[1][0];
    let channel = channel.write(l, DType::I64)?;
    let sample = l.cast(parts[0], DType::I64)?;
    let plane = image.plane(sample, channel);
    let values = image.sampled(l, plane, [at[0], at[1]])?;
    let (sums, count) = (summed(l, values * inside)?, summed(l, inside)?);
    let means = sums / of("Max", count, 1.0);
    Ok(vec![means.write(l, DType::F32)?])
}

/// The offsets of rows and of columns of each bin, in parts of the sides of a box.
fn offsets(
    l: &mut Lowering<'_>,
    output: LoweredValue,
    group: [LoweredValue; 2],
    groups: i64,
) -> Result<[LoweredValue; 2]> {
    let (parts, outputs) = (positive(l, "part_size")?, positive(l, "output_dim")?);
    let factor = required("trans_std", l.float("trans_std")?)?;
    let Some(pairs) = l.dims_of(2)?[1].map(i64_of) else {
        return Err(not_known("dimension 1 of input 2".to_owned()));
    };
    let classes = pairs / 2;
    if classes < 1 || pairs % 2 != 0 || outputs % classes != 0 {
        let wanted = format_args!("twice a divisor of {outputs}");
        return Err(errors::value("dimension 1 of input 2", pairs, wanted));
    }
    for axis in [2, 3] {
        if let Some(len) = l.dims_of(2)?[axis].map(i64_of)
            && len != parts
        {
            return Err(errors::value(format_args!("dimension {axis} of input 2"), len, parts));
        }
    }
    let (given, rows) = (l.input(2)?, l.input(1)?);
    let elements = l.reshape(given, &[-1])?;
    let count = size(l, rows, 0)?;
    let boxes = positions(l, count)?;
    let boxes = l.reshape(boxes, &lying(0))?;
    let class = (output / (outputs / classes)).write(l, DType::I64)?;
    let [row, column] = group.map(|group| (group * parts / groups).write(l, DType::I64));
    let (row, column) = (row?, column?);
    let of_axis = |l: &mut Lowering<'_>, axis: i64| {
        let pair = (boxes * classes + class) * 2i64 + axis;
        let place = ((pair * parts + row) * parts + column).write(l, DType::I64)?;
        (with("Gather", [elements.into(), place.into()], [along(0)]) * factor).write(l, DType::F32)
    };
    // The first of a pair is that of columns.
    Ok([of_axis(l, 1)?, of_axis(l, 0)?])
}
