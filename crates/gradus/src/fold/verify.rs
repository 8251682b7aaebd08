//! Verification of a folded model: the shapes of both are evaluated where every dimension is a
//! number, and both are run on random inputs.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use gradus_core::graph::{Graph, ValueId};
use gradus_core::{DType, Error, Kind, Result};

use super::RuleSet;
use crate::check::accepted::Accepted;
use crate::check::plan::{Draw, MAX_TRIES, SIZES, Schedule, SizeChoice, TimeBudget, binding, varied};
use crate::check::{Compared, NO_TIME, OutputCheck, VerifyOptions, draws};
use crate::fact::{Fact, TensorFact};
use crate::model::Model;
use crate::prove::{ProvedOutputs, UpTo};
use gradus_engine::infer::{InferOptions, nameless_axes, symbols_of_inputs};

/// The compared models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// The outputs that are proved to be the same; nothing without a proof, or where proofs are not
    /// about models of this standard.
    pub proof: Option<ProvedOutputs>,
    /// Bindings of symbols under which the model before has no problem.
    pub bindings: usize,
    /// Shapes, and elements of shapes, that were known in both and the same.
    pub values: usize,
    /// Runs of both models on random inputs.
    pub runs: usize,
    /// The open sizes of these runs, in words: `1`, `unequal`, `n = 0`.
    pub sizes: Vec<String>,
    /// Elements of outputs, of all runs, that are the same bits; if rules may change floats, that
    /// have the same type and shape.
    pub elements: u64,
    /// Why no run was compared, if none was.
    pub refused: Option<String>,
}

/// Sizes of the first binding, which is for shapes alone.
const LARGE: Range<i64> = 16..200;

/// Random bindings under which shapes are compared.
const BINDINGS: usize = 5;

impl Model {
    /// Compares this model with what it was folded to by these rules. Outputs are proved to be the
    /// same, while there is time for that. Unless all are, values of shape arithmetic and all
    /// shapes are compared under random bindings of the dimensions of inputs, and outputs that are
    /// not proved by runs on random inputs whose sizes are 1, unequal, equal, 0 one at a time, and
    /// random, while there is time. All NaNs are the same. Where rules may change floats, outputs
    /// are proved to be the same up to rounding, and only types and shapes of the others are
    /// compared; [`Model::measure`] says by how much elements differ.
    ///
    /// # Errors
    /// [`Kind::Graph`] names the first value that differs, with the binding, or the outputs that
    /// differ, with the inputs; if the folded model does not run where this one does, its error.
    pub fn verify(&self, folded: &Model, rules: RuleSet, options: &VerifyOptions) -> Result<Verified> {
        let given = self.with_given(&options.sizes)?;
        let up_to = if rules.may_change_floats() { UpTo::Rounding } else { UpTo::Bits };
        let proof = self.prove_outputs_up_to(up_to, folded, &options.sizes, options.proof);
        let verified = Verified { proof, ..Verified::default() };
        if options.is_settled(verified.proof.as_ref()) {
            return Ok(verified);
        }
        given.verify_given(folded, rules, options, verified)
    }

    fn verify_given(
        &self,
        folded: &Model,
        rules: RuleSet,
        options: &VerifyOptions,
        mut verified: Verified,
    ) -> Result<Verified> {
        let time = TimeBudget::of(options.time);
        // Shapes take no more than half of the time.
        let half = TimeBudget::of(options.time / 2);
        let mut random = fastrand::Rng::with_seed(options.seed);
        let accepted = Accepted::of(&self.infer(&InferOptions::of(options.sizes.clone()))?);
        for round in 0..BINDINGS {
            for tried in 0..MAX_TRIES {
                if half.is_over() {
                    break;
                }
                let sizes = SizeChoice::Between(if round == 0 { LARGE } else { SIZES });
                let mut draw = Draw { sizes, accepted: &accepted, tried, random: &mut random };
                if let Some(binding) = binding(self.graph(), &options.sizes, &mut draw)
                    && self.compared(folded, &binding, rules, &mut verified)?
                {
                    verified.bindings += 1;
                    break;
                }
            }
        }
        self.run_both(folded, rules, options, time, &mut verified)?;
        Ok(verified)
    }

    /// Compares the outputs of runs on random inputs.
    fn run_both(
        &self,
        folded: &Model,
        rules: RuleSet,
        options: &VerifyOptions,
        time: TimeBudget,
        verified: &mut Verified,
    ) -> Result<()> {
        if draws(self) {
            verified.refused = Some("the model draws numbers at random".to_owned());
            return Ok(());
        }
        let runs = varied(self.graph(), &options.sizes);
        let first = Schedule::of(vec![runs[0].clone()], time);
        let mut schedule = Schedule::of(runs, time);
        schedule.proved = options.spared(verified.proof.as_ref());
        let check = match self.compare_planned(folded, options.given(), schedule) {
            Ok(Compared { failed: Some(error), .. }) => return Err(error),
            Ok(check) if check.runs == 0 => {
                verified.refused = Some(NO_TIME.to_owned());
                return Ok(());
            }
            Ok(check) => check,
            Err(_) if time.is_over() => {
                verified.refused = Some(NO_TIME.to_owned());
                return Ok(());
            }
            // The folded model is at fault only if this one runs.
            Err(error) if self.compare_planned(self, options.given(), first).is_ok() => {
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
        if !differing.is_empty() {
            return Err(self.refuted(folded, "folded", &check, &differing));
        }
        verified.runs = check.runs;
        verified.sizes = check.sizes;
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
        let mut left = symbols_of_inputs(folded.graph(), &options.sizes.inputs);
        left.extend(nameless_axes(folded.graph()).map(|(_, name)| name));
        let dims = options.sizes.dims.iter().filter(|(name, _)| left.contains(*name));
        let mut given = options.clone();
        given.sizes.dims = dims.map(|(name, value)| (name.clone(), *value)).collect();
        let after = folded.infer(&given)?;
        let (own, others) = (by_name(self.graph()), by_name(folded.graph()));
        for id in self.graph().ids() {
            let name = &self.graph().value(id).name;
            let (Some(Some(_)), Some(Some(other))) = (own.get(name), others.get(name)) else { continue };
            let after = after.fact(*other);
            match same(before.fact(id), after, rules) {
                None => {}
                Some(true) => verified.values += 1,
                Some(false) => {
                    let dims: Vec<_> =
                        options.sizes.dims.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                    let what = format_args!("with {}, folded value \"{name}\"", dims.join(", "));
                    let (got, wanted) = (before.describe(after), before.describe(before.fact(id)));
                    return Err(Error::mismatch(Kind::Graph, what, got, wanted));
                }
            }
        }
        Ok(true)
    }
}

/// The values of a graph by name; nothing where several have it, as layers of an IR may.
fn by_name(graph: &Graph) -> HashMap<&Arc<str>, Option<ValueId>> {
    let mut values = HashMap::with_capacity(graph.values().len());
    for id in graph.ids() {
        let only = |found: &mut Option<ValueId>| *found = None;
        values.entry(&graph.value(id).name).and_modify(only).or_insert(Some(id));
    }
    values
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
