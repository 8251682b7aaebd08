//! Shape: the dimensions of a tensor as a tensor of one axis, or a window of them. Size: how many
//! elements it has.
//!
//! | standard | operator | versions | window | output |
//! |---|---|---|---|---|
//! | ONNX | `Shape` | 1, 13 | all axes | int64 |
//! | ONNX | `Shape` | 15, 19, 21, 23, 24, 25 | `start`, `end` | int64 |
//! | ONNX | `Size` | 1, 13, 19, 21, 23, 24, 25 | | int64 scalar |
//! | OpenVINO | `ShapeOf` | 1 | all axes | int64 |
//! | OpenVINO | `ShapeOf` | 3 | all axes | `output_type`: int64 or int32 |
//!
//! Negative bounds of a window have the rank added; then both are clamped to `[0, rank]`. A window
//! whose start is beyond its end is empty. (The texts of versions 15 to 23 clamp to `[0, rank - 1]`
//! in one sentence and contradict it in the next; version 24 mends that.)
//!
//! Sources: ONNX Shape-1 to -25, Size-1 to -25; OpenVINO ShapeOf-1, ShapeOf-3.

use gradus_core::convert::{self, Rules, i64_of};
use gradus_core::{DType, Number, Result, Shape as Dims, Tensor, Value};

use crate::errors;
use crate::op::{BuildContext, EvalContext, Op};
use crate::schema::{Arity, Signature, Sort, Types, attribute, param};
use crate::shape::infer::window;

/// Every element type: the texts say "any".
const ANY: Types = Types::tensors(DType::ALL);

pub const SHAPE_OF_1: Signature = Signature {
    domain: "",
    name: "ShapeOf",
    since: 1,
    deprecated: false,
    inputs: &[param("data", "T", ANY, Arity::One)],
    outputs: &[param("shape", "", Types::tensors(&[DType::I64]), Arity::One)],
    attributes: &[],
};

pub const SHAPE_OF_3: Signature = Signature {
    since: 3,
    outputs: &[param("shape", "", Types::tensors(&[DType::I32, DType::I64]), Arity::One)],
    attributes: &[attribute("output_type", Sort::String, false)],
    ..SHAPE_OF_1
};

#[derive(Debug)]
pub struct ShapeOp {
    start: i64,
    end: Option<i64>,
    dtype: DType,
}

impl ShapeOp {
    /// Builds ONNX's Shape.
    pub fn windowed(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        Ok(Box::new(ShapeOp {
            start: cx.attributes.int("start")?.unwrap_or(0),
            end: cx.attributes.int("end")?,
            dtype: DType::I64,
        }))
    }

    /// Builds OpenVINO's `ShapeOf`.
    pub fn typed(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        let dtype = cx.attributes.index_dtype("output_type")?;
        Ok(Box::new(ShapeOp { start: 0, end: None, dtype: dtype.unwrap_or(DType::I64) }))
    }

    /// The axes selected on a tensor of that rank.
    fn window(&self, rank: usize) -> std::ops::Range<usize> {
        window(self.start, self.end, rank)
    }

    fn tensor(&self, dims: &[usize]) -> Result<Tensor> {
        let numbers = dims.iter().map(|&dim| {
            let number = Number::Int(i128::from(i64_of(dim)));
            let fits = convert::number(self.dtype, convert::code(self.dtype, number, Rules::IEEE)) == number;
            let error = || errors::value("dimension", dim, format_args!("a value of {}", self.dtype));
            fits.then_some(number).ok_or_else(error)
        });
        Tensor::from_numbers(
            self.dtype,
            Dims::vector(dims.len()),
            numbers.collect::<Result<Vec<_>>>()?,
            Rules::IEEE,
        )
    }
}

impl Op for ShapeOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let dims = cx.tensor(0)?.shape().dims();
        Ok(vec![self.tensor(&dims[self.window(dims.len())])?.into()])
    }
}

#[derive(Debug)]
pub struct Size;

impl Size {
    /// Builds the operator of a node.
    pub fn build(_: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        Ok(Box::new(Size))
    }
}

impl Op for Size {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        Ok(vec![Tensor::scalar(i64_of(cx.tensor(0)?.len())).into()])
    }
}
