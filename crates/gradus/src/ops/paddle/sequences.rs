//! `linspace` and `logspace`.
//!
//! | operator | inputs, of one element each | result |
//! |---|---|---|
//! | `linspace` | `start`, `stop`, `number` | [`LinspacePlan::paddle`]; none if `number` is 0 |
//! | `logspace` | `start`, `stop`, `num`, `base` | [`LogspacePlan::paddle`] |
//!
//! The result has one axis, as long as the number says, and the type `dtype`; the ends and the base are cast to it first.
//! Elements are exact, rounded once. What PaddlePaddle itself computes is the profile `paddle`.
//!
//! Source: the design of `paddle.logspace`, and `LogspaceInferMeta`.

use gradus_core::seq::{LinspacePlan, LogspacePlan, Plan, SpaceError};
use gradus_core::{DType, Error, Kind, Number, Result, Tensor, Value};

use super::{one, signature};
use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::infer::{self, Cx, Outcome, Stop, paddle};
use crate::op::{EvalCx, NodeCx, Op, Schema};
use crate::schema::{Param, Signature};

pub(super) const SCHEMAS: &[Schema] = &[
    Schema::paddle(LINSPACE, |cx| Space::build(cx, false)),
    Schema::paddle(LOGSPACE, |cx| Space::build(cx, true)),
];

pub(super) const RULES: &[infer::Rules] = &[paddle(&["linspace", "logspace"], rule)];

const LINSPACE: &[Signature] =
    &[signature("linspace", const { &[one("start"), one("stop"), one("number")] })];
const LOGSPACE: &[Signature] = &[signature("logspace", POWERS)];
const POWERS: &[Param] = &[one("start"), one("stop"), one("num"), one("base")];

/// Which input is the number of elements.
const NUM: usize = 2;
/// Inputs in the words of the text, for messages.
const LABELS: [&str; 4] =
    ["input 0 \"start\"", "input 1 \"stop\"", "input 3 \"base\"", "the number of elements"];

#[derive(Debug)]
struct Space {
    dtype: DType,
    powers: bool,
}

impl Space {
    fn build(cx: &NodeCx<'_>, powers: bool) -> Result<Box<dyn Op>> {
        Ok(Box::new(Space { dtype: cx.dtype("dtype")?, powers }))
    }

    fn tensor(&self, cx: &EvalCx<'_>) -> Result<Tensor> {
        let only = |input: usize| -> Result<Number> {
            let tensor = cx.tensor(input)?;
            tensor.only_number().map_err(|error| cx.wrong(input, &error))
        };
        if !cx.tensor(NUM)?.dtype().is_integer() {
            let got = cx.tensor(NUM)?.dtype();
            let error = Error::new(Kind::Type, format!("is {got}, but an integer is wanted"));
            return Err(cx.wrong(NUM, &error));
        }
        let (start, stop, num, dtype) = (only(0)?, only(1)?, only(NUM)?, Some(self.dtype));
        let (limits, in_use) = (cx.limits(), cx.in_use());
        let described = |error: SpaceError| match error {
            SpaceError::Samples(0.0) => {
                Error::new(Kind::Value, format!("{} is 0, but must be above 0", cx.label(NUM)))
            }
            error => error.describe(LABELS),
        };
        if self.powers {
            let plan = LogspacePlan::paddle(start, stop, num, only(3)?, dtype).map_err(described)?;
            return gradus_kernels::tensor(&plan, &limits, in_use);
        }
        let plan = if num.is_zero() {
            // The text asks for more than none; the program has given none since version 3.
            LinspacePlan::paddle(start, stop, Number::Int(1), dtype).map(|plan| plan.slice(0..0))
        } else {
            LinspacePlan::paddle(start, stop, num, dtype)
        };
        gradus_kernels::tensor(&plan.map_err(described)?, &limits, in_use)
    }
}

impl Op for Space {
    fn eval(&self, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
        Ok(vec![self.tensor(cx)?.into()])
    }
}

/// One axis, as long as the number of elements says; the inputs have one element each.
fn rule(cx: &mut Cx<'_, '_>) -> Outcome {
    for input in 0..cx.count() {
        let Some(dims) = cx.known_dims(input) else { continue };
        let count = cx.product(&dims);
        if count.known().is_some_and(|count| count != 1) {
            let count = cx.symbols().print(count);
            return Err(Stop::shape(format!("input {input} has {count} elements, but one is wanted")));
        }
    }
    let least = i64::from(&*cx.node.operator.name == "logspace");
    let len = match cx.integer(NUM) {
        Some(Dim::Known(len)) if len < least => {
            return Err(Stop::shape(format!(
                "the number of elements is {len}, but at least {least} is wanted"
            )));
        }
        Some(len) => {
            if !cx.symbols().at_least(len, least) {
                cx.assume(len, ">=", Dim::Known(least));
            }
            len
        }
        None => cx.data("the number of elements", Bounds::EXTENT),
    };
    let dtype = cx.type_of("dtype");
    Ok(vec![Fact::Tensor(crate::fact::TensorFact::new(dtype, Some([len].into())))])
}
