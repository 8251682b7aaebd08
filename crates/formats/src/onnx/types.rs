//! `TypeProto`.

use gradus_core::convert::usize_of_i64;
use gradus_core::graph::{DeclaredDim, Type};
use gradus_core::{DType, Kind, Result};

use super::fields::{
    tensor_shape_proto, tensor_shape_proto_dimension, type_proto, type_proto_map, type_proto_optional,
    type_proto_sequence, type_proto_tensor,
};
use super::tensor::dtype_of;
use crate::wire::{ByteSpan, Field};

/// Levels of sequences and optionals that are read.
const DEPTH: usize = 8;

/// Reads `TypeProto`; nothing if it says nothing.
pub(super) fn read(span: ByteSpan<'_>, depth: usize) -> Result<Option<Type>> {
    if depth > DEPTH {
        return Err(span.error(Kind::Limit, format!("types are nested more than {DEPTH} deep")));
    }
    let mut declared = None;
    for field in span.fields() {
        let field = field?;
        declared = Some(match field.number {
            type_proto::TENSOR_TYPE => read_tensor(field.span()?)?,
            type_proto::SEQUENCE_TYPE => {
                Type::Sequence(read_inner(field.span()?, type_proto_sequence::ELEM_TYPE, depth)?)
            }
            type_proto::OPTIONAL_TYPE => {
                Type::Optional(read_inner(field.span()?, type_proto_optional::ELEM_TYPE, depth)?)
            }
            type_proto::MAP_TYPE => read_map(field.span()?, depth)?,
            type_proto::SPARSE_TENSOR_TYPE => Type::Other("sparse tensor".into()),
            type_proto::OPAQUE_TYPE => Type::Other("opaque".into()),
            _ => continue,
        });
    }
    Ok(declared)
}

fn read_inner(span: ByteSpan<'_>, number: u32, depth: usize) -> Result<Box<Type>> {
    let mut inner = Type::Tensor(None, None);
    for field in span.fields() {
        let field = field?;
        if field.number == number {
            inner = read(field.span()?, depth + 1)?.unwrap_or(inner);
        }
    }
    Ok(Box::new(inner))
}

fn read_map(span: ByteSpan<'_>, depth: usize) -> Result<Type> {
    let mut key = None;
    for field in span.fields() {
        let field = field?;
        if field.number == type_proto_map::KEY_TYPE {
            key = read_dtype(span, &field)?;
        }
    }
    Ok(Type::Map(key, read_inner(span, type_proto_map::VALUE_TYPE, depth)?))
}

fn read_tensor(span: ByteSpan<'_>) -> Result<Type> {
    let (mut dtype, mut sizes) = (None, None);
    for field in span.fields() {
        let field = field?;
        match field.number {
            type_proto_tensor::ELEM_TYPE => dtype = read_dtype(span, &field)?,
            type_proto_tensor::SHAPE => sizes = Some(read_shape(field.span()?)?),
            _ => {}
        }
    }
    Ok(Type::Tensor(dtype, sizes))
}

fn read_dtype(span: ByteSpan<'_>, field: &Field<'_>) -> Result<Option<DType>> {
    match field.int()? {
        0 => Ok(None),
        code => dtype_of(code).map(Some).ok_or_else(|| {
            span.error(
                Kind::Type,
                format!("element type is {code}, expected a number of TensorProto.DataType"),
            )
        }),
    }
}

fn read_shape(span: ByteSpan<'_>) -> Result<Vec<DeclaredDim>> {
    let mut sizes = Vec::new();
    for field in span.fields() {
        let field = field?;
        if field.number == tensor_shape_proto::DIM {
            sizes.push(read_dim(field.span()?)?);
        }
    }
    Ok(sizes)
}

/// Longest name of a dimension, in bytes. It may be in the type of every value that follows from
/// it.
const LONGEST_NAME: usize = 1 << 10;

/// Returns true if a name says only that nothing is known, as exporters write it at each place for a
/// size of its own: no letter or digit (`?`), a negative number, `None`; or if it is too long for a
/// name.
fn is_no_name(name: &str) -> bool {
    const WORDS: [&str; 4] = ["none", "null", "unk", "unknown"];
    let text = name.trim();
    name.len() > LONGEST_NAME
        || !text.contains(char::is_alphanumeric)
        || text.parse::<i64>().is_ok_and(|number| number < 0)
        || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// A negative number, which some exporters write, says nothing.
fn read_dim(span: ByteSpan<'_>) -> Result<DeclaredDim> {
    let mut size = DeclaredDim::Unknown;
    for field in span.fields() {
        let field = field?;
        match field.number {
            tensor_shape_proto_dimension::DIM_VALUE => {
                size = usize_of_i64(field.int()?).map_or(DeclaredDim::Unknown, DeclaredDim::Known);
            }
            tensor_shape_proto_dimension::DIM_PARAM => {
                let name = field.text()?;
                size = if is_no_name(name) { DeclaredDim::Unknown } else { DeclaredDim::Symbol(name.into()) };
            }
            _ => {}
        }
    }
    Ok(size)
}
