//! Recurrent networks in the operators of ONNX: sequences, and cells, which are sequences of one
//! step. `recurrent_to_openvino.rs` says what differs.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Error, Kind, Result};

use super::recurrent_to_openvino::Network;
use crate::attributes::{NewAttributes, required};
use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_onnx::{int, word};
use crate::conversion::types::numbered;
use crate::conversion::writer::{NONE, NewValue};
use crate::operators::errors;

/// The order of ONNX's gates i, o, f, c among OpenVINO's f, i, c, o.
const ORDER: [usize; 4] = [1, 3, 0, 2];

/// The operator of ONNX.
const fn operator(network: Network) -> &'static str {
    match network {
        Network::Rnn => "RNN",
        Network::Gru => "GRU",
        Network::Lstm => "LSTM",
    }
}

/// A list of words within a text.
fn words(text: &str) -> Vec<String> {
    text.split(',').map(|word| word.trim().to_ascii_lowercase()).filter(|word| !word.is_empty()).collect()
}

/// The functions of the gates, as ONNX names them, for so many directions.
fn activations(
    cx: &ConvertContext<'_, '_>,
    network: Network,
    directions: usize,
) -> Result<(&'static str, Content)> {
    let each = network.activations();
    let given = words(cx.attributes.text("activations")?.unwrap_or_default());
    let mut named: Vec<&'static str> = Vec::new();
    for name in &given {
        named.push(match name.as_str() {
            "relu" => "Relu",
            "sigmoid" => "Sigmoid",
            "tanh" => "Tanh",
            other => {
                let what = "cannot convert: activation";
                return Err(Error::mismatch(Kind::Unsupported, what, other, "relu, sigmoid or tanh"));
            }
        });
    }
    if named.is_empty() {
        named = each.to_vec();
    }
    if named.len() != each.len() {
        return Err(errors::value("number of activations", named.len(), each.len()));
    }
    let all = named.repeat(directions).into_iter().map(Into::into).collect();
    Ok(("activations", Content::Strings(all)))
}

fn zeros(cx: &mut ConvertContext<'_, '_>, dims: &[i64]) -> Result<NewValue> {
    let dtype = cx.dtype(0)?;
    let (zero, dims) = (cx.number(0.0, dtype)?, cx.list(dims));
    cx.put("Expand", &[zero, dims], &[])
}

/// The parts of a value along axis 1, all of that size.
fn parts(cx: &mut ConvertContext<'_, '_>, value: NewValue, count: usize, size: i64) -> Result<Vec<NewValue>> {
    let sizes = cx.list(&vec![size; count]);
    cx.put_many("Split", &[value, sizes], &[int("axis", 1)], count)
}

fn joined(cx: &mut ConvertContext<'_, '_>, parts: &[NewValue]) -> Result<NewValue> {
    cx.put("Concat", parts, &[int("axis", 1)])
}

/// Weights or biases with their gates in ONNX's order.
fn gates(
    cx: &mut ConvertContext<'_, '_>,
    network: Network,
    value: NewValue,
    hidden: i64,
) -> Result<NewValue> {
    if network != Network::Lstm {
        return Ok(value);
    }
    let parts = parts(cx, value, ORDER.len(), hidden)?;
    joined(cx, &ORDER.map(|gate| parts[gate]))
}

/// The biases of inputs and of states.
fn biases(
    cx: &mut ConvertContext<'_, '_>,
    network: Network,
    value: NewValue,
    (directions, hidden, linear): (i64, i64, bool),
) -> Result<NewValue> {
    if linear {
        let parts = parts(cx, value, 4, hidden)?;
        let none = zeros(cx, &[directions, 2 * hidden])?;
        return joined(cx, &[parts[0], parts[1], parts[2], none, parts[3]]);
    }
    let own = gates(cx, network, value, hidden)?;
    let none = zeros(cx, &[directions, i64_of(network.gates()) * hidden])?;
    joined(cx, &[own, none])
}

fn transposed(cx: &mut ConvertContext<'_, '_>, value: NewValue, order: &[i64]) -> Result<NewValue> {
    cx.put("Transpose", &[value], &[("perm", Content::Ints(order.to_vec().into()))])
}

/// The attributes that sequences and cells have.
fn attributes(
    cx: &ConvertContext<'_, '_>,
    network: Network,
    directions: usize,
) -> Result<(i64, bool, NewAttributes)> {
    let hidden = required("hidden_size", cx.attributes.int("hidden_size")?)?;
    errors::at_least_1("hidden_size", hidden)?;
    // Sizes of all gates must not overflow.
    if hidden > i64::MAX / 4 {
        return Err(errors::value("hidden_size", hidden, format_args!("at most {}", i64::MAX / 4)));
    }
    let linear = network == Network::Gru && cx.attributes.flag("linear_before_reset", false)?;
    let mut all = vec![int("hidden_size", hidden), activations(cx, network, directions)?];
    if let Some(clip) = cx.attributes.float("clip")?.filter(|&clip| clip != 0.0) {
        all.push(("clip", Content::Float(clip)));
    }
    if linear {
        all.push(int("linear_before_reset", 1));
    }
    Ok((hidden, linear, all))
}

/// A network over the steps of sequences.
pub(crate) fn sequence(cx: &mut ConvertContext<'_, '_>, network: Network) -> Result<Vec<NewValue>> {
    cx.rounding(caveats::FUNCTION);
    let direction = cx.attributes.text("direction")?.unwrap_or("forward").to_ascii_lowercase();
    let directions: u8 = if direction == "bidirectional" { 2 } else { 1 };
    let (hidden, linear, mut attributes) = attributes(cx, network, directions.into())?;
    attributes.push(word("direction", &direction));
    let states = if network == Network::Lstm { 2 } else { 1 };
    let x = cx.input(0)?;
    let x = transposed(cx, x, &[1, 0, 2])?;
    let mut initial = [NONE; 2];
    for (state, value) in initial.iter_mut().enumerate().take(states) {
        let given = cx.input(1 + state)?;
        *value = transposed(cx, given, &[1, 0, 2])?;
    }
    let mut lengths = cx.input(1 + states)?;
    if cx.dtype(1 + states)? != DType::I32 {
        lengths = cx.put("Cast", &[lengths], &[numbered("to", DType::I32)?])?;
    }
    let mut weights = [NONE; 2];
    for (index, value) in weights.iter_mut().enumerate() {
        let given = cx.input(2 + states + index)?;
        *value = gates(cx, network, given, hidden)?;
    }
    let bias = cx.input(4 + states)?;
    let bias = biases(cx, network, bias, (directions.into(), hidden, linear))?;
    let inputs = [x, weights[0], weights[1], bias, lengths, initial[0], initial[1]];
    let mut outputs = cx.put_many(operator(network), &inputs, &attributes, 1 + states)?;
    // By step, direction and sample.
    outputs[0] = transposed(cx, outputs[0], &[2, 1, 0, 3])?;
    for state in &mut outputs[1..] {
        *state = transposed(cx, *state, &[1, 0, 2])?;
    }
    Ok(outputs)
}

/// One step of a network.
pub(crate) fn cell(cx: &mut ConvertContext<'_, '_>, network: Network) -> Result<Vec<NewValue>> {
    let states = if network == Network::Lstm { 2 } else { 1 };
    if network == Network::Lstm {
        let format = cx.attributes.text("weights_format")?.unwrap_or("fico");
        if format != "fico" {
            return Err(cannot(format!("ONNX has no equivalent of LSTMCell with weights_format={format}")));
        }
        if cx.attributes.flag("input_forget", false)? || cx.has(4 + states) {
            return Err(cannot("cannot convert LSTMCell with input_forget or peepholes"));
        }
    }
    cx.rounding(caveats::FUNCTION);
    let (hidden, linear, attributes) = attributes(cx, network, 1)?;
    let first = cx.list(&[0]);
    let mut all = [NONE; 6];
    for (input, value) in all.iter_mut().enumerate().take(3 + states) {
        let given = cx.input(input)?;
        *value = cx.put("Unsqueeze", &[given, first], &[])?;
    }
    let (w, r) = (all[1 + states], all[2 + states]);
    let (w, r) = (gates(cx, network, w, hidden)?, gates(cx, network, r, hidden)?);
    let mut bias = NONE;
    if cx.has(3 + states) {
        let given = cx.input(3 + states)?;
        bias = cx.put("Unsqueeze", &[given, first], &[])?;
        bias = biases(cx, network, bias, (1, hidden, linear))?;
    }
    let second = if states == 2 { all[2] } else { NONE };
    let inputs = [all[0], w, r, bias, NONE, all[1], second];
    let outputs = cx.put_many(operator(network), &inputs, &attributes, 1 + states)?;
    outputs[1..].iter().map(|&state| cx.put("Squeeze", &[state, first], &[])).collect()
}
