//! Findings of lint.

use gradus::lint::{Finding, Lint, LintOptions};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

use crate::error::{OrRaise, engine};
use crate::given::{GivenSizes, said_of_inputs};
use crate::model::{Model, runtime_named};

/// A finding: code and name of its rule, severity, place, message.
type Row = (&'static str, &'static str, &'static str, String, String);

/// Sizes, rules, runtimes and limits of lint.
type Asked<'py> = (GivenSizes<'py>, (Vec<String>, Vec<String>), Vec<String>, (Option<u64>, Option<u64>));

/// The options of lint, and what it finds; each rule that could not be asked is a warning.
fn asked(py: Python<'_>, model: &Model, asked: Asked<'_>) -> PyResult<(LintOptions, Lint)> {
    let (sizes, rules, runtimes, limits) = asked;
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
    Ok((options, lint))
}

/// The findings of a model.
#[pyfunction]
pub(crate) fn _lint(py: Python<'_>, model: &Model, options: Asked<'_>) -> PyResult<Vec<Row>> {
    let (_, lint) = asked(py, model, options)?;
    let row = |it: Finding| (it.rule.code, it.rule.name, it.rule.severity.name(), it.place, it.message);
    Ok(lint.findings.into_iter().map(row).collect())
}

/// The model without what can be mended, if there is anything.
#[pyfunction]
pub(crate) fn _fix(py: Python<'_>, model: &Model, options: Asked<'_>) -> PyResult<Option<Model>> {
    let (options, lint) = asked(py, model, options)?;
    let fixed = engine(py, || model.model.fix(&lint, &options)).or_raise()?;
    Ok(fixed.map(|fixed| model.made(fixed.model)))
}
