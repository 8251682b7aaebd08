//! Operators of OpenVINO that turn images into others.
//!
//! | operators | results |
//! |---|---|
//! | `NV12toRGB`, `NV12toBGR`, `I420toRGB`, `I420toBGR` | colors of pixels, from one plane or several |
//! | `ReorgYolo` | blocks of pixels as channels, in the order of Darknet |
//! | `RegionYolo` | probabilities of regions: sigmoids, and of classes a softmax if that is asked for |
//! | `AdaptiveAvgPool`, `AdaptiveMaxPool` | as many windows as an input says |
//! | `SliceScatter` | the data with a slice replaced |

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result};

use crate::attributes::required;
use crate::dialects::adaptive;
use crate::dialects::boxes::expect_rank;
use crate::dialects::indices::{index, positions, size};
use crate::errors;
use crate::lowering::terms::{cast, f, ints, of, with};
use crate::lowering::{LoweredValue, Lowering, along, axis, int};

/// Half of a size.
fn half(l: &mut Lowering<'_>, size: LoweredValue) -> Result<LoweredValue> {
    (size / 2i64).write(l, DType::I64)
}

/// Colors of pixels: an image of brightness, and at half its size two differences of colors.
fn colors(l: &mut Lowering<'_>, planes: bool, order: [usize; 3]) -> Result<Vec<LoweredValue>> {
    let (mut y, dtype) = (l.input(0)?, l.dtype_of(0)?);
    if dtype != DType::U8 && !dtype.is_float() {
        return Err(errors::dtype(dtype, "uint8 or a float"));
    }
    for input in 0..l.count() {
        expect_rank(l, input, 4)?;
    }
    let (images, columns) = (size(l, y, 0)?, size(l, y, 2)?);
    let uv = match l.count() {
        1 => {
            // The planes are below each other.
            let all = size(l, y, 1)?;
            let rows = (all * 2i64 / 3i64).write(l, DType::I64)?;
            let (none, most) = (l.list(&[0])?, l.list(&[i64::MAX])?);
            let below = l.between(y, [rows, most], 1)?;
            y = l.between(y, [none, rows], 1)?;
            let (rows, columns, two) = (half(l, rows)?, half(l, columns)?, l.list(&[2])?);
            if planes {
                let dims = l.apply("Concat", &[images, two, rows, columns], &[along(0)])?;
                let both = l.apply("Reshape", &[below, dims], &[int("allowzero", 1)])?;
                l.transposed(both, &[0, 2, 3, 1])?
            } else {
                let dims = l.apply("Concat", &[images, rows, columns, two], &[along(0)])?;
                l.apply("Reshape", &[below, dims], &[int("allowzero", 1)])?
            }
        }
        2 if !planes => l.input(1)?,
        3 if planes => {
            let both = [l.input(1)?, l.input(2)?];
            l.apply("Concat", &both, &[int("axis", 3)])?
        }
        count => {
            let wanted = if planes { "1 or 3" } else { "1 or 2" };
            return Err(errors::count("inputs", count, wanted));
        }
    };
    // Each difference is that of a square of four pixels.
    let four = l.list(&[1, 1, 2, 1, 2, 1])?;
    let wide = of("Expand", of("Unsqueeze", uv, ints(&[2, 4])), four).put(l)?;
    let two = l.list(&[2])?;
    let dims = with("Concat", [with("Shape", [y.into()], [int("end", 3)]), two.into()], [along(0)]).put(l)?;
    let wide = l.apply("Reshape", &[wide, dims], &[int("allowzero", 1)])?;
    // Multiples of a thousandth, so that all but the last step is exact.
    let wide = l.cast(wide, DType::F64)?;
    let parts = l.apply_many("Split", &[wide], &[int("axis", 3), int("num_outputs", 2)], 2)?;
    let light = ((cast(y, DType::F64) - 16.0) * 1164.0).write(l, DType::F64)?;
    let (u, v) = ((parts[0] - 128.0).write(l, DType::F64)?, (parts[1] - 128.0).write(l, DType::F64)?);
    let rgb = [light + v * 1596.0, light - u * 391.0 - v * 813.0, light + u * 2018.0];
    let mut colors = Vec::new();
    for from in order {
        let mut color = of("Min", of("Max", rgb[from].clone() / 1000.0, 0.0), 255.0);
        if dtype == DType::U8 {
            color = f("Floor", color + 0.5);
        }
        colors.push(color.write(l, DType::F64)?);
    }
    let colors = l.apply("Concat", &colors, &[int("axis", 3)])?;
    Ok(vec![l.cast(colors, dtype)?])
}

const RGB: [usize; 3] = [0, 1, 2];
const BGR: [usize; 3] = [2, 1, 0];

pub fn nv12_to_rgb(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    colors(l, false, RGB)
}

pub fn nv12_to_bgr(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    colors(l, false, BGR)
}

pub fn i420_to_rgb(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    colors(l, true, RGB)
}

pub fn i420_to_bgr(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    colors(l, true, BGR)
}

pub fn reorg_yolo(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 4)?;
    let x = l.input(0)?;
    let stride = required("stride", l.attributes.int("stride")?)?;
    let square = errors::at_least_1("stride", stride)?.saturating_mul(stride);
    for (axis, by) in [(1, square), (2, stride), (3, stride)] {
        if let Some(len) = l.dims_of(0)?[axis].map(i64_of)
            && len % by != 0
        {
            let wanted = format_args!("a multiple of {by}");
            return Err(errors::value(format_args!("size of axis {axis}"), len, wanted));
        }
    }
    let [images, channels, rows, columns] = [size(l, x, 0)?, size(l, x, 1)?, size(l, x, 2)?, size(l, x, 3)?];
    let fewer = (channels / square).write(l, DType::I64)?;
    let by = l.list(&[stride])?;
    // The data are read as if they were larger images of fewer channels.
    let dims = l.apply("Concat", &[images, fewer, rows, by, columns, by], &[along(0)])?;
    let y = l.apply("Reshape", &[x, dims], &[int("allowzero", 1)])?;
    let y = l.transposed(y, &[0, 3, 5, 1, 2, 4])?;
    let more = (channels * square).write(l, DType::I64)?;
    let (rows, columns) = ((rows / stride).write(l, DType::I64)?, (columns / stride).write(l, DType::I64)?);
    let dims = l.apply("Concat", &[images, more, rows, columns], &[along(0)])?;
    Ok(vec![l.apply("Reshape", &[y, dims], &[int("allowzero", 1)])?])
}

pub fn region_yolo(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    expect_rank(l, 0, 4)?;
    let x = l.input(0)?;
    let whole = |name: &str| {
        let value = required(name, l.attributes.int(name)?)?;
        if (0..=i64::from(u16::MAX)).contains(&value) {
            return Ok(value);
        }
        Err(errors::value(format_args!("attribute \"{name}\""), value, "from 0 to 65535"))
    };
    let (places, classes) = (whole("coords")?, whole("classes")?);
    if places < 2 {
        return Err(errors::value("attribute \"coords\"", places, "at least 2"));
    }
    let softmax = l.attributes.flag("do_softmax", true)?;
    let regions =
        if softmax { whole("num")? } else { i64_of(l.attributes.list("mask")?.unwrap_or_default().len()) };
    // [image, region, number, row, column]
    let (images, inner) = (size(l, x, 0)?, l.list(&[regions, places + 1 + classes])?);
    let sides = l.apply("Shape", &[x], &[int("start", 2)])?;
    let dims = l.apply("Concat", &[images, inner, sides], &[along(0)])?;
    let y = l.apply("Reshape", &[x, dims], &[int("allowzero", 1)])?;
    let (third, sizes) = (int("axis", 2), l.list(&[2, places - 2, 1, classes])?);
    let mut parts = l.apply_many("Split", &[y, sizes], std::slice::from_ref(&third), 4)?;
    for (part, function) in [(0, "Sigmoid"), (2, "Sigmoid"), (3, if softmax { "Softmax" } else { "Sigmoid" })]
    {
        let along = if function == "Softmax" { &[third.clone()][..] } else { &[] };
        parts[part] = l.apply(function, &[parts[part]], along)?;
    }
    let y = l.apply("Concat", &parts, &[third])?;
    let dims = if softmax {
        let [from, to] = ["axis", "end_axis"].map(|name| {
            let given = required(name, l.attributes.int(name)?)?;
            axis(given, 4)
        });
        let (from, to) = (from?, to?);
        if from > to {
            return Err(errors::value(
                "attribute \"axis\"",
                from,
                format_args!("at most {to}, the end_axis"),
            ));
        }
        let all = l.shape(x)?;
        let mut parts = Vec::new();
        let between = |l: &mut Lowering<'_>, ends: [usize; 2]| {
            let ends = ends.map(|end| l.list(&[i64_of(end)]));
            let [from, to] = ends;
            l.between(all, [from?, to?], 0)
        };
        parts.push(between(l, [0, from])?);
        let flat = between(l, [from, to + 1])?;
        parts.push(l.apply("ReduceProd", &[flat], &[])?);
        parts.push(between(l, [to + 1, 4])?);
        l.apply("Concat", &parts, &[along(0)])?
    } else {
        let channels = l.list(&[regions.saturating_mul(places + 1 + classes)])?;
        l.apply("Concat", &[images, channels, sides], &[along(0)])?
    };
    Ok(vec![l.apply("Reshape", &[y, dims], &[int("allowzero", 1)])?])
}

/// The sizes of the result of an adaptive pool, of which there is one for each axis behind the
/// channels.
fn windows(l: &Lowering<'_>) -> Result<Vec<i64>> {
    let (rank, sizes) = (l.rank_of(0)?, l.integers_of(1)?.to_vec());
    if !(3..=5).contains(&rank) {
        return Err(errors::rank("input 0", rank, "from 3 to 5"));
    }
    if sizes.len() != rank - 2 {
        return Err(errors::count("elements of input 1", sizes.len(), rank - 2));
    }
    Ok(sizes)
}

pub fn adaptive_average(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, counts) = (l.input(0)?, windows(l)?);
    Ok(vec![adaptive::pool(l, x, 2, &counts, true)?])
}

pub fn adaptive_maximum(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, counts) = (l.input(0)?, windows(l)?);
    let to = l.attributes.index_dtype("index_element_type")?.unwrap_or(DType::I64);
    let [value, index] = adaptive::pool_with_index(l, x, &counts, None)?;
    Ok(vec![value, if to == DType::I64 { index } else { l.cast(index, to)? }])
}

/// The flat indices of a slice say where the new elements go.
pub fn slice_scatter(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (whole, count) = (l.shape(x)?, l.apply("Size", &[x], &[])?);
    let places = positions(l, count)?;
    let places = l.apply("Reshape", &[places, whole], &[int("allowzero", 1)])?;
    // Start, stop, step, axes.
    let mut bounds = Vec::new();
    for input in [2, 3, 5, 4] {
        bounds.push(if l.has(input) { index(l, input)? } else { LoweredValue::NONE });
    }
    let places = l.apply("Slice", &[places, bounds[0], bounds[1], bounds[2], bounds[3]], &[])?;
    let update = of("Expand", l.input(1)?, f("Shape", places)).put(l)?;
    let [flat, places, update] = [l.reshape(x, &[-1])?, l.reshape(places, &[-1])?, l.reshape(update, &[-1])?];
    let flat = l.apply("ScatterElements", &[flat, places, update], &[])?;
    Ok(vec![l.apply("Reshape", &[flat, whole], &[int("allowzero", 1)])?])
}
