//! Lowering: the graph of ONNX operators that a node stands for, run and inferred.

mod inputs;
mod run;
pub mod terms;
mod values;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use gradus_core::convert::usize_of_i64;
use gradus_core::element::Bool;
use gradus_core::graph::{
    Attribute, Builder, Constant, Content, Graph, Node, OperatorId, Origin, Slots, Standard, Type,
};
use gradus_core::{DType, Error, Kind, Limits, Result, Tensor, Value};
use gradus_formats::onnx::NEWEST_OPSET;

use crate::attributes::Attributes;
use crate::complex;
use crate::conversion::Exactness;
use crate::dim::Dim;
use crate::fact::{Fact, TensorFact};
use crate::normalize::Form;
use crate::operators::errors;
use crate::operators::{Row, registry};

pub use inputs::LONGEST;
pub use run::{build, converted, infer};
pub use values::{along, axis, flag, int, wide, word};

/// Writes the graph of a node; gives the values that are the node's outputs.
pub type Lower = fn(&mut Lowering<'_>) -> Result<Vec<LoweredValue>>;

/// A value of the graph that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoweredValue(usize);

impl LoweredValue {
    /// An input that is not given.
    pub const NONE: LoweredValue = LoweredValue(usize::MAX);
}

/// The domain of ONNX Runtime's operators. `com.microsoft.Attention` names an operator of it;
/// names without a domain are ONNX's.
const MICROSOFT: &str = "com.microsoft";

/// The facts about an input that the graph of a node may depend on, besides its attributes.
#[derive(Clone, Debug, Default)]
pub struct Known {
    dtype: Option<DType>,
    /// Dimensions, as far as they are known.
    dims: Option<Vec<Option<usize>>>,
    /// Elements of a tensor of few integers, if all are known before a run.
    integers: Option<Vec<i64>>,
    /// All elements, where a graph may depend on any.
    held: Option<Constant>,
    /// Dimensions as expressions, if inference made them.
    sizes: Vec<Dim>,
    /// True if the elements are a constant of the model.
    is_constant: bool,
}

impl PartialEq for Known {
    fn eq(&self, other: &Known) -> bool {
        let held = |known: &Known| known.held.as_ref().and_then(|held| held.tensor().ok());
        self.dtype == other.dtype
            && self.dims == other.dims
            && self.integers == other.integers
            && held(self) == held(other)
    }
}

/// Maximum number of elements of a tensor of integers that a graph may depend on: sizes, axes and
/// their like.
const MAX_INTEGERS: usize = 64;

impl Known {
    fn of_value(value: &Value) -> Known {
        let Value::Tensor(tensor) = value else { return Known { dtype: value.dtype(), ..Known::default() } };
        let dims = tensor.shape().dims().iter().map(|&len| Some(len)).collect();
        Known { dtype: Some(tensor.dtype()), dims: Some(dims), ..Known::default() }
    }

    /// The type and shape of a value, with the elements of a tensor of few integers.
    pub fn of_elements(value: &Value) -> Known {
        let few = |tensor: &&Tensor| tensor.dtype().is_integer() && tensor.shape().len() <= MAX_INTEGERS;
        let integers = value.tensor().ok().filter(few).and_then(|tensor| tensor.to_i64().ok());
        Known { integers, ..Known::of_value(value) }
    }

    /// Element type, sizes and few integers of an input, as a fact has them.
    pub fn of_fact(fact: &Fact) -> Known {
        let dims = fact.as_tensor().and_then(|tensor| tensor.dims.as_ref());
        let dims = dims.map(|dims| dims.iter().map(|dim| dim.known().and_then(usize_of_i64)).collect());
        let few = |tensor: &Tensor| tensor.dtype().is_integer() && tensor.shape().len() <= MAX_INTEGERS;
        let integers = fact.as_tensor().and_then(TensorFact::tensor).filter(few);
        let integers = integers.and_then(|tensor| tensor.to_i64().ok());
        Known { dtype: fact.dtype(), dims, integers, ..Known::default() }
    }

    /// Facts about an input whose elements may be known, and may be a constant of the model.
    pub fn of_held(fact: &Fact, held: Option<Constant>, is_constant: bool) -> Known {
        let known = Known::of_fact(fact);
        let few = |held: &&Constant| held.dtype().is_integer() && held.shape().len() <= MAX_INTEGERS;
        let few = held.as_ref().filter(few).and_then(|held| held.tensor().ok()?.to_i64().ok());
        let sizes = fact.as_tensor().and_then(|fact| fact.dims.as_deref()).unwrap_or_default().to_vec();
        Known { integers: known.integers.or(few), held, sizes, is_constant, ..known }
    }
}

/// The dimensions of a value, as far as they are known.
pub type KnownDims = Vec<Option<i64>>;

/// The purpose for which a graph is written.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The first words of errors about facts that are not known.
    pub task: &'static str,
    /// The operator set of the model that it becomes part of.
    pub opset: i64,
    pub limits: Limits,
    /// By output: `None` if nothing reads it.
    pub outputs: Vec<Option<Wanted>>,
}

/// An output that something reads.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Dimensions, if the rank is known.
    pub dims: Option<KnownDims>,
}

impl Goal {
    /// A graph that is run, or inferred, with all outputs of the node.
    pub fn run(node: &Node, limits: Limits) -> Goal {
        let outputs = vec![Some(Wanted::default()); node.outputs.len()];
        Goal { task: "", opset: NEWEST_OPSET, limits, outputs }
    }
}

/// A graph that is written.
pub struct Written {
    pub graph: Graph,
    /// The results that are not kept bit for bit.
    pub notes: Vec<(Exactness, Cow<'static, str>)>,
    /// True if its operators tell more of them.
    pub noted_by_operators: bool,
}

/// A node that is lowered, and the graph that is written.
pub struct Lowering<'a> {
    pub node: &'a Node,
    pub attributes: Attributes<'a>,
    inputs: &'a [Option<Known>],
    builder: Builder,
    /// Number of values, inputs first.
    values: usize,
    /// Inputs of complex numbers that are given as pairs, and pairs that outputs are joined from.
    pairs: Vec<(LoweredValue, DType)>,
    /// The values that stand for inputs of complex numbers while one of the parts is computed.
    parts: Option<ComplexInput>,
    goal: &'a Goal,
    /// Constants that are written.
    constants: HashMap<LoweredValue, Tensor>,
    notes: Vec<(Exactness, Cow<'static, str>)>,
    noted_by_operators: bool,
}

/// One part of complex numbers.
struct ComplexInput {
    /// By input; nothing for one of real numbers.
    of_inputs: Vec<Option<LoweredValue>>,
    imaginary: bool,
}

/// The node.
impl Lowering<'_> {
    /// A float, if it is given, also as a tensor of one element, or as text.
    pub fn float(&self, name: &str) -> Result<Option<f64>> {
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
    pub fn dtype(&self, name: &str) -> Result<Option<DType>> {
        match self.attributes.get(name) {
            // `undefined`, `Undefined(ALL_DTYPE)`.
            Some(Content::Bytes(text)) if text.to_ascii_lowercase().starts_with(b"undefined") => Ok(None),
            _ => self.attributes.dtype(name),
        }
    }

    /// Returns true if the node is of this operator.
    pub fn node_is(&self, operator: &str) -> bool {
        &*self.node.operator.name == operator
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.node.outputs.len()
    }

    /// The number of inputs, missing ones included.
    pub fn count(&self) -> usize {
        self.inputs.len()
    }

    /// Returns true if an input is given.
    pub fn has(&self, index: usize) -> bool {
        self.inputs.get(index).is_some_and(Option::is_some)
    }

    /// An input, or none.
    pub fn maybe(&self, index: usize) -> LoweredValue {
        self.input(index).unwrap_or(LoweredValue::NONE)
    }

    /// An input.
    pub fn input(&self, index: usize) -> Result<LoweredValue> {
        let missing = || errors::missing(format_args!("input {index}"));
        let part = self.parts.as_ref().and_then(|parts| parts.of_inputs.get(index).copied().flatten());
        self.has(index).then_some(part.unwrap_or(LoweredValue(index))).ok_or_else(missing)
    }

    /// Returns true if an input is of complex numbers.
    pub fn is_complex(&self, index: usize) -> bool {
        self.dtype_of(index).is_ok_and(DType::is_complex)
    }

    /// An input of complex numbers as reals, with a last axis of both parts.
    pub fn pairs(&mut self, index: usize) -> Result<LoweredValue> {
        let (value, dtype) = (self.input(index)?, self.dtype_of(index)?);
        let part = complex::part_of(dtype);
        let part = part.ok_or_else(|| errors::dtype(dtype, "complex64 or complex128"))?;
        self.pairs.push((value, part));
        Ok(value)
    }

    /// The complex numbers whose parts are reals of a type and the last axis of a value: an output.
    pub fn joined(&mut self, value: LoweredValue, part: DType) -> Result<LoweredValue> {
        self.pairs.push((value, complex::complex_of(part)?));
        Ok(value)
    }

    /// Writes what a function makes of one part of all inputs of complex numbers.
    pub fn of_parts<T>(
        &mut self,
        of_inputs: Vec<Option<LoweredValue>>,
        imaginary: bool,
        write: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.parts = Some(ComplexInput { of_inputs, imaginary });
        let written = write(self);
        self.parts = None;
        written
    }

    /// Returns true while imaginary parts are computed.
    pub fn is_imaginary(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.imaginary)
    }

    fn facts(&self, index: usize) -> Option<&Known> {
        self.inputs.get(index)?.as_ref()
    }

    /// The element type of an input.
    pub fn dtype_of(&self, index: usize) -> Result<DType> {
        let dtype = self.facts(index).and_then(|known| known.dtype);
        let part = dtype.filter(|_| self.parts.is_some()).and_then(complex::part_of);
        part.or(dtype).ok_or_else(|| self.unknown(&format!("element type of input {index}")))
    }

    /// The dimensions of an input, as far as they are known.
    pub fn dims_of(&self, index: usize) -> Result<&[Option<usize>]> {
        let dims = self.facts(index).and_then(|known| known.dims.as_deref());
        dims.ok_or_else(|| self.unknown(&format!("rank of input {index}")))
    }

    /// The number of axes of an input.
    pub fn rank_of(&self, index: usize) -> Result<usize> {
        self.dims_of(index).map(<[_]>::len)
    }

    /// The integers that an input holds, which a run does not change.
    pub fn integers_of(&self, index: usize) -> Result<&[i64]> {
        let integers = self.facts(index).and_then(|known| known.integers.as_deref());
        integers.ok_or_else(|| self.unknown(&format!("value of input {index}")))
    }

    /// Number of elements of an input with one axis.
    pub fn len_of(&self, index: usize) -> Result<usize> {
        match *self.dims_of(index)? {
            [Some(len)] => Ok(len),
            _ => Err(self.unknown(&format!("number of elements of input {index}"))),
        }
    }
}

/// Returns the error of a fact that inference lacks and a run has.
pub fn not_known(what: String) -> Error {
    Error::mismatch(Kind::Unsupported, what, "unknown", "known before the run")
}

/// The graph.
impl Lowering<'_> {
    fn next(&mut self) -> LoweredValue {
        self.values += 1;
        LoweredValue(self.values - 1)
    }

    /// Applies an operator of ONNX, or of ONNX Runtime.
    pub fn apply(
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
    pub fn apply_many(
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
        let row = registry::row(Standard::Onnx, domain, name);
        debug_assert!(row.is_some_and(Row::runs), "{name} is not evaluated, so its row claims too much");
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
        let given = inputs.iter().rposition(|&value| value != LoweredValue::NONE).map_or(0, |last| last + 1);
        let inputs = inputs[..given]
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
    pub fn either(
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
    pub fn each(
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
    pub fn repeated(
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

    /// The states after `count` iterations, and the rows of all of them. The body is given the
    /// number of the iteration and the states, and gives the next states and a row.
    pub fn scanned(
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
        let around = self.begin_inner(name, inputs)?;
        let outputs = write(self)?;
        self.end_inner(around, &outputs)
    }

    /// Begins a graph within a node, and returns the graph around it.
    fn begin_inner(&mut self, name: &str, inputs: &[LoweredValue]) -> Result<Builder> {
        let around = std::mem::replace(&mut self.builder, Builder::nested(name));
        for &input in inputs {
            self.builder.define(&key(input), Origin::Input)?;
        }
        Ok(around)
    }

    /// Goes on with the graph around, and returns the one within.
    fn end_inner(&mut self, around: Builder, outputs: &[LoweredValue]) -> Result<Content> {
        for &output in outputs {
            self.builder.output(&key(output));
        }
        let inner = std::mem::replace(&mut self.builder, around);
        Ok(Content::Graph(Arc::new(inner.finish()?)))
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
pub fn graph(node: &Node, inputs: &[Option<Known>], row: &Row) -> Result<Graph> {
    let lower = row.lower.ok_or_else(|| cannot_lower(node))?;
    Ok(write(row.standard, node, inputs, lower, &Goal::run(node, Limits::default()))?.graph)
}

/// The error of an operator that stands for no graph.
pub fn cannot_lower(node: &Node) -> Error {
    Error::new(Kind::Unsupported, format!("cannot lower operator {} to ONNX operators", node.operator))
}

/// The graph that a function writes for a node.
///
/// # Errors
/// As [`graph`].
pub fn write(
    standard: Standard,
    node: &Node,
    inputs: &[Option<Known>],
    lower: Lower,
    goal: &Goal,
) -> Result<Written> {
    let mut builder = Builder::new(&node.operator.name);
    for index in 0..inputs.len() {
        builder.define(&key(LoweredValue(index)), Origin::Input)?;
    }
    let mut lowering = Lowering {
        node,
        attributes: Attributes::new(&node.attributes, Form::of_node(standard, node)),
        inputs,
        builder,
        values: inputs.len(),
        pairs: Vec::new(),
        parts: None,
        goal,
        constants: HashMap::new(),
        notes: Vec::new(),
        noted_by_operators: false,
    };
    let outputs = lower(&mut lowering)?;
    let wanted = goal.outputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    if outputs.len() < wanted {
        let most = format_args!("at most {}", outputs.len());
        return Err(Error::mismatch(Kind::Graph, "number of outputs", wanted, most));
    }
    for &output in outputs.iter().take(node.outputs.len()) {
        lowering.builder.output(&key(output));
    }
    for (value, dtype) in lowering.pairs {
        let id = lowering.builder.reference(&key(value));
        lowering.builder.info(id).declared = Some(Type::Tensor(Some(dtype), None));
    }
    let Lowering { builder, notes, noted_by_operators, .. } = lowering;
    Ok(Written { graph: builder.finish()?, notes, noted_by_operators })
}
