//! Elements at regular distances: what broadcasting and permutations of axes read, line by line.

use gradus_core::convert::{product, write_numbers};
use gradus_core::{DType, Limits, Number, Result, Shape, Tensor};
use gradus_kernels::{Options, share, widest};

/// Compiles an expression for each width of elements in bytes, and runs that for a type; the other
/// one for text and packed types.
#[macro_export]
macro_rules! by_width {
    ($dtype:expr, $width:ident => $work:expr, _ => $other:expr) => {
        by_width!(@of $dtype, $width, $work, $other, 1 2 4 8 16)
    };
    (@of $dtype:expr, $width:ident, $work:expr, $other:expr, $($bytes:literal)*) => {{
        let dtype: gradus_core::DType = $dtype;
        match dtype.bits() / 8 {
            _ if dtype.is_packed() || dtype.class() == gradus_core::Class::Text => $other,
            $($bytes => {
                const $width: usize = $bytes;
                $work
            })*
            _ => $other,
        }
    }};
}

pub use crate::by_width;

/// For each element of a result, in order, the places of the elements of `N` operands. Axes along
/// which all operands go on at the same distances are one.
#[derive(Debug)]
pub struct Strided<const N: usize> {
    /// Size of the last axis, and the distances along it.
    size: usize,
    pub steps: [usize; N],
    /// Sizes and distances of the other axes, from the last one.
    outer: Vec<(usize, [usize; N])>,
}

/// Writes the elements of a line from the places of the operands on.
type WriteLine<'a, T, const N: usize> = &'a (dyn Fn([usize; N], &mut [T]) -> Result<()> + Sync);

/// Elements that one thread makes at a time, between two looks at the limits.
const PART: usize = 1 << 14;

/// The number of threads for `elements` elements, or multiplications: one, where the others would
/// not wake in the time that it takes.
pub fn threads_for(elements: u128) -> Options {
    const FEW: u128 = 1 << 16;
    if elements < FEW { Options::ONE_THREAD } else { Options::default() }
}

/// Sets each element to what a function makes of its index, with the widest instructions if the
/// function is `#[inline(always)]`. It should own what it captures: what it would have to read
/// through a reference, it reads again after each element.
#[inline(always)]
#[allow(clippy::inline_always, clippy::needless_range_loop, reason = "functions are compiled for the level")]
pub fn each_at<T>(out: &mut [T], make: impl Fn(usize) -> T) {
    widest(
        #[inline(always)]
        move || {
            for at in 0..out.len() {
                out[at] = make(at);
            }
        },
    );
}

impl<const N: usize> Strided<N> {
    /// Axes from the last one: their sizes, and the distances of neighbours along them.
    fn new(axes: impl Iterator<Item = (usize, [usize; N])>) -> Strided<N> {
        let mut joined: Vec<(usize, [usize; N])> = Vec::new();
        for (size, steps) in axes.filter(|axis| axis.0 != 1) {
            match joined.last_mut() {
                Some((inner, own)) if own.map(|step| step * *inner) == steps => *inner *= size,
                _ => joined.push((size, steps)),
            }
        }
        if joined.is_empty() {
            joined.push((1, [0; N]));
        }
        let (size, steps) = joined.remove(0);
        Strided { size, steps, outer: joined }
    }

    /// Operands that are broadcast to a shape.
    pub fn broadcast(operands: [&Shape; N], shape: &Shape) -> Strided<N> {
        let strides = operands.map(Shape::strides);
        Strided::new(shape.dims().iter().rev().enumerate().map(|(back, &size)| {
            let step = |at: usize| {
                let axis = operands[at].rank().checked_sub(back + 1);
                axis.filter(|&axis| operands[at][axis] > 1).map_or(0, |axis| strides[at][axis])
            };
            (size, std::array::from_fn(step))
        }))
    }

    /// Calls a function with the places of the operands and the elements that lie in a line from
    /// there on, on all threads if there are many.
    pub fn fill<T: Send>(
        &self,
        out: &mut [T],
        limits: &Limits,
        write: impl Fn([usize; N], &mut [T]) -> Result<()> + Sync,
    ) -> Result<()> {
        self.fill_lines(out, limits, &write)
    }

    /// Does what [`Strided::fill`] does, compiled once for all functions.
    fn fill_lines<T: Send>(&self, out: &mut [T], limits: &Limits, write: WriteLine<'_, T, N>) -> Result<()> {
        let part = |(): &mut (), (part, mut out): (usize, &mut [T])| {
            limits.check()?;
            let mut at = part * PART;
            while !out.is_empty() {
                let (mut line, within) = (at / self.size, at % self.size);
                let mut places = self.steps.map(|step| step * within);
                for (size, steps) in &self.outer {
                    let index = line % size;
                    line /= size;
                    places.iter_mut().zip(steps).for_each(|(place, step)| *place += index * step);
                }
                let len = out.len().min(self.size - within);
                let (now, rest) = out.split_at_mut(len);
                write(places, now)?;
                (at, out) = (at + len, rest);
            }
            Ok(())
        };
        let options = threads_for(product(out.len(), 1));
        share(out.chunks_mut(PART).enumerate(), options, || (), part)
    }
}

/// Elements that are numbers at a time: they stay in the first cache.
const NUMBERS: usize = 128;

impl<const N: usize> Strided<N> {
    /// A tensor of what a function makes of the numbers of each element's operands. Loops over
    /// elements are compiled once for each type, whatever the function.
    pub fn numbers(
        &self,
        operands: [&Tensor; N],
        (dtype, shape): (DType, Shape),
        limits: &Limits,
        make: &(dyn Fn([Number; N]) -> Result<Number> + Sync),
    ) -> Result<Tensor> {
        let line = |places: [usize; N], out: &mut [u8], width: usize| {
            let mut numbers = [[Number::Int(0); NUMBERS]; N];
            let mut results = [Number::Int(0); NUMBERS];
            for (part, out) in out.chunks_mut(NUMBERS * width).enumerate() {
                let (at, count) = (part * NUMBERS, out.len() / width);
                let from = places.into_iter().zip(self.steps);
                for ((tensor, numbers), (place, step)) in operands.iter().zip(&mut numbers).zip(from) {
                    tensor.read_numbers(place + at * step, step, &mut numbers[..count])?;
                }
                for (at, result) in results[..count].iter_mut().enumerate() {
                    *result = make(std::array::from_fn(|operand| numbers[operand][at]))?;
                }
                write_numbers(dtype, &results[..count], out);
            }
            Ok(())
        };
        by_width!(dtype, W => {
            let mut out = vec![[0; W]; shape.len()];
            self.fill(&mut out, limits, |places, out| line(places, out.as_flattened_mut(), W))?;
            Tensor::from_bytes(dtype, shape, out.into_flattened().into())
        }, _ => unreachable!("elements of {dtype} are no numbers of their own"))
    }
}

impl Strided<1> {
    /// The axes of an operand in another order.
    pub fn permuted(dims: &Shape, perm: &[usize]) -> Strided<1> {
        let strides = dims.strides();
        Strided::new(perm.iter().rev().map(|&axis| (dims[axis], [strides[axis]])))
    }

    /// The elements of a tensor as one of another shape, for which room has been allowed.
    pub fn moved(&self, data: &Tensor, shape: Shape, limits: &Limits) -> Result<Tensor> {
        by_width!(data.dtype(), W => self.moved_bytes::<W>(data, shape, limits), _ => {
            let mut places = vec![0; shape.len()];
            self.fill(&mut places, limits, |[place], out| {
                out.iter_mut().enumerate().for_each(|(at, out)| *out = place + at * self.steps[0]);
                Ok(())
            })?;
            data.picked(shape, &places, limits)
        })
    }

    fn moved_bytes<const W: usize>(&self, data: &Tensor, shape: Shape, limits: &Limits) -> Result<Tensor> {
        let source = elements::<W>(data);
        let mut out = vec![[0; W]; shape.len()];
        self.fill(&mut out, limits, |[place], out| {
            match self.steps[0] {
                1 => out.copy_from_slice(&source[place..place + out.len()]),
                0 => out.fill(source[place]),
                step => {
                    out.iter_mut().zip(source[place..].iter().step_by(step)).for_each(|(out, x)| *out = *x);
                }
            }
            Ok(())
        })?;
        Tensor::from_bytes(data.dtype(), shape, out.into_flattened().into())
    }
}

/// The elements of a tensor as bytes, of which each has `W`.
pub fn elements<const W: usize>(tensor: &Tensor) -> &[[u8; W]] {
    tensor.bytes().map_or(&[], |bytes| bytes.as_chunks().0)
}
