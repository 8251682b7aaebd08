//! Conversion of the nodes of a graph, in order, each by the row of its operator.

use std::collections::HashSet;

use gradus_core::graph::{self, Node, Standard, ValueId};
use gradus_core::{Error, Kind, Result};

use super::OLDEST_OPSET;
use super::node::{ConvertContext, ConvertRule};
use super::opset::same;
use super::report::cannot;
use super::scope::{ConversionState, SourceGraph};
use super::writer::GraphWriter;
use crate::dialects::paddle::convert::graph_of;
use crate::operators;

/// Converts all nodes that something needs.
pub(super) fn convert<'m>(
    scope: &mut SourceGraph<'m>,
    conversion: &mut ConversionState<'m>,
    target: &mut GraphWriter,
) -> Result<()> {
    let graph = scope.graph;
    let mut needed: HashSet<ValueId> = graph.outputs().iter().copied().collect();
    let mut order = Vec::new();
    for &index in graph.order().iter().rev() {
        let node = &graph.nodes()[index];
        if node.outputs.iter().flatten().any(|id| needed.contains(id)) {
            needed.extend(node.needs());
            order.push(index);
        }
    }
    let main = scope.place.is_empty();
    for &index in order.iter().rev() {
        let node = &graph.nodes()[index];
        convert_node(scope, conversion, target, node, index).map_err(|error| {
            let label = format!("{} ({})", node.label(index), conversion.operator_of(node));
            let error = error.in_node(label);
            match node.position {
                Some(position) if main => error.at(position),
                _ => error,
            }
        })?;
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
    let write = writer_of(conversion.source, conversion.to, node)?;
    conversion.report.nodes += 1;
    let before = target.mark();
    let outputs = write(&mut ConvertContext::new(conversion, scope, target, node, index)?)?;
    let first = node.outputs.iter().flatten().next().map(|id| scope.graph.value(*id).name.clone());
    for (slot, id) in node.outputs.iter().enumerate() {
        let Some(id) = *id else { continue };
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
fn writer_of(source: &graph::Model, to: Standard, node: &Node) -> Result<ConvertRule> {
    let from = source.standard;
    let refuse = |why: String| Err(Error::new(Kind::Unsupported, why));
    if source.functions.iter().any(|function| function.id == node.operator) {
        return refuse("cannot convert calls of model functions".to_owned());
    }
    if from == Standard::Onnx
        && node.operator.domain.is_empty()
        && node.version.is_some_and(|version| version < OLDEST_OPSET)
    {
        return refuse(format!("cannot convert operators of sets before {OLDEST_OPSET}"));
    }
    if from == to {
        return if node.operator.domain.is_empty() {
            Ok(same)
        } else {
            refuse(format!("cannot convert operator {}: it is not of ONNX's own operator set", node.operator))
        };
    }
    let row = operators::row_of(from, node);
    let write = row.and_then(|row| match &row.conversion {
        Some(conversion) => Some(conversion.write),
        None => row.lower.map(|_| -> ConvertRule { graph_of }),
    });
    match write {
        Some(write) => Ok(write),
        None => refuse(format!("cannot convert operator {} from {from} to {to}", node.operator)),
    }
}
