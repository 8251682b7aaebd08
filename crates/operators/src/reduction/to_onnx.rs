//! Operators that make one element of many.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result};

use crate::attributes::required;
use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::indices::axis as axis_of;
use crate::lowering::terms::{Term, cast, of, summed, unsqueezed};
use crate::lowering::{LoweredValue, Lowering, flag, int};
use crate::matmul;
use crate::words;

/// The axes of a reduction: no axes are none.
pub enum Axes {
    None,
    Some(LoweredValue),
    /// There may be none.
    Computed(LoweredValue),
}

/// The axes of a reduction, each named once.
pub fn axes(l: &mut Lowering<'_>) -> Result<Axes> {
    let Some(named) = l.known_integers(1)? else {
        let list = l.whole_list(1)?;
        if l.len(1).is_none_or(|len| len > 1) {
            l.edges("OpenVINO reduces an axis that is named twice once, which is an error in ONNX");
        }
        return Ok(if l.len(1).is_some_and(|len| len > 0) { Axes::Some(list) } else { Axes::Computed(list) });
    };
    // An axis that is named twice is one.
    let mut once = Vec::new();
    for axis in named {
        let axis = match l.rank_if_known(0) {
            Some(rank) => i64_of(axis_of(axis, rank)?),
            None => axis,
        };
        if !once.contains(&axis) {
            once.push(axis);
        }
    }
    Ok(if once.is_empty() { Axes::None } else { Axes::Some(l.list(&once)?) })
}

fn reduce(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let keep = flag("keepdims", l.attributes.flag("keepdims", true)?);
    let lengths = matches!(operator, "ReduceL1" | "ReduceL2");
    Ok(vec![match axes(l)? {
        Axes::Some(axes) => l.apply(operator, &[x, axes], &[keep])?,
        Axes::None | Axes::Computed(_) if lengths => {
            return Err(cannot(
                "the specifications define reductions with an empty list of axes differently",
            ));
        }
        Axes::None => l.apply("Identity", &[x], &[])?,
        Axes::Computed(axes) => l.apply(operator, &[x, axes], &[keep, flag("noop_with_empty_axes", true)])?,
    }])
}

/// Writes `ReduceMax` or `ReduceMin`.
pub fn min_max(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    l.edges_of_floats(caveats::NAN);
    if l.may_be_empty(0) {
        l.edges(caveats::EMPTY);
    }
    reduce(l, operator)
}

/// The minimum of truth values is their conjunction. Older operator sets take them as numbers only.
pub fn of_truth(l: &mut Lowering<'_>, operator: &'static str) -> Result<Vec<LoweredValue>> {
    if l.may_be_empty(0) {
        l.edges(caveats::EMPTY);
    }
    if l.admits(operator, DType::Bool) {
        return reduce(l, operator);
    }
    let Axes::Some(axes) = axes(l)? else { return Err(l.unknown("list of the reduced axes")) };
    let keep = flag("keepdims", l.attributes.flag("keepdims", true)?);
    let found = Term::Apply(operator, vec![cast(l.input(0)?, DType::I32), axes.into()], vec![keep]);
    Ok(vec![cast(found, DType::Bool).write(l, DType::I32)?])
}

/// Writes `TopK`, sorted by value or by index.
pub fn top_k(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.edges_of_floats(caveats::NAN);
    let by = words::SORT.of(&l.attributes)?;
    let (sorted, by_index) = (by != "none", by == "index");
    if !sorted {
        l.edges(caveats::UNSORTED);
    }
    if sorted && !l.attributes.flag("stable", false)? {
        l.edges("the specifications do not define the order of equal elements");
    }
    let (x, k) = (l.input(0)?, l.whole_list(1)?);
    let axis = required("axis", l.attributes.int("axis")?)?;
    let largest = words::EXTREME.of(&l.attributes)? != "min";
    let attributes = [int("axis", axis), flag("largest", largest), flag("sorted", sorted)];
    let mut found = l.apply_many("TopK", &[x, k], &attributes, 2)?;
    if by_index {
        let ascending = [int("axis", axis), flag("largest", false), flag("sorted", true)];
        let by_index = l.apply_many("TopK", &[found[1], k], &ascending, 2)?;
        found = vec![l.apply("GatherElements", &[found[0], by_index[1]], &[int("axis", axis)])?, by_index[0]];
    }
    let to = l.attributes.dtype("index_element_type")?.unwrap_or(DType::I32);
    if to != DType::I64 {
        found[1] = l.cast(found[1], to)?;
    }
    Ok(found)
}

/// Writes a reduction that adds or multiplies.
pub fn sums(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    l.rounding_of_floats(caveats::ORDER);
    reduce(l, operator)
}

/// Writes `ReduceMean`.
pub fn reduce_mean(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.is_float(0) {
        l.rounding(caveats::ORDER);
    } else {
        l.rounding(caveats::MEAN);
    }
    reduce(l, "ReduceMean")
}

/// Writes `ReduceL2`.
pub fn reduce_l2(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::ORDER);
    reduce(l, "ReduceL2")
}

/// Writes `CumSum`, in int64 where ONNX lacks the type: sums wrap around all the same.
pub fn cum_sum(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding_of_floats(caveats::ORDER);
    let (x, axis, dtype) = (l.input(0)?, l.whole_scalar(1)?, l.dtype_of(0)?);
    let within = if dtype.is_integer() && dtype.bits() < 32 { DType::I64 } else { dtype };
    let x = l.in_type(x, dtype, within)?;
    let exclusive = flag("exclusive", l.attributes.flag("exclusive", false)?);
    let reverse = flag("reverse", l.attributes.flag("reverse", false)?);
    let sums = l.apply("CumSum", &[x, axis], &[exclusive, reverse])?;
    Ok(vec![l.in_type(sums, within, dtype)?])
}

/// Writes `Einsum` with its equation.
pub fn einsum(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding_of_floats(caveats::ORDER);
    let operands = l.given()?;
    let equation = l.attributes.text("equation")?.unwrap_or_default().to_owned();
    Ok(vec![matmul::ellipses::einsum(l, operands, &equation)?])
}

/// Number of bounds before each value.
fn bounds_before(
    l: &mut Lowering<'_>,
    [bounds, values]: [usize; 2],
    including: bool,
) -> Result<Vec<LoweredValue>> {
    let types = [l.dtype_of(bounds)?, l.dtype_of(values)?];
    if types.iter().any(|dtype| dtype.is_float()) {
        l.edges(caveats::NAN);
    }
    let (mut all, mut values) = (l.input(bounds)?, l.input(values)?);
    if types[0] != types[1] {
        if types.iter().any(|dtype| dtype.is_integer() && dtype.bits() == 64) {
            l.edges("integers that float64 does not represent");
        }
        (all, values) = (l.cast(all, DType::F64)?, l.cast(values, DType::F64)?);
    }
    let all = if l.rank_of(bounds)? > 1 { unsqueezed(all, &[-2]) } else { all.into() };
    let before = of(if including { "LessOrEqual" } else { "Less" }, all, unsqueezed(values, &[-1]));
    let count = summed(cast(before, DType::I64), &[-1]).write(l, DType::I64)?;
    let to = l.attributes.index_dtype("output_type")?.unwrap_or(DType::I64);
    Ok(vec![l.in_type(count, DType::I64, to)?])
}

/// Writes `Bucketize` as the number of bounds before each element.
pub fn bucketize(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let right = l.attributes.flag("with_right_bound", true)?;
    bounds_before(l, [1, 0], !right)
}

/// Writes `SearchSorted` as the number of elements before each value.
pub fn search_sorted(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let right = l.attributes.flag("right_mode", false)?;
    bounds_before(l, [0, 1], right)
}

/// Elements or slices that differ, their indices and how often they occur.
pub fn unique(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.is_float(0) {
        l.edges(caveats::NAN);
    }
    let x = l.input(0)?;
    let mut attributes = vec![flag("sorted", l.attributes.flag("sorted", true)?)];
    if l.has(1) {
        attributes.push(int("axis", l.integer(1)?));
    }
    let mut outputs = l.apply_many("Unique", &[x], &attributes, 4)?;
    let short = |l: &Lowering<'_>, name: &str| -> Result<bool> {
        Ok(l.attributes.index_dtype(name)? == Some(DType::I32))
    };
    let (indices, counts) = (short(l, "index_element_type")?, short(l, "count_element_type")?);
    for (output, short) in outputs[1..].iter_mut().zip([indices, indices, counts]) {
        if short {
            *output = l.cast(*output, DType::I32)?;
        }
    }
    Ok(outputs)
}
