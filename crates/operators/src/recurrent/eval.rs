//! Evaluation of recurrent networks: `RNN`, `GRU` and `LSTM`, and ONNX Runtime's
//! `DynamicQuantizeLSTM`. States are kept in float64 from step to step, and rounded where they are
//! outputs.

use gradus_core::convert::product;
use gradus_core::graph::Content;
use gradus_core::{Result, Value};
use gradus_kernels::{Options, share_map};

use crate::attributes::Attributes;
use crate::elementwise::activations::Activation;
use crate::errors;
use crate::floats::Sizes;
use crate::matmul::eval::{products, swapped};
use crate::op::EvalContext;
use crate::quantization::eval::dynamically_quantized;
use crate::recurrent::infer::QUANTIZED_LSTM;
use crate::words;

/// The activations of a direction, as the attributes name them, with the parameters that they use
/// in their order.
fn activations(attributes: &Attributes<'_>, operator: &str, directions: usize) -> Result<Vec<Activation>> {
    let default: &[&str] = match operator {
        "GRU" => &["Sigmoid", "Tanh"],
        "LSTM" => &["Sigmoid", "Tanh", "Tanh"],
        _ => &["Tanh"],
    };
    let named: Vec<String> = match attributes.get("activations") {
        Some(Content::Strings(names)) => {
            names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
        }
        _ => default.repeat(directions).into_iter().map(str::to_owned).collect(),
    };
    errors::expect_value("number of activations", named.len(), default.len() * directions)?;
    let list = |name: &str| match attributes.get(name) {
        Some(Content::Floats(values)) => values.iter().copied(),
        _ => [].iter().copied(),
    };
    let lists = std::cell::RefCell::new([list("activation_alpha"), list("activation_beta")]);
    let given = |name: &str| {
        Ok(match name {
            "alpha" => lists.borrow_mut()[0].next(),
            "beta" => lists.borrow_mut()[1].next(),
            _ => None,
        })
    };
    named.iter().map(|name| Activation::named(name, given)).collect()
}

/// The cell of one direction: what it makes of the gates and its states.
struct Cell<'a> {
    operator: &'a str,
    hidden: usize,
    activations: &'a [Activation],
    /// By gate, hidden element and hidden element.
    recurrence: &'a [f64],
    /// Biases of the recurrence.
    bias: &'a [f64],
    peepholes: &'a [f64],
    clip: f64,
    coupled: bool,
    linear_before_reset: bool,
    /// True if products read quantized states.
    quantized: bool,
}

impl Cell<'_> {
    fn activate(&self, which: usize, x: f64) -> f64 {
        self.activations[which].at(x.clamp(-self.clip, self.clip))
    }

    /// The recurrent part of a gate.
    fn recurrent(&self, gate: usize, element: usize, h: &[f64]) -> f64 {
        let row = gate * self.hidden + element;
        let weights = &self.recurrence[row * self.hidden..][..self.hidden];
        let sum: f64 = weights.iter().zip(h).map(|(weight, h)| weight * h).sum();
        sum + self.bias.get(row).copied().unwrap_or(0.0)
    }

    /// Replaces the states by those of the next step; `x` is what the input adds to each gate.
    fn step(&self, x: &[f64], h: &mut Vec<f64>, c: &mut [f64]) {
        let all = 0..self.hidden;
        let read = self.quantized.then(|| dynamically_quantized(h));
        let seen = read.as_deref().unwrap_or(h);
        let gate = |gate: usize, element: usize| x[gate * self.hidden + element];
        let sum = |of: usize, element: usize| gate(of, element) + self.recurrent(of, element, seen);
        let peephole = |of: usize, element: usize, c: f64| {
            self.peepholes.get(of * self.hidden + element).map_or(0.0, |weight| weight * c)
        };
        *h = match self.operator {
            "LSTM" => {
                let next = |i: usize| {
                    let input = self.activate(0, sum(0, i) + peephole(0, i, c[i]));
                    let forget = if self.coupled {
                        1.0 - input
                    } else {
                        self.activate(0, sum(2, i) + peephole(2, i, c[i]))
                    };
                    forget * c[i] + input * self.activate(1, sum(3, i))
                };
                let cells: Vec<_> = all.clone().map(next).collect();
                c.copy_from_slice(&cells);
                let output = |i: usize| {
                    self.activate(0, sum(1, i) + peephole(1, i, c[i])) * self.activations[2].at(c[i])
                };
                all.map(output).collect()
            }
            "GRU" => {
                let update: Vec<_> = all.clone().map(|i| self.activate(0, sum(0, i))).collect();
                let reset: Vec<_> = all.clone().map(|i| self.activate(0, sum(1, i))).collect();
                let kept: Vec<_> = reset.iter().zip(&*h).map(|(reset, h)| reset * h).collect();
                let next = |i: usize| {
                    let recurrent = if self.linear_before_reset {
                        reset[i] * self.recurrent(2, i, h)
                    } else {
                        self.recurrent(2, i, &kept)
                    };
                    let candidate = self.activate(1, gate(2, i) + recurrent);
                    (1.0 - update[i]) * candidate + update[i] * h[i]
                };
                all.map(next).collect()
            }
            _ => all.map(|i| self.activate(0, sum(0, i))).collect(),
        };
    }
}

/// The number of steps of each sample, from input 4 if it is given.
fn lengths(cx: &EvalContext<'_>, steps: usize, batch: usize) -> Result<Vec<usize>> {
    let mut lengths = vec![steps; batch];
    for (length, given) in lengths.iter_mut().zip(cx.maybe_integers(4)?.unwrap_or_default()) {
        let within = usize::try_from(given).ok().filter(|&given| given <= steps);
        *length =
            within.ok_or_else(|| errors::value("sequence length", given, format_args!("0 to {steps}")))?;
    }
    Ok(lengths)
}

/// The terms that the input adds to the gates of one direction, for all steps at once.
fn gates_of_input(
    cx: &mut EvalContext<'_>,
    x: &[f64],
    weights: &[f64],
    bias: &[f64],
    sizes: Sizes,
) -> Result<Vec<f64>> {
    let weights = swapped(weights, sizes.columns, sizes.inner);
    let limits = cx.limits();
    let adding = cx.adding_doubles(&limits)?;
    let mut sums = products(cx, x, &weights, sizes, &[(0, 0)], adding)?;
    for sums in sums.chunks_mut(sizes.columns.max(1)) {
        sums.iter_mut().zip(bias).for_each(|(sum, bias)| *sum += bias);
    }
    Ok(sums)
}

/// The weights of each direction that codes stand for, by gate and element. Scales and zero points
/// are one for a direction, or one for each row of gates.
fn decoded(
    cx: &EvalContext<'_>,
    codes: &[f64],
    [directions, inner, rows]: [usize; 3],
    [scales, zeros]: [usize; 2],
) -> Result<Vec<f64>> {
    cx.reserve(product(2 * codes.len(), size_of::<f64>()))?;
    let (scales, zeros) = (cx.floats(scales)?, cx.floats(zeros)?);
    let mut all = Vec::with_capacity(codes.len());
    for (direction, codes) in codes.chunks_exact((inner * rows).max(1)).enumerate() {
        let of = |list: &[f64], row: usize| {
            let each = (list.len() / directions).max(1);
            list[direction * each + row % each]
        };
        let number = |(place, code): (usize, &f64)| {
            let row = place % rows;
            (code - of(&zeros, row)) * of(&scales, row)
        };
        let numbers: Vec<_> = codes.iter().enumerate().map(number).collect();
        all.extend(swapped(&numbers, inner, rows));
    }
    Ok(all)
}

/// `RNN`, `GRU` and `LSTM`: states from step to step, and outputs of all steps.
pub fn recurrent(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    let batch_first = attributes.flag("layout", false)?;
    let (steps, batch) = if batch_first { (dims[1], dims[0]) } else { (dims[0], dims[1]) };
    let (size, weights) = (dims[2], cx.tensor(1)?.shape().dims());
    let quantized = cx.operator == QUANTIZED_LSTM;
    let (directions, rows) = (weights[0], weights[if quantized { 2 } else { 1 }]);
    let hidden = cx.tensor(2)?.shape().dims()[if quantized { 1 } else { 2 }];
    let operator = if quantized { "LSTM" } else { cx.operator };
    let activations = activations(attributes, operator, directions)?;
    let each = activations.len() / directions;
    let (mut x, mut input_weights, mut recurrence) = (cx.floats(0)?, cx.floats(1)?, cx.floats(2)?);
    if quantized {
        x = dynamically_quantized(&x);
        input_weights = decoded(cx, &input_weights, [directions, size, rows], [8, 9])?;
        recurrence = decoded(cx, &recurrence, [directions, hidden, rows], [10, 11])?;
    }
    let bias = cx.maybe_floats(3)?.unwrap_or_default();
    let [h0, c0, peepholes] = [5, 6, 7].map(|input| {
        let own = input == 5 || operator == "LSTM";
        if own { cx.maybe_floats(input).map(Option::unwrap_or_default) } else { Ok(Vec::new()) }
    });
    let (h0, c0, peepholes) = (h0?, c0?, peepholes?);
    cx.run.touch(product(steps * batch, directions * rows).saturating_mul(product(hidden, 1)))?;
    cx.reserve(product(steps.max(1) * batch, directions * (rows + 2 * hidden + 8) * size_of::<f64>()))?;
    let lengths = lengths(cx, steps, batch)?;
    let sizes = Sizes { rows: steps * batch, inner: size, columns: rows };
    let inputs = (0..directions).map(|direction| {
        let weights = &input_weights[direction * rows * size..][..rows * size];
        gates_of_input(cx, &x, weights, bias.get(direction * 2 * rows..).unwrap_or_default(), sizes)
    });
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let clip = attributes.float("clip")?.map_or(f64::INFINITY, f64::from);
    let (coupled, linear) =
        (attributes.flag("input_forget", false)?, attributes.flag("linear_before_reset", false)?);
    let reverse = words::DIRECTION.of(attributes)? == "reverse";
    // Index of a state, by layout.
    let state = |direction: usize, sample: usize| {
        (if batch_first { sample * directions + direction } else { direction * batch + sample }) * hidden
    };
    let limits = cx.limits();
    let sequence = |at: usize| {
        let (direction, sample) = (at / batch, at % batch);
        let cell = Cell {
            operator,
            hidden,
            activations: &activations[direction * each..][..each],
            recurrence: &recurrence[direction * rows * hidden..][..rows * hidden],
            bias: bias.get((2 * direction + 1) * rows..).map_or(&[], |bias| &bias[..rows]),
            peepholes: peepholes.get(direction * 3 * hidden..).unwrap_or_default(),
            clip,
            coupled,
            linear_before_reset: linear,
            quantized,
        };
        let initial = |states: &[f64]| {
            states
                .get(state(direction, sample)..)
                .filter(|s| !s.is_empty())
                .map_or(vec![0.0; hidden], |s| s[..hidden].to_vec())
        };
        let (mut h, mut c) = (initial(&h0), initial(&c0));
        let mut all = vec![0.0; steps * hidden];
        let length = lengths[sample];
        for step in 0..length {
            limits.check()?;
            let step = if direction == 1 || reverse { length - 1 - step } else { step };
            let at = if batch_first { sample * steps + step } else { step * batch + sample };
            cell.step(&inputs[direction][at * rows..][..rows], &mut h, &mut c);
            all[step * hidden..][..hidden].copy_from_slice(&h);
        }
        Ok((all, h, c))
    };
    let done: Vec<_> = share_map(0..directions * batch, Options::default(), sequence)?;
    let mut y = vec![0.0; steps * directions * batch * hidden];
    let (mut last_h, mut last_c) =
        (vec![0.0; directions * batch * hidden], vec![0.0; directions * batch * hidden]);
    for (at, (all, h, c)) in done.iter().enumerate() {
        let (direction, sample) = (at / batch, at % batch);
        let to = state(direction, sample);
        last_h[to..to + hidden].copy_from_slice(h);
        last_c[to..to + hidden].copy_from_slice(c);
        for (step, h) in all.chunks(hidden.max(1)).enumerate() {
            let to = if batch_first {
                (sample * steps + step) * directions + direction
            } else {
                (step * directions + direction) * batch + sample
            };
            y[to * hidden..][..hidden].copy_from_slice(h);
        }
    }
    let mut outputs = vec![cx.rounded(0, &y)?, cx.rounded(1, &last_h)?];
    if operator == "LSTM" {
        outputs.push(cx.rounded(2, &last_c)?);
    }
    Ok(outputs)
}
