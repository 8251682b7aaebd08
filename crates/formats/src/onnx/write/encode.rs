//! The messages of ONNX files, encoded.

use bytes::Bytes;
use gradus_core::convert::{i64_of, u64_of};
use gradus_core::graph::{Content, DeclaredDim, Type};
use gradus_core::{Error, Kind, Result, Tensor};

use super::graph;
use crate::Splice;
use crate::onnx::fields::{
    attribute_proto, attribute_proto_attribute_type as kind, string_string_entry_proto, tensor_proto,
    tensor_proto_data_location, tensor_shape_proto, tensor_shape_proto_dimension, type_proto, type_proto_map,
    type_proto_optional, type_proto_sequence, type_proto_tensor, value_info_proto,
};
use crate::onnx::number_of;
use crate::varint::{WireType, encode_tag, encode_varint};

/// The tag and the length of a field of `len` bytes.
pub(super) fn head(out: &mut Vec<u8>, number: u32, len: usize) {
    encode_tag(out, number, WireType::LengthDelimited);
    encode_varint(out, u64_of(len));
}

impl Splice {
    /// Appends a field that holds another as its message.
    pub(super) fn message(&mut self, number: u32, content: &Splice) {
        self.write(|out| head(out, number, content.len()));
        self.append(content);
    }

    /// Appends a field whose message is what `write` appends.
    pub(super) fn message_of<R>(&mut self, number: u32, write: impl FnOnce(&mut Splice) -> R) -> R {
        let mut content = Splice::default();
        let result = write(&mut content);
        self.message(number, &content);
        result
    }
}

/// Bytes of a tensor from this length on are shared, not copied.
const SHARED: usize = 4096;

/// A field that is bytes, text or an encoded message.
pub(super) fn bytes(out: &mut Vec<u8>, number: u32, content: &[u8]) {
    head(out, number, content.len());
    out.extend_from_slice(content);
}

/// A field that is text, unless it is empty.
pub(super) fn text(out: &mut Vec<u8>, number: u32, content: &str) {
    if !content.is_empty() {
        bytes(out, number, content.as_bytes());
    }
}

/// A field that is a message.
pub(super) fn message<R>(out: &mut Vec<u8>, number: u32, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let mut content = Vec::new();
    let result = write(&mut content);
    bytes(out, number, &content);
    result
}

/// A field that is an integer.
pub(super) fn int(out: &mut Vec<u8>, number: u32, value: i64) {
    encode_tag(out, number, WireType::Varint);
    encode_varint(out, value.cast_unsigned());
}

fn float(out: &mut Vec<u8>, number: u32, value: f32) {
    encode_tag(out, number, WireType::Fixed32);
    out.extend_from_slice(&value.to_le_bytes());
}

/// `TensorProto`.
pub(super) fn tensor(out: &mut Splice, name: &str, tensor: &Tensor) {
    let shared = tensor.bytes().filter(|raw| raw.len() >= SHARED);
    out.write(|out| {
        tensor.shape().dims().iter().for_each(|&len| int(out, tensor_proto::DIMS, i64_of(len)));
        int(out, tensor_proto::DATA_TYPE, number_of(tensor.dtype()).unwrap_or(0));
        if let Ok(texts) = tensor.texts() {
            for text in texts {
                bytes(out, tensor_proto::STRING_DATA, text.as_bytes());
            }
        }
        text(out, tensor_proto::NAME, name);
        match (tensor.bytes(), shared) {
            (Some(raw), None) => bytes(out, tensor_proto::RAW_DATA, raw),
            (_, Some(raw)) => head(out, tensor_proto::RAW_DATA, raw.len()),
            (None, None) => {}
        }
    });
    if let Some(raw) = shared {
        out.share(raw.clone());
    }
}

/// A file next to a model that has elements of its constants.
pub(super) struct DataFile<'a> {
    /// Its name, by which the model finds it.
    pub(super) name: &'a str,
    /// Its content.
    pub(super) content: Splice,
}

/// Elements in a file next to the model begin at a multiple of this, as they are mapped.
const ALIGNMENT: usize = 64;

/// Elements of at least this length begin at a page.
const PAGED: usize = 1 << 16;

/// Bytes of a page.
const PAGE: usize = 1 << 12;

/// Returns true for a tensor whose elements are worth a place in another file.
pub(super) fn is_long(tensor: &Tensor) -> bool {
    tensor.bytes().is_some_and(|raw| raw.len() >= SHARED)
}

/// `TensorProto` whose elements are in a file next to the model.
pub(super) fn tensor_beside(out: &mut Splice, name: &str, tensor: &Tensor, file: &mut DataFile<'_>) {
    let Some(raw) = tensor.bytes() else { return };
    out.write(|out| {
        tensor.shape().dims().iter().for_each(|&len| int(out, tensor_proto::DIMS, i64_of(len)));
        int(out, tensor_proto::DATA_TYPE, number_of(tensor.dtype()).unwrap_or(0));
        text(out, tensor_proto::NAME, name);
    });
    elements_beside(out, raw, file);
}

/// The fields of a tensor that say where its elements are, which are appended to a file next to the
/// model.
pub(super) fn elements_beside(out: &mut Splice, raw: &Bytes, file: &mut DataFile<'_>) {
    let alignment = if raw.len() >= PAGED { PAGE } else { ALIGNMENT };
    let padding = file.content.len().next_multiple_of(alignment) - file.content.len();
    file.content.write(|out| out.resize(out.len() + padding, 0));
    let [offset, length] = [file.content.len(), raw.len()].map(|number| number.to_string());
    file.content.share(raw.clone());
    external(out, &[("location", file.name), ("offset", &offset), ("length", &length)]);
}

/// The fields of a tensor that say that its elements are elsewhere, and where.
pub(super) fn external(out: &mut Splice, entries: &[(&str, &str)]) {
    out.write(|out| {
        for (key, value) in entries {
            message(out, tensor_proto::EXTERNAL_DATA, |out| entry(out, key, value));
        }
        int(out, tensor_proto::DATA_LOCATION, tensor_proto_data_location::EXTERNAL.into());
    });
}

/// `ValueInfoProto`.
pub(super) fn value_info(out: &mut Vec<u8>, name: &str, declared: Option<&Type>) {
    text(out, value_info_proto::NAME, name);
    if let Some(declared) = declared {
        message(out, value_info_proto::TYPE, |out| type_of(out, declared));
    }
}

/// `TypeProto`.
pub(super) fn type_of(out: &mut Vec<u8>, of: &Type) {
    match of {
        Type::Tensor(dtype, sizes) => message(out, type_proto::TENSOR_TYPE, |out| {
            int(out, type_proto_tensor::ELEM_TYPE, dtype.and_then(number_of).unwrap_or(0));
            if let Some(sizes) = sizes {
                message(out, type_proto_tensor::SHAPE, |out| {
                    for size in sizes {
                        message(out, tensor_shape_proto::DIM, |out| dimension(out, size));
                    }
                });
            }
        }),
        Type::Sequence(inner) => message(out, type_proto::SEQUENCE_TYPE, |out| {
            message(out, type_proto_sequence::ELEM_TYPE, |out| type_of(out, inner));
        }),
        Type::Optional(inner) => message(out, type_proto::OPTIONAL_TYPE, |out| {
            message(out, type_proto_optional::ELEM_TYPE, |out| type_of(out, inner));
        }),
        Type::Map(key, of) => message(out, type_proto::MAP_TYPE, |out| {
            int(out, type_proto_map::KEY_TYPE, key.and_then(number_of).unwrap_or(0));
            message(out, type_proto_map::VALUE_TYPE, |out| type_of(out, of));
        }),
        Type::Other(_) => {}
    }
}

fn dimension(out: &mut Vec<u8>, size: &DeclaredDim) {
    match size {
        DeclaredDim::Known(len) => {
            int(out, tensor_shape_proto_dimension::DIM_VALUE, i64_of(*len));
        }
        DeclaredDim::Symbol(name) => text(out, tensor_shape_proto_dimension::DIM_PARAM, name),
        DeclaredDim::Between(..) | DeclaredDim::Unknown => {}
    }
}

/// `StringStringEntryProto`.
pub(super) fn entry(out: &mut Vec<u8>, key: &str, value: &str) {
    text(out, string_string_entry_proto::KEY, key);
    text(out, string_string_entry_proto::VALUE, value);
}

/// `AttributeProto`.
///
/// # Errors
/// [`Kind::Unsupported`] if it is no attribute of ONNX; whatever is wrong with a tensor that must
/// be read first.
pub(super) fn attribute(out: &mut Splice, name: &str, content: &Content) -> Result<()> {
    use attribute_proto as at;
    out.write(|out| text(out, at::NAME, name));
    let sort = match content {
        Content::Float(value) => {
            out.write(|out| float(out, at::F, *value));
            kind::FLOAT
        }
        Content::Int(value) => {
            out.write(|out| int(out, at::I, *value));
            kind::INT
        }
        Content::Bytes(value) => {
            out.write(|out| bytes(out, at::S, value));
            kind::STRING
        }
        Content::Text(value) => {
            out.write(|out| bytes(out, at::S, value.as_bytes()));
            kind::STRING
        }
        Content::Tensor(value) => {
            out.message_of(at::T, |out| graph::constant(out, "", value))?;
            kind::TENSOR
        }
        Content::Graph(value) => {
            out.message_of(at::G, |out| graph::graph(out, value, None))?;
            kind::GRAPH
        }
        Content::Type(value) => {
            out.write(|out| message(out, at::TP, |out| type_of(out, value)));
            kind::TYPE_PROTO
        }
        Content::Floats(values) => {
            out.write(|out| values.iter().for_each(|value| float(out, at::FLOATS, *value)));
            kind::FLOATS
        }
        Content::Ints(values) => {
            out.write(|out| values.iter().for_each(|value| int(out, at::INTS, *value)));
            kind::INTS
        }
        Content::Strings(values) => {
            out.write(|out| values.iter().for_each(|value| bytes(out, at::STRINGS, value)));
            kind::STRINGS
        }
        Content::Tensors(values) => {
            for value in values {
                out.message_of(at::TENSORS, |out| graph::constant(out, "", value))?;
            }
            kind::TENSORS
        }
        Content::Graphs(values) => {
            for value in values {
                out.message_of(at::GRAPHS, |out| graph::graph(out, value, None))?;
            }
            kind::GRAPHS
        }
        Content::Types(values) => {
            for value in values {
                out.write(|out| message(out, at::TYPE_PROTOS, |out| type_of(out, value)));
            }
            kind::TYPE_PROTOS
        }
        Content::Ports(_) => {
            let message = format!(
                "ONNX has no attributes like \"{name}\", which connects the ports of an OpenVINO loop"
            );
            return Err(Error::new(Kind::Unsupported, message));
        }
        Content::Parameter(parameter) => {
            out.write(|out| text(out, at::REF_ATTR_NAME, parameter));
            kind::UNDEFINED
        }
    };
    if sort != kind::UNDEFINED {
        out.write(|out| int(out, at::TYPE, sort.into()));
    }
    Ok(())
}
