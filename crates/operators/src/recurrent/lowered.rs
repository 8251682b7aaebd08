//! Recurrent networks as graphs of ONNX's operators: a loop over the steps of each direction.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Error, Kind, Result};

use super::to_openvino::Network;
use crate::elementwise::activations::Activation;
use crate::errors;
use crate::lowering::terms::of;
use crate::lowering::{LoweredValue, Lowering, int, not_known};
use crate::words;

/// A function of gates: an operator and its attributes.
type Gate = (&'static str, Vec<(&'static str, Content)>);

/// The weights of a direction, and what its functions read.
pub struct Cell {
    pub network: Network,
    /// The type of all numbers.
    pub dtype: DType,
    /// The part of each step and gate that does not depend on states.
    pub gates: LoweredValue,
    /// Weights by hidden element and gate; of a GRU, of each gate alone.
    pub recurrence: Vec<LoweredValue>,
    /// Biases of the recurrence of each gate, if they are not part of `gates`.
    pub bias: Vec<LoweredValue>,
    /// Factors of the cell for the input, output and forget gates, if there are any.
    pub peepholes: Vec<LoweredValue>,
    /// Makes what the products read of a state.
    pub seen: fn(&mut Lowering<'_>, LoweredValue) -> Result<LoweredValue>,
}

/// A known size of an input.
pub fn size(l: &Lowering<'_>, input: usize, axis: usize) -> Result<usize> {
    let size = l.dims_of(input)?.get(axis).copied().flatten();
    size.ok_or_else(|| not_known(format!("size of axis {axis} of input {input}")))
}

/// `RNN`, `GRU` and `LSTM`. Numbers are of float32, or of float64 where inputs are.
pub fn recurrent(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let network = Network::named(&l.node.operator.name);
    let own = l.dtype_of(0)?;
    let dtype = if own == DType::F64 { own } else { DType::F32 };
    let (directions, hidden) = (size(l, 1, 0)?, size(l, 2, 2)?);
    let batch_first = l.attributes.flag("layout", false)?;
    let mut x = of_type(l, 0, dtype)?;
    if batch_first {
        x = l.transposed(x, &[1, 0, 2])?;
    }
    let peepholes = network == Network::Lstm && l.has(7);
    let mut cell = |l: &mut Lowering<'_>, direction: usize| {
        let [weights, recurrence] = [1, 2].map(|input| {
            let all = of_type(l, input, dtype)?;
            let own = element(l, all, i64_of(direction))?;
            l.transposed(own, &[1, 0])
        });
        let (mut gates, mut bias) = (l.apply("MatMul", &[x, weights?], &[])?, Vec::new());
        if l.has(3) {
            let both = of_type(l, 3, dtype)?;
            let both = element(l, both, i64_of(direction))?;
            let parts = split(l, both, 2)?;
            // The sum of both first: OpenVINO loses one of two that are added to a product.
            let added = match network {
                Network::Gru => {
                    bias = split(l, parts[1], 3)?;
                    parts[0]
                }
                Network::Rnn | Network::Lstm => l.apply("Add", &parts, &[])?,
            };
            gates = l.apply("Add", &[gates, added], &[])?;
        }
        let peepholes = if peepholes { peepholes_of(l, direction, dtype)? } else { Vec::new() };
        let recurrence = match network {
            Network::Gru => split(l, recurrence?, 3)?,
            Network::Rnn | Network::Lstm => vec![recurrence?],
        };
        Ok(Cell { network, dtype, gates, recurrence, bias, peepholes, seen: |_, h| Ok(h) })
    };
    let outputs = run(l, x, [directions, hidden], dtype, &mut cell)?;
    let orders: [&[i64]; 3] = [&[2, 0, 1, 3], &[1, 0, 2], &[1, 0, 2]];
    let count = if network == Network::Lstm { 3 } else { 2 };
    let outputs = outputs.into_iter().zip(orders).take(count);
    let outputs = outputs.map(|(mut value, order)| {
        if batch_first {
            value = l.transposed(value, order)?;
        }
        l.cast(value, own)
    });
    outputs.collect()
}

/// An input in a type of floats.
fn of_type(l: &mut Lowering<'_>, input: usize, dtype: DType) -> Result<LoweredValue> {
    let value = l.input(input)?;
    l.cast(value, dtype)
}

/// The factors of the cell for the gates of a direction.
pub fn peepholes_of(l: &mut Lowering<'_>, direction: usize, dtype: DType) -> Result<Vec<LoweredValue>> {
    let all = of_type(l, 7, dtype)?;
    let own = element(l, all, i64_of(direction))?;
    split(l, own, 3)
}

/// The states of all steps by step, direction, sample and element, and the last states and cells by
/// direction, sample and element. `cell` makes the cell of a direction, whose gates are in the order
/// of `x`, by step and sample.
pub fn run(
    l: &mut Lowering<'_>,
    x: LoweredValue,
    [directions, hidden]: [usize; 2],
    dtype: DType,
    cell: &mut dyn FnMut(&mut Lowering<'_>, usize) -> Result<Cell>,
) -> Result<[LoweredValue; 3]> {
    let shape = l.shape(x)?;
    let (steps, batch, hidden) = (element(l, shape, 0)?, element(l, shape, 1)?, l.list(&[i64_of(hidden)])?);
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
    for direction in 0..directions {
        let backward = direction == 1 || reverse;
        let mut cell = cell(l, direction)?;
        if backward {
            cell.gates = reversed(l, cell.gates, lengths)?;
        }
        let functions = functions(l, cell.network, [direction, directions])?;
        let first = [5, 6].map(|input| state(l, &cell, input, direction, [batch, hidden]));
        let [h, c] = first;
        let limit = masked.then_some(lengths);
        let [state, memory, all] =
            l.scanned(steps, [h?, c?], |l, step, states| step_of(l, &cell, &functions, step, states, limit))?;
        let all = if backward { reversed(l, all, lengths)? } else { all };
        rows.push(with_axis(l, all, 1)?);
        for (last, state) in last.iter_mut().zip([state, memory]) {
            last.push(with_axis(l, state, 0)?);
        }
    }
    let [states, cells] = last;
    let mut joined = |parts: &[LoweredValue], axis| {
        let all = l.apply("Concat", parts, &[int("axis", axis)])?;
        l.cast(all, dtype)
    };
    Ok([joined(&rows, 1)?, joined(&states, 0)?, joined(&cells, 0)?])
}

/// The functions of the gates of a direction.
fn functions(l: &Lowering<'_>, network: Network, [direction, directions]: [usize; 2]) -> Result<Vec<Gate>> {
    let each = network.activations();
    let named: Vec<String> = match l.attributes.get("activations") {
        Some(Content::Strings(names)) => {
            names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
        }
        _ => each.repeat(directions).into_iter().map(str::to_owned).collect(),
    };
    errors::expect_value("number of activations", named.len(), each.len() * directions)?;
    let list = |name: &str| match l.attributes.get(name) {
        Some(Content::Floats(values)) => values.iter().copied(),
        _ => [].iter().copied(),
    };
    // Each function takes those that it has from the lists, in the order of all functions.
    let mut parameters = [("alpha", list("activation_alpha")), ("beta", list("activation_beta"))];
    let gates: Result<Vec<Gate>> = named
        .iter()
        .map(|name| {
            let known = Activation::operator(name);
            let (operator, own) = known.ok_or_else(|| {
                let wanted = "an operator of ONNX";
                Error::mismatch(Kind::Unsupported, "cannot convert: activation", name, wanted)
            })?;
            let given = own.filter_map(|own| {
                let (_, list) = parameters.iter_mut().find(|(name, _)| *name == own)?;
                Some((own, Content::Float(list.next()?)))
            });
            Ok((operator, given.collect()))
        })
        .collect();
    Ok(gates?.split_off(direction * each.len()).into_iter().take(each.len()).collect())
}

/// The elements at an index of the first axis.
pub fn element(l: &mut Lowering<'_>, value: LoweredValue, index: i64) -> Result<LoweredValue> {
    let index = l.scalar(index)?;
    l.apply("Gather", &[value, index], &[int("axis", 0)])
}

/// Equal parts of the last axis.
pub fn split(l: &mut Lowering<'_>, value: LoweredValue, parts: usize) -> Result<Vec<LoweredValue>> {
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

/// A first state by sample: the input, or zeros.
fn state(
    l: &mut Lowering<'_>,
    cell: &Cell,
    input: usize,
    direction: usize,
    [batch, hidden]: [LoweredValue; 2],
) -> Result<LoweredValue> {
    if l.has(input) && (input == 5 || cell.network == Network::Lstm) {
        let mut given = of_type(l, input, cell.dtype)?;
        if l.attributes.flag("layout", false)? {
            given = l.transposed(given, &[1, 0, 2])?;
        }
        return element(l, given, i64_of(direction));
    }
    let zero = l.number(0.0, cell.dtype)?;
    let one = l.list(&[1])?;
    let sizes = [of("Reshape", batch, one).put(l)?, hidden];
    let shape = l.apply("Concat", &sizes, &[int("axis", 0)])?;
    l.apply("Expand", &[zero, shape], &[])
}

/// A function of a gate, of a number between bounds.
fn gated(l: &mut Lowering<'_>, cell: &Cell, gate: &Gate, mut value: LoweredValue) -> Result<LoweredValue> {
    if let Some(clip) = l.attributes.float("clip")? {
        let [low, high] = [-clip, clip].map(|bound| l.number(bound.into(), cell.dtype));
        value = l.apply("Clip", &[value, low?, high?], &[])?;
    }
    l.apply(gate.0, &[value], &gate.1)
}

/// The states after a step, and its row of the output: zeros and the states before, where a sample
/// has ended.
fn step_of(
    l: &mut Lowering<'_>,
    cell: &Cell,
    functions: &[Gate],
    step: LoweredValue,
    [h, c]: [LoweredValue; 2],
    lengths: Option<LoweredValue>,
) -> Result<[LoweredValue; 3]> {
    let own = l.apply("Gather", &[cell.gates, step], &[int("axis", 0)])?;
    let seen = (cell.seen)(l, h)?;
    let [state, memory] = match cell.network {
        Network::Rnn => {
            let sum = (own + of("MatMul", seen, cell.recurrence[0])).put(l)?;
            [gated(l, cell, &functions[0], sum)?, c]
        }
        Network::Gru => [gru(l, cell, functions, own, h)?, c],
        Network::Lstm => {
            let sum = (own + of("MatMul", seen, cell.recurrence[0])).put(l)?;
            lstm(l, cell, functions, sum, c)?
        }
    };
    let Some(lengths) = lengths else {
        return Ok([state, memory, state]);
    };
    let goes_on = l.apply("Less", &[step, lengths], &[])?;
    let goes_on = with_axis(l, goes_on, 1)?;
    let zero = l.number(0.0, cell.dtype)?;
    let mut either = |value, other| l.apply("Where", &[goes_on, value, other], &[]);
    Ok([either(state, h)?, either(memory, c)?, either(state, zero)?])
}

/// The state and the cell of an LSTM after a step.
fn lstm(
    l: &mut Lowering<'_>,
    cell: &Cell,
    functions: &[Gate],
    sum: LoweredValue,
    c: LoweredValue,
) -> Result<[LoweredValue; 2]> {
    let gates = split(l, sum, 4)?;
    let through = |l: &mut Lowering<'_>, gate: usize, seen: LoweredValue| {
        let mut value = gates[gate];
        if let Some(&weights) = cell.peepholes.get(gate) {
            value = (value + seen * weights).put(l)?;
        }
        gated(l, cell, &functions[0], value)
    };
    let input = through(l, 0, c)?;
    let forget = if l.attributes.flag("input_forget", false)? {
        let one = l.number(1.0, cell.dtype)?;
        l.apply("Sub", &[one, input], &[])?
    } else {
        through(l, 2, c)?
    };
    let added = gated(l, cell, &functions[1], gates[3])?;
    let memory = (forget * c + (input * added)).put(l)?;
    let output = through(l, 1, memory)?;
    let seen = l.apply(functions[2].0, &[memory], &functions[2].1)?;
    Ok([l.apply("Mul", &[output, seen], &[])?, memory])
}

/// The state of a GRU after a step.
fn gru(
    l: &mut Lowering<'_>,
    cell: &Cell,
    functions: &[Gate],
    own: LoweredValue,
    h: LoweredValue,
) -> Result<LoweredValue> {
    let own = split(l, own, 3)?;
    let recurrent = |l: &mut Lowering<'_>, gate: usize, h: LoweredValue| {
        let sum = l.apply("MatMul", &[h, cell.recurrence[gate]], &[])?;
        cell.bias.get(gate).map_or(Ok(sum), |&bias| l.apply("Add", &[sum, bias], &[]))
    };
    let [update, reset] = [0, 1].map(|gate| {
        let sum = recurrent(l, gate, h)?;
        let sum = l.apply("Add", &[own[gate], sum], &[])?;
        gated(l, cell, &functions[0], sum)
    });
    let (update, reset) = (update?, reset?);
    let sum = if l.attributes.flag("linear_before_reset", false)? {
        let sum = recurrent(l, 2, h)?;
        l.apply("Mul", &[reset, sum], &[])?
    } else {
        let kept = l.apply("Mul", &[reset, h], &[])?;
        recurrent(l, 2, kept)?
    };
    let sum = l.apply("Add", &[own[2], sum], &[])?;
    let candidate = gated(l, cell, &functions[1], sum)?;
    let one = l.number(1.0, cell.dtype)?;
    ((one - update) * candidate + (update * h)).put(l)
}
