//! Evaluation of pools: what a function makes of the elements of each window, in the order of its
//! taps; and of `MaxUnpool`.

use gradus_core::convert::{FromNumber, Rules, float_of, i64_of, nearest_f64, product, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Number, Result, Shape, Tensor, Value};
use gradus_kernels::{Accumulator, share, threads, widest, with_accumulator};

use crate::attributes::Attributes;
use crate::errors;
use crate::fact::range_of;
use crate::floats::{Adding, Numbers};
use crate::op::EvalContext;
use crate::strided::threads_for;
use crate::windows::axes::{Axis, AxisTaps, axes, place};

/// The windows of a pool.
struct PoolWindows {
    /// Channels of all samples, each of which is a plane of its own.
    planes: usize,
    axes: Vec<Axis>,
}

/// How the elements of a window become a result: what is made of all elements of a plane before, the
/// number to begin with, and what an element and its index in the plane make of it.
struct PoolFold<'a, B, A> {
    before: &'a (dyn Fn(&mut [f64]) + Sync),
    begin: B,
    add: A,
}

impl<'a, B, A: Fn(&mut B, f64, usize) + Sync> PoolFold<'a, B, A> {
    /// A pool by these functions.
    fn new(before: &'a (dyn Fn(&mut [f64]) + Sync), begin: B, add: A) -> PoolFold<'a, B, A> {
        PoolFold { before, begin, add }
    }
}

/// Writes the results for some windows, of which it is given the number of the first.
type StoreWindows<'a, B> = &'a (dyn Fn(&[B], usize, &mut [u8]) + Sync);

impl PoolWindows {
    /// The windows of a node; a global pool has one that covers all.
    fn of(attributes: &Attributes<'_>, cx: &EvalContext<'_>) -> Result<PoolWindows> {
        let (_, shape) = cx.output(0)?;
        let (dims, windows) = (cx.tensor(0)?.shape().dims(), shape.dims());
        let named = attributes.list("kernel_shape")?.or(attributes.list("kernel")?);
        let kernel: Vec<_> = match named {
            Some(kernel) => kernel.into_iter().map(|size| usize_of_i64(size).unwrap_or(0)).collect(),
            None => dims[2..].to_vec(),
        };
        let planes = windows[0] * windows[1];
        Ok(PoolWindows { planes, axes: axes(attributes, &dims[2..], &windows[2..], &kernel, false)? })
    }

    /// Windows of a plane.
    fn count(&self) -> usize {
        self.axes.iter().map(|axis| axis.windows).product()
    }

    /// Elements of a plane.
    fn size(&self) -> usize {
        self.axes.iter().map(|axis| axis.size).product()
    }

    /// The results of all windows. A line of windows is computed at a time, tap by tap.
    #[allow(clippy::needless_range_loop, reason = "loops over indices are compiled for the level")]
    fn pooled<B: Clone + Send + Sync>(
        &self,
        cx: &mut EvalContext<'_>,
        x: Numbers<'_>,
        pool: &PoolFold<'_, B, impl Fn(&mut B, f64, usize) + Sync>,
        (width, store): (usize, StoreWindows<'_, B>),
    ) -> Result<Vec<u8>> {
        let (count, size) = (self.count(), self.size());
        if self.planes == 0 || count == 0 {
            return Ok(Vec::new());
        }
        let inside = |axis: &Axis| (0..axis.windows).map(|at| axis.inside(at).len()).sum();
        let work = self.axes.iter().fold(1u128, |work, axis| work.saturating_mul(product(inside(axis), 1)));
        let work = work.saturating_mul(product(self.planes, 1));
        cx.run.touch(work)?;
        let threads = product(threads(), 1);
        let scratch = product(size, size_of::<f64>()) + product(count, size_of::<B>());
        cx.reserve(AxisTaps::bytes(&self.axes) + product(self.planes * count, width))?;
        cx.reserve(scratch.saturating_mul(threads))?;
        let taps = AxisTaps::of(&self.axes);
        let Some((last, outer)) = taps.split_last() else { return Ok(Vec::new()) };
        let outer_taps: usize = outer.iter().map(|axis| axis.reached.len()).product();
        let limits = cx.limits();
        let plane = |(elements, line): &mut (Vec<f64>, Vec<B>), (plane, out): (usize, &mut [u8])| {
            x.read(plane * size, 1, elements);
            (pool.before)(elements);
            for (at, out) in out.chunks_mut(last.windows * width).enumerate() {
                line.fill(pool.begin.clone());
                for tap in 0..outer_taps {
                    limits.check()?;
                    let Some(place) = place(outer, tap, at) else { continue };
                    for reached in last.reached.iter().filter(|reached| reached.count > 0) {
                        let first = place * last.size + reached.element;
                        let line = &mut line[reached.window..][..reached.count];
                        if reached.stride == 1 {
                            let (count, own) = (line.len(), &elements[first..][..line.len()]);
                            widest(
                                #[inline(always)]
                                move || {
                                    for i in 0..count {
                                        (pool.add)(&mut line[i], own[i], first + i);
                                    }
                                },
                            );
                            continue;
                        }
                        let mut done = 0;
                        if reached.stride == 2 {
                            // Pairs are read, so that the loop has vectors; the last one may be half.
                            let pairs = elements[first..][..2 * line.len() - 1].as_chunks::<2>().0;
                            done = pairs.len();
                            let line = &mut line[..done];
                            widest(
                                #[inline(always)]
                                move || {
                                    for i in 0..done {
                                        (pool.add)(&mut line[i], pairs[i][0], first + 2 * i);
                                    }
                                },
                            );
                        }
                        for (i, all) in line.iter_mut().enumerate().skip(done) {
                            let place = first + i * reached.stride;
                            (pool.add)(all, elements[place], place);
                        }
                    }
                }
                store(line, at * last.windows, out);
            }
            Ok::<_, gradus_core::Error>(())
        };
        let mut results = vec![0; self.planes * count * width];
        let scratch = || (vec![0.0; size], vec![pool.begin.clone(); last.windows]);
        share(results.chunks_mut(count * width).enumerate(), threads_for(work), scratch, plane)?;
        Ok(results)
    }

    /// The pool of floats as the first output, which is rounded once.
    fn output<B: Clone + Send + Sync>(
        &self,
        cx: &mut EvalContext<'_>,
        pool: &PoolFold<'_, B, impl Fn(&mut B, f64, usize) + Sync>,
        finish: &(dyn Fn(&B, usize) -> f64 + Sync),
    ) -> Result<Value> {
        let x = cx.factor(0)?;
        let (dtype, shape) = cx.output(0)?;
        if dtype == DType::F32 {
            let store = |line: &[B], first: usize, out: &mut [u8]| {
                for ((out, all), window) in out.as_chunks_mut().0.iter_mut().zip(line).zip(first..) {
                    *out = f32::from_f64(finish(all, window)).to_ne_bytes();
                }
            };
            let results = self.pooled(cx, x.numbers(), pool, (size_of::<f32>(), &store))?;
            return Ok(Tensor::from_bytes(dtype, shape, results.into())?.into());
        }
        let store = |line: &[B], first: usize, out: &mut [u8]| {
            for ((out, all), window) in out.as_chunks_mut().0.iter_mut().zip(line).zip(first..) {
                *out = finish(all, window).to_ne_bytes();
            }
        };
        let results = self.pooled(cx, x.numbers(), pool, (size_of::<f64>(), &store))?;
        let results: Vec<_> = results.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
        cx.rounded(0, &results)
    }

    /// The pool of sums: of elements or their squares, and a function of the sum and the window.
    fn sums(
        &self,
        cx: &mut EvalContext<'_>,
        before: &(dyn Fn(&mut [f64]) + Sync),
        squared: bool,
        finish: &(dyn Fn(f64, usize) -> f64 + Sync),
    ) -> Result<Value> {
        let limits = cx.limits();
        let Adding { sums, to, .. } = cx.adding_doubles(&limits)?.within();
        let is_empty = |mut window: usize| {
            self.axes.iter().rev().any(|axis| {
                let at = window % axis.windows;
                window /= axis.windows;
                axis.inside(at).is_empty()
            })
        };
        with_accumulator!(sums, to, A => {
            let pool = PoolFold::new(
                before,
                A::default(),
                #[inline(always)]
                |sum: &mut A, x, _| sum.add(x, if squared { x } else { 1.0 }),
            );
            self.output(cx, &pool, &|sum, window| {
                let total = sum.total(to);
                // A sum of nothing is -0.
                finish(if total == 0.0 && is_empty(window) { 0.0 } else { total }, window)
            })
        })
    }
}

/// `AveragePool`: means of the elements of windows.
pub fn average_pool(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let padding = attributes.flag("count_include_pad", false)?;
    let windows = PoolWindows::of(attributes, cx)?;
    cx.reserve(windows.axes.iter().map(|axis| product(axis.windows, size_of::<usize>())).sum())?;
    let taps = |axis: &Axis| {
        let taps = |at| if padding { axis.padded(at) } else { axis.inside(at).len() };
        (0..axis.windows).map(taps).collect::<Vec<_>>()
    };
    let counts: Vec<_> = windows.axes.iter().map(taps).collect();
    let mean = |sum: f64, mut window: usize| {
        let mut all = 1usize;
        for counts in counts.iter().rev() {
            all = all.saturating_mul(counts[window % counts.len()]);
            window /= counts.len();
        }
        sum / float_of(all)
    };
    Ok(vec![windows.sums(cx, &|_| {}, false, &mean)?])
}

/// `LpPool`: norms of the elements of windows.
pub fn lp_pool(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let p = order_of_norm(attributes)?;
    let windows = PoolWindows::of(attributes, cx)?;
    let before = |elements: &mut [f64]| elements.iter_mut().for_each(|x| *x = power(*x, p).0);
    Ok(vec![windows.sums(cx, &before, power_is_square(p), &|sum, _| root(sum, p))?])
}

/// The order of a norm, which the first versions give as a float.
pub fn order_of_norm(attributes: &Attributes<'_>) -> Result<f64> {
    match attributes.get("p") {
        Some(Content::Float(p)) => Ok(f64::from(*p)),
        _ => Ok(nearest_f64(Number::Int(attributes.int("p")?.unwrap_or(2).into()))),
    }
}

/// The norm of order p.
pub fn norm(numbers: impl Iterator<Item = f64>, p: f64, adding: Adding<'_>) -> f64 {
    root(adding.within().products(numbers.map(|x| power(x, p))), p)
}

/// The summand of a norm of order p, as a product.
fn power(x: f64, p: f64) -> (f64, f64) {
    match p {
        _ if power_is_square(p) => (x, x),
        1.0 => (x.abs(), 1.0),
        _ => (libm::pow(x.abs(), p), 1.0),
    }
}

/// Returns true if the summands of a norm of order p are squares of the elements.
fn power_is_square(p: f64) -> bool {
    p == 2.0
}

/// The norm of order p, from its sum.
fn root(sum: f64, p: f64) -> f64 {
    // A sum of nothing is -0, and no norm is.
    let sum = sum + 0.0;
    match p {
        1.0 => sum,
        2.0 => sum.sqrt(),
        _ => libm::pow(sum, p.recip()),
    }
}

/// Returns true if an element takes the place of the largest one: the first of equal elements is
/// kept, and NaN is larger than all numbers.
fn larger(x: f64, best: f64) -> bool {
    (x > best) | (x.is_nan() & !best.is_nan())
}

/// `MaxPool`: maxima of the elements of windows, and their indices.
pub fn max_pool(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let windows = PoolWindows::of(attributes, cx)?;
    let (dtype, shape) = cx.output(0)?;
    let least = range_of(dtype).map_or(f64::NEG_INFINITY, |(low, _)| nearest_f64(Number::Int(low.into())));
    let pool = PoolFold::new(
        &|_| {},
        least,
        #[inline(always)]
        |best: &mut f64, x, _| *best = if larger(x, *best) { x } else { *best },
    );
    let output = windows.output(cx, &pool, &|best, _| *best);
    let mut outputs = vec![output?];
    if cx.outputs > 1 {
        outputs.push(windows.indices(attributes, cx, shape)?);
    }
    Ok(outputs)
}

impl PoolWindows {
    /// The index of the largest element of each window in the input; -1 where there is none.
    fn indices(&self, attributes: &Attributes<'_>, cx: &mut EvalContext<'_>, shape: Shape) -> Result<Value> {
        let columns_first = attributes.flag("storage_order", false)?;
        let add = |best: &mut Option<(f64, usize)>, x: f64, at: usize| match best {
            Some((most, _)) if !larger(x, *most) => {}
            _ => *best = Some((x, at)),
        };
        let finish = |best: &Option<(f64, usize)>| {
            let &Some((_, mut best)) = best else { return -1 };
            if columns_first {
                let (mut rest, mut before) = (best, self.size());
                best = 0;
                for axis in self.axes.iter().rev() {
                    before /= axis.size;
                    best += rest % axis.size * before;
                    rest /= axis.size;
                }
            }
            i64_of(best)
        };
        let x = cx.factor(0)?;
        let store = |line: &[Option<(f64, usize)>], _, out: &mut [u8]| {
            for (out, best) in out.as_chunks_mut().0.iter_mut().zip(line) {
                *out = finish(best).to_ne_bytes();
            }
        };
        let pool = PoolFold::new(&|_| {}, None, add);
        let indices = self.pooled(cx, x.numbers(), &pool, (size_of::<i64>(), &store))?;
        let mut indices: Vec<_> =
            indices.as_chunks().0.iter().map(|bytes| i64::from_ne_bytes(*bytes)).collect();
        let (count, size) = (self.count().max(1), self.size());
        for (plane, indices) in indices.chunks_mut(count).enumerate() {
            indices.iter_mut().filter(|index| **index >= 0).for_each(|index| *index += i64_of(plane * size));
        }
        let (dtype, _) = cx.output(1)?;
        let indices = indices.iter().map(|&index| Number::Int(index.into()));
        Ok(Tensor::from_numbers(dtype, shape, indices, Rules::IEEE)?.into())
    }
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
