//! Inputs of a model that become constants.

use bytes::Bytes;
use gradus_core::graph::Content;
use gradus_core::{Result, Tensor};

use super::values::sparse_name;
use super::{encode, text_of};
use crate::Splice;
use crate::onnx::fields::{graph_proto, model_proto, node_proto, tensor_proto, value_info_proto};
use crate::wire::{ByteSpan, Field};

/// The file that `bytes` becomes where inputs of the main graph are initializers with these
/// elements; or `Constant` nodes, where initializers would have to be inputs. An initializer that
/// an input had as its default is removed.
///
/// # Errors
/// As [`super::super::read_model`], where the bytes are not the model.
pub fn set_inputs(bytes: &Bytes, as_nodes: bool, values: &[(&str, &Tensor)]) -> Result<Splice> {
    let mut out = Splice::default();
    let mut end = 0;
    for field in ByteSpan::of(bytes).fields() {
        let field = field?;
        out.copy(end..field.start);
        end = field.end;
        if field.number == model_proto::GRAPH {
            out.message(field.number, &graph(field.span()?, as_nodes, values)?);
        } else {
            out.copy(field.start..field.end);
        }
    }
    out.copy(end..bytes.len());
    Ok(out)
}

fn graph(span: ByteSpan<'_>, as_nodes: bool, values: &[(&str, &Tensor)]) -> Result<Splice> {
    let mut out = Splice::default();
    // Nodes are in the order in which they run.
    for (name, tensor) in values.iter().filter(|_| as_nodes) {
        out.message_of(graph_proto::NODE, |out| node(out, name, tensor))?;
    }
    let mut end = span.range().start;
    for field in span.fields() {
        let field = field?;
        out.copy(end..field.start);
        end = field.end;
        let name = name_of(&field)?;
        if name.is_none_or(|name| values.iter().all(|(set, _)| *set != name)) {
            out.copy(field.start..field.end);
        }
    }
    out.copy(end..span.range().end);
    for (name, tensor) in values.iter().filter(|_| !as_nodes) {
        out.message_of(graph_proto::INITIALIZER, |out| encode::tensor(out, name, tensor));
    }
    Ok(out)
}

/// A `Constant` node.
fn node(out: &mut Splice, name: &str, tensor: &Tensor) -> Result<()> {
    out.write(|out| {
        encode::bytes(out, node_proto::OUTPUT, name.as_bytes());
        encode::text(out, node_proto::OP_TYPE, "Constant");
    });
    let value = Content::Tensor(tensor.clone().into());
    out.message_of(node_proto::ATTRIBUTE, |out| encode::attribute(out, "value", &value))
}

/// The name of the value that a field of a graph makes an input or gives elements.
pub(super) fn name_of<'a>(field: &Field<'a>) -> Result<Option<&'a str>> {
    match field.number {
        graph_proto::INPUT => text_of(field.span()?, value_info_proto::NAME).map(Some),
        graph_proto::INITIALIZER => text_of(field.span()?, tensor_proto::NAME).map(Some),
        graph_proto::SPARSE_INITIALIZER => sparse_name(field.span()?).map(Some),
        _ => Ok(None),
    }
}
