//! The search for the constants that were sizes.
//!
//! Nodes are visited in order. A Reshape, a Resize and constants that differ between sources are
//! given formulas where they are met; any other constant only where a condition of a node needs
//! it, or a contradiction. A formula that is as likely as another is a choice, which is made again
//! where a later node refutes it.

use std::collections::{HashMap, HashSet};

use gradus_core::graph::Origin;
use gradus_core::{Error, Kind, Limits, Result};

use super::candidates::Candidate;
use super::fits::FIRST_LINE;
use super::formula::Formula;
use super::sources::Sources;
use super::view::{ChangedModel, Ground, Hard, TriedFormulas};
use gradus_engine::infer::node_label;

/// Maximum number of conditions that a formula may add: one that adds many is none of the model's.
const MAX_BURDEN: usize = 2;

/// A formula that was chosen among several that are as likely.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) node: usize,
    pub(super) input: usize,
    pub(super) formula: Formula,
    /// Formulas that are as likely, and after them those that are less so.
    pub(super) others: Vec<Formula>,
    /// The number of those that are as likely.
    pub(super) tied: usize,
}

impl Choice {
    /// Returns true if another choice is of the same input.
    pub(super) fn is_of(&self, other: &Choice) -> bool {
        (self.node, self.input) == (other.node, other.input)
    }
}

/// Formulas that are chosen, by node and input.
pub(super) type ChosenFormulas = HashMap<(usize, usize), Formula>;

/// Something that no formula mends.
#[derive(Clone, Debug)]
pub(super) struct Unresolved {
    pub(super) node: usize,
    pub(super) text: String,
    /// The node at which the search ended: an earlier one, if the problem moved to it.
    pub(super) end: usize,
}

/// A search over the nodes.
pub(super) struct FormulaSearch<'s, 'm> {
    pub(super) ground: &'s Ground<'m>,
    pub(super) sources: &'s Sources<'m>,
    pub(super) changes: TriedFormulas,
    /// Formulas that the caller wants, by node, and those that are chosen.
    pub(super) forced: (&'s HashMap<usize, String>, &'s ChosenFormulas),
    /// The place of each node in the order.
    ranks: Vec<usize>,
    pub(super) choices: Vec<Choice>,
    pub(super) unresolved: Option<Unresolved>,
    /// Bounds that no formula lifts, by node.
    kept: HashSet<(usize, String)>,
    /// The last node of which a condition moved to an earlier one.
    moved: Option<Unresolved>,
    limits: Limits,
}

/// The purpose of a formula.
#[derive(Clone, Copy)]
enum Wanted<'h> {
    /// The place of a constant that differs, or of a shape: the node may be wrong still if it is
    /// one of several.
    Formula { is_part: bool },
    /// A condition that is met.
    Mended(&'h Hard),
}

/// A candidate that was tried: what remains with it, and the model.
struct TriedCandidate {
    hard: usize,
    unknown: usize,
    soft: usize,
    view: ChangedModel,
    changes: TriedFormulas,
}

impl TriedCandidate {
    /// Counts of what is left, the worst first.
    const fn rank(&self) -> [usize; 3] {
        [self.hard, self.unknown, self.soft]
    }
}

impl<'s, 'm> FormulaSearch<'s, 'm> {
    /// A search that has made no change yet.
    pub(super) fn new(
        ground: &'s Ground<'m>,
        sources: &'s Sources<'m>,
        forced: (&'s HashMap<usize, String>, &'s ChosenFormulas),
        limits: Limits,
    ) -> FormulaSearch<'s, 'm> {
        let graph = ground.model.graph();
        let mut ranks = vec![0; graph.nodes().len()];
        for (rank, &node) in graph.order().iter().enumerate() {
            ranks[node] = rank;
        }
        FormulaSearch {
            ground,
            sources,
            changes: TriedFormulas::new(),
            forced,
            ranks,
            choices: Vec::new(),
            unresolved: None,
            kept: HashSet::new(),
            moved: None,
            limits,
        }
    }

    /// Visits the nodes; the model with all changes, as far as they reach.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Limit`] if the limits end it.
    pub(super) fn run(&mut self) -> Result<ChangedModel> {
        let mut view = self.ground.view(&self.changes)?;
        let order = self.ground.model.graph().order();
        let mut at = 0;
        // Each round makes a change, or goes on by a node.
        let mut rounds = order.len().saturating_mul(16) + 64;
        while at < order.len() && rounds > 0 {
            rounds -= 1;
            self.limits.check()?;
            let node = order[at];
            if view.node(node).is_none() {
                at += 1;
                continue;
            }
            match self.visit(&mut view, node)? {
                Visited::Next => at += 1,
                Visited::Changed(next, first) => {
                    view = *next;
                    at = self.ranks[first].min(at);
                }
                Visited::Stuck(text) => {
                    let later = self.moved.take().filter(|moved| self.is_until(node, moved.node));
                    let first = later.unwrap_or(Unresolved { node, text, end: node });
                    self.unresolved = Some(Unresolved { end: node, ..first });
                    return Ok(view);
                }
            }
        }
        Ok(view)
    }

    fn visit(&mut self, view: &mut ChangedModel, node: usize) -> Result<Visited> {
        if let Some(text) = self.forced.0.get(&node)
            && let Some(changes) = self.asked(view, node, text)
        {
            self.changes = changes;
            return Ok(Visited::Changed(Box::new(self.ground.view(&self.changes)?), node));
        }
        let proposal = self.proposal(view, node);
        if !proposal.candidates.is_empty()
            && let Some((next, first)) =
                self.choose(view, node, &proposal.candidates, Wanted::Formula { is_part: proposal.is_part })?
        {
            return Ok(Visited::Changed(Box::new(next), first));
        }
        if let Some(what) = proposal.required {
            return Ok(Visited::Stuck(what));
        }
        if let Some(name) = self.sources.differing_attribute(node) {
            return Ok(Visited::Stuck(format!("attribute {name}, which differs")));
        }
        let own: Vec<Hard> =
            view.hard.iter().filter(|(at, _)| *at == node).map(|(_, hard)| hard.clone()).collect();
        for hard in own {
            if self.kept.contains(&(node, hard.text.clone())) {
                continue;
            }
            let causes = self.causes(view, node, &hard);
            if let Some((next, first)) = self.choose(view, node, &causes, Wanted::Mended(&hard))? {
                let is_later = |moved: &Unresolved| self.is_until(moved.node, node);
                if next.hard.len() >= view.hard.len() && self.moved.as_ref().is_none_or(is_later) {
                    self.moved = Some(Unresolved { node, text: hard.text, end: node });
                }
                return Ok(Visited::Changed(Box::new(next), first));
            }
            if hard.is_fixed {
                return Ok(Visited::Stuck(hard.text));
            }
            self.kept.insert((node, hard.text));
        }
        Ok(Visited::Next)
    }

    /// Makes the change that leaves the fewest conditions at the node and before it; nothing if
    /// none of them mends what is wrong there.
    fn choose(
        &mut self,
        view: &ChangedModel,
        node: usize,
        candidates: &[Candidate],
        wanted: Wanted<'_>,
    ) -> Result<Option<(ChangedModel, usize)>> {
        let (wrong, is_part) = match wanted {
            Wanted::Formula { is_part } => (None, is_part),
            Wanted::Mended(hard) => (Some(hard), false),
        };
        let mends = wrong.is_some();
        let wanted: Vec<_> = wrong.iter().flat_map(|hard| &hard.dims).collect();
        let wanted: Vec<_> = wanted.iter().filter_map(|dim| view.text(self.ground, **dim)).collect();
        let near = view.sizes_like(self.ground, node, &wanted);
        // A bound is lifted by what adds neither another bound nor a fixed size.
        let lifts = wrong.is_some_and(|hard| !hard.is_fixed);
        let own = |view: &ChangedModel| {
            view.hard.iter().filter(|(at, hard)| is_part && *at == node && hard.is_fixed).count()
        };
        let count = |view: &ChangedModel| self.hard_until(view, node, lifts) - own(view);
        let fixed = self.hard_until(view, node, false);
        let (hard, soft, unknown) = (count(view), view.soft_until(self, node), view.unknown(node));
        // Sizes that nobody knows hide conditions, but for formulas that several sources show.
        let is_shown = !mends && self.sources.models.len() > 1;
        let mut best: Option<(usize, TriedCandidate)> = None;
        let mut tied: Vec<usize> = Vec::new();
        for (index, candidate) in candidates.iter().enumerate() {
            self.limits.check()?;
            let place = (candidate.node, candidate.input);
            let is_wanted = self.forced.0.get(&candidate.node).is_none_or(|text| candidate.formula.is(text));
            // A table that is chosen has axes that are opened one by one where nothing is chosen.
            let formula = self.forced.1.get(&place).unwrap_or(&candidate.formula);
            if !is_wanted || !formula.is_over(&candidate.formula) {
                continue;
            }
            if best.as_ref().is_some_and(|(first, tried)| {
                let is_clean =
                    tried.soft <= soft && tried.unknown <= unknown && (!mends || tried.hard < hard);
                is_clean && !candidate.divided && candidate.tier > candidates[*first].tier
            }) {
                break;
            }
            let mut changes = self.changes.clone();
            changes.insert(place, formula.clone());
            changes.extend(self.expanded(view, candidate));
            let Ok(next) = self.ground.view(&changes) else { continue };
            if lifts && self.hard_until(&next, node, false) > fixed {
                continue;
            }
            let tried = TriedCandidate {
                hard: count(&next),
                unknown: next.unknown(node),
                soft: next.soft_until(self, node),
                view: next,
                changes,
            };
            // The problem may move to an earlier node, where another constant is given a formula.
            let moves = || !tried.view.is_hard(node) && tried.hard <= hard + MAX_BURDEN;
            let nears = || tried.hard == hard && tried.view.sizes_like(self.ground, node, &wanted) > near;
            let is_mended = match wrong {
                Some(wrong) if wrong.is_fixed => tried.hard < hard || nears() || moves(),
                Some(_) => tried.hard < hard,
                None => tried.hard <= hard,
            };
            let burdens = mends && tried.soft > soft + MAX_BURDEN;
            if !is_mended || burdens || (tried.unknown > unknown && !is_shown) {
                continue;
            }
            match &best {
                Some((_, other)) if other.rank() < tried.rank() => {}
                Some((first, other)) if other.rank() == tried.rank() => {
                    let other = &candidates[*first];
                    if (other.node, other.input) == place
                        && other.formula != candidate.formula
                        && (other.tier == candidate.tier || candidate.divided)
                    {
                        tied.push(index);
                    }
                }
                _ => {
                    tied.clear();
                    best = Some((index, tried));
                }
            }
            // A shape that follows from its axes needs no other to be tried.
            let is_enough = |tried: &TriedCandidate| tried.soft <= soft && tried.unknown <= unknown;
            let is_line = candidate.tier >= FIRST_LINE;
            if !mends
                && !candidate.divided
                && !is_line
                && best.as_ref().is_some_and(|(_, tried)| is_enough(tried))
            {
                break;
            }
        }
        let Some((index, tried)) = best else { return Ok(None) };
        let chosen = &candidates[index];
        // Less likely shapes of a Reshape are tried where a later node refutes this one.
        let less = (0..candidates.len()).filter(|other| !mends && *other != index && !tied.contains(other));
        let others: Vec<_> =
            tied.iter().copied().chain(less).map(|other| candidates[other].formula.clone()).collect();
        let is_forced = self.forced.1.contains_key(&(chosen.node, chosen.input));
        if !others.is_empty() && !is_forced {
            let (node, input, formula) = (chosen.node, chosen.input, chosen.formula.clone());
            self.choices.push(Choice { node, input, formula, others, tied: tied.len() });
        }
        self.changes = tried.changes;
        Ok(Some((tried.view, chosen.node)))
    }

    /// Refuses numbers that are sizes by chance or by meaning, where nothing tells which.
    ///
    /// # Errors
    /// [`Kind::Graph`] with the first of them.
    pub(super) fn refuse_alike(&self, view: &mut ChangedModel) -> Result<()> {
        for &node in self.ground.model.graph().order() {
            let Some((input, number, text)) = self.alike(view, node) else { continue };
            let label = self.label(node);
            let message = format!(
                "input {input} of {label} may be {number} or {text}: choose one with --size, or give exports of other sizes"
            );
            return Err(Error::new(Kind::Graph, message));
        }
        Ok(())
    }

    /// Conditions at a node and before it that only the sizes of the file meet, and bounds among
    /// them if they count.
    fn hard_until(&self, view: &ChangedModel, node: usize, bounds: bool) -> usize {
        let counts = |(at, hard): &&(usize, Hard)| self.is_until(*at, node) && (bounds || hard.is_fixed);
        view.hard.iter().filter(counts).count()
    }

    /// Returns true if a node comes before another, or is that.
    pub(super) fn is_until(&self, at: usize, node: usize) -> bool {
        self.ranks[at] <= self.ranks[node]
    }

    /// The nodes that a node depends on, and itself.
    pub(super) fn above(&self, node: usize) -> HashSet<usize> {
        let graph = self.ground.model.graph();
        let (mut open, mut found) = (vec![node], HashSet::from([node]));
        while let Some(node) = open.pop() {
            for id in graph.nodes()[node].needs() {
                if let Origin::Node(before, _) = graph.value(id).origin
                    && found.insert(before)
                {
                    open.push(before);
                }
            }
        }
        found
    }

    /// A node of the model that was read, in words.
    pub(super) fn label(&self, node: usize) -> String {
        node_label(&self.ground.model.graph().nodes()[node], node)
    }
}

/// The outcome of a visit.
enum Visited {
    Next,
    /// The model with a change, and the node that it is of.
    Changed(Box<ChangedModel>, usize),
    /// A problem that nothing mends.
    Stuck(String),
}

impl ChangedModel {
    /// Other conditions of sizes at a node and before it.
    fn soft_until(&self, search: &FormulaSearch<'_, '_>, node: usize) -> usize {
        self.soft.iter().filter(|at| search.is_until(**at, node)).count()
    }

    /// Returns true if a node has a condition that only the sizes of the file meet.
    pub(super) fn is_hard(&self, node: usize) -> bool {
        self.hard.iter().any(|(at, hard)| *at == node && hard.is_fixed)
    }
}
