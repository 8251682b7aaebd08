//! Models of a few nodes, written by hand.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;
use gradus::element::Bool;
use gradus::formats::onnx::encode_model;
use gradus::formats::{Files, InMemory, Splice, openvino};
use gradus::graph::{
    self, Attribute, Builder, Constant, Content, DeclaredDim, Function, Graph, Node, OperatorId, Origin,
    Port, Ports, Slots, Standard, Type,
};
use gradus::{DType, Model, Number, OpenOptions, Rules, Shape, Tensor};

/// A model in the making.
pub struct Sketch(pub Builder, pub Standard);

impl Sketch {
    pub fn new() -> Sketch {
        Sketch(Builder::new("main"), Standard::Onnx)
    }

    pub fn nested() -> Sketch {
        Sketch(Builder::nested("inner"), Standard::Onnx)
    }

    /// A model in the making, of these statements.
    pub fn of(text: &str) -> Sketch {
        Sketch::new().text(text)
    }

    /// A model of OpenVINO in the making, of these statements.
    pub fn openvino(text: &str) -> Sketch {
        Sketch(Builder::new("main"), Standard::OpenVino).text(text)
    }

    /// Adds statements, separated by `;`:
    ///
    /// - inputs `x: float32[n, ?]`, `x: float32` of any rank, `x: sequence of float32`, `x: ?`;
    /// - outputs `return y: float32[n, 3]` and `return y, z`;
    /// - constants of int64, float32 and bool `a = [1, -1]`, `a = 2`, `a = 0.5`, `a = true`, and of
    ///   any type `a = float16[2, 3](0.5)` or with each element, `a = uint8[2](1, 2)`;
    /// - nodes `a, b = Split(x, sizes, axis=1)`, of an operator set `Clip@6(x, min=0.5)`, of texts and
    ///   tensors `Einsum(x, equation='ij->j')`, `Constant(value=float32[2](0))`, of a domain
    ///   `own.f:overload(x)`, of parameters `f(x, axis=$axis)`, of graphs
    ///   `If(c, then_branch={a = Neg(x); return a}, else_branch={b = Abs(x); return b})`, and of
    ///   ports of inputs and outputs `If@8(c, x, then_port_map=ports 1:0 / 0:0, then_body={…})`.
    pub fn text(self, text: &str) -> Sketch {
        parts(text, ';').into_iter().filter(|part| !part.is_empty()).fold(self, Sketch::statement)
    }

    fn statement(mut self, text: &str) -> Sketch {
        if let Some(outputs) = text.strip_prefix("return ").filter(|outputs| !outputs.contains([':', '='])) {
            for output in parts(outputs, ',') {
                self.0.output(output);
            }
            return self;
        }
        let (inputs, nodes) = (text.split_once(": "), text.split_once(" = "));
        let is_input = inputs.is_some_and(|(name, _)| nodes.is_none_or(|(node, _)| name.len() < node.len()));
        if let Some((name, declared)) = inputs.filter(|_| is_input) {
            let declared = type_of(declared);
            let id = match name.strip_prefix("return ") {
                Some(name) => self.0.output(name),
                None => self.0.define(name, Origin::Input).unwrap(),
            };
            let known = &mut self.0.info(id).declared;
            *known = known.take().or(declared);
            return self;
        }
        let (names, value) = nodes.unwrap();
        let node = value.strip_suffix(')').and_then(|node| node.split_once('('));
        let Some((operator, arguments)) = node.filter(|(operator, _)| !operator.contains('[')) else {
            return self.constant(names, constant(value));
        };
        let (attributes, inputs): (Vec<_>, Vec<_>) =
            parts(arguments, ',').into_iter().partition(|argument| argument.contains('='));
        let attributes = attributes.iter().map(|attribute| {
            let (name, text) = attribute.split_once('=').unwrap();
            (name, content(self.1, text))
        });
        let attributes = attributes.collect();
        self.with(operator, &inputs, &parts(names, ','), attributes)
    }

    pub fn input(mut self, name: &str, dtype: DType, sizes: &[&str]) -> Sketch {
        let id = self.0.define(name, Origin::Input).unwrap();
        self.0.info(id).declared = Some(tensor_type(dtype, sizes));
        self
    }

    pub fn constant(mut self, name: &str, tensor: Tensor) -> Sketch {
        self.0.constant(name, Constant::from(tensor)).unwrap();
        self
    }

    pub fn ints(self, name: &str, elements: &[i64]) -> Sketch {
        self.constant(name, Tensor::vector(elements))
    }

    pub fn node(self, operator: &str, inputs: &[&str], outputs: &[&str]) -> Sketch {
        self.with(operator, inputs, outputs, vec![])
    }

    /// Adds a node of an operator as it is written in the text.
    pub fn with(
        mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: Vec<(&str, Content)>,
    ) -> Sketch {
        let newest = if self.1 == Standard::OpenVino { 1 } else { 20 };
        let (operator, version) = operator.split_once('@').unwrap_or((operator, ""));
        let (domain, name) = operator.rsplit_once('.').unwrap_or(("", operator));
        let (name, overload) = name.split_once(':').unwrap_or((name, ""));
        let attribute = |(name, content): (&str, Content)| Attribute { name: name.into(), content };
        let node = Node {
            name: format!("make {}", outputs.first().unwrap_or(&"nothing")).into(),
            operator: OperatorId { domain: domain.into(), name: name.into(), overload: overload.into() },
            version: Some(version.parse().unwrap_or(newest)),
            inputs: inputs.iter().map(|key| (!key.is_empty()).then(|| self.0.reference(key))).collect(),
            outputs: Slots::new(),
            attributes: attributes.into_iter().map(attribute).collect(),
            position: None,
        };
        self.0.push(node, outputs).unwrap();
        self
    }

    /// Adds a node that has no name.
    pub fn unnamed(mut self, operator: &str, input: &str, output: &str) -> Sketch {
        let (operator, version) = operator.split_once('@').unwrap();
        let (domain, name) = operator.rsplit_once('.').unwrap();
        let operator = OperatorId { domain: domain.into(), name: name.into(), overload: "".into() };
        let inputs = [Some(self.0.reference(input))].into_iter().collect();
        let version = Some(version.parse().unwrap());
        let node = Node {
            name: "".into(),
            operator,
            version,
            inputs,
            outputs: Slots::new(),
            attributes: [].into(),
            position: None,
        };
        self.0.push(node, &[output]).unwrap();
        self
    }

    pub fn output(mut self, name: &str, dtype: DType, sizes: &[&str]) -> Sketch {
        let id = self.0.output(name);
        self.0.info(id).declared.get_or_insert_with(|| tensor_type(dtype, sizes));
        self
    }

    pub fn graph(self) -> Content {
        Content::Graph(Arc::new(self.0.finish().unwrap()))
    }

    /// The model of a file of ONNX, or of files of OpenVINO.
    pub fn model(self) -> Model {
        self.model_of(20)
    }

    /// The model of an ONNX file of that operator set.
    pub fn model_of(self, version: i64) -> Model {
        if self.1 == Standard::OpenVino {
            let written = openvino::encode_model(&self.source(version)).unwrap();
            return read_ir(&written.xml.to_bytes(&[]).unwrap(), written.bin.to_bytes(&[]).unwrap());
        }
        read(&encode_model(&self.source(version)).unwrap())
    }

    /// The model of that operator set, which no file was read for.
    pub fn unwritten(self, version: i64) -> Model {
        Model::from_source(self.source(version))
    }

    pub fn source(self, version: i64) -> graph::Model {
        let mut model = graph::Model::new(self.1);
        match self.1 {
            Standard::Onnx => (model.format_version, model.opsets) = (8, vec![("".into(), version)]),
            Standard::OpenVino => model.format_version = 11,
            Standard::Paddle => {}
        }
        model.graph = self.0.finish().unwrap();
        model
    }
}

/// The function of domain `f` with these attributes, which have defaults or not, and this body.
pub fn function(name: &str, attributes: &[(&str, Option<Content>)], body: &str) -> Function {
    let (name, overload) = name.split_once(':').unwrap_or((name, ""));
    let named = |(name, default): &(&str, Option<Content>)| {
        let default = default.clone().map(|content| Attribute { name: (*name).into(), content });
        ((*name).into(), default)
    };
    Function {
        id: OperatorId { domain: "f".into(), name: name.into(), overload: overload.into() },
        attributes: attributes.iter().map(named).collect(),
        body: Sketch::of(body).0.finish().unwrap(),
    }
}

/// Texts between separators that are in no brackets.
pub fn parts(text: &str, separator: char) -> Vec<&str> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let (mut depth, mut quoted) = (0, false);
    let separates = |c: char| {
        quoted ^= c == '\'';
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        c == separator && depth == 0 && !quoted
    };
    text.split(separates).map(str::trim).collect()
}

/// The elements of `[1, -1]`.
fn list<T: FromStr>(text: &str) -> Option<Vec<T>> {
    let list = text.strip_prefix('[')?.strip_suffix(']')?;
    parts(list, ',').into_iter().map(|element| element.parse().ok()).collect()
}

/// The tensor that is written as a constant.
pub fn constant(text: &str) -> Tensor {
    if let Some((declared, elements)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let (dtype, sizes) = declared.split_once('[').unwrap();
        let sizes: Vec<usize> = list(&format!("[{sizes}")).unwrap();
        let number = |text: &str| match text.parse() {
            Ok(integer) => Number::Int(integer),
            Err(_) => Number::Float(text.parse().unwrap()),
        };
        let numbers = parts(elements, ',').into_iter().map(number).cycle();
        let shape = Shape::new(sizes).unwrap();
        let numbers = numbers.take(shape.len());
        return Tensor::from_numbers(dtype.parse().unwrap(), shape, numbers, Rules::IEEE).unwrap();
    }
    match (list(text), text.parse::<i64>(), text.parse::<f32>(), text.parse::<bool>()) {
        (Some(list), ..) => Tensor::vector::<i64>(&list),
        (_, Ok(integer), ..) => Tensor::scalar(integer),
        (_, _, Ok(float), _) => Tensor::scalar(float),
        (.., truth) => Tensor::scalar(Bool::from(truth.unwrap())),
    }
}

/// The content of an attribute that is written so.
pub fn content(standard: Standard, text: &str) -> Content {
    if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        let inner = match standard {
            Standard::OpenVino => Sketch::openvino(inner),
            _ => Sketch::nested().text(inner),
        };
        return inner.graph();
    }
    if let Some(parameter) = text.strip_prefix('$') {
        return Content::Parameter(parameter.into());
    }
    if let Some((inputs, outputs)) = text.strip_prefix("ports ").and_then(|text| text.split_once(" / ")) {
        let [inputs, outputs] = [inputs, outputs].map(|ports| ports.split(' ').map(port).collect());
        return Content::Ports(Arc::new(Ports { inputs, outputs, ..Ports::default() }));
    }
    if standard != Standard::Onnx {
        return Content::Text(text.trim_matches(['[', ']', '\'']).into());
    }
    if text.ends_with(')') {
        return Content::Tensor(constant(text).into());
    }
    match (list(text), list(text), text.parse::<i64>(), text.parse::<f32>()) {
        (Some(integers), ..) => Content::Ints(integers.into()),
        (_, Some(floats), ..) => Content::Floats(floats.into()),
        (.., Ok(integer), _) => Content::Int(integer),
        (.., Ok(float)) => Content::Float(float),
        _ => Content::Bytes(text.trim_matches('\'').to_owned().into()),
    }
}

/// A port that is written `1:0`, with its numbers outside and inside.
fn port(text: &str) -> Port {
    let (outer, inner) = text.split_once(':').unwrap();
    Port { outer: outer.parse().unwrap(), inner: inner.parse().unwrap(), slices: None }
}

/// The type that is written `float32[n, 3]`, `float32`, `sequence of float32` or `?`.
fn type_of(text: &str) -> Option<Type> {
    if text == "?" {
        return None;
    }
    if let Some(item) = text.strip_prefix("sequence of ") {
        return type_of(item).map(|item| Type::Sequence(Box::new(item)));
    }
    let Some((dtype, sizes)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) else {
        return Some(Type::Tensor(Some(text.parse().unwrap()), None));
    };
    Some(tensor_type(dtype.parse().unwrap(), &parts(sizes, ',')))
}

pub fn tensor_type(dtype: DType, sizes: &[&str]) -> Type {
    let size = |text: &&str| match text.parse() {
        Ok(len) => DeclaredDim::Known(len),
        Err(_) if ["", "?"].contains(text) => DeclaredDim::Unknown,
        Err(_) => DeclaredDim::Symbol((*text).into()),
    };
    Type::Tensor(Some(dtype), Some(sizes.iter().map(size).collect()))
}

/// The model of the files of OpenVINO.
pub fn read_ir(xml: &[u8], bin: Bytes) -> Model {
    let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::from([("m.bin".to_owned(), bin)])));
    OpenOptions::new().with_files(&Bytes::copy_from_slice(xml), "m", files).unwrap()
}

/// The model of an ONNX file.
pub fn read(written: &Splice) -> Model {
    Model::from_bytes(&written.to_bytes(&[]).unwrap()).unwrap()
}

/// The operators of a graph, in the order of its nodes.
pub fn operators(model: &Model) -> String {
    let names: Vec<_> = model.graph().nodes().iter().map(|node| &*node.operator.name).collect();
    names.join(" ")
}

/// The number of nodes of a graph and of the graphs within them.
pub fn nodes(graph: &Graph) -> usize {
    graph.nodes().iter().map(|node| 1 + node.graphs().map(|inner| nodes(inner)).sum::<usize>()).sum()
}
