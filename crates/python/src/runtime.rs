//! Programs of Python that run models, such as ONNX Runtime.

use std::path::Path;

use gradus::check::{CommandRuntime, GradusRuntime, Runtime, RuntimeSettings};
use gradus::{Error, Kind, Limits, Result, Value};
use gradus_cli::Host;
use pyo3::exceptions::PyModuleNotFoundError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::OrRaise;
use crate::tensor::{value_from_python, value_to_python};

/// An object of `gradus._runtimes`, or one like it.
struct PythonRuntime {
    name: String,
    object: Py<PyAny>,
    reads_file: bool,
}

/// The runtime of a name or a command line, or an object that is none.
pub(crate) fn given(runtime: &Bound<'_, PyAny>) -> PyResult<Box<dyn Runtime>> {
    if let Ok(name) = runtime.extract::<String>() {
        return find(&name).or_raise();
    }
    let name = runtime.get_type().name()?.to_string();
    let reads_file = runtime.getattr_opt("reads_file")?.map_or(Ok(true), |it| it.extract())?;
    Ok(Box::new(PythonRuntime { name, object: runtime.clone().unbind(), reads_file }))
}

/// The parts of commands that the package has.
pub(crate) const HOST: Host = Host { runtime: find, serve };

/// Answers by the server of `gradus.mcp`.
fn serve(root: &Path, out: Option<&Path>, timeout: f64) -> Result<()> {
    let served = Python::attach(|py| {
        let server = py.import("gradus.mcp")?.getattr("server")?;
        let options = PyDict::new(py);
        options.set_item("timeout", timeout)?;
        server.call((root, out), Some(&options))?.call_method0("run").map(drop)
    });
    served.map_err(|error| {
        let is_missing = Python::attach(|py| error.is_instance_of::<PyModuleNotFoundError>(py));
        let hint = if is_missing { "; `pip install 'gradus[mcp]'` installs it" } else { "" };
        Error::new(Kind::Unsupported, format!("cannot serve: {error}{hint}"))
    })
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
        Ok(PythonRuntime { name: name.to_owned(), object, reads_file: true })
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
        Ok(Box::new(PythonRuntime { name: self.name.clone(), reads_file: self.reads_file, object }))
    }

    fn processors(&self) -> Result<Vec<String>> {
        self.call(|_, object| object.call_method0("processors")?.extract())
    }

    fn reads_file(&self) -> bool {
        self.reads_file
    }
}

/// The error that an exception of a runtime stands for.
fn refusal(name: &str, error: &PyErr) -> Error {
    let message = Python::attach(|py| error.value(py).to_string());
    Error::new(Kind::Unsupported, format!("{name}: {}", message.trim()))
}
