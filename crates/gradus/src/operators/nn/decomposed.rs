//! Operators of ONNX as graphs of simpler ones: how they are converted to standards and operator
//! sets that lack them. They compute in the type of the input, or in float32 if that is shorter.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Error, Kind, Result, Tensor};

use crate::attributes::required;
use crate::lowering::{LoweredValue, Lowering, int};
use crate::normalize::Older;
use crate::operators::errors;

/// Returns the error of a node that no graph of simpler operators computes.
pub(crate) fn unsupported(what: &str) -> Error {
    Error::new(Kind::Unsupported, format!("cannot convert {what} to simpler operators"))
}

/// The type of floats that a node computes in.
fn compute_type(l: &Lowering<'_>) -> Result<DType> {
    match l.dtype_of(0)? {
        DType::F64 => Ok(DType::F64),
        dtype if dtype.is_float() => Ok(DType::F32),
        dtype => Err(errors::dtype(dtype, "a type of floats")),
    }
}

/// An input in the type that the node computes in.
pub(crate) fn widened(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    let (value, dtype) = (l.input(input)?, compute_type(l)?);
    if l.dtype_of(input)? == dtype { Ok(value) } else { l.cast(value, dtype) }
}

/// A value in the type of an input.
pub(crate) fn like(l: &mut Lowering<'_>, value: LoweredValue, input: usize) -> Result<LoweredValue> {
    let dtype = l.dtype_of(input)?;
    if compute_type(l)? == dtype { Ok(value) } else { l.cast(value, dtype) }
}

/// A number of the type that the node computes in.
pub(crate) fn number(l: &mut Lowering<'_>, value: f64) -> Result<LoweredValue> {
    let tensor = Tensor::scalar(value);
    let rules = gradus_core::convert::Rules::IEEE;
    let tensor = gradus_core::convert::cast(&tensor, compute_type(l)?, rules)?;
    l.constant(tensor)
}

/// A float attribute, or its default.
fn parameter(l: &mut Lowering<'_>, name: &str, default: f32) -> Result<LoweredValue> {
    let value = l.attributes.float(name)?.unwrap_or(default);
    number(l, value.into())
}

pub(crate) fn celu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let slope = l.attributes.float("alpha")?.unwrap_or(1.0);
    if !(slope > 0.0 && slope.is_finite()) {
        return Err(unsupported(&format!("Celu with alpha={slope}")));
    }
    let (x, alpha) = (widened(l, 0)?, number(l, slope.into())?);
    let quotient = l.apply("Div", &[x, alpha], &[])?;
    let value = l.apply("Elu", &[quotient], &[])?;
    let value = l.apply("Mul", &[value, alpha], &[])?;
    Ok(vec![like(l, value, 0)?])
}

pub(crate) fn thresholded_relu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, alpha, zero) = (widened(l, 0)?, parameter(l, "alpha", 1.0)?, number(l, 0.0)?);
    let above = l.apply("Greater", &[x, alpha], &[])?;
    let value = l.apply("Where", &[above, x, zero], &[])?;
    Ok(vec![like(l, value, 0)?])
}

pub(crate) fn shrink(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let most = l.attributes.float("lambd")?.unwrap_or(0.5);
    let (x, bias, zero) = (widened(l, 0)?, parameter(l, "bias", 0.0)?, number(l, 0.0)?);
    let (low, high) = (number(l, (-most).into())?, number(l, most.into())?);
    let (below, above) = (l.apply("Less", &[x, low], &[])?, l.apply("Greater", &[x, high], &[])?);
    let (raised, lowered) = (l.apply("Add", &[x, bias], &[])?, l.apply("Sub", &[x, bias], &[])?);
    let value = l.apply("Where", &[above, lowered, zero], &[])?;
    let value = l.apply("Where", &[below, raised, value], &[])?;
    Ok(vec![like(l, value, 0)?])
}

/// 1 at the first maximum along an axis, 0 elsewhere.
pub(crate) fn hardmax(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, axis, rank) = (l.input(0)?, l.attributes.int_or("axis", -1)?, l.rank_of(0)?);
    let axis = crate::lowering::axis(axis, rank)?;
    if l.attributes.form().is(Older::Flattened) && axis + 1 != rank {
        return Err(unsupported("a Hardmax before version 13 over several axes"));
    }
    let axis = i64_of(axis);
    let first = l.apply("ArgMax", &[x], &[int("axis", axis), int("keepdims", 0)])?;
    let depth = l.apply("Shape", &[x], &[int("start", axis), int("end", axis + 1)])?;
    let dtype = l.dtype_of(0)?;
    let values =
        gradus_core::convert::cast(&Tensor::vector(&[0i64, 1]), dtype, gradus_core::convert::Rules::IEEE)?;
    let values = l.constant(values)?;
    Ok(vec![l.apply("OneHot", &[first, depth, values], &[int("axis", axis)])?])
}

/// The mean of all inputs.
pub(crate) fn mean(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let count = l.count();
    let mut sum = widened(l, 0)?;
    for input in 1..count {
        let added = widened(l, input)?;
        sum = l.apply("Add", &[sum, added], &[])?;
    }
    if count > 1 {
        let count = l.constant(Tensor::scalar(i64_of(count)))?;
        let dtype = compute_type(l)?;
        let count = l.cast(count, dtype)?;
        sum = l.apply("Div", &[sum, count], &[])?;
    }
    Ok(vec![like(l, sum, 0)?])
}

/// Divided by the norm along an axis, unless that is 0.
pub(crate) fn lp_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let operator = match l.attributes.int_or("p", 2)? {
        1 => "ReduceL1",
        2 => "ReduceL2",
        other => return Err(errors::value("attribute \"p\"", other, "1 or 2")),
    };
    let (axis, x, zero) = (l.attributes.int_or("axis", -1)?, widened(l, 0)?, number(l, 0.0)?);
    let axes = l.list(&[axis])?;
    let norm = l.apply(operator, &[x, axes], &[])?;
    let none = l.apply("Equal", &[norm, zero], &[])?;
    let quotient = l.apply("Div", &[x, norm], &[])?;
    let value = l.apply("Where", &[none, x, quotient], &[])?;
    Ok(vec![like(l, value, 0)?])
}

/// The logarithm of a sum of exponentials, of which the largest is 1.
pub(crate) fn reduce_log_sum_exp(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
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
    let infinite = l.apply("IsInf", &[most], &[])?;
    let most = l.apply("Where", &[infinite, zero, most], &[])?;
    let value = l.apply("Sub", &[x, most], &[])?;
    let value = l.apply("Exp", &[value], &[])?;
    let value = l.apply("ReduceSum", &[value, axes], &kept)?;
    let value = l.apply("Log", &[value], &[])?;
    let mut value = l.apply("Add", &[value, most], &[])?;
    if !l.attributes.flag("keepdims", true)? {
        // The reduced axes are of one element now.
        value = l.apply("ReduceSum", &[value, axes], &[noop, int("keepdims", 0)])?;
    }
    Ok(vec![like(l, value, 0)?])
}

pub(crate) fn swiglu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (gate, linear, alpha) = (widened(l, 0)?, widened(l, 1)?, parameter(l, "alpha", 1.0)?);
    let share = l.apply("Mul", &[gate, alpha], &[])?;
    let share = l.apply("Sigmoid", &[share], &[])?;
    let value = l.apply("Mul", &[gate, share], &[])?;
    let value = l.apply("Mul", &[value, linear], &[])?;
    Ok(vec![like(l, value, 0)?])
}

/// Turns pairs of the first elements of each head, or of all if that number is 0: neighbours, or
/// halves of them. The cosines and sines go with the heads.
pub(crate) fn turn(
    l: &mut Lowering<'_>,
    head: LoweredValue,
    [cos, sin]: [LoweredValue; 2],
    (turned, pairs): (i64, bool),
) -> Result<LoweredValue> {
    let (mut x, last) = (head, l.list(&[-1])?);
    let mut rest = None;
    if turned > 0 {
        let (zero, most, end) = (l.list(&[0])?, l.list(&[i64::MAX])?, l.list(&[turned])?);
        rest = Some(l.apply("Slice", &[x, end, most, last], &[])?);
        x = l.apply("Slice", &[x, zero, end, last], &[])?;
    }
    let before = l.shape(x)?;
    if pairs {
        x = l.reshape(x, &[0, 0, 0, -1, 2])?;
    }
    let halves = l.apply_many("Split", &[x], &[int("axis", -1), int("num_outputs", 2)], 2)?;
    let (mut a, mut b) = (halves[0], halves[1]);
    if pairs {
        (a, b) = (l.apply("Squeeze", &[a, last], &[])?, l.apply("Squeeze", &[b, last], &[])?);
    }
    let (along, across) = (l.apply("Mul", &[a, cos], &[])?, l.apply("Mul", &[b, sin], &[])?);
    let mut first = l.apply("Sub", &[along, across], &[])?;
    let (along, across) = (l.apply("Mul", &[a, sin], &[])?, l.apply("Mul", &[b, cos], &[])?);
    let mut second = l.apply("Add", &[along, across], &[])?;
    if pairs {
        first = l.apply("Unsqueeze", &[first, last], &[])?;
        second = l.apply("Unsqueeze", &[second, last], &[])?;
    }
    let mut value = l.apply("Concat", &[first, second], &[int("axis", -1)])?;
    if pairs {
        value = l.apply("Reshape", &[value, before], &[int("allowzero", 1)])?;
    }
    if let Some(rest) = rest {
        value = l.apply("Concat", &[value, rest], &[int("axis", -1)])?;
    }
    Ok(value)
}

/// Turns pairs of elements of each head by the angle of its position.
pub(crate) fn rotary(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (rank, input) = (l.rank_of(0)?, l.input(0)?);
    let shape = l.shape(input)?;
    let mut x = widened(l, 0)?;
    if rank == 3 {
        let heads = required("num_heads", l.attributes.int("num_heads")?)?;
        x = l.reshape(x, &[0, 0, errors::at_least_1("num_heads", heads)?, -1])?;
    }
    // Rows are by sample and step: heads stand between them, or behind them.
    let axis = l.list(&[if rank == 3 { 2 } else { 1 }])?;
    let mut turns = [x; 2];
    for (turn, input) in turns.iter_mut().zip([1, 2]) {
        *turn = widened(l, input)?;
        if l.has(3) {
            let positions = l.input(3)?;
            *turn = l.apply("Gather", &[*turn, positions], &[int("axis", 0)])?;
        }
        *turn = l.apply("Unsqueeze", &[*turn, axis], &[])?;
    }
    let turned = l.attributes.int_or("rotary_embedding_dim", 0)?;
    let pairs = l.attributes.flag("interleaved", false)?;
    let mut value = turn(l, x, turns, (turned, pairs))?;
    if rank == 3 {
        value = l.apply("Reshape", &[value, shape], &[int("allowzero", 1)])?;
    }
    Ok(vec![like(l, value, 0)?])
}

/// The heads of queries, keys or values: by sample, head, position and element.
fn heads(l: &mut Lowering<'_>, input: usize, name: &str) -> Result<(LoweredValue, Option<i64>)> {
    let (value, rank) = (widened(l, input)?, l.rank_of(input)?);
    if rank == 4 {
        return Ok((value, l.dims_of(input)?[1].and_then(|count| i64::try_from(count).ok())));
    }
    let count = errors::at_least_1(name, required(name, l.attributes.int(name)?)?)?;
    let value = l.reshape(value, &[0, 0, count, -1])?;
    let value = l.apply("Transpose", &[value], &[("perm", Content::Ints(vec![0, 2, 1, 3]))])?;
    Ok((value, Some(count)))
}

/// Each head, as often as queries share it.
pub(crate) fn shared(
    l: &mut Lowering<'_>,
    value: LoweredValue,
    times: i64,
    queries: i64,
) -> Result<LoweredValue> {
    let (axis, dims, count) = (l.list(&[2])?, l.list(&[1, 1, times, 1, 1])?, l.list(&[queries])?);
    let batch = l.apply("Shape", &[value], &[int("start", 0), int("end", 1)])?;
    let rest = l.apply("Shape", &[value], &[int("start", 2)])?;
    let shape = l.apply("Concat", &[batch, count, rest], &[int("axis", 0)])?;
    let value = l.apply("Unsqueeze", &[value, axis], &[])?;
    let value = l.apply("Expand", &[value, dims], &[])?;
    l.apply("Reshape", &[value, shape], &[int("allowzero", 1)])
}

/// The size of an axis, as a scalar.
pub(crate) fn size_of(l: &mut Lowering<'_>, value: LoweredValue, axis: i64) -> Result<LoweredValue> {
    let (shape, index) = (l.shape(value)?, l.constant(Tensor::scalar(axis))?);
    l.apply("Gather", &[shape, index], &[])
}

pub(crate) fn counted(l: &mut Lowering<'_>, size: LoweredValue) -> Result<LoweredValue> {
    let (zero, one) = (l.constant(Tensor::scalar(0i64))?, l.constant(Tensor::scalar(1i64))?);
    l.apply("Range", &[zero, size, one], &[])
}

/// The numbers that the mask adds to scores: minus infinity for keys beyond the mask.
fn mask(l: &mut Lowering<'_>, scores: LoweredValue) -> Result<LoweredValue> {
    let (zero, never, last) = (number(l, 0.0)?, number(l, f64::NEG_INFINITY)?, l.list(&[-1])?);
    let value = if l.dtype_of(3)? == DType::Bool {
        let given = l.input(3)?;
        l.apply("Where", &[given, zero, never], &[])?
    } else {
        widened(l, 3)?
    };
    let last_of = |l: &Lowering<'_>, input: usize, axis: usize| {
        l.dims_of(input).ok().and_then(|dims| dims.get(axis).copied().flatten())
    };
    let own = l.rank_of(3)?.checked_sub(1).and_then(|axis| last_of(l, 3, axis));
    let keys = last_of(l, 1, l.rank_of(1)?.saturating_sub(2)).filter(|_| !l.has(4));
    if own.is_some() && own == keys {
        return Ok(value);
    }
    let total = l.apply("Shape", &[scores], &[int("start", 3)])?;
    let own = l.apply("Shape", &[value], &[int("start", -1)])?;
    let more = l.apply("Sub", &[total, own], &[])?;
    let none = l.list(&[0])?;
    let pads = l.apply("Concat", &[none, more], &[int("axis", 0)])?;
    l.apply("Pad", &[value, pads, never, last], &[])
}

/// Scaled products of queries and keys, and the same below the bound that an attribute gives.
pub(crate) fn scores_of(
    l: &mut Lowering<'_>,
    [queries, keys]: [LoweredValue; 2],
    scale: Option<f32>,
) -> Result<[LoweredValue; 2]> {
    let across = l.apply("Transpose", &[keys], &[("perm", Content::Ints(vec![0, 1, 3, 2]))])?;
    let raw = l.apply("MatMul", &[queries, across], &[])?;
    let scale = if let Some(scale) = scale {
        number(l, scale.into())?
    } else {
        let (size, one, dtype) = (size_of(l, queries, 3)?, number(l, 1.0)?, compute_type(l)?);
        let size = l.cast(size, dtype)?;
        let root = l.apply("Sqrt", &[size], &[])?;
        l.apply("Div", &[one, root], &[])?
    };
    let raw = l.apply("Mul", &[raw, scale], &[])?;
    let cap = l.attributes.float("softcap")?.unwrap_or(0.0);
    if cap <= 0.0 {
        return Ok([raw, raw]);
    }
    let cap = number(l, cap.into())?;
    let part = l.apply("Div", &[raw, cap], &[])?;
    let part = l.apply("Tanh", &[part], &[])?;
    Ok([raw, l.apply("Mul", &[part, cap], &[])?])
}

/// Scaled products of queries and keys, which weigh values.
pub(crate) fn attention(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    for name in ["left_window_size", "right_window_size"] {
        if l.attributes.int_or(name, -1)? >= 0 {
            return Err(unsupported(&format!("Attention with {name}")));
        }
    }
    if l.has(6) {
        return Err(unsupported("Attention with nonpad_kv_seqlen"));
    }
    let flat = l.rank_of(0)? == 3;
    let (queries, count) = heads(l, 0, "q_num_heads")?;
    let (mut keys, shared_by) = heads(l, 1, "kv_num_heads")?;
    let (mut values, _) = heads(l, 2, "kv_num_heads")?;
    if l.has(4) && l.has(5) {
        let past = [widened(l, 4)?, widened(l, 5)?];
        keys = l.apply("Concat", &[past[0], keys], &[int("axis", 2)])?;
        values = l.apply("Concat", &[past[1], values], &[int("axis", 2)])?;
    }
    let present = [keys, values];
    let (Some(count), Some(own)) = (count, shared_by) else {
        return Err(crate::lowering::not_known("number of heads".to_owned()));
    };
    if own != count {
        if own == 0 || count % own != 0 {
            return Err(errors::value(
                "number of heads of queries",
                count,
                format_args!("a multiple of {own}"),
            ));
        }
        keys = shared(l, keys, count / own, count)?;
        values = shared(l, values, count / own, count)?;
    }
    let scale = l.attributes.float("scale")?;
    let [raw, mut scores] = scores_of(l, [queries, keys], scale)?;
    let mut stages = vec![raw, scores];
    if l.has(3) {
        let added = mask(l, scores)?;
        scores = l.apply("Add", &[scores, added], &[])?;
    }
    let never = number(l, f64::NEG_INFINITY)?;
    if l.attributes.flag("is_causal", false)? {
        let (length, total) = (size_of(l, queries, 2)?, size_of(l, keys, 2)?);
        let (mut rows, columns, last) = (counted(l, length)?, counted(l, total)?, l.list(&[-1])?);
        if l.has(4) {
            let past = l.input(4)?;
            let past = size_of(l, past, 2)?;
            rows = l.apply("Add", &[rows, past], &[])?;
        }
        let rows = l.apply("Unsqueeze", &[rows, last], &[])?;
        let later = l.apply("Greater", &[columns, rows], &[])?;
        scores = l.apply("Where", &[later, never, scores], &[])?;
    }
    stages.push(scores);
    let mut shares = l.apply("Softmax", &[scores], &[int("axis", -1)])?;
    if l.has(3) {
        // Where no key is attended to, the shares are 0.
        let (last, zero) = (l.list(&[-1])?, number(l, 0.0)?);
        let hidden = l.apply("Equal", &[scores, never], &[])?;
        let hidden = l.cast(hidden, DType::F32)?;
        let none = l.apply("ReduceMin", &[hidden, last], &[])?;
        let none = l.cast(none, DType::Bool)?;
        shares = l.apply("Where", &[none, zero, shares], &[])?;
    }
    stages.push(shares);
    let mut value = l.apply("MatMul", &[shares, values], &[])?;
    if flat {
        value = l.apply("Transpose", &[value], &[("perm", Content::Ints(vec![0, 2, 1, 3]))])?;
        value = l.reshape(value, &[0, 0, -1])?;
    }
    let mut all = vec![like(l, value, 0)?];
    for (input, value) in [1, 2].into_iter().zip(present).take(l.outputs().saturating_sub(1)) {
        all.push(like(l, value, input)?);
    }
    if l.outputs() > 3 {
        let mode = l.attributes.int_or("qk_matmul_output_mode", 0)?;
        let stage = usize::try_from(mode).ok().and_then(|mode| stages.get(mode).copied());
        let stage =
            stage.ok_or_else(|| errors::value("attribute \"qk_matmul_output_mode\"", mode, "0 to 3"))?;
        all.push(like(l, stage, 0)?);
    }
    Ok(all)
}
