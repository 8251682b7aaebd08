//! `GraphProto` and `NodeProto`.

use std::collections::HashSet;

use gradus_core::graph::{Builder, Constant, Graph, Node, OperatorId, Origin, Slots, Type, ValueInfo};
use gradus_core::{Kind, Result};
use smallvec::SmallVec;

use super::fields::{graph_proto, node_proto, value_info_proto};
use super::model::{ModelReader, Opsets, canonical_domain};
use super::{attribute, sparse, tensor, types};
use crate::wire::ByteSpan;

/// The parts of a graph, in the order in which they must be read.
#[derive(Default)]
struct GraphParts<'a> {
    name: &'a str,
    inputs: Vec<ByteSpan<'a>>,
    outputs: Vec<ByteSpan<'a>>,
    initializers: Vec<ByteSpan<'a>>,
    sparse_initializers: Vec<ByteSpan<'a>>,
    value_infos: Vec<ByteSpan<'a>>,
    /// Number of nodes: they are many, so they are not listed but read again in the file.
    nodes: usize,
}

impl<'a> GraphParts<'a> {
    fn of(span: ByteSpan<'a>) -> Result<GraphParts<'a>> {
        let mut parts = GraphParts::default();
        for field in span.fields() {
            let field = field?;
            match field.number {
                graph_proto::NAME => parts.name = field.text()?,
                graph_proto::INPUT => parts.inputs.push(field.span()?),
                graph_proto::OUTPUT => parts.outputs.push(field.span()?),
                graph_proto::INITIALIZER => parts.initializers.push(field.span()?),
                graph_proto::SPARSE_INITIALIZER => parts.sparse_initializers.push(field.span()?),
                graph_proto::VALUE_INFO => parts.value_infos.push(field.span()?),
                graph_proto::NODE => parts.nodes += 1,
                _ => {}
            }
        }
        Ok(parts)
    }
}

/// Reads `GraphProto`. `depth` is how many graphs are around it; nothing stands for a main graph.
pub(super) fn read(
    reader: &ModelReader,
    span: ByteSpan<'_>,
    opsets: &Opsets,
    depth: Option<usize>,
) -> Result<Graph> {
    let parts = GraphParts::of(span)?;
    reader.charge(span, parts.nodes.saturating_mul(size_of::<Node>() + NAME))?;
    let mut builder = if depth.is_some() { Builder::nested(parts.name) } else { Builder::new(parts.name) };
    let depth = depth.unwrap_or(0);
    for span in parts.inputs {
        let (name, declared) = read_value_info(span)?;
        reader.charge(span, size_of::<Type>())?;
        let id = builder.define(name, Origin::Input).map_err(|error| error.at(span.position()))?;
        builder.info(id).declared = declared;
    }
    for span in parts.initializers {
        reader.charge(span, size_of::<Constant>())?;
        let (name, constant) = tensor::read(reader, span)?;
        builder.constant(name, constant.at(span.position())).map_err(|error| error.at(span.position()))?;
    }
    for span in parts.sparse_initializers {
        reader.charge(span, size_of::<Constant>())?;
        let (name, constant) = sparse::read(reader, span)?;
        builder.constant(name, constant.at(span.position())).map_err(|error| error.at(span.position()))?;
    }
    builder.reserve(parts.nodes);
    let nodes = span.fields().filter_map(|field| match field {
        Ok(field) if field.number == graph_proto::NODE => Some(field.span()),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    });
    read_nodes(reader, &mut builder, nodes, opsets, depth)?;
    for span in parts.value_infos {
        declare(reader, &mut builder, span)?;
    }
    for span in parts.outputs {
        let (name, declared) = read_value_info(span)?;
        let id = builder.output(name);
        let info = builder.info(id);
        info.declared = info.declared.take().or(declared);
    }
    builder.finish()
}

/// Reads nodes into a graph.
pub(super) fn read_nodes<'a>(
    reader: &ModelReader,
    builder: &mut Builder,
    nodes: impl Iterator<Item = Result<ByteSpan<'a>>>,
    opsets: &Opsets,
    depth: usize,
) -> Result<()> {
    for (index, span) in nodes.enumerate() {
        let span = span?;
        let (node, outputs) = read_node(reader, builder, span, opsets, depth)?;
        let label = node.label(index);
        builder.push(node, &outputs).map_err(|error| error.in_node(label).at(span.position()))?;
    }
    Ok(())
}

/// Attaches the type that `ValueInfoProto` declares, if there is such a value.
pub(super) fn declare(reader: &ModelReader, builder: &mut Builder, span: ByteSpan<'_>) -> Result<()> {
    let (name, declared) = read_value_info(span)?;
    if let Some(id) = builder.find(name) {
        reader.charge(span, size_of::<Type>())?;
        let info = builder.info(id);
        info.declared = info.declared.take().or(declared);
    }
    Ok(())
}

fn read_value_info(span: ByteSpan<'_>) -> Result<(&str, Option<Type>)> {
    let (mut name, mut declared) = ("", None);
    for field in span.fields() {
        let field = field?;
        match field.number {
            value_info_proto::NAME => name = field.text()?,
            value_info_proto::TYPE => declared = types::read(field.span()?, 0)?,
            _ => {}
        }
    }
    if name.is_empty() {
        return Err(span.error(Kind::Syntax, "a value has no name"));
    }
    Ok((name, declared))
}

/// Bytes of a name, and of its place in the table of names.
const NAME: usize = 64;

/// Names of a node's outputs.
type OutputNames<'a> = SmallVec<[&'a str; 4]>;

fn read_node<'a>(
    reader: &ModelReader,
    builder: &mut Builder,
    span: ByteSpan<'a>,
    opsets: &Opsets,
    depth: usize,
) -> Result<(Node, OutputNames<'a>)> {
    let (mut name, mut operator, mut domain, mut overload) = ("", "", "", "");
    let (mut inputs, mut outputs) = (Slots::new(), OutputNames::new());
    let mut attributes = SmallVec::<[ByteSpan<'_>; 4]>::new();
    for field in span.fields() {
        let field = field?;
        match field.number {
            node_proto::INPUT => {
                let key = field.text()?;
                reader.charge(span, size_of::<usize>())?;
                inputs.push((!key.is_empty()).then(|| builder.reference(key)));
            }
            node_proto::OUTPUT => {
                reader.charge(span, size_of::<ValueInfo>() + NAME)?;
                outputs.push(field.text()?);
            }
            node_proto::NAME => name = field.text()?,
            node_proto::OP_TYPE => operator = field.text()?,
            node_proto::DOMAIN => domain = canonical_domain(field.text()?),
            node_proto::OVERLOAD => overload = field.text()?,
            node_proto::ATTRIBUTE => attributes.push(field.span()?),
            _ => {}
        }
    }
    if operator.is_empty() {
        return Err(span.error(Kind::Syntax, format!("node \"{name}\" names no operator")));
    }
    // ONNX Runtime imports its own domain by itself, and some exporters leave that to it.
    let own = (domain == "com.microsoft").then_some(1);
    let version = opsets.iter().find(|(of, _)| &**of == domain).map(|(_, version)| *version).or(own);
    let mut node = Node {
        name: name.into(),
        operator: OperatorId {
            domain: builder.intern(domain),
            name: builder.intern(operator),
            overload: builder.intern(overload),
        },
        version,
        inputs,
        outputs: Slots::new(),
        attributes: Vec::with_capacity(attributes.len()),
        position: Some(span.position()),
    };
    let mut names = HashSet::new();
    for span in attributes {
        reader.charge(span, size_of::<gradus_core::graph::Attribute>())?;
        let attribute = attribute::read(reader, span, opsets, depth);
        let attribute = attribute.map_err(|error| error.in_node(format!("node \"{name}\"")))?;
        if !names.insert(attribute.name.clone()) {
            let message = format!("attribute \"{}\" is given twice", attribute.name);
            return Err(span.error(Kind::Graph, message).in_node(format!("node \"{name}\"")));
        }
        node.attributes.push(attribute);
    }
    Ok((node, outputs))
}
