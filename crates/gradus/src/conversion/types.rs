//! Element types: which of them a standard has, and by what name.

use gradus_core::graph::{Content, Standard};
use gradus_core::{DType, Error, Kind, Result};
use gradus_formats::onnx::number_of;

use super::node::cannot;
use super::target::{Target, V};

/// The name that OpenVINO gives an element type, if it has it.
pub(super) const fn openvino_name(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Bool => "boolean",
        DType::F8E4M3FN => "f8e4m3",
        DType::String => "string",
        DType::I2
        | DType::F8E4M3FNUZ
        | DType::F8E5M2FNUZ
        | DType::F6E2M3
        | DType::F6E3M2
        | DType::C64
        | DType::C128 => return None,
        other => other.short_name(),
    })
}

/// Checks that a standard has an element type.
pub(super) fn expect(standard: Standard, dtype: DType) -> Result<()> {
    let known = match standard {
        Standard::Onnx => number_of(dtype).is_some(),
        Standard::OpenVino => openvino_name(dtype).is_some(),
        Standard::Paddle => false,
    };
    if known { Ok(()) } else { Err(Error::new(Kind::Unsupported, format!("{standard} has no {dtype}"))) }
}

/// The attribute of OpenVINO that names an element type.
pub(super) fn named(name: &'static str, dtype: DType) -> Result<(&'static str, Content)> {
    expect(Standard::OpenVino, dtype)?;
    Ok((name, Content::Text(openvino_name(dtype).unwrap_or_default().into())))
}

/// The attribute of ONNX that numbers an element type.
pub(super) fn numbered(name: &'static str, dtype: DType) -> Result<(&'static str, Content)> {
    expect(Standard::Onnx, dtype)?;
    Ok((name, Content::Int(number_of(dtype).unwrap_or_default())))
}

/// A value with the elements of another.
pub(super) fn same(target: &mut Target, value: V, dtype: Option<DType>) -> Result<V> {
    if target.standard == Standard::Onnx {
        return Ok(target.put("Identity", &[value], &[], 1)?[0]);
    }
    // Conversion to the own type, as not every program that reads the format has its Identity.
    let dtype = dtype.ok_or_else(|| cannot("the element type of a value that is passed on is not known"))?;
    Ok(target.put("Convert", &[value], &[named("destination_type", dtype)?], 1)?[0])
}
