//! Sizes and elements of inputs that meet the conditions of a model.

use std::collections::{BTreeMap, HashMap};

use gradus_engine::infer::{Inference, element_of_input};

use crate::dim::{Bounds, Condition, Dim, Relation, Symbols};
use gradus_core::sort::SharedSort;

/// Maximum number of conditions that are met; further ones are left to the run.
const MAX_CONDITIONS: usize = 64;
/// Maximum distance of a number from the one that was drawn.
const MAX_APART: i64 = 64;
/// Maximum number of numbers that are changed for one binding.
const MAX_CHANGES: usize = 16;

/// The conditions of a model that sizes of its inputs decide, or elements of small inputs.
pub(crate) struct Accepted {
    symbols: Symbols,
    /// Relations, each with those under which it must hold.
    conditions: Vec<(Vec<Condition>, Condition)>,
    /// Bounds of sizes, by name, outside of which no run succeeds.
    bounds: HashMap<String, Bounds>,
    /// The smallest and the largest number that elements of an input may be, by its name.
    elements: HashMap<String, (Dim, Dim)>,
    /// Names of symbols that are elements of inputs.
    of_elements: Vec<String>,
}

impl Accepted {
    /// The conditions that inference found for every run and, where others hold, for some.
    pub(crate) fn of(inference: &Inference) -> Accepted {
        let symbols = inference.symbols().clone();
        let mut accepted = Accepted {
            symbols,
            conditions: Vec::new(),
            bounds: HashMap::new(),
            elements: HashMap::new(),
            of_elements: Vec::new(),
        };
        for of in inference.conditions() {
            if let Some(range) = &of.elements {
                let known = accepted.elements.entry(range.input.clone()).or_insert((range.min, range.max));
                // The narrower of two ranges, where both are numbers.
                if let ((Dim::Known(a), Dim::Known(b)), (Dim::Known(min), Dim::Known(max))) =
                    (*known, (range.min, range.max))
                {
                    *known = (Dim::Known(a.max(min)), Dim::Known(b.min(max)));
                }
            }
            let (Some(relation), Some(guards)) = (of.relation, of.when.guards()) else { continue };
            if let (true, Some(symbol), Some(bounds)) =
                (of.is_of_every_run(), accepted.symbols.as_symbol(relation.left), relation.bounds())
            {
                let known = accepted.bounds.entry(symbol.name.to_string()).or_insert(Bounds::ANY);
                *known = known.and(bounds);
            }
            if accepted.conditions.len() < MAX_CONDITIONS {
                accepted.conditions.push((guards.to_vec(), relation));
            }
        }
        let all = accepted.conditions.iter().flat_map(|(guards, relation)| guards.iter().chain([relation]));
        let symbols = all.flat_map(|of| [of.left, of.right]).flat_map(|dim| accepted.symbols.symbols_of(dim));
        let mut names: Vec<_> = symbols
            .filter(|symbol| element_of_input(symbol).is_some())
            .map(|symbol| symbol.name.to_string())
            .collect();
        names.shared_sort();
        names.dedup();
        accepted.of_elements = names;
        accepted
    }

    /// Adds the condition that a size is at least a number.
    pub(crate) fn require(&mut self, name: &str, least: i64) {
        if let Some(dim) = self.symbols.find(name) {
            self.conditions.push((Vec::new(), Condition::new(dim, Relation::AtLeast, Dim::Known(least))));
        }
    }

    /// The bounds of a size, if there are any.
    pub(crate) fn bounds(&self, name: &str) -> Option<Bounds> {
        self.bounds.get(name).copied()
    }

    /// The smallest and the largest number that elements of an input may be, where sizes have these
    /// numbers.
    pub(crate) fn elements(&self, input: &str, numbers: &BTreeMap<String, i64>) -> Option<(i64, i64)> {
        let &(min, max) = self.elements.get(input)?;
        let value = |dim| self.symbols.evaluate(dim, &|name| numbers.get(name).copied());
        Some((value(min)?, value(max)?)).filter(|(min, max)| min <= max)
    }

    /// Adds numbers for the elements of inputs that decide conditions, and meets these with them: 0,
    /// 1, with `wide` others, or a number that a condition compares the element with, such as one
    /// that chooses a branch.
    pub(crate) fn draw_elements(
        &self,
        random: &mut fastrand::Rng,
        numbers: &mut BTreeMap<String, i64>,
        wide: bool,
    ) {
        let usual = if wide { &[0, 1, 2, 3, 7, -1][..] } else { &[0, 1] };
        for name in &self.of_elements {
            let all = self.conditions.iter().flat_map(|(guards, relation)| guards.iter().chain([relation]));
            let is_it = |of: &&Condition| {
                self.symbols.as_symbol(of.left).is_some_and(|symbol| *symbol.name == **name)
            };
            let compared = all.filter(is_it).filter_map(|of| of.right.known());
            let all: Vec<_> = compared.chain(usual.iter().copied()).collect();
            numbers.insert(name.clone(), all[random.usize(..all.len())]);
        }
        self.meet(numbers, &|name| self.of_elements.iter().any(|of| of == name));
    }

    /// Changes numbers that may be others until all conditions hold: each time one number, to the
    /// nearest with which a condition holds that did not. Returns false if some are left.
    pub(crate) fn meet(
        &self,
        numbers: &mut BTreeMap<String, i64>,
        may_change: &dyn Fn(&str) -> bool,
    ) -> bool {
        for _ in 0..MAX_CHANGES {
            let Some((_, unmet)) = self.unmet(numbers).next() else { return true };
            let fewest = self.unmet(numbers).count();
            let symbols = [unmet.left, unmet.right].into_iter().flat_map(|dim| self.symbols.symbols_of(dim));
            let mut names: Vec<_> = symbols.map(|symbol| symbol.name.clone()).collect();
            names.retain(|name| may_change(name) && numbers.contains_key(&**name));
            let mut best: Option<(usize, String, i64)> = None;
            for name in names {
                let drawn = numbers[&*name];
                for number in self.near(unmet, &name, drawn) {
                    numbers.insert(name.to_string(), number);
                    let left = self.unmet(numbers).count();
                    if self.holds(unmet, numbers) && best.as_ref().is_none_or(|(least, ..)| left < *least) {
                        best = Some((left, name.to_string(), number));
                    }
                    if left == 0 {
                        return true;
                    }
                }
                numbers.insert(name.to_string(), drawn);
            }
            match best {
                // With as many unmet, another condition takes its turn: sizes may have to move
                // together.
                Some((left, name, number)) if left <= fewest => _ = numbers.insert(name, number),
                _ => return false,
            }
        }
        self.unmet(numbers).next().is_none()
    }

    /// Numbers to try for a symbol: what the condition says of it, and those around the one that it
    /// has, the nearest first.
    fn near(&self, condition: &Condition, name: &str, drawn: i64) -> impl Iterator<Item = i64> + use<> {
        let is_alone = self.symbols.as_symbol(condition.left).is_some_and(|symbol| &*symbol.name == name);
        let said = condition.right.known().filter(|_| is_alone);
        let is_element = self.of_elements.iter().any(|of| of == name);
        let bounds = self.symbols.find(name).map_or(Bounds::ANY, |dim| self.symbols.bounds(dim));
        let bounds = if is_element { bounds } else { bounds.and(Bounds::SIZE) };
        let (least, most) = (bounds.lower().unwrap_or(i64::MIN), bounds.upper().unwrap_or(i64::MAX));
        let around =
            (1..=MAX_APART).flat_map(move |apart| [drawn.saturating_add(apart), drawn.saturating_sub(apart)]);
        said.into_iter().chain(around).filter(move |number| (least..=most).contains(number))
    }

    /// The conditions that apply and do not hold, in order.
    fn unmet(&self, numbers: &BTreeMap<String, i64>) -> impl Iterator<Item = &(Vec<Condition>, Condition)> {
        self.conditions.iter().filter(|(guards, relation)| {
            // A number that is not known decides nothing.
            let applies = guards.iter().all(|guard| self.decide(guard, numbers) == Some(true));
            applies && self.decide(relation, numbers) == Some(false)
        })
    }

    fn holds(&self, condition: &Condition, numbers: &BTreeMap<String, i64>) -> bool {
        self.decide(condition, numbers) == Some(true)
    }

    fn decide(&self, condition: &Condition, numbers: &BTreeMap<String, i64>) -> Option<bool> {
        let value = |dim| self.symbols.evaluate(dim, &|name| numbers.get(name).copied());
        Some(condition.relation.holds(value(condition.left)?, value(condition.right)?))
    }
}
