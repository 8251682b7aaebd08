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

use foldhash::{HashMap, HashMapExt, HashSet};
use gradus_core::graph::{Attribute, Constant, Graph, Model, Node, OperatorId, Origin, Standard, ValueId};
use gradus_core::{DType, Error, Kind, Limits, Result};
use gradus_engine::infer::{InferOptions, Inference, ModelCondition, Sizes, contradiction};
use gradus_engine::lowering::{self, Known};
use gradus_engine::operators::{Chance, registry};
use gradus_engine::source::Source;
use serde::Serialize;

use attributes::{AttributesKey, ContentKey};
use join::{Bodies, Joined, Same, join};
use table::{MAX_SHORT, TermId};
use terms::Terms;
use trail::Trail;

/// The difference that equal outputs may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpTo {
    /// Nothing: they are the same bits.
    #[default]
    Bits,
    /// The order in which floats are added.
    Order,
    /// Rounding of floats: they are equal as formulas of real numbers.
    Rounding,
}

gradus_core::names!(UpTo { Bits = "bits", Order = "order", Rounding = "rounding" });

impl UpTo {
    /// The state of proved outputs, in words.
    pub const fn says(self) -> &'static str {
        match self {
            UpTo::Bits => "the same bits",
            UpTo::Order => "the same up to the order of sums",
            UpTo::Rounding => "the same up to rounding, as formulas of real numbers",
        }
    }
}

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
    /// The difference that equal outputs may have.
    pub up_to: UpTo,
}

impl ProofOptions {
    /// A proof of the same bits for these sizes, without a certificate.
    pub fn of(sizes: Sizes, limits: Option<Limits>) -> ProofOptions {
        ProofOptions { sizes, limits, certificate: false, up_to: UpTo::Bits }
    }
}

/// What is proved of two models.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Proof {
    /// The difference that proved outputs may have: none if they are proved by laws of bits alone,
    /// and never more than was asked for.
    pub up_to: UpTo,
    /// Outputs of both models, in the order of the first, and whether they are proved to be the
    /// same.
    pub outputs: Vec<(String, bool)>,
    /// Outputs that only one of them has, where the other has none in their place.
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
    /// Why the proof ended before all was tried, if it did: what is proved until then stays.
    pub stopped: Option<String>,
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

/// Proves that outputs of two models are the same for all inputs that both take.
///
/// # Errors
/// [`Kind::Unsupported`] for models that are not of ONNX, or whose inputs do not go together;
/// [`Kind::Limit`] at the end of the time, before anything is proved.
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

/// Bytes of constants that two models share from which on they are not read at first.
const MAX_READ: u128 = 1 << 28;

/// The differences that laws of an attempt may allow, and how it knows constants.
#[derive(Clone, Copy)]
pub struct Level {
    up_to: UpTo,
    /// True if long constants are the same only where they are stored as one: nothing reads them.
    reads_short: bool,
}

impl Level {
    /// The level after this one, of a proof that is asked for so much.
    fn next(self, wanted: UpTo) -> Option<Level> {
        let of = |up_to| Level { up_to, reads_short: false };
        if self.reads_short {
            return Some(of(self.up_to));
        }
        UpTo::ALL.into_iter().find(|next| *next > self.up_to && *next <= wanted).map(of)
    }
}

/// Returns true if long constants that two models share take at least [`MAX_READ`] bytes.
fn share_constants(models: [&Model; 2]) -> bool {
    let [first, second] = models.map(|model| {
        let all = model.graph.constants().iter().map(|(_, constant)| constant);
        all.filter(|constant| constant.byte_len() > MAX_SHORT)
    });
    let own: HashSet<_> = first.map(Constant::identity).collect();
    let shared = second.filter(|constant| own.contains(&constant.identity()));
    shared.map(Constant::byte_len).fold(0, u128::saturating_add) >= MAX_READ
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
    trail.open(models, options.up_to, &options.sizes)?;
    let (mut same, mut bodies) = (Same::default(), Bodies::default());
    let reads_short = !options.certificate && !trail.is_replayed() && share_constants(models);
    let mut level = Level { up_to: UpTo::Bits, reads_short };
    let (mut round, mut of_level) = (0, 0);
    let mut last: Option<Proof> = None;
    loop {
        (round, of_level) = (round + 1, of_level + 1);
        let joined = join(models, &same, &bodies, &limits);
        let found =
            joined.and_then(|joined| attempt(first, joined, &options.sizes, (&limits, level), &mut trail));
        let found = match (found, last.take()) {
            (Ok(found), _) => found,
            // Rounds that ended have proved what they have.
            (Err(error), Some(last)) if error.kind() == Kind::Limit && !trail.is_replayed() => {
                return Ok(Proof { stopped: Some(error.to_string()), ..last });
            }
            (Err(error), _) => return Err(error),
        };
        let (mut proof, merged) = (found.proof, found.same);
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
        if of_level == MAX_ROUNDS || merged.len() <= same.len() {
            let Some(next) = level.next(options.up_to) else {
                trail.end()?;
                return Ok(proof);
            };
            (level, of_level) = (next, 0);
            if level.up_to == UpTo::Rounding {
                bodies = found.bodies;
            }
        }
        trail.note(&Inferred { round, terms: proof.terms, joined: merged.len() })?;
        same = merged;
        last = Some(proof);
    }
}

/// The assumption that outputs of two names are one, in words.
fn same_place((first, second): &(String, String)) -> String {
    format!("output \"{first}\" of the first model is \"{second}\" of the second, in one place")
}

/// A proof of models in one graph.
struct Attempt {
    proof: Proof,
    /// The terms of the outputs of the first model.
    terms: Vec<Option<TermId>>,
    /// The values that are the same as others.
    same: Same,
    /// The graphs that nodes stand for.
    bodies: Bodies,
}

fn attempt(
    source: &Source,
    joined: Joined,
    sizes: &Sizes,
    (limits, level): (&Limits, Level),
    trail: &mut Trail,
) -> Result<Attempt> {
    let up_to = level.up_to;
    let Joined { model, outputs, placed, unmatched, own_inputs } = joined;
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
    let bodies = bodies(graph, &inference);
    // Real numbers have no type.
    let dtypes: Vec<_> = graph.ids().map(|id| inference.fact(id).dtype()).collect();
    let (mut terms, values) = Terms::of(&source, inference, limits, level, trail)?;
    let reals = up_to == UpTo::Rounding;
    let term = |id: ValueId| values[id.index()].filter(|_| !reals || dtypes[id.index()].is_some());
    let is_proved = |[a, b]: [ValueId; 2]| {
        let typed = !reals || dtypes[a.index()] == dtypes[b.index()];
        a == b || (term(a).is_some() && term(a) == term(b) && typed)
    };
    let proved: Vec<_> = outputs.iter().map(|(name, both)| (name.clone(), is_proved(*both))).collect();
    let firsts = outputs.iter().map(|(_, [first, _])| values[first.index()]).collect();
    let vacuous = contradiction(&mut terms.symbols, rest.iter().chain(&run), limits);
    let texts = |all: &[ModelCondition]| all.iter().map(|of| of.text.clone()).collect::<Vec<_>>();
    let mut frontier = Vec::new();
    let mut same = Same::default();
    if proved.iter().any(|(_, proved)| !proved) {
        let names = frontier::Names::of(graph, &values);
        let open = outputs.iter().filter(|(_, both)| !is_proved(*both));
        let open = open.filter_map(|(_, [a, b])| Some((values[a.index()]?, values[b.index()]?)));
        frontier = frontier::of(&terms, graph, &names, open);
        same = merged(graph, term, &dtypes);
    }
    let proof = Proof {
        up_to,
        outputs: proved,
        unmatched,
        own_inputs,
        assumptions: texts(&rest).into_iter().chain(placed.iter().map(same_place)).collect(),
        inputs: graph.inputs().iter().map(|&id| typed(&terms, graph, id, values[id.index()])).collect(),
        conditions: texts(&run),
        vacuous,
        frontier,
        terms: terms.table.len(),
        ..Proof::default()
    };
    Ok(Attempt { proof, terms: firsts, same, bodies })
}

/// The graphs of ONNX's operators by which nodes are run.
fn bodies(graph: &Graph, inference: &Inference) -> Bodies {
    let mut bodies = Bodies::default();
    for node in graph.nodes() {
        let Some(first) = node.outputs.first().copied().flatten() else { continue };
        let Some(row) = registry::row_of(Standard::Onnx, node).filter(|row| row.is_lowered()) else {
            continue;
        };
        let known = node.inputs.iter().map(|id| id.map(|id| Known::of_fact(inference.fact(id))));
        let body = lowering::graph(node, &known.collect::<Vec<_>>(), row);
        // Graphs within graphs have no names that stay from one inference to the next.
        if let Ok(body) = body
            && body.nodes().iter().all(|node| node.graphs().next().is_none())
        {
            bodies.insert(graph.value(first).name.clone(), Arc::new(body));
        }
    }
    bodies
}

/// An input with its type.
fn typed(terms: &Terms<'_>, graph: &Graph, id: ValueId, term: Option<TermId>) -> String {
    let name = &graph.value(id).name;
    let dtype =
        term.and_then(|term| terms.table.dtype(term)).map_or("any type".to_owned(), |of| of.to_string());
    let sizes = term.map_or_else(String::new, |term| frontier::sizes(terms, term));
    format!("{name}: {dtype}{}", sizes.trim_start())
}

/// The values that are read as others: the first in order of the same term, and outputs of the first
/// node that does the same to the same values. Inference may not know yet that sizes which it
/// invented for both are equal, as it does once the nodes are one.
fn merged(graph: &Graph, term: impl Fn(ValueId) -> Option<TermId>, dtypes: &[Option<DType>]) -> Same {
    let mut firsts = HashMap::with_capacity(dtypes.len());
    let mut nodes = HashMap::new();
    let mut read: Vec<_> = graph.ids().collect();
    let mut note = |read: &mut Vec<ValueId>, id: ValueId| {
        if let Some(term) = term(id) {
            read[id.index()] = *firsts.entry((term, dtypes[id.index()])).or_insert(id);
        }
    };
    let given = graph.inputs().iter().chain(graph.constants().iter().map(|(id, _)| id));
    given.for_each(|&id| note(&mut read, id));
    for &index in graph.order() {
        let node = &graph.nodes()[index];
        node.outputs.iter().flatten().for_each(|&id| note(&mut read, id));
        let Some(operator) = repeatable(node) else { continue };
        let inputs: Vec<_> = node.inputs.iter().map(|id| id.map(|id| root(&read, id))).collect();
        let first: &Node = nodes.entry((operator, inputs, node.outputs.len())).or_insert(node);
        for (own, other) in node.outputs.iter().zip(&first.outputs) {
            if let (Some(own), Some(other)) = (own, other) {
                let own = root(&read, *own);
                read[own.index()] = root(&read, *other);
            }
        }
    }
    let others = graph.ids().map(|id| (id, root(&read, id)));
    let others = others.filter(|&(id, first)| first != id && graph.value(id).origin != Origin::Input);
    others.map(|(id, first)| (graph.value(id).name.clone(), graph.value(first).name.clone())).collect()
}

/// The value as which another one is read.
fn root(read: &[ValueId], mut id: ValueId) -> ValueId {
    while read[id.index()] != id {
        id = read[id.index()];
    }
    id
}

/// The operator, version and attributes of a node whose outputs follow from its inputs.
fn repeatable(node: &Node) -> Option<(&OperatorId, Option<i64>, AttributesKey)> {
    let row = registry::row_of(Standard::Onnx, node)?;
    let key = |of: &Attribute| Some((of.name.clone(), ContentKey::of(&of.content)?));
    let attributes = node.attributes.iter().map(key).collect::<Option<_>>()?;
    let is_repeatable = row.chance == Chance::No && !row.stateful && row.is_inferred();
    is_repeatable.then_some((&node.operator, node.version, attributes))
}
