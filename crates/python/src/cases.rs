//! Test cases of operators.

use gradus::Tensor;
use gradus::cases::{Cases, CasesOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{OrRaise, engine};
use crate::model::Model;
use crate::tensor::to_python;

/// A case: its name, model, inputs and outputs.
type Made<'py> = (String, Model, Bound<'py, PyDict>, Bound<'py, PyDict>);

fn arrays<'py>(py: Python<'py>, tensors: &[(String, Tensor)]) -> PyResult<Bound<'py, PyDict>> {
    let arrays = PyDict::new(py);
    for (name, tensor) in tensors {
        arrays.set_item(name, to_python(py, tensor)?)?;
    }
    Ok(arrays)
}

/// The test cases of an operator.
#[pyfunction]
pub(crate) fn _cases<'py>(
    py: Python<'py>,
    operator: &str,
    count: usize,
    seed: u64,
    opset: Option<i64>,
) -> PyResult<Vec<Made<'py>>> {
    let mut options = CasesOptions::default();
    (options.count, options.seed, options.opset) = (count, seed, opset);
    let cases = Cases::new(operator, &options).or_raise()?;
    let cases = engine(py, || cases.collect::<gradus::Result<Vec<_>>>()).or_raise()?;
    let made = |case: gradus::cases::Case| {
        let (inputs, outputs) = (arrays(py, &case.inputs)?, arrays(py, &case.outputs)?);
        Ok((case.name, Model::of(case.model), inputs, outputs))
    };
    cases.into_iter().map(made).collect()
}
