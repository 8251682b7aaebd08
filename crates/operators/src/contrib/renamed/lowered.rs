//! Operators that ONNX has under another name or in another form, as graphs of its operators.

use gradus_core::{DType, Result, Tensor};

use crate::contrib::values::{given, wide_input};
use crate::errors;
use crate::lowering::terms::{cast, of, shaped, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// Applies an ONNX operator to the inputs, with attributes of the same name.
pub fn same(l: &mut Lowering<'_>, operator: &str, names: &[&'static str]) -> Result<Vec<LoweredValue>> {
    let inputs: Vec<_> = (0..l.count()).map(|input| l.maybe(input)).collect();
    let attributes = given(l, names);
    let outputs = l.outputs();
    l.apply_many(operator, &inputs, &attributes, outputs)
}

/// `ExpandDims`: `Unsqueeze` of one axis, given as an input.
pub fn expand_dims(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    Ok(vec![of("Unsqueeze", l.input(0)?, cast(shaped(l.input(1)?, &[1]), DType::I64)).put(l)?])
}

/// `GatherND` of ONNX Runtime, whose indices may be of 32 bits.
pub fn gather_nd(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    Ok(vec![of("GatherND", l.input(0)?, cast(l.input(1)?, DType::I64)).put(l)?])
}

/// `Pad` of ONNX Runtime, whose pads may have an axis more.
pub fn pad(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (data, pads, mut value) = (l.input(0)?, l.input(1)?, l.maybe(2));
    let pads = l.reshape(pads, &[-1])?;
    if l.has(2) {
        value = l.reshape(value, &[])?;
    }
    let attributes = given(l, &["mode"]);
    Ok(vec![l.apply("Pad", &[data, pads, value], &attributes)?])
}

/// `Unique`: values in the order in which they occur, indices into them, and how often they occur.
pub fn unique(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    errors::expect_rank("input 0", l.rank_of(0)?, 1)?;
    let all = l.apply_many("Unique", &[x], &[int("sorted", 0)], 4)?;
    Ok(vec![all[0], all[2], all[3]])
}

/// `Range` of ONNX Runtime, whose step may be left out.
pub fn range(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let limit = l.input(1)?;
    let limit = l.reshape(limit, &[])?;
    let delta = if l.has(2) {
        let delta = l.input(2)?;
        l.reshape(delta, &[])?
    } else {
        let (one, dtype) = (l.constant(Tensor::scalar(1i64))?, l.dtype_of(0)?);
        l.cast(one, dtype)?
    };
    Ok(vec![with("Range", [shaped(l.input(0)?, &[]), limit.into(), delta.into()], []).put(l)?])
}

/// `IsAllFinite`: true if no element of any input is infinite or NaN.
pub fn is_all_finite(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (only_inf, only_nan) =
        (l.attributes.flag("isinf_only", false)?, l.attributes.flag("isnan_only", false)?);
    if only_inf && only_nan {
        return Err(errors::value("attributes \"isinf_only\" and \"isnan_only\"", "1", "at most one of 1"));
    }
    let tests: &[&str] = match (only_inf, only_nan) {
        (true, _) => &["IsInf"],
        (_, true) => &["IsNaN"],
        _ => &["IsInf", "IsNaN"],
    };
    let none = l.constant(Tensor::scalar(0i64))?;
    let mut count = none;
    for input in 0..l.count() {
        let x = wide_input(l, input)?;
        for test in tests {
            let found = l.apply(test, &[x], &[])?;
            let found = with("ReduceSum", [cast(found, DType::I64)], [int("keepdims", 0)]).put(l)?;
            count = l.apply("Add", &[count, found], &[])?;
        }
    }
    Ok(vec![l.apply("Equal", &[count, none], &[])?])
}
