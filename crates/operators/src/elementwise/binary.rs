//! Functions of two elements, with broadcasting.
//!
//! | standard | operators | versions | broadcasting |
//! |---|---|---|---|
//! | ONNX | `Add`, `Sub`, `Mul`, `Div`, `Pow`, `And`, `Or`, `Xor`, `Equal`, `Less`, `Greater` | before 7 | only with `broadcast`: the second operand onto axes of the first from `axis` on |
//! | ONNX | the same, `LessOrEqual`, `GreaterOrEqual`, `Mod`, `BitShift`, `BitwiseAnd`, `BitwiseOr`, `BitwiseXor` | since 7 | NumPy's |
//! | ONNX | `Min`, `Max`, `Sum` of any number of operands | before 8 | none |
//! | ONNX | the same | since 8 | NumPy's |
//!
//! Floats are computed exactly and rounded once, but for powers of float64, which are below one unit
//! in the last place away.
//! Integers wrap; division truncates toward zero, and by zero is an error (the text is silent);
//! what `Mod` leaves has the sign of the divisor, with `fmod` that of the dividend. The attribute
//! `consumed_inputs` of the first version says nothing about values.

use gradus_core::convert::{self, FromNumber, counted};
use gradus_core::element::Bool;
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Limits, Number, Result, Shape, Tensor, Value};

use crate::elementwise::infer::remainder_of;
use crate::errors;
use crate::op::{BuildContext, EvalContext, Op};
use crate::operation::Operation;
use crate::strided::{Strided, each_at};
use crate::words;

/// How shapes that differ are brought together.
#[derive(Clone, Copy, Debug)]
pub enum Broadcast {
    /// Not at all.
    None,
    /// The second operand's axes are axes of the first, from there on; or the last ones.
    Onto(Option<i64>),
    /// Both operands are broadcast, by the rules of NumPy.
    Both,
}

#[derive(Debug)]
pub struct BinaryOp {
    pub operation: Operation,
    pub broadcast: Broadcast,
}

/// Builds an operator of two inputs.
pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    build_as(operation(cx), cx)
}

/// The operation that the row of a node names.
pub fn operation(cx: &BuildContext<'_>) -> Operation {
    cx.row.operation.expect("a row that is built so names an operation")
}

/// Builds an operator that combines all its inputs.
pub fn fold(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    Ok(Box::new(LeftFold(binary(operation(cx), cx)?)))
}

fn build_as(operation: Operation, cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    Ok(Box::new(binary(operation, cx)?))
}

fn binary(operation: Operation, cx: &BuildContext<'_>) -> Result<BinaryOp> {
    let broadcast = match cx.attributes.int("broadcast")? {
        None => Broadcast::Both,
        Some(0) => Broadcast::None,
        Some(_) => Broadcast::Onto(cx.attributes.int("axis")?),
    };
    Ok(BinaryOp { operation, broadcast })
}

impl BinaryOp {
    /// The second operand's shape as seen by the first, and the shape of the result.
    fn shapes(&self, a: &Shape, b: &Shape) -> Result<(Shape, Shape)> {
        let misfit = |wanted: String| errors::shape("cannot broadcast: shape of input 1", b, wanted);
        match self.broadcast {
            Broadcast::Both => Ok((b.clone(), a.broadcast(b)?)),
            Broadcast::None if a == b => Ok((b.clone(), a.clone())),
            Broadcast::None => Err(misfit(format!("{a} without attribute \"broadcast\""))),
            Broadcast::Onto(_) if b.len() == 1 => Ok((Shape::SCALAR, a.clone())),
            Broadcast::Onto(axis) => {
                let last = a.rank().checked_sub(b.rank());
                let last = last.ok_or_else(|| misfit(format!("at most {} axes", a.rank())))?;
                let start = match axis {
                    None => last,
                    Some(axis) => {
                        let start = counted(axis, a.rank()).filter(|&start| start <= last);
                        start.ok_or_else(|| misfit(format!("sizes of {a} from axis {axis} on")))?
                    }
                };
                if a.dims()[start..start + b.rank()] != *b.dims() {
                    return Err(misfit(format!("sizes of {a} from axis {start} on")));
                }
                let mut dims = b.dims().to_vec();
                dims.resize(a.rank() - start, 1);
                Ok((Shape::new(dims)?, a.clone()))
            }
        }
    }

    /// The type of the result.
    fn dtype(&self, operand: DType) -> DType {
        if self.operation.compares() { DType::Bool } else { operand }
    }

    /// The result, if the limits of the run allow its memory.
    fn within(&self, a: &Tensor, b: &Tensor, cx: &EvalContext<'_>) -> Result<Tensor> {
        self.operation.check_types(a.dtype(), b.dtype())?;
        let (_, shape) = self.shapes(a.shape(), b.shape())?;
        // Elements that are not aligned are copied.
        let read = [a, b].map(|tensor| byte_len(tensor.dtype(), tensor.shape())).iter().sum();
        cx.reserve(byte_len(self.dtype(a.dtype()), &shape).saturating_add(read))?;
        self.apply(a, b, &cx.limits())
    }

    fn apply(&self, a: &Tensor, b: &Tensor, limits: &Limits) -> Result<Tensor> {
        let (seen, shape) = self.shapes(a.shape(), b.shape())?;
        let b = b.reshaped(seen)?;
        let operation = self.operation;
        if operation == Operation::Equal && a.dtype() == DType::String {
            let (x, y) = (a.texts()?, b.texts()?);
            let strided = Strided::broadcast([a.shape(), b.shape()], &shape);
            let [by_x, by_y] = strided.steps;
            let mut equal = vec![Bool::default(); shape.len()];
            strided.fill(&mut equal, limits, |[i, j], out| {
                for (at, out) in out.iter_mut().enumerate() {
                    *out = Bool::from(x[i + at * by_x] == y[j + at * by_y]);
                }
                Ok(())
            })?;
            return Tensor::from_vec(shape, equal);
        }
        let operands = [a, &b];
        // Types that models use often have loops of their own, which are vectorised.
        let dtype = is_computed(a.dtype())?;
        if dtype == b.dtype() && operation.is_arithmetic() {
            match dtype {
                DType::F32 => return floats::<f32>(operation, operands, shape, limits),
                DType::F64 => return floats::<f64>(operation, operands, shape, limits),
                _ => {}
            }
        }
        let strided = Strided::broadcast(operands.map(Tensor::shape), &shape);
        if operation.compares() {
            return strided.numbers(operands, (DType::Bool, shape), limits, &|[x, y]| {
                Ok(Number::Int(operation.holds(x, y).into()))
            });
        }
        strided.numbers(operands, (dtype, shape), limits, &|[x, y]| operation.apply(dtype, x, y))
    }
}

/// The element type, if numbers of it are computed with.
pub fn is_computed(dtype: DType) -> Result<DType> {
    use DType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    match dtype {
        Bool | I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 | F16 | BF16 | F32 | F64 => Ok(dtype),
        _ => Err(errors::dtype(dtype, "bool or a real numeric type")),
    }
}

/// Sums, differences, products or quotients of floats.
fn floats<T: FromNumber>(
    operation: Operation,
    operands: [&Tensor; 2],
    shape: Shape,
    limits: &Limits,
) -> Result<Tensor> {
    let [a, b] = [operands[0].elements::<T>()?, operands[1].elements::<T>()?];
    let lines =
        Lines { strided: Strided::broadcast(operands.map(Tensor::shape), &shape), a: &a, b: &b, limits };
    macro_rules! by {
        ($operator:tt) => {
            lines.floats(
                shape,
                #[inline(always)]
                |a, b| a $operator b,
            )
        };
    }
    match operation {
        Operation::Sub => by!(-),
        Operation::Mul => by!(*),
        Operation::Div => by!(/),
        _ => by!(+),
    }
}

/// Elements of two operands, line by line.
struct Lines<'a, T> {
    strided: Strided<2>,
    a: &'a [T],
    b: &'a [T],
    limits: &'a Limits,
}

impl<F: FromNumber> Lines<'_, F> {
    /// A tensor of what a function makes of each pair in float64, rounded once.
    fn floats(&self, shape: Shape, compute: impl Fn(f64, f64) -> f64 + Sync) -> Result<Tensor> {
        let compute = &compute;
        let mut results = vec![F::from_f64(0.0); shape.len()];
        self.strided.fill(&mut results, self.limits, |[a, b], out| {
            let (a, b, [by_a, by_b], count) = (&self.a[a..], &self.b[b..], self.strided.steps, out.len());
            match [by_a, by_b] {
                [1, 1] => {
                    let (a, b) = (&a[..count], &b[..count]);
                    each_at(
                        out,
                        #[inline(always)]
                        move |at| rounded(compute, (a[at], b[at])),
                    );
                }
                [1, 0] => {
                    let (a, b) = (&a[..count], b[0]);
                    each_at(
                        out,
                        #[inline(always)]
                        move |at| rounded(compute, (a[at], b)),
                    );
                }
                [0, 1] => {
                    let (a, b) = (a[0], &b[..count]);
                    each_at(
                        out,
                        #[inline(always)]
                        move |at| rounded(compute, (a, b[at])),
                    );
                }
                _ => out
                    .iter_mut()
                    .enumerate()
                    .for_each(|(at, out)| *out = rounded(compute, (a[at * by_a], b[at * by_b]))),
            }
            Ok(())
        })?;
        Tensor::from_vec(shape, results)
    }
}

/// A function of a pair in float64, rounded once.
#[inline(always)]
#[allow(clippy::inline_always, reason = "functions are compiled for the level")]
fn rounded<T: FromNumber>(compute: &impl Fn(f64, f64) -> f64, pair: (T, T)) -> T {
    T::from_f64(compute(convert::nearest_f64(pair.0.number()), convert::nearest_f64(pair.1.number())))
}

/// One operation over any number of operands.
#[derive(Debug)]
struct LeftFold(BinaryOp);

impl Op for LeftFold {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let mut total = cx.tensor(0)?.clone();
        for input in 1..cx.inputs.len() {
            total = self.0.within(&total, cx.tensor(input)?, cx)?;
        }
        Ok(vec![total.into()])
    }
}

impl Op for BinaryOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        Ok(vec![self.within(cx.tensor(0)?, cx.tensor(1)?, cx)?.into()])
    }
}

/// Builds `Mod`, of floored or truncated quotients.
pub fn mod_build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    let operation = if cx.attributes.flag("fmod", false)? { Operation::Fmod } else { Operation::Mod };
    let op = binary(operation, cx)?;
    let checks = remainder_of(&cx.attributes, DType::F32).is_err();
    Ok(if checks { Box::new(IntegerRemainder(op)) } else { Box::new(op) })
}

/// A `Mod` that takes integers alone.
#[derive(Debug)]
struct IntegerRemainder(BinaryOp);

impl Op for IntegerRemainder {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        if cx.tensor(0)?.dtype().is_float() {
            return Err(errors::float_remainder());
        }
        self.0.eval(cx)
    }
}

/// Builds `BitShift` to the left or to the right.
pub fn bit_shift(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    let operation =
        if words::SHIFT.of(&cx.attributes)? == "LEFT" { Operation::Left } else { Operation::Right };
    build_as(operation, cx)
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
        let sum = BinaryOp { operation: Operation::Add, broadcast }.apply(
            &tensor(a),
            &tensor(b),
            &Limits::DEFAULT,
        )?;
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
            "cannot broadcast: shape of input 1 is [3], expected [2, 3] without attribute \"broadcast\"",
        );
        assert_eq!(
            add(Broadcast::Onto(Some(1)), &[2, 3], &[2]).unwrap_err().message(),
            "cannot broadcast: shape of input 1 is [2], expected sizes of [2, 3] from axis 1 on",
        );
        assert!(add(Broadcast::Onto(Some(7)), &[2, 3], &[3]).is_err());
        assert!(add(Broadcast::Onto(None), &[3], &[2, 3]).is_err());
    }

    #[test]
    fn integers_wrap_and_division_truncates() {
        fn apply<T: FromNumber>(operation: Operation, a: T, b: Number) -> Result<T> {
            operation.apply(T::DTYPE, a.number(), b).map(T::from_number)
        }
        let int = Number::Int;
        assert_eq!(apply(Operation::Add, 127i8, int(1)).unwrap(), -128);
        assert_eq!(apply(Operation::Sub, 0u8, int(1)).unwrap(), 255);
        assert_eq!(apply(Operation::Add, i64::MAX, int(i64::MAX.into())).unwrap(), -2);
        assert_eq!(apply(Operation::Mul, i64::MAX, int(i64::MAX.into())).unwrap(), 1);
        assert_eq!(apply(Operation::Div, -7i32, int(2)).unwrap(), -3);
        assert_eq!(apply(Operation::Div, i64::MIN, int(-1)).unwrap(), i64::MIN);
        assert_eq!(
            apply(Operation::Div, 1u64, int(0)).unwrap_err().message(),
            "divisor is 0, expected an integer other than 0"
        );
        assert_eq!(apply(Operation::Div, 1f32, Number::Float(0.0)).unwrap(), f32::INFINITY);
        for (a, b, floored, truncated) in [(7i32, 3, 1, 1), (-7, 3, 2, -1), (7, -3, -2, 1), (-7, -3, -1, -1)]
        {
            assert_eq!(apply(Operation::Mod, a, int(b)).unwrap(), floored, "{a} mod {b}");
            assert_eq!(apply(Operation::Fmod, a, int(b)).unwrap(), truncated, "{a} fmod {b}");
        }
        assert_eq!(apply(Operation::Pow, 3i64, int(4)).unwrap(), 81);
        assert_eq!(apply(Operation::Pow, -2i32, int(31)).unwrap(), i32::MIN);
        assert_eq!(apply(Operation::Pow, 2i32, int(-1)).unwrap(), 0);
        assert_eq!(apply(Operation::Right, -8i8, int(1)).unwrap(), -4);
        assert_eq!(apply(Operation::Left, 1u8, int(8)).unwrap(), 0);
    }
}
