//! Axes below a moving window: which taps of a window lie on the input, and where.

use std::ops::Range;

use gradus_core::Result;
use gradus_core::convert::{i64_of, product, usize_of_i64};
use gradus_kernels::product::Term;

use crate::attributes::Attributes;
use crate::floats::Numbers;

/// How windows lie on an axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    pub(super) size: usize,
    pub(super) windows: usize,
    pub(super) kernel: usize,
    pub(super) stride: i64,
    pub(super) dilation: i64,
    pub(super) begin: i64,
    pub(super) end: i64,
    /// True if the input is what a convolution would make of the output.
    pub(super) transposed: bool,
}

impl Axis {
    /// The windows of which a tap lies on the input: the first one and its element, and their
    /// number. From one to the next it is `between` windows, and `stride` elements.
    fn reached(&self, tap: usize) -> Reached {
        let [tap, size, windows] = [tap, self.size, self.windows].map(|number| i128::from(i64_of(number)));
        let [stride, dilation, begin] = [self.stride, self.dilation, self.begin].map(i128::from);
        let up = |a: i128| a.div_euclid(stride) + i128::from(a.rem_euclid(stride) != 0);
        let (window, element, count, between, stride) = if self.transposed {
            // An element lies on every `stride`-th window.
            let element = up(begin - tap * dilation).max(0);
            let window = element * stride - begin + tap * dilation;
            let last = (windows - 1 - window).div_euclid(stride) + element;
            (window, element, (last + 1).min(size) - element, self.stride, 1)
        } else {
            let window = up(begin - tap * dilation).max(0);
            let element = window * stride + tap * dilation - begin;
            let end = up(size + begin - tap * dilation).min(windows);
            (window, element, end - window, 1, self.stride)
        };
        // Several windows are all within the axes.
        let count = usize::try_from(count).unwrap_or(0);
        let [window, element] = [window, element].map(|number| usize::try_from(number).unwrap_or(0));
        let [between, stride] = [between, stride].map(|number| usize_of_i64(number).unwrap_or(1).max(1));
        Reached { window, element, count, between, stride }
    }

    /// The taps of a window that lie on elements from `low` up to, but not including, `high`.
    fn taps(&self, window: usize, low: i64, high: i128) -> Range<usize> {
        let first = i128::from(i64_of(window)) * i128::from(self.stride) - i128::from(self.begin);
        let tap = |at: i128| {
            let tap = (at - first + i128::from(self.dilation) - 1).div_euclid(self.dilation.into());
            usize::try_from(tap.max(0)).unwrap_or(usize::MAX).min(self.kernel)
        };
        let start = tap(low.into());
        start..tap(high).max(start)
    }

    /// The taps of a window that lie on the input.
    pub(super) fn inside(&self, window: usize) -> Range<usize> {
        self.taps(window, 0, i64_of(self.size).into())
    }

    /// The number of taps of a window that lie on the input or its padding.
    pub(super) fn padded(&self, window: usize) -> usize {
        let high = i128::from(i64_of(self.size)) + i128::from(self.end);
        self.taps(window, self.begin.saturating_neg(), high).len()
    }
}

/// The axes of a node's windows, from its attributes, which inference has checked.
pub fn axes(
    attributes: &Attributes<'_>,
    sizes: &[usize],
    windows: &[usize],
    kernel: &[usize],
    transposed: bool,
) -> Result<Vec<Axis>> {
    let list = |name: &str| attributes.list(name);
    let (strides, dilations) = (list("strides")?, list("dilations")?);
    let auto = attributes.text("auto_pad")?.unwrap_or("NOTSET").to_ascii_uppercase();
    let same = auto.starts_with("SAME");
    // OpenVINO has two attributes.
    let pads = match (list("pads")?, list("pads_begin")?, list("pads_end")?) {
        _ if !matches!(&*auto, "" | "NOTSET" | "EXPLICIT") => None,
        (None, Some(begins), Some(ends)) => Some([begins, ends].concat()),
        (pads, ..) => pads,
    };
    let more = list("output_padding")?;
    let fixed = transposed && list("output_shape")?.is_some();
    let at = |list: &Option<Vec<i64>>, axis: usize, default: i64| {
        list.as_ref().and_then(|list| list.get(axis).copied()).unwrap_or(default)
    };
    let axis = |axis: usize| {
        let (stride, dilation) = (at(&strides, axis, 1), at(&dilations, axis, 1));
        let [size, count, kernel] = [sizes[axis], windows[axis], kernel[axis]];
        let window = (i64_of(kernel) - 1).saturating_mul(dilation).saturating_add(1);
        let (mut begin, mut end) = (at(&pads, axis, 0), at(&pads, axis + sizes.len(), 0));
        if same || fixed {
            let [from, to] = if transposed { [size, count] } else { [count, size] };
            let reach = (i64_of(from) - 1).saturating_mul(stride).saturating_add(window);
            let total = reach.saturating_add(at(&more, axis, 0)).saturating_sub(i64_of(to));
            let total = if fixed { total } else { total.max(0) };
            let half = total.div_euclid(2);
            begin = if auto == "SAME_UPPER" { half } else { total - half };
            end = total - begin;
        }
        Axis { size, windows: count, kernel, stride, dilation, begin, end, transposed }
    };
    Ok((0..sizes.len()).map(axis).collect())
}

/// Windows of which a tap lies on the input: see [`Axis::reached`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    pub(super) window: usize,
    pub(super) element: usize,
    pub(super) count: usize,
    between: usize,
    pub(super) stride: usize,
}

/// An axis with the windows that each of its taps reaches.
pub(super) struct AxisTaps {
    pub(super) size: usize,
    pub(super) windows: usize,
    pub(super) reached: Vec<Reached>,
}

impl AxisTaps {
    /// The taps of axes; without axes, those of one that has one element.
    pub(super) fn of(axes: &[Axis]) -> Vec<AxisTaps> {
        let point = Reached { window: 0, element: 0, count: 1, between: 1, stride: 1 };
        let taps = |axis: &Axis| AxisTaps {
            size: axis.size,
            windows: axis.windows,
            reached: (0..axis.kernel).map(|tap| axis.reached(tap)).collect(),
        };
        match axes {
            [] => vec![AxisTaps { size: 1, windows: 1, reached: vec![point] }],
            axes => axes.iter().map(taps).collect(),
        }
    }

    /// Bytes that the taps of axes take.
    pub(super) fn bytes(axes: &[Axis]) -> u128 {
        axes.iter().map(|axis| product(axis.kernel + 1, 2 * size_of::<AxisTaps>())).sum()
    }
}

/// The index of the element on which a tap of a window lies; nothing if it lies on the padding.
pub(super) fn place(axes: &[AxisTaps], mut tap: usize, mut window: usize) -> Option<usize> {
    let (mut place, mut stride) = (0, 1);
    for (at, axis) in axes.iter().enumerate().rev() {
        let (mut own, mut of_window) = (tap, window);
        if at > 0 {
            (own, of_window) = (tap % axis.reached.len(), window % axis.windows);
            (tap, window) = (tap / axis.reached.len(), window / axis.windows);
        }
        place += axis.reached[own].element(of_window)? * stride;
        stride *= axis.size;
    }
    Some(place)
}

impl Reached {
    /// The element on which the tap of a window lies; nothing if it lies on the padding.
    fn element(self, window: usize) -> Option<usize> {
        let mut passed = window.checked_sub(self.window)?;
        if self.between > 1 {
            if !passed.is_multiple_of(self.between) {
                return None;
            }
            passed /= self.between;
        }
        (passed < self.count).then(|| self.element + passed * self.stride)
    }

    /// Writes the elements of windows from one on, and 0 for the padding; the line of elements
    /// starts at a place.
    pub(super) fn read<T: Term>(self, planes: Numbers<'_>, place: usize, from: usize, out: &mut [T]) {
        let mut passed = from.saturating_sub(self.window);
        if self.between > 1 {
            passed = passed.div_ceil(self.between);
        }
        let start = self.window.saturating_add(passed.saturating_mul(self.between)).saturating_sub(from);
        if passed >= self.count || start >= out.len() {
            return out.fill(T::default());
        }
        let (before, rest) = out.split_at_mut(start);
        before.fill(T::default());
        let element = place + self.element + passed * self.stride;
        if self.between > 1 {
            rest.fill(T::default());
            let reached = rest.iter_mut().step_by(self.between).take(self.count - passed);
            for (at, out) in reached.enumerate() {
                planes.read(element + at * self.stride, 1, std::slice::from_mut(out));
            }
            return;
        }
        let (here, after) = rest.split_at_mut(rest.len().min(self.count - passed));
        after.fill(T::default());
        planes.read(element, self.stride, here);
    }
}
