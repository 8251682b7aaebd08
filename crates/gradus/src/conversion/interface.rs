//! Inputs and outputs: names, types, and what the other format cannot say of them.

use std::collections::HashSet;
use std::sync::Arc;

use gradus_core::graph::{DeclaredDim, Standard, Type};
use gradus_core::{DType, Error, Kind, Result};

use super::scope::{ConversionState, Items, SourceGraph};
use super::types;
use super::writer::{GraphWriter, NewValue};
use crate::complex;
use crate::conversion::report::{cannot, not_known};
use crate::fact::{Fact, TensorFact};
use crate::model::Model;
use crate::normalize::has_default_inputs;
use crate::operators::type_of_stacked;
use gradus_engine::infer::read_values;

/// Makes the inputs of the graph.
pub(crate) fn inputs(
    model: &Model,
    conversion: &mut ConversionState<'_>,
    scope: &mut SourceGraph<'_>,
    target: &mut GraphWriter,
) -> Result<()> {
    let graph = scope.graph;
    for &id in graph.inputs().iter().chain(graph.outputs()) {
        let name = &graph.value(id).name;
        if conversion.kept.contains_key(&id) {
            continue;
        }
        let fresh = conversion.names.fresh(name);
        if fresh != *name {
            conversion.report.lose(format!("several inputs or outputs are \"{name}\"; one is \"{fresh}\""));
        }
        conversion.kept.insert(id, fresh);
    }
    let read = read_values(graph);
    for &id in graph.inputs() {
        let info = graph.value(id);
        if let Some(constant) = graph.constant(id) {
            if conversion.keeps_defaults {
                let name = scope.name_for(conversion, id);
                scope.set(id, target.input_with_default(name, info.declared.clone(), constant.clone()));
                continue;
            }
            scope.fix(id, constant.clone());
            if has_default_inputs(model.source()) && read[id.index()] {
                conversion.report.lose(format!(
                    "input \"{}\" has a default: it is a constant, and no input any more",
                    info.name
                ));
            }
            continue;
        }
        if conversion.to == Standard::OpenVino && matches!(scope.fact(id), Fact::Sequence(_)) {
            let name = scope.name_for(conversion, id);
            let value = stacked_input(conversion, target, (name, info.declared.as_ref()), scope.fact(id))?;
            scope.set_items(id, Items::Stacked(value));
            continue;
        }
        let declared = declared(conversion, scope.fact(id).as_tensor(), &info.name, info.declared.as_ref())?;
        let name = scope.name_for(conversion, id);
        scope.set(id, target.input(name, Some(declared)));
    }
    Ok(())
}

/// Makes an input of the items of a sequence, which have one shape.
fn stacked_input(
    conversion: &mut ConversionState<'_>,
    target: &mut GraphWriter,
    (name, declared): (Arc<str>, Option<&Type>),
    fact: &Fact,
) -> Result<NewValue> {
    let Ok(stacked @ Type::Tensor(Some(dtype), _)) = type_of_stacked(fact) else {
        let what = declared.map_or_else(|| "a sequence".to_owned(), Type::to_string);
        let name = format_args!("cannot convert: input \"{name}\"");
        let wanted = "a tensor, or a sequence of tensors whose sizes are known";
        return Err(Error::mismatch(Kind::Unsupported, name, what, wanted));
    };
    types::expect(conversion.to, dtype)
        .map_err(|error| error.map_message(|message| format!("input \"{name}\": {message}")))?;
    let how = "its items are the slices of a tensor along the first axis";
    conversion.report.lose(format!("input \"{name}\" is a sequence: {how}"));
    Ok(target.input(name, Some(stacked)))
}

/// Says how complex numbers of Paddle are given and returned.
const PAIRED: &str = "a last axis of size 2 has the real and the imaginary parts";

/// The type of an input as the other format says it.
fn declared(
    conversion: &mut ConversionState<'_>,
    fact: Option<&TensorFact>,
    name: &str,
    declared: Option<&Type>,
) -> Result<Type> {
    if let (None, Standard::Onnx, Standard::Onnx, Some(kept @ (Type::Sequence(_) | Type::Optional(_)))) =
        (fact, conversion.source.standard, conversion.to, declared)
    {
        return Ok(kept.clone());
    }
    let Some(fact) = fact else {
        let what = declared.map_or_else(|| "?".to_owned(), Type::to_string);
        let name = format_args!("cannot convert: input \"{name}\"");
        return Err(Error::mismatch(Kind::Unsupported, name, what, "a tensor"));
    };
    let paired = complex::split_fact(&Fact::Tensor(fact.clone()));
    let is_paired =
        conversion.source.standard == Standard::Paddle && fact.dtype.is_some_and(DType::is_complex);
    let fact = paired.as_tensor().filter(|_| is_paired).unwrap_or(fact);
    if is_paired {
        conversion.report.lose(format!("input \"{name}\" is complex: {PAIRED}"));
    }
    let Some(dtype) = fact.dtype else {
        return Err(not_known(&format!("element type of input \"{name}\"")));
    };
    types::expect(conversion.to, dtype)
        .map_err(|error| error.map_message(|message| format!("input \"{name}\": {message}")))?;
    let Some(dims) = &fact.dims else { return Ok(Type::Tensor(Some(dtype), None)) };
    let old: &[DeclaredDim] = match declared {
        Some(Type::Tensor(_, Some(sizes))) => sizes,
        _ => &[],
    };
    let mut sizes = Vec::new();
    for (axis, dim) in dims.iter().enumerate() {
        let known = dim.known().and_then(gradus_core::convert::usize_of_i64);
        sizes.push(match (known, conversion.to, old.get(axis)) {
            (Some(len), ..) => DeclaredDim::Known(len),
            (None, Standard::Onnx, old) => {
                if let Some(bounds @ DeclaredDim::Between(..)) = old {
                    conversion
                        .report
                        .lose(format!("the bounds of axis {axis} of input \"{name}\": {bounds}"));
                }
                DeclaredDim::Symbol(conversion.symbols.print(*dim).to_string().into())
            }
            (None, _, Some(DeclaredDim::Symbol(symbol))) => {
                conversion.report.lose(format!("the name of axis {axis} of input \"{name}\": {symbol}"));
                DeclaredDim::Unknown
            }
            (None, _, _) => DeclaredDim::Unknown,
        });
    }
    Ok(Type::Tensor(Some(dtype), Some(sizes)))
}

/// Makes the outputs of the graph, under their names.
pub(crate) fn outputs(
    conversion: &mut ConversionState<'_>,
    scope: &mut SourceGraph<'_>,
    target: &mut GraphWriter,
) -> Result<()> {
    let mut seen = HashSet::new();
    for &id in scope.graph.outputs() {
        let name = &scope.graph.value(id).name;
        if let Some(items) = scope.items(id).cloned() {
            let own = scope.name_for(conversion, id);
            item_outputs(conversion, target, (own, scope.fact(id)), &items)?;
            continue;
        }
        let mut value = scope.value(target, conversion, id)?;
        if seen.contains(&value) {
            let fresh = conversion.names.fresh(name);
            conversion.report.lose(format!("output \"{name}\" is listed twice; the second is \"{fresh}\""));
            value = copied(conversion, target, value, (fresh, scope.fact(id).dtype()))?;
        }
        seen.insert(value);
        // The source declares types that inference does not find: ONNX wants outputs to have a type
        // and a rank.
        let holds = |declared: &Type| conversion.to == Standard::Onnx || matches!(declared, Type::Tensor(..));
        let mut declared = scope.graph.value(id).declared.clone().filter(holds);
        if conversion.source.standard == Standard::Paddle
            && scope.fact(id).dtype().is_some_and(DType::is_complex)
        {
            conversion.report.lose(format!("output \"{name}\" is complex: {PAIRED}"));
            declared = None;
        }
        target.declared_output(value, declared);
    }
    Ok(())
}

/// A value with the elements of another, under a name of its own.
fn copied(
    conversion: &mut ConversionState<'_>,
    target: &mut GraphWriter,
    value: NewValue,
    (name, dtype): (Arc<str>, Option<DType>),
) -> Result<NewValue> {
    let before = target.mark();
    let copy = target.copy(value, dtype)?;
    target.name(copy, name.clone());
    target.name_since(before, &name, &mut conversion.names);
    Ok(copy)
}

/// Makes outputs of the items of a sequence, where the standard has no sequences.
fn item_outputs(
    conversion: &mut ConversionState<'_>,
    target: &mut GraphWriter,
    (name, fact): (Arc<str>, &Fact),
    items: &Items,
) -> Result<()> {
    let dtype = match fact {
        Fact::Sequence(sequence) => sequence.each.dtype(),
        _ => None,
    };
    match items {
        Items::Each(values) if !values.is_empty() => {
            let mut names = Vec::new();
            for (number, &value) in values.iter().enumerate() {
                let own = conversion.names.fresh(&format!("{name}_{number}"));
                let value = copied(conversion, target, value, (own.clone(), dtype))?;
                target.output(value);
                names.push(format!("\"{own}\""));
            }
            let names = names.join(", ");
            conversion.report.lose(format!("output \"{name}\" is a sequence: its items are {names}"));
        }
        Items::Stacked(value) => {
            let value = copied(conversion, target, *value, (name.clone(), dtype))?;
            target.output(value);
            let why = "its items are the slices of a tensor along the first axis";
            conversion.report.lose(format!("output \"{name}\" is a sequence: {why}"));
        }
        _ => {
            let why = "a sequence of no items, or of items of unequal shapes whose number is not known";
            return Err(cannot(format!("{} has no equivalent of output \"{name}\": {why}", conversion.to)));
        }
    }
    Ok(())
}

/// Describes what the file says besides its graph.
pub(crate) fn lost(model: &Model, conversion: &mut ConversionState<'_>) {
    let source = model.source();
    if source.standard == Standard::Onnx && conversion.to != Standard::Onnx {
        for (key, _) in &source.metadata {
            conversion.report.lose(format!("metadata \"{key}\""));
        }
    }
}
