//! Reports of folding and conversion, as dictionaries of Python.

use std::collections::BTreeMap;

use gradus::conversion::{ConversionReport, Verified as VerifiedConversion};
use gradus::fold::{FoldReport, Measured, Verified};
use gradus::prove::ProvedOutputs;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Says in a report which outputs are proved.
pub(super) fn set_proof(report: &Bound<'_, PyDict>, proof: Option<&ProvedOutputs>) -> PyResult<()> {
    let outputs = proof.map(|proof| proof.outputs.iter().cloned().collect::<BTreeMap<_, _>>());
    report.set_item("proved", outputs)?;
    report.set_item("not_proved", proof.and_then(|proof| proof.reason.as_ref()))
}

/// The report of folding: what was done, which outputs were compared, and how floats changed.
pub(super) fn of_folding<'py>(
    py: Python<'py>,
    report: &FoldReport,
    found: Option<&Verified>,
    measured: Option<&Measured>,
) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("operators", &report.operators)?;
    told.set_item("constants", report.constants)?;
    told.set_item("constant_bytes", report.constant_bytes)?;
    told.set_item("dropped", report.dropped)?;
    told.set_item("inlined", report.inlined)?;
    told.set_item("declared", report.declared)?;
    told.set_item("weights", &report.weights)?;
    let kept = report.kept.iter().map(|kept| (&kept.node, &kept.operator, &kept.reason));
    told.set_item("kept", kept.collect::<Vec<_>>())?;
    let assumptions: Vec<_> = report.assumptions.iter().map(|a| (&a.node, &a.text)).collect();
    told.set_item("assumptions", assumptions)?;
    let problems: Vec<_> = report.problems.iter().map(|p| (&p.place, &p.message)).collect();
    told.set_item("problems", problems)?;
    told.set_item("verified", found.map(|found| (found.bindings, found.values)))?;
    set_proof(&told, found.and_then(|found| found.proof.as_ref()))?;
    let ran = found.filter(|found| found.runs > 0);
    told.set_item("ran", ran.map(|found| (found.runs, found.elements)))?;
    told.set_item("sizes", found.map_or(&[][..], |found| &found.sizes))?;
    told.set_item("not_compared", found.and_then(|found| found.refused.as_ref()))?;
    told.set_item("measured", measured.map(|of| (of.elements, of.ulps, of.relative)))?;
    let outputs = measured.iter().flat_map(|of| &of.outputs);
    let outputs = outputs.map(|of| (&of.name, (of.elements, of.ulps, of.relative)));
    told.set_item("measured_outputs", outputs.collect::<BTreeMap<_, _>>())?;
    Ok(told)
}

/// The report of a conversion: its notes, and which outputs were compared.
pub(super) fn of_conversion<'py>(
    py: Python<'py>,
    report: &ConversionReport,
    found: Option<&VerifiedConversion>,
) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("nodes", report.nodes)?;
    let notes =
        report.notes.iter().map(|note| (&note.place, &note.operator, note.exactness.name(), &note.why));
    told.set_item("notes", notes.collect::<Vec<_>>())?;
    told.set_item("lost", &report.lost)?;
    set_proof(&told, found.and_then(|found| found.proof.as_ref()))?;
    let ran = found.filter(|found| found.runs > 0);
    told.set_item("ran", ran.map(|found| (found.runs, found.elements, found.inexact)))?;
    told.set_item("sizes", found.map_or(&[][..], |found| &found.sizes))?;
    told.set_item("not_compared", found.and_then(|found| found.refused.as_ref()))?;
    Ok(told)
}
