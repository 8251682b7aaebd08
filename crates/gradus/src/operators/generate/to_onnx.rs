//! Conversion of Fourier transforms of OpenVINO to ONNX.

use gradus_core::Result;
use gradus_core::convert::i64_of;

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::not_known;
use crate::conversion::to_onnx::{flag, int};
use crate::conversion::writer::{NONE, NewValue};
use crate::operators::indices;

/// Transforms along several axes, one after the other; of real numbers, the last axis first, and of
/// results that are real, last.
pub(crate) fn dft(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let (mut x, rank) = (cx.input(0)?, cx.rank(0)?);
    let (real, to_real, inverse) = match &*cx.node.operator.name {
        "RDFT" => (true, false, false),
        "IRDFT" => (false, true, true),
        name => (false, false, name == "IDFT"),
    };
    let axes = indices::axes(&cx.integers(1)?, if real { rank } else { rank.saturating_sub(1) })?;
    let sizes = if cx.has(2) { cx.known_integers(2)? } else { Some(vec![-1; axes.len()]) };
    let last = cx.list(&[-1]);
    if real {
        x = cx.put("Unsqueeze", &[x, last], &[])?;
    }
    let mut order: Vec<_> = axes.into_iter().enumerate().collect();
    let final_axis = order.len().saturating_sub(1);
    if real {
        order.reverse();
    }
    for (place, axis) in order {
        let halved = (real || to_real) && place == final_axis;
        let len = match sizes.as_ref().map(|sizes| sizes.get(place).copied()) {
            Some(Some(-1) | None) => NONE,
            Some(Some(size)) => cx.scalar(size),
            None => given_size(cx, place, axis, to_real && halved)?,
        };
        let axis = cx.scalar(i64_of(axis));
        let attributes = [flag("inverse", inverse), flag("onesided", halved)];
        x = cx.put("DFT", &[x, len, axis], &attributes)?;
    }
    if to_real {
        x = cx.put("Squeeze", &[x, last], &[])?;
    }
    Ok(vec![x])
}

/// The size of an axis that a list names, of which -1 means the input's own; if it is `halved`,
/// that of the real numbers that it stands for.
fn given_size(cx: &mut ConvertContext<'_, '_>, place: usize, axis: usize, halved: bool) -> Result<NewValue> {
    let (place, axis) = (cx.scalar(i64_of(place)), cx.scalar(i64_of(axis)));
    let (x, sizes, none) = (cx.input(0)?, cx.whole_list(2)?, cx.scalar(-1));
    let given = cx.put("Gather", &[sizes, place], &[])?;
    let dims = cx.sizes(x)?;
    let mut own = cx.put("Gather", &[dims, axis], &[])?;
    if halved {
        let less = cx.put("Add", &[own, none], &[])?;
        own = cx.put("Add", &[less, less], &[])?;
    }
    let is_own = cx.put("Equal", &[given, none], &[])?;
    cx.put("Where", &[is_own, own, given], &[])
}

/// Transforms of windows; a window that is shorter than its frame stands in the middle of zeros.
pub(crate) fn stft(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let (mut signal, mut window, rank) = (cx.input(0)?, cx.input(1)?, cx.rank(0)?);
    let (len, step) = (cx.whole_scalar(2)?, cx.whole_scalar(3)?);
    let own = cx.known_size(1, 0).ok_or_else(|| not_known("size of the window"))?;
    let frame = cx.integer(2)?;
    if own != frame {
        let more = frame.saturating_sub(own);
        let pads = cx.list(&[more / 2, more - more / 2]);
        window = cx.put("Pad", &[window, pads], &[])?;
    }
    let first = cx.list(&[0]);
    if rank == 1 {
        signal = cx.put("Unsqueeze", &[signal, first], &[])?;
    }
    let mut y = cx.put("STFT", &[signal, step, window, len], &[int("onesided", 1)])?;
    if cx.attributes.flag("transpose_frames", false)? {
        let order = ("perm", gradus_core::graph::Content::Ints([0, 2, 1, 3].into()));
        y = cx.put("Transpose", &[y], &[order])?;
    }
    if rank == 1 {
        y = cx.put("Squeeze", &[y, first], &[])?;
    }
    Ok(vec![y])
}
