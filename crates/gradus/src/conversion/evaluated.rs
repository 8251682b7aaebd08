//! Operators of OpenVINO that are run by what they become in ONNX.

use std::sync::{Arc, Mutex, PoisonError};

use gradus_core::graph::{self, Builder, Graph, Node, Origin, Slots, Standard, Type};
use gradus_core::{Error, Kind, Number, Result, Shape, Value};
use gradus_formats::onnx::NEWEST_OPSET;

use super::ConvertOptions;
use crate::fact::TensorFact;
use crate::infer::InferOptions;
use crate::model::Model;
use crate::op::{EvalContext, Op};
use crate::operators;
use crate::program::{Compiler, GraphProgram, RunOptions};

/// Most elements of an input of integers that the conversion sees: sizes, axes and their like.
const MOST_ELEMENTS: usize = 64;

/// Maximum number of elements of a list of floats that the conversion sees, as scales of axes.
const MAX_FLOATS: usize = 5;

/// A node of OpenVINO that is run by the ONNX operators that it becomes.
#[derive(Debug)]
struct ConvertedOp {
    node: Node,
    options: RunOptions,
    /// The last program, and what was known of the inputs that it was written for.
    last: Mutex<Option<(Inputs, Arc<Converted>)>>,
}

/// The program of a node, and the shapes that OpenVINO's rule infers for its outputs.
#[derive(Debug)]
struct Converted {
    program: GraphProgram,
    shapes: Vec<Option<Shape>>,
}

/// The facts about each input that is given.
type Inputs = Vec<Option<Known>>;

/// A fact that a conversion may depend on: the type of an input, and the elements of few integers or
/// the bits of few floats.
#[derive(Clone, Debug, PartialEq)]
enum Known {
    Type(Type),
    Elements(Type, Vec<i64>),
}

impl Known {
    fn of(value: &Value) -> Option<Known> {
        let tensor = value.tensor().ok()?;
        let of = Type::tensor(tensor.dtype(), tensor.shape());
        if tensor.dtype().is_integer() && tensor.shape().len() <= MOST_ELEMENTS {
            return Some(Known::Elements(of, tensor.to_i64().ok()?));
        }
        let shape = tensor.shape();
        if shape.len() == 1 || (shape.rank() == 1 && shape.len() <= MAX_FLOATS) {
            let bits = |number| match number {
                Number::Float(float) => Some(float.to_bits().cast_signed()),
                _ => None,
            };
            if let Some(bits) = tensor.numbers().ok()?.map(bits).collect() {
                return Some(Known::Elements(of, bits));
            }
        }
        Some(Known::Type(of))
    }
}

/// Returns the operator of a node, if its row names what it becomes in ONNX and has no evaluation
/// of its own.
pub(crate) fn operator(standard: Standard, node: &Node, options: RunOptions) -> Option<Box<dyn Op>> {
    let row = operators::row_of(standard, node)?;
    let (node, last) = (node.clone(), Mutex::default());
    row.runs_by_conversion().then(|| -> Box<dyn Op> { Box::new(ConvertedOp { node, options, last }) })
}

impl ConvertedOp {
    fn converted(&self, inputs: &[Option<&Value>]) -> Result<Arc<Converted>> {
        let known: Inputs = inputs.iter().map(|value| value.and_then(Known::of)).collect();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, converted)) = &*last
            && *of == known
        {
            return Ok(converted.clone());
        }
        let mut model = graph::Model::new(Standard::OpenVino);
        model.graph = self.alone(inputs, &known)?;
        let options = ConvertOptions { opset: Some(NEWEST_OPSET), ..ConvertOptions::default() };
        let model = Model::from_source(model);
        let inference = model.infer(&InferOptions::default())?;
        let shape = |&id| inference.fact(id).as_tensor().and_then(TensorFact::shape);
        let shapes = model.graph().outputs().iter().map(shape).collect();
        let onnx = model.convert(Standard::Onnx, &options)?.model;
        let program = Compiler::plain(Standard::Onnx, self.options).inner(onnx.graph())?;
        let converted = Arc::new(Converted { program, shapes });
        *last = Some((known, converted.clone()));
        Ok(converted)
    }

    /// A graph of the node alone. What is known of integers stands in it as constants.
    fn alone(&self, inputs: &[Option<&Value>], known: &[Option<Known>]) -> Result<Graph> {
        let mut builder = Builder::new("one node");
        let mut ids = Vec::with_capacity(inputs.len());
        for (index, (value, known)) in inputs.iter().zip(known).enumerate() {
            let key = format!("x{index}");
            ids.push(match (value, known) {
                (Some(value), Some(Known::Elements(..))) => {
                    Some(builder.constant(&key, value.tensor()?.clone().into())?)
                }
                (Some(_), Some(Known::Type(of))) => {
                    let id = builder.define(&key, Origin::Input)?;
                    builder.info(id).declared = Some(of.clone());
                    Some(id)
                }
                _ => None,
            });
        }
        let outputs: Vec<_> = (0..self.node.outputs.len()).map(|index| format!("y{index}")).collect();
        let node = Node { inputs: ids.into(), outputs: Slots::new(), ..self.node.clone() };
        builder.push(node, &outputs.iter().map(String::as_str).collect::<Vec<_>>())?;
        for output in &outputs {
            builder.output(output);
        }
        builder.finish()
    }
}

impl Op for ConvertedOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let converted = self.converted(cx.inputs).map_err(|error| match error.kind() {
            Kind::Unsupported => {
                error.map_message(|message| format!("cannot evaluate {}: {message}", self.node.operator))
            }
            _ => error,
        })?;
        let given =
            cx.inputs.iter().flatten().filter(|value| !matches!(Known::of(value), Some(Known::Elements(..))));
        let given = given.map(|value| Some((*value).clone())).collect();
        let outputs = converted.program.run_for_node(given, cx.run)?;
        for (output, wanted) in outputs.iter().zip(&converted.shapes) {
            if let (Value::Tensor(output), Some(wanted)) = (output, wanted)
                && output.shape() != wanted
            {
                let what = format_args!("cannot evaluate {}: shape of ONNX's operator", self.node.operator);
                return Err(Error::mismatch(Kind::Unsupported, what, output.shape(), wanted));
            }
        }
        Ok(outputs)
    }
}
