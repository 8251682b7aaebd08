//! Models of one node.

use std::collections::HashMap;

use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Standard, Type};
use gradus::{Model, Tensor, Value};

/// A node: its first inputs are the model's, the others constants, `x0`, `x1` and `c0`, `c1` on;
/// its outputs are `y0` on.
pub struct One<'a> {
    standard: Standard,
    operator: &'a str,
    version: i64,
    inputs: Vec<Tensor>,
    constants: Vec<Tensor>,
    attributes: Vec<(&'a str, Content)>,
    outputs: usize,
    known: bool,
    declared: HashMap<usize, Option<Vec<Option<usize>>>>,
}

#[allow(dead_code, reason = "each test makes nodes in one of the ways")]
impl<'a> One<'a> {
    /// An operator, in the version of OpenVINO, or of ONNX's set.
    pub fn of(standard: Standard, operator: &'a str, version: i64) -> One<'a> {
        One {
            standard,
            operator,
            version,
            inputs: Vec::new(),
            constants: Vec::new(),
            attributes: Vec::new(),
            outputs: 1,
            known: false,
            declared: HashMap::new(),
        }
    }

    pub fn inputs(mut self, inputs: &[Tensor]) -> One<'a> {
        self.inputs.extend_from_slice(inputs);
        self
    }

    pub fn constants(mut self, constants: &[Tensor]) -> One<'a> {
        self.constants.extend_from_slice(constants);
        self
    }

    pub fn attribute(mut self, name: &'a str, content: Content) -> One<'a> {
        self.attributes.push((name, content));
        self
    }

    /// An attribute of OpenVINO.
    pub fn text(self, name: &'a str, text: &str) -> One<'a> {
        self.attribute(name, Content::Text(text.into()))
    }

    pub fn outputs(mut self, outputs: usize) -> One<'a> {
        self.outputs = outputs;
        self
    }

    /// The model declares the dimensions of its inputs.
    #[allow(dead_code, reason = "some tests leave all sizes open")]
    pub fn known(mut self) -> One<'a> {
        self.known = true;
        self
    }

    /// The model declares these dimensions of an input, or not even its rank.
    pub fn declared(mut self, input: usize, dims: Option<&[Option<usize>]>) -> One<'a> {
        self.declared.insert(input, dims.map(<[_]>::to_vec));
        self
    }

    /// The model, and what it is given.
    pub fn model(self) -> (Model, HashMap<String, Value>) {
        let mut builder = Builder::new("one");
        let (mut keys, mut given) = (Vec::new(), HashMap::new());
        for (number, tensor) in self.inputs.iter().enumerate() {
            let key = format!("x{number}");
            let id = builder.define(&key, Origin::Input).unwrap();
            let size = |&len: &usize| if self.known { DeclaredDim::Known(len) } else { DeclaredDim::Unknown };
            let dim = |dim: &Option<usize>| dim.map_or(DeclaredDim::Unknown, DeclaredDim::Known);
            let sizes = match self.declared.get(&number) {
                Some(dims) => dims.as_ref().map(|dims| dims.iter().map(dim).collect()),
                None => Some(tensor.shape().dims().iter().map(size).collect()),
            };
            builder.info(id).declared = Some(Type::Tensor(Some(tensor.dtype()), sizes));
            given.insert(key.clone(), tensor.clone().into());
            keys.push(key);
        }
        for (number, tensor) in self.constants.iter().enumerate() {
            let key = format!("c{number}");
            builder.constant(&key, tensor.clone().into()).unwrap();
            keys.push(key);
        }
        let names: Vec<_> = (0..self.outputs).map(|output| format!("y{output}")).collect();
        let keys: Vec<_> = keys.iter().map(String::as_str).collect();
        let outputs: Vec<_> = names.iter().map(String::as_str).collect();
        builder.apply("node", self.operator, self.version, &keys, &outputs, self.attributes).unwrap();
        for name in &names {
            builder.output(name);
        }
        let mut model = graph::Model::new(self.standard);
        if self.standard == Standard::Onnx {
            model.opsets = vec![("".into(), self.version)];
        } else {
            model.format_version = 11;
        }
        model.graph = builder.finish().unwrap();
        (Model::from_source(model), given)
    }
}
