//! Models without their documentation.

use bytes::Bytes;
use gradus_core::Result;

use super::walk::{Change, Message, rewritten};
use crate::Splice;
use crate::onnx::fields::{
    attribute_proto, function_proto, graph_proto, model_proto, node_proto, tensor_proto, value_info_proto,
};
use crate::wire::ByteSpan;

/// The model without the texts that document its parts, and without the properties of nodes,
/// values, graphs and functions, in which exporters write where they come from. Properties of the
/// model itself stay. Returns the number of the texts and properties that go.
///
/// # Errors
/// As [`super::super::read_model`].
pub fn without_docs(bytes: &Bytes) -> Result<(Splice, usize)> {
    let mut count = 0;
    let shorter = rewritten(ByteSpan::of(bytes), Message::Model, &mut |message, field| {
        if !is_doc(message, field.number) {
            return Ok(None);
        }
        count += 1;
        Ok(Some(Change::Dropped))
    })?;
    Ok((shorter.unwrap_or_else(|| Splice::whole(bytes.len())), count))
}

/// Returns true if a field documents its message.
fn is_doc(message: Message, number: u32) -> bool {
    match message {
        Message::Model => number == model_proto::DOC_STRING,
        Message::Graph => [graph_proto::DOC_STRING, graph_proto::METADATA_PROPS].contains(&number),
        Message::Function => [function_proto::DOC_STRING, function_proto::METADATA_PROPS].contains(&number),
        Message::Node => [node_proto::DOC_STRING, node_proto::METADATA_PROPS].contains(&number),
        Message::ValueInfo => {
            [value_info_proto::DOC_STRING, value_info_proto::METADATA_PROPS].contains(&number)
        }
        Message::Attribute => number == attribute_proto::DOC_STRING,
        Message::Tensor => [tensor_proto::DOC_STRING, tensor_proto::METADATA_PROPS].contains(&number),
        Message::Training | Message::Sparse | Message::Entry => false,
    }
}
