//! Convolutions of few filters in a group, as depthwise ones are: sums over shifted planes.
//!
//! Each plane is written in float64 with its padding, and by the remainders of the strides, so that
//! the elements below a tap of neighbouring windows are neighbours. The windows of a plane are then
//! one line of sums, to which each tap adds a line; at the end of a line of windows are some sums
//! that nobody reads.

use gradus_core::Result;
use gradus_core::convert::{FromNumber, product, usize_of_i64};
use gradus_kernels::Options;
use gradus_kernels::product::{Rows, add_shifted};
use rayon::prelude::*;

use crate::op::EvalContext;
use crate::operators::floats::Numbers;
use crate::operators::nn::windows::{Axis, Columns, Convolution, Taps};

/// Filters of a group below which packing takes longer than multiplying.
const FEW: usize = 4;

/// Most elements of a written plane: those of larger ones leave the second cache.
const MOST: usize = 1 << 17;

/// How planes are written, and where in them the taps lie.
pub(super) struct Shifted {
    /// The axes, with the remainders of the strides as taps.
    axes: Vec<Axis>,
    /// Elements of a written plane by remainder, and of all remainders.
    each: usize,
    all: usize,
    /// Elements from a window to the next one along each axis.
    pitches: Vec<usize>,
    /// The place of each tap of the first window.
    places: Vec<usize>,
    /// Elements from the first window to the last one.
    used: usize,
}

impl Shifted {
    /// The planes of a convolution; nothing if it has one group or many filters in each, or if planes
    /// are large, or dilations and padding make them much larger than the input and the output.
    pub(super) fn of(convolution: &Convolution) -> Option<Shifted> {
        let own = &convolution.axes;
        let few = convolution.groups > 1 && convolution.filters / convolution.groups < FEW;
        if !few || own.iter().any(|axis| axis.transposed) {
            return None;
        }
        let usual = own.iter().fold(8usize, |all, axis| all.saturating_mul(axis.size + axis.windows));
        let (mut axes, mut steps) = (Vec::new(), Vec::new());
        let (mut each, mut remainders) = (1usize, 1usize);
        for axis in own {
            let (stride, dilation) = (usize_of_i64(axis.stride)?, usize_of_i64(axis.dilation)?);
            let reach = axis.kernel.checked_sub(1)?.checked_mul(dilation)?;
            let windows = axis.windows.checked_add(reach / stride)?;
            axes.push(Axis { windows, kernel: stride, dilation: 1, ..*axis });
            steps.push((stride, dilation));
            (each, remainders) = (each.checked_mul(windows)?, remainders.checked_mul(stride)?);
        }
        let all = each.checked_mul(remainders).filter(|&all| all <= usual.min(MOST))?;
        // By tap, the number of the remainder and the place within it.
        let (mut pitch, mut count) = (each, remainders);
        let (mut pitches, mut places, mut used) = (Vec::new(), vec![0], 1);
        for ((axis, own), (stride, dilation)) in axes.iter().zip(own).zip(steps) {
            (pitch, count) = (pitch / axis.windows, count / stride);
            let place = |tap: usize| {
                let at = tap * dilation;
                at % stride * count * each + at / stride * pitch
            };
            places =
                places.iter().flat_map(|first| (0..own.kernel).map(move |tap| first + place(tap))).collect();
            pitches.push(pitch);
            used += (own.windows - 1) * pitch;
        }
        Some(Shifted { axes, each, all, pitches, places, used })
    }

    /// The sums of all windows and filters: see [`Convolution::run`].
    pub(super) fn run<T: FromNumber>(
        &self,
        of: &Convolution,
        cx: &mut EvalContext<'_>,
        [x, weights]: [Numbers<'_>; 2],
        finish: impl Fn(usize, &[f64], &mut [T]) + Sync,
    ) -> Result<Vec<T>> {
        let windows: Vec<_> = of.axes.iter().map(|axis| axis.windows).collect();
        let (line, lines) = windows.split_last().map_or((1, &[][..]), |(&line, lines)| (line, lines));
        let (inner, outer) = (of.channels / of.groups, of.filters / of.groups);
        let (count, size): (usize, usize) =
            (windows.iter().product(), of.axes.iter().map(|axis| axis.size).product());
        let depth = inner * self.places.len();
        let all = of.batch * of.filters * count;
        cx.run.touch(product(all, depth))?;
        let scratch = product(self.all + outer * self.each + depth * outer, size_of::<f64>());
        cx.reserve(scratch.saturating_mul(product(rayon::current_num_threads(), 1)))?;
        cx.reserve(product(all, size_of::<T>()) + Taps::bytes(&self.axes))?;
        let mut results = vec![T::from_f64(0.0); all];
        let (exact, limits) = (x.are_singles() && weights.are_singles(), cx.limits());
        let taps = Taps::of(&self.axes);
        let group = |(plane, sums, factors): &mut (Vec<f64>, Vec<f64>, Vec<f64>),
                     (at, out): (usize, &mut [T])| {
            let planes = x.range(at * inner * size..(at + 1) * inner * size);
            let columns = Columns { axes: &taps, planes, taps: self.all / self.each, size };
            weights.read(at % of.groups * outer * depth, 1, factors);
            sums.fill(0.0);
            for channel in 0..inner {
                limits.check()?;
                for (remainder, plane) in plane.chunks_mut(self.each).enumerate() {
                    columns.read(channel * columns.taps + remainder, 0, plane);
                }
                for (sums, factors) in sums.chunks_mut(self.each).zip(factors.chunks(depth)) {
                    let factors = &factors[channel * self.places.len()..][..self.places.len()];
                    add_shifted(
                        exact,
                        factors,
                        plane,
                        &self.places,
                        &mut sums[..self.used],
                        Options::default(),
                    );
                }
            }
            for (at_line, out) in out.chunks_mut(line).enumerate() {
                let (mut rest, mut place) = (at_line, 0);
                for (&windows, pitch) in lines.iter().zip(&self.pitches).rev() {
                    place += rest % windows * pitch;
                    rest /= windows;
                }
                let sums = &mut sums[rest * self.each + place..][..line];
                for x in &mut *sums {
                    *x = if x.is_nan() { f64::NAN } else { *x };
                }
                finish(at % of.groups * outer + rest, sums, out);
            }
            Ok(())
        };
        let scratch = || (vec![0.0; self.all], vec![0.0; outer * self.each], vec![0.0; depth * outer]);
        results.par_chunks_mut(outer * count).enumerate().try_for_each_init(scratch, group)?;
        Ok(results)
    }
}
