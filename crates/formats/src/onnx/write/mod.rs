//! Writing ONNX files: models that were read, with changes, and models that were made.
//!
//! A model that was read is written as parts of its file: what an [`Edit`] does not change is
//! copied unchanged, in its place, unknown fields and all. Bytes of weights are named, not touched,
//! so a model costs what its graph costs.

mod encode;
mod graph;
mod inline;
mod locations;
mod mentioned;
mod nodes;

use std::sync::Arc;

use bytes::Bytes;
use foldhash::HashMap;
use gradus_core::graph::edit::{Change, Edit, Renames};
use gradus_core::graph::{Graph, Model, Type};
use gradus_core::{Error, Kind, Result};

pub use inline::inline_functions;
pub use locations::{external_files, rename_external_files};
pub use mentioned::mentioned;

use super::fields::{
    function_proto, graph_proto, model_proto, operator_set_id_proto, sparse_tensor_proto, tensor_proto,
    value_info_proto,
};
use crate::Splice;
use crate::wire::{ByteSpan, Field};
use nodes::Nodes;

/// The file that `bytes` becomes by edits of its main graph, and of bodies of functions.
///
/// # Errors
/// As [`super::read_model`], where the bytes are not the model.
pub fn edit_model(bytes: &Bytes, model: &Model, edit: &Edit) -> Result<Splice> {
    let (mut file, mut model, mut all) = (bytes.clone(), model, None);
    let joined = |all: &Option<Splice>, next: Splice| match all {
        Some(all) => next.after(all),
        None => next,
    };
    for stage in &edit.before {
        let next = match &stage.change {
            Change::Inlined(functions) => inline_functions(&file, model, functions)?,
            Change::Edited(edit) => edit_main(&file, model, edit)?,
            Change::Bodies(edits) => edit_bodies(&file, model, edits)?,
        };
        (file, model) = (next.to_bytes(&file)?, &stage.model);
        all = Some(joined(&all, next));
    }
    Ok(joined(&all, edit_main(&file, model, edit)?))
}

fn edit_main(bytes: &Bytes, model: &Model, edit: &Edit) -> Result<Splice> {
    let mut out = Splice::default();
    let mut end = 0;
    for field in ByteSpan::of(bytes).fields() {
        let field = field?;
        out.copy(end..field.start);
        end = field.end;
        if field.number == model_proto::GRAPH {
            out.message(model_proto::GRAPH, &edit_graph(field.span()?, &model.graph, edit, &Renames::new())?);
        } else {
            out.copy(field.start..field.end);
        }
    }
    out.copy(end..bytes.len());
    if edit.makes_nodes() && !model.opsets.iter().any(|(domain, _)| domain.is_empty()) {
        out.write(|out| import(out, "", OPSET_OF_MADE));
    }
    Ok(out)
}

/// The file that `bytes` becomes where the bodies of functions are edited.
///
/// # Errors
/// As [`edit_model`].
pub fn edit_bodies(bytes: &Bytes, model: &Model, edits: &[(usize, Edit)]) -> Result<Splice> {
    let mut out = Splice::default();
    let (mut end, mut number) = (0, 0);
    for field in ByteSpan::of(bytes).fields() {
        let field = field?;
        out.copy(end..field.start);
        end = field.end;
        let is_function = field.number == model_proto::FUNCTIONS;
        match edits.iter().find(|(edited, _)| is_function && *edited == number) {
            Some((_, edit)) => {
                let function = model.functions.get(number).ok_or_else(nodes::not_the_file)?;
                out.message(model_proto::FUNCTIONS, &edit_body(field.span()?, &function.body, edit)?);
            }
            None => out.copy(field.start..field.end),
        }
        number += usize::from(is_function);
    }
    out.copy(end..bytes.len());
    Ok(out)
}

/// `FunctionProto`, whose nodes are edited. It has no place for constants but nodes.
fn edit_body(span: ByteSpan<'_>, body: &Graph, edit: &Edit) -> Result<Splice> {
    let (mut before, mut after) = (Splice::default(), Splice::default());
    let mut spans = Vec::with_capacity(body.nodes().len());
    let mut end = span.range().start;
    let mut declared: Declared<'_> = edit.types.iter().map(|(name, of)| (&**name, of)).collect();
    for field in span.fields() {
        let field = field?;
        let out = if spans.is_empty() { &mut before } else { &mut after };
        out.copy(end..field.start);
        end = field.end;
        match field.number {
            function_proto::NODE => spans.push(field),
            function_proto::VALUE_INFO => info(out, &field, edit, &Renames::new(), &mut declared)?,
            _ => out.copy(field.start..field.end),
        }
    }
    let mut nodes = Nodes::of(body, &edit.nodes, function_proto::NODE);
    nodes.steps(&spans, body, &edit.nodes, &Renames::new(), false)?;
    before.append(&nodes.list);
    before.append(&after);
    before.copy(end..span.range().end);
    Ok(before)
}

/// The operator set that a model without ONNX's own is given for the nodes that an edit makes: the
/// oldest in which they take all types of its time.
pub const OPSET_OF_MADE: i64 = 13;

/// `OperatorSetIdProto` of a model.
fn import(out: &mut Vec<u8>, domain: &str, version: i64) {
    encode::message(out, model_proto::OPSET_IMPORT, |out| {
        encode::text(out, operator_set_id_proto::DOMAIN, domain);
        encode::int(out, operator_set_id_proto::VERSION, version);
    });
}

/// A model that was made in memory, as a file without a source. Long constants are shared with the
/// model, not copied.
///
/// # Errors
/// [`Kind::Unsupported`] if it has functions, and whatever is wrong with a constant that must be
/// read first.
pub fn encode_model(model: &Model) -> Result<Splice> {
    encode_with(model, None)
}

/// Encodes a model whose long constants are in a file next to it: the model, and the content of the
/// file of that name.
///
/// # Errors
/// As [`encode_model`].
pub fn encode_model_beside(model: &Model, name: &str) -> Result<(Splice, Splice)> {
    let mut file = encode::DataFile { name, content: Splice::default() };
    let encoded = encode_with(model, Some(&mut file))?;
    Ok((encoded, file.content))
}

fn encode_with(model: &Model, beside: Option<&mut encode::DataFile<'_>>) -> Result<Splice> {
    if !model.functions.is_empty() {
        return Err(Error::new(Kind::Unsupported, "functions are only written as they were read"));
    }
    let mut out = Splice::default();
    out.write(|out| {
        encode::int(out, model_proto::IR_VERSION, model.format_version);
        encode::text(out, model_proto::PRODUCER_NAME, &model.producer);
    });
    out.message_of(model_proto::GRAPH, |out| graph::graph(out, &model.graph, beside))?;
    out.write(|out| {
        model.opsets.iter().for_each(|(domain, version)| import(out, domain, *version));
        for (key, value) in &model.metadata {
            encode::message(out, model_proto::METADATA_PROPS, |out| encode::entry(out, key, value));
        }
    });
    Ok(out)
}

/// The fields of a graph that are not nodes, as they will be written, with their numbers.
#[derive(Default)]
struct SplicedFields(Vec<(u32, Splice)>);

impl SplicedFields {
    /// Puts a field after the last of its number, or after those that come before it in the format.
    fn insert(&mut self, number: u32, content: Splice) {
        if content.is_empty() {
            return;
        }
        let last = self.0.iter().rposition(|(other, _)| *other == number);
        let place = last.or_else(|| self.0.iter().rposition(|(other, _)| *other < number));
        self.0.insert(place.map_or(0, |place| place + 1), (number, content));
    }
}

/// `GraphProto`, edited; names that are read or defined are replaced.
fn edit_graph(span: ByteSpan<'_>, graph: &Graph, edit: &Edit, names: &Renames) -> Result<Splice> {
    let mut fields = SplicedFields::default();
    let mut spans = Vec::with_capacity(graph.nodes().len());
    let mut end = span.range().start;
    let mut declared: HashMap<&str, &Type> = edit.types.iter().map(|(name, of)| (&**name, of)).collect();
    for field in span.fields() {
        let field = field?;
        // Bytes that are no field, such as a group, go with the field after them.
        let mut out = Splice::default();
        out.copy(end..field.start);
        end = field.end;
        match field.number {
            graph_proto::NODE => {
                if spans.is_empty() {
                    fields.0.push((graph_proto::NODE, Splice::default()));
                }
                spans.push(field);
            }
            graph_proto::INITIALIZER | graph_proto::SPARSE_INITIALIZER => {
                initializer(&mut out, &field, edit, names)?;
            }
            graph_proto::VALUE_INFO => info(&mut out, &field, edit, names, &mut declared)?,
            graph_proto::INPUT | graph_proto::OUTPUT => interface(&mut out, &field, names, &mut declared)?,
            _ => out.copy(field.start..field.end),
        }
        if !out.is_empty() {
            fields.0.push((field.number, out));
        }
    }
    let mut nodes = Nodes::of(graph, &edit.nodes, graph_proto::NODE);
    nodes.steps(&spans, graph, &edit.nodes, names, false)?;
    nodes.additions(edit, names);
    nodes.declare(edit, &declared, names);
    match fields.0.iter_mut().find(|(number, _)| *number == graph_proto::NODE) {
        Some((_, place)) => place.append(&nodes.list),
        None => fields.insert(graph_proto::NODE, nodes.list),
    }
    fields.insert(graph_proto::INITIALIZER, nodes.constants);
    fields.insert(graph_proto::VALUE_INFO, nodes.infos);
    let mut out = Splice::default();
    fields.0.iter().for_each(|(_, content)| out.append(content));
    out.copy(end..span.range().end);
    Ok(out)
}

/// The text of a message's field of that number.
fn text_of(span: ByteSpan<'_>, number: u32) -> Result<&str> {
    let mut found = "";
    for field in span.fields() {
        let field = field?;
        if field.number == number {
            found = field.text()?;
        }
    }
    Ok(found)
}

fn initializer(out: &mut Splice, field: &Field<'_>, edit: &Edit, names: &Renames) -> Result<()> {
    if edit.dropped.is_empty() && names.is_empty() {
        out.copy(field.start..field.end);
        return Ok(());
    }
    let span = field.span()?;
    let dense = field.number == graph_proto::INITIALIZER;
    // The values of a sparse tensor have its name.
    let name = if dense { text_of(span, tensor_proto::NAME)? } else { sparse_name(span)? };
    if edit.dropped.contains(name) {
        return Ok(());
    }
    match names.get(name) {
        Some(new) if dense => out.message(field.number, &renamed(span, tensor_proto::NAME, new)?),
        Some(new) => out.message(field.number, &sparse_renamed(span, new)?),
        None => out.copy(field.start..field.end),
    }
    Ok(())
}

fn sparse_name(span: ByteSpan<'_>) -> Result<&str> {
    for field in span.fields() {
        let field = field?;
        if field.number == sparse_tensor_proto::VALUES {
            return text_of(field.span()?, tensor_proto::NAME);
        }
    }
    Ok("")
}

fn sparse_renamed(span: ByteSpan<'_>, name: &str) -> Result<Splice> {
    let mut out = Splice::default();
    for field in span.fields() {
        let field = field?;
        match field.number {
            sparse_tensor_proto::VALUES => {
                out.message(field.number, &renamed(field.span()?, tensor_proto::NAME, name)?);
            }
            _ => out.copy(field.start..field.end),
        }
    }
    Ok(out)
}

/// A message with other text in one of its fields.
fn renamed(span: ByteSpan<'_>, number: u32, text: &str) -> Result<Splice> {
    let mut out = Splice::default();
    let mut end = span.range().start;
    for field in span.fields() {
        let field = field?;
        out.copy(end..field.start);
        end = field.end;
        if field.number == number {
            out.write(|out| encode::bytes(out, number, text.as_bytes()));
        } else {
            out.copy(field.start..field.end);
        }
    }
    out.copy(end..span.range().end);
    Ok(out)
}

type Declared<'e> = HashMap<&'e str, &'e Type>;

/// The declaration of a value: replaced if there is a new one, removed with the value.
fn info(
    out: &mut Splice,
    field: &Field<'_>,
    edit: &Edit,
    names: &Renames,
    declared: &mut Declared<'_>,
) -> Result<()> {
    let name = text_of(field.span()?, value_info_proto::NAME)?;
    if edit.gone.contains(name) {
        declared.remove(name);
        return Ok(());
    }
    interface(out, field, names, declared)
}

fn interface(
    out: &mut Splice,
    field: &Field<'_>,
    names: &Renames,
    declared: &mut Declared<'_>,
) -> Result<()> {
    let span = field.span()?;
    let name = text_of(span, value_info_proto::NAME)?;
    let (of, new) = (declared.remove(name), names.get(name));
    if of.is_none() && new.is_none() {
        out.copy(field.start..field.end);
        return Ok(());
    }
    let mut content = Splice::default();
    content.write(|out| encode::text(out, value_info_proto::NAME, new.map_or(name, |new| new)));
    for part in span.fields() {
        let part = part?;
        match part.number {
            value_info_proto::NAME => {}
            value_info_proto::TYPE if of.is_some() => {}
            _ => content.copy(part.start..part.end),
        }
    }
    if let Some(of) = of {
        content.write(|out| encode::message(out, value_info_proto::TYPE, |out| encode::type_of(out, of)));
    }
    out.message(field.number, &content);
    Ok(())
}

/// The name that is written for a name.
fn new_name<'n>(names: &'n Renames, name: &'n str) -> &'n str {
    names.get(name).map_or(name, |new| new)
}

/// The name that is written for a name of an edit.
fn new_arc<'n>(names: &'n Renames, name: &'n Arc<str>) -> &'n Arc<str> {
    names.get(name).unwrap_or(name)
}
