//! Evaluation of operators that read images between their elements: `GridSample`, `DeformConv`,
//! `RoiAlign`, and the grids of `AffineGrid`; and of regions and boxes.

use std::ops::Range;

use gradus_core::convert::{i64_of, nearest_f64, product, truncated, usize_of_i64};
use gradus_core::{DType, Error, Kind, Number, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::floats::{Matrix, Numbers, Sizes, product_of};
use crate::indexing::eval::positions;
use crate::nn::suppression::Upright;
use crate::nn::windows::{add_bias, float_of};
use crate::op::EvalContext;

/// How elements around a coordinate are weighted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Interpolation {
    Nearest,
    Linear,
    Cubic,
}

/// Which elements stand for those outside of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outside {
    Zeros,
    /// The first or the last element; up to their outer edges, coordinates stay.
    Border {
        edges: bool,
    },
    /// The axis is mirrored at its first and last element, or at their outer edges.
    Reflection {
        edges: bool,
    },
}

impl Outside {
    /// The coordinate within an axis that stands for one outside of it.
    fn moved(self, x: f64, size: usize) -> f64 {
        let last = float_of(size) - 1.0;
        match self {
            Outside::Zeros => x,
            Outside::Border { .. } => x.clamp(0.0, last.max(0.0)),
            Outside::Reflection { edges } => {
                let (low, high) = if edges { (-0.5, last + 0.5) } else { (0.0, last) };
                let range = high - low;
                if (low..=high).contains(&x) || range <= 0.0 || !x.is_finite() {
                    return if range <= 0.0 { low.max(0.0) } else { x };
                }
                let beyond = if x < low { low - x } else { x - high };
                let (turns, rest) = ((beyond / range).trunc(), beyond % range);
                if (x < low) == (turns % 2.0 == 0.0) { low + rest } else { high - rest }
            }
        }
    }

    /// The element that an index stands for; nothing if it stands for zero.
    fn index(self, index: f64, size: usize) -> Option<usize> {
        let moved = truncated(self.moved(index, size))?;
        usize::try_from(moved).ok().filter(|&index| index < size)
    }
}

/// The elements of an axis around a coordinate, with their weights.
fn taps(x: f64, size: usize, how: Interpolation, outside: Outside) -> Vec<(usize, f64)> {
    let (floor, f) = (x.floor(), x - x.floor());
    let weights: &[f64] = match how {
        Interpolation::Nearest => &[1.0],
        Interpolation::Linear => &[1.0 - f, f],
        Interpolation::Cubic => {
            let a = -0.75;
            let far = |x: f64| ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
            let near = |x: f64| ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
            &[far(f + 1.0), near(f), near(1.0 - f), far(2.0 - f)]
        }
    };
    let first = if how == Interpolation::Cubic { floor - 1.0 } else { floor };
    let tap = |(at, &weight): (usize, &f64)| Some((outside.index(first + float_of(at), size)?, weight));
    weights.iter().enumerate().filter_map(tap).collect()
}

/// The elements around a point, by their index in the plane, with their weights.
fn around(axes: &[Vec<(usize, f64)>], sizes: &[usize]) -> Vec<(usize, f64)> {
    axes.iter().zip(sizes).fold(vec![(0, 1.0)], |all, (taps, size)| {
        let longer = |&(place, weight): &(usize, f64)| {
            taps.iter().map(move |&(index, own)| (place * size + index, weight * own)).collect::<Vec<_>>()
        };
        all.iter().flat_map(longer).collect()
    })
}

/// The weights of a mode, and the elements that stand for those outside in a mode of padding.
pub(super) fn manner(mode: &str, padding: &str, corners: bool) -> Result<(Interpolation, Outside)> {
    let how = match mode {
        "nearest" => Interpolation::Nearest,
        "linear" | "bilinear" => Interpolation::Linear,
        "cubic" | "bicubic" => Interpolation::Cubic,
        other => return Err(errors::text("mode", other, "nearest, linear or cubic")),
    };
    let outside = match padding {
        "zeros" => Outside::Zeros,
        "border" => Outside::Border { edges: !corners },
        "reflection" => Outside::Reflection { edges: !corners },
        other => return Err(errors::text("padding_mode", other, "zeros, border or reflection")),
    };
    Ok((how, outside))
}

pub fn grid_sample(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, (_, shape)) = (cx.tensor(0)?, cx.output(0)?);
    let dims = data.shape().dims();
    let (sizes, points) = (&dims[2..], shape.dims()[2..].iter().product::<usize>());
    let mode = attributes.text("mode")?.unwrap_or("linear");
    let corners = attributes.flag("align_corners", false)?;
    let (how, outside) = manner(mode, attributes.text("padding_mode")?.unwrap_or("zeros"), corners)?;
    let is_nearest = how == Interpolation::Nearest;
    if data.dtype() == DType::String && !is_nearest {
        return Err(Error::new(Kind::Unsupported, "cannot evaluate GridSample of text between elements"));
    }
    if shape.is_empty() {
        return Ok(vec![Tensor::zeros(data.dtype(), shape)?.into()]);
    }
    let (x, grid) = (if is_nearest { Vec::new() } else { cx.floats(0)? }, cx.floats(1)?);
    let plane: usize = sizes.iter().product();
    let each = 4u128.saturating_pow(u32::try_from(sizes.len()).unwrap_or(u32::MAX));
    cx.run.touch(product(shape.len(), 1).saturating_mul(each))?;
    cx.run.limits.allow_bytes(cx.in_use(), each.saturating_mul(32))?;
    // Elements that are picked stay as they are, and zeros lie outside.
    let (mut y, mut picked) = (vec![0.0; if is_nearest { 0 } else { shape.len() }], Vec::new());
    if is_nearest {
        cx.reserve(product(shape.len(), size_of::<(usize, usize)>()))?;
        picked = vec![(1, 0); shape.len()];
    }
    for at in 0..dims[0] * points {
        cx.limits().check()?;
        let (sample, point) = (at / points, at % points);
        // Coordinates are given from the last axis on.
        let given = &grid[at * sizes.len()..][..sizes.len()];
        let along = given.iter().rev().zip(sizes).map(|(&n, &size)| {
            let size_of = float_of(size);
            let x = if corners {
                f64::midpoint(n, 1.0) * (size_of - 1.0)
            } else {
                ((n + 1.0) * size_of - 1.0) / 2.0
            };
            let x = if is_nearest { x.round_ties_even() } else { x };
            let edge = if corners { 0.0 } else { 0.5 };
            let within = (-edge..=size_of - 1.0 + edge).contains(&x);
            taps(if within { x } else { outside.moved(x, size) }, size, how, outside)
        });
        let around = around(&along.collect::<Vec<_>>(), sizes);
        for channel in 0..dims[1] {
            let image = sample * dims[1] + channel;
            if !is_nearest {
                let plane = &x[image * plane..][..plane];
                let parts = around.iter().map(|&(place, weight)| weight * plane[place]);
                // A sum of no parts is zero, not -0.
                y[image * points + point] = parts.reduce(|a, b| a + b).unwrap_or(0.0);
            } else if let Some((place, _)) = around.first() {
                picked[image * points + point] = (0, image * plane + place);
            }
        }
    }
    if is_nearest {
        let zero = Tensor::zeros(data.dtype(), Shape::new([])?)?;
        return Ok(vec![Tensor::woven(&[data, &zero], shape, picked, &cx.limits())?.into()]);
    }
    Ok(vec![cx.rounded(0, &y)?])
}

pub fn affine_grid(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (_, shape) = cx.output(0)?;
    let corners = attributes.flag("align_corners", false)?;
    let sizes = &shape.dims()[1..shape.rank() - 1];
    let (axes, count) = (sizes.len(), sizes.iter().product::<usize>());
    let theta = cx.floats(0)?;
    let mut y = Vec::with_capacity(shape.len());
    if shape.is_empty() {
        return Ok(vec![cx.rounded(0, &y)?]);
    }
    cx.run.touch(product(shape.len(), axes + 1))?;
    for at in 0..shape.dims()[0] * count {
        let rows = &theta[at / count * axes * (axes + 1)..][..axes * (axes + 1)];
        // Coordinates are listed from the last axis on, and 1 behind them.
        let mut place = at % count;
        let mut point = Vec::with_capacity(axes + 1);
        for &size in sizes.iter().rev() {
            let (index, size_of) = (float_of(place % size), float_of(size));
            point.push(match corners {
                true if size > 1 => -1.0 + 2.0 * index / (size_of - 1.0),
                true => -1.0,
                false => (2.0 * index + 1.0) / size_of - 1.0,
            });
            place /= size;
        }
        point.push(1.0);
        y.extend(rows.chunks(axes + 1).map(|row| row.iter().zip(&point).map(|(a, b)| a * b).sum::<f64>()));
    }
    Ok(vec![cx.rounded(0, &y)?])
}

pub fn deform_conv(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dims, weights_dims) = (cx.tensor(0)?.shape().dims(), cx.tensor(1)?.shape().dims());
    let (_, shape) = cx.output(0)?;
    let number =
        |name: &str| Ok::<_, Error>(attributes.int(name)?.and_then(usize_of_i64).unwrap_or(1).max(1));
    let (groups, offset_groups) = (number("group")?, number("offset_group")?);
    let (sizes, kernel, windows) = (&dims[2..], &weights_dims[2..], &shape.dims()[2..]);
    let axes = sizes.len();
    let list = |name: &str, default: i64| {
        Ok::<_, Error>(attributes.ints(name)?.map_or_else(|| vec![default; 2 * axes], <[i64]>::to_vec))
    };
    let (strides, dilations, pads) = (list("strides", 1)?, list("dilations", 1)?, list("pads", 0)?);
    let (x, weights, offsets) = (cx.floats(0)?, cx.floats(1)?, cx.floats(2)?);
    let (bias, mask) = (cx.maybe_floats(3)?, cx.maybe_floats(4)?);
    let (channels, filters) = (dims[1], shape.dims()[1]);
    let (count, taps_count): (usize, usize) = (windows.iter().product(), kernel.iter().product());
    let plane: usize = sizes.iter().product();
    let mut y = vec![0.0; shape.len()];
    if y.is_empty() || x.is_empty() || weights.is_empty() {
        return Ok(vec![cx.rounded(0, &y)?]);
    }
    let columns_len = product(channels * taps_count, count);
    cx.reserve(columns_len.saturating_mul(8))?;
    let each = 1u128 << axes.min(64);
    cx.run.touch(columns_len.saturating_mul(product(dims[0], filters / groups)).saturating_mul(each))?;
    let (inner, outer) = (channels / groups, filters / groups);
    let all: Vec<_> = positions(windows).collect();
    for sample in 0..dims[0] {
        let mut columns = vec![0.0; channels * taps_count * count];
        for group in 0..offset_groups {
            for (tap, tap_position) in positions(kernel).enumerate() {
                cx.limits().check()?;
                let first = (sample * offset_groups + group) * taps_count + tap;
                for (window, position) in all.iter().enumerate() {
                    let along = (0..axes).map(|axis| {
                        let [at, tap] = [position[axis], tap_position[axis]].map(float_of);
                        let [stride, dilation, pad] = [strides[axis], dilations[axis], pads[axis]]
                            .map(|x| nearest_f64(Number::Int(x.into())));
                        let x = at * stride - pad
                            + tap * dilation
                            + offsets[(first * axes + axis) * count + window];
                        taps(x, sizes[axis], Interpolation::Linear, Outside::Zeros)
                    });
                    let around = around(&along.collect::<Vec<_>>(), sizes);
                    let factor = mask.as_ref().map_or(1.0, |mask| mask[first * count + window]);
                    let own = channels / offset_groups;
                    for channel in group * own..(group + 1) * own {
                        let plane = &x[(sample * channels + channel) * plane..][..plane];
                        let sum: f64 = around.iter().map(|&(place, weight)| weight * plane[place]).sum();
                        columns[(channel * taps_count + tap) * count + window] = sum * factor;
                    }
                }
            }
        }
        let depth = inner * taps_count;
        let limits = cx.limits();
        let adding = cx.adding_doubles(&limits)?;
        for group in 0..groups {
            let weights = &weights[group * outer * depth..][..outer * depth];
            let columns = &columns[group * depth * count..][..depth * count];
            let y = &mut y[(sample * filters + group * outer) * count..][..outer * count];
            let by_row = |numbers, row| Matrix { numbers: Numbers::Doubles(numbers), row, column: 1 };
            let sizes = Sizes { rows: outer, inner: depth, columns: count };
            y.copy_from_slice(&product_of(by_row(weights, depth), by_row(columns, count), sizes, adding)?);
        }
    }
    if let Some(bias) = bias {
        add_bias(&mut y, &shape, &bias);
    }
    Ok(vec![cx.rounded(0, &y)?])
}

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

pub fn roi_align(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dims, (_, shape)) = (cx.tensor(0)?.shape().dims(), cx.output(0)?);
    let &[count, channels, height, width] = shape.dims() else {
        return Err(errors::rank("input 0", dims.len(), 4));
    };
    let (x, rois, samples) = (cx.floats(0)?, cx.floats(1)?, cx.integers(2)?);
    let scale = f64::from(attributes.float("spatial_scale")?.unwrap_or(1.0));
    let half = attributes.text("coordinate_transformation_mode")?.unwrap_or("half_pixel") == "half_pixel";
    let offset = if half { 0.5 } else { 0.0 };
    let largest = match attributes.text("mode")?.unwrap_or("avg") {
        "avg" => false,
        "max" => true,
        other => return Err(errors::text("mode", other, "avg or max")),
    };
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

/// `NonMaxSuppression`: of boxes that overlap, the one with the best score.
pub fn non_max_suppression(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (boxes, scores) = (cx.floats(0)?, cx.floats(1)?);
    let &[batch, classes, count] = cx.tensor(1)?.shape().dims() else {
        return Err(errors::rank("input 1", cx.tensor(1)?.shape().rank(), 3));
    };
    let first = |input: usize| Ok::<_, Error>(cx.maybe_floats(input)?.and_then(|all| all.first().copied()));
    let most =
        first(2)?.map_or(0, |most| truncated(most).and_then(|most| usize::try_from(most).ok()).unwrap_or(0));
    let (overlap, threshold) = (first(3)?.unwrap_or(0.0), first(4)?);
    let centered = attributes.flag("center_point_box", false)?;
    let mut selected: Vec<i64> = Vec::new();
    for at in 0..batch * classes {
        let scores = &scores[at * count..][..count];
        let mut order: Vec<_> =
            (0..count).filter(|&b| threshold.is_none_or(|threshold| scores[b] > threshold)).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        let mut kept: Vec<Upright> = Vec::new();
        for candidate in order {
            if kept.len() >= most {
                break;
            }
            cx.run.touch(product(kept.len() + 1, 1))?;
            let own = Upright::new(&boxes[(at / classes * count + candidate) * 4..][..4], centered);
            if kept.iter().all(|other| own.overlap(other) <= overlap) {
                kept.push(own);
                cx.reserve(product(selected.len() + 3, size_of::<i64>()))?;
                selected.extend([at / classes, at % classes, candidate].map(i64_of));
            }
        }
    }
    let rows = selected.len() / 3;
    Ok(vec![Tensor::from_vec(Shape::new([rows, 3])?, selected)?.into()])
}
