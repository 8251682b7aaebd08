//! Operations of Fourier transforms, by the usual count of a fast transform of `n` complex numbers:
//! `5 n log2 n`, the logarithm rounded up. A transform to or from real numbers takes half.

use gradus_core::convert::counted;
use gradus_core::graph::Standard;

use super::Shapes;
use crate::dim::Dim;
use crate::operators::indices;

/// Operations of one transform; nothing if the number exceeds 63 bits.
fn transform(len: i64, is_real: bool) -> Option<i64> {
    let doublings = i64::from(u64::BITS - u64::try_from(len.max(1)).ok()?.saturating_sub(1).leading_zeros());
    let all = len.checked_mul(doublings)?.checked_mul(5)?;
    Some(if is_real { all / 2 } else { all })
}

impl Shapes<'_> {
    /// Operations of transforms on axes whose sizes are known.
    pub fn fourier(&mut self) -> Option<Dim> {
        let (axes, dims, is_real) = match self.standard {
            Standard::OpenVino => self.openvino_transform()?,
            Standard::Paddle => self.paddle_transform()?,
            Standard::Onnx => self.onnx_transform()?,
        };
        let known = axes.iter().map(|&axis| dims.get(axis)?.known());
        let len = known.collect::<Option<Vec<_>>>()?.into_iter().try_fold(1, i64::checked_mul)?;
        let lines = dims.iter().enumerate().filter(|(axis, _)| !axes.contains(axis)).map(|(_, dim)| *dim);
        let lines: Vec<_> = lines.collect();
        self.product(&lines, &[Dim::Known(transform(len, is_real)?)])
    }

    /// The transformed axis, all sizes without that of the parts of numbers, and whether one side is
    /// real.
    fn onnx_transform(&mut self) -> Option<(Vec<usize>, Vec<Dim>, bool)> {
        let (input, output) = (self.input(0)?, self.output()?);
        let rank = input.len();
        let axis = if self.has(2) {
            self.constant(2)?.first().copied()?
        } else {
            // The axes are batch, signal and parts; every version transforms the signal.
            self.attributes().int("axis").ok()?.or((rank == 3).then_some(1))?
        };
        let axis = counted(axis, rank)?;
        let is_real = input.last() == Some(&Dim::ONE) || output.last() == Some(&Dim::ONE);
        let mut dims = input.split_last()?.1.to_vec();
        let inverse = self.attributes().flag("inverse", false).ok()?;
        let one_sided = self.attributes().flag("onesided", false).ok()?;
        *dims.get_mut(axis)? = match self.constant(1) {
            Some(given) => Dim::Known(given.first().copied()?),
            None if self.has(1) => return None,
            None if inverse && one_sided => *output.get(axis)?,
            None => *input.get(axis)?,
        };
        Some((vec![axis], dims, is_real || one_sided))
    }

    fn paddle_transform(&mut self) -> Option<(Vec<usize>, Vec<Dim>, bool)> {
        let (input, output) = (self.input(0)?, self.output()?);
        let axes = indices::axes(self.attributes().ints("axes").ok()??, input.len()).ok()?;
        let back = &*self.node.operator.name == "fft_c2r";
        let is_real = back || &*self.node.operator.name == "fft_r2c";
        Some((axes, if back { output } else { input }.to_vec(), is_real))
    }

    fn openvino_transform(&mut self) -> Option<(Vec<usize>, Vec<Dim>, bool)> {
        let (input, output) = (self.input(0)?, self.output()?);
        // The side whose sizes are those of the transform.
        let (dims, is_real) = match &*self.node.operator.name {
            "RDFT" if self.has(2) => return None,
            "RDFT" => (input.to_vec(), true),
            "IRDFT" => (output.to_vec(), true),
            _ => (output.split_last()?.1.to_vec(), false),
        };
        let axes = self.constant(1)?.into_iter().map(|axis| counted(axis, dims.len()));
        Some((axes.collect::<Option<_>>()?, dims, is_real))
    }

    /// Operations of the transforms of frames, and of their products with a window.
    pub fn fourier_of_frames(&mut self) -> Option<Dim> {
        let output = self.output()?;
        let (frame, window, is_real) = match self.standard {
            Standard::OpenVino => (2, 1, true),
            _ => (3, 2, self.input(0)?.get(2).is_none_or(|&parts| parts == Dim::ONE)),
        };
        let len = match self.constant(frame) {
            Some(len) => len.first().copied()?,
            None => self.input(window).filter(|_| !self.has(frame))?.first()?.known()?,
        };
        let transposed =
            self.standard == Standard::OpenVino && self.attributes().flag("transpose_frames", false).ok()?;
        // The axes at the end are frames, frequencies and parts of numbers.
        let frequencies = output.len().checked_sub(if transposed { 3 } else { 2 })?;
        let (_, kept) = output.split_last()?;
        let frames = kept.iter().enumerate().filter(|&(axis, _)| axis != frequencies).map(|(_, dim)| *dim);
        let frames: Vec<_> = frames.collect();
        let weights = if self.has(window) { len.checked_mul(if is_real { 1 } else { 2 })? } else { 0 };
        self.product(&frames, &[Dim::Known(transform(len, is_real)?.checked_add(weights)?)])
    }
}
