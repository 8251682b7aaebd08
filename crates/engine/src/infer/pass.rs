//! The pass: every node once, in order, each by the rule of its operator.

mod evaluated;
mod graph_facts;
mod types;

use std::rc::Rc;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use gradus_core::convert::product;
use gradus_core::graph::{Function, Graph, Node, Standard, ValueId};
use gradus_core::{Error, Kind, Limits};

use graph_facts::depends;
pub use graph_facts::{GraphFacts, GraphRuns, Inner, Subgraph, SubgraphFacts, SubgraphPath, Visit, label};

use super::InferOptions;
use super::context::{InferContext, InferError};
use super::remarks::{ModelCondition, Problem, When, Why, note_once};
use super::rules::{InferResult, Resolved, resolve};
use smallvec::SmallVec;

use crate::attributes::{Attributes, Parameters};
use crate::dim::{Bounds, Condition, Dim, Relation, Symbols};
use crate::fact::{Dims, Elements, Fact, TensorFact};
use crate::normalize::former_inputs;
use crate::operator::Operator;
use crate::operators::Row;
use crate::operators::errors;

/// The symbols of a model, what is known about them, and what may still be spent: graphs that a
/// node stands for share it with the graph around them.
#[derive(Debug, Default)]
pub struct Shared {
    pub symbols: Symbols,
    pub lists: HashSet<Dims>,
    pub assumed: HashSet<Condition>,
    /// Conditions that nodes check, and where.
    pub(super) required: HashSet<(When, Condition)>,
    /// Conditions as nodes had them: blocks of layers have the same ones.
    pub(super) met: HashSet<MetCondition>,
    /// Dimensions that are equal in every run under the assumptions: the one that is known by the
    /// other's name from then on.
    pub equal: HashMap<Dim, Dim>,
    /// The graphs around the present one that may not run, each with the condition under which it
    /// does: what holds in it need not hold outside.
    pub guards: Vec<Option<Condition>>,
    /// Number of graphs around the present one that never run: their nodes have no conditions.
    pub unreached: usize,
    /// Nodes that unrolled loops visited again.
    pub unrolled: usize,
    /// Nodes of subgraphs and functions that were visited.
    pub visited: usize,
    /// Elements that nodes touched which were evaluated.
    work: u64,
    /// Items of lists that were made of other lists.
    pub items: usize,
    /// The axes of all values of nodes.
    axes: usize,
    /// The error of the limit that ended the inference.
    pub ended: Option<Error>,
}

/// A condition of nodes with the guard around it, and whether it is assumed.
type MetCondition = (Option<Option<Condition>>, Condition, bool);

impl Shared {
    /// The condition as it is met under the present guards; nothing where it is not kept.
    pub(super) fn met_as(&self, condition: Condition, is_assumed: bool) -> Option<MetCondition> {
        let is_kept = self.unreached == 0 && self.guards.len() <= 1;
        is_kept.then(|| (self.guards.first().copied(), condition, is_assumed))
    }
}

/// The inference of a model, or of a graph that a node stands for.
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Pass<'m> {
    pub shared: Shared,
    pub standard: Standard,
    /// True if operators refuse inputs of types that they do not take.
    pub typed: bool,
    functions: &'m [Function],
    pub operators: &'m [Arc<dyn Operator>],
    use_declared: bool,
    pub cautious: bool,
    /// True if inputs that have a default have that.
    pub fixed_defaults: bool,
    pub max_bytes: u64,
    pub limits: Limits,
    resolved: HashMap<(*const u8, *const u8, Option<i64>), Resolved<'m>>,
    pub conditions: Vec<ModelCondition>,
    pub problems: Vec<Problem>,
    /// Declared shapes that are wrong.
    pub warnings: Vec<Problem>,
    pub bodies: Vec<Subgraph>,
    recorded: HashMap<SubgraphPath, usize>,
    /// How often subgraphs run, where that is known.
    pub runs: HashMap<SubgraphPath, GraphRuns>,
    /// Number of graphs around the present one that are inferred for one of many runs: facts of
    /// that run do not hold for the others, and are not recorded.
    pub repeated: usize,
    pub depth: usize,
}

/// Maximum number of nodes of subgraphs and functions that are visited: graphs that call each other
/// can ask for more than any number.
const MAX_VISITED: usize = 1_000_000;
/// Maximum number of subgraphs and calls of functions that are reported.
const MAX_REPORTED: usize = 10_000;

/// Maximum number of nodes that unrolled loops visit again.
pub const MAX_UNROLLED: usize = 20_000;
/// Maximum number of items of lists that were made of other lists: each insertion makes a list of
/// its own.
pub const MAX_ITEMS: usize = 1 << 18;

impl<'m> Pass<'m> {
    /// A pass over graphs of a standard, with the functions that nodes may call.
    pub fn new(standard: Standard, functions: &'m [Function], options: &InferOptions) -> Pass<'m> {
        Pass {
            shared: Shared::default(),
            standard,
            typed: true,
            functions,
            operators: &[],
            use_declared: !options.ignore_declared,
            cautious: options.cautious,
            fixed_defaults: true,
            max_bytes: options.max_bytes,
            limits: options.limits.unwrap_or_default(),
            resolved: HashMap::default(),
            conditions: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
            bodies: Vec::new(),
            recorded: HashMap::default(),
            runs: HashMap::default(),
            repeated: 0,
            depth: 0,
        }
    }

    /// The list of dimensions, each list kept once.
    pub fn list(&mut self, dims: impl Into<Dims>) -> Dims {
        let dims = dims.into();
        if let Some(known) = self.shared.lists.get(&dims) {
            return known.clone();
        }
        self.shared.lists.insert(dims.clone());
        dims
    }

    /// A frame with the facts of inputs, constants and captured values.
    pub fn frame(
        &mut self,
        graph: &'m Graph,
        inputs: Vec<Fact>,
        parameters: Parameters<'m>,
        path: Rc<str>,
    ) -> GraphFacts<'m> {
        let mut facts = vec![Fact::Unknown; graph.values().len()];
        for (id, constant) in graph.constants() {
            let dims: Vec<_> = constant.shape().dims().iter().map(|&len| Dim::from(len)).collect();
            facts[id.index()] = Fact::typed(constant.dtype(), self.list(dims));
        }
        for (id, fact) in graph.inputs().iter().zip(inputs) {
            if fact != Fact::Unknown {
                facts[id.index()] = fact;
            }
        }
        GraphFacts {
            graph,
            facts,
            depends: vec![false; graph.values().len()],
            several: vec![false; graph.values().len()],
            reasons: HashMap::default(),
            parameters,
            path,
            place: Arc::default(),
        }
    }

    /// Returns true if the limits end inference: time is over, or expressions of sizes take too
    /// many bytes.
    pub fn is_over(&mut self) -> bool {
        if self.shared.ended.is_none() {
            self.shared.ended = self.limits.check().err();
            self.allow("expressions of sizes", self.shared.symbols.bytes());
        }
        self.shared.ended.is_some()
    }

    /// Ends inference if something takes more bytes than are allowed.
    fn allow(&mut self, of: &str, bytes: u128) {
        if self.shared.ended.is_none() && bytes > u128::from(self.limits.max_bytes) {
            let what = format_args!("cannot infer: number of bytes for {of}");
            let wanted = format_args!("at most {} (--max-bytes)", self.limits.max_bytes);
            self.shared.ended = Some(Error::mismatch(Kind::Limit, what, bytes, wanted));
        }
    }

    /// Visits all nodes.
    pub fn run(&mut self, frame: &mut GraphFacts<'m>) {
        let graph = frame.graph;
        for &index in graph.order() {
            if self.is_over() {
                return;
            }
            self.step(frame, &graph.nodes()[index], index);
        }
    }

    fn step(&mut self, frame: &mut GraphFacts<'m>, node: &'m Node, index: usize) {
        let resolved = self.resolve(node);
        let row = resolved.row();
        let depends = depends(frame, node, row);
        let result = self.ruled(frame, node, index, &resolved, depends);
        let signature = resolved.signature();
        let is_inferred = result.is_ok() && matches!(resolved, Resolved::Rule { .. });
        let several = is_inferred || node.inputs.iter().flatten().any(|id| frame.several[id.index()]);
        let (facts, reason) = match result.and_then(|facts| self.sizes_checked(facts)) {
            Ok(facts) => (facts, None),
            Err(InferError::Unknown(input, why)) => {
                let reason = frame.reason(node, input, &why);
                // The first is told of all that follow from it.
                let read = input.and_then(|input| node.inputs.get(input).copied().flatten());
                if read.is_none_or(|id| !frame.reasons.contains_key(&id.index())) {
                    let text = format!("what it wants is not known: {reason}");
                    self.note_unchecked(text, frame.label(node, index));
                }
                (self.types_without_rule(frame, node), Some(reason))
            }
            Err(InferError::OpenOutputs(why)) => (self.types_without_rule(frame, node), Some(why.into())),
            Err(InferError::Invalid(error)) => {
                self.problem(frame, node, index, &error);
                (Vec::new(), Some(Arc::from(error.message())))
            }
        };
        let mut facts = facts.into_iter();
        let mut incomplete = false;
        for (slot, output) in node.outputs.iter().enumerate() {
            let fact = Self::listed(facts.next().unwrap_or_default());
            let Some(id) = *output else { continue };
            frame.depends[id.index()] = depends && !row.is_some_and(|row| row.shape_only);
            let mut fact = self.typed(frame, node, signature, slot, fact);
            incomplete |= matches!(
                &fact,
                Fact::Tensor(TensorFact { elements: Elements::Unknown | Elements::Extremes(_), .. })
            );
            frame.several[id.index()] = several && fact.is_of_unknown_rank();
            if self.use_declared {
                fact = self.refined(frame, id, fact);
            }
            if let Fact::Tensor(TensorFact { dims: Some(dims), .. }) = &mut fact {
                self.count_axes(dims.len());
                *dims = self.list(dims.clone());
                if self.shared.guards.is_empty() {
                    for &dim in dims.iter() {
                        if self.shared.symbols.at_least(dim, 0) {
                            continue;
                        }
                        let is_size = Condition::new(dim, Relation::AtLeast, Dim::ZERO);
                        self.require(is_size, Why::Run, || frame.label(node, index));
                        self.shared.symbols.bound(dim, Bounds::SIZE);
                    }
                }
            } else if let Some(reason) = &reason {
                frame.reasons.insert(id.index(), reason.clone());
            }
            frame.facts[id.index()] = fact;
        }
        if incomplete {
            self.evaluated(frame, node, index, &resolved);
            self.symbols_for_elements(frame, node, index);
        }
    }

    /// Applies the rule of a node's operator, or infers the function that the node calls.
    fn ruled(
        &mut self,
        frame: &mut GraphFacts<'m>,
        node: &'m Node,
        index: usize,
        resolved: &Resolved<'m>,
        depends: bool,
    ) -> InferResult {
        let attributes = Attributes::new(&node.attributes, resolved.form());
        let attributes = attributes.with_parameters(frame.parameters.clone());
        self.checked(frame, node, resolved, &attributes)?;
        let row = resolved.row();
        let operator = row.map_or(&*node.operator.name, |row| row.known_as());
        let former = former_inputs(&attributes)?.into_iter();
        let former = former.map(|(input, tensor)| (input, Fact::Tensor(TensorFact::of(tensor)))).collect();
        let mut cx =
            InferContext { pass: self, frame, node, index, row, operator, attributes, former, depends };
        match *resolved {
            Resolved::Function(function) => cx.call(function),
            Resolved::Registered(operator) => cx.registered(operator),
            Resolved::Rule { rule, .. } => rule(&mut cx),
            Resolved::None(reason) => Err(InferError::unknown(reason)),
        }
    }

    /// Checks attributes and types of inputs as a run does.
    fn checked(
        &self,
        frame: &GraphFacts<'m>,
        node: &Node,
        resolved: &Resolved<'m>,
        attributes: &Attributes<'m>,
    ) -> Result<(), InferError> {
        let signature = resolved.signature();
        if let Some(row) = resolved.row() {
            row.check_attributes(attributes)?;
            // Operators of IR that are lowered have no other check.
            if signature.is_none()
                && let Some(lowered) = row.signature_in(node.version.unwrap_or(i64::MAX))
            {
                attributes.check_contents(lowered.attributes, self.standard)?;
            }
        }
        let Some(signature) = signature else { return Ok(()) };
        attributes.check(signature.name, signature.attributes, self.standard)?;
        if !resolved.row().is_some_and(Row::states_inputs) {
            return Ok(());
        }
        let fact = |id: &Option<ValueId>| id.map(|id| &frame.facts[id.index()]);
        let inputs: SmallVec<[_; 4]> = node.inputs.iter().map(fact).collect();
        if self.typed {
            signature.check_inputs(&inputs)?;
        }
        let rank = |input: usize| Some((*inputs.get(input)?)?.as_tensor()?.dims.as_ref()?.len());
        Ok(resolved.row().map_or(Ok(()), |row| row.check_ranks(signature, rank))?)
    }

    /// The facts, if no dimension is below zero.
    fn sizes_checked(&self, facts: Vec<Fact>) -> Result<Vec<Fact>, InferError> {
        for (output, fact) in facts.iter().enumerate() {
            let dims = fact.as_tensor().and_then(|tensor| tensor.dims.as_deref()).unwrap_or_default();
            let below = |dim: &Dim| self.shared.symbols.bounds(*dim).upper().is_some_and(|most| most < 0);
            if let Some(axis) = dims.iter().position(below) {
                let size = self.shared.symbols.print(dims[axis]);
                let what = format!("size of axis {axis} of output {output}");
                return Err(errors::shape(what, size, "at least 0").into());
            }
        }
        Ok(facts)
    }

    /// The row, the function or the registered operator of a node.
    pub(super) fn resolve(&mut self, node: &Node) -> Resolved<'m> {
        let key = (node.operator.domain.as_ptr(), node.operator.name.as_ptr(), node.version);
        let plain = node.operator.overload.is_empty();
        if plain && let Some(resolved) = self.resolved.get(&key) {
            return *resolved;
        }
        let resolved = resolve(self.standard, self.functions, self.operators, node);
        // Names of a model are kept as long as the model is, so their addresses stand for them.
        if plain {
            self.resolved.insert(key, resolved);
        }
        resolved
    }

    /// Facts about the outputs of the only node of a graph, by its rule alone.
    ///
    /// # Errors
    /// Whatever the rule finds wrong.
    pub fn only_node(&mut self, frame: &mut GraphFacts<'m>) -> gradus_core::Result<Vec<Fact>> {
        let node = &frame.graph.nodes()[0];
        let resolved = self.resolve(node);
        let ruled = self.ruled(frame, node, 0, &resolved, false);
        if let Some(error) = self.shared.ended.take() {
            return Err(error);
        }
        match ruled.and_then(|facts| self.sizes_checked(facts)) {
            Ok(facts) => {
                let typed = |(slot, fact)| self.typed(frame, node, resolved.signature(), slot, fact);
                Ok(facts.into_iter().enumerate().map(typed).collect())
            }
            Err(InferError::Unknown(..) | InferError::OpenOutputs(_)) => Ok(Vec::new()),
            Err(InferError::Invalid(error)) => Err(error),
        }
    }

    /// Runs a subgraph on facts for its inputs, and gives those of its outputs.
    pub fn inner(
        &mut self,
        around: &mut GraphFacts<'m>,
        inner: Inner<'m>,
        inputs: Vec<Fact>,
    ) -> Result<Vec<Fact>, InferError> {
        let Inner { graph, parameters, place, name, depends, how } = inner;
        let guard = match how {
            Visit::Perhaps(guard) => Some(guard),
            Visit::Never => Some(None),
            Visit::Certain | Visit::Again => None,
        };
        if self.depth >= self.limits.max_depth {
            return Err(InferError::unknown("graphs and functions are nested too deeply"));
        }
        self.shared.visited = self.shared.visited.saturating_add(graph.nodes().len() + 1);
        if self.shared.visited > MAX_VISITED {
            return Err(InferError::unknown("inference budget exhausted (nested graphs and functions)"));
        }
        let path: Rc<str> =
            if around.path.is_empty() { name.into() } else { format!("{}/{name}", around.path).into() };
        let parameters = parameters.unwrap_or_else(|| around.parameters.clone());
        let mut frame = self.frame(graph, inputs, parameters, path);
        frame.place = around.place.iter().copied().chain([place]).collect();
        for id in graph.inputs() {
            frame.depends[id.index()] = depends;
            frame.several[id.index()] = frame.facts[id.index()].is_of_unknown_rank();
        }
        for capture in graph.captures() {
            self.read(around, capture.outer);
            frame.facts[capture.inner.index()] = around.facts[capture.outer.index()].clone();
            frame.several[capture.inner.index()] = around.several[capture.outer.index()];
            frame.depends[capture.inner.index()] = around.depends[capture.outer.index()];
        }
        self.depth += 1;
        self.shared.guards.extend(guard);
        self.shared.unreached += usize::from(how == Visit::Never);
        self.repeated += usize::from(how == Visit::Again);
        let (problems, warnings) = (self.problems.len(), self.warnings.len());
        self.run(&mut frame);
        self.shared.guards.truncate(self.shared.guards.len() - usize::from(guard.is_some()));
        // Errors in a subgraph that may not run are not errors of the model.
        let mut fails = false;
        if let Some(guard) = guard {
            fails = self.require_not(guard, problems);
            self.problems.truncate(problems);
            self.warnings.truncate(warnings);
        }
        self.shared.unreached -= usize::from(how == Visit::Never);
        fails &= self.shared.unreached == 0;
        self.depth -= 1;
        let outputs = graph.outputs().iter().map(|&id| {
            self.read(&mut frame, id);
            frame.facts[id.index()].clone()
        });
        let outputs = outputs.collect();
        if self.repeated == 0 {
            self.record(frame, fails);
        }
        self.repeated -= usize::from(how == Visit::Again);
        Ok(outputs)
    }

    fn record(&mut self, frame: GraphFacts<'m>, fails: bool) {
        let names = frame.graph.values().iter().map(|info| info.name.clone());
        let values = names.zip(frame.facts).collect();
        let computed = frame.graph.values().iter().map(|info| info.origin.is_node()).collect();
        let body = Subgraph { path: frame.path.to_string(), place: frame.place, values, computed, fails };
        let key = body.place.clone();
        if let Some(&index) = self.recorded.get(&key) {
            self.bodies[index] = body;
        } else if self.bodies.len() < MAX_REPORTED {
            self.recorded.insert(key, self.bodies.len());
            self.bodies.push(body);
        }
    }

    /// Reports an error at a node, once.
    pub fn problem(&mut self, frame: &GraphFacts<'m>, node: &Node, index: usize, error: &Error) {
        let place = frame.label(node, index);
        let (kind, message) = (error.kind(), error.message().to_owned());
        let problem = Problem { kind, place, message, node: Some((frame.place.clone(), index)) };
        note_once(&mut self.problems, problem);
    }

    /// Notes a declared shape that is wrong, once.
    pub fn warn(&mut self, warning: Problem) {
        note_once(&mut self.warnings, warning);
    }

    /// Counts the axes of a value against the bytes that are allowed: tensors of many axes may be
    /// read by many nodes.
    fn count_axes(&mut self, count: usize) {
        /// Bytes of an axis in facts, in what is made of them, and in texts.
        const AXIS: usize = 80;
        self.shared.axes = self.shared.axes.saturating_add(count);
        self.allow("the axes of all values", product(self.shared.axes, AXIS));
    }

    /// The fact, with what the model declares where nothing is inferred. What contradicts it is a
    /// problem, or a warning.
    fn refined(&mut self, frame: &mut GraphFacts<'m>, id: ValueId, fact: Fact) -> Fact {
        let info = frame.graph.value(id);
        let Some(declared) = &info.declared else { return fact };
        // A conversion needs ranks, and its report names those that it takes.
        let is_believed = self.cautious || !frame.several[id.index()];
        super::declared::refined(self, &info.name, declared, fact, is_believed)
    }
}
