//! Operators: the trait that all implement, and the rows by which standards name them.

use std::fmt::Debug;
use std::sync::Arc;

use gradus_core::graph::{Content, Graph, Node, Standard};
use gradus_core::{DType, Error, Kind, Limits, Result, Tensor, Value};

use crate::operators::{Eval, Row};
use crate::program::{Compiler, Frame, Program, Run};
use crate::schema::{Signature, Sort};

/// An operator with its attributes: what one node does.
pub trait Op: Debug + Send + Sync {
    /// The outputs. Number and types of the inputs have been checked against the signature.
    ///
    /// # Errors
    /// Where the text allows no result, or the limits do not.
    fn eval(&self, cx: &mut EvalCx<'_>) -> Result<Vec<Value>>;
}

/// Makes the operator of a node.
pub type Build = fn(&NodeCx<'_>) -> Result<Box<dyn Op>>;

/// What a node's operator is made from.
pub struct NodeCx<'a> {
    /// The node.
    pub node: &'a Node,
    /// The row of its operator.
    pub(crate) row: &'static Row,
    /// The version that applies to it.
    pub signature: &'static Signature,
    pub(crate) compiler: &'a Compiler<'a>,
}

impl NodeCx<'_> {
    /// An attribute's content, if it is given; a function's parameter is replaced by what the call says.
    pub fn attribute(&self, name: &str) -> Option<&Content> {
        self.compiler.resolve(self.node.attribute(name)?)
    }

    fn wrong(name: &str, content: &Content, wanted: &str) -> Error {
        let got = match content {
            Content::Text(text) => format!("\"{text}\""),
            other => other.sort().to_owned(),
        };
        Error::new(Kind::Type, format!("attribute \"{name}\" is {got}, but {wanted} is wanted"))
    }

    fn missing(name: &str) -> Error {
        Error::new(Kind::Graph, format!("attribute \"{name}\" is missing"))
    }

    /// An integer, if it is given.
    ///
    /// # Errors
    /// [`Kind::Type`] if it is something else.
    pub fn int(&self, name: &str) -> Result<Option<i64>> {
        let Some(content) = self.attribute(name) else { return Ok(None) };
        let int = match content {
            Content::Int(value) => Some(*value),
            Content::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        int.map(Some).ok_or_else(|| Self::wrong(name, content, "an integer"))
    }

    /// An integer that means yes or no, if it is given.
    ///
    /// # Errors
    /// [`Kind::Type`] if it is something else.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.attribute(name) {
            Some(content @ Content::Text(text)) => {
                flag_of(text).ok_or_else(|| Self::wrong(name, content, "true or false"))
            }
            _ => Ok(self.int(name)?.map_or(default, |value| value != 0)),
        }
    }

    /// Text, if it is given.
    ///
    /// # Errors
    /// [`Kind::Type`] if it is something else.
    pub fn text(&self, name: &str) -> Result<Option<&str>> {
        let Some(content) = self.attribute(name) else { return Ok(None) };
        let text = match content {
            Content::Text(text) => Some(&**text),
            Content::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        };
        text.map(Some).ok_or_else(|| Self::wrong(name, content, "text"))
    }

    /// An element type, which must be given: a number of ONNX's enumeration, or a name.
    ///
    /// # Errors
    /// [`Kind::Graph`] if it is missing, [`Kind::Type`] if it is no element type.
    pub fn dtype(&self, name: &str) -> Result<DType> {
        let content = self.attribute(name).ok_or_else(|| Self::missing(name))?;
        let dtype = match content {
            Content::Int(number) => {
                return gradus_formats::onnx::dtype_of(*number).ok_or_else(|| {
                    Error::new(
                        Kind::Type,
                        format!("attribute \"{name}\" is {number}, which is no element type"),
                    )
                });
            }
            Content::Text(text) => text.parse().ok(),
            Content::Bytes(bytes) => std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()),
            _ => None,
        };
        dtype.ok_or_else(|| Self::wrong(name, content, "an element type"))
    }

    /// A tensor, if it is given.
    ///
    /// # Errors
    /// [`Kind::Type`] if it is something else; whatever is wrong with its elements.
    pub fn tensor(&self, name: &str) -> Result<Option<Tensor>> {
        match self.attribute(name) {
            None => Ok(None),
            Some(Content::Tensor(constant)) => constant.tensor().map(Some),
            Some(other) => Err(Self::wrong(name, other, "a tensor")),
        }
    }

    /// A graph, which must be given, ready to run, with its number of inputs and outputs checked.
    ///
    /// # Errors
    /// [`Kind::Graph`] if it is missing, [`Kind::Type`] if it is something else; whatever is wrong within.
    pub(crate) fn program(&self, name: &str) -> Result<(Arc<Graph>, Program)> {
        match self.attribute(name) {
            None => Err(Self::missing(name)),
            Some(Content::Graph(graph)) => Ok((graph.clone(), self.compiler.inner(graph)?)),
            Some(other) => Err(Self::wrong(name, other, "a graph")),
        }
    }

    /// Checks that required attributes are there and that the text knows all that are.
    ///
    /// # Errors
    /// [`Kind::Graph`].
    pub(crate) fn check_attributes(&self, standard: Standard) -> Result<()> {
        let rules = self.signature.attributes;
        if let Some(rule) = rules.iter().find(|rule| rule.required && self.attribute(rule.name).is_none()) {
            return Err(Self::missing(rule.name));
        }
        // OpenVINO and Paddle write attributes beside those of the text.
        if standard != Standard::Onnx {
            return Ok(());
        }
        for attribute in &self.node.attributes {
            let Some(rule) = rules.iter().find(|rule| rule.name == &*attribute.name) else {
                let known: Vec<_> = rules.iter().map(|rule| rule.name).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let message = format!(
                    "attribute \"{}\" is not one of the operator; its attributes: {known}",
                    attribute.name
                );
                return Err(Error::new(Kind::Graph, message));
            };
            if let Some(content) =
                self.attribute(&attribute.name).filter(|content| !admits(rule.sort, content))
            {
                return Err(Self::wrong(rule.name, content, &format!("{:?}", rule.sort).to_lowercase()));
            }
        }
        Ok(())
    }
}

fn admits(sort: Sort, content: &Content) -> bool {
    matches!(
        (sort, content),
        (Sort::Float, Content::Float(_))
            | (Sort::Int, Content::Int(_))
            | (Sort::String, Content::Bytes(_))
            | (Sort::Tensor | Sort::SparseTensor, Content::Tensor(_))
            | (Sort::Graph, Content::Graph(_))
            | (Sort::Type, Content::Type(_))
            | (Sort::Floats, Content::Floats(_))
            | (Sort::Ints, Content::Ints(_))
            | (Sort::Strings, Content::Strings(_))
    )
}

/// Yes or no as text: `true`, `false`, or a number.
pub(crate) fn flag_of(text: &str) -> Option<bool> {
    match text.trim() {
        "true" => Some(true),
        "false" => Some(false),
        number => number.parse::<i64>().ok().map(|number| number != 0),
    }
}

/// Integers as text, separated by commas.
pub(crate) fn list_of(text: &str) -> Option<Vec<i64>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// What a function computes from attributes and inputs.
pub(crate) type Compute = fn(&Attributes, &mut EvalCx<'_>) -> Result<Vec<Value>>;

/// The attributes of a node, a function's parameters replaced.
#[derive(Clone, Debug)]
pub(crate) struct Attributes {
    list: Vec<(Arc<str>, Content)>,
    /// The operator's name.
    pub(crate) operator: &'static str,
    /// The first version of the operator set that has the operator in this form.
    pub(crate) since: i64,
}

impl Attributes {
    /// Of a function that knows the operator by that name, in its newest version.
    pub(crate) fn new(operator: &'static str, list: Vec<(&str, Content)>) -> Attributes {
        let list = list.into_iter().map(|(name, content)| (name.into(), content)).collect();
        Attributes { list, operator, since: i64::MAX }
    }

    fn content(&self, name: &str) -> Option<&Content> {
        self.list.iter().find(|(own, _)| &**own == name).map(|(_, content)| content)
    }

    /// An integer, if it is given.
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        match self.content(name)? {
            Content::Int(value) => Some(*value),
            Content::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// A float, if it is given.
    pub(crate) fn float(&self, name: &str) -> Option<f32> {
        match self.content(name)? {
            Content::Float(value) => Some(*value),
            Content::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// An integer that means yes or no.
    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        match self.content(name) {
            Some(Content::Text(text)) => flag_of(text).unwrap_or(default),
            _ => self.int(name).map_or(default, |value| value != 0),
        }
    }

    /// Integers, if they are given, also as text.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<i64>> {
        match self.content(name)? {
            Content::Text(text) => list_of(text),
            _ => self.ints(name).map(<[i64]>::to_vec),
        }
    }

    /// Integers, if they are given.
    pub(crate) fn ints(&self, name: &str) -> Option<&[i64]> {
        if let Some(Content::Ints(values)) = self.content(name) { Some(values) } else { None }
    }

    /// Text, if it is given.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.content(name)? {
            Content::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An element type, if it is given.
    pub(crate) fn dtype(&self, name: &str) -> Option<DType> {
        match self.content(name)? {
            Content::Text(text) => text.parse().ok(),
            _ => self.int(name).and_then(gradus_formats::onnx::dtype_of),
        }
    }

    /// A tensor, if it is given.
    pub(crate) fn tensor(&self, name: &str) -> Result<Option<Tensor>> {
        match self.content(name) {
            Some(Content::Tensor(constant)) => constant.tensor().map(Some),
            _ => Ok(None),
        }
    }
}

/// An operator that is a function of attributes and inputs.
#[derive(Debug)]
struct Plain {
    attributes: Attributes,
    compute: Compute,
}

/// The operator of a node, by the row of its operator.
pub(crate) fn build(cx: &NodeCx<'_>, eval: Eval) -> Result<Box<dyn Op>> {
    let compute = match eval {
        Eval::Build(build) => return build(cx),
        Eval::Function(compute) => compute,
    };
    let given = cx.node.attributes.iter();
    let list = given.filter_map(|a| Some((a.name.clone(), cx.attribute(&a.name)?.clone()))).collect();
    let attributes = Attributes { list, operator: cx.row.known_as(), since: cx.signature.since };
    Ok(Box::new(Plain { attributes, compute }))
}

impl Op for Plain {
    fn eval(&self, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
        (self.compute)(&self.attributes, cx)
    }
}

/// A node's inputs, and what its operator may use.
pub struct EvalCx<'a> {
    /// The inputs; nothing where one is missing.
    pub inputs: &'a [Option<&'a Value>],
    /// How many outputs the node names.
    pub(crate) outputs: usize,
    pub(crate) signature: Option<&'static Signature>,
    pub(crate) frame: &'a Frame,
    pub(crate) run: &'a mut Run,
}

impl<'a> EvalCx<'a> {
    /// An input, in words: `input 2 "delta"`.
    pub fn label(&self, index: usize) -> String {
        self.signature.map_or_else(|| format!("input {index}"), |signature| signature.input_label(index))
    }

    /// An error about an input: `input 2 "delta" ` and what is wrong with it.
    pub fn wrong(&self, index: usize, error: &Error) -> Error {
        Error::new(error.kind(), format!("{} {}", self.label(index), error.message()))
    }

    /// An input that must be there.
    ///
    /// # Errors
    /// [`Kind::Graph`] if it is missing.
    pub fn value(&self, index: usize) -> Result<&'a Value> {
        let value = self.inputs.get(index).copied().flatten();
        value.ok_or_else(|| Error::new(Kind::Graph, format!("{} is missing", self.label(index))))
    }

    /// An input that must be a tensor.
    ///
    /// # Errors
    /// [`Kind::Graph`] if it is missing, [`Kind::Type`] if it is something else.
    pub fn tensor(&self, index: usize) -> Result<&'a Tensor> {
        self.value(index)?.tensor().map_err(|error| self.wrong(index, &error))
    }

    /// Whether an input is given.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.inputs.get(index).is_some_and(Option::is_some)
    }

    /// The integers that an input holds.
    ///
    /// # Errors
    /// As [`EvalCx::tensor`]; [`Kind::Type`] if they are no integers.
    pub(crate) fn integers(&self, index: usize) -> Result<Vec<i64>> {
        self.tensor(index)?.to_i64().map_err(|error| self.wrong(index, &error))
    }

    /// The one integer that an input holds.
    ///
    /// # Errors
    /// As [`EvalCx::integers`]; [`Kind::Shape`] if there is not exactly one.
    pub(crate) fn integer(&self, index: usize) -> Result<i64> {
        match self.integers(index)?[..] {
            [only] => Ok(only),
            ref all => {
                let error = Error::new(Kind::Shape, format!("has {} elements, but one is wanted", all.len()));
                Err(self.wrong(index, &error))
            }
        }
    }

    /// The limits of the run.
    pub fn limits(&self) -> Limits {
        self.run.limits
    }

    /// Checks that an output of that many bytes may be made, before it is.
    ///
    /// # Errors
    /// [`Kind::Limit`].
    pub fn reserve(&self, bytes: u128) -> Result<()> {
        self.run.limits.allow_bytes(self.run.live_bytes, bytes)
    }

    /// Bytes that values of the run occupy now.
    pub fn in_use(&self) -> u64 {
        self.run.live_bytes
    }
}
