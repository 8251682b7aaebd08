//! Loop: a graph, run again and again.
//!
//! | standard | operator | versions | carries |
//! |---|---|---|---|
//! | ONNX | `Loop` | 1, 11 | tensors |
//! | ONNX | `Loop` | 13 | tensors and sequences |
//! | ONNX | `Loop` | 16, 19, 21, 23, 24, 25 | tensors, sequences, optionals |
//!
//! The body takes the iteration's number, the condition and N carried values, and gives the
//! condition, N carried values and K elements of scans. The loop ends after M iterations, if M is
//! given, or when the condition is false, which is true at first if it is not given. A scan over no
//! iterations has no rows; its other dimensions are those inferred for the body, with 0 where they
//! are not known. The number and the condition have the rank that the body declares, 0 or 1.

use std::sync::Arc;

use gradus_core::convert::{FromNumber, usize_of_i64};
use gradus_core::element::Bool;
use gradus_core::graph::{DeclaredDim, Graph, Standard, Type};
use gradus_core::tensor::Stack;
use gradus_core::{DType, Error, Kind, Result, Shape, Tensor, Value};

use crate::fact::Fact;
use crate::infer;
use crate::op::{BuildContext, EvalContext, Op};
use crate::program::GraphProgram;

#[derive(Debug)]
pub struct Loop {
    body: GraphProgram,
    /// N: how many values are carried from one iteration to the next.
    carried: usize,
    /// The types that the file declares for the body's outputs.
    declared: Vec<Option<Type>>,
    graph: Arc<Graph>,
}

/// Inputs of the operator before the carried values: M and the condition. Of the body: the number
/// and the condition.
const BEFORE: usize = 2;

impl Loop {
    /// Compiles the body of a `Loop` and checks its inputs and outputs.
    pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
        let (graph, body) = cx.program("body")?;
        let carried = cx.node.inputs.len().saturating_sub(BEFORE);
        let (takes, gives) = (graph.inputs().len(), graph.outputs().len());
        if takes != carried + BEFORE || gives < carried + 1 {
            let got = format!("{takes} inputs and {gives} outputs");
            let wanted = format!("{} inputs and at least {} outputs", carried + BEFORE, carried + 1);
            return Err(Error::mismatch(Kind::Graph, "interface of the body", got, wanted));
        }
        let declared = graph.outputs().iter().map(|&id| graph.value(id).declared.clone()).collect();
        Ok(Box::new(Loop { body, carried, declared, graph }))
    }

    fn scans(&self) -> usize {
        self.body.output_count() - 1 - self.carried
    }
}

/// The rank of the number of the iteration, or of the condition, in a body: 0 or 1, as the body
/// declares. Both have one element.
pub fn lead_rank(body: &Graph, input: usize) -> usize {
    let declared = body.inputs().get(input).and_then(|&id| body.value(id).declared.as_ref());
    match declared {
        Some(Type::Tensor(_, Some(sizes))) => sizes.len().min(1),
        _ => 0,
    }
}

/// The number of an iteration, and the condition, which holds in all of them.
pub fn lead(body: &Graph, number: i64) -> [Tensor; BEFORE] {
    let holds = Bool::from(true);
    let number = if lead_rank(body, 0) == 0 { Tensor::scalar(number) } else { Tensor::vector(&[number]) };
    let condition = if lead_rank(body, 1) == 0 { Tensor::scalar(holds) } else { Tensor::vector(&[holds]) };
    [number, condition]
}

fn single<T: FromNumber>(cx: &EvalContext<'_>, index: usize) -> Result<Option<T>> {
    let Some(value) = cx.inputs.get(index).copied().flatten() else { return Ok(None) };
    let number = value.tensor().and_then(Tensor::only_number).map_err(|error| cx.wrong(index, &error))?;
    Ok(Some(T::from_number(number)))
}

/// The condition that an iteration gives.
fn goes_on(value: &Value) -> Result<bool> {
    let tensor = value.tensor().and_then(|tensor| match tensor.dtype() {
        DType::Bool => tensor.only_number(),
        other => Err(Error::is_not(Kind::Type, other, DType::Bool)),
    });
    let number =
        tensor.map_err(|error| error.map_message(|m| format!("condition output of the body {m}")))?;
    Ok(!number.is_zero())
}

impl Op for Loop {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let most = single::<i64>(cx, 0)?;
        let mut go_on = single::<Bool>(cx, 1)?.is_none_or(Bool::is_true);
        let mut state =
            (0..self.carried).map(|i| cx.value(BEFORE + i).cloned()).collect::<Result<Vec<_>>>()?;
        let mut scans: Vec<Option<Stack>> = (0..self.scans()).map(|_| None).collect();
        let (before, mut held, mut i) = (cx.run.live_bytes, 0, 0);
        while go_on && most.is_none_or(|most| i < most) {
            let mut inputs: Vec<_> = lead(&self.graph, i).map(|tensor| Some(tensor.into())).into();
            inputs.extend(state.drain(..).map(Some));
            cx.run.step()?;
            let outputs = self
                .body
                .run(inputs, cx.frame, cx.run)
                .map_err(|error| error.in_node(format!("iteration {i}")))?;
            go_on = goes_on(&outputs[0])?;
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
                row.map_err(|error| error.map_message(|m| format!("scan output {k} of iteration {i} {m}")))?;
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
    fn empty_scans(&self, cx: &EvalContext<'_>) -> Result<Vec<Value>> {
        let mut inputs: Vec<_> =
            lead(&self.graph, 0).map(|tensor| Fact::of(&tensor.into()).without_elements()).into();
        let carried = cx.inputs.iter().skip(BEFORE);
        inputs.extend(carried.map(|value| value.map_or(Fact::Unknown, Fact::of).without_elements()));
        let around =
            |slot: usize| cx.frame.get(slot).and_then(Option::as_ref).map_or(Fact::Unknown, Fact::of);
        let inferred = infer::outputs_of_body(Standard::Onnx, &self.graph, inputs, around);
        let scans = self.declared.iter().enumerate().skip(1 + self.carried);
        let empty = scans.map(|(k, declared)| {
            let inferred = inferred.get(k).and_then(Fact::as_tensor).cloned().unwrap_or_default();
            let (declared_dtype, declared_dims) = match declared {
                Some(Type::Tensor(dtype, sizes)) => (*dtype, sizes.as_ref()),
                _ => (None, None),
            };
            let dtype = inferred.dtype.or(declared_dtype).ok_or_else(|| {
                let k = k - 1 - self.carried;
                let what = format_args!("cannot stack scan output {k} of zero iterations: its element type");
                Error::mismatch(Kind::Type, what, "unknown", "a declared or inferred type")
            })?;
            let known = |size: &DeclaredDim| if let DeclaredDim::Known(len) = size { *len } else { 0 };
            let declared = declared_dims.map(|sizes| sizes.iter().map(known).collect::<Vec<_>>());
            let inferred = inferred.dims.map(|dims| {
                dims.iter().map(|dim| dim.known().and_then(usize_of_i64).unwrap_or(0)).collect::<Vec<_>>()
            });
            let mut dims = inferred.or(declared).unwrap_or_default();
            dims.insert(0, 0);
            Tensor::zeros(dtype, Shape::new(dims)?).map(Value::from)
        });
        empty.collect()
    }
}
