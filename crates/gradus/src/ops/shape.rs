//! Shape: the extents of a tensor as a tensor of one axis, or a window of them. Size: how many elements it has.
//!
//! | standard | operator | versions | window | output |
//! |---|---|---|---|---|
//! | ONNX | `Shape` | 1, 13 | all axes | int64 |
//! | ONNX | `Shape` | 15, 19, 21, 23, 24, 25 | `start`, `end` | int64 |
//! | ONNX | `Size` | 1, 13, 19, 21, 23, 24, 25 | | int64 scalar |
//! | OpenVINO | `ShapeOf` | 1 | all axes | int64 |
//! | OpenVINO | `ShapeOf` | 3 | all axes | `output_type`: int64 or int32 |
//!
//! Negative bounds of a window have the rank added; then both are clamped to `[0, rank]`. A window whose start is
//! beyond its end is empty. (The texts of versions 15 to 23 clamp to `[0, rank - 1]` in one sentence and contradict
//! it in the next; version 24 mends that.)
//!
//! Sources: ONNX Shape-1 to -25, Size-1 to -25; OpenVINO ShapeOf-1, ShapeOf-3.

use gradus_core::convert::{self, Rules, i64_of, usize_of_i64};
use gradus_core::{DType, Error, Kind, Number, Result, Shape as Dims, Tensor, Value};

use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::infer::{self, Cx, Outcome, onnx, openvino};
use crate::op::{EvalCx, NodeCx, Op, Schema};
use crate::schema::{Arity, Signature, Sort, Types, attribute, param};

pub(super) const SCHEMAS: &[Schema] = &[
    Schema::onnx("Shape", &[1, 13, 15, 19, 21, 23, 24, 25], Shape::windowed),
    Schema::onnx("Size", &[1, 13, 19, 21, 23, 24, 25], Size::build),
    Schema::openvino(&[SHAPE_OF_1], Shape::whole),
    Schema::openvino(&[SHAPE_OF_3], Shape::typed),
];

pub(super) const RULES: &[infer::Rules] =
    &[onnx(&["Shape"], shape_rule), onnx(&["Size"], size_rule), openvino(&["ShapeOf"], shape_rule)];

/// Every element type: the texts say "any".
const ANY: Types = Types::tensors(DType::ALL);

const SHAPE_OF_1: Signature = Signature {
    domain: "",
    name: "ShapeOf",
    since: 1,
    deprecated: false,
    inputs: &[param("data", "T", ANY, Arity::One)],
    outputs: &[param("shape", "", Types::tensors(&[DType::I64]), Arity::One)],
    attributes: &[],
};

const SHAPE_OF_3: Signature = Signature {
    since: 3,
    outputs: &[param("shape", "", Types::tensors(&[DType::I32, DType::I64]), Arity::One)],
    attributes: &[attribute("output_type", Sort::String, false)],
    ..SHAPE_OF_1
};

#[derive(Debug)]
struct Shape {
    start: i64,
    end: Option<i64>,
    dtype: DType,
}

impl Shape {
    fn windowed(cx: &NodeCx<'_>) -> Result<Box<dyn Op>> {
        Ok(Box::new(Shape { start: cx.int("start")?.unwrap_or(0), end: cx.int("end")?, dtype: DType::I64 }))
    }

    fn whole(_: &NodeCx<'_>) -> Result<Box<dyn Op>> {
        Ok(Box::new(Shape { start: 0, end: None, dtype: DType::I64 }))
    }

    fn typed(cx: &NodeCx<'_>) -> Result<Box<dyn Op>> {
        let dtype = if cx.attribute("output_type").is_some() { cx.dtype("output_type")? } else { DType::I64 };
        if !matches!(dtype, DType::I32 | DType::I64) {
            let message = format!("attribute \"output_type\" is {dtype}, but int32 or int64 is wanted");
            return Err(Error::new(Kind::Type, message));
        }
        Ok(Box::new(Shape { start: 0, end: None, dtype }))
    }

    /// The axes selected on a tensor of that rank.
    fn window(&self, rank: usize) -> std::ops::Range<usize> {
        window(self.start, self.end, rank)
    }

    fn tensor(&self, dims: &[usize]) -> Result<Tensor> {
        let numbers = dims.iter().map(|&dim| {
            let number = Number::Int(i128::from(i64_of(dim)));
            let fits = convert::number(self.dtype, convert::code(self.dtype, number, Rules::IEEE)) == number;
            let error =
                || Error::new(Kind::Value, format!("dimension {dim} is not in the range of {}", self.dtype));
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

/// The axes from one bound to the other on a tensor of that rank. Inference and evaluation both ask here.
fn window(start: i64, end: Option<i64>, rank: usize) -> std::ops::Range<usize> {
    let clamped = |bound: i64| {
        let rank = i64_of(rank);
        let bound = if bound < 0 { bound.saturating_add(rank) } else { bound };
        usize_of_i64(bound.clamp(0, rank)).unwrap_or(0)
    };
    let start = clamped(start);
    start..end.map_or(rank, clamped).max(start)
}

/// The number of axes as a signed number.
pub(super) fn rank_of(dims: &[Dim]) -> i64 {
    i64_of(dims.len())
}

fn shape_rule(cx: &mut Cx<'_, '_>) -> Outcome {
    let dtype = cx.type_of("output_type").unwrap_or(DType::I64);
    let Some(dims) = cx.known_dims(0) else {
        let count = cx.unknown("the shape of an input of unknown rank", Bounds::EXTENT);
        return Ok(vec![Fact::typed(dtype, [count])]);
    };
    let window = &dims[window(cx.int_or("start", 0), cx.int("end"), dims.len())];
    if window.iter().any(|&dim| !cx.fits(dim, dtype)) {
        return Ok(vec![Fact::typed(dtype, [Dim::from(window.len())])]);
    }
    Ok(vec![cx.integers_fact(dtype, [Dim::from(window.len())], window)])
}

fn size_rule(cx: &mut Cx<'_, '_>) -> Outcome {
    let Some(dims) = cx.known_dims(0) else { return Ok(vec![Fact::typed(DType::I64, [])]) };
    let count = cx.product(&dims);
    Ok(vec![cx.integers_fact(DType::I64, [], [count])])
}

impl Op for Shape {
    fn eval(&self, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
        let dims = cx.tensor(0)?.shape().dims();
        Ok(vec![self.tensor(&dims[self.window(dims.len())])?.into()])
    }
}

#[derive(Debug)]
struct Size;

impl Size {
    fn build(_: &NodeCx<'_>) -> Result<Box<dyn Op>> {
        Ok(Box::new(Size))
    }
}

impl Op for Size {
    fn eval(&self, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
        Ok(vec![Tensor::scalar(i64_of(cx.tensor(0)?.len())).into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_follow_the_text() {
        struct Case {
            about: &'static str,
            start: i64,
            end: Option<i64>,
            rank: usize,
            want: std::ops::Range<usize>,
        }
        let case = |about, start, end, rank, want| Case { about, start, end, rank, want };
        let cases = [
            case("all axes", 0, None, 3, 0..3),
            case("the last", -1, None, 3, 2..3),
            case("all but the last", 0, Some(-1), 3, 0..2),
            case("the middle", 1, Some(2), 3, 1..2),
            case("a start below the first axis", -10, None, 3, 0..3),
            case("an end beyond the last axis", 0, Some(10), 3, 0..3),
            case("an end below the first axis is empty", 0, Some(-10), 3, 0..0),
            case("an end of 0 is empty, not absent", 0, Some(0), 3, 0..0),
            case("a start beyond the end is empty", 2, Some(1), 3, 2..2),
            case("a start beyond the last axis is empty", 5, None, 3, 3..3),
            case("a scalar has no axes", 0, None, 0, 0..0),
            case("a scalar has no axes, whatever is asked", -1, Some(1), 0, 0..0),
            case("the greatest bounds", i64::MAX, Some(i64::MAX), 3, 3..3),
            case("the least bounds", i64::MIN, Some(i64::MIN), 3, 0..0),
            case("from the least to the greatest", i64::MIN, Some(i64::MAX), 3, 0..3),
        ];
        for Case { about, start, end, rank, want } in cases {
            assert_eq!(window(start, end, rank), want, "{about}");
        }
    }
}
