//! Models of one node.

use std::collections::HashMap;

use gradus::graph::{
    self, Attribute, Builder, Content, DeclaredDim, Node, OperatorId, Origin, Slots, Standard, Type,
};
use gradus::{Model, Tensor, Value};

/// Declared shapes of the inputs.
#[derive(Clone, Copy, PartialEq)]
enum Sizes {
    /// Types and ranks alone.
    Ranks,
    /// All sizes.
    Known,
    /// All sizes but those of the first axes.
    FirstOpen,
    /// Not even types.
    Nothing,
}

/// A node: its first inputs are the model's, the others constants, `x0`, `x1` and `c0`, `c1` on;
/// its outputs are `y0` on.
pub struct One<'a> {
    standard: Standard,
    domain: &'a str,
    operator: &'a str,
    version: i64,
    inputs: Vec<Option<Value>>,
    constants: Vec<Option<Tensor>>,
    attributes: Vec<(&'a str, Content)>,
    outputs: usize,
    sizes: Sizes,
    declared: HashMap<usize, Option<Vec<Option<usize>>>>,
}

#[allow(dead_code, reason = "each test makes nodes in one of the ways")]
impl<'a> One<'a> {
    /// An operator, in the version of OpenVINO, or of ONNX's set.
    pub fn of(standard: Standard, operator: &'a str, version: i64) -> One<'a> {
        One {
            standard,
            domain: "",
            operator,
            version,
            inputs: Vec::new(),
            constants: Vec::new(),
            attributes: Vec::new(),
            outputs: 1,
            sizes: Sizes::Ranks,
            declared: HashMap::new(),
        }
    }

    /// The operator is of a domain of ONNX, in a model of operator set 21.
    pub fn domain(mut self, domain: &'a str) -> One<'a> {
        self.domain = domain;
        self
    }

    pub fn inputs(self, inputs: &[Tensor]) -> One<'a> {
        self.values(inputs.iter().map(|tensor| Some(tensor.clone().into())))
    }

    /// Inputs of any kind, of which some may be missing.
    pub fn values(mut self, inputs: impl IntoIterator<Item = Option<Value>>) -> One<'a> {
        self.inputs.extend(inputs);
        self
    }

    pub fn constants(self, constants: &[Tensor]) -> One<'a> {
        self.optional_constants(constants.iter().cloned().map(Some))
    }

    /// Constants, of which some may be missing.
    pub fn optional_constants(mut self, constants: impl IntoIterator<Item = Option<Tensor>>) -> One<'a> {
        self.constants.extend(constants);
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
    pub fn known(mut self) -> One<'a> {
        self.sizes = Sizes::Known;
        self
    }

    /// The model declares the dimensions of its inputs but those of their first axes.
    pub fn first_open(mut self) -> One<'a> {
        self.sizes = Sizes::FirstOpen;
        self
    }

    /// The model declares nothing of its inputs.
    pub fn undeclared(mut self) -> One<'a> {
        self.sizes = Sizes::Nothing;
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
        let (mut inputs, mut given) = (Vec::new(), HashMap::new());
        for (number, value) in self.inputs.iter().enumerate() {
            let Some(value) = value else {
                inputs.push(None);
                continue;
            };
            let key = format!("x{number}");
            let id = builder.define(&key, Origin::Input).unwrap();
            if let Ok(tensor) = value.tensor()
                && self.sizes != Sizes::Nothing
            {
                let size = |(axis, &len): (usize, &usize)| match self.sizes {
                    Sizes::Known => DeclaredDim::Known(len),
                    Sizes::FirstOpen if axis > 0 => DeclaredDim::Known(len),
                    _ => DeclaredDim::Unknown,
                };
                let dim = |dim: &Option<usize>| dim.map_or(DeclaredDim::Unknown, DeclaredDim::Known);
                let sizes = match self.declared.get(&number) {
                    Some(dims) => dims.as_ref().map(|dims| dims.iter().map(dim).collect()),
                    None => Some(tensor.shape().dims().iter().enumerate().map(size).collect()),
                };
                builder.info(id).declared = Some(Type::Tensor(Some(tensor.dtype()), sizes));
            }
            given.insert(key, value.clone());
            inputs.push(Some(id));
        }
        for (number, tensor) in self.constants.iter().enumerate() {
            let constant = |tensor: &Tensor| builder.constant(&format!("c{number}"), tensor.clone().into());
            inputs.push(tensor.as_ref().map(constant).transpose().unwrap());
        }
        let names: Vec<_> = (0..self.outputs).map(|output| format!("y{output}")).collect();
        let outputs: Vec<_> = names.iter().map(String::as_str).collect();
        let attribute = |(name, content): (&str, Content)| Attribute { name: name.into(), content };
        let node = Node {
            name: "node".into(),
            operator: OperatorId {
                domain: self.domain.into(),
                name: self.operator.into(),
                overload: "".into(),
            },
            inputs: inputs.into(),
            outputs: Slots::new(),
            attributes: self.attributes.into_iter().map(attribute).collect(),
            version: Some(self.version),
            position: None,
        };
        builder.push(node, &outputs).unwrap();
        for name in &names {
            builder.output(name);
        }
        let mut model = graph::Model::new(self.standard);
        match (self.standard, self.domain) {
            (Standard::Onnx, "") => model.opsets = vec![("".into(), self.version)],
            (Standard::Onnx, domain) => model.opsets = vec![("".into(), 21), (domain.into(), self.version)],
            _ => model.format_version = 11,
        }
        model.graph = builder.finish().unwrap();
        (Model::from_source(model), given)
    }
}
