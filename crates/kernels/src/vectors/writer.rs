//! Writers: select the kernel of a plan, and split the work between threads.

use std::convert::Infallible;
use std::ops::Range;

use fearless_simd::Level as Token;
use gradus_core::convert::{FromNumber, u64_of};
use gradus_core::element::Bool;
use gradus_core::{DType, Limits, Number, Result, dispatch};
use gradus_sequences::{
    GeomspacePlan, Line, LinspacePlan, LogspacePlan, Plan, PowerLine, RangePlan, SpiralLine,
};
use half::{bf16, f16};
use num_complex::Complex;

use crate::options::{Options, Stores};
use crate::threads::share;
use crate::vectors::affine::Affine;
use crate::vectors::int_affine::IntAffine;
use crate::vectors::levels::at_level;
use crate::vectors::pair::Pair;
use crate::vectors::power::Powers;
use crate::vectors::range::{Fused, Wrapping};
use crate::vectors::spiral::Spiral;
use crate::vectors::steps::{Curve, Steps};
use crate::vectors::stream;

/// The computation of the elements of a plan, independent of the device.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// One by one, by the plan.
    Each,
    /// All as the first.
    Same,
    /// Integers, modulo a power of two.
    Wrapping(Wrapping),
    /// Numbers on a straight line.
    Line(Line),
    /// Powers of two with exponents on a straight line.
    Powers(PowerLine),
}

/// The kernel that writes the elements of a plan on the processor.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// One by one, by the plan.
    Each,
    /// All as the first.
    Same,
    /// Integers, by additions.
    Wrapping(Wrapping),
    /// Floats, by fused multiplications.
    Fused(Fused),
    /// Floats on a straight line.
    Affine(Box<Affine>),
    /// Integers on a straight line.
    IntAffine(Box<IntAffine>),
    /// Geometric sequences.
    Powers(Box<Powers>),
    /// Sequences of few values.
    Steps(Box<Steps>),
    /// Complex linspaces.
    Pair(Box<Pair>),
    /// Complex powers.
    Spiral(Box<Spiral>),
}

/// Plans that a [`Writer`] can write.
pub trait Fill: Plan {
    /// The computation of the elements.
    fn form(&self) -> Form;

    /// The kernel for the processor.
    #[doc(hidden)]
    fn kernel(&self) -> Kernel {
        Kernel::new(self.form(), self.len(), self.dtype())
    }
}

/// Fewer elements than this are not worth a preparation.
const FEW: u64 = 4;

/// Fewer complex powers than this are made one by one: the preparation takes as long as six.
const FEW_COMPLEX: u64 = 12;

impl Kernel {
    fn new(form: Form, len: u64, dtype: DType) -> Kernel {
        match form {
            Form::Each => Kernel::Each,
            Form::Same => Kernel::Same,
            Form::Wrapping(wrapping) => Kernel::Wrapping(wrapping),
            Form::Line(line) if dtype.is_integer() => {
                IntAffine::new(line, len).map_or(Kernel::Each, |affine| Kernel::IntAffine(Box::new(affine)))
            }
            Form::Line(line) => Affine::new(line, len, dtype).map_or(Kernel::Each, |affine| {
                let affine = Box::new(affine);
                if Steps::are_few(dtype) && dtype.is_float() {
                    Kernel::steps(Curve::Line(affine), dtype)
                } else {
                    Kernel::Affine(affine)
                }
            }),
            Form::Powers(line) if Steps::fits(&line, len, dtype) => Kernel::steps(Curve::Powers(line), dtype),
            Form::Powers(line) => Kernel::Powers(Box::new(Powers::new(line, dtype))),
        }
    }

    fn steps(curve: Curve, dtype: DType) -> Kernel {
        Kernel::Steps(Box::new(Steps::new(curve, dtype)))
    }

    /// The kernel that computes each element by itself, where few values are written in steps.
    #[must_use]
    pub fn of_many_values(self) -> Kernel {
        match self {
            Kernel::Steps(steps) => match steps.curve {
                Curve::Line(affine) => Kernel::Affine(affine),
                Curve::Powers(_) => Kernel::Each,
            },
            kernel => kernel,
        }
    }
}

/// Returns true for a NaN.
pub(crate) fn is_nan(number: Number) -> bool {
    matches!(number, Number::Float(x) if x.is_nan())
}

fn power_form(plan: &impl Plan, line: impl FnOnce() -> Option<PowerLine>) -> Form {
    if plan.len() < FEW {
        return Form::Each;
    }
    match line() {
        // The slope may be too small for the line. But the elements are in order, so that those
        // between equal ones are equal to them, unless NaN stands for both too small and too large.
        Some(line) if line.slope() == 0.0 && plan.at(0) == plan.at(plan.len() - 1) && !is_nan(plan.at(0)) => {
            Form::Same
        }
        Some(line) => Form::Powers(line),
        None => Form::Each,
    }
}

impl Fill for RangePlan {
    fn form(&self) -> Form {
        if let Some(wrapping) = Wrapping::new(self) {
            return Form::Wrapping(wrapping);
        }
        self.line().filter(|_| self.len() >= FEW).map_or(Form::Each, Form::Line)
    }

    fn kernel(&self) -> Kernel {
        match Fused::new(self) {
            Some(fused) => Kernel::Fused(fused),
            None => Kernel::new(self.form(), self.len(), self.dtype()),
        }
    }
}

impl Fill for LinspacePlan {
    fn form(&self) -> Form {
        if self.dtype().is_complex() || self.len() < FEW {
            return Form::Each;
        }
        // Without a line all are zero or infinite, but one end may be another zero.
        let same = || if self.at(0) == self.at(1) { Form::Same } else { Form::Each };
        self.line().map_or_else(same, Form::Line)
    }

    fn kernel(&self) -> Kernel {
        match self.components().filter(|_| self.len() >= FEW) {
            Some(parts) => Kernel::Pair(Box::new(Pair::new(parts))),
            None => Kernel::new(self.form(), self.len(), self.dtype()),
        }
    }
}

/// The kernel of a sequence of powers, which may be complex.
fn power_kernel(plan: &impl Fill, spiral: Option<SpiralLine>) -> Kernel {
    match spiral.filter(|line| line.len >= FEW_COMPLEX) {
        Some(line) => Kernel::Spiral(Box::new(Spiral::new(line))),
        None => Kernel::new(plan.form(), plan.len(), plan.dtype()),
    }
}

impl Fill for LogspacePlan {
    fn form(&self) -> Form {
        power_form(self, || self.line())
    }

    fn kernel(&self) -> Kernel {
        power_kernel(self, self.spiral())
    }
}

/// Any plan, filled with one call of [`Plan::at`] per element. For plans that have no faster form.
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_kernels::Each;
/// use gradus_sequences::RangePlan;
/// let plan = RangePlan::new(Number::Int(0), Number::Int(3), Number::Int(1), DType::I32)?;
/// let mut out = [0i32; 3];
/// gradus_kernels::fill(&Each(plan), &mut out);
/// assert_eq!(out, [0, 1, 2]);
/// # Ok::<(), gradus_sequences::RangeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Each<P>(
    /// The plan.
    pub P,
);

impl<P: Plan> Plan for Each<P> {
    fn dtype(&self) -> DType {
        self.0.dtype()
    }

    fn len(&self) -> u64 {
        self.0.len()
    }

    fn at(&self, i: u64) -> Number {
        self.0.at(i)
    }

    fn slice(&self, indices: Range<u64>) -> Each<P> {
        Each(self.0.slice(indices))
    }
}

impl<P: Plan> Fill for Each<P> {
    fn form(&self) -> Form {
        Form::Each
    }
}

impl Fill for GeomspacePlan {
    fn form(&self) -> Form {
        power_form(self, || self.line())
    }

    fn kernel(&self) -> Kernel {
        power_kernel(self, self.spiral())
    }
}

/// A plan, prepared: its elements can be written again and again, in parts and by several threads.
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_sequences::{LogspacePlan, Plan};
/// use gradus_kernels::{Options, Writer};
/// let [base, start, stop] = [2, 0, 9].map(Number::Int);
/// let plan = LogspacePlan::new(base, start, stop, 10, true, DType::F32)?;
/// let writer = Writer::new(&plan, Options::default());
/// let mut out = [0f32; 4];
/// writer.write(3, &mut out);
/// assert_eq!(out, [8.0, 16.0, 32.0, 64.0]);
/// # Ok::<(), gradus_sequences::SpaceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Writer<'p, P> {
    plan: &'p P,
    kernel: Kernel,
    options: Options,
}

/// Bytes from which elements are written past the caches where that pays ([`stream::pays`]), and by
/// two or three threads: fewer may stay in a cache that all cores share, and waking a thread costs
/// as much as writing a megabyte. Measured by `bench/python.py`, on two cores.
pub(crate) const MANY: usize = 16 << 20;

/// Bytes from which elements are written by more threads. On 16 cores, 4 MiB take a third to a
/// sixth of the time of one thread (bench/RESULTS.md).
const THREADS_MORE: usize = 4 << 20;

/// Bytes from which threads are used where an element takes as long as ten of others.
const THREADS_SLOW: usize = 1 << 20;

/// Elements from which threads are used where their plan makes them one by one.
pub(crate) const THREADS_EACH: usize = 1 << 10;
/// Elements that are written between two checks of the time where their plan makes them one by one;
/// of others, as many as have threads and stores of their own.
pub(crate) const CHUNK_EACH: usize = 1 << 13;

impl<P: Fill> Writer<'_, P> {
    /// Prepares a plan.
    pub fn new(plan: &P, options: Options) -> Writer<'_, P> {
        Writer { plan, kernel: plan.kernel(), options }
    }

    /// Writes as many elements as the slice has, from index `lo` on.
    ///
    /// # Panics
    /// If the slice is of another type than the plan, or reaches beyond it.
    pub fn write<T: Write>(&self, lo: u64, out: &mut [T]) {
        assert_eq!(self.plan.dtype(), T::DTYPE, "the plan is of another type than the slice");
        self.erased(|plan| plan.write(lo, bytemuck::cast_slice_mut(out)));
    }

    /// Writes as [`Writer::write`] does, and stops when the limits do not allow more time.
    ///
    /// # Errors
    /// As [`Limits::check`]; some elements are written then.
    ///
    /// # Panics
    /// As [`Writer::write`].
    pub fn write_within<T: Write>(&self, lo: u64, out: &mut [T], limits: &Limits) -> Result<()> {
        assert_eq!(self.plan.dtype(), T::DTYPE, "the plan is of another type than the slice");
        self.erased(|plan| plan.write_within(lo, bytemuck::cast_slice_mut(out), limits))
    }

    /// Calls a function with the plan without its type.
    pub(crate) fn erased<R>(&self, work: impl FnOnce(ErasedPlan<'_>) -> R) -> R {
        let (dtype, len) = (self.plan.dtype(), self.plan.len());
        let at = |i| self.plan.at(i);
        work(ErasedPlan { at: &at, dtype, len, kernel: &self.kernel, options: self.options })
    }
}

/// A plan without its type, so that loops over elements are compiled once, and in this crate.
pub(crate) struct ErasedPlan<'a> {
    pub(crate) at: &'a (dyn Fn(u64) -> Number + Sync),
    pub(crate) dtype: DType,
    pub(crate) len: u64,
    pub(crate) kernel: &'a Kernel,
    pub(crate) options: Options,
}

impl ErasedPlan<'_> {
    /// Writes elements as they lie in memory, from index `lo` on.
    fn write(&self, lo: u64, out: &mut [u8]) {
        fn write<T: Write>(plan: &ErasedPlan<'_>, lo: u64, out: &mut [u8]) {
            plan.write_elements::<T>(lo, bytemuck::cast_slice_mut(out));
        }
        dispatch!(self.dtype,
            [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => write(self, lo, out),
            dtype => unreachable!("elements of {dtype} are written as codes"));
    }

    /// Writes as [`ErasedPlan::write`] does, within limits.
    pub(crate) fn write_within(&self, lo: u64, out: &mut [u8], limits: &Limits) -> Result<()> {
        let width = self.dtype.bits() / 8;
        let chunk = if matches!(self.kernel, Kernel::Each) { CHUNK_EACH } else { MANY / width };
        for (i, part) in out.chunks_mut(chunk * width).enumerate() {
            limits.check()?;
            self.write(lo + u64_of(i * chunk), part);
        }
        Ok(())
    }

    fn write_elements<T: Write>(&self, lo: u64, out: &mut [T]) {
        let left = self.len.checked_sub(lo);
        assert!(left.is_some_and(|left| u64_of(out.len()) <= left), "the slice reaches beyond the plan");
        let (threads, streams) = (self.threads(out), self.streams(out));
        if threads == 1 {
            return self.write_alone(lo, out, streams);
        }
        let part = out.len().div_ceil(threads);
        in_parts(out, part, self.options, |at, out| self.write_alone(lo + u64_of(at), out, streams));
    }

    fn threads<T>(&self, out: &[T]) -> usize {
        let (bytes, count) = (size_of_val(out), self.options.count());
        let pays = match self.kernel {
            Kernel::Each => out.len() >= THREADS_EACH,
            // Powers of types of at most 16 bits take several times as long as what is stored.
            Kernel::Powers(_) if size_of::<T>() <= 2 => bytes >= THREADS_SLOW,
            _ => bytes >= if count > 3 { THREADS_MORE } else { MANY },
        };
        if pays { count } else { 1 }
    }

    fn streams<T>(&self, out: &[T]) -> bool {
        match self.options.stores {
            Stores::Auto if size_of_val(out) < MANY => false,
            Stores::Auto => {
                let fast = match self.kernel {
                    Kernel::Each => return false,
                    Kernel::Powers(_) => self.dtype == DType::F64,
                    _ => size_of::<T>() >= 4,
                };
                stream::pays(fast)
            }
            Stores::Cached => false,
            Stores::Streaming => true,
        }
    }

    fn write_alone<T: Write>(&self, lo: u64, out: &mut [T], streams: bool) {
        let token = self.options.token();
        let at = |i| T::from_number((self.at)(i));
        let elements = Elements { at: &at, len: self.len };
        let write = |lo, out: &mut [T], streams| T::write(self.kernel, &elements, lo, out, token, streams);
        if !streams {
            return write(lo, out, false);
        }
        match self.kernel {
            // These store past the caches as they go.
            Kernel::Affine(_) | Kernel::IntAffine(_) | Kernel::Powers(_) | Kernel::Steps(_) => {
                stream::in_lines(out, |at, out| write(lo + u64_of(at), out, true));
            }
            _ => stream::write(out, |at, out| write(lo + u64_of(at), out, false)),
        }
    }
}

/// Calls a function with parts of a slice and their first indices, as [`share`] does.
pub(crate) fn in_parts<T: Send>(
    out: &mut [T],
    part: usize,
    options: Options,
    write: impl Fn(usize, &mut [T]) + Sync,
) {
    let Ok(()) = share(
        out.chunks_mut(part).enumerate(),
        options,
        || (),
        |(), (at, out)| {
            write(at * part, out);
            Ok::<_, Infallible>(())
        },
    );
}

/// A type-erased plan, so that each SIMD level is compiled once per element type rather than once
/// per plan.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "a function has nothing to show")]
pub struct Elements<'a, T> {
    pub(crate) at: ExactElement<'a, T>,
    pub(crate) len: u64,
}

/// Computes an element exactly.
pub type ExactElement<'a, T> = &'a dyn Fn(u64) -> T;

/// Element types that can be written.
pub trait Write: FromNumber + Default {
    #[doc(hidden)]
    fn write(
        kernel: &Kernel,
        elements: &Elements<Self>,
        lo: u64,
        out: &mut [Self],
        token: Token,
        streams: bool,
    );
}

/// Writes every element by the plan, or the first one only.
fn write_plain<T: Copy>(kernel: &Kernel, elements: &Elements<T>, lo: u64, out: &mut [T]) {
    if out.is_empty() {
        return;
    }
    if matches!(kernel, Kernel::Same) {
        return out.fill((elements.at)(lo));
    }
    for (i, element) in (lo..).zip(out) {
        *element = (elements.at)(i);
    }
}

/// A zero at an end may have a sign, which lines do not know.
fn restore_ends<T: Write>(elements: &Elements<T>, lo: u64, out: &mut [T]) {
    for end in [0, elements.len - 1] {
        let place = end.checked_sub(lo).and_then(|place| usize::try_from(place).ok());
        if let Some(element) = place.and_then(|place| out.get_mut(place))
            && *element == T::default()
        {
            *element = (elements.at)(end);
        }
    }
}

impl Write for f64 {
    fn write(
        kernel: &Kernel,
        elements: &Elements<f64>,
        lo: u64,
        out: &mut [f64],
        token: Token,
        streams: bool,
    ) {
        match kernel {
            Kernel::Fused(fused) => at_level!(token, _ => fused.write(lo, out)),
            Kernel::Affine(affine) => {
                at_level!(token, simd => affine.write_doubles(simd, streams, lo, out, elements.at));
                restore_ends(elements, lo, out);
            }
            Kernel::Powers(powers) => {
                at_level!(token, simd => powers.write_doubles(simd, streams, elements.at, lo, out));
            }
            _ => write_plain(kernel, elements, lo, out),
        }
    }
}

macro_rules! write_rounded {
    ($($type:ty: $powers:ident $([$fused:ident])?;)*) => {$(
        impl Write for $type {
            fn write(kernel: &Kernel, elements: &Elements<$type>, lo: u64, out: &mut [$type], token: Token, streams: bool) {
                match kernel {
                    $(Kernel::$fused(fused) => at_level!(token, _ => fused.write(lo, out)),)?
                    Kernel::Affine(affine) => {
                        at_level!(token, simd => affine.write_rounded(simd, streams, lo, out, elements.at));
                        restore_ends(elements, lo, out);
                    }
                    Kernel::Powers(powers) => at_level!(token, simd => powers.$powers(simd, streams, elements.at, lo, out)),
                    _ => write_plain(kernel, elements, lo, out),
                }
            }
        }
    )*};
}

write_rounded! {
    f16: write_halves;
    bf16: write_halves;
    f32: write_singles [Fused];
}

macro_rules! write_integers {
    ($($type:ty: $powers:ident $([$steps:ident])?;)*) => {$(
        impl Write for $type {
            fn write(kernel: &Kernel, elements: &Elements<$type>, lo: u64, out: &mut [$type], token: Token, streams: bool) {
                match kernel {
                    Kernel::Wrapping(wrapping) => at_level!(token, _ => wrapping.write(lo, out)),
                    Kernel::IntAffine(affine) => at_level!(token, simd => affine.write(simd, streams, lo, out)),
                    Kernel::Powers(powers) => at_level!(token, simd => powers.$powers(simd, streams, elements.at, lo, out)),
                    $(Kernel::$steps(steps) => at_level!(token, _ => steps.write(streams, elements.at, lo, out)),)?
                    _ => write_plain(kernel, elements, lo, out),
                }
            }
        }
    )*};
}

write_integers! {
    u8: write_rounded [Steps];
    u16: write_rounded;
    u32: write_rounded;
    u64: write_integers;
}

macro_rules! write_signed {
    ($($type:ty: $codes:ty;)*) => {$(
        impl Write for $type {
            fn write(kernel: &Kernel, elements: &Elements<$type>, lo: u64, out: &mut [$type], token: Token, streams: bool) {
                // Kernels make the low bits of integers, whatever these mean.
                let at = |i| (elements.at)(i).cast_unsigned();
                let elements = Elements { at: &at, len: elements.len };
                <$codes>::write(kernel, &elements, lo, bytemuck::cast_slice_mut(out), token, streams);
            }
        }
    )*};
}

write_signed! {
    i8: u8;
    i16: u16;
    i32: u32;
    i64: u64;
}

impl Write for Bool {
    fn write(
        kernel: &Kernel,
        elements: &Elements<Bool>,
        lo: u64,
        out: &mut [Bool],
        _token: Token,
        _streams: bool,
    ) {
        write_plain(kernel, elements, lo, out);
    }
}

macro_rules! write_pairs {
    ($($type:ty)*) => {$(
        impl Write for $type {
            fn write(kernel: &Kernel, elements: &Elements<$type>, lo: u64, out: &mut [$type], token: Token, _streams: bool) {
                match kernel {
                    Kernel::Pair(pair) => pair.write(lo, out, token),
                    Kernel::Spiral(spiral) => spiral.write(elements.at, lo, out, token),
                    _ => write_plain(kernel, elements, lo, out),
                }
            }
        }
    )*};
}

write_pairs! { Complex<f32> Complex<f64> }
