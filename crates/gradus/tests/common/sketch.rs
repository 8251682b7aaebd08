//! Models of a few nodes, written by hand.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::sync::Arc;

use gradus::element::Bool;
use gradus::formats::Splice;
use gradus::formats::onnx::encode_model;
use gradus::graph::{self, Builder, Constant, Content, DeclaredDim, Graph, Origin, Standard, Type};
use gradus::{DType, Model, Tensor};

/// A model in the making.
pub struct Sketch(pub Builder);

impl Sketch {
    pub fn new() -> Sketch {
        Sketch(Builder::new("main"))
    }

    pub fn nested() -> Sketch {
        Sketch(Builder::nested("inner"))
    }

    /// A model in the making, of these statements.
    pub fn of(text: &str) -> Sketch {
        Sketch::new().text(text)
    }

    /// Adds statements, separated by `;`: an input `x: float32[n, 3]`, an output
    /// `return y: float32[n, 3]`, constants of int64, float32 and bool `a = [1, -1]`, `a = 2`,
    /// `a = 0.5`, `a = true`, and nodes `a, b = Split(x, sizes, axis=1)`.
    pub fn text(self, text: &str) -> Sketch {
        text.split(';').map(str::trim).fold(self, Sketch::statement)
    }

    fn statement(self, text: &str) -> Sketch {
        let Some((names, value)) = text.split_once(" = ") else {
            let (name, declared) = text.split_once(": ").unwrap();
            let (dtype, sizes) = declared.strip_suffix(']').unwrap().split_once('[').unwrap();
            let (dtype, sizes) = (dtype.parse().unwrap(), parts(sizes));
            return match name.strip_prefix("return ") {
                Some(name) => self.output(name, dtype, &sizes),
                None => self.input(name, dtype, &sizes),
            };
        };
        let Some((operator, arguments)) = value.strip_suffix(')').and_then(|node| node.split_once('('))
        else {
            return self.constant(names, constant(value));
        };
        let (attributes, inputs): (Vec<_>, Vec<_>) =
            parts(arguments).into_iter().partition(|argument| argument.contains('='));
        let attributes = attributes.iter().map(|attribute| {
            let (name, text) = attribute.split_once('=').unwrap();
            (name, content(text))
        });
        self.with(operator, &inputs, &parts(names), attributes.collect())
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

    pub fn with(
        mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: Vec<(&str, Content)>,
    ) -> Sketch {
        let name = format!("make {}", outputs[0]);
        self.0.apply(&name, operator, 20, inputs, outputs, attributes).unwrap();
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

    pub fn model(self) -> Model {
        self.model_of(20)
    }

    /// A model of that operator set.
    pub fn model_of(self, version: i64) -> Model {
        let mut model = graph::Model::new(Standard::Onnx);
        model.format_version = 8;
        model.opsets = vec![("".into(), version)];
        model.graph = self.0.finish().unwrap();
        read(&encode_model(&model).unwrap())
    }
}

/// Texts between commas that are in no brackets.
fn parts(text: &str) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut depth = 0;
    let separates = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    };
    text.split(separates).map(str::trim).collect()
}

/// The integers of `[1, -1]`.
fn integers(text: &str) -> Option<Vec<i64>> {
    let list = text.strip_prefix('[')?.strip_suffix(']')?;
    Some(parts(list).into_iter().map(|element| element.parse().unwrap()).collect())
}

fn constant(text: &str) -> Tensor {
    match (integers(text), text.parse::<i64>(), text.parse::<f32>(), text.parse::<bool>()) {
        (Some(list), ..) => Tensor::vector(&list),
        (_, Ok(integer), ..) => Tensor::scalar(integer),
        (_, _, Ok(float), _) => Tensor::scalar(float),
        (.., truth) => Tensor::scalar(Bool::from(truth.unwrap())),
    }
}

fn content(text: &str) -> Content {
    match (integers(text), text.parse::<i64>(), text.parse::<f32>()) {
        (Some(list), ..) => Content::Ints(list.into()),
        (_, Ok(integer), _) => Content::Int(integer),
        (.., Ok(float)) => Content::Float(float),
        _ => Content::Bytes(text.to_owned().into()),
    }
}

pub fn tensor_type(dtype: DType, sizes: &[&str]) -> Type {
    let size = |text: &&str| match text.parse() {
        Ok(len) => DeclaredDim::Known(len),
        Err(_) if text.is_empty() => DeclaredDim::Unknown,
        Err(_) => DeclaredDim::Symbol((*text).into()),
    };
    Type::Tensor(Some(dtype), Some(sizes.iter().map(size).collect()))
}

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
