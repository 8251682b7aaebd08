//! Findings of lint.

use gradus::lint::{Finding, LintOptions};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

use crate::error::{OrRaise, engine};
use crate::given::{GivenSizes, said_of_inputs};
use crate::model::{Model, runtime_named};

/// A finding: code and name of its rule, severity, place, message.
type Row = (&'static str, &'static str, &'static str, String, String);

/// The findings of a model; each rule that could not be asked is a warning.
#[pyfunction]
pub(crate) fn _lint(
    py: Python<'_>,
    model: &Model,
    sizes: GivenSizes<'_>,
    rules: (Vec<String>, Vec<String>),
    runtimes: Vec<String>,
    limits: (Option<u64>, Option<u64>),
) -> PyResult<Vec<Row>> {
    let mut options = LintOptions::default();
    options.sizes = said_of_inputs(sizes)?;
    (options.select, options.ignore) = rules;
    options.runtimes = runtimes.iter().map(|name| runtime_named(name)).collect::<PyResult<_>>()?;
    (options.max_peak, options.max_parameters) = limits;
    let lint = engine(py, || model.model.lint(&options)).or_raise()?;
    for (rule, reason) in &lint.unasked {
        let text = std::ffi::CString::new(format!("rule {} was not asked: {reason}", rule.code))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
    }
    let row = |it: Finding| (it.rule.code, it.rule.name, it.rule.severity.name(), it.place, it.message);
    Ok(lint.findings.into_iter().map(row).collect())
}
