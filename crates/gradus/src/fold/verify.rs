//! Verification of a folded model: the shapes of both are evaluated where every dimension is a
//! number, and both are run on random inputs.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use gradus_core::convert::i64_of;
use gradus_core::graph::{DeclaredDim, Graph, Type};
use gradus_core::{DType, Error, Kind, Result, Value};

use super::RuleSet;
use crate::check::{CheckOptions, OutputCheck};
use crate::dim::Symbols;
use crate::fact::{Fact, TensorFact};
use crate::infer::{InferOptions, InputFact, nameless_axes, symbols_of_inputs};
use crate::model::Model;
use crate::operators::{self, Chance};

/// The compared models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Bindings of symbols under which the model before has no problem.
    pub bindings: usize,
    /// Shapes, and elements of shapes, that were known in both and the same.
    pub values: usize,
    /// Runs of both models on random inputs.
    pub runs: usize,
    /// Elements of outputs, of all runs, that are the same bits; if rules may change floats, that
    /// have the same type and shape.
    pub elements: u64,
    /// Why no run was compared, if none was.
    pub refused: Option<String>,
}

/// Runs whose outputs are compared: one of large sizes, and in one, floats are zeros, ones, and very
/// large and small numbers.
const RUNS: usize = 3;

/// Sizes of the first binding, which is for shapes alone.
const LARGE: Range<i64> = 16..200;

/// Sizes of the other bindings, and of the inputs of runs.
pub(crate) const SIZES: Range<i64> = 1..40;

/// Most tries of a binding: one may contradict what the model needs.
const MOST_TRIES: usize = 8;

impl Model {
    /// Compares this model with what it was folded to by these rules: the values of shape
    /// arithmetic and all shapes, under so many random bindings of the dimensions of inputs; and all
    /// outputs, by runs on random inputs. All NaNs are the same. Where rules may change floats,
    /// only types and shapes of outputs are compared; [`Model::measure`] says by how much elements
    /// differ.
    ///
    /// # Errors
    /// [`Kind::Graph`] names the first value that differs, with the binding, or the outputs that
    /// differ; if the folded model does not run where this one does, its error.
    pub fn verify(
        &self,
        folded: &Model,
        given: &InferOptions,
        rules: RuleSet,
        bindings: usize,
        seed: u64,
    ) -> Result<Verified> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut verified = Verified::default();
        for round in 0..bindings {
            for tried in 0..MOST_TRIES {
                let sizes = if round == 0 { LARGE } else { SIZES };
                let options = binding(self.graph(), given, &mut random, (sizes, tried));
                if let Some(options) = options
                    && self.compared(folded, &options, rules, &mut verified)?
                {
                    verified.bindings += 1;
                    break;
                }
            }
        }
        self.run_both(folded, given, rules, seed, &mut verified)?;
        Ok(verified)
    }

    /// Compares the outputs of runs on random inputs.
    fn run_both(
        &self,
        folded: &Model,
        given: &InferOptions,
        rules: RuleSet,
        seed: u64,
        verified: &mut Verified,
    ) -> Result<()> {
        if is_random(self, self.graph()) {
            verified.refused = Some("the model draws numbers at random".to_owned());
            return Ok(());
        }
        let options = CheckOptions { given: given.clone(), runs: RUNS, seed };
        let check = match self.compare(folded, &options) {
            Ok(check) => check,
            // The folded model is at fault only if this one runs.
            Err(error) if self.compare(self, &CheckOptions { runs: 1, ..options }).is_ok() => {
                return Err(error);
            }
            Err(error) => {
                verified.refused = Some(error.to_string());
                return Ok(());
            }
        };
        let differs = |output: &&OutputCheck| {
            output.types.is_some() || (output.differing > 0 && !rules.may_change_floats())
        };
        let differing: Vec<_> = check.outputs.iter().filter(differs).collect();
        if let Some(first) = differing.first() {
            let names: Vec<_> = differing.iter().map(|output| format!("\"{}\"", output.name)).collect();
            let names = names.join(", ");
            let (at, before, after) = match (&first.types, &first.first) {
                (Some((before, after)), _) => (String::new(), before, after),
                (None, Some(element)) => {
                    (format!(" at element {}", element.index), &element.before, &element.after)
                }
                (None, None) => (String::new(), &first.name, &first.name),
            };
            let what = format_args!("folded output {names}{at}");
            return Err(Error::mismatch(Kind::Graph, what, after, before));
        }
        verified.runs = check.runs;
        verified.elements = check.outputs.iter().map(|output| output.elements).sum();
        Ok(())
    }

    /// Compares under one binding; false if it is not one that the model takes.
    fn compared(
        &self,
        folded: &Model,
        options: &InferOptions,
        rules: RuleSet,
        verified: &mut Verified,
    ) -> Result<bool> {
        let before = self.infer(options)?;
        if !before.problems().is_empty() {
            return Ok(false);
        }
        // Dimensions that folding fixed have no name any more.
        let mut left = symbols_of_inputs(folded.graph(), &options.inputs);
        left.extend(nameless_axes(folded.graph()).map(|(_, name)| name));
        let dims = options.dims.iter().filter(|(name, _)| left.contains(*name));
        let dims = dims.map(|(name, value)| (name.clone(), *value)).collect();
        let after = folded.infer(&InferOptions { dims, ..options.clone() })?;
        let after_by_name: HashMap<_, _> =
            folded.graph().ids().map(|id| (folded.graph().value(id).name.clone(), after.fact(id))).collect();
        for id in self.graph().ids() {
            let name = &self.graph().value(id).name;
            let Some(after) = after_by_name.get(name) else { continue };
            match same(before.fact(id), after, rules) {
                None => {}
                Some(true) => verified.values += 1,
                Some(false) => {
                    let mut dims: Vec<_> =
                        options.dims.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                    dims.sort();
                    let what = format_args!("with {}, folded value \"{name}\"", dims.join(", "));
                    let (got, wanted) = (before.describe(after), before.describe(before.fact(id)));
                    return Err(Error::mismatch(Kind::Graph, what, got, wanted));
                }
            }
        }
        Ok(true)
    }
}

/// Returns true if a node of a graph, or of one within, draws numbers at random.
fn is_random(model: &Model, graph: &Graph) -> bool {
    graph.nodes().iter().any(|node| {
        let row = operators::row_of(model.source().standard, node);
        row.is_some_and(|row| row.chance == Chance::Yes) || node.graphs().any(|inner| is_random(model, inner))
    })
}

/// Returns true if two facts say the same, as far as both say something. Of floats that rules may
/// change, shapes and types are compared.
fn same(a: &Fact, b: &Fact, rules: RuleSet) -> Option<bool> {
    let (a, b) = (a.as_tensor()?, b.as_tensor()?);
    let (shape, other) = (a.shape()?, b.shape()?);
    if shape != other || a.dtype.zip(b.dtype).is_some_and(|(a, b)| a != b) {
        return Some(false);
    }
    if rules.may_change_floats() && a.dtype.is_some_and(DType::is_float) {
        return Some(true);
    }
    let elements = TensorFact::tensor(a).zip(TensorFact::tensor(b));
    Some(elements.is_none_or(|(a, b)| a.bytes() == b.bytes()))
}

/// Numbers for all that is open in the dimensions of inputs, or nothing if these do not meet the
/// conditions that are assumed. In every second try, dimensions without a name are one number: no
/// place says that they must be the same.
pub(crate) fn binding(
    graph: &Graph,
    given: &InferOptions,
    random: &mut fastrand::Rng,
    (sizes, tried): (Range<i64>, usize),
) -> Option<InferOptions> {
    let mut options =
        InferOptions { ignore_declared: true, cautious: true, most_bytes: 1 << 14, ..given.clone() };
    let mut number = || random.i64(sizes.clone());
    let one = number();
    let fixed = fixed_names(graph, given);
    options.dims.extend(sizes_of_values(graph, given));
    for &id in graph.inputs() {
        let info = graph.value(id);
        let Some(Type::Tensor(_, Some(sizes))) = &info.declared else { continue };
        let open_names = sizes.iter().filter_map(plain).filter(|name| !fixed.contains(name));
        open_names.for_each(|name| {
            let value = given.assume.clamped(&name, number());
            options.dims.entry(name).or_insert(value);
        });
    }
    for (size, name) in nameless_axes(graph) {
        let other = number();
        let value = given.assume.clamped(&name, if tried % 2 == 1 { one } else { other });
        let value = match size {
            DeclaredDim::Between(least, most) => {
                let least = i64_of(*least);
                value.clamp(least, most.map_or(i64::MAX, i64_of).max(least))
            }
            _ => value,
        };
        options.dims.entry(name).or_insert(value);
    }
    let met = given.assume.meet(&mut options.dims, &given.dims);
    options.assume.conditions.clear();
    met.then_some(options)
}

/// Names of dimensions for which a shape that is given has numbers.
fn fixed_names(graph: &Graph, given: &InferOptions) -> HashSet<String> {
    let mut fixed = HashSet::new();
    for info in graph.inputs().iter().map(|&id| graph.value(id)) {
        if let Some(Type::Tensor(_, Some(declared))) = &info.declared
            && let Some(InputFact::Type(Type::Tensor(_, Some(sizes)))) = given.inputs.get(&*info.name)
        {
            let numbers =
                declared.iter().zip(sizes).filter(|(_, size)| matches!(size, DeclaredDim::Known(_)));
            fixed.extend(numbers.filter_map(|(name, _)| plain(name)));
        }
    }
    fixed
}

/// The sizes that inputs which are given have, by the names that the model declares for them.
fn sizes_of_values(graph: &Graph, given: &InferOptions) -> Vec<(String, i64)> {
    let named = |&id: &_| {
        let info = graph.value(id);
        let Some(Type::Tensor(_, Some(declared))) = &info.declared else { return Vec::new() };
        let Some(InputFact::Value(Value::Tensor(tensor))) = given.inputs.get(&*info.name) else {
            return Vec::new();
        };
        let sizes = declared.iter().zip(tensor.shape().to_i64());
        sizes.filter_map(|(dim, size)| Some((plain(dim)?, size))).collect()
    };
    graph.inputs().iter().flat_map(named).collect()
}

/// The name that a dimension is, if it is only a name.
fn plain(size: &DeclaredDim) -> Option<String> {
    let DeclaredDim::Symbol(text) = size else { return None };
    let mut scratch = Symbols::default();
    let dim = scratch.declared(text);
    scratch.as_symbol(dim).map(|symbol| symbol.name.to_string())
}
