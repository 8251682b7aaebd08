//! Recurrent networks in the operators of OpenVINO, which take the batch first.
//!
//! | ONNX | OpenVINO | what differs |
//! |---|---|---|
//! | `RNN` | `RNNSequence` | the biases are one sum |
//! | `GRU` | `GRUSequence` | with `linear_before_reset`, the last bias is in two parts |
//! | `LSTM` | `LSTMSequence` | gates are in the order f, i, c, o; the biases are one sum |
//!
//! Sources: ONNX 1 to 28; OpenVINO 2026.4, opset1 to opset17.

use gradus_core::Result;
use gradus_core::convert::i64_of;
use gradus_core::graph::{Content, Node};

use super::lowered;
use crate::conversion::caveats;
use crate::conversion::lowered::of_function;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_openvino::{numpy, say};
use crate::conversion::writer::NewValue;
use crate::errors;

/// A kind of recurrent network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    Rnn,
    Gru,
    Lstm,
}

impl Network {
    /// The network of an operator of ONNX.
    pub fn named(operator: &str) -> Network {
        match operator {
            "GRU" => Network::Gru,
            "LSTM" => Network::Lstm,
            _ => Network::Rnn,
        }
    }

    /// The number of gates, whose weights are stacked.
    pub const fn gates(self) -> usize {
        match self {
            Network::Rnn => 1,
            Network::Gru => 3,
            Network::Lstm => 4,
        }
    }

    /// The functions of the gates, as ONNX names them, where no attribute does.
    pub const fn activations(self) -> &'static [&'static str] {
        match self {
            Network::Rnn => &["Tanh"],
            Network::Gru => &["Sigmoid", "Tanh"],
            Network::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        }
    }

    /// The operator of OpenVINO.
    const fn sequence(self) -> &'static str {
        match self {
            Network::Rnn => "RNNSequence",
            Network::Gru => "GRUSequence",
            Network::Lstm => "LSTMSequence",
        }
    }
}

/// The order of OpenVINO's gates f, i, c, o among ONNX's i, o, f, c.
const ORDER: [usize; 4] = [2, 0, 3, 1];

/// The functions of the gates, if OpenVINO's sequences have them: the same in all directions.
fn activations(cx: &ConvertContext<'_, '_>, network: Network) -> Result<Option<String>> {
    let each = network.activations();
    let named = cx.attributes.texts("activations")?.filter(|named| !named.is_empty());
    let named: Vec<_> =
        named.unwrap_or_else(|| each.to_vec()).iter().map(|name| name.to_ascii_lowercase()).collect();
    if named.len() < each.len() || named.len() % each.len() != 0 {
        return Err(errors::value("number of activations", named.len(), each.len()));
    }
    let own = &named[..each.len()];
    let known = own.iter().all(|name| ["relu", "sigmoid", "tanh"].contains(&name.as_str()));
    Ok((known && named.chunks(each.len()).all(|other| other == own)).then(|| own.join(",")))
}

/// The functions of the gates of a network that OpenVINO's sequences compute as ONNX does. Their
/// plugin ignores lengths if the batch or the steps are open, and clips nothing at 0.
fn functions_of_sequence(cx: &ConvertContext<'_, '_>, network: Network) -> Result<Option<String>> {
    let ignores_lengths = cx.has(4) && (0..2).any(|axis| cx.known_size(0, axis).is_none());
    let coupled = network == Network::Lstm && cx.attributes.flag("input_forget", false)?;
    let peepholes = network == Network::Lstm && cx.has(7);
    if ignores_lengths || coupled || peepholes || cx.attributes.float("clip")? == Some(0.0) {
        return Ok(None);
    }
    activations(cx, network)
}

/// The parts of a value along axis 1.
fn parts(cx: &mut ConvertContext<'_, '_>, value: NewValue, count: usize) -> Result<Vec<NewValue>> {
    let axis = cx.scalar(1);
    cx.put_many("Split", &[value, axis], &[say("num_splits", count)], count)
}

fn joined(cx: &mut ConvertContext<'_, '_>, parts: &[NewValue]) -> Result<NewValue> {
    cx.put("Concat", parts, &[say("axis", 1)])
}

/// Weights or biases with their gates in OpenVINO's order.
fn gates(cx: &mut ConvertContext<'_, '_>, network: Network, value: NewValue) -> Result<NewValue> {
    if network != Network::Lstm {
        return Ok(value);
    }
    let parts = parts(cx, value, ORDER.len())?;
    joined(cx, &ORDER.map(|gate| parts[gate]))
}

/// The biases of inputs and of states, put together.
fn biases(
    cx: &mut ConvertContext<'_, '_>,
    network: Network,
    (directions, hidden, linear): (i64, i64, bool),
) -> Result<NewValue> {
    let rows = i64_of(network.gates()) + i64::from(linear);
    if !cx.has(3) {
        let dtype = cx.dtype(0)?;
        let (zero, dims) = (cx.number(0.0, dtype)?, cx.list(&[directions, rows * hidden]));
        return cx.put("Broadcast", &[zero, dims], &[say("mode", "numpy")]);
    }
    let both = cx.input(3)?;
    if linear {
        let parts = parts(cx, both, 6)?;
        let update = cx.put("Add", &[parts[0], parts[3]], &[numpy()])?;
        let reset = cx.put("Add", &[parts[1], parts[4]], &[numpy()])?;
        return joined(cx, &[update, reset, parts[2], parts[5]]);
    }
    let parts = parts(cx, both, 2)?;
    let sum = cx.put("Add", &[parts[0], parts[1]], &[numpy()])?;
    gates(cx, network, sum)
}

fn transposed(cx: &mut ConvertContext<'_, '_>, value: NewValue, order: &[i64]) -> Result<NewValue> {
    let order = cx.list(order);
    cx.put("Transpose", &[value, order], &[])
}

/// Returns true if OpenVINO's sequences may lack what a network does.
pub fn may_lack(node: &Node) -> bool {
    let has = |input: usize| node.inputs.get(input).copied().flatten().is_some();
    let names = ["activations", "clip", "input_forget"];
    has(4) || has(7) || node.attributes.iter().any(|attribute| names.contains(&&*attribute.name))
}

/// Writes a loop over the steps of a network that OpenVINO's sequences lack, before it is converted.
pub fn as_loop(cx: &mut ConvertContext<'_, '_>) -> Result<Option<Vec<NewValue>>> {
    let network = Network::named(&cx.node.operator.name);
    if !cx.conversion.lowers || functions_of_sequence(cx, network)?.is_some() {
        return Ok(None);
    }
    of_function(cx, lowered::recurrent, true).map(Some)
}

/// Writes `RNN`, `GRU` or `LSTM` as OpenVINO's sequence.
pub fn recurrent(cx: &mut ConvertContext<'_, '_>, network: Network) -> Result<Vec<NewValue>> {
    let Some(functions) = functions_of_sequence(cx, network)? else {
        return Err(cannot("OpenVINO has no equivalent of the recurrent layer"));
    };
    cx.rounding(caveats::FUNCTION);
    let direction = cx.attributes.text("direction")?.unwrap_or("forward").to_ascii_lowercase();
    let directions = if direction == "bidirectional" { 2 } else { 1 };
    let hidden = match cx.attributes.int("hidden_size")? {
        Some(size) => size,
        None => cx.known_size(2, 2).ok_or_else(|| not_known("size of axis 2 of input 2"))?,
    };
    let batch_first = cx.attributes.flag("layout", false)?;
    let linear = network == Network::Gru && cx.attributes.flag("linear_before_reset", false)?;
    let dtype = cx.dtype(0)?;
    let mut x = cx.input(0)?;
    if !batch_first {
        x = transposed(cx, x, &[1, 0, 2])?;
    }
    let sizes = cx.shape_of(x)?;
    let batch = cx.sliced(sizes, 0, 1)?;
    let mut inputs = vec![x];
    for input in 5..if network == Network::Lstm { 7 } else { 6 } {
        let state = if cx.has(input) {
            let state = cx.input(input)?;
            if batch_first { state } else { transposed(cx, state, &[1, 0, 2])? }
        } else {
            let (zero, rest) = (cx.number(0.0, dtype)?, cx.list(&[directions, hidden]));
            let dims = cx.put("Concat", &[batch, rest], &[say("axis", 0)])?;
            cx.put("Broadcast", &[zero, dims], &[say("mode", "numpy")])?
        };
        inputs.push(state);
    }
    inputs.push(if cx.has(4) {
        cx.input(4)?
    } else {
        let steps = cx.sliced(sizes, 1, 2)?;
        cx.put("Broadcast", &[steps, batch], &[say("mode", "numpy")])?
    });
    for input in [1, 2] {
        let weights = cx.input(input)?;
        inputs.push(gates(cx, network, weights)?);
    }
    inputs.push(biases(cx, network, (directions, hidden, linear))?);
    let mut attributes: Vec<(&str, Content)> =
        vec![say("hidden_size", hidden), say("direction", direction), say("activations", functions)];
    if let Some(clip) = cx.attributes.float("clip")? {
        attributes.push(say("clip", clip));
    }
    if network == Network::Gru {
        attributes.push(say("linear_before_reset", linear));
    }
    let outputs = if network == Network::Lstm { 3 } else { 2 };
    let mut outputs = cx.put_many(network.sequence(), &inputs, &attributes, outputs)?;
    outputs[0] = if batch_first {
        transposed(cx, outputs[0], &[0, 2, 1, 3])?
    } else {
        steps_first(cx, outputs[0], directions)?
    };
    if !batch_first {
        for state in &mut outputs[1..] {
            *state = transposed(cx, *state, &[1, 0, 2])?;
        }
    }
    Ok(outputs)
}

/// The states of all steps, by step, direction and sample.
///
/// OpenVINO's CPU plugin takes Transposes before and after a sequence of one direction together, and
/// replaces the first for all its readers, so that other layers of the same data read wrong elements.
/// It does not do so where another operator reads the sequence.
fn steps_first(cx: &mut ConvertContext<'_, '_>, states: NewValue, directions: i64) -> Result<NewValue> {
    if directions != 1 {
        return transposed(cx, states, &[2, 1, 0, 3]);
    }
    let axis = cx.scalar(1);
    let rows = cx.put("Squeeze", &[states, axis], &[])?;
    let rows = transposed(cx, rows, &[1, 0, 2])?;
    cx.put("Unsqueeze", &[rows, axis], &[])
}
