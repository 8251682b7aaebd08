//! Convolutions over shifted planes.
//!
//! Each plane is written with its padding, and by the remainders of the strides, so that the elements
//! below a tap of neighbouring windows are neighbours. Products of matrices pack lines of them.
//!
//! With few filters in a group, as in depthwise convolutions, the windows of a plane are one line
//! of sums, to which each tap adds a line; at the end of a line of windows are some sums that are
//! not read.

use gradus_core::Result;
use gradus_core::convert::{FromNumber, product, usize_of_i64};
use gradus_kernels::product::{Rows, Term, add_shifted, one_nan};
use gradus_kernels::{Options, product as kernel, share, threads};

use crate::floats::Numbers;
use crate::op::EvalContext;
use crate::strided::{each_at, threads_for};
use crate::windows::axes::{Axis, AxisTaps};
use crate::windows::convolutions::{Columns, Convolution};

/// Filters of a group below which packing takes longer than multiplying.
const FEW: usize = 4;

/// Maximum number of elements of a written plane: those of larger ones leave the second cache.
const MAX_PLANE: usize = 1 << 17;

/// How planes are written, and where in them the taps lie.
pub(super) struct PlaneLayout {
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

/// Planes that are written so, and the first element of each line of windows.
pub(super) struct Planes {
    layout: PlaneLayout,
    elements: PlaneElements,
    starts: Vec<usize>,
    line: usize,
}

enum PlaneElements {
    Singles(Vec<[u8; 4]>),
    Doubles(Vec<f64>),
}

impl Planes {
    /// The elements below the windows of a product, of the channels from one on.
    pub(super) fn shifted(&self, channel: usize, channels: usize) -> kernel::Shifted<'_> {
        let all = match &self.elements {
            PlaneElements::Singles(all) => Numbers::Singles(all),
            PlaneElements::Doubles(all) => Numbers::Doubles(all),
        };
        let plane = self.layout.all;
        kernel::Shifted {
            planes: all.range(channel * plane..(channel + channels) * plane + kernel::SPARE),
            plane,
            places: &self.layout.places,
            starts: &self.starts,
            line: self.line,
        }
    }
}

impl PlaneLayout {
    /// The planes of a convolution; nothing if it is transposed, or if dilations and padding make
    /// planes much larger than the input and the output.
    pub(super) fn of(convolution: &Convolution) -> Option<PlaneLayout> {
        let own = &convolution.axes;
        if own.iter().any(|axis| axis.transposed) {
            return None;
        }
        let len = |of: fn(&Axis) -> usize| own.iter().fold(2usize, |all, axis| all.saturating_mul(of(axis)));
        let usual = len(|axis| axis.size).saturating_add(len(|axis| axis.windows));
        let (mut axes, mut steps) = (Vec::new(), Vec::new());
        let (mut each, mut remainders) = (1usize, 1usize);
        for axis in own {
            let (stride, dilation) = (usize_of_i64(axis.stride)?, usize_of_i64(axis.dilation)?);
            let reach = axis.kernel.checked_sub(1)?.checked_mul(dilation)?;
            let windows = axis.windows.checked_add(reach / stride)?;
            // No tap has a remainder beyond its reach.
            let kernel = stride.min(reach + 1);
            axes.push(Axis { windows, kernel, dilation: 1, ..*axis });
            steps.push((stride, dilation));
            (each, remainders) = (each.checked_mul(windows)?, remainders.checked_mul(kernel)?);
        }
        let all = each.checked_mul(remainders).filter(|&all| all <= usual)?;
        // By tap, the number of the remainder and the place within it.
        let (mut pitch, mut count) = (each, remainders);
        let (mut pitches, mut places, mut used) = (Vec::new(), vec![0], 1);
        for ((axis, own), (stride, dilation)) in axes.iter().zip(own).zip(steps) {
            (pitch, count) = (pitch / axis.windows, count / axis.kernel);
            let place = |tap: usize| {
                let at = tap * dilation;
                at % stride * count * each + at / stride * pitch
            };
            places =
                places.iter().flat_map(|first| (0..own.kernel).map(move |tap| first + place(tap))).collect();
            pitches.push(pitch);
            used += (own.windows - 1) * pitch;
        }
        Some(PlaneLayout { axes, each, all, pitches, places, used })
    }

    /// Returns true if adding plane by plane is faster than a product: there are several groups of few
    /// filters, and a plane stays in the second cache.
    pub(super) fn is_direct(&self, convolution: &Convolution) -> bool {
        let few = convolution.filters / convolution.groups < FEW;
        convolution.groups > 1 && few && self.all <= MAX_PLANE
    }

    /// The place of the first window of each line.
    fn starts(&self, of: &Convolution) -> Vec<usize> {
        let outer = of.axes.split_last().map_or(&[][..], |(_, outer)| outer);
        outer.iter().zip(&self.pitches).fold(vec![0], |all, (axis, pitch)| {
            all.iter().flat_map(|first| (0..axis.windows).map(move |at| first + at * pitch)).collect()
        })
    }

    /// Writes the planes of all channels of the input.
    pub(super) fn write(self, of: &Convolution, cx: &EvalContext<'_>, x: Numbers<'_>) -> Result<Planes> {
        let (planes, limits) = (of.batch * of.channels, cx.limits());
        let size: usize = of.axes.iter().map(|axis| axis.size).product();
        let line = of.axes.last().map_or(1, |axis| axis.windows);
        let lines = of.axes.iter().map(|axis| axis.windows).product::<usize>() / line;
        let width = if let Numbers::Singles(_) = x { size_of::<f32>() } else { size_of::<f64>() };
        let threads = product(threads(), 1);
        // A list of starts is made from a shorter one.
        cx.reserve(AxisTaps::bytes(&self.axes) + product(lines, 2 * size_of::<usize>()))?;
        cx.reserve(product(planes, self.all).saturating_add(product(kernel::SPARE, 1)) * product(width, 1))?;
        cx.reserve(product(self.each, size_of::<f64>()).saturating_mul(threads))?;
        let taps = AxisTaps::of(&self.axes);
        let columns = Columns { axes: &taps, planes: x, taps: self.all / self.each, size };
        let len = planes * self.all + kernel::SPARE;
        let options = threads_for(product(len, 1));
        let elements = match x {
            Numbers::Singles(_) => {
                let mut out = vec![[0; 4]; len];
                let plane = |singles: &mut Vec<f32>, (at, out): (usize, &mut [[u8; 4]])| {
                    limits.check()?;
                    let singles = &mut singles[..out.len()];
                    columns.read(at, 0, singles);
                    let singles = &*singles;
                    each_at(
                        out,
                        #[inline(always)]
                        move |at| singles[at].to_ne_bytes(),
                    );
                    Ok::<_, gradus_core::Error>(())
                };
                let scratch = || vec![0f32; self.each];
                let all = out[..planes * self.all].chunks_mut(self.each);
                share(all.enumerate(), options, scratch, plane)?;
                PlaneElements::Singles(out)
            }
            Numbers::Doubles(_) => {
                let mut out = vec![0.0; len];
                let plane = |(): &mut (), (at, out): (usize, &mut [f64])| {
                    limits.check()?;
                    columns.read(at, 0, out);
                    Ok::<_, gradus_core::Error>(())
                };
                share(out[..planes * self.all].chunks_mut(self.each).enumerate(), options, || (), plane)?;
                PlaneElements::Doubles(out)
            }
        };
        Ok(Planes { starts: self.starts(of), layout: self, elements, line })
    }

    /// The sums of all windows and filters: see [`Convolution::run`].
    pub(super) fn run<T: FromNumber, E: Term>(
        &self,
        of: &Convolution,
        cx: &mut EvalContext<'_>,
        [x, weights]: [Numbers<'_>; 2],
        finish: impl Fn(usize, &[f64], &mut [T]) + Sync,
    ) -> Result<Vec<T>> {
        let windows: Vec<_> = of.axes.iter().map(|axis| axis.windows).collect();
        let line = windows.last().copied().unwrap_or(1);
        let (inner, outer) = (of.channels / of.groups, of.filters / of.groups);
        let (count, size): (usize, usize) =
            (windows.iter().product(), of.axes.iter().map(|axis| axis.size).product());
        let depth = inner * self.places.len();
        let all = of.batch * of.filters * count;
        cx.run.touch(product(all, depth))?;
        let scratch = product(self.all + outer * self.each + depth * outer + line, size_of::<f64>());
        cx.reserve(scratch.saturating_mul(product(threads(), 1)))?;
        cx.reserve(product(all, size_of::<T>()) + AxisTaps::bytes(&self.axes))?;
        let mut results = vec![T::from_f64(0.0); all];
        let (exact, limits) = (x.are_singles() && weights.are_singles(), cx.limits());
        cx.reserve(product(count / line, 2 * size_of::<usize>()))?;
        let (taps, starts) = (AxisTaps::of(&self.axes), self.starts(of));
        let group = |(plane, sums, factors, wide): &mut (Vec<E>, Vec<E>, Vec<E>, Vec<f64>),
                     (at, out): (usize, &mut [T])| {
            let planes = x.range(at * inner * size..(at + 1) * inner * size);
            let columns = Columns { axes: &taps, planes, taps: self.all / self.each, size };
            weights.read(at % of.groups * outer * depth, 1, factors);
            sums.fill(E::default());
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
                let (filter, place) = (at_line / starts.len(), starts[at_line % starts.len()]);
                let sums = &mut sums[filter * self.each + place..][..line];
                one_nan(sums, Options::default());
                let sums = E::wide(sums, wide);
                finish((at * outer + filter) * count + at_line % starts.len() * line, sums, out);
            }
            Ok::<_, gradus_core::Error>(())
        };
        let zeros = |count: usize| vec![E::default(); count];
        let scratch = || (zeros(self.all), zeros(outer * self.each), zeros(depth * outer), Vec::new());
        share(
            results.chunks_mut(outer * count).enumerate(),
            threads_for(product(all, depth)),
            scratch,
            group,
        )?;
        Ok(results)
    }
}
