//! Evaluation of Dropout.

use gradus_core::convert::{self};
use gradus_core::{DType, Kind, Number, Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::op::EvalContext;
use crate::operators::output::{allowed, wrong};

pub(crate) fn dropout(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let training = if cx.since() >= 12 {
        cx.has(2) && !cx.tensor(2)?.only_number()?.is_zero()
    } else {
        cx.since() < 7 && !attributes.flag("is_test", false)?
    };
    if training {
        return Err(wrong(Kind::Unsupported, "training drops elements at random, and is not run"));
    }
    let dtype = if cx.since() >= 10 { DType::Bool } else { data.dtype() };
    let shape = allowed(cx, dtype, data.shape().dims())?;
    let ones = vec![Number::Int(1); shape.len()];
    let mask = Tensor::from_numbers(dtype, shape, ones, convert::Rules::IEEE)?;
    Ok(vec![data.clone().into(), mask.into()])
}
