//! Inference while a graph is made: a node at a time, so that an error is raised where it is made.

use std::rc::Rc;

use gradus_core::graph::{Builder, Node, Origin, Standard, Type};
use gradus_core::{Error, Result, Tensor};

use super::elements::with_symbols;
use super::pass::Pass;
use super::remarks::{ModelCondition, Problem};
use super::{InferOptions, declared};
use crate::dim::Symbols;
use crate::fact::{Fact, TensorFact};
use crate::operators::registry::{self, Registry};
use crate::operators::row::Row;
use crate::program::{Compiler, RunOptions};

/// Facts about the values of a graph that grows.
///
/// ```
/// use gradus::graph::{DeclaredDim, Type};
/// use gradus::infer::Trace;
/// use gradus::DType;
/// let mut trace = Trace::new(gradus::operators::TABLE);
/// let declared = Type::Tensor(Some(DType::F32), Some(vec![DeclaredDim::Symbol("n".into())]));
/// let x = trace.input("x", &declared);
/// let dims = x.fact.as_tensor().unwrap().dims.as_ref().unwrap();
/// assert_eq!(trace.symbols().print(dims[0]).to_string(), "n");
/// ```
#[derive(Debug)]
pub struct Trace {
    symbols: Symbols,
    conditions: Vec<ModelCondition>,
}

/// Facts about a value.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The fact.
    pub fact: Fact,
    /// True if its elements depend on what inputs hold, and not only on their shapes.
    depends: bool,
}

impl Trace {
    /// A trace of nodes of operators of a table, such as `gradus::operators::TABLE`.
    pub fn new(table: &'static [&'static [Row]]) -> Trace {
        Registry::install(table);
        Trace { symbols: Symbols::default(), conditions: Vec::new() }
    }

    /// All symbols, and what expressions of them mean.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The conditions on which the facts rest.
    pub fn conditions(&self) -> &[ModelCondition] {
        &self.conditions
    }

    /// An input of that type.
    pub fn input(&mut self, name: &str, declared: &Type) -> Traced {
        let fact = self.pass(|pass| {
            let fact = declared::fact_of_input(pass, name, declared);
            with_symbols(pass, name, fact)
        });
        Traced { fact, depends: true }
    }

    /// A constant.
    pub fn constant(&self, tensor: Tensor) -> Traced {
        Traced { fact: Fact::Tensor(TensorFact::of(tensor)), depends: false }
    }

    /// Facts about a node's outputs, from its inputs with their names.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Unsupported`] if Gradus does not run the operator;
    /// [`gradus_core::Kind::Graph`] if the standard does not have it so;
    /// [`gradus_core::Kind::Type`] if it does not take values of these types;
    /// [`gradus_core::Kind::Shape`] if their shapes do not go together.
    pub fn node(
        &mut self,
        standard: Standard,
        node: &Node,
        inputs: &[Option<(&str, &Traced)>],
        outputs: &[&str],
    ) -> Result<Vec<Traced>> {
        let (row, signature) = registry::evaluated(standard, node)?;
        let label = format!("{} ({standard} {}-{})", node.label(0), signature.name, signature.since);
        let checked = || {
            let facts: Vec<_> = inputs.iter().map(|input| input.map(|(_, traced)| &traced.fact)).collect();
            signature.check_inputs(&facts)?;
            Compiler::plain(standard, RunOptions::default()).build(node, signature, row)
        };
        checked().map_err(|error| error.in_node(&label))?;
        let mut builder = Builder::new("");
        let mut facts: Vec<Fact> = Vec::new();
        for (name, traced) in inputs.iter().flatten() {
            if !builder.is_defined(name) {
                builder.define(name, Origin::Input)?;
                facts.push(traced.fact.clone());
            }
        }
        let ids = inputs.iter().map(|input| input.map(|(name, _)| builder.reference(name))).collect();
        builder.push(Node { inputs: ids, outputs: <_>::default(), ..node.clone() }, outputs)?;
        for output in outputs {
            builder.output(output);
        }
        let graph = builder.finish()?;
        let depends: Vec<_> = inputs.iter().flatten().map(|(name, traced)| (*name, traced.depends)).collect();
        let (found, problems) = self.pass(|pass| {
            let mut frame = pass.frame(&graph, facts, Rc::default(), "".into());
            for (name, depends) in depends {
                if let Some(id) = graph.find(name) {
                    frame.depends[id.index()] = depends;
                }
            }
            pass.run(&mut frame);
            let traced = |id: &gradus_core::graph::ValueId| Traced {
                fact: frame.facts[id.index()].clone(),
                depends: frame.depends[id.index()],
            };
            (graph.outputs().iter().map(traced).collect(), std::mem::take(&mut pass.problems))
        });
        match problems.into_iter().next() {
            Some(Problem { kind, message, .. }) => Err(Error::new(kind, message).in_node(label)),
            None => Ok(found),
        }
    }

    /// A pass over something small, with the symbols of all.
    fn pass<'m, T>(&mut self, work: impl FnOnce(&mut Pass<'m>) -> T) -> T {
        let mut pass = Pass::new(Standard::Onnx, &[], &InferOptions::default());
        pass.shared.symbols = std::mem::take(&mut self.symbols);
        let result = work(&mut pass);
        self.symbols = pass.shared.symbols;
        for condition in pass.conditions.into_iter().filter(|condition| condition.rests) {
            if !self.conditions.iter().any(|known| known.text == condition.text) {
                self.conditions.push(condition);
            }
        }
        result
    }
}
