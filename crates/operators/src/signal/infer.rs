//! Rules of operators on signals: windows, Fourier transforms, the mel scale.

use gradus_core::DType;
use gradus_core::convert::i64_of;

use crate::dim::Relation;
use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::infer::{InferContext, InferError, InferResult};
use crate::{errors, indices};

/// Shape of `HannWindow` and the other windows: the size.
pub fn window(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.attributes.dtype("output_datatype")?.unwrap_or(DType::F32);
    cx.one_element(0)?;
    let size = cx.integer_or(0, "the size is not known before the run");
    Ok(vec![Fact::typed(dtype, [size])])
}

/// Shape of `MelWeightMatrix`: half of the spectrum by the number of bins.
pub fn mel_weights(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.attributes.dtype("output_datatype")?.unwrap_or(DType::F32);
    (0..5).try_for_each(|input| cx.one_element(input))?;
    let bins = cx.integer_or(0, "the number of bins is not known before the run");
    let spectrum = match cx.integer(1) {
        Some(len) => half(cx, len),
        None => cx.data("the length is not known before the run", Bounds::SIZE),
    };
    Ok(vec![Fact::typed(dtype, [spectrum, bins])])
}

/// Frequencies of a real signal: the others mirror them.
pub fn half(cx: &mut InferContext<'_, '_>, len: Dim) -> Dim {
    let half = cx.floor_divide(len, Dim::Known(2));
    cx.add(half, Dim::ONE)
}

/// Requires that numbers are real or complex, by the size of their axis.
fn parts(cx: &mut InferContext<'_, '_>, size: Dim) -> Result<(), InferError> {
    match size {
        Dim::Known(1 | 2) => {}
        Dim::Known(other) => return Err(errors::shape("size of the last axis", other, "1 or 2").into()),
        Dim::Symbolic(_) => {
            cx.require(size, Relation::AtLeast, Dim::ONE);
            cx.require(size, Relation::AtMost, Dim::Known(2));
        }
    }
    Ok(())
}

/// Shape of `DFT`: the input's, with the length of the transform along its axis.
pub fn dft(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let rank = dims.len();
    if rank < 2 {
        return Err(errors::rank(cx.input_label(0), rank, "at least 2").into());
    }
    parts(cx, dims[rank - 1])?;
    [1, 2].into_iter().try_for_each(|input| cx.one_element(input))?;
    let (one_sided, inverse) =
        (cx.attributes.flag("onesided", false)?, cx.attributes.flag("inverse", false)?);
    if one_sided {
        let wanted = if inverse { 2 } else { 1 };
        let what = format_args!("size of the last axis of {}", cx.input_label(0));
        cx.equal(dims[rank - 1], Dim::Known(wanted), what)?;
    }
    let axis = if cx.has(2) { cx.known_integers(2).and_then(|axis| axis.first().copied()) } else { Some(-2) };
    let Some(axis) = axis else {
        cx.require_axes(2, rank);
        for axis in cx.told_integers(2) {
            // The last axis is that of the parts of numbers.
            cx.require(axis, Relation::NotEqual, Dim::Known(-1));
            cx.require(axis, Relation::NotEqual, Dim::Known(i64_of(rank) - 1));
        }
        let dims = cx.any_dims("the axis is not known before the run", rank);
        return Ok(vec![Fact::shaped(dims)]);
    };
    let axis = indices::axis(axis, rank)?;
    if axis == rank - 1 {
        return Err(errors::value("axis", axis, "another axis than that of the parts of numbers").into());
    }
    let len = match (cx.has(1), cx.integer(1)) {
        (false, _) => {
            // The other half of an input of one side is not counted.
            if inverse && one_sided {
                let less = cx.subtract(dims[axis], Dim::ONE);
                cx.multiply(less, Dim::Known(2))
            } else {
                dims[axis]
            }
        }
        (true, Some(Dim::Known(len))) if len < 1 => {
            return Err(errors::value("dft_length", len, "at least 1").into());
        }
        (true, Some(len)) => {
            cx.require(len, Relation::AtLeast, Dim::ONE);
            len
        }
        (true, None) => cx.data("the length is not known before the run", Bounds::SIZE),
    };
    let mut all = dims.to_vec();
    all[axis] = if one_sided && !inverse { half(cx, len) } else { len };
    all[rank - 1] = if one_sided && inverse { Dim::ONE } else { Dim::Known(2) };
    Ok(vec![Fact::shaped(all)])
}

/// Shape of `STFT`: batch, frames, frequencies, and two parts.
pub fn stft(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let (batch, signal) = match *dims {
        [batch, signal] => (batch, signal),
        [batch, signal, last] => {
            parts(cx, last)?;
            (batch, signal)
        }
        _ => return Err(errors::rank("the signal", dims.len(), "2 or 3").into()),
    };
    [1, 3].into_iter().try_for_each(|input| cx.one_element(input))?;
    cx.dims_of_known_rank(2, 1)?;
    let step = cx.integer(1);
    let frame = match (cx.has(3), cx.integer(3), cx.has(2)) {
        (true, Some(len), _) => Some(len),
        (true, None, _) => None,
        (false, _, true) => cx.known_dims(2).and_then(|dims| dims.first().copied()),
        (false, _, false) => Some(signal),
    };
    if let Some(step) = step.and_then(Dim::known).filter(|&step| step < 1) {
        return Err(errors::value("frame_step", step, "at least 1").into());
    }
    let (Some(step), Some(frame)) = (step, frame) else {
        let [frames, bins] = ["the frames", "their length"].map(|what| cx.data(what, Bounds::SIZE));
        return Ok(vec![Fact::shaped([batch, frames, bins, Dim::Known(2)])]);
    };
    cx.same_shape(2, &[frame])?;
    match (signal, frame) {
        (_, Dim::Known(frame)) if frame < 1 => {
            return Err(errors::value("length of a frame", frame, "at least 1").into());
        }
        (Dim::Known(signal), Dim::Known(frame)) if frame > signal => {
            let wanted = format_args!("at most {signal}, the length of the signal");
            return Err(errors::shape("length of a frame", frame, wanted).into());
        }
        _ => {
            cx.require(frame, Relation::AtLeast, Dim::ONE);
            cx.require(signal, Relation::AtLeast, frame);
        }
    }
    let room = cx.subtract(signal, frame);
    let steps = cx.floor_divide(room, step);
    let frames = cx.add(steps, Dim::ONE);
    let bins = if cx.attributes.flag("onesided", true)? { half(cx, frame) } else { frame };
    Ok(vec![Fact::shaped([batch, frames, bins, Dim::Known(2)])])
}
