//! Functions of one element.
//!
//! | standard | operator | result |
//! |---|---|---|
//! | ONNX | `Ceil`, `Floor`, `Round` | the nearest integer above, below; of two that are equally near, the even one |
//! | ONNX | `Relu`, `Abs`, `Neg`, `Sign`, `Clip` | exact; integers wrap |
//! | ONNX | `Not`, `BitwiseNot`, `IsNaN`, `IsInf` | truth values, bits |
//! | ONNX | `Reciprocal` | rounded once |
//! | ONNX | `Exp`, `Log`, `Sqrt`, `Sin`, `Tanh`, `Sigmoid`, `Erf` and their like | [`gradus_kernels::Function`]: rounded once, in float64 below one unit in the last place |
//!
//! Ceil keeps integers, zeros of either sign, infinities and NaN as they are. Relu keeps NaN; -0.0
//! becomes 0.0. The attribute `consumed_inputs` of the first versions says nothing about values.

use gradus_core::convert::{self, FromNumber};
use gradus_core::element::Bool;
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Limits, Number, Result, Tensor, Value, dispatch};

use crate::attributes::Attributes;
use crate::elementwise::activations;
use crate::elementwise::binary::is_computed;
use crate::errors;
use crate::op::{BuildContext, EvalContext, Op};
use crate::operation::{clipped, missing_bound, rectified};
use crate::strided::{Strided, each_at};

/// An operator that maps each element on its own.
#[derive(Debug)]
struct Unary {
    map: fn(Number) -> Number,
}

/// Builds an operator that maps each element by the function of its row.
pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    if let Some(function) = cx.row.real {
        return Ok(Box::new(activations::Activation::of(function)));
    }
    let map = cx.row.function.expect("a row that is built so names a function");
    Ok(build_as(map))
}

/// The operator that maps each element.
pub fn build_as(map: fn(Number) -> Number) -> Box<dyn Op> {
    Box::new(Unary { map })
}

/// A function of floats; integers stay as they are.
pub fn float(number: Number, function: fn(f64) -> f64) -> Number {
    if let Number::Float(x) = number { Number::Float(function(x)) } else { number }
}

/// `Ceil`: rounded up.
pub fn ceil(number: Number) -> Number {
    float(number, f64::ceil)
}

/// `Abs`: the absolute value.
pub fn abs(number: Number) -> Number {
    match number {
        Number::Int(x) => Number::Int(x.abs()),
        other => float(other, f64::abs),
    }
}

/// `Neg`: the negated value.
pub fn neg(number: Number) -> Number {
    match number {
        Number::Int(x) => Number::Int(-x),
        other => float(other, |x| -x),
    }
}

/// `Sign`: -1, 0 or 1; a NaN or a zero itself.
pub fn sign(number: Number) -> Number {
    match number {
        Number::Int(x) => Number::Int(x.signum()),
        other => float(other, |x| if x == 0.0 || x.is_nan() { x } else { x.signum() }),
    }
}

/// The truth of a test for each element.
pub fn test(cx: &mut EvalContext<'_>, function: impl Fn(f64) -> bool) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    cx.reserve(byte_len(DType::Bool, data.shape()))?;
    let truth = data.numbers()?.map(|number| Bool::from(function(convert::nearest_f64(number))));
    Ok(vec![Tensor::from_vec(data.shape().clone(), cx.limits().collect(truth)?)?.into()])
}

/// `IsInf`: true for the infinities that the attributes select.
pub fn is_inf(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let positive = attributes.flag("detect_positive", true)?;
    let negative = attributes.flag("detect_negative", true)?;
    test(cx, |x| (positive && x == f64::INFINITY) || (negative && x == f64::NEG_INFINITY))
}

/// The results of a function of each element, in a loop that has vectors.
fn each<T: FromNumber>(
    data: &Tensor,
    limits: &Limits,
    function: impl Fn(T) -> T + Copy + Sync,
) -> Result<Tensor> {
    let (elements, shape) = (data.elements::<T>()?, data.shape());
    let mut results = vec![T::from_f64(0.0); elements.len()];
    Strided::broadcast([shape], shape).fill(&mut results, limits, |[first], out| {
        let elements = &elements[first..][..out.len()];
        each_at(
            out,
            #[inline(always)]
            move |at| function(elements[at]),
        );
        Ok(())
    })?;
    Tensor::from_vec(shape.clone(), results)
}

/// The results of a function of the number of each element.
fn numbers(
    data: &Tensor,
    dtype: DType,
    limits: &Limits,
    map: impl Fn(Number) -> Number + Sync,
) -> Result<Tensor> {
    let shape = data.shape();
    let strided = Strided::broadcast([shape], shape);
    strided.numbers([data], (dtype, shape.clone()), limits, &|[x]| Ok(map(x)))
}

/// The results of a function of each integer.
fn integers(data: &Tensor, limits: &Limits, map: impl Fn(i128) -> i128 + Sync) -> Result<Tensor> {
    let dtype = is_computed(data.dtype()).ok().filter(|dtype| dtype.is_integer());
    let dtype = dtype.ok_or_else(|| errors::dtype(data.dtype(), "a real numeric type"))?;
    numbers(data, dtype, limits, |x| Number::Int(map(integer(x))))
}

/// The value of an integer.
fn integer(number: Number) -> i128 {
    if let Number::Int(x) = number { x } else { 0 }
}

/// `Clip`: elements between two optional bounds.
pub fn clip(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    /// The bounds are of the type of the elements.
    fn floats<T: FromNumber + PartialOrd>(
        data: &Tensor,
        [low, high]: [Option<Number>; 2],
        limits: &Limits,
    ) -> Result<Tensor> {
        let [low, high] = [low, high].map(|bound| bound.map(T::from_number));
        each(
            data,
            limits,
            #[inline(always)]
            move |x: T| clipped(x, [low, high]),
        )
    }
    let data = cx.tensor(0)?;
    cx.reserve(byte_len(data.dtype(), data.shape()))?;
    let bound = |input: usize| {
        if cx.has(input) {
            return cx.tensor(input)?.only_number().map(Some);
        }
        let most = missing_bound(data.dtype());
        Ok(most.map(|most| Number::Float(if input == 1 { -most } else { most })))
    };
    let bounds = [bound(1)?, bound(2)?];
    let result = dispatch!(data.dtype(), [F16, BF16, F32, F64] => floats(data, bounds, &cx.limits()),
        _ => integers(data, &cx.limits(), |x| clipped(x, bounds.map(|bound| bound.map(integer)))));
    Ok(vec![result?.into()])
}

/// `Relu`: the maximum of the element and 0.
pub fn relu(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    fn floats<T: FromNumber + PartialOrd>(data: &Tensor, limits: &Limits) -> Result<Tensor> {
        let zero = T::from_f64(0.0);
        each(
            data,
            limits,
            #[inline(always)]
            move |x| rectified(x, zero),
        )
    }
    let data = cx.tensor(0)?;
    cx.reserve(byte_len(data.dtype(), data.shape()))?;
    let result = dispatch!(data.dtype(), [F16, BF16, F32, F64] => floats(data, &cx.limits()),
        _ => integers(data, &cx.limits(), |x| rectified(x, 0)));
    Ok(vec![result?.into()])
}

impl Unary {
    fn apply(&self, tensor: &Tensor, limits: &Limits) -> Result<Tensor> {
        numbers(tensor, is_computed(tensor.dtype())?, limits, self.map)
    }
}

impl Op for Unary {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let input = cx.tensor(0)?;
        cx.reserve(byte_len(input.dtype(), input.shape()))?;
        Ok(vec![self.apply(input, &cx.limits())?.into()])
    }
}

/// `Floor`: rounded down.
pub fn floor(x: Number) -> Number {
    float(x, f64::floor)
}

/// `Not`: 1 for zero, otherwise 0.
pub fn logical_not(x: Number) -> Number {
    Number::Int(i128::from(x.is_zero()))
}

/// `Round`: the nearest integer, ties to even.
pub fn round(x: Number) -> Number {
    float(x, f64::round_ties_even)
}

/// `BitwiseNot`: all bits of an integer inverted.
pub fn bitwise_not(x: Number) -> Number {
    if let Number::Int(x) = x { Number::Int(!x) } else { x }
}

/// `Reciprocal`: 1 divided by the element.
pub fn reciprocal(x: Number) -> Number {
    float(x, f64::recip)
}

/// `IsNaN`: true where an element is NaN.
pub fn is_na_n(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    test(cx, f64::is_nan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_as_the_text_says() {
        let float = |map: fn(Number) -> Number, x| {
            if let Number::Float(y) = map(Number::Float(x)) { y } else { f64::NAN }
        };
        let cases = [
            (0.5, 1.0, 0.5),
            (-0.5, -0.0, 0.0),
            (-0.0, -0.0, 0.0),
            (2.0, 2.0, 2.0),
            (f64::INFINITY, f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0),
        ];
        for (x, up, positive) in cases {
            assert_eq!(float(ceil, x).to_bits(), f64::to_bits(up), "ceil({x})");
            assert_eq!(rectified(x, 0.0).to_bits(), f64::to_bits(positive), "relu({x})");
        }
        assert!(float(ceil, f64::NAN).is_nan() && rectified(f64::NAN, 0.0).is_nan());
        assert_eq!([rectified(-3, 0), rectified(i64::MAX, 0)], [0, i64::MAX]);
    }
}
