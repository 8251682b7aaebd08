//! The form that an operator of ONNX has in the operator set that is wanted.
//!
//! Conversions and folding write the newest form. Where an older set has an attribute in place of
//! an input, a constant becomes that.

use gradus_core::convert::nearest_f32;
use gradus_core::graph::{Attribute, Content, Standard};
use gradus_core::{DType, Error, Kind, Result, Tensor};

use super::{GraphWriter, NONE, NewValue};
use crate::conversion::types::exactly;
use crate::normalize::{Change, Form, Older};
use crate::schema::{Arity, Signature, in_set, onnx_versions};

/// An operator set that nodes are written in, and what is known about the values that they read.
pub trait Target {
    /// A value that a node reads.
    type Value: Clone;

    /// The version of the operator set.
    fn opset(&self) -> i64;

    /// No value, where an input in the middle is missing.
    fn missing() -> Self::Value;

    /// Returns true if it stands for no value.
    fn is_missing(value: &Self::Value) -> bool;

    /// The elements of a value that is a constant.
    ///
    /// # Errors
    /// Whatever is wrong with the constant.
    fn known(&self, value: &Self::Value) -> Result<Option<Tensor>>;

    /// A constant.
    fn tensor(&mut self, tensor: Tensor) -> Self::Value;

    /// The form of an operator in the operator set.
    fn form(&self, operator: &str) -> Form {
        Form::of(Standard::Onnx, operator, self.opset())
    }

    /// The signature of an operator in the operator set.
    fn signature(&self, operator: &str) -> Option<&'static Signature> {
        in_set(onnx_versions("", operator), self.opset())
    }
}

impl Target for GraphWriter {
    type Value = NewValue;

    fn opset(&self) -> i64 {
        self.opset
    }

    fn missing() -> NewValue {
        NONE
    }

    fn is_missing(value: &NewValue) -> bool {
        *value == NONE
    }

    fn known(&self, value: &NewValue) -> Result<Option<Tensor>> {
        GraphWriter::known(self, *value)
    }

    fn tensor(&mut self, tensor: Tensor) -> NewValue {
        GraphWriter::tensor(self, tensor)
    }
}

/// Brings inputs and attributes into the form of the operator set.
///
/// # Errors
/// [`Kind::Unsupported`] if there is none.
pub fn in_form_of<T: Target>(
    target: &mut T,
    operator: &str,
    inputs: &mut Vec<T::Value>,
    attributes: &mut Vec<Attribute>,
) -> Result<()> {
    let Some(signature) = target.signature(operator) else {
        return match onnx_versions("", operator).first() {
            Some(first) => Err(needs_newer(target, operator, first.since)),
            None => Err(refused(format!("cannot convert: ONNX has no operator {operator}"))),
        };
    };
    drop_missing::<T>(inputs);
    if operator == "Slice" && inputs.len() == 5 && signature.inputs.len() < 5 {
        let steps = target.known(&inputs[4])?.map(|steps| steps.to_i64()).transpose()?;
        if steps.is_none_or(|steps| steps.iter().any(|&step| step != 1)) {
            return Err(needs_newer(target, "Slice with steps", 10));
        }
        inputs.pop();
    }
    inputs_to_attributes(target, operator, inputs, attributes)?;
    let form = target.form(operator);
    if form.moves_inputs() {
        let mut own = Vec::new();
        for (input, value) in inputs.drain(..).enumerate() {
            let Some(index) = form.index_of(input) else { continue };
            own.resize(own.len().max(index + 1), T::missing());
            own[index] = value;
        }
        *inputs = own;
    }
    // Regions and scales that newer sets may leave out are tensors of no elements.
    if operator == "Resize" && signature.inputs.get(1).is_some_and(|roi| matches!(roi.arity, Arity::One)) {
        for (input, wanted) in inputs.iter_mut().zip(signature.inputs) {
            if T::is_missing(input) && matches!(wanted.arity, Arity::One) {
                *input = target.tensor(Tensor::vector::<f32>(&[]));
            }
        }
    }
    if form.is(Older::ModesOfImages) {
        for Attribute { name, content } in &mut *attributes {
            if &**name == "mode"
                && let Content::Bytes(mode) = content
                && matches!(&**mode, b"linear" | b"cubic")
            {
                *mode = [b"bi", &**mode].concat().into();
            }
        }
    }
    check_axes(target, operator, attributes)?;
    drop_missing::<T>(inputs);
    drop_defaults(target, operator, signature, attributes);
    check_attributes(target, operator, signature, attributes)?;
    let open = signature.inputs.last().is_some_and(|last| matches!(last.arity, Arity::Many { .. }));
    if inputs.len() > signature.inputs.len() && !open {
        let set = target.opset();
        let what = format_args!("cannot convert: number of inputs of {operator} in operator set {set}");
        let wanted = format_args!("at most {}", signature.inputs.len());
        return Err(Error::mismatch(Kind::Unsupported, what, inputs.len(), wanted));
    }
    Ok(())
}

/// Drops inputs at the end that are missing.
fn drop_missing<T: Target>(inputs: &mut Vec<T::Value>) {
    while inputs.last().is_some_and(T::is_missing) {
        inputs.pop();
    }
}

fn refused(why: String) -> Error {
    Error::new(Kind::Unsupported, why)
}

/// The error of something that only newer operator sets have.
fn needs_newer(target: &impl Target, what: &str, since: i64) -> Error {
    let what = format_args!("cannot write {what}: operator set");
    Error::mismatch(Kind::Unsupported, what, target.opset(), format_args!("at least {since}"))
}

/// Makes attributes of constant inputs that are attributes in the operator set.
fn inputs_to_attributes<T: Target>(
    target: &T,
    operator: &str,
    inputs: &mut [T::Value],
    attributes: &mut Vec<Attribute>,
) -> Result<()> {
    let form = target.form(operator);
    for (change, since) in form.changes() {
        let Change::Input(input, attribute) = *change else { continue };
        if inputs.get(input).is_none_or(T::is_missing) {
            continue;
        }
        let Some(tensor) = target.known(&inputs[input])? else {
            let what = format!("{operator} with a computed \"{attribute}\"");
            return Err(needs_newer(target, &what, since));
        };
        let content = match attribute {
            "min" | "max" | "ratio" | "value" => {
                let Some(value) = exactly(&tensor, DType::F32)? else {
                    let what = format!("{operator} with a \"{attribute}\" that float32 cannot represent");
                    return Err(needs_newer(target, &what, since));
                };
                Content::Float(nearest_f32(value.only_number()?))
            }
            "axis" | "k" => Content::Int(tensor.to_i64()?.first().copied().unwrap_or_default()),
            _ => Content::Ints(tensor.to_i64()?.into()),
        };
        attributes.push(Attribute { name: form.name_of(attribute).into(), content });
        inputs[input] = T::missing();
    }
    Ok(())
}

/// Checks that axes are counted from the first one where the operator set has no others.
fn check_axes(target: &impl Target, operator: &str, attributes: &[Attribute]) -> Result<()> {
    let negative = attributes.iter().any(|given| match &given.content {
        Content::Int(axis) => &*given.name == "axis" && *axis < 0,
        Content::Ints(axes) => &*given.name == "axes" && axes.iter().any(|&axis| axis < 0),
        _ => false,
    });
    if negative && target.form(operator).counts_axes_from_first() {
        let set = target.opset();
        return Err(refused(format!(
            "cannot convert: axis of {operator} is negative, expected at least 0 in operator set {set}"
        )));
    }
    Ok(())
}

/// Drops attributes that the operator set lacks where their value is what it does anyway.
fn drop_defaults(
    target: &impl Target,
    operator: &str,
    signature: &Signature,
    attributes: &mut Vec<Attribute>,
) {
    let form = target.form(operator);
    attributes.retain(|given| {
        let default = form.lacks(&given.name).or_else(|| form.default_of(&given.name));
        signature.has_attribute(&given.name)
            || default.is_none_or(|default| !is_value(default, &given.content))
    });
}

/// Returns true if an attribute has the value of a row; a list, if it has no other.
pub fn is_value(row: &Content, given: &Content) -> bool {
    match (row, given) {
        (Content::Int(a), Content::Int(b)) => a == b,
        (Content::Int(a), Content::Ints(all)) => all.iter().all(|b| a == b),
        (Content::Text(a), Content::Bytes(b)) => a.as_bytes() == b,
        _ => false,
    }
}

fn check_attributes(
    target: &impl Target,
    operator: &str,
    signature: &Signature,
    attributes: &[Attribute],
) -> Result<()> {
    let unknown = attributes.iter().find(|given| !signature.has_attribute(&given.name));
    let Some(Attribute { name, .. }) = unknown else { return Ok(()) };
    let first = onnx_versions("", operator).iter().find(|version| version.has_attribute(name));
    Err(match first {
        Some(first) => needs_newer(target, &format!("{operator} with attribute \"{name}\""), first.since),
        None => refused(format!("cannot convert: {operator} has no attribute \"{name}\"")),
    })
}
