//! Every conversion between numbers, by name: the only file with `as`.
//!
//! Three kinds: between Rust's integers, where the name says when a value may be cut; from a
//! [`Number`] to the code of an element and back; and [`cast`], which converts whole tensors as
//! ONNX Cast says. The rules, for all standards (docs/numerics.md has the reasons):
//!
//! - to a float: the nearest value, ties to even; beyond the largest as [`Rules::overflow`] says;
//! - to an integer: toward zero, then the low bits of the two's complement (ONNX says so for
//!   integers and leaves floats undefined); NaN and infinities become 0;
//! - to `bool`: zero of either sign is false, all else true; from `bool`: 0 or 1;
//! - to `float8_e8m0`: a power of two as [`Rules::scale_rounding`] says;
//! - from complex numbers: the real part; to complex numbers: no imaginary part;
//! - to and from text: see [`crate::text`].
#![allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "this file is the home of casts; every name says what is cut"
)]

use half::{bf16, f16};
use num_complex::Complex;

use crate::dtype::{Class, DType};
use crate::element::{Bool, Element};
use crate::error::{Error, Kind, Result};
use crate::exact::Number;
use crate::float::{self, Format, Overflow, Parts};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::text;

/// The bit that stands for a type in a set of types.
pub const fn bit_of(dtype: DType) -> u64 {
    1 << dtype as u8
}

/// A size as a 64-bit number; sizes are 64-bit numbers here.
pub const fn u64_of(size: usize) -> u64 {
    size as u64
}

/// A 64-bit number as a size.
pub const fn usize_of(number: u64) -> usize {
    number as usize
}

/// A size that was allocated, or a rank, as a signed number: neither exceeds `i64::MAX`.
pub const fn i64_of(size: usize) -> i64 {
    debug_assert!(size <= i64::MAX as usize);
    size as i64
}

/// A non-negative signed number as a size.
pub const fn usize_of_i64(number: i64) -> Option<usize> {
    if number < 0 { None } else { Some(number as usize) }
}

/// An index, an axis or a bound, which counts from the end if it is below zero, counted from the
/// start of `len`.
pub const fn from_start(index: i64, len: i64) -> i64 {
    if index < 0 { index.saturating_add(len) } else { index }
}

/// An index or an axis counted by [`from_start`], unless it lies before the first one.
pub const fn counted(index: i64, len: usize) -> Option<usize> {
    usize_of_i64(from_start(index, i64_of(len)))
}

/// A 32-bit number as a size.
pub const fn usize_of_u32(number: u32) -> usize {
    number as usize
}

/// A count of things that a file of at most 4 GiB lists one by one.
pub const fn small_u32(count: usize) -> u32 {
    debug_assert!(count <= u32::MAX as usize);
    count as u32
}

/// A size known to be small as an `i32`.
pub const fn i32_of(size: usize) -> i32 {
    debug_assert!(size <= i32::MAX as usize);
    size as i32
}

/// The low 64 bits.
pub const fn low_u64(bits: u128) -> u64 {
    bits as u64
}

/// The low 8 bits.
pub const fn low_u8(bits: u64) -> u8 {
    bits as u8
}

/// A product of two sizes, which always fits.
pub const fn product(a: usize, b: usize) -> u128 {
    a as u128 * b as u128
}

/// A number known to be small (an exponent, a bit count) as an `i32`.
pub const fn small_i32(number: u64) -> i32 {
    debug_assert!(number <= i32::MAX as u64);
    number as i32
}

/// A number known to be small and not negative as a size.
pub const fn small_usize(number: i32) -> usize {
    debug_assert!(number >= 0);
    number as usize
}

/// `bits << by`, and 0 where all bits are shifted out.
pub const fn shifted_left(bits: u128, by: u32) -> u128 {
    if by < 128 { bits << by } else { 0 }
}

/// `bits >> by`, and 0 where all bits are shifted out.
pub const fn shifted_right(bits: u128, by: u32) -> u128 {
    if by < 128 { bits >> by } else { 0 }
}

/// How a number becomes a power of two (`float8_e8m0`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ScaleRounding {
    /// To the power at or above.
    #[default]
    Up,
    /// To the power at or below.
    Down,
    /// To the nearer power; up if both are equally near.
    Nearest,
}

/// Choices that a conversion leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The result for numbers beyond the largest, in floats of at most 8 bits.
    pub overflow: Overflow,
    /// How a number becomes a power of two.
    pub scale_rounding: ScaleRounding,
}

impl Rules {
    /// As IEEE 754 does: overflow gives infinity or NaN.
    pub const IEEE: Rules = Rules { overflow: Overflow::Special, scale_rounding: ScaleRounding::Nearest };
    /// ONNX Cast's default: the small floats saturate, scales are rounded up.
    pub const SATURATING: Rules = Rules { overflow: Overflow::Saturate, scale_rounding: ScaleRounding::Up };
}

/// The number rounded toward zero, modulo 2^64; 0 for NaN and infinities, and the real part of a
/// complex number.
#[inline]
pub fn wrapped(number: Number) -> u64 {
    let parts = match number {
        Number::Int(x) => return x as u64,
        Number::Float(x) | Number::Complex(x, _) if x.is_finite() => Parts::of_float(x),
        Number::Float(_) | Number::Complex(..) => return 0,
    };
    truncated_parts(parts)
}

/// A real rounded toward zero, modulo 2^64.
fn truncated_parts(parts: Parts) -> u64 {
    let by = parts.exponent.unsigned_abs();
    let shift = if parts.exponent < 0 { shifted_right } else { shifted_left };
    let whole = low_u64(shift(parts.mantissa, by));
    if parts.negative { whole.wrapping_neg() } else { whole }
}

/// A finite float rounded toward zero, if it is within the integers that elements have: up to 2^64
/// on either side.
pub fn truncated(value: f64) -> Option<i128> {
    (value.abs() <= 2f64.powi(64)).then_some(value as i128)
}

/// An integer as the sum of two doubles, the larger first: relatively off by less than 2^-106, if
/// it has 127 bits.
pub fn split(x: i128) -> [f64; 2] {
    let upper = x & (-1 << 74);
    let (high, low) = (upper as f64, (x - upper) as f64);
    let sum = high + low;
    [sum, low - (sum - high)]
}

/// The float nearest to a number, ties to even; of a complex number, to its real part.
pub fn nearest_f64(number: Number) -> f64 {
    match number {
        Number::Int(x) => x as f64,
        Number::Float(x) | Number::Complex(x, _) => x,
    }
}

/// The float nearest to a count.
pub fn float_of(count: usize) -> f64 {
    count as f64
}

/// The `f32` nearest to a number, ties to even, by one rounding.
pub fn nearest_f32(number: Number) -> f32 {
    match number {
        Number::Int(x) => x as f32,
        Number::Float(x) | Number::Complex(x, _) => x as f32,
    }
}

/// The `f16` nearest to a number, ties to even, by one rounding.
pub fn nearest_f16(number: Number) -> f16 {
    f16::from_bits(code(DType::F16, number, Rules::IEEE) as u16)
}

/// The `bf16` nearest to a number, ties to even, by one rounding.
pub fn nearest_bf16(number: Number) -> bf16 {
    bf16::from_bits(code(DType::BF16, number, Rules::IEEE) as u16)
}

/// The code of a number in a type of at most 64 bits that is neither text nor complex.
///
/// # Panics
/// If the type is text or complex: those have no code.
pub fn code(dtype: DType, number: Number, rules: Rules) -> u64 {
    match dtype {
        DType::Bool => u64::from(!number.is_zero()),
        DType::F64 => nearest_f64(number).to_bits(),
        DType::F32 => u64::from(nearest_f32(number).to_bits()),
        DType::F8E8M0 if number.is_finite() => scale_code(number.parts(), rules),
        DType::F8E8M0 => infinite_scale_code(nearest_f64(number), rules),
        DType::NF4 => quantile_code(nearest_f64(number)),
        _ if dtype.is_integer() => wrapped(number) & mask(dtype.bits()),
        _ => {
            let format = Format::of(dtype).expect("text and complex numbers have no code");
            let overflow = if dtype.bits() <= 8 { rules.overflow } else { Overflow::Special };
            match number {
                Number::Int(x) => format.round(Parts::of_int(x), overflow),
                Number::Float(x) | Number::Complex(x, _) => format.encode(x, overflow),
            }
        }
    }
}

/// The value of a code in a type of at most 64 bits that is neither text nor complex.
///
/// # Panics
/// If the type is text or complex: those have no code.
pub fn number(dtype: DType, code: u64) -> Number {
    let bits = dtype.bits();
    match (dtype, dtype.class()) {
        (_, Class::Bool) => Number::Int(i128::from(code & mask(bits) != 0)),
        (_, Class::Unsigned) => Number::Int(i128::from(code & mask(bits))),
        (_, Class::Signed) => Number::Int(i128::from((code << (64 - bits)) as i64 >> (64 - bits))),
        (DType::F32, _) => Number::Float(f64::from(f32::from_bits(code as u32))),
        (DType::F64, _) => Number::Float(f64::from_bits(code)),
        (DType::F8E8M0, _) => Number::Float(scale_value(code & 0xff)),
        (DType::NF4, _) => Number::Float(f64::from(QUANTILES[usize_of(code & 15)])),
        _ => Number::Float(Format::of(dtype).expect("text and complex numbers have no code").decode(code)),
    }
}

/// The lowest `bits` bits.
const fn mask(bits: usize) -> u64 {
    u64::MAX >> (64 - bits)
}

/// The code of NaN in `float8_e8m0`; the others are the exponents of two, plus 127.
const SCALE_NAN: u64 = 0xff;

fn scale_value(code: u64) -> f64 {
    if code == SCALE_NAN { f64::NAN } else { 2f64.powi(small_i32(code) - 127) }
}

/// By the table of ONNX Cast-24. Negative numbers, which it leaves undefined, become NaN.
fn scale_code(number: Parts, rules: Rules) -> u64 {
    let (least, greatest) = (-127, 127);
    if number.mantissa == 0 {
        return beyond_scales(0, rules);
    }
    if number.negative {
        return SCALE_NAN;
    }
    let power = number.leading();
    let place = (power - number.exponent).unsigned_abs();
    let rest = number.mantissa & !shifted_left(1, place);
    let above = rest != 0 || number.sticky;
    if power < least {
        return beyond_scales(0, rules);
    }
    if power > greatest || (power == greatest && above) {
        return beyond_scales(SCALE_NAN - 1, rules);
    }
    let up = match rules.scale_rounding {
        ScaleRounding::Down => false,
        ScaleRounding::Up => above,
        ScaleRounding::Nearest => place > 0 && rest >> (place - 1) != 0,
    };
    (power - least) as u64 + u64::from(up)
}

fn infinite_scale_code(value: f64, rules: Rules) -> u64 {
    if value == f64::INFINITY { beyond_scales(SCALE_NAN - 1, rules) } else { SCALE_NAN }
}

fn beyond_scales(nearest: u64, rules: Rules) -> u64 {
    if rules.overflow == Overflow::Saturate { nearest } else { SCALE_NAN }
}

/// The code of a real: rounded once, or toward zero and then the low bits; of `bool`, whether it is
/// not zero.
///
/// # Panics
/// If the type is text or complex.
pub fn code_of_parts(dtype: DType, parts: Parts, rules: Rules) -> u64 {
    match dtype {
        DType::Bool => u64::from(parts.mantissa != 0),
        _ if dtype.is_integer() => truncated_parts(parts) & mask(dtype.bits()),
        DType::F8E8M0 => scale_code(parts, rules),
        DType::NF4 => quantile_code(f64_of_parts(parts)),
        _ => {
            let overflow = if dtype.bits() <= 8 { rules.overflow } else { Overflow::Special };
            Format::of(dtype).expect("the type is real").round(parts, overflow)
        }
    }
}

/// The double nearest to a real, ties to even.
pub fn f64_of_parts(parts: Parts) -> f64 {
    f64::from_bits(float::F64.round(parts, Overflow::Special))
}

/// Returns true if a real, rounded toward zero, is an integer that the type holds.
pub fn holds(dtype: DType, parts: Parts) -> bool {
    if parts.mantissa == 0 || parts.leading() < 0 {
        return true;
    }
    if parts.leading() >= 64 {
        return false;
    }
    let by = parts.exponent.unsigned_abs();
    let shift = if parts.exponent < 0 { shifted_right } else { shifted_left };
    let (magnitude, bits) = (shift(parts.mantissa, by), dtype.bits());
    match (dtype.class(), parts.negative) {
        (Class::Unsigned, false) => magnitude >> bits == 0,
        (Class::Unsigned, true) => false,
        (_, false) => magnitude >> (bits - 1) == 0,
        (_, true) => magnitude <= 1 << (bits - 1),
    }
}

/// The values of `nf4`, as OpenVINO's Convert gives them.
const QUANTILES: [f32; 16] = [
    -1.0,
    -0.696_192_8,
    -0.525_073_05,
    -0.394_917_5,
    -0.284_441_38,
    -0.184_773_43,
    -0.091_050_036,
    0.0,
    0.079_580_3,
    0.160_930_2,
    0.246_112_3,
    0.337_915_24,
    0.440_709_83,
    0.562_617,
    0.722_956_84,
    1.0,
];

/// The nearest of the quantiles; the lower one if both are equally near, as for NaN.
fn quantile_code(value: f64) -> u64 {
    (0..15)
        .take_while(|&i| value > f64::midpoint(f64::from(QUANTILES[i]), f64::from(QUANTILES[i + 1])))
        .count() as u64
}

/// Rust types that a number can be converted to.
pub trait FromNumber: Element {
    /// The element for a number, by [`Rules::IEEE`].
    fn from_number(number: Number) -> Self;

    /// The element for a double, by the same rules, if the type holds it when it is an integer
    /// type; else the nearest that it holds.
    fn from_f64(value: f64) -> Self;
}

macro_rules! from_number {
    ($($type:ty: |$n:ident| $value:expr, |$x:ident| $of_f64:expr;)*) => {$(
        impl FromNumber for $type {
            #[inline]
            fn from_number($n: Number) -> Self { $value }

            #[inline(always)]
            fn from_f64($x: f64) -> Self { $of_f64 }
        }
    )*};
}

from_number! {
    Bool: |n| Bool::from(!n.is_zero()), |x| Bool::from(x != 0.0);
    i8: |n| wrapped(n) as i8, |x| x as i8;
    i16: |n| wrapped(n) as i16, |x| x as i16;
    i32: |n| wrapped(n) as i32, |x| x as i32;
    i64: |n| wrapped(n) as i64, |x| x as i64;
    u8: |n| wrapped(n) as u8, |x| x as u8;
    u16: |n| wrapped(n) as u16, |x| x as u16;
    u32: |n| wrapped(n) as u32, |x| x as u32;
    u64: |n| wrapped(n), |x| x as u64;
    f16: |n| nearest_f16(n), |x| nearest_f16(Number::Float(x));
    bf16: |n| nearest_bf16(n), |x| nearest_bf16(Number::Float(x));
    f32: |n| nearest_f32(n), |x| x as f32;
    f64: |n| nearest_f64(n), |x| x;
    Complex<f32>: |n| Complex::new(nearest_f32(n), nearest_f32(imaginary(n))), |x| Complex::new(x as f32, 0.0);
    Complex<f64>: |n| Complex::new(nearest_f64(n), nearest_f64(imaginary(n))), |x| Complex::new(x, 0.0);
}

fn imaginary(number: Number) -> Number {
    Number::Float(if let Number::Complex(_, im) = number { im } else { 0.0 })
}

/// Writes numbers, each converted by [`Rules::IEEE`], as elements of a type lie in memory.
///
/// # Panics
/// If elements of the type have no Rust type of their own.
///
/// ```
/// use gradus_core::{convert, DType, Number};
/// let mut bytes = [0; 4];
/// convert::write_numbers(DType::I16, &[Number::Int(1), Number::Float(-1.7)], &mut bytes);
/// assert_eq!(bytes, [1i16, -1].map(i16::to_ne_bytes).concat()[..]);
/// ```
pub fn write_numbers(dtype: DType, numbers: &[Number], out: &mut [u8]) {
    fn write<T: FromNumber>(numbers: &[Number], out: &mut [u8]) {
        for (number, out) in numbers.iter().zip(out.chunks_exact_mut(size_of::<T>())) {
            out.copy_from_slice(bytemuck::bytes_of(&T::from_number(*number)));
        }
    }
    crate::dispatch!(dtype,
        [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => write(numbers, out),
        _ => panic!("elements of {dtype} are codes"));
}

/// A tensor of another element type with the same values, as near as the type can hold them.
///
/// # Errors
/// [`Kind::Value`] where text is not a number; [`Kind::Unsupported`] between text and complex
/// numbers.
///
/// ```
/// use gradus_core::{convert, DType, Tensor};
/// let x = Tensor::vector(&[1.7f32, -1.7, 300.0]);
/// let y = convert::cast(&x, DType::I8, convert::Rules::IEEE)?;
/// assert_eq!(y.elements::<i8>()?[..], [1, -1, 44]);
/// # Ok::<(), gradus_core::Error>(())
/// ```
pub fn cast(tensor: &Tensor, to: DType, rules: Rules) -> Result<Tensor> {
    let from = tensor.dtype();
    if from == to {
        return Ok(tensor.clone());
    }
    let shape = tensor.shape().clone();
    match (from.class(), to.class()) {
        (Class::Complex, Class::Text) | (Class::Text, Class::Complex) => {
            Err(Error::new(Kind::Unsupported, format!("cannot convert {from} to {to}")))
        }
        (_, Class::Text) => {
            let texts = tensor.numbers()?.map(|number| text::to_text(number, from)).collect();
            Tensor::from_text(shape, texts)
        }
        (Class::Text, _) => {
            let numbers =
                tensor.texts()?.iter().map(|text| text::parse_for(text, to)).collect::<Result<Vec<_>>>()?;
            convert_all(to, shape, &mut numbers.into_iter(), rules)
        }
        _ => {
            let read = crate::dispatch!(from,
                [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => reader(),
                _ => return convert_all(to, shape, &mut *tensor.numbers()?, rules));
            let bytes = tensor.bytes().map_or(&[][..], |bytes| bytes);
            let mut all = collector(to, tensor.len(), rules)?;
            for bytes in bytes.chunks(CHUNK * from.bits() / 8) {
                all.add(&read(bytes));
            }
            all.finish(shape)
        }
    }
}

/// Numbers that are converted at a time: they stay in the first cache.
const CHUNK: usize = 256;

/// Numbers between one type and another: loops for each pair of types would take long to compile.
enum Chunk {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Numbers(Vec<Number>),
}

/// A function that reads elements as they lie in memory.
fn reader<A: Element>() -> fn(&[u8]) -> Chunk {
    |bytes| {
        let numbers =
            bytes.chunks_exact(size_of::<A>()).map(|x| bytemuck::pod_read_unaligned::<A>(x).number());
        match A::DTYPE.class() {
            Class::Float => Chunk::Floats(numbers.map(nearest_f64).collect()),
            Class::Complex => Chunk::Numbers(numbers.collect()),
            _ if A::DTYPE == DType::U64 => Chunk::Numbers(numbers.collect()),
            _ => Chunk::Ints(numbers.map(|number| wrapped(number).cast_signed()).collect()),
        }
    }
}

/// A tensor of numbers, each converted to the element type. Any type of iterator shares the loops.
///
/// # Errors
/// [`Kind::Type`] for text.
pub(crate) fn convert_all(
    to: DType,
    shape: Shape,
    numbers: &mut dyn Iterator<Item = Number>,
    rules: Rules,
) -> Result<Tensor> {
    let len = numbers.size_hint().0;
    let mut all = collector(to, len, rules)?;
    loop {
        let chunk: Vec<_> = numbers.take(CHUNK).collect();
        let last = chunk.len() < CHUNK;
        all.add(&Chunk::Numbers(chunk));
        if last {
            return all.finish(shape);
        }
    }
}

/// Elements of a type that are made of numbers.
trait Collect {
    /// Adds an element for each number.
    fn add(&mut self, numbers: &Chunk);

    /// The tensor of all elements.
    fn finish(self: Box<Self>, shape: Shape) -> Result<Tensor>;
}

/// No elements of a type, and memory for some.
fn collector(to: DType, len: usize, rules: Rules) -> Result<Box<dyn Collect>> {
    fn of<T: FromNumber>(len: usize) -> Box<dyn Collect> {
        Box::new(Vec::<T>::with_capacity(len))
    }
    if to == DType::String {
        return Err(Error::mismatch(Kind::Type, "element type", to, "a type of numbers"));
    }
    Ok(crate::dispatch!(to,
        [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => of(len),
        _ => Box::new(SmallElements { dtype: to, rules, codes: Vec::with_capacity(len) })))
}

impl<T: FromNumber> Collect for Vec<T> {
    fn add(&mut self, numbers: &Chunk) {
        match numbers {
            Chunk::Ints(ints) => self.extend(ints.iter().map(|&x| T::from_number(Number::Int(x.into())))),
            Chunk::Floats(floats) => self.extend(floats.iter().map(|&x| T::from_number(Number::Float(x)))),
            Chunk::Numbers(numbers) => self.extend(numbers.iter().copied().map(T::from_number)),
        }
    }

    fn finish(self: Box<Self>, shape: Shape) -> Result<Tensor> {
        Tensor::from_vec(shape, *self)
    }
}

/// Elements of at most 8 bits.
struct SmallElements {
    dtype: DType,
    rules: Rules,
    codes: Vec<u8>,
}

impl Collect for SmallElements {
    fn add(&mut self, numbers: &Chunk) {
        let code = |number| code(self.dtype, number, self.rules) as u8;
        match numbers {
            Chunk::Ints(ints) => self.codes.extend(ints.iter().map(|&x| code(Number::Int(x.into())))),
            Chunk::Floats(floats) => self.codes.extend(floats.iter().map(|&x| code(Number::Float(x)))),
            Chunk::Numbers(numbers) => self.codes.extend(numbers.iter().copied().map(code)),
        }
    }

    fn finish(self: Box<Self>, shape: Shape) -> Result<Tensor> {
        Tensor::from_codes(self.dtype, shape, &self.codes)
    }
}
