//! Messages that are written again with some of their fields changed, however deep these lie.

use gradus_core::Result;

use crate::Splice;
use crate::onnx::fields::{
    attribute_proto, function_proto, graph_proto, model_proto, node_proto, sparse_tensor_proto, tensor_proto,
    training_info_proto,
};
use crate::wire::{ByteSpan, Field};

/// Messages of a model's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    Model,
    Training,
    Graph,
    Function,
    Node,
    Attribute,
    ValueInfo,
    Sparse,
    Tensor,
    /// An entry of a tensor's external data.
    Entry,
}

impl Message {
    /// The message that a field of this one holds.
    pub(super) fn within(self, number: u32) -> Option<Message> {
        Some(match (self, number) {
            (Message::Model, model_proto::GRAPH)
            | (Message::Training, training_info_proto::INITIALIZATION | training_info_proto::ALGORITHM)
            | (Message::Attribute, attribute_proto::G | attribute_proto::GRAPHS) => Message::Graph,
            (Message::Model, model_proto::FUNCTIONS) => Message::Function,
            (Message::Model, model_proto::TRAINING_INFO) => Message::Training,
            (Message::Graph, graph_proto::NODE) | (Message::Function, function_proto::NODE) => Message::Node,
            (Message::Graph, graph_proto::INPUT | graph_proto::OUTPUT | graph_proto::VALUE_INFO)
            | (Message::Function, function_proto::VALUE_INFO) => Message::ValueInfo,
            (Message::Graph, graph_proto::INITIALIZER)
            | (Message::Attribute, attribute_proto::T | attribute_proto::TENSORS)
            | (Message::Sparse, sparse_tensor_proto::VALUES | sparse_tensor_proto::INDICES) => {
                Message::Tensor
            }
            (Message::Graph, graph_proto::SPARSE_INITIALIZER)
            | (Message::Attribute, attribute_proto::SPARSE_TENSOR | attribute_proto::SPARSE_TENSORS) => {
                Message::Sparse
            }
            (Message::Node, node_proto::ATTRIBUTE) | (Message::Function, function_proto::ATTRIBUTE_PROTO) => {
                Message::Attribute
            }
            (Message::Tensor, tensor_proto::EXTERNAL_DATA) => Message::Entry,
            _ => return None,
        })
    }
}

/// The change of a field of a message.
pub(super) enum Change {
    /// The field goes.
    Dropped,
    /// The field holds another message.
    Message(Splice),
}

/// A message with changed fields; nothing if none changes. Fields that `change` says nothing of are
/// gone through in turn, if they hold a message.
pub(super) fn rewritten(
    span: ByteSpan<'_>,
    message: Message,
    change: &mut impl FnMut(Message, &Field<'_>) -> Result<Option<Change>>,
) -> Result<Option<Splice>> {
    let mut out = Splice::default();
    let (mut end, mut same) = (span.range().start, true);
    for field in span.fields() {
        let field = field?;
        let changed = match (change(message, &field)?, message.within(field.number)) {
            (Some(change), _) => change,
            (None, Some(within)) => match rewritten(field.span()?, within, change)? {
                Some(inner) => Change::Message(inner),
                None => continue,
            },
            (None, None) => continue,
        };
        same = false;
        out.copy(end..field.start);
        end = field.end;
        if let Change::Message(content) = changed {
            out.message(field.number, &content);
        }
    }
    if same {
        return Ok(None);
    }
    out.copy(end..span.range().end);
    Ok(Some(out))
}
