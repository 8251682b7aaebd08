//! `DynamicQuantizeLSTM` as a graph of ONNX's operators: a loop over the steps of each direction.
//!
//! The graph computes what the evaluation does, in float64: the input is quantized once, and the
//! hidden state of each sample at each step.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result, Tensor};

use crate::contrib::values::{maybe_wide, number, wide};
use crate::conversion::caveats;
use crate::lowering::terms::{cast, f, of, pick};
use crate::lowering::{LoweredValue, Lowering};
use crate::recurrent::lowered::{Cell, element, peepholes_of, run, size, split};
use crate::recurrent::to_openvino::Network;

/// `DynamicQuantizeLSTM`: an LSTM with quantized weights, whose inputs are quantized at each step.
pub fn lstm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (directions, hidden) = (size(l, 1, 0)?, size(l, 2, 1)?);
    if size(l, 0, 1).ok() != Some(1) {
        l.edges(caveats::SAMPLES);
    }
    let given = l.input(0)?;
    let codes = l.apply_many("DynamicQuantizeLinear", &[given], &[], 3)?;
    let x = decoded(l, codes[0], codes[1], codes[2])?;
    let (bias, has_peepholes) = (maybe_wide(l, 3)?, l.has(7));
    let mut cell = |l: &mut Lowering<'_>, direction: usize| {
        let weights = weights_of(l, [1, 8, 9], directions, direction)?;
        let mut gates = l.apply("MatMul", &[x, weights], &[])?;
        if bias != LoweredValue::NONE {
            // The sum of both first: OpenVINO loses one of two that are added to a product.
            let bias = element(l, bias, i64_of(direction))?;
            let parts = split(l, bias, 2)?;
            let bias = l.apply("Add", &parts, &[])?;
            gates = l.apply("Add", &[gates, bias], &[])?;
        }
        let recurrence = vec![weights_of(l, [2, 10, 11], directions, direction)?];
        let peepholes = if has_peepholes { peepholes_of(l, direction, DType::F64)? } else { Vec::new() };
        let (network, dtype, bias) = (Network::Lstm, DType::F64, Vec::new());
        Ok(Cell { network, dtype, gates, recurrence, bias, peepholes, seen: quantized })
    };
    let outputs = run(l, given, [directions, hidden], DType::F64, &mut cell)?;
    outputs.into_iter().map(|value| l.cast(value, DType::F32)).collect()
}

/// The numbers of codes in float64.
fn decoded(
    l: &mut Lowering<'_>,
    codes: LoweredValue,
    scale: LoweredValue,
    zero: LoweredValue,
) -> Result<LoweredValue> {
    let [codes, scale, zero] = [codes, scale, zero].map(|value| wide(l, value));
    let value = l.apply("Sub", &[codes?, zero?], &[])?;
    l.apply("Mul", &[value, scale?], &[])
}

/// The weights of a direction, whose scale and zero point are one for each direction, or for each
/// of its columns. Codes are gathered before they become numbers: OpenVINO returns wrong products of
/// elements that are gathered from a constant which it decodes.
fn weights_of(
    l: &mut Lowering<'_>,
    [codes, scale, zero]: [usize; 3],
    directions: usize,
    direction: usize,
) -> Result<LoweredValue> {
    let codes = l.input(codes)?;
    let codes = element(l, codes, i64_of(direction))?;
    let [scale, zero] = [scale, zero].map(|input| {
        let value = l.input(input)?;
        let value = l.reshape(value, &[i64_of(directions), 1, -1])?;
        element(l, value, i64_of(direction))
    });
    decoded(l, codes, scale?, zero?)
}

/// The numbers that a state is quantized to, the row of each sample alone; rounded to float32 as
/// `DynamicQuantizeLinear` rounds.
fn quantized(l: &mut Lowering<'_>, h: LoweredValue) -> Result<LoweredValue> {
    let (zero, last) = (number(l, 0.0)?, l.list(&[1])?);
    let low = of("Min", of("ReduceMin", h, last), zero).put(l)?;
    let high = of("Max", of("ReduceMax", h, last), zero).put(l)?;
    let [least, one, codes] = [0.0f32, 1.0, 255.0].map(|value| l.constant(Tensor::scalar(value)));
    let (least, one, codes) = (least?, one?, codes?);
    let range = pick(of("Equal", high, low), one, cast(high - low, DType::F32)).put(l)?;
    let scale = l.apply("Div", &[range, codes], &[])?;
    let scale = wide(l, scale)?;
    let clipped = |l: &mut Lowering<'_>, value| l.apply("Clip", &[value, least, codes], &[]);
    let quotient = |l: &mut Lowering<'_>, value| {
        let value = l.apply("Div", &[value, scale], &[])?;
        l.cast(value, DType::F32)
    };
    let middle = quotient(l, low)?;
    let middle = l.apply("Neg", &[middle], &[])?;
    let middle = clipped(l, middle)?;
    let middle = l.apply("Round", &[middle], &[])?;
    let value = quotient(l, h)?;
    let value = (f("Round", value) + middle).put(l)?;
    let value = clipped(l, value)?;
    decoded(l, value, scale, middle)
}
