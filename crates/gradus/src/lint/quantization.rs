//! Rules about numbers that a narrower type does not hold.

use gradus_core::display::element;
use gradus_core::graph::{Graph, Node};
use gradus_core::{DType, Number, Result};

use super::Fault;
use super::graphs::readers;
use super::subject::{Subject, constant_of};
use crate::fact::Fact;
use crate::operators::Role;

/// Scales of quantized numbers, by the inputs that they are.
fn scales(node: &Node) -> &'static [usize] {
    match &*node.operator.name {
        "QuantizeLinear" | "DequantizeLinear" => &[1],
        "QLinearConv" | "QLinearMatMul" => &[1, 4, 6],
        _ => &[],
    }
}

/// Scales that are 0, negative, or no numbers.
pub(super) fn bad_scales(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let mut found = Vec::new();
    for (place, graph, node) in of.nodes() {
        for constant in scales(node).iter().filter_map(|&input| constant_of(graph, node, input)) {
            let tensor = constant.tensor()?;
            let bad = tensor.numbers()?.position(|number| !is_scale(number));
            found.extend(bad.map(|index| {
                let message = format!("a scale is {}, not a number above 0", element(&tensor, index));
                Fault::at(place.clone(), message).positioned(node.position)
            }));
        }
    }
    Ok(found)
}

fn is_scale(number: Number) -> bool {
    matches!(number, Number::Float(scale) if scale > 0.0 && scale.is_finite())
}

/// Results of `QuantizeLinear` that are cast in place of being dequantized.
pub(super) fn cast_codes(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let mut found = Vec::new();
    let mut known: Option<(*const Graph, _)> = None;
    for (place, graph, node) in of.nodes() {
        if &*node.operator.name != "QuantizeLinear" {
            continue;
        }
        if known.as_ref().is_none_or(|(other, _)| !std::ptr::eq(*other, graph)) {
            known = Some((graph, readers(graph)));
        }
        let readers = known.as_ref().map(|(_, readers)| readers);
        let read = node.outputs.iter().flatten().filter_map(|id| readers?.get(id)).flatten();
        let mut casts = read.filter(|reader| of.row(reader).is_some_and(|row| row.role == Role::Cast));
        if casts.next().is_some() {
            let message = "its codes are cast to numbers, without scale and zero point";
            found.push(Fault::at(place, message).positioned(node.position));
        }
    }
    Ok(found)
}

/// Casts of constants to float16 that overflow.
pub(super) fn overflows(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let mut found = Vec::new();
    for (index, node) in of.model.graph().nodes().iter().enumerate() {
        let is_cast = of.row(node).is_some_and(|row| row.role == Role::Cast);
        let fact = |id: Option<&Option<_>>| id.copied().flatten().map(|id| of.inference.fact(id));
        let to = fact(node.outputs.first()).and_then(Fact::dtype);
        if !is_cast || to != Some(DType::F16) {
            continue;
        }
        let tensor = match constant_of(of.model.graph(), node, 0) {
            Some(constant) => Some(constant.tensor()?),
            None => fact(node.inputs.first()).and_then(|fact| fact.as_tensor()?.tensor()),
        };
        let Some(tensor) = tensor.filter(|tensor| tensor.dtype() != DType::String) else { continue };
        let beyond = tensor.numbers()?.filter(|number| is_beyond_float16(*number)).count();
        if beyond > 0 {
            let message = format!("{beyond} of {} elements are infinite in float16", tensor.len());
            let place = super::subject::place_of("", node, index);
            found.push(Fault::at(place, message).positioned(node.position));
        }
    }
    Ok(found)
}

/// Returns true if a finite number rounds to an infinity of float16: 65,520 is the first.
fn is_beyond_float16(number: Number) -> bool {
    match number {
        Number::Float(float) => float.is_finite() && float.abs() >= 65520.0,
        Number::Int(int) => int.unsigned_abs() >= 65520,
        Number::Complex(..) => false,
    }
}
