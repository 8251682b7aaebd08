//! Conditions that a pass notes: what nodes check, what is taken for granted, and where it applies.

use std::ops::Range;

use gradus_core::Kind;

use super::declared::place;
use super::pass::Pass;
use super::remarks::{ElementRange, ModelCondition, Problem, When, Why};
use crate::dim::{Condition, Dim, Relation, Symbols};

impl Pass<'_> {
    /// Assumes a condition, without which a run fails or Gradus tells wrong facts: of a graph that
    /// may not run, it is no condition of the model.
    pub fn assume(&mut self, condition: Condition, why: Why, node: impl FnOnce() -> String) {
        if !self.is_unconditional() {
            return self.require(condition, why, node);
        }
        if !self.meets(condition, true) {
            return;
        }
        let condition = self.shared.symbols.shortest(condition);
        let symbols = &mut self.shared.symbols;
        let least = condition.right.known().filter(|_| condition.relation == Relation::AtLeast);
        let is_known = least.is_some_and(|least| symbols.never_below(condition.left, least));
        if is_known || symbols.always_holds(&condition) || !self.shared.assumed.insert(condition) {
            return;
        }
        self.note_condition(condition, When::Always, (why, true), node());
        if let Some(least) = least.filter(|_| !self.cautious) {
            self.note_at_least(condition.left, least);
        }
    }

    /// Notes that a number is at least another wherever the node runs.
    pub fn note_at_least(&mut self, dim: Dim, least: i64) {
        if self.is_unconditional() {
            self.shared.symbols.raise(dim, least);
        }
    }

    /// Notes a condition that a node checks when it runs, or that is taken for granted then: it
    /// holds in every run that succeeds, or in every run of a graph that may not run.
    pub fn require(&mut self, condition: Condition, why: Why, node: impl FnOnce() -> String) {
        if !self.meets(condition, false) {
            return;
        }
        let condition = self.shared.symbols.shortest(condition);
        let when = self.when();
        if self.shared.unreached > 0
            || self.shared.required.contains(&(When::Always, condition))
            || self.shared.assumed.contains(&condition)
            || self.shared.symbols.always_holds(&condition)
            || self.shared.guards.contains(&Some(condition))
            || !self.shared.required.insert((when.clone(), condition))
        {
            return;
        }
        self.note_condition(condition, when, (why, false), node());
    }

    /// Notes that a condition is met; false if it was under the same guards before, and needs nothing
    /// more.
    fn meets(&mut self, condition: Condition, is_assumed: bool) -> bool {
        let key = self.shared.met_as(condition, is_assumed);
        key.is_none_or(|key| self.shared.met.insert(key))
    }

    /// Returns true if nodes before had the condition under the same guards.
    pub(super) fn was_met(&self, condition: Condition) -> bool {
        self.shared.met_as(condition, false).is_some_and(|key| self.shared.met.contains(&key))
    }

    fn note_condition(&mut self, condition: Condition, when: When, (why, rests): (Why, bool), node: String) {
        let relation = Some(condition).filter(|_| when != When::Perhaps);
        let text = when.text(&condition, &self.shared.symbols);
        let noted = ModelCondition::of_node(text, node, when);
        self.conditions.push(ModelCondition { relation, why, rests, ..noted });
    }

    /// Replaces the conditions of some indices, which a body of many iterations noted, by what is
    /// said of all its iterations: `guarded` says it of a guard, and `holds` of a relation. Others
    /// are left out where each iteration was visited, and are not decided where none was.
    pub fn settle(
        &mut self,
        noted: Range<usize>,
        each_visited: bool,
        guarded: &mut dyn FnMut(&mut Symbols, &Condition) -> Option<Condition>,
        holds: &mut dyn FnMut(&mut Symbols, &Condition) -> Option<Vec<Condition>>,
    ) {
        // Conditions that are left out may be noted again.
        self.shared.met.clear();
        let later = self.conditions.split_off(noted.end);
        for of in self.conditions.split_off(noted.start) {
            let Some(guards) = of.when.guards().filter(|_| of.why != Why::Declared) else {
                self.conditions.push(of);
                continue;
            };
            let around: Vec<_> = self.shared.guards.iter().copied().flatten().collect();
            let inner = guards.iter().filter(|guard| !around.contains(guard));
            let symbols = &mut self.shared.symbols;
            let guards: Option<Vec<_>> = inner.map(|guard| guarded(symbols, guard)).collect();
            let all = of.relation.map(|relation| holds(symbols, &relation));
            if let Some(relation) = of.relation {
                self.shared.required.remove(&(of.when.clone(), relation));
            }
            match (guards, all) {
                (Some(guards), Some(Some(all))) => {
                    let depth = self.shared.guards.len();
                    self.shared.guards.extend(guards.into_iter().map(Some));
                    for condition in all {
                        self.require(condition, of.why, || of.node.clone());
                    }
                    self.shared.guards.truncate(depth);
                }
                (Some(guards), None) => {
                    let all = around.into_iter().chain(guards).collect::<Vec<_>>();
                    let when = if all.is_empty() { When::Always } else { When::If(all.into()) };
                    self.conditions.push(ModelCondition { when, ..of });
                }
                _ if each_visited => {}
                _ => {
                    let text = of.relation.map(|of| When::Perhaps.text(&of, &self.shared.symbols));
                    let text = text.unwrap_or_else(|| of.text.clone());
                    self.conditions.push(ModelCondition { text, relation: None, when: When::Perhaps, ..of });
                }
            }
        }
        self.conditions.extend(later);
    }

    /// The runs in which a check of the present node applies, by the graphs around it.
    fn when(&self) -> When {
        let guards = &self.shared.guards;
        match guards.iter().copied().collect::<Option<Vec<_>>>() {
            Some(all) if all.is_empty() => When::Always,
            Some(mut all) => {
                all.dedup();
                When::If(all.into())
            }
            None => When::Perhaps,
        }
    }

    /// Notes that a graph must not run of which every run fails, by its problems from an index on:
    /// what tells whether it runs does not hold, or nothing tells. Returns true if there is one.
    pub fn require_not(&mut self, guard: Option<Condition>, problems: usize) -> bool {
        let is_refused =
            |problem: &&Problem| matches!(problem.kind, Kind::Type | Kind::Graph | Kind::Shape | Kind::Value);
        let Some(problem) = self.problems[problems..].iter().find(is_refused) else { return false };
        let (text, place) = (problem.message.clone(), problem.place.clone());
        match guard.and_then(|guard| self.shared.symbols.opposite(&guard)) {
            Some(never) => self.require(never, Why::Run, || place),
            None => self.note_unchecked(format!("the node does not run: {text}"), place),
        }
        true
    }

    /// Notes the numbers between which the elements of an input must lie.
    pub fn note_elements(&mut self, elements: ElementRange, node: String) {
        let text = elements.text(&self.shared.symbols);
        let noted = ModelCondition::of_node(text, node, self.when());
        self.conditions.push(ModelCondition { elements: Some(elements), ..noted });
    }

    /// Notes a condition that sizes of inputs do not decide.
    pub fn note_unchecked(&mut self, text: String, node: String) {
        if self.shared.unreached == 0 {
            self.conditions.push(ModelCondition::of_node(text, node, self.when()));
        }
    }

    /// Notes a declared property of a value that a node computes: facts rest on it, and no run
    /// checks it.
    pub(super) fn note_declared(&mut self, text: String, value: &str) {
        if self.shared.unreached == 0 {
            let stated = ModelCondition::declared(text, &place(value));
            self.conditions.push(ModelCondition { of_sizes: false, ..stated });
        }
    }

    /// Notes that two are equal in every run.
    pub fn note_equal(&mut self, kept: Dim, other: Dim) {
        let (kept, other) = (self.representative(kept), self.representative(other));
        if kept != other && self.is_unconditional() {
            self.shared.equal.insert(other, kept);
        }
    }

    /// The one of all that are equal that stands for them.
    pub fn representative(&self, dim: Dim) -> Dim {
        let mut dim = dim;
        while let Some(&kept) = self.shared.equal.get(&dim) {
            dim = kept;
        }
        dim
    }

    /// Returns true if what holds here holds in every run.
    pub fn is_unconditional(&self) -> bool {
        self.shared.guards.is_empty()
    }
}
