//! Stages of folding: each edits the model that the one before made.
//!
//! Nodes that take the place of a function, a branch or a loop are folded with the nodes around
//! them in the stage after that.

use std::collections::HashSet;
use std::mem::take;

use gradus_core::Result;
use gradus_core::graph::{self, Standard};

use super::rules::Pass;
use super::{Changes, FoldOptions, FoldReport, Folded, functions, unroll};
use crate::model::Model;
use gradus_engine::infer::Sizes;

/// Maximum number of stages without a new kind of change.
const MAX_STAGES: usize = 8;

/// Maximum number of loops of which it is tried whether unrolling them leaves fewer nodes.
const MAX_TRIED: usize = 32;

/// How the stages of a model are folded.
#[derive(Clone, Copy)]
struct Folding<'o> {
    options: &'o FoldOptions,
    /// Values of the main graph that other parts of the file mention.
    mentioned: &'o HashSet<String>,
}

impl Folding<'_> {
    /// Folds the main graph of a stage; `original` is the model before functions were inlined.
    fn of(self, model: Model, original: &graph::Model) -> Result<Staged> {
        let changes = model.fold_graph(self.options, original, self.mentioned)?;
        Ok(Staged { model, changes })
    }

    fn again(self, model: Model) -> Result<Staged> {
        let changes = model.fold_graph(self.options, model.source(), self.mentioned)?;
        Ok(Staged { model, changes })
    }
}

/// A model that was folded in stages.
struct Staged {
    /// The model that the last stage is about.
    model: Model,
    changes: Changes,
}

/// Folds a model in stages.
pub(super) fn fold(model: &Model, options: &FoldOptions) -> Result<Folded> {
    let mentioned = &model.mentioned()?;
    let mut staged = calls(model, Folding { options, mentioned })?;
    // The folded model has these already.
    let later = FoldOptions { sizes: Sizes::default(), ..options.clone() };
    let later = Folding { options: &later, mentioned };
    staged = staged.within_functions(later)?.settled(later)?;
    staged = staged.called_again(later)?;
    if model.source().standard == Standard::Onnx && options.rules.has(Pass::Unrolled) {
        staged = staged.unrolled(later)?.called_again(later)?;
    }
    let Staged { model, changes } = staged;
    let mut folded = model.source().apply(&changes.edit)?;
    if !options.sizes.inputs.is_empty() {
        folded = model.reopened(folded)?;
    }
    Ok(Folded { model: folded, report: changes.report })
}

/// Returns true if nodes took the place of others or values got other shapes, so that rules may
/// apply once more.
fn is_open(report: &FoldReport) -> bool {
    report.inlined > 0 || report.unsettled
}

/// Folds the model with those functions inlined that leave the fewest nodes.
fn calls(model: &Model, by: Folding<'_>) -> Result<Staged> {
    let with_functions = by.options.rules.has(Pass::Functions);
    let candidates = if with_functions { functions::candidates(model) } else { Vec::new() };
    let mut best: Option<Staged> = None;
    for candidate in candidates {
        let staged = by.of(candidate, model.source())?;
        if best.as_ref().is_none_or(|best| staged.nodes() < best.nodes()) {
            best = Some(staged);
        }
    }
    best.map_or_else(|| by.again(model.clone()), Ok)
}

impl Staged {
    /// The number of nodes that are left. Constants are none: an initializer may be one in a body.
    fn nodes(&self) -> usize {
        let operators = self.changes.report.operators.iter().filter(|(name, _)| *name != "Constant");
        operators.map(|(_, (_, after))| after).sum()
    }

    /// The model that was made.
    fn result(&self) -> Result<Model> {
        Ok(self.model.with_source(self.model.source().apply(&self.changes.edit)?))
    }

    /// Folds once more while that changes something, if nodes took the place of others or values
    /// got other shapes.
    fn settled(mut self, by: Folding<'_>) -> Result<Staged> {
        let mut open = is_open(&self.changes.report);
        for _ in 0..MAX_STAGES {
            if !open {
                break;
            }
            let next = by.again(self.result()?)?;
            if !next.changes.report.changed && next.changes.edit.types.is_empty() {
                break;
            }
            open = is_open(&next.changes.report);
            self = self.then(next);
        }
        Ok(self)
    }

    /// Inlines functions whose bodies or calls became fewer, while that leaves fewer nodes.
    fn called_again(mut self, by: Folding<'_>) -> Result<Staged> {
        for _ in 0..MAX_STAGES {
            if self.model.source().functions.is_empty() || !by.options.rules.has(Pass::Functions) {
                break;
            }
            let again = calls(&self.result()?, by)?.within_functions(by)?.settled(by)?;
            if again.nodes() >= self.nodes() {
                break;
            }
            self = self.then(again);
        }
        Ok(self)
    }

    /// Unrolls loops where that leaves no more nodes.
    fn unrolled(mut self, by: Folding<'_>) -> Result<Staged> {
        let mut refused = 0;
        for _ in 0..MAX_TRIED {
            if !unroll::has_loops(self.model.graph()) {
                break;
            }
            let model = self.result()?;
            let Some(edit) = unroll::candidate(&model, refused)? else { break };
            let unrolled = model.with_source(model.source().apply(&edit)?);
            let unrolled = by.again(unrolled)?.settled(by)?;
            if unrolled.nodes() > self.nodes() {
                refused += 1;
                continue;
            }
            self = self.then(unrolled);
        }
        Ok(self)
    }

    /// Folds the bodies of the functions that are kept, each until nothing changes.
    fn within_functions(self, by: Folding<'_>) -> Result<Staged> {
        if self.model.source().functions.is_empty() {
            return Ok(self);
        }
        let mut model = self.result()?;
        let mut changed = false;
        let mut open: HashSet<_> = (0..model.source().functions.len()).collect();
        for _ in 0..MAX_STAGES {
            let bodies = functions::folded(&model, by.options, &open)?;
            if bodies.is_empty() {
                break;
            }
            open = bodies.iter().filter(|body| is_open(&body.report)).map(|body| body.function).collect();
            model = functions::with_bodies(&model, &bodies)?;
            changed = true;
        }
        if changed { Ok(self.then(by.again(model)?)) } else { Ok(self) }
    }

    /// A later stage, with what the stages before it said.
    fn then(mut self, mut next: Staged) -> Staged {
        let (first, last) = (&mut self.changes.report, &mut next.changes.report);
        let mut operators = take(&mut first.operators);
        for (_, after) in operators.values_mut() {
            *after = 0;
        }
        for (name, (_, after)) in take(&mut last.operators) {
            operators.entry(name).or_default().1 = after;
        }
        last.operators = operators;
        last.constants += first.constants;
        last.constant_bytes += first.constant_bytes;
        last.dropped += first.dropped;
        last.inlined += first.inlined;
        last.declared += first.declared;
        last.assumptions = take(&mut first.assumptions);
        last.problems = take(&mut first.problems);
        let mut seen = HashSet::new();
        let weights = [take(&mut first.weights), take(&mut last.weights)].concat();
        last.weights = weights.into_iter().filter(|node| seen.insert(node.clone())).collect();
        next
    }
}
