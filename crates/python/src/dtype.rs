//! Element types: NumPy's and those of `ml_dtypes`, and ours.

use std::str::FromStr;

use gradus::{DType, DTypeSet, Kind};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::error::{error, mismatch, type_name};

/// The name of a type in `ml_dtypes`, if it is one of its types.
fn in_ml_dtypes(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::BF16 => "bfloat16",
        DType::F8E4M3FN => "float8_e4m3fn",
        DType::F8E4M3FNUZ => "float8_e4m3fnuz",
        DType::F8E5M2 => "float8_e5m2",
        DType::F8E5M2FNUZ => "float8_e5m2fnuz",
        DType::F8E8M0 => "float8_e8m0fnu",
        DType::F6E2M3 => "float6_e2m3fn",
        DType::F6E3M2 => "float6_e3m2fn",
        DType::F4E2M1 => "float4_e2m1fn",
        DType::I4 => "int4",
        DType::U4 => "uint4",
        DType::I2 => "int2",
        DType::U2 => "uint2",
        _ => return None,
    })
}

/// The type of NumPy, or of `ml_dtypes`, that has these elements.
///
/// # Errors
/// An `UnsupportedError` for the types that no array has: `uint1`, `uint3`, `uint6`, `nf4`.
pub(crate) fn descriptor(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyArrayDescr>> {
    static KNOWN: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let known = KNOWN.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    if let Some(found) = known.get_item(dtype.name())? {
        return Ok(found.cast_into()?);
    }
    let made = match (dtype, in_ml_dtypes(dtype)) {
        (DType::U1 | DType::U3 | DType::U6 | DType::NF4, _) => {
            return Err(error(Kind::Unsupported, format!("NumPy has no arrays of {dtype}")));
        }
        (DType::String, _) => PyArrayDescr::object(py),
        (_, Some(name)) => PyArrayDescr::new(py, py.import("ml_dtypes")?.getattr(name)?)?,
        _ => PyArrayDescr::new(py, dtype.name())?,
    };
    known.set_item(dtype.name(), &made)?;
    Ok(made)
}

/// The element type that an object names: a type of NumPy or of `ml_dtypes`, a type of Python, or a
/// text.
///
/// # Errors
/// A `DTypeError` if it names none, with the list of the known ones.
pub(crate) fn named(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    // Names are cached: NumPy takes a microsecond to understand one.
    static KNOWN: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    const MAX_KNOWN: usize = 256;
    let py = object.py();
    let known = KNOWN.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    let hashable = match known.get_item(object) {
        Ok(Some(index)) => return Ok(DType::ALL[index.extract::<usize>()?]),
        Ok(None) => true,
        Err(_) => false,
    };
    let dtype = understood(object)?;
    if hashable && known.len() < MAX_KNOWN {
        known.set_item(object, DType::ALL.iter().position(|&other| other == dtype))?;
    }
    Ok(dtype)
}

fn understood(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    let py = object.py();
    let text = object.cast::<PyString>().ok().map(ToString::to_string);
    let described = PyArrayDescr::new(py, object);
    if let Ok(descriptor) = &described {
        if let Some(dtype) = of_descriptor(descriptor)? {
            return Ok(dtype);
        }
    } else if let Some(dtype) = text.as_deref().and_then(|text| DType::from_str(text).ok()) {
        return Ok(dtype);
    }
    let got = text.map_or_else(
        || described.map_or_else(|_| type_name(object), |descriptor| descriptor.to_string()),
        |text| format!("\"{text}\""),
    );
    let known = DTypeSet::of(DType::ALL);
    Err(mismatch(Kind::Type, "dtype", got, format_args!("one of {known}")))
}

/// The element type of arrays of that type, if we have it; in the byte order of the machine.
pub(crate) fn of_descriptor(descriptor: &Bound<'_, PyArrayDescr>) -> PyResult<Option<DType>> {
    if descriptor.is_native_byteorder() == Some(false) {
        return Ok(None);
    }
    let name: String = descriptor.getattr("name")?.extract()?;
    let dtype = match descriptor.kind() {
        b'O' | b'U' | b'S' | b'T' => DType::String,
        _ => match DType::from_str(&name) {
            Ok(dtype) => dtype,
            Err(_) => return Ok(None),
        },
    };
    Ok(Some(dtype))
}
