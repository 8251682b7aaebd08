//! `NodeProto`: those of a file that are kept, with their changes, and new ones.

use std::collections::HashMap;
use std::sync::Arc;

use gradus_core::graph::Graph;
use gradus_core::graph::edit::{Edit, Inlined, Kept, Made, Renames, Step};
use gradus_core::{Error, Kind, Result};

use super::{Declared, edit_graph, encode, info, initializer, new_arc, new_name};
use crate::Splice;
use crate::onnx::fields::{attribute_proto, graph_proto, node_proto};
use crate::wire::{ByteSpan, Field};

/// The nodes of a graph as they will be written, and what they bring along.
pub(super) struct Nodes {
    /// The number of the field that each is: of a graph, or of a function.
    field: u32,
    pub(super) list: Splice,
    pub(super) constants: Splice,
    pub(super) infos: Splice,
    /// Names of nodes, each with the number of nodes of inner graphs that had it too. ONNX Runtime
    /// refuses two nodes of one name.
    taken: HashMap<Box<str>, usize>,
}

impl Nodes {
    /// The writer of the nodes of a graph, which are fields of that number.
    pub(super) fn of(graph: &Graph, steps: &[Step], field: u32) -> Nodes {
        let [list, constants, infos] = [(); 3].map(|()| Splice::default());
        let mut nodes = Nodes { field, list, constants, infos, taken: HashMap::new() };
        if steps.iter().any(|step| matches!(step, Step::Inlined(_))) {
            nodes.taken.extend(graph.nodes().iter().map(|node| (node.name.clone(), 0)));
            nodes.taken.extend(steps.iter().filter_map(|step| match step {
                Step::Made(node) => Some((node.name.to_string().into(), 0)),
                _ => None,
            }));
        }
        nodes
    }

    /// The name of a node of an inner graph that stands in this one, if it needs another.
    fn fresh(&mut self, name: &str) -> Option<String> {
        let mut count = *self.taken.get(name)?;
        if name.is_empty() {
            return None;
        }
        let fresh = loop {
            count += 1;
            let fresh = format!("{name}_{count}");
            if !self.taken.contains_key(fresh.as_str()) {
                break fresh;
            }
        };
        self.taken.insert(name.into(), count);
        self.taken.insert(fresh.as_str().into(), 0);
        Some(fresh)
    }

    /// Appends steps; `fields` are the nodes of their graph in the file.
    pub(super) fn steps(
        &mut self,
        fields: &[Field<'_>],
        graph: &Graph,
        steps: &[Step],
        names: &Renames,
        inlined: bool,
    ) -> Result<()> {
        let at = |node: usize| fields.get(node).ok_or_else(not_the_file);
        for step in steps {
            match step {
                Step::Made(node) => {
                    self.list.message_of(self.field, |out| made(out, node, names))?;
                }
                Step::Kept(kept) => {
                    let field = at(kept.node)?;
                    let node = graph.nodes().get(kept.node).ok_or_else(not_the_file)?;
                    let fresh = if inlined { self.fresh(&node.name) } else { None };
                    if inlined && fresh.is_none() {
                        self.taken.insert(node.name.clone(), 0);
                    }
                    let unchanged = kept.inputs.is_empty()
                        && kept.outputs.is_empty()
                        && kept.graphs.is_empty()
                        && names.is_empty()
                        && fresh.is_none();
                    if unchanged {
                        self.list.copy(field.start..field.end);
                        continue;
                    }
                    let inner: Vec<_> = node.graphs().map(AsRef::as_ref).collect();
                    let content = changed(field.span()?, &inner, kept, names, fresh.as_deref())?;
                    self.list.message(self.field, &content);
                }
                Step::Inlined(inlined) => self.inlined(at(inlined.node)?.span()?, graph, inlined, names)?,
            }
        }
        Ok(())
    }

    fn inlined(
        &mut self,
        node: ByteSpan<'_>,
        graph: &Graph,
        inlined: &Inlined,
        around: &Renames,
    ) -> Result<()> {
        let Inlined { edit, .. } = inlined;
        let mut names = around.clone();
        // A value that the outer node renamed already has that name.
        names.extend(inlined.names.iter().map(|(old, new)| (old.clone(), new_arc(around, new).clone())));
        let inner = graph.nodes().get(inlined.node).and_then(|node| node.graphs().nth(inlined.graph));
        let (inner, span) =
            inner.zip(graphs_of(node)?.get(inlined.graph).copied()).ok_or_else(not_the_file)?;
        let mut declared: Declared<'_> = edit.types.iter().map(|(name, of)| (&**name, of)).collect();
        let mut fields = Vec::with_capacity(inner.nodes().len());
        for field in span.fields() {
            let field = field?;
            match field.number {
                graph_proto::NODE => fields.push(field),
                graph_proto::INITIALIZER | graph_proto::SPARSE_INITIALIZER => {
                    initializer(&mut self.constants, &field, edit, &names)?;
                }
                graph_proto::VALUE_INFO => info(&mut self.infos, &field, edit, &names, &mut declared)?,
                _ => {}
            }
        }
        self.steps(&fields, inner, &edit.nodes, &names, true)?;
        self.additions(edit, &names);
        self.declare(edit, &declared, &names);
        Ok(())
    }

    /// Appends the constants that an edit adds.
    pub(super) fn additions(&mut self, edit: &Edit, names: &Renames) {
        for (name, tensor) in &edit.constants {
            let name = new_name(names, name);
            self.constants.message_of(graph_proto::INITIALIZER, |out| encode::tensor(out, name, tensor));
        }
    }

    /// Appends declarations that the file does not have.
    pub(super) fn declare(&mut self, edit: &Edit, declared: &Declared<'_>, names: &Renames) {
        for (name, of) in edit.types.iter().filter(|(name, _)| declared.contains_key(&**name)) {
            let name = new_name(names, name);
            self.infos.write(|out| {
                encode::message(out, graph_proto::VALUE_INFO, |out| encode::value_info(out, name, Some(of)));
            });
        }
    }
}

/// An error: the graph to be written is not that of the file.
pub(super) fn not_the_file() -> Error {
    Error::new(Kind::Unsupported, "the graph is not that of the file, or the file has it in several parts")
}

fn made(out: &mut Splice, node: &Made, names: &Renames) -> Result<()> {
    let name = |name| new_arc(names, name).as_bytes();
    out.write(|out| {
        node.inputs.iter().for_each(|input| encode::bytes(out, node_proto::INPUT, name(input)));
        node.outputs.iter().for_each(|output| encode::bytes(out, node_proto::OUTPUT, name(output)));
        encode::text(out, node_proto::NAME, &node.name);
        encode::text(out, node_proto::OP_TYPE, node.operator);
    });
    for given in &node.attributes {
        out.message_of(node_proto::ATTRIBUTE, |out| encode::attribute(out, &given.name, &given.content))?;
    }
    Ok(())
}

/// The graphs in a node's attributes, in order.
fn graphs_of(node: ByteSpan<'_>) -> Result<Vec<ByteSpan<'_>>> {
    let mut graphs = Vec::new();
    for field in node.fields() {
        let field = field?;
        if field.number == node_proto::ATTRIBUTE {
            for field in field.span()?.fields() {
                let field = field?;
                if matches!(field.number, attribute_proto::G | attribute_proto::GRAPHS) {
                    graphs.push(field.span()?);
                }
            }
        }
    }
    Ok(graphs)
}

/// A node of the file with other inputs, attributes, graphs or names; `fresh` is its own name, if
/// that is another.
fn changed(
    span: ByteSpan<'_>,
    inner: &[&Graph],
    kept: &Kept,
    names: &Renames,
    fresh: Option<&str>,
) -> Result<Splice> {
    let mut out = Splice::default();
    let mut end = span.range().start;
    let (mut inputs, mut outputs, mut graphs) = (0, 0, 0);
    for field in span.fields() {
        let field = field?;
        out.copy(end..field.start);
        end = field.end;
        match field.number {
            node_proto::INPUT => slot(&mut out, &field, &kept.inputs, &mut inputs, names)?,
            node_proto::OUTPUT => slot(&mut out, &field, &kept.outputs, &mut outputs, names)?,
            node_proto::NAME if fresh.is_some() => {
                out.write(|out| encode::text(out, node_proto::NAME, fresh.unwrap_or_default()));
            }
            node_proto::ATTRIBUTE => attribute(&mut out, &field, inner, kept, names, &mut graphs)?,
            _ => out.copy(field.start..field.end),
        }
    }
    out.copy(end..span.range().end);
    Ok(out)
}

/// A name that a node reads or defines, the next of its inputs or outputs.
fn slot(
    out: &mut Splice,
    field: &Field<'_>,
    changes: &[(usize, Arc<str>)],
    next: &mut usize,
    names: &Renames,
) -> Result<()> {
    let changed = changes.iter().find(|(slot, _)| slot == next);
    *next += 1;
    match changed {
        Some((_, name)) => {
            let name = new_arc(names, name);
            out.write(|out| encode::bytes(out, field.number, name.as_bytes()));
            Ok(())
        }
        None => named(out, field, names),
    }
}

/// The name of a field, or what it is renamed to.
fn named(out: &mut Splice, field: &Field<'_>, names: &Renames) -> Result<()> {
    match names.get(field.text()?) {
        Some(new) => out.write(|out| encode::bytes(out, field.number, new.as_bytes())),
        None => out.copy(field.start..field.end),
    }
    Ok(())
}

fn attribute(
    out: &mut Splice,
    field: &Field<'_>,
    inner: &[&Graph],
    kept: &Kept,
    names: &Renames,
    graphs: &mut usize,
) -> Result<()> {
    let span = field.span()?;
    let mut content = Splice::default();
    let mut end = span.range().start;
    for part in span.fields() {
        let part = part?;
        content.copy(end..part.start);
        end = part.end;
        if !matches!(part.number, attribute_proto::G | attribute_proto::GRAPHS) {
            content.copy(part.start..part.end);
            continue;
        }
        let index = *graphs;
        *graphs += 1;
        let edit = kept.graphs.iter().find(|(graph, _)| *graph == index);
        let graph = *inner.get(index).ok_or_else(not_the_file)?;
        match edit {
            Some((_, edit)) => content.message(part.number, &edit_graph(part.span()?, graph, edit, names)?),
            None if names.is_empty() => content.copy(part.start..part.end),
            None => {
                let edit = Edit::keeping(0..graph.nodes().len());
                content.message(part.number, &edit_graph(part.span()?, graph, &edit, names)?);
            }
        }
    }
    content.copy(end..span.range().end);
    out.message(field.number, &content);
    Ok(())
}
