//! The largest size of an input at which a model fits a memory, with sizes that follow from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gradus_core::{Error, Kind, Result};

use super::Cost;
use crate::dim::{Bounds, Condition, Dim, Origin, Relation, Symbols};
use crate::model::Model;
use gradus_engine::infer::{Event, ModelCondition, Reuse, When, Why};

/// The largest value of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fit {
    /// The name of the symbol.
    pub symbol: Arc<str>,
    /// The largest value that fits; nothing if not even the smallest does.
    pub most: Option<i64>,
    /// Bytes of constants, inputs and values of nodes at that value, or at the smallest one.
    pub bytes: u128,
    /// The condition, and its node, that the next value does not meet though it fits; nothing where
    /// it does not fit.
    pub limit: Option<(String, String)>,
    /// The values of the other symbols without a number at that value, by their names.
    pub sizes: Vec<(Arc<str>, i64)>,
}

impl Cost {
    /// The largest value of a symbol without a number that meets all conditions and at which
    /// constants, inputs and values of nodes take no more than `bytes` bytes at one time. Outputs
    /// that take the room of an input need none. Other symbols have the value that an equality of
    /// the model gives them (`total == past + 1`), or their largest one.
    ///
    /// # Errors
    /// [`Kind::Usage`] if not exactly one symbol is left; [`Kind::Unsupported`] if a size is not
    /// known, is decided by the data without an upper bound, or may fall where the symbol grows, or
    /// if no value is found that meets the conditions; [`Kind::Graph`] if the model contradicts
    /// itself.
    pub fn fit(&mut self, model: &Model, bytes: u128, reuse: Reuse) -> Result<Fit> {
        let steps = FitSteps::of(self, model, reuse)?;
        let symbols = self.inference.symbols();
        let found = steps.sizes().flat_map(|dim| symbols.symbols_of(dim));
        let found: BTreeMap<_, _> = found.map(|symbol| (&*symbol.name, symbol)).collect();
        if let Some((symbol, only, limit)) = self.only_size().filter(|_| found.is_empty()) {
            let needed = steps.at(symbols, &|_| None).unwrap_or(u128::MAX);
            let most = Some(only).filter(|_| needed <= bytes);
            return Ok(Fit { symbol, most, bytes: needed, limit: Some(limit), sizes: Vec::new() });
        }
        if let Some(symbol) = found.values().find(|symbol| symbol.origin != Origin::Input) {
            let message =
                format!("cannot fit: {} is decided by the data, without an upper bound", symbol.name);
            return Err(Error::new(Kind::Unsupported, message));
        }
        let linked = Linked::of(self, found.into_keys().collect())?;
        let symbol: Arc<str> = linked.free.into();
        let formulas = steps.sizes().chain(linked.by_links.iter().map(|(_, dim)| *dim));
        if let Some(size) = formulas.into_iter().find(|&dim| !symbols.never_falls(dim)) {
            let message = format!(
                "cannot fit: a value of {} bytes may become smaller as {symbol} grows",
                symbols.print(size)
            );
            return Err(Error::new(Kind::Unsupported, message));
        }
        let (least, upper) = self.range(&symbol);
        let at = |value: i64| {
            let numbers = linked.at(symbols, value);
            steps.at(symbols, &|name| numbers.get(name).copied())
        };
        let sizes = |value: i64| -> Vec<(Arc<str>, i64)> {
            let numbers = linked.at(symbols, value).into_iter();
            numbers.filter(|(name, _)| **name != *symbol).map(|(name, size)| (name.into(), size)).collect()
        };
        let fits = |value: i64| at(value).filter(|&needed| needed <= bytes);
        let Some(mut needed) = fits(least) else {
            let (bytes, sizes) = (at(least).unwrap_or(u128::MAX), sizes(least));
            return Ok(Fit { symbol, most: None, bytes, limit: None, sizes });
        };
        // The value `low` fits, and `high` does not or is beyond the bounds.
        let (mut low, mut high) = (least, upper.saturating_add(1));
        while high - low > 1 {
            // Doubling finds the magnitude, where the upper bound is far.
            let middle = low.saturating_mul(2).min(low + (high - low) / 2);
            match fits(middle) {
                Some(bytes) => (low, needed) = (middle, bytes),
                None => high = middle,
            }
        }
        let unmet = |value: i64| self.unmet(&linked.at(symbols, value));
        let last = low;
        while unmet(low).is_some() {
            low -= 1;
            if low < least || last - low > MAX_TRIED {
                let message =
                    format!("cannot fit: no {symbol} from {} to {last} meets the conditions", low + 1);
                return Err(Error::new(Kind::Unsupported, message));
            }
            needed = at(low).unwrap_or(needed);
        }
        let next = low.checked_add(1).filter(|&next| fits(next).is_some());
        let limit = next.and_then(unmet);
        let limit = limit.map(|of| (of.text.clone(), of.node.clone()));
        let sizes = sizes(low);
        Ok(Fit { symbol, most: Some(low), bytes: needed, limit, sizes })
    }

    /// The first size of inputs that must be one number, and the condition.
    fn only_size(&self) -> Option<(Arc<str>, i64, (String, String))> {
        let symbols = self.inference.symbols();
        let mut always = self.inference.conditions().iter().filter(|of| of.is_of_every_run());
        always.find_map(|of| {
            let relation = of.relation.filter(|of| of.relation == Relation::Equal)?;
            let symbol = symbols.as_symbol(relation.left)?;
            Some((symbol.name.clone(), relation.right.known()?, (of.text.clone(), of.node.clone())))
        })
    }

    /// Tells what a fit wants of symbols without a number: one, and numbers or assumptions about the
    /// others, such as the equalities that the model asks for.
    fn wanted(&self, names: &[&str]) -> String {
        let symbols = self.inference.symbols();
        let is_about = |&Condition { left, right, .. }: &Condition| {
            let found = [left, right].into_iter().flat_map(|dim| symbols.symbols_of(dim));
            let found: BTreeSet<_> = found.map(|symbol| &*symbol.name).collect();
            found.len() > 1 && found.iter().all(|name| names.contains(name))
        };
        let about: Vec<_> = self.every_run().filter(is_about).collect();
        let link = |of: &Condition| format!("\"{} == {}\"", symbols.print(of.left), symbols.print(of.right));
        // `n == min(n, m)` says that n is bounded, and not what it is.
        let is_within = |of: &Condition| {
            let names = [of.left, of.right].map(|dim| symbols.symbols_of(dim));
            names[0].iter().any(|symbol| names[1].iter().any(|other| other.name == symbol.name))
        };
        let is_equality =
            |of: &&Condition| matches!(of.relation, Relation::Equal | Relation::Broadcast) && !is_within(of);
        let links: Vec<_> = about.iter().filter(is_equality).map(link).collect();
        if !links.is_empty() {
            return format!("exactly one: give the others numbers, or assume {}", links.join(", "));
        }
        // A cache grows, and of others the last size most often.
        let past = names.iter().copied().find(|name| name.contains("past"));
        let Some(free) = past.or(names.last().copied()) else { return "exactly one".to_owned() };
        let numbers = names.iter().filter(|&&name| name != free).map(|name| format!("--dim {name}=1"));
        let numbers = numbers.collect::<Vec<_>>().join(" ");
        let total = past.zip(names.iter().copied().find(|name| name.contains("total")));
        // A size that is bounded by others is at its bound, and several below a number together have
        // nothing else in common.
        let is_bound = |of: &&Condition| {
            [of.left, of.right].into_iter().any(|side| symbols.as_symbol(side).is_some())
                && of.right.known().is_none()
                && !is_within(of)
        };
        let link = match (total, about.iter().find(is_bound)) {
            (_, Some(of)) => Some(link(of)),
            (Some((past, total)), None) => Some(format!("\"{total} == {past} + 1\"")),
            (None, None) => (about.iter().all(is_within) && past.is_none())
                .then(|| format!("\"{free} == {}\"", names[names.len().saturating_sub(2)])),
        };
        let link = link.map_or_else(String::new, |link| format!(", or the missing link, as --assume {link}"));
        format!("exactly one: give the others numbers, as {numbers}{link}")
    }

    /// Relations that hold in every run.
    fn every_run(&self) -> impl Iterator<Item = Condition> + '_ {
        let always = self.inference.conditions().iter().filter(|of| of.when == When::Always);
        always.filter_map(|of| of.relation)
    }

    /// The smallest and the largest value of a symbol, from 1 on, by its bounds and by the conditions
    /// that compare it with a number.
    fn range(&self, name: &str) -> (i64, i64) {
        let symbols = self.inference.symbols();
        let dim = symbols.find(name);
        let own = dim.map_or(Bounds::ANY, |dim| symbols.bounds(dim));
        let about = self.every_run().filter(|relation| Some(relation.left) == dim);
        let bounds = about.filter_map(|relation| relation.bounds()).fold(own, Bounds::and);
        (bounds.lower().unwrap_or(0).max(1), bounds.upper().unwrap_or(i64::MAX))
    }

    /// The largest value of a symbol that a run allows, and the one that the options allow too.
    /// Conditions that Gradus takes for granted are no reason to choose a size.
    fn largest(&self, name: &str) -> (Option<i64>, Option<i64>) {
        let symbols = self.inference.symbols();
        let Some(dim) = symbols.find(name) else { return (None, None) };
        let upper = |why: &dyn Fn(Why) -> bool| {
            let always = self.inference.conditions().iter().filter(|of| of.when == When::Always);
            let about = always.filter(|of| why(of.why)).filter_map(|of| of.relation);
            about.filter(|of| of.left == dim).filter_map(|of| of.bounds()?.upper()).min()
        };
        let stated = upper(&|why| why != Why::Taken);
        (upper(&|why| why == Why::Run), stated.into_iter().chain(symbols.bounds(dim).upper()).min())
    }

    /// The first condition that numbers decide and do not meet.
    fn unmet(&self, numbers: &BTreeMap<&str, i64>) -> Option<&ModelCondition> {
        let symbols = self.inference.symbols();
        let holds = |of: &Condition| {
            let value = |dim| symbols.evaluate(dim, &|name| numbers.get(name).copied());
            Some(of.relation.holds(value(of.left)?, value(of.right)?))
        };
        self.inference.conditions().iter().find(|of| {
            let (Some(guards), Some(relation)) = (of.when.guards(), of.relation) else { return false };
            guards.iter().all(|guard| holds(guard) == Some(true)) && holds(&relation) == Some(false)
        })
    }
}

/// Symbols without a number: one whose values are tried, and what the others are at each.
struct Linked<'c> {
    /// The symbol that is tried.
    free: &'c str,
    /// Symbols that an equality of the model gives, each by earlier ones and the free one.
    by_links: Vec<(&'c str, Dim)>,
    /// Symbols that have their largest value.
    at_most: Vec<(&'c str, i64)>,
}

impl<'c> Linked<'c> {
    /// Leaves one of several symbols: an equality that every run needs gives one of its symbols,
    /// and where only one is without a largest value, or without one that runs need, the others
    /// have theirs.
    fn of(cost: &'c Cost, names: Vec<&'c str>) -> Result<Linked<'c>> {
        let symbols = cost.inference.symbols();
        let mut open = names;
        let mut by_links: Vec<(&str, Dim)> = Vec::new();
        for Condition { left, relation, right } in cost.every_run() {
            if relation != Relation::Equal || open.len() < 2 {
                continue;
            }
            let of = [(left, right), (right, left)].into_iter().find_map(|(of, is)| {
                let name = symbols.as_symbol(of).map(|symbol| &*symbol.name)?;
                let at = open.iter().position(|open| *open == name)?;
                // Expressions of open symbols alone, so that no two follow from each other.
                let used = symbols.symbols_of(is);
                let follows =
                    used.iter().all(|symbol| *symbol.name != *name && open.contains(&&*symbol.name));
                follows.then_some((at, is))
            });
            if let Some((at, is)) = of {
                by_links.insert(0, (open.remove(at), is));
            }
        }
        let mut at_most = Vec::new();
        let only = |is_bounded: &dyn Fn(&str) -> bool| {
            let mut unbounded = open.iter().copied().filter(|name| !is_bounded(name));
            unbounded.next().filter(|_| unbounded.next().is_none())
        };
        // The options bound sizes that are sought, too.
        let free = only(&|name| cost.largest(name).1.is_some());
        let free = free.or_else(|| only(&|name| cost.largest(name).0.is_some()));
        if let Some(free) = free.filter(|_| open.len() > 1) {
            at_most = open.iter().filter_map(|name| Some((*name, cost.largest(name).1?))).collect();
            at_most.retain(|(name, _)| *name != free);
            open.retain(|name| *name == free);
        }
        if let [free] = open[..] {
            return Ok(Linked { free, by_links, at_most });
        }
        let got = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
        let wanted = cost.wanted(&open);
        let what = "cannot fit: the list of symbols without a number";
        Err(Error::mismatch(Kind::Usage, what, got, wanted))
    }

    /// The numbers of all symbols at a value of the free one.
    fn at(&self, symbols: &Symbols, value: i64) -> BTreeMap<&'c str, i64> {
        let mut numbers: BTreeMap<_, _> = self.at_most.iter().copied().chain([(self.free, value)]).collect();
        for &(name, is) in &self.by_links {
            let number = symbols.evaluate(is, &|name| numbers.get(name).copied());
            numbers.extend(number.map(|number| (name, number)));
        }
        numbers
    }
}

/// Maximum number of values that are tried below the largest one of which the bytes fit.
const MAX_TRIED: i64 = 1 << 16;

/// The bytes that are always held, and those that are made and freed.
struct FitSteps {
    constants: u128,
    inputs: Dim,
    events: Vec<Event>,
}

impl FitSteps {
    fn of(cost: &mut Cost, model: &Model, reuse: Reuse) -> Result<FitSteps> {
        let (mut events, unknown) = cost.inference.events(model, reuse);
        let Some(inputs) = cost.memory.inputs.filter(|_| unknown == 0) else {
            cost.inference.must_be_consistent("cannot fit")?;
            let message = format!("cannot fit: the sizes of {} values are not known", unknown.max(1));
            return Err(Error::new(Kind::Unsupported, message));
        };
        let symbols = cost.inference.symbols_mut();
        for event in &mut events {
            if let Event::Made(bytes) | Event::Freed(bytes) = event {
                *bytes = symbols.at_most(*bytes).unwrap_or(*bytes);
            }
        }
        Ok(FitSteps { constants: cost.memory.constants, inputs, events })
    }

    /// The sizes of values.
    fn sizes(&self) -> impl Iterator<Item = Dim> + '_ {
        let made = self.events.iter().filter_map(|event| match event {
            Event::Made(bytes) => Some(*bytes),
            Event::Freed(_) | Event::Full(_) => None,
        });
        made.chain([self.inputs])
    }

    /// The most bytes at one time where symbols have these values; nothing if they exceed 128 bits.
    fn at(&self, symbols: &Symbols, of: &dyn Fn(&str) -> Option<i64>) -> Option<u128> {
        let size = |dim| u128::try_from(symbols.evaluate(dim, &|name| of(name))?).ok();
        let (mut now, mut most) = (0u128, 0);
        for event in &self.events {
            match event {
                Event::Made(bytes) => now = now.checked_add(size(*bytes)?)?,
                Event::Freed(bytes) => now = now.checked_sub(size(*bytes)?)?,
                Event::Full(_) => most = most.max(now),
            }
        }
        self.constants.checked_add(size(self.inputs)?)?.checked_add(most)
    }
}
