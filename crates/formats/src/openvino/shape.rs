//! Element types and shapes as the IR writes them.

use gradus_core::DType;
use gradus_core::convert::usize_of_i64;
use gradus_core::graph::{DeclaredDim, Type};

/// The type of a tensor, from an `element_type` and a `shape`: `2,?,1..10,..5,3..,-1`, or `...` for
/// any rank.
///
/// Nothing if the shape is not one. An element type that is not known is left open.
pub(super) fn tensor_type(element_type: Option<&str>, shape: &str) -> Option<Type> {
    let dtype = element_type.and_then(|text| text.parse().ok());
    let sizes = match shape.trim() {
        "..." => None,
        "" => Some(Vec::new()),
        list => Some(list.split(',').map(|part| size(part.trim())).collect::<Option<Vec<_>>>()?),
    };
    Some(Type::Tensor(dtype, sizes))
}

/// The sizes of a shape as the IR writes it; nothing if it is not one.
pub fn shape(text: &str) -> Option<Type> {
    tensor_type(None, text)
}

/// One size, whose numbers are below 2^63.
pub(super) fn size(text: &str) -> Option<DeclaredDim> {
    if matches!(text, "?" | "-1") {
        return Some(DeclaredDim::Unknown);
    }
    let number = |text: &str| text.parse().ok().and_then(usize_of_i64);
    match text.split_once("..") {
        None => number(text).map(DeclaredDim::Known),
        Some((least, most)) => {
            let least = if least.is_empty() { 0 } else { number(least)? };
            let most = if most.is_empty() { None } else { Some(number(most)?) };
            (most.is_none_or(|most| least <= most)).then_some(DeclaredDim::Between(least, most))
        }
    }
}

/// The name of an element type in a `<data>`; nothing if OpenVINO has no such type.
pub fn element_type(dtype: DType) -> Option<&'static str> {
    match dtype {
        DType::Bool => Some("boolean"),
        DType::String => Some("string"),
        DType::F8E4M3FN => Some("f8e4m3"),
        DType::I2
        | DType::F8E4M3FNUZ
        | DType::F8E5M2FNUZ
        | DType::F6E2M3
        | DType::F6E3M2
        | DType::C64
        | DType::C128 => None,
        other => Some(other.short_name()),
    }
}

/// The name of an element type at a port.
pub(super) fn precision(dtype: Option<DType>) -> String {
    match dtype {
        Some(DType::Bool) => "BOOL".to_owned(),
        Some(DType::U1) => "BIN".to_owned(),
        Some(DType::F16) => "FP16".to_owned(),
        Some(DType::F32) => "FP32".to_owned(),
        Some(DType::F64) => "FP64".to_owned(),
        other => other.and_then(element_type).unwrap_or("unspecified").to_uppercase(),
    }
}

/// A shape in the form that [`shape`] reads; `...` for any rank.
pub fn shape_text(sizes: Option<&[DeclaredDim]>) -> String {
    let text = |size: &DeclaredDim| match size {
        DeclaredDim::Known(len) => len.to_string(),
        DeclaredDim::Between(least, None) => format!("{least}.."),
        DeclaredDim::Between(least, Some(most)) => format!("{least}..{most}"),
        DeclaredDim::Symbol(_) | DeclaredDim::Unknown => "?".to_owned(),
    };
    match sizes {
        None => "...".to_owned(),
        Some(sizes) => sizes.iter().map(text).collect::<Vec<_>>().join(","),
    }
}

/// A size as a port has it: -1 if it is not one number.
pub(super) fn dim_text(size: &DeclaredDim) -> String {
    if let DeclaredDim::Known(len) = size { len.to_string() } else { "-1".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_every_form() {
        let read = |text: &str| tensor_type(Some("f32"), text).map(|declared| declared.to_string());
        assert_eq!(read("").as_deref(), Some("float32[]"));
        assert_eq!(read("2,?, 1..10,..5,3..,-1").as_deref(), Some("float32[2, ?, 1..10, 0..5, 3.., ?]"));
        assert_eq!(read("...").as_deref(), Some("float32[...]"));
        for wrong in ["2,", "x", "-2", "5..3", "9223372036854775808", "1..9223372036854775808"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
