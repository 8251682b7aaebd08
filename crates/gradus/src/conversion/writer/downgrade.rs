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
    let Some(signature) = target.signature(operator) else {
        return match versions.first() {
            Some(first) => refuse(format!(
                "it needs {operator}, which ONNX has since operator set {}, but set {set} is wanted",
                first.since
            )),
            None => refuse(format!("it needs {operator}, which ONNX has not")),
        };
    };
    let form = target.form(operator);
    for (change, since) in form.changes() {
        let Change::Input(input, attribute) = *change else { continue };
        if inputs.get(input).is_none_or(|&value| value == NONE) {
            continue;
        }
        let Some(tensor) = target.known(inputs[input])? else {
            return refuse(format!(
                "it needs {operator} with a computed \"{attribute}\", which ONNX has since operator set {since}, but set {set} is wanted"
            ));
        };
        let content = match attribute {
            "min" | "max" | "ratio" | "value" => match exactly(&tensor, DType::F32)? {
                Some(value) => Content::Float(nearest_f32(value.only_number()?)),
                None => {
                    return refuse(format!(
                        "it needs {operator} with a \"{attribute}\" that float32 does not hold, which ONNX has since operator set {since}, but set {set} is wanted"
                    ));
                }
            },
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
            "it needs {operator} with an axis that is counted from the last, but operator set {set} counts from the first"
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
        let since = first
            .map_or(String::new(), |first| format!(", which ONNX has since operator set {}", first.since));
        return refuse(format!(
            "it needs {operator} with attribute \"{}\"{since}, but set {set} is wanted",
            unknown.name
        ));
    }
    let open = signature.inputs.last().is_some_and(|last| matches!(last.arity, Arity::Many { .. }));
    if inputs.len() > signature.inputs.len() && !open {
        return refuse(format!(
            "it needs {operator} with {} inputs, but in operator set {set} it takes {}",
            inputs.len(),
            signature.inputs.len()
        ));
    }
    Ok(())
}
