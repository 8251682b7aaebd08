//! Evaluation of `GridSample`, which reads images between their elements, and of the grids of
//! `AffineGrid`.

use gradus_core::convert::{float_of, product, truncated};
use gradus_core::{DType, Error, Kind, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::op::EvalContext;
use crate::words;

/// How elements around a coordinate are weighted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interpolation {
    Nearest,
    Linear,
    Cubic,
}

/// Elements that stand for those outside of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outside {
    Zeros,
    /// The first or the last element; up to their outer edges, coordinates are kept.
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
pub fn taps(x: f64, size: usize, how: Interpolation, outside: Outside) -> Vec<(usize, f64)> {
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
pub fn around(axes: &[Vec<(usize, f64)>], sizes: &[usize]) -> Vec<(usize, f64)> {
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
        _ => Interpolation::Cubic,
    };
    let outside = match padding {
        "zeros" => Outside::Zeros,
        "border" => Outside::Border { edges: !corners },
        _ => Outside::Reflection { edges: !corners },
    };
    Ok((how, outside))
}

/// `GridSample`: interpolated elements of images at the coordinates of a grid.
pub fn grid_sample(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, (_, shape)) = (cx.tensor(0)?, cx.output(0)?);
    let dims = data.shape().dims();
    let (sizes, points) = (&dims[2..], shape.dims()[2..].iter().product::<usize>());
    let mode = words::GRID_MODE.of(attributes)?;
    let corners = attributes.flag("align_corners", false)?;
    let (how, outside) = manner(mode, words::GRID_PADDING.of(attributes)?, corners)?;
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

/// `AffineGrid`: coordinates of the samples of transformed images.
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
        // Coordinates are listed from the last axis on, and 1 after them.
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
