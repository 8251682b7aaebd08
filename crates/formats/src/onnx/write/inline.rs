//! Calls of functions, written as the nodes of their bodies.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::Arc;

use bytes::Bytes;
use foldhash::HashMap;
use gradus_core::graph::edit::{Edit, Renames};
use gradus_core::graph::{Graph, Model, Node, OperatorId, Origin};
use gradus_core::{Error, Kind, Result};

use super::{Declared, encode, info, initializer, interface, sparse_name, text_of};
use crate::Splice;
use crate::onnx::fields::{
    attribute_proto, function_proto, graph_proto, model_proto, node_proto, tensor_proto, value_info_proto,
};
use crate::onnx::model::canonical_domain;
use crate::wire::{ByteSpan, Field};

/// The file that `bytes` becomes where the nodes of a function's body stand in place of each call of
/// it, and the functions are removed. Values and nodes of bodies get names that no other has.
///
/// # Errors
/// As [`super::super::read_model`], where the bytes are not the model; [`Kind::Unsupported`] if
/// functions call each other in a circle.
pub fn inline_functions<S: BuildHasher>(
    bytes: &Bytes,
    model: &Model,
    functions: &HashSet<OperatorId, S>,
) -> Result<Splice> {
    let mut inliner = Inliner {
        bodies: HashMap::default(),
        taken: HashSet::new(),
        counts: HashMap::default(),
        depth: functions.len(),
    };
    inliner.take_names(&model.graph);
    for field in ByteSpan::of(bytes).fields() {
        let field = field?;
        if field.number == model_proto::FUNCTIONS {
            let body = Body::read(field.span()?)?;
            if functions.contains(&body.id) {
                inliner.bodies.entry(body.id.clone()).or_insert(Arc::new(body));
            }
        }
    }
    let mut out = Splice::default();
    let mut end = 0;
    for field in ByteSpan::of(bytes).fields() {
        let field = field?;
        out.copy(end..field.start);
        end = field.end;
        match field.number {
            model_proto::GRAPH => {
                out.message(model_proto::GRAPH, &inliner.graph(field.span()?, &Call::default())?);
            }
            model_proto::FUNCTIONS if functions.contains(&Body::read(field.span()?)?.id) => {}
            _ => out.copy(field.start..field.end),
        }
    }
    out.copy(end..bytes.len());
    Ok(out)
}

/// A function as it lies in the file.
struct Body<'a> {
    id: OperatorId,
    inputs: Vec<&'a str>,
    outputs: Vec<&'a str>,
    nodes: Vec<Field<'a>>,
    defaults: Vec<ByteSpan<'a>>,
}

impl<'a> Body<'a> {
    fn read(span: ByteSpan<'a>) -> Result<Body<'a>> {
        let (mut name, mut domain, mut overload) = ("", "", "");
        let (mut inputs, mut outputs, mut nodes, mut defaults) = (vec![], vec![], vec![], vec![]);
        for field in span.fields() {
            let field = field?;
            match field.number {
                function_proto::NAME => name = field.text()?,
                function_proto::DOMAIN => domain = canonical_domain(field.text()?),
                function_proto::OVERLOAD => overload = field.text()?,
                function_proto::INPUT => inputs.push(field.text()?),
                function_proto::OUTPUT => outputs.push(field.text()?),
                function_proto::NODE => nodes.push(field),
                function_proto::ATTRIBUTE_PROTO => defaults.push(field.span()?),
                _ => {}
            }
        }
        let id = OperatorId { domain: domain.into(), name: name.into(), overload: overload.into() };
        Ok(Body { id, inputs, outputs, nodes, defaults })
    }
}

/// The call that nodes are written for: of the main graph, an empty one.
#[derive(Default)]
struct Call<'a> {
    /// True if the nodes are those of a function.
    inlined: bool,
    /// The name of the calling node.
    label: String,
    /// New names of values.
    names: Renames,
    /// The attributes that nodes refer to, by name.
    attributes: HashMap<&'a str, ByteSpan<'a>>,
    /// Calls around it.
    depth: usize,
}

struct Inliner<'a> {
    bodies: HashMap<OperatorId, Arc<Body<'a>>>,
    taken: HashSet<Arc<str>>,
    /// The number of the last name that was made like one.
    counts: HashMap<Arc<str>, usize>,
    /// Maximum number of calls within one another.
    depth: usize,
}

impl<'a> Inliner<'a> {
    fn take_names(&mut self, graph: &Graph) {
        let own = graph.values().iter().filter(|info| info.origin != Origin::Capture);
        self.taken.extend(own.map(|info| info.name.clone()));
        graph.nodes().iter().flat_map(Node::graphs).for_each(|inner| self.take_names(inner));
    }

    fn fresh(&mut self, like: &str) -> Arc<str> {
        let mut name: Arc<str> = like.into();
        if self.taken.insert(name.clone()) {
            return name;
        }
        let count = self.counts.entry(name.clone()).or_default();
        while !self.taken.insert(name.clone()) {
            *count += 1;
            name = format!("{like}_{count}").into();
        }
        name
    }

    /// Gives what a node defines a new name, unless it has one.
    fn define(&mut self, names: &mut Renames, name: &str) {
        if !name.is_empty() && !names.contains_key(name) {
            let fresh = self.fresh(name);
            names.insert(name.into(), fresh);
        }
    }

    fn define_outputs(&mut self, names: &mut Renames, nodes: &[Field<'a>]) -> Result<()> {
        for node in nodes {
            for field in node.span()?.fields() {
                let field = field?;
                if field.number == node_proto::OUTPUT {
                    self.define(names, field.text()?);
                }
            }
        }
        Ok(())
    }

    /// `GraphProto`; of a function, with new names for what it defines.
    fn graph(&mut self, span: ByteSpan<'a>, call: &Call<'a>) -> Result<Splice> {
        let mut names = call.names.clone();
        if call.inlined {
            let mut nodes = Vec::new();
            for field in span.fields() {
                let field = field?;
                let name = match field.number {
                    graph_proto::NODE => {
                        nodes.push(field);
                        continue;
                    }
                    graph_proto::INPUT => text_of(field.span()?, value_info_proto::NAME)?,
                    graph_proto::INITIALIZER => text_of(field.span()?, tensor_proto::NAME)?,
                    graph_proto::SPARSE_INITIALIZER => sparse_name(field.span()?)?,
                    _ => continue,
                };
                self.define(&mut names, name);
            }
            self.define_outputs(&mut names, &nodes)?;
        }
        let inner = Call {
            inlined: call.inlined,
            label: call.label.clone(),
            names,
            attributes: call.attributes.clone(),
            depth: call.depth,
        };
        let (mut out, mut end) = (Splice::default(), span.range().start);
        let (edit, mut declared) = (Edit::default(), Declared::default());
        for field in span.fields() {
            let field = field?;
            out.copy(end..field.start);
            end = field.end;
            match field.number {
                graph_proto::NODE => self.node(&mut out, &field, &inner)?,
                graph_proto::INITIALIZER | graph_proto::SPARSE_INITIALIZER => {
                    initializer(&mut out, &field, &edit, &inner.names)?;
                }
                graph_proto::VALUE_INFO => info(&mut out, &field, &edit, &inner.names, &mut declared)?,
                graph_proto::INPUT | graph_proto::OUTPUT => {
                    interface(&mut out, &field, &inner.names, &mut declared)?;
                }
                _ => out.copy(field.start..field.end),
            }
        }
        out.copy(end..span.range().end);
        Ok(out)
    }

    /// A node, or those of the function that it calls.
    fn node(&mut self, out: &mut Splice, node: &Field<'a>, call: &Call<'a>) -> Result<()> {
        let (mut name, mut domain, mut overload, mut label) = ("", "", "", "");
        let (mut inputs, mut outputs, mut attributes) = (Vec::new(), Vec::new(), Vec::new());
        for field in node.span()?.fields() {
            let field = field?;
            match field.number {
                node_proto::OP_TYPE => name = field.text()?,
                node_proto::DOMAIN => domain = canonical_domain(field.text()?),
                node_proto::OVERLOAD => overload = field.text()?,
                node_proto::NAME => label = field.text()?,
                node_proto::INPUT => inputs.push(field.text()?),
                node_proto::OUTPUT => outputs.push(field.text()?),
                node_proto::ATTRIBUTE => attributes.push(field.span()?),
                _ => {}
            }
        }
        let id = OperatorId { domain: domain.into(), name: name.into(), overload: overload.into() };
        let Some(body) = self.bodies.get(&id).cloned() else { return self.copied(out, node, call) };
        if call.depth > self.depth {
            return Err(Error::new(Kind::Unsupported, "cannot inline functions: they call each other"));
        }
        let new = |name: &str| call.names.get(name).cloned().unwrap_or_else(|| name.into());
        let mut names = Renames::new();
        for (at, name) in body.inputs.iter().enumerate() {
            names.insert((*name).into(), inputs.get(at).map_or_else(|| "".into(), |input| new(input)));
        }
        for (name, output) in body.outputs.iter().zip(outputs).filter(|(_, output)| !output.is_empty()) {
            names.insert((*name).into(), new(output));
        }
        self.define_outputs(&mut names, &body.nodes)?;
        let mut given = HashMap::default();
        for &default in &body.defaults {
            given.insert(text_of(default, attribute_proto::NAME)?, default);
        }
        for attribute in attributes {
            let name = text_of(attribute, attribute_proto::NAME)?;
            match text_of(attribute, attribute_proto::REF_ATTR_NAME)? {
                "" => _ = given.insert(name, attribute),
                of => given.extend(call.attributes.get(of).map(|attribute| (name, *attribute))),
            }
        }
        let label = within(&call.label, label);
        let inner = Call { inlined: true, label, names, attributes: given, depth: call.depth + 1 };
        body.nodes.iter().try_for_each(|node| self.node(out, node, &inner))
    }

    /// A node that calls nothing.
    fn copied(&mut self, out: &mut Splice, node: &Field<'a>, call: &Call<'a>) -> Result<()> {
        let span = node.span()?;
        let mut content = Splice::default();
        let mut end = span.range().start;
        for field in span.fields() {
            let field = field?;
            content.copy(end..field.start);
            end = field.end;
            match field.number {
                node_proto::INPUT | node_proto::OUTPUT if call.inlined => {
                    let name = field.text()?;
                    let name = call.names.get(name).map_or(name, |new| new);
                    content.write(|out| encode::bytes(out, field.number, name.as_bytes()));
                }
                node_proto::NAME if call.inlined => {
                    let name = within(&call.label, field.text()?);
                    content.write(|out| encode::text(out, node_proto::NAME, &name));
                }
                node_proto::ATTRIBUTE => self.attribute(&mut content, &field, call)?,
                _ => content.copy(field.start..field.end),
            }
        }
        content.copy(end..span.range().end);
        out.message(graph_proto::NODE, &content);
        Ok(())
    }

    /// An attribute: one of the call in place of a reference, which may be none.
    fn attribute(&mut self, out: &mut Splice, field: &Field<'a>, call: &Call<'a>) -> Result<()> {
        let span = field.span()?;
        let mut content = Splice::default();
        let of = if call.inlined { text_of(span, attribute_proto::REF_ATTR_NAME)? } else { "" };
        if !of.is_empty() {
            let Some(given) = call.attributes.get(of) else { return Ok(()) };
            let name = text_of(span, attribute_proto::NAME)?;
            content.write(|out| encode::text(out, attribute_proto::NAME, name));
            for part in given.fields() {
                let part = part?;
                if part.number != attribute_proto::NAME {
                    content.copy(part.start..part.end);
                }
            }
            out.message(node_proto::ATTRIBUTE, &content);
            return Ok(());
        }
        let mut end = span.range().start;
        for part in span.fields() {
            let part = part?;
            content.copy(end..part.start);
            end = part.end;
            match part.number {
                attribute_proto::G | attribute_proto::GRAPHS => {
                    content.message(part.number, &self.graph(part.span()?, call)?);
                }
                _ => content.copy(part.start..part.end),
            }
        }
        content.copy(end..span.range().end);
        out.message(node_proto::ATTRIBUTE, &content);
        Ok(())
    }
}

/// The name of a node of a function that a node calls.
fn within(call: &str, name: &str) -> String {
    let between = if call.is_empty() || name.is_empty() { "" } else { "/" };
    format!("{call}{between}{name}")
}
