//! Images and windows in forms that ONNX does not have, as graphs of its operators.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{Result, Tensor};

use crate::contrib::values::{channels_second, given};
use crate::lowering::terms::{f, ints, of, with};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::words;
use crate::{errors, indices};

/// `GridSample`, whose modes have other names.
pub fn grid_sample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mode = match words::RUNTIME_GRID_MODE.of(&l.attributes)? {
        "bilinear" => "linear",
        "bicubic" => "cubic",
        nearest => nearest,
    };
    let mut attributes = given(l, &["align_corners", "padding_mode"]);
    attributes.push(("mode", Content::Bytes(mode.into())));
    let (x, grid) = (l.input(0)?, l.input(1)?);
    Ok(vec![l.apply("GridSample", &[x, grid], &attributes)?])
}

/// `UnfoldTensor`: the windows of an axis, the elements of each along a new last axis.
pub fn unfold(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let axis = indices::axis(l.attributes.int_or("dim", -1)?, rank)?;
    let size = errors::at_least_1("size", l.attributes.int_or("size", 0)?)?;
    let step = errors::at_least_1("step", l.attributes.int_or("step", 1)?)?;
    let (zero, one) = (l.constant(Tensor::scalar(0i64))?, l.constant(Tensor::scalar(1i64))?);
    let (size, step) = (l.constant(Tensor::scalar(size))?, l.constant(Tensor::scalar(step))?);
    let index = l.constant(Tensor::scalar(i64_of(axis)))?;
    let rest = (of("Gather", f("Shape", x), index) - size).put(l)?;
    let starts = with("Range", [zero.into(), rest + one, step.into()], []).put(l)?;
    let starts = of("Unsqueeze", starts, ints(&[-1])).put(l)?;
    let offsets = l.apply("Range", &[zero, size, one], &[])?;
    let windows = with("Gather", [x.into(), starts + offsets], [int("axis", i64_of(axis))]).put(l)?;
    // The offsets are the axis after that of the windows.
    let mut perm: Vec<_> = (0..=i64_of(rank)).collect();
    perm[axis + 1..].rotate_left(1);
    Ok(vec![l.transposed(windows, &perm)?])
}

/// A value with the last axis moved to index 1.
pub fn channels_second_of(l: &mut Lowering<'_>, rank: usize, value: LoweredValue) -> Result<LoweredValue> {
    let mut perm: Vec<_> = (0..i64_of(rank)).collect();
    if let Some(rest) = perm.get_mut(1..) {
        rest.rotate_right(1.min(rest.len()));
    }
    l.transposed(value, &perm)
}

/// `NhwcMaxPool`: `MaxPool` of data with the channels last.
pub fn nhwc_max_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let names = &["auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"];
    let attributes = given(l, names);
    let value = channels_second(l, rank, true, x, |l, x| l.apply("MaxPool", &[x], &attributes))?;
    Ok(vec![value])
}
