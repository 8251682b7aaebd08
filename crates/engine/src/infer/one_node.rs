//! Inference of one node that is about to run.

use std::rc::Rc;

use gradus_core::graph::{self, Attribute, Builder, Graph, Node, Standard};
use gradus_core::{Limits, Result, Value};

use super::InferOptions;
use super::pass::Pass;
use crate::dim::{Bounds, Dim, Origin};
use crate::fact::{Elements, Fact, TensorFact};
use crate::op::BuildContext;

/// A node alone: the rule of its operator says what the outputs will be.
#[derive(Debug)]
pub struct OneNode {
    standard: Standard,
    graph: Graph,
}

impl OneNode {
    /// The node of an operator that is built.
    pub fn new(cx: &BuildContext<'_>) -> Result<OneNode> {
        OneNode::with(cx.compiler.standard(), cx.node, cx.attributes.owned())
    }

    /// A node of a graph that is no body of a function.
    pub fn of(standard: Standard, node: &Node) -> Result<OneNode> {
        OneNode::with(standard, node, node.attributes.clone())
    }

    fn with(standard: Standard, node: &Node, attributes: Vec<Attribute>) -> Result<OneNode> {
        let mut builder = Builder::new("one node");
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for (index, input) in node.inputs.iter().enumerate() {
            let id = input.map(|_| builder.define(&index.to_string(), graph::Origin::Input)).transpose()?;
            inputs.push(id);
        }
        let outputs = node.outputs.iter().map(|_| None).collect();
        builder.push(Node { inputs: inputs.into(), outputs, attributes, ..node.clone() }, &[])?;
        Ok(OneNode { standard, graph: builder.finish()? })
    }

    /// Facts about the outputs on these inputs, whose types the operator takes if they are typed;
    /// none if the rule does not know them.
    ///
    /// # Errors
    /// Whatever the rule finds wrong.
    pub fn facts(&self, inputs: &[Option<&Value>], limits: Limits, typed: bool) -> Result<Vec<Fact>> {
        let options = InferOptions { limits: Some(limits), ..InferOptions::default() };
        let mut pass = Pass::new(self.standard, &[], &options);
        pass.typed = typed;
        let facts = inputs.iter().copied().flatten().map(Fact::of).collect();
        let mut frame = pass.frame(&self.graph, facts, Rc::default(), "".into());
        pass.only_node(&mut frame)
    }

    /// Facts about the outputs on inputs with these facts, of which those of unknown rank have this
    /// one; sizes that are not known are 1, or stay unknown.
    fn facts_of_rank(
        &self,
        inputs: &[&Fact],
        rank: usize,
        ones: bool,
        options: &InferOptions,
    ) -> Result<Vec<Fact>> {
        let mut pass = Pass::new(self.standard, &[], options);
        let symbols = &mut pass.shared.symbols;
        let mut of_rank = |fact: &&Fact| {
            let tensor = fact.as_tensor().cloned().unwrap_or_default();
            let mut size = |dim: Option<Dim>| match dim {
                Some(Dim::Known(size)) => Dim::Known(size),
                _ if ones => Dim::ONE,
                _ => symbols.fresh("size", Origin::Input, Bounds::SIZE),
            };
            let dims: Vec<_> = match &tensor.dims {
                Some(dims) => dims.iter().map(|&dim| size(Some(dim))).collect(),
                None => (0..rank).map(|_| size(None)).collect(),
            };
            let elements = match tensor.elements {
                known @ Elements::Known(_) => known,
                _ => Elements::Unknown,
            };
            Fact::Tensor(TensorFact { dtype: tensor.dtype, dims: Some(dims.into()), elements })
        };
        let facts = inputs.iter().map(&mut of_rank).collect();
        let mut frame = pass.frame(&self.graph, facts, Rc::default(), "".into());
        pass.only_node(&mut frame)
    }
}

/// Ranks that stand for one that is not known.
const RANKS: [usize; 5] = [4, 3, 2, 1, 5];

/// The element types of a node's outputs where the rule does not get to them, as an input has no
/// known rank, or no known sizes: they are those of any rank.
pub fn types_of_any_rank(standard: Standard, node: &Node, inputs: &[&Fact], limits: Limits) -> Vec<Fact> {
    let Ok(alone) = OneNode::of(standard, node) else { return Vec::new() };
    let options = InferOptions { limits: Some(limits), ..InferOptions::default() };
    let of_rank = |rank, ones| alone.facts_of_rank(inputs, rank, ones, &options).ok();
    let facts = [false, true].into_iter().find_map(|ones| {
        RANKS.iter().find_map(|&rank| of_rank(rank, ones).filter(|facts| !facts.is_empty()))
    });
    facts.unwrap_or_default().iter().map(|fact| Fact::tensor_type(fact.dtype())).collect()
}
