//! Models that were changed in memory, as parts of the files that they were read from.

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use foldhash::{HashMap, HashSet};
use gradus_core::error::Position;
use gradus_core::graph::edit::Renames;
use gradus_core::graph::{Constant, Content, Function, Graph, Model, Node, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Result};

use super::joint::Joint;
use super::ports::{MovedPorts, NewNames};
use super::values::{declaration, info, infos, initializer};
use super::{encode, graph, import, text_of};
use crate::Splice;
use crate::onnx::fields::{
    attribute_proto, function_proto, graph_proto, model_proto, node_proto, value_info_proto,
};
use crate::onnx::model::read_entry;
use crate::wire::{ByteSpan, Field};

/// The file that `bytes`, of which `before` was read, becomes where its graphs are those of
/// `after`. Nodes and constants of `after` that have a position are those of the file.
///
/// # Errors
/// As [`super::super::read_model`], where the bytes are not the model; [`Kind::Unsupported`] if
/// `after` is not made of `before`.
pub fn edit_model(bytes: &Bytes, before: &Model, after: &Model) -> Result<Splice> {
    edit(bytes, before, after, None, &Joint::default())
}

/// The file that `bytes` becomes, as [`edit_model`] says, where the main graph of `after` may have
/// other inputs and outputs, and values of `before` the names that `names` has in place of theirs;
/// and where the parts of another model are added.
///
/// # Errors
/// As [`edit_model`].
pub fn edit_interface(
    bytes: &Bytes,
    before: &Model,
    after: &Model,
    names: &Renames,
    joint: &Joint,
) -> Result<Splice> {
    edit(bytes, before, after, Some(NewNames::new(names)), joint)
}

fn edit(
    bytes: &Bytes,
    before: &Model,
    after: &Model,
    names: Option<NewNames<'_>>,
    joint: &Joint,
) -> Result<Splice> {
    let file = ByteSpan::of(bytes);
    let editor = Editor { file, model: before, names, joint, elsewhere: OnceCell::new() };
    let mut out = Splice::default();
    let mut functions = before.functions.iter();
    let mut kept = after.functions.iter().peekable();
    let end = each_field(file, &mut out, |out, field| {
        match field.number {
            model_proto::GRAPH => {
                editor.field(out, &field, [&before.graph, &after.graph], &GRAPH)?;
            }
            model_proto::FUNCTIONS => {
                let before = functions.next().ok_or_else(not_the_file)?;
                if let Some(after) = kept.next_if(|after| after.id == before.id) {
                    editor.field(out, &field, [&before.body, &after.body], &FUNCTION)?;
                }
            }
            model_proto::IR_VERSION if before.format_version != after.format_version => {
                out.write(|out| encode::int(out, field.number, after.format_version));
            }
            model_proto::METADATA_PROPS => metadata(out, &field, after)?,
            _ => out.copy(field.start..field.end),
        }
        Ok(())
    })?;
    out.copy(end);
    out.append(&joint.functions);
    for (key, value) in &after.metadata {
        if before.metadata.iter().all(|(old, _)| old != key) {
            out.write(|out| {
                encode::message(out, model_proto::METADATA_PROPS, |out| encode::entry(out, key, value));
            });
        }
    }
    let added = after.opsets.get(before.opsets.len()..).unwrap_or_default();
    for (domain, version) in added {
        out.write(|out| import(out, domain, *version));
    }
    Ok(out)
}

/// An entry of the model's metadata as it is after an edit.
fn metadata(out: &mut Splice, field: &Field<'_>, after: &Model) -> Result<()> {
    let (key, value) = read_entry(field.span()?)?;
    let entries = || after.metadata.iter().filter(|(new, _)| *new == key);
    if entries().any(|(_, new)| *new == value) {
        out.copy(field.start..field.end);
    } else if let Some((key, value)) = entries().next() {
        out.write(|out| encode::message(out, field.number, |out| encode::entry(out, key, value)));
    }
    Ok(())
}

/// Goes over the fields of a message. Bytes between them that are no field, such as a group, are
/// copied. Returns what is left after the last field.
pub(super) fn each_field<'a>(
    span: ByteSpan<'a>,
    out: &mut Splice,
    mut each: impl FnMut(&mut Splice, Field<'a>) -> Result<()>,
) -> Result<Range<usize>> {
    let mut end = span.range().start;
    for field in span.fields() {
        let field = field?;
        out.copy(end..field.start);
        end = field.end;
        each(out, field)?;
    }
    Ok(end..span.range().end)
}

/// The numbers of the fields of a message that holds nodes; no field has the number 0.
struct Numbers {
    node: u32,
    info: u32,
    constants: [u32; 2],
    ports: [u32; 2],
}

const GRAPH: Numbers = Numbers {
    node: graph_proto::NODE,
    info: graph_proto::VALUE_INFO,
    constants: [graph_proto::INITIALIZER, graph_proto::SPARSE_INITIALIZER],
    ports: [graph_proto::INPUT, graph_proto::OUTPUT],
};

/// A function has no place for constants but nodes; its inputs and outputs are names.
const FUNCTION: Numbers = Numbers {
    node: function_proto::NODE,
    info: function_proto::VALUE_INFO,
    constants: [0; 2],
    ports: [0; 2],
};

/// The fields of a graph that are not nodes, as they will be written, with their numbers.
#[derive(Default)]
struct SplicedFields(Vec<(u32, Splice)>);

impl SplicedFields {
    /// Puts a field after the last of its number, or after those that come before it in the
    /// format.
    fn insert(&mut self, number: u32, content: Splice) {
        if content.is_empty() {
            return;
        }
        let last = self.0.iter().rposition(|(other, _)| *other == number);
        let place = last.or_else(|| self.0.iter().rposition(|(other, _)| *other < number));
        self.0.insert(place.map_or(0, |place| place + 1), (number, content));
    }
}

/// A file, and the model that was read from it.
struct Editor<'a> {
    file: ByteSpan<'a>,
    model: &'a Model,
    /// New names of the main graph, if the edit is about its inputs, outputs and names.
    names: Option<NewNames<'a>>,
    /// Parts that are added to the main graph.
    joint: &'a Joint,
    /// Nodes and constants of all graphs, in the order of the file: found when they are needed.
    elsewhere: OnceCell<Vec<StoredItem<'a, 'a>>>,
}

/// A node or a constant where it stands in the file.
#[derive(Clone, Copy)]
struct StoredItem<'a, 'g> {
    at: Position,
    field: Field<'a>,
    /// The node, if it is one.
    node: Option<&'g Node>,
}

/// A graph of the file.
struct FileGraph<'a, 'g> {
    before: &'g Graph,
    nodes: Vec<Field<'a>>,
}

impl<'a> Editor<'a> {
    /// A field that is a graph before and after it was changed; true if it is as it was.
    fn field(
        &self,
        out: &mut Splice,
        field: &Field<'a>,
        [before, after]: [&Graph; 2],
        numbers: &Numbers,
    ) -> Result<bool> {
        let span = field.span()?;
        let content = self.graph(span, before, after, numbers)?;
        let same = content.is_copy_of(span.range());
        if same {
            out.copy(field.start..field.end);
        } else {
            out.message(field.number, &content);
        }
        Ok(same)
    }

    /// `GraphProto` or `FunctionProto`: what is not changed is copied.
    fn graph(&self, span: ByteSpan<'a>, before: &Graph, after: &Graph, numbers: &Numbers) -> Result<Splice> {
        let mut place = FileGraph { before, nodes: Vec::with_capacity(before.nodes().len()) };
        for field in span.fields() {
            let field = field?;
            if field.number == numbers.node {
                place.nodes.push(field);
            }
        }
        let renamed = self.names.as_ref().filter(|_| std::ptr::eq(before, &raw const self.model.graph));
        let mut moved = match renamed {
            Some(names) => names.moved(span, [before, after])?,
            None => MovedPorts::default(),
        };
        let (nodes, same) = self.nodes(&place, after, numbers.node)?;
        let (mut constants, mut added) = by_position(after);
        let values = OnceCell::new();
        let names = || values.get_or_init(|| [before, after].map(by_name));
        let mut ports =
            [before.inputs().iter().zip(after.inputs()), before.outputs().iter().zip(after.outputs())];
        let mut declared = HashSet::default();
        let mut fields = SplicedFields::default();
        let mut end = span.range().start;
        let mut is_first = true;
        for field in span.fields() {
            let field = field?;
            // Bytes that are no field, such as a group, go with the field after them.
            let mut out = Splice::default();
            out.copy(end..field.start);
            end = field.end;
            let number = field.number;
            if number == numbers.node {
                if same {
                    out.copy(field.start..field.end);
                } else if std::mem::take(&mut is_first) {
                    out.append(&nodes);
                }
            } else if numbers.constants.contains(&number) {
                if let Some((id, _)) = constants.remove(&field.span()?.position()) {
                    initializer(&mut out, &field, &after.value(id).name)?;
                }
            } else if number == numbers.info {
                let name = text_of(field.span()?, value_info_proto::NAME)?;
                let [old, new] = names();
                let old = old.get(name).map(|old| before.value(*old));
                let name = renamed.map_or(name, |renamed| renamed.after(name));
                let new = new.get(name).copied();
                // Its place is among the inputs or outputs, which say the same.
                let is_said = new.is_some_and(|new| moved.has(new));
                if !is_said && declaration(&mut out, &field, old, new.map(|new| after.value(new)))? {
                    declared.extend(new);
                }
            } else if let Some(list) = moved.take(number) {
                out.append(&list);
            } else if let Some(renamed) = renamed
                && number == graph_proto::QUANTIZATION_ANNOTATION
            {
                let [_, new] = names();
                renamed.annotation(&mut out, &field, |name| new.contains_key(name))?;
            } else if let Some(port) = numbers.ports.iter().position(|port| *port == number) {
                let both = ports.get_mut(port).and_then(Iterator::next);
                let (old, new) = both.ok_or_else(not_the_file)?;
                info(&mut out, &field, Some(before.value(*old)), after.value(*new), false)?;
            } else {
                out.copy(field.start..field.end);
            }
            if !out.is_empty() {
                fields.0.push((number, out));
            }
        }
        if is_first && !same {
            fields.insert(numbers.node, nodes);
        }
        moved.rest().for_each(|(number, list)| fields.insert(number, list));
        let mut new = Splice::default();
        // In the order of the graph.
        added.extend(constants.into_values());
        added.shared_sort_by_key(|(id, _)| *id);
        for (id, constant) in added {
            self.constant(&mut new, &after.value(id).name, constant)?;
        }
        fields.insert(numbers.constants[0], new);
        fields.insert(numbers.info, infos(after, numbers.info, &declared));
        let mut out = Splice::default();
        fields.0.iter().for_each(|(_, content)| out.append(content));
        out.copy(end..span.range().end);
        if renamed.is_some() {
            out.append(&self.joint.graph);
        }
        Ok(out)
    }

    /// The nodes of a graph, and whether they are those of the file, in its order.
    fn nodes(&self, place: &FileGraph<'a, '_>, after: &Graph, number: u32) -> Result<(Splice, bool)> {
        let mut out = Splice::default();
        let mut same = place.nodes.len() == after.nodes().len();
        let nodes = place.before.nodes();
        let mut next = 0;
        for (index, node) in after.nodes().iter().enumerate() {
            let Some(at) = node.position else {
                same = false;
                out.message_of(number, |out| graph::node(out, after, node))?;
                continue;
            };
            // Those that stay are nearly all in the order of the file.
            let is_next = nodes.get(next).is_some_and(|node| node.position == Some(at));
            let by_position = || nodes.binary_search_by_key(&Some(at), |node| node.position);
            let found = if is_next { Ok(next) } else { by_position() };
            let (stored, own) = match found {
                Ok(found) => {
                    same &= found == index;
                    next = found + 1;
                    let field = *place.nodes.get(found).ok_or_else(not_the_file)?;
                    let before = nodes.get(found).ok_or_else(not_the_file)?;
                    if is_kept([place.before, after], [before, node]) {
                        out.copy(field.start..field.end);
                        continue;
                    }
                    (StoredItem { at, field, node: Some(before) }, true)
                }
                Err(_) => (self.stored(at)?, false),
            };
            match self.node(&stored, own, node, after)? {
                None => out.copy(stored.field.start..stored.field.end),
                Some(content) => {
                    same = false;
                    out.message(number, &content);
                }
            }
        }
        Ok((out, same))
    }

    /// A node of the file; nothing if it is as it stands there, and a field of the same number.
    fn node(
        &self,
        stored: &StoredItem<'a, '_>,
        own: bool,
        node: &Node,
        graph: &Graph,
    ) -> Result<Option<Splice>> {
        let span = stored.field.span()?;
        let before = stored.node.ok_or_else(not_the_file)?;
        let name =
            |id: Option<&Option<ValueId>>| id.copied().flatten().map_or("", |id| &graph.value(id).name);
        let mut out = Splice::default();
        let (mut inputs, mut outputs) = (node.inputs.iter(), node.outputs.iter());
        let mut graphs = node.graphs().zip(before.graphs());
        let own = own && !has_parameters(before);
        let (mut same, mut named) = (own, node.name.is_empty());
        let end = each_field(span, &mut out, |out, field| {
            let text = match field.number {
                node_proto::INPUT => name(inputs.next()),
                node_proto::OUTPUT => name(outputs.next()),
                node_proto::NAME => {
                    named = true;
                    &*node.name
                }
                node_proto::ATTRIBUTE if !own || before.graphs().next().is_some() => {
                    same &= self.attribute(out, &field, node, &mut graphs)?;
                    return Ok(());
                }
                _ => {
                    out.copy(field.start..field.end);
                    return Ok(());
                }
            };
            if field.text()? == text {
                out.copy(field.start..field.end);
            } else {
                same = false;
                out.write(|out| encode::bytes(out, field.number, text.as_bytes()));
            }
            Ok(())
        })?;
        out.copy(end);
        if !named {
            same = false;
            out.write(|out| encode::text(out, node_proto::NAME, &node.name));
        }
        Ok((!same).then_some(out))
    }

    /// An attribute of a node, which may be one of the call in place of a reference; true if it is
    /// as it stands in the file.
    fn attribute<'g>(
        &self,
        out: &mut Splice,
        field: &Field<'a>,
        node: &Node,
        graphs: &mut impl Iterator<Item = (&'g Arc<Graph>, &'g Arc<Graph>)>,
    ) -> Result<bool> {
        let span = field.span()?;
        if !text_of(span, attribute_proto::REF_ATTR_NAME)?.is_empty() {
            let name = text_of(span, attribute_proto::NAME)?;
            match node.attribute(name) {
                Some(Content::Parameter(_)) => out.copy(field.start..field.end),
                Some(given) => out.message_of(field.number, |out| encode::attribute(out, name, given))?,
                None => {}
            }
            return Ok(matches!(node.attribute(name), Some(Content::Parameter(_))));
        }
        let (mut content, mut same) = (Splice::default(), true);
        let end = each_field(span, &mut content, |content, part| {
            if !matches!(part.number, attribute_proto::G | attribute_proto::GRAPHS) {
                content.copy(part.start..part.end);
                return Ok(());
            }
            let (after, before) = graphs.next().ok_or_else(not_the_file)?;
            same &= self.field(content, &part, [before, after], &GRAPH)?;
            Ok(())
        })?;
        content.copy(end);
        if same {
            out.copy(field.start..field.end);
        } else {
            out.message(field.number, &content);
        }
        Ok(same)
    }

    /// A constant that the graph of the file does not have: one of another graph, or a new one.
    fn constant(&self, out: &mut Splice, name: &str, constant: &Constant) -> Result<()> {
        match constant.position() {
            Some(at) => initializer(out, &self.stored(at)?.field, name),
            None => out.message_of(graph_proto::INITIALIZER, |out| graph::constant(out, name, constant)),
        }
    }

    /// The node or constant that stands there, in any graph.
    fn stored(&self, at: Position) -> Result<StoredItem<'a, 'a>> {
        if self.elsewhere.get().is_none() {
            let mut all = Vec::new();
            let mut functions = self.model.functions.iter();
            for field in self.file.fields() {
                let field = field?;
                match field.number {
                    model_proto::GRAPH => collect(&mut all, field.span()?, &self.model.graph, &GRAPH)?,
                    model_proto::FUNCTIONS => {
                        let function: &Function = functions.next().ok_or_else(not_the_file)?;
                        collect(&mut all, field.span()?, &function.body, &FUNCTION)?;
                    }
                    _ => {}
                }
            }
            all.shared_sort_by_key(|stored| stored.at);
            _ = self.elsewhere.set(all);
        }
        let all = self.elsewhere.get().map(Vec::as_slice).unwrap_or_default();
        let found = all.binary_search_by_key(&at, |stored| stored.at).ok();
        found.and_then(|found| all.get(found).copied()).ok_or_else(not_the_file)
    }
}

/// Returns true if a node has the names in the graph after an edit that it has in the graph before,
/// and no graph within that may differ.
fn is_kept([before, after]: [&Graph; 2], [old, new]: [&Node; 2]) -> bool {
    let is_same = |old: &Option<ValueId>, new: &Option<ValueId>| match (old, new) {
        (Some(old), Some(new)) => before.value(*old).name == after.value(*new).name,
        (old, new) => old.is_none() && new.is_none(),
    };
    let are_same = |old: &[Option<ValueId>], new: &[Option<ValueId>]| {
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| is_same(old, new))
    };
    let named = old.name == new.name && old.graphs().next().is_none() && !has_parameters(old);
    named && are_same(&old.inputs, &new.inputs) && are_same(&old.outputs, &new.outputs)
}

/// Returns true if an attribute of a node is one of the function around it. A graph of a body that
/// is inlined has the argument of the call in its place.
fn has_parameters(node: &Node) -> bool {
    node.attributes.iter().any(|attribute| matches!(attribute.content, Content::Parameter(_)))
}

/// Lists the nodes and constants of a graph, and of those within.
fn collect<'a>(
    into: &mut Vec<StoredItem<'a, 'a>>,
    span: ByteSpan<'a>,
    graph: &'a Graph,
    numbers: &Numbers,
) -> Result<()> {
    let mut nodes = graph.nodes().iter();
    for field in span.fields() {
        let field = field?;
        if field.number == numbers.node {
            let node = nodes.next().ok_or_else(not_the_file)?;
            into.push(StoredItem { at: field.span()?.position(), field, node: Some(node) });
            for (span, graph) in graphs_of(field.span()?)?.into_iter().zip(node.graphs()) {
                collect(into, span, graph, &GRAPH)?;
            }
        } else if numbers.constants.contains(&field.number) {
            into.push(StoredItem { at: field.span()?.position(), field, node: None });
        }
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

/// A constant of a graph, and the value that it is.
type OwnConstant<'g> = (ValueId, &'g Constant);

/// Constants of a graph by their position in the file, and those that have none.
fn by_position(graph: &Graph) -> (HashMap<Position, OwnConstant<'_>>, Vec<OwnConstant<'_>>) {
    let (mut stored, mut added) = (HashMap::default(), Vec::new());
    for (id, constant) in graph.constants() {
        match constant.position().map(|at| stored.entry(at)) {
            Some(Entry::Vacant(place)) => _ = place.insert((*id, constant)),
            _ => added.push((*id, constant)),
        }
    }
    (stored, added)
}

fn by_name(graph: &Graph) -> HashMap<&str, ValueId> {
    graph.ids().map(|id| (&*graph.value(id).name, id)).collect()
}

/// An error: the graph to be written is not that of the file.
fn not_the_file() -> Error {
    Error::new(Kind::Unsupported, "the graph is not that of the file, or the file has it in several parts")
}
