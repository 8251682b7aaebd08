//! Shape contracts: what sizes of its inputs a model takes, and which shapes and memory follow, to
//! be written as functions of other languages.
//!
//! A contract accepts sizes only if every condition that inference knows holds: declared sizes,
//! axes that share a symbol, and [what nodes need](Inference::conditions). What depends on the data
//! cannot be decided by sizes: such conditions are [listed](Contract::unchecked), and such sizes of
//! outputs are [ranges](OutputSize::Between).

mod at_zero;
mod evaluate;
mod names;
mod profiles;
mod source;

use std::collections::{BTreeMap, HashSet};

use gradus_core::graph::{Graph, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Result};

pub use evaluate::{ContractShapes, OutputShape};
pub use profiles::{Deployment, Profile};
pub use source::Language;

use crate::dim::{Bounds, Condition, Dim, Origin, Relation, Symbols};
use crate::fact::Fact;
use crate::model::Model;
use gradus_engine::infer::{Event, InferOptions, Inference, ModelCondition, Reuse, Why, element_of_input};
use names::Names;

/// The sizes that a model takes, and the shapes and memory that follow.
#[derive(Clone, Debug)]
pub struct Contract {
    symbols: Symbols,
    inputs: Vec<ContractInput>,
    parameters: Vec<(usize, String)>,
    /// Names of variables, by the index of the symbol.
    variables: BTreeMap<usize, String>,
    conditions: Vec<ContractCondition>,
    elements: Vec<ContractElement>,
    of_elements: Vec<ContractCondition>,
    unchecked: Vec<Unchecked>,
    outputs: Vec<ContractOutput>,
    input_bytes: Option<Dim>,
    constant_bytes: u128,
    peak_bytes: Option<Dim>,
    grows: bool,
}

/// An input whose sizes are arguments: a tensor that has no default and at least one axis.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContractInput {
    /// Its name in the model.
    pub name: String,
    /// The name of the argument.
    pub argument: String,
    /// Its element type, if it is known.
    pub dtype: Option<DType>,
    /// Its sizes. The first axis of all that is a symbol and nothing else gives the symbol its
    /// number.
    pub shape: Vec<Dim>,
}

/// A condition that sizes must meet, and why.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContractCondition {
    /// The relation of expressions.
    pub condition: Condition,
    /// The relations under which it must hold; none if always.
    pub when: Vec<Condition>,
    /// The condition as text.
    pub text: String,
    /// The node that needs it, or `the inputs`.
    pub place: String,
}

/// An element of an input that decides conditions, such as the truth value that chooses a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContractElement {
    /// The name of its symbol.
    pub symbol: String,
    /// The name of the argument, which may be left out.
    pub argument: String,
    /// The element in words: `element 0 of input "sr"`.
    pub text: String,
    /// The name of the variable.
    variable: String,
    /// The index of the symbol.
    index: usize,
}

/// A condition that sizes of inputs do not decide.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unchecked {
    /// The condition as text.
    pub text: String,
    /// The node that needs it, or `the inputs`.
    pub place: String,
}

/// A size, or a number of bytes, of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputSize {
    /// An expression of the inputs' sizes.
    Exact(Dim),
    /// The data decide it: at least a number and at most an expression, if that is known.
    Between(i64, Option<Dim>),
}

/// An output.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContractOutput {
    /// Its name in the model.
    pub name: String,
    /// The name of the field.
    pub field: String,
    /// Its element type, if it is known.
    pub dtype: Option<DType>,
    /// Its sizes; nothing if the rank is not known or it is no tensor.
    pub shape: Option<Vec<OutputSize>>,
    /// Its bytes; nothing of text and where nothing is known.
    pub bytes: Option<OutputSize>,
    /// Other sizes and bytes, in the first case whose conditions hold.
    pub cases: Vec<OutputCase>,
    /// Why sizes are not exact.
    pub reasons: Vec<String>,
}

/// Sizes for which an output has another shape: some are 0, where a `Reshape` has another meaning.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutputCase {
    /// The conditions, all of which hold there.
    pub when: Vec<Condition>,
    /// Its sizes.
    pub shape: Vec<Dim>,
    /// Its bytes; nothing where they are not known elsewhere.
    pub bytes: Option<Dim>,
}

impl ContractCondition {
    /// The numbers one of which the first expression of the relation must be, if it says that of
    /// two or more.
    pub fn among(&self) -> Option<Vec<i64>> {
        Some(self.condition.among(&self.when)?.0)
    }

    /// The expressions of the relation, and of those under which it must hold.
    fn sides(&self) -> impl Iterator<Item = Dim> + '_ {
        [&self.condition].into_iter().chain(&self.when).flat_map(|of| [of.left, of.right])
    }
}

impl Model {
    /// The contract of the model: legal sizes of its inputs, and what follows from them.
    ///
    /// # Errors
    /// As [`Source::infer`](crate::Source::infer), and [`Kind::Graph`](gradus_core::Kind::Graph) if
    /// the model contradicts itself, as no sizes are legal then.
    ///
    /// ```
    /// use gradus::contract::Language;
    /// use gradus::infer::InferOptions;
    /// let model = gradus::Model::open("../../examples/positions.onnx")?;
    /// let contract = model.contract(&InferOptions::default())?;
    /// assert!(contract.source(Language::Python, "positions.onnx").contains("def shapes(tokens: Sequence[int])"));
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn contract(&self, options: &InferOptions) -> Result<Contract> {
        self.contract_at_zero(options, at_zero::MAX_BOUNDS)
    }
}

impl Contract {
    fn new(model: &Model, mut inference: Inference) -> Contract {
        let graph = model.graph();
        let mut names = Names::new();
        let inputs = inputs(graph, &inference, &mut names);
        let memory = crate::cost::memory(model, &mut inference);
        let peak = memory.peak.filter(|peak| peak.unknown == 0).map(|peak| peak.bytes);
        let outputs: Vec<_> =
            graph.outputs().iter().map(|&id| output(graph, &mut inference, &mut names, id)).collect();
        let grows = grows(model, &mut inference);
        let needed: Vec<_> = inference.conditions().iter().filter(|of| !of.of_sizes).cloned().collect();
        let mut contract = Contract {
            symbols: inference.symbols().clone(),
            inputs,
            parameters: Vec::new(),
            variables: BTreeMap::new(),
            conditions: Vec::new(),
            elements: Vec::new(),
            of_elements: Vec::new(),
            unchecked: Vec::new(),
            outputs,
            input_bytes: memory.inputs,
            constant_bytes: memory.constants,
            peak_bytes: None,
            grows,
        };
        contract.peak_bytes = peak.filter(|&peak| contract.is_decided(peak));
        contract.input_bytes = contract.input_bytes.filter(|&bytes| contract.is_decided(bytes));
        let mut seen = HashSet::new();
        let mut of_runs = Vec::new();
        for ModelCondition { text, node: place, relation, when, why, .. } in needed {
            let all = relation.zip(when.guards().map(<[_]>::to_vec)).filter(|(condition, guards)| {
                std::iter::once(condition).chain(guards).all(|of| contract.decides(of))
            });
            if let Some((condition, when)) = all {
                if seen.insert((condition, when.clone())) {
                    let of_sizes = [condition].iter().chain(&when).all(|of| contract.is_of_sizes(of));
                    let of = ContractCondition { condition, when, text, place };
                    if !of_sizes && why == Why::Run {
                        of_runs.push(of.clone());
                    }
                    let list = if of_sizes { &mut contract.conditions } else { &mut contract.of_elements };
                    list.push(of);
                }
            } else if why != Why::Declared {
                // A run does not check what is declared, and goes on without it.
                let unchecked = Unchecked { text, place };
                if !contract.unchecked.contains(&unchecked) {
                    contract.unchecked.push(unchecked);
                }
            }
        }
        contract.add_either(&of_runs, &mut seen);
        contract.bound_inputs(&mut seen);
        contract.name_symbols(&mut names);
        contract
    }

    /// Adds that one of two conditions holds where an element decides which must: `k in {3, 6}` for
    /// `k == 6 if c == 1` and `k == 3 if c == 0`.
    fn add_either(&mut self, all: &[ContractCondition], seen: &mut HashSet<(Condition, Vec<Condition>)>) {
        /// Maximum number of conditions that are held against one another.
        const MAX_COMPARED: usize = 64;
        for (at, of) in all.iter().enumerate().take(MAX_COMPARED) {
            for other in &all[..at] {
                let Some(mut when) = self.apart(&of.when, &other.when) else { continue };
                let (mut condition, second) = (of.condition, other.condition);
                if self.symbols.follows(&[condition], Some(&second), None) {
                    condition = second;
                } else if !self.symbols.follows(&[second], Some(&condition), None) {
                    let Some(guard) = self.symbols.opposite(&second) else { continue };
                    when.push(guard);
                }
                let of_sizes = when.iter().chain([&condition]).all(|of| self.is_of_sizes(of));
                if of_sizes && seen.insert((condition, when.clone())) {
                    let text = self.symbols.print_guarded(&condition, &when);
                    let place = of.place.clone();
                    self.conditions.push(ContractCondition { condition, when, text, place });
                }
            }
        }
    }

    /// The guards that two lists share, if each has one more, of which one holds where the other
    /// does not.
    fn apart(&mut self, a: &[Condition], b: &[Condition]) -> Option<Vec<Condition>> {
        let not_in = |a: &[Condition], b: &[Condition]| {
            a.iter().copied().filter(|guard| !b.contains(guard)).collect::<Vec<_>>()
        };
        let ([own], [other]) = (&not_in(a, b)[..], &not_in(b, a)[..]) else { return None };
        let is_opposite = self.symbols.opposite(own) == Some(*other);
        is_opposite.then(|| a.iter().copied().filter(|guard| guard != own).collect())
    }

    /// Adds the bounds of symbols, and that sizes that are expressions are not below zero.
    fn bound_inputs(&mut self, seen: &mut HashSet<(Condition, Vec<Condition>)>) {
        let mut sizes: Vec<_> = self.inputs.iter().flat_map(|input| input.shape.iter().copied()).collect();
        sizes.shared_sort();
        sizes.dedup();
        let mut first = Vec::new();
        let used = self.used_symbols(&sizes);
        let symbols = used.iter().filter_map(|&index| self.symbols.find(&self.symbols.symbols()[index].name));
        for dim in symbols.collect::<Vec<_>>() {
            let bounds = self.symbols.bounds(dim);
            let least = bounds.lower().map(|least| (Relation::AtLeast, least));
            let most = bounds.upper().map(|most| (Relation::AtMost, most));
            for (relation, bound) in least.into_iter().chain(most) {
                first.push(Condition::new(dim, relation, Dim::Known(bound)));
            }
        }
        let open: Vec<_> = sizes.into_iter().filter(|&dim| self.symbols.as_symbol(dim).is_none()).collect();
        first.extend(open.into_iter().map(|dim| Condition::new(dim, Relation::AtLeast, Dim::ZERO)));
        // Bounds do not decide conditions that are bounds themselves.
        first.retain(|condition| {
            let known = condition.left.known();
            known.is_none() && seen.insert((*condition, Vec::new()))
        });
        let place = "the inputs".to_owned();
        let stated = |condition: Condition| ContractCondition {
            condition,
            when: Vec::new(),
            text: self.symbols.print_condition(&condition),
            place: place.clone(),
        };
        let stated: Vec<_> = first.into_iter().map(stated).collect();
        self.conditions.splice(0..0, stated);
    }

    /// Names the variables of symbols. A symbol that no axis is alone is a parameter.
    fn name_symbols(&mut self, names: &mut Names) {
        let axes = self.inputs.iter().flat_map(|input| input.shape.iter());
        let axes: HashSet<_> = axes.filter_map(|&dim| self.symbols.as_symbol_index(dim)).collect();
        let conditions = self.conditions.iter().chain(&self.of_elements);
        let conditions = conditions.flat_map(ContractCondition::sides);
        let sizes = self.outputs.iter().flat_map(|output| {
            output.shape.iter().flatten().chain(&output.bytes).filter_map(|size| match size {
                OutputSize::Exact(dim) => Some(*dim),
                OutputSize::Between(_, most) => *most,
            })
        });
        let inputs = self.inputs.iter().flat_map(|input| input.shape.iter().copied());
        let all: Vec<_> =
            conditions.chain(sizes).chain(inputs).chain(self.input_bytes).chain(self.peak_bytes).collect();
        for index in self.used_symbols(&all) {
            let symbol = &self.symbols.symbols()[index];
            let name = names.plain(&symbol.name);
            if let Some(text) = element_of_input(symbol) {
                // Arguments of one element have its name, and variables another.
                let (symbol, text) = (symbol.name.to_string(), text.to_owned());
                let variable = names.plain(&symbol);
                self.elements.push(ContractElement {
                    symbol,
                    argument: name,
                    text,
                    variable: variable.clone(),
                    index,
                });
                self.variables.insert(index, variable);
                continue;
            }
            if !axes.contains(&gradus_core::convert::small_u32(index)) {
                self.parameters.push((index, name.clone()));
            }
            self.variables.insert(index, name);
        }
    }

    /// The indices of symbols that expressions are made of, each once, in order.
    fn used_symbols(&self, dims: &[Dim]) -> Vec<usize> {
        let used: HashSet<_> =
            dims.iter().flat_map(|&dim| self.symbols.symbols_of(dim)).map(|symbol| &*symbol.name).collect();
        let all = self.symbols.symbols().iter().enumerate();
        all.filter(|(_, symbol)| used.contains(&*symbol.name)).map(|(index, _)| index).collect()
    }

    fn is_decided(&self, dim: Dim) -> bool {
        is_decided(&self.symbols, dim)
    }

    fn is_of_sizes(&self, condition: &Condition) -> bool {
        self.is_decided(condition.left) && self.is_decided(condition.right)
    }

    /// Returns true if sizes of inputs decide a condition, or elements that arguments may give.
    fn decides(&self, condition: &Condition) -> bool {
        let mut symbols =
            [condition.left, condition.right].into_iter().flat_map(|dim| self.symbols.symbols_of(dim));
        symbols.all(|symbol| symbol.origin == Origin::Input || element_of_input(symbol).is_some())
    }

    /// The symbols, which give expressions their meaning.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The inputs whose sizes are arguments, in their order.
    pub fn inputs(&self) -> &[ContractInput] {
        &self.inputs
    }

    /// Symbols that are parts of sizes and no size alone: arguments of their own, each with the
    /// name of the symbol and that of the argument.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parameters.iter().map(|(index, name)| (&*self.symbols.symbols()[*index].name, &**name))
    }

    /// Conditions that sizes must meet, besides that each axis has its size.
    pub fn conditions(&self) -> &[ContractCondition] {
        &self.conditions
    }

    /// Elements of inputs that decide conditions: each is an argument that may be left out.
    pub fn elements(&self) -> &[ContractElement] {
        &self.elements
    }

    /// Conditions that sizes and elements of inputs decide together. A condition is checked where
    /// all its elements are given.
    pub fn of_elements(&self) -> &[ContractCondition] {
        &self.of_elements
    }

    /// Conditions that sizes do not decide.
    pub fn unchecked(&self) -> &[Unchecked] {
        &self.unchecked
    }

    /// The outputs, in their order.
    pub fn outputs(&self) -> &[ContractOutput] {
        &self.outputs
    }

    /// Bytes of the inputs; nothing if a size is not known.
    pub fn input_bytes(&self) -> Option<Dim> {
        self.input_bytes
    }

    /// Bytes of all constants.
    pub fn constant_bytes(&self) -> u128 {
        self.constant_bytes
    }

    /// An upper bound of the bytes of values of nodes at one time, for symbols of at least 1;
    /// nothing if a size is not known.
    pub fn peak_bytes(&self) -> Option<Dim> {
        self.peak_bytes
    }

    /// Returns true if no value of a node becomes smaller as a symbol grows: then the peak at 1 is
    /// a bound at 0.
    pub fn grows(&self) -> bool {
        self.grows
    }
}

fn is_decided(symbols: &Symbols, dim: Dim) -> bool {
    symbols.symbols_of(dim).iter().all(|symbol| symbol.origin == Origin::Input)
}

/// The inputs whose sizes are arguments.
fn inputs(graph: &Graph, inference: &Inference, names: &mut Names) -> Vec<ContractInput> {
    let open = graph.inputs().iter().filter(|id| graph.constant(**id).is_none());
    let found = open.filter_map(|&id| {
        let tensor = inference.fact(id).as_tensor()?;
        let of_symbols = |&dim| inference.symbols().without_assumption(dim);
        let shape: Vec<_> = tensor.dims.as_ref()?.iter().map(of_symbols).collect();
        if shape.is_empty() {
            return None;
        }
        let name = graph.value(id).name.to_string();
        let argument = names.plain(&name);
        Some(ContractInput { name, argument, dtype: tensor.dtype, shape })
    });
    found.collect()
}

fn output(graph: &Graph, inference: &mut Inference, names: &mut Names, id: ValueId) -> ContractOutput {
    let name = graph.value(id).name.to_string();
    let (reasons, bytes) = (inference.why_incomplete(id), inference.bytes(id));
    let fact = inference.fact(id).clone();
    let (dtype, dims) = match &fact {
        Fact::Tensor(tensor) => (tensor.dtype, tensor.dims.clone()),
        _ => (None, None),
    };
    let symbols = inference.symbols_mut();
    let shape = dims.map(|dims| dims.iter().map(|&dim| size(symbols, dim)).collect());
    let bytes = bytes.map(|bytes| size(symbols, bytes));
    ContractOutput { field: names.field(&name), name, dtype, shape, bytes, cases: Vec::new(), reasons }
}

/// The size of an output, by symbols of inputs alone.
fn size(symbols: &mut Symbols, dim: Dim) -> OutputSize {
    if is_decided(symbols, dim) {
        return OutputSize::Exact(dim);
    }
    let bounds = symbols.bounds(dim);
    let most = symbols.at_most(dim).filter(|&most| is_decided(symbols, most));
    let most = most.or(Bounds::upper(bounds).map(Dim::Known));
    OutputSize::Between(bounds.lower().unwrap_or(0).max(0), most)
}

/// Returns true if no value of a node becomes smaller as a symbol grows.
fn grows(model: &Model, inference: &mut Inference) -> bool {
    let (events, _) = inference.events(model, Reuse::None);
    let symbols = inference.symbols_mut();
    let mut sizes: HashSet<Dim> = HashSet::new();
    sizes.extend(events.iter().filter_map(|event| match event {
        Event::Made(bytes) => Some(*bytes),
        Event::Freed(_) | Event::Full(_) => None,
    }));
    sizes.into_iter().all(|bytes| {
        let bytes = symbols.at_most(bytes).unwrap_or(bytes);
        symbols.never_falls(bytes)
    })
}
