//! Programs of Python that run models, such as ONNX Runtime.

use std::path::Path;

use gradus::check::{CommandRuntime, GradusRuntime, Runtime, RuntimeSettings};
use gradus::{Error, Kind, Limits, Result, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::tensor::{value_from_python, value_to_python};

/// An object of `gradus._runtimes`.
struct PythonRuntime {
    name: String,
    object: Py<PyAny>,
}

/// The runtime of a name, or of a command line.
pub(crate) fn find(name: &str) -> Result<Box<dyn Runtime>> {
    if let Some(command) = name.strip_prefix(CommandRuntime::PREFIX) {
        return Ok(Box::new(CommandRuntime::new(command, Limits::default())?));
    }
    if name == GradusRuntime::NAME {
        return Ok(Box::new(GradusRuntime::default()));
    }
    let runtime = Python::attach(|py| {
        let object = py.import("gradus._runtimes")?.call_method1("find", (name,))?.unbind();
        Ok(PythonRuntime { name: name.to_owned(), object })
    });
    Ok(Box::new(runtime.map_err(|error| refusal(name, &error))?))
}

impl PythonRuntime {
    /// The result of a method of the object.
    fn call<T>(
        &self,
        method: impl for<'py> FnOnce(Python<'py>, &Bound<'py, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        Python::attach(|py| method(py, self.object.bind(py))).map_err(|error| refusal(&self.name, &error))
    }
}

impl Runtime for PythonRuntime {
    fn run(&self, model: &Path, inputs: &[(String, Value)], values: &[&str]) -> Result<Vec<Option<Value>>> {
        self.call(|py, object| {
            let given = PyDict::new(py);
            for (name, value) in inputs {
                given.set_item(name, value_to_python(py, value)?)?;
            }
            let found = object.call_method1("run", (model, given, values.to_vec()))?;
            let value = |each: Bound<'_, PyAny>| {
                let shown = !each.is_none();
                shown.then(|| value_from_python(&each, true)).transpose()
            };
            found.cast_into::<PyList>()?.iter().map(value).collect::<PyResult<_>>()
        })
    }

    fn anew(&self, settings: &RuntimeSettings) -> Result<Box<dyn Runtime>> {
        let RuntimeSettings { threads, plain, processor, .. } = settings;
        let object =
            self.call(|_, object| Ok(object.call_method1("anew", (threads, plain, processor))?.unbind()))?;
        Ok(Box::new(PythonRuntime { name: self.name.clone(), object }))
    }

    fn processors(&self) -> Result<Vec<String>> {
        self.call(|_, object| object.call_method0("processors")?.extract())
    }
}

/// The error that an exception of a runtime stands for.
fn refusal(name: &str, error: &PyErr) -> Error {
    let message = Python::attach(|py| error.value(py).to_string());
    Error::new(Kind::Unsupported, format!("{name}: {}", message.trim()))
}
