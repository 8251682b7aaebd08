//! Operators: the trait that all implement, and the rows by which standards name them.

use std::fmt::Debug;
use std::sync::Arc;

use gradus_core::convert::{product, usize_of_i64};
use gradus_core::graph::{Attribute, Graph, Node};
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Error, Kind, Limits, Result, Shape, Tensor, Value};

use crate::attributes::{Attributes, required};
use crate::fact::Fact;
use crate::infer::OneNode;
use crate::normalize::{Form, former_inputs};
use crate::operators::{Eval, Row, errors};
use crate::program::{Compiler, Frame, GraphProgram, RunState};
use crate::schema::Signature;

/// An operator with its attributes: what one node does.
pub trait Op: Debug + Send + Sync {
    /// The outputs. Number and types of the inputs have been checked against the signature.
    ///
    /// # Errors
    /// An error if the standard defines no result, or if a limit is exceeded.
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>>;
}

/// Makes the operator of a node.
pub type Build = fn(&BuildContext<'_>) -> Result<Box<dyn Op>>;

/// The context from which a node's operator is built.
pub struct BuildContext<'a> {
    /// The node.
    pub node: &'a Node,
    /// The row of its operator.
    pub row: &'static Row,
    /// The version that applies to it.
    pub signature: &'static Signature,
    /// The attributes of the node.
    pub attributes: Attributes<'a>,
    pub compiler: &'a Compiler<'a>,
}

impl BuildContext<'_> {
    /// Compiles a graph that must be given.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Graph`] if it is missing, [`gradus_core::Kind::Type`] if it is
    /// something else; whatever is wrong within.
    pub fn program(&self, name: &str) -> Result<(Arc<Graph>, GraphProgram)> {
        let graph = required(name, self.attributes.graph(name)?)?;
        Ok((graph.clone(), self.compiler.inner(graph)?))
    }
}

/// Describes what a function computes from attributes and inputs.
pub type Compute = fn(&Attributes<'_>, &mut EvalContext<'_>) -> Result<Vec<Value>>;

/// An operator that is a function of attributes and inputs.
#[derive(Debug)]
struct FunctionOp {
    attributes: Vec<Attribute>,
    form: Form,
    operator: &'static str,
    compute: Compute,
}

/// An operator of a node whose inputs have other indices than in the newest form.
#[derive(Debug)]
struct WithInputs {
    op: Box<dyn Op>,
    form: Form,
    /// Inputs that the node has as attributes.
    former: Vec<(usize, Value)>,
}

impl Op for WithInputs {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let given = |input| cx.inputs.get(self.form.index_of(input)?).copied().flatten();
        let mut inputs: Vec<_> = (0..self.form.count_of(cx.inputs.len())).map(given).collect();
        for (index, value) in &self.former {
            inputs.resize(inputs.len().max(index + 1), None);
            inputs[*index].get_or_insert(value);
        }
        self.op.eval(&mut EvalContext { inputs: &inputs, run: cx.run, ..*cx })
    }
}

/// An operator whose rule of inference says the types and shapes of its outputs in a run as well:
/// a run refuses what inference refuses, and makes room for the outputs before it computes them.
#[derive(Debug)]
struct InferredOp {
    op: Box<dyn Op>,
    node: OneNode,
}

impl Op for InferredOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        // Rules read lists of integers: as elements, as numbers, and as dimensions.
        let integers = cx.inputs.iter().flatten().filter_map(|value| value.tensor().ok());
        let integers = integers.filter(|tensor| matches!(tensor.dtype(), DType::I32 | DType::I64));
        cx.reserve(integers.map(|tensor| product(tensor.len(), 3 * size_of::<i64>())).sum())?;
        let inferred = self.node.facts(cx.inputs, cx.limits(), !cx.run.untyped)?;
        // Elements are computed in float64, and then rounded.
        let bytes = |fact: &Fact| {
            let (dtype, shape) = tensor_of(fact)?;
            Some(byte_len(dtype, &shape) + product(shape.len(), size_of::<f64>()))
        };
        cx.reserve(inferred.iter().filter_map(bytes).sum())?;
        self.op.eval(&mut EvalContext { inferred: &inferred, run: cx.run, ..*cx })
    }
}

/// The element type and shape of a tensor, if all of both is known.
fn tensor_of(fact: &Fact) -> Option<(DType, Shape)> {
    let tensor = fact.as_tensor()?;
    Some((tensor.dtype?, tensor.shape()?))
}

/// The operator of a node in its newest form, by the row of its operator.
pub fn build(cx: &BuildContext<'_>, eval: Eval) -> Result<Box<dyn Op>> {
    let mut op = build_newest(cx, eval)?;
    let (form, former) = (cx.attributes.form(), former_inputs(&cx.attributes)?);
    if !former.is_empty() || form.moves_inputs() {
        let former = former.into_iter().map(|(index, tensor)| (index, tensor.into())).collect();
        op = Box::new(WithInputs { op, form, former });
    }
    if let Eval::Inferred(_) = eval {
        op = Box::new(InferredOp { op, node: OneNode::new(cx)? });
    }
    Ok(op)
}

fn build_newest(cx: &BuildContext<'_>, eval: Eval) -> Result<Box<dyn Op>> {
    let compute = match eval {
        Eval::Build(build) => return build(cx),
        Eval::Function(compute) | Eval::Inferred(compute) => compute,
    };
    Ok(Box::new(FunctionOp {
        attributes: cx.attributes.owned(),
        form: cx.attributes.form(),
        operator: cx.row.known_as(),
        compute,
    }))
}

impl Op for FunctionOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        cx.operator = self.operator;
        (self.compute)(&Attributes::new(&self.attributes, self.form), cx)
    }
}

/// A node's inputs, and what its operator may use.
pub struct EvalContext<'a> {
    /// The inputs; nothing where one is missing.
    pub inputs: &'a [Option<&'a Value>],
    /// The name by which a function of several operators knows the operator.
    pub operator: &'static str,
    /// Number of outputs that the node names.
    pub outputs: usize,
    pub signature: Option<&'static Signature>,
    /// Facts about the outputs, of an operator whose rule a run asks.
    pub inferred: &'a [Fact],
    pub frame: &'a Frame,
    pub run: &'a mut RunState,
}

impl<'a> EvalContext<'a> {
    /// An input, in words: `input 2 "delta"`.
    pub fn label(&self, index: usize) -> String {
        self.signature.map_or_else(|| format!("input {index}"), |signature| signature.input_label(index))
    }

    /// An error about an input: `input 2 "delta" ` and what is wrong with it.
    pub fn wrong(&self, index: usize, error: &Error) -> Error {
        error.clone().map_message(|message| format!("{} {message}", self.label(index)))
    }

    /// An input that must be there.
    ///
    /// # Errors
    /// [`Kind::Graph`] if it is missing.
    pub fn value(&self, index: usize) -> Result<&'a Value> {
        let value = self.inputs.get(index).copied().flatten();
        value.ok_or_else(|| errors::missing(self.label(index)))
    }

    /// An input that must be a tensor.
    ///
    /// # Errors
    /// [`Kind::Graph`] if it is missing, [`Kind::Type`] if it is something else.
    pub fn tensor(&self, index: usize) -> Result<&'a Tensor> {
        self.value(index)?.tensor().map_err(|error| self.wrong(index, &error))
    }

    /// The sizes of an input that has `N` axes.
    ///
    /// # Errors
    /// [`Kind::Shape`] if it has another number of axes; the errors of [`EvalContext::tensor`].
    pub fn dims<const N: usize>(&self, index: usize) -> Result<[usize; N]> {
        let dims = self.tensor(index)?.shape().dims();
        dims.try_into().map_err(|_| errors::rank(format_args!("input {index}"), dims.len(), N))
    }

    /// Returns true if an input is given.
    pub fn has(&self, index: usize) -> bool {
        self.inputs.get(index).is_some_and(Option::is_some)
    }

    /// The integers that an input holds.
    ///
    /// # Errors
    /// As [`EvalContext::tensor`]; [`Kind::Type`] if they are no integers.
    pub fn integers(&self, index: usize) -> Result<Vec<i64>> {
        let tensor = self.tensor(index)?;
        // As numbers, and as a list of another kind.
        self.reserve(product(tensor.len(), 3 * size_of::<i64>()))?;
        tensor.to_i64().map_err(|error| self.wrong(index, &error))
    }

    /// The integers that an input holds, if it is given.
    ///
    /// # Errors
    /// As [`EvalContext::integers`].
    pub fn maybe_integers(&self, index: usize) -> Result<Option<Vec<i64>>> {
        if self.has(index) { self.integers(index).map(Some) } else { Ok(None) }
    }

    /// An input that holds one element.
    ///
    /// # Errors
    /// As [`EvalContext::tensor`]; [`Kind::Shape`] if there is not exactly one.
    pub fn only(&self, index: usize) -> Result<&'a Tensor> {
        let tensor = self.tensor(index)?;
        if tensor.len() == 1 {
            return Ok(tensor);
        }
        let got = format_args!("a tensor of {} elements", tensor.len());
        Err(self.wrong(index, &Error::is_not(Kind::Shape, got, "one element")))
    }

    /// The one integer that an input holds.
    ///
    /// # Errors
    /// As [`EvalContext::integers`] and [`EvalContext::only`].
    pub fn integer(&self, index: usize) -> Result<i64> {
        self.only(index)?;
        Ok(self.integers(index)?[0])
    }

    /// The element type and shape of an output, as the rule infers them.
    ///
    /// # Errors
    /// [`Kind::Limit`] if there are more elements than an integer counts; [`Kind::Unsupported`] if
    /// the rule does not know them, though all inputs are known.
    pub fn output(&self, index: usize) -> Result<(DType, Shape)> {
        let fact = self.inferred.get(index);
        if let Some(known) = fact.and_then(tensor_of) {
            return Ok(known);
        }
        let dims = fact.and_then(Fact::as_tensor).and_then(|tensor| tensor.dims.as_deref());
        let sizes = dims.unwrap_or_default().iter().map(|dim| dim.known().and_then(usize_of_i64));
        let unknown =
            |why| Error::new(Kind::Unsupported, format!("cannot infer the shape of output {index}{why}"));
        if let Some(axis) = sizes.clone().position(|size| size.is_none()) {
            return Err(unknown(format!(": the size of axis {axis} is not known, or exceeds 64 bits")));
        }
        Shape::new(sizes.flatten().collect::<Vec<_>>())?;
        Err(unknown(String::new()))
    }

    /// The limits of the run.
    pub fn limits(&self) -> Limits {
        self.run.limits
    }

    /// Counts bytes that the node is about to take, for an output or on the way to it. They count
    /// until the node is done.
    ///
    /// # Errors
    /// [`Kind::Limit`].
    pub fn reserve(&self, bytes: u128) -> Result<()> {
        self.run.reserve(bytes)
    }

    /// Bytes that values of the run occupy now, and those that its nodes reserve.
    pub fn in_use(&self) -> u64 {
        self.run.in_use()
    }
}
