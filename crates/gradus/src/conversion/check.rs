//! Checks of converted models: inference finds nothing wrong in it, and ONNX's operators take
//! the types of their inputs.

use gradus_core::graph::{self, Graph, Standard, ValueId};
use gradus_core::{DType, Error, Kind, Result};

use super::report::ConversionReport;
use super::types::declared;
use crate::fact::Fact;
use crate::model::{Model, OpenOptions};
use crate::operators::registry;
use crate::schema::{Signature, in_set, onnx_versions};
use gradus_engine::infer::{InferOptions, SubgraphFacts};

/// Checks a converted model; `lenient` says that its source was wrong already. Of OpenVINO's, whose
/// format has no other place for them, types of all values are declared; the report names nodes
/// whose strings its processor plug-in refuses.
pub(crate) fn checked(
    model: graph::Model,
    options: &OpenOptions,
    lenient: bool,
    report: &mut ConversionReport,
) -> Result<Model> {
    let mut model = options.from_source(model);
    let inference = model.infer(&InferOptions::default().cautiously())?;
    let (facts, _, bodies, problems) = inference.into_parts();
    if let Some(problem) = problems.first().filter(|_| !lenient) {
        let message = format!("cannot convert: the converted model is invalid: {}", problem.message);
        return Err(Error::new(Kind::Unsupported, message).in_node(&problem.place));
    }
    if model.source().standard == Standard::Onnx {
        types(model.graph(), &facts, &bodies, &mut Vec::new())?;
    } else {
        strings(model.graph(), &facts, &bodies, &mut Vec::new(), report);
        let told: Vec<_> = model.graph().values().iter().map(|value| value.declared.is_some()).collect();
        let mut source = model.into_source();
        source.graph.declare(&mut |place, id| {
            let facts = if place.is_empty() { Some(facts.as_slice()) } else { bodies.get(place) };
            let fact = facts?.get(id.index())?;
            let told = place.is_empty() && told[id.index()];
            declared(fact).filter(|_| !told || fact.as_tensor().is_some_and(|fact| fact.dims.is_some()))
        });
        model = options.from_source(source);
    }
    Ok(model)
}

/// Names the nodes of an IR that read strings, which the processor plug-in of OpenVINO refuses.
fn strings(
    graph: &Graph,
    facts: &[Fact],
    bodies: &SubgraphFacts,
    place: &mut Vec<(usize, usize)>,
    report: &mut ConversionReport,
) {
    let is_string = |id: &ValueId| facts[id.index()].dtype() == Some(DType::String);
    for (index, node) in graph.nodes().iter().enumerate() {
        let runs = registry::row_of(Standard::OpenVino, node).is_some_and(|row| row.runs_strings);
        if !runs && node.inputs.iter().flatten().any(is_string) {
            let (operator, label) = (&node.operator.name, node.label(index));
            report.lose(format!(
                "runs in the processor plug-in of OpenVINO: it has no {operator} of strings ({label})"
            ));
        }
        for (number, inner) in node.graphs().enumerate() {
            place.push((index, number));
            if let Some(facts) = bodies.get(place) {
                strings(inner, facts, bodies, place, report);
            }
            place.pop();
        }
    }
}

fn types(
    graph: &Graph,
    facts: &[Fact],
    bodies: &SubgraphFacts,
    place: &mut Vec<(usize, usize)>,
) -> Result<()> {
    for (index, node) in graph.nodes().iter().enumerate() {
        let version = node.version.unwrap_or(0);
        let versions = onnx_versions(&node.operator.domain, &node.operator.name);
        let Some(signature) = in_set(versions, version) else { continue };
        for (input, id) in node.inputs.iter().enumerate() {
            let dtype = id.and_then(|id| facts[id.index()].as_tensor()?.dtype);
            let param = Signature::param(signature.inputs, input);
            if let (Some(dtype), Some(param)) = (dtype, param)
                && !param.types.tensor.contains(dtype)
            {
                let error = signature.not_admitted(input, param, dtype, Kind::Unsupported);
                return Err(error.in_node(node.label(index)));
            }
        }
        for (output, id) in node.outputs.iter().enumerate() {
            let dtype = id.and_then(|id| facts[id.index()].as_tensor()?.dtype);
            let param = Signature::param(signature.outputs, output);
            if let (Some(dtype), Some(param)) = (dtype, param)
                && !param.types.tensor.contains(dtype)
            {
                let what = format_args!("output {output}");
                let wanted = format_args!(
                    "one of the types of {}-{}: {}",
                    signature.name, signature.since, param.types
                );
                return Err(
                    Error::mismatch(Kind::Unsupported, what, dtype, wanted).in_node(node.label(index))
                );
            }
        }
        for (number, inner) in node.graphs().enumerate() {
            place.push((index, number));
            if let Some(facts) = bodies.get(place) {
                types(inner, facts, bodies, place)?;
            }
            place.pop();
        }
    }
    Ok(())
}
