//! Operators on quantized tensors, as graphs of ONNX's: dequantize, compute, quantize.
//!
//! Floats are float64, in which a code less its zero point times a scale is exact, but for
//! convolutions and pools: they are float32, the type for which runtimes have them. ONNX Runtime
//! computes all in float32, and may round to the next code.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::contrib::activations;
use crate::contrib::attention::lowered::{Projection, projected_attention};
use crate::contrib::embeddings::lowered::{Tables, embedded};
use crate::contrib::inputs::unsupported;
use crate::contrib::values::{channels_second, given, maybe_wide, number, plus, wide, wide_input};
use crate::lowering::terms::{cast, f, ints, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::{errors, indices};

/// The inputs that hold a tensor of codes, its scale and its zero point.
type Quantized = [usize; 3];

/// A scale in float64: one number, without axes.
fn scale(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    let given = l.input(input)?;
    let given = l.reshape(given, &[])?;
    wide(l, given)
}

/// A zero point in float64, if there is one.
fn zero_point(l: &mut Lowering<'_>, input: usize) -> Result<Option<LoweredValue>> {
    if !l.has(input) {
        return Ok(None);
    }
    scale(l, input).map(Some)
}

/// The numbers that the codes of a tensor stand for.
fn numbers(l: &mut Lowering<'_>, [codes, by, zero]: Quantized) -> Result<LoweredValue> {
    let codes = l.input(codes)?;
    let mut value = wide(l, codes)?;
    if let Some(zero) = zero_point(l, zero)? {
        value = l.apply("Sub", &[value, zero], &[])?;
    }
    let by = scale(l, by)?;
    l.apply("Mul", &[value, by], &[])
}

/// The numbers that codes stand for, whose scale and zero point may be one for each column.
fn numbers_by_column(l: &mut Lowering<'_>, [codes, by, zero]: Quantized) -> Result<LoweredValue> {
    let (codes, by) = (l.input(codes)?, l.input(by)?);
    let mut value = wide(l, codes)?;
    if l.has(zero) {
        let zero = l.input(zero)?;
        let zero = wide(l, zero)?;
        value = l.apply("Sub", &[value, zero], &[])?;
    }
    let by = wide(l, by)?;
    l.apply("Mul", &[value, by], &[])
}

/// The codes of numbers: divided by the scale, rounded to even, and clipped to the type of the
/// codes.
fn codes(
    l: &mut Lowering<'_>,
    value: LoweredValue,
    by: usize,
    zero: usize,
    dtype: DType,
) -> Result<LoweredValue> {
    let by = scale(l, by)?;
    let mut value = f("Round", value / by).put(l)?;
    if let Some(zero) = zero_point(l, zero)? {
        value = l.apply("Add", &[value, zero], &[])?;
    }
    let (low, high) = match dtype {
        DType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        DType::U8 => (0.0, f64::from(u8::MAX)),
        _ => return Err(errors::dtype(dtype, "int8 or uint8")),
    };
    let (low, high) = (l.constant(Tensor::scalar(low))?, l.constant(Tensor::scalar(high))?);
    let value = l.apply("Clip", &[value, low, high], &[])?;
    l.cast(value, dtype)
}

/// `QLinearAdd`, `QLinearMul`.
pub fn binary(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let (a, b) = (numbers(l, [0, 1, 2])?, numbers(l, [3, 4, 5])?);
    let value = l.apply(operator, &[a, b], &[])?;
    let dtype = l.dtype_of(0)?;
    Ok(vec![codes(l, value, 6, 7, dtype)?])
}

/// Operators of one tensor, whose outputs have its type.
fn unary(
    l: &mut Lowering<'_>,
    compute: impl FnOnce(&mut Lowering<'_>, LoweredValue) -> Result<LoweredValue>,
) -> Result<Vec<LoweredValue>> {
    let value = numbers(l, [0, 1, 2])?;
    let value = compute(l, value)?;
    let dtype = l.dtype_of(0)?;
    Ok(vec![codes(l, value, 3, 4, dtype)?])
}

/// `QLinearSigmoid`: the sigmoid of dequantized elements, quantized.
pub fn sigmoid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    unary(l, |l, x| l.apply("Sigmoid", &[x], &[]))
}

/// `QLinearLeakyRelu`: `LeakyRelu` of dequantized elements, quantized.
pub fn leaky_relu(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let alpha = l.attributes.float("alpha")?.unwrap_or(0.01);
    unary(l, |l, x| activations::lowered::leaky_relu(l, x, alpha))
}

/// `QLinearAveragePool`: `AveragePool` of dequantized elements, quantized.
pub fn average_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (rank, last) = (l.rank_of(0)?, l.attributes.flag("channels_last", false)?);
    let names = &["auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"];
    let attributes = given(l, names);
    unary(l, |l, x| {
        // Few programs have pools of float64.
        let x = l.cast(x, DType::F32)?;
        let value = channels_second(l, rank, last, x, |l, x| l.apply("AveragePool", &[x], &attributes))?;
        wide(l, value)
    })
}

/// `QLinearGlobalAveragePool`: the mean of dequantized elements over spatial axes, quantized.
pub fn global_average_pool(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (rank, last) = (l.rank_of(0)?, l.attributes.flag("channels_last", false)?);
    if rank < 3 {
        return Err(errors::rank("input 0", rank, "at least 3"));
    }
    let axes: Vec<_> = (0..rank - 2).map(|axis| i64_of(axis + if last { 1 } else { 2 })).collect();
    unary(l, |l, x| {
        let axes = l.list(&axes)?;
        l.apply("ReduceMean", &[x, axes], &[])
    })
}

/// `QLinearReduceMean`: the mean of dequantized elements over axes, quantized.
pub fn reduce_mean(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let axes = l.attributes.ints("axes")?.unwrap_or_default().to_vec();
    let attributes = given(l, &["keepdims"]);
    unary(l, |l, x| {
        let axes = l.list(&axes)?;
        l.apply("ReduceMean", &[x, axes], &attributes)
    })
}

/// `QLinearSoftmax` over an axis, or for operator sets before 13 over all axes from one on.
pub fn softmax(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let flattens = l.attributes.int_or("opset", 13)? < 13;
    let axis = l.attributes.int_or("axis", -1)?;
    let rank = l.rank_of(0)?;
    let axis = i64_of(indices::axis(axis, rank)?);
    unary(l, |l, x| {
        if !flattens {
            return l.apply("Softmax", &[x], &[int("axis", axis)]);
        }
        let shape = l.shape(x)?;
        let value =
            with("Softmax", [with("Flatten", [x.into()], [int("axis", axis)])], [int("axis", -1)]).put(l)?;
        l.apply("Reshape", &[value, shape], &[int("allowzero", 1)])
    })
}

/// `QLinearConcat`: dequantized tensors, concatenated and quantized.
pub fn concat(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let count = l.count();
    if count < 5 || count % 3 != 2 {
        return Err(errors::count("inputs", count, "two, and three for each tensor"));
    }
    let parts = (2..count).step_by(3).map(|first| numbers(l, [first, first + 1, first + 2]));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let attributes = given(l, &["axis"]);
    let value = l.apply("Concat", &parts, &attributes)?;
    let dtype = l.dtype_of(1)?;
    Ok(vec![codes(l, value, 0, 1, dtype)?])
}

/// `QLinearWhere`: dequantized elements, chosen by a condition and quantized.
pub fn choose(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, y) = (numbers(l, [1, 2, 3])?, numbers(l, [4, 5, 6])?);
    let value = pick(l.input(0)?, x, y).put(l)?;
    let dtype = l.dtype_of(1)?;
    Ok(vec![codes(l, value, 7, 8, dtype)?])
}

/// Codes less their zero point in float64, in which sums of products of them are exact.
fn centered(
    l: &mut Lowering<'_>,
    codes: LoweredValue,
    zero: usize,
    dims: Option<&[i64]>,
) -> Result<LoweredValue> {
    let codes = wide(l, codes)?;
    if !l.has(zero) {
        return Ok(codes);
    }
    let mut zero = l.input(zero)?;
    if let Some(dims) = dims {
        zero = l.reshape(zero, dims)?;
    }
    let zero = wide(l, zero)?;
    l.apply("Sub", &[codes, zero], &[])
}

/// `QLinearConv`, whose channels may come last: integer sums times both scales.
pub fn conv(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (rank, last) = (l.rank_of(0)?, l.attributes.flag("channels_last", false)?);
    if rank < 3 {
        return Err(errors::rank("input 0", rank, "at least 3"));
    }
    let names = &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];
    let attributes = given(l, names);
    // Scales and zero points of filters lie along their axis, and along that of channels.
    let mut filters = vec![1; rank];
    filters[0] = -1;
    let (x, w) = (l.input(0)?, l.input(3)?);
    let (x, w) = (centered(l, x, 2, Some(&[]))?, centered(l, w, 5, Some(&filters))?);
    let (by_x, by_w) = (scale(l, 1)?, l.input(4)?);
    let by_w = l.reshape(by_w, &filters[..rank - 1])?;
    let by_w = wide(l, by_w)?;
    let factors = l.apply("Mul", &[by_x, by_w], &[])?;
    // Few programs have convolutions of float64. Sums of up to 24 bits are exact in float32, and
    // others are rounded to 24 bits.
    let (x, w) = (l.cast(x, DType::F32)?, l.cast(w, DType::F32)?);
    let mut bias = l.maybe(8);
    if l.has(8) {
        bias = l.cast(bias, DType::F32)?;
    }
    let value = channels_second(l, rank, last, x, |l, x| {
        let sums = l.apply("Conv", &[x, w, bias], &attributes)?;
        let sums = wide(l, sums)?;
        l.apply("Mul", &[sums, factors], &[])
    })?;
    let dtype = l.dtype_of(7)?;
    Ok(vec![codes(l, value, 6, 7, dtype)?])
}

/// A convolution of integers, each less its zero point.
pub fn conv_integer(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let rank = l.rank_of(0)?;
    let attributes = given(l, &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"]);
    let mut filters = vec![1; rank];
    filters[0] = -1;
    let (x, w) = (l.input(0)?, l.input(1)?);
    let (x, w) = (centered(l, x, 2, Some(&[]))?, centered(l, w, 3, Some(&filters))?);
    let (x, w) = (l.cast(x, DType::F32)?, l.cast(w, DType::F32)?);
    let sums = l.apply("Conv", &[x, w], &attributes)?;
    Ok(vec![l.cast(sums, DType::I32)?])
}

/// A scale or zero point of a factor in the shape that goes with it: one for all, or one for each
/// row.
fn of_rows(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    let value = l.input(input)?;
    let value = wide(l, value)?;
    if l.rank_of(input)? == 1 { l.reshape(value, &[-1, 1]) } else { Ok(value) }
}

/// The product of a factor with scales of rows and one with scales of columns.
pub fn q_linear_mat_mul(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, zero, by) = (wide_input(l, 0)?, of_rows(l, 2)?, of_rows(l, 1)?);
    let a = ((a - zero) * by).put(l)?;
    let b = numbers_by_column(l, [3, 4, 5])?;
    let value = l.apply("MatMul", &[a, b], &[])?;
    let dtype = l.dtype_of(7)?;
    Ok(vec![codes(l, value, 6, 7, dtype)?])
}

/// A factor of a product of matrices, transposed if an attribute says so.
fn factor(l: &mut Lowering<'_>, input: usize, transposed: &str) -> Result<LoweredValue> {
    let value = l.input(input)?;
    errors::expect_rank(format_args!("input {input}"), l.rank_of(input)?, 2)?;
    if !l.attributes.flag(transposed, false)? {
        return Ok(value);
    }
    l.transposed(value, &[1, 0])
}

/// `QGemm`: an integer product and an integer sum, times both scales and `alpha`; codes, if there
/// is a scale for them.
pub fn gemm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, b) = (factor(l, 0, "transA")?, factor(l, 3, "transB")?);
    let (a, b) = (centered(l, a, 2, Some(&[]))?, centered(l, b, 5, None)?);
    let sums = l.apply("MatMul", &[a, b], &[])?;
    let sums = plus(l, sums, 6)?;
    let (by_a, by_b) = (scale(l, 1)?, wide_input(l, 4)?);
    let alpha = l.attributes.float("alpha")?.unwrap_or(1.0);
    let alpha = number(l, alpha.into())?;
    let factors = (by_a * by_b * alpha).put(l)?;
    let value = l.apply("Mul", &[sums, factors], &[])?;
    if !l.has(7) {
        return Ok(vec![l.cast(value, DType::F32)?]);
    }
    let dtype = if l.has(8) { l.dtype_of(8)? } else { l.dtype_of(0)? };
    Ok(vec![codes(l, value, 7, 8, dtype)?])
}

/// Sums of products of integers times the scales of both factors, and a bias.
fn scaled_product(
    l: &mut Lowering<'_>,
    factors: [LoweredValue; 2],
    scales: [LoweredValue; 2],
    bias: usize,
    dtype: DType,
) -> Result<LoweredValue> {
    let sums = l.apply("MatMul", &factors, &[])?;
    let (a, b) = (wide(l, scales[0])?, wide(l, scales[1])?);
    let value = (sums * (a * b)).put(l)?;
    let value = plus(l, value, bias)?;
    l.cast(value, dtype)
}

/// `MatMulIntegerToFloat`: a product of integers less zero points, times the scales.
pub fn mat_mul_integer_to_float(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, b, by_a, by_b) = (l.input(0)?, l.input(1)?, l.input(2)?, l.input(3)?);
    let (a, b, dtype) = (centered(l, a, 4, Some(&[]))?, centered(l, b, 5, None)?, l.dtype_of(2)?);
    let by_a = l.reshape(by_a, &[])?;
    Ok(vec![scaled_product(l, [a, b], [by_a, by_b], 6, dtype)?])
}

/// `DynamicQuantizeMatMul`: a product with a quantized matrix, whose first factor is quantized
/// first.
pub fn dynamic_quantize_mat_mul(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, b, by_b) = (l.input(0)?, l.input(1)?, l.input(2)?);
    let quantized = l.apply_many("DynamicQuantizeLinear", &[a], &[], 3)?;
    let (a, zero) = (wide(l, quantized[0])?, wide(l, quantized[2])?);
    let a = l.apply("Sub", &[a, zero], &[])?;
    let b = centered(l, b, 3, None)?;
    Ok(vec![scaled_product(l, [a, b], [quantized[1], by_b], 4, DType::F32)?])
}

/// Products of integers that wrap around at 32 bits.
pub fn mat_mul_integer16(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let b = l.input(1)?;
    let unsigned = l.dtype_of(0)? == DType::U16 && l.dtype_of(1)? == DType::U16;
    let dtype = if unsigned { DType::U32 } else { DType::I32 };
    let b = l.cast(b, dtype)?;
    Ok(vec![of("MatMul", cast(l.input(0)?, dtype), b).put(l)?])
}

/// `MulInteger`: a product of elements less their zero points.
pub fn mul_integer(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (a, b) = (l.input(0)?, l.input(2)?);
    let (a, b) = (centered(l, a, 1, Some(&[]))?, centered(l, b, 3, Some(&[]))?);
    let value = l.apply("Mul", &[a, b], &[])?;
    Ok(vec![l.cast(value, DType::I32)?])
}

/// `ReduceSumInteger`: a sum over axes, in 32 bits.
pub fn reduce_sum_integer(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let x = l.input(0)?;
    let to = if l.dtype_of(0)? == DType::U8 { DType::U32 } else { DType::I32 };
    let x = l.cast(x, to)?;
    let axes = l.attributes.ints("axes")?.unwrap_or_default().to_vec();
    let axes = l.list(&axes)?;
    let attributes = given(l, &["keepdims"]);
    Ok(vec![l.apply("ReduceSum", &[x, axes], &attributes)?])
}

/// `QAttention`: `Attention` of dequantized inputs and weights.
pub fn attention(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let of = Projection {
        input: numbers(l, [0, 3, 6])?,
        weights: numbers_by_column(l, [1, 4, 7])?,
        bias: maybe_wide(l, 2)?,
        past: maybe_wide(l, 8)?,
        added: LoweredValue::NONE,
        mask: 5,
    };
    let dtype = l.dtype_of(3)?;
    let outputs = projected_attention(l, &of)?;
    outputs.into_iter().map(|output| l.cast(output, dtype)).collect()
}

/// `QEmbedLayerNormalization`: `EmbedLayerNormalization` of dequantized tables.
pub fn embed(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let segments = if l.has(4) { numbers(l, [4, 10, 15])? } else { LoweredValue::NONE };
    let of = Tables {
        words: numbers(l, [2, 8, 13])?,
        positions: numbers(l, [3, 9, 14])?,
        segments,
        gamma: numbers(l, [5, 11, 16])?,
        beta: numbers(l, [6, 12, 17])?,
    };
    let [value, counts, sum] = embedded(l, &of)?;
    Ok(vec![l.cast(value, DType::F32)?, counts, l.cast(sum, DType::F32)?])
}

/// `QuantizeLinear`, `DequantizeLinear` with one scale, or one for each index of an axis.
pub fn linear(l: &mut Lowering<'_>, operator: &str) -> Result<Vec<LoweredValue>> {
    let (x, mut by, mut zero) = (l.input(0)?, l.input(1)?, l.maybe(2));
    let mut attributes = given(l, &["axis", "block_size"]);
    // One number may have an axis.
    if matches!(l.dims_of(1)?, [Some(1)]) {
        by = l.reshape(by, &[])?;
        if l.has(2) {
            zero = l.reshape(zero, &[])?;
        }
        attributes.clear();
    }
    Ok(vec![l.apply(operator, &[x, by, zero], &attributes)?])
}

/// The codes of less than 8 bits that the bytes of the last axis hold, the lowest bits first.
fn unpacked(l: &mut Lowering<'_>, bytes: LoweredValue, bits: i64) -> Result<LoweredValue> {
    let mut parts = Vec::new();
    let (mask, last) = (l.constant(Tensor::scalar(u8::MAX >> (8 - bits)))?, l.list(&[-1])?);
    for shift in (0u8..8).step_by(usize::try_from(bits).unwrap_or(8)) {
        let shift = l.constant(Tensor::scalar(shift))?;
        let part = l.apply("BitShift", &[bytes, shift], &[("direction", Content::Bytes("RIGHT".into()))])?;
        parts.push(of("Unsqueeze", of("BitwiseAnd", part, mask), last).put(l)?);
    }
    let value = l.apply("Concat", &parts, &[int("axis", -1)])?;
    // The last two axes become one.
    let shape = l.shape(bytes)?;
    let end = l.list(&[-1])?;
    let before = with("Slice", [shape.into(), ints(&[0]), end.into()], []).put(l)?;
    let shape = l.apply("Concat", &[before, end], &[int("axis", 0)])?;
    l.apply("Reshape", &[value, shape], &[])
}

/// `GatherBlockQuantized`: rows of codes, times the scales of their blocks.
pub fn gather(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (mut data, indices, mut by) = (l.input(0)?, l.input(1)?, l.input(2)?);
    let (rank, dtype) = (l.rank_of(0)?, l.dtype_of(0)?);
    let axis = indices::axis(l.attributes.int_or("gather_axis", 0)?, rank)?;
    let along = indices::axis(l.attributes.int_or("quantize_axis", 1)?, rank)?;
    let block = l.attributes.int_or("block_size", 128)?;
    let bits = l.attributes.int_or("bits", 4)?;
    let packed = dtype == DType::U8;
    if packed && ![2, 4, 8].contains(&bits) {
        return Err(errors::value("attribute \"bits\"", bits, "2, 4 or 8"));
    }
    if packed && bits < 8 && (axis == along || axis + 1 == rank) {
        return Err(unsupported(
            "GatherBlockQuantized along the axis of the blocks of packed codes, or of their bytes",
        ));
    }
    let added = l.rank_of(1)?;
    let gathered =
        |l: &mut Lowering<'_>, value| l.apply("Gather", &[value, indices], &[int("axis", i64_of(axis))]);
    // Gather takes no elements of 4 bits.
    let bytes = |l: &mut Lowering<'_>, value| match dtype {
        DType::I4 => l.cast(value, DType::I8),
        DType::U4 => l.cast(value, DType::U8),
        _ => Ok(value),
    };
    data = bytes(l, data)?;
    // Blocks of the axis itself are of the codes before any is taken.
    let within = axis == along;
    if !within {
        (data, by) = (gathered(l, data)?, gathered(l, by)?);
    }
    let mut zero = LoweredValue::NONE;
    if l.has(3) {
        zero = l.input(3)?;
        zero = bytes(l, zero)?;
        if !within {
            zero = gathered(l, zero)?;
        }
    }
    if packed && bits < 8 {
        data = unpacked(l, data, bits)?;
        if l.has(3) {
            zero = unpacked(l, zero, bits)?;
            // The last byte may have room for more than there are.
            let (shape, start) = (l.shape(by)?, l.list(&[-1])?);
            let end = with("Slice", [shape.into(), start.into(), ints(&[i64::MAX])], []).put(l)?;
            zero = with("Slice", [zero.into(), ints(&[0]), end.into(), start.into()], []).put(l)?;
        }
    }
    if packed && !l.has(3) {
        let middle = Tensor::scalar(1u8 << (bits - 1));
        let middle = l.constant(middle)?;
        zero = of("Expand", middle, f("Shape", by)).put(l)?;
    }
    // The axes of the indices take the place of one.
    let along = if along > axis { along + added - 1 } else { along };
    let attributes = [int("axis", i64_of(along)), int("block_size", block)];
    let value = l.apply("DequantizeLinear", &[data, by, zero], &attributes)?;
    Ok(vec![if within { gathered(l, value)? } else { value }])
}
