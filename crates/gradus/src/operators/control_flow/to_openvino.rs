//! Operators that run graphs. In OpenVINO, a body sees nothing around it: what it captures becomes
//! an input.

use std::sync::Arc;

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::element::Bool;
use gradus_core::graph::{Content, DeclaredDim, Graph, Port, Ports, Slices, Type, ValueId};
use gradus_core::{Result, Tensor};

use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::scope::{Items, SourceGraph};
use crate::conversion::to_openvino::numpy;
use crate::conversion::types::declared;
use crate::conversion::writer::{GraphWriter, NewValue};
use crate::fact::{Fact, TensorFact};
use crate::normalize::Older;
use crate::operators::errors;

/// The caveat for loops that run zero times.
const NO_RUNS: &str = "the output shapes of a loop that runs zero times may differ";

/// A graph while it becomes a body.
struct OpenVinoBody<'m> {
    graph: &'m Graph,
    scope: SourceGraph<'m>,
    target: GraphWriter,
    /// How many inputs it has.
    inputs: usize,
    ports: Ports,
    /// Outputs that are sequences to which each run appends an item.
    appended: Vec<ValueId>,
}

impl<'m> OpenVinoBody<'m> {
    fn new(cx: &ConvertContext<'_, 'm>, name: &str) -> Result<OpenVinoBody<'m>> {
        let (_, graph, number) = cx.graph(name)?;
        let scope = cx.scope.inner(cx.conversion, graph, cx.node, cx.index, number);
        let target = GraphWriter::new(cx.target.standard, cx.target.opset);
        Ok(OpenVinoBody { graph, scope, target, inputs: 0, ports: Ports::default(), appended: Vec::new() })
    }

    fn is_read(&self, id: ValueId) -> bool {
        self.graph.outputs().contains(&id)
            || self.graph.nodes().iter().any(|node| node.needs().any(|needed| needed == id))
    }

    /// An input that a value of the source's body becomes; its number among the inputs.
    fn input(&mut self, cx: &mut ConvertContext<'_, '_>, id: ValueId) -> Result<usize> {
        let declared = input_type(self.scope.fact(id), None)?;
        self.input_as(cx, id, declared).map(|(number, value)| {
            self.scope.set(id, value);
            number
        })
    }

    fn input_as(
        &mut self,
        cx: &mut ConvertContext<'_, '_>,
        id: ValueId,
        declared: Type,
    ) -> Result<(usize, NewValue)> {
        let name = cx.conversion.names.fresh(&self.graph.value(id).name);
        self.inputs += 1;
        Ok((self.inputs - 1, self.target.input(name, Some(declared))))
    }

    /// Inputs for what is captured: each is an input of the node, behind those that it has.
    fn captures(&mut self, cx: &mut ConvertContext<'_, 'm>, outer: &mut Vec<NewValue>) -> Result<()> {
        for capture in self.graph.captures() {
            if self.scope.constant(capture.inner).is_some() {
                continue;
            }
            let value = cx.scope.value(cx.target, cx.conversion, capture.outer)?;
            let inner = self.input(cx, capture.inner)?;
            self.ports.inputs.push(Port { outer: place_of(outer, value), inner, slices: None });
        }
        Ok(())
    }

    /// Converts the nodes; gives the values that are the outputs.
    fn convert(&mut self, cx: &mut ConvertContext<'_, 'm>) -> Result<Vec<NewValue>> {
        self.scope.convert(cx.conversion, &mut self.target)?;
        let ids = self.graph.outputs();
        ids.iter()
            .map(|&id| match self.scope.items(id) {
                Some(Items::Each(items)) if self.appended.contains(&id) && items.len() == 1 => Ok(items[0]),
                _ => self.scope.value(&mut self.target, cx.conversion, id),
            })
            .collect()
    }

    /// Returns true if all that the body does with a sequence is to append one item to it.
    fn appends(&self, input: ValueId, output: ValueId) -> bool {
        let reads =
            |id: ValueId| self.graph.nodes().iter().filter(move |node| node.needs().any(|own| own == id));
        let outputs = |id: ValueId| self.graph.outputs().iter().filter(|&&own| own == id).count();
        let mut readers = reads(input);
        let (Some(node), None) = (readers.next(), readers.next()) else { return false };
        &*node.operator.name == "SequenceInsert"
            && node.operator.domain.is_empty()
            && node.inputs.first().copied().flatten() == Some(input)
            && node.inputs.get(1).copied().flatten().is_some_and(|item| item != input)
            && node.inputs.get(2).copied().flatten().is_none()
            && node.outputs.first().copied().flatten() == Some(output)
            && reads(output).next().is_none()
            && outputs(input) == 0
            && outputs(output) == 1
    }

    /// The axis along which a program puts together what an output gives, counted from the first:
    /// OpenVINO reads no other.
    fn new_axis(&self, output: usize, axis: i64) -> Result<i64> {
        if axis >= 0 {
            return Ok(axis);
        }
        let rank = self.scope.fact(self.graph.outputs()[output]).as_tensor().and_then(TensorFact::rank);
        let rank = rank.ok_or_else(|| not_known("rank of an output of the body"))?;
        crate::operators::indices::axis(axis, rank + 1).map(i64_of)
    }

    /// A value with an axis of one element more.
    fn unsqueezed(
        &mut self,
        cx: &mut ConvertContext<'_, '_>,
        value: NewValue,
        axis: i64,
    ) -> Result<NewValue> {
        let from = self.target.mark();
        let axis = self.target.tensor(Tensor::vector(&[axis]));
        let value = self.target.put("Unsqueeze", &[value, axis], &[], 1)?[0];
        self.target.name_since(from, "slice", &mut cx.conversion.names);
        Ok(value)
    }

    /// A value without an axis of one element.
    fn squeezed(&mut self, cx: &mut ConvertContext<'_, '_>, value: NewValue, axis: i64) -> Result<NewValue> {
        let from = self.target.mark();
        let axis = self.target.tensor(Tensor::vector(&[axis]));
        let value = self.target.put("Squeeze", &[value, axis], &[], 1)?[0];
        self.target.name_since(from, "slice", &mut cx.conversion.names);
        Ok(value)
    }

    /// The attributes that hold the body and its map.
    fn attributes(self, map: &'static str, body: &'static str) -> Result<[(&'static str, Content); 2]> {
        let graph = self.target.finish(self.graph.name(), false)?;
        Ok([(map, Content::Ports(Arc::new(self.ports))), (body, Content::Graph(Arc::new(graph)))])
    }
}

/// The place that a value gets among the inputs of a node.
fn place_of(inputs: &mut Vec<NewValue>, value: NewValue) -> usize {
    inputs.push(value);
    inputs.len() - 1
}

/// The type of an input of a body, perhaps with another axis of one element.
fn input_type(fact: &Fact, axis: Option<i64>) -> Result<Type> {
    let Some(Type::Tensor(Some(dtype), mut sizes)) = declared(fact) else {
        return Err(not_known("element type of an input of the body"));
    };
    if let (Some(sizes), Some(axis)) = (&mut sizes, axis) {
        let axis = crate::operators::indices::axis(axis, sizes.len() + 1)?;
        sizes.insert(axis, DeclaredDim::Known(1));
    }
    Ok(Type::Tensor(Some(dtype), sizes))
}

pub(crate) fn branch(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let mut inputs = vec![cx.input(0)?];
    let (mut attributes, mut counts) = (Vec::new(), Vec::new());
    for (name, map, body) in
        [("then_branch", "then_port_map", "then_body"), ("else_branch", "else_port_map", "else_body")]
    {
        let mut branch = OpenVinoBody::new(cx, name)?;
        branch.captures(cx, &mut inputs)?;
        let outputs = branch.convert(cx)?;
        for (number, output) in outputs.into_iter().enumerate() {
            branch.target.output(output);
            branch.ports.outputs.push(Port { outer: number, inner: number, slices: None });
        }
        counts.push(branch.ports.outputs.len());
        attributes.extend(branch.attributes(map, body)?);
    }
    // A node may leave out the last outputs, but both branches give all.
    let outputs = counts[0];
    if counts[1] != outputs {
        let (yes, no) = (counts[0], counts[1]);
        return Err(cannot(format!("then_branch has {yes} outputs and else_branch {no}, expected as many")));
    }
    cx.put_many("If", &inputs, &attributes, outputs)
}

/// Slices of one element.
const fn slices(axis: i64, backwards: bool) -> Slices {
    let (start, end, stride) = if backwards { (-1, 0, -1) } else { (0, -1, 1) };
    Slices { axis, start, end, stride, part_size: 1 }
}

pub(crate) fn repeat(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let carried = cx.count().saturating_sub(2);
    let (most, runs) = trip_count(cx)?;
    let given = cx.has(1);
    let goes_on = if given { cx.scalar_input(1)? } else { cx.constant(Tensor::scalar(Bool::from(true))) };
    let mut inputs = vec![most, goes_on];
    let mut body = OpenVinoBody::new(cx, "body")?;
    let ids = body.graph.inputs();
    if ids.len() != carried + 2 {
        return Err(errors::count("inputs of the body", ids.len(), carried + 2));
    }
    if body.is_read(ids[0]) {
        body.ports.iteration = Some(body.input(cx, ids[0])?);
    }
    if body.is_read(ids[1]) {
        let inner = body.input(cx, ids[1])?;
        let outer = place_of(&mut inputs, goes_on);
        body.ports.inputs.push(Port { outer, inner, slices: None });
        body.ports.back_edges.push((0, inner));
    }
    let mut appended = Vec::new();
    for (number, &id) in ids.iter().skip(2).enumerate() {
        if matches!(cx.fact(2 + number), Fact::Sequence(_)) {
            let first = cx.node.inputs.get(2 + number).copied().flatten().and_then(|id| cx.scope.items(id));
            let is_empty = matches!(first, Some(Items::Each(items)) if items.is_empty());
            let output = body.graph.outputs().get(1 + number).copied();
            let output = output.filter(|&output| is_empty && body.appends(id, output));
            let Some(output) = output else {
                return Err(cannot(
                    "OpenVINO has no equivalent of a loop that changes a sequence, unless it is empty at first and \
                     each run appends an item",
                ));
            };
            body.appended.push(output);
            cx.edges("the items of a sequence must have one shape");
            body.scope.set_items(id, Items::Each(Vec::new()));
            appended.push(1 + number);
            continue;
        }
        let first = cx.input(2 + number)?;
        let inner = body.input(cx, id)?;
        let outer = place_of(&mut inputs, first);
        body.ports.inputs.push(Port { outer, inner, slices: None });
        body.ports.back_edges.push((1 + number, inner));
    }
    body.captures(cx, &mut inputs)?;
    let outputs = body.convert(cx)?;
    let starts = !given || matches!(cx.known_integers(1)?.as_deref(), Some(&[condition]) if condition != 0);
    let runs = starts && runs.is_some_and(|runs| runs > 0);
    if (outputs.len() > 1 + carried || !appended.is_empty()) && !runs {
        cx.edges(NO_RUNS);
    }
    for (number, output) in outputs.into_iter().enumerate() {
        let scanned = number > carried || appended.contains(&number);
        let output = match number {
            _ if scanned => body.unsqueezed(cx, output, 0)?,
            _ => output,
        };
        body.target.output(output);
        if number > 0 {
            let slices = scanned.then(|| slices(0, false));
            body.ports.outputs.push(Port { outer: number - 1, inner: number, slices });
        }
    }
    body.ports.condition = Some(0);
    let outputs = body.ports.outputs.len();
    let attributes = body.attributes("port_map", "body")?;
    let outputs = cx.put_many("Loop", &inputs, &attributes, outputs)?;
    for number in appended {
        if let Some(id) = cx.node.outputs.get(number - 1).copied().flatten() {
            cx.scope.set_items(id, Items::Stacked(outputs[number - 1]));
        }
    }
    Ok(outputs)
}

/// How many runs there are at most, and that number if it is known; -1 are any number.
fn trip_count(cx: &mut ConvertContext<'_, '_>) -> Result<(NewValue, Option<i64>)> {
    if !cx.has(0) {
        return Ok((cx.scalar(-1), None));
    }
    if let Some([runs]) = cx.known_integers(0)?.as_deref() {
        // OpenVINO makes room for the slices of all runs; exporters write the largest for any.
        if *runs >= i64::from(i32::MAX) {
            if *runs < i64::MAX {
                cx.edges("a loop may go on after 2147483647 runs");
            }
            return Ok((cx.scalar(-1), Some(*runs)));
        }
        return Ok((cx.scalar((*runs).max(0)), Some(*runs)));
    }
    let (runs, zero) = (cx.scalar_input(0)?, cx.scalar(0));
    Ok((cx.put("Maximum", &[runs, zero], &[numpy()])?, None))
}

pub(crate) fn scan(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    if cx.attributes.form().is(Older::Batch) {
        return Err(cannot("cannot convert Scan-8, which has a batch axis"));
    }
    let scanned = cx.attributes.int("num_scan_inputs")?.and_then(usize_of_i64).unwrap_or(0);
    let carried = cx.count().checked_sub(scanned).ok_or_else(|| errors::scanned(cx.count(), scanned))?;
    let list = |name: &str| -> Result<Vec<i64>> { Ok(cx.attributes.list(name)?.unwrap_or_default()) };
    let (in_axes, out_axes) = (list("scan_input_axes")?, list("scan_output_axes")?);
    let (in_back, out_back) = (list("scan_input_directions")?, list("scan_output_directions")?);
    let at = |list: &[i64], place: usize| list.get(place).copied().unwrap_or(0);
    let mut inputs = Vec::new();
    let mut body = OpenVinoBody::new(cx, "body")?;
    for (number, &id) in body.graph.inputs().iter().enumerate() {
        let given = cx.input(number)?;
        let outer = place_of(&mut inputs, given);
        if number < carried {
            let inner = body.input(cx, id)?;
            body.ports.inputs.push(Port { outer, inner, slices: None });
            body.ports.back_edges.push((number, inner));
            continue;
        }
        let axis = i64_of(cx.axis(at(&in_axes, number - carried), number)?);
        let declared = input_type(body.scope.fact(id), Some(axis))?;
        let (inner, part) = body.input_as(cx, id, declared)?;
        let part = body.squeezed(cx, part, axis)?;
        body.scope.set(id, part);
        let slices = Some(slices(axis, at(&in_back, number - carried) == 1));
        body.ports.inputs.push(Port { outer, inner, slices });
    }
    body.captures(cx, &mut inputs)?;
    let size = cx.dims(carried).and_then(|dims| {
        let axis = crate::operators::indices::axis(at(&in_axes, 0), dims.len()).ok()?;
        dims[axis]
    });
    if size.is_none_or(|size| size < 1) {
        cx.edges(NO_RUNS);
    }
    let outputs = body.convert(cx)?;
    for (number, output) in outputs.into_iter().enumerate() {
        let (output, slices) = match number.checked_sub(carried) {
            Some(place) => {
                let axis = body.new_axis(number, at(&out_axes, place))?;
                let back = at(&out_back, place) == 1;
                (body.unsqueezed(cx, output, axis)?, Some(slices(axis, back)))
            }
            None => (output, None),
        };
        body.target.output(output);
        body.ports.outputs.push(Port { outer: number, inner: number, slices });
    }
    let outputs = body.ports.outputs.len();
    let attributes = body.attributes("port_map", "body")?;
    cx.put_many("TensorIterator", &inputs, &attributes, outputs)
}
