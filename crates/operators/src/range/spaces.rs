//! Linspace, logspace and geomspace as operators of graphs. ONNX has none of them, so they are of a
//! domain of our own.
//!
//! | operator | inputs | attributes |
//! |---|---|---|
//! | `LinSpace` | `start`, `stop`, `num` | `dtype`, `endpoint` = 1 |
//! | `LogSpace` | `start`, `stop`, `num`, `base` | the same |
//! | `GeomSpace` | `start`, `stop`, `num` | the same |
//!
//! Inputs are scalars. Elements are those of the plans, so a graph gives the bits that a fill
//! gives.

use gradus_core::convert::nearest_f64;
use gradus_core::{DType, Error, Kind, Number, Result, Value};
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan, SpaceError, samples};

use crate::attributes::required;
use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};
use crate::op::{BuildContext, EvalContext, Op};
use crate::row::{OWN_DOMAIN as DOMAIN, Sequence};
use crate::schema::{Arity, Param, Signature, Sort, Types, attribute, param};

#[rustfmt::skip]
const NUMBERS: Types = Types::tensors(&[
    DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64,
    DType::F16, DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128,
]);

const COUNTS: Types = Types::tensors(&[DType::I32, DType::I64]);

const fn number(name: &'static str) -> Param {
    param(name, "", NUMBERS, Arity::One)
}

pub const LINSPACE: Signature = Signature {
    domain: DOMAIN,
    name: "LinSpace",
    since: 1,
    deprecated: false,
    inputs: &[number("start"), number("stop"), param("num", "", COUNTS, Arity::One)],
    outputs: &[number("output")],
    attributes: &[attribute("dtype", Sort::String, true), attribute("endpoint", Sort::Int, false)],
};

pub const LOGSPACE: Signature = Signature {
    name: "LogSpace",
    inputs: &[
        number("start"),
        number("stop"),
        param("num", "", COUNTS, Arity::One),
        param("base", "", NUMBERS, Arity::One),
    ],
    ..LINSPACE
};

pub const GEOMSPACE: Signature = Signature { name: "GeomSpace", ..LINSPACE };

/// The names of start, stop, base and number of samples in errors.
const LABELS: [&str; 4] = ["input 0 \"start\"", "input 1 \"stop\"", "input 3 \"base\"", "input 2 \"num\""];

#[derive(Debug)]
struct SpaceOp {
    form: Sequence,
    dtype: DType,
    endpoint: bool,
}

/// Builds the sequence that the row names.
pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    let dtype = required("dtype", cx.attributes.dtype("dtype")?)?;
    if !NUMBERS.tensor.contains(dtype) {
        let wanted = format_args!("one of {NUMBERS}");
        return Err(Error::mismatch(Kind::Type, "attribute \"dtype\"", dtype, wanted));
    }
    let form = cx.row.sequence.filter(|form| *form != Sequence::Range);
    let form = form.expect("only rows of spaces name this");
    Ok(Box::new(SpaceOp { form, dtype, endpoint: cx.attributes.flag("endpoint", true)? }))
}

impl Op for SpaceOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let mut numbers = [Number::Int(0); 4];
        for (index, number) in numbers.iter_mut().enumerate().take(cx.inputs.len()) {
            *number = cx.tensor(index)?.only_number().map_err(|error| cx.wrong(index, &error))?;
        }
        let [start, stop, num, base] = numbers;
        let SpaceOp { form, dtype, endpoint } = *self;
        let described = |error: SpaceError| error.describe(LABELS);
        let num = samples(num).map_err(described)?;
        let (limits, in_use) = (cx.limits(), cx.in_use());
        let tensor = match form {
            Sequence::LinSpace => {
                let plan = LinspacePlan::new(start, stop, num, endpoint, dtype).map_err(described)?;
                gradus_kernels::tensor(&plan, &limits, in_use)
            }
            Sequence::LogSpace => {
                let plan = LogspacePlan::new(base, start, stop, num, endpoint, dtype).map_err(described)?;
                gradus_kernels::tensor(&plan, &limits, in_use)
            }
            Sequence::GeomSpace | Sequence::Range => {
                let plan = GeomspacePlan::new(start, stop, num, endpoint, dtype).map_err(described)?;
                gradus_kernels::tensor(&plan, &limits, in_use)
            }
        };
        Ok(vec![tensor?.into()])
    }
}

/// Shape of `LinSpace`, `LogSpace` and `GeomSpace`: the number of samples.
pub fn rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    for input in 0..cx.count() {
        cx.one_element(input)?;
    }
    let dtype = cx.attributes.dtype("dtype")?;
    let num = match cx.integer(2) {
        Some(Dim::Known(num)) if num < 0 => {
            return Err(SpaceError::Samples(nearest_f64(Number::Int(num.into()))).describe(LABELS).into());
        }
        Some(num) => num,
        None => cx.data("number of samples", Bounds::SIZE),
    };
    let dims = [num];
    Ok(vec![match dtype {
        Some(dtype) => Fact::typed(dtype, dims),
        None => Fact::shaped(dims),
    }])
}
