//! Portability: the nodes of a model whose results depend on the program that runs it, and the
//! sizes from which on they do.
//!
//! A model of another standard is compared as the ONNX model that it converts to; operators of
//! OpenVINO whose results differ in OpenVINO itself have rows of their own.
//! A difference is a row of [`RULES`], with the results that programs were seen to give. Rows are
//! those that `conformance/portability.py` has recorded, and no others.

#[macro_use]
mod rules;
mod checks;
mod conditions;
mod openvino;
mod range;
mod sequences;

use std::rc::Rc;

use gradus_core::Result;
use gradus_core::graph::{Graph, Node, Standard};

use conditions::NodeFacts;
pub use rules::Rule;
pub use sequences::ModelSequence;

use crate::attributes::{Attributes, Parameters};
use crate::conversion::ConvertOptions;
use crate::fact::Fact;
use crate::model::Model;
use crate::normalize::Form;
use gradus_engine::infer::{InferOptions, Inference, SubgraphFacts, function_of_node, graphs_of_node};

/// The programs that are compared, in the order of [`Rule::results`].
pub const PROGRAMS: [&str; 3] = ["onnxruntime", "openvino", "onnx"];

/// The versions that the rules were recorded from, in the same order.
pub const VERSIONS: [&str; 3] =
    ["ONNX Runtime 1.32.0 (CPU)", "OpenVINO 2026.4.1 (CPU plugin)", "the reference of onnx 1.23.2"];

/// The rules about operators of ONNX.
pub const RULES: &[Rule] = rules::RULES;

/// The rules about operators of OpenVINO. `onnxruntime` and `onnx` run the converted model.
pub const OPENVINO_RULES: &[Rule] = openvino::RULES;

/// The condition without which programs agree at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum When {
    /// The difference occurs in every run.
    Always,
    /// Sizes for which it occurs: `seq >= 16777217`.
    Sizes(String),
    /// The data decides, as the rule says.
    Data,
}

impl When {
    /// The kind of condition: `always`, `sizes` or `data`.
    pub fn name(&self) -> &'static str {
        match self {
            When::Always => "always",
            When::Sizes(_) => "sizes",
            When::Data => "data",
        }
    }
}

/// A node at which programs differ.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The node, after the nodes whose graphs it is in.
    pub node: String,
    /// Its operator.
    pub operator: String,
    /// The rule.
    pub rule: &'static Rule,
    /// The condition.
    pub when: When,
    /// Programs that do not return the exact sequence of a range with known arguments, and why, as
    /// `gradus compare range` shows them.
    pub sequences: Vec<(&'static str, String)>,
}

impl Difference {
    /// The condition as text.
    pub fn condition(&self) -> &str {
        match &self.when {
            When::Always => "always",
            When::Sizes(text) => text,
            When::Data => self.rule.condition,
        }
    }
}

/// The nodes at which programs differ.
#[derive(Clone, Debug)]
pub struct Portability {
    /// The differences, in the order of the nodes.
    pub differences: Vec<Difference>,
    /// The sequences of the model, before it is converted, that a program does not return exactly,
    /// or not at all; their arguments are known.
    pub sequences: Vec<ModelSequence>,
    inference: Inference,
}

impl Portability {
    /// The facts about the model that the conditions follow from.
    pub fn inference(&self) -> &Inference {
        &self.inference
    }
}

impl Model {
    /// The nodes whose results depend on the program that runs the model.
    ///
    /// # Errors
    /// As [`Source::infer`](crate::Source::infer); of a model of another standard, as
    /// [`Model::convert`].
    ///
    /// ```
    /// use gradus::infer::InferOptions;
    /// let model = gradus::Model::open("../../examples/heads.onnx")?;
    /// let found = model.portability(&InferOptions::default())?;
    /// // Elements are moved, and nothing is rounded.
    /// assert!(found.differences.is_empty());
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn portability(&self, options: &InferOptions) -> Result<Portability> {
        if self.source().standard != Standard::Onnx {
            let converted = self.convert(Standard::Onnx, &ConvertOptions::default())?;
            let mut inference = self.infer(options)?;
            let sequences = sequences::of_model(self, &inference);
            let sequences = sequences.into_iter().filter(ModelSequence::differs).collect();
            let mut found = converted.model.portability(options)?;
            found.differences.splice(..0, self.differences(&mut inference));
            return Ok(Portability { sequences, ..found });
        }
        let mut inference = self.infer(options)?;
        let differences = self.differences(&mut inference);
        let sequences = sequences::of_model(self, &inference).into_iter().filter(ModelSequence::differs);
        Ok(Portability { differences, sequences: sequences.collect(), inference })
    }

    /// The differences at the nodes of the model itself.
    fn differences(&self, inference: &mut Inference) -> Vec<Difference> {
        let standard = self.source().standard;
        let rules = match standard {
            Standard::Onnx => RULES,
            Standard::OpenVino => OPENVINO_RULES,
            Standard::Paddle => return Vec::new(),
        };
        let bodies = SubgraphFacts::new(inference.subgraphs().to_vec());
        let facts = inference.facts().to_vec();
        let differences = Vec::new();
        let mut search = Search { model: self, inference, bodies, standard, rules, differences };
        search.graph(&NodePlace {
            graph: self.graph(),
            facts: &facts,
            path: Vec::new(),
            label: String::new(),
            parameters: Rc::default(),
        });
        search.differences
    }
}

/// The search for differences.
struct Search<'a> {
    model: &'a Model,
    inference: &'a mut Inference,
    bodies: SubgraphFacts,
    standard: Standard,
    rules: &'static [Rule],
    differences: Vec<Difference>,
}

/// A graph while it is searched.
struct NodePlace<'a> {
    graph: &'a Graph,
    facts: &'a [Fact],
    path: Vec<(usize, usize)>,
    /// The nodes around the graph.
    label: String,
    parameters: Parameters<'a>,
}

impl Search<'_> {
    fn graph(&mut self, at: &NodePlace<'_>) {
        for &index in at.graph.order() {
            self.node(at, &at.graph.nodes()[index], index);
        }
    }

    fn node(&mut self, at: &NodePlace<'_>, node: &Node, index: usize) {
        let label = at.label.clone() + &node.label(index);
        let attributes = Attributes::new(&node.attributes, Form::of_node(self.standard, node));
        let attributes = attributes.with_parameters(at.parameters.clone());
        let function = function_of_node(self.model, node);
        let parameters =
            function.map_or_else(|| at.parameters.clone(), |called| attributes.handed_to(called));
        for (number, graph) in graphs_of_node(self.model, node).enumerate() {
            let path: Vec<_> = at.path.iter().copied().chain([(index, number)]).collect();
            // Nothing is known of a graph that was not inferred, as bodies of functions past a
            // limit.
            let Some(facts) = self.bodies.get(&path).map(<[Fact]>::to_vec) else { continue };
            let (label, parameters) = (format!("{label}, "), parameters.clone());
            self.graph(&NodePlace { graph, facts: &facts, path, label, parameters });
        }
        if function.is_some() || !matches!(&*node.operator.domain, "" | "ai.onnx.ml") {
            return;
        }
        let symbols = self.inference.symbols_mut();
        let mut facts = NodeFacts { graph: at.graph, node, facts: at.facts, attributes, symbols };
        for rule in self.rules.iter().filter(|rule| rule.operators.contains(&&*node.operator.name)) {
            if let Some(when) = (rule.applies)(&mut facts) {
                let (node, operator) = (label.clone(), node.operator.name.to_string());
                let sequences = range::sequences(&facts);
                self.differences.push(Difference { node, operator, rule, when, sequences });
            }
        }
    }
}
