//! Programs: graphs made ready to run, and their running.
//!
//! Compiling resolves every node that is needed to its operator, once; running keeps values in a
//! frame of slots and drops each after its last use. Graphs within nodes become programs too, and
//! see the frame around them.

mod compiler;
mod state;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use gradus_core::convert::product;
use gradus_core::graph::{Attribute, Constant, ValueId};
use gradus_core::{Error, Kind, Limits, Result, Value};
use gradus_kernels::Sums;
use gradus_profiles::Profile;

use crate::attributes::Attributes;
use crate::normalize::Form;
use crate::op::{EvalContext, Op};
use crate::operator::{Call, Operator};
use crate::operators::Row;
use crate::operators::fused::Tail;
use crate::schema::Signature;

pub use compiler::{Compiler, too_deep};
pub use state::{NodeDone, NodeRun, Replaces, RunState, Watch};

/// How graphs are compiled and run.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The limits of each run; if none are given, those of the model.
    pub limits: Option<Limits>,
    /// Run operators that their standard defines as functions by the bodies of these functions.
    pub expand_functions: bool,
    /// Whose sequences those of Paddle's operators are: the exact ones, or what PaddlePaddle itself
    /// gives.
    pub profile: Profile,
    /// The seed of the operators that draw random numbers, where their node has none of its own: a
    /// run draws the same numbers whenever it is repeated.
    pub seed: u64,
    /// How products of matrices, convolutions and reductions of floats are added.
    pub sums: Sums,
    /// A counter of the steps of a run, for whoever shows progress.
    pub steps: Option<&'static AtomicU64>,
}

impl RunOptions {
    /// These options with other limits.
    #[must_use]
    pub fn within(self, limits: Limits) -> RunOptions {
        RunOptions { limits: Some(limits), ..self }
    }

    /// The limits of the run; the defaults where none are set.
    pub fn limits(&self) -> Limits {
        self.limits.unwrap_or_default()
    }
}

/// Elements of a value; of a list, its items.
fn elements(value: &Value) -> u128 {
    match value {
        Value::Tensor(tensor) => product(tensor.len(), 1),
        Value::Sequence(values) => product(values.len(), 1),
        Value::Optional(value) => value.as_deref().map_or(0, elements),
        Value::Map(map) => product(map.keys().len(), 1),
    }
}

/// A graph, ready to run.
#[derive(Debug)]
pub struct GraphProgram {
    steps: Vec<ProgramStep>,
    slots: usize,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// Slots in the frame around, and the slots here that they fill.
    captures: Vec<(usize, usize)>,
    /// Constants and their slots.
    constants: Vec<(usize, Constant)>,
    names: Vec<Arc<str>>,
    /// Inputs that are needed and have no default.
    required: Vec<ValueId>,
}

#[derive(Debug)]
struct ProgramStep {
    label: String,
    /// The number of the node in its graph.
    index: usize,
    signature: Option<&'static Signature>,
    row: Option<&'static Row>,
    op: Box<dyn Op>,
    inputs: Vec<Option<usize>>,
    outputs: Vec<Option<usize>>,
    drops: Vec<usize>,
    /// True if its outputs take memory of the run.
    holds: bool,
    /// The steps after it that the operator may apply to its result.
    tail: Option<Tail>,
}

/// The values of a running program, by slot.
pub type Frame = [Option<Value>];

impl GraphProgram {
    /// Inputs that are needed, have no default, and are not given.
    pub fn missing_inputs(&self, given: impl Fn(ValueId) -> bool) -> impl Iterator<Item = ValueId> {
        self.required.iter().copied().filter(move |&id| !given(id))
    }

    /// The number of outputs.
    pub fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// Runs on values for the inputs, with the frame around it.
    ///
    /// Bytes that it holds at the end, the outputs', are released: they are the caller's to count.
    pub fn run(&self, inputs: Vec<Option<Value>>, around: &Frame, run: &mut RunState) -> Result<Vec<Value>> {
        let before = run.live_bytes;
        let mut frame: Vec<Option<Value>> = vec![None; self.slots];
        for (slot, constant) in &self.constants {
            frame[*slot] = Some(constant.kept()?.into());
        }
        for (&slot, value) in self.inputs.iter().zip(inputs) {
            if value.is_some() {
                frame[slot] = value;
            }
        }
        for &(outer, inner) in &self.captures {
            frame[inner] = around.get(outer).cloned().flatten();
        }
        let mut steps = &self.steps[..];
        while let Some((step, rest)) = steps.split_first() {
            let done = step.run_with(rest, &mut frame, run).map_err(|error| error.in_node(&step.label))?;
            steps = &rest[done..];
        }
        run.live_bytes = before;
        let outputs = self.outputs.iter().zip(&self.names).map(|(&slot, name)| {
            frame[slot]
                .clone()
                .ok_or_else(|| Error::new(Kind::Graph, format!("output \"{name}\" has no value")))
        });
        outputs.collect()
    }
}

impl GraphProgram {
    /// Runs a graph that stands for a node: what it holds meanwhile is memory of the node, and no
    /// value of the model.
    pub fn run_for_node(&self, inputs: Vec<Option<Value>>, run: &mut RunState) -> Result<Vec<Value>> {
        let live_peak = run.live_peak;
        let outputs = self.run(inputs, &[], run);
        run.live_peak = live_peak;
        outputs
    }
}

impl ProgramStep {
    /// Runs the node, with the nodes of its tail if its operator applies them, and returns their
    /// number. Nodes that are watched run one by one.
    fn run_with(&self, rest: &[ProgramStep], frame: &mut Frame, run: &mut RunState) -> Result<usize> {
        let tail = self.tail.as_ref().filter(|_| run.watch.is_none());
        let Some((tail, after)) = tail.and_then(|tail| Some((tail, tail.after(frame)?))) else {
            self.run(frame, run)?;
            return Ok(0);
        };
        run.after = Some(after);
        self.run_node(frame, run)?;
        if run.after.take().is_some() {
            return Ok(0);
        }
        let slot = |step: &ProgramStep| step.outputs.first().copied().flatten();
        let result = slot(self).and_then(|slot| frame[slot].take());
        let count = result.as_ref().map_or(0, elements);
        let steps = &rest[..tail.nodes];
        for step in steps {
            run.step()?;
            // The results between have as many elements as the last one.
            let inputs =
                step.inputs.iter().flatten().map(|&slot| frame[slot].as_ref().map_or(count, elements));
            run.touch(inputs.sum::<u128>().saturating_add(count))?;
            for &slot in &step.drops {
                if let Some(value) = frame[slot].take() {
                    run.release(value.byte_len());
                }
            }
        }
        if let Some(slot) = steps.last().and_then(slot) {
            frame[slot] = result;
        }
        Ok(steps.len())
    }

    /// Runs the node, and does what the watch over it wants.
    fn run(&self, frame: &mut Frame, run: &mut RunState) -> Result<()> {
        // Nodes of subgraphs count as part of theirs.
        let Some(mut watch) = run.watch.take() else { return self.run_node(frame, run) };
        match &mut watch {
            Watch::Profile(nodes) => {
                run.peak.set(run.in_use());
                run.live_peak = run.live_bytes;
                let start = Instant::now();
                self.run_node(frame, run)?;
                let (time, peak_bytes) = (start.elapsed(), run.peak.get());
                let (node, value_bytes) = (self.label.as_str().into(), run.live_peak);
                nodes.push(NodeRun { node, time, peak_bytes, value_bytes });
            }
            Watch::Replaced(values) => {
                let inputs: Vec<_> =
                    self.inputs.iter().map(|slot| slot.and_then(|slot| frame[slot].clone())).collect();
                self.run_node(frame, run)?;
                let done = NodeDone {
                    label: &self.label,
                    index: self.index,
                    row: self.row,
                    inputs: &inputs,
                    slots: &self.outputs,
                    limits: run.limits,
                    signature: self.signature,
                    op: &*self.op,
                };
                let mut take = |slot: &Option<usize>| slot.and_then(|slot| frame[slot].take());
                let computed = self.outputs.iter().map(&mut take).collect();
                let values = values.borrow_mut().replace(&done, computed)?;
                for (slot, value) in self.outputs.iter().zip(values) {
                    if let Some(slot) = slot {
                        frame[*slot] = value;
                    }
                }
            }
        }
        run.watch = Some(watch);
        Ok(())
    }

    fn run_node(&self, frame: &mut Frame, run: &mut RunState) -> Result<()> {
        run.step()?;
        let inputs: Vec<_> =
            self.inputs.iter().map(|slot| slot.and_then(|slot| frame[slot].as_ref())).collect();
        if let Some(signature) = self.signature {
            signature.check_inputs(&inputs)?;
            let rank = |input: usize| Some((*inputs.get(input)?)?.tensor().ok()?.shape().rank());
            self.row.map_or(Ok(()), |row| row.check_ranks(signature, rank))?;
        }
        run.touch(inputs.iter().copied().flatten().map(elements).sum())?;
        let reserved = run.reserved.get();
        let outputs = self.outputs.len();
        let mut cx = EvalContext {
            inputs: &inputs,
            operator: "",
            outputs,
            signature: self.signature,
            inferred: &[],
            frame,
            run,
        };
        let outputs = self.op.eval(&mut cx)?;
        run.reserved.set(reserved);
        run.touch(outputs.iter().map(elements).sum())?;
        for (&slot, value) in self.outputs.iter().zip(outputs) {
            if let Some(slot) = slot {
                if self.holds {
                    run.hold(value.byte_len())?;
                }
                frame[slot] = Some(value);
            }
        }
        for &slot in &self.drops {
            if let Some(value) = frame[slot].take() {
                run.release(value.byte_len());
            }
        }
        Ok(())
    }
}

/// The call of a function that the model defines.
#[derive(Debug)]
struct FunctionCall {
    program: Arc<GraphProgram>,
}

impl Op for FunctionCall {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let inputs = cx.inputs.iter().map(|value| value.cloned()).collect();
        self.program.run(inputs, &[], cx.run)
    }
}

/// An operator that the user registered, with the attributes of a node.
#[derive(Debug)]
struct RegisteredOp {
    operator: Arc<dyn Operator>,
    attributes: Vec<Attribute>,
}

impl Op for RegisteredOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let call = Call { attributes: Attributes::new(&self.attributes, Form::NEWEST), outputs: cx.outputs };
        self.operator.eval(&call, cx.inputs)
    }
}
