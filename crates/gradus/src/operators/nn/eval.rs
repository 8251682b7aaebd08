//! Evaluation of Dropout.

use gradus_core::convert::{self};
use gradus_core::{DType, DTypeSet, Kind, Number, Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::normalize::Older;
use crate::op::EvalContext;
use crate::operators::output::{allowed, wrong};

pub(crate) fn dropout(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let training = if attributes.form().is(Older::Training) {
        !attributes.flag("is_test", false)?
    } else {
        cx.has(2) && !cx.tensor(2)?.only_number()?.is_zero()
    };
    if training {
        return Err(wrong(Kind::Unsupported, "training drops elements at random, and is not run"));
    }
    // Older versions have a mask of the input's type.
    let mask = cx.signature.and_then(|signature| signature.outputs.get(1));
    let of_truth = mask.is_none_or(|mask| mask.types.tensor == DTypeSet::of(&[DType::Bool]));
    let dtype = if of_truth { DType::Bool } else { data.dtype() };
    let shape = allowed(cx, dtype, data.shape().dims())?;
    let ones = vec![Number::Int(1); shape.len()];
    let mask = Tensor::from_numbers(dtype, shape, ones, convert::Rules::IEEE)?;
    Ok(vec![data.clone().into(), mask.into()])
}
