//! Conditions of a model, solved: equalities that make sizes numbers or one another, bounds that
//! are joined, and conditions that follow from others left out.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem::take;

use gradus_core::graph::Graph;
use gradus_core::sort::SharedSort;
use gradus_core::{Kind, Limits, Result};

use super::remarks::{ModelCondition, Problem, When, Why};
use super::{Inference, SizeAssumptions};
use crate::dim::{Condition, Dim, Origin, Relation, Symbols};

/// Maximum number of equalities that are solved.
const MAX_SOLVED: usize = 64;
/// Maximum number of conditions that are held against one another.
const MAX_COMPARED: usize = 48;

/// Equalities of sizes of inputs that every run needs: each is the text of a size, and of the
/// number or the earlier size that it is, with its node.
#[derive(Default)]
pub struct Solved(Vec<Equality>);

#[derive(PartialEq)]
struct Equality {
    size: String,
    is: String,
    node: String,
}

impl Solved {
    /// Adds equalities that inference found; false if there are none. Of a model that contradicts
    /// itself there are none.
    pub fn extend(&mut self, inference: &Inference) -> bool {
        let before = self.0.len();
        if !inference.problems.is_empty() {
            return false;
        }
        let symbols = &inference.symbols;
        let is_size = |dim: Dim| symbols.as_symbol(dim).is_some_and(|symbol| symbol.origin == Origin::Input);
        let taken = taken(&inference.conditions);
        let found = inference.conditions.iter().filter(|of| of.is_of_every_run()).filter_map(|of| {
            let relation = of.relation.filter(|relation| !taken.is_about(symbols, relation))?;
            let Condition { left, relation: Relation::Equal, right } = relation else { return None };
            let is_solved = is_size(left) && (right.known().is_some() || is_size(right));
            let earlier = symbols.as_symbol_index(right) > symbols.as_symbol_index(left);
            let (size, is) = if earlier { (right, left) } else { (left, right) };
            let text = |dim| symbols.print(dim).to_string();
            is_solved.then(|| Equality { size: text(size), is: text(is), node: of.node.clone() })
        });
        for equality in found {
            if self.0.len() < MAX_SOLVED && !self.0.contains(&equality) {
                self.0.push(equality);
            }
        }
        self.0.len() > before
    }

    /// Lets the equalities hold.
    pub fn assume(
        &self,
        names: [&BTreeSet<String>; 2],
        graph: &Graph,
        symbols: &mut Symbols,
    ) -> Result<Vec<ModelCondition>> {
        let mut conditions = Vec::new();
        for Equality { size, is, node } in &self.0 {
            // A name that the model gives is better than one that was made for an axis.
            let (size, is) = if names[1].contains(is) { (is, size) } else { (size, is) };
            let one = SizeAssumptions { conditions: vec![format!("{size} == {is}")], ..<_>::default() };
            let assumed = one.assume(names, graph, symbols)?;
            let of_node = |assumed| ModelCondition { node: node.clone(), why: Why::Run, ..assumed };
            conditions.extend(assumed.into_iter().map(of_node));
        }
        Ok(conditions)
    }
}

impl Inference {
    /// Leaves out conditions that follow from others, and brings the narrowest to the front. That
    /// no sizes meet them is a problem.
    pub(super) fn solve(&mut self, limits: &Limits) {
        let mut conditions = take(&mut self.conditions);
        self.take_products_apart(&mut conditions);
        let every = conditions.iter().filter(|of| of.is_of_every_run()).filter_map(|of| of.relation);
        let every: HashSet<_> = every.collect();
        let taken = taken(&conditions);
        let few = conditions.len() <= MAX_COMPARED;
        for of in &mut conditions {
            if let Some(guards) = of.when.guards().filter(|_| of.why == Why::Run) {
                let relation = of.relation.filter(|_| few);
                let mut open = guards.to_vec();
                open.retain(|guard| {
                    let holds = every.contains(guard) || self.symbols.always_holds(guard);
                    !holds && !self.holds_without(guard, relation, limits)
                });
                let of_number = open.clone();
                open.retain(|guard| !of_number.iter().any(|other| is_told_by(guard, other)));
                of.when = if open.is_empty() { When::Always } else { When::If(open.into()) };
            }
            if of.why != Why::Declared {
                of.print(&self.symbols);
            }
        }
        let mut seen = HashSet::new();
        conditions.retain(|of| match of.relation {
            Some(relation) => seen.insert((Some(relation), of.when.clone(), String::new())),
            None => seen.insert((None, of.when.clone(), format!("{} {}", of.text, of.node))),
        });
        join_bounds(&mut conditions);
        if conditions.len() <= MAX_COMPARED {
            self.leave_out_implied(&mut conditions, limits);
            self.find_contradiction(&conditions, &taken, limits);
        }
        conditions.shared_sort_by_key(place);
        self.conditions = conditions;
    }

    /// Puts conditions on the factors of a product that must not be 0 in the place of one on it.
    fn take_products_apart(&mut self, conditions: &mut Vec<ModelCondition>) {
        for of in take(conditions) {
            let relation = of.relation.filter(|_| of.why == Why::Run);
            match relation.and_then(|relation| self.symbols.of_factors(&relation)) {
                None => conditions.push(of),
                Some(all) => conditions
                    .extend(all.into_iter().map(|one| ModelCondition { relation: Some(one), ..of.clone() })),
            }
        }
    }

    /// Returns true if a relation holds where a guard does not.
    fn holds_without(&mut self, guard: &Condition, relation: Option<Condition>, limits: &Limits) -> bool {
        let both = relation.zip(self.symbols.opposite(guard));
        both.is_some_and(|(relation, opposite)| {
            self.symbols.follows(&[opposite], Some(&relation), Some(limits))
        })
    }

    fn leave_out_implied(&mut self, conditions: &mut Vec<ModelCondition>, limits: &Limits) {
        for at in (0..conditions.len()).rev() {
            let Some(relation) = conditions[at].relation.filter(|_| !conditions[at].of_sizes) else {
                continue;
            };
            // The bounds of symbols say what such conditions of one product say, and are these.
            let is_bound = matches!(relation.relation, Relation::AtLeast | Relation::AtMost)
                && relation.right.known().is_some();
            if is_bound && self.symbols.form(relation.left).products.len() < 2 {
                continue;
            }
            let others = conditions.iter().enumerate().filter(|(other, of)| {
                *other != at
                    && of.is_of_every_run()
                    && of.relation.is_some_and(|of| shares_symbols(&self.symbols, &of, &relation))
            });
            let guards = conditions[at].when.guards().unwrap_or_default();
            let given = others.filter_map(|(_, of)| of.relation).chain(guards.iter().copied());
            let given: Vec<_> = given.collect();
            if !given.is_empty() && self.symbols.follows(&given, Some(&relation), Some(limits)) {
                conditions.remove(at);
            }
        }
    }

    fn find_contradiction(&mut self, conditions: &[ModelCondition], taken: &Taken, limits: &Limits) {
        let of_every_run = conditions.iter().filter(|of| of.is_of_every_run());
        let mut left: Vec<_> = of_every_run
            .filter(|of| of.relation.is_some_and(|relation| !taken.is_about(&self.symbols, &relation)))
            .collect();
        let relations = |all: &[&ModelCondition]| all.iter().filter_map(|of| of.relation).collect::<Vec<_>>();
        if left.len() < 2 || !self.symbols.follows(&relations(&left), None, Some(limits)) {
            return;
        }
        // Conditions without which there still are none are no part of it.
        for at in (0..left.len()).rev() {
            let mut fewer = left.clone();
            fewer.remove(at);
            if self.symbols.follows(&relations(&fewer), None, Some(limits)) {
                left = fewer;
            }
        }
        let texts: Vec<_> = left.iter().map(|of| format!("{} ({})", of.text, of.node)).collect();
        self.problems.push(Problem {
            kind: Kind::Shape,
            place: "the inputs".to_owned(),
            message: format!("no sizes meet all conditions: {}", texts.join(", ")),
            node: None,
        });
    }
}

/// Lower bounds that are taken for granted: runs of smaller sizes, which are 0, may succeed with
/// other shapes, so that no condition on the same sizes is one of every run.
struct Taken(Vec<Condition>);

fn taken(conditions: &[ModelCondition]) -> Taken {
    let taken = conditions.iter().filter(|of| of.why == Why::Taken).filter_map(|of| of.relation);
    Taken(taken.filter(|of| of.relation == Relation::AtLeast).collect())
}

impl Taken {
    /// Returns true if a condition has a symbol of one of them.
    fn is_about(&self, symbols: &Symbols, condition: &Condition) -> bool {
        self.0.iter().any(|taken| shares_symbols(symbols, taken, condition))
    }
}

/// Returns true if a guard says that an expression is not a number, and another which it is.
fn is_told_by(guard: &Condition, other: &Condition) -> bool {
    let is = |relation, of: &Condition| of.right.known().filter(|_| of.relation == relation);
    guard.left == other.left
        && is(Relation::NotEqual, guard).zip(is(Relation::Equal, other)).is_some_and(|(not, is)| not != is)
}

/// Returns true if two conditions are about one symbol.
fn shares_symbols(symbols: &Symbols, a: &Condition, b: &Condition) -> bool {
    let names = |of: &Condition| -> HashSet<_> {
        let sides = [of.left, of.right].into_iter();
        sides.flat_map(|dim| symbols.symbols_of(dim)).map(|symbol| symbol.name.clone()).collect()
    };
    !names(a).is_disjoint(&names(b))
}

/// Keeps the narrowest of several lower bounds of an expression, and of several upper ones, and no
/// bound of what is one number, or within those of every run.
fn join_bounds(conditions: &mut Vec<ModelCondition>) {
    // The ends, and whether an equality says them: contradictory ones, which are told, stay apart.
    let mut narrowest: HashMap<Dim, (i64, i64, bool)> = HashMap::new();
    for relation in conditions.iter().filter(|of| of.is_of_every_run()).filter_map(|of| of.relation) {
        if let Some(bounds) = relation.bounds() {
            let known = narrowest.entry(relation.left).or_insert((i64::MIN, i64::MAX, false));
            known.0 = known.0.max(bounds.lower().unwrap_or(i64::MIN));
            known.1 = known.1.min(bounds.upper().unwrap_or(i64::MAX));
            known.2 |= relation.relation == Relation::Equal;
        }
    }
    conditions.retain(|of| {
        let Some(relation) = of.relation.filter(|_| of.why == Why::Run) else { return true };
        let Some(&(least, most, is_number)) = narrowest.get(&relation.left) else { return true };
        let Some(number) = relation.right.known().filter(|_| least <= most) else { return true };
        let is_whole = of.is_of_every_run();
        // One of the conditions that say the narrowest bound stays.
        let is_above = |end: i64, least: i64| end > least || end == least && (is_number || !is_whole);
        let is_implied = match relation.relation {
            Relation::AtLeast => is_above(least, number),
            Relation::AtMost => is_above(number, most),
            Relation::NotEqual => least > number || most < number,
            Relation::Equal => !is_whole && least == number && most == number,
            Relation::Broadcast => false,
        };
        !is_implied
    });
}

/// The place of a condition among all: what every run needs comes first, and of that what leaves
/// the fewest sizes.
fn place(of: &ModelCondition) -> (Why, bool, bool, u8) {
    let narrow = match of.relation {
        Some(Condition { relation: Relation::Equal, right: Dim::Known(_), .. }) => 0,
        Some(Condition { relation: Relation::Equal, .. }) => 1,
        Some(Condition { relation: Relation::NotEqual | Relation::Broadcast, .. }) => 2,
        Some(Condition { relation: Relation::AtMost, .. }) => 3,
        Some(Condition { right: Dim::Known(..=1), .. }) => 5,
        Some(_) => 4,
        None => 6,
    };
    (of.why, of.relation.is_none(), of.when != When::Always, narrow)
}
