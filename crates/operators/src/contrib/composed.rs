//! Operators on floats, as graphs of ONNX's.
//!
//! Where a node computes more than one thing, all but the last are float64, so that results are
//! rounded once.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use super::eval::unsupported;
use super::quantized::{channels_second, given, wide};
use crate::errors;
use crate::indices;
use crate::lowering::terms::{cast, f, ints, of, shaped, whole, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// An input in float64.
pub(super) fn wide_input(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    let value = l.input(input)?;
    wide(l, value)
}

/// An input in float64, or none.
pub(super) fn maybe_wide(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    if l.has(input) { wide_input(l, input) } else { Ok(LoweredValue::NONE) }
}

/// The output, in the type of the first input.
pub(super) fn like_first(l: &mut Lowering<'_>, value: LoweredValue) -> Result<Vec<LoweredValue>> {
    let dtype = l.dtype_of(0)?;
    Ok(vec![l.cast(value, dtype)?])
}

/// A number in float64.
pub(super) fn number(l: &mut Lowering<'_>, value: f64) -> Result<LoweredValue> {
    l.constant(Tensor::scalar(value))
}

/// The sum of an input in float64 and another, if it is given.
pub(super) fn plus(l: &mut Lowering<'_>, value: LoweredValue, input: usize) -> Result<LoweredValue> {
    if !l.has(input) {
        return Ok(value);
    }
    let added = wide_input(l, input)?;
    l.apply("Add", &[value, added], &[])
}

/// Gelu of float64, in float32 if the first input is not wider: few programs have it in float64.
pub(super) fn gelu(l: &mut Lowering<'_>, value: LoweredValue) -> Result<LoweredValue> {
    if l.dtype_of(0)? == DType::F64 {
        return l.apply("Gelu", &[value], &[]);
    }
    let value = f("Gelu", cast(value, DType::F32)).put(l)?;
    wide(l, value)
}

/// `LeakyRelu` of float64.
pub(super) fn leaky_relu(l: &mut Lowering<'_>, value: LoweredValue, alpha: f32) -> Result<LoweredValue> {
    let (zero, alpha) = (number(l, 0.0)?, number(l, alpha.into())?);
    let negative = l.apply("Less", &[value, zero], &[])?;
    let scaled = l.apply("Mul", &[value, alpha], &[])?;
    l.apply("Where", &[negative, scaled, value], &[])
}

/// Applies an ONNX operator to the inputs, with attributes of the same name.
pub fn same(l: &mut Lowering<'_>, operator: &str, names: &[&'static str]) -> Result<Vec<LoweredValue>> {
    let inputs: Vec<_> = (0..l.count()).map(|input| l.maybe(input)).collect();
    let attributes = given(l, names);
    let outputs = l.outputs();
    l.apply_many(operator, &inputs, &attributes, outputs)
}

/// `BiasAdd`: the sum of input, bias and a skipped input.
pub fn bias_add(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mut sum = wide_input(l, 0)?;
    for input in 1..l.count() {
        sum = plus(l, sum, input)?;
    }
    like_first(l, sum)
}

/// `BiasDropout`: a sum, of which training drops elements, and a residual.
pub fn bias_dropout(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let sum = wide_input(l, 0)?;
    let sum = plus(l, sum, 1)?;
    let (ratio, training) = (l.maybe(3), l.maybe(4));
    let attributes = given(l, &["seed"]);
    let dropped = l.apply_many("Dropout", &[sum, ratio, training], &attributes, 2)?;
    let value = plus(l, dropped[0], 2)?;
    let dtype = l.dtype_of(0)?;
    Ok(vec![l.cast(value, dtype)?, dropped[1]])
}

/// `BiasSoftmax`: softmax of a sum, over all axes from one on.
pub fn bias_softmax(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let axis = indices::axis(l.attributes.int_or("axis", 1)?, l.rank_of(0)?)?;
    let sum = wide(l, x)?;
    let sum = plus(l, sum, 1)?;
    let rows = l.apply("Flatten", &[sum], &[int("axis", i64_of(axis))])?;
    let value = l.apply("Softmax", &[rows], &[int("axis", -1)])?;
    let value = with("Reshape", [value.into(), f("Shape", l.input(0)?)], [int("allowzero", 1)]).put(l)?;
    like_first(l, value)
}

/// `BiasSplitGelu`: of the halves of the last axis of a sum, the first times Gelu of the second.
pub fn bias_split_gelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let sum = wide_input(l, 0)?;
    let sum = plus(l, sum, 1)?;
    let halves = l.apply_many("Split", &[sum], &[int("axis", -1), int("num_outputs", 2)], 2)?;
    let gate = gelu(l, halves[1])?;
    let value = l.apply("Mul", &[halves[0], gate], &[])?;
    like_first(l, value)
}

/// Normalizes groups of channels, and applies the function that `activation` names.
fn normalized_groups(l: &mut Lowering<'_>, x: LoweredValue) -> Result<LoweredValue> {
    let groups = l.attributes.int_or("groups", 1)?;
    let epsilon = l.attributes.float("epsilon")?.unwrap_or(1e-5);
    let silu = match l.attributes.int_or("activation", 0)? {
        0 => false,
        1 => true,
        other => return Err(errors::value("attribute \"activation\"", other, "0 or 1")),
    };
    let (rank, last) = (l.rank_of(0)?, l.attributes.flag("channels_last", true)?);
    let (gamma, beta) = (wide_input(l, 1)?, wide_input(l, 2)?);
    channels_second(l, rank, last, x, |l, x| {
        let attributes = [int("num_groups", groups), ("epsilon", Content::Float(epsilon))];
        let value = l.apply("GroupNormalization", &[x, gamma, beta], &attributes)?;
        if !silu {
            return Ok(value);
        }
        let gate = l.apply("Sigmoid", &[value], &[])?;
        l.apply("Mul", &[value, gate], &[])
    })
}

pub fn group_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = wide_input(l, 0)?;
    let value = normalized_groups(l, x)?;
    like_first(l, value)
}

/// `SkipGroupNorm`: the sum of input, skipped input and bias, normalized; and the sum.
pub fn skip_group_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mut skip = wide_input(l, 3)?;
    if l.rank_of(3)? == 2 {
        skip = of("Unsqueeze", skip, ints(&[1, 2])).put(l)?;
    }
    let sum = wide_input(l, 0)?;
    let sum = l.apply("Add", &[sum, skip], &[])?;
    let sum = plus(l, sum, 4)?;
    let value = normalized_groups(l, sum)?;
    let dtype = l.dtype_of(0)?;
    Ok(vec![l.cast(value, dtype)?, l.cast(sum, dtype)?])
}

/// `GemmFastGelu`: the approximate Gelu of a product and a bias.
pub fn gemm_fast_gelu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, weights) = (wide_input(l, 0)?, wide_input(l, 1)?);
    let value = l.apply("MatMul", &[x, weights], &[])?;
    let value = plus(l, value, 2)?;
    let value = l.apply("Gelu", &[value], &[("approximate", Content::Bytes("tanh".into()))])?;
    like_first(l, value)
}

/// `CDist`: distances between all rows of two matrices.
pub fn c_dist(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let square = match l.attributes.text("metric")? {
        None | Some("sqeuclidean") => true,
        Some("euclidean") => false,
        Some(other) => {
            return Err(errors::value("attribute \"metric\"", other, "euclidean or sqeuclidean"));
        }
    };
    let (a, b) = (wide_input(l, 0)?, wide_input(l, 1)?);
    let last = l.list(&[-1])?;
    let (a, b) = (of("Unsqueeze", a, ints(&[1])).put(l)?, of("Unsqueeze", b, ints(&[0])).put(l)?);
    let mut value = with("ReduceSumSquare", [a - b, last.into()], [int("keepdims", 0)]).put(l)?;
    if !square {
        value = l.apply("Sqrt", &[value], &[])?;
    }
    like_first(l, value)
}

pub fn expand_dims(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    Ok(vec![of("Unsqueeze", l.input(0)?, cast(shaped(l.input(1)?, &[1]), DType::I64)).put(l)?])
}

pub fn gather_nd(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    Ok(vec![of("GatherND", l.input(0)?, cast(l.input(1)?, DType::I64)).put(l)?])
}

/// `GridSample`, whose modes have other names.
pub fn grid_sample(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mode = match l.attributes.text("mode")? {
        None | Some("bilinear") => "linear",
        Some("bicubic") => "cubic",
        Some("nearest") => "nearest",
        Some(other) => {
            return Err(errors::value("attribute \"mode\"", other, "bilinear, bicubic or nearest"));
        }
    };
    let mut attributes = given(l, &["align_corners", "padding_mode"]);
    attributes.push(("mode", Content::Bytes(mode.into())));
    let (x, grid) = (l.input(0)?, l.input(1)?);
    Ok(vec![l.apply("GridSample", &[x, grid], &attributes)?])
}

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
    if l.rank_of(0)? != 1 {
        return Err(errors::rank("input 0", l.rank_of(0)?, 1));
    }
    let all = l.apply_many("Unique", &[x], &[int("sorted", 0)], 4)?;
    Ok(vec![all[0], all[2], all[3]])
}

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

/// `UnfoldTensor`: the windows of an axis, the elements of each along a new last axis.
pub fn unfold(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let axis = indices::axis(l.attributes.int_or("dim", -1)?, rank)?;
    let size = errors::at_least_1("size", l.attributes.int_or("size", 0)?)?;
    let step = errors::at_least_1("step", l.attributes.int_or("step", 1)?)?;
    let (zero, one) = (l.constant(Tensor::scalar(0i64))?, l.constant(Tensor::scalar(1i64))?);
    let (size, step) = (l.constant(Tensor::scalar(size))?, l.constant(Tensor::scalar(step))?);
    let index = l.constant(Tensor::scalar(i64_of(axis)))?;
    let rest = (of("Gather", f("Shape", x), index) - size).put(l)?;
    let starts = with("Range", [zero.into(), rest + one, step.into()], []).put(l)?;
    let starts = of("Unsqueeze", starts, ints(&[-1])).put(l)?;
    let offsets = l.apply("Range", &[zero, size, one], &[])?;
    let windows = with("Gather", [x.into(), starts + offsets], [int("axis", i64_of(axis))]).put(l)?;
    // The offsets are the axis behind that of the windows.
    let mut perm: Vec<_> = (0..=i64_of(rank)).collect();
    perm[axis + 1..].rotate_left(1);
    Ok(vec![l.transposed(windows, &perm)?])
}

/// A value with the last axis moved to index 1.
pub(super) fn channels_second_of(
    l: &mut Lowering<'_>,
    rank: usize,
    value: LoweredValue,
) -> Result<LoweredValue> {
    let mut perm: Vec<_> = (0..i64_of(rank)).collect();
    if let Some(rest) = perm.get_mut(1..) {
        rest.rotate_right(1.min(rest.len()));
    }
    l.transposed(value, &perm)
}

pub fn nhwc_max_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, rank) = (l.input(0)?, l.rank_of(0)?);
    let names = &["auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"];
    let attributes = given(l, names);
    let value = channels_second(l, rank, true, x, |l, x| l.apply("MaxPool", &[x], &attributes))?;
    Ok(vec![value])
}

/// The number of axes of a signal, which are the last.
fn signal_axes(l: &Lowering<'_>, rank: usize) -> Result<usize> {
    for (name, wanted) in [("onesided", 1), ("normalized", 0)] {
        let given = l.attributes.int_or(name, wanted)?;
        if given != wanted {
            return Err(errors::value(format_args!("attribute \"{name}\""), given, wanted));
        }
    }
    let count = l.attributes.int_or("signal_ndim", 1)?;
    let count = usize::try_from(count).ok().filter(|count| (1..=rank).contains(count));
    count.ok_or_else(|| {
        let given = l.attributes.int_or("signal_ndim", 1).unwrap_or(1);
        errors::value("attribute \"signal_ndim\"", given, format_args!("1 to {rank}"))
    })
}

/// The Fourier transform of an axis of complex numbers.
fn transformed(
    l: &mut Lowering<'_>,
    value: LoweredValue,
    axis: usize,
    attribute: Option<&'static str>,
) -> Result<LoweredValue> {
    let axis = l.constant(Tensor::scalar(i64_of(axis)))?;
    let attributes: Vec<_> = attribute.map(|name| int(name, 1)).into_iter().collect();
    l.apply("DFT", &[value, LoweredValue::NONE, axis], &attributes)
}

/// `Rfft`: the Fourier transform of real numbers, of whose last axis only the first half is kept.
pub fn rfft(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let rank = l.rank_of(0)?;
    let count = signal_axes(l, rank)?;
    let x = wide_input(l, 0)?;
    let x = of("Unsqueeze", x, ints(&[-1])).put(l)?;
    let mut value = transformed(l, x, rank - 1, Some("onesided"))?;
    for axis in rank - count..rank - 1 {
        value = transformed(l, value, axis, None)?;
    }
    like_first(l, value)
}

/// `Irfft`: the real numbers that have a Fourier transform, of whose last axis only the first half
/// is given.
pub fn irfft(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let rank = l.rank_of(0)?.saturating_sub(1);
    let count = signal_axes(l, rank)?;
    let mut value = wide_input(l, 0)?;
    for axis in rank - count..rank - 1 {
        value = transformed(l, value, axis, Some("inverse"))?;
    }
    // The other half, from the end: conjugates of all but the first and the last.
    let axis = rank - 1;
    let (start, end, axes, step) = (l.list(&[-2])?, l.list(&[0])?, l.list(&[i64_of(axis)])?, l.list(&[-1])?);
    let other = l.apply("Slice", &[value, start, end, axes, step], &[])?;
    let conjugate = l.constant(Tensor::vector(&[1f64, -1.0]))?;
    let all = with("Concat", [value.into(), other * conjugate], [int("axis", i64_of(axis))]).put(l)?;
    let all = transformed(l, all, axis, Some("inverse"))?;
    let real = with("Gather", [all.into(), whole(0)], [int("axis", -1)]).put(l)?;
    like_first(l, real)
}

/// `ComplexMul`, `ComplexMulConj`: products of complex numbers, whose parts are the last axis.
pub fn complex_mul(l: &mut Lowering<'_>, conjugates: bool) -> Result<Vec<LoweredValue>> {
    let mut parts = Vec::new();
    for input in 0..2 {
        let value = wide_input(l, input)?;
        parts.push(l.apply_many("Split", &[value], &[int("axis", -1), int("num_outputs", 2)], 2)?);
    }
    let (a, b) = (&parts[0], &parts[1]);
    let products = [(a[0], b[0]), (a[1], b[1]), (a[0], b[1]), (a[1], b[0])];
    let products = products.map(|(a, b)| l.apply("Mul", &[a, b], &[]));
    let [rr, ii, ri, ir] = products;
    let (rr, ii, ri, ir) = (rr?, ii?, ri?, ir?);
    let (real, imaginary) = if conjugates {
        (l.apply("Add", &[rr, ii], &[])?, l.apply("Sub", &[ir, ri], &[])?)
    } else {
        (l.apply("Sub", &[rr, ii], &[])?, l.apply("Add", &[ri, ir], &[])?)
    };
    let value = l.apply("Concat", &[real, imaginary], &[int("axis", -1)])?;
    like_first(l, value)
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

/// `TorchEmbedding`: rows of a table. What is said of gradients changes no result.
pub fn embedding(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    Ok(vec![of("Gather", l.input(0)?, l.input(1)?).put(l)?])
}

/// `GatedRelativePositionBias`: a bias of scores, times a gate that follows from the queries.
pub fn gated_relative_position_bias(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.has(6) {
        return Err(unsupported("GatedRelativePositionBias with token_offset"));
    }
    let heads = errors::at_least_1("num_heads", l.attributes.int_or("num_heads", 0)?)?;
    let queries = wide_input(l, 0)?;
    let queries = plus(l, queries, 1)?;
    let queries = l.reshape(queries, &[0, 0, heads, -1])?;
    let queries = l.transposed(queries, &[0, 2, 1, 3])?;
    let weights = wide_input(l, 3)?;
    let gates = l.apply("MatMul", &[queries, weights], &[])?;
    let gates = plus(l, gates, 4)?;
    let gates = l.reshape(gates, &[0, 0, 0, 2, -1])?;
    let gates = with("ReduceSum", [gates.into(), ints(&[-1])], [int("keepdims", 0)]).put(l)?;
    let gates = l.apply("Sigmoid", &[gates], &[])?;
    let gates = l.apply_many("Split", &[gates], &[int("axis", -1), int("num_outputs", 2)], 2)?;
    let (factor, one, two) = (wide_input(l, 5)?, number(l, 1.0)?, number(l, 2.0)?);
    let value = (gates[1] * factor - one).put(l)?;
    let value = (gates[0] * value + two).put(l)?;
    let positions = wide_input(l, 2)?;
    let value = l.apply("Mul", &[value, positions], &[])?;
    like_first(l, value)
}

/// `ScaledSiLU`, which is rounded to the type of the input at each of three steps.
pub fn scaled_silu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype) = (wide_input(l, 0)?, l.dtype_of(0)?);
    let factor = if l.has(1) {
        let given = wide_input(l, 1)?;
        l.reshape(given, &[])?
    } else {
        let alpha = l.attributes.float("alpha")?.unwrap_or(1.0);
        number(l, alpha.into())?
    };
    let scaled = l.apply("Mul", &[x, factor], &[])?;
    let scaled = l.cast(scaled, dtype)?;
    Ok(vec![(scaled * f("Sigmoid", scaled)).put(l)?])
}

/// `GatedAdd`, whose product is rounded to the type of the input. With weights, the gate of each
/// row is computed from them, and each step is rounded.
pub fn gated_add(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, y, mut gate) = (l.input(0)?, l.input(1)?, l.input(2)?);
    if l.has(3) {
        let dtype = l.dtype_of(0)?;
        let (rows, weights) = (wide_input(l, 2)?, wide_input(l, 3)?);
        gate = f("Sigmoid", cast(of("MatMul", rows, weights), dtype)).put(l)?;
    }
    Ok(vec![(x + (y * gate)).put(l)?])
}

/// Numbers divided by the root of the mean of their squares over the last axis.
fn root_mean_square(l: &mut Lowering<'_>, x: LoweredValue) -> Result<LoweredValue> {
    let epsilon = l.attributes.float("epsilon")?.unwrap_or(1e-5);
    let epsilon = number(l, epsilon.into())?;
    let mean = of("ReduceMean", x * x, ints(&[-1])).put(l)?;
    let root = f("Sqrt", mean + epsilon).put(l)?;
    l.apply("Div", &[x, root], &[])
}

/// `GatedRMSNorm`: normalized groups of the last axis, times a scale and a gate.
pub fn gated_rms_norm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let silu = match l.attributes.text("activation")? {
        None | Some("silu" | "swish") => true,
        Some("sigmoid") => false,
        Some(other) => {
            return Err(errors::value("attribute \"activation\"", other, "silu, swish or sigmoid"));
        }
    };
    let x = wide_input(l, 0)?;
    let width = i64_of(l.len_of(1)?);
    let rows = l.reshape(x, &[-1, width])?;
    let rows = root_mean_square(l, rows)?;
    let by = wide_input(l, 1)?;
    let value = of("Reshape", rows * by, f("Shape", x)).put(l)?;
    let gate = wide_input(l, 2)?;
    let mut factor = l.apply("Sigmoid", &[gate], &[])?;
    if silu {
        factor = l.apply("Mul", &[gate, factor], &[])?;
    }
    let value = l.apply("Mul", &[value, factor], &[])?;
    like_first(l, value)
}
