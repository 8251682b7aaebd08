//! Models that were made in memory, as ONNX: what ONNX has no operator for becomes constants.

use std::collections::{HashMap, HashSet};
use std::iter::once;

use bytes::Bytes;
use gradus_core::convert::usize_of_i64;
use gradus_core::graph::{
    self, Attribute, Builder, Content, Graph, Node, OperatorId, Origin, Standard, Type, ValueId,
};
use gradus_core::{Error, Kind, Result, Tensor};
use gradus_formats::Splice;
use gradus_formats::onnx::{self, IR_VERSIONS, NEWEST_IR_VERSION};

use crate::declare::{Telling, graph_at, merged};
use crate::fact::{Fact, TensorFact};
use crate::model::Model;
use crate::operators::OWN_DOMAIN as DOMAIN;
use crate::program::{Compiler, RunOptions, RunState};
use gradus_engine::infer::{InferOptions, Inference, Problem, SubgraphFacts};

/// Maximum number of bytes that readers of the format take: it counts them by signed numbers of 32
/// bits.
pub(crate) const MAX_BYTES: usize = 0x7fff_ffff;

impl Model {
    /// The bytes of an ONNX file: those that were read, or, of a model that was made in memory, new
    /// ones.
    ///
    /// For a model made in memory, nodes that no output needs are removed, and types are declared
    /// of what stays. ONNX has no operators for `LinSpace`, `LogSpace` and `GeomSpace`: where all
    /// that they need is known, they become the constants that they compute, bit for bit.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if such a node needs what only a run knows, or models of the standard
    /// are not written; [`Kind::Graph`] if the element type of an input or output is not known, which
    /// ONNX requires; [`Kind::Limit`] if the file would have 2^31 bytes or more.
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
    /// let outputs = Model::from_bytes(&bytes)?.run::<&str, Tensor>([])?;
    /// assert_eq!(outputs["y"].tensor()?.elements::<i64>()?[..], [2]);
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn to_onnx(&self) -> Result<Bytes> {
        match self.bytes() {
            Some(bytes) if self.source().standard == Standard::Onnx => Ok(bytes.clone()),
            _ => self.encoded()?.to_bytes(&[]),
        }
    }

    /// The parts of the file of an ONNX model that was made in memory, as [`Model::to_onnx`] says.
    pub(crate) fn encoded(&self) -> Result<Splice> {
        let written = onnx::encode_model(&self.portable_model()?)?;
        if written.len() > MAX_BYTES {
            let what = "cannot write ONNX: number of bytes";
            let wanted = format_args!("at most {MAX_BYTES} in one file");
            return Err(Error::mismatch(Kind::Limit, what, written.len(), wanted));
        }
        Ok(written)
    }

    /// The model in operators of ONNX alone, with its operator sets and its version.
    pub(crate) fn portable_model(&self) -> Result<graph::Model> {
        let source = self.source();
        if source.standard != Standard::Onnx {
            let what = "cannot write ONNX: the standard of the model";
            return Err(Error::mismatch(Kind::Unsupported, what, source.standard, Standard::Onnx));
        }
        let mut model = source.clone();
        model.opsets.retain(|(domain, _)| &**domain != DOMAIN);
        let opset = model.opsets.iter().find(|(domain, _)| domain.is_empty()).map(|(_, version)| *version);
        if model.format_version == 0 {
            let came_with = opset.and_then(|opset| IR_VERSIONS.get(usize_of_i64(opset)?.checked_sub(1)?));
            // Before version 4, initializers are inputs as well.
            model.format_version = came_with.copied().unwrap_or(NEWEST_IR_VERSION).max(4);
        }
        if model.producer.is_empty() {
            "gradus".clone_into(&mut model.producer);
        }
        model.graph = self.portable(opset)?;
        Ok(model)
    }

    /// The main graph in operators of ONNX alone, with the types of its values.
    fn portable(&self, opset: Option<i64>) -> Result<Graph> {
        let graph = self.graph();
        let mut options = InferOptions::default();
        options.open_defaults = true;
        let inference = self.infer(&options)?;
        let telling = Telling::new(self.source(), inference.symbols(), &options);
        let typed = |id: ValueId| {
            let tensor = merged(graph.value(id), inference.fact(id), |dim| telling.size(dim));
            tensor.or_else(|| container(inference.fact(id))).or_else(|| graph.value(id).declared.clone())
        };
        let (order, constants) = self.needed(&inference)?;
        let nodes = order.clone();
        let mut builder = Builder::new(graph.name());
        for &id in graph.inputs() {
            let info = graph.value(id);
            let of = said("input", &info.name, info.declared.clone())?;
            let id = builder.define(&info.name, Origin::Input)?;
            builder.info(id).declared = Some(of);
        }
        let stays = order.iter().filter(|index| !constants.contains_key(index));
        let read: HashSet<ValueId> = stays.flat_map(|&index| graph.nodes()[index].needs()).collect();
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
                let message = format!("cannot write ONNX: output \"{name}\" is listed twice");
                return Err(Error::new(Kind::Graph, message));
            }
            let new = builder.output(name);
            // An error says more than the unknown facts that it causes.
            let wrong = |missing| inference.problems().first().map_or(missing, Problem::error);
            let of_elements = || Some(Type::Tensor(Some(inference.fact(id).dtype()?), None));
            let of = typed(id).or_else(of_elements);
            builder.info(new).declared = Some(said("output", name, of).map_err(wrong)?);
        }
        let mut written = builder.finish()?;
        // Declared types of inner graphs stay: runtimes take sizes from them that no text states.
        let bodies = SubgraphFacts::new(inference.subgraphs().to_vec());
        written.declare(&mut |place, id| {
            let (&(node, number), within) = place.split_first()?;
            let source: Vec<_> = once((nodes[node], number)).chain(within.iter().copied()).collect();
            let (inner, fact) = (graph_at(graph, &source)?, bodies.get(&source)?.get(id.index())?);
            let info = inner.value(id);
            let is_said = info.declared.is_some() || !info.origin.is_node() || inner.outputs().contains(&id);
            (!is_said).then(|| merged(info, fact, |dim| telling.size(dim)))?
        });
        Ok(written)
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
                constants.insert(index, self.computed(node, index, inference)?);
            } else {
                node.graphs().try_for_each(|graph| refuse_own(graph))?;
                needed.extend(node.needs());
            }
        }
        order.reverse();
        Ok((order, constants))
    }

    /// The sequence that a node of Gradus's own domain computes.
    fn computed(&self, node: &Node, index: usize, inference: &Inference) -> Result<Tensor> {
        let mut builder = Builder::new("");
        for (number, id) in node.inputs.iter().flatten().enumerate() {
            let name = &self.graph().value(*id).name;
            // Inference reads only those constants that it needs.
            let held =
                self.graph().constant(*id).filter(|_| self.graph().value(*id).origin == Origin::Constant);
            let known = match held {
                Some(constant) => Some(constant.tensor()?),
                None => inference.fact(*id).as_tensor().and_then(TensorFact::tensor),
            };
            let known = known.ok_or_else(|| {
                inexpressible(node, index, &format!("input {number} \"{name}\" is known only in a run"))
            })?;
            if !builder.is_defined(name) {
                builder.constant(name, known.into())?;
            }
        }
        let names = node.inputs.iter().map(|id| id.map(|id| builder.reference(&self.graph().value(id).name)));
        let inputs = names.collect();
        builder.push(Node { inputs, outputs: <_>::default(), ..node.clone() }, &["output"])?;
        builder.output("output");
        let mut alone = graph::Model::new(Standard::Onnx);
        alone.graph = builder.finish()?;
        let options = RunOptions::default().within(self.limits());
        let graph = &alone.graph;
        let program = Compiler::new(&alone, &[], options).compile(graph, graph.outputs())?;
        program.run(Vec::new(), &[], &mut RunState::new(&options))?[0].tensor().cloned()
    }
}

/// The type of a sequence or an optional.
pub(crate) fn container(fact: &Fact) -> Option<Type> {
    let held = |fact: &Fact| match fact {
        Fact::Tensor(tensor) => tensor.dtype.map(|dtype| Type::Tensor(Some(dtype), None)),
        other => container(other),
    };
    match fact {
        Fact::Sequence(sequence) => Some(Type::Sequence(Box::new(held(&sequence.each)?))),
        Fact::Optional(optional) => Some(Type::Optional(Box::new(held(&optional.value)?))),
        Fact::Map(key, of) => Some(Type::Map(Some((*key)?), Box::new(Type::Tensor(Some((*of)?), None)))),
        Fact::Tensor(_) | Fact::Unknown => None,
    }
}

/// The type of an input or output, if it says what ONNX wants to be said.
fn said(what: &str, name: &str, of: Option<Type>) -> Result<Type> {
    let missing = match &of {
        None => "type",
        Some(Type::Tensor(None, _)) => "element type",
        Some(_) => "",
    };
    of.filter(|_| missing.is_empty()).ok_or_else(|| {
        let what = format_args!("cannot write ONNX: {missing} of {what} \"{name}\"");
        Error::mismatch(Kind::Graph, what, "unknown", "a known one")
    })
}

fn constant_node(node: &Node, tensor: Tensor, version: Option<i64>) -> Node {
    let operator = OperatorId { domain: "".into(), name: "Constant".into(), overload: "".into() };
    let value = Attribute { name: "value".into(), content: Content::Tensor(tensor.into()) };
    Node { operator, version, inputs: <_>::default(), attributes: vec![value], ..node.clone() }
}

fn inexpressible(node: &Node, index: usize, why: &str) -> Error {
    let message = format!(
        "cannot write ONNX: {} has no equivalent in ONNX, so only constant nodes are written as their value; {why}",
        node.operator.name
    );
    Error::new(Kind::Unsupported, message).in_node(node.label(index))
}

/// Within graphs of nodes, no node of our own domain becomes a constant.
fn refuse_own(graph: &Graph) -> Result<()> {
    for (index, node) in graph.nodes().iter().enumerate() {
        if &*node.operator.domain == DOMAIN {
            return Err(inexpressible(node, index, "this one is in a subgraph"));
        }
        node.graphs().try_for_each(|graph| refuse_own(graph))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gradus_core::DType;
    use gradus_core::graph::DeclaredDim;

    use super::*;

    /// `LogSpace` from 0 to 3 in `num` samples: a constant, or the dimension of the input's axis.
    fn spaced(size: DeclaredDim, of: DType) -> Model {
        let mut builder = Builder::new("spaced");
        let x = builder.define("x", Origin::Input).unwrap();
        builder.info(x).declared = Some(Type::Tensor(Some(DType::F32), Some(vec![size])));
        for (name, value) in [("start", 0i64), ("stop", 3), ("base", 10)] {
            builder.constant(name, Tensor::scalar(value).into()).unwrap();
        }
        builder.constant("axes", Tensor::vector(&[0i64]).into()).unwrap();
        builder.apply("ask", "Shape", 21, &["x"], &["shape"], vec![]).unwrap();
        builder.apply("one", "Squeeze", 21, &["shape", "axes"], &["num"], vec![]).unwrap();
        let dtype = Content::Bytes(Bytes::copy_from_slice(of.name().as_bytes()));
        let node = Node {
            name: "space".into(),
            operator: OperatorId { domain: DOMAIN.into(), name: "LogSpace".into(), overload: "".into() },
            version: Some(1),
            inputs: ["start", "stop", "num", "base"]
                .map(|name| Some(builder.reference(name)))
                .into_iter()
                .collect(),
            outputs: <_>::default(),
            attributes: vec![Attribute { name: "dtype".into(), content: dtype }],
            position: None,
        };
        builder.push(node, &["y"]).unwrap();
        builder.apply("twice", "Add", 21, &["y", "y"], &["z"], vec![]).unwrap();
        builder.output("z");
        let mut model = graph::Model::new(Standard::Onnx);
        model.opsets = vec![("".into(), 21), (DOMAIN.into(), 1)];
        model.graph = builder.finish().unwrap();
        Model::from_source(model)
    }

    #[test]
    fn what_onnx_lacks_becomes_a_constant_and_what_nobody_needs_goes() {
        let bytes = spaced(DeclaredDim::Known(4), DType::I64).to_onnx().unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        let graph = model.graph();
        let operators: Vec<_> = graph.nodes().iter().map(|node| node.operator.to_string()).collect();
        assert_eq!(operators, ["Constant", "Add"]);
        assert!(graph.constants().is_empty() && model.source().format_version == 10);
        let z = graph.value(graph.outputs()[0]).declared.clone();
        assert_eq!(z.unwrap().to_string(), "int64[4]");
        let results = model.run([("x", Tensor::vector(&[0f32; 4]))]).unwrap();
        assert_eq!(results["z"].tensor().unwrap().elements::<i64>().unwrap()[..], [2, 20, 200, 2000]);
        assert_eq!(model.to_onnx().unwrap(), bytes);
    }

    #[test]
    fn what_no_operators_express_is_refused_with_its_node() {
        for (size, of, message) in [
            (
                DeclaredDim::Symbol("n".into()),
                DType::I64,
                "node \"space\": cannot write ONNX: LogSpace has no equivalent in ONNX, so only constant nodes are \
                 written as their value; input 2 \"num\" is known only in a run",
            ),
            (
                DeclaredDim::Known(4),
                DType::I8,
                "node \"space\" (onnx LogSpace-1): element 3 is 1000.0, expected a number in the range of int8",
            ),
        ] {
            assert_eq!(spaced(size, of).to_onnx().unwrap_err().to_string(), message);
        }
    }
}
