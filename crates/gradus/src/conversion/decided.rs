//! Conditional nodes whose condition is known: the branch that runs takes their place.
//!
//! OpenVINO checks the shapes of both branches when it reads a model, also of one that never runs.

use gradus_core::element::Bool;
use gradus_core::graph::{Content, Graph, Node, ValueId};
use gradus_core::{Error, Kind, Result};

use super::scope::{ConversionState, SourceGraph};
use super::writer::GraphWriter;
use crate::operators::registry;
use crate::operators::row::Role;

/// Writes the nodes of the branch that always runs, and true; false if that is not known.
pub(super) fn inlined<'m>(
    scope: &mut SourceGraph<'m>,
    conversion: &mut ConversionState<'m>,
    target: &mut GraphWriter,
    (node, index): (&'m Node, usize),
) -> Result<bool> {
    let is_if = registry::row_of(conversion.source.standard, node).is_some_and(|row| row.role == Role::If);
    let Some(graph) = chosen(scope, node).filter(|_| is_if) else { return Ok(false) };
    let number = node.graph_number(graph).unwrap_or(0);
    let mut branch = scope.inner(conversion, graph, node, index, number);
    for capture in graph.captures() {
        if branch.constant(capture.inner).is_some() {
            continue;
        }
        match scope.items(capture.outer).cloned() {
            Some(items) => branch.set_items(capture.inner, items),
            None => branch.set(capture.inner, scope.value(target, conversion, capture.outer)?),
        }
    }
    branch.convert(conversion, target)?;
    for (slot, id) in node.outputs.iter().enumerate() {
        let Some(id) = id.filter(|&id| scope.is_needed(id)) else { continue };
        let inner = *graph.outputs().get(slot).ok_or_else(|| {
            let what = format_args!("cannot convert \"{}\": number of outputs of the branch", node.name);
            Error::mismatch(Kind::Graph, what, graph.outputs().len(), node.outputs.len())
        })?;
        if let Some(items) = branch.items(inner).cloned() {
            scope.set_items(id, items);
            continue;
        }
        let mut value = branch.value(target, conversion, inner)?;
        if is_kept(scope, conversion, id) {
            let before = target.mark();
            value = target.copy(value, scope.fact(id).dtype())?;
            target.name(value, scope.name_for(conversion, id));
            target.name_since(before, &node.name, &mut conversion.names);
        }
        scope.set(id, value);
    }
    Ok(true)
}

/// Returns true if a value has a name that is kept.
fn is_kept(scope: &SourceGraph<'_>, conversion: &ConversionState<'_>, id: ValueId) -> bool {
    scope.place.is_empty() && conversion.kept.contains_key(&id)
}

/// The branch that always runs, if that is known.
fn chosen<'m>(scope: &SourceGraph<'_>, node: &'m Node) -> Option<&'m Graph> {
    let condition = node.inputs.first().copied().flatten()?;
    let held = scope.constant(condition).and_then(|constant| constant.tensor().ok());
    let tensor = held.or_else(|| scope.fact(condition).as_tensor()?.tensor())?;
    let [holds] = tensor.elements::<Bool>().ok()?[..] else { return None };
    match node.attribute(if holds.is_true() { "then_branch" } else { "else_branch" }) {
        Some(Content::Graph(graph)) => Some(graph),
        _ => None,
    }
}
