#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the crate is a part of gradus, which documents what users name")]

mod attributes;
mod frontier;
mod inputs;
mod join;
mod laws;
mod table;
mod terms;
mod views;

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use gradus_core::graph::{Graph, Origin, Standard, ValueId};
use gradus_core::{Error, Kind, Limits, Result};
use gradus_engine::infer::{InferOptions, Sizes};
use gradus_engine::source::Source;

use join::{Joined, Same, join};
use table::TermId;
use terms::Terms;

/// What a proof is asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProofOptions {
    /// Sizes of inputs, and what is assumed of them.
    pub sizes: Sizes,
    /// Limits; those of the first model if none are given.
    pub limits: Option<Limits>,
}

impl ProofOptions {
    /// A proof for these sizes.
    pub fn of(sizes: Sizes, limits: Option<Limits>) -> ProofOptions {
        ProofOptions { sizes, limits }
    }
}

/// What is proved of two models.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proof {
    /// Outputs of both models, in the order of the first, and whether they are proved to be the
    /// same.
    pub outputs: Vec<(String, bool)>,
    /// Outputs that only one of them has.
    pub unmatched: Vec<String>,
    /// Inputs that only one of them has: the number of the model, and the name.
    pub own_inputs: Vec<(usize, String)>,
    /// What the proof takes for granted of sizes.
    pub assumptions: Vec<String>,
    /// The pairs of values up to which all is proved, those that are met most often first.
    pub frontier: Vec<Unproved>,
    /// The number of terms.
    pub terms: usize,
    /// How often the joined graph was inferred.
    pub rounds: usize,
}

impl Proof {
    /// Returns true if all outputs of both models are the same.
    pub fn is_complete(&self) -> bool {
        self.unmatched.is_empty() && self.outputs.iter().all(|(_, proved)| *proved)
    }

    /// The number of outputs that are proved.
    pub fn proved(&self) -> usize {
        self.outputs.iter().filter(|(_, proved)| *proved).count()
    }
}

/// A pair of values that is not proved to be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unproved {
    /// In the first model.
    pub first: Side,
    /// In the second model.
    pub second: Side,
    /// How often values that depend on the pair were met.
    pub count: usize,
}

/// A value of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// Its name, if it has one.
    pub value: Option<String>,
    /// What it is, in words.
    pub term: String,
}

/// A law by which values are the same.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LawText {
    pub name: &'static str,
    /// The operators that it is about; none if it is about all.
    pub operators: &'static [&'static str],
    pub says: &'static str,
    /// Why it holds bit for bit.
    pub why: &'static str,
}

/// All laws.
pub fn laws() -> impl Iterator<Item = LawText> {
    laws::all().map(|law| LawText { name: law.name, operators: law.operators, says: law.says, why: law.why })
}

/// Maximum number of times that the joined graph is inferred.
const MAX_ROUNDS: usize = 6;

/// Maximum number of bytes of a constant that is computed.
const MAX_CONSTANT: u64 = 1 << 22;

/// Bytes that a value takes while it is proved.
const BYTES_OF_VALUE: usize = 2048;

/// Proves that outputs of two models are the same bits for all inputs that both take.
///
/// # Errors
/// [`Kind::Unsupported`] for models that are not of ONNX, or whose inputs do not go together;
/// [`Kind::Limit`] at the end of the time.
pub fn prove(first: &Source, second: &Source, options: &ProofOptions) -> Result<Proof> {
    let limits = options.limits.unwrap_or(first.limits());
    for source in [first, second] {
        if source.source().standard != Standard::Onnx {
            let standard = source.source().standard;
            let what = "cannot prove: the standard of the model";
            return Err(Error::mismatch(Kind::Unsupported, what, standard, "onnx"));
        }
        source.allow_each(limits, BYTES_OF_VALUE)?;
    }
    let models = [first.source(), second.source()];
    let mut same = Same::new();
    let mut round = 0;
    loop {
        round += 1;
        let joined = join(models, &same, &limits)?;
        let (proof, merged) = attempt(first, joined, &options.sizes, &limits)?;
        let proof = Proof { rounds: round, ..proof };
        // Equal values have equal sizes once they are read as one.
        if proof.is_complete() || round == MAX_ROUNDS || merged.len() <= same.len() {
            return Ok(proof);
        }
        same = merged;
    }
}

/// What is proved of models in one graph, and the values that are the same as others.
fn attempt(source: &Source, joined: Joined, sizes: &Sizes, limits: &Limits) -> Result<(Proof, Same)> {
    let Joined { model, outputs, unmatched, own_inputs } = joined;
    let source = source.clone().with_model(model);
    let mut given = InferOptions::default().cautiously();
    given.sizes.clone_from(sizes);
    given.ignore_declared = true;
    (given.max_bytes, given.limits) = (MAX_CONSTANT, Some(*limits));
    let inference = source.infer(&given)?;
    if let Some(problem) = inference.problems().first() {
        let message = format!("the models contradict themselves: {}", problem.message);
        return Err(Error::new(Kind::Unsupported, message));
    }
    let assumptions = inference.conditions().iter().filter(|of| of.rests).map(|of| of.text.clone()).collect();
    limits.check()?;
    let graph = source.graph();
    let (terms, values) = Terms::of(&source, inference, limits)?;
    let pair = |both: &[ValueId; 2]| both.map(|id| values[id.index()]);
    let is_proved = |both: &[ValueId; 2]| {
        let [a, b] = pair(both);
        both[0] == both[1] || (a.is_some() && a == b)
    };
    let proved: Vec<_> = outputs.iter().map(|(name, both)| (name.clone(), is_proved(both))).collect();
    let mut frontier = Vec::new();
    let mut same = Same::new();
    if proved.iter().any(|(_, proved)| !proved) {
        let names = frontier::Names::of(graph, &values);
        let open = outputs.iter().filter(|(_, both)| !is_proved(both));
        let open = open.filter_map(|(_, both)| {
            let [a, b] = pair(both);
            Some((a?, b?))
        });
        frontier = frontier::of(&terms, graph, &names, open);
        same = merged(graph, &values);
    }
    let proof = Proof {
        outputs: proved,
        unmatched,
        own_inputs,
        assumptions,
        frontier,
        terms: terms.table.len(),
        rounds: 0,
    };
    Ok((proof, same))
}

/// The values that are read as others of the same term: the first in order.
fn merged(graph: &Graph, values: &[Option<TermId>]) -> Same {
    let mut firsts: HashMap<TermId, Arc<str>> = HashMap::with_capacity(values.len());
    let mut same = Same::new();
    let mut note = |id: ValueId| {
        let Some(term) = values[id.index()] else { return };
        let name = &graph.value(id).name;
        let first = firsts.entry(term).or_insert_with(|| name.clone());
        if first != name && graph.value(id).origin != Origin::Input {
            same.insert(name.clone(), first.clone());
        }
    };
    graph.inputs().iter().copied().for_each(&mut note);
    graph.constants().iter().for_each(|(id, _)| note(*id));
    for &index in graph.order() {
        graph.nodes()[index].outputs.iter().flatten().copied().for_each(&mut note);
    }
    same
}
