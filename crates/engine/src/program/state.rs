//! The state of a run: what it has used of its limits, and what is told of its nodes.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gradus_core::convert;
use gradus_core::{Error, Kind, Limits, Result, Shape, Value};
use gradus_kernels::Sums;

use super::RunOptions;
use crate::draws::Draws;
use crate::op::{EvalContext, Op};
use crate::operators::Row;
use crate::operators::fused::After;
use crate::schema::Signature;

/// The resources that a run has used.
#[derive(Debug)]
pub struct RunState {
    pub limits: Limits,
    /// Bytes of values that nodes have made and that are still needed.
    pub live_bytes: u64,
    /// Bytes that the nodes which run now have reserved.
    pub(super) reserved: Cell<u64>,
    pub(super) steps: u64,
    /// Elements touched so far.
    pub work: u64,
    pub(super) shown: Option<&'static AtomicU64>,
    /// The seed of random numbers, if they may be drawn.
    pub seed: Option<u64>,
    pub sums: Sums,
    /// True within the graph that a node of floats of at most 32 bits stands for.
    pub narrow: bool,
    /// True if floats of any type stand for those of the types that operators take.
    pub(crate) untyped: bool,
    /// Nodes without a seed of their own that have drawn random numbers.
    pub(super) drawn: u64,
    /// The most bytes in use since they were last counted.
    pub(super) peak: Cell<u64>,
    /// The most bytes of values since they were last counted.
    pub(super) live_peak: u64,
    /// The watch over the nodes of the main graph, if they are watched.
    pub watch: Option<Watch>,
    /// Steps that the running node shall apply to its result; taken when it does.
    pub after: Option<After>,
}

/// A watch over the nodes of the main graph while they run.
#[derive(Debug)]
pub enum Watch {
    /// Measures each node.
    Profile(Vec<NodeRun>),
    /// Gives each node other inputs than those that the nodes before it computed.
    Replaced(Rc<RefCell<dyn Replaces>>),
}

/// Values that take the place of those that nodes compute.
pub trait Replaces: fmt::Debug {
    /// The values that later nodes read in place of those that a node computed.
    ///
    /// # Errors
    /// [`Kind::Limit`].
    fn replace(&mut self, node: &NodeDone<'_>, computed: Vec<Option<Value>>) -> Result<Vec<Option<Value>>>;
}

/// A node of the main graph that has run.
#[derive(Debug)]
pub struct NodeDone<'a> {
    /// The node in words, with its operator.
    pub label: &'a str,
    /// The number of the node in its graph.
    pub index: usize,
    /// The row of its operator, if it is one of the table that is evaluated as such.
    pub row: Option<&'static Row>,
    pub inputs: &'a [Option<Value>],
    /// The slots of its outputs.
    pub slots: &'a [Option<usize>],
    pub limits: Limits,
    pub(super) signature: Option<&'static Signature>,
    pub(super) op: &'a dyn Op,
}

impl NodeDone<'_> {
    /// The node with other inputs.
    pub fn with_inputs<'b>(&'b self, inputs: &'b [Option<Value>]) -> NodeDone<'b> {
        NodeDone { inputs, ..*self }
    }

    /// The results of the operator of the node for other inputs, of floats of any type.
    ///
    /// # Errors
    /// As [`Op::eval`].
    pub fn eval(&self, inputs: &[Option<&Value>]) -> Result<Vec<Value>> {
        let mut run = RunState::new(&RunOptions::default().within(self.limits));
        run.untyped = true;
        self.op.eval(&mut EvalContext {
            inputs,
            operator: "",
            outputs: self.slots.len(),
            signature: self.signature,
            inferred: &[],
            frame: &[],
            run: &mut run,
        })
    }
}

/// A node of the main graph, as a run met it.
#[derive(Clone, Debug)]
pub struct NodeRun {
    /// The node in words, with its operator: `node "add" (onnx Add-14)`.
    pub node: Arc<str>,
    /// The time that it took, that of its subgraphs included.
    pub time: Duration,
    /// The most bytes that values of the run and memory of nodes took while it ran. Constants and
    /// inputs of the model are not counted.
    pub peak_bytes: u64,
    /// The most bytes that values alone took: what [`Peak`](crate::infer::Peak) bounds.
    pub value_bytes: u64,
}

impl RunState {
    /// The state of a run that starts with these options.
    pub fn new(options: &RunOptions) -> RunState {
        RunState {
            limits: options.limits(),
            live_bytes: 0,
            reserved: Cell::new(0),
            steps: 0,
            work: 0,
            shown: options.steps,
            seed: Some(options.seed),
            sums: options.sums,
            narrow: false,
            untyped: false,
            drawn: 0,
            peak: Cell::new(0),
            live_peak: 0,
            watch: None,
            after: None,
        }
    }

    /// Steps to apply to a float32 result of that shape before the node is done.
    pub fn take_after(&mut self, shape: &Shape) -> After {
        self.after.take_if(|after| after.fits(shape)).unwrap_or_default()
    }

    /// The random numbers of the node that runs, by its own seed if it has one.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if nodes are evaluated before a run.
    pub fn draws(&mut self, own: Option<u64>) -> Result<Draws> {
        let seed = self.seed.ok_or_else(|| {
            Error::new(Kind::Unsupported, "cannot draw random numbers before the model runs")
        })?;
        if let Some(own) = own {
            return Ok(Draws::of(own, 0));
        }
        self.drawn += 1;
        Ok(Draws::of(seed, self.drawn))
    }

    /// Counts a node, or an iteration.
    pub fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if let Some(shown) = self.shown {
            shown.store(self.steps, Ordering::Relaxed);
        }
        if self.steps > self.limits.max_steps {
            let most = self.limits.max_steps;
            return Err(Error::new(
                Kind::Limit,
                format!("the run takes more than {most} steps (--max-steps)"),
            ));
        }
        Ok(())
    }

    /// Counts elements that are touched, and checks that the run may go on.
    pub fn touch(&mut self, elements: u128) -> Result<()> {
        let most = self.limits.max_work;
        self.work = u64::try_from(u128::from(self.work).saturating_add(elements)).unwrap_or(u64::MAX);
        if self.work > most {
            return Err(Error::new(
                Kind::Limit,
                format!("the run touches more than {most} elements (--max-work)"),
            ));
        }
        self.limits.check()
    }

    /// Bytes of values, and those that nodes reserve.
    pub fn in_use(&self) -> u64 {
        self.live_bytes.saturating_add(self.reserved.get())
    }

    /// Counts bytes that a node takes until it is done.
    pub fn reserve(&self, bytes: u128) -> Result<()> {
        self.limits.allow_bytes(self.in_use(), bytes)?;
        self.reserved.set(self.reserved.get().saturating_add(convert::low_u64(bytes)));
        self.note_peak();
        Ok(())
    }

    /// Counts bytes that are kept.
    pub fn hold(&mut self, bytes: u64) -> Result<()> {
        self.limits.allow_bytes(self.in_use(), bytes.into())?;
        self.live_bytes += bytes;
        self.live_peak = self.live_peak.max(self.live_bytes);
        self.note_peak();
        Ok(())
    }

    /// Raises the peak to the bytes in use.
    pub(super) fn note_peak(&self) {
        self.peak.set(self.peak.get().max(self.in_use()));
    }

    /// Subtracts bytes that were freed.
    pub fn release(&mut self, bytes: u64) {
        self.live_bytes = self.live_bytes.saturating_sub(bytes);
    }
}
