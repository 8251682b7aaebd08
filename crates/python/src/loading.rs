//! Models from files, bytes, and objects of the `onnx` package.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use gradus::OpenOptions;
use gradus::formats::InMemory;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{OrRaise, copied, engine};
use crate::given::GivenLimits;
use crate::model::Model;
use crate::signals;

/// Options of models whose work signals end.
pub(crate) fn options() -> OpenOptions {
    OpenOptions::new().limits(signals::limits())
}

/// Opens a model: a file of ONNX or OpenVINO IR, bytes of one, or an `onnx.ModelProto`.
#[pyfunction]
pub(crate) fn _load(py: Python<'_>, source: &Bound<'_, PyAny>, limits: GivenLimits) -> PyResult<Model> {
    let kept = signals::limits();
    let kept = GivenLimits(limits.0, limits.1, None).over(kept)?;
    let options = OpenOptions::new().limits(limits.over(kept)?);
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

/// Opens a model from the contents of its files, by name; the one that is named first.
#[pyfunction]
pub(crate) fn _load_files(
    py: Python<'_>,
    name: &str,
    files: HashMap<String, Bound<'_, PyBytes>>,
) -> PyResult<Model> {
    let read =
        |(name, content): (String, Bound<'_, PyBytes>)| Ok((name, Bytes::from(copied(content.as_bytes())?)));
    let mut files = files.into_iter().map(read).collect::<PyResult<HashMap<_, _>>>()?;
    let main = files.remove(name).unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let model = engine(py, || options().with_files(&main, stem, Arc::new(InMemory(files))));
    Ok(Model::of(model.or_raise()?))
}

/// The model as one that was read: folding changes files, and the operators of their own that
/// graphs have are no standard's.
pub(crate) fn as_read(model: gradus::Model) -> gradus::Result<gradus::Model> {
    if model.bytes().is_some() {
        return Ok(model);
    }
    model.options().from_bytes(&model.to_onnx()?)
}
