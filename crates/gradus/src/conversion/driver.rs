//! Conversion of the nodes of a graph, in order, each by the row of its operator.

use gradus_core::graph::{Node, Standard, ValueId};
use gradus_core::{DType, Error, Kind, Result};
use gradus_engine::conversion::Writer;

use super::OLDEST_OPSET;
use super::caveats;
use super::decided;
use super::lowered::{graph_of, of_function};
use super::node::ConvertContext;
use super::opset::{foreign, same};
use super::report::{Obstacle, cannot};
use super::scope::{ConversionState, SourceGraph};
use super::writer::GraphWriter;
use crate::operators::{self, registry};

/// Converts all nodes that something needs. One that has no equivalent is noted, and the others go
/// on.
pub(super) fn convert<'m>(
    scope: &mut SourceGraph<'m>,
    conversion: &mut ConversionState<'m>,
    target: &mut GraphWriter,
) -> Result<()> {
    let (graph, main) = (scope.graph, scope.place.is_empty());
    for index in scope.needed_nodes() {
        let node = &graph.nodes()[index];
        let known = conversion.obstacles.len();
        let converted = convert_node(scope, conversion, target, node, index);
        if main {
            conversion.origins.resize(target.nodes(), index);
        }
        let Err(error) = converted else { continue };
        // A subgraph that has an obstacle lacks values.
        if conversion.obstacles.len() > known && error.kind() != Kind::Limit {
            scope.stand_in(conversion, target, node);
            continue;
        }
        let operator = conversion.operator_of(node);
        let error = error.in_node(format!("{} ({operator})", node.label(index)));
        let error = match node.position {
            Some(position) if main => error.at(position),
            _ => error,
        };
        if error.kind() != Kind::Unsupported {
            return Err(error);
        }
        scope.stand_in(conversion, target, node);
        conversion.obstacles.push(Obstacle { operator, error: scope.enclosed(error) });
    }
    Ok(())
}

fn convert_node<'m>(
    scope: &mut SourceGraph<'m>,
    conversion: &mut ConversionState<'m>,
    target: &mut GraphWriter,
    node: &'m Node,
    index: usize,
) -> Result<()> {
    conversion.limits.check()?;
    conversion.report.nodes += 1;
    conversion.check_valid(&scope.place, index)?;
    let to_openvino = conversion.to == Standard::OpenVino || conversion.lowers;
    if to_openvino && decided::inlined(scope, conversion, target, (node, index))? {
        return Ok(());
    }
    let write = match writer_of(conversion, target, node) {
        Err(_) if scope.fix_known(node) => {
            let row = registry::row_of(conversion.source.standard, node);
            let is_float = |&id: &ValueId| scope.fact(id).dtype().is_some_and(DType::is_float);
            if row.is_none_or(|row| !row.is_exact(node)) && node.outputs.iter().flatten().any(is_float) {
                ConvertContext::new(conversion, scope, target, node, index)?.rounding(caveats::FUNCTION);
            }
            return Ok(());
        }
        found => found?,
    };
    if to_openvino && node.graphs().next().is_none() && scope.fix_empty(node) {
        return Ok(());
    }
    let before = target.mark();
    let mut cx = ConvertContext::new(conversion, scope, target, node, index)?;
    let outputs = match write {
        Writer::Context(write) => write(&mut cx)?,
        Writer::Graph(lower) => of_function(&mut cx, lower, false)?,
    };
    conversion.count_written(target.values_since(before))?;
    let is_open = |id: ValueId| scope.fact(id).as_tensor().is_some_and(|fact| fact.rank().is_none());
    let written = node.outputs.iter().flatten().copied().filter(|&id| scope.is_needed(id));
    if conversion.to == Standard::OpenVino && node.needs().chain(written).any(is_open) {
        ConvertContext::new(conversion, scope, target, node, index)?.edges(caveats::RANK);
    }
    if conversion.to == Standard::OpenVino && conversion.bodies.fails(&scope.place, index) {
        ConvertContext::new(conversion, scope, target, node, index)?.edges(caveats::FAILING);
    }
    let first = node.outputs.iter().flatten().next().map(|id| scope.graph.value(*id).name.clone());
    for (slot, id) in node.outputs.iter().enumerate() {
        let Some(id) = id.filter(|&id| scope.is_needed(id) && scope.items(id).is_none()) else { continue };
        let Some(&output) = outputs.get(slot) else {
            return Err(cannot(format!("{} has no equivalent of output {slot}", conversion.to)));
        };
        let fresh = target.is_nameless(output);
        let output = if fresh { output } else { target.copy(output, scope.facts[id.index()].dtype())? };
        target.name(output, scope.name_for(conversion, id));
        scope.set(id, output);
    }
    let like = if node.name.is_empty() { first.as_deref().unwrap_or_default() } else { &node.name };
    target.name_since(before, like, &mut conversion.names);
    Ok(())
}

/// The function that writes the operators that a node becomes.
fn writer_of(conversion: &ConversionState<'_>, target: &GraphWriter, node: &Node) -> Result<Writer> {
    let (from, to) = (conversion.source.standard, conversion.to);
    let refuse = |why: String| Err(Error::new(Kind::Unsupported, why));
    if from == Standard::Onnx
        && node.operator.domain.is_empty()
        && node.version.is_some_and(|version| version < OLDEST_OPSET)
    {
        return refuse(format!("cannot convert operators of sets before {OLDEST_OPSET}"));
    }
    let row = registry::row_of(from, node);
    // Sets keep the names of operators that they dropped.
    let dropped = |row: &operators::Row| {
        row.domain.is_empty() && target.signature(row.name).is_some_and(|signature| signature.deprecated)
    };
    if from == to && row.is_some_and(|row| row.is_lowered() && dropped(row)) {
        return Ok(Writer::Context(graph_of));
    }
    // Operators of ONNX that are lowered are kept where the operator set has them, unless another
    // standard is the target in the end; those of ONNX Runtime stay if it will run them.
    let stays = |row: &operators::Row| match row.domain {
        "" => !conversion.lowers && target.signature(row.name).is_some(),
        "ai.onnx.ml" if !conversion.lowers => {
            conversion.runtime.is_none_or(|runtime| runtime.runs(row.domain, row.name))
        }
        domain => conversion.runtime.is_some_and(|runtime| runtime.runs(domain, row.name)),
    };
    if from == to && row.is_none_or(|row| !row.becomes_onnx() || stays(row)) {
        return Ok(Writer::Context(if node.operator.domain.is_empty() { same } else { foreign }));
    }
    if let (Some(row), Some(_)) = (row, node.version)
        && row.states_inputs()
        && !row.signatures().is_empty()
    {
        registry::signature(row, node)?.check_present(&node.inputs)?;
    }
    let write = row.and_then(|row| match &row.conversion {
        Some(conversion) => Some(conversion.write),
        None => row.lower.map(|_| Writer::Context(graph_of)),
    });
    let lack = row.and_then(|row| row.lack).map(|lack| format!(": {to} has no {lack}")).unwrap_or_default();
    match write {
        Some(write) => Ok(write),
        None => refuse(format!("cannot convert operator {} from {from} to {to}{lack}", node.operator)),
    }
}
