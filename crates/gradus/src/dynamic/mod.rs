//! Dynamic models: the sizes that an export fixed are open again.
//!
//! The inputs are declared with symbols, and inference says which nodes then take no size but that
//! of the file. The constant that decides each is given a formula of the symbols: an element of a
//! list of sizes, or a table whose elements follow from their index. What two formulas fit as well
//! is refused with both, unless a later node refutes one; what none fits is refused with the node.
//! The result is compared with each source at its sizes, and run at others.
//!
//! | file | subject |
//! |---|---|
//! | `sources.rs` | exports of one network, node by node |
//! | `view.rs` | the model with changes, and the conditions that inference finds |
//! | `search.rs` | the order of changes, and choices |
//! | `candidates.rs`, `fits.rs` | formulas that may take the place of a constant |
//! | `reshape.rs`, `table.rs`, `grid.rs`, `waves.rs` | shapes of a Reshape, and patterns of tables |
//! | `formula.rs`, `table_nodes.rs` | the nodes of formulas |
//! | `rows.rs` | tables of indices of rows, and runs on stacked inputs |
//! | `verify.rs` | proofs and runs |

mod candidates;
mod fits;
mod formula;
mod grid;
mod left;
mod reshape;
mod rows;
mod search;
mod solve;
mod sources;
mod table;
mod table_nodes;
mod verify;
mod view;
mod waves;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gradus_core::graph::{self, DeclaredDim, Standard, Type};
use gradus_core::text::name_in_message;
use gradus_core::{Error, Kind, Limits, Result};

use crate::declare::{Telling, merged};
use crate::fact::TensorFact;
use crate::model::Model;
use crate::prove::ProveOptions;
use formula::named_axes;
use gradus_engine::infer::{InferOptions, Why, node_label};
use solve::solve;
pub(crate) use sources::constant;
use sources::{Sources, sizes_of};
use view::{ChangedModel, Ground, TriedFormulas};

/// Options of [`Model::dynamic`] and [`Model::generalize`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DynamicOptions {
    /// The sizes of inputs, by name: numbers stay, names are open.
    pub inputs: HashMap<String, Vec<DeclaredDim>>,
    /// Expressions for nodes, by the name of the node or of its first output, where several fit.
    pub sizes: BTreeMap<String, String>,
    /// The time for the search and for runs that compare, if the limits have no deadline.
    pub time: Duration,
    /// Limits; if none are given, those of the model.
    pub limits: Option<Limits>,
}

impl Default for DynamicOptions {
    fn default() -> DynamicOptions {
        DynamicOptions {
            inputs: HashMap::new(),
            sizes: BTreeMap::new(),
            time: Duration::from_mins(1),
            limits: None,
        }
    }
}

/// A model whose sizes are open.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Dynamic {
    /// The model, in memory: [`Model::save_edited`] writes it, [`Model::edited`] makes a [`Model`]
    /// of it.
    pub model: graph::Model,
    /// The constants that formulas took the place of, in the order of nodes.
    pub changes: Vec<SizeChange>,
    /// Numbers that stay though they were what a size was, such as the length by which a mean
    /// divides: a sentence each. Only those who know the network can tell whether they are sizes;
    /// [`Model::generalize`] asks other exports.
    pub left: Vec<String>,
    /// Conditions of the sizes for which it runs.
    pub conditions: Vec<String>,
    /// How it was compared with its sources, and where it ran: a sentence each.
    pub checks: Vec<String>,
}

impl Dynamic {
    /// Changes and comparisons, a line each.
    pub fn notes(&self) -> Vec<String> {
        let change = |change: &SizeChange| {
            let SizeChange { node, input, before, after } = change;
            format!("input {input} of {node}: {before} became {after}")
        };
        self.changes.iter().map(change).chain(self.left.iter().chain(&self.checks).cloned()).collect()
    }
}

/// A formula in the place of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SizeChange {
    /// The node that reads it, in words.
    pub node: String,
    /// The number of the input.
    pub input: usize,
    /// The constant.
    pub before: String,
    /// The formula.
    pub after: String,
}

impl Model {
    /// The model with open sizes of inputs: constants that were sizes become expressions of them.
    ///
    /// # Errors
    /// [`Kind::Usage`] if an input is not known or has another rank, or an option names no node;
    /// [`Kind::Graph`] if a node takes no size but that of the file and no formula fits, if several
    /// fit as well, or if the result is not the model at its sizes; [`Kind::Unsupported`] if it is
    /// no ONNX model.
    ///
    /// ```
    /// use gradus::Model;
    /// use gradus::dynamic::DynamicOptions;
    /// use gradus::graph::DeclaredDim;
    /// let model = Model::open("../../examples/baked.onnx")?;
    /// let mut options = DynamicOptions::default();
    /// let batch = DeclaredDim::Symbol("batch".into());
    /// let sizes = [batch, DeclaredDim::Known(16), DeclaredDim::Known(8)];
    /// options.inputs.insert("x".into(), sizes.into());
    /// let dynamic = model.dynamic(&options)?;
    /// assert_eq!(dynamic.changes[0].after, "[0, 16, 2, 4]");
    /// assert!(dynamic.conditions.is_empty());
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn dynamic(&self, options: &DynamicOptions) -> Result<Dynamic> {
        self.generalize(&[], options)
    }

    /// The model with the sizes open that differ between exports of one network, of which this is
    /// the first. Sizes that are given in the options say more: two axes of one name are the same.
    ///
    /// # Errors
    /// As [`Model::dynamic`]; [`Kind::Graph`] if the exports differ in more than sizes.
    ///
    /// ```
    /// use gradus::Model;
    /// let first = Model::open("../../examples/fixed_1x4.onnx")?;
    /// let second = Model::open("../../examples/fixed_2x6.onnx")?;
    /// let dynamic = first.generalize(&[&second], &Default::default())?;
    /// assert_eq!(dynamic.changes.len(), 2);
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn generalize(&self, others: &[&Model], options: &DynamicOptions) -> Result<Dynamic> {
        if self.source().standard != Standard::Onnx {
            let what = "cannot make the model dynamic: its standard";
            let wanted = "onnx, which `gradus convert` writes";
            return Err(Error::mismatch(Kind::Unsupported, what, self.source().standard, wanted));
        }
        let mut limits = options.limits.unwrap_or(self.limits());
        limits.deadline = limits.deadline.or_else(|| Instant::now().checked_add(options.time));
        let models: Vec<&Model> = [self].into_iter().chain(others.iter().copied()).collect();
        let types = self.open_types(others, options)?;
        let sizes = models.iter().map(|model| sizes_in(model, &types)).collect::<Result<Vec<_>>>()?;
        let all = self.graph().inputs().iter().map(|&id| self.graph().value(id));
        let declared = all.filter_map(|info| Some((info.name.clone(), info.declared.as_ref()?)));
        let mut axes = named_axes(types.iter().map(|(name, of)| (name.clone(), of)));
        for (name, axis) in named_axes(declared) {
            axes.entry(name).or_insert(axis);
        }
        let ground = Ground::new(self, types, axes, sizes[0].clone());
        let sources = Sources::new(models, sizes)?;
        let wanted = wanted(self, options)?;
        let (changes, view, runs) = solve(&ground, &sources, &wanted, limits)?;
        finish(&ground, &sources, (&changes, &view), runs, limits)
    }

    /// The types of the inputs with symbols for open sizes.
    fn open_types(&self, others: &[&Model], options: &DynamicOptions) -> Result<Vec<(Arc<str>, Type)>> {
        for name in options.inputs.keys() {
            self.input(name)?;
        }
        let mut names: Vec<(Vec<i64>, Arc<str>)> = Vec::new();
        let mut types = Vec::new();
        for (number, &id) in self.graph().inputs().iter().enumerate() {
            let info = self.graph().value(id);
            let dtype = info.declared.as_ref().and_then(Type::dtype);
            if let Some(sizes) = options.inputs.get(&*info.name) {
                types.push((info.name.clone(), Type::Tensor(dtype, Some(sizes.clone()))));
                continue;
            }
            let Some(own) = sizes_of(info.declared.as_ref()) else { continue };
            let each = others.iter().map(|other| {
                let id = *other.graph().inputs().get(number)?;
                sizes_of(other.graph().value(id).declared.as_ref()).filter(|sizes| sizes.len() == own.len())
            });
            let Some(all) = each.collect::<Option<Vec<_>>>() else { continue };
            let size = |axis: usize| {
                let numbers: Vec<_> = [own[axis]].into_iter().chain(all.iter().map(|of| of[axis])).collect();
                if numbers.iter().all(|size| *size == own[axis]) {
                    return DeclaredDim::Known(usize::try_from(own[axis]).unwrap_or_default());
                }
                let known = names.iter().find(|(other, _)| *other == numbers).map(|(_, name)| name.clone());
                let name = known.unwrap_or_else(|| {
                    let name: Arc<str> = format!("size{}", names.len()).into();
                    names.push((numbers, name.clone()));
                    name
                });
                DeclaredDim::Symbol((&*name).into())
            };
            let sizes: Vec<_> = (0..own.len()).map(size).collect();
            if sizes.iter().any(|size| matches!(size, DeclaredDim::Symbol(_))) {
                types.push((info.name.clone(), Type::Tensor(dtype, Some(sizes))));
            }
        }
        if types.is_empty() {
            let message = "no size is to be open: name one, or give exports of other sizes";
            return Err(Error::new(Kind::Usage, message));
        }
        Ok(types)
    }
}

/// The numbers of the symbols in a model that fixes them.
fn sizes_in(model: &Model, types: &[(Arc<str>, Type)]) -> Result<HashMap<Arc<str>, i64>> {
    let mut numbers: HashMap<Arc<str>, i64> = HashMap::new();
    let inference = model.infer(&InferOptions::default())?;
    for (input, of) in types {
        let Type::Tensor(_, Some(sizes)) = of else { continue };
        let id = model.input(input)?;
        let declared = model.graph().value(id).declared.as_ref();
        // A name may be declared of a size that nodes fix.
        let fixed = inference.fact(id).as_tensor().and_then(TensorFact::shape);
        let fixed = fixed.map(|shape| shape.to_i64());
        let own = sizes_of(declared).or(fixed).filter(|own| own.len() == sizes.len()).ok_or_else(|| {
            let what = format_args!("declared sizes of input \"{}\"", name_in_message(input));
            let got = declared.map_or_else(|| "unknown".to_owned(), ToString::to_string);
            Error::mismatch(Kind::Usage, what, got, "numbers, which are to be open")
        })?;
        for (axis, (size, &number)) in sizes.iter().zip(&own).enumerate() {
            let what = || format!("size of axis {axis} of input \"{}\"", name_in_message(input));
            match size {
                DeclaredDim::Symbol(name) => {
                    let known = *numbers.entry((&**name).into()).or_insert(number);
                    if known != number {
                        let wanted = format_args!("{known}, the size of \"{name}\" at another axis");
                        return Err(Error::mismatch(Kind::Usage, what(), number, wanted));
                    }
                }
                DeclaredDim::Known(len) if i64::try_from(*len) == Ok(number) => {}
                other => {
                    let wanted = format_args!("{number} as in the file, or a name");
                    return Err(Error::mismatch(Kind::Usage, what(), other, wanted));
                }
            }
        }
    }
    Ok(numbers)
}

/// The nodes that options name, and their texts.
fn wanted(model: &Model, options: &DynamicOptions) -> Result<HashMap<usize, String>> {
    let graph = model.graph();
    let mut found = HashMap::new();
    for (name, text) in &options.sizes {
        let is_named = |node: &graph::Node| {
            let first = node.outputs.first().copied().flatten();
            *node.name == **name || first.is_some_and(|id| *graph.value(id).name == **name)
        };
        let Some(node) = graph.nodes().iter().position(is_named) else {
            let known = graph.nodes().iter().map(|node| &*node.name).filter(|name| !name.is_empty());
            return Err(Error::unknown("node", name, known));
        };
        found.insert(node, text.clone());
    }
    Ok(found)
}

/// The model with formulas, whose values have the types that inference finds.
fn made(ground: &Ground<'_>, (changes, view): (&TriedFormulas, &ChangedModel)) -> Result<graph::Model> {
    let (mut edit, ..) = ground.edit(changes)?;
    let (inference, graph) = (&view.inference, view.model.graph());
    let telling = Telling::new(view.model.source(), inference.symbols(), &InferOptions::default());
    for id in graph.ids() {
        let info = graph.value(id);
        let is_told = info.origin.is_node() && info.declared.is_some();
        if !is_told {
            continue;
        }
        let say = |dim| Some(telling.size(dim).unwrap_or(DeclaredDim::Unknown));
        match merged(info, inference.fact(id), say) {
            Some(of) => edit.types.push((info.name.clone(), of)),
            None => _ = edit.gone.insert(info.name.clone()),
        }
    }
    ground.model.reopened(ground.model.source().apply(&edit)?)
}

/// The dynamic model, when it is shown to be its sources.
fn finish(
    ground: &Ground<'_>,
    sources: &Sources<'_>,
    (changes, view): (&TriedFormulas, &ChangedModel),
    stacked: Vec<String>,
    limits: Limits,
) -> Result<Dynamic> {
    let model = ground.model;
    let made = made(ground, (changes, view))?;
    let dynamic = model.with_source(made.clone());
    let rounded = changes.values().any(formula::Formula::is_rounded);
    let checks = checked(&dynamic, (ground, sources), (stacked, rounded), limits)?;
    let after = dynamic.infer(&InferOptions::default())?;
    let runs = after.conditions().iter().filter(|condition| condition.why == Why::Run);
    let conditions = runs.map(|condition| condition.text.clone()).collect();
    let nodes = model.graph().nodes();
    let change = |(&(node, input), formula): (&(usize, usize), &formula::Formula)| SizeChange {
        node: node_label(&nodes[node], node),
        input,
        before: before(sources, node, input),
        after: formula.text(),
    };
    let left = left::left(ground, sources, (changes, view));
    let changes = changes.iter().map(change).collect();
    Ok(Dynamic { model: made, changes, left, conditions, checks })
}

/// Compares the dynamic model with its sources, and runs it elsewhere: what was shown.
fn checked(
    dynamic: &Model,
    (ground, sources): (&Ground<'_>, &Sources<'_>),
    (stacked, rounded): (Vec<String>, bool),
    limits: Limits,
) -> Result<Vec<String>> {
    let mut checks = Vec::new();
    let mut options = ProveOptions { limits: Some(limits), ..ProveOptions::default() };
    options.time = limits.deadline.map_or(options.time, |end| end.saturating_duration_since(Instant::now()));
    for (number, source) in sources.models.iter().enumerate() {
        let how = verify::same_at_source(dynamic, source, rounded, &options)?;
        checks.push(format!("at the sizes of model {}: the same, {how}", number + 1));
    }
    checks.extend(stacked);
    if !rows::is_run(ground.model) {
        return Ok(checks);
    }
    if let Some(text) = verify::runs_elsewhere(dynamic, &sources.sizes, limits)? {
        checks.push(text);
    }
    Ok(checks)
}

/// A constant in words.
fn before(sources: &Sources<'_>, node: usize, input: usize) -> String {
    let Some(all) = sources.constants(node, input) else { return "computed".to_owned() };
    let each: Vec<_> = all
        .iter()
        .map(|tensor| match formula::few_integers(tensor) {
            Some(numbers) if tensor.shape().rank() == 0 => numbers[0].to_string(),
            Some(numbers) => format!("{numbers:?}"),
            None => format!("{}{}", tensor.dtype(), tensor.shape()),
        })
        .collect();
    each.join(" and ")
}
