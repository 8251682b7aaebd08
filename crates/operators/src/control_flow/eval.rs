//! Running If, Scan and `SequenceMap`.
//!
//! | standard | operator | versions | runs |
//! |---|---|---|---|
//! | ONNX | `If` | all | the branch that the condition chooses |
//! | ONNX | `Scan` | 8 | the body for each slice along the second axis, for each of a batch |
//! | ONNX | `Scan` | since 9 | the body for each slice along an axis, forwards or backwards |

use gradus_core::convert::usize_of_i64;
use gradus_core::graph::Content;
use gradus_core::tensor::Stack;
use gradus_core::{Error, Kind, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::indices::{self, Along};
use crate::normalize::Older;
use crate::op::{BuildContext, EvalContext, Op};
use crate::output::allowed;
use crate::program::GraphProgram;

#[derive(Debug)]
pub struct IfOp {
    yes: GraphProgram,
    no: GraphProgram,
}

impl IfOp {
    /// Compiles the branches of an `If`.
    pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        let (_, yes) = cx.program("then_branch")?;
        let (_, no) = cx.program("else_branch")?;
        Ok(Box::new(IfOp { yes, no }))
    }
}

impl Op for IfOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let condition = cx.tensor(0)?.only_number().map_err(|error| cx.wrong(0, &error))?;
        let branch = if condition.is_zero() { &self.no } else { &self.yes };
        branch.run(Vec::new(), cx.frame, cx.run)
    }
}

#[derive(Debug)]
pub struct Scan {
    body: GraphProgram,
    /// Number of inputs that are scanned; the others are carried.
    scanned: usize,
    batched: bool,
    input_axes: Vec<i64>,
    output_axes: Vec<i64>,
    input_backwards: Vec<i64>,
    output_backwards: Vec<i64>,
}

/// Checks that lists of a `Scan` are as long as there are inputs that it scans.
pub fn lists_of_scan(attributes: &Attributes<'_>, scanned: usize) -> Result<()> {
    for name in ["scan_input_axes", "scan_input_directions"] {
        let len = attributes.ints(name)?.map_or(0, <[i64]>::len);
        if len > 0 && len != scanned {
            return Err(errors::count(&format!("elements of attribute \"{name}\""), len, scanned));
        }
    }
    Ok(())
}

impl Scan {
    /// Builds the operator of a node.
    pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        let (_, body) = cx.program("body")?;
        let list = |name: &str| match cx.attributes.get(name) {
            Some(Content::Ints(values)) => values.clone(),
            _ => [].into(),
        };
        let scanned = cx.attributes.int("num_scan_inputs")?.and_then(usize_of_i64).unwrap_or(0);
        let batched = cx.attributes.form().is(Older::Batch);
        lists_of_scan(&cx.attributes, scanned)?;
        Ok(Box::new(Scan {
            body,
            scanned,
            batched,
            input_axes: list("scan_input_axes").to_vec(),
            output_axes: list("scan_output_axes").to_vec(),
            input_backwards: list("scan_input_directions").to_vec(),
            output_backwards: list("scan_output_directions").to_vec(),
        }))
    }

    /// Runs the body for each slice of the scanned tensors.
    fn scan(&self, cx: &mut EvalContext<'_>, state: Vec<Value>, scanned: &[Tensor]) -> Result<Vec<Value>> {
        let at = |list: &[i64], index: usize| list.get(index).copied().unwrap_or(0);
        let axes = scanned
            .iter()
            .enumerate()
            .map(|(i, tensor)| indices::axis(at(&self.input_axes, i), tensor.shape().rank()));
        let axes = axes.collect::<Result<Vec<_>>>()?;
        let runs = scanned.iter().zip(&axes).map(|(tensor, &axis)| tensor.shape()[axis]);
        let runs = runs.collect::<Vec<_>>();
        let count = runs.first().copied().unwrap_or(0);
        if let Some(other) = runs.iter().find(|&&other| other != count) {
            return Err(errors::shape(errors::SCANNED, count, other));
        }
        let carried = state.len();
        let mut state = state;
        let mut stacks: Vec<Option<Stack>> =
            (0..self.body.output_count().saturating_sub(carried)).map(|_| None).collect();
        for run in 0..count {
            cx.run.step()?;
            let mut inputs: Vec<_> = state.drain(..).map(Some).collect();
            for (i, (tensor, &axis)) in scanned.iter().zip(&axes).enumerate() {
                let index = if at(&self.input_backwards, i) == 1 { count - 1 - run } else { run };
                inputs.push(Some(slice(cx, tensor, axis, index)?.into()));
            }
            let outputs = self
                .body
                .run(inputs, cx.frame, cx.run)
                .map_err(|error| error.in_node(format!("iteration {run}")))?;
            let mut outputs = outputs.into_iter();
            state.extend(outputs.by_ref().take(carried));
            for (stack, value) in stacks.iter_mut().zip(outputs) {
                let row = value.tensor()?;
                stack.get_or_insert_with(|| Stack::new(row)).push(row)?;
            }
        }
        let mut results = state;
        for (i, stack) in stacks.into_iter().enumerate() {
            let mut stacked = stack.ok_or_else(errors::no_iterations)?.finish()?;
            if at(&self.output_backwards, i) == 1 {
                let mut indices = indices::all(stacked.shape().dims());
                indices[0].reverse();
                stacked = stacked.picked(
                    stacked.shape().clone(),
                    &indices::chosen(stacked.shape().dims(), &indices),
                    &cx.limits(),
                )?;
            }
            let rank = stacked.shape().rank();
            let axis = indices::axis(at(&self.output_axes, i), rank)?;
            if axis > 0 {
                // The axis of the runs comes first, and goes where it is wanted.
                let perm: Vec<_> = (1..=axis).chain([0]).chain(axis + 1..rank).collect();
                let dims: Vec<_> = perm.iter().map(|&axis| stacked.shape()[axis]).collect();
                let places = indices::turned(stacked.shape().dims(), &perm);
                stacked = stacked.picked(Shape::new(dims)?, &places, &cx.limits())?;
            }
            results.push(stacked.into());
        }
        Ok(results)
    }
}

/// The slice at an index of an axis, without the axis.
pub fn slice(cx: &EvalContext<'_>, tensor: &Tensor, axis: usize, index: usize) -> Result<Tensor> {
    let dims = tensor.shape().dims();
    let mut indices = indices::all(dims);
    indices[axis] = Along::range(index..index + 1);
    let left: Vec<_> =
        dims.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, &dim)| dim).collect();
    let shape = allowed(cx, tensor.dtype(), &left)?;
    tensor.picked(shape, &indices::chosen(dims, &indices), &cx.limits())
}

impl Op for Scan {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let skipped = usize::from(self.batched);
        if self.batched && cx.has(0) {
            return Err(Error::new(Kind::Unsupported, "cannot evaluate Scan with sequence lengths"));
        }
        let given =
            (skipped..cx.inputs.len()).map(|input| cx.value(input).cloned()).collect::<Result<Vec<_>>>()?;
        let carried = given.len().checked_sub(self.scanned);
        let carried = carried.ok_or_else(|| errors::scanned(given.len(), self.scanned))?;
        let (state, scanned) = given.split_at(carried);
        let scanned = scanned.iter().map(|value| value.tensor().cloned()).collect::<Result<Vec<_>>>()?;
        if !self.batched {
            return self.scan(cx, state.to_vec(), &scanned);
        }
        let batch = scanned.first().and_then(|tensor| tensor.shape().dims().first().copied()).unwrap_or(0);
        let mut stacks: Vec<Option<Stack>> = Vec::new();
        for index in 0..batch {
            let of = |tensor: &Tensor| match tensor.shape().dims().first() {
                Some(&size) if size == batch => slice(cx, tensor, 0, index),
                _ => Err(errors::shape(
                    "shape of an input",
                    tensor.shape(),
                    format_args!("batch size {batch}"),
                )),
            };
            let state =
                state.iter().map(|value| of(value.tensor()?).map(Value::from)).collect::<Result<Vec<_>>>()?;
            let rows = scanned.iter().map(of).collect::<Result<Vec<_>>>()?;
            let results = self.scan(cx, state, &rows)?;
            stacks.resize_with(results.len(), || None);
            for (stack, value) in stacks.iter_mut().zip(&results) {
                let row = value.tensor()?;
                stack.get_or_insert_with(|| Stack::new(row)).push(row)?;
            }
        }
        stacks.into_iter().flatten().map(|stack| stack.finish().map(Value::from)).collect()
    }
}

/// `SequenceMap`: the body, run for each item of the first input, with the items of other sequences
/// and whole tensors.
#[derive(Debug)]
pub struct SequenceMap {
    body: GraphProgram,
}

impl SequenceMap {
    /// Compiles the body of a `SequenceMap` and checks its inputs and outputs.
    pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        let (graph, body) = cx.program("body")?;
        let (takes, gives) = (graph.inputs().len(), graph.outputs().len());
        let (inputs, outputs) = (cx.node.inputs.len(), cx.node.outputs.len());
        if takes != inputs || gives < outputs {
            let got = format!("{takes} inputs and {gives} outputs");
            let wanted = format!("{inputs} inputs and at least {outputs} outputs");
            return Err(Error::mismatch(Kind::Graph, "interface of the body", got, wanted));
        }
        Ok(Box::new(SequenceMap { body }))
    }
}

impl Op for SequenceMap {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let Value::Sequence(first) = cx.value(0)? else {
            return Err(cx.wrong(0, &Error::is_not(Kind::Type, cx.value(0)?, "a sequence")));
        };
        let mut results = vec![Vec::new(); self.body.output_count()];
        for index in 0..first.len() {
            cx.run.step()?;
            let item = |value: Option<&Value>| match value {
                Some(Value::Sequence(list)) => match list.get(index) {
                    Some(item) => Ok(Some(item.clone())),
                    None => Err(errors::count("items of a sequence", list.len(), first.len())),
                },
                other => Ok(other.cloned()),
            };
            let inputs = cx.inputs.iter().copied().map(item).collect::<Result<Vec<_>>>()?;
            let outputs = self.body.run(inputs, cx.frame, cx.run);
            let outputs = outputs.map_err(|error| error.in_node(format!("iteration {index}")))?;
            for (list, value) in results.iter_mut().zip(outputs) {
                cx.reserve(u128::from(value.byte_len()))?;
                list.push(value);
            }
        }
        Ok(results.into_iter().map(Value::Sequence).collect())
    }
}
