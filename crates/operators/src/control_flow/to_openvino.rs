//! Operators that run graphs. In OpenVINO, a body sees nothing around it: what it captures becomes
//! an input.

use std::collections::BTreeMap;
use std::sync::Arc;

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::element::Bool;
use gradus_core::graph::{Content, DeclaredDim, Graph, Node, Port, Ports, Slices, Type, ValueId};
use gradus_core::{Result, Tensor};

use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::scope::{Items, SourceGraph};
use crate::conversion::to_openvino::numpy;
use crate::conversion::types::declared;
use crate::conversion::writer::{GraphWriter, NONE, NewValue};
use crate::errors;
use crate::fact::{Fact, TensorFact};
use crate::normalize::Older;
use crate::sequence::to_openvino as sequence;

/// The caveat for loops that run zero times.
const NO_RUNS: &str = "the output shapes of a loop that runs zero times may differ";

/// A graph while it becomes a body.
struct OpenVinoBody<'m> {
    graph: &'m Graph,
    scope: SourceGraph<'m>,
    target: GraphWriter,
    /// Number of inputs.
    inputs: usize,
    ports: Ports,
}

/// The form in which a loop carries a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListForm {
    /// Each run gives an item, which becomes a slice of an output.
    Scanned,
    /// A tensor whose slices are the items.
    Stacked,
    /// The concatenation of the items along an axis.
    Joined(usize),
}

impl<'m> OpenVinoBody<'m> {
    fn new(cx: &ConvertContext<'_, 'm>, name: &str) -> Result<OpenVinoBody<'m>> {
        let (_, graph, number) = cx.graph(name)?;
        let scope = cx.scope.inner(cx.conversion, graph, cx.node, cx.index, number);
        let target = GraphWriter::new(cx.target.standard, cx.target.opset);
        Ok(OpenVinoBody { graph, scope, target, inputs: 0, ports: Ports::default() })
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

    /// Inputs for what is captured: each is an input of the node, after those that it has.
    fn captures(&mut self, cx: &mut ConvertContext<'_, 'm>, outer: &mut Vec<NewValue>) -> Result<()> {
        for capture in self.graph.captures() {
            if self.scope.constant(capture.inner).is_some() {
                continue;
            }
            if let Some(items) = cx.scope.items(capture.outer).cloned() {
                self.capture_items(cx, outer, (capture.outer, capture.inner), items)?;
                continue;
            }
            let value = cx.scope.value(cx.target, cx.conversion, capture.outer)?;
            let inner = self.input(cx, capture.inner)?;
            self.ports.inputs.push(Port { outer: place_of(outer, value), inner, slices: None });
        }
        Ok(())
    }

    /// Inputs for the values that a captured sequence consists of.
    fn capture_items(
        &mut self,
        cx: &mut ConvertContext<'_, 'm>,
        outer: &mut Vec<NewValue>,
        (id, inner): (ValueId, ValueId),
        items: Items,
    ) -> Result<()> {
        let fact = cx.scope.fact(id).clone();
        let stacks = matches!(&items, Items::Each(items) if !items.is_empty())
            && self.scope.reads_any_item(inner)
            && sequence::expect_one_shape(cx, &fact).is_ok();
        let items = if stacks { Items::Stacked(sequence::stacked(cx.target, &items, &fact)?) } else { items };
        let types = sequence::types(&fact, &items)?;
        let mut within = Vec::new();
        for (&value, declared) in items.values().iter().zip(types) {
            let (number, own) = self.input_as(cx, inner, declared)?;
            self.ports.inputs.push(Port { outer: place_of(outer, value), inner: number, slices: None });
            within.push(own);
        }
        self.scope.set_items(inner, items.with(|item| within[item]));
        Ok(())
    }

    /// Converts the nodes.
    fn convert(&mut self, cx: &mut ConvertContext<'_, 'm>) -> Result<()> {
        self.scope.convert(cx.conversion, &mut self.target)
    }

    /// The value that is an output; sequences are in the form in which the loop carries them.
    fn output(
        &mut self,
        cx: &mut ConvertContext<'_, 'm>,
        number: usize,
        form: Option<ListForm>,
    ) -> Result<NewValue> {
        let id = self.graph.outputs()[number];
        match (form, self.scope.items(id).cloned()) {
            (Some(ListForm::Scanned), Some(Items::Each(items))) if items.len() == 1 => Ok(items[0]),
            (Some(ListForm::Joined(axis)), Some(Items::Joined { whole, axis: own })) if axis == own => {
                Ok(whole)
            }
            (Some(ListForm::Stacked), Some(items)) => self.stacked(cx, id, &items),
            (Some(_), Some(_)) => {
                Err(cannot("OpenVINO has no equivalent of the way in which the loop changes a sequence"))
            }
            (_, None) | (None, _) => self.scope.value(&mut self.target, cx.conversion, id),
        }
    }

    /// The items of a sequence of the body as slices of a tensor.
    fn stacked(&mut self, cx: &mut ConvertContext<'_, 'm>, id: ValueId, items: &Items) -> Result<NewValue> {
        let fact = self.scope.fact(id).clone();
        if matches!(items, Items::Each(_)) {
            sequence::expect_one_shape(cx, &fact)?;
        }
        let from = self.target.mark();
        let all = sequence::stacked(&mut self.target, items, &fact)?;
        self.target.name_since(from, "stack", &mut cx.conversion.names);
        Ok(all)
    }

    /// The form in which a loop carries a sequence that is `first` before all runs.
    fn carried(&self, cx: &ConvertContext<'_, 'm>, number: usize, id: ValueId, first: &Items) -> ListForm {
        let dims = sequence::dims_of_items(self.scope.fact(id)).unwrap_or_default();
        let result = cx.node.outputs.get(number).copied().flatten();
        if let Some(axis) = result.and_then(|result| joined_axis(cx.scope, result, dims.len()))
            && dims[axis].is_none()
            && only_appended(self.graph, id)
        {
            return ListForm::Joined(axis);
        }
        let is_empty = matches!(first, Items::Each(items) if items.is_empty());
        let output = self.graph.outputs().get(1 + number);
        let scanned = is_empty && output.is_some_and(|&output| self.appends(id, output));
        if scanned { ListForm::Scanned } else { ListForm::Stacked }
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
        crate::indices::axis(axis, rank + 1).map(i64_of)
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

/// The axis along which all readers of a sequence that something needs put its items together.
fn joined_axis(scope: &SourceGraph<'_>, id: ValueId, rank: usize) -> Option<usize> {
    let graph = scope.graph;
    let reads = |node: &&Node| {
        let is_needed = node.outputs.iter().flatten().any(|&output| scope.is_needed(output));
        is_needed && node.needs().any(|needed| needed == id)
    };
    let mut axes = graph.nodes().iter().filter(reads).map(|node| {
        let int = |name| match node.attribute(name) {
            Some(Content::Int(value)) => *value,
            _ => 0,
        };
        let joins = &*node.operator.name == "ConcatFromSequence" && int("new_axis") == 0;
        crate::indices::axis(int("axis"), rank).ok().filter(|_| joins)
    });
    let first = axes.next()??;
    (axes.all(|axis| axis == Some(first)) && !graph.outputs().contains(&id)).then_some(first)
}

/// Returns true if all that a graph does with a sequence is to append items to it.
fn only_appended(graph: &Graph, id: ValueId) -> bool {
    graph.nodes().iter().filter(|node| node.needs().any(|needed| needed == id)).all(|node| {
        let first = node.inputs.first().copied().flatten() == Some(id);
        let kept = match &*node.operator.name {
            "SequenceInsert" => first && node.inputs.get(2).copied().flatten().is_none(),
            "Identity" => true,
            "If" => node.graphs().all(|inner| {
                let own = inner.captures().iter().find(|capture| capture.outer == id);
                own.is_none_or(|own| only_appended(inner, own.inner))
            }),
            _ => false,
        };
        let sequences = node.outputs.iter().copied().flatten();
        kept && node.inputs.iter().filter(|&&input| input == Some(id)).count() <= 1
            && (&*node.operator.name == "If"
                || sequences.into_iter().all(|output| only_appended(graph, output)))
    })
}

/// The type of an input of a body, perhaps with another axis of one element.
fn input_type(fact: &Fact, axis: Option<i64>) -> Result<Type> {
    let Some(Type::Tensor(Some(dtype), mut sizes)) = declared(fact) else {
        return Err(not_known("element type of an input of the body"));
    };
    if let (Some(sizes), Some(axis)) = (&mut sizes, axis) {
        let axis = crate::indices::axis(axis, sizes.len() + 1)?;
        sizes.insert(axis, DeclaredDim::Known(1));
    }
    Ok(Type::Tensor(Some(dtype), sizes))
}

/// Writes ONNX's `If` as OpenVINO's, whose branches get their captures as inputs.
pub fn branch(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    // OpenVINO takes a condition of at most one axis.
    let condition = if cx.rank_if_known(0) == Some(1) { cx.input(0)? } else { cx.scalar_input(0)? };
    let mut inputs = vec![condition];
    let [mut yes, mut no] = [OpenVinoBody::new(cx, "then_branch")?, OpenVinoBody::new(cx, "else_branch")?];
    for branch in [&mut yes, &mut no] {
        branch.captures(cx, &mut inputs)?;
        branch.convert(cx)?;
    }
    // A node may leave out the last outputs, but both branches give all.
    let [outputs, others] = [&yes, &no].map(|branch| branch.graph.outputs().len());
    if others != outputs {
        return Err(cannot(format!(
            "then_branch has {outputs} outputs and else_branch {others}, expected as many"
        )));
    }
    let mut lists = Vec::new();
    for number in 0..outputs {
        let ids = [&yes, &no].map(|branch| branch.graph.outputs()[number]);
        let items = [yes.scope.items(ids[0]).cloned(), no.scope.items(ids[1]).cloned()];
        let values = match &items {
            [Some(a), Some(b)] if a.is_like(b) => [a.values().to_vec(), b.values().to_vec()],
            [Some(a), Some(b)] => [vec![yes.stacked(cx, ids[0], a)?], vec![no.stacked(cx, ids[1], b)?]],
            _ => [vec![yes.output(cx, number, None)?], vec![no.output(cx, number, None)?]],
        };
        let first = yes.ports.outputs.len();
        for (branch, values) in [&mut yes, &mut no].into_iter().zip(&values) {
            for (number, &value) in values.iter().enumerate() {
                branch.target.output(value);
                branch.ports.outputs.push(Port {
                    outer: first + number,
                    inner: first + number,
                    slices: None,
                });
            }
        }
        let form = match items {
            [Some(a), Some(b)] if a.is_like(&b) => Some(a),
            [Some(_), Some(_)] => Some(Items::Stacked(values[0][0])),
            _ => None,
        };
        lists.push((first, form));
    }
    let count = yes.ports.outputs.len();
    let mut attributes = Vec::new();
    attributes.extend(yes.attributes("then_port_map", "then_body")?);
    attributes.extend(no.attributes("else_port_map", "else_body")?);
    let written = cx.put_many("If", &inputs, &attributes, count)?;
    let mut outputs = Vec::new();
    for (number, (first, form)) in lists.into_iter().enumerate() {
        if let (Some(form), Some(id)) = (&form, cx.node.outputs.get(number).copied().flatten()) {
            cx.scope.set_items(id, form.with(|item| written[first + item]));
        }
        outputs.push(if form.is_some() { NONE } else { written[first] });
    }
    Ok(outputs)
}

/// Slices of one element.
const fn slices(axis: i64, backwards: bool) -> Slices {
    let (start, end, stride) = if backwards { (-1, 0, -1) } else { (0, -1, 1) };
    Slices { axis, start, end, stride, part_size: 1 }
}

/// Writes ONNX's `Loop` as OpenVINO's.
pub fn repeat(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let carried = cx.count().saturating_sub(2);
    let (most, runs) = trip_count(cx)?;
    let given = cx.has(1);
    let goes_on = if given { cx.scalar_input(1)? } else { cx.constant(Tensor::scalar(Bool::from(true))) };
    let mut inputs = vec![most, goes_on];
    let mut body = OpenVinoBody::new(cx, "body")?;
    let ids = body.graph.inputs();
    errors::expect_count("inputs of the body", ids.len(), carried + 2)?;
    if body.is_read(ids[0]) {
        body.ports.iteration = Some(body.input(cx, ids[0])?);
    }
    if body.is_read(ids[1]) {
        let inner = body.input(cx, ids[1])?;
        let outer = place_of(&mut inputs, goes_on);
        body.ports.inputs.push(Port { outer, inner, slices: None });
        body.ports.back_edges.push((0, inner));
    }
    let mut lists = BTreeMap::new();
    for (number, &id) in ids.iter().skip(2).enumerate() {
        if matches!(cx.fact(2 + number), Fact::Sequence(_)) {
            let form = carry_list(cx, &mut body, number, id, &mut inputs)?;
            lists.insert(1 + number, form);
            continue;
        }
        let first = cx.input(2 + number)?;
        let inner = body.input(cx, id)?;
        let outer = place_of(&mut inputs, first);
        body.ports.inputs.push(Port { outer, inner, slices: None });
        body.ports.back_edges.push((1 + number, inner));
    }
    body.captures(cx, &mut inputs)?;
    body.convert(cx)?;
    let outputs = body.graph.outputs().len();
    let starts = !given || matches!(cx.known_integers(1)?.as_deref(), Some(&[condition]) if condition != 0);
    let runs = starts && runs.is_some_and(|runs| runs > 0);
    if (outputs > 1 + carried || lists.values().any(|&form| form == ListForm::Scanned)) && !runs {
        cx.edges(NO_RUNS);
    }
    for number in 0..outputs {
        let form = lists.get(&number).copied();
        let scanned = number > carried || form == Some(ListForm::Scanned);
        let output = body.output(cx, number, form)?;
        let output = if scanned { body.unsqueezed(cx, output, 0)? } else { output };
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
    for (number, form) in lists {
        if let Some(id) = cx.node.outputs.get(number - 1).copied().flatten() {
            let whole = outputs[number - 1];
            let items = match form {
                ListForm::Joined(axis) => Items::Joined { whole, axis },
                ListForm::Scanned | ListForm::Stacked => Items::Stacked(whole),
            };
            cx.scope.set_items(id, items);
        }
    }
    Ok(outputs)
}

/// The input of a body for a sequence that a loop carries, and the form of that.
fn carry_list<'m>(
    cx: &mut ConvertContext<'_, 'm>,
    body: &mut OpenVinoBody<'m>,
    number: usize,
    id: ValueId,
    inputs: &mut Vec<NewValue>,
) -> Result<ListForm> {
    let first = cx.node.inputs.get(2 + number).copied().flatten().and_then(|id| cx.scope.items(id)).cloned();
    let first = first.ok_or_else(|| not_known("items of a sequence"))?;
    let (form, fact) = (body.carried(cx, number, id, &first), body.scope.fact(id).clone());
    let items = match form {
        ListForm::Scanned => {
            cx.edges(sequence::ONE_SHAPE);
            body.scope.set_items(id, Items::Each(Vec::new()));
            return Ok(form);
        }
        ListForm::Stacked => {
            let before = cx.fact(2 + number).clone();
            if !first.values().is_empty() {
                sequence::expect_one_shape(cx, &before)?;
            }
            Items::Stacked(sequence::stacked(cx.target, &first, &fact)?)
        }
        ListForm::Joined(axis) => {
            Items::Joined { whole: sequence::joined(cx.target, &first, &fact, axis)?, axis }
        }
    };
    let declared = sequence::types(&fact, &items)?.swap_remove(0);
    let (inner, value) = body.input_as(cx, id, declared)?;
    body.scope.set_items(id, items.with(|_| value));
    let outer = place_of(inputs, items.values()[0]);
    body.ports.inputs.push(Port { outer, inner, slices: None });
    body.ports.back_edges.push((1 + number, inner));
    Ok(form)
}

/// The maximum number of iterations, and that number if it is known; -1 is no bound.
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

/// Writes `Scan` as OpenVINO's `TensorIterator`.
pub fn scan(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
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
        let axis = crate::indices::axis(at(&in_axes, 0), dims.len()).ok()?;
        dims[axis]
    });
    if size.is_none_or(|size| size < 1) {
        cx.edges(NO_RUNS);
    }
    body.convert(cx)?;
    for number in 0..body.graph.outputs().len() {
        let output = body.output(cx, number, None)?;
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

/// `SequenceMap`: the nodes of its graph, once for each item.
pub fn map(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (_, graph, number) = cx.graph("body")?;
    let mut inputs = Vec::with_capacity(cx.count());
    for input in 0..cx.count() {
        let id = cx.node.inputs.get(input).copied().flatten();
        let items = id.and_then(|id| cx.scope.items(id)).cloned();
        inputs.push(match items {
            Some(Items::Each(values)) => values,
            Some(_) => {
                return Err(cannot(
                    "OpenVINO has no equivalent of SequenceMap of items whose number is not known",
                ));
            }
            None => vec![cx.input(input)?],
        });
    }
    let count = inputs.first().map_or(0, Vec::len);
    let mut results = vec![Vec::with_capacity(count); graph.outputs().len()];
    for item in 0..count {
        let mut scope = cx.scope.inner(cx.conversion, graph, cx.node, cx.index, number);
        for capture in graph.captures() {
            if scope.constant(capture.inner).is_some() {
                continue;
            }
            if let Some(items) = cx.scope.items(capture.outer).cloned() {
                scope.set_items(capture.inner, items);
            } else {
                let value = cx.scope.value(cx.target, cx.conversion, capture.outer)?;
                scope.set(capture.inner, value);
            }
        }
        // Tensors among the other inputs are shared by all items.
        for (&id, values) in graph.inputs().iter().zip(&inputs) {
            let shared = values.first().filter(|_| values.len() == 1);
            let value = values.get(item).or(shared).copied();
            scope.set(id, value.ok_or_else(|| errors::count("items of a sequence", values.len(), count))?);
        }
        scope.convert(cx.conversion, cx.target)?;
        for (result, &id) in results.iter_mut().zip(graph.outputs()) {
            result.push(scope.value(cx.target, cx.conversion, id)?);
        }
    }
    for (id, values) in cx.node.outputs.iter().zip(results) {
        if let Some(id) = id {
            cx.scope.set_items(*id, Items::Each(values));
        }
    }
    Ok(Vec::new())
}
