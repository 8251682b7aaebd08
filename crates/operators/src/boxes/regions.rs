//! Evaluation of `RoiAlign` and `MaxRoiPool`: features of the regions of images.

use std::ops::Range;

use gradus_core::convert::{float_of, product, truncated, usize_of_i64};
use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::images::sampling::around;
use crate::op::EvalContext;
use crate::words;

/// The elements around a point of a region, of which none is outside of the image by more than 1.
fn in_region(x: f64, size: usize) -> Vec<(usize, f64)> {
    if !(-1.0..=float_of(size)).contains(&x) || size == 0 {
        return Vec::new();
    }
    let x = x.max(0.0);
    let low = truncated(x).and_then(|low| usize::try_from(low).ok()).unwrap_or(0);
    if low + 1 >= size {
        return vec![(size - 1, 1.0), (size - 1, 0.0)];
    }
    let f = x - x.floor();
    vec![(low, 1.0 - f), (low + 1, f)]
}

/// `RoiAlign`: averages or maxima of interpolated samples of regions.
pub fn roi_align(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dims, (_, shape)) = (cx.tensor(0)?.shape().dims(), cx.output(0)?);
    let &[count, channels, height, width] = shape.dims() else {
        return Err(errors::rank("input 0", dims.len(), 4));
    };
    let (x, rois, samples) = (cx.floats(0)?, cx.floats(1)?, cx.integers(2)?);
    let scale = f64::from(attributes.float("spatial_scale")?.unwrap_or(1.0));
    let half = words::REGION_COORDINATES.of(attributes)? == "half_pixel";
    let offset = if half { 0.5 } else { 0.0 };
    let largest = words::REGION_MODE.of(attributes)? == "max";
    let ratio = attributes.int("sampling_ratio")?.unwrap_or(0);
    let (sizes, plane) = (&dims[2..], dims[2] * dims[3]);
    let mut y = vec![0.0; shape.len()];
    if y.is_empty() {
        return Ok(vec![cx.rounded(0, &y)?]);
    }
    for region in 0..count {
        let sample = samples[region];
        let sample = usize_of_i64(sample).filter(|&sample| sample < dims[0]);
        let sample = sample.ok_or_else(|| errors::out_of_range("sample", samples[region], dims[0]))?;
        let bounds: Vec<_> = rois[region * 4..][..4].iter().map(|x| x * scale - offset).collect();
        // By axis: the begin, the size of a bin, and its number of points.
        let axis = |axis: usize, bins: usize| {
            let begin = bounds[1 - axis];
            let len = bounds[3 - axis] - begin;
            let len = if half { len } else { len.max(1.0) };
            let points = if ratio > 0 {
                i128::from(ratio)
            } else {
                truncated((len / float_of(bins)).ceil()).unwrap_or(0)
            };
            (begin, len / float_of(bins), usize::try_from(points.max(0)).unwrap_or(usize::MAX))
        };
        let axes = [axis(0, height), axis(1, width)];
        let number = float_of(axes[0].2.max(1)) * float_of(axes[1].2.max(1));
        for bin in 0..height * width {
            // The position of each point along an axis, and the points within the image.
            let along = |axis: usize, bin: usize| {
                let (begin, size, points) = axes[axis];
                let at = move |point: usize| {
                    begin + float_of(bin) * size + (float_of(point) + 0.5) * size / float_of(points)
                };
                (at, inside(at, points, size, sizes[axis]))
            };
            let [(row, rows), (column, columns)] = [along(0, bin / width), along(1, bin % width)];
            cx.run.touch(product(rows.len() + columns.len(), 1) + product(sizes[0] + sizes[1], 1))?;
            let planes = (0..channels).map(|channel| &x[(sample * channels + channel) * plane..][..plane]);
            let target = |channel: usize| (region * channels + channel) * height * width + bin;
            if largest {
                cx.run.touch(product(rows.len(), columns.len()).saturating_mul(product(4, channels)))?;
                // A point outside of the image counts as zero.
                let all = product(axes[0].2, axes[1].2);
                let least = if all > product(rows.len(), columns.len()) { 0.0 } else { f64::NEG_INFINITY };
                for (channel, plane) in planes.enumerate() {
                    let mut most = least;
                    for row in rows.clone().map(|point| in_region(row(point), sizes[0])) {
                        cx.limits().check()?;
                        for column in columns.clone().map(|point| in_region(column(point), sizes[1])) {
                            let around = around(&[row.clone(), column], sizes);
                            most = around
                                .iter()
                                .map(|&(place, weight)| weight * plane[place])
                                .fold(most, f64::max);
                        }
                    }
                    y[target(channel)] = if all == 0 { 0.0 } else { most };
                }
                continue;
            }
            let rows = weights(rows.map(|point| in_region(row(point), sizes[0])), sizes[0]);
            let columns = weights(columns.map(|point| in_region(column(point), sizes[1])), sizes[1]);
            cx.run.touch(product(rows.len(), columns.len()).saturating_mul(product(channels, 1)))?;
            for (channel, plane) in planes.enumerate() {
                let line = |&(row, weight): &(usize, f64)| {
                    let elements = columns.iter().map(|&(column, own)| own * plane[row * sizes[1] + column]);
                    weight * elements.sum::<f64>()
                };
                // A sum of nothing is -0.
                y[target(channel)] = (0.0 + rows.iter().map(line).sum::<f64>()) / number;
            }
        }
    }
    Ok(vec![cx.rounded(0, &y)?])
}

/// The points of a bin of that size that are not outside of the image by more than 1: their
/// positions rise or fall.
fn inside(at: impl Fn(usize) -> f64, points: usize, size: f64, image: usize) -> Range<usize> {
    let first = |holds: &dyn Fn(f64) -> bool| {
        let (mut from, mut to) = (0, points);
        while from < to {
            let middle = from.midpoint(to);
            if holds(at(middle)) {
                to = middle;
            } else {
                from = middle + 1;
            }
        }
        from
    };
    let last = float_of(image);
    let (from, to) = if size >= 0.0 {
        (first(&|x| x >= -1.0), first(&|x| x > last))
    } else {
        (first(&|x| x <= last), first(&|x| x < -1.0))
    };
    from..to.max(from)
}

/// The sum of the weights of points for each element of an axis that has some.
fn weights(points: impl Iterator<Item = Vec<(usize, f64)>>, size: usize) -> Vec<(usize, f64)> {
    let mut sums = vec![None; size];
    points.flatten().for_each(|(place, weight)| *sums[place].get_or_insert(0.0) += weight);
    sums.into_iter().enumerate().filter_map(|(place, sum)| Some((place, sum?))).collect()
}

/// `MaxRoiPool`: the largest element of each bin of a region.
pub fn max_roi_pool(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dims, (_, shape)) = (cx.tensor(0)?.shape().dims(), cx.output(0)?);
    let &[count, channels, height, width] = shape.dims() else {
        return Err(errors::rank("input 0", dims.len(), 4));
    };
    let (x, rois) = (cx.floats(0)?, cx.floats(1)?);
    let scale = f64::from(attributes.float("spatial_scale")?.unwrap_or(1.0));
    let mut y = vec![0.0; shape.len()];
    cx.run.touch(product(count * channels, dims[2] * dims[3] + height * width))?;
    for (at, target) in y.iter_mut().enumerate() {
        cx.limits().check()?;
        let (region, channel) = (at / width / height / channels, at / width / height % channels);
        let roi = &rois[region * 5..][..5];
        let sample = truncated(roi[0])
            .and_then(|sample| usize::try_from(sample).ok())
            .filter(|&sample| sample < dims[0]);
        let sample = sample
            .ok_or_else(|| errors::value("sample of a region", roi[0], format_args!("below {}", dims[0])))?;
        let range = |axis: usize, bin: usize, bins: usize| {
            let begin = (roi[2 - axis] * scale).round();
            let len = ((roi[4 - axis] * scale).round() - begin + 1.0).max(1.0) / float_of(bins);
            let bound = |x: f64| {
                usize::try_from(truncated((x + begin).clamp(0.0, float_of(dims[2 + axis]))).unwrap_or(0))
                    .unwrap_or(0)
            };
            bound((float_of(bin) * len).floor())..bound((float_of(bin + 1) * len).ceil())
        };
        let (rows, columns) = (range(0, at / width % height, height), range(1, at % width, width));
        let plane = &x[(sample * channels + channel) * dims[2] * dims[3]..];
        let elements = rows.flat_map(|row| columns.clone().map(move |column| plane[row * dims[3] + column]));
        *target = elements.reduce(f64::max).unwrap_or(0.0);
    }
    Ok(vec![cx.rounded(0, &y)?])
}
