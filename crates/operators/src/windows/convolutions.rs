//! Evaluation of convolutions and of `Col2Im`.
//!
//! Convolutions multiply the weights with the columns of the elements below their windows, which
//! are 0 on the padding and are written block by block when the product is packed.

use gradus_core::convert::{FromNumber, i64_of, product, usize_of_i64};
use gradus_core::{DType, Result, Shape, Tensor, Value};
use gradus_kernels::SumType;
use gradus_kernels::product::{Elements, Product as Factors, Rows, Shifted, Side, Term};

use crate::attributes::Attributes;
use crate::floats::{Matrix, Numbers, Sizes};
use crate::matmul::eval::{finished, round};
use crate::op::EvalContext;
use crate::strided::each_at;
use crate::windows::axes::{Axis, AxisTaps, axes, place};
use crate::windows::direct::PlaneLayout;
use crate::words;

/// `CausalConvWithState`: each channel by its own kernel, over the state and the input after it.
pub fn causal_conv(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let [batch, channels, length] = cx.dims(0)?;
    let taps = cx.tensor(1)?.shape().dims()[2];
    let (x, weights) = (cx.floats(0)?, cx.floats(1)?);
    let bias = cx.maybe_floats(2)?;
    let before = taps.saturating_sub(1);
    cx.reserve(product(batch * channels, (before + length) * size_of::<f64>()))?;
    cx.run.touch(product(batch * channels, length).saturating_mul(product(taps, 1)))?;
    let past = match cx.maybe_floats(3)? {
        Some(past) => past,
        None => vec![0.0; batch * channels * before],
    };
    let swish = words::CONVOLUTION_ACTIVATION.of(attributes)? != "none";
    let (mut y, mut state) = (Vec::with_capacity(x.len()), Vec::with_capacity(past.len()));
    let rows = if x.is_empty() && past.is_empty() { 0 } else { batch * channels };
    for row in 0..rows {
        cx.limits().check()?;
        let all = [&past[row * before..][..before], &x[row * length..][..length]].concat();
        let kernel = &weights[row % channels * taps..][..taps];
        let added = bias.as_ref().map_or(0.0, |bias| bias[row % channels]);
        for window in all.windows(taps.max(1)).take(length) {
            let sum = window.iter().zip(kernel).map(|(x, weight)| x * weight).sum::<f64>() + added;
            y.push(if swish { sum / (1.0 + libm::exp(-sum)) } else { sum });
        }
        state.extend_from_slice(&all[length..]);
    }
    Ok(vec![cx.rounded(0, &y)?, cx.rounded(1, &state)?])
}

/// A convolution: the shapes of its factors, and where its windows lie.
pub(super) struct Convolution {
    pub(super) batch: usize,
    pub(super) channels: usize,
    pub(super) filters: usize,
    pub(super) groups: usize,
    pub(super) axes: Vec<Axis>,
}

/// The elements on which the taps of windows lie, by channel and tap, and by window.
pub(super) struct Columns<'a> {
    pub(super) axes: &'a [AxisTaps],
    /// The channels of a group.
    pub(super) planes: Numbers<'a>,
    pub(super) taps: usize,
    pub(super) size: usize,
}

impl<T: Term> Rows<T> for Columns<'_> {
    fn read(&self, row: usize, first: usize, out: &mut [T]) {
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
                None => out.fill(T::default()),
            }
            (at, line, from) = (at + len, line + 1, 0);
        }
    }
}

/// The second factor of a convolution: the elements below the windows.
enum WindowElements<'a> {
    /// Elements of the input, for windows of one element.
    Plain(Matrix<'a>),
    /// Lines of planes with padding.
    Shifted(Shifted<'a>),
    /// Read tap by tap.
    Columns(Columns<'a>),
}

impl WindowElements<'_> {
    fn rows(&self) -> &dyn Elements {
        match self {
            WindowElements::Plain(rows) => rows,
            WindowElements::Shifted(rows) => rows,
            WindowElements::Columns(rows) => rows,
        }
    }
}

impl Convolution {
    /// For each filter and window, the sum over channels and taps, in that order. The weights are
    /// by filter, channel of its group and tap; `kept` is the input that has them as they are.
    /// `finish` makes elements from the index of the first one in the result and their sums.
    fn run<T: FromNumber + Default>(
        &self,
        cx: &mut EvalContext<'_>,
        [x, weights]: [Numbers<'_>; 2],
        kept: Option<usize>,
        finish: impl Fn(usize, &[f64], &mut [T]) + Sync,
    ) -> Result<Vec<T>> {
        let windows: usize = self.axes.iter().map(|axis| axis.windows).product();
        let size: usize = self.axes.iter().map(|axis| axis.size).product();
        let (inner, outer) = (self.channels / self.groups, self.filters / self.groups);
        let taps = weights.len().checked_div(self.filters * inner).unwrap_or(0);
        let layout = if x.is_empty() { None } else { PlaneLayout::of(self) };
        let exact = x.are_singles() && weights.are_singles();
        if let Some(layout) = &layout
            && layout.is_direct(self)
        {
            match cx.adding(&cx.limits())?.term(exact) {
                Some(SumType::Double) => return layout.run::<_, f64>(self, cx, [x, weights], finish),
                Some(SumType::Single) if inner * taps <= f32::INNER => {
                    return layout.run::<_, f32>(self, cx, [x, weights], finish);
                }
                _ => {}
            }
        }
        // Without elements, all sums are 0.
        let depth = if x.is_empty() { 0 } else { inner * taps };
        let plain = |axis: &Axis| {
            axis.kernel == 1 && axis.stride == 1 && axis.begin == 0 && axis.windows == axis.size
        };
        let plain = self.axes.iter().all(plain);
        let products = self.batch * self.groups;
        cx.reserve(product(products, 3 * size_of::<WindowElements<'_>>()) + AxisTaps::bytes(&self.axes))?;
        let planes = match layout {
            Some(layout) if !plain => Some(layout.write(self, cx, x)?),
            _ => None,
        };
        let axes = AxisTaps::of(&self.axes);
        let sizes = Sizes { rows: outer, inner: depth, columns: windows };
        let kept = kept.filter(|_| matches!(weights, Numbers::Singles(_)));
        let packed =
            kept.map(|input| cx.packed(input, Side::First, sizes, [depth, 1])).transpose()?.flatten();
        let elements = (0..products).map(|at| {
            let group = at % self.groups;
            let own = weights.range(group * outer * depth..(group + 1) * outer * depth);
            let weights = Matrix::new(own, depth, 1).packed(packed.as_deref(), group);
            let channel = at * inner;
            if let Some(planes) = &planes {
                return (weights, WindowElements::Shifted(planes.shifted(channel, inner)));
            }
            let own =
                if depth == 0 { x.range(0..0) } else { x.range(channel * size..(channel + inner) * size) };
            let elements = if plain {
                WindowElements::Plain(Matrix::new(own, size, 1))
            } else {
                WindowElements::Columns(Columns { axes: &axes, planes: own, taps, size })
            };
            (weights, elements)
        });
        let elements: Vec<_> = elements.collect();
        let factors = elements.iter().map(|(a, elements)| Factors { a, b: elements.rows(), exact });
        let finish = |at: usize, row: usize, column: usize, sums: &[f64], out: &mut [T]| {
            finish((at * outer + row) * windows + column, sums, out);
        };
        finished(cx, &factors.collect::<Vec<_>>(), sizes, finish)
    }

    /// By tap and window, the index in a plane of the input, or one beyond all on the padding.
    fn sources(&self, first: usize, count: usize, taps: usize) -> Vec<usize> {
        let axes = AxisTaps::of(&self.axes);
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
    if !transposed {
        return convolution.run(cx, numbers, Some(weights), finish);
    }
    let [x, weights] = numbers;
    cx.reserve(product(weights.len(), 2 * size_of::<f64>()))?;
    let mut own = vec![0.0; weights.len()];
    weights.read(0, 1, &mut own);
    convolution.run(cx, [x, Numbers::Doubles(&turned(&own, channels, filters, groups))], None, finish)
}

/// Adds to each plane the number of its channel.
pub fn add_bias(numbers: &mut [f64], shape: &Shape, bias: &[f64]) {
    let plane: usize = shape.dims()[2..].iter().product();
    if plane > 0 && !bias.is_empty() {
        let planes = numbers.chunks_mut(plane).zip(bias.iter().cycle());
        planes.for_each(|(plane, bias)| plane.iter_mut().for_each(|x| *x += bias));
    }
}

/// `Conv`: convolutions, by group, with a bias and fused functions.
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
