//! `linspace`, `logspace` and `arange`.
//!
//! | operator | inputs, of one element each | result |
//! |---|---|---|
//! | `linspace` | `start`, `stop`, `number` | [`LinspacePlan::paddle`]; none if `number` is 0 |
//! | `logspace` | `start`, `stop`, `num`, `base` | [`LogspacePlan::paddle`] |
//! | `arange` | `start`, `end`, `step` | ONNX's Range (`create.rs`) |
//!
//! The result has one axis, as long as the number says, and the type `dtype`; the inputs are cast
//! to it first. Elements are exact, rounded once. With
//! [`RunOptions::profile`](gradus_engine::program::RunOptions::profile) they are those that the
//! program gives.
//!
//! Source: the design of `paddle.logspace`, and `LogspaceInferMeta`.

use gradus_core::convert::{Rules, product, usize_of};
use gradus_core::{DType, Error, Kind, Number, Result, Shape, Tensor, Value};
use gradus_profiles::{LinspaceCall, LogspaceCall, Profile, RangeCall};
use gradus_sequences::{LinspacePlan, LogspacePlan, Plan, SpaceError};

use crate::dialects::paddle::{one, signature};
use crate::dim::{Bounds, Dim, Relation};
use crate::errors;
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};
use crate::lowering;
use crate::op::{BuildContext, EvalContext, Op};
use crate::schema::{Param, Signature};

pub const LINSPACE: &[Signature] =
    &[signature("linspace", const { &[one("start"), one("stop"), one("number")] })];

pub const LOGSPACE: &[Signature] = &[signature("logspace", POWERS)];

const POWERS: &[Param] = &[one("start"), one("stop"), one("num"), one("base")];

pub const ARANGE: &[Signature] = &[signature("arange", const { &[one("start"), one("end"), one("step")] })];

/// Number of the input that is the number of elements.
const NUM: usize = 2;

/// Inputs in the words of the text, for messages.
const LABELS: [&str; 4] =
    ["input 0 \"start\"", "input 1 \"stop\"", "input 3 \"base\"", "the number of elements"];

#[derive(Clone, Copy, Debug, PartialEq)]
enum PaddleSequence {
    Linspace,
    Logspace,
    Arange,
}

#[derive(Debug)]
struct PaddleSpace {
    /// The type of the elements; nothing if it is that of the first input.
    dtype: Option<DType>,
    sequence: PaddleSequence,
    /// True if the elements are those that the program gives.
    imitated: bool,
}

impl PaddleSpace {
    fn build(cx: &BuildContext<'_>, sequence: PaddleSequence) -> Result<Box<dyn Op>> {
        let dtype = cx.attributes.dtype("dtype")?;
        let imitated = cx.compiler.options().profile == Profile::Paddle;
        Ok(Box::new(PaddleSpace { dtype, sequence, imitated }))
    }

    /// The only element of an input.
    fn only(cx: &EvalContext<'_>, input: usize) -> Result<Number> {
        cx.tensor(input)?.only_number().map_err(|error| cx.wrong(input, &error))
    }

    /// The number of elements, which must be an integer.
    fn num(cx: &EvalContext<'_>) -> Result<Number> {
        let dtype = cx.tensor(NUM)?.dtype();
        if !dtype.is_integer() {
            return Err(cx.wrong(NUM, &Error::is_not(Kind::Type, dtype, "an integer type")));
        }
        PaddleSpace::only(cx, NUM)
    }

    fn dtype(&self, cx: &EvalContext<'_>) -> Result<DType> {
        self.dtype.map_or_else(|| Ok(cx.tensor(0)?.dtype()), Ok)
    }

    /// The elements as the text says.
    fn exact(&self, cx: &EvalContext<'_>) -> Result<Tensor> {
        let (start, stop, num) =
            (PaddleSpace::only(cx, 0)?, PaddleSpace::only(cx, 1)?, PaddleSpace::num(cx)?);
        let (limits, in_use, dtype) = (cx.limits(), cx.in_use(), Some(self.dtype(cx)?));
        let described = |error: SpaceError| match error {
            SpaceError::Samples(0.0) => errors::value(cx.label(NUM), 0, "at least 1"),
            error => error.describe(LABELS),
        };
        if self.sequence == PaddleSequence::Logspace {
            let plan = LogspacePlan::paddle(start, stop, num, PaddleSpace::only(cx, 3)?, dtype)
                .map_err(described)?;
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

    /// The elements as the program gives them.
    fn predicted(&self, cx: &EvalContext<'_>) -> Result<Tensor> {
        let (start, stop, dtype) = (PaddleSpace::only(cx, 0)?, PaddleSpace::only(cx, 1)?, self.dtype(cx)?);
        let profile = Profile::Paddle;
        let outcome = if self.sequence == PaddleSequence::Arange {
            let step = PaddleSpace::only(cx, 2)?;
            gradus_profiles::range(
                profile,
                &RangeCall::new([start, stop, step], cx.tensor(0)?.dtype(), dtype)?,
            )
        } else {
            let Number::Int(num) = PaddleSpace::num(cx)? else {
                return Err(cx.wrong(NUM, &Error::is_not(Kind::Type, "a float", "an integer")));
            };
            let num = i64::try_from(num).unwrap_or(i64::MAX);
            let exponents = LinspaceCall { start, stop, num, endpoint: true, dtype };
            match self.sequence {
                PaddleSequence::Logspace => gradus_profiles::logspace(
                    profile,
                    &LogspaceCall { exponents, base: PaddleSpace::only(cx, 3)? },
                ),
                _ => gradus_profiles::linspace(profile, &exponents),
            }
        };
        let predicted =
            outcome.map_err(|failure| Error::new(Kind::Value, format!("PaddlePaddle refuses: {failure}")))?;
        let len = usize_of(predicted.len());
        cx.reserve(product(len, dtype.bits() / 8 + size_of::<Number>()))?;
        let elements: Vec<Number> = predicted.elements().collect();
        Tensor::from_numbers(dtype, Shape::vector(len), elements, Rules::IEEE)
    }
}

impl Op for PaddleSpace {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        Ok(vec![if self.imitated { self.predicted(cx)? } else { self.exact(cx)? }.into()])
    }
}

/// One axis, as long as the number of elements says; the inputs have one element each.
pub fn rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    for input in 0..cx.count() {
        cx.one_element(input)?;
    }
    let least = i64::from(&*cx.node.operator.name == "logspace");
    let len = match cx.integer(NUM) {
        Some(Dim::Known(len)) if len < least => {
            return Err(errors::value(LABELS[3], len, format_args!("at least {least}")).into());
        }
        Some(len) => {
            if !cx.symbols().at_least(len, least) {
                cx.assume(len, Relation::AtLeast, Dim::Known(least));
            }
            len
        }
        None => cx.data("the number of elements", Bounds::SIZE),
    };
    let dtype = cx.attributes.dtype("dtype")?;
    Ok(vec![Fact::Tensor(crate::fact::TensorFact::new(dtype, Some([len].into())))])
}

/// Builds `linspace`: numbers of equal distance.
pub fn linspace(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    PaddleSpace::build(cx, PaddleSequence::Linspace)
}

/// Builds `logspace`: powers whose exponents have equal distance.
pub fn logspace(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    PaddleSpace::build(cx, PaddleSequence::Logspace)
}

/// Builds `arange`: as PaddlePaddle counts, for its profile; otherwise by its graph.
pub fn arange(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    match cx.compiler.options().profile {
        Profile::Paddle => PaddleSpace::build(cx, PaddleSequence::Arange),
        _ => lowering::build(cx),
    }
}
