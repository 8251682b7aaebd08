//! The form that an operator of ONNX has in the operator set that is wanted.
//!
//! Conversions write the newest form. Where an older set has an attribute in place of an input, a
//! constant becomes that.

use gradus_core::convert::nearest_f32;
use gradus_core::graph::{Attribute, Content};
use gradus_core::{DType, Error, Kind, Result};

use super::{GraphWriter, NONE, NewValue};
use crate::conversion::types::exactly;
use crate::normalize::Change;
use crate::schema::{Arity, onnx_versions};

/// Brings inputs and attributes into the form of the operator set.
///
/// # Errors
/// [`Kind::Unsupported`] if there is none.
pub(crate) fn in_form_of(
    target: &GraphWriter,
    operator: &str,
    inputs: &mut Vec<NewValue>,
    attributes: &mut Vec<Attribute>,
) -> Result<()> {
    let set = target.opset;
    let versions = onnx_versions("", operator);
    let refuse = |why: String| Err(Error::new(Kind::Unsupported, why));
    let older = |what: String, since: i64| {
        let what = format_args!("cannot write {what}: operator set");
        Err(Error::mismatch(Kind::Unsupported, what, set, format_args!("at least {since}")))
    };
    let Some(signature) = target.signature(operator) else {
        return match versions.first() {
            Some(first) => older(operator.to_owned(), first.since),
            None => refuse(format!("cannot convert: ONNX has no operator {operator}")),
        };
    };
    let form = target.form(operator);
    for (change, since) in form.changes() {
        let Change::Input(input, attribute) = *change else { continue };
        if inputs.get(input).is_none_or(|&value| value == NONE) {
            continue;
        }
        let Some(tensor) = target.known(inputs[input])? else {
            return older(format!("{operator} with a computed \"{attribute}\""), since);
        };
        let content = match attribute {
            "min" | "max" | "ratio" | "value" => {
                let Some(value) = exactly(&tensor, DType::F32)? else {
                    let what = format!("{operator} with a \"{attribute}\" that float32 cannot represent");
                    return older(what, since);
                };
                Content::Float(nearest_f32(value.only_number()?))
            }
            "axis" | "k" => Content::Int(tensor.to_i64()?.first().copied().unwrap_or_default()),
            _ => Content::Ints(tensor.to_i64()?),
        };
        attributes.push(Attribute { name: form.name_of(attribute).into(), content });
        inputs[input] = NONE;
    }
    let from_the_last = attributes.iter().any(|given| match &given.content {
        Content::Int(axis) => &*given.name == "axis" && *axis < 0,
        Content::Ints(axes) => &*given.name == "axes" && axes.iter().any(|&axis| axis < 0),
        _ => false,
    });
    if from_the_last && form.counts_axes_from_first() {
        return refuse(format!(
            "cannot convert: axis of {operator} is negative, expected at least 0 in operator set {set}"
        ));
    }
    while inputs.last() == Some(&NONE) {
        inputs.pop();
    }
    // An older version without the attribute does what newer ones do with the default.
    attributes.retain(|given| {
        let default = form.default_of(&given.name);
        let is_default =
            matches!((default, &given.content), (Some(Content::Int(a)), Content::Int(b)) if a == b);
        signature.has_attribute(&given.name) || !is_default
    });
    let unknown = attributes.iter().find(|given| !signature.has_attribute(&given.name));
    if let Some(unknown) = unknown {
        let first = versions.iter().find(|version| version.has_attribute(&unknown.name));
        return match first {
            Some(first) => older(format!("{operator} with attribute \"{}\"", unknown.name), first.since),
            None => refuse(format!("cannot convert: {operator} has no attribute \"{}\"", unknown.name)),
        };
    }
    let open = signature.inputs.last().is_some_and(|last| matches!(last.arity, Arity::Many { .. }));
    if inputs.len() > signature.inputs.len() && !open {
        let what = format_args!("cannot convert: number of inputs of {operator} in operator set {set}");
        let wanted = format_args!("at most {}", signature.inputs.len());
        return Err(Error::mismatch(Kind::Unsupported, what, inputs.len(), wanted));
    }
    Ok(())
}
