//! Gathers, scatters and slices as graphs of simpler operators, in operator sets and standards that
//! lack them.

use gradus_core::element::Bool;
use gradus_core::{DType, Result, Tensor};

use crate::conversion::caveats;
use crate::dialects::indices::{index, positions};
use crate::lowering::terms::{f, ints, of, with};
use crate::lowering::{LoweredValue, Lowering, along, int};

/// `Scatter`, which has another name since version 11.
pub fn scatter(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let axis = int("axis", l.attributes.int_or("axis", 0)?);
    let inputs = [l.input(0)?, l.input(1)?, l.input(2)?];
    Ok(vec![l.apply("ScatterElements", &inputs, &[axis])?])
}

/// The operator that reduces what is scattered, if the operator set has no attribute for it.
fn reduction(l: &Lowering<'_>, operator: &str) -> Result<Option<&'static str>> {
    let reduces = match l.attributes.text("reduction")? {
        Some("add") => "Add",
        Some("mul") => "Mul",
        Some("max") => "Max",
        Some("min") => "Min",
        _ => return Ok(None),
    };
    // Sums and products came with the attribute, extremes two sets later.
    let later = matches!(reduces, "Max" | "Min") && !l.is_newest(operator);
    let has = l.signature(operator).is_some_and(|signature| signature.has_attribute("reduction"));
    Ok((!has || later).then_some(reduces))
}

/// `ScatterND` with a reduction, update by update, in operator sets that lack it.
pub fn scatter_nd(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let Some(operator) = reduction(l, "ScatterND")? else { return l.itself() };
    let (data, indices, updates) = (l.input(0)?, l.input(1)?, l.input(2)?);
    let (sizes, of_data) = (l.shape(indices)?, l.shape(data)?);
    let depth = l.part_of(sizes, -1, i64::MAX)?;
    let left = with("Slice", [of_data.into(), depth.into(), ints(&[i64::MAX]), ints(&[0])], []);
    let left = left.write(l, DType::I64)?;
    let mut row = |x: LoweredValue, tail: LoweredValue| {
        of("Reshape", x, with("Concat", [ints(&[-1]), tail.into()], [along(0)])).write(l, DType::I64)
    };
    let (indices, updates) = (row(indices, depth)?, row(updates, left)?);
    one_by_one(l, [data, indices, updates], operator, ("GatherND", "ScatterND", None))
}

/// `ScatterElements` with a reduction, update by update, in operator sets that lack it.
pub fn scatter_elements(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let Some(operator) = reduction(l, "ScatterElements")? else { return l.itself() };
    let along = ("GatherElements", "ScatterElements", Some(l.attributes.int_or("axis", 0)?));
    let inputs = [l.input(0)?, l.input(1)?, l.input(2)?];
    one_by_one(l, inputs, operator, along)
}

/// A loop that reduces one slice of the updates after another, as an index may occur twice: along
/// an axis, or along the first one of rows of indices.
fn one_by_one(
    l: &mut Lowering<'_>,
    [data, indices, updates]: [LoweredValue; 3],
    operator: &str,
    (gather, scatter, axis): (&str, &str, Option<i64>),
) -> Result<Vec<LoweredValue>> {
    if !(l.dtype_of(0)?.is_integer() || matches!(operator, "Max" | "Min")) {
        l.rounding(caveats::ORDER);
    }
    let along = [int("axis", axis.unwrap_or(0))];
    let own = if axis.is_some() { &along[..] } else { &[] };
    let indices = l.cast(indices, DType::I64)?;
    let at = l.scalar(axis.unwrap_or(0))?;
    let count = of("Gather", f("Shape", indices), at).put(l)?;
    let reduced = l.repeated(count, &[data, indices, updates], |l, at, state| {
        let row = l.reshape(at, &[1])?;
        let [part, update] =
            [l.apply("Gather", &[state[1], row], &along)?, l.apply("Gather", &[state[2], row], &along)?];
        let before = l.apply(gather, &[state[0], part], own)?;
        let after = l.apply(operator, &[before, update], &[])?;
        let next = l.apply(scatter, &[state[0], part, after], own)?;
        let goes_on = l.constant(Tensor::scalar(Bool::from(true)))?;
        Ok((goes_on, vec![next, state[1], state[2]]))
    })?;
    Ok(vec![reduced[0]])
}

/// The indices with those of the batch before them, which count along its axes.
pub fn gather_nd(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let batch = l.attributes.int_or("batch_dims", 0)?;
    if batch == 0 {
        return l.itself();
    }
    let indices = l.input(1)?;
    let sizes = l.shape(indices)?;
    let rows = l.part_of(sizes, 0, -1)?;
    let column = with("Concat", [rows.into(), ints(&[1])], [along(0)]);
    let ones = of("Expand", ints(&[1]), column).write(l, DType::I64)?;
    let mut all = Vec::new();
    for axis in 0..batch {
        let axis = l.scalar(axis)?;
        all.push(l.apply("CumSum", &[ones, axis], &[int("exclusive", 1)])?);
    }
    all.push(indices);
    let indices = l.apply("Concat", &all, &[int("axis", -1)])?;
    Ok(vec![of("GatherND", l.input(0)?, indices).put(l)?])
}

/// The flat indices of a slice say where the new elements go.
pub fn slice_scatter(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let (whole, count) = (l.shape(x)?, l.apply("Size", &[x], &[])?);
    let places = positions(l, count)?;
    let places = l.apply("Reshape", &[places, whole], &[int("allowzero", 1)])?;
    // Start, stop, step, axes.
    let mut bounds = Vec::new();
    for input in [2, 3, 5, 4] {
        bounds.push(if l.has(input) { index(l, input)? } else { LoweredValue::NONE });
    }
    let places = l.apply("Slice", &[places, bounds[0], bounds[1], bounds[2], bounds[3]], &[])?;
    let update = of("Expand", l.input(1)?, f("Shape", places)).put(l)?;
    let [flat, places, update] = [l.reshape(x, &[-1])?, l.reshape(places, &[-1])?, l.reshape(update, &[-1])?];
    let flat = l.apply("ScatterElements", &[flat, places, update], &[])?;
    Ok(vec![l.apply("Reshape", &[flat, whole], &[int("allowzero", 1)])?])
}
