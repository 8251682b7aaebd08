//! Quantized tensors in the operators of OpenVINO: integers are `x / scale + zero_point`.

use gradus_core::convert::{i64_of, nearest_f64, product, usize_of_i64};
use gradus_core::{DType, Number, Result, Tensor};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::types::largest_float8;
use crate::conversion::writer::NewValue;
use crate::errors;
use crate::fact::range_of;

/// A scale or zero point in the shape that goes with the first input.
fn along(cx: &mut ConvertContext<'_, '_>, input: usize, value: NewValue) -> Result<NewValue> {
    if cx.attributes.int_or("block_size", 0)? != 0 {
        return Err(cannot("OpenVINO has no equivalent of scales of blocks"));
    }
    match cx.rank(input)? {
        0 => Ok(value),
        1 if cx.len(input) == Some(1) => cx.reshaped(value, &[]),
        1 => {
            let axis = cx.axis(cx.attributes.int_or("axis", 1)?, 0)?;
            let mut dims = vec![1; cx.rank(0)?];
            *dims.get_mut(axis).ok_or_else(|| cannot("axis of the scales is out of range"))? = -1;
            cx.reshaped(value, &dims)
        }
        _ => Err(cannot("OpenVINO has no equivalent of scales of blocks")),
    }
}

/// The zero point as a float, if there is one.
fn zero_point(cx: &mut ConvertContext<'_, '_>, input: usize, dtype: DType) -> Result<Option<NewValue>> {
    if !cx.has(input) {
        return Ok(None);
    }
    let value = cx.input(input)?;
    let value = along(cx, input, value)?;
    cx.converted(value, dtype).map(Some)
}

/// Returns an error for scales that no operator of OpenVINO computes with.
fn expect_scales(dtype: DType) -> Result<()> {
    if [DType::F16, DType::BF16, DType::F32, DType::F64].contains(&dtype) {
        return Ok(());
    }
    Err(cannot(format!("OpenVINO has no equivalent of scales of {dtype}")))
}

/// Returns an error for element types that are not integers of 8 to 32 bits.
fn expect_integers(dtype: DType) -> Result<()> {
    let known = [DType::U8, DType::I8, DType::U16, DType::I16, DType::I32];
    if known.contains(&dtype) {
        return Ok(());
    }
    Err(cannot(format!("OpenVINO has no equivalent of tensors quantized to {dtype}")))
}

fn all_zero(tensor: &Tensor) -> bool {
    tensor.numbers().is_ok_and(|mut all| all.all(|number| nearest_f64(number) == 0.0))
}

fn quotient(cx: &mut ConvertContext<'_, '_>, a: NewValue, b: NewValue) -> Result<NewValue> {
    cx.put("Divide", &[a, b], &[numpy(), say("m_pythondiv", false)])
}

/// The nearest integer after a shift, within the range of its type.
fn saturated(
    cx: &mut ConvertContext<'_, '_>,
    x: NewValue,
    zero_point: Option<NewValue>,
    to: DType,
) -> Result<NewValue> {
    let mut value = cx.put("Round", &[x], &[say("mode", "half_to_even")])?;
    if let Some(zero_point) = zero_point {
        value = cx.put("Add", &[value, zero_point], &[numpy()])?;
    }
    let (low, high) = range_of(to).unwrap_or((0, 255));
    let [low, high] = [low, high].map(|bound| nearest_f64(Number::Int(bound.into())));
    let value = cx.put("Clamp", &[value], &[say("min", low), say("max", high)])?;
    cx.converted(value, to)
}

/// A value in another shape, of which zeros may be sizes that are copied.
fn shaped(cx: &mut ConvertContext<'_, '_>, value: NewValue, dims: &[i64], copies: bool) -> Result<NewValue> {
    let dims = cx.list(dims);
    cx.put("Reshape", &[value, dims], &[say("special_zero", copies)])
}

/// Codes in blocks along an axis, each with its own scale and zero point.
fn dequantized_blocks(cx: &mut ConvertContext<'_, '_>, block: i64, dtype: DType) -> Result<NewValue> {
    let axis = cx.axis(cx.attributes.int_or("axis", 1)?, 0)?;
    let dims = cx.dims(0).ok_or_else(|| not_known("rank of input 0"))?;
    // A size before the axis that is not known is copied.
    let copies = dims.iter().any(Option::is_none);
    let known = |(at, size): (usize, &Option<i64>)| size.or((at < axis).then_some(0));
    let dims: Option<Vec<_>> = dims.iter().enumerate().map(known).collect();
    let dims = dims.ok_or_else(|| not_known("sizes of input 0"))?;
    let size = *dims.get(axis).ok_or_else(|| cannot("axis of the blocks is out of range"))?;
    // One block may be longer than the axis.
    let block = if size < block { size.max(1) } else { block };
    if block < 1 {
        return Err(errors::value("attribute \"block_size\"", block, "at least 0"));
    }
    if size % block != 0 {
        cx.conversion.limits.allow_bytes(0, product(usize_of_i64(size).unwrap_or(usize::MAX), 16))?;
        return uneven_blocks(
            cx,
            dtype,
            i64_of(axis),
            &(0..size).map(|index| index / block).collect::<Vec<_>>(),
        );
    }
    let around = |own: [i64; 2]| [&dims[..axis], &own, &dims[axis + 1..]].concat();
    let (parts, one) = (around([size / block, block]), around([size / block, 1]));
    let x = cx.input(0)?;
    let x = shaped(cx, x, &parts, copies)?;
    let mut value = cx.converted(x, dtype)?;
    if cx.has(2) {
        let zero = cx.input(2)?;
        let zero = shaped(cx, zero, &one, copies)?;
        let zero = cx.converted(zero, dtype)?;
        value = cx.put("Subtract", &[value, zero], &[numpy()])?;
    }
    let scale = cx.input(1)?;
    let scale = shaped(cx, scale, &one, copies)?;
    let value = cx.put("Multiply", &[value, scale], &[numpy()])?;
    shaped(cx, value, &dims, copies)
}

/// Codes in blocks of which the last is shorter: each index along the axis is of one block.
fn uneven_blocks(
    cx: &mut ConvertContext<'_, '_>,
    dtype: DType,
    axis: i64,
    blocks: &[i64],
) -> Result<NewValue> {
    let (blocks, axis, x) = (cx.list(blocks), cx.scalar(axis), cx.input(0)?);
    let mut value = cx.converted(x, dtype)?;
    for (input, operator) in [(2, "Subtract"), (1, "Multiply")] {
        if cx.has(input) {
            let own = cx.input(input)?;
            let own = cx.converted(own, dtype)?;
            let own = cx.put("Gather", &[own, blocks, axis], &[say("batch_dims", 0)])?;
            value = cx.put(operator, &[value, own], &[numpy()])?;
        }
    }
    Ok(value)
}

/// Writes `DequantizeLinear` as `Convert`, `Subtract` and `Multiply`.
pub fn dequantize(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (from, dtype) = (cx.dtype(0)?, cx.dtype(1)?);
    let of_floats = largest_float8(from).is_some();
    if !of_floats && ![DType::I4, DType::U4].contains(&from) {
        expect_integers(from)?;
    }
    expect_scales(dtype)?;
    if from.bits() > 16 || dtype != DType::F32 {
        cx.rounding(caveats::FUNCTION);
    }
    if cx.attributes.dtype("output_dtype")?.is_some_and(|to| to != dtype) {
        return Err(cannot("OpenVINO has no equivalent of DequantizeLinear with another output_dtype"));
    }
    let block = cx.attributes.int_or("block_size", 0)?;
    // One scale for all is no matter of blocks.
    if block != 0 && cx.rank(1)? == cx.rank(0)? {
        return Ok(vec![dequantized_blocks(cx, block, dtype)?]);
    }
    let (x, scale) = (cx.input(0)?, cx.input(1)?);
    let mut value = cx.converted(x, dtype)?;
    let scale = along(cx, 1, scale)?;
    // The zero point of floats is 0, by the text.
    let is_zero = of_floats && cx.known(2).ok().flatten().is_some_and(|zero| all_zero(&zero));
    if !is_zero && let Some(zero_point) = zero_point(cx, 2, dtype)? {
        value = cx.put("Subtract", &[value, zero_point], &[numpy()])?;
    }
    Ok(vec![cx.put("Multiply", &[value, scale], &[numpy()])?])
}

/// Writes `QuantizeLinear` as arithmetic of floats and `Convert`.
pub fn quantize(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let to = match cx.attributes.dtype("output_dtype")? {
        Some(to) => to,
        None if cx.has(2) => cx.dtype(2)?,
        None => DType::U8,
    };
    let largest = largest_float8(to);
    if largest.is_none() {
        expect_integers(to)?;
    }
    if cx.attributes.dtype("precision")?.is_some() || cx.dtype(0)? != DType::F32 || cx.dtype(1)? != DType::F32
    {
        cx.rounding(caveats::FUNCTION);
    }
    cx.edges(caveats::CAST);
    let (mut x, scale, dtype) = (cx.input(0)?, cx.input(1)?, cx.dtype(1)?);
    expect_scales(dtype)?;
    if cx.dtype(0)? != dtype {
        x = cx.converted(x, dtype)?;
    }
    let scale = along(cx, 1, scale)?;
    let mut value = quotient(cx, x, scale)?;
    if let Some(largest) = largest {
        cx.rounding(caveats::FLOAT8);
        if cx.attributes.flag("saturate", true)? {
            value = cx.put("Clamp", &[value], &[say("min", -largest), say("max", largest)])?;
        }
        return Ok(vec![cx.converted(value, to)?]);
    }
    let zero_point = zero_point(cx, 2, dtype)?;
    Ok(vec![saturated(cx, value, zero_point, to)?])
}

/// Scale and zero point so that 0 and all elements are within 0 to 255.
pub fn dynamic_quantize(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    cx.edges(caveats::CAST);
    let (x, axes) = (cx.input(0)?, cx.all_axes(cx.rank(0)?));
    let [zero, one, steps] = [0.0, 1.0, 255.0].map(|number| cx.number(number, DType::F32));
    let (zero, one, steps) = (zero?, one?, steps?);
    let mut ends = [zero; 2];
    for (end, [reduce, with_zero]) in
        ends.iter_mut().zip([["ReduceMin", "Minimum"], ["ReduceMax", "Maximum"]])
    {
        let found = cx.put(reduce, &[x, axes], &[say("keep_dims", false)])?;
        *end = cx.put(with_zero, &[found, zero], &[numpy()])?;
    }
    let [low, high] = ends;
    let width = cx.put("Subtract", &[high, low], &[numpy()])?;
    // All elements are 0.
    let none = cx.put("Equal", &[width, zero], &[numpy()])?;
    let width = cx.put("Select", &[none, one, width], &[numpy()])?;
    let scale = quotient(cx, width, steps)?;
    let below = cx.put("Subtract", &[zero, low], &[numpy()])?;
    let shift = quotient(cx, below, scale)?;
    let zero_point = saturated(cx, shift, None, DType::U8)?;
    let (value, shift) = (quotient(cx, x, scale)?, cx.converted(zero_point, DType::F32)?);
    Ok(vec![saturated(cx, value, Some(shift), DType::U8)?, scale, zero_point])
}

/// A matrix of integers without its zero point, as floats.
fn factor(cx: &mut ConvertContext<'_, '_>, input: usize) -> Result<NewValue> {
    let (value, zero_point) = (cx.input(input)?, 2 + input);
    let value = cx.converted(value, DType::F32)?;
    if !cx.has(zero_point) {
        return Ok(value);
    }
    let rank = cx.rank(zero_point)?;
    let zero_point = if rank == 0 || cx.len(zero_point) == Some(1) {
        cx.scalar_input(zero_point)?
    } else {
        let each = cx.input(zero_point)?;
        // Scales of the first matrix belong to its rows.
        if input == 0 && rank == 1 { cx.reshaped(each, &[-1, 1])? } else { each }
    };
    let zero_point = cx.converted(zero_point, DType::F32)?;
    cx.put("Subtract", &[value, zero_point], &[numpy()])
}

/// Products of matrices of integers, computed in float32.
pub fn mat_mul_integer(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges("sums of 2^24 and more are rounded: OpenVINO multiplies matrices of floats");
    let (a, b) = (factor(cx, 0)?, factor(cx, 1)?);
    let product = cx.put("MatMul", &[a, b], &[say("transpose_a", false), say("transpose_b", false)])?;
    Ok(vec![cx.converted(product, DType::I32)?])
}
