#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the crate is a part of gradus, which documents what users name")]

mod attributes;
mod contents;
mod frontier;
mod inputs;
mod join;
mod laws;
mod table;
mod terms;
mod trail;
mod views;

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use gradus_core::graph::{Graph, Origin, Standard, ValueId};
use gradus_core::{Error, Kind, Limits, Result};
use gradus_engine::dim::{Condition, Dim, Relation, Symbols};
use gradus_engine::infer::{InferOptions, ModelCondition, Sizes};
use gradus_engine::source::Source;
use serde::Serialize;

use join::{Joined, Same, join};
use table::TermId;
use terms::Terms;
use trail::Trail;

/// What a proof is asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProofOptions {
    /// Sizes of inputs, and what is assumed of them.
    pub sizes: Sizes,
    /// Limits; those of the first model if none are given.
    pub limits: Option<Limits>,
    /// True if the steps are noted as a certificate.
    pub certificate: bool,
}

impl ProofOptions {
    /// A proof for these sizes, without a certificate.
    pub fn of(sizes: Sizes, limits: Option<Limits>) -> ProofOptions {
        ProofOptions { sizes, limits, certificate: false }
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
    /// The inputs that the proof is about, with their types and the sizes that both models declare.
    pub inputs: Vec<String>,
    /// Further conditions without which a run of one of the models fails.
    pub conditions: Vec<String>,
    /// A condition of these that no input meets: then nothing is proved.
    pub vacuous: Option<String>,
    /// How operators of other standards than ONNX are read, where that is not the same to the bit:
    /// told by whoever reads them.
    pub readings: Vec<String>,
    /// The pairs of values up to which all is proved, those that are met most often first.
    pub frontier: Vec<Unproved>,
    /// The number of terms.
    pub terms: usize,
    /// How often the joined graph was inferred.
    pub rounds: usize,
    /// The steps of a complete proof, a line of JSON each, if they were asked for.
    pub certificate: Option<String>,
    /// The laws of these steps, and how often each was applied.
    pub laws: Vec<(&'static str, usize)>,
}

impl Proof {
    /// Returns true if all outputs of both models are the same, and both take some input.
    pub fn is_complete(&self) -> bool {
        self.vacuous.is_none() && self.unmatched.is_empty() && self.outputs.iter().all(|(_, proved)| *proved)
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

pub use laws::{Law, all as laws};

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
    let trail = if options.certificate { Trail::noted() } else { Trail::default() };
    followed(first, second, options, trail)
}

/// Replays a certificate: of the laws, only those are applied that it names, where it names them.
/// The rest of a line is compared with the line that the replay makes.
///
/// # Errors
/// The errors of [`prove`]; [`Kind::Syntax`] and [`Kind::Value`] if the certificate is refused,
/// with the line.
pub fn verify(first: &Source, second: &Source, certificate: &str, options: &ProofOptions) -> Result<Proof> {
    followed(first, second, options, Trail::replayed(certificate)?)
}

/// The line at the end of a certificate.
#[derive(Serialize)]
struct End<'a> {
    equivalent: Vec<(&'a str, Option<TermId>)>,
    inputs: &'a [String],
    assumed: &'a [String],
    conditions: &'a [String],
    terms: usize,
    calls: usize,
    lines: String,
}

/// The line after the steps of an inference that proves something, but not all.
#[derive(Serialize)]
struct Inferred {
    round: usize,
    terms: usize,
    joined: usize,
}

/// A proof whose steps are noted or replayed.
fn followed(first: &Source, second: &Source, options: &ProofOptions, mut trail: Trail) -> Result<Proof> {
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
    trail.open(models, &options.sizes)?;
    let mut same = Same::new();
    let mut round = 0;
    loop {
        round += 1;
        let joined = join(models, &same, &limits)?;
        let found = attempt(first, joined, &options.sizes, &limits, trail)?;
        let (mut proof, merged) = (found.proof, found.same);
        trail = found.trail;
        proof.rounds = round;
        if proof.is_complete() {
            let names = proof.outputs.iter().map(|(name, _)| &**name);
            let (terms, calls) = (proof.terms, trail.calls());
            let equivalent = names.zip(found.terms).collect();
            let lines = trail.digest();
            let Proof { inputs, assumptions: assumed, conditions, .. } = &proof;
            trail.note(&End { equivalent, inputs, assumed, conditions, terms, calls, lines })?;
            proof.laws = trail.used();
            proof.certificate = trail.close()?;
            return Ok(proof);
        }
        // Equal values have equal sizes once they are read as one.
        if round == MAX_ROUNDS || merged.len() <= same.len() {
            trail.end()?;
            return Ok(proof);
        }
        trail.note(&Inferred { round, terms: proof.terms, joined: merged.len() })?;
        same = merged;
    }
}

/// A proof of models in one graph.
struct Attempt {
    proof: Proof,
    /// The terms of the outputs of the first model.
    terms: Vec<Option<TermId>>,
    /// The values that are the same as others.
    same: Same,
    trail: Trail,
}

fn attempt(source: &Source, joined: Joined, sizes: &Sizes, limits: &Limits, trail: Trail) -> Result<Attempt> {
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
    let (rest, run): (Vec<_>, Vec<_>) = inference.conditions().iter().cloned().partition(|of| of.rests);
    let run: Vec<_> = run.into_iter().filter(ModelCondition::is_of_every_run).collect();
    limits.check()?;
    let graph = source.graph();
    let (mut terms, values) = Terms::of(&source, inference, limits, trail)?;
    let pair = |both: &[ValueId; 2]| both.map(|id| values[id.index()]);
    let is_proved = |both: &[ValueId; 2]| {
        let [a, b] = pair(both);
        both[0] == both[1] || (a.is_some() && a == b)
    };
    let proved: Vec<_> = outputs.iter().map(|(name, both)| (name.clone(), is_proved(both))).collect();
    let firsts = outputs.iter().map(|(_, both)| pair(both)[0]).collect();
    let vacuous = vacuous(&mut terms.symbols, rest.iter().chain(&run));
    let texts = |all: &[ModelCondition]| all.iter().map(|of| of.text.clone()).collect();
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
        assumptions: texts(&rest),
        inputs: graph.inputs().iter().map(|&id| typed(&terms, graph, id, values[id.index()])).collect(),
        conditions: texts(&run),
        vacuous,
        readings: Vec::new(),
        frontier,
        terms: terms.table.len(),
        rounds: 0,
        certificate: None,
        laws: Vec::new(),
    };
    Ok(Attempt { proof, terms: firsts, same, trail: std::mem::take(&mut terms.trail) })
}

/// A condition that no sizes meet, alone or with those before it, of those that every run meets.
fn vacuous<'c>(
    symbols: &mut Symbols,
    conditions: impl Iterator<Item = &'c ModelCondition>,
) -> Option<String> {
    // The smallest and the largest value of an expression.
    let mut ends: HashMap<Dim, (i64, i64)> = HashMap::new();
    for of in conditions.filter(|of| of.is_of_every_run()) {
        let Some(condition) = of.relation else { continue };
        let mut is_empty = symbols.never_holds(&condition);
        if let Condition { left, relation, right: Dim::Known(right) } = condition {
            let (low, high) = match relation {
                Relation::AtLeast => (right, i64::MAX),
                Relation::AtMost => (i64::MIN, right),
                Relation::Equal => (right, right),
                Relation::Broadcast => (right.min(1), right.max(1)),
                Relation::NotEqual => (i64::MIN, i64::MAX),
            };
            let bounds = symbols.bounds(left);
            let known = (bounds.lower().unwrap_or(i64::MIN), bounds.upper().unwrap_or(i64::MAX));
            let known = ends.entry(left).or_insert(known);
            *known = (known.0.max(low), known.1.min(high));
            is_empty |= known.0 > known.1;
        }
        if is_empty {
            return Some(of.text.clone());
        }
    }
    None
}

/// An input with its type.
fn typed(terms: &Terms<'_>, graph: &Graph, id: ValueId, term: Option<TermId>) -> String {
    let name = &graph.value(id).name;
    let dtype =
        term.and_then(|term| terms.table.dtype(term)).map_or("any type".to_owned(), |of| of.to_string());
    let sizes = term.map_or_else(String::new, |term| frontier::sizes(terms, term));
    format!("{name}: {dtype}{}", sizes.trim_start())
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
