//! Constants and declarations of values of a file, under other names or of other types.

use foldhash::HashSet;
use gradus_core::Result;
use gradus_core::graph::{Graph, Type, ValueId, ValueInfo};

use super::edit::each_field;
use super::{encode, text_of};
use crate::Splice;
use crate::onnx::fields::{graph_proto, sparse_tensor_proto, tensor_proto, value_info_proto};
use crate::wire::{ByteSpan, Field};

/// A constant of the file, under a name.
pub(super) fn initializer(out: &mut Splice, field: &Field<'_>, name: &str) -> Result<()> {
    let span = field.span()?;
    let dense = field.number == graph_proto::INITIALIZER;
    // The values of a sparse tensor have its name.
    let same = if dense { text_of(span, tensor_proto::NAME)? == name } else { sparse_name(span)? == name };
    if same {
        out.copy(field.start..field.end);
    } else if dense {
        out.message(field.number, &renamed(span, name)?);
    } else {
        let mut content = Splice::default();
        let end = each_field(span, &mut content, |content, part| {
            match part.number {
                sparse_tensor_proto::VALUES => content.message(part.number, &renamed(part.span()?, name)?),
                _ => content.copy(part.start..part.end),
            }
            Ok(())
        })?;
        content.copy(end);
        out.message(field.number, &content);
    }
    Ok(())
}

/// The name of a sparse tensor: that of its values.
pub(super) fn sparse_name(span: ByteSpan<'_>) -> Result<&str> {
    for field in span.fields() {
        let field = field?;
        if field.number == sparse_tensor_proto::VALUES {
            return text_of(field.span()?, tensor_proto::NAME);
        }
    }
    Ok("")
}

/// A tensor with another name.
fn renamed(span: ByteSpan<'_>, name: &str) -> Result<Splice> {
    let mut out = Splice::default();
    let end = each_field(span, &mut out, |out, field| {
        match field.number {
            tensor_proto::NAME => out.write(|out| encode::bytes(out, field.number, name.as_bytes())),
            _ => out.copy(field.start..field.end),
        }
        Ok(())
    })?;
    out.copy(end);
    Ok(out)
}

/// Writes the declaration of a value that is another after an edit, or none any more; true if it is
/// declared.
pub(super) fn declaration(
    out: &mut Splice,
    field: &Field<'_>,
    before: Option<&ValueInfo>,
    after: Option<&ValueInfo>,
) -> Result<bool> {
    match (before, after) {
        (None, None) => out.copy(field.start..field.end),
        (Some(_), None) => {}
        // It became a constant, which has a type.
        (Some(old), Some(new)) if old.origin.is_node() && !new.origin.is_node() => {}
        (old, Some(new)) => {
            info(out, field, old, new, true)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// The declaration of a value, with its name and type where these are others than before. One that
/// says nothing any more goes, where it `may_go`.
pub(super) fn info(
    out: &mut Splice,
    field: &Field<'_>,
    before: Option<&ValueInfo>,
    after: &ValueInfo,
    may_go: bool,
) -> Result<()> {
    let same_name = before.is_none_or(|before| before.name == after.name);
    let other = before.is_none_or(|before| before.declared != after.declared);
    let of: Option<&Type> = after.declared.as_ref().filter(|_| other);
    if may_go && other && of.is_none() && before.is_some() {
        return Ok(());
    }
    if same_name && of.is_none() {
        out.copy(field.start..field.end);
        return Ok(());
    }
    let mut content = Splice::default();
    content.write(|out| encode::text(out, value_info_proto::NAME, &after.name));
    for part in field.span()?.fields() {
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

/// Declarations of the values that nodes compute and that the file does not declare.
pub(super) fn infos(graph: &Graph, number: u32, declared: &HashSet<ValueId>) -> Splice {
    let outputs: HashSet<_> = graph.outputs().iter().copied().collect();
    let mut out = Splice::default();
    for id in graph.ids().filter(|id| !declared.contains(id) && !outputs.contains(id)) {
        let info = graph.value(id);
        if let Some(of) = info.declared.as_ref().filter(|_| info.origin.is_node()) {
            out.write(|out| {
                encode::message(out, number, |out| encode::value_info(out, &info.name, Some(of)));
            });
        }
    }
    out
}
