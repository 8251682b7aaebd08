//! `rnn`: layers of LSTM, GRU or RNN, whose weights are one list.
//!
//! | | Paddle | ONNX |
//! |---|---|---|
//! | weights | of all layers and directions, then the biases | stacked by direction |
//! | gates of LSTM | input, forget, cell, output | input, output, forget, cell |
//! | gates of GRU | reset, update, candidate | update, reset, candidate |
//! | result | directions side by side | an axis of directions |

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::dialects::cannot;
use crate::dialects::paddle::attributes::constant_like;
use crate::errors;
use crate::lowering::terms::{ints, with};
use crate::lowering::{LoweredValue, Lowering, along, int};
use crate::words;

/// The weight of a cell with its gates in ONNX's order. `order` has the gates of Paddle.
fn gates(l: &mut Lowering<'_>, weight: LoweredValue, order: &[usize]) -> Result<LoweredValue> {
    let parts = int("num_outputs", i64_of(order.len()));
    let parts = l.apply_many("Split", &[weight], &[along(0), parts], order.len())?;
    let parts: Vec<_> = order.iter().map(|&gate| parts[gate]).collect();
    l.apply("Concat", &parts, &[along(0)])
}

/// Values side by side along a new first axis.
fn stacked(l: &mut Lowering<'_>, values: &[LoweredValue]) -> Result<LoweredValue> {
    let first = l.list(&[0])?;
    let values = values.iter().map(|&value| l.apply("Unsqueeze", &[value, first], &[]));
    let values = values.collect::<Result<Vec<_>>>()?;
    l.apply("Concat", &values, &[along(0)])
}

/// `rnn`: layers of LSTM, GRU or RNN over the steps of sequences.
pub fn rnn(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let mode = words::NETWORK.of(&l.attributes)?;
    let (operator, order, states): (_, &[usize], _) = match mode {
        "LSTM" => ("LSTM", &[0, 3, 1, 2], 2),
        "GRU" => ("GRU", &[1, 0, 2], 1),
        _ => ("RNN", &[0], 1),
    };
    let layers = l.attributes.int_or("num_layers", 1)?;
    let layers = usize_of_i64(layers).filter(|&layers| (1..=l.count()).contains(&layers));
    let layers = layers.ok_or_else(|| errors::count("layers", 0, "one for each part of the weights"))?;
    let directions = if l.attributes.flag("is_bidirec", false)? { 2 } else { 1 };
    if layers > 1 && !l.attributes.flag("is_test", false)? && l.float("dropout_prob")?.unwrap_or(0.0) > 0.0 {
        return Err(cannot("rnn with dropout in training"));
    }
    let cells = layers * directions;
    let first = 1 + states;
    let biases = first + 2 * cells;
    // After the weights come the lengths and the state of the dropout.
    let lengths = if l.has(biases) && l.rank_of(biases)? == 1 && l.dtype_of(biases)?.is_float() {
        biases + 2 * cells
    } else {
        biases
    };
    let biased = lengths > biases;
    let lengths = match l.maybe(lengths) {
        given if given != LoweredValue::NONE && matches!(l.dtype_of(lengths)?, DType::I32 | DType::I64) => {
            l.cast(given, DType::I32)?
        }
        _ => LoweredValue::NONE,
    };
    let mut x = l.input(0)?;
    let name = |text: &str| Content::Bytes(text.to_owned().into());
    let hidden = l.attributes.int_or("hidden_size", 1)?;
    let mut attributes = vec![
        int("hidden_size", hidden),
        ("direction", name(if directions == 2 { "bidirectional" } else { "forward" })),
    ];
    match mode {
        "GRU" => attributes.push(int("linear_before_reset", 1)),
        "RNN_RELU" => {
            attributes
                .push(("activations", Content::Strings(vec![b"Relu".to_vec().into(); directions].into())));
        }
        _ => {}
    }
    let mut ends = vec![Vec::new(); states];
    for layer in 0..layers {
        let mut weights = [Vec::new(), Vec::new(), Vec::new()];
        for cell in layer * directions..(layer + 1) * directions {
            for (kind, all) in weights.iter_mut().enumerate().take(2) {
                let weight = l.input(first + 2 * cell + kind)?;
                all.push(gates(l, weight, order)?);
            }
            if biased {
                let [a, b] = [l.input(biases + 2 * cell)?, l.input(biases + 2 * cell + 1)?];
                let both = [gates(l, a, order)?, gates(l, b, order)?];
                weights[2].push(l.apply("Concat", &both, &[along(0)])?);
            }
        }
        let mut inputs = vec![x, stacked(l, &weights[0])?, stacked(l, &weights[1])?];
        inputs.push(if biased { stacked(l, &weights[2])? } else { LoweredValue::NONE });
        inputs.push(lengths);
        for state in 0..states {
            let all = l.input(1 + state)?;
            let [start, end] = [layer * directions, (layer + 1) * directions].map(|at| l.list(&[i64_of(at)]));
            inputs.push(with("Slice", [all.into(), start?.into(), end?.into(), ints(&[0])], []).put(l)?);
        }
        let outputs = l.apply_many(operator, &inputs, &attributes, 1 + states)?;
        let y = l.transposed(outputs[0], &[0, 2, 1, 3])?;
        x = l.reshape(y, &[0, 0, hidden.saturating_mul(i64_of(directions))])?;
        for (end, &output) in ends.iter_mut().zip(&outputs[1..]) {
            end.push(output);
        }
    }
    // Nobody reads the state of the dropout and the reserve, which are for training: Paddle
    // declares them as scalars.
    let unread = constant_like(l, 0.0)?;
    let mut outputs = vec![x, unread];
    for end in ends {
        outputs.push(l.apply("Concat", &end, &[along(0)])?);
    }
    outputs.push(unread);
    Ok(outputs)
}
