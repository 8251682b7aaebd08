//! Ceil: the least integer not below. Relu: the greater of zero and the value.
//!
//! | standard | operator | versions | types |
//! |---|---|---|---|
//! | ONNX | `Ceil` | 1, 6, 13 | float16, float32, float64; bfloat16 since 13 |
//! | ONNX | `Relu` | 1, 6, 13, 14 | the same; int8 to int64 since 14 |
//!
//! Ceil keeps integers, zeros of either sign, infinities and NaN as they are. Relu keeps NaN; -0.0 becomes 0.0.
//! The attribute `consumed_inputs` of the first versions says nothing about values.

use gradus_core::convert::FromNumber;
use gradus_core::{Error, Kind, Number, Result, Tensor, Value, dispatch};

use crate::op::{EvalCx, Op, Schema};

pub(super) const SCHEMAS: &[Schema] = &[
    Schema::onnx("Ceil", &[1, 6, 13], |_| build(ceil)),
    Schema::onnx("Relu", &[1, 6, 13, 14], |_| build(relu)),
];

/// An operator that maps each element on its own.
#[derive(Debug)]
struct Unary {
    map: fn(Number) -> Number,
}

fn build(map: fn(Number) -> Number) -> Result<Box<dyn Op>> {
    Ok(Box::new(Unary { map }))
}

fn ceil(number: Number) -> Number {
    if let Number::Float(x) = number { Number::Float(x.ceil()) } else { number }
}

fn relu(number: Number) -> Number {
    match number {
        Number::Int(x) => Number::Int(x.max(0)),
        Number::Float(x) if x <= 0.0 => Number::Float(0.0),
        other => other,
    }
}

impl Unary {
    fn apply(&self, tensor: &Tensor) -> Result<Tensor> {
        fn all<T: FromNumber>(tensor: &Tensor, map: fn(Number) -> Number) -> Result<Tensor> {
            let elements = tensor.elements::<T>()?.iter().map(|x| T::from_number(map(x.number()))).collect();
            Tensor::from_vec(tensor.shape().clone(), elements)
        }
        dispatch!(tensor.dtype(), [I8, I16, I32, I64, F16, BF16, F32, F64] => all(tensor, self.map),
            dtype => Err(Error::new(Kind::Type, format!("{dtype} is not supported"))))
    }
}

impl Op for Unary {
    fn eval(&self, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
        let input = cx.tensor(0)?;
        cx.reserve(gradus_core::tensor::byte_len(input.dtype(), input.shape()))?;
        Ok(vec![self.apply(input)?.into()])
    }
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
            assert_eq!(float(relu, x).to_bits(), f64::to_bits(positive), "relu({x})");
        }
        assert!(float(ceil, f64::NAN).is_nan() && float(relu, f64::NAN).is_nan());
        assert_eq!(relu(Number::Int(-3)), Number::Int(0));
    }
}
