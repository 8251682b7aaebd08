//! `TensorProto`: constants whose elements are read when they are needed.
//!
//! Elements lie in one of three places: `raw_data`, as tensors hold them; a field by type
//! (`float_data`, …); or a file next to the model (`external.rs`). Fields by type hold:
//!
//! | field | element types | each entry |
//! |---|---|---|
//! | `float_data` | float32, complex64 (two entries each) | 4 bytes |
//! | `double_data` | float64, complex128 (two entries each) | 8 bytes |
//! | `int64_data` | int64 | a varint |
//! | `uint64_data` | uint32, uint64 | a varint |
//! | `string_data` | string | UTF-8 |
//! | `int32_data` | bool, the other integers, float16, bfloat16, the 8- and 6-bit floats | a varint: one element |
//! | `int32_data` | the 4- and 2-bit types | a varint: one byte of packed elements |

use std::sync::Arc;

use bytes::Bytes;
use gradus_core::convert::{low_u8, low_u64, product, usize_of};
use gradus_core::error::Position;
use gradus_core::graph::{Constant, Stored};
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Error, Kind, Limits, Result, Shape, Tensor};

use super::external;
use super::fields::{tensor_proto, tensor_proto_data_location, tensor_proto_data_type as code};
use super::model::{ModelReader, read_entry};
use crate::files::InMemory;
use crate::wire::{ByteSpan, FixedBytes};

/// The element type that a number of the format's enumeration stands for.
pub fn dtype_of(number: i64) -> Option<DType> {
    Some(match i32::try_from(number).ok()? {
        code::FLOAT => DType::F32,
        code::UINT8 => DType::U8,
        code::INT8 => DType::I8,
        code::UINT16 => DType::U16,
        code::INT16 => DType::I16,
        code::INT32 => DType::I32,
        code::INT64 => DType::I64,
        code::STRING => DType::String,
        code::BOOL => DType::Bool,
        code::FLOAT16 => DType::F16,
        code::DOUBLE => DType::F64,
        code::UINT32 => DType::U32,
        code::UINT64 => DType::U64,
        code::COMPLEX64 => DType::C64,
        code::COMPLEX128 => DType::C128,
        code::BFLOAT16 => DType::BF16,
        code::FLOAT8E4M3FN => DType::F8E4M3FN,
        code::FLOAT8E4M3FNUZ => DType::F8E4M3FNUZ,
        code::FLOAT8E5M2 => DType::F8E5M2,
        code::FLOAT8E5M2FNUZ => DType::F8E5M2FNUZ,
        code::UINT4 => DType::U4,
        code::INT4 => DType::I4,
        code::FLOAT4E2M1 => DType::F4E2M1,
        code::FLOAT8E8M0 => DType::F8E8M0,
        code::UINT2 => DType::U2,
        code::INT2 => DType::I2,
        code::FLOAT6E2M3 => DType::F6E2M3,
        code::FLOAT6E3M2 => DType::F6E3M2,
        _ => return None,
    })
}

/// The number of the format's enumeration that stands for an element type, if there is one.
pub fn number_of(dtype: DType) -> Option<i64> {
    (1..=i64::from(code::FLOAT6E3M2)).find(|&number| dtype_of(number) == Some(dtype))
}

/// Reads a file that is one `TensorProto`.
///
/// # Errors
/// As [`super::read_model`].
pub fn read_tensor(bytes: &Bytes, limits: Limits) -> Result<Tensor> {
    let reader = ModelReader::new(Arc::new(InMemory::default()), limits);
    let (_, constant) = read(&reader, ByteSpan::of(bytes))?;
    constant.tensor()
}

/// Reads `TensorProto`: its name, and its constant.
pub(super) fn read<'a>(reader: &ModelReader, span: ByteSpan<'a>) -> Result<(&'a str, Constant)> {
    let (mut name, mut dims, mut number, mut elsewhere) = ("", Vec::new(), 0, false);
    let (mut raw, mut entries, mut segmented) = (None, Vec::new(), false);
    for field in span.fields() {
        let field = field?;
        match field.number {
            tensor_proto::NAME => name = field.text()?,
            tensor_proto::DIMS => field.push_ints(&mut dims)?,
            tensor_proto::DATA_TYPE => number = field.int()?,
            tensor_proto::RAW_DATA => raw = Some(field.span()?),
            tensor_proto::EXTERNAL_DATA => entries.push(read_entry(field.span()?)?),
            tensor_proto::DATA_LOCATION => {
                elsewhere = field.int()? == i64::from(tensor_proto_data_location::EXTERNAL);
            }
            tensor_proto::SEGMENT => segmented = true,
            _ => {}
        }
    }
    let constant = || {
        let dtype = dtype_of(number).ok_or_else(|| {
            Error::mismatch(Kind::Type, "element type", number, "a number of TensorProto.DataType")
        })?;
        let shape = Shape::from_i64(&dims)?;
        if segmented {
            return Err(Error::new(Kind::Unsupported, "cannot read a tensor in segments"));
        }
        if elsewhere {
            return external::read(reader, name, dtype, shape, &entries);
        }
        if let Some(raw) = raw {
            return Tensor::from_bytes(dtype, shape, raw.bytes())
                .map(Constant::from)
                .map_err(|e| e.at(raw.position()));
        }
        let typed =
            TypedData { dtype, shape: shape.clone(), message: span.bytes(), position: span.position() };
        Ok(Constant::stored(dtype, shape, Arc::new(typed)))
    };
    let constant = constant().map_err(|error: Error| error.in_node(label(name)).at(span.position()))?;
    Ok((name, constant))
}

/// How messages name a tensor.
pub(super) fn label(name: &str) -> String {
    format!("tensor \"{name}\"")
}

/// A tensor whose elements are entries of the field for its type.
#[derive(Debug)]
struct TypedData {
    dtype: DType,
    shape: Shape,
    message: Bytes,
    position: Position,
}

impl Stored for TypedData {
    fn load(&self) -> Result<Tensor> {
        self.read().map_err(|error| error.at(self.position))
    }
}

impl TypedData {
    fn read(&self) -> Result<Tensor> {
        let count = self.shape.len();
        let dtype = self.dtype;
        match dtype {
            DType::F32 | DType::C64 => self.fixed(tensor_proto::FLOAT_DATA, 4),
            DType::F64 | DType::C128 => self.fixed(tensor_proto::DOUBLE_DATA, 8),
            DType::String => self.texts(),
            DType::I64 => {
                Tensor::from_vec(self.shape.clone(), self.varints(tensor_proto::INT64_DATA, count)?)
            }
            DType::U32 | DType::U64 => {
                let entries = self.varints(tensor_proto::UINT64_DATA, count)?;
                self.of_low_bytes(&entries)
            }
            _ if dtype.is_packed() && dtype.bits() != 6 => {
                let bytes =
                    self.varints(tensor_proto::INT32_DATA, usize_of(low_u64(byte_len(dtype, &self.shape))))?;
                let bytes: Vec<u8> = bytes.into_iter().map(|entry| low_u8(entry.cast_unsigned())).collect();
                Tensor::from_bytes(dtype, self.shape.clone(), bytes.into())
            }
            _ if dtype.bits() <= 8 => {
                let entries = self.varints(tensor_proto::INT32_DATA, count)?;
                let codes: Vec<u8> = entries.into_iter().map(|entry| low_u8(entry.cast_unsigned())).collect();
                Tensor::from_codes(dtype, self.shape.clone(), &codes)
            }
            _ => {
                let entries = self.varints(tensor_proto::INT32_DATA, count)?;
                self.of_low_bytes(&entries)
            }
        }
    }

    /// The low bytes of each entry, as many as an element has.
    fn of_low_bytes(&self, entries: &[i64]) -> Result<Tensor> {
        let width = self.dtype.bits() / 8;
        let bytes: Vec<u8> =
            entries.iter().flat_map(|entry| entry.to_le_bytes().into_iter().take(width)).collect();
        Tensor::from_bytes(self.dtype, self.shape.clone(), bytes.into())
    }

    fn wrong_count(&self, count: usize, wanted: usize) -> Error {
        let (dtype, shape) = (self.dtype, &self.shape);
        let what = format!("the number of entries of {dtype}{shape}");
        Error::mismatch(Kind::Syntax, what, count, wanted)
    }

    fn varints(&self, number: u32, wanted: usize) -> Result<Vec<i64>> {
        let mut entries = Vec::new();
        for field in ByteSpan::of(&self.message).fields() {
            let field = field?;
            if field.number == number {
                field.push_ints(&mut entries)?;
            }
        }
        if entries.len() != wanted {
            return Err(self.wrong_count(entries.len(), wanted));
        }
        Ok(entries)
    }

    /// Elements of a fixed width: in place if they are in one piece.
    fn fixed(&self, number: u32, width: usize) -> Result<Tensor> {
        let wanted = byte_len(self.dtype, &self.shape);
        let mut gathered = Vec::new();
        for field in ByteSpan::of(&self.message).fields() {
            let field = field?;
            if field.number != number {
                continue;
            }
            let entries = field.fixed_bytes(width)?;
            if let FixedBytes::Packed(span) = entries
                && product(span.len(), 1) == wanted
                && gathered.is_empty()
            {
                return Tensor::from_bytes(self.dtype, self.shape.clone(), span.bytes());
            }
            gathered.extend_from_slice(entries.as_slice());
        }
        if product(gathered.len(), 1) != wanted {
            return Err(self.wrong_count(gathered.len() / width, usize_of(low_u64(wanted)) / width));
        }
        Tensor::from_bytes(self.dtype, self.shape.clone(), gathered.into())
    }

    fn texts(&self) -> Result<Tensor> {
        let mut texts: Vec<Box<str>> = Vec::new();
        for field in ByteSpan::of(&self.message).fields() {
            let field = field?;
            if field.number == tensor_proto::STRING_DATA {
                texts.push(field.text()?.into());
            }
        }
        if texts.len() != self.shape.len() {
            return Err(self.wrong_count(texts.len(), self.shape.len()));
        }
        Tensor::from_text(self.shape.clone(), texts)
    }
}
