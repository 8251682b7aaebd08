//! Operators that run graphs. In ONNX, a body sees what is around it: what OpenVINO gives it as
//! inputs is captured.

use std::collections::HashSet;
use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::{Content, Graph, Port, Ports, Slices, Type};
use gradus_core::{DType, Result, Tensor};

use crate::attributes::missing;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::scope::SourceGraph;
use crate::conversion::types::{declared, numbered};
use crate::conversion::writer::{GraphWriter, Mark, NONE, NewValue};
use crate::errors;
use crate::fact::TensorFact;
use crate::indices::axis as axis_of;
use crate::lowering::int;

/// The caveat for loops that run zero times.
const NO_RUNS: &str = "the output shapes of a loop that runs zero times may differ";

/// A body while it is converted.
struct OnnxBody<'m> {
    graph: &'m Graph,
    ports: Arc<Ports>,
    scope: SourceGraph<'m>,
    target: GraphWriter,
    /// Values that are outputs already.
    given: HashSet<NewValue>,
}

impl<'m> OnnxBody<'m> {
    /// The body of that name; what it is given whole is captured.
    fn new(cx: &mut ConvertContext<'_, 'm>, body: &str, map: &str) -> Result<OnnxBody<'m>> {
        let (_, graph, number) = cx.graph(body)?;
        let Some(Content::Ports(ports)) = cx.node.attribute(map) else {
            return Err(missing(map));
        };
        let scope = cx.scope.inner(cx.conversion, graph, cx.node, cx.index, number);
        let target = GraphWriter::new(cx.target.standard, cx.target.opset);
        Ok(OnnxBody { graph, ports: ports.clone(), scope, target, given: HashSet::new() })
    }

    /// The use of a node's input within the body; a constant is one of the body.
    fn captured(&mut self, cx: &mut ConvertContext<'_, '_>, outer: usize) -> Result<NewValue> {
        let held = cx.node.inputs.get(outer).copied().flatten();
        if let Some(constant) = held.and_then(|id| cx.scope.constant(id)) {
            return Ok(self.target.constant(None, constant.clone()));
        }
        let value = cx.input(outer)?;
        let name = cx.target.name_of(value).cloned();
        Ok(self
            .target
            .captured(name.ok_or_else(|| cannot("cannot convert: an input of the body has no name"))?))
    }

    /// Captures what an input of the body is; a constant is known within.
    fn capture(&mut self, cx: &mut ConvertContext<'_, '_>, port: &Port) -> Result<()> {
        let id = self.graph.inputs()[port.inner];
        let held = cx.node.inputs.get(port.outer).copied().flatten();
        if let Some(constant) = held.and_then(|id| cx.scope.constant(id)) {
            self.scope.fix(id, constant.clone());
            return Ok(());
        }
        let value = self.captured(cx, port.outer)?;
        self.scope.set(id, value);
        Ok(())
    }

    fn put(
        &mut self,
        operator: &str,
        inputs: &[NewValue],
        attributes: &[(&str, Content)],
    ) -> Result<NewValue> {
        Ok(self.target.put(operator, inputs, attributes, 1)?[0])
    }

    fn list(&mut self, values: &[i64]) -> NewValue {
        self.target.tensor(Tensor::vector(values))
    }

    fn shaped(&mut self, value: NewValue, dims: &[i64]) -> Result<NewValue> {
        let dims = self.list(dims);
        self.put("Reshape", &[value, dims], &[])
    }

    fn named(&mut self, cx: &mut ConvertContext<'_, '_>, since: Mark, like: &str) {
        self.target.name_since(since, like, &mut cx.conversion.names);
    }

    /// Makes an output of the body an output of the graph: each is another value that a node of the
    /// graph makes.
    fn output(&mut self, cx: &mut ConvertContext<'_, '_>, number: usize) -> Result<NewValue> {
        let id = self.graph.outputs()[number];
        let value = self.scope.value(&mut self.target, cx.conversion, id)?;
        if self.given.insert(value) && self.target.is_computed(value) {
            return Ok(value);
        }
        let since = self.target.mark();
        let copy = self.target.copy(value, self.scope.fact(id).dtype())?;
        self.named(cx, since, "copy");
        self.given.insert(copy);
        Ok(copy)
    }

    fn finish(self) -> Result<Content> {
        Ok(Content::Graph(Arc::new(self.target.finish(self.graph.name(), true)?)))
    }
}

/// Writes OpenVINO's `If` as ONNX's, whose branches capture their inputs.
pub fn branch(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let condition = cx.input(0)?;
    let count = cx.outputs();
    let mut attributes = Vec::new();
    for (name, body, map) in
        [("then_branch", "then_body", "then_port_map"), ("else_branch", "else_body", "else_port_map")]
    {
        let mut branch = OnnxBody::new(cx, body, map)?;
        let ports = branch.ports.clone();
        for port in &ports.inputs {
            branch.capture(cx, port)?;
        }
        branch.scope.convert(cx.conversion, &mut branch.target)?;
        for slot in 0..count {
            let port = ports.outputs.iter().find(|port| port.outer == slot);
            let port = port.ok_or_else(|| errors::missing(format_args!("output {slot} of the body")))?;
            let value = branch.output(cx, port.inner)?;
            branch.target.output(value);
        }
        attributes.push((name, branch.finish()?));
    }
    cx.put_many("If", &[condition], &attributes, count)
}

/// Outputs of the node: a carried value, or something that every run gives.
#[derive(Clone, Copy)]
enum BodyOutput {
    Carried(usize),
    /// The output of the last iteration.
    Last(usize),
    Parts(usize, Slices),
}

/// Converts Loop (counted) and `TensorIterator` to Loop of ONNX.
pub fn repeat(cx: &mut ConvertContext<'_, '_>, counted: bool) -> Result<Vec<NewValue>> {
    let mut body = OnnxBody::new(cx, "body", "port_map")?;
    let (most, runs) = trip_count(cx, &body.ports, counted)?;
    let goes_on = if counted { cx.truth(1)? } else { NONE };
    // Inputs of ONNX's body: the number of the iteration, the condition, the carried values.
    let scalar = |dtype| Some(Type::Tensor(Some(dtype), Some(Vec::new())));
    let names = &mut cx.conversion.names;
    let run = body.target.input(names.fresh("run"), scalar(DType::I64));
    let goes = body.target.input(names.fresh("goes_on"), scalar(DType::Bool));
    let first = body.carry(cx)?;
    body.take(cx, run)?;
    body.scope.convert(cx.conversion, &mut body.target)?;
    body.condition(cx, goes, counted)?;
    let (given, scans) = body.outputs(cx)?;
    let starts = !counted || matches!(cx.known_integers(1)?.as_deref(), Some(&[condition]) if condition != 0);
    let enters = starts && runs.is_some_and(|runs| runs > 0);
    if !(scans.is_empty() || enters) {
        cx.edges(NO_RUNS);
    }
    let shapes: Vec<_> = scans.iter().map(|&output| body.known_dims(output)).collect();
    let inputs = [&[most, goes_on][..], &first].concat();
    let carried = first.len();
    let found = cx.put_many("Loop", &inputs, &[("body", body.finish()?)], carried + scans.len())?;
    let each = given.into_iter().map(|given| match given {
        BodyOutput::Carried(at) => Ok(found[at]),
        BodyOutput::Last(at) => {
            let last = cx.scalar(-1);
            cx.put("Gather", &[found[carried + at], last], &[int("axis", 0)])
        }
        BodyOutput::Parts(at, slices) => joined(cx, found[carried + at], shapes[at].as_deref(), &slices),
    });
    each.collect()
}

/// The stages of a loop's body.
impl OnnxBody<'_> {
    /// Makes inputs of the carried values, and returns their first values.
    fn carry(&mut self, cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
        let ports = self.ports.clone();
        let mut first = Vec::new();
        for &(_, inner) in &ports.back_edges {
            let port = ports.inputs.iter().find(|port| port.inner == inner && port.slices.is_none());
            let port = port.ok_or_else(|| errors::missing("initial value of a loop-carried value"))?;
            first.push(cx.input(port.outer)?);
            let id = self.graph.inputs()[inner];
            let name = cx.conversion.names.fresh(&self.graph.value(id).name);
            let value = self.target.input(name, declared(self.scope.fact(id)));
            self.scope.set(id, value);
        }
        Ok(first)
    }

    /// Makes the other inputs of the body: the number of the iteration, slices, captured values.
    fn take(&mut self, cx: &mut ConvertContext<'_, '_>, run: NewValue) -> Result<()> {
        let since = self.target.mark();
        let ports = self.ports.clone();
        if let Some(inner) = ports.iteration {
            let number = number_of_run(self, run, inner)?;
            self.scope.set(self.graph.inputs()[inner], number);
        }
        for port in &ports.inputs {
            match port.slices {
                Some(slices) => {
                    let part = part(cx, self, port, &slices, run)?;
                    self.scope.set(self.graph.inputs()[port.inner], part);
                }
                None if ports.back_edges.iter().any(|&(_, inner)| inner == port.inner) => {}
                None => self.capture(cx, port)?,
            }
        }
        self.named(cx, since, "run");
        Ok(())
    }

    /// Makes the first outputs: whether another iteration follows, and the carried values.
    fn condition(&mut self, cx: &mut ConvertContext<'_, '_>, goes: NewValue, counted: bool) -> Result<()> {
        let since = self.target.mark();
        let ports = self.ports.clone();
        let condition = match ports.condition {
            Some(output) if counted => {
                let fact = self.scope.fact(self.graph.outputs()[output]);
                let rank = fact.as_tensor().and_then(TensorFact::rank);
                let value = self.output(cx, output)?;
                if rank == Some(0) { value } else { self.shaped(value, &[])? }
            }
            _ => self.target.copy(goes, Some(DType::Bool))?,
        };
        self.named(cx, since, "condition");
        self.target.output(condition);
        for &(output, _) in &ports.back_edges {
            let value = self.output(cx, output)?;
            self.target.output(value);
        }
        Ok(())
    }

    /// Makes an output of each scanned value, and says where each output of the node comes from.
    fn outputs(&mut self, cx: &mut ConvertContext<'_, '_>) -> Result<(Vec<BodyOutput>, Vec<usize>)> {
        let ports = self.ports.clone();
        let (mut given, mut scans) = (Vec::new(), Vec::new());
        for slot in 0..cx.outputs() {
            let port = ports.outputs.iter().find(|port| port.outer == slot);
            let port = port.ok_or_else(|| errors::missing(format_args!("output {slot} of the body")))?;
            let edge = ports.back_edges.iter().position(|&(output, _)| output == port.inner);
            given.push(match (port.slices, edge) {
                (None, Some(edge)) => BodyOutput::Carried(edge),
                (slices, _) => {
                    let value = self.output(cx, port.inner)?;
                    self.target.output(value);
                    scans.push(port.inner);
                    let at = scans.len() - 1;
                    slices.map_or(BodyOutput::Last(at), |slices| BodyOutput::Parts(at, slices))
                }
            });
        }
        Ok((given, scans))
    }

    /// The dimensions of an output of the body, as far as they are known.
    fn known_dims(&self, output: usize) -> Option<Vec<Option<i64>>> {
        let fact = self.scope.fact(self.graph.outputs()[output]).as_tensor()?;
        Some(fact.dims.as_ref()?.iter().map(|dim| dim.known()).collect())
    }
}

/// The number of the run in the type and shape that the body wants.
fn number_of_run(body: &mut OnnxBody<'_>, run: NewValue, inner: usize) -> Result<NewValue> {
    let fact = body.scope.fact(body.graph.inputs()[inner]).as_tensor().cloned().unwrap_or_default();
    let mut number = run;
    if let Some(dtype) = fact.dtype.filter(|&dtype| dtype != DType::I64) {
        number = body.put("Cast", &[number], &[numbered("to", dtype)?])?;
    }
    if fact.rank() == Some(1) { body.shaped(number, &[1]) } else { Ok(number) }
}

/// The slice of an input that a run takes.
fn part(
    cx: &mut ConvertContext<'_, '_>,
    body: &mut OnnxBody<'_>,
    port: &Port,
    slices: &Slices,
    run: NewValue,
) -> Result<NewValue> {
    let axis = axis_of(slices.axis, cx.rank(port.outer)?)?;
    let x = body.captured(cx, port.outer)?;
    let back = if slices.stride < 0 { slices.part_size - 1 } else { 0 };
    let mut first = body.list(&[slices.start - back]);
    if slices.start < 0 {
        let size = size_within(body, x, axis)?;
        first = body.put("Add", &[size, first], &[])?;
    }
    let (stride, size, axis) =
        (body.list(&[slices.stride]), body.list(&[slices.part_size]), body.list(&[i64_of(axis)]));
    let run = body.shaped(run, &[1])?;
    let offset = body.put("Mul", &[run, stride], &[])?;
    let from = body.put("Add", &[first, offset], &[])?;
    let to = body.put("Add", &[from, size], &[])?;
    body.put("Slice", &[x, from, to, axis], &[])
}

fn size_within(body: &mut OnnxBody<'_>, x: NewValue, axis: usize) -> Result<NewValue> {
    let all = body.put("Shape", &[x], &[])?;
    let (from, to, zero) = (body.list(&[i64_of(axis)]), body.list(&[i64_of(axis) + 1]), body.list(&[0]));
    body.put("Slice", &[all, from, to, zero], &[])
}

/// The maximum number of iterations, and that number if it is known.
fn trip_count(
    cx: &mut ConvertContext<'_, '_>,
    ports: &Ports,
    counted: bool,
) -> Result<(NewValue, Option<i64>)> {
    let sliced = ports.inputs.iter().find_map(|port| Some((port.outer, port.slices?)));
    if !counted {
        let (outer, slices) = sliced.ok_or_else(|| not_known("number of iterations"))?;
        return count_of_slices(cx, outer, &slices);
    }
    match cx.known_integers(0)?.as_deref() {
        Some(&[runs]) if runs >= 0 => return Ok((cx.scalar(runs), Some(runs))),
        Some(_) => {
            return match sliced {
                Some((outer, slices)) => count_of_slices(cx, outer, &slices),
                None => Ok((NONE, None)),
            };
        }
        None => {}
    }
    let (given, zero) = (cx.whole_scalar(0)?, cx.scalar(0));
    let any = match sliced {
        Some((outer, slices)) => count_of_slices(cx, outer, &slices)?.0,
        None => cx.scalar(i64::MAX),
    };
    let below = cx.put("Less", &[given, zero], &[])?;
    Ok((cx.put("Where", &[below, any, given], &[])?, None))
}

/// Number of slices of an input.
fn count_of_slices(
    cx: &mut ConvertContext<'_, '_>,
    outer: usize,
    slices: &Slices,
) -> Result<(NewValue, Option<i64>)> {
    let axis = axis_of(slices.axis, cx.rank(outer)?)?;
    let (first, last) =
        if slices.stride < 0 { (slices.end, slices.start) } else { (slices.start, slices.end) };
    // The elements that the slices cover, but for the size where one bound is counted from the end.
    let more = last.saturating_sub(first).saturating_add(1);
    let covered = match (first < 0, last < 0) {
        (false, false) | (true, true) => Some(more),
        (false, true) => cx.known_size(outer, axis).map(|size| size.saturating_add(more)),
        (true, false) => cx.known_size(outer, axis).map(|size| more.saturating_sub(size)),
    };
    if let Some(covered) = covered {
        let count = covered.checked_div(slices.part_size).unwrap_or(0);
        return Ok((cx.scalar(count), Some(count)));
    }
    let x = cx.input(outer)?;
    let mut count = cx.size_of(x, axis)?;
    if first < 0 {
        let more = cx.list(&[more]);
        count = cx.put("Sub", &[more, count], &[])?;
    } else if more != 0 {
        let more = cx.list(&[more]);
        count = cx.put("Add", &[count, more], &[])?;
    }
    if slices.part_size != 1 {
        let size = cx.list(&[slices.part_size]);
        count = cx.put("Div", &[count, size], &[])?;
    }
    let none = cx.list(&[]);
    Ok((cx.with_shape(count, none)?, None))
}

/// The outputs of all iterations, concatenated along an axis: ONNX puts them along a new one.
fn joined(
    cx: &mut ConvertContext<'_, '_>,
    stacked: NewValue,
    part: Option<&[Option<i64>]>,
    slices: &Slices,
) -> Result<NewValue> {
    let part = part.ok_or_else(|| not_known("rank of a concatenated output"))?;
    let axis = axis_of(slices.axis, part.len())?;
    if part[axis].is_none() {
        cx.edges("ONNX does not concatenate outputs whose length differs between iterations");
    }
    let mut value = stacked;
    if slices.stride < 0 {
        let (from, to, zero, step) =
            (cx.list(&[i64::MAX]), cx.list(&[i64::MIN]), cx.list(&[0]), cx.list(&[-1]));
        value = cx.put("Slice", &[value, from, to, zero, step], &[])?;
    }
    if axis > 0 {
        let order = (1..=axis).chain([0]).chain(axis + 1..=part.len()).map(i64_of).collect();
        value = cx.put("Transpose", &[value], &[("perm", Content::Ints(order))])?;
    }
    let (dims, axis) = (cx.sizes(value)?, i64_of(axis));
    let mut piece = |from: i64, to: i64| cx.part_of(dims, from, to);
    let (before, runs) = (piece(0, axis)?, piece(axis, axis + 1)?);
    let (each, behind) = (piece(axis + 1, axis + 2)?, piece(axis + 2, i64::MAX)?);
    let along = cx.put("Mul", &[runs, each], &[])?;
    let dims = cx.put("Concat", &[before, along, behind], &[int("axis", 0)])?;
    cx.with_shape(value, dims)
}
