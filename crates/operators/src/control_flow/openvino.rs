//! Operators that run graphs. Maps of ports say which values of a body are those of the node.
//!
//! | OpenVINO | elsewhere | what differs |
//! |---|---|---|
//! | `If` | `If` | branches take inputs, capture nothing |
//! | `Loop` | `Loop` | -1 runs are any number; values of each run may be slices of a tensor, along any axis |
//! | `TensorIterator` | `Scan` | as many runs as there are slices |

use std::sync::Arc;

use gradus_core::convert::{self, from_start, i64_of, small_u32, usize_of_i64};
use gradus_core::graph::{Content, Graph, Port, Ports, Slices, Standard, Type};
use gradus_core::{DType, Number, Result as Computed, Shape, Tensor, Value};

use crate::attributes::missing;
use crate::control_flow::branches::branches;
use crate::control_flow::counted::{Counters, number_of_iterations};
use crate::control_flow::infer::{all_runs, first_run, forget, in_iteration, last, outside, runs_at_all};
use crate::dim::{Bounds, Dim, Relation};
use crate::errors;
use crate::fact::{Elements, Fact, TensorFact};
use crate::indices::Along;
use crate::infer::{self, InferContext, InferError, InferResult, Visit};
use crate::layout::eval::joined as put_together;
use crate::op::{BuildContext, EvalContext, Op};
use crate::program::GraphProgram;
use crate::{indices, output};

/// Facts about the outputs, from the branch whose graph has this name.
fn one_branch(cx: &mut InferContext<'_, '_>, body: &str, how: Visit) -> InferResult {
    let map = body.replace("_body", "_port_map");
    let ports = cx.ports(&map)?;
    let mut inputs = vec![Fact::Unknown; cx.graph(body)?.inputs().len()];
    for port in &ports.inputs {
        inputs[port.inner] = cx.read_fact(port.outer);
    }
    let values = cx.inner(body, inputs, how)?;
    let mut facts = vec![Fact::Unknown; cx.node.outputs.len()];
    for port in &ports.outputs {
        if let (Some(fact), Some(value)) = (facts.get_mut(port.outer), values.get(port.inner)) {
            fact.clone_from(value);
        }
    }
    Ok(facts)
}

/// Facts of OpenVINO's `If`.
pub fn branch(cx: &mut InferContext<'_, '_>) -> InferResult {
    branches(cx, ["then_body", "else_body"], one_branch)
}

/// Number of slices of a tensor.
fn count_of_slices(cx: &mut InferContext<'_, '_>, port: &Port, slices: &Slices) -> Option<Dim> {
    let dims = cx.known_dims(port.outer)?;
    let axis = indices::axis(slices.axis, dims.len()).ok()?;
    let from_first = |cx: &mut InferContext<'_, '_>, bound: i64| {
        if bound < 0 { cx.add(dims[axis], Dim::Known(bound)) } else { Dim::Known(bound) }
    };
    let (start, end) = (from_first(cx, slices.start), from_first(cx, slices.end));
    let (low, high) = if slices.stride > 0 { (start, end) } else { (end, start) };
    let span = cx.subtract(high, low);
    let covered = cx.add(span, Dim::ONE);
    Some(cx.floor_divide(covered, Dim::Known(slices.part_size)))
}

/// One of the slices of an input.
fn slice_of(cx: &InferContext<'_, '_>, port: &Port, slices: &Slices) -> Result<Fact, InferError> {
    let dtype = cx.dtype(port.outer);
    let Some(dims) = cx.known_dims(port.outer) else { return Ok(Fact::tensor_type(dtype)) };
    let axis = indices::axis(slices.axis, dims.len())?;
    let mut part = dims.to_vec();
    part[axis] = Dim::Known(slices.part_size);
    Ok(Fact::Tensor(TensorFact::new(dtype, Some(part.into()))))
}

/// The number of the run as the body declares it: a scalar, or a tensor of one element.
fn iteration(cx: &mut InferContext<'_, '_>, input: usize, number: Dim) -> Result<Fact, InferError> {
    let graph = cx.graph("body")?;
    let declared = graph.inputs().get(input).and_then(|&id| graph.value(id).declared.as_ref());
    let (dtype, rank) = match declared {
        Some(Type::Tensor(dtype, sizes)) => (dtype.unwrap_or(DType::I64), sizes.as_ref().map_or(0, Vec::len)),
        _ => (DType::I64, 0),
    };
    Ok(cx.integers_fact(dtype, vec![Dim::ONE; rank.min(1)], [number]))
}

/// The truth value of a fact.
fn truth_dim(fact: &Fact) -> Option<Dim> {
    match fact.as_tensor()?.elements {
        Elements::Integers(ref all) => all.first().copied(),
        _ => None,
    }
}

/// The truth value of a fact, if it is known.
fn truth(fact: &Fact) -> Option<bool> {
    truth_dim(fact)?.known().map(|value| value != 0)
}

/// Inputs of the body other than carried values and the number of the run.
fn fixed_inputs(cx: &mut InferContext<'_, '_>, ports: &Ports) -> Result<Vec<Fact>, InferError> {
    let mut fixed = vec![Fact::Unknown; cx.graph("body")?.inputs().len()];
    for port in &ports.inputs {
        fixed[port.inner] = match &port.slices {
            Some(slices) => slice_of(cx, port, slices)?,
            None => cx.read_fact(port.outer),
        };
    }
    Ok(fixed)
}

/// Facts of OpenVINO's `Loop` and `TensorIterator`: last values, and slices put together.
pub fn repeat(cx: &mut InferContext<'_, '_>) -> InferResult {
    let ports = cx.ports("port_map")?;
    let mark = small_u32(cx.symbols().symbols().len());
    let mut fixed = fixed_inputs(cx, ports)?;
    let sliced = ports.inputs.iter().find_map(|port| Some((port, port.slices.as_ref()?)));
    let slices = sliced.and_then(|(port, slices)| count_of_slices(cx, port, slices));
    // Below 0, the condition alone ends the loop.
    let (given, unlimited, condition) = if cx.operator == "Loop" {
        let given = cx.integer(0);
        let unlimited = matches!(given, Some(Dim::Known(..0)));
        (given, unlimited, cx.integer(1))
    } else {
        (slices, false, Some(Dim::ONE))
    };
    let enters = condition.and_then(Dim::known).map(|value| value != 0);
    let mut most = if unlimited { slices } else { given.filter(|&most| cx.symbols().at_least(most, 0)) };
    let bounds = Bounds::between(
        Some(0),
        most.and_then(|most| cx.symbols().bounds(most).upper()).map(|most| most.max(1) - 1),
    );
    let number = ports.iteration.map(|_| cx.data("index of the iteration", bounds));
    if let (Some(input), Some(number)) = (ports.iteration, number) {
        fixed[input] = iteration(cx, input, number)?;
    }
    let (outputs, inputs): (Vec<_>, Vec<_>) = ports.back_edges.iter().copied().unzip();
    let first: Vec<_> = inputs.iter().map(|&input| fixed[input].clone()).collect();
    let arranged = |every: &[Fact]| {
        let mut all = fixed.clone();
        for (&input, fact) in inputs.iter().zip(every) {
            all[input] = fact.clone();
        }
        all
    };
    let limit = most.filter(|_| enters == Some(true));
    let in_body = match number {
        Some(number) => Some(in_iteration(number)),
        None => limit.map(|limit| runs_at_all(cx, limit)),
    };
    let runs = all_runs(cx, first.clone(), &arranged, &outputs, (in_body, mark))?;
    let noted = runs.noted.clone();
    let goes_on = ports.condition.map_or(Some(true), |output| runs.outputs.get(output).and_then(truth));
    if let (None, Some(given), Some(true), false) = (most, given, goes_on, unlimited) {
        // Otherwise it would never end.
        cx.assume(given, Relation::AtLeast, Dim::ZERO);
        most = Some(given);
    }
    if enters == Some(true)
        && (most.is_some() || unlimited)
        && let Some((count, facts)) = unrolled(cx, ports, most, &fixed, &first)
    {
        forget(cx, noted);
        cx.note_runs("body", count, mark)?;
        return Ok(facts);
    }
    let counters = Counters::of(cx.symbols(), &runs.carried, number, mark);
    let count = match (enters, goes_on, most) {
        (Some(false), ..) => Some(Dim::ZERO),
        (Some(true), Some(true), Some(most)) => Some(most),
        (Some(true), Some(false), Some(most)) => Some(cx.min(most, Dim::ONE)),
        _ if most.is_none() && !unlimited => None,
        _ => {
            let goes_on = ports.condition.and_then(|output| truth_dim(runs.outputs.get(output)?));
            number_of_iterations(cx, &counters, [condition, goes_on], most)
        }
    };
    counters.settle(cx, noted, in_body, [count, limit]);
    if enters == Some(true) && (unlimited || most.is_some_and(|most| cx.symbols().at_least(most, 1))) {
        let mut inputs = arranged(&first);
        if let Some(input) = ports.iteration {
            inputs[input] = iteration(cx, input, Dim::ZERO)?;
        }
        first_run(cx, inputs)?;
    }
    let most = most.and_then(|most| cx.symbols().bounds(most).upper());
    let shown = count.unwrap_or_else(|| cx.data("number of iterations", Bounds::between(Some(0), most)));
    cx.note_runs("body", shown, mark)?;
    let mut facts = vec![Fact::Unknown; cx.node.outputs.len()];
    for port in &ports.outputs {
        let carried = outputs.iter().position(|&output| output == port.inner);
        let fact = match (port.slices, carried) {
            (None, Some(at)) => last(cx, &runs.carried[at], count, &counters, mark),
            (slices, _) => {
                let one = outside(cx, &runs.outputs[port.inner], mark);
                slices.map_or(Ok(one.clone()), |slices| joined(cx, &one, shown, slices.axis))?
            }
        };
        if let Some(slot) = facts.get_mut(port.outer) {
            *slot = fact;
        }
    }
    Ok(facts)
}

/// The outputs of all iterations, concatenated along an axis.
fn joined(cx: &mut InferContext<'_, '_>, fact: &Fact, runs: Dim, axis: i64) -> Result<Fact, InferError> {
    let Fact::Tensor(TensorFact { dtype, dims, .. }) = fact else {
        return Ok(Fact::tensor_type(fact.dtype()));
    };
    let Some(dims) = dims else { return Ok(Fact::tensor_type(*dtype)) };
    let axis = indices::axis(axis, dims.len())?;
    let mut all = dims.to_vec();
    // Runs whose parts differ make a dimension that only the data tell.
    all[axis] = match dims[axis] {
        Dim::Known(part) => cx.multiply(runs, Dim::Known(part)),
        Dim::Symbolic(_) => cx.data("outputs of the iterations of a loop", Bounds::SIZE),
    };
    Ok(Fact::Tensor(TensorFact::new(*dtype, Some(all.into()))))
}

/// Maximum number of runs of a loop that is unrolled.
const MAX_RUNS: i64 = 256;

/// Runs the loop run by run on facts, if it is known when it ends and that is soon: the number of
/// runs, and facts about the outputs.
fn unrolled(
    cx: &mut InferContext<'_, '_>,
    ports: &Ports,
    most: Option<Dim>,
    fixed: &[Fact],
    first: &[Fact],
) -> Option<(Dim, Vec<Fact>)> {
    let most = match most {
        Some(Dim::Known(most)) => most,
        None if ports.condition.is_some() => MAX_RUNS + 1,
        _ => return None,
    };
    if ports.condition.is_none() && most > MAX_RUNS {
        return None;
    }
    let nodes = cx.graph("body").ok()?.nodes().len();
    let mut state = first.to_vec();
    let mut rows: Vec<Vec<Fact>> = Vec::new();
    let mut goes_on = true;
    while goes_on && i64_of(rows.len()) < most {
        let run = i64_of(rows.len());
        if run >= MAX_RUNS || !cx.spend(nodes.max(1)) {
            return None;
        }
        let mut inputs = fixed.to_vec();
        for (&(_, input), fact) in ports.back_edges.iter().zip(&state) {
            inputs[input] = fact.clone();
        }
        if let Some(input) = ports.iteration {
            inputs[input] = iteration(cx, input, Dim::Known(run)).ok()?;
        }
        let outputs = cx.inner("body", inputs, Visit::Again).ok()?;
        if let Some(output) = ports.condition {
            goes_on = truth(outputs.get(output)?)?;
        }
        state = ports
            .back_edges
            .iter()
            .map(|&(output, _)| outputs.get(output).cloned())
            .collect::<Option<_>>()?;
        rows.push(outputs);
    }
    let last = rows.last()?;
    let mut facts = vec![Fact::Unknown; cx.node.outputs.len()];
    for port in &ports.outputs {
        let fact = match port.slices {
            None => last.get(port.inner)?.clone(),
            Some(slices) => stretched(cx, &rows, port.inner, slices.axis)?,
        };
        *facts.get_mut(port.outer)? = fact;
    }
    Some((Dim::from(rows.len()), facts))
}

/// The outputs of a known number of iterations, concatenated along an axis.
fn stretched(cx: &mut InferContext<'_, '_>, rows: &[Vec<Fact>], output: usize, axis: i64) -> Option<Fact> {
    let mut whole: Option<(TensorFact, usize)> = None;
    for row in rows {
        let fact = row.get(output)?.as_tensor()?;
        let dims = fact.dims.clone()?;
        let axis = indices::axis(axis, dims.len()).ok()?;
        whole = Some(match whole {
            None => (TensorFact::new(fact.dtype, Some(dims)), axis),
            Some((before, axis)) => {
                let (a, b) = (before.dims.as_ref()?.get(axis).copied()?, dims[axis]);
                let total = cx.add(a, b);
                let mut next = dims.to_vec();
                next[axis] = a;
                let next = Fact::Tensor(TensorFact::new(fact.dtype, Some(next.into())));
                let Fact::Tensor(mut both) =
                    cx.join(&Fact::Tensor(before), &next, "the iterations of a loop differ")
                else {
                    return None;
                };
                let mut all = both.dims?.to_vec();
                all[axis] = total;
                both.dims = Some(all.into());
                (both, axis)
            }
        });
    }
    whole.map(|(fact, _)| Fact::Tensor(fact))
}

/// A body, and how its values are those of the node.
#[derive(Debug)]
struct CompiledBody {
    program: GraphProgram,
    graph: Arc<Graph>,
    ports: Arc<Ports>,
}

impl CompiledBody {
    fn of(cx: &BuildContext<'_>, body: &str, map: &str) -> Computed<CompiledBody> {
        let (graph, program) = cx.program(body)?;
        let Some(Content::Ports(ports)) = cx.attributes.get(map) else {
            return Err(missing(map));
        };
        Ok(CompiledBody { program, graph, ports: ports.clone() })
    }

    /// The inputs of the body that the node gives it whole.
    fn inputs(&self, cx: &EvalContext<'_>) -> Computed<Vec<Option<Value>>> {
        let mut inputs = vec![None; self.graph.inputs().len()];
        for port in self.ports.inputs.iter().filter(|port| port.slices.is_none()) {
            inputs[port.inner] = Some(cx.value(port.outer)?.clone());
        }
        Ok(inputs)
    }

    fn run(&self, inputs: Vec<Option<Value>>, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
        if let Some(missing) = inputs.iter().position(Option::is_none) {
            return Err(errors::missing(format_args!("input {missing} of the body")));
        }
        cx.run.step()?;
        self.program.run(inputs, cx.frame, cx.run)
    }
}

#[derive(Debug)]
pub struct PortedIf {
    yes: CompiledBody,
    no: CompiledBody,
}

impl PortedIf {
    /// Builds the operator of a node.
    pub fn build(cx: &BuildContext<'_>) -> Computed<Box<dyn Op>> {
        let yes = CompiledBody::of(cx, "then_body", "then_port_map")?;
        let no = CompiledBody::of(cx, "else_body", "else_port_map")?;
        Ok(Box::new(PortedIf { yes, no }))
    }
}

impl Op for PortedIf {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
        let condition = cx.tensor(0)?.only_number().map_err(|error| cx.wrong(0, &error))?;
        let branch = if condition.is_zero() { &self.no } else { &self.yes };
        let results = branch.run(branch.inputs(cx)?, cx)?;
        outputs(cx.outputs, branch.ports.outputs.iter().map(|port| (port.outer, results[port.inner].clone())))
    }
}

/// The node's outputs, each of which the body must give.
fn outputs(count: usize, given: impl Iterator<Item = (usize, Value)>) -> Computed<Vec<Value>> {
    let mut outputs = vec![None; count];
    for (output, value) in given {
        outputs[output] = Some(value);
    }
    let missing = |i: usize| errors::missing(format_args!("output {i} of the body"));
    outputs.into_iter().enumerate().map(|(i, value)| value.ok_or_else(|| missing(i))).collect()
}

/// A body that runs many times.
#[derive(Debug)]
pub struct Repeat {
    body: CompiledBody,
    /// True if the first two inputs are the number of runs and the condition.
    counted: bool,
}

impl Repeat {
    /// Builds the operator of a node.
    pub fn build(cx: &BuildContext<'_>) -> Computed<Box<dyn Op>> {
        let body = CompiledBody::of(cx, "body", "port_map")?;
        Ok(Box::new(Repeat { body, counted: cx.signature.name == "Loop" }))
    }

    /// The inputs of which each run takes a slice.
    fn sliced<'a>(&self, cx: &EvalContext<'a>) -> Computed<Vec<Sliced<'a>>> {
        let each = self.body.ports.inputs.iter().filter_map(|port| Some((port, port.slices?)));
        each.map(|(port, slices)| {
            let tensor = cx.tensor(port.outer)?;
            let axis = indices::axis(slices.axis, tensor.shape().rank())?;
            cx.reserve(convert::product(tensor.shape()[axis], 4 * size_of::<usize>()))?;
            let parts = parts(tensor.shape()[axis], &slices)?;
            Ok(Sliced { input: port.inner, tensor, axis, parts })
        })
        .collect()
    }

    /// The number of the run as the body declares its input.
    fn number(&self, input: usize, run: i64) -> Computed<Value> {
        let declared = self.body.graph.inputs().get(input).map(|&id| &self.body.graph.value(id).declared);
        let (dtype, rank) = match declared {
            Some(Some(Type::Tensor(dtype, sizes))) => {
                (dtype.unwrap_or(DType::I64), sizes.as_ref().map_or(0, Vec::len))
            }
            _ => (DType::I64, 0),
        };
        let shape = Shape::new(vec![1; rank.min(1)])?;
        Ok(Tensor::from_numbers(dtype, shape, [Number::Int(run.into())], convert::Rules::IEEE)?.into())
    }

    /// Concatenated outputs after zero iterations.
    fn none(&self, inputs: &[Option<Value>], port: &Port, axis: i64) -> Computed<Value> {
        let facts =
            inputs.iter().map(|value| value.as_ref().map_or(Fact::Unknown, Fact::of).without_elements());
        let inferred =
            infer::outputs_of_body(Standard::OpenVino, &self.body.graph, facts.collect(), |_| Fact::Unknown);
        let fact = inferred.get(port.inner).and_then(Fact::as_tensor).cloned().unwrap_or_default();
        let (Some(dtype), Some(dims)) = (fact.dtype, fact.dims) else {
            return Err(errors::no_iterations());
        };
        let mut dims: Vec<_> =
            dims.iter().map(|dim| dim.known().and_then(usize_of_i64).unwrap_or(0)).collect();
        let axis = indices::axis(axis, dims.len())?;
        dims[axis] = 0;
        Ok(Tensor::zeros(dtype, Shape::new(dims)?)?.into())
    }
}

impl Repeat {
    /// The output of the last iteration. After zero iterations, carried values are the initial
    /// ones.
    fn last(&self, results: &[Value], inputs: &[Option<Value>], port: &Port) -> Computed<Value> {
        let carried = || {
            let edge = self.body.ports.back_edges.iter().find(|(output, _)| *output == port.inner);
            edge.and_then(|&(_, input)| inputs[input].clone())
        };
        let value = results.get(port.inner).cloned().or_else(carried);
        value.ok_or_else(|| {
            let what = format_args!("cannot compute output {}: number of iterations", port.outer);
            errors::value(what, 0, "at least 1")
        })
    }
}

/// A tensor of which each run takes a slice.
struct Sliced<'a> {
    /// The input of the body.
    input: usize,
    tensor: &'a Tensor,
    axis: usize,
    /// By run: indices along the axis.
    parts: Vec<Vec<usize>>,
}

/// The indices of each slice of an axis of that dimension.
fn parts(size: usize, slices: &Slices) -> Computed<Vec<Vec<usize>>> {
    let len = i64_of(size);
    let (start, end) = (from_start(slices.start, len), from_start(slices.end, len));
    let covered = start.abs_diff(end).saturating_add(1);
    let count = covered / slices.part_size.unsigned_abs();
    let outside = || {
        let got = format!("{start} to {end}");
        errors::shape("range of the slices", got, format_args!("a range within size {size}"))
    };
    let count = usize::try_from(count).ok().filter(|&count| count <= size).ok_or_else(outside)?;
    let each = (0..i64_of(count)).map(|part| {
        let first = start.saturating_add(part.saturating_mul(slices.stride));
        let first = if slices.stride < 0 { first.saturating_sub(slices.part_size - 1) } else { first };
        let indices = (first..first.saturating_add(slices.part_size)).map(usize_of_i64);
        indices
            .collect::<Option<Vec<_>>>()
            .filter(|all| all.iter().all(|&index| index < size))
            .ok_or_else(outside)
    });
    each.collect()
}

impl Op for Repeat {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Computed<Vec<Value>> {
        let ports = &self.body.ports;
        let sliced = self.sliced(cx)?;
        let mut most = sliced.first().map(|sliced| i64_of(sliced.parts.len()));
        let mut goes_on = true;
        if self.counted {
            let given = cx.integer(0)?;
            most = if given < 0 { most } else { Some(given) };
            goes_on = !cx.tensor(1)?.only_number().map_err(|error| cx.wrong(1, &error))?.is_zero();
        }
        let mut inputs = self.body.inputs(cx)?;
        let mut joined: Vec<Vec<Tensor>> = vec![Vec::new(); ports.outputs.len()];
        let mut results: Vec<Value> = Vec::new();
        let (before, mut run) = (cx.run.live_bytes, 0);
        while goes_on && most.is_none_or(|most| run < most) {
            for Sliced { input, tensor, axis, parts } in &sliced {
                let part = usize_of_i64(run).and_then(|run| parts.get(run));
                let part = part.ok_or_else(|| errors::count("iterations", run + 1, parts.len()))?;
                let mut indices = indices::all(tensor.shape().dims());
                indices[*axis] = Along::List(part.clone());
                inputs[*input] = Some(output::chosen(cx, tensor, &indices)?.into());
            }
            if let Some(input) = ports.iteration {
                inputs[input] = Some(self.number(input, run)?);
            }
            results = self
                .body
                .run(inputs.clone(), cx)
                .map_err(|error| error.in_node(format!("iteration {run}")))?;
            if let Some(output) = ports.condition {
                goes_on = !results[output].tensor()?.only_number()?.is_zero();
            }
            for &(output, input) in &ports.back_edges {
                inputs[input] = Some(results[output].clone());
            }
            for (list, port) in joined.iter_mut().zip(&ports.outputs) {
                if port.slices.is_some() {
                    let part = results[port.inner].tensor()?.clone();
                    cx.run.hold(results[port.inner].byte_len())?;
                    list.push(part);
                }
            }
            run += 1;
        }
        cx.run.live_bytes = before;
        let mut given = Vec::new();
        for (list, port) in joined.iter().zip(&ports.outputs) {
            let value = match port.slices {
                Some(slices) if list.is_empty() => self.none(&inputs, port, slices.axis)?,
                Some(slices) => {
                    let mut parts: Vec<_> = list.iter().collect();
                    if slices.stride < 0 {
                        parts.reverse();
                    }
                    put_together(cx, &parts, slices.axis)?.into()
                }
                None => self.last(&results, &inputs, port)?,
            };
            given.push((port.outer, value));
        }
        outputs(cx.outputs, given.into_iter())
    }
}
