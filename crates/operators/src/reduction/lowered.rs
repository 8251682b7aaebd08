//! Reductions and cumulative products as graphs of simpler operators.

use gradus_core::convert::i64_of;
use gradus_core::{Result, Tensor};

use crate::graphs::{like, number, widened};
use crate::lowering::terms::{f, ints, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// The logarithm of a sum of exponentials, of which the largest is 1.
pub fn reduce_log_sum_exp(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let axes = if l.has(1) {
        l.input(1)?
    } else if let Some(axes) = l.attributes.ints("axes")?.map(<[_]>::to_vec) {
        l.list(&axes)?
    } else {
        LoweredValue::NONE
    };
    let noop = int("noop_with_empty_axes", l.attributes.int_or("noop_with_empty_axes", 0)?);
    let kept = [noop.clone(), int("keepdims", 1)];
    let (x, zero) = (widened(l, 0)?, number(l, 0.0)?);
    let most = l.apply("ReduceMax", &[x, axes], &kept)?;
    let most = pick(f("IsInf", most), zero, most).put(l)?;
    let value = f("Exp", x - most).put(l)?;
    let value = l.apply("ReduceSum", &[value, axes], &kept)?;
    let mut value = (f("Log", value) + most).put(l)?;
    if !l.attributes.flag("keepdims", true)? {
        // The reduced axes are of one element now.
        value = l.apply("ReduceSum", &[value, axes], &[noop, int("keepdims", 0)])?;
    }
    Ok(vec![like(l, value, 0)?])
}

/// A number in the type of an input, of any type of numbers.
fn number_like(l: &mut Lowering<'_>, value: i64, input: usize) -> Result<LoweredValue> {
    let (dtype, rules) = (l.dtype_of(input)?, gradus_core::convert::Rules::IEEE);
    let tensor = gradus_core::convert::cast(&Tensor::scalar(value), dtype, rules)?;
    l.constant(tensor)
}

/// Products of the elements that come before each one on the axis, by the distance between them.
pub fn cum_prod(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let axis = l.integers_of(1)?.first().copied().unwrap_or_default();
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let axis = crate::lowering::axis(axis, rank)?;
    let size = l.length(x, i64_of(axis))?;
    let all = l.up_to(size)?;
    let mut ends = vec![1; rank + 1];
    let mut factors = ends.clone();
    (ends[axis], factors[axis + 1]) = (-1, -1);
    let (end, factor) = (l.reshape(all, &ends)?, l.reshape(all, &factors)?);
    let (exclusive, reverse) = (l.attributes.flag("exclusive", false)?, l.attributes.flag("reverse", false)?);
    let counts = match (exclusive, reverse) {
        (false, false) => "LessOrEqual",
        (true, false) => "Less",
        (false, true) => "GreaterOrEqual",
        (true, true) => "Greater",
    };
    let counts = l.apply(counts, &[factor, end], &[])?;
    let (rows, one) = (of("Unsqueeze", x, ints(&[i64_of(axis)])).put(l)?, number_like(l, 1, 0)?);
    let rows = l.apply("Where", &[counts, rows, one], &[])?;
    Ok(vec![with("ReduceProd", [rows.into(), ints(&[i64_of(axis) + 1])], [int("keepdims", 0)]).put(l)?])
}
