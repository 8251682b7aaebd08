//! Range: `start`, `start + step`, … while short of the limit.
//!
//! | standard | operator | versions | types | scalars |
//! |---|---|---|---|---|
//! | ONNX | `Range` | 11 | int16, int32, int64, float32, float64 | of shape `[]` or `[1]` |
//! | ONNX | `Range` | 27 | and float16, bfloat16; `stash_type` | of shape `[]` or `[1]` |
//! | OpenVINO | `Range` | 1 | all numeric types, one for all | of shape `[]` |
//! | OpenVINO | `Range` | 4 | any three numeric types; `output_type` | of shape `[]` |
//!
//! Elements are [`RangePlan`]'s: exact, rounded once. So `stash_type`, a precision for running
//! sums, changes nothing here; it does in the body by which ONNX defines Range as a function, which
//! [`body`] makes and
//! [`RunOptions::expand_functions`](gradus_engine::program::RunOptions::expand_functions) runs.
//! docs/numerics.md shows where the two differ.
//!
//! By an infinite step, floats have no elements short of the limit: the range is empty.
//!
//! Sources: ONNX Range-11, Range-27; OpenVINO Range-1, Range-4.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use gradus_core::float::Format;
use gradus_core::graph::{Builder, Content, Graph, Origin, Standard};
use gradus_core::{DType, Error, Kind, Number, Result, Tensor, Value, convert};
use gradus_formats::onnx as format;
use gradus_sequences::{Argument, RangeError, RangePlan};

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::op::{BuildContext, EvalContext, Op};
use crate::program::{Compiler, GraphProgram, RunOptions};
use crate::schema::{Arity, Signature, Sort, Types, attribute, param};

/// The types that OpenVINO's texts call numeric.
#[rustfmt::skip]
const NUMERIC: Types = Types::tensors(&[
    DType::I4, DType::I8, DType::I16, DType::I32, DType::I64,
    DType::U1, DType::U2, DType::U3, DType::U4, DType::U6, DType::U8, DType::U16, DType::U32, DType::U64,
    DType::F16, DType::BF16, DType::F32, DType::F64,
    DType::F8E4M3FN, DType::F8E5M2, DType::F8E8M0, DType::F4E2M1, DType::NF4,
]);

pub const RANGE_1: Signature = Signature {
    domain: "",
    name: "Range",
    since: 1,
    deprecated: false,
    inputs: &[
        param("start", "T", NUMERIC, Arity::One),
        param("stop", "T", NUMERIC, Arity::One),
        param("step", "T", NUMERIC, Arity::One),
    ],
    outputs: &[param("output", "T", NUMERIC, Arity::One)],
    attributes: &[],
};

pub const RANGE_4: Signature = Signature {
    since: 4,
    inputs: &[
        param("start", "T1", NUMERIC, Arity::One),
        param("stop", "T2", NUMERIC, Arity::One),
        param("step", "T3", NUMERIC, Arity::One),
    ],
    outputs: &[param("output", "", NUMERIC, Arity::One)],
    attributes: &[attribute("output_type", Sort::String, true)],
    ..RANGE_1
};

#[derive(Debug)]
pub struct RangeOp {
    /// The type that inputs are cast to before anything else, and the output's; nothing if it is
    /// the inputs'.
    pub cast_to: Option<DType>,
    /// True if a tensor of shape `[1]` passes for a scalar.
    lists_of_one: bool,
    /// Start, limit and step in the words of the text.
    pub labels: [&'static str; 3],
}

const ONNX_LABELS: [&str; 3] = ["input 0 \"start\"", "input 1 \"limit\"", "input 2 \"delta\""];

const OPENVINO_LABELS: [&str; 3] = ["input 0 \"start\"", "input 1 \"stop\"", "input 2 \"step\""];

impl RangeOp {
    /// Builds the operator of a node.
    pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        Ok(Box::new(RangeOp::of(cx.row.standard, &cx.attributes)?))
    }

    /// The range of a node, of which OpenVINO's names its output type since version 4.
    pub fn of(standard: Standard, attributes: &Attributes<'_>) -> Result<RangeOp> {
        if standard == Standard::Onnx {
            return Ok(RangeOp { cast_to: None, lists_of_one: true, labels: ONNX_LABELS });
        }
        let cast_to = attributes.dtype("output_type")?;
        if let Some(dtype) = cast_to.filter(|&dtype| !NUMERIC.tensor.contains(dtype)) {
            let what = "attribute \"output_type\"";
            return Err(Error::mismatch(Kind::Type, what, dtype, "a numeric type"));
        }
        Ok(RangeOp { cast_to, lists_of_one: false, labels: OPENVINO_LABELS })
    }

    /// Returns true if a shape of that many elements along each axis passes for a scalar; `None` is
    /// an unknown size.
    pub fn is_scalar(&self, dims: &[Option<usize>]) -> bool {
        match dims {
            [] => true,
            [len] => self.lists_of_one && len.is_none_or(|len| len == 1),
            _ => false,
        }
    }

    /// The plan for three scalars. Inference and evaluation both ask here.
    pub fn plan(&self, inputs: [&Tensor; 3]) -> Result<RangePlan> {
        let dtype = self.cast_to.unwrap_or(inputs[0].dtype());
        let mut numbers = [Number::Int(0); 3];
        for (index, (number, tensor)) in numbers.iter_mut().zip(inputs).enumerate() {
            *number = self.scalar(index, tensor)?;
        }
        let is_finite = |number: &Number| !matches!(number, Number::Float(x) if !x.is_finite());
        let is_infinite = matches!(numbers[2], Number::Float(x) if x.is_infinite());
        if is_infinite && dtype.is_float() && numbers[..2].iter().all(is_finite) {
            // Quotients by an infinite step are zeros, so that no element is short of the limit.
            numbers = [numbers[0], numbers[0], Number::Int(1)];
        }
        let plan = match self.cast_to {
            Some(dtype) => numbers_cast(numbers, dtype).and_then(|[a, b, s]| RangePlan::new(a, b, s, dtype)),
            None => RangePlan::new(numbers[0], numbers[1], numbers[2], dtype),
        };
        plan.map_err(|error| match error {
            RangeError::ZeroStep if !numbers[2].is_zero() => {
                let (label, step) = (self.labels[2], gradus_core::display::element(inputs[2], 0));
                errors::value(label, step, format_args!("a step that is not 0 after the cast to {dtype}"))
            }
            other => other.describe(self.labels),
        })
    }

    fn scalar(&self, index: usize, tensor: &Tensor) -> Result<Number> {
        let dims: Vec<_> = tensor.shape().dims().iter().map(|&len| Some(len)).collect();
        if self.is_scalar(&dims) { tensor.number(0) } else { Err(self.no_scalar(index, tensor.shape())) }
    }

    /// The error for an input that is no scalar.
    pub fn no_scalar(&self, index: usize, shape: impl std::fmt::Display) -> Error {
        errors::shape(format_args!("shape of {}", self.labels[index]), shape, "a scalar")
    }
}

/// The inputs as OpenVINO Range-4 casts them: toward zero to integers if the output is one, and not
/// at all if it is a float, since an accumulation type may have any precision. A step that the
/// output type would cut to zero is zero.
fn numbers_cast(numbers: [Number; 3], dtype: DType) -> Result<[Number; 3], RangeError> {
    let arguments = [Argument::Start, Argument::Limit, Argument::Step];
    let mut cast = numbers;
    for (number, argument) in cast.iter_mut().zip(arguments) {
        match *number {
            Number::Float(x) if !x.is_finite() => return Err(RangeError::NotFinite(argument, x)),
            Number::Float(x) if dtype.is_integer() => {
                *number = convert::truncated(x).map(Number::Int).ok_or(RangeError::Beyond(argument, x))?;
            }
            _ => {}
        }
    }
    let step = numbers[2];
    let min = Format::of(dtype).map(Format::least_exponent);
    if !step.is_zero() && min.is_some_and(|min| step.parts().leading() < min) {
        return Err(RangeError::ZeroStep);
    }
    Ok(cast)
}

impl Op for RangeOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let plan = self.plan([cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?])?;
        Ok(vec![gradus_kernels::tensor(&plan, &cx.limits(), cx.in_use())?.into()])
    }
}

/// Range by the body that ONNX gives for it, iteration by iteration. The body depends on the
/// element type.
#[derive(Debug)]
pub struct RangeFunction {
    since: i64,
    stash: DType,
    options: RunOptions,
    programs: Mutex<HashMap<DType, Arc<GraphProgram>>>,
}

impl RangeFunction {
    /// Builds the operator of a node.
    pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        let stash = if cx.attributes.get("stash_type").is_some() {
            required("stash_type", cx.attributes.dtype("stash_type")?)?
        } else {
            DType::F32
        };
        let options = cx.compiler.options();
        Ok(Box::new(RangeFunction { since: cx.signature.since, stash, options, programs: Mutex::default() }))
    }

    fn program(&self, dtype: DType) -> Result<Arc<GraphProgram>> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&dtype) {
            return Ok(program.clone());
        }
        let graph = body(self.since, dtype, self.stash)?;
        let program = Arc::new(Compiler::plain(Standard::Onnx, self.options).inner(&graph)?);
        programs.insert(dtype, program.clone());
        Ok(program)
    }
}

/// The body of ONNX Range: the number of elements by a quotient of floats, then a loop with a
/// running sum.
///
/// Version 27 runs float16 and bfloat16 in `stash`, and casts each element back; all others take
/// the quotient in float32, whatever their type. The operators are those of the version's own
/// operator set, so that version 11 has no valid body for int16: Sub does not take it before
/// version 14.
///
/// # Errors
/// [`Kind::Value`] if `stash` is neither float32 nor float64.
pub fn body(since: i64, dtype: DType, stash: DType) -> Result<Graph> {
    // Only versions with a stash take these types.
    let stashed = matches!(dtype, DType::F16 | DType::BF16);
    if stashed && !matches!(stash, DType::F32 | DType::F64) {
        return Err(errors::value("attribute \"stash_type\"", stash, "float32 or float64"));
    }
    let to = |dtype: DType| vec![("to", Content::Int(format::number_of(dtype).unwrap_or(0)))];
    let words = ["start", "limit", "delta"];
    let mut body = Builder::new("Range");
    for input in words {
        body.define(input, Origin::Input)?;
    }
    let (start, limit, delta) = if stashed {
        for word in words {
            body.apply("", "Cast", since, &[word], &[&format!("{word}_stashed")], to(stash))?;
        }
        ("start_stashed", "limit_stashed", "delta_stashed")
    } else {
        ("start", "limit", "delta")
    };
    body.apply("", "Sub", since, &[limit, start], &["span"], vec![])?;
    if stashed {
        body.apply("", "Div", since, &["span", delta], &["quotient"], vec![])?;
    } else {
        body.apply("", "Cast", since, &["span"], &["span_f32"], to(DType::F32))?;
        body.apply("", "Cast", since, &[delta], &["delta_f32"], to(DType::F32))?;
        body.apply("", "Div", since, &["span_f32", "delta_f32"], &["quotient"], vec![])?;
    }
    body.apply("", "Ceil", since, &["quotient"], &["whole"], vec![])?;
    body.apply("", "Relu", since, &["whole"], &["count"], vec![])?;
    body.apply("", "Cast", since, &["count"], &["trips"], to(DType::I64))?;
    body.apply("", "Cast", since, &["count"], &["any"], to(DType::Bool))?;
    let graph = Content::Graph(Arc::new(iteration(since, delta)?));
    let sums = if stashed { "sums" } else { "output" };
    body.apply("", "Loop", since, &["trips", "any", start], &["", sums], vec![("body", graph)])?;
    if stashed {
        body.apply("", "Cast", since, &["sums"], &["output"], to(dtype))?;
    }
    body.output("output");
    body.finish()
}

/// One iteration: the sum so far is an element; the next sum is by `delta` more.
fn iteration(since: i64, delta: &str) -> Result<Graph> {
    let mut iteration = Builder::nested("iteration");
    for input in ["i", "go_on", "sum"] {
        iteration.define(input, Origin::Input)?;
    }
    iteration.apply("", "Identity", since, &["go_on"], &["still"], vec![])?;
    iteration.apply("", "Add", since, &["sum", delta], &["next"], vec![])?;
    iteration.apply("", "Identity", since, &["sum"], &["element"], vec![])?;
    for output in ["still", "next", "element"] {
        iteration.output(output);
    }
    iteration.finish()
}

impl Op for RangeFunction {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let program = self.program(cx.tensor(0)?.dtype())?;
        program.run_for_node(cx.inputs.iter().map(|value| value.cloned()).collect(), cx.run)
    }
}
