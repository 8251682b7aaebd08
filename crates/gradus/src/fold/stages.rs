//! Stages of folding: each edits the model that the one before made.
//!
//! Nodes that take the place of a function, a branch or a loop are folded with the nodes around
//! them in the stage after that.

use std::collections::HashSet;
use std::mem::take;

use gradus_core::Result;
use gradus_core::graph::Standard;
use gradus_core::graph::edit::{Change, Stage};

use super::rules::Pass;
use super::{FoldOptions, FoldReport, Folded, functions, unroll};
use crate::model::Model;
use gradus_engine::infer::Sizes;

/// Maximum number of stages without a new kind of change.
const MAX_STAGES: usize = 8;

/// Maximum number of loops of which it is tried whether unrolling them leaves fewer nodes.
const MAX_TRIED: usize = 32;

/// A model that was folded in stages.
struct Staged {
    before: Vec<Stage>,
    /// The model that the last edit is about.
    model: Model,
    folded: Folded,
}

/// Folds a model in stages.
pub(super) fn fold(model: &Model, options: &FoldOptions) -> Result<Folded> {
    let mut staged = calls(model, options)?;
    // The folded model has these already.
    let later = FoldOptions { sizes: Sizes::default(), ..options.clone() };
    staged = staged.within_functions(&later)?.settled(&later)?;
    staged = staged.called_again(&later)?;
    if model.source().standard == Standard::Onnx && options.rules.has(Pass::Unrolled) {
        staged = staged.unrolled(&later)?.called_again(&later)?;
    }
    let Staged { before, mut folded, .. } = staged;
    folded.edit.before = before;
    Ok(folded)
}

/// Returns true if nodes took the place of others or values got other shapes, so that rules may
/// apply once more.
fn is_open(report: &FoldReport) -> bool {
    report.inlined > 0 || report.unsettled
}

/// Folds the model with those functions inlined that leave the fewest nodes.
fn calls(model: &Model, options: &FoldOptions) -> Result<Staged> {
    let candidates = if options.rules.has(Pass::Functions) {
        functions::candidates(model)?
    } else {
        vec![(model.clone(), Vec::new())]
    };
    let mut best: Option<Staged> = None;
    for (candidate, before) in candidates {
        let folded = candidate.fold_graph(options, model.source())?;
        let staged = Staged { before, model: candidate, folded };
        if best.as_ref().is_none_or(|best| staged.nodes() < best.nodes()) {
            best = Some(staged);
        }
    }
    let whole = || {
        let folded = model.fold_graph(options, model.source())?;
        Ok(Staged { before: Vec::new(), model: model.clone(), folded })
    };
    best.map_or_else(whole, Ok)
}

impl Staged {
    /// The number of nodes that are left. Constants are none: an initializer may be one in a body.
    fn nodes(&self) -> usize {
        let operators = self.folded.report.operators.iter().filter(|(name, _)| *name != "Constant");
        operators.map(|(_, (_, after))| after).sum()
    }

    /// The model that was made.
    fn result(&self) -> Result<Model> {
        self.model.edited(&self.folded.edit)
    }

    /// Folds once more while that changes something, if nodes took the place of others or values
    /// got other shapes.
    fn settled(mut self, options: &FoldOptions) -> Result<Staged> {
        let mut open = is_open(&self.folded.report);
        for _ in 0..MAX_STAGES {
            if !open {
                break;
            }
            let model = self.result()?;
            let next = model.fold_graph(options, model.source())?;
            if !next.report.changed && next.edit.types.is_empty() {
                break;
            }
            open = is_open(&next.report);
            self = self.then(model, next);
        }
        Ok(self)
    }

    /// Inlines functions whose bodies or calls became fewer, while that leaves fewer nodes.
    fn called_again(mut self, options: &FoldOptions) -> Result<Staged> {
        for _ in 0..MAX_STAGES {
            if self.model.source().functions.is_empty() || !options.rules.has(Pass::Functions) {
                break;
            }
            let model = self.result()?;
            let again = calls(&model, options)?.within_functions(options)?.settled(options)?;
            if again.nodes() >= self.nodes() {
                break;
            }
            let stage = self.stage(&model);
            self = self.after([stage].into_iter().chain(again.before), again.model, again.folded);
        }
        Ok(self)
    }

    /// Unrolls loops where that leaves no more nodes.
    fn unrolled(mut self, options: &FoldOptions) -> Result<Staged> {
        let mut refused = 0;
        for _ in 0..MAX_TRIED {
            if !unroll::has_loops(self.model.graph()) {
                break;
            }
            let model = self.result()?;
            let Some(edit) = unroll::candidate(&model, refused)? else { break };
            let unrolled = model.edited(&edit)?;
            let folded = unrolled.fold_graph(options, unrolled.source())?;
            let base = Stage { change: Change::Edited(edit), model: unrolled.shared_source() };
            let alone = Staged { before: Vec::new(), model: unrolled, folded }.settled(options)?;
            if alone.nodes() > self.nodes() {
                refused += 1;
                continue;
            }
            let Staged { before, model: last, folded } = alone;
            let middle = self.stage(&model);
            self = self.after([middle, base].into_iter().chain(before), last, folded);
        }
        Ok(self)
    }

    /// Folds the bodies of the functions that are kept, each until nothing changes.
    fn within_functions(mut self, options: &FoldOptions) -> Result<Staged> {
        if self.model.source().functions.is_empty() {
            return Ok(self);
        }
        let mut model = self.result()?;
        let mut stages = Vec::new();
        let mut open: HashSet<_> = (0..model.source().functions.len()).collect();
        for _ in 0..MAX_STAGES {
            let bodies = functions::folded(&model, options, &open)?;
            if bodies.is_empty() {
                break;
            }
            open = bodies.iter().filter(|body| is_open(&body.report)).map(|body| body.function).collect();
            let edits = bodies.into_iter().map(|body| (body.function, body.edit)).collect::<Vec<_>>();
            if stages.is_empty() {
                stages.push(self.stage(&model));
            }
            model = model.with_bodies(&edits)?;
            stages.push(Stage { change: Change::Bodies(edits), model: model.shared_source() });
        }
        if stages.is_empty() {
            return Ok(self);
        }
        let folded = model.fold_graph(options, model.source())?;
        Ok(self.after(stages, model, folded))
    }

    /// The stages with one more, which folded what was made.
    fn then(mut self, model: Model, folded: Folded) -> Staged {
        let stage = self.stage(&model);
        self.after([stage], model, folded)
    }

    /// The last fold as a stage, of which a model was made, before another follows.
    fn stage(&mut self, model: &Model) -> Stage {
        Stage { change: Change::Edited(take(&mut self.folded.edit)), model: model.shared_source() }
    }

    /// The stages with more.
    fn after(mut self, more: impl IntoIterator<Item = Stage>, model: Model, mut folded: Folded) -> Staged {
        self.before.extend(more);
        let (first, last) = (&mut self.folded.report, &mut folded.report);
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
        Staged { before: self.before, model, folded }
    }
}
