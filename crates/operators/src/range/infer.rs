//! Inference of Range.

use std::sync::Arc;

use gradus_core::convert::{self, usize_of_i64};
use gradus_core::graph::Standard;
use gradus_core::{DType, Number};
use gradus_sequences::{Plan, RangeError};

use crate::dim::{Bounds, Dim};
use crate::fact::{Elements, Fact, Fraction, TensorFact};
use crate::infer::{InferContext, InferResult};
use crate::range::eval::RangeOp;

/// Facts about a range before a run. Of constants, the plan tells the length; of symbols, the
/// same formula does.
pub fn rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let standard = cx.row.map_or(Standard::Onnx, |row| row.standard);
    let range = RangeOp::of(standard, &cx.attributes)?;
    for input in 0..3 {
        let Some(dims) = cx.known_dims(input) else { continue };
        let known: Vec<_> = dims.iter().map(|dim| dim.known().and_then(usize_of_i64)).collect();
        if !range.is_scalar(&known) {
            let shape =
                dims.iter().map(|&dim| cx.symbols().print(dim).to_string()).collect::<Vec<_>>().join(", ");
            return Err(range.no_scalar(input, format_args!("[{shape}]")).into());
        }
        cx.one_element(input)?;
    }
    let dtype = range.cast_to.or_else(|| (0..3).find_map(|input| cx.dtype(input)));
    if let (Some(start), Some(limit), Some(step)) = (cx.constant(0), cx.constant(1), cx.constant(2)) {
        let plan = range.plan([&start, &limit, &step])?;
        let len = Dim::from(convert::usize_of(plan.len()));
        let both = match (start.number(0)?, step.number(0)?) {
            (Number::Int(start), Number::Int(step)) => {
                i64::try_from(start).ok().zip(i64::try_from(step).ok())
            }
            _ => None,
        };
        let elements = both.filter(|_| dtype.is_some_and(DType::is_integer));
        return Ok(vec![progression(
            dtype,
            len,
            elements.map(|(start, step)| (Dim::Known(start), Dim::Known(step))),
        )]);
    }
    if let Some(step) = cx.constant(2)
        && step.len() == 1
        && step.number(0)?.is_zero()
    {
        return Err(RangeError::ZeroStep.describe(range.labels).into());
    }
    let scalars = [cx.integer(0), cx.integer(1), cx.integer(2)];
    if let Some(step) = scalars[2] {
        cx.require_not_zero(step);
    }
    if let [Some(start), Some(limit), Some(step)] = scalars
        && let Some(len) = count(cx, start, limit, step)
    {
        return Ok(vec![progression(dtype, len, Some((start, step)))]);
    }
    let fractions = [cx.fractions(0), cx.fractions(1), cx.fractions(2)];
    if let [Some(start), Some(limit), Some(step)] = fractions
        && let Some(len) = count_of_fractions(cx, start[0], limit[0], step[0])
    {
        return Ok(vec![progression(dtype, len, None)]);
    }
    if !(0..3).any(|input| cx.depends_on_data(input)) && !is_decided(cx) {
        cx.require_of_values("start and limit are finite, and the step is not 0".to_owned());
    }
    let len = cx.data("number of elements from start to limit", Bounds::SIZE);
    Ok(vec![progression(dtype, len, None)])
}

/// Returns true if the start and the limit are finite, and the step is not zero, whatever sizes
/// are.
fn is_decided(cx: &mut InferContext<'_, '_>) -> bool {
    let ranges = [0, 1, 2].map(|input| cx.float_range(input));
    let [Some(start), Some(limit), Some([min, max])] = ranges else { return false };
    start.iter().chain(&limit).all(|end| end.is_finite()) && (min > 0.0 || max < 0.0)
}

fn progression(dtype: Option<DType>, len: Dim, both: Option<(Dim, Dim)>) -> Fact {
    let elements = both.map_or(Elements::Unknown, |both| Elements::Progression(Arc::new(both)));
    Fact::Tensor(TensorFact { dtype, dims: Some(Arc::new([len])), elements })
}

/// `max(ceil((limit - start)/step), 0)`, if the step's sign is known.
fn count(cx: &mut InferContext<'_, '_>, start: Dim, limit: Dim, step: Dim) -> Option<Dim> {
    let symbols = cx.symbols();
    let (span, step) = if symbols.at_least(step, 1) {
        (symbols.subtract(limit, start)?, step)
    } else if symbols.bounds(step).upper().is_some_and(|most| most < 0) {
        (symbols.subtract(start, limit)?, symbols.negate(step)?)
    } else {
        return None;
    };
    let count = symbols.ceil_divide(span, step)?;
    symbols.max(count, Dim::ZERO)
}

/// The number of elements of a range of fractions. Quotients are of fewer bits than float64 has, so
/// that rounding makes none an integer.
fn count_of_fractions(
    cx: &mut InferContext<'_, '_>,
    start: Fraction,
    limit: Fraction,
    step: Fraction,
) -> Option<Dim> {
    if start.rounded || limit.rounded || step.rounded {
        return None;
    }
    let by = step.over.known().filter(|&by| by != 0 && by.unsigned_abs() <= 1 << 24)?;
    let symbols = cx.symbols();
    let to = symbols.multiply(limit.over, Dim::Known(start.under))?;
    let from = symbols.multiply(start.over, Dim::Known(limit.under))?;
    let span = symbols.subtract(to, from)?;
    let over = symbols.multiply(span, Dim::Known(step.under.checked_mul(by.signum())?))?;
    let under = start.under.checked_mul(limit.under)?.checked_mul(by.checked_abs()?)?;
    let count = symbols.ceil_divide(over, Dim::Known(under))?;
    symbols.max(count, Dim::ZERO)
}
