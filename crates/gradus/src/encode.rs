//! Models that were made in memory, as ONNX: what ONNX has no operator for becomes constants.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use gradus_core::convert::usize_of_i64;
use gradus_core::graph::{
    Attribute, Builder, Content, Graph, Node, OperatorId, Origin, Standard, Type, ValueId,
};
use gradus_core::{Error, Kind, Limits, Result, Tensor};
use gradus_formats::onnx::{self, IR_VERSIONS, NEWEST_IR_VERSION};

use crate::declare::{Telling, merged};
use crate::infer::{InferOptions, Inference};
use crate::model::Model;
use crate::ops::OWN_DOMAIN as DOMAIN;
use crate::program::Options;

/// Most bytes that readers of the format take: it counts them by signed numbers of 32 bits.
const MOST_BYTES: usize = 0x7fff_ffff;

impl Model {
    /// The bytes of an ONNX file: those that were read, or, of a model that was made in memory, new ones.
    ///
    /// Of a model made in memory, nodes that no output needs go, and types are declared of what stays. ONNX has no
    /// operators for `LinSpace`, `LogSpace` and `GeomSpace`: where all that they need is known, they become the constants
    /// that they compute, bit for bit.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if such a node needs what only a run knows, or models of the standard are not written;
    /// [`Kind::Graph`] if the type or the number of axes of an input or output is not known, which ONNX wants said;
    /// [`Kind::Limit`] if the file would have 2^31 bytes or more.
    ///
    /// ```
    /// use gradus::graph::{self, Builder, Standard};
    /// use gradus::{Model, Tensor};
    /// let mut builder = Builder::new("three");
    /// builder.constant("x", Tensor::scalar(1i64).into())?;
    /// builder.apply("add", "Add", 14, &["x", "x"], &["y"], vec![])?;
    /// builder.output("y");
    /// let mut model = graph::Model::new(Standard::Onnx);
    /// model.opsets = vec![("".into(), 21)];
    /// model.graph = builder.finish()?;
    /// let bytes = Model::from_source(model).to_onnx()?;
    /// let read = Model::from_bytes(&bytes, &Default::default())?;
    /// assert_eq!(read.run(&Default::default(), &[], &Default::default())?[0].1.tensor()?.elements::<i64>()?[..], [2]);
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn to_onnx(&self) -> Result<Bytes> {
        let source = self.source();
        if source.standard != Standard::Onnx {
            return Err(Error::new(
                Kind::Unsupported,
                format!("models of {} are not written", source.standard),
            ));
        }
        if let Some(bytes) = self.bytes() {
            return Ok(bytes.clone());
        }
        let mut model = source.clone();
        model.opsets.retain(|(domain, _)| &**domain != DOMAIN);
        let opset = model.opsets.iter().find(|(domain, _)| domain.is_empty()).map(|(_, version)| *version);
        if model.format_version == 0 {
            let came_with = opset.and_then(|opset| IR_VERSIONS.get(usize_of_i64(opset)?.checked_sub(1)?));
            model.format_version = came_with.copied().unwrap_or(NEWEST_IR_VERSION);
        }
        if model.producer.is_empty() {
            "gradus".clone_into(&mut model.producer);
        }
        model.graph = self.portable(opset)?;
        let bytes = onnx::encode_model(&model)?;
        if bytes.len() > MOST_BYTES {
            let message = format!("the file has {} bytes, but ONNX takes {MOST_BYTES} at most", bytes.len());
            return Err(Error::new(Kind::Limit, message));
        }
        Ok(bytes.into())
    }

    /// The main graph in operators of ONNX alone, with the types of its values.
    fn portable(&self, opset: Option<i64>) -> Result<Graph> {
        let graph = self.graph();
        let options = InferOptions { most_bytes: Limits::DEFAULT.max_bytes, ..InferOptions::default() };
        let inference = self.infer(&options)?;
        let telling = Telling::new(graph, inference.symbols(), &options);
        let typed = |id: ValueId| {
            merged(graph, inference.facts(), id, |dim| telling.extent(dim))
                .or_else(|| graph.value(id).declared.clone())
        };
        let (order, constants) = self.needed(&inference)?;
        let mut builder = Builder::new(graph.name());
        for &id in graph.inputs() {
            let info = graph.value(id);
            let of = said("input", &info.name, info.declared.clone())?;
            let id = builder.define(&info.name, Origin::Input)?;
            builder.info(id).declared = Some(of);
        }
        let read: HashSet<ValueId> = order.iter().flat_map(|&index| graph.nodes()[index].needs()).collect();
        let is_read =
            |id: &ValueId| read.contains(id) || graph.outputs().contains(id) || graph.inputs().contains(id);
        for (id, constant) in graph.constants().iter().filter(|(id, _)| is_read(id)) {
            builder.constant(&graph.value(*id).name, constant.clone())?;
        }
        for index in order {
            let node = &graph.nodes()[index];
            let mut written = match constants.get(&index) {
                Some(tensor) => constant_node(node, tensor.clone(), opset),
                None => node.clone(),
            };
            let named = |id: &Option<ValueId>| id.map(|id| &*graph.value(id).name);
            written.inputs =
                written.inputs.iter().map(|id| named(id).map(|name| builder.reference(name))).collect();
            written.outputs.clear();
            let outputs: Vec<_> = node.outputs.iter().map(|id| named(id).unwrap_or_default()).collect();
            builder.push(written, &outputs)?;
            for id in node.outputs.iter().copied().flatten() {
                let new = builder.reference(&graph.value(id).name);
                builder.info(new).declared = typed(id);
            }
        }
        let mut seen = HashSet::new();
        for &id in graph.outputs() {
            let name = &graph.value(id).name;
            if !seen.insert(id) {
                return Err(Error::new(Kind::Graph, format!("output \"{name}\" is named twice")));
            }
            let new = builder.output(name);
            builder.info(new).declared = Some(said("output", name, typed(id))?);
        }
        builder.finish()
    }

    /// The nodes that outputs need, in order, and the constants that some of them become.
    fn needed(&self, inference: &Inference) -> Result<(Vec<usize>, HashMap<usize, Tensor>)> {
        let graph = self.graph();
        let mut needed: HashSet<ValueId> = graph.outputs().iter().copied().collect();
        let (mut order, mut constants) = (Vec::new(), HashMap::new());
        for &index in graph.order().iter().rev() {
            let node = &graph.nodes()[index];
            if !node.outputs.iter().flatten().any(|id| needed.contains(id)) {
                continue;
            }
            order.push(index);
            if &*node.operator.domain == DOMAIN {
                constants.insert(index, self.known(node, index, inference)?);
            } else {
                node.graphs().try_for_each(|graph| refuse_own(graph))?;
                needed.extend(node.needs());
            }
        }
        order.reverse();
        Ok((order, constants))
    }

    /// What a node of our own domain computes.
    fn known(&self, node: &Node, index: usize, inference: &Inference) -> Result<Tensor> {
        let graph = self.graph();
        let tensor = |id: ValueId| inference.fact(id).as_tensor()?.tensor_within(Limits::DEFAULT.max_bytes);
        let output = node.outputs.iter().copied().flatten().next();
        if let Some(tensor) = output.and_then(tensor) {
            return Ok(tensor);
        }
        let open = |&(_, id): &(usize, &ValueId)| tensor(*id).is_none();
        match node.inputs.iter().flatten().enumerate().find(open) {
            Some((number, id)) => {
                let name = &graph.value(*id).name;
                Err(inexpressible(node, index, &format!("input {number} \"{name}\" is known only in a run")))
            }
            // What cannot be computed has its reason.
            None => {
                let name = output.map_or_else(String::new, |id| graph.value(id).name.to_string());
                let mut found = self.run(&HashMap::new(), &[name], &Options::default())?;
                Ok(found.remove(0).1.tensor()?.clone())
            }
        }
    }
}

/// The type of an input or output, if it says what ONNX wants to be said.
fn said(what: &str, name: &str, of: Option<Type>) -> Result<Type> {
    let missing = match &of {
        None => "type",
        Some(Type::Tensor(None, _)) => "element type",
        Some(Type::Tensor(_, None)) => "number of axes",
        Some(_) => "",
    };
    of.filter(|_| missing.is_empty()).ok_or_else(|| {
        let message =
            format!("the {missing} of {what} \"{name}\" is not known, but a file of ONNX must say it");
        Error::new(Kind::Graph, message)
    })
}

fn constant_node(node: &Node, tensor: Tensor, version: Option<i64>) -> Node {
    let operator = OperatorId { domain: "".into(), name: "Constant".into(), overload: "".into() };
    let value = Attribute { name: "value".into(), content: Content::Tensor(tensor.into()) };
    Node { operator, version, inputs: <_>::default(), attributes: vec![value], ..node.clone() }
}

fn inexpressible(node: &Node, index: usize, why: &str) -> Error {
    let message = format!(
        "{why}, and no operators of ONNX compute {} exactly, but a node of it is only written as the constant that it computes",
        node.operator.name
    );
    Error::new(Kind::Unsupported, message).in_node(node.label(index))
}

/// Within graphs of nodes, no node of our own domain becomes a constant.
fn refuse_own(graph: &Graph) -> Result<()> {
    for (index, node) in graph.nodes().iter().enumerate() {
        if &*node.operator.domain == DOMAIN {
            return Err(inexpressible(node, index, "it is in a graph within a node"));
        }
        node.graphs().try_for_each(|graph| refuse_own(graph))?;
    }
    Ok(())
}
