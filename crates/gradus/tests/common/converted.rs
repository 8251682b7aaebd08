//! Models, converted and run again: what the conversion keeps must be the same.

use std::collections::HashMap;

use gradus::conversion::{ConversionReport, ConvertOptions, Converted, Exactness};
use gradus::graph::Standard;
use gradus::{DType, Model, Outputs, Tensor, Value};

use super::compare::difference;
use super::one::One;
use super::tensors::counted;

/// The outputs of a run that succeeds.
pub fn run(model: &Model, inputs: &HashMap<String, Value>) -> Outputs {
    model.run(inputs).unwrap_or_else(|error| panic!("{error}"))
}

/// The outputs of a run that succeeds, all of which are tensors.
pub fn tensors(model: &Model, inputs: &HashMap<String, Value>) -> Vec<Tensor> {
    run(model, inputs).into_iter().map(|(_, value)| value.tensor().unwrap().clone()).collect()
}

/// The operators of a converted model.
pub fn operators(converted: &Converted) -> Vec<&str> {
    converted.model.graph().nodes().iter().map(|node| &*node.operator.name).collect()
}

/// The conversion by default.
pub fn convert(model: &Model, to: Standard) -> gradus::Result<Converted> {
    model.convert(to, &ConvertOptions::default())
}

/// The lowest exactness of conversions of a model, by their reports.
pub fn kept(reports: &[&ConversionReport]) -> Exactness {
    let notes = reports.iter().flat_map(|report| &report.notes);
    notes.map(|note| note.exactness).max().unwrap_or(Exactness::Exact)
}

/// Compares what a model gives with what is wanted: where results may be rounded, types, shapes and
/// the neighbourhood of numbers. Only a model with a noted edge case may refuse its inputs.
pub fn compare(what: &str, want: &Outputs, model: &Model, inputs: &HashMap<String, Value>, kept: Exactness) {
    let got = match model.run(inputs) {
        Ok(got) => got,
        Err(_) if kept == Exactness::EdgeCases => return,
        Err(error) => panic!("{what}: {error}"),
    };
    let exact = kept == Exactness::Exact;
    assert_eq!(want.len(), got.len(), "{what}");
    for ((name, want), (other, got)) in want.iter().zip(&got) {
        assert_eq!(name, other, "{what}");
        let (want, got) = (want.tensor().unwrap(), got.tensor().unwrap());
        if let Some(how) = difference(want, got, exact) {
            panic!("{what}: {name}: {how}");
        }
    }
}

/// A model of one node of OpenVINO, whose first inputs are the model's, the others constants.
pub fn openvino(
    operator: &str,
    version: i64,
    inputs: &[Tensor],
    constants: &[Tensor],
    attributes: &[(&str, &str)],
    outputs: usize,
) -> (Model, HashMap<String, Value>) {
    let one =
        One::of(Standard::OpenVino, operator, version).inputs(inputs).constants(constants).outputs(outputs);
    attributes.iter().fold(one, |one, (name, text)| one.text(name, text)).model()
}

/// Floats from 0 on, each the one before and 1.
pub fn floats(dims: &[usize]) -> Tensor {
    gradus::convert::cast(&counted(dims), DType::F32, gradus::convert::Rules::IEEE).unwrap()
}
