//! Lowering: the graph of ONNX operators that a node stands for, run and inferred.

use std::sync::{Arc, Mutex, PoisonError};

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::element::Bool;
use gradus_core::graph::{
    Attribute, Builder, Content, Graph, Node, OperatorId, Origin, Slots, Standard, Type,
};
use gradus_core::{DType, Error, Kind, Result, Tensor, Value};
use gradus_formats::onnx::{NEWEST_OPSET, number_of};

use crate::attributes::Attributes;
use crate::fact::{Fact, TensorFact};
use crate::infer::{InferContext, InferError, InferResult};
use crate::normalize::Form;
use crate::op::{BuildContext, EvalContext, Op};
use crate::operators::errors;
use crate::operators::{self, Row};
use crate::pairs;
use crate::program::{Compiler, GraphProgram, RunOptions};

/// Writes the graph of a node; gives the values that are the node's outputs.
pub(crate) type Lower = fn(&mut Lowering<'_>) -> Result<Vec<LoweredValue>>;

/// A value of the graph that is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LoweredValue(usize);

impl LoweredValue {
    /// An input that is not given.
    pub(crate) const NONE: LoweredValue = LoweredValue(usize::MAX);
}

/// The domain of ONNX Runtime's operators. `com.microsoft.Attention` names an operator of it;
/// names without a domain are ONNX's.
const MICROSOFT: &str = "com.microsoft";

/// The facts about an input that the graph of a node may depend on, beside its attributes.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Known {
    dtype: Option<DType>,
    /// Dimensions, as far as they are known.
    dims: Option<Vec<Option<usize>>>,
    /// Elements of a tensor of few integers, if all are known before a run.
    integers: Option<Vec<i64>>,
}

/// Most elements of a tensor of integers that a graph may depend on: sizes, axes and their like.
const MOST_INTEGERS: usize = 64;

impl Known {
    fn of_value(value: &Value) -> Known {
        let Value::Tensor(tensor) = value else { return Known { dtype: value.dtype(), ..Known::default() } };
        let dims = tensor.shape().dims().iter().map(|&len| Some(len)).collect();
        Known { dtype: Some(tensor.dtype()), dims: Some(dims), integers: None }
    }

    /// The same, with the elements of a tensor of few integers.
    fn of_elements(value: &Value) -> Known {
        let few = |tensor: &&Tensor| tensor.dtype().is_integer() && tensor.shape().len() <= MOST_INTEGERS;
        let integers = value.tensor().ok().filter(few).and_then(|tensor| tensor.to_i64().ok());
        Known { integers, ..Known::of_value(value) }
    }

    pub(crate) fn of_fact(fact: &Fact) -> Known {
        let dims = fact.as_tensor().and_then(|tensor| tensor.dims.as_ref());
        let dims = dims.map(|dims| dims.iter().map(|dim| dim.known().and_then(usize_of_i64)).collect());
        let few = |tensor: &Tensor| tensor.dtype().is_integer() && tensor.shape().len() <= MOST_INTEGERS;
        let integers = fact.as_tensor().and_then(TensorFact::tensor).filter(few);
        Known { dtype: fact.dtype(), dims, integers: integers.and_then(|tensor| tensor.to_i64().ok()) }
    }
}

/// Facts about all inputs; nothing of one that is missing.
type Inputs = Vec<Option<Known>>;

/// A node that is lowered, and the graph that is written.
pub(crate) struct Lowering<'a> {
    node: &'a Node,
    pub(crate) attributes: Attributes<'a>,
    inputs: &'a [Option<Known>],
    builder: Builder,
    /// How many values there are, inputs first.
    values: usize,
    /// Inputs of complex numbers that are given as pairs, and pairs that outputs are joined from.
    pairs: Vec<(LoweredValue, DType)>,
    /// The values that stand for inputs of complex numbers while one of the parts is computed.
    parts: Option<Parts>,
}

/// One part of complex numbers.
struct Parts {
    /// By input; nothing for one of real numbers.
    of_inputs: Vec<Option<LoweredValue>>,
    imaginary: bool,
}

/// The node.
impl Lowering<'_> {
    /// A float, if it is given, also as a tensor of one element, or as text.
    pub(crate) fn float(&self, name: &str) -> Result<Option<f64>> {
        if let Some(Content::Bytes(text)) = self.attributes.get(name)
            && let Some(value) = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok())
        {
            return Ok(Some(value));
        }
        if let Some(Content::Tensor(value)) = self.attributes.get(name) {
            return Ok(Some(gradus_core::convert::nearest_f64(value.tensor()?.only_number()?)));
        }
        Ok(self.attributes.float(name)?.map(f64::from))
    }

    /// An element type, if one is given.
    pub(crate) fn dtype(&self, name: &str) -> Result<Option<DType>> {
        match self.attributes.get(name) {
            // `undefined`, `Undefined(ALL_DTYPE)`.
            Some(Content::Bytes(text)) if text.to_ascii_lowercase().starts_with(b"undefined") => Ok(None),
            _ => self.attributes.dtype(name),
        }
    }

    /// Returns true if the node is of this operator.
    pub(crate) fn node_is(&self, operator: &str) -> bool {
        &*self.node.operator.name == operator
    }

    /// The number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.node.outputs.len()
    }

    /// The number of inputs, missing ones included.
    pub(crate) fn count(&self) -> usize {
        self.inputs.len()
    }

    /// Returns true if an input is given.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.inputs.get(index).is_some_and(Option::is_some)
    }

    /// An input, or none.
    pub(crate) fn maybe(&self, index: usize) -> LoweredValue {
        self.input(index).unwrap_or(LoweredValue::NONE)
    }

    /// An input.
    pub(crate) fn input(&self, index: usize) -> Result<LoweredValue> {
        let missing = || errors::missing(format_args!("input {index}"));
        let part = self.parts.as_ref().and_then(|parts| parts.of_inputs.get(index).copied().flatten());
        self.has(index).then_some(part.unwrap_or(LoweredValue(index))).ok_or_else(missing)
    }

    /// Returns true if an input is of complex numbers.
    pub(crate) fn is_complex(&self, index: usize) -> bool {
        self.dtype_of(index).is_ok_and(DType::is_complex)
    }

    /// An input of complex numbers as reals, with a last axis of both parts.
    pub(crate) fn pairs(&mut self, index: usize) -> Result<LoweredValue> {
        let (value, dtype) = (self.input(index)?, self.dtype_of(index)?);
        let part = pairs::part_of(dtype);
        let part = part.ok_or_else(|| errors::dtype(dtype, "complex64 or complex128"))?;
        self.pairs.push((value, part));
        Ok(value)
    }

    /// The complex numbers whose parts are reals of a type and the last axis of a value: an output.
    pub(crate) fn joined(&mut self, value: LoweredValue, part: DType) -> Result<LoweredValue> {
        self.pairs.push((value, pairs::complex_of(part)?));
        Ok(value)
    }

    /// Writes what a function makes of one part of all inputs of complex numbers.
    pub(crate) fn of_parts<T>(
        &mut self,
        of_inputs: Vec<Option<LoweredValue>>,
        imaginary: bool,
        write: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.parts = Some(Parts { of_inputs, imaginary });
        let written = write(self);
        self.parts = None;
        written
    }

    /// Returns true while imaginary parts are computed.
    pub(crate) fn is_imaginary(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.imaginary)
    }

    fn known(&self, index: usize) -> Option<&Known> {
        self.inputs.get(index)?.as_ref()
    }

    /// The element type of an input.
    pub(crate) fn dtype_of(&self, index: usize) -> Result<DType> {
        let dtype = self.known(index).and_then(|known| known.dtype);
        let part = dtype.filter(|_| self.parts.is_some()).and_then(pairs::part_of);
        part.or(dtype).ok_or_else(|| not_known(format!("element type of input {index}")))
    }

    /// The dimensions of an input, as far as they are known.
    pub(crate) fn dims_of(&self, index: usize) -> Result<&[Option<usize>]> {
        let dims = self.known(index).and_then(|known| known.dims.as_deref());
        dims.ok_or_else(|| not_known(format!("rank of input {index}")))
    }

    /// The number of axes of an input.
    pub(crate) fn rank_of(&self, index: usize) -> Result<usize> {
        self.dims_of(index).map(<[_]>::len)
    }

    /// The integers that an input holds, which a run does not change.
    pub(crate) fn integers_of(&self, index: usize) -> Result<&[i64]> {
        let integers = self.known(index).and_then(|known| known.integers.as_deref());
        integers.ok_or_else(|| not_known(format!("value of input {index}")))
    }

    /// How many elements an input of one axis has.
    pub(crate) fn len_of(&self, index: usize) -> Result<usize> {
        match *self.dims_of(index)? {
            [Some(len)] => Ok(len),
            _ => Err(not_known(format!("number of elements of input {index}"))),
        }
    }
}

/// Returns the error of a fact that inference lacks and a run has.
pub(crate) fn not_known(what: String) -> Error {
    Error::mismatch(Kind::Unsupported, what, "unknown", "known before the run")
}

/// The graph.
impl Lowering<'_> {
    fn next(&mut self) -> LoweredValue {
        self.values += 1;
        LoweredValue(self.values - 1)
    }

    /// Applies an operator of ONNX, or of ONNX Runtime.
    pub(crate) fn apply(
        &mut self,
        name: &str,
        inputs: &[LoweredValue],
        attributes: &[(&str, Content)],
    ) -> Result<LoweredValue> {
        let output = self.next();
        self.push(name, inputs, &[output], attributes)?;
        Ok(output)
    }

    /// Applies an operator of ONNX, or of ONNX Runtime, with that many outputs.
    pub(crate) fn apply_many(
        &mut self,
        name: &str,
        inputs: &[LoweredValue],
        attributes: &[(&str, Content)],
        outputs: usize,
    ) -> Result<Vec<LoweredValue>> {
        let outputs: Vec<_> = (0..outputs).map(|_| self.next()).collect();
        self.push(name, inputs, &outputs, attributes)?;
        Ok(outputs)
    }

    fn push(
        &mut self,
        name: &str,
        inputs: &[LoweredValue],
        outputs: &[LoweredValue],
        attributes: &[(&str, Content)],
    ) -> Result<()> {
        let (domain, version) = if name.starts_with(MICROSOFT) { (MICROSOFT, 1) } else { ("", NEWEST_OPSET) };
        let name = name.strip_prefix(MICROSOFT).map_or(name, |name| name.trim_start_matches('.'));
        let row = operators::row(Standard::Onnx, domain, name);
        debug_assert!(
            row.is_some_and(Row::is_evaluated),
            "{name} is not evaluated, so its row claims too much"
        );
        let keys = |values: &[LoweredValue]| values.iter().copied().map(key).collect::<Vec<_>>();
        let outputs = keys(outputs);
        let outputs: Vec<_> = outputs.iter().map(String::as_str).collect();
        let operator = OperatorId {
            domain: self.builder.intern(domain),
            name: self.builder.intern(name),
            overload: self.builder.intern(""),
        };
        let named =
            |(name, content): &(&str, Content)| Attribute { name: (*name).into(), content: content.clone() };
        let inputs = inputs
            .iter()
            .map(|&value| (value != LoweredValue::NONE).then(|| self.builder.reference(&key(value))));
        let node = Node {
            name: "".into(),
            operator,
            version: Some(version),
            inputs: inputs.collect(),
            outputs: Slots::new(),
            attributes: attributes.iter().map(named).collect(),
            position: None,
        };
        self.builder.push(node, &outputs)
    }

    /// A value of one of two graphs: of the first if the condition holds.
    pub(crate) fn either(
        &mut self,
        condition: LoweredValue,
        yes: impl FnOnce(&mut Self) -> Result<LoweredValue>,
        no: impl FnOnce(&mut Self) -> Result<LoweredValue>,
    ) -> Result<LoweredValue> {
        let one = |write: Result<LoweredValue>| write.map(|value| vec![value]);
        let yes = self.inner("then_branch", &[], |l| one(yes(l)))?;
        let no = self.inner("else_branch", &[], |l| one(no(l)))?;
        self.apply("If", &[condition], &[("then_branch", yes), ("else_branch", no)])
    }

    /// The sequence of what a graph makes of each item of one.
    pub(crate) fn each(
        &mut self,
        sequence: LoweredValue,
        of: impl FnOnce(&mut Self, LoweredValue) -> Result<LoweredValue>,
    ) -> Result<LoweredValue> {
        let item = self.next();
        let body = self.inner("body", &[item], |l| Ok(vec![of(l, item)?]))?;
        self.apply("SequenceMap", &[sequence], &[("body", body)])
    }

    /// The state after iterations of a body, at most as many as a scalar of int64 says. The body
    /// is given the number of the iteration and the state, and gives whether another iteration
    /// follows, and the next state.
    pub(crate) fn repeated(
        &mut self,
        most: LoweredValue,
        state: &[LoweredValue],
        body: impl FnOnce(&mut Self, LoweredValue, &[LoweredValue]) -> Result<(LoweredValue, Vec<LoweredValue>)>,
    ) -> Result<Vec<LoweredValue>> {
        let starts = self.constant(Tensor::scalar(Bool::from(true)))?;
        let inputs: Vec<_> = (0..state.len() + 2).map(|_| self.next()).collect();
        let body = self.inner("body", &inputs, |l| {
            let (goes_on, state) = body(l, inputs[0], &inputs[2..])?;
            Ok([vec![goes_on], state].concat())
        })?;
        let given = [&[most, starts], state].concat();
        self.apply_many("Loop", &given, &[("body", body)], state.len())
    }

    /// The states after so many iterations, and the rows of all of them. The body is given the
    /// number of the iteration and the states, and gives the next states and a row.
    pub(crate) fn scanned(
        &mut self,
        count: LoweredValue,
        states: [LoweredValue; 2],
        body: impl FnOnce(&mut Self, LoweredValue, [LoweredValue; 2]) -> Result<[LoweredValue; 3]>,
    ) -> Result<[LoweredValue; 3]> {
        let goes_on = self.constant(Tensor::scalar(Bool::from(true)))?;
        let [at, before, h, c] = [(); 4].map(|()| self.next());
        let body = self.inner("body", &[at, before, h, c], |l| {
            let goes_on = l.apply("Identity", &[before], &[])?;
            Ok([vec![goes_on], body(l, at, [h, c])?.to_vec()].concat())
        })?;
        let [h, c, rows] = [(); 3].map(|()| self.next());
        self.push("Loop", &[count, goes_on, states[0], states[1]], &[h, c, rows], &[("body", body)])?;
        Ok([h, c, rows])
    }

    /// A graph within a node, which may read the values around it.
    fn inner(
        &mut self,
        name: &str,
        inputs: &[LoweredValue],
        write: impl FnOnce(&mut Self) -> Result<Vec<LoweredValue>>,
    ) -> Result<Content> {
        let around = std::mem::replace(&mut self.builder, Builder::nested(name));
        for &input in inputs {
            self.builder.define(&key(input), Origin::Input)?;
        }
        for output in write(self)? {
            self.builder.output(&key(output));
        }
        let inner = std::mem::replace(&mut self.builder, around);
        Ok(Content::Graph(Arc::new(inner.finish()?)))
    }

    /// A constant.
    pub(crate) fn constant(&mut self, tensor: Tensor) -> Result<LoweredValue> {
        let value = self.next();
        self.builder.constant(&key(value), tensor.into())?;
        Ok(value)
    }

    /// A list of int64.
    pub(crate) fn list(&mut self, values: &[i64]) -> Result<LoweredValue> {
        self.constant(Tensor::vector(values))
    }

    /// A value in another element type.
    pub(crate) fn cast(&mut self, value: LoweredValue, to: DType) -> Result<LoweredValue> {
        let number = number_of(to).ok_or_else(|| errors::dtype(to, "a type of ONNX"))?;
        self.apply("Cast", &[value], &[("to", Content::Int(number))])
    }

    /// The same elements in another shape.
    pub(crate) fn reshape(&mut self, value: LoweredValue, dims: &[i64]) -> Result<LoweredValue> {
        let dims = self.list(dims)?;
        self.apply("Reshape", &[value, dims], &[])
    }

    /// The dimensions of a value.
    pub(crate) fn shape(&mut self, value: LoweredValue) -> Result<LoweredValue> {
        self.apply("Shape", &[value], &[])
    }
}

fn key(value: LoweredValue) -> String {
    format!("v{}", value.0)
}

/// The graph that a node stands for.
///
/// # Errors
/// [`Kind::Unsupported`] if the row has none, or too little is known of the inputs; whatever is
/// wrong with the node.
pub(crate) fn graph(node: &Node, inputs: &[Option<Known>], row: &Row) -> Result<Graph> {
    let lower = row.lower.ok_or_else(|| {
        Error::new(Kind::Unsupported, format!("cannot lower operator {} to ONNX operators", node.operator))
    })?;
    let mut builder = Builder::new(&node.operator.name);
    for index in 0..inputs.len() {
        builder.define(&key(LoweredValue(index)), Origin::Input)?;
    }
    let mut lowering = Lowering {
        node,
        attributes: Attributes::new(&node.attributes, Form::of_node(row.standard, node)),
        inputs,
        builder,
        values: inputs.len(),
        pairs: Vec::new(),
        parts: None,
    };
    let outputs = lower(&mut lowering)?;
    if outputs.len() < node.outputs.len() {
        let wanted = format_args!("at most {}", outputs.len());
        return Err(Error::mismatch(Kind::Graph, "number of outputs", node.outputs.len(), wanted));
    }
    for &output in outputs.iter().take(node.outputs.len()) {
        lowering.builder.output(&key(output));
    }
    for (value, dtype) in lowering.pairs {
        let id = lowering.builder.reference(&key(value));
        lowering.builder.info(id).declared = Some(Type::Tensor(Some(dtype), None));
    }
    lowering.builder.finish()
}

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
pub(crate) fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
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
        let (taken, given) = (pairs::taken(&graph), pairs::given(&graph));
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
            if *taken { value.map(pairs::split).transpose() } else { Ok(value.cloned()) }
        });
        let inputs = inputs.collect::<Result<_>>();
        let outputs = inputs.and_then(|inputs| program.program.run_for_node(inputs, cx.run));
        cx.run.narrow = narrow;
        let joined = |(value, given): (Value, &bool)| if *given { pairs::joined(&value) } else { Ok(value) };
        outputs?.into_iter().zip(&program.given).map(joined).collect()
    }
}

/// Facts about the outputs: what the graph says.
pub(crate) fn infer(cx: &mut InferContext<'_, '_>) -> InferResult {
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

/// An axis counted from the first.
pub(crate) fn axis(axis: i64, rank: usize) -> Result<usize> {
    operators::indices::axis(axis, rank)
}

/// An attribute of ONNX.
pub(crate) fn int(name: &'static str, value: i64) -> (&'static str, Content) {
    (name, Content::Int(value))
}

/// The attribute that names an axis.
pub(crate) fn along(axis: usize) -> (&'static str, Content) {
    int("axis", i64_of(axis))
}
