//! The model that rules look at, and its facts, each computed once.

use std::collections::HashSet;

use gradus_core::graph::{Constant, Content, Graph, Needed, Node, Standard, ValueId};
use gradus_core::text::name_in_message;
use gradus_core::{Limits, Result};
use gradus_engine::infer::{InferOptions, Inference};

use super::LintOptions;
use super::constants::ScannedConstant;
use crate::constants::is_constant_node;
use crate::cost::Cost;
use crate::model::Model;
use crate::operators::{Row, row_of};

/// A model while rules look at it.
pub(super) struct Subject<'m> {
    pub(super) model: &'m Model,
    pub(super) options: &'m LintOptions,
    pub(super) limits: Limits,
    pub(super) inference: Inference,
    cost: Option<Cost>,
    scanned: Option<Vec<ScannedConstant>>,
}

impl<'m> Subject<'m> {
    /// A model, inferred.
    pub(super) fn new(model: &'m Model, options: &'m LintOptions) -> Result<Subject<'m>> {
        let inference = model.infer(&infer_options(options))?;
        let limits = options.limits.unwrap_or(model.limits());
        Ok(Subject { model, options, limits, inference, cost: None, scanned: None })
    }

    /// The options of inference.
    pub(super) fn infer_options(&self) -> InferOptions {
        infer_options(self.options)
    }

    /// The cost of the model.
    pub(super) fn cost(&mut self) -> Result<&mut Cost> {
        let cost = match self.cost.take() {
            Some(cost) => cost,
            None => self.model.cost(&self.infer_options())?,
        };
        Ok(self.cost.insert(cost))
    }

    /// The constants, with what their elements are.
    pub(super) fn scanned(&mut self) -> Result<&[ScannedConstant]> {
        let scanned = match self.scanned.take() {
            Some(scanned) => scanned,
            None => super::constants::scan(self)?,
        };
        Ok(self.scanned.insert(scanned))
    }

    /// The main graph, the graphs within nodes and the bodies of functions, each with the words
    /// that say where it is.
    pub(super) fn graphs(&self) -> Vec<(String, &'m Graph)> {
        let bodies = self.model.source().functions.iter();
        let bodies = bodies.map(|function| {
            (format!("function \"{}\", ", name_in_message(&function.id.to_string())), &function.body)
        });
        let mut open: Vec<_> = bodies.collect();
        open.push((String::new(), self.model.graph()));
        let mut found = Vec::new();
        while let Some((label, graph)) = open.pop() {
            for (index, node) in graph.nodes().iter().enumerate() {
                let inner = node.graphs().map(|inner| (format!("{label}{}, ", node.label(index)), &**inner));
                open.extend(inner);
            }
            found.push((label, graph));
        }
        found
    }

    /// The nodes of all graphs, with the words that say where each is.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (String, &'m Graph, &'m Node)> {
        self.graphs().into_iter().flat_map(|(label, graph)| {
            let nodes = graph.nodes().iter().enumerate();
            nodes.map(move |(index, node)| (place_of(&label, node, index), graph, node))
        })
    }

    /// The row of a node's operator.
    pub(super) fn row(&self, node: &Node) -> Option<&'static Row> {
        row_of(self.standard(), node)
    }

    /// The standard of the model.
    pub(super) fn standard(&self) -> Standard {
        self.model.source().standard
    }

    /// The nodes and values of a graph that its outputs and variables need.
    pub(super) fn needed(&self, graph: &Graph) -> Needed {
        let is_stateful = |node: &Node| self.row(node).is_some_and(|row| row.stateful);
        let stateful: Vec<_> = graph.nodes().iter().map(is_stateful).collect();
        let of_variables = graph.nodes().iter().zip(&stateful).filter(|(_, stateful)| **stateful);
        let mut wanted: Vec<_> = of_variables.flat_map(|(node, _)| node.needs()).collect();
        wanted.extend(graph.outputs());
        let mut needed = Needed::new(graph, &wanted, &HashSet::new());
        for (node, stateful) in needed.nodes.iter_mut().zip(stateful) {
            *node |= stateful;
        }
        needed
    }
}

fn infer_options(options: &LintOptions) -> InferOptions {
    let mut given = InferOptions::of(options.sizes.clone());
    given.limits = options.limits;
    given
}

/// The words that say where a node is.
pub(super) fn place_of(label: &str, node: &Node, index: usize) -> String {
    format!("{label}{} ({})", node.label(index), node.operator)
}

/// The words for an input.
pub(super) fn input(graph: &Graph, id: ValueId) -> String {
    format!("input \"{}\"", name_in_message(&graph.value(id).name))
}

/// The constant that an input of a node is, of the file or of a node `Constant`.
pub(super) fn constant_of<'g>(graph: &'g Graph, node: &Node, input: usize) -> Option<&'g Constant> {
    let id = node.inputs.get(input).copied().flatten()?;
    match graph.value(id).origin {
        gradus_core::graph::Origin::Constant => graph.constant(id),
        gradus_core::graph::Origin::Node(index, _) => held(&graph.nodes()[index]),
        _ => None,
    }
}

/// The tensor that a node `Constant` has.
pub(super) fn held(node: &Node) -> Option<&Constant> {
    match node.attribute("value").filter(|_| is_constant_node(node)) {
        Some(Content::Tensor(constant)) => Some(constant),
        _ => None,
    }
}
