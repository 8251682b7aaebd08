//! Operators of the windows of an image, and of frames of a video.

use gradus_core::convert::{i64_of, nearest_f32, nearest_f64, truncated};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result};

use crate::dialects::adaptive;
use crate::dialects::cannot;
use crate::dialects::indices::{positions, size};
use crate::dialects::paddle::attributes::{constant_like, ints};
use crate::dialects::paddle::windows::{channels_first, channels_last, windows};
use crate::errors;
use crate::lowering::terms::{Term, f, of, shaped, with};
use crate::lowering::{LoweredValue, Lowering, along, int, not_known};

/// Two integers of an attribute.
fn pair(l: &Lowering<'_>, name: &'static str) -> Result<[i64; 2]> {
    let all = ints(l, name)?;
    let count = all.len();
    let at_least_1 = |value| errors::at_least_1(name, value);
    match all[..] {
        [a, b] => Ok([at_least_1(a)?, at_least_1(b)?]),
        _ => Err(errors::count(name, count, 2)),
    }
}

/// Pads at the top, the left, the bottom and the right.
fn four_pads(l: &Lowering<'_>) -> Result<[i64; 4]> {
    match ints(l, "paddings")?[..] {
        [high, wide] => Ok([high, wide, high, wide]),
        [top, left, bottom, right] => Ok([top, left, bottom, right]),
        ref other => Err(errors::count("elements of attribute \"paddings\"", other.len(), 4)),
    }
}

/// `unfold`: the windows of an image, one a column.
pub fn unfold(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    errors::expect_rank("the input", l.rank_of(0)?, 4)?;
    let (kernel, strides, dilations) = (pair(l, "kernel_sizes")?, pair(l, "strides")?, pair(l, "dilations")?);
    let [top, left, bottom, right] = four_pads(l)?;
    let (x, zero) = (l.input(0)?, constant_like(l, 0.0)?);
    let pads = l.list(&[0, 0, top, left, 0, 0, bottom, right])?;
    let mut y = l.apply("Pad", &[x, pads, zero], &[])?;
    for (i, axis) in [(0, 2), (1, 4)] {
        // The index of each element of each window along the axis.
        let (step, apart) = (l.list(&[strides[i]])?, l.list(&[dilations[i]])?);
        let reach = l.list(&[dilations[i].saturating_mul(kernel[i] - 1)])?;
        let count = (size(l, y, axis)? - reach - 1.0) / step + 1.0;
        let count = count.write(l, DType::I64)?;
        let length = l.list(&[kernel[i]])?;
        let (first, within) = (positions(l, count)?, positions(l, length)?);
        let within = (within * apart).write(l, DType::I64)?;
        let places = (Term::from(first) * step + shaped(within, &[-1, 1])).write(l, DType::I64)?;
        y = l.apply("Gather", &[y, places], &[along(axis)])?;
    }
    let y = l.transposed(y, &[0, 1, 2, 4, 3, 5])?;
    let (images, channels) = (size(l, x, 0)?, size(l, x, 1)?);
    let (area, open) = (l.list(&[kernel[0].saturating_mul(kernel[1])])?, l.list(&[-1])?);
    let dims = with("Concat", [images.into(), channels * area, open.into()], [along(0)]).put(l)?;
    Ok(vec![l.apply("Reshape", &[y, dims], &[])?])
}

/// `fold`: the sums of windows where they overlap.
pub fn fold(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [size, kernel] = [pair(l, "output_sizes")?, pair(l, "kernel_sizes")?];
    let inputs = [l.input(0)?, l.list(&size)?, l.list(&kernel)?];
    let attributes = [
        ("strides", Content::Ints(pair(l, "strides")?.to_vec().into())),
        ("dilations", Content::Ints(pair(l, "dilations")?.to_vec().into())),
        ("pads", Content::Ints(four_pads(l)?.to_vec().into())),
    ];
    Ok(vec![l.apply("Col2Im", &inputs, &attributes)?])
}

/// `temporal_shift`: some channels of each frame are those of the frame before, and as many those
/// of the next.
/// The beginnings and ends of the windows of an axis of a fractional pool, which lie as far apart
/// as a ratio of floats says, from the number `u` between 0 and 1 on; `size` of them is 0 if the
/// next one begins where a window ends.
fn fractional_windows(len: i64, count: i64, size: i64, u: f32) -> Vec<[i64; 2]> {
    let single = |value: i64| nearest_f32(Number::Int(value.into()));
    let whole = |x: f32| truncated(x.into()).and_then(|x| i64::try_from(x).ok()).unwrap_or(0);
    let (ratio, u) = if size > 0 {
        let steps = (count - 1).max(1);
        (single(len - size) / single(steps), u)
    } else {
        let (ratio, base) = (single(len) / single(count), single(len / count));
        let most =
            ((base + 2.0) / ratio - 1.0).min((single(len) + 1.0 - base) / ratio - (single(count) - 1.0));
        (ratio, u * most)
    };
    let edge = |index: i64| whole((single(index) + u) * ratio) - whole(u * ratio);
    let window = |index: i64| {
        let start = edge(index);
        let end = if size > 0 { start + size } else { edge(index + 1) };
        [start.clamp(0, len), end.clamp(0, len)]
    };
    (0..count).map(window).collect()
}

/// `fractional_max_pool2d` and the like: windows of an uneven step that a number decides.
pub fn fractional_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, u) = (l.input(0)?, l.float("random_u")?.unwrap_or(0.0));
    if u == 0.0 {
        return Err(cannot("a fractional pool of windows that are drawn at random"));
    }
    let counts = ints(l, "output_size")?;
    let sizes = l.attributes.ints("kernel_size")?.unwrap_or(&[]).to_vec();
    let dims = l.dims_of(0)?.get(2..).unwrap_or_default().to_vec();
    errors::expect_count("axes of the result", counts.len(), dims.len())?;
    let mut windows = Vec::new();
    for (axis, (len, &count)) in dims.into_iter().zip(&counts).enumerate() {
        let len = i64_of(len.ok_or_else(|| not_known(format!("size of axis {} of input 0", axis + 2)))?);
        let size = sizes.get(axis).copied().unwrap_or(0);
        let most = len.min(adaptive::MAX_WINDOWS);
        if !(1..=most).contains(&count) || !(0..=len).contains(&size) {
            return Err(errors::value("size of a fractional pool", count, format_args!("from 1 to {most}")));
        }
        windows.push(fractional_windows(len, count, size, nearest_f32(Number::Float(u))));
    }
    let [value, index] = adaptive::pool_with_index(l, x, &counts, Some(&windows))?;
    Ok(vec![value, l.cast(index, DType::I32)?])
}

/// `temporal_shift`: channels taken from the previous and the next frame.
pub fn temporal_shift(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (frames, ratio) = (l.attributes.int_or("seg_num", 1)?, l.float("shift_ratio")?.unwrap_or(0.25));
    let x = l.input(0)?;
    let (x, last) = channels_first(l, x)?;
    let at = if last { 3 } else { 1 };
    let channels = l.dims_of(0)?.get(at).copied().flatten();
    let channels = i64_of(channels.ok_or_else(|| not_known("number of channels".to_owned()))?);
    // The product is rounded to float32, and cut, as the program does.
    let count = |parts: f64| {
        let product = nearest_f32(Number::Float(nearest_f64(Number::Int(channels.into())) * parts));
        let whole = truncated(product.into()).unwrap_or(0).clamp(0, i128::from(channels));
        i64::try_from(whole).unwrap_or(0)
    };
    let (before, after) = (count(ratio), count(2.0 * ratio));
    let inner = l.apply("Shape", &[x], &[int("start", 1)])?;
    let outer = l.list(&[-1, frames])?;
    let y = of("Reshape", x, with("Concat", [outer.into(), inner.into()], [along(0)])).put(l)?;
    let sizes = l.list(&[before, after - before, channels - after])?;
    let parts = l.apply_many("Split", &[y, sizes], &[int("axis", 2)], 3)?;
    let (zero, axis) = (constant_like(l, 0.0)?, l.list(&[1])?);
    let mut shifted = Vec::new();
    for (part, by) in [(parts[0], 1), (parts[1], -1)] {
        // A negative pad takes a frame away.
        let pads = l.list(&[by, -by])?;
        shifted.push(l.apply("Pad", &[part, pads, zero, axis], &[])?);
    }
    shifted.push(parts[2]);
    let y = l.apply("Concat", &shifted, &[int("axis", 2)])?;
    let y = with("Reshape", [y.into(), f("Shape", x)], [int("allowzero", 1)]).put(l)?;
    Ok(vec![channels_last(l, y, last)?])
}

/// `deformable_conv`: inputs are the image, the offsets, the filter, and the mask.
pub fn deformable_conv(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.rank_of(0)? != 4 {
        return Err(cannot("deformable_conv of another rank than 4"));
    }
    let mut attributes = windows(l)?;
    attributes.push(int("offset_group", l.attributes.int_or("deformable_groups", 1)?));
    let inputs = [l.input(0)?, l.input(2)?, l.input(1)?, LoweredValue::NONE, l.maybe(3)];
    Ok(vec![l.apply("DeformConv", &inputs, &attributes)?])
}

/// `frame`: overlapping frames along the last axis, one a column, or along the first, one a row.
pub fn frame(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let (len, hop) = (l.attributes.int_or("frame_length", 1)?, l.attributes.int_or("hop_length", 1)?);
    let (len, hop) = (errors::at_least_1("frame_length", len)?, errors::at_least_1("hop_length", hop)?);
    let columns = l.attributes.int_or("axis", -1)? != 0;
    let axis = if columns { rank.saturating_sub(1) } else { 0 };
    let (step, length) = (l.list(&[hop])?, l.list(&[len])?);
    let count = ((size(l, x, axis)? - length) / step + 1.0).write(l, DType::I64)?;
    let first = positions(l, count)?;
    let first = (first * step).write(l, DType::I64)?;
    let within = positions(l, length)?;
    let shape: [&[i64]; 2] = if columns { [&[1, -1], &[-1, 1]] } else { [&[-1, 1], &[1, -1]] };
    let within = l.reshape(within, shape[1])?;
    Ok(vec![with("Gather", [x.into(), shaped(first, shape[0]) + within], [along(axis)]).put(l)?])
}
