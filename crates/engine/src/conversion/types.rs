//! Element types: which of them a standard has, and by what name.

use gradus_core::convert::{Rules, cast, usize_of_i64};
use gradus_core::graph::{Content, DeclaredDim, Standard, Type};
use gradus_core::{DType, Error, Kind, Result, Tensor};
use gradus_formats::onnx::number_of;
use gradus_formats::openvino::element_type;

use crate::fact::Fact;

/// Checks that a standard has an element type.
pub fn expect(standard: Standard, dtype: DType) -> Result<()> {
    let known = match standard {
        Standard::Onnx => number_of(dtype).is_some(),
        Standard::OpenVino => element_type(dtype).is_some(),
        Standard::Paddle => false,
    };
    if known {
        Ok(())
    } else {
        Err(Error::mismatch(
            Kind::Unsupported,
            "element type",
            dtype,
            format_args!("one that {standard} has"),
        ))
    }
}

/// The largest number of a type of 8-bit floats for which conversions of OpenVINO give NaN or
/// infinity for larger ones.
pub fn largest_float8(dtype: DType) -> Option<f64> {
    match dtype {
        DType::F8E4M3FN => Some(448.0),
        DType::F8E5M2 => Some(57344.0),
        _ => None,
    }
}

/// The attribute of OpenVINO that names an element type.
pub fn named(name: &'static str, dtype: DType) -> Result<(&'static str, Content)> {
    expect(Standard::OpenVino, dtype)?;
    Ok((name, Content::Text(element_type(dtype).unwrap_or_default().into())))
}

/// The attribute of ONNX that numbers an element type.
pub fn numbered(name: &'static str, dtype: DType) -> Result<(&'static str, Content)> {
    expect(Standard::Onnx, dtype)?;
    Ok((name, Content::Int(number_of(dtype).unwrap_or_default())))
}

/// The elements of a tensor in another type; `None` if that type does not hold them all.
pub fn exactly(tensor: &Tensor, to: DType) -> Result<Option<Tensor>> {
    let other = cast(tensor, to, Rules::IEEE)?;
    let same = cast(&other, tensor.dtype(), Rules::IEEE)?.bytes() == tensor.bytes();
    Ok(same.then_some(other))
}

/// The type of a tensor, with those of its dimensions that are known.
pub fn declared(fact: &Fact) -> Option<Type> {
    let fact = fact.as_tensor()?;
    let size = |dim: &crate::dim::Dim| {
        dim.known().and_then(usize_of_i64).map_or(DeclaredDim::Unknown, DeclaredDim::Known)
    };
    Some(Type::Tensor(fact.dtype, fact.dims.as_ref().map(|dims| dims.iter().map(size).collect())))
}
