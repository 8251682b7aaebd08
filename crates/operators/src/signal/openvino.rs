//! Rules of OpenVINO's Fourier transforms.

use crate::dim::{Bounds, Dim};
use crate::indexing::infer::like_first;
use crate::infer::{InferContext, InferResult};
use crate::signal::infer::half;
use crate::{errors, indices};

/// The input's dimensions, but where sizes are given along axes. `RDFT` halves the last named axis,
/// and adds one of real and imaginary parts; `IRDFT` undoes that.
pub fn transformed(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (from_real, to_real) = match &*cx.node.operator.name {
        "RDFT" => (true, false),
        name => (false, name == "IRDFT"),
    };
    let mut all = cx.dims(0)?.to_vec();
    if !from_real {
        let parts = all.pop().ok_or_else(|| errors::rank("input 0", 0, "at least 1"))?;
        cx.equal(parts, Dim::Known(2), "size of the last axis of input 0")?;
    }
    let rank = all.len();
    let axes = cx.known_integers(1).map(|axes| indices::axes(&axes, rank)).transpose()?;
    let sizes = if cx.has(2) { cx.integers(2).map(|sizes| sizes.to_vec()) } else { Some(Vec::new()) };
    match (axes, sizes) {
        (Some(axes), Some(sizes)) => {
            let last = axes.last().copied().unwrap_or_default();
            for (place, &axis) in axes.iter().enumerate() {
                match sizes.get(place) {
                    None | Some(Dim::Known(-1)) if to_real && axis == last => {
                        let less = cx.subtract(all[axis], Dim::ONE);
                        all[axis] = cx.multiply(less, Dim::Known(2));
                    }
                    None | Some(Dim::Known(-1)) => {}
                    Some(&size) if size.known().is_some() || cx.symbols().at_least(size, 0) => {
                        all[axis] = size;
                    }
                    Some(_) => {
                        all[axis] = cx.data("a size that may be -1, which is the input's", Bounds::SIZE);
                    }
                }
            }
            if from_real && !axes.is_empty() {
                all[last] = half(cx, all[last]);
            }
        }
        (None, Some(sizes)) if sizes.is_empty() && !from_real && !to_real => {}
        _ => all = cx.any_dims("the sizes are not known before the run", rank),
    }
    if !to_real {
        all.push(Dim::Known(2));
    }
    like_first(cx, all)
}

/// Windows of a signal, as real and imaginary parts of half of their frequencies.
pub fn windows_transformed(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let Some((&signal, batch)) = dims.split_last() else {
        return Err(errors::rank("input 0", 0, "1 or 2").into());
    };
    let mut all = batch.to_vec();
    let (frame, step) = (cx.integer(2), cx.integer(3));
    let [mut frames, mut bins] = ["the frames", "their length"].map(|what| cx.data(what, Bounds::SIZE));
    if let (Some(frame), Some(step)) = (frame, step) {
        let room = cx.subtract(signal, frame);
        let steps = cx.floor_divide(room, step);
        frames = cx.add(steps, Dim::ONE);
        bins = half(cx, frame);
    }
    let across = cx.attributes.flag("transpose_frames", false)?;
    all.extend(if across { [bins, frames] } else { [frames, bins] });
    all.push(Dim::Known(2));
    like_first(cx, all)
}
