//! Recurrent networks in the operators of ONNX: sequences, and cells, which are sequences of one
//! step. `to_openvino.rs` says what differs.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::attributes::{NewAttributes, required};
use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::errors;
use crate::lowering::terms::{ints, of};
use crate::lowering::{LoweredValue, Lowering, int, word};
use crate::recurrent::to_openvino::Network;
use crate::words;

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
fn split(text: &str) -> Vec<String> {
    text.split(',').map(|word| word.trim().to_ascii_lowercase()).filter(|word| !word.is_empty()).collect()
}

/// The functions of the gates, as ONNX names them, for `directions` directions.
fn activations(l: &Lowering<'_>, network: Network, directions: usize) -> Result<(&'static str, Content)> {
    let each = network.activations();
    words::GATES_OF_CELL.check(&l.attributes)?;
    let given = split(l.attributes.text("activations")?.unwrap_or_default());
    let mut named: Vec<&'static str> = Vec::new();
    for name in &given {
        named.push(match name.as_str() {
            "relu" => "Relu",
            "sigmoid" => "Sigmoid",
            _ => "Tanh",
        });
    }
    if named.is_empty() {
        named = each.to_vec();
    }
    errors::expect_value("number of activations", named.len(), each.len())?;
    let all = named.repeat(directions).into_iter().map(|name| name.as_bytes().into()).collect();
    Ok(("activations", Content::Strings(all)))
}

fn zeros(l: &mut Lowering<'_>, dims: &[i64]) -> Result<LoweredValue> {
    of("Expand", 0.0, ints(dims)).write(l, l.dtype_of(0)?)
}

/// The parts of a value along axis 1, all of that size.
fn parts(l: &mut Lowering<'_>, value: LoweredValue, count: usize, size: i64) -> Result<Vec<LoweredValue>> {
    let sizes = l.list(&vec![size; count])?;
    l.apply_many("Split", &[value, sizes], &[int("axis", 1)], count)
}

fn joined(l: &mut Lowering<'_>, parts: &[LoweredValue]) -> Result<LoweredValue> {
    l.apply("Concat", parts, &[int("axis", 1)])
}

/// Weights or biases with their gates in ONNX's order.
fn gates(l: &mut Lowering<'_>, network: Network, value: LoweredValue, hidden: i64) -> Result<LoweredValue> {
    if network != Network::Lstm {
        return Ok(value);
    }
    let parts = parts(l, value, ORDER.len(), hidden)?;
    joined(l, &ORDER.map(|gate| parts[gate]))
}

/// The biases of inputs and of states.
fn biases(
    l: &mut Lowering<'_>,
    network: Network,
    value: LoweredValue,
    (directions, hidden, linear): (i64, i64, bool),
) -> Result<LoweredValue> {
    if linear {
        let parts = parts(l, value, 4, hidden)?;
        let none = zeros(l, &[directions, 2 * hidden])?;
        return joined(l, &[parts[0], parts[1], parts[2], none, parts[3]]);
    }
    let own = gates(l, network, value, hidden)?;
    let none = zeros(l, &[directions, i64_of(network.gates()) * hidden])?;
    joined(l, &[own, none])
}

/// The attributes that sequences and cells have.
fn attributes(l: &Lowering<'_>, network: Network, directions: usize) -> Result<(i64, bool, NewAttributes)> {
    let hidden = required("hidden_size", l.attributes.int("hidden_size")?)?;
    errors::at_least_1("hidden_size", hidden)?;
    // Sizes of all gates must not overflow.
    if hidden > i64::MAX / 4 {
        return Err(errors::value("hidden_size", hidden, format_args!("at most {}", i64::MAX / 4)));
    }
    let linear = network == Network::Gru && l.attributes.flag("linear_before_reset", false)?;
    let mut all = vec![int("hidden_size", hidden), activations(l, network, directions)?];
    if let Some(clip) = l.attributes.float("clip")?.filter(|&clip| clip != 0.0) {
        all.push(("clip", Content::Float(clip)));
    }
    if linear {
        all.push(int("linear_before_reset", 1));
    }
    Ok((hidden, linear, all))
}

/// A network over the steps of sequences.
pub fn sequence(l: &mut Lowering<'_>, network: Network) -> Result<Vec<LoweredValue>> {
    l.rounding(caveats::FUNCTION);
    let direction = words::DIRECTION.of(&l.attributes)?;
    let directions: u8 = if direction == "bidirectional" { 2 } else { 1 };
    let (hidden, linear, mut attributes) = attributes(l, network, directions.into())?;
    attributes.push(word("direction", direction));
    let states = if network == Network::Lstm { 2 } else { 1 };
    let x = l.input(0)?;
    let x = l.transposed(x, &[1, 0, 2])?;
    let mut initial = [LoweredValue::NONE; 2];
    for (state, value) in initial.iter_mut().enumerate().take(states) {
        let given = l.input(1 + state)?;
        *value = l.transposed(given, &[1, 0, 2])?;
    }
    let mut lengths = l.input(1 + states)?;
    lengths = l.in_type(lengths, l.dtype_of(1 + states)?, DType::I32)?;
    let mut weights = [LoweredValue::NONE; 2];
    for (index, value) in weights.iter_mut().enumerate() {
        let given = l.input(2 + states + index)?;
        *value = gates(l, network, given, hidden)?;
    }
    let bias = l.input(4 + states)?;
    let bias = biases(l, network, bias, (directions.into(), hidden, linear))?;
    let inputs = [x, weights[0], weights[1], bias, lengths, initial[0], initial[1]];
    let mut outputs = l.apply_many(operator(network), &inputs, &attributes, 1 + states)?;
    // By step, direction and sample.
    outputs[0] = l.transposed(outputs[0], &[2, 1, 0, 3])?;
    for state in &mut outputs[1..] {
        *state = l.transposed(*state, &[1, 0, 2])?;
    }
    Ok(outputs)
}

/// One step of a network.
pub fn cell(l: &mut Lowering<'_>, network: Network) -> Result<Vec<LoweredValue>> {
    let states = if network == Network::Lstm { 2 } else { 1 };
    if network == Network::Lstm {
        let format = words::WEIGHTS.of(&l.attributes)?;
        if format != "fico" {
            return Err(cannot(format!("ONNX has no equivalent of LSTMCell with weights_format={format}")));
        }
        if l.attributes.flag("input_forget", false)? || l.has(4 + states) {
            return Err(cannot("cannot convert LSTMCell with input_forget or peepholes"));
        }
    }
    l.rounding(caveats::FUNCTION);
    let (hidden, linear, attributes) = attributes(l, network, 1)?;
    let first = l.list(&[0])?;
    let mut all = [LoweredValue::NONE; 6];
    for (input, value) in all.iter_mut().enumerate().take(3 + states) {
        let given = l.input(input)?;
        *value = l.apply("Unsqueeze", &[given, first], &[])?;
    }
    let (w, r) = (all[1 + states], all[2 + states]);
    let (w, r) = (gates(l, network, w, hidden)?, gates(l, network, r, hidden)?);
    let mut bias = LoweredValue::NONE;
    if l.has(3 + states) {
        let given = l.input(3 + states)?;
        bias = l.apply("Unsqueeze", &[given, first], &[])?;
        bias = biases(l, network, bias, (1, hidden, linear))?;
    }
    let second = if states == 2 { all[2] } else { LoweredValue::NONE };
    let inputs = [all[0], w, r, bias, LoweredValue::NONE, all[1], second];
    let outputs = l.apply_many(operator(network), &inputs, &attributes, 1 + states)?;
    outputs[1..].iter().map(|&state| l.apply("Squeeze", &[state, first], &[])).collect()
}
