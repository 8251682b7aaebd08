//! Evaluation of Where.

use gradus_core::{DType, Limits, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::op::EvalContext;
use crate::output::{allowed, one};
use crate::strided::{Strided, by_width, elements};

/// `Where`: elements of the second or third input, by a condition.
pub fn select(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (condition, yes, no) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    check_types([condition, yes, no].map(|tensor| Some(tensor.dtype())))?;
    let shape = condition.shape().broadcast(yes.shape())?.broadcast(no.shape())?;
    let shape = allowed(cx, yes.dtype(), shape.dims())?;
    let strided = Strided::broadcast([condition, yes, no].map(Tensor::shape), &shape);
    let limits = cx.limits();
    by_width!(yes.dtype(), W => one(chosen::<W>(&strided, [condition, yes, no], shape, &limits)?), _ => {
        let mut places = vec![(0, 0); shape.len()];
        let truth = condition.codes()?;
        let [by_c, by_y, by_n] = strided.steps;
        strided.fill(&mut places, &limits, |[c, y, n], out| {
            for (at, out) in out.iter_mut().enumerate() {
                *out = if truth[c + at * by_c] == 0 { (1, n + at * by_n) } else { (0, y + at * by_y) };
            }
            Ok(())
        })?;
        one(Tensor::woven(&[yes, no], shape, places, &limits)?)
    })
}

/// Refuses element types of condition and operands that do not go together, as far as they are
/// known; OpenVINO's signatures name none.
pub(super) fn check_types([condition, yes, no]: [Option<DType>; 3]) -> Result<()> {
    match (condition, yes.zip(no)) {
        (Some(condition), _) if condition != DType::Bool => Err(errors::dtype(condition, DType::Bool.name())),
        (_, Some((yes, no))) if yes != no => Err(errors::dtype(no, yes.name())),
        _ => Ok(()),
    }
}

fn chosen<const W: usize>(
    strided: &Strided<3>,
    [condition, yes, no]: [&Tensor; 3],
    shape: Shape,
    limits: &Limits,
) -> Result<Tensor> {
    let (truth, y, n) = (elements::<1>(condition), elements::<W>(yes), elements::<W>(no));
    let [by_c, by_y, by_n] = strided.steps;
    let mut all = vec![[0; W]; shape.len()];
    strided.fill(&mut all, limits, |[c, from_y, from_n], out| {
        for (at, out) in out.iter_mut().enumerate() {
            *out = if truth[c + at * by_c] == [0] { n[from_n + at * by_n] } else { y[from_y + at * by_y] };
        }
        Ok(())
    })?;
    Tensor::from_bytes(yes.dtype(), shape, all.into_flattened().into())
}
