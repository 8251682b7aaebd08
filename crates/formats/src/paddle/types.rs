//! Types of values and of elements.

use gradus_core::convert::usize_of_i64;
use gradus_core::graph::{DeclaredDim, Type};
use gradus_core::{DType, Error, Kind, Result};

use super::fields::var_type_type as code;
use super::json::{JsonText, Raw, Tagged};

/// The type of a PIR value, or of each tensor of a list.
pub(super) enum TypedValue {
    One(Option<Type>),
    List(Vec<Option<Type>>),
}

/// The sizes that a list of numbers declares: -1 is any.
pub(super) fn sizes(dims: &[i64]) -> Vec<DeclaredDim> {
    dims.iter().map(|&dim| usize_of_i64(dim).map_or(DeclaredDim::Unknown, DeclaredDim::Known)).collect()
}

/// An array of tensors of that type. What is declared of their shapes is that of some of them.
pub(super) fn array_of(dtype: Option<DType>) -> Type {
    Type::Sequence(Box::new(Type::Tensor(dtype, None)))
}

/// Reads the type of a value.
pub(super) fn read(text: JsonText<'_>, raw: Option<Raw<'_>>) -> Result<TypedValue> {
    let Some(raw) = raw else { return Ok(TypedValue::One(None)) };
    let tagged: Tagged<'_> = text.read(raw, "a type")?;
    if tagged.tag == "0.t_vec" {
        let items: Vec<Raw<'_>> =
            tagged.data.map_or(Ok(Vec::new()), |data| text.read(data, "a list of types"))?;
        let each = |raw| {
            let inner: Tagged<'_> = text.read(raw, "a type")?;
            one(text, &inner)
        };
        return Ok(TypedValue::List(items.into_iter().map(each).collect::<Result<_>>()?));
    }
    Ok(TypedValue::One(one(text, &tagged)?))
}

fn one(text: JsonText<'_>, tagged: &Tagged<'_>) -> Result<Option<Type>> {
    match (&*tagged.tag, tagged.data) {
        ("NULL", _) => Ok(None),
        ("0.t_dtensor" | "1.t_dense_tensor_array", Some(data)) => {
            let parts: Vec<Raw<'_>> = text.read(data, "the parts of a tensor's type")?;
            let (Some(&element), Some(&dims)) = (parts.first(), parts.get(1)) else {
                let message = "a tensor's type has no element type or no shape";
                return Err(Error::new(Kind::Syntax, message).at(text.position(data)));
            };
            let element: Tagged<'_> = text.read(element, "an element type")?;
            let dims: Vec<i64> = text.read(dims, "a shape")?;
            let dtype = element_type(&element.tag);
            Ok(Some(if tagged.tag == "0.t_dtensor" {
                Type::Tensor(dtype, Some(sizes(&dims)))
            } else {
                array_of(dtype)
            }))
        }
        (other, _) => Ok(Some(Type::Other(other.split_once('.').map_or(other, |(_, name)| name).into()))),
    }
}

/// The element type that a tag such as `0.t_f32` names, if it is one of a tensor's.
fn element_type(tag: &str) -> Option<DType> {
    match tag.split_once(".t_")?.1 {
        "ui8" => Some(DType::U8),
        "ui16" => Some(DType::U16),
        "ui32" => Some(DType::U32),
        "ui64" => Some(DType::U64),
        name => name.parse().ok(),
    }
}

/// The element type that a number of the protobuf enumeration stands for.
pub(super) fn dtype_of(number: i64) -> Option<DType> {
    Some(match number {
        code::BOOL => DType::Bool,
        code::INT16 => DType::I16,
        code::INT32 => DType::I32,
        code::INT64 => DType::I64,
        code::FP16 => DType::F16,
        code::FP32 => DType::F32,
        code::FP64 => DType::F64,
        code::UINT8 => DType::U8,
        code::INT8 => DType::I8,
        code::BF16 => DType::BF16,
        code::COMPLEX64 => DType::C64,
        code::COMPLEX128 => DType::C128,
        code::FP8_E4M3FN => DType::F8E4M3FN,
        code::FP8_E5M2 => DType::F8E5M2,
        code::UINT16 => DType::U16,
        code::UINT32 => DType::U32,
        code::UINT64 => DType::U64,
        _ => return None,
    })
}
