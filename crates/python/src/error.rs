//! Errors, as exceptions of the package's own hierarchy.

use std::fmt::Display;

use gradus::{Error, Kind};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::signals;

/// The exception of an error: `gradus.errors` has a class for each kind. If a signal ended the
/// work, that is the exception of its handler.
pub(crate) fn raised(error: &Error) -> PyErr {
    let of_signal = signals::take();
    of_signal.unwrap_or_else(|| Python::attach(|py| exception(py, error).unwrap_or_else(|failed| failed)))
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    static RAISE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = RAISE.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("gradus.errors")?.getattr("_of_engine")?.unbind())
    })?;
    let location = error.location();
    let position = location.position.map(|_| {
        let alone =
            gradus::error::Location { position: location.position, ..gradus::error::Location::default() };
        alone.to_string()
    });
    let location = (location.file.clone(), position, location.nodes.clone());
    let fields = (error.got(), error.wanted());
    let made = make.call1(py, (error.kind().name(), error.message(), error.to_string(), location, fields))?;
    Ok(PyErr::from_value(made.into_bound(py)))
}

/// Calls the engine without the interpreter. A panic is an error, which is raised as an
/// `InternalError`: PyO3's own exception is none that `except Exception` catches.
pub(crate) fn engine<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> gradus::Result<T> + Send,
) -> gradus::Result<T> {
    signals::prepare(py);
    let result = py.detach(|| gradus::error::guarded(work));
    if signals::is_raised() {
        result.and(Err(Error::new(Kind::Limit, "a signal ended the work")))
    } else {
        result
    }
}

/// Panics, for a test.
#[pyfunction]
pub(crate) fn _panic(py: Python<'_>) -> PyResult<()> {
    engine(py, || panic!("as asked")).or_raise()
}

/// Results of the engine as results of Python.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for gradus::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| raised(&error))
    }
}

/// An error without a location, got and wanted.
pub(crate) fn error(kind: Kind, message: impl Into<String>) -> PyErr {
    raised(&Error::new(kind, message))
}

/// A copy of elements, or a `MemoryError` if the system has no room for it.
pub(crate) fn copied<T: Copy>(elements: &[T]) -> PyResult<Vec<T>> {
    let mut copy = room_for(elements.len())?;
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// An empty vector with room for `count` elements, or a `MemoryError` if the system has none: an
/// allocation that fails elsewhere ends the interpreter.
pub(crate) fn room_for<T>(count: usize) -> PyResult<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| {
        PyMemoryError::new_err(format!("cannot copy {count} elements: the system has no room for them"))
    })?;
    Ok(room)
}

/// The error `<what> is <got>, expected <wanted>`, with both as fields.
pub(crate) fn mismatch(kind: Kind, what: impl Display, got: impl Display, wanted: impl Display) -> PyErr {
    raised(&Error::mismatch(kind, what, got, wanted))
}

/// The name of an object's type, for messages.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    let of: Bound<'_, PyType> = object.get_type();
    of.name().map_or_else(|_| "an object".to_owned(), |name| name.to_string())
}
