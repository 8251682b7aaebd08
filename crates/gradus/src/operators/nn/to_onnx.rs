//! Normalization in the operators of ONNX.

use gradus_core::Result;
use gradus_core::convert::i64_of;

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_onnx::{flag, int};
use crate::conversion::writer::NewValue;
use crate::normalize::Older;
use crate::operators::indices::axis as axis_of;

/// Before operator set 13, all axes from one on are one.
pub(crate) fn softmax(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let mut axis = cx.attributes.int("axis")?.unwrap_or(-1);
    if cx.target.form(operator).is(Older::Flattened) {
        let first = axis_of(axis, cx.rank(0)?)?;
        if first + 1 != cx.rank(0)? {
            return Err(cannot("ONNX before operator set 13 has an equivalent for the last axis only"));
        }
        axis = i64_of(first);
    }
    let x = cx.input(0)?;
    Ok(vec![cx.put(operator, &[x], &[int("axis", axis)])?])
}

/// Brought to a mean of 0 and, if it is wanted, a variance of 1.
pub(crate) fn mean_variance(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if !cx.has(1) {
        return Err(cannot("the specification of MVN-1 does not define the axes"));
    }
    cx.rounding(caveats::ORDER);
    let (x, axes, dtype) = (cx.input(0)?, cx.whole_list(1)?, cx.dtype(0)?);
    let keep = [flag("keepdims", true)];
    let mean = cx.put("ReduceMean", &[x, axes], &keep)?;
    let apart = cx.put("Sub", &[x, mean], &[])?;
    if !cx.attributes.flag("normalize_variance", true)? {
        return Ok(vec![apart]);
    }
    let squares = cx.put("Mul", &[apart, apart], &[])?;
    let variance = cx.put("ReduceMean", &[squares, axes], &keep)?;
    let epsilon = cx.attributes.float("eps")?.unwrap_or(0.0);
    let epsilon = cx.number(epsilon.into(), dtype)?;
    let inside = cx.attributes.text("eps_mode")?.is_some_and(|mode| mode.eq_ignore_ascii_case("inside_sqrt"));
    let by = if inside {
        let sum = cx.put("Add", &[variance, epsilon], &[])?;
        cx.put("Sqrt", &[sum], &[])?
    } else {
        let root = cx.put("Sqrt", &[variance], &[])?;
        cx.put("Add", &[root, epsilon], &[])?
    };
    Ok(vec![cx.put("Div", &[apart, by], &[])?])
}
