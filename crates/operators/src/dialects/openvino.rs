//! Helpers of OpenVINO's operators: calls of the functions of all standards, with the attributes
//! and inputs that these have.
//!
//! Attributes are text. An output has the first input's element type unless a rule says otherwise.
//! Sources: the texts of OpenVINO's operator sets 1 to 17, and OpenVINO 2026.4, which decides where
//! they are silent.

use gradus_core::graph::{Attribute, Content};
use gradus_core::{Result, Tensor, Value};

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::lowering::Lowering;
use crate::normalize::Form;
use crate::op::{Compute, EvalContext};

/// Calls a function that standards share with these attributes and inputs.
pub fn called(
    cx: &mut EvalContext<'_>,
    compute: Compute,
    attributes: Vec<(&str, Content)>,
    inputs: &[Option<Value>],
) -> Result<Vec<Value>> {
    called_as(cx, "", compute, attributes, inputs)
}

/// Calls a function as [`called`], which asks for the operator's name.
pub fn called_as(
    cx: &mut EvalContext<'_>,
    operator: &'static str,
    compute: Compute,
    attributes: Vec<(&str, Content)>,
    inputs: &[Option<Value>],
) -> Result<Vec<Value>> {
    let inputs: Vec<_> = inputs.iter().map(Option::as_ref).collect();
    let owned = |(name, content): (&str, Content)| Attribute { name: name.into(), content };
    let attributes: Vec<_> = attributes.into_iter().map(owned).collect();
    let (outputs, inferred, frame) = (cx.outputs, cx.inferred, cx.frame);
    compute(
        &Attributes::new(&attributes, Form::NEWEST),
        &mut EvalContext {
            inputs: &inputs,
            operator,
            outputs,
            signature: None,
            inferred,
            frame,
            run: cx.run,
        },
    )
}

/// An input, if it is given.
pub fn input(cx: &EvalContext<'_>, index: usize) -> Option<Value> {
    cx.inputs.get(index).copied().flatten().cloned()
}

/// Integers as an input.
pub fn integers(list: &[i64]) -> Option<Value> {
    Some(Tensor::vector(list).into())
}

/// A positive integer attribute that must be given.
pub fn positive(l: &Lowering<'_>, name: &str) -> Result<i64> {
    errors::at_least_1(name, required(name, l.attributes.int(name)?)?)
}
