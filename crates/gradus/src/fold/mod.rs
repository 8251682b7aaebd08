//! Folding: what inference knows becomes part of the model, and the nodes that computed it go.
//!
//! `rules/` has the table of rules ([`RULES`]); docs/fold.md lists them. A node that nothing needs
//! is removed at every level.
//!
//! Nothing is assumed that a run of the model does not imply, but for two things: axes
//! are shorter than 2^31, and a dimension that the model gives a name is the same wherever it has
//! that name. So a folded model takes whatever the model took. Names of operators are ONNX's;
//! `dialect.rs` has their equivalents in OpenVINO. What cannot be computed here is left:
//! operators that are not known, functions that are not inlined, and what they need keep their
//! bytes.

mod cse;
mod declare;
mod dialect;
mod functions;
mod inline;
mod intervals;
mod join;
mod measure;
mod negative_zero;
mod reads;
mod report;
mod representable;
mod reproducible;
mod rules;
mod scope;
mod shape_source;
mod simplify_shapes;
mod stages;
mod unroll;
pub(crate) mod verify;
mod views;
mod write;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use gradus_core::graph::edit::Edit;
use gradus_core::graph::{self, Graph, Node, OperatorId, Standard};
use gradus_core::{Error, Kind, Limits, Result};

pub use measure::{Measured, MeasuredOutput};
pub use report::{FoldReport, KeptNode};
pub use rules::{Level, RULES, Rule, RuleSet};
pub use verify::Verified;

use crate::dim::Symbols;
use crate::model::Model;
use crate::normalize::{Change, Form};
use crate::operators::{self, Chance, Role, Row};
use gradus_engine::infer::{InferOptions, Sizes, SubgraphFacts, Why};
use rules::Looked;
use scope::FoldState;

/// How a model is folded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoldOptions {
    /// Sizes and types of inputs: symbols and types are fixed in the folded model too.
    pub sizes: Sizes,
    /// Maximum number of bytes of a constant that is added.
    pub max_constant: u64,
    /// The rules that are applied.
    pub rules: RuleSet,
    /// True if the types of values that nodes compute are written into the model.
    pub declare: bool,
    /// Limits of what constant nodes may spend, and of nesting; if none are given, those of the
    /// model.
    pub limits: Option<Limits>,
}

/// Bytes that a value takes while it is folded, as `tests/memory.rs` measures: facts, what is known
/// of its node, and the edit.
const BYTES_OF_VALUE: usize = 1024;

impl Default for FoldOptions {
    fn default() -> Self {
        FoldOptions {
            sizes: Sizes::default(),
            max_constant: 1 << 20,
            rules: RuleSet::default(),
            declare: true,
            limits: None,
        }
    }
}

/// A folded model: what changes, and what is to be said of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Folded {
    /// The folded model, in memory: [`Model::save_edited`] writes it, [`Model::edited`] makes a
    /// [`Model`] of it.
    pub model: graph::Model,
    /// Counts of what was removed, and the reason why each remaining node was kept.
    pub report: FoldReport,
}

/// One fold of a main graph.
struct Changes {
    edit: Edit,
    report: FoldReport,
}

impl Model {
    /// Folds what can be computed before a run.
    ///
    /// # Errors
    /// [`Kind::Usage`] if what is given is not the model's; [`Kind::Unsupported`] if models of its
    /// standard are not written; what is wrong with the model's file.
    ///
    /// ```
    /// use gradus::fold::FoldOptions;
    /// let model = gradus::Model::open("../../examples/heads.onnx")?;
    /// let folded = model.fold(&FoldOptions::default())?;
    /// let small = model.edited(&folded.model)?;
    /// assert!(small.graph().nodes().len() < model.graph().nodes().len());
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn fold(&self, options: &FoldOptions) -> Result<Folded> {
        let source = self.source();
        if source.standard == Standard::Paddle {
            let what = "cannot fold: the standard of the model";
            return Err(Error::mismatch(
                Kind::Unsupported,
                what,
                source.standard,
                "onnx or openvino, which `gradus convert` writes",
            ));
        }
        stages::fold(self, options)
    }

    /// Folds the main graph. `original` is the model before functions were inlined, `mentioned` are
    /// values of the main graph that other parts of the file mention.
    fn fold_graph(
        &self,
        options: &FoldOptions,
        original: &graph::Model,
        mentioned: &HashSet<String>,
    ) -> Result<Changes> {
        self.allow_each(options.limits.unwrap_or(self.limits()), BYTES_OF_VALUE)?;
        let mut given = InferOptions::default().cautiously();
        given.sizes.clone_from(&options.sizes);
        given.ignore_declared = true;
        (given.max_bytes, given.limits) = (options.max_constant, options.limits);
        let inference = self.infer(&given)?;
        let assumptions = inference.conditions().iter().filter(|of| of.rests).cloned().collect();
        let places = inference.conditions().iter().filter(|of| of.why == Why::Run);
        let needing: HashSet<String> = places.map(|of| of.node.clone()).collect();
        let (facts, symbols, mut bodies, problems) = inference.into_parts();
        // Runtimes infer a branch when they load it, and refuse the model if they find that it
        // fails: what they do not know of it now they must not learn.
        let failing = bodies.forget_failing();
        let mut folder = GraphFolder {
            model: self,
            given,
            // A model that contradicts itself would be refused for the types that are declared.
            declare: options.declare && problems.is_empty(),
            rules: options.rules,
            symbols,
            bodies,
            failing,
            mentioned,
            known: foldhash::HashMap::default(),
            looking: Vec::new(),
            names: ValueNames::default(),
            report: FoldReport { assumptions, problems, ..FoldReport::default() },
        };
        let mut scope = FoldState::new(&mut folder, self.graph(), facts, Vec::new());
        let limits = options.limits.unwrap_or(self.limits());
        scope.study(&mut folder);
        limits.check()?;
        scope.need_outputs(&mut folder);
        limits.check()?;
        let reshaped = views::choose(&mut scope, &mut folder);
        if negative_zero::choose(&mut scope, &mut folder) || reshaped {
            folder.report.unsettled = true;
            scope.forget_needs();
            scope.need_outputs(&mut folder);
        }
        // Without the node that needs a condition, less may be known of the sizes after it.
        let is_gone = |(index, node): (usize, &Node)| {
            !scope.nodes[index].stays && needing.contains(&gradus_engine::infer::node_label(node, index))
        };
        folder.report.unsettled |=
            !needing.is_empty() && self.graph().nodes().iter().enumerate().any(is_gone);
        shape_source::choose(&mut scope, &mut folder);
        join::choose(&mut scope, &mut folder);
        let (mut edit, changed) = write::edit(&mut folder, &scope, &HashMap::new())?;
        folder.report.changed = changed;
        declare::interface(&folder, &scope, &mut edit);
        if folder.declare {
            declare::values(&folder, &scope, &mut edit);
        }
        declare::reshaped(&folder, &scope, &mut edit);
        report::complete(&mut folder, &scope, &edit, original);
        Ok(Changes { edit, report: folder.report })
    }
}

/// State that all graphs of a model share while it is folded.
struct GraphFolder<'m> {
    model: &'m Model,
    given: InferOptions,
    declare: bool,
    rules: RuleSet,
    symbols: Symbols,
    bodies: SubgraphFacts,
    /// Nodes of the main graph within which a graph fails whenever it runs: it is left as it is.
    failing: BTreeSet<usize>,
    /// Values of the main graph that other parts of the file mention.
    mentioned: &'m HashSet<String>,
    /// By operator and version: what [`GraphFolder::known`] returns.
    known: foldhash::HashMap<(OperatorId, Option<i64>), KnownOperator>,
    /// Rules of one node that look at an operator.
    looking: Vec<RuleSet>,
    names: ValueNames,
    report: FoldReport,
}

/// Facts about an operator in a version.
#[derive(Clone, Copy)]
struct KnownOperator {
    role: Role,
    /// Nobody knows what it does, or chance decides it.
    opaque: bool,
    /// Inputs of the newest version are attributes, or have other indices.
    moves_inputs: bool,
    /// The index of the rules that look at it.
    looking: u16,
}

impl GraphFolder<'_> {
    /// Facts about a node's operator.
    fn known(&mut self, node: &Node) -> KnownOperator {
        let key = (node.operator.clone(), node.version);
        *self.known.entry(key).or_insert_with(|| {
            let standard = self.model.source().standard;
            let row = operators::row_of(standard, node);
            // A variable that is assigned is not among the outputs.
            let opaque = |row: &Row| row.chance == Chance::Yes || row.stateful;
            let opaque = row.is_some_and(opaque) || !gradus_engine::infer::is_understood(self.model, node);
            let moves = |change: &Change| matches!(change, Change::Input(..) | Change::Index(..));
            let moves_inputs = Form::of_node(standard, node).changes().any(|(change, _)| moves(change));
            let looking = rules::looking(&Looked::of(standard, node, row));
            let place = self.looking.iter().position(|other| *other == looking).unwrap_or_else(|| {
                self.looking.push(looking);
                self.looking.len() - 1
            });
            // There are fewer sets than operators in the table.
            let looking = u16::try_from(place).unwrap_or(u16::MAX);
            KnownOperator { role: row.map_or(Role::Other, |row| row.role), opaque, moves_inputs, looking }
        })
    }

    /// Returns true if several values of the model's graphs have a name.
    fn is_shared(&mut self, name: &str) -> bool {
        self.names.all(self.model.graph()).get(name).is_some_and(|&count| count > 1)
    }

    /// A name like that which no value has, from now on taken.
    fn fresh(&mut self, like: &str) -> Arc<str> {
        self.names.fresh(self.model.graph(), like)
    }
}

/// The names of a model's values, in all its graphs.
#[derive(Default)]
pub(crate) struct ValueNames {
    /// How often each occurs; made when it is needed.
    counts: Option<foldhash::HashMap<Arc<str>, usize>>,
    /// The number of the last name that was made like one.
    numbers: foldhash::HashMap<Arc<str>, usize>,
}

impl ValueNames {
    fn all(&mut self, graph: &Graph) -> &mut foldhash::HashMap<Arc<str>, usize> {
        self.counts.get_or_insert_with(|| {
            let mut names = foldhash::HashMap::default();
            names.reserve(graph.values().len());
            let mut open = vec![graph];
            while let Some(graph) = open.pop() {
                for info in graph.values().iter().filter(|info| info.origin != graph::Origin::Capture) {
                    *names.entry(info.name.clone()).or_default() += 1;
                }
                open.extend(graph.nodes().iter().flat_map(Node::graphs).map(AsRef::as_ref));
            }
            names
        })
    }

    /// A name like that which no value has, from now on taken.
    pub(crate) fn fresh(&mut self, graph: &Graph, like: &str) -> Arc<str> {
        let mut count = self.numbers.get(like).copied().unwrap_or(0);
        let names = self.all(graph);
        let mut name: Arc<str> = like.into();
        while names.contains_key(&name) {
            count += 1;
            name = format!("{like}_{count}").into();
        }
        names.insert(name.clone(), 1);
        if count > 0 {
            self.numbers.insert(like.into(), count);
        }
        name
    }
}
