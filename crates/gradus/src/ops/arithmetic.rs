//! Add, Sub, Div: elementwise, with broadcasting.
//!
//! | standard | operators | versions | broadcasting |
//! |---|---|---|---|
//! | ONNX | `Add`, `Sub`, `Div` | 1, 6 | only with `broadcast`: the second operand onto axes of the first from `axis` on |
//! | ONNX | `Add`, `Sub`, `Div` | 7, 13, 14 | NumPy's |
//!
//! Floats are computed exactly and rounded once. Integers wrap; division truncates toward zero, and by zero is an
//! error (the text is silent). The attribute `consumed_inputs` of the first version says nothing about values.

use gradus_core::convert::{FromNumber, usize_of_i64};
use gradus_core::tensor::byte_len;
use gradus_core::{Error, Kind, Number, Result, Shape, Tensor, Value, dispatch};

use crate::op::{EvalCx, NodeCx, Op, Schema};

pub(super) const SCHEMAS: &[Schema] = &[
    Schema::onnx("Add", &[1, 6], |cx| legacy(Operation::Add, cx)),
    Schema::onnx("Add", &[7, 13, 14], |_| modern(Operation::Add)),
    Schema::onnx("Sub", &[1, 6], |cx| legacy(Operation::Sub, cx)),
    Schema::onnx("Sub", &[7, 13, 14], |_| modern(Operation::Sub)),
    Schema::onnx("Div", &[1, 6], |cx| legacy(Operation::Div, cx)),
    Schema::onnx("Div", &[7, 13, 14], |_| modern(Operation::Div)),
];

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add,
    Sub,
    Div,
}

/// How shapes that differ are brought together.
#[derive(Clone, Copy, Debug)]
enum Broadcast {
    /// Not at all.
    None,
    /// The second operand's axes are axes of the first, from there on; or the last ones.
    Onto(Option<i64>),
    /// As NumPy does.
    Both,
}

#[derive(Debug)]
struct Binary {
    operation: Operation,
    broadcast: Broadcast,
}

fn modern(operation: Operation) -> Result<Box<dyn Op>> {
    Ok(Box::new(Binary { operation, broadcast: Broadcast::Both }))
}

fn legacy(operation: Operation, cx: &NodeCx<'_>) -> Result<Box<dyn Op>> {
    let broadcast =
        if cx.flag("broadcast", false)? { Broadcast::Onto(cx.int("axis")?) } else { Broadcast::None };
    Ok(Box::new(Binary { operation, broadcast }))
}

impl Operation {
    fn apply<T: FromNumber>(self, a: T, b: T) -> Result<T> {
        let result = match (self, a.number(), b.number()) {
            (Operation::Add, Number::Int(a), Number::Int(b)) => Number::Int(a + b),
            (Operation::Sub, Number::Int(a), Number::Int(b)) => Number::Int(a - b),
            (Operation::Div, Number::Int(_), Number::Int(0)) => {
                return Err(Error::new(Kind::Value, "an integer is divided by zero"));
            }
            (Operation::Div, Number::Int(a), Number::Int(b)) => Number::Int(a / b),
            // The types narrower than float64 have at most 24 bits of precision, and float64 at least 2 * 24 + 2: so
            // rounding to float64 first does not change the second rounding.
            (Operation::Add, Number::Float(a), Number::Float(b)) => Number::Float(a + b),
            (Operation::Sub, Number::Float(a), Number::Float(b)) => Number::Float(a - b),
            (Operation::Div, Number::Float(a), Number::Float(b)) => Number::Float(a / b),
            _ => return Err(Error::new(Kind::Type, format!("{} is not supported", T::DTYPE))),
        };
        Ok(T::from_number(result))
    }
}

impl Binary {
    /// The second operand's shape as seen by the first, and the shape of the result.
    fn shapes(&self, a: &Shape, b: &Shape) -> Result<(Shape, Shape)> {
        let misfit = |what: &str| Error::new(Kind::Shape, format!("shapes {a} and {b} {what}"));
        match self.broadcast {
            Broadcast::Both => Ok((b.clone(), a.broadcast(b)?)),
            Broadcast::None if a == b => Ok((b.clone(), a.clone())),
            Broadcast::None => Err(misfit("differ, and \"broadcast\" is not set")),
            Broadcast::Onto(_) if b.len() == 1 => Ok((Shape::SCALAR, a.clone())),
            Broadcast::Onto(axis) => {
                let last = a
                    .rank()
                    .checked_sub(b.rank())
                    .ok_or_else(|| misfit("do not go together: the second has more axes"))?;
                let start = match axis {
                    None => last,
                    Some(axis) => {
                        let axis = if axis < 0 {
                            axis.saturating_add(gradus_core::convert::i64_of(a.rank()))
                        } else {
                            axis
                        };
                        let start = usize_of_i64(axis).filter(|&start| start <= last);
                        start.ok_or_else(|| misfit(&format!("do not go together from axis {axis} on")))?
                    }
                };
                if a.dims()[start..start + b.rank()] != *b.dims() {
                    return Err(misfit(&format!("do not go together from axis {start} on")));
                }
                let mut dims = b.dims().to_vec();
                dims.resize(a.rank() - start, 1);
                Ok((Shape::new(dims)?, a.clone()))
            }
        }
    }

    fn apply(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        let (seen, shape) = self.shapes(a.shape(), b.shape())?;
        let b = b.reshaped(seen)?;
        let operation = self.operation;
        dispatch!(a.dtype(), [I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64] => all(operation, a, &b, shape),
            dtype => Err(Error::new(Kind::Type, format!("{dtype} is not supported"))))
    }
}

fn all<T: FromNumber>(operation: Operation, a: &Tensor, b: &Tensor, shape: Shape) -> Result<Tensor> {
    let (x, y) = (a.elements::<T>()?, b.elements::<T>()?);
    let (from_a, from_b) = (Places::new(a.shape(), &shape), Places::new(b.shape(), &shape));
    let results = from_a.zip(from_b).map(|(i, j)| operation.apply(x[i], y[j])).collect::<Result<_>>()?;
    Tensor::from_vec(shape, results)
}

/// For each element of a shape, in order, the place of the element that is broadcast to it.
struct Places {
    /// By axis from the last: extent of the result, step in the operand, index.
    axes: Vec<(usize, usize, usize)>,
    place: usize,
    left: usize,
}

impl Places {
    fn new(operand: &Shape, shape: &Shape) -> Places {
        let strides = operand.strides();
        let axes = shape.dims().iter().rev().enumerate().map(|(back, &extent)| {
            let axis = operand.rank().checked_sub(back + 1);
            (extent, axis.filter(|&axis| operand[axis] > 1).map_or(0, |axis| strides[axis]), 0)
        });
        Places { axes: axes.collect(), place: 0, left: shape.len() }
    }
}

impl Iterator for Places {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let place = self.place;
        for (extent, step, index) in &mut self.axes {
            *index += 1;
            self.place += *step;
            if *index < *extent {
                break;
            }
            self.place -= *step * *extent;
            *index = 0;
        }
        Some(place)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl Op for Binary {
    fn eval(&self, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
        let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
        let (_, shape) = self.shapes(a.shape(), b.shape())?;
        cx.reserve(byte_len(a.dtype(), &shape))?;
        Ok(vec![self.apply(a, b)?.into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dims: &[usize]) -> Tensor {
        let shape = Shape::new(dims).unwrap();
        let elements = (1..).take(shape.len()).collect::<Vec<i32>>();
        Tensor::from_vec(shape, elements).unwrap()
    }

    fn add(broadcast: Broadcast, a: &[usize], b: &[usize]) -> Result<Vec<i32>> {
        let sum = Binary { operation: Operation::Add, broadcast }.apply(&tensor(a), &tensor(b))?;
        Ok(sum.elements::<i32>()?.to_vec())
    }

    #[test]
    fn modern_broadcasting_is_numpys() {
        assert_eq!(add(Broadcast::Both, &[2, 3], &[3]).unwrap(), [2, 4, 6, 5, 7, 9]);
        assert_eq!(add(Broadcast::Both, &[2, 1], &[1, 2]).unwrap(), [2, 3, 3, 4]);
        assert_eq!(add(Broadcast::Both, &[], &[2]).unwrap(), [2, 3]);
        assert_eq!(add(Broadcast::Both, &[2, 0], &[2, 1]).unwrap(), [0; 0]);
        assert!(add(Broadcast::Both, &[2], &[3]).is_err());
    }

    #[test]
    fn legacy_broadcasting_is_by_axis_and_only_on_request() {
        assert_eq!(add(Broadcast::Onto(Some(0)), &[2, 3], &[2]).unwrap(), [2, 3, 4, 6, 7, 8]);
        assert_eq!(add(Broadcast::Onto(Some(-2)), &[2, 3], &[2]).unwrap(), [2, 3, 4, 6, 7, 8]);
        assert_eq!(add(Broadcast::Onto(None), &[2, 3], &[3]).unwrap(), [2, 4, 6, 5, 7, 9]);
        assert_eq!(add(Broadcast::Onto(None), &[2], &[1, 1]).unwrap(), [2, 3]);
        assert_eq!(
            add(Broadcast::None, &[2, 3], &[3]).unwrap_err().message(),
            "shapes [2, 3] and [3] differ, and \"broadcast\" is not set",
        );
        assert_eq!(
            add(Broadcast::Onto(Some(1)), &[2, 3], &[2]).unwrap_err().message(),
            "shapes [2, 3] and [2] do not go together from axis 1 on",
        );
        assert!(add(Broadcast::Onto(Some(7)), &[2, 3], &[3]).is_err());
        assert!(add(Broadcast::Onto(None), &[3], &[2, 3]).is_err());
    }

    #[test]
    fn integers_wrap_and_division_truncates() {
        assert_eq!(Operation::Add.apply(127i8, 1).unwrap(), -128);
        assert_eq!(Operation::Sub.apply(0u8, 1).unwrap(), 255);
        assert_eq!(Operation::Add.apply(i64::MAX, i64::MAX).unwrap(), -2);
        assert_eq!(Operation::Div.apply(-7i32, 2).unwrap(), -3);
        assert_eq!(Operation::Div.apply(i64::MIN, -1).unwrap(), i64::MIN);
        assert_eq!(Operation::Div.apply(1u64, 0).unwrap_err().message(), "an integer is divided by zero");
        assert_eq!(Operation::Div.apply(1f32, 0.0).unwrap(), f32::INFINITY);
    }
}
