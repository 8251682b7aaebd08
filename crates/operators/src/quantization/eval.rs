//! Evaluation of quantization: integers and narrow floats that stand for `scale * (x - zero
//! point)`.

use gradus_core::convert::{Rules, nearest_f32, nearest_f64, usize_of_i64};
use gradus_core::float::Overflow;
use gradus_core::{DType, Number, Result, Tensor, Value, convert};

use crate::attributes::Attributes;
use crate::fact::range_of;
use crate::floats::Numbers;
use crate::matmul::eval::{integer_products, round, shifted};
use crate::op::EvalContext;
use crate::windows::convolutions::{add_bias, convolved};
use crate::{errors, indices};

/// Numbers of which there is one for all elements, one for each index of an axis, or one for each
/// block of an axis.
struct Spread {
    numbers: Vec<f64>,
    /// The size of the axis, and the number of elements after an index of it.
    size: usize,
    inner: usize,
    /// The indices of a block; 0 if there are no blocks.
    block: usize,
}

impl Spread {
    /// The scales or zero points that an input holds.
    fn read(attributes: &Attributes<'_>, cx: &EvalContext<'_>, input: usize) -> Result<Option<Spread>> {
        let Some(numbers) = cx.maybe_floats(input)? else { return Ok(None) };
        let dims = cx.tensor(0)?.shape().dims();
        if numbers.len() == 1 {
            return Ok(Some(Spread { numbers, size: 1, inner: 1, block: 0 }));
        }
        let axis = indices::axis(attributes.int("axis")?.unwrap_or(1), dims.len())?;
        let block = attributes.int("block_size")?.and_then(usize_of_i64).unwrap_or(0);
        let (size, inner) = (dims[axis], dims[axis + 1..].iter().product::<usize>());
        let outer = dims[..axis].iter().product::<usize>();
        let wanted = if block == 0 { size } else { outer * size.div_ceil(block) * inner };
        errors::expect_value("number of scales or zero points", numbers.len(), wanted)?;
        Ok(Some(Spread { numbers, size, inner, block }))
    }

    /// The number for an element.
    fn at(&self, place: usize) -> f64 {
        if self.numbers.len() == 1 {
            return self.numbers[0];
        }
        let index = place / self.inner % self.size;
        if self.block == 0 {
            return self.numbers[index];
        }
        let row = place / self.inner / self.size;
        let block = row * self.size.div_ceil(self.block) + index / self.block;
        self.numbers[block * self.inner + place % self.inner]
    }
}

/// The number of an element type that is nearest.
fn rounded_to(dtype: DType, x: f64) -> f64 {
    nearest_f64(convert::number(dtype, convert::code(dtype, Number::Float(x), Rules::IEEE)))
}

/// The integer nearest to a number, ties to even, within the range of a type.
fn saturated(dtype: DType, x: f64) -> Number {
    let (low, high) = range_of(dtype).unwrap_or((0, 0));
    let [low, high] = [low, high].map(|bound| nearest_f64(Number::Int(bound.into())));
    Number::Float(x.round_ties_even().max(low).min(high))
}

/// `QuantizeLinear`: elements divided by scales, rounded, plus zero points.
pub fn quantize(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dtype, shape) = cx.output(0)?;
    let x = cx.floats(0)?;
    let scales = Spread::read(attributes, cx, 1)?;
    let zeros = Spread::read(attributes, cx, 2)?;
    // The quotient is rounded as the text says.
    let given = attributes.int("precision")?.filter(|&precision| precision != 0);
    let precision = if given.is_some() { attributes.dtype("precision")? } else { None };
    let precision = precision.unwrap_or(cx.tensor(1)?.dtype());
    let zero = |place: usize| zeros.as_ref().map_or(0.0, |zeros| zeros.at(place));
    let quotient = |place: usize, x: f64| {
        let scale = scales.as_ref().map_or(1.0, |scales| scales.at(place));
        rounded_to(precision, x / scale)
    };
    let mut rules = Rules::IEEE;
    // Types of at most 6 bits have no infinity.
    if attributes.flag("saturate", true)? || dtype.bits() < 8 {
        rules.overflow = Overflow::Saturate;
    }
    let numbers = x.iter().enumerate().map(|(place, &x)| match dtype.is_integer() {
        true => saturated(dtype, quotient(place, x).round_ties_even() + zero(place)),
        false if dtype.bits() < 8 => Number::Float(quotient(place, x) + zero(place)),
        false => Number::Float(quotient(place, x)),
    });
    Ok(vec![Tensor::from_numbers(dtype, shape, numbers, rules)?.into()])
}

/// `DequantizeLinear`: elements less zero points, times scales.
pub fn dequantize(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let mut x = cx.floats(0)?;
    let scales = Spread::read(attributes, cx, 1)?;
    let zeros = Spread::read(attributes, cx, 2)?;
    for (place, x) in x.iter_mut().enumerate() {
        let zero = zeros.as_ref().map_or(0.0, |zeros| zeros.at(place));
        *x = (*x - zero) * scales.as_ref().map_or(1.0, |scales| scales.at(place));
    }
    Ok(vec![cx.rounded(0, &x)?])
}

/// The scale and zero point that make the most of 8 bits, each operation rounded to float32 as the
/// text says.
pub fn dynamic_quantize(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (codes, scale, zero) = dynamic_codes(&cx.floats(0)?);
    Ok(vec![cx.rounded(0, &codes)?, cx.rounded(1, &[scale])?, cx.rounded(2, &[zero])?])
}

/// Codes of 8 bits that span the elements and zero, their scale and their zero point.
fn dynamic_codes(x: &[f64]) -> (Vec<f64>, f64, f64) {
    let single = |x: f64| f64::from(nearest_f32(Number::Float(x)));
    let (low, high) = x.iter().fold((0.0f64, 0.0f64), |(low, high), &x| (low.min(x), high.max(x)));
    let scale = single(if high == low { 1.0 } else { single(high - low) } / 255.0);
    let zero = single(0.0 - single(low / scale)).clamp(0.0, 255.0).round_ties_even();
    let quantized = |&x: &f64| (single(x / scale).round_ties_even() + zero).clamp(0.0, 255.0);
    (x.iter().map(quantized).collect(), scale, zero)
}

/// The numbers that the codes of these elements stand for.
pub fn dynamically_quantized(x: &[f64]) -> Vec<f64> {
    let (codes, scale, zero) = dynamic_codes(x);
    codes.into_iter().map(|code| (code - zero) * scale).collect()
}

/// The numbers that elements of a quantized type stand for, each with one more factor: integers in
/// the type of the output.
fn requantized(
    cx: &EvalContext<'_>,
    zero: Option<f64>,
    numbers: impl Iterator<Item = f64>,
) -> Result<Vec<Value>> {
    let (dtype, shape) = cx.output(0)?;
    let zero = zero.unwrap_or(0.0);
    let numbers = numbers.map(|x| saturated(dtype, x + zero));
    Ok(vec![Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE)?.into()])
}

/// The only number of an input.
fn only(cx: &EvalContext<'_>, input: usize) -> Result<f64> {
    Ok(nearest_f64(cx.tensor(input)?.only_number()?))
}

/// `QLinearMatMul`: a product of integers less zero points, quantized.
pub fn q_linear_mat_mul(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let sums = integer_products(cx, [0, 3], [2, 5])?;
    let (a, b) = (cx.floats(1)?, cx.floats(4)?);
    let (scale, zero) = (only(cx, 6)?, only(cx, 7)?);
    let (_, shape) = cx.output(0)?;
    let columns =
        if cx.tensor(3)?.shape().rank() > 1 { shape.dims().last().copied().unwrap_or(1) } else { 1 };
    let of = |scales: &[f64], index: usize| scales[index % scales.len().max(1)];
    let product = |(place, sum): (usize, &f64)| {
        sum * (of(&a, place / columns.max(1)) * of(&b, place % columns.max(1)) / scale)
    };
    requantized(cx, Some(zero), sums.iter().enumerate().map(product))
}

/// The elements of weights less their zero points, one for all or one for each filter.
fn weights(cx: &EvalContext<'_>, input: usize, zero: usize) -> Result<Vec<f64>> {
    let mut numbers = cx.floats(input)?;
    if let Some(zeros) = cx.maybe_floats(zero)?.filter(|zeros| !zeros.is_empty() && !numbers.is_empty()) {
        let filter = numbers.len() / cx.tensor(input)?.shape().dims()[0];
        for (numbers, zero) in numbers.chunks_mut(filter).zip(zeros.iter().cycle()) {
            for x in numbers {
                *x -= zero;
            }
        }
    }
    Ok(numbers)
}

/// `ConvInteger`: a convolution of integers less zero points.
pub fn conv_integer(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (x, weights) = (shifted(cx, 0, 2)?, weights(cx, 1, 3)?);
    let factors = [&x, &weights].map(|all| Numbers::Doubles(all));
    let sums = convolved::<f64>(attributes, cx, [0, 1], factors, |_, sums, out| round(sums, out))?;
    Ok(vec![cx.rounded(0, &sums)?])
}

/// `QLinearConv`: a convolution of integers less zero points, quantized.
pub fn q_linear_conv(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (x, weights) = (shifted(cx, 0, 2)?, weights(cx, 3, 5)?);
    let factors = [&x, &weights].map(|all| Numbers::Doubles(all));
    let mut sums = convolved::<f64>(attributes, cx, [0, 3], factors, |_, sums, out| round(sums, out))?;
    let (_, shape) = cx.output(0)?;
    if let Some(bias) = cx.maybe_floats(8)? {
        add_bias(&mut sums, &shape, &bias);
    }
    let (x, scales) = (only(cx, 1)?, cx.floats(4)?);
    let (scale, zero) = (only(cx, 6)?, only(cx, 7)?);
    let plane: usize = shape.dims()[2..].iter().product();
    let filters = shape.dims()[1];
    let scaled = |(place, sum): (usize, &f64)| {
        let filter = place / plane % filters;
        sum * (x * scales[filter % scales.len()] / scale)
    };
    if scales.is_empty() {
        return Ok(vec![cx.rounded(0, &sums)?]);
    }
    requantized(cx, Some(zero), sums.iter().enumerate().map(scaled))
}
