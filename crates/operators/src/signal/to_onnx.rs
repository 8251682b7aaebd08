//! Conversion of Fourier transforms of OpenVINO to ONNX.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::indices;
use crate::lowering::terms::{f, ints, of, pick, whole};
use crate::lowering::{LoweredValue, Lowering, flag, int};

/// Transforms along several axes, one after the other; of real numbers, the last axis first, and of
/// results that are real, last.
pub fn dft(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let (mut x, rank) = (l.input(0)?, l.rank_of(0)?);
    let (real, to_real, inverse) = match &*l.node.operator.name {
        "RDFT" => (true, false, false),
        "IRDFT" => (false, true, true),
        name => (false, false, name == "IDFT"),
    };
    let axes = indices::axes(&l.integers(1)?, if real { rank } else { rank.saturating_sub(1) })?;
    let sizes = if l.has(2) { l.known_integers(2)? } else { Some(vec![-1; axes.len()]) };
    let last = l.list(&[-1])?;
    if real {
        x = l.apply("Unsqueeze", &[x, last], &[])?;
    }
    let mut order: Vec<_> = axes.into_iter().enumerate().collect();
    let final_axis = order.len().saturating_sub(1);
    if real {
        order.reverse();
    }
    for (place, axis) in order {
        let halved = (real || to_real) && place == final_axis;
        let len = match sizes.as_ref().map(|sizes| sizes.get(place).copied()) {
            Some(Some(-1) | None) => LoweredValue::NONE,
            Some(Some(size)) => l.scalar(size)?,
            None => given_size(l, place, axis, to_real && halved)?,
        };
        let axis = l.scalar(i64_of(axis))?;
        let attributes = [flag("inverse", inverse), flag("onesided", halved)];
        x = l.apply("DFT", &[x, len, axis], &attributes)?;
    }
    if to_real {
        x = l.apply("Squeeze", &[x, last], &[])?;
    }
    Ok(vec![x])
}

/// The size of an axis that a list names, of which -1 means the input's own; if it is `halved`,
/// that of the real numbers that it stands for.
fn given_size(l: &mut Lowering<'_>, place: usize, axis: usize, halved: bool) -> Result<LoweredValue> {
    let sizes = l.whole_list(2)?;
    let given = of("Gather", sizes, whole(i64_of(place))).write(l, DType::I64)?;
    let mut own = of("Gather", f("Shape", l.input(0)?), whole(i64_of(axis))).write(l, DType::I64)?;
    if halved {
        own = ((own - 1) * 2).write(l, DType::I64)?;
    }
    pick(of("Equal", given, -1), own, given).write(l, DType::I64)
}

/// Transforms of windows; a window that is shorter than its frame is centred between zeros.
pub fn stft(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let (mut signal, mut window, rank) = (l.input(0)?, l.input(1)?, l.rank_of(0)?);
    let (len, step) = (l.whole_scalar(2)?, l.whole_scalar(3)?);
    let own = l.known_size(1, 0).ok_or_else(|| l.unknown("size of the window"))?;
    let frame = l.integer(2)?;
    if own != frame {
        let more = frame.saturating_sub(own);
        window = of("Pad", window, ints(&[more / 2, more - more / 2])).put(l)?;
    }
    let first = l.list(&[0])?;
    if rank == 1 {
        signal = l.apply("Unsqueeze", &[signal, first], &[])?;
    }
    let mut y = l.apply("STFT", &[signal, step, window, len], &[int("onesided", 1)])?;
    if l.attributes.flag("transpose_frames", false)? {
        let order = ("perm", gradus_core::graph::Content::Ints([0i64, 2, 1, 3].into()));
        y = l.apply("Transpose", &[y], &[order])?;
    }
    if rank == 1 {
        y = l.apply("Squeeze", &[y, first], &[])?;
    }
    Ok(vec![y])
}
