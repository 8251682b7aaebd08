//! The graph that is written: values are numbers until it is finished.

pub mod downgrade;

use std::sync::Arc;

use bytes::Bytes;
use foldhash::HashMap;
use gradus_core::graph::{
    Attribute, Builder, Constant, Content, Graph, Node, OperatorId, Origin, Slots, Standard, Type,
};
use gradus_core::{DType, Error, Kind, Result, Tensor};

use super::types::named;
use crate::conversion::report::not_known;
use crate::normalize::Form;
use crate::schema::{Arity, Signature, openvino_versions};

/// A value of the graph that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NewValue(usize);

/// No value, where an input in the middle is missing.
pub const NONE: NewValue = NewValue(usize::MAX);

/// How a value comes about.
#[derive(Clone, Debug)]
enum ValueSource {
    Input(Option<Type>),
    Constant(Constant),
    /// A value of the graph around.
    Captured,
    Node,
}

#[derive(Clone, Debug)]
struct TargetValue {
    name: Option<Arc<str>>,
    made: ValueSource,
}

#[derive(Clone, Debug)]
struct NewNode {
    name: Option<Arc<str>>,
    domain: Arc<str>,
    operator: String,
    version: i64,
    inputs: Vec<NewValue>,
    outputs: Vec<NewValue>,
    attributes: Vec<Attribute>,
}

/// Names that are taken, in all graphs of the model.
#[derive(Debug, Default)]
pub struct NamePool(HashMap<Arc<str>, usize>);

impl NamePool {
    /// A name like that which nothing has, from now on taken.
    pub fn fresh(&mut self, like: &str) -> Arc<str> {
        let mut name: Arc<str> = like.into();
        while self.0.contains_key(&name) {
            let count = self.0.entry(like.into()).or_insert(0);
            *count += 1;
            name = format!("{like}_{count}").into();
        }
        self.0.insert(name.clone(), 0);
        name
    }
}

/// A moment of writing.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    nodes: usize,
    values: usize,
}

/// A graph while it is written.
#[derive(Clone, Debug)]
pub struct GraphWriter {
    pub standard: Standard,
    /// ONNX: the version of the operator set.
    pub opset: i64,
    values: Vec<TargetValue>,
    nodes: Vec<NewNode>,
    inputs: Vec<NewValue>,
    /// Inputs and their defaults.
    defaults: Vec<(NewValue, Constant)>,
    outputs: Vec<(NewValue, Option<Type>)>,
    /// Constants that helpers made, each once.
    small: HashMap<(DType, Vec<usize>, Bytes), NewValue>,
}

fn listed(attributes: &[(&str, Content)]) -> Vec<Attribute> {
    let listed =
        |(name, content): &(&str, Content)| Attribute { name: (*name).into(), content: content.clone() };
    attributes.iter().map(listed).collect()
}

/// Constants up to this many bytes are looked for before they are made again.
const SMALL: usize = 64;

impl GraphWriter {
    /// Makes room for what `nodes` nodes become: few more nodes, and a value for each and for each
    /// second constant.
    pub fn reserve(&mut self, nodes: usize) {
        self.nodes.reserve(nodes + nodes / 4);
        self.values.reserve(2 * nodes);
    }

    /// An empty graph of a standard, for an operator set.
    pub fn new(standard: Standard, opset: i64) -> GraphWriter {
        GraphWriter {
            standard,
            opset,
            values: Vec::new(),
            nodes: Vec::new(),
            inputs: Vec::new(),
            defaults: Vec::new(),
            outputs: Vec::new(),
            small: HashMap::default(),
        }
    }

    fn value(&mut self, name: Option<Arc<str>>, made: ValueSource) -> NewValue {
        self.values.push(TargetValue { name, made });
        NewValue(self.values.len() - 1)
    }

    /// Adds an input of the graph, with the type that it declares.
    pub fn input(&mut self, name: Arc<str>, declared: Option<Type>) -> NewValue {
        let value = self.value(Some(name), ValueSource::Input(declared));
        self.inputs.push(value);
        value
    }

    /// An input that has a default.
    pub fn input_with_default(
        &mut self,
        name: Arc<str>,
        declared: Option<Type>,
        default: Constant,
    ) -> NewValue {
        let value = self.input(name, declared);
        self.defaults.push((value, default));
        value
    }

    /// A value of the graph around, by its name there.
    pub fn captured(&mut self, name: Arc<str>) -> NewValue {
        let known = self
            .values
            .iter()
            .position(|slot| matches!(slot.made, ValueSource::Captured) && slot.name.as_ref() == Some(&name));
        known.map_or_else(|| self.value(Some(name), ValueSource::Captured), NewValue)
    }

    /// A value that is not computed, of a graph that is not written.
    pub fn stand_in(&mut self, name: Arc<str>) -> NewValue {
        self.value(Some(name), ValueSource::Captured)
    }

    /// A constant of the source.
    pub fn constant(&mut self, name: Option<Arc<str>>, constant: Constant) -> NewValue {
        self.value(name, ValueSource::Constant(constant))
    }

    /// A constant that the conversion needs; the same one for the same elements.
    pub fn tensor(&mut self, tensor: Tensor) -> NewValue {
        let key = tensor.bytes().filter(|bytes| bytes.len() <= SMALL);
        let key = key.map(|bytes| (tensor.dtype(), tensor.shape().dims().to_vec(), bytes.clone()));
        if let Some(&known) = key.as_ref().and_then(|key| self.small.get(key)) {
            return known;
        }
        let value = self.value(None, ValueSource::Constant(tensor.into()));
        if let Some(key) = key {
            self.small.insert(key, value);
        }
        value
    }

    /// Adds an output.
    pub fn output(&mut self, value: NewValue) {
        self.declared_output(value, None);
    }

    /// Adds an output, of a type that inference need not find.
    pub fn declared_output(&mut self, value: NewValue, declared: Option<Type>) {
        self.outputs.push((value, declared));
    }

    /// Applies an operator of the standard, in the newest version, or that of the operator set.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if the operator set has no such operator, or not in this form.
    pub fn put(
        &mut self,
        operator: &str,
        inputs: &[NewValue],
        attributes: &[(&str, Content)],
        outputs: usize,
    ) -> Result<Vec<NewValue>> {
        let mut inputs = inputs.to_vec();
        while inputs.last() == Some(&NONE) {
            inputs.pop();
        }
        let mut attributes = listed(attributes);
        let version = if self.standard == Standard::Onnx {
            downgrade::in_form_of(self, operator, &mut inputs, &mut attributes)?;
            // Inputs before any number of others are there, if only by an empty name.
            if let Some([before @ .., last]) = self.signature(operator).map(|signature| signature.inputs)
                && matches!(last.arity, Arity::Many { .. })
                && inputs.len() < before.len()
            {
                inputs.resize(before.len(), NONE);
            }
            self.opset
        } else {
            openvino_versions(operator).last().map_or(1, |newest| newest.since)
        };
        Ok(self.push("".into(), operator, version, inputs, attributes, outputs))
    }

    /// Applies an operator of another domain than the standard's own, in this version of it.
    pub fn put_foreign(
        &mut self,
        (id, version): (&OperatorId, i64),
        inputs: Vec<NewValue>,
        attributes: &[(&str, Content)],
        outputs: usize,
    ) -> Vec<NewValue> {
        self.push(id.domain.clone(), &id.name, version, inputs, listed(attributes), outputs)
    }

    fn push(
        &mut self,
        domain: Arc<str>,
        operator: &str,
        version: i64,
        inputs: Vec<NewValue>,
        attributes: Vec<Attribute>,
        outputs: usize,
    ) -> Vec<NewValue> {
        let outputs: Vec<_> = (0..outputs).map(|_| self.value(None, ValueSource::Node)).collect();
        let operator = operator.to_owned();
        self.nodes.push(NewNode {
            name: None,
            domain,
            operator,
            version,
            inputs,
            outputs: outputs.clone(),
            attributes,
        });
        outputs
    }

    /// The form that an operator of ONNX has in the operator set that is written.
    pub fn form(&self, operator: &str) -> Form {
        downgrade::Target::form(self, operator)
    }

    /// The signature that an operator of ONNX has in the operator set that is written.
    pub fn signature(&self, operator: &str) -> Option<&'static Signature> {
        downgrade::Target::signature(self, operator)
    }

    /// Returns true if the first input of an operator may be of a type.
    pub fn admits(&self, operator: &str, dtype: DType) -> bool {
        let first = self.signature(operator).and_then(|signature| signature.inputs.first());
        first.is_some_and(|input| input.types.tensor.contains(dtype))
    }

    /// A value with the elements of another.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if OpenVINO is written and the element type is not known.
    pub fn copy(&mut self, value: NewValue, dtype: Option<DType>) -> Result<NewValue> {
        if self.standard == Standard::Onnx {
            return Ok(self.put("Identity", &[value], &[], 1)?[0]);
        }
        // Conversion to the own type, as not every program that reads the format has its Identity.
        let dtype = dtype.ok_or_else(|| not_known("element type of a copied value"))?;
        // OpenVINO converts no strings.
        if dtype == DType::String {
            let first = self.tensor(Tensor::vector(&[0i64]));
            let longer = self.put("Unsqueeze", &[value, first], &[], 1)?[0];
            return Ok(self.put("Squeeze", &[longer, first], &[], 1)?[0]);
        }
        Ok(self.put("Convert", &[value], &[named("destination_type", dtype)?], 1)?[0])
    }

    /// The elements of a value that is a constant.
    pub fn known(&self, value: NewValue) -> Result<Option<Tensor>> {
        self.held(value).map(Constant::tensor).transpose()
    }

    /// The constant that a value is, whose elements may have to be read.
    pub fn held(&self, value: NewValue) -> Option<&Constant> {
        match self.values.get(value.0).map(|slot| &slot.made) {
            Some(ValueSource::Constant(constant)) => Some(constant),
            _ => None,
        }
    }

    /// The operator that makes a value, and its inputs.
    pub fn maker(&self, value: NewValue) -> Option<(&str, &[NewValue])> {
        if !self.is_computed(value) {
            return None;
        }
        // Values are numbered as their nodes are made.
        let is_before = |node: &NewNode| node.outputs.first().is_none_or(|first| first.0 <= value.0);
        let node = self.nodes[..self.nodes.partition_point(is_before)].last()?;
        node.outputs.contains(&value).then_some((&*node.operator, &*node.inputs))
    }

    /// The number of nodes that are written.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The numbers of nodes and values that are written so far.
    pub fn mark(&self) -> Mark {
        Mark { nodes: self.nodes.len(), values: self.values.len() }
    }

    /// Number of values that were written since `mark`.
    pub fn values_since(&self, mark: Mark) -> usize {
        self.values.len().saturating_sub(mark.values)
    }

    /// Returns true if a value has no name yet, and so may get one.
    pub fn is_nameless(&self, value: NewValue) -> bool {
        self.values[value.0].name.is_none()
    }

    /// Returns true if a node of the graph makes a value.
    pub fn is_computed(&self, value: NewValue) -> bool {
        matches!(self.values[value.0].made, ValueSource::Node)
    }

    /// Gives a value its name.
    pub fn name(&mut self, value: NewValue, name: Arc<str>) {
        self.values[value.0].name = Some(name);
    }

    /// The name of a value, if it has one.
    pub fn name_of(&self, value: NewValue) -> Option<&Arc<str>> {
        self.values[value.0].name.as_ref()
    }

    /// Names what was written since then and has no name, after a node of the source.
    pub fn name_since(&mut self, since: Mark, like: &str, names: &mut NamePool) {
        let count = self.nodes.len();
        for (index, node) in self.nodes.iter_mut().enumerate().skip(since.nodes) {
            // The last one is the node itself, what is before it helps.
            let own = if index + 1 == count { like.to_owned() } else { format!("{like}/{}", node.operator) };
            for output in &node.outputs {
                let slot = &mut self.values[output.0];
                slot.name.get_or_insert_with(|| names.fresh(&format!("{own}/output")));
            }
            node.name = Some(own.into());
        }
        for slot in self.values.iter_mut().skip(since.values) {
            if matches!(slot.made, ValueSource::Constant(_)) {
                slot.name.get_or_insert_with(|| names.fresh(&format!("{like}/constant")));
            }
        }
    }

    /// The graph. Names of nodes are made unique.
    pub fn finish(self, name: &str, nested: bool) -> Result<Graph> {
        let GraphWriter { values, nodes, inputs, defaults, outputs, .. } = self;
        let mut is_read = vec![false; values.len()];
        let of_nodes = nodes.iter().flat_map(|node| node.inputs.iter().copied());
        for value in of_nodes.chain(outputs.iter().map(|&(value, _)| value)).filter(|&value| value != NONE) {
            is_read[value.0] = true;
        }
        // ONNX wants graphs to have a name.
        let name = if name.is_empty() { "graph" } else { name };
        let mut builder = if nested { Builder::nested(name) } else { Builder::new(name) };
        let nameless = |value: NewValue| {
            Error::new(Kind::Graph, format!("value {} of the converted graph has no name", value.0))
        };
        let key = |value: NewValue| -> Result<&str> {
            if value == NONE {
                return Ok("");
            }
            values[value.0].name.as_deref().ok_or_else(|| nameless(value))
        };
        for input in inputs {
            let id = builder.define(key(input)?, Origin::Input)?;
            if let ValueSource::Input(declared) = &values[input.0].made {
                builder.info(id).declared.clone_from(declared);
            }
        }
        for (input, default) in defaults {
            builder.constant(key(input)?, default)?;
        }
        for (index, slot) in values.iter().enumerate() {
            if let ValueSource::Constant(constant) = &slot.made
                && is_read[index]
            {
                builder.constant(key(NewValue(index))?, constant.clone())?;
            }
        }
        let mut taken = NamePool::default();
        builder.reserve(nodes.len());
        for node in nodes {
            let outputs: Vec<_> = node.outputs.iter().map(|&value| key(value)).collect::<Result<_>>()?;
            let operator = OperatorId {
                domain: builder.intern(&node.domain),
                name: builder.intern(&node.operator),
                overload: builder.intern(""),
            };
            let inputs = node.inputs.iter().map(|&value| {
                let key = key(value)?;
                Ok((!key.is_empty()).then(|| builder.reference(key)))
            });
            let inputs = inputs.collect::<Result<Slots>>()?;
            let written = Node {
                name: taken.fresh(node.name.as_deref().unwrap_or_default()).as_ref().into(),
                operator,
                version: Some(node.version),
                inputs,
                outputs: Slots::new(),
                attributes: node.attributes,
                position: None,
            };
            builder.push(written, &outputs)?;
        }
        for (output, declared) in outputs {
            let id = builder.output(key(output)?);
            builder.info(id).declared = declared;
        }
        builder.finish()
    }
}
