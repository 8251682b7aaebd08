//! Operators of ONNX as graphs of simpler ones: how they are converted to standards and operator
//! sets that lack them. They compute in the type of the input, or in float32 if that is shorter.

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Error, Kind, Result, Shape, Tensor};

use crate::attributes::required;
use crate::errors;
use crate::generate::signal::Cosines;
use crate::lowering::terms::{self, cast, f, ints, joined, of, pick, shaped, with};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::nn::conv_pool::beyond;
use crate::normalize::Older;

/// Returns the error of a node that no graph of simpler operators computes.
pub fn unsupported(what: &str) -> Error {
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
pub fn widened(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    let (value, dtype) = (l.input(input)?, compute_type(l)?);
    if l.dtype_of(input)? == dtype { Ok(value) } else { l.cast(value, dtype) }
}

/// A value in the type of an input.
pub fn like(l: &mut Lowering<'_>, value: LoweredValue, input: usize) -> Result<LoweredValue> {
    let dtype = l.dtype_of(input)?;
    if compute_type(l)? == dtype { Ok(value) } else { l.cast(value, dtype) }
}

/// A number of the type that the node computes in.
pub fn number(l: &mut Lowering<'_>, value: f64) -> Result<LoweredValue> {
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

pub fn celu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let slope = l.attributes.float("alpha")?.unwrap_or(1.0);
    if !(slope > 0.0 && slope.is_finite()) {
        return Err(unsupported(&format!("Celu with alpha={slope}")));
    }
    let (x, alpha) = (widened(l, 0)?, number(l, slope.into())?);
    let value = f("Elu", x / alpha).put(l)?;
    let value = l.apply("Mul", &[value, alpha], &[])?;
    Ok(vec![like(l, value, 0)?])
}

pub fn thresholded_relu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, alpha, zero) = (widened(l, 0)?, parameter(l, "alpha", 1.0)?, number(l, 0.0)?);
    let value = pick(of("Greater", x, alpha), x, zero).put(l)?;
    Ok(vec![like(l, value, 0)?])
}

pub fn shrink(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let most = l.attributes.float("lambd")?.unwrap_or(0.5);
    let (x, bias, zero) = (widened(l, 0)?, parameter(l, "bias", 0.0)?, number(l, 0.0)?);
    let (low, high) = (number(l, (-most).into())?, number(l, most.into())?);
    let value = pick(of("Less", x, low), x + bias, pick(of("Greater", x, high), x - bias, zero)).put(l)?;
    Ok(vec![like(l, value, 0)?])
}

/// 1 at the first maximum along an axis, 0 elsewhere.
pub fn hardmax(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut x, axis, rank) = (l.input(0)?, l.attributes.int_or("axis", -1)?, l.rank_of(0)?);
    let mut axis = i64_of(crate::lowering::axis(axis, rank)?);
    let sizes = l.apply("Shape", &[x], &[])?;
    let flattens = l.attributes.form().is(Older::Flattened) && axis + 1 != i64_of(rank);
    if flattens {
        (x, axis) = (l.apply("Flatten", &[x], &[int("axis", axis)])?, 1);
    }
    let first = l.apply("ArgMax", &[x], &[int("axis", axis), int("keepdims", 0)])?;
    let depth = l.apply("Shape", &[x], &[int("start", axis), int("end", axis + 1)])?;
    let dtype = l.dtype_of(0)?;
    let values =
        gradus_core::convert::cast(&Tensor::vector(&[0i64, 1]), dtype, gradus_core::convert::Rules::IEEE)?;
    let values = l.constant(values)?;
    let y = l.apply("OneHot", &[first, depth, values], &[int("axis", axis)])?;
    Ok(vec![if flattens { l.apply("Reshape", &[y, sizes], &[int("allowzero", 1)])? } else { y }])
}

/// `Upsample`: a `Resize` that divides coordinates by the scale, and rounds them down.
pub fn upsample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let scales = match l.attributes.floats("scales")? {
        Some(scales) => l.constant(Tensor::vector(scales))?,
        None => l.input(1)?,
    };
    let mode = l.attributes.text("mode")?.unwrap_or("nearest");
    let word = |name: &'static str, word: &str| (name, Content::Bytes(word.to_owned().into()));
    let attributes = [
        word("mode", mode),
        word("coordinate_transformation_mode", "asymmetric"),
        word("nearest_mode", "floor"),
    ];
    let x = l.input(0)?;
    Ok(vec![l.apply("Resize", &[x, LoweredValue::NONE, scales], &attributes)?])
}

/// `Scatter`, which has another name since version 11.
pub fn scatter(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let axis = int("axis", l.attributes.int_or("axis", 0)?);
    let inputs = [l.input(0)?, l.input(1)?, l.input(2)?];
    Ok(vec![l.apply("ScatterElements", &inputs, &[axis])?])
}

/// `HannWindow` and its like: sums of cosines, in float64.
pub fn window(l: &mut Lowering<'_>, factors: Cosines) -> Result<Vec<LoweredValue>> {
    let dtype = l.attributes.dtype("output_datatype")?.unwrap_or(DType::F32);
    let size = l.input(0)?;
    let size = l.cast(size, DType::I64)?;
    let steps = l.up_to(size)?;
    let mut period = l.cast(size, DType::F64)?;
    let constant = |l: &mut Lowering<'_>, value: f64| l.constant(Tensor::scalar(value));
    if !l.attributes.flag("periodic", true)? {
        let one = constant(l, 1.0)?;
        period = l.apply("Sub", &[period, one], &[])?;
    }
    let turn = constant(l, 2.0 * std::f64::consts::PI)?;
    let angle = (cast(steps, DType::F64) * turn / period).put(l)?;
    let wave = |l: &mut Lowering<'_>, angle: LoweredValue, factor: f64| {
        let cosine = l.apply("Cos", &[angle], &[])?;
        let factor = l.constant(Tensor::scalar(factor))?;
        l.apply("Mul", &[cosine, factor], &[])
    };
    let mut sum = wave(l, angle, factors[1])?;
    if factors[2] != 0.0 {
        let twice = l.apply("Add", &[angle, angle], &[])?;
        let second = wave(l, twice, factors[2])?;
        sum = l.apply("Add", &[sum, second], &[])?;
    }
    let first = constant(l, factors[0])?;
    let sum = l.apply("Add", &[sum, first], &[])?;
    Ok(vec![l.cast(sum, dtype)?])
}

/// The mean of all inputs.
pub fn mean(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let count = l.count();
    let mut sum = widened(l, 0)?;
    for input in 1..count {
        let added = widened(l, input)?;
        sum = l.apply("Add", &[sum, added], &[])?;
    }
    if count > 1 {
        let count = l.constant(Tensor::scalar(i64_of(count)))?;
        let dtype = compute_type(l)?;
        sum = (sum / cast(count, dtype)).put(l)?;
    }
    Ok(vec![like(l, sum, 0)?])
}

/// Divided by the norm along an axis, unless that is 0.
pub fn lp_normalization(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let operator = match l.attributes.int_or("p", 2)? {
        1 => "ReduceL1",
        2 => "ReduceL2",
        other => return Err(errors::value("attribute \"p\"", other, "1 or 2")),
    };
    let (axis, x, zero) = (l.attributes.int_or("axis", -1)?, widened(l, 0)?, number(l, 0.0)?);
    let axes = l.list(&[axis])?;
    let norm = l.apply(operator, &[x, axes], &[])?;
    let value = pick(of("Equal", norm, zero), x, x / norm).put(l)?;
    Ok(vec![like(l, value, 0)?])
}

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

pub fn swiglu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (gate, linear, alpha) = (widened(l, 0)?, widened(l, 1)?, parameter(l, "alpha", 1.0)?);
    let share = f("Sigmoid", gate * alpha).put(l)?;
    let value = (gate * share * linear).put(l)?;
    Ok(vec![like(l, value, 0)?])
}

/// Turns pairs of the first elements of each head, or of all if that number is 0: neighbours, or
/// halves of them. The cosines and sines go with the heads.
pub fn turn(
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
    let mut first = (a * cos - (b * sin)).put(l)?;
    let mut second = (a * sin + (b * cos)).put(l)?;
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
pub fn rotary(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
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
            *turn = with("Gather", [(*turn).into(), l.input(3)?.into()], [int("axis", 0)]).put(l)?;
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
    let value = l.transposed(value, &[0, 2, 1, 3])?;
    Ok((value, Some(count)))
}

/// Each head, as often as queries share it.
pub fn shared(l: &mut Lowering<'_>, value: LoweredValue, times: i64, queries: i64) -> Result<LoweredValue> {
    let (dims, count) = (l.list(&[1, 1, times, 1, 1])?, l.list(&[queries])?);
    repeated(l, value, dims, count)
}

/// Each head as often as the dimensions behind it say; there are so many then.
fn repeated(
    l: &mut Lowering<'_>,
    value: LoweredValue,
    dims: LoweredValue,
    count: LoweredValue,
) -> Result<LoweredValue> {
    let axis = l.list(&[2])?;
    let batch = l.apply("Shape", &[value], &[int("start", 0), int("end", 1)])?;
    let rest = l.apply("Shape", &[value], &[int("start", 2)])?;
    let shape = l.apply("Concat", &[batch, count, rest], &[int("axis", 0)])?;
    let value = of("Expand", of("Unsqueeze", value, axis), dims).put(l)?;
    l.apply("Reshape", &[value, shape], &[int("allowzero", 1)])
}

/// The numbers that the mask adds to scores: minus infinity for keys beyond the mask.
fn mask(l: &mut Lowering<'_>, scores: LoweredValue) -> Result<LoweredValue> {
    let (zero, never) = (number(l, 0.0)?, number(l, f64::NEG_INFINITY)?);
    let value =
        if l.dtype_of(3)? == DType::Bool { pick(l.input(3)?, zero, never).put(l)? } else { widened(l, 3)? };
    let last_of = |l: &Lowering<'_>, input: usize, axis: usize| {
        l.dims_of(input).ok().and_then(|dims| dims.get(axis).copied().flatten())
    };
    let own = l.rank_of(3)?.checked_sub(1).and_then(|axis| last_of(l, 3, axis));
    let keys = last_of(l, 1, l.rank_of(1)?.saturating_sub(2)).filter(|_| !l.has(4));
    if own.is_some() && own == keys {
        return Ok(value);
    }
    let total = l.apply("Shape", &[scores], &[int("start", 3)])?;
    let more = (total - with("Shape", [value.into()], [int("start", -1)])).put(l)?;
    let none = l.list(&vec![0; (2 * l.rank_of(3)?).saturating_sub(1)])?;
    let pads = l.apply("Concat", &[none, more], &[int("axis", 0)])?;
    l.apply("Pad", &[value, pads, never], &[])
}

/// Scaled products of queries and keys, and the same below the bound that an attribute gives.
pub fn scores_of(
    l: &mut Lowering<'_>,
    [queries, keys]: [LoweredValue; 2],
    scale: Option<f32>,
) -> Result<[LoweredValue; 2]> {
    let across = l.transposed(keys, &[0, 1, 3, 2])?;
    let scale = if let Some(scale) = scale {
        number(l, scale.into())?
    } else {
        let (size, one, dtype) = (l.length(queries, 3)?, number(l, 1.0)?, compute_type(l)?);
        let root = f("Sqrt", cast(size, dtype)).put(l)?;
        l.apply("Div", &[one, root], &[])?
    };
    let raw = (of("MatMul", queries, across) * scale).put(l)?;
    let cap = l.attributes.float("softcap")?.unwrap_or(0.0);
    if cap <= 0.0 {
        return Ok([raw, raw]);
    }
    let cap = number(l, cap.into())?;
    let part = f("Tanh", raw / cap).put(l)?;
    Ok([raw, l.apply("Mul", &[part, cap], &[])?])
}

/// Scaled products of queries and keys, which weigh values.
pub fn attention(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
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
    if let (Some(count), Some(own)) = (count, shared_by) {
        if own == 0 || count % own != 0 {
            return Err(errors::value(
                "number of heads of queries",
                count,
                format_args!("a multiple of {own}"),
            ));
        }
        if own != count {
            keys = shared(l, keys, count / own, count)?;
            values = shared(l, values, count / own, count)?;
        }
    } else {
        let [count, own] = [l.length(queries, 1)?, l.length(keys, 1)?];
        let times = l.apply("Div", &[count, own], &[])?;
        let [count, times] = [l.reshape(count, &[1])?, l.reshape(times, &[1])?];
        let one = l.list(&[1])?;
        let dims = l.apply("Concat", &[one, one, times, one, one], &[int("axis", 0)])?;
        keys = repeated(l, keys, dims, count)?;
        values = repeated(l, values, dims, count)?;
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
        let (length, total) = (l.length(queries, 2)?, l.length(keys, 2)?);
        let (mut rows, columns, last) = (l.up_to(length)?, l.up_to(total)?, l.list(&[-1])?);
        if l.has(4) {
            let past = l.input(4)?;
            let past = l.length(past, 2)?;
            rows = l.apply("Add", &[rows, past], &[])?;
        }
        let later = of("Greater", columns, of("Unsqueeze", rows, last)).put(l)?;
        scores = l.apply("Where", &[later, never, scores], &[])?;
    }
    stages.push(scores);
    let mut shares = l.apply("Softmax", &[scores], &[int("axis", -1)])?;
    if l.has(3) {
        // Where no key is attended to, the shares are 0.
        let (last, zero) = (l.list(&[-1])?, number(l, 0.0)?);
        let none = of("ReduceMin", cast(of("Equal", scores, never), DType::F32), last).put(l)?;
        shares = pick(cast(none, DType::Bool), zero, shares).put(l)?;
    }
    stages.push(shares);
    let mut value = l.apply("MatMul", &[shares, values], &[])?;
    if flat {
        value = l.transposed(value, &[0, 2, 1, 3])?;
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

/// The middle of each axis, between zeros where more is wanted than there is.
pub fn center_crop_pad(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, wanted, rank) = (l.input(0)?, l.input(1)?, l.rank_of(0)?);
    let axes = l.attributes.ints("axes")?.map_or_else(|| (0..i64_of(rank)).collect(), <[i64]>::to_vec);
    let axes = axes.into_iter().map(|axis| crate::lowering::axis(axis, rank)).collect::<Result<Vec<_>>>()?;
    let places: Vec<_> = axes.iter().copied().map(i64_of).collect();
    let (zero, two, axes_list) = (l.list(&[0])?, l.list(&[2])?, l.list(&places)?);
    let wanted = l.cast(wanted, DType::I64)?;
    let own = of("Gather", f("Shape", x), axes_list).put(l)?;
    let more = l.apply("Sub", &[wanted, own], &[])?;
    let less = l.apply("Neg", &[more], &[])?;
    let [more, less] = [l.apply("Max", &[more, zero], &[])?, l.apply("Max", &[less, zero], &[])?];
    let [before, start] = [l.apply("Div", &[more, two], &[])?, l.apply("Div", &[less, two], &[])?];
    let end = (start + of("Min", wanted, own)).put(l)?;
    let middle = l.apply("Slice", &[x, start, end, axes_list], &[])?;
    // The last pad is 0, for the axes that are not named.
    let pads = with("Concat", [before.into(), more - before, zero.into()], [int("axis", 0)]).put(l)?;
    let mut from = vec![i64_of(2 * axes.len()); 2 * rank];
    for (place, &axis) in axes.iter().enumerate() {
        from[axis] = i64_of(place);
        from[rank + axis] = i64_of(axes.len() + place);
    }
    let nothing = Tensor::zeros(l.dtype_of(0)?, Shape::SCALAR)?;
    let (pads, nothing) = (of("Gather", pads, ints(&from)).put(l)?, l.constant(nothing)?);
    Ok(vec![l.apply("Pad", &[middle, pads, nothing], &[])?])
}

/// Points of an image or a volume, between -1 and 1, turned by the matrices of the batch.
pub fn affine_grid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let axes = l.len_of(1)?.saturating_sub(2);
    let (theta, size, corners) = (widened(l, 0)?, l.input(1)?, l.attributes.flag("align_corners", false)?);
    let (one, two, dtype) = (number(l, 1.0)?, number(l, 2.0)?, compute_type(l)?);
    let (from, most, first) = (l.list(&[2])?, l.list(&[i64::MAX])?, l.list(&[0])?);
    let sizes = l.apply("Slice", &[size, from, most, first], &[])?;
    // The coordinates of a point begin with the last axis, and end with 1.
    let unit = l.list(&[1])?;
    let shape = l.apply("Concat", &[sizes, unit], &[int("axis", 0)])?;
    let mut point = Vec::new();
    for axis in (0..axes).rev() {
        let index = l.constant(Tensor::scalar(i64_of(axis)))?;
        let count = l.apply("Gather", &[sizes, index], &[])?;
        let (steps, count) = (l.up_to(count)?, l.cast(count, dtype)?);
        let twice = (cast(steps, dtype) * two).put(l)?;
        let place = if corners {
            let last = of("Max", count - one, one).put(l)?;
            l.apply("Div", &[twice, last], &[])?
        } else {
            ((twice + one) / count).put(l)?
        };
        let mut along = vec![1; axes + 1];
        along[axis] = -1;
        point.push(of("Expand", shaped(place - one, &along), shape).put(l)?);
    }
    point.push(l.apply("Expand", &[one, shape], &[])?);
    let points = l.apply("Concat", &point, &[int("axis", -1)])?;
    let matrix = l.transposed(theta, &[0, 2, 1])?;
    let grid = of("MatMul", shaped(points, &[-1, i64_of(axes) + 1]), matrix).put(l)?;
    let batch = l.apply("Slice", &[size, first, unit, first], &[])?;
    let last = l.list(&[i64_of(axes)])?;
    let shape = l.apply("Concat", &[batch, sizes, last], &[int("axis", 0)])?;
    let grid = l.apply("Reshape", &[grid, shape], &[int("allowzero", 1)])?;
    Ok(vec![like(l, grid, 0)?])
}

/// Most elements of a block whose columns are added up by kernels, which have as many each.
const MAX_TAPS: i64 = 1024;

/// Columns of windows, added up where they were taken from: the transposed convolution by kernels
/// that have a 1 at one place each.
pub fn col2im(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let dtype = l.dtype_of(0)?;
    if !dtype.is_float() {
        return Err(unsupported(&format!("Col2Im of {dtype}")));
    }
    let (image, block) = (l.integers_of(1)?.to_vec(), l.integers_of(2)?.to_vec());
    let axes = image.len();
    let list = |name: &str, default: i64, len: usize| {
        let given = l.attributes.ints(name)?.map(<[i64]>::to_vec);
        Ok::<_, Error>(given.filter(|list| list.len() == len).unwrap_or_else(|| vec![default; len]))
    };
    let (strides, dilations) = (list("strides", 1, axes)?, list("dilations", 1, axes)?);
    let pads = list("pads", 0, 2 * axes)?;
    let taps = block.iter().try_fold(1, |taps: i64, &size| taps.checked_mul(size));
    let taps = taps.filter(|taps| (1..=MAX_TAPS).contains(taps) && block.len() == axes);
    let taps =
        taps.ok_or_else(|| unsupported(&format!("Col2Im of blocks of more than {MAX_TAPS} elements")))?;
    let (mut grid, mut more, mut kernel) = (vec![taps], Vec::new(), vec![taps, 1]);
    for axis in 0..axes {
        let sizes = [image[axis], block[axis], dilations[axis], strides[axis], pads[axis], pads[axes + axis]];
        let [image, block, dilation, stride, before, behind] = sizes.map(i128::from);
        let room = image + before + behind - (dilation * (block - 1) + 1);
        let [count, rest] = [room.checked_div_euclid(stride), room.checked_rem_euclid(stride)]
            .map(|number| number.and_then(|number| i64::try_from(number).ok()));
        let (Some(count), Some(rest)) = (count.and_then(|count| count.checked_add(1)), rest) else {
            return Err(unsupported("Col2Im of windows beyond 64 bits"));
        };
        grid.push(count);
        more.push(rest);
        kernel.push(sizes[1]);
    }
    let taps = usize_of_i64(taps).unwrap_or(0);
    let x = l.input(0)?;
    let mut shape = vec![-1];
    shape.extend(&grid);
    let planes = l.reshape(x, &shape)?;
    let rules = gradus_core::convert::Rules::IEEE;
    let identity: Vec<f32> =
        (0..taps * taps).map(|at| if at / taps == at % taps { 1.0 } else { 0.0 }).collect();
    let identity = l.constant(gradus_core::convert::cast(&Tensor::vector(&identity), dtype, rules)?)?;
    let kernels = l.reshape(identity, &kernel)?;
    let ints = |name, list: &[i64]| (name, Content::Ints(list.to_vec().into()));
    let attributes = [
        ints("strides", &strides),
        ints("dilations", &dilations),
        ints("pads", &pads),
        ints("output_padding", &more),
    ];
    let sum = l.apply("ConvTranspose", &[planes, kernels], &attributes)?;
    let batch = l.apply("Shape", &[x], &[int("start", 0), int("end", 1)])?;
    let sizes = l.list(&image)?;
    let shape = joined([batch.into(), terms::ints(&[-1]), sizes.into()], 0).put(l)?;
    Ok(vec![l.apply("Reshape", &[sum, shape], &[])?])
}

/// The norm of each window, or of all elements of a channel.
pub fn lp_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let order = l.attributes.int_or("p", 2)?;
    let x = widened(l, 0)?;
    let x = l.apply("Abs", &[x], &[])?;
    let raised = match order {
        1 => x,
        2 => l.apply("Mul", &[x, x], &[])?,
        _ => {
            let power = number(l, nearest(order))?;
            l.apply("Pow", &[x, power], &[])?
        }
    };
    let sum = if l.node_is("GlobalLpPool") {
        let axes: Vec<_> = (2..i64_of(l.rank_of(0)?)).collect();
        with("ReduceSum", [raised.into(), ints(&axes)], [int("noop_with_empty_axes", 1)]).put(l)?
    } else {
        if l.attributes.flag("ceil_mode", false)? {
            return Err(unsupported("LpPool with ceil_mode=1"));
        }
        let kernel = required("kernel_shape", l.attributes.ints("kernel_shape")?)?;
        let sizes: Vec<_> = l.dims_of(0)?.iter().skip(2).map(|size| size.map(i64_of)).collect();
        if beyond(&l.attributes, &sizes)?.iter().any(|&beyond| beyond > 0) {
            return Err(unsupported("LpPool of a window larger than the padded data"));
        }
        let taps = number(l, kernel.iter().copied().map(nearest).product())?;
        let names = ["auto_pad", "kernel_shape", "strides", "dilations", "pads"];
        let given = names.map(|name| l.attributes.get(name).map(|content| (name, content.clone())));
        let attributes: Vec<_> = given.into_iter().flatten().chain([int("count_include_pad", 1)]).collect();
        let mean = l.apply("AveragePool", &[raised], &attributes)?;
        l.apply("Mul", &[mean, taps], &[])?
    };
    let norm = match order {
        1 => sum,
        2 => l.apply("Sqrt", &[sum], &[])?,
        _ => {
            let inverse = number(l, 1.0 / nearest(order))?;
            l.apply("Pow", &[sum, inverse], &[])?
        }
    };
    Ok(vec![like(l, norm, 0)?])
}

fn nearest(value: i64) -> f64 {
    gradus_core::convert::nearest_f64(gradus_core::Number::Int(value.into()))
}

/// Losses of labels: the scores at them, weighed, and 0 for the label that is ignored.
pub fn loss(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut scores, mut labels, second) = (widened(l, 0)?, l.input(1)?, l.list(&[1])?);
    if l.node_is("SoftmaxCrossEntropyLoss") {
        scores = l.apply("LogSoftmax", &[scores], &[int("axis", 1)])?;
    }
    let zero = number(l, 0.0)?;
    let ignored = match l.attributes.int("ignore_index")? {
        Some(index) => {
            labels = l.cast(labels, DType::I64)?;
            let (index, none) = (l.constant(Tensor::scalar(index))?, l.constant(Tensor::scalar(0i64))?);
            let ignored = l.apply("Equal", &[labels, index], &[])?;
            labels = l.apply("Where", &[ignored, none, labels], &[])?;
            Some(ignored)
        }
        None => None,
    };
    let picked =
        with("GatherElements", [scores.into(), of("Unsqueeze", labels, second)], [int("axis", 1)]).put(l)?;
    let mut losses = f("Neg", of("Squeeze", picked, second)).put(l)?;
    let mut weights = None;
    if l.has(2) {
        let all = l.input(2)?;
        let dtype = compute_type(l)?;
        let all = l.cast(all, dtype)?;
        let each = l.apply("Gather", &[all, labels], &[])?;
        losses = l.apply("Mul", &[losses, each], &[])?;
        weights = Some(each);
    }
    if let Some(ignored) = ignored {
        let each = match weights {
            Some(each) => each,
            None => number(l, 1.0)?,
        };
        losses = l.apply("Where", &[ignored, zero, losses], &[])?;
        weights = Some(l.apply("Where", &[ignored, zero, each], &[])?);
    }
    let all = int("keepdims", 0);
    let loss = match (l.attributes.text("reduction")?.unwrap_or("mean"), weights) {
        ("none", _) => losses,
        ("sum", _) => l.apply("ReduceSum", &[losses], &[all])?,
        ("mean", None) => l.apply("ReduceMean", &[losses], &[all])?,
        ("mean", Some(weights)) => {
            let sum = l.apply("ReduceSum", &[losses], std::slice::from_ref(&all))?;
            (sum / with("ReduceSum", [weights.into()], [all])).put(l)?
        }
        (other, _) => return Err(errors::text("reduction", other, "none, sum or mean")),
    };
    Ok(vec![like(l, loss, 0)?, like(l, scores, 0)?])
}
