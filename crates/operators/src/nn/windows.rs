//! Evaluation of operators that move a window over spatial axes: convolutions, and what all share.
//!
//! Each axis tells which taps of a window lie on the input, and where; convolutions multiply the
//! weights with the columns of these elements, which are 0 on the padding and are written block by
//! block when the product is packed.

use std::ops::Range;

use gradus_core::convert::{FromNumber, i64_of, nearest_f64, product, usize_of_i64};
use gradus_core::{DType, Number, Result, Shape, Tensor, Value};
use gradus_kernels::product::{Product as Factors, Rows, Shifted};

use crate::attributes::Attributes;
use crate::errors;
use crate::floats::{Matrix, Numbers, Sizes};
use crate::matmul::eval::{finished, round};
use crate::nn::direct::Layout;
use crate::op::EvalContext;
use crate::strided::each_at;

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
        // Where there are several, all of them are within the axes.
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
        _ if !matches!(&*auto, "NOTSET" | "EXPLICIT") => None,
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

/// A convolution: the shapes of its factors, and where its windows lie.
pub(super) struct Convolution {
    pub(super) batch: usize,
    pub(super) channels: usize,
    pub(super) filters: usize,
    pub(super) groups: usize,
    pub(super) axes: Vec<Axis>,
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
pub(super) struct Taps {
    pub(super) size: usize,
    pub(super) windows: usize,
    pub(super) reached: Vec<Reached>,
}

impl Taps {
    /// The taps of axes; without axes, those of one that has one element.
    pub(super) fn of(axes: &[Axis]) -> Vec<Taps> {
        let point = Reached { window: 0, element: 0, count: 1, between: 1, stride: 1 };
        let taps = |axis: &Axis| Taps {
            size: axis.size,
            windows: axis.windows,
            reached: (0..axis.kernel).map(|tap| axis.reached(tap)).collect(),
        };
        match axes {
            [] => vec![Taps { size: 1, windows: 1, reached: vec![point] }],
            axes => axes.iter().map(taps).collect(),
        }
    }

    /// Bytes that the taps of axes take.
    pub(super) fn bytes(axes: &[Axis]) -> u128 {
        axes.iter().map(|axis| product(axis.kernel + 1, 2 * size_of::<Taps>())).sum()
    }
}

/// The index of the element on which a tap of a window lies; nothing if it lies on the padding.
pub(super) fn place(axes: &[Taps], mut tap: usize, mut window: usize) -> Option<usize> {
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

/// The elements on which the taps of windows lie, by channel and tap, and by window.
pub(super) struct Columns<'a> {
    pub(super) axes: &'a [Taps],
    /// The channels of a group.
    pub(super) planes: Numbers<'a>,
    pub(super) taps: usize,
    pub(super) size: usize,
}

impl Rows for Columns<'_> {
    fn read(&self, row: usize, first: usize, out: &mut [f64]) {
        let Some((last, outer)) = self.axes.split_last() else { return };
        let (channel, tap) = (row / self.taps, row % self.taps);
        let (tap, reached) = (tap / last.reached.len(), last.reached[tap % last.reached.len()]);
        let (mut at, mut line, mut from) = (0, first / last.windows, first % last.windows);
        while at < out.len() {
            let len = out.len().min(at + last.windows - from) - at;
            let out = &mut out[at..at + len];
            match place(outer, tap, line) {
                Some(place) => {
                    reached.read(self.planes, channel * self.size + place * last.size, from, out);
                }
                None => out.fill(0.0),
            }
            (at, line, from) = (at + len, line + 1, 0);
        }
    }
}

/// The second factor of a convolution: the elements below the windows.
enum Elements<'a> {
    /// Those of the input, of windows of one element.
    Plain(Matrix<'a>),
    /// Lines of planes with padding.
    Shifted(Shifted<'a>),
    /// Read tap by tap.
    Columns(Columns<'a>),
}

impl Elements<'_> {
    fn rows(&self) -> &dyn Rows {
        match self {
            Elements::Plain(rows) => rows,
            Elements::Shifted(rows) => rows,
            Elements::Columns(rows) => rows,
        }
    }
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
    fn read(self, planes: Numbers<'_>, place: usize, from: usize, out: &mut [f64]) {
        let mut passed = from.saturating_sub(self.window);
        if self.between > 1 {
            passed = passed.div_ceil(self.between);
        }
        let start = self.window.saturating_add(passed.saturating_mul(self.between)).saturating_sub(from);
        if passed >= self.count || start >= out.len() {
            return out.fill(0.0);
        }
        let (before, rest) = out.split_at_mut(start);
        before.fill(0.0);
        let element = place + self.element + passed * self.stride;
        if self.between > 1 {
            rest.fill(0.0);
            let reached = rest.iter_mut().step_by(self.between).take(self.count - passed);
            for (at, out) in reached.enumerate() {
                planes.read(element + at * self.stride, 1, std::slice::from_mut(out));
            }
            return;
        }
        let (here, after) = rest.split_at_mut(rest.len().min(self.count - passed));
        after.fill(0.0);
        planes.read(element, self.stride, here);
    }
}

impl Convolution {
    /// For each filter and window, the sum over channels and taps, in that order. The weights are
    /// by filter, channel of its group and tap. `finish` makes elements from the index of the first
    /// one in the result and their sums.
    fn run<T: FromNumber + Default>(
        &self,
        cx: &mut EvalContext<'_>,
        [x, weights]: [Numbers<'_>; 2],
        finish: impl Fn(usize, &[f64], &mut [T]) + Sync,
    ) -> Result<Vec<T>> {
        let windows: usize = self.axes.iter().map(|axis| axis.windows).product();
        let size: usize = self.axes.iter().map(|axis| axis.size).product();
        let (inner, outer) = (self.channels / self.groups, self.filters / self.groups);
        let taps = weights.len().checked_div(self.filters * inner).unwrap_or(0);
        let layout = if x.is_empty() { None } else { Layout::of(self) };
        let exact = x.are_singles() && weights.are_singles();
        if cx.adding(&cx.limits())?.is_plain(exact)
            && let Some(layout) = &layout
            && layout.is_direct(self)
        {
            return layout.run(self, cx, [x, weights], finish);
        }
        // Without elements, all sums are 0.
        let depth = if x.is_empty() { 0 } else { inner * taps };
        let plain = |axis: &Axis| {
            axis.kernel == 1 && axis.stride == 1 && axis.begin == 0 && axis.windows == axis.size
        };
        let plain = self.axes.iter().all(plain);
        let products = self.batch * self.groups;
        cx.reserve(product(products, 3 * size_of::<Elements<'_>>()) + Taps::bytes(&self.axes))?;
        let planes = match layout {
            Some(layout) if !plain => Some(layout.write(self, cx, x)?),
            _ => None,
        };
        let axes = Taps::of(&self.axes);
        let elements = (0..products).map(|at| {
            let of_group = at % self.groups * outer * depth;
            let weights =
                Matrix { numbers: weights.range(of_group..of_group + outer * depth), row: depth, column: 1 };
            let channel = at * inner;
            if let Some(planes) = &planes {
                return (weights, Elements::Shifted(planes.shifted(channel, inner)));
            }
            let own =
                if depth == 0 { x.range(0..0) } else { x.range(channel * size..(channel + inner) * size) };
            let elements = if plain {
                Elements::Plain(Matrix { numbers: own, row: size, column: 1 })
            } else {
                Elements::Columns(Columns { axes: &axes, planes: own, taps, size })
            };
            (weights, elements)
        });
        let elements: Vec<_> = elements.collect();
        let factors = elements.iter().map(|(a, elements)| Factors { a, b: elements.rows(), exact });
        let sizes = Sizes { rows: outer, inner: depth, columns: windows };
        let finish = |at: usize, row: usize, column: usize, sums: &[f64], out: &mut [T]| {
            finish((at * outer + row) * windows + column, sums, out);
        };
        finished(cx, &factors.collect::<Vec<_>>(), sizes, finish)
    }

    /// By tap and window, the index in a plane of the input, or one beyond all on the padding.
    fn sources(&self, first: usize, count: usize, taps: usize) -> Vec<usize> {
        let axes = Taps::of(&self.axes);
        let source = |at: usize| place(&axes, at / count, first + at % count).unwrap_or(usize::MAX);
        (0..taps * count).map(source).collect()
    }
}

/// The weights of a transposed convolution, which are by channel, filter of its group and tap, by
/// filter, channel of its group and tap.
fn turned(weights: &[f64], channels: usize, filters: usize, groups: usize) -> Vec<f64> {
    let (inner, outer) = (channels / groups, filters / groups);
    let taps = weights.len().checked_div(channels * outer).unwrap_or(0);
    let from = |at: usize| {
        let (tap, channel, filter) = (at % taps, at / taps % inner, at / taps / inner);
        let channel = filter / outer * inner + channel;
        weights[(channel * outer + filter % outer) * taps + tap]
    };
    (0..weights.len()).map(from).collect()
}

/// The arithmetic of a convolution on numbers, which are the elements less their zero points.
/// `finish` makes elements from the index of the first one in the result and their sums.
pub fn convolved<T: FromNumber + Default>(
    attributes: &Attributes<'_>,
    cx: &mut EvalContext<'_>,
    [x, weights]: [usize; 2],
    numbers: [Numbers<'_>; 2],
    finish: impl Fn(usize, &[f64], &mut [T]) + Sync,
) -> Result<Vec<T>> {
    let (_, shape) = cx.output(0)?;
    let (dims, kernel) = (cx.tensor(x)?.shape().dims(), cx.tensor(weights)?.shape().dims());
    let transposed = cx.operator == "ConvTranspose";
    if shape.is_empty() {
        return Ok(Vec::new());
    }
    let groups = attributes.int("group")?.and_then(usize_of_i64).unwrap_or(1).max(1);
    let axes = axes(attributes, &dims[2..], &shape.dims()[2..], &kernel[2..], transposed)?;
    let (channels, filters) = (dims[1], shape.dims()[1]);
    let convolution = Convolution { batch: dims[0], channels, filters, groups, axes };
    let [x, weights] = numbers;
    if !transposed {
        return convolution.run(cx, [x, weights], finish);
    }
    cx.reserve(product(weights.len(), 2 * size_of::<f64>()))?;
    let mut own = vec![0.0; weights.len()];
    weights.read(0, 1, &mut own);
    convolution.run(cx, [x, Numbers::Doubles(&turned(&own, channels, filters, groups))], finish)
}

/// Adds to each plane the number of its channel.
pub fn add_bias(numbers: &mut [f64], shape: &Shape, bias: &[f64]) {
    let plane: usize = shape.dims()[2..].iter().product();
    if plane > 0 && !bias.is_empty() {
        let planes = numbers.chunks_mut(plane).zip(bias.iter().cycle());
        planes.for_each(|(plane, bias)| plane.iter_mut().for_each(|x| *x += bias));
    }
}

pub fn conv(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    fn all<T: FromNumber + Default>(
        attributes: &Attributes<'_>,
        cx: &mut EvalContext<'_>,
        shape: &Shape,
        last: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<Vec<T>> {
        let (x, weights, bias) = (cx.factor(0)?, cx.factor(1)?, cx.maybe_floats(2)?);
        let plane: usize = shape.dims()[2..].iter().product();
        let finish = |at: usize, sums: &[f64], out: &mut [T]| {
            match &bias {
                Some(bias) if !bias.is_empty() => {
                    let (added, sums) = (bias[at / plane % bias.len()], &sums[..out.len()]);
                    each_at(
                        out,
                        #[inline(always)]
                        move |at| T::from_f64(sums[at] + added),
                    );
                }
                _ => round(sums, out),
            }
            last(at, out);
        };
        convolved(attributes, cx, [0, 1], [x.numbers(), weights.numbers()], finish)
    }
    let (dtype, shape) = cx.output(0)?;
    if dtype == DType::F32 {
        let after = cx.run.take_after(&shape);
        let results = all::<f32>(attributes, cx, &shape, |at, out| after.apply(at, out))?;
        return Ok(vec![Tensor::from_vec(shape, results)?.into()]);
    }
    let sums = all::<f64>(attributes, cx, &shape, |_, _| {})?;
    Ok(vec![cx.rounded(0, &sums)?])
}

/// `BinaryConvolution` of OpenVINO: elements above zero, and bits of the weights, count as one, all
/// others as minus one, and elements of the pads as their value.
pub fn binary_conv(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    attributes.only_text("mode", "xnor-popcount")?;
    let pad = f64::from(attributes.float("pad_value")?.unwrap_or(0.0));
    let sign = |x: f64| if x > 0.0 { 1.0 } else { -1.0 };
    // Pads are zeros once their value is taken from all elements, and its product is added again.
    let x: Vec<_> = cx.floats(0)?.into_iter().map(|x| sign(x) - pad).collect();
    let weights: Vec<_> = cx.floats(1)?.into_iter().map(sign).collect();
    let (_, shape) = cx.output(0)?;
    let each = cx.tensor(1)?.shape().dims()[1..].iter().product::<usize>().max(1);
    let bias: Vec<_> = weights.chunks(each).map(|filter| pad * filter.iter().sum::<f64>()).collect();
    let numbers = [Numbers::Doubles(&x), Numbers::Doubles(&weights)];
    let finish = |_, sums: &[f64], out: &mut [f64]| out.copy_from_slice(&sums[..out.len()]);
    let mut y = convolved(attributes, cx, [0, 1], numbers, finish)?;
    add_bias(&mut y, &shape, &bias);
    Ok(vec![cx.rounded(0, &y)?])
}

pub fn float_of(count: usize) -> f64 {
    nearest_f64(Number::Int(i64_of(count).into()))
}

/// `Col2Im`: each element of the image is the sum of the elements of the blocks that lie on it.
pub fn col2im(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (_, shape) = cx.output(0)?;
    let (columns, sizes) = (cx.floats(0)?, &shape.dims()[2..]);
    let kernel: Vec<_> = cx.integers(2)?.into_iter().map(|size| usize_of_i64(size).unwrap_or(0)).collect();
    let list = |name: &str, axis: usize, default: i64| {
        Ok::<_, gradus_core::Error>(
            attributes.ints(name)?.and_then(|list| list.get(axis).copied()).unwrap_or(default),
        )
    };
    let mut windows = Vec::new();
    for (axis, (&size, &kernel)) in sizes.iter().zip(&kernel).enumerate() {
        let padding = list("pads", axis, 0)?.saturating_add(list("pads", axis + sizes.len(), 0)?);
        let window = (i64_of(kernel) - 1).saturating_mul(list("dilations", axis, 1)?).saturating_add(1);
        let room = i64_of(size).saturating_add(padding).saturating_sub(window);
        windows.push(usize_of_i64(room.div_euclid(list("strides", axis, 1)?).saturating_add(1)).unwrap_or(0));
    }
    let axes = axes(attributes, sizes, &windows, &kernel, false)?;
    let (plane, taps, count): (usize, usize, usize) =
        (sizes.iter().product(), kernel.iter().product(), windows.iter().product());
    let mut image = vec![0.0; shape.len()];
    if image.is_empty() || columns.is_empty() {
        return Ok(vec![cx.rounded(0, &image)?]);
    }
    cx.run.touch(product(columns.len(), 1))?;
    cx.reserve(product(taps, count).saturating_mul(16))?;
    let layout = Convolution { batch: 1, channels: 1, filters: 1, groups: 1, axes };
    let sources = layout.sources(0, count, taps);
    for (image, columns) in image.chunks_mut(plane).zip(columns.chunks(taps * count)) {
        for (&source, x) in sources.iter().zip(columns) {
            if let Some(element) = image.get_mut(source) {
                *element += x;
            }
        }
    }
    Ok(vec![cx.rounded(0, &image)?])
}

/// `MaxUnpool`: elements go where they were before the pool, all others are 0.
pub fn max_unpool(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (_, shape) = cx.output(0)?;
    let (x, places) = (cx.floats(0)?, cx.integers(1)?);
    let dims = cx.tensor(0)?.shape().dims();
    // Indices are those of the shape that the attributes give, whatever the output has.
    let list = |name: &str, axis: usize, default: i64| {
        Ok::<_, gradus_core::Error>(
            attributes.ints(name)?.and_then(|list| list.get(axis).copied()).unwrap_or(default),
        )
    };
    let mut sizes = dims.to_vec();
    for (axis, size) in sizes.iter_mut().skip(2).enumerate() {
        let padding = list("pads", axis, 0)?.saturating_add(list("pads", axis + dims.len() - 2, 0)?);
        let reach = (i64_of(*size) - 1).saturating_mul(list("strides", axis, 1)?);
        let whole = reach.saturating_add(list("kernel_shape", axis, 1)?).saturating_sub(padding);
        *size = usize_of_i64(whole).unwrap_or(0);
    }
    let inner = Shape::new(sizes)?;
    let mut y = vec![0.0; shape.len()];
    for (&x, index) in x.iter().zip(places) {
        let place = usize_of_i64(index).filter(|&place| place < inner.len());
        let mut place = place.ok_or_else(|| errors::out_of_range("index", index, inner.len()))?;
        let (mut at, mut stride, mut within) = (0, 1, true);
        for (&own, &size) in inner.dims().iter().zip(shape.dims()).rev() {
            within &= place % own < size;
            at += place % own * stride;
            (place, stride) = (place / own, stride * size);
        }
        if within {
            y[at] = x;
        }
    }
    Ok(vec![cx.rounded(0, &y)?])
}
