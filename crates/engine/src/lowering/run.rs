//! Graphs of nodes, run and inferred in their place.

use std::sync::{Arc, Mutex, PoisonError};

use gradus_core::graph::{Node, Standard};
use gradus_core::{DType, Error, Kind, Number, Result, Shape, Tensor, Value};

use super::{Goal, Known, Lower, Wanted, graph, write};
use crate::complex;
use crate::conversion::Writer;
use crate::fact::TensorFact;
use crate::infer::{InferContext, InferError, InferResult, OneNode};
use crate::op::{BuildContext, EvalContext, Op};
use crate::operators::{Row, registry};
use crate::program::{Compiler, GraphProgram, RunOptions};

/// Facts about all inputs; nothing of one that is missing.
type Inputs = Vec<Option<Known>>;

/// An operator that is run by the graph that it stands for.
#[derive(Debug)]
struct Lowered {
    node: Node,
    row: &'static Row,
    options: RunOptions,
    /// The last graph, and what was known of the inputs that it was written for.
    last: Mutex<Option<(Inputs, Arc<LoweredProgram>)>>,
}

/// The program of a graph, and which of its inputs and outputs are pairs.
#[derive(Debug)]
struct LoweredProgram {
    program: GraphProgram,
    taken: Vec<bool>,
    given: Vec<bool>,
}

/// Builds the operator that runs the graph.
pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    let (node, row, options) = (cx.node.clone(), cx.row, cx.compiler.options());
    Ok(Box::new(Lowered { node, row, options, last: Mutex::default() }))
}

impl Lowered {
    fn program(&self, given: &[Option<&Value>]) -> Result<Arc<LoweredProgram>> {
        let all = |known: fn(&Value) -> Known| given.iter().map(|value| value.map(known)).collect::<Inputs>();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |last: &Option<(Inputs, Arc<LoweredProgram>)>, inputs: &Inputs| match last {
            Some((of, program)) if of == inputs => Some(program.clone()),
            _ => None,
        };
        let mut inputs = all(Known::of_value);
        if let Some(program) = known(&last, &inputs) {
            return Ok(program);
        }
        let graph = match graph(&self.node, &inputs, self.row) {
            // Few graphs depend on elements, so that most are kept from run to run.
            Err(error) if error.kind() == Kind::Unsupported => {
                inputs = all(Known::of_elements);
                if let Some(program) = known(&last, &inputs) {
                    return Ok(program);
                }
                graph(&self.node, &inputs, self.row)?
            }
            graph => graph?,
        };
        let (taken, given) = (complex::taken(&graph), complex::given(&graph));
        let program = Compiler::plain(Standard::Onnx, self.options).inner(&graph)?;
        let program = Arc::new(LoweredProgram { program, taken, given });
        *last = Some((inputs, program.clone()));
        Ok(program)
    }
}

impl Op for Lowered {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let program = self.program(cx.inputs)?;
        let wide = cx.inputs.iter().flatten().any(|value| value.dtype() == Some(DType::F64));
        let narrow = cx.run.narrow;
        cx.run.narrow = narrow || !wide;
        let inputs = cx.inputs.iter().zip(&program.taken).map(|(value, taken)| {
            if *taken { value.map(complex::split).transpose() } else { Ok(value.cloned()) }
        });
        let inputs = inputs.collect::<Result<_>>();
        let outputs = inputs.and_then(|inputs| program.program.run_for_node(inputs, cx.run));
        cx.run.narrow = narrow;
        let joined =
            |(value, given): (Value, &bool)| if *given { complex::joined(&value) } else { Ok(value) };
        outputs?.into_iter().zip(&program.given).map(joined).collect()
    }
}

/// The largest number of elements of a list of floats that a graph may depend on, as scales of
/// axes.
const MAX_FLOATS: usize = 5;

impl Known {
    /// The facts that a conversion to ONNX sees, with the elements of few integers or floats.
    fn of_small(value: &Value) -> Known {
        let known = Known::of_elements(value);
        let Ok(tensor) = value.tensor() else { return known };
        let shape = tensor.shape();
        let is_float = |tensor: &Tensor| {
            let few = shape.len() == 1 || (shape.rank() == 1 && shape.len() <= MAX_FLOATS);
            few && tensor.numbers().is_ok_and(|mut all| all.all(|one| matches!(one, Number::Float(_))))
        };
        let is_held = known.integers.is_some() || is_float(tensor);
        Known { held: is_held.then(|| tensor.clone().into()), is_constant: is_held, ..known }
    }
}

/// A node of OpenVINO that is run by the graph of ONNX operators that it is converted to.
#[derive(Debug)]
struct ConvertedOperator {
    node: Node,
    lower: Lower,
    options: RunOptions,
    /// The last program, and what was known of the inputs that it was written for.
    last: Mutex<Option<(Inputs, Arc<ConvertedProgram>)>>,
}

/// The program of a graph, and the shapes that the rule of the node infers for its outputs.
#[derive(Debug)]
struct ConvertedProgram {
    program: GraphProgram,
    shapes: Vec<Option<Shape>>,
}

/// Returns the operator of a node whose row has no evaluation of its own, but a conversion to ONNX.
pub fn converted(standard: Standard, node: &Node, options: RunOptions) -> Option<Box<dyn Op>> {
    let row = registry::row_of(standard, node).filter(|row| row.runs_by_conversion())?;
    let Some(Writer::Graph(lower)) = row.conversion.as_ref().map(|conversion| conversion.write) else {
        return None;
    };
    Some(Box::new(ConvertedOperator { node: node.clone(), lower, options, last: Mutex::default() }))
}

impl ConvertedOperator {
    fn program(&self, given: &[Option<&Value>]) -> Result<Arc<ConvertedProgram>> {
        let known: Inputs = given.iter().map(|value| value.map(Known::of_small)).collect();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, program)) = &*last
            && *of == known
        {
            return Ok(program.clone());
        }
        let facts = OneNode::of(Standard::OpenVino, &self.node)?.facts(given, self.options.limits(), true)?;
        let mut goal = Goal::run(&self.node, self.options.limits());
        for (output, fact) in goal.outputs.iter_mut().zip(&facts) {
            let dims = fact.as_tensor().and_then(|fact| fact.dims.as_ref());
            *output = Some(Wanted { dims: dims.map(|dims| dims.iter().map(|dim| dim.known()).collect()) });
        }
        let written = write(Standard::OpenVino, &self.node, &known, self.lower, &goal)?;
        let program = Compiler::plain(Standard::Onnx, self.options).inner(&written.graph)?;
        let shapes = facts.iter().map(|fact| fact.as_tensor().and_then(TensorFact::shape)).collect();
        let program = Arc::new(ConvertedProgram { program, shapes });
        *last = Some((known, program.clone()));
        Ok(program)
    }
}

impl Op for ConvertedOperator {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let what = format_args!("cannot evaluate {}", self.node.operator);
        let converted = self.program(cx.inputs).map_err(|error| match error.kind() {
            Kind::Unsupported => error.map_message(|message| format!("{what}: {message}")),
            _ => error,
        })?;
        let inputs = cx.inputs.iter().map(|value| value.cloned()).collect();
        let outputs = converted.program.run_for_node(inputs, cx.run)?;
        for (output, wanted) in outputs.iter().zip(&converted.shapes) {
            if let (Value::Tensor(output), Some(wanted)) = (output, wanted)
                && output.shape() != wanted
            {
                let what = format_args!("{what}: shape of ONNX's operator");
                return Err(Error::mismatch(Kind::Unsupported, what, output.shape(), wanted));
            }
        }
        Ok(outputs)
    }
}

/// Facts about the outputs: what the graph says.
pub fn infer(cx: &mut InferContext<'_, '_>) -> InferResult {
    let row = cx.row.expect("only rows that are lowered name this");
    let facts: Vec<_> = (0..cx.count()).map(|input| cx.read_fact(input)).collect();
    let known: Vec<_> =
        (0..cx.count()).map(|input| cx.has(input).then(|| Known::of_fact(&facts[input]))).collect();
    match graph(cx.node, &known, row) {
        Ok(graph) => Ok(cx.lowered(&graph, facts)),
        Err(error) if error.kind() != Kind::Unsupported => Err(InferError::Invalid(error)),
        Err(error) => match row.partial {
            Some(rule) => rule(cx),
            None => Err(InferError::unknown(error.message().to_owned())),
        },
    }
}
