//! Fourier transforms in the operators of OpenVINO.

use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::say;
use crate::conversion::writer::{NONE, NewValue};

/// An input of one integer as a list, if it is given.
fn length(cx: &mut ConvertContext<'_, '_>, input: usize) -> Result<NewValue> {
    if !cx.has(input) {
        return Ok(NONE);
    }
    let value = cx.input(input)?;
    cx.reshaped(value, &[1])
}

/// Transforms of numbers whose parts are the last axis, which OpenVINO lacks where they are real.
pub fn dft(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let rank = cx.rank(0)?;
    let axis = if cx.has(2) { cx.integer(2)? } else { -2 };
    let axis = cx.axis(axis, 0)?;
    let (one_sided, inverse) =
        (cx.attributes.flag("onesided", false)?, cx.attributes.flag("inverse", false)?);
    let parts = cx.known_size(0, rank - 1).ok_or_else(|| not_known("number of parts of elements"))?;
    let (mut x, len, axes, last) =
        (cx.input(0)?, length(cx, 1)?, cx.list(&[i64::try_from(axis).unwrap_or(0)]), cx.list(&[-1]));
    if one_sided && !inverse {
        if parts != 1 {
            return Err(cannot("OpenVINO has no equivalent of DFT with onesided=1 of complex numbers"));
        }
        let x = cx.put("Squeeze", &[x, last], &[])?;
        return Ok(vec![cx.put("RDFT", &[x, axes, len], &[])?]);
    }
    if parts == 1 {
        let dtype = cx.dtype(0)?;
        let (zero, sizes) = (cx.number(0.0, dtype)?, cx.shape_of(x)?);
        let imaginary = cx.put("Broadcast", &[zero, sizes], &[say("mode", "numpy")])?;
        x = cx.put("Concat", &[x, imaginary], &[say("axis", rank - 1)])?;
    }
    if one_sided {
        let y = cx.put("IRDFT", &[x, axes, len], &[])?;
        return Ok(vec![cx.put("Unsqueeze", &[y, last], &[])?]);
    }
    Ok(vec![cx.put(if inverse { "IDFT" } else { "DFT" }, &[x, axes, len], &[])?])
}

/// Transforms of windows of real signals.
pub fn stft(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let mut signal = cx.input(0)?;
    if !cx.attributes.flag("onesided", true)? {
        return Err(cannot("OpenVINO has no equivalent of STFT with onesided=0"));
    }
    if cx.rank(0)? == 3 {
        if cx.known_size(0, 2) != Some(1) {
            return Err(cannot("OpenVINO has no equivalent of STFT of complex numbers"));
        }
        let last = cx.list(&[-1]);
        signal = cx.put("Squeeze", &[signal, last], &[])?;
    }
    let step = cx.scalar_input(1)?;
    let dtype = cx.dtype(0)?;
    let (window, len) = match (cx.has(2), cx.has(3)) {
        (true, true) => (cx.input(2)?, cx.scalar_input(3)?),
        (true, false) => {
            let window = cx.input(2)?;
            let len = cx.shape_of(window)?;
            (window, cx.reshaped(len, &[])?)
        }
        (false, given) => {
            let len = if given {
                cx.scalar_input(3)?
            } else {
                let sizes = cx.shape_of(signal)?;
                let len = cx.sliced(sizes, 1, 2)?;
                cx.reshaped(len, &[])?
            };
            let (one, list) = (cx.number(1.0, dtype)?, cx.reshaped(len, &[1])?);
            (cx.put("Broadcast", &[one, list], &[say("mode", "numpy")])?, len)
        }
    };
    if dtype == DType::F64 {
        return Err(cannot("OpenVINO has no equivalent of STFT of float64"));
    }
    Ok(vec![cx.put("STFT", &[signal, window, len, step], &[say("transpose_frames", false)])?])
}
