//! Graphs within a node, converted with the same rules.

use std::collections::HashSet;
use std::sync::Arc;

use gradus_core::graph::{Content, Standard, Type, ValueId};
use gradus_core::{DType, Result};

use super::node::ConvertContext;
use super::report::cannot;
use super::scope::SourceGraph;
use super::types::declared;
use super::writer::GraphWriter;

/// A graph of the node, which sees what is around it in both standards. The first inputs have these
/// names and types.
pub fn nested(cx: &mut ConvertContext<'_, '_>, name: &str, lead: &[(&str, DType)]) -> Result<Content> {
    let (_, inner, number) = cx.graph(name)?;
    let mut scope = cx.scope.inner(cx.conversion, inner, cx.node, cx.index, number);
    let mut target = GraphWriter::new(cx.target.standard, cx.target.opset);
    for (place, &id) in inner.inputs().iter().enumerate() {
        let declared = match lead.get(place) {
            Some(&(_, dtype)) => Some(Type::Tensor(Some(dtype), Some(Vec::new()))),
            None => declared_in(cx, &scope, id),
        };
        let like = lead.get(place).map_or(&*inner.value(id).name, |(name, _)| name);
        let name = cx.conversion.names.fresh(like);
        let value = target.input(name, declared);
        scope.set(id, value);
    }
    for capture in inner.captures() {
        if scope.constant(capture.inner).is_none() {
            let value = cx.scope.value(cx.target, cx.conversion, capture.outer)?;
            let name = cx.target.name_of(value).cloned();
            let name =
                name.ok_or_else(|| cannot("cannot convert: a value that the graph reads has no name"))?;
            let value = target.captured(name);
            scope.set(capture.inner, value);
        }
    }
    scope.convert(cx.conversion, &mut target)?;
    let mut given = HashSet::new();
    for &id in inner.outputs() {
        let mut value = scope.value(&mut target, cx.conversion, id)?;
        if given.contains(&value) || !target.is_computed(value) {
            let since = target.mark();
            value = target.copy(value, scope.fact(id).dtype())?;
            target.name_since(since, "copy", &mut cx.conversion.names);
        }
        given.insert(value);
        target.declared_output(value, declared_in(cx, &scope, id));
    }
    Ok(Content::Graph(Arc::new(target.finish(inner.name(), true)?)))
}

/// The type of a tensor whose element type is known: a runtime finds a type itself, but takes none
/// without an element type. Sizes are those that an ONNX graph declares, which concatenated outputs
/// of no iteration have in ONNX Runtime, or else those that are known.
fn declared_in(cx: &ConvertContext<'_, '_>, scope: &SourceGraph<'_>, id: ValueId) -> Option<Type> {
    let Type::Tensor(dtype @ Some(_), mut sizes) = declared(scope.fact(id))? else { return None };
    if cx.conversion.source.standard == Standard::Onnx {
        match &scope.graph.value(id).declared {
            Some(Type::Tensor(_, Some(own))) => sizes = Some(own.clone()),
            _ if &*cx.node.operator.name == "Loop" => sizes = None,
            _ => {}
        }
    }
    Some(Type::Tensor(dtype, sizes))
}
