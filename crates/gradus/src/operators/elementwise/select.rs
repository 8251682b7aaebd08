//! Evaluation of Where.

use gradus_core::convert::product;
use gradus_core::{Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::op::EvalContext;
use crate::operators::indices;
use crate::operators::output::{allowed, one};

pub(crate) fn select(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (condition, yes, no) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    let shape = condition.shape().broadcast(yes.shape())?.broadcast(no.shape())?;
    let shape = allowed(cx, yes.dtype(), shape.dims())?;
    let [c, y, n] =
        [condition, yes, no].map(|tensor| indices::broadcast(tensor.shape().dims(), shape.dims()));
    // Three places for each element, and a list of them on the way.
    cx.reserve(product(shape.len(), 2 * size_of::<usize>()))?;
    let truth: Vec<_> = condition.numbers()?.map(|number| !number.is_zero()).collect();
    let each = (0..shape.len()).map(|i| if truth[c[i]] { (0, y[i]) } else { (1, n[i]) });
    one(Tensor::woven(&[yes, no], shape, each, &cx.limits())?)
}
