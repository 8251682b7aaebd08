//! Functions of elements that follow a product or a convolution: applied to each line of its result
//! while that is in the cache, with the rounding between nodes.

use gradus_core::convert::FromNumber;
use gradus_core::graph::{Node, ValueId};
use gradus_core::{DType, Limits, Shape, Tensor, Value};
use gradus_kernels::{Call, Options, widest};

use crate::operators::operation::{Operation, clipped, missing_bound, rectified};
use crate::operators::row::Row;
use crate::operators::strided::elements;
use crate::program::Frame;
use crate::schema::Signature;

/// Operators that apply what follows them to their result.
const HEADS: [&str; 2] = ["Conv", "MatMul"];

/// The first version in which operations broadcast as NumPy does.
const BROADCASTS: i64 = 7;

/// Nodes after another one, each of which uses the result before it and is its only reader.
#[derive(Debug)]
pub struct Tail {
    stages: Vec<FusedStage<usize>>,
    /// The number of nodes.
    pub nodes: usize,
}

/// A function of elements; operands are slots of a frame, or tensors.
#[derive(Debug)]
enum FusedStage<O> {
    Rectify,
    Clip([Option<O>; 2]),
    Map(Call),
    /// The product of an element and a function of it.
    Gate(Call),
    /// An operation with an operand, which is the first one if it says so.
    Combine(Operation, O, bool),
}

/// The node of a step, and its signature and row if they are known.
pub type Step<'a> = (&'a Node, Option<(&'static Signature, &'static Row)>);

impl Tail {
    /// The nodes of the steps that may follow the first one; `uses` says how many inputs of nodes a
    /// value is, unless it is wanted.
    pub fn of(steps: &[Step<'_>], uses: impl Fn(ValueId) -> Option<usize>) -> Option<Tail> {
        let (head, rest) = steps.split_first()?;
        let known = name(head).is_some_and(|name| HEADS.contains(&name));
        let (mut value, mut stages, mut nodes) = (output(head).filter(|_| known)?, Vec::new(), 0);
        while let Some(step) = rest.get(nodes) {
            let gate = rest.get(nodes + 1).and_then(|next| gate(value, [step, next], &uses));
            let (stage, count) = match (uses(value), gate) {
                (Some(1), _) => (stage(value, step), 1),
                (Some(2), Some(call)) => (Some(FusedStage::Gate(call)), 2),
                _ => break,
            };
            let Some((stage, next)) = stage.zip(output(&rest[nodes + count - 1])) else { break };
            stages.push(stage);
            (value, nodes) = (next, nodes + count);
        }
        (nodes > 0).then_some(Tail { stages, nodes })
    }

    /// The functions with their operands; nothing if these are no tensors of float32.
    pub fn after(&self, frame: &Frame) -> Option<After> {
        let tensor = |slot: usize| match frame[slot].as_ref()? {
            Value::Tensor(tensor) if tensor.dtype() == DType::F32 => Some(tensor.clone()),
            _ => None,
        };
        let stage = |stage: &FusedStage<usize>| {
            Some(match *stage {
                FusedStage::Rectify => FusedStage::Rectify,
                FusedStage::Clip(bounds) => {
                    let bound = |slot: usize| tensor(slot).filter(|bound| bound.len() == 1);
                    let [low, high] = bounds.map(|slot| slot.map(bound));
                    let given = |bound: Option<Option<Tensor>>| bound.map_or(Some(None), |it| it.map(Some));
                    FusedStage::Clip([given(low)?, given(high)?])
                }
                FusedStage::Map(call) => FusedStage::Map(call),
                FusedStage::Gate(call) => FusedStage::Gate(call),
                FusedStage::Combine(operation, slot, first) => {
                    FusedStage::Combine(operation, tensor(slot)?, first)
                }
            })
        };
        Some(After(self.stages.iter().map(stage).collect::<Option<_>>()?))
    }
}

/// The name of a step's operator, if that is one of ONNX's own.
fn name(&(_, known): &Step<'_>) -> Option<&'static str> {
    known.filter(|(signature, _)| signature.domain.is_empty()).map(|(signature, _)| signature.name)
}

/// The only output of a step.
fn output((node, _): &Step<'_>) -> Option<ValueId> {
    if let [output] = node.outputs[..] { output } else { None }
}

/// The function of one element that a step applies to a value.
fn call(value: ValueId, step: &Step<'_>) -> Option<Call> {
    let function = step.1.filter(|_| name(step).is_some())?.1.real?;
    let alone = step.0.inputs[..] == [Some(value)] && step.0.attributes.is_empty();
    alone.then_some(Call { function, parameters: [0.0; 2] })
}

/// The function by whose result two steps multiply a value without other readers.
fn gate(
    value: ValueId,
    [first, second]: [&Step<'_>; 2],
    uses: impl Fn(ValueId) -> Option<usize>,
) -> Option<Call> {
    let (call, made) = (call(value, first)?, output(first)?);
    let inputs = &second.0.inputs[..];
    let both = inputs == [Some(value), Some(made)] || inputs == [Some(made), Some(value)];
    (both && uses(made) == Some(1) && operation(second) == Some(Operation::Mul)).then_some(call)
}

/// The operation on two elements that a step computes.
fn operation(step: &Step<'_>) -> Option<Operation> {
    let (signature, row) = step.1.filter(|_| name(step).is_some())?;
    row.operation.filter(|operation| operation.is_arithmetic() && signature.since >= BROADCASTS)
}

/// A step, applied to a value.
fn stage(value: ValueId, step: &Step<'_>) -> Option<FusedStage<usize>> {
    let slot = |id: ValueId| id.index();
    let (node, name) = (step.0, name(step)?);
    if !node.attributes.is_empty() {
        return None;
    }
    match (name, &node.inputs[..]) {
        ("Relu", [Some(x)]) if *x == value => Some(FusedStage::Rectify),
        ("Clip", [Some(x), bounds @ ..]) if *x == value => {
            let bound = |at: usize| bounds.get(at).copied().flatten().map(slot);
            Some(FusedStage::Clip([bound(0), bound(1)]))
        }
        (_, &[Some(x), Some(y)]) if x == value || y == value => {
            let operation = operation(step)?;
            let operand = if x == value { y } else { x };
            Some(FusedStage::Combine(operation, slot(operand), y == value))
        }
        _ => call(value, step).map(FusedStage::Map),
    }
}

/// Steps that each element of a float32 result goes through.
#[derive(Debug, Default)]
pub struct After(Vec<FusedStage<Tensor>>);

/// Elements that a function of one element is given at a time.
const CHUNK: usize = 512;

impl After {
    /// Returns true if the operands are broadcast to a result of that shape, and repeat in its order:
    /// those of the same shape, of one element, and of one line along the last axis.
    pub fn fits(&self, shape: &Shape) -> bool {
        let fits = |other: &Tensor| {
            let line = other.len() == 1 || other.shape().dims().last() == shape.dims().last();
            let one = line && other.shape().dims().last().is_none_or(|&last| other.len() == last);
            other.shape() == shape || (one && other.shape().rank() <= shape.rank())
        };
        self.0
            .iter()
            .all(|stage| if let FusedStage::Combine(_, other, _) = stage { fits(other) } else { true })
    }

    /// Applies all to the elements of a line that begins at an index of the result.
    pub fn apply(&self, at: usize, line: &mut [f32]) {
        for stage in &self.0 {
            match stage {
                FusedStage::Rectify => in_place(
                    line,
                    #[inline(always)]
                    |x, _| rectified(x, 0.0),
                ),
                FusedStage::Clip([low, high]) => {
                    let most = || missing_bound(DType::F32).map(f32::from_f64);
                    let given = |bound: &Tensor| single(elements::<4>(bound)[0]);
                    let low = low.as_ref().map(given).or_else(|| most().map(|most| -most));
                    let bounds = [low, high.as_ref().map(given).or_else(most)];
                    in_place(
                        line,
                        #[inline(always)]
                        move |x, _| clipped(x, bounds),
                    );
                }
                FusedStage::Map(call) => of_chunks(call, line, |line, values| line.copy_from_slice(values)),
                FusedStage::Gate(call) => of_chunks(call, line, |line, values| {
                    in_place(
                        line,
                        #[inline(always)]
                        move |x, at| f32::from_f64(f64::from(x) * f64::from(values[at])),
                    );
                }),
                FusedStage::Combine(operation, other, first) => {
                    combined(*operation, line, elements(other), at, *first);
                }
            }
        }
    }
}

/// Sets each element to what a function makes of it and its index in the line.
#[inline(always)]
#[allow(clippy::inline_always, clippy::needless_range_loop, reason = "functions are compiled for the level")]
fn in_place(line: &mut [f32], make: impl Fn(f32, usize) -> f32) {
    widest(
        #[inline(always)]
        move || {
            for at in 0..line.len() {
                line[at] = make(line[at], at);
            }
        },
    );
}

/// Combines a line with the elements of an operand, which repeat, from an index on.
fn combined(operation: Operation, mut line: &mut [f32], other: &[[u8; 4]], mut at: usize, first: bool) {
    if let [only] = other {
        let only = f64::from(single(*only));
        return paired(
            operation,
            line,
            first,
            #[inline(always)]
            move |_| only,
        );
    }
    while !line.is_empty() {
        let from = at % other.len();
        let (here, rest) = line.split_at_mut(line.len().min(other.len() - from));
        let other = &other[from..][..here.len()];
        at += here.len();
        paired(
            operation,
            here,
            first,
            #[inline(always)]
            move |at| f64::from(single(other[at])),
        );
        line = rest;
    }
}

/// Combines each element with what a function makes of its index.
fn paired(operation: Operation, line: &mut [f32], first: bool, other: impl Fn(usize) -> f64) {
    macro_rules! by {
        ($operator:tt) => {
            if first {
                in_place(
                    line,
                    #[inline(always)]
                    move |x, at| f32::from_f64(other(at) $operator f64::from(x)),
                );
            } else {
                in_place(
                    line,
                    #[inline(always)]
                    move |x, at| f32::from_f64(f64::from(x) $operator other(at)),
                );
            }
        };
    }
    match operation {
        Operation::Sub => by!(-),
        Operation::Mul => by!(*),
        Operation::Div => by!(/),
        _ => by!(+),
    }
}

/// Calls a function with some elements of a line, and the values of a function at them.
fn of_chunks(call: &Call, line: &mut [f32], work: impl Fn(&mut [f32], &[f32])) {
    let mut values = [0.0; CHUNK];
    for line in line.chunks_mut(CHUNK) {
        let values = &mut values[..line.len()];
        call.map(line, values, Options::ONE_THREAD, &Limits::DEFAULT)
            .expect("the default limits have no end");
        work(line, values);
    }
}

fn single(bytes: [u8; 4]) -> f32 {
    f32::from_ne_bytes(bytes)
}
