//! Files next to a model that hold elements of its tensors: which they are, and other names for
//! them.

use std::collections::BTreeSet;

use bytes::Bytes;
use gradus_core::Result;

use super::encode;
use super::text_of;
use crate::Splice;
use crate::onnx::fields::{
    attribute_proto, function_proto, graph_proto, model_proto, node_proto, sparse_tensor_proto,
    string_string_entry_proto, tensor_proto, training_info_proto,
};
use crate::wire::ByteSpan;

/// The files next to the model that hold elements of its tensors, each once, in order.
///
/// # Errors
/// As [`super::super::read_model`].
pub fn external_files(bytes: &Bytes) -> Result<Vec<String>> {
    let mut found = BTreeSet::new();
    renamed(ByteSpan::of(bytes), Message::Model, &mut |location| {
        found.insert(location.to_owned());
        None
    })?;
    Ok(found.into_iter().collect())
}

/// The model with other names of the files next to it, for those that `name` gives one.
///
/// # Errors
/// As [`super::super::read_model`].
pub fn rename_external_files(bytes: &Bytes, name: impl Fn(&str) -> Option<String>) -> Result<Splice> {
    let renamed = renamed(ByteSpan::of(bytes), Message::Model, &mut |location| name(location))?;
    Ok(renamed.unwrap_or_else(|| Splice::whole(bytes.len())))
}

/// Messages that hold tensors.
#[derive(Clone, Copy)]
enum Message {
    Model,
    Training,
    Graph,
    Function,
    Node,
    Attribute,
    Sparse,
    Tensor,
    /// An entry of a tensor's external data.
    Entry,
}

impl Message {
    /// The message that a field of this one holds, if tensors are in it.
    fn within(self, number: u32) -> Option<Message> {
        Some(match (self, number) {
            (Message::Model, model_proto::GRAPH)
            | (Message::Training, training_info_proto::INITIALIZATION | training_info_proto::ALGORITHM)
            | (Message::Attribute, attribute_proto::G | attribute_proto::GRAPHS) => Message::Graph,
            (Message::Model, model_proto::FUNCTIONS) => Message::Function,
            (Message::Model, model_proto::TRAINING_INFO) => Message::Training,
            (Message::Graph, graph_proto::NODE) | (Message::Function, function_proto::NODE) => Message::Node,
            (Message::Graph, graph_proto::INITIALIZER)
            | (Message::Attribute, attribute_proto::T | attribute_proto::TENSORS)
            | (Message::Sparse, sparse_tensor_proto::VALUES | sparse_tensor_proto::INDICES) => {
                Message::Tensor
            }
            (Message::Graph, graph_proto::SPARSE_INITIALIZER)
            | (Message::Attribute, attribute_proto::SPARSE_TENSOR | attribute_proto::SPARSE_TENSORS) => {
                Message::Sparse
            }
            (Message::Node, node_proto::ATTRIBUTE) => Message::Attribute,
            (Message::Tensor, tensor_proto::EXTERNAL_DATA) => Message::Entry,
            _ => return None,
        })
    }
}

/// A message with other names, if one of its files gets one.
fn renamed(
    span: ByteSpan<'_>,
    message: Message,
    name: &mut impl FnMut(&str) -> Option<String>,
) -> Result<Option<Splice>> {
    if let Message::Entry = message {
        if text_of(span, string_string_entry_proto::KEY)? != "location" {
            return Ok(None);
        }
        let name = name(text_of(span, string_string_entry_proto::VALUE)?);
        return Ok(name.map(|name| {
            let mut entry = Splice::default();
            entry.write(|out| encode::entry(out, "location", &name));
            entry
        }));
    }
    let mut out = Splice::default();
    let mut end = span.range().start;
    for field in span.fields() {
        let field = field?;
        let Some(within) = message.within(field.number) else { continue };
        if let Some(inner) = renamed(field.span()?, within, name)? {
            out.copy(end..field.start);
            out.message(field.number, &inner);
            end = field.end;
        }
    }
    if out.is_empty() {
        return Ok(None);
    }
    out.copy(end..span.range().end);
    Ok(Some(out))
}
