//! Audits of runtimes.

use std::path::PathBuf;

use gradus::audit::{AuditOptions, Invariance, InvarianceCheck};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{OrRaise, engine};
use crate::given::{ComparedOutput, GivenSizes, compared, said_of_inputs};
use crate::model::Model;
use crate::runtime;

/// The words of both runs, rows before and after, elements and those that are not zero.
type Pair = (String, String, (usize, usize), (usize, usize));

/// The fields of a `gradus.InvarianceCheck`.
type Checked = (
    &'static str,
    &'static str,
    usize,
    Option<String>,
    Vec<ComparedOutput>,
    Vec<(String, String)>,
    Option<(String, String)>,
    Option<String>,
    Option<Pair>,
);

/// The invariances that a runtime keeps for a model, as a `gradus.AuditReport` has them: the
/// dimension of the batch, true if all are kept, and each.
#[pyfunction]
pub(crate) fn _audit(
    py: Python<'_>,
    model: &Model,
    runtime: &str,
    sizes: GivenSizes<'_>,
    values: &Bound<'_, PyDict>,
    only: Option<Vec<String>>,
    named: (Option<String>, Option<String>),
    numbers: (usize, usize, u64),
    save_case: Option<PathBuf>,
) -> PyResult<(Option<String>, bool, Vec<Checked>)> {
    let mut options = AuditOptions::default();
    (options.batch, options.mask) = named;
    (options.rows, options.runs, options.seed) = numbers;
    options.sizes = said_of_inputs(sizes)?;
    options.sizes.inputs.extend(model.given_facts(values)?);
    if let Some(names) = only {
        let names = names.iter().map(|name| name.parse::<Invariance>());
        options.invariances = names.collect::<gradus::Result<_>>().or_raise()?;
    }
    let runtime = runtime::find(runtime).or_raise()?;
    let audit = engine(py, || model.model.audit(&*runtime, &options)).or_raise()?;
    for check in &audit.checks {
        if let (Some(folder), Some(pair)) = (&save_case, &check.pair) {
            pair.save(&folder.join(check.invariance.name())).or_raise()?;
        }
    }
    let holds = audit.holds();
    Ok((audit.batch, holds, audit.checks.into_iter().map(checked).collect()))
}

fn checked(check: InvarianceCheck) -> Checked {
    (
        check.invariance.name(),
        check.status.name(),
        check.pairs,
        check.reason,
        check.outputs.into_iter().map(compared).collect(),
        check.uncompared,
        check.first.map(|first| (first.node, first.value)),
        check.hidden,
        check.pair.map(|pair| (pair.first, pair.second, pair.rows, pair.elements)),
    )
}
