//! The form that an operator of ONNX has in the operator set that is wanted.
//!
//! Conversions write the newest form. Where an older set has an attribute in place of an input, a
//! constant becomes that.

use gradus_core::convert::nearest_f32;
use gradus_core::graph::{Attribute, Content};
use gradus_core::{DType, Error, Kind, Result};

use super::types::exactly;
use super::writer::{GraphWriter, NONE, NewValue};
use crate::schema::{Arity, onnx_versions};

/// Inputs that were attributes once: operator, input, attribute, and the first operator set that
/// has the input.
const FORMER: &[(&str, usize, &str, i64)] = &[
    ("Clip", 1, "min", 11),
    ("Clip", 2, "max", 11),
    ("Pad", 1, "pads", 11),
    ("Pad", 2, "value", 11),
    ("ReduceL1", 1, "axes", 18),
    ("ReduceL2", 1, "axes", 18),
    ("ReduceMax", 1, "axes", 18),
    ("ReduceMean", 1, "axes", 18),
    ("ReduceMin", 1, "axes", 18),
    ("ReduceProd", 1, "axes", 18),
    ("ReduceSum", 1, "axes", 13),
    ("Slice", 1, "starts", 10),
    ("Slice", 2, "ends", 10),
    ("Slice", 3, "axes", 10),
    ("Split", 1, "split", 13),
    ("Squeeze", 1, "axes", 13),
    ("TopK", 1, "k", 10),
    ("Unsqueeze", 1, "axes", 13),
];

/// Attributes whose default says what an older version always does: they may be left out there.
const DEFAULTS: &[(&str, &str, i64)] = &[
    ("Cast", "saturate", 1),
    ("GatherND", "batch_dims", 0),
    ("Range", "stash_type", 1),
    ("Reshape", "allowzero", 0),
    ("ArgMax", "select_last_index", 0),
    ("ArgMin", "select_last_index", 0),
    ("TopK", "largest", 1),
    ("TopK", "sorted", 1),
];

/// Operators that count axes only from the first before operator set 11.
const FROM_THE_FIRST: &[&str] = &[
    "Concat",
    "ReduceL1",
    "ReduceL2",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "Slice",
    "Split",
    "Squeeze",
    "Unsqueeze",
];

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
    let Some(signature) = versions.iter().rfind(|signature| signature.since <= set) else {
        return match versions.first() {
            Some(first) => refuse(format!(
                "it needs {operator}, which ONNX has since operator set {}, but set {set} is wanted",
                first.since
            )),
            None => refuse(format!("it needs {operator}, which ONNX has not")),
        };
    };
    for &(name, input, attribute, since) in FORMER {
        if name != operator || set >= since || inputs.get(input).is_none_or(|&value| value == NONE) {
            continue;
        }
        let Some(tensor) = target.known(inputs[input])? else {
            return refuse(format!(
                "it needs {operator} with a computed \"{attribute}\", which ONNX has since operator set {since}, but set {set} is wanted"
            ));
        };
        let content = match attribute {
            "min" | "max" | "value" => match exactly(&tensor, DType::F32)? {
                Some(value) => Content::Float(nearest_f32(value.only_number()?)),
                None => {
                    return refuse(format!(
                        "it needs {operator} with a \"{attribute}\" that float32 does not hold, which ONNX has since operator set {since}, but set {set} is wanted"
                    ));
                }
            },
            "k" => Content::Int(tensor.to_i64()?.first().copied().unwrap_or_default()),
            _ => Content::Ints(tensor.to_i64()?),
        };
        attributes.push(Attribute { name: attribute.into(), content });
        inputs[input] = NONE;
    }
    let from_the_last = attributes.iter().any(|given| match &given.content {
        Content::Int(axis) => &*given.name == "axis" && *axis < 0,
        Content::Ints(axes) => &*given.name == "axes" && axes.iter().any(|&axis| axis < 0),
        _ => false,
    });
    if set < 11 && from_the_last && FROM_THE_FIRST.contains(&operator) {
        return refuse(format!(
            "it needs {operator} with an axis that is counted from the last, which ONNX has since operator set 11, but set {set} is wanted"
        ));
    }
    while inputs.last() == Some(&NONE) {
        inputs.pop();
    }
    attributes.retain(|given| {
        let known = signature.attributes.iter().any(|rule| rule.name == &*given.name);
        let default = DEFAULTS.iter().any(|(name, attribute, value)| {
            *name == operator
                && *attribute == &*given.name
                && matches!(given.content, Content::Int(given) if given == *value)
        });
        known || !default
    });
    let unknown =
        attributes.iter().find(|given| signature.attributes.iter().all(|rule| rule.name != &*given.name));
    if let Some(unknown) = unknown {
        let first =
            versions.iter().find(|version| version.attributes.iter().any(|rule| rule.name == &*unknown.name));
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
