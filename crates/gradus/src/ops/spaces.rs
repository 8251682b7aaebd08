//! Linspace, logspace and geomspace as operators of graphs. ONNX has none of them, so they are of a domain of our own.
//!
//! | operator | inputs | attributes |
//! |---|---|---|
//! | `LinSpace` | `start`, `stop`, `num` | `dtype`, `endpoint` = 1 |
//! | `LogSpace` | `start`, `stop`, `num`, `base` | the same |
//! | `GeomSpace` | `start`, `stop`, `num` | the same |
//!
//! Inputs are scalars. Elements are those of the plans, so a graph gives the bits that a fill gives.

use gradus_core::seq::{GeomspacePlan, LinspacePlan, LogspacePlan, SpaceError, samples};
use gradus_core::{DType, Error, Kind, Number, Result, Value};

use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::infer::{Cx, Outcome, Rules, own};
use crate::op::{EvalCx, NodeCx, Op, Schema};
use crate::schema::{Arity, Param, Signature, Sort, Types, attribute, param};

/// The domain of operators that Gradus adds to those of ONNX.
pub(crate) const DOMAIN: &str = "gradus";

pub(super) const SCHEMAS: &[Schema] = &[
    Schema::own(&[LINSPACE], |cx| Space::build(cx, Form::Linspace)),
    Schema::own(&[LOGSPACE], |cx| Space::build(cx, Form::Logspace)),
    Schema::own(&[GEOMSPACE], |cx| Space::build(cx, Form::Geomspace)),
];

pub(super) const RULES: &[Rules] = &[own(&["LinSpace", "LogSpace", "GeomSpace"], rule)];

#[rustfmt::skip]
const NUMBERS: Types = Types::tensors(&[
    DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64,
    DType::F16, DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128,
]);

const COUNTS: Types = Types::tensors(&[DType::I32, DType::I64]);

const fn number(name: &'static str) -> Param {
    param(name, "", NUMBERS, Arity::One)
}

const LINSPACE: Signature = Signature {
    domain: DOMAIN,
    name: "LinSpace",
    since: 1,
    deprecated: false,
    inputs: &[number("start"), number("stop"), param("num", "", COUNTS, Arity::One)],
    outputs: &[number("output")],
    attributes: &[attribute("dtype", Sort::String, true), attribute("endpoint", Sort::Int, false)],
};

const LOGSPACE: Signature = Signature {
    name: "LogSpace",
    inputs: &[
        number("start"),
        number("stop"),
        param("num", "", COUNTS, Arity::One),
        param("base", "", NUMBERS, Arity::One),
    ],
    ..LINSPACE
};

const GEOMSPACE: Signature = Signature { name: "GeomSpace", ..LINSPACE };

#[derive(Clone, Copy, Debug)]
enum Form {
    Linspace,
    Logspace,
    Geomspace,
}

#[derive(Debug)]
struct Space {
    form: Form,
    dtype: DType,
    endpoint: bool,
}

impl Space {
    fn build(cx: &NodeCx<'_>, form: Form) -> Result<Box<dyn Op>> {
        let dtype = cx.dtype("dtype")?;
        if !NUMBERS.tensor.contains(dtype) {
            let message = format!("attribute \"dtype\" is {dtype}, but one of {NUMBERS} is wanted");
            return Err(Error::new(Kind::Type, message));
        }
        Ok(Box::new(Space { form, dtype, endpoint: cx.flag("endpoint", true)? }))
    }
}

impl Op for Space {
    fn eval(&self, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
        let mut numbers = [Number::Int(0); 4];
        for (index, number) in numbers.iter_mut().enumerate().take(cx.inputs.len()) {
            *number = cx.tensor(index)?.only_number().map_err(|error| cx.wrong(index, &error))?;
        }
        let [start, stop, num, base] = numbers;
        let Space { form, dtype, endpoint } = *self;
        let described = |error: SpaceError| {
            error.describe(["input 0 \"start\"", "input 1 \"stop\"", "input 3 \"base\"", "input 2 \"num\""])
        };
        let num = samples(num).map_err(described)?;
        let (limits, in_use) = (cx.limits(), cx.in_use());
        let tensor = match form {
            Form::Linspace => {
                let plan = LinspacePlan::new(start, stop, num, endpoint, dtype).map_err(described)?;
                gradus_kernels::tensor(&plan, &limits, in_use)
            }
            Form::Logspace => {
                let plan = LogspacePlan::new(base, start, stop, num, endpoint, dtype).map_err(described)?;
                gradus_kernels::tensor(&plan, &limits, in_use)
            }
            Form::Geomspace => {
                let plan = GeomspacePlan::new(start, stop, num, endpoint, dtype).map_err(described)?;
                gradus_kernels::tensor(&plan, &limits, in_use)
            }
        };
        Ok(vec![tensor?.into()])
    }
}

fn rule(cx: &mut Cx<'_, '_>) -> Outcome {
    let dtype = cx.text("dtype").and_then(|name| name.parse().ok());
    let num = match cx.integer(2) {
        Some(Dim::Known(num)) if num < 0 => {
            let message =
                format!("input 2 \"num\" is {num}, but a number of samples is an integer, 0 or more");
            return Err(Error::new(Kind::Value, message).into());
        }
        Some(num) => num,
        None => cx.data("the number of samples", Bounds::EXTENT),
    };
    let dims = [num];
    Ok(vec![match dtype {
        Some(dtype) => Fact::typed(dtype, dims),
        None => Fact::shaped(dims),
    }])
}
