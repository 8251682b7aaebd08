//! Operators that are lowered: the graphs of ONNX operators that they are run by are written.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gradus_core::graph::{Constant, Content, Graph, Node, Standard, Type, ValueId};
use gradus_core::{DType, Result};

use super::node::ConvertContext;
use super::report::cannot;
use super::scope::needed_by;
use super::writer::{GraphWriter, NONE, NewValue};
use super::{caveats, older};
use crate::complex;
use crate::fact::{Fact, MAX_INTEGERS, TensorFact};
use crate::infer::facts_of_lowered;
use crate::lowering::{self, Goal, Known, Lower, Wanted, Written};
use crate::operators::errors;
use crate::operators::{Chance, Rounding, Row, registry};
use crate::schema::Signature;

/// Returns true if a graph of ONNX has nodes that are lowered before they are converted to another
/// standard; `possibly`: or may be.
pub fn lowers(graph: &Graph, possibly: bool) -> bool {
    graph.nodes().iter().any(|node| {
        let row = registry::row_of(Standard::Onnx, node);
        let may = |row: &Row| possibly && row.may_lack.is_some_and(|may_lack| may_lack(node));
        row.is_some_and(|row| row.becomes_onnx() || may(row))
            || node.graphs().any(|graph| lowers(graph, possibly))
    })
}

/// The fact about a value, with the elements of a constant of few integers.
pub fn with_elements(fact: &Fact, held: Option<&Constant>) -> Fact {
    let few = |held: &&Constant| held.dtype().is_integer() && held.shape().len() <= MAX_INTEGERS;
    let elements = held.filter(few).and_then(|held| held.tensor().ok());
    elements.map_or_else(|| fact.clone(), |tensor| Fact::Tensor(TensorFact::of(tensor)))
}

/// Facts about the inputs, with the elements of constants of few integers.
fn facts(cx: &ConvertContext<'_, '_>) -> Vec<Option<Fact>> {
    let fact = |input: usize| with_elements(cx.fact(input), cx.held(input).as_ref());
    (0..cx.attributes.form().count_of(cx.count())).map(|input| cx.has(input).then(|| fact(input))).collect()
}

/// Writes the graph of ONNX operators that a node stands for.
pub fn graph_of(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let row = registry::row_of(cx.conversion.source.standard, cx.node);
    let lower = row.and_then(|row| row.lower).ok_or_else(|| lowering::cannot_lower(cx.node))?;
    of_function(cx, lower, true)
}

/// Writes the graph of ONNX operators that a function makes of a node. If it does not note itself
/// what is not kept, its operators tell.
pub fn of_function(cx: &mut ConvertContext<'_, '_>, lower: Lower, tells: bool) -> Result<Vec<NewValue>> {
    let (standard, before) = (cx.conversion.source.standard, cx.conversion.report.notes.len());
    let known = |input: usize| {
        cx.has(input).then(|| Known::of_held(cx.fact(input), cx.held(input), cx.is_constant(input)))
    };
    let known: Vec<_> = (0..cx.attributes.form().count_of(cx.count())).map(known).collect();
    let output = |(output, id): (usize, &Option<ValueId>)| {
        let fact = cx.scope.fact((*id)?).as_tensor();
        let dims = fact.and_then(|fact| fact.dims.as_ref());
        cx.wants(output)
            .then(|| Wanted { dims: dims.map(|dims| dims.iter().map(|dim| dim.known()).collect()) })
    };
    let outputs: Vec<_> = cx.node.outputs.iter().enumerate().map(output).collect();
    let task = if tells { "" } else { "cannot convert: " };
    let goal = Goal { task, opset: cx.target.opset, limits: cx.conversion.limits, outputs };
    let mut written = lowering::write(standard, cx.node, &known, lower, &goal)?;
    written.noted_by_operators |= tells;
    let graph = &written.graph;
    let widens = |node: &Node| &*node.operator.name == "Cast" && cast_to(node) == Some(DType::F64);
    if tells && standard == Standard::Onnx && graph.nodes().iter().any(widens) {
        cx.rounding(caveats::WIDE);
    }
    let wanted: Vec<_> =
        graph.outputs().iter().enumerate().map(|(output, &id)| cx.wants(output).then_some(id)).collect();
    let nodes = needed_by(graph, wanted.iter().flatten().copied().collect());
    let mut read: HashSet<_> = wanted.iter().flatten().copied().collect();
    read.extend(nodes.into_iter().flat_map(|node| graph.nodes()[node].needs()));
    let mut inputs = vec![NONE; graph.inputs().len()];
    for ((input, id), taken) in graph.inputs().iter().enumerate().zip(complex::taken(graph)) {
        if !taken && cx.fact(input).dtype().is_some_and(DType::is_complex) {
            let (to, operator) = (cx.conversion.to, &cx.node.operator);
            return Err(cannot(format!("{to} has no equivalent of {operator} of complex numbers")));
        }
        if read.contains(id) {
            inputs[input] = cx.input(input)?;
        }
    }
    let facts = facts(cx).into_iter().map(Option::unwrap_or_default).collect();
    let outputs = noted_graph(cx, &written, &inputs, &wanted, facts)?;
    // The row knows of what the operators of the graph do not tell.
    if written.noted_by_operators
        && cx.conversion.report.notes.len() == before
        && let Some(row) = registry::row_of(standard, cx.node)
        && has_floats(cx, row)
    {
        note_rounding(cx, row.rounding.of_node(cx.node));
    }
    Ok(outputs)
}

/// Writes a graph whose function has noted what is not kept, and gives what its outputs become.
pub fn noted_graph(
    cx: &mut ConvertContext<'_, '_>,
    Written { graph, notes, noted_by_operators }: &Written,
    inputs: &[NewValue],
    wanted: &[Option<ValueId>],
    facts: Vec<Fact>,
) -> Result<Vec<NewValue>> {
    for (exactness, why) in notes {
        cx.note(*exactness, why);
    }
    let (mut values, mut types) = (HashMap::new(), ValueTypes::new());
    for (((&id, &value), fact), taken) in
        graph.inputs().iter().zip(inputs).zip(&facts).zip(complex::taken(graph))
    {
        let dtype = fact.dtype().and_then(|dtype| if taken { complex::part_of(dtype) } else { Some(dtype) });
        types.insert(id, RoundedType { dtype, roundings: 0 });
        if value != NONE {
            values.insert(id, value);
        }
    }
    let before = std::mem::replace(&mut cx.is_noted, !noted_by_operators);
    let outputs = written(cx, graph, wanted, &mut values, &mut types, Some(facts));
    cx.is_noted = before;
    outputs
}

/// Returns true if a node reads or gives floats.
fn has_floats(cx: &ConvertContext<'_, '_>, row: &Row) -> bool {
    let gives = |id: &ValueId| cx.scope.fact(*id).dtype().is_some_and(|dtype| !dtype.is_integer());
    let reads = (0..cx.count()).any(|input| cx.has(input) && cx.is_float(input));
    row.rounding != Rounding::Lowered && (reads || cx.node.outputs.iter().flatten().any(gives))
}

/// A value of a graph that is written.
#[derive(Clone, Copy)]
struct RoundedType {
    dtype: Option<DType>,
    /// Operations that round the same elements, one after another, before the value.
    roundings: usize,
}

impl RoundedType {
    /// Returns true if it may hold floats.
    fn is_float(self) -> bool {
        self.dtype.is_none_or(|dtype| dtype.is_float() || dtype.is_complex())
    }
}

type ValueTypes = HashMap<ValueId, RoundedType>;

/// Writes the nodes of a graph of ONNX operators that the wanted values need; gives what these
/// become.
fn written(
    cx: &mut ConvertContext<'_, '_>,
    graph: &Graph,
    wanted: &[Option<ValueId>],
    values: &mut HashMap<ValueId, NewValue>,
    types: &mut ValueTypes,
    inputs: Option<Vec<Fact>>,
) -> Result<Vec<NewValue>> {
    let (standard, outer) = (cx.conversion.source.standard, cx.operands.take());
    let is_older = |node: &Node| older::is_older(cx.target, &node.operator.name);
    let facts = inputs.filter(|_| graph.nodes().iter().any(is_older));
    let facts = facts.map(|inputs| facts_of_lowered(&mut cx.conversion.symbols, graph, inputs));
    for (id, constant) in graph.constants() {
        let value = cx.constant(constant.tensor()?);
        values.insert(*id, value);
        types.insert(*id, RoundedType { dtype: Some(constant.dtype()), roundings: 0 });
    }
    for index in needed_by(graph, wanted.iter().flatten().copied().collect()) {
        let node = &graph.nodes()[index];
        let inputs: Vec<_> =
            node.inputs.iter().map(|id| id.and_then(|id| values.get(&id).copied()).unwrap_or(NONE)).collect();
        let name = &*node.operator.name;
        // Equal parts, whose number older operator sets are not told.
        let counts = cx.target.signature("Split").is_none_or(|split| split.has_attribute("num_outputs"));
        let mut attributes = Vec::with_capacity(node.attributes.len());
        for attribute in &node.attributes {
            let content = match &attribute.content {
                _ if !counts && name == "Split" && &*attribute.name == "num_outputs" => continue,
                Content::Graph(inner) => nested(cx, inner, node, values, types)?,
                content => content.clone(),
            };
            attributes.push((&*attribute.name, content));
        }
        if !node.operator.domain.is_empty() {
            return Err(cannot(format!("{standard} has no equivalent of operator {}", node.operator)));
        }
        let given: Vec<_> = node.inputs.iter().map(|id| types.get(&(*id)?).copied()).collect();
        let roundings = if cx.is_noted { 0 } else { note(cx, node, &given) };
        for (number, id) in node.outputs.iter().enumerate() {
            let dtype = result_type(node, number, types);
            types.extend(id.map(|id| (id, RoundedType { dtype, roundings })));
        }
        let operand = |(id, typed): (&Option<ValueId>, &Option<RoundedType>)| match (id, &facts) {
            (Some(id), Some(facts)) => facts[id.index()].clone(),
            _ => Fact::tensor_type(typed.and_then(|typed| typed.dtype)),
        };
        cx.operands = Some(node.inputs.iter().zip(&given).map(operand).collect());
        let outputs = cx.put_many(name, &inputs, &attributes, node.outputs.len())?;
        for (id, value) in node.outputs.iter().zip(outputs) {
            if let Some(id) = id {
                values.insert(*id, value);
            }
        }
    }
    cx.operands = outer;
    let found = |id: &Option<ValueId>| match id {
        Some(id) => values.get(id).copied().ok_or_else(|| errors::missing("value of an output")),
        None => Ok(NONE),
    };
    wanted.iter().map(found).collect()
}

/// Writes a graph within a node, whose inputs are tensors of the types of the node's.
fn nested(
    cx: &mut ConvertContext<'_, '_>,
    graph: &Graph,
    node: &Node,
    around: &HashMap<ValueId, NewValue>,
    types_around: &ValueTypes,
) -> Result<Content> {
    let (mut values, mut types) = (HashMap::new(), ValueTypes::new());
    let mut target = GraphWriter::new(cx.target.standard, cx.target.opset);
    let since = target.mark();
    let like = cx.node.operator.name.clone();
    for (number, (&id, of)) in graph.inputs().iter().zip(node.inputs.iter().flatten()).enumerate() {
        // Values that a loop carries are rounded in each of its iterations.
        let outer = types_around.get(of);
        let (dtype, roundings) = outer.map_or((None, 1), |outer| (outer.dtype, outer.roundings + 1));
        let name = cx.conversion.names.fresh(&like);
        // ONNX Runtime wants the shape of the number of the iteration and of the condition.
        let scalar = &*node.operator.name == "Loop" && number < 2;
        values.insert(id, target.input(name, Some(Type::Tensor(dtype, scalar.then(Vec::new)))));
        types.insert(id, RoundedType { dtype, roundings });
    }
    for capture in graph.captures() {
        let value = around.get(&capture.outer).copied();
        let value = value.ok_or_else(|| errors::missing("value that a graph reads"))?;
        let inner = if let Some(constant) = cx.target.known(value)? {
            target.tensor(constant)
        } else {
            if cx.target.is_nameless(value) {
                cx.target.name(value, cx.conversion.names.fresh(&like));
            }
            target.captured(cx.target.name_of(value).cloned().unwrap_or_default())
        };
        values.insert(capture.inner, inner);
        types.extend(types_around.get(&capture.outer).map(|outer| (capture.inner, *outer)));
    }
    let around = std::mem::replace(cx.target, target);
    let wanted: Vec<_> = graph.outputs().iter().copied().map(Some).collect();
    let outputs = written(cx, graph, &wanted, &mut values, &mut types, None);
    let mut target = std::mem::replace(cx.target, around);
    for output in outputs? {
        let output = if target.is_computed(output) { output } else { target.copy(output, None)? };
        target.declared_output(output, None);
    }
    target.name_since(since, &like, &mut cx.conversion.names);
    Ok(Content::Graph(Arc::new(target.finish(graph.name(), true)?)))
}

/// The element type that a Cast gives.
fn cast_to(node: &Node) -> Option<DType> {
    match node.attribute("to") {
        Some(Content::Int(to)) => gradus_formats::onnx::dtype_of(*to),
        _ => None,
    }
}

/// The element type of an output of a node of ONNX, if it is known.
fn result_type(node: &Node, output: usize, types: &ValueTypes) -> Option<DType> {
    let input = |index: usize| types.get(&node.inputs.get(index).copied().flatten()?)?.dtype;
    match &*node.operator.name {
        // The number of iterations and the condition come before what is carried.
        "Loop" => return input(output + 2),
        "Cast" => return cast_to(node),
        "ConstantOfShape" => {
            return match node.attribute("value") {
                Some(Content::Tensor(value)) => Some(value.dtype()),
                _ => Some(DType::F32),
            };
        }
        "DequantizeLinear" => return input(1),
        "If" => return None,
        _ => {}
    }
    let signature = registry::row_of(Standard::Onnx, node)?.signatures().last()?;
    let own = Signature::param(signature.outputs, output)?;
    let mut types = own.types.tensor.iter();
    if let (Some(only), None) = (types.next(), types.next()) {
        return Some(only);
    }
    let is_same = |index: &usize| {
        Signature::param(signature.inputs, *index).is_some_and(|given| given.variable == own.variable)
    };
    let tied = (0..node.inputs.len()).find(is_same).filter(|_| !own.variable.is_empty());
    input(tied.unwrap_or(0))
}

/// Notes what an operator of ONNX leaves open, for floats; gives the number of operations that
/// round, one after another, up to its results.
fn note(cx: &mut ConvertContext<'_, '_>, node: &Node, given: &[Option<RoundedType>]) -> usize {
    let (name, own) = (&*node.operator.name, &*cx.node.operator.name);
    let before = given.iter().flatten().map(|typed| typed.roundings).max().unwrap_or(0);
    if own == "ConvInteger" && name == "Conv" {
        cx.edges(caveats::INTEGER_SUMS);
        return before;
    }
    if own == "Col2Im" && name == "ConvTranspose" {
        cx.edges("infinite elements and NaN make the sums of other places NaN");
    }
    if name == "ArgMax" && &*cx.node.operator.name == "Hardmax" && cx.may_be_empty(0) {
        cx.edges(caveats::NOTHING);
    }
    if own == "squeeze" && cx.dims(0).is_none_or(|dims| dims.contains(&None)) {
        cx.edges("axes of unknown size are assumed to have size 1");
    }
    let Some(row) = registry::row_of(Standard::Onnx, node) else { return before };
    if row.chance == Chance::Yes {
        cx.edges(caveats::DRAWN);
        return before;
    }
    let Some(float) = given.iter().flatten().find(|typed| typed.is_float()) else {
        if name == "Pow" {
            cx.edges(caveats::POWER);
        }
        return before;
    };
    match row.rounding.of_node(node) {
        Rounding::Ieee if name == "Cast" => {
            if cast_to(node).is_some_and(DType::is_integer) {
                cx.edges(caveats::CAST);
            }
            before
        }
        Rounding::Ieee => {
            if before > 0 {
                cx.rounding(caveats::STEPS);
            }
            let is_short = float.dtype.is_none_or(|dtype| dtype.bits() < 32);
            if is_short && row.has_float_attributes() {
                cx.rounding(caveats::FUNCTION);
            }
            before + 1
        }
        // Programs give the sign of NaN, or NaN.
        Rounding::Exact if name == "Sign" => {
            cx.edges(caveats::NAN);
            before
        }
        Rounding::Open if name == "Mod" => {
            cx.rounding(caveats::REMAINDER);
            before + 1
        }
        Rounding::Open if name == "Range" => {
            cx.rounding(caveats::RANGE);
            before + 1
        }
        rounding => {
            note_rounding(cx, rounding);
            before + usize::from(!rounding.is_exact())
        }
    }
}

/// Notes what an operator of such a rounding leaves open, for floats.
pub fn note_rounding(cx: &mut ConvertContext<'_, '_>, rounding: Rounding) {
    match rounding {
        Rounding::Moved | Rounding::Exact | Rounding::Ieee | Rounding::Quantized => {}
        Rounding::Chosen => cx.edges(caveats::NAN),
        Rounding::Interpolated | Rounding::Formula | Rounding::Lowered => cx.rounding(caveats::FUNCTION),
        Rounding::Order => cx.rounding(caveats::ORDER),
        Rounding::Open => cx.rounding(caveats::OPEN),
    }
}
