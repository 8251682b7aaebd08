//! Shape inference: what is known of every value before a model runs.
//!
//! One pass over the nodes in order, each by the rule of its operator (`operators/`, a folder each
//! family), with [symbolic integers](crate::dim) for dimensions and for the elements of shapes. The
//! result is sound: for inputs on which the model runs, every value is as its [`Fact`] says,
//! provided that the reported [conditions](ModelCondition) hold. What is not known is said with its
//! reason.

mod check_sizes;
mod conditions;
mod context;
mod contradiction;
mod declared;
mod elements;
mod extremes;
pub mod float_range;
mod in_place;
mod lowered;
mod one_node;
mod pass;
mod peak;
mod remarks;
mod report;
mod rules;
mod sizes;
mod solved;
mod trace;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::{DeclaredDim, Graph, Node, Standard, Type, ValueId};
use gradus_core::text::name_in_message;
use gradus_core::{Error, Kind, Limits, Result, Value};

pub use contradiction::contradiction;
pub use elements::element_of_input;
pub use in_place::Reuse;
pub use in_place::Rooms;
pub use pass::{Subgraph, SubgraphPath};
pub use peak::Peak;
pub use peak::{Event, bytes_of};
pub use remarks::{ElementRange, ModelCondition, Problem, When, Why};
pub use report::Completeness;
pub use rules::{function_of_node, graphs_of_node, is_understood, row_of_node};
pub use sizes::{SizeAssumptions, Sizes};
pub use trace::{Trace, Traced};

pub use context::{InferContext, InferError, InputLabel};
pub use lowered::facts_of_lowered;
pub use one_node::OneNode;
pub use pass::{GraphRuns, SubgraphFacts, Visit, label as node_label};
pub use rules::{InferResult, Rule};

use crate::dim::{Bounds, Dialect, Origin, Symbols, axis_name};
use crate::fact::Fact;
use crate::normalize::has_default_inputs;
use crate::source::Source;
use pass::Pass;
use solved::Solved;

/// The facts that are given before inference.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InferOptions {
    /// Sizes and types of inputs.
    pub sizes: Sizes,
    /// Do not look at declared types of values that nodes compute.
    pub ignore_declared: bool,
    /// Take nothing for granted but what every run implies: inputs that have a default may be given
    /// another, and floats may round dimensions. Less is known then, and all of it holds for
    /// whatever the model runs on.
    pub cautious: bool,
    /// Conclude nothing from the defaults of inputs: callers may give others. Cautious options do
    /// not either.
    pub open_defaults: bool,
    /// Maximum number of bytes of a constant that is computed.
    pub max_bytes: u64,
    /// Limits of what constant nodes may spend, and of nesting; if none are given, those of the
    /// model.
    pub limits: Option<Limits>,
    /// The dialect in which dimensions are printed, and written into models.
    pub dialect: Dialect,
}

impl InferOptions {
    /// The options that say nothing but this of the inputs.
    pub fn of(sizes: Sizes) -> InferOptions {
        InferOptions { sizes, ..InferOptions::default() }
    }

    /// These options, assuming only what holds in every run: an input with a default may be given
    /// another value.
    #[must_use]
    pub fn cautiously(self) -> InferOptions {
        InferOptions { cautious: true, ..self }
    }
}

impl Default for InferOptions {
    fn default() -> Self {
        InferOptions {
            sizes: Sizes::default(),
            ignore_declared: false,
            cautious: false,
            open_defaults: false,
            max_bytes: 1 << 19,
            limits: None,
            dialect: Dialect::default(),
        }
    }
}

/// Facts about an input.
#[derive(Clone, Debug)]
pub enum InputFact {
    /// Its type.
    Type(Type),
    /// The input itself.
    Value(Value),
}

/// The facts about a model.
#[derive(Clone, Debug)]
pub struct Inference {
    symbols: Symbols,
    facts: Vec<Fact>,
    reasons: foldhash::HashMap<usize, Arc<str>>,
    conditions: Vec<ModelCondition>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    bodies: Vec<Subgraph>,
    runs: foldhash::HashMap<SubgraphPath, GraphRuns>,
}

impl Inference {
    /// Facts about a value of the main graph.
    pub fn fact(&self, id: ValueId) -> &Fact {
        &self.facts[id.index()]
    }

    /// The facts of the main graph, the symbols, the facts of subgraphs, and what cannot
    /// be right.
    pub fn into_parts(self) -> (Vec<Fact>, Symbols, SubgraphFacts, Vec<Problem>) {
        (self.facts, self.symbols, SubgraphFacts::new(self.bodies), self.problems)
    }

    /// Facts about all values of the main graph, by number.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// All symbols, and what expressions of them mean.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The symbols of the dimensions, for arithmetic on them.
    pub fn symbols_mut(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    /// Why little is known of a value, if little is.
    pub fn reason(&self, id: ValueId) -> Option<&str> {
        self.reasons.get(&id.index()).map(|reason| &**reason)
    }

    /// Conditions on the inputs, the narrowest first. Under those that
    /// [rest](ModelCondition::rests) the facts hold; a run succeeds only where all of [every
    /// run](Why::Run) hold.
    pub fn conditions(&self) -> &[ModelCondition] {
        &self.conditions
    }

    /// Errors in the model: nodes whose inputs do not go together, declared element types that
    /// contradict what is inferred. No run succeeds.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Declared shapes of values that nodes compute, where what is inferred contradicts them. It is
    /// the inferred shape that a run shows.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Refuses what has no meaning for a model that contradicts itself.
    pub fn must_be_consistent(&self, what: &str) -> Result<()> {
        match self.problems.first() {
            None => Ok(()),
            Some(Problem { place, message, .. }) => {
                let message = format!("{what}: the model contradicts itself: {place}: {message}");
                Err(Error::new(Kind::Graph, message))
            }
        }
    }

    /// How often the graph at a place runs; nothing if it may run once.
    pub fn runs(&self, place: &[(usize, usize)]) -> Option<GraphRuns> {
        self.runs.get(place).copied()
    }

    /// The inferred subgraphs and functions, by their path.
    pub fn subgraphs(&self) -> &[Subgraph] {
        &self.bodies
    }
}

/// Maximum number of times that a model is inferred again with sizes that were solved.
const MAX_ROUNDS: usize = 4;

impl Source {
    /// Facts about every value, from what is given and from what the model declares.
    ///
    /// # Errors
    /// [`Kind::Usage`] if an input's name is not known, or what is given contradicts itself. What
    /// is wrong in the graph is no error: it is among the [problems](Inference::problems).
    ///
    /// ```
    /// use gradus::infer::InferOptions;
    /// let model = gradus::Model::open("../../examples/positions.onnx")?;
    /// let inference = model.infer(&InferOptions::default())?;
    /// let phase = inference.fact(model.value("phase")?);
    /// assert_eq!(inference.describe(phase), "float32[seq]");
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn infer(&self, options: &InferOptions) -> Result<Inference> {
        let mut inference = self.infer_once(options, &Solved::default())?;
        if options.cautious {
            return Ok(inference);
        }
        let mut solved = Solved::default();
        for _ in 0..MAX_ROUNDS {
            if !solved.extend(&inference) {
                break;
            }
            match self.infer_once(options, &solved) {
                Ok(narrower) => inference = narrower,
                // The equalities contradict what is given, which is told of the sizes as they are.
                Err(error) if error.kind() == Kind::Usage => break,
                Err(error) => return Err(error),
            }
        }
        inference.solve(&options.limits.unwrap_or(self.limits()));
        Ok(inference)
    }

    /// Infers the facts in all symbols that inputs declare: equality of sizes becomes a condition
    /// with its node, and no fact.
    ///
    /// # Errors
    /// As [`Source::infer`].
    pub fn infer_as_declared(&self, options: &InferOptions) -> Result<Inference> {
        let mut inference = self.infer_once(options, &Solved::default())?;
        inference.solve(&options.limits.unwrap_or(self.limits()));
        Ok(inference)
    }

    /// Infers the facts in all symbols that inputs declare, with each condition that a node notes,
    /// be it implied by another or not.
    ///
    /// # Errors
    /// As [`Source::infer`].
    pub fn infer_by_node(&self, options: &InferOptions) -> Result<Inference> {
        self.infer_once(options, &Solved::default())
    }

    /// Facts about every value, where inputs are as it was solved before.
    fn infer_once(&self, options: &InferOptions, solved: &Solved) -> Result<Inference> {
        let source = self.source();
        let graph = self.graph();
        let mut pass = Pass::new(source.standard, &source.functions, options);
        pass.shared.symbols.print_in(options.dialect);
        pass.operators = self.operators();
        pass.limits = options.limits.unwrap_or(self.limits());
        for (name, given) in &options.sizes.inputs {
            self.input(name)?;
            within_signed(name, given)?;
        }
        let declared = symbols_of_inputs(graph, &options.sizes.inputs);
        let nameless: BTreeSet<_> = nameless_axes(graph).map(|(_, name)| name).collect();
        let nameless = &nameless - &declared;
        let known = &declared | &nameless;
        for (name, value) in &options.sizes.dims {
            if !known.contains(name) {
                return Err(sizes::unknown_size(name, &known, graph));
            }
            if *value < 0 {
                let what = format_args!("dimension \"{name}\"");
                return Err(Error::mismatch(Kind::Usage, what, value, "at least 0"));
            }
            let within = options.sizes.assume.clamped(name, *value);
            if within != *value {
                let what = format_args!("dimension \"{name}\"");
                return Err(Error::mismatch(
                    Kind::Usage,
                    what,
                    value,
                    format_args!("a number in its range, as {within}"),
                ));
            }
            pass.shared.symbols.fix(name, *value);
        }
        options.sizes.assume.apply(&known, graph, &mut pass.shared.symbols)?;
        fix_symbols(&mut pass, graph, options)?;
        if !options.sizes.assume.conditions.is_empty() {
            // In the order that they have without conditions.
            make_symbols(graph, &options.sizes.inputs, &mut pass.shared.symbols);
        }
        let mut given = options.sizes.assume.assumptions().collect::<Vec<_>>();
        let names = [&declared, &nameless];
        given.extend(options.sizes.assume.assume(names, graph, &mut pass.shared.symbols)?);
        given.extend(solved.assume(names, graph, &mut pass.shared.symbols)?);
        let overridable = has_default_inputs(source);
        pass.fixed_defaults = !((options.cautious || options.open_defaults) && overridable);
        let read = read_values(graph);
        let facts = graph.inputs().iter().map(|&id| {
            let overridable = overridable && read[id.index()];
            input_fact(&mut pass, graph, id, options, overridable)
        });
        let facts = facts.collect::<Vec<_>>();
        pass.conditions.extend(given);
        pass.conditions.extend(names_taken(graph, options));
        let mut frame = pass.frame(graph, facts, Rc::default(), "".into());
        for &id in graph.inputs() {
            let name = &*graph.value(id).name;
            let given = matches!(options.sizes.inputs.get(name), Some(InputFact::Value(_)));
            frame.depends[id.index()] = !given && graph.constant(id).is_none();
        }
        pass.run(&mut frame);
        for &id in graph.outputs() {
            pass.read(&mut frame, id);
        }
        if let Some(error) = pass.shared.ended {
            return Err(error);
        }
        if !options.cautious && !options.ignore_declared {
            name_as_declared(graph, &frame.facts, &mut pass.shared.symbols);
        }
        Ok(Inference {
            facts: frame.facts,
            reasons: frame.reasons,
            symbols: pass.shared.symbols,
            conditions: pass.conditions,
            problems: pass.problems,
            warnings: pass.warnings,
            bodies: pass.bodies,
            runs: pass.runs,
        })
    }
}

/// The names in dimensions of inputs, as declared and as given.
pub fn symbols_of_inputs(graph: &Graph, given: &BTreeMap<String, InputFact>) -> BTreeSet<String> {
    let mut scratch = Symbols::default();
    make_symbols(graph, given, &mut scratch);
    scratch.symbols().iter().map(|symbol| symbol.name.to_string()).collect()
}

/// Makes the symbols in dimensions of inputs.
fn make_symbols(graph: &Graph, given: &BTreeMap<String, InputFact>, symbols: &mut Symbols) {
    let given = given.values().filter_map(|given| match given {
        InputFact::Type(of) => Some(of),
        InputFact::Value(_) => None,
    });
    let declared = graph.inputs().iter().filter_map(|&id| graph.value(id).declared.as_ref());
    let mut open: Vec<&Type> = declared.chain(given).collect();
    open.reverse();
    while let Some(of) = open.pop() {
        match of {
            Type::Tensor(_, Some(sizes)) => {
                for size in sizes {
                    if let DeclaredDim::Symbol(text) = size {
                        symbols.declared(text);
                    }
                }
            }
            Type::Sequence(inner) | Type::Optional(inner) => open.push(inner),
            Type::Tensor(_, None) | Type::Map(..) | Type::Other(_) => {}
        }
    }
}

/// The place of what inputs declare.
const INPUTS: &str = "the inputs";

/// Conditions that names of dimensions stand for, though nothing holds the inputs of a run to it.
fn names_taken(graph: &Graph, options: &InferOptions) -> Vec<ModelCondition> {
    let (mut axes, mut scratch): (BTreeMap<&str, usize>, _) = (BTreeMap::new(), Symbols::default());
    let mut taken = Vec::new();
    let open = |id: &&ValueId| graph.constant(**id).is_none();
    for info in graph.inputs().iter().filter(open).map(|&id| graph.value(id)) {
        let Some(Type::Tensor(_, Some(sizes))) = &info.declared else { continue };
        for (axis, size) in sizes.iter().enumerate() {
            let DeclaredDim::Symbol(text) = size else { continue };
            let dim = scratch.declared(text);
            if scratch.as_symbol(dim).is_none() {
                let name = name_in_message(&info.name);
                taken.push(format!("size of axis {axis} of input \"{name}\" is {text}"));
            } else if !options.sizes.dims.contains_key(&**text) {
                *axes.entry(text).or_default() += 1;
            }
        }
    }
    let shared: Vec<_> = axes.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect();
    if !shared.is_empty() {
        taken.push(format!("axes of one name have one size: {}", shared.join(", ")));
    }
    taken.into_iter().map(|text| ModelCondition::declared(text, INPUTS)).collect()
}

/// Names sizes that inference made a symbol for as the model names them, those of outputs first.
fn name_as_declared(graph: &Graph, facts: &[Fact], symbols: &mut Symbols) {
    for id in graph.outputs().iter().copied().chain(graph.ids()) {
        let (Some(Type::Tensor(_, Some(sizes))), Some(dims)) = (
            &graph.value(id).declared,
            facts[id.index()].as_tensor().and_then(|tensor| tensor.dims.as_ref()),
        ) else {
            continue;
        };
        for (size, &dim) in sizes.iter().zip(dims.iter()) {
            if let DeclaredDim::Symbol(name) = size
                && dim.known().is_none()
                && is_name(name)
            {
                symbols.rename(dim, name);
            }
        }
    }
}

/// Returns true if a declared size is a name that somebody chose. Exporters make `y_dim_0` of the
/// name of a value, and `unk__7` of nothing.
fn is_name(text: &str) -> bool {
    let is_made = text.starts_with("unk__")
        || text.rsplit_once("_dim_").is_some_and(|(_, axis)| axis.bytes().all(|byte| byte.is_ascii_digit()));
    let is_plain = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.bytes().all(is_plain) && !is_made
}

/// Refuses a size that no tensor has: extents are signed numbers of 64 bits everywhere.
fn within_signed(name: &str, given: &InputFact) -> Result<()> {
    let InputFact::Type(Type::Tensor(_, Some(sizes))) = given else { return Ok(()) };
    for (axis, size) in sizes.iter().enumerate() {
        let (DeclaredDim::Known(len) | DeclaredDim::Between(len, None) | DeclaredDim::Between(_, Some(len))) =
            size
        else {
            continue;
        };
        if i64::try_from(*len).is_err() {
            let what = format_args!("size of axis {axis} of input \"{name}\"");
            return Err(Error::mismatch(Kind::Usage, what, len, "at most 2^63 - 1"));
        }
    }
    Ok(())
}

/// The names that axes of inputs get which have none: the input's and the number of the axis.
pub fn nameless_axes(graph: &Graph) -> impl Iterator<Item = (&DeclaredDim, String)> {
    let mut scratch = Symbols::default();
    let axes = graph.inputs().iter().flat_map(|&id| {
        let info = graph.value(id);
        let sizes = match &info.declared {
            Some(Type::Tensor(_, Some(sizes))) => &sizes[..],
            _ => &[],
        };
        sizes.iter().enumerate().map(|(axis, size)| (size, axis_name(&info.name, axis)))
    });
    let open = axes.filter(|(size, _)| matches!(size, DeclaredDim::Unknown | DeclaredDim::Between(..)));
    open.filter_map(move |(size, hint)| {
        let dim = scratch.fresh(&hint, Origin::Input, Bounds::SIZE);
        Some((size, scratch.as_symbol(dim)?.name.to_string()))
    })
}

/// Fixes a name that declares an input's dimension at the number that is given, everywhere.
fn fix_symbols(pass: &mut Pass<'_>, graph: &Graph, options: &InferOptions) -> Result<()> {
    let mut fixed: HashMap<String, (i64, String)> = HashMap::new();
    for &id in graph.inputs() {
        let info = graph.value(id);
        let (Some(given), Some(Type::Tensor(_, Some(declared)))) =
            (options.sizes.inputs.get(&*info.name), &info.declared)
        else {
            continue;
        };
        let sizes: Vec<_> = match given {
            InputFact::Value(Value::Tensor(tensor)) => {
                tensor.shape().dims().iter().map(|&len| DeclaredDim::Known(len)).collect()
            }
            InputFact::Type(Type::Tensor(_, Some(sizes))) => sizes.clone(),
            _ => continue,
        };
        // A shape that is given takes the place of the declared one; a value does not.
        let is_value = matches!(given, InputFact::Value(_));
        let wrong = |what: &str, got: usize, wanted: &dyn fmt::Display| {
            let what = format_args!("{what} of input \"{}\"", info.name);
            Err(Error::mismatch(Kind::Usage, what, got, wanted))
        };
        if sizes.len() != declared.len() {
            return wrong("rank", sizes.len(), &declared.len());
        }
        for (axis, (given, declared)) in sizes.iter().zip(declared).enumerate() {
            let DeclaredDim::Known(size) = given else { continue };
            let what = format!("size of axis {axis}");
            if is_value && !declared.admits(*size) {
                return wrong(&what, *size, declared);
            }
            let DeclaredDim::Symbol(name) = declared else { continue };
            let mut scratch = Symbols::default();
            let dim = scratch.declared(name);
            let plain = scratch.as_symbol(dim).is_some();
            let len = i64_of(*size);
            let known =
                options.sizes.dims.get(&**name).map(|&known| (known, format!("dimension \"{name}\"")));
            match known.or_else(|| fixed.get(&**name).cloned()) {
                Some((other, by)) if other != len => {
                    return wrong(&what, *size, &format_args!("{other}, the size of \"{name}\" by {by}"));
                }
                _ if plain => {
                    fixed.insert(name.to_string(), (len, format!("input \"{}\"", info.name)));
                    pass.shared.symbols.fix(name, len);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// By value: true if a node of the graph reads it, or if it is an output.
pub fn read_values(graph: &Graph) -> Vec<bool> {
    let mut read = vec![false; graph.values().len()];
    let all = graph.nodes().iter().flat_map(Node::needs).chain(graph.outputs().iter().copied());
    all.for_each(|id| read[id.index()] = true);
    read
}

fn input_fact(
    pass: &mut Pass<'_>,
    graph: &Graph,
    id: ValueId,
    options: &InferOptions,
    overridable: bool,
) -> Fact {
    let info = graph.value(id);
    let declared = info.declared.as_ref().map(|declared| declared::fact_of_input(pass, &info.name, declared));
    let declared = declared.unwrap_or_default();
    let fact = match options.sizes.inputs.get(&*info.name) {
        Some(InputFact::Value(value)) => return Fact::of(value),
        Some(InputFact::Type(given)) => {
            let given = declared::fact_of_input(pass, &info.name, given);
            match (given, declared) {
                (Fact::Tensor(given), Fact::Tensor(declared)) => {
                    let (dtype, dims) = (given.dtype.or(declared.dtype), given.dims.or(declared.dims));
                    Fact::Tensor(crate::fact::TensorFact::new(dtype, dims))
                }
                (given, _) => given,
            }
        }
        // The initializer is the input's default; old models list all initializers as inputs.
        None if graph.constant(id).is_some() && pass.fixed_defaults => {
            if overridable {
                let text = format!("input \"{}\" has its default", name_in_message(&info.name));
                let stated = ModelCondition::declared(text, INPUTS);
                pass.conditions.push(ModelCondition { why: Why::Taken, of_sizes: false, ..stated });
            }
            return Fact::Unknown;
        }
        None => declared,
    };
    elements::with_symbols(pass, &info.name, fact)
}

/// Facts about the outputs of a loop's body in its first run, from what is known of its inputs
/// and of the values around: for loops that do not run, and so do not tell.
pub fn outputs_of_body(
    standard: Standard,
    graph: &Graph,
    inputs: Vec<Fact>,
    around: impl Fn(usize) -> Fact,
) -> Vec<Fact> {
    let mut pass = Pass::new(standard, &[], &InferOptions::default());
    let mut frame = pass.frame(graph, inputs, Rc::default(), "".into());
    for capture in graph.captures() {
        frame.facts[capture.inner.index()] = around(capture.outer.index());
    }
    pass.run(&mut frame);
    graph.outputs().iter().map(|id| frame.facts[id.index()].clone()).collect()
}
