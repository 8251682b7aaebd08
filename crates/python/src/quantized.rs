//! Losses of quantized models, as a `gradus.QuantizationReport` has them.

use gradus::check::{CheckOptions, Loss};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{OrRaise, engine};
use crate::given::{GivenSizes, said_of_inputs};
use crate::model::Model;

/// The number of elements, the decibels and the largest difference of a loss.
type LossOf = (u64, f64, f64);

/// Name, kind, type of the codes, number of elements beyond them, and both losses.
type TensorOf = (String, &'static str, Option<String>, Option<u64>, Option<LossOf>, Option<LossOf>);

fn loss_of(loss: Loss) -> LossOf {
    (loss.elements, loss.decibels(), loss.largest)
}

/// The number of runs, and what each tensor loses in the second model.
#[pyfunction]
pub(crate) fn _quantization(
    py: Python<'_>,
    models: (PyRef<'_, Model>, PyRef<'_, Model>),
    sizes: GivenSizes<'_>,
    values: &Bound<'_, PyDict>,
    runs: (usize, u64),
) -> PyResult<(usize, Vec<TensorOf>)> {
    let mut options = CheckOptions::default();
    (options.runs, options.seed) = runs;
    options.sizes = said_of_inputs(sizes)?;
    options.sizes.inputs.extend(models.0.given_facts(values)?);
    let (first, second) = (&models.0.model, &models.1.model);
    let found = engine(py, || first.quantization(second, &options)).or_raise()?;
    let tensors = found.tensors.into_iter().map(|tensor| {
        let codes = tensor.codes.map(|dtype| dtype.to_string());
        let [own, whole] = [tensor.own, tensor.whole].map(|loss| loss.map(loss_of));
        (tensor.name, tensor.kind.name(), codes, tensor.clipped, own, whole)
    });
    Ok((found.runs, tensors.collect()))
}
