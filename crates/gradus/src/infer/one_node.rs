//! Inference of one node that is about to run.

use std::rc::Rc;

use gradus_core::graph::{Attribute, Builder, Graph, Node, Origin, Standard};
use gradus_core::{Result, Value};

use super::InferOptions;
use super::pass::Pass;
use crate::fact::Fact;
use crate::op::BuildContext;

/// A node alone: the rule of its operator says what the outputs will be.
#[derive(Debug)]
pub(crate) struct OneNode {
    standard: Standard,
    graph: Graph,
}

impl OneNode {
    /// The node of an operator that is built.
    pub(crate) fn new(cx: &BuildContext<'_>) -> Result<OneNode> {
        OneNode::with(cx.compiler.standard(), cx.node, cx.attributes.owned())
    }

    /// A node of a graph that is no body of a function.
    pub(crate) fn of(standard: Standard, node: &Node) -> Result<OneNode> {
        OneNode::with(standard, node, node.attributes.clone())
    }

    fn with(standard: Standard, node: &Node, attributes: Vec<Attribute>) -> Result<OneNode> {
        let mut builder = Builder::new("one node");
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for (index, input) in node.inputs.iter().enumerate() {
            let id = input.map(|_| builder.define(&index.to_string(), Origin::Input)).transpose()?;
            inputs.push(id);
        }
        let outputs = node.outputs.iter().map(|_| None).collect();
        builder.push(Node { inputs: inputs.into(), outputs, attributes, ..node.clone() }, &[])?;
        Ok(OneNode { standard, graph: builder.finish()? })
    }

    /// Facts about the outputs on these inputs; none if the rule does not know them.
    ///
    /// # Errors
    /// Whatever the rule finds wrong.
    pub(crate) fn facts(&self, inputs: &[Option<&Value>]) -> Result<Vec<Fact>> {
        let mut pass = Pass::new(self.standard, &[], &InferOptions::default());
        let facts = inputs.iter().copied().flatten().map(Fact::of).collect();
        let mut frame = pass.frame(&self.graph, facts, Rc::default(), "".into());
        pass.only_node(&mut frame)
    }
}
