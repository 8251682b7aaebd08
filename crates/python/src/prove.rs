//! Proofs that two models are the same, as a `gradus.ProofReport` has them.

use std::time::Duration;

use gradus::prove::{Proof, ProveOptions, Side, UpTo, Verdict, verify};
use gradus::{Error, Kind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{OrRaise, engine};
use crate::given::{GivenSizes, said_of_inputs};
use crate::model::Model;

/// The difference that equal outputs may have, by its name.
fn named(name: &str) -> PyResult<UpTo> {
    let found = UpTo::ALL.into_iter().find(|up_to| up_to.name() == name);
    let wrong = || Error::mismatch(Kind::Usage, "up_to", name, "bits, order or rounding");
    found.ok_or_else(wrong).or_raise()
}

/// A proof of two models. `search` has the seconds and the seed of runs where there is no proof,
/// whether the steps are noted, and what outputs may differ in.
#[pyfunction]
pub(crate) fn _prove<'py>(
    py: Python<'py>,
    models: (PyRef<'_, Model>, PyRef<'_, Model>),
    sizes: GivenSizes<'_>,
    search: (f64, u64, bool, String),
) -> PyResult<Bound<'py, PyDict>> {
    let (seconds, seed, certificate, up_to) = search;
    let mut options = ProveOptions::default();
    options.sizes = said_of_inputs(sizes)?;
    (options.seed, options.certificate, options.up_to) = (seed, certificate, named(&up_to)?);
    let wrong = || Error::mismatch(Kind::Usage, "seconds", seconds, "a number of at least 0");
    options.time = Duration::try_from_secs_f64(seconds).map_err(|_| wrong()).or_raise()?;
    let (first, second) = (&models.0.model, &models.1.model);
    let proved = engine(py, || first.prove(second, &options)).or_raise()?;
    let report = PyDict::new(py);
    report.set_item("verdict", proved.verdict.name())?;
    let differing = match proved.verdict {
        Verdict::Different(witness) => witness.outputs.into_iter().map(|output| output.name).collect(),
        _ => Vec::new(),
    };
    report.set_item("differing", differing)?;
    report.set_item("runs", proved.runs)?;
    report.set_item("reason", proved.reason)?;
    report.set_item("up_to", proved.proof.as_ref().map_or(options.up_to, |proof| proof.up_to).name())?;
    set_proof(&report, proved.proof)?;
    Ok(report)
}

/// The proof that a certificate of two models has.
#[pyfunction]
pub(crate) fn _verify_proof<'py>(
    py: Python<'py>,
    models: (PyRef<'_, Model>, PyRef<'_, Model>),
    certificate: &str,
    sizes: GivenSizes<'_>,
    up_to: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let mut options = ProveOptions::default();
    (options.sizes, options.up_to) = (said_of_inputs(sizes)?, named(up_to)?);
    let (first, second) = (&models.0.model, &models.1.model);
    let proof = engine(py, || verify(first, second, certificate, &options)).or_raise()?;
    let report = PyDict::new(py);
    report.set_item("verdict", Verdict::Equivalent.name())?;
    report.set_item("differing", Vec::<String>::new())?;
    report.set_item("runs", 0)?;
    report.set_item("reason", py.None())?;
    report.set_item("up_to", proof.up_to.name())?;
    set_proof(&report, Some(proof))?;
    Ok(report)
}

/// Writes what is proved into a report.
fn set_proof(report: &Bound<'_, PyDict>, proof: Option<Proof>) -> PyResult<()> {
    let (mut outputs, mut frontier, mut assumptions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut certificate, mut laws, mut readings) = (None, Vec::new(), Vec::new());
    let (mut inputs, mut conditions) = (Vec::new(), Vec::new());
    if let Some(proof) = proof {
        (outputs, assumptions) = (proof.outputs, proof.assumptions);
        (certificate, laws) = (proof.certificate, proof.laws);
        (inputs, conditions, readings) = (proof.inputs, proof.conditions, proof.readings);
        let side = |side: Side| (side.value, side.term);
        let pairs = proof.frontier.into_iter().map(|pair| (side(pair.first), side(pair.second), pair.count));
        frontier.extend(pairs);
    }
    report.set_item("outputs", outputs)?;
    report.set_item("frontier", frontier)?;
    report.set_item("assumptions", assumptions)?;
    report.set_item("inputs", inputs)?;
    report.set_item("conditions", conditions)?;
    report.set_item("readings", readings)?;
    report.set_item("certificate", certificate)?;
    report.set_item("laws", laws)
}
