//! Attributes of Paddle's operators, and constants in the type of their first input.

use gradus_core::convert::Rules;
use gradus_core::graph::Content;
use gradus_core::{Number, Result, Tensor, convert};

use crate::lowering::{LoweredValue, Lowering};

pub(super) type LoweredAttributes = Vec<(&'static str, Content)>;

/// A text attribute, or its default.
pub(super) fn text<'a>(l: &Lowering<'a>, name: &str, default: &'static str) -> Result<&'a str> {
    Ok(l.attributes.text(name)?.unwrap_or(default))
}

/// An attribute of integers; none if it is not there.
pub(super) fn ints(l: &Lowering<'_>, name: &str) -> Result<Vec<i64>> {
    Ok(l.attributes.ints(name)?.unwrap_or(&[]).to_vec())
}

/// A list of floats, which PIR has as tensors of one element.
pub(super) fn floats(l: &Lowering<'_>, name: &str) -> Result<Vec<f32>> {
    match l.attributes.get(name) {
        Some(Content::Tensors(all)) => {
            all.iter().map(|value| Ok(convert::nearest_f32(value.tensor()?.only_number()?))).collect()
        }
        Some(Content::Ints(none)) if none.is_empty() => Ok(Vec::new()),
        // Older operators have one number, of which 0 is none.
        Some(Content::Float(one)) => Ok(Some(*one).filter(|&one| one > 0.0).into_iter().collect()),
        _ => Ok(l.attributes.floats(name)?.unwrap_or(&[]).to_vec()),
    }
}

/// A float attribute of ONNX.
pub(super) fn float(name: &'static str, value: f64) -> (&'static str, Content) {
    (name, Content::Float(convert::nearest_f32(Number::Float(value))))
}

/// A number of the type of the first input.
pub(super) fn constant_like(l: &mut Lowering<'_>, value: f64) -> Result<LoweredValue> {
    let dtype = l.dtype_of(0)?;
    l.constant(convert::cast(&Tensor::scalar(value), dtype, Rules::IEEE)?)
}
