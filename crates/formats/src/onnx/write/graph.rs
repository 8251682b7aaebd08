//! Graphs that were made in memory, as messages.

use gradus_core::graph::{Constant, Graph, Node, OperatorId, ValueId};
use gradus_core::{Error, Result};

use super::encode::{
    self, DataFile, attribute, bytes, is_long, message, tensor, tensor_beside, text, value_info,
};
use crate::Splice;
use crate::onnx::fields::{graph_proto, node_proto};

/// `GraphProto`; long constants go to a file next to it, if there is one.
///
/// # Errors
/// Errors of a constant that must be read first.
pub(super) fn graph(out: &mut Splice, graph: &Graph, mut beside: Option<&mut DataFile<'_>>) -> Result<()> {
    for content in graph.order().iter().filter_map(|&index| graph.nodes().get(index)) {
        out.message_of(graph_proto::NODE, |out| node(out, graph, content))?;
    }
    out.write(|out| text(out, graph_proto::NAME, graph.name()));
    for (id, content) in graph.constants() {
        out.message_of(graph_proto::INITIALIZER, |out| {
            let (name, tensor) = (&*graph.value(*id).name, content.tensor()?);
            match &mut beside {
                Some(file) if is_long(&tensor) => tensor_beside(out, name, &tensor, file),
                _ => encode::tensor(out, name, &tensor),
            }
            Ok::<_, Error>(())
        })?;
    }
    let inner = |id: &ValueId| {
        let info = graph.value(*id);
        info.origin.is_node() && info.declared.is_some() && !graph.outputs().contains(id)
    };
    out.write(|out| {
        let mut declare = |number: u32, id: ValueId| {
            let info = graph.value(id);
            message(out, number, |out| value_info(out, &info.name, info.declared.as_ref()));
        };
        graph.inputs().iter().for_each(|&id| declare(graph_proto::INPUT, id));
        graph.outputs().iter().for_each(|&id| declare(graph_proto::OUTPUT, id));
        graph.ids().filter(inner).for_each(|id| declare(graph_proto::VALUE_INFO, id));
    });
    Ok(())
}

/// `TensorProto` of a constant, which is read.
pub(super) fn constant(out: &mut Splice, name: &str, constant: &Constant) -> Result<()> {
    tensor(out, name, &constant.tensor()?);
    Ok(())
}

/// `NodeProto`.
///
/// # Errors
/// Errors of a constant that must be read first.
pub(super) fn node(out: &mut Splice, graph: &Graph, node: &Node) -> Result<()> {
    let OperatorId { domain, name, overload } = &node.operator;
    out.write(|out| {
        let name_of = |id: &Option<ValueId>| id.map_or("", |id| &*graph.value(id).name).as_bytes();
        node.inputs.iter().for_each(|id| bytes(out, node_proto::INPUT, name_of(id)));
        node.outputs.iter().for_each(|id| bytes(out, node_proto::OUTPUT, name_of(id)));
        text(out, node_proto::NAME, &node.name);
        text(out, node_proto::OP_TYPE, name);
    });
    for content in &node.attributes {
        out.message_of(node_proto::ATTRIBUTE, |out| attribute(out, &content.name, &content.content))?;
    }
    out.write(|out| {
        text(out, node_proto::DOMAIN, domain);
        text(out, node_proto::OVERLOAD, overload);
    });
    Ok(())
}
