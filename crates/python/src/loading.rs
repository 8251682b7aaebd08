//! Models from files, bytes, and objects of the `onnx` package.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use gradus::formats::InMemory;
use gradus::{Limits, OpenOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::error::{OrRaise, copied, engine, room_for};
use crate::given::GivenLimits;
use crate::model::Model;
use crate::signals;
use crate::tensor::with_bytes;

/// Options of models whose work signals end.
pub(crate) fn options() -> OpenOptions {
    OpenOptions::new().limits(signals::limits())
}

/// Limits that a model keeps, and options with those that reading obeys.
fn within(limits: GivenLimits) -> PyResult<(Limits, OpenOptions)> {
    let kept = GivenLimits(limits.0, limits.1, None).over(signals::limits())?;
    Ok((kept, OpenOptions::new().limits(limits.over(kept)?)))
}

/// Opens a model: a file of ONNX or OpenVINO IR, bytes of one, or an `onnx.ModelProto`.
#[pyfunction]
pub(crate) fn _load(py: Python<'_>, source: &Bound<'_, PyAny>, limits: GivenLimits) -> PyResult<Model> {
    let (kept, options) = within(limits)?;
    let bytes = if let Ok(bytes) = source.cast::<PyBytes>() {
        Some(bytes.clone())
    } else if source.hasattr("SerializeToString")? {
        Some(source.call_method0("SerializeToString")?.cast_into::<PyBytes>()?)
    } else {
        None
    };
    let model = match bytes {
        Some(bytes) => {
            let bytes = Bytes::from(copied(bytes.as_bytes())?);
            engine(py, || options.from_bytes(&bytes))
        }
        None => {
            let path: PathBuf = source.extract()?;
            engine(py, || options.open(path))
        }
    };
    Ok(Model::of(model.or_raise()?.with_limits(kept)))
}

/// Opens a model from the contents of its files, by name; the one that is named comes first. A
/// content is bytes, or a list of bytes and arrays, whose elements are copied once: each begins at a
/// multiple of `ALIGNMENT` bytes.
#[pyfunction]
pub(crate) fn _load_files(
    py: Python<'_>,
    name: &str,
    files: HashMap<String, Bound<'_, PyAny>>,
    limits: GivenLimits,
) -> PyResult<Model> {
    let (kept, options) = within(limits)?;
    let read = |(name, content): (String, Bound<'_, PyAny>)| {
        let bytes = match content.cast::<PyBytes>() {
            Ok(bytes) => copied(bytes.as_bytes())?,
            Err(_) => joined(content.cast::<PyList>()?)?,
        };
        PyResult::Ok((name, Bytes::from(bytes)))
    };
    let mut files = files.into_iter().map(read).collect::<PyResult<HashMap<_, _>>>()?;
    let main = files.remove(name).unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let model = engine(py, || options.with_files(&main, stem, Arc::new(InMemory(files))));
    Ok(Model::of(model.or_raise()?.with_limits(kept)))
}

/// Parts of a file that is put together begin at multiples of this, which suits all element types.
const ALIGNMENT: usize = 64;

/// The bytes of parts, each followed by zeros up to the next multiple of `ALIGNMENT`.
fn joined(parts: &Bound<'_, PyList>) -> PyResult<Vec<u8>> {
    let mut len = 0;
    for part in parts {
        len += part.getattr("nbytes").or_else(|_| part.call_method0("__len__"))?.extract::<usize>()?;
        len = len.next_multiple_of(ALIGNMENT);
    }
    let mut all = room_for(len)?;
    for part in parts {
        match part.cast::<PyBytes>() {
            Ok(bytes) => all.extend_from_slice(bytes.as_bytes()),
            Err(_) => with_bytes(&part, |bytes| all.extend_from_slice(bytes))?,
        }
        all.resize(all.len().next_multiple_of(ALIGNMENT), 0);
    }
    Ok(all)
}

/// The model as one that was read: folding changes files, and the operators of their own that
/// graphs have are no standard's.
pub(crate) fn as_read(model: gradus::Model) -> gradus::Result<gradus::Model> {
    if model.bytes().is_some() {
        return Ok(model);
    }
    model.options().from_bytes(&model.to_onnx()?)
}
