//! Loop: a graph, run again and again.
//!
//! | standard | operator | versions | carries |
//! |---|---|---|---|
//! | ONNX | `Loop` | 1, 11 | tensors |
//! | ONNX | `Loop` | 13 | tensors and sequences |
//! | ONNX | `Loop` | 16, 19, 21, 23, 24, 25 | tensors, sequences, optionals |
//!
//! The body takes the iteration's number, the condition and N carried values, and gives the condition, N carried
//! values and K elements of scans. The loop ends after M iterations, if M is given, or when the condition is false,
//! if it is given. A scan over no iterations has no rows; its other extents are those inferred for the body, with
//! 0 where they are not known.

use gradus_core::convert::FromNumber;
use gradus_core::element::Bool;
use gradus_core::tensor::Stack;
use gradus_core::{DType, Error, Kind, Result, Shape, Tensor, Value};

use crate::fact::{Fact, TensorFact};
use crate::op::{EvalCx, InferCx, NodeCx, Op, Schema};
use crate::program::Program;

pub(super) const SCHEMAS: &[Schema] =
    &[Schema::onnx("Loop", &[1, 11, 13, 16, 19, 21, 23, 24, 25], Loop::build)];

#[derive(Debug)]
struct Loop {
    body: Program,
    /// N: how many values are carried from one iteration to the next.
    carried: usize,
    /// What the file declares of the body's outputs.
    declared: Vec<Fact>,
}

/// Inputs of the operator before the carried values: M and the condition. Of the body: the number and the condition.
const BEFORE: usize = 2;

impl Loop {
    fn build(cx: &NodeCx<'_>) -> Result<Box<dyn Op>> {
        let (graph, body) = cx.program("body")?;
        let carried = cx.node.inputs.len().saturating_sub(BEFORE);
        let (takes, gives) = (graph.inputs().len(), graph.outputs().len());
        if takes != carried + BEFORE || gives < carried + 1 {
            let message = format!(
                "the body takes {takes} values and gives {gives}, but with {carried} carried values it must take {} and give at least {}",
                carried + BEFORE,
                carried + 1,
            );
            return Err(Error::new(Kind::Graph, message));
        }
        let declared = graph
            .outputs()
            .iter()
            .map(|&id| graph.value(id).declared.as_ref().map_or(Fact::Unknown, Fact::declared));
        Ok(Box::new(Loop { declared: declared.collect(), body, carried }))
    }

    fn scans(&self) -> usize {
        self.body.output_count() - 1 - self.carried
    }

    /// What is known of the body's outputs, whatever the iteration.
    fn infer_body(&self, cx: &InferCx<'_>) -> Result<Vec<Fact>> {
        let scalar = |dtype| Fact::tensor(Some(dtype), Some(vec![]));
        let mut state: Vec<_> = (0..self.carried).map(|i| cx.fact(BEFORE + i).without_elements()).collect();
        // Facts only ever get less, so this ends: an extent or type is forgotten in each round but the last.
        loop {
            let mut inputs = vec![scalar(DType::I64), scalar(DType::Bool)];
            inputs.extend(state.iter().cloned());
            let outputs = self.body.infer(inputs, cx.frame)?;
            let next: Vec<_> =
                state.iter().zip(&outputs[1..]).map(|(before, after)| before.join(after)).collect();
            if next == state {
                return Ok(outputs);
            }
            state = next;
        }
    }
}

fn single<T: FromNumber>(cx: &EvalCx<'_>, index: usize) -> Result<Option<T>> {
    let Some(value) = cx.inputs.get(index).copied().flatten() else { return Ok(None) };
    let number = value.tensor().and_then(Tensor::only_number).map_err(|error| cx.wrong(index, &error))?;
    Ok(Some(T::from_number(number)))
}

/// The condition that an iteration gives.
fn goes_on(value: &Value) -> Result<bool> {
    let tensor = value.tensor().and_then(|tensor| match tensor.dtype() {
        DType::Bool => tensor.only_number(),
        other => Err(Error::new(Kind::Type, format!("is {other}, but bool is wanted"))),
    });
    let number = tensor.map_err(|error| {
        Error::new(error.kind(), format!("the condition that the body gives {}", error.message()))
    })?;
    Ok(!number.is_zero())
}

impl Op for Loop {
    fn infer(&self, cx: &InferCx<'_>) -> Result<Vec<Fact>> {
        let body = self.infer_body(cx)?;
        let initial = |i: usize| cx.fact(BEFORE + i).without_elements();
        let carried = body[1..=self.carried]
            .iter()
            .enumerate()
            .map(|(i, fact)| initial(i).join(&fact.clone().without_elements()));
        let scanned = body[1 + self.carried..].iter().map(|fact| {
            let TensorFact { dtype, dims, .. } = fact.as_tensor();
            Fact::tensor(dtype, dims.map(|dims| std::iter::once(None).chain(dims).collect()))
        });
        Ok(carried.chain(scanned).collect())
    }

    fn eval(&self, cx: &mut EvalCx<'_>) -> Result<Vec<Value>> {
        let most = single::<i64>(cx, 0)?;
        let condition_given = cx.inputs.get(1).is_some_and(Option::is_some);
        let mut go_on = single::<Bool>(cx, 1)?.is_none_or(Bool::is_true);
        let mut state =
            (0..self.carried).map(|i| cx.value(BEFORE + i).cloned()).collect::<Result<Vec<_>>>()?;
        let mut scans: Vec<Option<Stack>> = (0..self.scans()).map(|_| None).collect();
        let (before, mut held, mut i) = (cx.run.live_bytes, 0, 0);
        while go_on && most.is_none_or(|most| i < most) {
            let mut inputs =
                vec![Some(Tensor::scalar(i).into()), Some(Tensor::scalar(Bool::from(go_on)).into())];
            inputs.extend(state.drain(..).map(Some));
            cx.run.step()?;
            let outputs = self
                .body
                .run(inputs, cx.frame, cx.run)
                .map_err(|error| error.in_node(format!("iteration {i}")))?;
            let condition = goes_on(&outputs[0])?;
            go_on = !condition_given || condition;
            let mut outputs = outputs.into_iter().skip(1);
            state.extend(outputs.by_ref().take(self.carried));
            cx.run.release(held);
            held = state.iter().map(Value::byte_len).sum();
            cx.run.hold(held)?;
            for (k, (scan, value)) in scans.iter_mut().zip(outputs).enumerate() {
                let row = value.tensor().and_then(|row| {
                    cx.run.hold(value.byte_len())?;
                    scan.get_or_insert_with(|| Stack::new(row)).push(row)
                });
                row.map_err(|error| {
                    Error::new(error.kind(), format!("scan output {k} of iteration {i} {}", error.message()))
                })?;
            }
            i += 1;
        }
        cx.run.live_bytes = before;
        let scanned = if i == 0 {
            self.empty_scans(cx)?
        } else {
            scans.into_iter().flatten().map(|scan| scan.finish().map(Value::from)).collect::<Result<_>>()?
        };
        Ok(state.into_iter().chain(scanned).collect())
    }
}

impl Loop {
    /// The scans of a loop that did not run.
    fn empty_scans(&self, cx: &EvalCx<'_>) -> Result<Vec<Value>> {
        let facts: Vec<_> = cx.inputs.iter().map(|value| value.map(Fact::of)).collect();
        let frame: Vec<_> = cx.frame.iter().map(|value| value.as_ref().map(Fact::of)).collect();
        let inputs: Vec<_> = facts.iter().map(Option::as_ref).collect();
        // What is wrong in a body that does not run is not an error.
        let inferred = self.infer_body(&InferCx { inputs: &inputs, frame: &frame }).unwrap_or_default();
        let scans = self.declared.iter().enumerate().skip(1 + self.carried);
        let empty = scans.map(|(k, declared)| {
            let inferred = inferred.get(k).map(Fact::as_tensor).unwrap_or_default();
            let declared = declared.as_tensor();
            let dtype = inferred.dtype.or(declared.dtype).ok_or_else(|| {
                let k = k - 1 - self.carried;
                Error::new(
                    Kind::Type,
                    format!("scan output {k} is of unknown type, and there is no iteration to tell it"),
                )
            })?;
            let dims = inferred.dims.or(declared.dims).unwrap_or_default();
            let dims = std::iter::once(0).chain(dims.into_iter().map(|dim| dim.unwrap_or(0)));
            Tensor::zeros(dtype, Shape::new(dims.collect::<Vec<_>>())?).map(Value::from)
        });
        empty.collect()
    }
}
