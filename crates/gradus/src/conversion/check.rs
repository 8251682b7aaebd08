//! What is written must be right: inference finds nothing wrong in it, and ONNX's operators take the types of their inputs.

use gradus_core::graph::{self, Graph, Standard, ValueId};
use gradus_core::{Error, Kind, Result};

use super::types;
use crate::fact::Fact;
use crate::infer::{Bodies, InferOptions, Problem};
use crate::model::Model;
use crate::schema::{Signature, onnx_versions};

/// Checks a converted model; it may be as wrong as its source, unless a file cannot say that. Of OpenVINO's, whose format has no
/// other place for them, types of all values are declared.
pub(super) fn checked(model: graph::Model, wrong: Option<&Problem>) -> Result<Model> {
    let mut model = Model::from_source(model);
    let inference = model.infer(&InferOptions { cautious: true, ..InferOptions::default() })?;
    let (facts, _, bodies, problems) = inference.into_parts();
    let refuse = |problem: &Problem, which: &str| {
        let message = format!("the {which} model is not right: {}", problem.message);
        Err(Error::new(problem.kind, message).in_node(&problem.place))
    };
    let told = |id: &ValueId| {
        facts[id.index()].as_tensor().is_some_and(|fact| fact.dtype.is_some() && fact.dims.is_some())
    };
    match (wrong, problems.first()) {
        (Some(wrong), _) if !model.graph().outputs().iter().all(told) => return refuse(wrong, "given"),
        (None, Some(problem)) => return refuse(problem, "converted"),
        _ => {}
    }
    if model.source().standard == Standard::Onnx {
        accepted(model.graph(), &facts, &bodies, &mut Vec::new())?;
    } else {
        let mut source = model.source().clone();
        source.graph.declare(&mut |place, id| {
            let facts = if place.is_empty() { Some(facts.as_slice()) } else { bodies.get(place) };
            types::told(facts?.get(id.index())?)
        });
        model = Model::from_source(source);
    }
    Ok(model)
}

fn accepted(graph: &Graph, facts: &[Fact], bodies: &Bodies, place: &mut Vec<(usize, usize)>) -> Result<()> {
    for (index, node) in graph.nodes().iter().enumerate() {
        let version = node.version.unwrap_or(0);
        let versions = onnx_versions("", &node.operator.name);
        let Some(signature) = versions.iter().rfind(|signature| signature.since <= version) else { continue };
        for (input, id) in node.inputs.iter().enumerate() {
            let dtype = id.and_then(|id| facts[id.index()].as_tensor()?.dtype);
            let param = Signature::param(signature.inputs, input);
            if let (Some(dtype), Some(param)) = (dtype, param)
                && !param.types.tensor.contains(dtype)
            {
                let message = format!(
                    "{} is {dtype}, which {}-{} does not take; it takes {}",
                    signature.input_label(input),
                    signature.name,
                    signature.since,
                    param.types.tensor
                );
                return Err(Error::new(Kind::Unsupported, message).in_node(node.label(index)));
            }
        }
        for (number, inner) in node.graphs().enumerate() {
            place.push((index, number));
            if let Some(facts) = bodies.get(place) {
                accepted(inner, facts, bodies, place)?;
            }
            place.pop();
        }
    }
    Ok(())
}
