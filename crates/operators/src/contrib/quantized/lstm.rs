//! `DynamicQuantizeLSTM` as a graph of ONNX's operators: a loop over the steps of each direction.
//!
//! The graph computes what the evaluation does, in float64: the input is quantized once, and the
//! hidden state of each sample at each step.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::contrib::inputs::unsupported;
use crate::contrib::values::{maybe_wide, number, wide, wide_input};
use crate::conversion::caveats;
use crate::errors;
use crate::lowering::terms::{cast, f, ints, of, pick, with};
use crate::lowering::{LoweredValue, Lowering, int, not_known};
use crate::words;

/// The weights of a direction, and what its functions read.
struct Direction {
    /// The part of each step and gate that does not depend on states.
    gates: LoweredValue,
    /// By hidden element and gate.
    recurrence: LoweredValue,
    /// Factors of the cell for the input, output and forget gates, if there are any.
    peepholes: Vec<LoweredValue>,
    /// The operators of the functions of gates, cell and output.
    functions: [String; 3],
    clip: Option<f32>,
    coupled: bool,
}

/// `DynamicQuantizeLSTM`: an LSTM with quantized weights, whose inputs are quantized at each step.
pub fn lstm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let size = |l: &Lowering<'_>, input: usize, axis: usize| {
        let size = l.dims_of(input)?.get(axis).copied().flatten();
        size.ok_or_else(|| not_known(format!("size of axis {axis} of input {input}")))
    };
    let (directions, hidden) = (size(l, 1, 0)?, i64_of(size(l, 2, 1)?));
    if size(l, 0, 1).ok() != Some(1) {
        l.edges(caveats::SAMPLES);
    }
    let functions = functions(l, directions)?;
    let given = l.input(0)?;
    let codes = l.apply_many("DynamicQuantizeLinear", &[given], &[], 3)?;
    let x = decoded(l, codes[0], codes[1], codes[2])?;
    let (bias, peepholes) = (maybe_wide(l, 3)?, maybe_wide(l, 7)?);
    let shape = l.shape(given)?;
    let (steps, batch) = (element(l, shape, 0)?, element(l, shape, 1)?);
    let mut lengths = l.maybe(4);
    let masked = l.has(4);
    if masked {
        lengths = l.cast(lengths, DType::I64)?;
    } else {
        let one = l.list(&[1])?;
        lengths = of("Expand", steps, of("Reshape", batch, one)).put(l)?;
    }
    let reverse = words::DIRECTION.of(&l.attributes)? == "reverse";
    let (mut rows, mut last) = (Vec::new(), [Vec::new(), Vec::new()]);
    for (direction, functions) in functions.into_iter().enumerate() {
        let backward = direction == 1 || reverse;
        let weights = weights_of(l, [1, 8, 9], directions, direction)?;
        let mut gates = l.apply("MatMul", &[x, weights], &[])?;
        if bias != LoweredValue::NONE {
            // The sum of both first: OpenVINO loses one of two that are added to a product.
            let bias = of_direction(l, bias, direction)?;
            let parts = split(l, bias, 2)?;
            let bias = l.apply("Add", &parts, &[])?;
            gates = l.apply("Add", &[gates, bias], &[])?;
        }
        if backward {
            gates = reversed(l, gates, lengths)?;
        }
        let peepholes = if peepholes == LoweredValue::NONE {
            Vec::new()
        } else {
            let own = of_direction(l, peepholes, direction)?;
            split(l, own, 3)?
        };
        let gated = Direction {
            gates,
            recurrence: weights_of(l, [2, 10, 11], directions, direction)?,
            peepholes,
            functions,
            clip: l.attributes.float("clip")?,
            coupled: l.attributes.flag("input_forget", false)?,
        };
        let states = [state(l, 5, direction, batch, hidden)?, state(l, 6, direction, batch, hidden)?];
        let limit = masked.then_some(lengths);
        let [state, cell, all] =
            l.scanned(steps, states, |l, step, states| step_of(l, &gated, step, states, limit))?;
        let all = if backward { reversed(l, all, lengths)? } else { all };
        rows.push(with_axis(l, all, 1)?);
        for (last, state) in last.iter_mut().zip([state, cell]) {
            last.push(with_axis(l, state, 0)?);
        }
    }
    let [states, cells] = last;
    [(rows, 1), (states, 0), (cells, 0)]
        .into_iter()
        .map(|(parts, axis)| {
            let all = l.apply("Concat", &parts, &[int("axis", axis)])?;
            l.cast(all, DType::F32)
        })
        .collect()
}

/// The operators of the functions of each direction.
fn functions(l: &Lowering<'_>, directions: usize) -> Result<Vec<[String; 3]>> {
    let default = || ["Sigmoid", "Tanh", "Tanh"].map(str::to_owned);
    let Some(Content::Strings(names)) = l.attributes.get("activations") else {
        return Ok((0..directions).map(|_| default()).collect());
    };
    errors::expect_value("number of activations", names.len(), 3 * directions)?;
    let operator = |name: &bytes::Bytes| {
        let name = String::from_utf8_lossy(name);
        let known = ["Sigmoid", "Tanh", "Relu"].into_iter().find(|own| own.eq_ignore_ascii_case(&name));
        known.map(str::to_owned).ok_or_else(|| unsupported(&format!("activation {name} by ONNX operators")))
    };
    (0..directions)
        .map(|of| {
            Ok([operator(&names[3 * of])?, operator(&names[3 * of + 1])?, operator(&names[3 * of + 2])?])
        })
        .collect()
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
    let codes = of_direction(l, codes, direction)?;
    let [scale, zero] = [scale, zero].map(|input| {
        let value = l.input(input)?;
        let value = l.reshape(value, &[i64_of(directions), 1, -1])?;
        of_direction(l, value, direction)
    });
    decoded(l, codes, scale?, zero?)
}

fn of_direction(l: &mut Lowering<'_>, value: LoweredValue, direction: usize) -> Result<LoweredValue> {
    element(l, value, i64_of(direction))
}

/// The elements at an index of the first axis.
fn element(l: &mut Lowering<'_>, value: LoweredValue, index: i64) -> Result<LoweredValue> {
    let index = l.constant(Tensor::scalar(index))?;
    l.apply("Gather", &[value, index], &[int("axis", 0)])
}

/// Equal parts of the last axis.
fn split(l: &mut Lowering<'_>, value: LoweredValue, parts: usize) -> Result<Vec<LoweredValue>> {
    l.apply_many("Split", &[value], &[int("axis", -1), int("num_outputs", i64_of(parts))], parts)
}

fn with_axis(l: &mut Lowering<'_>, value: LoweredValue, axis: i64) -> Result<LoweredValue> {
    let axes = l.list(&[axis])?;
    l.apply("Unsqueeze", &[value, axes], &[])
}

/// The steps of each sample in the other order, as many as it has.
fn reversed(l: &mut Lowering<'_>, value: LoweredValue, lengths: LoweredValue) -> Result<LoweredValue> {
    l.apply("ReverseSequence", &[value, lengths], &[int("time_axis", 0), int("batch_axis", 1)])
}

/// A first state: the input, or zeros.
fn state(
    l: &mut Lowering<'_>,
    input: usize,
    direction: usize,
    batch: LoweredValue,
    hidden: i64,
) -> Result<LoweredValue> {
    if l.has(input) {
        let given = wide_input(l, input)?;
        return of_direction(l, given, direction);
    }
    let (zero, size) = (number(l, 0.0)?, l.list(&[hidden])?);
    let shape = with("Concat", [of("Reshape", batch, ints(&[1])), size.into()], [int("axis", 0)]).put(l)?;
    l.apply("Expand", &[zero, shape], &[])
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

/// The states after a step, and its row of the output: zeros and the states before, where a sample
/// has ended.
fn step_of(
    l: &mut Lowering<'_>,
    gated: &Direction,
    step: LoweredValue,
    [h, c]: [LoweredValue; 2],
    lengths: Option<LoweredValue>,
) -> Result<[LoweredValue; 3]> {
    let seen = quantized(l, h)?;
    let own = l.apply("Gather", &[gated.gates, step], &[int("axis", 0)])?;
    let gates = (own + of("MatMul", seen, gated.recurrence)).put(l)?;
    let gates = split(l, gates, 4)?;
    let through = |l: &mut Lowering<'_>, gate: usize, cell: Option<LoweredValue>, which: usize| {
        let mut value = gates[gate];
        if let (Some(cell), Some(&weights)) = (cell, gated.peepholes.get(gate)) {
            let seen = l.apply("Mul", &[cell, weights], &[])?;
            value = l.apply("Add", &[value, seen], &[])?;
        }
        if let Some(clip) = gated.clip {
            let (low, high) = (number(l, -f64::from(clip))?, number(l, clip.into())?);
            value = l.apply("Clip", &[value, low, high], &[])?;
        }
        l.apply(&gated.functions[which], &[value], &[])
    };
    let input = through(l, 0, Some(c), 0)?;
    let forget = if gated.coupled {
        let one = number(l, 1.0)?;
        l.apply("Sub", &[one, input], &[])?
    } else {
        through(l, 2, Some(c), 0)?
    };
    let added = through(l, 3, None, 1)?;
    let cell = (forget * c + (input * added)).put(l)?;
    let output = through(l, 1, Some(cell), 0)?;
    let seen = l.apply(&gated.functions[2], &[cell], &[])?;
    let state = l.apply("Mul", &[output, seen], &[])?;
    let Some(lengths) = lengths else {
        return Ok([state, cell, state]);
    };
    let goes_on = l.apply("Less", &[step, lengths], &[])?;
    let goes_on = with_axis(l, goes_on, 1)?;
    let zero = number(l, 0.0)?;
    let mut either = |value, other| l.apply("Where", &[goes_on, value, other], &[]);
    Ok([either(state, h)?, either(cell, c)?, either(state, zero)?])
}
