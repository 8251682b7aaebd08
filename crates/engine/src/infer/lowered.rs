//! Nodes that stand for a graph of another standard's operators.

use std::mem::take;
use std::rc::Rc;

use gradus_core::graph::{Graph, Standard};

use super::context::InferContext;
use super::pass::Pass;
use super::{InferOptions, Inference};
use crate::complex;
use crate::dim::Symbols;
use crate::fact::Fact;

/// Facts about the inputs as the graph takes them.
fn taken(graph: &Graph, mut inputs: Vec<Fact>) -> Vec<Fact> {
    for (fact, taken) in inputs.iter_mut().zip(complex::taken(graph)) {
        if taken {
            *fact = complex::split_fact(fact);
        }
    }
    inputs
}

impl Inference {
    /// Facts about the values of the graph of ONNX operators that a node stands for, with the symbols
    /// of this inference.
    pub fn lowered(&mut self, graph: &Graph, inputs: Vec<Fact>) -> Vec<Fact> {
        facts_of_lowered(&mut self.symbols, graph, inputs)
    }
}

/// Facts about the values of a graph of ONNX operators, with these symbols.
pub fn facts_of_lowered(symbols: &mut Symbols, graph: &Graph, inputs: Vec<Fact>) -> Vec<Fact> {
    let options = InferOptions { ignore_declared: true, ..InferOptions::default() };
    let mut pass = Pass::new(Standard::Onnx, &[], &options);
    pass.shared.symbols = take(symbols);
    let mut frame = pass.frame(graph, taken(graph, inputs), Rc::default(), "".into());
    pass.run(&mut frame);
    let facts = take(&mut frame.facts);
    *symbols = take(&mut pass.shared.symbols);
    facts
}

impl InferContext<'_, '_> {
    /// Facts about the outputs of the graph of ONNX operators that the node stands for.
    ///
    /// The graph lives as long as this call, the pass for longer: so a pass of its own visits it,
    /// with the symbols of this one. What it assumes, and what it finds wrong, is the
    /// node's.
    pub fn lowered(&mut self, graph: &Graph, inputs: Vec<Fact>) -> Vec<Fact> {
        let label = self.label();
        let outer = &mut *self.pass;
        let options = InferOptions {
            ignore_declared: true,
            cautious: outer.cautious,
            max_bytes: outer.max_bytes,
            limits: Some(outer.limits),
            ..InferOptions::default()
        };
        let mut pass = Pass::new(Standard::Onnx, &[], &options);
        pass.shared = take(&mut outer.shared);
        let mut frame = pass.frame(graph, taken(graph, inputs), Rc::default(), label.as_str().into());
        for id in graph.inputs() {
            frame.depends[id.index()] = self.depends;
        }
        pass.run(&mut frame);
        for &id in graph.outputs() {
            pass.read(&mut frame, id);
        }
        outer.shared = pass.shared;
        let of_node = |condition| super::ModelCondition { node: label.clone(), ..condition };
        outer.conditions.extend(pass.conditions.into_iter().map(of_node));
        outer.problems.extend(pass.problems.into_iter().map(|problem| super::Problem {
            place: label.clone(),
            node: None,
            ..problem
        }));
        let outputs = graph.outputs().iter().map(|id| &frame.facts[id.index()]).zip(complex::given(graph));
        outputs.map(|(fact, given)| if given { complex::joined_fact(fact) } else { fact.clone() }).collect()
    }
}
